//! Exchange of the first two axes: `[N, T, len]` to `[T, N, len]`, and back.

use crate::error::{Error, Kind, Result};
use crate::space::{Elements, ElementsMut};

/// Rows and columns of a tile: equal numbers of cache lines are read and written.
const TILE: usize = 16;

/// Writes `out[c][r] = x[r][c]` for all rows r and columns c of `x`, `[rows, columns, len]`; `out` is
/// `[columns, rows, len]`. Both hold elements of one kind.
///
/// Errors: `Shape` if a count is 0 or an array has another length or kind; `Overflow`. Nothing is written on error.
///
/// ```
/// use rlcore::kernels::transpose::transpose;
/// use rlcore::space::{Elements, ElementsMut};
///
/// # fn main() -> rlcore::error::Result {
/// let mut by_time = [0.0; 6]; // [N, T] = [2, 3] to [T, N]
/// transpose(2, 3, 1, Elements::F32(&[0.0, 1.0, 2.0, 10.0, 11.0, 12.0]), ElementsMut::F32(&mut by_time))?;
/// assert_eq!(by_time, [0.0, 10.0, 1.0, 11.0, 2.0, 12.0]);
/// # Ok(())
/// # }
/// ```
pub fn transpose(rows: usize, columns: usize, len: usize, x: Elements<'_>, out: ElementsMut<'_>) -> Result {
    const ZERO: Error = Error::new(Kind::Shape, "transpose: rows, columns and len of at least");
    const LARGE: Error = Error::new(Kind::Overflow, "transpose: [rows, columns, len] that fits the address space");
    ZERO.needed(1).given(0).fail_if(rows == 0 || columns == 0 || len == 0)?;
    let all = rows.checked_mul(columns).and_then(|n| n.checked_mul(len)).ok_or(LARGE)?;
    let what = "transpose: x [rows, columns, len] of length";
    Error::limit(Kind::Shape, what, all, x.len()).fail_if(x.len() != all)?;
    let what = "transpose: out [columns, rows, len] of length";
    Error::limit(Kind::Shape, what, all, out.len()).fail_if(out.len() != all)?;
    let shape = Shape { rows, columns, len };
    match (x, out) {
        (Elements::F32(x), ElementsMut::F32(out)) => shape.copy::<u32>(bits(x), bits_mut(out)),
        (Elements::I32(x), ElementsMut::I32(out)) => shape.copy::<u32>(bits(x), bits_mut(out)),
        (Elements::U8(x), ElementsMut::U8(out)) => shape.copy(x, out),
        _ => return Err(Error::new(Kind::Shape, "transpose: x and out of one kind of element")),
    }
    Ok(())
}

/// Elements of four bytes, moved without regard to their type.
fn bits<T: bytemuck::Pod>(x: &[T]) -> &[u32] {
    bytemuck::try_cast_slice(x).unwrap_or(&[])
}

fn bits_mut<T: bytemuck::Pod>(x: &mut [T]) -> &mut [u32] {
    bytemuck::try_cast_slice_mut(x).unwrap_or(&mut [])
}

/// The shape of the input.
#[derive(Clone, Copy)]
struct Shape {
    rows: usize,
    columns: usize,
    len: usize,
}

impl Shape {
    fn copy<T: Copy>(&self, x: &[T], out: &mut [T]) {
        let mut column = 0;
        while column < self.columns {
            let wide = TILE.min(self.columns.wrapping_sub(column));
            let mut row = 0;
            while row < self.rows {
                let high = TILE.min(self.rows.wrapping_sub(row));
                for c in column..column.wrapping_add(wide) {
                    self.copy_column(x, out, c, row, high);
                }
                row = row.wrapping_add(TILE);
            }
            column = column.wrapping_add(TILE);
        }
    }

    /// Copies column `c` of `high` rows from `row` on: elements far apart in `x`, adjacent in `out`.
    #[inline(always)]
    fn copy_column<T: Copy>(&self, x: &[T], out: &mut [T], c: usize, row: usize, high: usize) {
        let from = row.wrapping_mul(self.columns).wrapping_add(c).wrapping_mul(self.len);
        let to = c.wrapping_mul(self.rows).wrapping_add(row).wrapping_mul(self.len);
        let mut rest = x.get(from..).unwrap_or(&[]);
        let stride = self.columns.wrapping_mul(self.len);
        let Some(out) = out.get_mut(to..).and_then(|out| out.get_mut(..high.wrapping_mul(self.len))) else { return };
        if self.len == 1 {
            for out in out {
                if let Some(x) = rest.first() {
                    *out = *x;
                }
                rest = rest.get(stride..).unwrap_or(&[]);
            }
            return;
        }
        let mut out = out;
        while let Some((group, others)) = out.split_at_mut_checked(self.len) {
            if group.is_empty() {
                return;
            }
            for (out, x) in group.iter_mut().zip(rest) {
                *out = *x;
            }
            rest = rest.get(stride..).unwrap_or(&[]);
            out = others;
        }
    }
}
