/* PPO on the first probe environment, in which every episode is one step with reward 1, from an installed rlcore.hpp: the value
   network has to learn the value 1. */
#include <rlcore.hpp>

#include <cmath>
#include <cstdio>

static bool failed(rlcore::status status) {
  if (status) return false;
  std::printf("%s: %s\n", status.name(), rlcore::last_error().text);
  return true;
}

int main() {
  const rlcore::environment env = rlcore::env_builtin(RLCORE_ENV_PROBE1);

  rlcore_vecenv_config many = rlcore::vecenv_config();
  many.num_envs = 8;
  auto envs = rlcore::vecenv<>::make(env, many);
  if (!envs) return failed(envs.why());
  if (failed(envs->reset(1))) return 1;

  rlcore_learner_config config = rlcore::learner_config();
  config.num_envs = many.num_envs;
  config.num_steps = 32;
  config.learning_rate = 3e-3F;
  auto agent = rlcore::learner<>::make(config, env);
  if (!agent) return failed(agent.why());
  while (agent->stats().num_updates < 20)
    if (failed(agent->train_step(*envs))) return 1;

  const float value = agent->stats().value_mean;
  std::printf("probe: a value of %.3f after %u steps\n", double(value), unsigned(agent->stats().num_steps));
  return std::fabs(value - 1) < 0.05F ? 0 : 1;
}
