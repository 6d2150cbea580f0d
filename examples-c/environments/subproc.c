/* Environments in shared memory: forked workers step them, the parent submits and collects. 1, 2, 3 and 7 processes
   give the same bytes as 1, 2, 3 and 7 threads and as no worker. Then one process is killed in the middle of a step:
   waitpid reports it, the library returns the lost rows, all others are intact, and after a reset of the lost rows the
   batch continues with a new process. */
#define _DEFAULT_SOURCE
#include "host.h"
#include "lander.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NUM_ENVS = 42, IN_SERIES = 3, NUM_STEPS = 60, MAX_WORKERS = 7, SEED = 1 };

/* The lander with one more choice: a step that never returns, like a simulator that hangs. */
enum { LANDER_CHOICES = 4, HANG = LANDER_CHOICES, NUM_CHOICES };

/* Start of the shared memory; the two blocks follow it. */
static struct shared {
  _Alignas(64) _Atomic pid_t hanging; /* process in a step that never returns */
  _Alignas(64) unsigned char blocks[];
} *shared;

static struct {
  pid_t parent;
  rlcore_env_def lander;
  host_env world;
  rlcore_vecenv_config config;
  rlcore_vecenv *envs;
  rlcore_batch *batch;
  size_t envs_size, batch_size;
  rlcore_rng rng;
  int32_t action[NUM_ENVS];
  float obs[NUM_ENVS][LANDER_OBS_LEN], final_obs[NUM_ENVS][LANDER_OBS_LEN], reward[NUM_ENVS];
  uint8_t terminated[NUM_ENVS], truncated[NUM_ENVS];
  uint64_t hash;
} game;

/* Ends the worker if the parent has died. Yields the processor. */
static void end_if_orphaned(void) {
  if (getpid() != game.parent && getppid() != game.parent) _exit(1);
  sched_yield();
}

static int32_t step_or_hang(void *user, uint32_t row, void *state, rlcore_rng *rng, const void *action, void *obs, rlcore_step *out) {
  if (*(const int32_t *)action != HANG) return game.lander.step(user, row, state, rng, action, obs, out);
  atomic_store(&shared->hanging, getpid());
  for (;;) end_if_orphaned();
}

/* ---- The parent's side ---- */

static void plan(void) {
  static const uint32_t num_choices[1] = {NUM_CHOICES};
  rlcore_batch_config config;
  game.parent = getpid();
  game.lander = lander_def();
  rlcore_env_def def = game.lander;
  def.env_id++;
  def.action.n = num_choices;
  def.step = step_or_hang;
  game.world = host_compile(&def);
  CHECK(rlcore_vecenv_config_init(&game.config, sizeof game.config));
  CHECK(rlcore_batch_config_init(&config, sizeof config));
  game.config.num_envs = NUM_ENVS;
  game.config.seed = SEED;
  config.in_series = IN_SERIES;
  CHECK(rlcore_vecenv_size(game.world.env, &game.config, &game.envs_size));
  CHECK(rlcore_batch_size(game.world.env, &game.config, &config, &game.batch_size));
  const size_t size = sizeof *shared + host_aligned(game.envs_size) + game.batch_size;
  shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) host_fail("cannot map %zu bytes", size);
}

static void start(void) {
  rlcore_batch_config config;
  CHECK(rlcore_batch_config_init(&config, sizeof config));
  config.in_series = IN_SERIES;
  unsigned char *const mem = shared->blocks;
  CHECK(rlcore_vecenv_init(mem, game.envs_size, game.world.env, &game.config, &game.envs));
  CHECK(rlcore_batch_init(mem + host_aligned(game.envs_size), game.batch_size, game.world.env, &game.config, &config, &game.batch));
  CHECK(rlcore_vecenv_reset(game.envs, game.world.env, NULL, game.obs));
  CHECK(rlcore_rng_seed(&game.rng, SEED));
  memset(game.final_obs, 0, sizeof game.final_obs);
  game.hash = 0;
}

static const rlcore_rows ROWS = {
    .struct_size = sizeof ROWS,
    .obs = game.obs,
    .action = game.action,
    .reward = game.reward,
    .terminated = game.terminated,
    .truncated = game.truncated,
    .final_obs = game.final_obs,
};

