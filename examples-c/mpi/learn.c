/* PPO or A2C on several ranks of MPI:
     mpirun -n RANKS learn [--a2c] [--updates N] [--save FILE] [--every K] [--resume FILE] [--alone]
   Every rank has a copy of the learner. Each steps a share of the environments and computes the gradients of a share of
   the chunks; rows and gradients are gathered, and every rank adds the same tree of gradients. So any number of ranks
   ends with the same bytes as one process that calls rlcore_learner_learn (`--alone`). With --save, training is saved
   every K updates; if a rank is lost the run ends, and --resume continues on any number of ranks. */
#define _POSIX_C_SOURCE 200809L
#include "tasks.h"

#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NUM_ENVS = 16, NUM_CHUNKS = 4, MAX_RANKS = 64, SEED = 1 };

static struct {
  const char *save, *resume;
  uint64_t updates, every;
  bool alone, a2c;
  int lost_rank; /* for tests: this rank kills itself ... */
  uint64_t lost; /* ... after this many updates */
} options = {.updates = 40, .every = 10, .lost_rank = -1};

static int rank, num_ranks;

/* Items, of which each rank computes [begin, end); `gather` sends all of them to all ranks. */
typedef struct shares {
  unsigned char *items;
  uint32_t begin, end;
  MPI_Datatype item;
  int len[MAX_RANKS], at[MAX_RANKS];
} shares;

static shares shares_of(void *items, uint32_t num_items, size_t item_size) {
  shares s = {.items = items};
  for (int k = 0; k < num_ranks; k++) {
    s.at[k] = (int)num_items * k / num_ranks;
    s.len[k] = (int)num_items * (k + 1) / num_ranks - s.at[k];
  }
  s.begin = (uint32_t)s.at[rank];
  s.end = s.begin + (uint32_t)s.len[rank];
  MPI_Type_contiguous((int)item_size, MPI_BYTE, &s.item);
  MPI_Type_commit(&s.item);
  return s;
}

static void gather(const shares *s) {
  if (num_ranks > 1)
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, s->items, s->len, s->at, s->item, MPI_COMM_WORLD);
}

/* ---- The training: one range of bytes, the same on every rank once `envs` is gathered ---- */

static host_env world;
static rlcore_learner_config config;
static unsigned char *image; /* learner, an environments' block for each environment, next observations, num_updates */
static size_t image_size, learner_size, env_size, obs_size, action_size, row_size;
static rlcore_learner *agent;
static rlcore_vecenv *envs[NUM_ENVS];
static unsigned char *obs, *final_obs, *action;
static float reward[NUM_ENVS];
static uint8_t terminated[NUM_ENVS], truncated[NUM_ENVS];
static rlcore_rows rows; /* of these arrays */
static uint64_t *num_updates;
static shares env_shares, row_shares, grad_shares;
static size_t grads_len, scratch_size;
static void *scratch;

static rlcore_vecenv_config one_env(uint32_t i) {
  rlcore_vecenv_config c;
  CHECK(rlcore_vecenv_config_init(&c, sizeof c));
  c.num_envs = 1;
  c.seed = ((uint64_t)SEED << 16) + i; /* the seed of environment i in one block of all environments */
  return c;
}

static void plan(void) {
  const task *const cartpole = task_find("cartpole");
  const rlcore_vecenv_config one = one_env(0);
  world = task_world(cartpole);
  if (options.a2c) {
    CHECK(rlcore_learner_config_init(&config, sizeof config, RLCORE_ALGORITHM_A2C));
  } else {
    config = task_config(cartpole);
    config.num_steps = 128;
    config.num_epochs = 4;
  }
  config.num_envs = NUM_ENVS;
  config.num_chunks = NUM_CHUNKS;
  config.seed = SEED;
  obs_size = world.obs.len * host_element_size(world.obs.kind);
  action_size = world.action.len * host_element_size(world.action.kind);
  CHECK(rlcore_learner_size(&config, &world.obs, &world.action, &learner_size));
  CHECK(rlcore_vecenv_size(world.env, &one, &env_size));
  learner_size = host_aligned(learner_size);
  env_size = host_aligned(env_size);
  image_size = learner_size + NUM_ENVS * env_size + NUM_ENVS * obs_size + sizeof *num_updates;
  image = host_take(image_size);
  obs = image + learner_size + NUM_ENVS * env_size;
  num_updates = (uint64_t *)(void *)(obs + NUM_ENVS * obs_size);
  final_obs = host_take(NUM_ENVS * obs_size);
  action = host_take(NUM_ENVS * action_size);
  rows = (rlcore_rows){.struct_size = sizeof rows, .obs = obs, .action = action, .reward = reward,
                       .terminated = terminated, .truncated = truncated, .final_obs = final_obs};

  row_size = 2 * obs_size + sizeof(float) + 2;
  env_shares = shares_of(image + learner_size, NUM_ENVS, env_size);
  row_shares = shares_of(host_take(NUM_ENVS * row_size), NUM_ENVS, row_size);
}

