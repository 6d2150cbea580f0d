//! The objective of deep Q-networks, against reference vectors from torch, formulas and finite differences.

#![cfg(feature = "off_policy")]

use rlcore::learn::algorithm::q;
use rlcore::learn::value_head::ValueHead;
use rlcore::rng::Rng;

fn near(a: &[f32], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (f64::from(*a) - b).abs() < 1e-5 * b.abs().max(1.0))
}

/// Entry `dqn` of the project's vectors, made with torch in f64: three transitions of two actions, discount 0.99.
#[test]
fn targets_losses_and_gradients_are_those_of_torch() {
    let (n, reward, discount) = ([2], [1.0, -1.0, 0.5], [0.99, 0.0, 0.99]);
    let (target_q, next_q) = ([0.3, 0.1, 1.0, 2.0, 1.5, 2.5], [0.0, 0.5, 0.0, 0.0, 1.0, 0.5]);
    let q = [1.0, 2.0, 0.5, -1.0, 0.0, 3.0];
    let mut best = [0; 3];
    for (values, want) in [(&target_q, [1.297, -1.0, 2.975]), (&next_q, [1.099, -1.0, 1.985])] {
        q::best(&n, values, None, &mut best).unwrap();
        let mut target = [0.0; 3];
        q::targets(ValueHead::Mean, &n, &target_q, &best, &reward, &discount, &mut target);
        assert!(near(&target, &want), "{target:?}");
    }
    let (choice, target, mut d_q) = ([1, 0, 1], [1.297, -1.0, 2.975], [0.0; 6]);
    let (loss, mean) = q::loss(ValueHead::Mean, &n, &q, &choice, &target, 3, false, &mut d_q, |_, _| 1.0);
    assert!(near(&[loss, mean], &[0.914_944_67, 5.5 / 3.0]), "{loss} {mean}");
    assert!(near(&d_q, &[0.0, 0.468_666_67, 1.0, 0.0, 0.0, 0.016_666_67]), "{d_q:?}");
    let (loss, _) = q::loss(ValueHead::Mean, &n, &q, &choice, &target, 3, true, &mut d_q, |_, _| 1.0);
    assert!(near(&[loss], &[0.415_805_67]), "{loss}");
    assert!(near(&d_q, &[0.0, 0.234_333_33, 0.333_333_33, 0.0, 0.0, 0.008_333_33]), "{d_q:?}");
}

/// Gradients of the loss by advantages and values, for actions of two elements, against finite differences in f64.
#[test]
fn gradients_are_the_slopes_of_the_loss() {
    let (n, m, mut rng) = ([3, 2], 4, Rng::seeded(11));
    let mut draw = |len: usize| -> Vec<f32> { (0..len).map(|_| 2.0 * rng.normal_f32()).collect() };
    let (advantage, value, target) = (draw(5 * m), draw(m), draw(2 * m));
    let (choice, weight) = ([0, 1, 2, 0, 1, 1, 0, 0], [1.0, 0.5, 0.125, 2.0]);
    for huber in [false, true] {
        let (mut d_q, mut d_value, mut q) = (vec![0.0; 5 * m], vec![0.0; m], advantage.clone());
        q::combine(&n, 1, &mut q, &value);
        let (loss, mean) = q::loss(ValueHead::Mean, &n, &q, &choice, &target, 8, huber, &mut d_q, |row, _| weight[row]);
        q::split(&n, 1, &mut d_q, &mut d_value);
        // The loss rewritten in f64: the mean over 8 rows of the mean over the elements.
        let of = |advantage: &[f64], value: &[f64]| -> [f64; 2] {
            let (mut sum, mut values) = (0.0, 0.0);
            for row in 0..m {
                for (k, own) in [&advantage[5 * row..][..3], &advantage[5 * row + 3..][..2]].iter().enumerate() {
                    let centre = own.iter().sum::<f64>() / own.len() as f64;
                    let q = own[choice[2 * row + k] as usize] + value[row] - centre;
                    let e = q - f64::from(target[2 * row + k]);
                    sum += f64::from(weight[row])
                        * if !huber {
                            e * e
                        } else if e.abs() < 1.0 {
                            e * e / 2.0
                        } else {
                            e.abs() - 0.5
                        };
                    values += q;
                }
            }
            [sum / 16.0, values / 16.0]
        };
        let wide = |x: &[f32]| -> Vec<f64> { x.iter().map(|x| f64::from(*x)).collect() };
        let (a, v) = (wide(&advantage), wide(&value));
        assert!(near(&[loss, mean], &of(&a, &v)));
        let slope = |f: &dyn Fn(f64) -> f64| (f(1e-6) - f(-1e-6)) / 2e-6;
        let by = |x: &[f64], i: usize, h: f64| {
            let mut x = x.to_vec();
            x[i] += h;
            x
        };
        let by_advantage: Vec<f64> = (0..5 * m).map(|i| slope(&|h| of(&by(&a, i, h), &v)[0])).collect();
        let by_value: Vec<f64> = (0..m).map(|i| slope(&|h| of(&a, &by(&v, i, h))[0])).collect();
        assert!(near(&d_q, &by_advantage) && near(&d_value, &by_value), "{d_q:?} {by_advantage:?}");
        let mut values = vec![0.0; m];
        q::chosen(&n, &q, &choice, &mut values);
        assert!((values.iter().sum::<f32>() / 8.0 - mean).abs() < 1e-5);
    }
}
