/* Trainings in slices, so that a page can draw in between; the module has no imports. Also compiled natively (native.c), with
   the same hash for the same seed. Memory is one region: the training, whose bytes are a save, then arrays that do not
   outlive a step, then room for the next training. */
#include "web.h"
#include "sliders.h"
#include "worlds.h"

enum { ALIGN = 64, MAGIC = 0x57424C52, SAVE_VERSION = 1, WATCHED_SEED = 1000000, MAX_POINTS = 1024, MAX_LAYERS = 128 };
enum { MAX_WIDTH = 600, MAX_HEIGHT = 420 };
#define ALIGNED(size) (((size) + ALIGN - 1) / ALIGN * ALIGN)

#define TRY(call)                                                                                                      \
  do {                                                                                                                 \
    const rlcore_status tried = (call);                                                                                \
    if (tried) return keep_error(tried);                                                                               \
  } while (0)

static char why[256];

static rlcore_status keep_error(rlcore_status status) {
  rlcore_last_error(why, sizeof why);
  return status;
}

static rlcore_status refuse(rlcore_status status, const char *text) {
  size_t len = 0;
  while (text[len]) len++;
  rlcore_last_error_write(status, text, len);
  return status;
}

/* ---- Memory ---- */

#ifdef __wasm__
extern unsigned char __heap_base;
enum { WASM_PAGE = 65536 };

static unsigned char *region(size_t size) {
  const size_t base = ALIGNED((size_t)&__heap_base), now = __builtin_wasm_memory_size(0);
  const uint64_t pages = ((uint64_t)base + size + WASM_PAGE - 1) / WASM_PAGE;
  if (pages > now && (pages > 65535 || __builtin_wasm_memory_grow(0, (size_t)pages - now) == (size_t)-1)) return NULL;
  return (unsigned char *)base;
}
#else
static unsigned char *region(size_t size) {
  static _Alignas(ALIGN) unsigned char bytes[(size_t)1 << 29]; /* the system gives pages that are touched */
  return size <= sizeof bytes ? bytes : NULL;
}
#endif

static void copy(void *to, const void *from, size_t size) { /* to may be below from in one array */
  unsigned char *const out = to;
  const unsigned char *const in = from;
  for (size_t i = 0; i < size; i++) out[i] = in[i];
}

/* The first bytes of a saved training; then come, each from a multiple of ALIGN, learner, environments, observations. */
typedef struct header {
  uint32_t magic, version, env_id, seed;
  uint32_t changed; /* settings are no longer those of the task */
  uint32_t renewed; /* how often the learner was made anew */
  uint32_t num_points, reserved;
  uint64_t learner_size, envs_size, obs_size;
  double next_point, point_stride;
  double points[MAX_POINTS][2];
} header;

/* Addresses of a training, within the region. */
typedef struct training {
  header *head;
  rlcore_learner *agent;
  rlcore_vecenv *envs;
  size_t size;
  rlcore_rows rows;
} training;

static training now;
static const world *place;
static rlcore_env *env;
static rlcore_space seen, taken;
static uint32_t num_envs;
static double limit, total, steps; /* web_until, total_steps, and steps so far */
static _Alignas(ALIGN) unsigned char games[2][1 << 10];
static uint32_t game; /* the one of the two that env lies in */

/* Settings that wait for the end of an update. */
static rlcore_learner_config wanted;
static bool waits;

/* The environment on display, with rows for as many environments as the learner has: it acts for all of them. */
static struct {
  rlcore_vecenv *envs;
  rlcore_rows rows;
  float *state;
  uint8_t *reset;
  rlcore_rng rng;
  uint32_t steps, last_steps;
  double sum, last_sum;
} shown;
static uint8_t rgb[MAX_WIDTH * MAX_HEIGHT * 3], rgba[MAX_WIDTH * MAX_HEIGHT * 4];
static size_t saved_size, room_size;

static size_t element(const rlcore_space *s) { return s->kind == RLCORE_U8 || s->kind == RLCORE_STRUCT ? 1 : 4; }

/* Offset of the first free byte behind the training and its arrays. */
static size_t used;

