//! Wrappers with their parameters, as plain data.

use crate::block::hash;
use crate::error::Result;
use crate::space::{Elements, ElementsMut};

/// A wrapper function of the caller, which computes one observation from another. It is passed to every call and never
/// stored.
pub trait Observe: Sync {
    /// Writes the observation passed to the layers above. `row` is the index of the environment within its batch.
    fn observe(&self, row: usize, obs: Elements<'_>, out: ElementsMut<'_>) -> Result;
}

/// A wrapper with its parameters. Lists are in order from the environment outwards.
#[derive(Clone, Copy)]
pub enum Wrapper<'a> {
    /// Truncates episodes after `steps` steps of the layers below.
    TimeLimit {
        /// At least 1.
        steps: u32,
    },
    /// Starts each episode with a random number of no-op actions, from 1 to `max` (Mnih et al. 2015).
    NoopReset {
        /// At least 1.
        max: u32,
        /// Fixed number of no-ops instead of a random one; 0 selects a random number.
        exactly: u32,
        /// The no-op action.
        noop: u32,
    },
    /// Starts each episode with two actions, for games that wait for FIRE.
    FireReset {
        /// First action.
        fire: u32,
        /// Second action.
        second: u32,
    },
    /// Terminates the episode when a life is lost. The next episode continues the game, until the game is over or
    /// reset.
    EpisodicLife {
        /// The no-op action, which starts the next life.
        noop: u32,
    },
    /// Repeats each action, sums the rewards and returns the element-wise maximum of the last two observations.
    MaxAndSkip {
        /// Steps per action, at least 1.
        count: u32,
    },
    /// Repeats each action and sums the rewards.
    ActionRepeat {
        /// Steps per action, at least 1.
        count: u32,
    },
    /// Repeats the previous action instead of the given one with this probability (Machado et al. 2018).
    StickyActions {
        /// Probability from 0 to 1.
        probability: f32,
    },
    /// Maps actions from the range `low` to `high` to the environment's own bounds.
    RescaleAction {
        /// Mapped to the lower bound.
        low: f32,
        /// Mapped to the upper bound; greater than `low`.
        high: f32,
    },
    /// Clips actions to the environment's bounds.
    ClipAction,
    /// Replaces the reward by its sign: -1, 0 or 1.
    ClipReward,
    /// Multiplies the reward by a factor.
    ScaleReward {
        /// Finite factor.
        factor: f32,
    },
    /// Resizes an image by averaging the pixels that each new pixel covers, bit-identical to OpenCV's INTER_AREA. Other
    /// fields of the observation keep their values; all fields are then packed one after another, each aligned to its
    /// elements.
    WarpFrame {
        /// Height of the result in pixels.
        height: u32,
        /// Width of the result in pixels.
        width: u32,
        /// Converts the image to one channel of luma instead of keeping its channels.
        gray: bool,
        /// Name of the observation field with the image; "" if there is only one field.
        field: &'a str,
    },
    /// Crops and resizes a 210 by 160 color image to 42 by 42 numbers from 0 to 1, in a field named "external".
    AtariRescale,
    /// Converts bytes to numbers from 0 to 1.
    ScaledFloat,
    /// Stacks the last observations along the last axis, oldest first. The first observation of an episode fills the
    /// whole stack.
    FrameStack {
        /// Number of observations, from 1 to [`MAX_STACK`](crate::kernels::stack::MAX_STACK).
        count: u32,
    },
    /// Transposes images from `[height, width, channels]` to `[channels, height, width]`.
    ChannelsFirst,
    /// Flattens all fields of the observation into one row: bytes if all fields are bytes, else numbers of the same
    /// values.
    Flatten,
    /// [`Wrapper::Flatten`] to numbers, with each choice one-hot: as many numbers as it has choices, 1 for the one that it is
    /// and 0 for the others.
    OneHot,
    /// Selects one field of the observation and drops its name. Integers of observations of bytes stay in their byte
    /// representation.
    Extract {
        /// Name of the field; "" if there is only one.
        field: &'a str,
    },
    /// Combines the observation with the data of its step, for learners that store both together: bytes with the fields
    /// `frame` (observation of the layer below, with a leading time axis of 1), `reward` f32, `done` u8,
    /// `episode_return` f32, `episode_step` i32, `last_action` (element kind of the actions) and `real_done` u8. All
    /// but `frame` and `last_action` have one element.
    ///
    /// The end of each episode is reported once. With [`Autoreset::SameStep`](crate::env::Autoreset::SameStep), an
    /// episode ends and the next one starts in the same step: the frame is then the first of the next episode, but the
    /// other fields, including `done`, are those of the step that ended the episode. In the other modes, the record of
    /// that step reports the end, and the first record of an episode has zeros after the frame. The sums restart with
    /// each episode. A reset with a seed zeroes all fields but the frame.
    ///
    /// `done` and the sums refer to the episodes of the layers below. Over [`Wrapper::EpisodicLife`] these are lives,
    /// and `real_done` is set when the game is over; without it `real_done` equals `done`. An episode ended from
    /// outside, by a time limit of the vectorized environment or by a reset without a seed, is reported as `done` in
    /// the first record of the next episode. A [`Wrapper::TimeLimit`] below is reported in its own step.
    Record,
    /// Applies a function of the caller to the observation.
    Observe {
        /// Number of f32 elements that the function writes.
        len: u32,
        /// The function.
        observe: &'a dyn Observe,
    },
}

impl Wrapper<'_> {
    /// Hashes this wrapper into the hash `state` of a list.
    pub(super) fn hash(&self, state: u64) -> u64 {
        let (kind, numbers, name): (u32, [u32; 3], &str) = match *self {
            Wrapper::TimeLimit { steps } => (1, [steps, 0, 0], ""),
            Wrapper::NoopReset { max, exactly, noop } => (2, [max, exactly, noop], ""),
            Wrapper::FireReset { fire, second } => (3, [fire, second, 0], ""),
            Wrapper::EpisodicLife { noop } => (4, [noop, 0, 0], ""),
            Wrapper::MaxAndSkip { count } => (5, [count, 0, 0], ""),
            Wrapper::ActionRepeat { count } => (6, [count, 0, 0], ""),
            Wrapper::StickyActions { probability } => (7, [probability.to_bits(), 0, 0], ""),
            Wrapper::RescaleAction { low, high } => (8, [low.to_bits(), high.to_bits(), 0], ""),
            Wrapper::ClipAction => (9, [0; 3], ""),
            Wrapper::ClipReward => (10, [0; 3], ""),
            Wrapper::ScaleReward { factor } => (11, [factor.to_bits(), 0, 0], ""),
            Wrapper::WarpFrame { height, width, gray, field } => (12, [height, width, gray.into()], field),
            Wrapper::AtariRescale => (13, [0; 3], ""),
            Wrapper::ScaledFloat => (14, [0; 3], ""),
            Wrapper::FrameStack { count } => (15, [count, 0, 0], ""),
            Wrapper::ChannelsFirst => (16, [0; 3], ""),
            Wrapper::Flatten => (17, [0; 3], ""),
            Wrapper::OneHot => (17, [1, 0, 0], ""),
            Wrapper::Extract { field } => (18, [0; 3], field),
            Wrapper::Record => (19, [0; 3], ""),
            Wrapper::Observe { len, .. } => (20, [len, 0, 0], ""),
        };
        let state = hash(state, &kind.to_le_bytes());
        let state = numbers.iter().fold(state, |state, number| hash(state, &number.to_le_bytes()));
        let state = hash(state, &(name.len() as u32).to_le_bytes());
        hash(state, name.as_bytes())
    }
}
