/* Stores in which every row encodes its own number, so that everything read can be checked. `append` appends one item, `read`
   reads one batch. attack_readers.c lets two processes do so at full speed, with rows that are overwritten while they are copied;
   tests/system/faults/stopped.c steps through the calls instruction by instruction. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../tests/system/rows.h"

enum { EPISODE = 7, STACK = 3, SAMPLES = 20, LONGEST = 4, ENVS = 2, STEPS = 2, DRAWN = 64, ROWS = 1000 };

/* Words of a row. */
#ifndef WIDTH
#define WIDTH 2
#endif

static int failures;
/* Items read and found right; calls that found the writer too fast; reads that were refused because rows were gone; those of them
   whose rows the writer overwrote during the copy. */
static uint64_t seen, busy, lost, spoilt;

/* Runs after every successful call. */
#ifndef BETWEEN
#define BETWEEN (void)0
#endif
#define FINE(call) ((call) == RLCORE_OK ? (BETWEEN) : fail(__LINE__, #call))
#define CHECK(condition) ((condition) ? (void)0 : fail(__LINE__, #condition))

static void fail(int line, const char *what) {
  char why[256];
  rlcore_last_error(why, sizeof why);
  if (failures++ < 10) printf("line %d: %s\n  last error: %s\n", line, what, why);
}

/* The status of a call beside the writer: success, or a refusal because its rows are gone (E_RANGE) or the writer is too fast
   (E_BUSY). */
static int worked(int line, int32_t status) {
  if (status == RLCORE_OK) return 1;
  char why[256];
  rlcore_last_error(why, sizeof why);
  busy += status == RLCORE_E_BUSY;
  lost++;
  spoilt += strstr(why, "overwritten meanwhile") != NULL;
  if (status != RLCORE_E_RANGE && status != RLCORE_E_BUSY) fail(line, "refused for another reason");
  return 0;
}

/* A number from 0 to below `below`, different in each round. */
static uint32_t some(uint32_t round, uint32_t below) { return (uint32_t)((uint64_t)(round * 2654435761u) * below >> 32); }

/* The low bits of a number, which a float holds exactly. */
static float part(uint64_t number) { return (float)(number & 0xffffff); }

/* Word i of a row of one environment. */
static int32_t word(uint64_t number, uint32_t env, uint32_t i) {
  return (int32_t)(uint32_t)(number + i * (number * 31 + env + i));
}

static void write_row(int32_t *row, uint64_t number, uint32_t env) {
  for (uint32_t i = 0; i < WIDTH; i++) row[i] = word(number, env, i);
}

static void is_row(const int32_t *row, uint64_t number, uint32_t env) {
  for (uint32_t i = 0; i < WIDTH; i++) CHECK(row[i] == word(number, env, i));
}

/* The number of the frame `back` places before the newest of a stack; an episode's first frame repeats. */
static uint64_t stacked(uint64_t newest, uint64_t back) {
  const uint64_t step = newest % EPISODE;
  return newest - (back < step ? back : step);
}

/* A random stream whose words show whether it is intact. */
static rlcore_rng marked(uint64_t k) {
  return (rlcore_rng){{k, k * 0x9e3779b97f4a7c15}, {k * 31, k * 37 >> 1}, (uint32_t)(k * 41), 1};
}

static void is_marked(const rlcore_rng *rng) {
  rlcore_rng first;
  FINE(rlcore_rng_seed(&first, 0));
  const rlcore_rng whole = marked(rng->state[0]);
  CHECK(memcmp(rng, &whole, sizeof whole) == 0 || memcmp(rng, &first, sizeof first) == 0);
}

static rlcore_column described(const char *name, int32_t kind, uint32_t len, uint32_t stack) {
  rlcore_column column = {{0}, (uint32_t)kind, len, stack, 0};
  for (size_t i = 0; name[i]; i++) column.name[i] = name[i];
  return column;
}

