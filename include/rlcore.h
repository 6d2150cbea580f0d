/* rlcore: the reinforcement-learning core that an engine links and hosts itself.

   Objects: every stateful object lives in a block, a piece of memory that you provide and own, 8-byte aligned. A block
     holds no pointers: copy its bytes and you have copied the object, write them to a file and you have saved it. There is
     nothing to free. Every object has the same lifecycle, here that of a monitor:
       rlcore_monitor_config config;    what it is made from
       rlcore_monitor_config_init       fills in the defaults; then change what you like
       rlcore_monitor_size              tells how many bytes the block needs
       rlcore_monitor_init              creates the object in your memory; the handle is the address of that memory
       rlcore_monitor_step, ...         use it
       rlcore_monitor_attach            uses bytes that an object was copied to, in this process or another
     config_init writes sizeof config bytes, so an older caller keeps its smaller structure. attach only reads mem. It
     accepts blocks of machines of the same byte order, of 32 bits or 64, and refuses any other.
   Arrays: dense, row-major, time-major. The shape stands beside the pointer; N = num_envs, T = num_steps. Flags are
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
     Inputs that are not finite are E_VALUE. Where finite inputs overflow, advantages, returns and other computed values
     become infinite with RLCORE_OK, or 0x7fc00000 where infinities cancel; no other NaN is ever written.
   Sharing: one process may write a block that others have mapped for reading: frames, memories, replays, rollouts,
     trajectories and monitors. A reader gets its handle from _attach_reader, which checks only what never changes, and
     makes the calls that take a const object. No call blocks. A call that copies checks afterwards whether the writer has
     overwritten or removed what it copied; if so, it returns E_RANGE and its outputs are meaningless. It returns E_BUSY if
     the writer changes the object faster than it can be read. What is drawn may be gone before it is copied: the copy
     tells. Appending costs a reader only the oldest rows of a full ring. Memory that a call returns a pointer to is not
     checked. A writer that dies within a call leaves a valid block, or one that _attach refuses: E_IMAGE. Readers need a
     64-bit processor.
   Experimental: declarations under RLCORE_EXPERIMENTAL may change in any version; see ffi/VERSIONING.md.

   Made from the sources by `RLCORE_BLESS=1 cargo test --package rlcore-ffi --test header`. */
#ifndef RLCORE_H
#define RLCORE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Versions and results ---- */

#define RLCORE_VERSION_MAJOR 0  /* Major version of the library, as in its Cargo.toml. */
#define RLCORE_VERSION_MINOR 1  /* Minor version of the library. */
#define RLCORE_VERSION_PATCH 0  /* Patch version of the library. */
#define RLCORE_ABI_VERSION 0    /* Goes up when callers have to be compiled again. */
#define RLCORE_IMAGE_VERSION 2  /* Goes up when saved blocks of some kind can no longer be attached. */

/* Result of every call: 0 is success, negative is failure. Values are never reused. */
typedef int32_t rlcore_status;
enum {
  RLCORE_OK = 0,               /* Success. */
  RLCORE_E_NULL = -1,          /* A pointer that is required is NULL. */
  RLCORE_E_SIZE = -2,          /* Memory is smaller than it has to be. */
  RLCORE_E_ALIGN = -3,         /* Memory does not start on the boundary it has to. */
  RLCORE_E_CONFIG = -4,        /* A configuration field has a value that is not allowed. */
  RLCORE_E_SHAPE = -5,         /* An array has another number of elements than agreed. */
  RLCORE_E_IMAGE = -6,         /* The bytes are no image of this object, version and byte order, or they are damaged. */
  RLCORE_E_RANGE = -7,         /* An index, a count or a discrete action is outside its range. */
  RLCORE_E_CALLBACK = -8,      /* A callback reported failure. */
  RLCORE_E_OVERFLOW = -9,      /* A size does not fit the address space. */
  RLCORE_E_NOT_READY = -10,    /* The call is not due yet, or another has to come first. */
  RLCORE_E_VALUE = -11,        /* A number is NaN or infinite where a finite one is needed. */
  RLCORE_E_OVERLAP = -12,      /* Two arrays that must be apart share bytes. */
  RLCORE_E_BUSY = -13,         /* What was begun has to be finished first. */
  RLCORE_E_NOT_PENDING = -14,  /* Nothing was begun that could be finished. */
  RLCORE_E_INEXACT = -15,      /* Every attempt to find what was asked for exactly has failed. */
  RLCORE_E_EMPTY = -16,        /* There is nothing to choose from. */
  RLCORE_E_DISABLED = -17,     /* The configuration has switched this off. */
};

/* Name of a status, e.g. "RLCORE_E_SIZE". Static text, never NULL. */
const char *rlcore_status_name(int32_t status);

/* What a status means, in one sentence. Static text, never NULL. */
const char *rlcore_status_text(int32_t status);

/* The most recent failure of this process in words: what was needed and what was given, as in
   "RLCORE_E_SIZE: block: bytes, at least 4096, given 100". Empty if nothing has failed yet, and in a library that was
   built without the feature `words`.
   text: [text_size] to write; always ends with NUL, cut where it does not fit (256 bytes always suffice).
   For people: with several threads it may be another thread's failure, and no result ever depends on it. The child of a
   fork() begins with its parent's and keeps its own from then on, whatever other threads did meanwhile.
   Errors: E_SIZE if text_size is 0. They are not kept. */
rlcore_status rlcore_last_error(char *text, size_t text_size);

/* Version of the library that is running: major << 16 | minor << 8 | patch. */
uint32_t rlcore_version(void);

/* RLCORE_ABI_VERSION of the library that is running: compare it with the header's before anything else. */
uint32_t rlcore_abi_version(void);

/* RLCORE_IMAGE_VERSION of the library that is running. */
uint32_t rlcore_image_version(void);

/* ---- The processor ---- */

/* Instruction sets, each holding the ones before it. The best that the processor has is used by itself. */
typedef enum rlcore_cpu_level {
  RLCORE_CPU_BASE = 0,    /* what the library was compiled for */
  RLCORE_CPU_AVX2 = 1,    /* x86-64 with AVX2 and FMA */
  RLCORE_CPU_AVX512 = 2,  /* x86-64 with AVX-512 F, BW, DQ and VL, and FMA */
} rlcore_cpu_level;

/* Uses no level above an rlcore_cpu_level from now on, in the whole process: for tests and measurements. Results never
   change, only speed. Errors: E_RANGE. */
rlcore_status rlcore_cpu_set_limit(uint32_t level);

/* ---- Blocks as bytes ---- */

/* FNV-1a, 64 bits: names a state in a log or compares two; no protection against attackers.
   bytes: [size], of anything; may be NULL if size is 0.
   out:   [1] the hash. */
rlcore_status rlcore_hash(const void *bytes, size_t size, uint64_t *out);

/* Seals a learner or a policy before it is saved: writes a checksum over all its bytes into it, which its attach compares
   from then on. Whatever is damaged later is refused: a flipped bit of a weight, a page that was lost. It is no protection
   against attackers, who can seal what they wrote. The next call with a learner, even one that is refused, takes its seal
   off, so that it is never stale; an attached policy keeps its own. Policies are exported with a seal.
   
   Without a seal, attach of any block finds a damaged header or configuration, a block that was cut short, and values that
   no call leaves, such as a NaN among parameters; it does not find a number that became another usable one, nor looks into
   columns of frames and steps.
   mem: 8-byte aligned, mem_size bytes, the size of the block at least.
   Errors: E_SIZE if bytes are missing; E_IMAGE for another kind of block, or damaged bytes. */
rlcore_status rlcore_block_seal(void *mem, size_t mem_size);

/* ---- Random streams ---- */

/* A random stream: PCG64, numpy's generator, seeded as numpy seeds it. Plain data: copying it copies the stream. */
typedef struct rlcore_rng {
  uint64_t state[2];   /* 128-bit position, low word first */
  uint64_t stream[2];  /* 128-bit stream number, low word first */
  uint32_t half;       /* upper half of a 64-bit draw that the next 32-bit draw uses */
  uint32_t has_half;   /* 1 while half waits to be used */
} rlcore_rng;

/* Begins the stream that numpy.random.Generator(PCG64(seed)) draws from. */
rlcore_status rlcore_rng_seed(rlcore_rng *rng, uint64_t seed);

/* Begins stream number `stream` of a seed: that of the stream-th child of numpy's SeedSequence(seed). */
rlcore_status rlcore_rng_stream(rlcore_rng *rng, uint64_t seed, uint64_t stream);

/* Fills out[len] with draws from [low, high): numpy's uniform.
   Errors, here and below: E_IMAGE for a stream that was never seeded. E_VALUE if low, high or high - low is not
   finite. */
rlcore_status rlcore_rng_uniform(rlcore_rng *rng, double low, double high, double *out, size_t len);

/* Fills out[len] with draws from [low, high): numpy's integers. E_RANGE if high is not above low. */
rlcore_status rlcore_rng_integers(rlcore_rng *rng, int64_t low, int64_t high, int64_t *out, size_t len);

/* Fills out[len] with standard normal numbers, by Box and Muller's method and not numpy's: elements 2i and 2i+1 are made
   of the i-th 64-bit draw. */
rlcore_status rlcore_rng_normal(rlcore_rng *rng, float *out, size_t len);

/* Fills out[len] with 0, 1, 2, ... in random order: numpy's permutation. E_RANGE if they do not fit 32 bits. */
rlcore_status rlcore_rng_permutation(rlcore_rng *rng, uint32_t *out, size_t len);

/* ---- Spaces ---- */

/* Kind of the elements of observations and actions. */
typedef enum rlcore_element {
  RLCORE_F32 = 0,  /* float: continuous values */
  RLCORE_I32 = 1,  /* int32_t: discrete choices, counted from 0 */
  RLCORE_U8 = 2,   /* uint8_t: image bytes */
  /* uint8_t: bytes of a structure whose parts are of other kinds too. Only observations are of this kind: what moves
     and keeps them takes them as RLCORE_U8, learners refuse them */
  RLCORE_STRUCT = 3,
} rlcore_element;

/* The values that an observation or an action may take. The arrays are the caller's and are read during calls only. */
typedef struct rlcore_space {
  uint32_t kind;      /* an rlcore_element */
  uint32_t len;       /* elements of one observation or action, 1 to 2^24 */
  const float *low;   /* [len] lower bounds; NULL: unbounded */
  const float *high;  /* [len] upper bounds; NULL: unbounded */
  const uint32_t *n;  /* [len] numbers of choices; required for RLCORE_I32, else unused */
} rlcore_space;

/* A named part of an observation: one entry of a dictionary or a tuple, or the whole. */
typedef struct rlcore_field {
  char name[24];      /* ends in 0; "" if there is nothing else */
  uint32_t kind;      /* an rlcore_element: that of the observation, or any in an observation of bytes */
  uint32_t rank;      /* number of dimensions, 0 (a single number) to 4 */
  uint32_t dims[4];   /* lengths, outermost first; 0 or 1 beyond rank */
  uint32_t offset;    /* bytes from the start of the observation, a multiple of the element's size */
  uint32_t reserved;  /* zero */
} rlcore_field;

/* ---- Wrappers ---- */

/* What a wrapper does, and which fields of rlcore_wrapper it reads; all others must be zero.
   No-ops: after each start of what it wraps, one draw from the environment's stream, uniform from 1 to noop_max;
   noop_count draws nothing. An episode that ends under them is started again, and the rest of them follows.
   Max and skip: an episode that ends amid a skip shows the larger of the last two obs so far, or its only one, and their
   rewards. Its first observation is what it wraps shows.
   Frame stack: the first observation of an episode fills all places. Within episodic life, the next life of a game
   goes on with the frames of the last.
   A record's parts: frame (1 before its own dims), reward f32, done u8, episode_return f32, episode_step i32,
   last_action, real_done u8; rlcore_env_fields tells where they lie. A record tells each end once. Under same step the
   record in final_obs and the next episode's first one both are of the step that ended it, the frame apart. Under the
   other modes the first record of an episode holds zeros. The first one after a reset with a seed always does. An
   episode that max_episode_steps of the batch or a reset without a seed cuts is told, with done, in the first record of
   the next one: to see that in its own step, put a time limit in the list. */
typedef enum rlcore_wrap {
  RLCORE_WRAP_TIME_LIMIT = 1,       /* truncates episodes after so many steps of what it wraps: steps */
  RLCORE_WRAP_NOOP_RESET = 2,       /* starts episodes with random or noop_count no-ops: noop_max, noop_count, noop */
  RLCORE_WRAP_FIRE_RESET = 3,       /* starts episodes with two actions that games wait for: fire, second */
  RLCORE_WRAP_EPISODIC_LIFE = 4,    /* ends an episode with each life; the game goes on in the next: noop */
  RLCORE_WRAP_MAX_AND_SKIP = 5,     /* repeats actions, adds up rewards, shows the larger of the last two obs: count */
  RLCORE_WRAP_ACTION_REPEAT = 6,    /* repeats actions and adds up rewards: count */
  RLCORE_WRAP_STICKY_ACTIONS = 7,   /* takes the action of the step before again at times: probability */
  RLCORE_WRAP_RESCALE_ACTION = 8,   /* takes actions between two numbers for those between the bounds: low, high */
  RLCORE_WRAP_CLIP_ACTION = 9,      /* takes any action for the nearest one within the bounds */
  RLCORE_WRAP_CLIP_REWARD = 10,     /* leaves the sign of the reward */
  RLCORE_WRAP_SCALE_REWARD = 11,    /* multiplies the reward: factor */
  RLCORE_WRAP_WARP_FRAME = 12,      /* shrinks pictures as OpenCV's INTER_AREA does: height, width, gray, field */
  RLCORE_WRAP_ATARI_RESCALE = 13,   /* crops and shrinks 210 by 160 colour pictures to 42 by 42 numbers from 0 to 1 */
  RLCORE_WRAP_SCALED_FLOAT = 14,    /* bytes to numbers from 0 to 1 */
  RLCORE_WRAP_FRAME_STACK = 15,     /* the last observations side by side along the last axis, oldest first: count */
  RLCORE_WRAP_CHANNELS_FIRST = 16,  /* [height, width, channels] to [channels, height, width] */
  RLCORE_WRAP_FLATTEN = 17,         /* all parts of the observation as one row of numbers */
  RLCORE_WRAP_EXTRACT = 18,         /* one part of the observation alone: field */
  RLCORE_WRAP_RECORD = 19,          /* the observation with the facts of its step, in parts: see below */
  RLCORE_WRAP_OBSERVE = 20,         /* the caller's own function of the observation: len, observe, user */
} rlcore_wrap;

/* What becomes of an Atari screen. */
typedef enum rlcore_atari_screen {
  RLCORE_ATARI_WHOLE = 0,   /* it stays what it is */
  RLCORE_ATARI_GRAY84 = 1,  /* 84 by 84 gray bytes */
  RLCORE_ATARI_MEAN42 = 2,  /* 42 by 42 numbers from 0 to 1 */
} rlcore_atari_screen;

/* Where episodic life stands. */
typedef enum rlcore_atari_order {
  RLCORE_ATARI_SEED = 0,     /* outermost: after a life is lost no FIRE is pressed and a stack goes on */
  RLCORE_ATARI_CLASSIC = 1,  /* around max and skip, as in the Baselines: each life starts like a game */
} rlcore_atari_order;

/* Which of the usual wrappers a game of Atari wears. The defaults are wrap_deepmind's around make_atari's. The environment
   spawner's list: clip_reward 0, stack 4, channels_first 1, record 1. The 42 by 42 agents' list: screen
   RLCORE_ATARI_MEAN42, all else 0. */
typedef struct rlcore_atari_config {
  uint32_t struct_size;     /* bytes; set by rlcore_atari_config_init */
  uint32_t noop_max;        /* most no-ops at the start of a game; 0: none; default 30 */
  uint32_t skip;            /* steps for each action; 0: no skipping; default 4 */
  uint32_t fire_reset;      /* 1: press actions 1 and 2 first, for games that have FIRE; default 1 */
  uint32_t episodic_life;   /* 1: an episode for each life; default 1 */
  uint32_t order;           /* an rlcore_atari_order; default RLCORE_ATARI_SEED */
  uint32_t screen;          /* an rlcore_atari_screen; default RLCORE_ATARI_GRAY84 */
  uint32_t scale;           /* 1: numbers from 0 to 1; default 0 */
  uint32_t clip_reward;     /* 1: the sign of the reward; default 1 */
  uint32_t stack;           /* observations side by side; 0 (default): no stack */
  uint32_t channels_first;  /* 1: [channels, height, width]; default 0 */
  uint32_t record;          /* 1: with the facts of the step; default 0 */
} rlcore_atari_config;

/* Makes another observation from one. obs: what the layers below show; out: [len] floats to write. Returns 0, or anything
   else to stop with E_CALLBACK. It may run on several threads at once. Neither an exception nor a longjmp may leave it. */
typedef int32_t (*rlcore_observe_fn)(void *user, const void *obs, float *out);

/* One wrapper: a kind and its parameters, e.g. { .kind = RLCORE_WRAP_FRAME_STACK, .count = 4 }. Zero what the kind does
   not read; zero means the default where one is named. */
typedef struct rlcore_wrapper {
  uint32_t kind;              /* an rlcore_wrap */
  uint32_t count;             /* steps for each action, or observations in a stack; 0: 4 */
  uint32_t steps;             /* at least 1 */
  uint32_t noop_max;          /* most no-ops; 0: 30 */
  uint32_t noop_count;        /* this many no-ops; 0: a random number up to noop_max */
  uint32_t noop;              /* the action that does nothing */
  uint32_t fire;              /* the action pressed first; 0: 1 */
  uint32_t second;            /* the action pressed second; 0: 2 */
  float probability;          /* 0 to 1 */
  float low;                  /* taken for the lower bound; with high 0 too: -1 */
  float high;                 /* taken for the upper bound; with low 0 too: 1 */
  float factor;               /* finite, not 0 */
  uint32_t height;            /* rows of the result; 0: 84 */
  uint32_t width;             /* columns of the result; 0: 84 */
  uint32_t gray;              /* 1: one channel of luma; 0: the picture's own channels */
  uint32_t len;               /* elements that observe writes */
  char field[24];             /* name of a part of the observation, ending in 0; "": the only one */
  uint32_t reserved[4];       /* zero */
  rlcore_observe_fn observe;  /* required for RLCORE_WRAP_OBSERVE */
  void *user;                 /* handed to observe, never read */
} rlcore_wrapper;

/* Fills in defaults. Writes config_size bytes, so an older caller keeps its smaller struct.
   Errors: E_SIZE. */
rlcore_status rlcore_atari_config_init(rlcore_atari_config *config, size_t config_size);

/* Writes the usual list of wrappers for a game of Atari, whose observations are screens [height, width, 3] of bytes.
   out: [capacity] room, of which *out_len are written, 11 at most; what rlcore_env_def.wrappers may point to.
   Errors: E_CONFIG; E_SIZE if capacity is too small. */
rlcore_status rlcore_wrappers_atari(const rlcore_atari_config *config, rlcore_wrapper *out, uint32_t capacity,
                                    uint32_t *out_len);

/* ---- Environments: the caller's own and the library's ---- */

/* The library's own environments. Each probe observes one number and fails for one kind of mistake in a learner; V(o) is
   what observation o is worth under the best actions, d the discount:
     1  observes 0, 1 action, one step that earns 1: V = 1.
     2  observes 1 or -1, 1 action, one step that earns the observation: V(o) = o.
     3  observes 0 and then 1, 1 action, the second step earns 1 and is the last: V(0) = d, V(1) = 1.
     4  observes 0, 2 actions, one step that earns 1 for action 1, -1 for action 0: V = 1.
     5  observes 0 or 1, 2 actions, one step that earns 1 for the action that equals it, else -1: V = 1.
     6  observes the steps so far, 2 actions, whichever is taken the tenth step earns 1 and is the last: V(o) = d^(9-o).
     6 odd even  observes the steps so far, 2 actions, each of the ten steps earns 1 if its action is the observation
        modulo 2: V(o) = 1 + d + ... + d^(9-o).
     7  observes 0 or 1 and then 0, 5 actions, the fourth step is the last and earns 1 if its action equals the first
        observation: V = d^3 at first, half of it for who does not remember.
     truncation  observes 1 and then 0, 1 action, every step but the first earns 1, the fifth is truncated:
        V(0) = 1 / (1 - d), V(1) = d V(0), if values go on behind final_obs.
     memory  observes 1 or -1 and then 0, 2 actions, the ninth step is the last and earns the first observation for action
        1, its negative for action 0: V = d^8 at first, 0 for who does not remember. */
