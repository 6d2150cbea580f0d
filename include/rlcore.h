/* rlcore: the reinforcement-learning core that an engine links and hosts itself.

   Objects: every stateful object lives in a block, a piece of memory that you provide and own, 8-byte aligned. A block
     holds no pointers: copy its bytes and you have copied the object, write them to a file and you have saved it. There is
     nothing to free. Every object has the same lifecycle, here that of a monitor:
       rlcore_monitor_config config;    its configuration
       rlcore_monitor_config_init       fills in the defaults; then change what you like
       rlcore_monitor_size              returns the number of bytes that the block needs
       rlcore_monitor_init              creates the object in your memory; the handle is the address of that memory
       rlcore_monitor_step, ...         use it
       rlcore_monitor_attach            opens the bytes of a saved or copied object, in this process or another
     config_init writes sizeof config bytes, so that callers with an older, smaller structure are safe. attach only reads
     mem. It accepts blocks of 32-bit and 64-bit machines of the same byte order, and refuses any other.
     One object is no block: an rlcore_env, compiled from a definition with callbacks, belongs to its process and its place.
   Learners: act, observe and learn are the same calls for every algorithm; the configuration selects RLCORE_ALGORITHM_x:
       algorithm         actions                                     learns from                  networks
       PPO, A2C, IMPALA  discrete, continuous or structures of both  rollouts                     all layers
       UNREAL            as PPO                                      rollouts and earlier steps   all layers
       PQN               discrete, or structures of choices          rollouts                     all layers
       DQN               as PQN                                      stored transitions           all layers
       TD3               continuous, or structures of numbers        stored transitions           all layers without noise
       SAC               as PPO                                      stored transitions           all layers without noise
       STREAM_AC         as PPO                                      each step, not stored        dense layers
       STREAM_Q          as PQN                                      each step, not stored        layers without state
     PPO and IMPALA learn from earlier steps too where auxiliary tasks have weights.
     Observations are numbers, bytes, pictures, choices or structures of these. LSTM, GRU, minGRU and attention carry state
     from step to step.
   Arrays: dense, row-major, time-major. Each pointer's comment gives its shape; N = num_envs, T = num_steps. Flags are
     uint8_t: 0 is false, anything else is true. No output may overlap another array of the call. The library reads and
     writes arrays during the call only and keeps no pointer to them.
   Names: _size counts bytes, _len counts elements, num_ counts things; a range is [begin, end). Results are written
     through out or out_x, a single value unless a shape is given.
   Errors: a call that fails leaves outputs and blocks unchanged unless its comment says otherwise. rlcore_last_error()
     describes the failure. E_x stands for RLCORE_E_x. Comments list only the errors particular to a call; any call may
     also return:
       E_NULL      a required pointer is NULL
       E_ALIGN     a pointer is misaligned
       E_OVERFLOW  an array does not fit the address space
       E_OVERLAP   an output overlaps another array of the call
       E_IMAGE     a handle does not point to an object of its type
     and the lifecycle: config_init E_SIZE for a structure that is too small; size E_CONFIG; init E_CONFIG, and E_SIZE if
     mem_size is too small; attach and attach_reader E_SIZE if bytes are missing, and E_IMAGE for another kind of block,
     another version or byte order, or damaged bytes.
     A structure with struct_size may be shorter (an older header; the tail has its defaults) or longer (zeros).
   Threads: the library starts no threads and takes no locks. init and attach need exclusive access. Calls that take const
     objects may run concurrently. Other calls on one object may not, except _range calls on disjoint ranges and
     rlcore_batch_run.
   Numbers: results are bit-identical everywhere, provided that the floating-point environment is the default one: round to
     nearest, no trapping exceptions. If the host flushes subnormal numbers to zero (FTZ, DAZ), only results that are or
     come from such numbers differ. The library does not check the mode.
     Returns of episodes are sums of rewards in double, wherever a call reports, averages or stores them; a float that
     one is written to is the rounded sum.
     Inputs that are not finite return E_VALUE, and rlcore_last_error() names the row; rlcore_finite_rows finds all such
     rows. If finite inputs overflow, advantages, returns and other computed values become infinite with RLCORE_OK, or the
     NaN 0x7fc00000 where infinities cancel; no other NaN is ever written.
   Sharing: one process may write a block that others have mapped for reading: frames, memories, replays, rollouts,
     trajectories and monitors. A reader gets its handle from _attach_reader, which checks only what never changes, and
     makes the calls that take a const object. No call blocks. A call that copies checks afterwards whether the writer has
     overwritten or removed what it copied; if so, it returns E_RANGE and its outputs are undefined. It returns E_BUSY if
     the writer changes the object faster than it can be read. Drawn samples may be dropped before they are copied; the
     copy then returns E_RANGE. Appending invalidates only the oldest rows of a full ring. Memory that a call returns a
     pointer to is not checked. Readers need a 64-bit processor.
   Interrupted calls: a process can be killed within a call, while its block lies in a mapped file or in shared memory. Then
     the block is as it was before the call or as it is after the call, or attach refuses it with E_IMAGE. This holds for
     learners, policies, normalizers, memories, replays, rollouts, trajectories, frames, monitors and queues. To go on
     after a kill, keep two images in turn: examples-c/guides/saves-and-rollback.md. Environments (vecenv, batch) carry no
     such mark, since several threads step them at once: the rows that were being stepped may lie between two steps.

   Generated from the sources by `RLCORE_BLESS=1 cargo test --package rlcore-ffi --test header`. */
#ifndef RLCORE_H
#define RLCORE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Versions and results ---- */

#define RLCORE_VERSION_MAJOR 0   /* Major version of the library, as in its Cargo.toml. */
#define RLCORE_VERSION_MINOR 1   /* Minor version of the library. */
#define RLCORE_VERSION_PATCH 0   /* Patch version of the library. */
#define RLCORE_ABI_VERSION 0     /* Incremented when callers must be recompiled. */
#define RLCORE_IMAGE_VERSION 15  /* Incremented when a kind of saved block can no longer be attached. */

/* Result of every call: 0 is success, negative is failure. Values are never reused. */
typedef int32_t rlcore_status;
enum {
  RLCORE_OK = 0,               /* Success. */
  RLCORE_E_NULL = -1,          /* A required pointer is NULL. */
  RLCORE_E_SIZE = -2,          /* A buffer is too small. */
  RLCORE_E_ALIGN = -3,         /* A pointer is misaligned. */
  RLCORE_E_CONFIG = -4,        /* A configuration field has an invalid value. */
  RLCORE_E_SHAPE = -5,         /* An array has the wrong number of elements. */
  RLCORE_E_IMAGE = -6,         /* The bytes are not an object of this type, version and byte order, or are damaged. */
  RLCORE_E_RANGE = -7,         /* An index, a count or a discrete action is out of range. */
  RLCORE_E_CALLBACK = -8,      /* A callback reported failure. */
  RLCORE_E_OVERFLOW = -9,      /* A size does not fit the address space. */
  RLCORE_E_NOT_READY = -10,    /* The call is not due yet, or another call must come first. */
  RLCORE_E_VALUE = -11,        /* A number is NaN or infinite where a finite one is required. */
  RLCORE_E_OVERLAP = -12,      /* Two arrays that must not overlap do. */
  RLCORE_E_BUSY = -13,         /* An operation is still in progress, or there is no room yet. */
  RLCORE_E_NOT_PENDING = -14,  /* No operation is pending. */
  RLCORE_E_INEXACT = -15,      /* No attempt gave an exact result. */
  RLCORE_E_EMPTY = -16,        /* There is nothing to draw from. */
  RLCORE_E_DISABLED = -17,     /* The configuration disables this call. */
};

/* Name of a status, e.g. "RLCORE_E_SIZE". Static text, never NULL. */
const char *rlcore_status_name(int32_t status);

/* Meaning of a status in one sentence. Static text, never NULL. */
const char *rlcore_status_text(int32_t status);

/* Describes the most recent failure in this process, e.g. "RLCORE_E_SIZE: block: expected at least 4096 bytes, given
   100". Empty if no call has failed, or if the library was built without the feature `words`.
   text: [text_size] to write; always NUL-terminated, truncated if it does not fit (256 bytes always suffice).
   Diagnostic only: the failure may be another thread's, so act on statuses. After fork() the child starts with its
   parent's text and then keeps its own.
   Errors: E_SIZE if text_size is 0. Its own failures are not recorded. */
rlcore_status rlcore_last_error(char *text, size_t text_size);

/* Keeps a failure that a wrapper of this interface has found itself, for rlcore_last_error: its name, ": " and the text.
   status: a failure, an rlcore_status below 0.
   text:   [text_size] up to its first NUL, if it has one; cut where it does not fit.
   Errors: E_RANGE for a status that is no failure. */
rlcore_status rlcore_last_error_write(int32_t status, const char *text, size_t text_size);

/* Version of the linked library: major << 16 | minor << 8 | patch. */
uint32_t rlcore_version(void);

/* RLCORE_ABI_VERSION of the linked library. Compare it with the header's before any other call. */
uint32_t rlcore_abi_version(void);

/* RLCORE_IMAGE_VERSION of the linked library. */
uint32_t rlcore_image_version(void);

/* ---- CPU levels ---- */

/* CPU levels, each including those before it. The library selects the highest level that the processor supports. */
typedef enum rlcore_cpu_level {
  RLCORE_CPU_BASE = 0,    /* the instructions that the library was compiled for */
  RLCORE_CPU_AVX2 = 1,    /* x86-64 with AVX2 and FMA */
  RLCORE_CPU_AVX512 = 2,  /* x86-64 with AVX-512 F, BW, DQ and VL, and FMA */
} rlcore_cpu_level;

/* Limits the whole process to `level`, an rlcore_cpu_level, and those below it: for tests and measurements. Affects speed
   only, never results. Errors: E_RANGE. */
rlcore_status rlcore_cpu_set_limit(uint32_t level);

/* ---- Blocks as bytes ---- */

/* 64-bit FNV-1a hash, to identify or compare states. Not cryptographic.
   bytes: [size]; may be NULL if size is 0.
   out:   [1] the hash. */
rlcore_status rlcore_hash(const void *bytes, size_t size, uint64_t *out);

/* Seals a learner or a policy before it is saved: stores a checksum over all its bytes in the block. attach refuses a
   sealed block if any byte has changed. A seal detects accidental damage; it is not protection against attackers. The next
   call with a learner that is not const, even one that fails, removes its seal; an attached policy keeps its seal.
   Policies are exported sealed.
   
   Without a seal, attach of any block detects a damaged header or configuration, a truncated block, and values that no
   call leaves, such as a NaN parameter. It does not detect a number that changed to another valid number, and does not
   read columns of frames and steps.
   mem: 8-byte aligned, mem_size bytes, at least the size of the block.
   Errors: E_SIZE if bytes are missing; E_IMAGE for another kind of block, or damaged bytes. */
rlcore_status rlcore_block_seal(void *mem, size_t mem_size);

/* ---- Random streams ---- */

/* A random stream: PCG64, seeded as in numpy. Plain data: copying it copies the stream.
   Example:
     rlcore_rng rng;
     int64_t dice[5];
     rlcore_rng_seed(&rng, 42);
     rlcore_rng_integers(&rng, 1, 7, dice, 5); */
typedef struct rlcore_rng {
  uint64_t state[2];   /* 128-bit position, low word first */
  uint64_t stream[2];  /* 128-bit stream number, low word first */
  uint32_t half;       /* upper half of a 64-bit draw that the next 32-bit draw uses */
  uint32_t has_half;   /* 1 while half waits to be used */
} rlcore_rng;

/* Initializes the stream of numpy.random.Generator(PCG64(seed)). rng: [1] to write. */
rlcore_status rlcore_rng_seed(rlcore_rng *rng, uint64_t seed);

/* Initializes independent stream number `stream` of a seed: that of child `stream` of numpy's SeedSequence(seed).
   rng: [1] to write. */
rlcore_status rlcore_rng_stream(rlcore_rng *rng, uint64_t seed, uint64_t stream);

/* Fills out[len] with uniform draws from [low, high), as numpy's uniform.
   Errors, here and below: E_IMAGE for a stream that was never seeded. E_VALUE if low, high or high - low is not
   finite. */
rlcore_status rlcore_rng_uniform(rlcore_rng *rng, double low, double high, double *out, size_t len);

/* Fills out[len] with draws between low and high whose logarithms are uniform, for hyperparameters:
   exp((1 - x) ln(low + 1e-12) + x ln(high + 1e-12)) with x uniform in [0, 1), or low if low equals high. Each takes one
   uniform draw from rng.
   Errors: E_VALUE if low or high is negative or not finite. */
rlcore_status rlcore_rng_log_uniform(rlcore_rng *rng, double low, double high, double *out, size_t len);

/* Fills out[len] with uniform draws from [low, high), as numpy's integers. E_RANGE if high <= low. */
rlcore_status rlcore_rng_integers(rlcore_rng *rng, int64_t low, int64_t high, int64_t *out, size_t len);

/* Fills out[len] with standard normal draws by the Box-Muller method, which differs from numpy's: elements 2i and 2i+1
   come from 64-bit draw i. */
rlcore_status rlcore_rng_normal(rlcore_rng *rng, float *out, size_t len);

/* Fills out[len] with a random permutation of 0 to len - 1, as numpy's permutation. E_RANGE if len exceeds 32 bits. */
rlcore_status rlcore_rng_permutation(rlcore_rng *rng, uint32_t *out, size_t len);

/* ---- Spaces ---- */

/* Kind of the elements of observations and actions. */
typedef enum rlcore_element {
  RLCORE_F32 = 0,  /* float: continuous values */
  RLCORE_I32 = 1,  /* int32_t: discrete choices, counted from 0 */
  RLCORE_U8 = 2,   /* uint8_t: image bytes */
  /* uint8_t: bytes of a structure with fields of several kinds, for observations and for actions of learners. Calls
     that copy or store observations treat it as RLCORE_U8; learners read its fields, see rlcore_learner_size */
  RLCORE_STRUCT = 3,
} rlcore_element;

/* Flags of fields, to be combined with |. */
typedef enum rlcore_field_flag {
  /* an info of the host's: it travels with the observation through wrappers, rows, memories and trajectories, and
     networks do not read it unless a layer names it */
  RLCORE_FIELD_INFO = 1,
  /* a picture [channels, height, width], perhaps with a leading dimension of 1, as RLCORE_WRAP_CHANNELS_FIRST makes it:
     networks read it as [height, width, channels] */
  RLCORE_FIELD_CHANNELS_FIRST = 2,
} rlcore_field_flag;

/* The values that an observation or an action can take. The arrays are not owned; they are read during calls only. */
typedef struct rlcore_space {
  uint32_t kind;      /* an rlcore_element */
  uint32_t len;       /* elements of one observation or action, 1 to 2^24 */
  const float *low;   /* [len] lower bounds; of an action of RLCORE_STRUCT those of its floats only; NULL: unbounded */
  const float *high;  /* [len] upper bounds, likewise; NULL: unbounded */
  /* [len] number of choices of each element, required for RLCORE_I32; of RLCORE_STRUCT those of its elements of kind
     RLCORE_I32 only, required by learners; otherwise unused, and NULL for learners */
  const uint32_t *n;
} rlcore_space;

/* A named part of an observation, such as a dictionary entry, or the whole observation. */
typedef struct rlcore_field {
  char name[24];     /* NUL-terminated; "" if it is the whole observation */
  uint32_t kind;     /* an rlcore_element: the observation's, or any in an observation of bytes */
  uint32_t rank;     /* number of dimensions, 0 (a single number) to 4 */
  uint32_t dims[4];  /* lengths, outermost first; 0 or 1 beyond rank */
  uint32_t offset;   /* bytes from the start of the observation, a multiple of the element's size */
  uint32_t flags;    /* rlcore_field_flag */
} rlcore_field;

/* ---- Wrappers ---- */

/* Effect of a wrapper, followed by the fields of rlcore_wrapper that it reads; all other fields must be zero.
   No-op reset: after each reset of the inner environment, draws the number of no-ops from the environment's stream,
   uniform from 1 to noop_max; with noop_count it draws nothing. If an episode ends during the no-ops, it is reset and the
   remaining no-ops follow.
   Max and skip: if an episode ends during a skip, the result is the elementwise maximum of the last two observations so
   far, or the only one, and the sum of the rewards. The first observation of an episode is passed through.
   Frame stack: the first observation of an episode fills the whole stack. Inside episodic life, the stack carries over to
   the next life.
   Record: its fields are frame (with a leading dimension of 1), reward f32, done u8, episode_return f32, episode_step i32,
   last_action and real_done u8; rlcore_env_fields gives their offsets. Each end of an episode is reported once. With
   same-step autoreset, final_obs and the first record of the next episode both describe the step that ended the episode
   and differ only in frame. In the other modes, and after a reset with a seed, the first record of an episode is zeros.
   If the batch's max_episode_steps or a reset without a seed cuts an episode, the first record of the next one reports it
   with done; to have it reported in its own step, put a time limit in the list. */
typedef enum rlcore_wrap {
  RLCORE_WRAP_TIME_LIMIT = 1,       /* truncates episodes after this many steps of the inner environment: steps */
  RLCORE_WRAP_NOOP_RESET = 2,       /* starts episodes with random or noop_count no-ops: noop_max, noop_count, noop */
  RLCORE_WRAP_FIRE_RESET = 3,       /* starts episodes with two actions that start a game: fire, second */
  RLCORE_WRAP_EPISODIC_LIFE = 4,    /* ends the episode when a life is lost; the game continues in the next one: noop */
  RLCORE_WRAP_MAX_AND_SKIP = 5,     /* repeats actions, sums rewards, takes the maximum of the last two obs: count */
  RLCORE_WRAP_ACTION_REPEAT = 6,    /* repeats actions and sums rewards: count */
  RLCORE_WRAP_STICKY_ACTIONS = 7,   /* repeats the previous action with this probability: probability */
  RLCORE_WRAP_RESCALE_ACTION = 8,   /* maps actions from [low, high] to the bounds of the action space: low, high */
  RLCORE_WRAP_CLIP_ACTION = 9,      /* clips actions to the bounds of the action space */
  RLCORE_WRAP_CLIP_REWARD = 10,     /* replaces the reward by its sign */
  RLCORE_WRAP_SCALE_REWARD = 11,    /* multiplies the reward: factor */
  RLCORE_WRAP_WARP_FRAME = 12,      /* resizes images as OpenCV's INTER_AREA: height, width, gray, field */
  RLCORE_WRAP_ATARI_RESCALE = 13,   /* crops and resizes 210 by 160 RGB images to 42 by 42 floats in [0, 1] */
  RLCORE_WRAP_SCALED_FLOAT = 14,    /* converts bytes to floats in [0, 1] */
  RLCORE_WRAP_FRAME_STACK = 15,     /* stacks the last observations along the last axis, oldest first: count */
  RLCORE_WRAP_CHANNELS_FIRST = 16,  /* transposes [height, width, channels] to [channels, height, width] */
  RLCORE_WRAP_FLATTEN = 17,         /* concatenates all fields of the observation as one row: one_hot */
  RLCORE_WRAP_EXTRACT = 18,         /* keeps one field of the observation: field */
  RLCORE_WRAP_RECORD = 19,          /* adds reward, done and other data of the step as fields: see above */
  RLCORE_WRAP_OBSERVE = 20,         /* applies the caller's function to the observation: len, observe, user */
} rlcore_wrap;

/* Format to which an Atari screen is converted. */
typedef enum rlcore_atari_screen {
  RLCORE_ATARI_WHOLE = 0,   /* unchanged */
  RLCORE_ATARI_GRAY84 = 1,  /* 84 by 84 gray bytes */
  RLCORE_ATARI_MEAN42 = 2,  /* 42 by 42 floats in [0, 1] */
} rlcore_atari_screen;

/* Position of episodic life in the list. */
typedef enum rlcore_atari_order {
  RLCORE_ATARI_SEED = 0,     /* outermost: FIRE is not pressed after a lost life, and a stack carries over */
  RLCORE_ATARI_CLASSIC = 1,  /* around max and skip, as in OpenAI Baselines: each life starts like a game */
} rlcore_atari_order;

/* The usual wrappers for Atari games. The defaults are those of Baselines' make_atari and wrap_deepmind. For
   pytorch_seed_rl's EnvSpawner: clip_reward 0, stack 4, channels_first 1, record 1. For 42 by 42 agents: screen
   RLCORE_ATARI_MEAN42, all else 0. */
typedef struct rlcore_atari_config {
  uint32_t struct_size;     /* bytes; set by rlcore_atari_config_init */
  uint32_t noop_max;        /* maximum number of no-ops at the start of a game; 0: none; default 30 */
  uint32_t skip;            /* steps for each action; 0: no skipping; default 4 */
  uint32_t fire_reset;      /* 1: press actions 1 and 2 first, for games with FIRE; default 1 */
  uint32_t episodic_life;   /* 1: an episode for each life; default 1 */
  uint32_t order;           /* an rlcore_atari_order; default RLCORE_ATARI_SEED */
  uint32_t screen;          /* an rlcore_atari_screen; default RLCORE_ATARI_GRAY84 */
  uint32_t scale;           /* 1: floats in [0, 1]; default 0 */
  uint32_t clip_reward;     /* 1: the sign of the reward; default 1 */
  uint32_t stack;           /* observations in a stack; 0 (default): no stack */
  uint32_t channels_first;  /* 1: [channels, height, width]; default 0 */
  uint32_t record;          /* 1: add RLCORE_WRAP_RECORD; default 0 */
} rlcore_atari_config;

/* Computes an observation from another. row: the number of the environment within its block; obs: the output of the inner
   wrappers; out: [len] floats to write. Returns 0, or nonzero to stop with E_CALLBACK. May run on several threads at once.
   Exceptions and longjmp must not leave it. */
typedef int32_t (*rlcore_observe_fn)(void *user, uint32_t row, const void *obs, float *out);

/* One wrapper: a kind and its parameters, e.g. { .kind = RLCORE_WRAP_FRAME_STACK, .count = 4 }. Fields that the kind does
   not read must be zero. Zero selects the default where one is given. */
typedef struct rlcore_wrapper {
  uint32_t kind;        /* an rlcore_wrap */
  uint32_t count;       /* steps for each action, or observations in a stack; 0: 4 */
  uint32_t steps;       /* at least 1 */
  uint32_t noop_max;    /* maximum number of no-ops; 0: 30 */
  uint32_t noop_count;  /* exact number of no-ops; 0: random, up to noop_max */
  uint32_t noop;        /* the action that does nothing */
  uint32_t fire;        /* the action pressed first; 0: 1 */
  uint32_t second;      /* the action pressed second; 0: 2 */
  float probability;    /* 0 to 1 */
  float low;            /* maps to the lower bound; -1 if high is 0 too */
  float high;           /* maps to the upper bound; 1 if low is 0 too */
  float factor;         /* finite, not 0 */
  uint32_t height;      /* rows of the result; 0: 84 */
  uint32_t width;       /* columns of the result; 0: 84 */
  uint32_t gray;        /* 1: one luma channel; 0: the image's own channels */
  uint32_t len;         /* elements that observe writes */
  char field[24];       /* name of a field of the observation, NUL-terminated; "": the only one */
  /* 1: floats, and each RLCORE_I32 as many of them as it has choices, 1 for the one that it is and 0 for the others; obs.n
     must say how many. 0: bytes if all fields are bytes, else floats of the same values */
  uint32_t one_hot;
  uint32_t reserved[3];       /* zero */
  rlcore_observe_fn observe;  /* required for RLCORE_WRAP_OBSERVE */
  void *user;                 /* passed to observe, never read */
} rlcore_wrapper;

/* Fills in the defaults. Writes config_size bytes, so that callers with an older, smaller struct are safe.
   Errors: E_SIZE. */
rlcore_status rlcore_atari_config_init(rlcore_atari_config *config, size_t config_size);

/* Writes the usual wrappers for an Atari game whose observations are RLCORE_U8 screens [height, width, 3].
   out: [capacity], of which *out_len are written, at most 11; rlcore_env_def.wrappers may point to it.
   Errors: E_CONFIG; E_SIZE if capacity is too small. */
rlcore_status rlcore_wrappers_atari(const rlcore_atari_config *config, rlcore_wrapper *out, uint32_t capacity,
                                    uint32_t *out_len);

/* ---- Environments ---- */

/* Level in which an environment with levels restarts. */
typedef enum rlcore_level {
  RLCORE_LEVEL_NEW = 0,   /* a new one that it chooses */
  RLCORE_LEVEL_SAME = 1,  /* the one that just ended */
} rlcore_level;

/* A compiled environment, for any number of blocks and threads: calls only read it.
   It holds callbacks and pointers of this process and knows where it lies: it is never saved, copied or moved, and is part
   of no block. A program that loads a block makes its environment anew.
   Example:
     rlcore_env_size(&def, &size);
     rlcore_env_init(mem, size, &def, &env);
     rlcore_env_spaces(env, &obs, &action); */
typedef struct rlcore_env rlcore_env;

/* Starts an episode: changes state, draws from rng, writes obs.
   For all callbacks: row is the number of the environment within its block. The arguments are valid during the call only.
   Return 0, or nonzero to stop the call with E_CALLBACK.
   They may run on several threads at once, but never for the same environment. They may call the library,
   but not with the block that is calling them: its contents may be lost, nothing else is affected.
   Exceptions and longjmp must not leave a callback. Catch them and return nonzero: that environment has failed and must be
   reset; the others are unaffected. */
typedef int32_t (*rlcore_env_reset_fn)(void *user, uint32_t row, void *state, rlcore_rng *rng, void *obs);

/* Result of a step besides the observation. All zero when the callback is entered. */
typedef struct rlcore_step {
  float reward;         /* finite */
  uint8_t terminated;   /* nonzero: the task reached a terminal state */
  uint8_t truncated;    /* nonzero: the environment itself cut the episode; rlcore_vecenv applies time limits */
  uint8_t reserved[2];  /* zero */
} rlcore_step;

/* Takes one step. action: [action.len]; obs: [obs.len] to write. */
typedef int32_t (*rlcore_env_step_fn)(void *user, uint32_t row, void *state, rlcore_rng *rng, const void *action,
                                      void *obs, rlcore_step *out);

/* Draws the environment. rgb: [height, width, 3], rows from the top. */
typedef int32_t (*rlcore_env_render_fn)(void *user, uint32_t row, const void *state, uint32_t width, uint32_t height,
                                        uint8_t *rgb);

/* Returns the number of lives left. */
typedef int32_t (*rlcore_env_lives_fn)(void *user, uint32_t row, const void *state, uint32_t *out_lives);

/* Writes 1 for each choice that is allowed now, else 0. mask: [sum of action.n]. */
typedef int32_t (*rlcore_env_action_mask_fn)(void *user, uint32_t row, const void *state, uint8_t *mask);

/* Starts the next episode of an environment that was reset before, in the given level. level: an rlcore_level. */
typedef int32_t (*rlcore_env_restart_fn)(void *user, uint32_t row, void *state, rlcore_rng *rng, uint32_t level,
                                         void *obs);

/* Starts an episode with options of the host's: called in place of reset and restart where rlcore_vecenv_reset_with and
   the like pass options, also through wrappers. options: [options_size] bytes as passed, the same for every row. */
typedef int32_t (*rlcore_env_reset_with_fn)(void *user, uint32_t row, void *state, rlcore_rng *rng, const void *options,
                                            size_t options_size, void *obs);

/* An environment: its properties and functions, which rlcore_env_init compiles. It and all that it points to may be
   changed or freed afterwards, except the data behind user, here and in wrappers.
   For a built-in environment with wrappers or functions of the host's, set env_id, an rlcore_env_id, and any of
   max_episode_steps, user, render, lives, action_mask, fields and wrappers. All else is zero. */
typedef struct rlcore_env_def {
  uint32_t struct_size;  /* sizeof(rlcore_env_def) */
  uint32_t env_id;       /* the caller's number for this kind, 0 or at least 1000; stored in blocks. Or an rlcore_env_id */
  uint32_t state_size;   /* bytes of one environment, a multiple of 8; zeroed at init; no pointers */
  /* episodes are truncated after this many steps; 0: never, or the limit that one of the library's own has;
     UINT32_MAX: never; kept in blocks */
  uint32_t max_episode_steps;
  rlcore_space obs;                       /* RLCORE_F32, RLCORE_I32, RLCORE_U8 (images) or RLCORE_STRUCT (several kinds) */
  rlcore_space action;                    /* RLCORE_I32 or RLCORE_F32 */
  void *user;                             /* passed to every callback, never read */
  rlcore_env_reset_fn reset;              /* required */
  rlcore_env_step_fn step;                /* required */
  rlcore_env_render_fn render;            /* NULL: a black image, or that of one of the library's own */
  rlcore_env_lives_fn lives;              /* NULL: 0 lives */
  rlcore_env_action_mask_fn action_mask;  /* NULL: everything is allowed */
  rlcore_env_restart_fn restart;          /* NULL: episodes start with reset; there are no levels */
  const rlcore_field *fields;             /* [num_fields] fields of the observation, in order, must not overlap */
  uint32_t num_fields;                    /* 0 to 8 */
  uint32_t num_wrappers;                  /* 0 to 16 */
  /* [num_wrappers] innermost first; stored in blocks and compared. obs and action above are those of the unwrapped
     environment; rlcore_env_spaces returns those that calls then use */
  const rlcore_wrapper *wrappers;
  rlcore_env_reset_with_fn reset_with;  /* NULL: resets take no options */
} rlcore_env_def;

/* Size in bytes of the memory for a compiled environment.
   Errors: E_CONFIG for anything that is wrong with the definition. */
rlcore_status rlcore_env_size(const rlcore_env_def *definition, size_t *out_size);

/* Compiles a definition: checks it, puts its wrappers together and copies all that it points to. mem: aligned to 8 bytes.
   Errors: E_CONFIG; E_SIZE if mem_size is too small. */
rlcore_status rlcore_env_init(void *mem, size_t mem_size, const rlcore_env_def *definition, rlcore_env **out);

/* ---- Built-in environments ---- */

/* Built-in environments. Each probe has one observation element and exposes one kind of bug in a learner. V(o) is the
   optimal value of observation o, d the discount:
     1  observes 0; 1 action; one step, reward 1: V = 1.
     2  observes 1 or -1; 1 action; one step, the reward is the observation: V(o) = o.
     3  observes 0, then 1; 1 action; two steps, the second has reward 1: V(0) = d, V(1) = 1.
     4  observes 0; 2 actions; one step, reward 1 for action 1, -1 for action 0: V = 1.
     5  observes 0 or 1; 2 actions; one step, reward 1 if the action equals the observation, else -1: V = 1.
     6  observes the step count; 2 actions; ten steps, the last has reward 1 for any action: V(o) = d^(9-o).
     6 odd even  observes the step count; 2 actions; ten steps, each has reward 1 if its action equals the observation
        modulo 2: V(o) = 1 + d + ... + d^(9-o).
     7  observes 0 or 1, then 0; 5 actions; four steps, the last has reward 1 if its action equals the first observation:
        V = d^3 at first, half of that without memory.
     truncation  observes 1, then 0; 1 action; every step but the first has reward 1, the fifth is truncated:
        V(0) = 1 / (1 - d) and V(1) = d V(0) if truncated steps bootstrap from final_obs.
     memory  observes 1 or -1, then 0; 2 actions; nine steps, the last has the first observation as its reward for action
        1, its negative for action 0: V = d^8 at first, 0 without memory. */
typedef enum rlcore_env_id {
  RLCORE_ENV_CARTPOLE = 1,                 /* CartPole-v1 */
  RLCORE_ENV_MOUNTAIN_CAR = 2,             /* MountainCar-v0 */
  RLCORE_ENV_MOUNTAIN_CAR_CONTINUOUS = 3,  /* MountainCarContinuous-v0 */
  RLCORE_ENV_ACROBOT = 4,                  /* Acrobot-v1 */
  RLCORE_ENV_PENDULUM = 5,                 /* Pendulum-v1 */
  RLCORE_ENV_BREAKOUT = 6,                 /* MinAtar's Breakout: bytes [10, 10, 4] of paddle, ball, trail and bricks */
  RLCORE_ENV_CARTPOLE_NO_VEL = 7,          /* CartPole-v1 that observes cart position and pole angle only */
  RLCORE_ENV_PENDULUM_NO_VEL = 8,          /* Pendulum-v1 that observes cosine and sine only */
  RLCORE_ENV_REPEAT_PREVIOUS = 9,          /* POPGym's RepeatPreviousEasy: name the suit seen three steps before */
  RLCORE_ENV_CATCH = 10,                   /* bsuite's Catch: bytes [10, 5, 1] of ball and paddle */
  RLCORE_ENV_ASTERIX = 11,                 /* MinAtar's Asterix: bytes [10, 10, 4] of player, enemies, trails and gold */
  RLCORE_ENV_FREEWAY = 12,                 /* MinAtar's Freeway: bytes [10, 10, 7] of chicken, cars and their trails */
  RLCORE_ENV_SPACE_INVADERS = 13,          /* MinAtar's Space Invaders: bytes [10, 10, 6] of cannon, aliens and bullets */
  RLCORE_ENV_MAZE = 14,                    /* a maze of 7 x 7 cells, 20 steps long: bytes [42, 42, 1] of walls and agent */
  RLCORE_ENV_MAZE_RGB = 15,                /* the same maze: bytes [84, 84, 3] */
  RLCORE_ENV_BIT_FLIP = 16,                /* ten bits to flip until they are the ten of a goal beside them */
  RLCORE_ENV_POINT_REACH = 17,             /* a point to move in a square until it is within 0.1 of a goal beside it */
  RLCORE_ENV_PROBE1 = 101,                 /* constant reward: value */
  RLCORE_ENV_PROBE2 = 102,                 /* reward equal to the observation: backpropagation */
  RLCORE_ENV_PROBE3 = 103,                 /* reward one step later: discount */
  RLCORE_ENV_PROBE4 = 104,                 /* reward depends on the action: advantage */
  RLCORE_ENV_PROBE5 = 105,                 /* reward depends on observation and action */
  RLCORE_ENV_PROBE6 = 106,                 /* reward ten steps later */
  RLCORE_ENV_PROBE7 = 107,                 /* first observation must be remembered for three steps */
  RLCORE_ENV_PROBE6_ODD_EVEN = 108,        /* probe 6 with a correct action in each step */
  RLCORE_ENV_PROBE_TRUNCATION = 109,       /* episodes that are only ever truncated */
  RLCORE_ENV_PROBE_MEMORY = 110,           /* first observation must be remembered for eight steps */
} rlcore_env_id;

/* Compiles a built-in environment as it is. With wrappers or with functions of the host's, one is compiled by
   rlcore_env_init.
   mem:    as of rlcore_env_init; 1024 bytes are enough.
   env_id: an rlcore_env_id.
   Errors: E_SIZE if mem_size is too small; E_RANGE for another env_id. */
rlcore_status rlcore_env_builtin(void *mem, size_t mem_size, uint32_t env_id, rlcore_env **out);

/* ---- Rows: the arrays that go round the loop ---- */

/* The host's arrays of N rows, one row for each environment or agent. The same structure goes through the loop; each
   call reads and writes the arrays that its comment names and neither looks at the others nor checks them. An array
   that no call of the program reads or writes is NULL. Calls on ranges take the arrays of all N rows.
   Example:
     rlcore_learner_act(agent, &rows);                 // obs -> action
     rlcore_vecenv_step(envs, env, &rows);             // action -> obs, reward and ends
     rlcore_learner_observe(agent, &rows);             // reward and ends
     rlcore_learner_learn(agent, &rows, 0, &stats);    // obs */
typedef struct rlcore_rows {
  uint32_t struct_size;        /* sizeof(rlcore_rows) */
  uint32_t reserved;           /* zero */
  const uint8_t *active;       /* [N] 0: the row is absent, and nothing of it is read or written; NULL: all are there */
  void *obs;                   /* [N, obs.len] the observation to act on next */
  uint8_t *action_mask;        /* [N, sum of action.n] 1 for each choice allowed in obs, else 0; NULL: all are allowed */
  void *action;                /* [N, action.len] */
  float *reward;               /* [N] of the action */
  uint8_t *terminated;         /* [N] 1 where the task reached a terminal state */
  uint8_t *truncated;          /* [N] 1 where the environment or the time limit cut the episode */
  uint8_t *valid;              /* [N] 0 where the row was only reset, else 1 */
  void *final_obs;             /* [N, obs.len] the last observation of the episode, in rows that ended */
  uint8_t *final_action_mask;  /* [N, sum of action.n] choices allowed in final_obs, in rows that ended */
  const float *duration;       /* [N] how long the action lasted, at least 0, in any unit; only with use_duration */
} rlcore_rows;

/* ---- N environments of one kind ---- */

