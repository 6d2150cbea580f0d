//! Learners in one block: the host supplies experience and learns in slices.
//!
//! The order of calls is `act`, `observe`, until [`Learner::phase`] returns that `learn` is due, and then `learn` until the
//! update is complete. Environments may also act and observe independently. An algorithm learns from rollouts of the last
//! steps, or from batches that are drawn from a replay store of transitions. The two kinds, in `rollout` and `replay`, differ
//! in the data recorded for a step and in when an update is due.

mod act;
pub mod adopt;
mod configure;
pub(super) mod context;
mod demonstrate;
mod image;
mod imitate;
#[cfg(all(
    test,
    feature = "off_policy",
    feature = "actor_critic",
    feature = "pqn",
    feature = "recurrent",
    feature = "residual"
))]
mod kept_tests;
pub(super) mod layout;
mod moments;
mod observe;
#[cfg(feature = "off_policy")]
pub(super) mod replay;
pub(super) mod rollout;
mod scale;
mod stats;
mod tensors;
mod update;

use bytemuck::{Pod, Zeroable};

use super::act_observe::{ActObserve, acts};
use super::action_spec::Actions;
use super::actor::{Head, check_envs, check_mask_fits, check_mask_given};
use super::actor_config::ActorConfig;
use super::config::Config;
use super::learner_spec::LearnerSpec;
use super::loss::Sums;
use super::named_infos::NamedInfos;
use super::noise;
use super::obs_encoder::Parts;
use super::optimizer::Optimizer;
use super::policy;
use super::shape::Shape;
use super::spaces::Spaces;
use super::store::history::{self, History};
use super::store::replay::{Replay, ReplayView};
use super::store::rollout::{NONE, Rollout, RolloutView};
use super::store::shown::{self, Shown};
#[cfg(not(feature = "off_policy"))]
use super::transition_batch::TransitionBatch;
use crate::block::{self, Changing, Cold, Kind as BlockKind, LayoutError, Mark, One, Plan, fields};
use crate::data::episodes::{self, Episodes};
use crate::data::normalizer::INITIAL_COUNT;
use crate::error::{Error, Kind, Result};
use crate::nn::{Layer, with_rooms};
use crate::num;
use crate::rng::Rng;
use crate::space::Space;
use layout::{Lens, Places, Scratch, Sizes, block_plan, log_std};

pub use moments::merge_moments;
pub use rollout::{Batch, BatchMut};
pub use stats::{EPISODES, Stats};

/// Parameters stay within ± this limit, so that network outputs stay finite for observations of any usual size.
const PARAM_LIMIT: f32 = 1e6;

/// Which call is due, where all environments act in every step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Phase {
    /// `act` with the current observation.
    Act = 0,
    /// `observe` with the results of the step.
    Observe = 1,
    /// `learn` until no minibatch is left.
    Learn = 2,
}

/// Random streams of a learner's seed. Environment i draws its actions from stream i, and those of `predict`, which does not
/// affect training, from stream `PREDICT + i`: its draws are independent of all other environments.
const PARAMS: u64 = 1 << 32;
const ORDER: u64 = 2 << 32;
const PREDICT: u64 = 3 << 32;
const PAST: u64 = 4 << 32;
const SHOWN: u64 = 5 << 32;

/// Parameters that networks are run with: those that act, those that learn, or those that act without noise.
#[derive(Clone, Copy, PartialEq)]
enum With {
    Acting,
    Learning,
    Means,
}

