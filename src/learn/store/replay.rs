//! A replay store of transitions: pending transitions, whose `n_step` steps are not complete, the ring that batches are drawn
//! from, the weights, and the state that a gradient step keeps between chunks.

use super::sequences::{UnrollLens, UnrollWork};
use crate::block::{Cold, fields};
use crate::data::sum_tree::Weights;

/// Elements of `rows` rows; saturates, and a saturated length exceeds the limit of any element type.
const fn grid(rows: usize, width: usize) -> usize {
    rows.saturating_mul(width)
}

/// Lengths from which the array lengths of a store are computed.
#[derive(Clone, Copy, Debug)]
pub(in crate::learn) struct ReplayLens {
    /// N.
    pub(in crate::learn) n: usize,
    /// Transitions of the ring, kept demonstrations, pending transitions of each environment, and transitions of a batch.
    pub(in crate::learn) slots: usize,
    pub(in crate::learn) kept: usize,
    pub(in crate::learn) n_step: usize,
    pub(in crate::learn) batch: usize,
    /// Lengths of a transition of the ring, and of a pending one.
    pub(in crate::learn) stored: TransitionLens,
    pub(in crate::learn) begun: TransitionLens,
    /// Frames that are stored once, bytes of a frame, and frames of a stack.
    pub(in crate::learn) frames: usize,
    pub(in crate::learn) frame_len: usize,
    pub(in crate::learn) stacked: usize,
    /// Parameters, and parameters with noise.
    pub(in crate::learn) params: usize,
    pub(in crate::learn) noisy: usize,
    /// Transitions are drawn by weight.
    pub(in crate::learn) weighted: bool,
    /// Elements of a continuous action.
    pub(in crate::learn) vector: usize,
    /// Sequences of a batch, with recurrent layers.
    pub(in crate::learn) sequences: usize,
    /// Statistics that are kept while an update runs, with `overlap`.
    pub(in crate::learn) moments: usize,
}

fields! {
    pub(in crate::learn) spans ReplaySpans(lens: &ReplayLens) {
        /// `[N]` 1: an action of this episode was demonstrated, so that the episode is not counted.
        pub(in crate::learn) shown: [u8] = lens.n,
        /// `[N]` transitions begun by an environment in this episode.
        pub(in crate::learn) num_begun: [u64] = lens.n,
        /// The transitions of the ring, and the kept demonstrations behind them.
        pub(in crate::learn) store: Transitions = lens.stored,
        /// `[count, len]` the frames of stacks, a ring, and one frame of zeros.
        pub(in crate::learn) frames: [u8] = grid(lens.frames, lens.frame_len),
        /// `[N, n_step]` the last begun transitions of each environment, a ring each: rewards so far, and the discount of the
        /// next reward.
        pub(in crate::learn) begun: Transitions = lens.begun,
        /// `[N, n_step, num_stacked]` frame numbers of their observations, if the frames are in the store; else of the zero
        /// frame.
        pub(in crate::learn) begun_frames: [u64] = grid(grid(lens.n, lens.n_step), lens.stacked),
        /// `[N, n_step]` 1: the action of a begun transition was demonstrated.
        pub(in crate::learn) begun_shown: [u8] = if lens.kept > 0 { grid(lens.n, lens.n_step) } else { 0 },
        /// `[N]` the transitions that were stored up to the environment's last one; 0: it has none. The same of kept
        /// demonstrations; and 1: the environment's last transition is one of these.
        pub(in crate::learn) last: [u64] = if lens.sequences > 0 { lens.n } else { 0 },
        pub(in crate::learn) last_kept: [u64] = if lens.sequences > 0 && lens.kept > 0 { lens.n } else { 0 },
        pub(in crate::learn) was_kept: [u8] = if lens.sequences > 0 && lens.kept > 0 { lens.n } else { 0 },
        /// The slots that were drawn, each the last one of a sequence.
        pub(in crate::learn) sequence: Cold<[u32]> = lens.sequences,
        /// Parameters that compute targets, and these with noise.
        pub(in crate::learn) target: Cold<[f32]> = lens.params,
        pub(in crate::learn) noisy_target: Cold<[f32]> = lens.noisy,
        /// Weights that the transitions of the store are drawn by; a single 0 with uniform draws.
        pub(in crate::learn) weights: Weights = if lens.weighted { lens.slots } else { 1 },
        /// The same of kept demonstrations.
        pub(in crate::learn) kept_weights: Weights = if lens.weighted { lens.kept.max(1) } else { 1 },
        /// `[batch_size]` importance weights of this gradient step, and distances of values from their targets.
        pub(in crate::learn) importance: Cold<[f32]> = lens.batch,
        pub(in crate::learn) error: Cold<[f32]> = lens.batch,
        /// With `overlap`, the statistics of observations when the update began.
        pub(in crate::learn) obs_mean: Cold<[f64]> = lens.moments,
        pub(in crate::learn) obs_var: Cold<[f64]> = lens.moments,
        /// `[2, batch_size, action_len]` normal draws: for the next actions, and for those of the policy.
        pub(in crate::learn) draws: Cold<[f32]> = grid(grid(lens.batch, 2), lens.vector),
    }
    /// The mutable store; empty for learners over rollouts.
    #[derive(Default)]
    pub(in crate::learn) write Replay {}
    /// The read-only store.
    #[derive(Clone, Copy, Default)]
    pub(in crate::learn) read ReplayView {}
}

