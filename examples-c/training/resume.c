/* Stop, save the bytes, load them in another process and continue: the result equals that of an uninterrupted training.
   `resume FILE` runs itself twice: `resume FILE half` trains halfway and saves; `resume FILE rest` loads, continues
   and saves. Then it trains without a break and compares. The processes share only the file. */
#include "tasks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UPDATES = WHOLE_OR_BRIEF(20, 4), UNEVEN_STEPS = 7 };

static training t;

static void train_updates(int count) {
  for (int update = 0; update < count; update++) {
    training_collect(&t);
    training_learn(&t, 0);
  }
}

static void train_steps(uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    training_step(&t);
    training_learn(&t, 0);
  }
}

static void ask(const char *program, const char *file, const char *part) {
  char command[1024];
  snprintf(command, sizeof command, "\"%s\" \"%s\" %s", program, file, part);
  if (system(command) != 0) host_fail("FAILED: %s", command);
}

int main(int argc, char **argv) {
  const task *const cartpole = task_find("cartpole");
  const host_env world = task_world(cartpole);
  const rlcore_learner_config config = task_config(cartpole);
  const char *const file = argc > 1 ? argv[1] : "out/half.bin";
  const char *const part = argc > 2 ? argv[2] : "";
  training_plan(&t, &world, &config);
  const uint32_t rest = config.num_steps - UNEVEN_STEPS;

  if (strcmp(part, "half") == 0) {
    training_start(&t, 1);
    train_updates(UPDATES / 2);
    train_steps(UNEVEN_STEPS); /* stop in the middle of a rollout */
    host_save(file, t.image, t.image_size);
    return 0;
  }
  if (strcmp(part, "rest") == 0) {
    if (host_read(file, t.image, t.image_size) != t.image_size) host_fail("%s: too short", file);
    training_attach(&t);
    train_steps(rest);
    train_updates(UPDATES - UPDATES / 2 - 1);
    host_save(file, t.image, t.image_size);
    return 0;
  }
  ask(argv[0], file, "half");
  ask(argv[0], file, "rest");
  training_start(&t, 1);
  train_updates(UPDATES);
  unsigned char *const resumed = host_take(t.image_size);
  const size_t size = host_read(file, resumed, t.image_size);
  if (size != t.image_size || memcmp(resumed, t.image, size) != 0) host_fail("FAILED: the resumed training differs");
  printf("%zu bytes: learner, environments and their last observations\n", size);
  printf("ok: saved half-way, loaded in another process and trained on: equal to never having stopped\n");
}
