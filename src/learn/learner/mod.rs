//! Proximal policy optimisation in one block: the host pushes experience in and learns in slices.
//!
//! The order of calls is `act`, `observe`, T times over, then `learn` until no minibatch is left; [`Learner::phase`] tells
//! which is due. Environments may also act and observe each in its own time. Truncated episodes bootstrap from the value of
//! `final_obs`.

mod act;
mod batch;
pub(super) mod bench;
mod frames;
pub(super) mod history;
mod image;
pub(super) mod layout;
mod moments;
mod observe;
mod rollout;
mod scale;
mod stats;
mod update;

use bytemuck::{Pod, Zeroable};

use super::actor::{Head, check_envs, check_mask_fits, check_mask_given};
use super::actor_config::{ActorConfig, MAX_LAYERS};
use super::acts::{Acts, acts};
use super::config::Config;
use super::loss::Sums;
use super::noise;
use super::optimizer::Optimizer;
use super::policy;
use super::seen::Parts;
use super::shape::Shape;
use super::spaces::Spaces;
use super::stored::Stored;
use super::taken::Actions;
use crate::block::{self, Kind as BlockKind, Late, Mark, One, Plan, fields};
use crate::data::episodes::{self, Episodes};
use crate::data::normalizer::INITIAL_COUNT;
use crate::error::{Error, Kind, Result};
use crate::nn::{Layer, Node};
use crate::rng::Rng;
use crate::space::Space;
use batch::mask_len;
use history::History;
use layout::{Lens, Rollout, RolloutView, Sizes, Work, block_plan, front, log_std};
use rollout::NONE;

pub use batch::{Batch, BatchMut};
pub use moments::merge_moments;
#[cfg(feature = "off_policy")]
pub(super) use scale::add_steps;
#[cfg(feature = "off_policy")]
pub(super) use stats::told;
pub use stats::{EPISODES, Stats};
#[cfg(feature = "off_policy")]
pub(super) use update::add_as_tree;

/// Parameters stay within ± this, so that networks go on giving finite numbers for observations of any usual size.
const PARAM_LIMIT: f32 = 1e6;

/// Which call is due, where all environments act in every step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Phase {
    /// `act` with the current observation.
    Act = 0,
    /// `observe` with what the step returned.
    Observe = 1,
    /// `learn` until no minibatch is left.
    Learn = 2,
}

/// Streams of random numbers of a learner's seed. Environment i draws its actions from stream i, and those of `predict`,
/// which leaves the training as it is, from stream `PREDICT + i`: what it draws depends on no other environment.
const PARAMS: u64 = 1 << 32;
const SHUFFLE: u64 = 2 << 32;
const PREDICT: u64 = 3 << 32;
const REPLAY: u64 = 4 << 32;

/// Which parameters networks are run with: those that act, those that learn, or those that act without noise.
#[derive(Clone, Copy, PartialEq)]
enum With {
    Acting,
    Learning,
    Means,
}

/// Everything small that changes.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct State {
    num_steps: u64,
    num_updates: u64,
    num_dropped: u64,
    adam_steps: u64,
    /// Shuffles rollouts.
    shuffle_rng: Rng,
    /// The first slot of the rollout that is recorded.
    begin: u32,
    /// Where its slots end that are taken.
    end: u32,
    /// Transitions of it that are complete.
    complete: u32,
    /// 1: an update runs.
    updating: u32,
    /// Slots of the transitions that it learns from.
    learn_begin: u32,
    learn_end: u32,
    /// Minibatches of this update that are done.
    minibatch: u32,
    frozen: u32,
    obs_count: f64,
    return_mean: f64,
    return_var: f64,
    return_count: f64,
    sums: Sums,
    learning_rate: f32,
    clip: f32,
    entropy_coef: f32,
    explained_variance: f32,
    value_mean: f32,
    /// 0.
    reserved: u32,
}

