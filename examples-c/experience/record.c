/* A rollout of PPO as a file that other programs read: `record [FILE]`. A learner plays eight carts; the host keeps the
   observations, actions and rewards, and the learner adds the log-probabilities and values that it acted with. The file,
   in safetensors format, is written, read back, and compared with the learner: log-probabilities, values, and the
   advantages computed from the file alone. Python reads it with `safetensors.numpy.load_file`. */
#include "host.h"

#include <stdio.h>
#include <string.h>

enum { N = 8, T = 128, ROWS = T * N, OBS = 4, UPDATES = 4, LONGEST = 60, SEED = 7, GAME = 1 << 10 };

/* A rollout: the arrays of the file. Row t * N + i is step t of cart i. */
typedef struct rollout {
  float obs[ROWS + N][OBS], log_prob[ROWS], value[ROWS], bootstrap_value[N], reward[ROWS];
  float final_obs[ROWS][OBS], final_value[ROWS];
  int32_t action[ROWS];
  uint8_t terminated[ROWS], truncated[ROWS], valid[ROWS];
  uint64_t final_index[ROWS];
} rollout;

static rlcore_rollout_arrays arrays_of(rollout *r) {
  return (rlcore_rollout_arrays){
      .struct_size = sizeof(rlcore_rollout_arrays), .obs = r->obs, .action = r->action, .log_prob = r->log_prob,
      .value = r->value, .bootstrap_value = r->bootstrap_value, .reward = r->reward, .terminated = r->terminated,
      .truncated = r->truncated, .valid = r->valid, .final_index = r->final_index, .final_obs = r->final_obs,
      .final_value = r->final_value,
  };
}

/* One rollout of the learner's policy. Returns the number of episodes that ended in it; each has a final observation. */
static uint32_t play(rlcore_learner *agent, rlcore_vecenv *carts, const rlcore_env *env, rollout *r) {
  static float final_obs[N][OBS];
  uint32_t num_finals = 0;
  for (int row = 0; row < ROWS; row += N) {
    rlcore_rows step = {.struct_size = sizeof step, .obs = r->obs[row], .action = r->action + row, .reward = r->reward + row,
                        .terminated = r->terminated + row, .truncated = r->truncated + row, .final_obs = final_obs};
    CHECK(rlcore_learner_act(agent, &step));
    step.obs = r->obs[row + N]; /* each step writes to its own rows */
    CHECK(rlcore_vecenv_step(carts, env, &step));
    CHECK(rlcore_learner_observe(agent, &step));
    for (int i = 0; i < N; i++) {
      r->valid[row + i] = 1;
      if (!step.terminated[i] && !step.truncated[i]) continue;
      r->final_index[num_finals] = (uint64_t)(row + i);
      memcpy(r->final_obs[num_finals++], final_obs[i], sizeof final_obs[i]);
    }
  }
  return num_finals;
}

/* The learner's values of any number of observations, N at a time. */
static void values(rlcore_learner *agent, float (*obs)[OBS], uint32_t count, float *value) {
  for (uint32_t row = 0; row < count; row += N) {
    const uint32_t rows = count - row < N ? count - row : N;
    float some[N][OBS] = {{0}}, got[N];
    memcpy(some, obs + row, rows * sizeof *some);
    const rlcore_rows now = {.struct_size = sizeof now, .obs = some};
    CHECK(rlcore_learner_value(agent, &now, got));
    memcpy(value + row, got, rows * sizeof *value);
  }
}

static void same(const void *file, const void *learner, size_t size, const char *what) {
  if (memcmp(file, learner, size) != 0) host_fail("FAILED: %s in the file and those of the learner differ", what);
}

