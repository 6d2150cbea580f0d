/* The node RlcoreLearner of Godot 4: agents of a scene that share a learner. Its methods, as scripts see them, are in `methods`
   below; a call that fails returns false or an empty array, and error() says why. */
#include "godot.h"

#include <rlcore.h>
#include <stdlib.h>
#include <string.h>

#define BYTES GDEXTENSION_VARIANT_TYPE_PACKED_BYTE_ARRAY
#define FLOATS GDEXTENSION_VARIANT_TYPE_PACKED_FLOAT32_ARRAY
#define INTS GDEXTENSION_VARIANT_TYPE_PACKED_INT32_ARRAY
#define INT GDEXTENSION_VARIANT_TYPE_INT
#define BOOL GDEXTENSION_VARIANT_TYPE_BOOL

typedef struct learner_node {
  rlcore_learner *agent; /* the block, or NULL */
  size_t size;
  uint32_t num_agents, obs_len;
  uint8_t *terminated, *truncated; /* [num_agents] */
  rlcore_learner_stats stats;
} learner_node;

static void *create(void) {
  learner_node *node = calloc(1, sizeof *node);
  if (node) node->stats.struct_size = sizeof node->stats;
  return node;
}

static void clear(learner_node *node) {
  free(node->agent);
  free(node->terminated);
  memset(node, 0, sizeof *node);
  node->stats.struct_size = sizeof node->stats;
}

static void release(void *node) {
  if (node) clear(node);
  free(node);
}

static bool refuse(rlcore_status status, const char *why) {
  (void)rlcore_last_error_write(status, why, strlen(why));
  return false;
}

/* Memory for a block of so many bytes, aligned as blocks are. */
static void *block(size_t size) { return aligned_alloc(64, (size + 63) / 64 * 64); }

/* Takes a block that holds a learner for flat numbers and one choice, or frees it. */
static bool take(learner_node *node, void *mem, size_t size, rlcore_learner *agent) {
  uint32_t num_agents;
  rlcore_space obs, action;
  uint8_t *flags = NULL;
  bool ok = rlcore_learner_spaces(agent, &num_agents, &obs, &action) == RLCORE_OK;
  if (ok && (obs.kind != RLCORE_F32 || action.kind != RLCORE_I32 || action.len != 1))
    ok = refuse(RLCORE_E_SHAPE, "load: not a learner of numbers and one choice");
  if (ok && !(flags = calloc(2, num_agents))) ok = refuse(RLCORE_E_SIZE, "not enough memory");
  if (!ok) {
    free(mem);
    return false;
  }
  clear(node);
  *node = (learner_node){.agent = agent, .size = size, .num_agents = num_agents, .obs_len = obs.len, .terminated = flags,
                         .truncated = flags + num_agents, .stats = {.struct_size = sizeof node->stats}};
  return rlcore_learner_stats_read(agent, &node->stats) == RLCORE_OK;
}

static bool is_made(const learner_node *node) { return node->agent || refuse(RLCORE_E_NULL, "call create or load first"); }

/* An array of so many floats, or NULL. */
static float *floats(GDExtensionConstTypePtr array, int64_t len, const char *why) {
  if (array_len(FLOATS, array) != len) {
    refuse(RLCORE_E_SHAPE, why);
    return NULL;
  }
  return (float *)godot.packed_float32_array_operator_index_const(array, 0);
}

static bool make(learner_node *node, int64_t num_agents, int64_t obs_len, int64_t num_choices, int64_t seed) {
  if (num_agents < 1 || num_agents > UINT32_MAX || obs_len < 1 || obs_len > UINT32_MAX || num_choices < 1 || num_choices > UINT32_MAX)
    return refuse(RLCORE_E_RANGE, "create: numbers of at least 1");
  const uint32_t choices = (uint32_t)num_choices;
  const rlcore_space obs = {.kind = RLCORE_F32, .len = (uint32_t)obs_len}, action = {.kind = RLCORE_I32, .len = 1, .n = &choices};
  rlcore_learner_config config;
  size_t size;
  rlcore_learner *agent;
  if (rlcore_learner_config_init(&config, sizeof config, RLCORE_ALGORITHM_PPO)) return false;
  config.num_envs = (uint32_t)num_agents;
  config.seed = (uint64_t)seed;
  config.num_steps = 64;
  config.num_chunks = 8;
  if (rlcore_learner_size(&config, &obs, &action, &size)) return false;
  void *mem = block(size);
  if (!mem) return refuse(RLCORE_E_SIZE, "not enough memory");
  if (rlcore_learner_init(mem, size, &config, &obs, &action, &agent)) {
    free(mem);
    return false;
  }
  return take(node, mem, size, agent);
}

