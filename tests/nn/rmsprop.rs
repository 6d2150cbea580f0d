//! RMSProp against fixed vectors, its formula in f64, every CPU level and bad input.

use crate::checks::{bits, same_at_every_level, wide, within};
use rlcore::error::Kind;
use rlcore::nn::RmsProp;
use rlcore::rng::Rng;

const TORCH: RmsProp = RmsProp {
    decay: 0.99,
    momentum: 0.0,
    epsilon: 1e-5,
    inside: false,
    centred: false,
    maximise: false,
    limit: f32::MAX,
};
const TENSORFLOW: RmsProp = RmsProp { inside: true, ..TORCH };

/// Mean squares start at 0 in PyTorch and at 1 in TensorFlow.
fn first(rule: RmsProp) -> f32 {
    if rule.inside { 1.0 } else { 0.0 }
}

#[test]
fn known_paths() {
    let torch = [0.9000199960007998, 0.9373132331058294, 0.937294492566991];
    let tensorflow = [0.994981169151434, 0.996998404409413, 0.9969973907106069];
    let documented = [0.994981143892999, 0.9969983894015586, 0.9969973756975493];
    let small = RmsProp { epsilon: 1e-8, ..TENSORFLOW };
    for (rule, want) in [(TORCH, torch), (TENSORFLOW, tensorflow), (small, documented)] {
        let (mut p, mut m, mut v) = ([1.0], [0.0], [first(rule)]);
        let path = [0.5, -0.2, 1e-4].map(|g: f32| {
            assert_eq!(rule.step(&mut p, &[g], &mut m, &mut v, 0.01, 0.0), Ok(g.abs()));
            f64::from(p[0])
        });
        within(&path, &want, 2e-7, "path");
    }
}

fn random(seed: u64, len: usize) -> Vec<f32> {
    let mut rng = Rng::seeded(seed);
    (0..len).map(|_| rng.uniform_f32() - 0.5).collect()
}

fn run(rule: RmsProp, len: usize, max_norm: f32) -> [Vec<f32>; 3] {
    let (mut p, mut m, mut v) = (random(1, len), vec![0.0; len], vec![first(rule); len]);
    for t in 1..=20 {
        rule.step(&mut p, &random(t + 1, len), &mut m, &mut v, 3e-3, max_norm).unwrap();
    }
    [p, m, v]
}

const RULES: [RmsProp; 4] = [
    RmsProp { decay: 0.9, ..TORCH },
    RmsProp { momentum: 0.5, epsilon: 1e-3, ..TENSORFLOW },
    RmsProp { centred: true, decay: 0.95, epsilon: 0.01, ..TORCH },
    RmsProp { centred: true, ..TENSORFLOW },
];

#[test]
fn equals_the_formula_in_f64() {
    for (rule, max_norm) in RULES.into_iter().zip([0.0, 0.7, 1.5, 0.0]) {
        let len = 37;
        let [decay, momentum, epsilon] = [rule.decay, rule.momentum, rule.epsilon].map(f64::from);
        let mut p = wide(&random(1, len));
        let (mut m, mut v) = (vec![0.0; len], vec![f64::from(first(rule)); len]);
        for t in 1..=20 {
            let grads = wide(&random(t + 1, len));
            let norm = grads.iter().map(|g| g * g).sum::<f64>().sqrt();
            let clip = if max_norm > 0.0 { (f64::from(max_norm) / (norm + 1e-6)).min(1.0) } else { 1.0 };
            for i in 0..len {
                let g = grads[i] * clip;
                v[i] = decay * v[i] + (1.0 - decay) * g * g;
                let mean = decay * m[i] + (1.0 - decay) * g;
                let spread = if rule.centred { v[i] - mean * mean } else { v[i] };
                let root = if rule.inside { (spread + epsilon).sqrt() } else { spread.sqrt() + epsilon };
                let step = g / root + if rule.centred { 0.0 } else { momentum * m[i] };
                m[i] = if rule.centred { mean } else { step };
                p[i] -= 3e-3 * step;
            }
        }
        let [got_p, got_m, got_v] = run(rule, len, max_norm);
        within(&got_p, &p, 5e-6, "parameters");
        within(&got_m, &m, 1e-4, "moments");
        within(&got_v, &v, 1e-6, "mean squares");
    }
}

#[test]
fn every_cpu_level_gives_the_same_bytes() {
    for (rule, len) in RULES.into_iter().zip([1, 15, 100, 1000]) {
        same_at_every_level(&format!("{len}"), || run(rule, len, 0.9).map(|x| bits(&x)));
    }
}

/// A constant gradient has no variance: epsilon alone bounds the step, which is too long.
#[test]
fn a_step_beyond_the_limit_is_refused_and_nothing_moves() {
    let rule = RmsProp { centred: true, decay: 0.0, epsilon: 1e-12, limit: 1e6, ..TORCH };
    let (mut p, mut m, mut v) = ([1.0; 3], [0.5; 3], [0.25; 3]);
    assert_eq!(rule.step(&mut p, &[0.1; 3], &mut m, &mut v, 0.1, 0.0).unwrap_err().kind, Kind::Value);
    assert_eq!((p, m, v), ([1.0; 3], [0.5; 3], [0.25; 3]));
    rule.step(&mut p, &[0.1; 3], &mut m, &mut v, 1e-6, 0.0).unwrap();
    assert!(p[0] < -9e3);
}

#[test]
fn bad_input_is_refused_and_nothing_moves() {
    let refused = |rule: RmsProp, grads: &[f32], rate, kind| {
        let (mut p, mut m, mut v) = ([1.0; 3], [0.0; 3], [0.0; 3]);
        assert_eq!(rule.step(&mut p, grads, &mut m, &mut v, rate, 0.5).unwrap_err().kind, kind);
        assert_eq!((p, m, v), ([1.0; 3], [0.0; 3], [0.0; 3]));
    };
    let good = [0.1; 3];
    refused(TORCH, &good[1..], 0.1, Kind::Shape);
    refused(TORCH, &[0.1, f32::NAN, 0.1], 0.1, Kind::Value);
    refused(TORCH, &good, f32::INFINITY, Kind::Value);
    for bad in [
        RmsProp { decay: 1.0, ..TORCH },
        RmsProp { decay: f32::NAN, ..TORCH },
        RmsProp { momentum: -0.1, ..TORCH },
        RmsProp { momentum: 0.5, centred: true, ..TORCH },
        RmsProp { epsilon: 0.0, ..TORCH },
        RmsProp { epsilon: 1.5, ..TORCH },
        RmsProp { limit: f32::INFINITY, ..TORCH },
    ] {
        refused(bad, &good, 0.1, Kind::Config);
    }
}
