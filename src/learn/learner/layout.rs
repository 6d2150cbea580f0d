//! Where everything lies in a learner's block.

use bytemuck::{Pod, Zeroable};

use super::frames::Frames;
use super::history::HistoryLens;
use super::{FieldSpans, Learner, Phase, State, View};
use crate::block::{self, Fit, Kind as BlockKind, Late, Misfit, Plan, Span, TooLong, fields};
use crate::error::Result;
use crate::learn::config::Algorithm;
use crate::learn::seen::Part;
use crate::learn::seen::{Front, Seen};
use crate::learn::shape::Shape;
use crate::learn::stored::Stored;
use crate::learn::tasks::{CLASS_UNITS, Tasks};
use crate::nn::Net;
use crate::rng::Rng;

/// Working columns of a chunk, and those that V-trace has beside them.
pub(in crate::learn) const COLUMNS: usize = 8;
const SPARE: usize = 6;

/// Numbers behind the gradients of a chunk: its losses, as the algorithm lists them, and zeros.
pub(in crate::learn) const LOSSES: usize = 8;

/// Where everything lies in a learner's block, which keeps it: calls look it up, and only `attach` works it out again.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Spans {
    rollout: RolloutSpans,
    work: WorkSpans,
    pub(super) fields: FieldSpans,
}

/// Numbers that the lengths of fields are made of.
pub(in crate::learn) struct Lens {
    /// N.
    pub(super) n: usize,
    /// Transitions that the rollout has room for: see [`Sizes::room`]; twice with `overlap`.
    pub(super) slots: usize,
    /// The same of one rollout.
    pub(super) room: usize,
    pub(super) minibatch: usize,
    obs: usize,
    /// Of an observation in the rollout: numbers, or bytes.
    kept: usize,
    /// Bytes of all pictures, and frames of a stack.
    pixels: usize,
    stacked: usize,
    outputs: usize,
    choices: usize,
    std: usize,
    pub(super) shape: Shape,
    pub(super) moments: usize,
    masks: usize,
    /// Of a recurrent state.
    pub(super) state: usize,
    /// It is known where episodes begin.
    pub(super) begins: bool,
    columns: usize,
    frames: usize,
    pub(super) params: usize,
    /// Of a draw for noisy layers.
    pub(super) noise: usize,
    pub(super) record: usize,
    pub(super) history: HistoryLens,
}

/// Rows and networks that working arrays are for.
pub(in crate::learn) struct WorkLens<'l> {
    lens: &'l Lens,
    /// Environments that act.
    n: usize,
    /// A chunk, or one observation of each environment.
    rows: usize,
    draws: usize,
    tape: usize,
    before: usize,
    scratch: usize,
    /// Steps that are replayed, numbers of cells of one of them, and observations that rewards are predicted from.
    replayed: usize,
    cells: [usize; 2],
    frames: usize,
}

/// What follows from the stored configuration.
#[derive(Clone, Copy)]
pub(in crate::learn) struct Sizes<'n> {
    /// The policy and the value of an observation.
    pub(in crate::learn) net: Net<'n>,
    /// How networks see observations.
    pub(in crate::learn) seen: Seen<'n>,
    /// Rows of the working arrays: a chunk, or one observation of each environment.
    pub(in crate::learn) rows: usize,
    /// Rows of the arrays of `learn_range`.
    pub(in crate::learn) chunk_rows: usize,
    /// Transitions that a rollout has room for: those that an update learns from, one more for each environment, because
    /// they need not be complete when the update is due, and one to exchange two of them.
    pub(in crate::learn) room: usize,
    /// Where logarithms of standard deviations lie in the parameters: behind the policy's network.
    pub(in crate::learn) std_begin: usize,
    pub(in crate::learn) std_len: usize,
    /// Parameters, and the losses of a chunk behind its gradients.
    pub(in crate::learn) record_len: usize,
    /// Numbers and bytes of an observation in the rollout; one of them is 0.
    pub(in crate::learn) obs_len: usize,
    pub(in crate::learn) pixels_len: usize,
    /// Frames that are kept once.
    pub(in crate::learn) frames: Frames,
    /// The auxiliary tasks, and the rows of their passes through the network: steps of sequences, and observations.
    pub(in crate::learn) tasks: Tasks,
    pub(in crate::learn) task_rows: [usize; 2],
}

