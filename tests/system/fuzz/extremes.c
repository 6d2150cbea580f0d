/* Valid calls at the ends of their ranges, on blocks of any kind. After every call a copy of the block attaches, a failing call
   has changed only the memory that the header names, outputs are in the ranges that the header promises, and every learner can go
   on with ordinary inputs. */

#include "networks.h"

/* ---- Learners and policies ---- */

/* The learner's spaces and configuration. */
static uint32_t choices[2], num_choices;
static float low[2], high[2];
static rlcore_space seen, taken;
static rlcore_learner_config made_from;
static int bounded;

/* The learner's inputs. */
static union {
  float numbers[N * OBS];
  uint8_t bytes[N * OBS];
} shown;
static float reward[N];
static uint8_t mask[N * 16], terminated[N], truncated[N];

static void show(int ordinary) {
  memset(mask, 1, sizeof mask);
  memset(terminated, 0, N), memset(truncated, 0, N);
  if (ordinary) {
    for (unsigned i = 0; i < N * OBS; i++) {
      if (seen.kind == RLCORE_U8) shown.bytes[i] = (uint8_t)(40 * i);
      else shown.numbers[i] = (float)(i % 5) / 4 - 0.5f;
    }
    for (int i = 0; i < N; i++) reward[i] = (float)i;
    return;
  }
  if (seen.kind == RLCORE_U8) memset(shown.bytes, (int)byte(), sizeof shown.bytes);
  else reals(shown.numbers, N * OBS);
  reals(reward, N);
  flags(terminated, N), flags(truncated, N);
  if (made_from.use_action_mask && byte() & 1) flags(mask, N * num_choices);
}

static const uint8_t *mask_given(void) { return made_from.use_action_mask ? mask : NULL; }

static void check_actions(const void *action, uint32_t rows, const uint8_t *allowed) {
  for (uint32_t i = 0; i < rows * taken.len; i++) {
    const uint32_t element = i % taken.len;
    if (taken.kind == RLCORE_I32) {
      const int32_t choice = ((const int32_t *)action)[i];
      ALWAYS(choice >= 0 && (uint32_t)choice < choices[element]);
      const uint32_t before_it = element == 0 ? 0 : choices[0];
      if (allowed != NULL) ALWAYS(allowed[i / taken.len * num_choices + before_it + (uint32_t)choice] != 0);
    } else if (bounded) within((const float *)action + i, 1, low[element], high[element]);
    else ALWAYS(isfinite(((const float *)action)[i]));
  }
}

/* Makes the call that is due. Only an update whose numbers overflow may return an error and go on. */
static int32_t advance(rlcore_learner *p, uint32_t max_slices) {
  uint32_t due;
  int32_t status;
  FINE(rlcore_learner_phase(p, &due));
  switch (due) {
    case RLCORE_LEARNER_ACT:
      status = TRY(rlcore_learner_act(p, ACTED(NULL, &shown, mask_given(), OUT(0))));
      if (status == RLCORE_OK) check_actions(OUT(0), N, mask_given());
      return status;
    case RLCORE_LEARNER_OBSERVE: return TRY(rlcore_learner_observe(p, STEPPED(NULL, reward, terminated, truncated, &shown, mask_given())));
    default: {
      rlcore_learner_stats *stats = OUT(1);
      stats->struct_size = sizeof *stats;
      status = TRY_WRITING(ON_VALUE, rlcore_learner_learn(p, OBSERVED(&shown, mask_given()), max_slices, stats));
      if (status == RLCORE_OK) ALWAYS(stats->minibatches_left <= made_from.num_epochs * made_from.num_minibatches);
      return status;
    }
  }
}

/* From its current state, ordinary inputs have to lead the learner through a whole update to actions, in no more calls than that
   takes; and soon through a successful update, unless its loss coefficients prevent that. */
static void check_alive(rlcore_learner *p) {
  uint32_t due;
  int acted = 0, learned = 0;
  const uint32_t update = made_from.num_epochs * made_from.num_minibatches, cycle = 2 * made_from.num_steps + update;
  show(1);
  for (uint32_t calls = 0; calls < 4 * cycle; calls++) {
    FINE(rlcore_learner_phase(p, &due));
    const int32_t status = advance(p, 1);
    if (due == RLCORE_LEARNER_ACT && status == RLCORE_OK) acted++;
    if (due == RLCORE_LEARNER_LEARN && status == RLCORE_OK) learned++;
  }
  ALWAYS(acted >= 2 * (int)made_from.num_steps);
  const int usual = made_from.value_coef <= 100 && fabsf(made_from.entropy_coef) <= 100;
  if (usual) ALWAYS(learned > 0);
}

static rlcore_sampling any_sampling(void) {
  rlcore_sampling s = {.method = byte() % 5};
  if (s.method >= RLCORE_SAMPLING_TOPK && taken.kind != RLCORE_I32) s.method = RLCORE_SAMPLING_BASIC;
  if (s.method >= RLCORE_SAMPLING_TOPK) s.k = whole() | 1;
  if (s.method == RLCORE_SAMPLING_TEMPERATURE) s.temperature = between(1, 1e-45f, FLT_MAX);
  return s;
}

