//! Learning from the host's own transitions: steps of the formula, refusals, overflow, and learners without a store.

#![cfg(feature = "off_policy")]

use crate::host::{Tune, attach, learn_all, made, open, refused, transitions};
use rlcore::error::Kind;
use rlcore::learn::{Algorithm, Config, Learner, Phase, Recurrent, Sampling, TransitionBatch};
use rlcore::rng::Rng;
use rlcore::space::{Elements, ElementsMut, Space};

const N: usize = 2;
const B: usize = 4;

fn config(algorithm: Algorithm) -> Config {
    Config {
        num_envs: N as u32,
        buffer_size: 0,
        batch_size: B as u32,
        num_chunks: 2,
        ..Config::of(algorithm).hidden(&[16]).rate(3e-3)
    }
}

fn block(config: &Config, obs: &Space<'_>, action: &Space<'_>) -> Vec<u64> {
    made(config, &[], obs, action)
}

/// Gradient steps of a linear Q in f64, with the host's weights, discounts and terminations; and the errors returned to it.
#[test]
fn steps_are_those_of_the_formula() {
    let (obs, action) = (Space::unbounded(1), Space::discrete(&[2]));
    for (huber, double_q, masked) in [(0, 0, 0), (1, 1, 1), (0, 1, 1), (1, 0, 0)] {
        let config = Config {
            huber,
            double_q,
            use_action_mask: masked,
            discount: 0.75,
            target_rate: 0.25,
            target_interval: 2,
            gradient_steps: 3,
            ..config(Algorithm::Dqn).hidden(&[]).plain_adam()
        };
        let mut block = block(&config, &obs, &action);
        let mut l = open(&mut block);
        // Q(o) = [w0 o + b0, w1 o + b1].
        let first = [0.5f32, -0.75, 0.25, 0.0];
        l.write_params(&first).unwrap();
        let (mut params, mut target) = (first.map(f64::from), first.map(f64::from));
        let q = |p: &[f64; 4], o: f64, a: usize| p[a] * o + p[2 + a];
        let mut rng = Rng::seeded(6);
        for step in 1..=30 {
            let [x, next, reward, discount] = [(); 4].map(|()| [(); B].map(|()| 2.0 * rng.uniform_f32() - 1.0));
            let (discount, importance) = (discount.map(f32::abs), [(); B].map(|()| 3.0 * rng.uniform_f32()));
            let (choice, over) = ([(); B].map(|()| i32::from(rng.coin())), [(); B].map(|()| u8::from(rng.coin())));
            let mask = [(); B].map(|()| [[1, 1], [1, 0], [0, 1]][rng.bounded(2) as usize]);
            let flags = mask.concat();
            let (folded, weighed) = (step % 2 == 0, step % 3 != 0);
            let (obs, next_obs) = (Elements::F32(&x), Elements::F32(&next));
            let batch = TransitionBatch {
                discount: folded.then_some(&discount),
                next_mask: (masked == 1).then_some(&flags),
                importance: weighed.then_some(&importance),
                ..transitions(obs, Elements::I32(&choice), &reward, &over, next_obs)
            };
            let mut error = [f32::NAN; B];
            let stats = l.learn_transitions(&batch, Some(&mut error)).unwrap();
            let (mut grads, mut loss, mut mean) = ([0.0; 4], 0.0, 0.0);
            for k in 0..B {
                let (o, then, a) = (f64::from(x[k]), f64::from(next[k]), choice[k] as usize);
                let chooser = if double_q == 1 { &params } else { &target };
                let allowed = |a: &usize| masked == 0 || mask[k][*a] == 1;
                let best = (0..2).filter(allowed).max_by(|&i, &j| q(chooser, then, i).total_cmp(&q(chooser, then, j)));
                let gamma = if folded { f64::from(discount[k]) } else { 0.75 };
                let gamma = if over[k] == 1 { 0.0 } else { gamma };
                let e = q(&params, o, a) - f64::from(reward[k]) - gamma * q(&target, then, best.unwrap());
                assert!((f64::from(error[k]) - e.abs()).abs() < 1e-5, "{} {e}", error[k]);
                let (cost, slope) = match huber {
                    0 => (e * e, 2.0 * e),
                    _ if e.abs() <= 1.0 => (0.5 * e * e, e),
                    _ => (e.abs() - 0.5, e.signum()),
                };
                let share = if weighed { f64::from(importance[k]) } else { 1.0 } / B as f64;
                let reported = if huber == 0 { 0.5 * cost } else { cost };
                (loss, mean) = (loss + share * reported, mean + q(&params, o, a) / B as f64);
                grads[a] += share * slope * o;
                grads[2 + a] += share * slope;
            }
            assert!(
                (f64::from(stats.value_loss) - loss).abs() < 1e-5 && (f64::from(stats.value_mean) - mean).abs() < 1e-5
            );
            assert_eq!((stats.num_updates, stats.num_steps, stats.minibatches_left), (step, 0, 0));
            params.iter_mut().zip(grads).for_each(|(p, g)| *p -= 3e-3 * g / (g.abs() + 1.0));
            if step % 2 == 0 {
                target.iter_mut().zip(params).for_each(|(t, p)| *t = 0.75 * *t + 0.25 * p);
            }
            let far = l.params().iter().zip(params).map(|(a, b)| (f64::from(*a) - b).abs()).fold(0.0, f64::max);
            assert!(far < 1e-5, "step {step}: {far}");
        }
    }
}

