//! Blocks that one process writes while others read: how a reader knows which rows are valid.
//!
//! A block may lie in shared memory, such as a mapped file. One process changes it; any number of others only read it and copy
//! rows out. No process waits for another: a reader copies first and then checks whether a row was overwritten meanwhile. If
//! so, the copy is invalid and the call says so. Writers follow this protocol even without readers, and `attach` refuses a
//! block whose writer died during a change.
//!
//! # Rings
//!
//! The rows of a ring are numbered from 0, numbers are never reused, and row n is in slot `n % num_rows`. Before a writer
//! touches a row, it stores the number of rows it is about to push in the ring's word of `writing` ([`begin`]), and 0 after the
//! last ([`end`]). A row is complete before it is counted in `pushed` ([`count`]). So each row below `pushed` was complete, and
//! rows from `pushed + writing - num_rows` on have not been overwritten since ([`Rings::check_held`]): a reader loses rows only
//! to a writer that laps it.
//!
//! # Stores that are emptied
//!
//! A rollout or a trajectory takes rows until all of them are discarded at once. Row numbers continue after that, and
//! [`StoreSeq::first`] is the number of the oldest row held, advanced before any row is overwritten ([`StoreSeq::forget`]): appended
//! rows do not disturb a reader. The metadata beside the rows, such as their count, changes only while [`StoreSeq::lock`] is odd,
//! so that a reader gets a consistent copy ([`StoreSeq::read`]).
//!
//! # Order
//!
//! This must hold even on processors that reorder loads and stores. A counter or flag about rows is a [`Word`], loaded and
//! stored whole; rows are plain bytes, which may be torn and are then discarded.
//!
//! - An announcement is visible before the change: a release fence follows the store to `writing`, to an odd [`SeqLock`] or to
//!   `first`, and an acquire fence follows a reader's copies. So a reader that has seen one byte of a change finds it announced
//!   when it checks.
//! - A counted row is complete: counts, and words that end a change, are stored with release and loaded with acquire. So a
//!   reader that has seen a count sees the rows below it.
//! - `writing` is loaded before `pushed`, with acquire: a reader that finds it back at 0 also finds the announced rows counted.
//!
//! A fence instead of ordering on a single word costs nothing on x86-64, and elsewhere less than the copy beside it.
//!
//! On machines that read 64 bits in two halves, no reader may read while a count passes a multiple of 2^32.

use bytemuck::{Pod, Zeroable};
use core::hint::spin_loop;
use core::sync::atomic::{Ordering, fence};

use crate::cpu::{Word, snapshot};
use crate::error::{Error, Kind, Result};

/// The largest number, so that no sum of numbers overflows.
pub(crate) const LAST: u64 = i64::MAX as u64;

/// Checks that `more` numbers are left after `number`. Errors: `Range`.
pub(crate) fn check_room(what: &'static str, number: u64, more: u64) -> Result {
    if number > LAST.saturating_sub(more) { Err(Error::new(Kind::Range, what)) } else { Ok(()) }
}

/// Announces up to `rows` rows for each of these rings, before the first of them is written.
#[inline(always)]
pub fn begin(writing: &mut [u32], rows: u32) {
    for word in writing {
        word.store(rows, Ordering::Relaxed);
    }
    fence(Ordering::Release);
}

/// Withdraws the announcement: all announced rows are complete.
#[inline(always)]
pub fn end(writing: &mut [u32]) {
    for word in writing {
        word.store(0, Ordering::Release);
    }
}

/// Counts a complete row.
#[inline(always)]
pub fn count(pushed: &mut u64) {
    pushed.store(pushed.wrapping_add(1), Ordering::Release);
}

/// Refuses a block whose writer was stopped in the middle of a row. Errors: `Image`, with the ring.
pub fn check_image(writing: &[u32]) -> Result {
    match writing.iter().position(|&rows| rows != 0) {
        Some(ring) => {
            let what = "block: its writer stopped in the middle of a row of ring {given}.";
            Err(Error::new(Kind::Image, what).given(ring))
        }
        None => Ok(()),
    }
}

/// Number of the oldest row that is still valid for a reader, from `pushed` and `writing` of the ring, both loaded after the
/// copy, `writing` first.
#[inline(always)]
pub fn oldest_after(pushed: u64, writing: u32, num_rows: u32) -> u64 {
    pushed.saturating_add(writing.into()).saturating_sub(num_rows.into())
}

