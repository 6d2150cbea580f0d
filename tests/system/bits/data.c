/* Records, memories, rollouts and files. */
#include "stages.h"

/* Readers beside a writer in another process need 64-bit processors. Their reads here add nothing to a hash. */
enum { HAS_READERS = sizeof(size_t) == 8 };

/* ---- A monitor's rows and a normalizer's statistics ---- */
static double ticks(void *user) { return (double)(*(int64_t *)user)++; }

static rlcore_status records(hashes *h) {
  enum { N = 6, WIDE = 3, ROWS = 32 };
  static uint64_t world[1024], normalizer[512], other[512], episodes[1024];
  static float obs[N * WIDE], final_obs[N * WIDE], reward[N], push[N], scaled[N * WIDE];
  static double info[N], got[ROWS], mean[WIDE], var[WIDE];
  static uint8_t terminated[N], truncated[N];
  static rlcore_episode rows[ROWS];
  static const char *const keywords[] = {"height"};
  const rlcore_rows out = {
      .struct_size = sizeof out, .obs = obs, .reward = reward, .terminated = terminated, .truncated = truncated,
      .final_obs = final_obs,
  };
  rlcore_vec_normalize_stats stats = {.struct_size = sizeof stats};
  rlcore_monitor_stats means = {.struct_size = sizeof means};
  compiled_env env;
  rlcore_vecenv_config many;
  rlcore_vec_normalize_config scale;
  rlcore_monitor_config keep;
  rlcore_vecenv *v;
  rlcore_vec_normalize *n, *second;
  rlcore_monitor *m;
  rlcore_rng rng;
  char text[RLCORE_MONITOR_ROW_SIZE];
  uint64_t next = 0, lost;
  int64_t clock = 1000;
  uint32_t count;
  size_t size;
  TRY(compile_env(BUILTIN(RLCORE_ENV_PENDULUM), &env));
  TRY(rlcore_vecenv_config_init(&many, sizeof many));
  TRY(rlcore_vec_normalize_config_init(&scale, sizeof scale));
  TRY(rlcore_monitor_config_init(&keep, sizeof keep));
  many.num_envs = scale.num_envs = keep.num_envs = N;
  many.max_episode_steps = 50;
  scale.obs_len = WIDE;
  keep.capacity = ROWS;
  keep.keep = 7;
  keep.num_info = 1;
  TRY(rlcore_vecenv_init(world, sizeof world, env.env, &many, &v));
  TRY(rlcore_vec_normalize_init(normalizer, sizeof normalizer, &scale, &n));
  TRY(rlcore_vec_normalize_init(other, sizeof other, &scale, &second));
  TRY(rlcore_monitor_init(episodes, sizeof episodes, &keep, &m));
  TRY(rlcore_rng_seed(&rng, 12));
  TRY(rlcore_vecenv_reset(v, env.env, NULL, obs));
  TRY(rlcore_vec_normalize_reset(second, obs, scaled));
  TRY(rlcore_vec_normalize_reset(n, obs, obs));
  TRY(rlcore_monitor_reset(m));
  for (int t = 0; t < 240; t++) {
    TRY(draw(&rng, -2.0, 2.0, push, N));
    for (int i = 0; i < N; i++) info[i] = t - i;
    TRY(rlcore_vecenv_step(v, env.env, TAKING(push, &out)));
    if (t % 2) TRY(rlcore_monitor_step(m, &out, 1000 + t, info));
    else TRY(rlcore_monitor_step_clock(m, &out, ticks, &clock, info));
    TRY(rlcore_vec_normalize_step(n, &out, NULL));
    MIX(h, obs);
    MIX(h, reward);
    if (t == 60) TRY(rlcore_monitor_reset_one(m, 2));
    if (t == 100) TRY(rlcore_vec_normalize_reset_one(n, 1, obs, obs));
    if (t == 120) TRY(rlcore_vec_normalize_merge(n, second));
    if (t == 150 || t == 170) TRY(rlcore_vec_normalize_freeze(n, t == 150));
  }
  TRY(rlcore_vec_normalize_obs(n, N, final_obs, scaled));
  TRY(rlcore_vec_normalize_statistics(n, mean, var, &stats));
  MIX(h, scaled);
  MIX(h, mean);
  MIX(h, var);
  MIX_ONE(h, stats.obs_count);
  MIX_ONE(h, stats.return_mean);
  MIX_ONE(h, stats.return_var);
  MIX_ONE(h, stats.return_count);
  TRY(rlcore_vec_normalize_size(&scale, &size));
  mix_block(h, normalizer, size);
  TRY(rlcore_monitor_means(m, &means));
  mix_u64(h, means.num_episodes);
  MIX_ONE(h, means.return_mean);
  MIX_ONE(h, means.len_mean);
  TRY(rlcore_monitor_format_header(1e9, "Pendulum-v1", keywords, 1, text, sizeof text, &size));
  MIX_SOME(h, text, size);
  TRY(rlcore_monitor_read(m, &next, rows, got, ROWS, &count, &lost));
  for (uint32_t i = 0; i < count; i++) {
    TRY(rlcore_monitor_format_row(&rows[i], &got[i], 1, text, sizeof text, &size));
    MIX_SOME(h, text, size);
  }
  TRY(rlcore_monitor_size(&keep, &size));
  mix_block(h, episodes, size);
  if (HAS_READERS) {
    const rlcore_monitor *reader;
    TRY(rlcore_monitor_attach_reader(episodes, size, &reader));
    next = 0;
    TRY(rlcore_monitor_read(reader, &next, rows, got, ROWS, &count, &lost));
    CHECK(next == means.num_episodes);
  }
  for (uint64_t i = 0; i < 9; i++) {
    uint32_t type;
    TRY(rlcore_episode_type_of(i, 3, 2, &type));
    mix_u64(h, type);
  }
  return RLCORE_OK;
}

