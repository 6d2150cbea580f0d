/* rlcore in C++17: views, blocks that own their memory, environments from a class, a pool of std::thread.

   Header only, on top of rlcore.h; needs neither exceptions nor RTTI. Results are identical to those of the C interface.
   Results: calls return a [[nodiscard]] status; last_error() describes the failure, also one that this header finds: a
     span of the wrong length is E_SHAPE, an object that was never made or was moved from is E_NULL, and memory that
     cannot be allocated is E_SIZE.
   Ownership: a block owns its bytes. Moving moves them; copying makes an independent snapshot.
   Threads: only workers starts threads. If the C++ library has no threads, or RLCORE_NO_WORKERS is defined, workers and
     its headers are omitted. */
#ifndef RLCORE_HPP
#define RLCORE_HPP

#include "rlcore.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iterator>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#if !defined(RLCORE_NO_WORKERS) && (!__has_include(<mutex>) || (defined(__GLIBCXX__) && !defined(_GLIBCXX_HAS_GTHREADS)))
#define RLCORE_NO_WORKERS
#endif
#ifndef RLCORE_NO_WORKERS
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#endif

namespace rlcore {

/* ---- Views and results ---- */

template <class T>
class span;

namespace detail {
template <class T>
struct is_span : std::false_type {};
template <class T>
struct is_span<span<T>> : std::true_type {};
/* Containers that convert to span<U>: U may only add const, and temporaries are read-only. */
template <class C, class U>
using viewed = std::enable_if_t<!is_span<std::remove_cv_t<std::remove_reference_t<C>>>::value &&
                                (std::is_lvalue_reference_v<C> || std::is_const_v<U>) &&
                                std::is_convertible_v<std::remove_pointer_t<decltype(std::declval<C &>().data())> (*)[], U (*)[]>>;

/* Returns f(), or false if it throws. */
template <class F>
bool attempt(F &&f) {
#ifdef __cpp_exceptions
  try {
    return f();
  } catch (...) {
    return false;
  }
#else
  return f();
#endif
}

/* The rlcore_element of T. */
template <class T>
constexpr std::uint32_t kind_of() {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, std::int32_t> || std::is_same_v<T, std::uint8_t>, "no element");
  return std::is_same_v<T, float> ? RLCORE_F32 : std::is_same_v<T, std::int32_t> ? RLCORE_I32 : RLCORE_U8;
}
}  // namespace detail

/* A view of an array, not owned. */
template <class T>
class span {
 public:
  /* Empty, of an array, or of a container with data() and size(). A view of a temporary is read-only and valid until the end
     of the statement. */
  constexpr span() = default;
  constexpr span(T *data, std::size_t size) : data_(data), size_(size) {}
  template <std::size_t N>
  constexpr span(T (&array)[N]) : data_(array), size_(N) {}
  template <class C, class = detail::viewed<C, T>>
  constexpr span(C &&container) : data_(container.data()), size_(container.size()) {}
  template <class U, class = std::enable_if_t<std::is_same_v<const U, T>>>
  constexpr span(span<U> other) : data_(other.data()), size_(other.size()) {}

  /* Container interface. */
  constexpr T *data() const { return data_; }
  constexpr std::size_t size() const { return size_; }
  constexpr std::size_t size_bytes() const { return size_ * sizeof(T); }
  constexpr bool empty() const { return size_ == 0; }
  constexpr T *begin() const { return data_; }
  constexpr T *end() const { return data_ + size_; }
  constexpr T &operator[](std::size_t i) const { return data_[i]; }
  /* Elements [first, first + count), which must exist. */
  constexpr span subspan(std::size_t first, std::size_t count) const { return {data_ + first, count}; }

 private:
  T *data_ = nullptr;
  std::size_t size_ = 0;
};

/* Result of a call: true if it succeeded. */
class [[nodiscard]] status {
 public:
  /* Converts from the status of a C call. */
  constexpr status(rlcore_status code) : code_(code) {}
  /* Success; number, name and meaning. */
  constexpr bool ok() const { return code_ == RLCORE_OK; }
  constexpr explicit operator bool() const { return ok(); }
  constexpr rlcore_status code() const { return code_; }
  const char *name() const { return rlcore_status_name(code_); }
  const char *text() const { return rlcore_status_text(code_); }
  /* Compares the numbers. */
  friend constexpr bool operator==(status a, status b) { return a.code_ == b.code_; }
  friend constexpr bool operator!=(status a, status b) { return a.code_ != b.code_; }

 private:
  rlcore_status code_;
};

/* A value, or the status that explains why there is none. */
template <class T>
class [[nodiscard]] result {
 public:
  /* Converts from a status or a value. */
  result(status why) : status_(why) {}
  result(T value) : status_(RLCORE_OK), value_(std::move(value)) {}
  /* Whether there is a value; if not, why. */
  bool ok() const { return status_.ok(); }
  explicit operator bool() const { return ok(); }
  status why() const { return status_; }
  /* The value if ok(), else a default-constructed T. */
  T &operator*() & { return value_; }
  T &&operator*() && { return std::move(value_); }
  T *operator->() { return &value_; }

 private:
  status status_;
  T value_{};
};

/* Description of the most recent failure; diagnostic only. */
struct words {
  /* NUL-terminated. */
  char text[256] = {};
  const char *c_str() const { return text; }
};
inline words last_error() {
  words w;
  (void)rlcore_last_error(w.text, sizeof w.text);
  return w;
}

#ifdef __cpp_exceptions
/* The exception of must(): a failure and its description. */
class error : public std::exception {
 public:
  /* The failure that last_error() describes now. */
  explicit error(status why) noexcept : why_(why), said_(last_error()) {}
  /* The description, and the status. */
  const char *what() const noexcept override { return said_.c_str(); }
  status why() const noexcept { return why_; }

 private:
  status why_;
  words said_;
};
#endif

/* For a program that cannot go on after a failure: nothing, or the value of a result. On failure throws error; without exceptions
   prints last_error() to stderr and aborts. */
inline void must(status s) {
  if (s) return;
#ifdef __cpp_exceptions
  throw error(s);
#else
  (void)std::fprintf(stderr, "%s\n", last_error().c_str());
  std::abort();
#endif
}
template <class T>
T must(result<T> r) {
  must(r.why());
  return *std::move(r);
}

namespace detail {

/* A text for last_error(), cut where it does not fit. */
class sentence {
 public:
  sentence &operator<<(const char *text) {
    while (*text && len_ < sizeof text_) text_[len_++] = *text++;
    return *this;
  }
  sentence &operator<<(std::size_t number) {
    char digits[24] = {}, *first = digits + sizeof digits - 1;
    do *--first = static_cast<char>('0' + number % 10);
    while ((number /= 10) > 0);
    return *this << first;
  }
  /* Becomes what last_error() says. Returns the failure. */
  status as(rlcore_status failure) const {
    (void)rlcore_last_error_write(failure, text_, len_);
    return failure;
  }

 private:
  char text_[sizeof words::text] = {};
  std::size_t len_ = 0;
};

inline status fail(rlcore_status failure, const char *call, const char *why) {
  return (sentence() << call << ": " << why).as(failure);
}

/* A failure that is repeated with its text, or success. */
class lasting {
 public:
  lasting() = default;
  lasting(status why) : why_(why) {
    if (!why) said_ = last_error();
  }
  bool ok() const { return why_.ok(); }
  status again() const {
    const std::size_t name = std::strlen(why_.name()) + 2; /* and ": ", which are written again */
    if (!why_ && std::strlen(said_.text) > name) return (sentence() << said_.text + name).as(why_.code());
    return why_;
  }

 private:
  status why_ = RLCORE_OK;
  words said_;
};

/* What a call checks itself, one after another: the first that does not hold is the failure. */
class check {
 public:
  explicit check(const char *call) : call_(call) {}
  /* The object is there. */
  check(const char *call, const void *object) : call_(call) {
    that(object, RLCORE_E_NULL, "the object is empty: it was never made, or was moved from");
  }
  /* An object that could not be made says again why. */
  check(const char *call, const lasting &made) : call_(call), why_(made.again()) {}
  check &that(bool holds, rlcore_status failure, const char *why) {
    if (why_ && !holds) why_ = fail(failure, call_, why);
    return *this;
  }
  /* A number is the one that is needed. */
  check &same(const char *what, std::size_t given, std::size_t needed, rlcore_status failure = RLCORE_E_SHAPE) {
    if (why_ && given != needed)
      why_ = (sentence() << call_ << ": " << what << ": expected " << needed << ", given " << given).as(failure);
    return *this;
  }
  /* An array has so many elements; or so many or none. */
  check &len(const char *array, std::size_t given, std::size_t needed) {
    if (why_ && given != needed)
      why_ = (sentence() << call_ << ": elements of " << array << ": expected " << needed << ", given " << given).as(RLCORE_E_SHAPE);
    return *this;
  }
  check &maybe(const char *array, std::size_t given, std::size_t needed) { return given ? len(array, given, needed) : *this; }
  /* [begin, end) is a range of so many. */
  check &range(std::size_t begin, std::size_t end, std::size_t count) {
    if (why_ && !(begin <= end && end <= count))
      why_ = (sentence() << call_ << ": expected a range of " << count << ", given " << begin << " to " << end).as(RLCORE_E_RANGE);
    return *this;
  }
  /* Elements as Obs and Action; those of a structure are bytes. */
  template <class Obs, class Action>
  check &kinds(std::uint32_t obs, std::uint32_t action) {
    const auto is = [](std::uint32_t kind, std::uint32_t type) { return (kind == RLCORE_STRUCT ? std::uint32_t{RLCORE_U8} : kind) == type; };
    that(is(obs, kind_of<Obs>()), RLCORE_E_CONFIG, "observations have elements of another type than Obs");
    return that(is(action, kind_of<Action>()), RLCORE_E_CONFIG, "actions have elements of another type than Action");
  }
  /* Success, or the failure. */
  status why() const { return why_; }
  /* The result of the C call, which is made only if all holds. */
  template <class Call>
  status then(Call &&call) const { return why_ ? status(call()) : why_; }

 private:
  const char *call_;
  status why_ = RLCORE_OK;
};

/* A structure for a C call. */
template <class C>
C sized() {
  C structure = {};
  structure.struct_size = sizeof structure;
  return structure;
}
/* What a reset begins with; options that are empty are options. */
inline rlcore_reset reset_of(const std::uint64_t *seed, const span<const unsigned char> *options) {
  static const unsigned char none = 0;
  auto how = sized<rlcore_reset>();
  how.seed = seed;
  how.options = !options ? nullptr : options->empty() ? &none : options->data();
  how.options_size = options ? options->size() : 0;
  return how;
}
/* An array of such a structure, NULL if it is empty; what a call only reads stays as it is. */
template <class T>
std::remove_const_t<T> *given(span<T> array) {
  return array.empty() ? nullptr : const_cast<std::remove_const_t<T> *>(array.data());
}
/* What is seen and allowed, of the rows that are active, and actions. */
template <class Obs, class Action = const std::int32_t>
rlcore_rows rows_of(span<const Obs> obs, span<const std::uint8_t> mask, span<const std::uint8_t> active = {}, span<Action> action = {}) {
  auto r = sized<rlcore_rows>();
  r.active = given(active);
  r.obs = given(obs);
  r.action_mask = given(mask);
  r.action = given(action);
  return r;
}

/* f(), which allocates; E_SIZE if that fails. */
template <class F>
status allocate(const char *call, F &&f) {
  return attempt([&] { return f(), true; }) ? status(RLCORE_OK) : fail(RLCORE_E_SIZE, call, "not enough memory");
}

}  // namespace detail

/* rlcore_hash; 0 on failure. */
inline std::uint64_t hash(const void *bytes, std::size_t size) {
  std::uint64_t h = 0;
  return rlcore_hash(bytes, size, &h) == RLCORE_OK ? h : 0;
}
template <class T>
std::uint64_t hash(span<T> values) {
  return hash(values.data(), values.size_bytes());
}

/* A configuration with default values. */
template <class C>
C defaults(rlcore_status (*init)(C *, std::size_t)) {
  C config = {};
  (void)init(&config, sizeof config);
  return config;
}
inline rlcore_vecenv_config vecenv_config() { return defaults(rlcore_vecenv_config_init); }
inline rlcore_batch_config batch_config() { return defaults(rlcore_batch_config_init); }
inline rlcore_learner_config learner_config(rlcore_algorithm algorithm = RLCORE_ALGORITHM_PPO) {
  rlcore_learner_config config = {};
  (void)rlcore_learner_config_init(&config, sizeof config, algorithm);
  return config;
}

/* ---- Memory ---- */

