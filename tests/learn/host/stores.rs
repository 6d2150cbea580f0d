//! Learners off policy with everything that a gradient step can read.

use super::Host;
#[cfg(feature = "off_policy")]
use super::Tune;
#[cfg(feature = "off_policy")]
use rlcore::learn::{Algorithm, Config};
#[cfg(feature = "off_policy")]
use rlcore::nn::{Activation, Layer, LayerKind};
#[cfg(feature = "off_policy")]
use rlcore::space::Space;

/// Learners off policy: every algorithm, value distributions, priorities, sequences of recurrent layers, frames kept once,
/// normalization, masks and kept demonstrations; updates of several gradient steps, in some of which the policy learns.
#[cfg(feature = "off_policy")]
pub fn over_stores(num_chunks: u32, overlap: u32) -> Vec<Host> {
    let (dqn, td3, sac) = (Config::of(Algorithm::Dqn), Config::of(Algorithm::Td3), Config::of(Algorithm::Sac));
    let weighted = |c: Config| Config { priority_exponent: 0.6, importance_exponent: 0.4, importance_steps: 200, ..c };
    let gru = [Layer::recurrent(LayerKind::Gru, 4)];
    let (choose, move_) = (Space::discrete(&[3, 2]), Space::unbounded(2));
    let (plain, images) = (Space::unbounded(4), Space::bytes(4 * 4 * 2));
    let frames = Config { obs_dims: [4, 4, 2], num_stacked: 2, ..weighted(dqn) };
    let conv = [Layer::conv(3, [2, 2], [1, 1], Activation::Relu)];
    let sequences = |c: Config| Config { sequence_len: 3, burn_in: 2, n_step: 2, ..weighted(c) };
    let normalized = |c: Config| c.normalized(1, 1);
    let shown = |c: Config| Config { demonstration_size: 30, demonstration_share: 0.3, imitation_coef: 0.5, ..c };
    let all: [(Config, &[Layer], &Space, &Space); 11] = [
        (weighted(Config { dueling: 1, n_step: 3, use_action_mask: 1, ..dqn }), &[], &plain, &choose),
        (Config { num_atoms: 5, value_min: -1.0, value_max: 3.0, noisy: 1 - overlap, ..dqn }, &[], &plain, &choose),
        (frames, &conv, &images, &choose),
        (sequences(dqn), &gru, &plain, &choose),
        (weighted(normalized(td3)), &[], &plain, &move_),
        (Config { num_quantiles: 5, dropped_quantiles: 1, num_critics: 3, ..weighted(sac) }, &[], &plain, &move_),
        (normalized(sac), &[], &plain, &move_),
        (weighted(Config { use_action_mask: 1, ..sac }), &[], &plain, &choose),
        (sequences(sac), &gru, &plain, &move_),
        (shown(weighted(Config { n_step: 2, ..td3 })), &[], &plain, &move_),
        (shown(sequences(dqn)), &gru, &plain, &choose),
    ];
    let made = all.map(|(c, layers, obs, action)| {
        let c = Config { num_envs: 5, num_chunks, train_interval: 10, gradient_steps: 3, overlap, ..c };
        let policy_interval = if c.algorithm == Algorithm::Dqn as u32 { c.policy_interval } else { 2 };
        let c = Config { policy_interval, num_layers: layers.len() as u32, ..c.hidden(&[6]).store(150, 42, 60) };
        Host::with(&c, layers, obs, action)
    });
    made.into()
}

#[cfg(not(feature = "off_policy"))]
pub fn over_stores(_: u32, _: u32) -> Vec<Host> {
    Vec::new()
}
