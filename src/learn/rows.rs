//! Subsets of rows of arrays: of the environments of a call, and of a minibatch.

use bytemuck::{Pod, cast_slice, cast_slice_mut};
use core::ops::Range;

use super::obs_encoder::ObsEncoder;
use crate::block::{self, Fit, LayoutError};
use crate::error::{Error, Kind, Result, check_len};
use crate::nn::Input;
use crate::space::Elements;

/// Cuts working memory into `width` numbers for each row, and the bytes behind them.
pub(super) fn cut_behind(rows: usize, width: usize, to: &mut [f32]) -> Fit<(&mut [f32], &mut [u8])> {
    let (numbers, rest) = to.split_at_mut_checked(rows.saturating_mul(width)).ok_or(LayoutError)?;
    Ok((numbers, cast_slice_mut(rest)))
}

/// Whether this build copies short rows with specialized loops.
const SHORT: bool = cfg!(feature = "avx2");

/// The rows with the numbers in `list`, of arrays whose first row has number `first`.
#[derive(Clone, Copy)]
pub(super) struct Rows<'r> {
    list: &'r [u32],
    first: u32,
    /// Rows are contiguous and are copied at once.
    run: bool,
}

impl<'r> Rows<'r> {
    pub(super) fn new(list: &'r [u32], first: u32) -> Rows<'r> {
        Rows { list, first, run: list.iter().zip(list.iter().skip(1)).all(|(a, b)| a.wrapping_add(1) == *b) }
    }

    /// The number of rows.
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// The row indices in the arrays.
    pub(super) fn iter(self) -> impl Iterator<Item = usize> {
        self.list.iter().map(move |row| row.wrapping_sub(self.first) as usize)
    }

    /// The first row, if the rows are contiguous.
    fn start(&self) -> Option<usize> {
        self.iter().next().filter(|_| self.run)
    }

    /// Copies the rows to the front of `to`, and returns the copies.
    pub(super) fn get<'t, T: Pod>(&self, from: &[T], width: usize, to: &'t mut [T]) -> Fit<&'t mut [T]> {
        let to = block::rows_mut(to, 0, self.len(), width)?;
        if !SHORT {
            self.get_bytes(cast_slice(from), width.saturating_mul(size_of::<T>()), cast_slice_mut(to))?;
            return Ok(to);
        }
        if let Some(start) = self.start() {
            block::copy(to, block::rows(from, start, self.len(), width)?);
            return Ok(to);
        }
        match width {
            1 => self.get_short::<T, 1>(from, to)?,
            2 => self.get_short::<T, 2>(from, to)?,
            3 => self.get_short::<T, 3>(from, to)?,
            4 => self.get_short::<T, 4>(from, to)?,
            _ => {
                for (row, i) in to.chunks_exact_mut(width.max(1)).zip(self.iter()) {
                    block::copy(row, block::rows(from, i, 1, width)?);
                }
            }
        }
        Ok(to)
    }

    /// `Rows::get` for rows of any element type, as bytes.
    #[inline(never)]
    fn get_bytes(&self, from: &[u8], width: usize, to: &mut [u8]) -> Fit<()> {
        for (k, i) in self.iter().enumerate() {
            block::copy(block::rows_mut(to, k, 1, width)?, block::rows(from, i, 1, width)?);
        }
        Ok(())
    }

    /// `Rows::get` for rows of a length known at compile time, which are copied without a call for each.
    fn get_short<T: Copy, const WIDTH: usize>(&self, from: &[T], to: &mut [T]) -> Fit<()> {
        let from = from.as_chunks::<WIDTH>().0;
        for (row, i) in to.as_chunks_mut::<WIDTH>().0.iter_mut().zip(self.iter()) {
            *row = *from.get(i).ok_or(LayoutError)?;
        }
        Ok(())
    }

    /// Copies the front of `from` to the rows of `to`.
    pub(super) fn put<T: Pod>(&self, from: &[T], width: usize, to: &mut [T]) -> Fit<()> {
        if !SHORT {
            return self.put_bytes(cast_slice(from), width.saturating_mul(size_of::<T>()), cast_slice_mut(to));
        }
        if let Some(start) = self.start() {
            block::copy(block::rows_mut(to, start, self.len(), width)?, block::rows(from, 0, self.len(), width)?);
            return Ok(());
        }
        for (k, i) in self.iter().enumerate() {
            block::copy(block::rows_mut(to, i, 1, width)?, block::rows(from, k, 1, width)?);
        }
        Ok(())
    }

    /// `Rows::put` for rows of any element type, as bytes.
    #[inline(never)]
    fn put_bytes(&self, from: &[u8], width: usize, to: &mut [u8]) -> Fit<()> {
        for (k, i) in self.iter().enumerate() {
            block::copy(block::rows_mut(to, i, 1, width)?, block::rows(from, k, 1, width)?);
        }
        Ok(())
    }

    /// Encodes these observations. Errors: `Value` for a choice that does not exist.
    pub(super) fn see<'t>(&self, seen: &ObsEncoder<'_>, obs: Elements<'_>, to: &'t mut [f32]) -> Result<&'t mut [f32]> {
        if let (Elements::F32(x), false) = (obs, seen.coded) {
            let to = self.get(x, seen.len, to)?;
            return self.check_symbols(seen, to);
        }
        let to = block::rows_mut(to, 0, self.len(), seen.len)?;
        for (k, i) in self.iter().enumerate() {
            seen.row(seen.at(obs, i)?, block::rows_mut(to, k, 1, seen.len)?).map_err(|e| e.in_row(i))?;
        }
        self.check_symbols(seen, to)
    }

    /// Network inputs of these observations: the bytes of the `front` elements that the network reads as bytes, in place or
    /// copied, and all others as [`Rows::see`], at the front of `to`.
    pub(super) fn input<'t>(
        &self,
        front: usize,
        seen: &ObsEncoder<'_>,
        obs: Elements<'t>,
        to: &'t mut [f32],
    ) -> Result<Input<'t>> {
        if front == 0 {
            return Ok(Input::F32(self.see(seen, obs, to)?));
        }
        if let Some(bytes) = self.bytes(front, seen, obs) {
            return Ok(Input::of_bytes(bytes));
        }
        let width = seen.len.saturating_sub(front);
        let (rest, bytes) = cut_behind(self.len(), width, to)?;
        let bytes = block::rows_mut(bytes, 0, self.len(), front)?;
        for (k, i) in self.iter().enumerate() {
            seen.copy_front(obs, i, block::rows_mut(bytes, k, 1, front)?)?;
            if width > 0 {
                let to = block::rows_mut(rest, k, 1, width)?;
                seen.row_behind(seen.at(obs, i)?, [front, 0], to).map_err(|e| e.in_row(i))?;
            }
        }
        Ok(Input::of_bytes_and(bytes, rest))
    }

    /// The bytes of these observations in place, if they are all that the network reads, and the rows are contiguous.
    pub(super) fn bytes<'o>(&self, front: usize, seen: &ObsEncoder<'_>, obs: Elements<'o>) -> Option<&'o [u8]> {
        let Elements::U8(bytes) = obs else { return None };
        let start = self.start().filter(|_| front == seen.len && !seen.coded)?;
        block::rows(bytes, start, self.len(), seen.len).ok()
    }

    /// The rows in place if they are contiguous, else copies in `to`.
    pub(super) fn whole<'t>(&self, from: &'t [u8], width: usize, to: &'t mut [u8]) -> Fit<&'t [u8]> {
        match self.start() {
            Some(start) => block::rows(from, start, self.len(), width),
            None => Ok(self.get(from, width, to)?),
        }
    }

    /// Checks that the network inputs have the symbols that embeddings can look up. Errors: `Value`.
    fn check_symbols<'t>(&self, seen: &ObsEncoder<'_>, to: &'t mut [f32]) -> Result<&'t mut [f32]> {
        seen.net.check_symbols(to, |k| self.iter().nth(k).unwrap_or(0))?;
        Ok(to)
    }
}