typedef enum rlcore_env_id {
  RLCORE_ENV_CARTPOLE = 1,                 /* CartPole-v1 */
  RLCORE_ENV_MOUNTAIN_CAR = 2,             /* MountainCar-v0 */
  RLCORE_ENV_MOUNTAIN_CAR_CONTINUOUS = 3,  /* MountainCarContinuous-v0 */
  RLCORE_ENV_ACROBOT = 4,                  /* Acrobot-v1 */
  RLCORE_ENV_PENDULUM = 5,                 /* Pendulum-v1 */
  RLCORE_ENV_PROBE1 = 101,                 /* a constant reward: value */
  RLCORE_ENV_PROBE2 = 102,                 /* a reward that the observation tells */
  RLCORE_ENV_PROBE3 = 103,                 /* a reward one step later: discount */
  RLCORE_ENV_PROBE4 = 104,                 /* a reward that the action decides: advantage */
  RLCORE_ENV_PROBE5 = 105,                 /* a reward that observation and action decide */
  RLCORE_ENV_PROBE6 = 106,                 /* a reward ten steps later */
  RLCORE_ENV_PROBE7 = 107,                 /* a first observation to remember for three steps */
  RLCORE_ENV_PROBE6_ODD_EVEN = 108,        /* probe 6 with a right action in each step */
  RLCORE_ENV_PROBE_TRUNCATION = 109,       /* episodes that are only ever truncated */
  RLCORE_ENV_PROBE_MEMORY = 110,           /* a first observation to remember for eight steps */
} rlcore_env_id;

/* Which level an environment that has levels starts again in. */
typedef enum rlcore_level {
  RLCORE_LEVEL_NEW = 0,   /* one that it chooses anew */
  RLCORE_LEVEL_SAME = 1,  /* the one that just ended */
} rlcore_level;

/* Starts an episode: changes state, draws from rng, writes obs. All callbacks own what they are handed for the length
   of the call and return 0, or anything else to stop with E_CALLBACK. They may run on several threads at once,
   never for the same environment. They may call the library, but not with the block that is calling them: that may lose
   what the block holds, and nothing else.
   Neither an exception nor a longjmp may leave a callback: the library keeps no record of where it was. Catch them inside
   and return nonzero: that row has failed and has to be reset, and no other is harmed. */
typedef int32_t (*rlcore_env_reset_fn)(void *user, void *state, rlcore_rng *rng, void *obs);

/* What a step returns beside the observation. All zero when the callback is entered. */
typedef struct rlcore_step {
  float reward;         /* finite */
  uint8_t terminated;   /* nonzero: the task reached a terminal state */
  uint8_t truncated;    /* nonzero: the environment itself cut the episode; time limits are rlcore_vecenv's business */
  uint8_t reserved[2];  /* zero */
} rlcore_step;

/* Takes one step. action: [action.len]; obs: [obs.len] to write. */
typedef int32_t (*rlcore_env_step_fn)(void *user, void *state, rlcore_rng *rng, const void *action, void *obs,
                                      rlcore_step *out);

/* Draws the environment. rgb: [height, width, 3], rows from the top. */
typedef int32_t (*rlcore_env_render_fn)(void *user, const void *state, uint32_t width, uint32_t height, uint8_t *rgb);

/* Counts the lives left. */
typedef int32_t (*rlcore_env_lives_fn)(void *user, const void *state, uint32_t *out_lives);

/* Writes 1 for each choice that is allowed now, else 0. mask: [sum of action.n]. */
typedef int32_t (*rlcore_env_action_mask_fn)(void *user, const void *state, uint8_t *mask);

/* Starts the next episode of an environment that was reset before. level: an rlcore_level. */
typedef int32_t (*rlcore_env_restart_fn)(void *user, void *state, rlcore_rng *rng, uint32_t level, void *obs);

/* An environment: what it is and the functions that are it. Handed to every call, never stored. */
typedef struct rlcore_env_def {
  uint32_t struct_size;  /* sizeof(rlcore_env_def) */
  /* the caller's number for this kind, 0 or from 1000, which blocks remember; or an rlcore_env_id in a table of
     rlcore_env_builtin */
  uint32_t env_id;
  uint32_t state_size;                    /* bytes of one environment, a multiple of 8; zeroed at init; no pointers */
  uint32_t max_episode_steps;             /* episodes are truncated after this many steps; 0: never */
  rlcore_space obs;                       /* RLCORE_F32, RLCORE_U8 for images, RLCORE_STRUCT with fields of other kinds */
  rlcore_space action;                    /* RLCORE_I32 or RLCORE_F32 */
  void *user;                             /* handed to every callback, never read */
  rlcore_env_reset_fn reset;              /* required */
  rlcore_env_step_fn step;                /* required */
  rlcore_env_render_fn render;            /* NULL: a black picture */
  rlcore_env_lives_fn lives;              /* NULL: 0 lives */
  rlcore_env_action_mask_fn action_mask;  /* NULL: everything is allowed */
  rlcore_env_restart_fn restart;          /* NULL: episodes start by reset, without levels */
  const rlcore_field *fields;             /* [num_fields] parts of the observation, in order and apart */
  uint32_t num_fields;                    /* 0 to 8 */
  uint32_t num_wrappers;                  /* 0 to 16 */
  /* [num_wrappers] from the environment outwards; blocks remember what they do. obs and action stay the bare
     environment's: rlcore_env_spaces tells what calls then take and write */
  const rlcore_wrapper *wrappers;
} rlcore_env_def;

/* The table of one of the library's own environments.
   env_id:   an rlcore_env_id.
   out_size: sizeof(rlcore_env_def). What the table points to lives as long as the program. A caller may set
             max_episode_steps, render, lives, action_mask, fields and wrappers; what is changed in anything else is another
             environment and needs another env_id.
   Errors: E_SIZE; E_RANGE for another env_id. */
rlcore_status rlcore_env_builtin(uint32_t env_id, rlcore_env_def *out, size_t out_size);

/* ---- N environments of one kind ---- */

/* When an environment that ended starts its next episode. */
typedef enum rlcore_autoreset {
  RLCORE_AUTORESET_SAME_STEP = 0,  /* in the step that ended it: obs begins the new episode, final_obs ends the old one */
  RLCORE_AUTORESET_NEXT_STEP = 1,  /* in the next step, which ignores the action and is marked in valid */
  RLCORE_AUTORESET_DISABLED = 2,   /* only by rlcore_vecenv_reset and rlcore_vecenv_reset_one */
  RLCORE_AUTORESET_LEGACY = 3,     /* in the next step, which then takes the action at once */
} rlcore_autoreset;

/* N environments: the caller's own block. */
typedef struct rlcore_vecenv rlcore_vecenv;

/* What N environments are made from, beside the environment itself. */
typedef struct rlcore_vecenv_config {
  uint32_t struct_size;  /* bytes; set by rlcore_vecenv_config_init */
  uint32_t num_envs;     /* N, at least 1; default 1 */
  uint64_t seed;         /* environment i draws from the stream of seed + i, modulo 2^64; default 0 */
  uint32_t autoreset;    /* an rlcore_autoreset; default same step */
  /* 0 (default): the environment's own limit, in its own steps where wrappers repeat actions; else, instead of that one
     and with any wrappers, after so many steps of this batch; UINT32_MAX: never */
  uint32_t max_episode_steps;
} rlcore_vecenv_config;

/* Where a step writes. Arrays are those of the whole batch; a range uses its rows only. */
typedef struct rlcore_vecenv_out {
  uint32_t struct_size;  /* sizeof(rlcore_vecenv_out) */
  uint32_t reserved;     /* zero */
  void *obs;             /* [N, obs.len] the observation to act on next */
  float *reward;         /* [N] */
  uint8_t *terminated;   /* [N] 1 where the task reached a terminal state */
  uint8_t *truncated;    /* [N] 1 where the episode was cut, by the environment or by the time limit */
  void *final_obs;       /* [N, obs.len] written only in rows that ended; NULL only if autoreset is not "same step" */
  uint8_t *valid;        /* [N] 0 where the row was only reset, else 1; NULL only if autoreset is not "next step" */
} rlcore_vecenv_out;

/* Fills in the defaults. */
rlcore_status rlcore_vecenv_config_init(rlcore_vecenv_config *config, size_t config_size);

/* Size of the block for this environment and configuration, in bytes. */
rlcore_status rlcore_vecenv_size(const rlcore_env_def *env, const rlcore_vecenv_config *config, size_t *out_size);

/* Creates N environments in mem; each has to be reset before it is stepped. */
rlcore_status rlcore_vecenv_init(void *mem, size_t mem_size, const rlcore_env_def *env,
                                 const rlcore_vecenv_config *config, rlcore_vecenv **out);

/* Accepts bytes that a block was copied to, in this process or another. Callbacks are supplied again, never saved.
   Errors: E_SIZE if bytes are missing; E_IMAGE for another kind of block, version or byte order, or damaged bytes;
   E_CONFIG for another environment. */
rlcore_status rlcore_vecenv_attach(void *mem, size_t mem_size, const rlcore_env_def *env, rlcore_vecenv **out);

/* Starts an episode in every environment, in a new level where there are levels.
   seed: environment i gets the stream of *seed + i, modulo 2^64; NULL: the streams go on.
   obs:  [N, obs.len] to write.
   Errors: E_CONFIG, before anything changes. E_CALLBACK, or E_VALUE for an observation that is not finite: rows before
   that row are done, it has to be reset again, rows after it are untouched; rlcore_last_error() names the row. */
rlcore_status rlcore_vecenv_reset(rlcore_vecenv *v, const rlcore_env_def *env, const uint64_t *seed, void *obs);

/* Starts an episode in environment `index` alone.
   seed: it gets the stream of *seed itself; NULL: its stream goes on.
   obs:  [N, obs.len], of which that row is written.
   Errors: as rlcore_vecenv_reset; E_RANGE. */
rlcore_status rlcore_vecenv_reset_one(rlcore_vecenv *v, const rlcore_env_def *env, uint32_t index, const uint64_t *seed,
                                      void *obs);

/* Steps every environment. action: [N, action.len].
   Same step: an environment that ends is reset here; final_obs gets the last observation, obs the first of the next
   episode.
   Errors: E_CONFIG; E_RANGE or E_VALUE for an action; E_NOT_READY for a row that has to be reset first; all before
   anything changes. E_CALLBACK, or E_VALUE for a reward or observation that is not
   finite: rows before that row are complete, it has to be reset, rows after it are untouched; rlcore_last_error()
   names the row. */
rlcore_status rlcore_vecenv_step(rlcore_vecenv *v, const rlcore_env_def *env, const void *action,
                                 const rlcore_vecenv_out *out);

/* Steps environments [begin, end); the arrays are those of the whole batch, only the rows of the range are used.
   Threads: calls on disjoint ranges may run at once; results do not depend on the split. Ranges that begin at multiples
   of 64 share no cache line.
   Errors: as rlcore_vecenv_step; E_RANGE. */
rlcore_status rlcore_vecenv_step_range(rlcore_vecenv *v, const rlcore_env_def *env, uint32_t begin, uint32_t end,
                                       const void *action, const rlcore_vecenv_out *out);

/* rlcore_vecenv_step, in which environments that end start again in this level: now or, as autoreset says, in their next
   step, whatever level that asks for.
   level: an rlcore_level.
   Errors: as rlcore_vecenv_step; E_RANGE for another level. */
rlcore_status rlcore_vecenv_step_env(rlcore_vecenv *v, const rlcore_env_def *env, const void *action, uint32_t level,
                                     const rlcore_vecenv_out *out);

/* Draws environment `index`. rgb: [height, width, 3], rows from the top.
   Errors: E_CONFIG; E_RANGE; E_CALLBACK; E_NOT_READY before its reset. */
rlcore_status rlcore_vecenv_render(const rlcore_vecenv *v, const rlcore_env_def *env, uint32_t index, uint32_t width,
                                   uint32_t height, uint8_t *rgb);

/* Draws every environment. rgb: [N, height, width, 3], rows from the top; rlcore_image_tile makes one picture of them.
   Errors: as rlcore_vecenv_render; E_CALLBACK: environments before that one are drawn. */
rlcore_status rlcore_vecenv_images(const rlcore_vecenv *v, const rlcore_env_def *env, uint32_t width, uint32_t height,
                                   uint8_t *rgb);

/* Lives left. lives: [N] to write.
   Errors: E_CONFIG; E_NOT_READY before every row's reset; E_CALLBACK: rows before that row are written. */
rlcore_status rlcore_vecenv_lives(const rlcore_vecenv *v, const rlcore_env_def *env, uint32_t *lives);

/* What is allowed now: 1 for each choice that is, else 0. mask: [N, sum of action.n] to write.
   Errors: E_CONFIG for actions that are not RLCORE_I32, and as rlcore_vecenv_lives. */
rlcore_status rlcore_vecenv_action_mask(const rlcore_vecenv *v, const rlcore_env_def *env, uint8_t *mask);

/* How many environments there are, also in a block that was saved. out: [1] N. */
rlcore_status rlcore_vecenv_num_envs(const rlcore_vecenv *v, uint32_t *out);

/* ---- Observations in parts ---- */

/* The parts of an environment's observations with its wrappers around it: one without a name if it has no fields.
   out:     [capacity] room, of which *out_len are written; NULL with a capacity of 0 only counts them.
   Errors: E_CONFIG; E_SIZE if there are more than capacity. */
rlcore_status rlcore_env_fields(const rlcore_env_def *env, rlcore_field *out, uint32_t capacity, uint32_t *out_len);

/* Takes observations apart: copies each part of num_rows rows into an array of its own.
   obs:   [num_rows, obs.len], as rlcore_vecenv_step writes it.
   parts: one array a field of rlcore_env_fields, [num_rows, dims...] of its kind; NULL skips one.
   Errors: E_CONFIG. */
rlcore_status rlcore_obs_split(const rlcore_env_def *env, uint32_t num_rows, const void *obs, void *const *parts);

/* Puts observations together: the reverse of rlcore_obs_split. Bytes that no part covers, or whose part is NULL, stay as
   they are.
   Errors: as rlcore_obs_split. */
rlcore_status rlcore_obs_join(const rlcore_env_def *env, uint32_t num_rows, const void *const *parts, void *obs);

/* The record before the first step of all, for learners that begin with one (RLCORE_WRAP_RECORD): a frame of zeros, no
   reward, no action, not done, but really done. record: [obs.len] bytes to write.
   Errors: E_CONFIG unless a record is the outermost wrapper of observations. */
rlcore_status rlcore_record_initial(const rlcore_env_def *env, uint8_t *record);

/* ---- How actions are chosen ---- */

/* How an action is chosen. */
typedef enum rlcore_sampling_method {
  RLCORE_SAMPLING_BASIC = 0,        /* from the distribution */
  RLCORE_SAMPLING_GREEDY = 1,       /* the most probable, or the mean; draws nothing */
  RLCORE_SAMPLING_TEMPERATURE = 2,  /* flatter above 1, sharper below */
  RLCORE_SAMPLING_TOPK = 3,         /* from the k most probable choices */
  RLCORE_SAMPLING_BOTTOMK = 4,      /* from the k least probable choices */
} rlcore_sampling_method;

/* How actions are chosen. Where a pointer to it may be NULL, that is RLCORE_SAMPLING_BASIC. */
typedef struct rlcore_sampling {
  uint32_t method;    /* an rlcore_sampling_method */
  uint32_t k;         /* TOPK, BOTTOMK: at least 1 */
  float temperature;  /* TEMPERATURE: above 0 */
  uint32_t reserved;  /* zero */
} rlcore_sampling;

/* ---- Learners: act, observe, learn ---- */

/* Which call is due, where all environments act in every step. */
typedef enum rlcore_learner_due {
  RLCORE_LEARNER_ACT = 0,      /* rlcore_learner_act with the current observations */
  RLCORE_LEARNER_OBSERVE = 1,  /* rlcore_learner_observe with what the step returned */
  RLCORE_LEARNER_LEARN = 2,    /* rlcore_learner_learn until no minibatch is left */
} rlcore_learner_due;

/* Of the hidden layers. */
typedef enum rlcore_activation {
  RLCORE_ACTIVATION_TANH = 0,  /* tanh */
  RLCORE_ACTIVATION_RELU = 1,  /* max(x, 0) */
} rlcore_activation;

/* What a learner optimises. */
typedef enum rlcore_algorithm {
  RLCORE_ALGORITHM_PPO = 0,  /* proximal policy optimisation */
} rlcore_algorithm;

/* A learner: the caller's own block. */
typedef struct rlcore_learner rlcore_learner;

/* Hyperparameters. Defaults in parentheses; flags are 0 or 1. */
typedef struct rlcore_learner_config {
  uint32_t struct_size;          /* bytes; set by rlcore_learner_config_init */
  uint32_t num_envs;             /* N, environments that act side by side (4) */
  uint32_t num_steps;            /* T, steps of every environment in one rollout (128) */
  uint32_t num_minibatches;      /* parts of a rollout; T * N has to be a multiple of it (4) */
  uint32_t num_epochs;           /* passes over each rollout, 1 to 1000 (4) */
  uint32_t num_hidden;           /* hidden layers of the policy and of the value network, 0 to 4 (2) */
  uint32_t hidden_len[4];        /* units of each hidden layer, 0 beyond num_hidden (64, 64) */
  uint32_t activation;           /* an rlcore_activation (tanh) */
  uint32_t normalize_advantage;  /* advantages get mean 0 and deviation 1 in each minibatch (1) */
  uint32_t normalize_obs;        /* observations get mean 0 and deviation 1 by running statistics of the steps before (0) */
  uint32_t normalize_reward;     /* rewards are divided by the running deviation of the discounted return (0) */
  uint32_t squash;               /* continuous actions go through tanh onto their bounds (0: they are clipped) */
  uint32_t use_action_mask;      /* rlcore_learner_act takes a mask of allowed choices (0) */
  uint64_t seed;                 /* all randomness of the learner comes from this, a stream for each environment (1) */
  uint64_t total_steps;          /* environment steps until the _end values are reached (0: never, constant) */
  float learning_rate;           /* step size at the start (2.5e-4) */
  float learning_rate_end;       /* step size at total_steps (0) */
  float clip;                    /* probability ratios are clipped to 1 plus or minus this at the start (0.2) */
  float clip_end;                /* the same at total_steps (0.2) */
  float discount;                /* from 0 to 1 (0.99) */
  float gae_lambda;              /* of GAE, from 0 to 1 (0.95) */
  float value_coef;              /* weight of the value loss, half the mean squared error (0.5) */
  float entropy_coef;            /* weight of the entropy bonus (0.01) */
  float value_clip;              /* new values are clipped to old ones plus or minus this (0: off) */
  float max_grad_norm;           /* gradients are scaled down to this global norm (0.5; 0: off) */
  float target_kl;               /* an update ends once its approximate KL divergence passes 1.5 times this (0: off) */
  float adam_beta1;              /* decay of Adam's first moment (0.9) */
  float adam_beta2;              /* decay of Adam's second moment, at least the square of adam_beta1 (0.999) */
  float adam_epsilon;            /* outside the root, from 1e-12 (1e-5) */
  float log_std_init;            /* logarithm of the deviation of continuous actions at the start (0) */
  float obs_clip;                /* normalised observations are clipped to plus or minus this (10) */
  float reward_clip;             /* normalised rewards are clipped to plus or minus this (10) */
  uint32_t accumulate;           /* what advantages are summed in: an rlcore_accumulate (f32) */
  float log_std_min;             /* after every step logarithms of deviations are this at least, from -40 (-20) */
  float log_std_max;             /* and this at most, to 40 (2) */
  /* chunks of each minibatch, up to one a row: the smallest slices of learning; their gradients are added as a binary
     tree over their numbers (1) */
  uint32_t num_chunks;
  uint32_t algorithm;  /* an rlcore_algorithm, set by rlcore_learner_config_init */
  /* acting and recording go on while an update runs, with the policy from before it; takes memory for a second rollout
     and a second set of parameters (0) */
  uint32_t overlap;
  uint32_t num_shared;  /* hidden layers that the policy and the value network share, from the first, 0 to num_hidden (0) */
} rlcore_learner_config;

/* What the update that runs, or the last one, did, and how the episodes go. */
typedef struct rlcore_learner_stats {
  uint32_t struct_size;       /* sizeof(rlcore_learner_stats) */
  uint32_t minibatches_left;  /* 0: the update is complete */
  uint64_t num_steps;         /* environment steps observed */
  uint64_t num_updates;       /* complete updates */
  uint64_t num_episodes;      /* episodes that ended */
  float learning_rate;        /* step size of this update */
  float policy_loss;          /* mean clipped surrogate loss */
  float value_loss;           /* mean of half the squared error */
  float entropy;              /* mean entropy in nats */
  float approx_kl;            /* mean of r - 1 - ln r, r the probability ratio */
  float clip_fraction;        /* part of the ratios that were clipped */
  float explained_variance;   /* of the rollout's values: 1 perfect, 0 as a constant or if targets do not vary */
  float grad_norm;            /* mean global norm of the gradients before they are scaled */
  float value_mean;           /* mean value of the rollout's observations */
  float return_mean;          /* mean return of the last 100 episodes; NaN before the first ends */
  float length_mean;          /* mean length of the last 100 episodes; NaN before the first ends */
  float return_last;          /* return of the episode that ended last; NaN before the first ends */
  uint64_t num_dropped;       /* updates that ended early because numbers overflowed */
} rlcore_learner_stats;

