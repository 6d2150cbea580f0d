//! Networks against their formulas in f64, finite differences, a fixed update, every CPU level and bad input.

use crate::checks::{
    backward, bits, forward, near, random, read, room, same_at_every_level, slices, slope, wide, within,
};
use rlcore::error::Kind;
use rlcore::nn::{ALL, Activation, Carry, HEAD, INPUT, Layer, LayerKind, MAX_LAYERS, Net, Node};
use rlcore::rng::Rng;

/// Rows on both sides of every strip and block of the products.
const ROWS: [usize; 9] = [1, 2, 3, 4, 7, 8, 31, 33, 70];

const IDENTITY: Activation = Activation::Identity;

/// A layer that reads layer `from`, numbered as in [`Layer::source`].
fn dense(from: u32, units: u32, activation: Activation) -> Layer {
    Layer { source: [from, 0], ..Layer::dense(units, activation) }
}

fn head(from: u32, units: u32, activation: Activation) -> Layer {
    Layer { flags: HEAD, ..dense(from, units, activation) }
}

/// Input, hidden layers, one output.
fn tower(sizes: &[u32], activation: Activation) -> Vec<Layer> {
    let (output, hidden) = sizes[1..].split_last().unwrap();
    let mut layers: Vec<_> = hidden.iter().map(|&units| dense(0, units, activation)).collect();
    layers.push(head(0, *output, IDENTITY));
    layers
}

/// Layers that read random earlier ones; unread layers are heads, and free numbers follow some of them.
fn any_graph(rng: &mut Rng) -> (usize, Vec<Layer>) {
    let mut pick = |n: usize| rng.bounded(n as u64 - 1) as usize;
    let units = [1, 2, 5, 15, 16, 17, 33, 64, 70];
    let mut layers = Vec::new();
    let mut free_to_read = vec![INPUT];
    let num_layers = 1 + pick(10);
    for number in 1..=num_layers as u32 {
        let from = free_to_read[pick(free_to_read.len())];
        let activation = [Activation::Tanh, Activation::Relu, IDENTITY][pick(3)];
        layers.push(dense(from, units[pick(units.len())], activation));
        free_to_read.push(number);
    }
    for number in 1..=num_layers as u32 {
        if layers.iter().all(|l| l.source[0] != number) {
            layers[number as usize - 1].flags = HEAD;
        }
    }
    // Free numbers at the end belong to the last head, and move no other layer.
    if pick(2) == 0 {
        layers.push(Layer::free(3, 0.5));
    }
    (units[pick(units.len())] as usize, layers)
}

fn graphs() -> Vec<(usize, Vec<Layer>)> {
    #[rustfmt::skip]
    let sizes: [&[u32]; 8] = [
        &[1, 1], &[5, 3], &[1, 2, 2, 2], &[4, 64, 64, 2], &[7, 15, 16, 17, 18], &[3, 33, 70, 40, 6, 3],
        &[20, 128, 31], &[9, 50, 4, 65],
    ];
    let mut all = Vec::new();
    for activation in [Activation::Tanh, Activation::Relu] {
        all.extend(sizes.map(|s| (s[0] as usize, tower(s, activation))));
        // Two towers, free numbers between them.
        all.push((6, {
            let mut layers = tower(&[6, 64, 33, 4], activation);
            layers.push(Layer::free(4, -0.5));
            layers.extend([dense(INPUT, 64, activation), dense(0, 33, activation), head(0, 1, IDENTITY)]);
            layers
        }));
        // A trunk with three heads, one of them with an activation.
        let trunk = [dense(0, 40, activation), dense(0, 33, activation)];
        all.push((5, [&trunk[..], &[head(2, 3, IDENTITY), head(2, 17, activation), head(2, 1, IDENTITY)]].concat()));
        // Heads at different depths, one right at the input.
        let deep =
            [head(INPUT, 2, IDENTITY), dense(INPUT, 20, activation), head(2, 16, IDENTITY), dense(2, 9, activation)];
        all.push((3, [&deep[..], &[dense(4, 70, IDENTITY), head(4, 1, IDENTITY), head(5, 4, activation)]].concat()));
    }
    let mut rng = Rng::seeded(11);
    all.extend((0..20).map(|_| any_graph(&mut rng)));
    all
}

/// A network with its arrays, with weights small enough to keep tanh from saturating.
#[derive(Clone)]
struct Case {
    layers: Vec<Layer>,
    nodes: Vec<Node>,
    rows: usize,
    params: Vec<f32>,
    x: Vec<f32>,
    d_outs: Vec<Vec<f32>>,
}

/// Weights `[units, input]` and bias of a layer; both empty if it has none.
type Dense = (Vec<f64>, Vec<f64>);

struct Gradients {
    layers: Vec<Dense>,
    input: Vec<f64>,
}

fn case(input: usize, layers: &[Layer], rows: usize) -> Case {
    let mut rng = Rng::seeded(layers.iter().map(|l| u64::from(l.units)).sum::<u64>() * 1000 + rows as u64);
    let mut nodes = vec![Node::default(); layers.len()];
    let net = Net::compile(layers, [1, 1, input], &mut nodes).unwrap();
    let mut params = random(&mut rng, net.param_len(), 1.0);
    let width = layers.iter().map(|l| l.units as usize).max().unwrap().max(input) as f32;
    params.iter_mut().for_each(|p| *p *= 1.5 / width.sqrt());
    let x = random(&mut rng, rows * input, 1.0);
    let d_outs = heads(layers).map(|l| random(&mut rng, rows * l.units as usize, 1.0)).collect();
    Case { layers: layers.to_vec(), nodes, rows, params, x, d_outs }
}

fn heads(layers: &[Layer]) -> impl Iterator<Item = &Layer> {
    layers.iter().filter(|l| l.flags & HEAD != 0)
}

