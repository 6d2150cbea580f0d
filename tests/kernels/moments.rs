//! Moments, discounted sums and normalization against their formulas in f64, the specification's vectors, every CPU level and bad
//! input.

use rlcore::data::normalizer::{Limits, Moments, RewardScale, normalise, scale_rewards};
use rlcore::data::step::{Ends, Rewrite};
use rlcore::error::Kind;
use rlcore::kernels::moments::{
    Moment, columns, explained_variance, mean_std, merge, merge_columns, of, of_kept, standardise, sum_of_squares,
    update,
};
use rlcore::kernels::returns::{bootstrapped_sum, discounted_sum, discounted_sum_in_place, forward};
use rlcore::num;
use rlcore::rng::Rng;

use super::checks::{kind, same_at_every_level};

fn draw(seed: u64, len: usize, low: f64, high: f64) -> Vec<f32> {
    let mut rng = Rng::seeded(seed);
    (0..len).map(|_| rng.uniform_in(low, high) as f32).collect()
}

fn close(got: f64, want: f64, tolerance: f64) -> bool {
    (got - want).abs() <= tolerance * want.abs().max(1.0)
}

/// Mean and variance in two passes.
fn twin(x: impl Iterator<Item = f64> + Clone) -> Moment {
    let n = x.clone().count() as f64;
    let mean = x.clone().sum::<f64>() / n;
    Moment { mean, var: x.map(|x| (x - mean).powi(2)).sum::<f64>() / n }
}

fn column(x: &[f32], width: usize, j: usize) -> impl Iterator<Item = f64> + Clone {
    x.iter().skip(j).step_by(width).map(|x| f64::from(*x))
}

const BAD: [f32; 3] = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY];

/// Rows and columns on both sides of every kernel width.
const SHAPES: [(usize, usize); 12] =
    [(1, 1), (2, 1), (64, 3), (5, 4), (7, 7), (4, 8), (100, 15), (9, 16), (3, 17), (64, 31), (33, 33), (4, 400)];

#[test]
fn column_moments_equal_two_passes() {
    for (n, width) in SHAPES {
        // Far from 0, where sums of squares would drown the variance.
        for offset in [0.0, 1000.0, -1e6] {
            let x = draw(1, n * width, offset - 3.0, offset + 3.0);
            let (mut mean, mut var) = (vec![f64::NAN; width], vec![f64::NAN; width]);
            columns(&x, n, &mut mean, &mut var).unwrap();
            for j in 0..width {
                let want = twin(column(&x, width, j));
                assert!(close(mean[j], want.mean, 1e-14), "{n}x{width}: mean {}, {}", mean[j], want.mean);
                assert!(close(var[j], want.var, 1e-9), "{n}x{width}: var {}, {}", var[j], want.var);
            }
        }
    }
}

#[test]
fn an_outlier_in_the_first_row_costs_no_precision() {
    let mut x = draw(2, 4096, -1.0, 1.0);
    x[0] = 1e8;
    let (mut mean, mut var) = ([0.0], [0.0]);
    columns(&x, 4096, &mut mean, &mut var).unwrap();
    let want = twin(column(&x, 1, 0));
    assert!((var[0] - want.var).abs() < 1e-10 * want.var);
}

#[test]
fn running_moments_follow_the_table() {
    let (mut mean, mut var, mut count) = ([0.0], [1.0], 1e-4);
    let table: [(&[f32], f64, f64, f64); 3] = [
        (&[1.0, 2.0, 3.0, 4.0], 2.499937501562461, 1.250149992344039, 4.0001),
        (&[10.0], 3.999920001599968, 10.000139990800312, 5.0001),
        (&[-1.0, -1.0], 2.571391837259468, 12.244831778021682, 7.0001),
    ];
    for (batch, m, v, c) in table {
        update(batch, batch.len(), &mut mean, &mut var, &mut count).unwrap();
        assert!(close(mean[0], m, 1e-15) && close(var[0], v, 1e-15) && close(count, c, 1e-15), "{mean:?} {var:?}");
    }
    let all = merge(Moment { mean: 1.0, var: 4.0 }, 10.0, Moment { mean: 3.0, var: 2.0 }, 5.0);
    assert_eq!(all, Moment { mean: 1.6666666666666665, var: 4.222222222222222 });
    let all = merge(Moment { mean: 0.0, var: 1.0 }, 1e-4, Moment { mean: 5.0, var: 0.0 }, 1.0);
    assert_eq!(all, Moment { mean: 4.999500049995, var: 0.0025994900759899013 });
}