/* The functions that size, init and attach a store, with the configuration that NAME_config returns for a number of rows. */
#define MADE(name, noun) \
  static size_t name##_size(uint32_t rows) { \
    rlcore_column columns[2]; \
    const rlcore_##noun##_config config = name##_config(rows, columns); \
    size_t size = 0; \
    FINE(rlcore_##noun##_size(&config, &size)); \
    return size; \
  } \
  static void name##_init(void *mem, size_t size, uint32_t rows) { \
    rlcore_column columns[2]; \
    const rlcore_##noun##_config config = name##_config(rows, columns); \
    rlcore_##noun *object; \
    FINE(rlcore_##noun##_init(mem, size, &config, &object)); \
  } \
  static int32_t name##_attach(void *mem, size_t size, void **out) { return rlcore_##noun##_attach(mem, size, (rlcore_##noun **)out); } \
  static int32_t name##_attach_reader(const void *mem, size_t size, const void **out) { \
    return rlcore_##noun##_attach_reader(mem, size, (const rlcore_##noun **)out); \
  }

/* ---- rlcore_memory: every fifth frame is a priority frame ---- */

static int prior(uint64_t number) { return number % 5 == 0; }
static uint8_t pixel(uint64_t number) { return (uint8_t)(number * 31); }

static rlcore_memory_config memory_config(uint32_t rows, uint32_t stack, rlcore_column *columns) {
  rlcore_memory_config config;
  columns[0] = described("number", RLCORE_I32, WIDTH, 0);
  columns[1] = described("screen", RLCORE_U8, 2 * WIDTH, stack);
  FINE(rlcore_memory_config_init(&config, sizeof config));
  config.history_size = rows;
  config.max_sample_size = LONGEST;
  config.num_columns = 2;
  config.columns = columns;
  return config;
}

static rlcore_memory_config plain_config(uint32_t rows, rlcore_column *columns) { return memory_config(rows, 0, columns); }
static rlcore_memory_config stacked_config(uint32_t rows, rlcore_column *columns) { return memory_config(rows, STACK, columns); }
MADE(plain, memory)
MADE(stacked, memory)

static uint64_t memory_append(void *m, uint64_t number) {
  static int32_t numbers[3][WIDTH];
  static uint8_t screens[3][2 * WIDTH];
  rlcore_frame frames[3];
  const void *values[2] = {numbers, screens};
  const uint32_t count = number % 4 == 0 ? 3 : 1;
  for (uint64_t i = 0; i < count; i++) {
    const uint64_t n = number + i;
    frames[i] = (rlcore_frame){.episode = n / EPISODE, .step = (uint32_t)(n % EPISODE), .reward = prior(n) ? 1.0f : 0.0f};
    frames[i].terminated = n % EPISODE == EPISODE - 1;
    write_row(numbers[i], n, 0);
    memset(screens[i], pixel(n), sizeof screens[i]);
  }
  if (count == 1) FINE(rlcore_memory_add(m, frames, values, NULL, NULL));
  else FINE(rlcore_memory_add_rollout(m, frames, count, values, NULL, NULL));
  if (number % 3 == 0) {
    const rlcore_rng rng = marked(number);
    FINE(rlcore_memory_store_rng(m, &rng));
  }
  return number + count;
}

