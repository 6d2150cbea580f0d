//! Pixel control (Jaderberg et al. 2016): changes of the cells of a picture, and the values of the choices in each cell.
//!
//! For one step, `change` and `target` are `[cells]`, and advantages `[cells, choices]`; a cell's values of choices are its
//! value plus its advantages, minus their mean.

use crate::block::{self, Fit, LayoutError};
use crate::error::{Error, Kind, Result, check_len};
use crate::kernels::finite::check_finite;
use crate::kernels::stack::Convert;
use crate::learn::learner::context::ChunkContext;
use crate::learn::store::history::{GOES_ON, TERMINATED};
use crate::learn::tasks::crop;
use crate::nn::Input;
use crate::num;

/// Changes of the cells from one picture to the next: absolute differences, averaged over the last `newest` channels, and of
/// these the maximum or the mean in each cell. Cells are squares of `cell` pixels over the picture without half a cell at each
/// end, which is centered in the cells where they do not fit (SAME).
pub fn changes<T: Copy>(
    [height, width, channels]: [usize; 3],
    newest: usize,
    cell: usize,
    mean: bool,
    from: &[T],
    to: &[T],
    change: &mut [f32],
) where
    f32: Convert<T>,
{
    let side = |len: usize| {
        let (rest, border) = crop(len as u32, cell as u32);
        let (rest, border) = (rest as usize, border as usize);
        let cells = rest.div_ceil(cell.max(1));
        // Padding of the cells before the picture.
        let pad = cells.saturating_mul(cell).saturating_sub(rest) / 2;
        (cells, move |i: usize| {
            let begin = i.saturating_mul(cell);
            let within = |at: usize| at.saturating_sub(pad).min(rest).saturating_add(border);
            within(begin)..within(begin.saturating_add(cell))
        })
    };
    let ((rows, row_of), (columns, column_of)) = (side(height), side(width));
    let pixel = |row: usize, column: usize| {
        let end = row.saturating_mul(width).saturating_add(column).saturating_add(1).saturating_mul(channels);
        let at = end.saturating_sub(newest);
        let (from, to) = (from.iter().skip(at), to.iter().skip(at));
        let sum: f32 =
            from.zip(to).take(newest).map(|(from, to)| (f32::convert(*to) - f32::convert(*from)).abs()).sum();
        sum / newest as f32
    };
    let cells = (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j)));
    for (to, (i, j)) in change.iter_mut().zip(cells) {
        let (mut most, mut sum, mut count) = (0.0f32, 0.0f32, 0u32);
        for row in row_of(i) {
            for column in column_of(j) {
                let own = pixel(row, column);
                (most, sum, count) = (num::max(own, most), sum + own, count.saturating_add(1));
            }
        }
        *to = if mean { sum / count.max(1) as f32 } else { most };
    }
}

/// The largest value of the choices in each cell, among those that the mask of the step allows.
pub fn best(choices: usize, advantage: &[f32], mask: Option<&[u8]>, value: &[f32], best: &mut [f32]) {
    let counts = |k: usize| mask.is_none_or(|mask| mask.get(k) != Some(&0));
    for ((own, value), to) in advantage.chunks_exact(choices.max(1)).zip(value).zip(best) {
        let allowed = own.iter().enumerate().filter(|(k, _)| counts(*k));
        let most = allowed.fold(f32::NEG_INFINITY, |most, (_, x)| num::max(most, *x));
        *to = value + (most - mean(own));
    }
}

/// The cells of one step, or of several.
#[derive(Clone, Copy, Debug)]
pub struct Cells<'a> {
    /// Choices in a cell.
    pub choices: usize,
    /// `[cells, choices]`
    pub advantage: &'a [f32],
    /// `[cells]`; if empty, advantages are the values of the choices.
    pub value: &'a [f32],
    /// `[cells]`
    pub target: &'a [f32],
}