/// Lengths from which the lengths of arrays of transitions are computed.
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
    /// Elements of a recurrent state; whether episode begins are kept, and the places of previous transitions.
    pub(in crate::learn) state: usize,
    pub(in crate::learn) begins: bool,
    pub(in crate::learn) links: bool,
}

fields! {
    pub(in crate::learn) spans TransitionSpans(lens: TransitionLens) {
        pub(in crate::learn) obs: [f32] = grid(lens.rows, lens.obs),
        /// Observations of other types than f32, as bytes; `obs` is empty then.
        pub(in crate::learn) pixels: [u8] = grid(lens.rows, lens.pixels),
        /// Positions of the frames of stacks; `pixels` has the rest then.
        pub(in crate::learn) frame: [u32] = grid(lens.rows, lens.stacked),
        pub(in crate::learn) next_obs: [f32] = grid(lens.rows, lens.obs),
        pub(in crate::learn) next_pixels: [u8] = grid(lens.rows, lens.pixels),
        pub(in crate::learn) next_frame: [u32] = grid(lens.rows, lens.stacked),
        /// The lower 32 bits of the frame count when the transition was stored.
        pub(in crate::learn) stamp: [u32] = grid(lens.rows, lens.stacked.min(1)),
        /// The mask of `next_obs`.
        pub(in crate::learn) next_mask: [u8] = grid(lens.rows, lens.masks),
        /// The mask of `obs`, for SAC.
        pub(in crate::learn) mask: [u8] = grid(lens.rows, lens.own_masks),
        pub(in crate::learn) choice: [i32] = grid(lens.rows, lens.choices),
        /// From -1 to 1.
        pub(in crate::learn) vector: [f32] = grid(lens.rows, lens.vector),
        pub(in crate::learn) reward: [f32] = lens.rows,
        /// The discount of the value of `next_obs`: 0 where the episode terminated.
        pub(in crate::learn) discount: [f32] = lens.rows,
        /// Recurrent states before the step; how the step begins; and how many transitions ago the environment's previous one was
        /// stored, 0 if there is none.
        pub(in crate::learn) state: [f32] = grid(lens.rows, lens.state),
        pub(in crate::learn) begin: [u8] = if lens.begins { lens.rows } else { 0 },
        pub(in crate::learn) before: [u32] = if lens.links { lens.rows } else { 0 },
    }
    /// Mutable transitions.
    #[derive(Default)]
    pub(in crate::learn) write TransitionsMut {}
    /// Read-only transitions.
    #[derive(Clone, Copy, Default)]
    pub(in crate::learn) read TransitionView {}
    /// Transitions: the ring of the store, or the begun ones of each environment.
    pub(in crate::learn) part Transitions(TransitionLens)
}

