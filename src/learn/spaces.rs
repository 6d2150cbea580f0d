//! The spaces that a learner or a policy was made for, as read from its block.

use super::seen::Seen;
use super::shape::Shape;
use super::taken::Taken;

/// The requirements on observations and actions of a block. Names and positions of the fields of structures are not included.
#[derive(Clone, Copy, Debug)]
pub struct Spaces<'a> {
    /// Kinds and lengths.
    pub shape: Shape,
    /// Observations are structures: one of their fields has a kind other than bytes.
    pub obs_structured: bool,
    /// Numbers of choices of the discrete elements of observations.
    pub obs_n: &'a [u32],
    /// Numbers of choices of the discrete elements of actions.
    pub action_n: &'a [u32],
    /// Lower bounds of the continuous elements of actions; empty if they have none.
    pub low: &'a [f32],
    /// Upper bounds of the continuous elements of actions; empty if they have none.
    pub high: &'a [f32],
}

impl<'a> Spaces<'a> {
    pub(super) fn new(shape: &Shape, seen: &Seen<'a>, taken: &Taken<'a>) -> Spaces<'a> {
        let obs_structured = shape.obs_structure() && seen.mixed();
        let Taken { n: action_n, low, high, .. } = *taken;
        Spaces { shape: *shape, obs_structured, obs_n: seen.n, action_n, low, high }
    }
}
