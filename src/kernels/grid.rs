//! `[T, N]` arrays, the columns `[begin, end)` of a call, and the reverse scan of the estimators.
//!
//! Inputs are shared slices. Outputs are slices of cells: threads that share an array write disjoint columns, and no exclusive
//! reference to the whole ever exists.
//!
//! To write an estimator, implement `Estimator::step` for a small `Copy` struct of its rates, and pass it, the arrays and the
//! values after the last step to `Scan`. Its outputs are its state: a step sees the inputs and the outputs of the step after
//! it, and nothing else is carried. All lanes of a step run the same operations without branches.

use core::cell::Cell;
use core::ops::{Add, Mul, Sub};

use super::finite::{check_finite, check_one};
use crate::cpu::{self, FEW_WAYS, Kernel};
use crate::error::{Error, Kind, Result};
use crate::num;

/// Columns from which a walk by rows is faster than one by columns with the recursion in registers.
const ROWS_FROM: usize = 64;

/// Columns per walk by rows: the rows that carry the recursion stay in the nearest cache.
const ROW_BLOCK: usize = 4096;

/// Prefetch distance in groups: beyond the L2 cache it saves a quarter of the time.
const AHEAD: usize = 8;

/// Elements from which arrays are assumed to exceed the L2 cache.
const FAR: usize = 1 << 16;

/// Groups of 16 columns per walk by rows if the outputs do not hold all carried state: it lies on the stack.
const CARRIED: usize = 8;

/// Columns from which a row counts as long.
const LONG: usize = 1024;

/// T times N, if both are at least 1.
pub(crate) fn grid(num_steps: usize, num_envs: usize) -> Result<usize> {
    Error::limit(Kind::Shape, "rollout: num_steps of at least", 1, 0).fail_if(num_steps == 0)?;
    Error::limit(Kind::Shape, "rollout: num_envs of at least", 1, 0).fail_if(num_envs == 0)?;
    num_steps.checked_mul(num_envs).ok_or(Error::new(Kind::Overflow, "rollout: [T, N] that fits the address space"))
}

/// Checks a discount or a lambda.
pub(crate) fn check_rate(what: &'static str, rate: f32) -> Result {
    check_one(what, rate)?;
    if (0.0..=1.0).contains(&rate) { Ok(()) } else { Err(Error::new(Kind::Range, what).given_f32(rate)) }
}

/// An array as cells, for threads that share it as an output.
#[inline]
pub fn cells<T>(array: &mut [T]) -> &[Cell<T>] {
    Cell::from_mut(array).as_slice_of_cells()
}

/// The part of `[T, N]` arrays that a call works on: all steps of the environments `begin..end`.
#[derive(Clone, Copy, Debug)]
pub struct Columns {
    num_steps: usize,
    num_envs: usize,
    begin: usize,
    end: usize,
}

impl Columns {
    /// Errors: `Shape` if T or N is 0; `Overflow`; `Range` unless `begin <= end <= num_envs`.
    pub fn new(num_steps: usize, num_envs: usize, begin: usize, end: usize) -> Result<Columns> {
        grid(num_steps, num_envs)?;
        let what = "rollout: a range of environments with begin <= end <= num_envs,";
        Error::limit(Kind::Range, what, num_envs, if end > num_envs { end } else { begin })
            .fail_if(begin > end || end > num_envs)?;
        Ok(Columns { num_steps, num_envs, begin, end })
    }

    /// All environments.
    pub fn all(num_steps: usize, num_envs: usize) -> Result<Columns> {
        Columns::new(num_steps, num_envs, 0, num_envs)
    }

    /// Checks that these are columns of arrays of this shape. Errors: `Shape`; `Overflow`.
    pub fn check(&self, what: &'static str, num_steps: usize, num_envs: usize) -> Result {
        let len = grid(num_steps, num_envs)?;
        Error::limit(Kind::Shape, what, len, self.len())
            .fail_if((self.num_steps, self.num_envs) != (num_steps, num_envs))?;
        Ok(())
    }

