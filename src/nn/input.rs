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
    /// The front of each row as bytes, the rest as f32. For networks that [read bytes in front](super::Net::reads_bytes_in_front).
    #[cfg(feature = "pictures")]
    Split {
        /// `[rows, front]` bytes, divided by 255 by the layers that read them.
        front: &'a [u8],
        /// `[rows, input - front]` values.
        rest: &'a [f32],
    },
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

    /// Bytes in front of values, or bytes alone; the values alone in builds without pictures, in which no network reads bytes.
    #[inline(always)]
    pub(crate) fn of_bytes_and(front: &'a [u8], rest: &'a [f32]) -> Input<'a> {
        #[cfg(feature = "pictures")]
        return if rest.is_empty() { Input::U8(front) } else { Input::Split { front, rest } };
        #[cfg(not(feature = "pictures"))]
        {
            let _ = front;
            Input::F32(rest)
        }
    }

    /// Number of elements.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.numbers().len() + self.bytes().len()
    }

    /// True if there are no elements.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The f32 values; those behind the bytes, if there are any.
    #[inline(always)]
    pub fn numbers(self) -> &'a [f32] {
        match self {
            Input::F32(x) => x,
            #[cfg(feature = "pictures")]
            Input::U8(_) => &[],
            #[cfg(feature = "pictures")]
            Input::Split { rest, .. } => rest,
        }
    }

    /// The bytes; empty for f32 values.
    #[inline(always)]
    pub fn bytes(self) -> &'a [u8] {
        match self {
            Input::F32(_) => &[],
            #[cfg(feature = "pictures")]
            Input::U8(x) => x,
            #[cfg(feature = "pictures")]
            Input::Split { front, .. } => front,
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
