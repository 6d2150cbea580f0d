//! Random streams.

use crate::ptr::{Output, apart};
use crate::status::{Fault, Result, call, rlcore_status};
use rlcore::error::{Error, Kind};
use rlcore::rng::Rng;

/// A random stream: PCG64, numpy's generator, seeded as numpy seeds it. Plain data: copying it copies the stream.
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

/// The stream at `p`, and where it lies.
///
/// # Safety
/// As [`Output::at`].
pub unsafe fn stream<'a>(p: *mut rlcore_rng) -> Result<Output<'a, Rng>> {
    unsafe { Output::at("rng", p.cast(), 1) }
}

/// numpy.random.Generator(PCG64(seed)). Errors: E_NULL; E_ALIGN.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_rng_seed(rng: *mut rlcore_rng, seed: u64) -> rlcore_status {
    call(|| unsafe {
        *stream(rng)?.one() = Rng::seeded(seed);
        Ok(())
    })
}

/// Fills out[len] with draws from [low, high): numpy's uniform.
/// Errors: E_NULL; E_ALIGN; E_OVERFLOW; E_OVERLAP; E_VALUE if low, high or high - low is not finite.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_rng_uniform(
    rng: *mut rlcore_rng,
    low: f64,
    high: f64,
    out: *mut f64,
    len: usize,
) -> rlcore_status {
    call(|| unsafe {
        let (rng, out) = (stream(rng)?, Output::at("rng_uniform: out", out, len)?);
        apart(&[rng.extent(), out.extent()], &[])?;
        if !(high - low).is_finite() {
            return Err(Fault::at(
                "rng_uniform: low, high",
                Error::new(Kind::Value, "finite bounds a finite way apart"),
            ));
        }
        let rng = rng.one();
        for x in out.slice() {
            *x = rng.uniform_in(low, high);
        }
        Ok(())
    })
}
