/* A3C: worker processes, each with a learner and environments of its own, send gradients of their rollouts to a server,
   which adds them to its learner, takes a step and sends the parameters back. No worker waits for another. With one
   worker the parameters are those of A2C, bit for bit. A worker that is killed, even while it writes its gradients,
   loses only its own rollout, and another worker replaces it. Then three workers, one of which is killed, learn CartPole. */
#define _DEFAULT_SOURCE
#include "tasks.h"

#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { UPDATES = WHOLE_OR_BRIEF(2000, 20), MAX_WORKERS = 3, SOLVED = WHOLE_OR_BRIEF(475, 15), MAX_UPDATES = 50000 };

/* Exchange between a worker and the server, in shared memory. The server owns it while `full` is set, else the worker. */
typedef struct mailbox {
  _Alignas(64) atomic_bool full;
  atomic_bool hang;      /* the worker stops in the middle of its gradients ... */
  _Atomic pid_t hanging; /* ... and stores its process id */
  uint64_t version;      /* of the parameters: steps of the server up to then */
  uint64_t num_steps;    /* environment steps of all workers by then */
  float return_mean;     /* of the worker's last 100 episodes */
  float *grads;          /* [grads_len] */
  float *params;         /* [params_len] */
} mailbox;

static struct shared {
  atomic_bool closed;
  mailbox box[MAX_WORKERS];
} *shared;

static struct {
  training server; /* its environments are used only by A2C without workers */
  training worker; /* each forked process has its own copy */
  pid_t parent, pid[MAX_WORKERS];
  uint32_t num_workers, num_started;
  size_t grads_len, params_len, scratch_size;
  void *scratch;
  float *params;                         /* [params_len] */
  uint64_t version;                      /* steps of the server */
  uint64_t sum_stale, most_stale, freed; /* sum and maximum of the ages of gradients in server steps; replaced workers */
} host;

/* ---- Workers ---- */

/* Ends a worker whose parent has died. */
static void end_if_orphaned(void) {
  if (getppid() != host.parent) _exit(1);
}

/* Records a rollout and computes its gradients. The worker's own learner takes no step. */
static void roll_out(mailbox *box) {
  training *const t = &host.worker;
  training_collect(t);
  CHECK(rlcore_learner_learn_begin(t->agent, &t->rows, &t->stats));
  if (atomic_exchange(&box->hang, false)) {
    memset(box->grads, 0xff, host.grads_len * sizeof *box->grads / 2);
    atomic_store(&box->hanging, getpid());
    for (;; sched_yield()) end_if_orphaned();
  }
  CHECK(rlcore_learner_learn_range(t->agent, 0, 1, host.scratch, host.scratch_size, box->grads, host.grads_len));
  CHECK(rlcore_learner_learn_drop(t->agent));
  box->return_mean = t->stats.return_mean;
}

/* Takes over the server's parameters and step count: schedules depend on the steps of all workers. */
static void begin(const mailbox *box) {
  training *const t = &host.worker;
  CHECK(rlcore_learner_params_write(t->agent, box->params, host.params_len, NULL, 0));
  if (box->num_steps > t->stats.num_steps) CHECK(rlcore_learner_count_steps(t->agent, box->num_steps - t->stats.num_steps));
}

static _Noreturn void work(mailbox *box, uint64_t seed) {
  training_start(&host.worker, seed);
  for (;;) {
    while (atomic_load(&box->full) && !atomic_load(&shared->closed)) {
      end_if_orphaned();
      sched_yield();
    }
    if (atomic_load(&shared->closed)) _exit(0);
    end_if_orphaned();
    begin(box);
    roll_out(box);
    atomic_store(&box->full, true);
  }
}

static void start_worker(uint32_t k) {
  const uint64_t seed = ++host.num_started; /* differs from every other worker's */
  fflush(stdout);
  host.pid[k] = fork();
  if (host.pid[k] < 0) host_fail("cannot fork");
  if (host.pid[k] == 0) work(&shared->box[k], seed);
}

/* ---- The server ---- */

