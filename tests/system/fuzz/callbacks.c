/* Hostile callbacks: the input chooses their results and outputs, anything that the header allows, in environments with any
   wrappers, stepped in whole calls, by ranges and by workers. Whatever they do, the library's own bytes are not changed. */

#include "blocks.h"

enum { ROOM = 1 << 15, MAX_ENVS = 4, PICTURE = 4 * 4 * 3, CHOICES_OF_GAME = 3 };

static _Alignas(64) unsigned char memory[2][ROOM + 64], copy[ROOM], obs[ROOM], final_obs[ROOM], pictures[ROOM];
static int spoilt; /* a callback has destroyed its own random stream */
static int depth;
static rlcore_env_def game;
static size_t state_words;

/* Any float; most of the time a harmless one. */
static float wild(void) {
  static const float OTHERS[] = {NAN, INFINITY, -INFINITY, 3.4e38f, -3.4e38f, 1e-45f, -0.0f, 1e19f};
  const unsigned how = byte();
  return how < 224 ? (float)how / 32 - 3 : OTHERS[how & 7];
}

/* A library call within a callback: on another block, or on the callback's own arguments. */
static void reenter(rlcore_rng *rng) {
  static _Alignas(64) unsigned char other[ROOM];
  char text[32];
  double draw[2];
  float seen[N * OBS];
  rlcore_vecenv *v;
  if (depth > 0) return;
  depth++;
  memcpy(other, samples[VECENV_RUNNING].bytes, samples[VECENV_RUNNING].size);
  FINE(rlcore_vecenv_attach(other, sizeof other, env.env, &v));
  FINE(rlcore_vecenv_reset_one(v, env.env, 1, NULL, seen));
  FINE(rlcore_last_error(text, sizeof text));
  KNOWN(rlcore_rng_uniform(rng, 0, 1, draw, 2));
  KNOWN(rlcore_rng_uniform(rng, 1, 0, NULL, 2));
  depth--;
}

/* Only the environment writes its state, so the first word is still the sum of the others. */
static void check_state(const uint64_t *state) {
  uint64_t sum = 0;
  for (size_t i = 1; i < state_words; i++) sum += state[i];
  ALWAYS(state[0] == sum);
}

static void change_state(uint64_t *state) {
  const uint64_t x = byte() * 0x0101010101010101u;
  state[0] = 0;
  for (size_t i = 1; i < state_words; i++) state[i] = x + i, state[0] += state[i];
}

static void see(void *to) {
  const unsigned how = byte();
  if (game.obs.kind == RLCORE_STRUCT) memset(to, (int)how, game.obs.len);
  else
    for (uint32_t i = 0; i < game.obs.len; i++) ((float *)to)[i] = how < 200 ? (float)(how + i) : wild();
}

static int32_t any_status(void) {
  const unsigned how = byte();
  return how < 240 ? 0 : (int32_t)(how - 248);
}

static int32_t act(uint64_t *state, rlcore_rng *rng, void *to) {
  check_state(state);
  change_state(state);
  see(to);
  const unsigned how = byte();
  if (how >= 250) reenter(rng);
  if (how == 249) memset(rng, (int)byte(), sizeof *rng), spoilt = 1;
  return any_status();
}

static int32_t reset(void *user, uint32_t row, void *state, rlcore_rng *rng, void *to) {
  (void)row;
  ALWAYS(user == &game);
  return act(state, rng, to);
}

static const uint8_t options[8] = {1, 2, 3};
static int32_t reset_with(void *user, uint32_t row, void *state, rlcore_rng *rng, const void *told, size_t told_size, void *to) {
  (void)row;
  ALWAYS(user == &game && told == options && told_size < sizeof options);
  return act(state, rng, to);
}

static int32_t restart(void *user, uint32_t row, void *state, rlcore_rng *rng, uint32_t level, void *to) {
  (void)row;
  ALWAYS(user == &game && level <= RLCORE_LEVEL_SAME);
  return act(state, rng, to);
}

