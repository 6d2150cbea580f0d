//! A store of transitions: those that wait for what their `n_step` steps lead to, the ring that batches are drawn from, their
//! weights, and what a gradient step keeps from chunk to chunk.

use crate::block::{Late, fields};
use crate::data::sum_tree::Weights;

/// Elements of so many rows. What overflows is too long for any element.
const fn grid(rows: usize, width: usize) -> usize {
    rows.saturating_mul(width)
}

/// Numbers that the lengths of a store are made of.
#[derive(Clone, Copy, Debug)]
pub(in crate::learn) struct ReplayLens {
    /// N.
    pub(in crate::learn) n: usize,
    /// Transitions of the ring, those of each environment that wait, and those of a batch.
    pub(in crate::learn) slots: usize,
    pub(in crate::learn) n_step: usize,
    pub(in crate::learn) batch: usize,
    /// A transition of the ring, and one that waits.
    pub(in crate::learn) stored: TransitionLens,
    pub(in crate::learn) begun: TransitionLens,
    /// Frames that are kept once, bytes of one, and those of a stack.
    pub(in crate::learn) frames: usize,
    pub(in crate::learn) frame_len: usize,
    pub(in crate::learn) stacked: usize,
    /// Parameters, and those with noise.
    pub(in crate::learn) params: usize,
    pub(in crate::learn) noisy: usize,
    /// Transitions are drawn by their weights.
    pub(in crate::learn) weighted: bool,
    /// Numbers of an action.
    pub(in crate::learn) vector: usize,
}

fields! {
    pub(in crate::learn) spans ReplaySpans(lens: &ReplayLens) {
        /// `[N]` 1: an action of this episode was demonstrated, so that it is not counted.
        pub(in crate::learn) shown: [u8] = lens.n,
        /// `[N]` transitions that an environment has begun in this episode.
        pub(in crate::learn) num_begun: [u64] = lens.n,
        pub(in crate::learn) store: Transitions = lens.stored,
        /// `[count, len]` the frames that it tells stacks by, a ring, and one that is zeros.
        pub(in crate::learn) frames: [u8] = grid(lens.frames, lens.frame_len),
        /// `[N, n_step]` the last transitions that an environment has begun, a ring each: rewards so far, and the discount of
        /// the next one.
        pub(in crate::learn) begun: Transitions = lens.begun,
        /// `[N, n_step, num_stacked]` numbers of the frames of their observations, if they are in the store; else zeros' alone.
        pub(in crate::learn) begun_frames: [u64] = grid(grid(lens.n, lens.n_step), lens.stacked),
        /// Parameters that targets are made with, and these with noise.
        pub(in crate::learn) target: Late<[f32]> = lens.params,
        pub(in crate::learn) noisy_target: Late<[f32]> = lens.noisy,
        /// What the transitions of the store are drawn in proportion to; one that is 0 where all are drawn alike.
        pub(in crate::learn) weights: Weights = if lens.weighted { lens.slots } else { 1 },
        /// `[batch_size]` how much they count in this gradient step, and how far their values are from their targets.
        pub(in crate::learn) importance: Late<[f32]> = lens.batch,
        pub(in crate::learn) error: Late<[f32]> = lens.batch,
        /// `[2, batch_size, action_len]` normal draws: for the next actions, and for those of the policy.
        pub(in crate::learn) draws: Late<[f32]> = grid(grid(lens.batch, 2), lens.vector),
    }
    /// To write; empty for learners over rollouts.
    #[derive(Default)]
    pub(in crate::learn) write Replay {}
    /// To read.
    #[derive(Clone, Copy, Default)]
    pub(in crate::learn) read ReplayView {}
}

/// What the lengths of an array of transitions are made of.
#[derive(Clone, Copy, Debug)]
pub(in crate::learn) struct TransitionLens {
    pub(in crate::learn) rows: usize,
    pub(in crate::learn) obs: usize,
    pub(in crate::learn) pixels: usize,
    pub(in crate::learn) stacked: usize,
    pub(in crate::learn) masks: usize,
    pub(in crate::learn) own_masks: usize,
    pub(in crate::learn) choices: usize,
    pub(in crate::learn) vector: usize,
}