/* Owned bytes, 64-byte aligned. Copying copies the bytes. Empty if the allocation failed. */
class memory {
 public:
  /* `size` bytes, all zero; none by default. */
  memory() = default;
  explicit memory(std::size_t size)
      : data_(static_cast<unsigned char *>(::operator new(size, alignment, std::nothrow))), size_(data_ ? size : 0) {
    if (data_) std::memset(data_, 0, size_);
  }
  memory(const memory &other) : memory(other.size_) {
    if (data_ && size_ > 0) std::memcpy(data_, other.data_, size_);
  }
  memory(memory &&other) noexcept : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  memory &operator=(memory other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  /* Frees the bytes. */
  ~memory() { ::operator delete(data_, alignment); }
  /* The bytes and their number. */
  unsigned char *data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  static constexpr std::align_val_t alignment{64};
  unsigned char *data_ = nullptr;
  std::size_t size_ = 0;
};

/* The bytes of a file, for the load functions; and bytes() to a file. E_IMAGE if it cannot be read, or written whole. A kill
   amid write_file leaves a part of the file: keep two in turn. */
inline result<memory> read_file(const char *path) {
  std::FILE *const file = std::fopen(path, "rb");
  if (!file) return (detail::sentence() << "read_file: " << path << " cannot be opened").as(RLCORE_E_IMAGE);
  const bool ends = std::fseek(file, 0, SEEK_END) == 0;
  const long size = ends ? std::ftell(file) : -1;
  memory bytes(size > 0 ? static_cast<std::size_t>(size) : 0);
  const bool whole = size >= 0 && std::fseek(file, 0, SEEK_SET) == 0 && bytes.size() == static_cast<std::size_t>(size) &&
                     std::fread(bytes.data(), 1, bytes.size(), file) == bytes.size();
  (void)std::fclose(file);
  if (!whole) return (detail::sentence() << "read_file: " << path << " cannot be read").as(RLCORE_E_IMAGE);
  return bytes;
}
inline status write_file(const char *path, span<const unsigned char> bytes) {
  std::FILE *const file = std::fopen(path, "wb");
  bool whole = file && std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  if (file) whole = std::fclose(file) == 0 && whole;
  return whole ? status(RLCORE_OK) : (detail::sentence() << "write_file: " << path << " cannot be written").as(RLCORE_E_IMAGE);
}

/* An object of the library together with its bytes. Write bytes() to save it; a copy is a snapshot. */
template <class T>
class block {
 public:
  /* Without an object. */
  block() = default;

  /* Created by `size(&size)` and `init(mem, size, &object)`. */
  template <class Size, class Init>
  static result<block> make(Size &&size, Init &&init) {
    std::size_t bytes = 0;
    if (const status s = size(&bytes); !s) return s;
    block made;
    if (const status s = made.allocate(bytes); !s) return s;
    T *object = nullptr;
    if (const status s = init(static_cast<void *>(made.memory_.data()), bytes, &object); !s) return s;
    return made;
  }

  /* The same from a configuration alone: make(rlcore_replay_size, rlcore_replay_init, config). */
  template <class Config>
  static result<block> make(rlcore_status (*size)(const Config *, std::size_t *),
                            rlcore_status (*init)(void *, std::size_t, const Config *, T **), const Config &config) {
    return make([&](std::size_t *bytes) { return size(&config, bytes); },
                [&](void *mem, std::size_t bytes, T **out) { return init(mem, bytes, &config, out); });
  }

  /* From saved bytes, opened by `attach(mem, size, &object)`, for a mutable or a const object: load(saved, rlcore_replay_attach). */
  template <class Attach>
  static result<block> load(span<const unsigned char> saved, Attach &&attach) {
    using object_type = std::conditional_t<std::is_invocable_v<Attach, void *, std::size_t, T **>, T, const T>;
    block made;
    if (const status s = made.allocate(saved.size()); !s) return s;
    if (!saved.empty()) std::memcpy(made.memory_.data(), saved.data(), saved.size());
    object_type *object = nullptr;
    if (const status s = attach(static_cast<void *>(made.memory_.data()), saved.size(), &object); !s) return s;
    return made;
  }

  /* The handle for C calls; the bytes of the object; whether there is one. */
  T *get() const { return reinterpret_cast<T *>(memory_.data()); }
  span<const unsigned char> bytes() const { return {memory_.data(), memory_.size()}; }
  explicit operator bool() const { return memory_.size() > 0; }
  /* rlcore_block_seal, for learners: from now on attach refuses the bytes if one has changed. */
  status seal() { return rlcore_block_seal(memory_.data(), memory_.size()); }

 private:
  status allocate(std::size_t size) {
    memory_ = memory(size);
    if (memory_.size() == size) return RLCORE_OK;
    return (detail::sentence() << "block: " << size << " bytes cannot be allocated").as(RLCORE_E_SIZE);
  }

  memory memory_;
};

/* ---- Environments from a class ---- */

namespace detail {

template <class E, class = void>
struct obs_of { using type = float; };
template <class E>
struct obs_of<E, std::void_t<typename E::obs_type>> { using type = typename E::obs_type; };

template <class E, class = void>
struct action_of { using type = float; };
template <class E>
struct action_of<E, std::void_t<decltype(E::choices)>> { using type = std::int32_t; };

template <class E, class = void>
struct limit_of { static constexpr std::uint32_t value = 0; };
template <class E>
struct limit_of<E, std::void_t<decltype(E::max_episode_steps)>> { static constexpr std::uint32_t value = E::max_episode_steps; };

/* First argument of members: the class's user_type, if it has one. */
template <class E, class = void>
struct user_of { using type = void; };
template <class E>
struct user_of<E, std::void_t<typename E::user_type>> { using type = typename E::user_type; };

template <class E, class = void>
struct has_lives : std::false_type {};
template <class E>
struct has_lives<E, std::void_t<decltype(&E::lives)>> : std::true_type {};
template <class E, class = void>
struct has_mask : std::false_type {};
template <class E>
struct has_mask<E, std::void_t<decltype(&E::action_mask)>> : std::true_type {};
template <class E, class = void>
struct has_render : std::false_type {};
template <class E>
struct has_render<E, std::void_t<decltype(&E::render)>> : std::true_type {};
template <class E, class = void>
struct has_restart : std::false_type {};
template <class E>
struct has_restart<E, std::void_t<decltype(&E::restart)>> : std::true_type {};
template <class E, class = void>
struct has_reset_with : std::false_type {};
template <class E>
struct has_reset_with<E, std::void_t<decltype(&E::reset_with)>> : std::true_type {};
template <class E, class = void>
struct has_row : std::false_type {};
template <class E>
struct has_row<E, std::void_t<decltype(E::knows_row)>> : std::bool_constant<E::knows_row> {};
template <class E, class = void>
struct has_low : std::false_type {};
template <class E>
struct has_low<E, std::void_t<decltype(E::action_low), decltype(E::action_high)>> : std::true_type {};

template <class E>
constexpr std::uint32_t action_len() {
  if constexpr (std::is_same_v<typename action_of<E>::type, std::int32_t>)
    return static_cast<std::uint32_t>(std::size(E::choices));
  else
    return E::action_len;
}

/* Calls a member. Returns 0 on success, 1 if it returned false or threw an exception. */
template <class E, class F>
std::int32_t done(void *user, std::uint32_t row, F &&member) {
  const auto worked = [&](auto &...first) {
    if constexpr (std::is_void_v<decltype(member(first...))>) return member(first...), true;
    else return static_cast<bool>(member(first...));
  };
  (void)user, (void)row;
  const auto told = [&](auto &...first) {
    if constexpr (has_row<E>::value) return worked(first..., row);
    else return worked(first...);
  };
  const bool fine = attempt([&] {
    if constexpr (std::is_void_v<typename user_of<E>::type>) return told();
    else return told(*static_cast<typename user_of<E>::type *>(user));
  });
  return fine ? 0 : 1;
}

}  // namespace detail

/* Element types of a class that is an environment. */
template <class E>
using obs_type = typename detail::obs_of<E>::type;
template <class E>
using action_type = typename detail::action_of<E>::type;

/* The definition of an environment from a trivial class: its bytes are the state, all zero before the first reset.
     static constexpr std::uint32_t env_id;              the caller's number for it, at least 1000
     static constexpr std::uint32_t obs_len;             add using obs_type = std::uint8_t; for images, else float
     static constexpr std::uint32_t choices[];           discrete actions; or
     static constexpr std::uint32_t action_len;          continuous ones, with action_low[], action_high[] if bounded
     static constexpr std::uint32_t max_episode_steps;   if there is a limit
     void reset(rlcore_rng &, span<Obs> obs);            bool instead of void: false stops with E_CALLBACK
     void step(rlcore_rng &, span<const Action>, span<Obs> obs, rlcore_step &out);
     void restart(rlcore_rng &, std::uint32_t level, span<Obs> obs);                     optional; level: an rlcore_level
     void reset_with(rlcore_rng &, span<const unsigned char> options, span<Obs> obs);    optional: resets take options
     std::uint32_t lives() const;  void action_mask(span<std::uint8_t>) const;           optional
     void render(std::uint32_t width, std::uint32_t height, span<std::uint8_t> rgb) const;  optional
     using user_type = World;                            optional shared data: env_of<E>(world); world must outlive the
                                                         definition; every member takes a World & first
     static constexpr bool knows_row = true;             optional: every member takes its row among the N environments, a
                                                         std::uint32_t, first, or after the World &
   An exception in a member stops the call with E_CALLBACK, like false. */
template <class E, class... User>
rlcore_env_def env_of(User &...user) {
  static_assert(std::is_trivially_copyable_v<E>, "an environment must be trivially copyable");
  static_assert(std::is_trivially_default_constructible_v<E>, "no constructor runs: all bytes are zero before reset");
  static_assert(alignof(E) <= 8, "states are 8-byte aligned");
  static_assert(sizeof...(User) == !std::is_void_v<typename detail::user_of<E>::type>,
                "env_of<E>(user) if E has a user_type, else env_of<E>()");
  using Obs = obs_type<E>;
  using Action = action_type<E>;
  static_assert(std::is_same_v<Obs, float> || std::is_same_v<Obs, std::uint8_t>, "observations are float or uint8_t");

  rlcore_env_def def = {};
  def.struct_size = sizeof def;
  def.env_id = E::env_id;
  def.state_size = static_cast<std::uint32_t>((sizeof(E) + 7) / 8 * 8);
  def.max_episode_steps = detail::limit_of<E>::value;
  def.obs.kind = detail::kind_of<Obs>();
  def.obs.len = E::obs_len;
  def.action.kind = detail::kind_of<Action>();
  def.action.len = detail::action_len<E>();
  if constexpr (std::is_same_v<Action, std::int32_t>) {
    def.action.n = &E::choices[0];
  } else if constexpr (detail::has_low<E>::value) {
    static_assert(std::size(E::action_low) == E::action_len && std::size(E::action_high) == E::action_len, "one bound per element");
    def.action.low = &E::action_low[0];
    def.action.high = &E::action_high[0];
  }
  if constexpr (sizeof...(User) > 0) {
    typename detail::user_of<E>::type *const one[] = {&user...};
    def.user = const_cast<void *>(static_cast<const void *>(one[0]));
  }
  def.reset = [](void *u, std::uint32_t row, void *state, rlcore_rng *rng, void *obs) -> std::int32_t {
    const span<Obs> room(static_cast<Obs *>(obs), E::obs_len);
    return detail::done<E>(u, row, [&](auto &...first) { return static_cast<E *>(state)->reset(first..., *rng, room); });
  };
  def.step = [](void *u, std::uint32_t row, void *state, rlcore_rng *rng, const void *action, void *obs, rlcore_step *out) -> std::int32_t {
    const span<Obs> room(static_cast<Obs *>(obs), E::obs_len);
    const span<const Action> act(static_cast<const Action *>(action), detail::action_len<E>());
    return detail::done<E>(u, row, [&](auto &...first) { return static_cast<E *>(state)->step(first..., *rng, act, room, *out); });
  };
  if constexpr (detail::has_reset_with<E>::value)
    def.reset_with = [](void *u, std::uint32_t row, void *state, rlcore_rng *rng, const void *options, std::size_t size, void *obs) -> std::int32_t {
      const span<Obs> room(static_cast<Obs *>(obs), E::obs_len);
      const span<const unsigned char> given(static_cast<const unsigned char *>(options), size);
      return detail::done<E>(u, row, [&](auto &...first) { return static_cast<E *>(state)->reset_with(first..., *rng, given, room); });
    };
  if constexpr (detail::has_restart<E>::value)
    def.restart = [](void *u, std::uint32_t row, void *state, rlcore_rng *rng, std::uint32_t level, void *obs) -> std::int32_t {
      const span<Obs> room(static_cast<Obs *>(obs), E::obs_len);
      return detail::done<E>(u, row, [&](auto &...first) { return static_cast<E *>(state)->restart(first..., *rng, level, room); });
    };
  if constexpr (detail::has_lives<E>::value)
    def.lives = [](void *u, std::uint32_t row, const void *state, std::uint32_t *out) -> std::int32_t {
      return detail::done<E>(u, row, [&](auto &...first) { *out = static_cast<const E *>(state)->lives(first...); });
    };
  if constexpr (detail::has_mask<E>::value)
    def.action_mask = [](void *u, std::uint32_t row, const void *state, std::uint8_t *mask) -> std::int32_t {
      std::size_t count = 0;
      for (const std::uint32_t n : E::choices) count += n;
      const span<std::uint8_t> room(mask, count);
      return detail::done<E>(u, row, [&](auto &...first) { return static_cast<const E *>(state)->action_mask(first..., room); });
    };
  if constexpr (detail::has_render<E>::value)
    def.render = [](void *u, std::uint32_t row, const void *state, std::uint32_t width, std::uint32_t height, std::uint8_t *rgb) -> std::int32_t {
      const span<std::uint8_t> picture(rgb, std::size_t{3} * width * height);
      return detail::done<E>(u, row, [&](auto &...first) { return static_cast<const E *>(state)->render(first..., width, height, picture); });
    };
  return def;
}

/* The definition of a built-in environment, an rlcore_env_id: what rlcore_env_def says may be chosen in it. */
inline rlcore_env_def env_builtin(std::uint32_t env_id) {
  auto def = detail::sized<rlcore_env_def>();
  def.env_id = env_id;
  return def;
}

/* A compiled environment. Copies share it. */
class environment {
 public:
  /* Without an environment. */
  environment() = default;
  /* Of a definition, as rlcore_env_init compiles it: why() says whether it did. What takes an environment takes a definition too. */
  environment(const rlcore_env_def &def) : has_mask_(def.action_mask) {
    std::size_t size = 0;
    why_ = rlcore_env_size(&def, &size);
    if (why_) why_ = detail::allocate("environment", [&] { memory_ = std::make_shared<std::vector<std::uint64_t>>((size + 7) / 8); });
    if (why_) why_ = rlcore_env_init(memory_->data(), size, &def, &env_);
    if (why_) why_ = rlcore_env_spaces(env_, &obs_, &action_);
  }
  /* Observations and actions, wrappers included; whether there is an action_mask; the handle for C calls. */
  const rlcore_space &obs() const { return obs_; }
  const rlcore_space &action() const { return action_; }
  bool has_mask() const { return has_mask_; }
  const rlcore_env *get() const { return env_; }
  status why() const { return why_; }