/// Row lengths of a batch from the store; zeros for learners over rollouts.
#[derive(Clone, Copy, Default)]
pub(in crate::learn) struct BatchLens {
    /// Rows of a chunk; and rows of a chunk or of one observation of each environment, whichever is more.
    pub(in crate::learn) rows: usize,
    pub(in crate::learn) acting: usize,
    /// Outputs of the policy's second head, or a critic's values of the choices.
    pub(in crate::learn) others: usize,
    /// Q of all choices, if the network outputs distributions.
    pub(in crate::learn) means: usize,
    pub(in crate::learn) best: usize,
    pub(in crate::learn) target: usize,
    pub(in crate::learn) quantiles: usize,
    /// Quantiles of all critics.
    pub(in crate::learn) pool: usize,
    pub(in crate::learn) vector: usize,
    /// A critic's input that includes an action.
    pub(in crate::learn) pair: usize,
    pub(in crate::learn) critic_tape: usize,
    /// Gradients of the imitation of kept demonstrations, with respect to the outputs of both heads.
    pub(in crate::learn) cloned: usize,
    pub(in crate::learn) unroll: UnrollLens,
}

fields! {
    pub(in crate::learn) spans BatchSpans(w: BatchLens) {
        /// Outputs of the network's second head, and means of its first head's outputs, if these are distributions.
        pub(in crate::learn) others: [f32] = grid(w.acting, w.others),
        pub(in crate::learn) means: [f32] = grid(w.acting, w.means),
        pub(in crate::learn) d_others: Cold<[f32]> = grid(w.rows, w.others),
        /// The best choices, and targets of Q.
        pub(in crate::learn) best: Cold<[i32]> = grid(w.rows, w.best),
        pub(in crate::learn) target: Cold<[f32]> = grid(w.rows, w.target),
        /// Quantiles of a critic, their gradients, and the target quantiles of all critics.
        pub(in crate::learn) quantiles: Cold<[f32]> = grid(w.rows, w.quantiles),
        pub(in crate::learn) d_quantiles: Cold<[f32]> = grid(w.rows, w.quantiles),
        pub(in crate::learn) pool: Cold<[f32]> = grid(w.rows, w.pool),
        /// Gradients with respect to actions, critic inputs, and gradients with respect to these.
        pub(in crate::learn) d_vector: Cold<[f32]> = grid(w.rows, w.vector),
        pub(in crate::learn) pairs: [f32] = grid(w.acting, w.pair),
        pub(in crate::learn) d_pairs: Cold<[f32]> = grid(w.rows, w.pair),
        pub(in crate::learn) critic_tape: Cold<[f32]> = w.critic_tape,
        /// Gradients of the imitation of kept demonstrations with respect to the outputs of a row.
        pub(in crate::learn) cloned: Cold<[f32]> = grid(w.rows, w.cloned),
        pub(in crate::learn) unroll: UnrollWork = w.unroll,
    }
    /// Mutable working arrays.
    #[derive(Default)]
    pub(in crate::learn) write BatchWorkMut {}
    /// Read-only working arrays.
    #[derive(Clone, Copy, Default)]
    pub(in crate::learn) read BatchWorkView {}
    /// Working arrays of a chunk of a batch; empty for learners over rollouts.
    pub(in crate::learn) part BatchWork(BatchLens)
}

impl BatchWorkMut<'_> {
    /// Zeroes the arrays that acting does not use.
    pub(in crate::learn) fn wipe(&mut self) {
        // All are named, so that a new one does not compile until it is zeroed here.
        #[rustfmt::skip]
        let BatchWorkMut {
            others: _, means: _, pairs: _, best, d_others, target, quantiles, d_quantiles, pool, d_vector, d_pairs, critic_tape,
            cloned, unroll,
        } = self;
        best.fill(0);
        for array in [d_others, target, quantiles, d_quantiles, pool, d_vector, d_pairs, critic_tape, cloned] {
            array.fill(0.0);
        }
        unroll.wipe();
    }
}
