/* A writer that dies at any instruction, and readers beside it at any instruction. Linux on x86-64, with ptrace.

   stopped   every call that changes a store runs one instruction at a time. After each instruction that changed a byte of the
             store, attach refuses the store, or the store is as after one of the calls; a reader beside it reads nothing wrong.
   between   a reader runs one instruction at a time, and at random instructions the writer appends something.

     stopped [store [N]]  N: instructions of each reader, and all calls at full length; else few, as in a test */
#define _GNU_SOURCE
#include "../rows.h"

static void between(void);
#define BETWEEN between()
#include "../../../ffi/tests/readers.h"

#include "stepping.h"

enum { RING = 8, APPENDS = 26, STATES = 64, SHORT = 60000 };

static uint64_t wanted;

/* ---- A twin makes the same calls first, so that the states between calls are known ---- */

static struct twin {
  uint8_t *mem, *states[STATES];
  size_t size;
  int count;
} twin;

static void between(void) {
  if (twin.mem == NULL || (twin.count > 0 && memcmp(twin.states[twin.count - 1], twin.mem, twin.size) == 0)) return;
  if (twin.count == STATES) fail(__LINE__, "more states than there is room for"), exit(1);
  twin.states[twin.count] = malloc(twin.size);
  memcpy(twin.states[twin.count++], twin.mem, twin.size);
}

static void forget_twin(void) {
  while (twin.count > 0) free(twin.states[--twin.count]);
  free(twin.mem);
  twin = (struct twin){0};
}

static void take_twin(const void *mem, size_t size) {
  twin = (struct twin){.mem = aligned_alloc(64, size), .size = size};
  memcpy(twin.mem, mem, size);
  between();
}

/* The readable contents of a store that can be emptied: bytes behind the held rows are not compared. */
struct sight {
  rlcore_rollout_progress progress;
  rlcore_metric_row log[RING];
  int32_t numbers[RING][ENVS][2];
  float reward[RING][ENVS], value[RING][ENVS], log_prob[RING][ENVS];
  uint8_t terminated[RING][ENVS], truncated[RING][ENVS];
  uint64_t next[2], lost[2];
  uint32_t count[2];
};

static void see(const struct store *s, const void *mem, struct sight *x) {
  void *outs[1] = {x->numbers};
  rlcore_rows_out out = {.struct_size = sizeof out, .num_rows = RING, .columns = outs, .reward = &x->reward[0][0],
                         .value = &x->value[0][0], .terminated = &x->terminated[0][0], .truncated = &x->truncated[0][0]};
  memset(x, 0, sizeof *x);
  x->progress.struct_size = sizeof x->progress;
  if (s->size == trajectory_size) {
    FINE(rlcore_trajectory_read(mem, &x->next[0], &out, &x->count[0], &x->lost[0]));
  } else {
    out.log_prob = &x->log_prob[0][0];
    FINE(rlcore_rollout_buffer_progress(mem, &x->progress));
    FINE(rlcore_rollout_buffer_read(mem, &x->next[0], &out, &x->count[0], &x->lost[0]));
    FINE(rlcore_rollout_buffer_read_log(mem, &x->next[1], x->log, RING, &x->count[1], &x->lost[1]));
  }
}

static int is_known(const struct store *s, const uint8_t *mem) {
  const int is_emptied = s->size == trajectory_size || s->size == rollout_size;
  for (int i = 0; i < twin.count; i++) {
    if (memcmp(mem, twin.states[i], twin.size) == 0) return 1;
    static struct sight a, b;
    if (is_emptied) {
      see(s, mem, &a), see(s, twin.states[i], &b);
      if (memcmp(&a, &b, sizeof a) == 0) return 1;
    }
  }
  return 0;
}

/* ---- The calls ---- */

/* Calls that `append` does not make. */
static void memory_more(void *m, uint64_t newest) {
  (void)newest;
  const int32_t number[2] = {0};
  const uint8_t screen[4] = {0};
  const void *values[2] = {number, screen};
  const rlcore_frame frame = {.episode = 1u << 30, .step = 0, .reward = 1};  /* cuts the last episode */
  FINE(rlcore_memory_add(m, &frame, values, NULL, NULL));
}

static void replay_more(void *r, uint64_t newest) {
  /* More transitions than the tree updates at once, the last one with a new largest priority. */
  enum { MANY = 300 };
  static rlcore_frame_index index[MANY];
  static float priority[MANY];
  const uint32_t count = wanted ? MANY : 6;
  for (uint32_t i = 0; i < count; i++) {
    uint64_t n = newest - STEPS - 2 - i % 3;
    n -= n % EPISODE == EPISODE - 1;
    index[i] = (rlcore_frame_index){n, i % ENVS, 0};
    priority[i] = (float)(i + 1);
  }
  FINE(rlcore_replay_set_alpha(r, 0.5f));
  FINE(rlcore_replay_update(r, index, priority, count, NULL));
}

