//! Observation wrappers. The transformation of each is determined when the list of wrappers is built.
//!
//! A layer that cannot transform the observation in place stores the observation of the layer below in its own state.
//! Where two layers can work in a single pass, the outer one merges its work into the inner one and only passes the
//! observation on.

use super::change::{Change, Fit, SHAPE, Seen, u8_of};
use super::layer::{Below, Face, Layer, Start};
use super::wrapper::Wrapper;
use super::{fields, frames, records};
use crate::env::Step;
use crate::error::{Error, Kind, Result};
use crate::kernels::image;
use crate::space::{Element, Elements, ElementsMut, Field, Space};

/// Checks an observation wrapper, updates the observation space in `face`, and determines its transformation. `source`
/// is the layer that produced the current observation; `life` is the offset of the state of an episodic life wrapper
/// below.
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
        Wrapper::OneHot => fields::fit_one_hot(face),
        Wrapper::Extract { field } => fields::fit_extract(field, face),
        Wrapper::Record => records::fit(life, face),
        Wrapper::Observe { len, .. } => {
            let seen = face.seen();
            Error::new(Kind::Config, "observe: a len of at least 1").given(0).fail_if(len == 0)?;
            face.show(Space::unbounded(len), &[Field::new("", Element::F32, &[len], 0)]);
            Ok(Fit::new(Change::Observe(seen), seen.room()))
        }
        _ => Ok(Fit::nothing()),
    }
}

/// Starts an episode in the layers below and writes the transformed first observation.
pub(super) fn start(
    mut below: impl Below,
    layer: &Layer<'_>,
    own: &mut [u8],
    start: Start<'_>,
    obs: ElementsMut<'_>,
) -> Result {
    match &layer.change {
        Change::None => below.start(start, obs),
        Change::Stack(stack) => stack.start(below, own, start, obs),
        Change::Record(record) => record.start(below, own, start, obs),
        change => {
            let (mut seen, rest) = change.seen().cut(own)?;
            below.start(start, seen.reborrow())?;
            change.show(layer, below.row(), seen.as_ref(), rest, obs)
        }
    }
}

/// Takes a step in the layers below and writes the transformed observation.
pub(super) fn step(
    mut below: impl Below,
    layer: &Layer<'_>,
    own: &mut [u8],
    action: Elements<'_>,
    obs: ElementsMut<'_>,
) -> Result<Step> {
    match &layer.change {
        Change::None => below.step(action, obs),
        Change::Stack(stack) => stack.step(below, own, action, obs),
        Change::Record(record) => record.step(below, own, action, obs),
        change => {
            let (mut seen, rest) = change.seen().cut(own)?;
            let step = below.step(action, seen.reborrow())?;
            change.show(layer, below.row(), seen.as_ref(), rest, obs)?;
            Ok(step)
        }
    }
}

impl Change {
    /// The stored observation of the layer below, for transformations that store it whole.
    fn seen(&self) -> Seen {
        match self {
            Change::Warp(warp) => warp.seen,
            Change::Gather(parts) => parts.seen,
            Change::Rescale(seen) | Change::Scale(seen) | Change::Planes(seen, _) | Change::Observe(seen) => *seen,
            Change::None | Change::Stack(_) | Change::Record(_) => Seen { kind: Element::U8, len: 0 },
        }
    }

    fn show(
        &self,
        layer: &Layer<'_>,
        row: usize,
        seen: Elements<'_>,
        scratch: &mut [u8],
        obs: ElementsMut<'_>,
    ) -> Result {
        match (self, &layer.wrapper) {
            (Change::Warp(warp), _) => warp.show(u8_of(seen)?, None, scratch, obs.u8()?),
            (Change::Rescale(_), _) => image::rescale42(u8_of(seen)?, obs.f32()?),
            (Change::Scale(_), _) => image::scale_bytes(u8_of(seen)?, obs.f32()?),
            (Change::Planes(_, size), _) => match (seen, obs) {
                (Elements::U8(x), ElementsMut::U8(out)) => image::channels_first(*size, x, out),
                (Elements::F32(x), ElementsMut::F32(out)) => image::channels_first(*size, x, out),
                _ => Err(SHAPE),
            },
            (Change::Gather(parts), _) => parts.gather(seen, layer.n, obs),
            (Change::Observe(_), Wrapper::Observe { observe, .. }) => observe.observe(row, seen, obs),
            _ => Err(SHAPE),
        }
    }
}
