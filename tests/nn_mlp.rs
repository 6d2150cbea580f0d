//! Towers against their formulas in f64, finite differences, a fixed update, every CPU level and bad input.

use rlcore::cpu::{self, LEVELS};
use rlcore::error::Kind;
use rlcore::nn::{Activation, Mlp};
use rlcore::rng::Rng;

/// Widths and batches on both sides of every block the products know.
const TOWERS: [&[usize]; 8] = [
    &[1, 1],
    &[5, 3],
    &[1, 2, 2, 2],
    &[4, 64, 64, 2],
    &[7, 15, 16, 17, 18],
    &[3, 33, 70, 40, 6, 3],
    &[20, 128, 31],
    &[9, 50, 4, 65],
];
const BATCHES: [usize; 9] = [1, 2, 3, 4, 7, 8, 31, 33, 70];

/// Weights `[output, input]` and bias of a layer.
type Dense = (Vec<f64>, Vec<f64>);

fn random(rng: &mut Rng, len: usize) -> Vec<f32> {
    (0..len).map(|_| rng.uniform_in(-1.0, 1.0) as f32).collect()
}

/// A tower with its arrays, weights small enough to keep tanh off its flat ends.
struct Case {
    mlp: Mlp,
    sizes: Vec<usize>,
    activation: Activation,
    batch: usize,
    params: Vec<f32>,
    x: Vec<f32>,
    d_out: Vec<f32>,
}

fn case(sizes: &[usize], activation: Activation, batch: usize) -> Case {
    let mut rng = Rng::seeded(sizes.iter().sum::<usize>() as u64 * 1000 + batch as u64);
    let mlp = Mlp::new(sizes, activation).unwrap();
    let mut params = random(&mut rng, mlp.param_len());
    let width = *sizes.iter().max().unwrap() as f32;
    params.iter_mut().for_each(|p| *p *= 1.5 / width.sqrt());
    let x = random(&mut rng, batch * mlp.input());
    let d_out = random(&mut rng, batch * mlp.output());
    Case { mlp, sizes: sizes.to_vec(), activation, batch, params, x, d_out }
}

fn cases() -> impl Iterator<Item = Case> {
    TOWERS.iter().flat_map(|sizes| {
        BATCHES.iter().flat_map(|&batch| [Activation::Tanh, Activation::Relu].map(|a| case(sizes, a, batch)))
    })
}

impl Case {
    fn forward(&self) -> (Vec<f32>, Vec<f32>) {
        let mut out = vec![f32::NAN; self.batch * self.mlp.output()];
        let mut tape = vec![f32::NAN; self.mlp.tape_len(self.batch)];
        self.mlp.forward(&self.params, &self.x, self.batch, &mut tape, &mut out).unwrap();
        (out, tape)
    }

    fn infer(&self) -> Vec<f32> {
        let mut out = vec![f32::NAN; self.batch * self.mlp.output()];
        let mut scratch = vec![f32::NAN; self.mlp.infer_scratch_len(self.batch)];
        self.mlp.infer(&self.params, &self.x, self.batch, &mut scratch, &mut out).unwrap();
        out
    }

    fn backward(&self, tape: &[f32]) -> Vec<f32> {
        let mut grads = vec![f32::NAN; self.mlp.param_len()];
        let mut scratch = vec![f32::NAN; self.mlp.scratch_len()];
        self.mlp.backward(&self.params, &self.x, self.batch, tape, &self.d_out, &mut grads, &mut scratch).unwrap();
        grads
    }

    fn layers(&self, params: &[f32]) -> Vec<Dense> {
        self.sizes
            .windows(2)
            .enumerate()
            .map(|(i, s)| {
                let (mut w, mut b) = (vec![0.0; s[0] * s[1]], vec![0.0; s[1]]);
                self.mlp.read_layer(params, i, &mut w, &mut b).unwrap();
                (w.into_iter().map(f64::from).collect(), b.into_iter().map(f64::from).collect())
            })
            .collect()
    }

