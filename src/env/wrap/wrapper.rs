//! One wrapper: what it does and its parameters, as plain data.

use crate::block::hash;
use crate::error::Result;
use crate::space::{Elements, ElementsMut};

/// Makes another observation from an observation: the caller's own wrapper. It is handed to every call, never stored.
pub trait Observe: Sync {
    /// Writes the observation that the layers above see of environment number `row` of a batch.
    fn observe(&self, row: usize, obs: Elements<'_>, out: ElementsMut<'_>) -> Result;
}

/// One wrapper: what it does and its parameters. Lists read from the environment outwards.
#[derive(Clone, Copy)]
pub enum Wrapper<'a> {
    /// Truncates episodes after so many steps of what it wraps.
    TimeLimit {
        /// At least 1.
        steps: u32,
    },
    /// Starts each episode with a random number of actions that do nothing, from 1 to `max` (Mnih et al. 2015).
    NoopReset {
        /// At least 1.
        max: u32,
        /// This number instead of a random one; 0 draws.
        exactly: u32,
        /// The action that does nothing.
        noop: u32,
    },
    /// Starts each episode with two actions, for games that wait for them.
    FireReset {
        /// Pressed first.
        fire: u32,
        /// Pressed second.
        second: u32,
    },
    /// Ends an episode with each life. The game goes on in the next episode, until it is over or started afresh.
    EpisodicLife {
        /// The action that does nothing, which the next life begins with.
        noop: u32,
    },
    /// Repeats each action, adds the rewards up and shows the larger of the last two observations, element by element.
    MaxAndSkip {
        /// Steps for each action, at least 1.
        count: u32,
    },
    /// Repeats each action and adds the rewards up.
    ActionRepeat {
        /// Steps for each action, at least 1.
        count: u32,
    },
    /// Takes the action of the step before again with this probability (Machado et al. 2018).
    StickyActions {
        /// From 0 to 1.
        probability: f32,
    },
    /// Takes actions between two numbers for actions between the environment's own bounds.
    RescaleAction {
        /// Taken for the lower bound.
        low: f32,
        /// Taken for the upper bound; above `low`.
        high: f32,
    },
    /// Takes any action for the nearest one within the bounds.
    ClipAction,
    /// Leaves the sign of the reward: -1, 0 or 1.
    ClipReward,
    /// Multiplies the reward.
    ScaleReward {
        /// Finite.
        factor: f32,
    },
    /// Shrinks pictures by the mean of the pixels that each new one covers, as OpenCV's INTER_AREA does to the bit. Other
    /// parts of the observation stay what they are; all parts then lie one after another, each on a boundary of its
    /// elements.
    WarpFrame {
        /// Rows of the result.
        height: u32,
        /// Columns of the result.
        width: u32,
        /// One channel of luma instead of the picture's own.
        gray: bool,
        /// The part of the observation that is the picture; "" if there is only one.
        field: &'a str,
    },
    /// Crops and shrinks a 210 by 160 colour picture to 42 by 42 numbers from 0 to 1, a part named "external".
    AtariRescale,
    /// Bytes to numbers from 0 to 1.
    ScaledFloat,
    /// The last observations side by side along the last axis, oldest first; the first one of an episode fills all places.
    FrameStack {
        /// Number of observations, from 1 to [`MAX_STACK`](crate::kernels::stack::MAX_STACK).
        count: u32,
    },
    /// Pictures channel by channel: `[height, width, channels]` to `[channels, height, width]`.
    ChannelsFirst,
    /// All parts of the observation as one row: bytes if all of them are, else numbers of the same values.
    Flatten,
    /// One part of the observation alone, without its name. Whole numbers stay the bytes they are.
    Extract {
        /// Its name; "" if there is only one.
        field: &'a str,
    },
    /// The observation with the facts of its step, for learners that keep both together: bytes that hold `frame` (the
    /// observation below, with a time axis of 1 in front), `reward` f32, `done` u8, `episode_return` f32, `episode_step`
    /// i32, `last_action` (as the actions are) and `real_done` u8, all but the frame of one element or one action.
    ///
    /// Each end is told once. With [`Autoreset::SameStep`](crate::env::Autoreset::SameStep), where an episode ends and the next
    /// one starts in one step, the frame is the next one's first, but the facts are still those of the step that ended
    /// it, `done` among them. In the other modes that step's own record tells of it, and the first record of an episode
    /// holds zeros behind the frame. The sums then start again. A reset with a seed zeroes all facts.
    ///
    /// `done` and the sums count what the layers below call an episode: lives, over [`Wrapper::EpisodicLife`], where
    /// `real_done` tells whether the game is over; without it `real_done` is `done`. What cuts an episode from outside, a
    /// limit of the vectorised environment's own or a reset without a seed, shows as `done` in the first record of the
    /// next episode; a [`Wrapper::TimeLimit`] below shows in its own step.
    Record,
    /// The caller's own function of the observation.
    Observe {
        /// Elements that it writes, f32.
        len: u32,
        /// The function.
        observe: &'a dyn Observe,
    },
}

impl Wrapper<'_> {
    /// Continues a hash of a list with this wrapper.
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
