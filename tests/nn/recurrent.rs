//! Recurrent layers and attention, alone and in blocks with sums and gates, against their formulas in f64, finite differences,
//! single steps, every CPU level and bad input.

use crate::checks::{backward, bits, forward, random, read, same_at_every_level, slices, slope, started, wide, within};
use rlcore::error::Kind;
use rlcore::nn::{ALL, Activation, Carry, FORGET_ONE, HEAD, INPUT, Layer, LayerKind, NO_BIAS, NORMALIZED, Net, Node};
use rlcore::rng::Rng;

const INPUTS: usize = 3;

fn cell(kind: LayerKind, units: u32) -> Layer {
    Layer::recurrent(kind, units)
}

fn normalized(units: u32) -> Layer {
    Layer { flags: NORMALIZED, ..cell(LayerKind::Lstm, units) }
}

fn head(from: u32, units: u32) -> Layer {
    Layer { source: [from, 0], flags: HEAD, ..Layer::dense(units, Activation::Identity) }
}

/// Every cell alone, narrow and wide, before and after others, and read by two layers.
fn networks() -> Vec<Vec<Layer>> {
    use LayerKind::{Gru, Lstm, MinGru};
    let mut all: Vec<Vec<Layer>> = Vec::new();
    for kind in [Lstm, Gru, MinGru] {
        all.extend([1, 5, 16].map(|units| vec![cell(kind, units), head(0, 2)]));
    }
    all.extend([1, 3, 5, 16, 19].map(|units| vec![normalized(units), head(0, 2)]));
    // btgym's policy of two cells, the second of which reads the output of the first.
    all.push(vec![
        Layer { flags: FORGET_ONE | NORMALIZED, ..cell(Lstm, 9) },
        Layer::merge(LayerKind::Join, [0, INPUT], Activation::Identity),
        normalized(6),
        head(1, 2),
        head(3, 1),
    ]);
    all.push(vec![Layer::dense(20, Activation::Tanh), cell(Lstm, 6), cell(Gru, 4), head(0, 2), head(1, 3)]);
    all.push(vec![cell(Gru, 4), Layer { source: [INPUT, 0], ..cell(MinGru, 7) }, head(1, 1), head(1, 2), head(2, 1)]);
    let keeps = Layer { flags: FORGET_ONE, ..cell(Lstm, 9) };
    all.push(vec![keeps, Layer::dense(8, Activation::Relu), head(0, 2), head(1, 1)]);
    let attentions = [(1, 1, 1), (4, 2, 2), (6, 3, 5), (16, 4, 9)].map(|(u, h, w)| Layer::attention(u, h, w));
    all.extend(attentions.map(|layer| vec![layer, head(0, 2)]));
    all.push(transformer(12, 3, 4));
    all.push(vec![
        cell(Gru, 4),
        Layer { source: [INPUT, 0], ..Layer::attention(4, 1, 3) },
        Layer::merge(LayerKind::Join, [1, 2], Activation::Gelu),
        Layer::merge(LayerKind::Multiply, [2, 2], Activation::Identity),
        Layer::merge(LayerKind::Add, [INPUT, INPUT], Activation::Silu),
        head(3, 2),
        Layer { flags: HEAD, ..Layer::merge(LayerKind::Join, [5, 4], Activation::Silu) },
    ]);
    all
}

/// A block of a transformer: attention and a gated layer, each added to its input.
fn transformer(units: u32, heads: u32, window: u32) -> Vec<Layer> {
    let from = |source, layer| Layer { source: [source, 0], ..layer };
    vec![
        Layer { flags: NO_BIAS, ..Layer::dense(units, Activation::Identity) },
        Layer::attention(units, heads, window),
        Layer::merge(LayerKind::Add, [0, 1], Activation::Identity),
        Layer { flags: NO_BIAS, ..Layer::dense(2 * units, Activation::Silu) },
        from(3, Layer::dense(2 * units, Activation::Identity)),
        Layer::merge(LayerKind::Multiply, [4, 5], Activation::Identity),
        Layer::dense(units, Activation::Gelu),
        Layer::merge(LayerKind::Add, [3, 7], Activation::Identity),
        Layer::attention(units, 1, window),
        head(0, 2),
        head(8, 1),
    ]
}

/// The lengths of the value of each layer and of its state.
fn lens(layers: &[Layer]) -> Vec<(usize, usize)> {
    let mut lens: Vec<(usize, usize)> = Vec::new();
    for (i, layer) in layers.iter().enumerate() {
        let [input, second] = layer.source.map(|source| match source {
            0 if i > 0 => lens[i - 1].0,
            0 | INPUT => INPUTS,
            k => lens[k as usize - 1].0,
        });
        let u = layer.units as usize;
        lens.push(match layer.kind {
            6 => (u, 2 * u),
            7 | 8 => (u, u),
            10 => (u, 1 + (layer.window as usize - 1) * input),
            12 | 13 => (input, 0),
            14 => (input + second, 0),
            _ => (u, 0),
        });
    }
    lens
}

