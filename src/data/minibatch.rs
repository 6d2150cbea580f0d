//! Choice of the samples of a minibatch, and copies of rows: stateless functions.
//!
//! Samples are numbered environment by environment: step t of environment e is sample e * T + t. A window of r samples from
//! a multiple of r on stays in one environment exactly if r divides T.

use bytemuck::{Pod, Zeroable};

use crate::block;
use crate::error::{Error, Kind, Result, check_len};
use crate::kernels::grid::grid;
use crate::rng::Rng;
use crate::space::{Elements, ElementsMut};

/// How the samples of a rollout are cut into minibatches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// T, at least 1.
    pub num_steps: usize,
    /// N, at least 1.
    pub num_envs: usize,
    /// Samples of a minibatch; divides T * N.
    pub minibatch_size: usize,
    /// Consecutive samples that stay together, for recurrent learners; divides T and `minibatch_size`. 1: none do.
    pub recurrence: usize,
}

impl Cut {
    /// Samples of the rollout. Errors: `Shape`; `Overflow`; `Range` for sizes that do not divide.
    fn check(&self) -> Result<usize> {
        let num_samples = num_samples(self.num_steps, self.num_envs)?;
        let divides = |what, part: usize, whole: usize| match whole.checked_rem(part) {
            Some(0) => Ok(()),
            _ => Err(Error::limit(Kind::Range, what, whole, part)),
        };
        divides("minibatch: a minibatch_size that divides the samples, T * N =", self.minibatch_size, num_samples)?;
        divides("minibatch: a recurrence that divides num_steps,", self.recurrence, self.num_steps)?;
        divides("minibatch: a recurrence that divides minibatch_size,", self.recurrence, self.minibatch_size)?;
        Ok(num_samples)
    }

    /// Windows of the rollout, each one entry of an array of indexes. Errors: `Shape`, `Overflow`, `Range`.
    pub fn num_windows(&self) -> Result<usize> {
        Ok(self.check()?.checked_div(self.recurrence).unwrap_or(0))
    }

    /// Windows of a minibatch, as consecutive entries of that array. Errors: `Shape`, `Overflow`, `Range`.
    pub fn windows_each(&self) -> Result<usize> {
        self.check()?;
        Ok(self.minibatch_size.checked_div(self.recurrence).unwrap_or(0))
    }

    /// Converts window numbers to the first samples of the windows. Errors: `Shape`; `Overflow`; `Range`, also for a window that
    /// does not exist; then nothing is written.
    pub fn starts(&self, windows: &mut [u32]) -> Result {
        let num_windows = self.num_windows()?;
        check_len("minibatch: indexes of length", windows, num_windows)?;
        if let Some(bad) = windows.iter().find(|&&w| w as usize >= num_windows) {
            return Err(Error::limit(Kind::Range, "minibatch: a window below", num_windows, *bad as usize));
        }
        for w in windows {
            *w = w.wrapping_mul(self.recurrence as u32);
        }
        Ok(())
    }

    /// Writes the start of every window, in random order: numpy's permutation of the windows. Minibatch k is entries
    /// `[k * windows_each, (k + 1) * windows_each)`.
    /// Errors: `Shape`, `Overflow`, `Range`; then nothing is written or drawn.
    pub fn draw(&self, rng: &mut Rng, index: &mut [u32]) -> Result {
        check_len("minibatch: indexes of length", index, self.num_windows()?)?;
        rng.permutation(index);
        self.starts(index)
    }
}

/// T times N, if 32 bits can number all samples. Errors: `Shape`, `Overflow`.
fn num_samples(num_steps: usize, num_envs: usize) -> Result<usize> {
    let num_samples = grid(num_steps, num_envs)?;
    match u32::try_from(num_samples) {
        Ok(_) => Ok(num_samples),
        Err(_) => {
            Err(Error::new(Kind::Overflow, "minibatch: samples that 32 bits can number, T * N =").given(num_samples))
        }
    }
}

/// A part of a trajectory, or all of a short one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Window {
    /// Number of its first sample.
    pub first: u32,
    /// Samples, at least 1.
    pub len: u32,
    /// Rows of padding before them, so that all windows have one length.
    pub pad: u32,
    /// Steps of the trajectory before it.
    pub timestep: u32,
}

/// Writes the first sample of every trajectory: of each environment, and after each end of an episode. Returns their number.
///
/// Flags: `[T, N]`; `starts`: room for `[T * N]`, filled up with zeros. Errors: `Shape`, `Overflow`.
pub fn find_trajectories(
    terminated: &[u8],
    truncated: &[u8],
    num_steps: usize,
    num_envs: usize,
    starts: &mut [u32],
) -> Result<usize> {
    let len = num_samples(num_steps, num_envs)?;
    check_len("trajectories: terminated [T, N] of length", terminated, len)?;
    check_len("trajectories: truncated [T, N] of length", truncated, len)?;
    check_len("trajectories: starts [T * N] of length", starts, len)?;
    let mut to = starts.iter_mut();
    let (mut count, mut sample) = (0usize, 0u32);
    for env in 0..num_envs {
        let (mut at, mut starts_here) = (env, true);
        for _ in 0..num_steps {
            if starts_here && let Some(to) = to.next() {
                *to = sample;
                count = count.wrapping_add(1);
            }
            starts_here = terminated.get(at).is_some_and(|&x| x != 0) | truncated.get(at).is_some_and(|&x| x != 0);
            (at, sample) = (at.wrapping_add(num_envs), sample.wrapping_add(1));
        }
    }
    for rest in to {
        *rest = 0;
    }
    Ok(count)
}

