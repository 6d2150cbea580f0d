//! Losses of autoencoders, against their formulas in f64 and their slopes.

use rlcore::error::Kind;
use rlcore::kernels::autoencoder::{Latent, Reconstruction, Target, reconstruction};
use rlcore::rng::Rng;

const ROWS: usize = 3;
const LEN: usize = 21;

fn random(rng: &mut Rng, len: usize, low: f64, high: f64) -> Vec<f32> {
    (0..len).map(|_| rng.uniform_in(low, high) as f32).collect()
}

fn wide(x: &[f32]) -> Vec<f64> {
    x.iter().map(|x| f64::from(*x)).collect()
}

fn slope(x: &[f64], i: usize, f: impl Fn(&[f64]) -> f64) -> f64 {
    let at = |h: f64| {
        let mut x = x.to_vec();
        x[i] += h;
        f(&x)
    };
    (at(1e-5) - at(-1e-5)) / 2e-5
}

#[track_caller]
fn near(got: f32, want: f64, tolerance: f64) {
    assert!((f64::from(got) - want).abs() <= tolerance * want.abs().max(1.0), "{got}, not {want}");
}

/// Half the squared error, or the cross-entropy of a probability written out.
fn twin(loss: Reconstruction, out: &[f64], target: &[f64]) -> f64 {
    let of = |x: f64, t: f64| match loss {
        Reconstruction::Squared => 0.5 * (x - t).powi(2),
        Reconstruction::Binary => {
            let p = 1.0 / (1.0 + (-x).exp());
            -t * p.ln() - (1.0 - t) * (1.0 - p).ln()
        }
    };
    out.iter().zip(target).map(|(x, t)| of(*x, *t)).sum::<f64>() / ROWS as f64
}

#[test]
fn reconstructions_are_the_formula_and_gradients_its_slopes() {
    let mut rng = Rng::seeded(2);
    let out = random(&mut rng, LEN, -4.0, 4.0);
    let bytes: Vec<u8> = (0..LEN).map(|i| (i * 53 % 256) as u8).collect();
    let target: Vec<f32> = bytes.iter().map(|x| f32::from(*x) / 255.0).collect();
    for loss in [Reconstruction::Squared, Reconstruction::Binary] {
        assert_eq!(Reconstruction::from_number(loss as u32), Some(loss));
        let (mut d, mut other) = (vec![f32::NAN; LEN], vec![f32::NAN; LEN]);
        let got = reconstruction(loss, ROWS, &out, Target::F32(&target), &mut d).unwrap();
        let (x, t) = (wide(&out), wide(&target));
        near(got, twin(loss, &x, &t), 1e-6);
        for (i, d) in d.iter().enumerate() {
            near(*d, slope(&x, i, |x| twin(loss, x, &t)), 2e-6);
        }
        let same = reconstruction(loss, ROWS, &out, Target::U8(&bytes), &mut other).unwrap();
        assert!(got.to_bits() == same.to_bits() && d == other);
    }
    assert_eq!(Reconstruction::from_number(2), None);
    // Far logits keep a finite loss.
    let mut d = [0.0; 2];
    let loss = reconstruction(Reconstruction::Binary, 1, &[300.0, -300.0], Target::F32(&[0.0, 1.0]), &mut d).unwrap();
    assert!(loss == 600.0 && d == [1.0, -1.0]);
}

fn kl(mean: &[f64], log_std: &[f64]) -> f64 {
    let of = |(mean, log_std): (&f64, &f64)| {
        let variance = (2.0 * log_std).exp();
        0.5 * (mean * mean + variance - 1.0 - variance.ln())
    };
    mean.iter().zip(log_std).map(of).sum::<f64>() / ROWS as f64
}