static void frames_more(void *l, uint64_t newest) {
  (void)newest;
  const uint64_t screen[ENVS] = {1, 2}, last[ENVS] = {3, 4};
  const uint8_t first[ENVS] = {1, 0};
  FINE(rlcore_lazy_frames_push_range(l, 0, ENVS, (const uint8_t *)screen, first, (const uint8_t *)last, NULL));
}

static double clock_of(void *user) { return *(double *)user; }

static void monitor_more(void *m, uint64_t newest) {
  (void)newest;
  const float rewards[MONITORED] = {1, 2, 3, 4};
  const uint8_t terminated[MONITORED] = {0}, truncated[MONITORED] = {0, 1, 0, 0};
  const double info[MONITORED] = {0};
  double time = 7;
  const rlcore_rows step = {.struct_size = sizeof step, .reward = (float *)rewards, .terminated = (uint8_t *)terminated,
                                  .truncated = (uint8_t *)truncated};
  FINE(rlcore_monitor_step_clock(m, &step, clock_of, &time, info));
  FINE(rlcore_monitor_step(m, &step, 9, info));
  FINE(rlcore_monitor_reset_one(m, 2));
  FINE(rlcore_monitor_reset(m));
}

static void rollout_more(void *b, uint64_t newest) {
  (void)newest;
  const float bootstrap[ENVS] = {1, 2};
  const int32_t next[ENVS][2] = {{1, 2}, {3, 4}};
  uint32_t step, index[RING * ENVS];
  rlcore_window windows[4];
  FINE(rlcore_rollout_buffer_sample(b, &step));
  FINE(rlcore_rollout_buffer_log(b, RLCORE_METRIC_OWN + 1, 1));
  rlcore_rollout_progress p = {.struct_size = sizeof p};
  FINE(rlcore_rollout_buffer_progress(b, &p));
  FINE(rlcore_rollout_buffer_finish(b, bootstrap, next, 0.9f, 0.9f));
  FINE(rlcore_rollout_buffer_draw(b, p.num_steps * ENVS, 1, index, p.num_steps * ENVS));
  FINE(rlcore_rollout_buffer_draw_windows(b, 2, 0.5, windows, 4));
  FINE(rlcore_rollout_buffer_reset(b));
}

static void trajectory_more(void *t, uint64_t newest) {
  (void)newest;
  FINE(rlcore_trajectory_reset(t));
}

static void (*const mores[])(void *, uint64_t) = {memory_more, memory_more, replay_more, frames_more, monitor_more, rollout_more, trajectory_more};

/* ---- A writer that is stopped ---- */

static uint64_t steps, changes, refused;

/* Checks the store after an instruction of the writer. */
static void judge(const struct store *s, const void *mem, uint8_t *last, const void *reader, const char *call) {
  static uint32_t round;
  static rlcore_rng rng = {{1, 2}, {3, 4}, 0, 0};
  void *object;
  const size_t size = twin.size;
  steps++;
  if (memcmp(mem, last, size) == 0) return;
  changes++;
  memcpy(last, mem, size);
  const int32_t status = s->attach(last, size, &object);
  if (status == RLCORE_OK) {
    if (!is_known(s, last)) {
      const uint8_t *before = twin.states[0];
      size_t at = 0, end = size;
      while (at < size && last[at] == before[at]) at++;
      while (end > at && last[end - 1] == before[end - 1]) end--;
      printf("%s: %s leaves what no call leaves, bytes %zu to %zu\n", s->name, call, at, end);
      fail(__LINE__, "attach accepts it");
    }
  } else {
    CHECK(status == RLCORE_E_IMAGE);
    refused++;
  }
  if (reader) s->read(reader, &rng, round++);
}

static void stopped(const struct store *s, void (*more)(void *, uint64_t)) {
  const size_t size = s->size(RING);
  void *mem = shared(size), *object = mem;
  const void *reader;
  uint8_t *last = aligned_alloc(64, size);
  uint64_t number = 0;
  s->init(mem, size, RING);
  FINE(s->attach_reader(mem, size, &reader));
  steps = changes = refused = seen = busy = 0;
  for (int i = 0; i <= APPENDS + 1 && failures == 0; i++) {
    const char *call = i < APPENDS ? "a call of append" : i == APPENDS ? "another call" : "init";
    int status;
    /* A few of the first calls, and of those on a full ring, where every case has occurred. */
    if (wanted == 0 && i % 8 != 0 && i < APPENDS - 2) {
      number = s->append(object, number);
      continue;
    }
    take_twin(mem, size);
    uint64_t next = number;
    if (i < APPENDS) next = s->append(twin.mem, number);
    else if (i == APPENDS) more(twin.mem, number);
    else s->init(twin.mem, size, RING);
    between();
    memcpy(last, mem, size);
    const pid_t pid = child();
    if (pid == 0) {
      twin.mem = NULL;  /* the child records no states */
      if (i < APPENDS) s->append(object, number);
      else if (i == APPENDS) more(object, number);
      else s->init(object, size, RING);
      atomic_store(inside, 0);
      _exit(failures != 0);
    }
    uint8_t *notes = twin.mem;
    twin.mem = NULL;
    while (step(pid, &status))
      if (atomic_load(inside)) judge(s, mem, last, i < APPENDS ? reader : NULL, call);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK(memcmp(mem, notes, size) == 0);
    twin.mem = notes;
    forget_twin();
    number = next;
  }
  printf("%s: %" PRIu64 " instructions, of %" PRIu64 " changes %" PRIu64 " refused; readers found %" PRIu64 " things right\n", s->name, steps,
         changes, refused, seen);
  munmap(mem, size);
  free(last);
}

