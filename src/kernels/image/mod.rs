//! Pictures, `[height, width, channels]` of bytes, row-major, and their operations for learners.
//!
//! Every result is exact: the bytes that OpenCV's x86-64 builds give for the same call.

mod area;
mod bytes;
mod cell;
mod gray;
mod half;
mod layout;
mod screen;
mod text;
mod tile;

pub use area::{area, area_scratch, warp, warp_scratch};
pub use bytes::{maximum, maximum_in_place, scale_bytes};
pub use gray::gray;
pub use half::{RESCALED, rescale42};
pub use layout::channels_first;
pub use text::{text, text_size};
pub use tile::{tile, tile_shape};

use crate::error::{Error, Kind, Result, check_len};

/// Shape of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Rows.
    pub height: usize,
    /// Columns.
    pub width: usize,
    /// Values of one pixel, which lie side by side.
    pub channels: usize,
}

impl Size {
    /// A picture of this height, width and number of channels.
    pub const fn new(height: usize, width: usize, channels: usize) -> Size {
        Size { height, width, channels }
    }

    /// Values of the whole picture. Errors: `Config` if a number is 0; `Overflow`.
    pub fn len(self) -> Result<usize> {
        let what = "image: height, width and channels of at least";
        Error::limit(Kind::Config, what, 1, 0).fail_if(self.height == 0 || self.width == 0 || self.channels == 0)?;
        let row = self.height.checked_mul(self.width).and_then(|pixels| pixels.checked_mul(self.channels));
        row.ok_or(Error::new(Kind::Overflow, "image: a picture that fits the address space"))
    }

    /// Always false: a picture without values has no [`Size::len`].
    pub const fn is_empty(self) -> bool {
        false
    }

    /// Checks a picture of this size.
    fn check<T>(self, what: &'static str, picture: &[T]) -> Result {
        check_len(what, picture, self.len()?)
    }
}
