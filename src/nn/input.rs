//! What a network reads.

#[cfg(feature = "pictures")]
use crate::kernels::stack::unit;

/// Rows of a network's input.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// Numbers.
    F32(&'a [f32]),
    /// Bytes, which the layers that read them divide by 255: for networks that [read bytes](super::Net::reads_bytes).
    U8(&'a [u8]),
}

impl<'a> Input<'a> {
    /// How many elements it has.
    #[inline(always)]
    pub fn len(&self) -> usize {
        match self {
            Input::F32(x) => x.len(),
            Input::U8(x) => x.len(),
        }
    }

    /// True if it has no element.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The numbers; none of bytes.
    #[inline(always)]
    pub fn numbers(self) -> &'a [f32] {
        match self {
            Input::F32(x) => x,
            Input::U8(_) => &[],
        }
    }

    /// The bytes; none of numbers.
    #[inline(always)]
    pub fn bytes(self) -> &'a [u8] {
        match self {
            Input::F32(_) => &[],
            Input::U8(x) => x,
        }
    }
}

/// An element of a picture.
#[cfg(feature = "pictures")]
pub(super) trait Pixel: Copy {
    /// What it is to a layer.
    fn number(self) -> f32;

    /// Pictures that layers can read where they lie.
    fn numbers(pictures: &[Self]) -> Option<&[f32]>;
}

#[cfg(feature = "pictures")]
impl Pixel for f32 {
    #[inline(always)]
    fn number(self) -> f32 {
        self
    }

    #[inline(always)]
    fn numbers(pictures: &[f32]) -> Option<&[f32]> {
        Some(pictures)
    }
}

#[cfg(feature = "pictures")]
impl Pixel for u8 {
    #[inline(always)]
    fn number(self) -> f32 {
        unit(self)
    }

    #[inline(always)]
    fn numbers(_: &[u8]) -> Option<&[f32]> {
        None
    }
}