fn cases() -> impl Iterator<Item = Case> {
    graphs().into_iter().flat_map(|(input, layers)| ROWS.map(|rows| case(input, &layers, rows)))
}

/// The layers and rows of a case, for messages of failures.
fn name(case: &Case) -> String {
    let layers = case.layers.iter().map(|l| (l.kind, l.source[0], l.units, l.activation, l.flags));
    format!("{:?} x {}", layers.collect::<Vec<_>>(), case.rows)
}

impl Case {
    fn net(&self) -> Net<'_> {
        Net::new(&self.nodes)
    }

    fn wanted(&self, heads: u32) -> impl Iterator<Item = usize> {
        (0..self.d_outs.len()).filter(move |k| heads & 1 << k != 0)
    }

    fn outs(&self, heads: u32, run: impl FnOnce(&mut [&mut [f32]])) -> Vec<Vec<f32>> {
        let mut outs: Vec<_> = self.wanted(heads).map(|k| room(self.d_outs[k].len())).collect();
        run(&mut slices(&mut outs));
        outs
    }

    fn forward(&self, heads: u32) -> (Vec<Vec<f32>>, Vec<f32>) {
        let mut tape = room(self.net().tape_len(self.rows));
        let outs = self.outs(heads, |outs| {
            let (params, x, rows) = (&self.params, &self.x, self.rows);
            self.net().forward(params, x, rows, heads, &Carry::NONE, &mut tape, &mut [], outs).unwrap();
        });
        (outs, tape)
    }

    fn infer(&self, heads: u32) -> Vec<Vec<f32>> {
        let mut scratch = vec![f32::NAN; self.net().infer_scratch_len(self.rows)];
        self.outs(heads, |outs| {
            self.net().infer(&self.params, &self.x, self.rows, heads, &mut [], &mut scratch, outs).unwrap();
        })
    }

    /// Adds to `grads`, and sets `d_input` if it is requested.
    fn add_backward(&self, heads: u32, tape: &[f32], grads: &mut [f32], d_input: Option<&mut [f32]>) {
        let d_outs: Vec<_> = self.wanted(heads).map(|k| &self.d_outs[k][..]).collect();
        let mut scratch = room(self.net().scratch_len(d_input.is_some(), 0));
        let (params, x, rows) = (&self.params, &self.x, self.rows);
        self.net().backward(params, x, rows, heads, &Carry::NONE, tape, &d_outs, d_input, grads, &mut scratch).unwrap();
    }

    /// Gradients of the parameters, which have to be the same without the gradient of the input, and of the input.
    fn backward(&self, heads: u32, tape: &[f32]) -> (Vec<f32>, Vec<f32>) {
        let (mut grads, mut d_input) = (vec![0.0; self.params.len()], room(self.x.len()));
        self.add_backward(heads, tape, &mut grads, Some(&mut d_input));
        let mut again = vec![0.0; grads.len()];
        self.add_backward(heads, tape, &mut again, None);
        assert_eq!(bits(&again), bits(&grads), "{}", name(self));
        (grads, d_input)
    }

    /// The case of one row.
    fn row(&self, row: usize) -> Case {
        let part = |a: &[f32]| {
            let width = a.len() / self.rows;
            a[row * width..(row + 1) * width].to_vec()
        };
        Case { rows: 1, x: part(&self.x), d_outs: self.d_outs.iter().map(|d| part(d)).collect(), ..self.clone() }
    }

    fn dense(&self, params: &[f32]) -> Vec<Dense> {
        let mut input_of = Vec::new();
        for (i, layer) in self.layers.iter().enumerate() {
            input_of.push(self.source(i).map_or(self.net().input(), |s| self.layers[s].units as usize));
            if layer.kind == LayerKind::Free as u32 {
                input_of[i] = 0;
            }
        }
        let layers = self.layers.iter().zip(input_of).enumerate();
        layers
            .map(|(i, (layer, input))| {
                if input == 0 {
                    return (Vec::new(), Vec::new());
                }
                let units = layer.units as usize;
                let (w, b) = read(&self.net(), params, i, input * units, units);
                (wide(&w), wide(&b))
            })
            .collect()
    }

    /// The layer that layer `i` reads; none for the input.
    fn source(&self, i: usize) -> Option<usize> {
        match self.layers[i].source[0] {
            INPUT => None,
            0 => i.checked_sub(1),
            k => Some(k as usize - 1),
        }
    }

    /// The values of every layer for one row.
    fn twin_row(&self, layers: &[Dense], x: &[f64]) -> Vec<Vec<f64>> {
        let mut all: Vec<Vec<f64>> = Vec::new();
        for (i, (w, b)) in layers.iter().enumerate() {
            let y = if b.is_empty() {
                Vec::new()
            } else {
                let x = self.source(i).map_or(x, |s| &all[s]);
                let sums =
                    b.iter().zip(w.chunks(x.len())).map(|(b, w)| b + w.iter().zip(x).map(|(w, x)| w * x).sum::<f64>());
                sums.map(|sum| match self.layers[i].activation {
                    0 => sum.tanh(),
                    1 => sum.max(0.0),
                    _ => sum,
                })
                .collect()
            };
            all.push(y);
        }
        all
    }

    fn twin_heads(&self, layers: &[Dense], x: &[f64]) -> Vec<Vec<f64>> {
        let all = self.twin_row(layers, x).into_iter().zip(&self.layers);
        all.filter(|(_, l)| l.flags & HEAD != 0).map(|(y, _)| y).collect()
    }

    fn rows_of<'a>(&self, x: &'a [f64]) -> std::slice::ChunksExact<'a, f64> {
        x.chunks_exact(self.net().input())
    }

    /// The sum of `d_outs * outs`: its slopes are the gradients.
    fn twin_loss(&self, layers: &[Dense], x: &[f64]) -> f64 {
        let mut loss = 0.0;
        for (row, x) in self.rows_of(x).enumerate() {
            for (d, y) in self.d_outs.iter().zip(self.twin_heads(layers, x)) {
                loss += y.iter().zip(&d[row * y.len()..]).map(|(y, d)| y * f64::from(*d)).sum::<f64>();
            }
        }
        loss
    }

    /// The gradients by the chain rule, layer by layer.
    fn twin_gradients(&self) -> Gradients {
        let (layers, x) = (self.dense(&self.params), wide(&self.x));
        let mut grads: Vec<_> = layers.iter().map(|(w, b)| (vec![0.0; w.len()], vec![0.0; b.len()])).collect();
        let mut d_input = vec![0.0; x.len()];
        let d_input_rows = d_input.chunks_exact_mut(self.net().input());
        for (row, (input, d_input)) in self.rows_of(&x).zip(d_input_rows).enumerate() {
            let values = self.twin_row(&layers, input);
            let mut d: Vec<Vec<f64>> = values.iter().map(|y| vec![0.0; y.len()]).collect();
            let heads = (0..layers.len()).filter(|&i| self.layers[i].flags & HEAD != 0);
            for (i, d_out) in heads.zip(&self.d_outs) {
                let n = d[i].len();
                d[i] = wide(&d_out[row * n..(row + 1) * n]);
            }
            for i in (0..layers.len()).rev() {
                let x = self.source(i).map_or(input, |s| &values[s]).to_vec();
                for o in 0..d[i].len() {
                    let a = values[i][o];
                    let slope = match self.layers[i].activation {
                        0 => 1.0 - a * a,
                        1 => f64::from(a > 0.0),
                        _ => 1.0,
                    };
                    let g = d[i][o] * slope;
                    grads[i].1[o] += g;
                    for (k, from) in x.iter().enumerate() {
                        let at = o * x.len() + k;
                        grads[i].0[at] += g * from;
                        let w = layers[i].0[at];
                        match self.source(i) {
                            Some(s) => d[s][k] += g * w,
                            None => d_input[k] += g * w,
                        }
                    }
                }
            }
        }
        Gradients { layers: grads, input: d_input }
    }
}

