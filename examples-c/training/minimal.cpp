/* minimal.c in C++: the same training, and the same line at its end. */
#include <rlcore.hpp>
#include <cstdio>

int main() {
  const rlcore::environment cartpole(rlcore::env_builtin(RLCORE_ENV_CARTPOLE)); /* or rlcore::env_of<yours>(), a class */
  rlcore_vecenv_config many = rlcore::vecenv_config();
  rlcore_learner_config config = rlcore::learner_config(RLCORE_ALGORITHM_PPO);
  many.num_envs = config.num_envs = 8;
  config.learning_rate = 3e-3F;
  auto envs = must(rlcore::vecenv<>::make(cartpole, many)); /* save bytes() of both and you saved the training */
  auto agent = must(rlcore::learner<>::make(config, cartpole));
  must(envs.reset());
  while (!(agent.stats().return_mean >= 475)) { /* NaN before the first episode */
    must(agent.act(envs));
    must(envs.step(agent.action()));
    must(agent.observe(envs));
    if (must(agent.due()) == RLCORE_LEARNER_LEARN) must(agent.learn(envs));
  }
  std::printf("a return of 475 over 100 episodes after %llu steps\n", static_cast<unsigned long long>(agent.stats().num_steps));
}
