//! Two pools of the numbers of rows, common ones and rare ones, each a queue from the oldest to the newest.
//!
//! Together they hold a range of numbers without gaps, so dropping a row removes one number from the front of one of them. Each
//! ring has a place for every row, so that either pool can hold all of them.

use bytemuck::{Pod, Zeroable};
use core::sync::atomic::Ordering;

use crate::block::{Fit, LayoutError};
use crate::cpu::Word;

/// A queue of numbers: elements `[begin, begin + len)` of its ring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Queue {
    /// Place of the oldest.
    pub begin: u32,
    /// Numbers in the queue.
    pub len: u32,
}

/// The pools of a block, for writing.
pub struct Pools<'a> {
    /// Common rows, rare rows.
    pub queues: &'a mut [Queue; 2],
    /// `[2, num_rows]` lower halves of the row numbers, zeros in unused places.
    pub rings: &'a mut [u32],
    /// Rows that are kept.
    pub num_rows: u32,
}

impl Pools<'_> {
    /// Appends a number to a pool, after removing `gone` from the pool that has it.
    #[inline(always)]
    pub fn put(self, number: u32, is_rare: bool, gone: Option<u32>) -> Fit<()> {
        let Pools { queues: [common, rare], rings, num_rows } = self;
        let rings = rings.split_at_mut_checked(num_rows as usize).ok_or(LayoutError)?;
        // Removed first: a pool that holds all rows has no room for another.
        if let Some(gone) = gone {
            forget(common, rings.0, gone, num_rows);
            forget(rare, rings.1, gone, num_rows);
        }
        let (queue, ring) = if is_rare { (rare, rings.1) } else { (common, rings.0) };
        *ring.get_mut(ahead(queue.begin, queue.len, num_rows)).ok_or(LayoutError)? = number;
        // Counted after it is written, for concurrent readers.
        let len = queue.len.saturating_add(1);
        queue.len.store(len, Ordering::Release);
        Ok(())
    }
}

/// Removes `gone` from the front of a queue, if it is there.
#[inline(always)]
fn forget(queue: &mut Queue, ring: &mut [u32], gone: u32, num_rows: u32) {
    if let Some(front) = ring.get_mut(queue.begin as usize).filter(|front| queue.len != 0 && **front == gone) {
        *front = 0;
        *queue = Queue { begin: ahead(queue.begin, 1, num_rows) as u32, len: queue.len.wrapping_sub(1) };
    }
}

/// Place `by` after `at` in a ring of `num_rows`; both are at most `num_rows`.
#[inline(always)]
pub fn ahead(at: u32, by: u32, num_rows: u32) -> usize {
    let (at, by, num_rows) = (at as usize, by as usize, num_rows as usize);
    let left = num_rows.wrapping_sub(at);
    if by < left { at.wrapping_add(by) } else { by.wrapping_sub(left) }
}

/// Place `by` before `at` in a ring of `num_rows`; both are at most `num_rows`.
#[inline(always)]
pub fn behind(at: u32, by: u32, num_rows: u32) -> usize {
    let (at, by, num_rows) = (at as usize, by as usize, num_rows as usize);
    if by <= at { at.wrapping_sub(by) } else { num_rows.wrapping_sub(by.wrapping_sub(at)) }
}
