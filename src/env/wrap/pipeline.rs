//! Pipeline of wrappers: determines the interface and state size of each wrapper on construction, then applies the list
//! in every reset and step.
//!
//! The state of a wrapped environment is the environment's own state, followed by that of each wrapper from the inside
//! out. Each layer splits its own bytes off the end and passes the rest down.

use core::slice::from_ref;

use super::change::{Change, Fit};
use super::layer::{Below, Face, Layer, Start};
use super::wrapper::Wrapper;
use super::{actions, episodes, observations, rewards};
use crate::block::HASH_START;
use crate::env::{Env, Level, Setup, Spec, Step};
use crate::error::{Error, Given, Kind, Result};
use crate::rng::Rng;
use crate::space::{Elements, ElementsMut, Field};

/// Maximum number of wrappers in a list.
pub const MAX_WRAPPERS: usize = 16;

/// An environment with wrappers, which is again an environment.
#[derive(Clone, Copy)]
pub struct Pipeline<'a> {
    env: &'a (dyn Env + Sync),
    env_id: u32,
    layers: [Layer<'a>; MAX_WRAPPERS + 1],
    num_layers: usize,
    face: Face<'a>,
    state_size: u32,
    /// The environment's own time limit; it is added as the first layer together with the first other wrapper.
    max_episode_steps: u32,
    limited: bool,
    hash: u64,
}

const OVERFLOW: Error = Error::new(Kind::Overflow, "wrappers: a state that fits 32 bits");
const SHAPE: Error = Error::new(Kind::Shape, "wrapped environment: state_size bytes of state on an 8-byte boundary");

