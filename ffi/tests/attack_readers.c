/* Readers beside a writer: two processes at full speed on a file that both map, one of them read-only, with rings of 64 and of
   1,000 rows. Everything that a reader is told to be held is checked against the rows written, and many copies are overwritten
   while they are made. Then the writer is killed during its work: the store is intact, or it is refused.

     attack_readers [N [store]]  until N items were read of each store and ring; else for a moment each, as in a test */
#define _DEFAULT_SOURCE
#include "rlcore.h"

#define WIDTH 512
#include "readers.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SPOILT = 20, KILLS = 6 };
static const double MOMENT = 0.2, LONG = 60;

/* Shared by both processes, apart from the store. */
static struct control {
  _Atomic uint32_t stop;
  _Atomic uint64_t number;
} *control;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static FILE *file;

static void *map(size_t size, int how) {
  void *mem = mmap(NULL, size, how, MAP_SHARED, fileno(file), 0);
  if (mem == MAP_FAILED) perror("mmap"), exit(1);
  return mem;
}

/* The mapped memory of a new file. */
static void *shared(size_t size) {
  if (file) fclose(file);
  file = tmpfile();
  if (!file || ftruncate(fileno(file), (off_t)size) != 0) perror("tmpfile"), exit(1);
  return map(size, PROT_READ | PROT_WRITE);
}

/* A process that appends until it is told to stop, or killed. */
static pid_t start_writer(const struct store *s, void *object) {
  atomic_store(&control->stop, 0);
  atomic_store(&control->number, 0);
  fflush(stdout);
  const pid_t pid = fork();
  if (pid < 0) perror("fork"), exit(1);
  if (pid > 0) return pid;
  uint64_t number = 0;
  while (!atomic_load_explicit(&control->stop, memory_order_relaxed) && failures == 0) {
    number = s->append(object, number);
    atomic_store_explicit(&control->number, number, memory_order_relaxed);
  }
  _exit(failures != 0);
}

/* Without a writer nothing is refused. */
static void read_alone(const struct store *s, const void *object, rlcore_rng *rng) {
  lost = 0;
  for (uint32_t round = 0; round < 50; round++) s->read(object, rng, round);
  CHECK(lost == 0);
}

static void read_beside(const struct store *s, uint32_t rows, uint64_t wanted) {
  const size_t size = s->size(rows);
  void *mem = shared(size), *object = NULL;
  const void *reader = NULL, *looked_at = map(size, PROT_READ);
  s->init(mem, size, rows);
  FINE(s->attach(mem, size, &object));
  FINE(s->attach_reader(looked_at, size, &reader));
  const pid_t pid = start_writer(s, object);
  rlcore_rng rng;
  FINE(rlcore_rng_seed(&rng, rows));
  const double begin = now();
  seen = busy = spoilt = 0;
  const uint64_t enough = rows == ROWS ? 0 : SPOILT; /* a large ring is seldom overwritten at the rows being read */
  for (uint32_t round = 0; failures == 0; round++) {
    const double t = now() - begin;
    if (wanted > 0 ? seen >= wanted : (t >= MOMENT && spoilt >= enough) || t >= LONG) break;
    s->read(reader, &rng, round);
  }
  CHECK(wanted > 0 || spoilt >= enough);
  atomic_store(&control->stop, 1);
  int status;
  waitpid(pid, &status, 0);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  printf("%s of %" PRIu32 " rows: %" PRIu64 " things were right beside %" PRIu64 " written, %" PRIu64 " copies were spoilt, %" PRIu64
         " calls came to no look\n", s->name, rows, seen, atomic_load(&control->number), spoilt, busy);
  /* The memory mapped for reading is a valid image, and so is every copy of the file. */
  void *const copy = malloc(size);
  CHECK(pread(fileno(file), copy, size, 0) == (ssize_t)size && memcmp(copy, looked_at, size) == 0);
  FINE(s->attach((void *)(size_t)looked_at, size, &object));
  FINE(s->attach(copy, size, &object));
  read_alone(s, object, &rng);
  free(copy);
  munmap((void *)(size_t)looked_at, size);
  munmap(mem, size);
}

static void kill_writers(const struct store *s) {
  const size_t size = s->size(64);
  int refused = 0;
  for (int i = 0; i < KILLS && failures == 0; i++) {
    void *mem = shared(size), *object = NULL;
    s->init(mem, size, 64);
    FINE(s->attach(mem, size, &object));
    const pid_t pid = start_writer(s, object);
    nanosleep(&(struct timespec){.tv_nsec = 2000000 + 371000 * i}, NULL);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    const int32_t status = s->attach(mem, size, &object);
    rlcore_rng rng;
    FINE(rlcore_rng_seed(&rng, 3));
    if (status == RLCORE_OK) read_alone(s, object, &rng);
    else refused++, CHECK(status == RLCORE_E_IMAGE);
    munmap(mem, size);
  }
  printf("%s: %d of %d writers were killed amid a row\n", s->name, refused, (int)KILLS);
}

/* The queue: items pushed by one process are popped by another, intact and in order. */
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
  control = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (control == MAP_FAILED) perror("mmap"), exit(1);
  for (size_t i = 0; i < sizeof stores / sizeof *stores; i++) {
    if (only != NULL && strcmp(only, stores[i].name) != 0) continue;
    for (int k = 0; k < 2; k++) read_beside(&stores[i], k ? ROWS : 64, wanted);
    kill_writers(&stores[i]);
  }
  if (only == NULL || strcmp(only, "queue") == 0) pop_beside(wanted);
  printf("%d failures\n", failures);
  return failures != 0;
}
