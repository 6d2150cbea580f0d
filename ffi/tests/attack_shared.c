/* Every store that two processes share: one appends as fast as it can to a mapped file, the other has the same file
   mapped for reading only, draws, copies and is told which copies mean nothing. Then the writer is killed amid its work:
   what is left is whole, or it is refused. */
#define _DEFAULT_SOURCE
#include "rlcore.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { KEPT = 256, LONGEST = 4, STACK = 3, EPISODE = 50, WORDS = 1024, SCREEN = 512, B = 4 };
/* Copies that have to be right before the reader is content, and copies that the writer has to spoil while they are made. */
enum { ENOUGH = 3000, SPOILT = 20, SECONDS = 60, KILLS = 12 };
/* How long the reader goes on at least: two processes that are new may share a core for a while. */
static const double LEAST_SECONDS = 0.5;

static int failures;

#define FINE(call) ((call) == RLCORE_OK ? (void)0 : fail(__LINE__, #call))
#define CHECK(condition) ((condition) ? (void)0 : fail(__LINE__, #condition))

static void fail(int line, const char *what) {
  char why[256];
  rlcore_last_error(why, sizeof why);
  if (failures++ < 10) printf("line %d: %s\n  last error: %s\n", line, what, why);
}

/* What both processes see beside the file. */
static struct control {
  _Atomic uint32_t stop;
} *control;

static FILE *file;
static size_t size;
static rlcore_column columns[2];

/* Every value of a row is a function of its number. */
static int32_t word(uint64_t number, uint32_t i) { return (int32_t)(uint32_t)(number * 2654435761u + i * 40503u); }
static uint8_t pixel(uint64_t number, uint32_t i) { return (uint8_t)(number * 31 + i); }
static float reward(uint64_t number) { return number % 7 == 0 ? 1.0f : 0.0f; }

static void describe(void) {
  strcpy(columns[0].name, "words");
  columns[0].kind = RLCORE_I32;
  columns[0].len = WORDS;
  strcpy(columns[1].name, "screen");
  columns[1].kind = RLCORE_U8;
  columns[1].len = SCREEN;
  columns[1].num_stack = STACK;
}

