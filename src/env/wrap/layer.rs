//! Layers of a list of wrappers: their interface, their data, and their access to the layers below.

use super::change::{Change, MAX_FIELDS, Seen};
use super::wrapper::Wrapper;
use crate::env::{Level, Spec, Step};
use crate::error::{Error, Kind, Result};
use crate::rng::Rng;
use crate::space::{Elements, ElementsMut, Field, Space};

/// Interface of a layer: its observations and actions.
#[derive(Clone, Copy)]
pub(super) struct Face<'a> {
    /// Observation space; the fields are stored separately in `fields`.
    pub obs: Space<'a>,
    pub fields: [Field<'a>; MAX_FIELDS],
    pub num_fields: usize,
    pub action: Space<'a>,
    /// Bounds of all action elements, if set by a wrapper.
    pub range: Option<[f32; 2]>,
}

/// A wrapper with the data determined from the layers below it.
#[derive(Clone, Copy)]
pub(super) struct Layer<'a> {
    pub wrapper: Wrapper<'a>,
    /// Action space of the layer below.
    pub action: Space<'a>,
    /// Bounds of all action elements of the layer below, if set by a wrapper.
    pub range: Option<[f32; 2]>,
    /// Choices of the discrete elements of the observation below.
    pub n: &'a [u32],
    /// State size of all layers below in bytes, which is the offset of this layer's state.
    pub below: usize,
    /// State size of this layer in bytes.
    pub own: usize,
    /// Transformation of the observation.
    pub change: Change,
}

/// How an episode starts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Start<'o> {
    /// Complete reset.
    Afresh,
    /// Complete reset with the host's options.
    With(&'o [u8]),
    /// Start of a further episode.
    Again(Level),
}

/// The layers below a wrapper, down to the environment, with their state and random stream.
pub(super) trait Below {
    /// Starts an episode and writes its first observation.
    fn start(&mut self, start: Start<'_>, obs: ElementsMut<'_>) -> Result;

    /// Takes one step and writes the resulting observation.
    fn step(&mut self, action: Elements<'_>, obs: ElementsMut<'_>) -> Result<Step>;

    /// Index of the environment within its batch.
    fn row(&self) -> usize;

    /// Lives left.
    fn lives(&self) -> Result<u32>;

    /// State of these layers.
    fn state(&self) -> &[u8];

    /// Random stream of the environment.
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

    /// Fields of the observation.
    pub fn parts(&self) -> &[Field<'a>] {
        self.fields.get(..self.num_fields).unwrap_or(&self.fields)
    }

    /// The field that is the whole observation, if there is one.
    pub fn only(&self) -> Option<&Field<'a>> {
        match self.parts() {
            [only] if only.kind == self.obs.kind && only.len() == Some(self.obs.len as usize) => Some(only),
            _ => None,
        }
    }

    /// Index of a field by name; "" selects the only field. Errors: `Config`.
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

    /// The whole observation, as a layer above stores it.
    pub fn seen(&self) -> Seen {
        Seen { kind: self.obs.kind, len: self.obs.len as usize }
    }

    /// Observation space in which all elements have the widest of the bounds, for wrappers that move elements.
    pub fn widest(&self) -> Space<'a> {
        let low = widest(self.obs.low, |a, b| a < b);
        let high = widest(self.obs.high, |a, b| a > b);
        Space { low, high, ..self.obs }
    }

    /// Replaces the observation space and its fields.
    pub fn show(&mut self, obs: Space<'a>, fields: &[Field<'a>]) {
        for (to, from) in self.fields.iter_mut().zip(fields) {
            *to = *from;
        }
        (self.obs, self.num_fields) = (obs, fields.len().min(MAX_FIELDS));
    }

    /// Interface of an environment without wrappers.
    pub fn of(spec: &Spec<'a>) -> Result<Self> {
        let obs = spec.obs;
        let mut fields = [Field::new("", obs.kind, &[obs.len], 0); MAX_FIELDS];
        let what = "wrapped environment: observations of at most so many fields,";
        Error::limit(Kind::Config, what, MAX_FIELDS, obs.fields.len()).fail_if(obs.fields.len() > MAX_FIELDS)?;
        for (to, from) in fields.iter_mut().zip(obs.fields) {
            *to = *from;
        }
        let num_fields = obs.fields.len().max(1);
        Ok(Face { obs: Space { fields: &[], ..obs }, fields, num_fields, action: spec.action, range: None })
    }
}

/// The widest of the bounds, as a slice of one; empty if there are none.
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
