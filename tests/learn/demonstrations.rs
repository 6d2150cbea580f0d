//! Actions demonstrated by the host: stored like drawn actions, learned from, and refused where invalid.

#![cfg(feature = "off_policy")]

use crate::host::{Tune, export, learn_all, made, open, policy, refused};
use rlcore::error::Kind;
use rlcore::learn::{Algorithm, Config, Learner, Recurrent, Sampling, Stats};
use rlcore::rng::Rng;
use rlcore::space::{Elements, ElementsMut, Space};

const N: usize = 3;

fn config(algorithm: Algorithm) -> Config {
    Config {
        num_envs: N as u32,
        train_interval: 3,
        exploration_steps: 60,
        ..Config::of(algorithm).hidden(&[16]).rate(5e-3).store(300, 16, 30)
    }
}

fn block(config: &Config, action: &Space<'_>) -> Vec<u64> {
    let obs = Space::unbounded(2);
    made(config, &[], &obs, action)
}

/// An observation of each environment.
fn show(rng: &mut Rng) -> [f32; 2 * N] {
    core::array::from_fn(|_| 2.0 * rng.uniform_f32() - 1.0)
}

/// Observes, then learns while learning is due.
fn finish(learner: &mut Learner<'_>, reward: &[f32; N], active: Option<&[u8]>, ends: [u8; N]) -> Stats {
    learner.observe(active, reward, &ends, &[0; N], None, None).unwrap();
    learn_all(learner, 0);
    learner.stats()
}

/// Actions drawn by `act` and demonstrated to a second learner leave the same store, and so the same parameters and statistics.
#[test]
fn they_are_stored_as_actions_that_were_drawn() {
    for n_step in [1, 3] {
        let config = Config { n_step, use_action_mask: 1, ..config(Algorithm::Dqn) };
        let space = Space::discrete(&[3, 2]);
        let (mut acting, mut shown, mut rng) = (block(&config, &space), block(&config, &space), Rng::seeded(4));
        for t in 0..80 {
            let (obs, mut action) = (show(&mut rng), [7; 2 * N]);
            let mask: [u8; 5 * N] = core::array::from_fn(|i| if i % 5 == t % 3 { 0 } else { 1 });
            let flags = [1, u8::from(t % 4 != 2), 1];
            let (obs, active) = (Elements::F32(&obs), Some(&flags[..]));
            open(&mut acting).act(active, obs, Some(&mask), ElementsMut::I32(&mut action)).unwrap();
            let reward = core::array::from_fn(|i| (action[2 * i] - action[2 * i + 1]) as f32);
            open(&mut shown).demonstrate(active, obs, Some(&mask), Elements::I32(&action)).unwrap();
            let ours = finish(&mut open(&mut acting), &reward, active, [1, 0, 1]);
            let theirs = finish(&mut open(&mut shown), &reward, active, [1, 0, 1]);
            // Except for episodes: demonstrated ones do not count as the agent's.
            assert!(theirs.num_episodes == 0 && theirs.return_mean.is_nan() && theirs.return_last.is_nan());
            let theirs = Stats {
                num_episodes: ours.num_episodes,
                return_mean: ours.return_mean,
                length_mean: ours.length_mean,
                return_last: ours.return_last,
                return_std: ours.return_std,
                return_min: ours.return_min,
                return_max: ours.return_max,
                ..theirs
            };
            assert_eq!(format!("{ours:?}"), format!("{theirs:?}"));
        }
        assert!(open(&mut acting).stats().num_updates > 20);
        assert_eq!(open(&mut acting).params(), open(&mut shown).params());
    }
}