    /// What every layer gives for one row, the input first.
    fn twin_row(&self, layers: &[Dense], row: usize) -> Vec<Vec<f64>> {
        let n = self.mlp.input();
        let mut all = vec![self.x[row * n..(row + 1) * n].iter().copied().map(f64::from).collect::<Vec<_>>()];
        for (i, (w, b)) in layers.iter().enumerate() {
            let x = all.last().unwrap();
            let y = b.iter().zip(w.chunks(x.len())).map(|(b, w)| {
                let sum = b + w.iter().zip(x).map(|(w, x)| w * x).sum::<f64>();
                match self.activation {
                    _ if i + 1 == layers.len() => sum,
                    Activation::Tanh => sum.tanh(),
                    _ => sum.max(0.0),
                }
            });
            let y = y.collect();
            all.push(y);
        }
        all
    }

    /// The sum of `d_out * out`: its slope in a parameter is the gradient.
    fn twin_loss(&self, layers: &[Dense]) -> f64 {
        let rows = self.d_out.chunks(self.mlp.output()).enumerate();
        rows.map(|(row, d)| {
            let out = self.twin_row(layers, row).pop().unwrap();
            d.iter().zip(out).map(|(d, y)| f64::from(*d) * y).sum::<f64>()
        })
        .sum()
    }

    /// The gradient by the chain rule, layer by layer.
    fn twin_gradient(&self) -> Vec<Dense> {
        let layers = self.layers(&self.params);
        let mut grads: Vec<_> = layers.iter().map(|(w, b)| (vec![0.0; w.len()], vec![0.0; b.len()])).collect();
        for (row, d) in self.d_out.chunks(self.mlp.output()).enumerate() {
            let values = self.twin_row(&layers, row);
            let mut d: Vec<f64> = d.iter().copied().map(f64::from).collect();
            for i in (0..layers.len()).rev() {
                let x = &values[i];
                for (o, d) in d.iter().enumerate() {
                    grads[i].1[o] += d;
                    for (k, x) in x.iter().enumerate() {
                        grads[i].0[o * values[i].len() + k] += d * x;
                    }
                }
                let slope = |a: f64| match self.activation {
                    Activation::Tanh => 1.0 - a * a,
                    _ => f64::from(a > 0.0),
                };
                d = (0..x.len())
                    .map(|k| {
                        d.iter().enumerate().map(|(o, d)| d * layers[i].0[o * x.len() + k]).sum::<f64>() * slope(x[k])
                    })
                    .collect();
            }
        }
        grads
    }
}

fn near(got: impl IntoIterator<Item = f64>, want: &[f64], tolerance: f64, what: &str) {
    let size = want.iter().fold(1.0, |a: f64, b| a.max(b.abs()));
    let got: Vec<f64> = got.into_iter().collect();
    assert_eq!(got.len(), want.len(), "{what}");
    for (i, (g, w)) in got.iter().zip(want).enumerate() {
        assert!((g - w).abs() <= tolerance * size, "{what} {i}: {g}, not {w}");
    }
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|v| v.to_bits()).collect()
}

#[test]
fn forward_and_backward_equal_the_formulas_in_f64() {
    for case in cases() {
        let what = format!("{:?} x {}", case.sizes, case.batch);
        let layers = case.layers(&case.params);
        let (out, tape) = case.forward();
        let want: Vec<f64> = (0..case.batch).flat_map(|r| case.twin_row(&layers, r).pop().unwrap()).collect();
        near(out.iter().copied().map(f64::from), &want, 3e-6, &what);
        let got = case.layers(&case.backward(&tape));
        for (i, ((gw, gb), (w, b))) in got.into_iter().zip(case.twin_gradient()).enumerate() {
            near(gw, &w, 1e-5, &format!("{what}, weights of layer {i}"));
            near(gb, &b, 1e-5, &format!("{what}, bias of layer {i}"));
        }
    }
}

#[test]
fn the_gradient_is_the_slope() {
    for activation in [Activation::Tanh, Activation::Relu] {
        let case = case(&[3, 17, 16, 5, 2], activation, 5);
        let (_, tape) = case.forward();
        let got = case.layers(&case.backward(&tape));
        let layers = case.layers(&case.params);
        for (i, (w, b)) in got.iter().enumerate() {
            let slope = |part: fn(&mut Dense) -> &mut Vec<f64>, index: usize| {
                let step = 1e-6;
                let shifted = |by: f64| {
                    let mut layers = layers.clone();
                    part(&mut layers[i])[index] += by;
                    case.twin_loss(&layers)
                };
                (shifted(step) - shifted(-step)) / (2.0 * step)
            };
            let want: Vec<f64> = (0..w.len()).map(|index| slope(|l| &mut l.0, index)).collect();
            near(w.iter().copied(), &want, 1e-5, "weights");
            let want: Vec<f64> = (0..b.len()).map(|index| slope(|l| &mut l.1, index)).collect();
            near(b.iter().copied(), &want, 1e-5, "bias");
        }
    }
}

