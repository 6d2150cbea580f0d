//! What a layer makes of the observation below it: worked out once, when the list is put together, and kept as plain data.

use crate::error::{Error, Kind, Result};
use crate::kernels::image::Size;
use crate::kernels::stack::Layout;
use crate::space::{Element, Elements, ElementsMut};

/// Most named parts of an observation.
pub const MAX_FIELDS: usize = 8;

pub(super) const SHAPE: Error = Error::new(Kind::Shape, "wrapped observations: elements of the agreed kind");

pub(super) const WIDE: Error = Error::new(Kind::Config, "wrapped observations: at most 2^32 - 1 elements");

/// What a layer does to the observation of the layer below.
#[derive(Clone, Copy)]
pub(super) enum Change {
    /// Nothing, or the layer below does it.
    None,
    Warp(Warp),
    Rescale(Seen),
    Scale(Seen),
    Stack(Stack),
    Planes(Seen, Size),
    /// Parts become elements of one kind, one after another.
    Gather(Parts),
    Record(Record),
    Observe(Seen),
}

/// An observation that a layer keeps.
#[derive(Clone, Copy)]
pub(super) struct Seen {
    pub kind: Element,
    pub len: usize,
}

impl Seen {
    /// Bytes of it.
    pub fn bytes(&self) -> usize {
        self.len.saturating_mul(self.kind.size())
    }

    /// Bytes that it takes, so that what lies behind it is aligned.
    pub fn room(&self) -> usize {
        self.bytes().saturating_add(7) & !7
    }

    /// Cuts it off the front of a layer's bytes.
    pub fn cut<'s>(&self, own: &'s mut [u8]) -> Result<(ElementsMut<'s>, &'s mut [u8])> {
        let (room, rest) = own.split_at_mut_checked(self.room()).ok_or(SHAPE)?;
        Ok((elements(self.kind, room.get_mut(..self.bytes()).ok_or(SHAPE)?)?, rest))
    }
}

/// Aligned bytes as elements.
pub(super) fn elements(kind: Element, bytes: &mut [u8]) -> Result<ElementsMut<'_>> {
    Ok(match kind {
        Element::F32 => ElementsMut::F32(bytemuck::try_cast_slice_mut(bytes).map_err(|_| SHAPE)?),
        Element::I32 => ElementsMut::I32(bytemuck::try_cast_slice_mut(bytes).map_err(|_| SHAPE)?),
        Element::U8 => ElementsMut::U8(bytes),
    })
}

/// The bytes of elements.
pub(super) fn bytes_of(obs: Elements<'_>) -> Result<&[u8]> {
    match obs {
        Elements::F32(x) => bytemuck::try_cast_slice(x).map_err(|_| SHAPE),
        Elements::I32(x) => bytemuck::try_cast_slice(x).map_err(|_| SHAPE),
        Elements::U8(x) => Ok(x),
    }
}

/// The image bytes.
pub(super) fn u8_of(obs: Elements<'_>) -> Result<&[u8]> {
    match obs {
        Elements::U8(x) => Ok(x),
        _ => Err(SHAPE),
    }
}

/// What a wrapper of observations needs and does, and what it lets the layer that made the observation do.
pub(super) struct Fit {
    pub change: Change,
    /// Bytes of state.
    pub own: usize,
    /// The outermost layer that does not merely pass the observation on shall do this too, with so many bytes of state.
    pub merged: Option<(Change, usize)>,
}

impl Fit {
    pub fn new(change: Change, own: usize) -> Self {
        Fit { change, own, merged: None }
    }

    /// Nothing is left to do.
    pub fn nothing() -> Self {
        Fit::new(Change::None, 0)
    }

    pub fn merged(change: Change, own: usize) -> Self {
        Fit { merged: Some((change, own)), ..Fit::nothing() }
    }
}

/// Shrinks the picture of an observation; the bytes of the other parts stay what they are.
#[derive(Clone, Copy)]
pub(super) struct Warp {
    pub seen: Seen,
    pub from: Size,
    pub to: Size,
    /// Numbers of scratch.
    pub scratch: usize,
    /// Where the parts are and where they go; the picture is one of them.
    pub parts: Parts,
    pub picture: usize,
    /// There is no other part.
    pub alone: bool,
}

/// Keeps the last observations in a ring and shows them side by side.
#[derive(Clone, Copy)]
pub(super) struct Stack {
    /// Kind of the observations that are kept; bytes may be shown as numbers.
    pub kind: Element,
    pub len: usize,
    pub count: usize,
    /// Elements of the last axis.
    pub channels: usize,
    pub layout: Layout,
}

/// A part that goes from one place to another. Places and size are in bytes.
#[derive(Clone, Copy)]
pub(super) struct Move {
    pub kind: Element,
    pub from: u32,
    pub to: u32,
    /// Bytes that it has in its new place.
    pub size: u32,
}

/// Parts of an observation and where they go.
#[derive(Clone, Copy)]
pub(super) struct Parts {
    pub seen: Seen,
    pub moves: [Move; MAX_FIELDS],
    pub len: usize,
}

/// Where the parts of a record lie, in bytes.
#[derive(Clone, Copy)]
pub(super) struct Record {
    pub frame: Seen,
    pub reward: usize,
    pub done: usize,
    pub episode_return: usize,
    pub episode_step: usize,
    pub last_action: usize,
    pub action_len: usize,
    pub real_done: usize,
    pub len: usize,
    /// Where an episodic life below remembers the game.
    pub life: Option<usize>,
}