static void *take(unsigned char *base, size_t *at, size_t size) {
  void *const p = base ? base + *at : NULL;
  *at += ALIGNED(size);
  return p;
}

/* Places a training of these sizes at offset `at` of the region; with a base of NULL only counts. Returns the end. */
static size_t lay_out(unsigned char *base, size_t at, const header *sizes, training *t) {
  const size_t begin = at;
  t->head = take(base, &at, sizeof(header));
  t->agent = take(base, &at, (size_t)sizes->learner_size);
  t->envs = take(base, &at, (size_t)sizes->envs_size);
  t->rows = (rlcore_rows){.struct_size = sizeof t->rows, .obs = take(base, &at, (size_t)sizes->obs_size)};
  t->size = at - begin;
  return at;
}

/* Places the arrays behind the training. */
static rlcore_status lay_out_arrays(void) {
  const size_t n = num_envs, obs_size = n * seen.len * element(&seen), action_size = n * taken.len * element(&taken);
  rlcore_vecenv_config one;
  size_t state_len = 0, envs_size = 0;
  TRY(rlcore_learner_state_len(now.agent, &state_len));
  TRY(rlcore_vecenv_config_init(&one, sizeof one));
  one.num_envs = 1;
  one.seed = WATCHED_SEED;
  TRY(rlcore_vecenv_size(env, &one, &envs_size));
  unsigned char *base = NULL;
  for (int pass = 0; pass < 2; pass++) {
    size_t at = now.size;
    now.rows.action = take(base, &at, action_size);
    now.rows.reward = take(base, &at, n * sizeof(float));
    now.rows.terminated = take(base, &at, n);
    now.rows.truncated = take(base, &at, n);
    now.rows.final_obs = take(base, &at, obs_size);
    shown.envs = take(base, &at, envs_size);
    shown.rows = (rlcore_rows){.struct_size = sizeof shown.rows};
    shown.rows.obs = take(base, &at, obs_size);
    shown.rows.action = take(base, &at, action_size);
    shown.rows.reward = take(base, &at, n * sizeof(float));
    shown.rows.terminated = take(base, &at, n);
    shown.rows.truncated = take(base, &at, n);
    shown.rows.final_obs = take(base, &at, obs_size);
    shown.state = take(base, &at, n * state_len * sizeof(float));
    shown.reset = take(base, &at, n);
    if (state_len == 0) shown.state = NULL;
    used = at;
    if (pass == 0 && !(base = region(at))) return keep_error(refuse(RLCORE_E_SIZE, "page: no more memory for the training"));
  }
  TRY(rlcore_rng_seed(&shown.rng, WATCHED_SEED));
  TRY(rlcore_vecenv_init(shown.envs, envs_size, env, &one, &shown.envs));
  TRY(rlcore_vecenv_reset(shown.envs, env, NULL, shown.rows.obs));
  for (size_t i = 0; i < n; i++) shown.reset[i] = 1;
  shown.steps = shown.last_steps = 0;
  shown.sum = 0;
  shown.last_sum = (double)__builtin_nan("");
  return RLCORE_OK;
}

/* ---- Starting and going on ---- */