static void draw_actions(void) {
  double draw[NUM_ENVS];
  CHECK(rlcore_rng_uniform(&game.rng, 0.0, LANDER_CHOICES, draw, NUM_ENVS));
  for (int i = 0; i < NUM_ENVS; i++) game.action[i] = (int32_t)draw[i];
}

static void note(void) { game.hash = game.hash * 31 + host_hash(game.reward, sizeof game.reward) + host_hash(game.obs, sizeof game.obs); }

static uint64_t result(void) {
  const uint64_t all[4] = {game.hash, host_hash(game.envs, game.envs_size), host_hash(game.final_obs, sizeof game.final_obs),
                           host_hash(game.obs, sizeof game.obs)};
  return host_hash(all, sizeof all);
}

/* Waits for the submitted step. Returns RLCORE_OK, or the status of failed rows. */
static rlcore_status collect(void) {
  rlcore_status status;
  while ((status = rlcore_batch_step_wait(game.batch, &ROWS)) == RLCORE_E_NOT_READY) sched_yield();
  return status;
}

static void play(int num_steps) {
  for (int step = 0; step < num_steps; step++) {
    draw_actions();
    CHECK(rlcore_batch_step_async(game.batch, game.envs, game.world.env, &ROWS));
    CHECK(collect());
    note();
  }
}

/* ---- Workers ---- */

/* Worker function, for threads and processes: steps pending groups until the batch is closed. */
static void work(uint32_t worker) {
  uint32_t count = 0;
  while (rlcore_batch_run(game.batch, game.envs, game.world.env, worker, 1, &count) == RLCORE_OK)
    if (count == 0) end_if_orphaned();
}

static void *thread(void *argument) {
  work(*(const uint32_t *)argument);
  return NULL;
}

static pid_t process(uint32_t worker) {
  const pid_t pid = fork();
  if (pid < 0) host_fail("cannot fork");
  if (pid == 0) {
    work(worker);
    _exit(0);
  }
  return pid;
}

/* ---- The same game, three ways ---- */

static uint64_t run_serially(void) {
  start();
  for (int step = 0; step < NUM_STEPS; step++) {
    draw_actions();
    CHECK(rlcore_vecenv_step(game.envs, game.world.env, &ROWS));
    note();
  }
  return result();
}

static uint64_t run_threads(uint32_t num_workers) {
  pthread_t threads[MAX_WORKERS];
  static uint32_t number[MAX_WORKERS];
  start();
  for (uint32_t k = 0; k < num_workers; k++) {
    number[k] = k;
    if (pthread_create(&threads[k], NULL, thread, &number[k])) host_fail("cannot start a thread");
  }
  play(NUM_STEPS);
  CHECK(rlcore_batch_close(game.batch));
  for (uint32_t k = 0; k < num_workers; k++) pthread_join(threads[k], NULL);
  return result();
}

static uint64_t run_processes(uint32_t num_workers) {
  start();
  for (uint32_t k = 0; k < num_workers; k++) process(k);
  play(NUM_STEPS);
  CHECK(rlcore_batch_close(game.batch));
  for (uint32_t k = 0; k < num_workers; k++) {
    int how = 0;
    if (wait(&how) < 0 || how != 0) host_fail("FAILED: a worker ended in another way");
  }
  return result();
}

/* ---- A process that dies ---- */

enum { DEATH = NUM_STEPS / 3, LOST_ROW = 19, LOST = LOST_ROW / IN_SERIES * IN_SERIES, NEW_SEED = 77 };

/* Resets the lost rows, each with a new seed. */
static void reset_lost(bool in_batch) {
  for (uint32_t row = LOST; row < LOST + IN_SERIES; row++) {
    const uint64_t seed = NEW_SEED + row;
    if (in_batch) CHECK(rlcore_batch_reset_one(game.batch, game.envs, game.world.env, row, &seed, game.obs));
    else CHECK(rlcore_vecenv_reset_one(game.envs, game.world.env, row, &seed, game.obs));
  }
}