static int32_t step(void *user, uint32_t row, void *state, rlcore_rng *rng, const void *action, void *to, rlcore_step *out) {
  (void)row;
  ALWAYS(user == &game);
  if (game.action.kind == RLCORE_I32) ALWAYS(*(const int32_t *)action >= 0 && *(const int32_t *)action < CHOICES_OF_GAME);
  ALWAYS(out->reward == 0 && out->terminated == 0 && out->truncated == 0);
  out->reward = wild();
  const unsigned how = byte();
  out->terminated = how < 200 ? 0 : (uint8_t)how;
  out->truncated = how < 230 ? 0 : (uint8_t)(how & 3);
  if (how == 255) out->reserved[1] = 9;
  return act(state, rng, to);
}

static int32_t render(void *user, uint32_t row, const void *state, uint32_t width, uint32_t height, uint8_t *rgb) {
  (void)user, (void)row;
  check_state(state);
  memset(rgb, (int)byte(), (size_t)width * height * 3);
  return any_status();
}

static int32_t lives(void *user, uint32_t row, const void *state, uint32_t *out) {
  (void)user, (void)row;
  check_state(state);
  *out = byte() < 250 ? byte() & 3 : word();
  return any_status();
}

static int32_t action_mask(void *user, uint32_t row, const void *state, uint8_t *mask) {
  (void)user, (void)row;
  check_state(state);
  for (int i = 0; i < CHOICES_OF_GAME; i++) mask[i] = (uint8_t)byte();
  return any_status();
}

/* Writes as many numbers as its wrapper declares in `user`. */
static int32_t observe(void *user, uint32_t row, const void *from, float *to) {
  (void)row, (void)from;
  for (uint32_t i = 0; i < *(const uint32_t *)user; i++) to[i] = wild();
  return any_status();
}

static void any_wrapper(rlcore_wrapper *to) {
  rlcore_wrapper w = {.kind = 1 + byte() % 20};
  const uint32_t some = byte() % 5;
  switch (w.kind) {
    case RLCORE_WRAP_TIME_LIMIT: w.steps = some; break;
    case RLCORE_WRAP_NOOP_RESET: w.noop_max = some, w.noop_count = byte() & 1; break;
    case RLCORE_WRAP_FIRE_RESET: w.fire = some & 3, w.second = some & 2; break;
    case RLCORE_WRAP_MAX_AND_SKIP: case RLCORE_WRAP_ACTION_REPEAT: case RLCORE_WRAP_FRAME_STACK: w.count = some; break;
    case RLCORE_WRAP_STICKY_ACTIONS: w.probability = (float)some / 4; break;
    case RLCORE_WRAP_RESCALE_ACTION: w.low = wild(), w.high = wild(); break;
    case RLCORE_WRAP_SCALE_REWARD: w.factor = wild(); break;
    case RLCORE_WRAP_WARP_FRAME: w.height = w.width = 2, w.gray = some & 1; break;
    case RLCORE_WRAP_EXTRACT: memcpy(w.field, "picture", 8); break;
    case RLCORE_WRAP_OBSERVE: w.len = 3, w.observe = observe, w.user = &to->len; break;
    default: break;
  }
  /* Any number in any field, except for those that multiply the number of steps. */
  const int repeats = w.kind == RLCORE_WRAP_NOOP_RESET || w.kind == RLCORE_WRAP_MAX_AND_SKIP || w.kind == RLCORE_WRAP_ACTION_REPEAT;
  if (byte() > 250) {
    const unsigned field = repeats ? 5 + byte() % 11 : 1 + byte() % 15;
    ((uint32_t *)&w)[field] = word();
  }
  *to = w;
}