fields! {
    pub(in crate::learn) spans TransitionSpans(lens: TransitionLens) {
        pub(in crate::learn) obs: [f32] = grid(lens.rows, lens.obs),
        /// Observations of other kinds than numbers, as the bytes that they are; `obs` is empty then.
        pub(in crate::learn) pixels: [u8] = grid(lens.rows, lens.pixels),
        /// Where the frames of stacks lie; `pixels` is empty then.
        pub(in crate::learn) frame: [u32] = grid(lens.rows, lens.stacked),
        pub(in crate::learn) next_obs: [f32] = grid(lens.rows, lens.obs),
        pub(in crate::learn) next_pixels: [u8] = grid(lens.rows, lens.pixels),
        pub(in crate::learn) next_frame: [u32] = grid(lens.rows, lens.stacked),
        /// The lower half of how many frames there had been.
        pub(in crate::learn) stamp: [u32] = grid(lens.rows, lens.stacked.min(1)),
        /// What is allowed in `next_obs`.
        pub(in crate::learn) next_mask: [u8] = grid(lens.rows, lens.masks),
        /// What was allowed in `obs`, for SAC.
        pub(in crate::learn) mask: [u8] = grid(lens.rows, lens.own_masks),
        pub(in crate::learn) choice: [i32] = grid(lens.rows, lens.choices),
        /// From -1 to 1.
        pub(in crate::learn) vector: [f32] = grid(lens.rows, lens.vector),
        pub(in crate::learn) reward: [f32] = lens.rows,
        /// Of the value of `next_obs`: 0 where the episode terminated.
        pub(in crate::learn) discount: [f32] = lens.rows,
    }
    /// To write.
    #[derive(Default)]
    pub(in crate::learn) write TransitionsMut {}
    /// To read.
    #[derive(Clone, Copy, Default)]
    pub(in crate::learn) read TransitionView {}
    /// Transitions: those of the store, a ring; and of each environment the one that it has begun.
    pub(in crate::learn) part Transitions(TransitionLens)
}

/// Numbers of a row of a batch from the store; zeros for learners over rollouts.
#[derive(Clone, Copy, Default)]
pub(in crate::learn) struct BatchLens {
    /// Rows of a chunk, and of a chunk or one observation of each environment.
    pub(in crate::learn) rows: usize,
    pub(in crate::learn) acting: usize,
    /// What the policy says second, or critics say of its choices.
    pub(in crate::learn) others: usize,
    /// Q of all choices, where the network says distributions.
    pub(in crate::learn) means: usize,
    pub(in crate::learn) best: usize,
    pub(in crate::learn) target: usize,
    pub(in crate::learn) quantiles: usize,
    /// Quantiles of all critics.
    pub(in crate::learn) pool: usize,
    pub(in crate::learn) vector: usize,
    /// What critics read, where actions are among it.
    pub(in crate::learn) pair: usize,
    pub(in crate::learn) critic_tape: usize,
}

fields! {
    pub(in crate::learn) spans BatchSpans(w: BatchLens) {
        /// What the policy's network says second, and the means of what it says first, if that are distributions.
        pub(in crate::learn) others: [f32] = grid(w.acting, w.others),
        pub(in crate::learn) means: [f32] = grid(w.acting, w.means),
        pub(in crate::learn) d_others: Late<[f32]> = grid(w.rows, w.others),
        /// The best choices, and targets of Q.
        pub(in crate::learn) best: Late<[i32]> = grid(w.rows, w.best),
        pub(in crate::learn) target: Late<[f32]> = grid(w.rows, w.target),
        /// Quantiles of a critic, their gradients, and those of all critics' targets.
        pub(in crate::learn) quantiles: Late<[f32]> = grid(w.rows, w.quantiles),
        pub(in crate::learn) d_quantiles: Late<[f32]> = grid(w.rows, w.quantiles),
        pub(in crate::learn) pool: Late<[f32]> = grid(w.rows, w.pool),
        /// Gradients by actions, what critics read, and gradients by that.
        pub(in crate::learn) d_vector: Late<[f32]> = grid(w.rows, w.vector),
        pub(in crate::learn) pairs: [f32] = grid(w.acting, w.pair),
        pub(in crate::learn) d_pairs: Late<[f32]> = grid(w.rows, w.pair),
        pub(in crate::learn) critic_tape: Late<[f32]> = w.critic_tape,
    }
    /// To write.
    #[derive(Default)]
    pub(in crate::learn) write BatchWorkMut {}
    /// To read.
    #[derive(Clone, Copy, Default)]
    pub(in crate::learn) read BatchWorkView {}
    /// Working arrays of a chunk of a batch; empty for learners over rollouts.
    pub(in crate::learn) part BatchWork(BatchLens)
}
