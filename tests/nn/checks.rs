//! Runs of networks and comparisons, for all of these tests.

use rlcore::cpu::{self, LEVELS};
use rlcore::nn::{ALL, Carry, Net};
use rlcore::rng::Rng;

pub fn random(rng: &mut Rng, len: usize, most: f64) -> Vec<f32> {
    (0..len).map(|_| rng.uniform_in(-most, most) as f32).collect()
}

pub fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|x| x.to_bits()).collect()
}

pub fn wide(values: &[f32]) -> Vec<f64> {
    values.iter().map(|&x| x.into()).collect()
}

pub fn room(len: usize) -> Vec<f32> {
    vec![f32::NAN; len]
}

pub fn slices(all: &mut [Vec<f32>]) -> Vec<&mut [f32]> {
    all.iter_mut().map(|a| &mut a[..]).collect()
}

/// The outputs of all heads, and the tape.
pub fn forward(net: &Net<'_>, params: &[f32], x: &[f32], carry: &Carry<'_>) -> (Vec<Vec<f32>>, Vec<f32>) {
    let rows = x.len() / net.input();
    let mut outs: Vec<_> = (0..net.num_heads()).map(|k| room(rows * net.head_len(k))).collect();
    let (mut tape, mut work) = (room(net.tape_len(rows)), room(net.work_len()));
    net.forward(params, x, rows, ALL, carry, &mut tape, &mut work, &mut slices(&mut outs)).unwrap();
    (outs, tape)
}

/// The gradients of the parameters, which have to be the same without the gradient of the input, and of the input.
pub fn backward(
    net: &Net<'_>,
    params: &[f32],
    x: &[f32],
    carry: &Carry<'_>,
    tape: &[f32],
    d_outs: &[impl AsRef<[f32]>],
) -> (Vec<f32>, Vec<f32>) {
    let rows = x.len() / net.input();
    let sequences = if net.state_len() > 0 { rows / carry.steps } else { 0 };
    let d: Vec<_> = d_outs.iter().map(|d| d.as_ref()).collect();
    let mut d_input = room(x.len());
    let [grads, alone] = [true, false].map(|is_wanted| {
        let (mut grads, mut scratch) = (vec![0.0; params.len()], room(net.scratch_len(is_wanted, sequences)));
        let d_input = is_wanted.then_some(&mut d_input[..]);
        net.backward(params, x, rows, ALL, carry, tape, &d, d_input, &mut grads, &mut scratch).unwrap();
        grads
    });
    assert_eq!(bits(&alone), bits(&grads), "the gradient of the input changes no other");
    (grads, d_input)
}

/// The parameters with which a network starts.
pub fn started(net: &Net<'_>, seed: u64) -> Vec<f32> {
    let (mut params, mut scratch) = (room(net.param_len()), room(net.scratch_len(false, 0)));
    net.init(&mut params, &mut Rng::seeded(seed), &mut scratch).unwrap();
    params
}

/// Weights and biases of a layer.
pub fn read(net: &Net<'_>, params: &[f32], layer: usize, weights: usize, biases: usize) -> (Vec<f32>, Vec<f32>) {
    let (mut w, mut b) = (room(weights), room(biases));
    net.read_layer(params, layer, &mut w, &mut b).unwrap();
    (w, b)
}

/// Asserts that numbers are near, measured by the largest of them, or by 1 if all are smaller.
#[track_caller]
pub fn near<T: Copy + Into<f64>>(got: &[T], want: &[f64], tolerance: f64, what: &str) {
    within(got, want, tolerance * want.iter().fold(1.0, |a: f64, b| a.max(b.abs())), what);
}

#[track_caller]
pub fn within<T: Copy + Into<f64>>(got: &[T], want: &[f64], tolerance: f64, what: &str) {
    assert_eq!(got.len(), want.len(), "{what}");
    for (i, (&g, w)) in got.iter().zip(want).enumerate() {
        let g: f64 = g.into();
        assert!((g - w).abs() <= tolerance, "{what} {i}: {g}, not {w}");
    }
}

/// The slope of a function by element `i`, from a step of `h` to both sides.
pub fn slope(x: &[f64], i: usize, h: f64, f: impl Fn(&[f64]) -> f64) -> f64 {
    let at = |h: f64| {
        let mut x = x.to_vec();
        x[i] += h;
        f(&x)
    };
    (at(h) - at(-h)) / (2.0 * h)
}

/// Asserts that `work` gives the same at every CPU level.
#[track_caller]
pub fn same_at_every_level<T: PartialEq>(what: &str, work: impl Fn() -> T) {
    let results = LEVELS.map(|level| {
        cpu::set_limit(level);
        work()
    });
    cpu::set_limit(LEVELS[2]);
    assert!(results[0] == results[1] && results[1] == results[2], "{what}");
}
