//! Checks of a configuration for learners off policy, and the networks derived from it.

use core::f32::consts::LN_2;

use crate::error::{Error, Kind, Result};
use crate::learn::actor_config::{MAX_ATOMS, MAX_LAYERS};
use crate::learn::config::Config;
use crate::learn::learner_spec::{LearnerSpec, Q_OF_NUMBERS};
use crate::learn::obs_encoder::{MAX_PARTS, Part, critic_parts};
use crate::learn::store::ring::Ring;
use crate::nn::{Net, Node};

impl Config {
    /// The most transitions that are stored while an update runs: those that are pending when it begins, and those of the steps
    /// until the next update is due, in which all environments may act at once.
    pub(in crate::learn) fn arrivals(&self) -> usize {
        let pending = (self.num_envs as usize).saturating_mul((self.n_step as usize).saturating_add(1));
        if self.overlap != 0 { pending.saturating_add(self.train_interval as usize) } else { 0 }
    }

    /// [`Config::check`] for a learner over a replay store.
    pub(in crate::learn) fn check_replay(&self) -> Result {
        let what = "learner config: sequence_len that divides batch_size,";
        let (rows, given) = (self.batch_size as usize, self.sequence_rows());
        Error::limit(Kind::Config, what, rows, given).fail_if(!rows.is_multiple_of(given))?;
        let (most, given) = (self.batch_sequences(), self.num_chunks as usize);
        let what = "learner config: num_chunks of at most batch_size, or its sequences,";
        Error::limit(Kind::Config, what, most, given).fail_if(given > most)?;
        let what = "learner config: a store of its own with recurrent layers; transitions of the host's have no states";
        Error::new(Kind::Config, what).fail_if(self.buffer_size == 0 && self.sequence_len > 0)?;
        let most = if self.sequence_len > 0 { self.buffer_size as usize } else { 0 };
        let what = "learner config: burn_in of at most buffer_size, or 0 without recurrent layers,";
        Error::limit(Kind::Config, what, most, self.burn_in as usize).fail_if(self.burn_in as usize > most)?;
        let kept = [
            ("learner config: batch_size of at most buffer_size,", self.batch_size),
            ("learner config: n_step of at most buffer_size,", self.n_step),
        ];
        // Without a replay store the host supplies the transitions.
        for (what, given) in kept.into_iter().filter(|_| self.buffer_size > 0) {
            let most = self.buffer_size;
            Error::limit(Kind::Config, what, most as usize, given as usize).fail_if(given > most)?;
        }
        let most = (self.buffer_size as usize).saturating_sub(self.arrivals());
        let what = "learner config: with overlap batch_size of at most buffer_size - train_interval - num_envs * (n_step + 1),";
        let refused = self.buffer_size > 0 && self.overlap != 0 && rows > most;
        Error::limit(Kind::Config, what, most, rows).fail_if(refused)?;
        let what = "learner config: priority_exponent of 0 without a store of its own";
        Error::new(Kind::Config, what)
            .given_f32(self.priority_exponent)
            .fail_if(self.buffer_size == 0 && self.priority_exponent > 0.0)?;
        let what = "learner config: demonstration_size of 0 without a store of its own";
        let (shown, stacked) = (self.demonstration_size as usize, self.num_stacked > 0);
        Error::new(Kind::Config, what).given(shown).fail_if(shown > 0 && self.buffer_size == 0)?;
        let what = "learner config: demonstration_size of 0 with num_stacked off policy, whose frames are kept once and overwritten,";
        Error::new(Kind::Config, what).given(shown).fail_if(shown > 0 && stacked)?;
        let what = "learner config: buffer_size + demonstration_size that fits 32 bits";
        let all = self.buffer_size.checked_add(self.demonstration_size);
        Error::new(Kind::Overflow, what).given(shown).fail_if(all.is_none())?;
        self.check_distributions()?;
        let what = "learner config: num_critics of 1 or 2, or with num_quantiles of 1 to 8";
        let refused = self.num_critics > 2 && self.num_quantiles == 0;
        Error::new(Kind::Config, what).given(self.num_critics as usize).fail_if(refused)?;
        if !self.needs().critics {
            return Ok(());
        }
        let what = "learner config: squash of 1 with TD3 and SAC";
        Error::new(Kind::Config, what).given(self.squash as usize).fail_if(self.squash != 1)
    }

    /// Checks the settings of value distributions.
    fn check_distributions(&self) -> Result {
        let lens = [
            ("learner config: num_quantiles of 0, or 2 to 256", self.num_quantiles),
            ("learner config: num_atoms of 0, or 2 to 256", self.num_atoms),
        ];
        for (what, given) in lens {
            Error::new(Kind::Config, what).given(given as usize).fail_if(given == 1 || given > MAX_ATOMS)?;
        }
        let (quantiles, atoms) = (self.num_quantiles, self.num_atoms);
        let what = "learner config: num_atoms of 0 with num_quantiles";
        Error::new(Kind::Config, what).given(atoms as usize).fail_if(atoms > 0 && quantiles > 0)?;
        let what = "learner config: dropped_quantiles below num_quantiles,";
        let refused = quantiles > 0 && self.dropped_quantiles >= quantiles;
        Error::limit(Kind::Config, what, quantiles as usize, self.dropped_quantiles as usize).fail_if(refused)?;
        let what = "learner config: value_min below value_max with num_atoms; it is";
        Error::new(Kind::Config, what).given_f32(self.value_min).fail_if(atoms > 0 && self.value_min >= self.value_max)
    }
}

