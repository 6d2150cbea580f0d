//! Configurations known by name: the numbers of other packages.

use super::config::{Algorithm, Config};
use crate::nn;

/// Hands the table of configurations known by name to a macro.
///
/// A row is `sentence, name in C = number, name: algorithm, network { field = value, .. }`, without the fields whose values are
/// the algorithm's defaults. The network is one of [`nn::Preset`], or `Own` for hidden layers alone. Numbers are never reused.
#[macro_export]
macro_rules! preset_table {
    ($to:ident) => {
        $to! {
            /// FCAgent of src.ppo with its OnlineTrainConfig; its command line has other defaults. The rate is constant, which the
            /// tuple there was meant to say. Its agents with an LSTM or a transformer also need layers, as of rlcore_net_preset,
            /// and sequence_len
            RLCORE_PRESET_SRC_PPO = 1, SrcPpo: Ppo, Own {
                total_steps = 180_000,
                learning_rate_end = 2.5e-4,
                max_grad_norm = 2.0,
                entropy_coef = 0.2,
                clip = 0.4,
                clip_end = 0.4,
            }
            /// A3C of btgym with BaseAacPolicy, for each worker and for the server: pictures of 42 x 42, noisy heads, Adam as in
            /// TensorFlow, a constant rate. Left to the host: processes, and the last action and reward beside the picture
            /// (obs_fields, layers of its own). Logits are not normalized
            RLCORE_PRESET_BTGYM_A3C = 2, BtgymA3c: A2c, Btgym42 {
                total_steps = 10_000_000,
                num_envs = 1,
                learning_rate = 1e-4,
                learning_rate_end = 1e-4,
                num_hidden = 0,
                obs_dims = [42, 42, 1],
                noisy = 1,
                optimizer = 1,
                max_grad_norm = 40.0,
                num_steps = 20,
                sequence_len = 20,
            }
            /// Unreal of btgym: the same with settings of its tasks, which are off there too. btgym's weight of a task that is on
            /// is 1: pixel_control_coef, reward_class_coef, and value_replay_coef or policy_replay_coef
            RLCORE_PRESET_BTGYM_UNREAL = 3, BtgymUnreal: Unreal, Btgym42 {
                total_steps = 10_000_000,
                num_envs = 1,
                learning_rate = 1e-4,
                learning_rate_end = 1e-4,
                num_hidden = 0,
                obs_dims = [42, 42, 1],
                noisy = 1,
                optimizer = 1,
                sequence_len = 20,
                value_coef = 1.0,
                entropy_coef = 0.01,
                pixel_control_coef = 0.0,
                reward_class_coef = 0.0,
                value_replay_coef = 0.0,
                pixel_control_discount = 0.0,
                history_starts = 2000,
            }
            /// PPO of btgym: the same without tasks, with ratios to a copy of the parameters (prime_interval), which is made when
            /// an update begins; btgym's is that of the update before. btgym's clip decays with its rate: where the rate is to
            /// decay, set clip_end with learning_rate_end
            RLCORE_PRESET_BTGYM_PPO = 4, BtgymPpo: Ppo, Btgym42 {
                total_steps = 10_000_000,
                num_envs = 1,
                learning_rate = 1e-4,
                learning_rate_end = 1e-4,
                num_hidden = 0,
                obs_dims = [42, 42, 1],
                noisy = 1,
                optimizer = 1,
                max_grad_norm = 40.0,
                num_steps = 20,
                num_minibatches = 1,
                num_epochs = 1,
                sequence_len = 20,
                gae_lambda = 1.0,
                normalize_advantage = 0,
                value_coef = 2.0,
                clip = 0.1,
                clip_end = 0.1,
                prime_interval = 1,
            }
            /// Learner of pytorch_seed_rl, which is IMPALA: minibatches of 4 rollouts, 2 actors with 8 environments each, whole
            /// squared errors of values. Left to the host: actors, and the last action and reward beside the picture. Its
            /// convolutions are leaky
            RLCORE_PRESET_SEED_RL = 5, SeedRl: Impala, Nature {
                total_steps = 100_000,
                num_envs = 16,
                learning_rate = 6e-4,
                num_hidden = 0,
                obs_dims = [84, 84, 4],
                adam_epsilon = 1e-8,
                num_minibatches = 4,
                value_coef = 2.0,
                entropy_coef = 0.01,
                reward_min = -1.0,
                reward_max = 1.0,
            }
            /// ppo.py of CleanRL
            RLCORE_PRESET_CLEANRL_PPO = 6, CleanRlPpo: Ppo, Own {
                total_steps = 500_000,
                value_clip = 0.2,
            }
            /// ppo_atari.py of CleanRL; wrappers are left to the host: rlcore_wrappers_atari
            RLCORE_PRESET_CLEANRL_PPO_ATARI = 7, CleanRlPpoAtari: Ppo, Nature {
                total_steps = 10_000_000,
                num_envs = 8,
                num_hidden = 0,
                obs_dims = [84, 84, 4],
                value_clip = 0.1,
                clip = 0.1,
                clip_end = 0.1,
            }
            /// dqn.py of CleanRL. Its targets move every 500 environment steps, which are 50 gradient steps
            RLCORE_PRESET_CLEANRL_DQN = 8, CleanRlDqn: Dqn, Own {
                total_steps = 500_000,
                hidden_len = [120, 84, 0, 0],
                exploration_steps = 250_000,
                max_grad_norm = 0.0,
                adam_epsilon = 1e-8,
                buffer_size = 10_000,
                learning_starts = 10_000,
                train_interval = 10,
                target_interval = 50,
                huber = 0,
                double_q = 0,
            }
            /// PPO for CartPole-v1 of RL Baselines3 Zoo, which adds to the defaults of Stable-Baselines3
            RLCORE_PRESET_ZOO_PPO_CARTPOLE = 9, ZooPpoCartPole: Ppo, Own {
                total_steps = 100_000,
                num_envs = 8,
                discount = 0.98,
                learning_rate = 1e-3,
                num_steps = 32,
                num_minibatches = 1,
                num_epochs = 20,
                gae_lambda = 0.8,
                value_coef = 1.0,
                entropy_coef = 0.0,
                clip_end = 0.0,
            }
            /// PPO for Atari of the Zoo; wrappers are left to the host
            RLCORE_PRESET_ZOO_PPO_ATARI = 10, ZooPpoAtari: Ppo, Nature {
                total_steps = 10_000_000,
                num_envs = 8,
                num_hidden = 0,
                obs_dims = [84, 84, 4],
                value_coef = 1.0,
                clip = 0.1,
                clip_end = 0.0,
            }
            /// A2C for CartPole-v1 of the Zoo
            RLCORE_PRESET_ZOO_A2C_CARTPOLE = 11, ZooA2cCartPole: A2c, Own {
                total_steps = 500_000,
                num_envs = 8,
                learning_rate_end = 7e-4,
                entropy_coef = 0.0,
            }
            /// DQN for CartPole-v1 of the Zoo. Its targets move every 10 environment steps, but parameters only after 256 of them,
            /// by 128 gradient steps: so targets move once an update
            RLCORE_PRESET_ZOO_DQN_CARTPOLE = 12, ZooDqnCartPole: Dqn, Own {
                total_steps = 50_000,
                learning_rate = 2.3e-3,
                learning_rate_end = 2.3e-3,
                hidden_len = [256, 256, 0, 0],
                exploration_steps = 8000,
                exploration_end = 0.04,
                adam_epsilon = 1e-8,
                batch_size = 64,
                train_interval = 256,
                gradient_steps = 128,
                target_interval = 128,
                double_q = 0,
            }
            /// QR-DQN for CartPole-v1 of the Zoo; targets as with DQN
            RLCORE_PRESET_ZOO_QR_DQN_CARTPOLE = 13, ZooQrDqnCartPole: Dqn, Own {
                total_steps = 50_000,
                learning_rate = 2.3e-3,
                learning_rate_end = 2.3e-3,
                hidden_len = [256, 256, 0, 0],
                exploration_steps = 8000,
                exploration_end = 0.04,
                max_grad_norm = 0.0,
                adam_epsilon = 1.5625e-4,
                batch_size = 64,
                train_interval = 256,
                gradient_steps = 128,
                target_interval = 128,
                num_quantiles = 10,
                double_q = 0,
            }
            /// TD3 for Pendulum of the Zoo, which takes as many gradient steps after an episode as it had steps; here one after
            /// each step. Random actions get rarer over exploration_steps; in the Zoo they end then
            RLCORE_PRESET_ZOO_TD3_PENDULUM = 14, ZooTd3Pendulum: Td3, Own {
                total_steps = 20_000,
                discount = 0.98,
                hidden_len = [400, 300, 0, 0],
                exploration_steps = 10_000,
                adam_epsilon = 1e-8,
                buffer_size = 200_000,
                batch_size = 100,
                learning_starts = 10_000,
            }
            /// SAC for Pendulum of the Zoo; random actions as with TD3
            RLCORE_PRESET_ZOO_SAC_PENDULUM = 15, ZooSacPendulum: Sac, Own {
                total_steps = 20_000,
                learning_rate = 1e-3,
                learning_rate_end = 1e-3,
                hidden_len = [256, 256, 0, 0],
                exploration_steps = 100,
                adam_epsilon = 1e-8,
                buffer_size = 1_000_000,
                learning_starts = 100,
                temperature_rate = 1e-3,
            }
        }
    };
}

