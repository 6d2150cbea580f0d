/* The declarations of rlcore.h for binding generators: plain C without preprocessor lines, for cffi's cdef as it is, or for
   pycparser once comments are removed. It needs size_t and the types of stdint.h. Do not include it.

   Each pointer parameter or field is preceded by a comment that describes what it points to, always in this form:

     direction [extent, extent, ...] optional

   direction: in, read; out, written; inout, both, as for objects and the memory they lie in; opaque: the caller's own, never
              dereferenced.
   [...]:     shape of a row-major array; without it a single element, or, for char, a NUL-terminated string. An extent is
              an integer, a parameter, a field, or a sum, difference, product or call of these; sum(x) adds up an array;
              x... stands for several extents. Short names are those of rlcore.h: N environments, T steps, and so on. For
              void * the shape counts elements of the kind that rlcore.h names; for mem, bytes.
   optional:  may be NULL.

   Generated together with rlcore.h, by the same command. */

/* ---- Versions and results ---- */

enum { RLCORE_VERSION_MAJOR = 0 };
enum { RLCORE_VERSION_MINOR = 1 };
enum { RLCORE_VERSION_PATCH = 0 };
enum { RLCORE_ABI_VERSION = 0 };
enum { RLCORE_IMAGE_VERSION = 15 };
typedef int32_t rlcore_status;
enum {
  RLCORE_OK = 0,
  RLCORE_E_NULL = -1,
  RLCORE_E_SIZE = -2,
  RLCORE_E_ALIGN = -3,
  RLCORE_E_CONFIG = -4,
  RLCORE_E_SHAPE = -5,
  RLCORE_E_IMAGE = -6,
  RLCORE_E_RANGE = -7,
  RLCORE_E_CALLBACK = -8,
  RLCORE_E_OVERFLOW = -9,
  RLCORE_E_NOT_READY = -10,
  RLCORE_E_VALUE = -11,
  RLCORE_E_OVERLAP = -12,
  RLCORE_E_BUSY = -13,
  RLCORE_E_NOT_PENDING = -14,
  RLCORE_E_INEXACT = -15,
  RLCORE_E_EMPTY = -16,
  RLCORE_E_DISABLED = -17,
};
const char *rlcore_status_name(int32_t status);
const char *rlcore_status_text(int32_t status);
rlcore_status rlcore_last_error(
  /* out [text_size] */ char *text,
  size_t text_size);
rlcore_status rlcore_last_error_write(
  int32_t status,
  /* in [text_size] */ const char *text,
  size_t text_size);
uint32_t rlcore_version(void);
uint32_t rlcore_abi_version(void);
uint32_t rlcore_image_version(void);

/* ---- CPU levels ---- */

typedef enum rlcore_cpu_level {
  RLCORE_CPU_BASE = 0,
  RLCORE_CPU_AVX2 = 1,
  RLCORE_CPU_AVX512 = 2,
} rlcore_cpu_level;
rlcore_status rlcore_cpu_set_limit(uint32_t level);

/* ---- Blocks as bytes ---- */

rlcore_status rlcore_hash(
  /* in [size] optional */ const void *bytes,
  size_t size,
  /* out */ uint64_t *out);
rlcore_status rlcore_block_seal(
  /* inout [mem_size] */ void *mem,
  size_t mem_size);

/* ---- Random streams ---- */

typedef struct rlcore_rng {
  uint64_t state[2];
  uint64_t stream[2];
  uint32_t half;
  uint32_t has_half;
} rlcore_rng;
rlcore_status rlcore_rng_seed(
  /* out */ rlcore_rng *rng,
  uint64_t seed);
rlcore_status rlcore_rng_stream(
  /* out */ rlcore_rng *rng,
  uint64_t seed,
  uint64_t stream);
rlcore_status rlcore_rng_uniform(
  /* inout */ rlcore_rng *rng,
  double low,
  double high,
  /* out [len] */ double *out,
  size_t len);
rlcore_status rlcore_rng_log_uniform(
  /* inout */ rlcore_rng *rng,
  double low,
  double high,
  /* out [len] */ double *out,
  size_t len);
rlcore_status rlcore_rng_integers(
  /* inout */ rlcore_rng *rng,
  int64_t low,
  int64_t high,
  /* out [len] */ int64_t *out,
  size_t len);
rlcore_status rlcore_rng_normal(
  /* inout */ rlcore_rng *rng,
  /* out [len] */ float *out,
  size_t len);
rlcore_status rlcore_rng_permutation(
  /* inout */ rlcore_rng *rng,
  /* out [len] */ uint32_t *out,
  size_t len);

/* ---- Spaces ---- */

typedef enum rlcore_element {
  RLCORE_F32 = 0,
  RLCORE_I32 = 1,
  RLCORE_U8 = 2,
  RLCORE_STRUCT = 3,
} rlcore_element;
typedef enum rlcore_field_flag {
  RLCORE_FIELD_INFO = 1,
  RLCORE_FIELD_CHANNELS_FIRST = 2,
} rlcore_field_flag;
typedef struct rlcore_space {
  uint32_t kind;
  uint32_t len;
  /* in [len] optional */ const float *low;
  /* in [len] optional */ const float *high;
  /* in [len] optional */ const uint32_t *n;
} rlcore_space;
typedef struct rlcore_field {
  char name[24];
  uint32_t kind;
  uint32_t rank;
  uint32_t dims[4];
  uint32_t offset;
  uint32_t flags;
} rlcore_field;

/* ---- Wrappers ---- */

typedef enum rlcore_wrap {
  RLCORE_WRAP_TIME_LIMIT = 1,
  RLCORE_WRAP_NOOP_RESET = 2,
  RLCORE_WRAP_FIRE_RESET = 3,
  RLCORE_WRAP_EPISODIC_LIFE = 4,
  RLCORE_WRAP_MAX_AND_SKIP = 5,
  RLCORE_WRAP_ACTION_REPEAT = 6,
  RLCORE_WRAP_STICKY_ACTIONS = 7,
  RLCORE_WRAP_RESCALE_ACTION = 8,
  RLCORE_WRAP_CLIP_ACTION = 9,
  RLCORE_WRAP_CLIP_REWARD = 10,
  RLCORE_WRAP_SCALE_REWARD = 11,
  RLCORE_WRAP_WARP_FRAME = 12,
  RLCORE_WRAP_ATARI_RESCALE = 13,
  RLCORE_WRAP_SCALED_FLOAT = 14,
  RLCORE_WRAP_FRAME_STACK = 15,
  RLCORE_WRAP_CHANNELS_FIRST = 16,
  RLCORE_WRAP_FLATTEN = 17,
  RLCORE_WRAP_EXTRACT = 18,
  RLCORE_WRAP_RECORD = 19,
  RLCORE_WRAP_OBSERVE = 20,
} rlcore_wrap;
typedef enum rlcore_atari_screen {
  RLCORE_ATARI_WHOLE = 0,
  RLCORE_ATARI_GRAY84 = 1,
  RLCORE_ATARI_MEAN42 = 2,
} rlcore_atari_screen;
typedef enum rlcore_atari_order {
  RLCORE_ATARI_SEED = 0,
  RLCORE_ATARI_CLASSIC = 1,
} rlcore_atari_order;
typedef struct rlcore_atari_config {
  uint32_t struct_size;
  uint32_t noop_max;
  uint32_t skip;
  uint32_t fire_reset;
  uint32_t episodic_life;
  uint32_t order;
  uint32_t screen;
  uint32_t scale;
  uint32_t clip_reward;
  uint32_t stack;
  uint32_t channels_first;
  uint32_t record;
} rlcore_atari_config;
typedef int32_t (*rlcore_observe_fn)(
  /* opaque */ void *user,
  uint32_t row,
  /* in [obs.len] */ const void *obs,
  /* out [len] */ float *out);
typedef struct rlcore_wrapper {
  uint32_t kind;
  uint32_t count;
  uint32_t steps;
  uint32_t noop_max;
  uint32_t noop_count;
  uint32_t noop;
  uint32_t fire;
  uint32_t second;
  float probability;
  float low;
  float high;
  float factor;
  uint32_t height;
  uint32_t width;
  uint32_t gray;
  uint32_t len;
  char field[24];
  uint32_t one_hot;
  uint32_t reserved[3];
  rlcore_observe_fn observe;
  /* opaque */ void *user;
} rlcore_wrapper;
rlcore_status rlcore_atari_config_init(
  /* out */ rlcore_atari_config *config,
  size_t config_size);
rlcore_status rlcore_wrappers_atari(
  /* in */ const rlcore_atari_config *config,
  /* out [capacity] */ rlcore_wrapper *out,
  uint32_t capacity,
  /* out */ uint32_t *out_len);

/* ---- Environments ---- */

typedef enum rlcore_level {
  RLCORE_LEVEL_NEW = 0,
  RLCORE_LEVEL_SAME = 1,
} rlcore_level;
typedef struct rlcore_env rlcore_env;
typedef int32_t (*rlcore_env_reset_fn)(
  /* opaque */ void *user,
  uint32_t row,
  /* inout [state_size] */ void *state,
  /* inout */ rlcore_rng *rng,
  /* out [obs.len] */ void *obs);
typedef struct rlcore_step {
  float reward;
  uint8_t terminated;
  uint8_t truncated;
  uint8_t reserved[2];
} rlcore_step;
typedef int32_t (*rlcore_env_step_fn)(
  /* opaque */ void *user,
  uint32_t row,
  /* inout [state_size] */ void *state,
  /* inout */ rlcore_rng *rng,
  /* in [action.len] */ const void *action,
  /* out [obs.len] */ void *obs,
  /* out */ rlcore_step *out);
typedef int32_t (*rlcore_env_render_fn)(
  /* opaque */ void *user,
  uint32_t row,
  /* in [state_size] */ const void *state,
  uint32_t width,
  uint32_t height,
  /* out [height, width, 3] */ uint8_t *rgb);
typedef int32_t (*rlcore_env_lives_fn)(
  /* opaque */ void *user,
  uint32_t row,
  /* in [state_size] */ const void *state,
  /* out */ uint32_t *out_lives);
typedef int32_t (*rlcore_env_action_mask_fn)(
  /* opaque */ void *user,
  uint32_t row,
  /* in [state_size] */ const void *state,
  /* out [sum(action.n)] */ uint8_t *mask);
typedef int32_t (*rlcore_env_restart_fn)(
  /* opaque */ void *user,
  uint32_t row,
  /* inout [state_size] */ void *state,
  /* inout */ rlcore_rng *rng,
  uint32_t level,
  /* out [obs.len] */ void *obs);
typedef int32_t (*rlcore_env_reset_with_fn)(
  /* opaque */ void *user,
  uint32_t row,
  /* inout [state_size] */ void *state,
  /* inout */ rlcore_rng *rng,
  /* in [options_size] */ const void *options,
  size_t options_size,
  /* out [obs.len] */ void *obs);
typedef struct rlcore_env_def {
  uint32_t struct_size;
  uint32_t env_id;
  uint32_t state_size;
  uint32_t max_episode_steps;
  rlcore_space obs;
  rlcore_space action;
  /* opaque */ void *user;
  rlcore_env_reset_fn reset;
  rlcore_env_step_fn step;
  rlcore_env_render_fn render;
  rlcore_env_lives_fn lives;
  rlcore_env_action_mask_fn action_mask;
  rlcore_env_restart_fn restart;
  /* in [num_fields] */ const rlcore_field *fields;
  uint32_t num_fields;
  uint32_t num_wrappers;
  /* in [num_wrappers] */ const rlcore_wrapper *wrappers;
  rlcore_env_reset_with_fn reset_with;
} rlcore_env_def;
rlcore_status rlcore_env_size(
  /* in */ const rlcore_env_def *definition,
  /* out */ size_t *out_size);
rlcore_status rlcore_env_init(
  /* inout [mem_size] */ void *mem,
  size_t mem_size,
  /* in */ const rlcore_env_def *definition,
  /* out */ rlcore_env **out);

/* ---- Built-in environments ---- */

typedef enum rlcore_env_id {
  RLCORE_ENV_CARTPOLE = 1,
  RLCORE_ENV_MOUNTAIN_CAR = 2,
  RLCORE_ENV_MOUNTAIN_CAR_CONTINUOUS = 3,
  RLCORE_ENV_ACROBOT = 4,
  RLCORE_ENV_PENDULUM = 5,
  RLCORE_ENV_BREAKOUT = 6,
  RLCORE_ENV_CARTPOLE_NO_VEL = 7,
  RLCORE_ENV_PENDULUM_NO_VEL = 8,
  RLCORE_ENV_REPEAT_PREVIOUS = 9,
  RLCORE_ENV_CATCH = 10,
  RLCORE_ENV_ASTERIX = 11,
  RLCORE_ENV_FREEWAY = 12,
  RLCORE_ENV_SPACE_INVADERS = 13,
  RLCORE_ENV_MAZE = 14,
  RLCORE_ENV_MAZE_RGB = 15,
  RLCORE_ENV_BIT_FLIP = 16,
  RLCORE_ENV_POINT_REACH = 17,
  RLCORE_ENV_PROBE1 = 101,
  RLCORE_ENV_PROBE2 = 102,
  RLCORE_ENV_PROBE3 = 103,
  RLCORE_ENV_PROBE4 = 104,
  RLCORE_ENV_PROBE5 = 105,
  RLCORE_ENV_PROBE6 = 106,
  RLCORE_ENV_PROBE7 = 107,
  RLCORE_ENV_PROBE6_ODD_EVEN = 108,
  RLCORE_ENV_PROBE_TRUNCATION = 109,
  RLCORE_ENV_PROBE_MEMORY = 110,
} rlcore_env_id;
rlcore_status rlcore_env_builtin(
  /* inout [mem_size] */ void *mem,
  size_t mem_size,
  uint32_t env_id,
  /* out */ rlcore_env **out);

/* ---- Rows: the arrays that go round the loop ---- */

typedef struct rlcore_rows {
  uint32_t struct_size;
  uint32_t reserved;
  /* in [N] optional */ const uint8_t *active;
  /* out [N, obs.len] */ void *obs;
  /* out [N, sum(action.n)] optional */ uint8_t *action_mask;
  /* out [N, action.len] */ void *action;
  /* out [N] */ float *reward;
  /* out [N] */ uint8_t *terminated;
  /* out [N] */ uint8_t *truncated;
  /* out [N] */ uint8_t *valid;
  /* out [N, obs.len] */ void *final_obs;
  /* out [N, sum(action.n)] */ uint8_t *final_action_mask;
  /* in [N] */ const float *duration;
} rlcore_rows;

/* ---- N environments of one kind ---- */

