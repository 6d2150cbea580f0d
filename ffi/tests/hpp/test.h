/* Shared by the tests of rlcore.hpp: checks that count failures, and two environments. */
#ifndef HPP_TEST_H
#define HPP_TEST_H

#include "rlcore.hpp"

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string>

inline int failures;

#define CHECK(condition) ((condition) ? (void)0 : (void)(std::printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, rlcore::last_error().c_str()), failures++))
#define IS(call, wanted) CHECK(is([&]() -> rlcore::status { return (call); }, wanted))

/* Whether a call has this status and, if that is a failure, last_error() describes this failure and not an earlier one. */
template <class Call>
bool is(Call &&call, rlcore::status wanted) {
  static const std::string earlier = "an earlier failure";
  (void)rlcore_last_error_write(RLCORE_E_INEXACT, earlier.c_str(), earlier.size());
  if (call() != wanted) return false;
  const std::string said = rlcore::last_error().c_str(), begins = std::string(wanted.name()) + ": ";
  return wanted.ok() || (said.compare(0, begins.size(), begins) == 0 && said.size() > begins.size() + 4 && said != begins + earlier);
}

/* Attaches a policy of any spaces. */
inline rlcore_status attach_any(const void *mem, std::size_t size, const rlcore_policy **out) {
  return rlcore_policy_attach(mem, size, nullptr, nullptr, out);
}

/* Continuous actions with bounds; a reset that may fail. */
struct slide {
  static constexpr std::uint32_t env_id = 1100, obs_len = 2, action_len = 2, max_episode_steps = 5;
  static constexpr float action_low[] = {-1, -2}, action_high[] = {1, 2};
  float x;
  std::uint8_t resets; /* makes the size no multiple of 8 */

  bool reset(rlcore_rng &, rlcore::span<float> obs) {
    x = 0;
    obs[0] = obs[1] = x;
    return ++resets < 3;
  }
  void step(rlcore_rng &, rlcore::span<const float> action, rlcore::span<float> obs, rlcore_step &out) {
    x += action[0] + action[1];
    obs[0] = obs[1] = x;
    out.reward = x;
  }
};

/* Byte observations, two actions with a mask, a picture, and lives. */
struct screen {
  using obs_type = std::uint8_t;
  static constexpr std::uint32_t env_id = 1101, obs_len = 4;
  static constexpr std::uint32_t choices[] = {2, 3};
  std::uint64_t steps;

  void reset(rlcore_rng &, rlcore::span<std::uint8_t> obs) { draw(obs); }
  void restart(rlcore_rng &, std::uint32_t level, rlcore::span<std::uint8_t> obs) {
    draw(obs);
    obs[0] = static_cast<std::uint8_t>(100 + level);
  }
  bool step(rlcore_rng &, rlcore::span<const std::int32_t> action, rlcore::span<std::uint8_t> obs, rlcore_step &out) {
    if (action.size() != 2) return false;
    steps++;
    out.reward = static_cast<float>(action[0] * 10 + action[1]);
    out.terminated = steps % 4 == 0;
    draw(obs);
    return action[1] != 2;
  }
  std::uint32_t lives() const { return static_cast<std::uint32_t>(steps); }
  void action_mask(rlcore::span<std::uint8_t> mask) const {
    for (std::size_t i = 0; i < mask.size(); i++) mask[i] = i != 4;
  }
  bool render(std::uint32_t width, std::uint32_t height, rlcore::span<std::uint8_t> rgb) const {
    for (std::uint8_t &byte : rgb) byte = 7;
    return rgb.size() == std::size_t{3} * width * height;
  }

 private:
  void draw(rlcore::span<std::uint8_t> obs) const {
    for (std::uint8_t &byte : obs) byte = static_cast<std::uint8_t>(steps);
  }
};

/* `num_envs` environments of a definition, or of a class. */
template <class Obs, class Action>
rlcore::vecenv<Obs, Action> make(const rlcore::environment &env, std::uint32_t num_envs) {
  rlcore_vecenv_config config = rlcore::vecenv_config();
  config.num_envs = num_envs;
  config.seed = 7;
  auto envs = rlcore::vecenv<Obs, Action>::make(env, config);
  IS(envs.why(), RLCORE_OK);
  return *std::move(envs);
}
template <class E>
rlcore::vecenv_of<E> make(std::uint32_t num_envs) {
  return make<rlcore::obs_type<E>, rlcore::action_type<E>>(rlcore::env_of<E>(), num_envs);
}

/* The themes, one file each. */
void views();
void environments();
void pools();
void learners();
void learners_handed_over();
void failures_are_described();
void every_class();

#endif
