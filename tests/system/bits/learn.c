/* Training: a few updates in slices, the whole learner, and the policy that comes out of it. */
#include "stages.h"

enum { N = 4, MAX_LEN = 4 };

/* Actions are integers or floats, both of four bytes. */
static rlcore_status train(hashes *h, uint32_t env_id, rlcore_learner_config *config, int num_updates) {
  static uint64_t world[1024], learner[1 << 15], game[1 << 12];
  static float obs[N * MAX_LEN], final_obs[N * MAX_LEN], reward[N], scratch[1 << 12];
  static uint8_t terminated[N], truncated[N], mask[N * 2];
  static int32_t action[N];
  const rlcore_vecenv_out out = {
      .struct_size = sizeof out, .obs = obs, .reward = reward, .terminated = terminated, .truncated = truncated,
      .final_obs = final_obs,
  };
  const rlcore_sampling greedy = {.method = RLCORE_SAMPLING_GREEDY};
  rlcore_env_def env;
  rlcore_vecenv_config many;
  rlcore_vecenv *envs;
  rlcore_learner *agent;
  rlcore_space shown, taken;
  rlcore_policy *policy;
  rlcore_learner_stats stats = {.struct_size = sizeof stats};
  rlcore_rng rng;
  size_t size, scratch_len;
  uint32_t phase;

  TRY(rlcore_env_builtin(env_id, &env, sizeof env));
  CHECK(env.obs.len <= MAX_LEN && env.action.len == 1);
  TRY(rlcore_vecenv_config_init(&many, sizeof many));
  many.num_envs = config->num_envs = N;
  many.seed = 3;
  TRY(rlcore_vecenv_init(world, sizeof world, &env, &many, &envs));
  TRY(rlcore_vecenv_reset(envs, &env, NULL, obs));
  TRY(rlcore_learner_init(learner, sizeof learner, config, &env.obs, &env.action, &agent));
  TRY(rlcore_vecenv_num_envs(envs, &phase));
  CHECK(phase == N);
  TRY(rlcore_learner_spaces(agent, &phase, &shown, &taken));
  CHECK(phase == N && shown.len == env.obs.len && taken.kind == env.action.kind && taken.len == env.action.len);
  while (num_updates > 0) {
    TRY(rlcore_learner_act(agent, obs, NULL, action));
    TRY(rlcore_vecenv_step(envs, &env, action, &out));
    TRY(rlcore_learner_observe(agent, reward, terminated, truncated, final_obs));
    TRY(rlcore_learner_phase(agent, &phase));
    if (phase != RLCORE_LEARNER_LEARN) continue;
    do TRY(rlcore_learner_learn(agent, obs, 3, &stats));
    while (stats.minibatches_left > 0);
    num_updates--;
    const float numbers[] = {
        stats.learning_rate, stats.policy_loss, stats.value_loss, stats.entropy, stats.approx_kl, stats.clip_fraction,
        stats.explained_variance, stats.grad_norm, stats.value_mean,
    };
    MIX(h, numbers);
    TRY(rlcore_learner_predict(agent, obs, NULL, num_updates % 2 ? &greedy : NULL, action));
    MIX(h, action);
    TRY(rlcore_learner_freeze(agent, num_updates % 3 == 1));
  }
  mix_u64(h, stats.num_episodes);
  TRY(rlcore_learner_size(config, &env.obs, &env.action, &size));
  mix_block(h, learner, size);

  TRY(rlcore_policy_size(agent, &size));
  TRY(rlcore_policy_export(agent, game, sizeof game, &policy));
  mix_block(h, game, size);
  TRY(rlcore_policy_scratch_len(policy, N, &scratch_len));
  CHECK(scratch_len <= LEN(scratch));
  TRY(rlcore_rng_seed(&rng, 10));
  const uint8_t *allowed = env.action.kind == RLCORE_I32 ? mask : NULL;
  for (uint32_t t = 0; t < 50; t++) {
    for (uint32_t i = 0; i < N; i++) mask[2 * i] = 1, mask[2 * i + 1] = (t + i) % 9 != 0;
    TRY(rlcore_policy_act(policy, N, obs, allowed, t % 5 ? NULL : &greedy, &rng, scratch, LEN(scratch), action));
    MIX(h, action);
    TRY(rlcore_vecenv_step(envs, &env, action, &out));
    MIX_SOME(h, obs, N * env.obs.len);
  }
  TRY(rlcore_policy_act_greedy(policy, N, obs, allowed, scratch, LEN(scratch), action));
  MIX(h, action);
  return RLCORE_OK;
}

static rlcore_status learner_discrete(hashes *h) {
  rlcore_learner_config config;
  TRY(rlcore_learner_config_init(&config, sizeof config));
  config.num_steps = 64;
  config.hidden_len[0] = config.hidden_len[1] = 24;
  config.total_steps = 10000;
  config.learning_rate = 2e-3f;
  return train(h, RLCORE_ENV_CARTPOLE, &config, 5);
}

static rlcore_status learner_continuous(hashes *h) {
  rlcore_learner_config config;
  TRY(rlcore_learner_config_init(&config, sizeof config));
  config.num_steps = 70;
  config.num_hidden = 1;
  config.hidden_len[0] = 21;
  config.hidden_len[1] = 0;
  config.activation = RLCORE_ACTIVATION_RELU;
  config.normalize_obs = config.normalize_reward = config.squash = 1;
  config.value_clip = 0.2f;
  config.target_kl = 0.05f;
  return train(h, RLCORE_ENV_PENDULUM, &config, 5);
}

const stage LEARN_STAGES[] = {
    {"learner_discrete", learner_discrete},
    {"learner_continuous", learner_continuous},
    {NULL, NULL},
};