typedef enum rlcore_autoreset {
  RLCORE_AUTORESET_SAME_STEP = 0,
  RLCORE_AUTORESET_NEXT_STEP = 1,
  RLCORE_AUTORESET_DISABLED = 2,
  RLCORE_AUTORESET_LEGACY = 3,
} rlcore_autoreset;
typedef struct rlcore_vecenv rlcore_vecenv;
typedef struct rlcore_vecenv_config {
  uint32_t struct_size;
  uint32_t num_envs;
  uint64_t seed;
  uint32_t autoreset;
  uint32_t max_episode_steps;
} rlcore_vecenv_config;
typedef struct rlcore_reset {
  uint32_t struct_size;
  uint32_t reserved;
  /* in optional */ const uint64_t *seed;
  /* in [options_size] optional */ const void *options;
  size_t options_size;
} rlcore_reset;
rlcore_status rlcore_vecenv_config_init(
  /* out */ rlcore_vecenv_config *config,
  size_t config_size);
rlcore_status rlcore_vecenv_size(
  /* in */ const rlcore_env *env,
  /* in */ const rlcore_vecenv_config *config,
  /* out */ size_t *out_size);
rlcore_status rlcore_vecenv_init(
  /* inout [mem_size] */ void *mem,
  size_t mem_size,
  /* in */ const rlcore_env *env,
  /* in */ const rlcore_vecenv_config *config,
  /* out */ rlcore_vecenv **out);
rlcore_status rlcore_vecenv_attach(
  /* inout [mem_size] */ void *mem,
  size_t mem_size,
  /* in */ const rlcore_env *env,
  /* out */ rlcore_vecenv **out);
rlcore_status rlcore_vecenv_reset(
  /* inout */ rlcore_vecenv *v,
  /* in */ const rlcore_env *env,
  /* in optional */ const uint64_t *seed,
  /* out [N, obs.len] */ void *obs);
rlcore_status rlcore_vecenv_reset_one(
  /* inout */ rlcore_vecenv *v,
  /* in */ const rlcore_env *env,
  uint32_t index,
  /* in optional */ const uint64_t *seed,
  /* out [N, obs.len] */ void *obs);
rlcore_status rlcore_vecenv_reset_with(
  /* inout */ rlcore_vecenv *v,
  /* in */ const rlcore_env *env,
  /* in */ const rlcore_reset *how,
  /* out [N, obs.len] */ void *obs);
rlcore_status rlcore_vecenv_reset_one_with(
  /* inout */ rlcore_vecenv *v,
  /* in */ const rlcore_env *env,
  uint32_t index,
  /* in */ const rlcore_reset *how,
  /* out [N, obs.len] */ void *obs);
rlcore_status rlcore_vecenv_step(
  /* inout */ rlcore_vecenv *v,
  /* in */ const rlcore_env *env,
  /* in */ const rlcore_rows *rows);
rlcore_status rlcore_vecenv_step_range(
  /* inout */ rlcore_vecenv *v,
  /* in */ const rlcore_env *env,
  uint32_t begin,
  uint32_t end,
  /* in */ const rlcore_rows *rows);
rlcore_status rlcore_vecenv_step_env(
  /* inout */ rlcore_vecenv *v,
  /* in */ const rlcore_env *env,
  uint32_t level,
  /* in */ const rlcore_rows *rows);
rlcore_status rlcore_vecenv_row_size(
  /* in */ const rlcore_env *env,
  /* out */ size_t *out_size);
rlcore_status rlcore_vecenv_row_read(
  /* in */ const rlcore_vecenv *v,
  /* in */ const rlcore_env *env,
  uint32_t index,
  /* in [N, obs.len] */ const void *obs,
  /* out [row_size] */ void *row,
  size_t row_size);
rlcore_status rlcore_vecenv_row_write(
  /* inout */ rlcore_vecenv *v,
  /* in */ const rlcore_env *env,
  uint32_t index,
  /* in [row_size] */ const void *row,
  size_t row_size,
  /* out [N, obs.len] */ void *obs);
rlcore_status rlcore_vecenv_render(
  /* in */ const rlcore_vecenv *v,
  /* in */ const rlcore_env *env,
  uint32_t index,
  uint32_t width,
  uint32_t height,
  /* out [height, width, 3] */ uint8_t *rgb);
rlcore_status rlcore_vecenv_images(
  /* in */ const rlcore_vecenv *v,
  /* in */ const rlcore_env *env,
  uint32_t width,
  uint32_t height,
  /* out [N, height, width, 3] */ uint8_t *rgb);
rlcore_status rlcore_vecenv_lives(
  /* in */ const rlcore_vecenv *v,
  /* in */ const rlcore_env *env,
  /* out [N] */ uint32_t *lives);
rlcore_status rlcore_vecenv_action_mask(
  /* in */ const rlcore_vecenv *v,
  /* in */ const rlcore_env *env,
  /* out [N, sum(action.n)] */ uint8_t *mask);
rlcore_status rlcore_vecenv_num_envs(
  /* in */ const rlcore_vecenv *v,
  /* out */ uint32_t *out);

/* ---- Observation fields ---- */

rlcore_status rlcore_env_fields(
  /* in */ const rlcore_env *env,
  /* out [capacity] optional */ rlcore_field *out,
  uint32_t capacity,
  /* out */ uint32_t *out_len);
rlcore_status rlcore_obs_split(
  /* in */ const rlcore_env *env,
  uint32_t num_rows,
  /* in [num_rows, obs.len] */ const void *obs,
  /* out [num_rows, dims...] optional */ void *const *parts);
rlcore_status rlcore_obs_join(
  /* in */ const rlcore_env *env,
  uint32_t num_rows,
  /* in [num_rows, dims...] optional */ const void *const *parts,
  /* out [num_rows, obs.len] */ void *obs);
rlcore_status rlcore_record_initial(
  /* in */ const rlcore_env *env,
  /* out [obs.len] */ uint8_t *record);

/* ---- Action selection ---- */

typedef enum rlcore_sampling_method {
  RLCORE_SAMPLING_BASIC = 0,
  RLCORE_SAMPLING_GREEDY = 1,
  RLCORE_SAMPLING_TEMPERATURE = 2,
  RLCORE_SAMPLING_TOPK = 3,
  RLCORE_SAMPLING_BOTTOMK = 4,
} rlcore_sampling_method;
typedef struct rlcore_sampling {
  uint32_t method;
  uint32_t k;
  float temperature;
  uint32_t reserved;
} rlcore_sampling;

/* ---- Layers of networks ---- */

enum { RLCORE_LAYER_INPUT = 1073741824 };
typedef enum rlcore_activation {
  RLCORE_ACTIVATION_TANH = 0,
  RLCORE_ACTIVATION_RELU = 1,
  RLCORE_ACTIVATION_IDENTITY = 2,
  RLCORE_ACTIVATION_ELU = 3,
  RLCORE_ACTIVATION_SILU = 4,
  RLCORE_ACTIVATION_GELU = 5,
  RLCORE_ACTIVATION_LEAKY_RELU = 6,
} rlcore_activation;
typedef enum rlcore_layer_kind {
  RLCORE_LAYER_DENSE = 1,
  RLCORE_LAYER_CONV = 3,
  RLCORE_LAYER_POOL = 4,
  RLCORE_LAYER_NORM = 5,
  RLCORE_LAYER_LSTM = 6,
  RLCORE_LAYER_GRU = 7,
  RLCORE_LAYER_MINGRU = 8,
  RLCORE_LAYER_DECONV = 9,
  RLCORE_LAYER_ATTENTION = 10,
  RLCORE_LAYER_EMBED = 11,
  RLCORE_LAYER_ADD = 12,
  RLCORE_LAYER_MULTIPLY = 13,
  RLCORE_LAYER_JOIN = 14,
  RLCORE_LAYER_DEPTHWISE = 15,
} rlcore_layer_kind;
typedef enum rlcore_layer_flag {
  RLCORE_LAYER_HEAD = 1,
  RLCORE_LAYER_NO_BIAS = 2,
  RLCORE_LAYER_NO_SCALE = 4,
  RLCORE_LAYER_RMS = 8,
  RLCORE_LAYER_WHOLE = 16,
  RLCORE_LAYER_MEAN = 32,
  RLCORE_LAYER_FORGET_ONE = 64,
  RLCORE_LAYER_BYTES = 128,
  RLCORE_LAYER_NOISY = 256,
  RLCORE_LAYER_NORMALIZED = 512,
} rlcore_layer_flag;
typedef enum rlcore_initializer {
  RLCORE_INIT_ORTHOGONAL = 0,
  RLCORE_INIT_NORMAL = 1,
  RLCORE_INIT_UNIFORM = 2,
  RLCORE_INIT_UNIT_ROWS = 3,
  RLCORE_INIT_SPARSE = 4,
  RLCORE_INIT_GLOROT = 5,
} rlcore_initializer;
typedef struct rlcore_layer {
  uint32_t kind;
  uint32_t units;
  uint32_t source[2];
  uint32_t size[2];
  uint32_t stride[2];
  uint32_t same;
  uint32_t activation;
  uint32_t heads;
  uint32_t window;
  uint32_t symbols;
  uint32_t flags;
  uint32_t initializer;
  float gain;
  uint32_t reserved;
} rlcore_layer;

/* ---- Networks known by name ---- */

typedef enum rlcore_net {
  RLCORE_NET_FC = 1,
  RLCORE_NET_NATURE = 2,
  RLCORE_NET_IMPALA_SMALL = 3,
  RLCORE_NET_BTGYM_42 = 4,
  RLCORE_NET_MINATAR = 5,
  RLCORE_NET_LSTM_SIMPLE = 6,
  RLCORE_NET_LSTM_BOW_ENDPOOL_RES = 7,
  RLCORE_NET_TRANSFORMER_GRID = 8,
  RLCORE_NET_TRANSFORMER_NORM = 9,
  RLCORE_NET_TRANSFORMER_ACTIONS = 10,
  RLCORE_NET_LSTM_FILM = 11,
} rlcore_net;
rlcore_status rlcore_net_preset(
  uint32_t net,
  /* out [capacity] optional */ rlcore_layer *out,
  uint32_t capacity,
  /* out */ uint32_t *out_len);

/* ---- Configurations of learners ---- */

typedef enum rlcore_algorithm {
  RLCORE_ALGORITHM_PPO = 0,
  RLCORE_ALGORITHM_A2C = 1,
  RLCORE_ALGORITHM_IMPALA = 2,
  RLCORE_ALGORITHM_UNREAL = 3,
  RLCORE_ALGORITHM_DQN = 4,
  RLCORE_ALGORITHM_TD3 = 5,
  RLCORE_ALGORITHM_SAC = 6,
  RLCORE_ALGORITHM_PQN = 7,
  RLCORE_ALGORITHM_STREAM_AC = 8,
  RLCORE_ALGORITHM_STREAM_Q = 9,
} rlcore_algorithm;
typedef enum rlcore_optimizer {
  RLCORE_OPTIMIZER_ADAM = 0,
  RLCORE_OPTIMIZER_ADAM_TENSORFLOW = 1,
  RLCORE_OPTIMIZER_RMSPROP = 2,
  RLCORE_OPTIMIZER_RMSPROP_TENSORFLOW = 3,
  RLCORE_OPTIMIZER_RMSPROP_CENTERED = 4,
  RLCORE_OPTIMIZER_ADAM_RECTIFIED = 5,
} rlcore_optimizer;
typedef struct rlcore_learner_config {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t seed;
  uint64_t total_steps;
  uint32_t algorithm;
  uint32_t num_envs;
  float discount;
  uint32_t use_duration;
  float reward_min;
  float reward_max;
  float learning_rate;
  float learning_rate_end;
  uint32_t use_action_mask;
  uint32_t num_chunks;
  uint32_t overlap;
  uint32_t num_hidden;
  uint32_t hidden_len[4];
  uint32_t activation;
  uint32_t hidden_norm;
  uint32_t num_layers;
  uint32_t obs_dims[3];
  uint32_t num_stacked;
  uint32_t num_shared;
  uint32_t policy_layer;
  uint32_t noisy;
  uint32_t squash;
  float log_std_init;
  float log_std_min;
  float log_std_max;
  uint32_t normalize_obs;
  float obs_clip;
  uint32_t normalize_reward;
  float reward_clip;
  uint32_t exploration_steps;
  float exploration_start;
  float exploration_end;
  uint32_t optimizer;
  float max_grad_norm;
  float adam_beta1;
  float adam_beta2;
  float adam_epsilon;
  float rms_decay;
  float rms_momentum;
  uint32_t sum_losses;
  uint32_t num_steps;
  uint32_t num_minibatches;
  uint32_t num_epochs;
  uint32_t sequence_len;
  uint32_t burn_in;
  float gae_lambda;
  uint32_t accumulate;
  uint32_t normalize_advantage;
  float value_coef;
  float value_clip;
  float entropy_coef;
  float entropy_share_end;
  float target_kl;
  float clip;
  float clip_end;
  uint32_t prime_interval;
  float clip_rho;
  float clip_c;
  float clip_pg_rho;
  float leak;
  float pixel_control_coef;
  float reward_class_coef;
  float value_replay_coef;
  float policy_replay_coef;
  float pixel_control_discount;
  uint32_t pixel_cell;
  uint32_t pixel_mean;
  uint32_t reward_sequence_len;
  float reward_threshold;
  uint32_t history_len;
  uint32_t history_starts;
  uint32_t num_replayed;
  float kappa_policy;
  float kappa_value;
  uint32_t demonstration_size;
  float demonstration_share;
  float imitation_coef;
  float imitation_coef_end;
  float imitation_margin;
  uint32_t imitation_fit_std;
  uint32_t buffer_size;
  uint32_t batch_size;
  uint32_t learning_starts;
  uint32_t train_interval;
  uint32_t gradient_steps;
  uint32_t target_interval;
  float target_rate;
  uint32_t n_step;
  uint32_t huber;
  float priority_exponent;
  float priority_max_share;
  float importance_exponent;
  uint32_t importance_steps;
  uint32_t num_quantiles;
  uint32_t double_q;
  uint32_t dueling;
  uint32_t num_atoms;
  float value_min;
  float value_max;
  uint32_t num_critics;
  float critic_rate;
  uint32_t policy_interval;
  float exploration_noise;
  float target_noise;
  float target_noise_clip;
  float temperature;
  float temperature_rate;
  float target_entropy;
  uint32_t dropped_quantiles;
  /* in [num_layers] optional */ const rlcore_layer *layers;
  /* in [num_obs_fields] optional */ const rlcore_field *obs_fields;
  /* in [num_action_fields] optional */ const rlcore_field *action_fields;
  uint32_t num_obs_fields;
  uint32_t num_action_fields;
} rlcore_learner_config;
rlcore_status rlcore_learner_config_init(
  /* out */ rlcore_learner_config *config,
  size_t config_size,
  uint32_t algorithm);

/* ---- Configurations known by name ---- */

