//! Categorical policies against their formulas in f64, the specification's vectors, every CPU level and bad input.

use rlcore::error::{Kind, Result};
use rlcore::kernels::categorical::{Logits, Sampling, entropy, evaluate, gradient, log_prob, log_softmax, sample};
use rlcore::rng::Rng;

use super::checks::{near, same_at_every_level};

/// A batch that owns its arrays.
#[derive(Clone)]
struct Case {
    rows: usize,
    n: Vec<u32>,
    logits: Vec<f32>,
    mask: Option<Vec<u8>>,
    action: Vec<i32>,
    uniform: Vec<f32>,
}

impl Case {
    fn random(seed: u64, rows: usize, n: &[u32], masked: bool) -> Self {
        let mut rng = Rng::seeded(seed);
        let width: usize = n.iter().map(|n| *n as usize).sum();
        let logits = (0..rows * width).map(|_| rng.uniform_in(-4.0, 4.0) as f32).collect();
        let mut mask: Vec<u8> = (0..rows * width).map(|_| u8::from(rng.coin()) * 255).collect();
        let mut action = vec![];
        let mut begin = 0;
        for _ in 0..rows {
            for n in n {
                let a = (rng.next_u64() % u64::from(*n)) as usize;
                mask[begin + a] = 1;
                action.push(a as i32);
                begin += *n as usize;
            }
        }
        let uniform = action.iter().map(|_| (rng.next_u32() >> 8) as f32 / 16_777_216.0).collect();
        Case { rows, n: n.to_vec(), logits, mask: masked.then_some(mask), action, uniform }
    }

    fn view(&self) -> Logits<'_> {
        Logits { num_rows: self.rows, n: &self.n, logits: &self.logits, mask: self.mask.as_deref() }
    }

    /// Every choice of every row: its row, its action, its uniform number and its columns.
    fn choices(&self) -> Vec<(usize, i32, f32, core::ops::Range<usize>)> {
        let (mut out, mut begin) = (vec![], 0);
        for row in 0..self.rows {
            for (k, n) in self.n.iter().enumerate() {
                let i = row * self.n.len() + k;
                out.push((row, self.action[i], self.uniform[i], begin..begin + *n as usize));
                begin += *n as usize;
            }
        }
        out
    }

    /// log p of each choice in f64.
    fn twin(&self) -> Vec<f64> {
        let mut out = vec![];
        for (_, _, _, range) in self.choices() {
            let logit = |j: usize| match &self.mask {
                Some(mask) if mask[j] == 0 => f64::NEG_INFINITY,
                _ => f64::from(self.logits[j]),
            };
            let max = range.clone().map(logit).fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = range.clone().map(|j| (logit(j) - max).exp()).sum();
            out.extend(range.map(|j| logit(j) - max - sum.ln()));
        }
        out
    }

    /// log-probability and entropy of each row in f64.
    fn twin_rows(&self) -> (Vec<f64>, Vec<f64>) {
        let log_p = self.twin();
        let (mut taken, mut entropy) = (vec![0.0; self.rows], vec![0.0; self.rows]);
        for (row, action, _, range) in self.choices() {
            taken[row] += log_p[range.start + action as usize];
            entropy[row] -= log_p[range].iter().map(|l| if l.is_finite() { l.exp() * l } else { 0.0 }).sum::<f64>();
        }
        (taken, entropy)
    }

    fn twin_gradient(&self, log_prob_grad: &[f32], entropy_grad: &[f32]) -> Vec<f64> {
        let log_p = self.twin();
        let mut grad = vec![0.0; log_p.len()];
        for (row, action, _, range) in self.choices() {
            let part = &log_p[range.clone()];
            let h: f64 = -part.iter().map(|l| if l.is_finite() { l.exp() * l } else { 0.0 }).sum::<f64>();
            for (i, j) in range.zip(0..) {
                let p = log_p[i].exp();
                let taken = if action == j { 1.0 } else { 0.0 };
                let spread = if p > 0.0 { p * (log_p[i] + h) } else { 0.0 };
                grad[i] = f64::from(log_prob_grad[row]) * (taken - p) - f64::from(entropy_grad[row]) * spread;
            }
        }
        grad
    }
}

