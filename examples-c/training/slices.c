/* A game at 60 frames per second whose characters learn while it runs: each frame acts once or learns a few
   minibatches, and never waits for a whole update. The result is bit-identical to learning in one call. */
#include "tasks.h"

#include <stdio.h>
#include <time.h>

enum { CHARACTERS = 16, FRAMES_OF_PLAY = WHOLE_OR_BRIEF(512, 32) };

/* CPU time, to exclude other load of the machine. */
static double seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

/* Plays FRAMES_OF_PLAY frames; returns the longest in seconds, and the number of additional frames used for learning. */
static double play(training *t, uint32_t minibatches_per_frame, uint32_t *learning_frames) {
  double longest = 0;
  bool learning = false;
  *learning_frames = 0;
  training_start(t, 1);
  for (uint32_t played = 0; played < FRAMES_OF_PLAY || learning;) {
    const double start = seconds();
    if (!learning) {
      training_step(t); /* the game: characters act, the world moves */
      played++;
    }
    learning = training_learn(t, minibatches_per_frame);
    *learning_frames += learning;
    const double took = seconds() - start;
    longest = took > longest ? took : longest;
  }
  return longest;
}

int main(void) {
  static training t;
  const task *const cartpole = task_find("cartpole");
  const host_env world = task_world(cartpole);
  rlcore_learner_config config = task_config(cartpole);
  uint64_t hash[3];
  config.num_envs = CHARACTERS;
  config.num_steps = WHOLE_OR_BRIEF(128, 16);
  config.num_minibatches = 32;
  config.num_epochs = WHOLE_OR_BRIEF(10, 2);
  training_plan(&t, &world, &config);

  static const uint32_t slice[3] = {0, 4, 1};
  for (int i = 0; i < 3; i++) {
    uint32_t frames = 0;
    const double longest = play(&t, slice[i], &frames);
    hash[i] = training_hash(&t);
    if (slice[i])
      printf("%u minibatches a frame: longest frame %.3f ms of 16.667, learning spread over %u more frames\n",
             (unsigned)slice[i], longest * 1e3, (unsigned)frames);
    else
      printf("whole updates at once: longest frame %.3f ms of 16.667\n", longest * 1e3);
  }
  if (hash[0] != hash[1] || hash[0] != hash[2]) host_fail("FAILED: slices changed the result");
  printf("final hash: %016llx\n", (unsigned long long)hash[0]);
  printf("ok: the same bytes however the learning was sliced\n");
}
