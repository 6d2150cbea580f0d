//! Twin delayed deterministic policy gradients (Fujimoto et al. 2018); with one critic, no target noise and a policy that
//! learns in each step this is DDPG (Lillicrap et al. 2016).

use super::{Algorithm, Needs, critic};
use crate::error::Result;
use crate::learn::learner::context::ChunkContext;
use crate::learn::learner::layout::Scratch;
use crate::num;

/// Twin delayed deterministic policy gradients.
pub(super) struct Td3;

impl Algorithm for Td3 {
    const NEEDS: Needs = Needs { replay: true, critics: true, ..Needs::NONE };

    fn chunk(b: &ChunkContext<'_, '_>, w: &mut Scratch<'_>, record: &mut [f32], errors: &mut [f32]) -> Result {
        critic::chunk(b, w, record, errors)
    }
}

/// The policy's actions: tanh of the network outputs.
pub fn act(mean: &[f32], action: &mut [f32]) {
    action.iter_mut().zip(mean).for_each(|(to, x)| *to = num::tanh(*x));
}

/// The policy's actions with noise from normal draws, of this standard deviation and clipped; the sum is clipped to [-1, 1].
pub fn smooth((deviation, clip): (f32, f32), mean: &[f32], normal: &[f32], action: &mut [f32]) {
    for ((to, mean), normal) in action.iter_mut().zip(mean).zip(normal) {
        let noise = num::clamp(deviation * normal, -clip, clip);
        *to = num::clamp(num::tanh(*mean) + noise, -1.0, 1.0);
    }
}

/// Gradients with respect to the network outputs, from those with respect to the actions that [`act`] computed.
pub fn gradient(action: &[f32], d_action: &[f32], d_mean: &mut [f32]) {
    for ((to, action), d_action) in d_mean.iter_mut().zip(action).zip(d_action) {
        *to = num::canonical(d_action * (1.0 - action * action));
    }
}
