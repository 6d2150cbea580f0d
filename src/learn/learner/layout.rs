//! Layout of a learner's block.

use bytemuck::{Pod, Zeroable};

use super::tensors::networks;
use super::{FieldSpans, Learner, Phase, State, View};
use crate::block::{self, Cold, Cutter, Fit, Kind as BlockKind, LayoutError, Plan, Span, TooLong, fields};
use crate::error::Result;
#[cfg(feature = "off_policy")]
use crate::learn::config::Config;
use crate::learn::learner_spec::LearnerSpec;
use crate::learn::obs_encoder::{Front, ObsEncoder, Part, bytes_to_f32};
use crate::learn::rows::{Rows, cut_behind};
use crate::learn::shape::Shape;
use crate::learn::store::frames::Frames;
use crate::learn::store::history::HistoryLens;
use crate::learn::store::replay::{BatchLens, BatchWork, Replay, ReplaySpans, ReplayView};
#[cfg(feature = "off_policy")]
use crate::learn::store::replay::{ReplayLens, TransitionLens};
#[cfg(feature = "off_policy")]
use crate::learn::store::ring::Ring;
use crate::learn::store::rollout::{Rollout, RolloutLens, RolloutSpans, RolloutView};
#[cfg(feature = "off_policy")]
use crate::learn::store::sequences::UnrollLens;
use crate::learn::store::shown::ShownLens;
use crate::learn::store::stack::Stack;
use crate::learn::tasks::{CLASS_UNITS, Tasks};
use crate::nn::{Input, Net, Node};
use crate::rng::Rng;
use crate::space::Element;

/// Working columns of a chunk, and the additional ones of V-trace.
pub(in crate::learn) const COLUMNS: usize = 8;
const SPARE: usize = 6;

/// Working columns that acting on rollouts uses: values, log-probabilities and entropies.
pub(super) const ACTING_COLUMNS: usize = 3;

/// Elements after the gradients of a chunk: its losses, in the order of the algorithm, then zeros.
pub(in crate::learn) const LOSSES: usize = 8;

/// Spans of working arrays and fields. The block stores them; only `attach` recomputes them.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Spans {
    work: ScratchSpans,
    pub(super) fields: FieldSpans,
}

/// Spans of everything in a learner's block, which stores them. Only the store that the algorithm learns from is nonempty.
#[derive(Clone, Copy)]
pub(super) struct Plans {
    spans: Spans,
    rollout: RolloutSpans,
    replay: ReplaySpans,
}

/// The beginning of a block: the compiled layers of the policy and of critics, and the parts of observations, which determine
/// all other lengths; then the [`Plans`].
#[derive(Clone, Copy)]
pub(super) struct Places {
    front: Front,
    critic: Span<Node>,
    spans: Span<Spans>,
    rollout: Span<RolloutSpans>,
    replay: Span<ReplaySpans>,
}

/// Lengths from which the lengths of fields are computed.
pub(in crate::learn) struct Lens {
    /// N.
    pub(super) n: usize,
    /// Transitions that an update orders: those of a rollout or of a batch.
    pub(super) order: usize,
    /// Transitions of a minibatch with known advantages.
    pub(super) minibatch: usize,
    /// N for learners over rollouts, else 0.
    pub(super) recording: usize,
    obs: usize,
    /// Frames of a stack that a call looks up for each environment.
    stacked: usize,
    choices: usize,
    std: usize,
    pub(super) shape: Shape,
    pub(super) moments: usize,
    masks: usize,
    /// Elements of a recurrent state.
    pub(super) state: usize,
    /// Episode begins are recorded.
    pub(super) begins: bool,
    columns: usize,
    frames: usize,
    pub(super) params: usize,
    /// Layers of all networks.
    pub(super) layers: usize,
    /// Elements of the noise of noisy layers.
    pub(super) noise: usize,
    pub(super) record: usize,
    pub(super) history: HistoryLens,
    pub(super) shown: ShownLens,
}

/// Row counts and network sizes for the working arrays.
pub(in crate::learn) struct WorkLens<'l> {
    lens: &'l Lens,
    /// Environments that act, and those that record rollouts.
    n: usize,
    recording: usize,
    /// Environments whose returns are summed.
    returns: usize,
    /// Rows of a chunk, or of one observation of each environment.
    rows: usize,
    /// Numbers of observations before they are normalized, and of those that networks read.
    raw: usize,
    obs: usize,
    draws: usize,
    outputs: usize,
    tape: usize,
    before: usize,
    scratch: usize,
    /// Replayed steps, cells of one of them, and observations that rewards are predicted from.
    replayed: usize,
    cells: [usize; 2],
    frames: usize,
    batch: BatchLens,
}

