//! Gaussian policies against their formulas in f64, every CPU level and bad input.

use std::f64::consts::PI;

use rlcore::error::{Kind, Result};
use rlcore::kernels::gaussian::{Gaussian, entropy, gradient, log_prob, sample, squash, squash_log_prob};
use rlcore::rng::Rng;

use super::checks::{near, same_at_every_level};

struct Case {
    rows: usize,
    mean: Vec<f32>,
    log_std: Vec<f32>,
    action: Vec<f32>,
    log_prob_grad: Vec<f32>,
    entropy_grad: Vec<f32>,
}

/// Rows and columns on both sides of every width the kernel knows.
const SHAPES: [(usize, usize); 12] =
    [(1, 1), (16, 1), (33, 1), (16, 2), (21, 2), (48, 3), (19, 4), (5, 6), (17, 17), (16, 32), (18, 33), (3, 70)];

fn random(seed: u64, rows: usize, width: usize) -> Case {
    let mut rng = Rng::seeded(seed);
    let mut draw =
        |len: usize, size: f64| -> Vec<f32> { (0..len).map(|_| rng.uniform_in(-size, size) as f32).collect() };
    Case {
        rows,
        mean: draw(rows * width, 2.0),
        log_std: draw(width, 1.0),
        action: draw(rows * width, 3.0),
        log_prob_grad: draw(rows, 1.0),
        entropy_grad: draw(rows, 1.0),
    }
}

impl Case {
    fn view(&self) -> Gaussian<'_> {
        Gaussian { num_rows: self.rows, mean: &self.mean, log_std: &self.log_std }
    }

    /// (action - mean) / std of element `i`, in f64.
    fn z(&self, i: usize) -> f64 {
        let std = f64::from(self.log_std[i % self.log_std.len()]).exp();
        (f64::from(self.action[i]) - f64::from(self.mean[i])) / std
    }

    fn twin_log_prob(&self) -> Vec<f64> {
        let width = self.log_std.len();
        let mut out = vec![0.0; self.rows];
        for i in 0..self.mean.len() {
            let z = self.z(i);
            out[i / width] -= 0.5 * z * z + f64::from(self.log_std[i % width]) + 0.5 * (2.0 * PI).ln();
        }
        out
    }
}

fn cases() -> impl Iterator<Item = Case> {
    SHAPES.into_iter().zip(1..).map(|((rows, width), seed)| random(seed, rows, width))
}

#[test]
fn equals_the_formulas_in_f64() {
    for case in cases() {
        let width = case.log_std.len();
        let what = format!("{}x{width}", case.rows);
        let mut density = vec![f32::NAN; case.rows];
        log_prob(&case.view(), &case.action, &mut density).unwrap();
        near(&density, &case.twin_log_prob(), 2e-6, &what);

        let want: f64 = case.log_std.iter().map(|l| f64::from(*l) + 0.5 * (2.0 * PI * 1f64.exp()).ln()).sum();
        near(&[entropy(&case.log_std).unwrap()], &[want], 1e-6, &what);

        let mut drawn = vec![f32::NAN; case.mean.len()];
        sample(&case.view(), &case.action, &mut drawn).unwrap();
        let twin =
            |i: usize| f64::from(case.mean[i]) + f64::from(case.log_std[i % width]).exp() * f64::from(case.action[i]);
        near(&drawn, &(0..drawn.len()).map(twin).collect::<Vec<_>>(), 5e-7, &what);

        let (mut mean_grad, mut log_std_grad) = (vec![f32::NAN; case.mean.len()], vec![f32::NAN; width]);
        let b = case.view();
        gradient(&b, &case.action, &case.log_prob_grad, &case.entropy_grad, &mut mean_grad, &mut log_std_grad).unwrap();
        let twin =
            |i: usize| f64::from(case.log_prob_grad[i / width]) * case.z(i) / f64::from(case.log_std[i % width]).exp();
        near(&mean_grad, &(0..case.mean.len()).map(twin).collect::<Vec<_>>(), 1e-6, &what);
        let twin = |j: usize| -> f64 {
            let each = |row: usize| {
                let z = case.z(row * width + j);
                f64::from(case.log_prob_grad[row]) * (z * z - 1.0) + f64::from(case.entropy_grad[row])
            };
            (0..case.rows).map(each).sum()
        };
        near(&log_std_grad, &(0..width).map(twin).collect::<Vec<_>>(), 5e-6, &what);
    }
}