typedef enum rlcore_preset {
  RLCORE_PRESET_SRC_PPO = 1,
  RLCORE_PRESET_BTGYM_A3C = 2,
  RLCORE_PRESET_BTGYM_UNREAL = 3,
  RLCORE_PRESET_BTGYM_PPO = 4,
  RLCORE_PRESET_SEED_RL = 5,
  RLCORE_PRESET_CLEANRL_PPO = 6,
  RLCORE_PRESET_CLEANRL_PPO_ATARI = 7,
  RLCORE_PRESET_CLEANRL_DQN = 8,
  RLCORE_PRESET_ZOO_PPO_CARTPOLE = 9,
  RLCORE_PRESET_ZOO_PPO_ATARI = 10,
  RLCORE_PRESET_ZOO_A2C_CARTPOLE = 11,
  RLCORE_PRESET_ZOO_DQN_CARTPOLE = 12,
  RLCORE_PRESET_ZOO_QR_DQN_CARTPOLE = 13,
  RLCORE_PRESET_ZOO_TD3_PENDULUM = 14,
  RLCORE_PRESET_ZOO_SAC_PENDULUM = 15,
} rlcore_preset;
rlcore_status rlcore_learner_config_preset(
  /* out */ rlcore_learner_config *config,
  size_t config_size,
  uint32_t preset,
  /* out optional */ uint32_t *out_net);

/* ---- Learners: act, observe, learn ---- */

typedef enum rlcore_learner_due {
  RLCORE_LEARNER_ACT = 0,
  RLCORE_LEARNER_OBSERVE = 1,
  RLCORE_LEARNER_LEARN = 2,
} rlcore_learner_due;
typedef struct rlcore_learner rlcore_learner;
typedef struct rlcore_learner_stats {
  uint32_t struct_size;
  uint32_t minibatches_left;
  uint64_t num_steps;
  uint64_t num_updates;
  uint64_t num_episodes;
  float learning_rate;
  float policy_loss;
  float value_loss;
  float entropy;
  float approx_kl;
  float clip_fraction;
  float explained_variance;
  float grad_norm;
  float value_mean;
  float return_mean;
  float length_mean;
  float return_last;
  uint64_t num_dropped;
  float pixel_control_loss;
  float reward_class_loss;
  float value_replay_loss;
  float policy_replay_loss;
  float return_std;
  float return_min;
  float return_max;
  float temperature;
  float exploration_rate;
  float log_std_mean;
  uint64_t num_stored;
} rlcore_learner_stats;
rlcore_status rlcore_learner_size(
  /* in */ const rlcore_learner_config *config,
  /* in */ const rlcore_space *obs,
  /* in */ const rlcore_space *action,
  /* out */ size_t *out_size);
rlcore_status rlcore_learner_init(
  /* inout [mem_size] */ void *mem,
  size_t mem_size,
  /* in */ const rlcore_learner_config *config,
  /* in */ const rlcore_space *obs,
  /* in */ const rlcore_space *action,
  /* out */ rlcore_learner **out);
rlcore_status rlcore_learner_attach(
  /* inout [mem_size] */ void *mem,
  size_t mem_size,
  uint32_t num_envs,
  /* in optional */ const rlcore_space *obs,
  /* in optional */ const rlcore_space *action,
  /* out */ rlcore_learner **out);
rlcore_status rlcore_learner_phase(
  /* in */ const rlcore_learner *p,
  /* out */ uint32_t *out);
rlcore_status rlcore_learner_acted(
  /* in */ const rlcore_learner *p,
  /* out [N] */ uint8_t *acted);
rlcore_status rlcore_learner_act(
  /* inout */ rlcore_learner *p,
  /* in */ const rlcore_rows *rows);
rlcore_status rlcore_learner_act_range(
  /* inout */ rlcore_learner *p,
  uint32_t begin,
  uint32_t end,
  /* in */ const rlcore_rows *rows);
rlcore_status rlcore_learner_demonstrate(
  /* inout */ rlcore_learner *p,
  /* in */ const rlcore_rows *rows);
rlcore_status rlcore_learner_observe(
  /* inout */ rlcore_learner *p,
  /* in */ const rlcore_rows *rows);
rlcore_status rlcore_learner_cut(
  /* inout */ rlcore_learner *p,
  /* in [N] */ const uint8_t *gone);
rlcore_status rlcore_learner_learn(
  /* inout */ rlcore_learner *p,
  /* in optional */ const rlcore_rows *rows,
  uint32_t max_slices,
  /* inout */ rlcore_learner_stats *stats);
rlcore_status rlcore_learner_stats_read(
  /* in */ const rlcore_learner *p,
  /* inout */ rlcore_learner_stats *stats);
rlcore_status rlcore_learner_value(
  /* inout */ rlcore_learner *p,
  /* in */ const rlcore_rows *rows,
  /* out [N] */ float *value);
rlcore_status rlcore_learner_log_prob(
  /* inout */ rlcore_learner *p,
  /* in */ const rlcore_rows *rows,
  /* out [N] */ float *log_prob,
  /* out [N] */ float *entropy);
rlcore_status rlcore_learner_state_len(
  /* in */ const rlcore_learner *p,
  /* out */ size_t *out_len);
rlcore_status rlcore_learner_seen_len(
  /* in */ const rlcore_learner *p,
  /* out */ size_t *out_len);
rlcore_status rlcore_learner_batch_len(
  /* in */ const rlcore_learner *p,
  /* out */ size_t *out_len,
  /* out */ size_t *out_mask_len,
  /* out */ size_t *out_begin_len,
  /* out */ size_t *out_env_len);
rlcore_status rlcore_learner_predict(
  /* inout */ rlcore_learner *p,
  /* in */ const rlcore_rows *rows,
  /* inout [N, rlcore_learner_state_len()] optional */ float *state,
  /* in [N] optional */ const uint8_t *reset,
  /* in optional */ const rlcore_sampling *sampling);
rlcore_status rlcore_learner_freeze(
  /* inout */ rlcore_learner *p,
  uint32_t frozen);

/* ---- Learners on several threads, processes and machines ---- */

typedef struct rlcore_learner_batch {
  uint32_t struct_size;
  uint32_t reserved;
  /* out [T * N, rlcore_learner_seen_len()] */ float *obs;
  /* out [T * N, action.len] */ void *action;
  /* out [T * N, sum(action.n)] optional */ uint8_t *action_mask;
  /* out [T * N] */ float *log_prob;
  /* out [T * N] */ float *value;
  /* out [T * N] */ float *advantage;
  /* out [T * N] */ float *value_target;
  /* out [T * N, rlcore_learner_state_len()] optional */ float *state;
  /* out [T * N] optional */ uint8_t *begin;
  /* out [T * N] */ uint32_t *env;
  /* out [rlcore_learner_moments_len()] optional */ double *moments;
  /* out [T * N] optional */ float *duration;
} rlcore_learner_batch;
typedef struct rlcore_learner_transitions {
  uint32_t struct_size;
  uint32_t reserved;
  /* in [B, obs.len] */ const void *obs;
  /* in [B, action.len] */ const void *action;
  /* in [B, sum(action.n)] optional */ const uint8_t *action_mask;
  /* in [B] */ const float *reward;
  /* in [B] */ const uint8_t *terminated;
  /* in [B] optional */ const float *discount;
  /* in [B, obs.len] */ const void *next_obs;
  /* in [B, sum(action.n)] optional */ const uint8_t *next_action_mask;
  /* in [B] optional */ const float *importance;
  /* out [B] optional */ float *error;
} rlcore_learner_transitions;
rlcore_status rlcore_learner_learn_begin(
  /* inout */ rlcore_learner *p,
  /* in */ const rlcore_rows *rows,
  /* inout */ rlcore_learner_stats *stats);
rlcore_status rlcore_learner_scratch_size(
  /* in */ const rlcore_learner *p,
  /* out */ size_t *out_size);
rlcore_status rlcore_learner_grads_len(
  /* in */ const rlcore_learner *p,
  /* out */ size_t *out_len);
rlcore_status rlcore_learner_learn_range(
  /* in */ const rlcore_learner *p,
  uint32_t begin,
  uint32_t end,
  /* out [scratch_size] */ void *scratch,
  size_t scratch_size,
  /* out [grads_len] */ float *grads,
  size_t grads_len);
rlcore_status rlcore_learner_learn_apply(
  /* inout */ rlcore_learner *p,
  /* inout */ rlcore_learner_stats *stats);
rlcore_status rlcore_learner_count_steps(
  /* inout */ rlcore_learner *p,
  uint64_t num_steps);
rlcore_status rlcore_learner_learn_drop(
  /* inout */ rlcore_learner *p);
rlcore_status rlcore_learner_learn_batch(
  /* inout */ rlcore_learner *p,
  /* in */ const rlcore_learner_batch *batch,
  /* inout */ rlcore_learner_stats *stats);
rlcore_status rlcore_learner_learn_transitions(
  /* inout */ rlcore_learner *p,
  /* in */ const rlcore_learner_transitions *transitions,
  /* inout */ rlcore_learner_stats *stats);
rlcore_status rlcore_learner_batch_read(
  /* in */ const rlcore_learner *p,
  /* in */ const rlcore_learner_batch *batch);
rlcore_status rlcore_learner_params_len(
  /* in */ const rlcore_learner *p,
  /* out */ size_t *out_len);
rlcore_status rlcore_learner_params_read(
  /* in */ const rlcore_learner *p,
  /* out [params_len] */ float *params,
  size_t params_len);
rlcore_status rlcore_learner_params_write(
  /* inout */ rlcore_learner *p,
  /* in [params_len] */ const float *params,
  size_t params_len,
  /* in [moments_len] optional */ const double *moments,
  size_t moments_len);
rlcore_status rlcore_learner_moments_len(
  /* in */ const rlcore_learner *p,
  /* out */ size_t *out_len);
rlcore_status rlcore_learner_moments_read(
  /* in */ const rlcore_learner *p,
  /* out [moments_len] optional */ double *moments,
  size_t moments_len);
rlcore_status rlcore_learner_moments_write(
  /* inout */ rlcore_learner *p,
  /* in [moments_len] optional */ const double *moments,
  size_t moments_len);
rlcore_status rlcore_learner_moments_merge(
  /* in [len] optional */ const double *base,
  /* in [len] */ const double *with,
  size_t len,
  /* inout [len] */ double *moments);
rlcore_status rlcore_learner_grads_read(
  /* in */ const rlcore_learner *p,
  uint32_t begin,
  uint32_t end,
  /* out [grads_len] */ float *grads,
  size_t grads_len);
rlcore_status rlcore_learner_grads_write(
  /* inout */ rlcore_learner *p,
  uint32_t begin,
  uint32_t end,
  /* in [grads_len] */ const float *grads,
  size_t grads_len);
rlcore_status rlcore_learner_grads_add(
  /* inout */ rlcore_learner *p,
  uint32_t begin,
  uint32_t end,
  /* in [grads_len] */ const float *grads,
  size_t grads_len);

/* ---- Spaces of environments and learners ---- */

rlcore_status rlcore_env_spaces(
  /* in */ const rlcore_env *env,
  /* out */ rlcore_space *out_obs,
  /* out */ rlcore_space *out_action);
rlcore_status rlcore_learner_spaces(
  /* in */ const rlcore_learner *p,
  /* out */ uint32_t *out_num_envs,
  /* out */ rlcore_space *out_obs,
  /* out */ rlcore_space *out_action);

/* ---- Collecting: steps of environments until a learner learns ---- */

rlcore_status rlcore_collect(
  /* inout */ rlcore_learner *p,
  /* inout */ rlcore_vecenv *v,
  /* in */ const rlcore_env *env,
  /* in */ const rlcore_rows *rows,
  uint32_t max_steps,
  /* out optional */ uint32_t *out_num_steps);

/* ---- Policies: trained networks to ship ---- */

typedef struct rlcore_policy rlcore_policy;
typedef struct rlcore_policy_buffers {
  uint32_t struct_size;
  uint32_t reserved;
  /* out [scratch_len] */ float *scratch;
  size_t scratch_len;
  /* inout [num_rows, rlcore_policy_state_len()] optional */ float *state;
  /* in [num_rows] optional */ const uint8_t *reset;
} rlcore_policy_buffers;
rlcore_status rlcore_policy_size(
  /* in */ const rlcore_learner *p,
  /* out */ size_t *out_size);
rlcore_status rlcore_policy_export(
  /* in */ const rlcore_learner *p,
  /* inout [mem_size] */ void *mem,
  size_t mem_size,
  /* out */ rlcore_policy **out);
rlcore_status rlcore_policy_attach(
  /* in [mem_size] */ const void *mem,
  size_t mem_size,
  /* in optional */ const rlcore_space *obs,
  /* in optional */ const rlcore_space *action,
  /* out */ const rlcore_policy **out);
rlcore_status rlcore_policy_spaces(
  /* in */ const rlcore_policy *p,
  /* out */ rlcore_space *out_obs,
  /* out */ rlcore_space *out_action);
rlcore_status rlcore_policy_state_len(
  /* in */ const rlcore_policy *p,
  /* out */ size_t *out_len);
rlcore_status rlcore_policy_scratch_len(
  /* in */ const rlcore_policy *p,
  uint32_t num_rows,
  /* out */ size_t *out_len);
rlcore_status rlcore_policy_act(
  /* in */ const rlcore_policy *p,
  uint32_t num_rows,
  /* in */ const rlcore_rows *rows,
  /* in */ const rlcore_policy_buffers *buffers,
  /* in optional */ const rlcore_sampling *sampling,
  /* inout optional */ rlcore_rng *rng);
rlcore_status rlcore_policy_act_greedy(
  /* in */ const rlcore_policy *p,
  uint32_t num_rows,
  /* in */ const rlcore_rows *rows,
  /* in optional */ const rlcore_policy_buffers *buffers);

/* ---- Distributions: answers of networks ---- */

typedef struct rlcore_distribution {
  uint32_t struct_size;
  uint32_t reserved;
  /* out [M, sum(action.n)] */ float *prob;
  /* out [M, A] */ float *mean;
  /* out [M, A] */ float *std;
  /* out [M] */ float *value;
  /* out [M, sum(action.n)] */ float *q;
  /* out [M] */ float *log_prob;
  /* out [M] */ float *entropy;
  /* out [M, action.len] */ void *best;
} rlcore_distribution;
rlcore_status rlcore_learner_distribution(
  /* inout */ rlcore_learner *p,
  uint32_t num_rows,
  /* in */ const rlcore_rows *rows,
  /* inout [num_rows, rlcore_learner_state_len()] optional */ float *state,
  /* in [num_rows] optional */ const uint8_t *reset,
  /* in */ const rlcore_distribution *out);
rlcore_status rlcore_policy_distribution(
  /* in */ const rlcore_policy *p,
  uint32_t num_rows,
  /* in */ const rlcore_rows *rows,
  /* in */ const rlcore_policy_buffers *buffers,
  /* in */ const rlcore_distribution *out);

/* ---- Imitation: learning what the host shows ---- */

