//! Answers of networks to any number of observations: against actions, values and log-probabilities of the other calls, bit for
//! bit, and against formulas in f64.

#![cfg(all(feature = "residual", feature = "unreal", feature = "noisy"))]

use crate::host::takes::{Takes, learner_of};
use crate::host::{Array, Host, export, policy, refuses};
use rlcore::error::{Kind, Result};
use rlcore::learn::{Algorithm, Config, Distribution, Learner, Phase, Recurrent, Sampling};
use rlcore::nn::{Layer, LayerKind};
use rlcore::num;
use rlcore::rng::Rng;
use rlcore::space::{Element, Elements, ElementsMut};

/// A step of all environments; returns which episodes ended.
fn step(h: &mut Host, obs: &Array, mask: Option<&[u8]>, rng: &mut Rng) -> Vec<u8> {
    let mut action = h.actions();
    h.learner().act(None, obs.get(), mask, action.get_mut()).unwrap();
    let reward: Vec<f32> = (0..h.n).map(|_| rng.uniform_f32()).collect();
    let ends: Vec<u8> = (0..2 * h.n).map(|_| u8::from(rng.uniform() < 0.1)).collect();
    let (terminated, truncated) = ends.split_at(h.n);
    h.learner().observe(None, &reward, terminated, truncated, Some(obs.get()), None).unwrap();
    if h.learner().phase() == Phase::Learn {
        let next = h.draw_obs(rng);
        h.learner().learn(Some(next.get()), None, 0).unwrap();
    }
    terminated.iter().zip(truncated).map(|(a, b)| a | b).collect()
}

fn trained(h: &mut Host) {
    let mut rng = Rng::seeded(8);
    for _ in 0..120 {
        let (obs, mask) = (h.draw_obs(&mut rng), h.draw_mask(&mut rng));
        step(h, &obs, mask.as_deref(), &mut rng);
    }
    assert!(h.learner().stats().num_updates > 1);
}

/// Everything that can be said about some rows.
#[derive(Clone, Debug, Default, PartialEq)]
struct Told {
    prob: Vec<f32>,
    mean: Vec<f32>,
    std: Vec<f32>,
    value: Vec<f32>,
    q: Vec<f32>,
    log_prob: Vec<f32>,
    entropy: Vec<f32>,
    best: Vec<u32>,
    state: Vec<u32>,
}

/// The answers that a learner has.
#[derive(Clone, Copy, Default)]
struct Has {
    value: bool,
    q: bool,
    log_prob: bool,
}

struct Widths {
    mask: usize,
    numbers: usize,
    action: usize,
}

fn widths(h: &mut Host) -> Widths {
    let shape = *h.learner().shape();
    Widths { mask: shape.choices_len(), numbers: shape.std_len(), action: shape.action_len as usize }
}