#[test]
fn an_update_is_a_merge_of_column_moments() {
    for (n, width) in SHAPES {
        let (mut mean, mut var, mut count) = (vec![0.0; width], vec![1.0; width], 1e-4);
        let (mut batch_mean, mut batch_var) = (mean.clone(), var.clone());
        for seed in 0..4 {
            let x = draw(seed, n * width, -2.0, 5.0);
            columns(&x, n, &mut batch_mean, &mut batch_var).unwrap();
            let want: Vec<Moment> = (0..width)
                .map(|j| {
                    let batch = Moment { mean: batch_mean[j], var: batch_var[j] };
                    merge(Moment { mean: mean[j], var: var[j] }, count, batch, n as f64)
                })
                .collect();
            update(&x, n, &mut mean, &mut var, &mut count).unwrap();
            for (j, want) in want.into_iter().enumerate() {
                assert_eq!(Moment { mean: mean[j], var: var[j] }, want);
            }
        }
        assert!(close(count, 4.0 * n as f64 + 1e-4, 1e-15));
    }
}

#[test]
fn merged_moments_follow_the_formula_and_numpys_numbers() {
    // numpy: mean and var of three rows, of two, and of all five; no initial count.
    let (a, b) = ([[0.5, -2.0], [1.25, 4.0], [3.0, 0.5]], [[-1.0, 8.0], [2.5, 3.25]]);
    let batch = |rows: &[[f32; 2]]| {
        let (mut mean, mut var) = ([0.0; 2], [0.0; 2]);
        columns(rows.as_flattened(), rows.len(), &mut mean, &mut var).unwrap();
        (mean, var)
    };
    let ((mut mean, mut var), with) = (batch(&a), batch(&b));
    let mut count = 3.0;
    merge_columns((&with.0, &with.1), 2.0, &mut mean, &mut var, &mut count).unwrap();
    for (got, want) in mean.iter().chain(&var).zip([1.25, 2.75, 2.05, 11.4]) {
        assert!(close(*got, want, 1e-15), "{got} is not {want}");
    }
    assert_eq!(count, 5.0);
    // The specification's two merges.
    for ((m, v, c), (bm, bv, n), want) in [
        ((1.0, 4.0, 10.0), (3.0, 2.0, 5.0), (1.6666666666666665, 4.222222222222222, 15.0)),
        ((0.0, 1.0, 1e-4), (5.0, 0.0, 1.0), (4.999500049995, 0.0025994900759899013, 1.0001)),
    ] {
        let (mut mean, mut var, mut count) = ([m], [v], c);
        merge_columns((&[bm], &[bv]), n, &mut mean, &mut var, &mut count).unwrap();
        assert_eq!((mean[0], var[0], count), want);
    }
    // The existing moments may be empty.
    let (mut mean, mut var, mut count) = ([7.0; 2], [7.0; 2], 0.0);
    merge_columns((&with.0, &with.1), 2.0, &mut mean, &mut var, &mut count).unwrap();
    assert_eq!((mean, var, count), (with.0, with.1, 2.0));

    let good = ([1.0], [1.0], 1.0);
    type Moments = ([f64; 1], [f64; 1], f64);
    let bad: [(Moments, Kind); 9] = [
        (([f64::NAN], good.1, 1.0), Kind::Value),
        (([f64::INFINITY], good.1, 1.0), Kind::Value),
        (([1e61], good.1, 1.0), Kind::Value),
        ((good.0, [f64::NAN], 1.0), Kind::Value),
        ((good.0, [1e121], 1.0), Kind::Value),
        ((good.0, [-1e-9], 1.0), Kind::Range),
        ((good.0, good.1, f64::NAN), Kind::Value),
        ((good.0, good.1, -1.0), Kind::Range),
        ((good.0, good.1, 1e20), Kind::Range),
    ];
    for ((m, v, n), want) in bad {
        let (mut mean, mut var, mut count) = good;
        let refused = merge_columns((&m, &v), n, &mut mean, &mut var, &mut count);
        assert_eq!((kind(refused), (mean, var, count)), (Some(want), good));
        let (mut mean, mut var, mut count) = (m, v, n);
        assert_eq!(kind(merge_columns((&good.0, &good.1), 1.0, &mut mean, &mut var, &mut count)), Some(want));
    }
    let (mut mean, mut var, mut count) = ([1.0], [1.0], 0.0);
    let nothing = merge_columns((&[1.0], &[1.0]), 0.0, &mut mean, &mut var, &mut count);
    assert_eq!(kind(nothing), Some(Kind::Range));
    assert_eq!(kind(merge_columns((&[1.0; 2], &[1.0]), 1.0, &mut mean, &mut var, &mut count)), Some(Kind::Shape));
    assert_eq!(kind(merge_columns((&[1.0], &[]), 1.0, &mut mean, &mut var, &mut count)), Some(Kind::Shape));
}

