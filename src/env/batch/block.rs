//! The block of a batch.

use super::setup::{Config, SHAPE, Setup};
use super::share::{GIVEN_UP, Share};
use super::words::{CLOSED, DONE, IDLE, RUNNING, STATE, WORDS, level_of};
use crate::block::{self, Cutter, Plan, fields};
use crate::env::{self, StepOut};
use crate::error::{Error, Kind, Result};
use crate::space::{Element, ElementsMut};

fields! {
    /// Where the fields of a block lie, behind what was agreed.
    pub spans Spans(setup: &Setup, action_size: usize, obs_size: usize, n: usize) {
        /// `[num_words]` see [`Batch::over`](super::Batch::over).
        pub words: [u32] = setup.num_words(),
        /// `[N, action_len]` elements, as bytes.
        pub action: [u8] = n.saturating_mul(action_size),
        /// `[N, obs_len]` elements, as bytes.
        pub obs: [u8] = n.saturating_mul(obs_size),
        /// `[N, obs_len]` elements, as bytes.
        pub final_obs: [u8] = n.saturating_mul(obs_size),
        /// `[N]`
        pub reward: [f32] = n,
        /// `[N]`
        pub terminated: [u8] = n,
        /// `[N]`
        pub truncated: [u8] = n,
        /// `[N]`
        pub valid: [u8] = n,
        /// `[N, mask_len]`
        pub action_mask: [u8] = n.saturating_mul(setup.vecenv.mask_len as usize),
        /// `[N, mask_len]`
        pub final_action_mask: [u8] = n.saturating_mul(setup.vecenv.mask_len as usize),
        /// `[N]` see [`Share::outcome`].
        pub outcome: [u8] = n,
    }
    /// All of them.
    write Fields {}
}

/// The one place where the layout is written down: the fields and the bytes of the whole block.
pub fn spans(setup: &Setup) -> Result<(Spans, usize)> {
    setup.check()?;
    let (obs_kind, action_kind) = setup.kinds()?;
    let bytes = |len: u32, kind: Element| (len as usize).saturating_mul(kind.size());
    let (action_size, obs_size) = (bytes(setup.vecenv.action_len, action_kind), bytes(setup.vecenv.obs_len, obs_kind));
    let mut plan = Plan::default();
    block::spans::<Setup>(&mut plan)?;
    Ok((Spans::plan(&mut plan, setup, action_size, obs_size, setup.rows())?, plan.size()?))
}

/// Bytes a block must have. Errors: `Config`, `Overflow`.
pub fn size(vecenv: &env::Setup, config: &Config) -> Result<usize> {
    Ok(spans(&Setup::new(vecenv, config)?)?.1)
}

/// Lays an idle batch out and returns the columns of all rows, to be split into groups.
/// Errors: `Config`, `Overflow`, `Align`, `Size`; then `mem` is untouched.
pub fn init<'a>(mem: &'a mut [u8], vecenv: &env::Setup, config: &Config) -> Result<(Setup, Share<'a>)> {
    let setup = Setup::new(vecenv, config)?;
    let (spans, size) = spans(&setup)?;
    let block = block::create(mem, block::Kind::Batch, size, &setup)?;
    Ok((setup, cut(block, &setup, spans)?.1))
}

/// Accepts bytes that a block was copied to. A copy made while workers ran names them: they have to be abandoned.
/// Nothing is written. Errors: `Align`; `Size`; `Image` for damaged bytes or another kind of block.
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
