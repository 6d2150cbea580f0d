//! Texts.

use core::ffi::c_char;
use core::slice;

use super::array::{Input, One, Output};
use crate::status::{Fault, Result};
use rlcore::error::{Error, Kind};

/// Longest text that a caller may hand over.
const MAX_TEXT_LEN: usize = 4096;

/// The text before a terminating NUL. Errors: `Null`, `Range`.
///
/// # Safety
/// If `p` is not NULL, a NUL stands there or after at most `MAX_TEXT_LEN` characters, and nobody writes to them.
pub unsafe fn text<'a>(what: &'static str, p: *const c_char) -> Result<&'a [u8]> {
    let p = unsafe { Input::at(what, p.cast::<u8>(), 0)? }.p;
    for len in 0..MAX_TEXT_LEN {
        // SAFETY: no NUL came before this character, so it is there by the promise.
        if unsafe { p.add(len).read() } == 0 {
            // SAFETY: these were read just now.
            return Ok(unsafe { slice::from_raw_parts(p, len) });
        }
    }
    let long = Error::new(Kind::Range, "a text that ends with NUL, characters before it less than");
    Err(Fault::at(what, long.needed(MAX_TEXT_LEN)))
}

/// TextOut for a text and for its length.
pub type TextOut<'a> = (Option<Output<'a, u8>>, One<'a, usize>);

/// `text_size` bytes at `text`, or none for NULL and 0, and the length at `out_len`. Errors: `Null`, `Align`, `Overflow`.
pub unsafe fn room<'a>(text: *mut c_char, text_size: usize, out_len: *mut usize) -> Result<TextOut<'a>> {
    let text = match text.is_null() && text_size == 0 {
        true => None,
        false => Some(unsafe { Output::at("text", text.cast::<u8>(), text_size)? }),
    };
    Ok((text, unsafe { One::at("out_len", out_len)? }))
}

/// The ASCII text before the first 0, if there is one and nothing else before it.
pub fn ascii(chars: &[c_char]) -> Option<&str> {
    let len = chars.iter().position(|&c| c == 0)?;
    let chars = chars.get(..len).filter(|chars| chars.iter().all(|&c| (c as u8).is_ascii()))?;
    // SAFETY: a `c_char` is a byte, and ASCII is UTF-8.
    Some(unsafe { core::str::from_utf8_unchecked(slice::from_raw_parts(chars.as_ptr().cast(), chars.len())) })
}
