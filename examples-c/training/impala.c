/* IMPALA with central inference: actor processes step environments in shared memory and submit observations; the
   learner collects them, responds with actions, keeps the transitions of each environment, and learns from them with
   V-trace. An update runs in slices between responses, so that actors act with older parameters, whose age is counted.
   An actor is killed in the middle of a step: only the rows that it was stepping are lost. */
#define _DEFAULT_SOURCE
#include "tasks.h"

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NUM_ACTORS = 4, IN_SERIES = 4, N = NUM_ACTORS * IN_SERIES, OBS_LEN = 50, NUM_CHOICES = 3 };
enum { MAX_UPDATES = 1000, LOSE = WHOLE_OR_BRIEF(10, 1) };
enum { ROUNDS = WHOLE_OR_BRIEF(20000, 200) }; /* of the measurement */
static const float SOLVED = WHOLE_OR_BRIEF(0.98F, -1);

/* Start of the shared memory; the blocks of the environments and of the batch follow it. */
static struct shared {
  _Alignas(64) atomic_bool hang; /* the next step never returns, like a simulator that hangs ... */
  _Atomic pid_t hanging;         /* ... and stores its process id here */
  _Alignas(64) unsigned char blocks[];
} *shared;

/* Arrays of all environments. */
static struct {
  uint8_t obs[N][OBS_LEN], final_obs[N][OBS_LEN];
  float reward[N];
  uint8_t terminated[N], truncated[N];
  int32_t action[N];
} all, some; /* `some`: the collected rows; row k is environment rows[k] */

static struct {
  pid_t parent, pid[NUM_ACTORS];
  host_env catch;
  rlcore_vecenv_config config;
  rlcore_vecenv *envs;
  rlcore_batch *batch;
  size_t envs_size, batch_size;
  uint32_t replaced;
} host;

static struct {
  rlcore_learner *agent;
  rlcore_learner_stats stats;
  bool updating;
  uint64_t version[N];                           /* updates completed when an environment's action was chosen */
  uint64_t num_complete, sum_versions, earliest; /* of the transitions that the next update learns from */
  uint64_t num_learnt, sum_ages, oldest;         /* of transitions already learned from: updates since their actions */
  uint64_t num_rows, num_responses, lost;
} learner;

/* ---- Actors ---- */

/* Ends an actor whose parent has died. Yields the processor. */
static void end_if_orphaned(void) {
  if (getpid() != host.parent && getppid() != host.parent) _exit(1);
  sched_yield();
}

/* Action mask callback: the batch calls it in each step, so a step can hang here. */
static int32_t allow_or_hang(void *user, uint32_t row, const void *state, uint8_t *mask) {
  (void)user, (void)row, (void)state;
  if (atomic_load(&shared->hang) && atomic_exchange(&shared->hang, false)) {
    atomic_store(&shared->hanging, getpid());
    for (;;) end_if_orphaned();
  }
  memset(mask, 1, NUM_CHOICES);
  return 0;
}

/* Steps and submits the rows of one response after another, until the batch is closed. */
static void act_out(uint32_t actor) {
  uint32_t count = 0;
  while (rlcore_batch_run(host.batch, host.envs, host.catch.env, actor, 1, &count) == RLCORE_OK)
    if (count == 0) end_if_orphaned();
}

static void start_actor(uint32_t actor) {
  fflush(stdout);
  host.pid[actor] = fork();
  if (host.pid[actor] < 0) host_fail("cannot fork");
  if (host.pid[actor] != 0) return;
  act_out(actor);
  _exit(0);
}

/* Replaces dead actors. An actor that hangs is killed first, as by a watchdog. */
static void rescue(void) {
  const pid_t hanging = atomic_exchange(&shared->hanging, 0);
  uint32_t num_rows;
  int how;
  if (hanging && kill(hanging, SIGKILL)) host_fail("cannot kill an actor");
  for (uint32_t k = 0; k < NUM_ACTORS; k++) {
    if (waitpid(host.pid[k], &how, hanging == host.pid[k] ? 0 : WNOHANG) != host.pid[k]) continue;
    if (!WIFSIGNALED(how)) host_fail("FAILED: an actor ended by itself");
    CHECK(rlcore_batch_abandon(host.batch, host.envs, host.catch.env, k, &num_rows));
    start_actor(k);
    host.replaced++;
  }
}