impl State {
    /// A rollout is complete, or is learnt from and cannot be added to.
    fn waits(&self, c: &Config) -> bool {
        self.complete as usize >= c.batch_len() || (self.updating != 0 && c.overlap == 0)
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
    /// Where the fields of a learner lie, but its rollout and its working arrays.
    spans FieldSpans(c: &Config, lens: &Lens) {
        taken: Actions = lens.shape,
        state: One<State> = (),
        /// `[N]` streams that draw actions while training.
        act_rng: [Rng] = lens.n,
        /// `[N]` streams that draw the actions of `predict`.
        predict_rng: Late<[Rng]> = lens.n,
        /// `[N]` the slot of the transition that an environment has begun, or given up; `NONE` if there is none.
        slot: [u32] = lens.n,
        /// `[N]` 1: this environment has acted and not observed yet.
        open: [u8] = lens.n,
        /// `[N]` 1: statistics have not taken in this environment's observation in `new_obs`.
        staged: [u8] = if lens.moments > 0 { lens.n } else { 0 },
        /// `[N, seen_len]` what networks see of those observations; else 0.
        new_obs: [f32] = lens.n.saturating_mul(lens.moments),
        params: [f32] = lens.params,
        /// First moments; eligibility traces of algorithms that have them.
        adam_m: Late<[f32]> = lens.params,
        adam_v: Late<[f32]> = if c.streams() { 0 } else { lens.params },
        obs_mean: [f64] = lens.moments,
        obs_var: [f64] = lens.moments,
        running_return: [f64] = if c.normalize_reward != 0 { lens.n } else { 0 },
        episodes: Episodes = episodes::Lens { num_envs: lens.n, keep: EPISODES },
        /// Slots of the transitions that the update learns from, shuffled in each epoch.
        order: Late<[u32]> = lens.room,
        /// `[T * N / num_minibatches]` advantages of this minibatch.
        advantage: Late<[f32]> = lens.minibatch,
        /// `[num_chunks, record_len]` gradients and losses of the chunks of this minibatch.
        grads: Late<[f32]> = (c.num_chunks as usize).saturating_mul(lens.record),
        /// `[num_chunks]` 1: that chunk is done.
        done: Late<[u8]> = c.num_chunks as usize,
        /// `[N, state_len]` what recurrent layers carry from one step of an environment to the next.
        carry: [f32] = lens.n.saturating_mul(lens.state),
        /// `[N]` 1: an episode begins with this environment's next action, from a state of zeros.
        begins: [u8] = if lens.begins { lens.n } else { 0 },
        /// The parameters that act while an update runs, with `overlap`.
        acting: [f32] = if c.overlap != 0 { lens.params } else { 0 },
        /// The noise of the rollout that is recorded or learnt from, and parameters with it, which act and learn.
        noise: Late<[f32]> = lens.noise,
        noisy: [f32] = if lens.noise > 0 { lens.params } else { 0 },
        /// The copy of the parameters that `prime_interval` asks for, and the updates begun since it was refreshed.
        prime: Late<[f32]> = if c.prime_interval > 0 { lens.params } else { 0 },
        prime_age: Late<[u32]> = u32::min(c.prime_interval, 1) as usize,
        /// Past steps, with auxiliary tasks.
        history: Late<History> = lens.history,
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
        work: Work<'a>,
    }
    /// A learner, read from its block: what several threads may do at once.
    pub read View {
        config: &'a Config,
        actor: ActorConfig,
        sizes: Sizes<'a>,
        rollout: RolloutView<'a>,
    }
}

acts!(Learner);

impl<'a> Learner<'a> {
    /// Bytes that a block must have. `layers` are those that [`Config::num_layers`] counts. Errors: `Config`, `Overflow`.
    pub fn size(config: &Config, layers: &[Layer], obs: &Space<'_>, action: &Space<'_>) -> Result<usize> {
        let stored = Stored::new(config, obs, action)?;
        let parts = Parts::new(obs)?;
        let net = &mut [Node::default(); MAX_LAYERS];
        Ok(block_plan(&stored, stored.compile(layers, parts.list(), net)?, parts.list())?.1)
    }

    /// Lays a learner out in the caller's bytes and draws its first parameters: orthogonal, gain √2 in hidden layers,
    /// 0.01 at the policy's outputs, 1 at the value's. Errors: `Align`, `Size`, `Config`, `Overflow`; then nothing is written.
    pub fn init(
        mem: &'a mut [u8],
        config: &Config,
        layers: &[Layer],
        obs: &Space<'_>,
        action: &Space<'_>,
    ) -> Result<Learner<'a>> {
        let stored = Stored::new(config, obs, action)?;
        let mut compiled = [Node::default(); MAX_LAYERS];
        let parts = Parts::new(obs)?;
        let net = stored.compile(layers, parts.list(), &mut compiled)?;
        let (plan, size) = block_plan(&stored, net, parts.list())?;
        let block = block::create_marked(mem, BlockKind::Learner, size, &stored)?;
        let (front, spans) = front(&mut Plan::default(), &stored)?;
        let (_, mut cut) = block::cut_config::<Stored>(block)?;
        front.write(&mut cut, net.nodes(), parts.list(), obs.n)?;
        cut.take(spans)?.fill(plan);
        let mut learner = Self::open(block)?;
        learner.taken.init(action);
        *learner.state = State {
            shuffle_rng: Rng::stream(config.seed, SHUFFLE),
            learning_rate: config.learning_rate,
            explained_variance: f32::NAN,
            value_mean: f32::NAN,
            obs_count: INITIAL_COUNT,
            return_var: 1.0,
            return_count: INITIAL_COUNT,
            ..State::zeroed()
        };
        for ((act, predict), i) in learner.act_rng.iter_mut().zip(&mut *learner.predict_rng).zip(0..) {
            (*act, *predict) = (Rng::stream(config.seed, i), Rng::stream(config.seed, PREDICT | i));
        }
        let mut rng = Rng::stream(config.seed, PARAMS);
        learner.sizes.net.init(learner.params, &mut rng, learner.work.scratch)?;
        learner.work.scratch.fill(0.0);
        block::copy(learner.acting, learner.params);
        learner.slot.fill(NONE);
        learner.begins.fill(1);
        learner.history.rng.fill(Rng::stream(config.seed, REPLAY));
        learner.history.sequence.fill(history::NOT_DRAWN);
        learner.history.last.fill(history::NOT_DRAWN);
        learner.history.mask.fill(1);
        learner.adam_v.fill(Optimizer::from_number(config.optimizer).unwrap_or_default().first_square());
        learner.obs_var.fill(1.0);
        noise::draw(&learner.sizes.net, &mut learner.state.shuffle_rng, learner.noise)?;
        noise::add(&learner.sizes.net, learner.noise, learner.params, learner.noisy)?;
        block::copy(learner.prime, learner.params);
        learner.mark.end();
        Ok(learner)
    }