static void memory_read(const void *m, rlcore_rng *rng, uint32_t round) {
  rlcore_sample samples[SAMPLES];
  rlcore_draw draw = {.struct_size = sizeof draw, .size = round % 5, .burn_in = round / 2 % 3, .exact_size = round % 7 == 0};
  const int by_priority = round % 3 != 0;
  uint64_t begin, end;
  rlcore_rng stored;
  FINE(rlcore_memory_held(m, &begin, &end));
  if (worked(__LINE__, rlcore_memory_load_rng(m, &stored))) is_marked(&stored);
  const int32_t status = by_priority ? rlcore_memory_sample_priority(m, rng, &draw, samples, SAMPLES)
                                     : rlcore_memory_sample_uniform(m, rng, &draw, samples, SAMPLES);
  /* Nothing can be drawn only as long as too few frames were added. */
  if (status == RLCORE_E_EMPTY || status == RLCORE_E_NOT_READY) {
    CHECK(end < (by_priority ? LONGEST + STACK : 1));
    return;
  }
  if (status != RLCORE_E_INEXACT && !worked(__LINE__, status)) return;
  uint64_t held, now;
  FINE(rlcore_memory_held(m, &held, &now));
  const uint64_t size = draw.size ? draw.size : LONGEST;
  for (int b = 0; b < SAMPLES; b++) {
    const rlcore_sample *s = &samples[b];
    const uint64_t last = s->first + s->len - 1, start = s->first + s->burn_in, len = s->len - s->burn_in;
    if (s->first < held) continue;
    seen++;
    CHECK(s->len > s->burn_in && s->burn_in <= draw.burn_in && s->gap == 0 && last < now);
    CHECK(s->first / EPISODE == last / EPISODE);
    /* The burn-in is cut short at the start of an episode, or at the oldest row held at some moment of the draw. */
    CHECK(s->burn_in == draw.burn_in || s->first % EPISODE == 0 || s->first <= held + STACK);
    if (by_priority) {
      CHECK(s->priority == (uint32_t)prior(last));
      CHECK(len == (last % EPISODE < size - 1 ? last % EPISODE + 1 : size));
    } else {
      CHECK(s->priority == 0);
      CHECK(start <= last && (len == size || (len < size && (last % EPISODE == EPISODE - 1 || end < LONGEST + STACK))));
    }
  }
  if (round % 4) return;
  enum { LEN = LONGEST + 2 };
  static int32_t numbers[SAMPLES][LEN][WIDTH];
  static uint8_t ended[SAMPLES][LEN];
  static float rewards[SAMPLES][LEN];
  for (int b = 0; b < SAMPLES; b++) {
    const rlcore_sample *s = &samples[b];
    if (s->first < held) continue;
    if (worked(__LINE__, rlcore_memory_gather(m, SEQUENCES(s, 1, LEN), 0, RLCORE_LAYOUT_HWC, RLCORE_I32, numbers[b])))
      for (uint32_t j = 0; j < LEN; j++) {
        if (j < s->len) is_row(numbers[b][j], s->first + j, 0);
        else CHECK(numbers[b][j][0] == 0 && numbers[b][j][WIDTH - 1] == 0);
      }
    if (worked(__LINE__, rlcore_memory_gather_frames(m, SEQUENCES(s, 1, LEN), rewards[b], ended[b], NULL, NULL)))
      for (uint32_t j = 0; j < s->len; j++) {
        CHECK(rewards[b][j] == (float)prior(s->first + j));
        CHECK(ended[b][j] == ((s->first + j) % EPISODE == EPISODE - 1));
      }
  }
}

static void stacked_read(const void *m, rlcore_rng *rng, uint32_t round) {
  memory_read(m, rng, round);
  if (round % 4 != 1) return;
  static uint8_t screens[LONGEST][STACK][2 * WIDTH];
  rlcore_sample s;
  if (rlcore_memory_sample_uniform(m, rng, NULL, &s, 1) != RLCORE_OK) return;
  if (worked(__LINE__, rlcore_memory_gather(m, SEQUENCES(&s, 1, LONGEST), 1, RLCORE_LAYOUT_CHW, RLCORE_U8, screens)))
    for (uint32_t j = 0; j < s.len; j++)
      for (uint64_t k = 0; k < STACK; k++)
        for (uint32_t i = 0; i < 2 * WIDTH; i++) CHECK(screens[j][k][i] == pixel(stacked(s.first + j, STACK - 1 - k)));
}

/* ---- rlcore_replay: a row has weight 1 until it gets its priority, which depends on its number ---- */

static float priority_of(uint64_t number) { return (float)(number % 4 + 1) / 8; }

static rlcore_replay_config replay_config(uint32_t rows, rlcore_column *columns) {
  rlcore_replay_config config;
  columns[0] = described("number", RLCORE_I32, WIDTH, 0);
  FINE(rlcore_replay_config_init(&config, sizeof config));
  config.num_envs = ENVS;
  config.num_rows = rows;
  config.num_columns = 1;
  config.columns = columns;
  config.num_steps = STEPS;
  config.discount = 0.5f;
  config.alpha = 1;
  return config;
}

MADE(replay, replay)

/* Reward of row `number`. The last of the EPISODE rows of an episode is the tail. */
static float gained(uint64_t number) { return (float)(number % 16 + 1); }

