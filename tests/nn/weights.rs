//! Initial weights of a host's own matrix against the formulas of their distributions in f64, and bad input.

use crate::checks::{bits, same_at_every_level};
use rlcore::error::Kind;
use rlcore::nn::{Initializer, Weights, orthogonal, orthogonal_scratch_len};
use rlcore::rng::Rng;

const ALL: [Initializer; 6] = [
    Initializer::Orthogonal,
    Initializer::Normal,
    Initializer::Uniform,
    Initializer::UnitRows,
    Initializer::Sparse,
    Initializer::Glorot,
];
const SHAPES: [(usize, usize); 6] = [(1, 1), (3, 7), (7, 3), (64, 2), (2, 64), (40, 40)];

fn of(initializer: Initializer, (inputs, outputs): (usize, usize), inputs_first: bool) -> Weights {
    Weights { initializer, gain: 1.25, inputs, outputs, inputs_first }
}

fn drawn(weights: Weights, seed: u64) -> Vec<f32> {
    let mut w = vec![f32::NAN; weights.inputs * weights.outputs];
    let mut scratch = vec![f32::NAN; weights.scratch_len()];
    weights.draw(&mut w, &mut Rng::seeded(seed), &mut scratch).unwrap();
    w
}

/// The weights of output `k`.
fn output(weights: Weights, w: &[f32], k: usize) -> Vec<f64> {
    let at = |i: usize| if weights.inputs_first { i * weights.outputs + k } else { k * weights.inputs + i };
    (0..weights.inputs).map(|i| w[at(i)].into()).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn cases() -> impl Iterator<Item = Weights> {
    let shapes = SHAPES.into_iter().flat_map(|shape| [(shape, false), (shape, true)]);
    shapes.flat_map(|(shape, first)| ALL.map(|initializer| of(initializer, shape, first)))
}

/// The smaller side is orthogonal with length `gain`, as `layer_init` of src.ppo: `W W^T` or `W^T W` is gain² I.
#[test]
fn orthogonal_weights_are_orthogonal_and_those_of_the_plain_function() {
    for weights in cases().filter(|weights| weights.initializer == Initializer::Orthogonal) {
        let w = drawn(weights, 3);
        let outputs: Vec<_> = (0..weights.outputs).map(|k| output(weights, &w, k)).collect();
        let inputs: Vec<Vec<f64>> =
            (0..weights.inputs).map(|i| outputs.iter().map(|output| output[i]).collect()).collect();
        let side = if weights.outputs <= weights.inputs { outputs } else { inputs };
        for (i, a) in side.iter().enumerate() {
            for (j, b) in side.iter().enumerate() {
                let want = if i == j { 1.25 * 1.25 } else { 0.0 };
                assert!((dot(a, b) - want).abs() < 4e-6, "{weights:?}: {i}, {j}: {}", dot(a, b));
            }
        }
        let (rows, columns) = match weights.inputs_first {
            true => (weights.inputs, weights.outputs),
            false => (weights.outputs, weights.inputs),
        };
        let (mut plain, mut scratch) = (vec![0.0; w.len()], vec![0.0; orthogonal_scratch_len(rows, columns)]);
        orthogonal(&mut plain, rows, columns, 1.25, &mut Rng::seeded(3), &mut scratch).unwrap();
        assert_eq!(bits(&w), bits(&plain), "{weights:?}");
    }
}

/// A twin of the other distributions in f64, from the same random stream.
#[test]
fn other_weights_are_those_of_their_formulas() {
    for weights in cases().filter(|weights| weights.initializer != Initializer::Orthogonal) {
        let Weights { inputs, outputs, .. } = weights;
        let (w, mut rng, gain) = (drawn(weights, 5), Rng::seeded(5), 1.25);
        let mut normal = vec![0.0; w.len()];
        rng.fill_normal(&mut normal);
        let mut rng = Rng::seeded(5);
        let uniform: Vec<f64> = w.iter().map(|_| 2.0 * f64::from(rng.uniform_f32()) - 1.0).collect();
        let bound = match weights.initializer {
            Initializer::Glorot => gain * (6.0 / (inputs + outputs) as f64).sqrt(),
            _ => gain / (inputs as f64).sqrt(),
        };
        for k in 0..outputs {
            let own = output(weights, &w, k);
            let drawn = output(weights, &normal, k);
            let length = dot(&drawn, &drawn).sqrt();
            let even: Vec<f32> = uniform.iter().map(|x| (x * bound) as f32).collect();
            let even = output(weights, &even, k);
            let mut left = 0;
            for i in 0..inputs {
                let want = match weights.initializer {
                    Initializer::Normal => gain * drawn[i],
                    Initializer::UnitRows => gain * drawn[i] / length,
                    Initializer::Sparse if own[i] == 0.0 => 0.0,
                    _ => even[i],
                };
                left += u32::from(own[i] != 0.0);
                assert!((own[i] - want).abs() < 1e-6, "{weights:?}: output {k}, input {i}: {} and {want}", own[i]);
            }
            let most = if weights.initializer == Initializer::Sparse { (inputs / 10).max(1) } else { inputs };
            assert!(left as usize == most, "{weights:?}: {left} weights of output {k}");
        }
    }
}

#[test]
fn every_cpu_level_draws_the_same_bits() {
    for weights in cases() {
        same_at_every_level(&format!("{weights:?}"), || [bits(&drawn(weights, 8))]);
    }
}

#[test]
fn bad_input_is_refused_and_nothing_is_drawn() {
    let good = of(Initializer::Orthogonal, (2, 3), false);
    assert_eq!(good.scratch_len(), 6);
    let refused = |weights: Weights, len: usize, scratch: usize| {
        let (mut w, mut rng) = (vec![7.0; len], Rng::seeded(1));
        let error = weights.draw(&mut w, &mut rng, &mut vec![0.0; scratch]).unwrap_err();
        assert!(w.iter().all(|x| *x == 7.0) && rng == Rng::seeded(1), "{weights:?}");
        error.kind
    };
    assert_eq!(refused(good, 5, 6), Kind::Shape);
    assert_eq!(refused(good, 7, 6), Kind::Shape);
    assert_eq!(refused(good, 6, 5), Kind::Size);
    assert_eq!(refused(Weights { inputs: 0, ..good }, 0, 6), Kind::Shape);
    assert_eq!(refused(Weights { outputs: 0, ..good }, 0, 6), Kind::Shape);
    for initializer in ALL {
        for gain in [f32::NAN, f32::INFINITY] {
            assert_eq!(refused(Weights { initializer, gain, ..good }, 6, 6), Kind::Value);
        }
    }
}
