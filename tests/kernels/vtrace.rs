//! V-trace against its formula in f64, the specification's vectors, every CPU level, every split and bad input.

use proptest::prelude::*;
use rlcore::error::Kind;
use rlcore::kernels::categorical::{self, Logits};
use rlcore::kernels::gae::{Accumulate, Rollout, gae};
use rlcore::kernels::grid::{Columns, cells};
use rlcore::kernels::vtrace::{
    Outputs, Policies, Rates, VTrace, from_importance_weights, from_importance_weights_range, from_logits,
};
use rlcore::num;
use rlcore::rng::Rng;

use super::checks::{bits, near, same_at_every_level, wide, with};

const NONE: f32 = f32::INFINITY;

/// A batch that owns its arrays.
#[derive(Clone)]
struct Case {
    t: usize,
    n: usize,
    log_rho: Vec<f32>,
    discounts: Vec<f32>,
    reward: Vec<f32>,
    value: Vec<f32>,
    bootstrap: Vec<f32>,
    truncated: Option<Vec<u8>>,
    final_value: Option<Vec<f32>>,
    rates: Rates,
    accumulate: Accumulate,
}

impl Case {
    fn view(&self) -> VTrace<'_> {
        VTrace {
            num_steps: self.t,
            num_envs: self.n,
            discounts: &self.discounts,
            reward: &self.reward,
            value: &self.value,
            bootstrap_value: &self.bootstrap,
            truncated: self.truncated.as_deref(),
            final_value: self.final_value.as_deref(),
            rates: self.rates,
            accumulate: self.accumulate,
        }
    }

    fn columns(&self) -> Columns {
        Columns::all(self.t, self.n).unwrap()
    }

    fn run(&self) -> (Vec<f32>, Vec<f32>) {
        let (mut vs, mut pg) = (vec![f32::NAN; self.t * self.n], vec![f32::NAN; self.t * self.n]);
        from_importance_weights(&self.view(), &self.log_rho, &mut vs, &mut pg).unwrap();
        (vs, pg)
    }

    fn with(&self, rates: Rates) -> Case {
        Case { rates, ..self.clone() }
    }

    /// The formula of the papers, with the targets of the next step, column by column in f64.
    fn twin(&self) -> (Vec<f64>, Vec<f64>) {
        let (t, n) = (self.t, self.n);
        let [clip_rho, clip_c, clip_pg_rho, lambda, leak] =
            [self.rates.clip_rho, self.rates.clip_c, self.rates.clip_pg_rho, self.rates.td_lambda, self.rates.leak]
                .map(f64::from);
        let (mut vs, mut pg) = (vec![0.0; t * n], vec![0.0; t * n]);
        for e in 0..n {
            let (mut acc, mut target) = (0.0, f64::from(self.bootstrap[e]));
            for s in (0..t).rev() {
                let i = s * n + e;
                let [r, v, discount] = [self.reward[i], self.value[i], self.discounts[i]].map(f64::from);
                let rho = f64::from(self.log_rho[i]).exp();
                let clip = |x: f64| rho.min(x) + if leak > 0.0 { leak * (rho - rho.min(x)) } else { 0.0 };
                let mut next = f64::from(if s + 1 < t { self.value[i + n] } else { self.bootstrap[e] });
                if self.truncated.as_ref().is_some_and(|x| x[i] != 0) {
                    next = if discount == 0.0 { 0.0 } else { f64::from(self.final_value.as_ref().unwrap()[i]) };
                    (acc, target) = (0.0, next);
                }
                let q = r + discount * (lambda * target + (1.0 - lambda) * next);
                pg[i] = clip(clip_pg_rho) * (q - v);
                acc = clip(clip_rho) * (r + discount * next - v) + discount * lambda * clip(clip_c) * acc;
                target = v + acc;
                vs[i] = target;
            }
        }
        (vs, pg)
    }
}

/// `cut` is the chance that an episode is cut at a step, and the chance that it is finished there.
fn random(seed: u64, t: usize, n: usize, cut: f64) -> Case {
    let mut rng = Rng::seeded(seed);
    let mut draw = |len: usize, to: f64| -> Vec<f32> { (0..len).map(|_| rng.uniform_in(-to, to) as f32).collect() };
    let (log_rho, reward, value) = (draw(t * n, 1.5), draw(t * n, 2.0), draw(t * n, 2.0));
    let (bootstrap, final_value) = (draw(n, 2.0), draw(t * n, 2.0));
    let mut chance =
        |yes: f32, no: f32| -> Vec<f32> { (0..t * n).map(|_| if rng.uniform() < cut { yes } else { no }).collect() };
    let (discounts, truncated) = (chance(0.0, 0.97), chance(255.0, 0.0).into_iter().map(|x| x as u8).collect());
    Case {
        t,
        n,
        log_rho,
        discounts,
        reward,
        value,
        bootstrap,
        truncated: (cut > 0.0).then_some(truncated),
        final_value: (cut > 0.0).then_some(final_value),
        rates: Rates::default(),
        accumulate: Accumulate::F32,
    }
}

/// Sizes on both sides of every choice of the kernel: groups of sixteen and a remainder.
const SHAPES: [(usize, usize); 12] =
    [(1, 1), (2, 1), (1, 16), (5, 3), (80, 8), (33, 15), (20, 17), (9, 31), (80, 32), (3, 64), (7, 1_024), (5, 1_045)];

/// Wide rows, processed one after another, in one stripe and several, whole and partial.
const WIDE: [(usize, usize); 7] = [(5, 1_023), (5, 1_030), (4, 2_048), (4, 2_060), (3, 4_096), (3, 4_110), (2, 65_600)];

