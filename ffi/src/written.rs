//! What a step writes, by its addresses, and what meets it: in few instructions, wherever it lies.

use crate::env::rlcore_env_def;
use crate::ptr::{self, Cover, Extent};
use crate::step_rows::rlcore_rows;
use rlcore::env::Setup;

/// Addresses of what a step of a block of one writes, all aligned; 0 for what is not given.
#[derive(Clone, Copy)]
pub struct Written {
    /// The block, of `size` bytes.
    pub block: usize,
    /// See `block`.
    pub size: usize,
    /// Observations, of `wide` bytes.
    pub obs: usize,
    /// Last observations, of `wide` bytes.
    pub final_obs: usize,
    /// See `obs`.
    pub wide: usize,
    /// One number.
    pub reward: usize,
    /// One flag, as are the next two.
    pub terminated: usize,
    /// See `terminated`.
    pub truncated: usize,
    /// See `terminated`.
    pub valid: usize,
}

impl Written {
    /// Two of these share a byte.
    #[inline(always)]
    pub fn meets_itself(self) -> bool {
        let Written { block, size, obs, final_obs, wide, reward, terminated, truncated, valid } = self;
        meet(obs, wide, final_obs, wide)
            || meet(obs, wide, block, size)
            || meet(final_obs, wide, block, size)
            || self.holds(reward)
            || self.meets_flag(terminated)
            || self.meets_flag(truncated)
            || terminated == truncated
            || (valid != 0 && (self.meets_flag(valid) || valid == terminated || valid == truncated))
    }

    /// A flag lies in one of these that is no flag.
    #[inline(always)]
    fn meets_flag(self, flag: usize) -> bool {
        self.holds(flag) || lies_in(flag, self.reward, 4)
    }

    /// A word shares a byte with one of these.
    #[inline(always)]
    pub fn meets_word(self, word: usize) -> bool {
        self.holds(word) || word == self.reward || self.has_flags_in(word, 4)
    }

    /// `len` bytes at `start`, if they are given, share one with one of these.
    #[inline(always)]
    pub fn meets(self, start: usize, len: usize) -> bool {
        let Written { block, size, obs, final_obs, wide, reward, .. } = self;
        let spans = meet(start, len, block, size) || meet(start, len, obs, wide) || meet(start, len, final_obs, wide);
        start != 0 && (spans || lies_in(reward, start, len) || self.has_flags_in(start, len))
    }

    /// Bounds of observations share a byte with one of these, or one lies between the two, which mostly lie side by side.
    #[inline(always)]
    pub fn meets_bounds(self, low: usize, high: usize) -> bool {
        let (first, last) = (low.min(high), low.max(high));
        last != 0 && self.meets(first, last.wrapping_sub(first).wrapping_add(self.wide))
    }

    /// A word or a flag lies in the block or in observations.
    #[inline(always)]
    fn holds(self, p: usize) -> bool {
        let Written { block, size, obs, final_obs, wide, .. } = self;
        lies_in(p, block, size) || lies_in(p, obs, wide) || lies_in(p, final_obs, wide)
    }

    /// A flag lies in these bytes.
    #[inline(always)]
    fn has_flags_in(self, start: usize, len: usize) -> bool {
        let Written { terminated, truncated, valid, .. } = self;
        lies_in(terminated, start, len) || lies_in(truncated, start, len) || (valid != 0 && lies_in(valid, start, len))
    }
}

/// `m` bytes at `p` and `n` bytes at `q`, both more than 0, share one; all lie in the lower half of the address space.
#[inline(always)]
fn meet(p: usize, m: usize, q: usize, n: usize) -> bool {
    p.wrapping_sub(q.wrapping_add(n)) > m.wrapping_add(n).wrapping_neg()
}

/// A byte, or a word where words are aligned, lies in `len` bytes at `start`.
#[inline(always)]
fn lies_in(p: usize, start: usize, len: usize) -> bool {
    p.wrapping_sub(start) < len
}

/// No array that a step writes shares a byte with another of the call, as can mostly be told in few instructions. Arrays of
/// no elements come last. The block mostly lies far from arrays that are written and read, and these lie among each other.
#[inline(always)]
pub fn are_apart([a, b, c, d, e, f]: [Extent; 6], block: Extent, action: Extent, def: &rlcore_env_def) -> bool {
    let mut cover = Cover::of(a);
    // One by one: a loop over them would first have to store them.
    let apart = cover.add(b, &[a])
        && cover.add(c, &[a, b])
        && cover.add(d, &[a, b, c])
        && cover.add(e, &[a, b, c, d])
        && cover.add(f, &[a, b, c, d, e]);
    let all = [a, b, c, d, e, f];
    let is_clear = |x: Extent| cover.clears(x, &all) && !x.meets_any(&[block]);
    apart
        && cover.clears(block, &all)
        && is_clear(action)
        && def.obs.arrays_are(is_clear)
        && def.action.arrays_are(is_clear)
}

/// Every array of a step of a block of one is there and aligned, and none that is written shares a byte with another.
#[inline(always)]
pub fn only_are_apart<const ONE_CHOICE: bool>(
    def: &rlcore_env_def,
    setup: &Setup,
    (block, size): (usize, usize),
    action: usize,
    out: &rlcore_rows,
) -> bool {
    let wide = (setup.obs_len as usize).wrapping_mul(4);
    let deep = (setup.action_len as usize).wrapping_mul(4);
    let (low, high) = match ONE_CHOICE {
        true => (def.action.n.addr(), 0),
        false => (def.action.low.addr(), def.action.high.addr()),
    };
    let (obs_low, obs_high) = (def.obs.low.addr(), def.obs.high.addr());
    let (reward, obs, final_obs) = (out.reward.addr(), out.obs.addr(), out.final_obs.addr());
    let (terminated, truncated, valid) = (out.terminated.addr(), out.truncated.addr(), out.valid.addr());
    let words = [obs, reward, final_obs, action, obs_low, obs_high, low, high];
    let choices = if ONE_CHOICE { low } else { 1 };
    let there = [reward, obs, terminated, truncated, action, choices].iter().fold(0, |all, p| all | p.wrapping_sub(1));
    if there.cast_signed() < 0 || !ptr::fit_or_null(words, [valid]) {
        return false;
    }
    let written = Written { block, size, obs, final_obs, wide, reward, terminated, truncated, valid };
    if written.meets_itself() {
        return false;
    }
    let action_meets = match ONE_CHOICE {
        true => written.meets_word(action) || written.meets_word(low),
        false => written.meets(action, deep) || written.meets(low, deep) || written.meets(high, deep),
    };
    !(action_meets || written.meets_bounds(obs_low, obs_high))
}