#[test]
fn codes_are_drawn_and_their_gradients_are_slopes() {
    let mut rng = Rng::seeded(3);
    let (mean, log_std) = (random(&mut rng, LEN, -2.0, 2.0), random(&mut rng, LEN, -2.0, 1.0));
    let mut normal = vec![0.0; LEN];
    rng.fill_normal(&mut normal);
    let d_z = random(&mut rng, LEN, -1.0, 1.0);
    let codes = Latent { num_rows: ROWS, mean: &mean, log_std: &log_std, normal: &normal };
    let mut z = vec![f32::NAN; LEN];
    codes.sample(&mut z).unwrap();
    let draw = |mean: &[f64], log_std: &[f64]| -> Vec<f64> {
        mean.iter().zip(log_std).zip(&normal).map(|((m, s), n)| m + s.exp() * f64::from(*n)).collect()
    };
    let (m, s) = (wide(&mean), wide(&log_std));
    z.iter().zip(draw(&m, &s)).for_each(|(got, want)| near(*got, want, 1e-6));
    for coef in [0.0, 1.0, 4.0] {
        let [mut d_mean, mut d_log_std] = [const { [f32::NAN; LEN] }; 2];
        near(codes.loss(&d_z, coef, &mut d_mean, &mut d_log_std).unwrap(), kl(&m, &s), 1e-6);
        let loss = |m: &[f64], s: &[f64]| {
            let own: f64 = draw(m, s).iter().zip(&d_z).map(|(z, d)| z * f64::from(*d)).sum();
            own + f64::from(coef) * kl(m, s)
        };
        for i in 0..LEN {
            near(d_mean[i], slope(&m, i, |m| loss(m, &s)), 2e-6);
            near(d_log_std[i], slope(&s, i, |s| loss(&m, s)), 2e-6);
        }
    }
}

#[test]
fn numbers_that_cannot_be_are_refused_and_outputs_stay() {
    let mut d = [7.0; 4];
    let mut refused = |loss, rows, out: &[f32], target: Target<'_>| {
        let error = reconstruction(loss, rows, out, target, &mut d).unwrap_err();
        assert_eq!(d, [7.0; 4]);
        error.kind
    };
    let (squared, binary, x) = (Reconstruction::Squared, Reconstruction::Binary, [0.5; 4]);
    let nan = [0.0, 0.0, 0.0, f32::NAN];
    assert_eq!(refused(squared, 0, &x, Target::F32(&x)), Kind::Shape);
    assert_eq!(refused(squared, 2, &x[1..], Target::F32(&x)), Kind::Shape);
    assert_eq!(refused(squared, 2, &x, Target::F32(&x[1..])), Kind::Shape);
    assert_eq!(refused(squared, 2, &x, Target::U8(&[0; 3])), Kind::Shape);
    assert_eq!(refused(squared, 2, &nan, Target::F32(&x)), Kind::Value);
    assert_eq!(refused(squared, 2, &x, Target::F32(&nan)), Kind::Value);
    assert_eq!(refused(binary, 2, &x, Target::F32(&[0.0, 1.0, 0.5, 1.5])), Kind::Range);
    assert_eq!(refused(binary, 2, &x, Target::F32(&[0.0, -0.1, 0.5, 0.5])), Kind::Range);

    let whole = Latent { num_rows: 2, mean: &x, log_std: &x, normal: &x };
    for (kind, codes) in [
        (Kind::Shape, Latent { num_rows: 0, ..whole }),
        (Kind::Shape, Latent { log_std: &x[1..], ..whole }),
        (Kind::Shape, Latent { normal: &x[1..], ..whole }),
        (Kind::Value, Latent { mean: &nan, ..whole }),
        (Kind::Value, Latent { log_std: &nan, ..whole }),
        (Kind::Value, Latent { normal: &nan, ..whole }),
        (Kind::Range, Latent { log_std: &[0.0, -41.0, 0.0, 0.0], ..whole }),
    ] {
        let [mut a, mut b] = [[7.0; 4]; 2];
        assert_eq!(codes.sample(&mut a).unwrap_err().kind, kind);
        assert_eq!(codes.loss(&x, 1.0, &mut a, &mut b).unwrap_err().kind, kind);
        assert!(a == [7.0; 4] && b == [7.0; 4]);
    }
    // The ends of what is allowed are.
    let ends = Latent { log_std: &[0.0, -40.0, 40.0, 0.0], ..whole };
    assert!(ends.sample(&mut [0.0; 4]).is_ok());
    let [mut a, mut b] = [[7.0; 4]; 2];
    for (kind, d_z, coef) in [(Kind::Value, nan, 1.0), (Kind::Value, x, f32::NAN), (Kind::Range, x, -0.5)] {
        assert_eq!(whole.loss(&d_z, coef, &mut a, &mut b).unwrap_err().kind, kind);
    }
    assert_eq!(whole.loss(&x[1..], 1.0, &mut a, &mut b).unwrap_err().kind, Kind::Shape);
    assert_eq!(whole.loss(&x, 1.0, &mut a[1..], &mut b).unwrap_err().kind, Kind::Shape);
    assert_eq!(whole.loss(&x, 1.0, &mut a, &mut b[1..]).unwrap_err().kind, Kind::Shape);
    assert_eq!(whole.sample(&mut a[1..]).unwrap_err().kind, Kind::Shape);
    assert!(a == [7.0; 4] && b == [7.0; 4]);
}
