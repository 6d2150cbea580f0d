/* Environments from classes of every kind: their members, their exceptions, and their user object. */
#include "test.h"

#include <csetjmp>
#include <stdexcept>

namespace {

/* Begins at a place that the host tells, and knows its row. */
struct told {
  using user_type = std::vector<std::uint32_t>; /* the rows that were called, in order */
  static constexpr bool knows_row = true;
  static constexpr std::uint32_t env_id = 1120, obs_len = 3, max_episode_steps = 4;
  static constexpr std::uint32_t choices[] = {2};
  std::uint32_t place, steps;

  void reset(std::vector<std::uint32_t> &rows, std::uint32_t row, rlcore_rng &, rlcore::span<float> obs) {
    begin(rows, row, 0, obs);
  }
  bool reset_with(std::vector<std::uint32_t> &rows, std::uint32_t row, rlcore_rng &, rlcore::span<const unsigned char> options,
                  rlcore::span<float> obs) {
    begin(rows, row, options.empty() ? 99 : options[row % options.size()], obs);
    return place != 13;
  }
  void step(std::vector<std::uint32_t> &rows, std::uint32_t row, rlcore_rng &, rlcore::span<const std::int32_t>,
            rlcore::span<float> obs, rlcore_step &out) {
    rows.push_back(row);
    steps++;
    out.reward = static_cast<float>(row);
    look(row, obs);
  }
  std::uint32_t lives(std::vector<std::uint32_t> &, std::uint32_t row) const { return 10 + row; }

 private:
  void begin(std::vector<std::uint32_t> &rows, std::uint32_t row, std::uint32_t at, rlcore::span<float> obs) {
    rows.push_back(row);
    place = at, steps = 0;
    look(row, obs);
  }
  void look(std::uint32_t row, rlcore::span<float> obs) const {
    obs[0] = static_cast<float>(place), obs[1] = static_cast<float>(row), obs[2] = static_cast<float>(steps);
  }
};

/* Options arrive with a seed and without, in a pool too; members are told their row. */
void environments_that_are_told() {
  std::vector<std::uint32_t> rows;
  rlcore_vecenv_config config = rlcore::vecenv_config();
  config.num_envs = 3;
  auto envs = rlcore::vecenv_of<told>::make(rlcore::env_of<told>(rows), config);
  IS(envs.why(), RLCORE_OK);
  if (!envs) return;
  const std::vector<unsigned char> places = {5, 6, 7}, bad = {5, 13};
  const auto at = [&](float a, float b, float c) { return envs->obs()[0] == a && envs->obs()[3] == b && envs->obs()[6] == c; };
  IS(envs->reset(), RLCORE_OK);
  CHECK(at(0, 0, 0));
  IS(envs->reset_with(places), RLCORE_OK);
  CHECK(at(5, 6, 7) && rows == (std::vector<std::uint32_t>{0, 1, 2, 0, 1, 2}) && envs->obs()[7] == 2);
  IS(envs->reset_with({}, 4), RLCORE_OK);
  CHECK(at(99, 99, 99));
  IS(envs->reset_one_with(1, places), RLCORE_OK);
  IS(envs->reset_one_with(2, places, 9), RLCORE_OK);
  CHECK(at(99, 6, 7));
  IS(envs->reset_with(bad), RLCORE_E_CALLBACK);
  IS(envs->reset(), RLCORE_OK);
  std::uint32_t lives[3];
  IS(rlcore_vecenv_lives(envs->get(), envs->env().get(), lives), RLCORE_OK);
  CHECK(lives[0] == 10 && lives[2] == 12);
  {
    rlcore::workers pool(*envs, 0, 1);
    IS(pool.reset_with(places, 3), RLCORE_OK);
    CHECK(at(5, 6, 7));
    IS(pool.reset_with(places), RLCORE_OK);
    const std::vector<std::int32_t> action(3);
    IS(pool.step(action), RLCORE_OK);
    CHECK(envs->reward()[0] == 0 && envs->reward()[2] == 2);
    IS(pool.reset_one_with(0, {}), RLCORE_OK);
    IS(pool.reset_one_with(1, places, 2), RLCORE_OK);
    CHECK(at(99, 6, 7) && envs->obs()[2] == 0 && envs->obs()[8] == 1);
  }
  auto sliding = make<slide>(3);
  IS(sliding.reset_with(places), RLCORE_E_CONFIG);
  IS(sliding.reset_one_with(0, {}), RLCORE_E_CONFIG);
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
  rlcore::vecenv_of<slide> snapshot = sliding; /* an independent copy */
  for (int i = 0; i < 4; i++) IS(sliding.step_range(0, 2, push), RLCORE_OK);
  CHECK(sliding.truncated()[0] && sliding.final_obs()[0] == 15 && sliding.obs()[0] == 0 && sliding.obs()[4] == -0.5f);
  CHECK(snapshot.obs()[0] == 3 && rlcore::hash(snapshot.bytes()) != rlcore::hash(sliding.bytes()));
  IS(snapshot.step(push), RLCORE_OK);
  CHECK(snapshot.obs()[0] == 6);
  IS(sliding.reset(), RLCORE_E_CALLBACK); /* the third reset of row 0 */

  auto saved = rlcore::vecenv_of<slide>::load(sliding.env(), sliding.config(), snapshot.bytes(), snapshot.obs());
  IS(saved.why(), RLCORE_OK);
  CHECK(saved->obs()[0] == 6);
  IS(saved->step(push), RLCORE_OK);
  CHECK(saved->obs()[0] == 9);
  std::vector<std::uint64_t> row; /* one of them goes on elsewhere */
  IS(saved->row(0, row), RLCORE_OK);
  auto fewer = make<slide>(1);
  IS(fewer.restore(0, row), RLCORE_OK);
  CHECK(fewer.obs()[0] == 9);
  IS(fewer.step({push.data(), 2}), RLCORE_OK);
  IS(saved->step(push), RLCORE_OK);
  CHECK(fewer.obs()[0] == 12 && fewer.obs()[0] == saved->obs()[0] && fewer.reward()[0] == saved->reward()[0]);
  IS(fewer.restore(1, row), RLCORE_E_RANGE);
  row.pop_back();
  IS(fewer.restore(0, row), RLCORE_E_SIZE);
  IS(saved->row(3, row), RLCORE_E_RANGE);
  IS(rlcore::vecenv_of<slide>::load(sliding.env(), sliding.config(), {}, snapshot.obs()).why(), RLCORE_E_SIZE);
  IS(rlcore::vecenv_of<screen>::make(def, sliding.config()).why(), RLCORE_E_CONFIG); /* another element type */

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
  IS(rlcore_vecenv_lives(seeing.get(), seeing.env().get(), lives), RLCORE_OK);
  IS(rlcore_vecenv_action_mask(seeing.get(), seeing.env().get(), mask), RLCORE_OK);
  IS(rlcore_vecenv_render(seeing.get(), seeing.env().get(), 0, 2, 3, rgb), RLCORE_OK);
  CHECK(lives[0] == 2 && mask[3] == 1 && mask[4] == 0 && mask[9] == 0 && rgb[17] == 7);
}

/* Data shared by many environments and owned by none of them. */
struct hill {
  float slope;
  std::uint32_t resets;
};

/* Every member function gets the hill. */
struct sledge {
  using user_type = const hill;
  static constexpr std::uint32_t env_id = 1102, obs_len = 1;
  static constexpr std::uint32_t choices[] = {2};
  float x, padding;

