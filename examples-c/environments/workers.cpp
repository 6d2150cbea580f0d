/* A C++ environment class, stepped by a pool of std::thread: all rows at once, asynchronously, or as they finish. 1, 2,
   3 and 7 threads give the same bytes. */
#include <rlcore.hpp>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr std::uint32_t num_envs = 84, num_steps = 200, in_series = 6;

/* A hiker on a line looks for a hut before nightfall. Some positions take longer to compute. */
class hike {
 public:
  static constexpr std::uint32_t env_id = 1001, obs_len = 3, max_episode_steps = 40;
  static constexpr std::uint32_t choices[] = {3}; /* left, stay, right */

  void reset(rlcore_rng &rng, rlcore::span<float> obs) {
    double draw[2] = {};
    (void)rlcore_rng_uniform(&rng, -10.0, 10.0, draw, 2);
    place_ = static_cast<float>(draw[0]);
    hut_ = static_cast<float>(draw[1]);
    steps_ = 0;
    look(obs);
  }

  bool step(rlcore_rng &rng, rlcore::span<const std::int32_t> action, rlcore::span<float> obs, rlcore_step &out) {
    float wind = 0;
    if (rlcore_rng_normal(&rng, &wind, 1) != RLCORE_OK) return false;
    place_ += static_cast<float>(action[0] - 1) + 0.25f * wind;
    steps_++;
    volatile float effort = 0;
    for (int i = 0; i < static_cast<int>(place_ * place_) % 7 * 100; i++) effort = effort + 1.0f;
    const float far = place_ > hut_ ? place_ - hut_ : hut_ - place_;
    out.reward = -0.1f * far;
    out.terminated = far < 0.5f;
    look(obs);
    return true;
  }

  std::uint32_t lives() const { return 1; }

 private:
  void look(rlcore::span<float> obs) const {
    obs[0] = place_;
    obs[1] = hut_;
    obs[2] = static_cast<float>(steps_);
  }
  float place_, hut_;
  std::uint32_t steps_, unused_;
};

using environments = rlcore::vecenv_of<hike>;

/* Ends the program with the library's error message. */
void check(rlcore::status s, int line) {
  if (s) return;
  std::fprintf(stderr, "workers.cpp:%d: %s\n", line, rlcore::last_error().c_str());
  std::exit(1);
}
#define CHECK(call) check(call, __LINE__)

void expect(bool holds, const char *what) {
  if (holds) return;
  std::fprintf(stderr, "FAILED: %s\n", what);
  std::exit(1);
}

environments make() {
  rlcore_vecenv_config config = rlcore::vecenv_config();
  config.num_envs = num_envs;
  config.seed = 5;
  auto envs = environments::make(rlcore::env_of<hike>(), config);
  CHECK(envs.why());
  CHECK(envs->reset());
  return *std::move(envs);
}

/* The action of a row in one of its steps; does not depend on threads or timing. */
std::int32_t action_of(std::uint32_t row, std::uint32_t step) {
  return static_cast<std::int32_t>((row * 7919u + step * 104729u) >> 4) % 3;
}

std::uint64_t mix(std::uint64_t hash, std::uint64_t more) {
  const std::uint64_t both[2] = {hash, more};
  return rlcore::hash(both, sizeof both);
}

/* Adds row k of the arrays to the hash of an environment's history. */
std::uint64_t row_hash(std::uint64_t hash, rlcore::arrays<float> &a, std::size_t k) {
  hash = mix(hash, rlcore::hash(&a.obs[k * hike::obs_len], sizeof(float) * hike::obs_len));
  hash = mix(hash, rlcore::hash(&a.reward[k], sizeof(float)));
  if (a.terminated[k] | a.truncated[k])
    hash = mix(hash, rlcore::hash(&a.final_obs[k * hike::obs_len], sizeof(float) * hike::obs_len));
  return hash;
}

using histories = std::vector<std::uint64_t>;

/* Submits each step and collects it; in between the caller is free. */
histories run_async(unsigned num_threads, std::uint64_t *block_hash) {
  environments envs = make();
  rlcore::workers pool(envs, num_threads, in_series);
  CHECK(pool.state());
  histories seen(num_envs, 0);
  std::vector<std::int32_t> action(num_envs);
  for (std::uint32_t step = 0; step < num_steps; step++) {
    for (std::uint32_t row = 0; row < num_envs; row++) action[row] = action_of(row, step);
    CHECK(pool.step_async(action));
    const rlcore::status twice = pool.step_async(action); /* here a game would draw its frame */
    expect(twice == rlcore::status(RLCORE_E_BUSY), "a second step while one is under way is refused");
    CHECK(pool.step_wait());
    for (std::uint32_t row = 0; row < num_envs; row++) seen[row] = row_hash(seen[row], envs.out(), row);
  }
  pool.close();
  *block_hash = rlcore::hash(envs.bytes());
  return seen;
}