/// The same for bounded numbers, which are stored scaled to -1 to 1 and so rounded once more.
#[test]
fn numbers_are_stored_between_their_bounds() {
    for algorithm in [Algorithm::Td3, Algorithm::Sac] {
        let config = Config { learning_starts: 30, exploration_steps: 30, ..config(algorithm) };
        let (low, high) = ([-3.0, 10.0], [1.0, 30.0]);
        let space = Space { low: &low, high: &high, ..Space::unbounded(2) };
        let (mut acting, mut shown, mut rng) = (block(&config, &space), block(&config, &space), Rng::seeded(4));
        for _ in 0..14 {
            let (obs, mut action) = (show(&mut rng), [0.0; 2 * N]);
            open(&mut acting).act(None, Elements::F32(&obs), None, ElementsMut::F32(&mut action)).unwrap();
            open(&mut shown).demonstrate(None, Elements::F32(&obs), None, Elements::F32(&action)).unwrap();
            let reward = core::array::from_fn(|i| 0.1 * action[2 * i]);
            finish(&mut open(&mut acting), &reward, None, [1, 0, 1]);
            finish(&mut open(&mut shown), &reward, None, [1, 0, 1]);
        }
        assert!(open(&mut acting).stats().num_updates > 3);
        let (acting, shown) = (open(&mut acting), open(&mut shown));
        let far = acting.params().iter().zip(shown.params()).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(far < 1e-3, "{far}");
    }
}

/// A policy that never acted takes the actions that paid in random demonstrations.
#[test]
fn they_are_learnt_from() {
    let config = config(Algorithm::Dqn);
    let (mut learner, mut rng) = (block(&config, &Space::discrete(&[2])), Rng::seeded(1));
    let right = |obs: &[f32; 2 * N], i: usize| i32::from(obs[2 * i] > obs[2 * i + 1]);
    for _ in 0..1200 {
        let (obs, mut reward) = (show(&mut rng), [0.0; N]);
        let action: [i32; N] = core::array::from_fn(|_| i32::from(rng.uniform_f32() < 0.5));
        open(&mut learner).demonstrate(None, Elements::F32(&obs), None, Elements::I32(&action)).unwrap();
        for (i, reward) in reward.iter_mut().enumerate() {
            *reward = f32::from(u8::from(action[i] == right(&obs, i)));
        }
        finish(&mut open(&mut learner), &reward, None, [1; N]);
    }
    let brain = export(&open(&mut learner).view());
    let policy = policy(&brain);
    let mut scratch = vec![0.0; policy.scratch_len(N).unwrap()];
    let mut hits = 0;
    for _ in 0..200 {
        let (obs, mut action) = (show(&mut rng), [0; N]);
        let (seen, to) = (Elements::F32(&obs), ElementsMut::I32(&mut action));
        policy.act(N, seen, None, Recurrent::default(), Sampling::Greedy, &mut rng, &mut scratch, to).unwrap();
        hits += (0..N).filter(|&i| action[i] == right(&obs, i)).count();
    }
    assert!(hits > 540, "{hits} of 600");
}

