//! A policy that acts and does not learn: a small read-only block for shipping with a game, shared by any number of threads.

use core::slice::from_mut;

use super::action_spec::{ActionSpec, Actions};
use super::actor::{Head, Recurrent, Sampling, check_act, check_rows_given, see};
use super::actor_config::{ATOMS, ActorConfig, POLICY};
use super::distribution::{Distribution, Knows, Said};
use super::obs_encoder::{Front, ObsEncoder, Part, pictures};
use super::role::is_q_head;
use super::shape::Shape;
use super::spaces::Spaces;
use super::tensors::{NamedTensor, Networks};
#[cfg(feature = "off_policy")]
use super::value_head::{Atoms, ValueHead};
use crate::block::{self, Cutter, Fit, Kind as BlockKind, LayoutError, Plan, TooLong, fields};
use crate::error::{Error, Kind, Result, check_finite};
use crate::kernels::gaussian::LOG_STD_LIMIT;
use crate::kernels::moments;
use crate::nn::{HEAD, Input, Layer, LayerKind, Net, Node, with_room};
use crate::rng::Rng;
use crate::space::{Elements, ElementsMut};

fields! {
    /// Layout of a policy's block.
    pub(super) spans Spans(config: &ActorConfig, params_len: usize) {
        pub(super) taken: Actions = config.shape,
        pub(super) obs_mean: [f64] = config.moments_len(),
        pub(super) obs_var: [f64] = config.moments_len(),
        /// Parameters of the network, and logarithms of standard deviations.
        pub(super) params: [f32] = params_len,
    }
    /// The arrays of a new policy.
    pub(super) write Fields {}
    /// A policy, read from its block. Made by [`View::export`](super::learner::View::export).
    ///
    /// ```
    /// use rlcore::learn::{Config, Learner, Policy, Recurrent, Sampling};
    /// use rlcore::rng::Rng;
    /// use rlcore::space::{Elements, ElementsMut, Space};
    ///
    /// # fn main() -> rlcore::error::Result {
    /// let (obs_space, action_space) = (Space::unbounded(3), Space::discrete(&[4]));
    /// let config = Config::default();
    /// let mut block = vec![0u64; Learner::size(&config, &[], &obs_space, &action_space)? / 8];
    /// let learner = Learner::init(bytemuck::cast_slice_mut(&mut block), &config, &[], &obs_space, &action_space)?;
    /// let mut brain = vec![0u64; learner.view().policy_size()?.div_ceil(8)];
    /// learner.view().export(bytemuck::cast_slice_mut(&mut brain))?;
    ///
    /// // What the game does: the bytes, and scratch of its own.
    /// let policy = Policy::attach(bytemuck::cast_slice(&brain))?;
    /// let mut scratch = vec![0.0; policy.scratch_len(2)?];
    /// let mut action = [-1; 2];
    /// let (obs, mut rng) = ([0.1, 0.2, 0.3, -0.1, -0.2, -0.3], Rng::seeded(1));
    /// let (obs, state) = (Elements::F32(&obs), Recurrent::default()); // no recurrent layers: nothing to remember
    /// policy.act(2, obs, None, state, Sampling::Greedy, &mut rng, &mut scratch, ElementsMut::I32(&mut action))?;
    /// assert!(action.iter().all(|choice| (0..4).contains(choice)));
    /// # Ok(())
    /// # }
    /// ```
    pub read Policy {
        config: ActorConfig,
        net: Net<'a>,
        seen: ObsEncoder<'a>,
    }
}

/// Spans of compiled layers and of the encoding of observations, which determine all other lengths and come first.
fn front(p: &mut Plan, config: &ActorConfig) -> core::result::Result<Front, TooLong> {
    block::spans::<ActorConfig>(p)?;
    Front::plan(p, config.num_layers as usize, config.shape.num_parts, config.shape.num_choices)
}

fn plan(config: &ActorConfig, net: &Net<'_>) -> core::result::Result<(Spans, usize), TooLong> {
    let mut p = Plan::default();
    front(&mut p, config)?;
    let spans = Spans::plan(&mut p, config, net.param_len())?;
    Ok((spans, p.size()?))
}