/* Fills in the defaults of an algorithm.
   algorithm: an rlcore_algorithm.
   Errors: E_RANGE for another algorithm. */
rlcore_status rlcore_learner_config_init(rlcore_learner_config *config, size_t config_size, uint32_t algorithm);

/* Bytes a block must have for this configuration and these spaces. Bytes of pictures are divided by 255; those of an
   RLCORE_STRUCT are refused, and RLCORE_WRAP_FLATTEN makes numbers of them. */
rlcore_status rlcore_learner_size(const rlcore_learner_config *config, const rlcore_space *obs,
                                  const rlcore_space *action, size_t *out_size);

/* Creates a learner in mem and draws its first parameters. */
rlcore_status rlcore_learner_init(void *mem, size_t mem_size, const rlcore_learner_config *config,
                                  const rlcore_space *obs, const rlcore_space *action, rlcore_learner **out);

/* Accepts bytes that a learner was copied to, in this process or another: it goes on as if it had never stopped.
   mem is only read. A learner that rlcore_block_seal has sealed is refused if any byte differs; one that was not, if it
   holds what no call could have left: a parameter that was damaged into another finite number is not noticed then. */
rlcore_status rlcore_learner_attach(void *mem, size_t mem_size, rlcore_learner **out);

/* Which call is due. out: [1] an rlcore_learner_due. */
rlcore_status rlcore_learner_phase(rlcore_learner *p, uint32_t *out);

/* Environments that have acted and whose step has not been observed.
   acted: [N] flags to write. */
rlcore_status rlcore_learner_acted(const rlcore_learner *p, uint8_t *acted);

/* Draws an action for each environment and begins a transition.
   active:      [N] 0: this environment does not act now, its rows are neither read nor written; NULL: all act.
   obs:         [N, obs.len]; networks see bytes divided by 255.
   action_mask: [N, sum of action.n] 0 forbids, not all of a choice; required exactly if use_action_mask, else NULL.
   action:      [N, action.len] to write.
   Errors: E_NOT_READY if rlcore_learner_learn is due, or an environment has acted already; E_SHAPE for a mask that is not
   wanted, or missing; E_VALUE for an observation that is not finite or so large that the policy overflows, or a mask that
   forbids all of a choice. Then nothing has changed, neither block nor action. */
rlcore_status rlcore_learner_act(rlcore_learner *p, const uint8_t *active, const void *obs, const uint8_t *action_mask,
                                 void *action);

/* rlcore_learner_act for environments [begin, end), whose rows alone the arrays have. Ranges from the first environment to
   the last leave the same bytes as one call for all. Threads: one at a time.
   Arrays and errors as rlcore_learner_act, [end - begin, ...] in place of [N, ...]; E_RANGE.
   Threads: one call at a time. */
rlcore_status rlcore_learner_act_range(rlcore_learner *p, uint32_t begin, uint32_t end, const uint8_t *active,
                                       const void *obs, const uint8_t *action_mask, void *action);

/* Completes the transitions: what the step returned. After T * N of them rlcore_learner_learn is due.
   Autoreset has to be same step: a row that next-step autoreset only resets is no transition.
   active: [N] 0: this environment has not been stepped, its rows are not read; NULL: all have.
   reward, terminated, truncated: [N]
   final_obs: [N, obs.len], read only where truncated and not terminated; NULL only if nothing is.
   Errors: E_NOT_READY if an environment has not acted; E_VALUE for a reward or final_obs that is not finite. Then nothing
   has changed. */
rlcore_status rlcore_learner_observe(rlcore_learner *p, const uint8_t *active, const float *reward,
                                     const uint8_t *terminated, const uint8_t *truncated, const void *final_obs);

/* Removes agents that disappear without an outcome of their last action, whether they have been observed since or not.
   Their last transition is dropped; the one before it is truncated and continues with the value of the observation that
   the last action answered. Their episodes are not counted. The row is free for another agent.
   gone: [N] flags.
   Errors: E_NOT_READY if rlcore_learner_learn is due. */
rlcore_status rlcore_learner_cut(rlcore_learner *p, const uint8_t *gone);

/* Does a part of the update that is due, so that a frame never waits for a whole one.
   obs:        [N, obs.len] after the last step; may be NULL in all calls of an update but the first. Rows of environments
               that have acted since, or whose episode ended, are not read.
   max_slices: at most so many chunks in this call, of which a minibatch has num_chunks; 0: all that are left.
   stats:      to write; call again while minibatches_left is not 0.
   Errors: E_CONFIG; E_NOT_READY; E_VALUE for an observation that is not finite, before anything changes, or because
   numbers overflow. Then this update is over and counted in num_dropped, the parameters are the last ones that were
   finite, and rlcore_learner_act is due. */
rlcore_status rlcore_learner_learn(rlcore_learner *p, const void *obs, uint32_t max_slices,
                                   rlcore_learner_stats *stats);

/* Begins the update that is due, for hosts that share its chunks among threads or machines: until minibatches_left is 0,
   rlcore_learner_learn_range makes the gradients of all chunks, rlcore_learner_grads_write hands them in, and
   rlcore_learner_learn_apply takes the step. The results are those of rlcore_learner_learn, bit for bit.
   obs: [N, obs.len] after the last step, as rlcore_learner_learn reads it; stats: to write.
   Errors: E_CONFIG; E_NOT_READY; E_VALUE as rlcore_learner_learn. */
rlcore_status rlcore_learner_learn_begin(rlcore_learner *p, const void *obs, rlcore_learner_stats *stats);

/* Bytes of scratch that rlcore_learner_learn_range needs. */
rlcore_status rlcore_learner_scratch_size(const rlcore_learner *p, size_t *out_size);

/* Floats of the gradients of a chunk: one for each parameter, then 8 that hold its losses. */
rlcore_status rlcore_learner_grads_len(const rlcore_learner *p, size_t *out_len);

/* Makes the gradients of chunks [begin, end) of the minibatch. Threads: the learner is only read, so several may do
   different chunks at once, each with its own scratch.
   scratch: [scratch_size] bytes to be written, 8-byte aligned, at least rlcore_learner_scratch_size().
   grads:   [end - begin, grads_len] to write; grads_len is that of rlcore_learner_grads_len.
   Errors: E_NOT_READY if no update runs; E_RANGE; E_SIZE of scratch; E_VALUE if numbers overflow. Then scratch and grads
   may have been written. */
rlcore_status rlcore_learner_learn_range(const rlcore_learner *p, uint32_t begin, uint32_t end, void *scratch,
                                         size_t scratch_size, float *grads);

/* Adds the gradients of all chunks of the minibatch as a tree and takes the step of the optimizer. Without an update that
   runs, it takes a step along gradients that came from elsewhere, as a server of asynchronous workers does.
   stats: to write.
   Errors: E_NOT_READY if the gradients of a chunk are missing; E_VALUE if numbers overflow, as rlcore_learner_learn. */
rlcore_status rlcore_learner_learn_apply(rlcore_learner *p, rlcore_learner_stats *stats);

/* Ends the update that runs or is due without learning any more of it; rlcore_learner_act is due.
   Errors: E_NOT_READY if there is none. */
rlcore_status rlcore_learner_learn_drop(rlcore_learner *p);

/* Begins an update with a rollout that another learner has recorded and rlcore_learner_batch_read has handed out;
   rlcore_learner_learn(p, NULL, ...) goes on with it.
   Arrays as rlcore_learner_batch_read. stats: to write.
   Errors: E_CONFIG; E_NOT_READY if this learner has recorded something, or an update runs; E_SHAPE for a mask that is
   not wanted, or missing; E_VALUE for numbers that are not finite and choices that are not allowed. */
rlcore_status rlcore_learner_learn_batch(rlcore_learner *p, const float *obs, const void *action,
                                         const uint8_t *action_mask, const float *log_prob, const float *value,
                                         const float *advantage, const float *value_target,
                                         rlcore_learner_stats *stats);

/* Hands out the T * N transitions that the update that runs learns from, to learn from them elsewhere. A learner that only
   records begins its update, hands it out and ends it by rlcore_learner_learn_drop.
   obs:         [T * N, obs.len] as networks see them: bytes divided by 255, numbers normalized if they are to be.
   action:      [T * N, action.len], continuous ones as they were drawn, before they were squashed or clipped.
   action_mask: [T * N, sum of action.n] with use_action_mask, else NULL.
   log_prob, value, advantage, value_target: [T * N]. All to write.
   Errors: E_NOT_READY if no update runs; E_SHAPE for a mask that is not wanted, or missing. */
rlcore_status rlcore_learner_batch_read(rlcore_learner *p, float *obs, void *action, uint8_t *action_mask,
                                        float *log_prob, float *value, float *advantage, float *value_target);

/* The value of an observation of each environment. Nothing is recorded.
   obs: [N, obs.len]; value: [N] to write.
   Errors: E_VALUE for an observation that is not finite, or values that overflow; value is untouched then. */
rlcore_status rlcore_learner_value(rlcore_learner *p, const void *obs, float *value);

/* Log-probability of an action of each environment, and the entropy of its distribution. Nothing is recorded.
   obs:         [N, obs.len]
   action_mask: [N, sum of action.n] required exactly if use_action_mask, else NULL.
   action:      [N, action.len], continuous ones as the policy draws them, before they are squashed or clipped.
   log_prob, entropy: [N] to write.
   Errors: E_SHAPE for a mask that is not wanted, or missing; E_VALUE for an observation or action that is not finite, a
   choice that is not there or not allowed, and numbers that overflow. Outputs are untouched then. */
rlcore_status rlcore_learner_log_prob(rlcore_learner *p, const void *obs, const uint8_t *action_mask,
                                      const void *action, float *log_prob, float *entropy);

/* Number of parameters. */
rlcore_status rlcore_learner_params_len(const rlcore_learner *p, size_t *out_len);

/* Copies the parameters out. Learners of the same networks have them in the same order.
   params: [rlcore_learner_params_len()] to write. */
rlcore_status rlcore_learner_params_read(const rlcore_learner *p, float *params);

/* Takes parameters over, as those of a learner elsewhere. With overlap they act once no update runs.
   params: [rlcore_learner_params_len()].
   Errors: E_VALUE for one beyond plus or minus 1e6, or a logarithm of a deviation outside its bounds. Then nothing has
   changed. */
rlcore_status rlcore_learner_params_write(rlcore_learner *p, const float *params);

/* Copies the gradients of chunks [begin, end) out.
   grads: [end - begin, grads_len] to write.
   Errors: E_RANGE; E_NOT_READY if one of them has not been made. */
rlcore_status rlcore_learner_grads_read(rlcore_learner *p, uint32_t begin, uint32_t end, float *grads);

/* Hands gradients of chunks [begin, end) in, in place of those that they have.
   grads: [end - begin, grads_len].
   Errors: E_RANGE; E_VALUE for one that is not finite. Then nothing has changed. */
rlcore_status rlcore_learner_grads_write(rlcore_learner *p, uint32_t begin, uint32_t end, const float *grads);

/* Adds gradients to those of chunks [begin, end) that have some, and hands in the others. The last bits of sums depend on
   the order of these calls.
   grads: [end - begin, grads_len].
   Errors: E_RANGE; E_VALUE for one that is not finite, or a sum. Then nothing has changed. */
rlcore_status rlcore_learner_grads_add(rlcore_learner *p, uint32_t begin, uint32_t end, const float *grads);

/* Acts without recording, in any phase: the training goes on as if this had not been called.
   sampling: NULL: RLCORE_SAMPLING_BASIC.
   Arrays and errors as rlcore_learner_act; E_CONFIG for sampling. */
rlcore_status rlcore_learner_predict(rlcore_learner *p, const void *obs, const uint8_t *action_mask,
                                     const rlcore_sampling *sampling, void *action);

/* 1: the statistics that observations and rewards are normalised by stay as they are; 0: they follow again.
   Errors: E_RANGE for another number. */
rlcore_status rlcore_learner_freeze(rlcore_learner *p, uint32_t frozen);

/* ---- Spaces: what environments show and take, and what learners were made for ---- */

/* What an environment shows and takes with its wrappers around it: what rlcore_learner_init and the like are given.
   out_obs:    its kind is RLCORE_STRUCT if parts of it are of other kinds than bytes.
   bounds:     [bounds_len] room for the bounds that the results point to; 2 * (obs.len + action.len) are always enough.
               NULL: low and high of both results are NULL.
   out_action: its n points where that of the environment does.
   Errors: E_CONFIG; E_SIZE if bounds_len is too small. */
rlcore_status rlcore_env_spaces(const rlcore_env_def *env, float *bounds, size_t bounds_len, rlcore_space *out_obs,
                                rlcore_space *out_action);

/* What a learner was made for: what to allocate for one that was saved. Bounds are left out.
   out_num_envs: N.
   out_action:   its n points into the learner. */
rlcore_status rlcore_learner_spaces(rlcore_learner *p, uint32_t *out_num_envs, rlcore_space *out_obs,
                                    rlcore_space *out_action);

/* ---- Policies: what a game ships ---- */

/* A policy: the caller's own block, read-only, shared by any number of threads. */
typedef struct rlcore_policy rlcore_policy;

/* Bytes that rlcore_policy_export needs. */
rlcore_status rlcore_policy_size(rlcore_learner *p, size_t *out_size);

/* Writes the policy of a learner as it is now: networks, bounds and the statistics that normalise observations.
   mem: 8-byte aligned, mem_size bytes, owned by the caller. The same policy is the same bytes, sealed.
   out: the same address as mem, with its type.
   Errors: E_SIZE if mem_size < rlcore_policy_size(). */
rlcore_status rlcore_policy_export(rlcore_learner *p, void *mem, size_t mem_size, rlcore_policy **out);

/* Accepts bytes that a policy was copied to, in this process or another. mem is only read: it may be in a constant.
   The seal of rlcore_policy_export is compared: a policy of which any byte differs is refused. */
rlcore_status rlcore_policy_attach(const void *mem, size_t mem_size, const rlcore_policy **out);

/* Floats of scratch that rlcore_policy_act needs for num_rows observations. */
rlcore_status rlcore_policy_scratch_len(const rlcore_policy *p, uint32_t num_rows, size_t *out_len);

/* Chooses an action for each of num_rows observations.
   obs:         [num_rows, obs.len]; networks see bytes divided by 255.
   action_mask: [num_rows, sum of action.n] 0 forbids, not all of a choice; NULL: everything is allowed.
   sampling:    NULL: RLCORE_SAMPLING_BASIC.
   rng:         the caller's stream, one for each thread; may be NULL with RLCORE_SAMPLING_GREEDY.
   scratch:     [scratch_len] to be written, at least rlcore_policy_scratch_len().
   action:      [num_rows, action.len] to write.
   Errors: E_SIZE of scratch; E_CONFIG for sampling; E_SHAPE for a mask with continuous actions; E_VALUE for an
   observation that is not finite or so large that the policy overflows, or a mask that forbids all of a choice. Then
   scratch may be written, action and rng not. */
rlcore_status rlcore_policy_act(const rlcore_policy *p, uint32_t num_rows, const void *obs, const uint8_t *action_mask,
                                const rlcore_sampling *sampling, rlcore_rng *rng, float *scratch, size_t scratch_len,
                                void *action);

/* rlcore_policy_act with RLCORE_SAMPLING_GREEDY: the most probable actions, or the means; the same ones. A program
   that acts in no other way is a few kilobytes smaller, because nothing that draws at random is linked into it.
   Arrays and errors as rlcore_policy_act. */
rlcore_status rlcore_policy_act_greedy(const rlcore_policy *p, uint32_t num_rows, const void *obs,
                                       const uint8_t *action_mask, float *scratch, size_t scratch_len, void *action);

/* ---- Steps that the host does not wait for: its own threads and processes as workers ---- */

/* Steps of N environments that the host submits and collects: the caller's own block, beside the rlcore_vecenv. Between
   the two, any threads that call rlcore_batch_run do the work, or processes, if both blocks lie in memory that they
   share (and fork() keeps the callbacks where they are). Which worker does what changes no byte.
   Rows are cut into groups of in_series; a group is idle, pending, running or done. The host's calls are those of one
   thread at a time. None ever waits: a host that has nothing else to do calls rlcore_batch_run itself.
   While a group is not idle its rows belong to the batch: no other rlcore_vecenv call may touch them. */
typedef struct rlcore_batch rlcore_batch;

/* How a batch is divided. */
typedef struct rlcore_batch_config {
  uint32_t struct_size;  /* bytes; set by rlcore_batch_config_init */
  uint32_t in_series;    /* rows of a group, stepped one after another by one worker; divides num_envs; default 1 */
} rlcore_batch_config;

/* How many groups are where, counted one after another while workers go on. */
typedef struct rlcore_batch_counts {
  uint32_t struct_size;  /* sizeof(rlcore_batch_counts) */
  uint32_t closed;       /* 1 after rlcore_batch_close, else 0 */
  uint32_t num_pending;  /* groups that no worker has begun */
  uint32_t num_running;  /* groups that a worker is inside */
  uint32_t num_done;     /* groups that can be collected */
} rlcore_batch_counts;

/* Fills in the defaults. */
rlcore_status rlcore_batch_config_init(rlcore_batch_config *config, size_t config_size);

/* Bytes a batch must have over an rlcore_vecenv of this environment and configuration. */
rlcore_status rlcore_batch_size(const rlcore_env_def *env, const rlcore_vecenv_config *vecenv_config,
                                const rlcore_batch_config *config, size_t *out_size);

/* Creates an idle batch in mem, for any rlcore_vecenv of this environment and configuration.
   mem is in use until the caller and all workers stop calling. */
rlcore_status rlcore_batch_init(void *mem, size_t mem_size, const rlcore_env_def *env,
                                const rlcore_vecenv_config *vecenv_config, const rlcore_batch_config *config,
                                rlcore_batch **out);

/* Accepts bytes that a block was copied to. mem is only read. A copy that was made while workers ran still names them:
   abandon each. */
rlcore_status rlcore_batch_attach(void *mem, size_t mem_size, rlcore_batch **out);

/* Submits a step of every row. action: [N, action.len], copied.
   Errors: E_CONFIG for a batch that is closed or another vecenv or environment; E_BUSY if a row was submitted and not
   collected; E_RANGE or E_VALUE for an action; E_NOT_READY for a row that has to be reset first; all before anything
   changes. */
rlcore_status rlcore_batch_step_async(rlcore_batch *b, rlcore_vecenv *v, const rlcore_env_def *env, const void *action);

/* rlcore_batch_step_async, in which environments that end start again in this level, as rlcore_vecenv_step_env says.
   level: an rlcore_level.
   Errors: as rlcore_batch_step_async; E_RANGE for another level. */
rlcore_status rlcore_batch_step_env_async(rlcore_batch *b, rlcore_vecenv *v, const rlcore_env_def *env,
                                          const void *action, uint32_t level);

/* Does work that was submitted: steps pending groups one after another, until none is left or max_groups are done.
   Never waits. Any number of threads and processes may be in it at once, beside one of the host's calls.
   worker:         the caller's number, below 2^30; its own if rlcore_batch_abandon is ever to tell it from others.
   max_groups:     UINT32_MAX for all there is.
   out_num_groups: how many it did.
   Errors: E_RANGE; E_CONFIG for a batch that is closed or another vecenv or environment. What callbacks return is told
   to the host when it collects. */
rlcore_status rlcore_batch_run(rlcore_batch *b, rlcore_vecenv *v, const rlcore_env_def *env, uint32_t worker,
                               uint32_t max_groups, uint32_t *out_num_groups);

/* Collects all that was submitted, once all of it is done. out: arrays of the whole batch, written as
   rlcore_vecenv_step would have. Never waits.
   Errors: E_CONFIG for a batch that is closed; E_NOT_PENDING if nothing was submitted; E_NOT_READY while workers are
   not through; all before anything changes. E_CALLBACK (also for rows of a worker that was abandoned), or E_VALUE for
   a reward or observation that is not finite: everything is collected, rows that failed are left out and have to be
   reset; rlcore_last_error() names the first, rlcore_batch_failed() all. */
rlcore_status rlcore_batch_step_wait(rlcore_batch *b, const rlcore_vecenv_out *out);

/* Collects the rows of groups that are done while others are still under way: for environments whose steps take
   unequally long. Which come first depends on the workers' speed, a row's own results never do; no group is collected
   twice while another one waits.
   num_rows: how many rows, a multiple of in_series; fewer are never collected.
   rows:     [num_rows] to write: their numbers, ascending.
   out:      arrays of num_rows rows; row k is that of environment rows[k].
   Errors: as rlcore_batch_step_wait; E_RANGE for num_rows. */