static void judge_and_clock(void);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t data_size) {
  static const uint32_t choices[1] = {CHOICES_OF_GAME};
  static const float low[2] = {-1, -2}, high[2] = {1, 2};
  static const rlcore_field parts[2] = {{"picture", RLCORE_U8, 3, {4, 4, 3}, 0, 0}, {"rest", RLCORE_F32, 1, {2}, PICTURE, 0}};
  static int prepared;
  rlcore_wrapper wrappers[5];
  if (!prepared) make_samples(), prepared = 1;
  input = data, input_size = data_size, cursor = 0, spoilt = depth = 0;
  const unsigned how = byte();
  if (how == 255) {
    judge_and_clock();
    return 0;
  }
  const unsigned parts_of = byte();
  state_words = 1 + parts_of % 4;
  game = (rlcore_env_def){.struct_size = sizeof game, .env_id = 1000, .state_size = (uint32_t)(8 * state_words), .user = &game,
                          .reset = reset, .step = step, .wrappers = wrappers, .num_wrappers = byte() % 6};
  const int picture = how & 1, discrete = how & 2;
  game.obs = (rlcore_space){.kind = picture ? RLCORE_STRUCT : RLCORE_F32, .len = picture ? PICTURE + 8 : 3};
  if (picture) game.fields = parts, game.num_fields = 2;
  game.action = discrete ? (rlcore_space){.kind = RLCORE_I32, .len = 1, .n = choices}
                         : (rlcore_space){.kind = RLCORE_F32, .len = 2, .low = low, .high = high};
  if (how & 4) game.render = render;
  if (how & 8) game.lives = lives;
  if (how & 16 && discrete) game.action_mask = action_mask;
  if (how & 32) game.restart = restart;
  const rlcore_reset with = {.struct_size = sizeof with, .options = options, .options_size = parts_of >> 5};
  const int is_told = parts_of & 8;
  if (is_told) game.reset_with = reset_with;
  game.max_episode_steps = parts_of >> 5;
  for (uint32_t i = 0; i < game.num_wrappers && i < 5; i++) any_wrapper(&wrappers[i]);
  if (game.num_wrappers > 5) game.num_wrappers = 5;
  rlcore_vecenv_config config = vecenv_config;
  config.num_envs = 1 + byte() % MAX_ENVS, config.autoreset = byte() % 4, config.seed = byte();
  rlcore_batch_config groups = batch_config;
  groups.in_series = config.num_envs % 2 == 0 && how & 64 ? 2 : 1;

  static uint64_t compiled[4096];
  rlcore_env *made;
  rlcore_space seen, taken;
  size_t size, batch_size;
  int32_t status = rlcore_env_init(compiled, sizeof compiled, &game, &made);
  KNOWN(status);
  if (status != RLCORE_OK) return 0;
  FINE(rlcore_env_spaces(made, &seen, &taken));
  if ((size_t)seen.len * 4 * MAX_ENVS > ROOM) return 0;
  status = rlcore_vecenv_size(made, &config, &size);
  KNOWN(status);
  if (status != RLCORE_OK || size > ROOM) return 0;
  FINE(rlcore_batch_size(made, &config, &groups, &batch_size));
  if (batch_size > ROOM) return 0;
  unsigned char *mem = memory[0] + ROOM - size, *batch_mem = memory[1] + ROOM - batch_size;
  FORBID(memory[0] + ROOM, 64), FORBID(memory[1] + ROOM, 64);
  rlcore_vecenv *v;
  rlcore_batch *b;
  FINE(rlcore_vecenv_init(mem, size, made, &config, &v));
  FINE(rlcore_batch_init(batch_mem, batch_size, made, &config, &groups, &b));

  /* Arrays that end where forbidden memory begins. */
  const size_t n = config.num_envs, obs_size = n * seen.len * (seen.kind == RLCORE_F32 ? 4 : 1);
  static float reward[MAX_ENVS];
  static uint8_t terminated[MAX_ENVS], truncated[MAX_ENVS], valid[MAX_ENVS], mask[MAX_ENVS * CHOICES_OF_GAME], failed[MAX_ENVS];
  static uint8_t allowed[2][MAX_ENVS * CHOICES_OF_GAME];
  static uint32_t rows[MAX_ENVS], lives_left[MAX_ENVS], count;
  unsigned char *to = obs + ROOM - (obs_size + 3) / 4 * 4, *to_final = final_obs + ROOM - (obs_size + 3) / 4 * 4;
  const rlcore_rows out = {.struct_size = sizeof out, .obs = to, .reward = reward, .terminated = terminated, .truncated = truncated, .final_obs = to_final, .valid = valid, .action_mask = how & 128 && discrete ? allowed[0] : NULL, .final_action_mask = how & 64 && discrete ? allowed[1] : NULL};
  union { int32_t choice[2 * MAX_ENVS]; float number[2 * MAX_ENVS]; } action;
  for (int calls = 0; calls < 12 && (calls == 0 || cursor < input_size); calls++) {
    const unsigned call = calls == 0 ? 0 : byte() % 16;
    for (int i = 0; i < 2 * MAX_ENVS; i++) {
      if (discrete) action.choice[i] = (int32_t)((call + (unsigned)i) % CHOICES_OF_GAME);
      else action.number[i] = (float)(call & 1) - 0.25f * (float)i;
    }
    switch (call) {
      case 0: status = is_told ? rlcore_vecenv_reset_with(v, made, &with, to) : rlcore_vecenv_reset(v, made, NULL, to); break;
      case 1:
        rows[0] = byte() % MAX_ENVS;
        status = is_told ? rlcore_vecenv_reset_one_with(v, made, rows[0], &with, to) : rlcore_vecenv_reset_one(v, made, rows[0], NULL, to);
        break;
      case 2: case 3: status = rlcore_vecenv_step(v, made, TAKING(&action, &out)); break;
      case 4: status = rlcore_vecenv_step_range(v, made, 0, (uint32_t)n / 2, TAKING(&action, &out)); break;
      case 5: status = rlcore_vecenv_step_env(v, made, byte() & 1, TAKING(&action, &out)); break;
      case 6: status = rlcore_vecenv_images(v, made, 4, 4, pictures); break;
      case 7: status = rlcore_vecenv_lives(v, made, lives_left); break;
      case 8: status = rlcore_vecenv_action_mask(v, made, mask); break;
      case 9: status = rlcore_batch_step_async(b, v, made, CHOSEN(&action)); break;
      case 10: status = rlcore_batch_run(b, v, made, 1, 1 + byte() % 4, &count); break;
      case 11: status = rlcore_batch_step_wait(b, &out); break;
      case 12: status = rlcore_batch_recv(b, groups.in_series, rows, &out); break;
      case 13: rows[0] = 0, rows[1] = 1, status = rlcore_batch_send(b, v, made, groups.in_series, rows, CHOSEN(&action)); break;
      case 14: status = is_told ? rlcore_batch_reset_with(b, v, made, &with, to) : rlcore_batch_reset(b, v, made, NULL, to); break;
      default: status = rlcore_batch_failed(b, failed); break;
    }
    KNOWN(status);
    if (status == RLCORE_OK && (call == 2 || call == 3 || call == 5 || call == 11))
      for (size_t i = 0; i < n; i++) ALWAYS(isfinite(reward[i]) && terminated[i] <= 1 && truncated[i] <= 1);
    if (spoilt) return 0;
  }
  memcpy(copy, mem, size);
  FINE(rlcore_vecenv_attach(copy, size, made, &v));
  memcpy(copy, batch_mem, batch_size);
  FINE(rlcore_batch_attach(copy, batch_size, &b));
  return 0;
}