  void reset(const hill &h, rlcore_rng &, rlcore::span<float> obs) { obs[0] = x = h.slope; }
  void restart(const hill &h, rlcore_rng &, std::uint32_t level, rlcore::span<float> obs) {
    obs[0] = x = 100 * h.slope + static_cast<float>(level);
  }
  void step(const hill &h, rlcore_rng &, rlcore::span<const std::int32_t>, rlcore::span<float> obs, rlcore_step &out) {
    obs[0] = x += h.slope;
    out.terminated = x > 2;
  }
  std::uint32_t lives(const hill &h) const { return static_cast<std::uint32_t>(h.slope); }
  void action_mask(const hill &h, rlcore::span<std::uint8_t> mask) const { mask[0] = mask[1] = h.slope > 0; }
  void render(const hill &h, std::uint32_t, std::uint32_t, rlcore::span<std::uint8_t> rgb) const {
    rgb[0] = static_cast<std::uint8_t>(h.slope);
  }
};

/* A user object that members change. */
struct counted {
  using user_type = hill;
  static constexpr std::uint32_t env_id = 1103, obs_len = 1;
  static constexpr std::uint32_t choices[] = {2};
  double unused;

  void reset(hill &h, rlcore_rng &, rlcore::span<float> obs) { obs[0] = static_cast<float>(++h.resets); }
  void step(hill &, rlcore_rng &, rlcore::span<const std::int32_t>, rlcore::span<float> obs, rlcore_step &) { obs[0] = 0; }
};

void a_user_is_reached() {
  hill one = {1, 0}, two = {2, 0};
  auto first = make<float, std::int32_t>(rlcore::env_of<sledge>(one), 2), second = make<float, std::int32_t>(rlcore::env_of<sledge>(two), 2);
  IS(first.reset(), RLCORE_OK);
  IS(second.reset(), RLCORE_OK);
  CHECK(first.obs()[1] == 1 && second.obs()[1] == 2);
  const std::vector<std::int32_t> go = {0, 1};
  IS(first.step(go), RLCORE_OK);
  IS(second.step_env(go, RLCORE_LEVEL_SAME), RLCORE_OK);
  CHECK(first.obs()[0] == 2 && second.final_obs()[0] == 4 && second.obs()[0] == 201);
  std::uint32_t lives[2];
  std::uint8_t mask[4], rgb[3] = {};
  IS(rlcore_vecenv_lives(second.get(), second.env().get(), lives), RLCORE_OK);
  IS(rlcore_vecenv_action_mask(second.get(), second.env().get(), mask), RLCORE_OK);
  IS(rlcore_vecenv_render(second.get(), second.env().get(), 0, 1, 1, rgb), RLCORE_OK);
  CHECK(lives[1] == 2 && mask[3] == 1 && rgb[0] == 2);
  auto counting = make<float, std::int32_t>(rlcore::env_of<counted>(one), 3);
  IS(counting.reset(), RLCORE_OK);
  CHECK(one.resets == 3 && counting.obs()[2] == 3);
}

#ifdef __cpp_exceptions

enum class where { nowhere, reset, restart, step, lives, mask, render };

/* Throws in the marked rows where it is told to, while an object that needs destruction is alive, or after a longjmp, as script
   errors do. */
struct thrower {
  using user_type = where;
  static constexpr std::uint32_t env_id = 1104, obs_len = 1;
  static constexpr std::uint32_t choices[] = {3};
  std::uint32_t steps, marked;