/* ---- The learner ---- */

/* All rows, and the collected rows. Catch is never truncated, so learning needs no final observations. */
static const rlcore_rows ALL = {.struct_size = sizeof ALL, .obs = all.obs, .action = all.action, .reward = all.reward,
                                .terminated = all.terminated, .truncated = all.truncated};
static const rlcore_rows SOME = {.struct_size = sizeof SOME, .obs = some.obs, .action = some.action, .reward = some.reward,
                                 .terminated = some.terminated, .truncated = some.truncated, .final_obs = some.final_obs};

/* All rows, of which a call uses only the active ones. */
static rlcore_rows only(const uint8_t *active) {
  rlcore_rows rows = ALL;
  rows.active = active;
  return rows;
}

/* Collects the rows that actors have submitted. Returns their number; failed: [N] flags of lost environments. */
static uint32_t collect(uint32_t *rows, uint8_t *failed) {
  rlcore_batch_counts counts = {.struct_size = sizeof counts};
  memset(failed, 0, N);
  CHECK(rlcore_batch_count(host.batch, &counts));
  const uint32_t num_rows = counts.num_done * IN_SERIES;
  if (num_rows == 0) return 0;
  const rlcore_status status = rlcore_batch_recv(host.batch, num_rows, rows, &SOME);
  if (status == RLCORE_E_CALLBACK) CHECK(rlcore_batch_failed(host.batch, failed));
  else CHECK(status);
  return num_rows;
}

/* Records the results of the last actions. The episodes of lost rows are cut, and new ones begin there. */
static void record(const uint32_t *rows, uint32_t num_rows, const uint8_t *failed) {
  uint8_t known[N] = {0};
  for (uint32_t k = 0; k < num_rows; k++) {
    const uint32_t i = rows[k];
    if (failed[i]) {
      CHECK(rlcore_batch_reset_one(host.batch, host.envs, host.catch.env, i, NULL, all.obs));
      learner.lost++;
      continue;
    }
    known[i] = 1;
    memcpy(all.obs[i], some.obs[k], OBS_LEN);
    all.reward[i] = some.reward[k];
    all.terminated[i] = some.terminated[k];
    all.truncated[i] = some.truncated[k];
    learner.earliest = learner.num_complete && learner.earliest < learner.version[i] ? learner.earliest : learner.version[i];
    learner.sum_versions += learner.version[i];
    learner.num_complete++;
  }
  const rlcore_rows stepped = only(known);
  CHECK(rlcore_learner_cut(learner.agent, failed));
  CHECK(rlcore_learner_observe(learner.agent, &stepped));
}

/* Chooses actions with the parameters of the last complete update, and hands the rows back to the actors. */
static void respond(const uint32_t *rows, uint32_t num_rows) {
  uint8_t active[N] = {0};
  for (uint32_t k = 0; k < num_rows; k++) active[rows[k]] = 1;
  const rlcore_rows acting = only(active);
  CHECK(rlcore_learner_act(learner.agent, &acting));
  for (uint32_t k = 0; k < num_rows; k++) {
    some.action[k] = all.action[rows[k]];
    learner.version[rows[k]] = learner.stats.num_updates;
  }
  CHECK(rlcore_batch_send(host.batch, host.envs, host.catch.env, num_rows, rows, &SOME));
  learner.num_rows += num_rows;
  learner.num_responses++;
}

/* Counts the ages of the transitions of an update that begins. */
static void count_ages(void) {
  const uint64_t now = learner.stats.num_updates;
  learner.num_learnt += learner.num_complete;
  learner.sum_ages += learner.num_complete * now - learner.sum_versions;
  learner.oldest = now - learner.earliest > learner.oldest ? now - learner.earliest : learner.oldest;
  learner.num_complete = learner.sum_versions = 0;
}

