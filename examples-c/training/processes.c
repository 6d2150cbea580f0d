/* Forked processes share the chunks of each minibatch: learner, gradients and claims are in shared memory. 2 and 3
   processes learn the same bytes as 2 and 3 threads and as rlcore_learner_learn. Then a process is killed in the middle
   of a chunk: its half-written gradients are discarded and another process computes the chunk again, with the same
   result. `processes --time` measures how long the updates take. */
#define _DEFAULT_SOURCE
#include "tasks.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { UPDATES = WHOLE_OR_BRIEF(20, 4), NUM_CHUNKS = 8, MAX_WORKERS = 3 };
enum { FREE, DONE, CLAIMED }; /* states of a chunk; CLAIMED + k: by worker k */

/* Start of the shared memory; the gradients and the training's image follow it. */
static struct shared {
  _Alignas(64) atomic_uint claim[NUM_CHUNKS];
  _Alignas(64) atomic_bool closed;
  _Alignas(64) atomic_uint hang; /* 1: the worker that claims the next chunk stops in the middle of it ... */
  _Atomic pid_t hanging;         /* ... and stores its process id */
} *shared;

static struct {
  training t;
  pid_t parent;
  float *grads; /* [NUM_CHUNKS, grads_len], of one minibatch */
  size_t grads_len, scratch_size;
  void *scratch[MAX_WORKERS];
  double seconds; /* of the updates */
} host;

/* Ends a worker process whose parent has died. Yields the processor. */
static void end_if_orphaned(void) {
  if (getpid() != host.parent && getppid() != host.parent) _exit(1);
  sched_yield();
}

/* ---- Workers: number 0 is the parent ---- */

static void hang(float *grads) {
  memset(grads, 0xff, host.grads_len * sizeof *grads / 2);
  atomic_store(&shared->hanging, getpid());
  for (;;) end_if_orphaned();
}

/* Computes the free chunks. Returns their number. */
static uint32_t compute(uint32_t worker) {
  uint32_t count = 0;
  for (uint32_t k = 0; k < NUM_CHUNKS; k++) {
    float *const to = host.grads + k * host.grads_len;
    unsigned expected = FREE;
    if (!atomic_compare_exchange_strong(&shared->claim[k], &expected, CLAIMED + worker)) continue;
    if (worker && atomic_exchange(&shared->hang, 0)) hang(to);
    CHECK(rlcore_learner_learn_range(host.t.agent, k, k + 1, host.scratch[worker], host.scratch_size, to, host.grads_len));
    atomic_store(&shared->claim[k], DONE);
    count++;
  }
  return count;
}

static void work(uint32_t worker) {
  while (!atomic_load(&shared->closed))
    if (compute(worker) == 0) end_if_orphaned();
}

static void *thread(void *argument) {
  work(*(const uint32_t *)argument);
  return NULL;
}

static pid_t process(uint32_t worker) {
  fflush(stdout);
  const pid_t pid = fork();
  if (pid < 0) host_fail("cannot fork");
  if (pid == 0) {
    work(worker);
    _exit(0);
  }
  return pid;
}

/* ---- The parent: acts, steps the environments, applies the gradients ---- */

static void set_claims(unsigned to) {
  for (uint32_t k = 0; k < NUM_CHUNKS; k++) atomic_store(&shared->claim[k], to);
}

static bool all_done(void) {
  for (uint32_t k = 0; k < NUM_CHUNKS; k++)
    if (atomic_load(&shared->claim[k]) != DONE) return false;
  return true;
}

/* Frees the chunks of a dead process and starts another process. A process that hangs is killed first, as by a watchdog.
   Returns the number of freed chunks. */
static uint32_t rescue(pid_t *pid) {
  const pid_t hanging = atomic_exchange(&shared->hanging, 0);
  uint32_t dead = 1, freed = 0;
  int how;
  if (hanging && kill(hanging, SIGKILL)) host_fail("cannot kill a worker");
  const pid_t gone = waitpid(-1, &how, WNOHANG);
  if (gone <= 0) return 0;
  if (!WIFSIGNALED(how)) host_fail("FAILED: a worker ended by itself");
  while (pid[dead] != gone) dead++;
  for (uint32_t k = 0; k < NUM_CHUNKS; k++) {
    unsigned expected = CLAIMED + dead;
    freed += atomic_compare_exchange_strong(&shared->claim[k], &expected, FREE);
  }
  pid[dead] = process(dead);
  return freed;
}

/* Runs the update that is due, in the parent and its workers, one of which hangs if `lose`. Returns the number of chunks
   that were computed again. */
static uint32_t update(pid_t *pid, bool lose) {
  training *const t = &host.t;
  uint32_t again = 0;
  atomic_store(&shared->hang, lose);
  CHECK(rlcore_learner_learn_begin(t->agent, &t->rows, &t->stats));
  do {
    set_claims(FREE);
    while (atomic_load(&shared->hang)) sched_yield();
    do {
      if (compute(0) == 0) sched_yield();
      again += rescue(pid);
    } while (!all_done());
    CHECK(rlcore_learner_grads_write(t->agent, 0, NUM_CHUNKS, host.grads, NUM_CHUNKS * host.grads_len));
    CHECK(rlcore_learner_learn_apply(t->agent, &t->stats));
  } while (t->stats.minibatches_left);
  return again;
}

