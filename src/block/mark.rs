//! A mark that says that a call is changing a block.
//!
//! Each call that changes the block sets it before its first change and clears it after its last, also where it fails. A
//! process that is killed in between leaves it set, and `attach` refuses the block: some of its bytes are those before the
//! call and some those after. Order is kept as in [`shared`](super::shared): the mark is seen before what follows it, and its
//! end after all that was changed.

use core::sync::atomic::{AtomicU32, Ordering, fence};

use crate::cpu;
use crate::error::{Error, Kind, Result};

/// The mark of a block that one caller may change.
#[derive(Clone, Copy, Debug)]
pub struct Mark<'a>(&'a AtomicU32);

impl<'a> Mark<'a> {
    /// The mark in this word of a block.
    pub(super) fn new(word: &'a mut u32) -> Mark<'a> {
        Mark(cpu::atomic(word))
    }

    /// Sets the mark until the result goes. Calls within calls leave it set.
    #[inline(always)]
    pub fn begin(self) -> Changing<'a> {
        let before = self.0.load(Ordering::Relaxed);
        self.0.store(1, Ordering::Relaxed);
        fence(Ordering::Release);
        Changing { word: self.0, before }
    }

    /// Clears the mark of a new block, which is whole now.
    pub fn end(self) {
        self.0.store(0, Ordering::Release);
    }
}

/// A block is being changed.
#[must_use]
#[derive(Debug)]
pub struct Changing<'a> {
    word: &'a AtomicU32,
    before: u32,
}

impl Drop for Changing<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.word.store(self.before, Ordering::Release);
    }
}

/// A block whose mark is set is no image. Errors: `Image`.
pub(super) fn check_image(mark: &[u8]) -> Result {
    let what = "block: a call that changed it was interrupted, so that it is neither as before nor as after that call.";
    Error::new(Kind::Image, what).when(mark.iter().any(|&b| b != 0))
}
