/* The learner: its arguments, saving and loading, and its policy. */
#include "test.h"

namespace {

void a_learner() {
  auto env = rlcore::env_builtin(RLCORE_ENV_CARTPOLE);
  IS(rlcore::environment(rlcore::env_builtin(99)).why(), RLCORE_E_CONFIG);
  rlcore_vecenv_config config = rlcore::vecenv_config();
  config.num_envs = 4;
  auto envs = rlcore::vecenv<>::make(env, config);
  IS(envs.why(), RLCORE_OK);
  IS(envs->reset(), RLCORE_OK);
  rlcore_learner_config settings = rlcore::learner_config();
  settings.num_steps = 8;
  auto learner = rlcore::learner<>::make(settings, env);
  IS(learner.why(), RLCORE_OK);
  for (int i = 0; i < 12; i++) IS(learner->train_step(*envs), RLCORE_OK);
  CHECK(learner->stats().num_updates == 1 && learner->stats().num_steps == 32);

  rlcore::learner<> other = *learner; /* both continue alike */
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
  IS(rlcore::learner<>::make(settings, env).why(), RLCORE_E_CONFIG);
}

/* Actions that are structures of a choice and a number. */
void actions_of_several_parts() {
  struct shot {
    std::int32_t weapon;
    float aim;
  } fired[4];
  rlcore_field fields[2] = {};
  fields[0].kind = RLCORE_I32;
  fields[1].offset = offsetof(shot, aim);
  const std::uint32_t n[] = {3};
  const rlcore_space obs = {RLCORE_F32, 2, nullptr, nullptr, nullptr}, action = {RLCORE_STRUCT, sizeof(shot), nullptr, nullptr, n};
  rlcore_learner_config settings = rlcore::learner_config();
  settings.num_envs = 4;
  settings.num_steps = 8;
  settings.use_action_mask = 1;
  using agent = rlcore::learner<float, std::uint8_t>;
  IS(agent::make(settings, obs, action).why(), RLCORE_E_CONFIG);
  settings.action_fields = fields;
  settings.num_action_fields = 2;
  IS((rlcore::learner<>::make(settings, obs, action).why()), RLCORE_E_CONFIG);
  auto learner = agent::make(settings, obs, action);
  IS(learner.why(), RLCORE_OK);
  const std::vector<float> seen(8, 0.5F), reward(4, 1.0F);
  const std::vector<std::uint8_t> ends(4, 1), on(4, 0), mask = {0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1};
  IS(learner->act(seen, {mask.data(), 11}), RLCORE_E_SHAPE);
  for (int t = 0; t < 8; t++) {
    IS(learner->act(seen, mask), RLCORE_OK);
    CHECK(learner->action().size() == sizeof fired);
    std::memcpy(fired, learner->action().data(), sizeof fired);
    for (const shot &each : fired) CHECK(each.weapon == 2 && each.aim != 0);
    IS(learner->observe(reward, ends, on), RLCORE_OK);
  }
  auto slow_settings = settings;
  slow_settings.use_duration = 1;
  auto slow = agent::make(slow_settings, obs, action);
  IS(slow.why(), RLCORE_OK);
  IS(slow->act(seen, mask), RLCORE_OK);
  IS(slow->observe(reward, ends, on), RLCORE_E_NULL);
  IS(slow->observe(reward, ends, on, {}, {}, {}, {seen.data(), 3}), RLCORE_E_SHAPE);
  IS(slow->observe(reward, ends, on, {}, {}, {}, {seen.data(), 4}), RLCORE_OK);
  auto loaded = agent::load(learner->bytes());
  IS(loaded.why(), RLCORE_OK);
  for (auto *each : {&*learner, &*loaded}) {
    IS(each->learn(seen), RLCORE_OK);
    IS(each->act(seen, mask), RLCORE_OK);
  }
  CHECK(rlcore::hash(loaded->bytes()) == rlcore::hash(learner->bytes()));

  /* SAC takes them off policy, from its own steps, demonstrations and transitions of the host's. */
  rlcore_learner_config stores = rlcore::learner_config(RLCORE_ALGORITHM_SAC);
  stores.num_envs = 4;
  stores.buffer_size = 16;
  stores.batch_size = stores.learning_starts = 4;
  stores.train_interval = 4;
  stores.use_action_mask = 1;
  stores.action_fields = fields;
  stores.num_action_fields = 2;
  auto sac = agent::make(stores, obs, action);
  IS(sac.why(), RLCORE_OK);
  std::vector<std::uint8_t> taken;
  for (int t = 0; t < 4; t++) {
    IS(sac->act(seen, mask), RLCORE_OK);
    taken.assign(sac->action().begin(), sac->action().end());
    std::memcpy(fired, taken.data(), sizeof fired);
    for (const shot &each : fired) CHECK(each.weapon == 2 && each.aim > -1 && each.aim < 1);
    IS(sac->observe(reward, ends, on), RLCORE_OK);
    IS(sac->learn(seen), RLCORE_OK);
  }
  IS(sac->demonstrate(seen, taken, mask), RLCORE_OK);
  IS(sac->observe(reward, ends, on), RLCORE_OK);
  IS(sac->learn(seen), RLCORE_OK);
  rlcore::transition_batch<float, std::uint8_t> given;
  given.obs = given.next_obs = seen;
  given.action = taken;
  given.reward = reward;
  given.terminated = ends;
  given.mask = given.next_mask = mask;
  IS(sac->learn_transitions(given), RLCORE_OK);
  fired[1].aim = 2;
  std::memcpy(taken.data(), fired, sizeof fired);
  IS(sac->learn_transitions(given), RLCORE_E_VALUE);
  IS(sac->demonstrate(seen, taken, mask), RLCORE_E_VALUE);
}

/* Spans of another length and environments that do not fit the learner are refused before anything is read. */
void spans_have_to_fit() {
  auto env = rlcore::env_builtin(RLCORE_ENV_CARTPOLE);
  rlcore_learner_config settings = rlcore::learner_config();
  settings.num_envs = 4;
  settings.num_steps = 8;
  settings.use_action_mask = 1;
  auto learner = rlcore::learner<>::make(settings, env);
  IS(learner.why(), RLCORE_OK);
  auto envs = make<float, std::int32_t>(env, 4), fewer = make<float, std::int32_t>(env, 3), more = make<float, std::int32_t>(env, 5);
  const std::vector<std::uint8_t> mask(8, 1);
  for (auto *each : {&envs, &fewer, &more}) IS(each->reset(), RLCORE_OK);
  for (auto *other : {&fewer, &more}) {
    IS(learner->act(other->obs(), mask), RLCORE_E_SHAPE);
    IS(learner->train_step(*other), RLCORE_E_SHAPE);
    IS(learner->observe(*other), RLCORE_E_SHAPE);
  }
  IS(learner->act({}, mask), RLCORE_E_SHAPE);
  IS(learner->act(envs.obs().subspan(0, 15), mask), RLCORE_E_SHAPE);
  IS(learner->act(envs.obs(), {mask.data(), 7}), RLCORE_E_SHAPE);
  IS(learner->act(envs.obs(), std::vector<std::uint8_t>(9)), RLCORE_E_SHAPE);
  for (int i = 0; i < 8; i++) {
    IS(learner->act(envs.obs(), mask), RLCORE_OK);
    IS(envs.step(learner->action()), RLCORE_OK);
    envs.out().reward.pop_back();
    IS(learner->observe(envs), RLCORE_E_SHAPE);
    envs.out().reward.push_back(1);
    IS(learner->observe(envs), RLCORE_OK);
  }
  for (auto *other : {&fewer, &more}) IS(learner->learn(other->obs()), RLCORE_E_SHAPE);
  IS(learner->learn({}), RLCORE_E_NULL);
  IS(learner->learn(envs.obs(), 1), RLCORE_OK);
  IS(learner->learn({}, 1), RLCORE_OK); /* only the first call of an update needs observations */
  IS(learner->learn(fewer.obs().subspan(12, 0), 1), RLCORE_OK);
  IS(learner->learn(fewer.obs(), 1), RLCORE_E_SHAPE);
  IS(learner->learn({}), RLCORE_OK);
  CHECK(learner->stats().num_updates == 1);

  /* The same number of elements, in other rows. */
  static constexpr rlcore_wrapper stack[] = {{RLCORE_WRAP_FRAME_STACK, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, {}, 0, {}, nullptr, nullptr}};
  rlcore_env_def stacked = env;
  stacked.wrappers = stack;
  stacked.num_wrappers = 1;
  auto half = make<float, std::int32_t>(stacked, 2);
  IS(half.reset(), RLCORE_OK);
  settings.use_action_mask = 0;
  learner = rlcore::learner<>::make(settings, env);
  CHECK(half.obs().size() == envs.obs().size());
  IS(learner->train_step(half), RLCORE_E_SHAPE);
  IS(learner->train_step(envs), RLCORE_OK);
}

/* Rows whose agents come and go, each acting at its own pace, during an update. */
void rows_come_and_go() {
  auto env = rlcore::env_builtin(RLCORE_ENV_CARTPOLE);
  rlcore_learner_config settings = rlcore::learner_config();
  settings.num_envs = 3;
  settings.num_steps = 8;
  settings.overlap = 1;
  auto learner = rlcore::learner<>::make(settings, env);
  IS(learner.why(), RLCORE_OK);
  const std::vector<float> obs(12), reward(3, 1.0F);
  const std::vector<std::uint8_t> none(3), ends = {1, 0, 0};
  const std::uint8_t first[3] = {1, 0, 0}, second[3] = {0, 2, 0}, both[3] = {1, 1, 0};
  std::uint8_t acted[3] = {};
  const auto has_acted = [&](int a, int b, int c) { return learner->acted(acted).ok() && acted[0] == a && acted[1] == b && acted[2] == c; };

  IS(learner->act(obs, {}, first), RLCORE_OK);
  IS(learner->act(obs, {}, first), RLCORE_E_NOT_READY); /* it has acted already */
  IS(learner->act(obs, {}, second), RLCORE_OK);
  CHECK(has_acted(1, 1, 0));
  IS(learner->cut(second), RLCORE_OK); /* truncated before its outcome */
  CHECK(has_acted(1, 0, 0));
  IS(learner->observe(reward, none, none, {}, both), RLCORE_E_NOT_READY);
  IS(learner->observe(reward, ends, none, {}, first), RLCORE_OK);
  CHECK(has_acted(0, 0, 0));
  for (int i = 0; i < 23; i++) {
    IS(learner->act_range(0, 1, obs), RLCORE_OK);
    IS(learner->observe(reward, none, ends, obs, first), RLCORE_OK);
  }
  IS(learner->learn(obs, 1), RLCORE_OK);
  const std::uint32_t left = learner->stats().minibatches_left;
  CHECK(left > 0 && learner->stats().num_episodes == 24 && learner->stats().return_mean == 1);
  IS(learner->act(obs), RLCORE_OK); /* the game goes on */
  IS(learner->observe(reward, none, none), RLCORE_OK);
  IS(learner->learn({}, 1), RLCORE_OK);
  CHECK(learner->stats().minibatches_left == left - 1 && learner->stats().num_steps == 27);
  IS(learner->learn_drop(), RLCORE_OK);
  IS(learner->learn_drop(), RLCORE_E_NOT_READY);
}

/* A game played by a person: the learner records it, is saved and loaded, and learns. */
void demonstrations_are_learned_from() {
  auto env = rlcore::env_builtin(RLCORE_ENV_CARTPOLE);
  rlcore_learner_config settings = rlcore::learner_config(RLCORE_ALGORITHM_DQN);
  settings.num_envs = 2;
  settings.batch_size = settings.learning_starts = 8;
  settings.n_step = 3;
  auto learner = rlcore::learner<>::make(settings, env);
  IS(learner.why(), RLCORE_OK);
  const std::vector<float> obs(8), reward(2, 1.0F);
  const std::vector<std::int32_t> action = {1, 0};
  const std::int32_t none[2] = {2, 0};
  const std::vector<std::uint8_t> zeros(2);
  IS(learner->demonstrate(obs, none), RLCORE_E_VALUE);
  for (int i = 0; i < 7; i++) {
    auto saved = rlcore::learner<>::load(learner->bytes());
    IS(saved.why(), RLCORE_OK);
    learner = std::move(saved);
    IS(learner->demonstrate(obs, action), RLCORE_OK);
    IS(learner->act(obs), RLCORE_E_NOT_READY);
    IS(learner->observe(reward, zeros, zeros), RLCORE_OK);
  }
  IS(learner->learn_begin({}), RLCORE_OK);
  IS(learner->learn({}), RLCORE_OK);
  CHECK(learner->stats().num_steps == 14 && learner->stats().num_updates > 0);
}

/* A host with a store of its own: the learner stores no transitions, learns from the host's, and returns their value errors. */
void transitions_of_the_host_are_learned_from() {
  auto env = rlcore::env_builtin(RLCORE_ENV_CARTPOLE);
  rlcore_learner_config settings = rlcore::learner_config(RLCORE_ALGORITHM_DQN);
  settings.num_envs = 2;
  settings.buffer_size = 0;
  settings.batch_size = 3;
  settings.use_action_mask = 1;
  auto learner = rlcore::learner<>::make(settings, env);
  IS(learner.why(), RLCORE_OK);
  const std::vector<float> obs(12), reward = {1, 0, 5}, discount = {1, 0.5F, 0}, importance = {2, 1, 0};
  const std::vector<std::int32_t> action = {1, 0, 1};
  const std::vector<std::uint8_t> terminated = {0, 0, 1}, mask(6, 1);
  std::vector<float> error(3, -1.0F);
  const rlcore::transition_batch<> batch = {obs, obs, action, reward, terminated, discount, mask, importance};
  IS(learner->learn_transitions(batch, error), RLCORE_OK);
  CHECK(learner->stats().num_updates == 1 && learner->stats().num_steps == 0 && error[2] > 3);
  auto saved = rlcore::learner<>::load(learner->bytes());
  IS(saved.why(), RLCORE_OK);
  IS(saved->learn_transitions({obs, obs, action, reward, terminated, {}, mask}), RLCORE_OK);
  CHECK(saved->stats().num_updates == 2);
  IS(learner->learn_transitions({obs, obs, action, reward, terminated}), RLCORE_E_SHAPE); /* the mask is missing */

  const auto refused = [&](const rlcore::transition_batch<> &other) { return learner->learn_transitions(other, error) == RLCORE_E_SHAPE; };
  const auto most = [](const auto &all) { return decltype(rlcore::transition_batch<>::reward)(all.data(), all.size() - 1); };
  const rlcore::span<const std::int32_t> two(action.data(), 2);
  const rlcore::span<const std::uint8_t> flags(mask.data(), 2);
  CHECK(refused({most(obs), obs, action, reward, terminated, discount, mask, importance}));
  CHECK(refused({obs, most(obs), action, reward, terminated, discount, mask, importance}));
  CHECK(refused({obs, obs, two, reward, terminated, discount, mask, importance}));
  CHECK(refused({obs, obs, action, most(reward), terminated, discount, mask, importance}));
  CHECK(refused({obs, obs, action, reward, flags, discount, mask, importance}));
  CHECK(refused({obs, obs, action, reward, terminated, most(discount), mask, importance}));
  CHECK(refused({obs, obs, action, reward, terminated, discount, flags, importance}));
  CHECK(refused({obs, obs, action, reward, terminated, discount, mask, most(importance)}));
  CHECK(refused({obs, obs, action, reward, terminated, discount, mask, importance, flags}));
  IS(learner->learn_transitions(batch, {error.data(), 2}), RLCORE_E_SHAPE);
  CHECK(learner->stats().num_updates == 1);

  /* Discrete SAC needs the mask of obs, too. */
  settings = rlcore::learner_config(RLCORE_ALGORITHM_SAC);
  settings.num_envs = 1, settings.buffer_size = 0, settings.batch_size = 3, settings.use_action_mask = 1;
  auto soft = rlcore::learner<>::make(settings, env);
  IS(soft.why(), RLCORE_OK);
  IS(soft->learn_transitions(batch), RLCORE_E_SHAPE);
  const std::vector<std::uint8_t> first = {0, 1, 1, 1, 0, 1}, none = {0, 1, 1, 1, 0, 0};
  IS(soft->learn_transitions({obs, obs, action, reward, terminated, discount, mask, importance, none}), RLCORE_E_VALUE);
  IS(soft->learn_transitions({obs, obs, action, reward, terminated, discount, mask, importance, first}, error), RLCORE_OK);
  CHECK(soft->stats().num_updates == 1);

  settings = rlcore::learner_config();
  settings.num_envs = 1, settings.num_steps = 4;
  auto on_policy = rlcore::learner<>::make(settings, env);
  IS(on_policy.why(), RLCORE_OK);
  const std::vector<float> seen(16), four(4);
  const std::vector<std::int32_t> choices(4);
  const std::vector<std::uint8_t> zeros(4);
  IS(on_policy->learn_transitions({seen, seen, choices, four, zeros}), RLCORE_E_DISABLED);
}

/* Spans of another length are also refused by calls that inspect a learner or share its updates. */
void parts_have_to_fit() {
  auto env = rlcore::env_builtin(RLCORE_ENV_CARTPOLE);
  rlcore_learner_config settings = rlcore::learner_config();
  settings.num_envs = 2;
  settings.num_steps = 4;
  settings.num_chunks = 2;
  auto learner = rlcore::learner<>::make(settings, env);
  IS(learner.why(), RLCORE_OK);
  const std::vector<float> obs(8);
  const std::vector<std::int32_t> action(2);
  std::vector<float> two(2), three(3), grads(2 * *learner->grads_len() + 1), params(*learner->params_len() + 1);
  std::vector<std::uint64_t> scratch(*learner->scratch_len());
  const std::vector<std::uint8_t> flags(3, 1);
  std::uint8_t acted[3] = {};
  IS(learner->act(obs, {}, flags), RLCORE_E_SHAPE);
  IS(learner->act_range(1, 3, obs), RLCORE_E_RANGE);
  IS(learner->act_range(2, 1, obs), RLCORE_E_RANGE);
  IS(learner->act_range(0, 1, two), RLCORE_E_SHAPE);
  IS(learner->act_range(0, 2, obs, {}, flags), RLCORE_E_SHAPE);
  IS(learner->demonstrate(obs, {action.data(), 1}), RLCORE_E_SHAPE);
  IS(learner->demonstrate(two, action), RLCORE_E_SHAPE);
  IS(learner->demonstrate(obs, action, flags), RLCORE_E_SHAPE);
  IS(learner->demonstrate(obs, action, {}, flags), RLCORE_E_SHAPE);
  IS(learner->demonstrate(obs, action), RLCORE_E_DISABLED); /* it learns from its own actions only */
  IS(learner->acted(acted), RLCORE_E_SHAPE);
  IS(learner->cut(flags), RLCORE_E_SHAPE);
  IS(learner->observe(three, {flags.data(), 2}, {flags.data(), 2}), RLCORE_E_SHAPE);
  IS(learner->observe(two, flags, {flags.data(), 2}), RLCORE_E_SHAPE);
  IS(learner->observe(two, {flags.data(), 2}, flags), RLCORE_E_SHAPE);
  IS(learner->observe(two, {flags.data(), 2}, {flags.data(), 2}, three), RLCORE_E_SHAPE);
  IS(learner->observe(two, {flags.data(), 2}, {flags.data(), 2}, {}, flags), RLCORE_E_SHAPE);
  IS(learner->value(obs, three), RLCORE_E_SHAPE);
  IS(learner->value(two, two), RLCORE_E_SHAPE);
  IS(learner->log_prob(two, action, two, two), RLCORE_E_SHAPE);
  IS(learner->log_prob(obs, {action.data(), 1}, two, two), RLCORE_E_SHAPE);
  IS(learner->log_prob(obs, action, three, two), RLCORE_E_SHAPE);
  IS(learner->log_prob(obs, action, two, three), RLCORE_E_SHAPE);
  IS(learner->log_prob(obs, action, two, two, flags), RLCORE_E_SHAPE);
  IS(learner->params_read(params), RLCORE_E_SHAPE);
  IS(learner->params_write(params), RLCORE_E_SHAPE);
  IS(learner->learn_begin(two), RLCORE_E_SHAPE);
  IS(learner->learn_begin(obs), RLCORE_E_NOT_READY);
  IS(learner->learn_range(0, 2, scratch, grads), RLCORE_E_SHAPE);
  IS(learner->learn_range(1, 0, scratch, grads), RLCORE_E_RANGE);
  IS(learner->grads_read(0, 2, grads), RLCORE_E_SHAPE);
  IS(learner->grads_write(0, 2, grads), RLCORE_E_SHAPE);
  IS(learner->grads_add(0, 2, grads), RLCORE_E_SHAPE);
  IS(learner->learn_apply(), RLCORE_E_NOT_READY);
  IS(learner->learn_batch({}), RLCORE_E_SHAPE);
  IS(learner->learn_batch({9, 4, 1, 0}), RLCORE_E_SHAPE);
  IS(learner->batch_read().why(), RLCORE_E_NOT_READY);
  auto loaded = rlcore::learner<>::load(learner->bytes());
  IS(loaded.why(), RLCORE_OK);
  IS(loaded->batch_read().why(), RLCORE_E_NOT_READY);
  IS(loaded->learn_batch({9, 4, 1, 0}), RLCORE_E_SHAPE);
  IS(loaded->learn_batch({8, 4, 1, 0}), RLCORE_OK);
  IS(learner->learn_batch({8, 4, 1, 0}), RLCORE_OK);
  CHECK(loaded->batch_read() && loaded->batch_read()->advantage == learner->batch_read()->advantage);

  rlcore::learner<> none;
  IS(none.cut({}), RLCORE_E_NULL);
  CHECK(!none.params_len() && !none.params_read({}) && !none.grads_len() && !none.scratch_len() && !none.learn_drop() && !none.learn_apply());
}

/* Loading takes everything from the saved bytes; other types and other bytes are refused. */
void what_was_saved_is_what_is_loaded() {
  auto env = rlcore::env_builtin(RLCORE_ENV_CARTPOLE);
  rlcore_learner_config settings = rlcore::learner_config();
  settings.num_envs = 3;
  auto learner = rlcore::learner<>::make(settings, env);
  auto envs = make<float, std::int32_t>(env, 3);
  IS(envs.reset(), RLCORE_OK);
  IS(rlcore::learner<std::uint8_t>::load(learner->bytes()).why(), RLCORE_E_CONFIG);
  IS((rlcore::learner<float, float>::load(learner->bytes()).why()), RLCORE_E_CONFIG);
  IS(rlcore::learner<>::load({}).why(), RLCORE_E_SIZE);
  IS(rlcore::learner<>::load(envs.bytes()).why(), RLCORE_E_IMAGE);
  IS(rlcore::learner<>::load(learner->bytes().subspan(0, learner->bytes().size() - 1)).why(), RLCORE_E_SIZE);

  rlcore_vecenv_config config = envs.config();
  const auto load = [&](std::uint32_t num_envs, rlcore::span<const float> obs) {
    config.num_envs = num_envs;
    return rlcore::vecenv<>::load(env, config, envs.bytes(), obs).why();
  };
  IS(load(3, envs.obs()), RLCORE_OK);
  IS(load(2, envs.obs()), RLCORE_E_CONFIG);
  IS(load(2, envs.obs().subspan(0, 8)), RLCORE_E_CONFIG);
  IS(load(4, std::vector<float>(16)), RLCORE_E_CONFIG);
  IS(load(3, envs.obs().subspan(0, 11)), RLCORE_E_SHAPE);
  IS(load(3, {}), RLCORE_E_SHAPE);
  IS(load(3, std::vector<float>(13)), RLCORE_E_SHAPE);

  auto policy = learner->policy();
  IS(policy.why(), RLCORE_OK);
  auto shipped = rlcore::block<rlcore_policy>::load(policy->bytes(), attach_any);
  IS(shipped.why(), RLCORE_OK);
  CHECK(rlcore::hash(shipped->bytes()) == rlcore::hash(policy->bytes()));
  std::size_t scratch_len = 0;
  IS(rlcore_policy_scratch_len(shipped->get(), 3, &scratch_len), RLCORE_OK);
  std::vector<float> scratch(scratch_len);
  std::int32_t action[3] = {-1, -1, -1};
  rlcore_rows rows = envs.out().rows();
  rows.action = action;
  rlcore_policy_buffers buffers = {};
  buffers.struct_size = sizeof buffers;
  buffers.scratch = scratch.data();
  buffers.scratch_len = scratch.size();
  IS(rlcore_policy_act_greedy(shipped->get(), 3, &rows, &buffers), RLCORE_OK);
  CHECK(action[0] >= 0 && action[2] >= 0);
  IS(rlcore::block<rlcore_policy>::load(learner->bytes(), attach_any).why(), RLCORE_E_IMAGE);
}

/* No reward, and choice 1 is never allowed; episodes are truncated. */
struct corridor {
  static constexpr std::uint32_t env_id = 1110, obs_len = 1, max_episode_steps = 3;
  static constexpr std::uint32_t choices[] = {2};
  double unused;