#[test]
fn the_gradient_is_the_slope() {
    let mut case = random(4, 3, 2);
    let (mut mean_grad, mut log_std_grad) = (vec![0.0; 6], vec![0.0; 2]);
    gradient(&case.view(), &case.action, &[1.0; 3], &[0.0; 3], &mut mean_grad, &mut log_std_grad).unwrap();
    let step = 0.007_812_5;
    for i in 0..8 {
        let slope = [mean_grad.as_slice(), &log_std_grad].concat()[i];
        let loss = [-step, step].map(|by| {
            let x = if i < 6 { &mut case.mean[i] } else { &mut case.log_std[i - 6] };
            let was = *x;
            *x += by;
            let loss: f64 = case.twin_log_prob().into_iter().sum();
            *(if i < 6 { &mut case.mean[i] } else { &mut case.log_std[i - 6] }) = was;
            loss
        });
        let want = (loss[1] - loss[0]) / (2.0 * f64::from(step));
        assert!((f64::from(slope) - want).abs() < 3e-3 * want.abs().max(1.0), "{i}: {slope} is not {want}");
    }
}

#[test]
fn known_values() {
    // Python's log(NormalDist(0.5, exp(-0.3)).pdf(1.2)) and the standard normal's at 0.
    let mut out = [0.0; 1];
    log_prob(&Gaussian { num_rows: 1, mean: &[0.5], log_std: &[-0.3] }, &[1.2], &mut out).unwrap();
    near(&out, &[-1.0653576393003474], 2e-7, "logpdf");
    log_prob(&Gaussian { num_rows: 1, mean: &[0.0], log_std: &[0.0] }, &[0.0], &mut out).unwrap();
    near(&out, &[-0.9189385332046727], 1e-7, "logpdf");
    near(&[entropy(&[0.0]).unwrap()], &[1.4189385332046727], 1e-7, "entropy");
}

#[test]
fn the_squash_is_exact_near_zero_and_stable_far_out() {
    let mut action: Vec<f32> = (-1500..=1500).map(|i| i as f32 / 100.0).collect();
    action.extend([1e-7, -1e-4, 90.0, -90.0, 1e6, -1e30]);
    let mut squashed = vec![f32::NAN; action.len()];
    squash(&action, &mut squashed).unwrap();
    let want: Vec<f64> = action.iter().map(|u| f64::from(*u).tanh()).collect();
    near(&squashed, &want, 3e-7, "tanh");
    assert!(squashed.iter().all(|x| x.abs() <= 1.0));

    let mut density = vec![0.0; action.len()];
    squash_log_prob(&action, &mut density).unwrap();
    // ln(1 - tanh²) = 2 ln 2 + 2u - 2 ln(1 + e^2u) for u <= 0, and even.
    let want = action.iter().map(|u| -f64::from(u.abs())).map(|u| -2.0 * (2f64.ln() + u - (2.0 * u).exp().ln_1p()));
    near(&density, &want.collect::<Vec<_>>(), 3e-7, "correction");
    // Where 1 - tanh² is not yet lost to rounding, the plain formula agrees.
    for (u, d) in action.iter().zip(&density).filter(|(u, _)| u.abs() < 5.0) {
        let plain = -(1.0 - f64::from(*u).tanh().powi(2)).ln();
        assert!((f64::from(*d) - plain).abs() < 1e-5, "{u}: {d} is not {plain}");
    }

    // Rows of several elements subtract their sum from the previous value.
    for (rows, width) in SHAPES {
        let case = random(7, rows, width);
        let mut sums = vec![0.25; rows];
        squash_log_prob(&case.action, &mut sums).unwrap();
        let row = |row: &[f32]| 0.25 - row.iter().map(|u| (1.0 - f64::from(*u).tanh().powi(2)).ln()).sum::<f64>();
        near(&sums, &case.action.chunks(width).map(row).collect::<Vec<_>>(), 1e-6, "rows");
    }
}

