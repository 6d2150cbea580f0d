//! Columns and configuration of a table.

use bytemuck::{Pod, Zeroable};

use super::OVERFLOW;
use crate::block;
use crate::error::{Error, Kind, Result};
use crate::kernels::stack::MAX_STACK;
use crate::space::Element;

/// Most columns of a table.
pub const MAX_COLUMNS: usize = 16;

/// Bytes of a column's name, including the zeros after it.
pub const NAME_SIZE: usize = 24;

/// Description of one column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Column {
    /// Name: 1 to 23 ASCII characters, zeros after them.
    pub name: [u8; NAME_SIZE],
    /// Element kind, as the number of an [`Element`].
    pub kind: u32,
    /// Elements of one row, at least 1; with stacks, of one frame.
    pub len: u32,
    /// 0 or 1; for bytes also k up to [`MAX_STACK`]: a row keeps only the newest frame and is read as the stack of the k newest
    /// frames of its episode, the first one repeated if there are fewer.
    pub num_stack: u32,
    /// Bytes of a pixel, a divisor of `len`; 0 means 1. At most 1 for kinds other than bytes.
    pub channels: u32,
}

impl Column {
    /// A column of `len` elements per row. A name that is too long is truncated.
    pub const fn new(name: &str, kind: Element, len: u32) -> Self {
        let (bytes, mut padded, mut i) = (name.as_bytes(), [0; NAME_SIZE], 0);
        while i < NAME_SIZE - 1 && i < bytes.len() {
            padded[i] = bytes[i];
            i += 1;
        }
        Column { name: padded, kind: kind as u32, len, num_stack: 0, channels: 0 }
    }

    /// Frames of `len` bytes with `channels` bytes a pixel, read as stacks of `num_stack`.
    pub const fn frames(name: &str, len: u32, channels: u32, num_stack: u32) -> Self {
        Column { num_stack, channels, ..Column::new(name, Element::U8, len) }
    }

    /// The name.
    pub fn name(&self) -> &str {
        let len = self.name.iter().position(|&c| c == 0).unwrap_or(NAME_SIZE);
        core::str::from_utf8(self.name.get(..len).unwrap_or_default()).unwrap_or_default()
    }

    /// Element kind. Errors: `Config`.
    #[inline]
    pub fn element(&self) -> Result<Element> {
        Element::from_number(self.kind).ok_or(KIND.given(self.kind as usize))
    }

    /// Frames of a row as read, at least 1.
    #[inline]
    pub fn stack(&self) -> usize {
        self.num_stack.max(1) as usize
    }

    /// Elements of a row as read, a whole stack; fits the address space if [`TableConfig::check`] accepts the column.
    #[inline]
    pub fn read_len(&self) -> usize {
        (self.len as usize).saturating_mul(self.stack())
    }

    /// Bytes of a row as stored.
    #[inline]
    pub fn row_size(&self) -> usize {
        (self.len as usize).saturating_mul(if self.kind == Element::U8 as u32 { 1 } else { 4 })
    }

    fn check(&self) -> Result {
        let refuse = |what, given: u32| Error::new(Kind::Config, what).given(given as usize);
        let len = self.name.iter().position(|&c| c == 0).unwrap_or(0);
        let (name, zeros) = self.name.split_at_checked(len).unwrap_or_default();
        let what = "column: a name of 1 to 23 ASCII characters and zeros after them";
        Error::new(Kind::Config, what).fail_if(name.is_empty() || !name.is_ascii() || zeros.iter().any(|&c| c != 0))?;
        let kind = self.element()?;
        let what = "column: len of at least 1 that fits the address space";
        refuse(what, self.len).fail_if(self.len == 0 || self.read_len() > isize::MAX as usize / 4)?;
        refuse("column: num_stack up to 16", self.num_stack).fail_if(self.num_stack as usize > MAX_STACK)?;
        let what = "column: num_stack of 0 or 1 with elements other than bytes";
        refuse(what, self.num_stack).fail_if(kind != Element::U8 && self.stack() > 1)?;
        let what = "column: channels of 0 or 1 with elements other than bytes";
        refuse(what, self.channels).fail_if(kind != Element::U8 && self.channels > 1)?;
        let what = "column: channels that divide len";
        refuse(what, self.channels).fail_if(self.len.checked_rem(self.channels.max(1)) != Some(0))
    }
}