/// Rows and choices on both sides of every kernel width: whole and partial tiles, short rows, several parts.
#[rustfmt::skip]
const SHAPES: [(usize, &[u32]); 18] = [
    (1, &[2]), (16, &[2]), (33, &[2]), (40, &[3]), (47, &[4]), (5, &[1]), (32, &[5]), (31, &[18]), (17, &[31]),
    (17, &[32]), (18, &[33]), (16, &[100]), (35, &[2, 3]), (33, &[1, 1]), (32, &[1, 2]), (17, &[2, 2]),
    (16, &[3, 1]), (16, &[3, 1, 40, 2]),
];

fn cases() -> impl Iterator<Item = Case> {
    let shapes = SHAPES.into_iter().zip(1..);
    shapes.flat_map(|((rows, n), seed)| [Case::random(seed, rows, n, false), Case::random(seed, rows, n, true)])
}

#[test]
fn equals_the_formulas_in_f64() {
    for case in cases() {
        let what = format!("{} rows of {:?}", case.rows, case.n);
        let mut log_p = vec![f32::NAN; case.logits.len()];
        log_softmax(&case.view(), &mut log_p).unwrap();
        near(&log_p, &case.twin(), 1e-6, &what);

        let (mut taken, mut h) = (vec![f32::NAN; case.rows], vec![f32::NAN; case.rows]);
        evaluate(&case.view(), &case.action, &mut taken, &mut h).unwrap();
        let (want_taken, want_h) = case.twin_rows();
        near(&taken, &want_taken, 1e-6, &what);
        near(&h, &want_h, 2e-6, &what);
        let (mut alone, mut h_alone) = (vec![f32::NAN; case.rows], vec![f32::NAN; case.rows]);
        log_prob(&case.view(), &case.action, &mut alone).unwrap();
        entropy(&case.view(), &mut h_alone).unwrap();
        assert_eq!((alone, h_alone), (taken, h));

        let mut rng = Rng::seeded(3);
        let mut draw = || -> Vec<f32> { (0..case.rows).map(|_| rng.uniform_in(-2.0, 2.0) as f32).collect() };
        let (log_prob_grad, entropy_grad) = (draw(), draw());
        let mut grad = vec![f32::NAN; case.logits.len()];
        gradient(&case.view(), &case.action, &log_prob_grad, &entropy_grad, &mut grad).unwrap();
        near(&grad, &case.twin_gradient(&log_prob_grad, &entropy_grad), 3e-6, &what);
    }
}

#[test]
fn the_gradient_is_the_slope() {
    // Central differences of the f64 twin, so that only the formula is tested.
    for mut case in [Case::random(1, 3, &[4], false), Case::random(2, 2, &[3, 2], true)] {
        let (log_prob_grad, entropy_grad) = (vec![0.7; case.rows], vec![-1.3; case.rows]);
        let mut grad = vec![0.0; case.logits.len()];
        gradient(&case.view(), &case.action, &log_prob_grad, &entropy_grad, &mut grad).unwrap();
        for (i, slope) in grad.into_iter().enumerate() {
            let at = case.logits[i];
            let (low, high) = (at - 0.015_625, at + 0.015_625);
            let loss = [low, high].map(|x| {
                case.logits[i] = x;
                let (taken, h) = case.twin_rows();
                taken.iter().sum::<f64>() * 0.7 - h.iter().sum::<f64>() * 1.3
            });
            case.logits[i] = at;
            let want = (loss[1] - loss[0]) / f64::from(high - low);
            assert!((f64::from(slope) - want).abs() < 1e-4, "logit {i}: {slope} is not {want}");
        }
    }
}

#[test]
fn the_vector_of_the_specification() {
    // agents.md 2.3: four rows of three choices.
    let logits = [0.2, -0.1, 0.4, 1.0, 0.0, -1.0, 0.0, 0.0, 0.0, -0.5, 2.0, 0.3];
    let batch = Logits { num_rows: 4, n: &[3], logits: &logits, mask: None };
    let action = [2, 0, 1, 1];
    let (mut taken, mut h) = ([0.0; 4], [0.0; 4]);
    evaluate(&batch, &action, &mut taken, &mut h).unwrap();
    near(&taken, &[-0.8859393177, -0.4076059644, -1.0986122887, -0.2348891194], 3e-7, "log_prob");
    near(&[h.iter().sum::<f32>() / 4.0], &[0.9130497732448173], 3e-7, "mean entropy");

    // The objective's gradient: S = mean(min(r A, clip(r) A)), B = 0.01 mean(H).
    let ratio = [1.0141599987, 2.208677755, 1.4938963568, 0.9657124891];
    let advantage = [0.2826334052, -1.1305336209, 1.224744756, -0.3768445403];
    let slope: [f64; 4] = std::array::from_fn(|i| {
        let (r, a): (f64, f64) = (ratio[i], advantage[i]);
        if r * a <= r.clamp(0.8, 1.2) * a { r * a / 4.0 } else { 0.0 }
    });
    let mut grad = [0.0; 12];
    gradient(&batch, &action, &slope.map(|x| x as f32), &[0.0025; 4], &mut grad).unwrap();
    let want = [
        [-0.0241846497, -0.0177288626, 0.0419135123],
        [-0.2096785014, 0.1531227232, 0.0565557783],
        [0.0, 0.0, 0.0],
        [0.0062442334, -0.0198521498, 0.0136079164],
    ];
    near(&grad, want.as_flattened(), 1e-7, "gradient");
}

