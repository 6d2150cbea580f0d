//! Recurrent layers against their formulas in f64, finite differences, one step after the other, every CPU level and bad input.

use rlcore::cpu::{self, LEVELS};
use rlcore::error::Kind;
use rlcore::nn::{ALL, Activation, Carry, FORGET_ONE, HEAD, INPUT, Layer, LayerKind, Net, Node};
use rlcore::rng::Rng;

const INPUTS: usize = 3;

fn cell(kind: LayerKind, units: u32) -> Layer {
    Layer::recurrent(kind, units)
}

fn head(from: u32, units: u32) -> Layer {
    Layer { source: [from, 0], flags: HEAD, ..Layer::dense(units, Activation::Identity) }
}

/// Every cell alone, narrow and wide, behind and under others, and read by two layers.
fn networks() -> Vec<Vec<Layer>> {
    use LayerKind::{Gru, Lstm, MinGru};
    let mut all: Vec<Vec<Layer>> = Vec::new();
    for kind in [Lstm, Gru, MinGru] {
        all.extend([1, 5, 16].map(|units| vec![cell(kind, units), head(0, 2)]));
    }
    all.push(vec![Layer::dense(20, Activation::Tanh), cell(Lstm, 6), cell(Gru, 4), head(0, 2), head(1, 3)]);
    all.push(vec![cell(Gru, 4), Layer { source: [INPUT, 0], ..cell(MinGru, 7) }, head(1, 1), head(1, 2), head(2, 1)]);
    all.push(vec![
        Layer { flags: FORGET_ONE, ..cell(Lstm, 9) },
        Layer::dense(8, Activation::Relu),
        head(0, 2),
        head(1, 1),
    ]);
    all
}

/// A network and its arrays: `sequences` of `steps`, whose rows come step by step.
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

fn random(rng: &mut Rng, len: usize) -> Vec<f32> {
    (0..len).map(|_| rng.uniform_in(-1.0, 1.0) as f32).collect()
}

fn case(layers: &[Layer], steps: usize, sequences: usize) -> Case {
    let mut rng = Rng::seeded((layers.len() * 1000 + steps * 50 + sequences) as u64);
    let mut nodes = vec![Node::default(); layers.len()];
    let net = Net::compile(layers, [1, 1, INPUTS], &mut nodes).unwrap();
    let rows = steps * sequences;
    let (params, state) = (random(&mut rng, net.param_len()), random(&mut rng, rows * net.state_len()));
    let x = random(&mut rng, rows * INPUTS);
    let d_outs = (0..net.num_heads()).map(|k| random(&mut rng, rows * net.head_len(k))).collect();
    let cut = (0..rows).map(|_| u8::from(rng.bounded(3) == 0)).collect();
    Case { layers: layers.to_vec(), nodes, steps, sequences, params, x, cut, state, d_outs }
}

