//! A slow reference of the auxiliary tasks: the whole history of a learner's environments, the draws from it, and the losses.

#![allow(dead_code, reason = "each test file uses a part of it")]

use crate::host::{Array, Columns, Host, Tune, chunks};
use rlcore::learn::tasks::{CLASS_UNITS, CLASSES};
use rlcore::learn::{Algorithm, Config, Phase};
use rlcore::nn::{Activation, Carry, HEAD, Initializer, Layer, LayerKind, NO_BIAS, Net, Node};
use rlcore::rng::Rng;
use rlcore::space::Space;

pub const SIDE: u32 = 10;
pub const CELLS: usize = 16;
pub const ACTIONS: usize = 3;
pub const FRAMES: usize = 3;

/// Pictures of 10 × 10 bytes, whose middle 8 × 8 pixels are 4 × 4 cells.
pub fn unreal() -> Config {
    Config {
        num_envs: 3,
        num_steps: 6,
        num_layers: 2,
        obs_dims: [SIDE, SIDE, 1],
        history_len: 20,
        ..Config::of(Algorithm::Unreal).hidden(&[])
    }
}

pub fn with_state() -> Config {
    Config { num_layers: 3, sequence_len: 6, ..unreal() }
}

/// The configuration for another algorithm with the same tasks: one minibatch, mean losses.
pub fn by(algorithm: Algorithm, config: Config) -> Config {
    Config {
        algorithm: algorithm as u32,
        learning_rate: 0.01,
        learning_rate_end: if config.total_steps > 0 { 0.0 } else { 0.01 },
        optimizer: Config::of(algorithm).optimizer,
        adam_epsilon: Config::of(algorithm).adam_epsilon,
        gae_lambda: Config::of(algorithm).gae_lambda,
        ..config
    }
}

/// As in btgym: the policy reads the first LSTM, values and cells a second one behind it.
pub fn stacked_lstms() -> Config {
    Config { num_layers: 5, policy_layer: 3, ..with_state() }
}

pub fn layers(config: &Config) -> Vec<Layer> {
    let mut layers = vec![Layer::conv(4, [3, 3], [2, 2], Activation::Tanh), Layer::dense(12, Activation::Tanh)];
    if config.sequence_len > 0 {
        layers.push(Layer::recurrent(LayerKind::Lstm, 5));
    }
    if config.policy_layer > 0 {
        layers.push(Layer::merge(LayerKind::Join, [3, 2], Activation::Identity));
        layers.push(Layer::recurrent(LayerKind::Lstm, 4));
    }
    layers
}

/// Actions are two numbers if `log_std_init` is not 0, else one of three choices.
pub fn spaces(config: &Config) -> (Space<'static>, Space<'static>) {
    let action = if config.log_std_init != 0.0 { Space::unbounded(2) } else { Space::discrete(&[ACTIONS as u32]) };
    (Space::bytes(config.obs_dims.iter().product()), action)
}

pub fn host(config: &Config) -> Host {
    let (obs, action) = spaces(config);
    Host::with(config, &layers(config), &obs, &action)
}

/// Only the tasks in `mask`, from bit 0: pixel control, reward prediction, value replay, policy replay.
pub fn only(mask: usize, config: Config) -> Config {
    let weight = |bit: usize, weight: f32| if mask >> bit & 1 == 1 { weight } else { 0.0 };
    // Only UNREAL may keep settings of tasks that are off.
    let mut config = config;
    if mask == 0 && config.algorithm != Algorithm::Unreal as u32 {
        let own = Config::of(config.algorithm());
        (config.history_len, config.history_starts, config.num_replayed) = (own.history_len, 0, 0);
    }
    Config {
        pixel_control_coef: weight(0, config.pixel_control_coef),
        reward_class_coef: weight(1, config.reward_class_coef),
        value_replay_coef: weight(2, config.value_replay_coef),
        policy_replay_coef: weight(3, 0.7),
        ..config
    }
}

