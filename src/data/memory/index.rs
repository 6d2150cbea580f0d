//! Data of each frame beside its columns, and the pools.

use super::{Index, SHAPE};
use crate::data::part::pools::{Pools, ahead, behind};
use crate::error::{Error, Kind, Result};

/// One step of an episode, without its columns.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Frame {
    /// Number of the episode, any that differs from the previous one.
    pub episode: u64,
    /// Number of the step within it.
    pub step: u32,
    /// Reward of the step.
    pub reward: f32,
    /// The step ended the episode in a terminal state.
    pub terminated: bool,
    /// The episode was cut after the step.
    pub truncated: bool,
}

/// Result of adding frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Added {
    /// Number of the first of them.
    pub number: u64,
    /// Frames that were marked truncated because the one after them does not continue them.
    pub cuts: u32,
}

/// How a frame follows the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// It is the next step of the same episode.
    Continues,
    /// It is the first frame, or the frame before it has ended.
    Starts,
    /// The frame before had not ended and this frame does not continue it: the frame before is marked truncated.
    Cuts,
}

/// The newest frame, which the next one has to follow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Last {
    pub(super) episode: u64,
    pub(super) step: u32,
    pub(super) ended: bool,
}

/// How `frame` follows `last`. Errors: `Range` for a further frame of an episode that has ended.
#[inline(always)]
pub(super) fn link(last: Option<Last>, frame: &Frame) -> Result<Link> {
    let Some(last) = last else { return Ok(Link::Starts) };
    let same = last.episode == frame.episode;
    match last.ended {
        true if same => {
            let what = "memory: a frame of an episode that has not ended, not of episode";
            Err(Error::new(Kind::Range, what).given(frame.episode as usize))
        }
        true => Ok(Link::Starts),
        false if same && last.step.checked_add(1) == Some(frame.step) => Ok(Link::Continues),
        false => Ok(Link::Cuts),
    }
}

impl Index<'_> {
    /// Longest stack of any column, at least 1: the part of the margin beside the longest sequence.
    #[inline(always)]
    pub(super) fn max_stack(&self) -> u32 {
        self.margin.saturating_sub(self.config.max_sample_size.saturating_sub(1)).saturating_add(1)
    }

    /// Adds a frame to the index alone; `end` frames came before it.
    /// Errors: `Range` for a further frame of an episode that has ended; nothing is written then.
    #[inline]
    pub fn add(&mut self, end: u64, frame: &Frame) -> Result<Link> {
        let link = self.link(end, frame)?;
        self.write(frame, link)?;
        self.enlist(end, frame.reward)?;
        Ok(link)
    }

    #[inline(always)]
    pub(super) fn link(&self, end: u64, frame: &Frame) -> Result<Link> {
        link(self.last(end)?, frame)
    }

    #[inline(always)]
    pub(super) fn last(&self, end: u64) -> Result<Option<Last>> {
        if end == 0 {
            return Ok(None);
        }
        let slot = behind(self.state.head, 1, self.config.history_size());
        let terminated = *self.terminated.get(slot).ok_or(SHAPE)?;
        let truncated = *self.truncated.get(slot).ok_or(SHAPE)?;
        let ended = terminated | truncated != 0;
        Ok(Some(Last { episode: self.state.episode, step: self.state.step, ended }))
    }

    /// Writes a frame and returns its reach; [`Index::enlist`] follows, once readers may see the frame.
    #[inline(always)]
    pub(super) fn write(&mut self, frame: &Frame, link: Link) -> Result<u32> {
        let frames = self.config.history_size();
        let (slot, last) = (self.state.head as usize, behind(self.state.head, 1, frames));
        let reach = match link {
            Link::Continues => self.reach.get(last).ok_or(SHAPE)?.saturating_add(1).min(frames),
            Link::Starts => 0,
            Link::Cuts => {
                *self.truncated.get_mut(last).ok_or(SHAPE)? = 1;
                0
            }
        };
        *self.reach.get_mut(slot).ok_or(SHAPE)? = reach;
        *self.reward.get_mut(slot).ok_or(SHAPE)? = frame.reward;
        *self.terminated.get_mut(slot).ok_or(SHAPE)? = frame.terminated.into();
        *self.truncated.get_mut(slot).ok_or(SHAPE)? = frame.truncated.into();
        self.state.episode = frame.episode;
        self.state.step = frame.step;
        self.state.head = ahead(self.state.head, 1, frames) as u32;
        Ok(reach)
    }

    /// Updates the pools after frame `end` was written.
    #[inline(always)]
    pub(super) fn enlist(&mut self, end: u64, reward: f32) -> Result {
        let (frames, margin) = (self.config.history_size(), u64::from(self.margin));
        if self.pools.is_empty() || end < margin {
            return Ok(());
        }
        // The number that leaves the pools because the oldest frame is dropped now, if one is.
        let gone = end.checked_sub(frames.into()).map(|oldest| oldest.wrapping_add(margin) as u32);
        let pools = Pools { queues: &mut self.state.pools, rings: self.pools, num_rows: frames };
        Ok(pools.put(end as u32, self.config.is_priority(reward), gone)?)
    }
}