/// The policy's network alone, without noise, and its configuration with the remaining layers. The initial logarithms of
/// standard deviations are dropped.
fn prune_policy<'n>(
    config: &ActorConfig,
    of: &Net<'_>,
    parts: &[Part],
    nodes: &'n mut [Node],
    list: &mut [Layer],
) -> Result<(ActorConfig, Net<'n>)> {
    let len = of.prune_compiled(0, list)?;
    let own = list.get_mut(..len).unwrap_or_default();
    for layer in &mut *own {
        if layer.kind == LayerKind::Free as u32 {
            layer.gain = 0.0;
        } else if layer.flags & HEAD != 0 {
            layer.units = config.outputs() as u32;
        }
    }
    let (pictures, count) = pictures(parts);
    let net = Net::compile_parts(own, of.picture(), pictures.get(..count).unwrap_or_default(), nodes)?;
    Ok((ActorConfig { num_layers: len as u32, ..*config }, net))
}

/// Factor of the values that a policy of Q outputs, so that sampling selects the best action, except for ties.
pub(super) const Q_LOGIT_SCALE: f32 = 1024.0;

/// Scales the outputs of a policy of Q with `num_layers` layers by [`Q_LOGIT_SCALE`], in its parameters. The quantiles of Q,
/// `quantiles` of them, have been averaged there. Errors: `Shape`.
#[cfg(any(feature = "off_policy", feature = "pqn"))]
pub(super) fn sharpen(net: &Net<'_>, num_layers: u32, quantiles: u32, params: &mut [f32]) -> Result {
    let last = net.means_of(num_layers.saturating_sub(1) as usize)?.len();
    let last = last.checked_div(quantiles as usize).unwrap_or(0);
    let head = params.rchunks_mut(last.max(1)).next().unwrap_or_default();
    head.iter_mut().for_each(|x| *x *= Q_LOGIT_SCALE);
    Ok(())
}

/// The block size in bytes of a policy whose network is the first head of `of`.
pub(super) fn size(config: &ActorConfig, of: &Net<'_>, seen: &ObsEncoder<'_>) -> Result<usize> {
    with_room(of.nodes().len(), &mut |nodes, list| {
        let (config, net) = prune_policy(config, of, seen.parts, nodes, list)?;
        Ok(plan(&config, &net)?.1)
    })
}

