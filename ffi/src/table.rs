//! Columns of tables, common to all objects that store rows.

use core::ffi::{c_char, c_void};
use core::mem::MaybeUninit;

use crate::ptr::{self, AnyInput, AnyOutput, Args, Array, BoundingRange, Extent, Input, List, Plain};
use crate::status::{About, Fault, Result, places};
use rlcore::data::table::{Column, MAX_COLUMNS, Spans, Table, TableConfig};
use rlcore::error::{Error, Kind};
use rlcore::space::{Element, Elements};

/// A column of a store: a named array per row. Zeros beyond kind and len mean plain elements.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct rlcore_column {
    /// 1 to 23 ASCII characters, zero-padded
    pub name: [c_char; 24],
    /// an rlcore_element
    pub kind: u32,
    /// elements of a row, at least 1; with stacks, those of one frame
    pub len: u32,
    /// 0 or 1: none; or k up to 16, with RLCORE_U8: each row stores one frame and is read as the stack of the k newest frames
    /// of its episode, repeating the first one if there are fewer
    pub num_stack: u32,
    /// bytes per pixel, must divide len; 0: 1; must be 0 or 1 unless RLCORE_U8
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
    let what = Error::limit(Kind::Config, "from 1 to", MAX_COLUMNS, num_columns as usize);
    what.fail_if(num_columns == 0 || num_columns as usize > MAX_COLUMNS).about("num_columns")?;
    let given = unsafe { Input::at("columns", columns, num_columns as usize)? };
    let mut config = TableConfig::new(num_rings, num_rows, &[]);
    config.num_columns = num_columns;
    for (to, column) in config.columns.iter_mut().zip(given.slice()) {
        *to = column.column();
    }
    Ok(config)
}

/// Names of the values of a column in error messages.
static PLACES: [&str; MAX_COLUMNS] = places!("values" 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);

/// An array for each column that is not omitted, and the extent of the caller's list of pointers.
pub struct Columns<A> {
    list: Extent,
    arrays: [Option<A>; MAX_COLUMNS],
}

impl<A: Array> Columns<A> {
    /// The arrays that `array` makes from a list of pointers; its arguments are the number of a column, its pointer, kind and
    /// `len`. Errors: those of `array`.
    fn of<P: Plain>(
        list: Option<Input<'_, P>>,
        columns: &[Column],
        mut array: impl FnMut(usize, P, Element, usize) -> Result<Option<A>>,
    ) -> Result<Self> {
        let extent = list.as_ref().map_or(Extent::NONE, Input::extent);
        let mut arrays = [const { None }; MAX_COLUMNS];
        let pointers = list.map_or(&[][..], Input::slice);
        for (i, ((to, p), column)) in arrays.iter_mut().zip(pointers).zip(columns).enumerate() {
            *to = array(i, *p, column.element()?, column.len as usize)?;
        }
        Ok(Columns { list: extent, arrays })
    }
}

impl<A: Array> Args for Columns<A> {
    type Slices = [Option<A::Slice>; MAX_COLUMNS];
    const MOST: usize = MAX_COLUMNS + 1;
    const READ_ONLY: bool = !A::WRITTEN;

    fn list(&self, list: &mut List<'_>) {
        list.add(self.list, false);
        self.arrays.iter().flatten().for_each(|array| list.add(array.extent(), A::WRITTEN));
    }

    fn slices(self) -> Self::Slices {
        self.arrays.map(|array| array.map(A::slice))
    }
}

/// Input arrays of all columns: `[rows, len]` elements at each of `[num_columns]` pointers. The caller's list is not copied, so
/// that adding a row costs only as much as the columns in use.
pub struct Values<'a> {
    columns: &'a [Column],
    list: &'a [*const c_void],
    rows: usize,
}

/// Errors: `Null`, `Align`, `Overflow`.
#[inline]
pub unsafe fn values<'a>(columns: &'a [Column], list: *const *const c_void, rows: usize) -> Result<Values<'a>> {
    let list = unsafe { Input::at("values", list, columns.len())? }.slice();
    for ((p, column), place) in list.iter().zip(columns).zip(&PLACES) {
        unsafe { AnyInput::at(place, *p, column.element()?, rows, column.len as usize)? };
    }
    Ok(Values { columns, list, rows })
}

impl Values<'_> {
    /// True if all arrays and the list lie outside this range.
    #[inline(always)]
    pub fn are_clear_of(&self, range: &BoundingRange) -> bool {
        let mut arrays = self.list.iter().zip(self.columns);
        range.is_clear_of(self.list.as_ptr(), size_of_val(self.list))
            && arrays.all(|(p, column)| range.is_clear_of(*p, self.rows.saturating_mul(column.row_size())))
    }
}

impl<'a> Args for Values<'a> {
    type Slices = Rows<'a>;
    const MOST: usize = MAX_COLUMNS + 1;
    const READ_ONLY: bool = true;

    #[inline]
    fn list(&self, list: &mut List<'_>) {
        list.add(Extent::of("values", self.list.as_ptr().cast(), size_of_val(self.list)), false);
        for (p, column) in self.list.iter().zip(self.columns) {
            list.add(Extent::of("values", p.cast(), self.rows.saturating_mul(column.row_size())), false);
        }
    }

