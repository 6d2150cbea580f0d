//! Learning off policy in one block: transitions go to a store, and batches drawn from it are learnt from.
//!
//! The order of calls is that of learners on policy: `act`, `observe`, and `learn` when [`OffPolicy::phase`] says so. A
//! transition goes to the store once what its `n_step` steps led to is known: where the episode goes on, with the `act` that
//! follows them; where it ends, with whatever steps it has (as in Rainbow, Hessel et al. 2018).

mod act;
mod batch;
pub(super) mod bench;
mod config;
mod frames;
mod image;
pub(super) mod layout;
mod observe;
mod update;

use bytemuck::{Pod, Zeroable};

use super::actor::{Head, check_envs, check_mask_fits, check_mask_given};
use super::actor_config::{ActorConfig, MAX_LAYERS};
use super::acts::{Acts, acts};
use super::config::{Algorithm, Config};
use super::learner::{EPISODES, Phase, Stats, add_steps, told};
use super::loss::Sums;
use super::noise;
use super::optimizer::Optimizer;
use super::policy;
use super::seen::Parts;
use super::shape::Shape;
use super::spaces::Spaces;
use super::stored::Stored;
use super::taken::Actions;
use crate::block::{self, Kind as BlockKind, Late, Mark, Misfit, One, Plan, fields};
use crate::data::episodes::{self, Episodes};
use crate::data::sum_tree::Weights;
use crate::error::{Error, Kind, Result, check_len};
use crate::nn::{Layer, Node};
use crate::num;
use crate::rng::Rng;
use crate::space::Space;
use layout::{Sizes, Transitions, Work, block_plan, front};

/// Parameters stay within ± this, as those of learners on policy do.
const PARAM_LIMIT: f32 = 1e6;

/// The logarithm of a temperature stays within ± this.
const TEMPERATURE_LIMIT: f32 = 20.0;

/// Streams of random numbers of a learner's seed, as those of learners on policy: environment i explores from stream i, and
/// `predict` draws from stream `PREDICT + i`.
const PARAMS: u64 = 1 << 32;
const BATCHES: u64 = 2 << 32;
const PREDICT: u64 = 3 << 32;

/// Everything small that changes.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct State {
    num_steps: u64,
    num_updates: u64,
    num_dropped: u64,
    /// Gradient steps taken.
    num_gradient_steps: u64,
    /// Steps of the optimiser: of Q or the policy, and of what follows.
    adam_steps: u64,
    /// Transitions that ever went to the store, and that are gone again.
    num_stored: u64,
    num_gone: u64,
    /// Frames that ever went to the store.
    num_frames: u64,
    critic_steps: u64,
    temperature_steps: u64,
    /// Draws batches, and noise for them.
    rng: Rng,
    sums: Sums,
    /// Sum over the gradient steps of the mean Q.
    value_sum: f64,
    /// Gradient steps that are due.
    due: u32,
    /// 1: a batch is drawn for the gradient step, of Q or of the critics; 2: they took it, and the policy's follows.
    begun: u32,
    frozen: u32,
    learning_rate: f32,
    /// What the last gradient step of the policy said.
    policy_loss: f32,
    entropy: f32,
    /// The mean logarithm of SAC's deviations there.
    log_std: f32,
    /// The logarithm of SAC's temperature, and moments of its gradient.
    log_temperature: f32,
    temperature_m: f32,
    temperature_v: f32,
    /// The largest weight that a transition had: that of new ones.
    largest: f32,
    /// 0.
    reserved: u32,
}

impl State {
    /// [`View::phase`].
    fn phase(&self, open: &[u8]) -> Phase {
        if self.due > 0 {
            Phase::Learn
        } else if open.contains(&1) {
            Phase::Observe
        } else {
            Phase::Act
        }
    }
}