/* ---- A reader, with writes between its instructions ---- */

static void written_between(const struct store *s) {
  const size_t size = s->size(RING);
  void *mem = shared(size);
  const void *reader;
  uint64_t number = 0, count = 0;
  const uint64_t enough = wanted ? wanted : SHORT;
  int status;
  s->init(mem, size, RING);
  FINE(s->attach_reader(mem, size, &reader));
  while (number < 4 * RING) number = s->append(mem, number);
  const pid_t pid = child();
  if (pid == 0) {
    rlcore_rng rng;
    FINE(rlcore_rng_seed(&rng, 5));
    for (uint32_t round = 0; failures == 0; round++) s->read(reader, &rng, round);
    fflush(stdout);
    _exit(1);
  }
  /* One instruction in some hundreds, in rounds of different lengths. */
  uint64_t random = 1, left = 100;
  for (; count < enough; count++) {
    if (!step(pid, &status)) {
      printf("%s: after %" PRIu64 " instructions\n", s->name, count);
      fail(__LINE__, "the reader found something wrong");
      return;
    }
    if (!atomic_load(inside) || --left > 0) continue;
    random = random * 6364136223846793005u + 1442695040888963407u;
    left = 1 + (random >> 33) % (20u << (random >> 60));
    if (left > 2000) left = 2000;
    number = s->append(mem, number);
  }
  kill(pid, SIGKILL);
  waitpid(pid, &status, 0);
  printf("%s: %" PRIu64 " things written between %" PRIu64 " instructions of a reader\n", s->name, number, count);
  munmap(mem, size);
}

/* ---- The queue: attach checks its header only; an item is pushed or popped completely, or not at all ---- */

static void queue_stopped(void) {
  rlcore_queue_config config;
  rlcore_queue *q = NULL, *left;
  size_t size = 0, len;
  FINE(rlcore_queue_config_init(&config, sizeof config));
  config.capacity = 4;
  config.item_size = 16;
  FINE(rlcore_queue_size(&config, &size));
  void *mem = shared(size), *copy = aligned_alloc(64, size);
  uint8_t *last = aligned_alloc(64, size);
  FINE(rlcore_queue_init(mem, size, &config, &q));
  uint64_t put = 0, taken = 0;
  steps = changes = 0;
  for (int i = 0; i < 12 && failures == 0; i++) {
    const int pops = i % 3 == 2;
    int status;
    memcpy(last, mem, size);
    const pid_t pid = child();
    if (pid == 0) {
      uint64_t item[2] = {put, ~put};
      if (pops) FINE(rlcore_queue_pop(q, item, sizeof item, &len));
      else FINE(rlcore_queue_push(q, item, sizeof item));
      atomic_store(inside, 0);
      _exit(failures != 0);
    }
    while (step(pid, &status)) {
      steps++;
      if (memcmp(mem, last, size) == 0) continue;
      changes++;
      memcpy(last, mem, size);
      memcpy(copy, mem, size);
      FINE(rlcore_queue_attach(copy, size, &left));
      uint64_t item[2], expected = UINT64_MAX;
      while (rlcore_queue_pop(left, item, sizeof item, &len) == RLCORE_OK) {
        if (expected == UINT64_MAX) CHECK(item[0] == taken || (pops && item[0] == taken + 1));
        else CHECK(item[0] == expected);
        CHECK(len == 16 && item[1] == ~item[0] && item[0] <= put);
        expected = item[0] + 1;
      }
    }
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    put += !pops, taken += pops;
    if (put - taken == config.capacity) {
      uint64_t item[2];
      FINE(rlcore_queue_pop(q, item, sizeof item, &len));
      CHECK(item[0] == taken++);
    }
  }
  printf("queue: %" PRIu64 " instructions, %" PRIu64 " changes\n", steps, changes);
}

int main(int argc, char **argv) {
  const char *only = argc > 1 ? argv[1] : NULL;
  wanted = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
  inside = shared(sizeof *inside);
  for (size_t i = 0; i < sizeof stores / sizeof *stores; i++) {
    if (only && strcmp(only, stores[i].name) != 0) continue;
    if (failures == 0) stopped(&stores[i], mores[i]);
    if (failures == 0) written_between(&stores[i]);
  }
  if (failures == 0 && (only == NULL || strcmp(only, "queue") == 0)) queue_stopped();
  printf("%d failures\n", failures);
  return failures != 0;
}