/* Trains for UPDATES updates, with one lost process if `lose`. Returns the hash of the training's image. */
static uint64_t train(pid_t *pid, uint32_t num_workers, bool lose) {
  uint32_t again = 0;
  host.seconds = 0;
  for (uint32_t updates = 0; updates < UPDATES; updates++) {
    training_collect(&host.t);
    const double begin = host_seconds();
    if (num_workers) again += update(pid, lose && updates == UPDATES / 2);
    else training_learn(&host.t, 0);
    host.seconds += host_seconds() - begin;
  }
  if (again != lose) host_fail("FAILED: %u chunks were done again", (unsigned)again);
  return training_hash(&host.t);
}

static void start(void) {
  training_start(&host.t, 1);
  set_claims(DONE);
  atomic_store(&shared->closed, false);
}

static uint64_t run_threads(uint32_t num_workers) {
  static uint32_t number[MAX_WORKERS];
  pthread_t threads[MAX_WORKERS];
  start();
  for (uint32_t k = 1; k < num_workers; k++) {
    number[k] = k;
    if (pthread_create(&threads[k], NULL, thread, &number[k])) host_fail("cannot start a thread");
  }
  const uint64_t hash = train(NULL, num_workers, false);
  atomic_store(&shared->closed, true);
  for (uint32_t k = 1; k < num_workers; k++) pthread_join(threads[k], NULL);
  return hash;
}

static uint64_t run_processes(uint32_t num_workers, bool lose) {
  pid_t pid[MAX_WORKERS];
  int how = 0;
  start();
  for (uint32_t k = 1; k < num_workers; k++) pid[k] = process(k);
  const uint64_t hash = train(pid, num_workers, lose);
  atomic_store(&shared->closed, true);
  for (uint32_t k = 1; k < num_workers; k++)
    if (waitpid(pid[k], &how, 0) != pid[k] || how != 0) host_fail("FAILED: a worker ended in another way");
  return hash;
}

/* Places the training's image and the gradients in shared memory. */
static void plan(void) {
  const task *const cartpole = task_find("cartpole");
  const host_env world = task_world(cartpole);
  rlcore_learner_config config = task_config(cartpole);
  config.num_envs = 16;
  config.num_steps = WHOLE_OR_BRIEF(128, 16);
  config.num_chunks = NUM_CHUNKS;
  training_plan(&host.t, &world, &config);
  training_start(&host.t, 1);
  CHECK(rlcore_learner_grads_len(host.t.agent, &host.grads_len));
  CHECK(rlcore_learner_scratch_size(host.t.agent, &host.scratch_size));
  for (int k = 0; k < MAX_WORKERS; k++) host.scratch[k] = host_take(host.scratch_size);

  const size_t head = host_aligned(sizeof *shared), grads = host_aligned(NUM_CHUNKS * host.grads_len * sizeof(float));
  unsigned char *const mem =
      mmap(NULL, head + grads + host.t.image_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (mem == MAP_FAILED) host_fail("cannot map %zu bytes", head + grads + host.t.image_size);
  host.parent = getpid();
  shared = (struct shared *)(void *)mem;
  host.grads = (float *)(void *)(mem + head);
  host.t.rows.obs = mem + head + grads + ((unsigned char *)host.t.rows.obs - host.t.image);
  host.t.image = mem + head + grads;
}

/* Milliseconds of the updates, minimum of five runs. */
static double least(uint32_t num_threads, uint32_t num_processes) {
  double seconds = 1e9;
  for (int i = 0; i < 5; i++) {
    if (num_threads) run_threads(num_threads);
    else run_processes(num_processes, false);
    if (host.seconds < seconds) seconds = host.seconds;
  }
  return 1e3 * seconds;
}

int main(int argc, char **argv) {
  plan();
  if (argc > 1 && strcmp(argv[1], "--time") == 0) {
    const double alone = least(1, 0);
    printf("%d updates: %.1f ms\n", (int)UPDATES, alone);
    for (uint32_t k = 2; k <= MAX_WORKERS; k++) {
      const double threads = least(k, 0), processes = least(0, k);
      printf("%u threads: %.1f ms, %.2f of that; processes: %.1f ms, %.2f\n", (unsigned)k, threads, threads / alone,
             processes, processes / alone);
    }
    return 0;
  }
  start();
  const uint64_t alone = train(NULL, 0, false);
  printf("rlcore_learner_learn: %016llx\n", (unsigned long long)alone);
  for (uint32_t k = 2; k <= MAX_WORKERS; k++) {
    const uint64_t threads = run_threads(k), processes = run_processes(k, false), lost = run_processes(k, true);
    printf("%u threads: %016llx, processes: %016llx, one killed: %016llx\n", (unsigned)k, (unsigned long long)threads,
           (unsigned long long)processes, (unsigned long long)lost);
    if (threads != alone || processes != alone) host_fail("FAILED: the workers changed the result");
    if (lost != alone) host_fail("FAILED: a death changed the result");
  }
  printf("ok: %d updates of %d chunks, ", (int)UPDATES, (int)NUM_CHUNKS);
  puts("the same bytes for threads, processes, none, and processes one of which was killed");
}
