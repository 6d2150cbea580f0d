//! The configuration and shapes that a learner's block stores, and the networks derived from them.

use bytemuck::{Pod, Zeroable};

use super::actor_config::{ActorConfig, MAX_LAYERS};
use super::config::Config;
use super::obs_encoder::{Part, Parts, pictures};
use super::role::{self as roles, Tower, role};
use super::shape::Shape;
use super::tasks::Tasks;
#[cfg(feature = "unreal")]
use super::tasks::{CLASS_FREE, CLASS_UNITS, PIXEL_CHANNELS, enlarge};
use crate::block::LayoutError;
use crate::error::{Error, Kind, Result};
use crate::kernels::stack::MAX_STACK;
use crate::nn::{Activation, HEAD, INPUT, Initializer, Layer, LayerKind, NO_BIAS, NO_SCALE, NOISY, Net, Node, Scope};
use crate::space::{Element, Field, Space};

/// The requirement on observations whose frames are stored once.
const NO_STACK: &str = "learner config: num_stacked of 0, or observations of bytes and normalize_obs of 0";

fn product(dims: [u32; 3]) -> Option<u32> {
    dims.iter().try_fold(1u32, |all, len| all.checked_mul(*len))
}

/// Why an algorithm that learns Q takes structures of choices alone.
pub(super) const Q_OF_NUMBERS: &str = "learner config: algorithm {given} learns Q, which tells the best of choices, not of numbers: no f32 in a structure.";

/// Configuration and shapes as a learner's block stores them.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct LearnerSpec {
    pub config: Config,
    pub shape: Shape,
}

impl LearnerSpec {
    /// Checks everything that a host chooses.
    pub fn new(config: &Config, obs: &Space<'_>, action: &Space<'_>) -> Result<LearnerSpec> {
        let stored = LearnerSpec { config: config.trimmed(), shape: Shape::new(obs, action)? };
        // The memory layout of a picture follows from its field: the lengths of its channels and of its rows are products of
        // its last axes.
        let [_, width, channels] = config.obs_dims.map(u64::from);
        let is_first = Parts::new(obs)?.list().first().is_some_and(|part| part.picture == config.obs_dims);
        let checked = |field: &Field<'_>| channels > 0 && !is_first && field.rank > 1 && !field.info;
        for (i, field) in obs.fields.iter().enumerate().filter(|(_, field)| checked(field)) {
            let mut len = match (field.kind, obs.n.first()) {
                (Element::I32, Some(n)) => u64::from(*n),
                _ => 1,
            };
            let mut is_axis = [len == channels && !field.channels_first, false];
            for axis in field.shape().iter().rev().filter(|_| !field.channels_first) {
                len = len.saturating_mul((*axis).into());
                is_axis[0] |= len == channels;
                is_axis[1] |= len == width.saturating_mul(channels);
            }
            let what =
                "learner config: obs_dims and field {given} of the observations have their axes in different orders.";
            Error::new(Kind::Config, what).given(i).fail_if(is_axis != [true; 2])?;
        }
        stored.check()?;
        Ok(stored)
    }

    /// Checks configuration and shape, and that they match.
    pub fn check(&self) -> Result {
        self.config.check()?;
        #[cfg(feature = "off_policy")]
        if self.config.needs().replay {
            return self.check_replay();
        }
        let what = if self.shape.structured() {
            Q_OF_NUMBERS
        } else {
            "learner config: discrete actions for an algorithm that learns Q, which has number"
        };
        let refused = self.config.needs().q && self.shape.std_len() > 0;
        Error::new(Kind::Config, what).given(self.config.algorithm as usize).fail_if(refused)?;
        let what = "learner config: pixel_control_coef of 0, or actions of one choice";
        let others = self.config.tasks()[0] && !(self.shape.discrete() && self.shape.action_len == 1);
        Error::new(Kind::Config, what).given(self.shape.action_len as usize).fail_if(others)?;
        self.check_shape(self.num_layers())?;
        self.check_frames()?;
        self.check_fields()
    }

    /// Checks that every field that is set is used. Errors: `Config`.
    pub(super) fn check_fields(&self) -> Result {
        self.config.check_unread(&self.shape)?;
        let what = "learner config: hidden_len of 0 beyond num_hidden layers, which are";
        let trimmed = self.config.trimmed().hidden_len == self.config.hidden_len;
        Error::limit(Kind::Config, what, self.config.num_hidden as usize, 1).fail_if(!trimmed)
    }

