/* A folder of saved learners and policies: each is loaded and plays the environment with every sampling method. Then the
   parameters of the last learner are copied to one with another number of environments. Argument: the folder. */
#define _POSIX_C_SOURCE 200809L
#include "tasks.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SAVES = 4, EVERY = WHOLE_OR_BRIEF(25088, 512), EPISODES = WHOLE_OR_BRIEF(20, 2), MAX_FILES = 32, MAX_NAME = 64 };

static const rlcore_sampling methods[] = {
    {.method = RLCORE_SAMPLING_GREEDY},
    {.method = RLCORE_SAMPLING_BASIC},
    {.method = RLCORE_SAMPLING_TEMPERATURE, .temperature = 4},
    {.method = RLCORE_SAMPLING_BOTTOMK, .k = 1},
};
enum { METHODS = sizeof methods / sizeof *methods };

static char names[MAX_FILES][MAX_NAME];
static char path[4096];

static const char *in(const char *folder, const char *name) {
  if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path) host_fail("%s: too long a name", folder);
  return path;
}

/* Trains; saves the learner every EVERY steps, and the policy at the end. */
static void fill(const char *folder, training *t) {
  char name[MAX_NAME];
  size_t size;
  mkdir(folder, 0777);
  training_start(t, 1);
  for (int k = 0; k <= SAVES; k++) {
    while (t->stats.num_steps < (uint64_t)k * EVERY) {
      training_step(t);
      training_learn(t, 0);
    }
    snprintf(name, sizeof name, "%06lu.learner", (unsigned long)k * EVERY);
    host_save(in(folder, name), t->agent, t->learner_size);
  }
  const rlcore_policy *const policy = training_export(t, &size);
  host_save(in(folder, "shipped.policy"), policy, size);
}

static int by_name(const void *a, const void *b) { return strcmp(a, b); }

/* Lists the files, sorted by name. */
static size_t list(const char *folder) {
  DIR *const dir = opendir(folder);
  size_t count = 0;
  if (!dir) host_fail("%s: no folder", folder);
  for (const struct dirent *e; (e = readdir(dir));) {
    const char *const end = strrchr(e->d_name, '.');
    if (!end || (strcmp(end, ".learner") && strcmp(end, ".policy")) || strlen(e->d_name) >= MAX_NAME) continue;
    if (count == MAX_FILES) host_fail("%s: more than %d files", folder, MAX_FILES);
    strcpy(names[count++], e->d_name);
  }
  closedir(dir);
  qsort(names, count, sizeof *names, by_name);
  return count;
}

/* The policy in a file's bytes, which hold a policy, or a learner with any number of environments. */
static const rlcore_policy *load(const host_env *world, void *bytes, size_t size) {
  const rlcore_policy *policy;
  rlcore_policy *exported;
  rlcore_learner *learner;
  if (rlcore_policy_attach(bytes, size, &world->obs, &world->action, &policy) == RLCORE_OK) return policy;
  CHECK(rlcore_learner_attach(bytes, size, 0, &world->obs, &world->action, &learner));
  CHECK(rlcore_policy_size(learner, &size));
  CHECK(rlcore_policy_export(learner, host_take(size), size, &exported));
  return exported;
}

/* Copies the parameters and their moments to a learner for one environment. Its exported policy must have the same bytes. */
static void move(training *t) {
  size_t params_len, moments_len, size, other_size;
  rlcore_learner_config config = t->config;
  rlcore_learner *one;
  rlcore_policy *other;
  config.num_envs = 1;
  CHECK(rlcore_learner_size(&config, &t->world.obs, &t->world.action, &size));
  CHECK(rlcore_learner_init(host_take(size), size, &config, &t->world.obs, &t->world.action, &one));
  CHECK(rlcore_learner_params_len(t->agent, &params_len));
  float *const params = host_take(params_len * sizeof *params);
  CHECK(rlcore_learner_moments_len(t->agent, &moments_len));
  double *const moments = host_take(moments_len * sizeof *moments);
  CHECK(rlcore_learner_params_read(t->agent, params, params_len));
  CHECK(rlcore_learner_moments_read(t->agent, moments, moments_len));
  CHECK(rlcore_learner_params_write(one, params, params_len, moments, moments_len));
  const rlcore_policy *const policy = training_export(t, &size);
  CHECK(rlcore_policy_size(one, &other_size));
  CHECK(rlcore_policy_export(one, host_take(other_size), other_size, &other));
  if (size != other_size || memcmp(policy, other, size)) host_fail("FAILED: a learner for one environment ships something else");
  printf("a learner for 1 environment with the parameters of one for %u ships the same bytes\n", (unsigned)t->config.num_envs);
}

int main(int argc, char **argv) {
  static training t;
  const char *const folder = argc > 1 ? argv[1] : "league";
  const task *const cartpole = task_find("cartpole");
  const host_env world = task_world(cartpole);
  const rlcore_learner_config config = task_config(cartpole);
  double best = 0;
  training_plan(&t, &world, &config);
  fill(folder, &t);

  printf("%-16s %8s %8s %8s %8s   returns of %d episodes\n", "", "greedy", "drawn", "flat", "worst", EPISODES);
  const size_t count = list(folder);
  for (size_t i = 0; i < count; i++) {
    const size_t mark = host_mark();
    unsigned char *const bytes = host_take(t.learner_size);
    const rlcore_policy *const policy = load(&world, bytes, host_read(in(folder, names[i]), bytes, t.learner_size));
    printf("%-16s", names[i]);
    for (int k = 0; k < METHODS; k++) {
      const evaluation e = evaluate(policy, &world, EPISODES, &methods[k]);
      printf(" %8.1f", e.mean);
      if (k == 0) best = e.mean;
    }
    printf("\n");
    host_rewind(mark);
  }
  move(&t);
  if (best < WHOLE_OR_BRIEF(475, 5)) host_fail("FAILED: the policy that ships returns %.1f", best);
  printf("ok: %zu files loaded and played\n", count);
}