/// Sizes derived from the stored configuration.
#[derive(Clone, Copy)]
pub(in crate::learn) struct Sizes<'n> {
    /// The network of the policy and the value, or of Q.
    pub(in crate::learn) net: Net<'n>,
    /// The critic network of TD3 and SAC; else without layers.
    #[cfg_attr(not(feature = "off_policy"), allow(dead_code))]
    pub(in crate::learn) critic: Net<'n>,
    /// Encoding of observations for the networks.
    pub(in crate::learn) seen: ObsEncoder<'n>,
    /// Elements in front of network inputs that are bytes, which all networks that read them divide by 255 themselves.
    pub(in crate::learn) reads_front: usize,
    /// N.
    pub(in crate::learn) n: usize,
    /// Rows of the working arrays: a chunk, or one observation of each environment.
    pub(in crate::learn) rows: usize,
    /// Rows of the longest chunk.
    pub(in crate::learn) chunk_rows: usize,
    /// Transitions that a rollout has room for: those that an update learns from, one more for each environment, because
    /// transitions may be incomplete when the update is due, and one as a temporary for exchanging two of them.
    pub(in crate::learn) room: usize,
    /// Offset of the logarithms of standard deviations in the parameters: after the policy's network.
    pub(in crate::learn) std_begin: usize,
    pub(in crate::learn) std_len: usize,
    /// The record of a chunk: its gradients, one for each parameter, its losses, and off policy the errors of its rows.
    pub(in crate::learn) record_len: usize,
    pub(in crate::learn) error_len: usize,
    /// f32 elements of an observation in the store, and bytes: of all of it, or in a rollout of the picture in front.
    pub(in crate::learn) obs_len: usize,
    pub(in crate::learn) pixels_len: usize,
    /// Flags of a mask; 0 without `use_action_mask`.
    pub(in crate::learn) masks: usize,
    /// Storage of frames that a rollout stores once.
    pub(in crate::learn) frames: Frames,
    /// The auxiliary tasks, and the rows of their network passes: steps of sequences, and observations.
    pub(in crate::learn) tasks: Tasks,
    pub(in crate::learn) task_rows: [usize; 2],
    /// Lengths of a replay store and of critic outputs.
    #[cfg(feature = "off_policy")]
    pub(in crate::learn) replay: ReplaySizes,
}

/// Lengths of a replay store and of critic outputs.
#[cfg(feature = "off_policy")]
#[derive(Clone, Copy)]
pub(in crate::learn) struct ReplaySizes {
    pub(in crate::learn) num_critics: usize,
    /// Quantiles of the value distribution of a critic; 0 if critics output one value.
    pub(in crate::learn) quantiles: usize,
    /// Layout of the store's frames, if its observations are stacks.
    pub(in crate::learn) ring: Ring,
    /// Flags of the mask of a transition's first observation, required by SAC and by imitation.
    pub(in crate::learn) own_masks: usize,
    /// Elements of a critic's output for all choices; 0 if actions have none, and without critics.
    pub(in crate::learn) choice_values: usize,
}

impl Sizes<'_> {
    /// Elements of the recurrent state of an environment.
    pub(in crate::learn) fn state_len(&self) -> usize {
        self.net.state_len()
    }

    /// Number of parameters.
    pub(in crate::learn) fn params(&self) -> usize {
        self.record_len.saturating_sub(LOSSES).saturating_sub(self.error_len)
    }

    /// The gradients and losses in the record of a chunk, and the errors of its rows.
    pub(in crate::learn) fn split<'r>(&self, record: &'r mut [f32]) -> Fit<(&'r mut [f32], &'r mut [f32])> {
        record.split_at_mut_checked(self.record_len.saturating_sub(self.error_len)).ok_or(LayoutError)
    }

    /// Network inputs of these rows of the numbers and the bytes in front of them that a rollout or past steps hold; `stacked`:
    /// of the frame numbers in place of the bytes, which are those of all frames then.
    pub(in crate::learn) fn input<'t>(
        &self,
        (obs, pixels): (&[f32], &'t [u8]),
        stacked: Option<(&Stack, &[u32])>,
        rows: &Rows<'_>,
        to: &'t mut [f32],
    ) -> Result<Input<'t>> {
        let (front, width) = (self.reads_front, self.obs_len);
        if self.pixels_len == 0 {
            return Ok(Input::F32(rows.get(obs, width, to)?));
        }
        if front == 0 {
            let to = block::rows_mut(to, 0, rows.len(), self.seen.len)?;
            for (k, row) in rows.iter().enumerate() {
                self.assemble((obs, pixels), stacked, row, block::rows_mut(to, k, 1, self.seen.len)?)?;
            }
            return Ok(Input::F32(to));
        }
        let (rest, room) = cut_behind(rows.len(), width, to)?;
        rows.get(obs, width, rest)?;
        let bytes = match stacked {
            Some((stack, frame)) => stack.see((frame, pixels), rows.iter(), room)?,
            None => rows.whole(pixels, front, room)?,
        };
        Ok(Input::of_bytes_and(bytes, rest))
    }

    /// Writes the network input of a row, as numbers, from the arrays of [`Sizes::input`].
    pub(in crate::learn) fn assemble(
        &self,
        (obs, pixels): (&[f32], &[u8]),
        stacked: Option<(&Stack, &[u32])>,
        row: usize,
        to: &mut [f32],
    ) -> Result {
        let (front, rest) = to.split_at_mut_checked(self.pixels_len).ok_or(LayoutError)?;
        match stacked {
            Some((stack, frame)) => stack.join((frame, pixels), row, front)?,
            None => bytes_to_f32(block::rows(pixels, row, 1, self.pixels_len)?, front),
        }
        block::copy(rest, block::rows(obs, row, 1, self.obs_len)?);
        Ok(())
    }
}

