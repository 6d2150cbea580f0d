//! Draws of transitions in proportion to their weights.

use core::hint::spin_loop;
use core::sync::atomic::{Ordering, fence};

use super::{CHUNK, SHAPE, View};
use crate::block::shared;
use crate::cpu::Word;
use crate::data::table::FrameIndex;
use crate::error::{Error, Kind, Result, check_len, check_some};
use crate::num;
use crate::rng::Rng;

/// Divisor of the corrections, so that none is above 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Normalize {
    /// The largest correction in the memory: that of the transition with the smallest weight.
    #[default]
    Memory = 0,
    /// The largest correction of the batch.
    Batch = 1,
    /// No divisor: (N * probability)^-beta, which may be above 1.
    Not = 2,
}

impl Normalize {
    /// The divisor with this number.
    pub fn from_number(number: u32) -> Option<Normalize> {
        [Normalize::Memory, Normalize::Batch, Normalize::Not].get(number as usize).copied()
    }
}

/// How a batch is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Draw {
    /// Exponent of the correction, at least 0: 0 corrects nothing, 1 everything.
    pub beta: f32,
    /// Divisor of the corrections.
    pub normalize: Normalize,
    /// Whether each transition of a batch of B is drawn from the whole memory, instead of from one of B equal parts of it.
    pub independent: bool,
}

impl Default for Draw {
    fn default() -> Self {
        Draw { beta: 0.4, normalize: Normalize::Memory, independent: false }
    }
}

/// Linear schedule of an alpha or a beta, from `initial` at a `progress` of 0 to `end` at 1.
/// Errors: `Range` for a progress outside [0, 1]; `Value` for an `initial` or `end` that is not finite.
pub fn linear(initial: f32, end: f32, progress: f32) -> Result<f32> {
    let what = "replay: a progress from 0 to 1";
    Error::new(Kind::Range, what).given_f32(progress).fail_if(!(0.0..=1.0).contains(&progress))?;
    Error::new(Kind::Value, "replay: finite ends of a schedule").fail_if(!(initial.is_finite() && end.is_finite()))?;
    let progress = f64::from(progress);
    Ok((f64::from(initial) * (1.0 - progress) + f64::from(end) * progress) as f32)
}

/// The smallest weight, or `least` if that is smaller.
fn least(weights: &[f32], least: f32) -> f32 {
    weights.iter().fold(least, |least, weight| num::min(*weight, least))
}

