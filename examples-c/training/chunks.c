/* The host's own threads share the chunks of each minibatch. 1, 2, 3 and 7 threads learn the same parameters, bit for bit, and
   so does rlcore_learner_learn without any. */
#include "tasks.h"

#include <pthread.h>
#include <stdio.h>

enum { UPDATES = WHOLE_OR_BRIEF(20, 4), NUM_CHUNKS = 8, MAX_THREADS = 7 };

static training t;
static float *grads;  /* [NUM_CHUNKS, grads_len], of one minibatch */
static float *params; /* [params_len] */
static size_t grads_len, params_len;

typedef struct worker {
  pthread_t thread;
  uint32_t begin, end;
  void *scratch;
  size_t scratch_size;
} worker;

/* A job of the host's: the gradients of chunks [begin, end). The learner is only read. */
static void *job(void *argument) {
  const worker *const w = argument;
  float *const to = grads + w->begin * grads_len;
  CHECK(rlcore_learner_learn_range(t.agent, w->begin, w->end, w->scratch, w->scratch_size, to, (w->end - w->begin) * grads_len));
  return NULL;
}

/* Runs the update that is due. The threads started for each minibatch stand for the threads of your job system. */
static void update(worker *workers, uint32_t num_threads) {
  CHECK(rlcore_learner_learn_begin(t.agent, &t.rows, &t.stats));
  do {
    for (uint32_t k = 0; k < num_threads; k++) {
      workers[k].begin = NUM_CHUNKS * k / num_threads;
      workers[k].end = NUM_CHUNKS * (k + 1) / num_threads;
      if (pthread_create(&workers[k].thread, NULL, job, &workers[k])) host_fail("cannot start a thread");
    }
    for (uint32_t k = 0; k < num_threads; k++) pthread_join(workers[k].thread, NULL);
    CHECK(rlcore_learner_grads_write(t.agent, 0, NUM_CHUNKS, grads, NUM_CHUNKS * grads_len));
    CHECK(rlcore_learner_learn_apply(t.agent, &t.stats));
  } while (t.stats.minibatches_left);
}

/* Trains with `num_threads` threads; 0: with rlcore_learner_learn. Returns the hash of the parameters. */
static uint64_t train(worker *workers, uint32_t num_threads) {
  training_start(&t, 1);
  for (uint32_t updates = 0; updates < UPDATES;) {
    uint32_t due;
    training_step(&t);
    CHECK(rlcore_learner_phase(t.agent, &due));
    if (due != RLCORE_LEARNER_LEARN) continue;
    if (num_threads) update(workers, num_threads);
    else training_learn(&t, 0);
    updates++;
  }
  CHECK(rlcore_learner_params_read(t.agent, params, params_len));
  return host_hash(params, params_len * sizeof *params);
}

int main(void) {
  static const uint32_t num_threads[] = {0, 1, 2, 3, 7};
  static worker workers[MAX_THREADS];
  const task *const cartpole = task_find("cartpole");
  const host_env world = task_world(cartpole);
  rlcore_learner_config config = task_config(cartpole);
  uint64_t first = 0;
  config.num_envs = 16;
  config.num_steps = WHOLE_OR_BRIEF(128, 16);
  config.num_chunks = NUM_CHUNKS;
  training_plan(&t, &world, &config);
  training_start(&t, 1);
  CHECK(rlcore_learner_grads_len(t.agent, &grads_len));
  CHECK(rlcore_learner_params_len(t.agent, &params_len));
  grads = host_take(NUM_CHUNKS * grads_len * sizeof *grads);
  params = host_take(params_len * sizeof *params);
  for (int k = 0; k < MAX_THREADS; k++) {
    CHECK(rlcore_learner_scratch_size(t.agent, &workers[k].scratch_size));
    workers[k].scratch = host_take(workers[k].scratch_size);
  }
  for (int i = 0; i < 5; i++) {
    const uint64_t hash = train(workers, num_threads[i]);
    if (i == 0) first = hash;
    if (num_threads[i]) printf("%u thread(s): %016llx\n", (unsigned)num_threads[i], (unsigned long long)hash);
    else printf("rlcore_learner_learn: %016llx\n", (unsigned long long)hash);
    if (hash != first) host_fail("FAILED: the number of threads changed the result");
  }
  printf("ok: a return of %.0f after %u updates of %u chunks, the same bits for 1, 2, 3 and 7 threads\n",
         (double)t.stats.return_mean, (unsigned)UPDATES, (unsigned)NUM_CHUNKS);
}