fn rates() -> [Rates; 5] {
    let one = Rates::default();
    [
        one,
        Rates { clip_rho: NONE, clip_c: NONE, clip_pg_rho: NONE, ..one },
        Rates { clip_rho: 0.7, clip_c: 1.3, clip_pg_rho: 2.2, td_lambda: 0.9, ..one },
        Rates { clip_rho: 1.1, td_lambda: 0.0, ..one },
        Rates { clip_rho: 0.8, clip_c: 0.9, clip_pg_rho: 1.5, td_lambda: 0.95, leak: 0.2 },
    ]
}

#[test]
fn equals_the_formula_in_f64() {
    for (i, (t, n)) in SHAPES.into_iter().enumerate() {
        for (k, rates) in rates().into_iter().enumerate() {
            for cut in [0.0, 0.1, 1.0] {
                let mut case = random(i as u64, t, n, cut).with(rates);
                let (mut single, mut double) = (8e-6, 3e-6);
                if rates.clip_c == NONE {
                    // Without a ceiling, products of ratios grow fast, and their rounding errors with them.
                    case.log_rho.iter_mut().for_each(|x| *x *= 0.1);
                    (single, double) = (3e-5, 1e-5);
                }
                let (vs, pg) = case.twin();
                let got = case.run();
                near(&got.0, &vs, single, &format!("vs {t}x{n}, rates {k}, {cut}"));
                near(&got.1, &pg, single, &format!("pg_advantage {t}x{n}, rates {k}, {cut}"));
                case.accumulate = Accumulate::F64;
                let got = case.run();
                near(&got.0, &vs, double, &format!("vs in f64 {t}x{n}, rates {k}, {cut}"));
                near(&got.1, &pg, double, &format!("pg_advantage in f64 {t}x{n}, rates {k}, {cut}"));
            }
        }
    }
}

#[test]
fn wide_rows_equal_the_formula_however_they_are_walked() {
    for (i, (t, n)) in WIDE.into_iter().enumerate() {
        let mut case = random(i as u64, t, n, 0.1).with(rates()[[2, 4][i % 2]]);
        let twin = case.twin();
        for (accumulate, tolerance) in [(Accumulate::F32, 8e-6), (Accumulate::F64, 3e-6)] {
            case.accumulate = accumulate;
            let (vs, pg) = case.run();
            near(&vs, &twin.0, tolerance, &format!("vs {t}x{n}"));
            near(&pg, &twin.1, tolerance, &format!("pg_advantage {t}x{n}"));
            // If the outputs overwrite the log-ratios, no element may be processed twice.
            let (mut place, mut other) = (case.log_rho.clone(), vec![f32::NAN; t * n]);
            for (begin, end) in [(1_000, n), (0, 1_000)] {
                let place = Some(cells(&mut place));
                let out =
                    Outputs { vs: place, pg_advantage: Some(cells(&mut other)), log_rho: place, ..Outputs::default() };
                let columns = Columns::new(t, n, begin, end).unwrap();
                from_importance_weights_range(&case.view(), None, columns, &out).unwrap();
            }
            assert_eq!((bits(&place), bits(&other)), (bits(&vs), bits(&pg)), "{t}x{n} in place");
        }
        // The first and the last number of the last environment, which do not affect the environments before it.
        for at in [n - 1, t * n - 1] {
            let columns = Columns::new(t, n, 0, n - 1).unwrap();
            let arrays: [fn(&mut Case) -> &mut [f32]; 5] = [
                |c| &mut c.log_rho,
                |c| &mut c.reward,
                |c| &mut c.value,
                |c| &mut c.discounts,
                |c| c.final_value.as_mut().unwrap(),
            ];
            for array in arrays {
                let mut bad = case.clone();
                (bad.truncated.as_mut().unwrap()[at], bad.discounts[at]) = (1, 0.5);
                array(&mut bad)[at] = f32::NAN;
                assert_eq!(fails(&bad, (t * n, t * n)).0, Kind::Value, "{t}x{n}, {at}");
                from_importance_weights_range(&bad.view(), Some(&bad.log_rho), columns, &Outputs::default()).unwrap();
            }
        }
    }
}

#[test]
fn f64_sums_lose_less_over_long_rollouts() {
    let mut case = random(1, 4_000, 3, 0.0);
    case.log_rho.fill(0.0);
    case.discounts.fill(1.0);
    case.reward.iter_mut().for_each(|x| *x += 3.0);
    let want = case.twin().0;
    let worst = |got: Vec<f32>| got.iter().zip(&want).map(|(g, w)| (f64::from(*g) - w).abs()).fold(0.0, f64::max);
    let single = worst(case.run().0);
    case.accumulate = Accumulate::F64;
    let double = worst(case.run().0);
    // Sums reach 12,000, where neighboring f32 are 1e-3 apart.
    assert!(double < 5e-4 && single > 4.0 * double, "{double} {single}");
}

/// The specification's base case: one environment.
fn base(log_rho: &[f32], clip_rho: f32, clip_pg_rho: f32) -> Case {
    Case {
        t: 4,
        n: 1,
        log_rho: log_rho.to_vec(),
        discounts: vec![0.9; 4],
        reward: vec![1.0, 0.0, -1.0, 2.0],
        value: vec![0.5, -0.2, 0.1, 0.4],
        bootstrap: vec![0.3],
        truncated: None,
        final_value: None,
        rates: Rates { clip_rho, clip_pg_rho, ..Rates::default() },
        accumulate: Accumulate::F32,
    }
}