/* Makes a learner and its environments at the end of the memory in use. old: the training to go on from; NULL: it begins. */
static rlcore_status make(const rlcore_learner_config *config, const world *w, rlcore_env *in, const training *old, training *t) {
  header sizes = {0};
  rlcore_space obs, action;
  rlcore_vecenv_config many;
  size_t learner_size = 0, envs_size = 0;
  TRY(rlcore_env_spaces(in, &obs, &action));
  TRY(rlcore_vecenv_config_init(&many, sizeof many));
  many.num_envs = config->num_envs;
  /* Environment i draws from stream seed + i: leave room between seeds, and from one learner to the next. */
  many.seed = (config->seed << 16) + ((uint64_t)(old ? old->head->renewed + 1 : 0) << 12);
  TRY(rlcore_learner_size(config, &obs, &action, &learner_size));
  TRY(rlcore_vecenv_size(in, &many, &envs_size));
  sizes.learner_size = learner_size;
  sizes.envs_size = envs_size;
  sizes.obs_size = (uint64_t)config->num_envs * obs.len * element(&obs);
  const size_t end = lay_out(NULL, used, &sizes, t);
  unsigned char *const base = region(end);
  if (!base) return keep_error(refuse(RLCORE_E_SIZE, "page: no more memory for the training"));
  lay_out(base, used, &sizes, t);
  for (size_t i = used; i < end; i++) base[i] = 0;
  if (old) copy(t->head, old->head, sizeof *t->head);
  t->head->magic = MAGIC;
  t->head->version = SAVE_VERSION;
  t->head->env_id = w->id;
  t->head->seed = (uint32_t)config->seed;
  t->head->learner_size = sizes.learner_size;
  t->head->envs_size = sizes.envs_size;
  t->head->obs_size = sizes.obs_size;
  if (old) t->head->renewed++;
  else t->head->point_stride = t->head->next_point = 64;
  TRY(rlcore_learner_init(t->agent, learner_size, config, &obs, &action, &t->agent));
  TRY(rlcore_vecenv_init(t->envs, envs_size, in, &many, &t->envs));
  TRY(rlcore_vecenv_reset(t->envs, in, NULL, t->rows.obs));
  return RLCORE_OK;
}

/* Moves a complete training to the begin of the region, where it runs from now on: blocks hold no pointers. */
static rlcore_status move_in(const training *t, const world *w, uint32_t in) {
  const header sizes = *t->head;
  unsigned char *const base = region(t->size);
  copy(base, t->head, t->size);
  lay_out(base, 0, &sizes, &now);
  place = w;
  game = in;
  waits = false;
  TRY(rlcore_env_builtin(games[game], sizeof games[game], place->id, &env));
  TRY(rlcore_env_spaces(env, &seen, &taken));
  TRY(rlcore_learner_attach(now.agent, (size_t)sizes.learner_size, 0, &seen, &taken, &now.agent));
  TRY(rlcore_vecenv_attach(now.envs, (size_t)sizes.envs_size, env, &now.envs));
  TRY(rlcore_vecenv_num_envs(now.envs, &num_envs));
  steps = web_stats()[WEB_STEPS];
  total = web_stats()[WEB_TOTAL];
  return lay_out_arrays();
}

static rlcore_status begin(const world *w, const rlcore_learner_config *config, uint32_t changed) {
  training next;
  rlcore_env *in;
  TRY(rlcore_env_builtin(games[1 - game], sizeof games[1 - game], w->id, &in));
  TRY(make(config, w, in, NULL, &next));
  next.head->changed = changed;
  return move_in(&next, w, 1 - game);
}

int32_t web_start(uint32_t w, uint32_t algorithm, uint32_t seed) {
  rlcore_learner_config config;
  if (w >= NUM_WORLDS) return keep_error(refuse(RLCORE_E_RANGE, "page: there is no such environment"));
  TRY(world_configure(&worlds[w], algorithm, &config));
  config.seed = seed;
  return begin(&worlds[w], &config, 0);
}

int32_t web_fits(uint32_t w, uint32_t algorithm) {
  static _Alignas(ALIGN) unsigned char mem[1 << 10];
  rlcore_learner_config config;
  rlcore_space obs, action;
  rlcore_env *in;
  size_t size = 0;
  if (w >= NUM_WORLDS) return keep_error(refuse(RLCORE_E_RANGE, "page: there is no such environment"));
  TRY(world_configure(&worlds[w], algorithm, &config));
  TRY(rlcore_env_builtin(mem, sizeof mem, worlds[w].id, &in));
  TRY(rlcore_env_spaces(in, &obs, &action));
  TRY(rlcore_learner_size(&config, &obs, &action, &size));
  return RLCORE_OK;
}

