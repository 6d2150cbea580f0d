//! The part of a configuration that acting reads, without any of training: all that a policy stores besides its parameters.

use core::ops::RangeInclusive;

use bytemuck::{Pod, Zeroable};

use super::action_spec::ActionSpec;
use super::obs_encoder::{Part, choices, pictures};
use super::shape::{Shape, check_bounds};
use crate::error::{Error, Kind, Name, Result, check_finite};
use crate::nn::{self, Net, Node};

/// The largest number of hidden layers of a policy or a value network.
pub const MAX_HIDDEN: usize = 4;

/// The largest number of layers of a policy and a value network together.
pub(super) const MAX_LAYERS: usize = if cfg!(any(feature = "pictures", feature = "recurrent", feature = "residual")) {
    nn::MAX_LAYERS
} else {
    2 * MAX_HIDDEN + 3
};

/// The largest number of atoms of a value distribution.
pub(super) const MAX_ATOMS: u32 = 256;

/// Whether policies may output value distributions.
pub(super) const ATOMS: bool = cfg!(feature = "off_policy");

/// Atoms are within ± this limit.
const VALUE_LIMIT: f32 = 1e12;

/// The policy's and the value's head, as bits of a mask of heads.
pub(super) const POLICY: u32 = 1;
pub(super) const VALUE: u32 = 2;

/// The configuration of a policy. Plain data, stored in the policy's block; a learner derives it from its own configuration, so
/// that policies of the same network have the same bytes, independent of their training.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct ActorConfig {
    /// Observations and actions.
    pub shape: Shape,
    /// Layers of its network, at least 1.
    pub num_layers: u32,
    /// 1: continuous actions pass through tanh onto their bounds; 0: they are clipped to the bounds.
    pub squash: u32,
    /// 1: observations are normalized to mean 0 and standard deviation 1.
    pub normalize_obs: u32,
    /// Normalized observations are clipped to ± this value; 0 without normalization.
    pub obs_clip: f32,
    /// Atoms of the distribution whose mean is the value of a choice, 2 to 256; the network outputs their logits. 0: the
    /// network outputs values, or the other outputs of a policy.
    pub num_atoms: u32,
    /// The lowest atom; 0 without atoms.
    pub value_min: f32,
    /// The highest atom; 0 without atoms.
    pub value_max: f32,
    /// 0.
    pub reserved: u32,
}

impl ActorConfig {
    /// Checks every field, and that they match.
    pub fn check(&self) -> Result {
        self.shape.check()?;
        if self.num_layers == 0 || self.num_layers as usize > MAX_LAYERS {
            let what = "policy: layers, at least 1 and at most";
            return Err(Error::new(Kind::Config, what).needed(MAX_LAYERS).given(self.num_layers as usize));
        }
        let flags = [
            (Name::new("policy: squash of 0 or 1"), self.squash, 1),
            (Name::new("policy: squash of 0 with discrete actions"), self.squash, u32::from(self.shape.std_len() > 0)),
            (Name::new("policy: normalize_obs of 0 or 1"), self.normalize_obs, 1),
        ];
        for (what, given, most) in flags {
            if given > most {
                return Err(Error::new(Kind::Config, what.text()).given(given as usize));
            }
        }
        self.check_atoms()?;
        let clips = self.obs_clip >= f32::MIN_POSITIVE && self.obs_clip <= f32::MAX;
        if if self.normalize_obs != 0 { clips } else { self.obs_clip == 0.0 } {
            return Ok(());
        }
        let what = "policy: obs_clip above 0, finite, or 0 with normalize_obs of 0";
        Err(Error::new(Kind::Config, what).given_f32(self.obs_clip))
    }

    /// Checks the settings of value distributions.
    fn check_atoms(&self) -> Result {
        let refuse = |what, given| Err(Error::new(Kind::Config, what).given_f32(given));
        let (low, high) = (self.value_min, self.value_max);
        if self.num_atoms | low.to_bits() | high.to_bits() | self.reserved == 0 {
            return Ok(());
        }
        if !(ATOMS && (2..=MAX_ATOMS).contains(&self.num_atoms) && self.shape.chooses()) {
            return refuse("policy: num_atoms of 0, or 2 to 256 with discrete actions", self.num_atoms as f32);
        }
        if !(low < high && low.abs() <= VALUE_LIMIT && high.abs() <= VALUE_LIMIT && self.reserved == 0) {
            return refuse("policy: value_min below value_max, both from -1e12 to 1e12", low);
        }
        Ok(())
    }

    /// Outputs of the policy's network.
    pub(super) fn outputs(&self) -> usize {
        (self.shape.num_outputs as usize).saturating_mul(if ATOMS { self.num_atoms.max(1) as usize } else { 1 })
    }