 private:
  std::shared_ptr<std::vector<std::uint64_t>> memory_;
  rlcore_env *env_ = nullptr;
  rlcore_space obs_ = {}, action_ = {};
  bool has_mask_ = false;
  status why_ = RLCORE_OK;
};

/* ---- N environments ---- */

/* Results of a step of some rows; arrays as in rlcore_rows. */
template <class Obs>
struct arrays {
  std::vector<Obs> obs;                 /* [rows, obs_len] */
  std::vector<Obs> final_obs;           /* [rows, obs_len] */
  std::vector<float> reward;            /* [rows] */
  std::vector<std::uint8_t> terminated; /* [rows] */
  std::vector<std::uint8_t> truncated;  /* [rows] */
  std::vector<std::uint8_t> valid;      /* [rows] */
  std::vector<std::uint8_t> action_mask;       /* [rows, mask_len], empty without masks */
  std::vector<std::uint8_t> final_action_mask; /* [rows, mask_len], empty without masks */

  /* Arrays of `rows` rows; none by default. */
  arrays() = default;
  arrays(std::size_t rows, std::size_t obs_len, std::size_t mask_len = 0)
      : obs(rows * obs_len), final_obs(rows * obs_len), reward(rows), terminated(rows), truncated(rows), valid(rows),
        action_mask(rows * mask_len), final_action_mask(rows * mask_len) {}
  /* True if the arrays have `rows` rows, observations of obs_len, and masks of mask_len or none. */
  bool fits(std::size_t rows, std::size_t obs_len, std::size_t mask_len = 0) const {
    const auto masks = [&](std::size_t size) { return size == 0 || size == rows * mask_len; };
    return obs.size() == rows * obs_len && final_obs.size() == rows * obs_len && reward.size() == rows &&
           terminated.size() == rows && truncated.size() == rows && valid.size() == rows && masks(action_mask.size()) &&
           masks(final_action_mask.size());
  }

  /* The same arrays for C calls, valid while this object is not moved; with actions to take. */
  template <class Action = std::int32_t>
  rlcore_rows rows(span<const Action> action = {}) {
    auto r = detail::sized<rlcore_rows>();
    r.obs = obs.data();
    r.action_mask = detail::given<std::uint8_t>(action_mask);
    r.action = detail::given<const Action>(action);
    r.reward = reward.data();
    r.terminated = terminated.data();
    r.truncated = truncated.data();
    r.valid = valid.data();
    r.final_obs = final_obs.data();
    r.final_action_mask = detail::given<std::uint8_t>(final_action_mask);
    return r;
  }
};

/* N environments and the results of their last step. Obs: float or uint8_t; Action: int32_t or float. A copy is a snapshot. */
template <class Obs = float, class Action = std::int32_t>
class vecenv {
 public:
  /* Element types. */
  using obs_element = Obs;
  using action_element = Action;
  /* Without environments. */
  vecenv() = default;

  /* The environment is not saved; what its user points to must outlive this object. */
  static result<vecenv> make(const environment &env, const rlcore_vecenv_config &config) {
    return with(env, config, [&] {
      return block<rlcore_vecenv>::make(
          [&](std::size_t *size) { return rlcore_vecenv_size(env.get(), &config, size); },
          [&](void *mem, std::size_t size, rlcore_vecenv **out) { return rlcore_vecenv_init(mem, size, env.get(), &config, out); });
    });
  }
  /* From bytes() and obs() of one that was made with this configuration: continues exactly where it stopped. */
  static result<vecenv> load(const environment &env, const rlcore_vecenv_config &config, span<const unsigned char> saved,
                             span<const Obs> obs) {
    auto loaded = with(env, config, [&] {
      return block<rlcore_vecenv>::load(saved, [&](void *mem, std::size_t size, rlcore_vecenv **out) {
        return rlcore_vecenv_attach(mem, size, env.get(), out);
      });
    });
    if (!loaded) return loaded;
    if (const status s = detail::check("vecenv load").len("obs", obs.size(), loaded->arrays_.obs.size()).why(); !s) return s;
    loaded->arrays_.obs.assign(obs.begin(), obs.end());
    if (const status s = loaded->ask_masks(); !s) return s;
    return loaded;
  }

  /* Starts episodes in all rows or in one, as rlcore_vecenv_reset and rlcore_vecenv_reset_one. */
  status reset() { return restart(nullptr); }
  status reset(std::uint64_t seed) { return restart(&seed); }
  status reset_one(std::uint32_t index) { return restart_one(index, nullptr); }
  status reset_one(std::uint32_t index, std::uint64_t seed) { return restart_one(index, &seed); }
  /* The same with options for reset_with of the environments, as rlcore_vecenv_reset_with. */
  status reset_with(span<const unsigned char> options) { return restart(nullptr, &options); }
  status reset_with(span<const unsigned char> options, std::uint64_t seed) { return restart(&seed, &options); }
  status reset_one_with(std::uint32_t index, span<const unsigned char> options) { return restart_one(index, nullptr, &options); }
  status reset_one_with(std::uint32_t index, span<const unsigned char> options, std::uint64_t seed) {
    return restart_one(index, &seed, &options);
  }
  /* Copies a row and its observation into `row`, which becomes as long as it needs to be; makes one the row of such a copy, also
     in other environments made from this env(), as rlcore_vecenv_row_read and rlcore_vecenv_row_write. */
  status row(std::uint32_t index, std::vector<std::uint64_t> &row) const {
    std::size_t size = 0;
    const status sized = ready("vecenv row").then([&] { return rlcore_vecenv_row_size(env_.get(), &size); });
    const status s = sized ? detail::allocate("vecenv row", [&] { row.resize(size / sizeof row[0]); }) : sized;
    return s ? status(rlcore_vecenv_row_read(get(), env_.get(), index, arrays_.obs.data(), row.data(), size)) : s;
  }
  status restore(std::uint32_t index, span<const std::uint64_t> row) {
    const status s = ready("vecenv restore").then([&] {
      return rlcore_vecenv_row_write(get(), env_.get(), index, row.data(), row.size() * sizeof row[0], arrays_.obs.data());
    });
    return s ? ask_masks() : s;
  }
  /* action: [N, action.len] */
  status step(span<const Action> action) { return step_env(action, RLCORE_LEVEL_NEW); }
  /* Environments that end restart in this level, an rlcore_level. */
  status step_env(span<const Action> action, std::uint32_t level) {
    return ready("vecenv step").len("action", action.size(), action_size(num_envs())).then([&] {
      const rlcore_rows rows = arrays_.template rows<Action>(action);
      return rlcore_vecenv_step_env(get(), env_.get(), level, &rows);
    });
  }
  /* Rows [begin, end) only: several threads may step disjoint ranges. */
  status step_range(std::uint32_t begin, std::uint32_t end, span<const Action> action) {
    return ready("vecenv step_range").len("action", action.size(), action_size(num_envs())).then([&] {
      const rlcore_rows rows = arrays_.template rows<Action>(action);
      return rlcore_vecenv_step_range(get(), env_.get(), begin, end, &rows);
    });
  }

  /* Results of the last step: the arrays of rlcore_rows, all N rows; out() is mutable. */
  span<const Obs> obs() const { return arrays_.obs; }
  span<const Obs> final_obs() const { return arrays_.final_obs; }
  span<const float> reward() const { return arrays_.reward; }
  span<const std::uint8_t> terminated() const { return arrays_.terminated; }
  span<const std::uint8_t> truncated() const { return arrays_.truncated; }
  span<const std::uint8_t> valid() const { return arrays_.valid; }
  /* [N, sum of action.n] choices allowed in obs() and in final_obs(), of environments that have an action_mask; else empty. */
  span<const std::uint8_t> action_mask() const { return arrays_.action_mask; }
  span<const std::uint8_t> final_action_mask() const { return arrays_.final_action_mask; }
  /* Asks anew what is allowed now, if all environments were reset: after calls of the host's own that change their states. */
  status ask_masks() {
    if (arrays_.action_mask.empty()) return RLCORE_OK;
    const status s = ready("vecenv ask_masks").then([&] { return rlcore_vecenv_action_mask(get(), env_.get(), arrays_.action_mask.data()); });
    return s == status(RLCORE_E_NOT_READY) ? status(RLCORE_OK) : s;
  }
  arrays<Obs> &out() { return arrays_; }

  /* Elements of the actions of `rows` rows; whether out() still has arrays of the right size. */
  std::size_t action_size(std::size_t rows) const { return rows * action_len(); }
  bool whole() const { return arrays_.fits(num_envs(), obs_len(), mask_len_); }
  /* N; elements of one observation and of one action, wrappers included. */
  std::uint32_t num_envs() const { return config_.num_envs; }
  std::uint32_t obs_len() const { return env_.obs().len; }
  std::uint32_t action_len() const { return env_.action().len; }
  /* Flags of an environment's mask; 0 if it has no action_mask. */
  std::size_t mask_len() const { return mask_len_; }
  /* What it was made from; the handle for C calls; the bytes to save, together with obs(). */
  const environment &env() const { return env_; }
  const rlcore_vecenv_config &config() const { return config_; }
  rlcore_vecenv *get() const { return block_.get(); }
  span<const unsigned char> bytes() const { return block_.bytes(); }

 private:
  template <class Make>
  static result<vecenv> with(const environment &env, const rlcore_vecenv_config &config, Make &&make) {
    if (!env.why()) return env.why();
    vecenv v;
    v.env_ = env;
    v.config_ = config;
    const rlcore_space &obs = env.obs(), &action = env.action();
    if (const status s = detail::check("vecenv").kinds<Obs, Action>(obs.kind, action.kind).why(); !s) return s;
    auto made = make();
    if (!made) return made.why();
    v.block_ = *std::move(made);
    std::uint32_t num_envs = 0;
    if (const status s = rlcore_vecenv_num_envs(v.get(), &num_envs); !s) return s;
    if (const status s = detail::check("vecenv").same("num_envs", config.num_envs, num_envs, RLCORE_E_CONFIG).why(); !s) return s;
    for (std::uint32_t i = 0; env.has_mask() && action.n && i < action.len; i++) v.mask_len_ += action.n[i];
    const auto make_room = [&] { v.arrays_ = arrays<Obs>(num_envs, obs.len, v.mask_len_); };
    if (const status s = detail::allocate("vecenv", make_room); !s) return s;
    return v;
  }

  detail::check ready(const char *call) const {
    return detail::check(call, get()).that(whole(), RLCORE_E_SHAPE, "an array of out() has been resized");
  }

  status restart(const std::uint64_t *seed, const span<const unsigned char> *options = nullptr) {
    const rlcore_reset how = detail::reset_of(seed, options);
    const status s =
        ready("vecenv reset").then([&] { return rlcore_vecenv_reset_with(get(), env_.get(), &how, arrays_.obs.data()); });
    return s ? ask_masks() : s;
  }
  status restart_one(std::uint32_t index, const std::uint64_t *seed, const span<const unsigned char> *options = nullptr) {
    const rlcore_reset how = detail::reset_of(seed, options);
    const status s = ready("vecenv reset_one").then([&] {
      return rlcore_vecenv_reset_one_with(get(), env_.get(), index, &how, arrays_.obs.data());
    });
    return s ? ask_masks() : s;
  }