/* When an environment whose episode ended starts the next one. */
typedef enum rlcore_autoreset {
  RLCORE_AUTORESET_SAME_STEP = 0,  /* in the same step: obs starts the new episode, final_obs ends the old one */
  RLCORE_AUTORESET_NEXT_STEP = 1,  /* in the next step, which ignores the action and has valid 0 */
  RLCORE_AUTORESET_DISABLED = 2,   /* only by rlcore_vecenv_reset and rlcore_vecenv_reset_one */
  RLCORE_AUTORESET_LEGACY = 3,     /* in the next step, which then also takes the action */
} rlcore_autoreset;

/* N environments, stepped together.
   Example:
     rlcore_vecenv_config_init(&config, sizeof config);
     config.num_envs = N;
     rlcore_vecenv_size(env, &config, &size);
     rlcore_vecenv_init(mem, size, env, &config, &v);
     rlcore_vecenv_reset(v, env, NULL, rows.obs);
     while (running) rlcore_vecenv_step(v, env, &rows);    // with rows.action chosen for rows.obs */
typedef struct rlcore_vecenv rlcore_vecenv;

/* Configuration of N environments. */
typedef struct rlcore_vecenv_config {
  uint32_t struct_size;  /* bytes; set by rlcore_vecenv_config_init */
  uint32_t num_envs;     /* N, at least 1; default 1 */
  uint64_t seed;         /* environment i draws from the stream of seed + i, modulo 2^64; default 0 */
  uint32_t autoreset;    /* an rlcore_autoreset; default same step */
  /* 0 (default): the environment's own limit, counted in its own steps even if wrappers repeat actions; otherwise
     replaces that limit and counts steps of this batch, whatever the wrappers; UINT32_MAX: never */
  uint32_t max_episode_steps;
} rlcore_vecenv_config;

/* What a reset begins with.
   Example:
     const rlcore_reset how = {.struct_size = sizeof how, .options = &level, .options_size = sizeof level};
     rlcore_vecenv_reset_with(v, env, &how, rows.obs); */
typedef struct rlcore_reset {
  uint32_t struct_size;  /* sizeof(rlcore_reset) */
  uint32_t reserved;     /* zero */
  const uint64_t *seed;  /* [1] as in the same call without options; NULL: the random streams continue */
  const void *options;   /* [options_size] bytes that the reset_with of the environment understands; NULL: none */
  size_t options_size;   /* bytes of options; 0 if there are none */
} rlcore_reset;

/* Fills in the defaults. */
rlcore_status rlcore_vecenv_config_init(rlcore_vecenv_config *config, size_t config_size);

/* Size of the block for this environment and configuration, in bytes. */
rlcore_status rlcore_vecenv_size(const rlcore_env *env, const rlcore_vecenv_config *config, size_t *out_size);

/* Creates N environments in mem. Each must be reset before it is stepped. */
rlcore_status rlcore_vecenv_init(void *mem, size_t mem_size, const rlcore_env *env, const rlcore_vecenv_config *config,
                                 rlcore_vecenv **out);

/* Opens the bytes of a saved or copied block. Callbacks are not saved; env supplies them.
   Errors: E_SIZE if bytes are missing; E_IMAGE for another kind of block, version or byte order, or damaged bytes;
   E_CONFIG for another environment. */
rlcore_status rlcore_vecenv_attach(void *mem, size_t mem_size, const rlcore_env *env, rlcore_vecenv **out);

/* Starts an episode in every environment, in a new level if there are levels.
   seed: environment i is seeded with *seed + i, modulo 2^64; NULL: the random streams continue.
   obs:  [N, obs.len] to write.
   Errors: E_CONFIG, before anything changes. E_CALLBACK, or E_VALUE for an observation that is not finite: earlier
   environments are reset, the failed one must be reset again, later ones are unchanged. rlcore_last_error() names it. */
rlcore_status rlcore_vecenv_reset(rlcore_vecenv *v, const rlcore_env *env, const uint64_t *seed, void *obs);

/* Starts an episode in environment `index` only.
   seed: it is seeded with *seed itself; NULL: its random stream continues.
   obs:  [N, obs.len], of which only that row is written.
   Errors: as rlcore_vecenv_reset; E_RANGE. */
rlcore_status rlcore_vecenv_reset_one(rlcore_vecenv *v, const rlcore_env *env, uint32_t index, const uint64_t *seed,
                                      void *obs);

/* rlcore_vecenv_reset with options for the environment's reset_with, which is called for every environment in place of
   reset and restart, also if it was reset before and without a seed. Wrappers begin as after a reset with a seed; those
   that play actions at the start of an episode pass the options on again if it ends during them. Episodes that
   autoreset starts have no options.
   how: seed and options.
   obs: [N, obs.len] to write.
   Errors: as rlcore_vecenv_reset; E_CONFIG, before anything changes, for options if the environment has no reset_with, as
   those of the library have none. */
rlcore_status rlcore_vecenv_reset_with(rlcore_vecenv *v, const rlcore_env *env, const rlcore_reset *how, void *obs);

/* rlcore_vecenv_reset_one with options, as rlcore_vecenv_reset_with.
   how: seed and options.
   obs: [N, obs.len], of which only that row is written.
   Errors: as rlcore_vecenv_reset_with; E_RANGE. */
rlcore_status rlcore_vecenv_reset_one_with(rlcore_vecenv *v, const rlcore_env *env, uint32_t index,
                                           const rlcore_reset *how, void *obs);

/* Steps every environment.
   rows: reads action; writes obs, reward, terminated and truncated, and where they are given valid, action_mask, and
         in rows that ended final_obs and final_action_mask. final_obs may be NULL unless autoreset is "same step",
         valid unless it is "next step". active is not read: all are stepped.
   With same-step autoreset, an environment that ends is reset in this call: final_obs receives the last observation, obs
   the first of the next episode.
   Errors: E_CONFIG; E_RANGE or E_VALUE for an action; E_NOT_READY for an environment that must be reset first; all before
   anything changes. E_CALLBACK, or E_VALUE for a reward or observation that is not finite: earlier environments are
   stepped, the failed one must be reset, later ones are unchanged. rlcore_last_error() names it. */
rlcore_status rlcore_vecenv_step(rlcore_vecenv *v, const rlcore_env *env, const rlcore_rows *rows);

/* Steps environments [begin, end) as rlcore_vecenv_step. The arrays are those of all N; only rows of the range are
   used.
   Threads: calls on disjoint ranges may run concurrently; results do not depend on the split. Ranges that begin at
   multiples of 64 share no cache line.
   Errors: as rlcore_vecenv_step; E_RANGE. */
rlcore_status rlcore_vecenv_step_range(rlcore_vecenv *v, const rlcore_env *env, uint32_t begin, uint32_t end,
                                       const rlcore_rows *rows);

/* As rlcore_vecenv_step, but environments that end restart in the given level. If autoreset restarts them in their next
   step, this level applies there, not the one passed to that step.
   level: an rlcore_level.
   Errors: as rlcore_vecenv_step; E_RANGE for another level. */
rlcore_status rlcore_vecenv_step_env(rlcore_vecenv *v, const rlcore_env *env, uint32_t level, const rlcore_rows *rows);

/* Bytes of one environment as rlcore_vecenv_row_read writes it, for batches of any N.
   Errors: E_OVERFLOW. */
rlcore_status rlcore_vecenv_row_size(const rlcore_env *env, size_t *out_size);

/* Copies environment `index` with all that its next steps depend on: its state, those of its wrappers (frame stacks,
   limits, records), its random stream, its count of steps, and its observation. rlcore_vecenv_row_write makes it a row of
   any block of the same environment, with other N, autoreset and seeds, also in another process: what a search branches
   from, and where a curriculum starts.
   Not held are what callbacks keep behind user, and what other blocks hold of an environment, such as running statistics
   and returns of an rlcore_vec_normalize, sums of an rlcore_monitor, rings of an rlcore_lazy_frames, the memory of a
   learner. The bytes have no pointers, and machines of the other byte order refuse them.
   obs: [N, obs.len] of the last reset or step, of which only that row is read.
   row: [row_size] bytes to be written, 8-byte aligned, at least rlcore_vecenv_row_size().
   Threads: calls for different rows may run concurrently, also with steps of other rows; not with an rlcore_batch that
   has a step of that row.
   Errors: E_CONFIG; E_RANGE; E_NOT_READY before its reset; E_VALUE for an obs that is not finite; E_SIZE. Nothing is
   written then. */
rlcore_status rlcore_vecenv_row_read(const rlcore_vecenv *v, const rlcore_env *env, uint32_t index, const void *obs,
                                     void *row, size_t row_size);

/* Makes environment `index` the one of rlcore_vecenv_row_read: with the same actions it takes the same steps, bit for
   bit. The block keeps its autoreset and max_episode_steps. It need not have been reset before.
   row: [row_size] bytes of rlcore_vecenv_row_read, 8-byte aligned.
   obs: [N, obs.len], of which only that row is written: its observation.
   Threads: as rlcore_vecenv_row_read.
   Errors: E_CONFIG for a row of another environment, one with more steps than max_episode_steps allows here, one that has
   ended if autoreset is "same step", and with wrappers if max_episode_steps is 0 on one side only; E_RANGE; E_SIZE;
   E_IMAGE for another version or byte order, or damaged bytes; E_VALUE if its observation is not finite. Nothing is
   written then. */
rlcore_status rlcore_vecenv_row_write(rlcore_vecenv *v, const rlcore_env *env, uint32_t index, const void *row,
                                      size_t row_size, void *obs);

/* Renders environment `index`. rgb: [height, width, 3], rows from the top.
   Errors: E_CONFIG; E_RANGE; E_CALLBACK; E_NOT_READY before its reset. */
rlcore_status rlcore_vecenv_render(const rlcore_vecenv *v, const rlcore_env *env, uint32_t index, uint32_t width,
                                   uint32_t height, uint8_t *rgb);

/* Renders every environment. rgb: [N, height, width, 3], rows from the top. rlcore_image_tile combines them.
   Errors: as rlcore_vecenv_render; E_CALLBACK: environments before that one are rendered. */
rlcore_status rlcore_vecenv_images(const rlcore_vecenv *v, const rlcore_env *env, uint32_t width, uint32_t height,
                                   uint8_t *rgb);

/* Number of lives left in each environment. lives: [N] to write.
   Errors: E_CONFIG; E_NOT_READY if an environment was never reset; E_CALLBACK: earlier rows are written. */
rlcore_status rlcore_vecenv_lives(const rlcore_vecenv *v, const rlcore_env *env, uint32_t *lives);

/* Which choices are allowed now: 1 if allowed, else 0. mask: [N, sum of action.n] to write.
   Errors: E_CONFIG for actions that are not RLCORE_I32, and as rlcore_vecenv_lives. */
rlcore_status rlcore_vecenv_action_mask(const rlcore_vecenv *v, const rlcore_env *env, uint8_t *mask);

/* Number of environments in a block, e.g. one that was loaded. out: [1] N. */
rlcore_status rlcore_vecenv_num_envs(const rlcore_vecenv *v, uint32_t *out);

/* ---- Observation fields ---- */

/* Lists the fields of an environment's observations, wrappers included: one unnamed field if it declares none.
   out:     [capacity], of which *out_len are written; NULL with a capacity of 0 only counts them.
   Errors: E_CONFIG; E_SIZE if there are more than capacity. */
rlcore_status rlcore_env_fields(const rlcore_env *env, rlcore_field *out, uint32_t capacity, uint32_t *out_len);

/* Splits observations: copies each field of num_rows rows to an array of its own.
   obs:   [num_rows, obs.len], as rlcore_vecenv_step writes it.
   parts: one array per field of rlcore_env_fields, [num_rows, dims...] of its kind; NULL skips one.
   Errors: E_CONFIG. */
rlcore_status rlcore_obs_split(const rlcore_env *env, uint32_t num_rows, const void *obs, void *const *parts);

/* Joins observations: the reverse of rlcore_obs_split. Bytes outside all fields, and of fields whose part is NULL, are
   left unchanged.
   Errors: as rlcore_obs_split. */
rlcore_status rlcore_obs_join(const rlcore_env *env, uint32_t num_rows, const void *const *parts, void *obs);

/* Writes the record before the very first step, for learners that start from one (RLCORE_WRAP_RECORD): all zeros except
   real_done, which is 1. record: [obs.len] bytes to write.
   Errors: E_CONFIG unless a record is the outermost wrapper of observations. */
rlcore_status rlcore_record_initial(const rlcore_env *env, uint8_t *record);

/* ---- Action selection ---- */

/* How an action is chosen. */
typedef enum rlcore_sampling_method {
  RLCORE_SAMPLING_BASIC = 0,        /* draws from the distribution */
  RLCORE_SAMPLING_GREEDY = 1,       /* the most probable action, or the mean; draws nothing */
  RLCORE_SAMPLING_TEMPERATURE = 2,  /* draws from a distribution flattened above 1, sharpened below */
  RLCORE_SAMPLING_TOPK = 3,         /* draws from the k most probable choices; continuous elements as BASIC */
  RLCORE_SAMPLING_BOTTOMK = 4,      /* draws from the k least probable choices, likewise */
} rlcore_sampling_method;

/* Parameters of action selection; those that the method does not read are 0. Where this may be NULL, NULL selects
   RLCORE_SAMPLING_BASIC. */
typedef struct rlcore_sampling {
  uint32_t method;    /* an rlcore_sampling_method */
  uint32_t k;         /* TOPK, BOTTOMK: at least 1 */
  float temperature;  /* TEMPERATURE: above 0 */
  uint32_t reserved;  /* zero */
} rlcore_sampling;

/* ---- Layers of networks ---- */

#define RLCORE_LAYER_INPUT 1073741824  /* For source of an rlcore_layer: it reads the observations. */

/* Activation function of a layer. */
typedef enum rlcore_activation {
  RLCORE_ACTIVATION_TANH = 0,        /* tanh */
  RLCORE_ACTIVATION_RELU = 1,        /* max(x, 0) */
  RLCORE_ACTIVATION_IDENTITY = 2,    /* x */
  RLCORE_ACTIVATION_ELU = 3,         /* x above 0, e^x - 1 below */
  RLCORE_ACTIVATION_SILU = 4,        /* x * sigmoid(x) */
  RLCORE_ACTIVATION_GELU = 5,        /* Gaussian error linear unit, with tanh */
  RLCORE_ACTIVATION_LEAKY_RELU = 6,  /* x above 0, x / 100 below */
} rlcore_activation;

/* Kinds of layers. In parentheses: the fields of rlcore_layer that a kind reads besides source. All others must be zero. */
typedef enum rlcore_layer_kind {
  /* units weighted sums of everything it reads; with a size they are a picture of that height and width for the
     layers that read it (units, size, activation, initializer, gain, flags) */
  RLCORE_LAYER_DENSE = 1,
  /* 2-D convolution, channels last, with so many units as channels (units, size, stride, same, activation,
     initializer, gain, flags) */
  RLCORE_LAYER_CONV = 3,
  RLCORE_LAYER_POOL = 4,  /* maximum or mean of each channel in each window (size, stride, same, activation, flags) */
  /* layer normalization over the channels, with a scale and a bias for each (activation, flags) */
  RLCORE_LAYER_NORM = 5,
  /* long short-term memory. Recurrent layers carry a state from step to step; see sequence_len of
     rlcore_learner_config (units, initializer, gain, flags) */
  RLCORE_LAYER_LSTM = 6,
  RLCORE_LAYER_GRU = 7,     /* gated recurrent unit (units, initializer, gain) */
  RLCORE_LAYER_MINGRU = 8,  /* GRU whose gates read the input only (units, initializer, gain) */
  /* transposed 2-D convolution, with so many units as channels (units, size, stride, same, activation, initializer,
     gain, flags) */
  RLCORE_LAYER_DECONV = 9,
  /* causal multi-head attention over the last window steps of an episode, with learned relative positions and an
     output projection. Carries a state as recurrent layers do (units, heads, window, initializer, gain) */
  RLCORE_LAYER_ATTENTION = 10,
  /* sum of the embeddings of a pixel's channels, whole numbers from 0 to symbols - 1 (units, symbols, activation,
     initializer, gain, flags) */
  RLCORE_LAYER_EMBED = 11,
  /* sum of both sources; the second has the first one's shape, or a number for each of its channels (activation) */
  RLCORE_LAYER_ADD = 12,
  RLCORE_LAYER_MULTIPLY = 13,  /* product of both sources, of which the same holds (activation) */
  /* channels of both sources, pixel by pixel; a picture that a row follows becomes a row (activation) */
  RLCORE_LAYER_JOIN = 14,
  /* 2-D convolution of each channel by itself (depthwise), channels last: units are a multiple of the channels that
     it reads, and each channel has as many in a row (units, size, stride, same, activation, initializer, gain, flags) */
  RLCORE_LAYER_DEPTHWISE = 15,
} rlcore_layer_kind;

/* Flags of layers, to be combined with |. */
typedef enum rlcore_layer_flag {
  RLCORE_LAYER_HEAD = 1,         /* an output: told by rlcore_learner_layers and rlcore_policy_layers only */
  RLCORE_LAYER_NO_BIAS = 2,      /* a dense layer, a convolution, its transpose or a normalization adds no bias */
  RLCORE_LAYER_NO_SCALE = 4,     /* normalization multiplies by no scale */
  RLCORE_LAYER_RMS = 8,          /* normalization divides by the root mean square and subtracts no mean */
  RLCORE_LAYER_WHOLE = 16,       /* normalization runs over height, width and channels */
  RLCORE_LAYER_MEAN = 32,        /* pooling takes the mean */
  RLCORE_LAYER_FORGET_ONE = 64,  /* an LSTM's forget biases start at 1, which TensorFlow adds in each step */
  RLCORE_LAYER_BYTES = 128,      /* embeddings of observations that are bytes, which networks see divided by 255 */
  /* dense layers: each weight and bias has factorized Gaussian noise, whose standard deviation is learned
     and starts at 0.4 / sqrt(inputs). rlcore_learner_act and updates use the noise; rlcore_learner_predict
     and policies do not. See noisy of rlcore_learner_config */
  RLCORE_LAYER_NOISY = 256,
  /* an LSTM normalizes each gate and its cells before they are used (layer normalization), as TensorFlow's
     LayerNormBasicLSTMCell does. Its biases are those of i, f, g, o and of the cells, then scales of the same,
     which start at 1 */
  RLCORE_LAYER_NORMALIZED = 512,
} rlcore_layer_flag;

/* How the weights of a layer are drawn. Biases start at 0; in a noisy layer with RLCORE_INIT_UNIFORM
   they are drawn like its weights. */
typedef enum rlcore_initializer {
  RLCORE_INIT_ORTHOGONAL = 0,  /* orthogonal rows or columns of length gain */
  RLCORE_INIT_NORMAL = 1,      /* normal, mean 0, standard deviation gain */
  /* uniform between -gain / sqrt(n) and gain / sqrt(n), where n is the number of inputs of an output (transposed
     convolution: of outputs of an input, as PyTorch counts) */
  RLCORE_INIT_UNIFORM = 2,
  RLCORE_INIT_UNIT_ROWS = 3,  /* normal, scaled so that the weights of one output have length gain */
  RLCORE_INIT_SPARSE = 4,     /* as RLCORE_INIT_UNIFORM, but nine tenths of the weights of each output are 0 */
  /* uniform between plus and minus gain * sqrt(6 / (n + m)), where n is the number of inputs of an output and m that of
     outputs of an input: TensorFlow's default (Glorot). Weights of inputs and of states are apart, of all gates together */
  RLCORE_INIT_GLOROT = 5,
} rlcore_initializer;

/* One layer of a network. Fields that its kind does not read are zero. 68 bytes.
   Example:
     const rlcore_layer layers[] = {
       {.kind = RLCORE_LAYER_CONV, .units = 16, .size = {3, 3}, .activation = RLCORE_ACTIVATION_RELU},
       {.kind = RLCORE_LAYER_DENSE, .units = 64, .activation = RLCORE_ACTIVATION_RELU},
     };
     config.layers = layers, config.num_layers = 2; */
typedef struct rlcore_layer {
  uint32_t kind;   /* an rlcore_layer_kind */
  uint32_t units;  /* outputs, or channels of a picture */
  /* its input: 0 for the layer before it, or the observations if it is the first; k for layer k, counted from 1;
     RLCORE_LAYER_INPUT for the whole observation; or RLCORE_LAYER_INPUT | k for its field k, counted from 1 in
     obs_fields of the learner config, where infos follow the other fields. If a layer names an info, each layer names
     the field that it reads. source[1] is read by RLCORE_LAYER_ADD, RLCORE_LAYER_MULTIPLY and RLCORE_LAYER_JOIN only */
  uint32_t source[2];
  uint32_t size[2];      /* height and width of a window, or of the picture that a dense layer makes */
  uint32_t stride[2];    /* rows and columns from one window to the next (0: 1; pooling: size) */
  uint32_t same;         /* 0: windows lie inside the picture (VALID); 1: zeros surround it as in TensorFlow (SAME) */
  uint32_t activation;   /* an rlcore_activation */
  uint32_t heads;        /* attention heads, which divide units */
  uint32_t window;       /* steps that attention sees, this one included */
  uint32_t symbols;      /* symbols of each channel */
  uint32_t flags;        /* rlcore_layer_flag */
  uint32_t initializer;  /* an rlcore_initializer */
  float gain;            /* scale of the initial weights (0: 1; orthogonal before an activation: the square root of 2) */
  uint32_t reserved;     /* zero */
} rlcore_layer;

/* ---- Networks known by name ---- */

/* Networks known by name, for rlcore_net_preset. */
typedef enum rlcore_net {
  RLCORE_NET_FC = 1,                    /* numbers: two dense layers of 64 units, tanh */
  RLCORE_NET_NATURE = 2,                /* 84 x 84 pictures: three convolutions, 512 units (Mnih et al. 2015) */
  RLCORE_NET_IMPALA_SMALL = 3,          /* 84 x 84 pictures: two convolutions, 256 units, LSTM of 256 */
  RLCORE_NET_BTGYM_42 = 4,              /* 42 x 42 pictures: four convolutions of stride 2, ELU, LSTM of 256 */
  RLCORE_NET_MINATAR = 5,               /* 10 x 10 pictures: one convolution, 128 units */
  RLCORE_NET_LSTM_SIMPLE = 6,           /* numbers: 128 units without activation, LSTM of 128 */
  RLCORE_NET_LSTM_BOW_ENDPOOL_RES = 7,  /* 7 x 7 symbols, bytes below 11: embeddings, two convolutions, pool, LSTM of 128 */
  RLCORE_NET_TRANSFORMER_GRID = 8,      /* numbers: a causal transformer, two blocks over 9 steps each, 128 wide, 4 heads */
  /* numbers: RLCORE_NET_TRANSFORMER_GRID with layer normalization before each attention and each pair of dense layers, and
     a final one. 16 layers */
  RLCORE_NET_TRANSFORMER_NORM = 9,
  /* two obs_fields, numbers and the action before them, an RLCORE_I32 of one choice more than actions for "none": two
     transformers like RLCORE_NET_TRANSFORMER_NORM, of which the first is the policy's with a policy_layer of 18. A step is
     one token, the sum of both embeddings, where the original has one for each, so 9 steps are its 17 tokens; attention
     knows how many steps ago a token was, not the step's number in the episode; at an episode's start the window is empty
     and no padding is attended to. 36 layers */
  RLCORE_NET_TRANSFORMER_ACTIONS = 10,
  /* two obs_fields of bytes, a 7 x 7 picture of symbols below 11 and an instruction of words below 100, 0 for none:
     RLCORE_NET_LSTM_BOW_ENDPOOL_RES with two residual blocks in which the instruction scales and shifts the channels
     (FiLM). Each place of the instruction has embeddings of its own, whose sum passes through 128 units, where the original
     runs a GRU over the words; layer normalization stands for its batch normalization. 27 layers */
  RLCORE_NET_LSTM_FILM = 11,
} rlcore_net;

/* Writes the layers of a network that is known by name, for the layers of an rlcore_learner_config: its hidden layers and
   heads read the last of them.
   Example:
     rlcore_layer layers[16];
     rlcore_net_preset(RLCORE_NET_NATURE, layers, 16, &config.num_layers);
   net:     an rlcore_net.
   out:     [capacity], of which *out_len are written; NULL with a capacity of 0 only counts them.
   Errors: E_CONFIG; E_SIZE if there are more than capacity. */
rlcore_status rlcore_net_preset(uint32_t net, rlcore_layer *out, uint32_t capacity, uint32_t *out_len);

/* ---- Configurations of learners ---- */

/* Algorithm of a learner. */
typedef enum rlcore_algorithm {
  RLCORE_ALGORITHM_PPO = 0,     /* proximal policy optimization */
  RLCORE_ALGORITHM_A2C = 1,     /* advantage actor-critic, whose workers A3C runs apart */
  RLCORE_ALGORITHM_IMPALA = 2,  /* IMPALA: an actor-critic that corrects by V-trace for what older policies did */
  RLCORE_ALGORITHM_UNREAL = 3,  /* A2C with auxiliary tasks on past steps: pixel control, rewards, values */
  RLCORE_ALGORITHM_DQN = 4,     /* deep Q-networks, off policy: discrete actions, also in a structure */
  /* twin delayed deterministic policy gradients, off policy: continuous actions, also in a structure. DDPG if
     num_critics and policy_interval are 1 and target_noise is 0 */
  RLCORE_ALGORITHM_TD3 = 5,
  RLCORE_ALGORITHM_SAC = 6,  /* soft actor-critic, off policy: continuous actions, discrete ones, or structures of both */
  RLCORE_ALGORITHM_PQN = 7,  /* Q(lambda) over rollouts: parallelized Q-networks */
  /* stream AC(lambda): an actor-critic that learns from each step alone, by eligibility traces. One environment,
     num_steps 1: learn is due after every observe */
  RLCORE_ALGORITHM_STREAM_AC = 8,
  RLCORE_ALGORITHM_STREAM_Q = 9,  /* stream Q(lambda), which does the same with Q: discrete actions, also in a structure */
} rlcore_algorithm;

/* How parameters move along gradients. */
typedef enum rlcore_optimizer {
  RLCORE_OPTIMIZER_ADAM = 0,                /* Adam; epsilon is added as PyTorch adds it */
  RLCORE_OPTIMIZER_ADAM_TENSORFLOW = 1,     /* Adam; epsilon is added as TensorFlow adds it */
  RLCORE_OPTIMIZER_RMSPROP = 2,             /* RMSProp; epsilon is added as PyTorch adds it */
  RLCORE_OPTIMIZER_RMSPROP_TENSORFLOW = 3,  /* RMSProp; epsilon as TensorFlow adds it, and mean squares that begin with 1 */
  RLCORE_OPTIMIZER_RMSPROP_CENTERED = 4,    /* RMSProp that divides by the deviation of gradients, as PyTorch does */
  RLCORE_OPTIMIZER_ADAM_RECTIFIED = 5,      /* Adam that warms up until its second moment knows enough gradients (RAdam) */
} rlcore_optimizer;

/* Hyperparameters, grouped by the algorithms that read them. In parentheses: the default, those of algorithms where they
   differ, and the values that a field may have; flags are 0 or 1. A field that the algorithm, with the other fields, does
   not read must have the default of rlcore_learner_config_init: rlcore_learner_size and rlcore_learner_init refuse others
   by name. */
