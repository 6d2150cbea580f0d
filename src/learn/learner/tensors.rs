//! The numbers that a learner holds for each layer, read and written by name.

use super::layout::Sizes;
use super::{Learner, PARAM_LIMIT, View};
use crate::block;
use crate::error::{Error, Kind, Result};
use crate::learn::frozen::Frozen;
use crate::learn::role::is_log_std;
use crate::learn::tensors::{NamedTensor, Networks, TensorsOf};
use crate::nn::Layer;

/// The networks of a learner, with the flags of its frozen tensors.
pub(super) fn networks<'n>(sizes: &Sizes<'n>, frozen: &'n [u8]) -> Networks<'n> {
    #[cfg(feature = "off_policy")]
    let num_critics = sizes.replay.num_critics;
    #[cfg(not(feature = "off_policy"))]
    let num_critics = 0;
    Networks { net: sizes.net, critic: sizes.critic, num_critics, frozen }
}

/// The frozen tensors of the parameters `[begin, begin + len)` of a learner.
pub(super) fn frozen<'n>(sizes: &Sizes<'n>, flags: &'n [u8], begin: usize, len: usize) -> Frozen<'n> {
    Frozen::new(networks(sizes, flags), begin, len)
}

impl View<'_> {
    /// Describes the tensors of the learner. Returns their number; those beyond the length of `to` are not written.
    pub fn tensors(&self, to: &mut [NamedTensor]) -> Result<usize> {
        networks(&self.sizes, self.frozen_tensors).list(to)
    }

    /// Copies the numbers of all tensors out. Errors: `Shape` if there are not as many as parameters; `Disabled` if this learner
    /// has none of this kind.
    pub fn read_tensors(&self, of: TensorsOf, to: &mut [f32]) -> Result {
        let held = match of {
            TensorsOf::Params => self.params,
            #[cfg(feature = "off_policy")]
            TensorsOf::Targets => self.replay.target,
            #[cfg(not(feature = "off_policy"))]
            TensorsOf::Targets => &[],
            TensorsOf::FirstMoments => self.adam_m,
            TensorsOf::SecondMoments => self.adam_v,
        };
        check_held(held)?;
        networks(&self.sizes, &[]).read(held, 1.0, to)
    }

    /// The layers of the network of the policy, or of Q, and with `critic` of a critic, with every default filled in.
    pub fn layers(&self, critic: bool) -> impl Iterator<Item = Layer> {
        if critic { self.sizes.critic } else { self.sizes.net }.into_layers()
    }
}

/// Errors: `Disabled` if a learner has no such numbers.
fn check_held(held: &[f32]) -> Result {
    let what = "learner tensors: numbers of this kind, which this algorithm does not have.";
    Error::new(Kind::Disabled, what).fail_if(held.is_empty())
}

impl Learner<'_> {
    /// Freezes tensors, or lets them learn again, and returns their number: all whose names fit `pattern`, in which `*` stands for any
    /// characters, or none: `layers.0.weight` is one tensor, `layers.0.*` a layer, `critics.*` all critics.
    ///
    /// A frozen tensor has gradients of 0, which norms are made of, and no step of the optimizer changes it or its moments.
    /// Traces of stream algorithms rest too, and end with all others. Writing and adopting parameters changes frozen ones as well, and
    /// [`Learner::configure`] leaves frozen what is: it restarts the moments of another optimizer, and moves deviations into other limits.
    /// Errors: `NotReady` while an update runs, or gradients wait for [`Learner::learn_apply`]; `Config` if no name fits. Then nothing is
    /// written.
    pub fn set_trainable(&mut self, pattern: &[u8], trainable: bool) -> Result<usize> {
        let _changing = self.mark.begin();
        let what = "learner set_trainable: an update runs, or gradients wait for learn_apply.";
        let waits = self.state.updating != 0 || self.done.contains(&1);
        Error::new(Kind::NotReady, what).fail_if(waits)?;
        let flags = &mut *self.frozen_tensors;
        let count = networks(&self.sizes, &[]).fitting(pattern, &mut |(layer, bit)| {
            if let Some(flags) = flags.get_mut(layer) {
                *flags = if trainable { *flags & !bit } else { *flags | bit };
            }
        })?;
        let what = "learner set_trainable: a pattern that the name of a tensor fits.";
        Error::new(Kind::Config, what).fail_if(count == 0)?;
        Ok(count)
    }

    /// Writes tensors, each found by its name; others stay. `values` has the numbers of an entry from its offset on. With
    /// parameters, the target networks become copies of them, as with [`Learner::write_params`]. Nothing is written if one of
    /// them cannot be.
    ///
    /// Errors: `Config` for a name that no tensor has; `Shape` for other dimensions; `Range` for numbers beyond `values`; `Value`
    /// for parameters not within ± 1e6, logarithms of deviations beyond their bounds, moments that are not finite or below 0; `Disabled` as
    /// [`View::read_tensors`].
    pub fn write_tensors(&mut self, of: TensorsOf, list: &[NamedTensor], values: &[f32]) -> Result {
        let _changing = self.mark.begin();
        let on_policy = !self.config.needs().replay;
        let log_std = self.config.log_std_min..=self.config.log_std_max;
        let networks = networks(&self.sizes, &[]);
        networks.each_of(list, values, &mut |found, own| {
            let within = |x: &f32| match of {
                TensorsOf::Params if on_policy && is_log_std(found.role) => log_std.contains(x),
                TensorsOf::Params | TensorsOf::Targets => (-PARAM_LIMIT..=PARAM_LIMIT).contains(x),
                TensorsOf::FirstMoments => x.is_finite(),
                TensorsOf::SecondMoments => *x >= 0.0 && x.is_finite(),
            };
            let what = "tensors: parameters from -1e6 to 1e6, log_std within its limits, finite moments and second ones of at least 0";
            let wrong = own.iter().find(|x| !within(x));
            Error::new(Kind::Value, what).given_f32(wrong.copied().unwrap_or(0.0)).fail_if(wrong.is_some())
        })?;
        let held = match of {
            TensorsOf::Params => &mut *self.params,
            #[cfg(feature = "off_policy")]
            TensorsOf::Targets => &mut *self.replay.target,
            #[cfg(not(feature = "off_policy"))]
            TensorsOf::Targets => &mut [],
            TensorsOf::FirstMoments => &mut *self.adam_m,
            TensorsOf::SecondMoments => &mut *self.adam_v,
        };
        check_held(held)?;
        networks.each_of(list, values, &mut |found, from| {
            let own = block::rows_mut(&mut *held, found.begin, found.net.param_len(), 1)?;
            found.net.write_tensor(own, found.told.layer as usize, &found.tensor, from)
        })?;
        if of == TensorsOf::Params { self.follow_params() } else { Ok(()) }
    }
}
