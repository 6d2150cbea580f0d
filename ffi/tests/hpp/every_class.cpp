/* Every class of the header with every kind of environment: bare and wrapped, numbers and pictures, several discrete actions
   and continuous ones; stepped, saved, loaded, moved, pooled and learned from. */
#include "test.h"

namespace {

constexpr std::uint32_t num_envs = 6;

/* A picture of two rows, three columns and two channels; two actions; it ends after a random number of steps. */
struct picture {
  using obs_type = std::uint8_t;
  static constexpr std::uint32_t env_id = 1110, obs_len = 12, max_episode_steps = 9;
  static constexpr std::uint32_t choices[] = {3, 2};
  std::uint32_t left, spot;

  void reset(rlcore_rng &rng, rlcore::span<std::uint8_t> obs) {
    std::int64_t draw[2] = {};
    (void)rlcore_rng_integers(&rng, 1, 12, draw, 2);
    left = static_cast<std::uint32_t>(draw[0]);
    spot = static_cast<std::uint32_t>(draw[1]);
    look(obs);
  }
  void step(rlcore_rng &, rlcore::span<const std::int32_t> action, rlcore::span<std::uint8_t> obs, rlcore_step &out) {
    spot = (spot + static_cast<std::uint32_t>(action[0]) + 5 * static_cast<std::uint32_t>(action[1])) % obs_len;
    out.reward = spot < 4 ? 1.0f : -0.5f;
    out.terminated = --left == 0;
    look(obs);
  }
  std::uint32_t lives() const { return 1; }

 private:
  void look(rlcore::span<std::uint8_t> obs) const {
    for (std::size_t i = 0; i < obs.size(); i++) obs[i] = i == spot ? 255 : static_cast<std::uint8_t>(i * 9);
  }
};

/* Numbers; two continuous actions. */
struct drift {
  static constexpr std::uint32_t env_id = 1111, obs_len = 3, action_len = 2, max_episode_steps = 7;
  static constexpr float action_low[] = {-1, -3}, action_high[] = {1, 3};
  double x, y;

  void reset(rlcore_rng &rng, rlcore::span<float> obs) {
    double draw[2] = {};
    (void)rlcore_rng_uniform(&rng, -1, 1, draw, 2);
    x = draw[0], y = draw[1];
    look(obs);
  }
  void step(rlcore_rng &, rlcore::span<const float> action, rlcore::span<float> obs, rlcore_step &out) {
    x = (x + static_cast<double>(action[0])) / 2, y = (y + static_cast<double>(action[1])) / 2;
    out.reward = static_cast<float>(-x * x);
    out.terminated = y > 1.2;
    look(obs);
  }

