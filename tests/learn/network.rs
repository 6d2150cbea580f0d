//! Networks of a host's own: against formulas in f64 and slopes, the networks inside learners, and themselves in parts.

#![cfg(all(
    feature = "attention",
    feature = "noisy",
    feature = "off_policy",
    feature = "pictures",
    feature = "residual"
))]

use crate::host::{Array, Host, Tune};
use rlcore::error::Kind;
use rlcore::learn::{Algorithm, Config, Distribution, NamedTensor, Network, NetworkPass, Recurrent, TensorsOf};
use rlcore::nn::{ALL, Activation, Carry, HEAD, INPUT, Input, Layer, LayerKind, MEAN, NOISY, Net, Node, WHOLE};
use rlcore::rng::Rng;
use rlcore::space::Space;

use Activation::{Identity, Relu, Tanh};

fn random(rng: &mut Rng, len: usize) -> Vec<f32> {
    (0..len).map(|_| rng.uniform_in(-1.0, 1.0) as f32).collect()
}

fn bits(x: &[f32]) -> Vec<u32> {
    x.iter().map(|x| x.to_bits()).collect()
}

/// A network, its parameters, and the rows of a pass.
struct Case {
    layers: Vec<Layer>,
    input: [usize; 3],
    parts: Vec<[u32; 3]>,
    params: Vec<f32>,
    x: Vec<f32>,
    rows: usize,
    steps: usize,
    starts: Vec<u8>,
    state: Vec<f32>,
}

/// Everything that a pass and its way back have written.
#[derive(Clone, PartialEq)]
struct Run {
    out: Vec<f32>,
    tape: Vec<f32>,
    d_params: Vec<f32>,
    d_x: Vec<f32>,
}

impl Case {
    fn new(layers: &[Layer], input: [usize; 3], rows: usize, steps: usize) -> Case {
        let parts = vec![];
        let (params, x, starts, state) = (vec![], vec![], vec![], vec![]);
        let mut case = Case { layers: layers.to_vec(), input, parts, params, x, rows, steps, starts, state };
        case.fill();
        case
    }

    fn fill(&mut self) {
        let (mut rng, rows) = (Rng::seeded(9), self.rows);
        let (len, params) = self
            .network()
            .compiled(&mut |net| {
                let len = net.lengths(rows, self.steps).unwrap();
                let (mut params, mut scratch) = (vec![f32::NAN; len.params], vec![f32::NAN; len.scratch]);
                net.init(&mut params, &mut Rng::seeded(4), &mut scratch).unwrap();
                (len, params)
            })
            .unwrap();
        self.params = params.iter().zip(random(&mut rng, len.params)).map(|(a, b)| a + 0.1 * b).collect();
        self.x = random(&mut rng, rows * len.input);
        // A state of attention begins with the number of steps that it holds: none.
        let attends = self.layers.iter().any(|layer| layer.kind == LayerKind::Attention as u32);
        self.state = random(&mut rng, rows * len.state).iter().map(|x| if attends { 0.0 } else { *x }).collect();
        self.starts = (0..rows).map(|row| u8::from(row % 5 == 3)).collect();
    }