/* The learner's current policy, used as in a game. */
static void use_policy(rlcore_learner *p) {
  rlcore_policy *policy;
  size_t size, len;
  FINE(TRY(rlcore_policy_size(p, &size)));
  if (size > BLOCK_SIZE) return;
  num_blocks = 1;
  FINE(TRY(rlcore_policy_export(p, now.block[1], size, &policy)));
  blocks[1].kind = POLICY, blocks[1].size = size, num_blocks = 2;
  FINE(TRY(rlcore_policy_scratch_len(policy, N, &len)));
  ALWAYS(len <= ROOM);
  const rlcore_sampling how = any_sampling();
  const uint8_t *allowed = taken.kind == RLCORE_I32 && byte() & 1 ? mask : NULL;
  int32_t status = TRY(rlcore_policy_act(policy, N, ACTED(NULL, &shown, allowed, OUT(2)), BUFFERS(NULL, NULL, scratch, len), &how, &now.rng));
  if (status == RLCORE_OK) check_actions(OUT(2), N, allowed);
  status = TRY(rlcore_policy_act_greedy(policy, N, ACTED(NULL, &shown, allowed, OUT(2)), BUFFERS(NULL, NULL, scratch, len)));
  if (status == RLCORE_OK) check_actions(OUT(2), N, allowed);
}

static void learner(void) {
  rlcore_learner *p;
  size_t size;
  rlcore_learner_config *c = &made_from;
  FINE(rlcore_learner_config_init(c, sizeof *c, RLCORE_ALGORITHM_PPO));
  const unsigned shape = byte(), more_of_it = byte();
  c->num_envs = N, c->num_steps = 1 + (shape & 1), c->num_minibatches = 1 + (shape >> 1 & 1), c->num_epochs = 1 + (shape >> 2 & 3);
  c->num_hidden = shape >> 4 & 1, c->hidden_len[0] = c->num_hidden * 2, c->hidden_len[1] = 0;
  c->activation = shape >> 5 & 1, c->normalize_obs = shape >> 6 & 1, c->normalize_reward = shape >> 7;
  c->normalize_advantage = !(more_of_it & 1);
  seen = (rlcore_space){.kind = more_of_it & 2 && more_of_it & 4 ? RLCORE_U8 : RLCORE_F32, .len = 1 + (more_of_it >> 3 & 1)};
  taken = (rlcore_space){.kind = more_of_it & 16 ? RLCORE_F32 : RLCORE_I32, .len = 1 + (more_of_it >> 5 & 1), .n = more_of_it & 16 ? NULL : choices};
  bounded = taken.kind == RLCORE_F32 && more_of_it & 64;
  choices[0] = 2 + (more_of_it & 1), choices[1] = 1 + (more_of_it >> 1 & 1);
  num_choices = choices[0] + (taken.len > 1 ? choices[1] : 0);
  if (taken.kind == RLCORE_I32) c->use_action_mask = more_of_it >> 7;
  else c->squash = more_of_it >> 7;
  for (int i = 0; bounded && i < 2; i++) low[i] = between(-1, -FLT_MAX, 0), high[i] = between(1, 0, FLT_MAX);
  if (bounded) taken.low = low, taken.high = high;
  c->seed = long_whole();
  if (byte() > 200) c->total_steps = long_whole();
  c->learning_rate = between(0.01f, 0, 1), c->learning_rate_end = between(0, 0, 1);
  c->clip = between(0.2f, FLT_MIN, 10), c->clip_end = between(0.2f, 0, 10), c->discount = between(0.99f, 0, 1);
  c->gae_lambda = between(0.95f, 0, 1);
  c->value_coef = between(0.5f, 0, FLT_MAX), c->entropy_coef = between(0.01f, -FLT_MAX, FLT_MAX);
  c->entropy_share_end = between(1, 0, 1);
  c->value_clip = between(0, 0, FLT_MAX), c->max_grad_norm = between(0.5f, 0, FLT_MAX), c->target_kl = between(0, 0, FLT_MAX);
  c->adam_beta1 = between(0.9f, 0, 0.9999999f), c->adam_beta2 = between(0.999f, 0, 0.9999999f);
  c->adam_epsilon = between(1e-5f, FLT_MIN, 1), c->log_std_init = between(0, -20, 2);
  c->obs_clip = between(10, FLT_MIN, FLT_MAX), c->reward_clip = between(10, FLT_MIN, FLT_MAX);
  /* Fields that are not read have their defaults. */
  if (c->total_steps == 0) c->learning_rate_end = 0, c->clip_end = 0.2f, c->entropy_share_end = 1;
  if (taken.kind == RLCORE_I32) c->log_std_init = 0;
  if (!c->normalize_obs) c->obs_clip = 10;
  if (!c->normalize_reward) c->reward_clip = 10;
  int32_t status = rlcore_learner_size(c, &seen, &taken, &size);
  KNOWN(status);
  if (status != RLCORE_OK || size > BLOCK_SIZE) return;
  FINE(rlcore_learner_init(now.block[0], size, c, &seen, &taken, &p));
  blocks[0].kind = LEARNER, blocks[0].size = size, num_blocks = 1;
  FINE(rlcore_rng_seed(&now.rng, 1));
  for (int calls = 0; more(calls); calls++) {
    const unsigned how = byte();
    if (how & 64) show(how & 128);
    switch (how % 8) {
      case 0: /* many equal steps */
        look_once_in = 16;
        for (unsigned n = byte(); n > 0; n--) advance(p, 0);
        look_once_in = 1;
        break;
      case 1: {
        const rlcore_sampling s = any_sampling();
        status = TRY(rlcore_learner_predict(p, ACTED(NULL, &shown, mask_given(), OUT(3)), NULL, NULL, &s));
        if (status == RLCORE_OK) check_actions(OUT(3), N, mask_given());
        break;
      }
      case 2: FINE(TRY(rlcore_learner_freeze(p, how >> 5 & 1))); break;
      case 3: use_policy(p); break;
      default: advance(p, how >> 3 & 3);
    }
  }
  check_alive(p);
  if (byte() & 1) use_policy(p);
}

