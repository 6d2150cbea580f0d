// Callbacks that throw, catch what they threw and return nonzero: the row is named as failed, the others are whole. So it is
// with errors of scripts, which are longjmps.
#include "rlcore.h"

#include <csetjmp>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr std::uint32_t N = 12, BAD = 7;
enum way : std::int32_t { GO, THROW, JUMP };

int failures;

void check(bool fine, int line) {
  if (fine) return;
  char why[256];
  rlcore_last_error(why, sizeof why);
  if (failures++ < 10) std::printf("line %d: last error: %s\n", line, why);
}
#define CHECK(condition) check(condition, __LINE__)

struct counter {
  std::uint64_t steps;
};

// Holds something that has to be destroyed.
void simulate(std::int32_t way) {
  const std::vector<std::string> held(3, "a string that is too long to lie within its own object");
  if (way == THROW) throw std::runtime_error(held[1]);
}

int guarded(std::int32_t way) noexcept {
  static thread_local std::jmp_buf here;
  if (way == JUMP) {
    if (setjmp(here) != 0) return 2;
    std::longjmp(here, 1);
  }
  try {
    simulate(way);
    return 0;
  } catch (const std::exception &) {
    return 1;
  }
}

bool reset_throws;

extern "C" std::int32_t on_reset(void *, void *state, rlcore_rng *, void *obs) {
  static_cast<counter *>(state)->steps = 0;
  *static_cast<float *>(obs) = 0;
  return guarded(reset_throws ? THROW : GO);
}

extern "C" std::int32_t on_step(void *, void *state, rlcore_rng *, const void *action, void *obs, rlcore_step *out) {
  auto &s = *static_cast<counter *>(state);
  s.steps++;
  *static_cast<float *>(obs) = static_cast<float>(s.steps);
  out->reward = 1;
  return guarded(*static_cast<const std::int32_t *>(action));
}

// Throws in what the library calls for a wrapper.
extern "C" std::int32_t on_observe(void *user, const void *obs, float *out) {
  *out = *static_cast<const float *>(obs);
  return guarded(*static_cast<const way *>(user));
}

struct world {
  rlcore_env_def env{};
  rlcore_vecenv_config config{};
  std::vector<std::uint64_t> mem;
  rlcore_vecenv *v = nullptr;
  float obs[N], final_obs[N], reward[N];
  std::uint8_t terminated[N], truncated[N], valid[N];

  explicit world(const rlcore_wrapper *wrapper = nullptr) {
    static const std::uint32_t choices[1] = {3};
    env.struct_size = sizeof env;
    env.env_id = 1000;
    env.state_size = sizeof(counter);
    env.reset = on_reset;
    env.step = on_step;
    env.obs.len = 1;
    env.action = {RLCORE_I32, 1, nullptr, nullptr, choices};
    env.wrappers = wrapper;
    env.num_wrappers = wrapper != nullptr;
    CHECK(rlcore_vecenv_config_init(&config, sizeof config) == RLCORE_OK);
    config.num_envs = N;
    std::size_t size = 0;
    CHECK(rlcore_vecenv_size(&env, &config, &size) == RLCORE_OK);
    mem.resize(size / 8);
    CHECK(rlcore_vecenv_init(mem.data(), size, &env, &config, &v) == RLCORE_OK);
    CHECK(rlcore_vecenv_reset(v, &env, nullptr, obs) == RLCORE_OK);
    mark();
  }
  void mark() {
    for (std::uint32_t i = 0; i < N; i++) obs[i] = reward[i] = -7, terminated[i] = truncated[i] = valid[i] = 9;
  }
  rlcore_vecenv_out out() {
    return {sizeof(rlcore_vecenv_out), 0, obs, reward, terminated, truncated, final_obs, valid};
  }
  bool whole(std::uint32_t i, float steps) const {
    return obs[i] == steps && reward[i] == 1 && terminated[i] == 0 && truncated[i] == 0 && valid[i] == 1;
  }
  bool untouched(std::uint32_t i) const { return obs[i] == -7 && reward[i] == -7 && terminated[i] == 9 && valid[i] == 9; }
};

bool names_row(std::uint32_t row) {
  char why[256], wanted[32];
  rlcore_last_error(why, sizeof why);
  std::snprintf(wanted, sizeof wanted, "environment %u", row);
  return std::strstr(why, wanted) != nullptr;
}

