//! The spaces that a learner or a policy was made for, as its block tells them to a host.

use super::seen::Seen;
use super::shape::Shape;
use super::taken::Taken;

/// What observations and actions of a block have to be. Names and places of the fields of structures are not told.
#[derive(Clone, Copy, Debug)]
pub struct Spaces<'a> {
    /// Kinds and lengths.
    pub shape: Shape,
    /// Observations are structures: a field of them has another kind than bytes.
    pub obs_structured: bool,
    /// Numbers of choices of the discrete elements of observations.
    pub obs_n: &'a [u32],
    /// Numbers of choices of the discrete elements of actions.
    pub action_n: &'a [u32],
    /// Lower bounds of the continuous elements of actions; empty if they have none.
    pub low: &'a [f32],
    /// The upper ones.
    pub high: &'a [f32],
}

impl<'a> Spaces<'a> {
    pub(super) fn new(shape: &Shape, seen: &Seen<'a>, taken: &Taken<'a>) -> Spaces<'a> {
        let obs_structured = shape.obs_structure() && seen.mixed();
        let Taken { n: action_n, low, high, .. } = *taken;
        Spaces { shape: *shape, obs_structured, obs_n: seen.n, action_n, low, high }
    }
}