/* ---- Environments, and statistics of rewards and observations ---- */

static void normalizer(void) {
  rlcore_vec_normalize_config c;
  rlcore_vec_normalize *v[2];
  FINE(rlcore_vec_normalize_config_init(&c, sizeof c));
  const unsigned how = byte();
  c.num_envs = N, c.obs_len = 2, c.normalize_obs = how & 1, c.normalize_reward = how >> 1 & 1;
  c.clip_obs = between(10, 1e-45f, FLT_MAX), c.clip_reward = between(10, 1e-45f, FLT_MAX);
  c.discount = between(0.99f, 0, 1), c.epsilon = between_doubles(1e-8, 1e-30, 1e30);
  BEGIN(0, vec_normalize, NORMALIZER, c, v[0]);
  BEGIN(1, vec_normalize, NORMALIZER, c, v[1]);
  for (int calls = 0; more(calls); calls++) {
    const unsigned call = byte(), which = call >> 7;
    float in[N * 2], final[N * 2], got[N];
    uint8_t ended[2][N], valid[N];
    const rlcore_rows step = {.struct_size = sizeof step, .obs = reals(in, N * 2), .reward = reals(got, N), .terminated = flags(ended[0], N), .truncated = flags(ended[1], N), .final_obs = call & 64 ? reals(final, N * 2) : NULL, .valid = call & 32 ? flags(valid, N) : NULL};
    const rlcore_rows out = {.struct_size = sizeof out, .obs = OUT(0), .reward = OUT(1), .terminated = ended[0], .truncated = ended[1], .final_obs = OUT(2)};
    memset(now.out, 0, 3 * ROOM);
    int32_t status = RLCORE_OK;
    switch (call % 8) {
      case 0: status = TRY(rlcore_vec_normalize_reset(v[which], in, OUT(0))); break;
      case 1: status = TRY(rlcore_vec_normalize_reset_one(v[which], 1, in, OUT(0))); break;
      case 2: status = TRY(rlcore_vec_normalize_obs(v[which], N, in, OUT(0))); break;
      case 3: FINE(TRY(rlcore_vec_normalize_freeze(v[which], call >> 5 & 1))); break;
      case 4:
        for (unsigned n = byte(); n > 0; n--) TRY(rlcore_vec_normalize_merge(v[n & 1], v[!(n & 1)]));
        break;
      case 5: {
        rlcore_vec_normalize_stats *stats = OUT(3);
        double *mean = OUT(4), *var = OUT(5);
        stats->struct_size = sizeof *stats;
        FINE(TRY(rlcore_vec_normalize_statistics(v[which], mean, var, stats)));
        ALWAYS(isfinite(stats->return_mean) && stats->return_var >= 0 && isfinite(stats->return_var) && isfinite(stats->obs_count));
        for (int i = 0; i < 2; i++) ALWAYS(!c.normalize_obs || (isfinite(mean[i]) && isfinite(var[i]) && var[i] >= 0));
        break;
      }
      default:
        for (unsigned n = call & 1 ? byte() & 31 : 1; n > 0; n--) status = TRY(rlcore_vec_normalize_step(v[which], &step, &out));
    }
    if (status != RLCORE_OK) continue;
    within(OUT(0), N * 2, c.normalize_obs ? -c.clip_obs : -FLT_MAX, c.normalize_obs ? c.clip_obs : FLT_MAX);
    within(OUT(1), N, c.normalize_reward ? -c.clip_reward : -FLT_MAX, c.normalize_reward ? c.clip_reward : FLT_MAX);
  }
}