impl<'a> Pipeline<'a> {
    /// Puts the wrappers around the environment, the first of the list innermost. The environment's own time limit
    /// stays inside, counted in the environment's own steps, unless a batch replaces it. Errors: `Config` for a wrapper
    /// that does not fit the layers below it; the error gives its index.
    pub fn new(env: &'a (dyn Env + Sync), list: &[Wrapper<'a>]) -> Result<Self> {
        let what = "wrappers: a list of at most";
        Error::limit(Kind::Config, what, MAX_WRAPPERS, list.len()).fail_if(list.len() > MAX_WRAPPERS)?;
        let mut pipeline = Self::bare(env)?;
        for (place, wrapper) in list.iter().enumerate() {
            pipeline.wrap(*wrapper).map_err(|e| if e.detail().2 == Given::Nothing { e.given(place) } else { e })?;
        }
        Ok(pipeline)
    }

    /// The environment without wrappers. Errors: `Config` for observations with too many fields.
    pub fn bare(env: &'a (dyn Env + Sync)) -> Result<Self> {
        let spec = env.spec();
        let face = Face::of(&spec)?;
        let (wrapper, action, change) = (Wrapper::ClipReward, face.action, Change::None);
        let none = Layer { wrapper, action, range: None, n: &[], below: 0, own: 0, change };
        Ok(Pipeline {
            env,
            env_id: spec.env_id,
            layers: [none; MAX_WRAPPERS + 1],
            num_layers: 0,
            face,
            state_size: spec.state_size,
            max_episode_steps: spec.outer_limit(),
            limited: false,
            hash: 0,
        })
    }

    /// Adds a wrapper around the current ones. Errors: `Config` if it does not fit the layers below it; `Overflow`. On
    /// error nothing changes.
    pub fn wrap(&mut self, wrapper: Wrapper<'a>) -> Result {
        if self.max_episode_steps == 0 || self.limited {
            return self.add(wrapper);
        }
        let bare = self.state_size;
        self.add(Wrapper::TimeLimit { steps: self.max_episode_steps })?;
        let added = self.add(wrapper);
        match added {
            Ok(()) => self.limited = true,
            // Removes the time limit, which was the first layer and does not change the interface.
            Err(_) => (self.num_layers, self.state_size, self.hash) = (0, bare, 0),
        }
        added
    }

    /// Fields of the observation.
    pub fn fields(&self) -> &[Field<'a>] {
        self.face.parts()
    }

    fn add(&mut self, wrapper: Wrapper<'a>) -> Result {
        let mut face = self.face;
        let source = self.source();
        let fit = match wrapper {
            Wrapper::TimeLimit { .. }
            | Wrapper::NoopReset { .. }
            | Wrapper::FireReset { .. }
            | Wrapper::EpisodicLife { .. }
            | Wrapper::MaxAndSkip { .. }
            | Wrapper::ActionRepeat { .. } => Fit::new(Change::None, episodes::fit(&wrapper, &mut face)?),
            Wrapper::StickyActions { .. } | Wrapper::RescaleAction { .. } | Wrapper::ClipAction => {
                Fit::new(Change::None, actions::fit(&wrapper, &mut face)?)
            }
            Wrapper::ClipReward | Wrapper::ScaleReward { .. } => Fit::new(Change::None, rewards::fit(&wrapper)?),
            Wrapper::WarpFrame { .. }
            | Wrapper::AtariRescale
            | Wrapper::ScaledFloat
            | Wrapper::FrameStack { .. }
            | Wrapper::ChannelsFirst
            | Wrapper::Flatten
            | Wrapper::OneHot
            | Wrapper::Extract { .. }
            | Wrapper::Record
            | Wrapper::Observe { .. } => {
                let made = source.and_then(|at| self.layers.get(at));
                observations::fit(&wrapper, made, self.life(), &mut face)?
            }
        };
        let own = whole_words(fit.own)?;
        let Face { action, range, obs, .. } = self.face;
        let mut layer = Layer { wrapper, action, range, n: obs.n, below: 0, own, change: fit.change };
        let shared = match (source, fit.merged) {
            (Some(at), Some((change, own))) => Some((at, change, whole_words(own)?)),
            _ => None,
        };
        let grown = shared.and_then(|(at, _, own)| Some(own.saturating_sub(self.layers.get(at)?.own))).unwrap_or(0);
        let size = (self.state_size as usize).checked_add(own).and_then(|size| size.checked_add(grown));
        let size = size.and_then(|size| u32::try_from(size).ok()).ok_or(OVERFLOW)?;
        let many = Error::new(Kind::Config, "wrappers: a list of at most").needed(MAX_WRAPPERS);
        let place = self.layers.get_mut(self.num_layers).ok_or(many)?;

        layer.below = self.state_size as usize;
        *place = layer;
        self.num_layers = self.num_layers.saturating_add(1);
        self.hash = wrapper.hash(if self.num_layers == 1 { HASH_START } else { self.hash });
        if let Some((at, change, own)) = shared {
            if let Some(layer) = self.layers.get_mut(at) {
                (layer.change, layer.own) = (change, own);
            }
            for layer in self.layers.iter_mut().skip(at.saturating_add(1)) {
                layer.below = layer.below.saturating_add(grown);
            }
        }
        (self.face, self.state_size) = (face, size);
        Ok(())
    }

    fn layers(&self) -> &[Layer<'a>] {
        self.layers.get(..self.num_layers).unwrap_or(&self.layers)
    }

    /// Index of the layer that produces the observation; the layers above it only pass the observation on.
    fn source(&self) -> Option<usize> {
        let makes = |layer: &Layer<'_>| {
            !matches!(layer.change, Change::None) || matches!(layer.wrapper, Wrapper::MaxAndSkip { .. })
        };
        self.layers().iter().rposition(makes)
    }

    /// Offset of the state of the outermost episodic life wrapper.
    fn life(&self) -> Option<usize> {
        let life = |layer: &&Layer<'_>| matches!(layer.wrapper, Wrapper::EpisodicLife { .. });
        self.layers().iter().rfind(life).map(|layer| layer.below)
    }

    /// Writes the initial record, for learners that store one before the first step: a frame of zeros, no reward, no
    /// action, `done` 0 and `real_done` 1. Errors: `Config` unless [`Wrapper::Record`] is the outermost observation
    /// wrapper; `Shape`.
    pub fn initial(&self, record: &mut [u8]) -> Result {
        match self.source().and_then(|at| self.layers.get(at)).map(|layer| &layer.change) {
            Some(Change::Record(layer)) => layer.initial(record),
            _ => Err(Error::new(Kind::Config, "initial record: a record as the outermost wrapper of observations")),
        }
    }

    /// All layers, with the state for one call.
    fn layered<'c>(&'c self, row: usize, state: &'c mut [u8], rng: &'c mut Rng) -> Inner<'c, 'a> {
        Inner { pipeline: self, depth: self.num_layers, row, state, rng }
    }
}