#[allow(clippy::too_many_arguments)]
fn ask(
    w: &Widths,
    kind: Element,
    rows: usize,
    action: Option<Elements<'_>>,
    has: Has,
    state: &mut [f32],
    reset: &[u8],
    call: impl FnOnce(Recurrent<'_>, Option<Elements<'_>>, Distribution<'_>) -> Result,
) -> Told {
    let nan = |width: usize| vec![f32::NAN; rows * width];
    let mut t = Told {
        prob: nan(w.mask),
        mean: nan(w.numbers),
        std: nan(w.numbers),
        value: nan(1),
        q: nan(w.mask),
        log_prob: nan(1),
        entropy: nan(1),
        ..Told::default()
    };
    let mut best = Array::junk(kind, rows * w.action);
    let to = Distribution {
        prob: (w.mask > 0).then_some(&mut t.prob[..]),
        mean: (w.numbers > 0).then_some(&mut t.mean[..]),
        std: (w.numbers > 0).then_some(&mut t.std[..]),
        value: has.value.then_some(&mut t.value[..]),
        q: has.q.then_some(&mut t.q[..]),
        log_prob: has.log_prob.then_some(&mut t.log_prob[..]),
        entropy: has.log_prob.then_some(&mut t.entropy[..]),
        best: Some(best.get_mut()),
    };
    call(Recurrent { state, reset }, action, to).unwrap();
    t.best = best.bits();
    t.state = state.iter().map(|x| x.to_bits()).collect();
    t
}

fn bits(x: &[f32]) -> Vec<u32> {
    x.iter().map(|x| x.to_bits()).collect()
}

/// Rows `[begin, begin + count)` of an array.
fn part<T: Clone>(x: &[T], begin: usize, count: usize, width: usize) -> Vec<T> {
    x[begin * width..(begin + count) * width].to_vec()
}

/// Raw actions of `rows` rows, the first allowed choice of each element among them.
fn actions(h: &Host, w: &Widths, takes: Takes, rows: usize, mask: Option<&[u8]>, rng: &mut Rng) -> Array {
    let mut to = Array::zeros(h.action_kind, rows * w.action);
    for row in 0..rows {
        let first = |begin: usize, n: usize| {
            let own = |i: &usize| mask.is_none_or(|m| m[row * w.mask + begin + i] != 0);
            (0..n).rev().find(own).unwrap() as i32
        };
        match &mut to {
            Array::I32(x) => x[2 * row..2 * row + 2].copy_from_slice(&[first(0, 3), first(3, 2)]),
            Array::F32(x) => x[2 * row..2 * row + 2].fill_with(|| rng.normal_f32()),
            Array::U8(x) => {
                assert_eq!(takes, Takes::Both);
                let to = &mut x[12 * row..12 * row + 12];
                to[..4].copy_from_slice(&first(0, 3).to_ne_bytes());
                to[4..8].copy_from_slice(&rng.normal_f32().to_ne_bytes());
                to[8..].copy_from_slice(&rng.normal_f32().to_ne_bytes());
            }
        }
    }
    to
}

/// The choices and the numbers of an action of row `row`.
fn parts(action: &Array, row: usize) -> (Vec<usize>, Vec<f64>) {
    match action {
        Array::I32(x) => (x[2 * row..2 * row + 2].iter().map(|&x| x as usize).collect(), vec![]),
        Array::F32(x) => (vec![], x[2 * row..2 * row + 2].iter().map(|&x| f64::from(x)).collect()),
        Array::U8(x) => {
            let own = &x[12 * row..12 * row + 12];
            let word = |i: usize| own[i..i + 4].try_into().unwrap();
            let number = |i| f64::from(f32::from_ne_bytes(word(i)));
            (vec![i32::from_ne_bytes(word(0)) as usize], vec![number(4), number(8)])
        }
    }
}

fn agrees(algorithm: Algorithm, takes: Takes, has: Has, tune: impl Fn(&mut Config)) {
    let name = format!("{algorithm:?} {takes:?}");
    let mut h = learner_of(algorithm, takes, tune, &[]);
    trained(&mut h);
    let (w, kind, n) = (widths(&mut h), h.action_kind, h.n);
    let rows = 3 * n + 2;
    let mut rng = Rng::seeded(77);
    let mut large = Host { n: rows, ..h.clone() };
    let (obs, mask) = (large.draw_obs(&mut rng), large.draw_mask(&mut rng));
    large.n = n;
    let Array::F32(obs) = obs else { unreachable!() };
    let mask = mask.as_deref();
    let action = actions(&h, &w, takes, rows, mask, &mut rng);
    let given = has.log_prob.then_some(action.get());
    let before = h.block.clone();
    let all = ask(&w, kind, rows, given, has, &mut [], &[], |state, action, to| {
        h.learner().distribution(rows, Elements::F32(&obs), mask, action, state, to)
    });
    assert!(h.block == before, "{name}: nothing is recorded");

    // Each row by itself, and the first N, are the same bits.
    for (begin, count) in [(0, 1), (rows - 1, 1), (2, n)] {
        let (own, own_mask) = (part(&obs, begin, count, 4), mask.map(|mask| part(mask, begin, count, w.mask)));
        let mut taken = Array::zeros(kind, count * w.action);
        for i in 0..count {
            for k in 0..w.action {
                let from = (begin + i) * w.action + k;
                match (&mut taken, &action) {
                    (Array::I32(to), Array::I32(x)) => to[i * w.action + k] = x[from],
                    (Array::F32(to), Array::F32(x)) => to[i * w.action + k] = x[from],
                    (Array::U8(to), Array::U8(x)) => to[i * w.action + k] = x[from],
                    _ => unreachable!(),
                }
            }
        }
        let given = has.log_prob.then_some(taken.get());
        let one = ask(&w, kind, count, given, has, &mut [], &[], |state, action, to| {
            h.learner().distribution(count, Elements::F32(&own), own_mask.as_deref(), action, state, to)
        });
        for (a, b, width) in [
            (&one.prob, &all.prob, w.mask),
            (&one.mean, &all.mean, w.numbers),
            (&one.std, &all.std, w.numbers),
            (&one.value, &all.value, 1),
            (&one.q, &all.q, w.mask),
            (&one.log_prob, &all.log_prob, 1),
            (&one.entropy, &all.entropy, 1),
        ] {
            assert_eq!(bits(a), bits(&part(b, begin, count, width)), "{name} {begin}");
        }
    }

    // The calls of N rows say the same.
    let (first, first_mask) = (part(&obs, 0, n, 4), mask.map(|mask| part(mask, 0, n, w.mask)));
    let (first, first_mask) = (Elements::F32(&first), first_mask.as_deref());
    let mut best = h.actions();
    let none = Recurrent::default();
    h.learner().predict(first, first_mask, none, Sampling::Greedy, best.get_mut()).unwrap();
    assert_eq!(best.bits(), all.best[..best.bits().len()], "{name}");
    if has.value {
        let mut value = vec![0.0; n];
        h.learner().value(first, first_mask, &mut value).unwrap();
        assert_eq!(bits(&value), bits(&all.value[..n]), "{name}");
    }
    if has.log_prob {
        let (mut log_prob, mut entropy) = (vec![0.0; n], vec![0.0; n]);
        let few = action.get().get(0, n * w.action).unwrap();
        h.learner().log_prob(first, first_mask, few, &mut log_prob, &mut entropy).unwrap();
        assert_eq!((bits(&log_prob), bits(&entropy)), (bits(&all.log_prob[..n]), bits(&all.entropy[..n])), "{name}");
    }

    // Its answers fit together.
    for row in 0..rows {
        let (choices, numbers) = parts(&action, row);
        let prob = part(&all.prob, row, 1, w.mask);
        let mut begin = 0;
        let (mut log_prob, mut entropy) = (0.0, 0.0);
        let lens: &[usize] = if w.mask == 5 { &[3, 2] } else { &[3] };
        for (&len, &choice) in lens.iter().zip(&choices) {
            let own = &prob[begin..begin + len];
            assert!((own.iter().sum::<f32>() - 1.0).abs() < 1e-5, "{name} {own:?}");
            for (k, p) in own.iter().enumerate() {
                let allowed = mask.is_none_or(|m| m[row * w.mask + begin + k] != 0);
                assert!(allowed || p.to_bits() == 0, "{name} {p}");
            }
            log_prob += f64::from(own[choice]).ln();
            entropy -= own.iter().filter(|p| **p > 0.0).map(|p| f64::from(*p) * f64::from(*p).ln()).sum::<f64>();
            begin += len;
        }
        let (mean, std) = (part(&all.mean, row, 1, w.numbers), part(&all.std, row, 1, w.numbers));
        for ((x, mean), std) in numbers.iter().zip(&mean).zip(&std) {
            let (mean, std) = (f64::from(*mean), f64::from(*std));
            let two_pi = 2.0 * std::f64::consts::PI;
            log_prob -= 0.5 * ((x - mean) / std).powi(2) + std.ln() + 0.5 * two_pi.ln();
            entropy += std.ln() + 0.5 * two_pi.ln() + 0.5;
        }
        if has.log_prob && log_prob > -60.0 {
            let near = |a: f32, b: f64| (f64::from(a) - b).abs() < 1e-4 * b.abs().max(1.0);
            assert!(near(all.log_prob[row], log_prob), "{name}: {} {log_prob}", all.log_prob[row]);
            assert!(near(all.entropy[row], entropy), "{name}: {} {entropy}", all.entropy[row]);
        }
        if has.q {
            let q = part(&all.q, row, 1, w.mask);
            if h.config.temperature == 1.0 && algorithm != Algorithm::Sac {
                let mut sum = 0.0;
                for (begin, end) in [(0, 3), (3, 5)] {
                    let allowed = |k: &usize| mask.is_none_or(|m| m[row * w.mask + k] != 0);
                    let most = (begin..end).filter(allowed).map(|k| q[k]).fold(f32::MIN, f32::max);
                    let taken = all.best[2 * row + usize::from(begin > 0)] as usize;
                    assert!((q[begin + taken] - most).abs() < 1e-5, "{name}: {q:?} {taken}");
                    sum += most / 2.0;
                }
                assert!((sum - all.value[row]).abs() < 1e-5, "{name}: {sum} {}", all.value[row]);
            } else {
                let mut sum = 0.0;
                prob.iter().zip(&q).for_each(|(p, q)| sum += p * q / lens.len() as f32);
                assert!((sum - all.value[row]).abs() < 1e-5, "{name}: {sum} {}", all.value[row]);
            }
        }
    }

    // The exported policy says the same about actions.
    let bytes = export(&h.view());
    let policy = policy(&bytes);
    let mut scratch = vec![f32::NAN; policy.scratch_len(rows).unwrap()];
    let has_own = Has { log_prob: true, ..Has::default() };
    let shipped = ask(&w, kind, rows, Some(action.get()), has_own, &mut [], &[], |state, action, to| {
        policy.distribution(rows, Elements::F32(&obs), mask, action, state, &mut scratch, to)
    });
    assert_eq!(bits(&shipped.mean), bits(&all.mean), "{name}");
    if algorithm != Algorithm::Dqn {
        // Of dueling networks the policy has the advantages alone; atoms differ in their rounding.
        assert_eq!((bits(&shipped.prob), &shipped.best), (bits(&all.prob), &all.best), "{name}");
    }
    if has.log_prob {
        assert_eq!((bits(&shipped.log_prob), bits(&shipped.std)), (bits(&all.log_prob), bits(&all.std)), "{name}");
    }
}

const ACTOR: Has = Has { value: true, q: false, log_prob: true };
const CRITIC: Has = Has { value: true, q: false, log_prob: false };
const Q: Has = Has { value: true, q: true, log_prob: false };

#[test]
fn what_rollouts_teach_is_told_of_any_number_of_rows() {
    use Algorithm::*;
    for algorithm in [Ppo, A2c, Impala, Unreal, StreamAc] {
        for takes in [Takes::Choices, Takes::Numbers, Takes::Both] {
            agrees(algorithm, takes, ACTOR, |c| {
                if algorithm == Unreal {
                    (c.pixel_control_coef, c.reward_class_coef, c.value_replay_coef, c.history_len) =
                        (0.0, 0.0, 0.0, 20);
                }
            });
        }
    }
    agrees(Ppo, Takes::Numbers, ACTOR, |c| c.squash = 1);
    for takes in [Takes::Choices, Takes::Both] {
        agrees(Ppo, takes, ACTOR, |c| c.use_action_mask = 1);
    }
    agrees(Ppo, Takes::Choices, ACTOR, |c| c.normalize_obs = 1);
    agrees(Ppo, Takes::Choices, ACTOR, |c| c.overlap = 1);
    for algorithm in [Pqn, StreamQ] {
        for mask in [0, 1] {
            agrees(algorithm, Takes::Choices, Has { log_prob: true, ..Q }, |c| c.use_action_mask = mask);
        }
    }
}

#[test]
fn what_a_store_teaches_is_told_of_any_number_of_rows() {
    use Algorithm::*;
    for mask in [0, 1] {
        agrees(Dqn, Takes::Choices, Q, |c| c.use_action_mask = mask);
        agrees(Dqn, Takes::Choices, Q, |c| (c.use_action_mask, c.dueling) = (mask, 1));
        agrees(Dqn, Takes::Choices, Q, |c| (c.use_action_mask, c.num_quantiles, c.huber) = (mask, 5, 1));
        agrees(Dqn, Takes::Choices, Q, |c| {
            (c.use_action_mask, c.num_atoms, c.value_min, c.value_max) = (mask, 7, -1.0, 4.0);
        });
        agrees(Sac, Takes::Choices, Q, |c| c.use_action_mask = mask);
        agrees(Sac, Takes::Both, Q, |c| c.use_action_mask = mask);
        agrees(Sac, Takes::Both, Q, |c| (c.use_action_mask, c.overlap, c.buffer_size) = (mask, 1, 400));
    }
    agrees(Td3, Takes::Numbers, CRITIC, |_| {});
    agrees(Sac, Takes::Numbers, CRITIC, |_| {});
    agrees(Sac, Takes::Numbers, CRITIC, |c| c.normalize_obs = 1);
    agrees(Sac, Takes::Numbers, CRITIC, |c| (c.num_quantiles, c.dropped_quantiles) = (5, 2));
}

/// Deviations off policy: none of TD3, of SAC those that [`Learner::predict`] draws with.
#[test]
fn deviations_off_policy_are_those_of_draws() {
    let has = CRITIC;
    let mut h = learner_of(Algorithm::Td3, Takes::Numbers, |_| {}, &[]);
    trained(&mut h);
    let (w, obs) = (widths(&mut h), vec![0.3; 8]);
    let told = ask(&w, h.action_kind, 2, None, has, &mut [], &[], |state, action, to| {
        h.learner().distribution(2, Elements::F32(&obs), None, action, state, to)
    });
    assert_eq!(told.std, [0.0; 4]);

    let mut h = learner_of(Algorithm::Sac, Takes::Numbers, |_| {}, &[]);
    trained(&mut h);
    let obs = vec![0.3; 16];
    let told = ask(&w, h.action_kind, 4, None, has, &mut [], &[], |state, action, to| {
        h.learner().distribution(4, Elements::F32(&obs), None, action, state, to)
    });
    let (mut sum, mut squares) = ([0.0; 2], [0.0; 2]);
    let draws = 20_000;
    for _ in 0..draws / 4 {
        let mut action = [0.0; 8];
        let to = ElementsMut::F32(&mut action);
        h.learner().predict(Elements::F32(&obs), None, Recurrent::default(), Sampling::Basic, to).unwrap();
        for (i, x) in action.iter().enumerate() {
            let (low, high) = ([-2.0, -1.0][i % 2], [0.5, 3.0][i % 2]);
            let squashed = f64::from((x - low) / (high - low) * 2.0 - 1.0).clamp(-1.0 + 1e-7, 1.0 - 1e-7);
            let raw = squashed.atanh();
            (sum[i % 2], squares[i % 2]) = (sum[i % 2] + raw, squares[i % 2] + raw * raw);
        }
    }
    for i in 0..2 {
        let mean = sum[i] / f64::from(draws);
        let std = (squares[i] / f64::from(draws) - mean * mean).sqrt();
        assert!((mean - f64::from(told.mean[i])).abs() < 0.05, "{mean} {}", told.mean[i]);
        assert!((std / f64::from(told.std[i]) - 1.0).abs() < 0.05, "{std} {}", told.std[i]);
        let (low, high) = ([-2.0, -1.0][i], [0.5, 3.0][i]);
        let want = low + (0.5 * num::tanh(told.mean[i]) + 0.5) * (high - low);
        assert!((f32::from_bits(told.best[i]) - want).abs() < 1e-5);
    }
}

/// With the caller's own states, in step with those of the episodes: the same numbers at every step.
#[test]
fn states_of_the_caller_go_along_with_the_episodes() {
    let layers = [Layer::recurrent(LayerKind::Gru, 5)];
    for (algorithm, takes, has) in [
        (Algorithm::Ppo, Takes::Choices, ACTOR),
        (Algorithm::Ppo, Takes::Both, ACTOR),
        (Algorithm::Impala, Takes::Numbers, ACTOR),
        (Algorithm::Pqn, Takes::Choices, Has { log_prob: true, ..Q }),
        (Algorithm::Dqn, Takes::Choices, Q),
    ] {
        // Longer than the walk, so that parameters do not change in between.
        let mut h = learner_of(
            algorithm,
            takes,
            |c| if algorithm == Algorithm::Dqn { c.learning_starts = 190 } else { c.num_steps = 60 },
            &layers,
        );
        let (w, kind, n) = (widths(&mut h), h.action_kind, h.n);
        let len = h.view().state_len();
        assert!(len > 0);
        let (mut state, mut reset) = (vec![f32::NAN; n * len], vec![1u8; n]);
        let mut rng = Rng::seeded(2);
        for t in 0..40 {
            let obs = h.draw_obs(&mut rng);
            let action = actions(&h, &w, takes, n, None, &mut rng);
            let (mut value, mut log_prob, mut entropy) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
            h.learner().value(obs.get(), None, &mut value).unwrap();
            if has.log_prob {
                h.learner().log_prob(obs.get(), None, action.get(), &mut log_prob, &mut entropy).unwrap();
            }
            let mut other = state.clone();
            let mut best = h.actions();
            let recurrent = Recurrent { state: &mut other, reset: &reset };
            h.learner().predict(obs.get(), None, recurrent, Sampling::Greedy, best.get_mut()).unwrap();
            let given = has.log_prob.then_some(action.get());
            let told = ask(&w, kind, n, given, has, &mut state, &reset, |state, action, to| {
                h.learner().distribution(n, obs.get(), None, action, state, to)
            });
            assert_eq!(bits(&told.value), bits(&value), "{algorithm:?} {t}");
            assert_eq!(told.best, best.bits(), "{algorithm:?} {t}");
            if has.log_prob {
                assert_eq!(bits(&told.log_prob), bits(&log_prob), "{algorithm:?} {t}");
            }
            reset = step(&mut h, &obs, None, &mut rng);
        }
    }
}

#[test]
fn questions_without_an_answer_are_refused() {
    fn asks(l: &mut Learner<'_>, rows: usize, obs: &[f32], to: Distribution<'_>) -> Result {
        l.distribution(rows, Elements::F32(obs), None, None, Recurrent::default(), to)
    }
    let [mut a, mut b] = [[f32::NAN; 64]; 2];
    let good = [0.5; 40];
    let mut bad = good;
    bad[37] = f32::NAN;
    let mut h = learner_of(Algorithm::Ppo, Takes::Choices, |_| {}, &[]);
    refuses(&mut h, Kind::Shape, "no rows", |l| asks(l, 0, &[], Distribution::default()));
    refuses(&mut h, Kind::Shape, "obs", |l| asks(l, 9, &good, Distribution::default()));
    let (a, b) = (&mut a[..], &mut b[..]);
    refuses(&mut h, Kind::Value, "a later row", |l| {
        asks(
            l,
            10,
            &bad,
            Distribution { value: Some(&mut a[..10]), prob: Some(&mut b[..50]), ..Distribution::default() },
        )
    });
    assert!(a.iter().chain(&*b).all(|x| x.is_nan()), "nothing is written");
    let of = |h: &mut Host, kind, name, to: Distribution<'_>| refuses(h, kind, name, |l| asks(l, 10, &good, to));
    let none = Distribution::default;
    of(&mut h, Kind::Shape, "prob of a wrong length", Distribution { prob: Some(&mut a[..49]), ..none() });
    of(&mut h, Kind::Shape, "value of a wrong length", Distribution { value: Some(&mut a[..9]), ..none() });
    of(&mut h, Kind::Shape, "means of choices", Distribution { mean: Some(&mut a[..0]), ..none() });
    of(&mut h, Kind::Shape, "log_prob of nothing", Distribution { log_prob: Some(&mut a[..10]), ..none() });
    of(&mut h, Kind::Disabled, "Q of a policy", Distribution { q: Some(&mut a[..50]), ..none() });
    let mut wrong = [0.0; 20];
    of(
        &mut h,
        Kind::Shape,
        "best of a wrong kind",
        Distribution { best: Some(ElementsMut::F32(&mut wrong)), ..none() },
    );
    let mut h = learner_of(Algorithm::Td3, Takes::Numbers, |_| {}, &[]);
    of(&mut h, Kind::Shape, "probabilities of numbers", Distribution { prob: Some(&mut a[..0]), ..none() });
    of(&mut h, Kind::Disabled, "log_prob off policy", Distribution { entropy: Some(&mut a[..10]), ..none() });
    let layers = [Layer::recurrent(LayerKind::Gru, 5)];
    let mut h = learner_of(Algorithm::Td3, Takes::Numbers, |_| {}, &layers);
    refuses(&mut h, Kind::Shape, "no states", |l| asks(l, 10, &good, none()));
    refuses(&mut h, Kind::Disabled, "values of recurrent critics", |l| {
        let (mut state, value) = (vec![0.0; 10 * l.view().state_len()], Some(&mut a[..10]));
        let recurrent = Recurrent { state: &mut state, reset: &[] };
        l.distribution(10, Elements::F32(&good), None, None, recurrent, Distribution { value, ..none() })
    });
    let bytes = export(&h.view());
    let policy = policy(&bytes);
    let mut state = vec![0.0; 10 * policy.state_len()];
    let mut scratch = vec![0.0; policy.scratch_len(10).unwrap()];
    for at in [0, 1] {
        let recurrent = Recurrent { state: &mut state, reset: &[] };
        let to = match at {
            0 => Distribution { value: Some(&mut a[..10]), ..none() },
            _ => none(),
        };
        let scratch = &mut scratch[at..];
        let error = policy.distribution(10, Elements::F32(&good), None, None, recurrent, scratch, to).unwrap_err();
        assert_eq!(error.kind, [Kind::Disabled, Kind::Size][at]);
    }
}
