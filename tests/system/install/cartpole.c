/* Eight CartPoles for a thousand steps under a fixed rule, from an installed rlcore: the numbers have to be the same on every
   machine, in every language and with both kinds of linking. */
#include <rlcore.h>
#include <stdio.h>

#define CHECK(call) \
  do { \
    if ((call) != RLCORE_OK) { \
      char why[256]; \
      rlcore_last_error(why, sizeof why); \
      puts(why); \
      return 1; \
    } \
  } while (0)

enum { N = 8, STEPS = 1000 };

int main(void) {
  static _Alignas(64) unsigned char block[1 << 12], game[1 << 10];
  static float obs[N][4], final_obs[N][4], reward[N];
  static uint8_t terminated[N], truncated[N];
  int32_t action[N];
  rlcore_env *env;
  rlcore_vecenv_config config;
  rlcore_vecenv *envs;
  size_t size;
  uint64_t hash;
  unsigned episodes = 0;

  if (rlcore_abi_version() != RLCORE_ABI_VERSION) return puts("another ABI than the header's"), 1;
  if (rlcore_version() != (RLCORE_VERSION_MAJOR << 16 | RLCORE_VERSION_MINOR << 8 | RLCORE_VERSION_PATCH))
    return puts("another version than the header's"), 1;

  CHECK(rlcore_env_builtin(game, sizeof game, RLCORE_ENV_CARTPOLE, &env));
  CHECK(rlcore_vecenv_config_init(&config, sizeof config));
  config.num_envs = N;
  config.seed = 1;
  CHECK(rlcore_vecenv_size(env, &config, &size));
  CHECK(rlcore_vecenv_init(block, sizeof block, env, &config, &envs));
  CHECK(rlcore_vecenv_reset(envs, env, NULL, obs));
  const rlcore_rows rows = {.struct_size = sizeof rows, .obs = obs, .action = action, .reward = reward,
                            .terminated = terminated, .truncated = truncated, .final_obs = final_obs};
  for (int t = 0; t < STEPS; t++) {
    for (int i = 0; i < N; i++) action[i] = obs[i][2] > 0;
    CHECK(rlcore_vecenv_step(envs, env, &rows));
    for (int i = 0; i < N; i++) episodes += terminated[i] || truncated[i];
  }
  CHECK(rlcore_hash(block, size, &hash));
  printf("cartpole: %u episodes, %016llx\n", episodes, (unsigned long long)hash);
  return 0;
}
