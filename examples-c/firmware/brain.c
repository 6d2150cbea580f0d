/* Trains a small CartPole policy on this machine and prints it as the bytes of a C array, which policy.c keeps in flash;
   and writes it as a file of C, which bare.c includes: `brain <file>`. */
#include "../shared/tasks.h"

#include <stdio.h>
#include <stdlib.h>

enum { HIDDEN = 16, EPISODES = 100 };

static void write_c(const rlcore_policy *policy, const char *path) {
  size_t size;
  if (rlcore_policy_c_size(policy, "cart", &size)) host_fail("the size of %s", path);
  unsigned char *const text = malloc(size);
  FILE *const file = fopen(path, "w");
  if (!text || !file || rlcore_policy_c_write(policy, "cart", text, size)) host_fail("the text of %s", path);
  if (fwrite(text, 1, size, file) != size || fclose(file)) host_fail("cannot write %s", path);
  free(text);
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  static training t;
  const task *const task = task_find("cartpole");
  const host_env world = task_world(task);
  rlcore_learner_config config = task_config(task);
  size_t size = 0;
  config.hidden_len[0] = config.hidden_len[1] = HIDDEN;
  training_plan(&t, &world, &config);
  training_start(&t, 1);
  while (t.stats.num_steps < task->total_steps) {
    training_collect(&t);
    training_learn(&t, 0);
  }
  const rlcore_policy *const policy = training_export(&t, &size);
  const evaluation greedy = evaluate(policy, &world, EPISODES, &GREEDY);
  if (greedy.min < 500) host_fail("the policy to embed: %g is the least of %d returns, 500 wanted", greedy.min, EPISODES);
  write_c(policy, argv[1]);
  for (size_t i = 0; i < size; i++)
    printf("%u,%s", ((const unsigned char *)(const void *)policy)[i], i % 16 == 15 ? "\n" : "");
  return 0;
}
