//! Episode wrappers: start of an episode, its length, and the number of steps per action.

use bytemuck::{Pod, Zeroable};

use super::layer::{Below, Face, Start};
use super::wrapper::Wrapper;
use crate::env::{Level, Step, view_mut};
use crate::error::{Error, Kind, Result};
use crate::kernels::image;
use crate::space::{Element, Elements, ElementsMut};

const SHAPE: Error = Error::new(Kind::Shape, "wrapped environment: state_size bytes of state on an 8-byte boundary");

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Limit {
    /// Steps taken in the current episode, or [`WAIVED`].
    steps: u64,
}

/// Step count of a disabled limit, which another limit replaces.
const WAIVED: u64 = u64::MAX;

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Life {
    /// Lives after the last step or start.
    lives: u32,
    /// 1 while the game is running: the next episode is its next life.
    playing: u32,
}

/// Checks an episode wrapper and returns the size of its state.
pub(super) fn fit(wrapper: &Wrapper<'_>, face: &mut Face<'_>) -> Result<usize> {
    let config = |what| Error::new(Kind::Config, what);
    let choices = match (face.action.kind, face.action.n) {
        (Element::I32, &[n]) => n,
        _ => 0,
    };
    let at_least_one = |what, count: u32| {
        if count == 0 { Err(config(what).given(0)) } else { Ok(()) }
    };
    let press = |what, action: u32| {
        if action < choices { Ok(()) } else { Err(config(what).needed(choices as usize).given(action as usize)) }
    };
    match *wrapper {
        Wrapper::TimeLimit { steps } => {
            at_least_one("time limit: steps of at least 1", steps)?;
            Ok(size_of::<Limit>())
        }
        Wrapper::NoopReset { max, noop, .. } => {
            at_least_one("no-op reset: max of at least 1", max)?;
            press("no-op reset: one discrete action, and noop below", noop)?;
            Ok(0)
        }
        Wrapper::FireReset { fire, second } => {
            press("fire reset: one discrete action, and fire below", fire)?;
            press("fire reset: one discrete action, and second below", second)?;
            Ok(0)
        }
        Wrapper::EpisodicLife { noop } => {
            press("episodic life: one discrete action, and noop below", noop)?;
            Ok(size_of::<Life>())
        }
        Wrapper::MaxAndSkip { count } => {
            at_least_one("max and skip: count of at least 1", count)?;
            if face.only().is_none_or(|only| only.kind == Element::I32) {
                return Err(config("max and skip: observations of one part, of floats or bytes"));
            }
            let size = (face.obs.len as usize).saturating_mul(face.obs.kind.size());
            Ok(if count > 1 { size } else { 0 })
        }
        Wrapper::ActionRepeat { count } => {
            at_least_one("action repeat: count of at least 1", count)?;
            Ok(0)
        }
        _ => Ok(0),
    }
}

/// Enables or disables the time limit. An enabled one keeps its count.
pub(super) fn configure_limit(own: &mut [u8], counts: bool) -> Result {
    let memo: &mut Limit = view_mut(own)?;
    if counts != (memo.steps != WAIVED) {
        memo.steps = if counts { 0 } else { WAIVED };
    }
    Ok(())
}

pub(super) fn start_limit(mut below: impl Below, own: &mut [u8], start: Start<'_>, obs: ElementsMut<'_>) -> Result {
    let memo: &mut Limit = view_mut(own)?;
    if memo.steps != WAIVED {
        memo.steps = 0;
    }
    below.start(start, obs)
}

pub(super) fn step_limit(
    mut below: impl Below,
    own: &mut [u8],
    limit: u32,
    action: Elements<'_>,
    obs: ElementsMut<'_>,
) -> Result<Step> {
    let step = below.step(action, obs)?;
    let memo: &mut Limit = view_mut(own)?;
    if memo.steps == WAIVED {
        return Ok(step);
    }
    memo.steps = memo.steps.wrapping_add(1);
    Ok(Step { truncated: step.truncated | (memo.steps >= limit.into()), ..step })
}

/// Starts an episode with no-ops; if it ends during them, it is restarted.
pub(super) fn start_noops(
    mut below: impl Below,
    [max, exactly, noop]: [u32; 3],
    start: Start<'_>,
    mut obs: ElementsMut<'_>,
) -> Result {
    below.start(start, obs.reborrow())?;
    let count = if exactly > 0 { exactly.into() } else { below.rng().integers(1, i64::from(max).saturating_add(1)) };
    for _ in 0..count {
        press_or_restart(&mut below, noop, start, obs.reborrow())?;
    }
    Ok(())
}

/// Starts an episode with two actions; if it ends during them, it is restarted.
pub(super) fn start_fire(
    mut below: impl Below,
    actions: [u32; 2],
    start: Start<'_>,
    mut obs: ElementsMut<'_>,
) -> Result {
    below.start(start, obs.reborrow())?;
    for action in actions {
        press_or_restart(&mut below, action, start, obs.reborrow())?;
    }
    Ok(())
}

