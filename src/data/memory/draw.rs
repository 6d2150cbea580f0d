//! Draws of sequences.

use bytemuck::{Pod, Zeroable};
use core::hint::spin_loop;
use core::sync::atomic::{Ordering, fence};

use super::{Queue, SHAPE, View};
use crate::block::shared;
use crate::cpu::snapshot;
use crate::data::part::pools::{ahead, behind};
use crate::data::table::Run;
use crate::error::{Error, Kind, Result};
use crate::rng::Rng;

const DISABLED: Error = Error::new(Kind::Disabled, "memory: a configuration with use_priority");
const EMPTY: Error = Error::new(Kind::Empty, "memory: a frame with max_sample_size - 1 predecessors; frames held");
const NOT_READY: Error = Error::new(Kind::NotReady, "memory: frames held, at least");
const INEXACT: Error = Error::new(Kind::Inexact, "memory: sequences of the size that was asked for; shorter ones");
const LAPPED: Error = Error::new(Kind::Busy, "memory: a writer that does not overwrite all that is drawn");

/// Source of the random numbers of draws.
pub trait Chance {
    /// Uniform in [0, max], both ends included.
    fn bounded(&mut self, max: u64) -> u64;
}

impl Chance for Rng {
    #[inline]
    fn bounded(&mut self, max: u64) -> u64 {
        Rng::bounded(self, max)
    }
}

/// Rule of the draws.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Rule {
    /// Sequences within one episode, without gaps.
    #[default]
    Fixed = 0,
    /// The draws of the reference implementation. It ignores stacks: it may draw frames whose stacks are no longer held, which
    /// [`View::gather`] refuses.
    Original = 1,
}

impl Rule {
    /// The rule with this number.
    pub fn from_number(number: u32) -> Option<Self> {
        [Rule::Fixed, Rule::Original].get(number as usize).copied()
    }
}

/// Parameters of a draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draw {
    /// Frames of a sequence, without the burn-in; 0 means `priority_sample_size`, or `max_sample_size` in uniform draws.
    pub size: u32,
    /// Frames of the same episode to put before each sequence, fewer where the episode begins or is no longer held.
    pub burn_in: u32,
    /// Whether to draw again if an episode ends within the sequence.
    pub exact_size: bool,
    /// One in `skewness` priority draws ends on a priority frame, at least 1.
    pub skewness: u32,
    /// Attempts of a draw with `exact_size` until it fails, at least 1.
    pub attempts: u32,
    /// Rule of the draws.
    pub rule: Rule,
}

impl Default for Draw {
    fn default() -> Self {
        Draw { size: 0, burn_in: 0, exact_size: false, skewness: 2, attempts: 100, rule: Rule::Fixed }
    }
}

impl Draw {
    fn check(&self) -> Result {
        let refuse = |what, given: u32| Error::new(Kind::Range, what).given(given as usize);
        refuse("memory: skewness of at least 1", 0).fail_if(self.skewness == 0)?;
        refuse("memory: attempts of at least 1", 0).fail_if(self.attempts == 0)?;
        let what = "memory: burn_in of 0 in the original's draws";
        refuse(what, self.burn_in).fail_if(self.rule == Rule::Original && self.burn_in != 0)
    }
}

/// A drawn sequence: the numbers of frames, which [`View::gather`] copies if they are still held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Sample {
    /// Number of the first frame.
    pub first: u64,
    /// Frames, including the burn-in.
    pub len: u32,
    /// Frames of the burn-in, which come first.
    pub burn_in: u32,
    /// Frames left out before the last one; 0 except in the original's draws.
    pub gap: u32,
    /// 1 if its last frame was drawn as a priority frame, else 0.
    pub priority: u32,
}

impl Sample {
    /// Number of the last frame; a number that overflows is never held.
    pub fn last(&self) -> u64 {
        self.first.saturating_add(self.len.saturating_sub(1).into()).saturating_add(self.gap.into())
    }

    /// Numbers of all frames.
    pub fn numbers(&self) -> impl Iterator<Item = u64> {
        let tail = (self.gap != 0).then_some(self.last());
        (self.first..).take((self.len as usize).saturating_sub(usize::from(tail.is_some()))).chain(tail)
    }