/// Transitions of a task in which the observation determines the best action and every step is an episode.
fn lesson(rng: &mut Rng, real: bool) -> ([f32; B], [i32; B], [f32; B], [f32; B]) {
    let obs = [(); B].map(|()| 2.0 * rng.uniform_f32() - 1.0);
    let (choice, vector) = ([(); B].map(|()| i32::from(rng.coin())), [(); B].map(|()| 4.0 * rng.uniform_f32() + 10.0));
    let mut reward = [0.0; B];
    for k in 0..B {
        // The best number is 12 + o.
        let far = vector[k] - 12.0 - obs[k];
        reward[k] = if real { 1.0 - far * far } else { f32::from(u8::from((choice[k] == 1) == (obs[k] > 0.0))) };
    }
    (obs, choice, vector, reward)
}

/// All algorithms learn a task only from the host's transitions, while they act and observe, and store none themselves.
#[test]
fn learners_without_a_store_learn() {
    for algorithm in [Algorithm::Dqn, Algorithm::Td3, Algorithm::Sac] {
        let real = algorithm != Algorithm::Dqn;
        let (low, high, obs_space) = ([10.0], [14.0], Space::unbounded(1));
        let space = if real { Space { low: &low, high: &high, ..Space::unbounded(1) } } else { Space::discrete(&[2]) };
        let mut config = Config { batch_size: B as u32, n_step: 3, ..config(algorithm) };
        if algorithm == Algorithm::Sac {
            (config.temperature, config.temperature_rate) = (0.02, 0.0);
        }
        let mut block = block(&config, &obs_space, &space);
        let mut rng = Rng::seeded(7);
        for step in 0..3000 {
            let (obs, choice, vector, reward) = lesson(&mut rng, real);
            let (seen, action) =
                (Elements::F32(&obs), if real { Elements::F32(&vector) } else { Elements::I32(&choice) });
            let batch = transitions(seen, action, &reward, &[1; B], seen);
            if step % 100 == 0 {
                attach(&mut block);
            }
            let mut l = open(&mut block);
            let (mut did, mut moved) = ([0; N], [0.0; N]);
            let to = if real { ElementsMut::F32(&mut moved) } else { ElementsMut::I32(&mut did) };
            l.act(None, Elements::F32(&obs[..N]), None, to).unwrap();
            // The learner also learns in the middle of a step.
            let stats = l.learn_transitions(&batch, None).unwrap();
            assert!(l.phase() == Phase::Observe && stats.num_updates == step + 1);
            let last = Some(Elements::F32(&obs[..N]));
            l.observe(None, &[1.0; N], &[u8::from(step % 5 == 0); N], &[u8::from(step % 7 == 0); N], last, None)
                .unwrap();
            assert!(l.phase() == Phase::Act && l.view().stored() == 0);
        }
        let mut l = open(&mut block);
        assert_eq!(l.stats().num_steps, 3000 * N as u64);
        let (mut hits, mut worst) = (0, 0.0f32);
        for _ in 0..100 {
            let (obs, ..) = lesson(&mut rng, real);
            let (mut did, mut moved) = ([0; N], [0.0; N]);
            let to = if real { ElementsMut::F32(&mut moved) } else { ElementsMut::I32(&mut did) };
            l.predict(Elements::F32(&obs[..N]), None, Recurrent::default(), Sampling::Greedy, to).unwrap();
            hits += (0..N).filter(|&k| (did[k] == 1) == (obs[k] > 0.0)).count();
            worst = (0..N).map(|k| (moved[k] - 12.0 - obs[k]).abs()).fold(worst, f32::max);
        }
        assert!(if real { worst < 0.7 } else { hits > 185 }, "{algorithm:?}: {hits} of 200, off by {worst} at most");
    }
}