#[cfg(feature = "off_policy")]
impl Sizes<'_> {
    /// Bytes of an observation in the store, besides those of a picture that is stored as frames.
    pub(in crate::learn) fn rest_len(&self) -> usize {
        if self.replay.ring.stack.is_kept() {
            self.pixels_len.saturating_sub(self.replay.ring.stack.width())
        } else {
            self.pixels_len
        }
    }

    /// Copies the bytes of an observation that the store holds: all but the picture, if that is stored as frames.
    pub(in crate::learn) fn keep_rest(&self, obs: &[u8], to: &mut [u8]) -> Fit<()> {
        let stack = &self.replay.ring.stack;
        if !stack.is_kept() {
            block::copy(to, obs);
            return Ok(());
        }
        let (before, rest) = obs.split_at_checked(self.seen.front_offset()).ok_or(LayoutError)?;
        let behind = rest.get(stack.width()..).unwrap_or_default();
        to.iter_mut().zip(before.iter().chain(behind)).for_each(|(to, x)| *to = *x);
        Ok(())
    }

    /// Quantiles of all critics.
    pub(in crate::learn) fn pool(&self) -> usize {
        self.replay.quantiles.saturating_mul(self.replay.num_critics)
    }

    /// Numbers of a critic's input that includes those of an action; 0 if actions are choices alone.
    pub(in crate::learn) fn pair(&self) -> usize {
        match self.std_len {
            0 => 0,
            _ => self.critic.input().saturating_sub(self.reads_front),
        }
    }

    /// Elements of a row of secondary outputs: of the network's second head, and of a critic's values of all choices.
    pub(in crate::learn) fn others(&self) -> usize {
        self.net.head_len(1).saturating_add(self.replay.choice_values)
    }

    /// Working columns of a row: those of a chunk, or the outputs of two critics for an environment.
    fn columns(&self) -> usize {
        let said = if self.replay.choice_values > 0 {
            self.replay.choice_values.saturating_mul(2)
        } else {
            self.replay.num_critics.max(self.replay.quantiles.saturating_add(1))
        };
        COLUMNS.max(said)
    }

    /// Elements of a row of the arrays that acting uses besides the outputs of the policy's first head: outputs of the second
    /// head, means of the first head, critic inputs, and working columns.
    pub(super) fn acting_lens(&self, over_replay: bool) -> [usize; 4] {
        if !over_replay {
            return [0, 0, 0, ACTING_COLUMNS];
        }
        [self.others(), self.net.head_len(0), self.pair(), self.columns()]
    }

    /// Lengths of stored transitions, and of pending ones.
    fn replay_lens(&self, stored: &LearnerSpec) -> ReplayLens {
        let (c, ring) = (&stored.config, &self.replay.ring);
        let (n, n_step, slots) = (self.n, c.n_step as usize, c.buffer_size as usize);
        let begun = TransitionLens {
            rows: n.saturating_mul(n_step),
            obs: self.obs_len,
            pixels: self.pixels_len,
            stacked: 0,
            masks: self.masks,
            own_masks: self.replay.own_masks,
            choices: stored.shape.action_lens().0,
            vector: self.std_len,
            state: self.state_len(),
            begins: c.sequence_len > 0,
            links: false,
        };
        ReplayLens {
            n,
            slots,
            kept: c.demonstration_size as usize,
            n_step,
            batch: c.batch_size as usize,
            stored: TransitionLens {
                rows: slots.saturating_add(c.demonstration_size as usize),
                pixels: self.rest_len(),
                stacked: ring.stack.num,
                links: c.sequence_len > 0,
                ..begun
            },
            begun,
            frames: ring.count(),
            frame_len: ring.stack.len,
            stacked: ring.stack.num,
            params: self.params(),
            noisy: if self.net.noise_len() > 0 { self.params() } else { 0 },
            weighted: c.priority_exponent > 0.0,
            vector: self.std_len,
            sequences: if c.sequence_len > 0 { c.batch_sequences() } else { 0 },
            moments: if c.overlap != 0 { stored.actor().moments_len() } else { 0 },
        }
    }

    /// Lengths of the working arrays of a chunk of a batch.
    fn batch_lens(&self, stored: &LearnerSpec) -> BatchLens {
        let (c, shape) = (&stored.config, &stored.shape);
        let is_mean = c.value_head().is_mean();
        BatchLens {
            rows: self.chunk_rows,
            acting: self.rows,
            others: self.others(),
            means: if is_mean { 0 } else { shape.num_outputs as usize },
            best: shape.action_lens().0,
            target: grid(shape.action_lens().0, c.value_lens()[0] as usize),
            quantiles: self.replay.quantiles,
            pool: self.pool(),
            vector: self.std_len,
            pair: self.pair(),
            critic_tape: grid(self.replay.num_critics, self.critic.tape_len(self.chunk_rows)),
            cloned: match c.demonstration_size {
                0 => 0,
                _ => self.net.head_len(0).saturating_add(if c.needs().q { 0 } else { self.net.head_len(1) }),
            },
            unroll: if c.sequence_len > 0 { self.unroll_lens(c) } else { UnrollLens::default() },
        }
    }

    /// Lengths of the working arrays of recurrent layers.
    fn unroll_lens(&self, c: &Config) -> UnrollLens {
        let of_net = self.net.head_len(0).saturating_add(self.net.head_len(1));
        UnrollLens {
            sequences: self.chunk_rows.checked_div(c.sequence_rows()).unwrap_or(0),
            len: c.sequence_rows(),
            steps: c.sequence_steps(),
            state: self.state_len(),
            obs: self.seen.len,
            action: self.std_len,
            pair: self.pair(),
            outputs: of_net.max(self.critic.head_len(0)),
            networks: self.replay.num_critics.saturating_add(1),
            params: self.critic.param_len(),
        }
    }
}