static void monitor(void) {
  rlcore_monitor_config c;
  rlcore_monitor *m;
  FINE(rlcore_monitor_config_init(&c, sizeof c));
  c.num_envs = N, c.keep = byte() % 4, c.capacity = N + byte() % 3, c.num_info = 1;
  c.start = between_doubles(0, -DBL_MAX, DBL_MAX);
  BEGIN(0, monitor, MONITOR, c, m);
  for (int calls = 0; more(calls); calls++) {
    const unsigned call = byte();
    float got[N];
    uint8_t ended[2][N], valid[N];
    rlcore_monitor_stats *stats = OUT(0);
    rlcore_episode *episodes = OUT(1);
    switch (call % 8) {
      case 0: FINE(TRY(rlcore_monitor_reset(m))); break;
      case 1: FINE(TRY(rlcore_monitor_reset_one(m, call >> 7))); break;
      case 2:
        stats->struct_size = sizeof *stats;
        FINE(TRY(rlcore_monitor_means(m, stats)));
        ALWAYS(stats->num_kept == 0 || (isfinite(stats->return_mean) && stats->len_mean >= 1));
        break;
      case 3: {
        uint32_t *count = OUT(2);
        if (call & 64) now.next = 0;
        FINE(TRY(rlcore_monitor_read(m, &now.next, episodes, OUT(3), call >> 5, count, NULL)));
        for (uint32_t i = 0; i < *count; i++) {
          char row[RLCORE_MONITOR_ROW_SIZE];
          size_t len;
          ALWAYS(isfinite(episodes[i].episode_return) && isfinite(episodes[i].seconds) && episodes[i].env < N && episodes[i].len > 0);
          FINE(rlcore_monitor_format_row(&episodes[i], (double *)OUT(3) + i, 1, row, sizeof row, &len));
        }
        break;
      }
      default: {
        const rlcore_rows step = {.struct_size = sizeof step, .reward = reals(got, N), .terminated = flags(ended[0], N), .truncated = flags(ended[1], N), .valid = call & 32 ? flags(valid, N) : NULL};
        const double seconds = between_doubles(1, -DBL_MAX, DBL_MAX), info[N] = {between_doubles(1, -DBL_MAX, DBL_MAX), 1e-310};
        for (unsigned n = call & 64 ? byte() : 1; n > 0; n--) TRY(rlcore_monitor_step(m, &step, seconds, info));
      }
    }
  }
}

/* A built-in environment with any wrappers, stepped in whole calls and by workers. */
static void environments(void) {
  static const uint32_t IDS[] = {1, 2, 3, 4, 5, 101, 105, 109};
  static rlcore_wrapper wrappers[3];
  rlcore_vecenv *v;
  rlcore_batch *b;
  size_t size;
  rlcore_vecenv_config c;
  rlcore_batch_config groups;
  rlcore_env_def def = *BUILTIN(IDS[byte() % 8]);
  FINE(rlcore_vecenv_config_init(&c, sizeof c));
  FINE(rlcore_batch_config_init(&groups, sizeof groups));
  c.num_envs = N, c.seed = long_whole(), c.autoreset = byte() % 4, c.max_episode_steps = whole(), groups.in_series = 1 + byte() % N;
  def.num_wrappers = byte() % 4, def.wrappers = wrappers;
  for (uint32_t i = 0; i < def.num_wrappers; i++) {
    static const uint32_t KINDS_OF_THEM[] = {1, 2, 5, 6, 7, 8, 9, 10, 11, 15, 17, 19};
    rlcore_wrapper w = {.kind = KINDS_OF_THEM[byte() % 12]};
    switch (w.kind) {
      case RLCORE_WRAP_TIME_LIMIT: w.steps = whole(); break;
      case RLCORE_WRAP_NOOP_RESET: w.noop_count = byte() % 4, w.noop_max = byte() % 4; break;
      case RLCORE_WRAP_STICKY_ACTIONS: w.probability = between(0.5f, 0, 1); break;
      case RLCORE_WRAP_RESCALE_ACTION: w.low = real(), w.high = real(); break;
      case RLCORE_WRAP_SCALE_REWARD: w.factor = real(); break;
      case RLCORE_WRAP_MAX_AND_SKIP: case RLCORE_WRAP_ACTION_REPEAT: case RLCORE_WRAP_FRAME_STACK: w.count = byte() % 4; break;
      default: break;
    }
    wrappers[i] = w;
  }
  int32_t status = compile_env(&def, &env);
  KNOWN(status);
  seen = env.obs, taken = env.action;
  if (status != RLCORE_OK || seen.len * 4 * N > ROOM) return;
  status = rlcore_vecenv_size(env.env, &c, &size);
  KNOWN(status);
  if (status != RLCORE_OK || size > BLOCK_SIZE) return;
  FINE(rlcore_vecenv_init(now.block[0], size, env.env, &c, &v));
  blocks[0].kind = VECENV, blocks[0].size = size, num_blocks = 1;
  FINE(rlcore_batch_size(env.env, &c, &groups, &size));
  if (size > BLOCK_SIZE) return;
  FINE(rlcore_batch_init(now.block[1], size, env.env, &c, &groups, &b));
  blocks[1].kind = BATCH, blocks[1].size = size, num_blocks = 2;
  const rlcore_rows out = {.struct_size = sizeof out, .obs = OUT(0), .reward = OUT(1), .terminated = OUT(2), .truncated = OUT(3), .final_obs = OUT(4), .valid = OUT(5)};
  const float *rewards = OUT(1);
  union { int32_t choice[N]; float number[N]; } action;
  for (int calls = 0; more(calls); calls++) {
    const unsigned call = calls == 0 ? 0 : byte();
    const uint64_t seed = long_whole();
    for (int i = 0; i < N; i++) {
      if (taken.kind == RLCORE_I32) action.choice[i] = (int32_t)(byte() % taken.n[0]);
      else action.number[i] = real();
    }
    switch (call % 8) {
      case 0: TRY_WRITING(ON_VALUE, rlcore_vecenv_reset(v, env.env, call & 8 ? NULL : &seed, OUT(0))); break;
      case 1: TRY_WRITING(ON_VALUE, rlcore_vecenv_reset_one(v, env.env, 1, &seed, OUT(0))); break;
      case 2:
        if (TRY_WRITING(ON_VALUE, rlcore_vecenv_step_env(v, env.env, call >> 7, TAKING(&action, &out))) == RLCORE_OK) within(rewards, N, -FLT_MAX, FLT_MAX);
        break;
      case 3:
        TRY(rlcore_batch_step_async(b, v, env.env, CHOSEN(&action)));
        TRY(rlcore_batch_run(b, v, env.env, call >> 3, UINT32_MAX, OUT(6)));
        TRY_WRITING(ON_VALUE, rlcore_batch_step_wait(b, &out));
        break;
      case 4: TRY_WRITING(ON_VALUE | ON_NOT_READY, rlcore_batch_reset(b, v, env.env, &seed, OUT(0))); break;
      default:
        for (unsigned n = call & 64 ? byte() & 31 : 1; n > 0; n--)
          if (TRY_WRITING(ON_VALUE, rlcore_vecenv_step(v, env.env, TAKING(&action, &out))) == RLCORE_OK) within(rewards, N, -FLT_MAX, FLT_MAX);
    }
  }
}