    #[inline]
    fn slices(self) -> Rows<'a> {
        Rows(self)
    }
}

/// The elements of all rows, column by column; they overlap no array that the call writes.
pub struct Rows<'a>(Values<'a>);

/// ColumnStorage for the elements of some rows.
pub struct ColumnStorage<'a>([MaybeUninit<Elements<'a>>; MAX_COLUMNS]);

impl ColumnStorage<'_> {
    /// Nothing yet.
    #[inline(always)]
    pub const fn empty() -> Self {
        ColumnStorage([const { MaybeUninit::uninit() }; MAX_COLUMNS])
    }
}

impl<'a> Rows<'a> {
    /// All rows.
    pub fn all<'r>(&self, room: &'r mut ColumnStorage<'a>) -> &'r [Elements<'a>] {
        self.part(0, self.0.rows, room)
    }

    /// Row `i`, which must exist.
    pub fn row<'r>(&self, i: usize, room: &'r mut ColumnStorage<'a>) -> &'r [Elements<'a>] {
        self.part(i, 1, room)
    }

    /// Row `i`; entries beyond the last column are empty.
    pub fn padded(&self, i: usize) -> [Elements<'a>; MAX_COLUMNS] {
        let mut row = [Elements::U8(&[]); MAX_COLUMNS];
        row.iter_mut().zip(self.elements(i, 1)).for_each(|(to, elements)| *to = elements);
        row
    }

    #[inline]
    fn part<'r>(&self, begin: usize, rows: usize, room: &'r mut ColumnStorage<'a>) -> &'r [Elements<'a>] {
        let mut len = 0usize;
        for (to, elements) in room.0.iter_mut().zip(self.elements(begin, rows)) {
            to.write(elements);
            len = len.wrapping_add(1);
        }
        // SAFETY: the first `len` were written just now.
        unsafe { ptr::filled(&room.0, len) }
    }

    /// Rows `[begin, begin + rows)` of each column, cut to the rows that exist.
    #[inline]
    fn elements(&self, begin: usize, rows: usize) -> impl Iterator<Item = Elements<'a>> {
        let Values { columns, list, rows: all } = self.0;
        let begin = begin.min(all);
        let rows = rows.min(all.wrapping_sub(begin));
        list.iter().zip(columns).map(move |(p, column)| {
            let p = p.wrapping_byte_add(begin.wrapping_mul(column.row_size()));
            let kind = column.element().unwrap_or(Element::U8);
            // SAFETY: within the arrays that `values` has checked; they overlap no output.
            unsafe { AnyInput::known(p, kind, rows.wrapping_mul(column.len as usize)) }.elements()
        })
    }
}

/// As [`values`], for the columns that `wanted` selects; nothing for NULL.
pub unsafe fn final_values<'a>(
    columns: &[Column],
    list: *const *const c_void,
    rows: usize,
    wanted: impl Fn(usize) -> bool,
) -> Result<Option<Columns<AnyInput<'a>>>> {
    let Some(list) = (unsafe { Input::optional("final_values", list, columns.len())? }) else { return Ok(None) };
    let array = |i, p, kind, len| match wanted(i) {
        true => unsafe { AnyInput::at("final_values of an observation", p, kind, rows, len) }.map(Some),
        false => Ok(None),
    };
    Columns::of(Some(list), columns, array).map(Some)
}

/// As [`values`], for the columns that are not NULL.
pub unsafe fn inputs<'a>(columns: &[Column], list: *const *const c_void, rows: usize) -> Result<Columns<AnyInput<'a>>> {
    let list = unsafe { Input::optional("columns", list, columns.len())? };
    Columns::of(list, columns, |_, p, kind, len| unsafe { AnyInput::optional("a column", p, kind, rows, len) })
}

/// As [`inputs`], to be written.
pub unsafe fn outputs<'a>(columns: &[Column], list: *const *mut c_void, rows: usize) -> Result<Columns<AnyOutput<'a>>> {
    let list = unsafe { Input::optional("columns", list, columns.len())? };
    Columns::of(list, columns, |_, p, kind, len| unsafe { AnyOutput::optional("a column", p, kind, rows, len) })
}

/// The elements of all rows of the columns that are not omitted.
pub type Tails<'a> = [Option<Elements<'a>>; MAX_COLUMNS];

/// ColumnStorage for `rows` rows of a column as they are read, of `kind`, an `rlcore_element`: the column's, or f32 for bytes.
/// Errors: `Null`, `Align`, `Overflow`; `Range` for the column or the kind.
pub unsafe fn room<'a>(
    what: &'static str,
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
            let known = if own == Element::U8 { "0 (f32) or 2 (u8)" } else { "that of the column" };
            return Err(Fault::at("kind", Error::new(Kind::Range, known).given(kind as usize)));
        }
    };
    unsafe { AnyOutput::at(what, out, kind, rows, column.read_len()) }
}

/// Rings `[begin, end)` of the table in the block at `base`; no other ring is touched. The caller has checked the range.
///
/// # Safety
/// As [`ptr::field_mut`].
#[inline(always)]
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
