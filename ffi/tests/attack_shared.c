/* Replay memories that two processes share: one appends as fast as it can to a mapped file, the other has the same file
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
  if (status != RLCORE_E_RANGE) fail(line, "a copy is refused for another reason");
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
  for (int b = 0; b < B; b++) {
    CHECK(samples[b].len >= 1 && samples[b].len <= LONGEST);
    CHECK(samples[b].first / EPISODE == (samples[b].first + samples[b].len - 1) / EPISODE);
  }
  if (is_copied(__LINE__, rlcore_memory_gather(m, samples, B, LONGEST, 0, RLCORE_LAYOUT_HWC, RLCORE_I32, words))) {
    for (int b = 0; b < B; b++)
      for (uint32_t j = 0; j < LONGEST; j++)
        for (uint32_t i = 0; i < WORDS; i++)
          CHECK(words[b][j][i] == (j < samples[b].len ? word(samples[b].first + j, i) : 0));
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

static void replay_read(const void *r, rlcore_rng *rng, uint32_t round) {
  enum { ROWS = 8 };
  static int32_t words[ROWS][WORDS];
  static uint8_t screens[ROWS][STACK][SCREEN];
  float weight[ROWS], rewards[ROWS], discount[ROWS];
  uint8_t terminated[ROWS];
  rlcore_frame_index index[ROWS];
  const int32_t status = rlcore_replay_sample(r, rng, ROWS, 0.5f, round % 3, round % 2, index, weight, NULL);
  if (status != RLCORE_OK) {
    CHECK(status == RLCORE_E_NOT_READY || status == RLCORE_E_BUSY);
    return;
  }
  for (int b = 0; b < ROWS; b++) CHECK(index[b].env < ENVS);
  if (is_copied(__LINE__, rlcore_replay_gather(r, 0, index, ROWS, RLCORE_LAYOUT_HWC, RLCORE_I32, words)))
    for (int b = 0; b < ROWS; b++) is_row(words[b], index[b].number, index[b].env);
  if (is_copied(__LINE__, rlcore_replay_gather_next(r, 0, index, ROWS, RLCORE_LAYOUT_HWC, RLCORE_I32, words)))
    for (int b = 0; b < ROWS; b++) {
      const uint64_t left = EPISODE - 1 - index[b].number % EPISODE;
      is_row(words[b], index[b].number + (left < STEPS ? left : STEPS), index[b].env);
    }
  if (is_copied(__LINE__, rlcore_replay_gather(r, 1, index, ROWS, RLCORE_LAYOUT_CHW, RLCORE_U8, screens)))
    for (int b = 0; b < ROWS; b++)
      for (uint32_t k = 0; k < STACK; k++) {
        const uint64_t back = STACK - 1 - k, step = index[b].number % EPISODE;
        const uint64_t number = index[b].number - (back < step ? back : step);
        for (uint32_t i = 0; i < SCREEN; i++) CHECK(screens[b][k][i] == pixel(number, index[b].env + i));
      }
  if (is_copied(__LINE__, rlcore_replay_transitions(r, index, ROWS, rewards, discount, terminated, NULL)))
    for (int b = 0; b < ROWS; b++) {
      const uint64_t number = index[b].number;
      const int ends = number % EPISODE >= EPISODE - 1 - STEPS;
      const float more = number % EPISODE < EPISODE - 2 ? reward(number + 1) : 0;
      CHECK(terminated[b] == ends && discount[b] == (ends ? 0.0f : 1.0f) && rewards[b] == reward(number) + more);
    }
}

/* ---- Both ---- */

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
  const double end = now() + SECONDS;
  uint32_t round = 0;
  copied = lost = spoilt = 0;
  while ((copied < ENOUGH || spoilt < SPOILT) && failures == 0 && now() < end) s->read(r, &rng, round++);
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

static int32_t memory_attach(void *mem, void **out) { return rlcore_memory_attach(mem, size, (rlcore_memory **)out); }
static int32_t replay_attach(void *mem, void **out) { return rlcore_replay_attach(mem, size, (rlcore_replay **)out); }
static int32_t memory_attach_reader(const void *mem, const void **out) {
  return rlcore_memory_attach_reader(mem, size, (const rlcore_memory **)out);
}
static int32_t replay_attach_reader(const void *mem, const void **out) {
  return rlcore_replay_attach_reader(mem, size, (const rlcore_replay **)out);
}

static const struct store stores[2] = {
  {"memory", memory_new, memory_append, memory_read, memory_attach, memory_attach_reader},
  {"replay", replay_new, replay_append, replay_read, replay_attach, replay_attach_reader},
};

int main(void) {
  describe();
  file = tmpfile();
  if (!file) perror("tmpfile"), exit(1);
  control = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (control == MAP_FAILED) perror("mmap"), exit(1);
  for (int i = 0; i < 2; i++) {
    a_reader_never_believes_a_torn_row(&stores[i]);
    a_writer_may_die_at_any_moment(&stores[i]);
  }
  printf("%d failures\n", failures);
  return failures != 0;
}
