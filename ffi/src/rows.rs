//! Rows of columns: steps and frames that are copied, stacked and gathered.

use core::ffi::c_void;
use core::mem::offset_of;
use core::ptr::null;

use crate::ptr::{self, AnyInput, AnyOutput, Extent, Input, Output, Versioned, apart};
use crate::space;
use crate::status::{Fault, Result, call, rlcore_status};
use rlcore::data::minibatch;
use rlcore::data::monitor::Read;
use rlcore::data::rows::RowsOut;
use rlcore::data::table::{Column, MAX_COLUMNS};
use rlcore::error::{Error, Kind};
use rlcore::kernels::shift_rows;
use rlcore::space::{Elements, ElementsMut};

/// Room for rows that are copied: steps of N environments, or frames of a trajectory, of which N is 1. NULL leaves an array
/// out.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_rows_out {
    /// sizeof(rlcore_rows_out)
    pub struct_size: u32,
    /// most rows to copy
    pub num_rows: u32,
    /// [num_columns] arrays, [num_rows, N, len] of each column's kind
    pub columns: *const *mut c_void,
    /// [num_rows, N] what the action earned
    pub reward: *mut f32,
    /// [num_rows, N] V of the state that was acted on
    pub value: *mut f32,
    /// [num_rows, N] of the action; NULL for trajectories
    pub log_prob: *mut f32,
    /// [num_rows, N] V(final_obs) where truncated and not terminated, else 0; NULL for trajectories
    pub final_value: *mut f32,
    /// [num_rows, N]
    pub terminated: *mut u8,
    /// [num_rows, N]
    pub truncated: *mut u8,
    /// [num_rows, N, M] the policy's memory before the row
    pub memory: *mut f32,
}

// SAFETY: `repr(C)`, `struct_size` first, pointers that are checked before use.
unsafe impl Versioned for rlcore_rows_out {
    const WHAT: &'static str = "rows";
    const MIN_SIZE: usize = offset_of!(Self, memory) + size_of::<*mut c_void>();
}

/// Where an array of the rows that are held lies; NULL if some were added without it.
pub(crate) fn given(array: &[f32], num_rows: usize) -> *const f32 {
    if num_rows > 0 && array.is_empty() { null() } else { array.as_ptr() }
}

/// The caller's arrays of columns; those that are not given are left out.
pub(crate) struct ColumnInputs<'a> {
    list: Extent,
    inputs: [Option<AnyInput<'a>>; MAX_COLUMNS],
}

impl<'a> ColumnInputs<'a> {
    /// `[rows, len]` elements of each column at `[num_columns]` pointers. Errors: `Null`, `Align`, `Overflow`.
    ///
    /// # Safety
    /// As [`Input::at`] of the list and of what it points to.
    pub(crate) unsafe fn at(columns: &[Column], list: *const *const c_void, rows: usize) -> Result<Self> {
        let list = unsafe { Input::optional("columns", list, columns.len())? };
        let extent = list.as_ref().map_or(Extent::NONE, Input::extent);
        let mut inputs = [const { None }; MAX_COLUMNS];
        for ((input, p), column) in inputs.iter_mut().zip(list.map_or(&[][..], Input::slice)).zip(columns) {
            *input = unsafe { AnyInput::optional("a column", *p, column.element()?, rows, column.len as usize)? };
        }
        Ok(ColumnInputs { list: extent, inputs })
    }

    /// What is read.
    pub(crate) fn extents(&self) -> [Extent; MAX_COLUMNS + 1] {
        let mut extents = [self.list; MAX_COLUMNS + 1];
        for (extent, input) in extents.iter_mut().zip(&self.inputs) {
            *extent = input.as_ref().map_or(Extent::NONE, AnyInput::extent);
        }
        extents
    }

    /// The elements.
    pub(crate) fn elements(self) -> [Option<Elements<'a>>; MAX_COLUMNS] {
        self.inputs.map(|input| input.map(AnyInput::elements))
    }
}

/// Room for columns; those that are not given are left out.
pub(crate) struct ColumnOutputs<'a> {
    list: Extent,
    outputs: [Option<AnyOutput<'a>>; MAX_COLUMNS],
}