/// All scalar state.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct State {
    num_steps: u64,
    num_updates: u64,
    num_dropped: u64,
    /// Optimizer steps of the network, Q or the policy; then of the critics and of the temperature.
    adam_steps: u64,
    critic_steps: u64,
    temperature_steps: u64,
    /// Gradient steps that batches of the store were drawn for.
    num_gradient_steps: u64,
    /// Gradient steps that are left of the running update.
    num_left: u64,
    /// Transitions ever added to the replay store, and those removed from it since.
    num_stored: u64,
    num_gone: u64,
    /// Demonstrations that are kept, and how many were when the update began, with `overlap`.
    num_kept: u64,
    begun_kept: u64,
    /// With `overlap`, when the update began: environment steps, transitions ever added, and the variance of returns.
    begun_steps: u64,
    begun_stored: u64,
    begun_return_var: f64,
    /// Frames ever added to the replay store.
    num_frames: u64,
    /// Shuffles rollouts; draws batches of the replay store, and noise for them.
    rng: Rng,
    sums: Sums,
    /// Sum over the gradient steps of the mean Q of a batch.
    value_sum: f64,
    obs_count: f64,
    return_mean: f64,
    return_var: f64,
    return_count: f64,
    /// The first slot of the rollout being recorded.
    begin: u32,
    /// The end of its used slots.
    end: u32,
    /// Its complete transitions.
    complete: u32,
    /// 1 while an update runs: from rollouts, or from a batch that is drawn for the gradient step of Q or of the critics; 2 when
    /// the policy's step is next.
    updating: u32,
    /// Slots of the transitions of the running update.
    learn_begin: u32,
    learn_end: u32,
    /// Minibatches of this update that are complete.
    minibatch: u32,
    /// Gradient steps from the store that are due, besides those of the running update.
    due: u32,
    frozen: u32,
    learning_rate: f32,
    clip: f32,
    entropy_coef: f32,
    explained_variance: f32,
    value_mean: f32,
    /// Of the last gradient step of a policy with critics: loss, entropy, and mean logarithm of standard deviations.
    policy_loss: f32,
    entropy: f32,
    log_std: f32,
    /// The logarithm of SAC's temperature, and the moments of its gradient.
    log_temperature: f32,
    temperature_m: f32,
    temperature_v: f32,
    /// The largest priority weight so far, used for new transitions.
    largest: f32,
    /// How long the last step that traces have taken in lasted, with `use_duration`.
    last_duration: f32,
    /// The weight of imitation in this update, and the mean size of the values of the batch, of TD3.
    imitation_coef: f32,
    value_size: f32,
}

impl State {
    /// Whether learning is due before recording can go on: a rollout is complete, or is being learned from and cannot be
    /// extended; or gradient steps from the replay store are due.
    fn waits(&self, c: &Config) -> bool {
        let due = if c.needs().replay { self.due > 0 } else { self.complete as usize >= c.batch_len() };
        due || (self.updating != 0 && c.overlap == 0)
    }

    /// Whether an update from the store is running while environments go on.
    #[cfg(feature = "off_policy")]
    fn runs_besides(&self, c: &Config) -> bool {
        self.updating != 0 && c.overlap != 0
    }

    /// Off policy, the parameters that predictions and values are made with: those from before a running update, else the last.
    #[cfg(feature = "off_policy")]
    fn shown<'p>(&self, c: &Config, acting: &'p [f32], params: &'p [f32]) -> &'p [f32] {
        if self.runs_besides(c) { acting } else { params }
    }

    /// [`View::phase`].
    fn phase(&self, c: &Config, open: &[u8]) -> Phase {
        if self.waits(c) {
            Phase::Learn
        } else if open.contains(&1) {
            Phase::Observe
        } else {
            Phase::Act
        }
    }

    /// Errors: `NotReady` if learning is due before anything is recorded.
    fn check_recording(&self, c: &Config, what: &'static str) -> Result {
        if self.waits(c) { Err(Error::new(Kind::NotReady, what)) } else { Ok(()) }
    }
}