 private:
  void look(rlcore::span<float> obs) const {
    obs[0] = static_cast<float>(x), obs[1] = static_cast<float>(y), obs[2] = 1;
  }
};

rlcore_wrapper wrapper(std::uint32_t kind, std::uint32_t count = 0) {
  rlcore_wrapper w = {};
  w.kind = kind;
  w.count = count;
  return w;
}

/* Valid actions, different in each row and step. */
template <class Action>
std::vector<Action> actions(std::uint32_t len, std::size_t step) {
  std::vector<Action> action(num_envs * len);
  for (std::size_t i = 0; i < action.size(); i++)
    if constexpr (std::is_same_v<Action, float>) action[i] = 0.125f * static_cast<float>((i * 5 + step * 3) % 9) - 0.5f;
    else action[i] = static_cast<Action>((i * 7 + step * 3) / 4 % 2);
  return action;
}

/* Whether all outputs and bytes of two sets of environments are equal. */
template <class Obs, class Action>
bool same(rlcore::vecenv<Obs, Action> &a, rlcore::vecenv<Obs, Action> &b) {
  rlcore::arrays<Obs> &x = a.out(), &y = b.out();
  return rlcore::hash(a.bytes()) == rlcore::hash(b.bytes()) && x.obs == y.obs && x.final_obs == y.final_obs && x.reward == y.reward &&
         x.terminated == y.terminated && x.truncated == y.truncated && x.valid == y.valid;
}

/* Moved objects go on, moved-from objects refuse every call, and a new object may be assigned to them. */
template <class Obs, class Action>
void moves(rlcore::vecenv<Obs, Action> envs, rlcore::learner<Obs, Action> *learner) {
  const std::uint32_t len = envs.action_len();
  rlcore::vecenv<Obs, Action> still = envs, moved = std::move(envs);
  CHECK(!envs.step(actions<Action>(len, 0)) && !envs.step_range(0, 1, actions<Action>(len, 0)) && !envs.reset() && !envs.reset_one(0, 1));
  CHECK(envs.obs().empty() && envs.bytes().empty() && envs.get() == nullptr);
  IS(moved.step(actions<Action>(len, 0)), RLCORE_OK);
  IS(still.step(actions<Action>(len, 0)), RLCORE_OK);
  CHECK(same(moved, still));
  envs = std::move(moved);
  IS(envs.step(actions<Action>(len, 1)), RLCORE_OK);
  IS(still.step(actions<Action>(len, 1)), RLCORE_OK);
  CHECK(same(envs, still));
  envs = rlcore::vecenv<Obs, Action>();
  CHECK(!envs.reset() && !envs.step({}));

  if (!learner) return;
  rlcore::learner<Obs, Action> teacher = *learner, heir = std::move(*learner);
  rlcore::vecenv<Obs, Action> others = still;
  CHECK(!learner->act(still.obs()) && !learner->observe(still) && !learner->learn(still.obs()) && !learner->train_step(still));
  CHECK(!learner->due() && !learner->policy() && learner->bytes().empty() && learner->action().empty());
  *learner = std::move(heir);
  IS(learner->train_step(still), RLCORE_OK);
  IS(teacher.train_step(others), RLCORE_OK);
  CHECK(same(still, others) && rlcore::hash(learner->bytes()) == rlcore::hash(teacher.bytes()));
  heir = rlcore::learner<Obs, Action>();
  CHECK(!heir.train_step(still) && !heir.act({}));
}

/* A pool of any size gives the results of the caller alone, for each way to collect them. */
template <class Obs, class Action>
void is_pooled(const rlcore::vecenv<Obs, Action> &made) {
  rlcore::vecenv<Obs, Action> serial = made;
  const std::uint32_t len = serial.action_len();
  for (std::size_t i = 0; i < 20; i++) IS(serial.step(actions<Action>(len, i)), RLCORE_OK);
  for (const unsigned threads : {0u, 1u, 3u}) {
    rlcore::vecenv<Obs, Action> envs = made;
    {
      rlcore::workers pool(envs, threads, 2);
      IS(pool.state(), RLCORE_OK);
      for (std::size_t i = 0; i < 19; i++) IS(pool.step(actions<Action>(len, i)), RLCORE_OK);
      IS(pool.step_async(actions<Action>(len, 19)), RLCORE_OK);
      rlcore::arrays<Obs> some;
      std::vector<std::uint32_t> rows(2);
      for (std::uint32_t got = 0; got < num_envs; got += 2) {
        IS(pool.recv(rows, some), RLCORE_OK);
        CHECK(some.fits(2, envs.obs_len()));
        for (std::size_t k = 0; k < 2; k++) {
          const Obs *obs = &some.obs[k * envs.obs_len()], *wanted = &serial.out().obs[rows[k] * envs.obs_len()];
          CHECK(std::memcmp(obs, wanted, sizeof(Obs) * envs.obs_len()) == 0 && some.reward[k] == serial.reward()[rows[k]]);
        }
      }
    }
    CHECK(rlcore::hash(envs.bytes()) == rlcore::hash(serial.bytes()));
    rlcore::workers pool(envs, threads, 3);
    IS(pool.reset(5), RLCORE_OK);
    IS(pool.reset_one(2, 9), RLCORE_OK);
    rlcore::vecenv<Obs, Action> alone = serial;
    IS(alone.reset(5), RLCORE_OK);
    IS(alone.reset_one(2, 9), RLCORE_OK);
    CHECK(rlcore::hash(envs.bytes()) == rlcore::hash(alone.bytes()) && envs.out().obs == alone.out().obs);
  }
}

/* Acting in ranges and learning in chunks, locally or from an exported batch, gives the learner that single calls give. */
template <class Obs, class Action>
void is_shared(const rlcore::environment &env, rlcore::vecenv<Obs, Action> envs) {
  rlcore_learner_config config = rlcore::learner_config(RLCORE_ALGORITHM_PPO);
  config.num_envs = num_envs;
  config.num_steps = 6;
  config.num_chunks = 3;
  config.hidden_len[0] = config.hidden_len[1] = 8;
  auto learner = rlcore::learner<Obs, Action>::make(config, env), server = rlcore::learner<Obs, Action>::make(config, env);
  IS(learner.why(), RLCORE_OK);
  if (!learner || !server) return;
  const std::size_t n = num_envs;
  std::vector<std::uint8_t> active(n, 1), acted(n, 9);
  for (int i = 0; i < 6; i++) {
    for (std::uint32_t row = 0; row < num_envs; row++)
      IS(learner->act_range(row, row + 1, envs.obs()), RLCORE_OK);
    IS(learner->acted(acted), RLCORE_OK);
    CHECK(acted == active);
    IS(envs.step(learner->action()), RLCORE_OK);
    IS(learner->observe(envs, active), RLCORE_OK);
  }
  rlcore::learner<Obs, Action> alone = *learner;
  IS(alone.learn(envs.obs()), RLCORE_OK);

  auto scratch_len = learner->scratch_len(), grads_len = learner->grads_len(), params_len = learner->params_len();
  CHECK(scratch_len && grads_len && params_len && *grads_len > *params_len);
  std::vector<std::uint64_t> scratch(*scratch_len);
  std::vector<float> grads(3 * *grads_len), again(grads.size());
  IS(learner->learn_begin(envs.obs()), RLCORE_OK);
  auto batch = learner->batch_read();
  IS(batch.why(), RLCORE_OK);
  IS(server->learn_batch(*batch), RLCORE_OK);
  while (learner->stats().minibatches_left > 0) {
    for (const std::uint32_t chunk : {2u, 0u, 1u})
      IS(learner->learn_range(chunk, chunk + 1, scratch, rlcore::span<float>(grads).subspan(chunk * *grads_len, *grads_len)), RLCORE_OK);
    IS(learner->grads_add(0, 1, rlcore::span<float>(grads).subspan(0, *grads_len)), RLCORE_OK);
    IS(learner->grads_read(1, 3, rlcore::span<float>(again).subspan(0, 2 * *grads_len)), RLCORE_E_NOT_READY);
    IS(learner->grads_write(0, 3, grads), RLCORE_OK);
    IS(learner->grads_read(0, 3, again), RLCORE_OK);
    CHECK(again == grads);
    IS(learner->learn_apply(), RLCORE_OK);
  }
  CHECK(learner->stats().num_updates == 1 && learner->stats().policy_loss == alone.stats().policy_loss);
  IS(server->learn({}), RLCORE_OK);

  std::vector<float> params(*params_len), others(*params_len), value(n), other(n), log_prob(n), entropy(n, -1);
  IS(learner->params_read(params), RLCORE_OK);
  IS(server->params_read(others), RLCORE_OK);
  CHECK(params == others);
  IS(alone.params_read(others), RLCORE_OK);
  CHECK(params == others);
  for (float &x : others) x /= 2;
  IS(server->params_write(others), RLCORE_OK);
  IS(learner->value(envs.obs(), value), RLCORE_OK);
  IS(server->value(envs.obs(), other), RLCORE_OK);
  CHECK(value != other);
  IS(server->params_write(params), RLCORE_OK);
  IS(server->value(envs.obs(), other), RLCORE_OK);
  CHECK(value == other);
  IS(learner->log_prob(envs.obs(), rlcore::span<const Action>(batch->action).subspan(0, n * envs.action_len()), log_prob, entropy), RLCORE_OK);
  CHECK(log_prob[0] != 0 && entropy[n - 1] != -1);

  auto tensors = learner->tensors();
  auto layers = learner->layers();
  auto made_with = learner->config();
  CHECK(tensors && layers && made_with && (*tensors)[0].name == std::string("policy.0.weight") && layers->back().units == 1);
  CHECK(made_with->num_envs == n && made_with->layers == nullptr);
  auto slower = *made_with;
  slower.learning_rate /= 2;
  IS(learner->configure(slower), RLCORE_OK);
  CHECK(learner->config()->learning_rate == slower.learning_rate);
  IS(learner->configure(*made_with), RLCORE_OK);
  std::vector<float> by_name(*params_len);
  IS(learner->tensors_read(RLCORE_TENSORS_PARAMS, by_name), RLCORE_OK);
  IS(learner->tensors_read(RLCORE_TENSORS_TARGETS, by_name), RLCORE_E_DISABLED);
  IS(learner->tensors_write(RLCORE_TENSORS_PARAMS, *tensors, by_name), RLCORE_OK);
  auto fixed = learner->set_trainable("policy.0.*", false);
  CHECK(fixed && *fixed == 2 && learner->tensors()->front().frozen == 1);
  CHECK(!learner->set_trainable("nothing", false) && learner->set_trainable("*", true) && learner->tensors()->front().frozen == 0);
  IS(learner->params_read(others), RLCORE_OK);
  CHECK(params == others);
  std::vector<float> told(n), said(n);
  rlcore::distribution<Action> asked;
  asked.value = told, asked.log_prob = said;
  IS(learner->distribution(envs.obs(), asked, rlcore::span<const Action>(batch->action).subspan(0, n * envs.action_len())), RLCORE_OK);
  CHECK(told == value && said == log_prob);
  auto loss = learner->imitate(envs.obs(), rlcore::span<const Action>(batch->action).subspan(0, n * envs.action_len()));
  CHECK(loss);
  IS(learner->distribution(envs.obs(), asked, rlcore::span<const Action>(batch->action).subspan(0, n * envs.action_len())), RLCORE_OK);
  CHECK(said != log_prob);
  IS(learner->params_write(params), RLCORE_OK);
  auto shipped = learner->policy();
  IS(server->params_write(others), RLCORE_OK);
  IS(server->adopt(*learner, RLCORE_ADOPT_PARAMS | RLCORE_ADOPT_COUNTERS), RLCORE_OK);
  IS(server->params_read(others), RLCORE_OK);
  CHECK(params == others && server->stats().num_steps == learner->stats().num_steps);
  IS(server->adopt(*server, RLCORE_ADOPT_PARAMS), RLCORE_E_OVERLAP);
  IS(server->adopt(*shipped, RLCORE_ADOPT_PARAMS), RLCORE_OK);
  asked.value = {}, said.assign(n, 0);
  IS(shipped->distribution(envs.obs(), asked, rlcore::span<const Action>(batch->action).subspan(0, n * envs.action_len())), RLCORE_OK);
  CHECK(said == log_prob);
}

/* Training that is saved between any two calls ends with the same bytes as uninterrupted training. */
template <class Obs, class Action>
void is_learned_from(const rlcore::environment &env, rlcore::vecenv<Obs, Action> envs) {
  rlcore_learner_config config = rlcore::learner_config();
  config.num_envs = num_envs;
  config.num_steps = 6;
  config.hidden_len[0] = config.hidden_len[1] = 8;
  auto learner = rlcore::learner<Obs, Action>::make(config, env);
  IS(learner.why(), RLCORE_OK);
  if (!learner) return;
  for (int i = 0; i < 15; i++) IS(learner->train_step(envs), RLCORE_OK);
  CHECK(learner->stats().num_updates == 2);

  /* Steps in one call are those of single calls; without masks, the environments' own are those of the last step. */
  auto collector = *learner, stepper = *learner;
  rlcore::vecenv<Obs, Action> collected = envs, stepped = envs;
  for (const std::uint32_t most : {2u, 0u, 5u}) {
    auto steps = collector.collect(collected, most);
    IS(steps.why(), RLCORE_OK);
    CHECK(*steps == (most == 2 ? 2u : most == 5 ? 0u : 1u));
    for (std::uint32_t i = 0; i < *steps; i++) {
      IS(stepper.act(stepped), RLCORE_OK);
      IS(stepped.step(stepper.action()), RLCORE_OK);
      IS(stepper.observe(stepped), RLCORE_OK);
    }
    CHECK(same(collected, stepped) && rlcore::hash(collector.bytes()) == rlcore::hash(stepper.bytes()));
    CHECK(collected.out().action_mask == stepped.out().action_mask);
  }

  auto loaded = rlcore::learner<Obs, Action>::load(learner->bytes());
  auto world = rlcore::vecenv<Obs, Action>::load(env, envs.config(), envs.bytes(), envs.obs());
  IS(loaded.why(), RLCORE_OK);
  IS(world.why(), RLCORE_OK);
  CHECK(world->out().obs == envs.out().obs);
  for (int i = 0; i < 2; i++) {
    IS(learner->train_step(envs), RLCORE_OK);
    IS(loaded->train_step(*world), RLCORE_OK);
  }
  IS(learner->act(envs.obs()), RLCORE_OK);
  IS(envs.step(learner->action()), RLCORE_OK);
  IS(learner->observe(envs), RLCORE_OK);
  IS(learner->learn(envs.obs(), 1), RLCORE_OK);
  CHECK(learner->stats().minibatches_left > 0);
  auto later = rlcore::learner<Obs, Action>::load(learner->bytes()); /* during an update */
  IS(later.why(), RLCORE_OK);
  IS(loaded->train_step(*world), RLCORE_OK);
  IS(learner->learn({}), RLCORE_OK);
  IS(later->learn({}), RLCORE_OK);
  CHECK(rlcore::hash(envs.bytes()) == rlcore::hash(world->bytes()) && envs.out().obs == world->out().obs);
  CHECK(rlcore::hash(learner->bytes()) == rlcore::hash(loaded->bytes()));
  CHECK(rlcore::hash(later->bytes()) == rlcore::hash(loaded->bytes()) && later->stats().num_updates == 3);
  auto policy = learner->policy();
  IS(policy.why(), RLCORE_OK);
  auto file = policy->onnx();
  CHECK(file && file->size() > 100 && (*file)[0] == 8);
  auto source = policy->c_source("fly");
  CHECK(source && source->find("fly_act(") != std::string::npos && source->find("#endif\n") != std::string::npos);
  IS(policy->c_source("no prefix").why(), RLCORE_E_CONFIG);
  IS(rlcore::block<rlcore_policy>::load(policy->bytes(), attach_any).why(), RLCORE_OK);
  moves(envs, &*learner);
  is_shared(env, envs);
}

template <class Obs, class Action>
void all(rlcore_env_def env, const std::vector<rlcore_wrapper> &wrappers, std::uint32_t obs_len, bool learned) {
  env.wrappers = wrappers.data();
  env.num_wrappers = static_cast<std::uint32_t>(wrappers.size());
  auto envs = make<Obs, Action>(env, num_envs);
  CHECK(envs.obs_len() == obs_len && envs.obs().size() == num_envs * obs_len && envs.whole());
  IS(envs.reset(), RLCORE_OK);
  for (std::size_t i = 0; i < 10; i++) IS(envs.step(actions<Action>(envs.action_len(), i)), RLCORE_OK);
  auto split = envs;
  const std::vector<Action> action = actions<Action>(envs.action_len(), 10);
  IS(envs.step(action), RLCORE_OK);
  IS(split.step_range(4, 6, action), RLCORE_OK);
  IS(split.step_range(0, 4, action), RLCORE_OK);
  CHECK(same(envs, split));
  IS(envs.step(rlcore::span<const Action>(action).subspan(1, action.size() - 1)), RLCORE_E_SHAPE);

  auto loaded = rlcore::vecenv<Obs, Action>::load(env, envs.config(), envs.bytes(), envs.obs());
  IS(loaded.why(), RLCORE_OK);
  IS(envs.step_env(action, RLCORE_LEVEL_SAME), RLCORE_OK);
  IS(loaded->step_env(action, RLCORE_LEVEL_SAME), RLCORE_OK);
  CHECK(rlcore::hash(envs.bytes()) == rlcore::hash(loaded->bytes()) && loaded->out().obs == envs.out().obs);
  is_pooled(envs);
  moves(envs, static_cast<rlcore::learner<Obs, Action> *>(nullptr));
  if (learned) is_learned_from(env, envs);
}

}  // namespace