static uint64_t replay_append(void *r, uint64_t number) {
  static int32_t numbers[ENVS][WIDTH], after[ENVS][WIDTH];
  float rewards[ENVS];
  const int ends = number % EPISODE == EPISODE - 2;
  uint8_t terminated[ENVS], truncated[ENVS] = {0};
  const void *values[1] = {numbers}, *last[1] = {after};
  for (uint32_t e = 0; e < ENVS; e++) {
    write_row(numbers[e], number, e);
    write_row(after[e], number + 1, e);
    rewards[e] = gained(number);
    terminated[e] = (uint8_t)ends;
  }
  if (number % 2) {
    FINE(rlcore_replay_add_all(r, values, rewards, terminated, truncated, ends ? last : NULL));
  } else {
    for (uint32_t e = 0; e < ENVS; e++) {
      const void *value[1] = {numbers[e]}, *tail[1] = {after[e]};
      FINE(rlcore_replay_add(r, REPLAY_STEP(e, rewards[e], (uint32_t)ends, 0), value, ends ? tail : NULL, NULL));
    }
  }
  if (number % 3 == 0) {
    const rlcore_rng rng = marked(number);
    FINE(rlcore_replay_store_rng(r, &rng));
  }
  number += 1 + (uint64_t)ends;
  rlcore_frame_index index[2 * EPISODE];
  float priority[2 * EPISODE];
  uint32_t count = 0;
  for (uint64_t back = STEPS + 2; back < STEPS + 2 + EPISODE && back <= number; back++)
    if ((number - back) % EPISODE != EPISODE - 1)
      for (uint32_t e = 0; e < ENVS; e++) {
        index[count] = (rlcore_frame_index){number - back, e, 0};
        priority[count++] = priority_of(number - back);
      }
  if (number % 4 == 0) FINE(rlcore_replay_update(r, index, priority, count, NULL));
  return number;
}

static void replay_read(const void *r, rlcore_rng *rng, uint32_t round) {
  static rlcore_frame_index index[DRAWN], held[DRAWN];
  static float weight[DRAWN], probability[DRAWN], correction[DRAWN];
  static int32_t numbers[DRAWN][WIDTH];
  rlcore_rng stored;
  /* The largest number drawn: after the first draw, every draw succeeds. */
  static uint64_t most;
  if (worked(__LINE__, rlcore_replay_load_rng(r, &stored))) is_marked(&stored);
  const uint32_t drawn = round % 4 ? 6 : DRAWN;
  const int32_t status = rlcore_replay_sample(r, rng, REPLAY_DRAW(1, round % 3, round / 3 % 2), drawn, index, weight, probability);
  if (round == 0) most = 0;
  if (status == RLCORE_E_NOT_READY) {
    CHECK(most == 0);
    return;
  }
  if (!worked(__LINE__, status)) return;
  uint32_t count = 0;
  for (uint32_t b = 0; b < drawn; b++) {
    float reward, discount;
    uint8_t terminated;
    const uint64_t n = index[b].number, step = n % EPISODE;
    CHECK(weight[b] > 0 && weight[b] <= 3.4e38f && probability[b] > 0 && probability[b] <= 1);
    CHECK(index[b].env < ENVS);
    most = n > most ? n : most;
    if (!worked(__LINE__, rlcore_replay_transitions(r, &index[b], 1, &reward, &discount, &terminated, NULL))) continue;
    const int ends = step + STEPS > EPISODE - 2, alone = step == EPISODE - 2;
    CHECK(step != EPISODE - 1);
    CHECK(terminated == ends && discount == (ends ? 0.0f : 0.25f));
    CHECK(reward == gained(n) + (alone ? 0 : 0.5f * gained(n + 1)));
    held[count] = index[b];
    correction[count++] = weight[b];
  }
  seen += count;
  /* All corrections are in proportion to weights that these rows have had. */
  int found = count == 0;
  for (int given = 0; given < 2 && !found; given++) {
    const double whole = correction[0] * (given ? priority_of(held[0].number) : 1.0);
    uint32_t b = 1;
    for (; b < count; b++) {
      const double new = correction[b] / whole, old = new * priority_of(held[b].number);
      if ((new < 0.999 || new > 1.001) && (old < 0.999 || old > 1.001)) break;
    }
    found = b == count;
  }
  CHECK(found);
  if (round % 3 < 2) for (uint32_t b = 0; b < count; b++) CHECK(correction[b] <= 1.0001f);
  if (round % 4 == 0)
    for (uint32_t b = 0; b < count; b++) {
      const uint64_t n = held[b].number, left = EPISODE - 1 - n % EPISODE, ahead = left < STEPS ? left : STEPS;
      if (worked(__LINE__, rlcore_replay_gather(r, &held[b], 1, 0, RLCORE_LAYOUT_HWC, RLCORE_I32, numbers)))
        is_row(numbers[0], n, held[b].env);
      if (worked(__LINE__, rlcore_replay_gather_next(r, &held[b], 1, 0, RLCORE_LAYOUT_HWC, RLCORE_I32, numbers)))
        is_row(numbers[0], n + ahead, held[b].env);
    }
  if (round % 4 == 0 &&
      worked(__LINE__, rlcore_replay_gather(r, held, count, 0, RLCORE_LAYOUT_HWC, RLCORE_I32, numbers)))
    for (uint32_t b = 0; b < count; b++) is_row(numbers[b], held[b].number, held[b].env);
}

