/* A real engine that shows pictures: ALE emulates the Atari console, rlcore learns the game from its screen.
   `ale GAME.bin [--steps N] [--out FOLDER]`: N decisions, or all 2 million, for which the learning rate is scheduled.

   The emulators stay with the host: the state of an environment in the library's block is the number of its emulator. */
#include <rlcore.hpp>

#include <ale/ale_interface.hpp>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>

extern "C" {
#include "svg.h"
#include "term.h"
}

using rlcore::span;

/* Ends the program if a call into the library failed. */
static void check(rlcore::status s) {
  if (!s) std::fprintf(stderr, "%s: %s\n", s.name(), rlcore::last_error().c_str()), std::exit(1);
}

/* ---- The host ---- */

/* Emulators of one game, and its actions. */
struct arcade {
  std::string rom;
  ale::ActionVect actions;
  std::vector<std::unique_ptr<ale::ALEInterface>> emulators;

  explicit arcade(const char *path) : rom(path) {
    actions = add().getMinimalActionSet();
    emulators.clear();
  }
  ale::ALEInterface &add() {
    emulators.push_back(std::make_unique<ale::ALEInterface>());
    emulators.back()->setInt("random_seed", 1);
    emulators.back()->setFloat("repeat_action_probability", 0); /* games differ by the number of no-ops at their start */
    emulators.back()->loadROM(rom);
    return *emulators.back();
  }
};

struct game {
  using user_type = arcade;
  using obs_type = std::uint8_t;
  static constexpr std::uint32_t env_id = 2003, obs_len = 210 * 160;
  static constexpr std::uint32_t choices[] = {18}; /* of the console; main replaces them by the game's */
  static constexpr std::uint32_t max_episode_steps = 108000; /* half an hour */
  std::uint64_t number; /* 1 + index of its emulator; 0 before the first reset */

  void reset(arcade &a, rlcore_rng &, span<std::uint8_t> obs) {
    if (number == 0) a.add(), number = a.emulators.size();
    a.emulators[number - 1]->reset_game();
    see(a, obs);
  }
  void step(arcade &a, rlcore_rng &, span<const std::int32_t> action, span<std::uint8_t> obs, rlcore_step &out) {
    out.reward = static_cast<float>(a.emulators[number - 1]->act(a.actions[static_cast<std::size_t>(action[0])]));
    out.terminated = a.emulators[number - 1]->game_over();
    see(a, obs);
  }
  std::uint32_t lives(arcade &a) const { return static_cast<std::uint32_t>(a.emulators[number - 1]->lives()); }

  void see(const arcade &a, span<std::uint8_t> gray) const {
    const ale::ALEInterface &e = *a.emulators[number - 1];
    e.theOSystem->colourPalette().applyPaletteGrayscale(gray.data(), e.getScreen().getArray(), gray.size());
  }
};

/* ---- The wrappers and the learner ---- */

enum { SIDE = 42, STACK = 4, SKIP = 4 };

/* The usual Atari wrappers, with smaller pictures and the emulator's own gray. */
static std::vector<rlcore_wrapper> wrappers(const arcade &a) {
  rlcore_atari_config config = rlcore::defaults(rlcore_atari_config_init);
  std::vector<rlcore_wrapper> list(11);
  std::uint32_t len = 0;
  config.skip = SKIP;
  config.stack = STACK;
  config.fire_reset = a.actions.size() > 2 && a.actions[1] == ale::PLAYER_A_FIRE;
  check(rlcore_wrappers_atari(&config, list.data(), static_cast<std::uint32_t>(list.size()), &len));
  list.resize(len);
  for (rlcore_wrapper &w : list)
    if (w.kind == RLCORE_WRAP_WARP_FRAME) w.height = w.width = SIDE, w.gray = 0;
  return list;
}

static rlcore_layer convolution(std::uint32_t channels, std::uint32_t size, std::uint32_t stride) {
  rlcore_layer layer = {};
  layer.kind = RLCORE_LAYER_CONV;
  layer.units = channels;
  layer.size[0] = layer.size[1] = size;
  layer.stride[0] = layer.stride[1] = stride;
  layer.activation = RLCORE_ACTIVATION_RELU;
  return layer;
}

/* Two convolutions, then 128 units, shared by the policy and the value. */
static const rlcore_layer layers[] = {convolution(16, 4, 2), convolution(32, 4, 2)};

static rlcore_learner_config learner_config() {
  rlcore_learner_config c = rlcore::learner_config();
  c.layers = layers;
  c.num_layers = 2;
  c.obs_dims[0] = c.obs_dims[1] = SIDE;
  c.obs_dims[2] = STACK;
  c.num_hidden = c.num_shared = 1;
  c.hidden_len[0] = 128;
  c.hidden_len[1] = 0;
  c.activation = RLCORE_ACTIVATION_RELU;
  c.num_envs = 8;
  c.num_minibatches = 8;
  c.num_epochs = 3;
  c.total_steps = 2000000;
  c.learning_rate = 1e-3F;
  c.learning_rate_end = 1e-4F;
  c.clip = c.clip_end = 0.1F;
  return c;
}

/* ---- The training ---- */

using agent_type = rlcore::learner<std::uint8_t, std::int32_t>;

struct run {
  std::string name, drawing;
  double bar;               /* mean score of 100 games to reach; NAN: none */
  std::uint64_t until;      /* decisions */
  std::vector<float> curve; /* mean score of the last 100 games after each update; NAN before the first has ended */
  std::uint64_t passed = 0; /* decisions until the bar was reached */
  double seconds = 0;       /* CPU time */
};