  environment env_;
  rlcore_vecenv_config config_ = {};
  std::size_t mask_len_ = 0;
  block<rlcore_vecenv> block_;
  arrays<Obs> arrays_;
};

/* N environments of a class. */
template <class E>
using vecenv_of = vecenv<obs_type<E>, action_type<E>>;

/* ---- Policies ---- */

template <class Obs, class Action>
class learner;

/* Room for the answers of networks to rows of observations, as rlcore_distribution; empty: not asked for. */
template <class Action = std::int32_t>
struct distribution {
  span<float> prob = {};     /* [rows, sum of action.n] */
  span<float> mean = {};     /* [rows, A], A the continuous elements of an action */
  span<float> std = {};      /* [rows, A] */
  span<float> value = {};    /* [rows], of learners */
  span<float> q = {};        /* [rows, sum of action.n], of learners */
  span<float> log_prob = {}; /* [rows], of given actions */
  span<float> entropy = {};  /* [rows] */
  span<Action> best = {};    /* [rows, action.len] */
};

namespace detail {
/* The arrays of a call for so many rows, which have been checked. */
template <class Action>
rlcore_distribution asked(const distribution<Action> &d) {
  auto out = sized<rlcore_distribution>();
  out.prob = given(d.prob);
  out.mean = given(d.mean);
  out.std = given(d.std);
  out.value = given(d.value);
  out.q = given(d.q);
  out.log_prob = given(d.log_prob);
  out.entropy = given(d.entropy);
  out.best = given(d.best);
  return out;
}
/* Checks the lengths; structures of actions do not say how many of their elements are continuous: mean and std are as long as
   each other, and a whole number for each row. */
template <class Action>
check &fit(check &fits, const distribution<Action> &d, std::size_t rows, std::size_t choices, std::size_t action_len, bool floats,
           span<const Action> action) {
  const std::size_t given_len = d.mean.size() ? d.mean.size() : d.std.size();
  const std::size_t numbers = floats ? rows * action_len : given_len - given_len % (rows ? rows : 1);
  return fits.maybe("prob", d.prob.size(), rows * choices).maybe("mean", d.mean.size(), numbers).maybe("std", d.std.size(), numbers)
      .maybe("value", d.value.size(), rows).maybe("q", d.q.size(), rows * choices).maybe("log_prob", d.log_prob.size(), rows)
      .maybe("entropy", d.entropy.size(), rows).maybe("best", d.best.size(), rows * action_len)
      .len("action", action.size(), d.log_prob.size() ? rows * action_len : 0);
}
} // namespace detail

/* How rows are imitated, as rlcore_imitation; empty: not given. */
struct imitation {
  span<const float> prob = {};         /* [rows, sum of action.n] in place of the choices of actions */
  span<const float> weight = {};       /* [rows] */
  span<const std::uint8_t> reset = {}; /* [rows] 1 where an episode begins */
  std::uint32_t num_steps = 1;         /* of each sequence, with recurrent layers */
  float margin = 0;                    /* of Q; 0: 0.8 */
  bool fit_std = false;                /* standard deviations learn too */
};

/* A policy that acts and does not learn: what a game ships. It keeps scratch for its calls: give each thread a copy. */
template <class Obs = float, class Action = std::int32_t>
class policy {
 public:
  /* Without a policy. */
  policy() = default;

  /* From bytes(), or as rlcore_policy_export wrote it, for a host whose arrays have these spaces: E_SHAPE if the policy was made
     for others. mask_len: of actions that are structures, flags of a row's mask; others are known. */
  static result<policy> load(span<const unsigned char> saved, const rlcore_space &obs, const rlcore_space &action, std::size_t mask_len = 0) {
    return with(block<rlcore_policy>::load(saved, [&](const void *mem, std::size_t size, const rlcore_policy **out) {
      return rlcore_policy_attach(mem, size, &obs, &action, out);
    }), mask_len);
  }
  /* The same for the spaces of an environment, wrappers included. */
  static result<policy> load(span<const unsigned char> saved, const environment &env) {
    if (!env.why()) return env.why();
    return load(saved, env.obs(), env.action());
  }

  /* Chooses an action for each row of obs. obs: [rows, obs.len]; action: [rows, action.len] to write; mask: [rows, mask_len()] 0
     forbids a choice, empty: everything is allowed; state: [rows, state_len()] what recurrent layers carry from call to call,
     empty without them; reset: [rows] 1 where an episode begins, empty: nowhere; sampling: NULL for RLCORE_SAMPLING_BASIC. */
  status act(rlcore_rng &rng, span<const Obs> obs, span<Action> action, span<const std::uint8_t> mask = {}, span<float> state = {},
             span<const std::uint8_t> reset = {}, const rlcore_sampling *sampling = nullptr) {
    return prepared("policy act", obs, action, mask, state, reset).then([&] {
      const rlcore_rows all = detail::rows_of(obs, mask, {}, action);
      const rlcore_policy_buffers with = buffers(state, reset);
      return rlcore_policy_act(get(), rows(obs), &all, &with, sampling, &rng);
    });
  }
  /* The policy as a file of ONNX. options: NULL for RLCORE_ONNX_OWN without action_mask. */
  result<std::vector<std::uint8_t>> onnx(const rlcore_onnx_options *options = nullptr) const {
    std::size_t size = 0;
    std::vector<std::uint8_t> bytes;
    if (const status s = rlcore_policy_onnx_size(get(), options, &size); !s) return s;
    if (const status s = detail::allocate("policy onnx", [&] { bytes.resize(size); }); !s) return s;
    if (const status s = rlcore_policy_onnx_write(get(), options, bytes.data(), size); !s) return s;
    return bytes;
  }
  /* The policy as a file of C whose names begin with prefix, NULL for "policy". */
  result<std::string> c_source(const char *prefix = nullptr) const {
    std::size_t size = 0;
    std::string text;
    if (const status s = rlcore_policy_c_size(get(), prefix, &size); !s) return s;
    if (const status s = detail::allocate("policy c_source", [&] { text.resize(size); }); !s) return s;
    if (const status s = rlcore_policy_c_write(get(), prefix, reinterpret_cast<std::uint8_t *>(&text[0]), size); !s) return s;
    return text;
  }
  /* The most probable actions, or the means. Arrays as there. */
  status act_greedy(span<const Obs> obs, span<Action> action, span<const std::uint8_t> mask = {}, span<float> state = {},
                    span<const std::uint8_t> reset = {}) {
    return prepared("policy act_greedy", obs, action, mask, state, reset).then([&] {
      const rlcore_rows all = detail::rows_of(obs, mask, {}, action);
      const rlcore_policy_buffers with = buffers(state, reset);
      return rlcore_policy_act_greedy(get(), rows(obs), &all, &with);
    });
  }
  /* Its answers to each row of obs, as rlcore_policy_distribution. action: [rows, action.len] with log_prob, else empty; the
     others as for act. */
  status distribution(span<const Obs> obs, const rlcore::distribution<Action> &out, span<const Action> action = {},
                      span<const std::uint8_t> mask = {}, span<float> state = {}, span<const std::uint8_t> reset = {}) {
    detail::check fits = prepared("policy distribution", obs, {}, mask, state, reset, 0);
    if (!fits.why()) return fits.why();
    const std::size_t count = rows(obs);
    return detail::fit(fits, out, count, mask_len_, action_len_, std::is_same<Action, float>::value, action).then([&] {
      const rlcore_rows all = detail::rows_of(obs, mask, {}, action);
      const rlcore_policy_buffers with = buffers(state, reset);
      const rlcore_distribution asked = detail::asked(out);
      return rlcore_policy_distribution(get(), rows(obs), &all, &with, &asked);
    });
  }

  /* What it reads and writes for a row, as rlcore_policy_spaces: arrays of the results point into this object. */
  status spaces(rlcore_space &obs, rlcore_space &action) const { return rlcore_policy_spaces(get(), &obs, &action); }
  /* Numbers of a row: elements of an observation and of an action, flags of a mask, and what recurrent layers carry. */
  std::uint32_t obs_len() const { return obs_len_; }
  std::uint32_t action_len() const { return action_len_; }
  std::size_t mask_len() const { return mask_len_; }
  std::size_t state_len() const { return state_len_; }
  /* The handle for C calls; the bytes that save it. */
  const rlcore_policy *get() const { return block_.get(); }
  span<const unsigned char> bytes() const { return block_.bytes(); }

 private:
  friend class learner<Obs, Action>;
  rlcore_policy_buffers buffers(span<float> state, span<const std::uint8_t> reset) {
    auto b = detail::sized<rlcore_policy_buffers>();
    b.scratch = scratch_.data();
    b.scratch_len = scratch_.size();
    b.state = detail::given(state);
    b.reset = detail::given(reset);
    return b;
  }

  static result<policy> with(result<block<rlcore_policy>> made, std::size_t mask_len) {
    if (!made) return made.why();
    policy p;
    p.block_ = *std::move(made);
    rlcore_space obs = {}, action = {};
    if (const status s = p.spaces(obs, action); !s) return s;
    if (const status s = detail::check("policy").kinds<Obs, Action>(obs.kind, action.kind).why(); !s) return s;
    if (const status s = rlcore_policy_state_len(p.get(), &p.state_len_); !s) return s;
    p.obs_len_ = obs.len;
    p.action_len_ = action.len;
    if (action.kind == RLCORE_STRUCT) p.mask_len_ = mask_len;
    for (std::uint32_t i = 0; action.n && action.kind == RLCORE_I32 && i < action.len; i++) p.mask_len_ += action.n[i];
    return p;
  }

  template <class T>
  static const T *some(span<const T> array) { return array.empty() ? nullptr : array.data(); }
  std::uint32_t rows(span<const Obs> obs) const { return static_cast<std::uint32_t>(obs.size() / obs_len_); }
  /* Arrays that fit, and scratch for as many rows. */
  detail::check prepared(const char *call, span<const Obs> obs, span<Action> action, span<const std::uint8_t> mask, span<float> state,
                         span<const std::uint8_t> reset, std::size_t taken = 1) {
    detail::check fits(call, get());
    if (!fits.why()) return fits;
    const std::size_t count = obs.size() / obs_len_;
    fits.that(count > 0 && count <= UINT32_MAX, RLCORE_E_SHAPE, "obs has no row, or too many").len("obs", obs.size(), count * obs_len_)
        .len("action", action.size(), taken * count * action_len_).maybe("mask", mask.size(), count * mask_len_)
        .len("state", state.size(), count * state_len_).maybe("reset", reset.size(), count);
    if (!fits.why()) return fits;
    std::size_t len = 0;
    fits.that(rlcore_policy_scratch_len(get(), rows(obs), &len) == RLCORE_OK, RLCORE_E_OVERFLOW, "too many rows at once");
    if (!fits.why() || len <= scratch_.size()) return fits;
    return fits.that(detail::attempt([&] { return scratch_.resize(len), true; }), RLCORE_E_SIZE, "not enough memory for scratch");
  }

  block<rlcore_policy> block_;
  std::uint32_t obs_len_ = 0, action_len_ = 0;
  std::size_t mask_len_ = 0, state_len_ = 0;
  std::vector<float> scratch_;
};

/* ---- Learners ---- */

/* A rollout that is handed from one learner to another: arrays as rlcore_learner_batch_read, T * N rows. */
template <class Action>
struct learner_batch {
  std::vector<float> obs;                 /* [rows, seen_len], what networks read of obs */
  std::vector<Action> action;             /* [rows, action.len] */
  std::vector<std::uint8_t> action_mask;  /* [rows, sum of action.n], empty without masks */
  std::vector<float> log_prob;            /* [rows] */
  std::vector<float> value;               /* [rows] */
  std::vector<float> advantage;           /* [rows] */
  std::vector<float> value_target;        /* [rows] */
  std::vector<float> state;               /* [rows, state_len], empty without recurrent layers */
  std::vector<std::uint8_t> begin;        /* [begin_len] of rlcore_learner_batch_len: one a row, or empty */
  std::vector<std::uint32_t> env;         /* [env_len], likewise */
  std::vector<double> moments;            /* [moments_len] of the learner that recorded it, empty if it normalizes nothing */

  /* Room for so many rows; none by default. */
  learner_batch() = default;
  learner_batch(std::size_t rows, std::size_t seen_len, std::size_t action_len, std::size_t mask_len = 0, std::size_t state_len = 0,
                std::size_t begin_len = 0, std::size_t env_len = 0, std::size_t moments_len = 0)
      : obs(rows * seen_len), action(rows * action_len), action_mask(rows * mask_len), log_prob(rows), value(rows), advantage(rows),
        value_target(rows), state(rows * state_len), begin(begin_len), env(env_len), moments(moments_len) {}
};

/* Transitions of the host's own for one gradient step off policy: as rlcore_learner_learn_transitions, batch_size rows. */
template <class Obs = float, class Action = std::int32_t>
struct transition_batch {
  span<const Obs> obs;                      /* [rows, obs.len] */
  span<const Obs> next_obs;                 /* [rows, obs.len], what the actions led to */
  span<const Action> action;                /* [rows, action.len] */
  span<const float> reward;                 /* [rows] */
  span<const std::uint8_t> terminated;      /* [rows] */
  span<const float> discount = {};          /* [rows], empty: that of the configuration */
  span<const std::uint8_t> next_mask = {};  /* [rows, sum of action.n], empty without masks */
  span<const float> importance = {};        /* [rows], empty: 1 */
  span<const std::uint8_t> mask = {};       /* [rows, sum of action.n] of obs, with masks: SAC needs it, DQN checks it */
};

/* A learner for environments whose observations and actions have these elements. A copy is a snapshot. */
template <class Obs = float, class Action = std::int32_t>
class learner {
 public:
  /* Without a learner. */
  learner() = default;