static void run_create(void *self, const GDExtensionConstTypePtr *a, GDExtensionTypePtr result) {
  const int64_t *const *n = (const int64_t *const *)a;
  *(uint8_t *)result = make(self, *n[0], *n[1], *n[2], *n[3]);
}

static bool load(learner_node *node, GDExtensionConstTypePtr bytes) {
  const int64_t len = array_len(BYTES, bytes);
  rlcore_learner *agent;
  if (len == 0) return refuse(RLCORE_E_SIZE, "load: no bytes");
  void *mem = block((size_t)len);
  if (!mem) return refuse(RLCORE_E_SIZE, "not enough memory");
  memcpy(mem, godot.packed_byte_array_operator_index_const(bytes, 0), (size_t)len);
  if (rlcore_learner_attach(mem, (size_t)len, 0, NULL, NULL, &agent)) {
    free(mem);
    return false;
  }
  return take(node, mem, (size_t)len, agent);
}

static void run_load(void *self, const GDExtensionConstTypePtr *a, GDExtensionTypePtr result) { *(uint8_t *)result = load(self, a[0]); }

static void run_save(void *self, const GDExtensionConstTypePtr *a, GDExtensionTypePtr result) {
  learner_node *node = self;
  (void)a;
  array_resize(BYTES, result, 0);
  if (!is_made(node) || rlcore_block_seal(node->agent, node->size)) return;
  array_resize(BYTES, result, (int64_t)node->size);
  memcpy(godot.packed_byte_array_operator_index(result, 0), node->agent, node->size);
}

static void run_act(void *self, const GDExtensionConstTypePtr *a, GDExtensionTypePtr result) {
  learner_node *node = self;
  rlcore_rows rows = {.struct_size = sizeof rows};
  array_resize(INTS, result, 0);
  if (!is_made(node)) return;
  rows.obs = floats(a[0], (int64_t)node->num_agents * node->obs_len, "act: obs has another length");
  if (!rows.obs) return;
  array_resize(INTS, result, node->num_agents);
  rows.action = godot.packed_int32_array_operator_index(result, 0);
  if (rlcore_learner_act(node->agent, &rows)) array_resize(INTS, result, 0);
}

static bool observe(learner_node *node, const GDExtensionConstTypePtr *a) {
  rlcore_rows rows = {.struct_size = sizeof rows};
  if (!is_made(node)) return false;
  rows.reward = floats(a[0], node->num_agents, "observe: reward has another length");
  rows.final_obs = rows.reward ? floats(a[2], (int64_t)node->num_agents * node->obs_len, "observe: final_obs has another length") : NULL;
  if (!rows.final_obs) return false;
  if (array_len(BYTES, a[1]) != node->num_agents) return refuse(RLCORE_E_SHAPE, "observe: ended has another length");
  const uint8_t *ended = godot.packed_byte_array_operator_index_const(a[1], 0);
  for (uint32_t i = 0; i < node->num_agents; i++) {
    node->terminated[i] = ended[i] == 1;
    node->truncated[i] = ended[i] == 2;
  }
  rows.terminated = node->terminated;
  rows.truncated = node->truncated;
  return rlcore_learner_observe(node->agent, &rows) == RLCORE_OK;
}

static void run_observe(void *self, const GDExtensionConstTypePtr *a, GDExtensionTypePtr result) { *(uint8_t *)result = observe(self, a); }