fn all_bits(values: &[Vec<f32>]) -> Vec<Vec<u32>> {
    values.iter().map(|v| bits(v)).collect()
}

#[test]
fn forward_and_backward_equal_the_formulas_in_f64() {
    for case in cases() {
        let what = name(&case);
        let (layers, x) = (case.dense(&case.params), wide(&case.x));
        let (outs, tape) = case.forward(ALL);
        let rows: Vec<_> = case.rows_of(&x).map(|x| case.twin_heads(&layers, x)).collect();
        for (k, out) in outs.iter().enumerate() {
            let want: Vec<f64> = rows.iter().flat_map(|heads| heads[k].clone()).collect();
            near(out, &want, 3e-6, &what);
        }
        let (grads, d_input) = case.backward(ALL, &tape);
        let want = case.twin_gradients();
        for (i, ((gw, gb), (w, b))) in case.dense(&grads).into_iter().zip(want.layers).enumerate() {
            near(&gw, &w, 1e-5, &format!("{what}, weights of layer {i}"));
            near(&gb, &b, 1e-5, &format!("{what}, bias of layer {i}"));
        }
        near(&d_input, &want.input, 1e-5, &format!("{what}, input"));
    }
}

/// Slopes of `loss` in each of `values`, by central differences.
fn slopes(values: &[f64], loss: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    (0..values.len()).map(|i| slope(values, i, 1e-6, &loss)).collect()
}

#[test]
fn the_gradient_is_the_slope() {
    let small = |(_, layers): &(usize, Vec<Layer>)| layers.iter().map(|l| l.units).sum::<u32>() < 100;
    let graphs: Vec<_> = graphs().into_iter().filter(small).collect();
    assert!(graphs.len() > 10);
    for (input, layers) in graphs {
        let case = case(input, &layers, 3);
        let (layers, x) = (case.dense(&case.params), wide(&case.x));
        let (grads, d_input) = case.backward(ALL, &case.forward(ALL).1);
        for (i, (w, b)) in case.dense(&grads).into_iter().enumerate() {
            let with = |own: Dense| [&layers[..i], &[own], &layers[i + 1..]].concat();
            let (old_w, old_b) = layers[i].clone();
            let want = slopes(&old_w, |w| case.twin_loss(&with((w.to_vec(), old_b.clone())), &x));
            near(&w, &want, 1e-5, &format!("{}, weights of layer {i}", name(&case)));
            let want = slopes(&old_b, |b| case.twin_loss(&with((old_w.clone(), b.to_vec())), &x));
            near(&b, &want, 1e-5, &format!("{}, bias of layer {i}", name(&case)));
        }
        let want = slopes(&x, |x| case.twin_loss(&layers, x));
        near(&d_input, &want, 1e-5, &format!("{}, input", name(&case)));
    }
}

#[test]
fn gradients_are_added() {
    for case in cases().filter(|c| c.rows == 70) {
        let (_, tape) = case.forward(ALL);
        let (once, d_input) = case.backward(ALL, &tape);
        let mut twice = once.clone();
        let mut again = room(d_input.len());
        case.add_backward(ALL, &tape, &mut twice, Some(&mut again));
        assert_eq!(bits(&again), bits(&d_input));
        near(&twice, &once.iter().map(|g| 2.0 * f64::from(*g)).collect::<Vec<_>>(), 1e-5, &name(&case));
        // Row after row into the same gradients gives the gradients of the whole batch, to the bit.
        let mut grads = vec![0.0; case.params.len()];
        let mut rows = room(d_input.len());
        for (row, d_input) in rows.chunks_mut(d_input.len() / case.rows).enumerate() {
            let row = case.row(row);
            row.add_backward(ALL, &row.forward(ALL).1, &mut grads, Some(d_input));
        }
        assert_eq!((bits(&grads), bits(&rows)), (bits(&once), bits(&d_input)), "{}", name(&case));
    }
}