    /// Checks the shape, and the requirements of any learner on it and on a network of `num_layers` layers.
    pub(super) fn check_shape(&self, num_layers: usize) -> Result {
        self.actor().check()?;
        let what = "learner config: layers and hidden layers together, with normalisations, of at most";
        Error::limit(Kind::Config, what, MAX_LAYERS, num_layers).fail_if(num_layers > MAX_LAYERS)?;
        self.check_stack()?;
        if self.config.use_action_mask != 0 && self.shape.action_lens().0 == 0 {
            let what = "learner config: use_action_mask of 0 with continuous actions, which are no choices to forbid";
            return Err(Error::new(Kind::Config, what).given(1));
        }
        Ok(())
    }

    /// Checks the settings of stacks, whose frames are stored once.
    fn check_stack(&self) -> Result {
        let (c, num) = (&self.config, self.config.num_stacked);
        let refused = |what| Err(Error::new(Kind::Config, what).given(num as usize));
        if num == 0 {
            return Ok(());
        }
        if !cfg!(feature = "pictures") {
            return refused("learner config: num_stacked of 0 in a build without pictures");
        }
        if num as usize > MAX_STACK {
            return refused("learner config: num_stacked of 0 to 16");
        }
        if c.normalize_obs != 0 {
            return refused(NO_STACK);
        }
        Ok(())
    }

    /// Checks that frame numbers fit 32 bits: of two rollouts, with a stack of each environment and spare frames in each. Errors: `Overflow`.
    fn check_frames(&self) -> Result {
        let (c, num) = (&self.config, u64::from(self.config.num_stacked));
        let of_envs = num.saturating_add(2).saturating_mul(c.num_envs.into());
        let (steps, spare) = (c.batch_len() as u64, (c.batch_len() as u64).div_ceil(16));
        let frames = steps.saturating_add(spare).saturating_add(of_envs).saturating_add(2).saturating_mul(2);
        let what = "learner config: num_envs * (num_steps * 17 / 16 + num_stacked + 2) below 2^31 - 2";
        Error::new(Kind::Overflow, what).fail_if(num > 0 && frames > u64::from(u32::MAX))
    }

    /// Whether the whole observation is a picture.
    fn is_picture(&self) -> bool {
        let dims = self.config.obs_dims;
        dims != [0; 3] && product(dims) == Some(self.shape.seen_len)
    }

    /// Height, width and channels of the picture: the whole observation, or its first part; else 0.
    pub fn picture(&self, parts: &[Part]) -> [u32; 3] {
        match parts {
            [first, ..] if !self.is_picture() => first.picture,
            _ => self.config.obs_dims,
        }
    }

    /// Elements in front of an encoded observation that rollouts store as bytes: all of bytes alone, the first part of others.
    pub fn front(&self, parts: &[Part]) -> u32 {
        let c = &self.config;
        let all = self.shape.obs_u8() && (c.num_stacked == 0 || parts.len() < 2 || self.is_picture());
        match parts {
            _ if c.normalize_obs != 0 => 0,
            _ if all => self.shape.seen_len,
            [first, ..] => first.num_bytes(),
            [] => 0,
        }
    }

    /// The auxiliary tasks for observations of these parts.
    pub fn tasks(&self, parts: &[Part]) -> Tasks {
        Tasks::new(&self.config, &self.shape, self.picture(parts))
    }

    /// The length of the last axis: of the picture, or of all elements.
    pub fn last_axis(&self, parts: &[Part]) -> u32 {
        let [.., channels] = self.picture(parts);
        if channels == 0 { self.shape.obs_len } else { channels }
    }

