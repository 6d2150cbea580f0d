//! Output arrays of a step, and the checks of a step's arrays before anything changes.

use super::Env;
use super::row::{Flags, Masks, SHAPE};
use super::setup::{Autoreset, Setup};
use crate::error::{Error, Kind, Result, check_finite, check_len};
use crate::space::{Element, Elements, ElementsMut, Space};

/// Output arrays of a step. Each array has exactly the rows that are stepped, or all N rows for calls that take a
/// range.
#[derive(Debug)]
pub struct StepOut<'a> {
    /// `[rows, obs_len]` observation to act on next.
    pub obs: ElementsMut<'a>,
    /// `[rows]` reward.
    pub reward: &'a mut [f32],
    /// `[rows]` 1 where the environment reached a terminal state.
    pub terminated: &'a mut [u8],
    /// `[rows]` 1 where the episode was truncated, by the environment or by the time limit.
    pub truncated: &'a mut [u8],
    /// `[rows, obs_len]` final observation, written only in rows whose episode ended; required with
    /// [`Autoreset::SameStep`].
    pub final_obs: Option<ElementsMut<'a>>,
    /// `[rows]` 0 where the row was only reset, else 1; required with [`Autoreset::NextStep`].
    pub valid: Option<&'a mut [u8]>,
    /// `[rows, mask_len]` action mask of `obs`: 1 for each allowed choice, else 0.
    pub action_mask: Option<&'a mut [u8]>,
    /// `[rows, mask_len]` action mask of `final_obs`, written only in rows whose episode ended.
    pub final_action_mask: Option<&'a mut [u8]>,
}

/// Action masks of several rows, if requested.
type AllMasks<'a> = Option<&'a mut [u8]>;

/// Splits the masks of `rows` rows into those of the first `k` rows and of the others.
fn split_masks(masks: AllMasks<'_>, rows: usize, k: usize) -> Option<(AllMasks<'_>, AllMasks<'_>)> {
    let Some(masks) = masks else { return Some((None, None)) };
    let width = masks.len().checked_div(rows).unwrap_or(0);
    let (low, high) = masks.split_at_mut_checked(k.checked_mul(width)?)?;
    Some((Some(low), Some(high)))
}

impl<'a> StepOut<'a> {
    /// Reborrows the arrays.
    #[inline(always)]
    pub fn reborrow(&mut self) -> StepOut<'_> {
        StepOut {
            obs: self.obs.reborrow(),
            reward: &mut *self.reward,
            terminated: &mut *self.terminated,
            truncated: &mut *self.truncated,
            final_obs: self.final_obs.as_mut().map(ElementsMut::reborrow),
            valid: self.valid.as_deref_mut(),
            action_mask: self.action_mask.as_deref_mut(),
            final_action_mask: self.final_action_mask.as_deref_mut(),
        }
    }

    /// True if action masks are requested.
    #[inline(always)]
    pub(super) fn asks_masks(&self) -> bool {
        self.action_mask.is_some() || self.final_action_mask.is_some()
    }

    /// Splits into the first `k` rows and the others, e.g. for two threads; `None` if there are fewer than `k` rows.
    pub fn split_at(self, k: usize, obs_len: usize) -> Option<(StepOut<'a>, StepOut<'a>)> {
        let elements = k.checked_mul(obs_len)?;
        let rows = self.reward.len();
        let (action_mask, mask_rest) = split_masks(self.action_mask, rows, k)?;
        let (final_action_mask, final_mask_rest) = split_masks(self.final_action_mask, rows, k)?;
        let (obs, obs_rest) = self.obs.split_at(elements)?;
        let (reward, reward_rest) = self.reward.split_at_mut_checked(k)?;
        let (terminated, terminated_rest) = self.terminated.split_at_mut_checked(k)?;
        let (truncated, truncated_rest) = self.truncated.split_at_mut_checked(k)?;
        let (final_obs, final_rest) = match self.final_obs {
            Some(x) => x.split_at(elements).map(|(low, high)| (Some(low), Some(high)))?,
            None => (None, None),
        };
        let (valid, valid_rest) = match self.valid {
            Some(x) => x.split_at_mut_checked(k).map(|(low, high)| (Some(low), Some(high)))?,
            None => (None, None),
        };
        let low = StepOut { obs, reward, terminated, truncated, final_obs, valid, action_mask, final_action_mask };
        let high = StepOut {
            obs: obs_rest,
            reward: reward_rest,
            terminated: terminated_rest,
            truncated: truncated_rest,
            final_obs: final_rest,
            valid: valid_rest,
            action_mask: mask_rest,
            final_action_mask: final_mask_rest,
        };
        Some((low, high))
    }

    /// Rows `begin..end`; `None` if the arrays have fewer rows.
    pub fn range(self, begin: usize, end: usize, obs_len: usize) -> Option<StepOut<'a>> {
        let (_, rest) = self.split_at(begin, obs_len)?;
        Some(rest.split_at(end.checked_sub(begin)?, obs_len)?.0)
    }

    /// Outputs of row `k`, with masks of `choices` flags, and the final observations of all rows. Errors: `Shape`.
    pub(super) fn row(
        &mut self,
        k: usize,
        obs_len: usize,
        choices: usize,
    ) -> Result<(ElementsMut<'_>, Flags<'_>, Option<ElementsMut<'_>>)> {
        let at = k.wrapping_mul(obs_len);
        let obs = self.obs.get(at, at.wrapping_add(obs_len)).ok_or(SHAPE)?;
        let numbers = (self.reward.get_mut(k), self.terminated.get_mut(k), self.truncated.get_mut(k));
        let (Some(reward), Some(terminated), Some(truncated)) = numbers else { return Err(SHAPE) };
        let valid = self.valid.as_deref_mut().and_then(|valid| valid.get_mut(k));
        let masks = Some(Masks::of([&mut self.action_mask, &mut self.final_action_mask], k, choices)?);
        let flags = Flags { reward, terminated, truncated, valid, masks };
        Ok((obs, flags, self.final_obs.as_mut().map(ElementsMut::reborrow)))
    }

    pub(super) fn check(&self, rows: usize, setup: &Setup) -> Result {
        check_obs("vecenv obs: elements of the agreed kind,", self.obs.as_ref(), rows, setup)?;
        check_len("vecenv reward: elements,", self.reward, rows)?;
        check_len("vecenv terminated: elements,", self.terminated, rows)?;
        check_len("vecenv truncated: elements,", self.truncated, rows)?;
        if let Some(x) = &self.final_obs {
            check_obs("vecenv final_obs: elements of the agreed kind,", x.as_ref(), rows, setup)?;
        }
        if let Some(x) = &self.valid {
            check_len("vecenv valid: elements,", x, rows)?;
        }
        for masks in [&self.action_mask, &self.final_action_mask].into_iter().flatten() {
            check_len(
                "vecenv action masks: one flag for each choice, elements",
                masks,
                rows.saturating_mul(setup.mask_len as usize),
            )?;
        }
        self.check_given(rows, setup)
    }

    /// Checks that optional arrays are present where the autoreset mode requires them, and that masks are requested
    /// only for discrete actions.
    #[inline(always)]
    pub(super) fn check_given(&self, rows: usize, setup: &Setup) -> Result {
        let missing = |what, needed| Err(Error::new(Kind::Null, what).needed(needed));
        if self.final_obs.is_none() && setup.mode() == Autoreset::SameStep {
            let needed = rows.saturating_mul(setup.obs_len as usize);
            return missing("vecenv: same-step autoreset requires final_obs, with {needed} elements.", needed);
        }
        if self.valid.is_none() && setup.mode() == Autoreset::NextStep {
            return missing("vecenv: next-step autoreset requires valid, with {needed} elements.", rows);
        }
        if self.asks_masks() && setup.mask_len == 0 {
            return Err(Error::new(Kind::Config, "vecenv: actions that are discrete, for masks of them"));
        }
        Ok(())
    }
}

