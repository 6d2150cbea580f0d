//! Orthogonal matrices and the initialization of towers with them.

use crate::checks::{bits, read, same_at_every_level, started};
use rlcore::error::Kind;
use rlcore::nn::{Activation, HEAD, Layer, Net, Node, orthogonal, orthogonal_scratch_len};
use rlcore::rng::Rng;

const SHAPES: [(usize, usize); 12] =
    [(1, 1), (1, 7), (7, 1), (2, 2), (3, 2), (16, 17), (17, 16), (64, 64), (64, 4), (2, 64), (130, 50), (40, 200)];

fn filled(rows: usize, columns: usize, gain: f32) -> Vec<f32> {
    let mut w = vec![f32::NAN; rows * columns];
    let mut scratch = vec![f32::NAN; orthogonal_scratch_len(rows, columns)];
    orthogonal(&mut w, rows, columns, gain, &mut Rng::seeded(5), &mut scratch).unwrap();
    w
}

/// The largest difference of the short side's products from gain² times identity, in units of gain².
fn error(w: &[f32], rows: usize, columns: usize, gain: f64) -> f64 {
    let (short, long) = (rows.min(columns), rows.max(columns));
    let at = |s: usize, l: usize| f64::from(if rows <= columns { w[s * columns + l] } else { w[l * columns + s] });
    let mut largest = 0.0f64;
    for a in 0..short {
        for b in 0..short {
            let product: f64 = (0..long).map(|l| at(a, l) * at(b, l)).sum();
            largest = largest.max((product / (gain * gain) - f64::from(u8::from(a == b))).abs());
        }
    }
    largest
}

#[test]
fn the_short_side_is_orthonormal_up_to_the_gain() {
    for (rows, columns) in SHAPES {
        for gain in [1.0, 2.0f32.sqrt(), 0.01] {
            let w = filled(rows, columns, gain);
            let error = error(&w, rows, columns, f64::from(gain));
            assert!(error < 2e-6, "{rows} x {columns}: {error}");
        }
    }
}

#[test]
fn equals_the_factorisation_of_what_was_drawn_with_its_signs_fixed() {
    // Q = A R^-1 with a positive diagonal of R, by Gram-Schmidt in f64 on the same draws.
    let (rows, columns) = (5, 9);
    let mut a = vec![0.0; rows * columns];
    let mut rng = Rng::seeded(5);
    for row in a.chunks_mut(columns) {
        rng.fill_normal(row);
    }
    let mut q: Vec<Vec<f64>> = Vec::new();
    for row in a.chunks(columns) {
        let mut x: Vec<f64> = row.iter().copied().map(f64::from).collect();
        for _ in 0..2 {
            for u in &q {
                let along: f64 = x.iter().zip(u).map(|(x, u)| x * u).sum();
                x.iter_mut().zip(u).for_each(|(x, u)| *x -= along * u);
            }
        }
        let length = x.iter().map(|x| x * x).sum::<f64>().sqrt();
        q.push(x.into_iter().map(|x| x / length).collect());
    }
    for (got, want) in filled(rows, columns, 1.0).into_iter().zip(q.concat()) {
        assert!((f64::from(got) - want).abs() < 1e-6, "{got}, not {want}");
    }
}

#[test]
fn signs_are_fair() {
    let ones = (0..1000).filter(|seed| {
        let mut w = [0.0];
        orthogonal(&mut w, 1, 1, 1.0, &mut Rng::seeded(*seed), &mut []).unwrap();
        assert!(w[0].abs() == 1.0);
        w[0] == 1.0
    });
    assert!((440..=560).contains(&ones.count()));
}

#[test]
fn every_cpu_level_gives_the_same_bytes() {
    for (rows, columns) in SHAPES {
        same_at_every_level(&format!("{rows} x {columns}"), || bits(&filled(rows, columns, 1.3)));
    }
}

#[test]
fn bad_input_is_refused_and_nothing_moves() {
    let mut rng = Rng::seeded(1);
    let (mut w, mut scratch) = ([7.0; 12], [0.0; 12]);
    let mut refuse = |len: usize, rows, columns, gain, scratch: &mut [f32]| {
        let kind = orthogonal(&mut w[..len], rows, columns, gain, &mut rng, scratch).unwrap_err().kind;
        assert!(w.iter().all(|x| *x == 7.0) && rng == Rng::seeded(1));
        kind
    };
    assert_eq!(refuse(11, 4, 3, 1.0, &mut scratch), Kind::Shape);
    assert_eq!(refuse(12, 4, 2, 1.0, &mut scratch), Kind::Shape);
    assert_eq!(refuse(12, usize::MAX, 2, 1.0, &mut scratch), Kind::Shape);
    assert_eq!(refuse(12, 4, 3, 1.0, &mut scratch[..11]), Kind::Size);
    assert_eq!(refuse(12, 4, 3, f32::NAN, &mut scratch), Kind::Value);
    for (rows, columns) in [(0, 0), (0, 3), (3, 0)] {
        orthogonal(&mut [], rows, columns, 1.0, &mut rng, &mut []).unwrap();
    }
}

#[test]
fn a_network_starts_orthogonal_with_biases_of_zero() {
    for sizes in [&[4u32, 64, 64, 2][..], &[1, 2, 2, 1], &[100, 30, 17, 40, 9, 20]] {
        let dense = |activation| move |units: &u32| Layer::dense(*units, activation);
        let mut layers: Vec<_> = sizes[1..].iter().map(dense(Activation::Tanh)).collect();
        let output = layers.last_mut().unwrap();
        *output = Layer { flags: HEAD, gain: 0.01, ..dense(Activation::Identity)(&output.units) };
        layers.push(Layer::free(3, -0.5));
        // A second output has the usual gain of a layer without an activation.
        layers.push(Layer { flags: HEAD, source: [1, 0], ..Layer::dense(7, Activation::Identity) });
        let mut nodes = [Node::default(); 8];
        let net = Net::compile(&layers, [1, 1, sizes[0] as usize], &mut nodes).unwrap();
        let params = started(&net, 3);
        let hidden = sizes.windows(2).map(|s| (s[0] as usize, s[1] as usize, 2.0f64.sqrt()));
        let mut all: Vec<_> = hidden.enumerate().collect();
        let last = all.len() - 1;
        all[last].1.2 = f64::from(0.01f32);
        all.push((last + 2, (sizes[1] as usize, 7, 1.0)));
        for (i, (input, units, gain)) in all {
            let (w, b) = read(&net, &params, i, input * units, units);
            assert!(error(&w, units, input, gain) < 2e-6);
            assert!(b.iter().all(|b| *b == 0.0));
        }
        assert_eq!(params[net.params_of(last + 1).unwrap()], [-0.5; 3]);
        assert_eq!(started(&net, 3), params);
    }
}