/// A head alone gives the same output as among all heads, and its gradient is that of all with zeros at the others.
#[test]
fn heads_are_computed_alone() {
    for case in cases().filter(|c| c.d_outs.len() > 1 && [1, 33].contains(&c.rows)) {
        let (outs, tape) = case.forward(ALL);
        for heads in [0, 1, 2, 3, 6, 1 << (case.d_outs.len() - 1)] {
            let wanted: Vec<_> = case.wanted(heads).map(|k| bits(&outs[k])).collect();
            let (alone, own_tape) = case.forward(heads);
            assert_eq!((&all_bits(&alone), &all_bits(&case.infer(heads))), (&wanted, &wanted));
            let (grads, d_input) = case.backward(heads, &own_tape);
            assert_eq!(bits(&case.backward(heads, &tape).0), bits(&grads));
            let mut zeros = case.clone();
            (0..outs.len()).filter(|k| heads & 1 << k == 0).for_each(|k| zeros.d_outs[k].fill(0.0));
            assert_eq!(zeros.backward(ALL, &tape), (grads, d_input), "heads {heads:b} of {}", name(&case));
        }
    }
}

/// Parameters with these weights, `[units, input]`, in all dense layers, and biases of 0.
fn set(net: &Net<'_>, weights: &[&[f32]]) -> Vec<f32> {
    let mut params = vec![0.0; net.param_len()];
    for (i, w) in weights.iter().enumerate() {
        let len = net.params_of(i).unwrap().len() - w.len();
        net.write_layer(&mut params, i, w, &vec![0.0; len]).unwrap();
    }
    params
}

#[test]
fn one_update_of_the_fully_connected_agent() {
    let mut layers = tower(&[1, 2, 2, 1], Activation::Tanh);
    layers.extend([dense(INPUT, 2, Activation::Tanh), dense(0, 2, Activation::Tanh), head(0, 2, IDENTITY)]);
    let mut nodes = [Node::default(); 6];
    let net = Net::compile(&layers, [1, 1, 1], &mut nodes).unwrap();
    let critic: [&[f32]; 3] = [&[0.5, -0.3], &[0.2, -0.4, 0.1, 0.6], &[0.7, -0.8]];
    let actor: [&[f32]; 3] = [&[-0.6, 0.9], &[0.3, 0.5, -0.2, 0.4], &[0.05, -0.02, -0.03, 0.04]];
    let params = set(&net, &[critic, actor].concat());
    let obs = [0.0, 1.0, 0.0, 1.0];
    let (action, old) = ([0, 1, 1, 0], [-0.7, -0.7, -0.6, -0.8]);
    let (advantage, target) = ([1.0, 1.0, -1.0, -1.5f64], [1.0, 1.0, -1.0, -1.0]);

    let (outs, tape) = forward(&net, &params, &obs, &Carry::NONE);
    let [value, logits] = [&outs[0], &outs[1]];
    near(value, &[0.0, 0.2464694421, 0.0, 0.2464694421], 1e-7, "value");
    near(&logits[2..4], &[0.0022313137, 0.0091540014], 1e-7, "logits");

    // The objective's gradient in values and logits, from the formulas: clip 0.2, value weight 0.5, entropy 0.01.
    let mean = advantage.iter().sum::<f64>() / 4.0;
    let std = (advantage.iter().map(|a| (a - mean).powi(2)).sum::<f64>() / 3.0).sqrt();
    let (mut d_value, mut d_logits) = (vec![0.0; 4], vec![0.0; 8]);
    for i in 0..4 {
        d_value[i] = (-0.5 * (f64::from(value[i]) - target[i]) / 4.0) as f32;
        let l = [f64::from(logits[2 * i]), f64::from(logits[2 * i + 1])];
        let z = (l[0].exp() + l[1].exp()).ln();
        let (log_p, a) = ([l[0] - z, l[1] - z], (advantage[i] - mean) / (std + 1e-7));
        let entropy = -log_p.iter().map(|l| l.exp() * l).sum::<f64>();
        let ratio = (log_p[action[i]] - old[i]).exp();
        let policy = if ratio * a <= ratio.clamp(0.8, 1.2) * a { ratio * a / 4.0 } else { 0.0 };
        for j in 0..2 {
            let p = log_p[j].exp();
            let chosen = f64::from(u8::from(j == action[i]));
            d_logits[2 * i + j] = (policy * (chosen - p) - 0.01 / 4.0 * p * (log_p[j] + entropy)) as f32;
        }
    }

    let (grads, _) = backward(&net, &params, &obs, &Carry::NONE, &tape, &[d_value, d_logits]);
    let mut all = Vec::new();
    for (i, (input, units)) in [(1, 2), (2, 2), (2, 1), (1, 2), (2, 2), (2, 2)].into_iter().enumerate() {
        let (w, b) = read(&net, &grads, i, input * units, units);
        all.extend([wide(&w), wide(&b)].concat());
    }
    #[rustfmt::skip]
    let want = [
        -0.0026831, 0.0417428, -0.0026831, 0.0417428,
        -0.0190866, 0.0120319, 0.0224071, -0.0141251, -0.0413025, 0.0484879,
        -0.0126907, 0.0078791, -0.0616174,
        -0.0060168, -0.0022007, 0.0005876, 0.0007345,
        0.0104631, -0.0139553, -0.0070106, 0.0093505, -0.0048062, 0.0020466,
        -0.0492358, -0.0948511, 0.0492358, 0.0948511, -0.0696551, 0.0696551,
    ];
    within(&all, &want, 1e-7, "critic and actor");
    let norm = all.iter().map(|g| g * g).sum::<f64>().sqrt();
    assert!((norm - 0.2141080560).abs() < 1e-7, "{norm}");
}

