//! Wrappers of observations: what each makes of the observation below it, worked out once, when the list is put together.
//!
//! A layer that cannot write its observation in place keeps the one below it in its own bytes. Where two layers can do
//! their work in one pass, the outer one hands its work to the inner one and only passes on.

use super::Wrapper;
use super::fields::{self, Parts};
use super::frames::{self, Stack, Warp};
use super::pipeline::{Face, Inner, Layer, Start};
use super::records::{self, Record};
use crate::env::Step;
use crate::error::{Error, Kind, Result};
use crate::kernels::image::{self, Size};
use crate::rng::Rng;
use crate::space::{Element, Elements, ElementsMut, Field, Space};

pub(super) const SHAPE: Error = Error::new(Kind::Shape, "wrapped observations: elements of the agreed kind");

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
    /// The observation that this face shows.
    pub fn of(face: &Face<'_>) -> Self {
        Seen { kind: face.obs.kind, len: face.obs.len as usize }
    }

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

/// Checks a wrapper and says what it shows and does. `source` is the layer whose observation arrives here unchanged;
/// `life` says where an episodic life below remembers the game.
pub(super) fn fit<'a>(
    wrapper: &Wrapper<'a>,
    source: Option<&Layer<'a>>,
    life: Option<usize>,
    face: &mut Face<'a>,
) -> Result<Fit> {
    match *wrapper {
        Wrapper::WarpFrame { height, width, gray, field } => {
            let to = [height, width];
            frames::fit_warp(to, gray, field, source, face)
        }
        Wrapper::AtariRescale => frames::fit_rescale(face),
        Wrapper::ScaledFloat => frames::fit_scale(source, face),
        Wrapper::FrameStack { count } => frames::fit_stack(count, face),
        Wrapper::ChannelsFirst => frames::fit_planes(source, face),
        Wrapper::Flatten => fields::fit_flatten(face),
        Wrapper::Extract { field } => fields::fit_extract(field, face),
        Wrapper::Record => records::fit(life, face),
        Wrapper::Observe { len, .. } => {
            let seen = Seen::of(face);
            if len == 0 {
                return Err(Error::new(Kind::Config, "observe: a len of at least 1").given(0));
            }
            face.show(Space::unbounded(len), &[Field::new("", Element::F32, &[len], 0)]);
            Ok(Fit::new(Change::Observe(seen), seen.room()))
        }
        _ => Ok(Fit::nothing()),
    }
}

/// Starts an episode below and shows its first observation.
pub(super) fn start(
    inner: Inner<'_, '_>,
    layer: &Layer<'_>,
    own: &mut [u8],
    start: Start,
    below: &mut [u8],
    rng: &mut Rng,
    obs: ElementsMut<'_>,
) -> Result {
    match &layer.change {
        Change::None => inner.start(start, below, rng, obs),
        Change::Stack(stack) => stack.start(inner, own, start, below, rng, obs),
        Change::Record(record) => record.start(inner, own, start, below, rng, obs),
        change => {
            let (mut seen, rest) = change.seen().cut(own)?;
            inner.start(start, below, rng, seen.reborrow())?;
            change.show(&layer.wrapper, seen.as_ref(), rest, obs)
        }
    }
}

/// Takes a step below and shows the observation after it.
pub(super) fn step(
    inner: Inner<'_, '_>,
    layer: &Layer<'_>,
    own: &mut [u8],
    below: &mut [u8],
    rng: &mut Rng,
    action: Elements<'_>,
    obs: ElementsMut<'_>,
) -> Result<Step> {
    match &layer.change {
        Change::None => inner.step(below, rng, action, obs),
        Change::Stack(stack) => stack.step(inner, own, below, rng, action, obs),
        Change::Record(record) => record.step(inner, own, below, rng, action, obs),
        change => {
            let (mut seen, rest) = change.seen().cut(own)?;
            let step = inner.step(below, rng, action, seen.reborrow())?;
            change.show(&layer.wrapper, seen.as_ref(), rest, obs)?;
            Ok(step)
        }
    }
}

impl Change {
    /// The observation below, where it is kept whole.
    fn seen(&self) -> Seen {
        match self {
            Change::Warp(warp) => warp.seen,
            Change::Gather(parts) => parts.seen,
            Change::Rescale(seen) | Change::Scale(seen) | Change::Planes(seen, _) | Change::Observe(seen) => *seen,
            Change::None | Change::Stack(_) | Change::Record(_) => Seen { kind: Element::U8, len: 0 },
        }
    }

    fn show(&self, wrapper: &Wrapper<'_>, seen: Elements<'_>, scratch: &mut [u8], obs: ElementsMut<'_>) -> Result {
        match (self, wrapper) {
            (Change::Warp(warp), _) => warp.show(u8_of(seen)?, None, scratch, obs.u8()?),
            (Change::Rescale(_), _) => image::rescale42(u8_of(seen)?, obs.f32()?),
            (Change::Scale(_), _) => image::scale_bytes(u8_of(seen)?, obs.f32()?),
            (Change::Planes(_, size), _) => match (seen, obs) {
                (Elements::U8(x), ElementsMut::U8(out)) => image::channels_first(*size, x, out),
                (Elements::F32(x), ElementsMut::F32(out)) => image::channels_first(*size, x, out),
                _ => Err(SHAPE),
            },
            (Change::Gather(parts), _) => parts.gather(seen, obs),
            (Change::Observe(_), Wrapper::Observe { observe, .. }) => observe.observe(seen, obs),
            _ => Err(SHAPE),
        }
    }
}