#[test]
fn vectors_v1_to_v9_and_v11() {
    let v2 = [0.5, -0.5, 1.2, -2.0];
    let nan = f32::NAN;
    let one = |c: &mut Case| {
        (c.t, c.log_rho, c.discounts) = (1, vec![0.3], vec![0.99]);
        (c.reward, c.value, c.bootstrap) = (vec![1.5], vec![0.25], vec![2.0]);
    };
    let finished = |c: &mut Case| {
        (c.t, c.log_rho, c.discounts) = (2, vec![0.5, -0.5], vec![0.0; 2]);
        (c.reward, c.value, c.bootstrap) = (vec![1.0, 2.0], vec![0.5, -0.2], vec![7.0]);
    };
    let two_by_two = |c: &mut Case| {
        (c.t, c.n, c.log_rho, c.discounts) = (2, 2, vec![0.1, -0.3, 0.7, 0.0], vec![0.9, 0.9, 0.0, 0.9]);
        (c.reward, c.value) = (vec![1.0, 0.0, 2.0, -1.0], vec![0.5, 0.2, 0.1, 0.4]);
        c.bootstrap = vec![0.3, -0.6];
    };
    let cut = |c: &mut Case| {
        (c.truncated, c.final_value) = (Some(vec![0, 1, 0, 0]), Some(vec![nan, 0.8, nan, nan]));
    };
    let own = base(&v2, 1.0, 1.0);
    let cases = [
        ("V1", base(&[0.0; 4], 1.0, 1.0)),
        ("V2", own.clone()),
        ("V3", with(&own, |c| c.discounts[1] = 0.0)),
        ("V4", base(&v2, NONE, NONE)),
        ("V5", base(&[0.5, -0.5, 1.2, 2.0], 3.7, 2.2)),
        ("V6", with(&own, one)),
        ("V7", base(&v2, 0.5, NONE)),
        ("V8", with(&own, finished)),
        ("V9", with(&own, two_by_two)),
        ("V11", with(&own, cut)),
    ];
    let targets: [&[f64]; 10] = [
        &[1.84483, 0.9387, 1.043, 2.27],
        &[0.7266507574, -0.3037213806, -0.4122307183, 0.6530769797],
        &[0.9291755187, -0.0786938681, -0.4122307183, 0.6530769797],
        &[0.0907526686, -1.2409312644, -2.1291172411, 0.6530769797],
        &[3.0381628635, 2.0339689521, 3.8702134772, 7.319],
        &[3.48],
        &[0.720623494, -0.1326405623, -0.0422307183, 0.6530769797],
        &[1.0, 1.1343674514],
        &[2.8, -0.974937698, 2.0, -1.54],
        &[1.3222073862, 0.3580082069, -0.4122307183, 0.6530769797],
    ];
    let advantages: [&[f64]; 10] = [
        &[1.34483, 1.1387, 0.943, 1.87],
        &[0.2266507574, -0.1037213806, -0.5122307183, 0.2530769797],
        &[0.4291755187, 0.1213061319, -0.5122307183, 0.2530769797],
        &[-1.0169941587, -1.0409312644, -1.7006658762, 0.2530769797],
        &[3.8424637231, 2.2339689521, 12.07162, 4.114],
        &[3.23],
        &[0.6275420506, 0.098253329, -1.7006658762, 0.2530769797],
        &[0.5, 1.3343674514],
        &[2.3, -1.174937698, 1.9, -1.94],
        &[0.8222073862, 0.5580082069, -0.5122307183, 0.2530769797],
    ];
    for (((name, mut case), vs), pg) in cases.into_iter().zip(targets).zip(advantages) {
        for accumulate in [Accumulate::F32, Accumulate::F64] {
            case.accumulate = accumulate;
            let got = case.run();
            near(&got.0, vs, 2e-6, name);
            near(&got.1, pg, 2e-6, name);
        }
    }
}

#[test]
fn vectors_with_lambda_and_with_a_leak() {
    // From an independent program of the formulas of Zahavy et al. 2020: alpha is 1 - leak.
    let v2 = [0.5, -0.5, 1.2, -2.0];
    let half = Rates { td_lambda: 0.5, ..Rates::default() };
    let got = base(&v2, 1.0, 1.0).with(half).run();
    near(&got.0, &[0.8222512233, -0.1949972815, -0.5261153592, 0.6530769797], 2e-6, "vs");
    near(&got.1, &[0.3222512233, 0.0050027185, -0.6261153592, 0.2530769797], 2e-6, "pg_advantage");
    let leaky = Rates { clip_pg_rho: 2.0, td_lambda: 0.8, leak: 0.25, ..Rates::default() };
    let got = base(&v2, 1.0, 1.0).with(leaky).run();
    near(&got.0, &[0.6970307101, -0.4089786051, -0.7813159324, 0.6530769797], 2e-6, "vs");
    near(&got.1, &[0.2795166273, -0.2089786051, -1.2996543634, 0.2530769797], 2e-6, "pg_advantage");
}

#[test]
fn vector_v10_from_logits() {
    let v = VTrace {
        num_steps: 2,
        num_envs: 1,
        discounts: &[0.9; 2],
        reward: &[1.0, -0.5],
        value: &[0.2, 0.6],
        bootstrap_value: &[0.4],
        truncated: None,
        final_value: None,
        rates: Rates::default(),
        accumulate: Accumulate::F32,
    };
    let policies = Policies {
        num_actions: 3,
        behavior_logits: &[1.0, 0.0, -1.0, 0.0, 0.0, 0.0],
        target_logits: &[0.5, 0.5, -2.0, 2.0, -1.0, 0.0],
        action: &[0, 2],
    };
    let mut results = [[f32::NAN; 2]; 5];
    let [vs, pg, log_rho, behavior, target] = results.each_mut().map(|x| Some(cells(x)));
    let out = Outputs { vs, pg_advantage: pg, log_rho, behavior_log_prob: behavior, target_log_prob: target };
    from_logits(&v, &policies, Columns::all(2, 1).unwrap(), &out).unwrap();
    let want = [
        [1.0027199856, 0.3464866574],
        [0.8027199856, -0.2535133426],
        [-0.3257638304, -1.0712337309],
        [-0.4076059644, -1.0986122887],
        [-0.7333697948, -2.1698460196],
    ];
    for (got, want) in results.iter().zip(&want) {
        near(got, want, 1e-6, "V10");
    }
}