impl<'a> ColumnOutputs<'a> {
    /// As [`ColumnInputs::at`], to write.
    ///
    /// # Safety
    /// As [`Input::at`] of the list and [`Output::at`] of what it points to.
    pub(crate) unsafe fn at(columns: &[Column], list: *const *mut c_void, rows: usize) -> Result<Self> {
        let list = unsafe { Input::optional("columns", list, columns.len())? };
        let extent = list.as_ref().map_or(Extent::NONE, Input::extent);
        let mut outputs = [const { None }; MAX_COLUMNS];
        for ((output, p), column) in outputs.iter_mut().zip(list.map_or(&[][..], Input::slice)).zip(columns) {
            *output = unsafe { AnyOutput::optional("a column", *p, column.element()?, rows, column.len as usize)? };
        }
        Ok(ColumnOutputs { list: extent, outputs })
    }

    /// The list, which is only read.
    pub(crate) fn list(&self) -> Extent {
        self.list
    }

    /// What is written.
    pub(crate) fn extents(&self) -> [Extent; MAX_COLUMNS] {
        self.outputs.each_ref().map(|output| output.as_ref().map_or(Extent::NONE, AnyOutput::extent))
    }

    /// The room.
    pub(crate) fn elements(self) -> [Option<ElementsMut<'a>>; MAX_COLUMNS] {
        self.outputs.map(|output| output.map(AnyOutput::elements))
    }
}

/// The caller's room for rows, and where it goes on reading.
pub(crate) struct RowsRoom<'a> {
    num_rows: usize,
    columns: ColumnOutputs<'a>,
    numbers: [Option<Output<'a, f32>>; 5],
    flags: [Option<Output<'a, u8>>; 2],
    next: Output<'a, u64>,
    count: Output<'a, u32>,
    lost: Option<Output<'a, u64>>,
}

impl<'a> RowsRoom<'a> {
    /// Rows of `num_envs` environments with these columns; everything apart from the block.
    /// Errors: `Null`, `Align`, `Config`, `Overflow`, `Overlap`.
    ///
    /// # Safety
    /// As [`ptr::sized`] of `out`, as [`Output::at`] of what it points to and of the others.
    #[expect(clippy::too_many_arguments, reason = "those of the calls that read rows")]
    pub(crate) unsafe fn at(
        columns: &[Column],
        num_envs: usize,
        memory_len: usize,
        next: *mut u64,
        out: *const rlcore_rows_out,
        out_count: *mut u32,
        out_lost: *mut u64,
        block: Extent,
    ) -> Result<Self> {
        let r = unsafe { ptr::sized(out)? };
        let num_rows = r.num_rows as usize;
        let len = ptr::grid("rows", num_rows, num_envs)?;
        let memory = ptr::grid("rows: memory", len, memory_len)?;
        let room = unsafe {
            RowsRoom {
                num_rows,
                columns: ColumnOutputs::at(columns, r.columns, len)?,
                numbers: [
                    Output::optional("rows: reward", r.reward, len)?,
                    Output::optional("rows: value", r.value, len)?,
                    Output::optional("rows: log_prob", r.log_prob, len)?,
                    Output::optional("rows: final_value", r.final_value, len)?,
                    Output::optional("rows: memory", r.memory, memory)?,
                ],
                flags: [
                    Output::optional("rows: terminated", r.terminated, len)?,
                    Output::optional("rows: truncated", r.truncated, len)?,
                ],
                next: Output::at("next", next, 1)?,
                count: Output::at("out_count", out_count, 1)?,
                lost: Output::optional("out_lost", out_lost, 1)?,
            }
        };
        let mut outputs = [Extent::NONE; MAX_COLUMNS + 10];
        let numbers = room.numbers.iter().map(|x| x.as_ref().map_or(Extent::NONE, Output::extent));
        let flags = room.flags.iter().map(|x| x.as_ref().map_or(Extent::NONE, Output::extent));
        let lost = room.lost.as_ref().map_or(Extent::NONE, Output::extent);
        let rest = [room.next.extent(), room.count.extent(), lost];
        let all = room.columns.extents().into_iter().chain(numbers).chain(flags).chain(rest);
        for (to, from) in outputs.iter_mut().zip(all) {
            *to = from;
        }
        apart(&outputs, &[block, room.columns.list(), Extent::of("rows", out.cast(), r.struct_size as usize)])?;
        Ok(room)
    }

    /// Stores what `read` reads from a number on, and how far it came.
    pub(crate) fn read(
        self,
        num_columns: usize,
        read: impl FnOnce(u64, RowsOut<'_>) -> rlcore::error::Result<Read>,
    ) -> Result {
        let mut columns = self.columns.elements();
        let [reward, value, log_prob, final_value, memory] = self.numbers.map(|output| output.map(Output::slice));
        let [terminated, truncated] = self.flags.map(|output| output.map(Output::slice));
        let (num_rows, columns) = (self.num_rows, columns.get_mut(..num_columns).unwrap_or_default());
        let out = RowsOut { num_rows, columns, reward, value, log_prob, final_value, terminated, truncated, memory };
        let next = self.next.one();
        let done = read(*next, out)?;
        *next = done.next;
        *self.count.one() = done.count as u32;
        if let Some(lost) = self.lost {
            *lost.one() = done.lost;
        }
        Ok(())
    }
}

/// Most arrays that one call stacks.
const MAX_PARTS: usize = 64;

/// Puts arrays behind one another, such as those of several trajectories.
/// parts:    [num_parts] arrays, at most 64, of width elements a row of kind, an rlcore_element.
/// num_rows: [num_parts] rows of each.
/// out:      [num_out_rows, width] to write, num_out_rows being all rows together.
/// Errors: E_NULL; E_ALIGN; E_CONFIG for the kind; E_OVERFLOW; E_OVERLAP; E_RANGE for num_parts; E_SHAPE for
/// num_out_rows.
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
        if count > MAX_PARTS {
            let many = Error::new(Kind::Range, "at most").needed(MAX_PARTS).given(count);
            return Err(Fault::at("num_parts", many));
        }
        let (list, rows) = (Input::at("parts", parts, count)?, Input::at("num_rows", num_rows, count)?);
        let out = AnyOutput::at("out", out, kind, num_out_rows as usize, width)?;
        apart(&[out.extent()], &[list.extent(), rows.extent()])?;
        let mut elements = [Elements::U8(&[]); MAX_PARTS];
        for ((to, p), rows) in elements.iter_mut().zip(list.slice()).zip(rows.slice()) {
            let part = AnyInput::at("a part", *p, kind, *rows as usize, width)?;
            apart(&[out.extent()], &[part.extent()])?;
            *to = part.elements();
        }
        Ok(minibatch::stack_rows(elements.get(..count).unwrap_or(&[]), out.elements())?)
    })
}