typedef struct rlcore_imitation {
  uint32_t struct_size;
  uint32_t num_steps;
  /* in [num_rows] optional */ const uint8_t *reset;
  /* in [num_rows, sum(action.n)] optional */ const float *prob;
  /* in [num_rows] optional */ const float *weight;
  float margin;
  uint32_t fit_std;
} rlcore_imitation;
rlcore_status rlcore_learner_imitate(
  /* inout */ rlcore_learner *p,
  uint32_t num_rows,
  /* in */ const rlcore_rows *rows,
  /* in optional */ const rlcore_imitation *how,
  /* out optional */ float *out_loss);

/* ---- Tensors: the numbers of learners and policies by name ---- */

typedef enum rlcore_tensors {
  RLCORE_TENSORS_PARAMS = 0,
  RLCORE_TENSORS_TARGETS = 1,
  RLCORE_TENSORS_FIRST_MOMENTS = 2,
  RLCORE_TENSORS_SECOND_MOMENTS = 3,
} rlcore_tensors;
typedef struct rlcore_tensor {
  char name[48];
  uint64_t offset;
  uint32_t rank;
  uint32_t dims[4];
  uint32_t network;
  uint32_t layer;
  uint32_t frozen;
} rlcore_tensor;
typedef struct rlcore_policy_info {
  uint32_t struct_size;
  uint32_t num_choices;
  uint32_t num_means;
  uint32_t squash;
  uint32_t num_atoms;
  uint32_t normalize_obs;
  float obs_clip;
  float value_min;
  float value_max;
  uint32_t num_layers;
  uint32_t seen_len;
  uint32_t is_q;
} rlcore_policy_info;
rlcore_status rlcore_learner_config_read(
  /* in */ const rlcore_learner *p,
  /* out */ rlcore_learner_config *config,
  size_t config_size,
  /* out optional */ uint32_t *out_num_listed_layers);
rlcore_status rlcore_learner_layers(
  /* in */ const rlcore_learner *p,
  uint32_t network,
  /* out [capacity] optional */ rlcore_layer *out,
  uint32_t capacity,
  /* out */ uint32_t *out_len);
rlcore_status rlcore_learner_tensors(
  /* in */ const rlcore_learner *p,
  /* out [capacity] optional */ rlcore_tensor *out,
  uint32_t capacity,
  /* out */ uint32_t *out_len);
rlcore_status rlcore_learner_tensors_read(
  /* in */ const rlcore_learner *p,
  uint32_t of,
  /* out [values_len] */ float *values,
  size_t values_len);
rlcore_status rlcore_learner_tensors_write(
  /* inout */ rlcore_learner *p,
  uint32_t of,
  /* in [num_tensors] */ const rlcore_tensor *tensors,
  uint32_t num_tensors,
  /* in [values_len] */ const float *values,
  size_t values_len);
rlcore_status rlcore_learner_set_trainable(
  /* inout */ rlcore_learner *p,
  /* in */ const char *names,
  uint32_t trainable,
  /* out optional */ uint32_t *out_num_tensors);
rlcore_status rlcore_policy_layers(
  /* in */ const rlcore_policy *p,
  /* out [capacity] optional */ rlcore_layer *out,
  uint32_t capacity,
  /* out */ uint32_t *out_len);
rlcore_status rlcore_policy_tensors(
  /* in */ const rlcore_policy *p,
  /* out [capacity] optional */ rlcore_tensor *out,
  uint32_t capacity,
  /* out */ uint32_t *out_len);
rlcore_status rlcore_policy_tensors_read(
  /* in */ const rlcore_policy *p,
  /* out [values_len] */ float *values,
  size_t values_len);
rlcore_status rlcore_policy_info_read(
  /* in */ const rlcore_policy *p,
  /* inout */ rlcore_policy_info *info);
rlcore_status rlcore_policy_moments_read(
  /* in */ const rlcore_policy *p,
  /* out [len] */ double *mean,
  /* out [len] */ double *variance,
  size_t len);

/* ---- Learners that go on: another configuration, and what others have learned ---- */

typedef enum rlcore_adopt {
  RLCORE_ADOPT_PARAMS = 1,
  RLCORE_ADOPT_TARGETS = 2,
  RLCORE_ADOPT_OPTIMIZER = 4,
  RLCORE_ADOPT_MOMENTS = 8,
  RLCORE_ADOPT_COUNTERS = 16,
  RLCORE_ADOPT_STORE = 32,
  RLCORE_ADOPT_MATCHING = 64,
} rlcore_adopt;
rlcore_status rlcore_learner_configure(
  /* inout */ rlcore_learner *p,
  /* in */ const rlcore_learner_config *config);
rlcore_status rlcore_learner_adopt(
  /* inout */ rlcore_learner *p,
  /* in */ const rlcore_learner *other,
  uint32_t parts);
rlcore_status rlcore_learner_adopt_policy(
  /* inout */ rlcore_learner *p,
  /* in */ const rlcore_policy *other,
  uint32_t parts,
  double obs_count);

/* ---- Networks of your own: forward and backward ---- */

typedef struct rlcore_network {
  uint32_t struct_size;
  uint32_t num_layers;
  /* in [num_layers] */ const rlcore_layer *layers;
  uint32_t input[3];
  uint32_t num_parts;
  /* in [num_parts, 3] */ const uint32_t *parts;
} rlcore_network;
typedef struct rlcore_network_lengths {
  uint32_t struct_size;
  uint32_t reads_bytes;
  size_t params_len;
  size_t input_len;
  size_t output_len;
  size_t state_len;
  size_t tape_len;
  size_t scratch_len;
} rlcore_network_lengths;
typedef struct rlcore_network_pass {
  uint32_t struct_size;
  uint32_t num_rows;
  uint32_t num_steps;
  uint32_t input_type;
  /* in [params_len] */ const float *params;
  size_t params_len;
  /* in [M, input_len] */ const void *input;
  /* inout [M, state_len] optional */ float *state;
  /* in [M] optional */ const uint8_t *starts;
  /* out [tape_len] optional */ float *tape;
  size_t tape_len;
  /* out [scratch_len] */ float *scratch;
  size_t scratch_len;
} rlcore_network_pass;
rlcore_status rlcore_network_lengths_read(
  /* in */ const rlcore_network *network,
  uint32_t num_rows,
  uint32_t num_steps,
  /* inout */ rlcore_network_lengths *out);
rlcore_status rlcore_network_init(
  /* in */ const rlcore_network *network,
  /* inout */ rlcore_rng *rng,
  /* out [scratch_len] */ float *scratch,
  size_t scratch_len,
  /* out [params_len] */ float *params,
  size_t params_len);
rlcore_status rlcore_network_forward(
  /* in */ const rlcore_network *network,
  /* in */ const rlcore_network_pass *batch,
  /* out [out_len] */ float *out,
  size_t out_len);
rlcore_status rlcore_network_backward(
  /* in */ const rlcore_network *network,
  /* in */ const rlcore_network_pass *batch,
  /* in [d_out_len] */ const float *d_out,
  size_t d_out_len,
  /* inout [params_len] optional */ float *d_params,
  /* out [M, input_len] optional */ float *d_input);
rlcore_status rlcore_network_tensors(
  /* in */ const rlcore_network *network,
  /* out [capacity] optional */ rlcore_tensor *out,
  uint32_t capacity,
  /* out */ uint32_t *out_len);
rlcore_status rlcore_network_tensors_read(
  /* in */ const rlcore_network *network,
  /* in [params_len] */ const float *params,
  size_t params_len,
  /* out [values_len] */ float *values,
  size_t values_len);
rlcore_status rlcore_network_tensors_write(
  /* in */ const rlcore_network *network,
  /* in [num_tensors] */ const rlcore_tensor *tensors,
  uint32_t num_tensors,
  /* in [values_len] */ const float *values,
  size_t values_len,
  /* out [params_len] */ float *params,
  size_t params_len);

/* ---- ONNX: policies for other runtimes ---- */

typedef enum rlcore_onnx_names {
  RLCORE_ONNX_OWN = 0,
  RLCORE_ONNX_ML_AGENTS = 1,
} rlcore_onnx_names;
typedef struct rlcore_onnx_options {
  uint32_t struct_size;
  uint32_t names;
  uint32_t action_mask;
  uint32_t reserved;
} rlcore_onnx_options;
rlcore_status rlcore_policy_onnx_size(
  /* in */ const rlcore_policy *p,
  /* in optional */ const rlcore_onnx_options *options,
  /* out */ size_t *out_size);
rlcore_status rlcore_policy_onnx_write(
  /* in */ const rlcore_policy *p,
  /* in optional */ const rlcore_onnx_options *options,
  /* out [size] */ uint8_t *bytes,
  size_t size);

/* ---- C: policies without a library ---- */

rlcore_status rlcore_policy_c_size(
  /* in */ const rlcore_policy *p,
  /* in optional */ const char *prefix,
  /* out */ size_t *out_size);
rlcore_status rlcore_policy_c_write(
  /* in */ const rlcore_policy *p,
  /* in optional */ const char *prefix,
  /* out [size] */ uint8_t *bytes,
  size_t size);

/* ---- Batches: asynchronous steps by the host's threads or processes ---- */

typedef struct rlcore_batch rlcore_batch;
typedef struct rlcore_batch_config {
  uint32_t struct_size;
  uint32_t in_series;
} rlcore_batch_config;
typedef struct rlcore_batch_counts {
  uint32_t struct_size;
  uint32_t closed;
  uint32_t num_pending;
  uint32_t num_running;
  uint32_t num_done;
} rlcore_batch_counts;
rlcore_status rlcore_batch_config_init(
  /* out */ rlcore_batch_config *config,
  size_t config_size);
rlcore_status rlcore_batch_size(
  /* in */ const rlcore_env *env,
  /* in */ const rlcore_vecenv_config *vecenv_config,
  /* in */ const rlcore_batch_config *config,
  /* out */ size_t *out_size);
rlcore_status rlcore_batch_init(
  /* inout [mem_size] */ void *mem,
  size_t mem_size,
  /* in */ const rlcore_env *env,
  /* in */ const rlcore_vecenv_config *vecenv_config,
  /* in */ const rlcore_batch_config *config,
  /* out */ rlcore_batch **out);
rlcore_status rlcore_batch_attach(
  /* inout [mem_size] */ void *mem,
  size_t mem_size,
  /* out */ rlcore_batch **out);
rlcore_status rlcore_batch_step_async(
  /* inout */ rlcore_batch *b,
  /* inout */ rlcore_vecenv *v,
  /* in */ const rlcore_env *env,
  /* in */ const rlcore_rows *rows);
rlcore_status rlcore_batch_step_env_async(
  /* inout */ rlcore_batch *b,
  /* inout */ rlcore_vecenv *v,
  /* in */ const rlcore_env *env,
  uint32_t level,
  /* in */ const rlcore_rows *rows);
rlcore_status rlcore_batch_run(
  /* inout */ rlcore_batch *b,
  /* inout */ rlcore_vecenv *v,
  /* in */ const rlcore_env *env,
  uint32_t worker,
  uint32_t max_groups,
  /* out */ uint32_t *out_num_groups);
rlcore_status rlcore_batch_step_wait(
  /* inout */ rlcore_batch *b,
  /* in */ const rlcore_rows *rows);
rlcore_status rlcore_batch_recv(
  /* inout */ rlcore_batch *b,
  uint32_t num_rows,
  /* out [num_rows] */ uint32_t *index,
  /* in */ const rlcore_rows *rows);
rlcore_status rlcore_batch_send(
  /* inout */ rlcore_batch *b,
  /* inout */ rlcore_vecenv *v,
  /* in */ const rlcore_env *env,
  uint32_t num_rows,
  /* in [num_rows] */ const uint32_t *index,
  /* in */ const rlcore_rows *rows);
rlcore_status rlcore_batch_reset(
  /* inout */ rlcore_batch *b,
  /* inout */ rlcore_vecenv *v,
  /* in */ const rlcore_env *env,
  /* in optional */ const uint64_t *seed,
  /* out [N, obs.len] */ void *obs);
rlcore_status rlcore_batch_reset_with(
  /* inout */ rlcore_batch *b,
  /* inout */ rlcore_vecenv *v,
  /* in */ const rlcore_env *env,
  /* in */ const rlcore_reset *how,
  /* out [N, obs.len] */ void *obs);
rlcore_status rlcore_batch_reset_one(
  /* inout */ rlcore_batch *b,
  /* inout */ rlcore_vecenv *v,
  /* in */ const rlcore_env *env,
  uint32_t index,
  /* in optional */ const uint64_t *seed,
  /* out [N, obs.len] */ void *obs);
rlcore_status rlcore_batch_reset_one_with(
  /* inout */ rlcore_batch *b,
  /* inout */ rlcore_vecenv *v,
  /* in */ const rlcore_env *env,
  uint32_t index,
  /* in */ const rlcore_reset *how,
  /* out [N, obs.len] */ void *obs);
rlcore_status rlcore_batch_abandon(
  /* inout */ rlcore_batch *b,
  /* inout */ rlcore_vecenv *v,
  /* in */ const rlcore_env *env,
  uint32_t worker,
  /* out */ uint32_t *out_num_rows);
rlcore_status rlcore_batch_failed(
  /* in */ const rlcore_batch *b,
  /* out [N] */ uint8_t *failed);
rlcore_status rlcore_batch_count(
  /* in */ const rlcore_batch *b,
  /* inout */ rlcore_batch_counts *out);
rlcore_status rlcore_batch_close(
  /* inout */ rlcore_batch *b);

/* ---- Episodes: returns, lengths, monitor.csv ---- */

enum { RLCORE_MONITOR_MAX_INFO = 16 };
enum { RLCORE_MONITOR_ROW_SIZE = 512 };
typedef enum rlcore_episode_type {
  RLCORE_EPISODE_TRAIN = 0,
  RLCORE_EPISODE_TEST = 1,
} rlcore_episode_type;
typedef struct rlcore_monitor rlcore_monitor;
typedef struct rlcore_monitor_config {
  uint32_t struct_size;
  uint32_t num_envs;
  uint32_t keep;
  uint32_t capacity;
  uint32_t num_info;
  uint32_t reserved;
  double start;
} rlcore_monitor_config;
typedef double (*rlcore_clock_fn)(
  /* opaque */ void *user);
typedef struct rlcore_episode {
  uint64_t number;
  double seconds;
  double episode_return;
  uint32_t env;
  uint32_t len;
} rlcore_episode;
typedef struct rlcore_monitor_stats {
  uint32_t struct_size;
  uint32_t num_kept;
  uint64_t num_episodes;
  double return_mean;
  double len_mean;
} rlcore_monitor_stats;
rlcore_status rlcore_monitor_config_init(
  /* out */ rlcore_monitor_config *config,
  size_t config_size);
rlcore_status rlcore_monitor_size(
  /* in */ const rlcore_monitor_config *config,
  /* out */ size_t *out_size);
rlcore_status rlcore_monitor_init(
  /* inout [mem_size] */ void *mem,
  size_t mem_size,
  /* in */ const rlcore_monitor_config *config,
  /* out */ rlcore_monitor **out);
