//! What environments show and take, and what learners were made for.

use core::ptr::null;

use crate::env::{CEnv, Room, rlcore_env_def};
use crate::learner::rlcore_learner;
use crate::learner_kind::AnyView;
use crate::lifecycle::view;
use crate::ptr::{One, Output, args_beside};
use crate::space::{rlcore_element, rlcore_space};
use crate::status::{About, call, rlcore_status};
use rlcore::env::Env;
use rlcore::error::{Error, Kind};
use rlcore::space::Space;

/// Observation and action spaces of an environment, wrappers included: the arguments of rlcore_learner_init.
/// out_obs:    its kind is RLCORE_STRUCT if a field has another kind than bytes.
/// bounds:     [bounds_len] storage for the bounds that the results point to; 2 * (obs.len + action.len) always suffice.
///             NULL: low and high of both results are NULL.
/// out_action: its n is the environment's pointer.
/// Errors: E_CONFIG; E_SIZE if bounds_len is too small.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_env_spaces(
    env: *const rlcore_env_def,
    bounds: *mut f32,
    bounds_len: usize,
    out_obs: *mut rlcore_space,
    out_action: *mut rlcore_space,
) -> rlcore_status {
    call(|| unsafe {
        let mut room = Room::default();
        let env = CEnv::at(env, &mut room)?;
        let (obs, action) = (One::at("out_obs", out_obs)?, One::at("out_action", out_action)?);
        let bounds = Output::optional("bounds", bounds, bounds_len)?;
        let (obs, action, bounds) = args_beside((obs, action, bounds), &env.extents())?;
        let spec = env.spec();
        let (mut shown, mut taken) = (rlcore_space::bare(&spec.obs), rlcore_space::bare(&spec.action));
        taken.n = env.choices();
        if let Some(bounds) = bounds {
            let needed = num_bounds(&spec.obs).saturating_add(num_bounds(&spec.action));
            let short = Error::limit(Kind::Size, "at least {needed} floats", needed, bounds_len);
            short.when(needed > bounds_len).about("bounds")?;
            let mut rest = bounds;
            for (space, out) in [(&spec.obs, &mut shown), (&spec.action, &mut taken)] {
                out.low = spread(space, !space.low.is_empty(), |(low, _)| low, &mut rest);
                out.high = spread(space, !space.high.is_empty(), |(_, high)| high, &mut rest);
            }
        }
        (*obs, *action) = (shown, taken);
        Ok(())
    })
}

/// Bounds that a space has, one for each element.
fn num_bounds(space: &Space<'_>) -> usize {
    let sides = usize::from(!space.low.is_empty()).wrapping_add((!space.high.is_empty()).into());
    (space.len as usize).saturating_mul(sides)
}

/// Writes one side of the bounds to the next elements of `rest` and returns where they are.
fn spread(space: &Space<'_>, any: bool, side: impl Fn((f32, f32)) -> f32, rest: &mut &mut [f32]) -> *const f32 {
    let (head, tail) =
        core::mem::take(rest).split_at_mut_checked(space.len as usize * usize::from(any)).unwrap_or_default();
    *rest = tail;
    for (i, bound) in head.iter_mut().enumerate() {
        *bound = side(space.bounds(i));
    }
    if any { head.as_ptr() } else { null() }
}

/// Number of environments and spaces of a learner, e.g. of a loaded one, to allocate arrays by. Bounds are NULL.
/// out_num_envs: N.
/// out_obs, out_action: n of discrete elements points into the learner.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_spaces(
    p: *const rlcore_learner,
    out_num_envs: *mut u32,
    out_obs: *mut rlcore_space,
    out_action: *mut rlcore_space,
) -> rlcore_status {
    call(|| unsafe {
        let learner = view(p, AnyView::open)?;
        let num_envs = One::at("out_num_envs", out_num_envs)?;
        let (obs, action) = (One::at("out_obs", out_obs)?, One::at("out_action", out_action)?);
        let (num_envs, obs, action) = learner.extent.reading((num_envs, obs, action))?;
        let shape = learner.shape();
        let space = |kind, len| rlcore_space { kind, len, low: null(), high: null(), n: null() };
        let n = if shape.action_lens().0 > 0 { learner.action_n().as_ptr() } else { null() };
        *num_envs = learner.num_envs();
        let kind = if shape.obs_structure() { rlcore_element::RLCORE_STRUCT as u32 } else { shape.obs_kind };
        let obs_n = if shape.num_choices > 0 { learner.obs_n().as_ptr() } else { null() };
        *obs = rlcore_space { n: obs_n, ..space(kind, shape.obs_len) };
        let taken = if shape.structured() { rlcore_element::RLCORE_STRUCT as u32 } else { shape.action_kind };
        *action = rlcore_space { n, ..space(taken, shape.action_len) };
        Ok(())
    })
}