#[test]
fn moments_of_kept_numbers_leave_the_others_out() {
    let mut rng = Rng::seeded(11);
    for len in [1usize, 2, 15, 16, 17, 40, 333] {
        let x: Vec<f64> = (0..len).map(|_| rng.uniform_in(90.0, 110.0)).collect();
        assert_eq!(of_kept(&x, &vec![3; len]), (of(&x), len));
        assert_eq!(of_kept(&x, &vec![0; len]), (Moment { mean: 0.0, var: 0.0 }, 0));
        let keep: Vec<u8> = (0..len).map(|i| u8::from(i % 3 != 0)).collect();
        let kept: Vec<f64> = x.iter().zip(&keep).filter(|(_, k)| **k != 0).map(|(x, _)| *x).collect();
        let (got, n) = of_kept(&x, &keep);
        assert_eq!(n, kept.len());
        if n > 0 {
            let want = twin(kept.into_iter());
            assert!(close(got.mean, want.mean, 1e-14) && close(got.var, want.var, 1e-11));
        }
    }
}

#[test]
fn sums_over_slices_equal_their_formulas() {
    for len in [1, 2, 3, 15, 16, 17, 31, 32, 33, 1000] {
        let x = draw(len as u64, len, 90.0, 110.0);
        let wide: Vec<f64> = x.iter().map(|x| f64::from(*x)).collect();
        let want = twin(wide.iter().copied());
        assert!(close(of(&wide).mean, want.mean, 1e-14) && close(of(&wide).var, want.var, 1e-11));
        let (mean, std) = mean_std(&x).unwrap();
        let unbiased = if len > 1 { (want.var * len as f64 / (len - 1) as f64).sqrt() } else { 0.0 };
        assert!(close(mean, want.mean, 1e-14) && close(std, unbiased, 1e-12), "{len}: {mean} {std}");
        assert!(close(sum_of_squares(&x).unwrap(), wide.iter().map(|x| x * x).sum(), 1e-14));

        let mut scaled = x.clone();
        standardise(&mut scaled, 1e-7).unwrap();
        for (got, x) in scaled.iter().zip(&wide) {
            let want = if len > 1 { (x - want.mean) / (unbiased + 1e-7) } else { *x };
            assert!(close(f64::from(*got), want, 2e-7), "{len}: {got} is not {want}");
        }
    }
    assert_eq!((of(&[]), mean_std(&[]).unwrap()), (Moment { mean: 0.0, var: 0.0 }, (0.0, 0.0)));
    // Squares so small that they vanish, while nine of them together do not: the variance is 0, and not -0.
    let small = f64::from_bits(0x1e54_3d13_6248_490f);
    assert_eq!(small * small, 0.0);
    assert!(-(9.0 * small) * (0.9 * small) < 0.0);
    assert_eq!(of(&[[0.0].as_slice(), &[small; 9]].concat()).var.to_bits(), 0);
    assert_eq!(sum_of_squares(&[3.0, 4.0]).unwrap(), 25.0);
    assert_eq!(sum_of_squares(&[]).unwrap(), 0.0);
}

#[test]
fn standardised_advantages_of_the_specification() {
    let mut x = [1.0, -0.5, 2.0, 0.3];
    standardise(&mut x, 1e-7).unwrap();
    for (got, want) in x.iter().zip([0.2826334052, -1.1305336209, 1.224744756, -0.3768445403]) {
        assert!(close(f64::from(*got), want, 1e-7), "{got}");
    }
    let mut same = [4.0; 20];
    standardise(&mut same, 1e-8).unwrap();
    assert_eq!(same, [0.0; 20]);
    let mut same = [4.0; 20];
    standardise(&mut same, 0.0).unwrap();
    assert_eq!(same, [0.0; 20]);
}

#[test]
fn explained_variance_equals_its_formula() {
    for len in [2, 16, 33, 500] {
        let (target, noise) = (draw(1, len, -5.0, 9.0), draw(2, len, -1.0, 1.0));
        let value: Vec<f32> = target.iter().zip(&noise).map(|(t, n)| t * 0.9 + n).collect();
        let rest = twin(target.iter().zip(&value).map(|(t, v)| f64::from(*t) - f64::from(*v)));
        let want = 1.0 - rest.var / twin(target.iter().map(|x| f64::from(*x))).var;
        assert!(close(explained_variance(&value, &target).unwrap(), want, 1e-12));
        assert_eq!(explained_variance(&target, &target).unwrap(), 1.0);
        assert_eq!(explained_variance(&vec![3.0; len], &target).unwrap(), 0.0);
        assert_eq!(explained_variance(&target, &vec![3.0; len]).unwrap(), 0.0);
    }
    assert_eq!(explained_variance(&[], &[]).unwrap(), 0.0);
}

