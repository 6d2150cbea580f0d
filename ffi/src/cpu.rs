//! Limit of the CPU instructions in use.

use crate::status::{About, call, rlcore_status};
use rlcore::cpu::{LEVELS, set_limit};
use rlcore::error::{Error, Kind};

/// CPU levels, each including those before it. The library selects the highest level that the processor supports.
#[derive(Clone, Copy)]
#[repr(C)]
pub enum rlcore_cpu_level {
    /// the instructions that the library was compiled for
    RLCORE_CPU_BASE = 0,
    /// x86-64 with AVX2 and FMA
    RLCORE_CPU_AVX2 = 1,
    /// x86-64 with AVX-512 F, BW, DQ and VL, and FMA
    RLCORE_CPU_AVX512 = 2,
}

/// Limits the whole process to `level`, an rlcore_cpu_level, and those below it: for tests and measurements. Affects speed
/// only, never results. Errors: E_RANGE.
#[unsafe(no_mangle)]
pub extern "C" fn rlcore_cpu_set_limit(level: u32) -> rlcore_status {
    call(|| {
        let known = LEVELS.into_iter().find(|&known| known as u32 == level);
        let unknown = Error::new(Kind::Range, "an rlcore_cpu_level").given(level as usize);
        set_limit(known.ok_or(unknown).about("cpu_set_limit: level")?);
        Ok(())
    })
}