const OBS: [f32; 2 * B] = [0.5; 2 * B];
const MASK: [u8; 3 * B] = [1, 0, 0, 1, 1, 1, 0, 1, 1, 1, 0, 1];

/// Transitions of two numbers and three choices that a learner with masks accepts.
const GOOD: TransitionBatch<'static> = TransitionBatch {
    obs: Elements::F32(&OBS),
    action: Elements::I32(&[0, 1, 2, 0]),
    mask: Some(&MASK),
    reward: &[1.0; B],
    terminated: &[0; B],
    discount: Some(&[1.0; B]),
    next_obs: Elements::F32(&OBS),
    next_mask: Some(&MASK),
    importance: Some(&[0.0; B]),
};

/// DQN with masks and a store of its own.
fn masked() -> Config {
    Config { use_action_mask: 1, buffer_size: 8, learning_starts: 8, ..config(Algorithm::Dqn) }
}

fn choosing(config: Config) -> Vec<u64> {
    block(&config, &Space::unbounded(2), &Space::discrete(&[3]))
}

#[test]
fn arrays_that_cannot_be_are_refused_by_name() {
    let (mut learner, obs, mask, good) = (choosing(masked()), OBS, MASK, GOOD);
    let nan = [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, f32::NAN];
    let none = [1, 1, 1, 0, 0, 0, 1, 1, 1, 1, 1, 1];
    let (shape, value) = (Kind::Shape, Kind::Value);
    let cases = [
        (shape, "learn_transitions: obs", TransitionBatch { obs: Elements::F32(&obs[1..]), ..good }),
        (shape, "learn_transitions: obs", TransitionBatch { obs: Elements::U8(&[1; 2 * B]), ..good }),
        (shape, "learn_transitions: next_obs", TransitionBatch { next_obs: Elements::F32(&obs[1..]), ..good }),
        (shape, "actions: elements", TransitionBatch { action: Elements::I32(&[0; B + 1]), ..good }),
        (shape, "elements of kind", TransitionBatch { action: Elements::F32(&[0.0; B]), ..good }),
        (shape, "rewards", TransitionBatch { reward: &[0.0; B - 1], ..good }),
        (shape, "terminated", TransitionBatch { terminated: &[0; B + 1], ..good }),
        (shape, "discounts", TransitionBatch { discount: Some(&[0.0; B - 1]), ..good }),
        (shape, "importance", TransitionBatch { importance: Some(&[]), ..good }),
        (shape, "action mask", TransitionBatch { mask: Some(&mask[1..]), ..good }),
        (shape, "action mask", TransitionBatch { next_mask: Some(&mask[1..]), ..good }),
        (shape, "next_action_mask must be given", TransitionBatch { next_mask: None, ..good }),
        (value, ": action_mask forbids every choice of an element", TransitionBatch { mask: Some(&none), ..good }),
        (value, "choice of an element of transition 1", TransitionBatch { mask: Some(&none), ..good }),
        (
            value,
            "next_action_mask forbids every choice of an element",
            TransitionBatch { next_mask: Some(&none), ..good },
        ),
        (value, "choice of an element of transition 1", TransitionBatch { next_mask: Some(&none), ..good }),
        (value, "transition 2 is outside", TransitionBatch { action: Elements::I32(&[0, 1, 0, 0]), ..good }),
        (value, "finite obs", TransitionBatch { obs: Elements::F32(&nan), ..good }),
        (value, "finite next_obs", TransitionBatch { next_obs: Elements::F32(&nan), ..good }),
        (value, "finite rewards", TransitionBatch { reward: &[0.0, 0.0, f32::INFINITY, 0.0], ..good }),
        (value, "discounts from 0 to 1", TransitionBatch { discount: Some(&[0.0, 0.0, 0.0, 1.01]), ..good }),
        (value, "discounts from 0 to 1", TransitionBatch { discount: Some(&[0.0, f32::NAN, 0.0, 1.0]), ..good }),
        (value, "importance", TransitionBatch { importance: Some(&[0.0, 0.0, -0.1, 1.0]), ..good }),
        (value, "importance", TransitionBatch { importance: Some(&[0.0, 0.0, f32::INFINITY, 1.0]), ..good }),
        (value, "transition 3 is outside", TransitionBatch { action: Elements::I32(&[0, 1, 2, 3]), ..good }),
        (value, "transition 1 is outside", TransitionBatch { action: Elements::I32(&[0, -1, 2, 3]), ..good }),
    ];
    for (kind, words, bad) in cases {
        let mut error = [7.0; B];
        refused(&mut learner, kind, words, |l| l.learn_transitions(&bad, Some(&mut error)).map(drop));
        assert_eq!(error, [7.0; B]);
    }
    refused(&mut learner, shape, "errors", |l| l.learn_transitions(&good, Some(&mut [0.0; B - 1])).map(drop));
    open(&mut learner).learn_transitions(&good, Some(&mut [0.0; B])).unwrap();
}

