//! Opening the blocks of learners.

use crate::lifecycle::{Block, bytes};
use crate::ptr::Extent;
use rlcore::error::Result;
use rlcore::learn::{ActObserve, Learner, View};

/// [`Learner::open`]. Errors: `Disabled` for a learner off policy.
pub fn on_policy(mem: &mut [u8]) -> Result<Learner<'_>> {
    let learner = Learner::open(mem)?;
    learner.config().check_rollouts()?;
    Ok(learner)
}

/// [`View::open`]. Errors: `Disabled` for a learner off policy.
pub fn view_on_policy(mem: &[u8]) -> Result<View<'_>> {
    let view = View::open(mem)?;
    view.config().check_rollouts()?;
    Ok(view)
}

/// [`Learner::open`]. Errors: `Disabled` for a learner on policy.
pub fn off_policy(mem: &mut [u8]) -> Result<Learner<'_>> {
    let learner = Learner::open(mem)?;
    learner.config().check_transitions()?;
    Ok(learner)
}

/// Runs `work` on a learner opened to act and observe. The opened learner is large, so it is used in place, not moved.
///
/// # Safety
/// As [`open`](crate::lifecycle::open).
#[inline(always)]
pub unsafe fn acting<B: Block>(
    p: *mut B,
    work: impl FnOnce(&mut dyn ActObserve, Extent) -> crate::status::Result,
) -> crate::status::Result {
    let (mem, extent) = unsafe { bytes(p)? };
    work(Learner::open_to_act(mem).as_mut().map_err(|&mut e| e)?, extent)
}