rlcore_status rlcore_monitor_attach(
  /* inout [mem_size] */ void *mem,
  size_t mem_size,
  /* out */ rlcore_monitor **out);
rlcore_status rlcore_monitor_attach_reader(
  /* in [mem_size] */ const void *mem,
  size_t mem_size,
  /* out */ const rlcore_monitor **out);
rlcore_status rlcore_monitor_reset(
  /* inout */ rlcore_monitor *m);
rlcore_status rlcore_monitor_reset_one(
  /* inout */ rlcore_monitor *m,
  uint32_t index);
rlcore_status rlcore_monitor_step(
  /* inout */ rlcore_monitor *m,
  /* in */ const rlcore_rows *rows,
  double seconds,
  /* in [N, num_info] optional */ const double *info);
rlcore_status rlcore_monitor_step_clock(
  /* inout */ rlcore_monitor *m,
  /* in */ const rlcore_rows *rows,
  rlcore_clock_fn clock,
  /* opaque */ void *user,
  /* in [N, num_info] optional */ const double *info);
rlcore_status rlcore_monitor_read(
  /* in */ const rlcore_monitor *m,
  /* inout */ uint64_t *next,
  /* out [len] */ rlcore_episode *episodes,
  /* out [len, num_info] optional */ double *info,
  uint32_t len,
  /* out */ uint32_t *out_count,
  /* out optional */ uint64_t *out_lost);
rlcore_status rlcore_monitor_means(
  /* in */ const rlcore_monitor *m,
  /* inout */ rlcore_monitor_stats *out);
rlcore_status rlcore_monitor_format_header(
  double t_start,
  /* in optional */ const char *env_id,
  /* in [num_keywords] */ const char *const *keywords,
  uint32_t num_keywords,
  /* out [text_size] optional */ char *text,
  size_t text_size,
  /* out */ size_t *out_len);
rlcore_status rlcore_monitor_format_row(
  /* in */ const rlcore_episode *episode,
  /* in [num_info] */ const double *info,
  uint32_t num_info,
  /* out [text_size] */ char *text,
  size_t text_size,
  /* out */ size_t *out_len);
rlcore_status rlcore_episode_type_of(
  uint64_t index,
  uint32_t num_train,
  uint32_t num_test,
  /* out */ uint32_t *out_type);

/* ---- Normalized observations and rewards of N environments ---- */

typedef struct rlcore_vec_normalize rlcore_vec_normalize;
typedef struct rlcore_vec_normalize_config {
  uint32_t struct_size;
  uint32_t num_envs;
  uint32_t obs_len;
  uint32_t normalize_obs;
  uint32_t normalize_reward;
  float clip_obs;
  float clip_reward;
  uint32_t reserved;
  double discount;
  double epsilon;
} rlcore_vec_normalize_config;
typedef struct rlcore_vec_normalize_stats {
  uint32_t struct_size;
  uint32_t frozen;
  double obs_count;
  double return_mean;
  double return_var;
  double return_count;
} rlcore_vec_normalize_stats;
rlcore_status rlcore_vec_normalize_config_init(
  /* out */ rlcore_vec_normalize_config *config,
  size_t config_size);
rlcore_status rlcore_vec_normalize_size(
  /* in */ const rlcore_vec_normalize_config *config,
  /* out */ size_t *out_size);
rlcore_status rlcore_vec_normalize_init(
  /* inout [mem_size] */ void *mem,
  size_t mem_size,
  /* in */ const rlcore_vec_normalize_config *config,
  /* out */ rlcore_vec_normalize **out);
rlcore_status rlcore_vec_normalize_attach(
  /* inout [mem_size] */ void *mem,
  size_t mem_size,
  /* out */ rlcore_vec_normalize **out);
rlcore_status rlcore_vec_normalize_reset(
  /* inout */ rlcore_vec_normalize *v,
  /* in [N, obs_len] */ const float *obs,
  /* out [N, obs_len] */ float *out_obs);
rlcore_status rlcore_vec_normalize_reset_one(
  /* inout */ rlcore_vec_normalize *v,
  uint32_t index,
  /* in [N, obs_len] */ const float *obs,
  /* out [N, obs_len] */ float *out_obs);
rlcore_status rlcore_vec_normalize_step(
  /* inout */ rlcore_vec_normalize *v,
  /* in */ const rlcore_rows *rows,
  /* in optional */ const rlcore_rows *out);
rlcore_status rlcore_vec_normalize_obs(
  /* in */ const rlcore_vec_normalize *v,
  uint32_t num_rows,
  /* in [num_rows, obs_len] */ const float *obs,
  /* out [num_rows, obs_len] */ float *out_obs);
rlcore_status rlcore_vec_normalize_freeze(
  /* inout */ rlcore_vec_normalize *v,
  uint32_t frozen);
rlcore_status rlcore_vec_normalize_merge(
  /* inout */ rlcore_vec_normalize *v,
  /* in */ const rlcore_vec_normalize *other);
rlcore_status rlcore_vec_normalize_statistics(
  /* in */ const rlcore_vec_normalize *v,
  /* out [obs_len] optional */ double *mean,
  /* out [obs_len] optional */ double *variance,
  /* inout */ rlcore_vec_normalize_stats *out);

/* ---- Frame memories: each frame stored once, stacked on reading ---- */

typedef enum rlcore_layout {
  RLCORE_LAYOUT_HWC = 0,
  RLCORE_LAYOUT_CHW = 1,
} rlcore_layout;
typedef struct rlcore_lazy_frames rlcore_lazy_frames;
typedef struct rlcore_lazy_frames_config {
  uint32_t struct_size;
  uint32_t num_envs;
  uint32_t num_frames;
  uint32_t height;
  uint32_t width;
  uint32_t channels;
  uint32_t num_stack;
} rlcore_lazy_frames_config;
typedef struct rlcore_frame_index {
  uint64_t number;
  uint32_t env;
  uint32_t reserved;
} rlcore_frame_index;
rlcore_status rlcore_lazy_frames_config_init(
  /* out */ rlcore_lazy_frames_config *config,
  size_t config_size);
rlcore_status rlcore_lazy_frames_size(
  /* in */ const rlcore_lazy_frames_config *config,
  /* out */ size_t *out_size);
rlcore_status rlcore_lazy_frames_bytes_per_transition(
  /* in */ const rlcore_lazy_frames_config *config,
  /* out */ uint64_t *out_bytes);
rlcore_status rlcore_lazy_frames_init(
  /* inout [mem_size] */ void *mem,
  size_t mem_size,
  /* in */ const rlcore_lazy_frames_config *config,
  /* out */ rlcore_lazy_frames **out);
rlcore_status rlcore_lazy_frames_attach(
  /* inout [mem_size] */ void *mem,
  size_t mem_size,
  /* out */ rlcore_lazy_frames **out);
rlcore_status rlcore_lazy_frames_attach_reader(
  /* in [mem_size] */ const void *mem,
  size_t mem_size,
  /* out */ const rlcore_lazy_frames **out);
rlcore_status rlcore_lazy_frames_push(
  /* inout */ rlcore_lazy_frames *l,
  uint32_t env,
  /* in [height, width, channels] */ const uint8_t *frame,
  uint32_t first,
  /* out optional */ uint64_t *out_number);
rlcore_status rlcore_lazy_frames_push_range(
  /* inout */ rlcore_lazy_frames *l,
  uint32_t begin,
  uint32_t end,
  /* in [N, height, width, channels] */ const uint8_t *frame,
  /* in [N] */ const uint8_t *first,
  /* in [N, height, width, channels] optional */ const uint8_t *final_frame,
  /* out [N] optional */ uint64_t *number);
rlcore_status rlcore_lazy_frames_held(
  /* in */ const rlcore_lazy_frames *l,
  uint32_t env,
  /* out */ uint64_t *out_begin,
  /* out */ uint64_t *out_end);
rlcore_status rlcore_lazy_frames_read(
  /* in */ const rlcore_lazy_frames *l,
  uint32_t env,
  uint64_t number,
  uint32_t num_frames,
  /* out [num_frames, height, width, channels] */ uint8_t *frames,
  /* out [num_frames] */ uint8_t *first);
rlcore_status rlcore_lazy_frames_frame(
  /* in */ const rlcore_lazy_frames *l,
  uint32_t env,
  uint64_t number,
  /* out */ const uint8_t **out_frame);
rlcore_status rlcore_lazy_frames_indices(
  /* in */ const rlcore_lazy_frames *l,
  uint32_t env,
  uint64_t number,
  /* out [num_stack] */ uint64_t *numbers);
rlcore_status rlcore_lazy_frames_stack(
  /* in */ const rlcore_lazy_frames *l,
  uint32_t env,
  uint64_t number,
  uint32_t layout,
  uint32_t kind,
  /* out [num_rows, num_stack * frame_len] */ void *out);
rlcore_status rlcore_lazy_frames_gather(
  /* in */ const rlcore_lazy_frames *l,
  /* in [num_rows] */ const rlcore_frame_index *index,
  uint32_t num_rows,
  uint32_t layout,
  uint32_t kind,
  /* out [num_rows, num_stack * frame_len] */ void *out);
rlcore_status rlcore_lazy_frames_gather_transitions(
  /* in */ const rlcore_lazy_frames *l,
  /* in [num_rows] */ const rlcore_frame_index *index,
  uint32_t num_rows,
  uint32_t layout,
  uint32_t kind,
  /* out [num_rows, num_stack * frame_len] */ void *obs,
  /* out [num_rows, num_stack * frame_len] */ void *next_obs);
rlcore_status rlcore_lazy_frames_newest(
  /* in [num_stack * frame_len] */ const uint8_t *stack,
  uint32_t num_stack,
  uint32_t channels,
  uint32_t layout,
  /* out [frame_len] */ uint8_t *frame,
  size_t frame_len);

/* ---- Columns of memories, rollouts and trajectories ---- */

typedef struct rlcore_column {
  char name[24];
  uint32_t kind;
  uint32_t len;
  uint32_t num_stack;
  uint32_t channels;
} rlcore_column;

/* ---- Replay memory: sequences of frames, balanced by reward ---- */

typedef enum rlcore_draw_rule {
  RLCORE_DRAW_FIXED = 0,
  RLCORE_DRAW_ORIGINAL = 1,
} rlcore_draw_rule;
typedef struct rlcore_memory rlcore_memory;
typedef struct rlcore_memory_config {
  uint32_t struct_size;
  uint32_t history_size;
  uint32_t max_sample_size;
  uint32_t priority_sample_size;
  float reward_threshold;
  uint32_t use_priority;
  uint32_t num_columns;
  uint32_t reserved;
  /* in [num_columns] */ const rlcore_column *columns;
} rlcore_memory_config;
typedef struct rlcore_frame {
  uint64_t episode;
  uint32_t step;
  float reward;
  uint8_t terminated;
  uint8_t truncated;
  uint8_t reserved[6];
} rlcore_frame;
typedef struct rlcore_draw {
  uint32_t struct_size;
  uint32_t size;
  uint32_t burn_in;
  uint32_t exact_size;
  uint32_t skewness;
  uint32_t attempts;
  uint32_t rule;
} rlcore_draw;
typedef struct rlcore_sample {
  uint64_t first;
  uint32_t len;
  uint32_t burn_in;
  uint32_t gap;
  uint32_t priority;
} rlcore_sample;
typedef struct rlcore_sequences {
  uint32_t struct_size;
  uint32_t num_samples;
  uint32_t len;
  uint32_t reserved;
  /* in [num_samples] */ const rlcore_sample *samples;
} rlcore_sequences;
rlcore_status rlcore_memory_config_init(
  /* out */ rlcore_memory_config *config,
  size_t config_size);
rlcore_status rlcore_memory_size(
  /* in */ const rlcore_memory_config *config,
  /* out */ size_t *out_size);
rlcore_status rlcore_memory_init(
  /* inout [mem_size] */ void *mem,
  size_t mem_size,
  /* in */ const rlcore_memory_config *config,
  /* out */ rlcore_memory **out);
rlcore_status rlcore_memory_attach(
  /* inout [mem_size] */ void *mem,
  size_t mem_size,
  /* out */ rlcore_memory **out);
rlcore_status rlcore_memory_attach_reader(
  /* in [mem_size] */ const void *mem,
  size_t mem_size,
  /* out */ const rlcore_memory **out);
rlcore_status rlcore_memory_add(
  /* inout */ rlcore_memory *m,
  /* in */ const rlcore_frame *frame,
  /* in [num_columns] */ const void *const *values,
  /* out optional */ uint64_t *out_number,
  /* out optional */ uint32_t *out_cuts);
rlcore_status rlcore_memory_add_rollout(
  /* inout */ rlcore_memory *m,
  /* in [num_frames] */ const rlcore_frame *frames,
  uint32_t num_frames,
  /* in [num_columns] */ const void *const *values,
  /* out optional */ uint64_t *out_number,
  /* out optional */ uint32_t *out_cuts);
rlcore_status rlcore_memory_held(
  /* in */ const rlcore_memory *m,
  /* out */ uint64_t *out_begin,
  /* out */ uint64_t *out_end);
rlcore_status rlcore_memory_pool_len(
  /* in */ const rlcore_memory *m,
  /* out */ uint32_t *out_ordinary,
  /* out */ uint32_t *out_priority);
rlcore_status rlcore_memory_pool_number(
  /* in */ const rlcore_memory *m,
  uint32_t priority,
  uint32_t i,
  /* out */ uint64_t *out_number);
rlcore_status rlcore_memory_sample_uniform(
  /* in */ const rlcore_memory *m,
  /* inout */ rlcore_rng *rng,
  /* in optional */ const rlcore_draw *draw,
  /* out [num_samples] */ rlcore_sample *samples,
  uint32_t num_samples);
rlcore_status rlcore_memory_sample_priority(
  /* in */ const rlcore_memory *m,
  /* inout */ rlcore_rng *rng,
  /* in optional */ const rlcore_draw *draw,
  /* out [num_samples] */ rlcore_sample *samples,
  uint32_t num_samples);
rlcore_status rlcore_memory_gather(
  /* in */ const rlcore_memory *m,
  /* in */ const rlcore_sequences *sequences,
  uint32_t column,
  uint32_t layout,
  uint32_t kind,
  /* out [num_samples, len, row_len] */ void *out);
rlcore_status rlcore_memory_gather_frames(
  /* in */ const rlcore_memory *m,
  /* in */ const rlcore_sequences *sequences,
  /* out [num_samples, len] optional */ float *reward,
  /* out [num_samples, len] optional */ uint8_t *terminated,
  /* out [num_samples, len] optional */ uint8_t *truncated,
  /* out [num_samples, len] optional */ uint8_t *valid);
rlcore_status rlcore_memory_store_rng(
  /* inout */ rlcore_memory *m,
  /* in */ const rlcore_rng *rng);
rlcore_status rlcore_memory_load_rng(
  /* in */ const rlcore_memory *m,
  /* out */ rlcore_rng *rng);

/* ---- Replay memory: transitions, sampled by priority ---- */

