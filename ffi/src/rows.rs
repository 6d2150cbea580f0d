//! Rows of columns: steps and frames that are copied, stacked and gathered.

use core::ffi::c_void;
use core::ptr::null;

use crate::cursor::{Cursor, advance};
use crate::mirror::versioned;
use crate::ptr::{self, AnyInput, AnyOutput, Extent, Input, Output, Reads, args};
use crate::space;
use crate::status::{About, Result, call, rlcore_status};
use crate::table;
use rlcore::data::minibatch;
use rlcore::data::monitor::Read;
use rlcore::data::rows::RowsOut;
use rlcore::data::table::Column;
use rlcore::error::{self, Error, Kind};
use rlcore::kernels::{finite, shift_rows};
use rlcore::space::Elements;

/// Output arrays for copied rows: steps of N environments, or frames of a trajectory, with N = 1. NULL skips an array.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_rows_out {
    /// sizeof(rlcore_rows_out)
    pub struct_size: u32,
    /// maximum number of rows to copy
    pub num_rows: u32,
    /// [num_columns] arrays, [num_rows, N, len] of each column's kind
    pub columns: *const *mut c_void,
    /// [num_rows, N] reward of the action
    pub reward: *mut f32,
    /// [num_rows, N] V(obs) when the action was chosen
    pub value: *mut f32,
    /// [num_rows, N] of the action; NULL for trajectories
    pub log_prob: *mut f32,
    /// [num_rows, N] V(final_obs) where truncated and not terminated, else 0; NULL for trajectories
    pub final_value: *mut f32,
    /// [num_rows, N]
    pub terminated: *mut u8,
    /// [num_rows, N]
    pub truncated: *mut u8,
    /// [num_rows, N, M] the policy's recurrent state before the row
    pub memory: *mut f32,
}

versioned!(rlcore_rows_out, "rows", memory);

/// Pointer to an array of the rows held; NULL if some were added without it.
pub(crate) fn given(array: &[f32], num_rows: usize) -> *const f32 {
    if num_rows > 0 && array.is_empty() { null() } else { array.as_ptr() }
}

/// Reads rows of `num_envs` environments with these columns and `memory_len` floats of recurrent state into the caller's
/// arrays, which overlap neither each other nor the block.
/// Errors: `Null`, `Align`, `Config`, `Overflow`, `Overlap`; those of `read`.
///
/// # Safety
/// As [`ptr::sized`] of `out` and as [`Output::at`] of the arrays that it points to.
pub(crate) unsafe fn read(
    block: Extent,
    columns: &[Column],
    [num_envs, memory_len]: [usize; 2],
    cursor: Cursor<'_>,
    out: *const rlcore_rows_out,
    read: impl FnOnce(u64, RowsOut<'_>) -> error::Result<Read>,
) -> Result {
    let r = unsafe { ptr::sized(out)? };
    let num_rows = r.num_rows as usize;
    let len = ptr::grid("rows", num_rows, num_envs)?;
    let memory = ptr::grid("rows: memory", len, memory_len)?;
    let (arrays, numbers, flags) = unsafe {
        (
            table::outputs(columns, r.columns, len)?,
            [
                Output::optional("rows: reward", r.reward, len)?,
                Output::optional("rows: value", r.value, len)?,
                Output::optional("rows: log_prob", r.log_prob, len)?,
                Output::optional("rows: final_value", r.final_value, len)?,
                Output::optional("rows: memory", r.memory, memory)?,
            ],
            [
                Output::optional("rows: terminated", r.terminated, len)?,
                Output::optional("rows: truncated", r.truncated, len)?,
            ],
        )
    };
    let read_too = Reads([block, Extent::of("rows", out.cast(), r.struct_size as usize)]);
    let (mut arrays, numbers, flags, cursor, ()) = args((arrays, numbers, flags, cursor, read_too))?;
    let ([reward, value, log_prob, final_value, memory], [terminated, truncated]) = (numbers, flags);
    let columns = arrays.get_mut(..columns.len()).unwrap_or_default();
    let out = RowsOut { num_rows, columns, reward, value, log_prob, final_value, terminated, truncated, memory };
    advance(cursor, |next| read(next, out))
}

/// Maximum number of arrays that one call stacks.
const MAX_PARTS: usize = 64;

/// Concatenates arrays, such as those of several trajectories.
/// parts:    [num_parts] arrays, at most 64, with `width` elements per row of kind, an rlcore_element.
/// num_rows: [num_parts] rows of each.
/// out:      [num_out_rows, width] to write; num_out_rows must be the sum of num_rows.
/// Errors: E_CONFIG for the kind; E_RANGE for num_parts; E_SHAPE for num_out_rows.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_rows_stack(
    parts: *const *const c_void,
    num_rows: *const u32,
    num_parts: u32,
    width: u32,
    kind: u32,
    out: *mut c_void,
    num_out_rows: u32,
) -> rlcore_status {
    call(|| unsafe {
        let (kind, count, width) = (space::element("rows", kind)?, num_parts as usize, width as usize);
        Error::limit(Kind::Range, "at most", MAX_PARTS, count).fail_if(count > MAX_PARTS).about("num_parts")?;
        let (list, rows) = (Input::at("parts", parts, count)?, Input::at("num_rows", num_rows, count)?);
        let out = AnyOutput::at("out", out, kind, num_out_rows as usize, width)?;
        let (list, rows) = out.extent().writing((list, rows))?;
        let mut elements = [Elements::U8(&[]); MAX_PARTS];
        for ((to, p), rows) in elements.iter_mut().zip(list).zip(rows) {
            let part = AnyInput::at("a part", *p, kind, *rows as usize, width)?;
            *to = out.extent().writing(part)?;
        }
        Ok(minibatch::stack_rows(elements.get(..count).unwrap_or(&[]), out.elements())?)
    })
}