/* ---- Frames and their stacks ---- */
static rlcore_status frames(hashes *h) {
  enum { SIDE = 5, FRAME = SIDE * SIDE, STACK = 3, B = 8, N = 2 };
  static uint64_t mem[1024];
  static uint8_t frame[N * FRAME], last[N * FRAME], first[N], stack[STACK * FRAME], newest[FRAME];
  static uint8_t some[STACK * FRAME], starts[STACK];
  static float obs[B * FRAME * STACK], next_obs[B * FRAME * STACK];
  uint64_t numbers[N], indices[STACK], begin, end, cost;
  rlcore_lazy_frames_config config;
  rlcore_lazy_frames *l;
  rlcore_frame_index index[B];
  const uint8_t *lies;
  size_t size;
  TRY(rlcore_lazy_frames_config_init(&config, sizeof config));
  config.num_envs = N;
  config.num_frames = 40;
  config.height = config.width = SIDE;
  config.num_stack = STACK;
  TRY(rlcore_lazy_frames_init(mem, sizeof mem, &config, &l));
  for (uint64_t i = 0; i < 100; i++) {
    for (int j = 0; j < N * FRAME; j++) frame[j] = (uint8_t)(i * 29 + (uint64_t)j * 3), last[j] = (uint8_t)(i + (uint64_t)j);
    first[1] = i % 9 == 0;
    TRY(rlcore_lazy_frames_push(l, 0, frame, i % 7 == 0, &numbers[0]));
    TRY(rlcore_lazy_frames_push_range(l, 1, N, frame, first, i > 0 ? last : NULL, numbers));
    MIX(h, numbers);
  }
  for (uint32_t b = 0; b < B; b++) index[b] = (rlcore_frame_index){.number = 71 + 3 * b - (71 + 3 * b) % 7};
  TRY(rlcore_lazy_frames_gather_transitions(l, index, B, RLCORE_LAYOUT_CHW, RLCORE_F32, obs, next_obs));
  MIX(h, obs);
  MIX(h, next_obs);
  TRY(rlcore_lazy_frames_gather(l, index, B, RLCORE_LAYOUT_HWC, RLCORE_F32, obs));
  MIX(h, obs);
  TRY(rlcore_lazy_frames_held(l, 1, &begin, &end));
  mix_u64(h, begin);
  mix_u64(h, end);
  TRY(rlcore_lazy_frames_indices(l, 1, end - 1, indices));
  MIX(h, indices);
  TRY(rlcore_lazy_frames_stack(l, 1, end - 1, RLCORE_LAYOUT_HWC, RLCORE_U8, stack));
  MIX(h, stack);
  TRY(rlcore_lazy_frames_newest(stack, STACK, 1, RLCORE_LAYOUT_HWC, newest, FRAME));
  TRY(rlcore_lazy_frames_frame(l, 1, end - 1, &lies));
  for (int j = 0; j < FRAME; j++) CHECK(newest[j] == lies[j]);
  TRY(rlcore_lazy_frames_read(l, 1, end - STACK, STACK, some, starts));
  MIX(h, some);
  MIX(h, starts);
  TRY(rlcore_lazy_frames_bytes_per_transition(&config, &cost));
  mix_u64(h, cost);
  TRY(rlcore_lazy_frames_size(&config, &size));
  mix_block(h, mem, size);
  if (HAS_READERS) {
    const rlcore_lazy_frames *reader;
    TRY(rlcore_lazy_frames_attach_reader(mem, size, &reader));
    TRY(rlcore_lazy_frames_read(reader, 1, end - 1, 1, frame, starts));
    for (int j = 0; j < FRAME; j++) CHECK(newest[j] == frame[j]);
  }
  return RLCORE_OK;
}