/// A step of an environment, as the learner's history should keep it.
#[derive(Clone, Default)]
pub struct Past {
    pub obs: Vec<u8>,
    pub choice: i32,
    pub vector: Vec<f32>,
    pub mask: Vec<u8>,
    pub reward: f32,
    pub ends: u8,
    pub final_value: f32,
    pub value: f32,
    pub log_prob: f32,
    pub state: Vec<f32>,
}

/// Drives a learner, and keeps its whole history.
pub struct Twin {
    pub h: Host,
    pub past: Vec<Vec<Past>>,
    pub rng: Rng,
}

impl Twin {
    pub fn new(config: &Config) -> Twin {
        Twin { h: host(config), past: vec![Vec::new(); config.num_envs as usize], rng: Rng::seeded(21) }
    }

    /// Observations of all rows; the older frame of a stack is the newest frame of the stack before.
    pub fn draw_obs(&mut self) -> Array {
        let mut obs = self.h.draw_obs(&mut self.rng);
        if let (2, Array::U8(pixels)) = (self.h.config.num_stacked, &mut obs) {
            for (own, past) in pixels.chunks_mut(self.h.obs_len).zip(&self.past) {
                let Some(last) = past.last() else { continue };
                own.chunks_mut(2).zip(last.obs.chunks(2)).for_each(|(to, from)| to[0] = from[1]);
            }
        }
        obs
    }

    /// Acts and observes once.
    pub fn step(&mut self) {
        let (obs, mut action) = (self.draw_obs(), self.h.actions());
        let mask = self.h.draw_mask(&mut self.rng);
        self.h.learner().act(None, obs.get(), mask.as_deref(), action.get_mut()).unwrap();
        let n = self.h.n;
        let reward: Vec<f32> = (0..n).map(|_| [0.0, 0.0, 1.0, -0.5][self.rng.bounded(3) as usize]).collect();
        let [terminated, truncated] =
            [(); 2].map(|()| (0..n).map(|_| u8::from(self.rng.uniform() < 0.06)).collect::<Vec<_>>());
        let last = self.h.draw_obs(&mut self.rng);
        let mut value = vec![0.0; n];
        self.h.learner().value(last.get(), None, &mut value).unwrap();
        self.h.learner().observe(None, &reward, &terminated, &truncated, Some(last.get()), None).unwrap();
        let Array::U8(obs) = obs else { unreachable!() };
        for env in 0..n {
            let own = self.h.obs_len;
            let ends = if terminated[env] != 0 { 1 } else { 2 * truncated[env] };
            self.past[env].push(Past {
                obs: obs[env * own..][..own].to_vec(),
                mask: mask.as_ref().map_or(vec![1; ACTIONS], |mask| mask[env * ACTIONS..][..ACTIONS].to_vec()),
                reward: reward[env],
                ends,
                final_value: if ends == 2 { value[env] } else { 0.0 },
                ..Past::default()
            });
        }
    }

    /// Records until learning is due, begins it, and reads the states, values and actions that the learner recorded.
    pub fn begin(&mut self) {
        while self.h.learner().phase() != Phase::Learn {
            self.step();
        }
        let obs = self.draw_obs();
        self.h.learner().learn_begin(obs.get(), None).unwrap();
        let (batch, n) = (Columns::read(&mut self.h), self.h.n);
        let width = self.h.view().state_len();
        for (env, past) in self.past.iter_mut().enumerate() {
            let first = past.len() - self.h.config.num_steps as usize;
            for (t, own) in past[first..].iter_mut().enumerate() {
                let row = t * n + env;
                own.state = batch.state[row * width..][..width].to_vec();
                own.value = batch.value[row];
                own.log_prob = batch.log_prob[row];
                match &batch.action {
                    Array::I32(choice) => own.choice = choice[row],
                    Array::F32(vector) => own.vector = vector[row * 2..][..2].to_vec(),
                    Array::U8(_) => unreachable!(),
                }
            }
        }
    }