typedef struct rlcore_learner_config {
  uint32_t struct_size;  /* bytes; set by rlcore_learner_config_init */
  uint32_t reserved;     /* 0 */

  /* -- every algorithm -- */
  /* all random numbers come from this; each environment has a stream of its own (1) */
  uint64_t seed;
  uint64_t total_steps;  /* environment steps until the _end values are reached; 0: never (0) */
  uint32_t algorithm;    /* an rlcore_algorithm, as rlcore_learner_config_init was told */
  /* N, environments that share the learner (4; DQN, TD3, SAC, stream algorithms 1; at least 1) */
  uint32_t num_envs;
  float discount;  /* discount factor (0.99; 0 to 1) */
  /* observe takes how long decisions lasted, in steps of any unit, and each is discounted by the power of discount:
     agents that decide every frame and agents that decide every fifth share a learner (a semi-Markov process). The
     host sums the rewards of a decision (0) */
  uint32_t use_duration;
  /* rewards below this count as this, before anything else reads them, also those of transitions that a host gives
     without discounts; returns in statistics have them as they are. -1 and 1 as for Atari; both 0: off (0) */
  float reward_min;
  float reward_max;  /* rewards above this count as this; above reward_min, unless both are 0 (0) */
  /* step size at the start (2.5e-4; A2C, UNREAL 7e-4; IMPALA 4.8e-4; TD3 1e-3; SAC 3e-4; stream algorithms 1; 0 to 1) */
  float learning_rate;
  /* step size at total_steps (0; DQN 2.5e-4; TD3 1e-3; SAC 3e-4; stream algorithms 1; 0 to 1) */
  float learning_rate_end;
  /* calls that act, observe, learn or tell values take masks of allowed choices (0) */
  uint32_t use_action_mask;
  /* chunks that each minibatch is divided into, at most one per row: the smallest slices of learning; their gradients
     are added as a binary tree in the order of the chunks (1; at least 1) */
  uint32_t num_chunks;
  /* PPO, A2C, IMPALA, UNREAL, DQN, TD3, SAC and PQN: environments can act and be observed while an update runs; the
     policy from before the update acts, off policy until the next update begins. Needs memory for a second rollout,
     off policy room in the store for num_envs * (n_step + 1) + train_interval transitions, and a second set of
     parameters (0) */
  uint32_t overlap;

  /* -- the network -- */
  uint32_t num_hidden;     /* hidden layers of the policy and of the value network (2; 0 to 4) */
  uint32_t hidden_len[4];  /* units of each hidden layer; ignored beyond num_hidden (64, 64) */
  /* an rlcore_activation, of hidden layers (TANH; DQN, TD3, SAC, PQN RELU; stream algorithms LEAKY_RELU) */
  uint32_t activation;
  /* hidden layers are normalized before their activation, each row on its own; stream algorithms do it without scales
     and biases (0; PQN, stream algorithms 1) */
  uint32_t hidden_norm;
  uint32_t num_layers;  /* entries of layers, up to 64 (0) */
  /* height, width and channels of an observation that is a picture, in this order in memory; their product is
     obs.len. Where obs_fields lists fields with axes, as rlcore_env_fields does of wrappers, others are refused. Of
     several fields the first is the picture, whose own axes these are, or 0: rollouts keep its bytes as they are, and
     num_stacked and pixel control are about it. The layers of TD3's and SAC's critics read the picture alone, and
     continuous actions follow the last one. 0: the observation is no picture, or one field of obs_fields is, and
     critics read continuous actions behind it (0) */
  uint32_t obs_dims[3];
  /* frames in an observation of RLCORE_U8, or in the first field of others, up to 16, stacked along its last axis, or
     along its channels with RLCORE_FIELD_CHANNELS_FIRST, the newest last. A rollout then stores each frame once: 7.5
     KB instead of 28 KB for 84 x 84 x 4. The older frames are those of the environment's previous observation,
     shifted, or copies of the newest frame or zeros, as at the start of an episode. Others take room:
     RLCORE_WRAP_FRAME_STACK around RLCORE_WRAP_EPISODIC_LIFE adds one with each life, whose first step no observation
     shows. A rollout has room for one of them per environment and per 16 transitions; more are RLCORE_E_VALUE. An
     environment's first observation in a rollout may have any frames. Off policy the store keeps each frame once, for
     7.2 KB instead of 56 KB a transition; the first observation of an episode may have any frames, and final_obs
     follows the one before it. There is room for buffer_size frames, 1 / 128 of that more and some for each
     environment: where most episodes are truncated within 256 steps, fewer transitions than buffer_size may be kept,
     the newest ones. Not with normalize_obs. 0: observations are stored whole (0) */
  uint32_t num_stacked;
  /* PPO, A2C, IMPALA, UNREAL and DQN: first hidden layers that the policy and the value network share, 0 to
     num_hidden; DQN shares them between the value of an observation and the advantages of choices (0) */
  uint32_t num_shared;
  /* PPO, A2C, IMPALA and UNREAL: the listed layer that the policy reads, counted from 1, while the values and pixel
     control read the last one. Not with num_shared, whose layers both read. 0: both read the last one (0) */
  uint32_t policy_layer;
  /* PPO, A2C, IMPALA, UNREAL, DQN and PQN: hidden layers and heads are noisy (RLCORE_LAYER_NOISY,
     RLCORE_INIT_UNIFORM), and their noise explores. It is drawn once per rollout, and the update uses the noise that
     acted. DQN draws it for each gradient step, the same for Q and its target, and acts with it until the next;
     exploration_start and exploration_end can then be 0. Exported policies and rlcore_learner_predict have none. Not
     with overlap; rlcore_learner_learn_batch then works with IMPALA only (0) */
  uint32_t noisy;
  /* continuous actions are mapped to their bounds by tanh; 0: they are clipped (0; TD3, SAC 1) */
  uint32_t squash;
  /* PPO, A2C, IMPALA, UNREAL and stream AC: initial logarithm of the standard deviation of continuous actions (0) */
  float log_std_init;
  /* PPO, A2C, IMPALA, UNREAL, TD3, SAC and stream AC: lower limit of the logarithms of standard deviations (-20; -40
     to 40) */
  float log_std_min;
  /* PPO, A2C, IMPALA, UNREAL, SAC and stream AC: upper limit of the logarithms of standard deviations, at least
     log_std_min (2; -40 to 40) */
  float log_std_max;

  /* -- normalization -- */
  /* observations are scaled to mean 0 and deviation 1 by running statistics. Off policy the store keeps them as they
     come, and each gradient step scales them by the statistics of the update, during which these do not change (0;
     stream algorithms 1) */
  uint32_t normalize_obs;
  float obs_clip;  /* normalized observations are clipped to plus or minus this (10; above 0) */
  /* rewards are divided by the running deviation of the discounted return; off policy where a gradient step reads
     them, which are sums of n_step rewards (0; stream algorithms 1) */
  uint32_t normalize_reward;
  float reward_clip;  /* normalized rewards are clipped to plus or minus this (10; above 0) */

  /* -- exploration -- */
  uint32_t exploration_steps;  /* environment steps to exploration_end (10,000; TD3, SAC 1000) */
  float exploration_start;     /* probability of a random action at the start (1; 0 to 1) */
  float exploration_end;       /* the same from exploration_steps on (0.05; TD3, SAC 0; stream Q 0.01; 0 to 1) */

  /* -- the optimizer -- */
  /* an rlcore_optimizer, how parameters move along gradients (ADAM; A2C, IMPALA, UNREAL RMSPROP; PQN ADAM_RECTIFIED) */
  uint32_t optimizer;
  /* gradients are scaled down to this norm; 0: off (0.5; IMPALA, UNREAL 40; DQN, PQN 10; TD3, SAC 0; at least 0) */
  float max_grad_norm;
  float adam_beta1;  /* decay of Adam's first moment (0.9; from 0 to below 1) */
  /* decay of Adam's second moment, at least the square of adam_beta1: with less a step has no bound (0.999; from 0 to
     below 1) */
  float adam_beta2;
  float adam_epsilon;  /* epsilon of the optimizer (1e-5; IMPALA 0.01; 1e-12 to 1) */
  float rms_decay;     /* decay of RMSProp's mean squares (0.99; from 0 to below 1) */
  /* part of its last step that RMSProp takes again; 0 if centered (0; from 0 to below 1) */
  float rms_momentum;
  /* PPO, A2C, IMPALA, UNREAL and PQN: losses are sums over a minibatch instead of means (0; IMPALA 1) */
  uint32_t sum_losses;

  /* -- learning on policy -- */
  /* T, steps of every environment in one rollout (1; PPO 128; A2C 5; IMPALA 80; UNREAL 20; PQN 32; at least 1) */
  uint32_t num_steps;
  /* parts of a rollout, each a minibatch; T * N must be a multiple of it (1; PPO, PQN 4; at least 1) */
  uint32_t num_minibatches;
  uint32_t num_epochs;  /* passes over each rollout (1; PPO, PQN 4; 1 to 1000) */
  /* steps of the sequences that recurrent layers learn from, which num_steps and the rows of a minibatch, or
     batch_size, are multiples of; at least 1 exactly if there are such layers. Without them IMPALA learns from whole
     rollouts of each environment. Off policy a sequence has steps of one environment that follow one another in the
     store, over the ends of episodes, where states are cut; the transitions that are drawn are the last ones of
     sequences, with all of n_step. The store keeps the recurrent state of each transition; critics start from zeros
     (0) */
  uint32_t sequence_len;
  /* PPO, A2C, IMPALA, UNREAL, DQN, TD3, SAC and PQN: steps before each sequence that recurrent layers first run
     through without a loss, so that the sequence starts from a state computed with the current parameters. Fewer where
     the episode or the rollout begins. At most num_steps - sequence_len, or buffer_size; 0: sequences start from the
     states that were recorded (0) */
  uint32_t burn_in;
  /* lambda of GAE, V-trace, Q(lambda) and eligibility traces (1; PPO 0.95; PQN 0.65; stream algorithms 0.8; 0 to 1) */
  float gae_lambda;
  uint32_t accumulate;  /* an rlcore_accumulate, precision that advantages are summed in (F32) */
  /* PPO, A2C and UNREAL: advantages get mean 0 and deviation 1 in each minibatch, divided by the sample deviation, of
     n - 1 (0; PPO 1) */
  uint32_t normalize_advantage;
  /* PPO, A2C, IMPALA and UNREAL: weight of the value loss, half the mean squared error (0.5; A2C 1; at least 0) */
  float value_coef;
  /* PPO, A2C, IMPALA and UNREAL: values are clipped to those of the rollout plus or minus this; 0: off (0; at least
     0) */
  float value_clip;
  /* PPO, A2C, IMPALA, UNREAL and stream AC: weight of the entropy bonus at the start (0.01; IMPALA 6e-4; UNREAL 1e-3) */
  float entropy_coef;
  /* PPO, A2C, IMPALA, UNREAL and stream AC: part of entropy_coef that is left at total_steps, on a straight line; 1:
     entropy_coef stays as it is (1; 0 to 1) */
  float entropy_share_end;
  /* PPO, A2C, IMPALA and UNREAL: an update ends once its approximate KL divergence passes 1.5 times this; 0: off (0;
     at least 0) */
  float target_kl;

  /* -- PPO -- */
  /* probability ratios are clipped to 1 plus or minus this at the start (0.2; above 0, to 10) */
  float clip;
  float clip_end;  /* the same at total_steps (0.2; 0 to 10) */
  /* updates from one refresh to the next of a copy of the parameters. An update that refreshes it does so when it
     begins; the copy's log-probabilities then stand in for the recorded ones in ratios, approx_kl and clip_fraction. A
     copy has the noise that the parameters had. 0: there is none (0) */
  uint32_t prime_interval;

  /* -- IMPALA -- */
  /* V-trace: probability ratios that scale temporal differences are clipped to this (1; above 0) */
  float clip_rho;
  /* V-trace: probability ratios that carry later differences back are clipped to this (1; above 0) */
  float clip_c;
  /* V-trace: probability ratios that scale advantages are clipped to this (1; above 0) */
  float clip_pg_rho;
  float leak;  /* V-trace: how much of what the three clips cut off still counts (0; 0 to 1) */

  /* -- auxiliary tasks -- */
  /* weight of pixel control, the squared error of how much cells of the picture change, summed over cells; it needs
     actions of one choice, and a picture. 0: off, without such a head (0; UNREAL 0.05; at least 0) */
  float pixel_control_coef;
  /* weight of the prediction of the next reward's sign, a cross-entropy; 0: off, without such a head (0; UNREAL 1; at
     least 0) */
  float reward_class_coef;
  /* weight of the squared error of values on past steps; 0: off (0; UNREAL 0.5; at least 0) */
  float value_replay_coef;
  /* weight of the algorithm's own loss on past steps. UNREAL: A2C's, whose advantages come from the values recorded
     with them; as in btgym, nothing corrects for the older policies that chose the actions. PPO: the same with the
     clipped ratios to the log-probabilities that were recorded, or with prime_interval to those of the copy;
     advantages stay as they are. IMPALA: corrected by V-trace. value_replay_coef must be 0 then; 0: off (0; at least
     0) */
  float policy_replay_coef;
  /* discount of pixel changes; 0: only the next change counts. With num_stacked only the newest frame's changes do
     (0.9; 0 to 1) */
  float pixel_control_discount;
  uint32_t pixel_cell;  /* side of a cell, at least 1; half of it is cropped on each side (2) */
  uint32_t pixel_mean;  /* change of a cell: 0: the largest of its pixels, 1: their mean (0) */
  /* observations that a reward is predicted from, 1 to 16, the last of which it follows (3) */
  uint32_t reward_sequence_len;
  /* rewards are positive above this, and negative below its negative (0.1; at least 0) */
  float reward_threshold;
  /* last steps of each environment that are kept for these tasks, more than a sequence has. Bytes stay bytes, states
     of recurrent layers are kept too, and with num_stacked whole stacks. An update begins by keeping its steps (2000) */
  uint32_t history_len;
  /* steps of an environment that must be kept before these tasks draw from them, up to history_len, which is what
     btgym waits for; the algorithm learns from the start. 0: one more than a sequence has (0) */
  uint32_t history_starts;
  /* sequences of past steps, of sequence_len or else num_steps each, and rewards to predict, per minibatch; 0: as
     many steps as the minibatch has (0) */
  uint32_t num_replayed;

  /* -- stream algorithms -- */
  /* stream AC: bounds the steps of the policy's parameters: they are at most the error times the trace over
     kappa_policy * max(|error|, 1) * the sum of absolute values of the trace; 0: no bound (3; at least 0) */
  float kappa_policy;
  float kappa_value;  /* the same for the parameters of the value, or of Q (2; at least 0) */

  /* -- demonstrations -- */
  /* demonstrated steps that are kept for good, the first ones of rlcore_learner_demonstrate; later ones are as other
     transitions off policy, and are left out on policy. Off policy their transitions lie beside those of buffer_size,
     where nothing overwrites them, num_stacked must be 0, and n_step rewards may go on with the learner's own steps.
     On policy observations and actions are kept, for imitation_coef, without recurrent layers. 0: none (0; 0 to
     100000000) */
  uint32_t demonstration_size;
  /* part of the transitions of each batch, or with recurrent layers of its sequences, rounded to the nearest number,
     that is drawn from kept demonstrations, while there are any; all, while there is nothing else. With
     priority_exponent each part is drawn by its own priorities, and importance is relative to its own least one. On
     policy so many rows, as a part of those of a minibatch, are drawn beside it, uniformly (0.25; 0 to 1) */
  float demonstration_share;
  /* weight, at the start, of the loss of rlcore_learner_imitate on the kept demonstrations of a batch, the mean over
     them, beside the algorithm's own loss: of Q, or of the policy. TD3 divides values by their mean size in the batch
     then, as TD3+BC does, where this is 1 / alpha. It is not weighted by importance. 0: off (0; at least 0) */
  float imitation_coef;
  float imitation_coef_end;  /* the same at total_steps, on a straight line (0; at least 0) */
  /* DQN and PQN: distance that Q of a demonstrated choice is to keep from that of every other one (0.8; above 0) */
  float imitation_margin;
  /* PPO, A2C, IMPALA, UNREAL and SAC: standard deviations learn from demonstrations too, not the means alone (0) */
  uint32_t imitation_fit_std;

  /* -- learning off policy -- */
  /* transitions kept, at least batch_size; or 0: none, it learns by rlcore_learner_learn_transitions alone (100,000) */
  uint32_t buffer_size;
  /* transitions of a gradient step, divided into num_chunks chunks (256; DQN 128; at least 1) */
  uint32_t batch_size;
  uint32_t learning_starts;  /* environment steps before the first update (1000) */
  uint32_t train_interval;   /* environment steps from one update to the next (1; at least 1) */
  uint32_t gradient_steps;   /* gradient steps of an update (1; 1 to 10000) */
  /* gradient steps from one move of the target networks to the next (500; TD3 2; SAC 1; at least 1) */
  uint32_t target_interval;
  float target_rate;  /* how far the target networks move; 1 copies (0.005; DQN 1; above 0, to 1) */
  /* steps n whose discounted rewards are summed before the value of the next observation counts, up to buffer_size;
     fewer where an episode ends. What older policies did is not corrected for. num_envs * n_step transitions lie
     beside the buffer until they are complete (1; at least 1) */
  uint32_t n_step;
  /* errors count linearly beyond 1, and half their squares within; 0: whole squares everywhere, whose gradients are
     twice as large within 1 (0; DQN 1) */
  uint32_t huber;
  /* how far the distances of values from their targets decide which transitions are drawn, from 0, all alike, to 1,
     in proportion (0; 0 to 1) */
  float priority_exponent;
  /* share of the largest distance of a sequence's steps in that of the sequence; the rest is their mean (0.9; 0 to 1) */
  float priority_max_share;
  float importance_exponent;  /* how far what is drawn more often counts less at the start (0.4; 0 to 1) */
  uint32_t importance_steps;  /* environment steps after which that is 1; 0: it stays as it is (0) */
  /* DQN and SAC: quantiles of the distribution of returns that DQN learns for each choice (QR-DQN), or that each of
     SAC's critics learns (TQC), 2 to 256. Values are their means. With huber errors count linearly only beyond 1; 0:
     values alone (0) */
  uint32_t num_quantiles;

  /* -- DQN -- */
  uint32_t double_q;  /* the network chooses the next action whose value the target network gives (1) */
  /* separate outputs for the value of an observation and the advantages of actions (0) */
  uint32_t dueling;
  /* atoms of the distribution of returns that it learns for each choice (C51), 2 to 256; 51 in the paper. Priorities
     are Kullback-Leibler divergences then, huber is not read. Not with num_quantiles; 0: off (0) */
  uint32_t num_atoms;
  float value_min;  /* the lowest atom; returns below it count as this (-10; -1e6 to 1e6) */
  float value_max;  /* the highest atom; returns above it count as this (10; -1e6 to 1e6) */

  /* -- TD3 and SAC -- */
  /* critics, 1 or 2, the lower of which counts; with num_quantiles to 8 (2; 1 to 8) */
  uint32_t num_critics;
  float critic_rate;  /* step size of the critics, relative to learning_rate (1; 0 to 1000) */
  /* gradient steps of the critics for each one of the policy (2; SAC 1; at least 1) */
  uint32_t policy_interval;
  /* TD3: standard deviation of the noise on actions, which are -1 to 1 here (0.1; at least 0) */
  float exploration_noise;
  /* TD3: the same for the noise on next actions in the critics' targets (0.2; at least 0) */
  float target_noise;
  float target_noise_clip;  /* TD3: the noise in targets is clipped to plus or minus this (0.5; at least 0) */
  float temperature;        /* SAC: weight of the entropy, in nats, at the start (1; 1e-8 to 1e8) */
  /* SAC: step size of the logarithm of the temperature; 0: it is constant (3e-4; 0 to 1) */
  float temperature_rate;
  /* SAC: entropy that the temperature aims at. With continuous actions in nats for each number of an action, at most
     ln 2. With discrete ones a share, from 0 to 1, of the most that each element's allowed choices can have, ln of
     their number, averaged over the batch; a number below 0 means half. A row that allows one choice has entropy and
     target 0. Of a structure with both the targets are added, and it is at most ln 2 (-1) */
  float target_entropy;
  /* SAC: with num_quantiles: targets are the quantiles of all critics without the highest, this many for each critic;
     below num_quantiles. The critics, up to 8 then, are averaged, not the lowest taken (0) */
  uint32_t dropped_quantiles;

  /* -- lists -- */
  /* [num_layers] layers that come first; the policy and the value network share them, and their hidden layers read
     the last one. Critics of TD3 and SAC have copies of their own, where RLCORE_LAYER_INPUT is the observation
     followed by the numbers of an action, and the last layer must depend on it; without numbers it is the
     observation. With obs_dims and with recurrent layers, which read fields one by one if there are several, the
     numbers follow them instead. This list and the others are read by rlcore_learner_size and rlcore_learner_init
     only. NULL if num_layers is 0 */
  const rlcore_layer *layers;
  /* [num_obs_fields] fields of an observation, as rlcore_env_fields lists them. Networks read all but infos; fields
     that are not listed are not read either. A layer can read one of them alone: see its source. Required for
     RLCORE_STRUCT. NULL if num_obs_fields is 0 */
  const rlcore_field *obs_fields;
  /* [num_action_fields] fields of an action of RLCORE_STRUCT, of kinds RLCORE_F32 and RLCORE_I32, in the order of their
     offsets, with up to 64 elements of each kind. NULL for other actions */
  const rlcore_field *action_fields;
  uint32_t num_obs_fields;     /* entries of obs_fields, up to 8 */
  uint32_t num_action_fields;  /* entries of action_fields, up to 8 */
} rlcore_learner_config;

/* Fills in the defaults of an algorithm.
   algorithm: an rlcore_algorithm.
   Errors: E_RANGE for another algorithm. */
rlcore_status rlcore_learner_config_init(rlcore_learner_config *config, size_t config_size, uint32_t algorithm);

/* ---- Configurations known by name ---- */

/* Learners of other packages, with the numbers that they have there. Where theirs weigh the whole squared error of
   values, value_coef is twice as large. In parentheses: the algorithm, and the rlcore_net whose layers it has beside
   heads alone; without one, hidden layers. The seed and use_action_mask are those of rlcore_learner_config_init. */
typedef enum rlcore_preset {
  /* FCAgent of src.ppo with its OnlineTrainConfig; its command line has other defaults. The rate is constant, which
     the tuple there was meant to say. Its agents with an LSTM or a transformer also need layers, as of
     rlcore_net_preset, and sequence_len (PPO) */
  RLCORE_PRESET_SRC_PPO = 1,
  /* A3C of btgym with BaseAacPolicy, for each worker and for the server: pictures of 42 x 42, noisy heads, Adam as in
     TensorFlow, a constant rate. Left to the host: processes, and the last action and reward beside the picture
     (obs_fields, layers of its own). Logits are not normalized (A2C, RLCORE_NET_BTGYM_42) */
  RLCORE_PRESET_BTGYM_A3C = 2,
  /* Unreal of btgym: the same with settings of its tasks, which are off there too. btgym's weight of a task that is
     on is 1: pixel_control_coef, reward_class_coef, and value_replay_coef or policy_replay_coef (UNREAL,
     RLCORE_NET_BTGYM_42) */
  RLCORE_PRESET_BTGYM_UNREAL = 3,
  /* PPO of btgym: the same without tasks, with ratios to a copy of the parameters (prime_interval), which is made
     when an update begins; btgym's is that of the update before. btgym's clip decays with its rate: where the rate is
     to decay, set clip_end with learning_rate_end (PPO, RLCORE_NET_BTGYM_42) */
  RLCORE_PRESET_BTGYM_PPO = 4,
  /* Learner of pytorch_seed_rl, which is IMPALA: minibatches of 4 rollouts, 2 actors with 8 environments each, whole
     squared errors of values. Left to the host: actors, and the last action and reward beside the picture. Its
     convolutions are leaky (IMPALA, RLCORE_NET_NATURE) */
  RLCORE_PRESET_SEED_RL = 5,
  RLCORE_PRESET_CLEANRL_PPO = 6,  /* ppo.py of CleanRL (PPO) */
  /* ppo_atari.py of CleanRL; wrappers are left to the host: rlcore_wrappers_atari (PPO, RLCORE_NET_NATURE) */
  RLCORE_PRESET_CLEANRL_PPO_ATARI = 7,
  /* dqn.py of CleanRL. Its targets move every 500 environment steps, which are 50 gradient steps (DQN) */
  RLCORE_PRESET_CLEANRL_DQN = 8,
  /* PPO for CartPole-v1 of RL Baselines3 Zoo, which adds to the defaults of Stable-Baselines3 (PPO) */
  RLCORE_PRESET_ZOO_PPO_CARTPOLE = 9,
  /* PPO for Atari of the Zoo; wrappers are left to the host (PPO, RLCORE_NET_NATURE) */
  RLCORE_PRESET_ZOO_PPO_ATARI = 10,
  RLCORE_PRESET_ZOO_A2C_CARTPOLE = 11,  /* A2C for CartPole-v1 of the Zoo (A2C) */
  /* DQN for CartPole-v1 of the Zoo. Its targets move every 10 environment steps, but parameters only after 256 of
     them, by 128 gradient steps: so targets move once an update (DQN) */
  RLCORE_PRESET_ZOO_DQN_CARTPOLE = 12,
  RLCORE_PRESET_ZOO_QR_DQN_CARTPOLE = 13,  /* QR-DQN for CartPole-v1 of the Zoo; targets as with DQN (DQN) */
  /* TD3 for Pendulum of the Zoo, which takes as many gradient steps after an episode as it had steps; here one after
     each step. Random actions get rarer over exploration_steps; in the Zoo they end then (TD3) */
  RLCORE_PRESET_ZOO_TD3_PENDULUM = 14,
  RLCORE_PRESET_ZOO_SAC_PENDULUM = 15,  /* SAC for Pendulum of the Zoo; random actions as with TD3 (SAC) */
} rlcore_preset;

/* Fills in the numbers of another package; change them as those of rlcore_learner_config_init.
   Example:
     rlcore_layer layers[16];
     uint32_t net;
     rlcore_learner_config_preset(&config, sizeof config, RLCORE_PRESET_BTGYM_A3C, &net);
     rlcore_net_preset(net, layers, 16, &config.num_layers);
     config.layers = layers;
   preset:  an rlcore_preset.
   out_net: the rlcore_net whose layers it has; 0: none. NULL if that is known.
   Errors: E_SIZE for a structure that is too small; E_RANGE for another preset, or one whose algorithm the build lacks. */
rlcore_status rlcore_learner_config_preset(rlcore_learner_config *config, size_t config_size, uint32_t preset,
                                           uint32_t *out_net);

/* ---- Learners: act, observe, learn ---- */

/* The call that is due next. */
typedef enum rlcore_learner_due {
  RLCORE_LEARNER_ACT = 0,      /* rlcore_learner_act with the current observations */
  RLCORE_LEARNER_OBSERVE = 1,  /* rlcore_learner_observe with the results of the step */
  RLCORE_LEARNER_LEARN = 2,    /* rlcore_learner_learn until no minibatch is left */
} rlcore_learner_due;

/* A learner: the caller's own block. */
typedef struct rlcore_learner rlcore_learner;

/* Statistics of the current update, or of the last one, and of the episodes. Means are over the gradient steps of the
   update. A float is NaN where the algorithm has no such number, and before there is one. */
typedef struct rlcore_learner_stats {
  uint32_t struct_size;       /* sizeof(rlcore_learner_stats) */
  uint32_t minibatches_left;  /* minibatches until the update is complete; off policy gradient steps */
  uint64_t num_steps;         /* environment steps observed, and those that rlcore_learner_count_steps added */
  uint64_t num_updates;       /* complete updates */
  uint64_t num_episodes;      /* episodes that ended; off policy without those in which an action was demonstrated */
  float learning_rate;        /* step size of this update */
  /* PPO: mean clipped surrogate loss. A2C, IMPALA, UNREAL, stream AC: mean of minus log-probabilities times advantages.
     TD3: mean of minus the values of the policy's actions. SAC: that, plus temperature times log-probabilities. With
     sum_losses a sum over the minibatch, as value_loss */
  float policy_loss;
  /* all algorithms: mean of half the squared error of the values, or of Q, without value_coef. With huber the mean Huber
     loss, half the square within 1; with num_quantiles the loss of quantile regression, with num_atoms the cross-entropy in
     nats. Off policy the mean over the critics and the elements of an action, rows weighted by their importance. With
     value_clip the larger of the losses of the clipped and the unclipped value */
  float value_loss;
  /* PPO, A2C, IMPALA, UNREAL, stream AC, SAC: mean entropy in nats; with squash that of actions before tanh, of SAC
     after it */
  float entropy;
  float approx_kl;      /* PPO, A2C, IMPALA, UNREAL: mean of r - 1 - ln r, where r is the probability ratio */
  float clip_fraction;  /* PPO: fraction of the ratios that were clipped */
  /* PPO, A2C, IMPALA, UNREAL, PQN: fraction of the targets' variance that values explain, up to 1; 0 for constant
     targets */
  float explained_variance;
  /* all algorithms: mean global norm of the gradients before they are clipped; TD3 and SAC: of those of the critics
     together */
  float grad_norm;
  /* all algorithms: mean value of the rollout's observations, or of their best choices; off policy mean Q of the actions of
     the batches, by the first critic */
  float value_mean;
  float return_mean;     /* mean return of the last 100 episodes; NaN before the first ends */
  float length_mean;     /* mean length of the last 100 episodes; NaN before the first ends */
  float return_last;     /* return of the most recent episode; NaN before the first ends */
  uint64_t num_dropped;  /* updates that ended early because numbers overflowed */
  /* PPO, IMPALA, UNREAL, as the next three: means before weights, NaN for a task that is off, 0 while no past steps are
     drawn. Squared error of the value of the chosen action's pixel changes, summed over cells */
  float pixel_control_loss;
  float reward_class_loss;   /* cross-entropy of the next reward's sign, in nats */
  float value_replay_loss;   /* squared error of values on past steps */
  float policy_replay_loss;  /* loss of the algorithm on past steps: policy, and value and entropy with their weights */
  float return_std;          /* standard deviation of the returns of the last 100 episodes; NaN before the first ends */
  float return_min;          /* least return of the last 100 episodes; NaN before the first ends */
  float return_max;          /* largest return of the last 100 episodes; NaN before the first ends */
  float temperature;         /* SAC: weight of the entropy, in nats, now */
  float exploration_rate;    /* DQN, TD3, SAC, PQN, stream Q: probability of a random action, now */
  /* continuous actions of PPO, A2C, IMPALA, UNREAL, stream AC and SAC: mean logarithm of the standard deviations; of SAC
     over the batch that the policy learned from last */
  float log_std_mean;
  uint64_t num_stored;  /* DQN, TD3, SAC: transitions in the buffer, and kept demonstrations; others 0 */
} rlcore_learner_stats;

/* Bytes a block must have for this configuration and these spaces.
   Observations: networks read bytes divided by 255, floats as they are, a choice of n as n numbers, 1 for the choice
   and 0 for the others (one-hot). Of RLCORE_STRUCT they read the fields in config.obs_fields in that order, without
   infos; obs.n then has one entry for each element of theirs of kind RLCORE_I32. rlcore_learner_seen_len returns how
   many numbers they read.
   Actions: one of RLCORE_STRUCT has the fields in config.action_fields. Each element of kind RLCORE_I32 is a choice, with
   one entry in action.n; each of kind RLCORE_F32 is a number, with one entry in action.low and action.high unless they are
   NULL. Each element is drawn from its own distribution; the log-probability and the entropy of the action are the sums
   over its elements. Bytes that no field covers are never written. Bounds of continuous actions are finite and on both
   sides, or low and high are NULL.
   Errors: E_CONFIG for a structure without fields, for numbers in an action of RLCORE_STRUCT with DQN, PQN and stream Q,
   for choices in one with TD3, and for an action that is bounded on one side only. */
rlcore_status rlcore_learner_size(const rlcore_learner_config *config, const rlcore_space *obs,
                                  const rlcore_space *action, size_t *out_size);

/* Creates a learner in mem and draws its first parameters. */
rlcore_status rlcore_learner_init(void *mem, size_t mem_size, const rlcore_learner_config *config,
                                  const rlcore_space *obs, const rlcore_space *action, rlcore_learner **out);

/* Opens the bytes of a learner that was copied or saved, in this process or another. Training continues with exactly
   the results that it would have had without the interruption. mem is only read. If the learner was sealed by
   rlcore_block_seal, it is refused if any byte has changed; if not, values that no call leaves are refused, but a
   parameter that changed to another finite number is not detected. A learner whose process was killed within a call that
   changes it is refused with E_IMAGE.
   num_envs:    N of the host's arrays, which the learner must have; 0: any is accepted.
   obs, action: the spaces of the host's arrays, compared as by rlcore_policy_attach. NULL: any are accepted, and
                rlcore_learner_spaces tells them.
   Errors: E_IMAGE; E_SHAPE if the learner was made for another N or other spaces, with its number and the given one. */
rlcore_status rlcore_learner_attach(void *mem, size_t mem_size, uint32_t num_envs, const rlcore_space *obs,
                                    const rlcore_space *action, rlcore_learner **out);

/* Returns the call that is due: LEARN if an update is due, of a complete rollout or of batches of the store, or while one
   runs without overlap; else OBSERVE if an environment has acted and not been observed since; else ACT.
   out: [1] an rlcore_learner_due. */
rlcore_status rlcore_learner_phase(const rlcore_learner *p, uint32_t *out);

/* Returns which environments have acted and not been observed since.
   acted: [N] flags to write. */
rlcore_status rlcore_learner_acted(const rlcore_learner *p, uint8_t *acted);

/* Draws an action for each environment and begins a transition.
   rows: reads active, obs and action_mask; writes action. An environment whose active is 0 does not act now. obs:
         bytes are divided by 255, choices are one-hot. action_mask: 0 forbids a choice; each element of an action
         needs at least one that is allowed; required with use_action_mask, NULL without.
   Errors: E_CONFIG; E_NOT_READY if rlcore_learner_learn is due, or an environment has already acted; E_SHAPE for a
   mask that is missing or not expected; E_VALUE for a mask that allows nothing, and for an observation that is not
   finite, is so large that the policy overflows, has a choice that does not exist, or is not a stack as num_stacked
   requires. */
rlcore_status rlcore_learner_act(rlcore_learner *p, const rlcore_rows *rows);

/* rlcore_learner_act for environments [begin, end) only. The arrays are those of all N; only rows of the range are
   used. Calls for consecutive ranges, from the first environment to the last, leave the same bytes as one call for
   all.
   Threads: one call at a time.
   rows: as rlcore_learner_act.
   Errors: as rlcore_learner_act; E_RANGE. */
rlcore_status rlcore_learner_act_range(rlcore_learner *p, uint32_t begin, uint32_t end, const rlcore_rows *rows);

/* Actions of the host's own in place of those of rlcore_learner_act: of a person, a script or a recorded game.
   Off policy (DQN, TD3, SAC) each begins a transition of its environment, and rlcore_learner_observe completes it. Its
   steps count in num_steps; an episode with such an action is not the agent's, and counts in none of the statistics. The
   first demonstration_size of these transitions are kept for good.
   On policy the first demonstration_size observations and actions are kept for imitation_coef, later ones are left out.
   Nothing begins and nothing is counted: rlcore_learner_observe does not follow, and an environment that the learner acts
   in as well is at the beginning of an episode then, or is cut by rlcore_learner_cut.
   rows: reads active, obs, action_mask, and action: numbers between their bounds, without bounds from -1 to 1 off policy,
         and choices that action_mask allows.
   Errors: as rlcore_learner_act; E_VALUE for another action; E_DISABLED on policy without demonstration_size. */
rlcore_status rlcore_learner_demonstrate(rlcore_learner *p, const rlcore_rows *rows);

/* Records the results of the step and completes the transitions. After T * N transitions rlcore_learner_learn is due.
   Autoreset must be same-step: with next-step autoreset, rows that are only reset would count as transitions.
   rows: reads active, reward, terminated, truncated, final_obs and final_action_mask, and with use_duration duration. An
         environment whose active is 0 was not stepped. final_obs and final_action_mask are read only where truncated and
         not terminated; final_obs may be NULL if there is no such environment. final_action_mask: 0 forbids a choice;
         those rows allow at least one choice of each element; NULL: all are allowed, as without use_action_mask. The
         reward is that of the whole duration.
   Errors: E_CONFIG; E_NOT_READY if an environment has not acted; E_SHAPE for a mask without use_action_mask; E_VALUE
   for a reward, a duration or a final_obs that is not finite, a duration below 0, a mask that allows nothing, and off
   policy for a final_obs that is not a stack as num_stacked requires. */
rlcore_status rlcore_learner_observe(rlcore_learner *p, const rlcore_rows *rows);

/* Removes agents that leave before the outcome of their last action is known, whether or not they have been observed
   since. Their last transition is dropped; the one before it becomes truncated, and bootstraps from the value of the
   observation that the last action was chosen for. Off policy, transitions whose n_step steps are not complete are dropped.
   Their episodes are not counted. The rows are free for other agents.
   Allowed in every phase. If rlcore_learner_learn is due and has not begun, the rollout may lack transitions afterwards,
   so that learning is not due any more: ask rlcore_learner_phase. An update that has begun goes on with all of its
   transitions, and with the bootstrap values of the observations that it was given.
   gone: [N] flags. */
rlcore_status rlcore_learner_cut(rlcore_learner *p, const uint8_t *gone);

/* Does a part of the update that is due, so that a frame need not wait for a whole update.
   rows:        reads obs and action_mask after the last step, required in the first call of an update of a rollout;
                rows of environments that have acted since, or whose episode ended, are not read. NULL, or with obs
                NULL: there is no observation, as off policy and in later calls. The value that follows is one of the
                choices of action_mask; NULL: all are allowed, as without use_action_mask.
   max_slices:  the most chunks to do in this call, of which a minibatch has num_chunks; 0: all that are left.
   stats:       to write; call again while minibatches_left is not 0. With overlap the next update may be due by the end
                of an update: then minibatches_left counts the next one, whose first call needs obs on policy.
   With overlap off policy, what an update learns does not depend on when its parts are computed: it draws from what was
   stored when it began, with the statistics of that time, and the policy from before it acts until the next update begins.
   Errors: E_CONFIG; E_NOT_READY; E_SHAPE for a mask without use_action_mask; E_VALUE for an observation that is not finite
   or a mask that allows nothing, before anything changes, or because numbers overflow. In that case the update ends and is
   counted in num_dropped, the parameters are those of the last minibatch whose numbers did not overflow, and
   rlcore_learner_act is due. */
rlcore_status rlcore_learner_learn(rlcore_learner *p, const rlcore_rows *rows, uint32_t max_slices,
                                   rlcore_learner_stats *stats);

/* Returns the statistics as a call that learns would write them now, in any phase. Of a learner that was saved amid an
   update, minibatches_left counts the rest of that update.
   stats: to write.
   Errors: E_CONFIG for struct_size. */
rlcore_status rlcore_learner_stats_read(const rlcore_learner *p, rlcore_learner_stats *stats);

/* Computes the value of an observation of each environment. Nothing is recorded. Recurrent layers read their current
   state for each environment, zeros where an episode begins, and do not change it.
   rows:  reads obs and action_mask; NULL: all choices are allowed, as without use_action_mask. The value of a learner
          of Q is that of the best of these choices, and that of discrete SAC a mean over them.
   value: [N] to write.
   Errors: E_CONFIG; E_SHAPE for a mask without use_action_mask; E_VALUE for an observation that is not finite, a mask
   that allows nothing, or values that overflow. */
rlcore_status rlcore_learner_value(rlcore_learner *p, const rlcore_rows *rows, float *value);

/* Computes the log-probability of each environment's action and the entropy of its distribution. Nothing is recorded.
   Recurrent layers read their current state for each environment, zeros where an episode begins, and do not change it. With
   squash both are those of the action before tanh, as in updates.
   rows: reads obs, action_mask as in rlcore_learner_act, and action; continuous actions as the policy draws them,
         before they are squashed or clipped.
   log_prob, entropy: [N] to write.
   Errors: E_CONFIG; E_SHAPE for a mask that is missing or not expected; E_VALUE for an observation or action that is
   not finite, a choice that does not exist or is not allowed, and numbers that overflow. */
rlcore_status rlcore_learner_log_prob(rlcore_learner *p, const rlcore_rows *rows, float *log_prob, float *entropy);

/* Numbers that recurrent layers carry from one step of an environment to the next; 0 without such layers. */
rlcore_status rlcore_learner_state_len(const rlcore_learner *p, size_t *out_len);

/* How many numbers networks read of one observation: obs.len, unless observations are choices or structures. */
rlcore_status rlcore_learner_seen_len(const rlcore_learner *p, size_t *out_len);

/* Transitions in the arrays of rlcore_learner_batch_read and rlcore_learner_learn_batch: T * N. Off policy, those in the
   arrays of rlcore_learner_learn_transitions: batch_size.
   out_mask_len:  flags of action_mask for each of them; 0 without use_action_mask, when action_mask is NULL.
   out_begin_len: elements of begin, as many as transitions; 0 where begin is NULL.
   out_env_len:   elements of env, as many as transitions; 0 where env is NULL. */
rlcore_status rlcore_learner_batch_len(const rlcore_learner *p, size_t *out_len, size_t *out_mask_len,
                                       size_t *out_begin_len, size_t *out_env_len);

/* Acts without recording and without the noise of noisy layers, in any phase. Training is not affected.
   rows:     reads obs and action_mask, writes action, as rlcore_learner_act; active is not read: all act.
   state:    [N, rlcore_learner_state_len()] of recurrent layers from call to call, apart from the episodes that are
             recorded; read, then written. Numbers of layers that only the values read (policy_layer) stay as they are,
             or become 0 with reset. NULL without such layers.
   reset:    [N] 1: an episode begins, and its row of state is read as zeros; NULL: none does.
   sampling: NULL means RLCORE_SAMPLING_BASIC.
   Errors: as rlcore_learner_act; E_CONFIG for sampling. */
rlcore_status rlcore_learner_predict(rlcore_learner *p, const rlcore_rows *rows, float *state, const uint8_t *reset,
                                     const rlcore_sampling *sampling);

/* Stops (1) or resumes (0) updating the statistics that normalize observations and rewards.
   Errors: E_RANGE for another number. */
rlcore_status rlcore_learner_freeze(rlcore_learner *p, uint32_t frozen);

/* ---- Learners on several threads, processes and machines ---- */

/* The T * N transitions of an update: rlcore_learner_batch_read writes these arrays, rlcore_learner_learn_batch reads
   them. */
typedef struct rlcore_learner_batch {
  uint32_t struct_size;  /* sizeof(rlcore_learner_batch) */
  uint32_t reserved;     /* zero */
  float *obs;            /* [T * N, rlcore_learner_seen_len()] as networks read it: bytes / 255, one-hot, normalized */
  void *action;          /* [T * N, action.len]; continuous ones as drawn, neither squashed nor clipped */
  uint8_t *action_mask;  /* [T * N, sum of action.n] with use_action_mask, else NULL */
  float *log_prob;       /* [T * N] */
  float *value;          /* [T * N] */
  float *advantage;      /* [T * N]; IMPALA computes advantages when it learns: with it, the rewards */
  float *value_target;   /* [T * N]; with IMPALA the reward plus the discounted next value */
  float *state;          /* [T * N, rlcore_learner_state_len()] of recurrent layers, before it; NULL without them */
  uint8_t *begin;        /* [T * N] 1 where an episode begins; with recurrent layers and with IMPALA, else NULL */
  uint32_t *env;         /* [T * N] environments, the rows of each in order; as begin, and with num_stacked */
  double *moments;       /* [rlcore_learner_moments_len()] as rlcore_learner_moments_read; NULL if that is 0 */
  float *duration;       /* [T * N] how long the actions lasted, with use_duration, else NULL */
} rlcore_learner_batch;

/* B transitions of the host's own, with B = batch_size. rlcore_learner_learn_transitions reads all of them but error,
   which it writes. */
typedef struct rlcore_learner_transitions {
  uint32_t struct_size;             /* sizeof(rlcore_learner_transitions) */
  uint32_t reserved;                /* zero */
  const void *obs;                  /* [B, obs.len] before the action */
  const void *action;               /* [B, action.len] numbers between their bounds, without bounds from -1 to 1; choices */
  const uint8_t *action_mask;       /* [B, sum of action.n] allowed in obs; of SAC with use_action_mask; DQN: or NULL */
  const float *reward;              /* [B] of the step; or with discount sums of discounted rewards of several */
  const uint8_t *terminated;        /* [B] 1: the value of next_obs does not count */
  const float *discount;            /* [B] of that value, 0 to 1, as of rlcore_replay_transitions; NULL: config.discount */
  const void *next_obs;             /* [B, obs.len] after the last of its steps; also finite where terminated */
  const uint8_t *next_action_mask;  /* [B, sum of action.n] allowed in next_obs; with use_action_mask, else NULL */
  const float *importance;          /* [B] weights, finite, at least 0, as of rlcore_replay_sample; NULL: 1 */
  float *error;                     /* [B] absolute temporal-difference errors, for rlcore_replay_update; may be NULL */
} rlcore_learner_transitions;

/* Begins the update that is due, for hosts that share its chunks among threads or machines. Until minibatches_left is
   0, compute the gradients of all chunks with rlcore_learner_learn_range, store them with rlcore_learner_grads_write,
   and take the step with rlcore_learner_learn_apply. The results are those of rlcore_learner_learn, bit for bit. Off
   policy a batch of the store takes the place of a minibatch, and minibatches_left counts gradient steps: one takes two
   rounds of these calls where TD3 and SAC learn the policy after the critics.
   rows: reads obs and action_mask after the last step, as in rlcore_learner_learn; not read off policy, where it may be
         NULL. stats: to write.
   Errors: E_CONFIG; E_NOT_READY; E_SHAPE and E_VALUE as rlcore_learner_learn. */
rlcore_status rlcore_learner_learn_begin(rlcore_learner *p, const rlcore_rows *rows, rlcore_learner_stats *stats);

/* Bytes of scratch that rlcore_learner_learn_range needs. */
rlcore_status rlcore_learner_scratch_size(const rlcore_learner *p, size_t *out_size);

/* Floats of the gradients of a chunk: one for each parameter, then 8 for its losses; off policy then one for each
   transition of the longest chunk, how far its value is from its target, by which priorities go. */
rlcore_status rlcore_learner_grads_len(const rlcore_learner *p, size_t *out_len);

