/* Every failure that the header detects itself: its status, and an error text that names the call and the violated condition. In
   the other files, the macro IS also checks last_error() after each failure. */
#include "test.h"

#if !defined(__cpp_exceptions) && defined(__unix__)
#include <csignal>
#include <sys/wait.h>
#include <unistd.h>
#endif

namespace {

/* Whether the call has this status and its error text holds these words. */
template <class Call>
bool says(Call &&call, rlcore_status wanted, const char *words) {
  return is(call, wanted) && std::string(rlcore::last_error().c_str()).find(words) != std::string::npos;
}
#define SAYS(call, wanted, words) CHECK(says([&]() -> rlcore::status { return (call); }, wanted, words))

using agent = rlcore::learner<>;

agent make_agent(const rlcore::environment &env) {
  rlcore_learner_config settings = rlcore::learner_config();
  settings.num_envs = 4;
  settings.num_steps = 8;
  auto made = agent::make(settings, env);
  IS(made.why(), RLCORE_OK);
  return *std::move(made);
}

/* An object that was never made, and one that was moved from. */
void empty_objects(const rlcore::environment &env) {
  auto envs = make<float, std::int32_t>(env, 4);
  IS(envs.reset(), RLCORE_OK);
  agent gone = make_agent(env), heir = std::move(gone);
  rlcore::vecenv<> left = envs, taken = std::move(left);
  const std::vector<float> obs(16), four(4);
  const std::vector<std::int32_t> action(4);
  const std::vector<std::uint8_t> flags(4);
  std::vector<float> to(4);
  std::vector<std::int32_t> acts(4);
  std::vector<std::uint8_t> acted(4);
  const rlcore_status null = RLCORE_E_NULL;
  for (agent *l : {&gone}) {
    SAYS(l->act(obs), null, "learner act: the object is empty");
    SAYS(l->act_range(0, 1, {obs.data(), 4}), null, "learner act_range: the object is empty");
    SAYS(l->demonstrate(obs, action), null, "learner demonstrate: the object is empty");
    SAYS(l->predict(obs, acts), null, "learner predict: the object is empty");
    SAYS(l->observe(four, flags, flags), null, "learner observe: the object is empty");
    SAYS(l->observe(envs), null, "learner observe: the object is empty");
    SAYS(l->acted(acted), null, "learner acted: the object is empty");
    SAYS(l->cut(flags), null, "learner cut: the object is empty");
    SAYS(l->learn(obs), null, "learner learn: the object is empty");
    SAYS(l->learn_begin(obs), null, "learner learn_begin: the object is empty");
    SAYS(l->learn_batch({}), null, "learner learn_batch: the object is empty");
    SAYS(l->learn_transitions({}), null, "learner learn_transitions: the object is empty");
    SAYS(l->train_step(envs), null, "learner train_step: the object is empty");
    SAYS(l->collect(envs).why(), null, "learner collect: the object is empty");
    SAYS(l->value(obs, to), null, "learner value: the object is empty");
    SAYS(l->log_prob(obs, action, to, to), null, "learner log_prob: the object is empty");
    SAYS(l->distribution(obs, {}), null, "learner distribution: the object is empty");
    for (const rlcore::status s : {l->learn_apply(), l->learn_drop(), l->freeze(), l->seal(), l->due().why(), l->params_len().why(),
                                   l->grads_len().why(), l->scratch_len().why(), l->params_read(to), l->params_write(to),
                                   l->grads_read(0, 1, to), l->policy().why(), l->batch_read().why()})
      CHECK(s == rlcore::status(null));
    SAYS(l->learn_drop(), null, "learner");
    SAYS(l->batch_read().why(), null, "learner");
  }
  agent none;
  SAYS(none.act({}), null, "learner act: the object is empty");
  SAYS(heir.train_step(left), null, "learner train_step: the environments are empty");
  SAYS(heir.collect(left).why(), null, "learner collect: the environments are empty");
  SAYS(heir.observe(left), null, "learner observe: the environments are empty");
  std::vector<std::uint64_t> words;
  for (rlcore::vecenv<> *v : {&left}) {
    SAYS(v->step(action), null, "vecenv step: the object is empty");
    SAYS(v->step_range(0, 1, action), null, "vecenv step_range: the object is empty");
    SAYS(v->reset(), null, "vecenv reset: the object is empty");
    SAYS(v->reset_one(0), null, "vecenv reset_one: the object is empty");
    SAYS(v->row(0, words), null, "vecenv row: the object is empty");
    SAYS(v->restore(0, words), null, "vecenv restore: the object is empty");
  }
}

/* Arrays of another length, and ranges, types and environments that do not fit the learner. */
void what_does_not_fit(const rlcore::environment &env) {
  agent learner = make_agent(env);
  auto envs = make<float, std::int32_t>(env, 4), fewer = make<float, std::int32_t>(env, 3);
  const std::vector<float> obs(16), five(5), four(4);
  const std::vector<std::int32_t> action(4), five_actions(5);
  const std::vector<std::uint8_t> flags(4), five_flags(5);
  std::vector<float> to(4), more(5);
  std::vector<std::int32_t> acts(4), more_acts(5);
  std::vector<std::uint64_t> scratch(*learner.scratch_len());
  const rlcore_status shape = RLCORE_E_SHAPE;
  SAYS(learner.act({obs.data(), 15}), shape, "learner act: elements of obs: expected 16, given 15");
  SAYS(learner.act(obs, five_flags), shape, "learner act: elements of mask: expected 8, given 5");
  SAYS(learner.act(obs, {}, five_flags), shape, "learner act: elements of active: expected 4, given 5");
  SAYS(learner.act_range(3, 5, obs), RLCORE_E_RANGE, "learner act_range: expected a range of 4, given 3 to 5");
  SAYS(learner.act_range(0, 2, {obs.data(), 8}), shape, "learner act_range: elements of obs: expected 16, given 8");
  SAYS(learner.demonstrate(obs, five_actions), shape, "learner demonstrate: elements of action: expected 4, given 5");
  SAYS(learner.predict(obs, more_acts), shape, "learner predict: elements of action: expected 4, given 5");
  SAYS(learner.predict(obs, acts, {}, to), shape, "learner predict: elements of state: expected 0, given 4");
  SAYS(learner.predict(obs, acts, {}, {}, five_flags), shape, "learner predict: elements of reset: expected 4, given 5");
  SAYS(learner.observe(five, flags, flags), shape, "learner observe: elements of reward: expected 4, given 5");
  SAYS(learner.observe(four, five_flags, flags), shape, "learner observe: elements of terminated: expected 4, given 5");
  SAYS(learner.observe(four, flags, five_flags), shape, "learner observe: elements of truncated: expected 4, given 5");
  SAYS(learner.observe(four, flags, flags, five), shape, "learner observe: elements of final_obs: expected 16, given 5");
  SAYS(learner.observe(four, flags, flags, {}, five_flags), shape, "learner observe: elements of active: expected 4, given 5");
  SAYS(learner.observe(fewer), shape, "learner observe: num_envs of the environments: expected 4, given 3");
  SAYS(learner.collect(fewer).why(), shape, "learner collect: num_envs of the environments: expected 4, given 3");
  SAYS(learner.train_step(fewer), shape, "learner train_step: num_envs of the environments: expected 4, given 3");
  std::vector<std::uint8_t> acted(5);
  SAYS(learner.acted(acted), shape, "learner acted: elements of out: expected 4, given 5");
  SAYS(learner.cut(five_flags), shape, "learner cut: elements of gone: expected 4, given 5");
  SAYS(learner.learn(five), shape, "learner learn: elements of obs: expected 16, given 5");
  SAYS(learner.learn_begin(five), shape, "learner learn_begin: elements of obs: expected 16, given 5");
  SAYS(learner.learn_range(1, 0, scratch, to), RLCORE_E_RANGE, "learner learn_range: expected a range");
  SAYS(learner.learn_range(0, 1, scratch, to), shape, "learner learn_range: elements of grads: expected ");
  SAYS(learner.grads_read(0, 1, to), shape, "learner grads_read: elements of grads: expected ");
  SAYS(learner.grads_write(0, 1, to), shape, "learner grads_write: elements of grads: expected ");
  SAYS(learner.grads_add(0, 1, to), shape, "learner grads_add: elements of grads: expected ");
  SAYS(learner.params_read(to), shape, "learner params_read: elements of params: expected ");
  SAYS(learner.params_write(to), shape, "learner params_write: elements of params: expected ");
  SAYS(learner.value(obs, more), shape, "learner value: elements of value: expected 4, given 5");
  SAYS(learner.log_prob(obs, action, more, to), shape, "learner log_prob: elements of log_prob: expected 4, given 5");
  SAYS(learner.log_prob(obs, action, to, more), shape, "learner log_prob: elements of entropy: expected 4, given 5");
  rlcore::distribution<> asked;
  asked.value = more;
  SAYS(learner.distribution(obs, asked), shape, "learner distribution: elements of value: expected 4, given 5");
  asked.value = {}, asked.log_prob = to;
  SAYS(learner.distribution(obs, asked), shape, "learner distribution: elements of action: expected 4, given 0");
  SAYS(learner.learn_batch({31, 4, 1}), shape, "learner learn_batch: elements of obs: expected 128, given 124");
  SAYS(learner.learn_batch({32, 4, 1, 0, 0, 32}), shape, "learner learn_batch: elements of begin: expected 0, given 32");
  SAYS(learner.learn_transitions({}), shape, "learner learn_transitions: elements of obs: expected ");
  SAYS(rlcore::learner<std::uint8_t>::load(learner.bytes()).why(), RLCORE_E_CONFIG, "another type than Obs");
  SAYS((rlcore::learner<float, float>::load(learner.bytes()).why()), RLCORE_E_CONFIG, "another type than Action");
  SAYS((rlcore::vecenv<float, float>::make(env, envs.config()).why()), RLCORE_E_CONFIG, "another type than Action");

  SAYS(envs.step(five_actions), shape, "vecenv step: elements of action: expected 4, given 5");
  SAYS(envs.step_range(0, 1, five_actions), shape, "vecenv step_range: elements of action: expected 4, given 5");
  SAYS(rlcore::vecenv<>::load(env, envs.config(), envs.bytes(), five).why(), shape, "vecenv load: elements of obs: expected 16, given 5");
  SAYS(rlcore::vecenv<>::load(env, fewer.config(), envs.bytes(), obs).why(), RLCORE_E_CONFIG, "vecenv: num_envs: expected 4, given 3");
  envs.out().reward.pop_back();
  SAYS(envs.step(action), shape, "vecenv step: an array of out() has been resized");
  SAYS(envs.reset(), shape, "vecenv reset: an array of out() has been resized");
  SAYS(envs.reset_one(0), shape, "vecenv reset_one: an array of out() has been resized");
  std::vector<std::uint64_t> row;
  SAYS(envs.row(0, row), shape, "vecenv row: an array of out() has been resized");
  SAYS(envs.restore(0, row), shape, "vecenv restore: an array of out() has been resized");
  SAYS(learner.observe(envs), shape, "learner observe: an array of the environments' out() has been resized");
}

/* More memory than there is, and bytes of no object. */
void what_cannot_be_allocated() {
  const auto size = [](std::size_t *bytes) { return *bytes = SIZE_MAX / 2, RLCORE_OK; };
  const auto init = [](void *, std::size_t, rlcore_queue **) { return rlcore_status{RLCORE_OK}; };
  SAYS(rlcore::block<rlcore_queue>::make(size, init).why(), RLCORE_E_SIZE, "bytes cannot be allocated");
#ifdef __cpp_exceptions
  SAYS(rlcore::detail::allocate("learner make", [] { throw std::bad_alloc(); }), RLCORE_E_SIZE, "learner make: not enough memory");
#endif
}

/* must() gives the value, or does not return; with exceptions, the one that it throws says why. */
void what_must_succeed() {
  IS((rlcore::must(rlcore::status(RLCORE_OK)), RLCORE_OK), RLCORE_OK);
  CHECK(must(rlcore::result<int>(7)) == 7);
  rlcore::memory bytes(8);
  const unsigned char *const at = bytes.data();
  CHECK(must(rlcore::result<rlcore::memory>(std::move(bytes))).data() == at);
  const auto none = [] { return rlcore::read_file("/no/such/file"); };
#ifdef __cpp_exceptions
  try {
    (void)must(none());
    CHECK(!"a failure was returned");
  } catch (const rlcore::error &e) {
    CHECK(e.why() == rlcore::status(RLCORE_E_IMAGE) && std::string(e.what()) == "RLCORE_E_IMAGE: read_file: /no/such/file cannot be opened");
  }
#elif defined(__unix__)
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    (void)std::freopen("/dev/null", "w", stderr);
    (void)must(none());
    _exit(0);
  }
  int end = 0;
  CHECK(child > 0 && waitpid(child, &end, 0) == child && WIFSIGNALED(end) && WTERMSIG(end) == SIGABRT);
#endif
}