/* The expected result: a serial run in which the lost rows take no step when the worker dies. */
static uint64_t run_without_the_lost(void) {
  start();
  for (int step = 0; step < NUM_STEPS; step++) {
    draw_actions();
    if (step == DEATH) {
      CHECK(rlcore_vecenv_step_range(game.envs, game.world.env, 0, LOST, &ROWS));
      CHECK(rlcore_vecenv_step_range(game.envs, game.world.env, LOST + IN_SERIES, NUM_ENVS, &ROWS));
      note();
      reset_lost(false);
      continue;
    }
    CHECK(rlcore_vecenv_step(game.envs, game.world.env, &ROWS));
    note();
  }
  return result();
}

static uint64_t run_with_a_death(uint32_t num_workers) {
  pid_t pid[MAX_WORKERS];
  uint8_t failed[NUM_ENVS];
  char why[256];
  uint32_t dead = 0, num_rows = 0;
  int how = 0;
  start();
  for (uint32_t k = 0; k < num_workers; k++) pid[k] = process(k);
  play(DEATH);

  /* One environment hangs whichever worker steps it. The parent kills that worker, as after a timeout. */
  draw_actions();
  game.action[LOST_ROW] = HANG;
  atomic_store(&shared->hanging, 0);
  CHECK(rlcore_batch_step_async(game.batch, game.envs, game.world.env, &ROWS));
  pid_t hanging;
  while ((hanging = atomic_load(&shared->hanging)) == 0) sched_yield();
  if (kill(hanging, SIGKILL) != 0) host_fail("cannot kill");

  /* waitpid returns the worker that died, the library its rows. */
  const pid_t gone = waitpid(-1, &how, 0);
  if (gone != hanging || !WIFSIGNALED(how)) host_fail("FAILED: another worker ended");
  while (pid[dead] != gone) dead++;
  CHECK(rlcore_batch_abandon(game.batch, game.envs, game.world.env, dead, &num_rows));
  if (num_rows != IN_SERIES) host_fail("FAILED: %u rows are lost", (unsigned)num_rows);
  pid[dead] = process(dead);
  if (collect() != RLCORE_E_CALLBACK) host_fail("FAILED: the loss was not told");
  CHECK(rlcore_last_error(why, sizeof why));
  CHECK(rlcore_batch_failed(game.batch, failed));
  for (uint32_t row = 0; row < NUM_ENVS; row++)
    if (failed[row] != (row >= LOST && row < LOST + IN_SERIES)) host_fail("FAILED: row %u", (unsigned)row);
  note();
  if (num_workers == MAX_WORKERS) printf("%s\n", why);

  /* The lost rows must be reset; then everything continues. */
  if (rlcore_batch_step_async(game.batch, game.envs, game.world.env, &ROWS) != RLCORE_E_NOT_READY)
    host_fail("FAILED: rows that are lost were stepped");
  reset_lost(true);
  play(NUM_STEPS - DEATH - 1);
  CHECK(rlcore_batch_close(game.batch));
  for (uint32_t k = 0; k < num_workers; k++)
    if (waitpid(pid[k], &how, 0) != pid[k] || how != 0) host_fail("FAILED: a worker ended in another way");
  return result();
}

int main(void) {
  static const uint32_t num_workers[] = {1, 2, 3, MAX_WORKERS};
  plan();
  const uint64_t serial = run_serially();
  printf("serial: %016llx\n", (unsigned long long)serial);
  for (int i = 0; i < 4; i++) {
    const uint64_t threads = run_threads(num_workers[i]), processes = run_processes(num_workers[i]);
    printf("%u thread(s): %016llx, %u process(es): %016llx\n", (unsigned)num_workers[i], (unsigned long long)threads,
           (unsigned)num_workers[i], (unsigned long long)processes);
    if (threads != serial || processes != serial) host_fail("FAILED: the workers changed the result");
  }
  const uint64_t expected = run_without_the_lost();
  for (int i = 0; i < 4; i++)
    if (run_with_a_death(num_workers[i]) != expected) host_fail("FAILED: a death changed other rows");
  printf("one of 1, 2, 3 and 7 processes killed in mid-step: %016llx, as without the lost rows\n", (unsigned long long)expected);
  printf("ok: %u landers, %u steps, the same bytes for threads, processes and none\n", (unsigned)NUM_ENVS, (unsigned)NUM_STEPS);
}
