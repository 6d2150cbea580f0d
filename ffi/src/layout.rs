//! Fields of observations: listing, splitting and joining them.

use core::ffi::c_void;

use crate::env::{CompiledEnv, rlcore_env};
use crate::ptr::{AnyInput, AnyOutput, Input, One, Output, Reads, args};
use crate::space::rlcore_field;
use crate::status::{About, call, rlcore_status};
use rlcore::env::wrap::MAX_FIELDS;
use rlcore::env::{Env, layout};
use rlcore::error::{Error, Kind};

/// Lists the fields of an environment's observations, wrappers included: one unnamed field if it declares none.
/// out:     [capacity], of which *out_len are written; NULL with a capacity of 0 only counts them.
/// Errors: E_CONFIG; E_SIZE if there are more than capacity.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_env_fields(
    env: *const rlcore_env,
    out: *mut rlcore_field,
    capacity: u32,
    out_len: *mut u32,
) -> rlcore_status {
    call(|| unsafe {
        let env = CompiledEnv::at(env)?;
        let out_len = One::at("out_len", out_len)?;
        let out = Output::unless_empty("out", out, capacity as usize)?;
        let (out_len, out) = env.extent().reading((out_len, out))?;
        let spec = env.spec();
        let whole = [layout::whole(&spec.obs)];
        let fields = layout::fields(&spec.obs, &whole);
        if let Some(out) = out {
            let short = Error::limit(Kind::Size, "at least {needed} fields", fields.len(), capacity as usize);
            short.fail_if(fields.len() > capacity as usize).about("out")?;
            for (to, from) in out.iter_mut().zip(fields) {
                *to = rlcore_field::of(from);
            }
        }
        *out_len = fields.len() as u32;
        Ok(())
    })
}

/// Splits observations: copies each field of num_rows rows to an array of its own.
/// obs:   [num_rows, obs.len], as rlcore_vecenv_step writes it.
/// parts: one array per field of rlcore_env_fields, [num_rows, dims...] of its kind; NULL skips one.
/// Errors: E_CONFIG.
#[cfg(feature = "wrappers")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_obs_split(
    env: *const rlcore_env,
    num_rows: u32,
    obs: *const c_void,
    parts: *const *mut c_void,
) -> rlcore_status {
    call(|| unsafe {
        let env = CompiledEnv::at(env)?;
        let spec = env.spec();
        let whole = [layout::whole(&spec.obs)];
        let fields = layout::fields(&spec.obs, &whole);
        let parts = Input::at("parts", parts, fields.len())?;
        let obs = AnyInput::at("obs", obs, spec.obs.kind, num_rows as usize, spec.obs.len as usize)?;
        let list = parts.extent();
        let mut arrays = [const { None }; MAX_FIELDS];
        for ((array, p), field) in arrays.iter_mut().zip(parts.slice()).zip(fields) {
            *array = AnyOutput::optional("parts", *p, field.kind, num_rows as usize, field.len().unwrap_or(0))?;
        }
        let (arrays, obs, ()) = args((arrays, obs, Reads([list, env.extent()])))?;
        for (array, field) in arrays.into_iter().zip(fields) {
            if let Some(array) = array {
                layout::split(field, spec.obs.size(), obs.bytes(), array.into_bytes())?;
            }
        }
        Ok(())
    })
}

/// Joins observations: the reverse of rlcore_obs_split. Bytes outside all fields, and of fields whose part is NULL, are
/// left unchanged.
/// Errors: as rlcore_obs_split.
#[cfg(feature = "wrappers")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_obs_join(
    env: *const rlcore_env,
    num_rows: u32,
    parts: *const *const c_void,
    obs: *mut c_void,
) -> rlcore_status {
    call(|| unsafe {
        let env = CompiledEnv::at(env)?;
        let spec = env.spec();
        let whole = [layout::whole(&spec.obs)];
        let fields = layout::fields(&spec.obs, &whole);
        let parts = Input::at("parts", parts, fields.len())?;
        let obs = AnyOutput::at("obs", obs, spec.obs.kind, num_rows as usize, spec.obs.len as usize)?;
        let list = parts.extent();
        let mut arrays = [const { None }; MAX_FIELDS];
        for ((array, p), field) in arrays.iter_mut().zip(parts.slice()).zip(fields) {
            *array = AnyInput::optional("parts", *p, field.kind, num_rows as usize, field.len().unwrap_or(0))?;
        }
        let (arrays, obs, ()) = args((arrays, obs, Reads([list, env.extent()])))?;
        let obs = obs.into_bytes();
        for (array, field) in arrays.into_iter().zip(fields) {
            if let Some(array) = array {
                layout::join(field, spec.obs.size(), array.bytes(), obs)?;
            }
        }
        Ok(())
    })
}

/// Writes the record before the very first step, for learners that start from one (RLCORE_WRAP_RECORD): all zeros except
/// real_done, which is 1. record: [obs.len] bytes to write.
/// Errors: E_CONFIG unless a record is the outermost wrapper of observations.
#[cfg(feature = "wrappers")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_record_initial(env: *const rlcore_env, record: *mut u8) -> rlcore_status {
    call(|| unsafe {
        let env = CompiledEnv::at(env)?;
        let bare = Error::new(Kind::Config, "initial record: a record as the outermost wrapper of observations");
        let pipeline = env.pipeline().ok_or(bare)?;
        let record = env.extent().reading(Output::at("record", record, env.spec().obs.size())?)?;
        Ok(pipeline.initial(record)?)
    })
}