/* Computes the gradients of chunks [begin, end) of the current minibatch or batch. Threads: the learner is only read, so
   several threads may compute different chunks at once, each with its own scratch.
   scratch: [scratch_size] bytes to be written, 8-byte aligned, at least rlcore_learner_scratch_size().
   grads:   [grads_len] to write: end - begin times rlcore_learner_grads_len().
   Errors: E_NOT_READY if no update runs; E_RANGE; E_SHAPE for another grads_len; E_SIZE of scratch; E_VALUE if numbers
   overflow. After an error scratch and grads may have been written. */
rlcore_status rlcore_learner_learn_range(const rlcore_learner *p, uint32_t begin, uint32_t end, void *scratch,
                                         size_t scratch_size, float *grads, size_t grads_len);

/* Adds the gradients of all chunks of the minibatch as a tree, takes the optimizer step and prepares the next minibatch.
   If no update runs, it takes a step along gradients that were computed elsewhere, as a server of asynchronous workers
   does, on policy. That counts no environment steps, by which schedules go: tell them by rlcore_learner_count_steps.
   stats: to write.
   Errors: E_NOT_READY if the gradients of a chunk are missing; E_VALUE if numbers overflow, as rlcore_learner_learn. */
rlcore_status rlcore_learner_learn_apply(rlcore_learner *p, rlcore_learner_stats *stats);

/* Adds environment steps that others took to num_steps, so that learning_rate, clip, entropy_coef, exploration, importance
   and learning_starts go by all of them: on a server that takes steps along the gradients of workers, on workers beside
   others, and on a learner whose transitions come from rlcore_learner_learn_batch or rlcore_learner_learn_transitions.
   Steps that the learner observes itself are counted already. A step of gradients or transitions takes the rates of the
   steps counted so far, so count those behind it afterwards; an update of a rollout takes those of T * N steps fewer, so
   count the steps of a batch before rlcore_learner_learn_batch. Off policy this makes no update due.
   Errors: E_NOT_READY if rlcore_learner_learn is due or runs without overlap, off policy also if it runs with overlap;
   E_OVERFLOW if the sum does not fit 64 bits. Nothing changes then. */
rlcore_status rlcore_learner_count_steps(rlcore_learner *p, uint64_t num_steps);

/* Discards the rest of the current update, or all of the update that is due; rlcore_learner_act is due.
   Errors: E_NOT_READY if there is no such update. */
rlcore_status rlcore_learner_learn_drop(rlcore_learner *p);

/* Begins an update with a rollout that another learner has recorded and rlcore_learner_batch_read has copied out.
   Continue with rlcore_learner_learn, where rows may be NULL, or with rlcore_learner_learn_range. Auxiliary tasks do not
   keep its steps, since it has no rewards.
   batch: read, as rlcore_learner_batch_read writes it. The moments become this learner's own, also while they are frozen,
          because the policy that it learns is one of observations that they normalize; those of the rollouts of several
          learners are merged by rlcore_learner_moments_merge.
   stats: to write.
   Errors: E_CONFIG for noisy layers, unless with IMPALA; E_NOT_READY if this learner has recorded steps, or an
   update runs; E_SHAPE for a mask that is missing or not expected; E_VALUE for numbers that are not finite, observations
   that are no bytes divided by 255 where obs.kind says bytes, choices that are not allowed, a begin above 1 and an env of
   N or more; E_VALUE and E_RANGE for moments as rlcore_moments_update. */
rlcore_status rlcore_learner_learn_batch(rlcore_learner *p, const rlcore_learner_batch *batch,
                                         rlcore_learner_stats *stats);

/* Takes one gradient step from transitions of the host's own, off policy (DQN, TD3, SAC): some that its rlcore_replay or
   rlcore_memory holds, that were recorded elsewhere, or that rlcore_relabel_goals has given other goals. It counts as an
   update and as no environment steps, and leaves the transitions that the learner keeps as they are. With buffer_size 0 it
   keeps none: act and observe, which explore and count steps, then never make an update due.
   stats:            to write.
   Errors: E_CONFIG; E_DISABLED for a learner on policy; E_NOT_READY if rlcore_learner_learn is due; E_SHAPE for a mask
   that is missing or not expected; E_VALUE for numbers, actions and masks other than those, before anything changes, or
   because numbers overflow. In that case the step is dropped and counted in num_dropped, and error is not written. */
rlcore_status rlcore_learner_learn_transitions(rlcore_learner *p, const rlcore_learner_transitions *transitions,
                                               rlcore_learner_stats *stats);

/* Copies out the T * N transitions of the current update, so that another learner can learn from them. A learner that
   only records calls rlcore_learner_learn_begin, this function, and rlcore_learner_learn_drop.
   batch: its arrays are written.
   Errors: E_CONFIG; E_NOT_READY if no update runs; E_SHAPE for a mask that is missing or not expected. */
rlcore_status rlcore_learner_batch_read(const rlcore_learner *p, const rlcore_learner_batch *batch);

/* Number of parameters. TD3 and SAC with continuous actions have one for each element of an action that they neither read
   nor change: the logarithm of a deviation, log_std_init. */
rlcore_status rlcore_learner_params_len(const rlcore_learner *p, size_t *out_len);

/* Copies the parameters out. Their order is the same in all learners with the same networks.
   params: [params_len] to write.
   Errors: E_SHAPE if params_len is not rlcore_learner_params_len(). */
rlcore_status rlcore_learner_params_read(const rlcore_learner *p, float *params, size_t params_len);

/* Sets the parameters to those of another learner with the same networks, whatever its N, and with them the moments that
   normalized its training data: with other moments the parameters are another policy. With overlap, a current update ends
   before they act. Off policy the target networks become copies of them, as a move with target_rate 1 makes them, so that
   a learner that starts from the parameters of another one does not learn towards the values of those it had. The state of
   the optimizer stays.
   params:  [params_len] as rlcore_learner_params_read writes them.
   moments: [moments_len] of the same learner, as rlcore_learner_moments_read writes them; NULL if moments_len is 0, as
            without normalize_obs and normalize_reward.
   Errors: E_SHAPE if params_len is not rlcore_learner_params_len(), or moments_len not rlcore_learner_moments_len();
   E_VALUE for a parameter beyond plus or minus 1e6, or the logarithm of a standard deviation outside its limits; as
   rlcore_moments_update for the moments; E_NOT_READY with overlap and moments while an update runs. */
rlcore_status rlcore_learner_params_write(rlcore_learner *p, const float *params, size_t params_len,
                                          const double *moments, size_t moments_len);

/* Number of doubles in the moments of a learner: 4, and 2 for each number of rlcore_learner_seen_len with normalize_obs; 0
   without normalize_obs and normalize_reward. */
rlcore_status rlcore_learner_moments_len(const rlcore_learner *p, size_t *out_len);

/* Copies out the moments that normalize observations and rewards. Observations of environments that have acted and not
   observed since are not counted yet.
   moments: [moments_len] to write. First count, mean and variance of the discounted sums of rewards; then the count of
            observations and, with normalize_obs, the mean of each number that the networks read, and the variance of each.
            Variances are those of the population; counts begin at 1e-4, with means 0 and variances 1. NULL if it is 0.
   Errors: E_SHAPE if moments_len is not rlcore_learner_moments_len(). */
rlcore_status rlcore_learner_moments_read(const rlcore_learner *p, double *moments, size_t moments_len);

/* Sets the moments, for example to those of several learners, merged by rlcore_learner_moments_merge. Also while they are
   frozen (rlcore_learner_freeze). Recorded steps stay normalized as they were.
   moments: [moments_len] as rlcore_learner_moments_read writes them; NULL if it is 0.
   Errors: E_SHAPE if moments_len is not rlcore_learner_moments_len(); E_VALUE and E_RANGE as rlcore_moments_update. */
rlcore_status rlcore_learner_moments_write(rlcore_learner *p, const double *moments, size_t moments_len);

/* Merges the moments of a learner into those of another by their counts, with Chan's formula in double: sums of rewards
   first, then observations, each number for itself, so that the result depends on the order of these calls only. Workers
   that begin a round with the moments of a server (base) and count observations of their own are merged one after another
   into a copy of base, each with that base, which counts base once.
   base:    [len] moments that with and moments both contain; NULL: they have counted nothing in common.
   with:    [len] the moments to merge.
   moments: [len] to change.
   Errors: E_SHAPE unless len is 4 plus a multiple of 2; E_VALUE and E_RANGE as rlcore_moments_update, for the result too;
   E_RANGE for a count below that of base, and for counts that are 0 together. */
rlcore_status rlcore_learner_moments_merge(const double *base, const double *with, size_t len, double *moments);

/* Copies the gradients of chunks [begin, end) out.
   grads: [grads_len] to write: end - begin times rlcore_learner_grads_len().
   Errors: E_RANGE; E_SHAPE for another grads_len; E_NOT_READY if the gradients of a chunk are missing. */
rlcore_status rlcore_learner_grads_read(const rlcore_learner *p, uint32_t begin, uint32_t end, float *grads,
                                        size_t grads_len);

/* Stores the gradients of chunks [begin, end), replacing earlier ones.
   grads: [grads_len]: end - begin times rlcore_learner_grads_len().
   Errors: E_RANGE; E_SHAPE for another grads_len; E_VALUE for a gradient that is not finite; E_NOT_READY off policy if no
   update runs. */
rlcore_status rlcore_learner_grads_write(rlcore_learner *p, uint32_t begin, uint32_t end, const float *grads,
                                         size_t grads_len);

/* Adds to the gradients of those chunks of [begin, end) that have some, and stores those of the others. The last bits
   of the sums depend on the order of these calls.
   grads: [grads_len]: end - begin times rlcore_learner_grads_len().
   Errors: as rlcore_learner_grads_write; E_VALUE also for a sum that is not finite. */
rlcore_status rlcore_learner_grads_add(rlcore_learner *p, uint32_t begin, uint32_t end, const float *grads,
                                       size_t grads_len);

/* ---- Spaces of environments and learners ---- */

/* Observation and action spaces of an environment, wrappers included: the arguments of rlcore_learner_init. n, low and
   high point into the environment.
   out_obs: its kind is RLCORE_STRUCT if a field has another kind than bytes. */
rlcore_status rlcore_env_spaces(const rlcore_env *env, rlcore_space *out_obs, rlcore_space *out_action);

/* Number of environments and spaces of a learner, e.g. of a loaded one, to allocate arrays by.
   out_num_envs: N.
   out_obs, out_action: n of discrete elements, and low and high of bounded actions, point into the learner. Bounds of
                 observations are NULL. */
rlcore_status rlcore_learner_spaces(const rlcore_learner *p, uint32_t *out_num_envs, rlcore_space *out_obs,
                                    rlcore_space *out_action);

/* ---- Collecting: steps of environments until a learner learns ---- */

/* Collects steps: rlcore_learner_act, rlcore_vecenv_step and rlcore_learner_observe, in turn, until max_steps steps of all
   environments are taken or rlcore_learner_learn is due. Blocks and arrays are left as by these calls made one by one.
   Autoreset must be same step.
   Example:
     rlcore_vecenv_reset(envs, env, NULL, rows.obs);    // and rlcore_vecenv_action_mask, with use_action_mask
     while (training) {
       rlcore_collect(agent, envs, env, &rows, 0, NULL);
       rlcore_learner_learn(agent, &rows, 0, &stats);
     }
   rows:          obs, and with use_action_mask action_mask, are those to act on first, and are written like all that
                  rlcore_vecenv_step writes; action is written. final_obs is required; action_mask and
                  final_action_mask are NULL without use_action_mask. active is not read: all act. Afterwards they
                  hold the last step: with max_steps of 1 the host sees every step, as rlcore_monitor_step needs it.
   max_steps:     0: no limit. If learn is due already, no step is taken.
   out_num_steps: steps taken; NULL: not wanted. Also written if a step fails after others; it is not counted.
   Threads: one call at a time; nobody else uses learner or environments, and callbacks must not either.
   Errors: E_CONFIG, also for another autoreset; E_SHAPE if learner and environments differ in N or in their spaces, or
   for masks; E_NOT_READY for an environment that must be reset first, or that has acted and was not observed; as
   rlcore_learner_act; all before anything changes. If environments fail with E_CALLBACK, or E_VALUE for a reward or
   observation that is not finite, all others are stepped and observed, and the failed ones are cut as by
   rlcore_learner_cut: their last transitions are dropped. valid, if given, is 0 for them, and rlcore_last_error() names
   the first. If rlcore_learner_observe fails, all are cut. Reset those that failed, and call again. */
rlcore_status rlcore_collect(rlcore_learner *p, rlcore_vecenv *v, const rlcore_env *env, const rlcore_rows *rows,
                             uint32_t max_steps, uint32_t *out_num_steps);

/* ---- Policies: trained networks to ship ---- */

/* A policy: the caller's own block, read-only; any number of threads may share it. */
typedef struct rlcore_policy rlcore_policy;

/* Arrays that a policy works in, of the calling thread's own. */
typedef struct rlcore_policy_buffers {
  uint32_t struct_size;  /* sizeof(rlcore_policy_buffers) */
  uint32_t reserved;     /* zero */
  float *scratch;        /* [scratch_len] to be written */
  size_t scratch_len;    /* at least rlcore_policy_scratch_len() */
  float *state;          /* [num_rows, rlcore_policy_state_len()] of recurrent layers: read, then written; else NULL */
  const uint8_t *reset;  /* [num_rows] 1: an episode begins, and its row of state is read as zeros; NULL: none does */
} rlcore_policy_buffers;

/* Bytes that rlcore_policy_export needs. */
rlcore_status rlcore_policy_size(const rlcore_learner *p, size_t *out_size);

/* Writes the current policy of a learner: network, bounds and the statistics that normalize observations.
   mem: 8-byte aligned, mem_size bytes, owned by the caller. Equal policies are equal bytes; the block is sealed.
   out: the same address as mem, with its type.
   Errors: E_SIZE if mem_size < rlcore_policy_size(). */
rlcore_status rlcore_policy_export(const rlcore_learner *p, void *mem, size_t mem_size, rlcore_policy **out);

/* Opens the bytes of a policy that was copied or saved, in this process or another. mem is only read and may be
   constant data. The seal of rlcore_policy_export is checked: a policy is refused if any byte has changed, or if its export
   was interrupted.
   obs, action: the spaces of the host's arrays, which the policy must have been made for: kind and len are compared, n of
                discrete elements, and low and high of actions of floats unless they are NULL; of RLCORE_STRUCT kind and
                len only. NULL: any are accepted, and rlcore_policy_spaces tells which arrays rlcore_policy_act needs.
   Errors: E_IMAGE; E_SHAPE if the policy was made for other spaces, with its number and the given one. */
rlcore_status rlcore_policy_attach(const void *mem, size_t mem_size, const rlcore_space *obs,
                                   const rlcore_space *action, const rlcore_policy **out);

/* Spaces of a policy, e.g. of a loaded one: those of each row that rlcore_policy_act reads and writes.
   out_obs, out_action: as rlcore_learner_spaces; the arrays point into the policy. */
rlcore_status rlcore_policy_spaces(const rlcore_policy *p, rlcore_space *out_obs, rlcore_space *out_action);

/* Numbers that recurrent layers carry from one step of a row to the next; 0 without such layers. */
rlcore_status rlcore_policy_state_len(const rlcore_policy *p, size_t *out_len);

/* Floats of scratch that rlcore_policy_act needs for num_rows observations. */
rlcore_status rlcore_policy_scratch_len(const rlcore_policy *p, uint32_t num_rows, size_t *out_len);

/* Chooses an action for each of num_rows observations.
   rows:     reads obs and action_mask, writes action, all of num_rows rows. obs: bytes are divided by 255, choices are
             one-hot. action_mask: 0 forbids a choice; each element of an action needs at least one that is allowed;
             NULL: everything is allowed. active is not read: all act.
   buffers:  reads reset; writes scratch; reads and writes state.
   sampling:    NULL means RLCORE_SAMPLING_BASIC.
   rng:         a random stream of the calling thread; may be NULL with RLCORE_SAMPLING_GREEDY.
   Errors: E_SIZE of scratch; E_CONFIG for sampling; E_SHAPE for a mask with continuous actions; E_VALUE for an
   observation or a state that is not finite or so large that the policy overflows, or a mask that allows nothing. After
   an error scratch may have been written, action, state and rng not. */
rlcore_status rlcore_policy_act(const rlcore_policy *p, uint32_t num_rows, const rlcore_rows *rows,
                                const rlcore_policy_buffers *buffers, const rlcore_sampling *sampling, rlcore_rng *rng);

/* Chooses the same actions as rlcore_policy_act with RLCORE_SAMPLING_GREEDY: the most probable ones, or the means. A
   program that acts in no other way is a few kilobytes smaller, because no code for random draws is linked.
   Arrays and errors as rlcore_policy_act. */
rlcore_status rlcore_policy_act_greedy(const rlcore_policy *p, uint32_t num_rows, const rlcore_rows *rows,
                                       const rlcore_policy_buffers *buffers);

/* ---- Distributions: answers of networks ---- */

/* Answers of networks to M observations: arrays to write. NULL: not asked for. */
typedef struct rlcore_distribution {
  uint32_t struct_size;  /* sizeof(rlcore_distribution) */
  uint32_t reserved;     /* zero */
  /* [M, sum of action.n] probabilities of the choices of each element of an action, 0 where action_mask forbids: those of
     RLCORE_SAMPLING_BASIC. Of learners of Q their logits are 1024 times Q */
  float *prob;
  /* [M, A] means of the A continuous elements of an action: before tanh with squash, TD3 and SAC, else before they
     are clipped */
  float *mean;
  /* [M, A] standard deviations there; 0 of TD3, whose policy draws nothing; of exported policies of SAC and TD3
     exp(log_std_min) */
  float *std;
  float *value;  /* [M] values, as rlcore_learner_value; of learners only, and without recurrent critics */
  /* [M, sum of action.n] Q of all choices, allowed or not: of DQN, PQN and stream Q; of discrete SAC the lowest of
     the critics */
  float *q;
  float *log_prob;  /* [M] log-probabilities of rows.action, as rlcore_learner_log_prob; not of learners off policy */
  float *entropy;   /* [M] entropies in nats, with squash before tanh; not of learners off policy */
  void *best;       /* [M, action.len] the actions of RLCORE_SAMPLING_GREEDY */
} rlcore_distribution;

/* Tells the answers of a learner's networks to num_rows observations of the host's own, any number from 1: probabilities of
   all choices or means and deviations, values, Q, log-probabilities, and best actions. Nothing is recorded, in any phase,
   and noisy layers have no noise, as in rlcore_learner_predict. Beyond N rows each is computed twice, so that a refusal
   writes nothing.
   rows:  reads obs, action_mask (NULL: all choices are allowed, as without use_action_mask), and with log_prob action,
          continuous ones as the policy draws them, before they are squashed or clipped; all of num_rows rows. active is not
          read.
   state: [num_rows, rlcore_learner_state_len()] of recurrent layers, the caller's own: read, then written with those after
          this step, as the learner's own go on in rlcore_learner_act. NULL without such layers.
   reset: [num_rows] 1: an episode begins, and its row of state is read as zeros; NULL: none does.
   out:   reads its pointers, and writes the arrays that they point to.
   Errors: E_CONFIG; E_SHAPE for no rows, prob or q without choices, mean or std without continuous elements, and a mask
   without use_action_mask; E_DISABLED for answers that the learner does not have; E_VALUE for an observation, a state or an
   action that is not finite, a mask that allows nothing, a choice that does not exist or is not allowed, and numbers that
   overflow. */
rlcore_status rlcore_learner_distribution(rlcore_learner *p, uint32_t num_rows, const rlcore_rows *rows, float *state,
                                          const uint8_t *reset, const rlcore_distribution *out);

/* Tells the answers of a policy to num_rows observations, as rlcore_learner_distribution: the distribution that
   rlcore_policy_act draws from. A policy has neither values nor Q.
   rows:    reads obs, action_mask, and with log_prob action, as there.
   buffers: reads reset; writes scratch, as long as for rlcore_policy_act; reads and writes state.
   out:     reads its pointers, and writes the arrays that they point to.
   Errors: as there; E_DISABLED for value and q; E_SIZE of scratch. After an error scratch may have been written, nothing
   else. */
rlcore_status rlcore_policy_distribution(const rlcore_policy *p, uint32_t num_rows, const rlcore_rows *rows,
                                         const rlcore_policy_buffers *buffers, const rlcore_distribution *out);

/* ---- Imitation: learning what the host shows ---- */

/* How rows are imitated. All zero but struct_size: each row by itself, and all alike. */
typedef struct rlcore_imitation {
  uint32_t struct_size;  /* sizeof(rlcore_imitation) */
  /* with recurrent layers, rows are [num_steps, num_rows / num_steps]: sequences that each start from a state of zeros;
     at most the rows of a chunk, T * N / (num_minibatches * num_chunks), off policy batch_size / num_chunks. 0: 1 */
  uint32_t num_steps;
  const uint8_t *reset;  /* [num_rows] 1: an episode begins with the row; NULL: none begins within a sequence */
  /* [num_rows, sum of action.n] probabilities of the choices of each element, in place of those in action, 0 where
     action_mask forbids: distillation. rlcore_learner_distribution and rlcore_policy_distribution tell those of a
     teacher. NULL: action has the choices */
  const float *prob;
  const float *weight;  /* [num_rows] weights of the rows, at least 0; NULL: 1 */
  float margin;         /* learners of Q: how far Q of the given choice is to be above that of every other one; 0: 0.8 */
  /* 1: standard deviations learn too, down to log_std_min if the actions are those of a function; 0: they stay, as
     learning that goes on afterwards needs. 0 of actions without numbers, and of TD3 */
  uint32_t fit_std;
} rlcore_imitation;

/* Takes one optimizer step that makes the network that acts imitate num_rows rows, any number from 1: of a script, a
   person, a search, or another policy. The loss is a mean over the rows of weight times: for the choices of a policy, the
   cross-entropy less the entropy of prob, summed over the elements of an action; for numbers, minus the logarithm of the
   density, of actions before they are squashed or clipped, TD3 the squared distance of actions scaled to -1 to 1; for Q
   (DQN, PQN, stream Q; distributions count by their mean), max over a of (Q(a) + margin unless a is the choice) -
   Q(choice), the mean over the elements, and with prob the mean of that.
   Critics, values and statistics stay; observations are normalized as in rlcore_learner_act, so moments come first
   (rlcore_learner_moments_write). Noisy layers have no noise. The step is the optimizer's, with the moments, the limit of
   the norm and the learning rate that learning has now; of stream algorithms that of an error of 1, and traces begin
   anew. Before the first gradient step off policy, target networks become copies of the network; afterwards they follow
   as ever. Rows are read a chunk at a time, the gradients of chunks are added in order. Nothing is recorded or counted;
   in any phase.
   rows:     reads obs, action_mask (NULL: all choices are allowed) and action, as the environment takes it: choices that
             the mask allows; numbers that squash, TD3 or SAC would reach, within their bounds, else any that are finite.
             action may be NULL with prob, if it has no numbers. active is not read.
   how:      read; NULL: all zero.
   out_loss: the loss before the step; NULL: not wanted.
   Errors: E_NOT_READY while an update runs, with overlap too, or gradients wait for rlcore_learner_learn_apply; E_CONFIG
   for a margin or a fit_std that the learner does not read; E_SHAPE for no rows, num_steps that do not divide num_rows or
   are more than a chunk has, prob without choices, and a mask without use_action_mask; E_VALUE for an observation or a
   weight that is not finite, another action, probabilities whose sum is not 1, a mask that allows nothing, and numbers
   that overflow. The parameters stay then. */
rlcore_status rlcore_learner_imitate(rlcore_learner *p, uint32_t num_rows, const rlcore_rows *rows,
                                     const rlcore_imitation *how, float *out_loss);

/* ---- Tensors: the numbers of learners and policies by name ---- */

/* What a learner has one number of for each of its parameters. */
typedef enum rlcore_tensors {
  RLCORE_TENSORS_PARAMS = 0,   /* the parameters */
  RLCORE_TENSORS_TARGETS = 1,  /* the parameters of the target networks: DQN, TD3, SAC */
  /* first moments of the optimizer; of RMSProp its last steps, or with RLCORE_OPTIMIZER_RMSPROP_CENTERED means of
     gradients; of stream algorithms the traces */
  RLCORE_TENSORS_FIRST_MOMENTS = 2,
  RLCORE_TENSORS_SECOND_MOMENTS = 3,  /* means of squared gradients; not of stream algorithms */
} rlcore_tensors;

/* A tensor: one array of numbers of a layer. 88 bytes. Names begin with those of layers: layers.0 and so on as
   listed in the configuration; then hidden layers, counted from 0, and the last layer, head, of policy, of q and of
   value (with a dueling network q has the advantages and value the rest); hidden layers that both share are those of
   policy. deviation is what SAC computes logarithms of deviations by, log_std holds those that are free numbers.
   Critics of TD3 and SAC are critics.0 and so on: critics.0.layers.0, critics.0.0, critics.0.head. Tasks of UNREAL
   have pixel_control.0 to .2 and reward_class.head and .free. After it comes what PyTorch calls the tensor, in its
   order of dimensions: weight [units, inputs] and bias [units] of dense layers, weight [units, channels, height,
   width] of convolutions, [units, 1, height, width] of depthwise ones, [channels, units, height, width] of
   transposed ones; weight and bias of normalizations; weight [channels, symbols, units] of embeddings; weight_ih
   [gates, inputs], weight_hh [gates, units] and bias [gates], the sum of PyTorch's two, of LSTM (gates i, f, g, o),
   GRU (r, z, n, with bias_hn [units] inside the product with r) and minGRU (z and the candidate; no weight_hh), and
   with RLCORE_LAYER_NORMALIZED bias and scale [i, f, g, o and cells]; q_proj_weight, k_proj_weight, v_proj_weight,
   in_proj_bias, out_proj.weight, out_proj.bias and positions [window, units], the newest step first, of attention;
   weight_sigma and bias_sigma of noisy layers. A layer that reads all of a picture has its inputs in the order
   channels, height, width, in which PyTorch flattens pictures; the pictures themselves stay height, width, channels. */
typedef struct rlcore_tensor {
  char name[48];     /* its name, with a zero behind it */
  uint64_t offset;   /* of its first number in the values of a call */
  uint32_t rank;     /* dimensions, 1 to 4 */
  uint32_t dims[4];  /* their lengths; 1 beyond rank */
  uint32_t network;  /* 0: the network of the policy, or of Q; k: critic k, counted from 1 */
  uint32_t layer;    /* its layer, an index of rlcore_learner_layers or rlcore_policy_layers */
  uint32_t frozen;   /* 1: of a learner that leaves it as it is, by rlcore_learner_set_trainable; else 0 */
} rlcore_tensor;

/* How a policy makes actions of what its network computes. */
typedef struct rlcore_policy_info {
  uint32_t struct_size;  /* sizeof(rlcore_policy_info) */
  uint32_t num_choices;  /* outputs of the network that are logits, or values, of choices */
  uint32_t num_means;    /* outputs behind them that are means of numbers */
  uint32_t squash;       /* 1: numbers pass through tanh onto their bounds; 0: they are clipped */
  /* atoms of the distribution that the value of a choice is the mean of: num_choices outputs have so many logits
     each; 0: outputs are plain */
  uint32_t num_atoms;
  uint32_t normalize_obs;  /* 1: observations are normalized */
  float obs_clip;          /* of normalized observations; 0 without */
  float value_min;         /* the lowest atom; 0 without atoms */
  float value_max;         /* the highest atom; 0 without atoms */
  uint32_t num_layers;     /* layers of its network */
  uint32_t seen_len;       /* numbers that the network reads, as rlcore_learner_seen_len */
  uint32_t is_q;           /* 1: outputs are values of choices, not logits */
} rlcore_policy_info;

/* Copies out the configuration of a learner: the one that it was made with, or the last of rlcore_learner_configure.
   config: written; layers, obs_fields and action_fields are NULL with their counts 0. rlcore_learner_layers has the
           layers of the networks, num_listed_layers of which a host lists; rlcore_learner_spaces has the spaces.
   out_num_listed_layers: the num_layers that it was made with; NULL: not wanted.
   Errors: E_SIZE for a structure that is too small. */
rlcore_status rlcore_learner_config_read(const rlcore_learner *p, rlcore_learner_config *config, size_t config_size,
                                         uint32_t *out_num_listed_layers);

/* Lists the layers that run in a learner's networks, with every default filled in: those of its configuration, then
   hidden layers and heads, which have RLCORE_LAYER_HEAD among their flags; kind 2 are numbers that depend on no
   input, such as log_std.
   network: 0: that of the policy, or of Q; 1: that of each critic.
   out:     [capacity], of which *out_len are written; NULL with a capacity of 0 only counts them.
   Errors: E_RANGE for another network; E_SIZE if there are more than capacity. */
rlcore_status rlcore_learner_layers(const rlcore_learner *p, uint32_t network, rlcore_layer *out, uint32_t capacity,
                                    uint32_t *out_len);

/* Lists the tensors of a learner: all its parameters, once each. With their numbers this is all that a file of tensors
   needs.
   Example:
     rlcore_tensor tensors[64];
     uint32_t num_tensors;
     rlcore_learner_tensors(agent, tensors, 64, &num_tensors);
     rlcore_learner_tensors_read(agent, RLCORE_TENSORS_PARAMS, values, params_len);
   out: [capacity], of which *out_len are written; NULL with a capacity of 0 only counts them.
   Errors: E_SIZE if there are more than capacity. */
rlcore_status rlcore_learner_tensors(const rlcore_learner *p, rlcore_tensor *out, uint32_t capacity, uint32_t *out_len);

/* Copies the numbers of all tensors out, each from its offset on.
   of:     an rlcore_tensors.
   values: [values_len] to write.
   Errors: E_CONFIG for another of; E_SHAPE if values_len is not rlcore_learner_params_len(); E_DISABLED if the
   learner's algorithm has no such numbers. */
rlcore_status rlcore_learner_tensors_read(const rlcore_learner *p, uint32_t of, float *values, size_t values_len);

/* Writes tensors into a learner, from whatever source: others stay as they are. Each is found by its name and must
   have the dimensions that it has in rlcore_learner_tensors; network and layer are not read. With parameters, target
   networks become copies of all of them, as with rlcore_learner_params_write; with overlap, a current update ends
   before they act. Moments that normalize observations stay: see rlcore_learner_moments_write.
   of:      an rlcore_tensors.
   tensors: [num_tensors] of which name, offset, rank and dims are read.
   values:  [values_len] numbers; those of a tensor from its offset on.
   Errors: E_CONFIG for another of and a name that the learner has not; E_SHAPE for other dimensions; E_RANGE for
   numbers beyond values_len; E_VALUE for a parameter beyond plus or minus 1e6, a log_std outside its limits, a moment
   that is not finite, and a second moment below 0; E_DISABLED as rlcore_learner_tensors_read. Messages give the index
   of the tensor. Nothing is written then. */
rlcore_status rlcore_learner_tensors_write(rlcore_learner *p, uint32_t of, const rlcore_tensor *tensors,
                                           uint32_t num_tensors, const float *values, size_t values_len);

/* Freezes tensors of a learner, or lets them learn again, all whose names fit. No learning changes frozen tensors:
   neither learn, imitate, learn_batch and learn_transitions, nor gradients that others computed. Their gradients are 0,
   norms that max_grad_norm limits and rlcore_learner_stats tells are those of the others, and moments of the optimizer
   rest. So do traces of stream algorithms, until all traces end. Target networks follow as ever. The block keeps the
   flags, through images, rlcore_learner_configure and rlcore_learner_adopt, which take and give none; a configuration
   with another optimizer starts the moments of all tensors anew, and other limits of log_std move a frozen one into
   them. Tensors that are written, adopted or followed from another learner change, frozen or not. Not tensors are the
   temperature of SAC, which temperature_rate 0 leaves, and what normalizes observations: see rlcore_learner_freeze.
   Example:
     rlcore_learner_set_trainable(agent, "*", 0, NULL); // the heads alone learn
     rlcore_learner_set_trainable(agent, "*head*", 1, NULL);
   names:           NUL-terminated, a name of rlcore_learner_tensors; * stands for any characters, or none:
                    layers.0.weight is one tensor, layers.0.* a layer, critics.* all critics, * everything.
   trainable:       0: they are frozen; 1: they learn.
   out_num_tensors: the number of tensors whose names fit, changed or not; NULL: not wanted.
   Errors: E_RANGE for another trainable and for names of more than 4095 characters; E_CONFIG if no name fits;
   E_NOT_READY while an update runs, and while gradients wait for rlcore_learner_learn_apply. Nothing is written then. */
rlcore_status rlcore_learner_set_trainable(rlcore_learner *p, const char *names, uint32_t trainable,
                                           uint32_t *out_num_tensors);

/* Lists the layers that run in a policy, as rlcore_learner_layers does.
   out: [capacity], of which *out_len are written; NULL with a capacity of 0 only counts them.
   Errors: E_SIZE if there are more than capacity. */
rlcore_status rlcore_policy_layers(const rlcore_policy *p, rlcore_layer *out, uint32_t capacity, uint32_t *out_len);

/* Lists the tensors of a policy. Their names are those that they have in its learner. Noise is left out, outputs that
   are quantiles are their means, and log_std of TD3 and SAC, which act without it, is log_std_min.
   out: [capacity], of which *out_len are written; NULL with a capacity of 0 only counts them.
   Errors: E_SIZE if there are more than capacity. */
rlcore_status rlcore_policy_tensors(const rlcore_policy *p, rlcore_tensor *out, uint32_t capacity, uint32_t *out_len);

/* Copies the numbers of all tensors of a policy out, each from its offset on.
   values: [values_len] to write: as many as the tensors have together.
   Errors: E_SHAPE for another values_len. */
rlcore_status rlcore_policy_tensors_read(const rlcore_policy *p, float *values, size_t values_len);

/* Tells how a policy makes actions of what its network computes. Its spaces are told by rlcore_policy_spaces.
   info: written.
   Errors: E_CONFIG for struct_size. */
rlcore_status rlcore_policy_info_read(const rlcore_policy *p, rlcore_policy_info *info);

/* Copies out the moments that a policy normalizes observations with.
   mean, variance: [len] to write, of each number that the network reads: seen_len of rlcore_policy_info. A number x
                   becomes (x - mean) / sqrt(variance + 1e-8), clipped to plus or minus obs_clip.
   Errors: E_SHAPE for another len, which is 0 without normalize_obs. */
rlcore_status rlcore_policy_moments_read(const rlcore_policy *p, double *mean, double *variance, size_t len);

/* ---- Learners that go on: another configuration, and what others have learned ---- */

/* What one learner takes over from another: a sum of these. */
typedef enum rlcore_adopt {
  RLCORE_ADOPT_PARAMS = 1,     /* the parameters, and a temperature that is learned; target networks become copies */
  RLCORE_ADOPT_TARGETS = 2,    /* the parameters of target networks: DQN, TD3, SAC */
  RLCORE_ADOPT_OPTIMIZER = 4,  /* moments of the optimizer, or traces, and the counts of its steps */
  RLCORE_ADOPT_MOMENTS = 8,    /* moments that normalize observations and rewards */
  RLCORE_ADOPT_COUNTERS = 16,  /* environment steps, which schedules go by, updates, and the statistics of episodes */
  RLCORE_ADOPT_STORE = 32,     /* transitions of the buffer: the newest ones that there is room for */
  RLCORE_ADOPT_MATCHING = 64,  /* tensors that only one side has, or with other dimensions, are left out, not refused */
} rlcore_adopt;

/* Gives a learner that goes on another configuration, between updates: learning rates and other numbers of the
   optimizer, discount, entropy, clips, limits, schedules, intervals, exploration, everything that changes neither the
   length of the block nor the layers. It goes on as if it had been made with these values: parameters, moments,
   statistics, steps and transitions stay, and schedules are where the steps that were counted put them. Another
   optimizer starts its moments anew, another temperature becomes the current one, and deviations move into new limits.
   Example:
     rlcore_learner_config config;
     rlcore_learner_config_read(agent, &config, sizeof config, NULL);
     config.learning_rate /= 10;
     rlcore_learner_configure(agent, &config);
   config: layers, obs_fields, action_fields and the numbers of fields are not read; num_layers is 0 or as the learner
           was made with.
   Errors: E_NOT_READY while an update is due or runs; E_CONFIG as rlcore_learner_init, and for a field that has to stay
   as it is. Nothing is written then. */
rlcore_status rlcore_learner_configure(rlcore_learner *p, const rlcore_learner_config *config);

