//! What a step of one environment writes, by its addresses, and what meets it: in few instructions, wherever it lies.

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