/// The squared error of the values of a choice, summed over cells. Writes `weight` times its gradient, with respect to
/// advantages and values.
pub fn loss(c: &Cells<'_>, choice: i32, weight: f32, d_advantage: &mut [f32], d_value: &mut [f32]) -> f64 {
    let (mut sum, dueling) = (0.0f64, !c.value.is_empty());
    let (mut value, mut d_value) = (c.value.iter(), d_value.iter_mut());
    let rows = c.advantage.chunks_exact(c.choices.max(1)).zip(d_advantage.chunks_exact_mut(c.choices.max(1)));
    for ((own, d_own), target) in rows.zip(c.target) {
        let chosen = own.get(choice as usize).copied().unwrap_or(0.0);
        let error = if let Some(value) = value.next() { value + (chosen - mean(own)) } else { chosen } - target;
        sum += f64::from(error) * f64::from(error);
        let slope = num::canonical(2.0 * weight * error);
        if let Some(d_value) = d_value.next() {
            *d_value = slope;
        }
        d_own.fill(if dueling { -(slope / c.choices as f32) } else { 0.0 });
        if let Some(d_own) = d_own.get_mut(choice as usize) {
            *d_own += slope;
        }
        d_own.iter_mut().for_each(|x| *x = num::canonical(*x));
    }
    sum
}

/// A pass over past steps, `[steps + 1, sequences]`; the last step of each sequence bootstraps the returns.
pub(super) struct Pass<'p> {
    /// Slots of the steps, and their observations.
    pub past: &'p [u32],
    pub obs: Input<'p>,
    /// Outputs for the cells of each step, and their gradients, which are initially zero.
    pub advantage: &'p [f32],
    pub value: &'p [f32],
    pub d_advantage: &'p mut [f32],
    pub d_value: &'p mut [f32],
    /// Working space for the cells of one step.
    pub change: &'p mut [f32],
    pub target: &'p mut [f32],
}

impl Pass<'_> {
    /// The sum of the squared errors. Writes their weighted gradients.
    pub fn learn(mut self, b: &ChunkContext<'_, '_>, sequences: usize, share: f32) -> Fit<f64> {
        let (h, rows) = (&b.history, self.past.len().saturating_sub(sequences));
        let mut sum = 0.0;
        for k in 0..sequences {
            self.bootstrap(b, rows.saturating_add(k))?;
            for row in (0..rows).skip(k).step_by(sequences.max(1)).rev() {
                let slot = *self.past.get(row).ok_or(LayoutError)? as usize;
                match *h.ends.get(slot).ok_or(LayoutError)? {
                    GOES_ON => {
                        self.follow(b, row, row.saturating_add(sequences))?;
                        let choice = *h.choice.get(slot).ok_or(LayoutError)?;
                        sum += self.step(b, row, choice, b.config.pixel_control_coef * share)?;
                    }
                    // The change after the last action of an episode is not observed.
                    TERMINATED => self.target.fill(0.0),
                    _ => self.bootstrap(b, row)?,
                }
            }
        }
        Ok(sum)
    }

    /// Sets the targets to the values of the best choices of a step.
    fn bootstrap(&mut self, b: &ChunkContext<'_, '_>, row: usize) -> Fit<()> {
        let (cells, n) = (b.sizes.tasks.cells(), b.sizes.tasks.choices);
        let slot = *self.past.get(row).ok_or(LayoutError)? as usize;
        let mask = if b.config.use_action_mask != 0 { Some(block::rows(b.history.mask, slot, 1, n)?) } else { None };
        let advantage = block::rows(self.advantage, row, 1, cells.saturating_mul(n))?;
        best(n, advantage, mask, block::rows(self.value, row, 1, cells)?, self.target);
        Ok(())
    }

    /// Replaces the targets of step `next` by those of the step before it.
    fn follow(&mut self, b: &ChunkContext<'_, '_>, row: usize, next: usize) -> Fit<()> {
        let (c, tasks) = (b.config, &b.sizes.tasks);
        let (picture, newest, cell, mean) = (tasks.picture, tasks.newest, c.pixel_cell as usize, c.pixel_mean != 0);
        // The picture is in front of each row.
        let len = |all: usize| all.checked_div(self.past.len()).unwrap_or(0);
        let change = &mut *self.change;
        match self.obs {
            Input::F32(x) => {
                let (from, to) = (block::rows(x, row, 1, len(x.len()))?, block::rows(x, next, 1, len(x.len()))?);
                changes(picture, newest, cell, mean, from, to, change);
            }
            Input::U8(x) | Input::Split { front: x, .. } => {
                let (from, to) = (block::rows(x, row, 1, len(x.len()))?, block::rows(x, next, 1, len(x.len()))?);
                changes(picture, newest, cell, mean, from, to, change);
            }
        }
        for (target, change) in self.target.iter_mut().zip(change) {
            *target = *change + c.pixel_control_discount * *target;
        }
        Ok(())
    }

    /// [`loss`] of one step with this choice.
    fn step(&mut self, b: &ChunkContext<'_, '_>, row: usize, choice: i32, weight: f32) -> Fit<f64> {
        let (cells, choices) = (b.sizes.tasks.cells(), b.sizes.tasks.choices);
        let width = cells.saturating_mul(choices);
        let (advantage, value) = (block::rows(self.advantage, row, 1, width)?, block::rows(self.value, row, 1, cells)?);
        let d_advantage = block::rows_mut(self.d_advantage, row, 1, width)?;
        let d_value = block::rows_mut(self.d_value, row, 1, cells)?;
        Ok(loss(&Cells { choices, advantage, value, target: self.target }, choice, weight, d_advantage, d_value))
    }
}