/* ---- Replay memories: frames that wrap around, sequences and transitions drawn from them, and the blocks ---- */
static rlcore_status memory(hashes *h) {
  enum { B = 24, L = 6, STACK = 2, FRAME = 4, MORE = 5 };
  static const rlcore_column columns[] = {
      {.name = "picture", .kind = RLCORE_U8, .len = FRAME, .num_stack = STACK},
      {.name = "action", .kind = RLCORE_I32, .len = 1},
  };
  static uint64_t mem[2048];
  static uint8_t pictures[B * L * FRAME * STACK], terminated[B * L], truncated[B * L], valid[B * L], more[MORE * FRAME];
  static int32_t actions[B * L], chosen[MORE];
  static float reward[B * L];
  const rlcore_draw exact = {.struct_size = sizeof exact, .size = 3, .burn_in = 2, .exact_size = 1, .skewness = 3};
  const rlcore_draw original = {.struct_size = sizeof original, .size = 4, .rule = RLCORE_DRAW_ORIGINAL};
  rlcore_memory_config config;
  rlcore_memory *m;
  rlcore_sample samples[4 * B];
  rlcore_frame rollout[MORE];
  rlcore_rng rng, kept;
  uint64_t number, begin, end;
  uint32_t cuts, ordinary, priority;
  size_t size;
  TRY(rlcore_memory_config_init(&config, sizeof config));
  config.history_size = 70;
  config.max_sample_size = L;
  config.columns = columns;
  config.num_columns = LEN(columns);
  TRY(rlcore_memory_init(mem, sizeof mem, &config, &m));
  for (uint32_t i = 0; i < 200; i++) {
    const uint8_t picture[FRAME] = {(uint8_t)i, (uint8_t)(3 * i), (uint8_t)(5 * i), (uint8_t)(7 * i)};
    const int32_t action = (int32_t)i % 4;
    const void *values[] = {picture, &action};
    const rlcore_frame frame = {
        .episode = i / 9, .step = i % 9, .reward = i % 5 ? 0.0f : 1.0f, .terminated = i % 9 == 8, .truncated = i % 27 == 7,
    };
    if (frame.step == 8 && i % 27 == 8) continue;  /* that episode was cut one step earlier */
    TRY(rlcore_memory_add(m, &frame, values, NULL, NULL));
  }
  for (uint32_t i = 0; i < MORE; i++) {
    rollout[i] = (rlcore_frame){.episode = 500, .step = i, .reward = i == 3 ? -0.5f : 0.05f};
    chosen[i] = (int32_t)i;
    for (uint32_t j = 0; j < FRAME; j++) more[i * FRAME + j] = (uint8_t)(200 + i * FRAME + j);
  }
  TRY(rlcore_memory_add_rollout(m, rollout, MORE, (const void *[]){more, chosen}, &number, &cuts));
  mix_u64(h, number);
  MIX_ONE(h, cuts);
  TRY(rlcore_rng_seed(&rng, 17));
  TRY(rlcore_memory_sample_uniform(m, &rng, NULL, samples, B));
  TRY(rlcore_memory_sample_priority(m, &rng, NULL, samples + B, B));
  TRY(rlcore_memory_sample_priority(m, &rng, &exact, samples + 2 * B, B));
  TRY(rlcore_memory_sample_uniform(m, &rng, &original, samples + 3 * B, B));
  mix_samples(h, samples, LEN(samples));
  for (uint32_t i = 0; i < LEN(samples); i += B) {
    TRY(rlcore_memory_gather(m, SEQUENCES(samples + i, B, L), 0, RLCORE_LAYOUT_HWC, RLCORE_U8, pictures));
    TRY(rlcore_memory_gather(m, SEQUENCES(samples + i, B, L), 1, RLCORE_LAYOUT_HWC, RLCORE_I32, actions));
    TRY(rlcore_memory_gather_frames(m, SEQUENCES(samples + i, B, L), reward, terminated, truncated, valid));
    MIX(h, pictures);
    MIX(h, actions);
    MIX(h, reward);
    MIX(h, terminated);
    MIX(h, truncated);
    MIX(h, valid);
  }
  TRY(rlcore_memory_store_rng(m, &rng));
  TRY(rlcore_memory_load_rng(m, &kept));
  mix_rng(h, &kept);
  TRY(rlcore_memory_held(m, &begin, &end));
  mix_u64(h, begin);
  mix_u64(h, end);
  TRY(rlcore_memory_pool_len(m, &ordinary, &priority));
  for (uint32_t i = 0; i < ordinary + priority; i++) {
    TRY(rlcore_memory_pool_number(m, i < priority, i < priority ? i : i - priority, &number));
    mix_u64(h, number);
  }
  TRY(rlcore_memory_size(&config, &size));
  if (HAS_READERS) {
    const rlcore_memory *reader;
    TRY(rlcore_memory_attach_reader(mem, size, &reader));
    TRY(rlcore_memory_gather_frames(reader, SEQUENCES(samples, B, L), reward, NULL, NULL, NULL));
  }
  mix_block(h, mem, size);
  return RLCORE_OK;
}