rlcore_status rlcore_batch_recv(rlcore_batch *b, uint32_t num_rows, uint32_t *rows, const rlcore_vecenv_out *out);

/* Submits a step of some rows while others may be under way.
   num_rows: how many rows, a multiple of in_series.
   rows:     [num_rows] whole groups, ascending, as rlcore_batch_recv returns them.
   action:   [num_rows, action.len], copied; row k is for environment rows[k].
   Errors: as rlcore_batch_step_async; E_RANGE for rows. */
rlcore_status rlcore_batch_send(rlcore_batch *b, rlcore_vecenv *v, const rlcore_env_def *env, uint32_t num_rows,
                                const uint32_t *rows, const void *action);

/* Starts an episode in every environment, as rlcore_vecenv_reset. Steps that were submitted are discarded, never to be
   delivered; those that no worker has begun are taken back.
   seed: environment i gets the stream of *seed + i, modulo 2^64; NULL: the streams go on.
   obs:  [N, obs.len] to write.
   Errors: E_CONFIG, before anything changes. E_NOT_READY while a worker is inside a
   group: the steps are discarded all the same, and until this call succeeds there is nothing to collect and submitting
   is E_BUSY. E_CALLBACK and E_VALUE as for rlcore_vecenv_reset. */
rlcore_status rlcore_batch_reset(rlcore_batch *b, rlcore_vecenv *v, const rlcore_env_def *env, const uint64_t *seed,
                                 void *obs);

/* Starts an episode in environment `index` alone, as rlcore_vecenv_reset_one; rows of other groups may be under way.
   seed: it gets the stream of *seed itself; NULL: its stream goes on.
   obs:  [N, obs.len], of which that row is written.
   Errors: as rlcore_batch_reset; E_RANGE; E_BUSY if its group was submitted and not collected. */
rlcore_status rlcore_batch_reset_one(rlcore_batch *b, rlcore_vecenv *v, const rlcore_env_def *env, uint32_t index,
                                     const uint64_t *seed, void *obs);

/* Gives up a worker that died: the rows of the group that it was in count as failed and have to be reset; all others are
   as if nothing had happened. The worker must not run any more: nothing could stop it from writing to its rows.
   out_num_rows: how many rows that are; 0 if it was in none.
   Errors: E_RANGE; E_CONFIG. */
rlcore_status rlcore_batch_abandon(rlcore_batch *b, rlcore_vecenv *v, const rlcore_env_def *env, uint32_t worker,
                                   uint32_t *out_num_rows);

/* Which rows failed in their last step and were not reset by this batch since: 1 for those, else 0, also for rows that
   are under way. failed: [N] to write.
   Errors: E_CONFIG for a batch that is closed. */
rlcore_status rlcore_batch_failed(const rlcore_batch *b, uint8_t *failed);

/* How far it is. out: to write; a closed batch answers too, so that num_running tells when its workers have left.
   Errors: E_CONFIG for struct_size. */
rlcore_status rlcore_batch_count(const rlcore_batch *b, rlcore_batch_counts *out);

/* Ends it: steps that no worker has begun are taken back, nothing is delivered any more, and every later call but this
   one and rlcore_batch_count is E_CONFIG. A worker that is inside a group finishes it: the bytes have to stay until all
   workers have returned. The rlcore_vecenv goes on. */
rlcore_status rlcore_batch_close(rlcore_batch *b);

/* ---- Episodes: returns, lengths, monitor.csv ---- */

#define RLCORE_MONITOR_MAX_INFO 16   /* Most numbers that an episode may carry beside its return, length and time. */
#define RLCORE_MONITOR_ROW_SIZE 512  /* Bytes that a row of monitor.csv never exceeds. */

/* What N environments have counted, and records of the episodes that ended: the caller's own block. */
typedef struct rlcore_monitor rlcore_monitor;

/* What a monitor is made from. */
typedef struct rlcore_monitor_config {
  uint32_t struct_size;  /* bytes; set by rlcore_monitor_config_init */
  uint32_t num_envs;     /* N, at least 1; default 1 */
  uint32_t keep;         /* episodes that rlcore_monitor_means looks back on; default 0: none */
  uint32_t capacity;     /* records held, at least N, as many as one step can end; 0 (default): the larger of 1024 and N */
  uint32_t num_info;     /* numbers that the caller adds to each record, at most 16; default 0 */
  uint32_t reserved;     /* zero */
  double start;          /* what the caller's clock shows at second 0 of the records; default 0 */
} rlcore_monitor_config;

/* The caller's clock: seconds since any moment, the same one in every call. */
typedef double (*rlcore_clock_fn)(void *user);

/* An episode that has ended. */
typedef struct rlcore_episode {
  uint64_t number;       /* counts the episodes of all environments from 0, as they end */
  double seconds;        /* when it ended: seconds since the start, to 6 decimal places */
  uint32_t env;          /* its environment */
  uint32_t len;          /* its steps */
  float episode_return;  /* the sum of its rewards */
  uint32_t reserved;     /* zero */
} rlcore_episode;

/* Means over the last episodes. */
typedef struct rlcore_monitor_stats {
  uint32_t struct_size;   /* sizeof(rlcore_monitor_stats) */
  uint32_t num_kept;      /* episodes that the means are of: at most `keep` */
  uint64_t num_episodes;  /* episodes ended since the block was made */
  double return_mean;     /* mean return; NaN of none */
  double len_mean;        /* mean length; NaN of none */
} rlcore_monitor_stats;

/* Fills in the defaults. */
rlcore_status rlcore_monitor_config_init(rlcore_monitor_config *config, size_t config_size);

/* Size of the block for this configuration, in bytes. */
rlcore_status rlcore_monitor_size(const rlcore_monitor_config *config, size_t *out_size);

/* Creates a monitor in mem. */
rlcore_status rlcore_monitor_init(void *mem, size_t mem_size, const rlcore_monitor_config *config,
                                  rlcore_monitor **out);

/* Accepts bytes that a monitor was copied to, in this process or another. */
rlcore_status rlcore_monitor_attach(void *mem, size_t mem_size, rlcore_monitor **out);

/* Accepts bytes that another process counts steps in meanwhile, for calls with a const monitor: see Sharing.
    */
rlcore_status rlcore_monitor_attach_reader(const void *mem, size_t mem_size, const rlcore_monitor **out);

/* All environments begin an episode: what they have counted so far is dropped. Records and their numbers stay. */
rlcore_status rlcore_monitor_reset(rlcore_monitor *m);

/* Environment `index` alone begins an episode. Errors: E_RANGE. */
rlcore_status rlcore_monitor_reset_one(rlcore_monitor *m, uint32_t index);

/* Counts one step of all environments, before its rewards are normalised, and records the episodes that it ended.
   step:    as rlcore_vecenv_step filled it: reward, terminated, truncated, and valid or NULL; the rest is not used.
   seconds: what the caller's clock shows.
   info:    [N, num_info], read only in rows that ended; NULL if num_info is 0.
   Errors: E_CONFIG; E_VALUE for a reward, a return, a time or an info that is not finite; E_RANGE after 2^63 episodes.
   Nothing changes then. */
rlcore_status rlcore_monitor_step(rlcore_monitor *m, const rlcore_vecenv_out *step, double seconds, const double *info);

/* rlcore_monitor_step with a clock that is asked only when an episode has ended, once a step. */
rlcore_status rlcore_monitor_step_clock(rlcore_monitor *m, const rlcore_vecenv_out *step, rlcore_clock_fn clock,
                                        void *user, const double *info);

/* Copies records out, the oldest first. A reader keeps `next`, 0 at first, and loses nothing if it reads at least once in
   `capacity` episodes; there may be several.
   next:      [1] number of the record to begin with; becomes that of the first one not read.
   episodes:  [len] to write; info: [len, num_info] to write, NULL leaves it out.
   out_count: [1] records written; out_lost: [1] records that were overwritten before they were read, NULL to ignore.
   Errors: E_RANGE for a next that is larger than the episodes ended. */
rlcore_status rlcore_monitor_read(const rlcore_monitor *m, uint64_t *next, rlcore_episode *episodes, double *info,
                                  uint32_t len, uint32_t *out_count, uint64_t *out_lost);

/* Means over the last `keep` episodes, or as many as have ended.
   Errors: E_CONFIG; E_BUSY only beside a writer that leaves no moment to look. */
rlcore_status rlcore_monitor_means(const rlcore_monitor *m, rlcore_monitor_stats *out);

/* Writes the first two lines of monitor.csv, as Stable-Baselines3 reads it: `# {"t_start": ...} ` and the columns' names.
   t_start:  Unix time at the start, in seconds.
   env_id:   what to call the environment, a text that ends in NUL; NULL leaves it out.
   keywords: [num_keywords] a name for each info; printable ASCII, like env_id.
   text:     [text_size] to write, without NUL: for fwrite to a file opened as binary. NULL with 0: nothing is written.
   out_len:  [1] bytes written, or needed.
   Errors: E_SIZE; E_RANGE for more keywords than 16, or more than 4095 characters; E_VALUE. */
rlcore_status rlcore_monitor_format_header(double t_start, const char *env_id, const char *const *keywords,
                                           uint32_t num_keywords, char *text, size_t text_size, size_t *out_len);

/* Writes the row of an episode: return, length, time, infos, CR LF. Reals are laid out as Python prints a float, in the
   shortest text that reads back as the same number: the return as the same float, the others as the same double.
   info: [num_info] of this episode. text: [text_size], out_len: [1], as for the header; RLCORE_MONITOR_ROW_SIZE bytes
   always suffice.
   Errors: E_SIZE; E_RANGE for a num_info over 16; E_VALUE for a number that is not finite. */
rlcore_status rlcore_monitor_format_row(const rlcore_episode *episode, const double *info, uint32_t num_info,
                                        char *text, size_t text_size, size_t *out_len);

/* ---- Normalised observations and rewards of N environments ---- */

/* A normaliser of N environments: the caller's own block. */
typedef struct rlcore_vec_normalize rlcore_vec_normalize;

/* What a normaliser is made from. */
typedef struct rlcore_vec_normalize_config {
  uint32_t struct_size;       /* bytes; set by rlcore_vec_normalize_config_init */
  uint32_t num_envs;          /* N, at least 1; default 1 */
  uint32_t obs_len;           /* elements of one observation, at least 1; default 1 */
  uint32_t normalize_obs;     /* 1 (default), or 0: observations pass as they are */
  uint32_t normalize_reward;  /* 1 (default), or 0: rewards pass as they are */
  float clip_obs;             /* normalised observations lie from -clip_obs to clip_obs; default 10 */
  float clip_reward;          /* scaled rewards lie from -clip_reward to clip_reward; default 10 */
  uint32_t reserved;          /* zero */
  double discount;            /* of the sums that scale the rewards, from 0 to 1; default 0.99 */
  double epsilon;             /* added to variances, from 1e-30 to 1e30; default 1e-8 */
} rlcore_vec_normalize_config;

/* The small part of a normaliser's statistics. */
typedef struct rlcore_vec_normalize_stats {
  uint32_t struct_size;  /* sizeof(rlcore_vec_normalize_stats) */
  uint32_t frozen;       /* 1 while the statistics stay as they are */
  double obs_count;      /* observations merged, and 1e-4 */
  double return_mean;    /* mean of the discounted sums of rewards */
  double return_var;     /* their population variance; rewards are divided by its root */
  double return_count;   /* sums merged, and 1e-4 */
} rlcore_vec_normalize_stats;

/* Fills in the defaults. */
rlcore_status rlcore_vec_normalize_config_init(rlcore_vec_normalize_config *config, size_t config_size);

/* Size of the block for this configuration, in bytes. */
rlcore_status rlcore_vec_normalize_size(const rlcore_vec_normalize_config *config, size_t *out_size);

/* Creates a normaliser in mem: means 0, variances 1, counts 1e-4. */
rlcore_status rlcore_vec_normalize_init(void *mem, size_t mem_size, const rlcore_vec_normalize_config *config,
                                        rlcore_vec_normalize **out);

/* Accepts bytes that a normaliser was copied to, in this process or another. */
rlcore_status rlcore_vec_normalize_attach(void *mem, size_t mem_size, rlcore_vec_normalize **out);

/* Takes the first observations of all environments: merges them into the statistics and writes them normalised; the
   discounted sums start at 0.
   obs, out_obs: [N, obs_len]; may be the same array.
   Errors: E_VALUE for a number that is not finite. */
rlcore_status rlcore_vec_normalize_reset(rlcore_vec_normalize *v, const float *obs, float *out_obs);

/* Takes the first observation of environment `index` alone, as rlcore_vecenv_reset_one wrote it.
   obs, out_obs: [N, obs_len], of which that row is used; may be the same array.
   Errors: as rlcore_vec_normalize_reset; E_RANGE. */
rlcore_status rlcore_vec_normalize_reset_one(rlcore_vec_normalize *v, uint32_t index, const float *obs, float *out_obs);

/* Normalises what rlcore_vecenv_step, or the caller's own batch, returned; one call for the whole batch. In this order:
   merges obs and normalises it with the result; adds reward to the discounted sums, merges those and scales reward by
   their deviation; normalises final_obs without merging it; starts the sums of ended episodes again. A row that was only
   reset (valid 0) counts as an observation, its reward does not count.
   step: obs and final_obs are float; final_obs may be NULL; valid NULL: every row was stepped.
   out:  where obs, reward and final_obs go, each of which may be the same array as in step; its other fields are not
         used. NULL: over those of step.
   Errors: E_CONFIG; E_VALUE for a number that is not finite, in final_obs in a row that ended. Nothing changes then,
   neither statistics nor arrays. */
rlcore_status rlcore_vec_normalize_step(rlcore_vec_normalize *v, const rlcore_vecenv_out *step,
                                        const rlcore_vecenv_out *out);

/* Normalises any number of observations with the statistics as they are, for a policy that acts elsewhere.
   obs, out_obs: [num_rows, obs_len]; may be the same array.
   Errors: as rlcore_vec_normalize_reset. */
rlcore_status rlcore_vec_normalize_obs(rlcore_vec_normalize *v, uint32_t num_rows, const float *obs, float *out_obs);

/* 1: reset and step normalise and change nothing in the block, as an evaluation wants it; 0: the statistics follow again,
   and the discounted sums go on from where they were.
   Errors: E_RANGE for another number. */
rlcore_status rlcore_vec_normalize_freeze(rlcore_vec_normalize *v, uint32_t frozen);

/* Merges the statistics of another normaliser into this one's, as if this one had seen its observations too. Each brings
   its initial count of 1e-4 along. The other may have another num_envs; it is only read.
   Errors: E_CONFIG for another obs_len; E_RANGE for counts beyond 2^64. */
rlcore_status rlcore_vec_normalize_merge(rlcore_vec_normalize *v, rlcore_vec_normalize *other);

/* Copies the statistics out. mean, variance: [obs_len] to write; NULL leaves one out.
   Errors: E_CONFIG. */
rlcore_status rlcore_vec_normalize_statistics(rlcore_vec_normalize *v, double *mean, double *variance,
                                              rlcore_vec_normalize_stats *out);

/* ---- Frame memories: every frame once, stacks when they are read ---- */

/* How the frames of a stack lie, oldest first. */
typedef enum rlcore_layout {
  RLCORE_LAYOUT_HWC = 0,  /* [height, width, channels * num_stack]: on the last axis, as environments stack them */
  RLCORE_LAYOUT_CHW = 1,  /* [channels * num_stack, height, width]: each channel a plane, as convolutions want them */
} rlcore_layout;

/* Rings of frames, one an environment: the caller's own block. A frame is kept once, however many stacks it is in. Frames
   are numbered from 0 in each environment, numbers are never reused, and a full ring forgets its oldest frame. The slots
   of a stack before the first frame of an episode repeat that frame. */
typedef struct rlcore_lazy_frames rlcore_lazy_frames;

/* What rings of frames are made from. Frames are bytes, [height, width, channels]; for frames that come as [channels,
   height, width] give 1 channel and height * channels as the height. */
typedef struct rlcore_lazy_frames_config {
  uint32_t struct_size;  /* bytes; set by rlcore_lazy_frames_config_init */
  uint32_t num_envs;     /* N, at least 1; default 1 */
  uint32_t num_frames;   /* frames kept of each environment, at least num_stack, 1 more for transitions; default 10000 */
  uint32_t height;       /* default 84 */
  uint32_t width;        /* default 84 */
  uint32_t channels;     /* bytes of a pixel; default 1 */
  uint32_t num_stack;    /* frames of a stack, 1 to 16; default 4 */
} rlcore_lazy_frames_config;

/* A frame; with a transition, the newest frame of its observation. */
typedef struct rlcore_frame_index {
  uint64_t number;    /* number of the frame, as it was pushed */
  uint32_t env;       /* number of its environment */
  uint32_t reserved;  /* zero */
} rlcore_frame_index;

/* Fills in the defaults. */
rlcore_status rlcore_lazy_frames_config_init(rlcore_lazy_frames_config *config, size_t config_size);

/* Size of the block for this configuration, in bytes. */
rlcore_status rlcore_lazy_frames_size(const rlcore_lazy_frames_config *config, size_t *out_size);

/* Bytes of a block for each transition it can keep, rounded up: one frame and what is known about it. An episode of L
   transitions keeps L + 1 frames. Errors: E_CONFIG. */
rlcore_status rlcore_lazy_frames_bytes_per_transition(const rlcore_lazy_frames_config *config, uint64_t *out_bytes);

/* Creates empty rings in mem. */
rlcore_status rlcore_lazy_frames_init(void *mem, size_t mem_size, const rlcore_lazy_frames_config *config,
                                      rlcore_lazy_frames **out);

/* Accepts bytes that a block was copied to, in this process or another. */
rlcore_status rlcore_lazy_frames_attach(void *mem, size_t mem_size, rlcore_lazy_frames **out);

/* Accepts bytes that another process pushes frames to meanwhile, for calls with a const object: see Sharing.
    */
rlcore_status rlcore_lazy_frames_attach_reader(const void *mem, size_t mem_size, const rlcore_lazy_frames **out);

/* Appends a frame to the ring of environment `env`.
   frame:      [height, width, channels], copied.
   first:      1 if it starts an episode, else 0.
   out_number: its number; NULL: not asked for.
   Errors: E_RANGE; E_NOT_READY for a ring without frames unless first. */
rlcore_status rlcore_lazy_frames_push(rlcore_lazy_frames *l, uint32_t env, const uint8_t *frame, uint32_t first,
                                      uint64_t *out_number);

/* Appends one step of environments [begin, end); the arrays are those of all N, only the rows of the range are used.
   frame:       [N, height, width, channels] the frame to act on next.
   first:       [N] 1 where that frame starts an episode.
   final_frame: [N, height, width, channels] where first, the last frame of the episode that ended in this step, pushed
                before the other; NULL: no episode ended, or its last frame was pushed already.
   number:      [N] to write, the numbers of the frames to act on next; NULL: not asked for. The transition of the step
                is that of the number written one step before, whether an episode ended or not.
   Threads: calls on disjoint ranges may run at once; results do not depend on the split.
   Errors: E_RANGE; E_NOT_READY for a ring without frames unless first without a final_frame. */
rlcore_status rlcore_lazy_frames_push_range(rlcore_lazy_frames *l, uint32_t begin, uint32_t end, const uint8_t *frame,
                                            const uint8_t *first, const uint8_t *final_frame, uint64_t *number);

/* Numbers of the frames that environment `env` still holds: from *out_begin, below *out_end. Every frame from *out_begin +
   num_stack - 1 on has its stack, and those before it whose episode starts within the range.
   Errors: E_RANGE. */
rlcore_status rlcore_lazy_frames_held(const rlcore_lazy_frames *l, uint32_t env, uint64_t *out_begin,
                                      uint64_t *out_end);

/* Copies frames as they were pushed, from `number` on.
   frames: [num_frames, height, width, channels] to write.
   first:  [num_frames] to write, 1 where a frame starts an episode.
   Errors: E_RANGE if one of them is not held. */
rlcore_status rlcore_lazy_frames_read(const rlcore_lazy_frames *l, uint32_t env, uint64_t number, uint32_t num_frames,
                                      uint8_t *frames, uint8_t *first);

/* Where a frame lies in the block: [height, width, channels], as it was pushed, until num_frames newer ones are.
   Errors: E_RANGE if it is not held. */
rlcore_status rlcore_lazy_frames_frame(const rlcore_lazy_frames *l, uint32_t env, uint64_t number,
                                       const uint8_t **out_frame);

/* Numbers of the frames that stack `number` is made of, oldest first. numbers: [num_stack] to write.
   Errors: E_RANGE if one of them is not held. */
rlcore_status rlcore_lazy_frames_indices(const rlcore_lazy_frames *l, uint32_t env, uint64_t number, uint64_t *numbers);