typedef enum rlcore_replay_normalize {
  RLCORE_REPLAY_NORMALIZE_MEMORY = 0,
  RLCORE_REPLAY_NORMALIZE_BATCH = 1,
  RLCORE_REPLAY_NORMALIZE_NONE = 2,
} rlcore_replay_normalize;
typedef struct rlcore_replay rlcore_replay;
typedef struct rlcore_replay_config {
  uint32_t struct_size;
  uint32_t num_envs;
  uint32_t num_rows;
  uint32_t num_columns;
  /* in [num_columns] */ const rlcore_column *columns;
  uint32_t observations;
  uint32_t num_steps;
  float discount;
  float alpha;
  float epsilon;
  uint32_t reserved;
} rlcore_replay_config;
typedef struct rlcore_replay_step {
  uint32_t struct_size;
  uint32_t env;
  float reward;
  uint32_t terminated;
  uint32_t truncated;
} rlcore_replay_step;
typedef struct rlcore_replay_stats {
  uint32_t struct_size;
  float alpha;
  uint64_t num_transitions;
  double total;
  float min_weight;
  float max_priority;
} rlcore_replay_stats;
typedef struct rlcore_replay_draw {
  uint32_t struct_size;
  float beta;
  uint32_t normalize;
  uint32_t independent;
} rlcore_replay_draw;
rlcore_status rlcore_replay_config_init(
  /* out */ rlcore_replay_config *config,
  size_t config_size);
rlcore_status rlcore_replay_size(
  /* in */ const rlcore_replay_config *config,
  /* out */ size_t *out_size);
rlcore_status rlcore_replay_init(
  /* inout [mem_size] */ void *mem,
  size_t mem_size,
  /* in */ const rlcore_replay_config *config,
  /* out */ rlcore_replay **out);
rlcore_status rlcore_replay_attach(
  /* inout [mem_size] */ void *mem,
  size_t mem_size,
  /* out */ rlcore_replay **out);
rlcore_status rlcore_replay_attach_reader(
  /* in [mem_size] */ const void *mem,
  size_t mem_size,
  /* out */ const rlcore_replay **out);
rlcore_status rlcore_replay_add(
  /* inout */ rlcore_replay *r,
  /* in */ const rlcore_replay_step *step,
  /* in [num_columns] */ const void *const *values,
  /* in [num_columns] optional */ const void *const *final_values,
  /* out optional */ uint64_t *out_number);
rlcore_status rlcore_replay_add_all(
  /* inout */ rlcore_replay *r,
  /* in [num_columns] */ const void *const *values,
  /* in [N] */ const float *reward,
  /* in [N] */ const uint8_t *terminated,
  /* in [N] */ const uint8_t *truncated,
  /* in [num_columns] optional */ const void *const *final_values);
rlcore_status rlcore_replay_cut(
  /* inout */ rlcore_replay *r,
  /* in [N] */ const uint8_t *gone);
rlcore_status rlcore_replay_get_stats(
  /* in */ const rlcore_replay *r,
  /* inout */ rlcore_replay_stats *out);
rlcore_status rlcore_replay_set_alpha(
  /* inout */ rlcore_replay *r,
  float alpha);
rlcore_status rlcore_replay_linear(
  float initial,
  float end,
  float progress,
  /* out */ float *out);
rlcore_status rlcore_replay_sample(
  /* in */ const rlcore_replay *r,
  /* inout */ rlcore_rng *rng,
  /* in */ const rlcore_replay_draw *draw,
  uint32_t num_rows,
  /* out [num_rows] */ rlcore_frame_index *index,
  /* out [num_rows] */ float *weight,
  /* out [num_rows] optional */ float *probability);
rlcore_status rlcore_replay_update(
  /* inout */ rlcore_replay *r,
  /* in [num_rows] */ const rlcore_frame_index *index,
  /* in [num_rows] */ const float *priority,
  uint32_t num_rows,
  /* out optional */ uint64_t *out_forgotten);
rlcore_status rlcore_replay_transitions(
  /* in */ const rlcore_replay *r,
  /* in [num_rows] */ const rlcore_frame_index *index,
  uint32_t num_rows,
  /* out [num_rows] */ float *reward,
  /* out [num_rows] */ float *discount,
  /* out [num_rows] */ uint8_t *terminated,
  /* out [num_rows] */ uint8_t *truncated);
rlcore_status rlcore_replay_gather(
  /* in */ const rlcore_replay *r,
  /* in [num_rows] */ const rlcore_frame_index *index,
  uint32_t num_rows,
  uint32_t column,
  uint32_t layout,
  uint32_t kind,
  /* out [num_rows, row_len] */ void *out);
rlcore_status rlcore_replay_gather_next(
  /* in */ const rlcore_replay *r,
  /* in [num_rows] */ const rlcore_frame_index *index,
  uint32_t num_rows,
  uint32_t column,
  uint32_t layout,
  uint32_t kind,
  /* out [num_rows, row_len] */ void *out);
rlcore_status rlcore_replay_store_rng(
  /* inout */ rlcore_replay *r,
  /* in */ const rlcore_rng *rng);
rlcore_status rlcore_replay_load_rng(
  /* in */ const rlcore_replay *r,
  /* out */ rlcore_rng *rng);

/* ---- Hindsight goal relabeling ---- */

typedef enum rlcore_relabel_strategy {
  RLCORE_RELABEL_FUTURE = 0,
  RLCORE_RELABEL_FINAL = 1,
  RLCORE_RELABEL_EPISODE = 2,
} rlcore_relabel_strategy;
typedef struct rlcore_relabel {
  uint32_t struct_size;
  uint32_t num_steps;
  uint32_t goal_len;
  uint32_t num_rows;
  /* in [R, G] */ const float *achieved;
  /* in [B] */ const uint32_t *row;
  /* in [B] */ const uint32_t *goal_row;
} rlcore_relabel;
typedef int32_t (*rlcore_goal_fn)(
  /* opaque */ void *user,
  /* in [goal_len] */ const float *achieved,
  /* in [goal_len] */ const float *goal,
  /* out */ float *reward,
  /* out */ uint8_t *terminated);
rlcore_status rlcore_relabel_draw(
  uint32_t strategy,
  /* in [len] */ const uint32_t *step,
  /* in [len] */ const uint32_t *num_steps,
  size_t len,
  /* inout */ rlcore_rng *rng,
  /* out [len] */ uint32_t *goal_step);
rlcore_status rlcore_relabel_goals(
  /* in */ const rlcore_relabel *steps,
  rlcore_goal_fn judge,
  /* opaque */ void *user,
  /* out [B, G] */ float *goal,
  /* out [B] */ float *reward,
  /* out [B] */ uint8_t *terminated);

/* ---- Advantages and returns ---- */

typedef enum rlcore_accumulate {
  RLCORE_ACCUMULATE_F32 = 0,
  RLCORE_ACCUMULATE_F64 = 1,
} rlcore_accumulate;
typedef struct rlcore_rollout {
  uint32_t struct_size;
  uint32_t num_steps;
  uint32_t num_envs;
  uint32_t accumulate;
  /* in [T, N] */ const float *reward;
  /* in [T, N] */ const float *value;
  /* in [N] */ const float *bootstrap_value;
  /* in [T, N] */ const uint8_t *terminated;
  /* in [T, N] */ const uint8_t *truncated;
  /* in [T, N] optional */ const float *final_value;
} rlcore_rollout;
rlcore_status rlcore_gae(
  /* in */ const rlcore_rollout *rollout,
  float discount,
  float gae_lambda,
  /* out [T, N] */ float *advantage,
  /* out [T, N] */ float *value_target);
rlcore_status rlcore_gae_range(
  /* in */ const rlcore_rollout *rollout,
  float discount,
  float gae_lambda,
  uint32_t begin,
  uint32_t end,
  /* out [T, N] */ float *advantage,
  /* out [T, N] */ float *value_target);
rlcore_status rlcore_discounted_sum(
  /* in [T, N] */ const float *x,
  uint32_t num_steps,
  uint32_t num_envs,
  float discount,
  /* out [T, N] */ float *out);

/* ---- Rows: copying, stacking and gathering ---- */

typedef struct rlcore_rows_out {
  uint32_t struct_size;
  uint32_t num_rows;
  /* out [num_columns] */ void *const *columns;
  /* out [num_rows, N] */ float *reward;
  /* out [num_rows, N] */ float *value;
  /* out [num_rows, N] optional */ float *log_prob;
  /* out [num_rows, N] optional */ float *final_value;
  /* out [num_rows, N] */ uint8_t *terminated;
  /* out [num_rows, N] */ uint8_t *truncated;
  /* out [num_rows, N, M] */ float *memory;
} rlcore_rows_out;
rlcore_status rlcore_rows_stack(
  /* in [num_parts] */ const void *const *parts,
  /* in [num_parts] */ const uint32_t *num_rows,
  uint32_t num_parts,
  uint32_t width,
  uint32_t kind,
  /* out [num_out_rows, width] */ void *out,
  uint32_t num_out_rows);
rlcore_status rlcore_rows_gather(
  /* in [num_rows, width] */ const void *x,
  uint32_t num_rows,
  uint32_t width,
  uint32_t kind,
  /* in [num_index] */ const int64_t *index,
  uint32_t num_index,
  /* out [num_index, width] */ void *out);
rlcore_status rlcore_rows_valid(
  /* in [num_parts] */ const uint32_t *time_steps,
  uint32_t num_parts,
  uint32_t size,
  /* out [num_parts, size] */ uint8_t *valid);
rlcore_status rlcore_finite_rows(
  uint32_t kind,
  /* in [num_rows, len] */ const void *x,
  uint32_t num_rows,
  uint32_t len,
  /* out [num_rows] */ uint8_t *ok,
  /* out */ uint32_t *out_num_bad);
rlcore_status rlcore_shift_rows(
  /* in [len, width] */ const float *x,
  uint32_t len,
  uint32_t width,
  /* out [len, len, width] */ float *out);

/* ---- Rollouts: T steps of N environments, in minibatches ---- */

typedef enum rlcore_metric {
  RLCORE_METRIC_EPISODE_LENGTH = 0,
  RLCORE_METRIC_EPISODE_RETURN = 1,
  RLCORE_METRIC_OWN = 2,
} rlcore_metric;
typedef struct rlcore_rollout_buffer rlcore_rollout_buffer;
typedef struct rlcore_rollout_buffer_config {
  uint32_t struct_size;
  uint32_t num_steps;
  uint32_t num_envs;
  uint32_t memory_len;
  uint32_t log_capacity;
  uint32_t num_columns;
  uint64_t seed;
  /* in [num_columns] */ const rlcore_column *columns;
  uint32_t accumulate;
  uint32_t reserved;
} rlcore_rollout_buffer_config;
typedef struct rlcore_rollout_step {
  uint32_t struct_size;
  uint32_t reserved;
  /* in [num_columns] optional */ const void *const *columns;
  /* in [N] */ const float *reward;
  /* in [N] optional */ const float *value;
  /* in [N] optional */ const float *log_prob;
  /* in [N] */ const uint8_t *terminated;
  /* in [N] */ const uint8_t *truncated;
  /* in [N] optional */ const float *final_value;
  /* in [N, M] optional */ const float *memory;
  /* in [N] optional */ const float *raw_reward;
} rlcore_rollout_step;
typedef struct rlcore_rollout_extras {
  uint32_t struct_size;
  uint32_t reserved;
  /* in [T, N] optional */ const float *log_prob;
  /* in [T, N] optional */ const float *advantage;
  /* in [T, N] optional */ const float *value_target;
  /* in [N] */ const uint8_t *first;
  /* in [T, N, M] optional */ const float *memory;
} rlcore_rollout_extras;
typedef struct rlcore_rollout_progress {
  uint32_t struct_size;
  uint32_t num_steps;
  uint64_t global_step;
  uint64_t num_ended;
  double len_mean;
  double return_mean;
  uint32_t finished;
  uint32_t reserved;
} rlcore_rollout_progress;
typedef struct rlcore_window {
  uint32_t first;
  uint32_t len;
  uint32_t pad;
  uint32_t timestep;
} rlcore_window;
typedef struct rlcore_minibatch {
  uint32_t struct_size;
  uint32_t reserved;
  /* out [num_columns] */ void *const *columns;
  /* out [rows, L] */ float *log_prob;
  /* out [rows, L] */ float *value;
  /* out [rows, L] */ float *advantage;
  /* out [rows, L] */ float *value_target;
  /* out [rows, L] */ float *reward;
  /* out [rows, L] */ float *mask;
  /* out [rows, M] */ float *memory;
  /* out [rows, L] optional */ int32_t *timestep;
} rlcore_minibatch;
typedef struct rlcore_metric_row {
  uint64_t global_step;
  double value;
  uint32_t env;
  uint32_t metric;
} rlcore_metric_row;
rlcore_status rlcore_rollout_buffer_config_init(
  /* out */ rlcore_rollout_buffer_config *config,
  size_t config_size);
rlcore_status rlcore_rollout_buffer_size(
  /* in */ const rlcore_rollout_buffer_config *config,
  /* out */ size_t *out_size);
rlcore_status rlcore_rollout_buffer_init(
  /* inout [mem_size] */ void *mem,
  size_t mem_size,
  /* in */ const rlcore_rollout_buffer_config *config,
  /* out */ rlcore_rollout_buffer **out);
rlcore_status rlcore_rollout_buffer_attach(
  /* inout [mem_size] */ void *mem,
  size_t mem_size,
  /* out */ rlcore_rollout_buffer **out);
rlcore_status rlcore_rollout_buffer_attach_reader(
  /* in [mem_size] */ const void *mem,
  size_t mem_size,
  /* out */ const rlcore_rollout_buffer **out);
rlcore_status rlcore_rollout_buffer_row(
  /* inout */ rlcore_rollout_buffer *b,
  uint32_t column,
  uint32_t step,
  /* out */ void **out_row);
rlcore_status rlcore_rollout_buffer_add(
  /* inout */ rlcore_rollout_buffer *b,
  /* in */ const rlcore_rollout_step *step);
rlcore_status rlcore_rollout_buffer_cut(
  /* inout */ rlcore_rollout_buffer *b,
  /* in [N] */ const uint8_t *gone);
rlcore_status rlcore_rollout_buffer_finish(
  /* inout */ rlcore_rollout_buffer *b,
  /* in [N] */ const float *bootstrap_value,
  /* in [N, len] optional */ const void *next_obs,
  float discount,
  float gae_lambda);
rlcore_status rlcore_rollout_buffer_reset(
  /* inout */ rlcore_rollout_buffer *b);
rlcore_status rlcore_rollout_buffer_view(
  /* in */ const rlcore_rollout_buffer *b,
  /* inout */ rlcore_rollout *out);
rlcore_status rlcore_rollout_buffer_extras(
  /* in */ const rlcore_rollout_buffer *b,
  /* inout */ rlcore_rollout_extras *out);