const OVERWRITTEN: Error =
    Error::new(Kind::Range, "block: row {given} was overwritten meanwhile; the oldest row is {needed}.");
/// All [`READ_ATTEMPTS`] attempts of a reader have failed.
pub const BUSY: Error = Error::new(Kind::Busy, "block: the writer changes the object faster than it can be read.");

/// Attempts of a reader before it reports that the writer is too fast.
pub const READ_ATTEMPTS: u32 = 100;

/// The counters of rings, read while a writer continues.
#[derive(Clone, Copy, Debug)]
pub struct Rings<'a> {
    /// `[R]` rows pushed so far.
    pub pushed: &'a [u64],
    /// `[R]` rows that a writer is about to push.
    pub writing: &'a [u32],
    /// Rows that each ring keeps.
    pub num_rows: u32,
}

impl Rings<'_> {
    /// Checks that no copied row was overwritten meanwhile. `oldest`: pairs of a ring and the number of the oldest row read
    /// from it, known before the call. Errors: `Range`; the copy is invalid then.
    #[inline]
    pub fn check_held(&self, oldest: impl Iterator<Item = (usize, u64)>) -> Result {
        let mut seen = None;
        for (ring, oldest) in oldest {
            let held = match seen {
                Some((same, held)) if same == ring => held,
                _ => self.oldest(ring),
            };
            OVERWRITTEN.needed(held as usize).given(oldest as usize).fail_if(oldest < held)?;
            seen = Some((ring, held));
        }
        Ok(())
    }

    #[inline(always)]
    fn oldest(&self, ring: usize) -> u64 {
        // Orders the copies and the numbers of their oldest rows before these loads.
        fence(Ordering::Acquire);
        let writing = self.writing.get(ring).map_or(0, |word| word.load(Ordering::Acquire));
        let pushed = self.pushed.get(ring).map_or(0, |word| word.load(Ordering::Acquire));
        oldest_after(pushed, writing, self.num_rows)
    }
}

/// A counter that goes up by one before and after every change of the data it guards: odd during a change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(transparent)]
pub struct SeqLock(pub u32);

impl SeqLock {
    /// Announces a change.
    #[inline]
    pub fn begin(&mut self) {
        self.0.store(self.0.wrapping_add(1), Ordering::Relaxed);
        fence(Ordering::Release);
    }

    /// Ends the change.
    #[inline]
    pub fn end(&mut self) {
        self.0.store(self.0.wrapping_add(1), Ordering::Release);
    }

    /// The result of a `find` that no change overlapped. Errors: `Busy`.
    #[inline]
    pub fn read<T>(&self, find: impl Fn() -> T) -> Result<T> {
        for _ in 0..READ_ATTEMPTS {
            let before = self.0.load(Ordering::Acquire);
            let found = find();
            fence(Ordering::Acquire);
            if before & 1 == 0 && self.0.load(Ordering::Relaxed) == before {
                return Ok(found);
            }
            spin_loop();
        }
        Err(BUSY)
    }

    /// Refuses a block whose writer was stopped during a change. Errors: `Image`.
    pub fn check_image(&self) -> Result {
        match self.0 & 1 {
            0 => Ok(()),
            _ => Err(Error::new(Kind::Image, "block: its writer stopped in the middle of a change.")),
        }
    }
}

/// The counters of a store that is emptied as a whole, read while a writer continues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct StoreSeq {
    /// Number of the oldest row held, which is the count of rows discarded so far.
    pub first: u64,
    /// Changes of the metadata beside the rows.
    pub lock: SeqLock,
    /// Rows that a writer is about to push to the ring that the store has beside its rows.
    pub writing: u32,
}

impl StoreSeq {
    /// Announces a change of the metadata beside the rows.
    #[inline]
    pub fn begin(&mut self) {
        self.lock.begin();
    }

    /// Ends the change.
    #[inline]
    pub fn end(&mut self) {
        self.lock.end();
    }

    /// Advances `first` past the `rows` rows held, before any of them is overwritten; between `begin` and `end`.
    #[inline]
    pub fn forget(&mut self, rows: u32) {
        self.first.store(self.first.wrapping_add(rows.into()), Ordering::Relaxed);
        fence(Ordering::Release);
    }

    /// A consistent copy of `first` and of the metadata `known`. Errors: `Busy`.
    #[inline]
    pub fn read<T: Pod>(&self, known: &T) -> Result<(u64, T)> {
        self.lock.read(|| (self.first.load(Ordering::Relaxed), snapshot(known)))
    }