#[test]
fn every_cpu_level_gives_the_same_bytes() {
    // Few inputs, few outputs, and rows beyond whole groups of four have products of their own.
    let thin = (1..6)
        .flat_map(|input| [1, 2, 3].map(|output| tower(&[input, 16, 8, output], Activation::Tanh)).map(|l| (input, l)));
    let thin = thin.flat_map(|(input, layers)| (1..10).map(move |rows| case(input as usize, &layers, rows)));
    for case in cases().chain(thin) {
        same_at_every_level(&name(&case), || {
            let (outs, tape) = case.forward(ALL);
            let (grads, d_input) = case.backward(ALL, &tape);
            (all_bits(&outs), all_bits(&case.infer(ALL)), [bits(&tape), bits(&grads), bits(&d_input)])
        });
    }
}

#[test]
fn rows_do_not_know_each_other_and_inference_equals_forward() {
    for case in cases() {
        let (outs, _) = case.forward(ALL);
        assert_eq!(all_bits(&case.infer(ALL)), all_bits(&outs));
        for row in 0..case.rows {
            for (one, out) in case.row(row).infer(ALL).iter().zip(&outs) {
                let n = one.len();
                assert_eq!(bits(one), bits(&out[row * n..(row + 1) * n]), "{}, row {row}", name(&case));
            }
        }
    }
}

#[test]
fn weights_are_read_as_they_were_written() {
    for (input, layers) in graphs() {
        let case = case(input, &layers, 1);
        let (net, mut params) = (case.net(), vec![f32::NAN; case.params.len()]);
        let dense = case.dense(&case.params);
        let mut end = 0;
        for (i, (layer, (w, b))) in layers.iter().zip(&dense).enumerate() {
            // The layers' parameters lie one after another.
            let range = net.params_of(i).unwrap();
            assert_eq!(range.start, end);
            end = range.end;
            if layer.kind == LayerKind::Free as u32 {
                assert_eq!(range.len(), layer.units as usize);
                params[range].fill(0.25);
                continue;
            }
            assert_eq!(range.len(), w.len() + b.len());
            let f32s = |x: &[f64]| x.iter().map(|x| *x as f32).collect::<Vec<_>>();
            net.write_layer(&mut params, i, &f32s(w), &f32s(b)).unwrap();
        }
        assert_eq!(end, net.param_len());
        assert!(params.iter().all(|p| !p.is_nan()));
        assert_eq!(case.dense(&params), dense);
    }
}

#[test]
fn nan_goes_through_its_own_row_only() {
    for activation in [Activation::Tanh, Activation::Relu] {
        let mut case = case(4, &tower(&[4, 64, 64, 2], activation), 9);
        case.x[4 * 3] = f32::NAN;
        for (row, out) in case.infer(ALL)[0].chunks(2).enumerate() {
            assert_eq!(out.iter().all(|y| y.is_nan()), row == 3);
            assert_eq!(out.iter().any(|y| y.is_nan()), row == 3);
        }
    }
}

#[test]
fn no_rows_are_no_error_and_a_gradient_of_zero() {
    for (input, layers) in graphs() {
        let case = case(input, &layers, 0);
        let (outs, tape) = case.forward(ALL);
        assert!(outs.iter().chain(&case.infer(ALL)).all(Vec::is_empty));
        assert!(case.backward(ALL, &tape).0.iter().all(|g| *g == 0.0));
    }
}

/// A policy of two means and two deviations, and a critic, on one trunk.
fn actor_and_critic() -> [Layer; 7] {
    let tanh = Activation::Tanh;
    [
        dense(INPUT, 8, tanh),
        dense(1, 20, tanh),
        head(0, 2, IDENTITY),
        Layer::free(2, -0.5),
        dense(1, 16, tanh),
        dense(5, 6, tanh),
        head(6, 1, IDENTITY),
    ]
}

#[test]
fn a_head_is_taken_out_with_what_it_depends_on() {
    let layers = actor_and_critic();
    let case = case(3, &layers, 5);
    let (net, tanh) = (case.net(), Activation::Tanh);
    assert_eq!((net.head_len(0), net.head_len(1), net.head_len(2)), (2, 1, 0));
    let policy = [dense(INPUT, 8, tanh), dense(1, 20, tanh), head(0, 2, IDENTITY), Layer::free(2, -0.5)];
    let critic = [dense(INPUT, 8, tanh), dense(1, 16, tanh), dense(2, 6, tanh), head(3, 1, IDENTITY)];
    for (k, want) in [policy, critic].iter().enumerate() {
        let mut to = [Layer::default(); MAX_LAYERS];
        let count = net.prune(&layers, k, &mut to).unwrap();
        assert_eq!(&to[..count], want);
        assert_eq!(net.prune(&layers, k, &mut to[..count - 1]).unwrap_err().kind, Kind::Size);
        let mut nodes = [Node::default(); 4];
        let alone = Net::compile(&to[..count], [1, 1, 3], &mut nodes).unwrap();
        let mut params = vec![f32::NAN; alone.param_len()];
        net.prune_params(&case.params, k, 1, &mut params).unwrap();
        let mut out = vec![f32::NAN; 5 * alone.head_len(0)];
        let mut scratch = vec![f32::NAN; alone.infer_scratch_len(5)];
        alone.infer(&params, &case.x, 5, ALL, &mut [], &mut scratch, &mut [&mut out]).unwrap();
        assert_eq!(bits(&out), bits(&case.infer(1 << k)[0]));
        if k == 0 {
            assert_eq!(params[alone.params_of(3).unwrap()], case.params[net.params_of(3).unwrap()]);
        }
        assert_eq!(net.prune_params(&case.params[1..], k, 1, &mut params).unwrap_err().kind, Kind::Shape);
        assert_eq!(net.prune_params(&case.params, k, 1, &mut params[1..]).unwrap_err().kind, Kind::Shape);
    }
    let mut to = [Layer::default(); MAX_LAYERS];
    assert_eq!(net.prune(&layers, 2, &mut to).unwrap_err().kind, Kind::Range);
    assert_eq!(net.prune(&layers[1..], 0, &mut to).unwrap_err().kind, Kind::Shape);
    assert_eq!(net.prune_params(&case.params, 2, 1, &mut []).unwrap_err().kind, Kind::Range);
    assert_eq!(to, [Layer::default(); MAX_LAYERS]);
}