/// The network of a row.
macro_rules! network {
    (Own) => {
        None
    };
    ($net:ident) => {
        Some(nn::Preset::$net)
    };
}

macro_rules! presets {
    ($(
        $(#[doc = $sentence:literal])+
        $id:ident = $number:literal, $name:ident: $algorithm:ident, $net:ident { $($field:ident = $value:expr,)* }
    )+) => {
        /// A configuration known by name: the rows of [`preset_table`](crate::preset_table).
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u32)]
        pub enum Preset {
            $($(#[doc = $sentence])+ $name = $number,)+
        }

        impl Preset {
            /// The preset with this number; `None` if this build does not have its algorithm.
            pub fn new(number: u32) -> Option<Preset> {
                match number {
                    $($number => Algorithm::from_number(Algorithm::$algorithm as u32).map(|_| Preset::$name),)+
                    _ => None,
                }
            }

            /// The configuration, without the layers of [`Preset::net`].
            pub fn config(self) -> Config {
                match self {
                    $(Preset::$name => Config { $($field: $value,)* ..Config::of(Algorithm::$algorithm) },)+
                }
            }

            /// The network whose layers come first; `None` if hidden layers are all that there is.
            pub const fn net(self) -> Option<nn::Preset> {
                match self {
                    $(Preset::$name => network!($net),)+
                }
            }
        }
    };
}

preset_table!(presets);