/// All results of a case, as bits.
fn everything(case: &Case) -> Vec<u32> {
    let b = case.view();
    let (mut density, mut drawn, mut squashed) = (vec![0.0; case.rows], case.mean.clone(), case.mean.clone());
    let (mut mean_grad, mut log_std_grad) = (case.mean.clone(), case.log_std.clone());
    log_prob(&b, &case.action, &mut density).unwrap();
    squash_log_prob(&case.action, &mut density).unwrap();
    sample(&b, &case.action, &mut drawn).unwrap();
    squash(&case.action, &mut squashed).unwrap();
    gradient(&b, &case.action, &case.log_prob_grad, &case.entropy_grad, &mut mean_grad, &mut log_std_grad).unwrap();
    [density, drawn, squashed, mean_grad, log_std_grad].concat().into_iter().map(f32::to_bits).collect()
}

#[test]
fn every_cpu_level_gives_the_same_bytes() {
    for case in cases() {
        same_at_every_level(&format!("{}x{}", case.rows, case.log_std.len()), || everything(&case));
    }
}

#[test]
fn rows_do_not_know_each_other() {
    for case in cases() {
        let width = case.log_std.len();
        let mut all = vec![0.0; case.rows];
        log_prob(&case.view(), &case.action, &mut all).unwrap();
        squash_log_prob(&case.action, &mut all).unwrap();
        for (row, among) in all.iter().enumerate() {
            let part = row * width..(row + 1) * width;
            let mut one = [0.0];
            let b = Gaussian { num_rows: 1, mean: &case.mean[part.clone()], log_std: &case.log_std };
            log_prob(&b, &case.action[part.clone()], &mut one).unwrap();
            squash_log_prob(&case.action[part], &mut one).unwrap();
            assert_eq!(one[0].to_bits(), among.to_bits());
        }
    }
}