/// Working memory grows with the values alive at the same time, not with the layers.
#[test]
fn values_take_the_places_of_those_that_are_no_longer_needed() {
    let mut layers = tower(&[64; MAX_LAYERS], Activation::Relu);
    let mut nodes = [Node::default(); MAX_LAYERS];
    let net = Net::compile(&layers, [1, 1, 64], &mut nodes).unwrap();
    assert_eq!((net.infer_scratch_len(1), net.infer_scratch_len(32), net.infer_scratch_len(9999)), (128, 4096, 4096));
    assert_eq!(net.tape_len(3), 3 * 64 * (MAX_LAYERS - 2));
    assert_eq!(net.tape_len(usize::MAX), usize::MAX);
    // The first value is needed until the end.
    layers.last_mut().unwrap().source[0] = 1;
    let last = layers.len() - 2;
    layers[last].flags = HEAD;
    assert_eq!(Net::compile(&layers, [1, 1, 64], &mut nodes).unwrap().infer_scratch_len(1), 3 * 64);
}

/// A gradient is kept until it can be added to that of the other source, whether or not the input's is requested.
#[test]
fn what_reads_the_input_and_a_layer_finds_room_for_its_gradient() {
    let add = |source| Layer::merge(LayerKind::Add, source, Activation::Identity);
    let layers = [Layer::dense(3, Activation::Tanh), add([INPUT, 1]), add([2, 1]), head(0, 1, IDENTITY)];
    let mut nodes = [Node::default(); 4];
    let net = Net::compile(&layers, [1, 1, 3], &mut nodes).unwrap();
    let (params, x) = (vec![0.1; net.param_len()], [1.0, 2.0, 3.0]);
    let (_, tape) = forward(&net, &params, &x, &Carry::NONE);
    let (grads, _) = backward(&net, &params, &x, &Carry::NONE, &tape, &[vec![1.0]]);
    assert!(grads[..9].iter().all(|g| *g != 0.0));
}

#[test]
fn layers_that_cannot_be_are_refused_by_name() {
    let good = actor_and_critic();
    let compiled = |layers: &[Layer]| {
        let mut nodes = [Node::default(); MAX_LAYERS];
        Net::compile(layers, [1, 1, 3], &mut nodes).map(|net| net.param_len())
    };
    assert!(compiled(&good).is_ok());
    type Spoil = fn(&mut [Layer; 7]);
    let bad: [(&str, Spoil); 32] = [
        ("net: a known kind in layer 2, given 0", |l| l[1].kind = 0),
        ("net: a known kind in layer 2, given 16", |l| l[1].kind = 16),
        ("net: a known kind in layer 2, given 33", |l| l[1].kind = 33),
        ("net: source[0] of 0, which its kind does not read, in layer 4, given 1", |l| l[3].source[0] = 1),
        ("net: source[1] of 0, which its kind does not read, in layer 2, given 1", |l| l[1].source[1] = 1),
        ("net: activation of 0, which its kind does not read, in layer 4, given 1", |l| l[3].activation = 1),
        ("net: flags of 0, which its kind does not read, in layer 4, given 1", |l| l[3].flags = HEAD),
        ("net: size of 0, which its kind does not read, in layer 4, given 3", |l| l[3].size = [3, 0]),
        ("net: a size whose product divides the units in layer 2, given 20", |l| l[1].size = [0, 3]),
        ("net: stride of 0, which its kind does not read, in layer 2, given 2", |l| l[1].stride = [2, 0]),
        ("net: stride of 0, which its kind does not read, in layer 2, given 2", |l| l[1].stride = [0, 2]),
        ("net: same of 0, which its kind does not read, in layer 2, given 1", |l| l[1].same = 1),
        ("net: heads of 0, which its kind does not read, in layer 2, given 4", |l| l[1].heads = 4),
        ("net: window of 0, which its kind does not read, in layer 2, given 9", |l| l[1].window = 9),
        ("net: initializer of 0, which its kind does not read, in layer 4, given 1", |l| l[3].initializer = 1),
        ("net: symbols of 0, which its kind does not read, in layer 2, given 1", |l| l[1].symbols = 1),
        ("net: units of at least 1 in layer 1, given 0", |l| l[0].units = 0),
        ("net: units of at least 1 in layer 4, given 0", |l| l[3].units = 0),
        ("net: a known activation in layer 2, given 7", |l| l[1].activation = 7),
        ("net: known flags in layer 2, given 4", |l| l[1].flags = 4),
        ("net: known flags in layer 2, given 1073741824", |l| l[1].flags = 1 << 30),
        ("net: a known initializer in layer 2, given 6", |l| l[1].initializer = 6),
        ("net: a finite gain in layer 2, given NaN", |l| l[1].gain = f32::NAN),
        ("net: a finite gain in layer 4, given inf", |l| l[3].gain = f32::INFINITY),
        ("net: a source with the input or a layer before it in layer 2, given 2", |l| l[1].source[0] = 2),
        ("net: a source with the input or a layer before it in layer 2, given 3", |l| l[1].source[0] = 3),
        ("net: a source with a part that the input has, counted from 1, in layer 2, given 1073741825", |l| {
            l[1].source[0] = INPUT | 1
        }),
        ("net: a source without a head or free numbers in layer 5, given 0", |l| l[4].source[0] = 0),
        ("net: a source without a head or free numbers in layer 5, given 4", |l| l[4].source[0] = 4),
        ("net: a source without a head or free numbers in layer 5, given 3", |l| l[4].source[0] = 3),
        ("net: a head that depends on layer 6", |l| l[6].source[0] = 5),
        ("net: a head before free numbers, which are layer 1", |l| l[0] = Layer::free(1, 0.0)),
    ];
    for (what, spoil) in bad {
        let mut layers = good;
        spoil(&mut layers);
        let error = compiled(&layers).unwrap_err();
        assert_eq!((error.kind, error.to_string().as_str()), (Kind::Config, what));
    }
    assert_eq!(compiled(&[]).unwrap_err().kind, Kind::Config);
    assert_eq!(compiled(&good[..2]).unwrap_err().to_string(), "net: a head that depends on layer 2");
    assert_eq!(compiled(&[head(0, 1, IDENTITY); MAX_LAYERS + 1]).unwrap_err().kind, Kind::Config);
    assert!(compiled(&[head(INPUT, 1, IDENTITY); 32]).is_ok());
    let error = compiled(&[head(INPUT, 1, IDENTITY); 33]).unwrap_err();
    assert_eq!(error.to_string(), "net: heads, at most 32, given 33");
    assert_eq!(compiled(&[dense(0, 1, IDENTITY); 76]).unwrap_err().to_string(), NO_MORE);
}

