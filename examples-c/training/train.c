/* Trains an environment inside a C program:
   `train [ENV] [--quick] [--seeds N] [--cpu LEVEL] [--out FOLDER] [--events FOLDER] [--film FILE] [--print-hash]`. All
   seeds use the same memory. Seed 1 also writes monitor.csv, policy.bin, with --events an event file for TensorBoard and
   progress.csv, with --film an episode as a GIF, is drawn in the terminal, and must end with the published hash: the same bits on every
   machine. */
#include "heap.h"
#include "run.h"
#include "svg.h"
#include "tasks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EVAL_EPISODES = 100, QUICK_UPDATES = 2 };

typedef struct options {
  const char *env, *out, *events, *film; /* events, film: NULL: none is written */
  uint32_t num_seeds; /* 0: the task's number */
  bool quick;         /* a few updates of one seed, without a check of the return */
  bool print_hash;    /* print the hash and nothing else, for `make bless` */
} options;

typedef struct result {
  run run;
  uint64_t hash; /* of the parameters at the end */
  unsigned long heap_calls;
  float value_loss;
  evaluation greedy;
} result;

static options parse(int argc, char **argv) {
  options o = {.env = "cartpole", .out = "out"};
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--quick") == 0)
      o.quick = true;
    else if (strcmp(argv[i], "--print-hash") == 0)
      o.print_hash = true;
    else if (strcmp(argv[i], "--seeds") == 0 && i + 1 < argc)
      o.num_seeds = (uint32_t)strtoul(argv[++i], NULL, 10);
    else if (strcmp(argv[i], "--cpu") == 0 && i + 1 < argc)
      CHECK(rlcore_cpu_set_limit((uint32_t)strtoul(argv[++i], NULL, 10)));
    else if (strcmp(argv[i], "--out") == 0 && i + 1 < argc)
      o.out = argv[++i];
    else if (strcmp(argv[i], "--events") == 0 && i + 1 < argc)
      o.events = argv[++i];
    else if (strcmp(argv[i], "--film") == 0 && i + 1 < argc)
      o.film = argv[++i];
    else if (argv[i][0] != '-')
      o.env = argv[i];
    else
      host_fail("usage: train [ENV] [--quick] [--seeds N] [--cpu LEVEL] [--out FOLDER] [--events FOLDER] [--film FILE] [--print-hash]");
  }
  return o;
}

static const task *find(const char *name) {
  const task *const found = task_find(name);
  if (found) return found;
  fprintf(stderr, "no environment \"%s\"; there are:", name);
  for (size_t i = 0; task_name(i); i++) fprintf(stderr, " %s", task_name(i));
  host_fail("");
}

/* The returned text is valid until the next call. */
static const char *path(const options *o, const char *name) {
  static char text[1024];
  snprintf(text, sizeof text, "%s/%s", o->out, name);
  return text;
}

/* Opens an event file and progress.csv in a folder. */
static void open_log(run *r, events *log, const char *folder) {
  static char name[1024], buffer[1 << 14];
  snprintf(name, sizeof name, "%s/progress.csv", folder);
  events_open(log, folder);
  r->events = log;
  r->csv = fopen(name, "wb");
  if (!r->csv) host_fail("cannot write %s", name);
  setvbuf(r->csv, buffer, _IOFBF, sizeof buffer);
  if (!events_csv(r->csv, NULL)) host_fail("cannot write %s", name);
}

/* Trains one seed; seed 1 writes its files. Returns the policy. */
static const rlcore_policy *train(result *r, training *t, const task *task, uint64_t seed, const options *o) {
  static monitor m;
  static events log;
  size_t policy_size = 0;
  if (seed == 1 && o->events) open_log(&r->run, &log, o->events);
  if (seed == 1) monitor_open(&m, path(o, "monitor.csv"), task->title, t->config.num_envs);
  const unsigned long calls = heap_calls();
  run_seed(&r->run, t, seed, task->bar, &m, false);
  r->heap_calls = heap_calls() - calls;
  monitor_close(&m);
  events_close(&log);
  if (r->run.csv && fclose(r->run.csv)) host_fail("cannot write the statistics");
  r->run.csv = NULL;
  r->hash = training_params_hash(t);
  r->value_loss = t->stats.value_loss;
  const rlcore_policy *const policy = training_export(t, &policy_size);
  if (seed == 1) host_save(path(o, "policy.bin"), policy, policy_size);
  if (o->quick) return policy;
  r->greedy = evaluate(policy, &t->world, EVAL_EPISODES, &GREEDY);
  printf("       %.2f s, %u greedy episodes: mean %.1f, sd %.1f, from %.1f to %.1f", r->run.seconds,
         (unsigned)EVAL_EPISODES, r->greedy.mean, r->greedy.std, r->greedy.min, r->greedy.max);
  if (!isnan(r->run.solved_seconds))
    printf("; %g passed in training after %llu steps, %.2f s", task->bar, (unsigned long long)r->run.solved_steps,
           r->run.solved_seconds);
  printf("\n");
  return policy;
}