/// Lists the active ones of these environments in `to`, and counts them. `open`: `[N]` flags of environments that have acted,
/// and the value required of the active ones. Errors: `Shape`; `NotReady` if a flag differs from it.
pub(super) fn select(
    what: &'static str,
    envs: Range<usize>,
    active: Option<&[u8]>,
    (open, wanted): (&[u8], u8),
    to: &mut [u32],
) -> Result<usize> {
    if let Some(active) = active {
        check_len(what, active, envs.len())?;
    }
    let mut to = to.iter_mut();
    let mut m = 0usize;
    for (k, env) in envs.enumerate() {
        if active.is_some_and(|active| active.get(k) == Some(&0)) {
            continue;
        }
        if open.get(env) != Some(&wanted) {
            let what = match wanted {
                0 => "learner act: environment {given} has acted and was not observed.",
                _ => "learner observe: environment {given} has not acted.",
            };
            return Err(Error::new(Kind::NotReady, what).given(env));
        }
        *to.next().ok_or(LayoutError)? = env as u32;
        m = m.saturating_add(1);
    }
    Ok(m)
}

/// Writes the numbers of these rows to the front of `to`, and counts them.
pub(super) fn list(rows: impl Iterator<Item = usize>, to: &mut [u32]) -> Fit<usize> {
    let mut count = 0usize;
    for row in rows {
        *to.get_mut(count).ok_or(LayoutError)? = row as u32;
        count = count.saturating_add(1);
    }
    Ok(count)
}

/// Copies a row of one array to a row of another.
pub(super) fn copy_row<T: Copy>(from: &[T], to: &mut [T], (row, slot, width): (usize, usize, usize)) -> Result {
    block::copy(block::rows_mut(to, slot, 1, width)?, block::rows(from, row, 1, width)?);
    Ok(())
}