impl Sizes<'_> {
    /// Numbers that recurrent layers carry from step to step.
    pub(in crate::learn) fn state_len(&self) -> usize {
        self.net.state_len()
    }
}

pub(super) fn sizes<'n>(stored: &Stored, net: Net<'n>, seen: Seen<'n>) -> Sizes<'n> {
    let c = &stored.config;
    let chunk_rows = c.chunk_len();
    let std = net.free_params(0);
    let (obs_len, keeps_bytes) = (stored.shape.seen_len as usize, stored.shape.obs_u8() && c.normalize_obs == 0);
    let (tasks, replays) = (stored.tasks(seen.parts), c.most_replays());
    let room = c.batch_len().saturating_add(c.num_envs as usize).saturating_add(1);
    let slots = room.saturating_mul(if c.overlap != 0 { 2 } else { 1 });
    Sizes {
        net,
        seen,
        rows: chunk_rows.max(c.num_envs as usize),
        chunk_rows,
        room,
        std_begin: std.start,
        std_len: std.len(),
        record_len: net.param_len().saturating_add(LOSSES),
        obs_len: if keeps_bytes { 0 } else { obs_len },
        pixels_len: if keeps_bytes { obs_len } else { 0 },
        frames: Frames::new(stored, seen.parts, room, slots),
        tasks,
        task_rows: [
            if tasks.replays() { replays.saturating_mul(c.replay_len().saturating_add(1)) } else { 0 },
            replays.saturating_mul(tasks.frames),
        ],
    }
}

/// Where everything lies in a learner's block with this network, and its bytes.
pub(super) fn block_plan(stored: &Stored, net: Net<'_>, parts: &[Part]) -> Result<(Spans, usize)> {
    Ok(plan(stored, &sizes(stored, net, stored.shape.seen(net, parts, &[])))?)
}

/// Where compiled layers lie, and what is known of observations, before everything whose length they say; then the plan of
/// the rest.
pub(super) fn front(p: &mut Plan, stored: &Stored) -> core::result::Result<(Front, Span<Spans>), TooLong> {
    block::spans::<Stored>(p)?;
    let front = Front::plan(p, stored.num_layers(), stored.shape.num_parts, stored.shape.num_choices)?;
    Ok((front, p.span(1)?))
}

fn lens(stored: &Stored, sizes: &Sizes<'_>) -> Lens {
    let (Stored { config: c, shape: s }, &Sizes { std_len, room, record_len, .. }) = (stored, sizes);
    let (outputs, frames) = (s.num_outputs as usize, &sizes.frames);
    let masks = if c.use_action_mask != 0 { s.mask_len() } else { 0 };
    let replayed = |width| if sizes.tasks.policy { width } else { 0 };
    Lens {
        n: c.num_envs as usize,
        slots: frames.slots,
        room,
        minibatch: c.minibatch_len(),
        obs: s.seen_len as usize,
        kept: sizes.obs_len,
        pixels: if frames.stack.is_kept() {
            grid(frames.count(), frames.stack.len)
        } else {
            grid(frames.slots, sizes.pixels_len)
        },
        stacked: frames.stack.num,
        outputs,
        choices: s.action_lens().0,
        std: std_len,
        shape: *s,
        moments: stored.actor().moments_len(),
        state: sizes.state_len(),
        begins: c.marks_begins(),
        frames: sizes.tasks.frames,
        columns: if c.algorithm() == Algorithm::Impala { COLUMNS + SPARE } else { COLUMNS },
        masks,
        params: record_len.saturating_sub(LOSSES),
        noise: sizes.net.noise_len(),
        record: record_len,
        history: HistoryLens {
            n: if c.has_tasks() { c.num_envs as usize } else { 0 },
            len: c.history_len as usize,
            obs: sizes.obs_len,
            pixels: sizes.pixels_len,
            choices: if sizes.tasks.choices > 0 { 1 } else { replayed(s.action_lens().0) },
            vector: replayed(std_len),
            masks: if sizes.tasks.choices > 0 { masks } else { replayed(masks) },
            values: replayed(1),
            state: sizes.state_len(),
            draws: if c.has_tasks() { c.num_replays() } else { 0 },
        },
    }
}

