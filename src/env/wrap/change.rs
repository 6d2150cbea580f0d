//! Transformation of the observation by each layer, determined when the list of wrappers is built and stored as plain
//! data.

use crate::error::{Error, Kind, Result};
use crate::kernels::image::Size;
use crate::kernels::stack::Layout;
use crate::space::{Element, Elements, ElementsMut};

/// Most fields of a wrapped observation.
pub const MAX_FIELDS: usize = 8;

pub(super) const SHAPE: Error = Error::new(Kind::Shape, "wrapped observations: elements of the agreed kind");

pub(super) const WIDE: Error = Error::new(Kind::Config, "wrapped observations: at most 2^32 - 1 elements");

/// Transformation of the observation of the layer below.
#[derive(Clone, Copy)]
pub(super) enum Change {
    /// No change, or the change is merged into a layer below.
    None,
    Warp(Warp),
    Rescale(Seen),
    Scale(Seen),
    Stack(Stack),
    Planes(Seen, Size),
    /// Fields are converted to elements of one kind and packed one after another.
    Gather(Parts),
    Record(Record),
    Observe(Seen),
}

/// An observation that a layer stores.
#[derive(Clone, Copy)]
pub(super) struct Seen {
    pub kind: Element,
    pub len: usize,
}

impl Seen {
    /// Size in bytes.
    pub fn bytes(&self) -> usize {
        self.len.saturating_mul(self.kind.size())
    }

    /// Size in bytes, rounded up to 8 so that the following data is aligned.
    pub fn room(&self) -> usize {
        self.bytes().saturating_add(7) & !7
    }

    /// Cuts the observation off the front of a layer's state.
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

/// Requirements of an observation wrapper: its transformation, its state size, and work merged into a layer below.
pub(super) struct Fit {
    pub change: Change,
    /// Size of the wrapper's state in bytes.
    pub own: usize,
    /// Transformation that replaces that of the outermost layer that changes the observation, and that layer's new
    /// state size.
    pub merged: Option<(Change, usize)>,
}

impl Fit {
    pub fn new(change: Change, own: usize) -> Self {
        Fit { change, own, merged: None }
    }

    /// No transformation and no state.
    pub fn nothing() -> Self {
        Fit::new(Change::None, 0)
    }

    pub fn merged(change: Change, own: usize) -> Self {
        Fit { merged: Some((change, own)), ..Fit::nothing() }
    }
}

/// Resizes the image of an observation; the bytes of the other fields are unchanged.
#[derive(Clone, Copy)]
pub(super) struct Warp {
    pub seen: Seen,
    pub from: Size,
    pub to: Size,
    /// Number of f32 elements of scratch memory.
    pub scratch: usize,
    /// Old and new places of all fields, including the image.
    pub parts: Parts,
    pub picture: usize,
    /// True if the image is the only field.
    pub alone: bool,
}

/// Stores the last observations in a ring buffer and returns them stacked.
#[derive(Clone, Copy)]
pub(super) struct Stack {
    /// Element kind of the stored observations; bytes may be returned as numbers.
    pub kind: Element,
    pub len: usize,
    pub count: usize,
    /// Size of the last axis.
    pub channels: usize,
    pub layout: Layout,
}

/// Move of one field. Offsets and size are in bytes.
#[derive(Clone, Copy)]
pub(super) struct Move {
    pub kind: Element,
    pub from: u32,
    pub to: u32,
    /// Size of the field at its new place.
    pub size: u32,
}

/// Fields of an observation and their moves.
#[derive(Clone, Copy)]
pub(super) struct Parts {
    pub seen: Seen,
    pub moves: [Move; MAX_FIELDS],
    pub len: usize,
    /// Choices are gathered as one-hot numbers.
    pub one_hot: bool,
}

/// Offsets of the fields of a record in bytes.
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
    /// Offset of the state of an episodic life wrapper below.
    pub life: Option<usize>,
}
