//! Hindsight goals (Andrychowicz et al. 2017): bits are flipped by a learner that learns from the host's own store, in which
//! each transition stands as it was and with goals that were reached later in its episode.

#![cfg(feature = "off_policy")]

use rlcore::data::relabel::{self, Judgement, Steps, Strategy, relabel};
use rlcore::data::replay::{self, Draw, Replay, ReplayConfig};
use rlcore::data::table::{Column, FrameIndex};
use rlcore::env::{BitFlip, Env, StepOut, VecEnv, VecEnvConfig};
use rlcore::kernels::stack::Layout;
use rlcore::learn::{Algorithm, Config, OffPolicy, Phase, Sampling, TransitionBatch};
use rlcore::rng::Rng;
use rlcore::space::{Element, Elements, ElementsMut};

/// Bits, environments, transitions of a batch, and goals that each step is given beside its own.
const N: usize = 10;
const ENVS: usize = 8;
const BATCH: usize = 64;
const GOALS: usize = 4;
const ENV: BitFlip<N> = BitFlip;

fn config() -> Config {
    Config {
        num_envs: ENVS as u32,
        num_hidden: 1,
        hidden_len: [128, 0, 0, 0],
        discount: 0.98,
        learning_rate: 1e-3,
        learning_rate_end: 1e-3,
        buffer_size: 0,
        batch_size: BATCH as u32,
        target_rate: 0.05,
        target_interval: 1,
        exploration_steps: 8000,
        exploration_end: 0.05,
        seed: 3,
        ..Config::of(Algorithm::Dqn)
    }
}

/// One environment's episode: an observation before each action and after the last one, and the actions.
#[derive(Clone, Default)]
struct Episode {
    obs: Vec<f32>,
    action: Vec<i32>,
}

impl Episode {
    /// Adds each step to the store with goals that it reached itself or a later one did.
    fn relabel_into(&self, replay: &mut Replay<'_>, rng: &mut Rng) {
        let len = self.action.len() as u32;
        let rows: Vec<&[f32]> = self.obs.chunks(2 * N).map(|obs| &obs[..N]).collect();
        let step: Vec<u32> = (0..len).flat_map(|t| [t; GOALS]).collect();
        let mut goal_row = vec![0; step.len()];
        relabel::draw(Strategy::Future, &step, &vec![len; step.len()], rng, &mut goal_row).unwrap();
        let (mut goal, mut reward, mut terminated) =
            (vec![0.0; step.len() * N], vec![0.0; step.len()], vec![0; step.len()]);
        let row: Vec<u32> = step.iter().map(|t| t + 1).collect();
        let steps = Steps { goal_len: N, achieved: &rows.concat(), row: &row, goal_row: &goal_row };
        let judge = |achieved: &[f32], goal: &[f32]| {
            let there = achieved == goal;
            Ok(Judgement { reward: if there { 0.0 } else { -1.0 }, terminated: there })
        };
        relabel(&steps, judge, &mut goal, &mut reward, &mut terminated).unwrap();
        for (k, &t) in step.iter().enumerate() {
            // With a goal of its own each step is an episode of its own.
            let (t, goal, terminated) = (t as usize, &goal[k * N..][..N], terminated[k] == 1);
            let (obs, next) = ([rows[t], goal].concat(), [rows[t + 1], goal].concat());
            let action = [self.action[t]];
            let step = replay::Step { reward: reward[k], terminated, truncated: !terminated };
            let (row, tail) =
                ([Elements::F32(&obs), Elements::I32(&action)], [Elements::F32(&next), Elements::I32(&action)]);
            replay.add(ENVS, &row, &step, Some(&tail)).unwrap();
        }
    }
}

