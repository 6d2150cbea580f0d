//! What observations and actions look like to a learner or a policy.

use bytemuck::{Pod, Zeroable};

use super::seen::{MAX_PARTS, Part, Parts, Seen, choices};

use crate::error::{Error, Kind, Result};
use crate::space::{Element, Space};

/// The shapes that a learner or a policy was made for. Plain data, stored in the block.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Shape {
    /// [`Element`] of observations.
    pub obs_kind: u32,
    /// Elements of one observation.
    pub obs_len: u32,
    /// [`Element`] of actions.
    pub action_kind: u32,
    /// Elements of one action.
    pub action_len: u32,
    /// Outputs of the policy network: the sum of the choices, or one mean for each continuous element.
    pub num_outputs: u32,
    /// 1 if continuous actions have bounds.
    pub bounded: u32,
    /// Numbers that networks see of one observation: as many as it has elements, but for discrete ones, which are one-hot,
    /// and for structures.
    pub seen_len: u32,
    /// 1 if they are not its elements one by one.
    pub coded: u32,
    /// Parts of an observation that layers can read alone.
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
        let (num_outputs, bounded) = match action.kind {
            Element::I32 => {
                if action.n.len() != len {
                    return Err(Error::new(Kind::Config, "action space: n with one entry an element,")
                        .needed(len)
                        .given(action.n.len()));
                }
                (choices(action.n)?, 0)
            }
            Element::F32 => {
                let bounded = !(action.low.is_empty() && action.high.is_empty());
                let fits = |bounds: &[f32]| bounds.len() == len || bounds.len() == 1;
                if bounded && !(fits(action.low) && fits(action.high)) {
                    let what = "action space: low and high with one entry for all or one an element,";
                    return Err(Error::new(Kind::Config, what).needed(len).given(action.low.len()));
                }
                for i in 0..if bounded { len } else { 0 } {
                    let (low, high) = action.bounds(i);
                    check_bounds(&[low], &[high])?;
                }
                (action.len, u32::from(bounded))
            }
            Element::U8 => return Err(Error::new(Kind::Config, "action space: elements of kind f32 or i32").given(2)),
        };
        Ok(Shape {
            obs_kind: obs.kind as u32,
            obs_len: obs.len,
            action_kind: action.kind as u32,
            action_len: action.len,
            num_outputs,
            bounded,
            seen_len: parts.seen,
            coded: u32::from(parts.coded),
            num_parts: parts.list().len() as u32,
            num_choices: parts.num_choices,
        })
    }

    /// Checks what [`Shape::new`] promises, in a shape from a block.
    pub fn check(&self) -> Result {
        let refuse = |what| Err(Error::new(Kind::Config, what));
        let whole = self.obs_kind == Element::F32 as u32 || self.obs_kind == Element::U8 as u32;
        let parts = cfg!(feature = "residual") && self.num_parts as usize <= MAX_PARTS;
        if Element::from_number(self.obs_kind).is_none() || self.coded > 1 || !(whole || self.coded != 0) {
            return refuse("shape: observations of kind f32 or u8, or in parts");
        }
        if !parts && (self.coded | self.num_parts | self.num_choices) != 0 {
            return refuse("shape: no more parts than observations can have");
        }
        if self.seen_len == 0 || (self.coded == 0 && self.seen_len != self.obs_len) {
            return refuse("shape: numbers that networks see of observations");
        }
        if self.action_kind != Element::F32 as u32 && self.action_kind != Element::I32 as u32 {
            return refuse("shape: actions of kind f32 or i32");
        }
        if self.obs_len == 0 || self.action_len == 0 || self.num_outputs < self.action_len {
            return refuse("shape: observations and actions of at least 1 element, and outputs for each action");
        }
        if self.bounded > 1 || (self.discrete() && self.bounded != 0) {
            return refuse("shape: bounds with continuous actions only");
        }
        if !self.discrete() && self.num_outputs != self.action_len {
            return refuse("shape: one output for each continuous action");
        }
        Ok(())
    }

    /// True if actions are choices, false if they are real vectors.
    pub fn discrete(&self) -> bool {
        self.action_kind == Element::I32 as u32
    }

    /// True if observations are bytes and nothing else, which the networks see divided by 255.
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

    /// How networks see observations with these parts and numbers of choices.
    pub(super) fn seen<'s>(&self, parts: &'s [Part], n: &'s [u32]) -> Seen<'s> {
        let (len, elements) = (self.seen_len as usize, self.obs_len as usize);
        Seen { len, elements, coded: self.coded != 0, parts, n }
    }

    /// Bytes of an observation.
    pub(super) fn obs_size(&self) -> usize {
        (self.obs_len as usize).saturating_mul(self.kinds().0.size())
    }

    /// Elements in which the choices of a discrete action, and the bounds of a continuous one, are kept.
    pub fn action_lens(&self) -> (usize, usize) {
        let len = self.action_len as usize;
        (if self.discrete() { len } else { 0 }, if self.bounded != 0 { len } else { 0 })
    }

    /// Logarithms of standard deviations: one for each continuous element.
    pub fn std_len(&self) -> usize {
        if self.discrete() { 0 } else { self.action_len as usize }
    }
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