/// Rounds a state size up to 8 bytes, so that the following data is aligned.
fn whole_words(size: usize) -> Result<usize> {
    size.checked_next_multiple_of(8).ok_or(OVERFLOW)
}

impl Env for Pipeline<'_> {
    fn spec(&self) -> Spec<'_> {
        let mut action = self.face.action;
        if let Some([low, high]) = &self.face.range {
            (action.low, action.high) = (from_ref(low), from_ref(high));
        }
        Spec {
            env_id: self.env_id,
            state_size: self.state_size,
            max_episode_steps: self.max_episode_steps,
            obs: self.face.obs.with_fields(self.fields()),
            action,
            wrappers: self.hash,
        }
    }

    fn configure(&self, state: &mut [u8], setup: &Setup) -> Result {
        for (depth, layer) in self.layers().iter().enumerate() {
            let own = state.get_mut(layer.below..).and_then(|rest| rest.get_mut(..layer.own)).ok_or(SHAPE)?;
            if depth == 0 && self.limited {
                episodes::configure_limit(own, setup.own_limit())?;
            }
            if let Change::Record(record) = &layer.change {
                record.configure(own, setup.mode())?;
            }
        }
        let own = self.own(state)?.len();
        self.env.configure(state.get_mut(..own).ok_or(SHAPE)?, setup)
    }

    fn reset(&self, row: usize, state: &mut [u8], rng: &mut Rng, obs: ElementsMut<'_>) -> Result {
        self.layered(row, state, rng).start(Start::Afresh, obs)
    }

    fn takes_options(&self) -> bool {
        self.env.takes_options()
    }

    fn reset_with(&self, row: usize, state: &mut [u8], rng: &mut Rng, options: &[u8], obs: ElementsMut<'_>) -> Result {
        self.layered(row, state, rng).start(Start::With(options), obs)
    }

    fn restart(&self, row: usize, level: Level, state: &mut [u8], rng: &mut Rng, obs: ElementsMut<'_>) -> Result {
        self.layered(row, state, rng).start(Start::Again(level), obs)
    }

    fn step(
        &self,
        row: usize,
        state: &mut [u8],
        rng: &mut Rng,
        action: Elements<'_>,
        obs: ElementsMut<'_>,
    ) -> Result<Step> {
        self.layered(row, state, rng).step(action, obs)
    }

    fn lives(&self, row: usize, state: &[u8]) -> Result<u32> {
        self.env.lives(row, self.own(state)?)
    }

    fn has_mask(&self) -> bool {
        self.env.has_mask()
    }

    fn action_mask(&self, row: usize, state: &[u8], mask: &mut [u8]) -> Result {
        self.env.action_mask(row, self.own(state)?, mask)
    }

    fn render(&self, row: usize, state: &[u8], width: usize, height: usize, rgb: &mut [u8]) -> Result {
        self.env.render(row, self.own(state)?, width, height, rgb)
    }
}

impl Pipeline<'_> {
    /// State bytes of the environment itself.
    fn own<'s>(&self, state: &'s [u8]) -> Result<&'s [u8]> {
        let size = self.layers.first().filter(|_| self.num_layers > 0).map_or(state.len(), |layer| layer.below);
        state.get(..size).ok_or(SHAPE)
    }
}

