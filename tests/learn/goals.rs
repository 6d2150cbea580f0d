//! Hindsight goals (Andrychowicz et al. 2017) on bit flipping and point reaching: learners learn from the host's own store,
//! which holds each transition with its original goal and with goals reached later in its episode.

#![cfg(feature = "off_policy")]

use crate::host::{Tune, made, open, outcome, transitions};
use rlcore::data::relabel::{self, Judgement, Steps, Strategy, relabel};
use rlcore::data::replay::{self, Draw, Replay, ReplayConfig};
use rlcore::data::table::{Column, FrameIndex};
use rlcore::env::{BitFlip, Env, PointReach, VecEnv, VecEnvConfig};
use rlcore::kernels::stack::Layout;
use rlcore::learn::{Algorithm, Config, Learner, Phase, Recurrent, Sampling, TransitionBatch};
use rlcore::rng::Rng;
use rlcore::space::{Element, Elements, ElementsMut};

/// Environments, transitions per batch, and extra goals per step.
const ENVS: usize = 8;
const BATCH: usize = 64;
const GOALS: usize = 4;

/// A task that observes its achieved state followed by its goal, `[2 * N]`.
trait Task<const N: usize>: Env + Default {
    /// Elements per action, steps per episode, and the kind of actions.
    const ACTION: usize;
    const STEPS: usize;
    const KIND: Element;

    fn is_there(achieved: &[f32], goal: &[f32]) -> bool;
}

impl Task<10> for BitFlip<10> {
    const ACTION: usize = 1;
    const STEPS: usize = 10;
    const KIND: Element = Element::I32;

    fn is_there(achieved: &[f32], goal: &[f32]) -> bool {
        achieved == goal
    }
}

impl Task<2> for PointReach {
    const ACTION: usize = 2;
    const STEPS: usize = 15;
    const KIND: Element = Element::F32;

    fn is_there(achieved: &[f32], goal: &[f32]) -> bool {
        PointReach::is_there([achieved[0], achieved[1]], [goal[0], goal[1]])
    }
}

fn config(algorithm: Algorithm) -> Config {
    Config {
        num_envs: ENVS as u32,
        discount: 0.98,
        buffer_size: 0,
        batch_size: BATCH as u32,
        target_rate: 0.05,
        target_interval: 1,
        exploration_steps: 8000,
        seed: 3,
        ..Config::of(algorithm).hidden(&[128]).rate(1e-3)
    }
}

/// Actions of either kind; the array of the other kind is empty.
#[derive(Clone, Default)]
struct Actions {
    choice: Vec<i32>,
    vector: Vec<f32>,
}

impl Actions {
    fn new<const N: usize, T: Task<N>>(rows: usize) -> Actions {
        let len = |kind| if T::KIND == kind { rows * T::ACTION } else { 0 };
        Actions { choice: vec![0; len(Element::I32)], vector: vec![0.0; len(Element::F32)] }
    }

    /// Row `i` of actions of `len` elements.
    fn row(&self, i: usize, len: usize) -> Elements<'_> {
        match self.vector.is_empty() {
            true => Elements::I32(&self.choice[i * len..][..len]),
            false => Elements::F32(&self.vector[i * len..][..len]),
        }
    }

    fn all(&self) -> Elements<'_> {
        match self.vector.is_empty() {
            true => Elements::I32(&self.choice),
            false => Elements::F32(&self.vector),
        }
    }

    fn all_mut(&mut self) -> ElementsMut<'_> {
        match self.vector.is_empty() {
            true => ElementsMut::I32(&mut self.choice),
            false => ElementsMut::F32(&mut self.vector),
        }
    }

    fn push(&mut self, row: Elements<'_>) {
        match row {
            Elements::I32(row) => self.choice.extend(row),
            Elements::F32(row) => self.vector.extend(row),
            _ => unreachable!(),
        }
    }
}

/// One environment's episode: an observation before each action and after the last one, and the actions.
#[derive(Clone, Default)]
struct Episode {
    obs: Vec<f32>,
    action: Actions,
}

