//! Fixed setup and block layout of a vectorized environment.

use bytemuck::{Pod, Zeroable};

use super::{Env, Spec};
use crate::block::{self, Header, Plan, fields};
use crate::error::{Error, Kind, Result};
use crate::rng::Rng;
use crate::space::{Element, MAX_RANK, Space};

/// When an environment whose episode ended starts its next episode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Autoreset {
    /// In the step that ended the episode: `obs` is the first observation of the new episode, `final_obs` the last of
    /// the old one.
    #[default]
    SameStep = 0,
    /// In the next step, which ignores the action and is marked invalid.
    NextStep = 1,
    /// Only by `reset`, `reset_range` or `reset_one`.
    Disabled = 2,
    /// In the next step, which then applies the action at once, so that the first observation of the episode is never
    /// returned. Behavior of the first Atari wrappers, for comparisons.
    Legacy = 3,
}

impl Autoreset {
    /// The mode with this number, or `None` for an unknown number.
    #[inline]
    pub fn from_number(number: u32) -> Option<Self> {
        match number {
            0 => Some(Autoreset::SameStep),
            1 => Some(Autoreset::NextStep),
            2 => Some(Autoreset::Disabled),
            3 => Some(Autoreset::Legacy),
            _ => None,
        }
    }
}

/// Value of [`VecEnvConfig::max_episode_steps`] for episodes without a limit.
pub const NO_LIMIT: u32 = u32::MAX;

/// Configuration of a vectorized environment, apart from the environment itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VecEnvConfig {
    /// Number of environments, at least 1.
    pub num_envs: u32,
    /// Seed of the random streams: environment i uses the stream of `seed + i` (modulo 2^64).
    pub seed: u64,
    /// When an environment whose episode ended starts its next episode.
    pub autoreset: Autoreset,
    /// Time limit: episodes are truncated after this many steps of the batch, with and without wrappers; [`NO_LIMIT`]
    /// means never. 0 selects the environment's own limit, which is counted in the environment's own steps if wrappers
    /// repeat actions. Any other value replaces the environment's limit. A
    /// [`TimeLimit`](super::wrap::Wrapper::TimeLimit) in a list of wrappers always applies.
    pub max_episode_steps: u32,
}

impl Default for VecEnvConfig {
    fn default() -> Self {
        VecEnvConfig { num_envs: 1, seed: 0, autoreset: Autoreset::SameStep, max_episode_steps: 0 }
    }
}

/// Setup of a vectorized environment. Stored in the block behind the header when the block is created; constant
/// afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Setup {
    /// Seed of the random streams.
    pub seed: u64,
    /// Number of environments.
    pub num_envs: u32,
    /// Autoreset mode, an [`Autoreset`].
    pub autoreset: u32,
    /// Time limit in steps of the batch; 0 means no limit.
    pub max_episode_steps: u32,
    /// Identifier of the environment kind.
    pub env_id: u32,
    /// Size of one environment's state in bytes.
    pub state_size: u32,
    /// The environment's own time limit, whether it applies or not.
    pub own_max_episode_steps: u32,
    /// Element kind of observations, an [`Element`].
    pub obs_kind: u32,
    /// Number of elements of one observation.
    pub obs_len: u32,
    /// Element kind of actions, an [`Element`].
    pub action_kind: u32,
    /// Number of elements of one action.
    pub action_len: u32,
    /// 1 if the configured time limit replaces the environment's own limit, which wrappers count themselves.
    limit_given: u32,
    /// Length of an action mask: the number of choices summed over all elements of an action; 0 for continuous actions.
    pub mask_len: u32,
    /// Hash of the list of wrappers around the environment.
    pub wrappers: u64,
}

impl Setup {
    /// Offset of the end of the setup from the start of the block: the bytes needed to determine the layout.
    pub const END: usize = block::FIELD_ALIGN + size_of::<Setup>();