    /// Checks that `obs_dims` are those of the observation or of its first part; that there is a picture with pixel control; and
    /// that frames that are stored once are bytes, along the last axis. Errors: `Config`.
    pub fn check_picture(&self, parts: &[Part]) -> Result {
        let (c, picture) = (&self.config, self.picture(parts));
        let named = c.obs_dims == [0; 3] || self.is_picture() || parts.len() > 1 && c.obs_dims == picture;
        let what = "learner config: obs_dims of 0, or with a product of";
        Error::new(Kind::Config, what).needed(self.shape.seen_len as usize).fail_if(!named)?;
        let [height, width, _] = picture.map(u64::from);
        let what = "learner config: obs_dims with pixel_control_coef, numbers";
        let none = height == 0 || parts.len() > 1 && height.saturating_mul(width) < 2;
        Error::new(Kind::Config, what).needed(self.shape.seen_len as usize).fail_if(c.tasks()[0] && none)?;
        let (num, front) = (c.num_stacked, self.front(parts));
        let refused = |what, fits: bool| Error::new(Kind::Config, what).given(num as usize).fail_if(num > 0 && !fits);
        refused(NO_STACK, front > 0 && (height == 0 || product(picture) == Some(front)))?;
        let apart = |part: &Part| parts.first().is_none_or(|first| !first.overlaps(part));
        let what = "learner config: num_stacked of 0, or obs_fields without bytes of the picture in other fields";
        refused(what, self.is_picture() || parts.iter().skip(1).all(apart))?;
        let what = "learner config: num_stacked that divides the last axis of an observation";
        refused(what, num == 0 || self.last_axis(parts).is_multiple_of(num))
    }

    /// The part of the configuration that acting reads.
    pub fn actor(&self) -> ActorConfig {
        self.config.actor(self.shape)
    }

    /// Outputs of the policy's first head.
    pub(super) fn outputs(&self) -> u32 {
        self.shape.num_outputs.saturating_mul(self.config.value_lens()[0])
    }

    /// Compiles the network: the layers that a host lists, then those of the policy and those of the second head alone; and the
    /// critic network. `nodes` and `list` have [`LearnerSpec::num_nodes`] elements.
    pub fn compile<'n>(
        &self,
        listed: &[Layer],
        parts: &[Part],
        [own, _critic]: [&'n mut [Node]; 2],
        list: &mut [Layer],
    ) -> Result<[Net<'n>; 2]> {
        let net = self.compile_with(listed, parts, self.second_head(), own, list)?;
        if self.config.has_tasks() && !self.tasks(parts).are_of(&net, self.config.needs().values as usize) {
            return Err(LayoutError.into());
        }
        #[cfg(feature = "off_policy")]
        return Ok([net, self.compile_critic(listed, parts, _critic, list)?]);
        #[cfg(not(feature = "off_policy"))]
        Ok([net, Net::new(&[])])
    }

    /// The second head of the policy's network: the number of hidden layers shared with the first head, its outputs and its
    /// gain.
    pub(super) fn second_head(&self) -> Option<(u32, u32, f32)> {
        let c = &self.config;
        #[cfg(feature = "off_policy")]
        if c.needs().replay {
            return match c.needs().temperature {
                true => (!self.shape.chooses()).then_some((c.num_hidden, self.shape.std_len() as u32, 0.01)),
                false => (c.dueling != 0).then_some((c.num_shared, c.value_lens()[0], 1.0)),
            };
        }
        (!c.needs().q).then_some((c.num_shared, 1, 1.0))
    }