#[test]
fn discounted_sums_follow_the_table_and_the_formula() {
    let mut out = [0.0; 3];
    let near = |got: &[f32], want: &[f64]| {
        assert_eq!(got.len(), want.len());
        assert!(got.iter().zip(want).all(|(g, w)| close(f64::from(*g), *w, 2e-6)), "{got:?} is not {want:?}");
    };
    discounted_sum(&[1.0, 2.0, 3.0], 0.5, 3, 1, &mut out).unwrap();
    let mut x = [1.0, 2.0, 3.0];
    discounted_sum_in_place(&mut x, 0.5, 3, 1).unwrap();
    assert_eq!(x, out);
    assert_eq!(kind(discounted_sum_in_place(&mut x, 0.5, 2, 1)), Some(Kind::Shape));
    x[1] = f32::NAN;
    assert_eq!(kind(discounted_sum_in_place(&mut x, 0.5, 3, 1)), Some(Kind::Value));
    assert_eq!((x[0], x[2]), (2.75, 3.0));
    near(&out, &[2.75, 3.5, 3.0]);
    let x = [1.0, 0.0, -1.0];
    let table = [
        (0.99, 0.4, [0.4080196, -0.59796, -0.604]),
        (0.99, 0.0, [0.0199, -0.99, -1.0]),
        (1.0, 0.4, [0.4, -0.6, -0.6]),
        (0.0, 0.4, [1.0, 0.0, -1.0]),
    ];
    for (discount, bootstrap, want) in table {
        bootstrapped_sum(&x, &[bootstrap], discount, 3, 1, &mut out).unwrap();
        near(&out, &want);
    }
    bootstrapped_sum(&[2.0], &[0.4], 0.9, 1, 1, &mut out[..1]).unwrap();
    near(&out[..1], &[2.36]);

    for (t, n) in [(1, 1), (1, 20), (30, 1), (12, 16), (7, 37), (3, 4_200), (3, 8_230)] {
        let (x, after) = (draw(1, t * n, -2.0, 2.0), draw(2, n, -2.0, 2.0));
        let mut out = vec![f32::NAN; t * n];
        for bootstrapped in [false, true] {
            match bootstrapped {
                true => bootstrapped_sum(&x, &after, 0.9, t, n, &mut out).unwrap(),
                false => discounted_sum(&x, 0.9, t, n, &mut out).unwrap(),
            }
            for e in 0..n {
                let mut y = if bootstrapped { f64::from(after[e]) } else { 0.0 };
                for s in (0..t).rev() {
                    y = f64::from(x[s * n + e]) + f64::from(0.9f32) * y;
                    assert!(close(f64::from(out[s * n + e]), y, 2e-6));
                }
            }
        }
        let mut place = x;
        discounted_sum_in_place(&mut place, 0.9, t, n).unwrap();
        discounted_sum(&draw(1, t * n, -2.0, 2.0), 0.9, t, n, &mut out).unwrap();
        assert_eq!(place, out);
    }
}

#[test]
fn forward_returns_run_until_the_episode_ends() {
    let (mut running, mut out) = ([0.0; 3], [0.0; 3]);
    forward(&[1.0, 2.0, 3.0], &[0, 1, 0], &[0, 0, 9], 0.5, &mut running, &mut out).unwrap();
    assert_eq!((running, out), ([1.0, 0.0, 0.0], [1.0, 2.0, 3.0]));
    forward(&[1.0; 3], &[0; 3], &[0; 3], 0.5, &mut running, &mut out).unwrap();
    assert_eq!((running, out), ([1.5, 1.0, 1.0], [1.5, 1.0, 1.0]));
}

/// The whole state of a normalized vectorized environment.
struct Normalizer {
    mean: [f64; 2],
    var: [f64; 2],
    count: f64,
    running: [f64; 2],
    ret: (f64, f64, f64),
}

impl Normalizer {
    fn new() -> Self {
        let mut n = Normalizer { mean: [9.0; 2], var: [9.0; 2], count: 9.0, running: [9.0; 2], ret: (9.0, 9.0, 9.0) };
        n.moments().reset();
        n.rewards().reset();
        n
    }