    /// Checks after a copy that the rows held when [`StoreSeq::read`] returned this `first` are still held. Errors: `Range`; the
    /// copy is invalid then.
    #[inline]
    pub fn check_held(&self, first: u64) -> Result {
        fence(Ordering::Acquire);
        let now = self.first.load(Ordering::Relaxed);
        if now == first { Ok(()) } else { Err(OVERWRITTEN.needed(now as usize).given(first as usize)) }
    }

    /// Refuses a block whose writer was stopped during a change. Errors: `Image`.
    pub fn check_image(&self) -> Result {
        check_image(&[self.writing])?;
        self.lock.check_image()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::slice::from_ref;

    fn kind(result: Result) -> Option<Kind> {
        result.err().map(|error| error.kind)
    }

    #[test]
    fn rows_that_a_writer_may_have_touched_are_not_believed() {
        assert_eq!((oldest_after(10, 0, 4), oldest_after(10, 1, 4), oldest_after(11, 1, 4)), (6, 7, 8));
        assert_eq!((oldest_after(3, 1, 4), oldest_after(0, 0, 4), oldest_after(u64::MAX, 9, 4)), (0, 0, u64::MAX - 4));
        let (mut pushed, mut writing) = ([10, 3], [0, 0]);
        let held = |pushed: &[u64], writing: &[u32], oldest: &[(usize, u64)]| {
            kind(Rings { pushed, writing, num_rows: 4 }.check_held(oldest.iter().copied()))
        };
        let oldest = [(0, 6), (0, 9), (1, 0), (0, 6)];
        assert_eq!(held(&pushed, &writing, &oldest), None);
        begin(&mut writing[..1], 2);
        assert_eq!(writing, [2, 0]);
        assert_eq!(held(&pushed, &writing, &oldest), Some(Kind::Range));
        assert_eq!(held(&pushed, &writing, &[(0, 7)]), Some(Kind::Range));
        assert_eq!(held(&pushed, &writing, &[(1, 0), (0, 8)]), None);
        assert_eq!(kind(check_image(&writing)), Some(Kind::Image));
        count(&mut pushed[0]);
        count(&mut pushed[0]);
        end(&mut writing[..1]);
        assert_eq!((pushed, writing), ([12, 3], [0, 0]));
        assert_eq!((held(&pushed, &writing, &[(0, 7)]), held(&pushed, &writing, &[(0, 8)])), (Some(Kind::Range), None));
        assert_eq!(kind(check_image(&writing)), None);
    }

    #[test]
    fn changes_are_looked_at_when_they_are_over() {
        let mut changes = SeqLock::default();
        assert_eq!(changes.read(|| 7), Ok(7));
        changes.begin();
        assert_eq!((changes, kind(changes.read(|| 7).map(|_| ()))), (SeqLock(1), Some(Kind::Busy)));
        assert_eq!(kind(changes.check_image()), Some(Kind::Image));
        changes.end();
        assert_eq!((changes, changes.read(|| 8), kind(changes.check_image())), (SeqLock(2), Ok(8), None));
        let mut last = SeqLock(u32::MAX);
        last.end();
        assert_eq!(last, SeqLock(0));
    }

    #[test]
    fn what_is_known_is_of_one_moment() {
        let mut seq = StoreSeq::default();
        assert_eq!(seq.read(&7).unwrap(), (0, 7));
        seq.begin();
        assert_eq!(seq.read(&7).unwrap_err().kind, Kind::Busy);
        assert_eq!(kind(seq.check_image()), Some(Kind::Image));
        // Appending rows does not invalidate the rows held.
        assert_eq!(kind(seq.check_held(0)), None);
        seq.forget(5);
        assert_eq!(kind(seq.check_held(0)), Some(Kind::Range));
        seq.end();
        assert_eq!((seq.read(&8).unwrap(), seq), ((5, 8), StoreSeq { first: 5, lock: SeqLock(2), writing: 0 }));
        assert_eq!((kind(seq.check_held(5)), kind(seq.check_image())), (None, None));
        begin(core::slice::from_mut(&mut seq.writing), 1);
        assert_eq!(kind(check_image(from_ref(&seq.writing))), Some(Kind::Image));
        assert_eq!(kind(seq.check_image()), Some(Kind::Image));
        assert_eq!(seq.read(&8).unwrap(), (5, 8));
    }
}