    /// Compiles the policy's network with this second head.
    fn compile_with<'n>(
        &self,
        listed: &[Layer],
        parts: &[Part],
        second: Option<(u32, u32, f32)>,
        nodes: &'n mut [Node],
        list: &mut [Layer],
    ) -> Result<Net<'n>> {
        let (c, shape) = (&self.config, &self.shape);
        let given = |what, given| Err(Error::new(Kind::Config, what).given(given));
        if listed.len() != c.num_layers as usize {
            return given("learner: layers, num_layers of them", listed.len());
        }
        self.check_picture(parts)?;
        for layer in listed {
            if layer.flags & HEAD != 0 || layer.kind == LayerKind::Free as u32 {
                return given(
                    "learner: layers that are not heads and read observations or other layers, of kind",
                    layer.kind as usize,
                );
            }
        }
        if let Some((number, layer)) = (1..).zip(listed).find(|(_, layer)| layer.role != 0) {
            let what = "net: reserved of 0 in layer";
            return Err(Error::limit(Kind::Config, what, number, layer.role as usize));
        }
        self.check_pictures(listed)?;
        let mut layers = Layers::listed(list, listed);
        let read = if c.policy_layer == 0 { c.num_layers } else { c.policy_layer };
        layers.push_tower(c, if c.needs().q { Tower::Q } else { Tower::Policy }, read, 0, self.outputs(), 0.01);
        if shape.std_len() > 0 {
            layers.push(Layer { role: role(Tower::LogStd, 0), ..Layer::free(shape.std_len() as u32, c.log_std_init) });
        }
        if let Some((shared, units, gain)) = second {
            let tower = if c.needs().temperature { Tower::Deviation } else { Tower::Value };
            layers.push_tower(c, tower, c.num_layers, shared, units, gain);
        }
        #[cfg(feature = "unreal")]
        layers.push_tasks(c, &self.tasks(parts), listed);
        for _ in 0..c.needs().values {
            layers.push_tower(c, Tower::Other, c.num_layers, c.num_shared, 1, 1.0);
        }
        let (pictures, count) = pictures(parts);
        let parts = pictures.get(..count).unwrap_or_default();
        let net = Net::compile_parts(layers.as_slice(), self.input(), parts, nodes)?;
        c.check_state(net.state_len())?;
        c.check_noise(net.noise_len())?;
        let what = "learner config: normalize_obs of 0 with an embedding, whose symbols it would change";
        Error::new(Kind::Config, what).given(1).fail_if(c.normalize_obs != 0 && net.reads_symbols())?;
        Ok(net)
    }

    /// Height, width and channels of a network's input; 1, 1 and the length if observations are no picture.
    fn input(&self) -> [usize; 3] {
        let dims = if self.is_picture() { self.config.obs_dims } else { [1, 1, self.shape.seen_len] };
        dims.map(|len| len as usize)
    }

    /// Checks that layers with windows over observations read pictures. Errors: `Config`.
    fn check_pictures(&self, listed: &[Layer]) -> Result {
        if self.is_picture() {
            return Ok(());
        }
        // Bit k: layer k, counted from 1, is a single row of elements derived from the observation, which is layer 0.
        let mut rows = 1u64;
        for (number, layer) in (1u32..).zip(listed) {
            let source = match layer.source {
                [0, _] => number.saturating_sub(1),
                [INPUT, _] => 0,
                [source, _] => source,
            };
            if rows.checked_shr(source).unwrap_or(0) & 1 == 0 {
                continue;
            }
            let scope = LayerKind::from_number(layer.kind).map(LayerKind::scope);
            let looks = scope == Some(Scope::Window) && layer.size != [1; 2];
            let what = "learner config: layer {given} reads a picture, but obs_dims is 0 and its source is no field of obs_fields.";
            Error::new(Kind::Config, what).given(number as usize).fail_if(looks)?;
            if scope == Some(Scope::Pixel) {
                rows |= 1u64.checked_shl(number).unwrap_or(0);
            }
        }
        Ok(())
    }

    /// Whether critics have listed layers that see pictures or remember observations, where actions have no place.
    #[cfg(feature = "off_policy")]
    pub(in crate::learn) fn keeps_actions_apart(&self) -> bool {
        let c = &self.config;
        let continuous = c.needs().critics && !self.shape.chooses();
        let stacked = c.num_stacked > 0 && self.shape.num_parts > 1;
        continuous && c.num_layers > 0 && (c.obs_dims != [0; 3] || c.sequence_len > 0 || stacked)
    }

    /// Whether critics get actions behind the listed layers, and not in front of them.
    #[cfg(feature = "off_policy")]
    pub(in crate::learn) fn joins_actions(&self) -> bool {
        cfg!(feature = "residual") && self.keeps_actions_apart()
    }

    /// Compiles a critic: another copy of the listed and hidden layers, over a concatenated observation and action, or with
    /// discrete actions over an observation alone. Where the listed layers see a picture, or remember, they see the observation
    /// alone, and the action follows them.
    #[cfg(feature = "off_policy")]
    fn compile_critic<'n>(
        &self,
        listed: &[Layer],
        parts: &[Part],
        nodes: &'n mut [Node],
        list: &mut [Layer],
    ) -> Result<Net<'n>> {
        if !self.config.needs().critics {
            return Ok(Net::new(&[]));
        }
        let mut layers = Layers::listed(list, listed);
        let ((len, units), mut read) = (self.critic_lens(), self.config.num_layers);
        if self.joins_actions() {
            // The observation is the first part of the input, or each of its fields is a part; the action is the one after them.
            let fields = self.shape.num_parts.max(1);
            let [seen, action] = [1, fields.saturating_add(1)].map(|part| INPUT + part);
            let mut mixed = false;
            for (i, layer) in layers.list.iter_mut().take(listed.len()).enumerate() {
                let [first, second] = &mut layer.source;
                let kind = LayerKind::from_number(layer.kind);
                let merges = matches!(kind, Some(LayerKind::Add | LayerKind::Multiply | LayerKind::Join));
                let reads_all = |source: u32| source == INPUT || source == 0 && i == 0;
                let sources = [(first, true), (second, merges)];
                for (source, _) in sources.into_iter().filter(|(source, is_read)| *is_read && reads_all(**source)) {
                    (*source, mixed) = (seen, fields > 1);
                }
            }
            let what = "learner: layers that read fields, not all of the input, where critics find the action too: with recurrent \
                        layers or obs_dims it follows them.";
            Error::new(Kind::Config, what).fail_if(mixed)?;
            let join =
                Layer { kind: LayerKind::Join as u32, source: [read, action], ..Layer::dense(0, Activation::Identity) };
            layers.push(join);
            read = read.saturating_add(1);
        }
        layers.push_tower(&self.config, Tower::Critic, read, 0, units, 1.0);
        let (pictures, count) = self.critic_parts(parts);
        let pictures = pictures.get(..count).unwrap_or_default();
        let row = [1, 1, len as usize];
        let input = if self.shape.chooses() { self.input() } else { row };
        let net = Net::compile_parts(layers.as_slice(), input, pictures, nodes)?;
        let what =
            "learner: with TD3 and SAC a listed layer that reads all of the input, since critics find actions there";
        Error::new(Kind::Config, what).fail_if(!self.shape.chooses() && !net.reads_end())?;
        Ok(net)
    }

    /// Checks compiled layers of the policy and of critics from an untrusted source. Errors: `Image`; `Config`.
    pub fn accept<'n>(&self, [nodes, critic]: [&'n [Node]; 2], parts: &[Part], n: &[u32]) -> Result<[Net<'n>; 2]> {
        let net = self.actor().network(nodes, parts, n, self.outputs() as usize)?;
        let second = self.second_head().map_or(0, |(_, len, _)| len as usize);
        let values = self.config.needs().values as usize;
        let heads = if second > 0 { self.tasks(parts).are_of(&net, values) } else { net.num_heads() == 1 };
        let fits = net.head_len(1) == second && heads;
        let what = "learner image: the networks of its algorithm";
        Error::new(Kind::Image, what).fail_if(!fits)?;
        self.config.check_state(net.state_len())?;
        self.config.check_noise(net.noise_len())?;
        #[cfg(feature = "off_policy")]
        return Ok([net, self.accept_critic(critic, parts, net.state_len())?]);
        #[cfg(not(feature = "off_policy"))]
        Ok([net, Net::new(critic)])
    }

    /// The number of layers of the policy's network.
    pub fn num_layers(&self) -> usize {
        let c = &self.config;
        let layers = |shared: u32| c.layers_of(c.num_hidden.saturating_sub(shared)).saturating_add(1);
        let second = self.second_head().map_or(0, |(shared, ..)| layers(shared));
        let values = layers(c.num_shared).saturating_mul(c.needs().values);
        let [pixels, class, ..] = c.tasks();
        let tasks = if pixels { 3 } else { 0 } + if class { 2 } else { 0 };
        self.actor().num_layers.saturating_add(second).saturating_add(values).saturating_add(tasks) as usize
    }

    /// The number of layers of a critic.
    pub fn num_critic_layers(&self) -> usize {
        let c = &self.config;
        if !c.needs().critics {
            return 0;
        }
        #[cfg(feature = "off_policy")]
        let joins = u32::from(self.joins_actions());
        #[cfg(not(feature = "off_policy"))]
        let joins = 0;
        c.num_layers.saturating_add(c.layers_of(c.num_hidden)).saturating_add(joins).saturating_add(1) as usize
    }
}