static int32_t judge(void *user, const float *achieved, const float *goal, float *reward, uint8_t *terminated) {
  (void)user, (void)achieved, (void)goal;
  ALWAYS(*terminated == 0);
  *reward = wild(), *terminated = (uint8_t)byte();
  return any_status();
}

static double clock_of(void *user) { return *(float *)user = wild(); }

/* The two other callbacks: the judge of goals, and the clock. */
static void judge_and_clock(void) {
  const float achieved[4] = {1, 2, 3, 4};
  const uint32_t row[3] = {0, 1, 1};
  float goal[6], reward[3], now;
  uint8_t terminated[3], ended[N] = {1, 1};
  const rlcore_relabel steps = {sizeof steps, 3, 2, 2, achieved, row, row};
  KNOWN(rlcore_relabel_goals(&steps, judge, NULL, goal, reward, terminated));
  memcpy(memory[0], samples[MONITOR_USED].bytes, samples[MONITOR_USED].size);
  const double info[N] = {wild(), wild()};
  float rewards[N] = {wild(), wild()};
  const rlcore_rows step_of = {.struct_size = sizeof step_of, .reward = rewards, .terminated = ended, .truncated = ended};
  KNOWN(rlcore_monitor_step_clock((rlcore_monitor *)memory[0], &step_of, clock_of, &now, info));
  FINE(attach(MONITOR, memory[0], samples[MONITOR_USED].size));
}