/* Takes over what another learner has learned: of other num_envs, num_steps, buffers, hyperparameters, algorithm, or
   layers that agree in part. Tensors go by the names that rlcore_learner_tensors lists. All else stays as it is, and so
   do episodes that go on.
   Example:
     rlcore_learner_adopt(alone, agent, RLCORE_ADOPT_PARAMS | RLCORE_ADOPT_MOMENTS);
   other: only read, in any state; not p itself.
   parts: a sum of rlcore_adopt.
   Errors: E_NOT_READY while an update of p is due or runs; E_CONFIG for another sum, for a tensor of p that other does not
   have with its dimensions, with its index, unless RLCORE_ADOPT_MATCHING, and then if there is none that it has; for
   moments of another optimizer, statistics of another length, targets or a buffer that one of them does not have, and
   buffers of other spaces, masks, n_step, discount or use_duration, with num_stacked or with recurrent layers.
   E_OVERLAP. Nothing is written then. */
rlcore_status rlcore_learner_adopt(rlcore_learner *p, const rlcore_learner *other, uint32_t parts);

/* Takes over the parameters of a policy, and the moments that normalize its observations: each tensor of the policy goes
   to the one of its name; values and critics, which a policy does not have, stay.
   parts:     a sum of RLCORE_ADOPT_PARAMS, RLCORE_ADOPT_MOMENTS and RLCORE_ADOPT_MATCHING.
   obs_count: observations that the moments count as, which a policy does not tell: the more, the slower others move
              them. Above 0 with RLCORE_ADOPT_MOMENTS, else 0.
   Errors: as rlcore_learner_adopt; E_VALUE for obs_count and for a parameter beyond plus or minus 1e6. */
rlcore_status rlcore_learner_adopt_policy(rlcore_learner *p, const rlcore_policy *other, uint32_t parts,
                                          double obs_count);

/* ---- Networks of your own: forward and backward ---- */

/* A network of your own: layers as of a learner, run over your arrays, so that any loss can train them. Parameters,
   gradients and activations are plain arrays, nothing else is kept, and the optimizers of rlcore_optimizer_step work
   over them. Each call reads the list anew. M rows of the input go in, and the outputs of M rows come out.
   Layers with RLCORE_LAYER_HEAD are outputs, at most 32, which no layer reads; without any, the last layer is the
   output. RLCORE_LAYER_INPUT is the input, and RLCORE_LAYER_INPUT | k its part k. The layers that
   rlcore_learner_layers lists are such a list too, except numbers that depend on no input and noisy layers, which
   are refused.
   Example:
     const rlcore_network net = {.struct_size = sizeof net, .num_layers = 2, .layers = layers, .input = {1, 1, 8}};
     rlcore_network_lengths len = {.struct_size = sizeof len};
     rlcore_network_lengths_read(&net, num_rows, 1, &len);
     rlcore_network_init(&net, &rng, scratch, len.scratch_len, params, len.params_len);
     rlcore_network_forward(&net, &pass, out, num_rows * len.output_len);
     rlcore_network_backward(&net, &pass, d_out, num_rows * len.output_len, d_params, NULL); */
typedef struct rlcore_network {
  uint32_t struct_size;        /* sizeof(rlcore_network) */
  uint32_t num_layers;         /* 1 to 64 */
  const rlcore_layer *layers;  /* [num_layers] */
  uint32_t input[3];           /* height, width and channels of a row of the input; 1, 1 and its length if no picture */
  uint32_t num_parts;          /* parts of a row that layers read by themselves; 0: none */
  const uint32_t *parts;       /* [num_parts, 3] height, width and channels of each; together they make up a row */
} rlcore_network;

/* Lengths of the arrays of a network, in elements. */
typedef struct rlcore_network_lengths {
  uint32_t struct_size;  /* sizeof(rlcore_network_lengths) */
  uint32_t reads_bytes;  /* 1: the input may be RLCORE_U8, since convolutions over all of it read it; else 0 */
  size_t params_len;     /* parameters; also of their gradients */
  size_t input_len;      /* a row of the input */
  size_t output_len;     /* a row of all outputs */
  size_t state_len;      /* the state that a row leaves to the next step; 0 without recurrent layers and attention */
  size_t tape_len;       /* activations of all rows, which rlcore_network_backward needs */
  size_t scratch_len;    /* working memory, enough for every call with as many rows or fewer */
} rlcore_network_lengths;

/* The rows of a pass, M = num_rows. Recurrent layers and attention take them as T = num_steps steps of M / T
   sequences: all rows of a step, then those of the next. They start from states of yours, such as
   rlcore_network_forward without a tape leaves, and gradients go back through the steps to where a row starts so. */
typedef struct rlcore_network_pass {
  uint32_t struct_size;  /* sizeof(rlcore_network_pass) */
  uint32_t num_rows;     /* M, at least 1 */
  uint32_t num_steps;    /* T, which divides M; 1 without recurrent layers and attention */
  uint32_t input_type;   /* RLCORE_F32, or RLCORE_U8: bytes, which convolutions read divided by 255 */
  const float *params;   /* [params_len] */
  size_t params_len;     /* params_len of rlcore_network_lengths */
  const void *input;     /* [M, input_len] of rlcore_network_lengths */
  /* [M, state_len] of rlcore_network_lengths, to change: states to start from; NULL if that is 0. With a tape those of
     the first step, and where starts is 1, are read; without one all are read, and written with the states after
     the step */
  float *state;
  /* [M] 1: the row starts from its own row of state, as when an episode begins; else it goes on from the step
     before. NULL if state is, or without a tape, when all rows start so */
  const uint8_t *starts;
  /* [tape_len] activations: rlcore_network_forward writes them, rlcore_network_backward reads them. NULL with a
     tape_len of 0: no gradient is wanted */
  float *tape;
  size_t tape_len;     /* tape_len of rlcore_network_lengths, or 0 */
  float *scratch;      /* [scratch_len] to write */
  size_t scratch_len;  /* at least scratch_len of rlcore_network_lengths */
} rlcore_network_pass;

/* The lengths of the arrays of passes with so many rows.
   num_steps: 1 without recurrent layers and attention.
   out:       written.
   Errors, here and below: E_CONFIG for a list, a part or a structure that is not valid, whose message gives the
   layer, counted from 1; E_SHAPE for no rows, and num_steps that does not divide them; E_OVERFLOW. */
rlcore_status rlcore_network_lengths_read(const rlcore_network *network, uint32_t num_rows, uint32_t num_steps,
                                          rlcore_network_lengths *out);

/* Draws the initial parameters in the order of the list, as learners do: by initializer and gain of each layer;
   biases are 0.
   scratch: [scratch_len] to write, at least scratch_len of rlcore_network_lengths for one row.
   params:  [params_len] to write.
   Errors: E_SHAPE for another params_len; E_SIZE of scratch. */
rlcore_status rlcore_network_init(const rlcore_network *network, rlcore_rng *rng, float *scratch, size_t scratch_len,
                                  float *params, size_t params_len);

/* Computes the outputs of all rows. A row gives the same bits alone as among others, and with a tape as without.
   batch: reads params, input, state and starts; writes tape and scratch. Without a tape num_steps is 1, and state is
          written too.
   out:   [out_len] to write: [M, length] of the first output, then of the next; out_len is M times output_len of
          rlcore_network_lengths.
   Errors: E_SHAPE for a length; E_SIZE of scratch; E_VALUE for parameters, inputs and states that are not finite,
   and an input that its embedding has no symbol for. Nothing is written then. Sums that overflow give infinities or
   NaN. */
rlcore_status rlcore_network_forward(const rlcore_network *network, const rlcore_network_pass *batch, float *out,
                                     size_t out_len);

/* Takes the gradient of the outputs back: adds that of the parameters to d_params, and writes that of the input.
   Sums run over rows in ascending order. Parts of the rows in passes of their own, each but the last of a multiple
   of 64 rows, add up to the same bits, except with recurrent layers and attention.
   batch:    as it was for rlcore_network_forward, with its tape; writes scratch.
   d_out:    [d_out_len] gradients of the outputs, as out there.
   d_params: [params_len] to change: sums, zeros before the first pass; NULL: not wanted.
   d_input:  [M, input_len] of rlcore_network_lengths, to write; NULL: not wanted. Bytes have none.
   Errors: as there; E_SHAPE for d_input of bytes; E_DISABLED without d_params if the network has recurrent layers or
   attention. */
rlcore_status rlcore_network_backward(const rlcore_network *network, const rlcore_network_pass *batch,
                                      const float *d_out, size_t d_out_len, float *d_params, float *d_input);

/* Lists the tensors of a network: all its parameters, once each, named as those of a learner whose listed layers
   these are, so that rlcore_learner_tensors_write takes them.
   out: [capacity], of which *out_len are written; NULL with a capacity of 0 only counts them.
   Errors: E_SIZE if there are more than capacity. */
rlcore_status rlcore_network_tensors(const rlcore_network *network, rlcore_tensor *out, uint32_t capacity,
                                     uint32_t *out_len);

/* Copies the numbers of all tensors out of the parameters, each from its offset on.
   params: [params_len], or gradients of them, or moments of their optimizer.
   values: [values_len] to write, as many as parameters.
   Errors: E_SHAPE for a length. */
rlcore_status rlcore_network_tensors_read(const rlcore_network *network, const float *params, size_t params_len,
                                          float *values, size_t values_len);

/* Writes tensors into the parameters, from whatever source; others stay as they are. Names and dimensions are
   compared as in rlcore_learner_tensors_write.
   tensors: [num_tensors] of which name, offset, rank and dims are read.
   values:  [values_len] numbers; those of a tensor from its offset on.
   params:  [params_len] to write.
   Errors: E_SHAPE for params_len and other dimensions; E_CONFIG for a name that the network has not; E_RANGE for
   numbers beyond values_len; E_VALUE for one that is not finite. Nothing is written then. */
rlcore_status rlcore_network_tensors_write(const rlcore_network *network, const rlcore_tensor *tensors,
                                           uint32_t num_tensors, const float *values, size_t values_len, float *params,
                                           size_t params_len);

/* ---- ONNX: policies for other runtimes ---- */

/* Names and forms of the inputs and outputs of a file of ONNX. */
typedef enum rlcore_onnx_names {
  /* inputs obs, or obs_0 and so on, one for each field that networks read, with the elements of observations: f32
     [N, len], u8 [N, height, width, channels], i32 choices; action_mask u8 [N, choices], 0 forbids; state f32 [N,
     rlcore_policy_state_len()]. Output state_out */
  RLCORE_ONNX_OWN = 0,
  /* those of Unity ML-Agents: inputs obs_0 and so on, action_masks and recurrent_in [N, 1, state_len], all f32, bytes
     divided by 255 and pictures [N, channels, height, width]; outputs recurrent_out, version_number, memory_size,
     deterministic_discrete_actions, discrete_action_output_shape, deterministic_continuous_actions and
     continuous_action_output_shape */
  RLCORE_ONNX_ML_AGENTS = 1,
} rlcore_onnx_names;

/* How a policy is written as a file of ONNX. */
typedef struct rlcore_onnx_options {
  uint32_t struct_size;  /* sizeof(rlcore_onnx_options) */
  uint32_t names;        /* an rlcore_onnx_names */
  uint32_t action_mask;  /* 1: it has an input for the choices that are allowed */
  uint32_t reserved;     /* zero */
} rlcore_onnx_options;

/* Bytes of a policy as a file of ONNX, which other runtimes run: operator set 13, any number N of observations.
   Weights have the names of rlcore_policy_tensors. Besides the outputs of options it has, of actions that are
   choices, logits [N, choices] before action_mask and probabilities [N, choices], or q [N, choices], and
   discrete_actions i32 [N, elements], the most probable ones; of numbers mean and log_std [N, numbers] before
   squashing and bounds, and continuous_actions [N, numbers], the means within their bounds. Structures have both.
   Numbers agree with rlcore_policy_distribution to about 1e-5, as other runtimes sum in another order. Every layer
   can be written, and normalize_obs. An episode begins with a state of zeros, which the host sets, as there is no
   input for it.
   options: NULL: the names of RLCORE_ONNX_OWN, without action_mask.
   Errors: E_CONFIG for options, among them action_mask of actions without choices; E_OVERFLOW beyond 2 GB. */
rlcore_status rlcore_policy_onnx_size(const rlcore_policy *p, const rlcore_onnx_options *options, size_t *out_size);

/* Writes a policy as a file of ONNX: see rlcore_policy_onnx_size. Equal policies are equal bytes.
   Example:
     rlcore_policy_onnx_size(policy, NULL, &size);
     rlcore_policy_onnx_write(policy, NULL, bytes, size);
   bytes: [size] to write.
   Errors: as there; E_SHAPE if size is not that of rlcore_policy_onnx_size(). Nothing is written then. */
rlcore_status rlcore_policy_onnx_write(const rlcore_policy *p, const rlcore_onnx_options *options, uint8_t *bytes,
                                       size_t size);

/* ---- C: policies without a library ---- */

/* Bytes of a policy as one file of C, for machines where no library fits: C99, which is C++17 as well, with the
   weights as constants and functions that act. It includes stddef.h, stdint.h and string.h, calls memcpy and memset
   only, and has no state of its own. All its names begin with prefix, its macros with the same in capitals:
   <prefix>_act() acts greedily, as rlcore_policy_act_greedy() does for one observation;
   <prefix>_outputs() computes logits or means alone, for hosts that sample, and <prefix>_best() acts by them;
   <prefix>_scratch is the working memory of a call, <prefix>_state a recurrent state, begun by <prefix>_reset().
   Results are the library's bits where the compiler has a fused multiply-add, such as on Cortex-M4F or with -mfma, or
   with <PREFIX>_EXACT defined as 1; else products and sums are rounded each, which changes the last bits. Every layer
   can be written, normalize_obs, structures and masks.
   prefix: NUL-terminated, a letter, then letters, digits and underscores, at most 31; may be NULL: "policy".
   Errors: E_CONFIG for another prefix; E_RANGE for one of more than 4095 characters. */
rlcore_status rlcore_policy_c_size(const rlcore_policy *p, const char *prefix, size_t *out_size);

/* Writes a policy as one file of C: see rlcore_policy_c_size. Equal policies are equal bytes.
   Example:
     rlcore_policy_c_size(policy, "cart", &size);
     rlcore_policy_c_write(policy, "cart", bytes, size);
   prefix: NUL-terminated, as there; may be NULL.
   bytes:  [size] to write, text without a zero at its end.
   Errors: as there; E_SHAPE if size is not that of rlcore_policy_c_size(). Nothing is written then. */
rlcore_status rlcore_policy_c_write(const rlcore_policy *p, const char *prefix, uint8_t *bytes, size_t size);

/* ---- Batches: asynchronous steps by the host's threads or processes ---- */

/* Asynchronous steps of an rlcore_vecenv: one thread, the host, submits steps and collects results; workers do the steps
   in rlcore_batch_run. Workers are threads, or processes if both blocks lie in shared memory and the callbacks have the
   same addresses (fork()). Results do not depend on which worker does what.
   Example:
     rlcore_batch_size(env, &vecenv_config, &config, &size);
     rlcore_batch_init(mem, size, env, &vecenv_config, &config, &b);
     rlcore_batch_reset(b, v, env, NULL, rows.obs);
     rlcore_batch_step_async(b, v, env, &rows);
     rlcore_batch_run(b, v, env, worker, UINT32_MAX, &count);       // in each worker
     status = rlcore_batch_step_wait(b, &rows);                      // E_NOT_READY while workers are busy
   Rows are divided into groups of in_series. A group is idle, pending, running or done. Host calls must not run
   concurrently. No call blocks: a host with nothing else to do may call rlcore_batch_run itself. While a group is not idle
   its rows belong to the batch: no other rlcore_vecenv call may use them. The environment's action_mask is called in each
   step, so that masks can be collected. */
typedef struct rlcore_batch rlcore_batch;

/* Configuration of a batch. */
typedef struct rlcore_batch_config {
  uint32_t struct_size;  /* bytes; set by rlcore_batch_config_init */
  uint32_t in_series;    /* rows per group, stepped in order by one worker; must divide num_envs; default 1 */
} rlcore_batch_config;

/* Number of groups in each state. Not a consistent snapshot while workers run. */
typedef struct rlcore_batch_counts {
  uint32_t struct_size;  /* sizeof(rlcore_batch_counts) */
  uint32_t closed;       /* 1 after rlcore_batch_close, else 0 */
  uint32_t num_pending;  /* groups that no worker has started */
  uint32_t num_running;  /* groups that a worker is stepping */
  uint32_t num_done;     /* groups that can be collected */
} rlcore_batch_counts;

/* Fills in the defaults. */
rlcore_status rlcore_batch_config_init(rlcore_batch_config *config, size_t config_size);

/* Size in bytes of a batch for an rlcore_vecenv of this environment and configuration. */
rlcore_status rlcore_batch_size(const rlcore_env *env, const rlcore_vecenv_config *vecenv_config,
                                const rlcore_batch_config *config, size_t *out_size);

/* Creates an idle batch in mem, for any rlcore_vecenv of this environment and configuration.
   mem must remain valid until no worker is in a call. */
rlcore_status rlcore_batch_init(void *mem, size_t mem_size, const rlcore_env *env,
                                const rlcore_vecenv_config *vecenv_config, const rlcore_batch_config *config,
                                rlcore_batch **out);

/* Opens the bytes of a saved or copied batch. mem is only read. If the copy was made while workers were running, call
   rlcore_batch_abandon for each of them. */
rlcore_status rlcore_batch_attach(void *mem, size_t mem_size, rlcore_batch **out);

/* Submits a step of every row. rows: reads action, which is copied.
   Errors: E_CONFIG for a closed batch or another vecenv or environment; E_BUSY if a row was submitted and not collected;
   E_RANGE or E_VALUE for an action; E_NOT_READY for a row that must be reset first; all before anything changes. */
rlcore_status rlcore_batch_step_async(rlcore_batch *b, rlcore_vecenv *v, const rlcore_env *env,
                                      const rlcore_rows *rows);

/* As rlcore_batch_step_async, but environments that end restart in the given level, as in rlcore_vecenv_step_env.
   level: an rlcore_level.
   Errors: as rlcore_batch_step_async; E_RANGE for another level. */
rlcore_status rlcore_batch_step_env_async(rlcore_batch *b, rlcore_vecenv *v, const rlcore_env *env, uint32_t level,
                                          const rlcore_rows *rows);

/* Does submitted work: steps pending groups until none is left or max_groups are done. Does not block. Any number of
   threads and processes may call it concurrently, also during a host call.
   worker:         the caller's number, below 2^30; must be unique if rlcore_batch_abandon is to be used.
   max_groups:     UINT32_MAX: no limit.
   out_num_groups: number of groups stepped.
   Errors: E_RANGE; E_CONFIG for a closed batch or another vecenv or environment. Failures of callbacks are reported to
   the host when it collects. */
rlcore_status rlcore_batch_run(rlcore_batch *b, rlcore_vecenv *v, const rlcore_env *env, uint32_t worker,
                               uint32_t max_groups, uint32_t *out_num_groups);

/* Collects everything submitted, once all of it is done. Does not block.
   rows: writes all that rlcore_vecenv_step writes; reads nothing.
   Errors: E_CONFIG for a closed batch; E_NOT_PENDING if no step is pending; E_NOT_READY while workers are not done; all
   before anything changes. E_CALLBACK (also for rows of an abandoned worker), or E_VALUE for a reward or observation
   that is not finite: everything is collected, but failed rows are not written and must be reset. rlcore_last_error()
   names the first, rlcore_batch_failed() returns all. */
rlcore_status rlcore_batch_step_wait(rlcore_batch *b, const rlcore_rows *rows);

/* Collects rows of finished groups while others are still running: for environments whose steps vary in duration. The
   order depends on the workers' speed, the results of a row do not. No group is collected twice while another one is
   done and waiting.
   num_rows: number of rows, a multiple of in_series; exactly this many are collected, or none.
   index:    [num_rows] to write: their numbers, ascending.
   rows:     arrays of num_rows rows, written as by rlcore_vecenv_step; row k is that of environment index[k].
   Errors: as rlcore_batch_step_wait; E_RANGE for num_rows. */
rlcore_status rlcore_batch_recv(rlcore_batch *b, uint32_t num_rows, uint32_t *index, const rlcore_rows *rows);

/* Submits a step of some rows; others may be running.
   num_rows: number of rows, a multiple of in_series.
   index:    [num_rows] whole groups, ascending, as rlcore_batch_recv returns them.
   rows:     reads action of num_rows rows, which is copied; row k is for environment index[k].
   Errors: as rlcore_batch_step_async; E_RANGE for index. */
rlcore_status rlcore_batch_send(rlcore_batch *b, rlcore_vecenv *v, const rlcore_env *env, uint32_t num_rows,
                                const uint32_t *index, const rlcore_rows *rows);

/* Starts an episode in every environment, as rlcore_vecenv_reset. Discards submitted steps: pending groups are withdrawn,
   results of running ones are dropped.
   seed: environment i is seeded with *seed + i, modulo 2^64; NULL: the random streams continue.
   obs:  [N, obs.len] to write.
   Errors: E_CONFIG, before anything changes. E_NOT_READY while a worker is stepping a group: the steps are discarded
   nevertheless, and until this call succeeds nothing is pending and submitting returns E_BUSY. E_CALLBACK and E_VALUE as
   for rlcore_vecenv_reset. */
rlcore_status rlcore_batch_reset(rlcore_batch *b, rlcore_vecenv *v, const rlcore_env *env, const uint64_t *seed,
                                 void *obs);

/* rlcore_batch_reset with options, as rlcore_vecenv_reset_with.
   how: seed and options.
   obs: [N, obs.len] to write.
   Errors: as rlcore_batch_reset; E_CONFIG, before anything changes, for options if the environment has no reset_with. */
rlcore_status rlcore_batch_reset_with(rlcore_batch *b, rlcore_vecenv *v, const rlcore_env *env, const rlcore_reset *how,
                                      void *obs);

/* Starts an episode in environment `index` only, as rlcore_vecenv_reset_one; other groups may be running.
   seed: it is seeded with *seed itself; NULL: its random stream continues.
   obs:  [N, obs.len], of which only that row is written.
   Errors: as rlcore_batch_reset; E_RANGE; E_BUSY if its group was submitted and not collected. */
rlcore_status rlcore_batch_reset_one(rlcore_batch *b, rlcore_vecenv *v, const rlcore_env *env, uint32_t index,
                                     const uint64_t *seed, void *obs);

/* rlcore_batch_reset_one with options, as rlcore_vecenv_reset_with.
   how: seed and options.
   obs: [N, obs.len], of which only that row is written.
   Errors: as rlcore_batch_reset_with; E_RANGE; E_BUSY if its group was submitted and not collected. */
rlcore_status rlcore_batch_reset_one_with(rlcore_batch *b, rlcore_vecenv *v, const rlcore_env *env, uint32_t index,
                                          const rlcore_reset *how, void *obs);

/* Abandons a worker that died: the rows of its current group have failed and must be reset; all others are unaffected.
   The worker must no longer run, or it could still write to its rows.
   out_num_rows: number of rows that failed; 0 if it was not stepping a group.
   Errors: E_RANGE; E_CONFIG. */
rlcore_status rlcore_batch_abandon(rlcore_batch *b, rlcore_vecenv *v, const rlcore_env *env, uint32_t worker,
                                   uint32_t *out_num_rows);

/* Which rows failed in their last step and have not been reset by this batch since: 1 for those, else 0, also for rows
   that are pending or running. failed: [N] to write.
   Errors: E_CONFIG for a closed batch. */
rlcore_status rlcore_batch_failed(const rlcore_batch *b, uint8_t *failed);

/* Counts the groups in each state. out: to write. Also works on a closed batch: num_running is 0 once its workers have
   left. Errors: E_CONFIG for struct_size. */
rlcore_status rlcore_batch_count(const rlcore_batch *b, rlcore_batch_counts *out);

/* Closes the batch: withdraws pending steps. Every later call but this one and rlcore_batch_count returns E_CONFIG.
   Workers finish the groups that they are stepping; both blocks must remain valid until they have returned. The
   rlcore_vecenv remains usable. */
rlcore_status rlcore_batch_close(rlcore_batch *b);

/* ---- Episodes: returns, lengths, monitor.csv ---- */

#define RLCORE_MONITOR_MAX_INFO 16   /* Maximum num_info: numbers of an episode besides its return, length and time. */
#define RLCORE_MONITOR_ROW_SIZE 512  /* Maximum size of a row of monitor.csv, in bytes. */

/* Purpose of an episode. */
typedef enum rlcore_episode_type {
  RLCORE_EPISODE_TRAIN = 0,  /* to learn from */
  RLCORE_EPISODE_TEST = 1,   /* to test on: act with rlcore_learner_predict, and neither learn from it nor store it */
} rlcore_episode_type;

/* Returns and lengths of the episodes of N environments, and records of those that ended.
   Example:
     rlcore_monitor_config_init(&config, sizeof config);
     config.num_envs = N, config.keep = 100;
     rlcore_monitor_size(&config, &size);
     rlcore_monitor_init(mem, size, &config, &m);
     rlcore_monitor_step(m, &rows, seconds, NULL);        // after each rlcore_vecenv_step
     rlcore_monitor_means(m, &stats); */
typedef struct rlcore_monitor rlcore_monitor;

/* Configuration of a monitor. */
typedef struct rlcore_monitor_config {
  uint32_t struct_size;  /* bytes; set by rlcore_monitor_config_init */
  uint32_t num_envs;     /* N, at least 1; default 1 */
  uint32_t keep;         /* number of episodes that rlcore_monitor_means averages; default 0: none */
  uint32_t capacity;     /* records held, at least N; 0 (default): the larger of 1024 and N */
  uint32_t num_info;     /* numbers that the caller adds to each record, up to RLCORE_MONITOR_MAX_INFO; default 0 */
  uint32_t reserved;     /* zero */
  double start;          /* time on the caller's clock that is 0 in the records; default 0 */
} rlcore_monitor_config;

/* The caller's clock, in seconds from any fixed origin. */
typedef double (*rlcore_clock_fn)(void *user);

/* An episode that has ended. */
typedef struct rlcore_episode {
  uint64_t number;        /* episode number over all environments, from 0, in order of ending */
  double seconds;         /* end time in seconds since the start, rounded to 6 decimals */
  double episode_return;  /* sum of its rewards */
  uint32_t env;           /* environment index */
  uint32_t len;           /* number of steps */
} rlcore_episode;

/* Means over the last episodes. */
typedef struct rlcore_monitor_stats {
  uint32_t struct_size;   /* sizeof(rlcore_monitor_stats) */
  uint32_t num_kept;      /* number of episodes averaged, at most `keep` */
  uint64_t num_episodes;  /* episodes ended since the block was made */
  double return_mean;     /* mean return; NaN if there are none */
  double len_mean;        /* mean length; NaN if there are none */
} rlcore_monitor_stats;

/* Fills in the defaults. */
rlcore_status rlcore_monitor_config_init(rlcore_monitor_config *config, size_t config_size);

/* Size of the block for this configuration, in bytes. */
rlcore_status rlcore_monitor_size(const rlcore_monitor_config *config, size_t *out_size);

/* Creates a monitor in mem. */
rlcore_status rlcore_monitor_init(void *mem, size_t mem_size, const rlcore_monitor_config *config,
                                  rlcore_monitor **out);

/* Opens a saved or copied monitor in mem. */
rlcore_status rlcore_monitor_attach(void *mem, size_t mem_size, rlcore_monitor **out);

/* Opens a monitor that another process writes: see Sharing.
    */
rlcore_status rlcore_monitor_attach_reader(const void *mem, size_t mem_size, const rlcore_monitor **out);

/* Starts new episodes in all environments: current counts are dropped. Records and numbering are kept. */
rlcore_status rlcore_monitor_reset(rlcore_monitor *m);

/* Starts a new episode in environment `index` only. Errors: E_RANGE. */
rlcore_status rlcore_monitor_reset_one(rlcore_monitor *m, uint32_t index);

/* Counts one step of all environments and records the episodes that it ended. Call it before rewards are normalized.
   rows:    reads reward, terminated, truncated, and valid unless it is NULL, as rlcore_vecenv_step writes them.
   seconds: current time on the caller's clock.
   info:    [N, num_info], read only in rows that ended; NULL if num_info is 0.
   Errors: E_CONFIG; E_VALUE for a reward, time or info that is not finite; E_RANGE after 2^63 episodes. */
rlcore_status rlcore_monitor_step(rlcore_monitor *m, const rlcore_rows *rows, double seconds, const double *info);

/* As rlcore_monitor_step, but calls `clock` for the time, once, only if an episode ended. */
rlcore_status rlcore_monitor_step_clock(rlcore_monitor *m, const rlcore_rows *rows, rlcore_clock_fn clock, void *user,
                                        const double *info);

/* Copies records, oldest first. Each reader keeps its own `next`, initially 0, and loses nothing if it reads at least once
   every `capacity` episodes.
   next:      [1] number of the first record to read; becomes that of the first one not read.
   episodes:  [len] to write; info: [len, num_info] to write, may be NULL.
   out_count: [1] records written; out_lost: [1] records that were overwritten before they were read, may be NULL.
   Errors: E_RANGE if next is larger than the number of episodes ended. */
rlcore_status rlcore_monitor_read(const rlcore_monitor *m, uint64_t *next, rlcore_episode *episodes, double *info,
                                  uint32_t len, uint32_t *out_count, uint64_t *out_lost);

/* Means over the last `keep` episodes, or as many as have ended.
   Errors: E_CONFIG; E_BUSY only for a reader, see Sharing. */
rlcore_status rlcore_monitor_means(const rlcore_monitor *m, rlcore_monitor_stats *out);

/* Writes the first two lines of monitor.csv as Stable-Baselines3 reads it: `# {"t_start": ...} ` and the column names.
   t_start:  Unix time at the start, in seconds.
   env_id:   name of the environment, NUL-terminated; may be NULL.
   keywords: [num_keywords] a name for each info; printable ASCII, like env_id.
   text:     [text_size] to write, not NUL-terminated: for fwrite to a binary file. NULL with 0: only sets out_len.
   out_len:  [1] bytes written, or required.
   Errors: E_SIZE; E_RANGE for more keywords than 16, or more than 4095 characters; E_VALUE. */
rlcore_status rlcore_monitor_format_header(double t_start, const char *env_id, const char *const *keywords,
                                           uint32_t num_keywords, char *text, size_t text_size, size_t *out_len);

/* Writes the row of an episode: return, length, time, infos, CR LF. Numbers are formatted as Python prints a float: the
   shortest text that parses to the same double.
   info: [num_info] of this episode. text: [text_size], out_len: [1], as for the header; RLCORE_MONITOR_ROW_SIZE bytes
   always suffice.
   Errors: E_SIZE; E_RANGE for a num_info over 16; E_VALUE for a number that is not finite. */
rlcore_status rlcore_monitor_format_row(const rlcore_episode *episode, const double *info, uint32_t num_info,
                                        char *text, size_t text_size, size_t *out_len);

/* Purpose of an episode: num_train episodes to learn from, then num_test to test on, and so on.
   index:    number of the episode, from 0.
   out_type: [1] an rlcore_episode_type.
   Errors: E_CONFIG if num_train and num_test are both 0. */
rlcore_status rlcore_episode_type_of(uint64_t index, uint32_t num_train, uint32_t num_test, uint32_t *out_type);

/* ---- Normalized observations and rewards of N environments ---- */

/* Running normalization of the observations and rewards of N environments.
   Example:
     rlcore_vec_normalize_config_init(&config, sizeof config);
     config.num_envs = N, config.obs_len = LEN;
     rlcore_vec_normalize_size(&config, &size);
     rlcore_vec_normalize_init(mem, size, &config, &v);
     rlcore_vec_normalize_reset(v, obs, obs);             // after rlcore_vecenv_reset
     rlcore_vec_normalize_step(v, &rows, NULL);           // after each rlcore_vecenv_step */
typedef struct rlcore_vec_normalize rlcore_vec_normalize;

/* Configuration of a normalizer. */
typedef struct rlcore_vec_normalize_config {
  uint32_t struct_size;       /* bytes; set by rlcore_vec_normalize_config_init */
  uint32_t num_envs;          /* N, at least 1; default 1 */
  uint32_t obs_len;           /* elements of one observation, at least 1; default 1 */
  uint32_t normalize_obs;     /* 1 (default); 0: observations are not changed */
  uint32_t normalize_reward;  /* 1 (default); 0: rewards are not changed */
  float clip_obs;             /* normalized observations are clipped to [-clip_obs, clip_obs]; default 10 */
  float clip_reward;          /* scaled rewards are clipped to [-clip_reward, clip_reward]; default 10 */
  uint32_t reserved;          /* zero */
  double discount;            /* discount of the return whose deviation scales rewards, from 0 to 1; default 0.99 */
  double epsilon;             /* added to variances, from 1e-30 to 1e30; default 1e-8 */
} rlcore_vec_normalize_config;

/* Scalar statistics of a normalizer. */
typedef struct rlcore_vec_normalize_stats {
  uint32_t struct_size;  /* sizeof(rlcore_vec_normalize_stats) */
  uint32_t frozen;       /* 1 if the statistics are frozen */
  double obs_count;      /* number of observations merged, plus 1e-4 */
  double return_mean;    /* mean of the discounted returns */
  double return_var;     /* their population variance; rewards are divided by its square root */
  double return_count;   /* number of returns merged, plus 1e-4 */
} rlcore_vec_normalize_stats;

/* Fills in the defaults. */
rlcore_status rlcore_vec_normalize_config_init(rlcore_vec_normalize_config *config, size_t config_size);

/* Size of the block for this configuration, in bytes. */
rlcore_status rlcore_vec_normalize_size(const rlcore_vec_normalize_config *config, size_t *out_size);

/* Creates a normalizer in mem: means 0, variances 1, counts 1e-4. */
rlcore_status rlcore_vec_normalize_init(void *mem, size_t mem_size, const rlcore_vec_normalize_config *config,
                                        rlcore_vec_normalize **out);

/* Opens a saved or copied normalizer in mem. */
rlcore_status rlcore_vec_normalize_attach(void *mem, size_t mem_size, rlcore_vec_normalize **out);

/* Processes the first observations of all environments: merges them into the statistics and writes them normalized.
   Discounted returns restart at 0.
   obs, out_obs: [N, obs_len]; may be the same array.
   Errors: E_VALUE for a number that is not finite. */
rlcore_status rlcore_vec_normalize_reset(rlcore_vec_normalize *v, const float *obs, float *out_obs);

/* Processes the first observation of environment `index` only, as written by rlcore_vecenv_reset_one.
   obs, out_obs: [N, obs_len], of which only that row is used; may be the same array.
   Errors: as rlcore_vec_normalize_reset; E_RANGE. */
rlcore_status rlcore_vec_normalize_reset_one(rlcore_vec_normalize *v, uint32_t index, const float *obs, float *out_obs);

/* Normalizes the results of rlcore_vecenv_step, or of the caller's own batch; one call for the whole batch. In this order:
   merges obs and normalizes it with the new statistics; adds reward to the discounted returns, merges those and scales
   reward by their deviation; normalizes final_obs without merging it; resets the returns of ended episodes. A row that
   was only reset (valid 0) counts as an observation; its reward does not count.
   rows: reads obs, reward, terminated, truncated, and final_obs and valid unless they are NULL; obs and final_obs are
         float; valid NULL: every row was stepped.
   out:  receives obs, reward and final_obs, each of which may be the same array as in rows. NULL: normalizes the
         arrays of rows in place.
   Errors: E_CONFIG; E_VALUE for a number that is not finite; final_obs is checked only in rows that ended. */
rlcore_status rlcore_vec_normalize_step(rlcore_vec_normalize *v, const rlcore_rows *rows, const rlcore_rows *out);

/* Normalizes any number of observations with the current statistics, without changing them.
   obs, out_obs: [num_rows, obs_len]; may be the same array.
   Errors: as rlcore_vec_normalize_reset. */
rlcore_status rlcore_vec_normalize_obs(const rlcore_vec_normalize *v, uint32_t num_rows, const float *obs,
                                       float *out_obs);

/* 1: reset and step only normalize and do not change the block, for evaluation. 0: the statistics are updated again, and
   the discounted returns continue where they were.
   Errors: E_RANGE for another number. */
rlcore_status rlcore_vec_normalize_freeze(rlcore_vec_normalize *v, uint32_t frozen);

/* Merges the statistics of another normalizer into this one, as if this one had seen its observations too. Both initial
   counts of 1e-4 are included. `other` is only read; its num_envs may differ.
   Errors: E_CONFIG for another obs_len; E_RANGE for counts beyond 2^64. */
rlcore_status rlcore_vec_normalize_merge(rlcore_vec_normalize *v, const rlcore_vec_normalize *other);

/* Copies the statistics. mean, variance: [obs_len] to write; may be NULL.
   Errors: E_CONFIG. */
rlcore_status rlcore_vec_normalize_statistics(const rlcore_vec_normalize *v, double *mean, double *variance,
                                              rlcore_vec_normalize_stats *out);

/* ---- Frame memories: each frame stored once, stacked on reading ---- */