  /* config.num_envs must be that of the environments. If observations are structures, obs.n of the definition has the numbers of
     choices of their int32 elements, and config.obs_fields may be empty for the fields of env. config.obs_dims must have the axes
     of env's observations in their order. */
  static result<learner> make(const rlcore_learner_config &config, const environment &env) {
    if (!env.why()) return env.why();
    rlcore_learner_config parted = config;
    rlcore_field fields[8];
    if (!config.num_obs_fields) {
      parted.obs_fields = fields;
      if (const status s = rlcore_env_fields(env.get(), fields, 8, &parted.num_obs_fields); !s) return s;
      bool apart = env.obs().kind == RLCORE_STRUCT; /* or an info, which is not read, or channels in front */
      for (std::uint32_t i = 0; i < parted.num_obs_fields; i++) apart = apart || fields[i].flags;
      std::size_t size = 0; /* are the axes in the order of the environment's? */
      if (!apart && config.obs_dims[2])
        if (const status s = rlcore_learner_size(&parted, &env.obs(), &env.action(), &size); !s) return s;
      if (!apart) parted = config;
    }
    return make(parted, env.obs(), env.action());
  }
  /* The same for a host without an environment. For RLCORE_STRUCT, Obs or Action is std::uint8_t: the bytes of the host's structs. */
  static result<learner> make(const rlcore_learner_config &config, const rlcore_space &obs, const rlcore_space &action) {
    return with(block<rlcore_learner>::make(
        [&](std::size_t *size) { return rlcore_learner_size(&config, &obs, &action, size); },
        [&](void *mem, std::size_t size, rlcore_learner **out) { return rlcore_learner_init(mem, size, &config, &obs, &action, out); }));
  }
  /* From bytes(): training continues where it was saved, also amid an update, as stats() tell. */
  static result<learner> load(span<const unsigned char> saved) { return load(saved, 0, nullptr, nullptr); }
  /* The same, refused unless it was saved by a learner of num_envs environments with these spaces; 0 and nullptr: of any. */
  static result<learner> load(span<const unsigned char> saved, std::uint32_t num_envs, const rlcore_space *obs,
                              const rlcore_space *action) {
    return with(block<rlcore_learner>::load(saved, [&](void *mem, std::size_t size, rlcore_learner **out) {
      return rlcore_learner_attach(mem, size, num_envs, obs, action, out);
    }));
  }

  /* For calls that read the arrays of a vecenv. */
  template <class Envs>
  using stepped = std::enable_if_t<std::is_base_of_v<vecenv<Obs, Action>, Envs>>;

  /* Draws an action for each environment: action(). obs: [N, obs.len]; mask: as for rlcore_learner_act; active: [N] flags of
     those that act now, empty: all. */
  status act(span<const Obs> obs, span<const std::uint8_t> mask = {}, span<const std::uint8_t> active = {}) {
    return rows("learner act", obs, mask, active).then([&] {
      const rlcore_rows all = detail::rows_of(obs, mask, active, span<Action>(action_));
      return rlcore_learner_act(get(), &all);
    });
  }
  /* The same from a vecenv and, with use_action_mask, its masks. */
  template <class Envs, class = stepped<Envs>>
  status act(const Envs &envs, span<const std::uint8_t> active = {}) {
    const status s = of("learner act", envs).why();
    return s ? act(envs.obs(), masks_of(envs.action_mask()), active) : s;
  }
  /* The same for environments [begin, end) only; the spans have the rows of all N. */
  status act_range(std::uint32_t begin, std::uint32_t end, span<const Obs> obs, span<const std::uint8_t> mask = {},
                   span<const std::uint8_t> active = {}) {
    return rows("learner act_range", obs, mask, active).range(begin, end, num_envs_).then([&] {
      const rlcore_rows all = detail::rows_of(obs, mask, active, span<Action>(action_));
      return rlcore_learner_act_range(get(), begin, end, &all);
    });
  }
  /* Begins transitions with the host's own actions in place of act, off policy. action: [N, action.len]; the others as there. */
  status demonstrate(span<const Obs> obs, span<const Action> action, span<const std::uint8_t> mask = {},
                     span<const std::uint8_t> active = {}) {
    return rows("learner demonstrate", obs, mask, active).len("action", action.size(), action_.size()).then([&] {
      const rlcore_rows all = detail::rows_of(obs, mask, active, action);
      return rlcore_learner_demonstrate(get(), &all);
    });
  }
  /* Acts without recording, in any phase, as rlcore_learner_predict. action: [N, action.len] to write; state: [N, state_len()]
     what recurrent layers carry from call to call, empty without them; reset: [N] 1 where an episode begins, empty: nowhere;
     sampling: NULL for RLCORE_SAMPLING_BASIC. */
  status predict(span<const Obs> obs, span<Action> action, span<const std::uint8_t> mask = {}, span<float> state = {},
                 span<const std::uint8_t> reset = {}, const rlcore_sampling *sampling = nullptr) {
    return rows("learner predict", obs, mask, {}).len("action", action.size(), action_.size())
        .len("state", state.size(), num_envs_ * state_len_).maybe("reset", reset.size(), num_envs_).then([&] {
          const rlcore_rows all = detail::rows_of(obs, mask, {}, action);
          return rlcore_learner_predict(get(), &all, state.data(), some(reset), sampling);
        });
  }
  /* [N, action.len] the actions that act drew. */
  span<const Action> action() const { return action_; }
  /* What the step returned that took those actions. active: [N] flags of those that were stepped, empty: all; duration: [N] how
     long the actions lasted, with use_duration. */
  status observe(const vecenv<Obs, Action> &envs, span<const std::uint8_t> active = {}, span<const float> duration = {}) {
    const status s = of("learner observe", envs).why();
    const auto masks = masks_of(envs.final_action_mask());
    return s ? observe(envs.reward(), envs.terminated(), envs.truncated(), envs.final_obs(), active, masks, duration) : s;
  }
  /* The same from arrays of a host without a vecenv: [N] each; final_obs: [N, obs.len], empty if nothing is truncated;
     final_mask: as for rlcore_learner_observe, empty: everything is allowed. */
  status observe(span<const float> reward, span<const std::uint8_t> terminated, span<const std::uint8_t> truncated,
                 span<const Obs> final_obs = {}, span<const std::uint8_t> active = {}, span<const std::uint8_t> final_mask = {},
                 span<const float> duration = {}) {
    return ready("learner observe").len("reward", reward.size(), num_envs_).len("terminated", terminated.size(), num_envs_)
        .len("truncated", truncated.size(), num_envs_).maybe("final_obs", final_obs.size(), obs_size())
        .maybe("active", active.size(), num_envs_).maybe("final_mask", final_mask.size(), mask_size())
        .maybe("duration", duration.size(), num_envs_).then([&] {
          auto all = detail::sized<rlcore_rows>();
          all.active = some(active);
          all.duration = some(duration);
          all.reward = detail::given(reward);
          all.terminated = detail::given(terminated);
          all.truncated = detail::given(truncated);
          all.final_obs = detail::given(final_obs);
          all.final_action_mask = detail::given(final_mask);
          return rlcore_learner_observe(get(), &all);
        });
  }
  /* [N] flags of environments that have acted and not been observed yet. */
  status acted(span<std::uint8_t> out) const {
    return ready("learner acted").len("out", out.size(), num_envs_).then([&] { return rlcore_learner_acted(get(), out.data()); });
  }
  /* Removes agents that disappear without an outcome. gone: [N] flags. */
  status cut(span<const std::uint8_t> gone) {
    return ready("learner cut").len("gone", gone.size(), num_envs_).then([&] { return rlcore_learner_cut(get(), gone.data()); });
  }
  /* An rlcore_learner_due. */
  result<std::uint32_t> due() const {
    std::uint32_t out = 0;
    if (const status s = rlcore_learner_phase(get(), &out); !s) return s;
    return out;
  }
  /* Stops or resumes updating the statistics that normalize observations and rewards. */
  status freeze(bool frozen = true) { return rlcore_learner_freeze(get(), frozen); }
  /* At most max_slices chunks of the update that is due, of which a minibatch has num_chunks; 0: all that are left.
     stats().minibatches_left tells what is left. obs: [N, obs.len] after the last step; may be empty in all calls of an
     update but the first. mask: as for rlcore_learner_learn, empty: everything is allowed. */
  status learn(span<const Obs> obs, std::uint32_t max_slices = 0, span<const std::uint8_t> mask = {}) {
    return learned(ready("learner learn").maybe("obs", obs.size(), obs_size()).maybe("mask", mask.size(), mask_size()).then([&] {
      const rlcore_rows all = detail::rows_of(obs, mask);
      return rlcore_learner_learn(get(), &all, max_slices, &stats_);
    }));
  }
  /* The same from a vecenv and, with use_action_mask, its masks. */
  template <class Envs, class = stepped<Envs>>
  status learn(const Envs &envs, std::uint32_t max_slices = 0) {
    const status s = of("learner learn", envs).why();
    return s ? learn(envs.obs(), max_slices, masks_of(envs.action_mask())) : s;
  }
  /* The same update, whose chunks the host shares among threads: learn_begin, then until stats().minibatches_left is 0
     learn_range for all chunks, grads_write and learn_apply. learn_drop ends it early. obs may be empty off policy. */
  status learn_begin(span<const Obs> obs, span<const std::uint8_t> mask = {}) {
    return learned(ready("learner learn_begin").maybe("obs", obs.size(), obs_size()).maybe("mask", mask.size(), mask_size()).then([&] {
      const rlcore_rows all = detail::rows_of(obs, mask);
      return rlcore_learner_learn_begin(get(), &all, &stats_);
    }));
  }
  template <class Envs, class = stepped<Envs>>
  status learn_begin(const Envs &envs) {
    const status s = of("learner learn_begin", envs).why();
    return s ? learn_begin(envs.obs(), masks_of(envs.action_mask())) : s;
  }
  status learn_range(std::uint32_t begin, std::uint32_t end, span<std::uint64_t> scratch, span<float> grads) const {
    return chunks("learner learn_range", begin, end, grads.size(), [&] {
      return rlcore_learner_learn_range(get(), begin, end, scratch.data(), scratch.size_bytes(), grads.data(), grads.size());
    });
  }
  status learn_apply() { return learned(rlcore_learner_learn_apply(get(), &stats_)); }
  status learn_drop() { return learned(rlcore_learner_learn_drop(get())); }
  /* Counts environment steps that others took. */
  status count_steps(std::uint64_t num_steps) { return learned(rlcore_learner_count_steps(get(), num_steps)); }
  /* Numbers of learn_range's scratch, at least; floats of the gradients of a chunk. */
  result<std::size_t> scratch_len() const {
    auto bytes = length(rlcore_learner_scratch_size);
    return bytes ? result<std::size_t>((*bytes + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t)) : bytes;
  }
  result<std::size_t> grads_len() const { return length(rlcore_learner_grads_len); }
  /* Gradients of chunks [begin, end) out, in, and added to those that are there. */
  status grads_read(std::uint32_t begin, std::uint32_t end, span<float> grads) {
    return chunks("learner grads_read", begin, end, grads.size(), [&] {
      return rlcore_learner_grads_read(get(), begin, end, grads.data(), grads.size());
    });
  }
  status grads_write(std::uint32_t begin, std::uint32_t end, span<const float> grads) {
    return chunks("learner grads_write", begin, end, grads.size(), [&] {
      return rlcore_learner_grads_write(get(), begin, end, grads.data(), grads.size());
    });
  }
  status grads_add(std::uint32_t begin, std::uint32_t end, span<const float> grads) {
    return chunks("learner grads_add", begin, end, grads.size(), [&] {
      return rlcore_learner_grads_add(get(), begin, end, grads.data(), grads.size());
    });
  }
  /* The rollout that the current update learns from; and an update from one that another learner has read. */
  result<learner_batch<Action>> batch_read() const {
    learner_batch<Action> b;
    const auto make = [&] {
      b = learner_batch<Action>(rows_, seen_len_, action_len_, masks_, state_len_, begin_len_, env_len_, moments_len());
    };
    if (const status s = detail::allocate("learner batch_read", make); !s) return s;
    const rlcore_learner_batch columns = columns_of(b);
    if (const status s = rlcore_learner_batch_read(get(), &columns); !s) return s;
    return b;
  }
  status learn_batch(const learner_batch<Action> &b) {
    return learned(ready("learner learn_batch").len("obs", b.obs.size(), rows_ * seen_len_)
        .len("action", b.action.size(), rows_ * action_len_).len("action_mask", b.action_mask.size(), rows_ * masks_)
        .len("log_prob", b.log_prob.size(), rows_).len("value", b.value.size(), rows_)
        .len("advantage", b.advantage.size(), rows_).len("value_target", b.value_target.size(), rows_)
        .len("state", b.state.size(), rows_ * state_len_).len("begin", b.begin.size(), begin_len_)
        .len("env", b.env.size(), env_len_).len("moments", b.moments.size(), moments_len()).then([&] {
          const rlcore_learner_batch columns = columns_of(b);
          return rlcore_learner_learn_batch(get(), &columns, &stats_);
        }));
  }
  /* A gradient step off policy from transitions of the host's own. error: [rows] to write, for priorities; or empty. */
  status learn_transitions(const transition_batch<Obs, Action> &b, span<float> error = {}) {
    return learned(ready("learner learn_transitions").len("obs", b.obs.size(), rows_ * obs_len_)
        .len("next_obs", b.next_obs.size(), rows_ * obs_len_).len("action", b.action.size(), rows_ * action_len_)
        .len("reward", b.reward.size(), rows_).len("terminated", b.terminated.size(), rows_)
        .maybe("discount", b.discount.size(), rows_).maybe("mask", b.mask.size(), rows_ * mask_len_)
        .maybe("next_mask", b.next_mask.size(), rows_ * mask_len_).maybe("importance", b.importance.size(), rows_)
        .maybe("error", error.size(), rows_).then([&] {
          auto t = detail::sized<rlcore_learner_transitions>();
          t.obs = b.obs.data();
          t.action = b.action.data();
          t.action_mask = some(b.mask);
          t.reward = b.reward.data();
          t.terminated = b.terminated.data();
          t.discount = some(b.discount);
          t.next_obs = b.next_obs.data();
          t.next_action_mask = some(b.next_mask);
          t.importance = some(b.importance);
          t.error = detail::given(error);
          return rlcore_learner_learn_transitions(get(), &t, &stats_);
        }));
  }
  /* Of the update that runs, or of the last one, as rlcore_learner_stats_read told when the learner was made or loaded, or last
     learned. */
  const rlcore_learner_stats &stats() const { return stats_; }

