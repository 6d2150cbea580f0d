//! Records: observations combined with the data of their step.

use bytemuck::{Pod, Zeroable};

use super::change::{Change, Fit, Record, SHAPE, bytes_of};
use super::episodes;
use super::fields::{place, rounded};
use super::layer::{Below, Face, Start};
use crate::block;
use crate::env::{Autoreset, Step, view_mut};
use crate::error::{Error, Kind, Result};
use crate::space::{Element, Elements, ElementsMut, Field, MAX_RANK, Space};

/// Data of a record apart from the frame; the last action follows.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Facts {
    /// Sum of the rewards of the episode.
    total: f64,
    /// Steps of the episode.
    steps: u32,
    /// Reward of the last step.
    reward: f32,
    /// 1 if the episode ended with the last step.
    done: u32,
    /// [`REAL_DONE`] and [`APART`].
    flags: u32,
}

/// Flag: the game ended with the last step.
const REAL_DONE: u32 = 1;
/// Flag: episodes start in separate calls, so that the record of the final step has already reported the end. Constant.
const APART: u32 = 2;

impl Facts {
    /// Resets the data to that before the first step of an episode.
    fn clear(&mut self) {
        *self = Facts { flags: self.flags & APART, ..Facts::zeroed() };
    }
}

pub(super) fn fit(life: Option<usize>, face: &mut Face<'_>) -> Result<Fit> {
    let config = |what| Error::new(Kind::Config, what);
    let frame = face.seen();
    let only = *face.only().ok_or(config("record: an observation of one part"))?;
    let rank = only.shape().len();
    let mut dims = [1; MAX_RANK];
    if rank >= MAX_RANK {
        return Err(config("record: an observation of fewer dimensions than").needed(MAX_RANK).given(rank));
    }
    for (to, from) in dims.iter_mut().skip(1).zip(only.shape()) {
        *to = *from;
    }
    let shape = dims.get(..rank.saturating_add(1)).unwrap_or(&dims);
    let action_len = face.action.len;
    let mut fields = [
        Field { channels_first: only.channels_first, ..Field::new("frame", only.kind, shape, 0) },
        Field::new("reward", Element::F32, &[1], 0),
        Field::new("done", Element::U8, &[1], 0),
        Field::new("episode_return", Element::F32, &[1], 0),
        Field::new("episode_step", Element::I32, &[1], 0),
        Field::new("last_action", face.action.kind, &[action_len], 0),
        Field::new("real_done", Element::U8, &[1], 0),
    ];
    let (mut end, mut largest) = (0, 1);
    for field in &mut fields {
        place(field, &mut end, &mut largest)?;
    }
    let len = rounded(end, largest)?;
    let [_, reward, done, episode_return, episode_step, last_action, real_done] =
        fields.map(|field| field.offset as usize);
    face.show(Space::bytes(len), &fields);
    let record = Record {
        frame,
        reward,
        done,
        episode_return,
        episode_step,
        last_action,
        action_len: action_len as usize,
        real_done,
        len: len as usize,
        life,
    };
    Ok(Fit::new(Change::Record(record), record.room()))
}

impl Record {
    fn room(&self) -> usize {
        let action = self.action_len.saturating_mul(4).saturating_add(7) & !7;
        let facts = action.saturating_add(size_of::<Facts>());
        if self.frame.kind == Element::U8 { facts } else { facts.saturating_add(self.frame.room()) }
    }