    fn network(&self) -> Network<'_> {
        Network { layers: &self.layers, input: self.input, parts: &self.parts }
    }

    fn pass(&self) -> NetworkPass<'_> {
        let carry = Carry { steps: self.steps, cut: &self.starts, state: &self.state };
        NetworkPass { params: &self.params, x: Input::F32(&self.x), rows: self.rows, carry }
    }

    fn output(&self) -> usize {
        self.network().compiled(&mut |net| net.lengths(1, 1).unwrap().output).unwrap()
    }

    fn forward(&self) -> (Vec<f32>, Vec<f32>) {
        self.network()
            .compiled(&mut |net| {
                let len = net.lengths(self.rows, self.steps).unwrap();
                let [mut out, mut tape, mut scratch] =
                    [self.rows * len.output, len.tape, len.scratch].map(|len| vec![f32::NAN; len]);
                net.forward(&self.pass(), &mut tape, &mut scratch, &mut out).unwrap();
                (out, tape)
            })
            .unwrap()
    }

    fn infer(&self, state: &mut [f32]) -> Vec<f32> {
        self.network()
            .compiled(&mut |net| {
                let len = net.lengths(self.rows, 1).unwrap();
                let [mut out, mut scratch] = [self.rows * len.output, len.scratch].map(|len| vec![f32::NAN; len]);
                net.infer(&self.pass(), state, &mut scratch, &mut out).unwrap();
                out
            })
            .unwrap()
    }

    fn run(&self, d_out: &[f32], mut d_params: Vec<f32>) -> Run {
        let (out, tape) = self.forward();
        self.network()
            .compiled(&mut |net| {
                let len = net.lengths(self.rows, self.steps).unwrap();
                let [mut d_x, mut scratch] = [self.x.len(), len.scratch].map(|len| vec![f32::NAN; len]);
                let (x, params) = (Some(&mut d_x[..]), Some(&mut d_params[..]));
                net.backward(&self.pass(), &tape, d_out, x, params, &mut scratch).unwrap();
                Run { out: out.clone(), tape: tape.clone(), d_params: d_params.clone(), d_x }
            })
            .unwrap()
    }

    fn gradients(&self, d_out: &[f32]) -> Run {
        self.run(d_out, vec![0.0; self.params.len()])
    }

    /// The sum of the outputs times `d_out`, in f64.
    fn loss(&self, d_out: &[f32]) -> f64 {
        self.forward().0.iter().zip(d_out).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
    }

    /// Rows `[begin, end)` alone.
    fn part(&self, begin: usize, end: usize) -> Case {
        let width = self.x.len() / self.rows;
        Case {
            layers: self.layers.clone(),
            parts: self.parts.clone(),
            params: self.params.clone(),
            x: self.x[begin * width..end * width].to_vec(),
            rows: end - begin,
            starts: vec![],
            state: vec![],
            ..*self
        }
    }
}

fn conv(units: u32, size: u32, stride: u32, same: u32) -> Layer {
    Layer { same, ..Layer::conv(units, [size; 2], [stride; 2], Tanh) }
}

fn of(kind: LayerKind, layer: Layer) -> Layer {
    Layer { kind: kind as u32, ..layer }
}

/// Every kind of layer that keeps no state: pictures of 6 × 5 × 2.
fn pictures(rows: usize) -> Case {
    let mean = Layer { flags: MEAN, units: 0, ..Layer::conv(0, [2, 2], [1, 1], Identity) };
    let layers = [
        conv(4, 3, 2, 1),
        of(LayerKind::Norm, Layer { flags: WHOLE, ..Layer::dense(0, Tanh) }),
        of(LayerKind::Depthwise, conv(8, 3, 1, 1)),
        of(LayerKind::Pool, mean),
        of(LayerKind::Pool, Layer { source: [3, 0], same: 1, ..Layer::conv(0, [2, 2], [1, 1], Tanh) }),
        Layer::dense(6, Tanh),
        Layer { source: [4, 0], ..Layer::dense(6, Tanh) },
        Layer::merge(LayerKind::Multiply, [6, 7], Identity),
        Layer::merge(LayerKind::Add, [8, 7], Activation::Silu),
        Layer::merge(LayerKind::Join, [9, 6], Identity),
        Layer { size: [3, 3], ..Layer::dense(9, Activation::Gelu) },
        of(LayerKind::Deconv, conv(2, 3, 2, 1)),
    ];
    Case::new(&layers, [6, 5, 2], rows, 1)
}

/// Layers with states in 3 sequences of 7 steps.
fn sequences(last: Layer) -> Case {
    let layers = [
        Layer::dense(5, Tanh),
        Layer::recurrent(LayerKind::Lstm, 4),
        Layer::recurrent(LayerKind::MinGru, 4),
        Layer::attention(4, 2, 3),
        Layer::merge(LayerKind::Add, [3, 4], Identity),
        last,
    ];
    Case::new(&layers, [1, 1, 3], 21, 7)
}

