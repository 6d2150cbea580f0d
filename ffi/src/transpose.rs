//! Transposition of arrays.

use core::ffi::c_void;

use crate::ptr::{self, AnyInput, AnyOutput, args};
use crate::space;
use crate::status::{call, rlcore_status};
use rlcore::kernels::transpose;

/// Swaps the first two dimensions of an array, e.g. from [N, T, ...] to [T, N, ...]: out[c][r] = x[r][c].
/// kind: an rlcore_element; len: elements that stay together; x: [rows, columns, len]; out: [columns, rows, len].
/// Errors: E_CONFIG for another kind; E_SHAPE if a count is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_transpose(
    kind: u32,
    rows: u32,
    columns: u32,
    len: u32,
    x: *const c_void,
    out: *mut c_void,
) -> rlcore_status {
    call(|| unsafe {
        let kind = space::element("transpose", kind)?;
        let (rows, columns, len) = (rows as usize, columns as usize, len as usize);
        let cells = ptr::grid("transpose", rows, columns)?;
        let x = AnyInput::at("transpose: x", x, kind, cells, len)?;
        let out = AnyOutput::at("transpose: out", out, kind, cells, len)?;
        let (x, out) = args((x, out))?;
        Ok(transpose::transpose(rows, columns, len, x, out)?)
    })
}