/// Sets all layers, `[output, input]`, biases 0.
fn set(mlp: &Mlp, weights: &[&[f32]], outputs: &[usize]) -> Vec<f32> {
    let mut params = vec![f32::NAN; mlp.param_len()];
    for (i, (w, n)) in weights.iter().zip(outputs).enumerate() {
        mlp.write_layer(&mut params, i, w, &vec![0.0; *n]).unwrap();
    }
    params
}

#[test]
fn one_update_of_the_fully_connected_agent() {
    let (critic, actor) = (Mlp::new(&[1, 2, 2, 1], Activation::Tanh), Mlp::new(&[1, 2, 2, 2], Activation::Tanh));
    let (critic, actor) = (critic.unwrap(), actor.unwrap());
    let critic_params = set(&critic, &[&[0.5, -0.3], &[0.2, -0.4, 0.1, 0.6], &[0.7, -0.8]], &[2, 2, 1]);
    let actor_params = set(&actor, &[&[-0.6, 0.9], &[0.3, 0.5, -0.2, 0.4], &[0.05, -0.02, -0.03, 0.04]], &[2, 2, 2]);
    let obs = [0.0, 1.0, 0.0, 1.0];
    let (action, old) = ([0, 1, 1, 0], [-0.7, -0.7, -0.6, -0.8]);
    let (advantage, target) = ([1.0, 1.0, -1.0, -1.5f64], [1.0, 1.0, -1.0, -1.0]);

    let (mut critic_tape, mut value) = ([0.0; 16], [0.0; 4]);
    critic.forward(&critic_params, &obs, 4, &mut critic_tape, &mut value).unwrap();
    near(value.map(f64::from), &[0.0, 0.2464694421, 0.0, 0.2464694421], 1e-7, "value");
    let (mut actor_tape, mut logits) = ([0.0; 16], [0.0; 8]);
    actor.forward(&actor_params, &obs, 4, &mut actor_tape, &mut logits).unwrap();
    near(logits[2..4].iter().map(|l| f64::from(*l)), &[0.0022313137, 0.0091540014], 1e-7, "logits");

    // The objective's gradient in values and logits, from the formulas: clip 0.2, value weight 0.5, entropy 0.01.
    let mean = advantage.iter().sum::<f64>() / 4.0;
    let std = (advantage.iter().map(|a| (a - mean).powi(2)).sum::<f64>() / 3.0).sqrt();
    let (mut d_value, mut d_logits) = ([0.0; 4], [0.0; 8]);
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

    let gradient = |mlp: &Mlp, params: &[f32], tape: &[f32], d_out: &[f32], outputs: usize| {
        let (mut grads, mut scratch) = (vec![0.0; mlp.param_len()], vec![0.0; mlp.scratch_len()]);
        mlp.backward(params, &obs, 4, tape, d_out, &mut grads, &mut scratch).unwrap();
        let mut all = Vec::new();
        for (i, (input, output)) in [(1, 2), (2, 2), (2, outputs)].into_iter().enumerate() {
            let (mut w, mut b) = (vec![0.0; input * output], vec![0.0; output]);
            mlp.read_layer(&grads, i, &mut w, &mut b).unwrap();
            all.extend(w.into_iter().chain(b).map(f64::from));
        }
        all
    };
    let critic_grads = gradient(&critic, &critic_params, &critic_tape, &d_value, 1);
    #[rustfmt::skip]
    let want = [
        -0.0026831, 0.0417428, -0.0026831, 0.0417428,
        -0.0190866, 0.0120319, 0.0224071, -0.0141251, -0.0413025, 0.0484879,
        -0.0126907, 0.0078791, -0.0616174,
    ];
    near(critic_grads.iter().copied(), &want, 1e-7, "critic");
    let actor_grads = gradient(&actor, &actor_params, &actor_tape, &d_logits, 2);
    #[rustfmt::skip]
    let want = [
        -0.0060168, -0.0022007, 0.0005876, 0.0007345,
        0.0104631, -0.0139553, -0.0070106, 0.0093505, -0.0048062, 0.0020466,
        -0.0492358, -0.0948511, 0.0492358, 0.0948511, -0.0696551, 0.0696551,
    ];
    near(actor_grads.iter().copied(), &want, 1e-7, "actor");
    let norm = critic_grads.iter().chain(&actor_grads).map(|g| g * g).sum::<f64>().sqrt();
    assert!((norm - 0.2141080560).abs() < 1e-7, "{norm}");
}