static void answer(mailbox *box) {
  CHECK(rlcore_learner_params_read(host.server.agent, box->params, host.params_len));
  box->version = host.version;
  box->num_steps = host.version * host.server.config.num_steps * host.server.config.num_envs;
  atomic_store(&box->full, false);
}

static void step(mailbox *box) {
  const uint64_t stale = host.version - box->version;
  host.sum_stale += stale;
  host.most_stale = stale > host.most_stale ? stale : host.most_stale;
  CHECK(rlcore_learner_grads_add(host.server.agent, 0, 1, box->grads, host.grads_len));
  CHECK(rlcore_learner_learn_apply(host.server.agent, &host.server.stats));
  CHECK(rlcore_learner_count_steps(host.server.agent, (uint64_t)host.server.config.num_steps * host.server.config.num_envs));
  host.version++;
  answer(box);
}

/* Replaces dead workers. A worker that hangs is killed first, as by a watchdog. Gradients that it has already sent count. */
static void rescue(void) {
  int how;
  for (uint32_t k = 0; k < host.num_workers; k++) {
    const pid_t hanging = atomic_exchange(&shared->box[k].hanging, 0);
    if (hanging && kill(hanging, SIGKILL)) host_fail("cannot kill a worker");
    if (waitpid(host.pid[k], &how, WNOHANG) != host.pid[k]) continue;
    if (!WIFSIGNALED(how)) host_fail("FAILED: a worker ended by itself");
    start_worker(k);
    host.freed++;
  }
}

/* Takes a step with each worker's gradients that have arrived; if there are none, replaces dead workers. */
static void serve(void) {
  uint32_t count = 0;
  for (uint32_t k = 0; k < host.num_workers; k++)
    if (atomic_load(&shared->box[k].full)) step(&shared->box[k]), count++;
  if (count) return;
  rescue();
  sched_yield();
}

static void open_server(uint32_t num_workers) {
  training_start(&host.server, 1);
  host.version = host.sum_stale = host.most_stale = host.freed = 0;
  host.num_workers = num_workers;
  host.num_started = 0;
  atomic_store(&shared->closed, false);
  for (uint32_t k = 0; k < num_workers; k++) answer(&shared->box[k]);
}

static void close_server(void) {
  int how;
  atomic_store(&shared->closed, true);
  for (uint32_t k = 0; k < host.num_workers; k++)
    if (waitpid(host.pid[k], &how, 0) != host.pid[k] || how != 0) host_fail("FAILED: a worker ended in another way");
}

static uint64_t hash_params(void) {
  CHECK(rlcore_learner_params_read(host.server.agent, host.params, host.params_len));
  return host_hash(host.params, host.params_len * sizeof *host.params);
}

/* ---- One worker ---- */

/* A2C without workers. */
static uint64_t a2c(void) {
  training *const t = &host.server;
  training_start(t, 1);
  for (uint32_t update = 0; update < UPDATES; update++) {
    training_collect(t);
    training_learn(t, 0);
  }
  return hash_params();
}

/* One worker in this process. If `leave`, another worker replaces it after half of the updates. */
static uint64_t one_in_turn(bool leave) {
  mailbox *const box = &shared->box[0];
  open_server(1);
  training_start(&host.worker, 1);
  while (host.version < UPDATES) {
    if (leave && host.version == UPDATES / 2) training_start(&host.worker, 2);
    begin(box);
    roll_out(box);
    step(box);
  }
  return hash_params();
}

/* One worker process. If `lose`, it is killed after half of the updates, while it writes its gradients. */
static uint64_t one_process(bool lose) {
  open_server(1);
  start_worker(0);
  /* The worker waits for the answer that `step` sends last, so it hangs in exactly the gradients that follow. */
  while (host.version < UPDATES) {
    if (!atomic_load(&shared->box[0].full)) rescue(), sched_yield();
    else {
      if (lose && host.version + 1 == UPDATES / 2) atomic_store(&shared->box[0].hang, true);
      step(&shared->box[0]);
    }
  }
  close_server();
  if (host.freed != lose) host_fail("FAILED: %u workers were replaced", (unsigned)host.freed);
  return hash_params();
}