/* Writes the stack whose newest frame is `number`. Errors: as rlcore_lazy_frames_gather. */
rlcore_status rlcore_lazy_frames_stack(const rlcore_lazy_frames *l, uint32_t env, uint64_t number, uint32_t layout,
                                       uint32_t kind, void *out);

/* Writes the stacks of num_rows frames.
   index:  [num_rows] the newest frame of each stack.
   layout: an rlcore_layout.
   kind:   RLCORE_U8: bytes as they were pushed; RLCORE_F32: from 0 to 1, each byte / 255.
   out:    [num_rows, num_stack * frame_len] of that kind, to write.
   Errors: E_RANGE for layout, kind, an environment, or a frame that is not held or not pushed yet. */
rlcore_status rlcore_lazy_frames_gather(const rlcore_lazy_frames *l, const rlcore_frame_index *index, uint32_t num_rows,
                                        uint32_t layout, uint32_t kind, void *out);

/* Writes observations and next observations of num_rows transitions: index[i] is the newest frame of observation i, the
   frame after it is the newest of next observation i. Frames that both have are read once.
   obs, next_obs: [num_rows, num_stack * frame_len] of that kind, to write.
   Errors: as rlcore_lazy_frames_gather; E_RANGE for a frame that is the last of its episode. */
rlcore_status rlcore_lazy_frames_gather_transitions(const rlcore_lazy_frames *l, const rlcore_frame_index *index,
                                                    uint32_t num_rows, uint32_t layout, uint32_t kind, void *obs,
                                                    void *next_obs);

/* Takes the newest frame out of a stack of bytes: what to push where an environment stacks its frames itself.
   stack: [num_stack * frame_len] as `layout`, an rlcore_layout, says; num_stack is 1 to 16.
   frame: [frame_len] to write, channels last; frame_len is a multiple of channels.
   Errors: E_RANGE; E_SHAPE. */
rlcore_status rlcore_lazy_frames_newest(const uint8_t *stack, uint32_t num_stack, uint32_t channels, uint32_t layout,
                                        uint8_t *frame, size_t frame_len);

/* ---- Columns: what memories, rollouts and trajectories keep of a step ---- */

/* A column of a replay memory: something that every row has. Zeros beyond kind and len mean plain elements. */
typedef struct rlcore_column {
  char name[24];  /* 1 to 23 ASCII characters, zeros after them */
  uint32_t kind;  /* an rlcore_element */
  uint32_t len;   /* elements of a row, at least 1; with stacks, those of one frame */
  /* 0 or 1; or k up to 16, with RLCORE_U8: rows keep one frame each and are read as the stack of the k newest frames of
     the episode, the first one repeated where there are fewer */
  uint32_t num_stack;
  uint32_t channels;  /* bytes of a pixel, a divisor of len; 0 is 1, and the only value without RLCORE_U8 */
} rlcore_column;

/* ---- Replay memory: the last frames, sampled in sequences that rewards balance ---- */

/* By which rule sequences are drawn. */
typedef enum rlcore_draw_rule {
  RLCORE_DRAW_FIXED = 0,     /* sequences without gaps within one episode, every frame reachable */
  RLCORE_DRAW_ORIGINAL = 1,  /* those of the reference implementation, some with a gap or across episodes */
} rlcore_draw_rule;

/* The last frames of a stream of episodes: the caller's own block. Frames are numbered from 0, numbers are never reused,
   and a full memory forgets its oldest frame. Frames with max_sample_size - 1 predecessors (and those that their oldest
   stack reads) are in one of two pools: priority frames, |reward| > reward_threshold or NaN, and ordinary ones.
   Calls with a const memory may run on several threads at once, others alone. */
typedef struct rlcore_memory rlcore_memory;

/* What a memory is made from. */
typedef struct rlcore_memory_config {
  uint32_t struct_size;           /* bytes; set by rlcore_memory_config_init */
  uint32_t history_size;          /* frames kept, at least max_sample_size + num_stack of any column - 1; default 2000 */
  uint32_t max_sample_size;       /* longest sequence of a priority draw, in frames, at least 1; default 20 */
  uint32_t priority_sample_size;  /* of a priority draw that names none; 0, the default, is max_sample_size */
  float reward_threshold;         /* |reward| above this makes a frame a priority frame; finite, at least 0; default 0.1 */
  uint32_t use_priority;          /* 1, the default: priority draws may be asked for, for 8 bytes a frame; 0: E_DISABLED */
  uint32_t num_columns;           /* 1 to 16 */
  uint32_t reserved;              /* zero */
  const rlcore_column *columns;   /* [num_columns] what a frame holds beside reward and flags, copied */
} rlcore_memory_config;

/* One step of an episode, without the values of its columns. */
typedef struct rlcore_frame {
  uint64_t episode;     /* number of the episode, any that differs from the one before */
  uint32_t step;        /* number of the step within the episode; the next frame continues with step + 1 */
  float reward;         /* of the step */
  uint8_t terminated;   /* nonzero: the task ended */
  uint8_t truncated;    /* nonzero: the episode was cut */
  uint8_t reserved[6];  /* zero */
} rlcore_frame;

/* What to draw. Zero is the default of every field but struct_size. */
typedef struct rlcore_draw {
  uint32_t struct_size;  /* sizeof(rlcore_draw) */
  uint32_t size;         /* frames without burn-in; 0: priority_sample_size, in uniform draws max_sample_size */
  uint32_t burn_in;      /* frames of the same episode to put before it, fewer where it begins */
  uint32_t exact_size;   /* 1: draw again where an episode ends within the sequence */
  uint32_t skewness;     /* one in `skewness` priority draws ends on a priority frame; 0 is 2 */
  uint32_t attempts;     /* draws until one with exact_size fails; 0 is 100 */
  uint32_t rule;         /* an rlcore_draw_rule */
} rlcore_draw;

/* A sequence that was drawn: frames first to first + len - 1, if there is no gap. */
typedef struct rlcore_sample {
  uint64_t first;     /* number of the first frame */
  uint32_t len;       /* frames, those of the burn-in among them */
  uint32_t burn_in;   /* frames of the burn-in, the first ones */
  uint32_t gap;       /* frames left out before the last one; 0 but with RLCORE_DRAW_ORIGINAL */
  uint32_t priority;  /* 1 if it was drawn for its last frame as a priority frame */
} rlcore_sample;

/* Fills in the defaults. */
rlcore_status rlcore_memory_config_init(rlcore_memory_config *config, size_t config_size);

/* Size of the block for this configuration, in bytes. */
rlcore_status rlcore_memory_size(const rlcore_memory_config *config, size_t *out_size);

/* Creates an empty memory in mem. */
rlcore_status rlcore_memory_init(void *mem, size_t mem_size, const rlcore_memory_config *config, rlcore_memory **out);

/* Accepts bytes that a block was copied to, in this process or another: frames, pools and the stored random stream are
   as they were. mem is only read; nobody writes to it meanwhile. */
rlcore_status rlcore_memory_attach(void *mem, size_t mem_size, rlcore_memory **out);

/* Accepts bytes that another process adds frames to meanwhile, for calls with a const memory: see Sharing. A draw may name
   frames that are forgotten by the time they are gathered. */
rlcore_status rlcore_memory_attach_reader(const void *mem, size_t mem_size, const rlcore_memory **out);

/* Appends a frame. It continues the last one if that has not ended, in the same episode, one step later; if the last one
   has not ended and this is no continuation, the last one is marked truncated.
   values:     [num_columns] pointers to [len] elements each, copied; with stacks the newest frame.
   out_number: its number; NULL: not asked for.
   out_cuts:   1 if the last frame was marked truncated, else 0; NULL: not asked for.
   Errors: E_RANGE for a further frame of an episode that has ended. Nothing is written then. */
rlcore_status rlcore_memory_add(rlcore_memory *m, const rlcore_frame *frame, const void *const *values,
                                uint64_t *out_number, uint32_t *out_cuts);

/* Appends num_frames frames one after another, as rlcore_memory_add does, each of which has to follow the one before it;
   an error comes before anything is written.
   frames:     [num_frames]
   values:     [num_columns] pointers to [num_frames, len] elements each.
   out_number: number of the first; NULL: not asked for.
   out_cuts:   frames that were marked truncated; NULL: not asked for.
   Errors: as rlcore_memory_add; E_RANGE for no frame. */
rlcore_status rlcore_memory_add_rollout(rlcore_memory *m, const rlcore_frame *frames, uint32_t num_frames,
                                        const void *const *values, uint64_t *out_number, uint32_t *out_cuts);

/* Numbers of the frames that are held: from *out_begin, below *out_end. The memory is full when there are history_size. */
rlcore_status rlcore_memory_held(const rlcore_memory *m, uint64_t *out_begin, uint64_t *out_end);

/* How many frames the pools hold. */
rlcore_status rlcore_memory_pool_len(const rlcore_memory *m, uint32_t *out_ordinary, uint32_t *out_priority);

/* Number of frame i of a pool, oldest first. priority: 1 for priority frames, 0 for ordinary ones.
   Errors: E_RANGE. */
rlcore_status rlcore_memory_pool_number(const rlcore_memory *m, uint32_t priority, uint32_t i, uint64_t *out_number);

/* Draws num_samples sequences by their first frame, equally likely among those that leave room for `size`. A sequence stops
   after a frame that ended its episode, so one that starts there is this one frame. size is cut to what is held. Of a ring
   that is full, the frames whose stacks reach back to forgotten ones are not drawn: num_stack - 1 of them at most.
   RLCORE_DRAW_ORIGINAL draws from a full ring alone and needs a history_size of size + 2 at least. It knows of no stacks:
   where columns have them, it may draw what rlcore_memory_gather refuses, E_RANGE.
   draw:    what to draw; NULL: the defaults.
   samples: [num_samples] to write.
   Threads: any number, each with its own rng. Random numbers: one index a draw.
   Errors: E_CONFIG; E_RANGE for what draw says, or a size beyond that; E_NOT_READY if no frame is held, or with
   RLCORE_DRAW_ORIGINAL fewer than history_size. E_INEXACT with exact_size if a sequence is shorter than size after the
   last attempt: all samples are written, and len - burn_in tells which. */
rlcore_status rlcore_memory_sample_uniform(const rlcore_memory *m, rlcore_rng *rng, const rlcore_draw *draw,
                                           rlcore_sample *samples, uint32_t num_samples);

/* Draws num_samples sequences by their last frame: one in `skewness` is a priority frame, the others are ordinary ones,
   each equally likely in its pool; where one pool is empty the other serves. A sequence stays within
   its episode: it is shorter where that begins, or with exact_size drawn again from the same pool.
   draw:    what to draw; NULL: the defaults.
   samples: [num_samples] to write.
   Threads: any number, each with its own rng. Random numbers: a coin, then one index an attempt.
   Errors: as rlcore_memory_sample_uniform; E_DISABLED without use_priority; E_EMPTY while both pools are; E_RANGE for a
   size above max_sample_size, which RLCORE_DRAW_ORIGINAL cuts. E_BUSY, some samples written, beside a writer in another
   process that overwrites everything faster than this looks, or that was stopped amid the only frame that may be drawn. */
rlcore_status rlcore_memory_sample_priority(const rlcore_memory *m, rlcore_rng *rng, const rlcore_draw *draw,
                                            rlcore_sample *samples, uint32_t num_samples);

/* Copies one column of sequences, the frames of each and then zeros.
   samples: [num_samples]
   len:     frames of a row of out; no sequence is longer.
   column:  its number in the configuration.
   layout:  an rlcore_layout, of stacks.
   kind:    that of the column; or RLCORE_F32 for bytes, from 0 to 1.
   out:     [num_samples, len, row_len] to write, row_len being the elements of the column, of a whole stack.
   Errors: E_RANGE for a column, layout, kind or sample, and if a frame is not held or has been forgotten since the
   draw. */
rlcore_status rlcore_memory_gather(const rlcore_memory *m, const rlcore_sample *samples, uint32_t num_samples,
                                   uint32_t len, uint32_t column, uint32_t layout, uint32_t kind, void *out);

/* Copies what is known of the frames of sequences, and zeros after those that are shorter than len.
   reward, terminated, truncated: [num_samples, len] to write; NULL: not asked for.
   valid: [num_samples, len] to write, 1 where there is a frame; NULL: not asked for.
   Errors: as rlcore_memory_gather. */
rlcore_status rlcore_memory_gather_frames(const rlcore_memory *m, const rlcore_sample *samples, uint32_t num_samples,
                                          uint32_t len, float *reward, uint8_t *terminated, uint8_t *truncated,
                                          uint8_t *valid);

/* Keeps a random stream in the block, so that one image holds all that a run goes on from; at first that of seed 0 is
   there. */
rlcore_status rlcore_memory_store_rng(rlcore_memory *m, const rlcore_rng *rng);

/* Copies the stored random stream out. Errors: E_BUSY only beside a writer in another process that leaves no moment to
   look. */
rlcore_status rlcore_memory_load_rng(const rlcore_memory *m, rlcore_rng *rng);

/* ---- Replay memory: transitions, sampled by priority ---- */

/* By what corrections are divided, so that the largest is 1. */
typedef enum rlcore_replay_normalize {
  RLCORE_REPLAY_NORMALIZE_MEMORY = 0,  /* the largest in the memory */
  RLCORE_REPLAY_NORMALIZE_BATCH = 1,   /* the largest of the batch */
  RLCORE_REPLAY_NORMALIZE_NONE = 2,    /* nothing: (N * probability)^-beta */
} rlcore_replay_normalize;

/* Transitions of N environments, drawn in proportion to priorities: the caller's own block. A row is one step of one
   environment; rows of an environment are numbered from 0, numbers are never reused, and a full memory forgets the oldest
   row. Row t is a transition once row t + num_steps is there, or the tail that keeps the last observation of an episode:
   an episode of L steps takes L + 1 rows. Calls with a const memory may run on several threads at once, others alone. */
typedef struct rlcore_replay rlcore_replay;

/* What a replay memory is made from. */
typedef struct rlcore_replay_config {
  uint32_t struct_size;          /* bytes; set by rlcore_replay_config_init */
  uint32_t num_envs;             /* N, at least 1; default 1 */
  uint32_t num_rows;             /* rows kept of each environment, at least num_steps + any num_stack; default 100000 */
  uint32_t num_columns;          /* 1 to 16 */
  const rlcore_column *columns;  /* [num_columns] what a row holds, copied */
  uint32_t observations;         /* bit c: column c is an observation, of the row ahead too; default 1, the first */
  uint32_t num_steps;            /* steps of a transition, 1 to 255; default 1 */
  float discount;                /* of a step, 0 to 1; default 0.99 */
  float alpha;                   /* weights are (|priority| + epsilon)^alpha, alpha 0 to 1; default 0.6 */
  float epsilon;                 /* a normal number above 0, at most 1e30; default 1e-6 */
  uint32_t reserved;             /* zero */
} rlcore_replay_config;

/* What a replay memory knows of its transitions. */
typedef struct rlcore_replay_stats {
  uint32_t struct_size;      /* sizeof(rlcore_replay_stats) */
  float alpha;               /* exponent of the weights that are given from now on */
  uint64_t num_transitions;  /* transitions that may be drawn */
  double total;              /* sum of their weights */
  float min_weight;          /* smallest weight; infinite if there is none */
  float max_priority;        /* largest |priority| + epsilon ever given, at first 1: what new transitions have */
} rlcore_replay_stats;

/* Fills in the defaults. */
rlcore_status rlcore_replay_config_init(rlcore_replay_config *config, size_t config_size);

/* Size of the block for this configuration, in bytes. */
rlcore_status rlcore_replay_size(const rlcore_replay_config *config, size_t *out_size);

/* Creates an empty memory in mem. */
rlcore_status rlcore_replay_init(void *mem, size_t mem_size, const rlcore_replay_config *config, rlcore_replay **out);

/* Accepts bytes that a block was copied to, in this process or another: transitions, priorities and the random stream are
   as they were. */
rlcore_status rlcore_replay_attach(void *mem, size_t mem_size, rlcore_replay **out);

/* Accepts bytes that another process adds rows to meanwhile, for calls with a const memory: see Sharing. A draw follows
   weights as they are while it goes on. */
rlcore_status rlcore_replay_attach_reader(const void *mem, size_t mem_size, const rlcore_replay **out);

/* Appends one step of environment `env`.
   values:       [num_columns] pointers to [len] elements each, copied: what was observed before the action, and so on.
   reward:       of the step, finite.
   terminated, truncated: 1 if the step ended the episode so, else 0.
   final_values: [num_columns] pointers; in the columns of observations to [len] elements, the last observation of the
                 episode; the others are not looked at. NULL: the episode goes on.
   out_number:   number of the row; NULL: not asked for.
   Errors: E_RANGE; E_VALUE; E_SHAPE if final_values is missing. */
rlcore_status rlcore_replay_add(rlcore_replay *r, uint32_t env, const void *const *values, float reward,
                                uint32_t terminated, uint32_t truncated, const void *const *final_values,
                                uint64_t *out_number);

/* Appends one step of every environment: as rlcore_replay_add, with the arrays of all N.
   values:       [num_columns] pointers to [N, len] elements.
   reward, terminated, truncated: [N].
   final_values: [num_columns] pointers, in the columns of observations to [N, len] elements, read where an episode ended;
                 NULL: none did.
   Errors: as rlcore_replay_add, of any environment; nothing is written then. */
rlcore_status rlcore_replay_add_all(rlcore_replay *r, const void *const *values, const float *reward,
                                    const uint8_t *terminated, const uint8_t *truncated,
                                    const void *const *final_values);

/* What the memory knows of its transitions. out: its struct_size is set.
   Errors: E_CONFIG. */
rlcore_status rlcore_replay_get_stats(const rlcore_replay *r, rlcore_replay_stats *out);

/* Changes the exponent of the weights that are given from now on; those that are there stay.
   Errors: E_RANGE if it is not from 0 to 1. */
rlcore_status rlcore_replay_set_alpha(rlcore_replay *r, float alpha);

/* Where an alpha or a beta is that goes from `initial` to `end` in a straight line while `progress` goes from 0 to 1.
   out: [1] to write.
   Errors: E_RANGE for another progress; E_VALUE. */
rlcore_status rlcore_replay_linear(float initial, float end, float progress, float *out);

/* Draws num_rows transitions in proportion to their weights.
   beta:        exponent of the corrections, at least 0; 0.4 rising to 1 is usual.
   normalize:   an rlcore_replay_normalize.
   independent: 0: one transition from each of num_rows equal parts of the memory; 1: each from all of it.
   index:       [num_rows] to write, the rows where they begin.
   weight:      [num_rows] to write, the corrections (N * probability)^-beta, normalized.
   probability: [num_rows] to write, that each had of being drawn; NULL: not asked for.
   Threads: any number, each with its own rng.
   Errors: E_RANGE; E_VALUE; E_NOT_READY if no transition may be drawn; E_BUSY, some rows written, only beside a writer
   that overwrites faster than this draws, or that was stopped amid all there is. */
rlcore_status rlcore_replay_sample(const rlcore_replay *r, rlcore_rng *rng, uint32_t num_rows, float beta,
                                   uint32_t normalize, uint32_t independent, rlcore_frame_index *index, float *weight,
                                   float *probability);

/* Gives transitions their priorities, as a rule the absolute temporal-difference errors; of one that comes twice the later
   counts. Those that were forgotten since they were drawn are passed over.
   index:         [num_rows] as rlcore_replay_sample gave them.
   priority:      [num_rows] finite, at least 0.
   out_forgotten: how many were passed over; NULL: not asked for.
   Errors: E_VALUE; E_RANGE for a negative priority or rows that never were a transition. Nothing is written then. */
rlcore_status rlcore_replay_update(rlcore_replay *r, const rlcore_frame_index *index, const float *priority,
                                   uint32_t num_rows, uint64_t *out_forgotten);

/* Writes what transitions are beside their columns; NULL skips an array.
   index:    [num_rows] as rlcore_replay_sample gave them.
   reward:   [num_rows] sum of discount^i * reward over the steps of the transition.
   discount: [num_rows] discount^steps, what the value of the next observation counts; 0 where the last step terminated.
   terminated, truncated: [num_rows] 1 if the last step ended the episode so.
   Errors: E_RANGE for a transition that has been forgotten. */
rlcore_status rlcore_replay_transitions(const rlcore_replay *r, const rlcore_frame_index *index, uint32_t num_rows,
                                        float *reward, float *discount, uint8_t *terminated, uint8_t *truncated);

/* Writes a column of num_rows transitions, of the rows where they begin.
   column: its number.
   index:  [num_rows] as rlcore_replay_sample gave them.
   layout: an rlcore_layout, for stacks and channels.
   kind:   that of the column; or RLCORE_F32 for bytes: from 0 to 1, each byte / 255.
   out:    [num_rows, row_len] of that kind, to write, row_len being the column's len, or a whole stack of it.
   Errors: E_RANGE for column, layout, kind, or a transition that has been forgotten. */
