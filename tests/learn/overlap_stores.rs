//! Acting and storing go on while an update from a replay store runs: whatever the order, results are the same.

#![cfg(feature = "off_policy")]

use crate::host::stores::over_stores;
use crate::host::{Host, Tune, refuses, threads};
use rlcore::error::Kind;
use rlcore::learn::{Algorithm, Config, Learner, Phase, TransitionBatch};
use rlcore::rng::Rng;
use rlcore::space::{Elements, ElementsMut, Space};

/// When the slices of an update are computed.
#[derive(Clone, Copy, Debug)]
enum When {
    /// All of them as soon as the update is due.
    AtOnce,
    /// The first one then, and the others when acting has to wait for them.
    Late,
    /// Some after each call, of which this random stream decides.
    Between(u64),
    /// As `Between`, by three threads.
    Threads(u64),
}

/// The learner's slices after a call: all that have to be, and some that may be.
fn learn(h: &mut Host, when: When, rng: &mut Rng) {
    while h.learner().phase() == Phase::Learn {
        advance(h, when);
    }
    let more = match when {
        When::AtOnce => u64::MAX,
        When::Late => 0,
        When::Between(_) => rng.bounded(4),
        When::Threads(_) => rng.bounded(1),
    };
    for _ in 0..more {
        if h.learner().stats().minibatches_left == 0 {
            break;
        }
        advance(h, when);
    }
}

/// A slice, or a round of all chunks.
fn advance(h: &mut Host, when: When) {
    if let When::Threads(_) = when {
        if h.learner().learn_begin(None, None).is_ok() {
            return;
        }
        let (all, grads) = (h.config.num_chunks as usize, threads(h, 3));
        h.learner().write_grads(0, all, &grads).unwrap();
        h.learner().learn_apply().unwrap();
    } else {
        h.learner().learn(None, None, 1).unwrap();
    }
}

/// A step of random rows, each of which acts and then observes, and now and then is removed; the same for the same tick.
fn step(h: &mut Host, tick: u64, when: When, order: &mut Rng) {
    let mut rng = Rng::seeded(tick);
    let mut some = |h: &mut Host, acted: u8| -> Vec<u8> {
        h.learner().acted().iter().map(|&x| u8::from(x == acted && rng.bounded(3) > 0)).collect()
    };
    let (to_act, observe, mut action) = (some(h, 0), some(h, 1), h.actions());
    let mut rng = Rng::seeded(1000 + tick);
    let (obs, last, mask) = (h.draw_seen(&mut rng), h.draw_seen(&mut rng), h.draw_mask(&mut rng));
    let reward: Vec<f32> = (0..h.n).map(|_| rng.uniform_f32()).collect();
    let mut flags = |p: f64| (0..h.n).map(|_| u8::from(rng.uniform() < p)).collect::<Vec<u8>>();
    let (terminated, truncated, gone) = (flags(0.1), flags(0.1), flags(0.02));
    h.learner().observe(Some(&observe), &reward, &terminated, &truncated, Some(last.get()), None).unwrap();
    learn(h, when, order);
    if h.config.demonstration_size > 0 && tick.is_multiple_of(3) {
        h.learner().demonstrate(Some(&to_act), obs.get(), None, action.get()).unwrap();
    } else {
        h.learner().act(Some(&to_act), obs.get(), mask.as_deref(), action.get_mut()).unwrap();
    }
    learn(h, when, order);
    if tick.is_multiple_of(7) {
        h.learner().cut_rows(&gone).unwrap();
    }
}