#[test]
fn every_cpu_level_gives_the_same_bytes() {
    for case in cases() {
        let all = LEVELS.map(|level| {
            cpu::set_limit(level);
            let (out, tape) = case.forward();
            [bits(&case.backward(&tape)), bits(&out), bits(&tape), bits(&case.infer())]
        });
        cpu::set_limit(LEVELS[2]);
        assert_eq!(all[0], all[1], "{:?} x {}", case.sizes, case.batch);
        assert_eq!(all[0], all[2], "{:?} x {}", case.sizes, case.batch);
    }
}

#[test]
fn rows_do_not_know_each_other_and_inference_equals_forward() {
    for case in cases() {
        let (out, _) = case.forward();
        assert_eq!(bits(&case.infer()), bits(&out));
        let (n, m) = (case.mlp.input(), case.mlp.output());
        for row in 0..case.batch {
            let one = Case {
                mlp: case.mlp,
                sizes: case.sizes.clone(),
                activation: case.activation,
                batch: 1,
                params: case.params.clone(),
                x: case.x[row * n..(row + 1) * n].to_vec(),
                d_out: Vec::new(),
            };
            assert_eq!(bits(&one.infer()), bits(&out[row * m..(row + 1) * m]), "{:?}, row {row}", case.sizes);
        }
    }
}

#[test]
fn weights_are_read_as_they_were_written() {
    for sizes in TOWERS {
        let mlp = Mlp::new(sizes, Activation::Tanh).unwrap();
        let mut params = vec![f32::NAN; mlp.param_len()];
        let rng = &mut Rng::seeded(7);
        let layers: Vec<_> = sizes.windows(2).map(|s| (random(rng, s[0] * s[1]), random(rng, s[1]))).collect();
        for (i, (w, b)) in layers.iter().enumerate() {
            mlp.write_layer(&mut params, i, w, b).unwrap();
        }
        assert!(params.iter().all(|p| !p.is_nan()));
        for (i, (w, b)) in layers.iter().enumerate() {
            let (mut got_w, mut got_b) = (vec![0.0; w.len()], vec![0.0; b.len()]);
            mlp.read_layer(&params, i, &mut got_w, &mut got_b).unwrap();
            assert_eq!((&got_w, &got_b), (w, b));
        }
    }
}

#[test]
fn nan_goes_through_its_own_row_only() {
    for activation in [Activation::Tanh, Activation::Relu] {
        let mut case = case(&[4, 64, 64, 2], activation, 9);
        case.x[4 * 3] = f32::NAN;
        let out = case.infer();
        for (row, out) in out.chunks(2).enumerate() {
            assert_eq!(out.iter().all(|y| y.is_nan()), row == 3);
            assert_eq!(out.iter().any(|y| y.is_nan()), row == 3);
        }
    }
}

#[test]
fn no_rows_are_no_error_and_a_gradient_of_zero() {
    let case = case(&[4, 64, 2], Activation::Tanh, 0);
    let (out, tape) = case.forward();
    assert!(out.is_empty() && case.infer().is_empty());
    assert!(case.backward(&tape).iter().all(|g| *g == 0.0));
}

#[test]
fn shapes_that_cannot_be_are_refused() {
    let kind = |sizes: &[usize]| Mlp::new(sizes, Activation::Relu).unwrap_err().kind;
    assert_eq!(kind(&[]), Kind::Config);
    assert_eq!(kind(&[4]), Kind::Config);
    assert_eq!(kind(&[1, 2, 3, 4, 5, 6, 7]), Kind::Config);
    assert_eq!(kind(&[4, 0, 2]), Kind::Config);
    assert_eq!(kind(&[4, usize::MAX]), Kind::Overflow);
    assert_eq!(kind(&[usize::MAX / 64, 2, 2]), Kind::Overflow);
    assert!(Mlp::new(&[1, 1, 1, 1, 1, 1], Activation::Relu).is_ok());
}

