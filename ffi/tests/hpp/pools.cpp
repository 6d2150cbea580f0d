/* The pool: its rules, its arrays, and threads that cannot be started. */
#include "test.h"

#include <atomic>
#include <system_error>
#if defined(__GLIBC__) && defined(__cpp_exceptions)
#include <pthread.h>
#endif

namespace {

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
    IS(pool.step_wait(), RLCORE_OK); /* collects the rest */

    /* Rows that fail are named, and the other rows succeed. */
    std::uint8_t flags[4];
    IS(pool.step(fails), RLCORE_E_CALLBACK);
    CHECK(std::string(rlcore::last_error().c_str()).find("environment 1") != std::string::npos);
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

/* Arrays for other observations are refused, and the vecenv's own arrays keep a place for every row. */
void recv_writes_where_there_is_room() {
  auto envs = make<screen>(4);
  IS(envs.reset(), RLCORE_OK);
  const std::vector<std::int32_t> go(8, 1), half(4, 1);
  std::vector<std::uint32_t> rows(2), all(4);
  for (const unsigned threads : {0u, 2u}) {
    rlcore::workers pool(envs, threads);
    IS(pool.step_async(go), RLCORE_OK);
    for (const std::size_t other : {1u, 3u, 5u}) {
      rlcore::arrays<std::uint8_t> out(2, other);
      IS(pool.recv(rows, out), RLCORE_E_SHAPE);
      CHECK(out.obs.size() == 2 * other);
    }
    rlcore::arrays<std::uint8_t> out(2, 4), ragged = out;
    ragged.valid.pop_back();
    IS(pool.recv(rows, ragged), RLCORE_E_SHAPE);
    IS(pool.recv(rows, envs.out()), RLCORE_E_SHAPE);
    CHECK(envs.whole() && envs.obs().size() == 16);
    IS(pool.recv(rows, out), RLCORE_OK);
    IS(pool.send(rows, half), RLCORE_OK);
    IS(pool.recv(all, envs.out()), RLCORE_OK);
    CHECK(all[3] == 3 && envs.whole());
    IS(pool.step(go), RLCORE_OK);

    /* Arrays that the host has resized are refused by every call that would write to them. */
    envs.out().obs.resize(8);
    IS(pool.step_async(go), RLCORE_OK);
    IS(pool.step_wait(), RLCORE_E_SHAPE);
    IS(pool.reset(), RLCORE_E_SHAPE);
    IS(pool.reset_one(0), RLCORE_E_SHAPE);
    IS(envs.step(go), RLCORE_E_SHAPE);
    IS(envs.step_range(0, 1, go), RLCORE_E_SHAPE);
    IS(envs.reset(), RLCORE_E_SHAPE);
    IS(envs.reset_one(3), RLCORE_E_SHAPE);
    envs.out() = rlcore::arrays<std::uint8_t>(4, 4);
    IS(pool.step_wait(), RLCORE_OK);
    IS(pool.reset(), RLCORE_OK);
  }
}

/* A thread class of which only a limited number can be started. */
class rare {
 public:
  static inline int left = 0;
  static inline std::atomic<int> running = 0;
  static inline bool throws = false;

  template <class F>
  explicit rare(F work) {
    if (left-- > 0) {
      thread_ = std::thread([work] {
        running++;
        work();
        running--;
      });
      return;
    }
#ifdef __cpp_exceptions
    if (throws) throw std::system_error(EAGAIN, std::generic_category());
#endif
  }
  bool joinable() const { return thread_.joinable(); }
  void join() { thread_.join(); }

 private:
  std::thread thread_;
};

void threads_that_cannot_be_started() {
  auto envs = make<screen>(4);
  IS(envs.reset(), RLCORE_OK);
  const std::vector<std::int32_t> go(8, 1);
  for (const bool throws : {false, true}) {
    rare::throws = throws;
    for (const int can : {0, 1, 3}) {
      rare::left = can;
      rlcore::workers<std::uint8_t, std::int32_t, rare> pool(envs, 4);
      IS(pool.state(), RLCORE_E_SIZE);
      CHECK(rare::running == 0);
      IS(pool.step(go), RLCORE_E_SIZE);
      IS(pool.reset(), RLCORE_E_SIZE);
      pool.close();
    }
    rare::left = 4;
    rlcore::workers<std::uint8_t, std::int32_t, rare> pool(envs, 4);
    IS(pool.state(), RLCORE_OK);
    IS(pool.step(go), RLCORE_OK);
  }
#if defined(__GLIBC__) && defined(__cpp_exceptions)
  /* std::thread itself: no machine has memory for these stacks. */
  pthread_attr_t usual, huge;
  CHECK(pthread_getattr_default_np(&usual) == 0 && pthread_getattr_default_np(&huge) == 0);
  CHECK(pthread_attr_setstacksize(&huge, std::size_t{1} << 50) == 0 && pthread_setattr_default_np(&huge) == 0);
  rlcore::workers pool(envs, 2);
  CHECK(pthread_setattr_default_np(&usual) == 0);
  IS(pool.state(), RLCORE_E_SIZE);
#endif
  IS(envs.step(go), RLCORE_OK); /* the caller may step the environments again */
}

}  // namespace

void pools() {
  the_pool_keeps_the_rules();
  recv_writes_where_there_is_room();
  threads_that_cannot_be_started();
}