pub(super) fn sizes<'n>(stored: &LearnerSpec, [net, critic]: [Net<'n>; 2], seen: ObsEncoder<'n>) -> Sizes<'n> {
    let (c, shape) = (&stored.config, &stored.shape);
    let std = net.free_params(0);
    let over_replay = c.needs().replay;
    let (tasks, replays) = (stored.tasks(seen.parts), c.most_replays());
    let room = if over_replay { 0 } else { c.batch_len().saturating_add(c.num_envs as usize).saturating_add(1) };
    let slots = room.saturating_mul(if c.overlap != 0 { 2 } else { 1 });
    let masks = if c.use_action_mask != 0 { shape.mask_len() } else { 0 };
    // A rollout stores encoded observations, except for bytes in front; a replay store stores the host's observations.
    let front = stored.front(seen.parts) as usize;
    let (obs_len, pixels_len) = match over_replay {
        true if shape.kinds().0 != Element::F32 || seen.coded => (0, shape.obs_size()),
        true => (seen.len, 0),
        false => (seen.len.saturating_sub(front), front),
    };
    let num_critics = if over_replay && c.needs().critics { c.num_critics as usize } else { 0 };
    let chunk_rows = match over_replay {
        true => c.batch_sequences().div_ceil((c.num_chunks as usize).max(1)).saturating_mul(c.sequence_rows()),
        false => c.chunk_len(),
    };
    // Critics of continuous actions find them behind the observation. Symbols are looked up in whole inputs.
    let in_front = |net: &Net<'_>| net.reads_bytes_in_front(front) && !net.reads_symbols();
    let whole = !over_replay || front == seen.len && !seen.coded;
    let reads = whole && in_front(&net) && (num_critics == 0 || in_front(&critic));
    let reads_front = if reads { front } else { 0 };
    let params = net.param_len().saturating_add(critic.param_len().saturating_mul(num_critics));
    let error_len = if over_replay { chunk_rows } else { 0 };
    #[cfg(feature = "off_policy")]
    let replay = {
        let choice_values = if num_critics > 0 && shape.action_lens().0 > 0 { shape.mask_len() } else { 0 };
        ReplaySizes {
            num_critics,
            quantiles: if num_critics > 0 { c.num_quantiles as usize } else { 0 },
            ring: Ring::new(stored, seen.parts),
            own_masks: if c.demonstration_size > 0 { masks } else { masks.min(choice_values) },
            choice_values,
        }
    };
    Sizes {
        net,
        critic,
        seen,
        reads_front,
        n: c.num_envs as usize,
        rows: chunk_rows.max(c.num_envs as usize),
        chunk_rows,
        room,
        std_begin: std.start,
        std_len: std.len(),
        record_len: params.saturating_add(LOSSES).saturating_add(error_len),
        error_len,
        obs_len,
        pixels_len,
        masks,
        frames: Frames::new(stored, seen.parts, room, slots),
        tasks,
        task_rows: [
            if tasks.replays() { replays.saturating_mul(c.replay_len().saturating_add(1)) } else { 0 },
            replays.saturating_mul(tasks.frames),
        ],
        #[cfg(feature = "off_policy")]
        replay,
    }
}