/// Where everything lies, and the bytes of the whole block.
pub(super) fn plan(stored: &Stored, sizes: &Sizes<'_>) -> core::result::Result<(Spans, usize), TooLong> {
    let lens = lens(stored, sizes);
    let mut p = Plan::default();
    front(&mut p, stored)?;
    let spans = Spans {
        rollout: RolloutSpans::plan(&mut p, &lens)?,
        work: work(&mut p, stored, sizes, &lens, lens.n)?,
        fields: FieldSpans::plan(&mut p, &stored.config, &lens)?,
    };
    Ok((spans, p.size()?))
}

/// Plans working arrays: of a block for `n` environments; 0: for chunks alone.
fn work(
    p: &mut Plan,
    stored: &Stored,
    sizes: &Sizes<'_>,
    lens: &Lens,
    n: usize,
) -> core::result::Result<WorkSpans, TooLong> {
    let net = &sizes.net;
    let rows = if n > 0 { sizes.rows } else { sizes.chunk_rows };
    let [replayed, frames] = sizes.task_rows;
    let rows = rows.max(replayed).max(frames);
    let sequences = sizes.chunk_rows.checked_div(stored.config.num_together()).unwrap_or(0);
    let sequences_most = sequences.max(stored.config.most_replays());
    let scratch = net.scratch_len(false, sequences_most).max(net.infer_scratch_len(usize::MAX));
    let tape = net.tape_len(rows);
    let before = if stored.config.burn_in > 0 { sequences.saturating_mul(2) } else { 0 };
    let cells = [sizes.tasks.cells().saturating_mul(sizes.tasks.choices), sizes.tasks.cells()];
    let draws = stored.shape.draw_len();
    WorkSpans::plan(p, &WorkLens { lens, n, rows, draws, tape, before, scratch, replayed, cells, frames })
}

/// Working arrays of `learn_range`, and their bytes.
pub(super) fn plan_scratch(stored: &Stored, sizes: &Sizes<'_>) -> core::result::Result<(WorkSpans, usize), TooLong> {
    let mut p = Plan::default();
    let spans = work(&mut p, stored, sizes, &lens(stored, sizes), 0)?;
    Ok((spans, p.size()?))
}

/// Elements of so many rows. What overflows is too long for any element.
const fn grid(rows: usize, width: usize) -> usize {
    rows.saturating_mul(width)
}

