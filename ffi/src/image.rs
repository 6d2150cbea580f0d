//! Conversion, scaling and tiling of images.

use crate::ptr::{self, Extent, Input, One, Output, Plain, args, args_beside};
use crate::status::{Result, call, rlcore_status};
use rlcore::kernels::image::{self, Size};

/// Shape of an image of bytes, [height, width, channels].
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_image_size {
    /// rows, at least 1
    pub height: u32,
    /// columns, at least 1
    pub width: u32,
    /// values per pixel, at least 1
    pub channels: u32,
}

// SAFETY: plain data.
unsafe impl Plain for rlcore_image_size {}

/// The two sizes of a call, and their extents.
struct Sizes {
    from: Size,
    to: Size,
    extents: [Extent; 2],
}

impl Sizes {
    /// Errors: `Null`, `Align`.
    unsafe fn at(from: *const rlcore_image_size, to: *const rlcore_image_size) -> Result<Sizes> {
        let (from, from_extent) = unsafe { size("image: from_size", from)? };
        let (to, to_extent) = unsafe { size("image: to_size", to)? };
        Ok(Sizes { from, to, extents: [from_extent, to_extent] })
    }
}

/// A size, and its extent. Errors: `Null`, `Align`.
unsafe fn size(what: &'static str, p: *const rlcore_image_size) -> Result<(Size, Extent)> {
    let given = unsafe { Input::at(what, p, 1)? };
    let extent = given.extent();
    let [height, width, channels] = match given.slice().first() {
        Some(size) => [size.height, size.width, size.channels].map(|x| x as usize),
        None => [0; 3],
    };
    Ok((Size::new(height, width, channels), extent))
}

/// Converts to gray as OpenCV's RGB2GRAY: 0.299 R + 0.587 G + 0.114 B in 15-bit fixed point, rounded.
/// rgb: [num_pixels, 3]; out: [num_pixels] to write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_image_gray(rgb: *const u8, num_pixels: usize, out: *mut u8) -> rlcore_status {
    call(|| unsafe {
        let rgb = Input::at("gray: rgb", rgb, ptr::grid("gray: rgb", num_pixels, 3)?)?;
        let out = Output::at("gray: out", out, num_pixels)?;
        let (out, rgb) = args((out, rgb))?;
        Ok(image::gray(rgb, out)?)
    })
}

/// Floats of scratch that rlcore_image_area and rlcore_image_warp need for these sizes: 0 for Atari screens, 210 by 160 to
/// 84 by 84 gray. Errors: E_CONFIG for a dimension of 0, more than 4 channels, an output larger than the source on either
/// axis, or different channels, except 3 to 1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_image_scratch_len(
    from_size: *const rlcore_image_size,
    to_size: *const rlcore_image_size,
    out_len: *mut usize,
) -> rlcore_status {
    call(|| unsafe {
        let sizes = Sizes::at(from_size, to_size)?;
        ptr::put("image: out_len", out_len, || Ok(image::warp_scratch(sizes.from, sizes.to)?))
    })
}

/// Downscales an image by area means, bit-identical to OpenCV's INTER_AREA. Channels must be equal.
/// src:     from_size's [height, width, channels].
/// out:     to_size's [height, width, channels] to write.
/// scratch: [scratch_len] at least rlcore_image_scratch_len(); may be NULL if that is 0.
/// Errors: those of rlcore_image_scratch_len; E_SIZE for scratch_len.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_image_area(
    from_size: *const rlcore_image_size,
    src: *const u8,
    to_size: *const rlcore_image_size,
    out: *mut u8,
    scratch: *mut f32,
    scratch_len: usize,
) -> rlcore_status {
    call(|| unsafe {
        let sizes = Sizes::at(from_size, to_size)?;
        let src = Input::at("image: src", src, sizes.from.len()?)?;
        let out = Output::at("image: out", out, sizes.to.len()?)?;
        let scratch = Output::unless_empty("image: scratch", scratch, scratch_len)?;
        let (out, scratch, src) = args_beside((out, scratch, src), &sizes.extents)?;
        Ok(image::area(sizes.from, src, sizes.to, out, scratch.unwrap_or_default())?)
    })
}

/// Atari preprocessing in one pass: the elementwise maximum of two images (b may be NULL: a only), then gray if from_size
/// has 3 channels and to_size 1, then rlcore_image_area. The result equals that of the three separate steps.
/// a, b: from_size's [height, width, channels]; may be the same array. The rest, and errors, as rlcore_image_area.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_image_warp(
    from_size: *const rlcore_image_size,
    a: *const u8,
    b: *const u8,
    to_size: *const rlcore_image_size,
    out: *mut u8,
    scratch: *mut f32,
    scratch_len: usize,
) -> rlcore_status {
    call(|| unsafe {
        let sizes = Sizes::at(from_size, to_size)?;
        let len = sizes.from.len()?;
        let a = Input::at("image: a", a, len)?;
        let b = Input::optional("image: b", b, len)?;
        let out = Output::at("image: out", out, sizes.to.len()?)?;
        let scratch = Output::unless_empty("image: scratch", scratch, scratch_len)?;
        let (out, scratch, a, b) = args_beside((out, scratch, a, b), &sizes.extents)?;
        Ok(image::warp(sizes.from, a, b, sizes.to, out, scratch.unwrap_or_default())?)
    })
}

