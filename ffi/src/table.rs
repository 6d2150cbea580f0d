//! Columns of replay memories: what the objects share that keep a table.

use core::ffi::{c_char, c_void};

use crate::ptr::{self, AnyInput, AnyOutput, Extent, Input, Plain};
use crate::status::{Fault, Result};
use rlcore::data::table::{Column, MAX_COLUMNS, Spans, Table, TableConfig};
use rlcore::error::{Error, Kind};
use rlcore::space::{Element, Elements};

/// A column of a replay memory: something that every row has. Zeros beyond kind and len mean plain elements.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_column {
    /// 1 to 23 ASCII characters, zeros after them
    pub name: [c_char; 24],
    /// an rlcore_element
    pub kind: u32,
    /// elements of a row, at least 1; with stacks, those of one frame
    pub len: u32,
    /// 0 or 1; or k up to 16, with RLCORE_U8: rows keep one frame each and are read as the stack of the k newest frames of
    /// the episode, the first one repeated where there are fewer
    pub num_stack: u32,
    /// bytes of a pixel, a divisor of len; 0 is 1, and the only value without RLCORE_U8
    pub channels: u32,
}

// SAFETY: plain data.
unsafe impl Plain for rlcore_column {}

const _: () = assert!(size_of::<rlcore_column>() == size_of::<Column>());

impl rlcore_column {
    fn column(&self) -> Column {
        let rlcore_column { name, kind, len, num_stack, channels } = *self;
        Column { name: name.map(|c| c as u8), kind, len, num_stack, channels }
    }
}

/// The table that a configuration describes, not checked beyond its number of columns.
/// Errors: `Null`, `Align`; `Config` for that number.
///
/// # Safety
/// If `columns` is not NULL, `num_columns` of them are there, and nobody writes to them.
pub unsafe fn config(
    columns: *const rlcore_column,
    num_columns: u32,
    num_rings: u32,
    num_rows: u32,
) -> Result<TableConfig> {
    if num_columns == 0 || num_columns as usize > MAX_COLUMNS {
        let what = Error::new(Kind::Config, "from 1 to").needed(MAX_COLUMNS).given(num_columns as usize);
        return Err(Fault::at("num_columns", what));
    }
    let given = unsafe { Input::at("columns", columns, num_columns as usize)? };
    let mut config = TableConfig::new(num_rings, num_rows, &[]);
    config.num_columns = num_columns;
    for (to, column) in config.columns.iter_mut().zip(given.slice()) {
        *to = column.column();
    }
    Ok(config)
}

/// What failures call the values of a column.
const PLACES: [&str; MAX_COLUMNS] = [
    "values[0]",
    "values[1]",
    "values[2]",
    "values[3]",
    "values[4]",
    "values[5]",
    "values[6]",
    "values[7]",
    "values[8]",
    "values[9]",
    "values[10]",
    "values[11]",
    "values[12]",
    "values[13]",
    "values[14]",
    "values[15]",
];

/// Rows to push: elements of every column.
pub struct Values<'a> {
    list: Extent,
    inputs: [Option<AnyInput<'a>>; MAX_COLUMNS],
}

impl<'a> Values<'a> {
    /// Values of `rows` rows at `[num_columns]` pointers, `[rows, len]` elements of each column.
    /// Errors: `Null`, `Align`, `Overflow`.
    ///
    /// # Safety
    /// As [`Input::at`] of the list and of what it points to.
    pub unsafe fn at(config: &TableConfig, values: *const *const c_void, rows: usize) -> Result<Self> {
        let list = unsafe { Input::at("values", values, config.columns().len())? };
        let extent = list.extent();
        let mut inputs = [const { None }; MAX_COLUMNS];
        let places = inputs.iter_mut().zip(PLACES).zip(list.slice());
        for (((input, place), p), column) in places.zip(config.columns()) {
            *input = Some(unsafe { AnyInput::at(place, *p, column.element()?, rows, column.len as usize)? });
        }
        Ok(Values { list: extent, inputs })
    }

    /// The least that covers all bytes that are read, for those that must be apart from the block.
    pub fn extents(&self) -> [Extent; MAX_COLUMNS + 1] {
        let mut extents = [self.list; MAX_COLUMNS + 1];
        for (extent, input) in extents.iter_mut().zip(&self.inputs) {
            *extent = input.as_ref().map_or(Extent::NONE, AnyInput::extent);
        }
        extents
    }

    /// The elements, those of all rows together.
    pub fn rows(self) -> Rows<'a> {
        Rows { elements: self.inputs.map(|input| input.map_or(Elements::U8(&[]), AnyInput::elements)) }
    }
}

/// Rows to push, once it is known that they are apart from the block.
pub struct Rows<'a> {
    elements: [Elements<'a>; MAX_COLUMNS],
}

impl<'a> Rows<'a> {
    /// The elements of all rows; the first `num_columns` entries count.
    pub fn all(&self) -> &[Elements<'a>; MAX_COLUMNS] {
        &self.elements
    }

    /// Row `i`; the first `num_columns` entries count.
    pub fn row(&self, config: &TableConfig, i: usize) -> [Elements<'a>; MAX_COLUMNS] {
        let mut row = [Elements::U8(&[]); MAX_COLUMNS];
        for ((to, from), column) in row.iter_mut().zip(&self.elements).zip(config.columns()) {
            let begin = i.saturating_mul(column.len as usize);
            *to = from.get(begin, begin.saturating_add(column.len as usize)).unwrap_or(Elements::U8(&[]));
        }
        row
    }
}

/// Room for `rows` rows of a column as they are read, of the column's kind or of `kind`, an `rlcore_element`.
/// Errors: `Null`, `Align`, `Overflow`; `Range` for the column or the kind.
///
/// # Safety
/// As [`AnyOutput::at`].
pub unsafe fn room<'a>(
    config: &TableConfig,
    column: u32,
    kind: u32,
    rows: usize,
    out: *mut c_void,
) -> Result<AnyOutput<'a>> {
    let column = config.column(column as usize)?;
    let own = column.element()?;
    let kind = match Element::from_number(kind) {
        Some(kind) if kind == own || (own == Element::U8 && kind == Element::F32) => kind,
        _ => {
            let what = Error::new(Kind::Range, "that of the column, or 0 (f32) for bytes").given(kind as usize);
            return Err(Fault::at("kind", what));
        }
    };
    unsafe { AnyOutput::at("out", out, kind, rows, column.read_len()) }
}

/// Rings `[begin, end)` of the table in the block at `base`: nothing else of it is touched. The caller has checked them.
///
/// # Safety
/// As [`ptr::field_mut`].
pub unsafe fn rings<'a>(base: *mut u8, config: &'a TableConfig, spans: &Spans, begin: usize, end: usize) -> Table<'a> {
    let (len, num_rows) = (end.saturating_sub(begin), config.num_rows as usize);
    let (first, rows) = (begin.saturating_mul(num_rows), len.saturating_mul(num_rows));
    let mut columns: [&mut [u8]; MAX_COLUMNS] = Default::default();
    for ((to, &span), column) in columns.iter_mut().zip(&spans.columns).zip(config.columns()) {
        let size = column.row_size();
        *to = unsafe { ptr::field_mut(base, span, first.saturating_mul(size), rows.saturating_mul(size)) };
    }
    unsafe {
        Table {
            config,
            first: begin,
            pushed: ptr::field_mut(base, spans.pushed, begin, len),
            writing: ptr::field_mut(base, spans.writing, begin, len),
            age: ptr::field_mut(base, spans.age, first, rows),
            columns,
        }
    }
}