/// A network and its arrays: `sequences` of `steps`, with rows ordered by step.
#[derive(Clone)]
struct Case {
    layers: Vec<Layer>,
    nodes: Vec<Node>,
    steps: usize,
    sequences: usize,
    params: Vec<f32>,
    x: Vec<f32>,
    cut: Vec<u8>,
    state: Vec<f32>,
    d_outs: Vec<Vec<f32>>,
}

fn case(layers: &[Layer], steps: usize, sequences: usize) -> Case {
    let mut rng = Rng::seeded((layers.len() * 1000 + steps * 50 + sequences) as u64);
    let mut nodes = vec![Node::default(); layers.len()];
    let net = Net::compile(layers, [1, 1, INPUTS], &mut nodes).unwrap();
    let rows = steps * sequences;
    let (mut params, state) = (random(&mut rng, net.param_len(), 1.0), random(&mut rng, rows * net.state_len(), 1.0));
    if layers.len() > 7 {
        // Keeps products of many layers small.
        params.iter_mut().for_each(|x| *x *= 0.4);
    }
    let x = random(&mut rng, rows * INPUTS, 1.0);
    let d_outs = (0..net.num_heads()).map(|k| random(&mut rng, rows * net.head_len(k), 1.0)).collect();
    let cut = (0..rows).map(|_| u8::from(rng.bounded(3) == 0)).collect();
    // A state of attention begins with the number of steps it holds.
    let (mut state, width, mut at) = (state, net.state_len(), 0);
    for (layer, (_, len)) in layers.iter().zip(lens(layers)) {
        if layer.kind == LayerKind::Attention as u32 {
            let held = u64::from(layer.window - 1);
            state.iter_mut().skip(at).step_by(width).for_each(|x| *x = rng.bounded(held) as f32);
        }
        at += len;
    }
    Case { layers: layers.to_vec(), nodes, steps, sequences, params, x, cut, state, d_outs }
}

/// One step and one sequence; strips that end within steps, between them, and steps longer than a strip.
fn cases() -> impl Iterator<Item = Case> {
    let sizes = [(1, 1), (1, 4), (5, 1), (4, 3), (70, 1), (13, 7), (3, 70), (2, 64)];
    networks().into_iter().flat_map(move |layers| sizes.map(|(steps, sequences)| case(&layers, steps, sequences)))
}

impl Case {
    fn net(&self) -> Net<'_> {
        Net::new(&self.nodes)
    }

    fn rows(&self) -> usize {
        self.steps * self.sequences
    }

    fn carry(&self) -> Carry<'_> {
        Carry { steps: self.steps, cut: &self.cut, state: &self.state }
    }

    fn forward(&self) -> (Vec<Vec<f32>>, Vec<f32>) {
        forward(&self.net(), &self.params, &self.x, &self.carry())
    }

    /// Gradients of the parameters and of the input.
    fn backward(&self, tape: &[f32]) -> (Vec<f32>, Vec<f32>) {
        backward(&self.net(), &self.params, &self.x, &self.carry(), tape, &self.d_outs)
    }

    /// Outputs, one row of all heads after the other, by the formulas.
    fn twin(&self, params: &[f64], x: &[f64]) -> Vec<Vec<f64>> {
        let mut left: Vec<Vec<f64>> = vec![Vec::new(); self.sequences];
        (0..self.rows())
            .map(|row| {
                let (sequence, width) = (row % self.sequences, self.net().state_len());
                if row < self.sequences || self.cut[row] != 0 {
                    left[sequence] = wide(&self.state[row * width..(row + 1) * width]);
                }
                self.twin_step(params, &x[row * INPUTS..(row + 1) * INPUTS], &mut left[sequence])
            })
            .collect()
    }

    fn twin_step(&self, mut params: &[f64], x: &[f64], mut state: &mut [f64]) -> Vec<f64> {
        let mut values: Vec<Vec<f64>> = Vec::new();
        let mut outs = Vec::new();
        for (i, layer) in self.layers.iter().enumerate() {
            let [x, second] = layer.source.map(|source| match source {
                0 if i > 0 => &values[i - 1][..],
                0 | INPUT => x,
                k => &values[k as usize - 1][..],
            });
            let u = layer.units as usize;
            let mut take = |len: usize| params.split_off(..len).unwrap();
            let mut kept = |len: usize| state.split_off_mut(..len).unwrap();
            let mut y: Vec<f64> = match layer.kind {
                1 => dense(layer, x, &mut take),
                6 if layer.flags & NORMALIZED != 0 => normalized_cell(u, x, kept(2 * u), &mut take),
                6 => plain_cell(layer, x, kept(2 * u), &mut take),
                7 | 8 => plain_cell(layer, x, kept(u), &mut take),
                10 => attention(layer, x, kept(1 + (layer.window as usize - 1) * x.len()), &mut take),
                12 => x.iter().zip(second).map(|(a, b)| a + b).collect(),
                13 => x.iter().zip(second).map(|(a, b)| a * b).collect(),
                _ => [x, second].concat(),
            };
            if let 1 | 12..=14 = layer.kind {
                y.iter_mut().for_each(|y| *y = act(layer.activation, *y));
            }
            if layer.flags & HEAD != 0 {
                outs.extend(&y);
            }
            values.push(y);
        }
        outs
    }

    /// The function that is differentiated: outputs weighted by their gradients.
    fn loss(&self, params: &[f64], x: &[f64]) -> f64 {
        let weights =
            |row: usize| self.d_outs.iter().flat_map(move |d| d.chunks(d.len() / self.rows()).nth(row).unwrap());
        let rows = self.twin(params, x).into_iter().enumerate();
        rows.map(|(row, y)| y.iter().zip(weights(row)).map(|(y, w)| y * f64::from(*w)).sum::<f64>()).sum()
    }
}