static rlcore_status replay(hashes *h) {
  enum { N = 3, B = 32, OBS = 5 };
  static const rlcore_column columns[] = {
      {.name = "obs", .kind = RLCORE_F32, .len = OBS},
      {.name = "action", .kind = RLCORE_I32, .len = 1},
  };
  static uint64_t mem[4096];
  static float obs[N * OBS], final_obs[N * OBS], reward[N], weight[B], probability[B], got[B], discount[B], next[B * OBS];
  static int32_t action[N], taken[B];
  static uint8_t terminated[N], truncated[N], over[B], cut[B];
  static const uint8_t gone[N] = {0, 1, 0};
  const void *values[] = {obs, action}, *final_values[] = {final_obs, NULL};
  rlcore_replay_stats stats = {.struct_size = sizeof stats};
  rlcore_replay_config config;
  rlcore_replay *r;
  rlcore_frame_index index[B];
  rlcore_rng rng, kept;
  uint64_t number, forgotten;
  size_t size;
  TRY(rlcore_replay_config_init(&config, sizeof config));
  config.num_envs = N;
  config.num_rows = 50;
  config.columns = columns;
  config.num_columns = LEN(columns);
  config.num_steps = 3;
  TRY(rlcore_replay_init(mem, sizeof mem, &config, &r));
  TRY(rlcore_last_error_write(RLCORE_E_VALUE, "of the host's own", 18));
  TRY(rlcore_rng_seed(&rng, 18));
  for (uint32_t t = 0; t < 120; t++) {
    TRY(draw(&rng, -1.0, 1.0, obs, N * OBS));
    TRY(draw(&rng, -1.0, 1.0, final_obs, N * OBS));
    TRY(draw(&rng, -1.0, 1.0, reward, N));
    for (uint32_t i = 0; i < N; i++) {
      action[i] = (int32_t)(t * N + i);
      terminated[i] = (t + 5 * i) % 11 == 10;
      truncated[i] = (t + i) % 17 == 16;
    }
    if (t == 20) TRY(rlcore_replay_set_alpha(r, 0.8f));
    if (t == 70) TRY(rlcore_replay_cut(r, gone));
    if (t == 60) {  /* one environment is a step ahead */
      TRY(rlcore_replay_add(r, REPLAY_STEP(1, reward[1], 1, 0), values, final_values, &number));
      mix_u64(h, number);
    }
    TRY(rlcore_replay_add_all(r, values, reward, terminated, truncated, final_values));
    if (t % 10 != 9) continue;
    TRY(rlcore_replay_sample(r, &rng, REPLAY_DRAW(0.5f, t % 3, t % 20 == 9), B, index, weight, probability));
    TRY(rlcore_replay_transitions(r, index, B, got, discount, over, cut));
    TRY(rlcore_replay_gather(r, index, B, 0, RLCORE_LAYOUT_HWC, RLCORE_F32, next));
    MIX(h, next);
    TRY(rlcore_replay_gather_next(r, index, B, 0, RLCORE_LAYOUT_HWC, RLCORE_F32, next));
    TRY(rlcore_replay_gather(r, index, B, 1, RLCORE_LAYOUT_HWC, RLCORE_I32, taken));
    TRY(rlcore_replay_update(r, index, probability, B, &forgotten));
    TRY(rlcore_replay_get_stats(r, &stats));
    mix_index(h, index, B);
    MIX(h, weight);
    MIX(h, probability);
    MIX(h, got);
    MIX(h, discount);
    MIX(h, over);
    MIX(h, cut);
    MIX(h, next);
    MIX(h, taken);
    mix_u64(h, forgotten);
    MIX_ONE(h, stats.alpha);
    mix_u64(h, stats.num_transitions);
    MIX_ONE(h, stats.total);
    MIX_ONE(h, stats.min_weight);
    MIX_ONE(h, stats.max_priority);
  }
  TRY(rlcore_replay_store_rng(r, &rng));
  TRY(rlcore_replay_load_rng(r, &kept));
  mix_rng(h, &kept);
  TRY(rlcore_replay_size(&config, &size));
  if (HAS_READERS) {
    const rlcore_replay *reader;
    TRY(rlcore_replay_attach_reader(mem, size, &reader));
    TRY(rlcore_replay_transitions(reader, index, B, weight, NULL, NULL, NULL));
    for (int i = 0; i < B; i++) CHECK(weight[i] == got[i]);
  }
  mix_block(h, mem, size);
  return RLCORE_OK;
}