  /* Acts, steps and observes until learn is due, or max_steps steps of all environments are taken, as rlcore_collect; 0: no limit.
     How many were taken; if environments fail, why: the others are stepped and observed, and the failed ones must be reset. */
  result<std::uint32_t> collect(vecenv<Obs, Action> &envs, std::uint32_t max_steps = 0) {
    std::uint32_t steps = 0;
    const status s = of("learner collect", envs).then([&] {
      rlcore_rows all = envs.out().template rows<Action>();
      if (!masks_) all.action_mask = all.final_action_mask = nullptr;
      all.action = action_.data();
      return rlcore_collect(get(), envs.get(), envs.env().get(), &all, max_steps, &steps);
    });
    if (!s) return s;
    if (const status asked = masks_ ? status(RLCORE_OK) : envs.ask_masks(); !asked) return asked;
    return steps;
  }
  /* Acts and steps and, once a rollout is full, learns. */
  status train_step(vecenv<Obs, Action> &envs) {
    if (const status s = of("learner train_step", envs).why(); !s) return s;
    if (const status s = act(envs); !s) return s;
    if (const status s = envs.step(action()); !s) return s;
    if (const status s = observe(envs); !s) return s;
    auto now = due();
    if (!now) return now.why();
    return *now == RLCORE_LEARNER_LEARN ? learn(envs) : status(RLCORE_OK);
  }

  /* The value of each observation; log-probability and entropy of each action. obs: [N, obs.len]; action: [N, action.len], as
     rlcore_learner_log_prob takes it; the others [N]; mask: as for rlcore_learner_value. Nothing is recorded. */
  status value(span<const Obs> obs, span<float> value, span<const std::uint8_t> mask = {}) {
    return rows("learner value", obs, mask, {}).len("value", value.size(), num_envs_).then([&] {
      const rlcore_rows all = detail::rows_of(obs, mask);
      return rlcore_learner_value(get(), &all, value.data());
    });
  }
  status log_prob(span<const Obs> obs, span<const Action> action, span<float> log_prob, span<float> entropy,
                  span<const std::uint8_t> mask = {}) {
    return rows("learner log_prob", obs, mask, {}).len("action", action.size(), action_.size())
        .len("log_prob", log_prob.size(), num_envs_).len("entropy", entropy.size(), num_envs_).then([&] {
          const rlcore_rows all = detail::rows_of(obs, mask, {}, action);
          return rlcore_learner_log_prob(get(), &all, log_prob.data(), entropy.data());
        });
  }
  /* The answers of the networks to any number of rows, as rlcore_learner_distribution. obs: [rows, obs.len]; action: [rows, action.len]
     with log_prob, else empty; mask: [rows, sum of action.n] or empty; state: [rows, state_len()], the caller's own; reset: [rows]
     1 where an episode begins, empty: nowhere. */
  status distribution(span<const Obs> obs, const rlcore::distribution<Action> &out, span<const Action> action = {},
                      span<const std::uint8_t> mask = {}, span<float> state = {}, span<const std::uint8_t> reset = {}) {
    detail::check fits = ready("learner distribution");
    if (!fits.why()) return fits.why();
    const std::size_t count = obs.size() / obs_len_;
    fits.that(count > 0 && count <= UINT32_MAX, RLCORE_E_SHAPE, "obs has no row, or too many").len("obs", obs.size(), count * obs_len_)
        .maybe("mask", mask.size(), count * mask_len_).len("state", state.size(), count * state_len_)
        .maybe("reset", reset.size(), count);
    return detail::fit(fits, out, count, mask_len_, action_len_, std::is_same<Action, float>::value, action).then([&] {
      const rlcore_rows all = detail::rows_of(obs, mask, {}, action);
      const rlcore_distribution asked = detail::asked(out);
      return rlcore_learner_distribution(get(), static_cast<std::uint32_t>(count), &all, state.data(), some(reset), &asked);
    });
  }
  /* A step that imitates rows, as rlcore_learner_imitate; returns the loss before it. obs: [rows, obs.len]; action: [rows, action.len],
     empty with prob if it has no numbers; mask: [rows, sum of action.n] or empty. */
  result<float> imitate(span<const Obs> obs, span<const Action> action, const imitation &how = {}, span<const std::uint8_t> mask = {}) {
    detail::check fits = ready("learner imitate");
    if (!fits.why()) return fits.why();
    const std::size_t count = obs.size() / obs_len_;
    fits.that(count > 0 && count <= UINT32_MAX, RLCORE_E_SHAPE, "obs has no row, or too many").len("obs", obs.size(), count * obs_len_)
        .maybe("mask", mask.size(), count * mask_len_).maybe("prob", how.prob.size(), count * mask_len_)
        .maybe("weight", how.weight.size(), count).maybe("reset", how.reset.size(), count);
    if (how.prob.empty()) fits.len("action", action.size(), count * action_len_);
    else fits.maybe("action", action.size(), count * action_len_);
    float loss = 0;
    const status done = fits.then([&] {
      const rlcore_rows all = detail::rows_of(obs, mask, {}, action);
      auto with = detail::sized<rlcore_imitation>();
      with.num_steps = how.num_steps, with.reset = some(how.reset), with.prob = some(how.prob), with.weight = some(how.weight);
      with.margin = how.margin, with.fit_std = how.fit_std;
      return rlcore_learner_imitate(get(), static_cast<std::uint32_t>(count), &all, &with, &loss);
    });
    if (!done) return done;
    return loss;
  }
  /* How many parameters there are; out and in, there with the moments of the learner that they come from. */
  result<std::size_t> params_len() const { return length(rlcore_learner_params_len); }
  status params_read(span<float> params) const {
    auto len = params_len();
    if (!len) return len.why();
    return ready("learner params_read").len("params", params.size(), *len).then([&] {
      return rlcore_learner_params_read(get(), params.data(), params.size());
    });
  }
  status params_write(span<const float> params, span<const double> moments = {}) {
    auto len = params_len();
    if (!len) return len.why();
    return learned(ready("learner params_write").len("params", params.size(), *len).len("moments", moments.size(), moments_len()).then([&] {
      return rlcore_learner_params_write(get(), params.data(), params.size(), moments.data(), moments.size());
    }));
  }
  /* The tensors of the learner by name, and their numbers, out and in: `of` is an rlcore_tensors. */
  result<std::vector<rlcore_tensor>> tensors() const {
    return listed<rlcore_tensor>([&](rlcore_tensor *to, std::uint32_t capacity, std::uint32_t *len) {
      return rlcore_learner_tensors(get(), to, capacity, len);
    });
  }
  status tensors_read(std::uint32_t of, span<float> values) const {
    return rlcore_learner_tensors_read(get(), of, values.data(), values.size());
  }
  status tensors_write(std::uint32_t of, span<const rlcore_tensor> tensors, span<const float> values) {
    return rlcore_learner_tensors_write(get(), of, tensors.data(), static_cast<std::uint32_t>(tensors.size()), values.data(), values.size());
  }
  /* Freezes the tensors whose names fit, or lets them learn again; their number. * stands for any characters. */
  result<std::uint32_t> set_trainable(const char *names, bool trainable) {
    std::uint32_t num_tensors = 0;
    if (const status s = rlcore_learner_set_trainable(get(), names, trainable, &num_tensors); !s) return s;
    return num_tensors;
  }
  /* The layers that run: of the policy's network, or with 1 of each critic's. */
  result<std::vector<rlcore_layer>> layers(std::uint32_t network = 0) const {
    return listed<rlcore_layer>([&](rlcore_layer *to, std::uint32_t capacity, std::uint32_t *len) {
      return rlcore_learner_layers(get(), network, to, capacity, len);
    });
  }
  /* The configuration of the learner, without its lists; and another one, between updates. */
  result<rlcore_learner_config> config() const {
    rlcore_learner_config out;
    if (const status s = rlcore_learner_config_read(get(), &out, sizeof out, nullptr); !s) return s;
    return out;
  }
  status configure(const rlcore_learner_config &config) { return learned(status(rlcore_learner_configure(get(), &config))); }
  /* Takes over what another learner or a policy has learned: a sum of rlcore_adopt. */
  template <class Other, class Acts>
  status adopt(const learner<Other, Acts> &from, std::uint32_t parts) { return learned(status(rlcore_learner_adopt(get(), from.get(), parts))); }
  template <class Other, class Acts>
  status adopt(const rlcore::policy<Other, Acts> &from, std::uint32_t parts, double obs_count = 0) {
    return learned(status(rlcore_learner_adopt_policy(get(), from.get(), parts, obs_count)));
  }
  /* Numbers of the moments that normalize observations and rewards, 0 if nothing is normalized; out and in. */
  std::size_t moments_len() const { // asked for when it is used: builds without `scale` have no such call
    std::size_t len = 0;
    if (get()) (void)rlcore_learner_moments_len(get(), &len);
    return len;
  }
  status moments_read(span<double> moments) const {
    return ready("learner moments_read").len("moments", moments.size(), moments_len()).then([&] {
      return rlcore_learner_moments_read(get(), moments.data(), moments.size());
    });
  }
  status moments_write(span<const double> moments) {
    return ready("learner moments_write").len("moments", moments.size(), moments_len()).then([&] {
      return rlcore_learner_moments_write(get(), moments.data(), moments.size());
    });
  }
  /* Merges `with` into moments, as rlcore_learner_moments_merge; base: what both began from, empty: nothing. */
  static status moments_merge(span<double> moments, span<const double> with, span<const double> base = {}) {
    return detail::check("learner moments_merge").len("with", with.size(), moments.size())
        .maybe("base", base.size(), moments.size()).then([&] {
          return rlcore_learner_moments_merge(some(base), with.data(), with.size(), moments.data());
        });
  }
  /* Numbers that recurrent layers carry from one step of an environment to the next. */
  std::size_t state_len() const { return state_len_; }
  /* The policy as it is now, on its own. */
  result<rlcore::policy<Obs, Action>> policy() const {
    return rlcore::policy<Obs, Action>::with(block<rlcore_policy>::make(
        [&](std::size_t *size) { return rlcore_policy_size(get(), size); },
        [&](void *mem, std::size_t size, rlcore_policy **out) { return rlcore_policy_export(get(), mem, size, out); }), mask_len_);
  }
  /* Stores a checksum over bytes(), which load then checks. The next call that changes the learner removes it. */
  status seal() { return block_.seal(); }
  /* The handle for C calls; the bytes that save the learner. */
  rlcore_learner *get() const { return block_.get(); }
  span<const unsigned char> bytes() const { return block_.bytes(); }

 private:
  static rlcore_learner_stats no_stats() {
    rlcore_learner_stats stats = {};
    stats.struct_size = sizeof stats;
    return stats;
  }

  /* The arrays are as long as the block says, whatever it was made or loaded from. */
  static result<learner> with(result<block<rlcore_learner>> made) {
    if (!made) return made.why();
    learner p;
    p.block_ = *std::move(made);
    rlcore_space obs = {}, action = {};
    if (const status s = rlcore_learner_spaces(p.get(), &p.num_envs_, &obs, &action); !s) return s;
    if (const status s = rlcore_learner_batch_len(p.get(), &p.rows_, &p.masks_, &p.begin_len_, &p.env_len_); !s) return s;
    if (const status s = rlcore_learner_state_len(p.get(), &p.state_len_); !s) return s;
    if (const status s = rlcore_learner_seen_len(p.get(), &p.seen_len_); !s) return s;
    if (const status s = rlcore_learner_stats_read(p.get(), &p.stats_); !s) return s;
    if (const status s = detail::check("learner").kinds<Obs, Action>(obs.kind, action.kind).why(); !s) return s;
    p.obs_len_ = obs.len;
    p.action_len_ = action.len;
    const bool structured = action.kind == RLCORE_STRUCT; /* its n has fewer than len entries */
    if (structured) p.mask_len_ = static_cast<std::uint32_t>(p.masks_);
    for (std::uint32_t i = 0; action.n && !structured && i < action.len; i++) p.mask_len_ += action.n[i];
    const auto make_room = [&] { p.action_.resize(std::size_t{p.num_envs_} * action.len); };
    if (const status s = detail::allocate("learner", make_room); !s) return s;
    return p;
  }

