//! A mark that is set while a call changes a block.
//!
//! Each call that changes the block sets it before its first change and clears it after its last, even if the call fails. A
//! process that is killed in between leaves it set, and `attach` refuses the block, whose bytes are partly from before the call
//! and partly from after it. Memory order is as in [`shared`](super::shared): the set mark is visible before any change, the
//! cleared mark only after all changes.

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

    /// Sets the mark until the result is dropped. Nested calls leave it set.
    #[inline(always)]
    pub fn begin(self) -> Changing<'a> {
        let before = self.0.load(Ordering::Relaxed);
        self.0.store(1, Ordering::Relaxed);
        fence(Ordering::Release);
        Changing { word: self.0, before }
    }

    /// Clears the mark of a new block, which is complete now.
    pub fn end(self) {
        self.0.store(0, Ordering::Release);
    }
}

/// Keeps the mark set; dropping it restores the state before.
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

/// Refuses a block whose mark is set. Errors: `Image`.
pub(super) fn check_image(mark: &[u8]) -> Result {
    let what = "block: a call that changed it was interrupted, so that it is neither as before nor as after that call.";
    Error::new(Kind::Image, what).fail_if(mark.iter().any(|&b| b != 0))
}