#[test]
fn on_policy_it_is_the_n_step_return_and_generalised_advantages() {
    for (t, n) in SHAPES {
        let mut case = random(3, t, n, 0.0);
        case.log_rho.fill(0.0);
        let (vs, pg) = case.run();
        let mut returns: Vec<f64> = case.reward.iter().map(|x| f64::from(*x)).collect();
        for i in (0..t * n).rev() {
            let later = if i + n < t * n { returns[i + n] } else { f64::from(case.bootstrap[i % n]) };
            returns[i] += f64::from(case.discounts[i]) * later;
        }
        near(&vs, &returns, 2e-5, "n-step returns");
        let gained = |vs: &[f32]| vs.iter().zip(&case.value).map(|(vs, v)| f64::from(vs - v)).collect::<Vec<_>>();
        near(&pg, &gained(&vs), 1e-5, "pg_advantage is what the target adds");

        let mut case = random(4, t, n, 0.2).with(Rates { td_lambda: 0.9, ..Rates::default() });
        case.log_rho.fill(0.0);
        let terminated: Vec<u8> = case.discounts.iter().map(|x| u8::from(*x == 0.0)).collect();
        let rollout = Rollout {
            num_steps: t,
            num_envs: n,
            reward: &case.reward,
            value: &case.value,
            bootstrap_value: &case.bootstrap,
            terminated: &terminated,
            truncated: case.truncated.as_deref().unwrap(),
            final_value: case.final_value.as_deref(),
            accumulate: Accumulate::F32,
        };
        let (mut advantage, mut target) = (vec![0.0; t * n], vec![0.0; t * n]);
        gae(&rollout, 0.97, 0.9, &mut advantage, &mut target).unwrap();
        let (vs, pg) = case.run();
        near(&pg, &wide(&advantage), 1e-5, "GAE");
        near(&vs, &wide(&target), 1e-5, "GAE's targets");
    }
}

#[test]
fn a_ceiling_above_every_ratio_is_none() {
    let case = random(5, 40, 37, 0.1);
    let top = case.log_rho.iter().fold(0.0f32, |top, x| top.max(*x)).exp() * 1.000_001;
    let clipped = |x: f32| case.with(Rates { clip_rho: x, clip_c: x, clip_pg_rho: x, ..Rates::default() }).run();
    assert_eq!(clipped(top), clipped(NONE));
    assert_ne!(clipped(top * 0.9), clipped(NONE));
}

#[test]
fn far_ratios_stay_finite_under_ceilings() {
    for far in [50.0, 88.0, 100.0, 1e30, f32::MAX] {
        for leak in [0.0, 0.1] {
            let mut case = random(6, 30, 19, 0.1).with(Rates { leak, ..Rates::default() });
            for (i, x) in case.log_rho.iter_mut().enumerate() {
                *x = if i % 3 == 0 { far } else { -far };
            }
            let (vs, pg) = case.run();
            if leak == 0.0 {
                assert!(vs.iter().chain(&pg).all(|x| x.is_finite()), "{far}");
                near(&vs, &case.twin().0, 8e-6, "vs");
            }
            // e^-50 is negligible: such a step keeps its value.
            let still = (0..case.log_rho.len()).filter(|i| i % 3 != 0);
            assert!(still.map(|i| (vs[i] - case.value[i]).abs()).all(|x| x < 1e-5 || leak > 0.0));
        }
    }
    // Without ceilings a ratio saturates at the end of the f32 range.
    let one = |x: f32| {
        let rates = Rates { clip_rho: NONE, ..Rates::default() };
        Case { t: 1, log_rho: vec![x], bootstrap: vec![0.0], ..base(&[], 1.0, 1.0) }.with(rates).cut_to(1).run().0[0]
    };
    assert_eq!(one(88.0), one(1e9));
    assert!(one(88.0).is_finite() && one(87.9) < one(88.0));
    assert_eq!(one(-1e9), 0.5);
}

