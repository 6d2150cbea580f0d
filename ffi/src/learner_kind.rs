//! The learners behind `rlcore_learner`: on policy, with rollouts, and off policy, with a store of transitions.

use crate::lifecycle::{Block, bytes};
use crate::ptr::Extent;
use rlcore::block::{Header, Kind as BlockKind};
use rlcore::error::{Error, Kind, Result, check_len};
use rlcore::learn::{
    Acts, Algorithm, Config, Learner, Phase, Recurrent, Sampling, Shape, Spaces, Stats, TransitionBatch, View,
};
#[cfg(feature = "off_policy")]
use rlcore::learn::{OffPolicy, off_policy};
use rlcore::nn::Layer;
use rlcore::space::{Elements, ElementsMut, Space};

/// A learner to change. It lives for one call, on the stack.
#[allow(clippy::large_enum_variant)]
pub enum Any<'a> {
    On(Learner<'a>),
    #[cfg(feature = "off_policy")]
    Off(OffPolicy<'a>),
}

/// A learner to read.
#[allow(clippy::large_enum_variant)]
pub enum AnyView<'a> {
    On(View<'a>),
    #[cfg(feature = "off_policy")]
    Off(off_policy::View<'a>),
}

/// The same of either kind of learner.
macro_rules! either {
    ($kind:ident, $any:expr, $learner:ident => $do:expr) => {
        match $any {
            $kind::On($learner) => $do,
            #[cfg(feature = "off_policy")]
            $kind::Off($learner) => $do,
        }
    };
}

/// Learners off policy normalize nothing. Errors: `Shape`.
#[cfg(feature = "off_policy")]
fn no_moments(moments: &[f64]) -> Result {
    check_len("learner: moments of a learner off policy, numbers", moments, 0)
}

/// A block of a learner off policy.
fn is_off_policy(mem: &[u8]) -> bool {
    cfg!(feature = "off_policy") && Header::begins(mem, BlockKind::OffPolicy)
}

fn asks_off_policy(config: &Config) -> bool {
    Algorithm::from_number(config.algorithm).is_some_and(Algorithm::is_off_policy)
}

/// [`Learner::size`] of either.
pub fn size(config: &Config, layers: &[Layer], obs: &Space<'_>, action: &Space<'_>) -> Result<usize> {
    match asks_off_policy(config) {
        #[cfg(feature = "off_policy")]
        true => OffPolicy::size(config, layers, obs, action),
        _ => Learner::size(config, layers, obs, action),
    }
}

/// [`Learner::init`] of either.
pub fn init(mem: &mut [u8], config: &Config, layers: &[Layer], obs: &Space<'_>, action: &Space<'_>) -> Result {
    match asks_off_policy(config) {
        #[cfg(feature = "off_policy")]
        true => OffPolicy::init(mem, config, layers, obs, action).map(drop),
        _ => Learner::init(mem, config, layers, obs, action).map(drop),
    }
}

/// [`View::attach`] of either.
pub fn attach(mem: &[u8]) -> Result<AnyView<'_>> {
    match is_off_policy(mem) {
        #[cfg(feature = "off_policy")]
        true => off_policy::View::attach(mem).map(AnyView::Off),
        _ => View::attach(mem).map(AnyView::On),
    }
}

/// [`View::phase_of`] of either.
pub fn phase(mem: &[u8]) -> Result<Phase> {
    match is_off_policy(mem) {
        #[cfg(feature = "off_policy")]
        true => off_policy::View::phase_of(mem),
        _ => View::phase_of(mem),
    }
}

/// Refuses learners off policy, for calls that are about rollouts.
fn check_on_policy(mem: &[u8]) -> Result {
    let what = "learner: this call is about rollouts, which learners off policy do not have.";
    Error::new(Kind::Disabled, what).when(is_off_policy(mem))
}

/// [`Learner::open`]. Errors: `Disabled` for a learner off policy.
pub fn on_policy(mem: &mut [u8]) -> Result<Learner<'_>> {
    check_on_policy(mem)?;
    Learner::open(mem)
}

/// [`View::open`]. Errors: `Disabled` for a learner off policy.
pub fn view_on_policy(mem: &[u8]) -> Result<View<'_>> {
    check_on_policy(mem)?;
    View::open(mem)
}

