//! Arrays of observations and actions of any kind, and learners of them.

#![allow(dead_code, reason = "each test file uses a part of it")]

pub mod camera;
#[cfg(all(feature = "residual", feature = "unreal", feature = "noisy"))]
pub mod every;
#[cfg(all(feature = "attention", feature = "residual", feature = "unreal", feature = "noisy", feature = "stream"))]
pub mod onnx_model;
pub mod stores;
#[cfg(all(feature = "residual", feature = "unreal", feature = "noisy"))]
pub mod takes;

use rlcore::block::{HASH_START, hash};
use rlcore::env::StepOut;
use rlcore::error::{Kind, Result};
use rlcore::learn::{BatchMut, Config, Learner, Phase, Policy, TransitionBatch, View};
use rlcore::nn::{Layer, LayerKind, NORMALIZED};
use rlcore::rng::Rng;
use rlcore::space::{Element, Elements, ElementsMut, Space};

/// Elements of one kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Array {
    F32(Vec<f32>),
    U8(Vec<u8>),
    I32(Vec<i32>),
}

impl Array {
    pub fn zeros(kind: Element, len: usize) -> Array {
        match kind {
            Element::F32 => Array::F32(vec![0.0; len]),
            Element::U8 => Array::U8(vec![0; len]),
            Element::I32 => Array::I32(vec![0; len]),
        }
    }

    /// Fill values that calls refuse or never write.
    pub fn junk(kind: Element, len: usize) -> Array {
        match kind {
            Element::F32 => Array::F32(vec![f32::NAN; len]),
            Element::U8 => Array::U8(vec![251; len]),
            Element::I32 => Array::I32(vec![-77; len]),
        }
    }

    pub fn get(&self) -> Elements<'_> {
        match self {
            Array::F32(x) => Elements::F32(x),
            Array::U8(x) => Elements::U8(x),
            Array::I32(x) => Elements::I32(x),
        }
    }

    pub fn get_mut(&mut self) -> ElementsMut<'_> {
        match self {
            Array::F32(x) => ElementsMut::F32(x),
            Array::U8(x) => ElementsMut::U8(x),
            Array::I32(x) => ElementsMut::I32(x),
        }
    }

    /// Copies row `i` of another array.
    pub fn copy_row(&mut self, from: &Array, i: usize, width: usize) {
        let at = i * width..(i + 1) * width;
        match (self, from) {
            (Array::F32(to), Array::F32(from)) => to[at.clone()].copy_from_slice(&from[at]),
            (Array::U8(to), Array::U8(from)) => to[at.clone()].copy_from_slice(&from[at]),
            (Array::I32(to), Array::I32(from)) => to[at.clone()].copy_from_slice(&from[at]),
            _ => panic!("arrays of different kinds"),
        }
    }

    /// Row `i` as f64, without rounding.
    pub fn row(&self, i: usize, width: usize) -> Vec<f64> {
        let at = i * width..(i + 1) * width;
        match self {
            Array::F32(x) => x[at].iter().map(|&x| f64::from(x)).collect(),
            Array::U8(x) => x[at].iter().map(|&x| f64::from(x)).collect(),
            Array::I32(x) => x[at].iter().map(|&x| f64::from(x)).collect(),
        }
    }

    /// The bits of all elements, so that NaN compares too.
    pub fn bits(&self) -> Vec<u32> {
        match self {
            Array::F32(x) => x.iter().map(|x| x.to_bits()).collect(),
            Array::U8(x) => x.iter().map(|&x| x.into()).collect(),
            Array::I32(x) => x.iter().map(|&x| x as u32).collect(),
        }
    }
}

/// The block of a learner whose network begins with these layers.
pub fn made(config: &Config, layers: &[Layer], obs: &Space<'_>, action: &Space<'_>) -> Vec<u64> {
    let mut block = vec![0; Learner::size(config, layers, obs, action).unwrap().div_ceil(8)];
    Learner::init(bytemuck::cast_slice_mut(&mut block), config, layers, obs, action).unwrap();
    block
}

pub fn open(block: &mut [u64]) -> Learner<'_> {
    Learner::open(bytemuck::cast_slice_mut(block)).unwrap()
}

pub fn attach(block: &mut [u64]) -> Learner<'_> {
    Learner::attach(bytemuck::cast_slice_mut(block)).unwrap()
}

/// Learns until no learning is due, whole updates at a time or so many slices.
pub fn learn_all(learner: &mut Learner<'_>, max_slices: u32) {
    while learner.phase() == Phase::Learn {
        learner.learn(None, None, max_slices).unwrap();
    }
}