fields! {
    /// Spans of a learner's fields, except its rollout and its working arrays.
    spans FieldSpans(c: &Config, lens: &Lens) {
        taken: Actions = lens.shape,
        state: One<State> = (),
        /// `[N]` streams that draw actions while training.
        act_rng: [Rng] = lens.n,
        /// `[N]` streams that draw the actions of `predict`.
        predict_rng: Cold<[Rng]> = lens.n,
        /// `[N]` the slot of an environment's begun or abandoned transition; `NONE` if there is none.
        slot: [u32] = lens.recording,
        /// `[N]` 1: this environment has acted and has not observed yet.
        open: [u8] = lens.n,
        /// `[N]` 1: the observation in `new_obs` has not been added to the statistics yet.
        staged: [u8] = if lens.moments > 0 { lens.n } else { 0 },
        /// `[N, seen_len]` encoded observations that wait for the statistics; else 0.
        new_obs: [f32] = lens.n.saturating_mul(lens.moments),
        params: [f32] = lens.params,
        /// First moments; for algorithms with eligibility traces, the traces.
        adam_m: Cold<[f32]> = lens.params,
        adam_v: Cold<[f32]> = if c.needs().traces { 0 } else { lens.params },
        obs_mean: [f64] = lens.moments,
        obs_var: [f64] = lens.moments,
        running_return: [f64] = if c.normalize_reward != 0 { lens.n } else { 0 },
        episodes: Episodes = episodes::Lens { num_envs: lens.n, keep: EPISODES },
        /// Slots of the transitions of the update, shuffled in each epoch; or of a batch.
        order: Cold<[u32]> = lens.order,
        /// `[T * N / num_minibatches]` advantages of this minibatch.
        advantage: Cold<[f32]> = lens.minibatch,
        /// `[num_chunks, record_len]` gradients and losses of the chunks of this minibatch, and off policy errors of its rows.
        grads: Cold<[f32]> = (c.num_chunks as usize).saturating_mul(lens.record),
        /// `[num_chunks]` 1: the gradients of that chunk are present.
        done: Cold<[u8]> = c.num_chunks as usize,
        /// `[N, state_len]` recurrent states between steps.
        carry: [f32] = lens.n.saturating_mul(lens.state),
        /// `[N]` 1: an episode begins with this environment's next action, from a state of zeros.
        begins: [u8] = if lens.begins { lens.n } else { 0 },
        /// With `overlap`, the parameters that act while an update runs.
        acting: [f32] = if c.overlap != 0 { lens.params } else { 0 },
        /// The noise of the rollout that is recorded or learned from, or of Q; and the parameters with noise added, which act
        /// and learn.
        noise: Cold<[f32]> = lens.noise,
        noisy: [f32] = if lens.noise > 0 { lens.params } else { 0 },
        /// The copy of the parameters that `prime_interval` requires, and the updates begun since it was refreshed.
        prime: Cold<[f32]> = if c.prime_interval > 0 { lens.params } else { 0 },
        prime_age: Cold<[u32]> = u32::min(c.prime_interval, 1) as usize,
        /// The history of past steps, with auxiliary tasks.
        history: Cold<History> = lens.history,
        /// Demonstrations that a learner on policy keeps.
        shown: Cold<Shown> = lens.shown,
        /// One for each layer, of all networks: bit k: its tensor k is frozen.
        frozen_tensors: Cold<[u8]> = lens.layers,
    }
    /// A learner, cut from its block.
    ///
    /// ```
    /// use rlcore::learn::{Config, Phase, Learner};
    /// use rlcore::space::{Elements, ElementsMut, Space};
    ///
    /// # fn main() -> rlcore::error::Result {
    /// // Two environments that pay 1 for choice 1 and nothing for choice 0; every step is an episode.
    /// let (obs_space, action_space) = (Space::unbounded(1), Space::discrete(&[2]));
    /// let config = Config { num_envs: 2, num_steps: 32, learning_rate: 0.01, ..Config::default() };
    /// let mut block = vec![0u64; Learner::size(&config, &[], &obs_space, &action_space)? / 8];
    /// let mut learner = Learner::init(bytemuck::cast_slice_mut(&mut block), &config, &[], &obs_space, &action_space)?;
    ///
    /// let (obs, mut action) = ([1.0; 2], [0; 2]);
    /// while learner.stats().num_updates < 20 {
    ///     learner.act(None, Elements::F32(&obs), None, ElementsMut::I32(&mut action))?;
    ///     let reward = action.map(|choice| choice as f32);
    ///     learner.observe(None, &reward, &[1; 2], &[0; 2], None, None)?;
    ///     if learner.phase() == Phase::Learn {
    ///         learner.learn(Some(Elements::F32(&obs)), None, 0)?; // or a slice a frame
    ///     }
    /// }
    /// assert!(learner.stats().return_mean > 0.9);
    /// # Ok(())
    /// # }
    /// ```
    pub write Learner {
        mark: Mark<'a>,
        config: &'a Config,
        actor: ActorConfig,
        sizes: Sizes<'a>,
        rollout: Rollout<'a>,
        #[cfg_attr(not(feature = "off_policy"), allow(dead_code))]
        replay: Replay<'a>,
        work: Scratch<'a>,
    }
    /// A learner, read from its block; several threads may use it at the same time.
    pub read View {
        config: &'a Config,
        actor: ActorConfig,
        sizes: Sizes<'a>,
        rollout: RolloutView<'a>,
        replay: ReplayView<'a>,
    }
}