/* The configuration that runs, with its layers, to make another learner of. */
static rlcore_status read_config(rlcore_learner_config *config) {
  static rlcore_layer layers[MAX_LAYERS];
  uint32_t num_listed = 0, num_layers = 0;
  TRY(rlcore_learner_config_read(now.agent, config, sizeof *config, &num_listed));
  TRY(rlcore_learner_layers(now.agent, 0, layers, MAX_LAYERS, &num_layers));
  config->num_layers = num_listed;
  config->layers = num_listed ? layers : NULL;
  return RLCORE_OK;
}

/* Gives the learner the settings that wait: between updates as they are, or by a learner of other lengths that adopts. */
static rlcore_status apply(void) {
  const uint32_t most = RLCORE_ADOPT_PARAMS | RLCORE_ADOPT_OPTIMIZER | RLCORE_ADOPT_MOMENTS | RLCORE_ADOPT_COUNTERS;
  training next;
  waits = false;
  now.head->changed = 1;
  if (rlcore_learner_configure(now.agent, &wanted) == RLCORE_OK) {
    total = (double)wanted.total_steps;
    return RLCORE_OK;
  }
  TRY(make(&wanted, place, env, &now, &next));
  if (rlcore_learner_adopt(next.agent, now.agent, most | RLCORE_ADOPT_TARGETS | RLCORE_ADOPT_STORE) &&
      rlcore_learner_adopt(next.agent, now.agent, most | RLCORE_ADOPT_TARGETS))
    TRY(rlcore_learner_adopt(next.agent, now.agent, most));
  return move_in(&next, place, game);
}

/* ---- Work ---- */

/* A point of the curve after each stride of steps; when there is no more room, every second one goes and strides double. */
static rlcore_status mark(void) {
  header *const h = now.head;
  rlcore_learner_stats stats = {.struct_size = sizeof stats};
  steps += num_envs;
  if (steps < h->next_point) return RLCORE_OK;
  TRY(rlcore_learner_stats_read(now.agent, &stats));
  if (stats.num_episodes == 0) return RLCORE_OK;
  if (h->num_points == MAX_POINTS) {
    for (uint32_t i = 0; 2 * i + 1 < MAX_POINTS; i++) copy(h->points[i], h->points[2 * i + 1], sizeof h->points[i]);
    h->num_points /= 2;
    h->point_stride *= 2;
  }
  h->points[h->num_points][0] = (double)stats.num_steps;
  h->points[h->num_points][1] = (double)stats.return_mean;
  h->num_points++;
  h->next_point = steps + h->point_stride;
  return RLCORE_OK;
}

/* If numbers overflowed, the update was dropped, and the next one begins. */
static int32_t learn(void) {
  rlcore_learner_stats stats = {.struct_size = sizeof stats};
  const rlcore_status status = rlcore_learner_learn(now.agent, &now.rows, 1, &stats);
  if (status) {
    uint32_t phase = 0;
    keep_error(status);
    TRY(rlcore_learner_phase(now.agent, &phase));
    if (status != RLCORE_E_VALUE || phase == RLCORE_LEARNER_LEARN) return status;
  }
  return stats.minibatches_left != 0 || steps < (limit > 0 ? limit : total);
}

int32_t web_work(void) {
  uint32_t phase = 0;
  int32_t left = 1;
  TRY(rlcore_learner_phase(now.agent, &phase));
  if (phase == RLCORE_LEARNER_LEARN) return learn();
  if (waits && apply() != RLCORE_OK) left = WEB_REFUSED;
  TRY(rlcore_learner_act(now.agent, &now.rows));
  TRY(rlcore_vecenv_step(now.envs, env, &now.rows));
  TRY(rlcore_learner_observe(now.agent, &now.rows));
  TRY(mark());
  return left;
}

void web_until(double most) { limit = most; }
uint32_t web_world(void) { return (uint32_t)(place - worlds); }
uint32_t web_seed(void) { return now.head->seed; }

uint32_t web_algorithm(void) {
  rlcore_learner_config config;
  return rlcore_learner_config_read(now.agent, &config, sizeof config, NULL) ? 0 : config.algorithm;
}

double web_goal(void) {
  const task *const t = world_task(place, web_algorithm());
  const task *const likewise = t ? t : world_task(place, place->algorithm);
  return likewise ? likewise->bar : __builtin_nan("");
}