fields! {
    pub(in crate::learn) spans RolloutSpans(lens: &Lens) {
        /// As the networks saw them, normalised if they are to be.
        pub(in crate::learn) obs: [f32] = grid(lens.slots, lens.kept),
        /// Bytes that are not normalised stay bytes; `obs` is empty then. If frames are kept once, those.
        pub(in crate::learn) pixels: [u8] = lens.pixels,
        /// The numbers of those that an observation is a stack of, oldest first.
        pub(in crate::learn) frame: [u32] = grid(lens.slots, lens.stacked),
        pub(in crate::learn) choice: [i32] = grid(lens.slots, lens.choices),
        /// Before squashing or clipping.
        pub(in crate::learn) vector: [f32] = grid(lens.slots, lens.std),
        pub(in crate::learn) mask: [u8] = grid(lens.slots, lens.masks),
        pub(in crate::learn) log_prob: [f32] = lens.slots,
        pub(in crate::learn) value: [f32] = lens.slots,
        pub(in crate::learn) reward: [f32] = lens.slots,
        pub(in crate::learn) terminated: [u8] = lens.slots,
        pub(in crate::learn) truncated: [u8] = lens.slots,
        pub(in crate::learn) final_value: [f32] = lens.slots,
        pub(in crate::learn) advantage: Late<[f32]> = lens.slots,
        pub(in crate::learn) value_target: Late<[f32]> = lens.slots,
        /// Whose transition it is.
        pub(in crate::learn) env: [u32] = lens.slots,
        /// What recurrent layers carried before it; and of sequences, and with past steps, 1 where an episode begins.
        pub(in crate::learn) state: [f32] = grid(lens.slots, lens.state),
        pub(in crate::learn) begin: [u8] = if lens.begins { lens.slots } else { 0 },
    }
    /// Transitions, each in a slot: those of one environment lie in the order in which they were, and where all
    /// environments act in every step they lie as `[T, N]`. Two rollouts, one after another, with `overlap`.
    pub(super) write Rollout {}
    /// The same, to read.
    #[derive(Clone, Copy)]
    pub(in crate::learn) read RolloutView {}
}

fields! {
    pub(in crate::learn) spans WorkSpans(w: &WorkLens<'_>) {
        /// Environments of this call, and where their transitions are or will be, `[N]` each.
        pub(in crate::learn) row: [u32] = w.n,
        pub(in crate::learn) slot: [u32] = w.n,
        /// The frames of their observations.
        pub(in crate::learn) frame: [u32] = grid(w.n, w.lens.stacked),
        /// Those of them that something is done for.
        pub(in crate::learn) some: [u32] = w.n,
        /// Streams with the draws of this call, `[N]`.
        pub(in crate::learn) rng: [Rng] = w.n,
        /// What networks see of observations, before it is normalised, `[N, seen_len]`.
        pub(in crate::learn) raw: [f32] = grid(w.n, w.lens.obs),
        pub(in crate::learn) noise: [f32] = grid(w.n, w.draws),
        /// Values of what follows the transition that is looked at.
        pub(in crate::learn) next: Late<[f32]> = w.n,
        /// Running returns, and what environments carry back through the rollout.
        pub(in crate::learn) running: [f64] = w.n,
        /// Terminated and truncated.
        pub(in crate::learn) ends: [u8] = grid(w.n, 2),
        pub(in crate::learn) obs: [f32] = grid(w.rows, w.lens.obs),
        pub(in crate::learn) choice: [i32] = grid(w.rows, w.lens.choices),
        pub(in crate::learn) vector: [f32] = grid(w.rows, w.lens.std),
        pub(in crate::learn) mask: [u8] = grid(w.rows, w.lens.masks),
        /// What recurrent layers carry, and 1 where a row starts from it.
        pub(in crate::learn) state: [f32] = grid(w.rows, w.lens.state),
        pub(in crate::learn) cut: Late<[u8]> = if w.lens.state > 0 { w.rows } else { 0 },
        /// Slots of steps before sequences, and how many steps they have before them.
        pub(in crate::learn) before: Late<[u32]> = w.before,
        pub(in crate::learn) scalar: [f32] = grid(w.rows, w.lens.columns),
        pub(in crate::learn) outputs: [f32] = grid(w.rows, w.lens.outputs),
        pub(in crate::learn) d_outputs: Late<[f32]> = grid(w.rows, w.lens.outputs),
        /// Slots of past steps.
        pub(in crate::learn) past: Late<[u32]> = w.replayed.max(w.frames),
        /// Advantages and values of cells, `[steps, cells, choices]` and `[steps, cells]`; what they should be, and changes.
        pub(in crate::learn) cell: Late<[f32]> = grid(w.replayed, w.cells[0]),
        pub(in crate::learn) d_cell: Late<[f32]> = grid(w.replayed, w.cells[0]),
        pub(in crate::learn) cell_value: Late<[f32]> = grid(w.replayed, w.cells[1]),
        pub(in crate::learn) d_cell_value: Late<[f32]> = grid(w.replayed, w.cells[1]),
        pub(in crate::learn) target: Late<[f32]> = w.cells[1],
        pub(in crate::learn) change: Late<[f32]> = w.cells[1],
        /// What observations add to hidden units that predict rewards.
        pub(in crate::learn) class: Late<[f32]> = grid(grid(w.frames, w.lens.frames), CLASS_UNITS),
        pub(in crate::learn) d_class: Late<[f32]> = grid(grid(w.frames, w.lens.frames), CLASS_UNITS),
        pub(in crate::learn) tape: Late<[f32]> = w.tape,
        pub(in crate::learn) scratch: [f32] = w.scratch,
    }
    /// Working arrays, meaningful within one call only. What calls of N rows use is zero between calls, so that one that
    /// fails leaves every byte of the block as it was.
    #[derive(Default)]
    pub(in crate::learn) write Work {}
}