acts!(Learner);

impl<'a> Learner<'a> {
    /// The size of a block in bytes. `layers` are those that [`Config::num_layers`] counts. Errors: `Config`, `Overflow`.
    pub fn size(config: &Config, layers: &[Layer], obs: &Space<'_>, action: &Space<'_>) -> Result<usize> {
        let infos = NamedInfos::new(obs, layers);
        let obs = &infos.space(obs);
        let stored = LearnerSpec::new(config, obs, action)?;
        let parts = Parts::new(obs)?;
        with_rooms([stored.num_layers(), stored.num_critic_layers()], &mut |nodes, list| {
            let nets = stored.compile(layers, parts.list(), nodes, list)?;
            infos.check(&nets[0])?;
            Ok(block_plan(&stored, nets, parts.list())?.1)
        })
    }

    /// Writes a new learner to the caller's bytes and draws its initial parameters: orthogonal, with gain √2 in hidden layers,
    /// 0.01 at the policy's outputs, 1 at the outputs of the value and of critics. Errors: `Align`, `Size`, `Config`,
    /// `Overflow`; then nothing is written.
    pub fn init(
        mem: &'a mut [u8],
        config: &Config,
        layers: &[Layer],
        obs: &Space<'_>,
        action: &Space<'_>,
    ) -> Result<Learner<'a>> {
        let infos = NamedInfos::new(obs, layers);
        let obs = &infos.space(obs);
        let stored = LearnerSpec::new(config, obs, action)?;
        let parts = Parts::new(obs)?;
        let size = with_rooms([stored.num_layers(), stored.num_critic_layers()], &mut |nodes, list| {
            let nets = stored.compile(layers, parts.list(), nodes, list)?;
            infos.check(&nets[0])?;
            let (plans, size) = block_plan(&stored, nets, parts.list())?;
            let block = block::create_marked(mem, BlockKind::Learner, size, &stored)?;
            let (_, mut cut) = block::cut_config::<LearnerSpec>(block)?;
            Places::plan(&mut Plan::default(), &stored)?.write(&mut cut, nets, parts.list(), obs.n, &plans)?;
            Ok(size)
        })?;
        let mut learner = Self::open(mem.get_mut(..size).ok_or(LayoutError)?)?;
        learner.taken.init(action);
        let first_square = Optimizer::from_number(config.optimizer).unwrap_or_default().first_square();
        *learner.state = State {
            rng: Rng::stream(config.seed, ORDER),
            learning_rate: config.learning_rate,
            explained_variance: f32::NAN,
            value_mean: f32::NAN,
            obs_count: INITIAL_COUNT,
            return_var: 1.0,
            begun_return_var: 1.0,
            return_count: INITIAL_COUNT,
            log_temperature: num::ln(config.temperature),
            temperature_v: first_square,
            largest: 1.0,
            ..State::zeroed()
        };
        for ((act, predict), i) in learner.act_rng.iter_mut().zip(&mut *learner.predict_rng).zip(0..) {
            (*act, *predict) = (Rng::stream(config.seed, i), Rng::stream(config.seed, PREDICT | i));
        }
        let mut rng = Rng::stream(config.seed, PARAMS);
        let (net, critic) = (learner.sizes.net, learner.sizes.critic);
        let (own, critics) = learner.params.split_at_mut_checked(net.param_len()).ok_or(LayoutError)?;
        net.init(own, &mut rng, learner.work.scratch)?;
        for params in critics.chunks_exact_mut(critic.param_len().max(1)) {
            critic.init(params, &mut rng, learner.work.scratch)?;
        }
        learner.work.scratch.fill(0.0);
        block::copy(learner.acting, learner.params);
        learner.slot.fill(NONE);
        learner.begins.fill(1);
        learner.history.rng.fill(Rng::stream(config.seed, PAST));
        learner.history.sequence.fill(history::NOT_DRAWN);
        learner.history.last.fill(history::NOT_DRAWN);
        learner.history.mask.fill(1);
        learner.shown.rng.fill(Rng::stream(config.seed, SHOWN));
        learner.shown.drawn.fill(shown::NOT_DRAWN);
        learner.adam_v.fill(first_square);
        learner.obs_var.fill(1.0);
        #[cfg(feature = "off_policy")]
        learner.init_replay();
        noise::draw(&learner.sizes.net, &mut learner.state.rng, learner.noise)?;
        learner.add_noise()?;
        block::copy(learner.prime, learner.params);
        learner.mark.end();
        Ok(learner)
    }

    /// Recomputes the noisy parameters after a change of parameters or noise.
    fn add_noise(&mut self) -> Result {
        noise::add(&self.sizes.net, self.noise, self.params, self.noisy)?;
        #[cfg(feature = "off_policy")]
        if self.config.needs().replay {
            noise::add(&self.sizes.net, self.noise, self.replay.target, self.replay.noisy_target)?;
        }
        Ok(())
    }

    /// Accepts bytes that a learner was copied to and checks all data in them that later calls rely on. Removes the seal, since
    /// the learner may change from here on. Errors: `Align`, `Size`, `Image`; then nothing is written.
    pub fn attach(mem: &'a mut [u8]) -> Result<Learner<'a>> {
        View::attach(mem)?;
        Self::open(mem)
    }

    /// Opens a block that `init` or `attach` has accepted, without checking it again; removes the seal.
    pub fn open(mem: &'a mut [u8]) -> Result<Learner<'a>> {
        Self::of::<true>(mem)
    }

    /// [`Learner::open`] for calls that act and observe: cuts only the fields they need, or all where that is less code.
    pub fn open_to_act(mem: &'a mut [u8]) -> Result<impl ActObserve> {
        Self::of::<{ cfg!(not(feature = "avx2")) }>(mem)
    }

    /// Marks the block as being changed until the result is dropped, for several calls that count as one.
    pub(crate) fn hold(&self) -> Changing<'a> {
        self.mark.begin()
    }

    /// A read-only view of the learner.
    pub fn view(&self) -> View<'_> {
        self.read(self.config, self.actor, self.sizes, self.rollout.read(), self.replay.read())
    }

    /// [`View::phase`].
    pub fn phase(&self) -> Phase {
        self.state.phase(self.config, self.open)
    }

    /// [`View::acted`].
    pub fn acted(&self) -> &[u8] {
        self.open
    }

    /// [`View::stats`].
    pub fn stats(&self) -> Stats {
        self.view().stats()
    }

    /// [`View::params`].
    pub fn params(&self) -> &[f32] {
        self.params
    }

    /// The configuration, as the block was made with or as [`Learner::configure`] has changed it.
    pub fn config(&self) -> &Config {
        self.config
    }

    /// The shapes that the block was made for.
    pub fn shape(&self) -> &Shape {
        &self.actor.shape
    }

    /// The number of environments, N.
    pub fn num_envs(&self) -> usize {
        self.sizes.n
    }

    /// The number of environments in `[begin, end)`. Errors: `Range` if they do not exist.
    pub fn check_envs(&self, begin: usize, end: usize) -> Result<usize> {
        check_envs(self.open, begin, end)
    }

    /// Checks that a mask is given exactly if the configuration uses masks.
    fn check_mask(&self, mask: Option<&[u8]>, rows: usize) -> Result {
        check_mask_given(self.config.use_action_mask, mask, rows, self.sizes.masks)
    }

    /// Checks the mask of N observations, which may be omitted.
    fn check_mask_fits(&self, mask: Option<&[u8]>) -> Result {
        check_mask_fits(self.config.use_action_mask, mask, self.sizes.n, self.sizes.masks)
    }

    /// Learns from transitions supplied by the host. Errors: `Disabled`: this build has no algorithm that can.
    #[cfg(not(feature = "off_policy"))]
    pub fn learn_transitions(&mut self, _: &TransitionBatch<'_>, _: Option<&mut [f32]>) -> Result<Stats> {
        self.config.check_transitions().and(Err(LayoutError.into()))
    }

    /// Stops or resumes updating the statistics that normalize observations and rewards.
    pub fn freeze(&mut self, frozen: bool) {
        let _changing = self.mark.begin();
        self.state.frozen = u32::from(frozen);
    }

    /// The parameters that act, without noise.
    fn acting<'p>(config: &Config, acting: &'p [f32], params: &'p [f32]) -> &'p [f32] {
        if config.overlap != 0 { acting } else { params }
    }
}

