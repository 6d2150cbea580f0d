/* Configurations of any numbers: refused, or a block of the returned size whose calls touch no other memory. */

#include "drive.h"

/* A field: any number, or one at a limit. */
static uint32_t any(uint32_t usual) {
  static const uint32_t LIMITS[] = {0, 1, 2, 3, 16, 17, 255, 256, 1 << 16, 1 << 24, (1 << 24) + 1, 1 << 30, INT32_MAX, 1u << 31, UINT32_MAX - 1, UINT32_MAX};
  const unsigned how = byte();
  return how < 160 ? usual : how < 192 ? how - 160 : how < 224 ? LIMITS[how & 15] : word();
}

static float any_real(float usual) {
  static const float LIMITS[] = {0, -0.0f, 1, -1, 0.5f, NAN, INFINITY, -INFINITY, 3.4e38f, -3.4e38f, 1e-45f, 1.2e-38f, 0.99999994f, 1.0000001f, 40, 1e19f};
  const unsigned how = byte();
  float x;
  if (how < 192) return usual;
  if (how < 240) return LIMITS[how & 15];
  const uint32_t bits = word();
  memcpy(&x, &bits, 4);
  return x;
}

static double any_double(double usual) {
  const unsigned how = byte();
  double x;
  if (how < 192) return usual;
  if (how < 240) return (double)any_real((float)usual);
  const uint64_t bits = word() | (uint64_t)word() << 32;
  memcpy(&x, &bits, 8);
  return x;
}

/* Few blocks would be made if more were refused for it. */
static uint32_t any_reserved(void) { return byte() == 255 ? word() : 0; }

static rlcore_column columns[17];

static const rlcore_column *any_columns(void) {
  for (int i = 0; i < 17; i++) {
    columns[i] = i < 2 ? PLAIN[i] : (rlcore_column){.name = {(char)('a' + i)}, .len = 1};
    if (i > 2) continue;
    columns[i].kind = any(columns[i].kind), columns[i].len = any(columns[i].len);
    columns[i].num_stack = any(columns[i].num_stack), columns[i].channels = any(columns[i].channels);
    for (unsigned letters = byte() % 4; letters > 0; letters--) {
      const unsigned place = byte() % 24;
      columns[i].name[place] = (char)byte();
    }
  }
  return byte() == 255 ? NULL : columns;
}

/* Memory for exactly the returned number of bytes. */
static _Alignas(64) unsigned char memory[BLOCK_SIZE + 64];