    /// Cuts an environment that waits for no outcome.
    pub fn give_up(&mut self, env: usize) {
        let gone: Vec<u8> = (0..self.h.n).map(|i| u8::from(i == env)).collect();
        self.h.learner().cut_rows(&gone).unwrap();
        if let Some(last) = self.past[env].last_mut().filter(|last| last.ends == 0) {
            last.ends = 3;
        }
    }
}

/// The layers of the learner's network, by hand.
fn network(config: &Config) -> Vec<Layer> {
    let mut all = layers(config);
    let last = all.len() as u32;
    let head = |source: u32, units: u32, gain: f32| Layer {
        source: [source, 0],
        flags: HEAD,
        gain,
        ..Layer::dense(units, Activation::Identity)
    };
    let numbers = config.log_std_init != 0.0;
    let policy = if config.policy_layer > 0 { config.policy_layer } else { last };
    all.push(head(policy, if numbers { 2 } else { ACTIONS as u32 }, 0.01));
    if numbers {
        all.push(Layer::free(2, 0.0));
    }
    all.push(head(last, 1, 1.0));
    let uniform = Initializer::Uniform as u32;
    if config.pixel_control_coef > 0.0 {
        // A picture of 1 × 1 with windows of 4 × 4 makes 4 × 4 cells.
        let small = Layer {
            source: [last, 0],
            size: [1, 1],
            initializer: uniform,
            gain: 1.0,
            ..Layer::dense(32, Activation::Elu)
        };
        all.push(small);
        let from = all.len() as u32;
        for units in [ACTIONS as u32, 1] {
            let deconv = Layer::conv(units, [4, 4], [2, 2], Activation::Identity);
            all.push(Layer {
                kind: LayerKind::Deconv as u32,
                source: [from, 0],
                flags: HEAD,
                initializer: uniform,
                gain: 1.0,
                ..deconv
            });
        }
    }
    if config.reward_class_coef > 0.0 {
        let shares = Layer::dense((FRAMES * CLASS_UNITS) as u32, Activation::Identity);
        all.push(Layer { source: [1, 0], flags: HEAD | NO_BIAS, initializer: uniform, gain: 1.0, ..shares });
        all.push(Layer::free((CLASS_UNITS + CLASSES * CLASS_UNITS + CLASSES) as u32, 0.0));
    }
    all
}

/// Outputs of the network's heads for the rows of one sequence.
fn run(config: &Config, params: &[f32], rows: &[&Past], carried: bool) -> Vec<Vec<f32>> {
    let layers = network(config);
    let mut nodes = vec![Node::default(); layers.len()];
    let net = Net::compile(&layers, config.obs_dims.map(|len| len as usize), &mut nodes).unwrap();
    let m = rows.len();
    let x: Vec<f32> = rows.iter().flat_map(|p| &p.obs).map(|&b| f32::from(b) / 255.0).collect();
    let mut outs: Vec<Vec<f32>> = (0..net.num_heads()).map(|k| vec![0.0; m * net.head_len(k)]).collect();
    let width = net.state_len();
    let cut: Vec<u8> = (0..m).map(|i| u8::from(i == 0 || rows[i - 1].ends != 0 || !carried)).collect();
    let state: Vec<f32> =
        if carried { rows.iter().flat_map(|p| p.state.clone()).collect() } else { vec![0.0; m * width] };
    let carry = if width > 0 { Carry { steps: m, cut: &cut, state: &state } } else { Carry::NONE };
    let mut tape = vec![0.0; net.tape_len(m)];
    let mut scratch = vec![0.0; net.scratch_len(false, m)];
    let mut refs: Vec<&mut [f32]> = outs.iter_mut().map(|x| &mut x[..]).collect();
    net.forward(params, &x, m, u32::MAX, &carry, &mut tape, &mut scratch, &mut refs).unwrap();
    outs
}

