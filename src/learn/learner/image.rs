//! Checks of a learner's block by `attach`.

use super::layout::{Places, block_plan, log_std};
use super::tensors::networks;
use super::{PARAM_LIMIT, View};
use crate::block::{self, Kind as BlockKind, Plan};
use crate::error::{Error, Kind, Result, check_finite};
use crate::kernels::moments;
use crate::learn::learner_spec::LearnerSpec;
use crate::learn::loss::Sums;
use crate::learn::noise;
use crate::rng::Rng;

/// Limit of the magnitude of running sums of rewards: more than sums of f32 rewards can reach, and the squares are finite.
const MAX_RETURN: f64 = 1e60;

/// The logarithm of a temperature stays within ± this limit.
pub(super) const TEMPERATURE_LIMIT: f32 = 20.0;

impl<'a> View<'a> {
    /// Reads bytes that a learner was copied to, after checking all data in them that later calls rely on. Errors: `Align`,
    /// `Size`, `Image`.
    pub fn attach(mem: &'a [u8]) -> Result<View<'a>> {
        block::attach(mem, BlockKind::Learner, |s: &LearnerSpec| {
            s.check()?;
            let places = Places::plan(&mut Plan::default(), s)?;
            let (nodes, parts, n) = places.read(mem)?;
            s.check_picture(parts)?;
            let nets = s.accept(nodes, parts, n)?;
            places.check(mem, block_plan(s, nets, parts)?)
        })?;
        let image = |what| Error::new(Kind::Image, what);
        let view = View::open(mem)?;
        let (s, c) = (&view.state, view.config);
        let log_stds = c.log_std_min..=c.log_std_max;
        let log_std = |params| if c.needs().replay { Ok(&[][..]) } else { log_std(params, &view.sizes) };
        view.actor.check_actions(&view.taken, log_std(view.params)?, log_stds.clone())?;
        if !view.prime.is_empty() {
            view.actor.check_actions(&view.taken, log_std(view.prime)?, log_stds)?;
        }
        if !(s.rng.is_valid() && view.act_rng.iter().chain(view.predict_rng).all(Rng::is_valid)) {
            return Err(image("learner image: valid random streams"));
        }
        let flags = [view.open, view.staged, view.done];
        let begins = view.begins.iter().any(|&x| x > if c.needs().replay { 2 } else { 1 });
        let waiting = check_finite("", view.new_obs).and(check_finite("", view.carry));
        if flags.into_iter().flatten().any(|&x| x > 1) || begins || waiting.is_err() {
            let what = "learner image: flags of 0 or 1, and finite states and observations that wait for statistics";
            return Err(image(what));
        }
        if s.frozen > 1
            || s.updating > if c.needs().critics { 2 } else { 1 }
            || !(0.0..=f32::MAX).contains(&s.last_duration)
        {
            return Err(image("learner image: flags of 0 or 1"));
        }
        let small = view.params.iter().chain(view.acting).all(|x| x.abs() <= PARAM_LIMIT);
        let [noise, noisy] = noise::limits(PARAM_LIMIT);
        let most = if view.noisy.is_empty() { PARAM_LIMIT } else { noisy };
        let small = small && view.prime.iter().all(|x| x.abs() <= most);
        let small = small && view.noise.iter().all(|x| x.abs() <= noise) && view.noisy.iter().all(|x| x.abs() <= noisy);
        let small = small && s.log_temperature.abs() <= TEMPERATURE_LIMIT && s.temperature_v >= 0.0;
        let more = [s.policy_loss, s.entropy, s.log_std, s.temperature_m, s.temperature_v];
        let finite = [view.adam_m, view.adam_v, &more].iter().all(|x| check_finite("", x).is_ok());
        let sums = view.running_return.iter().all(|x| x.abs() <= MAX_RETURN) && view.adam_v.iter().all(|x| *x >= 0.0);
        let own: [f64; size_of::<Sums>() / size_of::<f64>()] = bytemuck::cast(s.sums);
        let sums = sums && own.iter().all(|x| x.is_finite()) && s.value_sum.is_finite() && view.episodes.are_right();
        let obs = moments::check_moments(view.obs_mean, view.obs_var, s.obs_count);
        let returns = moments::check_moments(&[s.return_mean], &[s.return_var], s.return_count);
        if !(small && finite && sums && obs.is_ok() && returns.is_ok()) {
            return Err(image("learner image: finite parameters within their limit, and finite statistics"));
        }
        networks(&view.sizes, view.frozen_tensors).layers(false, &mut |_, net, layer, bits| {
            let beyond = bits.checked_shr(net.tensors(layer)?.as_slice().len() as u32).unwrap_or(0);
            image("learner image: flags of tensors that a layer has").fail_if(beyond != 0)
        })?;
        if !(0.0..=1.0).contains(&s.learning_rate) {
            return Err(image("learner image: a learning rate that a configuration can have"));
        }
        #[cfg(feature = "off_policy")]
        if c.needs().replay {
            view.check_replay_image()?;
            return Ok(view);
        }
        view.check_rollout_image()?;
        Ok(view)
    }
}