/// The same without attention, from states of any numbers.
fn memories() -> Case {
    let layers = [
        Layer::recurrent(LayerKind::Lstm, 4),
        Layer::recurrent(LayerKind::MinGru, 5),
        Layer::recurrent(LayerKind::Gru, 4),
    ];
    Case::new(&layers, [1, 1, 3], 21, 7)
}

/// Symbols in one part of the input, numbers in the other.
fn parts() -> Case {
    let embed = Layer { symbols: 5, source: [INPUT + 1, 0], ..of(LayerKind::Embed, Layer::dense(3, Tanh)) };
    let dense = Layer { source: [INPUT + 2, 0], ..Layer::dense(6, Tanh) };
    let layers = [
        embed,
        dense,
        Layer::merge(LayerKind::Join, [1, 2], Identity),
        Layer { flags: HEAD, ..Layer::dense(4, Tanh) },
        Layer { flags: HEAD, source: [3, 0], ..Layer::dense(2, Identity) },
    ];
    let mut case = Case::new(&[Layer::dense(1, Identity)], [1, 1, 6], 9, 1);
    (case.layers, case.parts) = (layers.to_vec(), vec![[1, 2, 1], [1, 1, 4]]);
    case.fill();
    for row in case.x.chunks_exact_mut(6) {
        row[..2].iter_mut().for_each(|x| *x = (2.0 * *x + 2.0).floor());
    }
    case
}

fn cases(rows: usize) -> Vec<(&'static str, Case)> {
    vec![
        ("pictures", pictures(rows)),
        ("parts", parts()),
        ("a dense layer behind states", sequences(Layer::dense(3, Tanh))),
        ("a GRU last, without attention", memories()),
        ("a GRU last", sequences(Layer::recurrent(LayerKind::Gru, 3))),
        ("attention last", sequences(Layer::attention(6, 3, 4))),
    ]
}

/// A tensor of a list by its name.
fn tensor<'v>(list: &[NamedTensor], values: &'v [f64], name: &str) -> &'v [f64] {
    let is = |t: &&NamedTensor| std::str::from_utf8(&t.name).unwrap().trim_end_matches('\0') == name;
    let found = list.iter().find(is).unwrap_or_else(|| panic!("{name}"));
    &values[found.offset as usize..][..found.len()]
}

/// An autoencoder of pictures of 5 × 5 in two channels, written out in f64 from the tensors' numbers: convolution of 3 × 3 and
/// stride 2, dense code of 4, dense picture of 2 × 2 × 3, transposed convolution of 3 × 3 and stride 2.
fn twin(list: &[NamedTensor], values: &[f64], x: &[f64]) -> Vec<f64> {
    let of = |name| tensor(list, values, name);
    let (w, b) = (of("layers.0.weight"), of("layers.0.bias"));
    let mut seen = vec![0.0; 2 * 2 * 3]; // channels, height, width
    for (u, i, j) in (0..3).flat_map(|u| (0..2).flat_map(move |i| (0..2).map(move |j| (u, i, j)))) {
        let mut sum = b[u];
        for (c, a, d) in (0..2).flat_map(|c| (0..3).flat_map(move |a| (0..3).map(move |d| (c, a, d)))) {
            sum += w[((u * 2 + c) * 3 + a) * 3 + d] * x[((2 * i + a) * 5 + 2 * j + d) * 2 + c];
        }
        seen[(u * 2 + i) * 2 + j] = sum.tanh();
    }
    let dense = |x: &[f64], w: &[f64], b: &[f64]| -> Vec<f64> {
        let sum = |u: usize| x.iter().enumerate().map(|(i, x)| x * w[u * x_len(w, b) + i]).sum::<f64>();
        (0..b.len()).map(|u| b[u] + sum(u)).collect()
    };
    let code: Vec<f64> = dense(&seen, of("layers.1.weight"), of("layers.1.bias")).into_iter().map(f64::tanh).collect();
    let made: Vec<f64> = dense(&code, of("layers.2.weight"), of("layers.2.bias")).into_iter().map(f64::tanh).collect();
    let (w, b) = (of("layers.3.weight"), of("layers.3.bias"));
    let mut out: Vec<f64> = (0..50).map(|k| b[k % 2]).collect();
    for (i, j, c) in (0..2).flat_map(|i| (0..2).flat_map(move |j| (0..3).map(move |c| (i, j, c)))) {
        for (u, a, d) in (0..2).flat_map(|u| (0..3).flat_map(move |a| (0..3).map(move |d| (u, a, d)))) {
            out[((2 * i + a) * 5 + 2 * j + d) * 2 + u] += made[(i * 2 + j) * 3 + c] * w[((c * 2 + u) * 3 + a) * 3 + d];
        }
    }
    out
}