    /// Accepts bytes that a learner was copied to and checks everything in them that a later call relies on. A seal is
    /// taken off, since the learner may change now. Errors: `Align`, `Size`, `Image`; then nothing is written.
    pub fn attach(mem: &'a mut [u8]) -> Result<Learner<'a>> {
        View::attach(mem)?;
        Self::open(mem)
    }

    /// Cuts a block that `init` or `attach` has accepted, without looking at it again; a seal is taken off.
    pub fn open(mem: &'a mut [u8]) -> Result<Learner<'a>> {
        Self::of::<true>(mem)
    }

    /// [`Learner::open`] for calls that act and observe: it cuts what they need, or all where that is less code.
    pub fn open_to_act(mem: &'a mut [u8]) -> Result<impl Acts> {
        Self::of::<{ cfg!(not(feature = "simd")) }>(mem)
    }

    /// The learner, to read.
    pub fn view(&self) -> View<'_> {
        self.read(self.config, self.actor, self.sizes, self.rollout.read())
    }

    /// [`View::phase`].
    pub fn phase(&self) -> Phase {
        self.view().phase()
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

    /// The configuration that the block was made with.
    pub fn config(&self) -> &Config {
        self.config
    }

    /// The shapes that the block was made for.
    pub fn shape(&self) -> &Shape {
        &self.actor.shape
    }

    /// How many environments `[begin, end)` are. Errors: `Range` if they are not there.
    pub fn check_envs(&self, begin: usize, end: usize) -> Result<usize> {
        check_envs(self.open, begin, end)
    }

    /// A mask is given exactly if the configuration says so.
    fn check_mask(&self, mask: Option<&[u8]>, rows: usize) -> Result {
        check_mask_given(self.config.use_action_mask, mask, rows, mask_len(self.config, &self.actor.shape))
    }

    /// The same of N observations whose mask may be left out.
    fn check_mask_fits(&self, mask: Option<&[u8]>) -> Result {
        let (c, flags) = (self.config, mask_len(self.config, &self.actor.shape));
        check_mask_fits(c.use_action_mask, mask, c.num_envs as usize, flags)
    }

    /// Stops or resumes updating the statistics that observations and rewards are normalised by.
    pub fn freeze(&mut self, frozen: bool) {
        let _changing = self.mark.begin();
        self.state.frozen = u32::from(frozen);
    }

    /// The parameters that act, but for noise.
    fn acting<'p>(config: &Config, acting: &'p [f32], params: &'p [f32]) -> &'p [f32] {
        if config.overlap != 0 { acting } else { params }
    }
}

impl<'a> View<'a> {
    /// Which call is due: `Learn` once a rollout is complete, else `Observe` while an environment has acted and not
    /// observed, else `Act`. With `overlap` an update may run in every phase; `Learn` says that acting has to wait for it.
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

    /// The spaces that the block was made for.
    pub fn spaces(&self) -> Spaces<'a> {
        Spaces::new(&self.actor.shape, &self.sizes.seen, &self.taken)
    }

    /// All parameters: the policy's network, logarithms of standard deviations, the value network. Learners of the same
    /// networks have them in the same order.
    pub fn params(&self) -> &'a [f32] {
        self.params
    }

    /// Numbers that recurrent layers carry from one step of an environment to the next; 0 without such layers.
    pub fn state_len(&self) -> usize {
        self.sizes.state_len()
    }

    /// Bytes that `export` needs.
    pub fn policy_size(&self) -> Result<usize> {
        policy::size(&self.actor, &self.sizes.net, &self.sizes.seen)
    }

    /// Writes the policy alone, as it is now, to the caller's bytes. Errors: `Align`, `Size`; then nothing is written.
    pub fn export(&self, mem: &mut [u8]) -> Result {
        policy::write(mem, &self.actor, &self.sizes.net, &self.sizes.seen, |mut to| {
            to.taken.copy(self.taken);
            block::copy(to.obs_mean, self.obs_mean);
            block::copy(to.obs_var, self.obs_var);
            self.sizes.net.prune_params(self.params, 0, 1, to.params)?;
            #[cfg(feature = "pqn")]
            if self.config.learns_q() {
                policy::sharpen(&self.sizes.net, self.actor.num_layers, 1, to.params)?;
            }
            Ok(())
        })
    }

    fn head(&self) -> Result<Head<'_>> {
        let log_std = log_std(self.params, &self.sizes)?;
        Ok(Head::new(&self.actor, self.taken, log_std))
    }
}