static void learn_slice(void) {
  const uint64_t before = learner.stats.num_updates;
  if (!learner.updating) count_ages();
  CHECK(rlcore_learner_learn(learner.agent, &ALL, 1, &learner.stats));
  learner.updating = learner.stats.num_updates == before;
}

/* If an update is due, finishes the previous one and begins it. */
static void learn_if_due(void) {
  uint32_t due;
  for (;; learn_slice()) {
    CHECK(rlcore_learner_phase(learner.agent, &due));
    if (due != RLCORE_LEARNER_LEARN) return;
  }
}

static void start_envs(void) {
  rlcore_batch_config config;
  CHECK(rlcore_batch_config_init(&config, sizeof config));
  config.in_series = IN_SERIES;
  unsigned char *const mem = shared->blocks, *const after = mem + host_aligned(host.envs_size);
  CHECK(rlcore_vecenv_init(mem, host.envs_size, host.catch.env, &host.config, &host.envs));
  CHECK(rlcore_batch_init(after, host.batch_size, host.catch.env, &host.config, &config, &host.batch));
  CHECK(rlcore_vecenv_reset(host.envs, host.catch.env, NULL, all.obs));
}

static void stop_actors(void) {
  int how;
  CHECK(rlcore_batch_close(host.batch));
  for (uint32_t k = 0; k < NUM_ACTORS; k++)
    if (waitpid(host.pid[k], &how, 0) != host.pid[k] || how != 0) host_fail("FAILED: an actor ended in another way");
}

/* Learns until Catch is solved. One actor is killed on the way. */
static void solve(void) {
  uint32_t rows[N], num_rows = N;
  uint8_t failed[N];
  bool lost = false;
  start_envs();
  for (uint32_t i = 0; i < N; i++) rows[i] = i;
  respond(rows, N);
  const double begin = host_seconds();
  for (uint32_t k = 0; k < NUM_ACTORS; k++) start_actor(k);
  while (learner.lost == 0 || !(learner.stats.return_mean >= SOLVED)) {
    if (learner.stats.num_updates >= MAX_UPDATES)
      host_fail("FAILED: a return of %.2f after %d updates", (double)learner.stats.return_mean, (int)MAX_UPDATES);
    if (!lost && learner.stats.num_updates == LOSE) atomic_store(&shared->hang, lost = true);
    num_rows = collect(rows, failed);
    if (num_rows == 0) rescue();
    else {
      record(rows, num_rows, failed);
      learn_if_due();
      respond(rows, num_rows);
    }
    if (learner.updating) learn_slice();
    else if (num_rows == 0) sched_yield();
  }
  const double seconds = host_seconds() - begin;
  stop_actors();
  printf("%u actors, %u environments: a mean return of %.2f after %llu steps and %llu updates, %.2f s\n",
         (unsigned)NUM_ACTORS, (unsigned)N, (double)learner.stats.return_mean,
         (unsigned long long)learner.stats.num_steps, (unsigned long long)learner.stats.num_updates, seconds);
  printf("policies of transitions were %.2f updates old in the mean, %u at most; responses of %.1f rows in the mean\n",
         (double)learner.sum_ages / (double)learner.num_learnt, (unsigned)learner.oldest,
         (double)learner.num_rows / (double)learner.num_responses);
  if (host.replaced != 1 || learner.lost != IN_SERIES)
    host_fail("FAILED: %u actors were replaced, %u rows lost", (unsigned)host.replaced, (unsigned)learner.lost);
}

static double play_greedily(void) {
  rlcore_policy *policy;
  size_t size;
  CHECK(rlcore_policy_size(learner.agent, &size));
  CHECK(rlcore_policy_export(learner.agent, host_take(size), size, &policy));
  const evaluation greedy = evaluate(policy, &host.catch, 100, &GREEDY);
  printf("100 greedy episodes: mean %.2f, sd %.2f\n", greedy.mean, greedy.std);
  return greedy.mean;
}

/* ---- The cost of submitting, collecting and responding ---- */