static void *map(int how) {
  void *mem = mmap(NULL, size, how, MAP_SHARED, fileno(file), 0);
  if (mem == MAP_FAILED) perror("mmap"), exit(1);
  return mem;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- rlcore_memory ---- */

static void *memory_new(void) {
  rlcore_memory_config config;
  rlcore_memory *m;
  FINE(rlcore_memory_config_init(&config, sizeof config));
  config.history_size = KEPT;
  config.max_sample_size = LONGEST;
  config.num_columns = 2;
  config.columns = columns;
  FINE(rlcore_memory_size(&config, &size));
  if (ftruncate(fileno(file), (off_t)size) != 0) perror("ftruncate"), exit(1);
  FINE(rlcore_memory_init(map(PROT_READ | PROT_WRITE), size, &config, &m));
  return m;
}

static void memory_append(void *m) {
  static int32_t words[WORDS];
  static uint8_t screen[SCREEN];
  const void *values[2] = {words, screen};
  for (uint64_t number = 0; !atomic_load(&control->stop); number++) {
    rlcore_frame frame = {.episode = number / EPISODE, .step = (uint32_t)(number % EPISODE), .reward = reward(number)};
    frame.terminated = frame.step == EPISODE - 1;
    for (uint32_t i = 0; i < WORDS; i++) words[i] = word(number, i);
    for (uint32_t i = 0; i < SCREEN; i++) screen[i] = pixel(number, i);
    FINE(rlcore_memory_add(m, &frame, values, NULL, NULL));
  }
}

/* How copies went: right; of rows that were gone before or while they were copied; of the latter alone. */
static long copied, lost, spoilt;

/* A copy was made, and nothing has overwritten what it was made of. */
static int is_copied(int line, int32_t status) {
  if (status == RLCORE_OK) {
    copied++;
    return 1;
  }
  char why[256];
  rlcore_last_error(why, sizeof why);
  lost++;
  spoilt += strstr(why, "overwritten meanwhile") != NULL;
  if (status != RLCORE_E_RANGE && status != RLCORE_E_BUSY) fail(line, "a copy is refused for another reason");
  return 0;
}

static void memory_read(const void *m, rlcore_rng *rng, uint32_t round) {
  static int32_t words[B][LONGEST][WORDS];
  static uint8_t screens[B][LONGEST][STACK][SCREEN];
  static float rewards[B][LONGEST];
  static uint8_t valid[B][LONGEST];
  rlcore_sample samples[B];
  const int32_t status = round % 2 == 0 ? rlcore_memory_sample_uniform(m, rng, NULL, samples, B)
                                        : rlcore_memory_sample_priority(m, rng, NULL, samples, B);
  if (status != RLCORE_OK) {
    /* Nothing is there yet, or the writer was faster than a draw. */
    CHECK(status == RLCORE_E_NOT_READY || status == RLCORE_E_EMPTY || status == RLCORE_E_BUSY);
    return;
  }
  for (int b = 0; b < B; b++) CHECK(samples[b].len >= 1 && samples[b].len <= LONGEST);
  if (is_copied(__LINE__, rlcore_memory_gather(m, samples, B, LONGEST, 0, RLCORE_LAYOUT_HWC, RLCORE_I32, words))) {
    for (int b = 0; b < B; b++) {
      /* A frame that was overwritten amid the draw may have named a wrong one, but what is still held is one episode's. */
      CHECK(samples[b].first / EPISODE == (samples[b].first + samples[b].len - 1) / EPISODE);
      for (uint32_t j = 0; j < LONGEST; j++)
        for (uint32_t i = 0; i < WORDS; i++)
          CHECK(words[b][j][i] == (j < samples[b].len ? word(samples[b].first + j, i) : 0));
    }
  }
  if (is_copied(__LINE__, rlcore_memory_gather(m, samples, B, LONGEST, 1, RLCORE_LAYOUT_CHW, RLCORE_U8, screens))) {
    for (int b = 0; b < B; b++)
      for (uint32_t j = 0; j < LONGEST; j++)
        for (uint32_t k = 0; k < STACK; k++) {
          const uint64_t newest = samples[b].first + j, back = STACK - 1 - k;
          const uint64_t number = newest - (back < newest % EPISODE ? back : newest % EPISODE);
          for (uint32_t i = 0; i < SCREEN; i++)
            CHECK(screens[b][j][k][i] == (j < samples[b].len ? pixel(number, i) : 0));
        }
  }
  if (is_copied(__LINE__, rlcore_memory_gather_frames(m, samples, B, LONGEST, &rewards[0][0], NULL, NULL, &valid[0][0]))) {
    for (int b = 0; b < B; b++)
      for (uint32_t j = 0; j < LONGEST; j++) {
        CHECK(valid[b][j] == (j < samples[b].len));
        CHECK(rewards[b][j] == (j < samples[b].len ? reward(samples[b].first + j) : 0));
      }
  }
}

/* ---- rlcore_replay: two environments take the same steps, of transitions over two ---- */

enum { ENVS = 2, STEPS = 2 };

static void *replay_new(void) {
  rlcore_replay_config config;
  rlcore_replay *r;
  FINE(rlcore_replay_config_init(&config, sizeof config));
  config.num_envs = ENVS;
  config.num_rows = KEPT / ENVS;
  config.num_columns = 2;
  config.columns = columns;
  config.observations = 3;
  config.num_steps = STEPS;
  config.discount = 1;
  FINE(rlcore_replay_size(&config, &size));
  if (ftruncate(fileno(file), (off_t)size) != 0) perror("ftruncate"), exit(1);
  FINE(rlcore_replay_init(map(PROT_READ | PROT_WRITE), size, &config, &r));
  return r;
}

/* Row `number` of an environment is step number % EPISODE of its episode; the last row of EPISODE is the tail. */
static void replay_append(void *r) {
  static int32_t words[ENVS][WORDS], last_words[ENVS][WORDS];
  static uint8_t screen[ENVS][SCREEN], last_screen[ENVS][SCREEN];
  const void *values[2] = {words, screen}, *last[2] = {last_words, last_screen};
  for (uint64_t number = 0; !atomic_load(&control->stop); number++) {
    const int ends = number % EPISODE == EPISODE - 2;
    float rewards[ENVS];
    uint8_t terminated[ENVS], truncated[ENVS] = {0};
    for (uint32_t env = 0; env < ENVS; env++) {
      rewards[env] = reward(number);
      terminated[env] = (uint8_t)ends;
      for (uint32_t i = 0; i < WORDS; i++) words[env][i] = word(number, env + i), last_words[env][i] = word(number + 1, env + i);
      for (uint32_t i = 0; i < SCREEN; i++) screen[env][i] = pixel(number, env + i), last_screen[env][i] = pixel(number + 1, env + i);
    }
    FINE(rlcore_replay_add_all(r, values, rewards, terminated, truncated, ends ? last : NULL));
    number += (uint64_t)ends;
    if (number % 16 == 0) {
      /* Priorities change under the reader, too. */
      const rlcore_frame_index index = {number - number % EPISODE % 8 - 8, 0, 0};
      if (number > 64 && index.number % EPISODE < EPISODE - 2) {
        const float priority = (float)(number % 5);
        const int32_t status = rlcore_replay_update(r, &index, &priority, 1, NULL);
        CHECK(status == RLCORE_OK || status == RLCORE_E_RANGE);
      }
    }
  }
}

static void is_row(const int32_t *words, uint64_t number, uint32_t env) {
  for (uint32_t i = 0; i < WORDS; i++) CHECK(words[i] == word(number, env + i));
}

static int older(const void *a, const void *b) {
  const uint64_t left = ((const rlcore_frame_index *)a)->number, right = ((const rlcore_frame_index *)b)->number;
  return (left > right) - (left < right);
}

static void replay_read(const void *r, rlcore_rng *rng, uint32_t round) {
  enum { ROWS = 8, DRAWN = 64, MANY = 256 };
  static int32_t words[ROWS][WORDS];
  static uint8_t screens[ROWS][STACK][SCREEN];
  float weight[DRAWN], rewards[ROWS], discount[ROWS];
  uint8_t terminated[ROWS];
  rlcore_frame_index index[DRAWN];
  const int32_t status = rlcore_replay_sample(r, rng, DRAWN, 0.5f, round % 3, round % 2, index, weight, NULL);
  if (status != RLCORE_OK) {
    CHECK(status == RLCORE_E_NOT_READY || status == RLCORE_E_BUSY);
    return;
  }
  for (int b = 0; b < DRAWN; b++) CHECK(index[b].env < ENVS);
  /* Half of the rounds copy the oldest that were drawn, which the writer comes to next. */
  if (round / 6 % 2) qsort(index, DRAWN, sizeof *index, older);
  if (is_copied(__LINE__, rlcore_replay_gather(r, index, ROWS, 0, RLCORE_LAYOUT_HWC, RLCORE_I32, words)))
    for (int b = 0; b < ROWS; b++) is_row(words[b], index[b].number, index[b].env);
  /* Those of one environment alone, which are looked at together. */
  rlcore_frame_index alone[ROWS];
  size_t count = 0;
  for (int b = 0; b < ROWS; b++)
    if (index[b].env == index[0].env) alone[count++] = index[b];
  if (is_copied(__LINE__, rlcore_replay_gather(r, alone, count, 0, RLCORE_LAYOUT_HWC, RLCORE_I32, words)))
    for (size_t b = 0; b < count; b++) is_row(words[b], alone[b].number, alone[b].env);
  if (is_copied(__LINE__, rlcore_replay_gather(r, index, ROWS, 1, RLCORE_LAYOUT_CHW, RLCORE_U8, screens)))
    for (int b = 0; b < ROWS; b++)
      for (uint32_t k = 0; k < STACK; k++) {
        const uint64_t back = STACK - 1 - k, step = index[b].number % EPISODE;
        const uint64_t number = index[b].number - (back < step ? back : step);
        for (uint32_t i = 0; i < SCREEN; i++) CHECK(screens[b][k][i] == pixel(number, index[b].env + i));
      }
  if (is_copied(__LINE__, rlcore_replay_gather_next(r, index, ROWS, 0, RLCORE_LAYOUT_HWC, RLCORE_I32, words)))
    for (int b = 0; b < ROWS; b++) {
      const uint64_t left = EPISODE - 1 - index[b].number % EPISODE;
      is_row(words[b], index[b].number + (left < STEPS ? left : STEPS), index[b].env);
    }
  /* A few words are seldom overwritten amid their copy: the first is copied until that may have happened. */
  for (int i = 0; i < MANY; i++) {
    const uint32_t rows = i == 0 ? ROWS : 1;
    if (!is_copied(__LINE__, rlcore_replay_transitions(r, index, rows, rewards, discount, terminated, NULL))) break;
    for (uint32_t b = 0; b < rows; b++) {
      const uint64_t number = index[b].number;
      const int ends = number % EPISODE >= EPISODE - 1 - STEPS;
      const float more = number % EPISODE < EPISODE - 2 ? reward(number + 1) : 0;
      CHECK(terminated[b] == ends && discount[b] == (ends ? 0.0f : 1.0f) && rewards[b] == reward(number) + more);
    }
  }
}

/* ---- rlcore_lazy_frames: two environments ---- */

/* A number from 0, below `below`, that differs from round to round. */
static uint32_t some(uint32_t round, uint32_t below) { return (uint32_t)((uint64_t)(round * 2654435761u) * below >> 32); }

static void *map_new(void) {
  if (ftruncate(fileno(file), (off_t)size) != 0) perror("ftruncate"), exit(1);
  return map(PROT_READ | PROT_WRITE);
}

static void *frames_new(void) {
  rlcore_lazy_frames_config config;
  rlcore_lazy_frames *l;
  FINE(rlcore_lazy_frames_config_init(&config, sizeof config));
  config.num_envs = ENVS;
  config.num_frames = KEPT / ENVS;
  config.height = 1;
  config.width = SCREEN;
  config.num_stack = STACK;
  FINE(rlcore_lazy_frames_size(&config, &size));
  FINE(rlcore_lazy_frames_init(map_new(), size, &config, &l));
  return l;
}

static void frames_append(void *l) {
  static uint8_t screen[ENVS][SCREEN];
  for (uint64_t number = 0; !atomic_load(&control->stop); number++) {
    const uint8_t first[ENVS] = {number % EPISODE == 0, number % EPISODE == 0};
    for (uint32_t env = 0; env < ENVS; env++)
      for (uint32_t i = 0; i < SCREEN; i++) screen[env][i] = pixel(number, env + i);
    if (number % 2 == 0) {
      FINE(rlcore_lazy_frames_push_range(l, 0, ENVS, &screen[0][0], first, NULL, NULL));
    } else {
      for (uint32_t env = 0; env < ENVS; env++) FINE(rlcore_lazy_frames_push(l, env, screen[env], first[0], NULL));
    }
  }
}

static void is_stack(uint8_t (*screens)[SCREEN], uint64_t newest, uint32_t env) {
  for (uint32_t k = 0; k < STACK; k++) {
    const uint64_t back = STACK - 1 - k, number = newest - (back < newest % EPISODE ? back : newest % EPISODE);
    for (uint32_t i = 0; i < SCREEN; i++) CHECK(screens[k][i] == pixel(number, env + i));
  }
}

static void frames_read(const void *l, rlcore_rng *rng, uint32_t round) {
  static uint8_t screens[B][STACK][SCREEN], next[B][STACK][SCREEN], frames[B][SCREEN];
  uint8_t first[B];
  rlcore_frame_index index[B];
  uint64_t begin, end, numbers[STACK];
  (void)rng;
  const uint32_t env = round % ENVS;
  FINE(rlcore_lazy_frames_held(l, env, &begin, &end));
  if (end - begin < STACK + B + 1) return;
  /* Half of the rounds ask for the oldest. */
  const uint64_t from = begin + STACK + (round / 2 % 2 ? 0 : some(round, (uint32_t)(end - begin) - STACK - B));
  for (int b = 0; b < B; b++) index[b] = (rlcore_frame_index){from + (uint64_t)b, env, 0};
  if (is_copied(__LINE__, rlcore_lazy_frames_gather(l, index, B, RLCORE_LAYOUT_CHW, RLCORE_U8, screens)))
    for (int b = 0; b < B; b++) is_stack(screens[b], from + (uint64_t)b, env);
  if (is_copied(__LINE__, rlcore_lazy_frames_stack(l, env, from, RLCORE_LAYOUT_CHW, RLCORE_U8, screens))) is_stack(screens[0], from, env);
  if (is_copied(__LINE__, rlcore_lazy_frames_read(l, env, from - STACK, B, &frames[0][0], first)))
    for (int b = 0; b < B; b++) {
      CHECK(first[b] == ((from - STACK + (uint64_t)b) % EPISODE == 0));
      for (uint32_t i = 0; i < SCREEN; i++) CHECK(frames[b][i] == pixel(from - STACK + (uint64_t)b, env + i));
    }
  if (is_copied(__LINE__, rlcore_lazy_frames_indices(l, env, from, numbers))) {
    const uint64_t step = from % EPISODE;
    for (uint64_t k = 0; k < STACK; k++) CHECK(numbers[STACK - 1 - k] == from - (k < step ? k : step));
  }
  for (int b = 0; b < B; b++)
    if (index[b].number % EPISODE == EPISODE - 1) return;
  if (is_copied(__LINE__, rlcore_lazy_frames_gather_transitions(l, index, B, RLCORE_LAYOUT_CHW, RLCORE_U8, screens, next)))
    for (int b = 0; b < B; b++) {
      is_stack(screens[b], from + (uint64_t)b, env);
      is_stack(next[b], from + (uint64_t)b + 1, env);
    }
}

/* ---- rlcore_monitor: each step ends the episodes of all environments ---- */

enum { MONITORED = 4, RECORDS = 64, LOOKS_BACK = 32, INFO = 16 };

static void *monitor_new(void) {
  rlcore_monitor_config config;
  rlcore_monitor *m;
  FINE(rlcore_monitor_config_init(&config, sizeof config));
  config.num_envs = MONITORED;
  config.capacity = RECORDS;
  config.keep = LOOKS_BACK;
  config.num_info = INFO;
  FINE(rlcore_monitor_size(&config, &size));
  FINE(rlcore_monitor_init(map_new(), size, &config, &m));
  return m;
}

static float gained(uint64_t number) { return (float)(number % 1000); }

static void monitor_append(void *m) {
  float rewards[MONITORED];
  uint8_t terminated[MONITORED] = {1, 1, 1, 1}, truncated[MONITORED] = {0};
  double info[MONITORED][INFO];
  rlcore_vecenv_out step = {.struct_size = sizeof step, .reward = rewards, .terminated = terminated, .truncated = truncated};
  for (uint64_t t = 0; !atomic_load(&control->stop); t++) {
    for (uint64_t env = 0; env < MONITORED; env++) {
      rewards[env] = gained(t * MONITORED + env);
      for (uint64_t i = 0; i < INFO; i++) info[env][i] = (double)((t * MONITORED + env) * INFO + i);
    }
    FINE(rlcore_monitor_step(m, &step, (double)t, &info[0][0]));
  }
}

static void monitor_read(const void *m, rlcore_rng *rng, uint32_t round) {
  static rlcore_episode episodes[RECORDS];
  static double info[RECORDS][INFO];
  rlcore_monitor_stats means = {.struct_size = sizeof means};
  (void)rng;
  if (!is_copied(__LINE__, rlcore_monitor_means(m, &means)) || means.num_episodes == 0) return;
  double sum = 0;
  for (uint64_t i = 0; i < means.num_kept; i++) sum += gained(means.num_episodes - 1 - i);
  CHECK(means.num_kept == (means.num_episodes < LOOKS_BACK ? means.num_episodes : LOOKS_BACK));
  CHECK(means.len_mean == 1 && means.return_mean == sum / means.num_kept);
  const uint64_t back = 1 + some(round, RECORDS);
  const uint64_t asked = means.num_episodes < back ? 0 : means.num_episodes - back;
  uint64_t next = asked, lost_records;
  uint32_t count;
  if (!is_copied(__LINE__, rlcore_monitor_read(m, &next, episodes, &info[0][0], RECORDS, &count, &lost_records))) {
    CHECK(next == asked);
    return;
  }
  CHECK(count >= 1 && count <= RECORDS && asked + lost_records + count == next);
  for (uint64_t b = 0; b < count; b++) {
    const uint64_t number = asked + lost_records + b;
    CHECK(episodes[b].number == number && episodes[b].env == number % MONITORED && episodes[b].len == 1);
    CHECK(episodes[b].episode_return == gained(number) && episodes[b].seconds == (double)(number / MONITORED));
    for (uint64_t i = 0; i < INFO; i++) CHECK(info[b][i] == (double)(number * INFO + i));
  }
}

/* ---- rlcore_rollout_buffer: two environments, as many steps in every rollout ---- */

enum { ROLLOUT = 16, LOGGED = 64 };

static void *rollout_new(void) {
  rlcore_rollout_buffer_config config;
  rlcore_rollout_buffer *b;
  FINE(rlcore_rollout_buffer_config_init(&config, sizeof config));
  config.num_steps = ROLLOUT;
  config.num_envs = ENVS;
  config.memory_len = 8;
  config.log_capacity = LOGGED;
  config.num_columns = 1;
  config.columns = columns;
  FINE(rlcore_rollout_buffer_size(&config, &size));
  FINE(rlcore_rollout_buffer_init(map_new(), size, &config, &b));
  return b;
}

/* As much of a number as a float keeps. */
static uint64_t part(uint64_t number) { return number & 0xffffff; }

static void rollout_append(void *b) {
  static int32_t words[ENVS][WORDS];
  const void *values[1] = {words};
  float rewards[ENVS], value[ENVS], log_prob[ENVS], memory[ENVS][8];
  uint8_t terminated[ENVS], truncated[ENVS] = {0};
  rlcore_rollout_step step = {.struct_size = sizeof step, .columns = values, .reward = rewards, .value = value, .log_prob = log_prob,
                              .terminated = terminated, .truncated = truncated, .memory = &memory[0][0]};
  for (uint64_t number = 0; !atomic_load(&control->stop); number++) {
    for (uint32_t env = 0; env < ENVS; env++) {
      for (uint32_t i = 0; i < WORDS; i++) words[env][i] = word(part(number), env + i);
      for (uint32_t i = 0; i < 8; i++) memory[env][i] = (float)part(number + i);
      rewards[env] = 1;
      value[env] = (float)part(number);
      log_prob[env] = -(float)part(number);
      terminated[env] = number % EPISODE == EPISODE - 1;
    }
    FINE(rlcore_rollout_buffer_log(b, RLCORE_METRIC_OWN, (double)number));
    FINE(rlcore_rollout_buffer_add(b, &step));
    if (number % ROLLOUT == ROLLOUT - 1) {
      FINE(rlcore_rollout_buffer_finish(b, value, words, 0, 0));
      FINE(rlcore_rollout_buffer_reset(b));
    }
  }
}

static void rollout_read(const void *b, rlcore_rng *rng, uint32_t round) {
  static int32_t words[ROLLOUT][ENVS][WORDS];
  static float value[ROLLOUT][ENVS], log_prob[ROLLOUT][ENVS], rewards[ROLLOUT][ENVS], last[ROLLOUT][ENVS], memory[ROLLOUT][ENVS][8];
  static uint8_t terminated[ROLLOUT][ENVS], truncated[ROLLOUT][ENVS];
  static rlcore_metric_row rows[LOGGED];
  void *outs[1] = {words};
  rlcore_rollout_progress p = {.struct_size = sizeof p};
  (void)rng;
  if (!is_copied(__LINE__, rlcore_rollout_buffer_progress(b, &p))) return;
  const uint64_t begin = p.global_step / ENVS - p.num_steps;
  CHECK(p.global_step % ENVS == 0 && begin % ROLLOUT == 0 && p.num_steps <= ROLLOUT && p.finished <= (p.num_steps == ROLLOUT));
  if (p.num_ended > 0) CHECK(p.num_ended == ENVS && (p.len_mean == EPISODE || begin == 0) && p.return_mean == p.len_mean);

  const rlcore_rows_out out = {.struct_size = sizeof out, .num_rows = ROLLOUT, .columns = outs, .reward = &rewards[0][0],
                               .value = &value[0][0], .log_prob = &log_prob[0][0], .final_value = &last[0][0],
                               .terminated = &terminated[0][0], .truncated = &truncated[0][0], .memory = &memory[0][0][0]};
  const uint64_t asked = round % 2 ? 0 : begin + some(round, p.num_steps + 1);
  uint64_t next = asked, forgotten;
  uint32_t count;
  if (is_copied(__LINE__, rlcore_rollout_buffer_read(b, &next, &out, &count, &forgotten))) {
    CHECK(count <= ROLLOUT && asked + forgotten + count == next);
    for (uint64_t t = 0; t < count; t++)
      for (uint32_t env = 0; env < ENVS; env++) {
        const uint64_t number = asked + forgotten + t;
        for (uint32_t i = 0; i < WORDS; i++) CHECK(words[t][env][i] == word(part(number), env + i));
        for (uint32_t i = 0; i < 8; i++) CHECK(memory[t][env][i] == (float)part(number + i));
        CHECK(value[t][env] == (float)part(number) && log_prob[t][env] == -value[t][env] && rewards[t][env] == 1);
        CHECK(terminated[t][env] == (number % EPISODE == EPISODE - 1) && truncated[t][env] == 0 && last[t][env] == 0);
      }
  } else CHECK(next == asked);

  /* Minibatches of a rollout that is finished, of samples and of windows: which one it is the value says. */
  enum { DRAWN = 4 };
  static int32_t drawn[DRAWN][WORDS];
  void *columns_of[1] = {drawn};
  float value_of[DRAWN], advantage[DRAWN];
  uint32_t index[DRAWN];
  rlcore_window windows[DRAWN];
  const rlcore_minibatch batch = {.struct_size = sizeof batch, .columns = columns_of, .value = value_of, .advantage = advantage};
  for (uint32_t i = 0; i < DRAWN; i++) {
    index[i] = some(round + i, ROLLOUT * ENVS);
    windows[i] = (rlcore_window){.first = index[i], .len = 1};
  }
  const int32_t status = round % 2 ? rlcore_rollout_buffer_gather(b, index, DRAWN, 1, &batch)
                                   : rlcore_rollout_buffer_gather_windows(b, windows, DRAWN, 1, -1, &batch);
  if (status != RLCORE_E_NOT_READY && is_copied(__LINE__, status))
    for (uint32_t i = 0; i < DRAWN; i++) {
      const uint64_t number = (uint64_t)value_of[i];
      CHECK(number % ROLLOUT == index[i] % ROLLOUT && part(number - index[i] % ROLLOUT) == part((uint64_t)value_of[0] - index[0] % ROLLOUT));
      CHECK(advantage[i] == 1 - value_of[i]);
      for (uint32_t j = 0; j < WORDS; j++) CHECK(drawn[i][j] == word(number, index[i] / ROLLOUT + j));
    }

  /* A step in words: the numbers of both environments after the name of each array. */
  static char text[ENVS * WORDS * 12 + 512];
  size_t len;
  if (round % 8 == 0 && p.num_steps > 0 &&
      is_copied(__LINE__, rlcore_rollout_buffer_format_step(b, some(round, p.num_steps), text, sizeof text - 1, &len))) {
    text[len] = 0;
    char *at = strstr(text, "\nvalue     :");
    const uint64_t number = at ? strtoull(at + 12, NULL, 10) : UINT64_MAX;
    at = strstr(text, "\nlog_prob  :");
    CHECK(at && strtoull(at + 14, NULL, 10) == number);
    at = strstr(text, "\nwords     :");
    CHECK(at != NULL);
    if (at) at += 12;
    for (uint32_t i = 0; at && i < ENVS * WORDS; i++) CHECK(strtol(at, &at, 10) == word(number, i / WORDS + i % WORDS));
  }

  /* Metrics: one of each step, two of each episode. */
  next = 0;
  if (is_copied(__LINE__, rlcore_rollout_buffer_read_log(b, &next, rows, LOGGED, &count, &forgotten))) {
    next = forgotten > 8 ? forgotten + some(round, 32) : 0;
    if (is_copied(__LINE__, rlcore_rollout_buffer_read_log(b, &next, rows, LOGGED, &count, &forgotten)))
      for (uint32_t i = 0; i < count; i++) {
        const uint64_t number = rows[i].global_step / ENVS;
        if (rows[i].metric == RLCORE_METRIC_OWN) CHECK(rows[i].env == UINT32_MAX && rows[i].value == (double)number);
        else CHECK(rows[i].env < ENVS && number % EPISODE == EPISODE - 1 && rows[i].value == EPISODE);
        CHECK(i == 0 || rows[i].global_step == rows[i - 1].global_step || rows[i].global_step == rows[i - 1].global_step + ENVS);
      }
  }
}

/* ---- rlcore_trajectory: frames come, the last one goes at times, and all of them when there is no more room ---- */

enum { LENGTH = 20 };

static void *trajectory_new(void) {
  rlcore_trajectory_config config;
  rlcore_trajectory *t;
  FINE(rlcore_trajectory_config_init(&config, sizeof config));
  config.capacity = LENGTH;
  config.memory_len = 8;
  config.num_columns = 1;
  config.columns = columns;
  FINE(rlcore_trajectory_size(&config, &size));
  FINE(rlcore_trajectory_init(map_new(), size, &config, &t));
  return t;
}

static void trajectory_append(void *t) {
  static int32_t words[2][WORDS];
  const void *values[1] = {words};
  float rewards[2] = {1, 1}, value[2], memory[2][8];
  uint8_t terminated[2] = {0, 0}, truncated[2] = {0, 0};
  rlcore_trajectory_frames frames = {.struct_size = sizeof frames, .columns = values, .reward = rewards, .value = value,
                                     .terminated = terminated, .truncated = truncated, .memory = &memory[0][0]};
  uint32_t held = 0;
  for (uint64_t number = 0; !atomic_load(&control->stop); number += frames.num_frames) {
    frames.num_frames = held + 2 <= LENGTH && number % 3 == 0 ? 2 : 1;
    for (uint32_t f = 0; f < frames.num_frames; f++) {
      for (uint32_t i = 0; i < WORDS; i++) words[f][i] = word(part(number + f), i);
      for (uint32_t i = 0; i < 8; i++) memory[f][i] = (float)part(number + f + i);
      value[f] = (float)part(number + f);
    }
    FINE(rlcore_trajectory_add(t, &frames));
    held += frames.num_frames;
    if (held == LENGTH) FINE(rlcore_trajectory_reset(t)), held = 0;
    else if (number % 5 == 0) FINE(rlcore_trajectory_pop(t)), held--;
  }
}

static void trajectory_read(const void *t, rlcore_rng *rng, uint32_t round) {
  static int32_t words[LENGTH][WORDS];
  static float value[LENGTH], rewards[LENGTH], memory[LENGTH][8], returns[LENGTH], advantage[LENGTH];
  static uint8_t terminated[LENGTH], truncated[LENGTH];
  void *outs[1] = {words};
  (void)rng, (void)round;
  const rlcore_rows_out out = {.struct_size = sizeof out, .num_rows = LENGTH, .columns = outs, .reward = rewards, .value = value,
                               .terminated = terminated, .truncated = truncated, .memory = &memory[0][0]};
  uint64_t next = 0, forgotten;
  uint32_t count;
  if (is_copied(__LINE__, rlcore_trajectory_read(t, &next, &out, &count, &forgotten))) {
    CHECK(count <= LENGTH && next == forgotten + count);
    for (uint32_t f = 0; f < count; f++) {
      const uint64_t number = (uint64_t)value[f];
      /* Later frames have larger numbers, without a gap but for one that went. */
      if (f > 0) CHECK(part(number - (uint64_t)value[f - 1]) - 1 < 4);
      CHECK(rewards[f] == 1 && terminated[f] == 0 && truncated[f] == 0);
      for (uint32_t i = 0; i < WORDS; i++) CHECK(words[f][i] == word(number, i));
      for (uint32_t i = 0; i < 8; i++) CHECK(memory[f][i] == (float)part(number + i));
    }
  } else CHECK(next == 0);
  uint32_t time_steps = 0;
  const rlcore_trajectory_rows rows = {.struct_size = sizeof rows, .num_rows = LENGTH, .columns = outs, .returns = returns,
                                       .advantage = advantage, .time_steps = &time_steps};
  const int32_t status = rlcore_trajectory_process(t, 0, 0, 0, &rows);
  if (status != RLCORE_E_NOT_READY && is_copied(__LINE__, status))
    for (uint32_t f = 0; f < time_steps; f++) {
      const uint64_t number = (uint64_t)(returns[f] - advantage[f]);
      CHECK(returns[f] == 1);
      for (uint32_t i = 0; i < WORDS && number < 0xfffff0; i++) CHECK(words[f][i] == word(number, i));
    }
}

/* ---- All of them ---- */

struct store {
  const char *name;
  void *(*make)(void);
  void (*append)(void *);
  void (*read)(const void *, rlcore_rng *, uint32_t);
  int32_t (*attach)(void *, void **);
  int32_t (*attach_reader)(const void *, const void **);
};

/* Starts a process that appends until it is told to stop, or killed. */
static pid_t start(const struct store *s, void *object) {
  atomic_store(&control->stop, 0);
  fflush(stdout);
  const pid_t pid = fork();
  if (pid < 0) perror("fork"), exit(1);
  if (pid == 0) {
    s->append(object);
    _exit(failures != 0);
  }
  return pid;
}

static void a_reader_never_believes_a_torn_row(const struct store *s) {
  void *object = s->make(), *whole;
  const void *r, *seen = map(PROT_READ);
  FINE(s->attach_reader(seen, &r));
  rlcore_rng rng;
  FINE(rlcore_rng_seed(&rng, 3));
  const pid_t pid = start(s, object);
  const double begin = now();
  uint32_t round = 0;
  copied = lost = spoilt = 0;
  for (double t = 0; failures == 0 && t < SECONDS; t = now() - begin) {
    if (t >= LEAST_SECONDS && copied >= ENOUGH && spoilt >= SPOILT) break;
    s->read(r, &rng, round++);
  }
  CHECK(copied >= ENOUGH);
  CHECK(spoilt >= SPOILT);
  atomic_store(&control->stop, 1);
  int status;
  waitpid(pid, &status, 0);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  /* Nobody writes any more: the mapping is an image, and so is every copy of the file. */
  FINE(s->attach((void *)(size_t)seen, &whole));
  void *copy = malloc(size);
  CHECK(pread(fileno(file), copy, size, 0) == (ssize_t)size);
  CHECK(memcmp(copy, seen, size) == 0);
  FINE(s->attach(copy, &whole));
  printf("%s: %ld copies were right, %ld were spoilt; ", s->name, copied, spoilt);
  lost = 0;
  for (uint32_t i = 0; i < 100; i++) s->read(whole, &rng, i);
  CHECK(lost == 0);
  free(copy);
}

static void a_writer_may_die_at_any_moment(const struct store *s) {
  int refused = 0;
  for (int i = 0; i < KILLS && failures == 0; i++) {
    void *object = s->make(), *left;
    const pid_t pid = start(s, object);
    nanosleep(&(struct timespec){.tv_nsec = 2000000 + 371000 * i}, NULL);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    const int32_t status = s->attach(object, &left);
    if (status == RLCORE_OK) {
      rlcore_rng rng;
      FINE(rlcore_rng_seed(&rng, 3));
      lost = 0;
      for (uint32_t j = 0; j < 20; j++) s->read(left, &rng, j);
      CHECK(lost == 0);
    } else {
      CHECK(status == RLCORE_E_IMAGE);
      refused++;
    }
    munmap(object, size);
  }
  printf("%d of %d writers were killed amid a row\n", refused, (int)KILLS);
}

#define ATTACHED(noun) \
  static int32_t noun##_attach(void *mem, void **out) { return rlcore_##noun##_attach(mem, size, (rlcore_##noun **)out); } \
  static int32_t noun##_attach_reader(const void *mem, const void **out) { \
    return rlcore_##noun##_attach_reader(mem, size, (const rlcore_##noun **)out); \
  }