/// [`Any::open`]. Errors: `Disabled` for a learner on policy.
pub fn off_policy(mem: &mut [u8]) -> Result<Any<'_>> {
    let any = Any::open(mem)?;
    let what = "learner: this call is about transitions of the host's own, which learners on policy do not learn from.";
    Error::new(Kind::Disabled, what).when(matches!(any, Any::On(_)))?;
    Ok(any)
}

/// What `work` does with a learner that acts and observes. It is large: it is used where it was made.
///
/// # Safety
/// As [`open`](crate::lifecycle::open).
#[inline(always)]
pub unsafe fn acting<B: Block>(
    p: *mut B,
    work: impl FnOnce(&mut dyn Acts, Extent) -> crate::status::Result,
) -> crate::status::Result {
    let (mem, extent) = unsafe { bytes(p)? };
    match is_off_policy(mem) {
        #[cfg(feature = "off_policy")]
        true => work(OffPolicy::open_to_act(mem).as_mut().map_err(|&mut e| e)?, extent),
        _ => work(Learner::open_to_act(mem).as_mut().map_err(|&mut e| e)?, extent),
    }
}

impl<'a> Any<'a> {
    pub fn open(mem: &'a mut [u8]) -> Result<Any<'a>> {
        match is_off_policy(mem) {
            #[cfg(feature = "off_policy")]
            true => OffPolicy::open(mem).map(Any::Off),
            _ => Learner::open(mem).map(Any::On),
        }
    }

    pub fn shape(&self) -> &Shape {
        either!(Any, self, l => l.shape())
    }

    /// N.
    pub fn num_envs(&self) -> usize {
        either!(Any, self, l => l.config().num_envs as usize)
    }

    pub fn batch_len(&self) -> (usize, usize) {
        either!(Any, self, l => l.view().batch_len())
    }

    pub fn num_params(&self) -> usize {
        either!(Any, self, l => l.params().len())
    }

    /// Numbers of the statistics that normalize.
    pub fn num_moments(&self) -> usize {
        match self {
            Any::On(l) => l.view().moments_len(),
            #[cfg(feature = "off_policy")]
            Any::Off(_) => 0,
        }
    }

    pub fn state_len(&self) -> usize {
        either!(Any, self, l => l.view().state_len())
    }

    pub fn check_envs(&self, begin: usize, end: usize) -> Result<usize> {
        either!(Any, self, l => l.check_envs(begin, end))
    }

    pub fn act_range(
        &mut self,
        begin: usize,
        end: usize,
        active: Option<&[u8]>,
        obs: Elements<'_>,
        mask: Option<&[u8]>,
        action: ElementsMut<'_>,
    ) -> Result {
        either!(Any, self, l => l.act_range(begin, end, active, obs, mask, action))
    }

    /// Errors: `Disabled` for a learner on policy.
    pub fn demonstrate(
        &mut self,
        active: Option<&[u8]>,
        obs: Elements<'_>,
        mask: Option<&[u8]>,
        action: Elements<'_>,
    ) -> Result {
        match self {
            Any::On(_) => {
                let _ = (active, obs, mask, action);
                let what = "learner: learners on policy learn from actions that they draw, not from demonstrations.";
                Err(Error::new(Kind::Disabled, what))
            }
            #[cfg(feature = "off_policy")]
            Any::Off(l) => l.demonstrate(active, obs, mask, action),
        }
    }

    pub fn cut_rows(&mut self, gone: &[u8]) -> Result {
        either!(Any, self, l => l.cut_rows(gone))
    }

    pub fn learn(&mut self, obs: Option<Elements<'_>>, mask: Option<&[u8]>, max_slices: u32) -> Result<Stats> {
        match self {
            Any::On(l) => l.learn(obs, mask, max_slices),
            #[cfg(feature = "off_policy")]
            Any::Off(l) => l.learn(max_slices),
        }
    }

    /// Errors: `Disabled` for a learner on policy, which [`off_policy`] does not open.
    pub fn learn_transitions(&mut self, batch: &TransitionBatch<'_>, error: Option<&mut [f32]>) -> Result<Stats> {
        match self {
            Any::On(_) => {
                let _ = (batch, error);
                Err(Error::new(Kind::Disabled, "learner: transitions are learned from off policy."))
            }
            #[cfg(feature = "off_policy")]
            Any::Off(l) => l.learn_transitions(batch, error),
        }
    }

    pub fn learn_drop(&mut self) -> Result {
        either!(Any, self, l => l.learn_drop())
    }

    pub fn value(&mut self, obs: Elements<'_>, mask: Option<&[u8]>, value: &mut [f32]) -> Result {
        either!(Any, self, l => l.value(obs, mask, value))
    }

    pub fn predict(
        &mut self,
        obs: Elements<'_>,
        mask: Option<&[u8]>,
        recurrent: Recurrent<'_>,
        sampling: Sampling,
        action: ElementsMut<'_>,
    ) -> Result {
        match self {
            Any::On(l) => l.predict(obs, mask, recurrent, sampling, action),
            #[cfg(feature = "off_policy")]
            Any::Off(l) => l.predict(obs, mask, sampling, action),
        }
    }

    pub fn write_params(&mut self, params: &[f32], moments: &[f64]) -> Result {
        match self {
            Any::On(l) => l.write_params_with(params, moments),
            #[cfg(feature = "off_policy")]
            Any::Off(l) => no_moments(moments).and_then(|()| l.write_params(params)),
        }
    }

    pub fn write_moments(&mut self, moments: &[f64]) -> Result {
        match self {
            Any::On(l) => l.write_moments(moments),
            #[cfg(feature = "off_policy")]
            Any::Off(_) => no_moments(moments),
        }
    }

    #[cfg(feature = "scale")]
    pub fn count_steps(&mut self, num_steps: u64) -> Result {
        either!(Any, self, l => l.count_steps(num_steps))
    }

    pub fn freeze(&mut self, frozen: bool) {
        either!(Any, self, l => l.freeze(frozen));
    }
}

impl<'a> AnyView<'a> {
    pub fn open(mem: &'a [u8]) -> Result<AnyView<'a>> {
        match is_off_policy(mem) {
            #[cfg(feature = "off_policy")]
            true => off_policy::View::open(mem).map(AnyView::Off),
            _ => View::open(mem).map(AnyView::On),
        }
    }

    pub fn shape(&self) -> &Shape {
        either!(AnyView, self, l => l.shape())
    }

    /// N.
    pub fn num_envs(&self) -> u32 {
        either!(AnyView, self, l => l.config().num_envs)
    }

    pub fn batch_len(&self) -> (usize, usize) {
        either!(AnyView, self, l => l.batch_len())
    }

    /// Elements of begin and of env in a batch.
    pub fn order_len(&self) -> (usize, usize) {
        match self {
            AnyView::On(l) => l.order_len(),
            #[cfg(feature = "off_policy")]
            AnyView::Off(_) => (0, 0),
        }
    }

    pub fn stats(&self) -> Stats {
        either!(AnyView, self, l => l.stats())
    }

    pub fn spaces(&self) -> Spaces<'a> {
        either!(AnyView, self, l => l.spaces())
    }

    pub fn acted(&self) -> &'a [u8] {
        either!(AnyView, self, l => l.acted())
    }

    pub fn params(&self) -> &'a [f32] {
        either!(AnyView, self, l => l.params())
    }

    pub fn moments_len(&self) -> usize {
        match self {
            AnyView::On(l) => l.moments_len(),
            #[cfg(feature = "off_policy")]
            AnyView::Off(_) => 0,
        }
    }

    pub fn read_moments(&self, moments: &mut [f64]) -> Result {
        match self {
            AnyView::On(l) => l.read_moments(moments),
            #[cfg(feature = "off_policy")]
            AnyView::Off(_) => no_moments(moments),
        }
    }

    pub fn state_len(&self) -> usize {
        either!(AnyView, self, l => l.state_len())
    }

    pub fn policy_size(&self) -> Result<usize> {
        either!(AnyView, self, l => l.policy_size())
    }

    pub fn export(&self, mem: &mut [u8]) -> Result {
        either!(AnyView, self, l => l.export(mem))
    }
}