    /// T times N.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.num_steps.wrapping_mul(self.num_envs)
    }

    /// Environments in the range.
    #[inline(always)]
    pub fn width(&self) -> usize {
        self.end.wrapping_sub(self.begin)
    }

    /// The columns of one step of a `[T, N]` array.
    #[inline(always)]
    pub fn row<'a, T>(&self, array: &'a [T], t: usize) -> Option<&'a [T]> {
        array.get(t.wrapping_mul(self.num_envs).wrapping_add(self.begin)..)?.get(..self.width())
    }

    /// The columns of an `[N]` array.
    #[inline(always)]
    pub fn part<'a, T>(&self, array: &'a [T]) -> Option<&'a [T]> {
        array.get(self.begin..self.end)
    }

    /// The range as few slices: all of `[T, N]` as one if it covers all environments, else a row per step.
    #[inline(always)]
    pub(crate) fn joined(&self) -> Columns {
        let len = self.len();
        let whole = self.width() == self.num_envs;
        if whole { Columns { num_steps: 1, num_envs: len, begin: 0, end: len } } else { *self }
    }

    /// The same for a check of all arrays, forward in time, before a backward scan: long rows stay separate, so that the check
    /// leaves the end of every array in the cache, not all of the last one.
    #[inline(always)]
    pub(crate) fn turns(&self) -> Columns {
        if self.width() < LONG { self.joined() } else { *self }
    }

    /// `width` of these columns from number `at` on, or as many as there are.
    #[inline(always)]
    pub(crate) fn stripe(&self, at: usize, width: usize) -> Columns {
        let begin = self.begin.saturating_add(at).min(self.end);
        Columns { begin, end: begin.saturating_add(width).min(self.end), ..*self }
    }

    /// The same columns of `[T, N, width]` arrays.
    #[inline(always)]
    pub(crate) fn wide(&self, width: usize) -> Columns {
        let [num_envs, begin, end] = [self.num_envs, self.begin, self.end].map(|x| x.saturating_mul(width));
        Columns { num_envs, begin, end, ..*self }
    }

    /// Steps.
    #[inline(always)]
    pub(crate) fn num_steps(&self) -> usize {
        self.num_steps
    }

    /// Checks the numbers of a `[T, N]` array in the range. Errors: `Value`.
    pub(crate) fn check_finite(&self, what: &'static str, array: &[f32]) -> Result {
        let part = self.joined();
        (0..part.num_steps).try_for_each(|t| check_finite(what, part.row(array, t).unwrap_or(&[])))
    }
}

/// The number type of sums: f32, or f64 that is rounded once when written.
pub(crate) trait Real:
    Copy + PartialOrd + From<f32> + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self>
{
    /// Whether f32 outputs hold all carried state.
    const STORED: bool;
    /// To the nearest f32.
    fn narrow(self) -> f32;
    /// e^x.
    fn exp(self) -> Self;
}

impl Real for f32 {
    const STORED: bool = true;

    #[inline(always)]
    fn narrow(self) -> f32 {
        self
    }

    #[inline(always)]
    fn exp(self) -> Self {
        num::exp(self)
    }
}

impl Real for f64 {
    const STORED: bool = false;

    #[inline(always)]
    fn narrow(self) -> f32 {
        self as f32
    }

    #[inline(always)]
    fn exp(self) -> Self {
        num::exp64(self)
    }
}

