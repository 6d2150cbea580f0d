//! Limits of rewards: what learns from limited rewards learns as if the host had limited them, and statistics have the host's.

#![cfg(all(feature = "off_policy", feature = "stream", feature = "unreal"))]

use crate::host::{Tune, attach, made};
use rlcore::error::Kind;
use rlcore::learn::{Algorithm, Config, Learner, Phase, TransitionBatch};
use rlcore::rng::Rng;
use rlcore::space::{Elements, ElementsMut, Space};

const LIMITS: [f32; 2] = [-1.0, 0.5];

fn configs() -> Vec<(Config, Space<'static>)> {
    let discrete = Space::discrete(&[3]);
    let on = |algorithm| Config { num_envs: 2, ..Config::of(algorithm).hidden(&[8]).rollout(6, 1, 1) };
    let off = |algorithm| Config { num_envs: 2, n_step: 3, ..Config::of(algorithm).hidden(&[8]).store(64, 8, 16) };
    let stream = |algorithm| Config::of(algorithm).hidden(&[8]);
    let tasks = [Algorithm::Ppo, Algorithm::Impala, Algorithm::Unreal].map(|algorithm| {
        let own = Config { value_replay_coef: 0.5, reward_class_coef: 1.0, pixel_control_coef: 0.0, ..on(algorithm) };
        (Config { history_len: 30, reward_threshold: 0.6, ..own }, discrete)
    });
    let numbers = Space::between(&[-1.0; 2], &[1.0; 2]);
    let mut all: Vec<_> = [Algorithm::Ppo, Algorithm::A2c, Algorithm::Impala, Algorithm::Pqn]
        .into_iter()
        .flat_map(|algorithm| [(on(algorithm), discrete), (on(algorithm).normalized(0, 1), discrete)])
        .collect();
    all.extend(tasks);
    all.extend([(off(Algorithm::Dqn), discrete), (off(Algorithm::Sac), discrete)]);
    all.extend([(off(Algorithm::Td3), numbers), (off(Algorithm::Sac), numbers)]);
    all.extend([(stream(Algorithm::StreamAc), discrete), (stream(Algorithm::StreamQ), discrete)]);
    all
}

/// Plays and learns; with `clips` the host limits the rewards. Returns the bits of the parameters, and the mean return.
fn train(config: &Config, action: &Space<'_>, clips: bool) -> (Vec<u32>, f32) {
    let mut block = made(config, &[], &Space::unbounded(3), action);
    let n = config.num_envs as usize;
    let mut rng = Rng::seeded(4);
    for step in 0..48 {
        let mut learner = attach(&mut block);
        let obs: Vec<f32> = (0..3 * n).map(|_| rng.uniform_f32() - 0.5).collect();
        let (mut choices, mut numbers) = (vec![0; n], vec![0.0; 2 * n]);
        let to = match action.n.is_empty() {
            true => ElementsMut::F32(&mut numbers),
            false => ElementsMut::I32(&mut choices),
        };
        learner.act(None, Elements::F32(&obs), None, to).unwrap();
        let mut reward: Vec<f32> = (0..n).map(|_| 4.0 * rng.uniform_f32() - 2.0).collect();
        if clips {
            reward.iter_mut().for_each(|x| *x = x.clamp(LIMITS[0], LIMITS[1]));
        }
        let ends = vec![u8::from(step % 7 == 6); n];
        let cut = vec![u8::from(step % 5 == 4); n];
        learner.observe(None, &reward, &ends, &cut, Some(Elements::F32(&obs)), None).unwrap();
        if learner.phase() == Phase::Learn {
            learner.learn(Some(Elements::F32(&obs)), None, 0).unwrap();
        }
    }
    let learner = attach(&mut block);
    assert!(learner.stats().num_updates > 0 && learner.stats().num_dropped == 0);
    (learner.params().iter().map(|x| x.to_bits()).collect(), learner.stats().return_mean)
}

#[test]
fn limited_rewards_are_learnt_from_and_raw_ones_are_told() {
    for (config, action) in configs() {
        let limited = Config { reward_min: LIMITS[0], reward_max: LIMITS[1], ..config };
        let [ours, theirs, raw] =
            [(&limited, false), (&config, true), (&config, false)].map(|(config, clips)| train(config, &action, clips));
        let algorithm = config.algorithm();
        assert!(ours.0 == theirs.0 && ours.0 != raw.0, "{algorithm:?}");
        assert!(ours.1 != theirs.1, "{algorithm:?}: {} {}", ours.1, theirs.1);
    }
}

/// Transitions of the host have limited rewards too, unless they come with discounts.
#[test]
fn rewards_of_given_transitions_are_limited_alike() {
    let rewards = [3.0, -2.0, 0.25, 0.75];
    let clipped = rewards.map(|x: f32| x.clamp(LIMITS[0], LIMITS[1]));
    let cases = [
        (Algorithm::Dqn, Elements::I32(&[0, 1, 2, 1])),
        (Algorithm::Sac, Elements::I32(&[0, 1, 2, 1])),
        (Algorithm::Td3, Elements::F32(&[0.5; 8])),
        (Algorithm::Sac, Elements::F32(&[0.5; 8])),
    ];
    for (algorithm, action) in cases {
        let space = if matches!(action, Elements::F32(_)) {
            Space::between(&[-1.0; 2], &[1.0; 2])
        } else {
            Space::discrete(&[3])
        };
        let config = Config { batch_size: 4, buffer_size: 0, num_chunks: 2, ..Config::of(algorithm).hidden(&[8]) };
        let limited = Config { reward_min: LIMITS[0], reward_max: LIMITS[1], ..config };
        let obs: Vec<f32> = (0..12).map(|i| i as f32 / 12.0).collect();
        let run = |config: &Config, reward: &[f32; 4], discount: Option<&[f32]>| {
            let mut block = made(config, &[], &Space::unbounded(3), &space);
            let batch = TransitionBatch {
                obs: Elements::F32(&obs),
                action,
                mask: None,
                reward,
                terminated: &[0, 0, 1, 0],
                discount,
                next_obs: Elements::F32(&obs),
                next_mask: None,
                importance: None,
            };
            let mut error = [0.0; 4];
            let mut learner = attach(&mut block);
            for _ in 0..3 {
                learner.learn_transitions(&batch, Some(&mut error)).unwrap();
            }
            (learner.params().to_vec(), error)
        };
        let one = Some(&[0.9; 4][..]);
        assert!(run(&limited, &rewards, None) == run(&config, &clipped, None), "{algorithm:?}");
        assert!(run(&limited, &rewards, None) != run(&config, &rewards, None), "{algorithm:?}");
        assert!(run(&limited, &rewards, one) == run(&config, &rewards, one), "{algorithm:?}");
    }
}

#[test]
fn limits_that_cannot_be_are_refused() {
    for [reward_min, reward_max] in [[1.0, 1.0], [1.0, 0.0], [0.5, -0.5], [0.0, -1.0], [f32::MAX, f32::MAX]] {
        for algorithm in [Algorithm::Ppo, Algorithm::Dqn, Algorithm::StreamQ] {
            let config = Config { reward_min, reward_max, ..Config::of(algorithm) };
            let error = Learner::size(&config, &[], &Space::unbounded(3), &Space::discrete(&[2])).unwrap_err();
            let words = "learner config: reward_max above reward_min, or both 0";
            assert!(error.kind == Kind::Config && error.to_string().contains(words), "{error}");
        }
    }
}