impl<'a> View<'a> {
    /// The call that is due: `Learn` once a rollout is complete, or gradient steps are due; else `Observe` while an environment has
    /// acted and not observed, else `Act`. With `overlap` an update may run in every phase; `Learn` means that acting has to
    /// wait for it.
    pub fn phase(&self) -> Phase {
        self.state.phase(self.config, self.open)
    }

    /// `[N]` 1: this environment has acted, and its step has not been observed.
    pub fn acted(&self) -> &'a [u8] {
        self.open
    }

    /// As [`Learner::config`].
    pub fn config(&self) -> &Config {
        self.config
    }

    /// As [`Learner::shape`].
    pub fn shape(&self) -> &Shape {
        &self.actor.shape
    }

    /// The number of environments, N.
    pub fn num_envs(&self) -> usize {
        self.sizes.n
    }

    /// The spaces that the block was made for.
    pub fn spaces(&self) -> Spaces<'a> {
        Spaces::new(&self.actor.shape, &self.sizes.seen, &self.taken)
    }

    /// All parameters: the policy's network, logarithms of standard deviations, the value network. The order is the same for
    /// all learners of the same networks.
    pub fn params(&self) -> &'a [f32] {
        self.params
    }

    /// Elements of the recurrent state of an environment; 0 without recurrent layers.
    pub fn state_len(&self) -> usize {
        self.sizes.state_len()
    }

    /// Transitions of a batch, T * N, or `batch_size` from a replay store; and mask flags of each, 0 without `use_action_mask`.
    pub fn batch_len(&self) -> (usize, usize) {
        let c = self.config;
        (if c.needs().replay { c.batch_size as usize } else { c.batch_len() }, self.sizes.masks)
    }

    /// Elements of `begin` and of `env` in a batch: one per transition with sequences; of `env` also if frames are stored once;
    /// else 0, as for batches from a replay store.
    pub fn order_len(&self) -> (usize, usize) {
        let (m, sequences) = (self.config.batch_len(), self.config.has_sequences());
        let some = |asked: bool| if asked && !self.config.needs().replay { m } else { 0 };
        let kept = self.sizes.frames.stack.is_kept();
        (some(sequences), some(sequences || kept))
    }

    /// The number of bytes that `export` needs.
    pub fn policy_size(&self) -> Result<usize> {
        policy::size(&self.actor, &self.sizes.net, &self.sizes.seen)
    }

    /// Writes the current policy alone to the caller's bytes. Errors: `Align`, `Size`; then nothing is written.
    pub fn export(&self, mem: &mut [u8]) -> Result {
        policy::write(mem, &self.actor, &self.sizes.net, &self.sizes.seen, |mut to| {
            to.taken.copy(self.taken);
            block::copy(to.obs_mean, self.obs_mean);
            block::copy(to.obs_var, self.obs_var);
            #[cfg(feature = "off_policy")]
            if self.config.needs().replay {
                return self.export_of_store(to.params);
            }
            self.sizes.net.prune_params(self.params, 0, 1, to.params)?;
            #[cfg(feature = "pqn")]
            if self.config.needs().q {
                policy::sharpen(&self.sizes.net, self.actor.num_layers, 1, to.params)?;
            }
            Ok(())
        })
    }

    /// Writes the policy's parameters: outputs are 1024 times Q, so that sampling selects the best action, or logits of atoms
    /// 1024 times as large; or the logits of SAC's choices, and means, with the smallest standard deviations that the
    /// configuration allows.
    #[cfg(feature = "off_policy")]
    fn export_of_store(&self, params: &mut [f32]) -> Result {
        let net = &self.sizes.net;
        let [len, shipped] = self.config.value_lens();
        let group = if shipped == 1 { len } else { 1 };
        net.prune_params(self.params.get(..net.param_len()).ok_or(LayoutError)?, 0, group as usize, params)?;
        if self.config.needs().critics {
            let before = params.len().saturating_sub(self.sizes.std_len);
            params.get_mut(before..).unwrap_or_default().fill(self.config.log_std_min);
            return Ok(());
        }
        // Atoms are 1024 times those that were learned.
        if shipped > 1 { Ok(()) } else { policy::sharpen(net, self.actor.num_layers, group, params) }
    }

    fn head(&self) -> Result<Head<'_>> {
        let log_std = log_std(self.params, &self.sizes)?;
        Ok(Head::new(&self.actor, self.taken, log_std))
    }
}
