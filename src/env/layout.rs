//! Observations with several fields: splitting rows of bytes into one array per field, and joining them again.

use crate::error::{Error, Kind, Result};
use crate::space::{Field, Space};

/// The single unnamed field of a space without fields.
pub const fn whole(space: &Space<'_>) -> Field<'static> {
    Field::new("", space.kind, &[space.len], 0)
}

/// The fields of a space, or `whole` if it has none.
pub fn fields<'f>(space: &Space<'f>, whole: &'f [Field<'f>]) -> &'f [Field<'f>] {
    if space.fields.is_empty() { whole } else { space.fields }
}

/// Copies one field of every row: `rows` is `[N, row_size]` bytes, `part` `[N, field]` bytes. Errors: `Shape`.
pub fn split(field: &Field<'_>, row_size: usize, rows: &[u8], part: &mut [u8]) -> Result {
    let (begin, size) = place(field, row_size, rows.len(), part.len())?;
    let (mut rows, mut part) = (rows, part);
    while let (Some((row, more)), Some((to, rest))) = (rows.split_at_checked(row_size), part.split_at_mut_checked(size))
    {
        if row.is_empty() {
            break;
        }
        let from = row.get(begin..).unwrap_or(&[]);
        to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
        (rows, part) = (more, rest);
    }
    Ok(())
}

/// Copies `part`, `[N, field]` bytes, into its place in every row of `rows`, `[N, row_size]` bytes. Errors: `Shape`.
pub fn join(field: &Field<'_>, row_size: usize, part: &[u8], rows: &mut [u8]) -> Result {
    let (begin, size) = place(field, row_size, rows.len(), part.len())?;
    let (mut rows, mut part) = (rows, part);
    while let (Some((row, more)), Some((from, rest))) =
        (rows.split_at_mut_checked(row_size), part.split_at_checked(size))
    {
        if row.is_empty() {
            break;
        }
        let to = row.get_mut(begin..).unwrap_or_default();
        to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
        (rows, part) = (more, rest);
    }
    Ok(())
}

/// Offset and size of the field within a row, after checking all lengths.
fn place(field: &Field<'_>, row_size: usize, rows: usize, part: usize) -> Result<(usize, usize)> {
    const SHAPE: Error = Error::new(Kind::Shape, "observation parts: rows that hold the field");
    let (begin, size) = (field.offset as usize, field.size().filter(|&size| size > 0).ok_or(SHAPE)?);
    if begin.checked_add(size).is_none_or(|end| end > row_size) {
        return Err(SHAPE.needed(begin.saturating_add(size)).given(row_size));
    }
    let num_rows = rows.checked_div(row_size).unwrap_or(0);
    if num_rows.saturating_mul(row_size) != rows {
        return Err(Error::new(Kind::Shape, "observation parts: whole rows of bytes,").needed(row_size).given(rows));
    }
    let needed = num_rows.saturating_mul(size);
    if part != needed {
        return Err(Error::new(Kind::Shape, "observation parts: bytes of one field,").needed(needed).given(part));
    }
    Ok((begin, size))
}
