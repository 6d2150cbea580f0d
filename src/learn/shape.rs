//! The shapes of observations and actions of a learner or a policy.

use bytemuck::{Pod, Zeroable};

use super::obs_encoder::{MAX_PARTS, ObsEncoder, Part, Parts, choices};
use super::struct_action::{Counts, MAX_EACH, WORD};
use crate::error::{Error, Kind, Result};
use crate::nn::Net;
use crate::space::{Element, Space};

/// The shapes that a learner or a policy was made for. Plain data, stored in the block.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Shape {
    /// [`Element`] of observations.
    pub obs_kind: u32,
    /// Elements of one observation.
    pub obs_len: u32,
    /// [`Element`] of actions; bytes for structures.
    pub action_kind: u32,
    /// Elements of one action.
    pub action_len: u32,
    /// Outputs of the policy network: the sum of the choices, or one mean for each continuous element; for a structure the
    /// former, then the latter.
    pub num_outputs: u32,
    /// 1 if continuous actions have bounds.
    pub bounded: u16,
    /// Discrete elements of a structure; 0 for actions of one kind.
    pub num_picks: u16,
    /// Elements of an encoded observation: as many as the observation has, except for discrete elements, which are one-hot, and
    /// for structures.
    pub seen_len: u32,
    /// 1 if the encoding is not element by element.
    pub coded: u16,
    /// Continuous elements of an action that is a structure; 0 for actions of one kind.
    pub num_numbers: u16,
    /// Parts of an observation that layers can read separately.
    pub num_parts: u32,
    /// Discrete elements of an observation.
    pub num_choices: u32,
}

impl Shape {
    /// Reads and checks the spaces of an environment.
    pub fn new(obs: &Space<'_>, action: &Space<'_>) -> Result<Shape> {
        if obs.len == 0 || action.len == 0 {
            return Err(Error::new(Kind::Config, "spaces: observations and actions of at least 1 element").given(0));
        }
        let parts = Parts::new(obs)?;
        let len = action.len as usize;
        let (mut num_picks, mut num_numbers) = (0, 0);
        let (num_outputs, bounded) = match action.kind {
            Element::I32 => {
                if action.n.len() != len {
                    return Err(Error::new(Kind::Config, "action space: n with one entry an element,")
                        .needed(len)
                        .given(action.n.len()));
                }
                (choices(action.n)?, false)
            }
            Element::F32 => (action.len, has_bounds(action, len)?),
            Element::U8 if action.fields.is_empty() => {
                let what = "action space: elements of kind f32 or i32, or a structure with fields of these";
                return Err(Error::new(Kind::Config, what).given(2));
            }
            Element::U8 => {
                let Counts { picks, numbers, outputs } = Counts::new(action)?;
                (num_picks, num_numbers) = (picks as u16, numbers as u16);
                (outputs, has_bounds(action, numbers as usize)?)
            }
        };
        Ok(Shape {
            obs_kind: obs.kind as u32,
            obs_len: obs.len,
            action_kind: action.kind as u32,
            action_len: action.len,
            num_outputs,
            bounded: u16::from(bounded),
            num_picks,
            seen_len: parts.seen,
            coded: u16::from(parts.coded),
            num_numbers,
            num_parts: parts.list().len() as u32,
            num_choices: parts.num_choices,
        })
    }

    /// Checks the guarantees of [`Shape::new`], for a shape from a block.
    pub fn check(&self) -> Result {
        let refuse = |what| Err(Error::new(Kind::Config, what));
        let whole = self.obs_kind == Element::F32 as u32 || self.obs_kind == Element::U8 as u32;
        let parts = cfg!(feature = "residual") && self.num_parts as usize <= MAX_PARTS;
        if Element::from_number(self.obs_kind).is_none() || self.coded > 1 || !(whole || self.coded != 0) {
            return refuse("shape: observations of kind f32 or u8, or in parts");
        }
        if !parts && (u32::from(self.coded) | self.num_parts | self.num_choices) != 0 {
            return refuse("shape: no more parts than observations can have");
        }
        if self.seen_len == 0 || (self.coded == 0 && self.seen_len != self.obs_len) {
            return refuse("shape: a number of network inputs that fits observations");
        }
        let known = self.structured() || self.action_kind == Element::F32 as u32 || self.discrete();
        if !known {
            return refuse("shape: actions of kind f32 or i32, or structures of these");
        }
        let (own, logits) = (self.draw_len() as u64, self.mask_len() as u64);
        if self.obs_len == 0 || own == 0 || u64::from(self.num_outputs) < own {
            return refuse("shape: observations and actions of at least 1 element, and outputs for each action");
        }
        if self.bounded > 1 || (self.std_len() == 0 && self.bounded != 0) {
            return refuse("shape: bounds with continuous actions only");
        }
        let (picks, numbers) = (u64::from(self.num_picks), u64::from(self.num_numbers));
        let right = match (self.structured(), self.discrete()) {
            (true, _) => {
                let words = u64::from(self.action_len) / WORD as u64;
                let whole = self.action_len.is_multiple_of(WORD as u32);
                whole && own <= words && picks.max(numbers) <= MAX_EACH as u64 && (picks > 0 || logits == 0)
            }
            (_, discrete) => picks.max(numbers) == 0 && (discrete || self.num_outputs == self.action_len),
        };
        if !right {
            return refuse(
                "shape: one output for each continuous action, and counts of choices and numbers for structures only",
            );
        }
        Ok(())
    }