rlcore_status rlcore_replay_gather(const rlcore_replay *r, uint32_t column, const rlcore_frame_index *index,
                                   uint32_t num_rows, uint32_t layout, uint32_t kind, void *out);

/* Writes a column of observations of the rows that num_rows transitions lead to; otherwise as rlcore_replay_gather.
   Errors: as rlcore_replay_gather; E_RANGE for a column that is no observation. */
rlcore_status rlcore_replay_gather_next(const rlcore_replay *r, uint32_t column, const rlcore_frame_index *index,
                                        uint32_t num_rows, uint32_t layout, uint32_t kind, void *out);

/* Takes a copy of a random stream into the block, so that it is saved with it; nothing draws from it. */
rlcore_status rlcore_replay_store_rng(rlcore_replay *r, const rlcore_rng *rng);

/* Gives the random stream back that rlcore_replay_store_rng has taken; at first, the one that rlcore_rng_seed begins with
   0. Errors: E_BUSY only beside a writer that leaves no moment to look. */
rlcore_status rlcore_replay_load_rng(const rlcore_replay *r, rlcore_rng *rng);

/* ---- Hindsight: goals that an episode did reach ---- */

/* Where in its episode a step's new goal comes from. Row t of an episode is what was achieved when obs[t] was seen: step
   t leads to row t + 1, and T steps have T + 1 rows. */
typedef enum rlcore_relabel_strategy {
  RLCORE_RELABEL_FUTURE = 0,   /* rows t + 1 to T: achieved by this step or a later one */
  RLCORE_RELABEL_FINAL = 1,    /* row T: achieved by the last step */
  RLCORE_RELABEL_EPISODE = 2,  /* rows 1 to T: achieved by any step */
} rlcore_relabel_strategy;

/* Steps to be judged by other goals. B = num_steps, G = goal_len, R = num_rows. */
typedef struct rlcore_relabel {
  uint32_t struct_size;      /* sizeof(rlcore_relabel) */
  uint32_t num_steps;        /* B */
  uint32_t goal_len;         /* G, at least 1 */
  uint32_t num_rows;         /* R */
  const float *achieved;     /* [R, G] achieved goals, of any number of episodes */
  const uint32_t *row;       /* [B] the row of what each step led to */
  const uint32_t *goal_row;  /* [B] the row of its new goal */
} rlcore_relabel;

/* Judges what a step achieved by a goal. achieved, goal: [goal_len]; reward: [1] to write; terminated: [1], 0 before the
   call, 1 to write if that is the end. Returns 0, or nonzero to stop with E_CALLBACK. */
typedef int32_t (*rlcore_goal_fn)(void *user, const float *achieved, const float *goal, float *reward,
                                  uint8_t *terminated);

/* Draws for step[b] of an episode of num_steps[b] steps the row, counted from the episode's first, of the achieved goal
   that becomes its goal; each that the strategy allows is equally likely. strategy: an rlcore_relabel_strategy; step,
   num_steps: [len]; goal_step: [len] to write. Advances rng by at most one bounded draw a step.
   Errors: E_IMAGE for a stream that was never seeded; E_RANGE for the strategy or a step that its episode does not
   have. */
rlcore_status rlcore_relabel_draw(uint32_t strategy, const uint32_t *step, const uint32_t *num_steps, size_t len,
                                  rlcore_rng *rng, uint32_t *goal_step);

/* Copies the new goals and asks the callback for what goes with them, step by step. goal: [B, G], reward: [B],
   terminated: [B], to write.
   Errors: E_CONFIG; E_SHAPE; E_RANGE for a row of R or more; E_VALUE for an achieved goal that is not finite: nothing
   is written. E_CALLBACK, E_VALUE for a reward: those before are done. */
rlcore_status rlcore_relabel_goals(const rlcore_relabel *steps, rlcore_goal_fn judge, void *user, float *goal,
                                   float *reward, uint8_t *terminated);

/* ---- Kernels, without state or block: advantages and returns ---- */

/* What a recursion over time is summed in. */
typedef enum rlcore_accumulate {
  RLCORE_ACCUMULATE_F32 = 0,  /* f32: at the speed of memory */
  RLCORE_ACCUMULATE_F64 = 1,  /* f64, rounded once to what is written */
} rlcore_accumulate;

/* What N environments did in T steps, time-major. Step t led from obs[t] to obs[t+1]. */
typedef struct rlcore_rollout {
  uint32_t struct_size;          /* sizeof(rlcore_rollout) */
  uint32_t num_steps;            /* T, at least 1 */
  uint32_t num_envs;             /* N, at least 1 */
  uint32_t accumulate;           /* what the recursion is summed in: an rlcore_accumulate; 0 is f32 */
  const float *reward;           /* [T, N] */
  const float *value;            /* [T, N] V(obs[t]) */
  const float *bootstrap_value;  /* [N] value of the observation after the last step */
  const uint8_t *terminated;     /* [T, N] */
  const uint8_t *truncated;      /* [T, N] */
  const float *final_value;      /* [T, N] V(final_obs), read only where truncated; NULL only if nothing is */
} rlcore_rollout;

/* Generalised advantage estimation. Both outputs [T, N]; neither may overlap an input or the other.
     next[t]      = 0 where terminated, else final_value[t] where truncated, else value[t+1] (bootstrap_value at T-1)
     delta[t]     = reward[t] + discount * next[t] - value[t]
     advantage[t] = delta[t] + discount * gae_lambda * (0 if ended[t] or t = T-1, else advantage[t+1])
     value_target = advantage + value
   Errors: E_CONFIG for another struct_size or accumulate; E_SHAPE if T or N is 0; E_RANGE for a discount or gae_lambda
   outside [0, 1]; E_VALUE for one that is NaN or infinite, and for a number that is read and not finite, which is
   found while computing: the outputs then hold nothing of meaning. Finite numbers near the end of f32 may overflow, to
   infinities or NaN in the outputs, with RLCORE_OK. */
rlcore_status rlcore_gae(const rlcore_rollout *rollout, float discount, float gae_lambda, float *advantage,
                         float *value_target);

/* As rlcore_gae for the environments [begin, end): all arrays are those of the whole rollout, only these columns are read
   and written, and results do not depend on the split.
   Threads: calls on disjoint ranges may run at once. Ranges that begin at multiples of 16 share no cache line of arrays
   that begin on one.
   Errors: as there; E_RANGE unless begin <= end <= num_envs. */
rlcore_status rlcore_gae_range(const rlcore_rollout *rollout, float discount, float gae_lambda, uint32_t begin,
                               uint32_t end, float *advantage, float *value_target);

/* Discounted sums: out[t] = x[t] + discount * out[t+1], with 0 after the last step. x, out: [T, N]; may be the same array.
   Errors: E_SHAPE if T or N is 0; E_RANGE for a discount outside [0, 1]; E_VALUE for one that is NaN or infinite, and
   for a number that is not finite, which is found while computing: out then holds nothing of meaning, unless it is x.
   Sums may overflow to infinity, with RLCORE_OK. */
rlcore_status rlcore_discounted_sum(const float *x, uint32_t num_steps, uint32_t num_envs, float discount, float *out);

/* ---- Rows: steps and frames that are copied, stacked and gathered ---- */

/* Room for rows that are copied: steps of N environments, or frames of a trajectory, of which N is 1. NULL leaves an array
   out. */
typedef struct rlcore_rows_out {
  uint32_t struct_size;  /* sizeof(rlcore_rows_out) */
  uint32_t num_rows;     /* most rows to copy */
  void *const *columns;  /* [num_columns] arrays, [num_rows, N, len] of each column's kind */
  float *reward;         /* [num_rows, N] what the action earned */
  float *value;          /* [num_rows, N] V of the state that was acted on */
  float *log_prob;       /* [num_rows, N] of the action; NULL for trajectories */
  float *final_value;    /* [num_rows, N] V(final_obs) where truncated and not terminated, else 0; NULL for trajectories */
  uint8_t *terminated;   /* [num_rows, N] */
  uint8_t *truncated;    /* [num_rows, N] */
  float *memory;         /* [num_rows, N, M] the policy's memory before the row */
} rlcore_rows_out;

/* Puts arrays behind one another, such as those of several trajectories.
   parts:    [num_parts] arrays, at most 64, of width elements a row of kind, an rlcore_element.
   num_rows: [num_parts] rows of each.
   out:      [num_out_rows, width] to write, num_out_rows being all rows together.
   Errors: E_CONFIG for the kind; E_RANGE for num_parts; E_SHAPE for num_out_rows. */
rlcore_status rlcore_rows_stack(const void *const *parts, const uint32_t *num_rows, uint32_t num_parts, uint32_t width,
                                uint32_t kind, void *out, uint32_t num_out_rows);

/* Copies rows: row index[i] of x becomes row i of out. A negative index counts from the end, -1 is the last row.
   x: [num_rows, width] of kind, an rlcore_element; index: [num_index]; out: [num_index, width] to write.
   Errors: E_CONFIG for the kind; E_SHAPE if width is 0; E_RANGE for a row that is not there. */
rlcore_status rlcore_rows_gather(const void *x, uint32_t num_rows, uint32_t width, uint32_t kind, const int64_t *index,
                                 uint32_t num_index, void *out);

/* Says which rows of padded arrays are real: the first time_steps[i] of part i.
   time_steps: [num_parts]; valid: [num_parts, size] to write, 1 or 0.
   Errors: E_RANGE for a part that is longer than size. */
rlcore_status rlcore_rows_valid(const uint32_t *time_steps, uint32_t num_parts, uint32_t size, uint8_t *valid);

/* Rows of a series, each one step later than the one before: out[i][j] = x[j - i] where j >= i, else 0.
   x: [len, width]; out: [len, len, width] to write. */
rlcore_status rlcore_shift_rows(const float *x, uint32_t len, uint32_t width, float *out);

/* ---- Rollouts: T steps of N environments, in minibatches ---- */

/* What a row of metrics is about. */
typedef enum rlcore_metric {
  RLCORE_METRIC_EPISODE_LENGTH = 0,  /* steps of an episode that ended */
  RLCORE_METRIC_EPISODE_RETURN = 1,  /* sum of the rewards of an episode that ended */
  RLCORE_METRIC_OWN = 2,             /* the first number that the caller may give a meaning */
} rlcore_metric;

/* What N environments did in T steps: the caller's own block. rlcore_rollout_buffer_add fills it,
   rlcore_rollout_buffer_finish computes advantages and closes it, rlcore_rollout_buffer_reset begins the next rollout.
   Samples are numbered environment by environment: step t of environment e is sample e * T + t, T being the steps that
   it was finished with. */
typedef struct rlcore_rollout_buffer rlcore_rollout_buffer;

/* What a rollout is made from. */
typedef struct rlcore_rollout_buffer_config {
  uint32_t struct_size;          /* bytes; set by rlcore_rollout_buffer_config_init */
  uint32_t num_steps;            /* T: most steps of a rollout, at least 1; default 128 */
  uint32_t num_envs;             /* N, at least 1; default 1 */
  uint32_t memory_len;           /* M: numbers of a recurrent policy's memory; default 0: none */
  uint32_t log_capacity;         /* rows of metrics held, at least 2 N; 0 (default): the larger of 1024 and 2 N */
  uint32_t num_columns;          /* 1 to 16 */
  uint64_t seed;                 /* what draws are seeded with; default 0 */
  const rlcore_column *columns;  /* [num_columns] what is kept of a step, without stacks; column 0 is the observation */
  uint32_t accumulate;           /* what advantages are summed in: an rlcore_accumulate; 0 (default) is f32 */
  uint32_t reserved;             /* zero */
} rlcore_rollout_buffer_config;

/* One step of all environments, with same-step autoreset: where an episode ended, the next step begins another one. */
typedef struct rlcore_rollout_step {
  uint32_t struct_size;  /* sizeof(rlcore_rollout_step) */
  uint32_t reserved;     /* zero */
  /* [num_columns] arrays, [N, len] of each column's kind: what the policy saw, did, and so on. NULL, or a NULL in
     it, leaves what rlcore_rollout_buffer_row was filled with */
  const void *const *columns;
  const float *reward;        /* [N] what the action earned */
  const float *value;         /* [N] V(obs); NULL: left out */
  const float *log_prob;      /* [N] of the action; NULL: left out */
  const uint8_t *terminated;  /* [N] */
  const uint8_t *truncated;   /* [N] */
  const float *final_value;   /* [N] V(final_obs), read where truncated and not terminated; NULL if nowhere, or no value */
  const float *memory;        /* [N, M] the policy's memory before the step; NULL if M is 0 */
  const float *raw_reward;    /* [N] what returns of episodes are summed from; NULL: reward */
} rlcore_rollout_step;

/* Arrays of a rollout beside those of rlcore_rollout, in the block: good until it is changed. */
typedef struct rlcore_rollout_extras {
  uint32_t struct_size;       /* sizeof(rlcore_rollout_extras) */
  uint32_t reserved;          /* zero */
  const float *log_prob;      /* [T, N]; NULL if a step left it out */
  const float *advantage;     /* [T, N]; NULL unless finished */
  const float *value_target;  /* [T, N]; NULL unless finished */
  const uint8_t *first;       /* [N] 1 where step 0 starts an episode */
  const float *memory;        /* [T, N, M]; NULL if M is 0 */
} rlcore_rollout_extras;

/* How far a rollout and the training around it have come. */
typedef struct rlcore_rollout_progress {
  uint32_t struct_size;  /* sizeof(rlcore_rollout_progress) */
  uint32_t num_steps;    /* steps that are held */
  uint64_t global_step;  /* steps of all environments since the block was made: N for each step added */
  uint64_t num_ended;    /* episodes that ended since the last reset */
  double len_mean;       /* their mean length; NaN of none */
  double return_mean;    /* their mean return; NaN of none */
  uint32_t finished;     /* 1: advantages are there */
  uint32_t reserved;     /* zero */
} rlcore_rollout_progress;

/* A part of a trajectory, or all of a short one. */
typedef struct rlcore_window {
  uint32_t first;     /* number of its first sample */
  uint32_t len;       /* samples, at least 1 */
  uint32_t pad;       /* rows that are padded before them: timesteps - len */
  uint32_t timestep;  /* steps of the trajectory before it */
} rlcore_window;

/* Room for a minibatch; NULL leaves an array out. Windows are what rlcore_rollout_buffer_gather copies, trajectories
   what rlcore_rollout_buffer_gather_windows does; L is window_len, or timesteps. */
typedef struct rlcore_minibatch {
  uint32_t struct_size;  /* sizeof(rlcore_minibatch) */
  uint32_t reserved;     /* zero */
  void *const *columns;  /* [num_columns] arrays, [rows, L, len] of each column's kind */
  float *log_prob;       /* [rows, L]; of trajectories [rows], that of the last sample, here and in the next four */
  float *value;          /* [rows, L] V(obs) when the action was chosen */
  float *advantage;      /* [rows, L] generalised advantage */
  float *value_target;   /* [rows, L] advantage + value */
  float *reward;         /* [rows, L] what the action earned */
  float *mask;           /* [rows, L] windows: 0 where an episode starts, else 1; trajectories: 0 where padded, else 1 */
  float *memory;         /* [rows, M] the policy's memory before the first sample of each row */
  int32_t *timestep;     /* [rows, L] steps of the trajectory before each sample, 0 where padded; NULL for windows */
} rlcore_minibatch;

/* A number worth logging. */
typedef struct rlcore_metric_row {
  uint64_t global_step;  /* steps of all environments before the step that it is about */
  double value;          /* the number */
  uint32_t env;          /* its environment; UINT32_MAX: of none in particular */
  uint32_t metric;       /* an rlcore_metric, or the caller's own from RLCORE_METRIC_OWN on */
} rlcore_metric_row;

/* Fills in the defaults. */
rlcore_status rlcore_rollout_buffer_config_init(rlcore_rollout_buffer_config *config, size_t config_size);

/* Size of the block for this configuration, in bytes. */
rlcore_status rlcore_rollout_buffer_size(const rlcore_rollout_buffer_config *config, size_t *out_size);

/* Creates an empty rollout in mem. */
rlcore_status rlcore_rollout_buffer_init(void *mem, size_t mem_size, const rlcore_rollout_buffer_config *config,
                                         rlcore_rollout_buffer **out);

/* Accepts bytes that a rollout was copied to, in this process or another. mem is only read, and not its columns. */
rlcore_status rlcore_rollout_buffer_attach(void *mem, size_t mem_size, rlcore_rollout_buffer **out);

/* Accepts bytes that another process adds steps to meanwhile, for calls with a const rollout: see Sharing. What those only
   point at may change at any time: rlcore_rollout_buffer_read copies it. */
rlcore_status rlcore_rollout_buffer_attach_reader(const void *mem, size_t mem_size, const rlcore_rollout_buffer **out);

/* Where row `step` of a column lies in the block, [N, len]: to be filled in place, before the step is added with NULL
   for the column. step is that of the step to be added next, the steps held so far; of column 0, the observation, also
   the one after it, so that environments may write the next observation while this one is still needed.
   Errors: E_RANGE. */
rlcore_status rlcore_rollout_buffer_row(rlcore_rollout_buffer *b, uint32_t column, uint32_t step, void **out_row);

/* Appends a step, and logs the length and the return of every episode that it ended under the global_step before it.
   What a writer does not have may be left out by name, step->value and step->log_prob as NULL. Until the next reset those
   that the rollout lacks of any step count as not there: rlcore_rollout_buffer_view and _extras give NULL for them, _finish
   and what comes after it need every value, and _read and _gather refuse to copy them, E_NOT_READY.
   Errors: E_NULL, also for a final_value that is missing; E_CONFIG; E_NOT_READY if the rollout is full or finished;
   E_VALUE for a number that is not finite; E_RANGE after 2^63 steps or metrics. Nothing changes then. */
rlcore_status rlcore_rollout_buffer_add(rlcore_rollout_buffer *b, const rlcore_rollout_step *step);

/* Closes the rollout: computes advantages and value targets of the steps that are held, once, as rlcore_gae does.
   bootstrap_value: [N] V of the observation after the last step.
   next_obs:        [N, len] of column 0: that observation, which a reset carries over; NULL leaves what
                    rlcore_rollout_buffer_row was filled with.
   Errors: E_NOT_READY if no step is held, it is finished, or a step left its value out; E_RANGE for a discount or
   gae_lambda outside [0, 1]; E_VALUE. Nothing changes then. */
rlcore_status rlcore_rollout_buffer_finish(rlcore_rollout_buffer *b, const float *bootstrap_value, const void *next_obs,
                                           float discount, float gae_lambda);

/* Begins the next rollout where this one stopped: steps, advantages and means of episodes are forgotten; the
   observation after the last step becomes row 0 of column 0, and episodes, metrics and global_step go on. */
rlcore_status rlcore_rollout_buffer_reset(rlcore_rollout_buffer *b);

/* What rlcore_gae reads, of the steps that are held: arrays in the block, good until it is changed. bootstrap_value is
   0 before the first rollout is finished; value and final_value are NULL if a step left its value out.
   out->struct_size is set by the caller.
   Errors: E_CONFIG. */
rlcore_status rlcore_rollout_buffer_view(const rlcore_rollout_buffer *b, rlcore_rollout *out);

/* The other arrays. out->struct_size is set by the caller. Errors: E_CONFIG. */
rlcore_status rlcore_rollout_buffer_extras(const rlcore_rollout_buffer *b, rlcore_rollout_extras *out);

/* Where a column lies in the block: [T, N, len] of the steps that are held; of column 0 [T + 1, N, len], the last row
   being the observation to act on next, once it is known. Good until the block is changed.
   Errors: E_RANGE. */
rlcore_status rlcore_rollout_buffer_column(const rlcore_rollout_buffer *b, uint32_t column, const void **out_column);

/* How far the rollout and the training around it have come. out->struct_size is set by the caller.
   Errors: E_CONFIG. */
rlcore_status rlcore_rollout_buffer_progress(const rlcore_rollout_buffer *b, rlcore_rollout_progress *out);

/* Copies steps out, in the order in which they came. They are numbered over all rollouts: step t of one is number
   global_step / N - num_steps + t, as rlcore_rollout_buffer_progress tells them. A reader keeps `next`, 0 at first.
   next:      [1] number of the step to begin with; becomes that of the first one not read.
   out_count: [1] steps copied, to the front of each array: at most out->num_rows, and those of this rollout.
   out_lost:  [1] steps that were forgotten before they were read, NULL to ignore.
   Errors: E_CONFIG; E_NOT_READY for an array that a step left out; E_RANGE for a next that is larger than the steps
   added so far; E_BUSY only beside a writer that leaves no moment to look. */
rlcore_status rlcore_rollout_buffer_read(const rlcore_rollout_buffer *b, uint64_t *next, const rlcore_rows_out *out,
                                         uint32_t *out_count, uint64_t *out_lost);

