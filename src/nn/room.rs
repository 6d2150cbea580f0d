//! Room for layers on the stack during a call.

use super::compile::MISFIT;
use super::layer::{Layer, MAX_LAYERS};
use super::node::Node;
use crate::error::Result;

/// Whether networks of this build have listed layers; without them hidden layers and heads are few.
const LISTED: bool = cfg!(any(feature = "pictures", feature = "recurrent", feature = "residual"));

/// Functions of default items; of the nodes and layers of a network; and of the nodes of two.
type Body<'b, T, R> = dyn FnMut(&mut [T]) -> Result<R> + 'b;
type OfOne<'b, R> = dyn FnMut(&mut [Node], &mut [Layer]) -> Result<R> + 'b;
type OfTwo<'b, R> = dyn FnMut([&mut [Node]; 2], &mut [Layer]) -> Result<R> + 'b;

/// Calls `body` with `len` default nodes and layers on the stack. A short list takes a small frame: 3 KB for 12 layers, 10 KB
/// for 40, so a microcontroller does not pay for the longest list.
pub(crate) fn with_room<R>(len: usize, body: &mut OfOne<'_, R>) -> Result<R> {
    with(len, &mut |nodes| with(len, &mut |layers| body(nodes, layers)))
}

/// Calls `body` with `len` default layers on the stack.
pub(crate) fn with_layers<R>(len: usize, body: &mut dyn FnMut(&mut [Layer]) -> Result<R>) -> Result<R> {
    with(len, &mut |layers| body(layers))
}

/// [`with_room`] for two networks, and for the layers of one of them at a time. Frames stay apart, so that none is larger than
/// that of a single network's nodes.
pub(crate) fn with_rooms<R>(lens: [usize; 2], body: &mut OfTwo<'_, R>) -> Result<R> {
    let [first, second] = lens;
    with(first, &mut |own| {
        with(second, &mut |other| with(first.max(second), &mut |layers| body([&mut *own, other], layers)))
    })
}

fn with<T: Default + Copy, R>(len: usize, body: &mut Body<'_, T, R>) -> Result<R> {
    match len {
        0..=12 => framed::<T, R, 12>(len, body),
        13..=40 if LISTED => framed::<T, R, 40>(len, body),
        _ if LISTED => framed::<T, R, MAX_LAYERS>(len, body),
        _ => Err(MISFIT),
    }
}

/// Not inlined: the caller's frame must not hold those of all lengths.
#[inline(never)]
fn framed<T: Default + Copy, R, const N: usize>(len: usize, body: &mut Body<'_, T, R>) -> Result<R> {
    let mut items = [T::default(); N];
    body(items.get_mut(..len).ok_or(MISFIT)?)
}