/* ---- Several workers ---- */

/* Trains until CartPole is solved; one of the workers is killed on the way. */
static void solve(void) {
  const double steps = host.server.config.num_steps * host.server.config.num_envs;
  double mean[MAX_WORKERS] = {0}, all = 0;
  bool lost = false;
  size_t size;
  open_server(MAX_WORKERS);
  const double begin = host_seconds();
  for (uint32_t k = 0; k < MAX_WORKERS; k++) start_worker(k);
  while (!(all >= SOLVED) || host.freed == 0) {
    if (host.version >= MAX_UPDATES) host_fail("FAILED: a return of %.0f after %d updates", all, (int)MAX_UPDATES);
    if (!lost && host.version >= 100) atomic_store(&shared->box[1].hang, lost = true);
    for (uint32_t k = 0; k < MAX_WORKERS; k++)
      if (atomic_load(&shared->box[k].full)) mean[k] = (double)shared->box[k].return_mean;
    serve();
    all = (mean[0] + mean[1] + mean[2]) / MAX_WORKERS;
  }
  const double seconds = host_seconds() - begin;
  close_server();
  printf("%u workers: a mean return of %.0f after %.0f steps, %.2f s; gradients were %.1f steps old in the mean, %u at most\n",
         (unsigned)MAX_WORKERS, all, (double)host.version * steps, seconds, (double)host.sum_stale / (double)host.version,
         (unsigned)host.most_stale);
  const evaluation greedy = evaluate(training_export(&host.server, &size), &host.server.world, 100, &GREEDY);
  printf("100 greedy episodes: mean %.1f, sd %.1f\n", greedy.mean, greedy.std);
  if (host.freed != 1) host_fail("FAILED: %u workers were replaced", (unsigned)host.freed);
}

static void plan(void) {
  const task *const cartpole = task_find("a2c");
  const host_env world = task_world(cartpole);
  rlcore_learner_config config = task_config(cartpole);
  config.learning_rate_end = config.learning_rate / 2; /* decays with the steps of all workers */
  training_plan(&host.server, &world, &config);
  training_plan(&host.worker, &world, &config);
  training_start(&host.server, 1);
  CHECK(rlcore_learner_grads_len(host.server.agent, &host.grads_len));
  CHECK(rlcore_learner_params_len(host.server.agent, &host.params_len));
  CHECK(rlcore_learner_scratch_size(host.server.agent, &host.scratch_size));
  host.scratch = host_take(host.scratch_size);
  host.params = host_take(host.params_len * sizeof *host.params);

  const size_t head = host_aligned(sizeof *shared), grads = host_aligned(host.grads_len * sizeof(float)),
               each = grads + host_aligned(host.params_len * sizeof(float)), size = head + MAX_WORKERS * each;
  unsigned char *const mem = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (mem == MAP_FAILED) host_fail("cannot map %zu bytes", size);
  host.parent = getpid();
  shared = (struct shared *)(void *)mem;
  for (uint32_t k = 0; k < MAX_WORKERS; k++) {
    shared->box[k].grads = (float *)(void *)(mem + head + k * each);
    shared->box[k].params = (float *)(void *)(mem + head + k * each + grads);
  }
}

int main(void) {
  plan();
  const uint64_t alone = a2c(), turns = one_in_turn(false), process = one_process(false);
  const uint64_t left = one_in_turn(true), lost = one_process(true);
  printf("A2C: %016llx, one worker: %016llx, a process: %016llx\n", (unsigned long long)alone, (unsigned long long)turns,
         (unsigned long long)process);
  printf("one worker that leaves: %016llx, a process that is killed: %016llx\n", (unsigned long long)left,
         (unsigned long long)lost);
  if (turns != alone || process != alone) host_fail("FAILED: one worker learns something else than A2C");
  if (lost != left || lost == alone) host_fail("FAILED: a worker that was killed changed more than its rollout");
  solve();
  printf("ok: %d updates of one worker to the bytes of A2C, ", (int)UPDATES);
  puts("one that was killed lost its rollout, three of which one was killed solved CartPole");
}