/* Cuts the rollout into windows of `recurrence` samples (1: single samples) and writes the first sample of each, in
   random order from the block's own stream: numpy's permutation of the windows. Minibatch k of minibatch_size samples
   is the minibatch_size / recurrence entries from k * minibatch_size / recurrence on.
   index: [index_len] to write, index_len = T * N / recurrence.
   Errors: E_NOT_READY unless finished; E_SHAPE for index_len; E_RANGE unless minibatch_size divides T * N, and
   recurrence divides T and minibatch_size. Nothing is written or drawn then. */
rlcore_status rlcore_rollout_buffer_draw(rlcore_rollout_buffer *b, uint32_t minibatch_size, uint32_t recurrence,
                                         uint32_t *index, uint32_t index_len);

/* Draws windows of at most `timesteps` samples from the block's own stream. Each is drawn in this order: a trajectory,
   each as likely as any other; if it is no longer than timesteps, all of it; else a number below 1, and if that is
   below end_chance the last samples; else the end, from timesteps to the trajectory's length, each as likely.
   Trajectories begin where episodes do, and with the rollout.
   windows: [num_windows] to write.
   Errors: E_NOT_READY unless finished; E_RANGE for 0 timesteps, or an end_chance outside [0, 1]. Nothing is written or
   drawn then. */
rlcore_status rlcore_rollout_buffer_draw_windows(rlcore_rollout_buffer *b, uint32_t timesteps, double end_chance,
                                                 rlcore_window *windows, uint32_t num_windows);

/* One of the steps that are held, each as likely, from the block's own stream: for a look at what is there.
   Errors: E_NOT_READY if there is none. */
rlcore_status rlcore_rollout_buffer_sample(rlcore_rollout_buffer *b, uint32_t *out_step);

/* Copies num_rows windows of window_len samples after one another: with window_len 1, samples.
   index: [num_rows] the first sample of each window, such as those of a minibatch of rlcore_rollout_buffer_draw.
   Threads: any number may gather at once, as long as nobody changes the block.
   Errors: E_CONFIG; E_SHAPE for a timestep that is not NULL; E_NOT_READY unless finished, or for a log_prob that a
   step left out; E_RANGE for a sample that is not there, or a window that leaves its environment. */
rlcore_status rlcore_rollout_buffer_gather(const rlcore_rollout_buffer *b, const uint32_t *index, uint32_t num_rows,
                                           uint32_t window_len, const rlcore_minibatch *out);

/* Copies windows of trajectories, padded on the left to `timesteps` rows: columns of kind RLCORE_I32 with pad_token,
   which should be no action, others with zeros. Advantages are those of the whole rollout.
   windows: [num_windows], such as those of rlcore_rollout_buffer_draw_windows with the same timesteps.
   Threads: any number may gather at once, as long as nobody changes the block.
   Errors: E_CONFIG; E_NOT_READY as above; E_RANGE for a window that is not inside one trajectory, or whose len and pad
   together are not timesteps. */
rlcore_status rlcore_rollout_buffer_gather_windows(const rlcore_rollout_buffer *b, const rlcore_window *windows,
                                                   uint32_t num_windows, uint32_t timesteps, int32_t pad_token,
                                                   const rlcore_minibatch *out);

/* Logs a number of the caller's own, of all environments, under the global_step so far. Of several of one metric in
   one step the last one counts.
   Errors: E_RANGE for a metric below RLCORE_METRIC_OWN, and after 2^63 of them; E_VALUE for a value that is not
   finite. */
rlcore_status rlcore_rollout_buffer_log(rlcore_rollout_buffer *b, uint32_t metric, double value);

/* Copies rows of metrics out, the oldest first. A reader keeps `next`, 0 at first, and loses nothing if it reads at
   least once in log_capacity rows; there may be several.
   next:      [1] number of the row to begin with; becomes that of the first one not read.
   rows:      [len] to write.
   out_count: [1] rows written; out_lost: [1] rows that were overwritten before they were read, NULL to ignore.
   Errors: E_RANGE for a next that is larger than the rows written. */
rlcore_status rlcore_rollout_buffer_read_log(const rlcore_rollout_buffer *b, uint64_t *next, rlcore_metric_row *rows,
                                             uint32_t len, uint32_t *out_count, uint64_t *out_lost);

/* Writes three lines, `global_step=`, `avg_episode_length=` and `avg_episode_return=`, with zeros before numbers of
   fewer than six characters and means to two places; nothing if no episode has ended since the last reset.
   text:    [text_size] to write, without NUL. NULL with 0: nothing is written.
   out_len: [1] bytes written, or needed.
   Errors: E_SIZE. */
rlcore_status rlcore_rollout_buffer_format_progress(const rlcore_rollout_buffer *b, char *text, size_t text_size,
                                                    size_t *out_len);

/* Writes `Sample i/T:` and a line for each array of a step: its name in ten columns, a colon, and the numbers of all
   environments.
   text, out_len: [text_size] and [1], as rlcore_rollout_buffer_format_progress has them.
   Errors: E_SIZE; E_RANGE for a step that is not held. */
rlcore_status rlcore_rollout_buffer_format_step(const rlcore_rollout_buffer *b, uint32_t step, char *text,
                                                size_t text_size, size_t *out_len);

/* ---- Trajectories: one episode or a part of it ---- */

/* What a reward is to reward prediction: the place of its 1 in a one-hot row of 3. */
typedef enum rlcore_reward_class {
  RLCORE_REWARD_ZERO = 0,      /* between the thresholds, or on one */
  RLCORE_REWARD_POSITIVE = 1,  /* above the threshold */
  RLCORE_REWARD_NEGATIVE = 2,  /* below its negative */
} rlcore_reward_class;

/* One trajectory, an episode or a part of it, frame by frame: the caller's own block. */
typedef struct rlcore_trajectory rlcore_trajectory;

/* What a trajectory is made from. */
typedef struct rlcore_trajectory_config {
  uint32_t struct_size;          /* bytes; set by rlcore_trajectory_config_init */
  uint32_t capacity;             /* most frames, at least 1; default 20 */
  uint32_t memory_len;           /* M: numbers of a recurrent policy's memory; default 0: none */
  uint32_t one_hot;              /* bit i: column i is one-hot and padded with element 0, not with zeros; default 0 */
  uint32_t num_columns;          /* 1 to 16 */
  uint32_t accumulate;           /* what returns and advantages are summed in: an rlcore_accumulate; 0 (default) is f32 */
  const rlcore_column *columns;  /* [num_columns] what is kept of a frame beside reward, value and flags, without stacks */
} rlcore_trajectory_config;

/* Frames in a row, to append: one that was just seen, or a sequence that a replay memory gathered. */
typedef struct rlcore_trajectory_frames {
  uint32_t struct_size;        /* sizeof(rlcore_trajectory_frames) */
  uint32_t num_frames;         /* at least 1 */
  const void *const *columns;  /* [num_columns] arrays, [num_frames, len] of each column's kind */
  const float *reward;         /* [num_frames] what the action earned */
  const float *value;          /* [num_frames] V of the state that was acted on; NULL: left out */
  const uint8_t *terminated;   /* [num_frames] the last one at most */
  const uint8_t *truncated;    /* [num_frames] the last one at most */
  const float *memory;         /* [num_frames, M] the policy's memory before the frame; NULL if M is 0 */
} rlcore_trajectory_frames;

/* The frames of a trajectory beside their columns, in the block: good until it is changed. */
typedef struct rlcore_trajectory_view {
  uint32_t struct_size;       /* sizeof(rlcore_trajectory_view) */
  uint32_t num_frames;        /* frames that are held */
  const float *reward;        /* [num_frames] */
  const float *value;         /* [num_frames]; NULL if a frame was added without */
  const uint8_t *terminated;  /* [num_frames] */
  const uint8_t *truncated;   /* [num_frames] */
  const float *memory;        /* [num_frames, M]; NULL if M is 0 */
} rlcore_trajectory_view;

/* Room for a processed trajectory; NULL leaves an array out, but for returns and advantage. */
typedef struct rlcore_trajectory_rows {
  uint32_t struct_size;  /* sizeof(rlcore_trajectory_rows) */
  uint32_t num_rows;     /* at least the frames: the others are padding; with time_flat exactly the frames */
  uint32_t time_flat;    /* 1: each frame is a sample of its own; 0: the trajectory is one */
  uint32_t reserved;     /* zero */
  void *const *columns;  /* [num_columns] arrays, [num_rows, len] of each column's kind */
  float *returns;        /* [num_rows] discounted sums of rewards to the end, and the value of what comes after it */
  float *advantage;      /* [num_rows] generalised advantages */
  float *memory;         /* [1, M] the memory before the first frame; with time_flat [num_rows, M], before each */
  uint32_t *time_steps;  /* [1] frames; with time_flat [num_rows] ones */
  uint8_t *valid;        /* [num_rows] 1 where a row is a frame, 0 where it is padding: means are of rows with 1 */
} rlcore_trajectory_rows;

/* Fills in the defaults. */
rlcore_status rlcore_trajectory_config_init(rlcore_trajectory_config *config, size_t config_size);

/* Size of the block for this configuration, in bytes. */
rlcore_status rlcore_trajectory_size(const rlcore_trajectory_config *config, size_t *out_size);

/* Creates an empty trajectory in mem. */
rlcore_status rlcore_trajectory_init(void *mem, size_t mem_size, const rlcore_trajectory_config *config,
                                     rlcore_trajectory **out);

/* Accepts bytes that a trajectory was copied to, in this process or another. mem is only read, and not its columns. */
rlcore_status rlcore_trajectory_attach(void *mem, size_t mem_size, rlcore_trajectory **out);

/* Accepts bytes that another process adds frames to meanwhile, for calls with a const trajectory: see Sharing. What those
   only point at may change at any time: rlcore_trajectory_read copies it. */
rlcore_status rlcore_trajectory_attach_reader(const void *mem, size_t mem_size, const rlcore_trajectory **out);

/* Appends frames. frames->value may be left out, as NULL, by a writer that has none: until no frame is held, what needs
   values is refused, E_NOT_READY, and rlcore_trajectory_held gives NULL for them.
   Errors: E_CONFIG; E_NOT_READY without room for all of them, or after a frame that ended its episode; E_SHAPE for no
   frame; E_RANGE if a frame but the last ends it, and after 2^63 frames; E_VALUE for a number that is not finite.
   Nothing changes then. */
rlcore_status rlcore_trajectory_add(rlcore_trajectory *t, const rlcore_trajectory_frames *frames);

/* Forgets the last frame; those that stay count as new ones.
   Errors: E_NOT_READY if there is none; E_RANGE after 2^63 frames. */
rlcore_status rlcore_trajectory_pop(rlcore_trajectory *t);

/* Forgets all frames. */
rlcore_status rlcore_trajectory_reset(rlcore_trajectory *t);

/* The frames that are held. out->struct_size is set by the caller.
   Errors: E_CONFIG. */
rlcore_status rlcore_trajectory_held(const rlcore_trajectory *t, rlcore_trajectory_view *out);

/* Where a column lies in the block: [num_frames, len]. Good until the block is changed.
   Errors: E_RANGE. */
rlcore_status rlcore_trajectory_column(const rlcore_trajectory *t, uint32_t column, const void **out_column);

/* Copies frames out, in the order in which they came. They are numbered for the life of the block; pop and reset give the
   numbers of all of them up, and those that a pop leaves count as new. A reader keeps `next`, 0 at first; with 0 each time
   it copies all that is held.
   next:      [1] number of the frame to begin with; becomes that of the first one not read.
   out_count: [1] frames copied, to the front of each array: at most out->num_rows.
   out_lost:  [1] frames that were forgotten before they were read, NULL to ignore.
   Errors: E_CONFIG; E_SHAPE for a log_prob or a final_value; E_NOT_READY for a value that was left out; E_RANGE for a
   next that is larger than the numbers given so far; E_BUSY only beside a writer that leaves no moment to look. */
rlcore_status rlcore_trajectory_read(const rlcore_trajectory *t, uint64_t *next, const rlcore_rows_out *out,
                                     uint32_t *out_count, uint64_t *out_lost);

/* Writes what a learner reads. Padded rows are zeros, or element 0 of one-hot columns.
     returns[t]   = reward[t] + discount * returns[t+1]
     delta[t]     = reward[t] + discount * value[t+1] - value[t]
     advantage[t] = delta[t] + discount * gae_lambda * advantage[t+1]
   where returns and value after the last frame are bootstrap_value, or 0 if that frame terminated.
   Trajectories that are processed into consecutive parts of larger arrays are a batch as they stand.
   Threads: any number may process at once, as long as nobody changes the block.
   Errors: E_CONFIG; E_NOT_READY without a frame, or its value; E_RANGE for a discount or gae_lambda outside [0, 1], or
   num_rows; E_VALUE for a bootstrap_value that is used and not finite. */
rlcore_status rlcore_trajectory_process(const rlcore_trajectory *t, float discount, float gae_lambda,
                                        float bootstrap_value, const rlcore_trajectory_rows *out);

/* For reward prediction: rlcore_trajectory_process of all frames but the last, with neither discount nor gae_lambda, and
   the class of the last frame's reward. What comes after those frames is worth the value of the last. The trajectory
   stays as it is.
   out_class: [1] an rlcore_reward_class.
   Errors: as there; E_NOT_READY with fewer than 2 frames; E_RANGE for a threshold that is negative or not finite. */
rlcore_status rlcore_trajectory_process_rp(const rlcore_trajectory *t, float reward_threshold,
                                           const rlcore_trajectory_rows *out, uint32_t *out_class);

/* The class of a reward: an rlcore_reward_class. A reward on a threshold is zero.
   Errors: E_VALUE for a reward that is not finite; E_RANGE for a threshold that is negative or not finite. */
rlcore_status rlcore_reward_class_of(float reward, float threshold, uint32_t *out_class);

/* ---- Queues: trajectories that wait for a learner ---- */

/* Items that wait, first in, first out: the caller's own block, in memory that any number of threads or processes share.
   push and pop may be called by all of them at once and never wait: how long to try again is the caller's choice. A
   process that dies inside push or pop leaves its slot taken: then all others stop, and init makes the queue anew. */
typedef struct rlcore_queue rlcore_queue;

/* What a queue is made from. */
typedef struct rlcore_queue_config {
  uint32_t struct_size;  /* bytes; set by rlcore_queue_config_init */
  uint32_t capacity;     /* items held at most, a power of two from 2 to 2^30; default 16 */
  uint32_t item_size;    /* bytes of the largest item, at least 1; default 1 MiB */
  uint32_t reserved;     /* zero */
} rlcore_queue_config;

/* Fills in the defaults. */
rlcore_status rlcore_queue_config_init(rlcore_queue_config *config, size_t config_size);

/* Size of the block for this configuration, in bytes. */
rlcore_status rlcore_queue_size(const rlcore_queue_config *config, size_t *out_size);

/* Creates an empty queue in mem.
   mem is in use until every process stops calling. */
rlcore_status rlcore_queue_init(void *mem, size_t mem_size, const rlcore_queue_config *config, rlcore_queue **out);

/* Accepts a queue that another process made in this memory, or bytes that one was copied to while nobody was inside a
   call.
   Errors: E_SIZE if bytes are missing; E_IMAGE for another kind of block, version or byte order, or a damaged header. */
rlcore_status rlcore_queue_attach(void *mem, size_t mem_size, rlcore_queue **out);

/* Puts an item at the end. item: [size] bytes, copied; size from 1 to item_size.
   Errors: E_RANGE for size; E_BUSY if the queue is full. */
rlcore_status rlcore_queue_push(rlcore_queue *q, const void *item, size_t size);

/* Takes the oldest item. item: [room] bytes to write, as many as the item has; out_size: how many those were.
   Errors: E_NOT_READY if nothing waits; E_SIZE if the item is larger than room: it stays where it is. */
rlcore_status rlcore_queue_pop(rlcore_queue *q, void *item, size_t room, size_t *out_size);

/* Items that wait, as many as there were at one moment. */
rlcore_status rlcore_queue_len(const rlcore_queue *q, uint32_t *out_len);

/* ---- Rollouts as safetensors files ---- */

#ifdef RLCORE_EXPERIMENTAL

#define RLCORE_ROLLOUT_FILE_HEADER_SIZE 4096  /* Bytes before the first array of a file: a page. */

/* What is in a file, and what its numbers came from. A file is safetensors with one fixed set of arrays, named as the
   members of rlcore_rollout_arrays, little-endian on every machine, and meta: counters, versions and a checksum of all. */
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
  uint32_t reserved;        /* zero */
  uint64_t seed;            /* what the environments were seeded with */
  uint64_t policy_version;  /* which version of the policy chose the actions */
  uint64_t global_step;     /* steps of single environments before the first one here */
  uint64_t num_episodes;    /* episodes that had ended before the first step here */
} rlcore_rollout_file;

/* The arrays of a rollout: read by rlcore_rollout_file_write, written by rlcore_rollout_file_read. */
typedef struct rlcore_rollout_arrays {
  uint32_t struct_size;    /* sizeof(rlcore_rollout_arrays) */
  uint32_t reserved;       /* zero */
  void *obs;               /* [T + 1, N, obs...] the last row is what was seen after the last step */
  void *action;            /* [T, N, action_len] */
  float *log_prob;         /* [T, N] log-probability of the action under the policy that chose it */
  float *value;            /* [T, N] V(obs[t]) */
  float *bootstrap_value;  /* [N] value of the observation after the last step */
  float *reward;           /* [T, N] */
  uint8_t *terminated;     /* [T, N] */
  uint8_t *truncated;      /* [T, N] */
  uint8_t *valid;          /* [T, N] nonzero where there was a step at all */
  uint64_t *final_index;   /* [K] ended valid steps, as t * N + n, ascending; no truncated one is left out */
  void *final_obs;         /* [K, obs...] what was seen when those episodes ended */
  float *final_value;      /* [K] its value */
  float *state;            /* [N, M] recurrent state before the first step */
} rlcore_rollout_arrays;

/* Bytes of the file. Errors: E_CONFIG for a length or kind. */
rlcore_status rlcore_rollout_file_size(const rlcore_rollout_file *file, size_t *out_size);

/* Writes a whole file. out: [out_size] bytes to write, at least rlcore_rollout_file_size() of them, on any boundary; the
   arrays are only read. final_index, final_obs and final_value may be NULL if K is 0, state if M is 0.
   Errors: those of rlcore_rollout_file_size; E_SIZE; E_RANGE for a final_index that is not above the one before it, or
   of no valid step that ended; E_NOT_READY if a truncated step has none. Then out is untouched. */
rlcore_status rlcore_rollout_file_write(const rlcore_rollout_file *file, const rlcore_rollout_arrays *arrays,
                                        uint8_t *out, size_t out_size);

/* Checks every byte of a file and says what is in it. bytes: [size], on any boundary; may be longer than the file.
   Errors: E_CONFIG for struct_size; E_SIZE for a file that was cut short; E_IMAGE for another format or schema, or a
   byte that was altered. */
rlcore_status rlcore_rollout_file_check(const uint8_t *bytes, size_t size, rlcore_rollout_file *out);

/* Checks a file as rlcore_rollout_file_check does and copies its arrays out. A NULL skips an array; the others have room
   for as many elements as the check said. Errors: those of rlcore_rollout_file_check. Then nothing is written. */
rlcore_status rlcore_rollout_file_read(const uint8_t *bytes, size_t size, const rlcore_rollout_arrays *arrays);

#endif

/* ---- Advantages of rollouts in the older form ---- */

/* A rollout in the older form with one flag that belongs to the observation: done[t] says that obs[t] starts a new
   episode, so done[0] is never read. It cannot tell a cut episode from a finished one. */
typedef struct rlcore_shifted_rollout {
  uint32_t struct_size;     /* sizeof(rlcore_shifted_rollout) */
  uint32_t num_steps;       /* T, at least 1 */
  uint32_t num_envs;        /* N, at least 1 */
  uint32_t accumulate;      /* what the recursion is summed in: an rlcore_accumulate; 0 is f32 */
  const float *reward;      /* [T, N] */
  const float *value;       /* [T, N] V(obs[t]) */
  const float *done;        /* [T, N] 0 or 1; values between them mask softly */
  const float *next_value;  /* [N] value of the observation after the last step */
  const float *next_done;   /* [N] whether that observation starts a new episode */
} rlcore_shifted_rollout;

/* rlcore_gae for a rollout in the older form; use rlcore_gae where episodes are cut. Both outputs [T, N], apart from the
   inputs and each other.
     live[t]      = 1 - done[t+1] (next_done at T-1)
     delta[t]     = reward[t] + discount * live[t] * value[t+1] (next_value at T-1) - value[t]
     advantage[t] = delta[t] + discount * gae_lambda * live[t] * (0 if t = T-1, else advantage[t+1])
     value_target = advantage + value
   Errors: as rlcore_gae. */