ATTACHED(memory)
ATTACHED(replay)
ATTACHED(lazy_frames)
ATTACHED(monitor)
ATTACHED(rollout_buffer)
ATTACHED(trajectory)

static const struct store stores[] = {
  {"memory", memory_new, memory_append, memory_read, memory_attach, memory_attach_reader},
  {"replay", replay_new, replay_append, replay_read, replay_attach, replay_attach_reader},
  {"lazy_frames", frames_new, frames_append, frames_read, lazy_frames_attach, lazy_frames_attach_reader},
  {"monitor", monitor_new, monitor_append, monitor_read, monitor_attach, monitor_attach_reader},
  {"rollout_buffer", rollout_new, rollout_append, rollout_read, rollout_buffer_attach, rollout_buffer_attach_reader},
  {"trajectory", trajectory_new, trajectory_append, trajectory_read, trajectory_attach, trajectory_attach_reader},
};

int main(void) {
  describe();
  file = tmpfile();
  if (!file) perror("tmpfile"), exit(1);
  control = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (control == MAP_FAILED) perror("mmap"), exit(1);
  for (size_t i = 0; i < sizeof stores / sizeof *stores; i++) {
    a_reader_never_believes_a_torn_row(&stores[i]);
    a_writer_may_die_at_any_moment(&stores[i]);
  }
  printf("%d failures\n", failures);
  return failures != 0;
}