    fn moments(&mut self) -> Moments<'_> {
        Moments { mean: &mut self.mean, var: &mut self.var, count: &mut self.count }
    }

    fn rewards(&mut self) -> RewardScale<'_> {
        let (mean, var, count) = (&mut self.ret.0, &mut self.ret.1, &mut self.ret.2);
        RewardScale { running: &mut self.running, mean, var, count }
    }

    fn observe(&mut self, obs: [f32; 4]) -> [f32; 4] {
        let mut out = [f32::NAN; 4];
        self.moments().update(&obs).unwrap();
        normalise(&self.mean, &self.var, Limits::default(), Rewrite::apart(&obs, &mut out)).unwrap();
        out
    }
}

#[test]
fn a_normalised_run_follows_the_trace() {
    let mut n = Normalizer::new();
    let near = |got: &[f32], want: &[f64]| {
        for (g, w) in got.iter().zip(want) {
            assert!(close(f64::from(*g), *w, 2e-7), "{got:?} is not {want:?}");
        }
    };
    near(&n.observe([1.0, 10.0, 3.0, 30.0]), &[-0.999800035, -0.9998247797, 1.000000005, 1.0000247547]);
    type Step = ([f32; 4], [f32; 2], [u8; 2], [f64; 4], [f64; 2], [f64; 2], (f64, f64, f64));
    #[rustfmt::skip]
    let trace: [Step; 3] = [
        ([2.0, 20.0, 4.0, 10.0], [1.0, 0.0], [0, 0], [-0.4471308677, 0.3015510324, 1.341616191, -0.9044420537],
         [1.9998000025, 0.0], [1.0, 0.0], (0.49997500124993743, 0.2500499968751874, 2.0001)),
        ([0.0, 5.0, 1.0, 100.0], [0.5, -2.0], [1, 0], [-1.3643432458, -0.7387350101, -0.6201436177, 2.1653162021],
         [0.3737176106, -1.4948704422], [0.0, -2.0], (0.12249693757656055, 1.7899993751624925, 4.0001)),
        ([5.0, 5.0, 6.0, -7.0], [3.0, 1.0], [0, 1], [1.1339024168, -0.530454878, 1.6378513473, -0.9133458274],
         [1.8296803588, 0.6098934529], [3.0, 0.0], (0.41832636122731287, 2.6883886657421456, 6.0001)),
    ];
    for (i, (obs, reward, ended, obs_out, reward_out, running, ret)) in trace.into_iter().enumerate() {
        near(&n.observe(obs), &obs_out);
        let mut out = [f32::NAN; 2];
        // Either flag ends an episode.
        let (terminated, truncated) = if i == 1 { (ended, [0; 2]) } else { ([0; 2], ended) };
        let ends = Ends { terminated: &terminated, truncated: &truncated, valid: None };
        n.rewards().step(Rewrite::apart(&reward, &mut out), ends, 0.99, Limits::default()).unwrap();
        near(&out, &reward_out);
        assert_eq!(n.running, running);
        assert!(close(n.ret.0, ret.0, 1e-15) && close(n.ret.1, ret.1, 1e-15) && close(n.ret.2, ret.2, 1e-15));
        let mut again = [f32::NAN; 2];
        scale_rewards(n.ret.1, Limits::default(), Rewrite::apart(&reward, &mut again)).unwrap();
        assert_eq!(again, out);
    }
    for j in 0..2 {
        assert!(close(n.mean[j], [2.7499656254, 21.6247296909][j], 1e-10));
        assert!(close(n.var[j], [3.9375578106, 982.2279550853][j], 1e-10));
    }
    assert!(close(n.count, 8.0001, 1e-15));
}

/// Rows that were only reset have no reward: a step of such rows only leaves the moments as they are, to the last bit.
/// Multiplying by a count and dividing by it again would often change them.
#[test]
fn a_step_of_resets_alone_adds_no_returns() {
    let rng = &mut Rng::seeded(6);
    for _ in 0..100 {
        let (mean, var, count) = (rng.uniform(), 1.8 + 0.2 * rng.uniform(), 1.0 + 9.0 * rng.uniform());
        let mut n = Normalizer { running: [3.0; 2], ret: (mean, var, count), ..Normalizer::new() };
        let ends = Ends { terminated: &[0; 2], truncated: &[0; 2], valid: Some(&[0; 2]) };
        let mut reward = [1.0; 2];
        n.rewards().step(Rewrite::in_place(&mut reward), ends, 0.99, Limits::default()).unwrap();
        assert_eq!((n.ret, n.running), ((mean, var, count), [0.0; 2]));
    }
}