  void act(where now, where here) const {
    if (now != here || !marked) return;
    static thread_local std::jmp_buf before;
    if (steps % 2 && setjmp(before) == 0) std::longjmp(before, 1);
    const std::vector<std::string> held(3, "a broken axle, in words that are too long to lie within their own object");
    if (steps % 2) throw std::runtime_error(held[1]);
    throw 7;
  }
  void reset(where &w, rlcore_rng &, rlcore::span<float> obs) {
    act(w, where::reset);
    obs[0] = 0;
  }
  void restart(where &w, rlcore_rng &, std::uint32_t, rlcore::span<float> obs) {
    act(w, where::restart);
    obs[0] = 9;
  }
  bool step(where &w, rlcore_rng &, rlcore::span<const std::int32_t> action, rlcore::span<float> obs, rlcore_step &out) {
    if (action[0] == 2) marked = 1;
    steps++;
    act(w, where::step);
    obs[0] = static_cast<float>(steps);
    out.terminated = action[0] == 1;
    return true;
  }
  std::uint32_t lives(where &w) const { return act(w, where::lives), 3; }
  void action_mask(where &w, rlcore::span<std::uint8_t> mask) const {
    act(w, where::mask);
    mask[0] = mask[1] = mask[2] = 1;
  }
  void render(where &w, std::uint32_t, std::uint32_t, rlcore::span<std::uint8_t>) const { act(w, where::render); }
};

/* No exception crosses the library: the row that threw is named, rows before it are done, and the environments go on. */
void exceptions_stay_in_their_row() {
  where now = where::nowhere;
  auto envs = make<float, std::int32_t>(rlcore::env_of<thrower>(now), 4);
  const std::vector<std::int32_t> go(4, 0), mark = {0, 0, 2, 0}, end(4, 1);
  const auto names_row_2 = [] { return std::string(rlcore::last_error().c_str()).find("environment 2") != std::string::npos; };
  std::uint32_t lives[4];
  std::uint8_t mask[12], rgb[3], failed[4];
  IS(envs.reset(), RLCORE_OK);
  IS(envs.step(mark), RLCORE_OK);
  now = where::step;
  IS(envs.step(go), RLCORE_E_CALLBACK);
  CHECK(names_row_2() && envs.obs()[1] == 2 && envs.obs()[3] == 1);
  now = where::reset;
  IS(envs.reset_one(2), RLCORE_E_CALLBACK);
  CHECK(names_row_2());
  IS(envs.reset(), RLCORE_E_CALLBACK);
  CHECK(names_row_2());
  now = where::nowhere;
  IS(envs.reset(), RLCORE_OK);
  now = where::restart;
  IS(envs.step_env(end, RLCORE_LEVEL_SAME), RLCORE_E_CALLBACK);
  CHECK(names_row_2());
  now = where::nowhere;
  IS(envs.reset(), RLCORE_OK);
  now = where::lives;
  IS(rlcore_vecenv_lives(envs.get(), envs.env().get(), lives), RLCORE_E_CALLBACK);
  now = where::mask;
  IS(rlcore_vecenv_action_mask(envs.get(), envs.env().get(), mask), RLCORE_E_CALLBACK);
  now = where::render;
  IS(rlcore_vecenv_render(envs.get(), envs.env().get(), 2, 1, 1, rgb), RLCORE_E_CALLBACK);
  now = where::step;
  for (const unsigned threads : {0u, 2u}) {
    rlcore::workers pool(envs, threads);
    const std::vector<float> was = envs.out().obs;
    IS(pool.step(go), RLCORE_E_CALLBACK);
    CHECK(names_row_2());
    IS(pool.failed(failed), RLCORE_OK);
    CHECK(!failed[0] && !failed[1] && failed[2] && !failed[3]);
    for (std::size_t i = 0; i < 4; i++) CHECK((envs.obs()[i] == was[i]) == (i == 2)); /* the others are stepped */
    now = where::nowhere;
    IS(pool.reset_one(2), RLCORE_OK);
    IS(pool.step(go), RLCORE_OK);
    now = where::step;
  }
}

#else

void exceptions_stay_in_their_row() {}

#endif


}  // namespace

void environments() {
  environments_of_every_kind();
  environments_that_are_told();
  a_user_is_reached();
  exceptions_stay_in_their_row();
}