/// The compiled layers of the policy and the critics, and the encoding of observations: their parts, and numbers of choices.
type Layers<'m> = ([&'m [Node]; 2], &'m [Part], &'m [u32]);

impl Places {
    /// Plans the compiled layers and the spans of the rest.
    pub(super) fn plan(p: &mut Plan, stored: &LearnerSpec) -> core::result::Result<Places, TooLong> {
        block::spans::<LearnerSpec>(p)?;
        let over_replay = stored.config.needs().replay;
        Ok(Places {
            front: Front::plan(p, stored.num_layers(), stored.shape.num_parts, stored.shape.num_choices)?,
            critic: p.span(stored.num_critic_layers())?,
            spans: p.span(1)?,
            rollout: p.span(usize::from(!over_replay))?,
            replay: p.span(usize::from(over_replay))?,
        })
    }

    /// Returns the networks of a block, and the encoding of observations.
    pub(super) fn read<'m>(&self, mem: &'m [u8]) -> Result<Layers<'m>> {
        let (nodes, parts, n) = self.front.read(mem)?;
        Ok(([nodes, block::view(mem, self.critic)?], parts, n))
    }

    /// Writes the beginning of a new block.
    pub(super) fn write(
        &self,
        cut: &mut Cutter<'_>,
        [net, critic]: [Net<'_>; 2],
        parts: &[Part],
        n: &[u32],
        plans: &Plans,
    ) -> Result {
        self.front.write(cut, net.nodes(), parts, n)?;
        block::copy(cut.take(self.critic)?, critic.nodes());
        cut.take(self.spans)?.fill(plans.spans);
        cut.take(self.rollout)?.fill(plans.rollout);
        cut.take(self.replay)?.fill(plans.replay);
        Ok(())
    }

    /// Checks that the plan stored in a block is this one. Errors: `Image`.
    pub(super) fn check(&self, mem: &[u8], (plans, size): (Plans, usize)) -> Result<usize> {
        if self.replay.is_empty() {
            block::check_plan(mem, self.rollout, (plans.rollout, size))?;
        } else {
            block::check_plan(mem, self.replay, (plans.replay, size))?;
        }
        block::check_plan(mem, self.spans, (plans.spans, size))
    }
}