/* ---- Memories that learners draw from ---- */

static void lazy_frames(void) {
  rlcore_lazy_frames_config c;
  rlcore_lazy_frames *l;
  uint8_t picture[N * 4], first[N];
  FINE(rlcore_lazy_frames_config_init(&c, sizeof c));
  c.num_envs = N, c.height = c.width = 2, c.num_stack = 1 + byte() % 4, c.num_frames = c.num_stack + 1 + byte() % 3;
  BEGIN(0, lazy_frames, LAZY, c, l);
  for (int calls = 0; more(calls); calls++) {
    const unsigned call = byte(), e = call >> 7;
    uint64_t *numbers = OUT(0);
    memset(picture, (int)call, sizeof picture);
    rlcore_frame_index index[2] = {{0, e, 0}, {0, e, 0}};
    FINE(TRY(rlcore_lazy_frames_held(l, e, numbers, numbers + 1)));
    const uint64_t begin = numbers[0], end = numbers[1];
    ALWAYS(begin <= end && end - begin <= c.num_frames);
    index[0].number = begin + byte() % 8, index[1].number = call & 64 ? end - 1 : long_whole();
    switch (call % 6) {
      case 0: {
        const int32_t status = TRY(rlcore_lazy_frames_indices(l, e, index[0].number, OUT(2)));
        for (uint32_t i = 0; status == RLCORE_OK && i < c.num_stack; i++)
          ALWAYS(((uint64_t *)OUT(2))[i] >= begin && ((uint64_t *)OUT(2))[i] <= index[0].number);
        break;
      }
      case 1: TRY(rlcore_lazy_frames_gather(l, index, call >> 3 & 2, call >> 5 & 1, call & 8 ? RLCORE_U8 : RLCORE_F32, OUT(1))); break;
      case 2: TRY(rlcore_lazy_frames_gather_transitions(l, index, 1 + (call >> 3 & 1), RLCORE_LAYOUT_CHW, RLCORE_F32, OUT(1), OUT(2))); break;
      case 3: TRY(rlcore_lazy_frames_read(l, e, index[1].number, call >> 3 & 3, OUT(1), OUT(2))); break;
      case 4: TRY(rlcore_lazy_frames_push(l, e, picture, call >> 3 & 1, call & 16 ? OUT(3) : NULL)); break;
      default: TRY(rlcore_lazy_frames_push_range(l, call >> 3 & 1, N, picture, flags(first, N), call & 16 ? picture : NULL, call & 32 ? OUT(3) : NULL));
    }
  }
}