/// Converts an Atari screen to 42 by 42 as A3C code does: rows 34 to 193, halved, resized with OpenCV's fixed-point
/// bilinear filter, channels averaged, times the float nearest 1/255. rgb: [210, 160, 3]; out: [42, 42] to write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_image_rescale42(rgb: *const u8, out: *mut f32) -> rlcore_status {
    call(|| unsafe {
        let rgb = Input::at("rescale42: rgb", rgb, 210 * 160 * 3)?;
        let out = Output::at("rescale42: out", out, 42 * 42)?;
        let (out, rgb) = args((out, rgb))?;
        Ok(image::rescale42(rgb, out)?)
    })
}

/// Converts bytes to floats in [0, 1]: x / 255, rounded once. x: [len]; out: [len] to write. Errors: as above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_image_scale(x: *const u8, len: usize, out: *mut f32) -> rlcore_status {
    call(|| unsafe {
        let x = Input::at("scale: x", x, len)?;
        let out = Output::at("scale: out", out, len)?;
        let (out, x) = args((out, x))?;
        Ok(image::scale_bytes(x, out)?)
    })
}

/// Moves channels first. x: [height, width, channels]; out: [channels, height, width] to write.
/// Errors: E_CONFIG for a dimension of 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_image_channels_first(
    size: *const rlcore_image_size,
    x: *const u8,
    out: *mut u8,
) -> rlcore_status {
    call(|| unsafe {
        let (size, extent) = self::size("image: size", size)?;
        let len = size.len()?;
        let x = Input::at("channels_first: x", x, len)?;
        let out = Output::at("channels_first: out", out, len)?;
        let (out, x) = args_beside((out, x), &[extent])?;
        Ok(image::channels_first(size, x, out)?)
    })
}

/// Rows and columns of a tiling of num_images images: the smallest square that holds them, without its empty columns.
/// Errors: E_RANGE if num_images is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_image_tile_shape(
    num_images: u32,
    out_rows: *mut u32,
    out_columns: *mut u32,
) -> rlcore_status {
    call(|| unsafe {
        let rows = One::at("tile_shape: out_rows", out_rows)?;
        let (rows, columns) = args((rows, One::at("tile_shape: out_columns", out_columns)?))?;
        let shape = image::tile_shape(num_images as usize)?;
        (*rows, *columns) = (shape.0 as u32, shape.1 as u32);
        Ok(())
    })
}

/// Tiles images into one, for display. images: [num_images, height, width, channels]; out: [rows * height,
/// columns * width, channels] to write, with rows and columns from rlcore_image_tile_shape: image i is in row i / columns,
/// column i % columns; empty tiles are zeros. Errors: as rlcore_image_channels_first; E_RANGE if num_images is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_image_tile(
    num_images: u32,
    size: *const rlcore_image_size,
    images: *const u8,
    out: *mut u8,
) -> rlcore_status {
    call(|| unsafe {
        let (size, extent) = self::size("image: size", size)?;
        let (len, num_images) = (size.len()?, num_images as usize);
        let (rows, columns) = image::tile_shape(num_images)?;
        let images = Input::at("tile: images", images, ptr::grid("tile: images", num_images, len)?)?;
        let out = Output::at("tile: out", out, ptr::grid("tile: out", rows.wrapping_mul(columns), len)?)?;
        let (out, images) = args_beside((out, images), &[extent])?;
        Ok(image::tile(num_images, size, images, out)?)
    })
}

/// Size of the text that rlcore_image_text writes, in bytes.
/// Errors: E_CONFIG unless channels is 1 or 3.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_image_text_size(size: *const rlcore_image_size, out_size: *mut usize) -> rlcore_status {
    call(|| unsafe {
        let (size, extent) = self::size("image: size", size)?;
        *extent.reading(One::at("image text: out_size", out_size)?)? = image::text_size(size)?;
        Ok(())
    })
}

/// Renders a gray or RGB image for a terminal: lines of Braille in UTF-8, one character for 2 columns of 4 rows, a dot where
/// a pixel differs from the top left one.
/// picture: [height, width, channels].
/// out:     [rlcore_image_text_size()] to write, not NUL-terminated.
/// Errors: as rlcore_image_text_size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_image_text(
    size: *const rlcore_image_size,
    picture: *const u8,
    out: *mut u8,
) -> rlcore_status {
    call(|| unsafe {
        let (size, extent) = self::size("image: size", size)?;
        let text_size = image::text_size(size)?;
        let picture = Input::at("image text: picture", picture, size.len()?)?;
        let out = Output::at("image text: out", out, text_size)?;
        let (out, picture) = args_beside((out, picture), &[extent])?;
        Ok(image::text(size, picture, out)?)
    })
}
