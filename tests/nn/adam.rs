//! Adam and the gradient clip against their formulas in f64, fixed vectors, every CPU level and bad input.

use crate::checks::{bits, random, same_at_every_level, wide, within};
use rlcore::error::{Kind, Result};
use rlcore::nn::{Adam, Epsilon, clip_global_norm};
use rlcore::rng::Rng;

const CORRECTED: Adam = Adam {
    beta1: 0.9,
    beta2: 0.999,
    epsilon: 1e-5,
    placement: Epsilon::Corrected,
    maximise: false,
    limit: f32::MAX,
    rectify: false,
};
const RAW: Adam = Adam { placement: Epsilon::Raw, ..CORRECTED };

/// The path of one parameter that starts at 1, through all gradients.
fn path(adam: Adam, learning_rate: f32, grads: &[f32]) -> Vec<f64> {
    let (mut p, mut m, mut v, mut steps) = ([1.0], [0.0], [0.0], 0);
    (grads.iter().zip(1..))
        .map(|(g, t)| {
            let norm = adam.step(&mut p, &[*g], &mut m, &mut v, &mut steps, learning_rate, 0.0).unwrap();
            assert_eq!((norm, steps), (g.abs(), t));
            f64::from(p[0])
        })
        .collect()
}

#[test]
fn known_paths() {
    let grads = [0.5, -0.2, 1e-4];
    let up = Adam { maximise: true, ..CORRECTED };
    within(&path(up, 0.01, &grads), &[1.009999800004, 1.0134557677085245, 1.016128412237639], 2e-7, "path");
    within(&path(CORRECTED, 0.01, &[1e-6; 2]), &[0.9990909090909091, 0.9981818181818183], 1e-7, "path");
    within(&path(RAW, 0.01, &grads), &[0.9900063205578485, 0.9865522912294056, 0.9838811307231103], 2e-7, "path");
    within(&path(RAW, 0.01, &[1e-6; 2]), &[0.9999684769081674, 0.999923965740577], 1e-7, "path");
}

/// The specification's path, computed by PyTorch's RAdam.
#[test]
fn the_rectified_path_is_known() {
    let adam = Adam { epsilon: 1e-8, rectify: true, ..CORRECTED };
    let want = [0.995, 0.9936842105263158, 0.9928535832200428, 0.9913921409403104, 0.9895549916643464];
    let grads = [0.5, -0.2, 1e-4, 0.3, 0.3, 0.3, 0.3, 0.3];
    let last = [0.9893786972010015, 0.9891357649268605, 0.9888312280366278];
    within(&path(adam, 0.01, &grads), &[&want[..], &last].concat(), 2e-7, "path");
}

#[test]
fn clips_to_known_vectors() {
    for (max_norm, want) in
        [(0.5, [0.29999994, 0.39999992]), (10.0, [3.0, 4.0]), (0.0, [3.0, 4.0]), (f32::INFINITY, [3.0, 4.0])]
    {
        let mut grads = [3.0, 4.0];
        assert_eq!(clip_global_norm(&mut grads, max_norm), Ok(5.0));
        within(&grads, &want, 3e-8, "clipped");
    }
    assert_eq!(clip_global_norm(&mut [], 1.0), Ok(0.0));
    // Squares that overflow an f32.
    let mut large = [3e30, 4e30];
    let norm = clip_global_norm(&mut large, 1.0).unwrap();
    assert!((norm / 5e30 - 1.0).abs() < 1e-6 && (large[0] - 0.6).abs() < 1e-6 && (large[1] - 0.8).abs() < 1e-6);
}

struct Arrays {
    params: Vec<f32>,
    m: Vec<f32>,
    v: Vec<f32>,
    steps: u64,
}

impl Arrays {
    fn step(&mut self, adam: Adam, grads: &[f32], learning_rate: f32, max_norm: f32) -> Result<f32> {
        let Arrays { params, m, v, steps } = self;
        adam.step(params, grads, m, v, steps, learning_rate, max_norm)
    }
}

