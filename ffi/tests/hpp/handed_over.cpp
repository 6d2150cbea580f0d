/* Learners that exchange data: rollouts with another learner, an update with another process, actions with a game. */
#include "test.h"

namespace {

/* A learner that gets a rollout of another learns the same from it. */
template <class Obs>
void a_rollout_is_handed_over(rlcore_learner_config settings, const rlcore_space &obs, bool begins, bool owners) {
  const std::uint32_t n[] = {2};
  const rlcore_space action = {RLCORE_I32, 1, nullptr, nullptr, n};
  settings.num_envs = 2;
  settings.num_steps = 4;
  settings.num_minibatches = 1;
  auto from = rlcore::learner<Obs>::make(settings, obs, action), to = rlcore::learner<Obs>::make(settings, obs, action);
  IS(from.why(), RLCORE_OK);
  IS(to.why(), RLCORE_OK);
  const std::vector<Obs> seen(2 * obs.len, 1);
  const std::vector<float> reward = {1, -1};
  const std::vector<std::uint8_t> none(2);
  for (int t = 0; t < 4; t++) {
    IS(from->act(seen), RLCORE_OK);
    IS(from->observe(reward, none, none), RLCORE_OK);
  }
  IS(from->learn_begin(seen), RLCORE_OK);
  auto batch = from->batch_read();
  IS(batch.why(), RLCORE_OK);
  CHECK(batch->begin.size() == (begins ? 8 : 0) && batch->env.size() == (owners ? 8 : 0) && batch->state.empty());
  IS(to->learn_batch(*batch), RLCORE_OK);
  IS(from->learn({}), RLCORE_OK);
  IS(to->learn({}), RLCORE_OK);
  std::vector<float> a(*from->params_len()), b(a.size());
  IS(from->params_read(a), RLCORE_OK);
  IS(to->params_read(b), RLCORE_OK);
  CHECK(a == b);
  if (owners) {
    batch->env.clear();
    IS(to->learn_batch(*batch), RLCORE_E_SHAPE);
  }
}

void rollouts_are_handed_over() {
  const rlcore_space numbers = {RLCORE_F32, 3, nullptr, nullptr, nullptr}, frames = {RLCORE_U8, 4 * 4 * 2, nullptr, nullptr, nullptr};
  a_rollout_is_handed_over<float>(rlcore::learner_config(), numbers, false, false);
  a_rollout_is_handed_over<float>(rlcore::learner_config(RLCORE_ALGORITHM_IMPALA), numbers, true, true);
  rlcore_learner_config stacked = rlcore::learner_config();
  stacked.num_stacked = 2;
  a_rollout_is_handed_over<std::uint8_t>(stacked, frames, false, true);
}

/* Parameters and their moments go to a learner with another num_envs, whose policy then has the same bytes. */
void moments_are_handed_over() {
  const std::uint32_t n[] = {3}, fewer[] = {2};
  const rlcore_space obs = {RLCORE_F32, 2, nullptr, nullptr, nullptr}, action = {RLCORE_I32, 1, nullptr, nullptr, n};
  rlcore_learner_config settings = rlcore::learner_config();
  settings.num_envs = 4, settings.num_steps = 4, settings.normalize_obs = settings.normalize_reward = 1;
  auto many = rlcore::learner<>::make(settings, obs, action);
  settings.num_envs = 1;
  auto one = rlcore::learner<>::make(settings, obs, action);
  IS(many.why(), RLCORE_OK);
  IS(one.why(), RLCORE_OK);
  const std::vector<float> reward = {1, -1, 2, 5};
  const std::vector<std::uint8_t> none(4);
  for (int t = 0; t < 4; t++) {
    std::vector<float> seen(8);
    for (std::size_t i = 0; i < seen.size(); i++) seen[i] = 100 + static_cast<float>(t + 1) * static_cast<float>(i);
    IS(many->act(seen), RLCORE_OK);
    IS(many->observe(reward, none, none), RLCORE_OK);
  }
  IS(many->learn(std::vector<float>(8, 100)), RLCORE_OK);
  std::vector<float> params(*many->params_len());
  std::vector<double> moments(many->moments_len()), merged;
  CHECK(moments.size() == 8 && one->moments_len() == 8);
  IS(many->params_read(params), RLCORE_OK);
  IS(many->moments_read(moments), RLCORE_OK);
  IS(one->params_write(params), RLCORE_E_SHAPE);
  CHECK(std::strstr(rlcore::last_error().c_str(), "learner params_write: elements of moments: expected 8, given 0") != nullptr);
  IS(one->params_write(params, moments), RLCORE_OK);
  auto shipped = many->policy(), again = one->policy();
  CHECK(shipped && again && rlcore::hash(shipped->bytes()) == rlcore::hash(again->bytes()));

  /* Moments merged with themselves have twice the count, and the single count if they are also the base. */
  merged = moments;
  IS(one->moments_merge(merged, moments), RLCORE_OK);
  CHECK(merged[0] == 2 * moments[0] && merged[4] == moments[4]);
  merged = moments;
  IS(one->moments_merge(merged, moments, moments), RLCORE_OK);
  CHECK(merged[0] == moments[0]);
  IS(one->moments_merge(merged, rlcore::span<const double>(moments).subspan(0, 7)), RLCORE_E_SHAPE);
  IS(one->moments_write(merged), RLCORE_OK);
  IS(one->moments_write({}), RLCORE_E_SHAPE);

  /* A saved learner loaded for another num_envs, or for other spaces. */
  IS(rlcore::learner<>::load(many->bytes(), 4, &obs, &action).why(), RLCORE_OK);
  IS(rlcore::learner<>::load(many->bytes(), 3, &obs, &action).why(), RLCORE_E_SHAPE);
  rlcore_space other = action;
  other.n = fewer;
  IS(rlcore::learner<>::load(many->bytes(), 0, &obs, &other).why(), RLCORE_E_SHAPE);
  CHECK(std::strstr(rlcore::last_error().c_str(), "expected n of an element 3, given 2") != nullptr);
}

/* A learner that is saved during an update keeps its progress, and goes on as if uninterrupted. */
void an_update_is_handed_over() {
  auto env = rlcore::env_builtin(RLCORE_ENV_CARTPOLE);
  rlcore_learner_config settings = rlcore::learner_config();
  settings.num_envs = 2;
  settings.num_steps = 32;
  settings.overlap = 1;
  auto learner = rlcore::learner<>::make(settings, env);
  IS(learner.why(), RLCORE_OK);
  CHECK(learner->stats().minibatches_left == 0 && learner->stats().num_steps == 0);
  const std::vector<float> obs(8, 0.25F), reward = {1, 2};
  const std::vector<std::uint8_t> none(2);
  /* A frame of a game, which learns one slice in each frame while an update runs. */
  const auto frame = [&](rlcore::learner<> &l) {
    IS(l.act(obs), RLCORE_OK);
    IS(l.observe(reward, none, none), RLCORE_OK);
    if (*l.due() == RLCORE_LEARNER_LEARN || l.stats().minibatches_left) IS(l.learn(obs, 1), RLCORE_OK);
  };
  while (learner->stats().minibatches_left != 9) frame(*learner);
  auto loaded = rlcore::learner<>::load(learner->bytes());
  IS(loaded.why(), RLCORE_OK);
  CHECK(std::memcmp(&loaded->stats(), &learner->stats(), sizeof(rlcore_learner_stats)) == 0);
  for (int i = 0; i < 20; i++) {
    frame(*learner);
    frame(*loaded);
    CHECK(rlcore::hash(learner->bytes()) == rlcore::hash(loaded->bytes()));
  }
  while (learner->stats().minibatches_left == 0) frame(*learner);
  IS(learner->learn_drop(), RLCORE_OK);
  CHECK(learner->stats().minibatches_left == 0);
}

void what_a_game_asks_for() {
  auto env = rlcore::env_builtin(RLCORE_ENV_CARTPOLE);
  rlcore_learner_config settings = rlcore::learner_config();
  settings.num_envs = 3;
  settings.num_steps = 4;
  settings.normalize_obs = 1;
  settings.sequence_len = 2;
  settings.num_minibatches = 1;
  rlcore_layer gru = {};
  gru.kind = RLCORE_LAYER_GRU;
  gru.units = 5;
  settings.layers = &gru;
  settings.num_layers = 1;
  auto learner = rlcore::learner<>::make(settings, env);
  IS(learner.why(), RLCORE_OK);
  CHECK(learner->state_len() == 5);
  const std::vector<float> obs(12, 0.5F), reward(3, 1.0F);
  const std::vector<std::uint8_t> none(3), begins(3, 1);

  /* Nothing is recorded, and the caller keeps the state of the recurrent layers. */
  const rlcore_sampling greedy = {RLCORE_SAMPLING_GREEDY, 0, 0, 0};
  std::vector<float> state(15), first;
  std::vector<std::int32_t> action(3, -1);
  IS(learner->predict(obs, action, {}, state, {}, &greedy), RLCORE_OK);
  CHECK(action[0] == action[2] && action[0] >= 0 && state[0] != 0 && *learner->due() == RLCORE_LEARNER_ACT);
  first = state;
  IS(learner->predict(obs, action, {}, state, {}, &greedy), RLCORE_OK);
  CHECK(state != first);
  IS(learner->predict(obs, action, {}, state, begins, &greedy), RLCORE_OK);
  CHECK(state == first);
  IS(learner->predict(obs, action), RLCORE_E_SHAPE);

  /* Frozen statistics do not change. */
  const auto deviates = [&](bool frozen) {
    rlcore::learner<> l = *learner;
    IS(l.freeze(frozen), RLCORE_OK);
    const std::vector<float> far(12, 40.0F);
    IS(l.act(far), RLCORE_OK);
    IS(l.observe(reward, none, none), RLCORE_OK);
    std::vector<float> carried(15);
    IS(l.predict(obs, action, {}, carried), RLCORE_OK);
    return carried != first;
  };
  CHECK(deviates(false) && !deviates(true));

  /* A sealed learner is refused once a byte has changed. */
  IS(learner->seal(), RLCORE_OK);
  std::vector<unsigned char> saved(learner->bytes().begin(), learner->bytes().end());
  IS(rlcore::learner<>::load(saved).why(), RLCORE_OK);
  saved[saved.size() / 2] ^= 1;
  IS(rlcore::learner<>::load(saved).why(), RLCORE_E_IMAGE);
  IS(learner->act(obs), RLCORE_OK);
}

/* The policy alone, saved in a file, for a game whose arrays fit it. */
void a_policy_is_handed_over() {
  auto env = rlcore::env_builtin(RLCORE_ENV_CARTPOLE), other = rlcore::env_builtin(RLCORE_ENV_PENDULUM);
  rlcore_learner_config settings = rlcore::learner_config();
  settings.num_envs = 3;
  settings.sequence_len = 2;
  rlcore_layer gru = {};
  gru.kind = RLCORE_LAYER_GRU;
  gru.units = 5;
  settings.layers = &gru;
  settings.num_layers = 1;
  auto learner = rlcore::learner<>::make(settings, env);
  IS(learner.why(), RLCORE_OK);
  auto made = learner->policy();
  IS(made.why(), RLCORE_OK);
  const char *path = "rlcore_policy_of_a_test.bin";
  IS(rlcore::write_file(path, made->bytes()), RLCORE_OK);
  auto bytes = rlcore::read_file(path);
  IS(bytes.why(), RLCORE_OK);
  CHECK(std::remove(path) == 0);
  IS(rlcore::read_file(path).why(), RLCORE_E_IMAGE);
  IS(rlcore::write_file("no/such/folder/policy.bin", made->bytes()), RLCORE_E_IMAGE);

  IS(rlcore::policy<>::load(*bytes, other).why(), RLCORE_E_SHAPE); /* a game with other arrays */
  IS((rlcore::policy<float, float>::load(*bytes, env).why()), RLCORE_E_CONFIG);
  bytes->data()[bytes->size() / 2] ^= 1;
  IS(rlcore::policy<>::load(*bytes, env).why(), RLCORE_E_IMAGE);
  bytes->data()[bytes->size() / 2] ^= 1;
  auto shipped = rlcore::policy<>::load(*bytes, env);
  IS(shipped.why(), RLCORE_OK);
  rlcore_space seen = {}, taken = {};
  IS(shipped->spaces(seen, taken), RLCORE_OK);
  CHECK(seen.len == 4 && taken.n[0] == 2 && shipped->obs_len() == 4 && shipped->action_len() == 1 && shipped->mask_len() == 2 && shipped->state_len() == 5);

  /* The policy acts as the learner does. */
  const std::vector<float> obs = {0.1F, -0.2F, 0.3F, 0.4F, 0.5F, 0, -0.3F, 1, 0, 0, 0, 0};
  const rlcore_sampling greedy = {RLCORE_SAMPLING_GREEDY, 0, 0, 0};
  std::vector<std::int32_t> wanted(3, -1), action(3, -1);
  std::vector<float> state(15), carried(15);
  IS(learner->predict(obs, wanted, {}, state, {}, &greedy), RLCORE_OK);
  IS(shipped->act_greedy(obs, action, {}, carried), RLCORE_OK);
  CHECK(action == wanted && carried == state);
  rlcore_rng rng;
  IS(rlcore_rng_seed(&rng, 3), RLCORE_OK);
  rlcore::policy<> copy = *shipped;
  IS(copy.act(rng, obs, action, {}, carried, {}, &greedy), RLCORE_OK);
  const std::vector<std::uint8_t> second = {0, 1, 0, 1, 0, 1};
  IS(copy.act(rng, obs, action, second, carried), RLCORE_OK);
  CHECK(action[0] == 1 && action[1] == 1 && action[2] == 1);
  IS(copy.act_greedy({obs.data(), 4}, {action.data(), 1}, {}, {carried.data(), 5}), RLCORE_OK); /* one row */

  /* Arrays that do not fit. */
  IS(copy.act_greedy({obs.data(), 11}, action, {}, carried), RLCORE_E_SHAPE);
  IS(copy.act_greedy({}, {}), RLCORE_E_SHAPE);
  IS(copy.act_greedy(obs, {action.data(), 2}, {}, carried), RLCORE_E_SHAPE);
  IS(copy.act_greedy(obs, action), RLCORE_E_SHAPE);
  IS(copy.act_greedy(obs, action, {second.data(), 5}, carried), RLCORE_E_SHAPE);
  IS(copy.act(rng, obs, action, {}, carried, second), RLCORE_E_SHAPE);
  rlcore::policy<> moved = std::move(copy);
  IS(copy.act_greedy(obs, action, {}, carried), RLCORE_E_NULL);
  IS(moved.act_greedy(obs, action, {}, carried), RLCORE_OK);
}

}  // namespace

void learners_handed_over() {
  rollouts_are_handed_over();
  moments_are_handed_over();
  an_update_is_handed_over();
  what_a_game_asks_for();
  a_policy_is_handed_over();
}