fn x_len(w: &[f64], b: &[f64]) -> usize {
    w.len() / b.len()
}

fn autoencoder() -> Case {
    let layers = [
        Layer { same: 0, ..conv(3, 3, 2, 0) },
        Layer::dense(4, Tanh),
        Layer { size: [2, 2], ..Layer::dense(12, Tanh) },
        Layer { activation: Identity as u32, ..of(LayerKind::Deconv, conv(2, 3, 2, 0)) },
    ];
    Case::new(&layers, [5, 5, 2], 3, 1)
}

/// The tensors of a case and their numbers.
fn named(case: &Case, values: &[f32]) -> (Vec<NamedTensor>, Vec<f64>) {
    case.network()
        .compiled(&mut |net| {
            let mut list = vec![bytemuck::Zeroable::zeroed(); net.tensors(&mut []).unwrap()];
            net.tensors(&mut list).unwrap();
            let mut to = vec![f32::NAN; values.len()];
            net.read_tensors(values, &mut to).unwrap();
            (list, to.into_iter().map(f64::from).collect())
        })
        .unwrap()
}

#[test]
fn an_autoencoder_is_the_formula_and_its_gradients_are_the_slopes() {
    let case = autoencoder();
    let d_out = random(&mut Rng::seeded(3), 150);
    let run = case.gradients(&d_out);
    let (list, values) = named(&case, &case.params);
    let x: Vec<f64> = case.x.iter().map(|x| f64::from(*x)).collect();
    let forward =
        |values: &[f64], x: &[f64]| x.chunks_exact(50).flat_map(|x| twin(&list, values, x)).collect::<Vec<_>>();
    for (got, want) in run.out.iter().zip(forward(&values, &x)) {
        assert!((f64::from(*got) - want).abs() < 1e-5, "{got}, not {want}");
    }
    let loss =
        |values: &[f64], x: &[f64]| forward(values, x).iter().zip(&d_out).map(|(a, b)| a * f64::from(*b)).sum::<f64>();
    let slope = |at: &[f64], i: usize, f: &dyn Fn(&[f64]) -> f64| {
        let moved = |h: f64| {
            let mut at = at.to_vec();
            at[i] += h;
            f(&at)
        };
        (moved(1e-5) - moved(-1e-5)) / 2e-5
    };
    for (i, got) in named(&case, &run.d_params).1.iter().enumerate() {
        let want = slope(&values, i, &|values| loss(values, &x));
        assert!((got - want).abs() < 2e-5, "parameter {i}: {got}, not {want}");
    }
    for (i, got) in run.d_x.iter().enumerate() {
        let want = slope(&x, i, &|x| loss(&values, x));
        assert!((f64::from(*got) - want).abs() < 2e-5, "input {i}: {got}, not {want}");
    }
}