void every_class() {
  const rlcore_field shape[] = {{"", RLCORE_U8, 3, {2, 3, 2, 0}, 0, 0}};
  rlcore_env_def seen = rlcore::env_of<picture>();
  seen.fields = shape;
  seen.num_fields = 1;
  const rlcore_wrapper stack = wrapper(RLCORE_WRAP_FRAME_STACK, 3), first = wrapper(RLCORE_WRAP_CHANNELS_FIRST);
  const rlcore_wrapper floats = wrapper(RLCORE_WRAP_SCALED_FLOAT), skip = wrapper(RLCORE_WRAP_MAX_AND_SKIP, 2);
  rlcore_wrapper warp = wrapper(RLCORE_WRAP_WARP_FRAME);
  warp.height = 1, warp.width = 2;
  all<std::uint8_t, std::int32_t>(seen, {}, 12, true);
  all<std::uint8_t, std::int32_t>(seen, {stack}, 36, true);
  all<std::uint8_t, std::int32_t>(seen, {skip, warp, stack, first}, 12, true);
  all<float, std::int32_t>(seen, {floats}, 12, true);
  all<float, std::int32_t>(seen, {stack, floats, first}, 36, true);
  all<std::uint8_t, std::int32_t>(seen, {wrapper(RLCORE_WRAP_RECORD)}, 40, false);

  const rlcore_env_def moving = rlcore::env_of<drift>();
  all<float, float>(moving, {}, 3, true);
  all<float, float>(moving, {stack, wrapper(RLCORE_WRAP_RESCALE_ACTION)}, 9, true);
  all<float, float>(moving, {wrapper(RLCORE_WRAP_CLIP_ACTION), wrapper(RLCORE_WRAP_CLIP_REWARD), stack}, 9, true);

  auto cart = rlcore::env_builtin(RLCORE_ENV_CARTPOLE), pendulum = rlcore::env_builtin(RLCORE_ENV_PENDULUM);
  all<float, std::int32_t>(cart, {stack}, 12, true);
  all<float, float>(pendulum, {stack}, 9, true);

  /* Elements are those of the wrapped environment. */
  rlcore_env_def scaled = seen;
  scaled.wrappers = &floats;
  scaled.num_wrappers = 1;
  IS((rlcore::vecenv<std::uint8_t, std::int32_t>::make(scaled, rlcore::vecenv_config()).why()), RLCORE_E_CONFIG);
  IS((rlcore::learner<std::uint8_t, std::int32_t>::make(rlcore::learner_config(), scaled).why()), RLCORE_E_CONFIG);
  scaled.num_wrappers = 17;
  IS((rlcore::vecenv<float, std::int32_t>::make(scaled, rlcore::vecenv_config()).why()), RLCORE_E_CONFIG);

  /* A block from a configuration, and again from its bytes. */
  const rlcore_column column = {"reading", RLCORE_F32, 3, 0, 0};
  auto store = rlcore::defaults(rlcore_replay_config_init);
  store.num_envs = 1, store.num_rows = 8, store.columns = &column, store.num_columns = 1;
  auto kept = rlcore::block<rlcore_replay>::make(rlcore_replay_size, rlcore_replay_init, store);
  CHECK(kept && kept->bytes().size() > 8 * 3 * sizeof(float));
  auto reopened = rlcore::block<rlcore_replay>::load(kept->bytes(), rlcore_replay_attach);
  CHECK(reopened && rlcore::hash(reopened->bytes()) == rlcore::hash(kept->bytes()) && reopened->get() != kept->get());
  store.num_rows = 0;
  IS((rlcore::block<rlcore_replay>::make(rlcore_replay_size, rlcore_replay_init, store).why()), RLCORE_E_CONFIG);

  /* Layers by their builders are those of networks that are known by name. */
  namespace of = rlcore::layers;
  const auto named_net = [](rlcore_net net) {
    std::vector<rlcore_layer> list(64);
    std::uint32_t len = 0;
    IS(rlcore_net_preset(net, list.data(), 64, &len), RLCORE_OK);
    list.resize(len);
    return list;
  };
  const auto same = [](const std::vector<rlcore_layer> &a, const std::vector<rlcore_layer> &b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof a[0]) == 0;
  };
  const auto relu = RLCORE_ACTIVATION_RELU, none = RLCORE_ACTIVATION_IDENTITY;
  CHECK(same(named_net(RLCORE_NET_FC), {of::dense(64), of::dense(64)}));
  CHECK(same(named_net(RLCORE_NET_NATURE), {of::conv(32, 8, 4), of::conv(64, 4, 2), of::conv(64, 3), of::dense(512, relu)}));
  rlcore_layer lstm = of::lstm(128), embed = of::embed(128, 11), wide = of::conv(128, 3, 1, none);
  rlcore_layer linear = of::dense(128, none);
  lstm.initializer = linear.initializer = RLCORE_INIT_UNIFORM;
  embed.initializer = RLCORE_INIT_NORMAL;
  embed.flags = RLCORE_LAYER_BYTES;
  wide.same = 1;
  CHECK(same(named_net(RLCORE_NET_LSTM_SIMPLE), {linear, lstm}));
  CHECK(same(named_net(RLCORE_NET_LSTM_BOW_ENDPOOL_RES), {embed, wide, of::norm(relu), wide, of::norm(relu), of::pool(7, relu), lstm}));
  std::vector<rlcore_layer> each = {of::dense(12), of::attention(12, 3, 4), of::add(1, 2), of::gru(6), of::mingru(6),
                                    of::multiply(4, 5), of::join(5, 6), of::from(of::dense(3, none), 7)};
  auto all_net = rlcore::network::make(each, 1, 1, 7);
  CHECK(all_net && all_net->lengths(4)->output_len == 3);
  auto picture_net = rlcore::network::make(std::vector<rlcore_layer>{of::conv(4, 3), of::depthwise(4, 3), of::deconv(2, 3), of::norm()}, 9, 9, 2);
  CHECK(picture_net && picture_net->lengths(1)->output_len > 0);

  /* A network of the host's own: its outputs in two passes, the way back, and its tensors. */
  std::vector<rlcore_layer> layers = {rlcore::layers::dense(4), rlcore::layers::dense(2, RLCORE_ACTIVATION_IDENTITY)};
  auto net = rlcore::network::make(layers, 1, 1, 3);
  CHECK(net);
  auto len = net->lengths(5);
  CHECK(len && len->params_len == 26 && len->output_len == 2);
  std::vector<float> params(26), other(26), grads(26), scratch(len->scratch_len), tape(len->tape_len), x(15, 0.5f), out(10), again(10), d_x(15);
  rlcore_rng rng;
  IS(rlcore_rng_seed(&rng, 3), RLCORE_OK);
  IS(net->init(rng, scratch, params), RLCORE_OK);
  const auto pass = rlcore::network::pass(5, params, rlcore::span<const float>(x), scratch, tape);
  IS(net->forward(pass, out), RLCORE_OK);
  IS(net->forward(rlcore::network::pass(5, params, rlcore::span<const float>(x), scratch), again), RLCORE_OK);
  CHECK(out == again);
  IS(net->backward(pass, out, grads, d_x), RLCORE_OK);
  CHECK(grads[0] != 0 && d_x[14] != 0);
  IS(net->backward(pass, out, rlcore::span<float>(grads).subspan(0, 25)), RLCORE_E_SHAPE);
  IS(net->backward(pass, out, {}, rlcore::span<float>(d_x).subspan(0, 14)), RLCORE_E_SHAPE);
  auto named = net->tensors();
  CHECK(named && named->size() == 4 && (*named)[3].name == std::string("layers.1.bias"));
  IS(net->tensors_read(params, grads), RLCORE_OK);
  IS(net->tensors_write(*named, grads, other), RLCORE_OK);
  CHECK(params == other);
  layers[1].kind = 99;
  IS((rlcore::network::make(layers, 1, 1, 3).why()), RLCORE_E_CONFIG);
  const std::uint32_t part[] = {1, 1};
  IS((rlcore::network::make(layers, 1, 1, 3, part).why()), RLCORE_E_SHAPE);
}