/* Checks after a returned size: init refuses one byte less and succeeds with exactly that size. */
#define MADE(noun, kind, config) \
  do { \
    size_t size = 0; \
    void *block; \
    const int32_t status = rlcore_##noun##_size(&config, &size); \
    KNOWN(status); \
    if (status != RLCORE_OK) { \
      ALWAYS(rlcore_##noun##_init(memory, BLOCK_SIZE, &config, (rlcore_##noun **)&block) == status); \
      return 0; \
    } \
    ALWAYS(size > 0 && size % 8 == 0); \
    if (size > BLOCK_SIZE) { \
      ALWAYS(rlcore_##noun##_init(memory, BLOCK_SIZE, &config, (rlcore_##noun **)&block) == RLCORE_E_SIZE); \
      return 0; \
    } \
    unsigned char *mem = memory + BLOCK_SIZE - size; \
    ALWAYS(rlcore_##noun##_init(mem, size - 1, &config, (rlcore_##noun **)&block) == RLCORE_E_SIZE); \
    FINE(rlcore_##noun##_init(mem, size, &config, (rlcore_##noun **)&block)); \
    ALWAYS(block == mem); \
    FINE(attach(kind, mem, size)); \
    plan = word() & word(); \
    drive(kind, mem, size, 0); \
    return 0; \
  } while (0)

static int vecenv(void) {
  rlcore_vecenv_config c = vecenv_config;
  c.num_envs = any(c.num_envs), c.seed = any(1), c.autoreset = any(c.autoreset), c.max_episode_steps = any(3);
  size_t size = 0;
  rlcore_vecenv *v;
  const int32_t status = rlcore_vecenv_size(env.env, &c, &size);
  KNOWN(status);
  if (status != RLCORE_OK || size > BLOCK_SIZE) return 0;
  unsigned char *mem = memory + BLOCK_SIZE - size;
  FINE(rlcore_vecenv_init(mem, size, env.env, &c, &v));
  KNOWN(rlcore_vecenv_reset(v, env.env, NULL, (void *)room[0]));
  plan = word() & word();
  drive(VECENV, mem, size, 0);
  return 0;
}

static int batch(void) {
  rlcore_vecenv_config c = vecenv_config;
  rlcore_batch_config b = batch_config;
  c.num_envs = any(c.num_envs), b.in_series = any(b.in_series);
  size_t size = 0;
  rlcore_batch *made;
  const int32_t status = rlcore_batch_size(env.env, &c, &b, &size);
  KNOWN(status);
  if (status != RLCORE_OK || size > BLOCK_SIZE) return 0;
  unsigned char *mem = memory + BLOCK_SIZE - size;
  FINE(rlcore_batch_init(mem, size, env.env, &c, &b, &made));
  plan = word() & word();
  drive(BATCH, mem, size, 0);
  return 0;
}

/* A configuration of any numbers for each kind of block that needs it alone. */
#include "configs_generated.h"

static const struct {
  size_t at;
  int real;
} LEARNER_FIELDS[] = {
#define WHOLE(field, low, high) {offsetof(rlcore_learner_config, field), 0},
#define REAL(field, low, high) {offsetof(rlcore_learner_config, field), 1},
#define FREE_WHOLE(field) WHOLE(field, 0, 0)
#define FREE_REAL(field) REAL(field, 0, 0)
#include "learner_fields.h"
};

static int learner(void) {
  static float low[16], high[16];
  uint32_t n[16];
  rlcore_learner_config c = learner_config;
  if (byte() & 1) {
    FINE(rlcore_learner_config_init(&c, sizeof c, byte() % 10));
    c.num_hidden = 1, c.hidden_len[0] = 4;
    if (c.algorithm >= RLCORE_ALGORITHM_DQN && c.algorithm <= RLCORE_ALGORITHM_SAC) c.buffer_size = 32, c.batch_size = 4;
    else if (c.algorithm < RLCORE_ALGORITHM_STREAM_AC) c.num_envs = N, c.num_steps = T, c.num_minibatches = 1;
  }
  for (unsigned left = byte() % 8; left; left--) {
    const size_t k = byte() % (sizeof LEARNER_FIELDS / sizeof *LEARNER_FIELDS);
    void *field = (unsigned char *)&c + LEARNER_FIELDS[k].at;
    uint32_t number;
    float real;
    if (LEARNER_FIELDS[k].real) memcpy(&real, field, 4), real = any_real(real), memcpy(field, &real, 4);
    else memcpy(&number, field, 4), number = any(number), memcpy(field, &number, 4);
  }
  for (int i = 0; i < 4; i++) c.hidden_len[i] = any(c.hidden_len[i]);
  c.seed = any(1), c.total_steps = any(0);
  rlcore_layer list[4];
  memset(list, 0, sizeof list);
  for (int i = 0; i < 4; i++) {
    rlcore_layer *l = &list[i];
    uint32_t *fields[] = {&l->source[0], &l->source[1], &l->units,     &l->activation, &l->flags,       &l->size[0],
                          &l->size[1],   &l->stride[0], &l->stride[1], &l->same,       &l->heads,       &l->window,
                          &l->symbols,   &l->initializer};
    l->kind = any(1 + byte() % 15), l->gain = any_real(0);
    for (size_t k = 0; k < sizeof fields / sizeof *fields; k++)
      if (byte() & 1) *fields[k] = any(byte() & 3);
  }
  c.num_layers = byte() & 1 ? byte() % 5 : 0, c.layers = c.num_layers ? list : NULL, c.sequence_len = any(byte() & 1);
  rlcore_space obs = SEEN, action = DONE;
  if (byte() & 1) c.obs_dims[0] = any(1), c.obs_dims[1] = any(2), c.obs_dims[2] = any(2);
  obs.kind = any(obs.kind), obs.len = any(obs.len), action.kind = any(action.kind), action.len = any(action.len);
  if (action.len > 16 && action.len < UINT32_MAX / 2) action.len = 16; /* arrays have as many elements as they declare */
  for (int i = 0; i < 16; i++) n[i] = any(2), low[i] = any_real(-1), high[i] = any_real(1);
  if (action.len > 16) action.len = 0;
  if (byte() % 4 == 0) { /* a structure of choices, of numbers or of both */
    static const rlcore_field parts[3] = {{.name = "which", .kind = RLCORE_I32},
                                          {.name = "how", .kind = RLCORE_F32, .rank = 1, .dims = {2}, .offset = 4},
                                          {.name = "other", .kind = RLCORE_I32, .offset = 12}};
    const uint32_t first = byte() % 3;
    action.kind = RLCORE_STRUCT, action.len = 16, c.action_fields = parts + first, c.num_action_fields = 1 + byte() % (3 - first);
  }
  action.n = action.kind == RLCORE_I32 || action.kind == RLCORE_STRUCT || byte() > 250 ? n : NULL;
  if (byte() & 1) action.low = low;
  if (byte() & 1) action.high = high;
  size_t size = 0;
  rlcore_learner *p;
  const int32_t status = rlcore_learner_size(&c, &obs, &action, &size);
  KNOWN(status);
  if (status != RLCORE_OK || size > BLOCK_SIZE) return 0;
  unsigned char *mem = memory + BLOCK_SIZE - size;
  ALWAYS(rlcore_learner_init(mem, size - 1, &c, &obs, &action, &p) == RLCORE_E_SIZE);
  FINE(rlcore_learner_init(mem, size, &c, &obs, &action, &p));
  plan = word() & word();
  drive(LEARNER, mem, size, 0);
  return 0;
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) {
  static int (*const make[])(void) = {vecenv, batch, learner, learner, CONFIGURED};
  static int made;
  if (!made) {
    make_samples();
    FORBID(memory + BLOCK_SIZE, 64);
    made = 1;
  }
  input = data, input_size = size, cursor = 0;
  return make[byte() % (sizeof make / sizeof *make)]();
}