/* ---- Rollouts: their minibatches and other results ---- */
static rlcore_status rollouts(hashes *h) {
  enum { T = 12, N = 3, OBS = 4, R = 4, B = T * N / R, L = 5, W = 6 };
  static const rlcore_column columns[] = {
      {.name = "obs", .kind = RLCORE_F32, .len = OBS},
      {.name = "action", .kind = RLCORE_I32, .len = 1},
  };
  static uint64_t mem[8192];
  static float obs[N * OBS], reward[N], value[N], log_prob[N], final_value[N], got[B * R * OBS], advantage[B * R], mask[B * R];
  static float wide[W * L * OBS], wide_mask[W * L], last[W];
  static int32_t action[N], acts[W * L], timestep[W * L];
  static uint8_t terminated[N], truncated[N];
  static char text[4096];
  static float read[T * N];
  uint32_t index[B], step_drawn, count;
  uint64_t next = 0, next_step = 0, lost;
  rlcore_window windows[W];
  rlcore_metric_row logged[32];
  const void *values[] = {obs, action}, *column;
  void *rows[] = {got, NULL}, *wide_rows[] = {wide, acts}, *row;
  const rlcore_rollout_step step = {
      .struct_size = sizeof step, .columns = values, .reward = reward, .value = value, .log_prob = log_prob,
      .terminated = terminated, .truncated = truncated, .final_value = final_value,
  };
  const rlcore_minibatch batch = {.struct_size = sizeof batch, .columns = rows, .advantage = advantage, .mask = mask};
  const rlcore_minibatch padded = {
      .struct_size = sizeof padded, .columns = wide_rows, .advantage = last, .mask = wide_mask, .timestep = timestep};
  rlcore_rollout view = {.struct_size = sizeof view};
  rlcore_rollout_extras extras = {.struct_size = sizeof extras};
  rlcore_rollout_progress progress = {.struct_size = sizeof progress};
  static const uint8_t gone[N] = {1};
  rlcore_rollout_buffer_config config;
  rlcore_rollout_buffer *b;
  rlcore_rng rng;
  size_t size;
  TRY(rlcore_rollout_buffer_config_init(&config, sizeof config));
  config.num_steps = T;
  config.num_envs = N;
  config.log_capacity = 32;
  config.columns = columns;
  config.num_columns = LEN(columns);
  TRY(rlcore_rollout_buffer_init(mem, sizeof mem, &config, &b));
  TRY(rlcore_rng_seed(&rng, 21));
  for (uint32_t round = 0; round < 2; round++) {
    for (uint32_t k = 0; k < T; k++) {
      TRY(draw(&rng, -1.0, 1.0, obs, N * OBS));
      TRY(draw(&rng, -1.0, 1.0, reward, N));
      TRY(draw(&rng, -1.0, 1.0, value, N));
      TRY(draw(&rng, -2.0, 0.0, log_prob, N));
      TRY(draw(&rng, -1.0, 1.0, final_value, N));
      for (uint32_t i = 0; i < N; i++) terminated[i] = (k + 3 * i) % 7 == 6, truncated[i] = (k + i) % 5 == 4;
      TRY(rlcore_rollout_buffer_row(b, 0, k, &row));
      for (uint32_t i = 0; i < N * OBS; i++) ((float *)row)[i] = obs[i];
      values[0] = k % 2 ? obs : NULL;
      TRY(rlcore_rollout_buffer_add(b, &step));
    }
    if (round == 1) TRY(rlcore_rollout_buffer_cut(b, gone));
    TRY(rlcore_rollout_buffer_log(b, RLCORE_METRIC_OWN + round, round));
    TRY(rlcore_rollout_buffer_finish(b, value, obs, 0.99f, 0.95f));
    TRY(rlcore_rollout_buffer_draw(b, T * N, R, index, B));
    TRY(rlcore_rollout_buffer_gather(b, index, B, R, &batch));
    TRY(rlcore_rollout_buffer_draw_windows(b, L, 0.3, windows, W));
    TRY(rlcore_rollout_buffer_gather_windows(b, windows, W, L, -7, &padded));
    TRY(rlcore_rollout_buffer_sample(b, &step_drawn));
    TRY(rlcore_rollout_buffer_view(b, &view));
    TRY(rlcore_rollout_buffer_extras(b, &extras));
    TRY(rlcore_rollout_buffer_column(b, 0, &column));
    TRY(rlcore_rollout_buffer_progress(b, &progress));
    TRY(rlcore_rollout_buffer_read_log(b, &next, logged, LEN(logged), &count, &lost));
    MIX(h, index);
    MIX(h, got);
    MIX(h, advantage);
    MIX(h, mask);
    for (int i = 0; i < W; i++) {
      const uint32_t numbers[] = {windows[i].first, windows[i].len, windows[i].pad, windows[i].timestep};
      MIX(h, numbers);
    }
    MIX(h, wide);
    MIX(h, acts);
    MIX(h, last);
    MIX(h, wide_mask);
    MIX(h, timestep);
    MIX_ONE(h, step_drawn);
    MIX_SOME(h, view.reward, T * N);
    MIX_SOME(h, view.bootstrap_value, N);
    MIX_SOME(h, extras.advantage, T * N);
    MIX_SOME(h, extras.value_target, T * N);
    MIX_SOME(h, extras.first, N);
    MIX_SOME(h, (const float *)column, (T + 1) * N * OBS);
    mix_u64(h, progress.global_step);
    MIX_ONE(h, progress.len_mean);
    MIX_ONE(h, progress.return_mean);
    for (uint32_t i = 0; i < count; i++) {
      mix_u64(h, logged[i].global_step);
      MIX_ONE(h, logged[i].value);
      MIX_ONE(h, logged[i].env);
      MIX_ONE(h, logged[i].metric);
    }
    const rlcore_rows_out read_out = {.struct_size = sizeof read_out, .num_rows = T, .final_value = read};
    TRY(rlcore_rollout_buffer_read(b, &next_step, &read_out, &count, &lost));
    MIX(h, read);
    mix_u64(h, next_step);
    TRY(rlcore_rollout_buffer_format_progress(b, text, sizeof text, &size));
    MIX_SOME(h, text, size);
    TRY(rlcore_rollout_buffer_format_step(b, 5, text, sizeof text, &size));
    MIX_SOME(h, text, size);
    TRY(rlcore_rollout_buffer_size(&config, &size));
    mix_block(h, mem, size);
    if (HAS_READERS) {
      const rlcore_rollout_buffer *reader;
      TRY(rlcore_rollout_buffer_attach_reader(mem, size, &reader));
      TRY(rlcore_rollout_buffer_progress(reader, &progress));
      CHECK(progress.num_steps == T);
    }
    TRY(rlcore_rollout_buffer_reset(b));
  }
  return RLCORE_OK;
}

