//! Spaces as data, and slices of observations and actions.

use crate::error::{Error, Kind, Result};

/// Element type of observations and actions. The numbers are the C values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Element {
    /// Continuous values.
    F32 = 0,
    /// Discrete choices.
    I32 = 1,
    /// Image bytes.
    U8 = 2,
}

impl Element {
    /// The element type with this number.
    #[inline]
    pub const fn from_number(number: u32) -> Option<Self> {
        match number {
            0 => Some(Element::F32),
            1 => Some(Element::I32),
            2 => Some(Element::U8),
            _ => None,
        }
    }

    /// Size of one element in bytes.
    pub const fn size(self) -> usize {
        match self {
            Element::F32 | Element::I32 => 4,
            Element::U8 => 1,
        }
    }
}

/// Maximum number of dimensions of a field.
pub const MAX_RANK: usize = 4;

/// A named part of an observation or an action: one entry of a dictionary or a tuple, or the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field<'a> {
    /// Name; "" if there is no other field.
    pub name: &'a str,
    /// Element type. Fields of several types require an observation of bytes.
    pub kind: Element,
    /// Number of dimensions, 0 (a single number) to [`MAX_RANK`].
    pub rank: u32,
    /// Lengths, outermost first; 1 beyond `rank`.
    pub dims: [u32; MAX_RANK],
    /// Bytes from the start of the observation; a multiple of the element's size.
    pub offset: u32,
    /// The field is an info: it travels with the observation, but networks do not read it unless a layer names it. Layers count
    /// infos behind the other fields.
    pub info: bool,
    /// The field is a picture `[channels, height, width]`, perhaps with a leading 1, which networks read as `[height, width,
    /// channels]`.
    pub channels_first: bool,
}

impl<'a> Field<'a> {
    /// A field of these dimensions; those beyond [`MAX_RANK`] are dropped.
    pub const fn new(name: &'a str, kind: Element, dims: &[u32], offset: u32) -> Self {
        let (mut all, mut rank) = ([1; MAX_RANK], 0);
        while rank < MAX_RANK && rank < dims.len() {
            all[rank] = dims[rank];
            rank += 1;
        }
        Field { name, kind, rank: rank as u32, dims: all, offset, info: false, channels_first: false }
    }

    /// The same as an info.
    pub const fn unread(self) -> Self {
        Field { info: true, ..self }
    }

    /// The same as a picture whose channels come first.
    pub const fn planes(self) -> Self {
        Field { channels_first: true, ..self }
    }

    /// Lengths of the dimensions in use.
    pub fn shape(&self) -> &[u32] {
        self.dims.get(..self.rank as usize).unwrap_or(&self.dims)
    }

    /// Number of elements, or `None` if they do not fit the address space.
    pub fn len(&self) -> Option<usize> {
        self.dims.iter().try_fold(1usize, |len, &d| len.checked_mul(d as usize))
    }

    /// True if it has no element.
    pub fn is_empty(&self) -> bool {
        self.dims.contains(&0)
    }

    /// Number of bytes, or `None` if they do not fit the address space.
    pub fn size(&self) -> Option<usize> {
        self.len()?.checked_mul(self.kind.size())
    }
}

/// The values that an observation or an action may take.
///
/// ```
/// use rlcore::space::Space;
///
/// let steering = Space::between(&[-1.0, 0.0], &[1.0, 1.0]); // Box
/// let menu = Space::discrete(&[3]); // Discrete(3)
/// let pad = Space::discrete(&[9, 2, 2]); // MultiDiscrete
/// assert_eq!((steering.len, menu.len, pad.len), (2, 1, 3));
/// assert_eq!(steering.bounds(1), (0.0, 1.0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Space<'a> {
    /// Element type.
    pub kind: Element,
    /// Elements of one observation or action.
    pub len: u32,
    /// `[len]` lower bounds, or `[1]` for all of them; empty means unbounded (bytes: 0). Unused for discrete spaces.
    pub low: &'a [f32],
    /// `[len]` upper bounds, or `[1]` for all of them; empty means unbounded (bytes: 255). Unused for discrete spaces.
    pub high: &'a [f32],
    /// `[len]` numbers of choices, each counted from 0. Discrete spaces only: one element is Discrete, more are MultiDiscrete.
    pub n: &'a [u32],
    /// Parts of an observation in the order of a dictionary or a tuple; empty means one part without a name, `[len]`. With byte
    /// actions: the parts of a structured action that a learner draws; each of its choices has an entry in `n`, each of its
    /// numbers one in `low` and `high`.
    pub fields: &'a [Field<'a>],
}

