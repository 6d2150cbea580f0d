//! Losses of auxiliary tasks and of values alone, as a host calls them: values against formulas in f64, gradients against
//! finite differences.

use crate::host::wide;
use rlcore::error::Kind;
use rlcore::learn::algorithm::pixel_control::{self, Cells};
use rlcore::learn::algorithm::reward_class;
use rlcore::learn::loss::{self, Batch, Coefficients};
use rlcore::rng::Rng;

/// Asserts that `derivative` is the gradient of `loss` at `x`.
fn slopes(what: &str, x: &[f32], derivative: &[f32], loss: impl Fn(&[f64]) -> f64) {
    let mut at: Vec<f64> = x.iter().map(|x| f64::from(*x)).collect();
    for (i, derivative) in derivative.iter().enumerate() {
        let middle = at[i];
        let mut moved = |by| {
            at[i] = middle + by;
            loss(&at)
        };
        let slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
        at[i] = middle;
        assert!((f64::from(*derivative) - slope).abs() < 1e-5, "{what}[{i}] = {derivative}, slope {slope}");
    }
}

fn draw(rng: &mut Rng, len: usize) -> Vec<f32> {
    (0..len).map(|_| rng.uniform_f32() * 4.0 - 2.0).collect()
}

#[test]
fn values_are_as_their_formula() {
    let mut rng = Rng::seeded(1);
    for len in [1, 15, 40] {
        let (value, target) = (draw(&mut rng, len), draw(&mut rng, len));
        let twin =
            |value: &[f64]| value.iter().zip(wide(&target)).map(|(v, t)| (v - t).powi(2)).sum::<f64>() / len as f64;
        let mut d_value = vec![0.0; len];
        let loss = loss::mean_squared_error(&value, &target, &mut d_value).unwrap();
        assert!((f64::from(loss) - twin(&wide(&value))).abs() < 1e-6);
        slopes("d_value", &value, &d_value, twin);
    }
}

#[test]
fn classes_are_as_their_formula() {
    let mut rng = Rng::seeded(2);
    for rows in [1usize, 5, 17] {
        let logits = draw(&mut rng, rows * 3);
        let class: Vec<i32> = (0..rows as i32).map(|i| (i + 1) % 3).collect();
        let twin = |logits: &[f64]| {
            let rows = logits.chunks(3).zip(&class);
            let cost =
                |(row, class): (&[f64], &i32)| row.iter().map(|x| x.exp()).sum::<f64>().ln() - row[*class as usize];
            rows.map(cost).sum::<f64>() / class.len() as f64
        };
        let mut d_logits = vec![0.0; rows * 3];
        let loss = reward_class::mean_cross_entropy(&logits, &class, &mut d_logits).unwrap();
        assert!((f64::from(loss) - twin(&wide(&logits))).abs() < 1e-6);
        slopes("d_logits", &logits, &d_logits, twin);
    }
}

#[test]
fn cells_are_as_their_formula() {
    let mut rng = Rng::seeded(3);
    for (steps, cells, choices, dueling) in [(1, 1, 1, true), (3, 4, 3, true), (3, 4, 3, false), (2, 9, 5, true)] {
        let (all, values) = (steps * cells * choices, if dueling { steps * cells } else { 0 });
        let (advantage, value, target) = (draw(&mut rng, all), draw(&mut rng, values), draw(&mut rng, steps * cells));
        let choice: Vec<i32> = (0..steps).map(|k| (k % choices) as i32).collect();
        let twin = |advantage: &[f64], value: &[f64]| {
            let mut sum = 0.0;
            for (at, target) in wide(&target).into_iter().enumerate() {
                let own = &advantage[at * choices..][..choices];
                let mean = own.iter().sum::<f64>() / choices as f64;
                let base = if dueling { value[at] - mean } else { 0.0 };
                sum += (base + own[choice[at / cells] as usize] - target).powi(2);
            }
            sum / steps as f64
        };
        let (mut d_advantage, mut d_value) = (vec![9.0; all], vec![9.0; values]);
        let given = Cells { choices, advantage: &advantage, value: &value, target: &target };
        let loss = pixel_control::mean_loss(&given, &choice, &mut d_advantage, &mut d_value).unwrap();
        assert!((f64::from(loss) - twin(&wide(&advantage), &wide(&value))).abs() < 2e-5);
        slopes("d_advantage", &advantage, &d_advantage, |advantage| twin(advantage, &wide(&value)));
        slopes("d_value", &value, &d_value, |value| twin(&wide(&advantage), value));
    }
}

#[test]
fn what_is_wrong_is_refused() {
    let (two, six) = ([0.5f32; 2], [0.5f32; 6]);
    let kind = |result: rlcore::error::Result<f32>| result.unwrap_err().kind;
    let values = loss::mean_squared_error;
    assert_eq!(kind(values(&[], &[], &mut [])), Kind::Shape);
    assert_eq!(kind(values(&two, &six, &mut [0.0; 2])), Kind::Shape);
    assert_eq!(kind(values(&[f32::NAN, 0.0], &two, &mut [0.0; 2])), Kind::Value);
    let classes = reward_class::mean_cross_entropy;
    assert_eq!(kind(classes(&[], &[], &mut [])), Kind::Shape);
    for class in [-1, 3] {
        assert_eq!(kind(classes(&six, &[0, class], &mut [0.0; 6])), Kind::Range);
    }
    let cells = Cells { choices: 3, advantage: &six, value: &two, target: &two };
    let given = |cells: Cells<'_>, choice| pixel_control::mean_loss(&cells, &[choice], &mut [0.0; 6], &mut [0.0; 2]);
    given(cells, 2).unwrap();
    assert_eq!(kind(given(cells, 3)), Kind::Range);
    assert_eq!(kind(given(cells, -1)), Kind::Range);
    assert_eq!(kind(given(Cells { choices: 0, ..cells }, 0)), Kind::Shape);
    assert_eq!(kind(given(Cells { value: &two[..1], ..cells }, 0)), Kind::Shape);
    assert_eq!(kind(given(Cells { target: &[0.0, f32::INFINITY], ..cells }, 0)), Kind::Value);
    let c = Coefficients { clip: 0.2, value_clip: 0.0, value_coef: 0.5 };
    let batch = Batch {
        num_rows: 2,
        log_prob: &two,
        old_log_prob: &two,
        advantage: &two,
        value: &two,
        old_value: &two,
        value_target: &two,
    };
    loss::check(&batch, &c).unwrap();
    let refused = |c: Coefficients| loss::check(&batch, &c).unwrap_err().kind;
    assert_eq!(refused(Coefficients { clip: -0.1, ..c }), Kind::Range);
    assert_eq!(refused(Coefficients { value_coef: f32::NAN, ..c }), Kind::Value);
}
