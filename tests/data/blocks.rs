//! Blocks of stores and the errors of calls, for all of these tests.

use std::fmt::Debug;

use rlcore::error::{Kind, Result};

pub fn bytes(block: &mut [u64]) -> &mut [u8] {
    bytemuck::cast_slice_mut(block)
}

/// A copy of a block with other bytes in these places.
pub fn forged(block: &[u64], edits: &[(usize, &[u8])]) -> Vec<u64> {
    let mut copy = block.to_vec();
    for (at, with) in edits {
        bytes(&mut copy)[*at..][..with.len()].copy_from_slice(with);
    }
    copy
}

pub fn kind<T>(result: Result<T>) -> Option<Kind> {
    result.err().map(|error| error.kind)
}

/// Asserts the kind of an error and a part of its text.
#[track_caller]
pub fn says<T: Debug>(result: Result<T>, kind: Kind, words: &str) {
    let error = result.expect_err(words);
    assert!(error.kind == kind && error.to_string().contains(words), "{error} is not {kind:?}: {words}");
}