/// The rule, in f64: the smallest kept j whose cumulative probability is above u. `None` if u is too near a border for f32 and
/// f64 to agree.
fn twin_draw(log_p: &[f64], sampling: Sampling, u: f64) -> Option<i32> {
    let mut order: Vec<usize> = (0..log_p.len()).filter(|j| log_p[*j].is_finite()).collect();
    let temperature = if let Sampling::Temperature(t) = sampling { f64::from(t) } else { 1.0 };
    match sampling {
        Sampling::Greedy => {
            return order.into_iter().rev().max_by(|a, b| log_p[*a].total_cmp(&log_p[*b])).map(|j| j as i32);
        }
        Sampling::TopK(k) => {
            order.sort_by(|a, b| log_p[*b].total_cmp(&log_p[*a]));
            order.truncate(k as usize);
        }
        Sampling::BottomK(k) => {
            order.sort_by(|a, b| log_p[*a].total_cmp(&log_p[*b]));
            order.truncate(k as usize);
        }
        _ => {}
    }
    order.sort();
    let weight = |j: usize| (log_p[j] / temperature).exp();
    let sum: f64 = order.iter().map(|j| weight(*j)).sum();
    let mut cumulative = 0.0;
    for j in &order {
        cumulative += weight(*j) / sum;
        if (cumulative - u).abs() < 1e-5 && *j != *order.last().unwrap() {
            return None;
        }
        if cumulative > u {
            return Some(*j as i32);
        }
    }
    order.last().map(|j| *j as i32)
}

#[rustfmt::skip]
const SAMPLINGS: [Sampling; 8] = [
    Sampling::Basic, Sampling::Greedy, Sampling::Temperature(0.3), Sampling::Temperature(2.5),
    Sampling::TopK(1), Sampling::TopK(3), Sampling::BottomK(2), Sampling::TopK(1000),
];

#[test]
fn draws_follow_the_inverse_distribution() {
    let (mut checked, mut all) = (0, 0);
    for case in cases() {
        let log_p = case.twin();
        for sampling in SAMPLINGS {
            let mut action = vec![-7; case.action.len()];
            sample(&case.view(), sampling, &case.uniform, &mut action).unwrap();
            for ((_, _, u, range), got) in case.choices().into_iter().zip(action) {
                let want = twin_draw(&log_p[range], sampling, u.into());
                all += 1;
                if let Some(want) = want {
                    checked += 1;
                    assert_eq!(got, want, "{sampling:?}, {} rows of {:?}, u {u}", case.rows, case.n);
                }
            }
        }
    }
    assert!(checked * 100 > all * 99, "{checked} of {all}");
}

#[test]
fn draws_have_the_frequencies_of_the_distribution() {
    let p = [0.1f32, 0.6, 0.3];
    let logits = p.map(f32::ln).repeat(6000);
    let mut rng = Rng::seeded(11);
    let uniform: Vec<f32> = (0..6000).map(|_| rng.uniform() as f32).collect();
    let mut action = vec![0; 6000];
    sample(&Logits { num_rows: 6000, n: &[3], logits: &logits, mask: None }, Sampling::Basic, &uniform, &mut action)
        .unwrap();
    for (j, p) in p.into_iter().enumerate() {
        let share = action.iter().filter(|a| **a == j as i32).count() as f32 / 6000.0;
        assert!((share - p).abs() < 0.02, "choice {j}: {share}");
    }
}