void a_step_that_throws(way how) {
  world w;
  const rlcore_vecenv_out out = w.out();
  std::int32_t action[N] = {};
  action[BAD] = how;
  CHECK(rlcore_vecenv_step(w.v, &w.env, action, &out) == RLCORE_E_CALLBACK && names_row(BAD));
  for (std::uint32_t i = 0; i < N; i++)
    if (i != BAD) CHECK(i < BAD ? w.whole(i, 1) : w.untouched(i));
  // It has to be reset, and then all of them go on.
  action[BAD] = GO;
  CHECK(rlcore_vecenv_step(w.v, &w.env, action, &out) == RLCORE_E_NOT_READY && names_row(BAD));
  CHECK(rlcore_vecenv_reset_one(w.v, &w.env, BAD, nullptr, w.obs) == RLCORE_OK);
  CHECK(rlcore_vecenv_step(w.v, &w.env, action, &out) == RLCORE_OK);
  for (std::uint32_t i = 0; i < N; i++) CHECK(w.whole(i, i < BAD ? 2 : 1));
}

void a_reset_that_throws() {
  world w;
  reset_throws = true;
  CHECK(rlcore_vecenv_reset_one(w.v, &w.env, BAD, nullptr, w.obs) == RLCORE_E_CALLBACK && names_row(BAD));
  CHECK(rlcore_vecenv_reset(w.v, &w.env, nullptr, w.obs) == RLCORE_E_CALLBACK && names_row(0));
  reset_throws = false;
  CHECK(rlcore_vecenv_reset(w.v, &w.env, nullptr, w.obs) == RLCORE_OK && w.obs[BAD] == 0);
}

// In a batch every other row is stepped.
void a_step_of_a_batch_that_throws(way how) {
  world w;
  const rlcore_vecenv_out out = w.out();
  rlcore_batch_config config;
  rlcore_batch *b = nullptr;
  std::size_t size = 0;
  std::uint32_t groups = 0;
  CHECK(rlcore_batch_config_init(&config, sizeof config) == RLCORE_OK);
  config.in_series = 3;
  CHECK(rlcore_batch_size(&w.env, &w.config, &config, &size) == RLCORE_OK);
  std::vector<std::uint64_t> mem(size / 8);
  CHECK(rlcore_batch_init(mem.data(), size, &w.env, &w.config, &config, &b) == RLCORE_OK);
  std::int32_t action[N] = {};
  action[BAD] = how;
  CHECK(rlcore_batch_step_async(b, w.v, &w.env, action) == RLCORE_OK);
  CHECK(rlcore_batch_run(b, w.v, &w.env, 0, UINT32_MAX, &groups) == RLCORE_OK && groups == N / 3);
  CHECK(rlcore_batch_step_wait(b, &out) == RLCORE_E_CALLBACK && names_row(BAD));
  std::uint8_t failed[N];
  CHECK(rlcore_batch_failed(b, failed) == RLCORE_OK);
  for (std::uint32_t i = 0; i < N; i++) CHECK(failed[i] == (i == BAD) && (i == BAD ? w.untouched(i) : w.whole(i, 1)));
}

void a_wrapper_that_throws() {
  static way how = GO;
  rlcore_wrapper wrapper{};
  wrapper.kind = RLCORE_WRAP_OBSERVE;
  wrapper.len = 1;
  wrapper.observe = on_observe;
  wrapper.user = &how;
  world w(&wrapper);
  const rlcore_vecenv_out out = w.out();
  const std::int32_t action[N] = {};
  CHECK(rlcore_vecenv_step(w.v, &w.env, action, &out) == RLCORE_OK);
  how = THROW;
  CHECK(rlcore_vecenv_step(w.v, &w.env, action, &out) == RLCORE_E_CALLBACK && names_row(0));
  for (std::uint32_t i = 1; i < N; i++) CHECK(w.whole(i, 1));
  how = GO;
}

} // namespace

int main() {
  for (const way how : {THROW, JUMP}) {
    a_step_that_throws(how);
    a_step_of_a_batch_that_throws(how);
  }
  a_reset_that_throws();
  a_wrapper_that_throws();
  std::printf("%d failures\n", failures);
  return failures != 0;
}