static rlcore_status trajectories(hashes *h) {
  enum { T = 12, ROWS = 15, OBS = 4, M = 2 };
  static const rlcore_column columns[] = {
      {.name = "obs", .kind = RLCORE_F32, .len = OBS},
      {.name = "action", .kind = RLCORE_I32, .len = 3},
  };
  static uint64_t mem[512];
  static float obs[OBS], carried[M], returns[ROWS], advantage[ROWS], states[M], got[ROWS * OBS];
  static int32_t action[3], acts[ROWS * 3];
  static uint8_t valid[ROWS];
  static float read[ROWS];
  float reward, value;
  uint64_t next = 0, lost;
  uint8_t terminated = 0, truncated = 0;
  uint32_t time_steps, class, count;
  const void *values[] = {obs, action}, *column;
  void *rows[] = {got, acts};
  const rlcore_trajectory_rows out = {
      .struct_size = sizeof out, .num_rows = ROWS, .columns = rows, .returns = returns, .advantage = advantage,
      .memory = states, .time_steps = &time_steps, .valid = valid,
  };
  const rlcore_trajectory_frames frame = {
      .struct_size = sizeof frame, .num_frames = 1, .columns = values, .reward = &reward, .value = &value,
      .terminated = &terminated, .truncated = &truncated, .memory = carried,
  };
  rlcore_trajectory_view view = {.struct_size = sizeof view};
  rlcore_trajectory_config config;
  rlcore_trajectory *t;
  rlcore_rng rng;
  size_t size;
  TRY(rlcore_trajectory_config_init(&config, sizeof config));
  config.memory_len = M;
  config.one_hot = 2;
  config.columns = columns;
  config.num_columns = LEN(columns);
  TRY(rlcore_trajectory_init(mem, sizeof mem, &config, &t));
  TRY(rlcore_rng_seed(&rng, 23));
  for (uint32_t round = 0; round < 2; round++) {
    for (uint32_t k = 0; k < T; k++) {
      TRY(draw(&rng, -1.0, 1.0, obs, OBS));
      TRY(draw(&rng, -1.0, 1.0, carried, M));
      TRY(draw(&rng, -1.0, 1.0, &reward, 1));
      TRY(draw(&rng, -1.0, 1.0, &value, 1));
      for (uint32_t i = 0; i < 3; i++) action[i] = i == k % 3;
      terminated = round == 1 && k == T - 1;
      TRY(rlcore_trajectory_add(t, &frame));
      if (k == 4) TRY(rlcore_trajectory_pop(t));
    }
    TRY(rlcore_trajectory_process(t, 0.99f, 0.95f, 0.5f, &out));
    MIX(h, returns);
    MIX(h, advantage);
    MIX(h, states);
    MIX(h, got);
    MIX(h, acts);
    MIX(h, valid);
    MIX_ONE(h, time_steps);
    TRY(rlcore_trajectory_process_rp(t, 0.1f, &out, &class));
    MIX(h, returns);
    MIX(h, got);
    MIX_ONE(h, class);
    TRY(rlcore_trajectory_held(t, &view));
    TRY(rlcore_trajectory_column(t, 1, &column));
    MIX_SOME(h, view.value, view.num_frames);
    MIX_SOME(h, view.memory, view.num_frames * M);
    MIX_SOME(h, (const int32_t *)column, view.num_frames * 3);
    const rlcore_rows_out read_out = {.struct_size = sizeof read_out, .num_rows = ROWS, .reward = read};
    TRY(rlcore_trajectory_read(t, &next, &read_out, &count, &lost));
    MIX(h, read);
    mix_u64(h, next);
    TRY(rlcore_trajectory_size(&config, &size));
    mix_block(h, mem, size);
    if (HAS_READERS) {
      const rlcore_trajectory *reader;
      TRY(rlcore_trajectory_attach_reader(mem, size, &reader));
      TRY(rlcore_trajectory_held(reader, &view));
      CHECK(view.num_frames == T - 1);
    }
    TRY(rlcore_trajectory_reset(t));
  }
  return RLCORE_OK;
}