    /// Creates the setup from an environment's specification and a configuration. Errors: `Config`.
    pub fn new(spec: &Spec<'_>, config: &VecEnvConfig) -> Result<Setup> {
        let what = match spec.obs.kind {
            Element::I32 => "environment observations: at least 1 choice for each of their elements",
            _ => "environment observations: bounds in order, one a value or one for all",
        };
        check_space(what, &spec.obs)?;
        check_fields(&spec.obs)?;
        check_space("environment actions: bounds in order or choices, one a value", &spec.action)?;
        let setup = Setup {
            seed: config.seed,
            num_envs: config.num_envs,
            autoreset: config.autoreset as u32,
            max_episode_steps: match config.max_episode_steps {
                0 => spec.outer_limit(),
                NO_LIMIT => 0,
                steps => steps,
            },
            env_id: spec.env_id,
            state_size: spec.state_size,
            own_max_episode_steps: spec.max_episode_steps,
            obs_kind: spec.obs.kind as u32,
            obs_len: spec.obs.len,
            action_kind: spec.action.kind as u32,
            action_len: spec.action.len,
            limit_given: u32::from(config.max_episode_steps != 0),
            mask_len: mask_len(&spec.action),
            wrappers: spec.wrappers,
        };
        setup.check()?;
        Ok(setup)
    }

    /// Reads the setup from the first [`Setup::END`] bytes of a block that `init` or `attach` accepted.
    /// Errors: `Align`, `Size`, `Image`.
    #[inline(always)]
    pub fn read(mem: &[u8]) -> Result<&Setup> {
        if !Header::begins(mem, block::Kind::VecEnv) {
            Header::read(mem, block::Kind::VecEnv)?;
        }
        let (_, setup) = block::spans::<Setup>(&mut Plan::default())?;
        block::view(mem, setup)?.first().ok_or(Error::new(Kind::Image, "vecenv: a block with a setup"))
    }

    /// Checks that the block was created for this environment. Errors: `Config` if not.
    #[inline]
    pub fn check_env<E: Env + ?Sized>(&self, env: &E) -> Result {
        if self.is_for(env) { Ok(()) } else { self.refuse_env(&env.spec()) }
    }

    /// True if [`Setup::check_env`] succeeds.
    #[inline]
    fn is_for<E: Env + ?Sized>(&self, env: &E) -> bool {
        let spec = env.spec();
        let counts = spec.action.n.len();
        self.has_env_of(&self.with_env(&spec))
            && (spec.action.kind != Element::I32 || counts == self.action_len as usize)
    }

    /// This setup for an environment of this specification.
    #[inline(always)]
    fn with_env(&self, spec: &Spec<'_>) -> Setup {
        let Spec { env_id, state_size, max_episode_steps: own_max_episode_steps, obs, action, wrappers } = *spec;
        Setup {
            env_id,
            state_size,
            own_max_episode_steps,
            obs_kind: obs.kind as u32,
            obs_len: obs.len,
            action_kind: action.kind as u32,
            action_len: action.len,
            mask_len: mask_len(&action),
            wrappers,
            ..*self
        }
    }

    /// True if both setups were created for the same environment, so that a block of one can be used with code compiled
    /// for the other.
    #[inline(always)]
    pub fn has_env_of(&self, other: &Setup) -> bool {
        // In memory order, so that the compiler can merge the comparisons.
        self.env_id == other.env_id
            && self.state_size == other.state_size
            && self.own_max_episode_steps == other.own_max_episode_steps
            && self.obs_kind == other.obs_kind
            && self.obs_len == other.obs_len
            && self.action_kind == other.action_kind
            && self.action_len == other.action_len
            && self.mask_len == other.mask_len
            && self.wrappers == other.wrappers
    }

    /// The error of [`Setup::check_env`] for an environment that does not match.
    #[cold]
    #[inline(never)]
    fn refuse_env(&self, spec: &Spec<'_>) -> Result {
        let mut env = self.with_env(spec);
        if spec.action.kind == Element::I32 && env.action_len == self.action_len {
            env.action_len = u32::try_from(spec.action.n.len()).unwrap_or(u32::MAX);
        }
        self.check_same_env(&env)
    }