/* Memory layout of a stack, oldest frame first. */
typedef enum rlcore_layout {
  RLCORE_LAYOUT_HWC = 0,  /* [height, width, channels * num_stack]: stacked on the last axis, as environments do */
  RLCORE_LAYOUT_CHW = 1,  /* [channels * num_stack, height, width]: channel planes, as convolutions expect */
} rlcore_layout;

/* Rings of frames, one per environment. A frame is stored once, however many stacks contain it. Frames are numbered from 0
   in each environment; numbers are never reused. A full ring drops its oldest frame. Stacks that reach before the first
   frame of an episode repeat that frame.
   Example:
     rlcore_lazy_frames_config_init(&config, sizeof config);
     rlcore_lazy_frames_size(&config, &size);
     rlcore_lazy_frames_init(mem, size, &config, &l);
     rlcore_lazy_frames_push(l, env, frame, first, &number);
     rlcore_lazy_frames_stack(l, env, number, RLCORE_LAYOUT_HWC, RLCORE_U8, stack);
     rlcore_lazy_frames_gather_transitions(l, index, num_rows, RLCORE_LAYOUT_CHW, RLCORE_F32, obs, next_obs); */
typedef struct rlcore_lazy_frames rlcore_lazy_frames;

/* Configuration of rings of frames. Frames are bytes, [height, width, channels]. For frames in [channels, height, width]
   set channels to 1 and height to channels * height. */
typedef struct rlcore_lazy_frames_config {
  uint32_t struct_size;  /* bytes; set by rlcore_lazy_frames_config_init */
  uint32_t num_envs;     /* N, at least 1; default 1 */
  uint32_t num_frames;   /* frames kept per environment, at least num_stack, + 1 for transitions; default 10000 */
  uint32_t height;       /* default 84 */
  uint32_t width;        /* default 84 */
  uint32_t channels;     /* bytes per pixel; default 1 */
  uint32_t num_stack;    /* frames per stack, 1 to 16; default 4 */
} rlcore_lazy_frames_config;

/* Identifies a frame, or a transition by the newest frame of its observation. */
typedef struct rlcore_frame_index {
  uint64_t number;    /* frame number, as returned when it was pushed */
  uint32_t env;       /* environment index */
  uint32_t reserved;  /* zero */
} rlcore_frame_index;

/* Fills in the defaults. */
rlcore_status rlcore_lazy_frames_config_init(rlcore_lazy_frames_config *config, size_t config_size);

/* Size of the block for this configuration, in bytes. */
rlcore_status rlcore_lazy_frames_size(const rlcore_lazy_frames_config *config, size_t *out_size);

/* Bytes of the block per transition that it can hold, rounded up: one frame and its metadata. An episode of L transitions
   takes L + 1 frames. Errors: E_CONFIG. */
rlcore_status rlcore_lazy_frames_bytes_per_transition(const rlcore_lazy_frames_config *config, uint64_t *out_bytes);

/* Creates empty rings in mem. */
rlcore_status rlcore_lazy_frames_init(void *mem, size_t mem_size, const rlcore_lazy_frames_config *config,
                                      rlcore_lazy_frames **out);

/* Opens saved or copied rings in mem. */
rlcore_status rlcore_lazy_frames_attach(void *mem, size_t mem_size, rlcore_lazy_frames **out);

/* Opens rings that another process writes: see Sharing.
    */
rlcore_status rlcore_lazy_frames_attach_reader(const void *mem, size_t mem_size, const rlcore_lazy_frames **out);

/* Appends a frame to the ring of environment `env`.
   frame:      [height, width, channels], copied.
   first:      1 if it starts an episode, else 0.
   out_number: its number; may be NULL.
   Errors: E_RANGE; E_NOT_READY if the ring is empty and first is 0. */
rlcore_status rlcore_lazy_frames_push(rlcore_lazy_frames *l, uint32_t env, const uint8_t *frame, uint32_t first,
                                      uint64_t *out_number);

/* Appends one step of environments [begin, end). The arrays are those of all N; only rows of the range are used.
   frame:       [N, height, width, channels] the frame to act on next.
   first:       [N] 1 where that frame starts an episode.
   final_frame: [N, height, width, channels] last frame of the episode that ended in this step, read where first is 1 and
                pushed before frame; NULL: no episode ended, or its last frame was pushed already.
   number:      [N] to write, the numbers of the frames to act on next; may be NULL. The transition of this step has the
                number written one step earlier, whether or not an episode ended.
   Threads: calls on disjoint ranges may run concurrently; results do not depend on the split.
   Errors: E_RANGE; E_NOT_READY if a ring is empty, unless first is 1 and final_frame is NULL. */
rlcore_status rlcore_lazy_frames_push_range(rlcore_lazy_frames *l, uint32_t begin, uint32_t end, const uint8_t *frame,
                                            const uint8_t *first, const uint8_t *final_frame, uint64_t *number);

/* Numbers of the frames that environment `env` holds: [*out_begin, *out_end). Every frame from *out_begin + num_stack - 1
   on has a complete stack, and so do earlier ones whose episode starts within the range.
   Errors: E_RANGE. */
rlcore_status rlcore_lazy_frames_held(const rlcore_lazy_frames *l, uint32_t env, uint64_t *out_begin,
                                      uint64_t *out_end);

/* Copies frames as they were pushed, starting at `number`.
   frames: [num_frames, height, width, channels] to write.
   first:  [num_frames] to write, 1 where a frame starts an episode.
   Errors: E_RANGE if one of them is not held. */
rlcore_status rlcore_lazy_frames_read(const rlcore_lazy_frames *l, uint32_t env, uint64_t number, uint32_t num_frames,
                                      uint8_t *frames, uint8_t *first);

/* Returns a pointer to a frame in the block, [height, width, channels]. Valid until num_frames newer frames are pushed.
   Errors: E_RANGE if it is not held. */
rlcore_status rlcore_lazy_frames_frame(const rlcore_lazy_frames *l, uint32_t env, uint64_t number,
                                       const uint8_t **out_frame);

/* Numbers of the frames of stack `number`, oldest first. numbers: [num_stack] to write.
   Errors: E_RANGE if one of them is not held. */
rlcore_status rlcore_lazy_frames_indices(const rlcore_lazy_frames *l, uint32_t env, uint64_t number, uint64_t *numbers);

/* Writes the stack whose newest frame is `number`. Errors: as rlcore_lazy_frames_gather. */
rlcore_status rlcore_lazy_frames_stack(const rlcore_lazy_frames *l, uint32_t env, uint64_t number, uint32_t layout,
                                       uint32_t kind, void *out);

/* Writes the stacks of num_rows frames.
   index:  [num_rows] the newest frame of each stack.
   layout: an rlcore_layout.
   kind:   RLCORE_U8: bytes as they were pushed; RLCORE_F32: byte / 255.
   out:    [num_rows, num_stack * frame_len] of that kind, to write.
   Errors: E_RANGE for layout, kind, an environment, or a frame that is not held or not pushed yet. */
rlcore_status rlcore_lazy_frames_gather(const rlcore_lazy_frames *l, const rlcore_frame_index *index, uint32_t num_rows,
                                        uint32_t layout, uint32_t kind, void *out);

/* Writes the observations and next observations of num_rows transitions: index[i] is the newest frame of observation i;
   the frame after it is the newest of next observation i. Shared frames are read once.
   obs, next_obs: [num_rows, num_stack * frame_len] of that kind, to write.
   Errors: as rlcore_lazy_frames_gather; E_RANGE for a frame that is the last of its episode. */
rlcore_status rlcore_lazy_frames_gather_transitions(const rlcore_lazy_frames *l, const rlcore_frame_index *index,
                                                    uint32_t num_rows, uint32_t layout, uint32_t kind, void *obs,
                                                    void *next_obs);

/* Extracts the newest frame of a stack of bytes, to push where an environment stacks its frames itself.
   stack: [num_stack * frame_len] in `layout`, an rlcore_layout; num_stack is 1 to 16.
   frame: [frame_len] to write, channels last; frame_len must be a multiple of channels.
   Errors: E_RANGE; E_SHAPE. */
rlcore_status rlcore_lazy_frames_newest(const uint8_t *stack, uint32_t num_stack, uint32_t channels, uint32_t layout,
                                        uint8_t *frame, size_t frame_len);

/* ---- Columns of memories, rollouts and trajectories ---- */

/* A column of a store: a named array per row. Zeros beyond kind and len mean plain elements. */
typedef struct rlcore_column {
  char name[24];  /* 1 to 23 ASCII characters, zero-padded */
  uint32_t kind;  /* an rlcore_element */
  uint32_t len;   /* elements of a row, at least 1; with stacks, those of one frame */
  /* 0 or 1: none; or k up to 16, with RLCORE_U8: each row stores one frame and is read as the stack of the k newest frames
     of its episode, repeating the first one if there are fewer */
  uint32_t num_stack;
  uint32_t channels;  /* bytes per pixel, must divide len; 0: 1; must be 0 or 1 unless RLCORE_U8 */
} rlcore_column;

/* ---- Replay memory: sequences of frames, balanced by reward ---- */

/* Rule by which sequences are drawn. */
typedef enum rlcore_draw_rule {
  RLCORE_DRAW_FIXED = 0,     /* contiguous sequences within one episode; every frame can be drawn */
  RLCORE_DRAW_ORIGINAL = 1,  /* as the reference implementation (btgym): may have a gap or span episodes */
} rlcore_draw_rule;

/* The last frames of a stream of episodes. Frames are numbered from 0; numbers are never reused. A full memory drops its
   oldest frame. Each frame with max_sample_size - 1 predecessors (plus those that the oldest stack needs) is in one of two
   pools: priority frames, with |reward| > reward_threshold or NaN, and ordinary frames.
   Example:
     rlcore_memory_config_init(&config, sizeof config);
     config.columns = columns, config.num_columns = 2;
     rlcore_memory_size(&config, &size);
     rlcore_memory_init(mem, size, &config, &m);
     rlcore_memory_add(m, &frame, values, NULL, NULL);
     rlcore_memory_sample_priority(m, &rng, NULL, samples, num_samples);
     rlcore_memory_gather(m, &sequences, column, RLCORE_LAYOUT_HWC, RLCORE_F32, out); */
typedef struct rlcore_memory rlcore_memory;

/* Configuration of a memory. */
typedef struct rlcore_memory_config {
  uint32_t struct_size;           /* bytes; set by rlcore_memory_config_init */
  uint32_t history_size;          /* frames kept, at least max_sample_size + num_stack - 1 of any column; default 2000 */
  uint32_t max_sample_size;       /* maximum length of a priority draw, in frames, at least 1; default 20 */
  uint32_t priority_sample_size;  /* default length of a priority draw; 0 (default): max_sample_size */
  float reward_threshold;         /* |reward| above this makes a frame a priority frame; finite, at least 0; default 0.1 */
  uint32_t use_priority;          /* 1 (default): enables priority draws, at 8 bytes per frame; 0: they return E_DISABLED */
  uint32_t num_columns;           /* 1 to 16 */
  uint32_t reserved;              /* zero */
  const rlcore_column *columns;   /* [num_columns] data of a frame besides reward and flags; copied */
} rlcore_memory_config;

/* One step of an episode, without the values of its columns. */
typedef struct rlcore_frame {
  uint64_t episode;     /* episode number; any that differs from the previous episode's */
  uint32_t step;        /* step number within the episode; the next frame has step + 1 */
  float reward;         /* of the step */
  uint8_t terminated;   /* nonzero: the task ended */
  uint8_t truncated;    /* nonzero: the episode was cut */
  uint8_t reserved[6];  /* zero */
} rlcore_frame;

/* Parameters of a draw. Zero selects the default of every field but struct_size. */
typedef struct rlcore_draw {
  uint32_t struct_size;  /* sizeof(rlcore_draw) */
  uint32_t size;         /* frames without burn-in; 0: priority_sample_size, or max_sample_size for uniform draws */
  uint32_t burn_in;      /* preceding frames of the same episode to include, fewer near its beginning */
  uint32_t exact_size;   /* 1: draw again if the sequence is shorter than size */
  uint32_t skewness;     /* on average one in `skewness` draws ends on a priority frame; 0: 2 */
  uint32_t attempts;     /* maximum number of attempts with exact_size; 0: 100 */
  uint32_t rule;         /* an rlcore_draw_rule */
} rlcore_draw;

/* A drawn sequence: frames first to first + len - 1, if there is no gap. */
typedef struct rlcore_sample {
  uint64_t first;     /* number of the first frame */
  uint32_t len;       /* frames, including the burn-in */
  uint32_t burn_in;   /* how many of them, at the front, are burn-in */
  uint32_t gap;       /* frames skipped before the last one; nonzero only with RLCORE_DRAW_ORIGINAL */
  uint32_t priority;  /* 1 if it was drawn to end on a priority frame */
} rlcore_sample;

/* Drawn sequences to copy, each into as many rows. The samples are not owned and only read. */
typedef struct rlcore_sequences {
  uint32_t struct_size;          /* sizeof(rlcore_sequences) */
  uint32_t num_samples;          /* number of sequences */
  uint32_t len;                  /* rows of each in the arrays that are written, at least the longest sequence */
  uint32_t reserved;             /* zero */
  const rlcore_sample *samples;  /* [num_samples] */
} rlcore_sequences;

/* Fills in the defaults. */
rlcore_status rlcore_memory_config_init(rlcore_memory_config *config, size_t config_size);

/* Size of the block for this configuration, in bytes. */
rlcore_status rlcore_memory_size(const rlcore_memory_config *config, size_t *out_size);

/* Creates an empty memory in mem. */
rlcore_status rlcore_memory_init(void *mem, size_t mem_size, const rlcore_memory_config *config, rlcore_memory **out);

/* Opens a saved or copied memory in mem, with its frames, pools and stored random stream. mem is only read; no other
   process may write to it meanwhile. */
rlcore_status rlcore_memory_attach(void *mem, size_t mem_size, rlcore_memory **out);

/* Opens a memory that another process writes: see Sharing. Drawn frames may be dropped before they are gathered. */
rlcore_status rlcore_memory_attach_reader(const void *mem, size_t mem_size, const rlcore_memory **out);

/* Appends a frame. It continues the last frame if it has the same episode, the next step, and that frame did not end the
   episode. If it starts another episode before the last one has ended, the last frame is marked truncated.
   values:     [num_columns] pointers to [len] elements each, copied; for stacks, the newest frame.
   out_number: its number; may be NULL.
   out_cuts:   1 if the last frame was marked truncated, else 0; may be NULL.
   Errors: E_RANGE for a frame of an episode that has ended. */
rlcore_status rlcore_memory_add(rlcore_memory *m, const rlcore_frame *frame, const void *const *values,
                                uint64_t *out_number, uint32_t *out_cuts);

/* Appends num_frames frames, as rlcore_memory_add. Each must follow the one before it.
   frames:     [num_frames]
   values:     [num_columns] pointers to [num_frames, len] elements each.
   out_number: number of the first; may be NULL.
   out_cuts:   number of frames marked truncated; may be NULL.
   Errors: as rlcore_memory_add; E_RANGE if num_frames is 0. */
rlcore_status rlcore_memory_add_rollout(rlcore_memory *m, const rlcore_frame *frames, uint32_t num_frames,
                                        const void *const *values, uint64_t *out_number, uint32_t *out_cuts);

/* Numbers of the frames held: [*out_begin, *out_end). The memory is full when it holds history_size frames. */
rlcore_status rlcore_memory_held(const rlcore_memory *m, uint64_t *out_begin, uint64_t *out_end);

/* Number of frames in each pool. */
rlcore_status rlcore_memory_pool_len(const rlcore_memory *m, uint32_t *out_ordinary, uint32_t *out_priority);

/* Frame number of entry i of a pool, oldest first. priority: 1 for priority frames, 0 for ordinary ones.
   Errors: E_RANGE. */
rlcore_status rlcore_memory_pool_number(const rlcore_memory *m, uint32_t priority, uint32_t i, uint64_t *out_number);

/* Draws num_samples sequences. The first frame is uniform among those followed by at least size - 1 frames. A sequence
   stops at the end of its episode. size is limited to the number of frames held. In a full memory, frames whose stacks
   would need dropped frames are not drawn: at most num_stack - 1 of them.
   RLCORE_DRAW_ORIGINAL requires a full memory and a history_size of at least size + 2. It ignores stacks: it may draw
   sequences that rlcore_memory_gather then refuses with E_RANGE.
   draw:    NULL: the defaults.
   samples: [num_samples] to write.
   Threads: any number, each with its own rng. Random numbers: one index per draw.
   Errors: E_CONFIG; E_RANGE for a field of draw; E_NOT_READY if no frame is held, or with RLCORE_DRAW_ORIGINAL fewer than
   history_size. E_INEXACT with exact_size if a sequence is still shorter than size after the last attempt: all samples
   are written; compare len - burn_in with size. */
rlcore_status rlcore_memory_sample_uniform(const rlcore_memory *m, rlcore_rng *rng, const rlcore_draw *draw,
                                           rlcore_sample *samples, uint32_t num_samples);

/* Draws num_samples sequences. The last frame is a priority frame with probability 1 / skewness, otherwise an ordinary
   one, and uniform in its pool; if one pool is empty, the other is used. A sequence stays within its episode: near the
   beginning it is shorter, or with exact_size drawn again from the same pool.
   draw:    NULL: the defaults.
   samples: [num_samples] to write.
   Threads: any number, each with its own rng. Random numbers: a coin, then one index per attempt.
   Errors: as rlcore_memory_sample_uniform; E_DISABLED without use_priority; E_EMPTY if both pools are empty; E_RANGE for a
   size above max_sample_size, which RLCORE_DRAW_ORIGINAL limits instead. E_BUSY only for a reader, if the writer
   overwrites frames faster than they are drawn or was stopped in the only frame that can be drawn: some samples may be
   written. */
rlcore_status rlcore_memory_sample_priority(const rlcore_memory *m, rlcore_rng *rng, const rlcore_draw *draw,
                                            rlcore_sample *samples, uint32_t num_samples);

/* Copies one column of sequences. Shorter sequences are padded with zeros at the end.
   column:  index of the column in the configuration.
   layout:  an rlcore_layout, for stacks.
   kind:    the column's; or RLCORE_F32 for bytes, scaled to [0, 1].
   out:     [num_samples, len, row_len] to write; row_len is the number of elements of the column, or of a whole stack.
   Errors: E_CONFIG; E_RANGE for a column, layout, kind or sample, or a frame that is not held or was dropped since the
   draw. */
rlcore_status rlcore_memory_gather(const rlcore_memory *m, const rlcore_sequences *sequences, uint32_t column,
                                   uint32_t layout, uint32_t kind, void *out);

/* Copies rewards and flags of sequences, padded with zeros at the end.
   reward, terminated, truncated: [num_samples, len] to write; may be NULL.
   valid: [num_samples, len] to write, 1 where there is a frame; may be NULL.
   Errors: as rlcore_memory_gather. */
rlcore_status rlcore_memory_gather_frames(const rlcore_memory *m, const rlcore_sequences *sequences, float *reward,
                                          uint8_t *terminated, uint8_t *truncated, uint8_t *valid);

/* Stores a random stream in the block, so that it is saved with it. Initially the stream of seed 0 is stored. */
rlcore_status rlcore_memory_store_rng(rlcore_memory *m, const rlcore_rng *rng);

/* Copies the stored random stream. rng: [1] to write. Errors: E_BUSY only for a reader, see Sharing. */
rlcore_status rlcore_memory_load_rng(const rlcore_memory *m, rlcore_rng *rng);

/* ---- Replay memory: transitions, sampled by priority ---- */

/* Divisor of the importance weights. */
typedef enum rlcore_replay_normalize {
  RLCORE_REPLAY_NORMALIZE_MEMORY = 0,  /* the largest weight in the memory */
  RLCORE_REPLAY_NORMALIZE_BATCH = 1,   /* the largest weight of the batch */
  RLCORE_REPLAY_NORMALIZE_NONE = 2,    /* none: (num_transitions * probability)^-beta */
} rlcore_replay_normalize;

/* Transitions of N environments, drawn in proportion to their priorities. A row is one step of one environment. Rows of an
   environment are numbered from 0; numbers are never reused. A full memory drops the oldest row. Row t becomes a
   transition when row t + num_steps is added or its episode ends. The last observation of an episode takes a row of its
   own: an episode of L steps takes L + 1 rows.
   Example:
     rlcore_replay_config_init(&config, sizeof config);
     config.num_envs = N, config.columns = columns, config.num_columns = 2;
     rlcore_replay_size(&config, &size);
     rlcore_replay_init(mem, size, &config, &r);
     rlcore_replay_add_all(r, values, reward, terminated, truncated, final_values);
     rlcore_replay_sample(r, &rng, &draw, num_rows, index, weight, NULL);
     rlcore_replay_gather(r, index, num_rows, column, RLCORE_LAYOUT_HWC, RLCORE_F32, obs);
     rlcore_replay_update(r, index, priority, num_rows, NULL); */
typedef struct rlcore_replay rlcore_replay;

/* Configuration of a replay memory. */
typedef struct rlcore_replay_config {
  uint32_t struct_size;          /* bytes; set by rlcore_replay_config_init */
  uint32_t num_envs;             /* N, at least 1; default 1 */
  uint32_t num_rows;             /* rows kept per environment, at least num_steps + any num_stack; default 100000 */
  uint32_t num_columns;          /* 1 to 16 */
  const rlcore_column *columns;  /* [num_columns] data of a row; copied */
  uint32_t observations;         /* bit c: column c is an observation and has a next value; default 1: column 0 */
  uint32_t num_steps;            /* steps per transition, 1 to 255; default 1 */
  float discount;                /* discount per step, 0 to 1; default 0.99 */
  float alpha;                   /* weights are (|priority| + epsilon)^alpha, alpha 0 to 1; default 0.6 */
  float epsilon;                 /* a normal number above 0, at most 1e30; default 1e-6 */
  uint32_t reserved;             /* zero */
} rlcore_replay_config;

/* One step of one environment, without the values of its columns. */
typedef struct rlcore_replay_step {
  uint32_t struct_size;  /* sizeof(rlcore_replay_step) */
  uint32_t env;          /* index of the environment */
  float reward;          /* finite */
  uint32_t terminated;   /* 1 if the step ended the episode this way, else 0; as the next */
  uint32_t truncated;    /* see terminated */
} rlcore_replay_step;

/* Statistics of a replay memory. */
typedef struct rlcore_replay_stats {
  uint32_t struct_size;      /* sizeof(rlcore_replay_stats) */
  float alpha;               /* exponent of weights assigned from now on */
  uint64_t num_transitions;  /* transitions that can be drawn */
  double total;              /* sum of their weights */
  float min_weight;          /* smallest weight; infinite if there is none */
  float max_priority;        /* largest |priority| + epsilon so far, initially 1; given to new transitions */
} rlcore_replay_stats;

/* Parameters of a draw. */
typedef struct rlcore_replay_draw {
  uint32_t struct_size;  /* sizeof(rlcore_replay_draw) */
  float beta;            /* exponent of the importance weights, at least 0; usually rising from 0.4 to 1 */
  uint32_t normalize;    /* an rlcore_replay_normalize */
  uint32_t independent;  /* 0: stratified, one of each of num_rows equal parts of the total weight; 1: independent */
} rlcore_replay_draw;

/* Fills in the defaults. */
rlcore_status rlcore_replay_config_init(rlcore_replay_config *config, size_t config_size);

/* Size of the block for this configuration, in bytes. */
rlcore_status rlcore_replay_size(const rlcore_replay_config *config, size_t *out_size);

/* Creates an empty memory in mem. */
rlcore_status rlcore_replay_init(void *mem, size_t mem_size, const rlcore_replay_config *config, rlcore_replay **out);

/* Opens a saved or copied replay memory in mem, with its transitions, priorities and stored random stream. */
rlcore_status rlcore_replay_attach(void *mem, size_t mem_size, rlcore_replay **out);

/* Opens a replay memory that another process writes: see Sharing. A draw uses the weights as they change. */
rlcore_status rlcore_replay_attach_reader(const void *mem, size_t mem_size, const rlcore_replay **out);

/* Appends one step of one environment.
   values:       [num_columns] pointers to [len] elements each, copied: the observation before the action, and so on.
   final_values: [num_columns] pointers; for observation columns to [len] elements, the last observation of the episode;
                 the others are ignored. NULL: the episode continues.
   out_number:   number of the row; may be NULL.
   Errors: E_CONFIG; E_RANGE; E_VALUE; E_SHAPE if the episode ended and final_values is missing. */
rlcore_status rlcore_replay_add(rlcore_replay *r, const rlcore_replay_step *step, const void *const *values,
                                const void *const *final_values, uint64_t *out_number);

/* Appends one step of every environment, as rlcore_replay_add with the arrays of all N.
   values:       [num_columns] pointers to [N, len] elements.
   reward, terminated, truncated: [N].
   final_values: [num_columns] pointers; for observation columns to [N, len] elements, read where an episode ended; NULL:
                 none did.
   Errors: as rlcore_replay_add, for any environment. */
rlcore_status rlcore_replay_add_all(rlcore_replay *r, const void *const *values, const float *reward,
                                    const uint8_t *terminated, const uint8_t *truncated,
                                    const void *const *final_values);

/* Ends the episodes of environments that the caller has reset before the outcome of their last step was known, so that no
   transition leads across the reset. The last step of each is dropped: its observation becomes the last one of the episode.
   The step before it is truncated, and transitions of num_steps steps end there. Does nothing where an episode has ended.
   gone: [N] flags. */
rlcore_status rlcore_replay_cut(rlcore_replay *r, const uint8_t *gone);

/* Returns the statistics. out: struct_size must be set.
   Errors: E_CONFIG. */
rlcore_status rlcore_replay_get_stats(const rlcore_replay *r, rlcore_replay_stats *out);

/* Changes the exponent of weights assigned from now on; existing weights stay.
   Errors: E_RANGE if it is not from 0 to 1. */
rlcore_status rlcore_replay_set_alpha(rlcore_replay *r, float alpha);

/* Linear schedule for alpha or beta: `initial` at progress 0, `end` at progress 1.
   out: [1] to write.
   Errors: E_RANGE for a progress outside [0, 1]; E_VALUE. */
rlcore_status rlcore_replay_linear(float initial, float end, float progress, float *out);

/* Draws num_rows transitions in proportion to their weights.
   index:       [num_rows] to write, the first rows of the transitions.
   weight:      [num_rows] to write, importance weights (num_transitions * probability)^-beta, normalized.
   probability: [num_rows] to write, the probability of each; may be NULL.
   Threads: any number, each with its own rng.
   Errors: E_CONFIG; E_RANGE; E_VALUE; E_NOT_READY if there is no transition to draw; E_BUSY only for a reader, if the
   writer
   overwrites rows faster than they are drawn or was stopped in the only row that can be drawn: some rows may be
                                                                                                written. */
rlcore_status rlcore_replay_sample(const rlcore_replay *r, rlcore_rng *rng, const rlcore_replay_draw *draw,
                                   uint32_t num_rows, rlcore_frame_index *index, float *weight, float *probability);

/* Sets the priorities of transitions, usually absolute temporal-difference errors. If an index occurs twice, the later one
   counts. Transitions that were dropped since they were drawn are skipped.
   index:         [num_rows] from rlcore_replay_sample.
   priority:      [num_rows] finite, at least 0.
   out_forgotten: number of transitions skipped; may be NULL.
   Errors: E_VALUE; E_RANGE for a negative priority or a row that never was a transition. */
rlcore_status rlcore_replay_update(rlcore_replay *r, const rlcore_frame_index *index, const float *priority,
                                   uint32_t num_rows, uint64_t *out_forgotten);

/* Writes rewards, discounts and flags of transitions; NULL skips an array.
   index:    [num_rows] from rlcore_replay_sample.
   reward:   [num_rows] sum of discount^i * reward over the steps of the transition.
   discount: [num_rows] discount^steps, the factor of the next observation's value; 0 where the last step terminated.
   terminated, truncated: [num_rows] 1 if the last step ended the episode this way.
   Errors: E_RANGE for a transition that was dropped. */
rlcore_status rlcore_replay_transitions(const rlcore_replay *r, const rlcore_frame_index *index, uint32_t num_rows,
                                        float *reward, float *discount, uint8_t *terminated, uint8_t *truncated);

/* Writes a column of the first rows of num_rows transitions.
   index:  [num_rows] from rlcore_replay_sample.
   column: index of the column.
   layout: an rlcore_layout, for stacks and channels.
   kind:   the column's; or RLCORE_F32 for bytes: byte / 255.
   out:    [num_rows, row_len] of that kind, to write; row_len is the column's len, or that of a whole stack.
   Errors: E_RANGE for column, layout, kind, or a transition that was dropped. */
rlcore_status rlcore_replay_gather(const rlcore_replay *r, const rlcore_frame_index *index, uint32_t num_rows,
                                   uint32_t column, uint32_t layout, uint32_t kind, void *out);

/* Writes an observation column of the rows that num_rows transitions lead to; otherwise as rlcore_replay_gather.
   Errors: as rlcore_replay_gather; E_RANGE for a column that is not an observation. */
rlcore_status rlcore_replay_gather_next(const rlcore_replay *r, const rlcore_frame_index *index, uint32_t num_rows,
                                        uint32_t column, uint32_t layout, uint32_t kind, void *out);

/* Stores a random stream in the block, so that it is saved with it. Initially the stream of seed 0 is stored. */
rlcore_status rlcore_replay_store_rng(rlcore_replay *r, const rlcore_rng *rng);

/* Copies the stored random stream. rng: [1] to write. Errors: E_BUSY only for a reader, see Sharing. */
rlcore_status rlcore_replay_load_rng(const rlcore_replay *r, rlcore_rng *rng);

/* ---- Hindsight goal relabeling ---- */

/* Which achieved goal of its episode becomes a step's new goal. Row t is the goal achieved at obs[t]: step t leads to row
   t + 1, and an episode of T steps has T + 1 rows. */
typedef enum rlcore_relabel_strategy {
  RLCORE_RELABEL_FUTURE = 0,   /* rows t + 1 to T: achieved by this step or a later one */
  RLCORE_RELABEL_FINAL = 1,    /* row T: achieved by the last step */
  RLCORE_RELABEL_EPISODE = 2,  /* rows 1 to T: achieved by any step */
} rlcore_relabel_strategy;

/* Steps to relabel with other goals. B = num_steps, G = goal_len, R = num_rows. */
typedef struct rlcore_relabel {
  uint32_t struct_size;      /* sizeof(rlcore_relabel) */
  uint32_t num_steps;        /* B */
  uint32_t goal_len;         /* G, at least 1 */
  uint32_t num_rows;         /* R */
  const float *achieved;     /* [R, G] achieved goals of any number of episodes */
  const uint32_t *row;       /* [B] row of the goal that each step achieved */
  const uint32_t *goal_row;  /* [B] row of its new goal */
} rlcore_relabel;

/* Computes the reward of a step for a goal. achieved, goal: [goal_len]; reward: [1] to write; terminated: [1], 0 before
   the call, 1 to write if the episode ends. Returns 0, or nonzero to stop with E_CALLBACK. */
typedef int32_t (*rlcore_goal_fn)(void *user, const float *achieved, const float *goal, float *reward,
                                  uint8_t *terminated);

/* For step[b] of an episode of num_steps[b] steps, draws the row of its new goal, counted from the episode's first and
   uniform among those that the strategy allows. strategy: an rlcore_relabel_strategy; step, num_steps: [len]; goal_step:
   [len] to write. Makes at most one draw from rng per step.
   Errors: E_IMAGE for a stream that was never seeded; E_RANGE for the strategy or a step >= num_steps. */
rlcore_status rlcore_relabel_draw(uint32_t strategy, const uint32_t *step, const uint32_t *num_steps, size_t len,
                                  rlcore_rng *rng, uint32_t *goal_step);

/* Copies the new goals and calls `judge` for the reward and termination of each step. goal: [B, G], reward: [B],
   terminated: [B], to write.
   Errors: E_CONFIG; E_SHAPE; E_RANGE for a row >= R; E_VALUE for an achieved goal that is not finite: nothing is written.
   E_CALLBACK, or E_VALUE for a reward: earlier steps are written. */
rlcore_status rlcore_relabel_goals(const rlcore_relabel *steps, rlcore_goal_fn judge, void *user, float *goal,
                                   float *reward, uint8_t *terminated);

/* ---- Advantages and returns ---- */

/* Precision of a recursion over time. */
typedef enum rlcore_accumulate {
  RLCORE_ACCUMULATE_F32 = 0,  /* f32 */
  RLCORE_ACCUMULATE_F64 = 1,  /* f64, rounded once to the output */
} rlcore_accumulate;

/* T steps of N environments, time-major. Step t led from obs[t] to obs[t+1]. */
typedef struct rlcore_rollout {
  uint32_t struct_size;          /* sizeof(rlcore_rollout) */
  uint32_t num_steps;            /* T, at least 1 */
  uint32_t num_envs;             /* N, at least 1 */
  uint32_t accumulate;           /* precision: an rlcore_accumulate; 0: f32 */
  const float *reward;           /* [T, N] */
  const float *value;            /* [T, N] V(obs[t]) */
  const float *bootstrap_value;  /* [N] value of the observation after the last step */
  const uint8_t *terminated;     /* [T, N] */
  const uint8_t *truncated;      /* [T, N] */
  const float *final_value;      /* [T, N] V(final_obs), read only where truncated; may be NULL if no step is */
} rlcore_rollout;

/* Generalized advantage estimation. Both outputs [T, N]; they must not overlap an input or each other.
     next[t]      = 0 where terminated, else final_value[t] where truncated, else value[t+1] (bootstrap_value at T-1)
     delta[t]     = reward[t] + discount * next[t] - value[t]
     advantage[t] = delta[t] + discount * gae_lambda * (0 if ended[t] or t = T-1, else advantage[t+1])
     value_target = advantage + value
   Errors: E_CONFIG for struct_size or accumulate; E_SHAPE if T or N is 0; E_RANGE for a discount or gae_lambda outside
   [0, 1]; E_VALUE for one that is NaN or infinite, and for an input that is not finite, which is detected during
   computation: the outputs are then undefined. Large finite inputs may overflow to infinities or NaN, with RLCORE_OK. */
rlcore_status rlcore_gae(const rlcore_rollout *rollout, float discount, float gae_lambda, float *advantage,
                         float *value_target);

/* As rlcore_gae for environments [begin, end). The arrays are those of the whole rollout; only these columns are read and
   written. Results do not depend on the split.
   Threads: calls on disjoint ranges may run concurrently. Ranges that begin at multiples of 16 share no cache line of
   cache-aligned arrays.
   Errors: as there; E_RANGE unless begin <= end <= num_envs. */
rlcore_status rlcore_gae_range(const rlcore_rollout *rollout, float discount, float gae_lambda, uint32_t begin,
                               uint32_t end, float *advantage, float *value_target);

/* Discounted sums: out[t] = x[t] + discount * out[t+1], with 0 after the last step. x, out: [T, N]; may be the same array.
   Errors: E_SHAPE if T or N is 0; E_RANGE for a discount outside [0, 1]; E_VALUE for one that is NaN or infinite, and
   for an x that is not finite, which is detected during computation: out is then undefined, unless it is x. Sums may
   overflow to infinity, with RLCORE_OK. */
rlcore_status rlcore_discounted_sum(const float *x, uint32_t num_steps, uint32_t num_envs, float discount, float *out);

/* ---- Rows: copying, stacking and gathering ---- */

/* Output arrays for copied rows: steps of N environments, or frames of a trajectory, with N = 1. NULL skips an array. */
typedef struct rlcore_rows_out {
  uint32_t struct_size;  /* sizeof(rlcore_rows_out) */
  uint32_t num_rows;     /* maximum number of rows to copy */
  void *const *columns;  /* [num_columns] arrays, [num_rows, N, len] of each column's kind */
  float *reward;         /* [num_rows, N] reward of the action */
  float *value;          /* [num_rows, N] V(obs) when the action was chosen */
  float *log_prob;       /* [num_rows, N] of the action; NULL for trajectories */
  float *final_value;    /* [num_rows, N] V(final_obs) where truncated and not terminated, else 0; NULL for trajectories */
  uint8_t *terminated;   /* [num_rows, N] */
  uint8_t *truncated;    /* [num_rows, N] */
  float *memory;         /* [num_rows, N, M] the policy's recurrent state before the row */
} rlcore_rows_out;

/* Concatenates arrays, such as those of several trajectories.
   parts:    [num_parts] arrays, at most 64, with `width` elements per row of kind, an rlcore_element.
   num_rows: [num_parts] rows of each.
   out:      [num_out_rows, width] to write; num_out_rows must be the sum of num_rows.
   Errors: E_CONFIG for the kind; E_RANGE for num_parts; E_SHAPE for num_out_rows. */
rlcore_status rlcore_rows_stack(const void *const *parts, const uint32_t *num_rows, uint32_t num_parts, uint32_t width,
                                uint32_t kind, void *out, uint32_t num_out_rows);