/* ---- Hindsight, a queue, and a rollout as a file, which is little-endian everywhere ---- */
static int32_t near(void *user, const float *achieved, const float *goal, float *reward, uint8_t *terminated) {
  (void)user;
  *terminated = *achieved == *goal;
  *reward = *terminated ? 0.0f : -1.0f;
  return 0;
}

static rlcore_status hindsight(hashes *h) {
  enum { T = 20 };
  static float achieved[T + 1], goal[T], reward[T];
  static uint32_t step[T], num_steps[T], row[T], goal_row[T];
  static uint8_t terminated[T];
  rlcore_rng rng;
  for (uint32_t t = 0; t <= T; t++) achieved[t] = (float)(t % 6);
  for (uint32_t t = 0; t < T; t++) step[t] = t, num_steps[t] = T, row[t] = t + 1;
  TRY(rlcore_rng_seed(&rng, 15));
  for (uint32_t strategy = RLCORE_RELABEL_FUTURE; strategy <= RLCORE_RELABEL_EPISODE; strategy++) {
    TRY(rlcore_relabel_draw(strategy, step, num_steps, T, &rng, goal_row));
    const rlcore_relabel steps = {sizeof steps, T, 1, T + 1, achieved, row, goal_row};
    TRY(rlcore_relabel_goals(&steps, near, NULL, goal, reward, terminated));
    MIX(h, goal_row);
    MIX(h, goal);
    MIX(h, reward);
    MIX(h, terminated);
  }
  return RLCORE_OK;
}