/* ---- rlcore_lazy_frames ---- */

/* Words of eight bytes in a frame. */
enum { FRAME = WIDTH / 2 };

static rlcore_lazy_frames_config frames_config(uint32_t rows, rlcore_column *columns) {
  (void)columns;
  rlcore_lazy_frames_config config;
  FINE(rlcore_lazy_frames_config_init(&config, sizeof config));
  config.num_envs = ENVS;
  config.num_frames = rows;
  config.height = 1;
  config.width = 8 * FRAME;
  config.num_stack = STACK;
  return config;
}

MADE(frames, lazy_frames)

static uint64_t frames_append(void *l, uint64_t number) {
  static uint64_t screen[ENVS][FRAME];
  const uint8_t first[ENVS] = {number % EPISODE == 0, number % EPISODE == 0};
  for (uint64_t e = 0; e < ENVS; e++)
    for (int i = 0; i < FRAME; i++) screen[e][i] = number << 1 | e;
  if (number % 2 == 0) FINE(rlcore_lazy_frames_push_range(l, 0, ENVS, (const uint8_t *)screen, first, NULL, NULL));
  else
    for (uint32_t e = 0; e < ENVS; e++) FINE(rlcore_lazy_frames_push(l, e, (const uint8_t *)screen[e], first[0], NULL));
  return number + 1;
}

static void is_stack(uint64_t (*stack)[FRAME], uint64_t newest, uint32_t env) {
  for (uint64_t k = 0; k < STACK; k++)
    for (int i = 0; i < FRAME; i++) CHECK(stack[k][i] == (stacked(newest, STACK - 1 - k) << 1 | env));
}

static void frames_read(const void *l, rlcore_rng *rng, uint32_t round) {
  enum { B = 8 };
  static uint64_t stacks[B][STACK][FRAME], next[1][STACK][FRAME], frames[2][FRAME];
  rlcore_frame_index index[B];
  uint64_t begin, end, numbers[STACK];
  uint8_t first[2];
  const uint32_t env = round % ENVS;
  (void)rng;
  FINE(rlcore_lazy_frames_held(l, env, &begin, &end));
  if (end - begin < STACK + 2) return;
  /* Half of the rounds ask for the oldest frame. */
  const uint64_t range = round / 2 % 2 ? 1 : end - begin - STACK;
  for (int b = 0; b < B; b++) index[b] = (rlcore_frame_index){begin + STACK - 1 + some(round * B + (uint32_t)b, (uint32_t)range), env, 0};
  if (worked(__LINE__, rlcore_lazy_frames_gather(l, index, B, RLCORE_LAYOUT_CHW, RLCORE_U8, stacks)))
    for (int b = 0; b < B; b++) seen++, is_stack(stacks[b], index[b].number, env);
  for (int b = 0; b < B; b++)
    if (index[b].number % EPISODE != EPISODE - 1 &&
        worked(__LINE__, rlcore_lazy_frames_gather_transitions(l, &index[b], 1, RLCORE_LAYOUT_CHW, RLCORE_U8, stacks, next)))
      is_stack(next[0], index[b].number + 1, env);
  const uint64_t n = index[0].number;
  if (worked(__LINE__, rlcore_lazy_frames_stack(l, env, n, RLCORE_LAYOUT_CHW, RLCORE_U8, stacks)))
    is_stack(stacks[0], n, env);
  if (worked(__LINE__, rlcore_lazy_frames_indices(l, env, n, numbers)))
    for (uint64_t k = 0; k < STACK; k++) CHECK(numbers[k] == stacked(n, STACK - 1 - k));
  if (worked(__LINE__, rlcore_lazy_frames_read(l, env, n, 2, (uint8_t *)frames, first)))
    for (uint64_t k = 0; k < 2; k++)
      CHECK(frames[k][FRAME - 1] == ((n + k) << 1 | env) && first[k] == ((n + k) % EPISODE == 0));
}