    /// The data, the last action, and the buffer for a frame that is not bytes.
    fn cut<'s>(&self, own: &'s mut [u8]) -> Result<(&'s mut Facts, &'s mut [u8], &'s mut [u8])> {
        let (facts, rest) = own.split_at_mut_checked(size_of::<Facts>()).ok_or(SHAPE)?;
        let bytes = self.action_len.saturating_mul(4);
        let (action, rest) = rest.split_at_mut_checked(bytes.saturating_add(7) & !7).ok_or(SHAPE)?;
        Ok((view_mut(facts)?, action.get_mut(..bytes).ok_or(SHAPE)?, rest))
    }

    /// Writes the initial record, which precedes the first step.
    pub fn initial(&self, out: &mut [u8]) -> Result {
        Error::limit(Kind::Shape, "record: bytes,", self.len, out.len()).fail_if(out.len() != self.len)?;
        out.fill(0);
        self.write(&Facts { flags: REAL_DONE, ..Facts::zeroed() }, &[], out)
    }

    /// Stores whether the first record of an episode reports the end of the last one, which depends on the autoreset
    /// mode.
    pub fn configure(&self, own: &mut [u8], autoreset: Autoreset) -> Result {
        let (facts, ..) = self.cut(own)?;
        facts.flags = facts.flags & !APART | if autoreset == Autoreset::SameStep { 0 } else { APART };
        Ok(())
    }

    pub fn start(&self, mut below: impl Below, own: &mut [u8], start: Start<'_>, obs: ElementsMut<'_>) -> Result {
        let out = obs.u8()?;
        let (facts, action, room) = self.cut(own)?;
        self.frame(room, out, |frame| below.start(start, frame))?;
        let told = facts.flags & APART != 0 && facts.done != 0;
        if !matches!(start, Start::Again(_)) || told {
            facts.clear();
        } else if facts.steps > 0 {
            facts.done = 1;
            facts.flags |= if self.life.is_none() { REAL_DONE } else { 0 };
        }
        if facts.steps == 0 {
            action.fill(0);
        }
        self.write(facts, action, out)?;
        facts.clear();
        action.fill(0);
        Ok(())
    }

    pub fn step(
        &self,
        mut below: impl Below,
        own: &mut [u8],
        action: Elements<'_>,
        obs: ElementsMut<'_>,
    ) -> Result<Step> {
        let out = obs.u8()?;
        let (facts, last_action, room) = self.cut(own)?;
        let step = self.frame(room, out, |frame| below.step(action, frame))?;
        let given = bytes_of(action)?;
        SHAPE.fail_if(given.len() != last_action.len())?;
        block::copy(last_action, given);
        let done = step.terminated | step.truncated;
        let real_done = match self.life.and_then(|at| below.state().get(at..)) {
            Some(memo) => episodes::is_over(memo),
            None => done,
        };
        *facts = Facts {
            total: facts.total + f64::from(step.reward),
            steps: facts.steps.saturating_add(1),
            reward: step.reward,
            done: done.into(),
            flags: facts.flags & APART | if real_done { REAL_DONE } else { 0 },
        };
        self.write(facts, last_action, out)?;
        Ok(step)
    }

    /// Makes the layers below write the frame: directly into its place if it is bytes, else into a buffer that is then
    /// copied.
    fn frame<T>(&self, room: &mut [u8], out: &mut [u8], make: impl FnOnce(ElementsMut<'_>) -> Result<T>) -> Result<T> {
        let place = out.get_mut(..self.frame.bytes()).ok_or(SHAPE)?;
        if self.frame.kind == Element::U8 {
            return make(ElementsMut::U8(place));
        }
        let (mut frame, _) = self.frame.cut(room)?;
        let made = make(frame.reborrow())?;
        block::copy(place, bytes_of(frame.as_ref())?);
        Ok(made)
    }

    /// Writes all fields but the frame.
    fn write(&self, facts: &Facts, action: &[u8], out: &mut [u8]) -> Result {
        out.get_mut(self.frame.bytes()..).ok_or(SHAPE)?.fill(0);
        let steps = i32::try_from(facts.steps).unwrap_or(i32::MAX);
        put(out, self.reward, &facts.reward.to_ne_bytes())?;
        put(out, self.done, &[u8::from(facts.done != 0)])?;
        put(out, self.episode_return, &(facts.total as f32).to_ne_bytes())?;
        put(out, self.episode_step, &steps.to_ne_bytes())?;
        put(out, self.last_action, action)?;
        put(out, self.real_done, &[u8::from(facts.flags & REAL_DONE != 0)])
    }
}

fn put(out: &mut [u8], at: usize, bytes: &[u8]) -> Result {
    let place = out.get_mut(at..).and_then(|rest| rest.get_mut(..bytes.len())).ok_or(SHAPE)?;
    block::copy(place, bytes);
    Ok(())
}