/// All bytes, and so also all actions, are those of updates that are complete at once: with slices at any time, threads, and a
/// block that is saved between them. Nothing that arrives during an update is learned from in it, nothing that it learns from is
/// overwritten, and statistics, schedules and priorities are those from when it began.
#[test]
fn results_do_not_depend_on_when_an_update_is_computed() {
    for mut whole in over_stores(3, 1) {
        let start = whole.clone();
        let mut at = Vec::new();
        for tick in 0..300 {
            step(&mut whole, tick, When::AtOnce, &mut Rng::seeded(0));
            if (tick + 1).is_multiple_of(60) {
                at.push(whole.clone());
            }
        }
        let (updates, stored) = (whole.learner().stats().num_updates, whole.learner().stats().num_steps);
        assert!(updates > 40 && stored > 500 && whole.learner().stats().num_dropped == 0, "{updates} {stored}");
        for when in [When::Late, When::Between(1), When::Between(2), When::Threads(3)] {
            let (mut h, mut running) = (start.clone(), 0);
            let mut order = Rng::seeded(match when {
                When::Between(seed) | When::Threads(seed) => seed,
                _ => 0,
            });
            for tick in 0..300 {
                step(&mut h, tick, when, &mut order);
                let left = h.learner().stats().minibatches_left;
                running += u32::from(left > 0 && h.learner().phase() != Phase::Learn);
                h = h.clone();
                if (tick + 1).is_multiple_of(60) {
                    let mut done = h.clone();
                    while done.learner().stats().minibatches_left > 0 {
                        done.learner().learn(None, None, 2).unwrap();
                    }
                    assert!(done.block == at[tick as usize / 60].block, "{when:?}, tick {tick}: {:?}", h.config);
                }
            }
            assert!(running > 20, "{when:?}: an update runs beside {running} steps");
        }
    }
}

/// Actions, predictions and values of a running update are those from before it; acting takes the new policy with the next one.
#[test]
fn the_policy_from_before_an_update_acts_until_the_next_one() {
    let config =
        Config { exploration_start: 0.0, exploration_end: 0.0, exploration_steps: 0, learning_rate: 0.5, ..one() };
    let mut h = Host::new(&config, &Space::unbounded(1), &Space::discrete(&[2]));
    let value = |h: &mut Host| {
        let mut value = [0.0; 2];
        h.learner().value(Elements::F32(&[1.0, -1.0]), None, &mut value).unwrap();
        value
    };
    let mut values = Vec::new();
    for tick in 0..60 {
        play(&mut h, tick);
        if h.learner().phase() != Phase::Learn {
            continue;
        }
        let before = value(&mut h);
        h.learner().learn(None, None, 1).unwrap();
        let left = h.learner().stats().minibatches_left;
        assert!(left == 2 && h.learner().phase() == Phase::Act && value(&mut h) == before);
        h.learner().learn(None, None, 0).unwrap();
        assert!(value(&mut h) != before && h.learner().stats().minibatches_left == 0);
        values.push(before);
    }
    assert!(values.len() > 4);
}

/// Two environments, updates of three gradient steps after every four steps.
fn one() -> Config {
    let config = Config { num_envs: 2, overlap: 1, train_interval: 4, gradient_steps: 3, ..Config::of(Algorithm::Dqn) };
    config.hidden(&[8]).store(60, 8, 20)
}

fn play(h: &mut Host, tick: u64) {
    let x = [tick as f32 / 30.0 - 1.0, 1.0 - tick as f32 / 30.0];
    h.learner().act(None, Elements::F32(&x), None, ElementsMut::I32(&mut [0; 2])).unwrap();
    h.learner().observe(None, &x, &[1, 0], &[0, 0], None, None).unwrap();
}