#[test]
fn normalised_columns_equal_the_formula_and_are_clipped() {
    for (n, width) in SHAPES {
        let x = draw(3, n * width, 990.0, 1010.0);
        let mean: Vec<f64> = draw(4, width, 995.0, 1005.0).into_iter().map(f64::from).collect();
        let var: Vec<f64> = draw(5, width, 0.0, 40.0).into_iter().map(f64::from).collect();
        let mut out = vec![f32::NAN; n * width];
        let limits = Limits { clip: 1.5, epsilon: 1e-8 };
        normalise(&mean, &var, limits, Rewrite::apart(&x, &mut out)).unwrap();
        for (i, got) in out.iter().enumerate() {
            let j = i % width;
            let want = ((f64::from(x[i]) - mean[j]) / (var[j] + 1e-8).sqrt()).clamp(-1.5, 1.5);
            assert!(close(f64::from(*got), want, 1e-7), "{got} is not {want}");
        }
    }
    let mut out = [0.0; 2];
    let limits = Limits { clip: 3.0, epsilon: 1e-30 };
    scale_rewards(0.0, limits, Rewrite::apart(&[1e38, -1e-3], &mut out)).unwrap();
    assert_eq!(out, [3.0, -3.0]);
}

#[test]
fn columns_are_normalised_as_if_alone_and_in_place_too() {
    for width in (1..=40).chain([63, 64, 65, 140]) {
        let n = 19;
        let (x, mean) = (draw(3, n * width, -3.0, 4.0), draw(4, width, -1.0, 1.0));
        let mean: Vec<f64> = mean.into_iter().map(f64::from).collect();
        let var: Vec<f64> = draw(5, width, 0.0, 4.0).into_iter().map(f64::from).collect();
        let (mut out, mut here) = (vec![f32::NAN; n * width], x.clone());
        normalise(&mean, &var, Limits::default(), Rewrite::apart(&x, &mut out)).unwrap();
        normalise(&mean, &var, Limits::default(), Rewrite::in_place(&mut here)).unwrap();
        assert_eq!(here, out);
        for c in 0..width {
            let mut column: Vec<f32> = x.iter().skip(c).step_by(width).copied().collect();
            normalise(&mean[c..=c], &var[c..=c], Limits::default(), Rewrite::in_place(&mut column)).unwrap();
            assert!(out.iter().skip(c).step_by(width).eq(&column), "column {c} of {width}");
        }
    }
}

#[test]
fn the_inverse_root_is_within_three_ulp() {
    let mut rng = Rng::seeded(6);
    for _ in 0..20_000 {
        let x = 10f64.powf(rng.uniform_in(-290.0, 290.0));
        let want = 1.0 / x.sqrt();
        let off = (num::inverse_sqrt64(x).to_bits() as i64 - want.to_bits() as i64).abs();
        assert!(off <= 3, "{x}: {off} ulp");
    }
}

#[test]
fn every_cpu_level_gives_the_same_bytes() {
    for (n, width) in SHAPES {
        let (x, y) = (draw(1, n * width, -3.0, 4.0), draw(2, n * width, -3.0, 4.0));
        same_at_every_level("moments", || {
            let (mut mean, mut var, mut count) = (vec![0.1; width], vec![1.3; width], 0.5);
            let (mut out, mut sums, mut scaled) = (x.clone(), x.clone(), x.clone());
            update(&x, n, &mut mean, &mut var, &mut count).unwrap();
            normalise(&mean, &var, Limits::default(), Rewrite::apart(&y, &mut out)).unwrap();
            discounted_sum(&x, 0.97, n, width, &mut sums).unwrap();
            standardise(&mut scaled, 1e-8).unwrap();
            let mut bits: Vec<u64> = [mean, var].concat().into_iter().map(f64::to_bits).collect();
            bits.extend([out, sums, scaled].concat().into_iter().map(|x| u64::from(x.to_bits())));
            let (m, s) = mean_std(&x).unwrap();
            let more = [m, s, explained_variance(&x, &y).unwrap(), sum_of_squares(&x).unwrap()];
            bits.extend(more.map(f64::to_bits));
            bits
        });
    }
}