/// DQN may omit the mask of `obs`, SAC needs it, and learners without masks take none.
#[test]
fn masks_are_asked_for_as_the_algorithm_needs() {
    let (good, words) = (GOOD, ": action_mask must be given to SAC");
    let mut learner = choosing(masked());
    open(&mut learner).learn_transitions(&TransitionBatch { mask: None, ..good }, None).unwrap();
    let mut soft = choosing(Config { use_action_mask: 1, ..config(Algorithm::Sac) });
    let unsaid = TransitionBatch { mask: None, ..good };
    let forbidden = TransitionBatch { action: Elements::I32(&[0, 1, 2, 1]), ..good };
    refused(&mut soft, Kind::Shape, words, |l| l.learn_transitions(&unsaid, None).map(drop));
    refused(&mut soft, Kind::Value, "transition 3 is outside", |l| l.learn_transitions(&forbidden, None).map(drop));
    open(&mut soft).learn_transitions(&good, Some(&mut [0.0; B])).unwrap();
    let mut free = choosing(Config { use_action_mask: 0, ..masked() });
    let given = TransitionBatch { next_mask: None, ..good };
    refused(&mut free, Kind::Shape, words, |l| l.learn_transitions(&given, None).map(drop));
}

/// Refused while the learner's own update is due, accepted after it.
#[test]
fn transitions_wait_for_the_learners_own_update() {
    let mut learner = choosing(masked());
    open(&mut learner).learn_transitions(&GOOD, None).unwrap();
    while open(&mut learner).phase() != Phase::Learn {
        let (mut l, obs) = (open(&mut learner), Elements::F32(&OBS[..2 * N]));
        l.act(None, obs, Some(&MASK[3..9]), ElementsMut::I32(&mut [0; N])).unwrap();
        l.observe(None, &[1.0; N], &[1; N], &[0; N], None, None).unwrap();
    }
    refused(&mut learner, Kind::NotReady, "an update is due", |l| l.learn_transitions(&GOOD, None).map(drop));
    open(&mut learner).learn(None, None, 1).unwrap();
    refused(&mut learner, Kind::NotReady, "an update is due", |l| l.learn_transitions(&GOOD, None).map(drop));
    learn_all(&mut open(&mut learner), 1);
    open(&mut learner).learn_transitions(&GOOD, None).unwrap();
}