/// Acting waits only while an update is due that has not begun.
#[test]
fn learning_is_due_only_when_acting_has_to_wait() {
    let mut h = Host::new(&one(), &Space::unbounded(1), &Space::discrete(&[2]));
    let learn = |h: &mut Host| {
        let stats = h.learner().learn(None, None, 1).unwrap();
        (stats.minibatches_left, stats.num_updates, h.learner().phase())
    };
    (0..10).for_each(|tick| play(&mut h, tick));
    assert_eq!((h.learner().phase(), h.learner().stats().minibatches_left), (Phase::Learn, 3));
    assert_eq!(learn(&mut h), (2, 0, Phase::Act));
    let ready = |l: &mut Learner<'_>| l.learn_begin(None, None).map(drop);
    refuses(&mut h, Kind::NotReady, "learn_begin while an update runs", ready);
    refuses(&mut h, Kind::NotReady, "count_steps while an update runs", |l| l.count_steps(1));
    let obs = Elements::F32(&[0.5; 8]);
    let batch = TransitionBatch {
        obs,
        action: Elements::I32(&[1; 8]),
        mask: None,
        reward: &[1.0; 8],
        terminated: &[0; 8],
        discount: None,
        next_obs: obs,
        next_mask: None,
        importance: None,
    };
    refuses(&mut h, Kind::NotReady, "transitions while an update runs", |l| {
        l.learn_transitions(&batch, None).map(drop)
    });
    (10..12).for_each(|tick| play(&mut h, tick));
    assert_eq!(h.learner().phase(), Phase::Learn);
    assert_eq!(learn(&mut h), (1, 0, Phase::Learn));
    // The first update is complete, and the second is due at once.
    assert_eq!(learn(&mut h), (3, 1, Phase::Learn));
    assert_eq!(learn(&mut h), (2, 1, Phase::Act));
    // Drops the running update and not the one that is due; then that one.
    (12..14).for_each(|tick| play(&mut h, tick));
    h.learner().learn_drop().unwrap();
    assert_eq!((h.learner().phase(), h.learner().stats().minibatches_left), (Phase::Learn, 3));
    h.learner().learn_drop().unwrap();
    assert_eq!((h.learner().phase(), h.learner().stats().minibatches_left), (Phase::Act, 0));
    // Transitions of the host's change the policy at once.
    let before = h.learner().params().to_vec();
    h.learner().learn_transitions(&batch, None).unwrap();
    assert!(h.learner().params() != before && h.learner().phase() == Phase::Act);
}

/// The observation is one bit and the choice of that bit pays 1; one chunk is learned between two steps.
#[test]
fn a_policy_learns_while_it_acts() {
    const N: usize = 4;
    let config = Config { num_envs: N as u32, train_interval: 16, gradient_steps: 4, priority_exponent: 0.6, ..one() };
    let config = Config { importance_exponent: 0.4, importance_steps: 2000, exploration_steps: 1000, ..config };
    let config = Config { exploration_end: 0.0, ..config.rate(1e-2).store(300, 32, 100) };
    let mut h = Host::new(&config, &Space::unbounded(1), &Space::discrete(&[2]));
    let (mut rng, mut obs, mut choice) = (Rng::seeded(2), [0.0f32; N], [0; N]);
    let (mut learner, mut waited) = (h.learner(), 0);
    while learner.stats().num_updates < 150 {
        if learner.stats().minibatches_left > 0 {
            learner.learn(None, None, 1).unwrap();
        }
        if learner.phase() == Phase::Learn {
            waited += 1;
            continue;
        }
        learner.act(None, Elements::F32(&obs), None, ElementsMut::I32(&mut choice)).unwrap();
        let reward: Vec<f32> = (0..N).map(|i| u8::from(choice[i] == obs[i] as i32).into()).collect();
        learner.observe(None, &reward, &[1; N], &[0; N], None, None).unwrap();
        obs.fill_with(|| u8::from(rng.coin()).into());
    }
    assert!(learner.stats().return_mean > 0.95, "{:?}", learner.stats());
    assert_eq!(waited, 0, "4 gradient steps have their place in 4 steps");
}

/// The store has room for transitions that arrive while an update runs.
#[test]
fn a_store_without_room_for_arrivals_is_refused() {
    let (obs, action) = (Space::unbounded(1), Space::discrete(&[2]));
    let size = |c: &Config| Learner::size(c, &[], &obs, &action).map_err(|e| e.to_string());
    // 2 * (1 + 1) + 4 transitions arrive, and 8 are drawn.
    assert!(size(&one().store(16, 8, 8)).is_ok());
    let what = size(&one().store(15, 8, 8)).unwrap_err();
    assert!(what.contains("with overlap batch_size of at most buffer_size - train_interval"), "{what}");
    assert!(size(&Config { overlap: 0, ..one().store(15, 8, 8) }).is_ok());
    let what = size(&one().store(0, 8, 8)).unwrap_err();
    assert!(what.contains("overlap is set to 1, which is read only with a store of the learner's own"), "{what}");
    let what = size(&Config { overlap: 1, num_envs: 1, ..Config::of(Algorithm::StreamQ) }).unwrap_err();
    assert!(what.contains("overlap is set to 1, which is read only by algorithms other than stream ones"), "{what}");
}
