//! The loop of acting, stepping and observing, around a learner and a vectorized environment.
//!
//! ```
//! use rlcore::bytemuck::cast_slice_mut;
//! use rlcore::collect::collect;
//! use rlcore::env::{CartPole, Env, StepOut, VecEnv, VecEnvConfig};
//! use rlcore::learn::{Config, Learner};
//! use rlcore::space::{Elements, ElementsMut};
//!
//! # fn main() -> rlcore::error::Result {
//! const N: usize = 4;
//! let many = VecEnvConfig { num_envs: N as u32, ..VecEnvConfig::default() };
//! let config = Config { num_envs: N as u32, num_steps: 32, ..Config::default() };
//! let spec = CartPole.spec();
//! let mut world = vec![0u64; VecEnv::size(&CartPole, &many)? / 8];
//! let mut learner = vec![0u64; Learner::size(&config, &[], &spec.obs, &spec.action)? / 8];
//! let mut envs = VecEnv::init(cast_slice_mut(&mut world), &CartPole, &many)?;
//! let mut learner = Learner::init(cast_slice_mut(&mut learner), &config, &[], &spec.obs, &spec.action)?;
//!
//! let (mut obs, mut final_obs, mut action) = ([0.0; N * 4], [0.0; N * 4], [0; N]);
//! let (mut reward, mut terminated, mut truncated) = ([0.0; N], [0; N], [0; N]);
//! envs.reset(None, ElementsMut::F32(&mut obs))?;
//! let out = StepOut {
//!     obs: ElementsMut::F32(&mut obs),
//!     reward: &mut reward,
//!     terminated: &mut terminated,
//!     truncated: &mut truncated,
//!     final_obs: Some(ElementsMut::F32(&mut final_obs)),
//!     valid: None,
//!     action_mask: None,
//!     final_action_mask: None,
//! };
//! let (steps, done) = collect(&mut learner, &CartPole, &mut envs.rows(), ElementsMut::I32(&mut action), out, 0);
//! assert_eq!((steps, done), (32, Ok(())));
//! learner.learn(Some(Elements::F32(&obs)), None, 0)?;
//! # Ok(())
//! # }
//! ```

use crate::env::{Autoreset, Env, Rows, Setup, StepOut};
use crate::error::{Error, Kind, Result};
use crate::learn::{Learner, Phase};
use crate::space::{Element, ElementsMut};

/// Acts, steps all rows of a vectorized environment and observes, until `max_steps` steps of all environments are taken or
/// [`Learner::learn`] is due; 0: until it is due. Returns how many steps were taken, and why it stopped before, if it did. The
/// bytes of learner and environments, and the arrays, are those of the same calls made one by one.
///
/// `rows`: all N rows, which restart in the step that ends their episodes ([`Autoreset::SameStep`]). `action`: `[N, action_len]`,
/// written. `out`: the arrays of a step; `obs` has the observations to act on, and `action_mask`, exactly if the learner uses
/// masks, the choices that they allow. Afterwards all of them are as the last step left them.
///
/// Errors, before anything changes: `Config` for another environment or autoreset; `Shape` if environment and learner differ in
/// N or in their spaces, or if arrays do not fit; `Null`; `NotReady` for a row that must be reset, or an environment that has
/// acted and was not observed; those of [`Learner::act`] in a step that changes nothing. If the environment fails in some rows,
/// `Callback` or `Value` with the first one: all other rows are stepped and observed; failed rows must be reset, and their
/// transitions are discarded as by [`Learner::cut_rows`]. If [`Learner::observe`] fails, those of all rows are. So the next call
/// goes on in every case; a step that failed is not counted.
pub fn collect<E: Env + ?Sized>(
    learner: &mut Learner<'_>,
    env: &E,
    rows: &mut Rows<'_>,
    mut action: ElementsMut<'_>,
    mut out: StepOut<'_>,
    max_steps: u32,
) -> (u32, Result) {
    let mut steps = 0u32;
    if let Err(e) = check(learner, env, rows, &action, &out) {
        return (steps, Err(e));
    }
    // A process that is killed between two of the calls leaves a learner that `attach` refuses, as within one of them.
    let _changing = learner.hold();
    while learner.phase() != Phase::Learn && (max_steps == 0 || steps < max_steps) {
        if let Err(e) = step(learner, env, rows, action.reborrow(), out.reborrow()) {
            return (steps, Err(e));
        }
        steps = steps.saturating_add(1);
    }
    (steps, Ok(()))
}

