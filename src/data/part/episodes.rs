//! Returns and lengths of the episodes of N environments, and their means over the last episodes. Returns are summed in f64, here
//! and wherever else a return is reported: an f32 sum stops growing once a reward is below half its last place.
//!
//! ```
//! use rlcore::block::{Cutter, Field, Plan};
//! use rlcore::data::episodes::{Episodes, Lens};
//!
//! # fn main() -> rlcore::error::Result {
//! let mut plan = Plan::default();
//! let spans = Episodes::plan(&mut plan, Lens { num_envs: 2, keep: 100 })?;
//! let mut block = vec![0u64; plan.size()? / 8];
//! let mut episodes = Episodes::cut::<true>(&mut Cutter::new(bytemuck::cast_slice_mut(&mut block)), &spans)?;
//! for ended in [false, true] {
//!     episodes.step(0, 0.5, ended);
//!     episodes.step(1, 1.0, false);
//! }
//! let means = episodes.read().means();
//! assert_eq!((means.num_kept, means.return_mean, means.len_mean, episodes.ended.return_last), (1, 1.0, 2.0, 1.0));
//! # Ok(())
//! # }
//! ```

use crate::block::{One, fields};
use crate::num;
use bytemuck::{Pod, Zeroable};

/// For each environment: stepped, always true, and whether its episode ended.
pub(crate) fn stepped<'a>(terminated: &'a [u8], truncated: &'a [u8]) -> impl Iterator<Item = (bool, bool)> + use<'a> {
    terminated.iter().zip(truncated).map(|(terminated, truncated)| (true, terminated | truncated != 0))
}

/// Adds one step of all environments to their sums of rewards and their lengths; `rows` has, for each, whether it was stepped and
/// whether its episode ended. `ended` is called with environment, return and length of each ended episode, lower environments
/// first; the next episode begins with zeros. Errors: those of `ended`.
pub fn count<E>(
    total: &mut [f64],
    len: &mut [u32],
    reward: &[f32],
    rows: impl Iterator<Item = (bool, bool)>,
    mut ended: impl FnMut(usize, f64, u32) -> Result<(), E>,
) -> Result<(), E> {
    let sums = total.iter_mut().zip(len).zip(reward).zip(rows);
    for (env, (((total, len), reward), (has_stepped, has_ended))) in sums.enumerate() {
        if has_stepped {
            *total += f64::from(*reward);
            *len = len.saturating_add(1);
        }
        if has_ended {
            ended(env, *total, *len)?;
            (*total, *len) = (0.0, 0);
        }
    }
    Ok(())
}

fields! {
    /// Places of the last episodes.
    pub spans KeptSpans(keep: usize) {
        /// Their returns; episode n is in slot `n % keep`.
        pub returns: [f64] = keep,
        /// Their lengths.
        pub lens: [u32] = keep,
    }
    /// The last episodes, for writing.
    #[derive(Debug)]
    pub write KeptMut {}
    /// The last episodes, for reading.
    #[derive(Clone, Copy, Debug)]
    pub read KeptRef {}
    /// Returns and lengths of the last `keep` episodes.
    #[derive(Debug)]
    pub part Kept(usize)
}

/// Means over the episodes kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Means {
    /// Episodes ended since the block was made.
    pub num_episodes: u64,
    /// Episodes in the means.
    pub num_kept: u32,
    /// Mean return; NaN if there are none.
    pub return_mean: f64,
    /// Mean length; NaN if there are none.
    pub len_mean: f64,
}

impl KeptMut<'_> {
    /// Keeps episode `number`.
    pub fn push(&mut self, number: u64, episode_return: f64, len: u32) {
        let slot = number.checked_rem(self.lens.len() as u64).unwrap_or(0) as usize;
        if let (Some(to), Some(to_len)) = (self.returns.get_mut(slot), self.lens.get_mut(slot)) {
            (*to, *to_len) = (episode_return, len);
        }
    }
}

impl KeptRef<'_> {
    /// Means after `num_episodes` ended episodes.
    pub fn means(&self, num_episodes: u64) -> Means {
        let num_kept = num_episodes.min(self.lens.len() as u64) as usize;
        let mean = |sum: f64| if num_kept > 0 { sum / num_kept as f64 } else { f64::NAN };
        let returns = self.returns.iter().take(num_kept).sum::<f64>();
        let lens = self.lens.iter().take(num_kept).fold(0.0, |sum, x| sum + f64::from(*x));
        Means { num_episodes, num_kept: num_kept as u32, return_mean: mean(returns), len_mean: mean(lens) }
    }

    /// Standard deviation, minimum and maximum of the returns after `num_episodes` ended episodes; NaN if there are none.
    pub fn spread(&self, num_episodes: u64) -> [f64; 3] {
        let Means { num_kept, return_mean, .. } = self.means(num_episodes);
        let kept = self.returns.get(..num_kept as usize).unwrap_or_default().iter().copied();
        let Some(first) = kept.clone().next() else { return [f64::NAN; 3] };
        let squares: f64 = kept.clone().map(|x| x - return_mean).map(|x| x * x).sum();
        let (least, largest) = kept.fold((first, first), |(least, largest), x| (least.min(x), largest.max(x)));
        [num::sqrt64(squares / f64::from(num_kept)), least, largest]
    }

    /// Whether a sequence of episodes can produce this state, with `num_episodes` of them ended.
    pub fn are_right(&self, num_episodes: u64) -> bool {
        (0u64..).zip(self.returns.iter().zip(self.lens)).all(|(slot, (total, &len))| {
            if slot < num_episodes { total.is_finite() && len > 0 } else { *total == 0.0 && len == 0 }
        })
    }
}

