//! Spaces described as data.

use core::ffi::c_char;
use core::ptr::null;

use crate::ptr::{Extent, Input, Plain};
use crate::status::{About, Fault, Result, places};
use rlcore::error::{Error, Kind};
use rlcore::space::{Element, Field, Space};

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
    /// uint8_t: bytes of a structure with fields of several kinds, for observations and for actions of learners. Calls
    /// that copy or store observations treat it as RLCORE_U8; learners read its fields, see rlcore_learner_size
    RLCORE_STRUCT = 3,
}

/// The values that an observation or an action can take. The arrays are not owned; they are read during calls only.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_space {
    /// an rlcore_element
    pub kind: u32,
    /// elements of one observation or action, 1 to 2^24
    pub len: u32,
    /// [len] lower bounds; of an action of RLCORE_STRUCT those of its floats only; NULL: unbounded
    pub low: *const f32,
    /// [len] upper bounds, likewise; NULL: unbounded
    pub high: *const f32,
    /// [len] number of choices of each element, required for RLCORE_I32; of RLCORE_STRUCT those of its elements of kind
    /// RLCORE_I32 only, required by learners; otherwise unused, and NULL for learners
    pub n: *const u32,
}

/// Flags of fields, to be combined with |.
#[derive(Clone, Copy)]
#[repr(C)]
pub enum rlcore_field_flag {
    /// an info of the host's: it travels with the observation through wrappers, rows, memories and trajectories, and
    /// networks do not read it unless a layer names it
    RLCORE_FIELD_INFO = 1,
    /// a picture [channels, height, width], perhaps with a leading dimension of 1, as RLCORE_WRAP_CHANNELS_FIRST makes it:
    /// networks read it as [height, width, channels]
    RLCORE_FIELD_CHANNELS_FIRST = 2,
}

/// A named part of an observation, such as a dictionary entry, or the whole observation.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_field {
    /// NUL-terminated; "" if it is the whole observation
    pub name: [c_char; 24],
    /// an rlcore_element: the observation's, or any in an observation of bytes
    pub kind: u32,
    /// number of dimensions, 0 (a single number) to 4
    pub rank: u32,
    /// lengths, outermost first; 0 or 1 beyond rank
    pub dims: [u32; 4],
    /// bytes from the start of the observation, a multiple of the element's size
    pub offset: u32,
    /// rlcore_field_flag
    pub flags: u32,
}

const INFO: u32 = rlcore_field_flag::RLCORE_FIELD_INFO as u32;
const CHANNELS_FIRST: u32 = rlcore_field_flag::RLCORE_FIELD_CHANNELS_FIRST as u32;

// SAFETY: plain data.
unsafe impl Plain for rlcore_field {}

impl rlcore_field {
    /// All fields zero.
    pub const NONE: rlcore_field = rlcore_field { name: [0; 24], kind: 0, rank: 0, dims: [0; 4], offset: 0, flags: 0 };

    /// The C form of a field.
    pub fn of(field: &Field<'_>) -> Self {
        let mut name = [0; 24];
        for (to, from) in name.iter_mut().take(23).zip(field.name.as_bytes()) {
            *to = *from as c_char;
        }
        rlcore_field {
            name,
            kind: field.kind as u32,
            rank: field.rank,
            dims: field.dims,
            offset: field.offset,
            flags: if field.info { INFO } else { 0 } | if field.channels_first { CHANNELS_FIRST } else { 0 },
        }
    }

    /// The field that the caller describes. Errors: `Config`.
    pub fn field(&self) -> rlcore::error::Result<Field<'_>> {
        let config = |what| Error::new(Kind::Config, what);
        let name = crate::wrap::name(&self.name)?;
        let kind = Element::from_number(self.kind).ok_or(config(KINDS).given(self.kind as usize))?;
        if self.flags & !(INFO | CHANNELS_FIRST) != 0 {
            return Err(config("flags of rlcore_field_flag").given(self.flags as usize));
        }
        let shape = self.dims.get(..self.rank as usize);
        let shape = shape.ok_or(config("rank of 0 to 4").given(self.rank as usize))?;
        if self.dims.iter().skip(shape.len()).any(|&d| d > 1) {
            return Err(config("dims of 0 or 1 beyond rank"));
        }
        let has = |flag| self.flags & flag != 0;
        let field = Field::new(name, kind, shape, self.offset);
        Ok(Field { info: has(INFO), channels_first: has(CHANNELS_FIRST), ..field })
    }
}