    /// Checks that [`Setup::has_env_of`] is true, and that both count its own limit. Errors: `Config`, which names what differs.
    #[cold]
    #[inline(never)]
    pub(super) fn check_same_env(&self, other: &Setup) -> Result {
        let refuse = |what, needed: u32, given: u32| {
            Err(Error::new(Kind::Config, what).needed(needed as usize).given(given as usize))
        };
        if other.env_id != self.env_id {
            return refuse(
                "vecenv: the environment that the block was made for, with env_id",
                self.env_id,
                other.env_id,
            );
        }
        if other.own_max_episode_steps != self.own_max_episode_steps {
            return refuse(
                "vecenv: an environment with the max_episode_steps that the block was made with,",
                self.own_max_episode_steps,
                other.own_max_episode_steps,
            );
        }
        if other.wrappers != self.wrappers {
            return Err(Error::new(
                Kind::Config,
                "vecenv: the wrappers differ from those that the block was made with.",
            ));
        }
        if other.state_size != self.state_size {
            return refuse("vecenv: an environment with a state_size of", self.state_size, other.state_size);
        }
        if (other.obs_kind, other.obs_len) != (self.obs_kind, self.obs_len) {
            return refuse(
                "vecenv: an environment with the block's obs_kind and an obs_len of",
                self.obs_len,
                other.obs_len,
            );
        }
        if (other.action_kind, other.action_len) != (self.action_kind, self.action_len) {
            return refuse(
                "vecenv: an environment with the block's action_kind and an action_len of",
                self.action_len,
                other.action_len,
            );
        }
        if other.mask_len != self.mask_len {
            return refuse("vecenv: an environment with choices in all, as many as", self.mask_len, other.mask_len);
        }
        if other.limit_given != self.limit_given {
            return Err(Error::new(
                Kind::Config,
                "vecenv: max_episode_steps replaces the environment's own limit, which wrappers count, in one of the batches only.",
            ));
        }
        Ok(())
    }

    /// What a row needs of every batch that it is written into: this setup without what is the batch's own. Wrappers count the
    /// environment's own time limit in their state, if it applies.
    #[inline(always)]
    pub(super) fn of_row(&self) -> Setup {
        let limit_given = if self.wrappers == 0 { 0 } else { self.limit_given };
        Setup { seed: 0, num_envs: 0, autoreset: 0, max_episode_steps: 0, limit_given, ..*self }
    }

    /// Element kinds of observations and actions.
    #[inline(always)]
    pub fn kinds(&self) -> (Element, Element) {
        // Only the kinds that `check` accepts.
        let obs = Element::from_number(self.obs_kind).unwrap_or(Element::F32);
        let action = if self.action_kind == Element::I32 as u32 { Element::I32 } else { Element::F32 };
        (obs, action)
    }

    /// Layout of the block: the spans of all fields and the total size in bytes. The layout is defined here only.
    #[inline(always)]
    pub fn spans(&self) -> Result<(Spans, usize)> {
        self.check()?;
        self.lay()
    }

    /// [`Setup::spans`] without checking the setup, which was checked when the block was accepted.
    #[inline(always)]
    pub fn lay(&self) -> Result<(Spans, usize)> {
        // For blocks far smaller than the address space, the compiler can prove that nothing overflows.
        let near = size_of::<usize>() == 8 && u64::from(self.num_envs).wrapping_mul(self.state_size.into()) < 1 << 40;
        if near { self.plan() } else { self.plan_far() }
    }

    #[cold]
    #[inline(never)]
    fn plan_far(&self) -> Result<(Spans, usize)> {
        self.plan()
    }

    #[inline(always)]
    fn plan(&self) -> Result<(Spans, usize)> {
        let mut plan = Plan::default();
        block::spans::<Setup>(&mut plan)?;
        let spans = Spans::plan(&mut plan, self.num_envs as usize, self.state_size as usize)?;
        Ok((spans, plan.size()?))
    }

    #[inline]
    pub(super) fn check(&self) -> Result {
        // A single branch for the valid case; `refuse` determines the error message.
        let wrong = (self.num_envs == 0)
            | (self.autoreset > Autoreset::Legacy as u32)
            | !self.state_size.is_multiple_of(8)
            | (self.obs_kind > Element::U8 as u32)
            | (self.obs_len == 0)
            | ((self.action_kind != Element::F32 as u32) & (self.action_kind != Element::I32 as u32))
            | (self.action_len == 0)
            | (self.limit_given > 1);
        if wrong { self.refuse() } else { Ok(()) }
    }