/// The spans of a learner's block with these networks, and its size in bytes.
pub(super) fn block_plan(stored: &LearnerSpec, nets: [Net<'_>; 2], parts: &[Part]) -> Result<(Plans, usize)> {
    Ok(plan(stored, &sizes(stored, nets, stored.shape.seen(nets[0], parts, &[])))?)
}

fn lens(stored: &LearnerSpec, sizes: &Sizes<'_>) -> Lens {
    let (LearnerSpec { config: c, shape: s }, &Sizes { std_len, record_len, .. }) = (stored, sizes);
    let over_replay = c.needs().replay;
    let replayed = |width| if sizes.tasks.policy { width } else { 0 };
    #[cfg(feature = "off_policy")]
    let columns = if over_replay { sizes.columns() } else { COLUMNS };
    #[cfg(not(feature = "off_policy"))]
    let columns = COLUMNS;
    Lens {
        n: sizes.n,
        order: if over_replay { c.batch_size as usize } else { sizes.room },
        minibatch: if over_replay { 0 } else { c.minibatch_len() },
        recording: if over_replay { 0 } else { sizes.n },
        obs: s.seen_len as usize,
        stacked: if over_replay { 0 } else { sizes.frames.stack.num },
        choices: s.action_lens().0,
        std: std_len,
        shape: *s,
        moments: stored.actor().moments_len(),
        state: sizes.state_len(),
        begins: c.records_episode_starts(),
        frames: sizes.tasks.frames,
        columns: match (c.needs().corrections, sizes.tasks.policy && c.needs().ratios) {
            (true, _) => COLUMNS + SPARE,
            (_, true) => columns.saturating_add(1),
            _ => columns,
        },
        masks: sizes.masks,
        params: sizes.params(),
        layers: networks(sizes, &[]).num_layers(),
        noise: sizes.net.noise_len(),
        record: record_len,
        shown: ShownLens {
            rows: if over_replay { 0 } else { c.demonstration_size as usize },
            shape: *s,
            masks: sizes.masks,
            draws: c.minibatch_len(),
        },
        history: HistoryLens {
            n: if c.has_tasks() { sizes.n } else { 0 },
            len: c.history_len as usize,
            obs: sizes.obs_len,
            pixels: sizes.pixels_len,
            choices: if sizes.tasks.choices > 0 { 1 } else { replayed(s.action_lens().0) },
            vector: replayed(std_len),
            masks: if sizes.tasks.choices > 0 { sizes.masks } else { replayed(sizes.masks) },
            values: replayed(1),
            log_probs: replayed(usize::from(c.keeps_log_probs())),
            state: sizes.state_len(),
            durations: c.use_duration as usize,
            draws: if c.has_tasks() { c.num_replays() } else { 0 },
        },
    }
}

fn rollout_lens(stored: &LearnerSpec, sizes: &Sizes<'_>) -> RolloutLens {
    let (c, s, frames) = (&stored.config, &stored.shape, &sizes.frames);
    RolloutLens {
        slots: frames.slots,
        kept: sizes.obs_len,
        pixels: if frames.stack.is_kept() {
            grid(frames.count(), frames.stack.len)
        } else {
            grid(frames.slots, sizes.pixels_len)
        },
        stacked: frames.stack.num,
        choices: s.action_lens().0,
        std: sizes.std_len,
        masks: sizes.masks,
        state: sizes.state_len(),
        begins: c.records_episode_starts(),
        durations: c.use_duration as usize,
        numbers: c.needs().numbers,
    }
}

/// The spans of the block, and its size in bytes.
pub(super) fn plan(stored: &LearnerSpec, sizes: &Sizes<'_>) -> core::result::Result<(Plans, usize), TooLong> {
    let lens = lens(stored, sizes);
    let mut p = Plan::default();
    Places::plan(&mut p, stored)?;
    let over_replay = stored.config.needs().replay;
    let rollout = match over_replay {
        true => RolloutSpans::zeroed(),
        false => RolloutSpans::plan(&mut p, &rollout_lens(stored, sizes))?,
    };
    let replay = match over_replay {
        #[cfg(feature = "off_policy")]
        true => ReplaySpans::plan(&mut p, &sizes.replay_lens(stored))?,
        _ => ReplaySpans::zeroed(),
    };
    let spans = Spans {
        work: work(&mut p, stored, sizes, &lens, lens.n)?,
        fields: FieldSpans::plan(&mut p, &stored.config, &lens)?,
    };
    Ok((Plans { spans, rollout, replay }, p.size()?))
}

/// Plans working arrays: of a block for `n` environments; with `n` 0, for chunks alone.
fn work(
    p: &mut Plan,
    stored: &LearnerSpec,
    sizes: &Sizes<'_>,
    lens: &Lens,
    n: usize,
) -> core::result::Result<ScratchSpans, TooLong> {
    let (c, net) = (&stored.config, &sizes.net);
    let rows = if n > 0 { sizes.rows } else { sizes.chunk_rows };
    let [replayed, frames] = sizes.task_rows;
    let rows = rows.max(replayed).max(frames);
    let sequences = sizes.chunk_rows.checked_div(c.sequence_rows()).unwrap_or(0);
    let sequences_most = sequences.max(c.most_replays());
    let (scratch, batch);
    #[cfg(feature = "off_policy")]
    {
        let of_critics = sizes.critic.scratch_len(true, sequences).max(sizes.critic.infer_scratch_len(usize::MAX));
        scratch = if c.needs().replay { of_critics } else { 0 };
        batch = if c.needs().replay { sizes.batch_lens(stored) } else { BatchLens::default() };
    }
    #[cfg(not(feature = "off_policy"))]
    {
        (scratch, batch) = (0, BatchLens::default());
    }
    let work = WorkLens {
        lens,
        n,
        recording: n.min(lens.recording),
        returns: if c.normalize_reward != 0 { n } else { n.min(lens.recording) },
        rows,
        raw: grid(n, if c.needs().replay { lens.obs } else { lens.obs.saturating_sub(sizes.reads_front) }),
        obs: grid(rows, lens.obs.saturating_sub(sizes.reads_front))
            .saturating_add(grid(rows, sizes.reads_front).div_ceil(size_of::<f32>())),
        draws: stored.shape.draw_len(),
        outputs: net.head_len(0),
        tape: net.tape_len(if c.needs().replay { sizes.chunk_rows } else { rows }),
        before: if c.burn_in > 0 && !c.needs().replay { sequences.saturating_mul(2) } else { 0 },
        scratch: net.scratch_len(false, sequences_most).max(net.infer_scratch_len(usize::MAX)).max(scratch),
        replayed,
        cells: [sizes.tasks.cells().saturating_mul(sizes.tasks.choices), sizes.tasks.cells()],
        frames,
        batch,
    };
    ScratchSpans::plan(p, &work)
}

/// Working arrays of `learn_range`, and their bytes.
pub(super) fn plan_scratch(
    stored: &LearnerSpec,
    sizes: &Sizes<'_>,
) -> core::result::Result<(ScratchSpans, usize), TooLong> {
    let mut p = Plan::default();
    let spans = work(&mut p, stored, sizes, &lens(stored, sizes), 0)?;
    Ok((spans, p.size()?))
}

/// Elements of `rows` rows; saturates, and a saturated length exceeds the limit of any element type.
const fn grid(rows: usize, width: usize) -> usize {
    rows.saturating_mul(width)
}

fields! {
    pub(in crate::learn) spans ScratchSpans(w: &WorkLens<'_>) {
        /// Environments of this call, and the slots of their transitions, `[N]` each.
        pub(in crate::learn) row: [u32] = w.n,
        pub(in crate::learn) slot: [u32] = w.recording,
        /// Numbers of the frames of their observations.
        pub(in crate::learn) frame: [u32] = grid(w.n, w.lens.stacked),
        /// Environments of a pass over a subset of the rows.
        pub(in crate::learn) some: [u32] = w.recording,
        /// Random streams with the draws of this call, `[N]`.
        pub(in crate::learn) rng: [Rng] = w.n,
        /// Encoded observations before normalization, `[N, seen_len]`.
        pub(in crate::learn) raw: [f32] = w.raw,
        pub(in crate::learn) noise: [f32] = grid(w.n, w.draws),
        /// Bootstrap values: of the observation after the current transition.
        pub(in crate::learn) next: Cold<[f32]> = w.recording,
        /// Running returns, and the accumulators of the backward pass over a rollout.
        pub(in crate::learn) running: [f64] = w.returns,
        /// Terminated and truncated flags.
        pub(in crate::learn) ends: [u8] = grid(w.returns, 2),
        pub(in crate::learn) obs: [f32] = w.obs,
        /// Discrete and continuous parts of actions: as they were drawn, or from -1 to 1.
        pub(in crate::learn) choice: [i32] = grid(w.rows, w.lens.choices),
        pub(in crate::learn) vector: [f32] = grid(w.rows, w.lens.std),
        pub(in crate::learn) mask: [u8] = grid(w.rows, w.lens.masks),
        /// Recurrent states, and 1 where a row starts from its state.
        pub(in crate::learn) state: [f32] = grid(w.rows, w.lens.state),
        pub(in crate::learn) cut: Cold<[u8]> = if w.lens.state > 0 { w.rows } else { 0 },
        /// Slots of burn-in steps before sequences, and the number of such steps.
        pub(in crate::learn) before: Cold<[u32]> = w.before,
        pub(in crate::learn) scalar: [f32] = grid(w.rows, w.lens.columns),
        /// Outputs of the policy's first head.
        pub(in crate::learn) outputs: [f32] = grid(w.rows, w.outputs),
        pub(in crate::learn) d_outputs: Cold<[f32]> = grid(if w.batch.rows > 0 { w.batch.rows } else { w.rows }, w.outputs),
        /// Slots of past steps.
        pub(in crate::learn) past: Cold<[u32]> = w.replayed.max(w.frames),
        /// Advantages and values of cells, `[steps, cells, choices]` and `[steps, cells]`, with their gradients; pixel changes
        /// and targets.
        pub(in crate::learn) cell: Cold<[f32]> = grid(w.replayed, w.cells[0]),
        pub(in crate::learn) d_cell: Cold<[f32]> = grid(w.replayed, w.cells[0]),
        pub(in crate::learn) cell_value: Cold<[f32]> = grid(w.replayed, w.cells[1]),
        pub(in crate::learn) d_cell_value: Cold<[f32]> = grid(w.replayed, w.cells[1]),
        pub(in crate::learn) change: Cold<[f32]> = w.cells[1],
        pub(in crate::learn) target: Cold<[f32]> = w.cells[1],
        /// Contributions of observations to the hidden units that predict rewards.
        pub(in crate::learn) class: Cold<[f32]> = grid(grid(w.frames, w.lens.frames), CLASS_UNITS),
        pub(in crate::learn) d_class: Cold<[f32]> = grid(grid(w.frames, w.lens.frames), CLASS_UNITS),
        /// Additional working arrays of a batch from the replay store.
        #[cfg_attr(not(feature = "off_policy"), allow(dead_code))]
        pub(in crate::learn) batch: BatchWork = w.batch,
        pub(in crate::learn) tape: Cold<[f32]> = w.tape,
        pub(in crate::learn) scratch: [f32] = w.scratch,
    }
    /// Working arrays, valid within one call only. The parts that calls of N rows use are zero between calls, so that a call
    /// that fails leaves every byte of the block unchanged.
    #[derive(Default)]
    pub(in crate::learn) write Scratch {}
}

impl<'a> Learner<'a> {
    /// Cuts a block that was accepted; the fields that acting does not need only with `ALL`. Removes the seal.
    pub(super) fn of<const ALL: bool>(mem: &'a mut [u8]) -> Result<Learner<'a>> {
        block::unseal(mem);
        let (mark, stored, mut cut) = block::cut_marked::<LearnerSpec>(mem)?;
        let places = Places::plan(&mut Plan::default(), stored)?;
        let (nodes, parts, n) = places.front.take(&mut cut)?;
        let nets = [Net::new(nodes), Net::new(cut.take(places.critic)?)];
        let s = cut.take(places.spans)?.first().ok_or(LayoutError)?;
        let (rollout, replay) = (cut.take(places.rollout)?, cut.take(places.replay)?);
        let sizes = sizes(stored, nets, stored.shape.seen(nets[0], parts, n));
        let rollout = match rollout.first() {
            Some(spans) => Rollout::cut_some::<ALL>(&mut cut, spans)?,
            None => Rollout::default(),
        };
        let replay = match replay.first() {
            Some(spans) => Replay::cut_some::<ALL>(&mut cut, spans)?,
            None => Replay::default(),
        };
        let (config, actor) = (&stored.config, stored.actor());
        let work = Scratch::cut_some::<ALL>(&mut cut, &s.work)?;
        Ok(Learner::cut_some::<ALL>(&mut cut, &s.fields, mark, config, actor, sizes, rollout, replay, work)?)
    }
}

impl<'a> View<'a> {
    /// Reads a block that `init` or `attach` has accepted, without checking it again.
    pub fn open(mem: &'a [u8]) -> Result<View<'a>> {
        let stored: &LearnerSpec = block::config(mem, BlockKind::Learner)?;
        let places = Places::plan(&mut Plan::default(), stored)?;
        let (nodes, parts, n) = places.read(mem)?;
        let nets = nodes.map(Net::new);
        let s = block::view(mem, places.spans)?.first().ok_or(LayoutError)?;
        let sizes = sizes(stored, nets, stored.shape.seen(nets[0], parts, n));
        let rollout = match block::view(mem, places.rollout)?.first() {
            Some(spans) => RolloutView::of(mem, spans)?,
            None => RolloutView::default(),
        };
        let replay = match block::view(mem, places.replay)?.first() {
            Some(spans) => ReplayView::of(mem, spans)?,
            None => ReplayView::default(),
        };
        Ok(View::of(mem, &s.fields, &stored.config, stored.actor(), sizes, rollout, replay)?)
    }

    /// [`View::phase`] of a block that `init` or `attach` has accepted, without reading the rest of it.
    pub fn phase_of(mem: &[u8]) -> Result<Phase> {
        let stored: &LearnerSpec = block::config(mem, BlockKind::Learner)?;
        let spans = block::view(mem, Places::plan(&mut Plan::default(), stored)?.spans)?.first().ok_or(LayoutError)?;
        let state: &State = block::view(mem, spans.fields.state)?.first().ok_or(LayoutError)?;
        Ok(state.phase(&stored.config, block::view(mem, spans.fields.open)?))
    }
}

/// Logarithms of standard deviations, a part of the parameters.
pub(in crate::learn) fn log_std<'p>(params: &'p [f32], sizes: &Sizes<'_>) -> Fit<&'p [f32]> {
    params.get(sizes.std_begin..sizes.std_begin.saturating_add(sizes.std_len)).ok_or(LayoutError)
}

/// Mutable version of `log_std`.
pub(in crate::learn) fn log_std_mut<'p>(params: &'p mut [f32], sizes: &Sizes<'_>) -> Fit<&'p mut [f32]> {
    params.get_mut(sizes.std_begin..sizes.std_begin.saturating_add(sizes.std_len)).ok_or(LayoutError)
}