/// The mean of [`loss`] over steps, `[steps, cells]`, with one choice each, and its gradient. Errors: `Shape`, `Range`,
/// `Value`.
pub fn mean_loss(c: &Cells<'_>, choice: &[i32], d_advantage: &mut [f32], d_value: &mut [f32]) -> Result<f32> {
    let (steps, cells) = (choice.len(), c.target.len().checked_div(choice.len()).unwrap_or(0));
    let what = "pixel control: steps, cells and choices of at least";
    Error::limit(Kind::Shape, what, 1, 0).fail_if(steps == 0 || cells == 0 || c.choices == 0)?;
    let (all, width) = (steps.saturating_mul(cells), cells.saturating_mul(c.choices));
    let own_values = if c.value.is_empty() { 0 } else { cells };
    let values = steps.saturating_mul(own_values);
    check_len("pixel control: target", c.target, all)?;
    check_len("pixel control: advantage", c.advantage, all.saturating_mul(c.choices))?;
    check_len("pixel control: d_advantage", d_advantage, c.advantage.len())?;
    check_len("pixel control: value", c.value, values)?;
    check_len("pixel control: d_value", d_value, values)?;
    check_finite("pixel control: a finite advantage", c.advantage)?;
    check_finite("pixel control: a finite value", c.value)?;
    check_finite("pixel control: a finite target", c.target)?;
    if let Some(bad) = choice.iter().find(|choice| **choice as u32 as usize >= c.choices) {
        let what = "pixel control: an action from 0 to below";
        return Err(Error::new(Kind::Range, what).needed(c.choices).given_i64((*bad).into()));
    }
    let (weight, mut sum) = (1.0 / steps as f32, 0.0);
    for (k, &choice) in choice.iter().enumerate() {
        let own = Cells {
            choices: c.choices,
            advantage: block::rows(c.advantage, k, 1, width)?,
            value: block::rows(c.value, k, 1, own_values)?,
            target: block::rows(c.target, k, 1, cells)?,
        };
        let d_own = block::rows_mut(d_advantage, k, 1, width)?;
        sum += loss(&own, choice, weight, d_own, block::rows_mut(d_value, k, 1, own_values)?);
    }
    Ok(num::canonical((sum / steps as f64) as f32))
}

fn mean(x: &[f32]) -> f32 {
    x.iter().sum::<f32>() / x.len() as f32
}
