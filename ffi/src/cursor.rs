//! Read positions, which readers of records keep between calls.

use crate::ptr::{self, One};
use crate::status::Result;
use rlcore::data::monitor::Read;
use rlcore::error;

/// Number of the next record to read, and numbers of records read and lost: `next`, `out_count`, `out_lost`.
pub type Cursor<'a> = (One<'a, u64>, One<'a, u32>, Option<One<'a, u64>>);

/// Errors: `Null`, `Align`.
pub unsafe fn cursor<'a>(next: *mut u64, out_count: *mut u32, out_lost: *mut u64) -> Result<Cursor<'a>> {
    unsafe {
        let (next, count) = (One::at("next", next)?, One::at("out_count", out_count)?);
        Ok((next, count, One::optional("out_lost", out_lost)?))
    }
}

/// Advances a cursor past the records that `read` reads from its position on.
pub fn advance(
    (next, count, lost): (&mut u64, &mut u32, Option<&mut u64>),
    read: impl FnOnce(u64) -> error::Result<Read>,
) -> Result {
    let done = read(*next)?;
    (*next, *count) = (done.next, done.count as u32);
    ptr::tell(lost, done.lost);
    Ok(())
}