const KIND: Error = Error::new(Kind::Config, "column: kind of 0 (f32), 1 (i32) or 2 (u8)");

/// Configuration of a table, a part of its owner's configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct TableConfig {
    /// R, the number of rings, at least 1.
    pub num_rings: u32,
    /// Rows that each ring keeps, at least 1, and at least `num_stack` of every column.
    pub num_rows: u32,
    /// Columns, 1 to [`MAX_COLUMNS`].
    pub num_columns: u32,
    /// Zero.
    pub reserved: u32,
    /// The columns, with distinct names; all zero beyond `num_columns`.
    pub columns: [Column; MAX_COLUMNS],
}

impl TableConfig {
    /// A table of these columns; [`TableConfig::check`] refuses more than [`MAX_COLUMNS`].
    pub fn new(num_rings: u32, num_rows: u32, columns: &[Column]) -> Self {
        let mut all = [Column::zeroed(); MAX_COLUMNS];
        block::copy(&mut all, columns);
        TableConfig { num_rings, num_rows, num_columns: columns.len() as u32, reserved: 0, columns: all }
    }

    /// The columns.
    #[inline]
    pub fn columns(&self) -> &[Column] {
        self.columns.get(..self.num_columns as usize).unwrap_or(&self.columns)
    }

    /// One column. Errors: `Range`.
    #[inline]
    pub fn column(&self, column: usize) -> Result<&Column> {
        let columns = self.columns();
        columns.get(column).ok_or(Error::limit(Kind::Range, "table: a column below", columns.len(), column))
    }

    /// Number of the column of this name.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.columns().iter().position(|column| column.name() == name)
    }

    /// Longest stack of any column, at least 1.
    pub fn max_stack(&self) -> usize {
        self.columns().iter().fold(1, |most, column| most.max(column.stack()))
    }

    /// Rows of all rings.
    pub fn all_rows(&self) -> usize {
        (self.num_rings as usize).saturating_mul(self.num_rows as usize)
    }

    /// Bytes of a row in all columns, and of its age. Errors: `Overflow`.
    pub fn row_size(&self) -> Result<usize> {
        let size = self.columns().iter().try_fold(1usize, |size, column| size.checked_add(column.row_size()));
        size.ok_or(OVERFLOW)
    }

    /// Refuses bits beyond the columns. Errors: `Config`, with this message.
    pub(crate) fn check_bits(&self, what: &'static str, bits: u32) -> Result {
        Error::config(what, self.num_columns, bits).fail_if(bits.checked_shr(self.num_columns).unwrap_or(0) != 0)
    }

    /// Refuses columns with stacks. Errors: `Config`, with this message.
    pub(crate) fn check_plain(&self, what: &'static str) -> Result {
        let stack = self.columns().iter().map(|column| column.num_stack).find(|&num_stack| num_stack > 1);
        stack.map_or(Ok(()), |num_stack| Err(Error::config(what, 1, num_stack)))
    }

    /// Refuses an invalid configuration. Errors: `Config`.
    pub fn check(&self) -> Result {
        Error::config("table config: num_rings of at least", 1, 0).fail_if(self.num_rings == 0)?;
        Error::config("table config: num_columns from 1 to", MAX_COLUMNS as u32, self.num_columns)
            .fail_if(self.num_columns == 0 || self.num_columns as usize > MAX_COLUMNS)?;
        Error::config("table config: reserved of", 0, self.reserved).fail_if(self.reserved != 0)?;
        let columns = self.columns();
        for (i, column) in columns.iter().enumerate() {
            column.check()?;
            if columns.iter().take(i).any(|other| other.name == column.name) {
                return Err(Error::new(Kind::Config, "table config: names that differ; not so column").given(i));
            }
        }
        Error::new(Kind::Config, "table config: zeros beyond num_columns")
            .fail_if(self.columns.iter().skip(columns.len()).any(|column| *column != Column::zeroed()))?;
        let what = "table config: num_rows of at least 1 and any num_stack,";
        Error::config(what, self.max_stack() as u32, self.num_rows).fail_if((self.num_rows as usize) < self.max_stack())
    }
}