fn arrays(len: usize) -> Arrays {
    Arrays { params: numbers(1, len, 1.0), m: vec![0.0; len], v: vec![0.0; len], steps: 0 }
}

fn numbers(seed: u64, len: usize, size: f64) -> Vec<f32> {
    random(&mut Rng::seeded(seed), len, size)
}

fn run(adam: Adam, len: usize, max_norm: f32) -> (Arrays, Vec<f32>) {
    let mut a = arrays(len);
    let norms = (1..=20).map(|t| {
        let grads = numbers(t + 1, len, 1.0 / t as f64);
        a.step(adam, &grads, 3e-3, max_norm).unwrap()
    });
    let norms = norms.collect();
    (a, norms)
}

#[test]
fn equals_the_formula_in_f64() {
    for (adam, len, max_norm) in [
        (CORRECTED, 1, 0.0),
        (RAW, 37, 1.0),
        (Adam { maximise: true, epsilon: 1e-3, ..CORRECTED }, 100, 0.5),
        (Adam { beta1: 0.0, beta2: 0.9, epsilon: 1e-2, ..RAW }, 64, 100.0),
    ] {
        let (got, norms) = run(adam, len, max_norm);
        let mut p = wide(&numbers(1, len, 1.0));
        let (mut m, mut v) = (vec![0.0; len], vec![0.0; len]);
        for t in 1..=20 {
            let grads = wide(&numbers(t + 1, len, 1.0 / t as f64));
            let norm = grads.iter().map(|g| g * g).sum::<f64>().sqrt();
            assert!((f64::from(norms[t as usize - 1]) / norm - 1.0).abs() < 1e-7);
            let clip = if max_norm > 0.0 { (f64::from(max_norm) / (norm + 1e-6)).min(1.0) } else { 1.0 };
            let [beta1, beta2, epsilon] = [adam.beta1, adam.beta2, adam.epsilon].map(f64::from);
            let (left1, left2) = (1.0 - beta1.powi(t as i32), 1.0 - beta2.powi(t as i32));
            for i in 0..len {
                let g = grads[i] * clip * if adam.maximise { -1.0 } else { 1.0 };
                m[i] = beta1 * m[i] + (1.0 - beta1) * g;
                v[i] = beta2 * v[i] + (1.0 - beta2) * g * g;
                p[i] -= match adam.placement {
                    Epsilon::Corrected => 3e-3 * (m[i] / left1) / ((v[i] / left2).sqrt() + epsilon),
                    Epsilon::Raw => 3e-3 * left2.sqrt() / left1 * m[i] / (v[i].sqrt() + epsilon),
                };
            }
        }
        within(&got.params, &p, 2e-6, "parameters");
        within(&got.m, &m, 1e-6, "first moments");
        within(&got.v, &v, 1e-6, "second moments");
    }
}

#[test]
fn clipping_on_the_way_equals_clipping_first() {
    let (mut one, mut two) = (arrays(50), arrays(50));
    for t in 1..5 {
        let mut grads = numbers(t + 1, 50, 1.0);
        let norm = one.step(CORRECTED, &grads, 1e-2, 0.7);
        assert_eq!(norm, clip_global_norm(&mut grads, 0.7));
        two.step(CORRECTED, &grads, 1e-2, 0.0).unwrap();
        assert_eq!((&one.params, &one.m, &one.v), (&two.params, &two.m, &two.v));
    }
}

#[test]
fn every_cpu_level_gives_the_same_bytes() {
    for len in [1, 15, 16, 17, 1000, 9155] {
        same_at_every_level(&format!("{len}"), || {
            let (a, norms) = run(CORRECTED, len, 0.9);
            let mut grads = numbers(9, len, 1.0);
            clip_global_norm(&mut grads, 0.1).unwrap();
            [bits(&a.params), bits(&a.m), bits(&a.v), bits(&norms), bits(&grads)]
        });
    }
}