  std::size_t obs_size() const { return std::size_t{num_envs_} * obs_len_; }
  std::size_t mask_size() const { return std::size_t{num_envs_} * mask_len_; }
  /* Masks of a vecenv, for a learner that takes masks. */
  span<const std::uint8_t> masks_of(span<const std::uint8_t> all) const { return masks_ ? all : span<const std::uint8_t>(); }
  detail::check ready(const char *call) const { return detail::check(call, get()); }
  /* Observations of all environments, their masks, and which of them. */
  detail::check rows(const char *call, span<const Obs> obs, span<const std::uint8_t> mask, span<const std::uint8_t> active) const {
    return ready(call).len("obs", obs.size(), obs_size()).maybe("mask", mask.size(), mask_size())
        .maybe("active", active.size(), num_envs_);
  }
  /* Environments are the learner's. */
  detail::check of(const char *call, const vecenv<Obs, Action> &envs) const {
    return ready(call).that(envs.get(), RLCORE_E_NULL, "the environments are empty: they were never made, or were moved from")
        .that(envs.whole(), RLCORE_E_SHAPE, "an array of the environments' out() has been resized")
        .same("num_envs of the environments", envs.num_envs(), num_envs_).same("obs.len of the environments", envs.obs_len(), obs_len_)
        .same("action.len of the environments", envs.action_len(), action_len_);
  }
  /* Keeps the statistics up to date whatever has become of the update. */
  status learned(status s) {
    if (get()) (void)rlcore_learner_stats_read(get(), &stats_);
    return s;
  }
  /* An array that may be left out, for C calls. */
  template <class T>
  static const T *some(span<const T> array) { return array.empty() ? nullptr : array.data(); }
  /* The columns of a batch, which learn_batch only reads. */
  static rlcore_learner_batch columns_of(const learner_batch<Action> &b) {
    auto c = detail::sized<rlcore_learner_batch>();
    c.obs = detail::given<const float>(b.obs);
    c.action = detail::given<const Action>(b.action);
    c.action_mask = detail::given<const std::uint8_t>(b.action_mask);
    c.log_prob = detail::given<const float>(b.log_prob);
    c.value = detail::given<const float>(b.value);
    c.advantage = detail::given<const float>(b.advantage);
    c.value_target = detail::given<const float>(b.value_target);
    c.state = detail::given<const float>(b.state);
    c.begin = detail::given<const std::uint8_t>(b.begin);
    c.env = detail::given<const std::uint32_t>(b.env);
    c.moments = detail::given<const double>(b.moments);
    return c;
  }
  /* All entries of a list that a call counts, then writes. */
  template <class T, class Call>
  result<std::vector<T>> listed(Call call) const {
    std::uint32_t len = 0;
    std::vector<T> all;
    if (const status s = call(nullptr, 0, &len); !s) return s;
    if (const status s = detail::allocate("learner", [&] { all.resize(len); }); !s) return s;
    if (const status s = call(all.data(), len, &len); !s) return s;
    return all;
  }
  result<std::size_t> length(rlcore_status (*get_len)(const rlcore_learner *, std::size_t *)) const {
    std::size_t len = 0;
    if (const status s = get_len(get(), &len); !s) return s;
    return len;
  }
  /* A call with the gradients of chunks [begin, end). */
  template <class Call>
  status chunks(const char *call, std::uint32_t begin, std::uint32_t end, std::size_t size, Call &&made) const {
    auto len = grads_len();
    if (!len) return len.why();
    return ready(call).range(begin, end, UINT32_MAX).len("grads", size, (end - begin) * *len).then(made);
  }

  block<rlcore_learner> block_;
  std::uint32_t num_envs_ = 0, obs_len_ = 0, action_len_ = 0, mask_len_ = 0;
  /* Rows of a batch; in each row: flags of its mask, numbers of recurrent layers, numbers that networks read of obs; elements
     of begin and env. */
  std::size_t rows_ = 0, masks_ = 0, state_len_ = 0, seen_len_ = 0, begin_len_ = 0, env_len_ = 0;
  std::vector<Action> action_;
  rlcore_learner_stats stats_ = no_stats();
};

/* ---- Layers ---- */

/* Layers for a list, as rlcore_layer describes them; windows are square, and what else a layer has is set in what these return. */
namespace layers {

/* A layer of this kind. */
constexpr rlcore_layer of(rlcore_layer_kind kind, std::uint32_t units, rlcore_activation activation) {
  rlcore_layer layer = {};
  layer.kind = kind;
  layer.units = units;
  layer.activation = activation;
  return layer;
}

/* Each unit reads all of the layer before it. */
constexpr rlcore_layer dense(std::uint32_t units, rlcore_activation activation = RLCORE_ACTIVATION_TANH) {
  return of(RLCORE_LAYER_DENSE, units, activation);
}

/* A layer with windows of size x size, `stride` pixels apart. */
constexpr rlcore_layer windows(rlcore_layer_kind kind, std::uint32_t units, std::uint32_t size, std::uint32_t stride,
                               rlcore_activation activation) {
  rlcore_layer layer = of(kind, units, activation);
  layer.size[0] = layer.size[1] = size;
  layer.stride[0] = layer.stride[1] = stride;
  return layer;
}

/* A convolution with windows of size x size, `stride` pixels apart. */
constexpr rlcore_layer conv(std::uint32_t units, std::uint32_t size, std::uint32_t stride = 1,
                            rlcore_activation activation = RLCORE_ACTIVATION_RELU) {
  return windows(RLCORE_LAYER_CONV, units, size, stride, activation);
}

/* A convolution of each channel of its own. */
constexpr rlcore_layer depthwise(std::uint32_t units, std::uint32_t size, std::uint32_t stride = 1,
                                 rlcore_activation activation = RLCORE_ACTIVATION_RELU) {
  return windows(RLCORE_LAYER_DEPTHWISE, units, size, stride, activation);
}

/* A transposed convolution. */
constexpr rlcore_layer deconv(std::uint32_t units, std::uint32_t size, std::uint32_t stride = 1,
                              rlcore_activation activation = RLCORE_ACTIVATION_RELU) {
  return windows(RLCORE_LAYER_DECONV, units, size, stride, activation);
}

/* The maximum of each window, or with RLCORE_LAYER_MEAN in flags its mean. */
constexpr rlcore_layer pool(std::uint32_t size, rlcore_activation activation = RLCORE_ACTIVATION_IDENTITY) {
  return windows(RLCORE_LAYER_POOL, 0, size, size, activation);
}

/* Mean 0 and variance 1 over the units of a row, then a gain and an offset for each. */
constexpr rlcore_layer norm(rlcore_activation activation = RLCORE_ACTIVATION_IDENTITY) {
  return of(RLCORE_LAYER_NORM, 0, activation);
}

/* Recurrent layers, with a state from step to step. */
constexpr rlcore_layer lstm(std::uint32_t units) { return of(RLCORE_LAYER_LSTM, units, RLCORE_ACTIVATION_TANH); }
constexpr rlcore_layer gru(std::uint32_t units) { return of(RLCORE_LAYER_GRU, units, RLCORE_ACTIVATION_TANH); }
constexpr rlcore_layer mingru(std::uint32_t units) { return of(RLCORE_LAYER_MINGRU, units, RLCORE_ACTIVATION_TANH); }

/* Attention over the last `window` steps of a row. */
constexpr rlcore_layer attention(std::uint32_t units, std::uint32_t heads, std::uint32_t window) {
  rlcore_layer layer = of(RLCORE_LAYER_ATTENTION, units, RLCORE_ACTIVATION_TANH);
  layer.heads = heads;
  layer.window = window;
  return layer;
}

/* A vector of `units` numbers for each of `symbols` symbols. */
constexpr rlcore_layer embed(std::uint32_t units, std::uint32_t symbols,
                             rlcore_activation activation = RLCORE_ACTIVATION_IDENTITY) {
  rlcore_layer layer = of(RLCORE_LAYER_EMBED, units, activation);
  layer.symbols = symbols;
  return layer;
}

/* The layer, reading `source` in place of the layer before it, as in rlcore_layer; `other` of layers that read two. */
constexpr rlcore_layer from(rlcore_layer layer, std::uint32_t source, std::uint32_t other = 0) {
  layer.source[0] = source;
  layer.source[1] = other;
  return layer;
}

/* Sums, products, and one behind the other, of two layers by number. */
constexpr rlcore_layer add(std::uint32_t source, std::uint32_t other,
                           rlcore_activation activation = RLCORE_ACTIVATION_IDENTITY) {
  return from(of(RLCORE_LAYER_ADD, 0, activation), source, other);
}
constexpr rlcore_layer multiply(std::uint32_t source, std::uint32_t other,
                                rlcore_activation activation = RLCORE_ACTIVATION_IDENTITY) {
  return from(of(RLCORE_LAYER_MULTIPLY, 0, activation), source, other);
}
constexpr rlcore_layer join(std::uint32_t source, std::uint32_t other,
                            rlcore_activation activation = RLCORE_ACTIVATION_IDENTITY) {
  return from(of(RLCORE_LAYER_JOIN, 0, activation), source, other);
}

}  // namespace layers

/* ---- Networks of your own ---- */

/* Layers over arrays of the caller's, as rlcore_network: any loss trains them. It owns the list, and nothing else. */
class network {
 public:
  network() = default;
  /* layers as of an rlcore_network; height, width and channels of a row of the input, or 1, 1 and its length. parts: height, width
     and channels of each part of a row, one after another; empty: none. */
  static result<network> make(span<const rlcore_layer> layers, std::uint32_t height, std::uint32_t width, std::uint32_t channels,
                              span<const std::uint32_t> parts = {}) {
    network made;
    if (const status s = detail::allocate("network", [&] {
          made.layers_.assign(layers.begin(), layers.end());
          made.parts_.assign(parts.begin(), parts.end());
        }); !s) return s;
    detail::check fits("network");
    if (const status s = fits.same("parts", parts.size() % 3, 0).why(); !s) return s;
    made.input_[0] = height, made.input_[1] = width, made.input_[2] = channels;
    if (const auto lengths = made.lengths(1); !lengths) return lengths.why();
    return made;
  }
  /* The lengths of all arrays for so many rows. */
  result<rlcore_network_lengths> lengths(std::uint32_t num_rows, std::uint32_t num_steps = 1) const {
    auto out = detail::sized<rlcore_network_lengths>();
    const rlcore_network net = c();
    if (const status s = rlcore_network_lengths_read(&net, num_rows, num_steps, &out); !s) return s;
    return out;
  }
  /* A pass of all rows of x, float or std::uint8_t, with a tape for backward() or without; state and starts of layers that have
     states are the caller's to set. */
  template <class T>
  static rlcore_network_pass pass(std::uint32_t num_rows, span<const float> params, span<const T> x, span<float> scratch,
                                  span<float> tape = {}) {
    auto p = detail::sized<rlcore_network_pass>();
    p.num_rows = num_rows, p.num_steps = 1, p.input_type = detail::kind_of<T>();
    p.params = params.data(), p.params_len = params.size(), p.input = x.data();
    p.tape = tape.data(), p.tape_len = tape.size(), p.scratch = scratch.data(), p.scratch_len = scratch.size();
    return p;
  }
  /* Draws the initial parameters. */
  status init(rlcore_rng &rng, span<float> scratch, span<float> params) const {
    const rlcore_network net = c();
    return rlcore_network_init(&net, &rng, scratch.data(), scratch.size(), params.data(), params.size());
  }
  /* The outputs of a pass, one after another. */
  status forward(const rlcore_network_pass &pass, span<float> out) const {
    const rlcore_network net = c();
    return rlcore_network_forward(&net, &pass, out.data(), out.size());
  }
  /* Adds the gradient of the parameters to d_params, and writes that of the input; an empty one is not wanted. */
  status backward(const rlcore_network_pass &pass, span<const float> d_out, span<float> d_params, span<float> d_input = {}) const {
    auto len = lengths(pass.num_rows, pass.num_steps);
    if (!len) return len.why();
    const rlcore_network_lengths all = *len;
    detail::check fits("network backward");
    return fits.maybe("d_params", d_params.size(), all.params_len).maybe("d_input", d_input.size(), pass.num_rows * all.input_len).then([&] {
      const rlcore_network net = c();
      return rlcore_network_backward(&net, &pass, d_out.data(), d_out.size(), d_params.size() ? d_params.data() : nullptr,
                                     d_input.size() ? d_input.data() : nullptr);
    });
  }
  /* The tensors by name, as a learner names those of listed layers, and their numbers, out of parameters and into them. */
  result<std::vector<rlcore_tensor>> tensors() const {
    const rlcore_network net = c();
    std::uint32_t len = 0;
    std::vector<rlcore_tensor> all;
    if (const status s = rlcore_network_tensors(&net, nullptr, 0, &len); !s) return s;
    if (const status s = detail::allocate("network", [&] { all.resize(len); }); !s) return s;
    if (const status s = rlcore_network_tensors(&net, all.data(), len, &len); !s) return s;
    return all;
  }
  status tensors_read(span<const float> params, span<float> values) const {
    const rlcore_network net = c();
    return rlcore_network_tensors_read(&net, params.data(), params.size(), values.data(), values.size());
  }
  status tensors_write(span<const rlcore_tensor> tensors, span<const float> values, span<float> params) const {
    const rlcore_network net = c();
    return rlcore_network_tensors_write(&net, tensors.data(), static_cast<std::uint32_t>(tensors.size()), values.data(), values.size(),
                                        params.data(), params.size());
  }
  /* For C calls, while this object lives and stays as it is. */
  rlcore_network c() const {
    auto net = detail::sized<rlcore_network>();
    net.layers = layers_.data(), net.num_layers = static_cast<std::uint32_t>(layers_.size());
    net.parts = parts_.data(), net.num_parts = static_cast<std::uint32_t>(parts_.size() / 3);
    for (int i = 0; i < 3; i++) net.input[i] = input_[i];
    return net;
  }