/// The block of the exported policy.
pub fn export(view: &View<'_>) -> Vec<u64> {
    let mut block = vec![0; view.policy_size().unwrap().div_ceil(8)];
    view.export(bytemuck::cast_slice_mut(&mut block)).unwrap();
    policy(&block);
    block
}

pub fn policy(block: &[u64]) -> Policy<'_> {
    Policy::attach(bytemuck::cast_slice(block)).unwrap()
}

/// The arrays of a step of environments, without masks.
pub fn outcome<'a>(
    obs: &'a mut [f32],
    last: &'a mut [f32],
    reward: &'a mut [f32],
    terminated: &'a mut [u8],
    truncated: &'a mut [u8],
) -> StepOut<'a> {
    let (obs, final_obs) = (ElementsMut::F32(obs), Some(ElementsMut::F32(last)));
    StepOut { obs, reward, terminated, truncated, final_obs, valid: None, action_mask: None, final_action_mask: None }
}

/// Transitions without masks, discounts and weights.
pub fn transitions<'a>(
    obs: Elements<'a>,
    action: Elements<'a>,
    reward: &'a [f32],
    terminated: &'a [u8],
    next_obs: Elements<'a>,
) -> TransitionBatch<'a> {
    let (mask, discount, next_mask, importance) = (None, None, None, None);
    TransitionBatch { obs, action, mask, reward, terminated, discount, next_obs, next_mask, importance }
}

pub fn wide(x: &[f32]) -> Vec<f64> {
    x.iter().map(|x| f64::from(*x)).collect()
}

/// The slope of a function by element `i`, from a step of `h` to both sides.
pub fn slope(x: &[f64], i: usize, h: f64, f: impl Fn(&[f64]) -> f64) -> f64 {
    let at = |h: f64| {
        let mut x = x.to_vec();
        x[i] += h;
        f(&x)
    };
    (at(h) - at(-h)) / (2.0 * h)
}

/// A learner's block, and the lengths that it was made for.
#[derive(Clone)]
pub struct Host {
    pub block: Vec<u64>,
    pub config: Config,
    pub n: usize,
    pub obs_kind: Element,
    pub obs_len: usize,
    pub action_kind: Element,
    pub action_len: usize,
    /// Choices of each element of an action; empty if it is continuous.
    pub choices: Vec<u32>,
    /// Flags of a mask's row; 0 without masks.
    pub mask_len: usize,
}

impl Host {
    /// The normalization statistics.
    pub fn moments(&self) -> Vec<f64> {
        let mut moments = vec![f64::NAN; self.view().moments_len()];
        self.view().read_moments(&mut moments).unwrap();
        moments
    }

    pub fn new(config: &Config, obs: &Space<'_>, action: &Space<'_>) -> Host {
        Host::with(config, &[], obs, action)
    }

    /// A learner whose network begins with these layers.
    pub fn with(config: &Config, layers: &[Layer], obs: &Space<'_>, action: &Space<'_>) -> Host {
        Host {
            block: made(config, layers, obs, action),
            config: *config,
            n: config.num_envs as usize,
            obs_kind: obs.kind,
            obs_len: obs.len as usize,
            action_kind: action.kind,
            action_len: action.len as usize,
            choices: action.n.to_vec(),
            mask_len: if config.use_action_mask != 0 { action.n.iter().sum::<u32>() as usize } else { 0 },
        }
    }