#[test]
fn gradients_of_every_kind_of_layer_are_the_slopes() {
    for (name, mut case) in cases(7) {
        // A minGRU has kinks.
        let kinks: Vec<usize> =
            (0..case.layers.len()).filter(|i| case.layers[*i].kind == LayerKind::MinGru as u32).collect();
        if !kinks.is_empty() {
            kinks.into_iter().for_each(|i| case.layers[i].kind = LayerKind::Gru as u32);
            case.fill();
        }
        let mut rng = Rng::seeded(7);
        let d_out = random(&mut rng, case.rows * case.output());
        let run = case.gradients(&d_out);
        let along = |g: &[f32], v: &[f32]| g.iter().zip(v).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>();
        let moved = |x: &[f32], v: &[f32], h: f32| x.iter().zip(v).map(|(x, v)| x + h * v).collect::<Vec<_>>();
        let h = 1e-3;
        for _ in 0..4 {
            let v = random(&mut rng, case.params.len());
            let own = case.params.clone();
            let [up, down] = [h, -h].map(|h| {
                case.params = moved(&own, &v, h);
                case.loss(&d_out)
            });
            case.params = own;
            let (got, want) = (along(&run.d_params, &v), (up - down) / (2.0 * f64::from(h)));
            assert!((got - want).abs() < 1e-2 * want.abs().max(1.0), "{name}, parameters: {got}, not {want}");
            let mut v = random(&mut rng, case.x.len());
            if name == "parts" {
                // Symbols have no slope.
                v.chunks_exact_mut(6).for_each(|row| row[..2].fill(0.0));
            }
            let own = case.x.clone();
            let [up, down] = [h, -h].map(|h| {
                case.x = moved(&own, &v, h);
                case.loss(&d_out)
            });
            case.x = own;
            let (got, want) = (along(&run.d_x, &v), (up - down) / (2.0 * f64::from(h)));
            assert!((got - want).abs() < 1e-2 * want.abs().max(1.0), "{name}, input: {got}, not {want}");
        }
    }
}

#[test]
fn it_is_the_network_of_the_list_bit_for_bit() {
    for (name, case) in cases(70) {
        let mut layers = case.layers.clone();
        if !layers.iter().any(|layer| layer.flags & HEAD != 0) {
            if let Some(last) = layers.last_mut().filter(|last| last.heads == 0 && last.kind != LayerKind::Gru as u32) {
                last.flags |= HEAD;
            } else {
                let copy =
                    Layer { flags: HEAD, activation: Identity as u32, ..Layer::conv(0, [1, 1], [1, 1], Identity) };
                layers.push(of(LayerKind::Pool, copy));
            }
        }
        let mut nodes = vec![Node::default(); layers.len()];
        let net = Net::compile_parts(&layers, case.input, &case.parts, &mut nodes).unwrap();
        let d_out = random(&mut Rng::seeded(2), case.rows * case.output());
        let run = case.gradients(&d_out);
        let (mut tape, mut scratch) = (vec![0.0; net.tape_len(case.rows)], vec![0.0; net.scratch_len(true, case.rows)]);
        let NetworkPass { params, x, rows, carry } = case.pass();
        let mut outs: Vec<_> = (0..net.num_heads()).map(|k| vec![0.0; rows * net.head_len(k)]).collect();
        let mut slices: Vec<_> = outs.iter_mut().map(|out| &mut out[..]).collect();
        net.forward(params, x, rows, ALL, &carry, &mut tape, &mut scratch, &mut slices).unwrap();
        assert!(bits(&outs.concat()) == bits(&run.out), "{name}");
        let (mut d_x, mut grads) = (vec![0.0; case.x.len()], vec![0.0; params.len()]);
        let mut rest = &d_out[..];
        let d_outs: Vec<_> = outs.iter().map(|out| rest.split_off(..out.len()).unwrap()).collect();
        net.backward(params, x, rows, ALL, &carry, &tape, &d_outs, Some(&mut d_x), &mut grads, &mut scratch).unwrap();
        assert!(bits(&grads) == bits(&run.d_params) && bits(&d_x) == bits(&run.d_x), "{name}");
        // The gradient of the input alone, and none.
        if case.state.is_empty() {
            let alone = case.network().compiled(&mut |own| {
                let mut alone = vec![0.0; d_x.len()];
                own.backward(&case.pass(), &run.tape, &d_out, Some(&mut alone), None, &mut scratch).unwrap();
                own.backward(&case.pass(), &run.tape, &d_out, None, None, &mut scratch).unwrap();
                alone
            });
            assert!(bits(&alone.unwrap()) == bits(&d_x), "{name}");
        }
    }
}