impl Config {
    /// Flags of the normalization of hidden layers, which has no parameters in stream algorithms.
    fn norm_flags(&self) -> u32 {
        if self.needs().traces { NO_BIAS | NO_SCALE } else { 0 }
    }

    /// A dense layer with the configured initialization: noisy, or sparse.
    fn starting(&self, layer: Layer) -> Layer {
        if self.needs().traces {
            return Layer { initializer: Initializer::Sparse as u32, gain: 1.0, ..layer };
        }
        if self.noisy == 0 {
            return layer;
        }
        Layer { flags: layer.flags | NOISY, initializer: Initializer::Uniform as u32, gain: 1.0, ..layer }
    }
}

/// A list of layers that grows up to its room.
struct Layers<'l> {
    list: &'l mut [Layer],
    len: usize,
}

impl<'l> Layers<'l> {
    /// A list that begins with the layers of a host.
    fn listed(list: &'l mut [Layer], listed: &[Layer]) -> Layers<'l> {
        let mut layers = Layers { list, len: 0 };
        for (layer, place) in listed.iter().zip(0..) {
            layers.push(Layer { role: role(Tower::Listed, place), ..*layer });
        }
        layers
    }

    fn push(&mut self, layer: Layer) {
        if let Some(to) = self.list.get_mut(self.len) {
            (*to, self.len) = (layer, self.len.saturating_add(1));
        }
    }

    fn as_slice(&self) -> &[Layer] {
        self.list.get(..self.len).unwrap_or_default()
    }

    /// Adds the heads of auxiliary tasks. Cells of pixel control are computed from the last layer that the policy and the
    /// values share; with `policy_layer` from the last one that the values read. Rewards are predicted from the last of the host's layers before the first dense or recurrent one: each
    /// observation contributes to the hidden layer, and the parameters of the layer after it are free numbers.
    #[cfg(feature = "unreal")]
    fn push_tasks(&mut self, c: &Config, tasks: &Tasks, listed: &[Layer]) {
        let from = |before: u32| [if before == 0 { INPUT } else { before }, 0];
        let uniform = |layer: Layer| Layer { initializer: Initializer::Uniform as u32, gain: 1.0, ..layer };
        if tasks.cells() > 0 {
            let [[height, down], [width, right]] = tasks.grid.map(enlarge);
            let source = from(c.num_layers.saturating_add(c.layers_of(c.num_shared)));
            let units = height.saturating_mul(width).saturating_mul(PIXEL_CHANNELS);
            let small = Layer { source, size: [height, width], ..Layer::dense(units, Activation::Elu) };
            let of = |place| role(Tower::PixelControl, place);
            self.push(c.starting(uniform(Layer { role: of(0), ..small })));
            let source = from(self.len as u32);
            for (units, place) in [(tasks.choices as u32, 1), (1, 2)] {
                let cells =
                    Layer { role: of(place), ..Layer::conv(units, [down, right], [2, 2], Activation::Identity) };
                self.push(uniform(Layer { kind: LayerKind::Deconv as u32, source, flags: HEAD, ..cells }));
            }
        }
        if tasks.frames > 0 {
            let last = |layer: &Layer| LayerKind::from_number(layer.kind).map(LayerKind::scope) == Some(Scope::All);
            let source = from(listed.iter().position(last).unwrap_or(listed.len()) as u32);
            let units = (tasks.frames as u32).saturating_mul(CLASS_UNITS as u32);
            let own =
                Layer { role: role(Tower::RewardClass, roles::HEAD), ..Layer::dense(units, Activation::Identity) };
            self.push(c.starting(uniform(Layer { source, flags: HEAD | NO_BIAS, ..own })));
            let free = Layer::free(CLASS_FREE as u32, 0.0);
            self.push(Layer { role: role(Tower::RewardClass, roles::FREE), ..free });
        }
    }

    /// Adds the hidden layers after the first `shared` ones, and a head. Their input is the last shared layer, or layer `read`
    /// of the list if there is none.
    fn push_tower(&mut self, config: &Config, tower: Tower, read: u32, shared: u32, units: u32, gain: f32) {
        let activation = Activation::from_number(config.activation).unwrap_or(Activation::Tanh);
        let norm = Layer { kind: LayerKind::Norm as u32, flags: config.norm_flags(), ..Layer::dense(0, activation) };
        let hidden = config.hidden_len.iter().take(config.num_hidden as usize).skip(shared as usize);
        let before = read.saturating_add(config.layers_of(shared));
        let mut source = [if before == 0 { INPUT } else { before }, 0];
        let mut place = config.layers_of(shared);
        let mut next = || {
            place = place.saturating_add(1);
            role(tower, place.saturating_sub(1))
        };
        for &units in hidden {
            let inner = if config.hidden_norm != 0 { Activation::Identity } else { activation };
            self.push(config.starting(Layer { source, role: next(), ..Layer::dense(units, inner) }));
            if config.hidden_norm != 0 {
                self.push(Layer { role: next(), ..norm });
            }
            source = [0; 2];
        }
        let head = Layer { role: role(tower, roles::HEAD), ..Layer::dense(units, Activation::Identity) };
        self.push(config.starting(Layer { source, flags: HEAD, gain, ..head }));
    }
}