rlcore_status rlcore_gae_shifted(const rlcore_shifted_rollout *rollout, float discount, float gae_lambda,
                                 float *advantage, float *value_target);

/* ---- Arrays laid out the other way round ---- */

/* Lays an array out the other way round, as from [N, T, ...] to [T, N, ...]: out[c][r] = x[r][c].
   kind: an rlcore_element; len: elements that stay together; x: [rows, columns, len]; out: [columns, rows, len].
   Errors: E_CONFIG for another kind; E_SHAPE if a count is 0. */
rlcore_status rlcore_transpose(uint32_t kind, uint32_t rows, uint32_t columns, uint32_t len, const void *x, void *out);

/* ---- V-trace ---- */

/* What N environments did in T steps under the policy that acted, time-major, and how to correct for the policy that
   learns. Arrays are read only and the caller's own. */
typedef struct rlcore_vtrace {
  uint32_t struct_size;          /* bytes; set by rlcore_vtrace_init */
  uint32_t num_steps;            /* T, at least 1 */
  uint32_t num_envs;             /* N, at least 1 */
  uint32_t accumulate;           /* what the recursion is summed in: an rlcore_accumulate; 0 (default) is f32 */
  const float *log_rho;          /* [T, N] log pi(a) - log mu(a), finite; not looked at by rlcore_vtrace_from_logits */
  const float *discounts;        /* [T, N] each from 0 to 1, 0 where step t reached a terminal state */
  const float *reward;           /* [T, N] */
  const float *value;            /* [T, N] V(obs[t]) */
  const float *bootstrap_value;  /* [N] value of the observation after the last step */
  const uint8_t *truncated;      /* [T, N] nonzero where step t was the last of an episode that was cut; NULL: none is */
  const float *final_value;      /* [T, N] V(final_obs), read only where truncated and discounts is above 0, else NULL */
  float clip_rho;                /* ceiling of the ratio that scales d, above 0, INFINITY for none; default 1 */
  float clip_c;                  /* ceiling of the ratio that carries k back, above 0, INFINITY for none; default 1 */
  float clip_pg_rho;             /* ceiling of the ratio that scales pg_advantage, above 0, INFINITY for none; default 1 */
  float td_lambda;               /* decay of later differences, from 0 to 1; default 1 */
  float leak;                    /* share of what ceilings cut off that comes through, 0 (default) to 1: leaky V-trace */
  uint32_t reserved;             /* zero */
} rlcore_vtrace;

/* The logits of both policies over A actions, and what was done. */
typedef struct rlcore_vtrace_logits {
  uint32_t struct_size;           /* sizeof(rlcore_vtrace_logits) */
  uint32_t num_actions;           /* A, at least 1 */
  const float *behaviour_logits;  /* [T, N, A] mu, the policy that acted; finite */
  const float *target_logits;     /* [T, N, A] pi, the policy that learns; finite */
  const int32_t *action;          /* [T, N] each from 0 to A - 1 */
} rlcore_vtrace_logits;

/* Where rlcore_vtrace_from_logits writes; NULL skips an array. */
typedef struct rlcore_vtrace_out {
  uint32_t struct_size;       /* sizeof(rlcore_vtrace_out) */
  uint32_t reserved;          /* zero */
  float *vs;                  /* [T, N] targets of the value function */
  float *pg_advantage;        /* [T, N] what log pi(a) is to be weighted with */
  float *log_rho;             /* [T, N] log pi(a) - log mu(a) */
  float *behaviour_log_prob;  /* [T, N] log mu(a) */
  float *target_log_prob;     /* [T, N] log pi(a) */
} rlcore_vtrace_out;

/* Fills in defaults: ceilings of 1, lambda 1, no leak, nothing truncated. Writes v_size bytes, so an older caller
   keeps its smaller struct. Errors: E_SIZE. */
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
   Errors: E_NULL, also if a step is truncated without final_value; E_CONFIG for another struct_size, accumulate or
   reserved; E_SHAPE if T or N is 0; E_RANGE for a discount, td_lambda or leak outside [0, 1] or a ceiling not above 0;
   E_VALUE for a rate that is NaN or infinite, and for a number that is read and not finite. Nothing is written on
   error. */
rlcore_status rlcore_vtrace_from_importance_weights(const rlcore_vtrace *v, float *vs, float *pg_advantage);

/* As rlcore_vtrace_from_importance_weights for the environments [begin, end): all arrays are those of the whole batch, only
   these columns are read and written, and results do not depend on the split.
   Threads: calls on disjoint ranges may run at once. Ranges that begin at multiples of 16 share no cache line of arrays
   that begin on one.
   Errors: as there; E_RANGE unless begin <= end <= num_envs. */
rlcore_status rlcore_vtrace_from_importance_weights_range(const rlcore_vtrace *v, uint32_t begin, uint32_t end,
                                                          float *vs, float *pg_advantage);

/* V-trace from the logits of both policies: writes what `out` asks for. Log-probabilities are those of log-softmax, at
   least -1.7e38; log_rho is their difference, and the rest is as rlcore_vtrace_from_importance_weights says.
   Errors: as there; E_SHAPE if A is 0; E_RANGE for an action that is not there; E_VALUE for a logit that is not finite. */
rlcore_status rlcore_vtrace_from_logits(const rlcore_vtrace *v, const rlcore_vtrace_logits *logits,
                                        const rlcore_vtrace_out *out);

/* As rlcore_vtrace_from_logits for the environments [begin, end); threads and errors as
   rlcore_vtrace_from_importance_weights_range. */
rlcore_status rlcore_vtrace_from_logits_range(const rlcore_vtrace *v, const rlcore_vtrace_logits *logits,
                                              uint32_t begin, uint32_t end, const rlcore_vtrace_out *out);

/* ---- Value targets over several steps ---- */

/* Lambda returns: all n-step returns of a step, weighted with (1 - td_lambda) * td_lambda^(n-1), the last with what
   remains.
     value_target[t] = reward[t] + discount * ((1 - td_lambda) * next[t] + td_lambda * value_target[t+1])
   where value_target[t+1] is next[t] if step t ended an episode or was the last, and next is as in rlcore_gae.
   value_target: [T, N] to write, apart from all inputs.
   Errors: as rlcore_gae. */
rlcore_status rlcore_lambda_returns(const rlcore_rollout *rollout, float discount, float td_lambda,
                                    float *value_target);

/* As rlcore_lambda_returns for the environments [begin, end), as rlcore_gae_range is of rlcore_gae. */
rlcore_status rlcore_lambda_returns_range(const rlcore_rollout *rollout, float discount, float td_lambda,
                                          uint32_t begin, uint32_t end, float *value_target);

/* TD(lambda): lambda returns, and the errors of the values against them. Both outputs [T, N]; neither may overlap an
   input or the other.
     value_target = as rlcore_lambda_returns
     td_error     = value_target - value, which is the advantage of rlcore_gae up to rounding
   Errors: as rlcore_gae. */
rlcore_status rlcore_td_lambda(const rlcore_rollout *rollout, float discount, float td_lambda, float *td_error,
                               float *value_target);

/* As rlcore_td_lambda for the environments [begin, end), as rlcore_gae_range is of rlcore_gae. */
rlcore_status rlcore_td_lambda_range(const rlcore_rollout *rollout, float discount, float td_lambda, uint32_t begin,
                                     uint32_t end, float *td_error, float *value_target);

/* Returns over n steps: discounted rewards of up to n steps, fewer where the episode or the rollout ends before, then the
   value of what they led to. n = T or more gives whole returns; time grows with n up to there.
     value_target[t] = reward[t] + discount * (reward[t+1] + ... discount * (reward[t+k-1] + discount * next[t+k-1]))
   next is as in rlcore_gae. value_target: [T, N] to write, apart from all inputs.
   Errors: as rlcore_gae; E_RANGE if n is 0. */
rlcore_status rlcore_n_step_returns(const rlcore_rollout *rollout, float discount, uint32_t n, float *value_target);

/* As rlcore_n_step_returns for the environments [begin, end), as rlcore_gae_range is of rlcore_gae. */
rlcore_status rlcore_n_step_returns_range(const rlcore_rollout *rollout, float discount, uint32_t n, uint32_t begin,
                                          uint32_t end, float *value_target);

/* Upgoing policy updates: returns that follow the episode for as long as its actions turn out no worse than expected, and
   their advantages. Both outputs [T, N]; neither may overlap an input or the other.
     value_target[t] = reward[t] + discount * (value_target[t+1] if reward[t+1] + discount * next[t+1] >= value[t+1],
                                               else value[t+1])
     advantage       = value_target - value
   where step t ended an episode or was the last: reward[t] + discount * next[t], with next as in rlcore_gae.
   Errors: as rlcore_gae. */
rlcore_status rlcore_upgo(const rlcore_rollout *rollout, float discount, float *advantage, float *value_target);

/* As rlcore_upgo for the environments [begin, end), as rlcore_gae_range is of rlcore_gae. */
rlcore_status rlcore_upgo_range(const rlcore_rollout *rollout, float discount, uint32_t begin, uint32_t end,
                                float *advantage, float *value_target);

/* Retrace(lambda): targets for the values of the actions that another policy took, and their errors.
     q_target[t] = reward[t] + discount * (next[t] + c[t+1] * (q_target[t+1] - q[t+1]))
     c           = td_lambda * min(1, exp(log_rho))
     td_error    = q_target - q
   where step t ended an episode or was the last: reward[t] + discount * next[t], with next as in rlcore_gae.
   rollout: its values are what the target policy expects, the sum of its probabilities times the action values.
   q: [T, N] Q(obs[t], action[t]). log_rho: [T, N] log probability of action[t] under the target policy minus that under
   the behaviour policy; row 0 is never read. Both outputs [T, N]; neither may overlap an input or the other.
   Errors: as rlcore_gae. */
rlcore_status rlcore_retrace(const rlcore_rollout *rollout, const float *q, const float *log_rho, float discount,
                             float td_lambda, float *td_error, float *q_target);

/* As rlcore_retrace for the environments [begin, end), as rlcore_gae_range is of rlcore_gae. */
rlcore_status rlcore_retrace_range(const rlcore_rollout *rollout, const float *q, const float *log_rho, float discount,
                                   float td_lambda, uint32_t begin, uint32_t end, float *td_error, float *q_target);

/* ---- Categorical policies ---- */

/* A batch of categorical distributions. B = num_rows, K = num_choices, L = the sum of n. */
typedef struct rlcore_logits {
  uint32_t struct_size;  /* sizeof(rlcore_logits) */
  uint32_t num_rows;     /* B, at least 1 */
  uint32_t num_choices;  /* K, at least 1: one is Discrete, more are MultiDiscrete */
  uint32_t reserved;     /* zero */
  const uint32_t *n;     /* [K] numbers of choices, each at least 1 */
  const float *logits;   /* [B, L] finite, those of the first choice first */
  const uint8_t *mask;   /* [B, L] 0 forbids; of each choice something has to be allowed; NULL: everything is */
} rlcore_logits;

/* The log-probability of every single choice, -inf where it is forbidden. out: [B, L] to write.
   Errors, here and below: E_CONFIG; E_SHAPE if a count is 0; E_RANGE for an n; E_VALUE for a number that is not
   finite, or nothing allowed. */
rlcore_status rlcore_categorical_log_softmax(const rlcore_logits *batch, float *out);

/* The log-probability of each row's actions. action: [B, K]; log_prob: [B] to write.
   E_RANGE for an action that is not there or forbidden. */
rlcore_status rlcore_categorical_log_prob(const rlcore_logits *batch, const int32_t *action, float *log_prob);

/* The entropy of each row in nats. entropy: [B] to write. */
rlcore_status rlcore_categorical_entropy(const rlcore_logits *batch, float *entropy);

/* Draws actions: the first choice whose cumulative probability is above the uniform number.
   uniform: [B, K] from 0 to 1; may be NULL with RLCORE_SAMPLING_GREEDY. action: [B, K] to write.
   E_CONFIG or E_RANGE for sampling. */
rlcore_status rlcore_categorical_sample(const rlcore_logits *batch, const rlcore_sampling *sampling,
                                        const float *uniform, int32_t *action);

/* ---- Gaussian policies ---- */

/* A batch of diagonal Gaussians that share their deviations. B = num_rows, A = action_len. */
typedef struct rlcore_gaussian {
  uint32_t struct_size;  /* sizeof(rlcore_gaussian) */
  uint32_t num_rows;     /* B, at least 1 */
  uint32_t action_len;   /* A, at least 1 */
  uint32_t reserved;     /* zero */
  const float *mean;     /* [B, A] */
  const float *log_std;  /* [A] logarithms of the standard deviations, from -40 to 40 */
} rlcore_gaussian;

/* The log-density of each row's action. action: [B, A], before the squash if there is one; log_prob: [B] to write.
   Errors, here and below: E_CONFIG; E_SHAPE if a count is 0; E_RANGE for a log_std; E_VALUE for a number that is not
   finite. */
rlcore_status rlcore_gaussian_log_prob(const rlcore_gaussian *batch, const float *action, float *log_prob);

/* The entropy in nats, which all rows share. log_std: [action_len]; out: [1] to write. */
rlcore_status rlcore_gaussian_entropy(const float *log_std, uint32_t action_len, float *out);

/* mean + exp(log_std) * normal. normal: [B, A] standard normal draws; action: [B, A] to write. */
rlcore_status rlcore_gaussian_sample(const rlcore_gaussian *batch, const float *normal, float *action);

/* tanh(action), element by element: what the environment gets. action: [len]; squashed: [len] to write. */
rlcore_status rlcore_gaussian_squash(const float *action, size_t len, float *squashed);

/* Turns log-densities of actions into those of the squashed actions: takes away the sum over the row of
   ln(1 - tanh(action)^2). action: [num_rows, action_len], before the squash; log_prob: [num_rows] to change. */
rlcore_status rlcore_gaussian_squash_log_prob(const float *action, uint32_t num_rows, uint32_t action_len,
                                              float *log_prob);

/* ---- Means and variances ---- */

/* Forgets everything: mean 0, variance 1. mean, variance: [num_columns] to write; count: [1] becomes initial_count, usually
   1e-4, so that the first rows outweigh what was not seen.
   Errors: E_SHAPE if num_columns is 0; E_VALUE, E_RANGE unless initial_count is 0 to 1. */
rlcore_status rlcore_moments_reset(uint32_t num_columns, double initial_count, double *mean, double *variance,
                                   double *count);

/* Merges the columns of x into running moments: Chan's formula, in a fixed order.
   x: [num_rows, num_columns]; mean, variance: [num_columns] to change; count: [1] rows they have seen, to change.
   Errors, here and below: E_SHAPE if a count is 0; E_VALUE for a number that is not finite, or a variance that is,
   with the square of the mean, beyond 1e120, which no rows of float have; E_RANGE for a variance below 0, or a count
   that is not from 0 to 2^64. */
rlcore_status rlcore_moments_update(const float *x, uint32_t num_rows, uint32_t num_columns, double *mean,
                                    double *variance, double *count);

/* Merges moments that were made elsewhere, of a batch or of another worker, by the same formula. Moments that began at an
   initial count bring it along.
   with_mean, with_var: [num_columns] moments of with_count rows; mean, variance: [num_columns], count: [1],
   to change, as for rlcore_moments_update.
   Errors: as there; E_RANGE for two counts of 0 too. */
rlcore_status rlcore_moments_merge(uint32_t num_columns, const double *with_mean, const double *with_var,
                                   double with_count, double *mean, double *variance, double *count);

/* Writes clip((x - mean) / sqrt(variance + epsilon)), from -clip to clip.
   x, out: [num_rows, num_columns]; may be the same array. mean, variance: [num_columns]
   Errors: as above; E_RANGE for a clip that is not above 0, a variance below 0, or an epsilon that is not from 1e-30 to
   1e30. */
rlcore_status rlcore_normalize(const float *x, uint32_t num_rows, uint32_t num_columns, const double *mean,
                               const double *variance, double epsilon, float clip, float *out);

/* Shifts and scales x to mean 0 and deviation 1: (x - mean) / (std + epsilon), std with n - 1. x: [len] to change; fewer
   than two numbers stay as they are. E_RANGE for epsilon. */
rlcore_status rlcore_standardise(float *x, size_t len, double epsilon);

/* 1 - var(target - value) / var(target): 1 is a perfect value, 0 one no better than a constant, and where the target
   does not vary. value, target: [len]; out: [1] to write. */
rlcore_status rlcore_explained_variance(const float *value, const float *target, size_t len, double *out);

/* ---- Pictures ---- */

/* Shape of a picture of bytes, [height, width, channels]. */
typedef struct rlcore_image_size {
  uint32_t height;    /* rows, at least 1 */
  uint32_t width;     /* columns, at least 1 */
  uint32_t channels;  /* values of one pixel, at least 1 */
} rlcore_image_size;

/* The gray picture: 0.299 of red, 0.587 of green and 0.114 of blue in 15 bits, rounded, as OpenCV's RGB2GRAY.
   rgb: [num_pixels, 3]; out: [num_pixels] to write. */
rlcore_status rlcore_image_gray(const uint8_t *rgb, size_t num_pixels, uint8_t *out);

/* Numbers of scratch that rlcore_image_area and rlcore_image_warp need for these sizes: none for an Atari screen, 210 by
   160, that becomes 84 by 84 in gray. Errors: E_CONFIG for a number that is 0, more than 4 channels, an output larger
   than the source on an axis, or channels that differ, but for 3 that become 1. */
rlcore_status rlcore_image_scratch_len(const rlcore_image_size *from_size, const rlcore_image_size *to_size,
                                       size_t *out_len);

/* A smaller picture by area means, bit for bit as OpenCV's INTER_AREA; to_size has as many channels as from_size.
   src:     from_size's [height, width, channels].
   out:     to_size's [height, width, channels] to write.
   scratch: [scratch_len] whatever they are, at least rlcore_image_scratch_len(); NULL if that is 0.
   Errors: those of rlcore_image_scratch_len; E_SIZE for scratch_len. */
rlcore_status rlcore_image_area(const rlcore_image_size *from_size, const uint8_t *src,
                                const rlcore_image_size *to_size, uint8_t *out, float *scratch, size_t scratch_len);

/* What an Atari wrapper does to its frames, in one pass: the larger of two pictures, element by element (b may be NULL:
   a alone), then gray if from_size has 3 channels and to_size 1, then rlcore_image_area. The bytes are those of the three
   steps.
   a, b: from_size's [height, width, channels]; may be the same array. The rest, and errors, as rlcore_image_area. */
rlcore_status rlcore_image_warp(const rlcore_image_size *from_size, const uint8_t *a, const uint8_t *b,
                                const rlcore_image_size *to_size, uint8_t *out, float *scratch, size_t scratch_len);

/* An Atari screen at 42 by 42, as the A3C family sees it: rows 34 to 193, halved, resized by OpenCV's fixed-point
   bilinear rule, the mean of the colours, times the float nearest 1/255. rgb: [210, 160, 3]; out: [42, 42] to write. */
rlcore_status rlcore_image_rescale42(const uint8_t *rgb, float *out);

/* Bytes as numbers from 0 to 1: x / 255, rounded once. x: [len]; out: [len] to write. Errors: as above. */
rlcore_status rlcore_image_scale(const uint8_t *x, size_t len, float *out);

/* Puts channels first. x: [height, width, channels]; out: [channels, height, width] to write.
   Errors: E_CONFIG for a number that is 0. */
rlcore_status rlcore_image_channels_first(const rlcore_image_size *size, const uint8_t *x, uint8_t *out);

/* Rows and columns of tiles for num_images pictures: as few rows as make a square that holds them, then as few columns
   as hold them. Errors: E_RANGE if num_images is 0. */
rlcore_status rlcore_image_tile_shape(uint32_t num_images, uint32_t *out_rows, uint32_t *out_columns);

/* Many pictures as one, for people to look at. images: [num_images, height, width, channels]; out: [rows * height,
   columns * width, channels] to write, rows and columns by rlcore_image_tile_shape: picture i in row i / columns, column
   i % columns, zeros where none is left. Errors: as rlcore_image_channels_first; E_RANGE if num_images is 0. */
rlcore_status rlcore_image_tile(uint32_t num_images, const rlcore_image_size *size, const uint8_t *images,
                                uint8_t *out);

/* Bytes of the text of a picture: what rlcore_image_text writes.
   Errors: E_CONFIG unless channels is 1 or 3. */
rlcore_status rlcore_image_text_size(const rlcore_image_size *size, size_t *out_size);

/* A gray or RGB picture for a terminal: lines of Braille in UTF-8, a character for two columns of four rows, a dot where a
   pixel is unlike the top left one.
   picture: [height, width, channels].
   out:     [rlcore_image_text_size()] to write, no NUL at the end.
   Errors: as rlcore_image_text_size. */
rlcore_status rlcore_image_text(const rlcore_image_size *size, const uint8_t *picture, uint8_t *out);

#ifdef __cplusplus
}
#endif

#endif
