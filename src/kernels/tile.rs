//! Sixteen rows, transposed, so that each lane of a vector works on a row of its own.
//!
//! Sums along a row then run in column order, whatever the number of rows.

use crate::cpu::{self, FEW_WAYS};

/// Rows of a tile: one per lane. Where code size counts, rows are processed one after another.
pub(crate) const ROWS: usize = if FEW_WAYS { 1 } else { 16 };

/// Columns of a tile. Longer rows are split into parts.
pub(crate) const COLUMNS: usize = 32;

/// One number of each row.
pub(crate) type Lanes = [f32; ROWS];

/// Columns of up to 16 rows. Lanes beyond the rows keep their previous contents.
#[repr(align(64))]
pub(crate) struct Tile(pub [Lanes; COLUMNS]);

impl Tile {
    /// All zero.
    #[inline(always)]
    pub fn new() -> Self {
        Tile([[0.0; ROWS]; COLUMNS])
    }

    /// Loads columns `begin..begin + width` of `rows`, `[up to 16, stride]`.
    #[inline(never)]
    pub fn load(&mut self, rows: &[f32], stride: usize, begin: usize, width: usize) {
        match stride {
            // Short rows as a whole, which compile to shuffles.
            _ if FEW_WAYS => self.load_each(rows, stride, begin, width),
            1 if self.load_whole::<1>(rows).is_some() => {}
            2 if width == 2 && self.load_whole::<2>(rows).is_some() => {}
            3 if width == 3 && self.load_whole::<3>(rows).is_some() => {}
            4 if width == 4 && self.load_whole::<4>(rows).is_some() => {}
            _ if (0..ROWS / 4).all(|four| self.load_four(rows, stride, begin, width, four).is_some()) => {}
            _ => self.load_each(rows, stride, begin, width),
        }
    }

    /// One number at a time.
    #[inline(always)]
    fn load_each(&mut self, rows: &[f32], stride: usize, begin: usize, width: usize) {
        let mut rest = rows;
        for i in 0..ROWS {
            let Some((row, after)) = rest.split_at_checked(stride) else { break };
            for (x, lanes) in row.iter().skip(begin).zip(self.0.iter_mut().take(width)) {
                lanes[i] = *x;
            }
            rest = after;
        }
    }

    /// Loads four of the rows, in squares of four columns; the last may overlap the one before it. None if there are fewer.
    #[inline(always)]
    fn load_four(&mut self, rows: &[f32], stride: usize, begin: usize, width: usize, four: usize) -> Option<()> {
        let row = |i: usize| {
            let at = stride.wrapping_mul(four.wrapping_mul(4).wrapping_add(i)).wrapping_add(begin);
            rows.get(at..)?.get(..width)
        };
        let rows = [row(0)?, row(1)?, row(2)?, row(3)?];
        let columns = self.0.get_mut(..width)?;
        let put = |columns: &mut [Lanes; 4], square| -> Option<()> {
            for (lanes, column) in columns.iter_mut().zip(cpu::turn(square)) {
                *lanes.as_chunks_mut::<4>().0.get_mut(four)? = column;
            }
            Some(())
        };
        let [a, b, c, d] = rows.map(|row| row.as_chunks().0);
        for ((((columns, a), b), c), d) in columns.as_chunks_mut().0.iter_mut().zip(a).zip(b).zip(c).zip(d) {
            put(columns, [*a, *b, *c, *d])?;
        }
        if !width.is_multiple_of(4) {
            let [a, b, c, d] = rows.map(|row| row.last_chunk().copied());
            put(columns.last_chunk_mut()?, [a?, b?, c?, d?])?;
        }
        Some(())
    }

    /// Writes negative infinity wherever `mask`, of the shape of the loaded rows, is 0.
    #[inline(never)]
    pub fn forbid(&mut self, mask: &[u8], stride: usize, begin: usize, width: usize) {
        if stride == 0 {
            return;
        }
        for (i, row) in mask.chunks_exact(stride).take(ROWS).enumerate() {
            for (allowed, lanes) in row.iter().skip(begin).zip(self.0.iter_mut().take(width)) {
                let x = &mut lanes[i % ROWS];
                *x = if *allowed == 0 { f32::NEG_INFINITY } else { *x };
            }
        }
    }