static void memory_of_frames(void) {
  static const int STACK_OF[2] = {1, 2};
  rlcore_memory_config c;
  rlcore_memory *m;
  uint8_t picture[4 * 3];
  int32_t actions[3];
  FINE(rlcore_memory_config_init(&c, sizeof c));
  const unsigned how = byte();
  c.max_sample_size = 1 + how % 4, c.history_size = c.max_sample_size + STACK_OF[1] - 1 + (how >> 2 & 3), c.use_priority = how >> 7;
  c.priority_sample_size = how >> 4 & 1;
  c.reward_threshold = between(0.1f, 0, FLT_MAX), c.num_columns = 2, c.columns = STACKED;
  BEGIN(0, memory, MEMORY, c, m);
  FINE(rlcore_rng_seed(&now.rng, long_whole()));
  rlcore_frame frame = {.episode = long_whole(), .step = whole()};
  for (int calls = 0; more(calls); calls++) {
    const unsigned call = byte();
    const void *values[2] = {memset(picture, (int)call, sizeof picture), memset(actions, 0, sizeof actions)};
    rlcore_sample *drawn = OUT(0);
    uint64_t *held = OUT(1);
    if (call % 4 == 3) {
      if (call & 4) frame.episode = long_whole(), frame.step = whole();
      frame.reward = call & 8 ? NAN : real(), frame.terminated = call >> 6 & 1, frame.truncated = call >> 7;
      for (unsigned n = call & 16 ? 9 : 1; n > 0; n--, frame.step++) TRY(rlcore_memory_add(m, &frame, values, OUT(2), OUT(3)));
      continue;
    }
    if (call % 4 == 2 && call & 4) {
      rlcore_frame frames[3];
      for (int i = 0; i < 3; i++) frames[i] = frame, frames[i].step += (uint32_t)i, frames[i].terminated = frames[i].truncated = 0;
      TRY(rlcore_memory_add_rollout(m, frames, 3, values, OUT(2), OUT(3)));
      frame.step += 3;
      continue;
    }
    const rlcore_draw draw = {.struct_size = sizeof draw, .size = whole(), .burn_in = whole(), .exact_size = call >> 3 & 1,
                              .skewness = whole(), .attempts = byte(), .rule = call >> 4 & 1};
    const int32_t status = call & 4 ? TRY_WRITING(ON_INEXACT, rlcore_memory_sample_uniform(m, &now.rng, &draw, drawn, 3))
                                    : TRY_WRITING(ON_INEXACT, rlcore_memory_sample_priority(m, &now.rng, &draw, drawn, 3));
    if (status != RLCORE_OK && status != RLCORE_E_INEXACT) continue;
    FINE(TRY(rlcore_memory_held(m, held, held + 1)));
    for (int i = 0; i < 3; i++) {
      ALWAYS(drawn[i].len > 0 && drawn[i].burn_in < drawn[i].len && drawn[i].first >= held[0] && drawn[i].priority <= 1);
      ALWAYS(drawn[i].len <= c.history_size && drawn[i].first + drawn[i].len + drawn[i].gap <= held[1]);
    }
    /* A uniform draw may begin with a frame whose stack is partly forgotten. */
    const int32_t stacks = TRY(rlcore_memory_gather(m, SEQUENCES(drawn, 3, c.history_size), 0, RLCORE_LAYOUT_CHW, RLCORE_F32, OUT(4)));
    ALWAYS(stacks == RLCORE_OK || (call & 4 && stacks == RLCORE_E_RANGE));
    FINE(TRY(rlcore_memory_gather(m, SEQUENCES(drawn, 3, c.history_size), 1, RLCORE_LAYOUT_CHW, RLCORE_I32, OUT(9))));
    FINE(TRY(rlcore_memory_gather_frames(m, SEQUENCES(drawn, 3, c.history_size), OUT(5), OUT(6), OUT(7), OUT(8))));
  }
}

static void replay(void) {
  rlcore_replay_config c;
  rlcore_replay *r;
  FINE(rlcore_replay_config_init(&c, sizeof c));
  const unsigned how = byte();
  c.num_envs = N, c.num_steps = 1 + (how & 3), c.num_rows = c.num_steps + 1 + (how >> 2 & 7), c.num_columns = 2, c.columns = PLAIN;
  c.discount = between(0.99f, 0, 1), c.alpha = between(0.6f, 0, 1), c.epsilon = between(1e-6f, FLT_MIN, FLT_MAX);
  BEGIN(0, replay, REPLAY, c, r);
  FINE(rlcore_rng_seed(&now.rng, long_whole()));
  uint32_t num_drawn = 0;
  for (int calls = 0; more(calls); calls++) {
    const unsigned call = byte(), e = call >> 7;
    float obs[N * 2], weight[4], got[N];
    uint8_t ended[2][N];
    const int32_t action[N] = {0, 1};
    const void *values[2] = {obs, action};
    rlcore_frame_index *index = OUT(0);
    float *drawn = OUT(1), *probability = OUT(2);
    switch (call % 8) {
      case 0: TRY(rlcore_replay_set_alpha(r, between(1, 0, 1))); break;
      case 1: {
        rlcore_replay_stats *stats = OUT(3);
        stats->struct_size = sizeof *stats;
        FINE(TRY(rlcore_replay_get_stats(r, stats)));
        ALWAYS(stats->total >= 0 && isfinite(stats->total) && stats->min_weight > 0 && isfinite(stats->max_priority));
        ALWAYS(stats->num_transitions == 0 || (stats->total > 0 && isfinite(stats->min_weight)));
        break;
      }
      case 2: case 3: {
        const float beta = between(0.4f, 0, FLT_MAX);
        const uint32_t normalize = byte() % 3;
        num_drawn = 0;
        if (TRY(rlcore_replay_sample(r, &now.rng, REPLAY_DRAW(beta, normalize, call >> 6 & 1), 4, index, drawn, probability)) != RLCORE_OK) break;
        num_drawn = 4;
        for (int i = 0; i < 4; i++) {
          ALWAYS(drawn[i] >= 0 && isfinite(drawn[i]));
          ALWAYS(probability[i] > 0 && probability[i] <= 1);
          if (normalize != RLCORE_REPLAY_NORMALIZE_NONE) ALWAYS(drawn[i] <= 1);
        }
        FINE(TRY(rlcore_replay_transitions(r, index, 4, OUT(4), OUT(5), OUT(6), OUT(7))));
        FINE(TRY(rlcore_replay_gather_next(r, index, 4, 0, RLCORE_LAYOUT_HWC, RLCORE_F32, OUT(8))));
        break;
      }
      case 4: case 5:
        reals(weight, 4);
        for (int i = 0; i < 4; i++) weight[i] = fabsf(weight[i]);
        if (num_drawn > 0) TRY(rlcore_replay_update(r, index, weight, num_drawn, OUT(9)));
        break;
      case 6:
        reals(obs, N * 2), reals(got, N), flags(ended[0], N), flags(ended[1], N);
        TRY(rlcore_replay_add_all(r, values, got, ended[0], ended[1], values));
        break;
      default: {
        const float earned = real();
        const int over = call >> 5 & 1;
        reals(obs, N * 2);
        for (unsigned n = call & 16 ? byte() & 15 : 1; n > 0; n--)
          TRY(rlcore_replay_add(r, REPLAY_STEP(e, earned, over, call >> 6 & 1), values, over || call & 64 ? values : NULL, OUT(9)));
      }
    }
  }
}

