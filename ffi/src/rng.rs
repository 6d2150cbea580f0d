//! Random streams.

use crate::ptr::{Input, One, Output, Plain, args};
use crate::status::{About, Fault, Result, call, rlcore_status};
use rlcore::error::{Error, Kind};
use rlcore::rng::Rng;

/// A random stream: PCG64, seeded as in numpy. Plain data: copying it copies the stream.
/// Example:
///   rlcore_rng rng;
///   int64_t dice[5];
///   rlcore_rng_seed(&rng, 42);
///   rlcore_rng_integers(&rng, 1, 7, dice, 5);
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_rng {
    /// 128-bit position, low word first
    pub state: [u64; 2],
    /// 128-bit stream number, low word first
    pub stream: [u64; 2],
    /// upper half of a 64-bit draw that the next 32-bit draw uses
    pub half: u32,
    /// 1 while half waits to be used
    pub has_half: u32,
}

const _: () = assert!(size_of::<rlcore_rng>() == size_of::<Rng>() && align_of::<rlcore_rng>() == align_of::<Rng>());

/// The stream at `p`, to draw from. Errors: `Null`, `Align`; `Image` if it was never seeded.
pub unsafe fn stream<'a>(p: *mut rlcore_rng) -> Result<Output<'a, Rng>> {
    let rng = unsafe { Input::at("rng", p.cast_const().cast::<Rng>(), 1)? };
    if rng.slice().iter().all(Rng::is_valid) {
        unsafe { Output::at("rng", p.cast(), 1) }
    } else {
        Err(Fault::at("rng", Error::new(Kind::Image, "the stream was never seeded.")))
    }
}

/// A stream and room for numbers from it.
#[inline(never)]
unsafe fn drawing<'a, T: Plain>(rng: *mut rlcore_rng, out: *mut T, len: usize) -> Result<(&'a mut Rng, &'a mut [T])> {
    unsafe { args((stream(rng)?.only(), Output::at("rng: out", out, len)?)) }
}

/// Initializes the stream of numpy.random.Generator(PCG64(seed)). rng: [1] to write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_rng_seed(rng: *mut rlcore_rng, seed: u64) -> rlcore_status {
    call(|| unsafe {
        *args(One::at("rng", rng.cast::<Rng>())?)? = Rng::seeded(seed);
        Ok(())
    })
}

/// Initializes independent stream number `stream` of a seed: that of child `stream` of numpy's SeedSequence(seed).
/// rng: [1] to write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_rng_stream(rng: *mut rlcore_rng, seed: u64, stream: u64) -> rlcore_status {
    call(|| unsafe {
        *args(One::at("rng", rng.cast::<Rng>())?)? = Rng::stream(seed, stream);
        Ok(())
    })
}

/// Fills out[len] with uniform draws from [low, high), as numpy's uniform.
/// Errors, here and below: E_IMAGE for a stream that was never seeded. E_VALUE if low, high or high - low is not
/// finite.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_rng_uniform(
    rng: *mut rlcore_rng,
    low: f64,
    high: f64,
    out: *mut f64,
    len: usize,
) -> rlcore_status {
    call(|| unsafe {
        let (rng, out) = drawing(rng, out, len)?;
        let what = Error::new(Kind::Value, "finite bounds with a finite difference");
        what.fail_if(!(high - low).is_finite()).about("rng_uniform: low, high")?;
        out.fill_with(|| rng.uniform_in(low, high));
        Ok(())
    })
}

/// Fills out[len] with draws between low and high whose logarithms are uniform, for hyperparameters:
/// exp((1 - x) ln(low + 1e-12) + x ln(high + 1e-12)) with x uniform in [0, 1), or low if low equals high. Each takes one
/// uniform draw from rng.
/// Errors: E_VALUE if low or high is negative or not finite.
#[cfg(feature = "scale")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_rng_log_uniform(
    rng: *mut rlcore_rng,
    low: f64,
    high: f64,
    out: *mut f64,
    len: usize,
) -> rlcore_status {
    call(|| unsafe {
        let (rng, out) = drawing(rng, out, len)?;
        let fine = |x: f64| x >= 0.0 && x.is_finite();
        let what = Error::new(Kind::Value, "finite bounds of at least 0");
        what.fail_if(!fine(low) || !fine(high)).about("rng_log_uniform: low, high")?;
        out.fill_with(|| rng.log_uniform(low, high));
        Ok(())
    })
}

/// Fills out[len] with uniform draws from [low, high), as numpy's integers. E_RANGE if high <= low.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_rng_integers(
    rng: *mut rlcore_rng,
    low: i64,
    high: i64,
    out: *mut i64,
    len: usize,
) -> rlcore_status {
    call(|| unsafe {
        let (rng, out) = drawing(rng, out, len)?;
        Error::new(Kind::Range, "high above low").given_i64(high).fail_if(high <= low).about("rng_integers")?;
        out.fill_with(|| rng.integers(low, high));
        Ok(())
    })
}

/// Fills out[len] with standard normal draws by the Box-Muller method, which differs from numpy's: elements 2i and 2i+1
/// come from 64-bit draw i.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_rng_normal(rng: *mut rlcore_rng, out: *mut f32, len: usize) -> rlcore_status {
    call(|| unsafe {
        let (rng, out) = drawing(rng, out, len)?;
        rng.fill_normal(out);
        Ok(())
    })
}

/// Fills out[len] with a random permutation of 0 to len - 1, as numpy's permutation. E_RANGE if len exceeds 32 bits.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_rng_permutation(rng: *mut rlcore_rng, out: *mut u32, len: usize) -> rlcore_status {
    call(|| unsafe {
        let (rng, out) = drawing(rng, out, len)?;
        let what = Error::new(Kind::Range, "len of at most 4294967295").given(len);
        what.fail_if(out.len() > u32::MAX as usize).about("rng_permutation")?;
        rng.permutation(out);
        Ok(())
    })
}
