//! Copies of drawn transitions.

use super::{CHUNK, SHAPE, TERMINATED, TRUNCATED, View};
use crate::data::table::FrameIndex;
use crate::error::{Error, Kind, Result, check_len};
use crate::kernels::stack::Layout;
use crate::space::ElementsMut;

/// Output for the data of transitions beside their columns; arrays are `[B]`.
#[derive(Debug)]
pub struct Transitions<'a> {
    /// Sum of the discounted rewards.
    pub reward: Option<&'a mut [f32]>,
    /// Factor of the value of the next observation; 0 where the last step terminated.
    pub discount: Option<&'a mut [f32]>,
    /// Whether the last step terminated.
    pub terminated: Option<&'a mut [u8]>,
    /// Whether the last step was cut.
    pub truncated: Option<&'a mut [u8]>,
}

impl View<'_> {
    /// Writes the data of transitions beside their columns. Errors: `Shape`; `Range` for a transition that is not held. Nothing
    /// is written then. Also `Range` if a concurrent writer has overwritten one meanwhile; the output is invalid then.
    pub fn transitions(&self, index: &[FrameIndex], out: Transitions<'_>) -> Result {
        let Transitions { mut reward, mut discount, mut terminated, mut truncated } = out;
        for out in [&reward, &discount].into_iter().flatten() {
            check_len("replay: reward and discount [B],", out, index.len())?;
        }
        for out in [&terminated, &truncated].into_iter().flatten() {
            check_len("replay: terminated and truncated [B],", out, index.len())?;
        }
        self.check(index)?;
        for (i, index) in index.iter().enumerate() {
            let slot = self.held_slot_of(index)?;
            let steps = self.ahead.get(slot).copied().unwrap_or(0);
            let last = index.number.saturating_add(u64::from(steps).saturating_sub(1));
            let last = self.table.at(index.env as usize, last)?;
            let ended = self.ended.get(last).copied().unwrap_or(0);
            for (out, from) in [(&mut reward, self.sum), (&mut discount, self.discount)] {
                if let Some(to) = out.as_deref_mut().and_then(|out| out.get_mut(i)) {
                    *to = from.get(slot).copied().unwrap_or(0.0);
                }
            }
            for (out, bit) in [(&mut terminated, TERMINATED), (&mut truncated, TRUNCATED)] {
                if let Some(to) = out.as_deref_mut().and_then(|out| out.get_mut(i)) {
                    *to = u8::from(ended & bit != 0);
                }
            }
        }
        self.check_held(index)
    }

    /// Checks after a copy that no concurrent writer has overwritten the first rows of the transitions.
    fn check_held(&self, index: &[FrameIndex]) -> Result {
        self.table.rings().check_held(index.iter().map(|index| (index.env as usize, index.number)))
    }

    /// Writes a column of the first rows of transitions: [`gather`](crate::data::table::View::gather) of the table.
    ///
    /// Errors: the same; `Range` for a transition that is not held. Nothing is written then.
    pub fn gather(&self, column: usize, index: &[FrameIndex], layout: Layout, out: ElementsMut<'_>) -> Result {
        self.check(index)?;
        self.table.gather(column, index, layout, out)
    }

    /// Writes a column of observations of the rows that transitions lead to, otherwise as [`View::gather`].
    ///
    /// Errors: the same; `Range` for a column that is not an observation.
    pub fn gather_next(&self, column: usize, index: &[FrameIndex], layout: Layout, out: ElementsMut<'_>) -> Result {
        let description = self.config.table.column(column)?;
        let what = "replay: a column that is an observation; not so";
        Error::new(Kind::Range, what).given(column).fail_if(!self.config.is_observation(column))?;
        self.check(index)?;
        let len = index.len().saturating_mul(description.read_len());
        let what = "replay: out with elements for every row as it is read,";
        Error::limit(Kind::Shape, what, len, out.len()).fail_if(out.len() != len)?;
        let (mut rest, mut left) = (out, index);
        while !left.is_empty() {
            let some = left.len().min(CHUNK);
            let mut ahead = [FrameIndex::new(0, 0); CHUNK];
            let (Some((now, later)), Some(ahead)) = (left.split_at_checked(some), ahead.get_mut(..some)) else {
                return Err(SHAPE);
            };
            for (to, index) in ahead.iter_mut().zip(now) {
                let steps = self.ahead.get(self.held_slot_of(index)?).copied().unwrap_or(0);
                *to = FrameIndex { number: index.number.saturating_add(steps.into()), ..*index };
            }
            let (to, others) = rest.split_at(some.saturating_mul(description.read_len())).ok_or(SHAPE)?;
            self.table.gather(column, ahead, layout, to)?;
            // The row that a transition leads to is right only if its first row is still held.
            self.check_held(now)?;
            (rest, left) = (others, later);
        }
        Ok(())
    }
}