/* Microseconds per row, without learning. If `processes`, actors step the rows, else this process does. */
static double time_of_rows(bool processes) {
  uint32_t rows[N], count = 0;
  uint8_t failed[N];
  start_envs();
  for (uint32_t i = 0; i < N; i++) rows[i] = i;
  memset(all.action, 0, sizeof all.action);
  for (uint32_t k = 0; processes && k < NUM_ACTORS; k++) start_actor(k);
  const double begin = host_seconds();
  CHECK(rlcore_batch_send(host.batch, host.envs, host.catch.env, N, rows, &ALL));
  for (uint64_t left = (uint64_t)ROUNDS * N; left;) {
    if (!processes) CHECK(rlcore_batch_run(host.batch, host.envs, host.catch.env, 0, UINT32_MAX, &count));
    const uint32_t num_rows = collect(rows, failed);
    if (num_rows == 0) sched_yield();
    else CHECK(rlcore_batch_send(host.batch, host.envs, host.catch.env, num_rows, rows, &ALL));
    left -= left < num_rows ? left : num_rows;
  }
  const double seconds = host_seconds() - begin;
  if (processes) stop_actors();
  return 1e6 * seconds / ROUNDS / N;
}

/* Microseconds of an environment's step. */
static double time_of_step(void) {
  start_envs();
  memset(some.action, 0, sizeof some.action);
  const double begin = host_seconds();
  for (uint32_t i = 0; i < ROUNDS; i++) CHECK(rlcore_vecenv_step(host.envs, host.catch.env, &SOME));
  return 1e6 * (host_seconds() - begin) / ROUNDS / N;
}

static void measure(void) {
  const double step = time_of_step(), alone = time_of_rows(false), processes = time_of_rows(true);
  printf("submit, collect and respond: %.3f us a row beside the step of %.3f us, %.3f us between %u processes\n",
         alone - step, step, processes, (unsigned)NUM_ACTORS + 1);
}

/* ---- */

static void plan(void) {
  const task *const task = task_find("catch");
  const rlcore_learner_config net = task_config(task);
  rlcore_learner_config config;
  rlcore_batch_config batch;
  size_t size;
  host.parent = getpid();
  const rlcore_env_def catch = {.struct_size = sizeof catch, .env_id = task->builtin, .action_mask = allow_or_hang};
  host.catch = host_compile(&catch);
  CHECK(rlcore_vecenv_config_init(&host.config, sizeof host.config));
  CHECK(rlcore_batch_config_init(&batch, sizeof batch));
  host.config.num_envs = N;
  host.config.seed = 1;
  batch.in_series = IN_SERIES;
  CHECK(rlcore_vecenv_size(host.catch.env, &host.config, &host.envs_size));
  CHECK(rlcore_batch_size(host.catch.env, &host.config, &batch, &host.batch_size));
  const size_t len = sizeof *shared + host_aligned(host.envs_size) + host.batch_size;
  shared = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) host_fail("cannot map %zu bytes", len);

  CHECK(rlcore_learner_config_init(&config, sizeof config, RLCORE_ALGORITHM_IMPALA)); /* trajectories of 80 steps */
  config.layers = net.layers;
  config.num_layers = net.num_layers;
  memcpy(config.obs_dims, net.obs_dims, sizeof config.obs_dims);
  config.num_hidden = config.num_shared = net.num_shared;
  memcpy(config.hidden_len, net.hidden_len, sizeof config.hidden_len);
  config.activation = net.activation;
  config.num_envs = N;
  config.num_chunks = N; /* a slice of learning is one trajectory */
  config.overlap = 1;
  config.learning_rate = config.learning_rate_end = 1e-3F;
  config.entropy_coef = 0.01F;
  CHECK(rlcore_learner_size(&config, &host.catch.obs, &host.catch.action, &size));
  CHECK(rlcore_learner_init(host_take(size), size, &config, &host.catch.obs, &host.catch.action, &learner.agent));
  learner.stats.struct_size = sizeof learner.stats;
}

int main(void) {
  plan();
  measure();
  solve();
  if (play_greedily() < (double)SOLVED) host_fail("FAILED: the policy was not learnt");
  printf("ok: Catch solved by IMPALA with %u actors, one of which was killed\n", (unsigned)NUM_ACTORS);
}