const NO_MORE: &str = "net: layers, at least 1 and at most 75, given 76";

/// A list with 62 layers in its middle that change nothing computes the same, bit for bit: the gradients of values 64 layers
/// apart are distinct.
#[cfg(feature = "residual")]
#[test]
fn layers_far_apart_have_gradients_of_their_own() {
    let add = |source| Layer::merge(LayerKind::Add, source, IDENTITY);
    let tanh = |from| dense(from, 4, Activation::Tanh);
    // Layer 2, then what stands behind `n` layers, the first of which reads layer 2 `n` layers later.
    let list = |n: u32| {
        let mut all = vec![tanh(INPUT), tanh(1)];
        all.extend((0..n).map(|_| dense(0, 4, IDENTITY)));
        all.extend([
            add([n + 2, 2]),
            tanh(n + 3),
            tanh(n + 4),
            add([n + 5, n + 4]),
            add([n + 6, 2]),
            head(0, 3, IDENTITY),
        ]);
        all
    };
    let run = |n: u32, params: &[f32]| {
        let (layers, mut nodes) = (list(n), [Node::default(); MAX_LAYERS]);
        let net = Net::compile(&layers, [1, 1, 3], &mut nodes).unwrap();
        // Parameters of the short list, and matrices of 0 and 1 between them.
        let mut all = vec![0.0; net.param_len()];
        let (front, back) = params.split_at(4 * 4 + 5 * 4);
        all[..front.len()].copy_from_slice(front);
        let last = all.len() - back.len();
        all[last..].copy_from_slice(back);
        for layer in 2..n as usize + 2 {
            let identity: Vec<f32> = (0..16).map(|i| if i % 5 == 0 { 1.0 } else { 0.0 }).collect();
            net.write_layer(&mut all, layer, &identity, &[0.0; 4]).unwrap();
        }
        let mut rng = Rng::seeded(4);
        let (x, d) = (random(&mut rng, 70 * 3, 1.0), random(&mut rng, 70 * 3, 1.0));
        let (outs, tape) = forward(&net, &all, &x, &Carry::NONE);
        let (mut grads, d_input) = backward(&net, &all, &x, &Carry::NONE, &tape, &[d]);
        grads.drain(front.len()..last);
        (bits(&outs[0]), bits(&grads), bits(&d_input))
    };
    let params = random(&mut Rng::seeded(3), 4 * 4 + 5 * 4 + 2 * 5 * 4 + 5 * 3, 0.7);
    let short = run(0, &params);
    for n in [61, 62, 63] {
        assert!(run(n, &params) == short, "{n} layers between");
    }
}

#[test]
fn sizes_that_cannot_be_are_refused() {
    let kind = |input: usize, units: [u32; 2], num_nodes: usize| {
        let layers = [dense(0, units[0], IDENTITY), head(0, units[1], IDENTITY)];
        Net::compile(&layers, [1, 1, input], &mut [Node::default(); 2][..num_nodes]).unwrap_err().kind
    };
    assert_eq!(kind(1, [1, 1], 1), Kind::Size);
    assert_eq!(kind(0, [1, 1], 2), Kind::Config);
    assert_eq!(kind(usize::MAX, [1, 1], 2), Kind::Overflow);
    assert_eq!(kind(u32::MAX as usize, [u32::MAX, 1], 2), Kind::Overflow);
    assert_eq!(kind(1, [u32::MAX, u32::MAX], 2), Kind::Overflow);
}

