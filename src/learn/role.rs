//! The purpose of a layer of a learner's network, and its name.

/// A part of a learner's networks. A layer carries its part, and its place there, through compilation and export, so that it has
/// one name in learners and policies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
#[allow(dead_code, reason = "a build may have no layer of one of them")]
pub(super) enum Tower {
    /// The layers that the host lists.
    Listed = 0,
    /// The policy: its hidden layers and outputs.
    Policy = 1,
    /// The values of choices; with a dueling network, their advantages.
    Q = 2,
    /// The value of an observation.
    Value = 3,
    /// The logarithms of deviations, as outputs.
    Deviation = 4,
    /// The logarithms of deviations, as free numbers.
    LogStd = 5,
    /// A critic: its hidden layers and output.
    Critic = 6,
    /// The cells of pixel control, and the prediction of rewards.
    PixelControl = 7,
    RewardClass = 8,
    /// A further value.
    Other = 9,
}

/// Towers and the beginnings of their names; a critic's name is that of its network.
const NAMES: [&str; 10] =
    ["layers.", "policy.", "q.", "value.", "deviation.", "log_std", "", "pixel_control.", "reward_class.", "other."];

/// The place of a tower's head.
pub(super) const HEAD: u32 = 0xffff;

/// The place of free numbers that follow a head.
pub(super) const FREE: u32 = 0xfffe;

/// The role of the layer at a place in a tower, counted from 0, as a layer's number.
pub(super) const fn role(tower: Tower, place: u32) -> u32 {
    (tower as u32) << 16 | place & 0xffff
}

/// Whether a layer computes the values of choices.
pub(super) const fn is_q_head(role_of: u32) -> bool {
    role_of == role(Tower::Q, HEAD)
}

/// Whether a layer is the free logarithms of deviations.
pub(super) const fn is_log_std(role_of: u32) -> bool {
    role_of == role(Tower::LogStd, 0)
}

/// Bytes of a name, with its zero at the end.
pub(super) const NAME_LEN: usize = 48;

/// The name of a tensor: that of its layer, a period, and its name in the layer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TensorName {
    bytes: [u8; NAME_LEN],
    len: usize,
}

impl TensorName {
    /// The name of a tensor of the layer with a role, in the policy's network or that of a critic.
    pub fn new(critic: Option<u32>, role: u32, tensor: &str) -> TensorName {
        let mut name = TensorName { bytes: [0; NAME_LEN], len: 0 };
        if let Some(critic) = critic {
            name.text("critics.");
            name.number(critic);
            name.text(".");
        }
        let (tower, place) = ((role >> 16) as usize, role & 0xffff);
        name.text(NAMES.get(tower).copied().unwrap_or_default());
        if tower == Tower::LogStd as usize {
            return name;
        }
        match place {
            HEAD => name.text("head"),
            FREE => name.text("free"),
            place => name.number(place),
        }
        if !tensor.is_empty() {
            name.text(".");
            name.text(tensor);
        }
        name
    }

    /// The name, with zeros behind it.
    pub fn bytes(&self) -> &[u8; NAME_LEN] {
        &self.bytes
    }

    fn text(&mut self, text: &str) {
        text.bytes().for_each(|byte| self.push(byte));
    }

    fn number(&mut self, number: u32) {
        let mut unit = 1u32;
        while number / 10 >= unit {
            unit = unit.saturating_mul(10);
        }
        while unit > 0 {
            let digit = number.checked_div(unit).unwrap_or(0) % 10;
            self.push(b'0'.saturating_add(digit as u8));
            unit /= 10;
        }
    }

    /// The last byte stays zero.
    fn push(&mut self, byte: u8) {
        if let Some(to) = self.bytes.get_mut(self.len).filter(|_| self.len < NAME_LEN - 1) {
            (*to, self.len) = (byte, self.len.saturating_add(1));
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::string::{String, ToString};

    #[test]
    fn names_are_those_of_their_layers() {
        let name = |critic, role, tensor| {
            let name = TensorName::new(critic, role, tensor);
            let text = core::str::from_utf8(name.bytes()).unwrap().trim_end_matches('\0').to_string();
            assert_eq!(name.bytes()[NAME_LEN - 1], 0);
            text
        };
        assert_eq!(name(None, role(Tower::Listed, 0), "weight"), "layers.0.weight");
        assert_eq!(name(None, role(Tower::Policy, 10), "bias"), "policy.10.bias");
        assert_eq!(name(None, role(Tower::Q, HEAD), "weight_sigma"), "q.head.weight_sigma");
        assert_eq!(name(None, role(Tower::LogStd, 0), ""), "log_std");
        assert_eq!(name(None, role(Tower::RewardClass, FREE), ""), "reward_class.free");
        assert_eq!(name(Some(1), role(Tower::Critic, HEAD), "bias"), "critics.1.head.bias");
        assert_eq!(name(Some(0), role(Tower::Listed, 63), "out_proj.weight"), "critics.0.layers.63.out_proj.weight");
        let long: String = "x".repeat(80);
        assert_eq!(name(None, 0, &long).len(), NAME_LEN - 1);
    }
}
