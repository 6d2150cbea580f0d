/* Both replay memories, saved in the middle and resumed: `replay [FILE]`. Four carts balance their poles by a fixed
   rule with noise. A value function is learned from prioritized three-step transitions. The frames of the first cart
   also go into a memory balanced by reward, where a fall has reward -1: half of its sequences end with a fall. Halfway
   everything is written to a file and read back; the result equals that of an uninterrupted run. Finally the statistics
   of the draws are compared with the guarantees of the memories. */
#include "host.h"

#include <stdio.h>
#include <string.h>

enum { ENVS = 4, OBS = 4, ROWS = 1000, BATCH = 32, STEPS = 3000, BARS = 8, LOOKS = 2000, WINDOW = 8, GAME = 1 << 10 };

/* The whole state of a run: saving these bytes saves the run. */
static struct run {
  _Alignas(64) unsigned char world[1 << 12];
  _Alignas(64) unsigned char memory[1 << 19];
  _Alignas(64) unsigned char balanced[1 << 16];
  float obs[ENVS][OBS];
  float value[OBS];
  uint64_t episode; /* of the first cart */
  uint32_t step, falls;
} run, other;

static rlcore_env *env;
static rlcore_vecenv *envs;
static rlcore_replay *memory;
static rlcore_memory *balanced;
static rlcore_rng rng;

static void start(void) {
  memset(&run, 0, sizeof run);
  rlcore_vecenv_config many;
  CHECK(rlcore_vecenv_config_init(&many, sizeof many));
  many.num_envs = ENVS;
  CHECK(rlcore_vecenv_init(run.world, sizeof run.world, env, &many, &envs));
  CHECK(rlcore_vecenv_reset(envs, env, NULL, run.obs));

  const rlcore_column columns[] = {{"obs", RLCORE_F32, OBS, 0, 0}, {"action", RLCORE_I32, 1, 0, 0}};
  rlcore_replay_config config;
  CHECK(rlcore_replay_config_init(&config, sizeof config));
  config.num_envs = ENVS;
  config.num_rows = ROWS;
  config.columns = columns;
  config.num_columns = 2;
  config.num_steps = 3;
  size_t size;
  CHECK(rlcore_replay_size(&config, &size));
  if (size > sizeof run.memory) host_fail("the memory takes %zu bytes", size);
  CHECK(rlcore_replay_init(run.memory, sizeof run.memory, &config, &memory));

  rlcore_memory_config frames;
  CHECK(rlcore_memory_config_init(&frames, sizeof frames));
  frames.history_size = ROWS;
  frames.max_sample_size = WINDOW;
  frames.columns = columns;
  frames.num_columns = 1;
  CHECK(rlcore_memory_init(run.balanced, sizeof run.balanced, &frames, &balanced));
  CHECK(rlcore_rng_seed(&rng, 7));
}

/* One step of every cart; stores the observation before the action. */
static void act(void) {
  static float before[ENVS][OBS], final_obs[ENVS][OBS], reward[ENVS];
  static uint8_t terminated[ENVS], truncated[ENVS];
  int32_t action[ENVS];
  double noise[ENVS];
  memcpy(before, run.obs, sizeof before);
  CHECK(rlcore_rng_uniform(&rng, -1, 1, noise, ENVS));
  for (int i = 0; i < ENVS; i++) action[i] = before[i][2] + before[i][3] + (float)noise[i] > 0;
  const rlcore_rows rows = {.struct_size = sizeof rows, .obs = run.obs, .action = action, .reward = reward,
                            .terminated = terminated, .truncated = truncated, .final_obs = final_obs};
  CHECK(rlcore_vecenv_step(envs, env, &rows));
  const void *values[] = {before, action}, *last[] = {final_obs, NULL};
  CHECK(rlcore_replay_add_all(memory, values, reward, terminated, truncated, last));

  const rlcore_frame frame = {run.episode, run.step++, terminated[0] ? -1.0F : 0, terminated[0], truncated[0], {0}};
  CHECK(rlcore_memory_add(balanced, &frame, values, NULL, NULL));
  if (terminated[0] || truncated[0]) {
    run.episode++;
    run.step = 0;
  }
}

static float value_of(const float *obs) {
  float value = 0;
  for (int i = 0; i < OBS; i++) value += run.value[i] * obs[i] * obs[i];
  return value;
}

/* One batch: updates the value with importance-weighted errors; the errors become priorities. */
static void learn(float progress) {
  static rlcore_frame_index index[BATCH];
  static float obs[BATCH][OBS], next_obs[BATCH][OBS], reward[BATCH], discount[BATCH], weight[BATCH], error[BATCH];
  rlcore_replay_draw draw = {.struct_size = sizeof draw, .normalize = RLCORE_REPLAY_NORMALIZE_MEMORY};
  CHECK(rlcore_replay_linear(0.4F, 1, progress, &draw.beta));
  CHECK(rlcore_replay_sample(memory, &rng, &draw, BATCH, index, weight, NULL));
  CHECK(rlcore_replay_gather(memory, index, BATCH, 0, RLCORE_LAYOUT_HWC, RLCORE_F32, obs));
  CHECK(rlcore_replay_gather_next(memory, index, BATCH, 0, RLCORE_LAYOUT_HWC, RLCORE_F32, next_obs));
  CHECK(rlcore_replay_transitions(memory, index, BATCH, reward, discount, NULL, NULL));
  for (int i = 0; i < BATCH; i++) {
    const float delta = reward[i] + discount[i] * value_of(next_obs[i]) - value_of(obs[i]);
    for (int k = 0; k < OBS; k++) run.value[k] += 0.01F * weight[i] * delta * obs[i][k] * obs[i][k];
    error[i] = delta < 0 ? -delta : delta;
  }
  CHECK(rlcore_replay_update(memory, index, error, BATCH, NULL));

  rlcore_sample sample;
  CHECK(rlcore_memory_sample_priority(balanced, &rng, NULL, &sample, 1));
  run.falls += sample.priority;
}