    /// Checks compiled layers from an untrusted source: a network over observations of these parts, whose first head is the
    /// policy's and has `outputs` outputs. Errors: `Image`.
    pub(super) fn network<'n>(&self, nodes: &'n [Node], parts: &[Part], n: &[u32], outputs: usize) -> Result<Net<'n>> {
        self.shape.seen(Net::new(&[]), parts, n).check(self.shape.kinds().0, self.shape.obs_size())?;
        let (pictures, len) = pictures(parts);
        let net = Net::accept::<MAX_LAYERS>(nodes, pictures.get(..len).unwrap_or_default())?;
        let (shape, own) = (&self.shape, [net.input(), net.head_len(0), net.free_params(0).len()]);
        if own != [shape.seen_len as usize, outputs, shape.std_len()] {
            return Err(Error::new(Kind::Image, "image: a network of its observations and actions"));
        }
        Ok(net)
    }

    /// Elements of an encoded observation that have running statistics.
    pub fn moments_len(&self) -> usize {
        if self.normalize_obs != 0 { self.shape.seen_len as usize } else { 0 }
    }

    /// Checks the arrays of a block that describe actions: choices for every output, finite bounds in order, and logarithms of
    /// standard deviations that are finite and in `log_std_range`. Errors: `Image`.
    pub(super) fn check_actions(
        &self,
        of: &ActionSpec<'_>,
        log_std: &[f32],
        log_std_range: RangeInclusive<f32>,
    ) -> Result {
        let image = |what| Error::new(Kind::Image, what);
        if self.shape.action_lens().0 > 0 && choices(of.n) != Ok(self.shape.mask_len() as u32) {
            return Err(image("image: choices that sum to the outputs"));
        }
        if self.shape.structured() && !super::struct_action::are(of.each, of.n, self.shape.std_len()) {
            return Err(image("image: choices and numbers in their places in an action"));
        }
        check_bounds(of.low, of.high).map_err(|_| image("image: finite bounds in order"))?;
        check_finite("", log_std).map_err(|_| image("image: finite logarithms of deviations"))?;
        match log_std.iter().find(|x| !log_std_range.contains(x)) {
            Some(&x) => Err(image("image: logarithms of deviations within their bounds").given_f32(x)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::Space;

    #[test]
    fn every_field_is_checked_and_every_word_is_known() {
        let shape = Shape::new(&Space::unbounded(3), &Space::unbounded(2)).unwrap();
        let good =
            ActorConfig { shape, num_layers: 3, squash: 1, normalize_obs: 1, obs_clip: 10.0, ..ActorConfig::zeroed() };
        good.check().unwrap();
        ActorConfig { normalize_obs: 0, obs_clip: 0.0, ..good }.check().unwrap();
        let choose = Shape::new(&Space::unbounded(3), &Space::discrete(&[2])).unwrap();
        ActorConfig { shape: choose, squash: 0, ..good }.check().unwrap();
        type Spoil = fn(&mut ActorConfig);
        let bad: [(&str, Spoil); 10] = [
            ("shape", |c| c.shape.obs_len = 0),
            ("layers, at least 1", |c| c.num_layers = 0),
            ("layers, at least 1 and at most", |c| c.num_layers = 76),
            ("squash of 0 or 1", |c| c.squash = 2),
            ("normalize_obs", |c| c.normalize_obs = u32::MAX),
            ("obs_clip", |c| c.normalize_obs = 0),
            ("obs_clip", |c| c.obs_clip = 0.0),
            ("obs_clip", |c| c.obs_clip = -1.0),
            ("obs_clip", |c| c.obs_clip = f32::NAN),
            ("obs_clip", |c| c.obs_clip = f32::INFINITY),
        ];
        for (i, (word, spoil)) in bad.iter().enumerate() {
            let mut config = good;
            spoil(&mut config);
            let error = config.check().unwrap_err();
            assert!(error.kind == Kind::Config && error.what.contains(word), "case {i}: {error}");
        }
        let error = ActorConfig { shape: choose, ..good }.check().unwrap_err();
        assert!(error.what.contains("squash of 0 with discrete actions"), "{error}");

        let good = ActorConfig { squash: 0, num_atoms: 2, value_min: -1.0, value_max: 1e12, shape: choose, ..good };
        assert_eq!(good.check().is_ok(), cfg!(feature = "off_policy"));
        let bad: [Spoil; 10] = [
            |c| c.num_atoms = 0,
            |c| c.num_atoms = 1,
            |c| c.num_atoms = 257,
            |c| c.value_min = 1e12,
            |c| c.value_min = f32::NAN,
            |c| c.value_max = 1e13,
            |c| c.value_max = f32::INFINITY,
            |c| c.reserved = 1,
            |c| (c.num_atoms, c.value_min, c.value_max) = (0, -0.0, 0.0),
            |c| c.shape = Shape::new(&Space::unbounded(3), &Space::unbounded(2)).unwrap(),
        ];
        for (i, spoil) in bad.iter().enumerate() {
            let mut config = good;
            spoil(&mut config);
            let error = config.check().unwrap_err();
            assert!(
                error.kind == Kind::Config && error.what.contains("value_min") | error.what.contains("num_atoms"),
                "{i}"
            );
        }
    }

    #[test]
    fn the_words_lie_where_every_machine_looks_for_them() {
        assert_eq!((size_of::<ActorConfig>(), core::mem::offset_of!(ActorConfig, num_layers)), (72, 40));
    }
}