static rlcore_status file(hashes *h) {
  enum { T = 7, N = 3 };
  static float obs[(T + 1) * N * 2], real[T * N], bootstrap_value[N], final_obs[2], final_value[1];
  static int32_t action[T * N];
  static uint8_t none[T * N], truncated[T * N], valid[T * N], image[RLCORE_ROLLOUT_FILE_HEADER_SIZE + 1024], back[sizeof image];
  static uint64_t final_index[] = {4}, mem[2048];
  const rlcore_rollout_file what = {sizeof what, T, N, RLCORE_F32, 1, {2}, RLCORE_I32, 1, 0, 1, 0, 1, 2, 3, 4, 0, 0};
  const rlcore_rollout_arrays arrays = {
      sizeof arrays, 0, obs, action, real, real, bootstrap_value, real, none, truncated, valid, final_index, final_obs,
      final_value, NULL, NULL,
  };
  const rlcore_rollout_arrays into = {.struct_size = sizeof into, .obs = obs, .action = action};
  rlcore_rollout_file found = {.struct_size = sizeof found};
  rlcore_queue_config config;
  rlcore_queue *queue;
  rlcore_rng rng;
  uint32_t waiting;
  size_t size, taken;
  TRY(rlcore_rng_seed(&rng, 16));
  TRY(draw(&rng, -1.0, 1.0, obs, LEN(obs)));
  TRY(draw(&rng, -1.0, 1.0, real, LEN(real)));
  for (int i = 0; i < T * N; i++) action[i] = -i, valid[i] = 1;
  truncated[4] = 1;
  TRY(rlcore_rollout_file_size(&what, &size));
  TRY(rlcore_rollout_file_write(&what, &arrays, image, sizeof image));
  TRY(rlcore_queue_config_init(&config, sizeof config));
  config.capacity = 2;
  config.item_size = sizeof image;
  TRY(rlcore_queue_init(mem, sizeof mem, &config, &queue));
  TRY(rlcore_queue_push(queue, image, size));
  TRY(rlcore_queue_len(queue, &waiting));
  MIX_ONE(h, waiting);
  TRY(rlcore_queue_pop(queue, back, sizeof back, &taken));
  for (size_t i = 0; i < LEN(obs); i++) obs[i] = 0.0f;
  TRY(rlcore_rollout_file_check(back, taken, &found));
  CHECK(found.num_steps == T && found.num_episodes == 4);
  TRY(rlcore_rollout_file_read(back, taken, &into));
  MIX_SOME(h, back, taken);
  MIX(h, obs);
  TRY(rlcore_queue_size(&config, &size));
  mix_block(h, mem, size);
  return RLCORE_OK;
}

const stage DATA_STAGES[] = {
    {"records", records},
    {"frames", frames},
    {"memory", memory},
    {"replay", replay},
    {"rollouts", rollouts},
    {"trajectories", trajectories},
    {"hindsight", hindsight},
    {"file", file},
    {NULL, NULL},
};