impl View<'_> {
    /// Draws B transitions: their rows, `[B]`, their corrections, `[B]`, and optionally the probability with which each was
    /// drawn, `[B]`.
    ///
    /// With a concurrent writer, a transition may be dropped while it is drawn; if it is still held, its weight is one that it
    /// had during the draw. Corrections are finite.
    ///
    /// Errors: `Shape`; `Value` or `Range` for beta; `NotReady` if no transition may be drawn. Nothing is written or drawn from
    /// the stream then. `Busy`, after a part of the batch, only with a concurrent writer that overwrites faster than this draws.
    pub fn sample(
        &self,
        draw: &Draw,
        rng: &mut Rng,
        index: &mut [FrameIndex],
        weight: &mut [f32],
        probability: Option<&mut [f32]>,
    ) -> Result {
        check_len("replay: weights [B],", weight, index.len())?;
        check_some("replay: probabilities [B],", &probability, index.len())?;
        Error::new(Kind::Value, "replay: a finite beta").given_f32(draw.beta).fail_if(!draw.beta.is_finite())?;
        Error::new(Kind::Range, "replay: a beta of at least 0").given_f32(draw.beta).fail_if(draw.beta < 0.0)?;
        let (total, count) = self.ready()?;
        let parts = if draw.independent { 1.0 } else { index.len() as f64 };
        let part = total / parts;
        let mut drawn = 0.0;
        let (mut mass, mut slots) = ([0.0; CHUNK], [0u32; CHUNK]);
        let (mut index_left, mut weight_left) = (index, &mut *weight);
        while !index_left.is_empty() {
            let some = index_left.len().min(CHUNK);
            let (Some((now, later)), Some((w_now, w_later))) =
                (index_left.split_at_mut_checked(some), weight_left.split_at_mut_checked(some))
            else {
                return Err(SHAPE);
            };
            let (Some(mass), Some(slots)) = (mass.get_mut(..some), slots.get_mut(..some)) else { return Err(SHAPE) };
            let first = drawn;
            for mass in mass.iter_mut() {
                *mass = (drawn + rng.uniform()) * part;
                drawn += if draw.independent { 0.0 } else { 1.0 };
            }
            self.tree.descend(mass, slots);
            let mut missed = false;
            for ((slot, index), weight) in slots.iter().zip(&mut *now).zip(&mut *w_now) {
                (*index, *weight) = self.drawn(*slot);
                missed |= *weight <= 0.0;
            }
            if missed {
                self.draw_again(first, parts, rng, now, w_now)?;
            }
            (index_left, weight_left) = (later, w_later);
        }
        if let Some(probability) = probability {
            for (to, weight) in probability.iter_mut().zip(weight.iter()) {
                *to = num::min((f64::from(*weight) / total) as f32, 1.0);
            }
        }
        let base = match draw.normalize {
            // With a concurrent writer, the smallest weight of the tree may be that of another moment.
            Normalize::Memory => least(weight, self.tree.min()),
            Normalize::Batch => least(weight, f32::INFINITY),
            Normalize::Not => (total / count as f64) as f32,
        };
        let log = num::ln(base);
        for weight in weight {
            *weight = num::min(num::exp(draw.beta * (log - num::ln(*weight))), f32::MAX);
        }
        Ok(())
    }

    /// Sum of the weights and number of the transitions that may be drawn. Errors: `NotReady` if there is none; `Busy` if every
    /// attempt finds none because a concurrent writer overwrites all of them.
    #[inline(always)]
    fn ready(&self) -> Result<(f64, u64)> {
        self.ready_now().map_or_else(|| self.ready_later(), Ok)
    }

    #[inline(always)]
    fn ready_now(&self) -> Option<(f64, u64)> {
        let (total, count) = (self.tree.total(), self.len());
        (count != 0 && total > 0.0).then_some((total, count))
    }

    #[cold]
    #[inline(never)]
    fn ready_later(&self) -> Result<(f64, u64)> {
        // The number of rows, if none is being added.
        let quiet = || {
            fence(Ordering::Acquire);
            let writing = self.table.writing.iter().any(|word| word.load(Ordering::Acquire) != 0);
            let pushed = self.table.pushed.iter().map(|word| word.load(Ordering::Acquire));
            (!writing).then(|| pushed.fold(0, u64::wrapping_add))
        };
        for _ in 0..shared::READ_ATTEMPTS {
            let before = quiet();
            if let Some(ready) = self.ready_now() {
                return Ok(ready);
            }
            let what = "replay: a transition that may be drawn";
            Error::new(Kind::NotReady, what).fail_if(before.is_some() && before == quiet())?;
            spin_loop();
        }
        Err(shared::BUSY)
    }

    /// The transition in a slot found by a draw, and its weight; or 0, if there is none at this moment.
    #[inline(always)]
    fn drawn(&self, slot: u32) -> (FrameIndex, f32) {
        let (index, back) = self.index_of(slot);
        // A row being added may be counted before the weight of the row that it overwrites is cleared.
        let writing = self.table.writing.get(index.env as usize).map_or(0, |word| word.load(Ordering::Acquire));
        let weight = self.tree.weight(slot as usize);
        (index, if back > writing { weight } else { 0.0 })
    }

    /// Redraws the transitions without weight, after a concurrent writer has changed the tree during the draw; the first of them
    /// is number `first` of a batch of `parts` parts. Errors: `Busy`.
    #[cold]
    #[inline(never)]
    fn draw_again(
        &self,
        first: f64,
        parts: f64,
        rng: &mut Rng,
        index: &mut [FrameIndex],
        weight: &mut [f32],
    ) -> Result {
        for (i, (index, weight)) in (0u32..).zip(index.iter_mut().zip(weight)) {
            let part = if parts > 1.0 { first + f64::from(i) } else { 0.0 };
            for _ in 0..shared::READ_ATTEMPTS {
                if *weight > 0.0 {
                    break;
                }
                let (mut mass, mut slot) = ([(part + rng.uniform()) * (self.ready()?.0 / parts)], [0]);
                self.tree.descend(&mut mass, &mut slot);
                (*index, *weight) = self.drawn(slot[0]);
            }
            shared::BUSY.fail_if(*weight <= 0.0)?;
        }
        Ok(())
    }
}