impl<'a> Learner<'a> {
    /// A block that was accepted; what acting does not need only if it is to be `ALL`. A seal is taken off.
    pub(super) fn of<const ALL: bool>(mem: &'a mut [u8]) -> Result<Learner<'a>> {
        block::unseal(mem);
        let (mark, stored, mut cut) = block::cut_marked::<Stored>(mem)?;
        let (front, spans) = front(&mut Plan::default(), stored)?;
        let (nodes, parts, n) = front.take(&mut cut)?;
        let s = cut.take(spans)?.first().ok_or(Misfit)?;
        let sizes = sizes(stored, Net::new(nodes), stored.shape.seen(Net::new(nodes), parts, n));
        let (rollout, work) =
            (Rollout::cut_some::<ALL>(&mut cut, &s.rollout)?, Work::cut_some::<ALL>(&mut cut, &s.work)?);
        Ok(Learner::cut_some::<ALL>(&mut cut, &s.fields, mark, &stored.config, stored.actor(), sizes, rollout, work)?)
    }
}

impl<'a> View<'a> {
    /// Reads a block that `init` or `attach` has accepted, without looking at all of it again.
    pub fn open(mem: &'a [u8]) -> Result<View<'a>> {
        let stored: &Stored = block::config(mem, BlockKind::Learner)?;
        let (front, spans) = front(&mut Plan::default(), stored)?;
        let (nodes, parts, n) = front.read(mem)?;
        let s = block::view(mem, spans)?.first().ok_or(Misfit)?;
        let sizes = sizes(stored, Net::new(nodes), stored.shape.seen(Net::new(nodes), parts, n));
        let rollout = RolloutView::of(mem, &s.rollout)?;
        Ok(View::of(mem, &s.fields, &stored.config, stored.actor(), sizes, rollout)?)
    }

    /// [`View::phase`] of a block that `init` or `attach` has accepted, of which nothing else is read.
    pub fn phase_of(mem: &[u8]) -> Result<Phase> {
        let stored: &Stored = block::config(mem, BlockKind::Learner)?;
        let spans = block::view(mem, front(&mut Plan::default(), stored)?.1)?.first().ok_or(Misfit)?;
        let state: &State = block::view(mem, spans.fields.state)?.first().ok_or(Misfit)?;
        Ok(state.phase(&stored.config, block::view(mem, spans.fields.open)?))
    }
}

/// Logarithms of standard deviations, among the parameters.
pub(in crate::learn) fn log_std<'p>(params: &'p [f32], sizes: &Sizes<'_>) -> Fit<&'p [f32]> {
    params.get(sizes.std_begin..sizes.std_begin.saturating_add(sizes.std_len)).ok_or(Misfit)
}

/// The same, for writing.
pub(in crate::learn) fn log_std_mut<'p>(params: &'p mut [f32], sizes: &Sizes<'_>) -> Fit<&'p mut [f32]> {
    params.get_mut(sizes.std_begin..sizes.std_begin.saturating_add(sizes.std_len)).ok_or(Misfit)
}
