//! Block layout of a batch.

use super::setup::{Config, SHAPE, Setup};
use super::share::{GIVEN_UP, Share};
use super::words::{CLOSED, DONE, IDLE, RUNNING, STATE, WORDS, level_of};
use crate::block::{self, Cutter, Plan, fields};
use crate::env::{self, StepOut};
use crate::error::{Error, Kind, Result};
use crate::space::{Element, ElementsMut};

fields! {
    /// Offsets of the fields of a block, which follow the setup.
    pub spans Spans(setup: &Setup, action_size: usize, obs_size: usize, n: usize) {
        /// `[num_words]` atomic words, see [`Batch::over`](super::Batch::over).
        pub words: [u32] = setup.num_words(),
        /// `[N, action_len]` action elements, as bytes.
        pub action: [u8] = n.saturating_mul(action_size),
        /// `[N, obs_len]` observation elements, as bytes.
        pub obs: [u8] = n.saturating_mul(obs_size),
        /// `[N, obs_len]` final observation elements, as bytes.
        pub final_obs: [u8] = n.saturating_mul(obs_size),
        /// `[N]` reward.
        pub reward: [f32] = n,
        /// `[N]` 1 where the environment reached a terminal state.
        pub terminated: [u8] = n,
        /// `[N]` 1 where the episode was truncated.
        pub truncated: [u8] = n,
        /// `[N]` 0 where the row was only reset, else 1.
        pub valid: [u8] = n,
        /// `[N, mask_len]` action mask of `obs`.
        pub action_mask: [u8] = n.saturating_mul(setup.vecenv.mask_len as usize),
        /// `[N, mask_len]` action mask of `final_obs`.
        pub final_action_mask: [u8] = n.saturating_mul(setup.vecenv.mask_len as usize),
        /// `[N]` outcome of the last step, see [`Share::outcome`].
        pub outcome: [u8] = n,
    }
    /// All fields of a block.
    write Fields {}
}

/// Layout of the block: the spans of all fields and the total size in bytes. The layout is defined here only.
pub fn spans(setup: &Setup) -> Result<(Spans, usize)> {
    setup.check()?;
    let (obs_kind, action_kind) = setup.kinds()?;
    let bytes = |len: u32, kind: Element| (len as usize).saturating_mul(kind.size());
    let (action_size, obs_size) = (bytes(setup.vecenv.action_len, action_kind), bytes(setup.vecenv.obs_len, obs_kind));
    let mut plan = Plan::default();
    block::spans::<Setup>(&mut plan)?;
    Ok((Spans::plan(&mut plan, setup, action_size, obs_size, setup.rows())?, plan.size()?))
}

/// Size of the block in bytes. Errors: `Config`, `Overflow`.
pub fn size(vecenv: &env::Setup, config: &Config) -> Result<usize> {
    Ok(spans(&Setup::new(vecenv, config)?)?.1)
}

/// Creates an idle batch in `mem` and returns the columns of all rows, to be split into groups. Errors: `Config`,
/// `Overflow`, `Align`, `Size`; on error `mem` is unchanged.
pub fn init<'a>(mem: &'a mut [u8], vecenv: &env::Setup, config: &Config) -> Result<(Setup, Share<'a>)> {
    let setup = Setup::new(vecenv, config)?;
    let (spans, size) = spans(&setup)?;
    let block = block::create(mem, block::Kind::Batch, size, &setup)?;
    Ok((setup, cut(block, &setup, spans)?.1))
}

/// Opens a block that was created by `init`, or a copy of one. In a copy made while workers were running, groups still
/// belong to these workers, which must be abandoned. Writes nothing. Errors: `Align`; `Size`; `Image` for damaged bytes
/// or another kind of block.
pub fn attach(mem: &mut [u8]) -> Result<(Setup, Share<'_>)> {
    let setup: Setup = block::attach(mem, block::Kind::Batch, |setup| Ok(spans(setup)?.1))?;
    let (words, share) = cut(mem, &setup, spans(&setup)?.0)?;
    let damaged = |what, given| Err(Error::new(Kind::Image, what).given(given));
    let (n, in_series) = (setup.num_groups() as u32, setup.in_series as usize);
    let (mode, hint, cursor, groups) = match words {
        [mode, hint, cursor, groups @ ..] => (*mode, *hint, *cursor, groups),
        _ => return Err(WORDS),
    };
    if mode > CLOSED || hint > n || cursor > n {
        return damaged("batch: the mode {given} or its turns are damaged.", mode as usize);
    }
    let mut outcomes = &*share.outcome;
    for (group, &word) in groups.iter().enumerate() {
        let (own, rest) = outcomes.split_at_checked(in_series).ok_or(SHAPE)?;
        outcomes = rest;
        let mine = word == IDLE || word == DONE;
        if !(mine || level_of(word).is_some() || word & STATE == RUNNING) {
            return damaged("batch: the state of group {given} is damaged.", group);
        }
        if mine && own.iter().any(|&outcome| outcome > GIVEN_UP) {
            return damaged("batch: the outcomes of group {given} are damaged.", group);
        }
    }
    Ok((setup, share))
}

fn cut<'a>(block: &'a mut [u8], setup: &Setup, spans: Spans) -> Result<(&'a mut [u32], Share<'a>)> {
    let (obs_kind, action_kind) = setup.kinds()?;
    let fields = Fields::cut(&mut Cutter::new(block), &spans)?;
    let out = StepOut {
        obs: ElementsMut::of_bytes(obs_kind, fields.obs)?,
        reward: fields.reward,
        terminated: fields.terminated,
        truncated: fields.truncated,
        final_obs: Some(ElementsMut::of_bytes(obs_kind, fields.final_obs)?),
        valid: Some(fields.valid),
        action_mask: Some(fields.action_mask).filter(|mask| !mask.is_empty()),
        final_action_mask: Some(fields.final_action_mask).filter(|mask| !mask.is_empty()),
    };
    let action = ElementsMut::of_bytes(action_kind, fields.action)?;
    Ok((fields.words, Share { action, out, outcome: fields.outcome }))
}