static void go(int begin, int end) {
  for (int step = begin; step < end; step++) {
    act();
    if (step >= 100) learn((float)step / STEPS);
  }
  CHECK(rlcore_replay_store_rng(memory, &rng)); /* the stream is saved with the memory */
}

/* Histogram of draws by their probability, beside the share of such transitions in the memory. */
static void look(void) {
  static double share[BARS], drawn[BARS];
  rlcore_replay_stats stats = {.struct_size = sizeof stats};
  CHECK(rlcore_replay_get_stats(memory, &stats));
  printf("%llu transitions, weights from %.3f\n", (unsigned long long)stats.num_transitions, (double)stats.min_weight);
  static rlcore_frame_index index[ROWS];
  static float weight[ROWS], probability[ROWS];
  const rlcore_replay_draw draw = {.struct_size = sizeof draw, .normalize = RLCORE_REPLAY_NORMALIZE_NONE, .independent = 1};
  for (int i = 0; i < LOOKS; i++) {
    CHECK(rlcore_replay_sample(memory, &rng, &draw, ROWS, index, weight, probability));
    for (int k = 0; k < ROWS; k++) {
      int bar = 0;
      for (double size = 1.0 / 8; size < probability[k] * (double)stats.num_transitions && bar < BARS - 1; size *= 2) bar++;
      drawn[bar] += 1;
      share[bar] += 1 / (probability[k] * (double)stats.num_transitions); /* weight that corrects for the frequency of draws */
    }
  }
  double worst = 0;
  for (int bar = 0; bar < BARS; bar++) {
    if (drawn[bar] == 0) continue;
    const double total = (double)LOOKS * ROWS, often = drawn[bar] / total, there = share[bar] / total;
    printf("up to %5.3g times the mean: %5.1f %% of the memory, %5.1f %% of the draws ", (1 << bar) / 8.0, 100 * there, 100 * often);
    for (int i = 0; i < (int)(60 * often + 0.5); i++) putchar('#');
    putchar('\n');
    worst += there;
  }
  /* The importance weights of the draws add up to the whole memory. */
  printf(worst > 0.99 && worst < 1.01 ? "ok: draws follow priorities\n" : "FAILED: draws and priorities differ\n");
}

/* Half of the drawn sequences end with a fall, however rare falls are. */
static void look_at_falls(void) {
  static rlcore_sample samples[ROWS];
  uint32_t ordinary, falls, drawn = 0;
  CHECK(rlcore_memory_pool_len(balanced, &ordinary, &falls));
  CHECK(rlcore_memory_sample_priority(balanced, &rng, NULL, samples, ROWS));
  for (int i = 0; i < ROWS; i++) drawn += samples[i].priority;
  printf("falls: %4.1f %% of the frames, %4.1f %% of the draws\n", 100.0 * falls / (ordinary + falls), 100.0 * drawn / ROWS);
  puts(drawn > ROWS * 9 / 20 && drawn < ROWS * 11 / 20 ? "ok: rewards balance draws" : "FAILED: draws are out of balance");
}

int main(int argc, char **argv) {
  const char *const file = argc > 1 ? argv[1] : "out/replay.bin";
  CHECK(rlcore_env_builtin(host_take(GAME), GAME, RLCORE_ENV_CARTPOLE, &env));
  start();
  go(0, STEPS / 2);
  host_save(file, &run, sizeof run);
  memset(&run, 0xEE, sizeof run);
  memset(&rng, 0xEE, sizeof rng);
  if (host_read(file, &run, sizeof run) != sizeof run) host_fail("%s: too short", file);
  CHECK(rlcore_vecenv_attach(run.world, sizeof run.world, env, &envs));
  CHECK(rlcore_replay_attach(run.memory, sizeof run.memory, &memory));
  CHECK(rlcore_memory_attach(run.balanced, sizeof run.balanced, &balanced));
  CHECK(rlcore_replay_load_rng(memory, &rng));
  go(STEPS / 2, STEPS);
  memcpy(&other, &run, sizeof run);

  start();
  go(0, STEPS / 2);
  go(STEPS / 2, STEPS);
  if (memcmp(&run, &other, sizeof run) != 0) host_fail("FAILED: the resumed run differs");
  printf("hashes %016llx and %016llx\n", (unsigned long long)host_hash(&run, sizeof run), (unsigned long long)host_hash(&other, sizeof other));
  puts("ok: saved half-way, read back and gone on: equal to never having stopped");
  look();
  look_at_falls();
}