/* Copies rows: row index[i] of x becomes row i of out. A negative index counts from the end; -1 is the last row.
   x: [num_rows, width] of kind, an rlcore_element; index: [num_index]; out: [num_index, width] to write.
   Errors: E_CONFIG for the kind; E_SHAPE if width is 0; E_RANGE for an index out of range. */
rlcore_status rlcore_rows_gather(const void *x, uint32_t num_rows, uint32_t width, uint32_t kind, const int64_t *index,
                                 uint32_t num_index, void *out);

/* Marks the valid rows of padded arrays: the first time_steps[i] of part i.
   time_steps: [num_parts]; valid: [num_parts, size] to write, 1 or 0.
   Errors: E_RANGE for a part that is longer than size. */
rlcore_status rlcore_rows_valid(const uint32_t *time_steps, uint32_t num_parts, uint32_t size, uint8_t *valid);

/* Finds the rows whose numbers are not all finite, such as the simulations of a large scene that have to be reset before
   their observations go to a call that refuses them with E_VALUE.
   kind: an rlcore_element; numbers of RLCORE_I32 and RLCORE_U8 are always finite. RLCORE_STRUCT: pass its RLCORE_F32 parts.
   x: [num_rows, len] of that kind; ok: [num_rows] to write, 1 where all numbers are finite, else 0.
   out_num_bad: [1] rows of which ok is 0.
   Errors: E_CONFIG for another kind. */
rlcore_status rlcore_finite_rows(uint32_t kind, const void *x, uint32_t num_rows, uint32_t len, uint8_t *ok,
                                 uint32_t *out_num_bad);

/* Shifted copies of a series: out[i][j] = x[j - i] where j >= i, else 0.
   x: [len, width]; out: [len, len, width] to write. */
rlcore_status rlcore_shift_rows(const float *x, uint32_t len, uint32_t width, float *out);

/* ---- Rollouts: T steps of N environments, in minibatches ---- */

/* Kind of a row of metrics. */
typedef enum rlcore_metric {
  RLCORE_METRIC_EPISODE_LENGTH = 0,  /* length of an episode that ended */
  RLCORE_METRIC_EPISODE_RETURN = 1,  /* return of an episode that ended */
  RLCORE_METRIC_OWN = 2,             /* first number available to the caller */
} rlcore_metric;

/* T steps of N environments, drawn in minibatches. Sample e * T + t is step t of environment e, where T is the number of
   steps when the rollout was finished.
   Example:
     rlcore_rollout_buffer_config_init(&config, sizeof config);
     config.num_envs = N, config.columns = columns, config.num_columns = 2;
     rlcore_rollout_buffer_size(&config, &size);
     rlcore_rollout_buffer_init(mem, size, &config, &b);
     rlcore_rollout_buffer_add(b, &step);                                         // num_steps times
     rlcore_rollout_buffer_finish(b, bootstrap_value, next_obs, discount, gae_lambda);
     rlcore_rollout_buffer_draw(b, minibatch_size, 1, index, index_len);          // once per epoch
     rlcore_rollout_buffer_gather(b, index + k * minibatch_size, minibatch_size, 1, &minibatch);
     rlcore_rollout_buffer_reset(b); */
typedef struct rlcore_rollout_buffer rlcore_rollout_buffer;

/* Configuration of a rollout. */
typedef struct rlcore_rollout_buffer_config {
  uint32_t struct_size;          /* bytes; set by rlcore_rollout_buffer_config_init */
  uint32_t num_steps;            /* T: maximum number of steps, at least 1; default 128 */
  uint32_t num_envs;             /* N, at least 1; default 1 */
  uint32_t memory_len;           /* M: floats of a recurrent policy's state; default 0: none */
  uint32_t log_capacity;         /* rows of metrics held, at least 2 N; 0 (default): the larger of 1024 and 2 N */
  uint32_t num_columns;          /* 1 to 16 */
  uint64_t seed;                 /* seed of the draws; default 0 */
  const rlcore_column *columns;  /* [num_columns] data of a step, without stacks; column 0 is the observation */
  uint32_t accumulate;           /* precision of advantages: an rlcore_accumulate; 0 (default): f32 */
  uint32_t reserved;             /* zero */
} rlcore_rollout_buffer_config;

/* One step of all environments, with same-step autoreset: where an episode ended, the next step begins a new one. */
typedef struct rlcore_rollout_step {
  uint32_t struct_size;  /* sizeof(rlcore_rollout_step) */
  uint32_t reserved;     /* zero */
  /* [num_columns] arrays, [N, len] of each column's kind: observation, action, and so on. NULL, or a NULL element:
     the data written through rlcore_rollout_buffer_row is kept */
  const void *const *columns;
  const float *reward;        /* [N] reward of the action */
  const float *value;         /* [N] V(obs); NULL: none */
  const float *log_prob;      /* [N] log-probability of the action; NULL: none */
  const uint8_t *terminated;  /* [N] */
  const uint8_t *truncated;   /* [N] */
  const float *final_value;   /* [N] V(final_obs), read where truncated and not terminated; may be NULL if nowhere */
  const float *memory;        /* [N, M] the policy's recurrent state before the step; NULL if M is 0 */
  const float *raw_reward;    /* [N] rewards that episode returns are summed from; NULL: reward */
} rlcore_rollout_step;

/* Further arrays of a rollout, not owned: pointers into the block, valid until it changes. */
typedef struct rlcore_rollout_extras {
  uint32_t struct_size;       /* sizeof(rlcore_rollout_extras) */
  uint32_t reserved;          /* zero */
  const float *log_prob;      /* [T, N]; NULL if a step had none */
  const float *advantage;     /* [T, N]; NULL unless finished */
  const float *value_target;  /* [T, N]; NULL unless finished */
  const uint8_t *first;       /* [N] 1 where step 0 starts an episode */
  const float *memory;        /* [T, N, M]; NULL if M is 0 */
} rlcore_rollout_extras;

/* Progress of a rollout and of the training. */
typedef struct rlcore_rollout_progress {
  uint32_t struct_size;  /* sizeof(rlcore_rollout_progress) */
  uint32_t num_steps;    /* steps held */
  uint64_t global_step;  /* environment steps since init: N for each step added */
  uint64_t num_ended;    /* episodes that ended since the last reset */
  double len_mean;       /* their mean length; NaN if there are none */
  double return_mean;    /* their mean return; NaN if there are none */
  uint32_t finished;     /* 1: advantages are computed */
  uint32_t reserved;     /* zero */
} rlcore_rollout_progress;

/* A window of a trajectory, or all of a short one. */
typedef struct rlcore_window {
  uint32_t first;     /* its first sample */
  uint32_t len;       /* samples, at least 1 */
  uint32_t pad;       /* rows of padding before them: timesteps - len */
  uint32_t timestep;  /* steps of the trajectory before the window */
} rlcore_window;

/* Output arrays of a minibatch; NULL skips an array. rlcore_rollout_buffer_gather copies windows, with L = window_len;
   rlcore_rollout_buffer_gather_windows copies trajectories, with L = timesteps. */
typedef struct rlcore_minibatch {
  uint32_t struct_size;  /* sizeof(rlcore_minibatch) */
  uint32_t reserved;     /* zero */
  void *const *columns;  /* [num_columns] arrays, [rows, L, len] of each column's kind */
  float *log_prob;       /* [rows, L]; for trajectories [rows], of the last sample, as for the next four */
  float *value;          /* [rows, L] V(obs) when the action was chosen */
  float *advantage;      /* [rows, L] generalized advantage */
  float *value_target;   /* [rows, L] advantage + value */
  float *reward;         /* [rows, L] reward of the action */
  float *mask;           /* [rows, L] windows: 0 where an episode starts, else 1; trajectories: 0 for padding, else 1 */
  float *memory;         /* [rows, M] the policy's recurrent state before the first sample of each row */
  int32_t *timestep;     /* [rows, L] steps of the trajectory before each sample, 0 for padding; NULL for windows */
} rlcore_minibatch;

/* A logged number. */
typedef struct rlcore_metric_row {
  uint64_t global_step;  /* environment steps before the step that it describes */
  double value;          /* the number */
  uint32_t env;          /* environment index; UINT32_MAX: all */
  uint32_t metric;       /* an rlcore_metric, or the caller's own, at least RLCORE_METRIC_OWN */
} rlcore_metric_row;

/* Fills in the defaults. */
rlcore_status rlcore_rollout_buffer_config_init(rlcore_rollout_buffer_config *config, size_t config_size);

/* Size of the block for this configuration, in bytes. */
rlcore_status rlcore_rollout_buffer_size(const rlcore_rollout_buffer_config *config, size_t *out_size);

/* Creates an empty rollout in mem. */
rlcore_status rlcore_rollout_buffer_init(void *mem, size_t mem_size, const rlcore_rollout_buffer_config *config,
                                         rlcore_rollout_buffer **out);

/* Opens a saved or copied rollout in mem. mem is only read; columns are not checked. */
rlcore_status rlcore_rollout_buffer_attach(void *mem, size_t mem_size, rlcore_rollout_buffer **out);

/* Opens a rollout that another process writes: see Sharing. Memory that calls return pointers to may change at any time;
   use rlcore_rollout_buffer_read to copy it. */
rlcore_status rlcore_rollout_buffer_attach_reader(const void *mem, size_t mem_size, const rlcore_rollout_buffer **out);

/* Returns a pointer to row `step` of a column in the block, [N, len], to fill in place before the step is added with NULL
   for that column. `step` must be the number of steps held so far; for column 0, the observation, it may also be that
   plus 1, so that environments can write the next observation while the current one is still in use.
   Errors: E_RANGE. */
rlcore_status rlcore_rollout_buffer_row(rlcore_rollout_buffer *b, uint32_t column, uint32_t step, void **out_row);

/* Appends a step, and logs length and return of every episode that it ended under the global_step before it. step->value
   and step->log_prob may be NULL. If any step of the rollout had none, then until the next reset
   rlcore_rollout_buffer_view and _extras return NULL for that array and _read and _gather refuse to copy it with
   E_NOT_READY; _finish requires all values.
   Errors: E_NULL, also for a missing final_value; E_CONFIG; E_NOT_READY if the rollout is full or finished; E_VALUE for a
   number that is not finite; E_RANGE after 2^63 steps or metrics. */
rlcore_status rlcore_rollout_buffer_add(rlcore_rollout_buffer *b, const rlcore_rollout_step *step);

/* Ends the episodes of environments that the caller has reset before the outcome of their last step was known. `truncated`
   of that step becomes 2 and its final_value V(obs) of its own: nothing is learned from it, as its advantage is 0 and its
   value target its value. The step before it bootstraps from that value. The episodes are not counted. If the rollout is
   finished, its advantages stay. Does nothing where an episode has ended.
   gone: [N] flags. */
rlcore_status rlcore_rollout_buffer_cut(rlcore_rollout_buffer *b, const uint8_t *gone);

/* Finishes the rollout: computes advantages and value targets of the steps held, as rlcore_gae.
   bootstrap_value: [N] V of the observation after the last step.
   next_obs:        [N, len] of column 0: that observation, which reset carries over; NULL: the data written through
                    rlcore_rollout_buffer_row is kept.
   Errors: E_NOT_READY if no step is held, the rollout is finished, or a step had no value; E_RANGE for a discount or
   gae_lambda outside [0, 1]; E_VALUE. */
rlcore_status rlcore_rollout_buffer_finish(rlcore_rollout_buffer *b, const float *bootstrap_value, const void *next_obs,
                                           float discount, float gae_lambda);

/* Begins the next rollout where this one stopped: drops steps, advantages and episode means. The observation after the
   last step becomes row 0 of column 0; episodes, metrics and global_step continue. */
rlcore_status rlcore_rollout_buffer_reset(rlcore_rollout_buffer *b);

/* Returns the arrays that rlcore_gae reads, for the steps held. Pointers into the block, valid until it changes.
   bootstrap_value is 0 until the first rollout is finished; value and final_value are NULL if a step had no value.
   out->struct_size must be set.
   Errors: E_CONFIG. */
rlcore_status rlcore_rollout_buffer_view(const rlcore_rollout_buffer *b, rlcore_rollout *out);

/* Returns the other arrays. out->struct_size must be set. Errors: E_CONFIG. */
rlcore_status rlcore_rollout_buffer_extras(const rlcore_rollout_buffer *b, rlcore_rollout_extras *out);

/* Returns a pointer to a column in the block: [T, N, len] for the steps held; for column 0 [T + 1, N, len], where the last
   row is the observation to act on next, once it is known. Valid until the block changes.
   Errors: E_RANGE. */
rlcore_status rlcore_rollout_buffer_column(const rlcore_rollout_buffer *b, uint32_t column, const void **out_column);

/* Progress of the rollout and of the training. out->struct_size must be set.
   Errors: E_CONFIG. */
rlcore_status rlcore_rollout_buffer_progress(const rlcore_rollout_buffer *b, rlcore_rollout_progress *out);

/* Copies steps, in order. Steps are numbered over all rollouts: step t of this one has number
   global_step / N - num_steps + t, see rlcore_rollout_progress. Each reader keeps its own `next`, initially 0.
   next:      [1] number of the first step to read; becomes that of the first one not read.
   out_count: [1] steps copied, to the front of each array: at most out->num_rows, and only of this rollout.
   out_lost:  [1] steps that were dropped before they were read, may be NULL.
   Errors: E_CONFIG; E_NOT_READY for an array that a step did not have; E_RANGE if next is larger than the number of steps
   added; E_BUSY only for a reader, see Sharing. */
rlcore_status rlcore_rollout_buffer_read(const rlcore_rollout_buffer *b, uint64_t *next, const rlcore_rows_out *out,
                                         uint32_t *out_count, uint64_t *out_lost);

/* Divides the rollout into windows of `recurrence` samples (1: single samples) and writes the first sample of each, in
   random order: numpy's permutation of the windows, from the block's own stream. Minibatch k has minibatch_size samples:
   the minibatch_size / recurrence entries from k * minibatch_size / recurrence on.
   index: [index_len] to write, index_len = T * N / recurrence.
   Errors: E_NOT_READY unless finished; E_SHAPE for index_len; E_RANGE unless minibatch_size divides T * N, and
   recurrence divides T and minibatch_size. */
rlcore_status rlcore_rollout_buffer_draw(rlcore_rollout_buffer *b, uint32_t minibatch_size, uint32_t recurrence,
                                         uint32_t *index, uint32_t index_len);

/* Draws windows of at most `timesteps` samples, with the block's own stream. For each, draws a trajectory uniformly. If it
   is not longer than timesteps, the window is all of it. Otherwise, with probability end_chance, it is the last timesteps
   samples; else its end is uniform from timesteps to the trajectory's length. Trajectories begin with an episode or with
   the rollout.
   windows: [num_windows] to write.
   Errors: E_NOT_READY unless finished; E_RANGE for 0 timesteps, or an end_chance outside [0, 1]. */
rlcore_status rlcore_rollout_buffer_draw_windows(rlcore_rollout_buffer *b, uint32_t timesteps, double end_chance,
                                                 rlcore_window *windows, uint32_t num_windows);

/* Draws one of the steps held, uniformly, with the block's own stream: for inspection.
   Errors: E_NOT_READY if there is none. */
rlcore_status rlcore_rollout_buffer_sample(rlcore_rollout_buffer *b, uint32_t *out_step);

/* Copies num_rows windows of window_len consecutive samples; with window_len 1, single samples.
   index: [num_rows] the first sample of each window, e.g. of a minibatch from rlcore_rollout_buffer_draw.
   Threads: any number may gather concurrently while the block does not change.
   Errors: E_CONFIG; E_SHAPE if timestep is not NULL; E_NOT_READY unless finished, or for a log_prob that a step did not
   have; E_RANGE for a sample out of range, or a window that leaves its environment. */
rlcore_status rlcore_rollout_buffer_gather(const rlcore_rollout_buffer *b, const uint32_t *index, uint32_t num_rows,
                                           uint32_t window_len, const rlcore_minibatch *out);

/* Copies windows of trajectories, padded at the front to `timesteps` rows: RLCORE_I32 columns with pad_token, which should
   not be a valid action, others with zeros. Advantages are those of the whole rollout.
   windows: [num_windows], e.g. from rlcore_rollout_buffer_draw_windows with the same timesteps.
   Threads: any number may gather concurrently while the block does not change.
   Errors: E_CONFIG; E_NOT_READY as above; E_RANGE for a window that is not inside one trajectory, or whose len + pad is
   not timesteps. */
rlcore_status rlcore_rollout_buffer_gather_windows(const rlcore_rollout_buffer *b, const rlcore_window *windows,
                                                   uint32_t num_windows, uint32_t timesteps, int32_t pad_token,
                                                   const rlcore_minibatch *out);

/* Logs a number of the caller's, for all environments, under the current global_step. Of several values of one metric in
   one step, the last one counts.
   Errors: E_RANGE for a metric below RLCORE_METRIC_OWN, and after 2^63 rows; E_VALUE for a value that is not finite. */
rlcore_status rlcore_rollout_buffer_log(rlcore_rollout_buffer *b, uint32_t metric, double value);

/* Copies rows of metrics, oldest first. Each reader keeps its own `next`, initially 0, and loses nothing if it reads at
   least once every log_capacity rows.
   next:      [1] number of the first row to read; becomes that of the first one not read.
   rows:      [len] to write.
   out_count: [1] rows written; out_lost: [1] rows that were overwritten before they were read, may be NULL.
   Errors: E_RANGE if next is larger than the number of rows logged. */
rlcore_status rlcore_rollout_buffer_read_log(const rlcore_rollout_buffer *b, uint64_t *next, rlcore_metric_row *rows,
                                             uint32_t len, uint32_t *out_count, uint64_t *out_lost);

/* Writes lines `global_step=`, `avg_episode_length=` and `avg_episode_return=`: zero-padded to six characters, means with
   two decimals. Writes nothing if no episode has ended since the last reset.
   text:    [text_size] to write, not NUL-terminated. NULL with 0: only sets out_len.
   out_len: [1] bytes written, or required.
   Errors: E_SIZE. */
rlcore_status rlcore_rollout_buffer_format_progress(const rlcore_rollout_buffer *b, char *text, size_t text_size,
                                                    size_t *out_len);

/* Writes `Sample i/T:` and a line for each array of a step: its name padded to ten characters, a colon, and the numbers of
   all environments.
   text, out_len: [text_size] and [1], as in rlcore_rollout_buffer_format_progress.
   Errors: E_SIZE; E_RANGE for a step that is not held. */
rlcore_status rlcore_rollout_buffer_format_step(const rlcore_rollout_buffer *b, uint32_t step, char *text,
                                                size_t text_size, size_t *out_len);

/* ---- Trajectories: one episode or a part of it ---- */

/* Class of a reward for reward prediction: the index of the 1 in a one-hot row of 3. */
typedef enum rlcore_reward_class {
  RLCORE_REWARD_ZERO = 0,      /* between the thresholds, inclusive */
  RLCORE_REWARD_POSITIVE = 1,  /* above the threshold */
  RLCORE_REWARD_NEGATIVE = 2,  /* below its negative */
} rlcore_reward_class;

/* One trajectory: an episode or a part of it, frame by frame.
   Example:
     rlcore_trajectory_config_init(&config, sizeof config);
     config.columns = columns, config.num_columns = 2;
     rlcore_trajectory_size(&config, &size);
     rlcore_trajectory_init(mem, size, &config, &t);
     rlcore_trajectory_add(t, &frames);
     rlcore_trajectory_process(t, discount, gae_lambda, bootstrap_value, &rows);
     rlcore_trajectory_reset(t); */
typedef struct rlcore_trajectory rlcore_trajectory;

/* Configuration of a trajectory. */
typedef struct rlcore_trajectory_config {
  uint32_t struct_size;          /* bytes; set by rlcore_trajectory_config_init */
  uint32_t capacity;             /* maximum number of frames, at least 1; default 20 */
  uint32_t memory_len;           /* M: floats of a recurrent policy's state; default 0: none */
  uint32_t one_hot;              /* bit i: column i is one-hot: padding sets element 0 to 1; default 0 */
  uint32_t num_columns;          /* 1 to 16 */
  uint32_t accumulate;           /* precision of returns and advantages: an rlcore_accumulate; 0 (default): f32 */
  const rlcore_column *columns;  /* [num_columns] data of a frame besides reward, value and flags, without stacks */
} rlcore_trajectory_config;

/* Consecutive frames to append: a new one, or a sequence gathered from a replay memory. */
typedef struct rlcore_trajectory_frames {
  uint32_t struct_size;        /* sizeof(rlcore_trajectory_frames) */
  uint32_t num_frames;         /* at least 1 */
  const void *const *columns;  /* [num_columns] arrays, [num_frames, len] of each column's kind */
  const float *reward;         /* [num_frames] reward of the action */
  const float *value;          /* [num_frames] V(obs) when the action was chosen; NULL: none */
  const uint8_t *terminated;   /* [num_frames] the last one at most */
  const uint8_t *truncated;    /* [num_frames] the last one at most */
  const float *memory;         /* [num_frames, M] the policy's recurrent state before the frame; NULL if M is 0 */
} rlcore_trajectory_frames;

/* Arrays of a trajectory besides its columns: pointers into the block, valid until it changes. */
typedef struct rlcore_trajectory_view {
  uint32_t struct_size;       /* sizeof(rlcore_trajectory_view) */
  uint32_t num_frames;        /* frames held */
  const float *reward;        /* [num_frames] */
  const float *value;         /* [num_frames]; NULL if a frame had none */
  const uint8_t *terminated;  /* [num_frames] */
  const uint8_t *truncated;   /* [num_frames] */
  const float *memory;        /* [num_frames, M]; NULL if M is 0 */
} rlcore_trajectory_view;

/* Output arrays of a processed trajectory; NULL skips an array, except returns and advantage. */
typedef struct rlcore_trajectory_rows {
  uint32_t struct_size;  /* sizeof(rlcore_trajectory_rows) */
  uint32_t num_rows;     /* at least the number of frames, the rest is padding; with time_flat exactly that number */
  uint32_t time_flat;    /* 1: each frame is a sample; 0: the trajectory is one sample */
  uint32_t reserved;     /* zero */
  void *const *columns;  /* [num_columns] arrays, [num_rows, len] of each column's kind */
  float *returns;        /* [num_rows] discounted returns, including bootstrap_value */
  float *advantage;      /* [num_rows] generalized advantages */
  float *memory;         /* [1, M] recurrent state before the first frame; with time_flat [num_rows, M], before each */
  uint32_t *time_steps;  /* [1] number of frames; with time_flat [num_rows] ones */
  uint8_t *valid;        /* [num_rows] 1 where a row is a frame, 0 where it is padding */
} rlcore_trajectory_rows;

/* Fills in the defaults. */
rlcore_status rlcore_trajectory_config_init(rlcore_trajectory_config *config, size_t config_size);

/* Size of the block for this configuration, in bytes. */
rlcore_status rlcore_trajectory_size(const rlcore_trajectory_config *config, size_t *out_size);

/* Creates an empty trajectory in mem. */
rlcore_status rlcore_trajectory_init(void *mem, size_t mem_size, const rlcore_trajectory_config *config,
                                     rlcore_trajectory **out);

/* Opens a saved or copied trajectory in mem. mem is only read; columns are not checked. */
rlcore_status rlcore_trajectory_attach(void *mem, size_t mem_size, rlcore_trajectory **out);

/* Opens a trajectory that another process writes: see Sharing. Memory that calls return pointers to may change at any
   time; use rlcore_trajectory_read to copy it. */
rlcore_status rlcore_trajectory_attach_reader(const void *mem, size_t mem_size, const rlcore_trajectory **out);

/* Appends frames. frames->value may be NULL: then, until no frame is held, calls that need values return E_NOT_READY and
   rlcore_trajectory_held returns NULL for them.
   Errors: E_CONFIG; E_NOT_READY without room for all of them, or after a frame that ended its episode; E_SHAPE if
   num_frames is 0; E_RANGE if a frame other than the last ends the episode, and after 2^63 frames; E_VALUE for a number
   that is not finite. */
rlcore_status rlcore_trajectory_add(rlcore_trajectory *t, const rlcore_trajectory_frames *frames);

/* Removes the last frame. The remaining frames are renumbered as new ones.
   Errors: E_NOT_READY if there is none; E_RANGE after 2^63 frames. */
rlcore_status rlcore_trajectory_pop(rlcore_trajectory *t);

/* Removes all frames. */
rlcore_status rlcore_trajectory_reset(rlcore_trajectory *t);

/* Returns the frames held. out->struct_size must be set.
   Errors: E_CONFIG. */
rlcore_status rlcore_trajectory_held(const rlcore_trajectory *t, rlcore_trajectory_view *out);

/* Returns a pointer to a column in the block, [num_frames, len]. Valid until the block changes.
   Errors: E_RANGE. */
rlcore_status rlcore_trajectory_column(const rlcore_trajectory *t, uint32_t column, const void **out_column);

/* Copies frames, in order. Frames are numbered for the life of the block. pop and reset retire all current numbers; frames
   that remain after a pop get new ones. Each reader keeps its own `next`, initially 0; with 0 every time it copies all
   frames held.
   next:      [1] number of the first frame to read; becomes that of the first one not read.
   out_count: [1] frames copied, to the front of each array: at most out->num_rows.
   out_lost:  [1] frames that were dropped before they were read, may be NULL.
   Errors: E_CONFIG; E_SHAPE for a log_prob or a final_value; E_NOT_READY for a missing value; E_RANGE if next is larger
   than the numbers assigned so far; E_BUSY only for a reader, see Sharing. */
rlcore_status rlcore_trajectory_read(const rlcore_trajectory *t, uint64_t *next, const rlcore_rows_out *out,
                                     uint32_t *out_count, uint64_t *out_lost);

/* Writes the arrays that a learner reads. Padding is zeros, except element 0 of one-hot columns, which is 1.
     returns[t]   = reward[t] + discount * returns[t+1]
     delta[t]     = reward[t] + discount * value[t+1] - value[t]
     advantage[t] = delta[t] + discount * gae_lambda * advantage[t+1]
   where returns and value after the last frame are bootstrap_value, or 0 if that frame terminated.
   To build a batch, process trajectories into consecutive parts of larger arrays.
   Threads: any number may process concurrently while the block does not change.
   Errors: E_CONFIG; E_NOT_READY if there are no frames or no values; E_RANGE for a discount or gae_lambda outside [0, 1],
   or num_rows; E_VALUE for a bootstrap_value that is used and not finite. */
rlcore_status rlcore_trajectory_process(const rlcore_trajectory *t, float discount, float gae_lambda,
                                        float bootstrap_value, const rlcore_trajectory_rows *out);

/* For reward prediction: rlcore_trajectory_process of all frames but the last, with discount and gae_lambda 1, and the
   class of the last frame's reward. The last frame's value is the bootstrap_value. The trajectory is not changed.
   out_class: [1] an rlcore_reward_class.
   Errors: as there; E_NOT_READY with fewer than 2 frames; E_RANGE for a threshold that is negative or not finite. */
rlcore_status rlcore_trajectory_process_rp(const rlcore_trajectory *t, float reward_threshold,
                                           const rlcore_trajectory_rows *out, uint32_t *out_class);

/* Classifies a reward: an rlcore_reward_class. A reward equal to a threshold is RLCORE_REWARD_ZERO.
   Errors: E_VALUE for a reward that is not finite; E_RANGE for a threshold that is negative or not finite. */
rlcore_status rlcore_reward_class_of(float reward, float threshold, uint32_t *out_class);

/* ---- Rollouts as safetensors files ---- */

#define RLCORE_ROLLOUT_FILE_HEADER_SIZE 4096  /* Bytes before the first array of a file: one page. */

/* Arrays that a file may do without, for absent of an rlcore_rollout_file. They are neither read nor written then, and may
   be NULL: for hosts that record others than learners of this library, people or scripts. */
typedef enum rlcore_rollout_absent {
  RLCORE_ROLLOUT_NO_LOG_PROB = 1,  /* log_prob */
  RLCORE_ROLLOUT_NO_VALUE = 2,     /* value, bootstrap_value and final_value */
} rlcore_rollout_absent;

/* Shapes and origin of the data in a file. A file is in safetensors format, with a fixed set of arrays named as the members
   of rlcore_rollout_arrays, little-endian on every machine, and metadata: counters, versions and a checksum. */
typedef struct rlcore_rollout_file {
  uint32_t struct_size;     /* sizeof(rlcore_rollout_file) */
  uint32_t num_steps;       /* T, at least 1 */
  uint32_t num_envs;        /* N, at least 1 */
  uint32_t obs_kind;        /* an rlcore_element */
  uint32_t obs_rank;        /* dimensions of one observation, 0 to 4 */
  uint32_t obs_dims[4];     /* their lengths, outermost first, at least 1 each; 0 or 1 beyond obs_rank */
  uint32_t action_kind;     /* an rlcore_element */
  uint32_t action_len;      /* elements of one action, at least 1 */
  uint32_t state_len;       /* M, elements of one recurrent state; 0 if there is none */
  uint32_t num_finals;      /* K, the number of final observations */
  uint32_t absent;          /* arrays that the file does not have: an rlcore_rollout_absent, or both; 0: it has all */
  uint64_t seed;            /* seed of the environments */
  uint64_t policy_version;  /* version of the policy that chose the actions */
  uint64_t global_step;     /* environment steps before the first one in the file */
  uint64_t num_episodes;    /* episodes ended before the first step in the file */
  uint32_t metadata_len;    /* bytes of metadata, up to 65536; 0: there is none */
  uint32_t reserved;        /* zero */
} rlcore_rollout_file;

/* The arrays of a rollout: read by rlcore_rollout_file_write, written by rlcore_rollout_file_read. */
typedef struct rlcore_rollout_arrays {
  uint32_t struct_size;    /* sizeof(rlcore_rollout_arrays) */
  uint32_t reserved;       /* zero */
  void *obs;               /* [T + 1, N, obs...] the last row is the observation after the last step */
  void *action;            /* [T, N, action_len] */
  float *log_prob;         /* [T, N] log-probability of the action under the policy that chose it */
  float *value;            /* [T, N] V(obs[t]) */
  float *bootstrap_value;  /* [N] value of the observation after the last step */
  float *reward;           /* [T, N] */
  uint8_t *terminated;     /* [T, N] */
  uint8_t *truncated;      /* [T, N] */
  uint8_t *valid;          /* [T, N] nonzero where a step was taken */
  uint64_t *final_index;   /* [K] valid steps that ended, as t * N + n, ascending; must include every truncated one */
  void *final_obs;         /* [K, obs...] last observations of those episodes */
  float *final_value;      /* [K] their values */
  float *state;            /* [N, M] recurrent state before the first step */
  /* [metadata_len] pairs of a name and a value in UTF-8, each with a 0 behind it, "name\0value\0": the host's notes of the
     recording, entries of __metadata__ in the file's header. Names are distinct, not empty and not "format"; of control
     characters there are only tabs and ends of lines */
  uint8_t *metadata;
} rlcore_rollout_arrays;

/* Size of the file in bytes. Errors: E_CONFIG for a length or kind. */
rlcore_status rlcore_rollout_file_size(const rlcore_rollout_file *file, size_t *out_size);

/* Writes a whole file. out: [out_size] bytes to write, at least rlcore_rollout_file_size(), of any alignment. The arrays
   are only read. final_index, final_obs and final_value may be NULL if K is 0, state if M is 0, metadata if metadata_len is
   0, and those that are absent.
   Errors: those of rlcore_rollout_file_size; E_SIZE; E_CONFIG for metadata that is not as it must be; E_RANGE for a
   final_index that is not ascending or is not a valid step that ended; E_NOT_READY if a truncated step has none. */
rlcore_status rlcore_rollout_file_write(const rlcore_rollout_file *file, const rlcore_rollout_arrays *arrays,
                                        uint8_t *out, size_t out_size);

/* Checks every byte of a file and returns its shapes. bytes: [size], of any alignment; may be longer than the file.
   Errors: E_CONFIG for struct_size; E_SIZE for a truncated file; E_IMAGE for another format or schema, or altered bytes. */
rlcore_status rlcore_rollout_file_check(const uint8_t *bytes, size_t size, rlcore_rollout_file *out);

/* Checks a file as rlcore_rollout_file_check and copies its arrays. NULL skips an array; the others must have the shapes
   that the check returned. Those that are absent stay as they are.
   Errors: those of rlcore_rollout_file_check. */
rlcore_status rlcore_rollout_file_read(const uint8_t *bytes, size_t size, const rlcore_rollout_arrays *arrays);

/* ---- Queues between actors and a learner ---- */

/* A bounded FIFO queue in memory that any number of threads or processes share. push and pop may be called concurrently
   and do not block; the caller decides how to retry. If a process dies inside push or pop, its slot stays taken: stop all
   users and call init again.
   Example:
     rlcore_queue_config_init(&config, sizeof config);
     config.capacity = 64, config.item_size = sizeof item;
     rlcore_queue_size(&config, &size);
     rlcore_queue_init(mem, size, &config, &q);
     rlcore_queue_push(q, &item, sizeof item);            // E_BUSY: full
     rlcore_queue_pop(q, &item, sizeof item, &size);      // E_NOT_READY: empty */
typedef struct rlcore_queue rlcore_queue;

/* Configuration of a queue. */
typedef struct rlcore_queue_config {
  uint32_t struct_size;  /* bytes; set by rlcore_queue_config_init */
  uint32_t capacity;     /* maximum number of items, a power of two from 2 to 2^30; default 16 */
  uint32_t item_size;    /* bytes of the largest item, at least 1; default 1 MiB */
  uint32_t reserved;     /* zero */
} rlcore_queue_config;

/* Fills in the defaults. */
rlcore_status rlcore_queue_config_init(rlcore_queue_config *config, size_t config_size);

/* Size of the block for this configuration, in bytes. */
rlcore_status rlcore_queue_size(const rlcore_queue_config *config, size_t *out_size);

/* Creates an empty queue in mem. mem must remain valid until no process is in a call. */
rlcore_status rlcore_queue_init(void *mem, size_t mem_size, const rlcore_queue_config *config, rlcore_queue **out);

/* Opens a queue that another process created in this memory, or a copy made while no process was in a call.
   Errors: E_SIZE if bytes are missing; E_IMAGE for another kind of block, version or byte order, or a damaged header. */
rlcore_status rlcore_queue_attach(void *mem, size_t mem_size, rlcore_queue **out);

/* Appends an item. item: [size] bytes, copied; size is 1 to item_size.
   Errors: E_RANGE for size; E_BUSY if the queue is full. */
rlcore_status rlcore_queue_push(rlcore_queue *q, const void *item, size_t size);

/* Removes the oldest item. item: [room] bytes to write, as many as the item has; out_size: its size.
   Errors: E_NOT_READY if the queue is empty; E_SIZE if the item is larger than room: it stays in the queue. */
rlcore_status rlcore_queue_pop(rlcore_queue *q, void *item, size_t room, size_t *out_size);

/* Number of items in the queue at one moment. */
rlcore_status rlcore_queue_len(const rlcore_queue *q, uint32_t *out_len);

/* ---- Advantages of rollouts with one done flag ---- */

/* A rollout with one flag per observation, as in older code: done[t] means that obs[t] starts a new episode; done[0] is
   never read. This form cannot distinguish truncated from terminated episodes. */
typedef struct rlcore_shifted_rollout {
  uint32_t struct_size;     /* sizeof(rlcore_shifted_rollout) */
  uint32_t num_steps;       /* T, at least 1 */
  uint32_t num_envs;        /* N, at least 1 */
  uint32_t accumulate;      /* precision: an rlcore_accumulate; 0: f32 */
  const float *reward;      /* [T, N] */
  const float *value;       /* [T, N] V(obs[t]) */
  const float *done;        /* [T, N] 0 or 1; values in between mask partially */
  const float *next_value;  /* [N] value of the observation after the last step */
  const float *next_done;   /* [N] whether that observation starts a new episode */
} rlcore_shifted_rollout;

/* As rlcore_gae, for a rollout in the older form. Use rlcore_gae if episodes are truncated. Both outputs [T, N]; they must
   not overlap an input or each other.
     live[t]      = 1 - done[t+1] (next_done at T-1)
     delta[t]     = reward[t] + discount * live[t] * value[t+1] (next_value at T-1) - value[t]
     advantage[t] = delta[t] + discount * gae_lambda * live[t] * (0 if t = T-1, else advantage[t+1])
     value_target = advantage + value
   Errors: as rlcore_gae. */
rlcore_status rlcore_gae_shifted(const rlcore_shifted_rollout *rollout, float discount, float gae_lambda,
                                 float *advantage, float *value_target);

/* ---- Transposes ---- */

/* Swaps the first two dimensions of an array, e.g. from [N, T, ...] to [T, N, ...]: out[c][r] = x[r][c].
   kind: an rlcore_element; len: elements that stay together; x: [rows, columns, len]; out: [columns, rows, len].
   Errors: E_CONFIG for another kind; E_SHAPE if a count is 0. */