const double *web_stats(void) {
  static double out[WEB_NUM_STATS];
  rlcore_learner_stats s = {.struct_size = sizeof s};
  rlcore_learner_config config;
  if (rlcore_learner_stats_read(now.agent, &s) || rlcore_learner_config_read(now.agent, &config, sizeof config, NULL)) return out;
  const double all[WEB_NUM_STATS] = {
      [WEB_STEPS] = (double)s.num_steps, [WEB_UPDATES] = (double)s.num_updates, [WEB_EPISODES] = (double)s.num_episodes,
      [WEB_RETURN] = (double)s.return_mean, [WEB_LENGTH] = (double)s.length_mean, [WEB_POLICY_LOSS] = (double)s.policy_loss,
      [WEB_VALUE_LOSS] = (double)s.value_loss, [WEB_ENTROPY] = (double)s.entropy, [WEB_KL] = (double)s.approx_kl,
      [WEB_NORM] = (double)s.grad_norm, [WEB_RATE] = (double)s.learning_rate,
      [WEB_EXPLORATION] = (double)s.exploration_rate, [WEB_TEMPERATURE] = (double)s.temperature,
      [WEB_DROPPED] = (double)s.num_dropped, [WEB_TOTAL] = (double)config.total_steps,
  };
  copy(out, all, sizeof out);
  return out;
}

uint32_t web_num_points(void) { return now.head->num_points; }
const double *web_points(void) { return now.head->points[0]; }
const char *web_error(void) { return why; }

uint64_t web_hash(void) {
  uint64_t hash = 0;
  size_t len = 0;
  rlcore_learner_params_len(now.agent, &len);
  unsigned char *const base = region(used + len * sizeof(float));
  if (!base) return 0;
  float *const params = (float *)(void *)(base + used);
  rlcore_learner_params_read(now.agent, params, len);
  rlcore_hash(params, len * sizeof *params, &hash);
  return hash;
}

uint64_t web_published_hash(void) {
  const task *const t = world_task(place, web_algorithm());
  return t && now.head->seed == 1 && !now.head->changed ? task_hash(t, false) : 0;
}

/* ---- Settings ---- */

static const rlcore_learner_config *setting(void) {
  static rlcore_learner_config config;
  if (waits) return &wanted;
  rlcore_learner_config_read(now.agent, &config, sizeof config, NULL);
  return &config;
}

uint32_t web_slider_used(uint32_t i) { return slider_used(&sliders[i], setting()); }
double web_slider_value(uint32_t i) { return slider_read(&sliders[i], setting()); }

int32_t web_slider_set(uint32_t i, double value) {
  rlcore_learner_config next;
  size_t size = 0;
  if (i >= NUM_SLIDERS) return keep_error(refuse(RLCORE_E_RANGE, "page: there is no such slider"));
  TRY(read_config(&next));
  if (waits) {
    const rlcore_layer *const layers = next.layers;
    const uint32_t num_layers = next.num_layers;
    next = wanted;
    next.layers = layers;
    next.num_layers = num_layers;
  }
  slider_write(&sliders[i], &next, value);
  TRY(rlcore_learner_size(&next, &seen, &taken, &size));
  if (sliders[i].fresh) return begin(place, &next, 1);
  wanted = next;
  waits = true;
  return RLCORE_OK;
}

/* ---- Display ---- */

/* Exploration that the learner adds to the actions of its policy while it explores: random ones, and noise. */
static rlcore_status explore(const rlcore_learner_config *config, double share) {
  double draw = 0;
  int64_t choice = 0;
  TRY(rlcore_rng_uniform(&shown.rng, 0, 1, &draw, 1));
  for (uint32_t i = 0; i < taken.len; i++) {
    if (taken.kind == RLCORE_I32 && draw < share) {
      TRY(rlcore_rng_integers(&shown.rng, 0, taken.n[i], &choice, 1));
      ((int32_t *)shown.rows.action)[i] = (int32_t)choice;
    } else if (taken.kind == RLCORE_F32) {
      float *const at = (float *)shown.rows.action + i, noise = 0;
      const float low = taken.low ? taken.low[i] : -1, high = taken.high ? taken.high[i] : 1;
      TRY(rlcore_rng_normal(&shown.rng, &noise, 1));
      if (config->algorithm == RLCORE_ALGORITHM_TD3) *at += noise * config->exploration_noise * (high - low) / 2;
      if (draw < share) {
        double anywhere = 0;
        TRY(rlcore_rng_uniform(&shown.rng, (double)low, (double)high, &anywhere, 1));
        *at = (float)anywhere;
      }
      if (taken.low && *at < low) *at = low;
      if (taken.high && *at > high) *at = high;
    }
  }
  return RLCORE_OK;
}