#[test]
fn what_cannot_be_is_refused_by_name() {
    let (obs, nan) = ([0.5; 2 * N], [f32::NAN; 2 * N]);
    let masked = Config { use_action_mask: 1, ..config(Algorithm::Dqn) };
    let mut learner = block(&masked, &Space::discrete(&[3]));
    let mask = [1, 1, 1, 1, 0, 1, 1, 1, 1];
    let show = |action: [i32; N]| {
        move |l: &mut Learner<'_>| l.demonstrate(None, Elements::F32(&obs), Some(&mask), Elements::I32(&action))
    };
    refused(&mut learner, Kind::Value, "environment 0 is outside", show([3, 0, 0]));
    refused(&mut learner, Kind::Value, "environment 2 is outside", show([0, 0, -1]));
    refused(&mut learner, Kind::Value, "environment 1 is outside", show([1, 1, 1]));
    refused(&mut learner, Kind::Shape, "action_mask", |l| {
        l.demonstrate(None, Elements::F32(&obs), None, Elements::I32(&[0; N]))
    });
    refused(&mut learner, Kind::Shape, "elements of kind", |l| {
        l.demonstrate(None, Elements::F32(&obs), Some(&mask), Elements::F32(&[0.0; N]))
    });
    refused(&mut learner, Kind::Shape, "actions: elements", |l| {
        l.demonstrate(None, Elements::F32(&obs), Some(&mask), Elements::I32(&[0; N + 1]))
    });
    refused(&mut learner, Kind::Value, "finite obs", |l| {
        l.demonstrate(None, Elements::F32(&nan), Some(&mask), Elements::I32(&[0; N]))
    });
    open(&mut learner)
        .demonstrate(Some(&[0, 1, 0]), Elements::F32(&obs), Some(&mask), Elements::I32(&[9, 2, 9]))
        .unwrap();
    assert_eq!(open(&mut learner).view().acted(), [0, 1, 0], "absent rows are not read");
    refused(&mut learner, Kind::NotReady, "environment 1 has acted", show([0; N]));

    for (low, high) in [(-1.0, 2.0), (-3e38, 3e38)] {
        let (low, high) = ([low], [high]);
        let space = Space { low: &low, high: &high, ..Space::unbounded(1) };
        let mut learner = block(&config(Algorithm::Sac), &space);
        for (i, x) in [high[0] * 1.1, low[0] * 1.1, f32::NAN].into_iter().enumerate() {
            let mut action = [0.0; N];
            action[i] = x;
            refused(&mut learner, Kind::Value, &format!("environment {i} is outside"), |l| {
                l.demonstrate(None, Elements::F32(&obs), None, Elements::F32(&action))
            });
        }
        open(&mut learner)
            .demonstrate(None, Elements::F32(&obs), None, Elements::F32(&[low[0], high[0], 0.0]))
            .unwrap();
    }
}

/// Episodes that an agent plays alone count; those with a demonstrated step do not, wherever in the episode it is.
#[test]
fn episodes_of_demonstrations_are_not_the_agents() {
    let (config, space) = (Config { num_envs: N as u32, ..config(Algorithm::Dqn) }, Space::discrete(&[2]));
    let (mut own, obs) = (block(&config, &space), [0.5; 2 * N]);
    let mut l = open(&mut own);
    let (mut returns, mut counted) = (vec![], 0);
    // The demonstrated steps of an episode of three, for environments 0 and 2; environment 1 always plays alone.
    for pattern in [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1], [0, 0, 0]] {
        for (t, &helped) in pattern.iter().enumerate() {
            let helps = [helped, 0, helped];
            let mut action = [0; N];
            l.demonstrate(Some(&helps), Elements::F32(&obs), None, Elements::I32(&[1; N])).unwrap();
            l.act(Some(&helps.map(|x| 1 - x)), Elements::F32(&obs), None, ElementsMut::I32(&mut action)).unwrap();
            let reward = [1.0, 10.0, 100.0].map(|x: f32| x + t as f32);
            finish(&mut l, &reward, None, [u8::from(t == 2); N]);
        }
        let alone = pattern == [0; 3];
        returns
            .extend([3.0f64, 30.0, 300.0].iter().enumerate().filter(|(i, _)| alone || *i == 1).map(|(_, x)| x + 3.0));
        counted += if alone { 3 } else { 1 };
        let stats = l.stats();
        assert_eq!((stats.num_episodes, stats.length_mean), (counted, 3.0), "{pattern:?}");
        let mean = returns.iter().sum::<f64>() / returns.len() as f64;
        let deviation = (returns.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / returns.len() as f64).sqrt();
        let near = |a: f32, b: f64| (f64::from(a) - b).abs() < 1e-4 * (1.0 + b);
        assert!(near(stats.return_mean, mean) && near(stats.return_std, deviation), "{stats:?} {mean} {deviation}");
        assert!((stats.return_min, stats.return_max) == (6.0, 303.0), "{stats:?}");
    }
    // A cut forgets that an agent was helped.
    l.demonstrate(None, Elements::F32(&obs), None, Elements::I32(&[1; N])).unwrap();
    l.cut_rows(&[1, 0, 0]).unwrap();
    l.act(Some(&[1, 0, 0]), Elements::F32(&obs), None, ElementsMut::I32(&mut [0; N])).unwrap();
    assert_eq!(finish(&mut l, &[0.0; N], None, [1; N]).num_episodes, counted + 1);
}
