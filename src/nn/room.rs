//! Room for layers on the stack during a call.

use super::compile::MISFIT;
use super::layer::{Layer, MAX_LAYERS};
use super::node::Node;
use crate::error::Result;

/// Whether networks of this build have listed layers; without them hidden layers and heads are few.
const LISTED: bool = cfg!(any(feature = "pictures", feature = "recurrent", feature = "residual"));

/// The most layers that a call handles at once: of a network, and of critics.
const MOST: usize = if cfg!(feature = "off_policy") { 2 * MAX_LAYERS } else { MAX_LAYERS };

/// A function of default nodes and layers.
type Body<'b, R> = dyn FnMut(&mut [Node], &mut [Layer]) -> Result<R> + 'b;

/// Calls `body` with `len` default nodes and layers on the stack. A short list takes a small frame: 3 KB for 12 layers, 10 KB
/// for 40, so a microcontroller does not pay for the longest list.
pub(crate) fn with_room<R>(len: usize, body: &mut Body<'_, R>) -> Result<R> {
    match len {
        0..=12 => framed::<R, 12>(len, body),
        13..=40 if LISTED => framed::<R, 40>(len, body),
        _ if LISTED => framed::<R, MOST>(len, body),
        _ => Err(MISFIT),
    }
}

/// Not inlined: the caller's frame must not hold those of all lengths.
#[inline(never)]
fn framed<R, const N: usize>(len: usize, body: &mut Body<'_, R>) -> Result<R> {
    let (mut nodes, mut layers) = ([Node::default(); N], [Layer::default(); N]);
    let (Some(nodes), Some(layers)) = (nodes.get_mut(..len), layers.get_mut(..len)) else { return Err(MISFIT) };
    body(nodes, layers)
}
