//! What acting reads of a configuration, and nothing of training: all that a policy stores beside its numbers.

use core::ops::RangeInclusive;

use bytemuck::{Pod, Zeroable};

use super::shape::{Shape, check_bounds, choices};
use crate::error::{Error, Kind, Result, check_finite};
use crate::nn::{Activation, HEAD, INPUT, Layer, Net, Node};

/// The most hidden layers of a policy or a value network.
pub const MAX_HIDDEN: usize = 4;

/// The most layers of both: their hidden ones, their heads, and the logarithms of standard deviations.
const MAX_LAYERS: usize = 2 * MAX_HIDDEN + 3;

/// The policy's head and the value's, in a mask of heads.
pub(super) const POLICY: u32 = 1;
pub(super) const VALUE: u32 = 2;

/// A list of layers that grows.
#[derive(Default)]
pub(super) struct Layers {
    list: [Layer; MAX_LAYERS],
    len: usize,
}

impl Layers {
    fn push(&mut self, layer: Layer) {
        if let Some(to) = self.list.get_mut(self.len) {
            (*to, self.len) = (layer, self.len.saturating_add(1));
        }
    }

    /// The layers so far.
    pub fn as_slice(&self) -> &[Layer] {
        self.list.get(..self.len).unwrap_or(&self.list)
    }

    /// Makes something of the network that they make of observations. Errors: those of both.
    pub fn compile<T>(&self, shape: &Shape, make: impl FnOnce(&Net<'_>) -> Result<T>) -> Result<T> {
        let mut nodes = [Node::default(); MAX_LAYERS];
        make(&Net::compile(self.as_slice(), shape.obs_len as usize, &mut nodes)?)
    }

    /// Checks that the nodes of a block are those of that network. Errors: `Image`.
    pub fn check_nodes(&self, shape: &Shape, nodes: &[Node]) -> Result {
        let refused = Err(Error::new(Kind::Image, "image: compiled layers of its configuration"));
        self.compile(shape, |net| if net.is(nodes) { Ok(()) } else { refused })
    }
}

/// How a policy turns observations into actions. Plain data, stored in the policy's block; a learner makes it from its own
/// configuration, so that policies of the same network are the same bytes, however they were trained.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct ActorConfig {
    /// Observations and actions.
    pub shape: Shape,
    /// Hidden layers, 0 to 4.
    pub num_hidden: u32,
    /// Units of each hidden layer; entries past `num_hidden` are 0.
    pub hidden_len: [u32; MAX_HIDDEN],
    /// Of the hidden layers: 0 tanh, 1 ReLU.
    pub activation: u32,
    /// 1: continuous actions pass through tanh onto their bounds; 0: they are clipped to them.
    pub squash: u32,
    /// 1: observations are brought to mean 0 and deviation 1.
    pub normalize_obs: u32,
    /// Normalised observations are clipped to ± this; 0 if they are not normalised.
    pub obs_clip: f32,
    /// Zero.
    pub reserved: u32,
}

impl ActorConfig {
    /// Checks every field, and that they go together.
    pub fn check(&self) -> Result {
        self.shape.check()?;
        if self.num_hidden as usize > MAX_HIDDEN {
            let what = "policy: num_hidden of at most";
            return Err(Error::new(Kind::Config, what).needed(MAX_HIDDEN).given(self.num_hidden as usize));
        }
        for (i, &len) in self.hidden_len.iter().enumerate() {
            if (len == 0) == (i < self.num_hidden as usize) {
                let what = "policy: hidden_len above 0 for num_hidden layers and 0 after; layers";
                return Err(Error::new(Kind::Config, what).needed(self.num_hidden as usize).given(len as usize));
            }
        }
        let flags = [
            ("policy: activation of 0 (tanh) or 1 (relu)", self.activation, 1),
            ("policy: squash of 0 or 1", self.squash, 1),
            ("policy: squash of 0 with discrete actions", self.squash, u32::from(!self.shape.discrete())),
            ("policy: normalize_obs of 0 or 1", self.normalize_obs, 1),
            ("policy: reserved of 0", self.reserved, 0),
        ];
        for (what, given, most) in flags {
            if given > most {
                return Err(Error::new(Kind::Config, what).given(given as usize));
            }
        }
        let clips = self.obs_clip >= f32::MIN_POSITIVE && self.obs_clip <= f32::MAX;
        if if self.normalize_obs != 0 { clips } else { self.obs_clip == 0.0 } {
            return Ok(());
        }
        let what = "policy: obs_clip above 0, finite, or 0 with normalize_obs of 0";
        Err(Error::new(Kind::Config, what).given_f32(self.obs_clip))
    }

