//! The hyperparameters that each algorithm begins with.

use super::config::{Algorithm, Config};
use super::optimizer::Optimizer;

impl Config {
    /// The defaults of an algorithm. Those of A2C are Stable-Baselines3's, but for the number of environments and an entropy
    /// bonus of 0.01, which A3C has (Mnih et al. 2016); those of IMPALA are TorchBeast's; those of
    /// UNREAL are A2C's with those of miyosuda/unreal, whose losses are sums over 20 steps; those of TD3 and SAC are
    /// Stable-Baselines3's, but for smaller networks, a smaller store and a slower end of random actions; those of stream
    /// algorithms are the paper's, but for smaller networks.
    pub fn of(algorithm: Algorithm) -> Config {
        let ppo = Config { algorithm: algorithm as u32, ..Config::default() };
        match algorithm {
            Algorithm::Ppo => ppo,
            Algorithm::A2c => Config {
                num_steps: 5,
                num_minibatches: 1,
                num_epochs: 1,
                normalize_advantage: 0,
                learning_rate: 7e-4,
                gae_lambda: 1.0,
                value_coef: 1.0,
                optimizer: Optimizer::RmsProp as u32,
                ..ppo
            },
            Algorithm::Unreal => Config {
                num_steps: 20,
                max_grad_norm: 40.0,
                entropy_coef: 1e-3,
                value_coef: 0.5,
                pixel_control_coef: 0.05,
                reward_class_coef: 1.0,
                value_replay_coef: 0.5,
                pixel_control_discount: 0.9,
                history_len: 2000,
                pixel_cell: 2,
                reward_sequence_len: 3,
                reward_threshold: 0.1,
                algorithm: algorithm as u32,
                ..Config::of(Algorithm::A2c)
            },
            Algorithm::Impala => Config {
                num_steps: 80,
                learning_rate: 4.8e-4,
                value_coef: 0.5,
                entropy_coef: 6e-4,
                max_grad_norm: 40.0,
                adam_epsilon: 0.01,
                sum_losses: 1,
                algorithm: algorithm as u32,
                ..Config::of(Algorithm::A2c)
            },
            Algorithm::Dqn => Config {
                num_envs: 1,
                activation: 1,
                learning_rate_end: ppo.learning_rate,
                max_grad_norm: 10.0,
                huber: 1,
                double_q: 1,
                target_interval: 500,
                target_rate: 1.0,
                ..ppo
            },
            Algorithm::Td3 => Config {
                num_envs: 1,
                activation: 1,
                squash: 1,
                learning_rate: 1e-3,
                learning_rate_end: 1e-3,
                max_grad_norm: 0.0,
                batch_size: 256,
                target_interval: 2,
                policy_interval: 2,
                exploration_steps: 1000,
                exploration_end: 0.0,
                ..ppo
            },
            Algorithm::Sac => Config {
                learning_rate: 3e-4,
                learning_rate_end: 3e-4,
                target_interval: 1,
                policy_interval: 1,
                algorithm: algorithm as u32,
                ..Config::of(Algorithm::Td3)
            },
            Algorithm::StreamAc | Algorithm::StreamQ => Config {
                num_envs: 1,
                num_steps: 1,
                num_minibatches: 1,
                num_epochs: 1,
                activation: 2,
                normalize_advantage: 0,
                normalize_obs: 1,
                normalize_reward: 1,
                learning_rate: 1.0,
                learning_rate_end: 1.0,
                gae_lambda: 0.8,
                max_grad_norm: 0.0,
                exploration_end: 0.01,
                hidden_norm: 1,
                ..ppo
            },
            Algorithm::Pqn => Config {
                num_steps: 32,
                activation: 1,
                normalize_advantage: 0,
                gae_lambda: 0.65,
                entropy_coef: 0.0,
                max_grad_norm: 10.0,
                hidden_norm: 1,
                optimizer: Optimizer::AdamRectified as u32,
                ..ppo
            },
        }
    }
}