/// Log-probability of the action of a step, and the entropy of the policy there.
fn action_of(outs: &[Vec<f32>], log_std: &[f32], row: usize, own: &Past) -> [f64; 2] {
    let width = if own.vector.is_empty() { ACTIONS } else { 2 };
    let out = outs[0][row * width..][..width].iter().map(|&x| f64::from(x));
    let half = 0.5 * (2.0 * std::f64::consts::PI).ln();
    if !own.vector.is_empty() {
        let numbers = out.zip(log_std).zip(&own.vector).map(|((mean, &log_std), &x)| {
            let log_std = f64::from(log_std);
            [-0.5 * ((f64::from(x) - mean) / log_std.exp()).powi(2) - log_std - half, log_std + half + 0.5]
        });
        return numbers.fold([0.0; 2], |sum, x| [sum[0] + x[0], sum[1] + x[1]]);
    }
    let allowed: Vec<Option<f64>> = out.zip(&own.mask).map(|(x, &mask)| (mask != 0).then_some(x)).collect();
    let all = allowed.iter().flatten().map(|x| x.exp()).sum::<f64>().ln();
    let entropy = allowed.iter().flatten().map(|x| (all - x) * (x - all).exp()).sum();
    [allowed[own.choice as usize].unwrap() - all, entropy]
}

/// A minibatch drawn by the twin, with targets that stay fixed when its losses are computed for other parameters.
pub struct Drawn {
    pub sequences: Vec<Vec<Past>>,
    classes: Vec<(Vec<Past>, usize)>,
    /// For each step of each sequence, the targets of its value and of its cells; `None` where nothing is learned.
    values: Vec<Vec<Option<f64>>>,
    cells: Vec<Vec<Option<Vec<f64>>>>,
    /// For each step, the advantage of its action and the target of its value, from the recorded values.
    actions: Vec<Vec<Option<[f64; 2]>>>,
    /// For each step, the log-probability that its ratio is formed with.
    old: Vec<Vec<f64>>,
}

/// Log-probabilities of the actions of a sequence.
fn log_probs(config: &Config, params: &[f32], outs: &[Vec<f32>], sequence: &[Past]) -> Vec<f64> {
    let layers = network(config);
    let mut nodes = vec![Node::default(); layers.len()];
    let net = Net::compile(&layers, config.obs_dims.map(|len| len as usize), &mut nodes).unwrap();
    let log_std = if config.log_std_init != 0.0 { &params[net.free_params(0)] } else { &[] };
    sequence.iter().enumerate().map(|(i, own)| action_of(outs, log_std, i, own)[0]).collect()
}

/// V-trace of a sequence: advantages and targets of its steps, from current values.
fn v_trace(config: &Config, sequence: &[Past], values: &[f64], log_rho: &[f64]) -> Vec<Option<[f64; 2]>> {
    let steps = sequence.len() - 1;
    let mut later = 0.0;
    let mut all = vec![None; steps];
    for i in (0..steps).rev() {
        let (own, rho) = (&sequence[i], log_rho[i].exp());
        let discount = f64::from(config.discount);
        let (reward, discount) = match own.ends {
            0 => (f64::from(own.reward), discount),
            1 => (f64::from(own.reward), 0.0),
            2 => (f64::from(own.reward) + discount * f64::from(own.final_value), 0.0),
            _ => (values[i], 0.0),
        };
        let error = reward + discount * values[i + 1] - values[i];
        let carried = discount * f64::from(config.gae_lambda) * later;
        let advantage = rho.min(f64::from(config.clip_pg_rho)) * (error + carried);
        later = rho.min(f64::from(config.clip_rho)) * error + rho.min(f64::from(config.clip_c)) * carried;
        let target = values[i] + later;
        all[i] = (own.ends != 3).then_some([advantage, target]);
    }
    all
}