rlcore_status rlcore_rollout_buffer_column(
  /* in */ const rlcore_rollout_buffer *b,
  uint32_t column,
  /* out */ const void **out_column);
rlcore_status rlcore_rollout_buffer_progress(
  /* in */ const rlcore_rollout_buffer *b,
  /* inout */ rlcore_rollout_progress *out);
rlcore_status rlcore_rollout_buffer_read(
  /* in */ const rlcore_rollout_buffer *b,
  /* inout */ uint64_t *next,
  /* in */ const rlcore_rows_out *out,
  /* out */ uint32_t *out_count,
  /* out optional */ uint64_t *out_lost);
rlcore_status rlcore_rollout_buffer_draw(
  /* inout */ rlcore_rollout_buffer *b,
  uint32_t minibatch_size,
  uint32_t recurrence,
  /* out [index_len] */ uint32_t *index,
  uint32_t index_len);
rlcore_status rlcore_rollout_buffer_draw_windows(
  /* inout */ rlcore_rollout_buffer *b,
  uint32_t timesteps,
  double end_chance,
  /* out [num_windows] */ rlcore_window *windows,
  uint32_t num_windows);
rlcore_status rlcore_rollout_buffer_sample(
  /* inout */ rlcore_rollout_buffer *b,
  /* out */ uint32_t *out_step);
rlcore_status rlcore_rollout_buffer_gather(
  /* in */ const rlcore_rollout_buffer *b,
  /* in [num_rows] */ const uint32_t *index,
  uint32_t num_rows,
  uint32_t window_len,
  /* in */ const rlcore_minibatch *out);
rlcore_status rlcore_rollout_buffer_gather_windows(
  /* in */ const rlcore_rollout_buffer *b,
  /* in [num_windows] */ const rlcore_window *windows,
  uint32_t num_windows,
  uint32_t timesteps,
  int32_t pad_token,
  /* in */ const rlcore_minibatch *out);
rlcore_status rlcore_rollout_buffer_log(
  /* inout */ rlcore_rollout_buffer *b,
  uint32_t metric,
  double value);
rlcore_status rlcore_rollout_buffer_read_log(
  /* in */ const rlcore_rollout_buffer *b,
  /* inout */ uint64_t *next,
  /* out [len] */ rlcore_metric_row *rows,
  uint32_t len,
  /* out */ uint32_t *out_count,
  /* out optional */ uint64_t *out_lost);
rlcore_status rlcore_rollout_buffer_format_progress(
  /* in */ const rlcore_rollout_buffer *b,
  /* out [text_size] optional */ char *text,
  size_t text_size,
  /* out */ size_t *out_len);
rlcore_status rlcore_rollout_buffer_format_step(
  /* in */ const rlcore_rollout_buffer *b,
  uint32_t step,
  /* out [text_size] */ char *text,
  size_t text_size,
  /* out [text_size] */ size_t *out_len);

/* ---- Trajectories: one episode or a part of it ---- */

typedef enum rlcore_reward_class {
  RLCORE_REWARD_ZERO = 0,
  RLCORE_REWARD_POSITIVE = 1,
  RLCORE_REWARD_NEGATIVE = 2,
} rlcore_reward_class;
typedef struct rlcore_trajectory rlcore_trajectory;
typedef struct rlcore_trajectory_config {
  uint32_t struct_size;
  uint32_t capacity;
  uint32_t memory_len;
  uint32_t one_hot;
  uint32_t num_columns;
  uint32_t accumulate;
  /* in [num_columns] */ const rlcore_column *columns;
} rlcore_trajectory_config;
typedef struct rlcore_trajectory_frames {
  uint32_t struct_size;
  uint32_t num_frames;
  /* in [num_columns] */ const void *const *columns;
  /* in [num_frames] */ const float *reward;
  /* in [num_frames] optional */ const float *value;
  /* in [num_frames] */ const uint8_t *terminated;
  /* in [num_frames] */ const uint8_t *truncated;
  /* in [num_frames, M] optional */ const float *memory;
} rlcore_trajectory_frames;
typedef struct rlcore_trajectory_view {
  uint32_t struct_size;
  uint32_t num_frames;
  /* in [num_frames] */ const float *reward;
  /* in [num_frames] optional */ const float *value;
  /* in [num_frames] */ const uint8_t *terminated;
  /* in [num_frames] */ const uint8_t *truncated;
  /* in [num_frames, M] optional */ const float *memory;
} rlcore_trajectory_view;
typedef struct rlcore_trajectory_rows {
  uint32_t struct_size;
  uint32_t num_rows;
  uint32_t time_flat;
  uint32_t reserved;
  /* out [num_columns] */ void *const *columns;
  /* out [num_rows] */ float *returns;
  /* out [num_rows] */ float *advantage;
  /* out [1, M] */ float *memory;
  /* out */ uint32_t *time_steps;
  /* out [num_rows] */ uint8_t *valid;
} rlcore_trajectory_rows;
rlcore_status rlcore_trajectory_config_init(
  /* out */ rlcore_trajectory_config *config,
  size_t config_size);
rlcore_status rlcore_trajectory_size(
  /* in */ const rlcore_trajectory_config *config,
  /* out */ size_t *out_size);
rlcore_status rlcore_trajectory_init(
  /* inout [mem_size] */ void *mem,
  size_t mem_size,
  /* in */ const rlcore_trajectory_config *config,
  /* out */ rlcore_trajectory **out);
rlcore_status rlcore_trajectory_attach(
  /* inout [mem_size] */ void *mem,
  size_t mem_size,
  /* out */ rlcore_trajectory **out);
rlcore_status rlcore_trajectory_attach_reader(
  /* in [mem_size] */ const void *mem,
  size_t mem_size,
  /* out */ const rlcore_trajectory **out);
rlcore_status rlcore_trajectory_add(
  /* inout */ rlcore_trajectory *t,
  /* in */ const rlcore_trajectory_frames *frames);
rlcore_status rlcore_trajectory_pop(
  /* inout */ rlcore_trajectory *t);
rlcore_status rlcore_trajectory_reset(
  /* inout */ rlcore_trajectory *t);
rlcore_status rlcore_trajectory_held(
  /* in */ const rlcore_trajectory *t,
  /* inout */ rlcore_trajectory_view *out);
rlcore_status rlcore_trajectory_column(
  /* in */ const rlcore_trajectory *t,
  uint32_t column,
  /* out */ const void **out_column);
rlcore_status rlcore_trajectory_read(
  /* in */ const rlcore_trajectory *t,
  /* inout */ uint64_t *next,
  /* in */ const rlcore_rows_out *out,
  /* out */ uint32_t *out_count,
  /* out optional */ uint64_t *out_lost);
rlcore_status rlcore_trajectory_process(
  /* in */ const rlcore_trajectory *t,
  float discount,
  float gae_lambda,
  float bootstrap_value,
  /* in */ const rlcore_trajectory_rows *out);
rlcore_status rlcore_trajectory_process_rp(
  /* in */ const rlcore_trajectory *t,
  float reward_threshold,
  /* in */ const rlcore_trajectory_rows *out,
  /* out */ uint32_t *out_class);
rlcore_status rlcore_reward_class_of(
  float reward,
  float threshold,
  /* out */ uint32_t *out_class);

/* ---- Rollouts as safetensors files ---- */

enum { RLCORE_ROLLOUT_FILE_HEADER_SIZE = 4096 };
typedef enum rlcore_rollout_absent {
  RLCORE_ROLLOUT_NO_LOG_PROB = 1,
  RLCORE_ROLLOUT_NO_VALUE = 2,
} rlcore_rollout_absent;
typedef struct rlcore_rollout_file {
  uint32_t struct_size;
  uint32_t num_steps;
  uint32_t num_envs;
  uint32_t obs_kind;
  uint32_t obs_rank;
  uint32_t obs_dims[4];
  uint32_t action_kind;
  uint32_t action_len;
  uint32_t state_len;
  uint32_t num_finals;
  uint32_t absent;
  uint64_t seed;
  uint64_t policy_version;
  uint64_t global_step;
  uint64_t num_episodes;
  uint32_t metadata_len;
  uint32_t reserved;
} rlcore_rollout_file;
typedef struct rlcore_rollout_arrays {
  uint32_t struct_size;
  uint32_t reserved;
  /* out [T + 1, N, obs...] */ void *obs;
  /* out [T, N, action_len] */ void *action;
  /* out [T, N] */ float *log_prob;
  /* out [T, N] */ float *value;
  /* out [N] */ float *bootstrap_value;
  /* out [T, N] */ float *reward;
  /* out [T, N] */ uint8_t *terminated;
  /* out [T, N] */ uint8_t *truncated;
  /* out [T, N] */ uint8_t *valid;
  /* out [K] */ uint64_t *final_index;
  /* out [K, obs...] */ void *final_obs;
  /* out [K] */ float *final_value;
  /* out [N, M] */ float *state;
  /* out [metadata_len] */ uint8_t *metadata;
} rlcore_rollout_arrays;
rlcore_status rlcore_rollout_file_size(
  /* in */ const rlcore_rollout_file *file,
  /* out */ size_t *out_size);
rlcore_status rlcore_rollout_file_write(
  /* in */ const rlcore_rollout_file *file,
  /* in */ const rlcore_rollout_arrays *arrays,
  /* out [out_size] optional */ uint8_t *out,
  size_t out_size);
rlcore_status rlcore_rollout_file_check(
  /* in [size] */ const uint8_t *bytes,
  size_t size,
  /* inout */ rlcore_rollout_file *out);
rlcore_status rlcore_rollout_file_read(
  /* in [size] */ const uint8_t *bytes,
  size_t size,
  /* in */ const rlcore_rollout_arrays *arrays);

/* ---- Queues between actors and a learner ---- */

typedef struct rlcore_queue rlcore_queue;
typedef struct rlcore_queue_config {
  uint32_t struct_size;
  uint32_t capacity;
  uint32_t item_size;
  uint32_t reserved;
} rlcore_queue_config;
rlcore_status rlcore_queue_config_init(
  /* out */ rlcore_queue_config *config,
  size_t config_size);
rlcore_status rlcore_queue_size(
  /* in */ const rlcore_queue_config *config,
  /* out */ size_t *out_size);
rlcore_status rlcore_queue_init(
  /* inout [mem_size] */ void *mem,
  size_t mem_size,
  /* in */ const rlcore_queue_config *config,
  /* out */ rlcore_queue **out);
rlcore_status rlcore_queue_attach(
  /* inout [mem_size] */ void *mem,
  size_t mem_size,
  /* out */ rlcore_queue **out);
rlcore_status rlcore_queue_push(
  /* inout */ rlcore_queue *q,
  /* in [size] */ const void *item,
  size_t size);
rlcore_status rlcore_queue_pop(
  /* inout */ rlcore_queue *q,
  /* out [room] */ void *item,
  size_t room,
  /* out */ size_t *out_size);
rlcore_status rlcore_queue_len(
  /* in */ const rlcore_queue *q,
  /* out */ uint32_t *out_len);

/* ---- Advantages of rollouts with one done flag ---- */

typedef struct rlcore_shifted_rollout {
  uint32_t struct_size;
  uint32_t num_steps;
  uint32_t num_envs;
  uint32_t accumulate;
  /* in [T, N] */ const float *reward;
  /* in [T, N] */ const float *value;
  /* in [T, N] */ const float *done;
  /* in [N] */ const float *next_value;
  /* in [N] */ const float *next_done;
} rlcore_shifted_rollout;
rlcore_status rlcore_gae_shifted(
  /* in */ const rlcore_shifted_rollout *rollout,
  float discount,
  float gae_lambda,
  /* out [T, N] */ float *advantage,
  /* out [T, N] */ float *value_target);

/* ---- Transposes ---- */

rlcore_status rlcore_transpose(
  uint32_t kind,
  uint32_t rows,
  uint32_t columns,
  uint32_t len,
  /* in [rows, columns, len] */ const void *x,
  /* out [columns, rows, len] */ void *out);

/* ---- V-trace ---- */

typedef struct rlcore_vtrace {
  uint32_t struct_size;
  uint32_t num_steps;
  uint32_t num_envs;
  uint32_t accumulate;
  /* in [T, N] */ const float *log_rho;
  /* in [T, N] */ const float *discounts;
  /* in [T, N] */ const float *reward;
  /* in [T, N] */ const float *value;
  /* in [N] */ const float *bootstrap_value;
  /* in [T, N] optional */ const uint8_t *truncated;
  /* in [T, N] optional */ const float *final_value;
  float clip_rho;
  float clip_c;
  float clip_pg_rho;
  float td_lambda;
  float leak;
  uint32_t reserved;
} rlcore_vtrace;
typedef struct rlcore_vtrace_logits {
  uint32_t struct_size;
  uint32_t num_actions;
  /* in [T, N, A] */ const float *behavior_logits;
  /* in [T, N, A] */ const float *target_logits;
  /* in [T, N] */ const int32_t *action;
} rlcore_vtrace_logits;
typedef struct rlcore_vtrace_out {
  uint32_t struct_size;
  uint32_t reserved;
  /* out [T, N] */ float *vs;
  /* out [T, N] */ float *pg_advantage;
  /* out [T, N] */ float *log_rho;
  /* out [T, N] */ float *behavior_log_prob;
  /* out [T, N] */ float *target_log_prob;
} rlcore_vtrace_out;
rlcore_status rlcore_vtrace_init(
  /* out */ rlcore_vtrace *v,
  size_t v_size);
rlcore_status rlcore_vtrace_from_importance_weights(
  /* in */ const rlcore_vtrace *v,
  /* out [T, N] optional */ float *vs,
  /* out [T, N] optional */ float *pg_advantage);
rlcore_status rlcore_vtrace_from_importance_weights_range(
  /* in */ const rlcore_vtrace *v,
  uint32_t begin,
  uint32_t end,
  /* out [T, N] optional */ float *vs,
  /* out [T, N] optional */ float *pg_advantage);
rlcore_status rlcore_vtrace_from_logits(
  /* in */ const rlcore_vtrace *v,
  /* in */ const rlcore_vtrace_logits *logits,
  /* in */ const rlcore_vtrace_out *out);
rlcore_status rlcore_vtrace_from_logits_range(
  /* in */ const rlcore_vtrace *v,
  /* in */ const rlcore_vtrace_logits *logits,
  uint32_t begin,
  uint32_t end,
  /* in */ const rlcore_vtrace_out *out);

/* ---- Multi-step value targets ---- */

typedef struct rlcore_off_policy {
  uint32_t struct_size;
  float discount;
  float td_lambda;
  uint32_t reserved;
  /* in [T, N] */ const float *q;
  /* in [T, N] */ const float *log_rho;
} rlcore_off_policy;
rlcore_status rlcore_lambda_returns(
  /* in */ const rlcore_rollout *rollout,
  float discount,
  float td_lambda,
  /* out [T, N] */ float *value_target);
rlcore_status rlcore_lambda_returns_range(
  /* in */ const rlcore_rollout *rollout,
  float discount,
  float td_lambda,
  uint32_t begin,
  uint32_t end,
  /* out [T, N] */ float *value_target);
