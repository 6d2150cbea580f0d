/* Readers beside a writer, two processes at full speed on memory that they share, rings of 64 rows and of 1,000: whatever a
   reader is given and told to be held is checked against what was written.

     attack_readers [N [store]]  until N things were read of each store and ring; else for a moment each, as a test does */
#define _DEFAULT_SOURCE
#include "rlcore.h"

#include "readers.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const double MOMENT = 0.3;

/* What both processes see beside the store. */
static struct control {
  _Atomic uint32_t stop;
  _Atomic uint64_t number;
} *control;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *shared(size_t size) {
  void *mem = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (mem == MAP_FAILED) perror("mmap"), exit(1);
  return mem;
}

static void read_beside(const struct store *s, uint32_t rows, uint64_t wanted) {
  const size_t size = s->size(rows);
  void *mem = shared(size), *object = NULL;
  const void *reader = NULL;
  s->init(mem, size, rows);
  FINE(s->attach(mem, size, &object));
  FINE(s->attach_reader(mem, size, &reader));
  atomic_store(&control->stop, 0);
  atomic_store(&control->number, 0);
  fflush(stdout);
  const pid_t pid = fork();
  if (pid < 0) perror("fork"), exit(1);
  if (pid == 0) {
    uint64_t number = 0;
    while (!atomic_load_explicit(&control->stop, memory_order_relaxed) && failures == 0) {
      number = s->append(object, number);
      atomic_store_explicit(&control->number, number, memory_order_relaxed);
    }
    _exit(failures != 0);
  }
  rlcore_rng rng;
  FINE(rlcore_rng_seed(&rng, rows));
  const double begin = now();
  seen = busy = 0;
  for (uint32_t round = 0; failures == 0 && (wanted > 0 ? seen < wanted : now() - begin < MOMENT); round++) s->read(reader, &rng, round);
  atomic_store(&control->stop, 1);
  int status;
  waitpid(pid, &status, 0);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  FINE(s->attach(mem, size, &object));
  printf("%s of %" PRIu32 " rows: %" PRIu64 " things were right beside %" PRIu64 " written, %" PRIu64 " calls came to no look\n", s->name,
         rows, seen, atomic_load(&control->number), busy);
  munmap(mem, size);
}

/* The queue: what one process puts in another takes out, whole and in order. */
static void pop_beside(uint64_t wanted) {
  enum { ITEM = 24 };
  rlcore_queue_config config;
  rlcore_queue *q = NULL;
  size_t size = 0, len;
  FINE(rlcore_queue_config_init(&config, sizeof config));
  config.capacity = 64;
  config.item_size = ITEM;
  FINE(rlcore_queue_size(&config, &size));
  void *mem = shared(size);
  FINE(rlcore_queue_init(mem, size, &config, &q));
  atomic_store(&control->stop, 0);
  fflush(stdout);
  const pid_t pid = fork();
  if (pid < 0) perror("fork"), exit(1);
  if (pid == 0) {
    for (uint64_t n = 0; !atomic_load_explicit(&control->stop, memory_order_relaxed);) {
      const uint64_t item[3] = {n, ~n, n * 31};
      n += rlcore_queue_push(q, item, 8 + n % 3 * 8) == RLCORE_OK;
    }
    _exit(0);
  }
  const double begin = now();
  seen = 0;
  while (failures == 0 && (wanted > 0 ? seen < wanted : now() - begin < MOMENT)) {
    uint64_t item[3];
    const int32_t status = rlcore_queue_pop(q, item, sizeof item, &len);
    if (status == RLCORE_OK) {
      const uint64_t n = seen++;
      CHECK(item[0] == n && len == 8 + n % 3 * 8 && (len < 16 || item[1] == ~n) && (len < 24 || item[2] == n * 31));
    } else {
      CHECK(status == RLCORE_E_NOT_READY);
    }
  }
  atomic_store(&control->stop, 1);
  waitpid(pid, NULL, 0);
  printf("queue: %" PRIu64 " things were right\n", seen);
}

int main(int argc, char **argv) {
  const uint64_t wanted = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
  const char *only = argc > 2 ? argv[2] : NULL;
  control = shared(sizeof *control);
  for (size_t i = 0; i < sizeof stores / sizeof *stores; i++)
    for (int k = 0; k < 2; k++)
      if (only == NULL || strcmp(only, stores[i].name) == 0) read_beside(&stores[i], k ? ROWS : 64, wanted);
  if (only == NULL || strcmp(only, "queue") == 0) pop_beside(wanted);
  printf("%d failures\n", failures);
  return failures != 0;
}