/* ---- rlcore_monitor: each step ends the episodes of some environments ---- */

enum { MONITORED = 4, INFO = WIDTH > 16 ? 16 : 1 };

static rlcore_monitor_config monitor_config(uint32_t rows, rlcore_column *columns) {
  (void)columns;
  rlcore_monitor_config config;
  FINE(rlcore_monitor_config_init(&config, sizeof config));
  config.num_envs = MONITORED;
  config.capacity = rows;
  config.keep = rows / 2;
  config.num_info = INFO;
  return config;
}

MADE(monitor, monitor)

/* Numbers count episodes here: calls end one, two, three, four and then no episodes in turn. An episode lasts as many steps as
   were made since its last end. */
static uint64_t monitor_append(void *m, uint64_t number) {
  float rewards[MONITORED] = {0};
  uint8_t terminated[MONITORED] = {0}, truncated[MONITORED] = {0};
  double info[MONITORED][INFO] = {{0}};
  const rlcore_rows step = {.struct_size = sizeof step, .reward = rewards, .terminated = terminated, .truncated = truncated};
  FINE(rlcore_monitor_step(m, &step, 0, info[0]));
  if (number % 5 == 0) FINE(rlcore_monitor_reset(m));
  const uint64_t count = 1 + number % MONITORED;
  for (uint64_t e = 0; e < count; e++) {
    terminated[e] = 1;
    rewards[e] = part(number + e);
    for (int i = 0; i < INFO; i++) info[e][i] = (double)(number + e);
  }
  FINE(rlcore_monitor_step(m, &step, (double)number, info[0]));
  return number + count;
}

static void monitor_read(const void *m, rlcore_rng *rng, uint32_t round) {
  static rlcore_episode episodes[ROWS];
  static double info[ROWS][INFO];
  rlcore_monitor_stats means = {.struct_size = sizeof means};
  uint64_t gone;
  uint32_t count;
  (void)rng;
  if (!worked(__LINE__, rlcore_monitor_means(m, &means)) || means.num_episodes == 0) return;
  double sum = 0;
  for (uint64_t i = 0; i < means.num_kept; i++) sum += part(means.num_episodes - 1 - i);
  CHECK(means.return_mean == sum / means.num_kept);
  const uint64_t back = some(round, 64), asked = means.num_episodes < back ? 0 : means.num_episodes - back;
  uint64_t next = asked;
  if (!worked(__LINE__, rlcore_monitor_read(m, &next, episodes, info[0], 32, &count, &gone))) return;
  CHECK(asked + gone + count == next);
  for (uint64_t i = 0; i < count; i++) {
    const uint64_t n = asked + gone + i;
    seen++;
    CHECK(episodes[i].number == n && episodes[i].episode_return == part(n) && info[i][INFO - 1] == (double)n);
  }
}

/* ---- rlcore_rollout_buffer: two environments, rollouts of as many steps as rows ---- */

static rlcore_rollout_buffer_config rollout_config(uint32_t rows, rlcore_column *columns) {
  rlcore_rollout_buffer_config config;
  columns[0] = described("number", RLCORE_I32, WIDTH, 0);
  FINE(rlcore_rollout_buffer_config_init(&config, sizeof config));
  config.num_steps = rows;
  config.num_envs = ENVS;
  config.log_capacity = rows;
  config.num_columns = 1;
  config.columns = columns;
  return config;
}

MADE(rollout, rollout_buffer)

static uint64_t rollout_append(void *b, uint64_t number) {
  static int32_t numbers[ENVS][WIDTH];
  float rewards[ENVS] = {1, 1}, value[ENVS], log_prob[ENVS];
  uint8_t terminated[ENVS] = {0}, truncated[ENVS] = {0};
  const void *values[1] = {numbers};
  rlcore_rollout_step step = {.struct_size = sizeof step, .columns = values, .reward = rewards, .value = value, .log_prob = log_prob,
                              .terminated = terminated, .truncated = truncated};
  for (uint32_t e = 0; e < ENVS; e++) {
    write_row(numbers[e], number, e);
    value[e] = part(number);
    log_prob[e] = -part(number);
    terminated[e] = number % EPISODE == EPISODE - 1;
  }
  FINE(rlcore_rollout_buffer_log(b, RLCORE_METRIC_OWN, (double)number));
  const int32_t status = rlcore_rollout_buffer_add(b, &step);
  if (status == RLCORE_E_NOT_READY) {
    FINE(rlcore_rollout_buffer_finish(b, value, numbers, 0, 0));
    FINE(rlcore_rollout_buffer_reset(b));
    FINE(rlcore_rollout_buffer_add(b, &step));
  } else {
    FINE(status);
  }
  return number + 1;
}