/// The product of `x` with column `j` of `n`.
fn product(x: &[f64], w: &[f64], n: usize, j: usize) -> f64 {
    x.iter().enumerate().map(|(i, x)| x * w[i * n + j]).sum()
}

fn dense<'p>(layer: &Layer, x: &[f64], take: &mut impl FnMut(usize) -> &'p [f64]) -> Vec<f64> {
    let u = layer.units as usize;
    let w = take(x.len() * u);
    let bias = if layer.flags & NO_BIAS != 0 { &[][..] } else { take(u) };
    let narrow = |k: usize| x.iter().zip(&w[k * x.len()..]).map(|(x, w)| x * w).sum();
    let dot = |k: usize| if u < 16 { narrow(k) } else { product(x, w, u, k) };
    (0..u).map(|k| dot(k) + bias.get(k).unwrap_or(&0.0)).collect()
}

/// The output of a normalized LSTM, whose state is the output and the memory of each unit.
fn normalized_cell<'p>(u: usize, x: &[f64], state: &mut [f64], take: &mut impl FnMut(usize) -> &'p [f64]) -> Vec<f64> {
    let (w, own, beta, gamma) = (take(x.len() * 4 * u), take(u * 4 * u), take(5 * u), take(5 * u));
    let norm = |k: usize, x: &[f64]| -> Vec<f64> {
        let mean = x.iter().sum::<f64>() / u as f64;
        let variance = x.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / u as f64;
        let stretched = x.iter().zip(&gamma[k * u..]).map(|(x, g)| (x - mean) / (variance + 1e-12).sqrt() * g);
        stretched.zip(&beta[k * u..]).map(|(x, b)| x + b).collect()
    };
    let [i, f, g, o] = [0, 1, 2, 3].map(|k| {
        let sum = |g: usize| product(x, w, 4 * u, g) + product(&state[..u], own, 4 * u, g);
        norm(k, &(k * u..(k + 1) * u).map(sum).collect::<Vec<_>>())
    });
    let c = (0..u).map(|k| sigmoid(f[k]) * state[u + k] + sigmoid(i[k]) * g[k].tanh());
    let c = norm(4, &c.collect::<Vec<_>>());
    for k in 0..u {
        (state[k], state[u + k]) = (sigmoid(o[k]) * c[k].tanh(), c[k]);
    }
    state[..u].to_vec()
}

/// The output of an LSTM, a GRU or a minimal one, with which its state begins.
fn plain_cell<'p>(layer: &Layer, x: &[f64], state: &mut [f64], take: &mut impl FnMut(usize) -> &'p [f64]) -> Vec<f64> {
    let u = layer.units as usize;
    let (gates, reads_itself) = match layer.kind {
        6 => (4 * u, true),
        7 => (3 * u, true),
        _ => (2 * u, false),
    };
    let (w, own) = (take(x.len() * gates), if reads_itself { take(u * gates) } else { &[] });
    let (bias, inner) = (take(gates), if layer.kind == 7 { take(u) } else { &[] });
    let h = state[..u].to_vec();
    let back = |g: usize| product(&h, own, gates, g);
    for k in 0..u {
        let part = |g: usize| product(x, w, gates, g * u + k) + bias[g * u + k];
        let all = |g: usize| part(g) + back(g * u + k);
        match layer.kind {
            6 => {
                let c = sigmoid(all(1)) * state[u + k] + sigmoid(all(0)) * all(2).tanh();
                (state[k], state[u + k]) = (sigmoid(all(3)) * c.tanh(), c);
            }
            7 => {
                let (r, z) = (sigmoid(all(0)), sigmoid(all(1)));
                let n = (part(2) + r * (back(2 * u + k) + inner[k])).tanh();
                state[k] = (1.0 - z) * n + z * h[k];
            }
            _ => {
                let (z, v) = (sigmoid(part(0)), part(1));
                let candidate = if v >= 0.0 { v + 0.5 } else { sigmoid(v) };
                state[k] = (1.0 - z) * h[k] + z * candidate;
            }
        }
    }
    state[..u].to_vec()
}