#[test]
fn bad_input_to_moments_is_refused_and_nothing_is_updated() {
    let x = [1.0f32; 12];
    let run = |x: &[f32], n: usize, lens: (usize, usize)| {
        let (mut mean, mut var, mut count) = (vec![7.0; lens.0], vec![8.0; lens.1], 9.0);
        let kinds = [kind(columns(x, n, &mut mean, &mut var)), kind(update(x, n, &mut mean, &mut var, &mut count))];
        let same = mean.iter().all(|x| *x == 7.0) && var.iter().all(|x| *x == 8.0) && count == 9.0;
        assert_eq!(same, kinds[0].is_some());
        assert_eq!(kinds[0], kinds[1]);
        kinds[0]
    };
    assert_eq!(run(&x, 4, (3, 3)), None);
    assert_eq!(run(&x[1..], 4, (3, 3)), Some(Kind::Shape));
    assert_eq!(run(&x, 3, (3, 3)), Some(Kind::Shape));
    assert_eq!(run(&x, 4, (3, 2)), Some(Kind::Shape));
    assert_eq!(run(&x, 4, (3, 4)), Some(Kind::Shape));
    assert_eq!(run(&x, 4, (0, 0)), Some(Kind::Shape));
    assert_eq!(run(&[], 0, (3, 3)), Some(Kind::Shape));
    assert_eq!(run(&x, usize::MAX, (3, 3)), Some(Kind::Overflow));
    for bad in BAD {
        let mut y = x;
        y[11] = bad;
        assert_eq!(run(&y, 4, (3, 3)), Some(Kind::Value));
        assert_eq!(kind(mean_std(&y)), Some(Kind::Value));
        assert_eq!(kind(sum_of_squares(&y)), Some(Kind::Value));
        assert_eq!(kind(explained_variance(&y, &x)), Some(Kind::Value));
        assert_eq!(kind(explained_variance(&x, &y)), Some(Kind::Value));
        assert_eq!(kind(standardise(&mut y, 1e-8)), Some(Kind::Value));
        assert_eq!(y[..11], x[..11]);

        // The last of so many columns that the first ones are done before it.
        let mut wide = [1.0; 2 * 130];
        wide[259] = bad;
        assert_eq!(run(&wide, 2, (130, 130)), Some(Kind::Value));

        let mut n = Normalizer::new();
        assert_eq!(kind(n.moments().update(&y)), Some(Kind::Value));
        assert_eq!((n.mean, n.var, n.count), ([0.0; 2], [1.0; 2], 1e-4));
    }
    assert_eq!(kind(explained_variance(&x[1..], &x)), Some(Kind::Shape));
    for epsilon in [-1e-9, f64::NAN, f64::INFINITY] {
        assert_eq!(kind(standardise(&mut x.clone(), epsilon)), Some(Kind::Range));
    }
    let mut n = Normalizer::new();
    assert_eq!(kind(n.moments().update(&x[..5])), Some(Kind::Shape));
    assert_eq!(kind(n.moments().update(&[])), Some(Kind::Shape));
}

#[test]
fn bad_input_to_returns_is_refused_and_outputs_stay() {
    let x = [1.0f32; 12];
    let mut out = [7.0; 13];
    assert_eq!(kind(discounted_sum(&x, 0.9, 4, 4, &mut out[..12])), Some(Kind::Shape));
    assert_eq!(kind(discounted_sum(&x, 0.9, 4, 3, &mut out)), Some(Kind::Shape));
    assert_eq!(kind(discounted_sum(&x, 0.9, 0, 3, &mut out[..12])), Some(Kind::Shape));
    assert_eq!(kind(discounted_sum(&x, 0.9, 4, 0, &mut out[..12])), Some(Kind::Shape));
    assert_eq!(kind(discounted_sum(&x, 0.9, usize::MAX, 3, &mut out[..12])), Some(Kind::Overflow));
    assert_eq!(kind(discounted_sum(&x, 1.1, 4, 3, &mut out[..12])), Some(Kind::Range));
    assert_eq!(kind(discounted_sum(&x, f32::NAN, 4, 3, &mut out[..12])), Some(Kind::Value));
    assert_eq!(out, [7.0; 13]);
    assert_eq!(kind(bootstrapped_sum(&x, &x[..2], 0.9, 4, 3, &mut out[..12])), Some(Kind::Shape));
    for bad in BAD {
        let mut y = x;
        y[11] = bad;
        assert_eq!(kind(discounted_sum(&y, 0.9, 4, 3, &mut out[..12])), Some(Kind::Value));
        assert_eq!(kind(bootstrapped_sum(&x, &y[9..], 0.9, 4, 3, &mut out[..12])), Some(Kind::Value));
    }
    out.fill(7.0); // these two check values while computing
    let mut running = [5.0; 3];
    let mut run = |r: &[f32], terminated: &[u8], truncated: &[u8], discount: f32, len: usize| {
        kind(forward(r, terminated, truncated, discount, &mut running, &mut out[..len]))
    };
    assert_eq!(run(&x[..2], &[0; 3], &[0; 3], 0.9, 3), Some(Kind::Shape));
    assert_eq!(run(&x[..3], &[0; 2], &[0; 3], 0.9, 3), Some(Kind::Shape));
    assert_eq!(run(&x[..3], &[0; 3], &[0; 4], 0.9, 3), Some(Kind::Shape));
    assert_eq!(run(&x[..3], &[0; 3], &[0; 3], 0.9, 4), Some(Kind::Shape));
    assert_eq!(run(&x[..3], &[0; 3], &[0; 3], -0.9, 3), Some(Kind::Range));
    assert_eq!(run(&[0.0, 0.0, f32::NAN], &[0; 3], &[0; 3], 0.9, 3), Some(Kind::Value));
    assert_eq!((running, out), ([5.0; 3], [7.0; 13]));
}

