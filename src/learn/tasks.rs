//! The auxiliary tasks of UNREAL (Jaderberg et al. 2016), as configured: the heads that they add to the network, and their
//! training data.

use super::config::Config;
use super::shape::Shape;
use crate::error::{Error, Kind, Result};
use crate::nn::Net;

/// Units of the hidden layer that predicts rewards.
pub const CLASS_UNITS: usize = 128;

/// Classes of rewards: negative, zero, positive.
pub const CLASSES: usize = 3;

/// Elements of that layer's biases, and of the weights and biases of the layer after it.
pub(super) const CLASS_FREE: usize = CLASS_UNITS + CLASSES * CLASS_UNITS + CLASSES;

/// Channels of the picture that the cells of pixel control are computed from.
#[cfg(feature = "unreal")]
pub(super) const PIXEL_CHANNELS: u32 = 32;

/// The largest number of observations that a reward is predicted from.
const MAX_FRAMES: u32 = 16;

/// Whether this build has the tasks.
pub(super) const BUILT: bool = cfg!(feature = "unreal");

impl Config {
    /// Weights of the tasks: pixel control, reward prediction, value replay, policy replay.
    fn task_coefs(&self) -> [f32; 4] {
        [self.pixel_control_coef, self.reward_class_coef, self.value_replay_coef, self.policy_replay_coef]
    }

    /// The enabled tasks.
    pub(super) fn tasks(&self) -> [bool; 4] {
        self.task_coefs().map(|coef| self.needs().tasks && coef != 0.0)
    }

    /// Whether past steps keep the log-probabilities of their actions, for ratios to them.
    pub(super) fn keeps_log_probs(&self) -> bool {
        self.needs().corrections || self.needs().ratios && self.prime_interval == 0
    }

    /// Whether a history of past steps is stored.
    pub(super) fn has_tasks(&self) -> bool {
        self.tasks().contains(&true)
    }

    /// Steps of a replayed sequence, without the one after it.
    pub fn replay_len(&self) -> usize {
        (if self.sequence_len > 0 { self.sequence_len } else { self.num_steps }) as usize
    }

    /// Sequences replayed, and rewards predicted, in each minibatch.
    pub fn num_replays(&self) -> usize {
        match self.num_replayed {
            0 => self.minibatch_len().checked_div(self.replay_len()).unwrap_or(0).max(1),
            num => num as usize,
        }
    }

    #[cfg(feature = "unreal")]
    /// The sequences and rewards of chunk `index`: `[begin, end)`.
    pub(super) fn replays(&self, index: u32) -> (usize, usize) {
        let bound = |i: u64| i.saturating_mul(self.num_replays() as u64).checked_div(self.num_chunks.into());
        (bound(index.into()).unwrap_or(0) as usize, bound(u64::from(index) + 1).unwrap_or(0) as usize)
    }

    /// The largest number of a chunk.
    pub(super) fn most_replays(&self) -> usize {
        if self.has_tasks() { self.num_replays().div_ceil((self.num_chunks as usize).max(1)) } else { 0 }
    }

    /// Checks the settings of the tasks. Errors: `Config`, `Overflow`.
    pub(super) fn check_tasks(&self) -> Result {
        let [pixels, class, values, policy] = self.tasks();
        let what = "learner config: weights of auxiliary tasks of 0 in a build without them,";
        let weight = self.task_coefs().into_iter().find(|coef| *coef != 0.0);
        Error::new(Kind::Config, what).given_f32(weight.unwrap_or(0.0)).fail_if(!BUILT && weight.is_some())?;
        let what = "learner config: value_replay_coef of 0 with policy_replay_coef, whose loss has values too,";
        Error::new(Kind::Config, what).given_f32(self.value_replay_coef).fail_if(values && policy)?;
        if !self.has_tasks() {
            return Ok(());
        }
        let refused = |what, given: u32| Error::new(Kind::Config, what).given(given as usize);
        refused("learner config: pixel_cell of at least 1", 0).fail_if(pixels && self.pixel_cell == 0)?;
        let frames = self.reward_sequence_len;
        refused("learner config: reward_sequence_len of 1 to 16", frames)
            .fail_if(class && !(1..=MAX_FRAMES).contains(&frames))?;
        let least = self.replay_len().saturating_add(1).max(if class { frames as usize } else { 0 });
        let what = "learner config: history_len of at least a sequence, and the step after it,";
        Error::limit(Kind::Config, what, least, self.history_len as usize)
            .fail_if((self.history_len as usize) < least)?;
        let what = "learner config: history_starts of at most history_len,";
        let (most, given) = (self.history_len as usize, self.history_starts as usize);
        Error::limit(Kind::Config, what, most, given).fail_if(given > most)?;
        let kept = u64::from(self.num_envs).saturating_mul(self.history_len.into());
        let rows = (self.num_replays() as u64).saturating_mul(least as u64);
        let what = "learner config: num_envs * history_len, and the steps of what is replayed, below 2^31";
        Error::new(Kind::Overflow, what).fail_if(kept.max(rows) > u64::from(u32::MAX >> 1))
    }
}

