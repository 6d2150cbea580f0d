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

/// Asserts that an image is refused with any bit changed in its header or its configuration, of this many bytes.
#[track_caller]
pub fn header_is_checked(image: &[u64], config: usize, attach: impl Fn(&mut [u8]) -> Option<Kind>) {
    for byte in 0..128 {
        let mut damaged = image.to_vec();
        bytes(&mut damaged)[byte] ^= 0x10;
        let refused = attach(bytes(&mut damaged));
        // 52 bytes of header, seal and mark, and the configuration; the rest is padding.
        assert_eq!(refused.is_some(), byte < 52 || (64..64 + config).contains(&byte), "byte {byte}: {refused:?}");
    }
}

/// Asserts the kind of an error and a part of its text.
#[track_caller]
pub fn says<T: Debug>(result: Result<T>, kind: Kind, words: &str) {
    let error = result.expect_err(words);
    assert!(error.kind == kind && error.to_string().contains(words), "{error} is not {kind:?}: {words}");
}