static void *env_at(uint32_t i) { return image + learner_size + i * env_size; }

static void start(void) {
  CHECK(rlcore_learner_init(image, learner_size, &config, &world.obs, &world.action, &agent));
  for (uint32_t i = 0; i < NUM_ENVS; i++) {
    const rlcore_vecenv_config one = one_env(i);
    CHECK(rlcore_vecenv_init(env_at(i), env_size, world.env, &one, &envs[i]));
    CHECK(rlcore_vecenv_reset(envs[i], world.env, NULL, obs + i * obs_size));
  }
}

/* Rank 0 reads the file and sends it to the others, which need not see the same disk. */
static void resume(void) {
  if (rank == 0 && host_read(options.resume, image, image_size) != image_size)
    host_fail("%s is no whole training of %u environments", options.resume, (unsigned)NUM_ENVS);
  MPI_Bcast(image, (int)image_size, MPI_BYTE, 0, MPI_COMM_WORLD);
  CHECK(rlcore_learner_attach(image, learner_size, NUM_ENVS, &world.obs, &world.action, &agent));
  for (uint32_t i = 0; i < NUM_ENVS; i++) CHECK(rlcore_vecenv_attach(env_at(i), env_size, world.env, &envs[i]));
}

static void save(void) {
  gather(&env_shares);
  if (rank == 0) host_save(options.save, image, image_size);
}

/* ---- A step and an update ---- */

/* Environment i's row for the other ranks: obs, final_obs, reward, terminated, truncated. */
static unsigned char *row_at(uint32_t i) { return row_shares.items + i * row_size; }

static void step(void) {
  CHECK(rlcore_learner_act(agent, &rows));
  for (uint32_t i = row_shares.begin; i < row_shares.end; i++) {
    const rlcore_rows one = {
        .struct_size = sizeof one,
        .obs = obs + i * obs_size,
        .action = action + i * action_size,
        .reward = &reward[i],
        .terminated = &terminated[i],
        .truncated = &truncated[i],
        .final_obs = final_obs + i * obs_size,
    };
    unsigned char *const row = row_at(i);
    CHECK(rlcore_vecenv_step(envs[i], world.env, &one));
    memcpy(row, obs + i * obs_size, obs_size);
    memcpy(row + obs_size, final_obs + i * obs_size, obs_size);
    memcpy(row + 2 * obs_size, &reward[i], sizeof *reward);
    row[row_size - 2] = terminated[i];
    row[row_size - 1] = truncated[i];
  }
  gather(&row_shares);
  for (uint32_t i = 0; i < NUM_ENVS; i++) {
    const unsigned char *const row = row_at(i);
    memcpy(obs + i * obs_size, row, obs_size);
    memcpy(final_obs + i * obs_size, row + obs_size, obs_size);
    memcpy(&reward[i], row + 2 * obs_size, sizeof *reward);
    terminated[i] = row[row_size - 2];
    truncated[i] = row[row_size - 1];
  }
  CHECK(rlcore_learner_observe(agent, &rows));
}

static void learn(rlcore_learner_stats *stats) {
  float *const grads = (float *)(void *)grad_shares.items;
  const uint32_t begin = grad_shares.begin, end = grad_shares.end;
  if (options.alone) {
    CHECK(rlcore_learner_learn(agent, &rows, 0, stats));
    return;
  }
  CHECK(rlcore_learner_learn_begin(agent, &rows, stats));
  while (stats->minibatches_left) {
    float *const to = grads + begin * grads_len;
    if (begin < end) CHECK(rlcore_learner_learn_range(agent, begin, end, scratch, scratch_size, to, (end - begin) * grads_len));
    gather(&grad_shares);
    CHECK(rlcore_learner_grads_write(agent, 0, NUM_CHUNKS, grads, NUM_CHUNKS * grads_len));
    CHECK(rlcore_learner_learn_apply(agent, stats));
  }
}