#[test]
fn borders_of_the_uniform_number() {
    let draw = |logits: &[f32], mask: Option<&[u8]>, sampling, u: f32| {
        let mut action = [-1];
        let batch = Logits { num_rows: 1, n: &[logits.len() as u32], logits, mask };
        sample(&batch, sampling, &[u], &mut action).unwrap();
        action[0]
    };
    let below_one = 1.0 - f32::EPSILON / 2.0;
    for sampling in [Sampling::Basic, Sampling::TopK(9), Sampling::BottomK(9)] {
        assert_eq!(draw(&[0.0, 0.0], None, sampling, 0.0), 0);
        assert_eq!(draw(&[0.0, 0.0], None, sampling, 0.499_999_97), 0);
        assert_eq!(draw(&[0.0, 0.0], None, sampling, 0.5), 1);
        // A first or last choice without probability is never drawn.
        for u in [below_one, 1.0] {
            assert_eq!(draw(&[0.0, 0.0, -500.0], None, sampling, u), 1);
            assert_eq!(draw(&[0.0, 0.0, 3.0], Some(&[1, 1, 0]), sampling, u), 1);
        }
        assert_eq!(draw(&[-500.0, 0.0], None, sampling, 0.0), 1);
        assert_eq!(draw(&[3.0, 0.0], Some(&[0, 1]), sampling, 0.0), 1);
    }
    for x in [3e38, -3e38] {
        assert_eq!(draw(&[x, 0.0, -x], None, Sampling::Basic, 0.5), if x > 0.0 { 0 } else { 2 });
    }
    assert_eq!(draw(&[1.0, 2.0, 2.0], None, Sampling::Greedy, 0.9), 1);
    assert_eq!(draw(&[2.0, 2.0, 1.0, 2.0], None, Sampling::TopK(2), 0.99), 1);
    assert_eq!(draw(&[5.0, 2.0, 2.0, 2.0], None, Sampling::BottomK(2), 0.99), 2);
    assert_eq!(draw(&[0.0, 0.1], None, Sampling::Temperature(1e-30), 0.0), 1);
}

#[test]
fn extreme_logits_stay_finite() {
    let logits = [3e38, -3e38, 0.0, -3e38, -3e38, -3e38, 200.0, 100.0, 0.0];
    let batch = Logits { num_rows: 3, n: &[3], logits: &logits, mask: None };
    let (mut taken, mut h, mut grad) = ([1.0; 3], [1.0; 3], [1.0; 9]);
    evaluate(&batch, &[0, 1, 0], &mut taken, &mut h).unwrap();
    gradient(&batch, &[0, 1, 0], &[1.0; 3], &[1.0; 3], &mut grad).unwrap();
    near(&taken, &[0.0, -(3f64.ln()), 0.0], 1e-6, "log_prob");
    near(&h, &[0.0, 3f64.ln(), 0.0], 1e-6, "entropy");
    assert!(grad.iter().all(|x| x.is_finite()));
}

/// All results of a case, as bits.
fn everything(case: &Case) -> Vec<u32> {
    let b = case.view();
    let grads: Vec<f32> = case.uniform.iter().step_by(case.n.len()).map(|u| u - 0.5).collect();
    let (mut log_p, mut grad) = (case.logits.clone(), case.logits.clone());
    let (mut taken, mut h) = (vec![0.0; case.rows], vec![0.0; case.rows]);
    log_softmax(&b, &mut log_p).unwrap();
    evaluate(&b, &case.action, &mut taken, &mut h).unwrap();
    gradient(&b, &case.action, &grads, &grads, &mut grad).unwrap();
    let mut bits: Vec<u32> = [log_p, grad, taken, h].concat().into_iter().map(f32::to_bits).collect();
    for sampling in SAMPLINGS {
        let mut action = vec![0; case.action.len()];
        sample(&b, sampling, &case.uniform, &mut action).unwrap();
        bits.extend(action.into_iter().map(|a| a as u32));
    }
    bits
}

#[test]
fn every_cpu_level_gives_the_same_bytes() {
    for case in cases() {
        same_at_every_level(&format!("{} rows of {:?}", case.rows, case.n), || everything(&case));
    }
}