  void reset(rlcore_rng &, rlcore::span<float> obs) { obs[0] = 1; }
  void step(rlcore_rng &, rlcore::span<const std::int32_t>, rlcore::span<float> obs, rlcore_step &) { obs[0] = 1; }
  void action_mask(rlcore::span<std::uint8_t> mask) const { mask[0] = 1, mask[1] = 0; }
};

/* train_step and the calls that take a vecenv pass its masks on: the Q of choice 1, 50, is never taken for a value. A learner
   without masks uses none. */
void masks_reach_the_learner() {
  for (const rlcore_algorithm algorithm : {RLCORE_ALGORITHM_PQN, RLCORE_ALGORITHM_DQN, RLCORE_ALGORITHM_STREAM_Q}) {
    for (const bool whole : {true, false}) {
      auto envs = make<corridor>(2);
      CHECK(envs.mask_len() == 2 && envs.action_mask().size() == 4 && envs.final_action_mask().size() == 4);
      rlcore_learner_config settings = rlcore::learner_config(algorithm);
      settings.num_envs = algorithm == RLCORE_ALGORITHM_STREAM_Q ? 1 : 2;
      if (settings.num_envs == 1) envs = make<corridor>(1);
      if (algorithm == RLCORE_ALGORITHM_PQN) {
        settings.num_steps = 4, settings.num_minibatches = settings.num_epochs = 1;
        settings.adam_beta2 = 0.9F; /* so that steps do not shrink with the gradient */
      }
      if (algorithm == RLCORE_ALGORITHM_DQN) settings.buffer_size = 100, settings.learning_starts = settings.batch_size = 20;
      settings.num_hidden = 0;
      for (std::uint32_t &len : settings.hidden_len) len = 0;
      settings.hidden_norm = settings.normalize_obs = settings.normalize_reward = settings.exploration_steps = 0;
      if (algorithm == RLCORE_ALGORITHM_DQN) settings.huber = 0, settings.train_interval = 1, settings.target_interval = 5;
      settings.use_action_mask = 1, settings.discount = 0.9F;
      if (settings.learning_rate < 0.5F) settings.learning_rate = settings.learning_rate_end = 0.02F;
      auto learner = rlcore::learner<>::make(settings, envs.env());
      IS(learner.why(), RLCORE_OK);
      const float worth[] = {0, 0, 10, 50}; /* weights, and the Q-values of both choices */
      IS(learner->params_write(worth), RLCORE_OK);
      IS(envs.reset(), RLCORE_OK);
      CHECK(envs.action_mask()[0] == 1 && envs.action_mask()[1] == 0);
      rlcore::workers pool(envs, whole ? 0 : 1);
      for (int i = 0; i < 3000; i++) {
        if (whole) {
          IS(learner->train_step(envs), RLCORE_OK);
          continue;
        }
        IS(learner->act(envs), RLCORE_OK);
        IS(pool.step(learner->action()), RLCORE_OK);
        IS(learner->observe(envs), RLCORE_OK);
        if (*learner->due() != RLCORE_LEARNER_LEARN) continue;
        if (algorithm != RLCORE_ALGORITHM_STREAM_Q) IS(learner->learn_begin(envs), RLCORE_OK);
        IS(learner->learn(envs), RLCORE_OK);
      }
      std::vector<float> value(settings.num_envs);
      IS(learner->value(envs.obs(), value, envs.action_mask()), RLCORE_OK);
      CHECK(value[0] < 0.5F && value[0] > -0.5F);
      IS(learner->value(envs.obs(), value), RLCORE_OK);
      CHECK(value[0] == 50);
      IS(learner->value(envs.obs(), value, envs.action_mask().subspan(0, 1)), RLCORE_E_SHAPE);
      pool.close();

      settings.use_action_mask = 0;
      learner = rlcore::learner<>::make(settings, envs.env());
      for (int i = 0; i < 20; i++) IS(learner->train_step(envs), RLCORE_OK);
    }
  }
}

}  // namespace

void learners() {
  a_learner();
  masks_reach_the_learner();
  actions_of_several_parts();
  spans_have_to_fit();
  rows_come_and_go();
  demonstrations_are_learned_from();
  transitions_of_the_host_are_learned_from();
  parts_have_to_fit();
  what_was_saved_is_what_is_loaded();
}