impl<'a> Space<'a> {
    /// One choice of `n[0]`, or one choice per element.
    pub const fn discrete(n: &'a [u32]) -> Self {
        Space { kind: Element::I32, len: n.len() as u32, low: &[], high: &[], n, fields: &[] }
    }

    /// Real vectors between two corners of equal length.
    pub const fn between(low: &'a [f32], high: &'a [f32]) -> Self {
        Space { kind: Element::F32, len: low.len() as u32, low, high, n: &[], fields: &[] }
    }

    /// Real vectors without bounds.
    pub const fn unbounded(len: u32) -> Self {
        Space { kind: Element::F32, len, low: &[], high: &[], n: &[], fields: &[] }
    }

    /// The same space in named parts.
    pub const fn with_fields(self, fields: &'a [Field<'a>]) -> Self {
        Space { fields, ..self }
    }

    /// Bytes of one observation or action.
    pub fn size(&self) -> usize {
        (self.len as usize).saturating_mul(self.kind.size())
    }

    /// Lower and upper bound of element `i`; infinite if unbounded, 0 and 255 for bytes.
    pub fn bounds(&self, i: usize) -> (f32, f32) {
        let of = |bounds: &[f32], none| match *bounds {
            [all] => all,
            _ => bounds.get(i).copied().unwrap_or(none),
        };
        match self.kind {
            Element::U8 => (of(self.low, 0.0), of(self.high, 255.0)),
            _ => (of(self.low, f32::NEG_INFINITY), of(self.high, f32::INFINITY)),
        }
    }

    /// Total number of choices of all elements, the length of a mask.
    pub fn num_choices(&self) -> usize {
        self.n.iter().fold(0, |sum, &n| sum.saturating_add(n as usize))
    }

    /// Image bytes.
    pub const fn bytes(len: u32) -> Self {
        Space { kind: Element::U8, len, low: &[], high: &[], n: &[], fields: &[] }
    }
}

/// Elements to read: observations or actions of any number of rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Elements<'a> {
    /// Continuous values.
    F32(&'a [f32]),
    /// Discrete choices.
    I32(&'a [i32]),
    /// Image bytes.
    U8(&'a [u8]),
}

/// Elements to write: observations or actions of any number of rows.
#[derive(Debug, PartialEq)]
pub enum ElementsMut<'a> {
    /// Continuous values.
    F32(&'a mut [f32]),
    /// Discrete choices.
    I32(&'a mut [i32]),
    /// Image bytes.
    U8(&'a mut [u8]),
}

impl<'a> Elements<'a> {
    /// Bytes as elements of this kind. Errors: `Align`.
    pub fn of_bytes(kind: Element, bytes: &'a [u8]) -> Result<Self> {
        let refuse = |_| Error::new(Kind::Align, "elements: whole ones on a boundary of theirs");
        Ok(match kind {
            Element::F32 => Elements::F32(bytemuck::try_cast_slice(bytes).map_err(refuse)?),
            Element::I32 => Elements::I32(bytemuck::try_cast_slice(bytes).map_err(refuse)?),
            Element::U8 => Elements::U8(bytes),
        })
    }

    /// Element type.
    pub fn kind(&self) -> Element {
        match self {
            Elements::F32(_) => Element::F32,
            Elements::I32(_) => Element::I32,
            Elements::U8(_) => Element::U8,
        }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        match self {
            Elements::F32(x) => x.len(),
            Elements::I32(x) => x.len(),
            Elements::U8(x) => x.len(),
        }
    }

    /// True if there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Elements `begin..end`, or `None` if out of range.
    pub fn get(&self, begin: usize, end: usize) -> Option<Elements<'a>> {
        Some(match self {
            Elements::F32(x) => Elements::F32(x.get(begin..end)?),
            Elements::I32(x) => Elements::I32(x.get(begin..end)?),
            Elements::U8(x) => Elements::U8(x.get(begin..end)?),
        })
    }

    /// The first `k` elements and the others, or `None` if there are fewer.
    pub fn split_at(self, k: usize) -> Option<(Elements<'a>, Elements<'a>)> {
        Some(match self {
            Elements::F32(x) => x.split_at_checked(k).map(|(a, b)| (Elements::F32(a), Elements::F32(b)))?,
            Elements::I32(x) => x.split_at_checked(k).map(|(a, b)| (Elements::I32(a), Elements::I32(b)))?,
            Elements::U8(x) => x.split_at_checked(k).map(|(a, b)| (Elements::U8(a), Elements::U8(b)))?,
        })
    }

    /// The elements as bytes.
    pub fn bytes(self) -> &'a [u8] {
        match self {
            Elements::F32(x) => bytemuck::cast_slice(x),
            Elements::I32(x) => bytemuck::cast_slice(x),
            Elements::U8(x) => x,
        }
    }

    /// The continuous values.
    pub fn f32(self) -> Result<&'a [f32]> {
        match self {
            Elements::F32(x) => Ok(x),
            _ => Err(Error::new(Kind::Shape, "elements of kind f32")),
        }
    }

    /// The discrete choices.
    pub fn i32(self) -> Result<&'a [i32]> {
        match self {
            Elements::I32(x) => Ok(x),
            _ => Err(Error::new(Kind::Shape, "elements of kind i32")),
        }
    }
}