#[test]
fn numbers_out_of_bounds_are_refused_by_name() {
    for (low, high) in [(-1.0, 2.0), (-3e38, 3e38)] {
        let (low, high, config) = ([low], [high], config(Algorithm::Sac));
        let space = Space { low: &low, high: &high, ..Space::unbounded(1) };
        let mut learner = block(&config, &Space::unbounded(2), &space);
        let good = TransitionBatch { mask: None, next_mask: None, ..GOOD };
        for (i, x) in [high[0] * 1.1, low[0] * 1.1, f32::NAN].into_iter().enumerate() {
            let mut action = [0.0; B];
            action[i] = x;
            let bad = TransitionBatch { action: Elements::F32(&action), ..good };
            let words = format!("transition {i} is outside");
            refused(&mut learner, Kind::Value, &words, |l| l.learn_transitions(&bad, None).map(drop));
        }
        let fine = TransitionBatch { action: Elements::F32(&[low[0], high[0], 0.0, 0.0]), ..good };
        open(&mut learner).learn_transitions(&fine, None).unwrap();
    }
}

#[test]
fn priorities_need_a_store() {
    let config = Config { priority_exponent: 0.5, ..config(Algorithm::Dqn) };
    let e = Learner::size(&config, &[], &Space::unbounded(2), &Space::discrete(&[2])).unwrap_err();
    assert!(format!("{e}").contains("priority_exponent of 0 without a store"), "{e}");
}

/// A step whose numbers overflow is dropped and counted; parameters stay, and the block can be opened again.
#[test]
fn overflow_drops_the_step() {
    for algorithm in [Algorithm::Dqn, Algorithm::Td3, Algorithm::Sac] {
        let real = algorithm != Algorithm::Dqn;
        let space = if real { Space::between(&[-1.0], &[1.0]) } else { Space::discrete(&[2]) };
        let mut learner = block(&Config { huber: 0, ..config(algorithm) }, &Space::unbounded(1), &space);
        let halves = Elements::F32(&[0.5; B]);
        let action = if real { halves } else { Elements::I32(&[1; B]) };
        let good = transitions(halves, action, &[1.0; B], &[1; B], halves);
        let mut error = [7.0; B];
        open(&mut learner).learn_transitions(&good, None).unwrap();
        let before = open(&mut learner).params().to_vec();
        let bad = TransitionBatch { reward: &[1.0, 3e38, 1.0, 1.0], ..good };
        let e = open(&mut learner).learn_transitions(&bad, Some(&mut error)).unwrap_err();
        assert!(e.kind == Kind::Value && format!("{e}").contains("the gradient step was dropped"), "{e}");
        assert!(open(&mut learner).params() == before && error == [7.0; B]);
        let mut l = attach(&mut learner);
        assert!(l.phase() == Phase::Act && l.stats().num_dropped == 1);
        let stats = l.learn_transitions(&good, Some(&mut error)).unwrap();
        assert!(stats.num_updates == 2 && error.iter().all(|x| x.is_finite()));
    }
}

/// The same for an update from the learner's own store: whatever its errors were, the block can be opened again.
#[test]
fn overflow_of_the_own_store_leaves_a_block_that_can_be_opened() {
    let own = Config { num_hidden: 0, hidden_len: [0; 4], ..config(Algorithm::Dqn) };
    let config = Config { buffer_size: 8, learning_starts: 8, train_interval: 2, num_chunks: 2, ..own };
    let mut learner = block(&config, &Space::unbounded(1), &Space::discrete(&[2]));
    let mut l = open(&mut learner);
    // The Q of the demonstrated actions overflows.
    let params = vec![2.0; l.params().len()];
    l.write_params(&params).unwrap();
    while l.phase() != Phase::Learn {
        l.demonstrate(None, Elements::F32(&[3e38; N]), None, Elements::I32(&[0; N])).unwrap();
        l.observe(None, &[1.0; N], &[0; N], &[1; N], Some(Elements::F32(&[0.5; N])), None).unwrap();
    }
    // The block also attaches in the middle of the update.
    l.learn(None, None, 1).unwrap();
    let l = attach(&mut learner);
    assert_eq!((l.phase(), l.stats().num_dropped), (Phase::Learn, 0));
    assert_eq!(open(&mut learner).learn(None, None, 0).unwrap_err().kind, Kind::Value);
    assert_eq!(attach(&mut learner).stats().num_dropped, 1);
}