fields! {
    /// Where the fields lie, but the store and working arrays.
    spans FieldSpans(stored: &Stored, sizes: &Sizes<'_>) {
        taken: Actions = stored.shape,
        state: One<State> = (),
        /// `[N]` streams that explore.
        act_rng: [Rng] = sizes.n,
        /// `[N]` streams that draw the actions of `predict`.
        predict_rng: Late<[Rng]> = sizes.n,
        /// `[N]` 1: this environment has acted and not observed yet.
        open: [u8] = sizes.n,
        /// `[N]` 1: an action of this episode was demonstrated, so that it is not counted.
        shown: [u8] = sizes.n,
        /// `[N]` transitions that it has begun in this episode.
        num_begun: [u64] = sizes.n,
        store: Transitions = sizes.stored(stored.config.buffer_size as usize),
        /// `[count, len]` the frames that it tells stacks by, a ring, and one that is zeros.
        frames: [u8] = sizes.ring.count().saturating_mul(sizes.ring.stack.len),
        /// `[N, n_step]` the last transitions that an environment has begun, a ring each: rewards so far, and the discount of
        /// the next one.
        begun: Transitions = sizes.transitions(sizes.n.saturating_mul(stored.config.n_step as usize)),
        /// `[N, n_step, num_stacked]` numbers of the frames of their observations, if they are in the store; else zeros' alone.
        begun_frames: [u64] = sizes.n.saturating_mul(stored.config.n_step as usize).saturating_mul(sizes.ring.stack.num),
        params: [f32] = sizes.params,
        target: Late<[f32]> = sizes.params,
        adam_m: Late<[f32]> = sizes.params,
        adam_v: Late<[f32]> = sizes.params,
        episodes: Episodes = episodes::Lens { num_envs: sizes.n, keep: EPISODES },
        /// `[batch_size]` slots of the transitions of this gradient step.
        order: Late<[u32]> = stored.config.batch_size as usize,
        /// What the transitions of the store are drawn in proportion to; one that is 0 where all are drawn alike.
        weights: Weights = if stored.config.priority_exponent > 0.0 { stored.config.buffer_size as usize } else { 1 },
        /// `[batch_size]` how much they count in this gradient step, and how far their values are from their targets.
        importance: Late<[f32]> = stored.config.batch_size as usize,
        error: Late<[f32]> = stored.config.batch_size as usize,
        /// `[2, batch_size, action_len]` normal draws: for the next actions, and for those of the policy.
        noise: Late<[f32]> = sizes.noise(stored.config.batch_size as usize),
        /// The noise of Q, and parameters and targets with it.
        layer_noise: Late<[f32]> = sizes.policy.noise_len(),
        noisy: [f32] = sizes.noisy(),
        noisy_target: Late<[f32]> = sizes.noisy(),
        /// `[num_chunks, record]` gradients and losses of its chunks.
        grads: Late<[f32]> = (stored.config.num_chunks as usize).saturating_mul(sizes.record),
        /// `[num_chunks]` 1: that chunk is done.
        done: Late<[u8]> = stored.config.num_chunks as usize,
    }
    /// A learner off policy, cut from its block.
    ///
    /// ```
    /// use rlcore::learn::{Algorithm, Config, OffPolicy, Phase};
    /// use rlcore::space::{Elements, ElementsMut, Space};
    ///
    /// # fn main() -> rlcore::error::Result {
    /// // An environment that pays 1 for choice 1 and nothing for choice 0; every step is an episode.
    /// let (obs_space, action_space) = (Space::unbounded(1), Space::discrete(&[2]));
    /// let config = Config { learning_starts: 100, exploration_steps: 300, ..Config::of(Algorithm::Dqn) };
    /// let mut block = vec![0u64; OffPolicy::size(&config, &[], &obs_space, &action_space)? / 8];
    /// let mut learner = OffPolicy::init(bytemuck::cast_slice_mut(&mut block), &config, &[], &obs_space, &action_space)?;
    ///
    /// let (obs, mut action) = ([1.0], [0]);
    /// while learner.stats().num_steps < 600 {
    ///     learner.act(None, Elements::F32(&obs), None, ElementsMut::I32(&mut action))?;
    ///     learner.observe(None, &[action[0] as f32], &[1], &[0], None, None)?;
    ///     if learner.phase() == Phase::Learn {
    ///         learner.learn(0)?; // or a slice a frame
    ///     }
    /// }
    /// assert!(learner.stats().return_mean > 0.9);
    /// # Ok(())
    /// # }
    /// ```
    pub write OffPolicy {
        mark: Mark<'a>,
        config: &'a Config,
        actor: ActorConfig,
        sizes: Sizes<'a>,
        work: Work<'a>,
    }
    /// A learner off policy, read from its block.
    pub read View {
        config: &'a Config,
        actor: ActorConfig,
        sizes: Sizes<'a>,
    }
}

