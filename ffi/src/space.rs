//! Spaces described as data.

use crate::ptr::{Extent, Input, Plain};
use crate::status::{Fault, Result};
use rlcore::error::{Error, Kind};
use rlcore::space::{Element, Space};

/// Kind of the elements of observations and actions.
#[derive(Clone, Copy)]
#[repr(C)]
pub enum rlcore_element {
    /// float: continuous values
    RLCORE_F32 = 0,
    /// int32_t: discrete choices, counted from 0
    RLCORE_I32 = 1,
    /// uint8_t: image bytes
    RLCORE_U8 = 2,
}

/// The values that an observation or an action may take. The arrays are the caller's and are read during calls only.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_space {
    /// an rlcore_element
    pub kind: u32,
    /// elements of one observation or action, 1 to 2^24
    pub len: u32,
    /// [len] lower bounds; NULL: unbounded
    pub low: *const f32,
    /// [len] upper bounds; NULL: unbounded
    pub high: *const f32,
    /// [len] numbers of choices; required for RLCORE_I32, else unused
    pub n: *const u32,
}

/// What failures call the parts of a space.
pub struct Names {
    /// The space.
    pub space: &'static str,
    /// Its lower bounds.
    pub low: &'static str,
    /// Its upper bounds.
    pub high: &'static str,
    /// Its numbers of choices.
    pub n: &'static str,
}

/// An observation space of a call.
pub const OBS: Names = Names { space: "obs", low: "obs.low", high: "obs.high", n: "obs.n" };
/// An action space of a call.
pub const ACTION: Names = Names { space: "action", low: "action.low", high: "action.high", n: "action.n" };

/// Longer spaces are refused before their arrays are read: a length that large was never meant.
const MAX_LEN: u32 = 1 << 24;

/// The space that the caller describes and the bytes of its arrays. Errors: `Config`, `Null`, `Align`.
///
/// # Safety
/// Arrays that are not NULL have as many elements as it says, for the life of `'a`.
pub unsafe fn space<'a>(names: &Names, s: &rlcore_space) -> Result<(Space<'a>, [Extent; 3])> {
    let refuse = |what, given: u32| Err(Fault::at(names.space, Error::new(Kind::Config, what).given(given as usize)));
    let kind = match s.kind {
        0 => Element::F32,
        1 => Element::I32,
        2 => Element::U8,
        _ => return refuse("kind of 0 (f32), 1 (i32) or 2 (u8)", s.kind),
    };
    if s.len == 0 || s.len > MAX_LEN {
        return refuse("len of 1 to 16777216", s.len);
    }
    let len = s.len as usize;
    let (low, high, n) = unsafe {
        match kind {
            Element::I32 => (None, None, Some(Input::at(names.n, s.n, len)?)),
            _ => (Input::optional(names.low, s.low, len)?, Input::optional(names.high, s.high, len)?, None),
        }
    };
    let extents = [
        low.as_ref().map_or(Extent::NONE, Input::extent),
        high.as_ref().map_or(Extent::NONE, Input::extent),
        n.as_ref().map_or(Extent::NONE, Input::extent),
    ];
    let space = Space {
        kind,
        len: s.len,
        low: low.map_or(&[], Input::slice),
        high: high.map_or(&[], Input::slice),
        n: n.map_or(&[], Input::slice),
        fields: &[],
    };
    Ok((space, extents))
}

/// The space at `p`. Errors: as [`space`].
///
/// # Safety
/// As [`Input::at`] and [`space`].
pub unsafe fn at<'a>(names: &Names, p: *const rlcore_space) -> Result<(Space<'a>, [Extent; 3])> {
    let missing = || Fault::at(names.space, Error::new(Kind::Null, "a pointer, given NULL"));
    let s = unsafe { Input::at(names.space, p, 1)? }.slice().first().ok_or_else(missing)?;
    unsafe { space(names, s) }
}

// SAFETY: plain data.
unsafe impl Plain for rlcore_space {}

impl rlcore_space {
    /// What a C caller sees of a space that lives as long as the program.
    pub fn of(space: &Space<'static>) -> Self {
        fn start<T>(values: &'static [T]) -> *const T {
            if values.is_empty() { core::ptr::null() } else { values.as_ptr() }
        }
        rlcore_space {
            kind: space.kind as u32,
            len: space.len,
            low: start(space.low),
            high: start(space.high),
            n: start(space.n),
        }
    }
}