#[test]
fn parts_of_the_rows_give_the_same_bits() {
    let case = Case { x: random(&mut Rng::seeded(6), 150 * 60), rows: 150, starts: vec![0; 150], ..pictures(1) };
    let width = case.output();
    let d_out = random(&mut Rng::seeded(5), case.rows * width);
    let whole = case.gradients(&d_out);
    for size in [1, 64, 128] {
        let (mut out, mut d_x, mut d_params) = (vec![], vec![], vec![0.0; case.params.len()]);
        for begin in (0..case.rows).step_by(size) {
            let end = (begin + size).min(case.rows);
            let run = case.part(begin, end).run(&d_out[begin * width..end * width], d_params);
            out.extend(run.out);
            d_x.extend(run.d_x);
            d_params = run.d_params;
        }
        assert!(bits(&out) == bits(&whole.out) && bits(&d_x) == bits(&whole.d_x), "{size} rows at a time");
        assert!(bits(&d_params) == bits(&whole.d_params), "{size} rows at a time");
    }
}

#[test]
fn steps_one_by_one_are_the_sequence() {
    for (name, case) in cases(7).into_iter().filter(|(_, case)| case.steps > 1) {
        let (all, _) = case.forward();
        let (n, width) = (case.rows / case.steps, case.state.len() / case.rows);
        let mut state = case.state[..n * width].to_vec();
        let mut out = vec![];
        for step in 0..case.steps {
            let rows = step * n..(step + 1) * n;
            for (i, row) in rows.clone().enumerate().filter(|(_, row)| case.starts[*row] != 0) {
                state[i * width..(i + 1) * width].copy_from_slice(&case.state[row * width..(row + 1) * width]);
            }
            out.extend(case.part(rows.start, rows.end).infer(&mut state));
        }
        assert!(bits(&out) == bits(&all), "{name}");
    }
    let case = pictures(70);
    assert!(bits(&case.infer(&mut [])) == bits(&case.forward().0));
}

#[test]
fn bytes_are_numbers_divided_by_255() {
    let mut case = autoencoder();
    let bytes: Vec<u8> = (0..case.x.len()).map(|i| (i * 7 % 256) as u8).collect();
    case.x = bytes.iter().map(|x| f32::from(*x) / 255.0).collect();
    let d_out = random(&mut Rng::seeded(3), case.rows * 50);
    let want = case.gradients(&d_out);
    let pass = NetworkPass { x: Input::U8(&bytes), ..case.pass() };
    let run = case.network().compiled(&mut |net| {
        let len = net.lengths(case.rows, 1).unwrap();
        let [mut out, mut tape, mut scratch] = [want.out.len(), len.tape, len.scratch].map(|len| vec![0.0; len]);
        let mut d_params = vec![0.0; len.params];
        net.forward(&pass, &mut tape, &mut scratch, &mut out).unwrap();
        net.backward(&pass, &tape, &d_out, None, Some(&mut d_params), &mut scratch).unwrap();
        let kept = d_params.clone();
        let refused = net
            .backward(&pass, &tape, &d_out, Some(&mut vec![0.0; bytes.len()]), Some(&mut d_params), &mut scratch)
            .unwrap_err();
        assert_eq!(refused.kind, Kind::Shape);
        assert!(kept == d_params);
        (out, d_params)
    });
    let (out, d_params) = run.unwrap();
    assert!(bits(&out) == bits(&want.out) && bits(&d_params) == bits(&want.d_params));
}