/// One step and one sequence; strips cut within steps, between them, and where a step is longer than a strip.
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
        let (net, rows) = (self.net(), self.rows());
        let mut outs: Vec<_> = self.d_outs.iter().map(|d| vec![f32::NAN; d.len()]).collect();
        let (mut tape, mut work) = (vec![f32::NAN; net.tape_len(rows)], vec![f32::NAN; net.work_len()]);
        let mut to: Vec<_> = outs.iter_mut().map(|out| &mut out[..]).collect();
        net.forward(&self.params, &self.x, rows, ALL, &self.carry(), &mut tape, &mut work, &mut to).unwrap();
        (outs, tape)
    }

    /// Gradients of the parameters and of the input.
    fn backward(&self, tape: &[f32]) -> (Vec<f32>, Vec<f32>) {
        let (net, rows) = (self.net(), self.rows());
        let (mut grads, mut dx) = (vec![0.0; self.params.len()], vec![f32::NAN; self.x.len()]);
        let mut scratch = vec![f32::NAN; net.scratch_len(true, self.sequences)];
        let d: Vec<_> = self.d_outs.iter().map(|d| &d[..]).collect();
        let (params, x, carry) = (&self.params, &self.x, self.carry());
        net.backward(params, x, rows, ALL, &carry, tape, &d, Some(&mut dx), &mut grads, &mut scratch).unwrap();
        let (mut again, mut room) = (vec![0.0; grads.len()], vec![f32::NAN; net.scratch_len(false, self.sequences)]);
        net.backward(params, x, rows, ALL, &carry, tape, &d, None, &mut again, &mut room).unwrap();
        assert_eq!(bits(&again), bits(&grads), "the gradient of the input changes no other");
        (grads, dx)
    }

    /// Outputs, one row of all heads after the other, by the formulas.
    fn twin(&self, params: &[f64], x: &[f64]) -> Vec<Vec<f64>> {
        let mut left: Vec<Vec<f64>> = vec![Vec::new(); self.sequences];
        (0..self.rows())
            .map(|row| {
                let (sequence, width) = (row % self.sequences, self.net().state_len());
                if row < self.sequences || self.cut[row] != 0 {
                    left[sequence] = self.state[row * width..(row + 1) * width].iter().map(|&x| x.into()).collect();
                }
                self.twin_step(params, &x[row * INPUTS..(row + 1) * INPUTS], &mut left[sequence])
            })
            .collect()
    }

    fn twin_step(&self, mut params: &[f64], x: &[f64], mut state: &mut [f64]) -> Vec<f64> {
        let mut values: Vec<Vec<f64>> = Vec::new();
        let mut outs = Vec::new();
        for (i, layer) in self.layers.iter().enumerate() {
            let x = match layer.source[0] {
                0 if i > 0 => &values[i - 1][..],
                0 | INPUT => x,
                k => &values[k as usize - 1][..],
            };
            let u = layer.units as usize;
            let gates = match layer.kind {
                1 => 1,
                6 => 4,
                7 => 3,
                _ => 2,
            } * u;
            let mut take = |len: usize| params.split_off(..len).unwrap();
            let w = take(x.len() * gates);
            let narrow = layer.kind == 1 && u < 16;
            let weight = |g: usize, i: usize| if narrow { w[g * x.len() + i] } else { w[i * gates + g] };
            let dot = |g: usize| x.iter().enumerate().map(|(i, x)| x * weight(g, i)).sum::<f64>();
            let own = if matches!(layer.kind, 6 | 7) { take(u * gates) } else { &[] };
            let bias = take(gates);
            let len = if layer.kind == 6 { 2 * u } else { u };
            let y: Vec<f64> = if layer.kind == 1 {
                (0..u).map(|k| act(layer.activation, dot(k) + bias[k])).collect()
            } else {
                let state = state.split_off_mut(..len).unwrap();
                let h = state[..u].to_vec();
                let back = |g: usize| h.iter().enumerate().map(|(i, h)| h * own[i * gates + g]).sum::<f64>();
                let inner = if layer.kind == 7 { take(u) } else { &[] };
                for k in 0..u {
                    let part = |g: usize| dot(g * u + k) + bias[g * u + k];
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
            };
            if layer.flags & HEAD != 0 && layer.kind == 1 {
                outs.extend(&y);
            }
            values.push(y);
        }
        outs
    }

    /// What is differentiated: outputs, weighted by their gradients.
    fn loss(&self, params: &[f64], x: &[f64]) -> f64 {
        let weights =
            |row: usize| self.d_outs.iter().flat_map(move |d| d.chunks(d.len() / self.rows()).nth(row).unwrap());
        let rows = self.twin(params, x).into_iter().enumerate();
        rows.map(|(row, y)| y.iter().zip(weights(row)).map(|(y, w)| y * f64::from(*w)).sum::<f64>()).sum()
    }
}