/* A quarter of the rows at a time, in order of completion; each gets its next action while others still run. */
histories run_first_ready(unsigned num_threads, std::uint64_t *block_hash) {
  environments envs = make();
  rlcore::workers pool(envs, num_threads);
  CHECK(pool.state());
  histories seen(num_envs, 0);
  std::vector<std::uint32_t> taken(num_envs, 0), rows(num_envs / 4), again;
  std::vector<std::int32_t> action(num_envs);
  for (std::uint32_t row = 0; row < num_envs; row++) action[row] = action_of(row, 0);
  CHECK(pool.step_async(action));
  rlcore::arrays<float> out;
  for (std::uint32_t left = num_envs; left > 0;) {
    if (left < rows.size()) rows.resize(left);
    CHECK(pool.recv(rows, out));
    again.clear();
    action.clear();
    for (std::size_t k = 0; k < rows.size(); k++) {
      const std::uint32_t row = rows[k];
      seen[row] = row_hash(seen[row], out, k);
      if (++taken[row] == num_steps) {
        left--;
      } else {
        again.push_back(row);
        action.push_back(action_of(row, taken[row]));
      }
    }
    if (!again.empty()) CHECK(pool.send(again, action));
  }
  pool.close();
  *block_hash = rlcore::hash(envs.bytes());
  return seen;
}

/* A reset in the middle of a step discards it; every call of a closed pool fails. */
void show_the_rules() {
  environments envs = make();
  environments fresh = envs; /* a snapshot */
  {
    rlcore::workers pool(envs, 3, in_series);
    const std::vector<std::int32_t> stay(num_envs, 1);
    expect(pool.step_wait() == rlcore::status(RLCORE_E_NOT_PENDING), "there is nothing to wait for");
    CHECK(pool.step_async(stay));
    CHECK(pool.reset(5));
    expect(pool.step_wait() == rlcore::status(RLCORE_E_NOT_PENDING), "a reset discards the step");
    CHECK(fresh.reset(5));
    expect(rlcore::hash(envs.obs()) == rlcore::hash(fresh.obs()), "a reset is a reset");
    CHECK(pool.step(stay));
    CHECK(pool.reset_one(7));
    CHECK(pool.step_async(stay));
    pool.close();
    pool.close();
    expect(pool.step(stay) == rlcore::status(RLCORE_E_CONFIG), "a closed pool refuses");
    std::printf("closed: %s\n", rlcore::last_error().c_str());
  }
  CHECK(envs.reset());
  const std::vector<std::int32_t> right(num_envs, 2);
  CHECK(envs.step(right));
  rlcore::workers uneven(envs, 2, 5);
  expect(uneven.state() == rlcore::status(RLCORE_E_CONFIG), "84 rows are no groups of 5");
  std::printf("refused: %s\n", rlcore::last_error().c_str());
}

/* With a learner: pool and serial training end with the same bytes. */
std::uint64_t train(unsigned num_threads) {
  environments envs = make();
  rlcore_learner_config config = rlcore::learner_config();
  config.num_envs = num_envs;
  config.num_steps = 16;
  config.num_epochs = 2;
  auto learner = rlcore::learner<>::make(config, envs.env());
  CHECK(learner.why());
  if (num_threads == 0) {
    for (int step = 0; step < 48; step++) CHECK(learner->train_step(envs));
  } else {
    rlcore::workers pool(envs, num_threads, in_series);
    for (int step = 0; step < 48; step++) {
      CHECK(learner->act(envs.obs()));
      CHECK(pool.step(learner->action()));
      CHECK(learner->observe(envs));
      auto due = learner->due();
      CHECK(due.why());
      if (*due == RLCORE_LEARNER_LEARN) CHECK(learner->learn(envs.obs()));
    }
  }
  expect(learner->stats().num_updates == 3, "three updates");
  return rlcore::hash(learner->bytes());
}

}  // namespace

int main() {
  std::uint64_t serial_block = 0, block = 0;
  const histories serial = run_async(0, &serial_block); /* no thread: the caller does the work */
  const std::uint64_t hash = mix(rlcore::hash(rlcore::span<const std::uint64_t>(serial)), serial_block);
  for (const unsigned num_threads : {1u, 2u, 3u, 7u}) {
    const histories seen = run_async(num_threads, &block);
    std::printf("%u worker(s): %016llx\n", num_threads,
                static_cast<unsigned long long>(mix(rlcore::hash(rlcore::span<const std::uint64_t>(seen)), block)));
    expect(seen == serial && block == serial_block, "the number of workers changed the result");
  }
  for (const unsigned num_threads : {0u, 1u, 3u}) {
    const histories seen = run_first_ready(num_threads, &block);
    expect(seen == serial && block == serial_block, "the order of collecting changed a row's own steps");
  }
  std::printf("first ready: %016llx for 0, 1 and 3 workers, %u rows at a time\n", static_cast<unsigned long long>(hash), num_envs / 4);
  show_the_rules();
  expect(train(0) == train(3), "a pool trains as one thread does");
  std::printf("ok: %u hikers, %u steps, the same bytes for 1, 2, 3 and 7 workers\n", num_envs, num_steps);
}