static void draw(const run &r, std::uint64_t num_steps) {
  std::string title = r.name + " from pictures, in ALE";
  title[0] = static_cast<char>(std::toupper(title[0]));
  svg_curves curves = {};
  curves.title = title.c_str();
  curves.x_label = "frames of the game";
  curves.y_label = "score, mean of the last 100 games";
  curves.x_step = static_cast<double>(SKIP * num_steps) / static_cast<double>(r.curve.size());
  curves.bar = r.bar;
  curves.num_curves = 1;
  curves.len = r.curve.size();
  curves.value[0] = r.curve.data();
  svg_write(r.drawing.c_str(), &curves);
}

static void progress(const run &r, const rlcore_learner_stats &s) {
  char spark[3 * 16 + 1];
  term_sparkline(spark, r.curve.data(), r.curve.size(), 16);
  term_progress("%s %8llu frames  %5.0f s CPU  %5.0f decisions/s  score %6.2f  KL %.4f  explained %5.2f", spark,
                static_cast<unsigned long long>(SKIP * s.num_steps), r.seconds,
                static_cast<double>(s.num_steps) / r.seconds, static_cast<double>(s.return_mean),
                static_cast<double>(s.approx_kl), static_cast<double>(s.explained_variance));
}

static void train(run &r, agent_type &agent, rlcore::vecenv_of<game> &envs, std::uint32_t num_steps) {
  const rlcore_learner_stats &s = agent.stats();
  const std::clock_t start = std::clock();
  double shown = 0;
  while (s.num_steps < r.until) {
    for (std::uint32_t t = 0; t < num_steps; t++) check(agent.train_step(envs));
    r.curve.push_back(s.return_mean);
    r.seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    if (r.passed == 0 && s.num_episodes >= 100 && static_cast<double>(s.return_mean) >= r.bar) r.passed = s.num_steps;
    if (r.seconds - shown < (term_is_tty() ? 1 : 10) && s.num_steps < r.until) continue;
    shown = r.seconds;
    progress(r, s);
    draw(r, s.num_steps);
  }
}

/* Whether every parameter is finite. */
static bool finite(const agent_type &agent) {
  auto len = agent.params_len();
  check(len.why());
  std::vector<float> params(*len);
  check(agent.params_read(params));
  for (const float p : params)
    if (!std::isfinite(p)) return false;
  return true;
}

int main(int argc, char **argv) {
  const rlcore_learner_config config = learner_config();
  std::string folder = "out", rom;
  run r;
  r.until = config.total_steps;
  for (int i = 1; i < argc; i++) {
    const std::string word = argv[i];
    if (word == "--steps" && i + 1 < argc) r.until = std::strtoull(argv[++i], nullptr, 10);
    else if (word == "--out" && i + 1 < argc) folder = argv[++i];
    else rom = word;
  }
  r.name = rom.substr(rom.find_last_of('/') + 1);
  r.name = r.name.substr(0, r.name.find('.'));
  r.drawing = folder + "/" + r.name + ".svg";
  r.bar = r.name == "pong" ? 15 : NAN;
  term_init();
  ale::Logger::setMode(ale::Logger::Error);

  arcade a(rom.c_str());
  const rlcore_field screen = {"", RLCORE_U8, 3, {210, 160, 1, 0}, 0, 0};
  const auto num_actions = static_cast<std::uint32_t>(a.actions.size());
  const std::vector<rlcore_wrapper> list = wrappers(a);
  rlcore_env_def env = rlcore::env_of<game>(a);
  env.action.n = &num_actions;
  env.fields = &screen;
  env.num_fields = 1;
  env.wrappers = list.data();
  env.num_wrappers = static_cast<std::uint32_t>(list.size());

  rlcore_vecenv_config many = rlcore::vecenv_config();
  many.num_envs = config.num_envs;
  many.seed = config.seed << 16; /* environment i draws from stream `seed + i` */
  auto envs = rlcore::vecenv_of<game>::make(env, many);
  check(envs.why());
  auto agent = agent_type::make(config, env);
  check(agent.why());
  check(envs->reset());
  std::printf("%s: %u actions, %u environments in a block of %zu bytes, the learner in one of %zu bytes\n",
              r.name.c_str(), num_actions, config.num_envs, envs->bytes().size(), agent->bytes().size());

  train(r, *agent, *envs, config.num_steps);
  const rlcore_learner_stats &s = agent->stats();
  std::printf("%swrote %s; %llu games\n", term_is_tty() ? "\n" : "", r.drawing.c_str(),
              static_cast<unsigned long long>(s.num_episodes));
  if (r.passed)
    std::printf("a mean score of %g over 100 games after %llu frames\n", r.bar,
                static_cast<unsigned long long>(SKIP * r.passed));

  /* A whole training must reach the bar; after a shorter one, the value network must at least explain some of the returns. */
  const bool whole = r.until >= config.total_steps && !std::isnan(r.bar);
  const bool learned = whole ? static_cast<double>(s.return_mean) >= r.bar : s.explained_variance > 0.2F;
  const bool ok = finite(*agent) && std::isfinite(s.return_mean) && learned;
  std::printf("%s: %s, mean score %.2f, explained variance %.2f\n", ok ? "ok" : "FAILED", r.name.c_str(),
              static_cast<double>(s.return_mean), static_cast<double>(s.explained_variance));
  return ok ? 0 : 1;
}