/// Copies rows: row index[i] of x becomes row i of out. A negative index counts from the end; -1 is the last row.
/// x: [num_rows, width] of kind, an rlcore_element; index: [num_index]; out: [num_index, width] to write.
/// Errors: E_CONFIG for the kind; E_SHAPE if width is 0; E_RANGE for an index out of range.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_rows_gather(
    x: *const c_void,
    num_rows: u32,
    width: u32,
    kind: u32,
    index: *const i64,
    num_index: u32,
    out: *mut c_void,
) -> rlcore_status {
    call(|| unsafe {
        let (kind, width) = (space::element("rows", kind)?, width as usize);
        let x = AnyInput::at("x", x, kind, num_rows as usize, width)?;
        let index = Input::at("index", index, num_index as usize)?;
        let out = AnyOutput::at("out", out, kind, num_index as usize, width)?;
        let (x, index, out) = args((x, index, out))?;
        Ok(minibatch::gather_rows(x, width, index, out)?)
    })
}

/// Marks the valid rows of padded arrays: the first time_steps[i] of part i.
/// time_steps: [num_parts]; valid: [num_parts, size] to write, 1 or 0.
/// Errors: E_RANGE for a part that is longer than size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_rows_valid(
    time_steps: *const u32,
    num_parts: u32,
    size: u32,
    valid: *mut u8,
) -> rlcore_status {
    call(|| unsafe {
        let (count, size) = (num_parts as usize, size as usize);
        let time_steps = Input::at("time_steps", time_steps, count)?;
        let valid = Output::at("valid", valid, ptr::grid("valid", count, size)?)?;
        let (time_steps, valid) = args((time_steps, valid))?;
        Ok(minibatch::valid_rows(time_steps, size, valid)?)
    })
}

/// Finds the rows whose numbers are not all finite, such as the simulations of a large scene that have to be reset before
/// their observations go to a call that refuses them with E_VALUE.
/// kind: an rlcore_element; numbers of RLCORE_I32 and RLCORE_U8 are always finite. RLCORE_STRUCT: pass its RLCORE_F32 parts.
/// x: [num_rows, len] of that kind; ok: [num_rows] to write, 1 where all numbers are finite, else 0.
/// out_num_bad: [1] rows of which ok is 0.
/// Errors: E_CONFIG for another kind.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_finite_rows(
    kind: u32,
    x: *const c_void,
    num_rows: u32,
    len: u32,
    ok: *mut u8,
    out_num_bad: *mut u32,
) -> rlcore_status {
    call(|| unsafe {
        let (kind, num_rows, len) = (space::element("rows", kind)?, num_rows as usize, len as usize);
        let x = AnyInput::at("x", x, kind, num_rows, len)?;
        let ok = Output::at("ok", ok, num_rows)?;
        let num_bad = Output::at("out_num_bad", out_num_bad, 1)?.only();
        let (x, ok, num_bad) = args((x, ok, num_bad))?;
        *num_bad = finite::finite_rows(x, len, ok)? as u32;
        Ok(())
    })
}

/// Shifted copies of a series: out[i][j] = x[j - i] where j >= i, else 0.
/// x: [len, width]; out: [len, len, width] to write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_shift_rows(x: *const f32, len: u32, width: u32, out: *mut f32) -> rlcore_status {
    call(|| unsafe {
        let (len, width) = (len as usize, width as usize);
        let row = ptr::grid("x", len, width)?;
        let x = Input::at("x", x, row)?;
        let out = Output::at("out", out, ptr::grid("out", len, row)?)?;
        let (x, out) = args((x, out))?;
        Ok(shift_rows::shift_rows(x, len, width, out)?)
    })
}
