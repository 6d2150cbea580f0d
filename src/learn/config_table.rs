//! The table of a learner's configuration: one row for each field, grouped by who reads it.
//!
//! `learner_config_table!(f)` hands all rows to the macro `f`. The core makes of them [`Config`](super::Config), its defaults and
//! its checks; the C interface its structure, header and bindings; tests the lists of what to try.
//!
//! A row is `sentence, name: type [values] = default, algorithm => its default; readers, "condition" => holds;`:
//! - values: `any`; `flag`, 0 or 1; `at least a`; `a to b`; `above 0`, and `above 0 to b`; `below 1`, from 0; `finite`; or
//!   `name of` an enumeration of the header.
//! - readers: a set of algorithms of [`config_fields`](super::config_fields). The others want the default.
//! - a condition: without it the field is not read, as defaults are. What a host has turned off by a weight of 0, say, may keep
//!   its value.

/// Hands the table of a learner's configuration to a macro.
#[macro_export]
macro_rules! learner_config_table {
    ($to:ident) => {
        $to! {
            "every algorithm" ALL {
                /// all random numbers come from this; each environment has a stream of its own
                seed: u64 [any] = 1; ALL;
                /// environment steps until the _end values are reached; 0: never
                total_steps: u64 [any] = 0; ALL;
                /// as rlcore_learner_config_init was told
                algorithm: u32 [rlcore_algorithm of] = 0; ALL;
                /// N, environments that share the learner
                num_envs: u32 [at least 1] = 4, Dqn | Td3 | Sac | StreamAc | StreamQ => 1; ALL;
                /// discount factor
                discount: f32 [0 to 1] = 0.99; ALL;
                /// observe takes how long decisions lasted, in steps of any unit, and each is discounted by the power of discount:
                /// agents that decide every frame and agents that decide every fifth share a learner (a semi-Markov process). The
                /// host sums the rewards of a decision
                use_duration: u32 [flag] = 0; ALL;
                /// rewards below this count as this, before anything else reads them, also those of transitions that a host gives
                /// without discounts; returns in statistics have them as they are. -1 and 1 as for Atari; both 0: off
                reward_min: f32 [finite] = 0.0; ALL;
                /// rewards above this count as this; above reward_min, unless both are 0
                reward_max: f32 [finite] = 0.0; ALL;
                /// step size at the start
                learning_rate: f32 [0 to 1]
                    = 2.5e-4, A2c | Unreal => 7e-4, Impala => 4.8e-4, Td3 => 1e-3, Sac => 3e-4, StreamAc | StreamQ => 1.0; ALL;
                /// step size at total_steps
                learning_rate_end: f32 [0 to 1]
                    = 0.0, Dqn => 2.5e-4, Td3 => 1e-3, Sac => 3e-4, StreamAc | StreamQ => 1.0; ALL,
                    "total_steps above 0" => |c, _| c.total_steps > 0 || c.learning_rate_end == c.learning_rate;
                /// calls that act, observe, learn or tell values take masks of allowed choices
                use_action_mask: u32 [flag] = 0; ALL;
                /// chunks that each minibatch is divided into, at most one per row: the smallest slices of learning; their
                /// gradients are added as a binary tree in the order of the chunks
                num_chunks: u32 [at least 1] = 1; ALL;
                /// environments can act and be observed while an update runs; the policy from before the update acts, off policy
                /// until the next update begins. Needs memory for a second rollout, off policy room in the store for
                /// num_envs * (n_step + 1) + train_interval transitions, and a second set of parameters
                overlap: u32 [flag] = 0; OVERLAPS,
                    "a store of the learner's own, or rollouts" => |c, _| c.buffer_size > 0 || !c.needs().replay;
            }
            "the network" ALL {
                /// hidden layers of the policy and of the value network
                num_hidden: u32 [0 to 4] = 2; ALL;
                /// units of each hidden layer; ignored beyond num_hidden
                hidden_len: [u32; 4] [any] = [64, 64, 0, 0]; ALL;
                /// of hidden layers
                activation: u32 [rlcore_activation of] = 0, Dqn | Td3 | Sac | Pqn => 1, StreamAc | StreamQ => 6; ALL;
                /// hidden layers are normalized before their activation, each row on its own; stream algorithms do it without
                /// scales and biases
                hidden_norm: u32 [flag] = 0, Pqn | StreamAc | StreamQ => 1; ALL;
                /// entries of layers, up to 64
                num_layers: u32 [any] = 0; ALL;
                /// height, width and channels of an observation that is a picture, in this order in memory; their product is obs.len.
                /// Where obs_fields lists fields with axes, as rlcore_env_fields does of wrappers, others are refused. Of several
                /// fields the first is the picture, whose own axes these are, or 0: rollouts keep its bytes as they are, and
                /// num_stacked and pixel control are about it. The layers of TD3's and SAC's critics read the picture alone, and
                /// continuous actions follow the last one. 0: the observation is no picture, or one field of obs_fields is, and
                /// critics read continuous actions behind it
                obs_dims: [u32; 3] [any] = [0, 0, 0]; ALL,
                    "layers, num_stacked or pixel_control_coef" => |c, _| c.num_layers | c.num_stacked > 0 || c.tasks()[0];
                /// frames in an observation of RLCORE_U8, or in the first field of others, up to 16, stacked along its last axis, or
                /// along its channels with RLCORE_FIELD_CHANNELS_FIRST, the newest last. A rollout then
                /// stores each frame once: 7.5 KB instead of 28 KB for 84 x 84 x 4. The older frames are those of the environment's
                /// previous observation, shifted, or copies of the newest frame or zeros, as at the start of an episode. Others take
                /// room: RLCORE_WRAP_FRAME_STACK around RLCORE_WRAP_EPISODIC_LIFE adds one with each life, whose first step no
                /// observation shows. A rollout has room for one of them per environment and per 16 transitions; more are
                /// RLCORE_E_VALUE. An environment's first observation in a rollout may have any frames. Off policy
                /// the store keeps each frame once, for 7.2 KB instead of 56 KB a transition; the first observation of an episode may
                /// have any frames, and final_obs follows the one before it. There is room for buffer_size frames, 1 / 128 of that
                /// more and some for each environment: where most episodes are truncated within 256 steps, fewer transitions than
                /// buffer_size may be kept, the newest ones. Not with normalize_obs. 0: observations are stored whole
                num_stacked: u32 [any] = 0; ALL;
                /// first hidden layers that the policy and the value network share, 0 to num_hidden; DQN shares them between the
                /// value of an observation and the advantages of choices
                num_shared: u32 [any] = 0; SHARED, "dueling" => |c, _| c.algorithm() != Algorithm::Dqn || c.dueling != 0;
                /// the listed layer that the policy reads, counted from 1, while the values and pixel control read the last one. Not
                /// with num_shared, whose layers both read. 0: both read the last one
                policy_layer: u32 [any] = 0; ACTOR_CRITIC;
                /// hidden layers and heads are noisy (RLCORE_LAYER_NOISY, RLCORE_INIT_UNIFORM), and their noise explores. It is drawn
                /// once per rollout, and the update uses the noise that acted. DQN draws it for each gradient step, the same for Q
                /// and its target, and acts with it until the next; exploration_start and exploration_end can then be 0. Exported
                /// policies and rlcore_learner_predict have none. Not with overlap; rlcore_learner_learn_batch then works with IMPALA
                /// only
                noisy: u32 [flag] = 0; NOISE;
                /// continuous actions are mapped to their bounds by tanh; 0: they are clipped
                squash: u32 [flag] = 0, Td3 | Sac => 1; ALL, "continuous actions" => |_, s| s.std_len() > 0;
                /// initial logarithm of the standard deviation of continuous actions
                log_std_init: f32 [any] = 0.0; ENTROPY, "continuous actions" => |_, s| s.std_len() > 0;
                /// lower limit of the logarithms of standard deviations
                log_std_min: f32 [-40 to 40] = -20.0; LEAST_SPREAD, "continuous actions" => |_, s| s.std_len() > 0;
                /// upper limit of the logarithms of standard deviations, at least log_std_min
                log_std_max: f32 [-40 to 40] = 2.0; SPREAD, "continuous actions" => |_, s| s.std_len() > 0;
            }
            "normalization" ALL {
                /// observations are scaled to mean 0 and deviation 1 by running statistics. Off policy the store keeps them as they
                /// come, and each gradient step scales them by the statistics of the update, during which these do not change
                normalize_obs: u32 [flag] = 0, StreamAc | StreamQ => 1; ALL;
                /// normalized observations are clipped to plus or minus this
                obs_clip: f32 [above 0] = 10.0; ALL, "normalize_obs" => |c, _| c.normalize_obs != 0;
                /// rewards are divided by the running deviation of the discounted return; off policy where a gradient step reads
                /// them, which are sums of n_step rewards
                normalize_reward: u32 [flag] = 0, StreamAc | StreamQ => 1; ALL;
                /// normalized rewards are clipped to plus or minus this
                reward_clip: f32 [above 0] = 10.0; ALL, "normalize_reward" => |c, _| c.normalize_reward != 0;
            }
            "exploration" EXPLORES {
                /// environment steps to exploration_end
                exploration_steps: u32 [any] = 10_000, Td3 | Sac => 1000; EXPLORES;
                /// probability of a random action at the start
                exploration_start: f32 [0 to 1] = 1.0; EXPLORES;
                /// the same from exploration_steps on
                exploration_end: f32 [0 to 1] = 0.05, Td3 | Sac => 0.0, StreamQ => 0.01; EXPLORES;
            }
            "the optimizer" OPTIMIZER {
                /// how parameters move along gradients
                optimizer: u32 [rlcore_optimizer of] = 0, A2c | Unreal | Impala => 2, Pqn => 5; OPTIMIZER;
                /// gradients are scaled down to this norm; 0: off
                max_grad_norm: f32 [at least 0] = 0.5, Unreal | Impala => 40.0, Dqn | Pqn => 10.0, Td3 | Sac => 0.0; OPTIMIZER;
                /// decay of Adam's first moment
                adam_beta1: f32 [below 1] = 0.9; OPTIMIZER, "an optimizer that is Adam" => |c, _| !c.has_rms_prop();
                /// decay of Adam's second moment, at least the square of adam_beta1: with less a step has no bound
                adam_beta2: f32 [below 1] = 0.999; OPTIMIZER, "an optimizer that is Adam" => |c, _| !c.has_rms_prop();
                /// epsilon of the optimizer
                adam_epsilon: f32 [1e-12 to 1] = 1e-5, Impala => 0.01; OPTIMIZER;
                /// decay of RMSProp's mean squares
                rms_decay: f32 [below 1] = 0.99; OPTIMIZER, "an optimizer that is RMSProp" => |c, _| c.has_rms_prop();
                /// part of its last step that RMSProp takes again; 0 if centered
                rms_momentum: f32 [below 1] = 0.0; OPTIMIZER, "an optimizer that is RMSProp" => |c, _| c.has_rms_prop();
                /// losses are sums over a minibatch instead of means
                sum_losses: u32 [flag] = 0, Impala => 1; ROLLOUT;
            }
            "learning on policy" ON_POLICY {
                /// T, steps of every environment in one rollout
                num_steps: u32 [at least 1]
                    = 128, A2c => 5, Unreal => 20, Impala => 80, Pqn => 32, StreamAc | StreamQ => 1; ON_POLICY;
                /// parts of a rollout, each a minibatch; T * N must be a multiple of it
                num_minibatches: u32 [at least 1] = 4, A2c | Unreal | Impala | StreamAc | StreamQ => 1; ON_POLICY;
                /// passes over each rollout
                num_epochs: u32 [1 to 1000] = 4, A2c | Unreal | Impala | StreamAc | StreamQ => 1; ON_POLICY;
                /// steps of the sequences that recurrent layers learn from, which num_steps and the rows of a minibatch, or
                /// batch_size, are multiples of; at least 1 exactly if there are such layers. Without them IMPALA learns from whole
                /// rollouts of each environment. Off policy a sequence has steps of one environment that follow one another in the
                /// store, over the ends of episodes, where states are cut; the transitions that are drawn are the last ones of
                /// sequences, with all of n_step. The store keeps the recurrent state of each transition; critics start from zeros
                sequence_len: u32 [any] = 0; ALL;
                /// steps before each sequence that recurrent layers first run through without a loss, so that the sequence starts
                /// from a state computed with the current parameters. Fewer where the episode or the rollout begins. At most
                /// num_steps - sequence_len, or buffer_size; 0: sequences start from the states that were recorded
                burn_in: u32 [any] = 0; OPTIMIZER;
                /// lambda of GAE, V-trace, Q(lambda) and eligibility traces
                gae_lambda: f32 [0 to 1] = 0.95, A2c | Unreal | Impala => 1.0, Pqn => 0.65, StreamAc | StreamQ => 0.8; ON_POLICY;
                /// precision that advantages are summed in
                accumulate: u32 [rlcore_accumulate of] = 0; ON_POLICY;
                /// advantages get mean 0 and deviation 1 in each minibatch, divided by the sample deviation, of n - 1
                normalize_advantage: u32 [flag] = 1, A2c | Unreal | Impala | Pqn | StreamAc | StreamQ => 0; ADVANTAGE;
                /// weight of the value loss, half the mean squared error
                value_coef: f32 [at least 0] = 0.5, A2c => 1.0; ACTOR_CRITIC;
                /// values are clipped to those of the rollout plus or minus this; 0: off
                value_clip: f32 [at least 0] = 0.0; ACTOR_CRITIC;
                /// weight of the entropy bonus at the start
                entropy_coef: f32 [finite] = 0.01, Unreal => 1e-3, Impala => 6e-4; ENTROPY;
                /// part of entropy_coef that is left at total_steps, on a straight line; 1: entropy_coef stays as it is
                entropy_share_end: f32 [0 to 1] = 1.0; ENTROPY, "total_steps above 0" => |c, _| c.total_steps > 0;
                /// an update ends once its approximate KL divergence passes 1.5 times this; 0: off
                target_kl: f32 [at least 0] = 0.0; ACTOR_CRITIC;
            }
            "PPO" PPO {
                /// probability ratios are clipped to 1 plus or minus this at the start
                clip: f32 [above 0 to 10] = 0.2; PPO;
                /// the same at total_steps
                clip_end: f32 [0 to 10] = 0.2; PPO, "total_steps above 0" => |c, _| c.total_steps > 0 || c.clip_end == c.clip;
                /// updates from one refresh to the next of a copy of the parameters. An update that refreshes it does so when it
                /// begins; the copy's log-probabilities then stand in for the recorded ones in ratios, approx_kl and clip_fraction.
                /// A copy has the noise that the parameters had. 0: there is none
                prime_interval: u32 [any] = 0; PPO;
            }
            "IMPALA" IMPALA {
                /// V-trace: probability ratios that scale temporal differences are clipped to this
                clip_rho: f32 [above 0] = 1.0; IMPALA;
                /// V-trace: probability ratios that carry later differences back are clipped to this
                clip_c: f32 [above 0] = 1.0; IMPALA;
                /// V-trace: probability ratios that scale advantages are clipped to this
                clip_pg_rho: f32 [above 0] = 1.0; IMPALA;
                /// V-trace: how much of what the three clips cut off still counts
                leak: f32 [0 to 1] = 0.0; IMPALA;
            }
            "auxiliary tasks" TASKS {
                /// weight of pixel control, the squared error of how much cells of the picture change, summed over cells; it needs
                /// actions of one choice, and a picture. 0: off, without such a head
                pixel_control_coef: f32 [at least 0] = 0.0, Unreal => 0.05; TASKS;
                /// weight of the prediction of the next reward's sign, a cross-entropy; 0: off, without such a head
                reward_class_coef: f32 [at least 0] = 0.0, Unreal => 1.0; TASKS;
                /// weight of the squared error of values on past steps; 0: off
                value_replay_coef: f32 [at least 0] = 0.0, Unreal => 0.5; TASKS;
                /// weight of the algorithm's own loss on past steps. UNREAL: A2C's, whose advantages come from the values recorded with
                /// them; as in btgym, nothing corrects for the older policies that chose the actions. PPO: the same with the clipped
                /// ratios to the log-probabilities that were recorded, or with prime_interval to those of the copy; advantages stay as
                /// they are. IMPALA: corrected by V-trace. value_replay_coef must be 0 then; 0: off
                policy_replay_coef: f32 [at least 0] = 0.0; TASKS;
                /// discount of pixel changes; 0: only the next change counts. With num_stacked only the newest frame's changes do
                pixel_control_discount: f32 [0 to 1] = 0.9; TASKS,
                    "pixel_control_coef above 0" => |c, _| c.reads_tasks(0..1);
                /// side of a cell, at least 1; half of it is cropped on each side
                pixel_cell: u32 [any] = 2; TASKS,
                    "pixel_control_coef above 0" => |c, _| c.reads_tasks(0..1);
                /// change of a cell: 0: the largest of its pixels, 1: their mean
                pixel_mean: u32 [flag] = 0; TASKS, "pixel_control_coef above 0" => |c, _| c.reads_tasks(0..1);
                /// observations that a reward is predicted from, 1 to 16, the last of which it follows
                reward_sequence_len: u32 [any] = 3; TASKS,
                    "reward_class_coef above 0" => |c, _| c.reads_tasks(1..2);
                /// rewards are positive above this, and negative below its negative
                reward_threshold: f32 [at least 0] = 0.1; TASKS,
                    "reward_class_coef above 0" => |c, _| c.reads_tasks(1..2);
                /// last steps of each environment that are kept for these tasks, more than a sequence has. Bytes stay bytes, states
                /// of recurrent layers are kept too, and with num_stacked whole stacks. An update begins by keeping its steps
                history_len: u32 [any] = 2000; TASKS, "auxiliary tasks" => |c, _| c.reads_tasks(0..4);
                /// steps of an environment that must be kept before these tasks draw from them, up to history_len, which is what
                /// btgym waits for; the algorithm learns from the start. 0: one more than a sequence has
                history_starts: u32 [any] = 0; TASKS, "auxiliary tasks" => |c, _| c.reads_tasks(0..4);
                /// sequences of past steps, of sequence_len or else num_steps each, and rewards to predict, per minibatch; 0: as many
                /// steps as the minibatch has
                num_replayed: u32 [any] = 0; TASKS, "auxiliary tasks" => |c, _| c.reads_tasks(0..4);
            }
            "stream algorithms" STREAM {
                /// bounds the steps of the policy's parameters: they are at most the error times the trace over kappa_policy *
                /// max(|error|, 1) * the sum of absolute values of the trace; 0: no bound
                kappa_policy: f32 [at least 0] = 3.0; STREAM_AC;
                /// the same for the parameters of the value, or of Q
                kappa_value: f32 [at least 0] = 2.0; STREAM;
            }
            "demonstrations" KEEPS {
                /// demonstrated steps that are kept for good, the first ones of rlcore_learner_demonstrate; later ones are as other
                /// transitions off policy, and are left out on policy. Off policy their transitions lie beside those of
                /// buffer_size, where nothing overwrites them, num_stacked must be 0, and n_step rewards may go on with the
                /// learner's own steps. On policy observations and actions are kept, for imitation_coef, without recurrent
                /// layers. 0: none
                demonstration_size: u32 [0 to 100000000] = 0; KEEPS;
                /// part of the transitions of each batch, or with recurrent layers of its sequences, rounded to the nearest number,
                /// that is drawn from kept demonstrations, while there are any; all, while there is nothing else. With
                /// priority_exponent each part is drawn by its own priorities, and importance is relative to its own least one. On
                /// policy so many rows, as a part of those of a minibatch, are drawn beside it, uniformly
                demonstration_share: f32 [0 to 1] = 0.25; KEEPS, "demonstration_size above 0" => |c, _| c.demonstration_size > 0;
                /// weight, at the start, of the loss of rlcore_learner_imitate on the kept demonstrations of a batch, the mean over
                /// them, beside the algorithm's own loss: of Q, or of the policy. TD3 divides values by their mean size in the batch
                /// then, as TD3+BC does, where this is 1 / alpha. It is not weighted by importance. 0: off
                imitation_coef: f32 [at least 0] = 0.0; KEEPS, "demonstration_size above 0" => |c, _| c.demonstration_size > 0;
                /// the same at total_steps, on a straight line
                imitation_coef_end: f32 [at least 0] = 0.0; KEEPS,
                    "demonstration_size above 0" => |c, _| c.demonstration_size > 0,
                    "total_steps above 0" => |c, _| c.total_steps > 0;
                /// distance that Q of a demonstrated choice is to keep from that of every other one
                imitation_margin: f32 [above 0] = 0.8; MARGINS,
                    "demonstration_size above 0" => |c, _| c.demonstration_size > 0;
                /// standard deviations learn from demonstrations too, not the means alone
                imitation_fit_std: u32 [flag] = 0; SPREADS, "continuous actions" => |_, s| s.std_len() > 0,
                    "demonstration_size above 0" => |c, _| c.demonstration_size > 0;
            }
            "learning off policy" OFF_POLICY {
                /// transitions kept, at least batch_size; or 0: none, it learns by rlcore_learner_learn_transitions alone
                buffer_size: u32 [any] = 100_000; OFF_POLICY;
                /// transitions of a gradient step, divided into num_chunks chunks
                batch_size: u32 [at least 1] = 128, Td3 | Sac => 256; OFF_POLICY;
                /// environment steps before the first update
                learning_starts: u32 [any] = 1000; OFF_POLICY;
                /// environment steps from one update to the next
                train_interval: u32 [at least 1] = 1; OFF_POLICY;
                /// gradient steps of an update
                gradient_steps: u32 [1 to 10000] = 1; OFF_POLICY;
                /// gradient steps from one move of the target networks to the next
                target_interval: u32 [at least 1] = 1, Dqn => 500, Td3 => 2; OFF_POLICY;
                /// how far the target networks move; 1 copies
                target_rate: f32 [above 0 to 1] = 0.005, Dqn => 1.0; OFF_POLICY;
                /// steps n whose discounted rewards are summed before the value of the next observation counts, up to buffer_size;
                /// fewer where an episode ends. What older policies did is not corrected for. num_envs * n_step transitions lie
                /// beside the buffer until they are complete
                n_step: u32 [at least 1] = 1; OFF_POLICY;
                /// errors count linearly beyond 1, and half their squares within; 0: whole squares everywhere, whose gradients are
                /// twice as large within 1
                huber: u32 [flag] = 0, Dqn => 1; OFF_POLICY;
                /// how far the distances of values from their targets decide which transitions are drawn, from 0, all alike, to 1, in
                /// proportion
                priority_exponent: f32 [0 to 1] = 0.0; OFF_POLICY;
                /// share of the largest distance of a sequence's steps in that of the sequence; the rest is their mean
                priority_max_share: f32 [0 to 1] = 0.9; OFF_POLICY, "priority_exponent above 0 and recurrent layers" => |c, _| {
                    c.priority_exponent > 0.0 && c.sequence_len > 0
                };
                /// how far what is drawn more often counts less at the start
                importance_exponent: f32 [0 to 1] = 0.4; OFF_POLICY, "priority_exponent above 0" => |c, _| c.priority_exponent > 0.0;
                /// environment steps after which that is 1; 0: it stays as it is
                importance_steps: u32 [any] = 0; OFF_POLICY, "priority_exponent above 0" => |c, _| c.priority_exponent > 0.0;
                /// quantiles of the distribution of returns that DQN learns for each choice (QR-DQN), or that each of SAC's critics
                /// learns (TQC), 2 to 256. Values are their means. With huber errors count linearly only beyond 1; 0: values alone
                num_quantiles: u32 [any] = 0; QUANTILES;
            }
            "DQN" DQN {
                /// the network chooses the next action whose value the target network gives
                double_q: u32 [flag] = 0, Dqn => 1; DQN;
                /// separate outputs for the value of an observation and the advantages of actions
                dueling: u32 [flag] = 0; DQN;
                /// atoms of the distribution of returns that it learns for each choice (C51), 2 to 256; 51 in the paper. Priorities
                /// are Kullback-Leibler divergences then, huber is not read. Not with num_quantiles; 0: off
                num_atoms: u32 [any] = 0; DQN;
                /// the lowest atom; returns below it count as this
                value_min: f32 [-1e6 to 1e6] = -10.0; DQN, "num_atoms above 0" => |c, _| c.num_atoms > 0;
                /// the highest atom; returns above it count as this
                value_max: f32 [-1e6 to 1e6] = 10.0; DQN, "num_atoms above 0" => |c, _| c.num_atoms > 0;
            }
            "TD3 and SAC" CRITICS {
                /// critics, 1 or 2, the lower of which counts; with num_quantiles to 8
                num_critics: u32 [1 to 8] = 2; CRITICS;
                /// step size of the critics, relative to learning_rate
                critic_rate: f32 [0 to 1000] = 1.0; CRITICS;
                /// gradient steps of the critics for each one of the policy
                policy_interval: u32 [at least 1] = 1, Td3 => 2; CRITICS;
                /// standard deviation of the noise on actions, which are -1 to 1 here
                exploration_noise: f32 [at least 0] = 0.1; TD3;
                /// the same for the noise on next actions in the critics' targets
                target_noise: f32 [at least 0] = 0.2; TD3;
                /// the noise in targets is clipped to plus or minus this
                target_noise_clip: f32 [at least 0] = 0.5; TD3;
                /// weight of the entropy, in nats, at the start
                temperature: f32 [1e-8 to 1e8] = 1.0; SAC;
                /// step size of the logarithm of the temperature; 0: it is constant
                temperature_rate: f32 [0 to 1] = 3e-4; SAC;
                /// entropy that the temperature aims at. With continuous actions in nats for each number of an action, at most ln 2.
                /// With discrete ones a share, from 0 to 1, of the most that each element's allowed choices can have, ln of their
                /// number, averaged over the batch; a number below 0 means half. A row that allows one choice has entropy and target
                /// 0. Of a structure with both the targets are added, and it is at most ln 2
                target_entropy: f32 [finite] = -1.0; SAC;
                /// with num_quantiles: targets are the quantiles of all critics without the highest, this many for each critic; below
                /// num_quantiles. The critics, up to 8 then, are averaged, not the lowest taken
                dropped_quantiles: u32 [any] = 0; SAC, "num_quantiles above 0" => |c, _| c.num_quantiles > 0;
            }
        }
    };
}