    /// The layers of the policy: hidden ones, a head, and logarithms of standard deviations, which start at `log_std`.
    pub(super) fn layers(&self, log_std: f32) -> Layers {
        let mut layers = Layers::default();
        self.push_tower(&mut layers, 0, self.shape.num_outputs, 0.01);
        if !self.shape.discrete() {
            layers.push(Layer::free(self.shape.action_len, log_std));
        }
        layers
    }

    /// How many layers the policy has.
    pub(super) fn num_layers(&self) -> usize {
        (self.num_hidden as usize).saturating_add(if self.shape.discrete() { 1 } else { 2 })
    }

    /// Adds the hidden layers that come after the first `shared` ones of the list, which it reads, and a head.
    pub(super) fn push_tower(&self, layers: &mut Layers, shared: u32, units: u32, gain: f32) {
        let activation = if self.activation == 0 { Activation::Tanh } else { Activation::Relu };
        let hidden = self.hidden_len.iter().take(self.num_hidden as usize).skip(shared as usize);
        let mut from = [if shared == 0 { INPUT } else { shared }, 0];
        for &units in hidden {
            layers.push(Layer { from, ..Layer::dense(units, activation) });
            from = [0; 2];
        }
        layers.push(Layer { from, flags: HEAD, gain, ..Layer::dense(units, Activation::Identity) });
    }

    /// Elements of an observation that have running statistics.
    pub fn moments_len(&self) -> usize {
        if self.normalize_obs != 0 { self.shape.obs_len as usize } else { 0 }
    }

    /// Checks the arrays of a block that say what actions are: choices for every output, finite bounds in order, and
    /// logarithms of deviations that are finite and in `log_std_range`. Errors: `Image`.
    pub(super) fn check_actions(
        &self,
        n: &[u32],
        low: &[f32],
        high: &[f32],
        log_std: &[f32],
        log_std_range: RangeInclusive<f32>,
    ) -> Result {
        let image = |what| Error::new(Kind::Image, what);
        if self.shape.discrete() && choices(n) != Ok(self.shape.num_outputs) {
            return Err(image("image: choices that sum to the outputs"));
        }
        check_bounds(low, high).map_err(|_| image("image: finite bounds in order"))?;
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
        let good = ActorConfig {
            shape,
            num_hidden: 2,
            hidden_len: [8, 4, 0, 0],
            activation: 1,
            squash: 1,
            normalize_obs: 1,
            obs_clip: 10.0,
            reserved: 0,
        };
        good.check().unwrap();
        ActorConfig { normalize_obs: 0, obs_clip: 0.0, ..good }.check().unwrap();
        ActorConfig { num_hidden: 0, hidden_len: [0; 4], ..good }.check().unwrap();
        let choose = Shape::new(&Space::unbounded(3), &Space::discrete(&[2])).unwrap();
        ActorConfig { shape: choose, squash: 0, ..good }.check().unwrap();
        type Spoil = fn(&mut ActorConfig);
        let bad: [(&str, Spoil); 14] = [
            ("shape", |c| c.shape.obs_len = 0),
            ("num_hidden of at most", |c| c.num_hidden = 5),
            ("hidden_len", |c| c.num_hidden = 3),
            ("hidden_len", |c| c.num_hidden = 1),
            ("hidden_len", |c| c.hidden_len[2] = 1),
            ("activation", |c| c.activation = 2),
            ("squash of 0 or 1", |c| c.squash = 2),
            ("normalize_obs", |c| c.normalize_obs = u32::MAX),
            ("obs_clip", |c| c.normalize_obs = 0),
            ("obs_clip", |c| c.obs_clip = 0.0),
            ("obs_clip", |c| c.obs_clip = -1.0),
            ("obs_clip", |c| c.obs_clip = f32::NAN),
            ("obs_clip", |c| c.obs_clip = f32::INFINITY),
            ("reserved", |c| c.reserved = 1),
        ];
        for (i, (word, spoil)) in bad.iter().enumerate() {
            let mut config = good;
            spoil(&mut config);
            let error = config.check().unwrap_err();
            assert!(error.kind == Kind::Config && error.what.contains(word), "case {i}: {error}");
        }
        let error = ActorConfig { shape: choose, ..good }.check().unwrap_err();
        assert!(error.what.contains("squash of 0 with discrete actions"), "{error}");
    }

    #[test]
    fn the_words_lie_where_every_machine_looks_for_them() {
        assert_eq!((size_of::<ActorConfig>(), core::mem::offset_of!(ActorConfig, num_hidden)), (64, 24));
    }
}