/// Q of the choices for each cell of a row.
fn q_of(outs: &[Vec<f32>], row: usize) -> Vec<[f64; ACTIONS]> {
    let (a, v) = (&outs[2][row * CELLS * ACTIONS..][..CELLS * ACTIONS], &outs[3][row * CELLS..][..CELLS]);
    let cell = |(a, v): (&[f32], &f32)| {
        let mean = a.iter().map(|&x| f64::from(x)).sum::<f64>() / ACTIONS as f64;
        core::array::from_fn(|k| f64::from(*v) + f64::from(a[k]) - mean)
    };
    a.chunks(ACTIONS).zip(v).map(cell).collect()
}

fn best_of(outs: &[Vec<f32>], row: usize, mask: &[u8]) -> Vec<f64> {
    let best =
        |q: &[f64; ACTIONS]| q.iter().zip(mask).filter(|(_, on)| **on != 0).fold(f64::MIN, |a, (b, _)| a.max(*b));
    q_of(outs, row).iter().map(best).collect()
}

/// Pixel changes of each cell; of stacks only the newest frame counts.
fn changes_of(a: &Past, b: &Past) -> Vec<f64> {
    let channels = a.obs.len() / 100;
    let at = |y: usize, x: usize| (y * 10 + x) * channels + channels - 1;
    let pixel = |y: usize, x: usize| f64::from(a.obs[at(y, x)].abs_diff(b.obs[at(y, x)])) / 255.0;
    let cell = |i: usize| (0..4).map(|k| pixel(1 + i / 4 * 2 + k / 2, 1 + i % 4 * 2 + k % 2)).fold(0.0, f64::max);
    (0..CELLS).map(cell).collect()
}