static void run_due(void *self, const GDExtensionConstTypePtr *a, GDExtensionTypePtr result) {
  const learner_node *node = self;
  uint32_t due = 0;
  (void)a;
  *(int64_t *)result = is_made(node) && rlcore_learner_phase(node->agent, &due) == RLCORE_OK ? (int64_t)due : -1;
}

static bool learn(learner_node *node, GDExtensionConstTypePtr obs, int64_t max_slices) {
  rlcore_rows rows = {.struct_size = sizeof rows};
  if (!is_made(node)) return false;
  if (max_slices < 0 || max_slices > UINT32_MAX) return refuse(RLCORE_E_RANGE, "learn: max_slices of at least 0");
  rows.obs = floats(obs, (int64_t)node->num_agents * node->obs_len, "learn: obs has another length");
  return rows.obs && rlcore_learner_learn(node->agent, &rows, (uint32_t)max_slices, &node->stats) == RLCORE_OK;
}

static void run_learn(void *self, const GDExtensionConstTypePtr *a, GDExtensionTypePtr result) {
  *(uint8_t *)result = learn(self, a[0], *(const int64_t *)a[1]);
}

static void run_mean_return(void *self, const GDExtensionConstTypePtr *a, GDExtensionTypePtr result) {
  (void)a;
  *(double *)result = (double)((learner_node *)self)->stats.return_mean;
}

static void run_error(void *self, const GDExtensionConstTypePtr *a, GDExtensionTypePtr result) {
  char text[256] = {0};
  (void)self;
  (void)a;
  (void)rlcore_last_error(text, sizeof text);
  godot.variant_get_ptr_destructor(GDEXTENSION_VARIANT_TYPE_STRING)(result);
  godot.string_new_with_utf8_chars(result, text);
}

static const method methods[] = {
    {"create", BOOL, 4, {{INT, "num_agents"}, {INT, "obs_len"}, {INT, "num_choices"}, {INT, "seed"}}, run_create},
    {"load", BOOL, 1, {{BYTES, "bytes"}}, run_load},
    {"save", BYTES, 0, {{0, NULL}}, run_save},
    {"act", INTS, 1, {{FLOATS, "obs"}}, run_act},
    /* ended: 0 goes on, 1 terminated, 2 truncated; final_obs: the last observation of agents whose episode was truncated */
    {"observe", BOOL, 3, {{FLOATS, "reward"}, {BYTES, "ended"}, {FLOATS, "final_obs"}}, run_observe},
    {"due", INT, 0, {{0, NULL}}, run_due}, /* 0 act, 1 observe, 2 learn */
    {"learn", BOOL, 2, {{FLOATS, "obs"}, {INT, "max_slices"}}, run_learn},
    {"mean_return", GDEXTENSION_VARIANT_TYPE_FLOAT, 0, {{0, NULL}}, run_mean_return},
    {"error", GDEXTENSION_VARIANT_TYPE_STRING, 0, {{0, NULL}}, run_error},
};
static const class_info class = {"RlcoreLearner", methods, sizeof methods / sizeof *methods, create, release};

static void initialize(void *userdata, GDExtensionInitializationLevel level) {
  (void)userdata;
  if (level == GDEXTENSION_INITIALIZATION_SCENE) register_class(&class);
}

static void deinitialize(void *userdata, GDExtensionInitializationLevel level) {
  (void)userdata;
  if (level == GDEXTENSION_INITIALIZATION_SCENE) unregister_class(&class);
}

GDExtensionBool rlcore_godot_init(GDExtensionInterfaceGetProcAddress find, GDExtensionClassLibraryPtr library,
                                  GDExtensionInitialization *out);
__attribute__((visibility("default"))) GDExtensionBool rlcore_godot_init(GDExtensionInterfaceGetProcAddress find,
                                                                         GDExtensionClassLibraryPtr library,
                                                                         GDExtensionInitialization *out) {
  if (rlcore_abi_version() != RLCORE_ABI_VERSION || !load_godot(find, library)) return 0;
  *out = (GDExtensionInitialization){.minimum_initialization_level = GDEXTENSION_INITIALIZATION_SCENE, .initialize = initialize,
                                     .deinitialize = deinitialize};
  return 1;
}