static void rollout_read(const void *b, rlcore_rng *rng, uint32_t round) {
  static int32_t numbers[32][ENVS][WIDTH];
  static float value[32][ENVS], log_prob[32][ENVS];
  static rlcore_metric_row rows[64];
  void *outs[1] = {numbers};
  rlcore_rollout_progress p = {.struct_size = sizeof p};
  (void)rng;
  if (!worked(__LINE__, rlcore_rollout_buffer_progress(b, &p))) return;
  CHECK(p.global_step % ENVS == 0);
  const uint64_t steps = p.global_step / ENVS, asked = steps - some(round, p.num_steps + 1);
  const rlcore_rows_out out = {.struct_size = sizeof out, .num_rows = 32, .columns = outs, .value = &value[0][0], .log_prob = &log_prob[0][0]};
  uint64_t next = asked, gone;
  uint32_t count;
  if (worked(__LINE__, rlcore_rollout_buffer_read(b, &next, &out, &count, &gone)))
    for (uint64_t t = 0; t < count; t++)
      for (uint32_t e = 0; e < ENVS; e++) {
        const uint64_t n = asked + gone + t;
        seen++;
        is_row(numbers[t][e], n, e);
        CHECK(value[t][e] == part(n) && log_prob[t][e] == -part(n));
      }

  /* A minibatch of a finished rollout; its values tell which rollout. */
  enum { TAKEN = 4 };
  static int32_t taken[TAKEN][WIDTH];
  void *columns_of[1] = {taken};
  float value_of[TAKEN], advantage[TAKEN];
  uint32_t index[TAKEN];
  rlcore_window windows[TAKEN];
  const rlcore_minibatch batch = {.struct_size = sizeof batch, .columns = columns_of, .value = value_of,
        .advantage = advantage};
  for (uint32_t i = 0; i < TAKEN; i++) windows[i] = (rlcore_window){.first = index[i] = some(round + i, 8), .len = 1};
  const int32_t status = round % 2 ? rlcore_rollout_buffer_gather(b, index, TAKEN, 1, &batch)
                                   : rlcore_rollout_buffer_gather_windows(b, windows, TAKEN, 1, -1, &batch);
  if (status != RLCORE_E_NOT_READY && worked(__LINE__, status))
    for (uint32_t i = 0; i < TAKEN; i++) {
      CHECK(value_of[i] - (float)index[i] == value_of[0] - (float)index[0] && advantage[i] == 1 - value_of[i]);
      is_row(taken[i], (uint64_t)value_of[i], 0);
    }

  /* A step as text: after the name of each array, the numbers of both environments. */
  static char text[ENVS * WIDTH * 12 + 512];
  size_t len;
  if (round % 8 == 0 && p.num_steps > 0 &&
      worked(__LINE__, rlcore_rollout_buffer_format_step(b, some(round, p.num_steps), text, sizeof text - 1, &len))) {
    text[len] = 0;
    char *at = strstr(text, "\nvalue     :");
    const uint64_t n = at ? strtoull(at + 12, NULL, 10) : UINT64_MAX;
    at = strstr(text, "number    :");
    CHECK(at != NULL);
    if (at) at += 11;
    for (uint32_t i = 0; at && i < ENVS * WIDTH; i++) CHECK(strtol(at, &at, 10) == word(n, i / WIDTH, i % WIDTH));
  }
  next = 0;
  if (p.global_step < 64) return; /* too few metrics */
  if (!worked(__LINE__, rlcore_rollout_buffer_read_log(b, &next, rows, 1, &count, &gone))) return;
  next = gone + some(round, 32);
  if (worked(__LINE__, rlcore_rollout_buffer_read_log(b, &next, rows, 16, &count, &gone)))
    for (uint32_t i = 0; i < count; i++)
      if (rows[i].metric == RLCORE_METRIC_OWN) seen++, CHECK((uint64_t)rows[i].value - rows[i].global_step / ENVS <= 1);
}