/* ---- Rollouts and trajectories for on-policy learners ---- */

static void rollout_buffer(void) {
  rlcore_rollout_buffer_config c;
  rlcore_rollout_buffer *b;
  FINE(rlcore_rollout_buffer_config_init(&c, sizeof c));
  c.num_steps = T, c.num_envs = N, c.memory_len = M, c.log_capacity = 2 * N, c.num_columns = 2, c.columns = PLAIN, c.seed = long_whole();
  BEGIN(0, rollout_buffer, ROLLOUT, c, b);
  for (int calls = 0; more(calls); calls++) {
    const unsigned call = byte();
    float obs[N * 2], numbers[5][N];
    uint8_t ended[2][N];
    const int32_t action[N] = {INT32_MIN, INT32_MAX};
    const void *columns[2] = {obs, action};
    void *to[2] = {OUT(0), OUT(1)};
    uint32_t *index = OUT(2);
    rlcore_window *windows = OUT(3);
    const rlcore_minibatch batch = {sizeof batch, 0, to, OUT(4), (void *)(now.out[4] + 1024), OUT(5), (void *)(now.out[5] + 1024), OUT(6), (void *)(now.out[6] + 1024), OUT(7), NULL};
    switch (call % 8) {
      case 0: FINE(TRY(rlcore_rollout_buffer_reset(b))); break;
      case 1: {
        const float bootstrap[N] = {real(), real()}, discount = between(0.99f, 0, 1), lambda = between(0.95f, 0, 1);
        TRY(rlcore_rollout_buffer_finish(b, bootstrap, call & 8 ? reals(obs, N * 2) : NULL, discount, lambda));
        break;
      }
      case 2: {
        rlcore_rollout_progress *progress = OUT(8);
        progress->struct_size = sizeof *progress;
        FINE(TRY(rlcore_rollout_buffer_progress(b, progress)));
        ALWAYS(progress->num_ended == 0 || (isfinite(progress->return_mean) && progress->len_mean >= 1));
        TRY(rlcore_rollout_buffer_format_progress(b, OUT(9), ROOM, OUT(8)));
        TRY(rlcore_rollout_buffer_format_step(b, call >> 4 & 3, OUT(9), ROOM, OUT(8)));
        TRY(rlcore_rollout_buffer_sample(b, OUT(8)));
        break;
      }
      case 3: {
        TRY(rlcore_rollout_buffer_log(b, whole(), between_doubles(1, -DBL_MAX, DBL_MAX)));
        uint32_t *count = OUT(8);
        rlcore_metric_row *rows = OUT(9);
        if (call & 64) now.next = 0;
        FINE(TRY(rlcore_rollout_buffer_read_log(b, &now.next, rows, call >> 4, count, NULL)));
        for (uint32_t i = 0; i < *count; i++) ALWAYS(isfinite(rows[i].value));
        break;
      }
      case 4:
        if (TRY(rlcore_rollout_buffer_draw(b, 2, 1, index, call & 8 ? T * N : 2 * N)) != RLCORE_OK) break;
        for (int i = 0; i < (call & 8 ? T * N : 2 * N); i++) ALWAYS(index[i] < T * N);
        TRY(rlcore_rollout_buffer_gather(b, index, 2, 1, &batch));
        break;
      case 5: {
        const uint32_t steps = byte() % 8;
        if (TRY(rlcore_rollout_buffer_draw_windows(b, steps, between(0.5f, 0, 1), windows, 2)) != RLCORE_OK) break;
        FINE(TRY(rlcore_rollout_buffer_gather_windows(b, windows, 2, steps, INT32_MIN, &batch)));
        break;
      }
      default: {
        for (int i = 0; i < 5; i++) reals(numbers[i], N);
        reals(obs, N * 2), flags(ended[0], N), flags(ended[1], N);
        const rlcore_rollout_step step = {sizeof step, 0, call & 8 ? NULL : columns, numbers[0], numbers[1], numbers[2], ended[0],
                                          ended[1], numbers[3], numbers[4], call & 16 ? numbers[1] : NULL};
        for (unsigned n = call & 32 ? 1 : T; n > 0; n--) TRY(rlcore_rollout_buffer_add(b, &step));
      }
    }
  }
}