    /// The error of [`Setup::check`] for an invalid setup.
    #[cold]
    #[inline(never)]
    fn refuse(&self) -> Result {
        let refuse = |what, given: u32| Err(Error::new(Kind::Config, what).given(given as usize));
        if self.num_envs == 0 {
            return refuse("vecenv config: num_envs of at least 1", 0);
        }
        if Autoreset::from_number(self.autoreset).is_none() {
            return refuse(
                "vecenv config: autoreset of 0 (same step), 1 (next step), 2 (disabled) or 3 (legacy)",
                self.autoreset,
            );
        }
        if !self.state_size.is_multiple_of(8) {
            return refuse("environment: a state_size that is a multiple of 8", self.state_size);
        }
        if Element::from_number(self.obs_kind).is_none() {
            return refuse("environment observations: kind f32, i32 or u8", self.obs_kind);
        }
        if self.obs_len == 0 {
            return refuse("environment observations: at least 1 element", 0);
        }
        if self.action_kind != Element::F32 as u32 && self.action_kind != Element::I32 as u32 {
            return refuse("environment actions: kind f32 or i32", self.action_kind);
        }
        if self.action_len == 0 {
            return refuse("environment actions: at least 1 element", 0);
        }
        if self.limit_given > 1 {
            return refuse("vecenv setup: limit_given of 0 or 1", self.limit_given);
        }
        Ok(())
    }

    pub(super) fn mode(&self) -> Autoreset {
        Autoreset::from_number(self.autoreset).unwrap_or_default()
    }

    /// True if the environment's own time limit applies.
    pub(super) fn own_limit(&self) -> bool {
        self.limit_given == 0
    }
}

/// Number of flags in a mask of these actions.
#[inline(always)]
fn mask_len(action: &Space<'_>) -> u32 {
    if action.kind == Element::I32 { action.num_choices().min(u32::MAX as usize) as u32 } else { 0 }
}

fn check_space(what: &'static str, space: &Space<'_>) -> Result {
    let refuse = || Err(Error::new(Kind::Config, what));
    let len = space.len as usize;
    match space.kind {
        Element::I32 if space.n.len() != len => refuse(),
        Element::I32 if space.n.iter().any(|&n| n == 0 || n > i32::MAX as u32) => refuse(),
        Element::I32 => Ok(()),
        _ if ![0, 1, len].contains(&space.low.len()) || ![0, 1, len].contains(&space.high.len()) => refuse(),
        _ if space.low.iter().chain(space.high).any(|x| x.is_nan()) => refuse(),
        _ => {
            let bounds = space.low.len().max(space.high.len());
            let crossed = |i| matches!(space.bounds(i), (low, high) if low > high);
            if (0..bounds).any(crossed) { refuse() } else { Ok(()) }
        }
    }
}

/// Checks the fields of an observation: ordered, aligned, disjoint, within the observation, and of the observation's
/// kind unless that is bytes.
fn check_fields(space: &Space<'_>) -> Result {
    let refuse = |what, given: u32| Err(Error::new(Kind::Config, what).given(given as usize));
    let mut end = 0;
    for (i, field) in (0..).zip(space.fields) {
        let size = field.size().filter(|&size| size > 0 && field.rank as usize <= MAX_RANK);
        let Some(size) = size else {
            return refuse("environment observations: field {given} must have elements and a rank of at most 4.", i);
        };
        if field.kind != space.kind && space.kind != Element::U8 {
            return refuse(
                "environment observations: field {given} must have the observation's kind, unless that is bytes.",
                i,
            );
        }
        let begin = field.offset as usize;
        if begin < end || !begin.is_multiple_of(field.kind.size()) {
            return refuse(
                "environment observations: fields must be in order, aligned and disjoint; field {given} is not.",
                i,
            );
        }
        end = begin.saturating_add(size);
    }
    let size = (space.len as usize).saturating_mul(space.kind.size());
    if end <= size {
        Ok(())
    } else {
        Err(Error::new(Kind::Config, "environment observations: a field that ends within {needed} bytes")
            .needed(size)
            .given(end))
    }
}

fields! {
    /// Offsets of the fields of a block, which follow the setup: one entry per row.
    pub spans Spans(n: usize, state_size: usize) {
        /// `[N, state_size]` bytes.
        pub state: [u8] = n.saturating_mul(state_size),
        /// `[N]` random stream of each environment.
        pub rng: [Rng] = n,
        /// `[N]` steps taken in the current episode.
        pub steps: [u32] = n,
        /// `[N]` 0: must be reset first; 1: within an episode; 2: ended and not yet reset; 3: as 2, and the next
        /// episode starts in the same level.
        pub phase: [u8] = n,
    }
    /// Rows `[first, first + len)`: all data that stepping them may change. Two disjoint `Rows` share no byte and may
    /// be used by different threads. The fields are public for callers that cut them from a raw block along
    /// [`Setup::spans`].
    #[derive(Debug)]
    pub write Rows {
        /// Setup of the block.
        pub setup: &'a Setup,
        /// Index of the first row within the batch.
        pub first: usize,
    }
}
