/* A training that survives 200 kills: `save [FILE [KILLS]]`. A process trains and saves after every update, with
   host_save. The parent kills it with SIGKILL at a random moment, checks the file and starts another process from it,
   repeatedly. The file must always hold a complete training, never an older one than before, and each one found must be
   bit-identical to an uninterrupted training after the same number of updates. */
#define _DEFAULT_SOURCE
#include "tasks.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_KILLS = 1000, LAST_UPDATES = 3 };

/* The training in the file after a kill. */
typedef struct found {
  uint64_t num_updates, hash;
} found;

static training t;
static uint64_t num_updates;
static unsigned char *image; /* contents of the file: the training and its number of updates */
static size_t image_size;
static rlcore_rng rng;
static found after[MAX_KILLS + 1];

static void start_over(void) {
  training_start(&t, 1);
  num_updates = 0;
}

static void update(void) {
  training_collect(&t);
  training_learn(&t, 0);
  num_updates++;
}

static void save(const char *file) {
  memcpy(image, t.image, t.image_size);
  memcpy(image + t.image_size, &num_updates, sizeof num_updates);
  host_save(file, image, image_size);
}

static void load(const char *file) {
  if (host_read(file, image, image_size) != image_size) host_fail("FAILED: %s is too short", file);
  memcpy(t.image, image, t.image_size);
  memcpy(&num_updates, image + t.image_size, sizeof num_updates);
  training_attach(&t);
}

/* Starts a process that continues from the file, for `count` updates, or until it is killed if 0. */
static pid_t start(const char *file, int count) {
  const pid_t parent = getpid(), pid = fork();
  if (pid < 0) host_fail("cannot fork");
  if (pid > 0) return pid;
  load(file);
  for (int i = 0; i < count || count == 0; i++) {
    if (getppid() != parent) _exit(1); /* the parent that kills it has died */
    update();
    save(file);
  }
  _exit(0);
}

static void sleep_for(double seconds) { usleep((useconds_t)(1e6 * seconds)); }

static found look(const char *file) {
  load(file);
  return (found){num_updates, training_hash(&t)};
}

int main(int argc, char **argv) {
  const task *const cartpole = task_find("cartpole");
  const host_env world = task_world(cartpole);
  const rlcore_learner_config config = task_config(cartpole);
  const char *const file = argc > 1 ? argv[1] : "out/save.bin";
  const unsigned long wanted = argc > 2 ? strtoul(argv[2], NULL, 10) : 200;
  const int kills = wanted < MAX_KILLS ? (int)wanted : MAX_KILLS;
  char fresh[1024];
  int how = 0, halves = 0, at = 0;
  snprintf(fresh, sizeof fresh, "%s.new", file);
  training_plan(&t, &world, &config);
  image_size = t.image_size + sizeof num_updates;
  image = host_take(image_size);
  start_over();
  CHECK(rlcore_rng_seed(&rng, (uint64_t)(1e9 * host_seconds()))); /* other moments in every run */

  const double begin = host_seconds();
  update();
  save(file);
  const double once = host_seconds() - begin; /* of an update and a save */

  uint64_t last = 0;
  for (int k = 0; k < kills; k++) {
    double delay = 0;
    const pid_t pid = start(file, 0);
    CHECK(rlcore_rng_uniform(&rng, 0, 3 * once, &delay, 1));
    sleep_for(delay);
    if (kill(pid, SIGKILL) || waitpid(pid, &how, 0) != pid || !WIFSIGNALED(how)) host_fail("FAILED: it ended by itself");
    halves += access(fresh, F_OK) == 0; /* killed in the middle of a save */
    after[k] = look(file);
    if (after[k].num_updates < last) host_fail("FAILED: an older training than before");
    last = after[k].num_updates;
  }
  const pid_t pid = start(file, LAST_UPDATES);
  if (waitpid(pid, &how, 0) != pid || how != 0) host_fail("FAILED: the last process ended in another way");
  after[kills] = look(file);

  /* The same training without a break. */
  start_over();
  while (at <= kills) {
    update();
    for (const uint64_t hash = training_hash(&t); at <= kills && after[at].num_updates == num_updates; at++)
      if (after[at].hash != hash) host_fail("FAILED: after %llu updates it is another training", (unsigned long long)num_updates);
  }
  printf("%d kills, %d in the middle of a save; %llu updates in the end\n", kills, halves, (unsigned long long)after[kills].num_updates);
  if (kills >= 200 && halves == 0) host_fail("FAILED: no kill came in the middle of a save");
  puts("ok: killed again and again, every file whole, and all of them a training without a break");
}
