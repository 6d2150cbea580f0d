//! Changing the configuration of a learner that goes on.

use super::layout::{Places, block_plan};
use super::{Learner, View};
use crate::block::{self, Kind as BlockKind, Plan};
use crate::error::{Error, Kind, Result};
use crate::learn::config::Config;
use crate::learn::learner_spec::LearnerSpec;
use crate::learn::noise;
use crate::learn::obs_encoder::Part;
use crate::learn::optimizer::Optimizer;
use crate::nn::{Layer, with_layers, with_rooms};
use crate::num;

impl Learner<'_> {
    /// Replaces the configuration of a learner between its updates. Every field can change that leaves the lengths of the block
    /// and the compiled layers as they are; `num_layers` may be 0, for those that it has. The learner goes on as one that had these
    /// values from now on: parameters, moments, statistics, steps and stored transitions stay, and schedules are at the steps that
    /// were counted.
    ///
    /// Another `optimizer` starts its moments anew; another `temperature` becomes the current one; logarithms of deviations move
    /// into new limits; the copy of `prime_interval` is refreshed where it is due by a shorter one.
    /// Errors: `NotReady` while an update is due or runs; those of [`Learner::init`]; `Config` for a field that has to stay. Then
    /// nothing is written.
    pub fn configure(mem: &mut [u8], config: &Config) -> Result {
        let view = View::open(mem)?;
        let what = "learner configure: an update is due or runs; call learn until none is left.";
        view.state.check_recording(view.config, what)?;
        Error::new(Kind::NotReady, what).fail_if(view.state.updating != 0)?;
        let (before, new) = (*view.config, view.check_configuration(mem, config)?);
        block::configure(mem, BlockKind::Learner, &new)?;
        let mut learner = Learner::open(mem)?;
        learner.adapt(&before)?;
        learner.mark.end();
        Ok(())
    }

    /// Brings the fields of the block to a configuration that has changed.
    fn adapt(&mut self, before: &Config) -> Result {
        let (c, s) = (self.config, &mut *self.state);
        if s.num_updates == 0 {
            s.learning_rate = c.learning_rate;
        }
        if c.temperature != before.temperature {
            s.log_temperature = num::ln(c.temperature);
        }
        let most = c.entropy_coef.abs();
        s.entropy_coef = num::clamp(s.entropy_coef, -most, most);
        if c.optimizer != before.optimizer {
            let first_square = Optimizer::from_number(c.optimizer).unwrap_or_default().first_square();
            self.adam_m.fill(0.0);
            self.adam_v.fill(first_square);
            (s.temperature_m, s.temperature_v) = (0.0, first_square);
            (s.adam_steps, s.critic_steps, s.temperature_steps) = (0, 0, 0);
        }
        self.prime_age.iter_mut().filter(|age| **age >= c.prime_interval).for_each(|age| *age = 0);
        if c.needs().replay {
            return Ok(());
        }
        let (begin, len) = (self.sizes.std_begin, self.sizes.std_len);
        for params in [&mut *self.params, self.acting, self.prime, self.noisy] {
            let log_std = params.iter_mut().skip(begin).take(len);
            log_std.for_each(|x| *x = num::clamp(*x, c.log_std_min, c.log_std_max));
        }
        noise::add(&self.sizes.net, self.noise, self.params, self.noisy)
    }
}

impl View<'_> {
    /// The stored form of another configuration. Errors: `Config` for a value that a field may not have, and for a field that
    /// changes how the block is laid out.
    fn check_configuration(&self, mem: &[u8], config: &Config) -> Result<LearnerSpec> {
        let own = self.config;
        let mut config = config.trimmed();
        if config.num_layers == 0 {
            config.num_layers = own.num_layers;
        }
        let new = LearnerSpec { config, shape: self.actor.shape };
        let places = Places::plan(&mut Plan::default(), &LearnerSpec { config: *own, ..new })?;
        let (_, parts, _) = places.read(mem)?;
        let mut fits = |config: &Config| {
            let stays = (config.seed, config.algorithm, config.num_layers) == (own.seed, own.algorithm, own.num_layers)
                && config.obs_dims.iter().eq(&own.obs_dims);
            let stored = LearnerSpec { config: *config, ..new };
            if !stays || !self.compiles_alike(&stored, parts) {
                return false;
            }
            let nets = [self.sizes.net, self.sizes.critic];
            block_plan(&stored, nets, parts).and_then(|plan| places.check(mem, plan)).is_ok()
        };
        config.check_values()?;
        // A field that has to stay is named before others that do not go with it.
        if !fits(&config) {
            config.first_misfit(own, &mut fits)?;
        }
        new.check()?;
        Ok(new)
    }

    /// Whether a configuration makes the networks that this learner has, layer by layer.
    fn compiles_alike(&self, stored: &LearnerSpec, parts: &[Part]) -> bool {
        let (net, critic) = (self.sizes.net, self.sizes.critic);
        let lens = [net.nodes().len(), critic.nodes().len()];
        if [stored.num_layers(), stored.num_critic_layers()].iter().ne(&lens) {
            return false;
        }
        let alike = with_layers(stored.config.num_layers as usize, &mut |listed| {
            listed.iter_mut().zip(net.into_layers()).for_each(|(to, layer)| *to = Layer { role: 0, ..layer });
            with_rooms(lens, &mut |nodes, list| {
                let [own, other] = stored.compile(listed, parts, nodes, list)?;
                Ok(own.is(net.nodes()) && other.is(critic.nodes()))
            })
        });
        alike.unwrap_or(false)
    }
}