/* ---- rlcore_trajectory ---- */

static rlcore_trajectory_config trajectory_config(uint32_t rows, rlcore_column *columns) {
  rlcore_trajectory_config config;
  columns[0] = described("number", RLCORE_I32, WIDTH, 0);
  FINE(rlcore_trajectory_config_init(&config, sizeof config));
  config.capacity = rows;
  config.num_columns = 1;
  config.columns = columns;
  return config;
}

MADE(trajectory, trajectory)

static uint64_t trajectory_append(void *t, uint64_t number) {
  static int32_t numbers[WIDTH];
  const float reward = 1, value = part(number);
  const uint8_t ended = 0;
  const void *values[1] = {numbers};
  const rlcore_trajectory_frames frame = {.struct_size = sizeof frame, .num_frames = 1, .columns = values, .reward = &reward,
                                          .value = &value, .terminated = &ended, .truncated = &ended};
  write_row(numbers, number, 0);
  const int32_t status = rlcore_trajectory_add(t, &frame);
  if (status == RLCORE_E_NOT_READY) {
    FINE(rlcore_trajectory_reset(t));
    FINE(rlcore_trajectory_add(t, &frame));
  } else {
    FINE(status);
    if (number % 5 == 0) FINE(rlcore_trajectory_pop(t));
  }
  return number + 1;
}

static void trajectory_read(const void *t, rlcore_rng *rng, uint32_t round) {
  static int32_t numbers[ROWS][WIDTH];
  static float value[ROWS], returns[ROWS], advantage[ROWS];
  void *outs[1] = {numbers};
  const rlcore_rows_out out = {.struct_size = sizeof out, .num_rows = round % 8 ? 32 : ROWS, .columns = outs, .value = value};
  uint64_t next = 0, gone;
  uint32_t count, time_steps = 0;
  (void)rng;
  if (!worked(__LINE__, rlcore_trajectory_read(t, &next, &out, &count, &gone))) return;
  for (uint32_t f = 0; f < count; f++) {
    const uint64_t n = (uint32_t)numbers[f][0];
    seen++;
    is_row(numbers[f], n, 0);
    CHECK(value[f] == part(n));
    /* One number may be missing: its frame was popped. */
    if (f > 0) CHECK((uint32_t)(numbers[f][0] - numbers[f - 1][0]) - 1 < 2);
  }
  if (round % 8) return;
  const rlcore_trajectory_rows rows = {.struct_size = sizeof rows, .num_rows = ROWS, .columns = outs,
        .returns = returns,
                                       .advantage = advantage, .time_steps = &time_steps};
  const int32_t status = rlcore_trajectory_process(t, 0, 0, 0, &rows);
  if (status != RLCORE_E_NOT_READY && worked(__LINE__, status))
    for (uint32_t f = 0; f < time_steps; f++) {
      CHECK(returns[f] == 1 && advantage[f] == 1 - part((uint32_t)numbers[f][0]));
      is_row(numbers[f], (uint32_t)numbers[f][0], 0);
    }
}

/* ---- All of them ---- */

struct store {
  const char *name;
  size_t (*size)(uint32_t rows);
  void (*init)(void *mem, size_t size, uint32_t rows);
  /* Appends item `number` and perhaps more; returns the number of the next one. */
  uint64_t (*append)(void *object, uint64_t number);
  /* Reads some items and checks them; `round` counts the calls of one reader. */
  void (*read)(const void *object, rlcore_rng *rng, uint32_t round);
  int32_t (*attach)(void *mem, size_t size, void **out);
  int32_t (*attach_reader)(const void *mem, size_t size, const void **out);
};

#define STORE(text, name, append, read) {text, name##_size, name##_init, append, read, name##_attach, name##_attach_reader}
static const struct store stores[] = {
  STORE("memory", plain, memory_append, memory_read),
  STORE("memory of stacks", stacked, memory_append, stacked_read),
  STORE("replay", replay, replay_append, replay_read),
  STORE("lazy_frames", frames, frames_append, frames_read),
  STORE("monitor", monitor, monitor_append, monitor_read),
  STORE("rollout_buffer", rollout, rollout_append, rollout_read),
  STORE("trajectory", trajectory, trajectory_append, trajectory_read),
};