    /// Attaches to the learner, as another process would.
    pub fn learner(&mut self) -> Learner<'_> {
        attach(&mut self.block)
    }

    /// Some of the environments that may act do so, and some of those that have acted are observed: these flags.
    pub fn play_some(&mut self, obs: &Array, rng: &mut Rng) -> Vec<u8> {
        let acts: Vec<u8> =
            self.learner().acted().iter().map(|acted| u8::from(*acted == 0 && rng.bounded(3) > 0)).collect();
        let mut action = self.actions();
        self.learner().act(Some(&acts), obs.get(), None, action.get_mut()).unwrap();
        let sees: Vec<u8> = self.learner().acted().iter().map(|acted| u8::from(*acted != 0 && rng.coin())).collect();
        let reward: Vec<f32> = (0..self.n).map(|_| rng.uniform_f32()).collect();
        let ends: Vec<u8> = (0..2 * self.n).map(|_| u8::from(rng.uniform() < 0.1)).collect();
        let (terminated, truncated) = ends.split_at(self.n);
        self.learner().observe(Some(&sees), &reward, terminated, truncated, Some(obs.get()), None).unwrap();
        sees
    }

    pub fn view(&self) -> View<'_> {
        View::open(bytemuck::cast_slice(&self.block)).unwrap()
    }

    pub fn obs(&self) -> Array {
        Array::zeros(self.obs_kind, self.n * self.obs_len)
    }

    pub fn actions(&self) -> Array {
        Array::zeros(self.action_kind, self.n * self.action_len)
    }

    /// Observations of every environment; with `num_stacked`, of two frames, each stack is one of the start of an episode.
    pub fn draw_seen(&self, rng: &mut Rng) -> Array {
        let mut obs = self.draw_obs(rng);
        if let (Array::U8(pixels), 1..) = (&mut obs, self.config.num_stacked) {
            pixels.as_chunks_mut::<2>().0.iter_mut().for_each(|pixel| pixel[0] = 0);
        }
        obs
    }

    /// Observations of all rows.
    pub fn draw_obs(&self, rng: &mut Rng) -> Array {
        let mut obs = self.obs();
        match &mut obs {
            Array::F32(x) => x.fill_with(|| rng.uniform_f32() * 3.0 - 1.0),
            Array::U8(x) => x.fill_with(|| rng.bounded(255) as u8),
            Array::I32(_) => {}
        }
        obs
    }

    /// Masks of all rows, with at least one choice allowed in each element.
    pub fn draw_mask(&self, rng: &mut Rng) -> Option<Vec<u8>> {
        let mut mask = Vec::new();
        for &n in self.choices.iter().cycle().take(self.n * self.choices.len()) {
            let always = rng.bounded(u64::from(n) - 1);
            mask.extend((0..u64::from(n)).map(|i| u8::from(i == always || rng.coin())));
        }
        (self.mask_len > 0).then_some(mask)
    }
}

/// The columns that [`Learner::read_batch`] fills.
#[derive(Clone, Debug, PartialEq)]
pub struct Columns {
    pub obs: Vec<f32>,
    pub action: Array,
    pub mask: Vec<u8>,
    pub log_prob: Vec<f32>,
    pub value: Vec<f32>,
    pub advantage: Vec<f32>,
    pub value_target: Vec<f32>,
    pub state: Vec<f32>,
    pub begin: Vec<u8>,
    pub env: Vec<u32>,
    pub duration: Vec<f32>,
    pub moments: Vec<f64>,
}

impl Columns {
    pub fn new(host: &Host) -> Columns {
        let m = host.config.batch_len();
        let column = || vec![f32::NAN; m];
        let state_len = host.view().state_len();
        let flags = if host.config.has_sequences() { m } else { 0 };
        Columns {
            obs: vec![f32::NAN; m * host.obs_len],
            action: Array::junk(host.action_kind, m * host.action_len),
            mask: vec![9; m * host.mask_len],
            log_prob: column(),
            value: column(),
            advantage: column(),
            value_target: column(),
            state: vec![f32::NAN; m * state_len],
            begin: vec![9; flags],
            env: vec![u32::MAX; if host.config.num_stacked > 0 { m } else { flags }],
            duration: vec![f32::NAN; m * host.config.use_duration as usize],
            moments: vec![f64::NAN; host.view().moments_len()],
        }
    }

    pub fn get_mut(&mut self) -> BatchMut<'_> {
        BatchMut {
            obs: &mut self.obs,
            action: self.action.get_mut(),
            mask: &mut self.mask,
            log_prob: &mut self.log_prob,
            value: &mut self.value,
            advantage: &mut self.advantage,
            value_target: &mut self.value_target,
            state: &mut self.state,
            begin: &mut self.begin,
            env: &mut self.env,
            duration: &mut self.duration,
            moments: &mut self.moments,
        }
    }

    pub fn batch(&self) -> rlcore::learn::Batch<'_> {
        rlcore::learn::Batch {
            obs: &self.obs,
            action: self.action.get(),
            mask: &self.mask,
            log_prob: &self.log_prob,
            value: &self.value,
            advantage: &self.advantage,
            value_target: &self.value_target,
            state: &self.state,
            begin: &self.begin,
            env: &self.env,
            duration: &self.duration,
            moments: &self.moments,
        }
    }

    pub fn read(host: &mut Host) -> Columns {
        let mut columns = Columns::new(host);
        host.view().read_batch(columns.get_mut()).unwrap();
        columns
    }
}