/// Trains for so many steps of each environment, and returns how many of 400 episodes reach their goal.
fn reached(num_steps: usize, hindsight: bool) -> usize {
    let (config, spec) = (config(), ENV.spec());
    let mut learner = vec![0u64; OffPolicy::size(&config, &[], &spec.obs, &spec.action).unwrap() / 8];
    let mut l = OffPolicy::init(bytemuck::cast_slice_mut(&mut learner), &config, &[], &spec.obs, &spec.action).unwrap();
    let columns = [Column::new("obs", Element::F32, 2 * N as u32), Column::new("action", Element::I32, 1)];
    // A ring for each environment, and one for what hindsight makes of them.
    let store =
        ReplayConfig { discount: config.discount, alpha: 0.0, ..ReplayConfig::new(ENVS as u32 + 1, 60_000, &columns) };
    let mut memory = vec![0u64; Replay::size(&store).unwrap() / 8];
    let mut replay = Replay::init(bytemuck::cast_slice_mut(&mut memory), &store).unwrap();
    let envs_config = VecEnvConfig { num_envs: ENVS as u32, seed: 5, ..VecEnvConfig::default() };
    let mut envs = vec![0u64; VecEnv::size(&ENV, &envs_config).unwrap() / 8];
    let mut envs = VecEnv::init(bytemuck::cast_slice_mut(&mut envs), &ENV, &envs_config).unwrap();

    let (mut obs, mut last, mut action) = ([0.0; 2 * N * ENVS], [0.0; 2 * N * ENVS], [0; ENVS]);
    let (mut reward, mut terminated, mut truncated) = ([0.0; ENVS], [0; ENVS], [0; ENVS]);
    let mut episodes = vec![Episode::default(); ENVS];
    let mut rng = Rng::seeded(1);
    envs.reset(None, ElementsMut::F32(&mut obs)).unwrap();
    for step in 0..num_steps {
        l.act(None, Elements::F32(&obs), None, ElementsMut::I32(&mut action)).unwrap();
        let before = obs;
        let out = StepOut {
            obs: ElementsMut::F32(&mut obs),
            reward: &mut reward,
            terminated: &mut terminated,
            truncated: &mut truncated,
            final_obs: Some(ElementsMut::F32(&mut last)),
            valid: None,
        };
        envs.step(Elements::I32(&action), out).unwrap();
        l.observe(None, &reward, &terminated, &truncated, Some(Elements::F32(&last))).unwrap();
        assert!(l.phase() == Phase::Act && l.view().stored() == 0, "it has no store of its own");
        for (i, episode) in episodes.iter_mut().enumerate() {
            let [before, last] = [&before, &last].map(|obs| &obs[2 * N * i..][..2 * N]);
            let (flags, taken) = ((terminated[i] != 0, truncated[i] != 0), &action[i..=i]);
            let over = flags.0 || flags.1;
            let (row, tail) =
                ([Elements::F32(before), Elements::I32(taken)], [Elements::F32(last), Elements::I32(taken)]);
            let done = replay::Step { reward: reward[i], terminated: flags.0, truncated: flags.1 };
            replay.add(i, &row, &done, over.then_some(&tail)).unwrap();
            episode.obs.extend(before);
            episode.action.extend(taken);
            if over {
                episode.obs.extend(last);
                if hindsight {
                    episode.relabel_into(&mut replay, &mut rng);
                }
                *episode = Episode::default();
            }
        }
        if step >= 50 {
            learn(&mut l, &replay, &mut rng);
        }
    }
    evaluate(&mut l)
}

/// One gradient step from a batch of the store.
fn learn(l: &mut OffPolicy<'_>, replay: &Replay<'_>, rng: &mut Rng) {
    let (mut index, mut weight) = ([FrameIndex::new(0, 0); BATCH], [0.0; BATCH]);
    let view = replay.view();
    view.sample(&Draw::default(), rng, &mut index, &mut weight, None).unwrap();
    let (mut obs, mut next, mut action) = ([0.0; 2 * N * BATCH], [0.0; 2 * N * BATCH], [0; BATCH]);
    let (mut reward, mut terminated, mut discount) = ([0.0; BATCH], [0; BATCH], [0.0; BATCH]);
    view.gather(0, &index, Layout::Hwc, ElementsMut::F32(&mut obs)).unwrap();
    view.gather_next(0, &index, Layout::Hwc, ElementsMut::F32(&mut next)).unwrap();
    view.gather(1, &index, Layout::Hwc, ElementsMut::I32(&mut action)).unwrap();
    let out = replay::Transitions {
        reward: Some(&mut reward),
        discount: Some(&mut discount),
        terminated: Some(&mut terminated),
        truncated: None,
    };
    view.transitions(&index, out).unwrap();
    let batch = TransitionBatch {
        obs: Elements::F32(&obs),
        action: Elements::I32(&action),
        reward: &reward,
        terminated: &terminated,
        discount: Some(&discount),
        next_obs: Elements::F32(&next),
        next_mask: None,
        importance: Some(&weight),
    };
    l.learn_transitions(&batch, None).unwrap();
}

/// How many of 400 episodes of the best actions reach their goal.
fn evaluate(l: &mut OffPolicy<'_>) -> usize {
    let (mut rng, mut count) = (Rng::seeded(99), 0);
    for _ in 0..400 / ENVS {
        let (mut state, mut obs, mut action) = ([0u64; ENVS], [0.0; 2 * N * ENVS], [0; ENVS]);
        let mut there = [false; ENVS];
        for i in 0..ENVS {
            let to = ElementsMut::F32(&mut obs[2 * N * i..][..2 * N]);
            ENV.reset(bytemuck::cast_slice_mut(&mut state[i..=i]), &mut rng, to).unwrap();
        }
        for _ in 0..N {
            let to = ElementsMut::I32(&mut action);
            l.predict(Elements::F32(&obs), None, Sampling::Greedy, to).unwrap();
            for i in (0..ENVS).filter(|&i| !there[i]).collect::<Vec<_>>() {
                let to = ElementsMut::F32(&mut obs[2 * N * i..][..2 * N]);
                let state = bytemuck::cast_slice_mut(&mut state[i..=i]);
                there[i] = ENV.step(state, &mut rng, Elements::I32(&action[i..=i]), to).unwrap().terminated;
            }
        }
        count += there.into_iter().filter(|there| *there).count();
    }
    count
}

#[test]
fn bits_are_flipped_to_goals_with_hindsight_only() {
    let [with, without] = [true, false].map(|hindsight| reached(4000, hindsight));
    eprintln!("{with} of 400 with hindsight, {without} without");
    assert!(with > 360 && without < 40, "{with} of 400 with hindsight, {without} without");
}
