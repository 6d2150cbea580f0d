//! Rows from the last to the first, as sums that look ahead need them.
//!
//! As `rchunks_exact`, but a zip of these never divides by the width, so that no build has a reachable panic.

/// Rows of an array, `[rows, width]`, from the last to the first. None if `width` is 0.
pub(crate) struct Back<S> {
    rest: S,
    width: usize,
}

/// The rows of `array`, to read.
#[inline(always)]
pub(crate) fn back<T>(array: &[T], width: usize) -> Back<&[T]> {
    Back { rest: array, width }
}

/// The rows of `array`, to write.
#[inline(always)]
pub(crate) fn back_mut<T>(array: &mut [T], width: usize) -> Back<&mut [T]> {
    Back { rest: array, width }
}

impl<S> Back<S> {
    #[inline(always)]
    fn last_row(&self, len: usize) -> Option<usize> {
        if self.width == 0 { None } else { len.checked_sub(self.width) }
    }
}

impl<'a, T> Iterator for Back<&'a [T]> {
    type Item = &'a [T];

    #[inline(always)]
    fn next(&mut self) -> Option<&'a [T]> {
        let (rest, row) = self.rest.split_at_checked(self.last_row(self.rest.len())?)?;
        self.rest = rest;
        Some(row)
    }
}

impl<'a, T> Iterator for Back<&'a mut [T]> {
    type Item = &'a mut [T];

    #[inline(always)]
    fn next(&mut self) -> Option<&'a mut [T]> {
        let at = self.last_row(self.rest.len())?;
        let (rest, row) = core::mem::take(&mut self.rest).split_at_mut_checked(at)?;
        self.rest = rest;
        Some(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_from_the_last_to_the_first() {
        let mut x = [1, 2, 3, 4, 5, 6];
        assert!(back(&x, 2).eq([[5, 6], [3, 4], [1, 2]]));
        assert_eq!((back(&x, 0).count(), back(&x, 7).count(), back(&x, 4).count()), (0, 0, 1));
        back_mut(&mut x, 3).for_each(|row| row[0] = 0);
        assert_eq!(x, [0, 2, 3, 0, 5, 6]);
    }
}