/// Writes a policy to its own block, which is marked as changing until `fill` has written its arrays, and then sealed.
pub(super) fn write(
    mem: &mut [u8],
    config: &ActorConfig,
    of: &Net<'_>,
    seen: &ObsEncoder<'_>,
    mut fill: impl FnMut(Fields<'_>) -> Result,
) -> Result {
    with_room(of.nodes().len(), &mut |nodes, list| {
        let (config, net) = prune_policy(config, of, seen.parts, nodes, list)?;
        let (spans, size) = plan(&config, &net)?;
        let mut cut = Cutter::new(block::create_marked(mem, BlockKind::Policy, size, &config)?);
        front(&mut Plan::default(), &config)?.write(&mut cut, net.nodes(), seen.parts, seen.n)?;
        fill(Fields::cut(&mut cut, &spans)?)
    })?;
    block::seal_new(mem)
}

/// The requirement on recurrent states after a step.
const STATES: &str = "policy: recurrent states that do not overflow";

impl<'a> Policy<'a> {
    /// Accepts bytes that a policy was copied to, after checking that all data in them is valid. Errors: `Align`, `Size`,
    /// `Image`.
    pub fn attach(mem: &'a [u8]) -> Result<Policy<'a>> {
        let config = block::attach(mem, BlockKind::Policy, |config: &ActorConfig| {
            config.check()?;
            let (nodes, parts, n) = front(&mut Plan::default(), config)?.read(mem)?;
            let net = config.network(nodes, parts, n, config.outputs())?;
            Ok(plan(config, &net)?.1)
        })?;
        let policy = Self::open(mem)?;
        config.check_actions(&policy.taken, policy.log_std()?, -LOG_STD_LIMIT..=LOG_STD_LIMIT)?;
        let finite = check_finite("", policy.params).is_ok();
        if !finite || moments::check_moments(policy.obs_mean, policy.obs_var, 0.0).is_err() {
            return Err(Error::new(Kind::Image, "policy image: finite parameters and statistics"));
        }
        Ok(policy)
    }

    /// Reads a block that `export` or `attach` has accepted, without checking it again.
    pub fn open(mem: &'a [u8]) -> Result<Policy<'a>> {
        let config: ActorConfig = *block::config(mem, BlockKind::Policy)?;
        let (nodes, parts, n) = front(&mut Plan::default(), &config)?.read(mem)?;
        let net = Net::new(nodes);
        let (s, _) = plan(&config, &net)?;
        Ok(Self::of(mem, &s, config, net, config.shape.seen(net, parts, n))?)
    }

    /// The shapes that the policy was made for.
    pub fn shape(&self) -> &Shape {
        &self.config.shape
    }

    /// The spaces that the policy was made for.
    pub fn spaces(&self) -> Spaces<'a> {
        Spaces::new(&self.config.shape, &self.seen, &self.taken)
    }

    pub(super) fn networks(&self) -> Networks<'a> {
        Networks { net: self.net, critic: Net::new(&[]), num_critics: 0, frozen: &[] }
    }

    /// The part of its learner's configuration that it keeps.
    pub fn config(&self) -> &ActorConfig {
        &self.config
    }

    /// Whether its network computes values of choices.
    pub fn is_q(&self) -> bool {
        self.net.roles().any(is_q_head)
    }

    /// The value that an output, or an atom, of a policy of Q stands for.
    pub fn value_of(&self, output: f32) -> f32 {
        output / Q_LOGIT_SCALE
    }

    /// Means and variances that normalize observations; empty without `normalize_obs`.
    pub fn moments(&self) -> (&'a [f64], &'a [f64]) {
        (self.obs_mean, self.obs_var)
    }

    /// Describes the tensors of the policy. Returns their number; those beyond the length of `to` are not written.
    pub fn tensors(&self, to: &mut [NamedTensor]) -> Result<usize> {
        self.networks().list(to)
    }

    /// Numbers of all tensors.
    pub fn params_len(&self) -> usize {
        self.params.len()
    }

    /// Copies the numbers of all tensors out; those of Q as values, not as the policy's logits. Errors: `Shape`.
    pub fn read_tensors(&self, to: &mut [f32]) -> Result {
        let (params, factor) = self.params();
        self.networks().read(params, factor, to)
    }

    /// All parameters, as its network reads them, and the factor that makes values of those of its last layer, with Q.
    pub(super) fn params(&self) -> (&'a [f32], f32) {
        // Of atoms the values are scaled, not the parameters.
        (self.params, if self.config.num_atoms == 0 { 1.0 / Q_LOGIT_SCALE } else { 1.0 })
    }

    /// The layers of its network, with every default filled in.
    pub fn layers(&self) -> impl Iterator<Item = Layer> + use<'a> {
        self.net.into_layers()
    }

    /// Elements of the recurrent state of a row; 0 without recurrent layers.
    pub fn state_len(&self) -> usize {
        self.net.state_len()
    }

    /// The f32 elements of scratch memory that [`Policy::act`] needs for `num_rows` observations. Errors: `Overflow`.
    pub fn scratch_len(&self, num_rows: usize) -> Result<usize> {
        let too_large = Error::new(Kind::Overflow, "policy: rows whose scratch fits the address space");
        let o = self.shape().seen_len as usize;
        let seen = o.checked_mul(2).and_then(|o| o.checked_add(self.config.outputs())).ok_or(too_large)?;
        let seen = seen.checked_add(self.num_means()).ok_or(too_large)?;
        let rows = seen.checked_mul(num_rows).ok_or(too_large)?;
        let noise = num_rows.checked_mul(self.shape().draw_len()).ok_or(too_large)?;
        let states = num_rows.checked_mul(self.state_len()).ok_or(too_large)?;
        rows.checked_add(noise)
            .and_then(|x| x.checked_add(states))
            .and_then(|x| x.checked_add(self.net.infer_scratch_len(num_rows)))
            .ok_or(too_large)
    }

    /// Chooses an action for each observation.
    ///
    /// `obs`: `[num_rows, obs_len]`; `mask`: `[num_rows, mask_len]` flags or none; `recurrent`: recurrent states; `scratch`: at
    /// least [`Policy::scratch_len`] elements of any value; `action`: `[num_rows, action_len]`.
    /// Errors: `Shape`; `Size` of `scratch`; `Config` of `sampling`; `Value` for a NaN or infinite observation or state, and if
    /// outputs, states or actions overflow. `rng`, `action` and the states are unchanged then.
    #[allow(clippy::too_many_arguments)]
    pub fn act(
        &self,
        num_rows: usize,
        obs: Elements<'_>,
        mask: Option<&[u8]>,
        recurrent: Recurrent<'_>,
        sampling: Sampling,
        rng: &mut Rng,
        scratch: &mut [f32],
        action: ElementsMut<'_>,
    ) -> Result {
        let head = self.head()?;
        head.check_sampling(sampling)?;
        check_act("policy act: obs", self.shape(), num_rows, &obs, &action)?;
        let (outputs, states, scratch) = self.outputs(num_rows, obs, mask, &recurrent, scratch)?;
        let noise = block::rows_mut(scratch, 0, num_rows, self.shape().draw_len())?;
        let mut drawn = *rng;
        head.noise(from_mut(&mut drawn), noise);
        check_finite(STATES, states)?;
        head.draw(num_rows, outputs, mask, sampling, noise, action)?;
        *rng = drawn;
        block::copy(recurrent.state, states);
        Ok(())
    }

    /// [`Policy::act`] with [`Sampling::Greedy`], in far less code and with the same actions: the most probable ones, or the
    /// means. Errors: as there.
    pub fn act_greedy(
        &self,
        num_rows: usize,
        obs: Elements<'_>,
        mask: Option<&[u8]>,
        recurrent: Recurrent<'_>,
        scratch: &mut [f32],
        action: ElementsMut<'_>,
    ) -> Result {
        check_act("policy act: obs", self.shape(), num_rows, &obs, &action)?;
        let (outputs, states, _) = self.outputs(num_rows, obs, mask, &recurrent, scratch)?;
        check_finite(STATES, states)?;
        self.head()?.best(num_rows, outputs, mask, action)?;
        block::copy(recurrent.state, states);
        Ok(())
    }

    /// The distribution that [`Policy::act`] samples from: everything that `to` has room for, except for values and Q, which a
    /// policy does not have. Of a policy that was learned by Q, logits are 1024 times Q.
    ///
    /// `action`: `[num_rows, action_len]` for `log_prob`, continuous ones as sampled, before squashing or clipping; the others as
    /// there. Errors: `Shape`; `Disabled` for values and Q; `Size` of `scratch`; `Value` for numbers that are not finite, choices
    /// that do not exist or are forbidden, and if results overflow. Nothing but `scratch` is written then.
    #[allow(clippy::too_many_arguments)]
    pub fn distribution(
        &self,
        num_rows: usize,
        obs: Elements<'_>,
        mask: Option<&[u8]>,
        action: Option<Elements<'_>>,
        recurrent: Recurrent<'_>,
        scratch: &mut [f32],
        mut to: Distribution<'_>,
    ) -> Result {
        check_rows_given("distribution: obs", self.shape(), num_rows, &obs, action)?;
        let knows = Knows { value: false, q: false, log_prob: true };
        to.check(self.shape(), num_rows, knows, action.is_some())?;
        let (outputs, states, _) = self.outputs(num_rows, obs, mask, &recurrent, scratch)?;
        check_finite(STATES, states)?;
        let said = Said { outputs, mask, tanh: false, log_std: None, value: &[], q: (&[], 1.0) };
        to.take(&self.head()?, 0, num_rows, &said, action, true)?;
        block::copy(recurrent.state, states);
        Ok(())
    }

    /// Its network.
    pub(super) fn net(&self) -> Net<'a> {
        self.net
    }

    /// The encoding of its observations.
    pub(super) fn encoder(&self) -> &ObsEncoder<'a> {
        &self.seen
    }

    /// The choices and bounds of its actions.
    pub(super) fn action_spec(&self) -> &ActionSpec<'a> {
        &self.taken
    }

    pub(super) fn head(&self) -> Fit<Head<'_>> {
        Ok(Head::new(&self.config, self.taken, self.log_std()?))
    }

    pub(super) fn log_std(&self) -> Fit<&[f32]> {
        let own = if self.shape().std_len() == 0 { 0..0 } else { self.net.free_params(0) };
        self.params.get(own).ok_or(LayoutError)
    }

    /// Checks states, mask and scratch of [`Policy::act`] and runs the network. Returns its outputs, the new recurrent states,
    /// and the rest of the scratch memory.
    fn outputs<'s>(
        &self,
        num_rows: usize,
        obs: Elements<'_>,
        mask: Option<&[u8]>,
        recurrent: &Recurrent<'_>,
        scratch: &'s mut [f32],
    ) -> Result<(&'s [f32], &'s [f32], &'s mut [f32])> {
        recurrent.check(num_rows, self.state_len())?;
        self.head()?.check_mask(mask, num_rows)?;
        let (o, l) = (self.shape().seen_len as usize, self.config.outputs());
        let given = scratch.len();
        let short = || Error::new(Kind::Size, "policy act: scratch numbers, at least").given(given);
        let need = self.scratch_len(num_rows)?;
        if given < need {
            return Err(short().needed(need));
        }
        let (raw, scratch) = scratch.split_at_mut_checked(num_rows.saturating_mul(o)).ok_or_else(short)?;
        let (seen, scratch) = scratch.split_at_mut_checked(num_rows.saturating_mul(o)).ok_or_else(short)?;
        let (outputs, scratch) = scratch.split_at_mut_checked(num_rows.saturating_mul(l)).ok_or_else(short)?;
        let (means, scratch) =
            scratch.split_at_mut_checked(num_rows.saturating_mul(self.num_means())).ok_or_else(short)?;
        let states = num_rows.saturating_mul(self.state_len());
        let (states, scratch) = scratch.split_at_mut_checked(states).ok_or_else(short)?;
        let work = self.net.infer_scratch_len(num_rows);
        let (work, scratch) = scratch.split_at_mut_checked(work).ok_or_else(short)?;
        let seen = match obs {
            Elements::U8(bytes) if self.seen.reads_bytes(self.config.normalize_obs) => Input::of_bytes(bytes),
            _ => {
                self.seen.rows(obs, num_rows, raw)?;
                self.seen.check_finite("policy act: a finite obs", obs, (raw, 0), 0..)?;
                see(&self.config, self.obs_mean, self.obs_var, raw, seen)?;
                Input::F32(seen)
            }
        };
        recurrent.start(self.state_len(), states);
        self.net.infer(self.params, seen, num_rows, POLICY, states, work, &mut [&mut *outputs])?;
        Ok((self.means(outputs, means)?, states, scratch))
    }

    /// Elements of a row of means, for outputs that are distributions; else 0.
    fn num_means(&self) -> usize {
        if ATOMS && self.config.num_atoms > 0 { self.shape().num_outputs as usize } else { 0 }
    }

    /// The network outputs, or the means of the distributions that they parameterize.
    fn means<'s>(&self, outputs: &'s [f32], means: &'s mut [f32]) -> Result<&'s [f32]> {
        #[cfg(feature = "off_policy")]
        if let ActorConfig { num_atoms: num @ 1.., value_min: low, value_max: high, .. } = self.config {
            check_finite(super::actor::OVERFLOW, outputs)?;
            ValueHead::Atoms(Atoms { num, low, high }).means(outputs, means);
            return Ok(means);
        }
        let _ = means;
        Ok(outputs)
    }
}