/// The output of attention for `x` and the steps in its state, the newest last.
fn attention<'p>(layer: &Layer, x: &[f64], state: &mut [f64], take: &mut impl FnMut(usize) -> &'p [f64]) -> Vec<f64> {
    let (u, d, window) = (layer.units as usize, x.len(), layer.window as usize);
    let (w, pair, bias) = (take(d * u), take(d * 2 * u), take(3 * u));
    let (positions, out, out_bias) = (take(window * u), take(u * u), take(u));
    let held = state[0] as usize;
    let mut steps: Vec<Vec<f64>> = state[1..].chunks(d).skip(window - 1 - held).map(<[f64]>::to_vec).collect();
    steps.push(x.to_vec());
    let len = u / layer.heads as usize;
    let mixed: Vec<f64> = (0..u)
        .map(|j| {
            let head = j / len * len..(j / len + 1) * len;
            let of_step = |(age, step): (usize, &Vec<f64>)| {
                let meets = |i: usize| {
                    let query = product(x, w, u, i) + bias[i];
                    query * (product(step, pair, 2 * u, i) + bias[u + i] + positions[age * u + i])
                };
                let score = head.clone().map(meets).sum::<f64>() / (len as f64).sqrt();
                (score.exp(), product(step, pair, 2 * u, u + j) + bias[2 * u + j])
            };
            let all: Vec<(f64, f64)> = steps.iter().rev().enumerate().map(of_step).collect();
            all.iter().map(|(weight, value)| weight * value).sum::<f64>() / all.iter().map(|(w, _)| w).sum::<f64>()
        })
        .collect();
    let newest = steps.len() - steps.len().min(window - 1);
    state[0] = (steps.len() - newest) as f64;
    let at = state.len() - (steps.len() - newest) * d;
    state[at..].copy_from_slice(&steps[newest..].concat());
    (0..u).map(|j| product(&mixed, out, u, j) + out_bias[j]).collect()
}

