//! A small learner of every algorithm.

use super::Tune;
use rlcore::learn::{Algorithm, Config};
use rlcore::nn::{Activation, Layer, LayerKind};
use rlcore::space::Space;

/// A learner's configuration, layers and spaces.
pub type Made = (Config, Vec<Layer>, Space<'static>, Space<'static>);

/// A small learner of every algorithm, and of every part that learners are made of.
pub fn every() -> Vec<Made> {
    let own = |algorithm| Config { num_envs: 2, num_chunks: 2, ..Config::of(algorithm).hidden(&[6, 5]) };
    let on = |algorithm| Config { num_steps: 8, num_minibatches: 2, num_epochs: 2, total_steps: 400, ..own(algorithm) };
    let off = |algorithm| Config { train_interval: 6, gradient_steps: 2, ..own(algorithm).store(60, 8, 16) };
    let stream = |algorithm| Config { num_envs: 1, num_chunks: 1, ..own(algorithm) };
    let (obs, choices, numbers) = (Space::unbounded(4), Space::discrete(&[3, 2]), Space::unbounded(2));
    let gru = || vec![Layer::dense(5, Activation::Tanh), Layer::recurrent(LayerKind::Gru, 4)];
    let remembers = |c: Config| Config { num_layers: 2, sequence_len: 4, ..c };
    let weighted = |c: Config| Config { priority_exponent: 0.6, importance_steps: 100, ..c };
    let pictures = Config {
        obs_dims: [8, 8, 1],
        num_layers: 1,
        history_len: 20,
        reward_sequence_len: 2,
        policy_replay_coef: 0.1,
        value_replay_coef: 0.0,
        ..on(Algorithm::Unreal)
    };
    let conv = vec![Layer::conv(3, [3, 3], [2, 2], Activation::Relu)];
    let atoms = Config { dueling: 1, num_atoms: 5, value_min: -1.0, value_max: 1.0, noisy: 1, ..off(Algorithm::Dqn) };
    let frames = Config { obs_dims: [8, 8, 2], num_stacked: 2, num_layers: 1, ..weighted(off(Algorithm::Dqn)) };
    let tqc = Config { num_quantiles: 4, num_critics: 3, dropped_quantiles: 1, overlap: 1, ..off(Algorithm::Sac) };
    let shown = |c: Config| Config { demonstration_size: 6, imitation_coef: 0.5, ..c };
    vec![
        (Config { prime_interval: 3, ..remembers(on(Algorithm::Ppo)) }, gru(), obs, choices),
        (Config { overlap: 1, ..on(Algorithm::Ppo).normalized(1, 1) }, vec![], obs, numbers),
        (Config { num_shared: 1, hidden_norm: 1, ..on(Algorithm::A2c) }, vec![], obs, numbers),
        (Config { num_minibatches: 1, ..on(Algorithm::Impala) }, vec![], obs, choices),
        (pictures, conv.clone(), Space::bytes(64), Space::discrete(&[3])),
        (Config { use_action_mask: 1, ..on(Algorithm::Pqn) }, vec![], obs, choices),
        (atoms, vec![], obs, choices),
        (frames, conv, Space::bytes(128), choices),
        (remembers(weighted(off(Algorithm::Dqn))), gru(), obs, choices),
        (off(Algorithm::Td3).normalized(1, 1), vec![], obs, numbers),
        (tqc, vec![], obs, numbers),
        (Config { overlap: 1, ..weighted(off(Algorithm::Sac)) }, vec![], obs, choices),
        (stream(Algorithm::StreamAc), vec![], obs, numbers),
        (stream(Algorithm::StreamQ), vec![], obs, choices),
        (shown(on(Algorithm::A2c)), vec![], obs, numbers),
        (shown(weighted(off(Algorithm::Sac))), vec![], obs, numbers),
    ]
}