/// The environment and the first `depth` layers around it, with their state.
struct Inner<'c, 'a> {
    pipeline: &'c Pipeline<'a>,
    depth: usize,
    row: usize,
    state: &'c mut [u8],
    rng: &'c mut Rng,
}

impl<'c, 'a> Inner<'c, 'a> {
    /// The outermost layer, its own state, and the layers below it; `None` if only the environment is left.
    fn peel(&mut self) -> Result<Option<(&'c Layer<'a>, &mut [u8], Inner<'_, 'a>)>> {
        let Some(depth) = self.depth.checked_sub(1) else { return Ok(None) };
        let layer = self.pipeline.layers.get(depth).ok_or(SHAPE)?;
        let (state, own) = self.state.split_at_mut_checked(layer.below).ok_or(SHAPE)?;
        let own = own.get_mut(..layer.own).ok_or(SHAPE)?;
        Ok(Some((layer, own, Inner { pipeline: self.pipeline, depth, row: self.row, state, rng: self.rng })))
    }
}

impl Below for Inner<'_, '_> {
    fn start(&mut self, start: Start<'_>, obs: ElementsMut<'_>) -> Result {
        let Some((layer, own, mut below)) = self.peel()? else {
            return match start {
                Start::Afresh => self.pipeline.env.reset(self.row, self.state, self.rng, obs),
                Start::With(options) => self.pipeline.env.reset_with(self.row, self.state, self.rng, options, obs),
                Start::Again(level) => self.pipeline.env.restart(self.row, level, self.state, self.rng, obs),
            };
        };
        match layer.wrapper {
            Wrapper::TimeLimit { .. } => episodes::start_limit(below, own, start, obs),
            Wrapper::NoopReset { max, exactly, noop } => episodes::start_noops(below, [max, exactly, noop], start, obs),
            Wrapper::FireReset { fire, second } => episodes::start_fire(below, [fire, second], start, obs),
            Wrapper::EpisodicLife { noop } => episodes::start_life(below, own, noop, start, obs),
            Wrapper::StickyActions { .. } => actions::start_sticky(below, own, start, obs),
            Wrapper::MaxAndSkip { .. } => match &layer.change {
                Change::Warp(warp) => warp.start_skip(below, own, start, obs),
                _ => below.start(start, obs),
            },
            _ => observations::start(below, layer, own, start, obs),
        }
    }

    fn step(&mut self, action: Elements<'_>, obs: ElementsMut<'_>) -> Result<Step> {
        let Some((layer, own, mut below)) = self.peel()? else {
            return self.pipeline.env.step(self.row, self.state, self.rng, action, obs);
        };
        match layer.wrapper {
            Wrapper::TimeLimit { steps } => episodes::step_limit(below, own, steps, action, obs),
            Wrapper::EpisodicLife { .. } => episodes::step_life(below, own, action, obs),
            Wrapper::MaxAndSkip { count } => match &layer.change {
                Change::Warp(warp) => warp.step_skip(below, own, count, action, obs),
                _ => episodes::step_max(below, own, count, action, obs),
            },
            Wrapper::ActionRepeat { count } => episodes::step_repeat(below, count, action, obs),
            Wrapper::StickyActions { probability } => actions::step_sticky(below, own, probability, action, obs),
            Wrapper::RescaleAction { low, high } => below.step(actions::rescale(own, layer, low, high, action)?, obs),
            Wrapper::ClipAction => below.step(actions::clip(own, layer, action)?, obs),
            Wrapper::ClipReward => Ok(rewards::clip(below.step(action, obs)?)),
            Wrapper::ScaleReward { factor } => Ok(rewards::scale(below.step(action, obs)?, factor)),
            _ => observations::step(below, layer, own, action, obs),
        }
    }

    fn row(&self) -> usize {
        self.row
    }

    fn lives(&self) -> Result<u32> {
        self.pipeline.env.lives(self.row, self.pipeline.own(self.state)?)
    }

    fn state(&self) -> &[u8] {
        self.state
    }

    fn rng(&mut self) -> &mut Rng {
        self.rng
    }
}
