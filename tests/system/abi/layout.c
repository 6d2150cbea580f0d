/* Golden layouts: bytes of every public structure and where its members lie, on 64-bit machines, on 32-bit machines, and on
   32-bit x86 as Linux has it, where numbers of eight bytes lie on boundaries of four; and the number behind every name.
   tests/system/abi/run.sh compiles it for each kind of machine.
   A line that changes breaks every program that was compiled before: ffi/VERSIONING.md says what may.

   Made from the header by `RLCORE_BLESS=1 tests/system/abi/run.sh`. */
#define RLCORE_EXPERIMENTAL
#include <rlcore.h>
#include <stddef.h>

#ifdef __cplusplus
#define _Static_assert static_assert
#endif

struct boundary {
  char one;
  uint64_t eight;
};
#define HERE(on64, on32, on_x86) (sizeof(void *) == 8 ? (on64) : offsetof(struct boundary, eight) == 8 ? (on32) : (on_x86))
#define SIZE(type, on64, on32, on_x86) _Static_assert(sizeof(type) == HERE(on64, on32, on_x86), "sizeof " #type)
#define FIELD(type, member, on64, on32, on_x86) \
  _Static_assert(offsetof(type, member) == HERE(on64, on32, on_x86), "offset of " #type "." #member)
#define NUMBER(name, value) _Static_assert((name) == (value), #name)

NUMBER(RLCORE_OK, 0);
NUMBER(RLCORE_E_NULL, -1);
NUMBER(RLCORE_E_SIZE, -2);
NUMBER(RLCORE_E_ALIGN, -3);
NUMBER(RLCORE_E_CONFIG, -4);
NUMBER(RLCORE_E_SHAPE, -5);
NUMBER(RLCORE_E_IMAGE, -6);
NUMBER(RLCORE_E_RANGE, -7);
NUMBER(RLCORE_E_CALLBACK, -8);
NUMBER(RLCORE_E_OVERFLOW, -9);
NUMBER(RLCORE_E_NOT_READY, -10);
NUMBER(RLCORE_E_VALUE, -11);
NUMBER(RLCORE_E_OVERLAP, -12);
NUMBER(RLCORE_E_BUSY, -13);
NUMBER(RLCORE_E_NOT_PENDING, -14);
NUMBER(RLCORE_E_INEXACT, -15);
NUMBER(RLCORE_E_EMPTY, -16);
NUMBER(RLCORE_E_DISABLED, -17);
NUMBER(RLCORE_CPU_BASE, 0);
NUMBER(RLCORE_CPU_AVX2, 1);
NUMBER(RLCORE_CPU_AVX512, 2);
NUMBER(RLCORE_F32, 0);
NUMBER(RLCORE_I32, 1);
NUMBER(RLCORE_U8, 2);
NUMBER(RLCORE_STRUCT, 3);
NUMBER(RLCORE_WRAP_TIME_LIMIT, 1);
NUMBER(RLCORE_WRAP_NOOP_RESET, 2);
NUMBER(RLCORE_WRAP_FIRE_RESET, 3);
NUMBER(RLCORE_WRAP_EPISODIC_LIFE, 4);
NUMBER(RLCORE_WRAP_MAX_AND_SKIP, 5);
NUMBER(RLCORE_WRAP_ACTION_REPEAT, 6);
NUMBER(RLCORE_WRAP_STICKY_ACTIONS, 7);
NUMBER(RLCORE_WRAP_RESCALE_ACTION, 8);
NUMBER(RLCORE_WRAP_CLIP_ACTION, 9);
NUMBER(RLCORE_WRAP_CLIP_REWARD, 10);
NUMBER(RLCORE_WRAP_SCALE_REWARD, 11);
NUMBER(RLCORE_WRAP_WARP_FRAME, 12);
NUMBER(RLCORE_WRAP_ATARI_RESCALE, 13);
NUMBER(RLCORE_WRAP_SCALED_FLOAT, 14);
NUMBER(RLCORE_WRAP_FRAME_STACK, 15);
NUMBER(RLCORE_WRAP_CHANNELS_FIRST, 16);
NUMBER(RLCORE_WRAP_FLATTEN, 17);
NUMBER(RLCORE_WRAP_EXTRACT, 18);
NUMBER(RLCORE_WRAP_RECORD, 19);
NUMBER(RLCORE_WRAP_OBSERVE, 20);
NUMBER(RLCORE_ATARI_WHOLE, 0);
NUMBER(RLCORE_ATARI_GRAY84, 1);
NUMBER(RLCORE_ATARI_MEAN42, 2);
NUMBER(RLCORE_ATARI_SEED, 0);
NUMBER(RLCORE_ATARI_CLASSIC, 1);
NUMBER(RLCORE_LEVEL_NEW, 0);
NUMBER(RLCORE_LEVEL_SAME, 1);
NUMBER(RLCORE_ENV_CARTPOLE, 1);
NUMBER(RLCORE_ENV_MOUNTAIN_CAR, 2);
NUMBER(RLCORE_ENV_MOUNTAIN_CAR_CONTINUOUS, 3);
NUMBER(RLCORE_ENV_ACROBOT, 4);
NUMBER(RLCORE_ENV_PENDULUM, 5);
NUMBER(RLCORE_ENV_BREAKOUT, 6);
NUMBER(RLCORE_ENV_CARTPOLE_NO_VEL, 7);
NUMBER(RLCORE_ENV_PENDULUM_NO_VEL, 8);
NUMBER(RLCORE_ENV_REPEAT_PREVIOUS, 9);
NUMBER(RLCORE_ENV_CATCH, 10);
NUMBER(RLCORE_ENV_ASTERIX, 11);
NUMBER(RLCORE_ENV_FREEWAY, 12);
NUMBER(RLCORE_ENV_SPACE_INVADERS, 13);
NUMBER(RLCORE_ENV_PROBE1, 101);
NUMBER(RLCORE_ENV_PROBE2, 102);
NUMBER(RLCORE_ENV_PROBE3, 103);
NUMBER(RLCORE_ENV_PROBE4, 104);
NUMBER(RLCORE_ENV_PROBE5, 105);
NUMBER(RLCORE_ENV_PROBE6, 106);
NUMBER(RLCORE_ENV_PROBE7, 107);
NUMBER(RLCORE_ENV_PROBE6_ODD_EVEN, 108);
NUMBER(RLCORE_ENV_PROBE_TRUNCATION, 109);
NUMBER(RLCORE_ENV_PROBE_MEMORY, 110);
NUMBER(RLCORE_AUTORESET_SAME_STEP, 0);
NUMBER(RLCORE_AUTORESET_NEXT_STEP, 1);
NUMBER(RLCORE_AUTORESET_DISABLED, 2);
NUMBER(RLCORE_AUTORESET_LEGACY, 3);
NUMBER(RLCORE_SAMPLING_BASIC, 0);
NUMBER(RLCORE_SAMPLING_GREEDY, 1);
NUMBER(RLCORE_SAMPLING_TEMPERATURE, 2);
NUMBER(RLCORE_SAMPLING_TOPK, 3);
NUMBER(RLCORE_SAMPLING_BOTTOMK, 4);
NUMBER(RLCORE_ACTIVATION_TANH, 0);
NUMBER(RLCORE_ACTIVATION_RELU, 1);
NUMBER(RLCORE_ACTIVATION_IDENTITY, 2);
NUMBER(RLCORE_ACTIVATION_ELU, 3);
NUMBER(RLCORE_ACTIVATION_SILU, 4);
NUMBER(RLCORE_ACTIVATION_GELU, 5);
NUMBER(RLCORE_LAYER_DENSE, 1);
NUMBER(RLCORE_LAYER_CONV, 3);
NUMBER(RLCORE_LAYER_POOL, 4);
NUMBER(RLCORE_LAYER_NORM, 5);
NUMBER(RLCORE_LAYER_LSTM, 6);
NUMBER(RLCORE_LAYER_GRU, 7);
NUMBER(RLCORE_LAYER_MINGRU, 8);
NUMBER(RLCORE_LAYER_DECONV, 9);
NUMBER(RLCORE_LAYER_ATTENTION, 10);
NUMBER(RLCORE_LAYER_EMBED, 11);
NUMBER(RLCORE_LAYER_ADD, 12);
NUMBER(RLCORE_LAYER_MULTIPLY, 13);
NUMBER(RLCORE_LAYER_JOIN, 14);
NUMBER(RLCORE_LAYER_NO_BIAS, 2);
NUMBER(RLCORE_LAYER_NO_SCALE, 4);
NUMBER(RLCORE_LAYER_RMS, 8);
NUMBER(RLCORE_LAYER_WHOLE, 16);
NUMBER(RLCORE_LAYER_MEAN, 32);
NUMBER(RLCORE_LAYER_FORGET_ONE, 64);
NUMBER(RLCORE_LAYER_BYTES, 128);
NUMBER(RLCORE_INIT_ORTHOGONAL, 0);
NUMBER(RLCORE_INIT_NORMAL, 1);
NUMBER(RLCORE_INIT_UNIFORM, 2);
NUMBER(RLCORE_INIT_UNIT_ROWS, 3);
NUMBER(RLCORE_NET_FC, 1);
NUMBER(RLCORE_NET_NATURE, 2);
NUMBER(RLCORE_NET_IMPALA_SMALL, 3);
NUMBER(RLCORE_NET_BTGYM_42, 4);
NUMBER(RLCORE_NET_MINATAR, 5);
NUMBER(RLCORE_NET_LSTM_SIMPLE, 6);
NUMBER(RLCORE_NET_LSTM_BOW_ENDPOOL_RES, 7);
NUMBER(RLCORE_NET_TRANSFORMER_GRID, 8);
NUMBER(RLCORE_LEARNER_ACT, 0);
NUMBER(RLCORE_LEARNER_OBSERVE, 1);
NUMBER(RLCORE_LEARNER_LEARN, 2);
NUMBER(RLCORE_ALGORITHM_PPO, 0);
NUMBER(RLCORE_ALGORITHM_A2C, 1);
NUMBER(RLCORE_LAYOUT_HWC, 0);
NUMBER(RLCORE_LAYOUT_CHW, 1);
NUMBER(RLCORE_DRAW_FIXED, 0);
NUMBER(RLCORE_DRAW_ORIGINAL, 1);
NUMBER(RLCORE_REPLAY_NORMALIZE_MEMORY, 0);
NUMBER(RLCORE_REPLAY_NORMALIZE_BATCH, 1);
NUMBER(RLCORE_REPLAY_NORMALIZE_NONE, 2);
NUMBER(RLCORE_RELABEL_FUTURE, 0);
NUMBER(RLCORE_RELABEL_FINAL, 1);
NUMBER(RLCORE_RELABEL_EPISODE, 2);
NUMBER(RLCORE_ACCUMULATE_F32, 0);
NUMBER(RLCORE_ACCUMULATE_F64, 1);
NUMBER(RLCORE_METRIC_EPISODE_LENGTH, 0);
NUMBER(RLCORE_METRIC_EPISODE_RETURN, 1);
NUMBER(RLCORE_METRIC_OWN, 2);
NUMBER(RLCORE_REWARD_ZERO, 0);
NUMBER(RLCORE_REWARD_POSITIVE, 1);
NUMBER(RLCORE_REWARD_NEGATIVE, 2);
NUMBER(RLCORE_LAYER_INPUT, 1073741824);
NUMBER(RLCORE_MONITOR_MAX_INFO, 16);
NUMBER(RLCORE_MONITOR_ROW_SIZE, 512);
NUMBER(RLCORE_ROLLOUT_FILE_HEADER_SIZE, 4096);

SIZE(rlcore_rng, 40, 40, 40);
FIELD(rlcore_rng, state, 0, 0, 0);
FIELD(rlcore_rng, stream, 16, 16, 16);
FIELD(rlcore_rng, half, 32, 32, 32);
FIELD(rlcore_rng, has_half, 36, 36, 36);

SIZE(rlcore_space, 32, 20, 20);
FIELD(rlcore_space, kind, 0, 0, 0);
FIELD(rlcore_space, len, 4, 4, 4);
FIELD(rlcore_space, low, 8, 8, 8);
FIELD(rlcore_space, high, 16, 12, 12);
FIELD(rlcore_space, n, 24, 16, 16);

SIZE(rlcore_field, 56, 56, 56);
FIELD(rlcore_field, name, 0, 0, 0);
FIELD(rlcore_field, kind, 24, 24, 24);
FIELD(rlcore_field, rank, 28, 28, 28);
FIELD(rlcore_field, dims, 32, 32, 32);
FIELD(rlcore_field, offset, 48, 48, 48);
FIELD(rlcore_field, reserved, 52, 52, 52);

SIZE(rlcore_atari_config, 48, 48, 48);
FIELD(rlcore_atari_config, struct_size, 0, 0, 0);
FIELD(rlcore_atari_config, noop_max, 4, 4, 4);
FIELD(rlcore_atari_config, skip, 8, 8, 8);
FIELD(rlcore_atari_config, fire_reset, 12, 12, 12);
FIELD(rlcore_atari_config, episodic_life, 16, 16, 16);
FIELD(rlcore_atari_config, order, 20, 20, 20);
FIELD(rlcore_atari_config, screen, 24, 24, 24);
FIELD(rlcore_atari_config, scale, 28, 28, 28);
FIELD(rlcore_atari_config, clip_reward, 32, 32, 32);
FIELD(rlcore_atari_config, stack, 36, 36, 36);
FIELD(rlcore_atari_config, channels_first, 40, 40, 40);
FIELD(rlcore_atari_config, record, 44, 44, 44);

SIZE(rlcore_wrapper, 120, 112, 112);
FIELD(rlcore_wrapper, kind, 0, 0, 0);
FIELD(rlcore_wrapper, count, 4, 4, 4);
FIELD(rlcore_wrapper, steps, 8, 8, 8);
FIELD(rlcore_wrapper, noop_max, 12, 12, 12);
FIELD(rlcore_wrapper, noop_count, 16, 16, 16);
FIELD(rlcore_wrapper, noop, 20, 20, 20);
FIELD(rlcore_wrapper, fire, 24, 24, 24);
FIELD(rlcore_wrapper, second, 28, 28, 28);
FIELD(rlcore_wrapper, probability, 32, 32, 32);
FIELD(rlcore_wrapper, low, 36, 36, 36);
FIELD(rlcore_wrapper, high, 40, 40, 40);
FIELD(rlcore_wrapper, factor, 44, 44, 44);
FIELD(rlcore_wrapper, height, 48, 48, 48);
FIELD(rlcore_wrapper, width, 52, 52, 52);
FIELD(rlcore_wrapper, gray, 56, 56, 56);
FIELD(rlcore_wrapper, len, 60, 60, 60);
FIELD(rlcore_wrapper, field, 64, 64, 64);
FIELD(rlcore_wrapper, reserved, 88, 88, 88);
FIELD(rlcore_wrapper, observe, 104, 104, 104);
FIELD(rlcore_wrapper, user, 112, 108, 108);

SIZE(rlcore_step, 8, 8, 8);
FIELD(rlcore_step, reward, 0, 0, 0);
FIELD(rlcore_step, terminated, 4, 4, 4);
FIELD(rlcore_step, truncated, 5, 5, 5);
FIELD(rlcore_step, reserved, 6, 6, 6);

SIZE(rlcore_env_def, 160, 100, 100);
FIELD(rlcore_env_def, struct_size, 0, 0, 0);
FIELD(rlcore_env_def, env_id, 4, 4, 4);
FIELD(rlcore_env_def, state_size, 8, 8, 8);
FIELD(rlcore_env_def, max_episode_steps, 12, 12, 12);
FIELD(rlcore_env_def, obs, 16, 16, 16);
FIELD(rlcore_env_def, action, 48, 36, 36);
FIELD(rlcore_env_def, user, 80, 56, 56);
FIELD(rlcore_env_def, reset, 88, 60, 60);
FIELD(rlcore_env_def, step, 96, 64, 64);
FIELD(rlcore_env_def, render, 104, 68, 68);
FIELD(rlcore_env_def, lives, 112, 72, 72);
FIELD(rlcore_env_def, action_mask, 120, 76, 76);
FIELD(rlcore_env_def, restart, 128, 80, 80);
FIELD(rlcore_env_def, fields, 136, 84, 84);
FIELD(rlcore_env_def, num_fields, 144, 88, 88);
FIELD(rlcore_env_def, num_wrappers, 148, 92, 92);
FIELD(rlcore_env_def, wrappers, 152, 96, 96);

SIZE(rlcore_vecenv_config, 24, 24, 24);
FIELD(rlcore_vecenv_config, struct_size, 0, 0, 0);
FIELD(rlcore_vecenv_config, num_envs, 4, 4, 4);
FIELD(rlcore_vecenv_config, seed, 8, 8, 8);
FIELD(rlcore_vecenv_config, autoreset, 16, 16, 16);
FIELD(rlcore_vecenv_config, max_episode_steps, 20, 20, 20);

SIZE(rlcore_vecenv_out, 56, 32, 32);
FIELD(rlcore_vecenv_out, struct_size, 0, 0, 0);
FIELD(rlcore_vecenv_out, reserved, 4, 4, 4);
FIELD(rlcore_vecenv_out, obs, 8, 8, 8);
FIELD(rlcore_vecenv_out, reward, 16, 12, 12);
FIELD(rlcore_vecenv_out, terminated, 24, 16, 16);
FIELD(rlcore_vecenv_out, truncated, 32, 20, 20);
FIELD(rlcore_vecenv_out, final_obs, 40, 24, 24);
FIELD(rlcore_vecenv_out, valid, 48, 28, 28);

SIZE(rlcore_sampling, 16, 16, 16);
FIELD(rlcore_sampling, method, 0, 0, 0);
FIELD(rlcore_sampling, k, 4, 4, 4);
FIELD(rlcore_sampling, temperature, 8, 8, 8);
FIELD(rlcore_sampling, reserved, 12, 12, 12);

SIZE(rlcore_layer, 68, 68, 68);
FIELD(rlcore_layer, kind, 0, 0, 0);
FIELD(rlcore_layer, source, 4, 4, 4);
FIELD(rlcore_layer, units, 12, 12, 12);
FIELD(rlcore_layer, activation, 16, 16, 16);
FIELD(rlcore_layer, flags, 20, 20, 20);
FIELD(rlcore_layer, size, 24, 24, 24);
FIELD(rlcore_layer, stride, 32, 32, 32);
FIELD(rlcore_layer, same, 40, 40, 40);
FIELD(rlcore_layer, heads, 44, 44, 44);
FIELD(rlcore_layer, window, 48, 48, 48);
FIELD(rlcore_layer, initializer, 52, 52, 52);
FIELD(rlcore_layer, gain, 56, 56, 56);
FIELD(rlcore_layer, symbols, 60, 60, 60);
FIELD(rlcore_layer, reserved, 64, 64, 64);

SIZE(rlcore_learner_config, 208, 200, 200);
FIELD(rlcore_learner_config, struct_size, 0, 0, 0);
FIELD(rlcore_learner_config, num_envs, 4, 4, 4);
FIELD(rlcore_learner_config, num_steps, 8, 8, 8);
FIELD(rlcore_learner_config, num_minibatches, 12, 12, 12);
FIELD(rlcore_learner_config, num_epochs, 16, 16, 16);
FIELD(rlcore_learner_config, num_hidden, 20, 20, 20);
FIELD(rlcore_learner_config, hidden_len, 24, 24, 24);
FIELD(rlcore_learner_config, activation, 40, 40, 40);
FIELD(rlcore_learner_config, normalize_advantage, 44, 44, 44);
FIELD(rlcore_learner_config, normalize_obs, 48, 48, 48);
FIELD(rlcore_learner_config, normalize_reward, 52, 52, 52);
FIELD(rlcore_learner_config, squash, 56, 56, 56);
FIELD(rlcore_learner_config, use_action_mask, 60, 60, 60);
FIELD(rlcore_learner_config, seed, 64, 64, 64);
FIELD(rlcore_learner_config, total_steps, 72, 72, 72);
FIELD(rlcore_learner_config, learning_rate, 80, 80, 80);
FIELD(rlcore_learner_config, learning_rate_end, 84, 84, 84);
FIELD(rlcore_learner_config, clip, 88, 88, 88);
FIELD(rlcore_learner_config, clip_end, 92, 92, 92);
FIELD(rlcore_learner_config, discount, 96, 96, 96);
FIELD(rlcore_learner_config, gae_lambda, 100, 100, 100);
FIELD(rlcore_learner_config, value_coef, 104, 104, 104);
FIELD(rlcore_learner_config, entropy_coef, 108, 108, 108);
FIELD(rlcore_learner_config, value_clip, 112, 112, 112);
FIELD(rlcore_learner_config, max_grad_norm, 116, 116, 116);
FIELD(rlcore_learner_config, target_kl, 120, 120, 120);
FIELD(rlcore_learner_config, adam_beta1, 124, 124, 124);
FIELD(rlcore_learner_config, adam_beta2, 128, 128, 128);
FIELD(rlcore_learner_config, adam_epsilon, 132, 132, 132);
FIELD(rlcore_learner_config, log_std_init, 136, 136, 136);
FIELD(rlcore_learner_config, obs_clip, 140, 140, 140);
FIELD(rlcore_learner_config, reward_clip, 144, 144, 144);
FIELD(rlcore_learner_config, accumulate, 148, 148, 148);
FIELD(rlcore_learner_config, log_std_min, 152, 152, 152);
FIELD(rlcore_learner_config, log_std_max, 156, 156, 156);
FIELD(rlcore_learner_config, num_chunks, 160, 160, 160);
FIELD(rlcore_learner_config, algorithm, 164, 164, 164);
FIELD(rlcore_learner_config, overlap, 168, 168, 168);
FIELD(rlcore_learner_config, num_shared, 172, 172, 172);
FIELD(rlcore_learner_config, num_layers, 176, 176, 176);
FIELD(rlcore_learner_config, obs_dims, 180, 180, 180);
FIELD(rlcore_learner_config, sequence_len, 192, 192, 192);
FIELD(rlcore_learner_config, layers, 200, 196, 196);

SIZE(rlcore_learner_stats, 88, 88, 88);
FIELD(rlcore_learner_stats, struct_size, 0, 0, 0);
FIELD(rlcore_learner_stats, minibatches_left, 4, 4, 4);
FIELD(rlcore_learner_stats, num_steps, 8, 8, 8);
FIELD(rlcore_learner_stats, num_updates, 16, 16, 16);
FIELD(rlcore_learner_stats, num_episodes, 24, 24, 24);
FIELD(rlcore_learner_stats, learning_rate, 32, 32, 32);
FIELD(rlcore_learner_stats, policy_loss, 36, 36, 36);
FIELD(rlcore_learner_stats, value_loss, 40, 40, 40);
FIELD(rlcore_learner_stats, entropy, 44, 44, 44);
FIELD(rlcore_learner_stats, approx_kl, 48, 48, 48);
FIELD(rlcore_learner_stats, clip_fraction, 52, 52, 52);
FIELD(rlcore_learner_stats, explained_variance, 56, 56, 56);
FIELD(rlcore_learner_stats, grad_norm, 60, 60, 60);
FIELD(rlcore_learner_stats, value_mean, 64, 64, 64);
FIELD(rlcore_learner_stats, return_mean, 68, 68, 68);
FIELD(rlcore_learner_stats, length_mean, 72, 72, 72);
FIELD(rlcore_learner_stats, return_last, 76, 76, 76);
FIELD(rlcore_learner_stats, num_dropped, 80, 80, 80);

SIZE(rlcore_batch_config, 8, 8, 8);
FIELD(rlcore_batch_config, struct_size, 0, 0, 0);
FIELD(rlcore_batch_config, in_series, 4, 4, 4);

SIZE(rlcore_batch_counts, 20, 20, 20);
FIELD(rlcore_batch_counts, struct_size, 0, 0, 0);
FIELD(rlcore_batch_counts, closed, 4, 4, 4);
FIELD(rlcore_batch_counts, num_pending, 8, 8, 8);
FIELD(rlcore_batch_counts, num_running, 12, 12, 12);
FIELD(rlcore_batch_counts, num_done, 16, 16, 16);

SIZE(rlcore_monitor_config, 32, 32, 32);
FIELD(rlcore_monitor_config, struct_size, 0, 0, 0);
FIELD(rlcore_monitor_config, num_envs, 4, 4, 4);
FIELD(rlcore_monitor_config, keep, 8, 8, 8);
FIELD(rlcore_monitor_config, capacity, 12, 12, 12);
FIELD(rlcore_monitor_config, num_info, 16, 16, 16);
FIELD(rlcore_monitor_config, reserved, 20, 20, 20);
FIELD(rlcore_monitor_config, start, 24, 24, 24);

SIZE(rlcore_episode, 32, 32, 32);
FIELD(rlcore_episode, number, 0, 0, 0);
FIELD(rlcore_episode, seconds, 8, 8, 8);
FIELD(rlcore_episode, env, 16, 16, 16);
FIELD(rlcore_episode, len, 20, 20, 20);
FIELD(rlcore_episode, episode_return, 24, 24, 24);
FIELD(rlcore_episode, reserved, 28, 28, 28);

SIZE(rlcore_monitor_stats, 32, 32, 32);
FIELD(rlcore_monitor_stats, struct_size, 0, 0, 0);
FIELD(rlcore_monitor_stats, num_kept, 4, 4, 4);
FIELD(rlcore_monitor_stats, num_episodes, 8, 8, 8);
FIELD(rlcore_monitor_stats, return_mean, 16, 16, 16);
FIELD(rlcore_monitor_stats, len_mean, 24, 24, 24);

SIZE(rlcore_vec_normalize_config, 48, 48, 48);
FIELD(rlcore_vec_normalize_config, struct_size, 0, 0, 0);
FIELD(rlcore_vec_normalize_config, num_envs, 4, 4, 4);
FIELD(rlcore_vec_normalize_config, obs_len, 8, 8, 8);
FIELD(rlcore_vec_normalize_config, normalize_obs, 12, 12, 12);
FIELD(rlcore_vec_normalize_config, normalize_reward, 16, 16, 16);
FIELD(rlcore_vec_normalize_config, clip_obs, 20, 20, 20);
FIELD(rlcore_vec_normalize_config, clip_reward, 24, 24, 24);
FIELD(rlcore_vec_normalize_config, reserved, 28, 28, 28);
FIELD(rlcore_vec_normalize_config, discount, 32, 32, 32);
FIELD(rlcore_vec_normalize_config, epsilon, 40, 40, 40);

SIZE(rlcore_vec_normalize_stats, 40, 40, 40);
FIELD(rlcore_vec_normalize_stats, struct_size, 0, 0, 0);
FIELD(rlcore_vec_normalize_stats, frozen, 4, 4, 4);
FIELD(rlcore_vec_normalize_stats, obs_count, 8, 8, 8);
FIELD(rlcore_vec_normalize_stats, return_mean, 16, 16, 16);
FIELD(rlcore_vec_normalize_stats, return_var, 24, 24, 24);
FIELD(rlcore_vec_normalize_stats, return_count, 32, 32, 32);

SIZE(rlcore_lazy_frames_config, 28, 28, 28);
FIELD(rlcore_lazy_frames_config, struct_size, 0, 0, 0);
FIELD(rlcore_lazy_frames_config, num_envs, 4, 4, 4);
FIELD(rlcore_lazy_frames_config, num_frames, 8, 8, 8);
FIELD(rlcore_lazy_frames_config, height, 12, 12, 12);
FIELD(rlcore_lazy_frames_config, width, 16, 16, 16);
FIELD(rlcore_lazy_frames_config, channels, 20, 20, 20);
FIELD(rlcore_lazy_frames_config, num_stack, 24, 24, 24);

SIZE(rlcore_frame_index, 16, 16, 16);
FIELD(rlcore_frame_index, number, 0, 0, 0);
FIELD(rlcore_frame_index, env, 8, 8, 8);
FIELD(rlcore_frame_index, reserved, 12, 12, 12);

SIZE(rlcore_column, 40, 40, 40);
FIELD(rlcore_column, name, 0, 0, 0);
FIELD(rlcore_column, kind, 24, 24, 24);
FIELD(rlcore_column, len, 28, 28, 28);
FIELD(rlcore_column, num_stack, 32, 32, 32);
FIELD(rlcore_column, channels, 36, 36, 36);

SIZE(rlcore_memory_config, 40, 36, 36);
FIELD(rlcore_memory_config, struct_size, 0, 0, 0);
FIELD(rlcore_memory_config, history_size, 4, 4, 4);
FIELD(rlcore_memory_config, max_sample_size, 8, 8, 8);
FIELD(rlcore_memory_config, priority_sample_size, 12, 12, 12);
FIELD(rlcore_memory_config, reward_threshold, 16, 16, 16);
FIELD(rlcore_memory_config, use_priority, 20, 20, 20);
FIELD(rlcore_memory_config, num_columns, 24, 24, 24);
FIELD(rlcore_memory_config, reserved, 28, 28, 28);
FIELD(rlcore_memory_config, columns, 32, 32, 32);

SIZE(rlcore_frame, 24, 24, 24);
FIELD(rlcore_frame, episode, 0, 0, 0);
FIELD(rlcore_frame, step, 8, 8, 8);
FIELD(rlcore_frame, reward, 12, 12, 12);
FIELD(rlcore_frame, terminated, 16, 16, 16);
FIELD(rlcore_frame, truncated, 17, 17, 17);
FIELD(rlcore_frame, reserved, 18, 18, 18);

SIZE(rlcore_draw, 28, 28, 28);
FIELD(rlcore_draw, struct_size, 0, 0, 0);
FIELD(rlcore_draw, size, 4, 4, 4);
FIELD(rlcore_draw, burn_in, 8, 8, 8);
FIELD(rlcore_draw, exact_size, 12, 12, 12);
FIELD(rlcore_draw, skewness, 16, 16, 16);
FIELD(rlcore_draw, attempts, 20, 20, 20);
FIELD(rlcore_draw, rule, 24, 24, 24);

SIZE(rlcore_sample, 24, 24, 24);
FIELD(rlcore_sample, first, 0, 0, 0);
FIELD(rlcore_sample, len, 8, 8, 8);
FIELD(rlcore_sample, burn_in, 12, 12, 12);
FIELD(rlcore_sample, gap, 16, 16, 16);
FIELD(rlcore_sample, priority, 20, 20, 20);

SIZE(rlcore_replay_config, 48, 44, 44);
FIELD(rlcore_replay_config, struct_size, 0, 0, 0);
FIELD(rlcore_replay_config, num_envs, 4, 4, 4);
FIELD(rlcore_replay_config, num_rows, 8, 8, 8);
FIELD(rlcore_replay_config, num_columns, 12, 12, 12);
FIELD(rlcore_replay_config, columns, 16, 16, 16);
FIELD(rlcore_replay_config, observations, 24, 20, 20);
FIELD(rlcore_replay_config, num_steps, 28, 24, 24);
FIELD(rlcore_replay_config, discount, 32, 28, 28);
FIELD(rlcore_replay_config, alpha, 36, 32, 32);
FIELD(rlcore_replay_config, epsilon, 40, 36, 36);
FIELD(rlcore_replay_config, reserved, 44, 40, 40);

SIZE(rlcore_replay_stats, 32, 32, 32);
FIELD(rlcore_replay_stats, struct_size, 0, 0, 0);
FIELD(rlcore_replay_stats, alpha, 4, 4, 4);
FIELD(rlcore_replay_stats, num_transitions, 8, 8, 8);
FIELD(rlcore_replay_stats, total, 16, 16, 16);
FIELD(rlcore_replay_stats, min_weight, 24, 24, 24);
FIELD(rlcore_replay_stats, max_priority, 28, 28, 28);

SIZE(rlcore_relabel, 40, 28, 28);
FIELD(rlcore_relabel, struct_size, 0, 0, 0);
FIELD(rlcore_relabel, num_steps, 4, 4, 4);
FIELD(rlcore_relabel, goal_len, 8, 8, 8);
FIELD(rlcore_relabel, num_rows, 12, 12, 12);
FIELD(rlcore_relabel, achieved, 16, 16, 16);
FIELD(rlcore_relabel, row, 24, 20, 20);
FIELD(rlcore_relabel, goal_row, 32, 24, 24);

SIZE(rlcore_rollout, 64, 40, 40);
FIELD(rlcore_rollout, struct_size, 0, 0, 0);
FIELD(rlcore_rollout, num_steps, 4, 4, 4);
FIELD(rlcore_rollout, num_envs, 8, 8, 8);
FIELD(rlcore_rollout, accumulate, 12, 12, 12);
FIELD(rlcore_rollout, reward, 16, 16, 16);
FIELD(rlcore_rollout, value, 24, 20, 20);
FIELD(rlcore_rollout, bootstrap_value, 32, 24, 24);
FIELD(rlcore_rollout, terminated, 40, 28, 28);
FIELD(rlcore_rollout, truncated, 48, 32, 32);
FIELD(rlcore_rollout, final_value, 56, 36, 36);

SIZE(rlcore_rows_out, 72, 40, 40);
FIELD(rlcore_rows_out, struct_size, 0, 0, 0);
FIELD(rlcore_rows_out, num_rows, 4, 4, 4);
FIELD(rlcore_rows_out, columns, 8, 8, 8);
FIELD(rlcore_rows_out, reward, 16, 12, 12);
FIELD(rlcore_rows_out, value, 24, 16, 16);
FIELD(rlcore_rows_out, log_prob, 32, 20, 20);
FIELD(rlcore_rows_out, final_value, 40, 24, 24);
FIELD(rlcore_rows_out, terminated, 48, 28, 28);
FIELD(rlcore_rows_out, truncated, 56, 32, 32);
FIELD(rlcore_rows_out, memory, 64, 36, 36);

SIZE(rlcore_rollout_buffer_config, 48, 48, 44);
FIELD(rlcore_rollout_buffer_config, struct_size, 0, 0, 0);
FIELD(rlcore_rollout_buffer_config, num_steps, 4, 4, 4);
FIELD(rlcore_rollout_buffer_config, num_envs, 8, 8, 8);
FIELD(rlcore_rollout_buffer_config, memory_len, 12, 12, 12);
FIELD(rlcore_rollout_buffer_config, log_capacity, 16, 16, 16);
FIELD(rlcore_rollout_buffer_config, num_columns, 20, 20, 20);
FIELD(rlcore_rollout_buffer_config, seed, 24, 24, 24);
FIELD(rlcore_rollout_buffer_config, columns, 32, 32, 32);
FIELD(rlcore_rollout_buffer_config, accumulate, 40, 36, 36);
FIELD(rlcore_rollout_buffer_config, reserved, 44, 40, 40);

SIZE(rlcore_rollout_step, 80, 44, 44);
FIELD(rlcore_rollout_step, struct_size, 0, 0, 0);
FIELD(rlcore_rollout_step, reserved, 4, 4, 4);
FIELD(rlcore_rollout_step, columns, 8, 8, 8);
FIELD(rlcore_rollout_step, reward, 16, 12, 12);
FIELD(rlcore_rollout_step, value, 24, 16, 16);
FIELD(rlcore_rollout_step, log_prob, 32, 20, 20);
FIELD(rlcore_rollout_step, terminated, 40, 24, 24);
FIELD(rlcore_rollout_step, truncated, 48, 28, 28);
FIELD(rlcore_rollout_step, final_value, 56, 32, 32);
FIELD(rlcore_rollout_step, memory, 64, 36, 36);
FIELD(rlcore_rollout_step, raw_reward, 72, 40, 40);

SIZE(rlcore_rollout_extras, 48, 28, 28);
FIELD(rlcore_rollout_extras, struct_size, 0, 0, 0);
FIELD(rlcore_rollout_extras, reserved, 4, 4, 4);
FIELD(rlcore_rollout_extras, log_prob, 8, 8, 8);
FIELD(rlcore_rollout_extras, advantage, 16, 12, 12);
FIELD(rlcore_rollout_extras, value_target, 24, 16, 16);
FIELD(rlcore_rollout_extras, first, 32, 20, 20);
FIELD(rlcore_rollout_extras, memory, 40, 24, 24);

SIZE(rlcore_rollout_progress, 48, 48, 48);
FIELD(rlcore_rollout_progress, struct_size, 0, 0, 0);
FIELD(rlcore_rollout_progress, num_steps, 4, 4, 4);
FIELD(rlcore_rollout_progress, global_step, 8, 8, 8);
FIELD(rlcore_rollout_progress, num_ended, 16, 16, 16);
FIELD(rlcore_rollout_progress, len_mean, 24, 24, 24);
FIELD(rlcore_rollout_progress, return_mean, 32, 32, 32);
FIELD(rlcore_rollout_progress, finished, 40, 40, 40);
FIELD(rlcore_rollout_progress, reserved, 44, 44, 44);

SIZE(rlcore_window, 16, 16, 16);
FIELD(rlcore_window, first, 0, 0, 0);
FIELD(rlcore_window, len, 4, 4, 4);
FIELD(rlcore_window, pad, 8, 8, 8);
FIELD(rlcore_window, timestep, 12, 12, 12);

SIZE(rlcore_minibatch, 80, 44, 44);
FIELD(rlcore_minibatch, struct_size, 0, 0, 0);
FIELD(rlcore_minibatch, reserved, 4, 4, 4);
FIELD(rlcore_minibatch, columns, 8, 8, 8);
FIELD(rlcore_minibatch, log_prob, 16, 12, 12);
FIELD(rlcore_minibatch, value, 24, 16, 16);
FIELD(rlcore_minibatch, advantage, 32, 20, 20);
FIELD(rlcore_minibatch, value_target, 40, 24, 24);
FIELD(rlcore_minibatch, reward, 48, 28, 28);
FIELD(rlcore_minibatch, mask, 56, 32, 32);
FIELD(rlcore_minibatch, memory, 64, 36, 36);
FIELD(rlcore_minibatch, timestep, 72, 40, 40);

SIZE(rlcore_metric_row, 24, 24, 24);
FIELD(rlcore_metric_row, global_step, 0, 0, 0);
FIELD(rlcore_metric_row, value, 8, 8, 8);
FIELD(rlcore_metric_row, env, 16, 16, 16);
FIELD(rlcore_metric_row, metric, 20, 20, 20);

SIZE(rlcore_trajectory_config, 32, 28, 28);
FIELD(rlcore_trajectory_config, struct_size, 0, 0, 0);
FIELD(rlcore_trajectory_config, capacity, 4, 4, 4);
FIELD(rlcore_trajectory_config, memory_len, 8, 8, 8);
FIELD(rlcore_trajectory_config, one_hot, 12, 12, 12);
FIELD(rlcore_trajectory_config, num_columns, 16, 16, 16);
FIELD(rlcore_trajectory_config, accumulate, 20, 20, 20);
FIELD(rlcore_trajectory_config, columns, 24, 24, 24);

SIZE(rlcore_trajectory_frames, 56, 32, 32);
FIELD(rlcore_trajectory_frames, struct_size, 0, 0, 0);
FIELD(rlcore_trajectory_frames, num_frames, 4, 4, 4);
FIELD(rlcore_trajectory_frames, columns, 8, 8, 8);
FIELD(rlcore_trajectory_frames, reward, 16, 12, 12);
FIELD(rlcore_trajectory_frames, value, 24, 16, 16);
FIELD(rlcore_trajectory_frames, terminated, 32, 20, 20);
FIELD(rlcore_trajectory_frames, truncated, 40, 24, 24);
FIELD(rlcore_trajectory_frames, memory, 48, 28, 28);

SIZE(rlcore_trajectory_view, 48, 28, 28);
FIELD(rlcore_trajectory_view, struct_size, 0, 0, 0);
FIELD(rlcore_trajectory_view, num_frames, 4, 4, 4);
FIELD(rlcore_trajectory_view, reward, 8, 8, 8);
FIELD(rlcore_trajectory_view, value, 16, 12, 12);
FIELD(rlcore_trajectory_view, terminated, 24, 16, 16);
FIELD(rlcore_trajectory_view, truncated, 32, 20, 20);
FIELD(rlcore_trajectory_view, memory, 40, 24, 24);

SIZE(rlcore_trajectory_rows, 64, 40, 40);
FIELD(rlcore_trajectory_rows, struct_size, 0, 0, 0);
FIELD(rlcore_trajectory_rows, num_rows, 4, 4, 4);
FIELD(rlcore_trajectory_rows, time_flat, 8, 8, 8);
FIELD(rlcore_trajectory_rows, reserved, 12, 12, 12);
FIELD(rlcore_trajectory_rows, columns, 16, 16, 16);
FIELD(rlcore_trajectory_rows, returns, 24, 20, 20);
FIELD(rlcore_trajectory_rows, advantage, 32, 24, 24);
FIELD(rlcore_trajectory_rows, memory, 40, 28, 28);
FIELD(rlcore_trajectory_rows, time_steps, 48, 32, 32);
FIELD(rlcore_trajectory_rows, valid, 56, 36, 36);

SIZE(rlcore_queue_config, 16, 16, 16);
FIELD(rlcore_queue_config, struct_size, 0, 0, 0);
FIELD(rlcore_queue_config, capacity, 4, 4, 4);
FIELD(rlcore_queue_config, item_size, 8, 8, 8);
FIELD(rlcore_queue_config, reserved, 12, 12, 12);

SIZE(rlcore_rollout_file, 88, 88, 88);
FIELD(rlcore_rollout_file, struct_size, 0, 0, 0);
FIELD(rlcore_rollout_file, num_steps, 4, 4, 4);
FIELD(rlcore_rollout_file, num_envs, 8, 8, 8);
FIELD(rlcore_rollout_file, obs_kind, 12, 12, 12);
FIELD(rlcore_rollout_file, obs_rank, 16, 16, 16);
FIELD(rlcore_rollout_file, obs_dims, 20, 20, 20);
FIELD(rlcore_rollout_file, action_kind, 36, 36, 36);
FIELD(rlcore_rollout_file, action_len, 40, 40, 40);
FIELD(rlcore_rollout_file, state_len, 44, 44, 44);
FIELD(rlcore_rollout_file, num_finals, 48, 48, 48);
FIELD(rlcore_rollout_file, reserved, 52, 52, 52);
FIELD(rlcore_rollout_file, seed, 56, 56, 56);
FIELD(rlcore_rollout_file, policy_version, 64, 64, 64);
FIELD(rlcore_rollout_file, global_step, 72, 72, 72);
FIELD(rlcore_rollout_file, num_episodes, 80, 80, 80);

SIZE(rlcore_rollout_arrays, 112, 60, 60);
FIELD(rlcore_rollout_arrays, struct_size, 0, 0, 0);
FIELD(rlcore_rollout_arrays, reserved, 4, 4, 4);
FIELD(rlcore_rollout_arrays, obs, 8, 8, 8);
FIELD(rlcore_rollout_arrays, action, 16, 12, 12);
FIELD(rlcore_rollout_arrays, log_prob, 24, 16, 16);
FIELD(rlcore_rollout_arrays, value, 32, 20, 20);
FIELD(rlcore_rollout_arrays, bootstrap_value, 40, 24, 24);
FIELD(rlcore_rollout_arrays, reward, 48, 28, 28);
FIELD(rlcore_rollout_arrays, terminated, 56, 32, 32);
FIELD(rlcore_rollout_arrays, truncated, 64, 36, 36);
FIELD(rlcore_rollout_arrays, valid, 72, 40, 40);
FIELD(rlcore_rollout_arrays, final_index, 80, 44, 44);
FIELD(rlcore_rollout_arrays, final_obs, 88, 48, 48);
FIELD(rlcore_rollout_arrays, final_value, 96, 52, 52);
FIELD(rlcore_rollout_arrays, state, 104, 56, 56);

SIZE(rlcore_shifted_rollout, 56, 36, 36);
FIELD(rlcore_shifted_rollout, struct_size, 0, 0, 0);
FIELD(rlcore_shifted_rollout, num_steps, 4, 4, 4);
FIELD(rlcore_shifted_rollout, num_envs, 8, 8, 8);
FIELD(rlcore_shifted_rollout, accumulate, 12, 12, 12);
FIELD(rlcore_shifted_rollout, reward, 16, 16, 16);
FIELD(rlcore_shifted_rollout, value, 24, 20, 20);
FIELD(rlcore_shifted_rollout, done, 32, 24, 24);
FIELD(rlcore_shifted_rollout, next_value, 40, 28, 28);
FIELD(rlcore_shifted_rollout, next_done, 48, 32, 32);

SIZE(rlcore_vtrace, 96, 68, 68);
FIELD(rlcore_vtrace, struct_size, 0, 0, 0);
FIELD(rlcore_vtrace, num_steps, 4, 4, 4);
FIELD(rlcore_vtrace, num_envs, 8, 8, 8);
FIELD(rlcore_vtrace, accumulate, 12, 12, 12);
FIELD(rlcore_vtrace, log_rho, 16, 16, 16);
FIELD(rlcore_vtrace, discounts, 24, 20, 20);
FIELD(rlcore_vtrace, reward, 32, 24, 24);
FIELD(rlcore_vtrace, value, 40, 28, 28);
FIELD(rlcore_vtrace, bootstrap_value, 48, 32, 32);
FIELD(rlcore_vtrace, truncated, 56, 36, 36);
FIELD(rlcore_vtrace, final_value, 64, 40, 40);
FIELD(rlcore_vtrace, clip_rho, 72, 44, 44);
FIELD(rlcore_vtrace, clip_c, 76, 48, 48);
FIELD(rlcore_vtrace, clip_pg_rho, 80, 52, 52);
FIELD(rlcore_vtrace, td_lambda, 84, 56, 56);
FIELD(rlcore_vtrace, leak, 88, 60, 60);
FIELD(rlcore_vtrace, reserved, 92, 64, 64);

SIZE(rlcore_vtrace_logits, 32, 20, 20);
FIELD(rlcore_vtrace_logits, struct_size, 0, 0, 0);
FIELD(rlcore_vtrace_logits, num_actions, 4, 4, 4);
FIELD(rlcore_vtrace_logits, behavior_logits, 8, 8, 8);
FIELD(rlcore_vtrace_logits, target_logits, 16, 12, 12);
FIELD(rlcore_vtrace_logits, action, 24, 16, 16);

SIZE(rlcore_vtrace_out, 48, 28, 28);
FIELD(rlcore_vtrace_out, struct_size, 0, 0, 0);
FIELD(rlcore_vtrace_out, reserved, 4, 4, 4);
FIELD(rlcore_vtrace_out, vs, 8, 8, 8);
FIELD(rlcore_vtrace_out, pg_advantage, 16, 12, 12);
FIELD(rlcore_vtrace_out, log_rho, 24, 16, 16);
FIELD(rlcore_vtrace_out, behavior_log_prob, 32, 20, 20);
FIELD(rlcore_vtrace_out, target_log_prob, 40, 24, 24);

SIZE(rlcore_logits, 40, 28, 28);
FIELD(rlcore_logits, struct_size, 0, 0, 0);
FIELD(rlcore_logits, num_rows, 4, 4, 4);
FIELD(rlcore_logits, num_choices, 8, 8, 8);
FIELD(rlcore_logits, reserved, 12, 12, 12);
FIELD(rlcore_logits, n, 16, 16, 16);
FIELD(rlcore_logits, logits, 24, 20, 20);
FIELD(rlcore_logits, mask, 32, 24, 24);

SIZE(rlcore_gaussian, 32, 24, 24);
FIELD(rlcore_gaussian, struct_size, 0, 0, 0);
FIELD(rlcore_gaussian, num_rows, 4, 4, 4);
FIELD(rlcore_gaussian, action_len, 8, 8, 8);
FIELD(rlcore_gaussian, reserved, 12, 12, 12);
FIELD(rlcore_gaussian, mean, 16, 16, 16);
FIELD(rlcore_gaussian, log_std, 24, 20, 20);

SIZE(rlcore_image_size, 12, 12, 12);
FIELD(rlcore_image_size, height, 0, 0, 0);
FIELD(rlcore_image_size, width, 4, 4, 4);
FIELD(rlcore_image_size, channels, 8, 8, 8);
