//! Which instructions are used.

use crate::status::{Fault, call, rlcore_status};
use rlcore::cpu::{LEVELS, set_limit};
use rlcore::error::{Error, Kind};

/// Instruction sets, each holding the ones before it. The best that the processor has is used by itself.
#[derive(Clone, Copy)]
#[repr(C)]
pub enum rlcore_cpu_level {
    /// what the library was compiled for
    RLCORE_CPU_BASE = 0,
    /// x86-64 with AVX2 and FMA
    RLCORE_CPU_AVX2 = 1,
    /// x86-64 with AVX-512 F, BW, DQ and VL, and FMA
    RLCORE_CPU_AVX512 = 2,
}

/// Uses no level above an rlcore_cpu_level from now on, in the whole process: for tests and measurements. Results never
/// change, only speed. Errors: E_RANGE.
#[unsafe(no_mangle)]
pub extern "C" fn rlcore_cpu_set_limit(level: u32) -> rlcore_status {
    call(|| {
        let known = LEVELS.into_iter().find(|&known| known as u32 == level);
        let unknown = Error::new(Kind::Range, "an rlcore_cpu_level").given(level as usize);
        set_limit(known.ok_or_else(|| Fault::at("cpu_set_limit: level", unknown))?);
        Ok(())
    })
}
