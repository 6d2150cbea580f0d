//! Action wrappers.

use bytemuck::{Pod, Zeroable};

use super::layer::{Below, Face, Layer, Start};
use super::wrapper::Wrapper;
use crate::env::{Step, view_mut};
use crate::error::{Error, Kind, Result};
use crate::num;
use crate::space::{Element, Elements, ElementsMut, Space};

const SHAPE: Error = Error::new(Kind::Shape, "wrapped actions: elements of the agreed kind");

/// State of sticky actions: 1 if there is a previous action. The action itself follows.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Sticky {
    held: u64,
}

/// Checks an action wrapper, updates the action space in `face`, and returns the size of the wrapper's state.
pub(super) fn fit<'a>(wrapper: &Wrapper<'a>, face: &mut Face<'a>) -> Result<usize> {
    let config = |what| Error::new(Kind::Config, what);
    let room = (face.action.len as usize).saturating_mul(4);
    match *wrapper {
        Wrapper::StickyActions { probability } => {
            if !(0.0..=1.0).contains(&probability) {
                return Err(config("sticky actions: a probability from 0 to 1").given_f32(probability));
            }
            Ok(room.saturating_add(size_of::<Sticky>()))
        }
        Wrapper::RescaleAction { low, high } => {
            // The difference of two floats is finite only if both are.
            if !((high - low).is_finite() && low < high) {
                return Err(config("action rescaling: bounds a finite way apart, low below high").given_f32(low));
            }
            let finite = |i| matches!(face.bounds(i), (low, high) if (high - low).is_finite());
            if face.action.kind != Element::F32 || !(0..face.action.len as usize).all(finite) {
                return Err(config("action rescaling: continuous actions with bounds a finite way apart"));
            }
            face.range = Some([low, high]);
            Ok(room)
        }
        _ => {
            if face.action.kind != Element::F32 {
                return Err(config("action clipping: continuous actions"));
            }
            face.action = Space { low: &[], high: &[], ..face.action };
            face.range = None;
            Ok(room)
        }
    }
}

/// A new episode has no previous action.
pub(super) fn start_sticky(mut below: impl Below, own: &mut [u8], start: Start<'_>, obs: ElementsMut<'_>) -> Result {
    own.fill(0);
    below.start(start, obs)
}

/// Draws one random number in every step of an episode but the first, as Gymnasium does.
pub(super) fn step_sticky(
    mut below: impl Below,
    own: &mut [u8],
    probability: f32,
    action: Elements<'_>,
    obs: ElementsMut<'_>,
) -> Result<Step> {
    let (memo, last) = own.split_at_mut_checked(size_of::<Sticky>()).ok_or(SHAPE)?;
    let memo: &mut Sticky = view_mut(memo)?;
    let again = memo.held != 0 && below.rng().uniform() < f64::from(probability);
    memo.held = 1;
    let action = match action {
        Elements::I32(x) => Elements::I32(hold(last, x, again)?),
        Elements::F32(x) => Elements::F32(hold(last, x, again)?),
        Elements::U8(_) => return Err(SHAPE),
    };
    below.step(action, obs)
}

/// Returns the action to apply: the previous one, or the new one, which is stored.
fn hold<'s, T: Pod>(last: &'s mut [u8], action: &[T], again: bool) -> Result<&'s [T]> {
    let bytes = size_of_val(action);
    let last = bytemuck::try_cast_slice_mut(last.get_mut(..bytes).ok_or(SHAPE)?).map_err(|_| SHAPE)?;
    if !again {
        for (to, from) in last.iter_mut().zip(action) {
            *to = *from;
        }
    }
    Ok(last)
}

/// Maps actions from the range `low` to `high` to the bounds of the layer below; values outside are clipped.
pub(super) fn rescale<'s>(
    own: &'s mut [u8],
    layer: &Layer<'_>,
    low: f32,
    high: f32,
    action: Elements<'_>,
) -> Result<Elements<'s>> {
    let width = high - low;
    each(own, layer, action, |x, (least, most)| {
        // NaN arises if the bounds are equal and the quotient overflows.
        let at = (most - least) * ((x - low) / width);
        if at.is_nan() { least } else { least + at }
    })
}

/// Clips actions to the bounds of the layer below.
pub(super) fn clip<'s>(own: &'s mut [u8], layer: &Layer<'_>, action: Elements<'_>) -> Result<Elements<'s>> {
    each(own, layer, action, |x, _| x)
}

fn each<'s>(
    own: &'s mut [u8],
    layer: &Layer<'_>,
    action: Elements<'_>,
    map: impl Fn(f32, (f32, f32)) -> f32,
) -> Result<Elements<'s>> {
    let action = action.f32()?;
    let room = own.get_mut(..size_of_val(action)).ok_or(SHAPE)?;
    let out: &mut [f32] = bytemuck::try_cast_slice_mut(room).map_err(|_| SHAPE)?;
    for (i, (out, x)) in out.iter_mut().zip(action).enumerate() {
        let (low, high) = layer.bounds(i);
        *out = num::clamp(map(*x, (low, high)), low, high);
    }
    Ok(Elements::F32(out))
}