impl Case {
    /// The first `t` steps.
    fn cut_to(&self, t: usize) -> Case {
        let first = |x: &[f32]| x[..t * self.n].to_vec();
        Case {
            t,
            log_rho: first(&self.log_rho),
            discounts: first(&self.discounts),
            reward: first(&self.reward),
            value: first(&self.value),
            ..self.clone()
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn targets_scale_with_rewards_and_values(seed in 0u64..1_000, t in 1usize..20, n in 1usize..40, power in -3i32..4) {
        // By powers of two, exactly.
        let scale = 2f32.powi(power);
        let case = random(seed, t, n, 0.1).with(Rates { td_lambda: 0.9, ..Rates::default() });
        let mut scaled = case.clone();
        let finals = scaled.final_value.as_mut().unwrap();
        for x in scaled.reward.iter_mut().chain(&mut scaled.value).chain(&mut scaled.bootstrap).chain(finals) {
            *x *= scale;
        }
        let ((vs, pg), (scaled_vs, scaled_pg)) = (case.run(), scaled.run());
        let by = |x: Vec<f32>| x.into_iter().map(|x| x * scale).collect::<Vec<_>>();
        prop_assert_eq!(by(vs), scaled_vs);
        prop_assert_eq!(by(pg), scaled_pg);
    }

    #[test]
    fn an_end_hides_what_comes_after_it(seed in 0u64..1_000, t in 2usize..20, n in 1usize..40, cut in any::<bool>()) {
        let mut case = random(seed, t, n, 0.1);
        let at = seed as usize % (t - 1);
        for i in at * n..(at + 1) * n {
            case.discounts[i] = if cut { 0.9 } else { 0.0 };
            case.truncated.as_mut().unwrap()[i] = u8::from(cut);
        }
        let (vs, pg) = case.run();
        for i in (at + 1) * n..t * n {
            (case.reward[i], case.value[i], case.log_rho[i]) = (9.0, -9.0, 1.0);
        }
        let again = case.run();
        prop_assert_eq!(&vs[..(at + 1) * n], &again.0[..(at + 1) * n]);
        prop_assert_eq!(&pg[..(at + 1) * n], &again.1[..(at + 1) * n]);
    }
}

/// `[0, n)` in `parts` parts of uneven width.
fn split(n: usize, parts: usize) -> Vec<(usize, usize)> {
    (0..parts).map(|k| (n * k * k / (parts * parts), n * (k + 1) * (k + 1) / (parts * parts))).collect()
}

/// Logits and actions for a case.
#[derive(Clone)]
struct Acts {
    a: usize,
    behavior: Vec<f32>,
    target: Vec<f32>,
    action: Vec<i32>,
}

impl Acts {
    fn random(seed: u64, len: usize, a: usize, to: f64) -> Acts {
        let mut rng = Rng::seeded(seed);
        let mut draw = || (0..len * a).map(|_| rng.uniform_in(-to, to) as f32).collect();
        let (behavior, target) = (draw(), draw());
        let action = (0..len).map(|_| (rng.next_u64() % a as u64) as i32).collect();
        Acts { a, behavior, target, action }
    }

    fn view(&self) -> Policies<'_> {
        Policies {
            num_actions: self.a,
            behavior_logits: &self.behavior,
            target_logits: &self.target,
            action: &self.action,
        }
    }

    fn twin(&self, logits: &[f32]) -> Vec<f64> {
        let rows = logits.chunks(self.a).zip(&self.action);
        rows.map(|(row, action)| {
            let x = |j: usize| f64::from(row[j]);
            let max = (0..self.a).map(x).fold(f64::NEG_INFINITY, f64::max);
            x(*action as usize) - max - (0..self.a).map(|j| (x(j) - max).exp()).sum::<f64>().ln()
        })
        .collect()
    }
}

/// Log-probabilities of actions that are not improbable, to the bit: one pass over the logits, without a search for the largest.
fn in_one_pass(acts: &Acts) -> Vec<f32> {
    let rows = acts.target.chunks(acts.a).zip(&acts.action);
    rows.map(|(row, action)| {
        let power = |x: &f32| num::exp2_normal((x - row[*action as usize]) * std::f32::consts::LOG2_E);
        -num::ln(row.iter().map(power).fold(0.0, |sum, power| sum + power))
    })
    .collect()
}

/// vs, pg_advantage, log_rho and both log-probabilities, computed in these parts.
fn all_of(case: &Case, acts: &Acts, parts: &[(usize, usize)]) -> [Vec<f32>; 5] {
    let mut results = [(); 5].map(|()| vec![f32::NAN; case.t * case.n]);
    let [vs, pg, log_rho, behavior, target] = results.each_mut().map(|x| Some(cells(x)));
    let out = Outputs { vs, pg_advantage: pg, log_rho, behavior_log_prob: behavior, target_log_prob: target };
    for (begin, end) in parts {
        let columns = Columns::new(case.t, case.n, *begin, *end).unwrap();
        from_logits(&case.view(), &acts.view(), columns, &out).unwrap();
    }
    results
}

#[test]
fn from_logits_equals_its_formula() {
    for (i, a) in [1, 2, 3, 4, 6, 17, 18, 31, 32, 33, 100].into_iter().enumerate() {
        for (t, n) in [(1, 1), (4, 5), (3, 16), (6, 37)] {
            let mut case = random(i as u64, t, n, 0.1).with(rates()[2]);
            let acts = Acts::random(i as u64, t * n, a, 4.0);
            let [vs, pg, log_rho, behavior, target] = all_of(&case, &acts, &[(0, n)]);
            near(&behavior, &acts.twin(&acts.behavior), 1e-6, "behavior_log_prob");
            near(&target, &acts.twin(&acts.target), 1e-6, "target_log_prob");
            assert_eq!(bits(&target), bits(&in_one_pass(&acts)));
            let differences: Vec<f32> = target.iter().zip(&behavior).map(|(t, b)| t - b).collect();
            assert_eq!(bits(&log_rho), bits(&differences));
            case.log_rho = log_rho;
            assert_eq!((bits(&vs), bits(&pg)), (bits(&case.run().0), bits(&case.run().1)));
            // The kernel for one policy agrees.
            let mut alone = vec![0.0; t * n];
            let batch = Logits { num_rows: t * n, n: &[a as u32], logits: &acts.target, mask: None };
            categorical::log_prob(&batch, &acts.action, &mut alone).unwrap();
            near(&target, &wide(&alone), 1e-6, "log_prob");
        }
    }
}

#[test]
fn improbable_actions_have_finite_log_probabilities() {
    for (far, want) in [(79.0, -79.0), (81.0, -81.0), (87.9, -87.9), (89.0, -89.0), (1e6, -1e6), (3e38, -1.7e38)] {
        let mut case = random(1, 2, 20, 0.0);
        let mut acts = Acts::random(2, 40, 3, 1.0);
        let ordinary = all_of(&case, &acts, &[(0, 20)]);
        acts.target[3 * 7..3 * 8].copy_from_slice(&[-far / 2.0, far / 2.0, -far]);
        acts.target[3 * 9..3 * 10].copy_from_slice(&[far, far, -far]);
        (acts.action[7], acts.action[9]) = (0, 1);
        let [vs, pg, log_rho, _, target] = all_of(&case, &acts, &[(0, 20)]);
        assert!((target[7] - want).abs() <= 1e-6 * far + if far > 1e37 { 1e37 } else { 0.0 }, "{} {want}", target[7]);
        assert!((target[9] + 2f32.ln()).abs() < 1e-6 * far.min(1.0), "{}", target[9]);
        assert!(vs.iter().chain(&pg).chain(&log_rho).all(|x| x.is_finite()));
        // The other rows of the sixteen are unaffected.
        for i in (0..40).filter(|i| *i != 7 && *i != 9) {
            assert_eq!(target[i].to_bits(), ordinary[4][i].to_bits());
        }
        case.log_rho = log_rho;
        assert_eq!(vs, case.run().0);
    }
}

#[test]
fn improbable_actions_are_alike_alone_and_among_others() {
    // Actions around the border beyond which the largest logit is searched for: all sixteen of a group, beside one beyond the
    // border, and each as the only one of its batch.
    let (t, n, a) = (1, 4_096, 3);
    let (case, mut acts) = (random(1, t, n, 0.0), Acts::random(2, n, a, 1.0));
    for (i, row) in acts.target.chunks_mut(a).enumerate() {
        let first = acts.action[i] as usize;
        let other = row[(first + 1) % a];
        let border = f64::from(other).cosh().ln() + 2f64.ln() - 80.0 + 4e-6 * ((i % 16) as f64 - 8.0);
        row[first] = if i % 256 < 16 || i % 16 == 3 { -95.0 } else { border as f32 };
        row[(first + 2) % a] = -other;
    }
    let [_, _, log_rho, _, target] = all_of(&case, &acts, &[(0, n)]);
    near(&target, &acts.twin(&acts.target), 1e-6, "target_log_prob");
    assert!(log_rho.iter().all(|x| x.is_finite()));
    let one = random(1, t, 1, 0.0);
    for (i, among) in target.iter().enumerate() {
        let row = i * a..(i + 1) * a;
        let (behavior, target_logits) = (acts.behavior[row.clone()].to_vec(), acts.target[row].to_vec());
        let alone = Acts { a, behavior, target: target_logits, action: vec![acts.action[i]] };
        assert_eq!(all_of(&one, &alone, &[(0, 1)])[4][0].to_bits(), among.to_bits(), "{i}: {among}");
    }
}

#[test]
fn splits_and_environments_do_not_know_each_other() {
    for (t, n) in [(20, 77), (9, 1_045), (80, 8)] {
        let case = random(7, t, n, 0.1);
        let acts = Acts::random(8, t * n, 5, 2.0);
        let (vs, pg) = case.run();
        let whole = all_of(&case, &acts, &[(0, n)]);
        for parts in [1, 2, 3, 7] {
            let (mut a, mut b) = (vec![f32::NAN; t * n], vec![f32::NAN; t * n]);
            let out = Outputs { vs: Some(cells(&mut a)), pg_advantage: Some(cells(&mut b)), ..Outputs::default() };
            for (begin, end) in split(n, parts) {
                let columns = Columns::new(t, n, begin, end).unwrap();
                from_importance_weights_range(&case.view(), Some(&case.log_rho), columns, &out).unwrap();
            }
            assert_eq!((bits(&a), bits(&b)), (bits(&vs), bits(&pg)), "{parts} parts of {t}x{n}");
            let in_parts = all_of(&case, &acts, &split(n, parts));
            assert!(whole.iter().zip(&in_parts).all(|(x, y)| bits(x) == bits(y)), "{parts} parts of {t}x{n}");
        }
        // A range writes nothing else, and bad numbers outside of it do not matter.
        let mut bad = case.clone();
        for row in bad.log_rho.chunks_mut(n).chain(bad.reward.chunks_mut(n)).chain(bad.discounts.chunks_mut(n)) {
            (row[0], row[5]) = (f32::NAN, f32::NAN);
        }
        let mut a = vec![f32::NAN; t * n];
        let out = Outputs { vs: Some(cells(&mut a)), ..Outputs::default() };
        let columns = Columns::new(t, n, 1, 5).unwrap();
        from_importance_weights_range(&bad.view(), Some(&bad.log_rho), columns, &out).unwrap();
        for (i, (a, vs)) in a.iter().zip(&vs).enumerate() {
            let inside = (1..5).contains(&(i % n));
            assert_eq!(a.to_bits(), if inside { vs.to_bits() } else { f32::NAN.to_bits() });
        }
    }
}

#[test]
fn outputs_may_be_skipped_and_log_ratios_overwritten() {
    for (t, n) in [(6, 5), (12, 37)] {
        let case = random(9, t, n, 0.1);
        let acts = Acts::random(10, t * n, 4, 2.0);
        let (vs, pg) = case.run();
        let mut place = case.log_rho.clone();
        let mut other = vec![f32::NAN; t * n];
        {
            let place = Some(cells(&mut place));
            let out =
                Outputs { vs: Some(cells(&mut other)), pg_advantage: place, log_rho: place, ..Outputs::default() };
            from_importance_weights_range(&case.view(), None, case.columns(), &out).unwrap();
        }
        assert_eq!((bits(&other), bits(&place)), (bits(&vs), bits(&pg)), "in place of pg_advantage");
        let whole = all_of(&case, &acts, &[(0, n)]);
        for wanted in 0..32 {
            let mut results = [(); 5].map(|()| vec![f32::NAN; t * n]);
            let mut k = 0;
            let [vs, pg_advantage, log_rho, behavior_log_prob, target_log_prob] = results.each_mut().map(|x| {
                k += 1;
                (wanted >> (k - 1) & 1 != 0).then(|| cells(x))
            });
            let out = Outputs { vs, pg_advantage, log_rho, behavior_log_prob, target_log_prob };
            from_logits(&case.view(), &acts.view(), case.columns(), &out).unwrap();
            for (k, (got, want)) in results.iter().zip(&whole).enumerate() {
                let untouched = vec![f32::NAN; t * n];
                let want = if wanted >> k & 1 != 0 { want } else { &untouched };
                assert_eq!(bits(got), bits(want), "outputs {wanted:#b}, number {k}");
            }
        }
    }
}

#[test]
fn every_cpu_level_gives_the_same_bytes() {
    for (t, n) in SHAPES {
        for rates in rates() {
            let mut case = random(5, t, n, 0.1).with(rates);
            let acts = Acts::random(6, t * n, 18, 3.0);
            for accumulate in [Accumulate::F32, Accumulate::F64] {
                case.accumulate = accumulate;
                same_at_every_level(&format!("{t}x{n}"), || {
                    let (vs, pg) = case.run();
                    let logits = if t * n < 3_000 { all_of(&case, &acts, &[(0, n)]).concat() } else { vec![] };
                    bits(&[vs, pg, logits].concat())
                });
            }
        }
    }
}

#[test]
fn numbers_that_are_not_read_do_not_matter() {
    let mut case = random(2, 6, 20, 0.3);
    let want = case.run();
    let (truncated, finals) = (case.truncated.clone().unwrap(), case.final_value.as_mut().unwrap());
    for i in 0..120 {
        if truncated[i] == 0 || case.discounts[i] == 0.0 {
            finals[i] = [f32::NAN, f32::INFINITY][i % 2];
        }
    }
    assert_eq!(case.run(), want);
    // Where every cut step is also finished, no final value is needed.
    for (discount, cut) in case.discounts.iter_mut().zip(&truncated) {
        *discount = if *cut != 0 { 0.0 } else { *discount };
    }
    let want = case.run();
    case.final_value = None;
    assert_eq!(case.run(), want);
    case.truncated = Some(vec![0; 120]);
    let without = Case { truncated: None, ..case.clone() };
    assert_eq!(case.run(), without.run());
}

#[test]
fn the_largest_numbers_are_finite() {
    // Rows of at least 64 numbers take the fast check; with discounts of 0, the results are finite, too.
    let mut case = random(3, 2, 300, 0.0);
    case.discounts.fill(0.0);
    case.log_rho.fill(0.0);
    case.value.fill(0.0);
    case.reward.fill(f32::MAX);
    assert_eq!(case.run(), (case.reward.clone(), case.reward.clone()));
    case.value.fill(f32::MIN);
    case.reward.fill(0.0);
    assert_eq!(case.run(), (case.reward.clone(), vec![f32::MAX; 600]));
}

/// The error of a call that has written nothing.
fn fails(case: &Case, len: (usize, usize)) -> (Kind, String) {
    let (mut vs, mut pg) = (vec![7.0; len.0], vec![8.0; len.1]);
    let error = from_importance_weights(&case.view(), &case.log_rho, &mut vs, &mut pg).unwrap_err();
    assert!(vs.iter().all(|x| *x == 7.0) && pg.iter().all(|x| *x == 8.0));
    (error.kind, error.to_string())
}

fn fails_from_logits(case: &Case, acts: &Acts) -> (Kind, String) {
    let mut results = [(); 5].map(|()| vec![7.0; case.t.min(10) * case.n.min(1_000)]);
    let [vs, pg_advantage, log_rho, behavior_log_prob, target_log_prob] = results.each_mut().map(|x| Some(cells(x)));
    let out = Outputs { vs, pg_advantage, log_rho, behavior_log_prob, target_log_prob };
    let error = from_logits(&case.view(), &acts.view(), case.columns(), &out).unwrap_err();
    assert!(results.concat().iter().all(|x| *x == 7.0));
    (error.kind, error.to_string())
}

const FULL: (usize, usize) = (126, 126);

/// Both functions report shared errors in the same words: of a changed case, and of one whose log-ratios come from logits.
#[track_caller]
fn both(change: impl FnOnce(&mut Case), kind: Kind, text: &str) {
    let case = with(&random(4, 6, 21, 0.2), change);
    assert_eq!(fails(&case, FULL), (kind, format!("vtrace: {text}")));
    assert_eq!(fails_from_logits(&case, &Acts::random(4, 126, 3, 1.0)), (kind, format!("vtrace: {text}")));
}

#[test]
fn bad_numbers_are_named_and_outputs_stay() {
    let good = random(4, 6, 21, 0.2);
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        for at in [0, 15, 16, 77, 125] {
            let text = format!("vtrace: a finite log_rho, given {bad}");
            let case = with(&good, |c| c.log_rho[at] = bad);
            assert_eq!(fails(&case, FULL), (Kind::Value, text.clone()));
            let mut place = case.log_rho.clone();
            let out = Outputs { log_rho: Some(cells(&mut place)), ..Outputs::default() };
            let error = from_importance_weights_range(&case.view(), None, case.columns(), &out).unwrap_err();
            assert_eq!(error.to_string(), text);
            both(|c| c.reward[at] = bad, Kind::Value, &format!("a finite reward, given {bad}"));
            both(|c| c.value[at] = bad, Kind::Value, &format!("a finite value, given {bad}"));
            both(|c| c.discounts[at] = bad, Kind::Value, &format!("discounts from 0 to 1, given {bad}"));
            let cut = |c: &mut Case| {
                (c.discounts[at], c.truncated.as_mut().unwrap()[at]) = (0.5, 1);
                c.final_value.as_mut().unwrap()[at] = bad;
            };
            both(cut, Kind::Value, &format!("a finite final_value where truncated, given {bad}"));
        }
        both(|c| c.bootstrap[20] = bad, Kind::Value, &format!("a finite bootstrap_value, given {bad}"));
    }
    // One of two cuts is bad, and nothing else is truncated.
    let second_of_two = |c: &mut Case| {
        let flags = c.truncated.as_mut().unwrap();
        flags.fill(0);
        (flags[3], flags[11], c.discounts[3], c.discounts[11]) = (1, 1, 0.5, 0.5);
        c.final_value.as_mut().unwrap()[11] = f32::NAN;
    };
    both(second_of_two, Kind::Value, "a finite final_value where truncated, given NaN");
}