rlcore_status rlcore_transpose(uint32_t kind, uint32_t rows, uint32_t columns, uint32_t len, const void *x, void *out);

/* ---- V-trace ---- */

/* T steps of N environments under the behavior policy, time-major, and the correction for the target policy. The arrays
   are not owned and only read.
   Example:
     rlcore_vtrace_init(&v, sizeof v);
     v.num_steps = T, v.num_envs = N, v.log_rho = log_rho;           // and the other arrays
     rlcore_vtrace_from_importance_weights(&v, vs, pg_advantage); */
typedef struct rlcore_vtrace {
  uint32_t struct_size;          /* bytes; set by rlcore_vtrace_init */
  uint32_t num_steps;            /* T, at least 1 */
  uint32_t num_envs;             /* N, at least 1 */
  uint32_t accumulate;           /* precision: an rlcore_accumulate; 0 (default): f32 */
  const float *log_rho;          /* [T, N] log pi(a) - log mu(a), finite; ignored by rlcore_vtrace_from_logits */
  const float *discounts;        /* [T, N] each from 0 to 1, 0 where step t reached a terminal state */
  const float *reward;           /* [T, N] */
  const float *value;            /* [T, N] V(obs[t]) */
  const float *bootstrap_value;  /* [N] value of the observation after the last step */
  const uint8_t *truncated;      /* [T, N] nonzero where step t was the last of a truncated episode; NULL: nowhere */
  const float *final_value;      /* [T, N] V(final_obs), read only where truncated and discounts > 0; NULL if nowhere */
  float clip_rho;                /* upper limit of the ratio that scales d, above 0; INFINITY: none; default 1 */
  float clip_c;                  /* upper limit of the ratio that scales k, above 0; INFINITY: none; default 1 */
  float clip_pg_rho;             /* upper limit of the ratio that scales pg_advantage, above 0; INFINITY: none; default 1 */
  float td_lambda;               /* decay of later differences, from 0 to 1; default 1 */
  float leak;                    /* fraction of the excess over a limit that is kept, 0 (default) to 1: leaky V-trace */
  uint32_t reserved;             /* zero */
} rlcore_vtrace;

/* The logits of both policies over A actions, and the actions taken. */
typedef struct rlcore_vtrace_logits {
  uint32_t struct_size;          /* sizeof(rlcore_vtrace_logits) */
  uint32_t num_actions;          /* A, at least 1 */
  const float *behavior_logits;  /* [T, N, A] mu, the behavior policy; finite */
  const float *target_logits;    /* [T, N, A] pi, the target policy; finite */
  const int32_t *action;         /* [T, N] each from 0 to A - 1 */
} rlcore_vtrace_logits;

/* Output arrays of rlcore_vtrace_from_logits; NULL skips an array. */
typedef struct rlcore_vtrace_out {
  uint32_t struct_size;      /* sizeof(rlcore_vtrace_out) */
  uint32_t reserved;         /* zero */
  float *vs;                 /* [T, N] targets of the value function */
  float *pg_advantage;       /* [T, N] weights of log pi(a) in the policy gradient */
  float *log_rho;            /* [T, N] log pi(a) - log mu(a) */
  float *behavior_log_prob;  /* [T, N] log mu(a) */
  float *target_log_prob;    /* [T, N] log pi(a) */
} rlcore_vtrace_out;

/* Fills in the defaults: limits 1, td_lambda 1, leak 0, all pointers NULL. Writes v_size bytes, so that callers with an
   older, smaller struct are safe. Errors: E_SIZE. */
rlcore_status rlcore_vtrace_init(rlcore_vtrace *v, size_t v_size);

/* V-trace from log-ratios. vs, pg_advantage: [T, N] to write; NULL skips one. pg_advantage may be the array of log_rho.
     rho[t]  = exp(log_rho[t]), at most e^88
     next[t] = final_value[t] where truncated, else value[t+1] (bootstrap_value at T-1)
     d[t]    = reward[t] + discounts[t] * next[t] - value[t]
     k[t]    = 0 where truncated and at T-1, else discounts[t] * td_lambda * acc[t+1]
     acc[t]  = min(rho[t], clip_rho) * d[t] + min(rho[t], clip_c) * k[t]
     vs      = value + acc
     pg_advantage[t] = min(rho[t], clip_pg_rho) * (d[t] + k[t])
   With lambda 1, d + k is reward[t] + discounts[t] * vs[t+1] - value[t]. With a leak, each min is min + leak * (rho - min).
   Errors: E_NULL, also if a step is truncated and final_value is NULL; E_CONFIG for struct_size, accumulate or reserved;
   E_SHAPE if T or N is 0; E_RANGE for a discount, td_lambda or leak outside [0, 1] or a limit that is not above 0;
   E_VALUE for a parameter that is NaN or infinite, and for an input that is read and not finite. */
rlcore_status rlcore_vtrace_from_importance_weights(const rlcore_vtrace *v, float *vs, float *pg_advantage);

/* As rlcore_vtrace_from_importance_weights for environments [begin, end). The arrays are those of the whole batch; only
   these columns are read and written. Results do not depend on the split.
   Threads: calls on disjoint ranges may run concurrently. Ranges that begin at multiples of 16 share no cache line of
   cache-aligned arrays.
   Errors: as there; E_RANGE unless begin <= end <= num_envs. */
rlcore_status rlcore_vtrace_from_importance_weights_range(const rlcore_vtrace *v, uint32_t begin, uint32_t end,
                                                          float *vs, float *pg_advantage);

/* V-trace from the logits of both policies. Log-probabilities are log-softmax, at least -1.7e38; log_rho is their
   difference; everything else is as rlcore_vtrace_from_importance_weights.
   Errors: as there; E_SHAPE if A is 0; E_RANGE for an action out of range; E_VALUE for a logit that is not finite. */
rlcore_status rlcore_vtrace_from_logits(const rlcore_vtrace *v, const rlcore_vtrace_logits *logits,
                                        const rlcore_vtrace_out *out);

/* As rlcore_vtrace_from_logits for environments [begin, end); threads and errors as
   rlcore_vtrace_from_importance_weights_range. */
rlcore_status rlcore_vtrace_from_logits_range(const rlcore_vtrace *v, const rlcore_vtrace_logits *logits,
                                              uint32_t begin, uint32_t end, const rlcore_vtrace_out *out);

/* ---- Multi-step value targets ---- */

/* Q and the target policy of a rollout whose actions another policy chose. The arrays are not owned and only read. */
typedef struct rlcore_off_policy {
  uint32_t struct_size;  /* sizeof(rlcore_off_policy) */
  float discount;        /* 0 to 1 */
  float td_lambda;       /* 0 to 1 */
  uint32_t reserved;     /* zero */
  const float *q;        /* [T, N] Q(obs[t], action[t]) */
  const float *log_rho;  /* [T, N] log-probability of action[t], target less behavior policy; row 0 is never read */
} rlcore_off_policy;

/* Lambda returns: the n-step returns weighted with (1 - td_lambda) * td_lambda^(n-1), the last with the remaining weight.
     value_target[t] = reward[t] + discount * ((1 - td_lambda) * next[t] + td_lambda * value_target[t+1])
   where value_target[t+1] is next[t] if step t ended an episode or was the last, and next is as in rlcore_gae.
   value_target: [T, N] to write; must not overlap an input.
   Errors: as rlcore_gae. */
rlcore_status rlcore_lambda_returns(const rlcore_rollout *rollout, float discount, float td_lambda,
                                    float *value_target);

/* As rlcore_lambda_returns for environments [begin, end); ranges and threads as rlcore_gae_range. */
rlcore_status rlcore_lambda_returns_range(const rlcore_rollout *rollout, float discount, float td_lambda,
                                          uint32_t begin, uint32_t end, float *value_target);

/* TD(lambda): lambda returns and TD errors. Both outputs [T, N]; they must not overlap an input or each other.
     value_target = as rlcore_lambda_returns
     td_error     = value_target - value, which is the advantage of rlcore_gae up to rounding
   Errors: as rlcore_gae. */
rlcore_status rlcore_td_lambda(const rlcore_rollout *rollout, float discount, float td_lambda, float *td_error,
                               float *value_target);

/* As rlcore_td_lambda for environments [begin, end); ranges and threads as rlcore_gae_range. */
rlcore_status rlcore_td_lambda_range(const rlcore_rollout *rollout, float discount, float td_lambda, uint32_t begin,
                                     uint32_t end, float *td_error, float *value_target);

/* n-step returns: discounted rewards of up to n steps, fewer if the episode or the rollout ends before, plus the
   discounted value of the state reached. n >= T gives full returns; run time grows with n up to T.
     value_target[t] = reward[t] + discount * (reward[t+1] + ... discount * (reward[t+k-1] + discount * next[t+k-1]))
   next is as in rlcore_gae. value_target: [T, N] to write; must not overlap an input.
   Errors: as rlcore_gae; E_RANGE if n is 0. */
rlcore_status rlcore_n_step_returns(const rlcore_rollout *rollout, float discount, uint32_t n, float *value_target);

/* As rlcore_n_step_returns for environments [begin, end); ranges and threads as rlcore_gae_range. */
rlcore_status rlcore_n_step_returns_range(const rlcore_rollout *rollout, float discount, uint32_t n, uint32_t begin,
                                          uint32_t end, float *value_target);

/* UPGO (upgoing policy update): returns that follow the trajectory while its actions are at least as good as expected, and
   their advantages. Both outputs [T, N]; they must not overlap an input or each other.
     value_target[t] = reward[t] + discount * (value_target[t+1] if reward[t+1] + discount * next[t+1] >= value[t+1],
                                               else value[t+1])
     advantage       = value_target - value
   where step t ended an episode or was the last: reward[t] + discount * next[t], with next as in rlcore_gae.
   Errors: as rlcore_gae. */
rlcore_status rlcore_upgo(const rlcore_rollout *rollout, float discount, float *advantage, float *value_target);

/* As rlcore_upgo for environments [begin, end); ranges and threads as rlcore_gae_range. */
rlcore_status rlcore_upgo_range(const rlcore_rollout *rollout, float discount, uint32_t begin, uint32_t end,
                                float *advantage, float *value_target);

/* Retrace(lambda): off-policy targets for action values, and their errors.
     q_target[t] = reward[t] + discount * (next[t] + c[t+1] * (q_target[t+1] - q[t+1]))
     c           = td_lambda * min(1, exp(log_rho))
     td_error    = q_target - q
   where step t ended an episode or was the last: reward[t] + discount * next[t], with next as in rlcore_gae.
   rollout: its values are expected action values under the target policy. Both outputs [T, N]; they must not overlap
            an input or each other.
   Errors: as rlcore_gae. */
rlcore_status rlcore_retrace(const rlcore_rollout *rollout, const rlcore_off_policy *off_policy, float *td_error,
                             float *q_target);

/* As rlcore_retrace for environments [begin, end); ranges and threads as rlcore_gae_range. */
rlcore_status rlcore_retrace_range(const rlcore_rollout *rollout, const rlcore_off_policy *off_policy, uint32_t begin,
                                   uint32_t end, float *td_error, float *q_target);

/* ---- Categorical policies ---- */

/* A batch of categorical distributions. B = num_rows, K = num_choices, L = the sum of n. */
typedef struct rlcore_logits {
  uint32_t struct_size;  /* sizeof(rlcore_logits) */
  uint32_t num_rows;     /* B, at least 1 */
  uint32_t num_choices;  /* K, at least 1: one is Discrete, more are MultiDiscrete */
  uint32_t reserved;     /* zero */
  const uint32_t *n;     /* [K] number of options of each choice, at least 1 */
  const float *logits;   /* [B, L] finite; those of the first choice come first */
  const uint8_t *mask;   /* [B, L] 0 forbids; each choice must allow an option; NULL: everything is allowed */
} rlcore_logits;

/* Log-probability of every option, -inf where forbidden. out: [B, L] to write.
   Errors, here and below: E_CONFIG; E_SHAPE if a count is 0; E_RANGE for an n; E_VALUE for a number that is not finite, or
   a choice without an allowed option. */
rlcore_status rlcore_categorical_log_softmax(const rlcore_logits *batch, float *out);

/* Log-probability of each row's actions. action: [B, K]; log_prob: [B] to write.
   E_RANGE for an action that is out of range or forbidden. */
rlcore_status rlcore_categorical_log_prob(const rlcore_logits *batch, const int32_t *action, float *log_prob);

/* Entropy of each row in nats. entropy: [B] to write. */
rlcore_status rlcore_categorical_entropy(const rlcore_logits *batch, float *entropy);

/* Draws actions: the first option whose cumulative probability exceeds the uniform number.
   uniform: [B, K] from 0 to 1; may be NULL with RLCORE_SAMPLING_GREEDY. action: [B, K] to write.
   E_CONFIG or E_RANGE for sampling. */
rlcore_status rlcore_categorical_sample(const rlcore_logits *batch, const rlcore_sampling *sampling,
                                        const float *uniform, int32_t *action);

/* ---- Gaussian policies ---- */

/* A batch of diagonal Gaussians with shared standard deviations. B = num_rows, A = action_len. */
typedef struct rlcore_gaussian {
  uint32_t struct_size;  /* sizeof(rlcore_gaussian) */
  uint32_t num_rows;     /* B, at least 1 */
  uint32_t action_len;   /* A, at least 1 */
  uint32_t reserved;     /* zero */
  const float *mean;     /* [B, A] */
  const float *log_std;  /* [A] logarithms of the standard deviations, from -40 to 40 */
} rlcore_gaussian;

/* Log-density of each row's action. action: [B, A], before squashing; log_prob: [B] to write.
   Errors, here and below: E_CONFIG; E_SHAPE if a count is 0; E_RANGE for a log_std; E_VALUE for a number that is not
   finite. */
rlcore_status rlcore_gaussian_log_prob(const rlcore_gaussian *batch, const float *action, float *log_prob);

/* Entropy in nats, the same for all rows. log_std: [action_len]; out: [1] to write. */
rlcore_status rlcore_gaussian_entropy(const float *log_std, uint32_t action_len, float *out);

/* mean + exp(log_std) * normal. normal: [B, A] standard normal draws; action: [B, A] to write. */
rlcore_status rlcore_gaussian_sample(const rlcore_gaussian *batch, const float *normal, float *action);

/* Elementwise tanh, to squash actions. action: [len]; squashed: [len] to write. */
rlcore_status rlcore_gaussian_squash(const float *action, size_t len, float *squashed);

/* Converts log-densities to those of the squashed actions: subtracts the sum over the row of ln(1 - tanh(action)^2).
   action: [num_rows, action_len], before squashing; log_prob: [num_rows] to change. */
rlcore_status rlcore_gaussian_squash_log_prob(const float *action, uint32_t num_rows, uint32_t action_len,
                                              float *log_prob);

/* ---- Losses of networks of your own ---- */

/* A minibatch of a policy and its values. B = num_rows. */
typedef struct rlcore_loss_batch {
  uint32_t struct_size;   /* sizeof(rlcore_loss_batch) */
  uint32_t num_rows;      /* B, at least 1 */
  float clip;             /* ratios are clipped to 1 +- clip, of at least 0; ignored by rlcore_actor_critic_loss */
  float value_clip;       /* values are clipped to old_value +- value_clip; 0: they are not */
  float value_coef;       /* weight of half the mean squared error of the values */
  uint32_t reserved;      /* zero */
  const float *log_prob;  /* [B] log-probabilities of the actions now */
  /* [B] log-probabilities of the actions when they were taken, or under the policy that ratios are to; may be NULL for
     rlcore_actor_critic_loss, which makes approx_kl of them and nothing else */
  const float *old_log_prob;
  const float *advantage;     /* [B] */
  const float *value;         /* [B] values now */
  const float *old_value;     /* [B] values when the actions were taken; may be NULL if value_clip is 0 */
  const float *value_target;  /* [B] */
} rlcore_loss_batch;

/* Means over the rows of a minibatch. */
typedef struct rlcore_losses {
  float policy_loss;    /* minus log_prob * advantage, or PPO's surrogate as below */
  float value_loss;     /* half the squared error of the values, without value_coef */
  float approx_kl;      /* ratio - 1 - ln ratio, an estimate of the KL divergence of the older policy from the newer */
  float clip_fraction;  /* fraction of ratios outside 1 +- clip; 0 from rlcore_actor_critic_loss */
} rlcore_losses;

/* Values of each action for each cell of a picture, and their targets. B = num_rows, C = num_cells, A = num_choices. */
typedef struct rlcore_pixel_control {
  uint32_t struct_size;    /* sizeof(rlcore_pixel_control) */
  uint32_t num_rows;       /* B, at least 1 */
  uint32_t num_cells;      /* C, at least 1 */
  uint32_t num_choices;    /* A, at least 1 */
  const float *advantage;  /* [B, C, A] */
  const float *value;      /* [B, C]; NULL: advantage is then q of every choice */
  const float *target;     /* [B, C] */
  const int32_t *action;   /* [B] each from 0 to A - 1 */
} rlcore_pixel_control;

/* Loss of an actor and a critic, and its gradient by log_prob and by value. d_log_prob, d_value: [B] to write;
   losses: [1] to write.
     loss = -mean(log_prob * advantage) + value_coef * mean((value - value_target)^2) / 2
   An entropy bonus is the host's: its gradient by the entropy of each row is -entropy_coef / B.
   rlcore_categorical_gradient and rlcore_gaussian_gradient take both further, to the outputs of a network.
   Errors, here and below: E_CONFIG; E_SHAPE if a count is 0; E_RANGE for a number below 0; E_VALUE for one that is not
   finite. Outputs are untouched on error. */
rlcore_status rlcore_actor_critic_loss(const rlcore_loss_batch *batch, float *d_log_prob, float *d_value,
                                       rlcore_losses *losses);

/* As rlcore_actor_critic_loss, with PPO's clipped surrogate. ratio = exp(log_prob - old_log_prob).
     loss = -mean(min(ratio * advantage, clip(ratio) * advantage)) + value_coef * mean(error^2) / 2
   With value_clip, the larger of the squared errors of the value and of the clipped value counts. */
rlcore_status rlcore_ppo_loss(const rlcore_loss_batch *batch, float *d_log_prob, float *d_value, rlcore_losses *losses);

/* Mean squared error of values, and its gradient. value, value_target: [len]; d_value: [len] to write; loss: [1] to write.
   E_SHAPE if len is 0; E_VALUE. */
rlcore_status rlcore_value_loss(const float *value, const float *value_target, size_t len, float *d_value, float *loss);

/* Mean cross-entropy of the classes of rewards (rlcore_reward_class_of), and its gradient. logits: [num_rows, 3];
   reward_class: [num_rows] each from 0 to 2; d_logits: [num_rows, 3] to write; loss: [1] to write.
   E_SHAPE if num_rows is 0; E_RANGE for a class; E_VALUE. */
rlcore_status rlcore_reward_class_loss(const float *logits, const int32_t *reward_class, uint32_t num_rows,
                                       float *d_logits, float *loss);

/* Loss of pixel control, and its gradient: the squared error of the value q of a row's action for each cell, summed over
   cells and averaged over rows.
     q[b][c] = value[b][c] + advantage[b][c][action[b]] - mean of advantage[b][c]
   d_advantage: [B, C, A] to write; d_value: [B, C] to write, or NULL if
   value is, which ignores it; loss: [1] to write. E_CONFIG; E_SHAPE if a count is 0; E_RANGE for an action; E_VALUE. */
rlcore_status rlcore_pixel_control_loss(const rlcore_pixel_control *batch, float *d_advantage, float *d_value,
                                        float *loss);

/* Gradient by logits of a loss whose gradients by the log-probability and by the entropy of each row are given.
   action: [B, K]; d_log_prob, d_entropy: [B]; d_logits: [B, L] to write.
   E_RANGE for an action that is out of range or forbidden. */
rlcore_status rlcore_categorical_gradient(const rlcore_logits *batch, const int32_t *action, const float *d_log_prob,
                                          const float *d_entropy, float *d_logits);

/* Gradient by means and logarithms of standard deviations of a loss whose gradients by the log-density and by the entropy
   of each row are given; also where actions are squashed. action: [B, A], before squashing; d_log_prob, d_entropy: [B];
   d_mean: [B, A] to write; d_log_std: [A] to write. */
rlcore_status rlcore_gaussian_gradient(const rlcore_gaussian *batch, const float *action, const float *d_log_prob,
                                       const float *d_entropy, float *d_mean, float *d_log_std);

/* ---- Losses of autoencoders ---- */

/* A loss of each element of a reconstruction. */
typedef enum rlcore_reconstruction_kind {
  RLCORE_RECONSTRUCTION_SQUARED = 0,  /* (out - target)^2 / 2 */
  RLCORE_RECONSTRUCTION_BINARY = 1,   /* binary cross-entropy of sigmoid(out) and a target from 0 to 1: out is a logit */
} rlcore_reconstruction_kind;

/* Pictures, or other rows, and their reconstructions by a network. B = num_rows. */
typedef struct rlcore_reconstruction {
  uint32_t struct_size;  /* sizeof(rlcore_reconstruction) */
  uint32_t kind;         /* an rlcore_reconstruction_kind */
  uint32_t num_rows;     /* B, at least 1 */
  uint32_t row_len;      /* elements of a row, at least 1 */
  uint32_t target_type;  /* RLCORE_F32, or RLCORE_U8: bytes, which count divided by 255 */
  uint32_t reserved;     /* zero */
  const float *out;      /* [B, row_len] outputs of the network */
  const void *target;    /* [B, row_len] */
} rlcore_reconstruction;

/* Codes of a variational autoencoder, drawn from a diagonal Gaussian for each row. B = num_rows, L = len.
   Example:
     rlcore_latent_sample(&codes, z);                           // what the decoder reads
     rlcore_latent_loss(&codes, d_z, d_mean, d_log_std, &kl);   // d_z: the d_input of the decoder */
typedef struct rlcore_latent {
  uint32_t struct_size;  /* sizeof(rlcore_latent) */
  uint32_t num_rows;     /* B, at least 1 */
  uint32_t len;          /* L, at least 1 */
  float kl_coef;         /* weight of the KL divergence, at least 0; 1: the variational bound, else a beta-VAE */
  const float *mean;     /* [B, L] */
  const float *log_std;  /* [B, L] logarithms of the standard deviations, from -40 to 40 */
  const float *normal;   /* [B, L] standard normal draws, as of rlcore_rng_normal */
} rlcore_latent;

/* Loss of a reconstruction, summed over a row and averaged over rows, and its gradient. A mean over the elements of
   a row is this divided by row_len.
   d_out: [B, row_len] to write.
   loss:  [1] to write.
   Errors: E_CONFIG; E_SHAPE if a count is 0; E_RANGE for a target outside [0, 1] with RLCORE_RECONSTRUCTION_BINARY;
   E_VALUE. Outputs are untouched on error. */
rlcore_status rlcore_reconstruction_loss(const rlcore_reconstruction *batch, float *d_out, float *loss);

/* Draws the codes: z = mean + exp(log_std) * normal.
   z: [B, L] to write.
   Errors, here and below: E_CONFIG; E_SHAPE if a count is 0; E_RANGE for a log_std, and for kl_coef below 0; E_VALUE
   for a number that is not finite. Outputs are untouched on error. */
rlcore_status rlcore_latent_sample(const rlcore_latent *batch, float *z);

/* Gradients of the loss of the codes plus kl_coef times their KL divergence from the standard normal distribution,
   which is summed over a row and averaged over rows.
     kl        = mean over rows of sum((mean^2 + std^2 - 1) / 2 - log_std)
     d_mean    = d_z + kl_coef / B * mean
     d_log_std = d_z * std * normal + kl_coef / B * (std^2 - 1)
   d_z:               [B, L] gradient of the loss by the codes, as rlcore_network_backward of the decoder gives it.
   d_mean, d_log_std: [B, L] to write.
   kl:                [1] to write, without kl_coef. */
rlcore_status rlcore_latent_loss(const rlcore_latent *batch, const float *d_z, float *d_mean, float *d_log_std,
                                 float *kl);

/* ---- Initial weights and optimizers of networks of your own ---- */

/* A matrix of weights to draw, such as the head of a policy, as layer_init(layer, std=0.01) of src.ppo draws it.
   Example:
     const rlcore_weights head = {.struct_size = sizeof head, .gain = 0.01F, .num_inputs = 64, .num_outputs = 2};
     rlcore_weights_draw(&head, &rng, scratch, scratch_len, weights); */
typedef struct rlcore_weights {
  uint32_t struct_size;  /* sizeof(rlcore_weights) */
  uint32_t initializer;  /* an rlcore_initializer */
  /* scale, as the initializer says: usually the square root of 2 before tanh and ReLU, 0.01 for the head of a policy and 1
     for that of values; unlike that of an rlcore_layer, 0 is 0 */
  float gain;
  uint32_t num_inputs;   /* inputs of an output, at least 1; of a convolution height * width * channels of its window */
  uint32_t num_outputs;  /* outputs, at least 1 */
  /* 0: the matrix is [num_outputs, num_inputs], as in PyTorch; 1: it is [num_inputs, num_outputs], as in
     TensorFlow */
  uint32_t inputs_first;
} rlcore_weights;

/* Settings of an optimizer. One that the optimizer does not read must have its default. */
typedef struct rlcore_optimizer_config {
  uint32_t struct_size;  /* bytes; set by rlcore_optimizer_config_init */
  uint32_t optimizer;    /* an rlcore_optimizer, as rlcore_optimizer_config_init was told */
  uint32_t maximize;     /* 1: steps go up the gradients (0) */
  float max_grad_norm;   /* gradients are scaled down to this norm; 0: off (0) */
  float beta1;           /* Adam: decay of the first moment (0.9; from 0 to below 1) */
  float beta2;           /* Adam: decay of the second moment (0.999; from 0 to below 1) */
  float epsilon;         /* added to the denominator (1e-5; Adam: at least 0; RMSProp: above 0, to 1) */
  float rms_decay;       /* RMSProp: decay of mean squares (0.99; from 0 to below 1) */
  float rms_momentum;    /* RMSProp: part of its last step that it takes again (0; from 0 to below 1, and 0 if centered) */
  uint32_t reserved;     /* zero */
} rlcore_optimizer_config;

/* The arrays of an optimizer, which the host keeps and saves. P = num_params. */
typedef struct rlcore_optimizer_state {
  uint32_t struct_size;  /* sizeof(rlcore_optimizer_state) */
  uint32_t num_params;   /* P, at least 1 */
  float *first;          /* [P] first moments, to change; of RMSProp its last steps, or means of gradients if centered */
  float *second;         /* [P] second moments, to change */
  uint64_t *num_steps;   /* [1] steps taken, to change; of RMSProp 0 */
} rlcore_optimizer_state;

/* Floats of scratch that rlcore_weights_draw needs: those of a matrix with orthogonal columns, else none.
   Errors, here and below: E_CONFIG; E_SHAPE without inputs or outputs; E_VALUE for a gain that is not finite. */
rlcore_status rlcore_weights_scratch_len(const rlcore_weights *weights, size_t *out_len);

/* Draws the initial weights of a layer, as learners draw those of theirs. Biases start at 0.
   scratch: [scratch_len] to write, at least rlcore_weights_scratch_len(); NULL if that is 0.
   out:     [num_outputs, num_inputs] to write, or [num_inputs, num_outputs] with inputs_first.
   Errors: E_SIZE of scratch. */
rlcore_status rlcore_weights_draw(const rlcore_weights *weights, rlcore_rng *rng, float *scratch, size_t scratch_len,
                                  float *out);

/* Fills in the defaults of an optimizer.
   optimizer: an rlcore_optimizer.
   Errors: E_RANGE for another optimizer. */
rlcore_status rlcore_optimizer_config_init(rlcore_optimizer_config *config, size_t config_size, uint32_t optimizer);

/* Starts an optimizer: no steps, first moments of 0, second moments of 0, of RMSProp as TensorFlow has it 1.
   state: its arrays are written.
   Errors: E_CONFIG; E_SHAPE if P is 0. */
rlcore_status rlcore_optimizer_start(const rlcore_optimizer_config *config, const rlcore_optimizer_state *state);

/* Takes a step: clips the norm of the gradients, then moves parameters and moments, bit for bit as a learner does. With
   0.9, 0.999, epsilon 1e-5 and maximize this is the optimizer that make_optimizer of src.ppo makes.
   learning_rate: step size, as of rlcore_schedule_linear.
   state:         its arrays change.
   params, grads: [num_params] to change, and to read.
   out_norm:      [1] norm of the gradients before they are clipped; may be NULL.
   Errors: E_CONFIG; E_SHAPE if P is 0; E_VALUE for a learning rate, gradients or second moments that are not finite, and
   for a step after which a parameter would not be. */
rlcore_status rlcore_optimizer_step(const rlcore_optimizer_config *config, float learning_rate,
                                    const rlcore_optimizer_state *state, float *params, const float *grads,
                                    float *out_norm);

/* Scales gradients by max_norm / (norm + 1e-6) if their Euclidean norm is larger, as PyTorch's clip_grad_norm_.
   grads:    [len] to change.
   max_norm: at least 0; 0: they stay as they are.
   out_norm: [1] norm before; may be NULL.
   Errors: E_CONFIG for max_norm; E_VALUE for gradients that are not finite. */
rlcore_status rlcore_clip_grad_norm(float *grads, size_t len, float max_norm, float *out_norm);

/* A rate that changes on a straight line: initial before any update, end after num_updates of them.
   updates: done so far, at most num_updates.
   out:     [1] to write.
   Errors: E_RANGE for more updates; E_VALUE for an initial or an end that is not finite. */
rlcore_status rlcore_schedule_linear(float initial, float end, uint64_t num_updates, uint64_t updates, float *out);

/* ---- Means and variances ---- */

/* Moments that rlcore_normalize takes. The arrays are not owned and only read. */
typedef struct rlcore_normalizer {
  uint32_t struct_size;    /* sizeof(rlcore_normalizer) */
  uint32_t num_columns;    /* at least 1 */
  const double *mean;      /* [num_columns] */
  const double *variance;  /* [num_columns] */
  double epsilon;          /* added to variances, from 1e-30 to 1e30 */
  float clip;              /* above 0 */
  uint32_t reserved;       /* zero */
} rlcore_normalizer;

/* Initializes moments: mean 0, variance 1. mean, variance: [num_columns] to write; count: [1] to write,
   initial_count, usually 1e-4, so that the first rows outweigh the initial values.
   Errors: E_SHAPE if num_columns is 0; E_VALUE, E_RANGE unless initial_count is 0 to 1. */
rlcore_status rlcore_moments_reset(uint32_t num_columns, double initial_count, double *mean, double *variance,
                                   double *count);

/* Merges the columns of x into running moments by Chan's formula, in a fixed order.
   x: [num_rows, num_columns]; mean, variance: [num_columns] to change; count: [1] number of rows merged, to change.
   Errors, here and below: E_SHAPE if a count is 0; E_VALUE for a number that is not finite, or if the variance plus the
   square of the mean exceeds 1e120, which no float data does; E_RANGE for a variance below 0, or a count that is not
   from 0 to 2^64. */
rlcore_status rlcore_moments_update(const float *x, uint32_t num_rows, uint32_t num_columns, double *mean,
                                    double *variance, double *count);

/* Merges other moments, e.g. of a batch or another worker, by the same formula, including their initial count.
   with_mean, with_var: [num_columns] moments of with_count rows; mean, variance: [num_columns] to change;
   count: [1] to change, as for rlcore_moments_update.
   Errors: as there; E_RANGE if both counts are 0. */
rlcore_status rlcore_moments_merge(uint32_t num_columns, const double *with_mean, const double *with_var,
                                   double with_count, double *mean, double *variance, double *count);

/* Writes (x - mean) / sqrt(variance + epsilon), clipped to [-clip, clip].
   x, out: [num_rows, num_columns]; may be the same array.
   Errors: as above; E_CONFIG; E_RANGE for a clip that is not above 0, a variance below 0, or an epsilon that is not
   from 1e-30 to 1e30. */
rlcore_status rlcore_normalize(const rlcore_normalizer *normalizer, const float *x, uint32_t num_rows, float *out);

/* Scales x to mean 0 and standard deviation 1: (x - mean) / (std + epsilon), std with n - 1. x: [len] to change; unchanged
   if len < 2. E_RANGE for epsilon. */
rlcore_status rlcore_standardize(float *x, size_t len, double epsilon);

/* Explained variance, 1 - var(target - value) / var(target): 1 for perfect values, 0 if no better than a constant or if
   the target is constant. value, target: [len]; out: [1] to write. */
rlcore_status rlcore_explained_variance(const float *value, const float *target, size_t len, double *out);

/* ---- Images ---- */

/* Shape of an image of bytes, [height, width, channels]. */
typedef struct rlcore_image_size {
  uint32_t height;    /* rows, at least 1 */
  uint32_t width;     /* columns, at least 1 */
  uint32_t channels;  /* values per pixel, at least 1 */
} rlcore_image_size;

/* Converts to gray as OpenCV's RGB2GRAY: 0.299 R + 0.587 G + 0.114 B in 15-bit fixed point, rounded.
   rgb: [num_pixels, 3]; out: [num_pixels] to write. */
rlcore_status rlcore_image_gray(const uint8_t *rgb, size_t num_pixels, uint8_t *out);

/* Floats of scratch that rlcore_image_area and rlcore_image_warp need for these sizes: 0 for Atari screens, 210 by 160 to
   84 by 84 gray. Errors: E_CONFIG for a dimension of 0, more than 4 channels, an output larger than the source on either
   axis, or different channels, except 3 to 1. */
rlcore_status rlcore_image_scratch_len(const rlcore_image_size *from_size, const rlcore_image_size *to_size,
                                       size_t *out_len);

/* Downscales an image by area means, bit-identical to OpenCV's INTER_AREA. Channels must be equal.
   src:     from_size's [height, width, channels].
   out:     to_size's [height, width, channels] to write.
   scratch: [scratch_len] at least rlcore_image_scratch_len(); may be NULL if that is 0.
   Errors: those of rlcore_image_scratch_len; E_SIZE for scratch_len. */
rlcore_status rlcore_image_area(const rlcore_image_size *from_size, const uint8_t *src,
                                const rlcore_image_size *to_size, uint8_t *out, float *scratch, size_t scratch_len);

/* Atari preprocessing in one pass: the elementwise maximum of two images (b may be NULL: a only), then gray if from_size
   has 3 channels and to_size 1, then rlcore_image_area. The result equals that of the three separate steps.
   a, b: from_size's [height, width, channels]; may be the same array. The rest, and errors, as rlcore_image_area. */
rlcore_status rlcore_image_warp(const rlcore_image_size *from_size, const uint8_t *a, const uint8_t *b,
                                const rlcore_image_size *to_size, uint8_t *out, float *scratch, size_t scratch_len);

/* Converts an Atari screen to 42 by 42 as A3C code does: rows 34 to 193, halved, resized with OpenCV's fixed-point
   bilinear filter, channels averaged, times the float nearest 1/255. rgb: [210, 160, 3]; out: [42, 42] to write. */
rlcore_status rlcore_image_rescale42(const uint8_t *rgb, float *out);

/* Converts bytes to floats in [0, 1]: x / 255, rounded once. x: [len]; out: [len] to write. Errors: as above. */
rlcore_status rlcore_image_scale(const uint8_t *x, size_t len, float *out);

/* Moves channels first. x: [height, width, channels]; out: [channels, height, width] to write.
   Errors: E_CONFIG for a dimension of 0. */
rlcore_status rlcore_image_channels_first(const rlcore_image_size *size, const uint8_t *x, uint8_t *out);

/* Rows and columns of a tiling of num_images images: the smallest square that holds them, without its empty columns.
   Errors: E_RANGE if num_images is 0. */
rlcore_status rlcore_image_tile_shape(uint32_t num_images, uint32_t *out_rows, uint32_t *out_columns);

/* Tiles images into one, for display. images: [num_images, height, width, channels]; out: [rows * height,
   columns * width, channels] to write, with rows and columns from rlcore_image_tile_shape: image i is in row i / columns,
   column i % columns; empty tiles are zeros. Errors: as rlcore_image_channels_first; E_RANGE if num_images is 0. */
rlcore_status rlcore_image_tile(uint32_t num_images, const rlcore_image_size *size, const uint8_t *images,
                                uint8_t *out);

/* Size of the text that rlcore_image_text writes, in bytes.
   Errors: E_CONFIG unless channels is 1 or 3. */
rlcore_status rlcore_image_text_size(const rlcore_image_size *size, size_t *out_size);

/* Renders a gray or RGB image for a terminal: lines of Braille in UTF-8, one character for 2 columns of 4 rows, a dot where
   a pixel differs from the top left one.
   picture: [height, width, channels].
   out:     [rlcore_image_text_size()] to write, not NUL-terminated.
   Errors: as rlcore_image_text_size. */
rlcore_status rlcore_image_text(const rlcore_image_size *size, const uint8_t *picture, uint8_t *out);

#ifdef __cplusplus
}
#endif

#endif
