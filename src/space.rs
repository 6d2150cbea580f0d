//! Spaces described as data, and the slices of observations and actions that live in them.

use crate::error::{Error, Kind, Result};

/// Kind of the elements of observations and actions. The numbers are the C values.
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

/// The values that an observation or an action may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Space<'a> {
    /// Element kind.
    pub kind: Element,
    /// Elements of one observation or action.
    pub len: u32,
    /// `[len]` lower bounds; empty means unbounded (bytes: 0). Unused for discrete spaces.
    pub low: &'a [f32],
    /// `[len]` upper bounds; empty means unbounded (bytes: 255). Unused for discrete spaces.
    pub high: &'a [f32],
    /// `[len]` numbers of choices, each counted from 0. Discrete spaces only: one element is Discrete, more are MultiDiscrete.
    pub n: &'a [u32],
}

impl<'a> Space<'a> {
    /// One choice of `n[0]`, or one of each of several.
    pub const fn discrete(n: &'a [u32]) -> Self {
        Space { kind: Element::I32, len: n.len() as u32, low: &[], high: &[], n }
    }

    /// Real vectors between two corners of equal length.
    pub const fn between(low: &'a [f32], high: &'a [f32]) -> Self {
        Space { kind: Element::F32, len: low.len() as u32, low, high, n: &[] }
    }

    /// Real vectors without bounds.
    pub const fn unbounded(len: u32) -> Self {
        Space { kind: Element::F32, len, low: &[], high: &[], n: &[] }
    }

    /// Image bytes.
    pub const fn bytes(len: u32) -> Self {
        Space { kind: Element::U8, len, low: &[], high: &[], n: &[] }
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
    /// Element kind.
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

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Elements `begin..end`, or `None` if they are not all there.
    pub fn get(&self, begin: usize, end: usize) -> Option<Elements<'a>> {
        Some(match self {
            Elements::F32(x) => Elements::F32(x.get(begin..end)?),
            Elements::I32(x) => Elements::I32(x.get(begin..end)?),
            Elements::U8(x) => Elements::U8(x.get(begin..end)?),
        })
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
    /// Element kind.
    pub fn kind(&self) -> Element {
        self.as_ref().kind()
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.as_ref().len()
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The same elements, to read.
    pub fn as_ref(&self) -> Elements<'_> {
        match self {
            ElementsMut::F32(x) => Elements::F32(x),
            ElementsMut::I32(x) => Elements::I32(x),
            ElementsMut::U8(x) => Elements::U8(x),
        }
    }

    /// The same elements for a shorter time.
    pub fn reborrow(&mut self) -> ElementsMut<'_> {
        match self {
            ElementsMut::F32(x) => ElementsMut::F32(x),
            ElementsMut::I32(x) => ElementsMut::I32(x),
            ElementsMut::U8(x) => ElementsMut::U8(x),
        }
    }

    /// Copies elements of the same kind and number.
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

    /// Elements `begin..end`, or `None` if they are not all there.
    pub fn get(&mut self, begin: usize, end: usize) -> Option<ElementsMut<'_>> {
        Some(match self {
            ElementsMut::F32(x) => ElementsMut::F32(x.get_mut(begin..end)?),
            ElementsMut::I32(x) => ElementsMut::I32(x.get_mut(begin..end)?),
            ElementsMut::U8(x) => ElementsMut::U8(x.get_mut(begin..end)?),
        })
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
