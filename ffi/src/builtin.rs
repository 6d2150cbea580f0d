//! Built-in environments, compiled by the same code as those that C supplies.

use core::ffi::c_void;

use crate::env::{builtin, compile, rlcore_env, rlcore_env_def};
use crate::status::{call, rlcore_status};
use rlcore::error::{Error, Kind};

// The enumeration of all rows of the core's table of environments; tests/common/env_table.rs hands it to cbindgen.
macro_rules! ids {
    ($(
        $(#[doc = $kind_is:literal])+
        $kind:ident($type:ty): |$env:pat_param| $spec:expr, {
            $(#[doc = $sentence:literal] $id:ident = $number:literal, $name:literal: $value:expr;)+
        }
    )+) => {
        /// Built-in environments. Each probe has one observation element and exposes one kind of bug in a learner. V(o) is the
        /// optimal value of observation o, d the discount:
        ///   1  observes 0; 1 action; one step, reward 1: V = 1.
        ///   2  observes 1 or -1; 1 action; one step, the reward is the observation: V(o) = o.
        ///   3  observes 0, then 1; 1 action; two steps, the second has reward 1: V(0) = d, V(1) = 1.
        ///   4  observes 0; 2 actions; one step, reward 1 for action 1, -1 for action 0: V = 1.
        ///   5  observes 0 or 1; 2 actions; one step, reward 1 if the action equals the observation, else -1: V = 1.
        ///   6  observes the step count; 2 actions; ten steps, the last has reward 1 for any action: V(o) = d^(9-o).
        ///   6 odd even  observes the step count; 2 actions; ten steps, each has reward 1 if its action equals the observation
        ///      modulo 2: V(o) = 1 + d + ... + d^(9-o).
        ///   7  observes 0 or 1, then 0; 5 actions; four steps, the last has reward 1 if its action equals the first observation:
        ///      V = d^3 at first, half of that without memory.
        ///   truncation  observes 1, then 0; 1 action; every step but the first has reward 1, the fifth is truncated:
        ///      V(0) = 1 / (1 - d) and V(1) = d V(0) if truncated steps bootstrap from final_obs.
        ///   memory  observes 1 or -1, then 0; 2 actions; nine steps, the last has the first observation as its reward for action
        ///      1, its negative for action 0: V = d^8 at first, 0 without memory.
        #[derive(Clone, Copy)]
        #[repr(C)]
        pub enum rlcore_env_id {
            $($(#[doc = $sentence] $id = $number,)+)+
        }
    };
}

rlcore::env_table!(ids);

/// Compiles a built-in environment as it is. With wrappers or with functions of the host's, one is compiled by
/// rlcore_env_init.
/// mem:    as of rlcore_env_init; 1024 bytes are enough.
/// env_id: an rlcore_env_id.
/// Errors: E_SIZE if mem_size is too small; E_RANGE for another env_id.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_env_builtin(
    mem: *mut c_void,
    mem_size: usize,
    env_id: u32,
    out: *mut *mut rlcore_env,
) -> rlcore_status {
    call(|| unsafe {
        let unknown = Error::new(Kind::Range, "env_builtin: an rlcore_env_id").given(env_id as usize);
        unknown.fail_if(builtin(env_id).is_none())?;
        compile(mem, mem_size, &rlcore_env_def::own(env_id), out)
    })
}