impl Drawn {
    /// Draws from the history as documented, and computes targets with these parameters.
    pub fn new(config: &Config, past: &[Vec<Past>], rng: &mut Rng, params: &[f32], prime: &[f32]) -> Drawn {
        let (steps, keep) = (config.replay_len(), config.history_len as usize);
        let held = past.iter().map(|p| &p[p.len().saturating_sub(keep)..]);
        let held: Vec<&[Past]> = held.filter(|p| p.len() >= config.history_starts as usize).collect();
        let total: usize = held.iter().map(|p| p.len().saturating_sub(steps)).sum();
        let mut sequences = Vec::new();
        for _ in 0..if total > 0 { config.num_replays() } else { 0 } {
            let at = rng.bounded(total as u64 - 1) as usize;
            let starts = held.iter().flat_map(|p| (0..p.len().saturating_sub(steps)).map(move |i| &p[i..=i + steps]));
            sequences.push(starts.clone().nth(at).unwrap().to_vec());
        }
        let mut classes = Vec::new();
        if config.reward_class_coef > 0.0 {
            let all = held.iter().flat_map(|p| p.windows(FRAMES));
            let whole: Vec<&[Past]> = all.filter(|w| w[..FRAMES - 1].iter().all(|p| p.ends == 0)).collect();
            let (pay, none): (Vec<&[Past]>, Vec<&[Past]>) =
                whole.into_iter().partition(|w| w[FRAMES - 1].reward != 0.0);
            for _ in 0..if pay.is_empty() && none.is_empty() { 0 } else { config.num_replays() } {
                let coin = rng.coin();
                let from = if none.is_empty() || (coin && !pay.is_empty()) { &pay } else { &none };
                let own = from[rng.bounded(from.len() as u64 - 1) as usize];
                let reward = own[FRAMES - 1].reward;
                let class =
                    if reward > config.reward_threshold { 2 } else { usize::from(reward >= -config.reward_threshold) };
                classes.push((own.to_vec(), class));
            }
        }
        let mut drawn = Drawn { sequences, classes, values: vec![], cells: vec![], actions: vec![], old: vec![] };
        for sequence in &drawn.sequences {
            let rows: Vec<&Past> = sequence.iter().collect();
            let outs = run(config, params, &rows, config.sequence_len > 0);
            let discount = f64::from(config.discount);
            let mut value = f64::from(outs[1][steps]);
            let has_cells = config.pixel_control_coef > 0.0;
            let mut cells = if has_cells { best_of(&outs, steps, &sequence[steps].mask) } else { Vec::new() };
            let (mut values, mut targets) = (vec![None; steps], vec![None; steps]);
            for i in (0..steps).rev() {
                let (own, v) = (&sequence[i], f64::from(outs[1][i]));
                let reward = f64::from(own.reward);
                value = match own.ends {
                    0 => reward + discount * value,
                    1 => reward,
                    2 => reward + discount * f64::from(own.final_value),
                    _ => v,
                };
                values[i] = (own.ends != 3).then_some(value);
                if has_cells && own.ends == 0 {
                    let change = changes_of(own, &sequence[i + 1]);
                    let discount = f64::from(config.pixel_control_discount);
                    cells = change.iter().zip(&cells).map(|(c, next)| c + discount * next).collect();
                    targets[i] = Some(cells.clone());
                } else if has_cells {
                    cells = if own.ends == 1 { vec![0.0; CELLS] } else { best_of(&outs, i, &own.mask) };
                }
            }
            let mut actions = vec![None; steps];
            let (mut next, mut later) = (f64::from(sequence[steps].value), 0.0);
            for (to, own) in actions.iter_mut().zip(sequence).rev() {
                let value = f64::from(own.value);
                let after = [next, 0.0, f64::from(own.final_value), 0.0][own.ends as usize];
                let error = f64::from(own.reward) + discount * after - value;
                later = match own.ends {
                    0 => error + discount * f64::from(config.gae_lambda) * later,
                    3 => 0.0,
                    _ => error,
                };
                *to = (own.ends != 3).then_some([later, later + value]);
                next = value;
            }
            let mut old: Vec<f64> = sequence.iter().map(|own| f64::from(own.log_prob)).collect();
            if config.policy_replay_coef > 0.0 && !prime.is_empty() {
                let outs = run(config, prime, &rows, config.sequence_len > 0);
                old = log_probs(config, prime, &outs, sequence);
            }
            if config.policy_replay_coef > 0.0 && config.algorithm() == Algorithm::Impala {
                let now = log_probs(config, params, &outs, sequence);
                let log_rho: Vec<f64> = now.iter().zip(&old).map(|(now, then)| now - then).collect();
                let values: Vec<f64> = outs[1].iter().map(|x| f64::from(*x)).collect();
                actions = v_trace(config, sequence, &values, &log_rho);
            }
            drawn.old.push(old);
            drawn.actions.push(actions);
            drawn.values.push(values);
            drawn.cells.push(targets);
        }
        drawn
    }