#[test]
fn bad_input_is_refused_and_outputs_stay() {
    let x = [0.5f32; 9];
    let good = Gaussian { num_rows: 4, mean: &x[..8], log_std: &x[..2] };
    let kind = |result: Result| result.map_err(|e| e.kind);
    let run = |b: &Gaussian<'_>, action: &[f32]| {
        let (mut rows, mut grid, mut columns) = ([7.0; 4], [7.0; 8], [7.0; 2]);
        let results = [
            kind(log_prob(b, action, &mut rows)),
            kind(sample(b, action, &mut grid)),
            kind(gradient(b, action, &[1.0; 4], &[1.0; 4], &mut grid, &mut columns)),
        ];
        if results.iter().any(|r| r.is_err()) {
            assert_eq!((rows, grid, columns), ([7.0; 4], [7.0; 8], [7.0; 2]));
        }
        results
    };
    let all = |kind| [Err(kind); 3];
    assert_eq!(run(&good, &x[..8]), [Ok(()); 3]);
    assert_eq!(run(&Gaussian { num_rows: 0, ..good }, &x[..8]), all(Kind::Shape));
    assert_eq!(run(&Gaussian { num_rows: 3, ..good }, &x[..8]), all(Kind::Shape));
    assert_eq!(run(&Gaussian { num_rows: usize::MAX, ..good }, &x[..8]), all(Kind::Overflow));
    assert_eq!(run(&Gaussian { mean: &x, ..good }, &x[..8]), all(Kind::Shape));
    assert_eq!(run(&Gaussian { mean: &x[..7], ..good }, &x[..8]), all(Kind::Shape));
    assert_eq!(run(&Gaussian { log_std: &[], ..good }, &x[..8]), all(Kind::Shape));
    assert_eq!(run(&Gaussian { log_std: &x[..3], ..good }, &x[..8]), all(Kind::Shape));
    let (last, first) = (40f32, 40f32.next_up());
    assert_eq!(run(&Gaussian { log_std: &[last, -last], ..good }, &x[..8]), [Ok(()); 3]);
    assert_eq!(run(&Gaussian { log_std: &[0.0, first], ..good }, &x[..8]), all(Kind::Range));
    assert_eq!(run(&Gaussian { log_std: &[0.0, -first], ..good }, &x[..8]), all(Kind::Range));
    assert_eq!(run(&Gaussian { log_std: &[-41.0, 0.0], ..good }, &x[..8]), all(Kind::Range));
    assert_eq!(run(&good, &x), all(Kind::Shape));
    assert_eq!(run(&good, &x[..7]), all(Kind::Shape));
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let mut y = [0.5; 8];
        y[7] = bad;
        assert_eq!(run(&good, &y), all(Kind::Value));
        assert_eq!(run(&Gaussian { mean: &y, ..good }, &x[..8]), all(Kind::Value));
        assert_eq!(run(&Gaussian { log_std: &y[6..], ..good }, &x[..8]), all(Kind::Value));
        assert_eq!(entropy(&y).unwrap_err().kind, Kind::Value);
        assert_eq!(kind(squash(&y, &mut [0.0; 8])), Err(Kind::Value));
        assert_eq!(kind(squash_log_prob(&y, &mut [0.0; 4])), Err(Kind::Value));
        assert_eq!(kind(squash_log_prob(&x[..8], &mut y)), Err(Kind::Value));
    }
}

#[test]
fn arrays_of_another_length_are_refused_and_stay() {
    let x = [0.5f32; 9];
    let good = Gaussian { num_rows: 4, mean: &x[..8], log_std: &x[..2] };
    let kind = |result: Result| result.map_err(|e| e.kind);
    let a = &x[..8];
    let mut out = [7.0; 9];
    assert_eq!(kind(log_prob(&good, a, &mut out[..3])), Err(Kind::Shape));
    assert_eq!(kind(log_prob(&good, a, &mut out[..5])), Err(Kind::Shape));
    assert_eq!(kind(sample(&good, a, &mut out)), Err(Kind::Shape));
    assert_eq!(kind(gradient(&good, a, &[1.0; 3], &[1.0; 4], &mut out[..8], &mut [7.0; 2])), Err(Kind::Shape));
    assert_eq!(kind(gradient(&good, a, &[1.0; 4], &[1.0; 5], &mut out[..8], &mut [7.0; 2])), Err(Kind::Shape));
    assert_eq!(kind(gradient(&good, a, &[1.0; 4], &[1.0; 4], &mut out, &mut [7.0; 2])), Err(Kind::Shape));
    assert_eq!(kind(gradient(&good, a, &[1.0; 4], &[1.0; 4], &mut out[..8], &mut [7.0; 3])), Err(Kind::Shape));
    let nan = [f32::NAN; 4];
    assert_eq!(kind(gradient(&good, a, &nan, &[1.0; 4], &mut out[..8], &mut [7.0; 2])), Err(Kind::Value));
    assert_eq!(kind(gradient(&good, a, &[1.0; 4], &nan, &mut out[..8], &mut [7.0; 2])), Err(Kind::Value));
    assert_eq!(kind(squash(a, &mut out)), Err(Kind::Shape));
    assert_eq!(kind(squash_log_prob(a, &mut out[..3])), Err(Kind::Shape));
    assert_eq!(kind(squash_log_prob(a, &mut [])), Err(Kind::Shape));
    assert_eq!(kind(squash_log_prob(&[], &mut out)), Err(Kind::Shape));
    assert_eq!(out, [7.0; 9]);
}
