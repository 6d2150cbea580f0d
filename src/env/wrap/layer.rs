//! A layer of a list of wrappers: what it shows, what it takes, and what it may ask of the layers below.

use super::change::{Change, MAX_FIELDS, Seen};
use super::wrapper::Wrapper;
use crate::env::{Level, Spec, Step};
use crate::error::{Error, Kind, Result};
use crate::rng::Rng;
use crate::space::{Elements, ElementsMut, Field, Space};

/// What a layer shows and takes.
#[derive(Clone, Copy)]
pub(super) struct Face<'a> {
    /// Observations; their fields stand apart.
    pub obs: Space<'a>,
    pub fields: [Field<'a>; MAX_FIELDS],
    pub num_fields: usize,
    pub action: Space<'a>,
    /// Bounds of all actions, where a wrapper set them.
    pub range: Option<[f32; 2]>,
}

/// A wrapper and what is known of the layers below it.
#[derive(Clone, Copy)]
pub(super) struct Layer<'a> {
    pub wrapper: Wrapper<'a>,
    /// Actions of the layer below.
    pub action: Space<'a>,
    /// Their bounds, where a wrapper set them.
    pub range: Option<[f32; 2]>,
    /// Bytes of state of all layers below.
    pub below: usize,
    /// Bytes of state of its own.
    pub own: usize,
    /// What it does to observations.
    pub change: Change,
}

/// How an episode starts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    /// From nothing.
    Afresh,
    /// After an episode.
    Again(Level),
}

/// The layers below a wrapper, down to the environment, with their bytes and the stream that they draw from.
pub(super) trait Below {
    /// Starts an episode and writes its first observation.
    fn start(&mut self, start: Start, obs: ElementsMut<'_>) -> Result;

    /// Takes one step and writes the observation after it.
    fn step(&mut self, action: Elements<'_>, obs: ElementsMut<'_>) -> Result<Step>;

    /// The number of the environment within its batch.
    fn row(&self) -> usize;

    /// Lives left.
    fn lives(&self) -> Result<u32>;

    /// Their bytes.
    fn state(&self) -> &[u8];

    /// Their stream.
    fn rng(&mut self) -> &mut Rng;

    /// Takes one step with a discrete action.
    fn press(&mut self, action: u32, obs: ElementsMut<'_>) -> Result<Step> {
        self.step(Elements::I32(&[action as i32]), obs)
    }
}

/// Bounds of element `i` of the actions of `space`.
fn bounds(space: &Space<'_>, range: Option<[f32; 2]>, i: usize) -> (f32, f32) {
    match range {
        Some([low, high]) => (low, high),
        None => space.bounds(i),
    }
}

impl Layer<'_> {
    /// Bounds of element `i` of the actions of the layer below.
    pub fn bounds(&self, i: usize) -> (f32, f32) {
        bounds(&self.action, self.range, i)
    }
}

impl<'a> Face<'a> {
    /// Bounds of element `i` of the actions.
    pub fn bounds(&self, i: usize) -> (f32, f32) {
        bounds(&self.action, self.range, i)
    }

    /// The parts of the observation.
    pub fn parts(&self) -> &[Field<'a>] {
        self.fields.get(..self.num_fields).unwrap_or(&self.fields)
    }

    /// The part that is the whole observation, if there is one.
    pub fn only(&self) -> Option<&Field<'a>> {
        match self.parts() {
            [only] if only.kind == self.obs.kind && only.len() == Some(self.obs.len as usize) => Some(only),
            _ => None,
        }
    }

    /// The place of a part, "" being the only one. Errors: `Config`.
    pub fn part(&self, name: &str) -> Result<usize> {
        let parts = self.parts();
        match (name, parts.len()) {
            ("", 1) => Ok(0),
            ("", count) => {
                let what = "wrapped observations: the name of one of their parts, as there are several,";
                Err(Error::new(Kind::Config, what).given(count))
            }
            _ => {
                let what = "wrapped observations: the name of one of their parts";
                parts.iter().position(|field| field.name.bytes().eq(name.bytes())).ok_or(Error::new(Kind::Config, what))
            }
        }
    }

    /// The whole observation, as a layer above keeps it.
    pub fn seen(&self) -> Seen {
        Seen { kind: self.obs.kind, len: self.obs.len as usize }
    }

    /// Observations whose elements all have the widest of the bounds, for wrappers that move elements.
    pub fn widest(&self) -> Space<'a> {
        let low = widest(self.obs.low, |a, b| a < b);
        let high = widest(self.obs.high, |a, b| a > b);
        Space { low, high, ..self.obs }
    }

    /// Shows other observations from now on.
    pub fn show(&mut self, obs: Space<'a>, fields: &[Field<'a>]) {
        for (to, from) in self.fields.iter_mut().zip(fields) {
            *to = *from;
        }
        (self.obs, self.num_fields) = (obs, fields.len().min(MAX_FIELDS));
    }

    /// The face of a bare environment.
    pub fn of(spec: &Spec<'a>) -> Result<Self> {
        let obs = spec.obs;
        let mut fields = [Field::new("", obs.kind, &[obs.len], 0); MAX_FIELDS];
        let what = "wrapped environment: observations of at most so many fields,";
        Error::limit(Kind::Config, what, MAX_FIELDS, obs.fields.len()).when(obs.fields.len() > MAX_FIELDS)?;
        for (to, from) in fields.iter_mut().zip(obs.fields) {
            *to = *from;
        }
        let num_fields = obs.fields.len().max(1);
        Ok(Face { obs: Space { fields: &[], ..obs }, fields, num_fields, action: spec.action, range: None })
    }
}

/// The one bound that no other is outside of.
fn widest(bounds: &[f32], wider: impl Fn(f32, f32) -> bool) -> &[f32] {
    let mut best: &[f32] = &[];
    for bound in bounds.chunks(1) {
        if let ([a], &[b]) = (bound, best)
            && !wider(*a, b)
        {
            continue;
        }
        best = bound;
    }
    best
}
