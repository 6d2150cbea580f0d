/* "Send me the file": a training writes what goes into its learner to a file, and another process plays the file back.
   `replay_recording FILE` runs itself twice: `replay_recording FILE train` trains eight carts and records; `replay_recording
   FILE replay` plays the file back, as the developer does to whom a user has sent it, on any machine. Then the learners at
   both ends are compared. The buffer for entries is smaller than the recording, so the file is written in pieces. */
#include "host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 8, OBS = 4, UPDATES = WHOLE_OR_BRIEF(4, 1), BUFFER = 1 << 18 };

static rlcore_learner *agent;
static FILE *file;

/* ---- Record: after each call on the learner, its entry ---- */

static _Alignas(8) uint8_t buffer[BUFFER];
static size_t used;

static void flush(void) {
  if (fwrite(buffer, 1, used, file) != used) host_fail("the recording cannot be written");
  used = 0;
}

static void record(rlcore_recorded_call call) {
  size_t size;
  call.struct_size = sizeof call;
  call.hash = call.call == RLCORE_RECORDED_LEARN; /* of all bytes of the learner, after each update */
  CHECK(rlcore_record_call(agent, &call, NULL, 0, &size));
  if (size > sizeof buffer - used) flush();
  CHECK(rlcore_record_call(agent, &call, buffer + used, sizeof buffer - used, &size));
  used += size;
}

static void train(const char *path) {
  static _Alignas(64) unsigned char game[1 << 10], world[1 << 12], block[1 << 18];
  static float obs[N][OBS], final_obs[N][OBS], reward[N];
  static int32_t action[N];
  static uint8_t terminated[N], truncated[N];
  const rlcore_rows rows = {.struct_size = sizeof rows, .obs = obs, .action = action, .reward = reward,
                            .terminated = terminated, .truncated = truncated, .final_obs = final_obs};
  rlcore_env *env;
  rlcore_space seen, taken;
  rlcore_vecenv_config many;
  rlcore_vecenv *envs;
  rlcore_learner_config config;
  rlcore_learner_stats stats = {.struct_size = sizeof stats};
  CHECK(rlcore_env_builtin(game, sizeof game, RLCORE_ENV_CARTPOLE, &env));
  CHECK(rlcore_env_spaces(env, &seen, &taken));
  CHECK(rlcore_vecenv_config_init(&many, sizeof many));
  many.num_envs = N;
  CHECK(rlcore_vecenv_init(world, sizeof world, env, &many, &envs));
  CHECK(rlcore_vecenv_reset(envs, env, NULL, obs));
  CHECK(rlcore_learner_config_init(&config, sizeof config, RLCORE_ALGORITHM_PPO));
  config.num_envs = N, config.num_steps = 64, config.num_epochs = 2;
  config.hidden_len[0] = config.hidden_len[1] = 16;
  CHECK(rlcore_learner_init(block, sizeof block, &config, &seen, &taken, &agent));

  file = fopen(path, "wb");
  if (file == NULL) host_fail("%s cannot be written", path);
  CHECK(rlcore_record_begin(agent, buffer, sizeof buffer, &used));
  while (stats.num_updates < UPDATES) {
    uint32_t due;
    int32_t status = rlcore_learner_act(agent, &rows);
    record((rlcore_recorded_call){.call = RLCORE_RECORDED_ACT, .status = status, .rows = &rows});
    CHECK(status);
    CHECK(rlcore_vecenv_step(envs, env, &rows));
    status = rlcore_learner_observe(agent, &rows);
    record((rlcore_recorded_call){.call = RLCORE_RECORDED_OBSERVE, .status = status, .rows = &rows});
    CHECK(status);
    CHECK(rlcore_learner_phase(agent, &due));
    if (due != RLCORE_LEARNER_LEARN) continue;
    status = rlcore_learner_learn(agent, &rows, 0, &stats);
    record((rlcore_recorded_call){.call = RLCORE_RECORDED_LEARN, .status = status, .rows = &rows, .number = 0});
    CHECK(status);
  }
  flush();
  if (fclose(file) != 0) host_fail("%s cannot be written", path);
}

/* ---- Play back: neither environments nor the program that trained are needed ---- */

static void replay(const char *path) {
  const size_t most = (size_t)1 << 24;
  uint8_t *const bytes = host_take(most);
  const size_t size = host_read(path, bytes, most);
  rlcore_record_info info = {.struct_size = sizeof info};
  rlcore_record_entry entry = {.struct_size = sizeof entry};
  int32_t action[N];
  size_t offset;
  CHECK(rlcore_record_check(bytes, size, &info)); /* info.size: an entry that the end of the process cut off is left out */
  CHECK(rlcore_record_attach(bytes, size, host_take((size_t)info.learner_size), (size_t)info.learner_size, &agent, &offset));
  uint64_t learned = 0;
  while (offset < info.size) {
    CHECK(rlcore_record_next(bytes, size, &offset, agent, action, &entry)); /* fails at the first call that ends otherwise */
    if (entry.call == RLCORE_RECORDED_LEARN) learned++;
  }
  printf("%llu calls played back, %llu updates among them\n", (unsigned long long)info.num_calls, (unsigned long long)learned);
  printf("the learner ends with hash %016llx, as it did when it was recorded\n", (unsigned long long)entry.hash);

  /* A flipped bit is found before anything is played back. */
  bytes[size / 2] ^= 1;
  if (rlcore_record_check(bytes, size, &info) != RLCORE_E_IMAGE) host_fail("FAILED: a damaged recording is accepted");
}

int main(int argc, char **argv) {
  const char *const path = argc > 1 ? argv[1] : "out/training.rec";
  const char *const part = argc > 2 ? argv[2] : "";
  if (strcmp(part, "train") == 0) return train(path), 0;
  if (strcmp(part, "replay") == 0) return replay(path), 0;
  static const char *const parts[] = {"train", "replay"};
  for (int i = 0; i < 2; i++) {
    char command[1024];
    snprintf(command, sizeof command, "\"%s\" \"%s\" %s", argv[0], path, parts[i]);
    if (system(command) != 0) host_fail("FAILED: %s", command);
  }
  printf("ok: trained in one process, played back in another: every call ended alike\n");
}