/// One step of W environments.
pub(crate) struct Now<'a, const X: usize, const F: usize, const Y: usize, const W: usize> {
    /// Inputs.
    pub x: [&'a [f32; W]; X],
    /// Flags.
    pub flags: [&'a [u8; W]; F],
    /// The outputs before the step: the input of an in-place scan.
    pub y: [[f32; W]; Y],
}

/// The step after it. Fields that an estimator does not use cost nothing.
pub(crate) struct After<R, const X: usize, const Y: usize, const W: usize> {
    /// Inputs.
    pub x: [[f32; W]; X],
    /// Outputs, before rounding.
    pub y: [[R; W]; Y],
}

/// Tracks whether numbers are finite, at one instruction per vector: 0 times a finite number is 0; any other number leaves NaN
/// for good.
#[derive(Clone, Copy)]
pub(crate) struct FiniteCheck<const W: usize>([f32; W]);

impl<const W: usize> FiniteCheck<W> {
    #[inline(always)]
    pub fn new() -> Self {
        FiniteCheck([0.0; W])
    }

    #[inline(always)]
    pub fn see<R: Real>(&mut self, x: &[R; W]) {
        for (zero, x) in self.0.iter_mut().zip(x) {
            *zero *= x.narrow();
        }
    }

    #[inline(always)]
    pub fn all_finite(&self) -> bool {
        self.0.iter().fold(0, |bits, zero| bits | zero.to_bits()) << 1 == 0
    }
}

/// Replaces every NaN of these columns by [`f32::NAN`], in arrays where a sum overflowed.
#[cold]
#[inline(never)]
pub(crate) fn canonicalize_nan(columns: Columns, outputs: &[&[Cell<f32>]]) {
    for output in outputs {
        for cell in (0..columns.num_steps).filter_map(|t| columns.row(output, t)).flatten() {
            cell.set(num::canonical(cell.get()));
        }
    }
}

/// A step from X inputs, F flags and the step after it to Y outputs.
pub(crate) trait Estimator<const X: usize, const F: usize, const Y: usize>: Copy {
    /// Number type of the recursion.
    type Real: Real;
    /// Whether the output arrays hold all carried state, and none of them is missing.
    const STORED: bool = Self::Real::STORED;
    /// Number of leading inputs that are read in every step; the others are read seldom.
    const READ: usize = X;

    /// Takes the step for W environments. `#[inline(always)]`, loops over `0..W`. Where the first output is finite, no output
    /// is NaN.
    fn step<const W: usize>(
        &self,
        now: &Now<'_, X, F, Y, W>,
        after: &After<Self::Real, X, Y, W>,
    ) -> [[Self::Real; W]; Y];
}

/// A kernel: an estimator and its arrays, whose lengths the caller has checked.
pub(crate) struct Scan<'a, E, const X: usize, const F: usize, const Y: usize> {
    pub estimator: E,
    pub columns: Columns,
    /// `[T, N]` each.
    pub x: [&'a [f32]; X],
    /// `[N]` each, the values after the last step; empty for zeros.
    pub last_x: [&'a [f32]; X],
    /// `[T, N]` each.
    pub flags: [&'a [u8]; F],
    /// `[T, N]` each; empty for an output that is only carried.
    pub y: [&'a [Cell<f32>]; Y],
    /// `[N]` each, the values after the last step; empty for zeros.
    pub last_y: [&'a [f32]; Y],
}

impl<E, const X: usize, const F: usize, const Y: usize> Kernel for Scan<'_, E, X, F, Y>
where
    E: Estimator<X, F, Y>,
{
    /// Whether the outputs are finite, and so all inputs that were read.
    type Output = bool;

    #[inline(always)]
    fn run(mut self) -> bool {
        let (Columns { begin, num_steps, .. }, width) = (self.columns, self.columns.width());
        // Equal lengths, so that one comparison checks the bounds of all arrays.
        let len = self.columns.len();
        let Some(x) = each(self.x, &[] as &[f32], |x| x.get(..len)) else { return true };
        let Some(flags) = each(self.flags, &[] as &[u8], |flags| flags.get(..len)) else { return true };
        let missing = &[] as &[Cell<f32>];
        let Some(y) = each(self.y, missing, |y| if y.is_empty() { Some(y) } else { y.get(..len) }) else { return true };
        (self.x, self.flags, self.y) = (x, flags, y);
        // With many columns, the last step runs here and the others by rows; or all steps run by rows, with the state on the
        // stack.
        let many = !FEW_WAYS && width >= ROWS_FROM;
        let by_rows = if many { begin.wrapping_add(width.wrapping_sub(width % 16)) } else { begin };
        let (mut at, mut finite) = (begin, true);
        while !E::STORED && at < by_rows {
            let Some(fine) = self.carried_rows(Columns { begin: at, ..self.columns }) else { return true };
            finite &= fine;
            at = by_rows.min(at.wrapping_add(CARRIED * 16));
        }
        while !FEW_WAYS && let Some(fine) = self.columns::<16>(at, if at < by_rows { 1 } else { num_steps }) {
            finite &= fine;
            at = at.wrapping_add(16);
        }
        if !FEW_WAYS && let Some(fine) = self.columns::<8>(at, num_steps) {
            finite &= fine;
            at = at.wrapping_add(8);
        }
        while let Some(fine) = self.columns::<1>(at, num_steps) {
            finite &= fine;
            at = at.wrapping_add(1);
        }
        let mut at = begin;
        while E::STORED && at < by_rows {
            let end = by_rows.min(at.wrapping_add(ROW_BLOCK));
            let Some(fine) = self.rows(Columns { begin: at, end, ..self.columns }) else { return true };
            finite &= fine;
            at = end;
        }
        finite
    }
}

impl<E, const X: usize, const F: usize, const Y: usize> Scan<'_, E, X, F, Y>
where
    E: Estimator<X, F, Y>,
{
    /// Runs the last `num_steps` steps of W environments from `begin` on, the recursion in registers. Returns, here and below,
    /// whether the outputs are finite; None if there are fewer environments.
    #[inline(always)]
    fn columns<const W: usize>(&self, begin: usize, num_steps: usize) -> Option<bool> {
        if begin.checked_add(W)? > self.columns.end {
            return None;
        }
        let part = Columns { begin, ..self.columns };
        let last = |row: &[f32]| part.part(row).and_then(|row| row.first_chunk().copied()).unwrap_or([0.0; W]);
        let mut after = After { x: self.last_x.map(last), y: self.last_y.map(|row| last(row).map(E::Real::from)) };
        let (mut x, mut flags, mut y, len) = (self.x, self.flags, self.y, self.columns.len());
        if !FEW_WAYS {
            // Equal lengths, known here, so that one comparison checks the bounds of all arrays.
            x = each(x, &[] as &[f32], |x| x.get(..len))?;
            flags = each(flags, &[] as &[u8], |flags| flags.get(..len))?;
            if E::STORED {
                y = each(y, &[] as &[Cell<f32>], |y| y.get(..len))?;
            }
        }
        let (mut at, mut zeros) = (len.wrapping_add(begin), FiniteCheck::new());
        for _ in 0..num_steps {
            at = at.wrapping_sub(self.columns.num_envs);
            let x = each(x, &[0.0; W], |x| x.get(at..)?.first_chunk())?;
            let flags = each(flags, &[0; W], |flags| flags.get(at..)?.first_chunk())?;
            let y = y.map(|y| y.get(at..).and_then(|y| y.first_chunk()));
            let now = Now { x, flags, y: y.map(|y| y.map_or([0.0; W], load)) };
            after = After { y: self.estimator.step(&now, &after), x: x.map(|x| *x) };
            zeros.see(&after.y[0]);
            for (to, y) in y.iter().zip(&after.y) {
                if let Some(to) = to {
                    store(to, y);
                }
            }
        }
        Some(zeros.all_finite())
    }

    /// Runs all steps but the last for whole groups of 16 environments, row by row. The row just written carries the recursion.
    #[inline(always)]
    fn rows(&self, part: Columns) -> Option<bool> {
        let (estimator, count, mut zeros) = (self.estimator, part.width() / 16, FiniteCheck::new());
        let far = self.columns.len() >= FAR;
        for t in (0..self.columns.num_steps.wrapping_sub(1)).rev() {
            let next = t.wrapping_add(1);
            let x = each(self.x, &[] as &[[f32; 16]], |x| groups(part.row(x, t)).get(..count))?;
            let after_x = each(self.x, &[] as &[[f32; 16]], |x| groups(part.row(x, next)).get(..count))?;
            let flags = each(self.flags, &[] as &[[u8; 16]], |x| groups(part.row(x, t)).get(..count))?;
            let y = each(self.y, &[] as &[[Cell<f32>; 16]], |y| groups(part.row(y, t)).get(..count))?;
            let after_y = each(self.y, &[] as &[[Cell<f32>; 16]], |y| groups(part.row(y, next)).get(..count))?;
            for i in 0..count {
                if far {
                    x.iter().take(E::READ).for_each(|x| cpu::prefetch(x, i.wrapping_add(AHEAD)));
                    y.iter().for_each(|y| cpu::prefetch(y, i.wrapping_add(AHEAD)));
                }
                let now = Now {
                    x: each(x, &[0.0; 16], |x| x.get(i))?,
                    flags: each(flags, &[0; 16], |flags| flags.get(i))?,
                    y: each(y, [0.0; 16], |y| y.get(i).map(load))?,
                };
                let after = After {
                    x: each(after_x, [0.0; 16], |x| x.get(i).copied())?,
                    y: each(after_y, [E::Real::from(0.0); 16], |y| y.get(i).map(|y| load(y).map(E::Real::from)))?,
                };
                let made = estimator.step(&now, &after);
                zeros.see(&made[0]);
                for (to, y) in y.iter().zip(&made) {
                    store(to.get(i)?, y);
                }
            }
        }
        Some(zeros.all_finite())
    }

    /// Runs all steps of up to `CARRIED` groups of 16 environments, row by row, with the state on the stack.
    #[inline(always)]
    fn carried_rows(&self, part: Columns) -> Option<bool> {
        let (count, mut zeros) = (part.width() / 16, FiniteCheck::new());
        let last_y = self.last_y.map(|row| groups(part.part(row)));
        let mut after_x = self.last_x.map(|row| groups(part.part(row)));
        let mut carried = [[[E::Real::from(0.0); 16]; Y]; CARRIED];
        for (i, carried) in carried.iter_mut().enumerate() {
            for (y, last) in carried.iter_mut().zip(last_y) {
                *y = last.get(i).map_or(*y, |last| last.map(E::Real::from));
            }
        }
        for t in (0..self.columns.num_steps).rev() {
            let x = each(self.x, &[] as &[[f32; 16]], |x| groups(part.row(x, t)).get(..count))?;
            let flags = each(self.flags, &[] as &[[u8; 16]], |x| groups(part.row(x, t)).get(..count))?;
            let y = self.y.map(|y| groups(part.row(y, t)));
            for (i, carried) in carried.iter_mut().enumerate().take(count) {
                let now = Now {
                    x: each(x, &[0.0; 16], |x| x.get(i))?,
                    flags: each(flags, &[0; 16], |flags| flags.get(i))?,
                    y: y.map(|y| y.get(i).map_or([0.0; 16], load)),
                };
                let after = After { x: after_x.map(|x| x.get(i).copied().unwrap_or([0.0; 16])), y: *carried };
                *carried = self.estimator.step(&now, &after);
                zeros.see(&carried[0]);
                for (to, y) in y.iter().zip(carried.iter()) {
                    if let Some(to) = to.get(i) {
                        store(to, y);
                    }
                }
            }
            after_x = x;
        }
        Some(zeros.all_finite())
    }
}

/// The result of `f` for each element; None if any is None.
#[inline(always)]
fn each<A: Copy, B: Copy, const K: usize>(from: [A; K], blank: B, f: impl Fn(A) -> Option<B>) -> Option<[B; K]> {
    let mut to = [blank; K];
    for (to, from) in to.iter_mut().zip(from) {
        *to = f(from)?;
    }
    Some(to)
}

/// Whole groups of 16.
#[inline(always)]
fn groups<T>(row: Option<&[T]>) -> &[[T; 16]] {
    row.unwrap_or(&[]).as_chunks().0
}

#[inline(always)]
fn load<const W: usize>(from: &[Cell<f32>; W]) -> [f32; W] {
    let mut lanes = [0.0; W];
    for (lane, from) in lanes.iter_mut().zip(from) {
        *lane = from.get();
    }
    lanes
}

#[inline(always)]
fn store<R: Real, const W: usize>(to: &[Cell<f32>; W], lanes: &[R; W]) {
    for (to, lane) in to.iter().zip(lanes) {
        to.set(lane.narrow());
    }
}
