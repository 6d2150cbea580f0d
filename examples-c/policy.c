/* What a game ships: the exported policy, in a static block, and nothing of the learner. `policy [FILE]` */
#include <rlcore.h>
#include <stdio.h>

#define CHECK(call)                                \
  do {                                             \
    if ((call) != RLCORE_OK) {                     \
      char why[200];                               \
      rlcore_last_error(why, sizeof why);          \
      fprintf(stderr, "%s\n  %s\n", #call, why);   \
      return 1;                                    \
    }                                              \
  } while (0)

static _Alignas(64) unsigned char brain[64 << 10]; /* shared by all characters, never written after loading */
static _Alignas(64) unsigned char world[4 << 10];
static float scratch[4 << 10];

int main(int argc, char **argv) {
  const char *const name = argc > 1 ? argv[1] : "out/policy.bin";
  FILE *const file = fopen(name, "rb");
  if (!file) return fprintf(stderr, "no %s: run `make run` first\n", name), 1;
  const size_t size = fread(brain, 1, sizeof brain, file);
  fclose(file);

  const rlcore_policy *policy;
  size_t scratch_len = 0;
  CHECK(rlcore_policy_attach(brain, size, &policy));
  CHECK(rlcore_policy_scratch_len(policy, 1, &scratch_len));
  if (scratch_len > sizeof scratch / sizeof *scratch) return fprintf(stderr, "scratch: %zu floats needed\n", scratch_len), 1;

  rlcore_env_def env;
  rlcore_vecenv_config config;
  rlcore_vecenv *envs;
  CHECK(rlcore_env_builtin(RLCORE_ENV_CARTPOLE, &env, sizeof env));
  CHECK(rlcore_vecenv_config_init(&config, sizeof config));
  config.num_envs = 1;
  config.seed = 7;
  CHECK(rlcore_vecenv_init(world, sizeof world, &env, &config, &envs));

  const rlcore_sampling greedy = {.method = RLCORE_SAMPLING_GREEDY};
  float obs[4], final_obs[4], reward, sum = 0;
  int32_t action;
  uint8_t terminated = 0, truncated = 0;
  const rlcore_vecenv_out out = {.struct_size = sizeof out, .obs = obs, .reward = &reward, .terminated = &terminated, .truncated = &truncated, .final_obs = final_obs};
  CHECK(rlcore_vecenv_reset(envs, &env, NULL, obs));
  while (!terminated && !truncated) {
    CHECK(rlcore_policy_act(policy, 1, obs, NULL, &greedy, NULL, scratch, scratch_len, &action));
    CHECK(rlcore_vecenv_step(envs, &env, &action, &out));
    sum += reward;
  }
  printf("a policy of %zu bytes, %zu floats of scratch: return %.0f\n", size, scratch_len, (double)sum);
  if (sum < 475) return printf("FAILED: at least 475 expected\n"), 1;
  printf("ok: one CartPole episode with the shipped policy\n");
  return 0;
}