    /// The frames as one run, and the last one if there is a gap before it.
    pub(super) fn runs(&self) -> (Run, Option<Run>) {
        match self.gap {
            0 => (Run::new(0, self.first, self.len), None),
            _ => (Run::new(0, self.first, self.len.saturating_sub(1)), Some(Run::new(0, self.last(), 1))),
        }
    }
}

/// Consistent state of the memory for a draw.
#[derive(Clone, Copy)]
pub(super) struct Moment {
    pools: [Queue; 2],
    /// Frames added.
    pub(super) end: u64,
    /// Number of the oldest frame that can be read, stacks included.
    pub(super) start: u64,
    /// Slot of frame `end`.
    pub(super) head: u32,
    /// Numbers that the pools hold together.
    listed: u32,
}

/// Draws whose memory reads overlap.
const AT_ONCE: usize = 16;

impl View<'_> {
    /// Number `i` of a pool, counted from its oldest. Errors: `Range`.
    pub fn pool_number(&self, priority: bool, i: u32) -> Result<u64> {
        let now = self.read_state()?;
        let [low, high] = now.pools;
        let queue = if priority { high } else { low };
        let outside = Error::new(Kind::Range, "memory: an entry of the pool below");
        let outside = outside.needed(queue.len as usize).given(i as usize);
        outside.fail_if(i >= queue.len)?;
        self.entry(&now, usize::from(priority), queue, i).map(|(number, _)| number).ok_or(outside)
    }

    /// Draws sequences by their first frame, uniformly over the frames that start a readable sequence of full length. The newest
    /// frames are only at the ends of sequences. `size` is limited to the frames held, and a sequence stops after a frame that
    /// has ended; with `exact_size` it is drawn again then.
    ///
    /// Errors: `Range` for the parameters; `NotReady` if no frame is held, or by [`Rule::Original`] fewer than `history_size`.
    /// Nothing is written then. `Inexact` with `exact_size` if a sequence is still shorter than `size` after the last attempt: it
    /// is written nevertheless, and so are all others.
    #[inline(never)]
    pub fn sample_uniform<R: Chance>(&self, draw: &Draw, rng: &mut R, samples: &mut [Sample]) -> Result {
        draw.check()?;
        let now = self.read_state()?;
        let size = if draw.size == 0 { self.config.max_sample_size } else { draw.size };
        match draw.rule {
            Rule::Fixed => self.uniform(&now, draw, size, rng, samples),
            Rule::Original => self.uniform_original(&now, size, rng, samples),
        }
    }

    /// Draws sequences by their last frame: one in `skewness` is a priority frame, the others are ordinary ones, uniformly within
    /// the pool; if one pool is empty, the other is used. A sequence does not reach back into another episode; with `exact_size`
    /// it is drawn again, from the same pool, if its episode is shorter.
    ///
    /// Errors: `Disabled` without `use_priority`; `Range` for the parameters, including a `size` above `max_sample_size`, which
    /// [`Rule::Original`] limits instead; `Empty` if no frame has enough predecessors. Nothing is written then. `Inexact` as in
    /// [`View::sample_uniform`]. `Busy` only with a concurrent writer that overwrites faster than this reads.
    #[inline(never)]
    pub fn sample_priority<R: Chance>(&self, draw: &Draw, rng: &mut R, samples: &mut [Sample]) -> Result {
        draw.check()?;
        DISABLED.fail_if(self.config.use_priority == 0)?;
        let most = self.config.max_sample_size;
        let usual = if self.config.priority_sample_size == 0 { most } else { self.config.priority_sample_size };
        let size = if draw.size == 0 { usual } else { draw.size };
        let what = "memory: size up to max_sample_size,";
        Error::limit(Kind::Range, what, most as usize, size as usize)
            .fail_if(size > most && draw.rule == Rule::Fixed)?;
        let mut now = self.read_state()?;
        if now.pools.iter().all(|queue| queue.len == 0) {
            now = self.look_again()?;
        }
        if draw.rule == Rule::Fixed && !draw.exact_size {
            return self.priority_at_once(now, draw, size, rng, samples);
        }
        let mut short = 0usize;
        for sample in samples {
            *sample = self.priority_one(&mut now, draw, size.min(most), rng)?;
            short = short.wrapping_add((sample.len.wrapping_sub(sample.burn_in) < size).into());
        }
        exact(draw, short)
    }

    /// Draws of one attempt each, batched so that none waits for another: first the random numbers of several, then the pool
    /// entries that they select, then the reaches of those frames.
    #[inline(always)]
    fn priority_at_once<R: Chance>(
        &self,
        now: Moment,
        draw: &Draw,
        size: u32,
        rng: &mut R,
        samples: &mut [Sample],
    ) -> Result {
        let (mut now, frames, more) = (now, self.config.history_size(), size.saturating_sub(1));
        for chunk in samples.chunks_mut(AT_ONCE) {
            let (mut places, mut pools) = ([0; AT_ONCE], [0; AT_ONCE]);
            // The values read belong to `now`, even if a draw is repeated at a later moment.
            let mut later = None;
            let (mut backs, mut reaches) = ([0; AT_ONCE], [0; AT_ONCE]);
            for ((place, from), _) in places.iter_mut().zip(&mut pools).zip(&*chunk) {
                *from = pool(&now, draw, rng);
                let [low, high] = now.pools;
                let queue = if *from == 0 { low } else { high };
                let i = rng.bounded(u64::from(queue.len).saturating_sub(1));
                *place = self.place(*from, queue, i as u32);
            }
            for (back, &place) in backs.iter_mut().zip(&places).take(chunk.len()) {
                *back = (now.end as u32).wrapping_sub(self.pools.get(place).copied().unwrap_or(0));
            }
            for (reach, &back) in reaches.iter_mut().zip(&backs).take(chunk.len()) {
                *reach = self.reach.get(behind(now.head, back, frames)).copied().unwrap_or(0);
            }
            for (((sample, from), back), reach) in chunk.iter_mut().zip(pools).zip(backs).zip(reaches) {
                *sample = if back.wrapping_sub(1) < now.listed {
                    let last = now.end.wrapping_sub(back.into());
                    sequence(&now, draw, last.wrapping_sub(reach.min(more).into()), last, reach.into(), from)
                } else {
                    self.priority_one(later.get_or_insert(now), draw, size, rng)?
                };
            }
            now = later.unwrap_or(now);
        }
        Ok(())
    }

    /// One draw, repeated at a later moment if a writer has changed the pool. Errors: `Busy`.
    #[inline(never)]
    fn priority_one<R: Chance>(&self, now: &mut Moment, draw: &Draw, size: u32, rng: &mut R) -> Result<Sample> {
        for _ in 0..shared::READ_ATTEMPTS {
            let drawn = match draw.rule {
                Rule::Fixed => self.priority(now, draw, size, rng),
                Rule::Original => self.priority_original(now, draw, size, rng),
            };
            match drawn {
                Some(drawn) => return Ok(drawn),
                None => *now = self.read_state()?,
            }
        }
        Err(LAPPED)
    }

    #[inline(always)]
    fn uniform<R: Chance>(&self, now: &Moment, draw: &Draw, size: u32, rng: &mut R, samples: &mut [Sample]) -> Result {
        let frames = now.end.saturating_sub(now.start);
        let len = frames.min(size.into());
        let Some(more) = len.checked_sub(1) else { return Err(NOT_READY.needed(1).given(0)) };
        let starts = frames.wrapping_sub(len);
        if draw.exact_size {
            return self.uniform_exact(now, draw, size, more, starts, rng, samples);
        }
        for chunk in samples.chunks_mut(AT_ONCE) {
            let (mut firsts, mut reaches) = ([0; AT_ONCE], [0; AT_ONCE]);
            for (first, _) in firsts.iter_mut().zip(&*chunk) {
                *first = now.start.wrapping_add(rng.bounded(starts));
            }
            for (reach, &first) in reaches.iter_mut().zip(&firsts).take(chunk.len()) {
                *reach = self.reach_of(now, first.wrapping_add(more));
            }
            for ((sample, first), reach) in chunk.iter_mut().zip(firsts).zip(reaches) {
                let whole = first.wrapping_add(more);
                let (last, reach) = if reach >= more { (whole, reach) } else { self.until_end(now, first, whole) };
                *sample = sequence(now, draw, first, last, reach, 0);
            }
        }
        Ok(())
    }

    #[expect(clippy::too_many_arguments, reason = "what its only caller has worked out")]
    fn uniform_exact<R: Chance>(
        &self,
        now: &Moment,
        draw: &Draw,
        size: u32,
        more: u64,
        starts: u64,
        rng: &mut R,
        samples: &mut [Sample],
    ) -> Result {
        let mut short = 0usize;
        for sample in samples {
            for _ in 0..draw.attempts {
                let first = now.start.wrapping_add(rng.bounded(starts));
                let (last, reach) = self.until_end(now, first, first.wrapping_add(more));
                *sample = sequence(now, draw, first, last, reach, 0);
                if last.wrapping_sub(first) == more {
                    break;
                }
            }
            short = short.wrapping_add((sample.len.wrapping_sub(sample.burn_in) < size).into());
        }
        exact(draw, short)
    }

    fn uniform_original<R: Chance>(&self, now: &Moment, size: u32, rng: &mut R, samples: &mut [Sample]) -> Result {
        let frames = u64::from(self.config.history_size());
        NOT_READY.needed(frames as usize).given(now.end as usize).fail_if(now.end < frames)?;
        let Some(starts) = frames.checked_sub(u64::from(size).saturating_add(2)) else {
            let what = "memory: size, in the original's uniform draws, up to";
            return Err(Error::limit(Kind::Range, what, frames.saturating_sub(2) as usize, size as usize));
        };
        for sample in samples {
            let drawn = now.end.wrapping_sub(frames).wrapping_add(rng.bounded(starts));
            // The frame after one that has ended has a reach of 0.
            let has_ended = self.reach_of(now, drawn.wrapping_add(1)) == 0;
            let first = drawn.wrapping_add(has_ended.into());
            let (last, _) = self.until_end(now, first, first.wrapping_add(u64::from(size).saturating_sub(1)));
            *sample = sequence(now, &Draw::default(), first, last, 0, 0);
        }
        Ok(())
    }

    /// One draw; `None` if a writer has changed the pool.
    #[inline(always)]
    fn priority<R: Chance>(&self, now: &Moment, draw: &Draw, size: u32, rng: &mut R) -> Option<Sample> {
        let from = pool(now, draw, rng);
        let queue = *now.pools.get(from)?;
        let attempts = if draw.exact_size { draw.attempts } else { 1 };
        let mut found = None;
        for _ in 0..attempts {
            let (last, back) = self.draw_entry(now, from, queue, rng)?;
            let reach = u64::from(*self.reach.get(behind(now.head, back, self.config.history_size()))?);
            let first = last.wrapping_sub(reach.min(u64::from(size).wrapping_sub(1)));
            found = Some(sequence(now, draw, first, last, reach, from));
            if reach >= u64::from(size).wrapping_sub(1) {
                break;
            }
        }
        found
    }

    fn priority_original<R: Chance>(&self, now: &Moment, draw: &Draw, size: u32, rng: &mut R) -> Option<Sample> {
        let from = pool(now, draw, rng);
        let queue = *now.pools.get(from)?;
        let more = u64::from(size).saturating_sub(1);
        let mut left = draw.attempts;
        loop {
            left = left.saturating_sub(1);
            let (end, _) = self.draw_entry(now, from, queue, rng)?;
            let first = end.wrapping_sub(more);
            let (last, _) = self.until_end(now, first, end);
            let whole = Sample { first, len: size, burn_in: 0, gap: 0, priority: from as u32 };
            if last == end || left == 0 {
                return Some(whole);
            }
            if !draw.exact_size {
                let (len, gap) = (last.wrapping_sub(first).wrapping_add(2), end.wrapping_sub(last).wrapping_sub(1));
                return Some(Sample { len: len as u32, gap: gap as u32, ..whole });
            }
        }
    }

    /// The current state, for a draw. Errors: `Shape`.
    #[inline(always)]
    pub(super) fn read_state(&self) -> Result<Moment> {
        let pools = snapshot(&self.state.pools);
        // A frame is counted before its number enters a pool. Halves of a queue from two moments lead to a place with a 0 or a
        // later number, neither of which is drawn.
        fence(Ordering::Acquire);
        let held = if self.config.table.max_stack() > 1 { self.table.whole(0)? } else { self.held() };
        let (end, frames) = (held.end, u64::from(self.config.history_size()));
        Ok(Moment {
            pools,
            end,
            start: held.start,
            head: end.checked_rem(frames).ok_or(SHAPE)? as u32,
            listed: end.min(frames).saturating_sub(self.margin.into()) as u32,
        })
    }

    /// As [`View::look`], after it found empty pools: a concurrent writer may empty them for a moment. Errors: `Empty`, `Busy`.
    #[cold]
    fn look_again(&self) -> Result<Moment> {
        for _ in 0..shared::READ_ATTEMPTS {
            let now = self.read_state()?;
            EMPTY.given(now.end.min(self.config.history_size().into()) as usize).fail_if(now.listed == 0)?;
            if now.pools.iter().any(|queue| queue.len != 0) {
                return Ok(now);
            }
            spin_loop();
        }
        Err(LAPPED)
    }

    /// Number and distance from the end of entry `i` of a queue; `None` if the entry is not valid.
    #[inline(always)]
    fn entry(&self, now: &Moment, from: usize, queue: Queue, i: u32) -> Option<(u64, u32)> {
        let back = (now.end as u32).wrapping_sub(*self.pools.get(self.place(from, queue, i))?);
        (back.wrapping_sub(1) < now.listed).then(|| (now.end.wrapping_sub(back.into()), back))
    }

    /// Index of entry `i` of a queue in [`View::pools`].
    #[inline(always)]
    fn place(&self, from: usize, queue: Queue, i: u32) -> usize {
        let frames = self.config.history_size();
        let place = ahead(queue.begin, i, frames);
        if from == 0 { place } else { place.wrapping_add(frames as usize) }
    }

    #[inline(always)]
    fn draw_entry<R: Chance>(&self, now: &Moment, from: usize, queue: Queue, rng: &mut R) -> Option<(u64, u32)> {
        let i = rng.bounded(u64::from(queue.len.checked_sub(1)?));
        self.entry(now, from, queue, i as u32)
    }

    /// Number and reach of the first frame of `first..=last` that has ended, or else of `last`.
    #[inline(always)]
    fn until_end(&self, now: &Moment, first: u64, last: u64) -> (u64, u64) {
        let mut found = last;
        loop {
            let reach = self.reach_of(now, found);
            if reach >= found.saturating_sub(first) {
                return (found, reach);
            }
            // The frame before the first one of this episode has ended.
            found = found.wrapping_sub(reach).wrapping_sub(1);
        }
    }

    #[inline(always)]
    fn reach_of(&self, now: &Moment, number: u64) -> u64 {
        let back = now.end.wrapping_sub(number) as u32;
        let slot = behind(now.head, back, self.config.history_size());
        self.reach.get(slot).copied().unwrap_or(0).into()
    }
}

/// The pool of a draw, by a coin; the other pool if that one is empty.
#[inline(always)]
fn pool<R: Chance>(now: &Moment, draw: &Draw, rng: &mut R) -> usize {
    let [low, high] = now.pools;
    let heads = rng.bounded(u64::from(draw.skewness).wrapping_sub(1)) == 0;
    usize::from((heads | (low.len == 0)) & (high.len != 0))
}

/// Frames `first..=last` of one episode and the burn-in before them; `reach` is that of `last`.
#[inline(always)]
fn sequence(now: &Moment, draw: &Draw, first: u64, last: u64, reach: u64, pool: usize) -> Sample {
    let more = last.wrapping_sub(first);
    let before = reach.saturating_sub(more).min(first.saturating_sub(now.start)).min(draw.burn_in.into());
    Sample {
        first: first.wrapping_sub(before),
        len: more.wrapping_add(before).wrapping_add(1) as u32,
        burn_in: before as u32,
        gap: 0,
        priority: pool as u32,
    }
}

fn exact(draw: &Draw, short: usize) -> Result {
    if draw.exact_size && draw.rule == Rule::Fixed && short != 0 { Err(INEXACT.needed(0).given(short)) } else { Ok(()) }
}