#[test]
fn a_learner_computes_the_same_bits_and_takes_the_tensors() {
    let listed = [Layer::dense(6, Relu), Layer::recurrent(LayerKind::Gru, 5)];
    let own =
        Config { num_envs: 2, seed: 3, num_layers: 2, sequence_len: 4, ..Config::of(Algorithm::Dqn).hidden(&[7]) };
    let config = Config { train_interval: 8, ..own.store(60, 8, 16) };
    let mut host = Host::with(&config, &listed, &Space::unbounded(4), &Space::discrete(&[3]));
    let layers: Vec<Layer> = host.view().layers(false).map(|layer| Layer { role: 0, ..layer }).collect();
    let mut case = Case::new(&layers, [1, 1, 4], 11, 1);
    let len = host.view().params().len();
    assert_eq!(case.params.len(), len);
    // Names of listed layers are the same; the learner's own come behind them.
    let mut theirs = vec![bytemuck::Zeroable::zeroed(); host.view().tensors(&mut []).unwrap()];
    host.view().tensors(&mut theirs).unwrap();
    let (ours, values) = named(&case, &case.params);
    let listed = ours.iter().take_while(|tensor| tensor.layer < 2).count();
    assert!(listed >= 5 && ours.len() == theirs.len() && ours[..listed] == theirs[..listed]);
    assert!(ours.iter().zip(&theirs).all(|(a, b)| (a.offset, a.dims) == (b.offset, b.dims)));
    let values: Vec<f32> = values.iter().map(|x| *x as f32).collect();
    host.learner().write_tensors(TensorsOf::Params, &theirs, &values).unwrap();

    let mut state = random(&mut Rng::seeded(8), 11 * 5);
    let mut carried = state.clone();
    let (mut q, reset) = (vec![0.0; 33], vec![0; 11]);
    let recurrent = Recurrent { reset: &reset, state: &mut carried };
    let told = Distribution { q: Some(&mut q), ..Distribution::default() };
    host.learner().distribution(11, Array::F32(case.x.clone()).get(), None, None, recurrent, told).unwrap();
    case.state = state.clone();
    let out = case.infer(&mut state);
    // The learner keeps Q times a power of 2.
    let factor = q[0] / out[0];
    assert!(out.iter().zip(&q).all(|(a, b)| a * factor == *b) && factor.log2().fract() == 0.0, "{factor}");
    assert!(bits(&state) == bits(&carried));
}

#[test]
fn tensors_come_back_as_they_were_written() {
    let case = pictures(70);
    let (list, values) = named(&case, &case.params);
    let values: Vec<f32> = values.iter().map(|x| *x as f32).collect();
    case.network()
        .compiled(&mut |net| {
            let mut params = vec![0.0; case.params.len()];
            for tensor in list.iter().rev() {
                net.write_tensors(&mut params, &[*tensor], &values).unwrap();
            }
            assert!(bits(&params) == bits(&case.params));
            let wrong = |tensor: NamedTensor, values: &[f32]| {
                let mut params = params.clone();
                let error = net.write_tensors(&mut params, &[list[0], tensor], values).unwrap_err();
                assert!(bits(&params) == bits(&case.params));
                error.kind
            };
            let zeros = vec![0.0; values.len()];
            let mut other = list[1];
            other.dims[0] += 1;
            assert_eq!(wrong(other, &zeros), Kind::Shape);
            assert_eq!(wrong(NamedTensor { name: [b'x'; 48], ..list[1] }, &zeros), Kind::Config);
            assert_eq!(wrong(NamedTensor { offset: u64::MAX, ..list[1] }, &zeros), Kind::Range);
            let mut nan = zeros.clone();
            nan[list[1].offset as usize] = f32::NAN;
            assert_eq!(wrong(list[1], &nan), Kind::Value);
        })
        .unwrap();
}