#[test]
fn bad_rates_are_named_and_outputs_stay() {
    for (bad, text) in [(1.000_1, "1.0001"), (-1e-9, "-0.000000001"), (2.0, "2")] {
        both(|c| c.discounts[99] = bad, Kind::Range, &format!("discounts from 0 to 1, given {text}"));
    }
    // The same if all discounts are bad.
    for (bad, text) in [(-0.5, "-0.5"), (1.5, "1.5"), (f32::MAX, "340282350000000000000000000000000000000")] {
        for first in [0, 125] {
            let uncut = |c: &mut Case| {
                (c.truncated, c.final_value) = (None, None);
                c.discounts.fill(0.5);
                c.bootstrap.fill(0.5);
                c.discounts[first..].fill(bad);
            };
            both(uncut, Kind::Range, &format!("discounts from 0 to 1, given {text}"));
        }
    }
    type Set = fn(&mut Rates) -> &mut f32;
    let ceilings: [(&str, Set); 3] =
        [("clip_rho", |r| &mut r.clip_rho), ("clip_c", |r| &mut r.clip_c), ("clip_pg_rho", |r| &mut r.clip_pg_rho)];
    for (name, field) in ceilings {
        for (bad, kind) in [(f32::NAN, Kind::Value), (0.0, Kind::Range), (-1.0, Kind::Range)] {
            both(|c| *field(&mut c.rates) = bad, kind, &format!("{name} above 0, given {bad}"));
        }
    }
    let shares: [(&str, Set); 2] = [("td_lambda", |r| &mut r.td_lambda), ("leak", |r| &mut r.leak)];
    let (value, range) = (Kind::Value, Kind::Range);
    for (name, field) in shares {
        for (bad, kind) in [(f32::NAN, value), (f32::INFINITY, value), (1.5, range), (-0.5, range)] {
            both(|c| *field(&mut c.rates) = bad, kind, &format!("{name} from 0 to 1, given {bad}"));
        }
    }
}

