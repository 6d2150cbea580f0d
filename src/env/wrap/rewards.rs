//! Reward wrappers.

use super::wrapper::Wrapper;
use crate::env::Step;
use crate::error::{Error, Kind, Result};

pub(super) fn fit(wrapper: &Wrapper<'_>) -> Result<usize> {
    match *wrapper {
        Wrapper::ScaleReward { factor } if !factor.is_finite() => {
            Err(Error::new(Kind::Config, "reward scale: a finite factor").given_f32(factor))
        }
        _ => Ok(0),
    }
}

/// Replaces the reward by its sign. NaN stays NaN, so that the step is rejected.
pub(super) fn clip(step: Step) -> Step {
    let sign = |r: f32| {
        if r > 0.0 {
            1.0
        } else if r < 0.0 {
            -1.0
        } else {
            r
        }
    };
    Step { reward: sign(step.reward), ..step }
}

pub(super) fn scale(step: Step, factor: f32) -> Step {
    Step { reward: step.reward * factor, ..step }
}