#[test]
fn rows_do_not_know_each_other() {
    for case in cases() {
        let (width, k) = (case.logits.len() / case.rows, case.n.len());
        let bits = |x: &Case| {
            let mut log_p = vec![0.0; x.logits.len()];
            let (mut taken, mut h, mut action) = (vec![0.0; x.rows], vec![0.0; x.rows], x.action.clone());
            log_softmax(&x.view(), &mut log_p).unwrap();
            evaluate(&x.view(), &x.action, &mut taken, &mut h).unwrap();
            sample(&x.view(), Sampling::Basic, &x.uniform, &mut action).unwrap();
            (log_p, taken, h, action)
        };
        let all = bits(&case);
        for row in [0, case.rows / 2, case.rows - 1] {
            let one = Case {
                rows: 1,
                n: case.n.clone(),
                logits: case.logits[row * width..][..width].to_vec(),
                mask: case.mask.as_ref().map(|mask| mask[row * width..][..width].to_vec()),
                action: case.action[row * k..][..k].to_vec(),
                uniform: case.uniform[row * k..][..k].to_vec(),
            };
            let one = bits(&one);
            assert_eq!(one.0, all.0[row * width..][..width]);
            assert_eq!((one.1[0], one.2[0]), (all.1[row], all.2[row]));
            assert_eq!(one.3, all.3[row * k..][..k]);
        }
    }
}

/// Runs every function; each has to fail with its output untouched, or to succeed.
fn outcomes(b: &Logits<'_>, action: &[i32], uniform: &[f32], sampling: Sampling) -> [Result; 5] {
    let (mut log_p, mut grad) = (vec![7.0; 10], vec![7.0; 10]);
    let (mut taken, mut h, mut drawn) = ([7.0; 2], [7.0; 2], [7; 4]);
    let results = [
        log_softmax(b, &mut log_p),
        entropy(b, &mut h),
        log_prob(b, action, &mut taken),
        gradient(b, action, &[1.0; 2], &[1.0; 2], &mut grad),
        sample(b, sampling, uniform, &mut drawn),
    ];
    let touched = [
        log_p.iter().any(|x| *x != 7.0),
        h.iter().any(|x| *x != 7.0),
        taken.iter().any(|x| *x != 7.0),
        grad.iter().any(|x| *x != 7.0),
        drawn.iter().any(|x| *x != 7),
    ];
    for (result, touched) in results.iter().zip(touched) {
        assert_eq!(result.is_ok(), touched);
    }
    results
}

fn kinds(results: [Result; 5]) -> [Option<Kind>; 5] {
    results.map(|r| r.err().map(|e| e.kind))
}

const LOGITS: [f32; 10] = [0.5; 10];
const GOOD: Logits<'static> = Logits { num_rows: 2, n: &[2, 3], logits: &LOGITS, mask: None };

#[test]
fn bad_input_is_named_and_outputs_stay() {
    let (good, logits) = (GOOD, LOGITS);
    let (action, uniform) = ([1, 2, 0, 0], [0.5; 4]);
    let run = |b: &Logits<'_>| kinds(outcomes(b, &action, &uniform, Sampling::Basic));
    let all = |kind| [Some(kind); 5];
    assert_eq!(run(&good), [None; 5]);
    for n in [&[][..], &[2], &[2, 4], &[5, 1]] {
        assert_eq!(run(&Logits { n, ..good }), all(Kind::Shape), "{n:?}");
    }
    assert_eq!(run(&Logits { n: &[5, 0], ..good }), all(Kind::Range));
    // An i32 can name that many choices, but there are not enough logits.
    assert_eq!(run(&Logits { num_rows: 1, n: &[i32::MAX as u32], ..good }), all(Kind::Shape));
    assert_eq!(run(&Logits { num_rows: 1, n: &[i32::MAX as u32 + 1], ..good }), all(Kind::Range));
    assert_eq!(run(&Logits { n: &[u32::MAX], ..good }), all(Kind::Range));
    assert_eq!(run(&Logits { num_rows: 0, ..good }), all(Kind::Shape));
    assert_eq!(run(&Logits { num_rows: 1, ..good }), all(Kind::Shape));
    assert_eq!(run(&Logits { num_rows: usize::MAX, ..good }), all(Kind::Overflow));
    assert_eq!(run(&Logits { logits: &logits[1..], ..good }), all(Kind::Shape));
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let mut logits = logits;
        logits[9] = bad;
        assert_eq!(run(&Logits { logits: &logits, ..good }), all(Kind::Value));
    }
    assert_eq!(run(&Logits { mask: Some(&[1; 9]), ..good }), all(Kind::Shape));
    assert_eq!(run(&Logits { mask: Some(&[1, 1, 1, 1, 1, 1, 0, 0, 0, 0]), ..good }), all(Kind::Value));
    let forbids_an_action = Logits { mask: Some(&[1, 0, 1, 1, 1, 1, 1, 1, 1, 1]), ..good };
    let uses_actions = [None, None, Some(Kind::Range), Some(Kind::Range), None];
    assert_eq!(run(&forbids_an_action), uses_actions);
    for bad in [[2, 0, 0, 0], [0, 3, 0, 0], [0, 0, -1, 0], [0, 0, 0, i32::MIN]] {
        assert_eq!(kinds(outcomes(&good, &bad, &uniform, Sampling::Basic)), uses_actions);
    }
    let results = outcomes(&good, &[0, 3, 0, 0], &uniform, Sampling::Basic);
    assert_eq!(results[2].unwrap_err().to_string(), "categorical: an action from 0 to below 3, given 3");
    let shape = [None, None, Some(Kind::Shape), Some(Kind::Shape), None];
    assert_eq!(kinds(outcomes(&good, &[0; 3], &uniform, Sampling::Basic)), shape);
    assert_eq!(kinds(outcomes(&good, &[0; 5], &uniform, Sampling::Basic)), shape);
}

