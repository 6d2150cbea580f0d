//! The objectives of TD3 and SAC, against reference vectors from torch and finite differences in f64.

#![cfg(feature = "off_policy")]

use crate::host::{slope, wide};
use rlcore::learn::algorithm::{critic, sac, td3};
use rlcore::rng::Rng;

const LIMITS: (f32, f32) = (-20.0, 2.0);

fn near(a: &[f32], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (f64::from(*a) - b).abs() < 1e-5 * b.abs().max(1.0))
}

/// Entries `td3`, `sac_actor` and `sac_alpha_exp_form` of the project's vectors, made with torch in f64.
#[test]
fn actions_densities_and_gradients_are_those_of_torch() {
    let mut action = [0.0; 2];
    // Means whose tanh is 0.9 and -0.2.
    let mean = [0.9f64.atanh() as f32, -0.2f64.atanh() as f32];
    td3::smooth((1.0, 0.5), &mean, &[0.7, -0.1], &mut action);
    assert!(near(&action, &[1.0, -0.3]), "{action:?}");

    let (mean, log_std, normal) = ([0.3, -0.1], [-0.5, 0.2], [0.7, -1.1]);
    let mut log_prob = [0.0];
    sac::act(LIMITS, &mean, &log_std, &normal, &mut action, &mut log_prob);
    assert!(near(&action, &[0.619_732_988_1, -0.894_408_701_2]), "{action:?}");
    assert!(near(&log_prob, &[-0.293_984_219_5]), "{log_prob:?}");
    let (mut d_mean, mut d_log_std) = ([0.0; 2], [0.0; 2]);
    sac::gradient(LIMITS, 0.2, &action, &log_std, &normal, &[-0.4, 0.3], &mut d_mean, &mut d_log_std);
    assert!(near(&d_mean, &[0.001_520_785_85, -0.297_753_557_9]), "{d_mean:?}");
    assert!(near(&d_log_std, &[-0.199_354_317_7, 0.200_044_718_6]), "{d_log_std:?}");
    let slope = sac::temperature_gradient(0.2, -log_prob[0], -2.0);
    assert!(near(&[slope], &[0.458_796_843_9]), "{slope}");
}

/// Three rows of two elements, some beyond the limits, against finite differences of the loss rewritten in f64.
#[test]
fn gradients_are_the_slopes_of_the_loss() {
    let (mut rng, weight, limits) = (Rng::seeded(3), 0.3, (-1.0f32, 0.5f32));
    let mut draw = |scale: f32| -> Vec<f32> { (0..6).map(|_| scale * rng.normal_f32()).collect() };
    let (mean, mut log_std, normal, d_action) = (draw(1.0), draw(0.3), draw(1.0), draw(1.0));
    (log_std[0], log_std[3]) = (1.0, -1.5);
    let (mut action, mut log_prob) = (vec![0.0; 6], vec![0.0; 3]);
    sac::act(limits, &mean, &log_std, &normal, &mut action, &mut log_prob);
    let loss = |mean: &[f64], log_std: &[f64]| -> f64 {
        (0..6)
            .map(|i| {
                let (log_std, n) = (log_std[i].clamp(-1.0, 0.5), f64::from(normal[i]));
                let a = (mean[i] + log_std.exp() * n).tanh();
                let log_prob = -0.5 * n * n - log_std - 0.5 * std::f64::consts::TAU.ln() - (1.0 - a * a).ln();
                f64::from(weight) * log_prob + f64::from(d_action[i]) * a
            })
            .sum()
    };
    let (m, l) = (wide(&mean), wide(&log_std));
    let total: f32 = log_prob.iter().map(|x| weight * x).sum::<f32>() + dot(&d_action, &action);
    assert!((f64::from(total) - loss(&m, &l)).abs() < 1e-5);
    let by_mean: Vec<f64> = (0..6).map(|i| slope(&m, i, 1e-6, |m| loss(m, &l))).collect();
    let by_log_std: Vec<f64> = (0..6).map(|i| slope(&l, i, 1e-6, |l| loss(&m, l))).collect();
    let (mut d_mean, mut d_log_std) = (vec![0.0; 6], vec![0.0; 6]);
    sac::gradient(limits, weight, &action, &log_std, &normal, &d_action, &mut d_mean, &mut d_log_std);
    assert!(near(&d_mean, &by_mean) && near(&d_log_std, &by_log_std), "{d_log_std:?} {by_log_std:?}");

    td3::act(&mean, &mut action);
    td3::gradient(&action, &d_action, &mut d_mean);
    let of = |m: &[f64]| m.iter().zip(&d_action).map(|(m, d)| m.tanh() * f64::from(*d)).sum();
    let by_mean: Vec<f64> = (0..6).map(|i| slope(&m, i, 1e-6, of)).collect();
    assert!(near(&d_mean, &by_mean), "{d_mean:?} {by_mean:?}");
}

#[test]
fn critics_read_pairs_and_learn_their_targets() {
    let mut pair = [0.0; 6];
    critic::join((rlcore::nn::Input::F32(&[1.0, 2.0, 3.0, 4.0]), 2), (&[5.0, 6.0], 1), &mut pair);
    assert_eq!(pair, [1.0, 2.0, 5.0, 3.0, 4.0, 6.0]);
    let mut d = [0.0; 2];
    assert_eq!(critic::regress(&[1.0, 4.0], &[2.0, 1.0], 4, false, &mut d, |_, _| 1.0), (2.5, 1.25));
    assert_eq!(d, [-0.5, 1.5]);
    assert_eq!(critic::regress(&[1.0, 4.0], &[2.0, 1.0], 4, true, &mut d, |_, _| 1.0), (0.75, 1.25));
    assert_eq!(d, [-0.25, 0.25]);
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