 private:
  std::vector<rlcore_layer> layers_;
  std::vector<std::uint32_t> parts_;
  std::uint32_t input_[3] = {};
};

#ifndef RLCORE_NO_WORKERS

/* ---- Workers ---- */

/* A thread pool that steps the rows of a vecenv: all at once (step), asynchronously (step_async, step_wait), or as they
   finish (send, recv). The number of threads does not affect results.
   The caller steps rows too while it waits, with 0 threads all of them. The pool measures what a group of rows costs: a
   thread takes as many groups at a time as last 20 us, and is woken only if at least 50 us of work are left: from then on
   it helps. To hand a row over costs 0.7 us of a processor, whoever steps it, or 0.25 us with in_series 8, which rows of a few
   us are best stepped with.
   Until close() the pool uses the vecenv: it must not be moved, and nothing else may step or reset it. Calls must come
   from one thread. Callbacks run on the pool's threads and on the caller's, several at once.
   Thread: std::thread, or a similar class; a thread that could not be started may be not joinable(). (Without exceptions,
   std::thread terminates the program in that case.) */
template <class Obs = float, class Action = std::int32_t, class Thread = std::thread>
class workers {
 public:
  /* A thread steps groups of in_series rows, which must divide num_envs. E_SIZE if not all threads can be started; then none
     runs. */
  workers(vecenv<Obs, Action> &envs, unsigned num_threads, std::uint32_t in_series = 1) : envs_(envs), in_series_(in_series ? in_series : 1) {
    rlcore_batch_config config = batch_config();
    config.in_series = in_series;
    auto made = block<rlcore_batch>::make(
        [&](std::size_t *size) { return rlcore_batch_size(envs.env().get(), &envs.config(), &config, size); },
        [&](void *mem, std::size_t size, rlcore_batch **out) {
          return rlcore_batch_init(mem, size, envs.env().get(), &envs.config(), &config, out);
        });
    state_ = made.why();
    if (!made) return;
    block_ = *std::move(made);
    num_groups_ = envs.num_envs() / in_series_;
    num_threads_ = num_threads;
    if (detail::attempt([&] { return start(num_threads); })) return;
    const std::size_t started = threads_.size();
    close();
    state_ = (detail::sentence() << "workers: only " << started << " of " << num_threads << " threads could be started").as(RLCORE_E_SIZE);
  }
  /* Not copyable: its threads hold its address. */
  workers(const workers &) = delete;
  workers &operator=(const workers &) = delete;
  /* Calls close(). */
  ~workers() { close(); }

  /* Whether construction succeeded; if not, every call returns this status. */
  status state() const { return state_.again(); }

  /* Submits a step of every row. action: [N, action.len], copied. E_BUSY if a step was submitted and not collected. */
  status step_async(span<const Action> action) { return step_env_async(action, RLCORE_LEVEL_NEW); }
  /* Environments that end restart in this level, an rlcore_level. */
  status step_env_async(span<const Action> action, std::uint32_t level) {
    return submitted(ready("workers step").len("action", action.size(), envs_.action_size(envs_.num_envs())).then([&] {
      const rlcore_rows rows = chosen(action);
      return rlcore_batch_step_env_async(get(), envs_.get(), envs_.env().get(), level, &rows);
    }));
  }
  /* Waits for all submitted steps; the results are in the vecenv's arrays. E_NOT_PENDING if none is pending. */
  status step_wait() {
    if (const status s = whole("workers step_wait").why(); !s) return s;
    const rlcore_rows out = envs_.out().rows();
    return wait(all, [&] { return rlcore_batch_step_wait(get(), &out); });
  }
  /* step_async and step_wait. */
  status step(span<const Action> action) {
    if (const status s = step_async(action); !s) return s;
    return step_wait();
  }

  /* Waits until rows.size() rows are done: their numbers, ascending, and results. Others may still be running. Resizes out
     to as many rows; E_SHAPE for arrays of another obs_len or mask_len, and for the vecenv's own unless all rows are collected. */
  status recv(span<std::uint32_t> rows, arrays<Obs> &out) {
    const bool resized = out.reward.size() != rows.size();
    const status fits = ready("workers recv")
        .that(out.fits(out.reward.size(), envs_.obs_len(), envs_.mask_len()), RLCORE_E_SHAPE,
              "the arrays of out have other lengths, or another obs_len")
        .that(!resized || &out != &envs_.out(), RLCORE_E_SHAPE, "the vecenv's own arrays take all rows at once").why();
    if (!fits) return fits;
    const auto resize = [&] { out = arrays<Obs>(rows.size(), envs_.obs_len(), envs_.mask_len()); };
    if (resized)
      if (const status s = detail::allocate("workers recv", resize); !s) return s;
    const rlcore_rows to = out.rows();
    const auto count = static_cast<std::uint32_t>(rows.size());
    return wait(count / in_series_, [&] { return rlcore_batch_recv(get(), count, rows.data(), &to); });
  }
  /* Submits a step of rows that recv returned. action: [rows, action.len], copied. */
  status send(span<const std::uint32_t> rows, span<const Action> action) {
    const auto count = static_cast<std::uint32_t>(rows.size());
    return submitted(ready("workers send").len("action", action.size(), envs_.action_size(rows.size())).then([&] {
      const rlcore_rows given = chosen(action);
      return rlcore_batch_send(get(), envs_.get(), envs_.env().get(), count, rows.data(), &given);
    }));
  }

  /* Starts an episode in every row. Waits for running groups and discards their results. */
  status reset() { return restart(nullptr); }
  status reset(std::uint64_t seed) { return restart(&seed); }
  /* Starts an episode in one row. E_BUSY if a step of it was submitted and not collected. While others are under way,
     the vecenv's action_mask() of this row stays as it was. */
  status reset_one(std::uint32_t index) { return restart_one(index, nullptr); }
  status reset_one(std::uint32_t index, std::uint64_t seed) { return restart_one(index, &seed); }
  /* The same with options for reset_with of the environments, as rlcore_batch_reset_with. */
  status reset_with(span<const unsigned char> options) { return restart(nullptr, &options); }
  status reset_with(span<const unsigned char> options, std::uint64_t seed) { return restart(&seed, &options); }
  status reset_one_with(std::uint32_t index, span<const unsigned char> options) { return restart_one(index, nullptr, &options); }
  status reset_one_with(std::uint32_t index, span<const unsigned char> options, std::uint64_t seed) {
    return restart_one(index, &seed, &options);
  }

  /* Rows that failed in their last step: [N] flags. */
  status failed(span<std::uint8_t> flags) const {
    return ready("workers failed").len("flags", flags.size(), envs_.num_envs()).then([&] {
      return rlcore_batch_failed(get(), flags.data());
    });
  }

  /* Joins the threads. Every later call but this one returns E_CONFIG. The vecenv can be used directly again. */
  void close() {
    if (state_.ok()) (void)rlcore_batch_close(get());
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      submissions_++;
    }
    work_.notify_all();
    for (Thread &thread : threads_) thread.join();
    threads_.clear();
  }

 private:
  rlcore_batch *get() const { return block_.get(); }
  static rlcore_rows chosen(span<const Action> action) { return detail::rows_of(span<const Obs>(), {}, {}, action); }
  detail::check ready(const char *call) const { return detail::check(call, state_); }
  detail::check whole(const char *call) const {
    return ready(call).that(envs_.whole(), RLCORE_E_SHAPE, "an array of the vecenv's out() has been resized");
  }

  /* False if a thread could not be started; earlier ones are running. */
  bool start(unsigned num_threads) {
    threads_.reserve(num_threads);
    for (unsigned k = 0; k < num_threads; k++) {
      threads_.emplace_back([this, k] { work(k); });
      if (!threads_.back().joinable()) return threads_.pop_back(), false;
    }
    return true;
  }

  using clock = std::chrono::steady_clock;
  /* Nanoseconds of work that a thread takes at a time, that it waits for more before it sleeps, and that it is woken for. */
  static constexpr std::uint64_t slice_ns = 20000, spin_ns = 20000, wake_ns = 50000;
  static constexpr std::uint32_t all = UINT32_MAX;

  /* Nanoseconds since then. */
  static std::uint64_t since(clock::time_point then) {
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(clock::now() - then).count());
  }

  /* Waits for a condition for a short time, without sleeping. */
  template <class Condition>
  static bool spin(Condition &&holds) {
    const auto begin = clock::now();
    do
      if (holds()) return true;
    while (std::this_thread::yield(), since(begin) < spin_ns);
    return false;
  }

  /* Steps as many pending groups as last a slice, but not more than its share, and measures them. Returns how many it stepped;
     `more` becomes false if none is pending any more. */
  status run(std::uint32_t worker, std::uint32_t &count, bool &more) {
    const std::uint64_t cost = cost_.load(std::memory_order_relaxed), share = num_groups_ / (2 * (num_threads_ + 1));
    std::uint64_t most = cost > 0 ? slice_ns / cost : 1;
    if (most > share) most = share;
    if (most < 1) most = 1;
    const auto begin = clock::now();
    count = 0;
    const status s = rlcore_batch_run(get(), envs_.get(), envs_.env().get(), worker, static_cast<std::uint32_t>(most), &count);
    more = s && count == most;
    if (count > 0) {
      const std::uint64_t now = since(begin) / count + 1;
      cost_.store(cost > 0 ? (3 * cost + now) / 4 : now, std::memory_order_relaxed);
    }
    return s;
  }

  /* Thread function: works until nothing is pending, then sleeps until something is submitted. */
  void work(std::uint32_t worker) {
    std::uint64_t seen = 0;
    for (;;) {
      std::uint32_t count = 0;
      bool more = false;
      if (!run(worker, count, more)) return;
      if (count > 0) {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (waiting_ && enough(wanted_)) done_.notify_one();
        continue;
      }
      const auto submitted = [&] { return submissions_.load() != seen; };
      if (!spin(submitted)) {
        std::unique_lock<std::mutex> lock(mutex_);
        work_.wait(lock, submitted);
      }
      seen = submissions_.load();
    }
  }

  rlcore_batch_counts counts() const {
    rlcore_batch_counts out = {};
    out.struct_size = sizeof out;
    (void)rlcore_batch_count(get(), &out);
    return out;
  }
  /* So many groups can be collected, or nothing that was submitted is left to do. */
  bool enough(std::uint32_t wanted) const {
    const rlcore_batch_counts now = counts();
    return now.num_done >= wanted || now.num_pending + now.num_running == 0;
  }

  void wake() {
    if (awake_) return;
    awake_ = true;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      submissions_++;
    }
    work_.notify_all();
  }

  status submitted(status s) {
    if (!s) return s;
    awake_ = threads_.empty();
    left_ = counts().num_pending;
    wake_if_worth_it();
    return s;
  }
  void wake_if_worth_it() {
    const std::uint64_t cost = cost_.load(std::memory_order_relaxed);
    if (cost == 0 || cost * left_ >= wake_ns) wake();
  }

  /* The caller steps a slice itself. True if more may be pending. */
  bool help() {
    std::uint32_t count = 0;
    bool more = false;
    (void)run(num_threads_, count, more);
    left_ -= count < left_ ? count : left_;
    if (more) wake_if_worth_it();
    return more;
  }

  /* Works, then sleeps, until so many groups can be collected, and the result is not E_NOT_READY. A caller that wants some of
     the groups does not begin one that takes long. */
  template <class Ask>
  status wait(std::uint32_t wanted, Ask &&ask) {
    for (;;) {
      const status s = ask();
      if (s != status(RLCORE_E_NOT_READY)) return s;
      bool more = threads_.empty() || wanted == all || cost_.load(std::memory_order_relaxed) < slice_ns;
      while (more && (wanted == all || !enough(wanted))) more = help();
      const auto done = [&] { return enough(wanted); };
      if (threads_.empty() || done()) continue;
      wake(); /* what is pending is theirs */
      if (spin(done)) continue;
      std::unique_lock<std::mutex> lock(mutex_);
      wanted_ = wanted;
      waiting_ = true;
      done_.wait(lock, done);
      waiting_ = false;
    }
  }

  status restart(const std::uint64_t *seed, const span<const unsigned char> *options = nullptr) {
    if (const status s = whole("workers reset").why(); !s) return s;
    const rlcore_reset how = detail::reset_of(seed, options);
    const auto reset = [&] { return rlcore_batch_reset_with(get(), envs_.get(), envs_.env().get(), &how, envs_.out().obs.data()); };
    const status s = wait(all, reset);
    return s ? envs_.ask_masks() : s;
  }
  status restart_one(std::uint32_t index, const std::uint64_t *seed, const span<const unsigned char> *options = nullptr) {
    const rlcore_reset how = detail::reset_of(seed, options);
    const status s = whole("workers reset_one").then([&] {
      return rlcore_batch_reset_one_with(get(), envs_.get(), envs_.env().get(), index, &how, envs_.out().obs.data());
    });
    rlcore_batch_counts counts = {};
    counts.struct_size = sizeof counts;
    const bool idle = s && rlcore_batch_count(get(), &counts) == RLCORE_OK && !(counts.num_pending | counts.num_running | counts.num_done);
    return idle ? envs_.ask_masks() : s;
  }

  vecenv<Obs, Action> &envs_;
  detail::lasting state_;
  block<rlcore_batch> block_;
  std::uint32_t in_series_, num_groups_ = 0, num_threads_ = 0;
  /* Of the caller: groups that may be pending, at most; whether threads know of them. */
  std::uint64_t left_ = 0;
  bool awake_ = false;
  /* Nanoseconds of a group, 0 before the first. */
  std::atomic<std::uint64_t> cost_{0};
  /* Changes when there is work, or when the pool is closed. */
  std::atomic<std::uint64_t> submissions_{0};
  std::mutex mutex_;
  /* Under the mutex: whether the caller sleeps, and until so many groups can be collected. */
  bool waiting_ = false;
  std::uint32_t wanted_ = 0;
  std::condition_variable work_, done_;
  std::vector<Thread> threads_;
};

#endif

}  // namespace rlcore

#endif