static void write_curves(const char *path, const task *task, const training *t, const result *r, uint32_t num_seeds) {
  svg_curves curves = {.title = task->title,
                       .x_label = "environment steps",
                       .y_label = "return, mean of the last 100 episodes",
                       .x_step = (double)t->config.num_steps * t->config.num_envs,
                       .bar = task->bar,
                       .num_curves = num_seeds,
                       .len = r->run.num_updates};
  for (uint32_t i = 0; i < num_seeds; i++) curves.value[i] = r[i].run.curve;
  svg_write(path, &curves);
}

/* Checks the results and prints each failure. Returns whether there was none. */
static bool judge(const result *r, uint32_t num_seeds, const task *task, bool quick) {
  const unsigned long long published = task_hash(task, quick);
  bool ok = true;
  for (uint32_t i = 0; i < num_seeds; i++) {
    if (r[i].heap_calls)
      ok = false,
      printf("FAILED: seed %u: %lu heap calls while training, 0 allowed\n", (unsigned)i + 1, r[i].heap_calls);
    if (quick) continue;
    if (!(r[i].greedy.mean >= task->bar))
      ok = false,
      printf("FAILED: seed %u: mean return %.1f, at least %g\n", (unsigned)i + 1, r[i].greedy.mean, task->bar);
    if (!(r[i].greedy.mean_len <= task_max_len(task) + 1e-9))
      ok = false, printf("FAILED: seed %u: mean length %.1f, at most %g\n", (unsigned)i + 1, r[i].greedy.mean_len,
                         task_max_len(task));
    if (task->max_value_loss > 0 && !((double)r[i].value_loss <= task->max_value_loss))
      ok = false, printf("FAILED: seed %u: value loss %g, at most %g\n", (unsigned)i + 1, (double)r[i].value_loss,
                         task->max_value_loss);
  }
  if (r[0].hash != published)
    ok = false, printf("FAILED: final hash %016llx, published %016llx\n", (unsigned long long)r[0].hash, published);
  return ok;
}

int main(int argc, char **argv) {
  static training t;
  static result results[SVG_MAX_CURVES];
  term_init();
  const options o = parse(argc, argv);
  const task *const task = find(o.env);
  const host_env world = task_world(task);
  const rlcore_learner_config config = task_config(task);
  const uint64_t num_steps = o.quick ? (uint64_t)QUICK_UPDATES * config.num_steps * config.num_envs : task->total_steps;
  const uint32_t wanted = o.quick       ? 1
                          : o.num_seeds ? o.num_seeds
                                        : task->num_seeds,
                 num_seeds = wanted < SVG_MAX_CURVES ? wanted : SVG_MAX_CURVES;
  const rlcore_policy *first = NULL;
  double solved[SVG_MAX_CURVES] = {0};

  training_plan(&t, &world, &config);
  for (uint32_t i = 0; i < num_seeds; i++) results[i].run = run_plan(&t, num_steps);
  if (o.print_hash) {
    static monitor closed;
    run_seed(&results[0].run, &t, 1, task->bar, &closed, true);
    printf("0x%016llx\n", (unsigned long long)training_params_hash(&t));
    return 0;
  }
  printf("%s: %u environments in a block of %zu bytes, the learner in one of %zu bytes\n", task->title,
         (unsigned)config.num_envs, t.envs_size, t.learner_size);
  for (uint32_t i = 0; i < num_seeds; i++) {
    const rlcore_policy *const policy = train(&results[i], &t, task, i + 1, &o);
    first = i ? first : policy;
    solved[i] = results[i].run.solved_seconds;
  }
  if (!o.quick) run_draw(first, &world, task_draw(task));
  if (o.film) run_film(first, &world, o.film);
  write_curves(path(&o, "curve.svg"), task, &t, results, num_seeds);
  printf("wrote curve.svg, monitor.csv and policy.bin to %s\n", o.out);
  const double median = host_median(solved, num_seeds);
  if (!isnan(median))
    printf("a mean return of %g over 100 training episodes after %.2f s (median of %u seeds)\n", task->bar, median,
           (unsigned)num_seeds);
  printf("final hash of seed 1: %016llx\n", (unsigned long long)results[0].hash);
  if (!judge(results, num_seeds, task, o.quick)) return 1;
  printf("ok: %s%s, no heap call while training, final hash as published\n", task->name,
         o.quick ? " (quick)" : " solved");
  return 0;
}