#[test]
fn lengths_that_are_one_off_are_refused_and_outputs_stay() {
    let case = case(5, &actor_and_critic(), 6);
    let (net, rows) = (case.net(), case.rows);
    let (_, good_tape) = case.forward(ALL);
    for delta in [-1isize, 1] {
        let off = |len: usize, hit: bool| vec![7.0f32; len.checked_add_signed(if hit { delta } else { 0 }).unwrap()];
        for which in 0..5 {
            let (params, x) = (off(net.param_len(), which == 0), off(rows * 5, which == 1));
            let (mut a, mut b) = (off(rows * 2, which == 2), off(rows, which == 3));
            let mut tape = off(net.tape_len(rows), which == 4);
            let error = net
                .forward(&params, &x, rows, ALL, &Carry::NONE, &mut tape, &mut [], &mut [&mut a, &mut b])
                .unwrap_err();
            assert_eq!(error.kind, Kind::Shape);
            assert!(tape.iter().chain(&a).chain(&b).all(|v| *v == 7.0), "{error}");
            let mut scratch = off(net.infer_scratch_len(rows), false);
            let result = net.infer(&params, &x, rows, ALL, &mut [], &mut scratch, &mut [&mut a, &mut b]);
            assert_eq!(result.is_err(), which < 4);
            assert!(which == 4 || a.iter().chain(&b).all(|v| *v == 7.0));
        }
        for which in 0..7 {
            let (params, x) = (off(net.param_len(), which == 0), off(rows * 5, which == 1));
            let d_outs = [off(rows * 2, which == 2), off(rows, which == 3)];
            let mut tape = off(net.tape_len(rows), which == 4);
            if which != 4 {
                tape.copy_from_slice(&good_tape);
            }
            let (mut grads, mut d_input) = (off(net.param_len(), which == 5), off(rows * 5, which == 6));
            let mut scratch = off(net.scratch_len(true, 0), false);
            let (d, d_outs) = (Some(&mut d_input[..]), [&d_outs[0][..], &d_outs[1]]);
            let result =
                net.backward(&params, &x, rows, ALL, &Carry::NONE, &tape, &d_outs, d, &mut grads, &mut scratch);
            assert_eq!(result.unwrap_err().kind, Kind::Shape);
            assert!(grads.iter().chain(&d_input).all(|v| *v == 7.0));
        }
    }
}

/// There have to be as many arrays as wanted heads.
#[test]
fn heads_without_their_array_are_refused_and_outputs_stay() {
    let case = case(5, &actor_and_critic(), 6);
    let (net, rows, params, x) = (case.net(), case.rows, &case.params, &case.x);
    let (mut a, mut b, mut room) = (vec![7.0; rows * 2], vec![7.0; rows], vec![0.0; net.infer_scratch_len(rows)]);
    for (heads, want) in [(1, "besides"), (2, "of length"), (0, "besides")] {
        let error = net.infer(params, x, rows, heads, &mut [], &mut room, &mut [&mut a, &mut b]).unwrap_err();
        assert!(error.kind == Kind::Shape && error.what.contains(want), "{error}");
    }
    let error = net.infer(params, x, rows, ALL, &mut [], &mut room, &mut [&mut a]).unwrap_err();
    assert!(error.kind == Kind::Shape && error.what.contains("each wanted head"), "{error}");
    let short = room.len() - 1;
    let result = net.infer(params, x, rows, ALL, &mut [], &mut room[..short], &mut [&mut a, &mut b]);
    assert_eq!(result.unwrap_err().kind, Kind::Size);
    assert!(a.iter().chain(&b).all(|v| *v == 7.0));
}

#[test]
fn scratch_that_is_one_short_is_refused_and_gradients_stay() {
    let case = case(5, &actor_and_critic(), 6);
    let (net, rows, params, x) = (case.net(), case.rows, &case.params, &case.x);
    let (_, tape) = case.forward(ALL);
    let (mut grads, d_outs) = (vec![7.0; net.param_len()], [&case.d_outs[0][..], &case.d_outs[1]]);
    for wants_input in [false, true] {
        let mut d_input = vec![7.0; rows * 5];
        let mut back = |grads: &mut [f32], len: usize| {
            let d = wants_input.then_some(&mut d_input[..]);
            net.backward(params, x, rows, ALL, &Carry::NONE, &tape, &d_outs, d, grads, &mut vec![0.0; len])
        };
        let len = net.scratch_len(wants_input, 0);
        assert_eq!(back(&mut grads, len - 1).unwrap_err().kind, Kind::Size);
        assert!(grads.iter().all(|v| *v == 7.0));
        // More scratch than needed is fine.
        back(&mut vec![0.0; net.param_len()], len + 1).unwrap();
    }
    let mut rng = Rng::seeded(3);
    let short = net.scratch_len(false, 0) - 1;
    assert_eq!(net.init(&mut grads, &mut rng, &mut vec![0.0; short]).unwrap_err().kind, Kind::Size);
    assert_eq!(net.init(&mut grads[1..], &mut rng, &mut vec![0.0; short + 1]).unwrap_err().kind, Kind::Shape);
    assert!(rng == Rng::seeded(3) && grads.iter().all(|v| *v == 7.0));
}

#[test]
fn layers_that_are_not_there_are_refused_and_weights_stay() {
    let case = case(5, &actor_and_critic(), 6);
    let (net, params, mut grads) = (case.net(), &case.params, vec![7.0; case.params.len()]);
    let (mut w, mut b) = (vec![7.0; 8 * 5], vec![7.0; 8]);
    assert_eq!(net.read_layer(params, 7, &mut w, &mut b).unwrap_err().kind, Kind::Range);
    assert_eq!(net.read_layer(params, 3, &mut w, &mut b).unwrap_err().kind, Kind::Range);
    assert_eq!(net.read_layer(params, 0, &mut w[1..], &mut b).unwrap_err().kind, Kind::Shape);
    assert_eq!(net.read_layer(params, 0, &mut w, &mut b[1..]).unwrap_err().kind, Kind::Shape);
    assert_eq!(net.read_layer(&params[1..], 0, &mut w, &mut b).unwrap_err().kind, Kind::Shape);
    assert!(w.iter().chain(&b).all(|v| *v == 7.0));
    assert_eq!(net.write_layer(&mut grads, 9, &w, &b).unwrap_err().kind, Kind::Range);
    assert_eq!(net.params_of(7).unwrap_err().kind, Kind::Range);
}