/// Dimensions.
#[derive(Clone, Copy, Debug)]
pub struct Lens {
    /// N.
    pub num_envs: usize,
    /// Episodes kept for means.
    pub keep: usize,
}

/// Counters of ended episodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Ended {
    /// Episodes ended.
    pub num_episodes: u64,
    /// Return of the last one; 0 before the first.
    pub return_last: f64,
}

fields! {
    /// Places of the fields.
    pub spans Spans(lens: Lens) {
        /// Counters of ended episodes.
        pub ended: One<Ended> = (),
        /// `[N]` sum of the rewards of the current episode.
        pub total: [f64] = lens.num_envs,
        /// `[N]` its steps.
        pub len: [u32] = lens.num_envs,
        /// The last ended episodes.
        pub kept: Kept = lens.keep,
    }
    /// The episodes, for writing.
    #[derive(Debug)]
    pub write EpisodesMut {}
    /// The episodes, for reading.
    #[derive(Clone, Copy, Debug)]
    pub read EpisodesRef {}
    /// Episode counters, and the last episodes for means.
    #[derive(Debug)]
    pub part Episodes(Lens)
}

impl EpisodesMut<'_> {
    /// Counts a step of environment `env`; `ended`: its episode ended with the step.
    pub fn step(&mut self, env: usize, reward: f32, ended: bool) {
        let (Some(total), Some(len)) = (self.total.get_mut(env), self.len.get_mut(env)) else { return };
        *total += f64::from(reward);
        *len = len.saturating_add(1);
        if ended {
            self.kept.push(self.ended.num_episodes, *total, *len);
            *self.ended = Ended { num_episodes: self.ended.num_episodes.saturating_add(1), return_last: *total };
            (*total, *len) = (0.0, 0);
        }
    }

    /// Drops the current episode of environment `env`.
    pub fn forget(&mut self, env: usize) {
        if let (Some(total), Some(len)) = (self.total.get_mut(env), self.len.get_mut(env)) {
            (*total, *len) = (0.0, 0);
        }
    }
}

impl EpisodesRef<'_> {
    /// Means over the episodes kept.
    pub fn means(&self) -> Means {
        self.kept.means(self.ended.num_episodes)
    }

    /// [`KeptRef::spread`] of the episodes kept.
    pub fn spread(&self) -> [f64; 3] {
        self.kept.spread(self.ended.num_episodes)
    }

    /// Whether a sequence of steps can produce this state.
    pub fn are_right(&self) -> bool {
        let running = self.total.iter().zip(self.len).all(|(x, &len)| x.is_finite() && (len > 0 || *x == 0.0));
        running && self.kept.are_right(self.ended.num_episodes) && self.ended.return_last.is_finite()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::{Cutter, Field, Plan};

    #[test]
    fn what_no_steps_lead_to_is_not_right() {
        let mut plan = Plan::default();
        let spans = Episodes::plan(&mut plan, Lens { num_envs: 2, keep: 2 }).unwrap();
        let mut block = [0u64; 64];
        assert!(plan.size().unwrap() <= size_of_val(&block));
        type Spoil = fn(&mut EpisodesMut<'_>);
        let spoil: [(bool, Spoil); 11] = [
            (true, |_| ()),
            (true, |e| e.step(1, 0.5, false)),
            (true, |e| (0..3).for_each(|_| e.step(1, 1.0, true))),
            (true, |e| e.forget(0)),
            (true, |e| (0..2).for_each(|_| e.step(1, f32::MAX, false))),
            (false, |e| e.total[1] = 1.0),
            (false, |e| e.total[0] = f64::NAN),
            (false, |e| (e.len[1], e.total[1]) = (1, f64::INFINITY)),
            (false, |e| e.ended.return_last = f64::INFINITY),
            (false, |e| e.ended.num_episodes = 2),
            (false, |e| e.kept.lens[0] = 0),
        ];
        for (i, (right, spoil)) in spoil.into_iter().enumerate() {
            block.fill(0);
            let mut e = Episodes::cut::<true>(&mut Cutter::new(bytemuck::cast_slice_mut(&mut block)), &spans).unwrap();
            e.step(0, -1.5, true);
            e.step(0, 2.0, false);
            assert_eq!((e.ended.num_episodes, e.ended.return_last, e.total[0], e.len[0]), (1, -1.5, 2.0, 1));
            spoil(&mut e);
            assert_eq!(e.read().are_right(), right, "case {i}");
        }
        let mut e = Episodes::cut::<true>(&mut Cutter::new(bytemuck::cast_slice_mut(&mut block)), &spans).unwrap();
        e.kept.lens[0] = 1;
        e.step(0, f32::MAX, false);
        e.step(0, f32::MAX, true);
        assert!(
            e.read().are_right()
                && e.kept.returns[1] == 2.0 * f64::from(f32::MAX)
                && e.total[0] == 0.0
                && e.len[0] == 0
        );
        e.step(0, 1.0, false);
        e.forget(0);
        assert!(e.total[0] == 0.0 && e.len[0] == 0);
    }
}