impl Episode {
    /// Adds each step to the store with goals that this step or a later one reached.
    fn relabel_into<const N: usize, T: Task<N>>(&self, replay: &mut Replay<'_>, rng: &mut Rng) {
        let rows: Vec<&[f32]> = self.obs.chunks(2 * N).map(|obs| &obs[..N]).collect();
        let len = rows.len() as u32 - 1;
        let step: Vec<u32> = (0..len).flat_map(|t| [t; GOALS]).collect();
        let mut goal_row = vec![0; step.len()];
        relabel::draw(Strategy::Future, &step, &vec![len; step.len()], rng, &mut goal_row).unwrap();
        let (mut goal, mut reward, mut terminated) =
            (vec![0.0; step.len() * N], vec![0.0; step.len()], vec![0; step.len()]);
        let row: Vec<u32> = step.iter().map(|t| t + 1).collect();
        let steps = Steps { goal_len: N, achieved: &rows.concat(), row: &row, goal_row: &goal_row };
        let judge = |achieved: &[f32], goal: &[f32]| {
            let there = T::is_there(achieved, goal);
            Ok(Judgement { reward: if there { 0.0 } else { -1.0 }, terminated: there })
        };
        relabel(&steps, judge, &mut goal, &mut reward, &mut terminated).unwrap();
        for (k, &t) in step.iter().enumerate() {
            // A step with a goal of its own is an episode of one step.
            let (t, goal, terminated) = (t as usize, &goal[k * N..][..N], terminated[k] == 1);
            let (obs, next) = ([rows[t], goal].concat(), [rows[t + 1], goal].concat());
            let action = self.action.row(t, T::ACTION);
            let step = replay::Step { reward: reward[k], terminated, truncated: !terminated };
            replay.add(ENVS, &[Elements::F32(&obs), action], &step, Some(&[Elements::F32(&next), action])).unwrap();
        }
    }
}

/// Trains for `num_steps` steps of each environment, and returns how many of 400 episodes reach their goal.
fn reached<const N: usize, T: Task<N>>(config: &Config, num_steps: usize, hindsight: bool) -> usize {
    let env = T::default();
    let spec = env.spec();
    let mut learner = made(config, &[], &spec.obs, &spec.action);
    let mut l = open(&mut learner);
    let columns = [Column::new("obs", Element::F32, 2 * N as u32), Column::new("action", T::KIND, T::ACTION as u32)];
    // One ring per environment, and one for the relabeled steps.
    let store =
        ReplayConfig { discount: config.discount, alpha: 0.0, ..ReplayConfig::new(ENVS as u32 + 1, 60_000, &columns) };
    let mut memory = vec![0u64; Replay::size(&store).unwrap() / 8];
    let mut replay = Replay::init(bytemuck::cast_slice_mut(&mut memory), &store).unwrap();
    let envs_config = VecEnvConfig { num_envs: ENVS as u32, seed: 5, ..VecEnvConfig::default() };
    let mut envs = vec![0u64; VecEnv::size(&env, &envs_config).unwrap() / 8];
    let mut envs = VecEnv::init(bytemuck::cast_slice_mut(&mut envs), &env, &envs_config).unwrap();

    let (mut obs, mut last, mut action) =
        (vec![0.0; 2 * N * ENVS], vec![0.0; 2 * N * ENVS], Actions::new::<N, T>(ENVS));
    let (mut reward, mut terminated, mut truncated) = ([0.0; ENVS], [0; ENVS], [0; ENVS]);
    let mut episodes = vec![Episode::default(); ENVS];
    let mut rng = Rng::seeded(1);
    envs.reset(None, ElementsMut::F32(&mut obs)).unwrap();
    for step in 0..num_steps {
        l.act(None, Elements::F32(&obs), None, action.all_mut()).unwrap();
        let before = obs.clone();
        let out = outcome(&mut obs, &mut last, &mut reward, &mut terminated, &mut truncated);
        envs.step(action.all(), out).unwrap();
        l.observe(None, &reward, &terminated, &truncated, Some(Elements::F32(&last)), None).unwrap();
        assert!(l.phase() == Phase::Act && l.view().stored() == 0, "it has no store of its own");
        for (i, episode) in episodes.iter_mut().enumerate() {
            let [before, last] = [&before, &last].map(|obs| &obs[2 * N * i..][..2 * N]);
            let (flags, taken) = ((terminated[i] != 0, truncated[i] != 0), action.row(i, T::ACTION));
            let over = flags.0 || flags.1;
            let done = replay::Step { reward: reward[i], terminated: flags.0, truncated: flags.1 };
            let tail = [Elements::F32(last), taken];
            replay.add(i, &[Elements::F32(before), taken], &done, over.then_some(&tail)).unwrap();
            episode.obs.extend(before);
            episode.action.push(taken);
            if over {
                episode.obs.extend(last);
                if hindsight {
                    episode.relabel_into::<N, T>(&mut replay, &mut rng);
                }
                *episode = Episode::default();
            }
        }
        if step >= 50 {
            learn::<N, T>(&mut l, &replay, &mut rng);
        }
    }
    evaluate::<N, T>(&mut l)
}