#[test]
fn a_late_update_is_finite() {
    for adam in [CORRECTED, RAW] {
        let mut a = Arrays { steps: u64::MAX, ..arrays(3) };
        a.step(adam, &[0.1, 0.2, 0.3], 1e-3, 1.0).unwrap();
        assert!(a.params.iter().all(|p| p.is_finite()));
    }
}

/// Neither the second moment nor epsilon bounds the step: the second one would be 1e38 long.
#[test]
fn a_step_without_bound_is_refused_and_nothing_moves() {
    let adam = Adam { beta2: 0.0, epsilon: f32::MIN_POSITIVE, ..CORRECTED };
    let mut a = arrays(3);
    a.step(adam, &[1e3; 3], 1.0, 0.0).unwrap();
    let before = (a.params.clone(), a.m.clone(), a.v.clone(), a.steps);
    assert_eq!(a.step(adam, &[1e3, 0.0, 1e3], 1.0, 0.0).unwrap_err().kind, Kind::Value);
    assert_eq!((a.params.clone(), a.m.clone(), a.v.clone(), a.steps), before);
    a.step(adam, &[1e3; 3], 1.0, 0.0).unwrap();
}

#[test]
fn bad_input_is_refused_and_nothing_moves() {
    let good = (CORRECTED, 1e-3, 0.5, vec![0.1; 40]);
    let refuse = |adam: Adam, learning_rate, max_norm, grads: &[f32]| {
        let mut a = arrays(40);
        let before = a.params.clone();
        let result = a.step(adam, grads, learning_rate, max_norm);
        assert_eq!((a.params, a.steps), (before, 0));
        assert!(a.m.iter().chain(&a.v).all(|x| *x == 0.0));
        result.unwrap_err().kind
    };
    let (adam, rate, norm, grads) = &good;
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        assert_eq!(refuse(*adam, bad, *norm, grads), Kind::Value);
        for i in [0, 16, 39] {
            let mut grads = grads.clone();
            grads[i] = bad;
            assert_eq!(refuse(*adam, *rate, *norm, &grads), Kind::Value);
            let before = bits(&grads);
            assert_eq!(clip_global_norm(&mut grads, 0.5).unwrap_err().kind, Kind::Value);
            assert_eq!(bits(&grads), before);
        }
    }
    assert_eq!(refuse(*adam, *rate, f32::INFINITY, &[1e20; 40]), Kind::Value);
    // A step that takes parameters beyond the limit of 1, and one that divides 0 by 0.
    assert_eq!(refuse(Adam { limit: 1.0, ..*adam }, 3.0, *norm, grads), Kind::Value);
    assert_eq!(refuse(Adam { epsilon: 0.0, ..*adam }, *rate, *norm, &[0.0; 40]), Kind::Value);
    for bad in [f32::NAN, -1.0] {
        assert_eq!(refuse(*adam, *rate, bad, grads), Kind::Config);
        assert_eq!(clip_global_norm(&mut [1.0], bad).unwrap_err().kind, Kind::Config);
    }
    for bad in [
        Adam { beta1: 1.0, ..*adam },
        Adam { beta2: -0.1, ..*adam },
        Adam { beta2: f32::NAN, ..*adam },
        Adam { epsilon: -1e-9, ..*adam },
        Adam { epsilon: f32::INFINITY, ..*adam },
        Adam { limit: f32::INFINITY, ..*adam },
        Adam { limit: -1.0, ..*adam },
    ] {
        assert_eq!(bad.check().unwrap_err().kind, Kind::Config);
        assert_eq!(refuse(bad, *rate, *norm, grads), Kind::Config);
    }
    assert_eq!(refuse(*adam, *rate, *norm, &grads[1..]), Kind::Shape);
    for (m, v) in [(39, 40), (41, 40), (40, 39), (40, 41)] {
        let (mut p, mut m, mut v) = (vec![1.0; 40], vec![0.0; m], vec![0.0; v]);
        assert_eq!(adam.step(&mut p, grads, &mut m, &mut v, &mut 0, 0.1, 0.5).unwrap_err().kind, Kind::Shape);
        assert!(p.iter().all(|p| *p == 1.0));
    }
}