/* ---- The run ---- */

/* Handler of SIGTERM, which mpirun sends to all ranks when one is lost. */
static void told_to_end(int signal_number) {
  static const char why[] = "learn: another rank was lost, or the run was stopped: ";
  static const char saved[] = "--resume continues from the last save\n", unsaved[] = "nothing was saved (--save)\n";
  if (write(2, why, sizeof why - 1) > 0)
    if (write(2, options.save ? saved : unsaved, (options.save ? sizeof saved : sizeof unsaved) - 1) < 0) _exit(1);
  _exit(128 + signal_number);
}

static uint64_t number(const char *text) {
  char *end;
  const unsigned long long value = strtoull(text, &end, 10);
  if (*text < '0' || *text > '9' || *end) host_fail("%s is no number", text);
  return value;
}

static void parse(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    const bool has_value = i + 1 < argc;
    if (strcmp(argv[i], "--alone") == 0) options.alone = true;
    else if (strcmp(argv[i], "--a2c") == 0) options.a2c = true;
    else if (strcmp(argv[i], "--updates") == 0 && has_value) options.updates = number(argv[++i]);
    else if (strcmp(argv[i], "--every") == 0 && has_value) options.every = number(argv[++i]);
    else if (strcmp(argv[i], "--save") == 0 && has_value) options.save = argv[++i];
    else if (strcmp(argv[i], "--resume") == 0 && has_value) options.resume = argv[++i];
    else if (strcmp(argv[i], "--lose") == 0 && i + 2 < argc) {
      options.lost_rank = (int)number(argv[++i]);
      options.lost = number(argv[++i]);
    } else
      host_fail("learn [--a2c] [--updates N] [--save FILE] [--every K] [--resume FILE] [--alone] [--lose RANK UPDATES],"
                " not %s", argv[i]);
  }
  if (options.every == 0) host_fail("--every is at least 1");
  if (options.alone && num_ranks > 1) host_fail("--alone is for one rank, and there are %d", num_ranks);
  if (num_ranks > MAX_RANKS) host_fail("%d ranks: raise MAX_RANKS, which is %d", num_ranks, MAX_RANKS);
}

int main(int argc, char **argv) {
  rlcore_learner_stats stats = {.struct_size = sizeof stats};
  double learning = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
  parse(argc, argv);
  sigaction(SIGTERM, &(struct sigaction){.sa_handler = told_to_end}, NULL);
  plan();
  if (options.resume) resume();
  else start();
  CHECK(rlcore_learner_grads_len(agent, &grads_len));
  CHECK(rlcore_learner_scratch_size(agent, &scratch_size));
  grad_shares = shares_of(host_take(NUM_CHUNKS * grads_len * sizeof(float)), NUM_CHUNKS, grads_len * sizeof(float));
  scratch = host_take(scratch_size);
  if (rank == 0 && options.resume) printf("resumed after %llu updates\n", (unsigned long long)*num_updates);

  const double begin = MPI_Wtime();
  while (*num_updates < options.updates) {
    for (uint32_t t = 0; t < config.num_steps; t++) step();
    const double at = MPI_Wtime();
    learn(&stats);
    learning += MPI_Wtime() - at;
    ++*num_updates;
    if (options.save && *num_updates % options.every == 0) save();
    if (rank == options.lost_rank && *num_updates == options.lost) raise(SIGKILL);
  }
  const double seconds = MPI_Wtime() - begin;

  gather(&env_shares);
  uint64_t hash = host_hash(image, image_size), lowest, highest;
  MPI_Allreduce(&hash, &lowest, 1, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&hash, &highest, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
  if (lowest != highest) host_fail("FAILED: the ranks differ: %016llx here", (unsigned long long)hash);
  if (rank == 0) {
    printf("%d rank(s): %.2f s, %.2f s of them learning, a return of %.0f\n", num_ranks, seconds, learning,
           (double)stats.return_mean);
    printf("hash after %llu updates: %016llx\n", (unsigned long long)*num_updates, (unsigned long long)hash);
  }
  MPI_Finalize();
}