    /// Unweighted losses of cells, of classes, and of values or actions.
    pub fn losses(&self, config: &Config, params: &[f32]) -> [f64; 3] {
        let layers = network(config);
        let mut nodes = vec![Node::default(); layers.len()];
        let net = Net::compile(&layers, config.obs_dims.map(|len| len as usize), &mut nodes).unwrap();
        let share = 1.0 / (config.num_replays() * config.replay_len()) as f64;
        let mut losses = [0.0; 3];
        let targets = self.values.iter().zip(&self.cells).zip(self.actions.iter().zip(&self.old));
        for (sequence, ((values, cells), (actions, old))) in self.sequences.iter().zip(targets) {
            let rows: Vec<&Past> = sequence.iter().collect();
            let outs = run(config, params, &rows, config.sequence_len > 0);
            for (i, action) in actions.iter().enumerate().filter(|_| config.policy_replay_coef > 0.0) {
                if let Some([advantage, target]) = action {
                    let log_std = if config.log_std_init != 0.0 { &params[net.free_params(0)] } else { &[] };
                    let [log_prob, entropy] = action_of(&outs, log_std, i, &sequence[i]);
                    let error = f64::from(outs[1][i]) - target;
                    let of_value = f64::from(config.value_coef) * 0.5 * error * error;
                    let (ratio, clip) = ((log_prob - old[i]).exp(), f64::from(config.clip));
                    let gain = match config.algorithm() {
                        Algorithm::Ppo => (ratio * advantage).min(ratio.clamp(1.0 - clip, 1.0 + clip) * advantage),
                        _ => log_prob * advantage,
                    };
                    losses[2] += (of_value - gain - f64::from(config.entropy_coef) * entropy) * share;
                }
            }
            for (i, (value, cells)) in values.iter().zip(cells).enumerate() {
                if let Some(value) = value.filter(|_| config.value_replay_coef > 0.0) {
                    losses[2] += (f64::from(outs[1][i]) - value).powi(2) * share;
                }
                if let Some(cells) = cells {
                    let q = q_of(&outs, i);
                    losses[0] +=
                        q.iter().zip(cells).map(|(q, c)| (q[sequence[i].choice as usize] - c).powi(2)).sum::<f64>()
                            * share;
                }
            }
        }
        for (frames, class) in &self.classes {
            let rows: Vec<&Past> = frames.iter().collect();
            let outs = run(config, params, &rows, false);
            let (head, width) = (net.num_heads() - 1, FRAMES * CLASS_UNITS);
            let free = &params[net.free_params(head)];
            let hidden = |u: usize| {
                let sum = (0..FRAMES).map(|k| f64::from(outs[head][k * width + k * CLASS_UNITS + u])).sum::<f64>()
                    + f64::from(free[u]);
                if sum > 0.0 { sum } else { sum.exp() - 1.0 }
            };
            let logit = |k: usize| {
                let weights = &free[CLASS_UNITS * (1 + k)..][..CLASS_UNITS];
                let bias = f64::from(free[CLASS_UNITS * (1 + CLASSES) + k]);
                weights.iter().enumerate().map(|(u, w)| f64::from(*w) * hidden(u)).sum::<f64>() + bias
            };
            let logits = [logit(0), logit(1), logit(2)];
            let all = logits.iter().map(|x| x.exp()).sum::<f64>().ln();
            losses[1] += (all - logits[*class]) / config.num_replays() as f64;
        }
        losses
    }

    fn total(&self, config: &Config, params: &[f32]) -> f64 {
        let replay = config.value_replay_coef + config.policy_replay_coef;
        let weights = [config.pixel_control_coef, config.reward_class_coef, replay];
        self.losses(config, params).iter().zip(weights).map(|(loss, weight)| loss * f64::from(weight)).sum()
    }
}