/// The kinds that a caller may give, for error messages.
const KINDS: &str = "kind of 0 (f32), 1 (i32) or 2 (u8)";

/// Placeholder for the fields of a structure that are not known yet.
const PARTS: &[Field<'static>] = &[Field::new("", Element::I32, &[], 0)];

/// Placeholder for the fields of a space, to be filled in later.
pub fn stand_in(structured: bool) -> &'static [Field<'static>] {
    if structured { PARTS } else { &[] }
}

/// The element kind with the caller's number. Errors: `Config`.
pub fn element(what: &'static str, kind: u32) -> Result<Element> {
    let unknown = Error::new(Kind::Config, KINDS).given(kind as usize);
    Element::from_number(kind).ok_or(unknown).about(what)
}

/// True if the kind is `RLCORE_STRUCT`.
pub fn structured(kind: u32) -> bool {
    kind == rlcore_element::RLCORE_STRUCT as u32
}

/// The C number of a space's kind.
fn number(space: &Space<'_>) -> u32 {
    let mixed = space.kind == Element::U8 && space.fields.iter().any(|field| field.kind != Element::U8);
    if mixed { rlcore_element::RLCORE_STRUCT as u32 } else { space.kind as u32 }
}

/// Names of a space and its arrays in error messages.
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

/// Longer spaces are refused before their arrays are read: so large a length is a mistake.
pub(crate) const MAX_LEN: u32 = 1 << 24;

/// The space that the caller describes. Errors: `Config`, `Null`, `Align`.
///
/// # Safety
/// Arrays of the space that are not NULL have `len` elements, for the life of `'a`.
#[inline(never)]
pub unsafe fn space<'a>(names: &Names, s: &rlcore_space) -> Result<Space<'a>> {
    let refuse = |what, given: u32| Err(Fault::at(names.space, Error::new(Kind::Config, what).given(given as usize)));
    let kind = if structured(s.kind) { Element::U8 } else { element(names.space, s.kind)? };
    if s.len == 0 || s.len > MAX_LEN {
        return refuse("len of 1 to 16777216", s.len);
    }
    let len = s.len as usize;
    let fields = stand_in(structured(s.kind));
    let mut space = Space { kind, len: s.len, low: &[], high: &[], n: &[], fields };
    unsafe {
        if kind == Element::I32 {
            space.n = Input::at(names.n, s.n, len)?.slice();
        } else {
            space.low = Input::optional(names.low, s.low, len)?.map_or(&[], Input::slice);
            space.high = Input::optional(names.high, s.high, len)?.map_or(&[], Input::slice);
        }
    }
    Ok(space)
}

/// The bytes of a space's arrays.
#[inline]
pub fn extents(names: &Names, space: &Space<'_>) -> [Extent; 3] {
    let bounds = |what, x: &[f32]| Extent::of(what, x.as_ptr().cast(), size_of_val(x));
    let n = Extent::of(names.n, space.n.as_ptr().cast(), size_of_val(space.n));
    [bounds(names.low, space.low), bounds(names.high, space.high), n]
}

/// The space at `p` and the bytes of its arrays. Errors: as [`space`].
///
/// # Safety
/// As [`Input::at`] and [`space`].
pub unsafe fn at<'a>(names: &Names, p: *const rlcore_space) -> Result<(Space<'a>, [Extent; 3])> {
    let missing = || Fault::at(names.space, Error::new(Kind::Null, "the pointer is NULL."));
    let s = unsafe { Input::at(names.space, p, 1)? }.slice().first().ok_or_else(missing)?;
    let space = unsafe { space(names, s)? };
    let what = "n of NULL, or elements that are choices, of kind 1; kind is";
    let stray = space.kind != Element::I32 && !structured(s.kind) && !s.n.is_null();
    Error::new(Kind::Config, what).given(s.kind as usize).fail_if(stray).about(names.space)?;
    Ok((space, extents(names, &space)))
}