fn act(activation: u32, x: f64) -> f64 {
    match activation {
        0 => x.tanh(),
        1 => x.max(0.0),
        _ => x,
    }
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|x| x.to_bits()).collect()
}

fn wide(values: &[f32]) -> Vec<f64> {
    values.iter().map(|&x| x.into()).collect()
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
        let mut check = |len: usize, got: &[f32], slope: &dyn Fn(usize, f64) -> f64| {
            for _ in 0..len.min(12) {
                let at = rng.bounded(len as u64 - 1) as usize;
                let (want, got) = ((slope(at, 1e-5) - slope(at, -1e-5)) / 2e-5, f64::from(got[at]));
                assert!((got - want).abs() < 2e-4 * (1.0 + want.abs()), "{:?} at {at}: {got} {want}", case.layers);
            }
        };
        let moved = |all: &[f64], at: usize, by: f64| {
            let mut all = all.to_vec();
            all[at] += by;
            all
        };
        check(params.len(), &grads, &|at, by| case.loss(&moved(&params, at, by), &x));
        check(x.len(), &dx, &|at, by| case.loss(&params, &moved(&x, at, by)));
    }
}

/// One step at a time, the state carried by hand: the bits of the whole sequence. With two cuts, those of three sequences.
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
            let mut to: Vec<_> = part.iter_mut().map(|out| &mut out[..]).collect();
            net.infer(&case.params, x, s, ALL, &mut state, &mut scratch, &mut to).unwrap();
            for (part, out) in part.iter().zip(&outs) {
                assert_eq!(bits(part), bits(&out[step * part.len()..(step + 1) * part.len()]), "{:?}", case.layers);
            }
        }
    }
}

/// No row knows what other sequences do, nor what came before a cut, and no gradient goes back through it.
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
        let all = LEVELS.map(|level| {
            cpu::set_limit(level);
            let (outs, tape) = case.forward();
            let (grads, dx) = case.backward(&tape);
            (outs.iter().map(|out| bits(out)).collect::<Vec<_>>(), [bits(&tape), bits(&grads), bits(&dx)])
        });
        cpu::set_limit(LEVELS[2]);
        assert!(all[0] == all[1] && all[0] == all[2], "{:?}", case.layers);
    }
}

#[test]
fn parameters_start_orthogonal_and_are_read_as_written() {
    for (kind, gates, own, biases) in
        [(LayerKind::Lstm, 4, 1, 4), (LayerKind::Gru, 3, 1, 4), (LayerKind::MinGru, 2, 0, 2)]
    {
        let flags = if kind == LayerKind::Lstm { FORGET_ONE } else { 0 };
        let layers = [Layer { flags, ..cell(kind, 8) }, head(0, 1)];
        let mut nodes = [Node::default(); 2];
        let net = Net::compile(&layers, [1, 1, INPUTS], &mut nodes).unwrap();
        let (mut params, mut scratch) = (vec![f32::NAN; net.param_len()], vec![0.0; net.scratch_len(false, 0)]);
        net.init(&mut params, &mut Rng::seeded(3), &mut scratch).unwrap();
        let (mut w, mut b) = (vec![0.0; gates * 8 * (INPUTS + own * 8)], vec![f32::NAN; biases * 8]);
        net.read_layer(&params, 0, &mut w, &mut b).unwrap();
        assert_eq!(b.iter().map(|x| f64::from(*x)).sum::<f64>(), if flags != 0 { 8.0 } else { 0.0 });
        assert!(flags == 0 || b[8..16].iter().all(|x| *x == 1.0));
        // Columns of length 1 that are orthogonal, of both matrices.
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
        let (mut again, mut bias) = (vec![0.0; w.len()], vec![0.0; b.len()]);
        net.read_layer(&params, 0, &mut again, &mut bias).unwrap();
        assert_eq!((again, bias), (w, b));
        assert!(params != before && params[net.params_of(1).unwrap()] == before[net.params_of(1).unwrap()]);
    }
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