    /// Writes columns `begin..begin + width` of `rows`, `[up to 16, stride]`.
    #[inline(never)]
    pub fn store(&self, rows: &mut [f32], stride: usize, begin: usize, width: usize) {
        match stride {
            _ if FEW_WAYS => self.store_each(rows, stride, begin, width),
            1 if self.store_whole::<1>(rows).is_some() => {}
            2 if width == 2 && self.store_whole::<2>(rows).is_some() => {}
            3 if width == 3 && self.store_whole::<3>(rows).is_some() => {}
            4 if width == 4 && self.store_whole::<4>(rows).is_some() => {}
            _ => self.store_each(rows, stride, begin, width),
        }
    }

    /// One number at a time.
    #[inline(always)]
    fn store_each(&self, rows: &mut [f32], stride: usize, begin: usize, width: usize) {
        for (i, row) in rows.chunks_exact_mut(stride.max(1)).take(ROWS).enumerate() {
            for (x, lanes) in row.iter_mut().skip(begin).zip(self.0.iter().take(width)) {
                *x = lanes[i % ROWS];
            }
        }
    }

    #[inline(always)]
    #[allow(clippy::needless_range_loop)] // a transpose reads best with both indices
    fn load_whole<const W: usize>(&mut self, rows: &[f32]) -> Option<()> {
        let rows: &[[f32; W]; ROWS] = rows.as_chunks::<W>().0.first_chunk()?;
        for j in 0..W {
            for i in 0..ROWS {
                self.0[j][i] = rows[i][j];
            }
        }
        Some(())
    }

    #[inline(always)]
    #[allow(clippy::needless_range_loop)] // a transpose reads best with both indices
    fn store_whole<const W: usize>(&self, rows: &mut [f32]) -> Option<()> {
        let rows: &mut [[f32; W]; ROWS] = rows.as_chunks_mut::<W>().0.first_chunk_mut()?;
        for i in 0..ROWS {
            for j in 0..W {
                rows[i][j] = self.0[j][i];
            }
        }
        Some(())
    }
}

/// Splits `width` columns into parts that fit a tile: the first column and the width of each.
#[inline(always)]
pub(crate) fn parts(width: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..width).step_by(COLUMNS).map(move |begin| (begin, (width - begin).min(COLUMNS)))
}

/// The value of each row, loaded from `[up to 16]`.
#[inline(never)]
pub(crate) fn load_lanes<T: Copy + Default>(values: &[T]) -> [T; ROWS] {
    match values.first_chunk() {
        Some(whole) => *whole,
        None => {
            let mut lanes = [T::default(); ROWS];
            for (lane, value) in lanes.iter_mut().zip(values) {
                *lane = *value;
            }
            lanes
        }
    }
}

/// The value of each row, written to `[up to 16]`.
#[inline(never)]
pub(crate) fn store_lanes<T: Copy>(values: &mut [T], lanes: &[T; ROWS]) {
    match values.first_chunk_mut() {
        Some(whole) => *whole = *lanes,
        None => {
            for (value, lane) in values.iter_mut().zip(lanes) {
                *value = *lane;
            }
        }
    }
}

/// Column `column` of `[up to 16, stride]`.
#[inline(never)]
pub(crate) fn load_column<T: Copy + Default>(values: &[T], stride: usize, column: usize) -> [T; ROWS] {
    if stride == 1 {
        return load_lanes(values);
    }
    let mut lanes = [T::default(); ROWS];
    for (lane, value) in lanes.iter_mut().zip(values.iter().skip(column).step_by(stride.max(1))) {
        *lane = *value;
    }
    lanes
}

/// Writes column `column` of `[up to 16, stride]`.
#[inline(never)]
pub(crate) fn store_column<T: Copy>(values: &mut [T], stride: usize, column: usize, lanes: &[T; ROWS]) {
    if stride == 1 {
        return store_lanes(values, lanes);
    }
    for (value, lane) in values.iter_mut().skip(column).step_by(stride.max(1)).zip(lanes) {
        *value = *lane;
    }
}