int32_t web_watch(uint32_t explores) {
  const rlcore_sampling how = {.method = explores ? RLCORE_SAMPLING_BASIC : RLCORE_SAMPLING_GREEDY};
  const size_t row = seen.len * element(&seen);
  unsigned char *const obs = shown.rows.obs;
  for (uint32_t i = 1; i < num_envs; i++) copy(obs + i * row, obs, row); /* the learner acts for as many as it has */
  TRY(rlcore_learner_predict(now.agent, &shown.rows, shown.state, shown.reset, &how));
  const double share = web_stats()[WEB_EXPLORATION];
  if (explores) TRY(explore(setting(), share == share ? share : 0));
  TRY(rlcore_vecenv_step(shown.envs, env, &shown.rows));
  const bool over = shown.rows.terminated[0] || shown.rows.truncated[0];
  for (uint32_t i = 0; i < num_envs; i++) shown.reset[i] = over;
  shown.steps++;
  shown.sum += (double)shown.rows.reward[0];
  if (over) {
    shown.last_steps = shown.steps;
    shown.last_sum = shown.sum;
    shown.steps = 0;
    shown.sum = 0;
  }
  if (place->width == 0) return RLCORE_OK;
  TRY(rlcore_vecenv_render(shown.envs, env, 0, place->width, place->height, rgb));
  for (size_t i = 0; i < (size_t)place->width * place->height; i++) {
    for (size_t c = 0; c < 3; c++) rgba[4 * i + c] = rgb[3 * i + c];
    rgba[4 * i + 3] = 255;
  }
  return RLCORE_OK;
}

const uint8_t *web_picture(void) { return rgba; }
uint32_t web_picture_width(void) { return place->width; }
uint32_t web_picture_height(void) { return place->height; }
uint32_t web_pace(void) { return place->pace; }
uint32_t web_obs_len(void) { return seen.len; }
uint32_t web_action_len(void) { return taken.len; }
uint32_t web_played(void) { return shown.steps; }
double web_earned(void) { return shown.sum; }
uint32_t web_last_played(void) { return shown.last_steps; }
double web_last_earned(void) { return shown.last_sum; }

static float number(const rlcore_space *s, const void *row, uint32_t i) {
  if (i >= s->len) return 0;
  if (s->kind == RLCORE_F32) return ((const float *)row)[i];
  return s->kind == RLCORE_I32 ? (float)((const int32_t *)row)[i] : (float)((const uint8_t *)row)[i];
}

float web_obs(uint32_t i) { return number(&seen, shown.rows.obs, i); }
float web_action(uint32_t i) { return number(&taken, shown.rows.action, i); }

/* ---- Files ---- */

static rlcore_status write_policy(uint32_t what, uint8_t **out) {
  size_t size = 0;
  rlcore_policy *policy;
  TRY(rlcore_policy_size(now.agent, &size));
  const size_t at = used + ALIGNED(size);
  unsigned char *base = region(at);
  if (!base) return keep_error(refuse(RLCORE_E_SIZE, "page: no more memory for the policy"));
  TRY(rlcore_policy_export(now.agent, base + used, size, &policy));
  *out = base + used;
  saved_size = size;
  if (what == WEB_POLICY) return RLCORE_OK;
  TRY(what == WEB_ONNX ? rlcore_policy_onnx_size(policy, NULL, &size) : rlcore_policy_c_size(policy, NULL, &size));
  base = region(at + size);
  if (!base) return keep_error(refuse(RLCORE_E_SIZE, "page: no more memory for the file"));
  *out = base + at;
  saved_size = size;
  TRY(what == WEB_ONNX ? rlcore_policy_onnx_write(policy, NULL, *out, size)
                       : rlcore_policy_c_write(policy, NULL, *out, size));
  return RLCORE_OK;
}

