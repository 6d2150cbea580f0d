//! Observation and action spaces of environments and learners, and their comparison with a host's.

use core::ptr::null;

use crate::env::{CompiledEnv, rlcore_env};
use crate::learner::rlcore_learner;
use crate::lifecycle::view;
use crate::ptr::{Extent, Input, One};
use crate::space::{self, ACTION, Names, OBS, rlcore_element, rlcore_space};
use crate::status::{About, Fault, Result, call, rlcore_status};
use rlcore::env::Env;
use rlcore::error::{Error, Kind};
use rlcore::learn::{Spaces, View};
use rlcore::space::Element;

/// Observation and action spaces of an environment, wrappers included: the arguments of rlcore_learner_init. n, low and
/// high point into the environment.
/// out_obs: its kind is RLCORE_STRUCT if a field has another kind than bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_env_spaces(
    env: *const rlcore_env,
    out_obs: *mut rlcore_space,
    out_action: *mut rlcore_space,
) -> rlcore_status {
    call(|| unsafe {
        let env = CompiledEnv::at(env)?;
        let (obs, action) = (One::at("out_obs", out_obs)?, One::at("out_action", out_action)?);
        let (obs, action) = env.extent().reading((obs, action))?;
        let spec = env.spec();
        (*obs, *action) = (rlcore_space::of(&spec.obs), rlcore_space::of(&spec.action));
        Ok(())
    })
}

/// Number of environments and spaces of a learner, e.g. of a loaded one, to allocate arrays by.
/// out_num_envs: N.
/// out_obs, out_action: n of discrete elements, and low and high of bounded actions, point into the learner. Bounds of
///               observations are NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_learner_spaces(
    p: *const rlcore_learner,
    out_num_envs: *mut u32,
    out_obs: *mut rlcore_space,
    out_action: *mut rlcore_space,
) -> rlcore_status {
    call(|| unsafe {
        let learner = view(p, View::open)?;
        let num_envs = One::at("out_num_envs", out_num_envs)?;
        let (obs, action) = (One::at("out_obs", out_obs)?, One::at("out_action", out_action)?);
        let (num_envs, obs, action) = learner.extent.reading((num_envs, obs, action))?;
        *num_envs = learner.num_envs() as u32;
        [*obs, *action] = told(&learner.spaces());
        Ok(())
    })
}

/// The C form of the spaces of a block: observations, then actions.
pub fn told(spaces: &Spaces<'_>) -> [rlcore_space; 2] {
    let shape = &spaces.shape;
    let kind = |structured, kind| if structured { rlcore_element::RLCORE_STRUCT as u32 } else { kind };
    let obs = rlcore_space {
        kind: kind(spaces.obs_structured, shape.obs_kind),
        len: shape.obs_len,
        low: null(),
        high: null(),
        n: space::start(spaces.obs_n),
    };
    let action = rlcore_space {
        kind: kind(shape.structured(), shape.action_kind),
        len: shape.action_len,
        low: space::start(spaces.low),
        high: space::start(spaces.high),
        n: space::start(spaces.action_n),
    };
    [obs, action]
}

/// The spaces of a host, to compare with those of a block; a NULL one is not compared.
pub struct Expected<'a> {
    obs: Option<&'a rlcore_space>,
    action: Option<&'a rlcore_space>,
    /// Their bytes.
    pub extents: [Extent; 2],
}

impl<'a> Expected<'a> {
    /// Errors: `Align`, `Overflow`.
    ///
    /// # Safety
    /// As [`Input::at`], and the promise of [`Expected::check`].
    pub unsafe fn at(obs: *const rlcore_space, action: *const rlcore_space) -> Result<Expected<'a>> {
        let at = |what, p| unsafe {
            let space = Input::optional(what, p, 1)?;
            let extent = space.as_ref().map_or(Extent::NONE, |space| space.extent());
            Ok::<_, Fault>((space.and_then(|space| space.slice().first()), extent))
        };
        let ((obs, seen), (action, taken)) = (at(OBS.space, obs)?, at(ACTION.space, action)?);
        Ok(Expected { obs, action, extents: [seen, taken] })
    }

    /// Checks that kinds and lengths equal those of the block, numbers of choices except for structures, and bounds of float
    /// actions unless they are NULL. Errors: `Shape`; `Null` and `Align` of n and bounds.
    ///
    /// # Safety
    /// If a space has the block's kind and length, the arrays to compare are present.
    pub unsafe fn check(&self, of: &Spaces<'_>) -> Result {
        let [obs, action] = told(of);
        unsafe {
            // Where networks read some bytes only, the others may be infos of any kind.
            let some = obs.kind == Element::U8 as u32 && of.shape.coded != 0;
            let seen = |given: &rlcore_space| match given.kind {
                kind if some && space::structured(kind) => rlcore_space { kind: obs.kind, ..*given },
                _ => *given,
            };
            self.obs.map_or(Ok(()), |given| hold(&OBS, &obs, &seen(given), (of.obs_n, &[], &[])))?;
            self.action.map_or(Ok(()), |given| hold(&ACTION, &action, given, (of.action_n, of.low, of.high)))
        }
    }
}

/// Compares a space of the host with one of a block, which has these numbers of choices and bounds.
unsafe fn hold(
    names: &Names,
    own: &rlcore_space,
    given: &rlcore_space,
    (n, low, high): (&[u32], &[f32], &[f32]),
) -> Result {
    let differs = |what, own: u32, given: u32| {
        Error::limit(Kind::Shape, what, own as usize, given as usize).fail_if(given != own).about(names.space)
    };
    differs("kind", own.kind, given.kind)?;
    differs("len", own.len, given.len)?;
    let len = given.len as usize;
    if own.kind == Element::I32 as u32 {
        let given = unsafe { Input::at(names.n, given.n, len)? }.slice();
        for (own, given) in n.iter().zip(given) {
            differs("n of an element", *own, *given)?;
        }
    }
    if own.kind == Element::F32 as u32 && names.space == ACTION.space {
        for (name, own, given) in [(names.low, low, given.low), (names.high, high, given.high)] {
            let given = unsafe { Input::optional(name, given, len)? }.map_or(&[][..], Input::slice);
            let other = given.iter().enumerate().find(|(i, given)| own.get(*i) != Some(given));
            let what = "bounds as in the block, if they are given, which has others,";
            other.map_or(Ok(()), |(_, given)| Err(Error::new(Kind::Shape, what).given_f32(*given))).about(name)?;
        }
    }
    Ok(())
}