/// [`at`] with the fields of a learner's observation.
///
/// # Safety
/// As [`at`]; the `n` of a structure has an entry for each discrete element of its fields.
pub unsafe fn in_parts<'a>(
    names: &Names,
    p: *const rlcore_space,
    fields: &'a [Field<'a>],
) -> Result<(Space<'a>, [Extent; 3])> {
    let (mut space, _) = unsafe { at(names, p)? };
    let structure = !space.fields.is_empty();
    let missing = Error::new(Kind::Config, "fields of the structure, listed in obs_fields of the learner config");
    missing.fail_if(structure && fields.is_empty()).about(names.space)?;
    space.fields = fields;
    if structure && let Some(s) = unsafe { Input::at(names.space, p, 1)? }.slice().first() {
        let count = count(names.n, fields, Element::I32)?;
        space.n = unsafe { Input::unless_empty(names.n, s.n, count)? }.map_or(&[], Input::slice);
    }
    Ok((space, extents(names, &space)))
}

/// Elements of one kind in the fields of a structure that are no infos. Errors: `Config`.
pub fn count(what: &'static str, fields: &[Field<'_>], kind: Element) -> Result<usize> {
    let own = fields.iter().filter(|field| field.kind == kind && !field.info);
    let count = own.fold(0usize, |all, field| all.saturating_add(field.len().unwrap_or(usize::MAX)));
    Error::limit(Kind::Config, "elements of at most", MAX_LEN as usize, count)
        .fail_if(count > MAX_LEN as usize)
        .about(what)?;
    Ok(count)
}

/// The action space of a learner, with the fields of a structure. Errors: as [`space`].
///
/// # Safety
/// As [`at`]; a structure has choices and bounds for the elements of its fields.
pub unsafe fn action<'a>(p: *const rlcore_space, fields: &'a [Field<'a>]) -> Result<(Space<'a>, [Extent; 3])> {
    let names = &ACTION;
    let given = unsafe { Input::at(names.space, p, 1)? }.slice().first().filter(|s| structured(s.kind));
    let missing = "fields of the structure, listed in action_fields of the learner config";
    let stray = "a structure if the learner config lists action_fields";
    let Some(s) = given else {
        Error::new(Kind::Config, stray).fail_if(!fields.is_empty()).about(names.space)?;
        return unsafe { at(names, p) };
    };
    Error::new(Kind::Config, missing).fail_if(fields.is_empty()).about(names.space)?;
    let bare = rlcore_space { low: null(), high: null(), ..*s };
    let mut space = Space { fields, ..unsafe { space(names, &bare)? } };
    let (picks, numbers) = (count(names.n, fields, Element::I32)?, count(names.low, fields, Element::F32)?);
    unsafe {
        space.n = Input::unless_empty(names.n, s.n, picks)?.map_or(&[], Input::slice);
        space.low = Input::optional(names.low, s.low, numbers)?.map_or(&[], Input::slice);
        space.high = Input::optional(names.high, s.high, numbers)?.map_or(&[], Input::slice);
    }
    Ok((space, extents(names, &space)))
}

// SAFETY: plain data.
unsafe impl Plain for rlcore_space {}

impl rlcore_space {
    /// No space: all zero.
    pub(crate) const NONE: rlcore_space = rlcore_space { kind: 0, len: 0, low: null(), high: null(), n: null() };

    /// True if both have the same numbers and the same pointers.
    #[inline(always)]
    pub fn is(&self, other: &Self) -> bool {
        (self.kind, self.len, self.low, self.high, self.n) == (other.kind, other.len, other.low, other.high, other.n)
    }

    /// The C form of a space with kind and length alone.
    pub fn bare(space: &Space<'_>) -> Self {
        rlcore_space { kind: number(space), len: space.len, low: null(), high: null(), n: null() }
    }

    /// The C form of a space, valid while the space lives.
    pub fn of(space: &Space<'_>) -> Self {
        rlcore_space { low: start(space.low), high: start(space.high), n: start(space.n), ..Self::bare(space) }
    }
}

/// Pointer to an array; NULL if it has no elements.
pub fn start<T>(values: &[T]) -> *const T {
    if values.is_empty() { null() } else { values.as_ptr() }
}

/// Names of fields in error messages.
const PLACES: [&str; 8] = places!("fields" 0 1 2 3 4 5 6 7);

/// A failure of one field of a list.
pub fn fault(place: usize, error: Error) -> Fault {
    Fault::at(PLACES.get(place).copied().unwrap_or("fields"), error)
}
