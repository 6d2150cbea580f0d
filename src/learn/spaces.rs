//! The spaces that a learner or a policy was made for, as read from its block.

use super::action_spec::ActionSpec;
use super::obs_encoder::ObsEncoder;
use super::shape::Shape;

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
    pub(super) fn new(shape: &Shape, seen: &ObsEncoder<'a>, taken: &ActionSpec<'a>) -> Spaces<'a> {
        let obs_structured = shape.obs_structure() && seen.mixed();
        let ActionSpec { n: action_n, low, high, .. } = *taken;
        Spaces { shape: *shape, obs_structured, obs_n: seen.n, action_n, low, high }
    }
}