rlcore_status rlcore_td_lambda(
  /* in */ const rlcore_rollout *rollout,
  float discount,
  float td_lambda,
  /* out [T, N] */ float *td_error,
  /* out [T, N] */ float *value_target);
rlcore_status rlcore_td_lambda_range(
  /* in */ const rlcore_rollout *rollout,
  float discount,
  float td_lambda,
  uint32_t begin,
  uint32_t end,
  /* out [T, N] */ float *td_error,
  /* out [T, N] */ float *value_target);
rlcore_status rlcore_n_step_returns(
  /* in */ const rlcore_rollout *rollout,
  float discount,
  uint32_t n,
  /* out [T, N] */ float *value_target);
rlcore_status rlcore_n_step_returns_range(
  /* in */ const rlcore_rollout *rollout,
  float discount,
  uint32_t n,
  uint32_t begin,
  uint32_t end,
  /* out [T, N] */ float *value_target);
rlcore_status rlcore_upgo(
  /* in */ const rlcore_rollout *rollout,
  float discount,
  /* out [T, N] */ float *advantage,
  /* out [T, N] */ float *value_target);
rlcore_status rlcore_upgo_range(
  /* in */ const rlcore_rollout *rollout,
  float discount,
  uint32_t begin,
  uint32_t end,
  /* out [T, N] */ float *advantage,
  /* out [T, N] */ float *value_target);
rlcore_status rlcore_retrace(
  /* in */ const rlcore_rollout *rollout,
  /* in */ const rlcore_off_policy *off_policy,
  /* out [T, N] */ float *td_error,
  /* out [T, N] */ float *q_target);
rlcore_status rlcore_retrace_range(
  /* in */ const rlcore_rollout *rollout,
  /* in */ const rlcore_off_policy *off_policy,
  uint32_t begin,
  uint32_t end,
  /* out [T, N] */ float *td_error,
  /* out [T, N] */ float *q_target);

/* ---- Categorical policies ---- */

typedef struct rlcore_logits {
  uint32_t struct_size;
  uint32_t num_rows;
  uint32_t num_choices;
  uint32_t reserved;
  /* in [K] */ const uint32_t *n;
  /* in [B, L] */ const float *logits;
  /* in [B, L] optional */ const uint8_t *mask;
} rlcore_logits;
rlcore_status rlcore_categorical_log_softmax(
  /* in */ const rlcore_logits *batch,
  /* out [B, L] */ float *out);
rlcore_status rlcore_categorical_log_prob(
  /* in */ const rlcore_logits *batch,
  /* in [B, K] */ const int32_t *action,
  /* out [B] */ float *log_prob);
rlcore_status rlcore_categorical_entropy(
  /* in */ const rlcore_logits *batch,
  /* out [B] */ float *entropy);
rlcore_status rlcore_categorical_sample(
  /* in */ const rlcore_logits *batch,
  /* in */ const rlcore_sampling *sampling,
  /* in [B, K] optional */ const float *uniform,
  /* out [B, K] */ int32_t *action);

/* ---- Gaussian policies ---- */

typedef struct rlcore_gaussian {
  uint32_t struct_size;
  uint32_t num_rows;
  uint32_t action_len;
  uint32_t reserved;
  /* in [B, A] */ const float *mean;
  /* in [A] */ const float *log_std;
} rlcore_gaussian;
rlcore_status rlcore_gaussian_log_prob(
  /* in */ const rlcore_gaussian *batch,
  /* in [B, A] */ const float *action,
  /* out [B] */ float *log_prob);
rlcore_status rlcore_gaussian_entropy(
  /* in [action_len] */ const float *log_std,
  uint32_t action_len,
  /* out */ float *out);
rlcore_status rlcore_gaussian_sample(
  /* in */ const rlcore_gaussian *batch,
  /* in [B, A] */ const float *normal,
  /* out [B, A] */ float *action);
rlcore_status rlcore_gaussian_squash(
  /* in [len] */ const float *action,
  size_t len,
  /* out [len] */ float *squashed);
rlcore_status rlcore_gaussian_squash_log_prob(
  /* in [num_rows, action_len] */ const float *action,
  uint32_t num_rows,
  uint32_t action_len,
  /* inout [num_rows] */ float *log_prob);

/* ---- Losses of networks of your own ---- */

typedef struct rlcore_loss_batch {
  uint32_t struct_size;
  uint32_t num_rows;
  float clip;
  float value_clip;
  float value_coef;
  uint32_t reserved;
  /* in [B] */ const float *log_prob;
  /* in [B] optional */ const float *old_log_prob;
  /* in [B] */ const float *advantage;
  /* in [B] */ const float *value;
  /* in [B] optional */ const float *old_value;
  /* in [B] */ const float *value_target;
} rlcore_loss_batch;
typedef struct rlcore_losses {
  float policy_loss;
  float value_loss;
  float approx_kl;
  float clip_fraction;
} rlcore_losses;
typedef struct rlcore_pixel_control {
  uint32_t struct_size;
  uint32_t num_rows;
  uint32_t num_cells;
  uint32_t num_choices;
  /* in [B, C, A] */ const float *advantage;
  /* in [B, C] optional */ const float *value;
  /* in [B, C] */ const float *target;
  /* in [B] */ const int32_t *action;
} rlcore_pixel_control;
rlcore_status rlcore_actor_critic_loss(
  /* in */ const rlcore_loss_batch *batch,
  /* out [B] */ float *d_log_prob,
  /* out [B] */ float *d_value,
  /* out */ rlcore_losses *losses);
rlcore_status rlcore_ppo_loss(
  /* in */ const rlcore_loss_batch *batch,
  /* out [B] */ float *d_log_prob,
  /* out [B] */ float *d_value,
  /* out */ rlcore_losses *losses);
rlcore_status rlcore_value_loss(
  /* in [len] */ const float *value,
  /* in [len] */ const float *value_target,
  size_t len,
  /* out [len] */ float *d_value,
  /* out */ float *loss);
rlcore_status rlcore_reward_class_loss(
  /* in [num_rows, 3] */ const float *logits,
  /* in [num_rows] */ const int32_t *reward_class,
  uint32_t num_rows,
  /* out [num_rows, 3] */ float *d_logits,
  /* out */ float *loss);
rlcore_status rlcore_pixel_control_loss(
  /* in */ const rlcore_pixel_control *batch,
  /* out [B, C, A] */ float *d_advantage,
  /* out [B, C] optional */ float *d_value,
  /* out */ float *loss);
rlcore_status rlcore_categorical_gradient(
  /* in */ const rlcore_logits *batch,
  /* in [B, K] */ const int32_t *action,
  /* in [B] */ const float *d_log_prob,
  /* in [B] */ const float *d_entropy,
  /* out [B, L] */ float *d_logits);
rlcore_status rlcore_gaussian_gradient(
  /* in */ const rlcore_gaussian *batch,
  /* in [B, A] */ const float *action,
  /* in [B] */ const float *d_log_prob,
  /* in [B] */ const float *d_entropy,
  /* out [B, A] */ float *d_mean,
  /* out [A] */ float *d_log_std);

/* ---- Losses of autoencoders ---- */

typedef enum rlcore_reconstruction_kind {
  RLCORE_RECONSTRUCTION_SQUARED = 0,
  RLCORE_RECONSTRUCTION_BINARY = 1,
} rlcore_reconstruction_kind;
typedef struct rlcore_reconstruction {
  uint32_t struct_size;
  uint32_t kind;
  uint32_t num_rows;
  uint32_t row_len;
  uint32_t target_type;
  uint32_t reserved;
  /* in [B, row_len] */ const float *out;
  /* in [B, row_len] */ const void *target;
} rlcore_reconstruction;
typedef struct rlcore_latent {
  uint32_t struct_size;
  uint32_t num_rows;
  uint32_t len;
  float kl_coef;
  /* in [B, L] */ const float *mean;
  /* in [B, L] */ const float *log_std;
  /* in [B, L] */ const float *normal;
} rlcore_latent;
rlcore_status rlcore_reconstruction_loss(
  /* in */ const rlcore_reconstruction *batch,
  /* out [B, row_len] */ float *d_out,
  /* out */ float *loss);
rlcore_status rlcore_latent_sample(
  /* in */ const rlcore_latent *batch,
  /* out [B, L] */ float *z);
rlcore_status rlcore_latent_loss(
  /* in optional */ const rlcore_latent *batch,
  /* in [B, L] */ const float *d_z,
  /* out [B, L] */ float *d_mean,
  /* out [B, L] */ float *d_log_std,
  /* out */ float *kl);

/* ---- Initial weights and optimizers of networks of your own ---- */

typedef struct rlcore_weights {
  uint32_t struct_size;
  uint32_t initializer;
  float gain;
  uint32_t num_inputs;
  uint32_t num_outputs;
  uint32_t inputs_first;
} rlcore_weights;
typedef struct rlcore_optimizer_config {
  uint32_t struct_size;
  uint32_t optimizer;
  uint32_t maximize;
  float max_grad_norm;
  float beta1;
  float beta2;
  float epsilon;
  float rms_decay;
  float rms_momentum;
  uint32_t reserved;
} rlcore_optimizer_config;
typedef struct rlcore_optimizer_state {
  uint32_t struct_size;
  uint32_t num_params;
  /* inout [P] */ float *first;
  /* inout [P] */ float *second;
  /* inout */ uint64_t *num_steps;
} rlcore_optimizer_state;
rlcore_status rlcore_weights_scratch_len(
  /* in */ const rlcore_weights *weights,
  /* out */ size_t *out_len);
rlcore_status rlcore_weights_draw(
  /* in */ const rlcore_weights *weights,
  /* inout */ rlcore_rng *rng,
  /* out [scratch_len] optional */ float *scratch,
  size_t scratch_len,
  /* out [num_outputs, num_inputs] */ float *out);
rlcore_status rlcore_optimizer_config_init(
  /* out */ rlcore_optimizer_config *config,
  size_t config_size,
  uint32_t optimizer);
rlcore_status rlcore_optimizer_start(
  /* in */ const rlcore_optimizer_config *config,
  /* in */ const rlcore_optimizer_state *state);
rlcore_status rlcore_optimizer_step(
  /* in */ const rlcore_optimizer_config *config,
  float learning_rate,
  /* in */ const rlcore_optimizer_state *state,
  /* inout [num_params] */ float *params,
  /* in [num_params] */ const float *grads,
  /* out optional */ float *out_norm);
rlcore_status rlcore_clip_grad_norm(
  /* inout [len] */ float *grads,
  size_t len,
  float max_norm,
  /* out optional */ float *out_norm);
rlcore_status rlcore_schedule_linear(
  float initial,
  float end,
  uint64_t num_updates,
  uint64_t updates,
  /* out */ float *out);

/* ---- Means and variances ---- */

typedef struct rlcore_normalizer {
  uint32_t struct_size;
  uint32_t num_columns;
  /* in [num_columns] */ const double *mean;
  /* in [num_columns] */ const double *variance;
  double epsilon;
  float clip;
  uint32_t reserved;
} rlcore_normalizer;
rlcore_status rlcore_moments_reset(
  uint32_t num_columns,
  double initial_count,
  /* out [num_columns] */ double *mean,
  /* out [num_columns] */ double *variance,
  /* out */ double *count);
rlcore_status rlcore_moments_update(
  /* in [num_rows, num_columns] */ const float *x,
  uint32_t num_rows,
  uint32_t num_columns,
  /* inout [num_columns] */ double *mean,
  /* inout [num_columns] */ double *variance,
  /* inout */ double *count);
rlcore_status rlcore_moments_merge(
  uint32_t num_columns,
  /* in [num_columns] */ const double *with_mean,
  /* in [num_columns] */ const double *with_var,
  double with_count,
  /* inout [num_columns] */ double *mean,
  /* inout [num_columns] */ double *variance,
  /* inout */ double *count);
rlcore_status rlcore_normalize(
  /* in */ const rlcore_normalizer *normalizer,
  /* in [num_rows, num_columns] */ const float *x,
  uint32_t num_rows,
  /* out [num_rows, num_columns] */ float *out);
rlcore_status rlcore_standardize(
  /* inout [len] */ float *x,
  size_t len,
  double epsilon);
rlcore_status rlcore_explained_variance(
  /* in [len] */ const float *value,
  /* in [len] */ const float *target,
  size_t len,
  /* out */ double *out);

/* ---- Images ---- */

typedef struct rlcore_image_size {
  uint32_t height;
  uint32_t width;
  uint32_t channels;
} rlcore_image_size;
rlcore_status rlcore_image_gray(
  /* in [num_pixels, 3] */ const uint8_t *rgb,
  size_t num_pixels,
  /* out [num_pixels] */ uint8_t *out);
rlcore_status rlcore_image_scratch_len(
  /* in */ const rlcore_image_size *from_size,
  /* in */ const rlcore_image_size *to_size,
  /* out */ size_t *out_len);
rlcore_status rlcore_image_area(
  /* in */ const rlcore_image_size *from_size,
  /* in [height, width, channels] */ const uint8_t *src,
  /* in */ const rlcore_image_size *to_size,
  /* out [height, width, channels] */ uint8_t *out,
  /* out [scratch_len] optional */ float *scratch,
  size_t scratch_len);
rlcore_status rlcore_image_warp(
  /* in */ const rlcore_image_size *from_size,
  /* in [height, width, channels] */ const uint8_t *a,
  /* in [height, width, channels] */ const uint8_t *b,
  /* in */ const rlcore_image_size *to_size,
  /* out [height, width, channels] */ uint8_t *out,
  /* out [scratch_len] optional */ float *scratch,
  size_t scratch_len);
rlcore_status rlcore_image_rescale42(
  /* in [210, 160, 3] */ const uint8_t *rgb,
  /* out [42, 42] */ float *out);
rlcore_status rlcore_image_scale(
  /* in [len] */ const uint8_t *x,
  size_t len,
  /* out [len] */ float *out);
rlcore_status rlcore_image_channels_first(
  /* in */ const rlcore_image_size *size,
  /* in [height, width, channels] */ const uint8_t *x,
  /* out [channels, height, width] */ uint8_t *out);
rlcore_status rlcore_image_tile_shape(
  uint32_t num_images,
  /* out */ uint32_t *out_rows,
  /* out */ uint32_t *out_columns);
rlcore_status rlcore_image_tile(
  uint32_t num_images,
  /* in */ const rlcore_image_size *size,
  /* in [num_images, height, width, channels] */ const uint8_t *images,
  /* out [rows * height, columns * width, channels] */ uint8_t *out);
rlcore_status rlcore_image_text_size(
  /* in */ const rlcore_image_size *size,
  /* out */ size_t *out_size);
rlcore_status rlcore_image_text(
  /* in */ const rlcore_image_size *size,
  /* in [height, width, channels] */ const uint8_t *picture,
  /* out [rlcore_image_text_size()] */ uint8_t *out);