#[test]
fn arrays_of_another_length_are_refused_and_outputs_stay() {
    let good = random(4, 6, 21, 0.2);
    // Wrong lengths and missing arrays are reported before bad values.
    let short = |c: &mut Case| {
        c.log_rho.pop();
        c.reward[3] = f32::NAN;
    };
    assert_eq!(fails(&with(&good, short), FULL).0, Kind::Shape);
    both(|c| c.final_value = None, Kind::Null, "final_value is NULL, but a step is truncated");
    for step in [-1isize, 1] {
        let other = 126usize.wrapping_add_signed(step);
        let edits: [&dyn Fn(&mut Case); 7] = [
            &|c| c.log_rho.resize(other, 0.0),
            &|c| c.discounts.resize(other, 0.0),
            &|c| c.reward.resize(other, 0.0),
            &|c| c.value.resize(other, 0.0),
            &|c| c.bootstrap.resize(21usize.wrapping_add_signed(step), 0.0),
            &|c| c.truncated.as_mut().unwrap().resize(other, 0),
            &|c| c.final_value.as_mut().unwrap().resize(other, 0.0),
        ];
        for edit in edits {
            assert_eq!(fails(&with(&good, edit), FULL).0, Kind::Shape);
        }
        assert_eq!(fails(&good, (other, 126)).0, Kind::Shape);
        assert_eq!(fails(&good, (126, other)).0, Kind::Shape);
    }
    for (t, n, kind) in [(0, 1, Kind::Shape), (1, 0, Kind::Shape), (usize::MAX, 2, Kind::Overflow)] {
        assert_eq!(fails(&Case { t, n, ..good.clone() }, FULL).0, kind);
    }
    // Columns of another batch, and missing log-ratios.
    let (out, columns) = (Outputs::default(), Columns::all(6, 20).unwrap());
    let error = from_importance_weights_range(&good.view(), Some(&good.log_rho), columns, &out).unwrap_err();
    assert_eq!(error.kind, Kind::Shape);
    let error = from_importance_weights_range(&good.view(), None, good.columns(), &out).unwrap_err();
    assert_eq!(error.kind, Kind::Null);
}