acts!(OffPolicy);

impl<'a> OffPolicy<'a> {
    /// Bytes that a block must have. `layers` are those that [`Config::num_layers`] counts. Errors: `Config`, `Overflow`.
    pub fn size(config: &Config, layers: &[Layer], obs: &Space<'_>, action: &Space<'_>) -> Result<usize> {
        let stored = Stored::new_off_policy(config, obs, action)?;
        let parts = Parts::new(obs)?;
        let (mut policy, mut critic) = ([Node::default(); MAX_LAYERS], [Node::default(); MAX_LAYERS]);
        let policy = stored.compile_policy(layers, parts.list(), &mut policy)?;
        Ok(block_plan(&stored, [policy, stored.compile_critic(layers, parts.list(), &mut critic)?])?.1)
    }

    /// Lays a learner out in the caller's bytes and draws its first parameters. Errors: `Align`, `Size`, `Config`,
    /// `Overflow`; then nothing is written.
    pub fn init(
        mem: &'a mut [u8],
        config: &Config,
        layers: &[Layer],
        obs: &Space<'_>,
        action: &Space<'_>,
    ) -> Result<OffPolicy<'a>> {
        let stored = Stored::new_off_policy(config, obs, action)?;
        let parts = Parts::new(obs)?;
        let (mut policy, mut critic) = ([Node::default(); MAX_LAYERS], [Node::default(); MAX_LAYERS]);
        let policy = stored.compile_policy(layers, parts.list(), &mut policy)?;
        let critic = stored.compile_critic(layers, parts.list(), &mut critic)?;
        let (plan, size) = block_plan(&stored, [policy, critic])?;
        let block = block::create_marked(mem, BlockKind::OffPolicy, size, &stored)?;
        let (front, of_critic, spans) = front(&mut Plan::default(), &stored)?;
        let (_, mut cut) = block::cut_config::<Stored>(block)?;
        front.write(&mut cut, policy.nodes(), parts.list(), obs.n)?;
        block::copy(cut.take(of_critic)?, critic.nodes());
        cut.take(spans)?.fill(plan);
        let mut learner = Self::open(block)?;
        learner.taken.init(action);
        learner.weights.clear();
        learner.begun.mask.fill(1);
        learner.begun_frames.fill(frames::ZEROS);
        let first_square = Optimizer::from_number(config.optimizer).unwrap_or_default().first_square();
        *learner.state = State {
            rng: Rng::stream(config.seed, BATCHES),
            learning_rate: config.learning_rate,
            log_temperature: num::ln(config.temperature),
            temperature_v: first_square,
            largest: 1.0,
            ..State::zeroed()
        };
        for ((act, predict), i) in learner.act_rng.iter_mut().zip(&mut *learner.predict_rng).zip(0..) {
            (*act, *predict) = (Rng::stream(config.seed, i), Rng::stream(config.seed, PREDICT | i));
        }
        let mut rng = Rng::stream(config.seed, PARAMS);
        let (policy, critic) = (learner.sizes.policy, learner.sizes.critic);
        let (own, critics) = learner.params.split_at_mut_checked(policy.param_len()).ok_or(Misfit)?;
        policy.init(own, &mut rng, learner.work.scratch)?;
        for i in 0..learner.sizes.num_critics {
            critic.init(block::rows_mut(critics, i, 1, critic.param_len())?, &mut rng, learner.work.scratch)?;
        }
        learner.work.scratch.fill(0.0);
        block::copy(learner.target, learner.params);
        learner.adam_v.fill(first_square);
        noise::draw(&learner.sizes.policy, &mut learner.state.rng, learner.layer_noise)?;
        learner.add_noise()?;
        learner.mark.end();
        Ok(learner)
    }

    /// Parameters or their noise have changed.
    fn add_noise(&mut self) -> Result {
        noise::add(&self.sizes.policy, self.layer_noise, self.params, self.noisy)?;
        noise::add(&self.sizes.policy, self.layer_noise, self.target, self.noisy_target)
    }

    /// Accepts bytes that a learner was copied to and checks everything in them that a later call relies on. A seal is
    /// taken off, since the learner may change now. Errors: `Align`, `Size`, `Image`; then nothing is written.
    pub fn attach(mem: &'a mut [u8]) -> Result<OffPolicy<'a>> {
        View::attach(mem)?;
        Self::open(mem)
    }

    /// Cuts a block that `init` or `attach` has accepted, without looking at it again; a seal is taken off.
    pub fn open(mem: &'a mut [u8]) -> Result<OffPolicy<'a>> {
        Self::of::<true>(mem)
    }

    /// [`OffPolicy::open`] for calls that act and observe: it cuts what they need, or all where that is less code.
    pub fn open_to_act(mem: &'a mut [u8]) -> Result<impl Acts> {
        Self::of::<{ cfg!(not(feature = "simd")) }>(mem)
    }

    /// The learner, to read.
    pub fn view(&self) -> View<'_> {
        self.read(self.config, self.actor, self.sizes)
    }

    /// [`View::phase`].
    pub fn phase(&self) -> Phase {
        self.view().phase()
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

    /// Takes parameters over, for the targets too: values are learnt towards those that were handed over, not towards older
    /// ones. Errors: `Shape`; `Value` if they are not within ± 1e6.
    pub fn write_params(&mut self, params: &[f32]) -> Result {
        let _changing = self.mark.begin();
        check_len("learner: parameters of length", params, self.params.len())?;
        if let Some(&x) = params.iter().find(|x| !(-PARAM_LIMIT..=PARAM_LIMIT).contains(*x)) {
            return Err(Error::new(Kind::Value, "learner: parameters from -1e6 to 1e6").given_f32(x));
        }
        block::copy(self.params, params);
        block::copy(self.target, params);
        self.add_noise()
    }

    /// Adds environment steps that others took to those that exploration and schedules go by, and `learning_starts`. They make
    /// no update due. Errors: `NotReady` if learning is due; `Overflow`.
    pub fn count_steps(&mut self, num_steps: u64) -> Result {
        let _changing = self.mark.begin();
        self.check_not_due("learner count_steps: an update is due; call learn first.")?;
        add_steps(&mut self.state.num_steps, num_steps)
    }

    /// As of learners on policy; there are no statistics here that it stops.
    pub fn freeze(&mut self, frozen: bool) {
        let _changing = self.mark.begin();
        self.state.frozen = u32::from(frozen);
    }
}

impl<'a> View<'a> {
    /// Which call is due: `Learn` while gradient steps are, else `Observe` while an environment has acted and not observed,
    /// else `Act`.
    pub fn phase(&self) -> Phase {
        self.state.phase(self.open)
    }

    /// `[N]` 1: this environment has acted, and its step has not been observed.
    pub fn acted(&self) -> &'a [u8] {
        self.open
    }

    /// As [`OffPolicy::config`].
    pub fn config(&self) -> &Config {
        self.config
    }

    /// As [`OffPolicy::shape`].
    pub fn shape(&self) -> &Shape {
        &self.actor.shape
    }

    /// The spaces that the block was made for.
    pub fn spaces(&self) -> Spaces<'a> {
        Spaces::new(&self.actor.shape, &self.sizes.seen, &self.taken)
    }

    /// All parameters.
    pub fn params(&self) -> &'a [f32] {
        self.params
    }

    /// What SAC says that a nat of entropy is worth; 1 of other algorithms, but for their configuration.
    pub fn temperature(&self) -> f32 {
        num::exp(self.state.log_temperature)
    }

    /// Transitions of a batch, B, and flags in the mask of each; 0 without `use_action_mask`.
    pub fn batch_len(&self) -> (usize, usize) {
        (self.config.batch_size as usize, self.sizes.masks)
    }

    /// Transitions that the store holds.
    pub fn stored(&self) -> usize {
        self.state.num_stored.saturating_sub(self.state.num_gone) as usize
    }

    /// Slots of the store that ever held a transition.
    fn used(&self) -> usize {
        self.state.num_stored.min(self.config.buffer_size.into()) as usize
    }

    /// Transitions had to go because there was no room for frames.
    fn is_thinned(&self) -> bool {
        self.stored() < self.used()
    }

    /// This slot of the store holds a transition.
    fn holds(&self, slot: usize) -> bool {
        let slots = u64::from(self.config.buffer_size);
        let newest = self.state.num_stored.checked_rem(slots).unwrap_or(0).saturating_add(slots).saturating_sub(1);
        newest
            .saturating_sub(slot as u64)
            .checked_rem(slots)
            .is_some_and(|age| age < self.stored() as u64 && slots > slot as u64)
    }

    /// What the last update did, or the running one has done so far.
    pub fn stats(&self) -> Stats {
        let (s, c) = (&self.state, self.config);
        let mean = |there: bool, sum: f64| told(there && s.sums.count > 0.0, || (sum / s.sums.count) as f32);
        let is_sac = c.algorithm() == Algorithm::Sac;
        Stats {
            minibatches_left: s.due,
            num_steps: s.num_steps,
            num_updates: s.num_updates,
            num_dropped: s.num_dropped,
            learning_rate: s.learning_rate,
            policy_loss: mean(c.has_critics(), s.sums.policy_loss),
            value_loss: mean(true, s.sums.value_loss),
            entropy: mean(is_sac, s.sums.entropy),
            grad_norm: mean(true, s.sums.grad_norm),
            value_mean: mean(true, s.value_sum),
            temperature: told(is_sac, || self.temperature()),
            exploration_rate: c.exploration(s.num_steps),
            log_std_mean: told(is_sac && self.sizes.vector > 0 && s.adam_steps > 0, || s.log_std),
            num_stored: self.stored() as u64,
            ..Stats::of(&self.episodes)
        }
    }

    /// Bytes that `export` needs.
    pub fn policy_size(&self) -> Result<usize> {
        policy::size(&self.actor, &self.sizes.policy, &self.sizes.seen)
    }

    /// Writes the policy alone, as it is now, to the caller's bytes: its outputs are 1024 times Q, so that drawing an action
    /// takes the best one, or logits of atoms 1024 times as large; the logits of SAC's choices; or means, with deviations as
    /// small as the configuration allows. Errors: `Align`, `Size`; then nothing is written.
    pub fn export(&self, mem: &mut [u8]) -> Result {
        policy::write(mem, &self.actor, &self.sizes.policy, &self.sizes.seen, |mut to| {
            to.taken.copy(self.taken);
            let net = &self.sizes.policy;
            let [len, shipped] = self.config.value_lens();
            let group = if shipped == 1 { len } else { 1 };
            net.prune_params(self.params.get(..net.param_len()).ok_or(Misfit)?, 0, group as usize, to.params)?;
            if self.sizes.choice_values > 0 {
                return Ok(());
            }
            if self.config.has_critics() {
                let log_std = to.params.rchunks_mut(self.sizes.vector.max(1)).next().unwrap_or_default();
                log_std.fill(self.config.log_std_min);
                return Ok(());
            }
            // Atoms are 1024 times those that were learnt.
            if shipped > 1 { Ok(()) } else { policy::sharpen(net, self.actor.num_layers, group, to.params) }
        })
    }

    /// As of learners on policy: there are no recurrent layers.
    pub fn state_len(&self) -> usize {
        0
    }

    fn head(&self) -> Head<'_> {
        Head::new(&self.actor, self.taken, &[])
    }

    /// A mask is given exactly if the configuration says so, and allows something in each row.
    fn check_mask(&self, mask: Option<&[u8]>, rows: usize) -> Result {
        check_mask_given(self.config.use_action_mask, mask, rows, self.sizes.masks)?;
        self.head().check_mask(mask, rows)
    }

    /// The same of N observations whose mask may be left out, in these rows alone.
    fn check_mask_fits(&self, mask: Option<&[u8]>, rows: impl Iterator<Item = usize>) -> Result {
        check_mask_fits(self.config.use_action_mask, mask, self.sizes.n, self.sizes.masks)?;
        self.head().check_mask_rows(mask, rows)
    }
}
