//! Atomic words of a batch: one for each group, and three for the whole batch.

use core::sync::atomic::{AtomicU32, Ordering};

use crate::cpu;
use crate::env::Level;
use crate::error::{Error, Kind, Result};

pub(super) const WORDS: Error = Error::new(Kind::Shape, "batch: atomic words, as many as Setup::num_words says");

/// Number of words before those of the groups.
pub(super) const FIRST_GROUP: usize = 3;

/// States of a group, in the lowest two bits of its word. The other bits are a [`Level`] while the group is pending and
/// the worker's number while it runs.
pub(super) const IDLE: u32 = 0;
pub(super) const PENDING: u32 = 1;
pub(super) const RUNNING: u32 = 2;
pub(super) const DONE: u32 = 3;
pub(super) const STATE: u32 = 3;

/// Modes of the whole batch.
pub(super) const OPEN: u32 = 0;
pub(super) const DRAINING: u32 = 1;
pub(super) const CLOSED: u32 = 2;

/// Largest worker number.
pub const MAX_WORKER: u32 = u32::MAX >> 2;

/// Word of a group that this worker is stepping.
pub(super) fn running(worker: u32) -> Result<u32> {
    let what = "batch: a worker number of at most";
    Error::limit(Kind::Range, what, MAX_WORKER as usize, worker as usize).fail_if(worker > MAX_WORKER)?;
    Ok(worker << 2 | RUNNING)
}

/// Level in which ended rows start again, if this is the word of a pending group.
pub(super) fn level_of(word: u32) -> Option<Level> {
    match word >> 2 {
        0 if word & STATE == PENDING => Some(Level::New),
        1 if word & STATE == PENDING => Some(Level::Same),
        _ => None,
    }
}

/// Makes a pending group idle, unless a worker claims it first.
pub(super) fn take_back(word: &AtomicU32) {
    let pending = word.load(Ordering::Relaxed);
    if pending & STATE == PENDING {
        cpu::exchange(word, pending, IDLE, Ordering::Relaxed);
    }
}