/// Copies rows: row index[i] of x becomes row i of out. A negative index counts from the end, -1 is the last row.
/// x: [num_rows, width] of kind, an rlcore_element; index: [num_index]; out: [num_index, width] to write.
/// Errors: E_NULL; E_ALIGN; E_CONFIG for the kind; E_OVERFLOW; E_OVERLAP; E_SHAPE if width is 0; E_RANGE for a row that
/// is not there.
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
        apart(&[out.extent()], &[x.extent(), index.extent()])?;
        Ok(minibatch::gather_rows(x.elements(), width, index.slice(), out.elements())?)
    })
}

/// Says which rows of padded arrays are real: the first time_steps[i] of part i.
/// time_steps: [num_parts]; valid: [num_parts, size] to write, 1 or 0.
/// Errors: E_NULL; E_ALIGN; E_OVERFLOW; E_OVERLAP; E_RANGE for a part that is longer than size.
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
        apart(&[valid.extent()], &[time_steps.extent()])?;
        Ok(minibatch::valid_rows(time_steps.slice(), size, valid.slice())?)
    })
}

/// Rows of a series, each one step later than the one before: out[i][j] = x[j - i] where j >= i, else 0.
/// x: [len, width]; out: [len, len, width] to write.
/// Errors: E_NULL; E_ALIGN; E_OVERFLOW; E_OVERLAP.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlcore_shift_rows(x: *const f32, len: u32, width: u32, out: *mut f32) -> rlcore_status {
    call(|| unsafe {
        let (len, width) = (len as usize, width as usize);
        let row = ptr::grid("x", len, width)?;
        let x = Input::at("x", x, row)?;
        let out = Output::at("out", out, ptr::grid("out", len, row)?)?;
        apart(&[out.extent()], &[x.extent()])?;
        Ok(shift_rows::shift_rows(x.slice(), len, width, out.slice())?)
    })
}