fn act(activation: u32, x: f64) -> f64 {
    match activation {
        0 => x.tanh(),
        1 => x.max(0.0),
        4 => x * sigmoid(x),
        5 => 0.5 * x * (1.0 + ((2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x * x * x)).tanh()),
        _ => x,
    }
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

#[test]
fn forward_is_the_formula_and_the_gradient_is_its_slope() {
    for case in cases() {
        let (outs, tape) = case.forward();
        let (params, x) = (wide(&case.params), wide(&case.x));
        let twin = case.twin(&params, &x);
        for (row, want) in twin.iter().enumerate() {
            let got = outs.iter().flat_map(|out| out.chunks(out.len() / case.rows()).nth(row).unwrap());
            assert!(
                got.zip(want).all(|(a, b)| (f64::from(*a) - b).abs() < 2e-5 * (1.0 + b.abs())),
                "{:?}",
                case.layers
            );
        }
        let (grads, dx) = case.backward(&tape);
        let mut rng = Rng::seeded(5);
        let mut check = |values: &[f64], got: &[f32], loss: &dyn Fn(&[f64]) -> f64| {
            for _ in 0..values.len().min(12) {
                let at = rng.bounded(values.len() as u64 - 1) as usize;
                let (want, got) = (slope(values, at, 1e-5, loss), f64::from(got[at]));
                assert!((got - want).abs() < 2e-4 * (1.0 + want.abs()), "{:?} at {at}: {got} {want}", case.layers);
            }
        };
        check(&params, &grads, &|params| case.loss(params, &x));
        check(&x, &dx, &|x| case.loss(&params, x));
    }
}

/// Single steps, with the state carried by hand: the bits of the whole sequence. With two cuts, those of three sequences.
#[test]
fn steps_one_by_one_are_the_sequence() {
    for case in cases() {
        let (outs, _) = case.forward();
        let (net, s) = (case.net(), case.sequences);
        let (width, mut scratch) = (net.state_len(), vec![f32::NAN; net.infer_scratch_len(s)]);
        let mut state = vec![f32::NAN; s * width];
        for step in 0..case.steps {
            let rows = step * s..(step + 1) * s;
            for row in rows.clone().filter(|&row| step == 0 || case.cut[row] != 0) {
                state[(row % s) * width..][..width].copy_from_slice(&case.state[row * width..][..width]);
            }
            let x = &case.x[rows.start * INPUTS..rows.end * INPUTS];
            let mut part: Vec<_> = outs.iter().map(|out| vec![f32::NAN; out.len() / case.steps]).collect();
            net.infer(&case.params, x, s, ALL, &mut state, &mut scratch, &mut slices(&mut part)).unwrap();
            for (part, out) in part.iter().zip(&outs) {
                assert_eq!(bits(part), bits(&out[step * part.len()..(step + 1) * part.len()]), "{:?}", case.layers);
            }
        }
    }
}

/// A row depends neither on other sequences nor on steps before a cut, and no gradient goes back through a cut.
#[test]
fn a_cut_is_another_sequence() {
    for mut case in cases().filter(|case| case.steps >= 4) {
        let (s, half) = (case.sequences, case.steps / 2 * case.sequences);
        case.cut[half..half + s].fill(1);
        let (outs, tape) = case.forward();
        let (grads, dx) = case.backward(&tape);
        let part = |from: usize, to: usize| {
            let mut part = case.clone();
            let cut = |a: &[f32]| a[a.len() / case.rows() * from..a.len() / case.rows() * to].to_vec();
            (part.steps, part.x, part.state) = ((to - from) / s, cut(&case.x), cut(&case.state));
            part.cut = case.cut[from..to].to_vec();
            part.d_outs = case.d_outs.iter().map(|d| cut(d)).collect();
            part
        };
        let (before, after) = (part(0, half), part(half, case.rows()));
        let [first, second] = [&before, &after].map(|part| part.forward());
        for ((a, b), all) in first.0.iter().zip(&second.0).zip(&outs) {
            assert_eq!([bits(a), bits(b)].concat(), bits(all));
        }
        let [(g1, d1), (g2, d2)] = [before.backward(&first.1), after.backward(&second.1)];
        let near = |a: f32, b: f32| (a - b).abs() < 1e-4 * (1.0 + b.abs());
        assert!(d1.iter().chain(&d2).zip(&dx).all(|(a, b)| near(*a, *b)), "{:?}", case.layers);
        assert!(g1.iter().zip(&g2).zip(&grads).all(|((a, b), all)| near(a + b, *all)), "{:?}", case.layers);
    }
}

#[test]
fn every_level_gives_the_same_bits() {
    for case in cases() {
        same_at_every_level(&format!("{:?}", case.layers), || {
            let (outs, tape) = case.forward();
            let (grads, dx) = case.backward(&tape);
            (outs.iter().map(|out| bits(out)).collect::<Vec<_>>(), [bits(&tape), bits(&grads), bits(&dx)])
        });
    }
}

#[test]
fn parameters_start_orthogonal_and_are_read_as_written() {
    use LayerKind::{Gru, Lstm, MinGru};
    let cells = [(Lstm, 4, 1, 4), (Gru, 3, 1, 4), (MinGru, 2, 0, 2), (Lstm, 4, 1, 10)];
    for (k, (kind, gates, own, biases)) in cells.into_iter().enumerate() {
        let flags = [FORGET_ONE, 0, 0, FORGET_ONE | NORMALIZED][k];
        let layers = [Layer { flags, ..cell(kind, 8) }, head(0, 1)];
        let mut nodes = [Node::default(); 2];
        let net = Net::compile(&layers, [1, 1, INPUTS], &mut nodes).unwrap();
        let mut params = started(&net, 3);
        let (mut w, mut b) = read(&net, &params, 0, gates * 8 * (INPUTS + own * 8), biases * 8);
        let is_one = |at: usize| flags != 0 && (8..16).contains(&at) || at >= 40;
        assert!(b.iter().enumerate().all(|(at, x)| *x == f32::from(is_one(at))));
        // Orthogonal columns of length 1, in both matrices.
        let (input, hidden) = w.split_at(gates * 8 * INPUTS);
        for (matrix, n) in [(input, INPUTS), (hidden, 8)].into_iter().filter(|(matrix, _)| !matrix.is_empty()) {
            for (i, j) in (0..n).flat_map(|i| (0..=i).map(move |j| (i, j))) {
                let dot: f32 = matrix.chunks(n).map(|row| row[i] * row[j]).sum();
                assert!((dot - f32::from(i == j)).abs() < 1e-5);
            }
        }
        let before = params.clone();
        w.reverse();
        b.reverse();
        net.write_layer(&mut params, 0, &w, &b).unwrap();
        assert_eq!(read(&net, &params, 0, w.len(), b.len()), (w, b));
        assert!(params != before && params[net.params_of(1).unwrap()] == before[net.params_of(1).unwrap()]);
    }
}

/// Queries, keys and values of three steps.
const QKV: [[f32; 6]; 3] =
    [[0.1, 0.2, 0.2, -0.1, 1.0, 0.0], [0.3, -0.4, 0.4, 0.3, 0.0, 1.0], [0.5, 0.6, -0.2, 0.5, 0.5, -0.5]];

/// Vectors made with PyTorch, of three steps and two units.
#[test]
fn attention_is_that_of_other_libraries() {
    let layers = [Layer::attention(2, 1, 3), head(0, 2)];
    let mut nodes = [Node::default(); 2];
    let net = Net::compile(&layers, [1, 1, 6], &mut nodes).unwrap();
    // The input is query, key and value; the head copies the output of attention.
    let mut params = vec![0.0; net.param_len()];
    let mut w = vec![0.0; 6 * 6 + 3 * 2 + 4];
    (0..6).for_each(|i| w[i * 6 + i] = 1.0);
    (w[42], w[45]) = (1.0, 1.0);
    net.write_layer(&mut params, 0, &w, &[0.0; 8]).unwrap();
    net.write_layer(&mut params, 1, &[1.0, 0.0, 0.0, 1.0], &[0.0; 2]).unwrap();
    let x = QKV.concat();
    let state = vec![0.0; 3 * net.state_len()];
    let carry = Carry { steps: 3, cut: &[1, 0, 0], state: &state };
    let (y, tape) = forward(&net, &params, &x, &carry);
    let want = [1.0, 0.0, 0.5176703075150118, 0.4823296924849883, 0.4599331613224294, 0.20989897050312611];
    within(&y[0], &want, 1e-6, "y");
    let d = vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    let (_, dx) = backward(&net, &params, &x, &carry, &tape, &[d]);
    #[rustfmt::skip]
    let want = [
        0.0, 0.0, 0.09724397568865335, 0.25087526124044796, 4.027257058721071, 5.83977659347129,
        0.03531118168791151, 0.07062236337582307, 0.37657804821392327, 0.31771116744264405, 3.3219036004067064,
        4.179216197482043,
        0.5085021293948836, -0.3096974081374471, -0.47382202390257655, -0.5685864286830918, 1.6508393408722222,
        1.9810072090466666,
    ];
    within(&dx, &want, 1e-6, "gradient of the input");
}

/// Positions in a normalized LSTM of TensorFlow's i, j, f, o and state: see `examples-c/guides/coming-from.md`.
const TENSORFLOW: [usize; 5] = [0, 2, 1, 3, 4];

/// Writes a layer of `units` from TensorFlow's kernel, with `input` rows for the input and then one for each unit, and from its
/// betas and gammas.
fn write_tensorflow(net: &Net<'_>, params: &mut [f32], layer: usize, input: usize, units: usize, from: [&[f32]; 3]) {
    let [kernel, beta, gamma] = from;
    let gates = || TENSORFLOW[..4].iter().flat_map(|gate| gate * units..(gate + 1) * units);
    let part = |rows: std::ops::Range<usize>| {
        gates().flat_map(move |gate| rows.clone().map(move |row| kernel[row * 4 * units + gate]))
    };
    let w: Vec<f32> = part(0..input).chain(part(input..input + units)).collect();
    let mut b: Vec<f32> = [beta, gamma]
        .iter()
        .flat_map(|all| TENSORFLOW.iter().flat_map(|&k| &all[k * units..(k + 1) * units]))
        .copied()
        .collect();
    b[units..2 * units].iter_mut().for_each(|b| *b += 1.0);
    net.write_layer(params, layer, &w, &b).unwrap();
}

/// Numbers of TensorFlow's own test of two LayerNormBasicLSTMCell whose weights are all 0.5.
#[test]
fn normalised_cells_are_those_of_tensorflow() {
    let layers = [normalized(2), normalized(2), head(0, 1)];
    let mut nodes = [Node::default(); 3];
    let net = Net::compile(&layers, [1, 1, 2], &mut nodes).unwrap();
    let mut params = vec![0.0; net.param_len()];
    for layer in [0, 1] {
        write_tensorflow(&net, &mut params, layer, 2, 2, [&[0.5; 32], &[0.0; 10], &[1.0; 10]]);
    }
    let mut state = [0.2, 0.3, 0.0, 0.1, 0.6, 0.7, 0.4, 0.5];
    let mut scratch = vec![f32::NAN; net.infer_scratch_len(1)];
    net.infer(&params, &[1.0; 2], 1, ALL, &mut state, &mut scratch, &mut [&mut [0.0]]).unwrap();
    let want = [-0.38079708, 0.38079708, -1.0, 1.0].repeat(2);
    assert!(state.iter().zip(&want).all(|(a, b)| (f64::from(*a) - b).abs() < 1e-6), "{state:?}");
}

/// Vectors made with numpy from TensorFlow's formula, gradients by complex steps: three steps, two inputs and three units.
#[test]
fn gradients_of_normalised_cells_are_those_of_the_formula() {
    const U: usize = 3;
    let layers = [normalized(3), head(0, 3)];
    let mut nodes = [Node::default(); 2];
    let net = Net::compile(&layers, [1, 1, 2], &mut nodes).unwrap();
    let mut params = vec![0.0; net.param_len()];
    let grid = |rows: usize, columns: usize, f: &dyn Fn(i32, i32) -> f32| -> Vec<f32> {
        (0..rows * columns).map(|k| f((k / columns) as i32, (k % columns) as i32)).collect()
    };
    let kernel = grid(5, 12, &|r, c| ((7 * r + 5 * c + r * c * c) % 13 - 6) as f32 / 10.0);
    let gamma = grid(5, 3, &|k, i| 1.0 + ((3 * k + 2 * i) % 5 - 2) as f32 / 10.0);
    let beta = grid(5, 3, &|k, i| ((5 * k + 3 * i) % 7 - 3) as f32 / 20.0);
    let x = grid(3, 2, &|t, i| ((5 * t + 4 * i) % 7 - 3) as f32 / 4.0);
    let d = grid(3, 3, &|t, i| ((t * 3 + i) * 2 % 5 - 2) as f32 / 2.0);
    write_tensorflow(&net, &mut params, 0, 2, U, [&kernel, &beta, &gamma]);
    net.write_layer(&mut params, 1, &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0], &[0.0; 3]).unwrap();

    let start = [0.2, -0.1, 0.4, 0.5, -0.3, 0.1];
    let (mut state, mut scratch, mut y) = (start, vec![f32::NAN; net.infer_scratch_len(1)], [0.0; 9]);
    for (x, y) in x.chunks(2).zip(y.chunks_mut(3)) {
        net.infer(&params, x, 1, ALL, &mut state, &mut scratch, &mut [y]).unwrap();
    }
    let near = |got: &[f32], want: &[f64], what: &str| within(got, want, 2e-6, what);
    #[rustfmt::skip]
    let want = [
        0.344573055061, -0.255062793254, -0.108638260075, 0.124073917561, -0.694147901626, 0.250494214143,
        0.102821566776, -0.689406175004, 0.350505904497,
    ];
    near(&y, &want, "y");
    near(&state[3..], &[0.809031515852, -1.745777190141, 0.778704528339], "state");

    let starts = start.repeat(3);
    let carry = Carry { steps: 3, cut: &[1, 0, 0], state: &starts };
    let (_, tape) = forward(&net, &params, &x, &carry);
    let (grads, dx) = backward(&net, &params, &x, &carry, &tape, &[d]);
    let want = [0.686959556495, -0.171344369, 0.070692134105, 0.024264570147, -0.056940596287, 0.0131517007];
    near(&dx, &want, "input");
    let (w, b) = read(&net, &grads, 0, 60, 30);
    let kernel: Vec<f32> = (0..60)
        .map(|k| (k / 12, TENSORFLOW[k % 12 / U] * U + k % U))
        .map(|(row, gate)| if row < 2 { w[gate * 2 + row] } else { w[24 + gate * U + row - 2] })
        .collect();
    #[rustfmt::skip]
    let want = [
        0.118223075121, -0.092392809881, -0.02583026524, 0.014629023502, 0.642743595613, -0.657372619114,
        0.065988881133, -0.036936405166, -0.029052475967, 0.551843046311, -0.284558203663, -0.267284842648,
        -0.045144267399, 0.024416464416, 0.020727802983, -0.014691254572, -0.202513396369, 0.217204650942,
        -0.067936378271, 0.032113987351, 0.03582239092, -0.173625880912, 0.118332253424, 0.055293627489,
        -0.032415243168, 0.051508534808, -0.01909329164, 0.011301883153, -0.186129013526, 0.174827130373,
        0.017908994617, -0.021648846648, 0.003739852031, -0.109344318227, 0.138764685118, -0.029420366891,
        0.011422422104, -0.031829966295, 0.020407544191, -0.01429003993, 0.10330009229, -0.089010052359,
        -0.04842756415, 0.028276362586, 0.020151201564, 0.062303555233, -0.051397669534, -0.010905885698,
        -0.061651961802, 0.058649023287, 0.003002938515, -0.000714768124, -0.350303525644, 0.351018293768,
        -0.012022184244, 0.005168678997, 0.006853505248, -0.286677098718, 0.162651903519, 0.124025195199,
    ];
    near(&kernel, &want, "kernel");
    let of = |from: &[f32]| TENSORFLOW.iter().flat_map(|&k| from[k * U..(k + 1) * U].to_vec()).collect::<Vec<_>>();
    #[rustfmt::skip]
    let want = [
        -0.069826394295, 0.046511704313, -0.098543213583, 0.017297120881, -0.1640226054, 0.035841768137,
        0.031839307828, 0.023373117018, 0.008314478716, -0.281060668608, -0.259213530395, -0.229092671353,
        0.081043058018, 0.156195359625, 0.098509926907,
    ];
    near(&of(&b[..15]), &want, "betas");
    #[rustfmt::skip]
    let want = [
        -0.001524055125, 0.033458350169, 0.048443909018, -0.047680478824, 0.114498145678, -0.100357990761,
        0.014352995745, -0.044675480882, 0.004746357666, 0.128065989864, -0.309913411921, -0.079181240281,
        0.101176802628, -0.209440965347, -0.50955057885,
    ];
    near(&of(&b[15..]), &want, "gammas");
}