pub(super) fn check_obs(what: &'static str, obs: Elements<'_>, rows: usize, setup: &Setup) -> Result {
    let needed = rows.checked_mul(setup.obs_len as usize).ok_or(SHAPE)?;
    if obs.len() == needed && obs.kind() as u32 == setup.obs_kind {
        Ok(())
    } else {
        Err(Error::new(Kind::Shape, what).needed(needed).given(obs.len()))
    }
}

/// Checks the actions of `rows` rows: discrete actions in range, continuous actions finite.
#[inline(always)]
pub(super) fn check_actions<E: Env + ?Sized>(env: &E, action: Elements<'_>, rows: usize) -> Result {
    // Fast path for the most common case: one discrete choice per row.
    let space = env.spec().action;
    if let (Elements::I32(x), Element::I32, 1, &[n]) = (action, space.kind, space.len, space.n)
        && x.len() == rows
        && x.iter().fold(true, |all, &a| all & ((a as u32) < n))
    {
        return Ok(());
    }
    // Calls `spec` again: taking the address of `space` above would force a copy of it.
    check_any_actions(&env.spec().action, action, rows)
}

/// [`check_actions`] for actions of any kind.
#[inline(never)]
fn check_any_actions(space: &Space<'_>, action: Elements<'_>, rows: usize) -> Result {
    let needed = rows.checked_mul(space.len as usize).ok_or(SHAPE)?;
    if action.kind() != space.kind || action.len() != needed {
        let what = "vecenv action: elements of the agreed kind,";
        return Err(Error::new(Kind::Shape, what).needed(needed).given(action.len()));
    }
    let outside = |&(&a, &n): &(&i32, &u32)| a as u32 >= n;
    match (action, space.n) {
        (Elements::F32(x), _) => check_finite("vecenv action: finite values,", x),
        (Elements::I32(x), n) => match x.iter().zip(n.iter().cycle()).find(outside) {
            Some((&a, &n)) => {
                let what = "vecenv action: a choice from 0 to below";
                Err(Error::new(Kind::Range, what).needed(n as usize).given_i64(a.into()))
            }
            None => Ok(()),
        },
        (Elements::U8(_), _) => Err(Error::new(Kind::Shape, "vecenv action: elements of kind f32 or i32")),
    }
}