fn press_or_restart(below: &mut impl Below, action: u32, start: Start<'_>, mut obs: ElementsMut<'_>) -> Result {
    let step = below.press(action, obs.reborrow())?;
    if step.terminated | step.truncated {
        // The new episode has the level or the options of the one that ended.
        let again = if start == Start::Afresh { Start::Again(Level::New) } else { start };
        below.start(again, obs)?;
    }
    Ok(())
}

/// Starts a new game only if the last one is over; otherwise the next life begins with a no-op.
pub(super) fn start_life(
    mut below: impl Below,
    own: &mut [u8],
    noop: u32,
    start: Start<'_>,
    obs: ElementsMut<'_>,
) -> Result {
    let memo: &mut Life = view_mut(own)?;
    if !matches!(start, Start::Again(_)) || memo.playing == 0 {
        below.start(start, obs)?;
    } else {
        press_or_restart(&mut below, noop, start, obs)?;
    }
    *memo = Life { lives: below.lives()?, playing: 1 };
    Ok(())
}

/// Terminates the episode when a life is lost; the loss of the last life ends it with the game itself.
pub(super) fn step_life(
    mut below: impl Below,
    own: &mut [u8],
    action: Elements<'_>,
    obs: ElementsMut<'_>,
) -> Result<Step> {
    let memo: &mut Life = view_mut(own)?;
    let step = below.step(action, obs)?;
    let lives = below.lives()?;
    let lost = lives < memo.lives && lives > 0;
    *memo = Life { lives, playing: (!(step.terminated | step.truncated)).into() };
    Ok(Step { terminated: step.terminated | lost, ..step })
}

/// True if the state of an episodic life wrapper says that the game is over; `memo` starts with that state.
pub(super) fn is_over(memo: &[u8]) -> bool {
    let memo = memo.get(..size_of::<Life>()).map(bytemuck::try_pod_read_unaligned::<Life>);
    matches!(memo, Some(Ok(Life { playing: 0, .. })))
}

/// Writes observations alternately to `obs` and to the layer's own state, so that both hold the last two, and takes
/// their maximum.
pub(super) fn step_max(
    below: impl Below,
    own: &mut [u8],
    count: u32,
    action: Elements<'_>,
    mut obs: ElementsMut<'_>,
) -> Result<Step> {
    let mut spare = match &obs {
        ElementsMut::U8(_) => ElementsMut::U8(own.get_mut(..obs.len()).unwrap_or(&mut [])),
        _ => {
            let size = obs.len().saturating_mul(4).min(own.len());
            let spare = own.get_mut(..size).ok_or(SHAPE)?;
            ElementsMut::F32(bytemuck::try_cast_slice_mut(spare).map_err(|_| SHAPE)?)
        }
    };
    let (step, both) = step_pair(below, [obs.reborrow(), spare.reborrow()], count, action)?;
    if both {
        match (obs, spare) {
            (ElementsMut::U8(obs), ElementsMut::U8(spare)) => image::maximum_in_place(obs, spare)?,
            (ElementsMut::F32(obs), ElementsMut::F32(spare)) => {
                for (obs, spare) in obs.iter_mut().zip(&*spare) {
                    // NaN in either is kept, so that the observation is rejected.
                    *obs = if *spare > *obs || spare.is_nan() { *spare } else { *obs };
                }
            }
            _ => return Err(SHAPE),
        }
    }
    Ok(step)
}

/// Takes `count` steps and writes their observations alternately to the two buffers, so that these hold the last two.
/// Returns true if both were written.
pub(super) fn step_pair(
    mut below: impl Below,
    [mut first, mut second]: [ElementsMut<'_>; 2],
    count: u32,
    action: Elements<'_>,
) -> Result<(Step, bool)> {
    let mut frames = 0u32;
    let step = repeat(count, || {
        let at = if frames.is_multiple_of(2) { first.reborrow() } else { second.reborrow() };
        frames = frames.wrapping_add(1);
        below.step(action, at)
    })?;
    Ok((step, frames > 1))
}

pub(super) fn step_repeat(
    mut below: impl Below,
    count: u32,
    action: Elements<'_>,
    mut obs: ElementsMut<'_>,
) -> Result<Step> {
    repeat(count, || below.step(action, obs.reborrow()))
}

/// Steps until the episode ends, at most `count` times, and sums the rewards.
fn repeat(count: u32, mut step: impl FnMut() -> Result<Step>) -> Result<Step> {
    let (mut last, mut total) = (Step::default(), 0.0f64);
    for _ in 0..count {
        last = step()?;
        total += f64::from(last.reward);
        if last.terminated | last.truncated {
            break;
        }
    }
    Ok(Step { reward: total as f32, ..last })
}