#[test]
fn bad_input_to_the_normalizer_is_refused_and_nothing_changes() {
    let x = [1.0f32; 4];
    let mut out = [7.0; 5];
    let good = Limits::default();
    assert_eq!(kind(normalise(&[0.0; 2], &[1.0; 3], good, Rewrite::apart(&x, &mut out[..4]))), Some(Kind::Shape));
    assert_eq!(kind(normalise(&[0.0; 3], &[1.0; 3], good, Rewrite::apart(&x, &mut out[..4]))), Some(Kind::Shape));
    assert_eq!(kind(normalise(&[], &[], good, Rewrite::apart(&x, &mut out[..4]))), Some(Kind::Shape));
    assert_eq!(kind(normalise(&[0.0; 2], &[1.0; 2], good, Rewrite::apart(&x, &mut out))), Some(Kind::Shape));
    assert_eq!(kind(scale_rewards(1.0, good, Rewrite::apart(&x, &mut out))), Some(Kind::Shape));
    let limits = [
        (Limits { clip: 0.0, ..good }, Kind::Range),
        (Limits { clip: -1.0, ..good }, Kind::Range),
        (Limits { clip: f32::NAN, ..good }, Kind::Value),
        (Limits { epsilon: 0.0, ..good }, Kind::Range),
        (Limits { epsilon: f64::NAN, ..good }, Kind::Range),
        (Limits { epsilon: f64::INFINITY, ..good }, Kind::Range),
    ];
    for (bad, want) in limits {
        assert_eq!(kind(normalise(&[0.0; 2], &[1.0; 2], bad, Rewrite::apart(&x, &mut out[..4]))), Some(want));
        assert_eq!(kind(scale_rewards(1.0, bad, Rewrite::apart(&x, &mut out[..4]))), Some(want));
    }
    let mut n = Normalizer::new();
    let mut step = |r: &[f32], terminated: &[u8], truncated: &[u8], discount: f64, len: usize| {
        let ends = Ends { terminated, truncated, valid: None };
        kind(n.rewards().step(Rewrite::apart(r, &mut out[..len]), ends, discount, good))
    };
    assert_eq!(step(&x[..1], &[0; 2], &[0; 2], 0.9, 2), Some(Kind::Shape));
    assert_eq!(step(&x[..2], &[0; 1], &[0; 2], 0.9, 2), Some(Kind::Shape));
    assert_eq!(step(&x[..2], &[0; 2], &[0; 3], 0.9, 2), Some(Kind::Shape));
    assert_eq!(step(&x[..2], &[0; 2], &[0; 2], 0.9, 3), Some(Kind::Shape));
    assert_eq!(step(&x[..2], &[0; 2], &[0; 2], 1.5, 2), Some(Kind::Range));
    assert_eq!(step(&x[..2], &[0; 2], &[0; 2], f64::NAN, 2), Some(Kind::Range));
    for bad in BAD {
        assert_eq!(step(&[1.0, bad], &[0; 2], &[0; 2], 0.9, 2), Some(Kind::Value));
        assert_eq!(
            kind(normalise(&[0.0; 2], &[1.0; 2], good, Rewrite::apart(&[1.0, bad], &mut [7.0; 2]))),
            Some(Kind::Value)
        );
        let mut pair = [7.0; 2];
        assert_eq!(kind(scale_rewards(1.0, good, Rewrite::apart(&[1.0, bad], &mut pair))), Some(Kind::Value));
        assert_eq!(pair, [7.0; 2]);
    }
    assert_eq!((n.running, n.ret, out), ([0.0; 2], (0.0, 1.0, 1e-4), [7.0; 5]));
}