static void trajectory(void) {
  rlcore_trajectory_config c;
  rlcore_trajectory *t;
  FINE(rlcore_trajectory_config_init(&c, sizeof c));
  c.capacity = 1 + byte() % 6, c.memory_len = M, c.num_columns = 2, c.columns = PLAIN, c.one_hot = byte() & 3;
  BEGIN(0, trajectory, TRAJECTORY, c, t);
  for (int calls = 0; more(calls); calls++) {
    const unsigned call = byte();
    float obs[N * 2], numbers[3][N];
    uint8_t ended[2][N];
    const int32_t action[N] = {0, 1};
    const void *columns[2] = {obs, action};
    void *to[2] = {OUT(0), OUT(1)};
    rlcore_trajectory_view *view = OUT(2);
    view->struct_size = sizeof *view;
    FINE(TRY(rlcore_trajectory_held(t, view)));
    ALWAYS(view->num_frames <= c.capacity);
    const uint32_t flat = call >> 7, rows_given = flat ? view->num_frames : 8;
    const rlcore_trajectory_rows rows = {sizeof rows, rows_given, flat, 0, to, OUT(3), OUT(4), OUT(5), OUT(6), OUT(7)};
    switch (call % 6) {
      case 0: FINE(TRY(rlcore_trajectory_reset(t))); break;
      case 1: TRY(rlcore_trajectory_pop(t)); break;
      case 2: TRY(rlcore_trajectory_process(t, between(0.99f, 0, 1), between(0.95f, 0, 1), real(), &rows)); break;
      case 3:
        if (TRY(rlcore_trajectory_process_rp(t, between(0.1f, 0, FLT_MAX), &rows, OUT(8))) == RLCORE_OK)
          ALWAYS(*(uint32_t *)OUT(8) <= RLCORE_REWARD_NEGATIVE);
        break;
      default: {
        for (int i = 0; i < 3; i++) reals(numbers[i], N);
        reals(obs, N * 2), flags(ended[0], N), flags(ended[1], N);
        const rlcore_trajectory_frames frames = {sizeof frames, 1 + (call >> 6 & 1), columns, numbers[0], numbers[1], ended[0], ended[1], numbers[2]};
        TRY(rlcore_trajectory_add(t, &frames));
      }
    }
  }
}

static void queue(void) {
  rlcore_queue_config c;
  rlcore_queue *q;
  uint32_t waiting = 0;
  FINE(rlcore_queue_config_init(&c, sizeof c));
  c.capacity = 1 + byte() % 4, c.item_size = 1 + byte() % 32;
  BEGIN(0, queue, QUEUE, c, q);
  for (int calls = 0; more(calls); calls++) {
    const unsigned call = byte();
    if (call & 1) {
      const size_t given = call >> 1 & 63;
      memset(OUT(1), (int)call, 64);
      if (TRY(rlcore_queue_push(q, OUT(1), given)) == RLCORE_OK) waiting++;
    } else if (TRY(rlcore_queue_pop(q, OUT(0), c.item_size, OUT(2))) == RLCORE_OK) {
      ALWAYS(*(size_t *)OUT(2) <= c.item_size);
      waiting--;
    }
    FINE(TRY(rlcore_queue_len(q, OUT(3))));
    ALWAYS(*(uint32_t *)OUT(3) == waiting && waiting <= c.capacity);
  }
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) {
  static void (*const of_kind[])(void) = {learner, learner, learner, learner, normalizer, monitor, environments, lazy_frames,
                                          memory_of_frames, replay, replay, rollout_buffer, trajectory, queue, learner_of_any_network, learner_of_any_network};
  static int counted;
  if (!counted) counted = 1, atexit(say_how_many);
  input = data, input_size = size, cursor = 0;
  memset(&now, 0, sizeof now);
  num_blocks = 0, look_once_in = 1;
  of_kind[byte() % 16]();
  return 0;
}

/* Without a fuzzer: extremes [runs [seed]] draws inputs at random. */
#ifdef ALONE
int main(int argc, char **argv) {
  const unsigned long long runs = argc > 1 ? strtoull(argv[1], NULL, 10) : 3000;
  unsigned long long random = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  for (unsigned long long run = 0; run < runs; run++) {
    unsigned char drawn[256];
    for (size_t i = 0; i < sizeof drawn; i++) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      drawn[i] = (unsigned char)(random >> 56);
    }
    /* Most runs use learners with any network. */
    if (run % 8 != 0) drawn[0] = 14;
    LLVMFuzzerTestOneInput(drawn, sizeof drawn);
  }
  printf("extremes   %llu runs, no finding\n", runs);
  return 0;
}
#endif
