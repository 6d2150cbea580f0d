//! Checks of the image of a replay memory.

use core::ops::Range;

use super::{State, TAIL, View};
use crate::error::{Error, Kind, Result};

impl View<'_> {
    /// Refuses contents that no sequence of calls can produce. Errors: `Image`.
    pub(super) fn check_image(&self) -> Result {
        let damaged = |what| Error::new(Kind::Image, what);
        let State { alpha, max_priority, num_transitions, rng, rng_changes, updating } = self.state;
        rng_changes.check_image()?;
        damaged("replay: no priorities that were being given").fail_if(*updating != 0)?;
        damaged("replay: an alpha from 0 to 1, a largest priority of at least 1 and a random stream")
            .fail_if(!(0.0..=1.0).contains(alpha) || !(1.0..f32::INFINITY).contains(max_priority) || !rng.is_valid())?;
        let mut count = 0u64;
        for (env, &open) in self.open.iter().enumerate() {
            let held = self.table.held(env)?;
            let some = held.end.saturating_sub(held.start);
            if open > self.config.num_steps || u64::from(open) > some {
                return Err(
                    Error::new(Kind::Image, "replay: at most num_steps open rows; not so environment").given(env)
                );
            }
            let num_rows = self.config.table.num_rows;
            let first = env.saturating_mul(num_rows as usize);
            for place in 0..num_rows {
                let slot = first.saturating_add(place as usize);
                let (index, _) = self.index_of(slot as u32);
                // Until a ring is full, its rows are in its first slots.
                let is_held = u64::from(place) < some;
                let right = self.row_is_right(slot, is_held.then_some(index.number), &held, open);
                let what = "replay: rows as steps leave them; not so slot";
                Error::new(Kind::Image, what).given(slot).fail_if(right != Some(true))?;
                count = count.saturating_add((self.tree.weight(slot) > 0.0).into());
            }
        }
        if count == *num_transitions { Ok(()) } else { Err(damaged("replay: the number of its transitions")) }
    }

    /// Whether the data of a row are consistent; `number` is `None` for a slot that never held a row.
    fn row_is_right(&self, slot: usize, number: Option<u64>, held: &Range<u64>, open: u32) -> Option<bool> {
        let (reward, sum, discount) = (*self.reward.get(slot)?, *self.sum.get(slot)?, *self.discount.get(slot)?);
        let (ahead, ended) = (u64::from(*self.ahead.get(slot)?), *self.ended.get(slot)?);
        let weight = self.tree.weight(slot);
        let zeros = sum.to_bits() == 0 && discount.to_bits() == 0 && weight == 0.0;
        let Some(number) = number else { return Some(zeros && ahead == 0 && ended == 0 && reward.to_bits() == 0) };
        if !reward.is_finite() {
            return Some(false);
        }
        let env = slot.checked_div(self.config.table.num_rows as usize)?;
        let (next_ahead, next_ended) = match number.checked_add(1)? {
            next if next < held.end => {
                let next = self.table.at(env, next).ok()?;
                (u64::from(*self.ahead.get(next)?), *self.ended.get(next)?)
            }
            _ => (0, 0),
        };
        let is_open = number >= held.end.checked_sub(open.into())?;
        if ahead == 0 {
            // A row without a transition is open, and has not ended, or it is a tail, of an episode without steps if it follows
            // another tail.
            let is_tail = ended == TAIL && reward.to_bits() == 0;
            return Some(zeros && if is_open { ended == 0 } else { is_tail });
        }
        let whole = self.table.stack_start(env, number).ok()? >= held.start;
        let closed = number.checked_add(ahead)? < held.end && !is_open && ended < TAIL;
        let steps = u64::from(self.config.num_steps);
        // A transition leads to the tail right after it, else to where the next row's transition leads, but at most `num_steps`
        // ahead.
        let right = match (ended != 0, next_ahead) {
            (true, _) => 1,
            (false, 0) => steps,
            (false, next) => next.saturating_add(1).min(steps),
        };
        let leads = ahead == right && (ended != 0) == (next_ended == TAIL);
        if !leads || !closed || (weight > 0.0) != whole {
            return Some(false);
        }
        let (same_sum, same_discount) = self.fold(env, number, ahead)?;
        Some(sum.to_bits() == same_sum.to_bits() && discount.to_bits() == same_discount.to_bits())
    }
}
