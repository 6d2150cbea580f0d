//! Arrays of a step of N environments, for the code that monitors and normalizes it.

use crate::error::{Result, check_len};

/// How a step left each environment. All arrays are `[N]`; 0 is false, anything else is true.
#[derive(Clone, Copy, Debug)]
pub struct Ends<'a> {
    /// The task reached a terminal state.
    pub terminated: &'a [u8],
    /// The episode was cut.
    pub truncated: &'a [u8],
    /// False where the row was only reset, as next-step autoreset does; `None`: all rows were stepped.
    pub valid: Option<&'a [u8]>,
}

impl<'a> Ends<'a> {
    pub(crate) fn check(&self, n: usize) -> Result {
        check_len("step: terminated [N] of length", self.terminated, n)?;
        check_len("step: truncated [N] of length", self.truncated, n)?;
        self.valid.map_or(Ok(()), |valid| check_len("step: valid [N] of length", valid, n))
    }

    /// Whether each row was stepped, and whether its episode ended: a row that was only reset ends nothing.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (bool, bool)> + use<'a> {
        let mut valid = self.valid.map(<[u8]>::iter);
        self.terminated.iter().zip(self.truncated).map(move |(terminated, truncated)| {
            let stepped = valid.as_mut().and_then(Iterator::next).is_none_or(|&valid| valid != 0);
            (stepped, stepped & (terminated | truncated != 0))
        })
    }
}

/// An array to transform, in place or into another one.
#[derive(Debug)]
pub struct Rewrite<'a> {
    from: Option<&'a [f32]>,
    to: &'a mut [f32],
}

impl<'a> Rewrite<'a> {
    /// Results replace their inputs.
    pub fn in_place(x: &'a mut [f32]) -> Self {
        Rewrite { from: None, to: x }
    }

    /// Reads one array and writes another, of the same length.
    pub fn apart(from: &'a [f32], to: &'a mut [f32]) -> Self {
        Rewrite { from: Some(from), to }
    }

    /// The input.
    #[inline(always)]
    pub fn input(&self) -> &[f32] {
        self.from.unwrap_or(self.to)
    }

    /// The output.
    #[inline(always)]
    pub fn output(&mut self) -> &mut [f32] {
        self.to
    }

    /// The same arrays, for a shorter lifetime.
    pub fn reborrow(&mut self) -> Rewrite<'_> {
        Rewrite { from: self.from, to: self.to }
    }

    /// Elements `[begin, end)` of both, if they exist.
    pub(crate) fn range(&mut self, begin: usize, end: usize) -> Option<Rewrite<'_>> {
        let from = match self.from {
            Some(from) => Some(from.get(begin..end)?),
            None => None,
        };
        Some(Rewrite { from, to: self.to.get_mut(begin..end)? })
    }

    pub(crate) fn check(&self, what: &'static str, len: usize) -> Result {
        check_len(what, self.input(), len)?;
        check_len(what, self.to, len)
    }

    /// Applies `each` to every element.
    #[inline(always)]
    pub(crate) fn map(self, each: impl Fn(f32) -> f32) {
        match self.from {
            Some(from) => {
                for (to, from) in self.to.iter_mut().zip(from) {
                    *to = each(*from);
                }
            }
            None => {
                for x in self.to {
                    *x = each(*x);
                }
            }
        }
    }
}