#[test]
fn lengths_that_are_one_off_are_refused_and_outputs_stay() {
    let case = case(&[5, 20, 18, 3], Activation::Tanh, 6);
    let Case { mlp, batch, .. } = case;
    let (_, good_tape) = case.forward();
    for delta in [-1isize, 1] {
        let off = |len: usize, hit: bool| vec![7.0f32; len.checked_add_signed(if hit { delta } else { 0 }).unwrap()];
        for which in 0..4 {
            let (params, x) = (off(mlp.param_len(), which == 0), off(batch * 5, which == 1));
            let (mut tape, mut out) = (off(mlp.tape_len(batch), which == 2), off(batch * 3, which == 3));
            let error = mlp.forward(&params, &x, batch, &mut tape, &mut out).unwrap_err();
            assert_eq!(error.kind, Kind::Shape);
            assert!(tape.iter().chain(&out).all(|v| *v == 7.0), "{error}");
        }
        for which in 0..3 {
            let (params, x, mut out) =
                (off(mlp.param_len(), which == 0), off(batch * 5, which == 1), off(batch * 3, which == 2));
            let mut scratch = off(mlp.infer_scratch_len(batch), false);
            assert_eq!(mlp.infer(&params, &x, batch, &mut scratch, &mut out).unwrap_err().kind, Kind::Shape);
            assert!(out.iter().all(|v| *v == 7.0));
        }
        for which in 0..5 {
            let (params, x) = (off(mlp.param_len(), which == 0), off(batch * 5, which == 1));
            let (mut tape, d_out) = (off(mlp.tape_len(batch), which == 2), off(batch * 3, which == 3));
            if which != 2 {
                tape.copy_from_slice(&good_tape);
            }
            let (mut grads, mut scratch) = (off(mlp.param_len(), which == 4), off(mlp.scratch_len(), false));
            let result = mlp.backward(&params, &x, batch, &tape, &d_out, &mut grads, &mut scratch);
            assert_eq!(result.unwrap_err().kind, Kind::Shape);
            assert!(grads.iter().all(|v| *v == 7.0));
        }
    }
    let (params, x, mut out) = (&case.params, &case.x, vec![7.0; batch * 3]);
    let mut short = vec![0.0; mlp.infer_scratch_len(batch) - 1];
    assert_eq!(mlp.infer(params, x, batch, &mut short, &mut out).unwrap_err().kind, Kind::Size);
    let (mut grads, mut short) = (vec![7.0; mlp.param_len()], vec![0.0; mlp.scratch_len() - 1]);
    let result = mlp.backward(params, x, batch, &good_tape, &case.d_out, &mut grads, &mut short);
    assert_eq!(result.unwrap_err().kind, Kind::Size);
    assert!(out.iter().chain(&grads).all(|v| *v == 7.0));
    let (mut w, mut b) = (vec![7.0; 20 * 5], vec![7.0; 20]);
    assert_eq!(mlp.read_layer(params, 3, &mut w, &mut b).unwrap_err().kind, Kind::Range);
    assert_eq!(mlp.read_layer(params, 0, &mut w[1..], &mut b).unwrap_err().kind, Kind::Shape);
    assert_eq!(mlp.read_layer(params, 0, &mut w, &mut b[1..]).unwrap_err().kind, Kind::Shape);
    assert_eq!(mlp.read_layer(&params[1..], 0, &mut w, &mut b).unwrap_err().kind, Kind::Shape);
    assert!(w.iter().chain(&b).all(|v| *v == 7.0));
    assert_eq!(mlp.write_layer(&mut grads, 9, &w, &b).unwrap_err().kind, Kind::Range);
    // More scratch than needed is fine.
    let mut long = vec![0.0; mlp.scratch_len() + 1];
    mlp.infer(params, x, batch, &mut long, &mut out).unwrap();
    mlp.backward(params, x, batch, &good_tape, &case.d_out, &mut grads, &mut long).unwrap();
}