/// One gradient step from a batch of the store.
fn learn<const N: usize, T: Task<N>>(l: &mut Learner<'_>, replay: &Replay<'_>, rng: &mut Rng) {
    let (mut index, mut weight) = ([FrameIndex::new(0, 0); BATCH], [0.0; BATCH]);
    let view = replay.view();
    view.sample(&Draw::default(), rng, &mut index, &mut weight, None).unwrap();
    let (mut obs, mut next, mut action) =
        (vec![0.0; 2 * N * BATCH], vec![0.0; 2 * N * BATCH], Actions::new::<N, T>(BATCH));
    let (mut reward, mut terminated, mut discount) = ([0.0; BATCH], [0; BATCH], [0.0; BATCH]);
    view.gather(0, &index, Layout::Hwc, ElementsMut::F32(&mut obs)).unwrap();
    view.gather_next(0, &index, Layout::Hwc, ElementsMut::F32(&mut next)).unwrap();
    view.gather(1, &index, Layout::Hwc, action.all_mut()).unwrap();
    let out = replay::Transitions {
        reward: Some(&mut reward),
        discount: Some(&mut discount),
        terminated: Some(&mut terminated),
        truncated: None,
    };
    view.transitions(&index, out).unwrap();
    let (obs, next) = (Elements::F32(&obs), Elements::F32(&next));
    let batch = TransitionBatch {
        discount: Some(&discount),
        importance: Some(&weight),
        ..transitions(obs, action.all(), &reward, &terminated, next)
    };
    l.learn_transitions(&batch, None).unwrap();
}

/// How many of 400 episodes with greedy actions reach their goal.
fn evaluate<const N: usize, T: Task<N>>(l: &mut Learner<'_>) -> usize {
    let (env, mut rng, mut count) = (T::default(), Rng::seeded(99), 0);
    for _ in 0..400 / ENVS {
        let (mut state, mut obs, mut action) = ([[0u64; 2]; ENVS], vec![0.0; 2 * N * ENVS], Actions::new::<N, T>(ENVS));
        let mut there = [false; ENVS];
        let bytes = env.spec().state_size as usize;
        for i in 0..ENVS {
            let to = ElementsMut::F32(&mut obs[2 * N * i..][..2 * N]);
            env.reset(0, &mut bytemuck::bytes_of_mut(&mut state[i])[..bytes], &mut rng, to).unwrap();
        }
        for _ in 0..T::STEPS {
            l.predict(Elements::F32(&obs), None, Recurrent::default(), Sampling::Greedy, action.all_mut()).unwrap();
            for i in (0..ENVS).filter(|&i| !there[i]).collect::<Vec<_>>() {
                let to = ElementsMut::F32(&mut obs[2 * N * i..][..2 * N]);
                let state = &mut bytemuck::bytes_of_mut(&mut state[i])[..bytes];
                there[i] = env.step(0, state, &mut rng, action.row(i, T::ACTION), to).unwrap().terminated;
            }
        }
        count += there.into_iter().filter(|there| *there).count();
    }
    count
}

#[test]
fn bits_are_flipped_to_goals_with_hindsight_only() {
    let config = Config { exploration_end: 0.05, ..config(Algorithm::Dqn) };
    let [with, without] = [true, false].map(|hindsight| reached::<10, BitFlip<10>>(&config, 4000, hindsight));
    assert!(with > 360 && without < 40, "{with} of 400 with hindsight, {without} without");
}

#[test]
fn td3_and_sac_move_the_point_to_goals() {
    // Rewards of -1 per step must outweigh the entropy bonus.
    let sac = Config { temperature: 0.02, temperature_rate: 0.0, ..config(Algorithm::Sac) };
    for config in [config(Algorithm::Td3), sac] {
        let count = reached::<2, PointReach>(&config, 1500, true);
        assert!(count > 380, "{count} of 400");
    }
}