#[test]
fn what_cannot_be_is_refused_by_name() {
    let error = |layer: Layer| {
        Net::compile(&[layer, head(0, 1)], [1, 1, 3], &mut [Node::default(); 2]).unwrap_err().to_string()
    };
    let (lstm, gru) = (cell(LayerKind::Lstm, 4), cell(LayerKind::Gru, 4));
    assert_eq!(error(Layer { units: 0, ..lstm }), "net: units of at least 1 in layer 1, given 0");
    assert_eq!(error(Layer { flags: HEAD, ..lstm }), "net: known flags in layer 1, given 1");
    assert_eq!(error(Layer { flags: FORGET_ONE, ..gru }), "net: known flags in layer 1, given 64");
    assert_eq!(error(Layer { flags: NORMALIZED, ..gru }), "net: known flags in layer 1, given 512");
    let attention = Layer { flags: NORMALIZED, ..Layer::attention(4, 2, 3) };
    assert_eq!(error(attention), "net: known flags in layer 1, given 512");
    let what = "net: activation of 0, which its kind does not read, in layer 1, given 1";
    assert_eq!(error(Layer { activation: 1, ..gru }), what);
    let huge = Layer { units: u32::MAX, ..gru };
    let nodes = &mut [Node::default(); 2];
    assert_eq!(Net::compile(&[huge, head(0, 1)], [1, 1, 3], nodes).unwrap_err().kind, Kind::Overflow);

    let case = case(&[lstm, head(0, 2)], 2, 3);
    let (net, (_, tape)) = (case.net(), case.forward());
    let d = [&case.d_outs[0][..]];
    let mut scratch = vec![0.0; net.scratch_len(false, 3)];
    let good = case.carry();
    let short = [Carry { steps: 0, ..good }, Carry { steps: 4, ..good }];
    let short =
        short.into_iter().chain([Carry { cut: &case.cut[1..], ..good }, Carry { state: &case.state[1..], ..good }]);
    for carry in short {
        let (mut to, mut out) = (vec![7.0; tape.len()], vec![7.0; 12]);
        let mut work = vec![0.0; net.work_len()];
        let outs = &mut [&mut out[..]];
        let done = net.forward(&case.params, &case.x, 6, ALL, &carry, &mut to, &mut work, outs);
        assert!(done.unwrap_err().kind == Kind::Shape && to.iter().chain(&out).all(|x| *x == 7.0));
        let mut grads = vec![7.0; case.params.len()];
        let done = net.backward(&case.params, &case.x, 6, ALL, &carry, &tape, &d, None, &mut grads, &mut scratch);
        assert!(done.unwrap_err().kind == Kind::Shape && grads.iter().all(|x| *x == 7.0));
    }
    let (mut grads, room) = (vec![7.0; case.params.len()], scratch.len() - 1);
    let room = &mut scratch[..room];
    let done = net.backward(&case.params, &case.x, 6, ALL, &good, &tape, &d, None, &mut grads, room);
    assert!(done.unwrap_err().kind == Kind::Size && grads.iter().all(|x| *x == 7.0));
    let (mut out, mut room) = (vec![7.0; 12], vec![0.0; net.infer_scratch_len(6)]);
    let done = net.infer(&case.params, &case.x, 6, ALL, &mut [0.0; 47], &mut room, &mut [&mut out]);
    assert!(done.unwrap_err().kind == Kind::Shape && out.iter().all(|x| *x == 7.0));
}