int main(int argc, char **argv) {
  const char *const path = argc > 1 ? argv[1] : "out/rollout.safetensors";
  static rollout here, back;
  rlcore_env *env;
  rlcore_space obs_space, action_space;
  rlcore_vecenv_config many;
  rlcore_vecenv *carts;
  size_t size;
  CHECK(rlcore_env_builtin(host_take(GAME), GAME, RLCORE_ENV_CARTPOLE, &env));
  CHECK(rlcore_env_spaces(env, &obs_space, &action_space));
  CHECK(rlcore_vecenv_config_init(&many, sizeof many));
  many.num_envs = N, many.seed = SEED, many.max_episode_steps = LONGEST; /* so that some episodes are truncated */
  CHECK(rlcore_vecenv_size(env, &many, &size));
  CHECK(rlcore_vecenv_init(host_take(size), size, env, &many, &carts));
  rlcore_learner_config config;
  rlcore_learner *agent;
  rlcore_learner_stats stats = {.struct_size = sizeof stats};
  CHECK(rlcore_learner_config_init(&config, sizeof config, RLCORE_ALGORITHM_PPO));
  config.num_envs = N, config.num_steps = T, config.learning_rate = 3e-3F;
  CHECK(rlcore_learner_size(&config, &obs_space, &action_space, &size));
  CHECK(rlcore_learner_init(host_take(size), size, &config, &obs_space, &action_space, &agent));

  /* Train a little before the recorded rollout. */
  CHECK(rlcore_vecenv_reset(carts, env, NULL, back.obs));
  for (int i = 0; i < UPDATES; i++) {
    play(agent, carts, env, &back);
    const rlcore_rows last = {.struct_size = sizeof last, .obs = back.obs + ROWS};
    CHECK(rlcore_learner_learn(agent, &last, 0, &stats));
    memcpy(back.obs, back.obs + ROWS, N * sizeof *back.obs);
  }
  memcpy(here.obs, back.obs, N * sizeof *back.obs);
  memset(&back, 0, sizeof back);
  rlcore_rollout_file file = {
      .struct_size = sizeof file, .num_steps = T, .num_envs = N, .obs_kind = RLCORE_F32, .obs_rank = 1,
      .obs_dims = {OBS, 1, 1, 1}, .action_kind = RLCORE_I32, .action_len = 1, .seed = SEED,
      .policy_version = stats.num_updates, .global_step = stats.num_steps, .num_episodes = stats.num_episodes,
  };
  file.num_finals = play(agent, carts, env, &here);

  /* The learner lists its transitions in the order of acting: step by step, if all environments act in each step. */
  static float seen[ROWS][OBS], advantage[ROWS], value_target[ROWS];
  static int32_t taken[ROWS];
  const rlcore_rows last = {.struct_size = sizeof last, .obs = here.obs + ROWS};
  const rlcore_learner_batch batch = {.struct_size = sizeof batch, .obs = seen[0], .action = taken, .log_prob = here.log_prob,
                                      .value = here.value, .advantage = advantage, .value_target = value_target};
  CHECK(rlcore_learner_learn_begin(agent, &last, &stats));
  CHECK(rlcore_learner_batch_read(agent, &batch));
  values(agent, here.obs + ROWS, N, here.bootstrap_value);
  values(agent, here.final_obs, file.num_finals, here.final_value);

  const rlcore_rollout_arrays from = arrays_of(&here), to = arrays_of(&back);
  CHECK(rlcore_rollout_file_size(&file, &size));
  uint8_t *const bytes = host_take(size);
  CHECK(rlcore_rollout_file_write(&file, &from, bytes, size));
  host_save(path, bytes, size);

  /* A reader gets the shapes from the file first; here they must equal the written ones. */
  memset(bytes, 0xEE, size);
  if (host_read(path, bytes, size) != size) host_fail("%s: too short", path);
  rlcore_rollout_file found = {.struct_size = sizeof found};
  CHECK(rlcore_rollout_file_check(bytes, size, &found));
  if (memcmp(&found, &file, sizeof file) != 0) host_fail("FAILED: the shapes in the file differ");
  CHECK(rlcore_rollout_file_read(bytes, size, &to));
  if (memcmp(&here, &back, sizeof here) != 0) host_fail("FAILED: the rollout in the file differs");

  /* The learner's own log-probabilities and values of the transitions in the file. */
  static float log_prob[ROWS], value[ROWS], entropy[N];
  for (int row = 0; row < ROWS; row += N) {
    const rlcore_rows step = {.struct_size = sizeof step, .obs = back.obs[row], .action = back.action + row};
    CHECK(rlcore_learner_log_prob(agent, &step, log_prob + row, entropy));
  }
  values(agent, back.obs, ROWS, value);
  same(back.obs, seen, sizeof seen, "observations");
  same(back.action, taken, sizeof taken, "actions");
  same(back.log_prob, log_prob, sizeof log_prob, "log-probabilities");
  same(back.value, value, sizeof value, "values");

  /* And advantages, computed from the file alone. */
  static float final_value[ROWS], file_advantage[ROWS], file_target[ROWS];
  for (uint32_t i = 0; i < found.num_finals; i++) final_value[back.final_index[i]] = back.final_value[i];
  const rlcore_rollout gae = {
      .struct_size = sizeof gae, .num_steps = found.num_steps, .num_envs = found.num_envs, .reward = back.reward,
      .value = back.value, .bootstrap_value = back.bootstrap_value, .terminated = back.terminated,
      .truncated = back.truncated, .final_value = final_value,
  };
  CHECK(rlcore_gae(&gae, config.discount, config.gae_lambda, file_advantage, file_target));
  same(file_advantage, advantage, sizeof advantage, "advantages");
  same(file_target, value_target, sizeof value_target, "value targets");
  CHECK(rlcore_learner_learn_drop(agent)); /* a reader of the file may learn from it instead */

  double log_probs = 0, targets = 0;
  uint32_t num_cut = 0;
  for (int row = 0; row < ROWS; row++) {
    log_probs += (double)back.log_prob[row], targets += (double)file_target[row];
    num_cut += back.truncated[row] && !back.terminated[row];
  }
  if (num_cut == 0 || num_cut == found.num_finals) host_fail("FAILED: episodes must both terminate and be truncated");
  printf("%zu bytes: %u steps of %u carts, %u episodes ended, %u of them truncated\n", size, (unsigned)found.num_steps,
         (unsigned)found.num_envs, (unsigned)found.num_finals, (unsigned)num_cut);
  printf("mean log-probability %.6f, mean value target %.6f\n", log_probs / ROWS, targets / ROWS);
  puts("ok: log-probabilities, values and advantages of the file are the learner's, bit for bit");
}