/// Records until learning is due, and returns the observations for the next act.
pub fn record(h: &mut Host, rng: &mut Rng) -> Array {
    loop {
        let obs = h.draw_seen(rng);
        if h.learner().phase() == Phase::Learn {
            return obs;
        }
        let (mask, mut action) = (h.draw_mask(rng), h.actions());
        h.learner().act(None, obs.get(), mask.as_deref(), action.get_mut()).unwrap();
        let reward: Vec<f32> = (0..h.n).map(|_| rng.uniform_f32()).collect();
        let ends: Vec<u8> = (0..2 * h.n).map(|_| u8::from(rng.uniform() < 0.1)).collect();
        let (terminated, truncated) = ends.split_at(h.n);
        h.learner().observe(None, &reward, terminated, truncated, Some(obs.get()), None).unwrap();
    }
}

/// Records and learns whole updates.
pub fn train(h: &mut Host, rng: &mut Rng, updates: u32) {
    for _ in 0..updates {
        let obs = record(h, rng);
        h.learner().learn(Some(obs.get()), None, 0).unwrap();
    }
}

/// Chunks `[begin, end)` of the minibatch that is due.
pub fn chunks(h: &Host, begin: usize, end: usize) -> Vec<f32> {
    let view = h.view();
    // Scratch may hold any bytes: here they are NaN as numbers.
    let mut scratch = vec![u64::MAX; view.scratch_size().unwrap().div_ceil(8)];
    let mut grads = vec![f32::NAN; (end - begin) * view.grads_len()];
    view.learn_range(begin, end, bytemuck::cast_slice_mut(&mut scratch), &mut grads).unwrap();
    grads
}

/// [`chunks`] computed by `num_threads` threads.
pub fn threads(h: &Host, num_threads: usize) -> Vec<f32> {
    let n = h.config.num_chunks as usize;
    std::thread::scope(|scope| {
        let part = |i| scope.spawn(move || chunks(h, i * n / num_threads, (i + 1) * n / num_threads));
        let parts: Vec<_> = (0..num_threads).map(part).collect();
        parts.into_iter().flat_map(|part| part.join().unwrap()).collect()
    })
}

/// Updates of seven chunks leave the same bytes whole, in slices of 1, 2 or 7 with the block copied between them, and with
/// three threads.
pub fn same_in_parts(mut whole: Host, updates: u64, what: &str) {
    let mut parts: Vec<Host> = [1, 2, 3, 7].map(|_| whole.clone()).into();
    for update in 0..updates {
        let last = record(&mut whole, &mut Rng::seeded(update));
        whole.learner().learn(Some(last.get()), None, 0).unwrap();
        for (part, h) in [1, 2, 3, 7].into_iter().zip(&mut parts) {
            let last = record(h, &mut Rng::seeded(update));
            if part == 3 {
                h.learner().learn_begin(last.get(), None).unwrap();
                while h.learner().stats().minibatches_left > 0 {
                    let grads = threads(h, part);
                    h.learner().write_grads(0, 7, &grads).unwrap();
                    h.learner().learn_apply().unwrap();
                }
            } else {
                h.learner().learn(Some(last.get()), None, part as u32).unwrap();
                while h.learner().stats().minibatches_left > 0 {
                    *h = h.clone();
                    h.learner().learn(None, None, part as u32).unwrap();
                }
            }
            assert!(h.block == whole.block, "{what}: parts of {part}, update {update}");
        }
    }
}

/// Groups of fields that many of these tests set.
pub trait Tune {
    /// These hidden layers.
    fn hidden(self, len: &[u32]) -> Config;
    /// A constant learning rate.
    fn rate(self, rate: f32) -> Config;
    /// Adam without memory and without a limit of the gradient's norm: `x -= rate * g / (|g| + 1)`.
    fn plain_adam(self) -> Config;
    fn store(self, buffer_size: u32, batch_size: u32, learning_starts: u32) -> Config;
    fn rollout(self, num_steps: u32, num_minibatches: u32, num_epochs: u32) -> Config;
    fn normalized(self, obs: u32, reward: u32) -> Config;
}

impl Tune for Config {
    fn hidden(self, len: &[u32]) -> Config {
        let hidden_len = std::array::from_fn(|i| len.get(i).copied().unwrap_or(0));
        Config { num_hidden: len.len() as u32, hidden_len, ..self }
    }

    fn rate(self, rate: f32) -> Config {
        Config { learning_rate: rate, learning_rate_end: rate, ..self }
    }

    fn plain_adam(self) -> Config {
        Config { adam_beta1: 0.0, adam_beta2: 0.0, adam_epsilon: 1.0, max_grad_norm: 0.0, ..self }
    }