#[test]
fn bad_samplings_are_refused() {
    let uniform = [0.5; 4];
    let sampling = |sampling, uniform: &[f32]| kinds(outcomes(&GOOD, &[1, 2, 0, 0], uniform, sampling))[4];
    assert_eq!(sampling(Sampling::Basic, &[0.5; 3]), Some(Kind::Shape));
    assert_eq!(sampling(Sampling::Basic, &[]), Some(Kind::Shape));
    assert_eq!(sampling(Sampling::Greedy, &[0.5; 5]), Some(Kind::Shape));
    assert_eq!(sampling(Sampling::Greedy, &[]), None);
    for bad in [f32::NAN, -0.1, 1.1] {
        assert_eq!(sampling(Sampling::Basic, &[0.5, 0.5, 0.5, bad]), Some(Kind::Value));
    }
    assert_eq!(sampling(Sampling::Temperature(0.0), &uniform), Some(Kind::Range));
    assert_eq!(sampling(Sampling::Temperature(-1.0), &uniform), Some(Kind::Range));
    assert_eq!(sampling(Sampling::Temperature(f32::NAN), &uniform), Some(Kind::Value));
    assert_eq!(sampling(Sampling::TopK(0), &uniform), Some(Kind::Range));
    assert_eq!(sampling(Sampling::BottomK(0), &uniform), Some(Kind::Range));
}

/// Outputs and gradients of another length or not finite.
#[test]
fn bad_arrays_are_refused_and_stay() {
    let (good, action, uniform, mut out) = (GOOD, [1, 2, 0, 0], [0.5; 4], [7.0; 11]);
    let kind = |result: Result| result.unwrap_err().kind;
    assert_eq!(kind(log_softmax(&good, &mut out[..9])), Kind::Shape);
    assert_eq!(kind(log_softmax(&good, &mut out)), Kind::Shape);
    assert_eq!(kind(entropy(&good, &mut out[..3])), Kind::Shape);
    assert_eq!(kind(log_prob(&good, &action, &mut out[..1])), Kind::Shape);
    assert_eq!(kind(evaluate(&good, &action, &mut out[..2], &mut [7.0; 3])), Kind::Shape);
    assert_eq!(kind(evaluate(&good, &action, &mut out[..3], &mut [7.0; 2])), Kind::Shape);
    assert_eq!(kind(gradient(&good, &action, &[1.0; 1], &[1.0; 2], &mut out[..10])), Kind::Shape);
    assert_eq!(kind(gradient(&good, &action, &[1.0; 2], &[1.0; 3], &mut out[..10])), Kind::Shape);
    assert_eq!(kind(gradient(&good, &action, &[1.0; 2], &[1.0; 2], &mut out)), Kind::Shape);
    assert_eq!(kind(gradient(&good, &action, &[f32::NAN, 1.0], &[1.0; 2], &mut out[..10])), Kind::Value);
    assert_eq!(kind(gradient(&good, &action, &[1.0; 2], &[f32::INFINITY, 1.0], &mut out[..10])), Kind::Value);
    assert_eq!(kind(sample(&good, Sampling::Basic, &uniform, &mut [7; 5])), Kind::Shape);
    assert_eq!(out, [7.0; 11]);
}