#[test]
fn bad_logits_and_actions_are_named_and_outputs_stay() {
    let case = random(4, 6, 21, 0.2);
    let good = Acts::random(4, 126, 3, 1.0);
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        for at in [0, 31, 200, 377] {
            let text = format!("vtrace: finite behavior_logits, given {bad}");
            assert_eq!(fails_from_logits(&case, &with(&good, |a| a.behavior[at] = bad)), (Kind::Value, text));
            let text = format!("vtrace: finite target_logits, given {bad}");
            assert_eq!(fails_from_logits(&case, &with(&good, |a| a.target[at] = bad)), (Kind::Value, text));
        }
    }
    for (at, bad) in [(0, -1), (17, 3), (125, i32::MAX), (60, i32::MIN)] {
        let text = format!("vtrace: an action from 0 to below 3, given {bad}");
        assert_eq!(fails_from_logits(&case, &with(&good, |a| a.action[at] = bad)), (Kind::Range, text));
    }
    for step in [-1isize, 1] {
        let other = |len: usize| len.wrapping_add_signed(step);
        let edits: [&dyn Fn(&mut Acts); 3] =
            [&|a| a.behavior.resize(other(378), 0.0), &|a| a.target.resize(other(378), 0.0), &|a| {
                a.action.resize(other(126), 0)
            }];
        for edit in edits {
            assert_eq!(fails_from_logits(&case, &with(&good, edit)).0, Kind::Shape);
        }
    }
    for (a, kind) in [(0, Kind::Shape), (usize::MAX, Kind::Shape)] {
        assert_eq!(fails_from_logits(&case, &Acts { a, ..good.clone() }).0, kind);
    }
    // An i32 can name that many actions, but there are not enough logits.
    let one = random(4, 1, 1, 0.0);
    let acts = |a| Acts { a, behavior: vec![0.0], target: vec![0.0], action: vec![0] };
    let text = |a| fails_from_logits(&one, &acts(a)).1;
    assert_eq!(text(0x7fff_ffff), "vtrace: behavior_logits [T, N, A] of length 2147483647, given 1");
    assert_eq!(text(0x8000_0000), "vtrace: num_actions from 1 to 2^31 - 1, given 2147483648");
}