impl LearnerSpec {
    /// Checks configuration and shape, and that they match.
    pub(in crate::learn) fn check_replay(&self) -> Result {
        let what = match (self.shape.structured(), self.config.needs().q) {
            (true, true) => Q_OF_NUMBERS,
            (true, false) => {
                "learner config: algorithm {given} follows the derivative of its actions, which choices do not have: no i32 in a structure."
            }
            _ => "learner config: algorithm DQN or SAC for discrete actions, TD3 or SAC for continuous ones",
        };
        let picks = self.shape.action_lens().0 > 0;
        let fits = self.config.needs().temperature || if self.config.needs().q { self.shape.chooses() } else { !picks };
        Error::new(Kind::Config, what).given(self.config.algorithm as usize).fail_if(!fits)?;
        let what =
            "learner config: joins in the build, with obs_dims or recurrent layers and critics of continuous actions";
        let refused = self.keeps_actions_apart() && !self.joins_actions();
        Error::new(Kind::Config, what).fail_if(refused)?;
        let what = "learner config: num_quantiles of 0 with SAC on choices";
        let spread = self.config.needs().critics && picks && self.config.num_quantiles > 0;
        Error::new(Kind::Config, what).given(self.config.num_quantiles as usize).fail_if(spread)?;
        let what = if self.shape.chooses() {
            "learner config: target_entropy of at most 1 with discrete actions, a share of the most that is allowed,"
        } else {
            "learner config: target_entropy of at most 0.69, ln 2, which actions from -1 to 1 can have,"
        };
        let most = if self.shape.chooses() { 1.0 } else { LN_2 };
        let refused = self.config.needs().temperature && self.config.target_entropy > most;
        Error::new(Kind::Config, what).given_f32(self.config.target_entropy).fail_if(refused)?;
        self.check_shape(self.num_layers().max(self.num_critic_layers()))?;
        let what = "learner config: num_stacked with numbers of frames that fit 32 bits; buffer_size is";
        let refused = Ring::new(self, &[]).count() > u32::MAX as usize;
        Error::new(Kind::Overflow, what).given(self.config.buffer_size as usize).fail_if(refused)?;
        let what = "learner config: choices with all numbers that stand for their values fit 31 bits";
        Error::new(Kind::Overflow, what).fail_if(self.outputs() > i32::MAX as u32)?;
        self.check_fields()
    }

    /// Checks compiled layers of critics from an untrusted source. Errors: `Image`.
    pub(in crate::learn) fn accept_critic<'n>(
        &self,
        nodes: &'n [Node],
        parts: &[Part],
        state_len: usize,
    ) -> Result<Net<'n>> {
        if !self.config.needs().critics {
            return Ok(Net::new(&[]));
        }
        let (len, units) = self.critic_lens();
        let (pictures, count) = self.critic_parts(parts);
        let net = Net::accept::<MAX_LAYERS>(nodes, pictures.get(..count).unwrap_or_default())?;
        let own = net.input() == len as usize && net.num_heads() == 1 && net.head_len(0) == units as usize;
        let more = net.state_len() != state_len || net.noise_len() > 0 || !net.free_params(0).is_empty();
        let what = "learner image: critics of its observations and actions";
        Error::new(Kind::Image, what).fail_if(!own || more)?;
        Ok(net)
    }

    /// Lengths of a critic's input and output: of an observation and the numbers of an action; and of the value of each choice,
    /// or of the action where there are none.
    pub(in crate::learn) fn critic_lens(&self) -> (u32, u32) {
        let s = &self.shape;
        let units = if s.action_lens().0 > 0 { s.mask_len() as u32 } else { self.config.critic_len() };
        (s.seen_len.saturating_add(s.std_len() as u32), units)
    }

    /// The shapes of the pictures in a critic's input, and their number.
    pub(in crate::learn) fn critic_parts(&self, parts: &[Part]) -> ([[u32; 3]; MAX_PARTS + 1], usize) {
        let (mut pictures, mut count) =
            critic_parts(parts, (!self.shape.chooses()).then_some(self.shape.std_len() as u32));
        if self.joins_actions() && self.shape.num_parts <= 1 {
            let [first, second, ..] = &mut pictures;
            *first = self.config.obs_dims;
            if *first == [0; 3] {
                *first = [1, 1, self.shape.seen_len];
            }
            (*second, count) = ([1, 1, self.shape.std_len() as u32], 2);
        }
        (pictures, count)
    }
}