/// The heads of the tasks, and their sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Tasks {
    /// Rows and columns of the cells of pixel control; 0 without it.
    pub grid: [usize; 2],
    /// Height, width and channels of a picture.
    pub picture: [usize; 3],
    /// Channels of the newest frame of a picture that is a stack of frames, else all channels.
    pub newest: usize,
    /// Choices with separate values in each cell.
    pub choices: usize,
    /// The index of the head that predicts rewards, and the number of observations that it reads; 0 without it.
    pub class_head: usize,
    pub frames: usize,
    /// Whether values of past steps are learned.
    pub values: bool,
    /// Whether the policy learns from past steps.
    pub policy: bool,
}

impl Tasks {
    /// The tasks of a configuration for observations that are these pictures.
    pub fn new(c: &Config, shape: &Shape, picture: [u32; 3]) -> Tasks {
        let [pixels, class, values, policy] = c.tasks();
        Tasks {
            grid: if pixels { grid(picture, c.pixel_cell) } else { [0; 2] },
            picture: picture.map(|len| len as usize),
            newest: (picture[2] / c.num_stacked.max(1)) as usize,
            choices: if pixels { shape.num_outputs as usize } else { 0 },
            class_head: if class { FIRST.saturating_add(if pixels { 2 } else { 0 }) } else { 0 },
            frames: if class { c.reward_sequence_len as usize } else { 0 },
            values,
            policy,
        }
    }

    /// Cells of a picture.
    pub fn cells(&self) -> usize {
        self.grid[0].saturating_mul(self.grid[1])
    }

    /// Whether sequences are replayed.
    pub fn replays(&self) -> bool {
        self.values || self.policy || self.cells() > 0
    }

    /// Whether a network has the heads of the tasks after those of the policy and the value, and then `values` further value
    /// heads.
    pub fn are_of(&self, net: &Net<'_>, values: usize) -> bool {
        let pixels = if self.cells() > 0 { 2 } else { 0 };
        let class = usize::from(self.class_head > 0);
        let cells = [self.cells().saturating_mul(self.choices), self.cells()];
        let class_len = self.frames.saturating_mul(CLASS_UNITS);
        let count = FIRST.saturating_add(pixels).saturating_add(class);
        net.num_heads() == count.saturating_add(values)
            && (count..net.num_heads()).all(|head| net.head_len(head) == 1)
            && (pixels == 0 || [net.head_len(FIRST), net.head_len(FIRST + 1)] == cells)
            && (class == 0
                || (net.head_len(self.class_head) == class_len && net.free_params(self.class_head).len() == CLASS_FREE))
    }
}

/// The number of heads before those of the tasks: the policy's and the value's.
pub(super) const FIRST: usize = 2;

/// The length of a side of a picture after cropping half a cell at each end, unless nothing would be left, and the cropped
/// length.
pub fn crop(side: u32, cell: u32) -> (u32, u32) {
    let border = cell / 2;
    let rest = side.saturating_sub(border.saturating_mul(2));
    if rest > 1 { (rest, border) } else { (side, 0) }
}

/// Rows and columns of cells.
fn grid([height, width, _]: [u32; 3], cell: u32) -> [usize; 2] {
    [height, width].map(|side| crop(side, cell).0.div_ceil(cell.max(1)) as usize)
}

/// The transposed convolution that makes the cells of one side from a smaller picture, with stride 2: the smaller side, and the
/// window.
#[cfg(feature = "unreal")]
pub(super) fn enlarge(cells: usize) -> [u32; 2] {
    let window = if cells.is_multiple_of(2) { 4 } else { 3 };
    match cells.checked_sub(window) {
        Some(rest) => [(rest / 2).saturating_add(1) as u32, window as u32],
        None => [1, cells as u32],
    }
}
