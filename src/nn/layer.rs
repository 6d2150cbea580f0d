//! What a host writes: a network as a list of layers.

use bytemuck::{Pod, Zeroable};

use super::activation::Activation;
use crate::error::{Error, Kind, Result};

/// The most layers that a list has.
pub const MAX_LAYERS: usize = 32;

/// [`Layer::from`]: the input of the network.
pub const INPUT: u32 = 1 << 31;

/// [`Layer::flags`]: an output of the network. Outputs are numbered from 0 in list order, and no layer reads them.
pub const HEAD: u32 = 1;

/// [`Layer::kind`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum LayerKind {
    /// `units` numbers, each a weighted sum of all the numbers that it reads, and a bias; then the activation.
    Dense = 1,
    /// `units` learnt numbers that depend on no input, such as logarithms of standard deviations. They belong to the head
    /// listed before them; no layer reads them.
    Free = 2,
}

/// The sets of kinds that read a field.
const DENSE: u32 = 1 << LayerKind::Dense as u32;
const FREE: u32 = 1 << LayerKind::Free as u32;

/// One layer. Plain data: fields that its kind does not read are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Layer {
    /// A [`LayerKind`].
    pub kind: u32,
    /// What it reads. 0: the layer before, or the input for the first; k: layer k of the list, counted from 1; or [`INPUT`].
    pub from: [u32; 2],
    /// Numbers in its output, at least 1.
    pub units: u32,
    /// An [`Activation`].
    pub activation: u32,
    /// [`HEAD`] or 0.
    pub flags: u32,
    /// 0.
    pub size: [u32; 2],
    /// 0.
    pub stride: [u32; 2],
    /// 0.
    pub same: u32,
    /// 0.
    pub heads: u32,
    /// 0.
    pub window: u32,
    /// How weights start. 0: orthogonal; biases start at 0.
    pub init: u32,
    /// `Dense`: length of the rows or columns that are orthogonal; 0: √2, or 1 without an activation. `Free`: the value that
    /// its numbers start with.
    pub gain: f32,
    /// 0.
    pub reserved: [u32; 2],
}

impl Layer {
    /// A dense layer that reads the layer before.
    pub fn dense(units: u32, activation: Activation) -> Layer {
        Layer { kind: LayerKind::Dense as u32, units, activation: activation as u32, ..Layer::default() }
    }

    /// Numbers that depend on no input and start at `value`.
    pub fn free(units: u32, value: f32) -> Layer {
        Layer { kind: LayerKind::Free as u32, units, gain: value, ..Layer::default() }
    }

    /// Checks layer `number`, counted from 1, but for what it reads. Errors: `Config`.
    pub(super) fn check(&self, number: usize) -> Result {
        let refused = |what| Error::new(Kind::Config, what).needed(number);
        let kind = 1u32.checked_shl(self.kind).unwrap_or(0);
        if kind & (DENSE | FREE) == 0 {
            return Err(refused("net: a known kind in layer").given(self.kind as usize));
        }
        let [rows, columns] = self.size;
        let [down, right] = self.stride;
        let fields = [
            ("net: from[0] of 0, which its kind does not read, in layer", self.from[0], DENSE),
            ("net: from[1] of 0, which its kind does not read, in layer", self.from[1], 0),
            ("net: activation of 0, which its kind does not read, in layer", self.activation, DENSE),
            ("net: flags of 0, which its kind does not read, in layer", self.flags, DENSE),
            ("net: size of 0, which its kind does not read, in layer", rows | columns, 0),
            ("net: stride of 0, which its kind does not read, in layer", down | right, 0),
            ("net: same of 0, which its kind does not read, in layer", self.same, 0),
            ("net: heads of 0, which its kind does not read, in layer", self.heads, 0),
            ("net: window of 0, which its kind does not read, in layer", self.window, 0),
            ("net: init of 0, which its kind does not read, in layer", self.init, DENSE),
            ("net: reserved of 0 in layer", self.reserved[0] | self.reserved[1], 0),
        ];
        for (what, given, readers) in fields {
            if given != 0 && readers & kind == 0 {
                return Err(refused(what).given(given as usize));
            }
        }
        let known = [
            ("net: units of at least 1 in layer", self.units, self.units >= 1),
            ("net: a known activation in layer", self.activation, Activation::new(self.activation).is_some()),
            ("net: known flags in layer", self.flags, self.flags & !HEAD == 0),
            ("net: a known init in layer", self.init, self.init == 0),
        ];
        for (what, given, good) in known {
            if !good {
                return Err(refused(what).given(given as usize));
            }
        }
        if self.gain.is_finite() { Ok(()) } else { Err(refused("net: a finite gain in layer").given_f32(self.gain)) }
    }
}
