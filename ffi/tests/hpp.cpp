/* What rlcore.hpp promises beyond the C interface: views, ownership, environments from a class of every kind, the pool. */
#include "rlcore.hpp"

#include <cstdio>
#include <string>

namespace {

int failures;

#define CHECK(condition) ((condition) ? (void)0 : (void)(std::printf("line %d: %s: %s\n", __LINE__, #condition, rlcore::last_error().c_str()), failures++))
#define IS(call, wanted) CHECK((call) == rlcore::status(wanted))

/* Continuous actions with bounds; a reset that may fail. */
struct slide {
  static constexpr std::uint32_t env_id = 1100, obs_len = 2, action_len = 2, max_episode_steps = 5;
  static constexpr float action_low[] = {-1, -2}, action_high[] = {1, 2};
  float x;
  std::uint8_t resets; /* a size that is no multiple of 8 */

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

/* Image bytes, two choices of which one may be forbidden, a picture, lives. */
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

template <class E>
rlcore::vecenv_of<E> make(std::uint32_t num_envs) {
  rlcore_vecenv_config config = rlcore::vecenv_config();
  config.num_envs = num_envs;
  auto envs = rlcore::vecenv_of<E>::make(rlcore::env_of<E>(), config);
  IS(envs.why(), RLCORE_OK);
  return *std::move(envs);
}

void views() {
  int array[3] = {1, 2, 3};
  std::vector<int> vector = {4, 5};
  const std::vector<int> fixed = {6};
  rlcore::span<int> a = array, b = vector;
  rlcore::span<const int> c = fixed, d = a, e = vector;
  CHECK(a.size() == 3 && b[1] == 5 && c[0] == 6 && d.data() == array && e.size_bytes() == 2 * sizeof(int));
  CHECK(a.subspan(1, 2)[1] == 3 && rlcore::span<int>().empty());
  static_assert(!std::is_convertible_v<const std::vector<int> &, rlcore::span<int>>, "const stays const");
  static_assert(!std::is_convertible_v<rlcore::span<const int>, rlcore::span<int>>, "const stays const");
  int sum = 0;
  for (const int x : d) sum += x;
  CHECK(sum == 6);
  CHECK(rlcore::hash("foobar", 6) == 0x85944171f73967e8u && rlcore::hash(nullptr, 1) == 0);
  const rlcore::status bad = RLCORE_E_SIZE;
  CHECK(!bad && !bad.ok() && std::string(bad.name()) == "RLCORE_E_SIZE" && bad.text() != nullptr && bad != rlcore::status(RLCORE_OK));
}

void memory_is_owned() {
  rlcore::memory one(100), two = one;
  CHECK(one.data() != two.data() && two.size() == 100 && reinterpret_cast<std::size_t>(one.data()) % 64 == 0);
  one.data()[7] = 9;
  two = one;
  CHECK(two.data()[7] == 9);
  const unsigned char *at = two.data();
  rlcore::memory three = std::move(two);
  CHECK(three.data() == at && two.data() == nullptr && two.size() == 0);
  three = std::move(one);
  CHECK(three.data()[7] == 9);
  rlcore::memory &same = three;
  three = same;
  CHECK(three.size() == 100 && three.data()[7] == 9);
  rlcore::memory none;
  three = none;
  CHECK(three.size() == 0);
}

void environments_of_every_kind() {
  const rlcore_env_def def = rlcore::env_of<slide>();
  CHECK(def.state_size == 8 && def.action.kind == RLCORE_F32 && def.action.low == slide::action_low && def.lives == nullptr);
  auto sliding = make<slide>(3);
  IS(sliding.reset(), RLCORE_OK);
  const std::vector<float> push = {1, 2, 0, 0, -1, 0.5f}, few = {1};
  IS(sliding.step(few), RLCORE_E_SHAPE);
  IS(sliding.step(push), RLCORE_OK);
  CHECK(sliding.reward()[0] == 3 && sliding.obs()[4] == -0.5f && !sliding.truncated()[0]);
  rlcore::vecenv_of<slide> snapshot = sliding; /* goes on by itself */
  for (int i = 0; i < 4; i++) IS(sliding.step_range(0, 2, push), RLCORE_OK);
  CHECK(sliding.truncated()[0] && sliding.final_obs()[0] == 15 && sliding.obs()[0] == 0 && sliding.obs()[4] == -0.5f);
  CHECK(snapshot.obs()[0] == 3 && rlcore::hash(snapshot.bytes()) != rlcore::hash(sliding.bytes()));
  IS(snapshot.step(push), RLCORE_OK);
  CHECK(snapshot.obs()[0] == 6);
  IS(sliding.reset(), RLCORE_E_CALLBACK); /* the third reset of row 0 */

  auto saved = rlcore::vecenv_of<slide>::load(sliding.env(), sliding.config(), snapshot.bytes());
  IS(saved.why(), RLCORE_OK);
  IS(saved->step(push), RLCORE_OK);
  CHECK(saved->obs()[0] == 9);
  IS(rlcore::vecenv_of<slide>::load(sliding.env(), sliding.config(), {}).why(), RLCORE_E_SIZE);
  IS(rlcore::vecenv_of<screen>::make(def, sliding.config()).why(), RLCORE_E_CONFIG); /* other elements */

  auto seeing = make<screen>(2);
  IS(seeing.reset(9), RLCORE_OK);
  IS(seeing.reset_one(1, 3), RLCORE_OK);
  const std::vector<std::int32_t> choose = {1, 1, 0, 1}, fails = {0, 0, 0, 2};
  IS(seeing.step(choose), RLCORE_OK);
  CHECK(seeing.reward()[0] == 11 && seeing.reward()[1] == 1 && seeing.obs()[7] == 1);
  IS(seeing.step(fails), RLCORE_E_CALLBACK);
  IS(seeing.reset_one(1), RLCORE_OK);
  for (const std::uint32_t level : {RLCORE_LEVEL_NEW, RLCORE_LEVEL_SAME}) {
    auto leveled = make<screen>(2);
    IS(leveled.reset(), RLCORE_OK);
    for (int i = 0; i < 3; i++) IS(leveled.step(choose), RLCORE_OK);
    auto pooled = leveled;
    IS(leveled.step_env(choose, level), RLCORE_OK);
    rlcore::workers pool(pooled, 2);
    IS(pool.step_env_async(choose, 2), RLCORE_E_RANGE);
    IS(pool.step_env_async(choose, level), RLCORE_OK);
    IS(pool.step_wait(), RLCORE_OK);
    CHECK(leveled.terminated()[1] && leveled.obs()[4] == 100 + level && pooled.obs()[4] == 100 + level);
    CHECK(rlcore::hash(leveled.bytes()) == rlcore::hash(pooled.bytes()));
  }
  std::uint32_t lives[2];
  std::uint8_t mask[10], rgb[2 * 3 * 3];
  IS(rlcore_vecenv_lives(seeing.get(), &seeing.env(), lives), RLCORE_OK);
  IS(rlcore_vecenv_action_mask(seeing.get(), &seeing.env(), mask), RLCORE_OK);
  IS(rlcore_vecenv_render(seeing.get(), &seeing.env(), 0, 2, 3, rgb), RLCORE_OK);
  CHECK(lives[0] == 2 && mask[3] == 1 && mask[4] == 0 && mask[9] == 0 && rgb[17] == 7);
}

void the_pool_keeps_the_rules() {
  auto envs = make<screen>(4);
  IS(envs.reset(), RLCORE_OK);
  const std::vector<std::int32_t> go(8, 1), half(4, 1), none, fails = {1, 1, 1, 2, 1, 1, 1, 2};
  for (const unsigned threads : {0u, 3u}) {
    rlcore::workers pool(envs, threads, 2);
    IS(pool.state(), RLCORE_OK);
    IS(pool.step_async(half), RLCORE_E_SHAPE);
    IS(pool.step_wait(), RLCORE_E_NOT_PENDING);
    IS(pool.step_async(go), RLCORE_OK);
    IS(pool.step(go), RLCORE_E_BUSY);
    IS(pool.reset_one(0), RLCORE_E_BUSY);
    IS(pool.step_wait(), RLCORE_OK);
    CHECK(envs.reward()[3] == 11);

    std::vector<std::uint32_t> rows(2), odd(3), none_at_all;
    rlcore::arrays<std::uint8_t> out;
    IS(pool.recv(rows, out), RLCORE_E_NOT_PENDING);
    IS(pool.step_async(go), RLCORE_OK);
    IS(pool.recv(odd, out), RLCORE_E_RANGE);
    IS(pool.recv(rows, out), RLCORE_OK);
    CHECK(out.reward.size() == 2 && out.reward[1] == 11 && rows[1] == rows[0] + 1);
    IS(pool.send(rows, go), RLCORE_E_SHAPE);
    IS(pool.send(none_at_all, none), RLCORE_E_NULL);
    IS(pool.send(rows, half), RLCORE_OK);
    IS(pool.step_wait(), RLCORE_OK); /* whatever is left */

    /* Rows that fail are named and take no other with them. */
    std::uint8_t flags[4];
    IS(pool.step(fails), RLCORE_E_CALLBACK);
    CHECK(std::string(rlcore::last_error().c_str()).find("not so row, given 1") != std::string::npos);
    IS(pool.failed(flags), RLCORE_OK);
    CHECK(!flags[0] && flags[1] && !flags[2] && flags[3]);
    IS(pool.failed({flags, 3}), RLCORE_E_SHAPE);
    IS(pool.step(go), RLCORE_E_NOT_READY);
    IS(pool.reset_one(1, 5), RLCORE_OK);
    IS(pool.reset_one(3), RLCORE_OK);
    for (int i = 0; i < 100; i++) {
      IS(pool.step_async(go), RLCORE_OK);
      IS(pool.reset(3), RLCORE_OK); /* at any moment of a step */
      IS(pool.step(go), RLCORE_OK);
    }
    if (threads > 0) pool.close();
    if (threads > 0) IS(pool.step(go), RLCORE_E_CONFIG);
  }
  rlcore::workers uneven(envs, 2, 3);
  IS(uneven.state(), RLCORE_E_CONFIG);
  IS(uneven.step(go), RLCORE_E_CONFIG);
  IS(uneven.reset(), RLCORE_E_CONFIG);
}

void a_learner() {
  auto env = rlcore::env_builtin(RLCORE_ENV_CARTPOLE);
  IS(env.why(), RLCORE_OK);
  IS(rlcore::env_builtin(99).why(), RLCORE_E_RANGE);
  rlcore_vecenv_config config = rlcore::vecenv_config();
  config.num_envs = 4;
  auto envs = rlcore::vecenv<>::make(*env, config);
  IS(envs.why(), RLCORE_OK);
  IS(envs->reset(), RLCORE_OK);
  rlcore_ppo_config settings = rlcore::ppo_config();
  settings.num_steps = 8;
  auto learner = rlcore::ppo<>::make(settings, *env);
  IS(learner.why(), RLCORE_OK);
  for (int i = 0; i < 12; i++) IS(learner->train_step(*envs), RLCORE_OK);
  CHECK(learner->stats().num_updates == 1 && learner->stats().num_steps == 32);

  rlcore::ppo<> other = *learner; /* both go on alike */
  rlcore::vecenv<> others = *envs;
  for (int i = 0; i < 12; i++) {
    IS(learner->train_step(*envs), RLCORE_OK);
    IS(other.train_step(others), RLCORE_OK);
  }
  CHECK(rlcore::hash(other.bytes()) == rlcore::hash(learner->bytes()));
  auto policy = learner->policy();
  IS(policy.why(), RLCORE_OK);
  CHECK(policy->bytes().size() > 1000);
  settings.num_steps = 0;
  IS(rlcore::ppo<>::make(settings, *env).why(), RLCORE_E_CONFIG);
}

}  // namespace

int main() {
  views();
  memory_is_owned();
  environments_of_every_kind();
  the_pool_keeps_the_rules();
  a_learner();
  std::printf("%d failures\n", failures);
  return failures != 0;
}