const uint8_t *web_save(uint32_t what) {
  uint8_t *bytes = NULL;
  if (what != WEB_TRAINING) return write_policy(what, &bytes) ? NULL : bytes;
  saved_size = now.size;
  const rlcore_status status = rlcore_block_seal(now.agent, (size_t)now.head->learner_size);
  return status ? keep_error(status), NULL : (const uint8_t *)now.head;
}

uint32_t web_saved_size(void) { return (uint32_t)saved_size; }

uint8_t *web_load_room(uint32_t size) {
  unsigned char *const base = region(used + (size_t)size);
  room_size = base ? size : 0;
  return base ? base + used : (keep_error(refuse(RLCORE_E_SIZE, "page: no more memory for the file")), NULL);
}

/* Checks the file before anything of it is used: the header here, blocks in their attach. */
int32_t web_load(uint32_t size) {
  const rlcore_status damaged = RLCORE_E_IMAGE;
  training next;
  const world *w = NULL;
  rlcore_env *in;
  rlcore_space obs, action;
  uint32_t n = 0;
  if (size > room_size || size < sizeof(header)) return keep_error(refuse(damaged, "page: this file is no saved training"));
  unsigned char *const base = region(used + (size_t)size);
  const header *const h = (const header *)(const void *)(base + used);
  if (h->magic != MAGIC || h->version != SAVE_VERSION) return keep_error(refuse(damaged, "page: this file is no saved training"));
  for (uint32_t i = 0; i < NUM_WORLDS; i++) w = worlds[i].id == h->env_id ? &worlds[i] : w;
  const bool fits = h->learner_size < size && h->envs_size < size && h->obs_size < size && h->num_points <= MAX_POINTS;
  if (!w || !fits || lay_out(NULL, used, h, &next) != used + (size_t)size)
    return keep_error(refuse(damaged, "page: this file is damaged, or bytes are missing"));
  lay_out(base, used, h, &next);
  TRY(rlcore_env_builtin(games[1 - game], sizeof games[1 - game], w->id, &in));
  TRY(rlcore_env_spaces(in, &obs, &action));
  TRY(rlcore_vecenv_attach(next.envs, (size_t)h->envs_size, in, &next.envs));
  TRY(rlcore_vecenv_num_envs(next.envs, &n));
  TRY(rlcore_learner_attach(next.agent, (size_t)h->learner_size, n, &obs, &action, &next.agent));
  if (h->obs_size != (uint64_t)n * obs.len * element(&obs)) return keep_error(refuse(damaged, "page: this file is damaged"));
  room_size = 0;
  return move_in(&next, w, 1 - game);
}

/* ---- Lists ---- */

uint32_t web_num_worlds(void) { return NUM_WORLDS; }
const char *web_world_name(uint32_t w) { return worlds[w].name; }
const char *web_world_title(uint32_t w) { return worlds[w].title; }
const char *web_world_about(uint32_t w) { return worlds[w].about; }
uint32_t web_world_algorithm(uint32_t w) { return worlds[w].algorithm; }
uint32_t web_num_algorithms(void) { return NUM_ALGORITHMS; }
const char *web_algorithm_name(uint32_t a) { return algorithms[a][0]; }
const char *web_algorithm_title(uint32_t a) { return algorithms[a][1]; }
uint32_t web_num_sliders(void) { return NUM_SLIDERS; }
const char *web_slider_name(uint32_t i) { return sliders[i].name; }
const char *web_slider_label(uint32_t i) { return sliders[i].label; }
uint32_t web_slider_run(uint32_t i) { return sliders[i].run; }
double web_slider_low(uint32_t i) { return sliders[i].low; }
double web_slider_high(uint32_t i) { return sliders[i].high; }