#[test]
fn networks_that_cannot_be_are_refused_by_name() {
    let refused = |layers: &[Layer], input: [usize; 3], parts: &[[u32; 3]]| {
        let network = Network { layers, input, parts };
        let error = network.compiled(&mut |_| ()).unwrap_err();
        (error.kind, error.what)
    };
    let dense = Layer::dense(2, Tanh);
    for (layers, what) in [
        (vec![], "network: layers, at least 1"),
        (vec![dense; 65], "network: layers, at least 1"),
        (vec![Layer { flags: HEAD, ..dense }, Layer::free(2, 0.0)], "network: no numbers that depend on no input"),
        (vec![Layer { flags: NOISY, ..dense }], "network: no flag NOISY"),
        (vec![Layer { role: 1, ..dense }], "net: reserved of 0"),
        (vec![Layer { kind: 99, ..dense }], "net: a known kind"),
        (vec![dense, Layer { source: [INPUT, 0], ..dense }], "net: a head that depends on layer"),
        (vec![Layer { flags: HEAD, ..Layer::recurrent(LayerKind::Gru, 2) }], "net: known flags"),
    ] {
        let (kind, said) = refused(&layers, [1, 1, 4], &[]);
        assert!(kind == Kind::Config && said.starts_with(what), "{said}");
    }
    assert_eq!(refused(&[dense], [1, 1, 4], &[[1, 1, 3]]).0, Kind::Config);
    assert_eq!(refused(&[dense], [1, 0, 4], &[]).0, Kind::Config);
    let case = sequences(dense);
    case.network()
        .compiled(&mut |net| {
            assert_eq!(net.lengths(0, 1).unwrap_err().kind, Kind::Shape);
            assert_eq!(net.lengths(21, 0).unwrap_err().kind, Kind::Shape);
            assert_eq!(net.lengths(21, 4).unwrap_err().kind, Kind::Shape);
            assert_eq!(net.lengths(usize::MAX / 4, 1).unwrap_err().kind, Kind::Overflow);
            let len = net.lengths(21, 7).unwrap();
            let (mut tape, mut scratch) = (vec![7.0; len.tape], vec![7.0; len.scratch]);
            let mut out = vec![7.0; 42];
            let mut forward = |pass: &NetworkPass<'_>| {
                let error = net.forward(pass, &mut tape, &mut scratch, &mut out).unwrap_err();
                assert!(tape.iter().chain(&scratch).chain(&out).all(|x| *x == 7.0));
                error.kind
            };
            let (nan, pass) = (vec![f32::NAN; 21 * 100], case.pass());
            assert_eq!(forward(&NetworkPass { params: &nan[..case.params.len()], ..pass }), Kind::Value);
            assert_eq!(forward(&NetworkPass { x: Input::F32(&nan[..63]), ..pass }), Kind::Value);
            assert_eq!(forward(&NetworkPass { x: Input::F32(&case.x[1..]), ..pass }), Kind::Shape);
            let state = &nan[..case.state.len()];
            assert_eq!(forward(&NetworkPass { carry: Carry { state, ..pass.carry }, ..pass }), Kind::Value);
            let cut = &case.starts[1..];
            assert_eq!(forward(&NetworkPass { carry: Carry { cut, ..pass.carry }, ..pass }), Kind::Shape);
            // States that no sequence begins with are not read.
            let mut unread = vec![f32::NAN; case.state.len()];
            let begins = |row: usize| row < 3 || case.starts[row] != 0;
            for row in (0..21).filter(|row| begins(*row)) {
                let own = row * len.state..(row + 1) * len.state;
                unread[own.clone()].copy_from_slice(&case.state[own]);
            }
            let carry = Carry { state: &unread, ..pass.carry };
            net.forward(&NetworkPass { carry, ..pass }, &mut tape, &mut scratch, &mut out).unwrap();
            assert!(bits(&out) == bits(&case.forward().0));
            let d_out = vec![f32::INFINITY; 42];
            let mut d_params = vec![7.0; len.params];
            let error = net.backward(&pass, &tape, &d_out, None, Some(&mut d_params), &mut scratch).unwrap_err();
            assert!(error.kind == Kind::Value && d_params.iter().all(|x| *x == 7.0));
            let mut d_x = vec![7.0; 63];
            let error = net.backward(&pass, &tape, &out, Some(&mut d_x), None, &mut scratch).unwrap_err();
            assert!(error.kind == Kind::Disabled && d_x.iter().all(|x| *x == 7.0));
        })
        .unwrap();
    let mut case = parts();
    case.x[0] = 5.0;
    case.network()
        .compiled(&mut |net| {
            let len = net.lengths(9, 1).unwrap();
            let [mut tape, mut scratch, mut out] = [len.tape, len.scratch, 54].map(|len| vec![7.0; len]);
            let error = net.forward(&case.pass(), &mut tape, &mut scratch, &mut out).unwrap_err();
            assert!(error.kind == Kind::Value && out.iter().all(|x| *x == 7.0));
        })
        .unwrap();
}