/// One step of all environments, from their observations to the learner's record.
fn step<E: Env + ?Sized>(
    learner: &mut Learner<'_>,
    env: &E,
    rows: &mut Rows<'_>,
    mut action: ElementsMut<'_>,
    mut out: StepOut<'_>,
) -> Result {
    learner.act(None, out.obs.as_ref(), out.action_mask.as_deref(), action.reborrow())?;
    let done = match rows.step_around(env, action.as_ref(), out.reborrow()) {
        Ok(stepped) => {
            // Rows that failed have a phase of 0, and are the ones that are not active.
            let active = stepped.is_err().then_some(&*rows.phase);
            let last = out.final_obs.as_ref().map(ElementsMut::as_ref);
            let ends = (&*out.terminated, &*out.truncated);
            let seen = learner.observe(active, out.reward, ends.0, ends.1, last, out.final_action_mask.as_deref());
            stepped.and(seen)
        }
        Err(e) => Err(e),
    };
    if done.is_err() {
        learner.cut_acted()?;
    }
    done
}

/// Checks everything that calls in the loop would refuse, or could not know.
fn check<E: Env + ?Sized>(
    learner: &Learner<'_>,
    env: &E,
    rows: &Rows<'_>,
    action: &ElementsMut<'_>,
    out: &StepOut<'_>,
) -> Result {
    let Setup { num_envs, autoreset, obs_len, action_len, .. } = *rows.setup;
    let (n, shape) = (learner.num_envs(), *learner.shape());
    let differ = |what, own: usize, given: usize| Error::limit(Kind::Shape, what, own, given).fail_if(own != given);
    differ("collect: environments, as many as the learner has,", n, num_envs as usize)?;
    differ("collect: rows of all environments,", n, rows.len())?;
    let same = Error::new(Kind::Config, "collect: environments with an autoreset of 0 (same step), not");
    same.given(autoreset as usize).fail_if(autoreset != Autoreset::SameStep as u32)?;
    let (seen, taken) = rows.setup.kinds();
    let kinds = Error::new(Kind::Shape, "collect: observations and actions of the kinds that the learner was made for");
    kinds.fail_if((seen, taken) != shape.kinds())?;
    differ("collect: elements of an observation, as the learner has,", shape.obs_len as usize, obs_len as usize)?;
    differ("collect: elements of an action, as the learner has,", shape.action_len as usize, action_len as usize)?;
    if taken == Element::I32 {
        let (view, spec) = (learner.view(), env.spec());
        for (own, given) in view.spaces().action_n.iter().zip(spec.action.n) {
            differ("collect: choices of an element of an action, as the learner has,", *own as usize, *given as usize)?;
        }
    }
    let what = "collect: use_duration of 0: steps of environments last alike.";
    Error::new(Kind::Config, what).fail_if(learner.config().use_duration != 0)?;
    let what = "collect: action_mask and final_action_mask only with use_action_mask.";
    let masks = out.action_mask.is_some() || out.final_action_mask.is_some();
    Error::new(Kind::Shape, what).fail_if(masks && learner.config().use_action_mask == 0)?;
    let room = n.saturating_mul(action_len as usize);
    differ("collect: elements of action,", room, action.len())?;
    kinds.fail_if(action.kind() != taken)?;
    rows.check_step(env, out)
}