    fn store(self, buffer_size: u32, batch_size: u32, learning_starts: u32) -> Config {
        Config { buffer_size, batch_size, learning_starts, ..self }
    }

    fn rollout(self, num_steps: u32, num_minibatches: u32, num_epochs: u32) -> Config {
        Config { num_steps, num_minibatches, num_epochs, ..self }
    }

    fn normalized(self, obs: u32, reward: u32) -> Config {
        Config { normalize_obs: obs, normalize_reward: reward, ..self }
    }
}

/// Small networks with a learning rate high enough for short tests.
pub fn config() -> Config {
    Config { num_hidden: 1, hidden_len: [7, 0, 0, 0], learning_rate: 0.02, ..Config::default() }
}

/// Every layer that carries a state, of 6 units.
pub fn recurrent() -> [Layer; 5] {
    let cell = |kind| Layer::recurrent(kind, 6);
    let normalized = Layer { flags: NORMALIZED, ..cell(LayerKind::Lstm) };
    [cell(LayerKind::Lstm), cell(LayerKind::Gru), cell(LayerKind::MinGru), Layer::attention(6, 2, 5), normalized]
}

/// Spaces that cover every code path of acting.
pub fn spaces() -> [(Space<'static>, Space<'static>); 5] {
    [
        (Space::unbounded(6), Space::discrete(&[4])),
        (Space::unbounded(6), Space::discrete(&[3, 2])),
        (Space::unbounded(6), Space::unbounded(1)),
        (Space::unbounded(6), Space::unbounded(3)),
        (Space::bytes(6), Space::unbounded(2)),
    ]
}

/// Rewrites the hash of header and configuration, as a host could, and clears the seal of the whole block.
pub fn seal(block: &mut [u64]) {
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(block);
    let config_size = u32::from_ne_bytes(bytes[20..24].try_into().unwrap()) as usize;
    bytes[32..48].fill(0);
    let Some(config) = bytes.get(64..64usize.saturating_add(config_size)) else { return };
    let check = hash(hash(HASH_START, &bytes[..40]), config);
    bytes[32..40].copy_from_slice(&check.to_ne_bytes());
}

/// Forges blocks: sets each word to each of `values` in turn, with valid checksums. `attach` returns whether it accepted the
/// block, having used it as a host would. More than `least` blocks must be refused, and more than `least` accepted.
pub fn forge(blocks: &[Vec<u64>], values: &[u32], least: usize, mut attach: impl FnMut(&mut [u64]) -> bool) {
    let mut taken = [0, 0];
    for block in blocks {
        for at in 0..block.len() * 2 {
            for &value in values {
                let mut forged = block.clone();
                bytemuck::cast_slice_mut::<u64, u32>(&mut forged)[at] = value;
                seal(&mut forged);
                taken[usize::from(attach(&mut forged))] += 1;
            }
        }
    }
    assert!(taken.iter().all(|count| *count > least), "{taken:?}");
}

/// Forged learners that attach must survive the calls of a host.
#[cfg(feature = "off_policy")]
pub fn forge_learners(
    blocks: &[Vec<u64>],
    values: &[u32],
    calls: usize,
    call: impl Fn(&mut Learner<'_>) -> Result<()>,
) {
    forge(blocks, values, 100, |forged| {
        let Ok(mut learner) = Learner::attach(bytemuck::cast_slice_mut(forged)) else { return false };
        for _ in 0..calls {
            let _ = call(&mut learner); // may fail, must not panic
        }
        true
    });
}

/// Asserts that the call fails with `kind` and leaves every byte of a learner unchanged.
#[track_caller]
pub fn refuses(h: &mut Host, kind: Kind, name: &str, call: impl FnOnce(&mut Learner<'_>) -> Result<()>) {
    let before = h.block.clone();
    let given = call(&mut h.learner()).map_err(|e| e.kind);
    assert!(given == Err(kind), "{name}: {given:?}");
    assert!(h.block == before, "{name} changed the block");
}

/// Asserts that the call fails with `kind` and `words` and leaves every byte of an off-policy learner unchanged.
#[cfg(feature = "off_policy")]
pub fn refused(block: &mut Vec<u64>, kind: Kind, words: &str, call: impl FnOnce(&mut Learner<'_>) -> Result<()>) {
    let before = block.clone();
    let e = call(&mut Learner::open(bytemuck::cast_slice_mut(block)).unwrap()).unwrap_err();
    assert!(e.kind == kind && format!("{e}").contains(words), "{e}");
    assert_eq!(*block, before, "{words}");
}
