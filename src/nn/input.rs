//! Input of a network.

#[cfg(feature = "pictures")]
use crate::kernels::stack::unit;

/// Rows of a network's input.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// f32 values.
    F32(&'a [f32]),
    /// Bytes, divided by 255 by the layers that read them. For networks that [read bytes](super::Net::reads_bytes).
    #[cfg(feature = "pictures")]
    U8(&'a [u8]),
}

impl<'a, T: AsRef<[f32]> + ?Sized> From<&'a T> for Input<'a> {
    #[inline(always)]
    fn from(x: &'a T) -> Input<'a> {
        Input::F32(x.as_ref())
    }
}

impl<'a> Input<'a> {
    /// Bytes; an empty input in builds without pictures, in which no network reads bytes.
    #[inline(always)]
    pub(crate) fn of_bytes(bytes: &'a [u8]) -> Input<'a> {
        #[cfg(feature = "pictures")]
        return Input::U8(bytes);
        #[cfg(not(feature = "pictures"))]
        {
            let _ = bytes;
            Input::F32(&[])
        }
    }

    /// Number of elements.
    #[inline(always)]
    pub fn len(&self) -> usize {
        match self {
            Input::F32(x) => x.len(),
            #[cfg(feature = "pictures")]
            Input::U8(x) => x.len(),
        }
    }

    /// True if there are no elements.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The f32 values; empty for bytes.
    #[inline(always)]
    pub fn numbers(self) -> &'a [f32] {
        match self {
            Input::F32(x) => x,
            #[cfg(feature = "pictures")]
            Input::U8(_) => &[],
        }
    }

    /// The bytes; empty for f32 values.
    #[inline(always)]
    pub fn bytes(self) -> &'a [u8] {
        match self {
            Input::F32(_) => &[],
            #[cfg(feature = "pictures")]
            Input::U8(x) => x,
        }
    }
}

/// Element type of a picture.
#[cfg(feature = "pictures")]
pub(super) trait Pixel: Copy {
    /// Value as a layer reads it.
    fn number(self) -> f32;

    /// The pictures as f32, if they can be read in place.
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