    /// True if actions are choices, false if they are real vectors or structures.
    pub fn discrete(&self) -> bool {
        self.action_kind == Element::I32 as u32
    }

    /// True if actions are choices alone, in a structure or not.
    pub(super) fn chooses(&self) -> bool {
        self.std_len() == 0
    }

    /// True if observations are bytes only, which the networks read divided by 255.
    pub fn obs_u8(&self) -> bool {
        self.obs_kind == Element::U8 as u32 && self.coded == 0
    }

    /// Kinds of the elements of observations and of actions.
    pub fn kinds(&self) -> (Element, Element) {
        let kind = |number| Element::from_number(number).unwrap_or(Element::F32);
        (kind(self.obs_kind), kind(self.action_kind))
    }

    /// True if observations are bytes of a structure.
    pub fn obs_structure(&self) -> bool {
        self.obs_kind == Element::U8 as u32 && self.coded != 0
    }

    /// The encoding of observations with these parts and choice counts.
    pub(super) fn seen<'s>(&self, net: Net<'s>, parts: &'s [Part], n: &'s [u32]) -> ObsEncoder<'s> {
        let (len, elements) = (self.seen_len as usize, self.obs_len as usize);
        ObsEncoder { len, elements, coded: self.coded != 0, parts, n, net }
    }

    /// Bytes of an observation.
    pub(super) fn obs_size(&self) -> usize {
        (self.obs_len as usize).saturating_mul(self.kinds().0.size())
    }

    /// True if actions are bytes of a structure with discrete and continuous elements.
    pub fn structured(&self) -> bool {
        cfg!(feature = "residual") && self.action_kind == Element::U8 as u32
    }

    /// Words of an action that is a structure, else 0.
    pub(super) fn action_words(&self) -> usize {
        if self.structured() { self.action_len as usize / WORD } else { 0 }
    }

    /// Lengths of the arrays of choice counts of an action, and of the bounds of its continuous elements.
    pub fn action_lens(&self) -> (usize, usize) {
        let choices = if self.discrete() { self.action_len as usize } else { self.num_picks.into() };
        (choices, if self.bounded != 0 { self.std_len() } else { 0 })
    }

    /// Number of logarithms of standard deviations: one for each continuous element.
    pub fn std_len(&self) -> usize {
        match (self.structured(), self.discrete()) {
            (true, _) => self.num_numbers.into(),
            (_, true) => 0,
            _ => self.action_len as usize,
        }
    }

    /// Random draws of an action, one for each discrete and each continuous element.
    pub(super) fn draw_len(&self) -> usize {
        if !self.structured() {
            return self.action_len as usize;
        }
        usize::from(self.num_picks).saturating_add(self.num_numbers.into())
    }

    /// Choices of all discrete elements of an action.
    pub fn choices_len(&self) -> usize {
        (self.num_outputs as usize).saturating_sub(self.std_len())
    }

    /// Flags of a mask: one for each output, except for the means of structures.
    pub fn mask_len(&self) -> usize {
        let means = if self.structured() { self.num_numbers.into() } else { 0 };
        (self.num_outputs as usize).saturating_sub(means)
    }
}

/// True if an action space has bounds for its `len` continuous elements. Errors: `Config`.
fn has_bounds(action: &Space<'_>, len: usize) -> Result<bool> {
    let bounded = !(action.low.is_empty() && action.high.is_empty());
    let fits = |bounds: &[f32]| bounds.len() == len || bounds.len() == 1;
    if bounded && !(len > 0 && fits(action.low) && fits(action.high)) {
        let what = "action space: low and high with one entry for all or one an element,";
        return Err(Error::new(Kind::Config, what).needed(len).given(action.low.len()));
    }
    for i in 0..if bounded { len } else { 0 } {
        let (low, high) = action.bounds(i);
        check_bounds(&[low], &[high])?;
    }
    Ok(bounded)
}

/// Checks that bounds are finite and in order.
pub fn check_bounds(low: &[f32], high: &[f32]) -> Result {
    for (&low, &high) in low.iter().zip(high) {
        if !(low.is_finite() && high.is_finite() && low <= high) {
            return Err(Error::new(Kind::Config, "action space: finite bounds, low at most high").given_f32(low));
        }
    }
    Ok(())
}