/// Draws a window of at most `timesteps` samples. Order of the draws: a trajectory, all equally likely, which is used whole if it
/// is no longer than the window; else a number below 1, and if that is below `end_chance`, the last samples are used; else the
/// end of the window, from `timesteps` to the trajectory's length, all equally likely.
///
/// `starts`: first samples of the trajectories, ascending from 0; `num_samples` ends the last one. `None` if there is no
/// trajectory.
pub fn draw_window(starts: &[u32], num_samples: u32, timesteps: u32, end_chance: f64, rng: &mut Rng) -> Option<Window> {
    let k = rng.bounded(starts.len().checked_sub(1)? as u64) as usize;
    let start = *starts.get(k)?;
    let len = starts.get(k.wrapping_add(1)).copied().unwrap_or(num_samples).checked_sub(start)?;
    if len <= timesteps {
        return Some(Window { first: start, len, pad: timesteps.wrapping_sub(len), timestep: 0 });
    }
    let end = match rng.uniform() < end_chance {
        true => len,
        false => rng.integers(timesteps.into(), i64::from(len).wrapping_add(1)) as u32,
    };
    let timestep = end.wrapping_sub(timesteps);
    Some(Window { first: start.wrapping_add(timestep), len: timesteps, pad: 0, timestep })
}

/// Concatenates arrays. Errors: `Shape` for another kind, or an output of another length than all of them together; then nothing
/// is written.
pub fn stack_rows(parts: &[Elements<'_>], out: ElementsMut<'_>) -> Result {
    let len = parts.iter().fold(0usize, |len, part| len.saturating_add(part.len()));
    Error::limit(Kind::Shape, "stack: out of length", len, out.len()).fail_if(len != out.len())?;
    Error::new(Kind::Shape, "stack: arrays of one kind").fail_if(parts.iter().any(|part| part.kind() != out.kind()))?;
    let mut rest = out.into_bytes();
    for part in parts {
        let bytes = part.bytes();
        let Some(to) = rest.split_off_mut(..bytes.len()) else { return Ok(()) };
        block::copy(to, bytes);
    }
    Ok(())
}

/// Copies rows of `width` elements: row `index[i]` becomes row i. A negative index counts from the end, -1 is the last row.
/// Errors: `Shape`; `Range` for a row that does not exist; then nothing is written.
pub fn gather_rows(x: Elements<'_>, width: usize, index: &[i64], out: ElementsMut<'_>) -> Result {
    let whole = x.len().checked_rem(width).ok_or(Error::limit(Kind::Shape, "gather: a width of at least", 1, 0))?;
    Error::limit(Kind::Shape, "gather: rows of whole width,", width, x.len()).fail_if(whole != 0)?;
    let len = index.len().saturating_mul(width);
    Error::limit(Kind::Shape, "gather: out of length", len, out.len()).fail_if(out.len() != len)?;
    Error::new(Kind::Shape, "gather: arrays of one kind").fail_if(x.kind() != out.kind())?;
    let num_rows = x.len().checked_div(width).unwrap_or(0) as i64;
    let row = |i: i64| if i < 0 { i.wrapping_add(num_rows) } else { i };
    if let Some(bad) = index.iter().find(|&&i| !(0..num_rows).contains(&row(i))) {
        return Err(Error::new(Kind::Range, "gather: rows from -n to n - 1, n =")
            .needed(num_rows as usize)
            .given_i64(*bad));
    }
    let size = width.saturating_mul(x.kind().size());
    let (from, mut rest) = (x.bytes(), out.into_bytes());
    for &i in index {
        let Some(to) = rest.split_off_mut(..size) else { return Ok(()) };
        block::copy(to, block::rows(from, row(i) as usize, 1, size)?);
    }
    Ok(())
}

/// Marks the rows of padded arrays that are not padding: the first `time_steps[i]` of part i. `valid`: `[parts, size]`, 0 or 1.
/// Errors: `Shape`; `Range` for a part that is longer than `size`; then nothing is written.
pub fn valid_rows(time_steps: &[u32], size: usize, valid: &mut [u8]) -> Result {
    check_len("valid rows: valid [parts, size] of length", valid, time_steps.len().saturating_mul(size))?;
    if let Some(long) = time_steps.iter().find(|&&t| t as usize > size) {
        return Err(Error::limit(Kind::Range, "valid rows: time_steps of at most", size, *long as usize));
    }
    let mut rest = valid;
    for &t in time_steps {
        let Some(rows) = rest.split_off_mut(..size) else { return Ok(()) };
        for (i, x) in rows.iter_mut().enumerate() {
            *x = u8::from(i < t as usize);
        }
    }
    Ok(())
}
