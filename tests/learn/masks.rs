//! Masks of the next observation: a choice that is never allowed does not affect learning, whatever its Q.

#![cfg(all(feature = "off_policy", feature = "pqn", feature = "stream"))]

use crate::host::{Tune, attach, made};
use rlcore::error::{Kind, Result};
use rlcore::learn::{Algorithm, Config, Learner, Phase, Stats};
use rlcore::rng::Rng;
use rlcore::space::{Elements, ElementsMut, Space};

/// A learner of any algorithm, in its block.
struct Agent {
    block: Vec<u64>,
    config: Config,
    scratch: Vec<u64>,
}

fn is_off_policy(config: &Config) -> bool {
    config.algorithm().is_off_policy()
}

/// The way of calling the learner.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Whole,
    /// Two ranges of environments act; the gradients of chunks are computed on a view and written back.
    Ranges,
    /// One chunk at a time, while the next rollout is recorded.
    Overlap,
}

impl Agent {
    fn new(config: &Config, obs_len: u32, n: &[u32]) -> Agent {
        let (obs, action) = (Space::unbounded(obs_len), Space::discrete(n));
        let block = made(config, &[], &obs, &action);
        Agent { block, config: *config, scratch: Vec::new() }
    }

    fn learner(&mut self) -> Learner<'_> {
        attach(&mut self.block)
    }

    fn act(&mut self, way: Way, obs: &[f32], mask: &[u8], action: &mut [i32]) {
        let (n, half) = (self.config.num_envs as usize, self.config.num_envs as usize / 2);
        let ranges = if way == Way::Ranges { vec![(0, half), (half, n)] } else { vec![(0, n)] };
        let row = |len: usize| len / n;
        for (begin, end) in ranges.into_iter().filter(|(begin, end)| begin < end) {
            let part = |len: usize| begin * row(len)..end * row(len);
            let (obs, mask) = (Elements::F32(&obs[part(obs.len())]), &mask[part(mask.len())]);
            let to = part(action.len());
            let action = ElementsMut::I32(&mut action[to]);
            self.learner().act_range(begin, end, None, obs, Some(mask), action).unwrap();
        }
    }

    fn observe(&mut self, reward: &[f32], ends: [&[u8]; 2], obs: &[f32], mask: Option<&[u8]>) -> Result {
        let [terminated, truncated] = ends;
        self.learner().observe(None, reward, terminated, truncated, Some(Elements::F32(obs)), mask)
    }

    /// Learns the update that is due, or one chunk of it.
    fn learn(&mut self, way: Way, obs: &[f32], mask: Option<&[u8]>) -> Result {
        let stats = self.learner().stats();
        let due = self.learner().phase() == Phase::Learn;
        let Agent { block, config, scratch } = self;
        let bytes = bytemuck::cast_slice_mut(block);
        if is_off_policy(config) {
            let mut l = Learner::open(bytes)?;
            while l.phase() == Phase::Learn {
                l.learn(None, None, u32::from(way != Way::Whole))?;
            }
            return Ok(());
        }
        let (mut l, obs) = (Learner::open(bytes)?, Elements::F32(obs));
        match way {
            Way::Whole if due => l.learn(Some(obs), mask, 0).map(drop),
            Way::Overlap if due || stats.minibatches_left > 0 => l.learn(Some(obs), mask, 1).map(drop),
            Way::Ranges if due => {
                let mut stats: Stats = l.learn_begin(obs, mask)?;
                scratch.resize(l.view().scratch_size()? / 8, 0);
                while stats.minibatches_left > 0 {
                    for chunk in 0..config.num_chunks as usize {
                        let mut grads = vec![0.0; l.view().grads_len()];
                        let scratch = bytemuck::cast_slice_mut(scratch);
                        l.view().learn_range(chunk, chunk + 1, scratch, &mut grads)?;
                        l.write_grads(chunk, chunk + 1, &grads)?;
                    }
                    stats = l.learn_apply()?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn params(&mut self) -> Vec<f32> {
        self.learner().params().to_vec()
    }

    fn write_params(&mut self, params: &[f32]) {
        self.learner().write_params(params).unwrap();
    }

    fn value(&mut self, obs: &[f32], mask: Option<&[u8]>) -> Result<Vec<f32>> {
        let mut value = vec![f32::NAN; self.config.num_envs as usize];
        self.learner().value(Elements::F32(obs), mask, &mut value)?;
        Ok(value)
    }
}

/// Networks of one layer of fewer than 16 units: the weights, unit by unit, then the biases.
fn config(algorithm: Algorithm) -> Config {
    let all = Config {
        num_envs: 1,
        hidden_norm: 0,
        use_action_mask: 1,
        discount: 0.9,
        seed: 4,
        ..Config::of(algorithm).hidden(&[]).normalized(0, 0)
    };
    let descends = Config { learning_rate: 0.02, learning_rate_end: 0.02, max_grad_norm: 0.0, ..all };
    match algorithm {
        Algorithm::StreamAc | Algorithm::StreamQ => all,
        _ if algorithm.is_off_policy() => Config {
            huber: 0,
            train_interval: 1,
            target_interval: 5,
            exploration_steps: 0,
            ..descends.store(200, 16, 20)
        },
        Algorithm::Pqn => Config { exploration_steps: 200, ..descends },
        _ => descends,
    }
}

/// One observation of 1, two choices, rewards of 0; choice 1 is never allowed and starts at Q = 50, so the Q of choice 0 must
/// go to 0 from any start. Every `truncated_every` steps an episode is truncated; 0: never.
fn worth_of_choice_0(config: &Config, truncated_every: usize, mask: Option<&[u8]>, final_mask: Option<&[u8]>) -> f32 {
    let (mut agent, mut action) = (Agent::new(config, 1, &[2]), [0]);
    let mut params = agent.params();
    params.fill(0.0);
    let nets = params.len() / 4;
    for k in usize::from(nets > 1)..nets {
        params[4 * k + 2..4 * k + 4].copy_from_slice(&[10.0, 50.0]);
    }
    agent.write_params(&params);
    for step in 1..=4000usize {
        agent.act(Way::Whole, &[1.0], &[1, 0], &mut action);
        assert_eq!(action, [0]);
        let cut = [u8::from(truncated_every > 0 && step % truncated_every == 0)];
        agent.observe(&[0.0], [&[0], &cut], &[1.0], final_mask).unwrap();
        agent.learn(Way::Whole, &[1.0], mask).unwrap();
    }
    assert_eq!(agent.value(&[1.0], Some(&[0, 1])).unwrap(), [50.0], "what is never chosen stays as it is");
    agent.value(&[1.0], Some(&[1, 0])).unwrap()[0]
}

#[test]
fn what_follows_is_worth_the_best_of_what_is_allowed() {
    let fast = Config { learning_rate: 0.1, learning_rate_end: 0.1, ..config(Algorithm::Pqn) };
    let pqn = Config { num_steps: 4, num_minibatches: 1, num_epochs: 1, ..fast };
    let (stream, dqn) = (config(Algorithm::StreamQ), config(Algorithm::Dqn));
    let sac = Config { target_interval: 1, target_rate: 0.2, ..config(Algorithm::Sac) };
    let cases = [
        (stream, 0),
        (stream, 2),
        (pqn, 0),
        (pqn, 3),
        (Config { num_steps: 1, ..pqn }, 0),
        (Config { num_steps: 1, ..pqn }, 2),
        (dqn, 0),
        (dqn, 2),
        (Config { double_q: 0, ..dqn }, 2),
        (Config { n_step: 3, ..dqn }, 5),
        (sac, 0),
        (sac, 2),
        (Config { n_step: 3, ..sac }, 5),
    ];
    for (config, truncated_every) in cases {
        let (allowed, off_policy) = (Some(&[1, 0][..]), is_off_policy(&config));
        let what = format!("{:?}, T {}, truncated every {truncated_every}", config.algorithm(), config.num_steps);
        let worth = worth_of_choice_0(&config, truncated_every, allowed, allowed);
        assert!(worth.abs() < 0.2, "{what}: {worth}");
        // On policy, the observation after a rollout allows every choice if `learn` gets no mask.
        if !off_policy {
            let worth = worth_of_choice_0(&config, truncated_every, None, allowed);
            assert!(worth > 2.0, "{what}, no mask to learn: {worth}");
        }
        if truncated_every > 0 {
            let worth = worth_of_choice_0(&config, truncated_every, allowed, None);
            // SAC's policy is masked where it acts; without a final mask it draws either choice.
            assert!(worth > 2.0, "{what}, no final mask: {worth}");
        }
    }
}

/// Choices of the action elements, their sum, the flags that are never set, and the length of an observation.
const N: [u32; 2] = [3, 3];
const L: usize = 6;
const NEVER: [usize; 2] = [1, 5];
const O: usize = 2;

/// Every algorithm that takes masks, in the ways of calling it.
fn cases() -> Vec<(Config, Way)> {
    let mut all = Vec::new();
    for algorithm in (0..16).filter_map(Algorithm::from_number) {
        let own = config(algorithm);
        let on = Config { num_envs: 4, num_steps: 8, num_minibatches: 2, num_epochs: 2, num_chunks: 2, ..own };
        let off = Config { num_envs: 3, num_chunks: 2, exploration_steps: 200, ..own };
        match algorithm {
            Algorithm::Td3 => {}
            Algorithm::StreamAc | Algorithm::StreamQ => all.extend([Way::Whole, Way::Ranges].map(|way| (own, way))),
            Algorithm::Dqn => {
                let atoms = Config { num_atoms: 2, value_min: -5.0, value_max: 5.0, ..off };
                let kinds = [
                    off,
                    Config { double_q: 0, ..off },
                    Config { n_step: 3, ..off },
                    Config { priority_exponent: 0.6, ..off },
                    Config { num_quantiles: 2, ..off },
                    atoms,
                ];
                all.extend(kinds.map(|c| (c, Way::Whole)));
                all.push((off, Way::Ranges));
            }
            Algorithm::Sac => {
                all.extend([off, Config { n_step: 3, ..off }].map(|c| (c, Way::Whole)));
                all.push((off, Way::Ranges));
            }
            _ => {
                let on = match algorithm {
                    Algorithm::Unreal => Config {
                        pixel_control_coef: 0.0,
                        reward_class_coef: 0.0,
                        value_replay_coef: 0.0,
                        policy_replay_coef: 0.5,
                        history_len: 40,
                        ..on
                    },
                    _ => on,
                };
                all.extend([Way::Whole, Way::Ranges].map(|way| (on, way)));
                all.push((Config { overlap: 1, ..on }, Way::Overlap));
            }
        }
    }
    assert!(all.len() > 25);
    all
}

/// Indices of the parameters of never-allowed choices: the biases, and all including weights.
fn places(config: &Config) -> (Vec<usize>, Vec<usize>) {
    let width = config.num_quantiles.max(config.num_atoms).max(1) as usize;
    let (outputs, nets) = (L * width, if config.algorithm() == Algorithm::Sac { 3 } else { 1 });
    let (mut biases, mut all) = (Vec::new(), Vec::new());
    for net in 0..nets {
        let begin = net * outputs * (O + 1);
        for unit in NEVER.iter().flat_map(|never| never * width..(never + 1) * width) {
            biases.push(begin + outputs * O + unit);
            all.extend((0..O).map(|k| begin + unit * O + k));
        }
    }
    all.extend(&biases);
    (biases, all)
}

/// Masks of all rows, with at least one choice allowed in each element.
fn draw_mask(rows: usize, rng: &mut Rng) -> Vec<u8> {
    let mut mask: Vec<u8> = (0..rows * L).map(|at| u8::from(!NEVER.contains(&(at % L)) && rng.coin())).collect();
    for row in mask.chunks_exact_mut(L) {
        row[0] |= 1 - row[2];
        row[4] |= 1 - row[3];
    }
    mask
}

#[test]
fn what_is_never_allowed_changes_nothing_whatever_it_is_worth() {
    for (config, way) in cases() {
        let n = config.num_envs as usize;
        let (biases, own) = places(&config);
        let mut agents: Vec<Agent> = [0.0, 1e3, -1e3]
            .map(|absurd| {
                let mut agent = Agent::new(&config, O as u32, &N);
                let mut params = agent.params();
                // The biases increase, so that the last of a choice's several numbers dominates.
                biases.iter().zip(1..).for_each(|(&at, k)| params[at] = absurd * k as f32);
                agent.write_params(&params);
                agent
            })
            .into();
        let first = agents.iter_mut().map(Agent::params).collect::<Vec<_>>();
        let kind = (config.n_step, config.double_q, config.num_quantiles, config.num_atoms, config.priority_exponent);
        let what = format!("{:?}, {way:?}, {kind:?}", config.algorithm());
        let mut rng = Rng::seeded(11);
        let (mut obs, mut mask) = (vec![0.5; n * O], draw_mask(n, &mut rng));
        for step in 0..150 {
            let mut numbers = |len: usize| (0..len).map(|_| rng.uniform_f32() * 2.0 - 1.0).collect::<Vec<f32>>();
            let (reward, last, next) = (numbers(n), numbers(n * O), numbers(n * O));
            let mut ends: Vec<u8> = (0..2 * n).map(|_| u8::from(rng.uniform() < 0.2)).collect();
            if config.num_atoms > 0 {
                // At a termination all atoms move to the reward, weighted by the sum of a choice's probabilities: 1 but for
                // rounding.
                ends[..n].fill(0);
            }
            let (last_mask, next_mask) = (draw_mask(n, &mut rng), draw_mask(n, &mut rng));
            let mut seen = Vec::new();
            for agent in &mut agents {
                let mut action = vec![-1; n * N.len()];
                agent.act(way, &obs, &mask, &mut action);
                let (terminated, truncated) = ends.split_at(n);
                agent.observe(&reward, [terminated, truncated], &last, Some(&last_mask)).unwrap();
                agent.learn(way, &next, Some(&next_mask)).unwrap();
                let mut params = agent.params();
                own.iter().for_each(|&at| params[at] = 0.0);
                seen.push((action, agent.value(&next, Some(&next_mask)).unwrap(), params));
            }
            assert!(seen.iter().all(|other| *other == seen[0]), "{what}, step {step}");
            (obs, mask) = (next, next_mask);
        }
        for (agent, first) in agents.iter_mut().zip(first) {
            let params = agent.params();
            let moved = own.iter().find(|&&at| params[at] != first[at]);
            assert_eq!(moved, None, "{what}: what is never chosen stays as it is");
            assert_ne!(params, first, "{what}: something was learned");
            assert!(agent.learner().stats().num_updates > 3, "{what}");
        }
    }
}

/// Masks need `use_action_mask`, the right length, and an allowed choice in each element of the rows that are read.
#[test]
fn masks_that_are_not_asked_for_or_allow_nothing_are_refused() {
    for algorithm in [Algorithm::Ppo, Algorithm::Pqn, Algorithm::Dqn, Algorithm::Sac] {
        let config = Config { num_envs: 2, ..config(algorithm) };
        let config = match is_off_policy(&config) {
            true => config,
            false => Config { num_steps: 1, num_minibatches: 1, num_epochs: 1, ..config },
        };
        let (obs, reward, mut action) = ([0.5; 2 * O], [0.0; 2], [0; 4]);
        let good = draw_mask(2, &mut Rng::seeded(5));
        let mut bad = good.clone();
        bad[L + 3..].fill(0);
        let kind = |result: Result| result.err().map(|e| e.kind);

        let mut agent = Agent::new(&config, O as u32, &N);
        assert_eq!(kind(agent.value(&obs, Some(&good[1..])).map(drop)), Some(Kind::Shape));
        assert_eq!(kind(agent.value(&obs, Some(&bad)).map(drop)), Some(Kind::Value));
        agent.act(Way::Whole, &obs, &good, &mut action);
        let before = agent.block.clone();
        assert_eq!(kind(agent.observe(&reward, [&[0; 2], &[1; 2]], &obs, Some(&good[1..]))), Some(Kind::Shape));
        assert_eq!(kind(agent.observe(&reward, [&[0; 2], &[1; 2]], &obs, Some(&bad))), Some(Kind::Value));
        assert!(agent.block == before, "{algorithm:?}: nothing changes");
        // Masks of rows whose episodes go on or terminate are not read.
        agent.observe(&reward, [&[0, 1], &[1, 1]], &obs, Some(&bad)).unwrap();
        if !is_off_policy(&config) {
            agent.learn(Way::Whole, &obs, Some(&bad)).unwrap();
            agent.act(Way::Whole, &obs, &good, &mut action);
            agent.observe(&reward, [&[0; 2], &[0; 2]], &obs, Some(&bad)).unwrap();
            let before = agent.block.clone();
            for way in [Way::Whole, Way::Ranges] {
                assert_eq!(kind(agent.learn(way, &obs, Some(&good[1..]))), Some(Kind::Shape));
                assert_eq!(kind(agent.learn(way, &obs, Some(&bad))), Some(Kind::Value));
                assert!(agent.block == before, "{algorithm:?}: nothing changes");
            }
            agent.learn(Way::Whole, &obs, Some(&good)).unwrap();
        }

        let mut agent = Agent::new(&Config { use_action_mask: 0, ..config }, O as u32, &N);
        assert_eq!(kind(agent.value(&obs, Some(&good)).map(drop)), Some(Kind::Shape));
        agent.learner().act(None, Elements::F32(&obs), None, ElementsMut::I32(&mut action)).unwrap();
        assert_eq!(kind(agent.observe(&reward, [&[0; 2], &[1; 2]], &obs, Some(&good))), Some(Kind::Shape));
        agent.observe(&reward, [&[0; 2], &[0; 2]], &obs, None).unwrap();
        if !is_off_policy(&config) {
            assert_eq!(kind(agent.learn(Way::Whole, &obs, Some(&good))), Some(Kind::Shape));
            agent.learn(Way::Whole, &obs, None).unwrap();
        }
    }
}

/// Masks of inactive environments are not read, whatever the store, like the rest of their rows.
#[test]
fn masks_of_rows_that_are_absent_are_not_read() {
    for algorithm in [Algorithm::Ppo, Algorithm::Pqn, Algorithm::Dqn, Algorithm::Sac] {
        let config = Config { num_envs: 2, ..config(algorithm) };
        let config = if is_off_policy(&config) { config } else { Config { num_minibatches: 1, ..config } };
        let (obs, mut good) = ([0.5; 2 * O], draw_mask(2, &mut Rng::seeded(5)));
        good[L..].fill(0);
        let mut agent = Agent::new(&config, O as u32, &N);
        let mut act = |active: &[u8], action: &mut [i32]| {
            let action = ElementsMut::I32(action);
            agent.learner().act(Some(active), Elements::F32(&obs), Some(&good), action).map_err(|e| e.kind)
        };
        let mut action = [-1; 4];
        assert_eq!(act(&[1, 1], &mut action), Err(Kind::Value), "{algorithm:?}");
        assert_eq!((act(&[1, 0], &mut action), &action[2..]), (Ok(()), &[-1; 2][..]), "{algorithm:?}");
        if is_off_policy(&config) {
            let mut agent = Agent::new(&config, O as u32, &N);
            let shown = Elements::I32(&action);
            agent.learner().demonstrate(Some(&[1, 0]), Elements::F32(&obs), Some(&good), shown).unwrap();
        }
    }
}