#ifndef RLCORE_NO_WORKERS
void a_pool_says_why_it_fails() {
  auto envs = make<screen>(4);
  IS(envs.reset(), RLCORE_OK);
  const std::vector<std::int32_t> go(8, 1), odd(7, 1);
  std::vector<std::uint32_t> rows(2);
  std::uint8_t flags[3];
  {
    rlcore::workers pool(envs, 1);
    SAYS(pool.step(odd), RLCORE_E_SHAPE, "workers step: elements of action: expected 8, given 7");
    SAYS(pool.send(rows, odd), RLCORE_E_SHAPE, "workers send: elements of action: expected 4, given 7");
    SAYS(pool.failed(flags), RLCORE_E_SHAPE, "workers failed: elements of flags: expected 4, given 3");
    rlcore::arrays<std::uint8_t> other(2, 3);
    SAYS(pool.recv(rows, other), RLCORE_E_SHAPE, "workers recv: the arrays of out");
    SAYS(pool.recv(rows, envs.out()), RLCORE_E_SHAPE, "workers recv: the vecenv's own arrays");
    envs.out().obs.pop_back();
    IS(pool.step_async(go), RLCORE_OK);
    SAYS(pool.step_wait(), RLCORE_E_SHAPE, "workers step_wait: an array of the vecenv's out()");
    SAYS(pool.reset(), RLCORE_E_SHAPE, "workers reset: an array of the vecenv's out()");
    SAYS(pool.reset_one(0), RLCORE_E_SHAPE, "workers reset_one: an array of the vecenv's out()");
    envs.out().obs.push_back(0);
    IS(pool.step_wait(), RLCORE_OK);
    pool.close();
    SAYS(pool.step(go), RLCORE_E_CONFIG, "closed");
  }
  /* An object that could not be made returns the reason in each call. */
  rlcore::workers uneven(envs, 2, 3);
  rlcore::arrays<std::uint8_t> out;
  std::uint8_t four[4];
  for (int i = 0; i < 2; i++) {
    SAYS(uneven.state(), RLCORE_E_CONFIG, "in_series");
    SAYS(uneven.step(go), RLCORE_E_CONFIG, "in_series");
    SAYS(uneven.step_wait(), RLCORE_E_CONFIG, "in_series");
    SAYS(uneven.recv(rows, out), RLCORE_E_CONFIG, "in_series");
    SAYS(uneven.send(rows, go), RLCORE_E_CONFIG, "in_series");
    SAYS(uneven.reset(1), RLCORE_E_CONFIG, "in_series");
    SAYS(uneven.reset_one(0), RLCORE_E_CONFIG, "in_series");
    SAYS(uneven.failed(four), RLCORE_E_CONFIG, "in_series");
  }
}
#endif

}  // namespace

void failures_are_described() {
  auto env = rlcore::env_builtin(RLCORE_ENV_CARTPOLE);
  empty_objects(env);
  what_does_not_fit(env);
  what_cannot_be_allocated();
  what_must_succeed();
#ifndef RLCORE_NO_WORKERS
  a_pool_says_why_it_fails();
#endif
}
