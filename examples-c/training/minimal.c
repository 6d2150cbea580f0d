#include <rlcore.h>
#include <stdio.h>
#define CHECK(call) do if (call) { char why[200]; rlcore_last_error(why, sizeof why); puts(why); return 1; } while (0)
static _Alignas(64) unsigned char game[1 << 10], learner[1 << 20], world[1 << 12]; /* save the last two and you saved the training */
static const rlcore_rows rows = {
    .struct_size = sizeof rows, .obs = (float[8][4]){{0}}, .action = (int32_t[8]){0}, .reward = (float[8]){0},
    .terminated = (uint8_t[8]){0}, .truncated = (uint8_t[8]){0}, .final_obs = (float[8][4]){{0}}};
int main(void) {
  rlcore_env *env; rlcore_space seen, taken; rlcore_vecenv_config many; rlcore_vecenv *envs; /* 8 CartPoles; yours are two C functions */
  CHECK(rlcore_env_builtin(game, sizeof game, RLCORE_ENV_CARTPOLE, &env)); CHECK(rlcore_env_spaces(env, &seen, &taken));
  CHECK(rlcore_vecenv_config_init(&many, sizeof many)); many.num_envs = 8;
  CHECK(rlcore_vecenv_init(world, sizeof world, env, &many, &envs));
  CHECK(rlcore_vecenv_reset(envs, env, NULL, rows.obs));
  rlcore_learner_config config; rlcore_learner *agent; rlcore_learner_stats stats = {.struct_size = sizeof stats};
  CHECK(rlcore_learner_config_init(&config, sizeof config, RLCORE_ALGORITHM_PPO)); config.num_envs = 8; config.learning_rate = 3e-3F;
  CHECK(rlcore_learner_init(learner, sizeof learner, &config, &seen, &taken, &agent));
  for (uint32_t phase; stats.return_mean < 475;) {
    CHECK(rlcore_learner_act(agent, &rows));
    CHECK(rlcore_vecenv_step(envs, env, &rows));
    CHECK(rlcore_learner_observe(agent, &rows));
    CHECK(rlcore_learner_phase(agent, &phase));
    if (phase == RLCORE_LEARNER_LEARN) CHECK(rlcore_learner_learn(agent, &rows, 0, &stats)); }
  printf("a return of 475 over 100 episodes after %llu steps\n", (unsigned long long)stats.num_steps);
}