impl<'a> ElementsMut<'a> {
    /// Bytes as elements of this kind. Errors: `Align`.
    pub fn of_bytes(kind: Element, bytes: &'a mut [u8]) -> Result<Self> {
        let refuse = |_| Error::new(Kind::Align, "elements: whole ones on a boundary of theirs");
        Ok(match kind {
            Element::F32 => ElementsMut::F32(bytemuck::try_cast_slice_mut(bytes).map_err(refuse)?),
            Element::I32 => ElementsMut::I32(bytemuck::try_cast_slice_mut(bytes).map_err(refuse)?),
            Element::U8 => ElementsMut::U8(bytes),
        })
    }

    /// Element type.
    pub fn kind(&self) -> Element {
        self.as_ref().kind()
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.as_ref().len()
    }

    /// True if there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The same elements, immutable.
    pub fn as_ref(&self) -> Elements<'_> {
        match self {
            ElementsMut::F32(x) => Elements::F32(x),
            ElementsMut::I32(x) => Elements::I32(x),
            ElementsMut::U8(x) => Elements::U8(x),
        }
    }

    /// The same elements with a shorter lifetime.
    pub fn reborrow(&mut self) -> ElementsMut<'_> {
        match self {
            ElementsMut::F32(x) => ElementsMut::F32(x),
            ElementsMut::I32(x) => ElementsMut::I32(x),
            ElementsMut::U8(x) => ElementsMut::U8(x),
        }
    }

    /// Copies elements of the same type and number.
    pub fn copy_from(&mut self, from: Elements<'_>) -> Result {
        fn copy<T: Copy>(to: &mut [T], from: &[T]) {
            to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
        }
        if self.len() != from.len() {
            return Err(Error::new(Kind::Shape, "elements to copy,").needed(self.len()).given(from.len()));
        }
        match (self, from) {
            (ElementsMut::F32(to), Elements::F32(from)) => copy(to, from),
            (ElementsMut::I32(to), Elements::I32(from)) => copy(to, from),
            (ElementsMut::U8(to), Elements::U8(from)) => copy(to, from),
            _ => return Err(Error::new(Kind::Shape, "elements to copy, of the same kind")),
        }
        Ok(())
    }

    /// Elements `begin..end`, or `None` if out of range.
    pub fn get(&mut self, begin: usize, end: usize) -> Option<ElementsMut<'_>> {
        Some(match self {
            ElementsMut::F32(x) => ElementsMut::F32(x.get_mut(begin..end)?),
            ElementsMut::I32(x) => ElementsMut::I32(x.get_mut(begin..end)?),
            ElementsMut::U8(x) => ElementsMut::U8(x.get_mut(begin..end)?),
        })
    }

    /// The elements as bytes.
    pub fn into_bytes(self) -> &'a mut [u8] {
        match self {
            ElementsMut::F32(x) => bytemuck::cast_slice_mut(x),
            ElementsMut::I32(x) => bytemuck::cast_slice_mut(x),
            ElementsMut::U8(x) => x,
        }
    }

    /// The continuous values.
    pub fn f32(self) -> Result<&'a mut [f32]> {
        match self {
            ElementsMut::F32(x) => Ok(x),
            _ => Err(Error::new(Kind::Shape, "elements of kind f32")),
        }
    }

    /// The image bytes.
    pub fn u8(self) -> Result<&'a mut [u8]> {
        match self {
            ElementsMut::U8(x) => Ok(x),
            _ => Err(Error::new(Kind::Shape, "elements of kind u8")),
        }
    }

    /// The first `k` elements and the others, or `None` if there are fewer.
    pub fn split_at(self, k: usize) -> Option<(ElementsMut<'a>, ElementsMut<'a>)> {
        Some(match self {
            ElementsMut::F32(x) => {
                x.split_at_mut_checked(k).map(|(a, b)| (ElementsMut::F32(a), ElementsMut::F32(b)))?
            }
            ElementsMut::I32(x) => {
                x.split_at_mut_checked(k).map(|(a, b)| (ElementsMut::I32(a), ElementsMut::I32(b)))?
            }
            ElementsMut::U8(x) => x.split_at_mut_checked(k).map(|(a, b)| (ElementsMut::U8(a), ElementsMut::U8(b)))?,
        })
    }
}