/// Compares losses and gradients of the tasks with the twin: draws, targets, and the parameters that get gradients. The past
/// samples of each minibatch are its own.
pub fn agrees(config: &Config, mask: usize) {
    let (mut tasks, mut plain) = (Twin::new(config), Twin::new(&only(0, *config)));
    let len = plain.h.view().params().len();
    let mut draws = Rng::stream(config.seed, 4 << 32);
    let mut seen = [0usize; 4];
    let mut prime = Vec::new();
    for update in 0..6 {
        tasks.begin();
        plain.begin();
        if config.prime_interval > 0 && update % config.prime_interval == 0 {
            prime = tasks.h.view().params().to_vec();
        }
        let part = f32::min((update as usize * config.batch_len()) as f32 / config.total_steps.max(1) as f32, 1.0);
        let gone = if config.total_steps > 0 { part } else { 0.0 };
        let share = 1.0 + (config.entropy_share_end - 1.0) * gone;
        let config = &Config { entropy_coef: config.entropy_coef * share, ..*config };
        let mut sums = [0.0f64; 3];
        for minibatch in 1..=config.update_len() {
            let params = tasks.h.view().params().to_vec();
            let drawn = Drawn::new(config, &tasks.past, &mut draws, &params, &prime);
            drawn.sequences.iter().flatten().for_each(|p| seen[p.ends as usize] += 1);
            if mask != 2 && update == 0 && config.replay_len() == config.num_steps as usize {
                // The history is one step short of a sequence.
                assert!(drawn.sequences.is_empty());
            }
            let (with, without) = (chunks(&tasks.h, 0, 1), chunks(&plain.h, 0, 1));
            let (mut grads, losses) = (with[..params.len()].to_vec(), &with[params.len() + 5..]);
            grads.iter_mut().zip(&without[..len]).for_each(|(a, b)| *a -= b);
            for (i, (got, want)) in losses.iter().zip(drawn.losses(config, &params)).enumerate() {
                let bits = if i == 2 { 12 } else { 1 << i };
                let want = if mask & bits != 0 { want } else { 0.0 };
                assert!((f64::from(*got) - want).abs() < 1e-5 * want.abs().max(1.0), "loss {i}: {got}, not {want}");
                sums[i] += f64::from(*got);
            }
            has_slopes(config, &drawn, &params, &grads, &format!("mask {mask}, update {update}, {minibatch}"));
            let stats = tasks.h.learner().learn(None, None, 1).unwrap();
            // A task that is off has no loss, and at most one of value replay and policy replay is on.
            let [policy, values] = [stats.policy_replay_loss, stats.value_replay_loss];
            let all =
                [stats.pixel_control_loss, stats.reward_class_loss, if policy.is_nan() { values } else { policy }];
            let means = sums.map(|sum| (sum / f64::from(minibatch)) as f32);
            assert!(means.iter().zip(all).all(|(a, b)| *a == b || (*a == 0.0 && b.is_nan())), "{means:?} {stats:?}");
            let none = drawn.sequences.is_empty();
            assert!(policy.is_nan() == (mask & 8 == 0) && (policy == 0.0) == (mask & 8 != 0 && none));
            plain.h.learner().learn(None, None, 1).unwrap();
            let params = tasks.h.view().params()[..len].to_vec();
            plain.h.learner().write_params(&params).unwrap();
        }
        if update % 2 == 1 {
            tasks.give_up(update as usize % 3);
            plain.give_up(update as usize % 3);
        }
    }
    assert!(mask == 2 || seen[1] > 0 && seen[2] > 0, "{seen:?}");
}

/// The gradients are slopes of the loss along random directions, of all parameters and of each layer's.
fn has_slopes(config: &Config, drawn: &Drawn, params: &[f32], grads: &[f32], what: &str) {
    let layers = network(config);
    let mut nodes = vec![Node::default(); layers.len()];
    let net = Net::compile(&layers, config.obs_dims.map(|len| len as usize), &mut nodes).unwrap();
    assert_eq!(net.param_len(), params.len());
    let mut ranges: Vec<_> = (0..layers.len()).map(|i| net.params_of(i).unwrap()).collect();
    ranges.push(0..params.len());
    for (at, range) in ranges.into_iter().enumerate() {
        let mut rng = Rng::seeded(range.start as u64);
        let mut direction = vec![0.0f32; params.len()];
        direction[range.clone()].fill_with(|| rng.uniform_f32() - 0.5);
        let step = 2e-3f32;
        let moved = |by: f32| params.iter().zip(&direction).map(|(p, d)| p + by * d).collect::<Vec<_>>();
        let [up, down] = [step, -step].map(|by| drawn.total(config, &moved(by)));
        let slope = (up - down) / (2.0 * f64::from(step));
        let along = |g: &f32, d: &f32| f64::from(*g) * f64::from(*d);
        let got: f64 = grads.iter().zip(&direction).map(|(g, d)| along(g, d)).sum();
        let size: f64 = grads[range.clone()].iter().zip(&direction[range]).map(|(g, d)| along(g, d).powi(2)).sum();
        assert!((got - slope).abs() < 3e-3 + 0.02 * size.sqrt(), "{what}, {at}: {got}, not {slope}");
    }
}
