// rlcore in C#: every call, structure, enumeration and callback of rlcore.h, for Unity (Mono and IL2CPP), Mono and .NET.
//
// Calls, structures and their fields are spelled as in C, so that the header's documentation, which stands here too, and
// every guide hold word for word. Enumerations have names of C#: RLCORE_ALGORITHM_STREAM_AC is Algorithm.StreamAc.
//   pointers   as in C. A parameter's text tells direction, [shape] and "optional" where it may be null: rlcore_bindings.h
//   arrays     of a structure are small structures with an index, char arrays convert to and from string
//   callbacks  are IntPtr, of Marshal.GetFunctionPointerForDelegate: keep the delegate alive as long as it may be called.
//              For IL2CPP it must be of a static method with [MonoPInvokeCallback(typeof(...))]
//   size_t     is UIntPtr
// Learner.cs, VecEnv.cs, Policy.cs and Env.cs beside this file make objects of it, which need no unsafe code.
//
// Generated together with rlcore.h, by the same command.
using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using System.Text;

// Of an array only the first element is named.
#pragma warning disable 0169

namespace Rlcore {

// ---- Versions and results ----

/// <summary>Result of every call: 0 is success, negative is failure. Values are never reused.</summary>
public enum Status : int {
  /// <summary>RLCORE_OK: Success.</summary>
  Ok = 0,
  /// <summary>RLCORE_E_NULL: A required pointer is NULL.</summary>
  Null = -1,
  /// <summary>RLCORE_E_SIZE: A buffer is too small.</summary>
  Size = -2,
  /// <summary>RLCORE_E_ALIGN: A pointer is misaligned.</summary>
  Align = -3,
  /// <summary>RLCORE_E_CONFIG: A configuration field has an invalid value.</summary>
  Config = -4,
  /// <summary>RLCORE_E_SHAPE: An array has the wrong number of elements.</summary>
  Shape = -5,
  /// <summary>
  /// RLCORE_E_IMAGE:
  /// The bytes are not an object of this type, version and byte order, or are damaged.
  /// </summary>
  Image = -6,
  /// <summary>RLCORE_E_RANGE: An index, a count or a discrete action is out of range.</summary>
  Range = -7,
  /// <summary>RLCORE_E_CALLBACK: A callback reported failure.</summary>
  Callback = -8,
  /// <summary>RLCORE_E_OVERFLOW: A size does not fit the address space.</summary>
  Overflow = -9,
  /// <summary>RLCORE_E_NOT_READY: The call is not due yet, or another call must come first.</summary>
  NotReady = -10,
  /// <summary>RLCORE_E_VALUE: A number is NaN or infinite where a finite one is required.</summary>
  Value = -11,
  /// <summary>RLCORE_E_OVERLAP: Two arrays that must not overlap do.</summary>
  Overlap = -12,
  /// <summary>RLCORE_E_BUSY: An operation is still in progress, or there is no room yet.</summary>
  Busy = -13,
  /// <summary>RLCORE_E_NOT_PENDING: No operation is pending.</summary>
  NotPending = -14,
  /// <summary>RLCORE_E_INEXACT: No attempt gave an exact result.</summary>
  Inexact = -15,
  /// <summary>RLCORE_E_EMPTY: There is nothing to draw from.</summary>
  Empty = -16,
  /// <summary>RLCORE_E_DISABLED: The configuration disables this call.</summary>
  Disabled = -17,
}

// ---- CPU levels ----

/// <summary>
/// CPU levels, each including those before it. The library selects the highest level that the processor supports.
/// </summary>
public enum CpuLevel : uint {
  /// <summary>RLCORE_CPU_BASE: the instructions that the library was compiled for</summary>
  Base = 0,
  /// <summary>RLCORE_CPU_AVX2: x86-64 with AVX2 and FMA</summary>
  Avx2 = 1,
  /// <summary>RLCORE_CPU_AVX512: x86-64 with AVX-512 F, BW, DQ and VL, and FMA</summary>
  Avx512 = 2,
}

// ---- Random streams ----

/// <summary>
/// A random stream: PCG64, seeded as in numpy. Plain data: copying it copies the stream.
/// Example:
///   rlcore_rng rng;
///   int64_t dice[5];
///   rlcore_rng_seed(&amp;rng, 42);
///   rlcore_rng_integers(&amp;rng, 1, 7, dice, 5);
/// </summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_rng {
  /// <summary>128-bit position, low word first</summary>
  public UInt64x2 state;
  /// <summary>128-bit stream number, low word first</summary>
  public UInt64x2 stream;
  /// <summary>upper half of a 64-bit draw that the next 32-bit draw uses</summary>
  public uint half;
  /// <summary>1 while half waits to be used</summary>
  public uint has_half;
}

// ---- Spaces ----

/// <summary>Kind of the elements of observations and actions.</summary>
public enum Element : uint {
  /// <summary>RLCORE_F32: float: continuous values</summary>
  F32 = 0,
  /// <summary>RLCORE_I32: int32_t: discrete choices, counted from 0</summary>
  I32 = 1,
  /// <summary>RLCORE_U8: uint8_t: image bytes</summary>
  U8 = 2,
  /// <summary>
  /// RLCORE_STRUCT:
  /// uint8_t: bytes of a structure with fields of several kinds, for observations and for actions of learners. Calls
  /// that copy or store observations treat it as RLCORE_U8; learners read its fields, see rlcore_learner_size
  /// </summary>
  Struct = 3,
}

/// <summary>Flags of fields, to be combined with |.</summary>
public enum FieldFlag : uint {
  /// <summary>
  /// RLCORE_FIELD_INFO:
  /// an info of the host's: it travels with the observation through wrappers, rows, memories and trajectories, and
  /// networks do not read it unless a layer names it
  /// </summary>
  Info = 1,
  /// <summary>
  /// RLCORE_FIELD_CHANNELS_FIRST:
  /// a picture [channels, height, width], perhaps with a leading dimension of 1, as RLCORE_WRAP_CHANNELS_FIRST makes it:
  /// networks read it as [height, width, channels]
  /// </summary>
  ChannelsFirst = 2,
}

/// <summary>
/// The values that an observation or an action can take. The arrays are not owned; they are read during calls only.
/// </summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_space {
  /// <summary>an rlcore_element</summary>
  public uint kind;
  /// <summary>elements of one observation or action, 1 to 2^24</summary>
  public uint len;
  /// <summary>[len] lower bounds; of an action of RLCORE_STRUCT those of its floats only; NULL: unbounded</summary>
  public float* low;
  /// <summary>[len] upper bounds, likewise; NULL: unbounded</summary>
  public float* high;
  /// <summary>
  /// [len] number of choices of each element, required for RLCORE_I32; of RLCORE_STRUCT those of its elements of kind
  /// RLCORE_I32 only, required by learners; otherwise unused, and NULL for learners
  /// </summary>
  public uint* n;
}

/// <summary>A named part of an observation, such as a dictionary entry, or the whole observation.</summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_field {
  /// <summary>NUL-terminated; "" if it is the whole observation</summary>
  public Text24 name;
  /// <summary>an rlcore_element: the observation's, or any in an observation of bytes</summary>
  public uint kind;
  /// <summary>number of dimensions, 0 (a single number) to 4</summary>
  public uint rank;
  /// <summary>lengths, outermost first; 0 or 1 beyond rank</summary>
  public UInt32x4 dims;
  /// <summary>bytes from the start of the observation, a multiple of the element's size</summary>
  public uint offset;
  /// <summary>rlcore_field_flag</summary>
  public uint flags;
}

// ---- Wrappers ----

/// <summary>
/// Effect of a wrapper, followed by the fields of rlcore_wrapper that it reads; all other fields must be zero.
/// No-op reset: after each reset of the inner environment, draws the number of no-ops from the environment's stream,
/// uniform from 1 to noop_max; with noop_count it draws nothing. If an episode ends during the no-ops, it is reset and the
/// remaining no-ops follow.
/// Max and skip: if an episode ends during a skip, the result is the elementwise maximum of the last two observations so
/// far, or the only one, and the sum of the rewards. The first observation of an episode is passed through.
/// Frame stack: the first observation of an episode fills the whole stack. Inside episodic life, the stack carries over to
/// the next life.
/// Record: its fields are frame (with a leading dimension of 1), reward f32, done u8, episode_return f32, episode_step i32,
/// last_action and real_done u8; rlcore_env_fields gives their offsets. Each end of an episode is reported once. With
/// same-step autoreset, final_obs and the first record of the next episode both describe the step that ended the episode
/// and differ only in frame. In the other modes, and after a reset with a seed, the first record of an episode is zeros.
/// If the batch's max_episode_steps or a reset without a seed cuts an episode, the first record of the next one reports it
/// with done; to have it reported in its own step, put a time limit in the list.
/// </summary>
public enum Wrap : uint {
  /// <summary>
  /// RLCORE_WRAP_TIME_LIMIT:
  /// truncates episodes after this many steps of the inner environment: steps
  /// </summary>
  TimeLimit = 1,
  /// <summary>
  /// RLCORE_WRAP_NOOP_RESET:
  /// starts episodes with random or noop_count no-ops: noop_max, noop_count, noop
  /// </summary>
  NoopReset = 2,
  /// <summary>RLCORE_WRAP_FIRE_RESET: starts episodes with two actions that start a game: fire, second</summary>
  FireReset = 3,
  /// <summary>
  /// RLCORE_WRAP_EPISODIC_LIFE:
  /// ends the episode when a life is lost; the game continues in the next one: noop
  /// </summary>
  EpisodicLife = 4,
  /// <summary>
  /// RLCORE_WRAP_MAX_AND_SKIP:
  /// repeats actions, sums rewards, takes the maximum of the last two obs: count
  /// </summary>
  MaxAndSkip = 5,
  /// <summary>RLCORE_WRAP_ACTION_REPEAT: repeats actions and sums rewards: count</summary>
  ActionRepeat = 6,
  /// <summary>RLCORE_WRAP_STICKY_ACTIONS: repeats the previous action with this probability: probability</summary>
  StickyActions = 7,
  /// <summary>
  /// RLCORE_WRAP_RESCALE_ACTION:
  /// maps actions from [low, high] to the bounds of the action space: low, high
  /// </summary>
  RescaleAction = 8,
  /// <summary>RLCORE_WRAP_CLIP_ACTION: clips actions to the bounds of the action space</summary>
  ClipAction = 9,
  /// <summary>RLCORE_WRAP_CLIP_REWARD: replaces the reward by its sign</summary>
  ClipReward = 10,
  /// <summary>RLCORE_WRAP_SCALE_REWARD: multiplies the reward: factor</summary>
  ScaleReward = 11,
  /// <summary>RLCORE_WRAP_WARP_FRAME: resizes images as OpenCV's INTER_AREA: height, width, gray, field</summary>
  WarpFrame = 12,
  /// <summary>
  /// RLCORE_WRAP_ATARI_RESCALE: crops and resizes 210 by 160 RGB images to 42 by 42 floats in [0, 1]
  /// </summary>
  AtariRescale = 13,
  /// <summary>RLCORE_WRAP_SCALED_FLOAT: converts bytes to floats in [0, 1]</summary>
  ScaledFloat = 14,
  /// <summary>RLCORE_WRAP_FRAME_STACK: stacks the last observations along the last axis, oldest first: count</summary>
  FrameStack = 15,
  /// <summary>RLCORE_WRAP_CHANNELS_FIRST: transposes [height, width, channels] to [channels, height, width]</summary>
  ChannelsFirst = 16,
  /// <summary>RLCORE_WRAP_FLATTEN: concatenates all fields of the observation as one row: one_hot</summary>
  Flatten = 17,
  /// <summary>RLCORE_WRAP_EXTRACT: keeps one field of the observation: field</summary>
  Extract = 18,
  /// <summary>RLCORE_WRAP_RECORD: adds reward, done and other data of the step as fields: see above</summary>
  Record = 19,
  /// <summary>RLCORE_WRAP_OBSERVE: applies the caller's function to the observation: len, observe, user</summary>
  Observe = 20,
}

/// <summary>Format to which an Atari screen is converted.</summary>
public enum AtariScreen : uint {
  /// <summary>RLCORE_ATARI_WHOLE: unchanged</summary>
  Whole = 0,
  /// <summary>RLCORE_ATARI_GRAY84: 84 by 84 gray bytes</summary>
  Gray84 = 1,
  /// <summary>RLCORE_ATARI_MEAN42: 42 by 42 floats in [0, 1]</summary>
  Mean42 = 2,
}

/// <summary>Position of episodic life in the list.</summary>
public enum AtariOrder : uint {
  /// <summary>RLCORE_ATARI_SEED: outermost: FIRE is not pressed after a lost life, and a stack carries over</summary>
  Seed = 0,
  /// <summary>
  /// RLCORE_ATARI_CLASSIC: around max and skip, as in OpenAI Baselines: each life starts like a game
  /// </summary>
  Classic = 1,
}

/// <summary>
/// The usual wrappers for Atari games. The defaults are those of Baselines' make_atari and wrap_deepmind. For
/// pytorch_seed_rl's EnvSpawner: clip_reward 0, stack 4, channels_first 1, record 1. For 42 by 42 agents: screen
/// RLCORE_ATARI_MEAN42, all else 0.
/// </summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_atari_config {
  /// <summary>bytes; set by rlcore_atari_config_init</summary>
  public uint struct_size;
  /// <summary>maximum number of no-ops at the start of a game; 0: none; default 30</summary>
  public uint noop_max;
  /// <summary>steps for each action; 0: no skipping; default 4</summary>
  public uint skip;
  /// <summary>1: press actions 1 and 2 first, for games with FIRE; default 1</summary>
  public uint fire_reset;
  /// <summary>1: an episode for each life; default 1</summary>
  public uint episodic_life;
  /// <summary>an rlcore_atari_order; default RLCORE_ATARI_SEED</summary>
  public uint order;
  /// <summary>an rlcore_atari_screen; default RLCORE_ATARI_GRAY84</summary>
  public uint screen;
  /// <summary>1: floats in [0, 1]; default 0</summary>
  public uint scale;
  /// <summary>1: the sign of the reward; default 1</summary>
  public uint clip_reward;
  /// <summary>observations in a stack; 0 (default): no stack</summary>
  public uint stack;
  /// <summary>1: [channels, height, width]; default 0</summary>
  public uint channels_first;
  /// <summary>1: add RLCORE_WRAP_RECORD; default 0</summary>
  public uint record;
}

/// <summary>
/// Computes an observation from another. row: the number of the environment within its block; obs: the output of the inner
/// wrappers; out: [len] floats to write. Returns 0, or nonzero to stop with E_CALLBACK. May run on several threads at once.
/// Exceptions and longjmp must not leave it.
/// </summary>
/// <param name="user">opaque</param>
/// <param name="obs">in [obs.len]</param>
/// <param name="out">out [len]</param>
[UnmanagedFunctionPointer(CallingConvention.Cdecl)]
public unsafe delegate int rlcore_observe_fn(void* user, uint row, void* obs, float* @out);

/// <summary>
/// One wrapper: a kind and its parameters, e.g. { .kind = RLCORE_WRAP_FRAME_STACK, .count = 4 }. Fields that the kind does
/// not read must be zero. Zero selects the default where one is given.
/// </summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_wrapper {
  /// <summary>an rlcore_wrap</summary>
  public uint kind;
  /// <summary>steps for each action, or observations in a stack; 0: 4</summary>
  public uint count;
  /// <summary>at least 1</summary>
  public uint steps;
  /// <summary>maximum number of no-ops; 0: 30</summary>
  public uint noop_max;
  /// <summary>exact number of no-ops; 0: random, up to noop_max</summary>
  public uint noop_count;
  /// <summary>the action that does nothing</summary>
  public uint noop;
  /// <summary>the action pressed first; 0: 1</summary>
  public uint fire;
  /// <summary>the action pressed second; 0: 2</summary>
  public uint second;
  /// <summary>0 to 1</summary>
  public float probability;
  /// <summary>maps to the lower bound; -1 if high is 0 too</summary>
  public float low;
  /// <summary>maps to the upper bound; 1 if low is 0 too</summary>
  public float high;
  /// <summary>finite, not 0</summary>
  public float factor;
  /// <summary>rows of the result; 0: 84</summary>
  public uint height;
  /// <summary>columns of the result; 0: 84</summary>
  public uint width;
  /// <summary>1: one luma channel; 0: the image's own channels</summary>
  public uint gray;
  /// <summary>elements that observe writes</summary>
  public uint len;
  /// <summary>name of a field of the observation, NUL-terminated; "": the only one</summary>
  public Text24 field;
  /// <summary>
  /// 1: floats, and each RLCORE_I32 as many of them as it has choices, 1 for the one that it is and 0 for the others; obs.n
  /// must say how many. 0: bytes if all fields are bytes, else floats of the same values
  /// </summary>
  public uint one_hot;
  /// <summary>zero</summary>
  public UInt32x3 reserved;
  /// <summary>required for RLCORE_WRAP_OBSERVE</summary>
  public IntPtr observe;
  /// <summary>passed to observe, never read</summary>
  public void* user;
}

// ---- Environments ----

/// <summary>Level in which an environment with levels restarts.</summary>
public enum Level : uint {
  /// <summary>RLCORE_LEVEL_NEW: a new one that it chooses</summary>
  New = 0,
  /// <summary>RLCORE_LEVEL_SAME: the one that just ended</summary>
  Same = 1,
}

/// <summary>
/// A compiled environment, for any number of blocks and threads: calls only read it.
/// It holds callbacks and pointers of this process and knows where it lies: it is never saved, copied or moved, and is part
/// of no block. A program that loads a block makes its environment anew.
/// Example:
///   rlcore_env_size(&amp;def, &amp;size);
///   rlcore_env_init(mem, size, &amp;def, &amp;env);
///   rlcore_env_spaces(env, &amp;obs, &amp;action);
/// </summary>
public struct rlcore_env { }

/// <summary>
/// Starts an episode: changes state, draws from rng, writes obs.
/// For all callbacks: row is the number of the environment within its block. The arguments are valid during the call only.
/// Return 0, or nonzero to stop the call with E_CALLBACK.
/// They may run on several threads at once, but never for the same environment. They may call the library,
/// but not with the block that is calling them: its contents may be lost, nothing else is affected.
/// Exceptions and longjmp must not leave a callback. Catch them and return nonzero: that environment has failed and must be
/// reset; the others are unaffected.
/// </summary>
/// <param name="user">opaque</param>
/// <param name="state">inout [state_size]</param>
/// <param name="rng">inout</param>
/// <param name="obs">out [obs.len]</param>
[UnmanagedFunctionPointer(CallingConvention.Cdecl)]
public unsafe delegate int rlcore_env_reset_fn(void* user, uint row, void* state, rlcore_rng* rng, void* obs);

/// <summary>Result of a step besides the observation. All zero when the callback is entered.</summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_step {
  /// <summary>finite</summary>
  public float reward;
  /// <summary>nonzero: the task reached a terminal state</summary>
  public byte terminated;
  /// <summary>nonzero: the environment itself cut the episode; rlcore_vecenv applies time limits</summary>
  public byte truncated;
  /// <summary>zero</summary>
  public UInt8x2 reserved;
}

/// <summary>Takes one step. action: [action.len]; obs: [obs.len] to write.</summary>
/// <param name="user">opaque</param>
/// <param name="state">inout [state_size]</param>
/// <param name="rng">inout</param>
/// <param name="action">in [action.len]</param>
/// <param name="obs">out [obs.len]</param>
/// <param name="out">out</param>
[UnmanagedFunctionPointer(CallingConvention.Cdecl)]
public unsafe delegate int rlcore_env_step_fn(void* user, uint row, void* state, rlcore_rng* rng, void* action, void* obs, rlcore_step* @out);

/// <summary>Draws the environment. rgb: [height, width, 3], rows from the top.</summary>
/// <param name="user">opaque</param>
/// <param name="state">in [state_size]</param>
/// <param name="rgb">out [height, width, 3]</param>
[UnmanagedFunctionPointer(CallingConvention.Cdecl)]
public unsafe delegate int rlcore_env_render_fn(void* user, uint row, void* state, uint width, uint height, byte* rgb);

/// <summary>Returns the number of lives left.</summary>
/// <param name="user">opaque</param>
/// <param name="state">in [state_size]</param>
/// <param name="out_lives">out</param>
[UnmanagedFunctionPointer(CallingConvention.Cdecl)]
public unsafe delegate int rlcore_env_lives_fn(void* user, uint row, void* state, uint* out_lives);

/// <summary>Writes 1 for each choice that is allowed now, else 0. mask: [sum of action.n].</summary>
/// <param name="user">opaque</param>
/// <param name="state">in [state_size]</param>
/// <param name="mask">out [sum(action.n)]</param>
[UnmanagedFunctionPointer(CallingConvention.Cdecl)]
public unsafe delegate int rlcore_env_action_mask_fn(void* user, uint row, void* state, byte* mask);

/// <summary>
/// Starts the next episode of an environment that was reset before, in the given level. level: an rlcore_level.
/// </summary>
/// <param name="user">opaque</param>
/// <param name="state">inout [state_size]</param>
/// <param name="rng">inout</param>
/// <param name="obs">out [obs.len]</param>
[UnmanagedFunctionPointer(CallingConvention.Cdecl)]
public unsafe delegate int rlcore_env_restart_fn(void* user, uint row, void* state, rlcore_rng* rng, uint level, void* obs);

/// <summary>
/// Starts an episode with options of the host's: called in place of reset and restart where rlcore_vecenv_reset_with and
/// the like pass options, also through wrappers. options: [options_size] bytes as passed, the same for every row.
/// </summary>
/// <param name="user">opaque</param>
/// <param name="state">inout [state_size]</param>
/// <param name="rng">inout</param>
/// <param name="options">in [options_size]</param>
/// <param name="obs">out [obs.len]</param>
[UnmanagedFunctionPointer(CallingConvention.Cdecl)]
public unsafe delegate int rlcore_env_reset_with_fn(void* user, uint row, void* state, rlcore_rng* rng, void* options, UIntPtr options_size, void* obs);

/// <summary>
/// An environment: its properties and functions, which rlcore_env_init compiles. It and all that it points to may be
/// changed or freed afterwards, except the data behind user, here and in wrappers.
/// For a built-in environment with wrappers or functions of the host's, set env_id, an rlcore_env_id, and any of
/// max_episode_steps, user, render, lives, action_mask, fields and wrappers. All else is zero.
/// </summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_env_def {
  /// <summary>sizeof(rlcore_env_def)</summary>
  public uint struct_size;
  /// <summary>the caller's number for this kind, 0 or at least 1000; stored in blocks. Or an rlcore_env_id</summary>
  public uint env_id;
  /// <summary>bytes of one environment, a multiple of 8; zeroed at init; no pointers</summary>
  public uint state_size;
  /// <summary>
  /// episodes are truncated after this many steps; 0: never, or the limit that one of the library's own has;
  /// UINT32_MAX: never; kept in blocks
  /// </summary>
  public uint max_episode_steps;
  /// <summary>RLCORE_F32, RLCORE_I32, RLCORE_U8 (images) or RLCORE_STRUCT (several kinds)</summary>
  public rlcore_space obs;
  /// <summary>RLCORE_I32 or RLCORE_F32</summary>
  public rlcore_space action;
  /// <summary>passed to every callback, never read</summary>
  public void* user;
  /// <summary>required</summary>
  public IntPtr reset;
  /// <summary>required</summary>
  public IntPtr step;
  /// <summary>NULL: a black image, or that of one of the library's own</summary>
  public IntPtr render;
  /// <summary>NULL: 0 lives</summary>
  public IntPtr lives;
  /// <summary>NULL: everything is allowed</summary>
  public IntPtr action_mask;
  /// <summary>NULL: episodes start with reset; there are no levels</summary>
  public IntPtr restart;
  /// <summary>[num_fields] fields of the observation, in order, must not overlap</summary>
  public rlcore_field* fields;
  /// <summary>0 to 8</summary>
  public uint num_fields;
  /// <summary>0 to 16</summary>
  public uint num_wrappers;
  /// <summary>
  /// [num_wrappers] innermost first; stored in blocks and compared. obs and action above are those of the unwrapped
  /// environment; rlcore_env_spaces returns those that calls then use
  /// </summary>
  public rlcore_wrapper* wrappers;
  /// <summary>NULL: resets take no options</summary>
  public IntPtr reset_with;
}

// ---- Built-in environments ----

/// <summary>
/// Built-in environments. Each probe has one observation element and exposes one kind of bug in a learner. V(o) is the
/// optimal value of observation o, d the discount:
///   1  observes 0; 1 action; one step, reward 1: V = 1.
///   2  observes 1 or -1; 1 action; one step, the reward is the observation: V(o) = o.
///   3  observes 0, then 1; 1 action; two steps, the second has reward 1: V(0) = d, V(1) = 1.
///   4  observes 0; 2 actions; one step, reward 1 for action 1, -1 for action 0: V = 1.
///   5  observes 0 or 1; 2 actions; one step, reward 1 if the action equals the observation, else -1: V = 1.
///   6  observes the step count; 2 actions; ten steps, the last has reward 1 for any action: V(o) = d^(9-o).
///   6 odd even  observes the step count; 2 actions; ten steps, each has reward 1 if its action equals the observation
///      modulo 2: V(o) = 1 + d + ... + d^(9-o).
///   7  observes 0 or 1, then 0; 5 actions; four steps, the last has reward 1 if its action equals the first observation:
///      V = d^3 at first, half of that without memory.
///   truncation  observes 1, then 0; 1 action; every step but the first has reward 1, the fifth is truncated:
///      V(0) = 1 / (1 - d) and V(1) = d V(0) if truncated steps bootstrap from final_obs.
///   memory  observes 1 or -1, then 0; 2 actions; nine steps, the last has the first observation as its reward for action
///      1, its negative for action 0: V = d^8 at first, 0 without memory.
/// </summary>
public enum EnvId : uint {
  /// <summary>RLCORE_ENV_CARTPOLE: CartPole-v1</summary>
  Cartpole = 1,
  /// <summary>RLCORE_ENV_MOUNTAIN_CAR: MountainCar-v0</summary>
  MountainCar = 2,
  /// <summary>RLCORE_ENV_MOUNTAIN_CAR_CONTINUOUS: MountainCarContinuous-v0</summary>
  MountainCarContinuous = 3,
  /// <summary>RLCORE_ENV_ACROBOT: Acrobot-v1</summary>
  Acrobot = 4,
  /// <summary>RLCORE_ENV_PENDULUM: Pendulum-v1</summary>
  Pendulum = 5,
  /// <summary>RLCORE_ENV_BREAKOUT: MinAtar's Breakout: bytes [10, 10, 4] of paddle, ball, trail and bricks</summary>
  Breakout = 6,
  /// <summary>RLCORE_ENV_CARTPOLE_NO_VEL: CartPole-v1 that observes cart position and pole angle only</summary>
  CartpoleNoVel = 7,
  /// <summary>RLCORE_ENV_PENDULUM_NO_VEL: Pendulum-v1 that observes cosine and sine only</summary>
  PendulumNoVel = 8,
  /// <summary>RLCORE_ENV_REPEAT_PREVIOUS: POPGym's RepeatPreviousEasy: name the suit seen three steps before</summary>
  RepeatPrevious = 9,
  /// <summary>RLCORE_ENV_CATCH: bsuite's Catch: bytes [10, 5, 1] of ball and paddle</summary>
  Catch = 10,
  /// <summary>RLCORE_ENV_ASTERIX: MinAtar's Asterix: bytes [10, 10, 4] of player, enemies, trails and gold</summary>
  Asterix = 11,
  /// <summary>RLCORE_ENV_FREEWAY: MinAtar's Freeway: bytes [10, 10, 7] of chicken, cars and their trails</summary>
  Freeway = 12,
  /// <summary>
  /// RLCORE_ENV_SPACE_INVADERS:
  /// MinAtar's Space Invaders: bytes [10, 10, 6] of cannon, aliens and bullets
  /// </summary>
  SpaceInvaders = 13,
  /// <summary>RLCORE_ENV_MAZE: a maze of 7 x 7 cells, 20 steps long: bytes [42, 42, 1] of walls and agent</summary>
  Maze = 14,
  /// <summary>RLCORE_ENV_MAZE_RGB: the same maze: bytes [84, 84, 3]</summary>
  MazeRgb = 15,
  /// <summary>RLCORE_ENV_BIT_FLIP: ten bits to flip until they are the ten of a goal beside them</summary>
  BitFlip = 16,
  /// <summary>RLCORE_ENV_POINT_REACH: a point to move in a square until it is within 0.1 of a goal beside it</summary>
  PointReach = 17,
  /// <summary>RLCORE_ENV_PROBE1: constant reward: value</summary>
  Probe1 = 101,
  /// <summary>RLCORE_ENV_PROBE2: reward equal to the observation: backpropagation</summary>
  Probe2 = 102,
  /// <summary>RLCORE_ENV_PROBE3: reward one step later: discount</summary>
  Probe3 = 103,
  /// <summary>RLCORE_ENV_PROBE4: reward depends on the action: advantage</summary>
  Probe4 = 104,
  /// <summary>RLCORE_ENV_PROBE5: reward depends on observation and action</summary>
  Probe5 = 105,
  /// <summary>RLCORE_ENV_PROBE6: reward ten steps later</summary>
  Probe6 = 106,
  /// <summary>RLCORE_ENV_PROBE7: first observation must be remembered for three steps</summary>
  Probe7 = 107,
  /// <summary>RLCORE_ENV_PROBE6_ODD_EVEN: probe 6 with a correct action in each step</summary>
  Probe6OddEven = 108,
  /// <summary>RLCORE_ENV_PROBE_TRUNCATION: episodes that are only ever truncated</summary>
  ProbeTruncation = 109,
  /// <summary>RLCORE_ENV_PROBE_MEMORY: first observation must be remembered for eight steps</summary>
  ProbeMemory = 110,
}

// ---- Rows: the arrays that go round the loop ----

/// <summary>
/// The host's arrays of N rows, one row for each environment or agent. The same structure goes through the loop; each
/// call reads and writes the arrays that its comment names and neither looks at the others nor checks them. An array
/// that no call of the program reads or writes is NULL. Calls on ranges take the arrays of all N rows.
/// Example:
///   rlcore_learner_act(agent, &amp;rows);                 // obs -&gt; action
///   rlcore_vecenv_step(envs, env, &amp;rows);             // action -&gt; obs, reward and ends
///   rlcore_learner_observe(agent, &amp;rows);             // reward and ends
///   rlcore_learner_learn(agent, &amp;rows, 0, &amp;stats);    // obs
/// </summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_rows {
  /// <summary>sizeof(rlcore_rows)</summary>
  public uint struct_size;
  /// <summary>zero</summary>
  public uint reserved;
  /// <summary>[N] 0: the row is absent, and nothing of it is read or written; NULL: all are there</summary>
  public byte* active;
  /// <summary>[N, obs.len] the observation to act on next</summary>
  public void* obs;
  /// <summary>[N, sum of action.n] 1 for each choice allowed in obs, else 0; NULL: all are allowed</summary>
  public byte* action_mask;
  /// <summary>[N, action.len]</summary>
  public void* action;
  /// <summary>[N] of the action</summary>
  public float* reward;
  /// <summary>[N] 1 where the task reached a terminal state</summary>
  public byte* terminated;
  /// <summary>[N] 1 where the environment or the time limit cut the episode</summary>
  public byte* truncated;
  /// <summary>[N] 0 where the row was only reset, else 1</summary>
  public byte* valid;
  /// <summary>[N, obs.len] the last observation of the episode, in rows that ended</summary>
  public void* final_obs;
  /// <summary>[N, sum of action.n] choices allowed in final_obs, in rows that ended</summary>
  public byte* final_action_mask;
  /// <summary>[N] how long the action lasted, at least 0, in any unit; only with use_duration</summary>
  public float* duration;
}

// ---- N environments of one kind ----

/// <summary>When an environment whose episode ended starts the next one.</summary>
public enum Autoreset : uint {
  /// <summary>
  /// RLCORE_AUTORESET_SAME_STEP:
  /// in the same step: obs starts the new episode, final_obs ends the old one
  /// </summary>
  SameStep = 0,
  /// <summary>RLCORE_AUTORESET_NEXT_STEP: in the next step, which ignores the action and has valid 0</summary>
  NextStep = 1,
  /// <summary>RLCORE_AUTORESET_DISABLED: only by rlcore_vecenv_reset and rlcore_vecenv_reset_one</summary>
  Disabled = 2,
  /// <summary>RLCORE_AUTORESET_LEGACY: in the next step, which then also takes the action</summary>
  Legacy = 3,
}

/// <summary>
/// N environments, stepped together.
/// Example:
///   rlcore_vecenv_config_init(&amp;config, sizeof config);
///   config.num_envs = N;
///   rlcore_vecenv_size(env, &amp;config, &amp;size);
///   rlcore_vecenv_init(mem, size, env, &amp;config, &amp;v);
///   rlcore_vecenv_reset(v, env, NULL, rows.obs);
///   while (running) rlcore_vecenv_step(v, env, &amp;rows);    // with rows.action chosen for rows.obs
/// </summary>
public struct rlcore_vecenv { }

/// <summary>Configuration of N environments.</summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_vecenv_config {
  /// <summary>bytes; set by rlcore_vecenv_config_init</summary>
  public uint struct_size;
  /// <summary>N, at least 1; default 1</summary>
  public uint num_envs;
  /// <summary>environment i draws from the stream of seed + i, modulo 2^64; default 0</summary>
  public ulong seed;
  /// <summary>an rlcore_autoreset; default same step</summary>
  public uint autoreset;
  /// <summary>
  /// 0 (default): the environment's own limit, counted in its own steps even if wrappers repeat actions; otherwise
  /// replaces that limit and counts steps of this batch, whatever the wrappers; UINT32_MAX: never
  /// </summary>
  public uint max_episode_steps;
}

/// <summary>
/// What a reset begins with.
/// Example:
///   const rlcore_reset how = {.struct_size = sizeof how, .options = &amp;level, .options_size = sizeof level};
///   rlcore_vecenv_reset_with(v, env, &amp;how, rows.obs);
/// </summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_reset {
  /// <summary>sizeof(rlcore_reset)</summary>
  public uint struct_size;
  /// <summary>zero</summary>
  public uint reserved;
  /// <summary>[1] as in the same call without options; NULL: the random streams continue</summary>
  public ulong* seed;
  /// <summary>[options_size] bytes that the reset_with of the environment understands; NULL: none</summary>
  public void* options;
  /// <summary>bytes of options; 0 if there are none</summary>
  public UIntPtr options_size;
}

// ---- Action selection ----

/// <summary>How an action is chosen.</summary>
public enum SamplingMethod : uint {
  /// <summary>RLCORE_SAMPLING_BASIC: draws from the distribution</summary>
  Basic = 0,
  /// <summary>RLCORE_SAMPLING_GREEDY: the most probable action, or the mean; draws nothing</summary>
  Greedy = 1,
  /// <summary>RLCORE_SAMPLING_TEMPERATURE: draws from a distribution flattened above 1, sharpened below</summary>
  Temperature = 2,
  /// <summary>RLCORE_SAMPLING_TOPK: draws from the k most probable choices; continuous elements as BASIC</summary>
  Topk = 3,
  /// <summary>RLCORE_SAMPLING_BOTTOMK: draws from the k least probable choices, likewise</summary>
  Bottomk = 4,
}

/// <summary>
/// Parameters of action selection; those that the method does not read are 0. Where this may be NULL, NULL selects
/// RLCORE_SAMPLING_BASIC.
/// </summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_sampling {
  /// <summary>an rlcore_sampling_method</summary>
  public uint method;
  /// <summary>TOPK, BOTTOMK: at least 1</summary>
  public uint k;
  /// <summary>TEMPERATURE: above 0</summary>
  public float temperature;
  /// <summary>zero</summary>
  public uint reserved;
}

// ---- Layers of networks ----

/// <summary>Activation function of a layer.</summary>
public enum Activation : uint {
  /// <summary>RLCORE_ACTIVATION_TANH: tanh</summary>
  Tanh = 0,
  /// <summary>RLCORE_ACTIVATION_RELU: max(x, 0)</summary>
  Relu = 1,
  /// <summary>RLCORE_ACTIVATION_IDENTITY: x</summary>
  Identity = 2,
  /// <summary>RLCORE_ACTIVATION_ELU: x above 0, e^x - 1 below</summary>
  Elu = 3,
  /// <summary>RLCORE_ACTIVATION_SILU: x * sigmoid(x)</summary>
  Silu = 4,
  /// <summary>RLCORE_ACTIVATION_GELU: Gaussian error linear unit, with tanh</summary>
  Gelu = 5,
  /// <summary>RLCORE_ACTIVATION_LEAKY_RELU: x above 0, x / 100 below</summary>
  LeakyRelu = 6,
}

/// <summary>
/// Kinds of layers. In parentheses: the fields of rlcore_layer that a kind reads besides source. All others must be zero.
/// </summary>
public enum LayerKind : uint {
  /// <summary>
  /// RLCORE_LAYER_DENSE:
  /// units weighted sums of everything it reads; with a size they are a picture of that height and width for the
  /// layers that read it (units, size, activation, initializer, gain, flags)
  /// </summary>
  Dense = 1,
  /// <summary>
  /// RLCORE_LAYER_CONV:
  /// 2-D convolution, channels last, with so many units as channels (units, size, stride, same, activation,
  /// initializer, gain, flags)
  /// </summary>
  Conv = 3,
  /// <summary>
  /// RLCORE_LAYER_POOL:
  /// maximum or mean of each channel in each window (size, stride, same, activation, flags)
  /// </summary>
  Pool = 4,
  /// <summary>
  /// RLCORE_LAYER_NORM:
  /// layer normalization over the channels, with a scale and a bias for each (activation, flags)
  /// </summary>
  Norm = 5,
  /// <summary>
  /// RLCORE_LAYER_LSTM:
  /// long short-term memory. Recurrent layers carry a state from step to step; see sequence_len of
  /// rlcore_learner_config (units, initializer, gain, flags)
  /// </summary>
  Lstm = 6,
  /// <summary>RLCORE_LAYER_GRU: gated recurrent unit (units, initializer, gain)</summary>
  Gru = 7,
  /// <summary>RLCORE_LAYER_MINGRU: GRU whose gates read the input only (units, initializer, gain)</summary>
  Mingru = 8,
  /// <summary>
  /// RLCORE_LAYER_DECONV:
  /// transposed 2-D convolution, with so many units as channels (units, size, stride, same, activation, initializer,
  /// gain, flags)
  /// </summary>
  Deconv = 9,
  /// <summary>
  /// RLCORE_LAYER_ATTENTION:
  /// causal multi-head attention over the last window steps of an episode, with learned relative positions and an
  /// output projection. Carries a state as recurrent layers do (units, heads, window, initializer, gain)
  /// </summary>
  Attention = 10,
  /// <summary>
  /// RLCORE_LAYER_EMBED:
  /// sum of the embeddings of a pixel's channels, whole numbers from 0 to symbols - 1 (units, symbols, activation,
  /// initializer, gain, flags)
  /// </summary>
  Embed = 11,
  /// <summary>
  /// RLCORE_LAYER_ADD:
  /// sum of both sources; the second has the first one's shape, or a number for each of its channels (activation)
  /// </summary>
  Add = 12,
  /// <summary>RLCORE_LAYER_MULTIPLY: product of both sources, of which the same holds (activation)</summary>
  Multiply = 13,
  /// <summary>
  /// RLCORE_LAYER_JOIN:
  /// channels of both sources, pixel by pixel; a picture that a row follows becomes a row (activation)
  /// </summary>
  Join = 14,
  /// <summary>
  /// RLCORE_LAYER_DEPTHWISE:
  /// 2-D convolution of each channel by itself (depthwise), channels last: units are a multiple of the channels that
  /// it reads, and each channel has as many in a row (units, size, stride, same, activation, initializer, gain, flags)
  /// </summary>
  Depthwise = 15,
}

/// <summary>Flags of layers, to be combined with |.</summary>
public enum LayerFlag : uint {
  /// <summary>RLCORE_LAYER_HEAD: an output: told by rlcore_learner_layers and rlcore_policy_layers only</summary>
  Head = 1,
  /// <summary>
  /// RLCORE_LAYER_NO_BIAS:
  /// a dense layer, a convolution, its transpose or a normalization adds no bias
  /// </summary>
  NoBias = 2,
  /// <summary>RLCORE_LAYER_NO_SCALE: normalization multiplies by no scale</summary>
  NoScale = 4,
  /// <summary>RLCORE_LAYER_RMS: normalization divides by the root mean square and subtracts no mean</summary>
  Rms = 8,
  /// <summary>RLCORE_LAYER_WHOLE: normalization runs over height, width and channels</summary>
  Whole = 16,
  /// <summary>RLCORE_LAYER_MEAN: pooling takes the mean</summary>
  Mean = 32,
  /// <summary>
  /// RLCORE_LAYER_FORGET_ONE: an LSTM's forget biases start at 1, which TensorFlow adds in each step
  /// </summary>
  ForgetOne = 64,
  /// <summary>
  /// RLCORE_LAYER_BYTES:
  /// embeddings of observations that are bytes, which networks see divided by 255
  /// </summary>
  Bytes = 128,
  /// <summary>
  /// RLCORE_LAYER_NOISY:
  /// dense layers: each weight and bias has factorized Gaussian noise, whose standard deviation is learned
  /// and starts at 0.4 / sqrt(inputs). rlcore_learner_act and updates use the noise; rlcore_learner_predict
  /// and policies do not. See noisy of rlcore_learner_config
  /// </summary>
  Noisy = 256,
  /// <summary>
  /// RLCORE_LAYER_NORMALIZED:
  /// an LSTM normalizes each gate and its cells before they are used (layer normalization), as TensorFlow's
  /// LayerNormBasicLSTMCell does. Its biases are those of i, f, g, o and of the cells, then scales of the same,
  /// which start at 1
  /// </summary>
  Normalized = 512,
}

/// <summary>
/// How the weights of a layer are drawn. Biases start at 0; in a noisy layer with RLCORE_INIT_UNIFORM
/// they are drawn like its weights.
/// </summary>
public enum Initializer : uint {
  /// <summary>RLCORE_INIT_ORTHOGONAL: orthogonal rows or columns of length gain</summary>
  Orthogonal = 0,
  /// <summary>RLCORE_INIT_NORMAL: normal, mean 0, standard deviation gain</summary>
  Normal = 1,
  /// <summary>
  /// RLCORE_INIT_UNIFORM:
  /// uniform between -gain / sqrt(n) and gain / sqrt(n), where n is the number of inputs of an output (transposed
  /// convolution: of outputs of an input, as PyTorch counts)
  /// </summary>
  Uniform = 2,
  /// <summary>RLCORE_INIT_UNIT_ROWS: normal, scaled so that the weights of one output have length gain</summary>
  UnitRows = 3,
  /// <summary>
  /// RLCORE_INIT_SPARSE: as RLCORE_INIT_UNIFORM, but nine tenths of the weights of each output are 0
  /// </summary>
  Sparse = 4,
  /// <summary>
  /// RLCORE_INIT_GLOROT:
  /// uniform between plus and minus gain * sqrt(6 / (n + m)), where n is the number of inputs of an output and m that of
  /// outputs of an input: TensorFlow's default (Glorot). Weights of inputs and of states are apart, of all gates together
  /// </summary>
  Glorot = 5,
}

/// <summary>
/// One layer of a network. Fields that its kind does not read are zero. 68 bytes.
/// Example:
///   const rlcore_layer layers[] = {
///     {.kind = RLCORE_LAYER_CONV, .units = 16, .size = {3, 3}, .activation = RLCORE_ACTIVATION_RELU},
///     {.kind = RLCORE_LAYER_DENSE, .units = 64, .activation = RLCORE_ACTIVATION_RELU},
///   };
///   config.layers = layers, config.num_layers = 2;
/// </summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_layer {
  /// <summary>an rlcore_layer_kind</summary>
  public uint kind;
  /// <summary>outputs, or channels of a picture</summary>
  public uint units;
  /// <summary>
  /// its input: 0 for the layer before it, or the observations if it is the first; k for layer k, counted from 1;
  /// RLCORE_LAYER_INPUT for the whole observation; or RLCORE_LAYER_INPUT | k for its field k, counted from 1 in
  /// obs_fields of the learner config, where infos follow the other fields. If a layer names an info, each layer names
  /// the field that it reads. source[1] is read by RLCORE_LAYER_ADD, RLCORE_LAYER_MULTIPLY and RLCORE_LAYER_JOIN only
  /// </summary>
  public UInt32x2 source;
  /// <summary>height and width of a window, or of the picture that a dense layer makes</summary>
  public UInt32x2 size;
  /// <summary>rows and columns from one window to the next (0: 1; pooling: size)</summary>
  public UInt32x2 stride;
  /// <summary>0: windows lie inside the picture (VALID); 1: zeros surround it as in TensorFlow (SAME)</summary>
  public uint same;
  /// <summary>an rlcore_activation</summary>
  public uint activation;
  /// <summary>attention heads, which divide units</summary>
  public uint heads;
  /// <summary>steps that attention sees, this one included</summary>
  public uint window;
  /// <summary>symbols of each channel</summary>
  public uint symbols;
  /// <summary>rlcore_layer_flag</summary>
  public uint flags;
  /// <summary>an rlcore_initializer</summary>
  public uint initializer;
  /// <summary>scale of the initial weights (0: 1; orthogonal before an activation: the square root of 2)</summary>
  public float gain;
  /// <summary>zero</summary>
  public uint reserved;
}

// ---- Networks known by name ----

/// <summary>Networks known by name, for rlcore_net_preset.</summary>
public enum Net : uint {
  /// <summary>RLCORE_NET_FC: numbers: two dense layers of 64 units, tanh</summary>
  Fc = 1,
  /// <summary>RLCORE_NET_NATURE: 84 x 84 pictures: three convolutions, 512 units (Mnih et al. 2015)</summary>
  Nature = 2,
  /// <summary>RLCORE_NET_IMPALA_SMALL: 84 x 84 pictures: two convolutions, 256 units, LSTM of 256</summary>
  ImpalaSmall = 3,
  /// <summary>RLCORE_NET_BTGYM_42: 42 x 42 pictures: four convolutions of stride 2, ELU, LSTM of 256</summary>
  Btgym42 = 4,
  /// <summary>RLCORE_NET_MINATAR: 10 x 10 pictures: one convolution, 128 units</summary>
  Minatar = 5,
  /// <summary>RLCORE_NET_LSTM_SIMPLE: numbers: 128 units without activation, LSTM of 128</summary>
  LstmSimple = 6,
  /// <summary>
  /// RLCORE_NET_LSTM_BOW_ENDPOOL_RES:
  /// 7 x 7 symbols, bytes below 11: embeddings, two convolutions, pool, LSTM of 128
  /// </summary>
  LstmBowEndpoolRes = 7,
  /// <summary>
  /// RLCORE_NET_TRANSFORMER_GRID:
  /// numbers: a causal transformer, two blocks over 9 steps each, 128 wide, 4 heads
  /// </summary>
  TransformerGrid = 8,
  /// <summary>
  /// RLCORE_NET_TRANSFORMER_NORM:
  /// numbers: RLCORE_NET_TRANSFORMER_GRID with layer normalization before each attention and each pair of dense layers, and
  /// a final one. 16 layers
  /// </summary>
  TransformerNorm = 9,
  /// <summary>
  /// RLCORE_NET_TRANSFORMER_ACTIONS:
  /// two obs_fields, numbers and the action before them, an RLCORE_I32 of one choice more than actions for "none": two
  /// transformers like RLCORE_NET_TRANSFORMER_NORM, of which the first is the policy's with a policy_layer of 18. A step is
  /// one token, the sum of both embeddings, where the original has one for each, so 9 steps are its 17 tokens; attention
  /// knows how many steps ago a token was, not the step's number in the episode; at an episode's start the window is empty
  /// and no padding is attended to. 36 layers
  /// </summary>
  TransformerActions = 10,
  /// <summary>
  /// RLCORE_NET_LSTM_FILM:
  /// two obs_fields of bytes, a 7 x 7 picture of symbols below 11 and an instruction of words below 100, 0 for none:
  /// RLCORE_NET_LSTM_BOW_ENDPOOL_RES with two residual blocks in which the instruction scales and shifts the channels
  /// (FiLM). Each place of the instruction has embeddings of its own, whose sum passes through 128 units, where the original
  /// runs a GRU over the words; layer normalization stands for its batch normalization. 27 layers
  /// </summary>
  LstmFilm = 11,
}

// ---- Configurations of learners ----

/// <summary>Algorithm of a learner.</summary>
public enum Algorithm : uint {
  /// <summary>RLCORE_ALGORITHM_PPO: proximal policy optimization</summary>
  Ppo = 0,
  /// <summary>RLCORE_ALGORITHM_A2C: advantage actor-critic, whose workers A3C runs apart</summary>
  A2c = 1,
  /// <summary>
  /// RLCORE_ALGORITHM_IMPALA:
  /// IMPALA: an actor-critic that corrects by V-trace for what older policies did
  /// </summary>
  Impala = 2,
  /// <summary>
  /// RLCORE_ALGORITHM_UNREAL: A2C with auxiliary tasks on past steps: pixel control, rewards, values
  /// </summary>
  Unreal = 3,
  /// <summary>RLCORE_ALGORITHM_DQN: deep Q-networks, off policy: discrete actions, also in a structure</summary>
  Dqn = 4,
  /// <summary>
  /// RLCORE_ALGORITHM_TD3:
  /// twin delayed deterministic policy gradients, off policy: continuous actions, also in a structure. DDPG if
  /// num_critics and policy_interval are 1 and target_noise is 0
  /// </summary>
  Td3 = 5,
  /// <summary>
  /// RLCORE_ALGORITHM_SAC:
  /// soft actor-critic, off policy: continuous actions, discrete ones, or structures of both
  /// </summary>
  Sac = 6,
  /// <summary>RLCORE_ALGORITHM_PQN: Q(lambda) over rollouts: parallelized Q-networks</summary>
  Pqn = 7,
  /// <summary>
  /// RLCORE_ALGORITHM_STREAM_AC:
  /// stream AC(lambda): an actor-critic that learns from each step alone, by eligibility traces. One environment,
  /// num_steps 1: learn is due after every observe
  /// </summary>
  StreamAc = 8,
  /// <summary>
  /// RLCORE_ALGORITHM_STREAM_Q:
  /// stream Q(lambda), which does the same with Q: discrete actions, also in a structure
  /// </summary>
  StreamQ = 9,
}

/// <summary>How parameters move along gradients.</summary>
public enum Optimizer : uint {
  /// <summary>RLCORE_OPTIMIZER_ADAM: Adam; epsilon is added as PyTorch adds it</summary>
  Adam = 0,
  /// <summary>RLCORE_OPTIMIZER_ADAM_TENSORFLOW: Adam; epsilon is added as TensorFlow adds it</summary>
  AdamTensorflow = 1,
  /// <summary>RLCORE_OPTIMIZER_RMSPROP: RMSProp; epsilon is added as PyTorch adds it</summary>
  Rmsprop = 2,
  /// <summary>
  /// RLCORE_OPTIMIZER_RMSPROP_TENSORFLOW:
  /// RMSProp; epsilon as TensorFlow adds it, and mean squares that begin with 1
  /// </summary>
  RmspropTensorflow = 3,
  /// <summary>
  /// RLCORE_OPTIMIZER_RMSPROP_CENTERED:
  /// RMSProp that divides by the deviation of gradients, as PyTorch does
  /// </summary>
  RmspropCentered = 4,
  /// <summary>
  /// RLCORE_OPTIMIZER_ADAM_RECTIFIED:
  /// Adam that warms up until its second moment knows enough gradients (RAdam)
  /// </summary>
  AdamRectified = 5,
}

/// <summary>
/// Hyperparameters, grouped by the algorithms that read them. In parentheses: the default, those of algorithms where they
/// differ, and the values that a field may have; flags are 0 or 1. A field that the algorithm, with the other fields, does
/// not read must have the default of rlcore_learner_config_init: rlcore_learner_size and rlcore_learner_init refuse others
/// by name.
/// </summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_learner_config {
  /// <summary>bytes; set by rlcore_learner_config_init</summary>
  public uint struct_size;
  /// <summary>0</summary>
  public uint reserved;
  /// <summary>all random numbers come from this; each environment has a stream of its own (1)</summary>
  public ulong seed;
  /// <summary>environment steps until the _end values are reached; 0: never (0)</summary>
  public ulong total_steps;
  /// <summary>an rlcore_algorithm, as rlcore_learner_config_init was told</summary>
  public uint algorithm;
  /// <summary>N, environments that share the learner (4; DQN, TD3, SAC, stream algorithms 1; at least 1)</summary>
  public uint num_envs;
  /// <summary>discount factor (0.99; 0 to 1)</summary>
  public float discount;
  /// <summary>
  /// observe takes how long decisions lasted, in steps of any unit, and each is discounted by the power of discount:
  /// agents that decide every frame and agents that decide every fifth share a learner (a semi-Markov process). The
  /// host sums the rewards of a decision (0)
  /// </summary>
  public uint use_duration;
  /// <summary>
  /// rewards below this count as this, before anything else reads them, also those of transitions that a host gives
  /// without discounts; returns in statistics have them as they are. -1 and 1 as for Atari; both 0: off (0)
  /// </summary>
  public float reward_min;
  /// <summary>rewards above this count as this; above reward_min, unless both are 0 (0)</summary>
  public float reward_max;
  /// <summary>
  /// step size at the start (2.5e-4; A2C, UNREAL 7e-4; IMPALA 4.8e-4; TD3 1e-3; SAC 3e-4; stream algorithms 1; 0 to 1)
  /// </summary>
  public float learning_rate;
  /// <summary>step size at total_steps (0; DQN 2.5e-4; TD3 1e-3; SAC 3e-4; stream algorithms 1; 0 to 1)</summary>
  public float learning_rate_end;
  /// <summary>calls that act, observe, learn or tell values take masks of allowed choices (0)</summary>
  public uint use_action_mask;
  /// <summary>
  /// chunks that each minibatch is divided into, at most one per row: the smallest slices of learning; their gradients
  /// are added as a binary tree in the order of the chunks (1; at least 1)
  /// </summary>
  public uint num_chunks;
  /// <summary>
  /// PPO, A2C, IMPALA, UNREAL, DQN, TD3, SAC and PQN: environments can act and be observed while an update runs; the
  /// policy from before the update acts, off policy until the next update begins. Needs memory for a second rollout,
  /// off policy room in the store for num_envs * (n_step + 1) + train_interval transitions, and a second set of
  /// parameters (0)
  /// </summary>
  public uint overlap;
  /// <summary>hidden layers of the policy and of the value network (2; 0 to 4)</summary>
  public uint num_hidden;
  /// <summary>units of each hidden layer; ignored beyond num_hidden (64, 64)</summary>
  public UInt32x4 hidden_len;
  /// <summary>
  /// an rlcore_activation, of hidden layers (TANH; DQN, TD3, SAC, PQN RELU; stream algorithms LEAKY_RELU)
  /// </summary>
  public uint activation;
  /// <summary>
  /// hidden layers are normalized before their activation, each row on its own; stream algorithms do it without scales
  /// and biases (0; PQN, stream algorithms 1)
  /// </summary>
  public uint hidden_norm;
  /// <summary>entries of layers, up to 64 (0)</summary>
  public uint num_layers;
  /// <summary>
  /// height, width and channels of an observation that is a picture, in this order in memory; their product is
  /// obs.len. Where obs_fields lists fields with axes, as rlcore_env_fields does of wrappers, others are refused. Of
  /// several fields the first is the picture, whose own axes these are, or 0: rollouts keep its bytes as they are, and
  /// num_stacked and pixel control are about it. The layers of TD3's and SAC's critics read the picture alone, and
  /// continuous actions follow the last one. 0: the observation is no picture, or one field of obs_fields is, and
  /// critics read continuous actions behind it (0)
  /// </summary>
  public UInt32x3 obs_dims;
  /// <summary>
  /// frames in an observation of RLCORE_U8, or in the first field of others, up to 16, stacked along its last axis, or
  /// along its channels with RLCORE_FIELD_CHANNELS_FIRST, the newest last. A rollout then stores each frame once: 7.5
  /// KB instead of 28 KB for 84 x 84 x 4. The older frames are those of the environment's previous observation,
  /// shifted, or copies of the newest frame or zeros, as at the start of an episode. Others take room:
  /// RLCORE_WRAP_FRAME_STACK around RLCORE_WRAP_EPISODIC_LIFE adds one with each life, whose first step no observation
  /// shows. A rollout has room for one of them per environment and per 16 transitions; more are RLCORE_E_VALUE. An
  /// environment's first observation in a rollout may have any frames. Off policy the store keeps each frame once, for
  /// 7.2 KB instead of 56 KB a transition; the first observation of an episode may have any frames, and final_obs
  /// follows the one before it. There is room for buffer_size frames, 1 / 128 of that more and some for each
  /// environment: where most episodes are truncated within 256 steps, fewer transitions than buffer_size may be kept,
  /// the newest ones. Not with normalize_obs. 0: observations are stored whole (0)
  /// </summary>
  public uint num_stacked;
  /// <summary>
  /// PPO, A2C, IMPALA, UNREAL and DQN: first hidden layers that the policy and the value network share, 0 to
  /// num_hidden; DQN shares them between the value of an observation and the advantages of choices (0)
  /// </summary>
  public uint num_shared;
  /// <summary>
  /// PPO, A2C, IMPALA and UNREAL: the listed layer that the policy reads, counted from 1, while the values and pixel
  /// control read the last one. Not with num_shared, whose layers both read. 0: both read the last one (0)
  /// </summary>
  public uint policy_layer;
  /// <summary>
  /// PPO, A2C, IMPALA, UNREAL, DQN and PQN: hidden layers and heads are noisy (RLCORE_LAYER_NOISY,
  /// RLCORE_INIT_UNIFORM), and their noise explores. It is drawn once per rollout, and the update uses the noise that
  /// acted. DQN draws it for each gradient step, the same for Q and its target, and acts with it until the next;
  /// exploration_start and exploration_end can then be 0. Exported policies and rlcore_learner_predict have none. Not
  /// with overlap; rlcore_learner_learn_batch then works with IMPALA only (0)
  /// </summary>
  public uint noisy;
  /// <summary>continuous actions are mapped to their bounds by tanh; 0: they are clipped (0; TD3, SAC 1)</summary>
  public uint squash;
  /// <summary>
  /// PPO, A2C, IMPALA, UNREAL and stream AC: initial logarithm of the standard deviation of continuous actions (0)
  /// </summary>
  public float log_std_init;
  /// <summary>
  /// PPO, A2C, IMPALA, UNREAL, TD3, SAC and stream AC: lower limit of the logarithms of standard deviations (-20; -40
  /// to 40)
  /// </summary>
  public float log_std_min;
  /// <summary>
  /// PPO, A2C, IMPALA, UNREAL, SAC and stream AC: upper limit of the logarithms of standard deviations, at least
  /// log_std_min (2; -40 to 40)
  /// </summary>
  public float log_std_max;
  /// <summary>
  /// observations are scaled to mean 0 and deviation 1 by running statistics. Off policy the store keeps them as they
  /// come, and each gradient step scales them by the statistics of the update, during which these do not change (0;
  /// stream algorithms 1)
  /// </summary>
  public uint normalize_obs;
  /// <summary>normalized observations are clipped to plus or minus this (10; above 0)</summary>
  public float obs_clip;
  /// <summary>
  /// rewards are divided by the running deviation of the discounted return; off policy where a gradient step reads
  /// them, which are sums of n_step rewards (0; stream algorithms 1)
  /// </summary>
  public uint normalize_reward;
  /// <summary>normalized rewards are clipped to plus or minus this (10; above 0)</summary>
  public float reward_clip;
  /// <summary>environment steps to exploration_end (10,000; TD3, SAC 1000)</summary>
  public uint exploration_steps;
  /// <summary>probability of a random action at the start (1; 0 to 1)</summary>
  public float exploration_start;
  /// <summary>the same from exploration_steps on (0.05; TD3, SAC 0; stream Q 0.01; 0 to 1)</summary>
  public float exploration_end;
  /// <summary>
  /// an rlcore_optimizer, how parameters move along gradients (ADAM; A2C, IMPALA, UNREAL RMSPROP; PQN ADAM_RECTIFIED)
  /// </summary>
  public uint optimizer;
  /// <summary>
  /// gradients are scaled down to this norm; 0: off (0.5; IMPALA, UNREAL 40; DQN, PQN 10; TD3, SAC 0; at least 0)
  /// </summary>
  public float max_grad_norm;
  /// <summary>decay of Adam's first moment (0.9; from 0 to below 1)</summary>
  public float adam_beta1;
  /// <summary>
  /// decay of Adam's second moment, at least the square of adam_beta1: with less a step has no bound (0.999; from 0 to
  /// below 1)
  /// </summary>
  public float adam_beta2;
  /// <summary>epsilon of the optimizer (1e-5; IMPALA 0.01; 1e-12 to 1)</summary>
  public float adam_epsilon;
  /// <summary>decay of RMSProp's mean squares (0.99; from 0 to below 1)</summary>
  public float rms_decay;
  /// <summary>part of its last step that RMSProp takes again; 0 if centered (0; from 0 to below 1)</summary>
  public float rms_momentum;
  /// <summary>
  /// PPO, A2C, IMPALA, UNREAL and PQN: losses are sums over a minibatch instead of means (0; IMPALA 1)
  /// </summary>
  public uint sum_losses;
  /// <summary>
  /// T, steps of every environment in one rollout (1; PPO 128; A2C 5; IMPALA 80; UNREAL 20; PQN 32; at least 1)
  /// </summary>
  public uint num_steps;
  /// <summary>
  /// parts of a rollout, each a minibatch; T * N must be a multiple of it (1; PPO, PQN 4; at least 1)
  /// </summary>
  public uint num_minibatches;
  /// <summary>passes over each rollout (1; PPO, PQN 4; 1 to 1000)</summary>
  public uint num_epochs;
  /// <summary>
  /// steps of the sequences that recurrent layers learn from, which num_steps and the rows of a minibatch, or
  /// batch_size, are multiples of; at least 1 exactly if there are such layers. Without them IMPALA learns from whole
  /// rollouts of each environment. Off policy a sequence has steps of one environment that follow one another in the
  /// store, over the ends of episodes, where states are cut; the transitions that are drawn are the last ones of
  /// sequences, with all of n_step. The store keeps the recurrent state of each transition; critics start from zeros
  /// (0)
  /// </summary>
  public uint sequence_len;
  /// <summary>
  /// PPO, A2C, IMPALA, UNREAL, DQN, TD3, SAC and PQN: steps before each sequence that recurrent layers first run
  /// through without a loss, so that the sequence starts from a state computed with the current parameters. Fewer where
  /// the episode or the rollout begins. At most num_steps - sequence_len, or buffer_size; 0: sequences start from the
  /// states that were recorded (0)
  /// </summary>
  public uint burn_in;
  /// <summary>
  /// lambda of GAE, V-trace, Q(lambda) and eligibility traces (1; PPO 0.95; PQN 0.65; stream algorithms 0.8; 0 to 1)
  /// </summary>
  public float gae_lambda;
  /// <summary>an rlcore_accumulate, precision that advantages are summed in (F32)</summary>
  public uint accumulate;
  /// <summary>
  /// PPO, A2C and UNREAL: advantages get mean 0 and deviation 1 in each minibatch, divided by the sample deviation, of
  /// n - 1 (0; PPO 1)
  /// </summary>
  public uint normalize_advantage;
  /// <summary>
  /// PPO, A2C, IMPALA and UNREAL: weight of the value loss, half the mean squared error (0.5; A2C 1; at least 0)
  /// </summary>
  public float value_coef;
  /// <summary>
  /// PPO, A2C, IMPALA and UNREAL: values are clipped to those of the rollout plus or minus this; 0: off (0; at least
  /// 0)
  /// </summary>
  public float value_clip;
  /// <summary>
  /// PPO, A2C, IMPALA, UNREAL and stream AC: weight of the entropy bonus at the start (0.01; IMPALA 6e-4; UNREAL 1e-3)
  /// </summary>
  public float entropy_coef;
  /// <summary>
  /// PPO, A2C, IMPALA, UNREAL and stream AC: part of entropy_coef that is left at total_steps, on a straight line; 1:
  /// entropy_coef stays as it is (1; 0 to 1)
  /// </summary>
  public float entropy_share_end;
  /// <summary>
  /// PPO, A2C, IMPALA and UNREAL: an update ends once its approximate KL divergence passes 1.5 times this; 0: off (0;
  /// at least 0)
  /// </summary>
  public float target_kl;
  /// <summary>probability ratios are clipped to 1 plus or minus this at the start (0.2; above 0, to 10)</summary>
  public float clip;
  /// <summary>the same at total_steps (0.2; 0 to 10)</summary>
  public float clip_end;
  /// <summary>
  /// updates from one refresh to the next of a copy of the parameters. An update that refreshes it does so when it
  /// begins; the copy's log-probabilities then stand in for the recorded ones in ratios, approx_kl and clip_fraction. A
  /// copy has the noise that the parameters had. 0: there is none (0)
  /// </summary>
  public uint prime_interval;
  /// <summary>V-trace: probability ratios that scale temporal differences are clipped to this (1; above 0)</summary>
  public float clip_rho;
  /// <summary>V-trace: probability ratios that carry later differences back are clipped to this (1; above 0)</summary>
  public float clip_c;
  /// <summary>V-trace: probability ratios that scale advantages are clipped to this (1; above 0)</summary>
  public float clip_pg_rho;
  /// <summary>V-trace: how much of what the three clips cut off still counts (0; 0 to 1)</summary>
  public float leak;
  /// <summary>
  /// weight of pixel control, the squared error of how much cells of the picture change, summed over cells; it needs
  /// actions of one choice, and a picture. 0: off, without such a head (0; UNREAL 0.05; at least 0)
  /// </summary>
  public float pixel_control_coef;
  /// <summary>
  /// weight of the prediction of the next reward's sign, a cross-entropy; 0: off, without such a head (0; UNREAL 1; at
  /// least 0)
  /// </summary>
  public float reward_class_coef;
  /// <summary>weight of the squared error of values on past steps; 0: off (0; UNREAL 0.5; at least 0)</summary>
  public float value_replay_coef;
  /// <summary>
  /// weight of the algorithm's own loss on past steps. UNREAL: A2C's, whose advantages come from the values recorded
  /// with them; as in btgym, nothing corrects for the older policies that chose the actions. PPO: the same with the
  /// clipped ratios to the log-probabilities that were recorded, or with prime_interval to those of the copy;
  /// advantages stay as they are. IMPALA: corrected by V-trace. value_replay_coef must be 0 then; 0: off (0; at least
  /// 0)
  /// </summary>
  public float policy_replay_coef;
  /// <summary>
  /// discount of pixel changes; 0: only the next change counts. With num_stacked only the newest frame's changes do
  /// (0.9; 0 to 1)
  /// </summary>
  public float pixel_control_discount;
  /// <summary>side of a cell, at least 1; half of it is cropped on each side (2)</summary>
  public uint pixel_cell;
  /// <summary>change of a cell: 0: the largest of its pixels, 1: their mean (0)</summary>
  public uint pixel_mean;
  /// <summary>observations that a reward is predicted from, 1 to 16, the last of which it follows (3)</summary>
  public uint reward_sequence_len;
  /// <summary>rewards are positive above this, and negative below its negative (0.1; at least 0)</summary>
  public float reward_threshold;
  /// <summary>
  /// last steps of each environment that are kept for these tasks, more than a sequence has. Bytes stay bytes, states
  /// of recurrent layers are kept too, and with num_stacked whole stacks. An update begins by keeping its steps (2000)
  /// </summary>
  public uint history_len;
  /// <summary>
  /// steps of an environment that must be kept before these tasks draw from them, up to history_len, which is what
  /// btgym waits for; the algorithm learns from the start. 0: one more than a sequence has (0)
  /// </summary>
  public uint history_starts;
  /// <summary>
  /// sequences of past steps, of sequence_len or else num_steps each, and rewards to predict, per minibatch; 0: as
  /// many steps as the minibatch has (0)
  /// </summary>
  public uint num_replayed;
  /// <summary>
  /// stream AC: bounds the steps of the policy's parameters: they are at most the error times the trace over
  /// kappa_policy * max(|error|, 1) * the sum of absolute values of the trace; 0: no bound (3; at least 0)
  /// </summary>
  public float kappa_policy;
  /// <summary>the same for the parameters of the value, or of Q (2; at least 0)</summary>
  public float kappa_value;
  /// <summary>
  /// demonstrated steps that are kept for good, the first ones of rlcore_learner_demonstrate; later ones are as other
  /// transitions off policy, and are left out on policy. Off policy their transitions lie beside those of buffer_size,
  /// where nothing overwrites them, num_stacked must be 0, and n_step rewards may go on with the learner's own steps.
  /// On policy observations and actions are kept, for imitation_coef, without recurrent layers. 0: none (0; 0 to
  /// 100000000)
  /// </summary>
  public uint demonstration_size;
  /// <summary>
  /// part of the transitions of each batch, or with recurrent layers of its sequences, rounded to the nearest number,
  /// that is drawn from kept demonstrations, while there are any; all, while there is nothing else. With
  /// priority_exponent each part is drawn by its own priorities, and importance is relative to its own least one. On
  /// policy so many rows, as a part of those of a minibatch, are drawn beside it, uniformly (0.25; 0 to 1)
  /// </summary>
  public float demonstration_share;
  /// <summary>
  /// weight, at the start, of the loss of rlcore_learner_imitate on the kept demonstrations of a batch, the mean over
  /// them, beside the algorithm's own loss: of Q, or of the policy. TD3 divides values by their mean size in the batch
  /// then, as TD3+BC does, where this is 1 / alpha. It is not weighted by importance. 0: off (0; at least 0)
  /// </summary>
  public float imitation_coef;
  /// <summary>the same at total_steps, on a straight line (0; at least 0)</summary>
  public float imitation_coef_end;
  /// <summary>
  /// DQN and PQN: distance that Q of a demonstrated choice is to keep from that of every other one (0.8; above 0)
  /// </summary>
  public float imitation_margin;
  /// <summary>
  /// PPO, A2C, IMPALA, UNREAL and SAC: standard deviations learn from demonstrations too, not the means alone (0)
  /// </summary>
  public uint imitation_fit_std;
  /// <summary>
  /// transitions kept, at least batch_size; or 0: none, it learns by rlcore_learner_learn_transitions alone (100,000)
  /// </summary>
  public uint buffer_size;
  /// <summary>transitions of a gradient step, divided into num_chunks chunks (256; DQN 128; at least 1)</summary>
  public uint batch_size;
  /// <summary>environment steps before the first update (1000)</summary>
  public uint learning_starts;
  /// <summary>environment steps from one update to the next (1; at least 1)</summary>
  public uint train_interval;
  /// <summary>gradient steps of an update (1; 1 to 10000)</summary>
  public uint gradient_steps;
  /// <summary>
  /// gradient steps from one move of the target networks to the next (500; TD3 2; SAC 1; at least 1)
  /// </summary>
  public uint target_interval;
  /// <summary>how far the target networks move; 1 copies (0.005; DQN 1; above 0, to 1)</summary>
  public float target_rate;
  /// <summary>
  /// steps n whose discounted rewards are summed before the value of the next observation counts, up to buffer_size;
  /// fewer where an episode ends. What older policies did is not corrected for. num_envs * n_step transitions lie
  /// beside the buffer until they are complete (1; at least 1)
  /// </summary>
  public uint n_step;
  /// <summary>
  /// errors count linearly beyond 1, and half their squares within; 0: whole squares everywhere, whose gradients are
  /// twice as large within 1 (0; DQN 1)
  /// </summary>
  public uint huber;
  /// <summary>
  /// how far the distances of values from their targets decide which transitions are drawn, from 0, all alike, to 1,
  /// in proportion (0; 0 to 1)
  /// </summary>
  public float priority_exponent;
  /// <summary>
  /// share of the largest distance of a sequence's steps in that of the sequence; the rest is their mean (0.9; 0 to 1)
  /// </summary>
  public float priority_max_share;
  /// <summary>how far what is drawn more often counts less at the start (0.4; 0 to 1)</summary>
  public float importance_exponent;
  /// <summary>environment steps after which that is 1; 0: it stays as it is (0)</summary>
  public uint importance_steps;
  /// <summary>
  /// DQN and SAC: quantiles of the distribution of returns that DQN learns for each choice (QR-DQN), or that each of
  /// SAC's critics learns (TQC), 2 to 256. Values are their means. With huber errors count linearly only beyond 1; 0:
  /// values alone (0)
  /// </summary>
  public uint num_quantiles;
  /// <summary>the network chooses the next action whose value the target network gives (1)</summary>
  public uint double_q;
  /// <summary>separate outputs for the value of an observation and the advantages of actions (0)</summary>
  public uint dueling;
  /// <summary>
  /// atoms of the distribution of returns that it learns for each choice (C51), 2 to 256; 51 in the paper. Priorities
  /// are Kullback-Leibler divergences then, huber is not read. Not with num_quantiles; 0: off (0)
  /// </summary>
  public uint num_atoms;
  /// <summary>the lowest atom; returns below it count as this (-10; -1e6 to 1e6)</summary>
  public float value_min;
  /// <summary>the highest atom; returns above it count as this (10; -1e6 to 1e6)</summary>
  public float value_max;
  /// <summary>critics, 1 or 2, the lower of which counts; with num_quantiles to 8 (2; 1 to 8)</summary>
  public uint num_critics;
  /// <summary>step size of the critics, relative to learning_rate (1; 0 to 1000)</summary>
  public float critic_rate;
  /// <summary>gradient steps of the critics for each one of the policy (2; SAC 1; at least 1)</summary>
  public uint policy_interval;
  /// <summary>TD3: standard deviation of the noise on actions, which are -1 to 1 here (0.1; at least 0)</summary>
  public float exploration_noise;
  /// <summary>TD3: the same for the noise on next actions in the critics' targets (0.2; at least 0)</summary>
  public float target_noise;
  /// <summary>TD3: the noise in targets is clipped to plus or minus this (0.5; at least 0)</summary>
  public float target_noise_clip;
  /// <summary>SAC: weight of the entropy, in nats, at the start (1; 1e-8 to 1e8)</summary>
  public float temperature;
  /// <summary>SAC: step size of the logarithm of the temperature; 0: it is constant (3e-4; 0 to 1)</summary>
  public float temperature_rate;
  /// <summary>
  /// SAC: entropy that the temperature aims at. With continuous actions in nats for each number of an action, at most
  /// ln 2. With discrete ones a share, from 0 to 1, of the most that each element's allowed choices can have, ln of
  /// their number, averaged over the batch; a number below 0 means half. A row that allows one choice has entropy and
  /// target 0. Of a structure with both the targets are added, and it is at most ln 2 (-1)
  /// </summary>
  public float target_entropy;
  /// <summary>
  /// SAC: with num_quantiles: targets are the quantiles of all critics without the highest, this many for each critic;
  /// below num_quantiles. The critics, up to 8 then, are averaged, not the lowest taken (0)
  /// </summary>
  public uint dropped_quantiles;
  /// <summary>
  /// [num_layers] layers that come first; the policy and the value network share them, and their hidden layers read
  /// the last one. Critics of TD3 and SAC have copies of their own, where RLCORE_LAYER_INPUT is the observation
  /// followed by the numbers of an action, and the last layer must depend on it; without numbers it is the
  /// observation. With obs_dims and with recurrent layers, which read fields one by one if there are several, the
  /// numbers follow them instead. This list and the others are read by rlcore_learner_size and rlcore_learner_init
  /// only. NULL if num_layers is 0
  /// </summary>
  public rlcore_layer* layers;
  /// <summary>
  /// [num_obs_fields] fields of an observation, as rlcore_env_fields lists them. Networks read all but infos; fields
  /// that are not listed are not read either. A layer can read one of them alone: see its source. Required for
  /// RLCORE_STRUCT. NULL if num_obs_fields is 0
  /// </summary>
  public rlcore_field* obs_fields;
  /// <summary>
  /// [num_action_fields] fields of an action of RLCORE_STRUCT, of kinds RLCORE_F32 and RLCORE_I32, in the order of their
  /// offsets, with up to 64 elements of each kind. NULL for other actions
  /// </summary>
  public rlcore_field* action_fields;
  /// <summary>entries of obs_fields, up to 8</summary>
  public uint num_obs_fields;
  /// <summary>entries of action_fields, up to 8</summary>
  public uint num_action_fields;
}

// ---- Configurations known by name ----

/// <summary>
/// Learners of other packages, with the numbers that they have there. Where theirs weigh the whole squared error of
/// values, value_coef is twice as large. In parentheses: the algorithm, and the rlcore_net whose layers it has beside
/// heads alone; without one, hidden layers. The seed and use_action_mask are those of rlcore_learner_config_init.
/// </summary>
public enum Preset : uint {
  /// <summary>
  /// RLCORE_PRESET_SRC_PPO:
  /// FCAgent of src.ppo with its OnlineTrainConfig; its command line has other defaults. The rate is constant, which
  /// the tuple there was meant to say. Its agents with an LSTM or a transformer also need layers, as of
  /// rlcore_net_preset, and sequence_len (PPO)
  /// </summary>
  SrcPpo = 1,
  /// <summary>
  /// RLCORE_PRESET_BTGYM_A3C:
  /// A3C of btgym with BaseAacPolicy, for each worker and for the server: pictures of 42 x 42, noisy heads, Adam as in
  /// TensorFlow, a constant rate. Left to the host: processes, and the last action and reward beside the picture
  /// (obs_fields, layers of its own). Logits are not normalized (A2C, RLCORE_NET_BTGYM_42)
  /// </summary>
  BtgymA3c = 2,
  /// <summary>
  /// RLCORE_PRESET_BTGYM_UNREAL:
  /// Unreal of btgym: the same with settings of its tasks, which are off there too. btgym's weight of a task that is
  /// on is 1: pixel_control_coef, reward_class_coef, and value_replay_coef or policy_replay_coef (UNREAL,
  /// RLCORE_NET_BTGYM_42)
  /// </summary>
  BtgymUnreal = 3,
  /// <summary>
  /// RLCORE_PRESET_BTGYM_PPO:
  /// PPO of btgym: the same without tasks, with ratios to a copy of the parameters (prime_interval), which is made
  /// when an update begins; btgym's is that of the update before. btgym's clip decays with its rate: where the rate is
  /// to decay, set clip_end with learning_rate_end (PPO, RLCORE_NET_BTGYM_42)
  /// </summary>
  BtgymPpo = 4,
  /// <summary>
  /// RLCORE_PRESET_SEED_RL:
  /// Learner of pytorch_seed_rl, which is IMPALA: minibatches of 4 rollouts, 2 actors with 8 environments each, whole
  /// squared errors of values. Left to the host: actors, and the last action and reward beside the picture. Its
  /// convolutions are leaky (IMPALA, RLCORE_NET_NATURE)
  /// </summary>
  SeedRl = 5,
  /// <summary>RLCORE_PRESET_CLEANRL_PPO: ppo.py of CleanRL (PPO)</summary>
  CleanrlPpo = 6,
  /// <summary>
  /// RLCORE_PRESET_CLEANRL_PPO_ATARI:
  /// ppo_atari.py of CleanRL; wrappers are left to the host: rlcore_wrappers_atari (PPO, RLCORE_NET_NATURE)
  /// </summary>
  CleanrlPpoAtari = 7,
  /// <summary>
  /// RLCORE_PRESET_CLEANRL_DQN:
  /// dqn.py of CleanRL. Its targets move every 500 environment steps, which are 50 gradient steps (DQN)
  /// </summary>
  CleanrlDqn = 8,
  /// <summary>
  /// RLCORE_PRESET_ZOO_PPO_CARTPOLE:
  /// PPO for CartPole-v1 of RL Baselines3 Zoo, which adds to the defaults of Stable-Baselines3 (PPO)
  /// </summary>
  ZooPpoCartpole = 9,
  /// <summary>
  /// RLCORE_PRESET_ZOO_PPO_ATARI:
  /// PPO for Atari of the Zoo; wrappers are left to the host (PPO, RLCORE_NET_NATURE)
  /// </summary>
  ZooPpoAtari = 10,
  /// <summary>RLCORE_PRESET_ZOO_A2C_CARTPOLE: A2C for CartPole-v1 of the Zoo (A2C)</summary>
  ZooA2cCartpole = 11,
  /// <summary>
  /// RLCORE_PRESET_ZOO_DQN_CARTPOLE:
  /// DQN for CartPole-v1 of the Zoo. Its targets move every 10 environment steps, but parameters only after 256 of
  /// them, by 128 gradient steps: so targets move once an update (DQN)
  /// </summary>
  ZooDqnCartpole = 12,
  /// <summary>
  /// RLCORE_PRESET_ZOO_QR_DQN_CARTPOLE: QR-DQN for CartPole-v1 of the Zoo; targets as with DQN (DQN)
  /// </summary>
  ZooQrDqnCartpole = 13,
  /// <summary>
  /// RLCORE_PRESET_ZOO_TD3_PENDULUM:
  /// TD3 for Pendulum of the Zoo, which takes as many gradient steps after an episode as it had steps; here one after
  /// each step. Random actions get rarer over exploration_steps; in the Zoo they end then (TD3)
  /// </summary>
  ZooTd3Pendulum = 14,
  /// <summary>RLCORE_PRESET_ZOO_SAC_PENDULUM: SAC for Pendulum of the Zoo; random actions as with TD3 (SAC)</summary>
  ZooSacPendulum = 15,
}

// ---- Learners: act, observe, learn ----

/// <summary>The call that is due next.</summary>
public enum LearnerDue : uint {
  /// <summary>RLCORE_LEARNER_ACT: rlcore_learner_act with the current observations</summary>
  Act = 0,
  /// <summary>RLCORE_LEARNER_OBSERVE: rlcore_learner_observe with the results of the step</summary>
  Observe = 1,
  /// <summary>RLCORE_LEARNER_LEARN: rlcore_learner_learn until no minibatch is left</summary>
  Learn = 2,
}

/// <summary>A learner: the caller's own block.</summary>
public struct rlcore_learner { }

/// <summary>
/// Statistics of the current update, or of the last one, and of the episodes. Means are over the gradient steps of the
/// update. A float is NaN where the algorithm has no such number, and before there is one.
/// </summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_learner_stats {
  /// <summary>sizeof(rlcore_learner_stats)</summary>
  public uint struct_size;
  /// <summary>minibatches until the update is complete; off policy gradient steps</summary>
  public uint minibatches_left;
  /// <summary>environment steps observed, and those that rlcore_learner_count_steps added</summary>
  public ulong num_steps;
  /// <summary>complete updates</summary>
  public ulong num_updates;
  /// <summary>episodes that ended; off policy without those in which an action was demonstrated</summary>
  public ulong num_episodes;
  /// <summary>step size of this update</summary>
  public float learning_rate;
  /// <summary>
  /// PPO: mean clipped surrogate loss. A2C, IMPALA, UNREAL, stream AC: mean of minus log-probabilities times advantages.
  /// TD3: mean of minus the values of the policy's actions. SAC: that, plus temperature times log-probabilities. With
  /// sum_losses a sum over the minibatch, as value_loss
  /// </summary>
  public float policy_loss;
  /// <summary>
  /// all algorithms: mean of half the squared error of the values, or of Q, without value_coef. With huber the mean Huber
  /// loss, half the square within 1; with num_quantiles the loss of quantile regression, with num_atoms the cross-entropy in
  /// nats. Off policy the mean over the critics and the elements of an action, rows weighted by their importance. With
  /// value_clip the larger of the losses of the clipped and the unclipped value
  /// </summary>
  public float value_loss;
  /// <summary>
  /// PPO, A2C, IMPALA, UNREAL, stream AC, SAC: mean entropy in nats; with squash that of actions before tanh, of SAC
  /// after it
  /// </summary>
  public float entropy;
  /// <summary>PPO, A2C, IMPALA, UNREAL: mean of r - 1 - ln r, where r is the probability ratio</summary>
  public float approx_kl;
  /// <summary>PPO: fraction of the ratios that were clipped</summary>
  public float clip_fraction;
  /// <summary>
  /// PPO, A2C, IMPALA, UNREAL, PQN: fraction of the targets' variance that values explain, up to 1; 0 for constant
  /// targets
  /// </summary>
  public float explained_variance;
  /// <summary>
  /// all algorithms: mean global norm of the gradients before they are clipped; TD3 and SAC: of those of the critics
  /// together
  /// </summary>
  public float grad_norm;
  /// <summary>
  /// all algorithms: mean value of the rollout's observations, or of their best choices; off policy mean Q of the actions of
  /// the batches, by the first critic
  /// </summary>
  public float value_mean;
  /// <summary>mean return of the last 100 episodes; NaN before the first ends</summary>
  public float return_mean;
  /// <summary>mean length of the last 100 episodes; NaN before the first ends</summary>
  public float length_mean;
  /// <summary>return of the most recent episode; NaN before the first ends</summary>
  public float return_last;
  /// <summary>updates that ended early because numbers overflowed</summary>
  public ulong num_dropped;
  /// <summary>
  /// PPO, IMPALA, UNREAL, as the next three: means before weights, NaN for a task that is off, 0 while no past steps are
  /// drawn. Squared error of the value of the chosen action's pixel changes, summed over cells
  /// </summary>
  public float pixel_control_loss;
  /// <summary>cross-entropy of the next reward's sign, in nats</summary>
  public float reward_class_loss;
  /// <summary>squared error of values on past steps</summary>
  public float value_replay_loss;
  /// <summary>loss of the algorithm on past steps: policy, and value and entropy with their weights</summary>
  public float policy_replay_loss;
  /// <summary>standard deviation of the returns of the last 100 episodes; NaN before the first ends</summary>
  public float return_std;
  /// <summary>least return of the last 100 episodes; NaN before the first ends</summary>
  public float return_min;
  /// <summary>largest return of the last 100 episodes; NaN before the first ends</summary>
  public float return_max;
  /// <summary>SAC: weight of the entropy, in nats, now</summary>
  public float temperature;
  /// <summary>DQN, TD3, SAC, PQN, stream Q: probability of a random action, now</summary>
  public float exploration_rate;
  /// <summary>
  /// continuous actions of PPO, A2C, IMPALA, UNREAL, stream AC and SAC: mean logarithm of the standard deviations; of SAC
  /// over the batch that the policy learned from last
  /// </summary>
  public float log_std_mean;
  /// <summary>DQN, TD3, SAC: transitions in the buffer, and kept demonstrations; others 0</summary>
  public ulong num_stored;
}

// ---- Learners on several threads, processes and machines ----

/// <summary>
/// The T * N transitions of an update: rlcore_learner_batch_read writes these arrays, rlcore_learner_learn_batch reads
/// them.
/// </summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_learner_batch {
  /// <summary>sizeof(rlcore_learner_batch)</summary>
  public uint struct_size;
  /// <summary>zero</summary>
  public uint reserved;
  /// <summary>[T * N, rlcore_learner_seen_len()] as networks read it: bytes / 255, one-hot, normalized</summary>
  public float* obs;
  /// <summary>[T * N, action.len]; continuous ones as drawn, neither squashed nor clipped</summary>
  public void* action;
  /// <summary>[T * N, sum of action.n] with use_action_mask, else NULL</summary>
  public byte* action_mask;
  /// <summary>[T * N]</summary>
  public float* log_prob;
  /// <summary>[T * N]</summary>
  public float* value;
  /// <summary>[T * N]; IMPALA computes advantages when it learns: with it, the rewards</summary>
  public float* advantage;
  /// <summary>[T * N]; with IMPALA the reward plus the discounted next value</summary>
  public float* value_target;
  /// <summary>[T * N, rlcore_learner_state_len()] of recurrent layers, before it; NULL without them</summary>
  public float* state;
  /// <summary>[T * N] 1 where an episode begins; with recurrent layers and with IMPALA, else NULL</summary>
  public byte* begin;
  /// <summary>[T * N] environments, the rows of each in order; as begin, and with num_stacked</summary>
  public uint* env;
  /// <summary>[rlcore_learner_moments_len()] as rlcore_learner_moments_read; NULL if that is 0</summary>
  public double* moments;
  /// <summary>[T * N] how long the actions lasted, with use_duration, else NULL</summary>
  public float* duration;
}

/// <summary>
/// B transitions of the host's own, with B = batch_size. rlcore_learner_learn_transitions reads all of them but error,
/// which it writes.
/// </summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_learner_transitions {
  /// <summary>sizeof(rlcore_learner_transitions)</summary>
  public uint struct_size;
  /// <summary>zero</summary>
  public uint reserved;
  /// <summary>[B, obs.len] before the action</summary>
  public void* obs;
  /// <summary>[B, action.len] numbers between their bounds, without bounds from -1 to 1; choices</summary>
  public void* action;
  /// <summary>[B, sum of action.n] allowed in obs; of SAC with use_action_mask; DQN: or NULL</summary>
  public byte* action_mask;
  /// <summary>[B] of the step; or with discount sums of discounted rewards of several</summary>
  public float* reward;
  /// <summary>[B] 1: the value of next_obs does not count</summary>
  public byte* terminated;
  /// <summary>[B] of that value, 0 to 1, as of rlcore_replay_transitions; NULL: config.discount</summary>
  public float* discount;
  /// <summary>[B, obs.len] after the last of its steps; also finite where terminated</summary>
  public void* next_obs;
  /// <summary>[B, sum of action.n] allowed in next_obs; with use_action_mask, else NULL</summary>
  public byte* next_action_mask;
  /// <summary>[B] weights, finite, at least 0, as of rlcore_replay_sample; NULL: 1</summary>
  public float* importance;
  /// <summary>[B] absolute temporal-difference errors, for rlcore_replay_update; may be NULL</summary>
  public float* error;
}

// ---- Policies: trained networks to ship ----

/// <summary>A policy: the caller's own block, read-only; any number of threads may share it.</summary>
public struct rlcore_policy { }

/// <summary>Arrays that a policy works in, of the calling thread's own.</summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_policy_buffers {
  /// <summary>sizeof(rlcore_policy_buffers)</summary>
  public uint struct_size;
  /// <summary>zero</summary>
  public uint reserved;
  /// <summary>[scratch_len] to be written</summary>
  public float* scratch;
  /// <summary>at least rlcore_policy_scratch_len()</summary>
  public UIntPtr scratch_len;
  /// <summary>[num_rows, rlcore_policy_state_len()] of recurrent layers: read, then written; else NULL</summary>
  public float* state;
  /// <summary>[num_rows] 1: an episode begins, and its row of state is read as zeros; NULL: none does</summary>
  public byte* reset;
}

// ---- Distributions: answers of networks ----

/// <summary>Answers of networks to M observations: arrays to write. NULL: not asked for.</summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_distribution {
  /// <summary>sizeof(rlcore_distribution)</summary>
  public uint struct_size;
  /// <summary>zero</summary>
  public uint reserved;
  /// <summary>
  /// [M, sum of action.n] probabilities of the choices of each element of an action, 0 where action_mask forbids: those of
  /// RLCORE_SAMPLING_BASIC. Of learners of Q their logits are 1024 times Q
  /// </summary>
  public float* prob;
  /// <summary>
  /// [M, A] means of the A continuous elements of an action: before tanh with squash, TD3 and SAC, else before they
  /// are clipped
  /// </summary>
  public float* mean;
  /// <summary>
  /// [M, A] standard deviations there; 0 of TD3, whose policy draws nothing; of exported policies of SAC and TD3
  /// exp(log_std_min)
  /// </summary>
  public float* std;
  /// <summary>[M] values, as rlcore_learner_value; of learners only, and without recurrent critics</summary>
  public float* value;
  /// <summary>
  /// [M, sum of action.n] Q of all choices, allowed or not: of DQN, PQN and stream Q; of discrete SAC the lowest of
  /// the critics
  /// </summary>
  public float* q;
  /// <summary>[M] log-probabilities of rows.action, as rlcore_learner_log_prob; not of learners off policy</summary>
  public float* log_prob;
  /// <summary>[M] entropies in nats, with squash before tanh; not of learners off policy</summary>
  public float* entropy;
  /// <summary>[M, action.len] the actions of RLCORE_SAMPLING_GREEDY</summary>
  public void* best;
}

// ---- Imitation: learning what the host shows ----

/// <summary>How rows are imitated. All zero but struct_size: each row by itself, and all alike.</summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_imitation {
  /// <summary>sizeof(rlcore_imitation)</summary>
  public uint struct_size;
  /// <summary>
  /// with recurrent layers, rows are [num_steps, num_rows / num_steps]: sequences that each start from a state of zeros;
  /// at most the rows of a chunk, T * N / (num_minibatches * num_chunks), off policy batch_size / num_chunks. 0: 1
  /// </summary>
  public uint num_steps;
  /// <summary>[num_rows] 1: an episode begins with the row; NULL: none begins within a sequence</summary>
  public byte* reset;
  /// <summary>
  /// [num_rows, sum of action.n] probabilities of the choices of each element, in place of those in action, 0 where
  /// action_mask forbids: distillation. rlcore_learner_distribution and rlcore_policy_distribution tell those of a
  /// teacher. NULL: action has the choices
  /// </summary>
  public float* prob;
  /// <summary>[num_rows] weights of the rows, at least 0; NULL: 1</summary>
  public float* weight;
  /// <summary>learners of Q: how far Q of the given choice is to be above that of every other one; 0: 0.8</summary>
  public float margin;
  /// <summary>
  /// 1: standard deviations learn too, down to log_std_min if the actions are those of a function; 0: they stay, as
  /// learning that goes on afterwards needs. 0 of actions without numbers, and of TD3
  /// </summary>
  public uint fit_std;
}

// ---- Tensors: the numbers of learners and policies by name ----

/// <summary>What a learner has one number of for each of its parameters.</summary>
public enum Tensors : uint {
  /// <summary>RLCORE_TENSORS_PARAMS: the parameters</summary>
  Params = 0,
  /// <summary>RLCORE_TENSORS_TARGETS: the parameters of the target networks: DQN, TD3, SAC</summary>
  Targets = 1,
  /// <summary>
  /// RLCORE_TENSORS_FIRST_MOMENTS:
  /// first moments of the optimizer; of RMSProp its last steps, or with RLCORE_OPTIMIZER_RMSPROP_CENTERED means of
  /// gradients; of stream algorithms the traces
  /// </summary>
  FirstMoments = 2,
  /// <summary>RLCORE_TENSORS_SECOND_MOMENTS: means of squared gradients; not of stream algorithms</summary>
  SecondMoments = 3,
}

/// <summary>
/// A tensor: one array of numbers of a layer. 88 bytes. Names begin with those of layers: layers.0 and so on as
/// listed in the configuration; then hidden layers, counted from 0, and the last layer, head, of policy, of q and of
/// value (with a dueling network q has the advantages and value the rest); hidden layers that both share are those of
/// policy. deviation is what SAC computes logarithms of deviations by, log_std holds those that are free numbers.
/// Critics of TD3 and SAC are critics.0 and so on: critics.0.layers.0, critics.0.0, critics.0.head. Tasks of UNREAL
/// have pixel_control.0 to .2 and reward_class.head and .free. After it comes what PyTorch calls the tensor, in its
/// order of dimensions: weight [units, inputs] and bias [units] of dense layers, weight [units, channels, height,
/// width] of convolutions, [units, 1, height, width] of depthwise ones, [channels, units, height, width] of
/// transposed ones; weight and bias of normalizations; weight [channels, symbols, units] of embeddings; weight_ih
/// [gates, inputs], weight_hh [gates, units] and bias [gates], the sum of PyTorch's two, of LSTM (gates i, f, g, o),
/// GRU (r, z, n, with bias_hn [units] inside the product with r) and minGRU (z and the candidate; no weight_hh), and
/// with RLCORE_LAYER_NORMALIZED bias and scale [i, f, g, o and cells]; q_proj_weight, k_proj_weight, v_proj_weight,
/// in_proj_bias, out_proj.weight, out_proj.bias and positions [window, units], the newest step first, of attention;
/// weight_sigma and bias_sigma of noisy layers. A layer that reads all of a picture has its inputs in the order
/// channels, height, width, in which PyTorch flattens pictures; the pictures themselves stay height, width, channels.
/// </summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_tensor {
  /// <summary>its name, with a zero behind it</summary>
  public Text48 name;
  /// <summary>of its first number in the values of a call</summary>
  public ulong offset;
  /// <summary>dimensions, 1 to 4</summary>
  public uint rank;
  /// <summary>their lengths; 1 beyond rank</summary>
  public UInt32x4 dims;
  /// <summary>0: the network of the policy, or of Q; k: critic k, counted from 1</summary>
  public uint network;
  /// <summary>its layer, an index of rlcore_learner_layers or rlcore_policy_layers</summary>
  public uint layer;
  /// <summary>1: of a learner that leaves it as it is, by rlcore_learner_set_trainable; else 0</summary>
  public uint frozen;
}

/// <summary>How a policy makes actions of what its network computes.</summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_policy_info {
  /// <summary>sizeof(rlcore_policy_info)</summary>
  public uint struct_size;
  /// <summary>outputs of the network that are logits, or values, of choices</summary>
  public uint num_choices;
  /// <summary>outputs behind them that are means of numbers</summary>
  public uint num_means;
  /// <summary>1: numbers pass through tanh onto their bounds; 0: they are clipped</summary>
  public uint squash;
  /// <summary>
  /// atoms of the distribution that the value of a choice is the mean of: num_choices outputs have so many logits
  /// each; 0: outputs are plain
  /// </summary>
  public uint num_atoms;
  /// <summary>1: observations are normalized</summary>
  public uint normalize_obs;
  /// <summary>of normalized observations; 0 without</summary>
  public float obs_clip;
  /// <summary>the lowest atom; 0 without atoms</summary>
  public float value_min;
  /// <summary>the highest atom; 0 without atoms</summary>
  public float value_max;
  /// <summary>layers of its network</summary>
  public uint num_layers;
  /// <summary>numbers that the network reads, as rlcore_learner_seen_len</summary>
  public uint seen_len;
  /// <summary>1: outputs are values of choices, not logits</summary>
  public uint is_q;
}

// ---- Learners that go on: another configuration, and what others have learned ----

/// <summary>What one learner takes over from another: a sum of these.</summary>
public enum Adopt : uint {
  /// <summary>
  /// RLCORE_ADOPT_PARAMS:
  /// the parameters, and a temperature that is learned; target networks become copies
  /// </summary>
  Params = 1,
  /// <summary>RLCORE_ADOPT_TARGETS: the parameters of target networks: DQN, TD3, SAC</summary>
  Targets = 2,
  /// <summary>RLCORE_ADOPT_OPTIMIZER: moments of the optimizer, or traces, and the counts of its steps</summary>
  Optimizer = 4,
  /// <summary>RLCORE_ADOPT_MOMENTS: moments that normalize observations and rewards</summary>
  Moments = 8,
  /// <summary>
  /// RLCORE_ADOPT_COUNTERS:
  /// environment steps, which schedules go by, updates, and the statistics of episodes
  /// </summary>
  Counters = 16,
  /// <summary>RLCORE_ADOPT_STORE: transitions of the buffer: the newest ones that there is room for</summary>
  Store = 32,
  /// <summary>
  /// RLCORE_ADOPT_MATCHING:
  /// tensors that only one side has, or with other dimensions, are left out, not refused
  /// </summary>
  Matching = 64,
}

// ---- Networks of your own: forward and backward ----

/// <summary>
/// A network of your own: layers as of a learner, run over your arrays, so that any loss can train them. Parameters,
/// gradients and activations are plain arrays, nothing else is kept, and the optimizers of rlcore_optimizer_step work
/// over them. Each call reads the list anew. M rows of the input go in, and the outputs of M rows come out.
/// Layers with RLCORE_LAYER_HEAD are outputs, at most 32, which no layer reads; without any, the last layer is the
/// output. RLCORE_LAYER_INPUT is the input, and RLCORE_LAYER_INPUT | k its part k. The layers that
/// rlcore_learner_layers lists are such a list too, except numbers that depend on no input and noisy layers, which
/// are refused.
/// Example:
///   const rlcore_network net = {.struct_size = sizeof net, .num_layers = 2, .layers = layers, .input = {1, 1, 8}};
///   rlcore_network_lengths len = {.struct_size = sizeof len};
///   rlcore_network_lengths_read(&amp;net, num_rows, 1, &amp;len);
///   rlcore_network_init(&amp;net, &amp;rng, scratch, len.scratch_len, params, len.params_len);
///   rlcore_network_forward(&amp;net, &amp;pass, out, num_rows * len.output_len);
///   rlcore_network_backward(&amp;net, &amp;pass, d_out, num_rows * len.output_len, d_params, NULL);
/// </summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_network {
  /// <summary>sizeof(rlcore_network)</summary>
  public uint struct_size;
  /// <summary>1 to 64</summary>
  public uint num_layers;
  /// <summary>[num_layers]</summary>
  public rlcore_layer* layers;
  /// <summary>height, width and channels of a row of the input; 1, 1 and its length if no picture</summary>
  public UInt32x3 input;
  /// <summary>parts of a row that layers read by themselves; 0: none</summary>
  public uint num_parts;
  /// <summary>[num_parts, 3] height, width and channels of each; together they make up a row</summary>
  public uint* parts;
}

/// <summary>Lengths of the arrays of a network, in elements.</summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_network_lengths {
  /// <summary>sizeof(rlcore_network_lengths)</summary>
  public uint struct_size;
  /// <summary>1: the input may be RLCORE_U8, since convolutions over all of it read it; else 0</summary>
  public uint reads_bytes;
  /// <summary>parameters; also of their gradients</summary>
  public UIntPtr params_len;
  /// <summary>a row of the input</summary>
  public UIntPtr input_len;
  /// <summary>a row of all outputs</summary>
  public UIntPtr output_len;
  /// <summary>the state that a row leaves to the next step; 0 without recurrent layers and attention</summary>
  public UIntPtr state_len;
  /// <summary>activations of all rows, which rlcore_network_backward needs</summary>
  public UIntPtr tape_len;
  /// <summary>working memory, enough for every call with as many rows or fewer</summary>
  public UIntPtr scratch_len;
}

/// <summary>
/// The rows of a pass, M = num_rows. Recurrent layers and attention take them as T = num_steps steps of M / T
/// sequences: all rows of a step, then those of the next. They start from states of yours, such as
/// rlcore_network_forward without a tape leaves, and gradients go back through the steps to where a row starts so.
/// </summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_network_pass {
  /// <summary>sizeof(rlcore_network_pass)</summary>
  public uint struct_size;
  /// <summary>M, at least 1</summary>
  public uint num_rows;
  /// <summary>T, which divides M; 1 without recurrent layers and attention</summary>
  public uint num_steps;
  /// <summary>RLCORE_F32, or RLCORE_U8: bytes, which convolutions read divided by 255</summary>
  public uint input_type;
  /// <summary>[params_len]</summary>
  public float* @params;
  /// <summary>params_len of rlcore_network_lengths</summary>
  public UIntPtr params_len;
  /// <summary>[M, input_len] of rlcore_network_lengths</summary>
  public void* input;
  /// <summary>
  /// [M, state_len] of rlcore_network_lengths, to change: states to start from; NULL if that is 0. With a tape those of
  /// the first step, and where starts is 1, are read; without one all are read, and written with the states after
  /// the step
  /// </summary>
  public float* state;
  /// <summary>
  /// [M] 1: the row starts from its own row of state, as when an episode begins; else it goes on from the step
  /// before. NULL if state is, or without a tape, when all rows start so
  /// </summary>
  public byte* starts;
  /// <summary>
  /// [tape_len] activations: rlcore_network_forward writes them, rlcore_network_backward reads them. NULL with a
  /// tape_len of 0: no gradient is wanted
  /// </summary>
  public float* tape;
  /// <summary>tape_len of rlcore_network_lengths, or 0</summary>
  public UIntPtr tape_len;
  /// <summary>[scratch_len] to write</summary>
  public float* scratch;
  /// <summary>at least scratch_len of rlcore_network_lengths</summary>
  public UIntPtr scratch_len;
}

// ---- ONNX: policies for other runtimes ----

/// <summary>Names and forms of the inputs and outputs of a file of ONNX.</summary>
public enum OnnxNames : uint {
  /// <summary>
  /// RLCORE_ONNX_OWN:
  /// inputs obs, or obs_0 and so on, one for each field that networks read, with the elements of observations: f32
  /// [N, len], u8 [N, height, width, channels], i32 choices; action_mask u8 [N, choices], 0 forbids; state f32 [N,
  /// rlcore_policy_state_len()]. Output state_out
  /// </summary>
  Own = 0,
  /// <summary>
  /// RLCORE_ONNX_ML_AGENTS:
  /// those of Unity ML-Agents: inputs obs_0 and so on, action_masks and recurrent_in [N, 1, state_len], all f32, bytes
  /// divided by 255 and pictures [N, channels, height, width]; outputs recurrent_out, version_number, memory_size,
  /// deterministic_discrete_actions, discrete_action_output_shape, deterministic_continuous_actions and
  /// continuous_action_output_shape
  /// </summary>
  MlAgents = 1,
}

/// <summary>How a policy is written as a file of ONNX.</summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_onnx_options {
  /// <summary>sizeof(rlcore_onnx_options)</summary>
  public uint struct_size;
  /// <summary>an rlcore_onnx_names</summary>
  public uint names;
  /// <summary>1: it has an input for the choices that are allowed</summary>
  public uint action_mask;
  /// <summary>zero</summary>
  public uint reserved;
}

// ---- Batches: asynchronous steps by the host's threads or processes ----

/// <summary>
/// Asynchronous steps of an rlcore_vecenv: one thread, the host, submits steps and collects results; workers do the steps
/// in rlcore_batch_run. Workers are threads, or processes if both blocks lie in shared memory and the callbacks have the
/// same addresses (fork()). Results do not depend on which worker does what.
/// Example:
///   rlcore_batch_size(env, &amp;vecenv_config, &amp;config, &amp;size);
///   rlcore_batch_init(mem, size, env, &amp;vecenv_config, &amp;config, &amp;b);
///   rlcore_batch_reset(b, v, env, NULL, rows.obs);
///   rlcore_batch_step_async(b, v, env, &amp;rows);
///   rlcore_batch_run(b, v, env, worker, UINT32_MAX, &amp;count);       // in each worker
///   status = rlcore_batch_step_wait(b, &amp;rows);                      // E_NOT_READY while workers are busy
/// Rows are divided into groups of in_series. A group is idle, pending, running or done. Host calls must not run
/// concurrently. No call blocks: a host with nothing else to do may call rlcore_batch_run itself. While a group is not idle
/// its rows belong to the batch: no other rlcore_vecenv call may use them. The environment's action_mask is called in each
/// step, so that masks can be collected.
/// </summary>
public struct rlcore_batch { }

/// <summary>Configuration of a batch.</summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_batch_config {
  /// <summary>bytes; set by rlcore_batch_config_init</summary>
  public uint struct_size;
  /// <summary>rows per group, stepped in order by one worker; must divide num_envs; default 1</summary>
  public uint in_series;
}

/// <summary>Number of groups in each state. Not a consistent snapshot while workers run.</summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_batch_counts {
  /// <summary>sizeof(rlcore_batch_counts)</summary>
  public uint struct_size;
  /// <summary>1 after rlcore_batch_close, else 0</summary>
  public uint closed;
  /// <summary>groups that no worker has started</summary>
  public uint num_pending;
  /// <summary>groups that a worker is stepping</summary>
  public uint num_running;
  /// <summary>groups that can be collected</summary>
  public uint num_done;
}

// ---- Episodes: returns, lengths, monitor.csv ----

/// <summary>Purpose of an episode.</summary>
public enum EpisodeType : uint {
  /// <summary>RLCORE_EPISODE_TRAIN: to learn from</summary>
  Train = 0,
  /// <summary>
  /// RLCORE_EPISODE_TEST:
  /// to test on: act with rlcore_learner_predict, and neither learn from it nor store it
  /// </summary>
  Test = 1,
}

/// <summary>
/// Returns and lengths of the episodes of N environments, and records of those that ended.
/// Example:
///   rlcore_monitor_config_init(&amp;config, sizeof config);
///   config.num_envs = N, config.keep = 100;
///   rlcore_monitor_size(&amp;config, &amp;size);
///   rlcore_monitor_init(mem, size, &amp;config, &amp;m);
///   rlcore_monitor_step(m, &amp;rows, seconds, NULL);        // after each rlcore_vecenv_step
///   rlcore_monitor_means(m, &amp;stats);
/// </summary>
public struct rlcore_monitor { }

/// <summary>Configuration of a monitor.</summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_monitor_config {
  /// <summary>bytes; set by rlcore_monitor_config_init</summary>
  public uint struct_size;
  /// <summary>N, at least 1; default 1</summary>
  public uint num_envs;
  /// <summary>number of episodes that rlcore_monitor_means averages; default 0: none</summary>
  public uint keep;
  /// <summary>records held, at least N; 0 (default): the larger of 1024 and N</summary>
  public uint capacity;
  /// <summary>numbers that the caller adds to each record, up to RLCORE_MONITOR_MAX_INFO; default 0</summary>
  public uint num_info;
  /// <summary>zero</summary>
  public uint reserved;
  /// <summary>time on the caller's clock that is 0 in the records; default 0</summary>
  public double start;
}

/// <summary>The caller's clock, in seconds from any fixed origin.</summary>
/// <param name="user">opaque</param>
[UnmanagedFunctionPointer(CallingConvention.Cdecl)]
public unsafe delegate double rlcore_clock_fn(void* user);

/// <summary>An episode that has ended.</summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_episode {
  /// <summary>episode number over all environments, from 0, in order of ending</summary>
  public ulong number;
  /// <summary>end time in seconds since the start, rounded to 6 decimals</summary>
  public double seconds;
  /// <summary>sum of its rewards</summary>
  public double episode_return;
  /// <summary>environment index</summary>
  public uint env;
  /// <summary>number of steps</summary>
  public uint len;
}

/// <summary>Means over the last episodes.</summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_monitor_stats {
  /// <summary>sizeof(rlcore_monitor_stats)</summary>
  public uint struct_size;
  /// <summary>number of episodes averaged, at most `keep`</summary>
  public uint num_kept;
  /// <summary>episodes ended since the block was made</summary>
  public ulong num_episodes;
  /// <summary>mean return; NaN if there are none</summary>
  public double return_mean;
  /// <summary>mean length; NaN if there are none</summary>
  public double len_mean;
}

// ---- Normalized observations and rewards of N environments ----

/// <summary>
/// Running normalization of the observations and rewards of N environments.
/// Example:
///   rlcore_vec_normalize_config_init(&amp;config, sizeof config);
///   config.num_envs = N, config.obs_len = LEN;
///   rlcore_vec_normalize_size(&amp;config, &amp;size);
///   rlcore_vec_normalize_init(mem, size, &amp;config, &amp;v);
///   rlcore_vec_normalize_reset(v, obs, obs);             // after rlcore_vecenv_reset
///   rlcore_vec_normalize_step(v, &amp;rows, NULL);           // after each rlcore_vecenv_step
/// </summary>
public struct rlcore_vec_normalize { }

/// <summary>Configuration of a normalizer.</summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_vec_normalize_config {
  /// <summary>bytes; set by rlcore_vec_normalize_config_init</summary>
  public uint struct_size;
  /// <summary>N, at least 1; default 1</summary>
  public uint num_envs;
  /// <summary>elements of one observation, at least 1; default 1</summary>
  public uint obs_len;
  /// <summary>1 (default); 0: observations are not changed</summary>
  public uint normalize_obs;
  /// <summary>1 (default); 0: rewards are not changed</summary>
  public uint normalize_reward;
  /// <summary>normalized observations are clipped to [-clip_obs, clip_obs]; default 10</summary>
  public float clip_obs;
  /// <summary>scaled rewards are clipped to [-clip_reward, clip_reward]; default 10</summary>
  public float clip_reward;
  /// <summary>zero</summary>
  public uint reserved;
  /// <summary>discount of the return whose deviation scales rewards, from 0 to 1; default 0.99</summary>
  public double discount;
  /// <summary>added to variances, from 1e-30 to 1e30; default 1e-8</summary>
  public double epsilon;
}

/// <summary>Scalar statistics of a normalizer.</summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_vec_normalize_stats {
  /// <summary>sizeof(rlcore_vec_normalize_stats)</summary>
  public uint struct_size;
  /// <summary>1 if the statistics are frozen</summary>
  public uint frozen;
  /// <summary>number of observations merged, plus 1e-4</summary>
  public double obs_count;
  /// <summary>mean of the discounted returns</summary>
  public double return_mean;
  /// <summary>their population variance; rewards are divided by its square root</summary>
  public double return_var;
  /// <summary>number of returns merged, plus 1e-4</summary>
  public double return_count;
}

// ---- Frame memories: each frame stored once, stacked on reading ----

/// <summary>Memory layout of a stack, oldest frame first.</summary>
public enum Layout : uint {
  /// <summary>
  /// RLCORE_LAYOUT_HWC:
  /// [height, width, channels * num_stack]: stacked on the last axis, as environments do
  /// </summary>
  Hwc = 0,
  /// <summary>
  /// RLCORE_LAYOUT_CHW:
  /// [channels * num_stack, height, width]: channel planes, as convolutions expect
  /// </summary>
  Chw = 1,
}

/// <summary>
/// Rings of frames, one per environment. A frame is stored once, however many stacks contain it. Frames are numbered from 0
/// in each environment; numbers are never reused. A full ring drops its oldest frame. Stacks that reach before the first
/// frame of an episode repeat that frame.
/// Example:
///   rlcore_lazy_frames_config_init(&amp;config, sizeof config);
///   rlcore_lazy_frames_size(&amp;config, &amp;size);
///   rlcore_lazy_frames_init(mem, size, &amp;config, &amp;l);
///   rlcore_lazy_frames_push(l, env, frame, first, &amp;number);
///   rlcore_lazy_frames_stack(l, env, number, RLCORE_LAYOUT_HWC, RLCORE_U8, stack);
///   rlcore_lazy_frames_gather_transitions(l, index, num_rows, RLCORE_LAYOUT_CHW, RLCORE_F32, obs, next_obs);
/// </summary>
public struct rlcore_lazy_frames { }

/// <summary>
/// Configuration of rings of frames. Frames are bytes, [height, width, channels]. For frames in [channels, height, width]
/// set channels to 1 and height to channels * height.
/// </summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_lazy_frames_config {
  /// <summary>bytes; set by rlcore_lazy_frames_config_init</summary>
  public uint struct_size;
  /// <summary>N, at least 1; default 1</summary>
  public uint num_envs;
  /// <summary>frames kept per environment, at least num_stack, + 1 for transitions; default 10000</summary>
  public uint num_frames;
  /// <summary>default 84</summary>
  public uint height;
  /// <summary>default 84</summary>
  public uint width;
  /// <summary>bytes per pixel; default 1</summary>
  public uint channels;
  /// <summary>frames per stack, 1 to 16; default 4</summary>
  public uint num_stack;
}

/// <summary>Identifies a frame, or a transition by the newest frame of its observation.</summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_frame_index {
  /// <summary>frame number, as returned when it was pushed</summary>
  public ulong number;
  /// <summary>environment index</summary>
  public uint env;
  /// <summary>zero</summary>
  public uint reserved;
}

// ---- Columns of memories, rollouts and trajectories ----

/// <summary>A column of a store: a named array per row. Zeros beyond kind and len mean plain elements.</summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_column {
  /// <summary>1 to 23 ASCII characters, zero-padded</summary>
  public Text24 name;
  /// <summary>an rlcore_element</summary>
  public uint kind;
  /// <summary>elements of a row, at least 1; with stacks, those of one frame</summary>
  public uint len;
  /// <summary>
  /// 0 or 1: none; or k up to 16, with RLCORE_U8: each row stores one frame and is read as the stack of the k newest frames
  /// of its episode, repeating the first one if there are fewer
  /// </summary>
  public uint num_stack;
  /// <summary>bytes per pixel, must divide len; 0: 1; must be 0 or 1 unless RLCORE_U8</summary>
  public uint channels;
}

// ---- Replay memory: sequences of frames, balanced by reward ----

/// <summary>Rule by which sequences are drawn.</summary>
public enum DrawRule : uint {
  /// <summary>RLCORE_DRAW_FIXED: contiguous sequences within one episode; every frame can be drawn</summary>
  Fixed = 0,
  /// <summary>RLCORE_DRAW_ORIGINAL: as the reference implementation (btgym): may have a gap or span episodes</summary>
  Original = 1,
}

/// <summary>
/// The last frames of a stream of episodes. Frames are numbered from 0; numbers are never reused. A full memory drops its
/// oldest frame. Each frame with max_sample_size - 1 predecessors (plus those that the oldest stack needs) is in one of two
/// pools: priority frames, with |reward| &gt; reward_threshold or NaN, and ordinary frames.
/// Example:
///   rlcore_memory_config_init(&amp;config, sizeof config);
///   config.columns = columns, config.num_columns = 2;
///   rlcore_memory_size(&amp;config, &amp;size);
///   rlcore_memory_init(mem, size, &amp;config, &amp;m);
///   rlcore_memory_add(m, &amp;frame, values, NULL, NULL);
///   rlcore_memory_sample_priority(m, &amp;rng, NULL, samples, num_samples);
///   rlcore_memory_gather(m, &amp;sequences, column, RLCORE_LAYOUT_HWC, RLCORE_F32, out);
/// </summary>
public struct rlcore_memory { }

/// <summary>Configuration of a memory.</summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_memory_config {
  /// <summary>bytes; set by rlcore_memory_config_init</summary>
  public uint struct_size;
  /// <summary>frames kept, at least max_sample_size + num_stack - 1 of any column; default 2000</summary>
  public uint history_size;
  /// <summary>maximum length of a priority draw, in frames, at least 1; default 20</summary>
  public uint max_sample_size;
  /// <summary>default length of a priority draw; 0 (default): max_sample_size</summary>
  public uint priority_sample_size;
  /// <summary>|reward| above this makes a frame a priority frame; finite, at least 0; default 0.1</summary>
  public float reward_threshold;
  /// <summary>1 (default): enables priority draws, at 8 bytes per frame; 0: they return E_DISABLED</summary>
  public uint use_priority;
  /// <summary>1 to 16</summary>
  public uint num_columns;
  /// <summary>zero</summary>
  public uint reserved;
  /// <summary>[num_columns] data of a frame besides reward and flags; copied</summary>
  public rlcore_column* columns;
}

/// <summary>One step of an episode, without the values of its columns.</summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_frame {
  /// <summary>episode number; any that differs from the previous episode's</summary>
  public ulong episode;
  /// <summary>step number within the episode; the next frame has step + 1</summary>
  public uint step;
  /// <summary>of the step</summary>
  public float reward;
  /// <summary>nonzero: the task ended</summary>
  public byte terminated;
  /// <summary>nonzero: the episode was cut</summary>
  public byte truncated;
  /// <summary>zero</summary>
  public UInt8x6 reserved;
}

/// <summary>Parameters of a draw. Zero selects the default of every field but struct_size.</summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_draw {
  /// <summary>sizeof(rlcore_draw)</summary>
  public uint struct_size;
  /// <summary>frames without burn-in; 0: priority_sample_size, or max_sample_size for uniform draws</summary>
  public uint size;
  /// <summary>preceding frames of the same episode to include, fewer near its beginning</summary>
  public uint burn_in;
  /// <summary>1: draw again if the sequence is shorter than size</summary>
  public uint exact_size;
  /// <summary>on average one in `skewness` draws ends on a priority frame; 0: 2</summary>
  public uint skewness;
  /// <summary>maximum number of attempts with exact_size; 0: 100</summary>
  public uint attempts;
  /// <summary>an rlcore_draw_rule</summary>
  public uint rule;
}

/// <summary>A drawn sequence: frames first to first + len - 1, if there is no gap.</summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_sample {
  /// <summary>number of the first frame</summary>
  public ulong first;
  /// <summary>frames, including the burn-in</summary>
  public uint len;
  /// <summary>how many of them, at the front, are burn-in</summary>
  public uint burn_in;
  /// <summary>frames skipped before the last one; nonzero only with RLCORE_DRAW_ORIGINAL</summary>
  public uint gap;
  /// <summary>1 if it was drawn to end on a priority frame</summary>
  public uint priority;
}

/// <summary>Drawn sequences to copy, each into as many rows. The samples are not owned and only read.</summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_sequences {
  /// <summary>sizeof(rlcore_sequences)</summary>
  public uint struct_size;
  /// <summary>number of sequences</summary>
  public uint num_samples;
  /// <summary>rows of each in the arrays that are written, at least the longest sequence</summary>
  public uint len;
  /// <summary>zero</summary>
  public uint reserved;
  /// <summary>[num_samples]</summary>
  public rlcore_sample* samples;
}

// ---- Replay memory: transitions, sampled by priority ----

/// <summary>Divisor of the importance weights.</summary>
public enum ReplayNormalize : uint {
  /// <summary>RLCORE_REPLAY_NORMALIZE_MEMORY: the largest weight in the memory</summary>
  Memory = 0,
  /// <summary>RLCORE_REPLAY_NORMALIZE_BATCH: the largest weight of the batch</summary>
  Batch = 1,
  /// <summary>RLCORE_REPLAY_NORMALIZE_NONE: none: (num_transitions * probability)^-beta</summary>
  None = 2,
}

/// <summary>
/// Transitions of N environments, drawn in proportion to their priorities. A row is one step of one environment. Rows of an
/// environment are numbered from 0; numbers are never reused. A full memory drops the oldest row. Row t becomes a
/// transition when row t + num_steps is added or its episode ends. The last observation of an episode takes a row of its
/// own: an episode of L steps takes L + 1 rows.
/// Example:
///   rlcore_replay_config_init(&amp;config, sizeof config);
///   config.num_envs = N, config.columns = columns, config.num_columns = 2;
///   rlcore_replay_size(&amp;config, &amp;size);
///   rlcore_replay_init(mem, size, &amp;config, &amp;r);
///   rlcore_replay_add_all(r, values, reward, terminated, truncated, final_values);
///   rlcore_replay_sample(r, &amp;rng, &amp;draw, num_rows, index, weight, NULL);
///   rlcore_replay_gather(r, index, num_rows, column, RLCORE_LAYOUT_HWC, RLCORE_F32, obs);
///   rlcore_replay_update(r, index, priority, num_rows, NULL);
/// </summary>
public struct rlcore_replay { }

/// <summary>Configuration of a replay memory.</summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_replay_config {
  /// <summary>bytes; set by rlcore_replay_config_init</summary>
  public uint struct_size;
  /// <summary>N, at least 1; default 1</summary>
  public uint num_envs;
  /// <summary>rows kept per environment, at least num_steps + any num_stack; default 100000</summary>
  public uint num_rows;
  /// <summary>1 to 16</summary>
  public uint num_columns;
  /// <summary>[num_columns] data of a row; copied</summary>
  public rlcore_column* columns;
  /// <summary>bit c: column c is an observation and has a next value; default 1: column 0</summary>
  public uint observations;
  /// <summary>steps per transition, 1 to 255; default 1</summary>
  public uint num_steps;
  /// <summary>discount per step, 0 to 1; default 0.99</summary>
  public float discount;
  /// <summary>weights are (|priority| + epsilon)^alpha, alpha 0 to 1; default 0.6</summary>
  public float alpha;
  /// <summary>a normal number above 0, at most 1e30; default 1e-6</summary>
  public float epsilon;
  /// <summary>zero</summary>
  public uint reserved;
}

/// <summary>One step of one environment, without the values of its columns.</summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_replay_step {
  /// <summary>sizeof(rlcore_replay_step)</summary>
  public uint struct_size;
  /// <summary>index of the environment</summary>
  public uint env;
  /// <summary>finite</summary>
  public float reward;
  /// <summary>1 if the step ended the episode this way, else 0; as the next</summary>
  public uint terminated;
  /// <summary>see terminated</summary>
  public uint truncated;
}

/// <summary>Statistics of a replay memory.</summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_replay_stats {
  /// <summary>sizeof(rlcore_replay_stats)</summary>
  public uint struct_size;
  /// <summary>exponent of weights assigned from now on</summary>
  public float alpha;
  /// <summary>transitions that can be drawn</summary>
  public ulong num_transitions;
  /// <summary>sum of their weights</summary>
  public double total;
  /// <summary>smallest weight; infinite if there is none</summary>
  public float min_weight;
  /// <summary>largest |priority| + epsilon so far, initially 1; given to new transitions</summary>
  public float max_priority;
}

/// <summary>Parameters of a draw.</summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_replay_draw {
  /// <summary>sizeof(rlcore_replay_draw)</summary>
  public uint struct_size;
  /// <summary>exponent of the importance weights, at least 0; usually rising from 0.4 to 1</summary>
  public float beta;
  /// <summary>an rlcore_replay_normalize</summary>
  public uint normalize;
  /// <summary>0: stratified, one of each of num_rows equal parts of the total weight; 1: independent</summary>
  public uint independent;
}

// ---- Hindsight goal relabeling ----

/// <summary>
/// Which achieved goal of its episode becomes a step's new goal. Row t is the goal achieved at obs[t]: step t leads to row
/// t + 1, and an episode of T steps has T + 1 rows.
/// </summary>
public enum RelabelStrategy : uint {
  /// <summary>RLCORE_RELABEL_FUTURE: rows t + 1 to T: achieved by this step or a later one</summary>
  Future = 0,
  /// <summary>RLCORE_RELABEL_FINAL: row T: achieved by the last step</summary>
  Final = 1,
  /// <summary>RLCORE_RELABEL_EPISODE: rows 1 to T: achieved by any step</summary>
  Episode = 2,
}

/// <summary>Steps to relabel with other goals. B = num_steps, G = goal_len, R = num_rows.</summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_relabel {
  /// <summary>sizeof(rlcore_relabel)</summary>
  public uint struct_size;
  /// <summary>B</summary>
  public uint num_steps;
  /// <summary>G, at least 1</summary>
  public uint goal_len;
  /// <summary>R</summary>
  public uint num_rows;
  /// <summary>[R, G] achieved goals of any number of episodes</summary>
  public float* achieved;
  /// <summary>[B] row of the goal that each step achieved</summary>
  public uint* row;
  /// <summary>[B] row of its new goal</summary>
  public uint* goal_row;
}

/// <summary>
/// Computes the reward of a step for a goal. achieved, goal: [goal_len]; reward: [1] to write; terminated: [1], 0 before
/// the call, 1 to write if the episode ends. Returns 0, or nonzero to stop with E_CALLBACK.
/// </summary>
/// <param name="user">opaque</param>
/// <param name="achieved">in [goal_len]</param>
/// <param name="goal">in [goal_len]</param>
/// <param name="reward">out</param>
/// <param name="terminated">out</param>
[UnmanagedFunctionPointer(CallingConvention.Cdecl)]
public unsafe delegate int rlcore_goal_fn(void* user, float* achieved, float* goal, float* reward, byte* terminated);

// ---- Advantages and returns ----

/// <summary>Precision of a recursion over time.</summary>
public enum Accumulate : uint {
  /// <summary>RLCORE_ACCUMULATE_F32: f32</summary>
  F32 = 0,
  /// <summary>RLCORE_ACCUMULATE_F64: f64, rounded once to the output</summary>
  F64 = 1,
}

/// <summary>T steps of N environments, time-major. Step t led from obs[t] to obs[t+1].</summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_rollout {
  /// <summary>sizeof(rlcore_rollout)</summary>
  public uint struct_size;
  /// <summary>T, at least 1</summary>
  public uint num_steps;
  /// <summary>N, at least 1</summary>
  public uint num_envs;
  /// <summary>precision: an rlcore_accumulate; 0: f32</summary>
  public uint accumulate;
  /// <summary>[T, N]</summary>
  public float* reward;
  /// <summary>[T, N] V(obs[t])</summary>
  public float* value;
  /// <summary>[N] value of the observation after the last step</summary>
  public float* bootstrap_value;
  /// <summary>[T, N]</summary>
  public byte* terminated;
  /// <summary>[T, N]</summary>
  public byte* truncated;
  /// <summary>[T, N] V(final_obs), read only where truncated; may be NULL if no step is</summary>
  public float* final_value;
}

// ---- Rows: copying, stacking and gathering ----

/// <summary>
/// Output arrays for copied rows: steps of N environments, or frames of a trajectory, with N = 1. NULL skips an array.
/// </summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_rows_out {
  /// <summary>sizeof(rlcore_rows_out)</summary>
  public uint struct_size;
  /// <summary>maximum number of rows to copy</summary>
  public uint num_rows;
  /// <summary>[num_columns] arrays, [num_rows, N, len] of each column's kind</summary>
  public void** columns;
  /// <summary>[num_rows, N] reward of the action</summary>
  public float* reward;
  /// <summary>[num_rows, N] V(obs) when the action was chosen</summary>
  public float* value;
  /// <summary>[num_rows, N] of the action; NULL for trajectories</summary>
  public float* log_prob;
  /// <summary>[num_rows, N] V(final_obs) where truncated and not terminated, else 0; NULL for trajectories</summary>
  public float* final_value;
  /// <summary>[num_rows, N]</summary>
  public byte* terminated;
  /// <summary>[num_rows, N]</summary>
  public byte* truncated;
  /// <summary>[num_rows, N, M] the policy's recurrent state before the row</summary>
  public float* memory;
}

// ---- Rollouts: T steps of N environments, in minibatches ----

/// <summary>Kind of a row of metrics.</summary>
public enum Metric : uint {
  /// <summary>RLCORE_METRIC_EPISODE_LENGTH: length of an episode that ended</summary>
  EpisodeLength = 0,
  /// <summary>RLCORE_METRIC_EPISODE_RETURN: return of an episode that ended</summary>
  EpisodeReturn = 1,
  /// <summary>RLCORE_METRIC_OWN: first number available to the caller</summary>
  Own = 2,
}

/// <summary>
/// T steps of N environments, drawn in minibatches. Sample e * T + t is step t of environment e, where T is the number of
/// steps when the rollout was finished.
/// Example:
///   rlcore_rollout_buffer_config_init(&amp;config, sizeof config);
///   config.num_envs = N, config.columns = columns, config.num_columns = 2;
///   rlcore_rollout_buffer_size(&amp;config, &amp;size);
///   rlcore_rollout_buffer_init(mem, size, &amp;config, &amp;b);
///   rlcore_rollout_buffer_add(b, &amp;step);                                         // num_steps times
///   rlcore_rollout_buffer_finish(b, bootstrap_value, next_obs, discount, gae_lambda);
///   rlcore_rollout_buffer_draw(b, minibatch_size, 1, index, index_len);          // once per epoch
///   rlcore_rollout_buffer_gather(b, index + k * minibatch_size, minibatch_size, 1, &amp;minibatch);
///   rlcore_rollout_buffer_reset(b);
/// </summary>
public struct rlcore_rollout_buffer { }

/// <summary>Configuration of a rollout.</summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_rollout_buffer_config {
  /// <summary>bytes; set by rlcore_rollout_buffer_config_init</summary>
  public uint struct_size;
  /// <summary>T: maximum number of steps, at least 1; default 128</summary>
  public uint num_steps;
  /// <summary>N, at least 1; default 1</summary>
  public uint num_envs;
  /// <summary>M: floats of a recurrent policy's state; default 0: none</summary>
  public uint memory_len;
  /// <summary>rows of metrics held, at least 2 N; 0 (default): the larger of 1024 and 2 N</summary>
  public uint log_capacity;
  /// <summary>1 to 16</summary>
  public uint num_columns;
  /// <summary>seed of the draws; default 0</summary>
  public ulong seed;
  /// <summary>[num_columns] data of a step, without stacks; column 0 is the observation</summary>
  public rlcore_column* columns;
  /// <summary>precision of advantages: an rlcore_accumulate; 0 (default): f32</summary>
  public uint accumulate;
  /// <summary>zero</summary>
  public uint reserved;
}

/// <summary>
/// One step of all environments, with same-step autoreset: where an episode ended, the next step begins a new one.
/// </summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_rollout_step {
  /// <summary>sizeof(rlcore_rollout_step)</summary>
  public uint struct_size;
  /// <summary>zero</summary>
  public uint reserved;
  /// <summary>
  /// [num_columns] arrays, [N, len] of each column's kind: observation, action, and so on. NULL, or a NULL element:
  /// the data written through rlcore_rollout_buffer_row is kept
  /// </summary>
  public void** columns;
  /// <summary>[N] reward of the action</summary>
  public float* reward;
  /// <summary>[N] V(obs); NULL: none</summary>
  public float* value;
  /// <summary>[N] log-probability of the action; NULL: none</summary>
  public float* log_prob;
  /// <summary>[N]</summary>
  public byte* terminated;
  /// <summary>[N]</summary>
  public byte* truncated;
  /// <summary>[N] V(final_obs), read where truncated and not terminated; may be NULL if nowhere</summary>
  public float* final_value;
  /// <summary>[N, M] the policy's recurrent state before the step; NULL if M is 0</summary>
  public float* memory;
  /// <summary>[N] rewards that episode returns are summed from; NULL: reward</summary>
  public float* raw_reward;
}

/// <summary>Further arrays of a rollout, not owned: pointers into the block, valid until it changes.</summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_rollout_extras {
  /// <summary>sizeof(rlcore_rollout_extras)</summary>
  public uint struct_size;
  /// <summary>zero</summary>
  public uint reserved;
  /// <summary>[T, N]; NULL if a step had none</summary>
  public float* log_prob;
  /// <summary>[T, N]; NULL unless finished</summary>
  public float* advantage;
  /// <summary>[T, N]; NULL unless finished</summary>
  public float* value_target;
  /// <summary>[N] 1 where step 0 starts an episode</summary>
  public byte* first;
  /// <summary>[T, N, M]; NULL if M is 0</summary>
  public float* memory;
}

/// <summary>Progress of a rollout and of the training.</summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_rollout_progress {
  /// <summary>sizeof(rlcore_rollout_progress)</summary>
  public uint struct_size;
  /// <summary>steps held</summary>
  public uint num_steps;
  /// <summary>environment steps since init: N for each step added</summary>
  public ulong global_step;
  /// <summary>episodes that ended since the last reset</summary>
  public ulong num_ended;
  /// <summary>their mean length; NaN if there are none</summary>
  public double len_mean;
  /// <summary>their mean return; NaN if there are none</summary>
  public double return_mean;
  /// <summary>1: advantages are computed</summary>
  public uint finished;
  /// <summary>zero</summary>
  public uint reserved;
}

/// <summary>A window of a trajectory, or all of a short one.</summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_window {
  /// <summary>its first sample</summary>
  public uint first;
  /// <summary>samples, at least 1</summary>
  public uint len;
  /// <summary>rows of padding before them: timesteps - len</summary>
  public uint pad;
  /// <summary>steps of the trajectory before the window</summary>
  public uint timestep;
}

/// <summary>
/// Output arrays of a minibatch; NULL skips an array. rlcore_rollout_buffer_gather copies windows, with L = window_len;
/// rlcore_rollout_buffer_gather_windows copies trajectories, with L = timesteps.
/// </summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_minibatch {
  /// <summary>sizeof(rlcore_minibatch)</summary>
  public uint struct_size;
  /// <summary>zero</summary>
  public uint reserved;
  /// <summary>[num_columns] arrays, [rows, L, len] of each column's kind</summary>
  public void** columns;
  /// <summary>[rows, L]; for trajectories [rows], of the last sample, as for the next four</summary>
  public float* log_prob;
  /// <summary>[rows, L] V(obs) when the action was chosen</summary>
  public float* value;
  /// <summary>[rows, L] generalized advantage</summary>
  public float* advantage;
  /// <summary>[rows, L] advantage + value</summary>
  public float* value_target;
  /// <summary>[rows, L] reward of the action</summary>
  public float* reward;
  /// <summary>[rows, L] windows: 0 where an episode starts, else 1; trajectories: 0 for padding, else 1</summary>
  public float* mask;
  /// <summary>[rows, M] the policy's recurrent state before the first sample of each row</summary>
  public float* memory;
  /// <summary>[rows, L] steps of the trajectory before each sample, 0 for padding; NULL for windows</summary>
  public int* timestep;
}

/// <summary>A logged number.</summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_metric_row {
  /// <summary>environment steps before the step that it describes</summary>
  public ulong global_step;
  /// <summary>the number</summary>
  public double value;
  /// <summary>environment index; UINT32_MAX: all</summary>
  public uint env;
  /// <summary>an rlcore_metric, or the caller's own, at least RLCORE_METRIC_OWN</summary>
  public uint metric;
}

// ---- Trajectories: one episode or a part of it ----

/// <summary>Class of a reward for reward prediction: the index of the 1 in a one-hot row of 3.</summary>
public enum RewardClass : uint {
  /// <summary>RLCORE_REWARD_ZERO: between the thresholds, inclusive</summary>
  Zero = 0,
  /// <summary>RLCORE_REWARD_POSITIVE: above the threshold</summary>
  Positive = 1,
  /// <summary>RLCORE_REWARD_NEGATIVE: below its negative</summary>
  Negative = 2,
}

/// <summary>
/// One trajectory: an episode or a part of it, frame by frame.
/// Example:
///   rlcore_trajectory_config_init(&amp;config, sizeof config);
///   config.columns = columns, config.num_columns = 2;
///   rlcore_trajectory_size(&amp;config, &amp;size);
///   rlcore_trajectory_init(mem, size, &amp;config, &amp;t);
///   rlcore_trajectory_add(t, &amp;frames);
///   rlcore_trajectory_process(t, discount, gae_lambda, bootstrap_value, &amp;rows);
///   rlcore_trajectory_reset(t);
/// </summary>
public struct rlcore_trajectory { }

/// <summary>Configuration of a trajectory.</summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_trajectory_config {
  /// <summary>bytes; set by rlcore_trajectory_config_init</summary>
  public uint struct_size;
  /// <summary>maximum number of frames, at least 1; default 20</summary>
  public uint capacity;
  /// <summary>M: floats of a recurrent policy's state; default 0: none</summary>
  public uint memory_len;
  /// <summary>bit i: column i is one-hot: padding sets element 0 to 1; default 0</summary>
  public uint one_hot;
  /// <summary>1 to 16</summary>
  public uint num_columns;
  /// <summary>precision of returns and advantages: an rlcore_accumulate; 0 (default): f32</summary>
  public uint accumulate;
  /// <summary>[num_columns] data of a frame besides reward, value and flags, without stacks</summary>
  public rlcore_column* columns;
}

/// <summary>Consecutive frames to append: a new one, or a sequence gathered from a replay memory.</summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_trajectory_frames {
  /// <summary>sizeof(rlcore_trajectory_frames)</summary>
  public uint struct_size;
  /// <summary>at least 1</summary>
  public uint num_frames;
  /// <summary>[num_columns] arrays, [num_frames, len] of each column's kind</summary>
  public void** columns;
  /// <summary>[num_frames] reward of the action</summary>
  public float* reward;
  /// <summary>[num_frames] V(obs) when the action was chosen; NULL: none</summary>
  public float* value;
  /// <summary>[num_frames] the last one at most</summary>
  public byte* terminated;
  /// <summary>[num_frames] the last one at most</summary>
  public byte* truncated;
  /// <summary>[num_frames, M] the policy's recurrent state before the frame; NULL if M is 0</summary>
  public float* memory;
}

/// <summary>Arrays of a trajectory besides its columns: pointers into the block, valid until it changes.</summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_trajectory_view {
  /// <summary>sizeof(rlcore_trajectory_view)</summary>
  public uint struct_size;
  /// <summary>frames held</summary>
  public uint num_frames;
  /// <summary>[num_frames]</summary>
  public float* reward;
  /// <summary>[num_frames]; NULL if a frame had none</summary>
  public float* value;
  /// <summary>[num_frames]</summary>
  public byte* terminated;
  /// <summary>[num_frames]</summary>
  public byte* truncated;
  /// <summary>[num_frames, M]; NULL if M is 0</summary>
  public float* memory;
}

/// <summary>Output arrays of a processed trajectory; NULL skips an array, except returns and advantage.</summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_trajectory_rows {
  /// <summary>sizeof(rlcore_trajectory_rows)</summary>
  public uint struct_size;
  /// <summary>at least the number of frames, the rest is padding; with time_flat exactly that number</summary>
  public uint num_rows;
  /// <summary>1: each frame is a sample; 0: the trajectory is one sample</summary>
  public uint time_flat;
  /// <summary>zero</summary>
  public uint reserved;
  /// <summary>[num_columns] arrays, [num_rows, len] of each column's kind</summary>
  public void** columns;
  /// <summary>[num_rows] discounted returns, including bootstrap_value</summary>
  public float* returns;
  /// <summary>[num_rows] generalized advantages</summary>
  public float* advantage;
  /// <summary>[1, M] recurrent state before the first frame; with time_flat [num_rows, M], before each</summary>
  public float* memory;
  /// <summary>[1] number of frames; with time_flat [num_rows] ones</summary>
  public uint* time_steps;
  /// <summary>[num_rows] 1 where a row is a frame, 0 where it is padding</summary>
  public byte* valid;
}

// ---- Rollouts as safetensors files ----

/// <summary>
/// Arrays that a file may do without, for absent of an rlcore_rollout_file. They are neither read nor written then, and may
/// be NULL: for hosts that record others than learners of this library, people or scripts.
/// </summary>
public enum RolloutAbsent : uint {
  /// <summary>RLCORE_ROLLOUT_NO_LOG_PROB: log_prob</summary>
  LogProb = 1,
  /// <summary>RLCORE_ROLLOUT_NO_VALUE: value, bootstrap_value and final_value</summary>
  Value = 2,
}

/// <summary>
/// Shapes and origin of the data in a file. A file is in safetensors format, with a fixed set of arrays named as the members
/// of rlcore_rollout_arrays, little-endian on every machine, and metadata: counters, versions and a checksum.
/// </summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_rollout_file {
  /// <summary>sizeof(rlcore_rollout_file)</summary>
  public uint struct_size;
  /// <summary>T, at least 1</summary>
  public uint num_steps;
  /// <summary>N, at least 1</summary>
  public uint num_envs;
  /// <summary>an rlcore_element</summary>
  public uint obs_kind;
  /// <summary>dimensions of one observation, 0 to 4</summary>
  public uint obs_rank;
  /// <summary>their lengths, outermost first, at least 1 each; 0 or 1 beyond obs_rank</summary>
  public UInt32x4 obs_dims;
  /// <summary>an rlcore_element</summary>
  public uint action_kind;
  /// <summary>elements of one action, at least 1</summary>
  public uint action_len;
  /// <summary>M, elements of one recurrent state; 0 if there is none</summary>
  public uint state_len;
  /// <summary>K, the number of final observations</summary>
  public uint num_finals;
  /// <summary>arrays that the file does not have: an rlcore_rollout_absent, or both; 0: it has all</summary>
  public uint absent;
  /// <summary>seed of the environments</summary>
  public ulong seed;
  /// <summary>version of the policy that chose the actions</summary>
  public ulong policy_version;
  /// <summary>environment steps before the first one in the file</summary>
  public ulong global_step;
  /// <summary>episodes ended before the first step in the file</summary>
  public ulong num_episodes;
  /// <summary>bytes of metadata, up to 65536; 0: there is none</summary>
  public uint metadata_len;
  /// <summary>zero</summary>
  public uint reserved;
}

/// <summary>The arrays of a rollout: read by rlcore_rollout_file_write, written by rlcore_rollout_file_read.</summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_rollout_arrays {
  /// <summary>sizeof(rlcore_rollout_arrays)</summary>
  public uint struct_size;
  /// <summary>zero</summary>
  public uint reserved;
  /// <summary>[T + 1, N, obs...] the last row is the observation after the last step</summary>
  public void* obs;
  /// <summary>[T, N, action_len]</summary>
  public void* action;
  /// <summary>[T, N] log-probability of the action under the policy that chose it</summary>
  public float* log_prob;
  /// <summary>[T, N] V(obs[t])</summary>
  public float* value;
  /// <summary>[N] value of the observation after the last step</summary>
  public float* bootstrap_value;
  /// <summary>[T, N]</summary>
  public float* reward;
  /// <summary>[T, N]</summary>
  public byte* terminated;
  /// <summary>[T, N]</summary>
  public byte* truncated;
  /// <summary>[T, N] nonzero where a step was taken</summary>
  public byte* valid;
  /// <summary>[K] valid steps that ended, as t * N + n, ascending; must include every truncated one</summary>
  public ulong* final_index;
  /// <summary>[K, obs...] last observations of those episodes</summary>
  public void* final_obs;
  /// <summary>[K] their values</summary>
  public float* final_value;
  /// <summary>[N, M] recurrent state before the first step</summary>
  public float* state;
  /// <summary>
  /// [metadata_len] pairs of a name and a value in UTF-8, each with a 0 behind it, "name\0value\0": the host's notes of the
  /// recording, entries of __metadata__ in the file's header. Names are distinct, not empty and not "format"; of control
  /// characters there are only tabs and ends of lines
  /// </summary>
  public byte* metadata;
}

// ---- Queues between actors and a learner ----

/// <summary>
/// A bounded FIFO queue in memory that any number of threads or processes share. push and pop may be called concurrently
/// and do not block; the caller decides how to retry. If a process dies inside push or pop, its slot stays taken: stop all
/// users and call init again.
/// Example:
///   rlcore_queue_config_init(&amp;config, sizeof config);
///   config.capacity = 64, config.item_size = sizeof item;
///   rlcore_queue_size(&amp;config, &amp;size);
///   rlcore_queue_init(mem, size, &amp;config, &amp;q);
///   rlcore_queue_push(q, &amp;item, sizeof item);            // E_BUSY: full
///   rlcore_queue_pop(q, &amp;item, sizeof item, &amp;size);      // E_NOT_READY: empty
/// </summary>
public struct rlcore_queue { }

/// <summary>Configuration of a queue.</summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_queue_config {
  /// <summary>bytes; set by rlcore_queue_config_init</summary>
  public uint struct_size;
  /// <summary>maximum number of items, a power of two from 2 to 2^30; default 16</summary>
  public uint capacity;
  /// <summary>bytes of the largest item, at least 1; default 1 MiB</summary>
  public uint item_size;
  /// <summary>zero</summary>
  public uint reserved;
}

// ---- Advantages of rollouts with one done flag ----

/// <summary>
/// A rollout with one flag per observation, as in older code: done[t] means that obs[t] starts a new episode; done[0] is
/// never read. This form cannot distinguish truncated from terminated episodes.
/// </summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_shifted_rollout {
  /// <summary>sizeof(rlcore_shifted_rollout)</summary>
  public uint struct_size;
  /// <summary>T, at least 1</summary>
  public uint num_steps;
  /// <summary>N, at least 1</summary>
  public uint num_envs;
  /// <summary>precision: an rlcore_accumulate; 0: f32</summary>
  public uint accumulate;
  /// <summary>[T, N]</summary>
  public float* reward;
  /// <summary>[T, N] V(obs[t])</summary>
  public float* value;
  /// <summary>[T, N] 0 or 1; values in between mask partially</summary>
  public float* done;
  /// <summary>[N] value of the observation after the last step</summary>
  public float* next_value;
  /// <summary>[N] whether that observation starts a new episode</summary>
  public float* next_done;
}

// ---- V-trace ----

/// <summary>
/// T steps of N environments under the behavior policy, time-major, and the correction for the target policy. The arrays
/// are not owned and only read.
/// Example:
///   rlcore_vtrace_init(&amp;v, sizeof v);
///   v.num_steps = T, v.num_envs = N, v.log_rho = log_rho;           // and the other arrays
///   rlcore_vtrace_from_importance_weights(&amp;v, vs, pg_advantage);
/// </summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_vtrace {
  /// <summary>bytes; set by rlcore_vtrace_init</summary>
  public uint struct_size;
  /// <summary>T, at least 1</summary>
  public uint num_steps;
  /// <summary>N, at least 1</summary>
  public uint num_envs;
  /// <summary>precision: an rlcore_accumulate; 0 (default): f32</summary>
  public uint accumulate;
  /// <summary>[T, N] log pi(a) - log mu(a), finite; ignored by rlcore_vtrace_from_logits</summary>
  public float* log_rho;
  /// <summary>[T, N] each from 0 to 1, 0 where step t reached a terminal state</summary>
  public float* discounts;
  /// <summary>[T, N]</summary>
  public float* reward;
  /// <summary>[T, N] V(obs[t])</summary>
  public float* value;
  /// <summary>[N] value of the observation after the last step</summary>
  public float* bootstrap_value;
  /// <summary>[T, N] nonzero where step t was the last of a truncated episode; NULL: nowhere</summary>
  public byte* truncated;
  /// <summary>[T, N] V(final_obs), read only where truncated and discounts &gt; 0; NULL if nowhere</summary>
  public float* final_value;
  /// <summary>upper limit of the ratio that scales d, above 0; INFINITY: none; default 1</summary>
  public float clip_rho;
  /// <summary>upper limit of the ratio that scales k, above 0; INFINITY: none; default 1</summary>
  public float clip_c;
  /// <summary>upper limit of the ratio that scales pg_advantage, above 0; INFINITY: none; default 1</summary>
  public float clip_pg_rho;
  /// <summary>decay of later differences, from 0 to 1; default 1</summary>
  public float td_lambda;
  /// <summary>fraction of the excess over a limit that is kept, 0 (default) to 1: leaky V-trace</summary>
  public float leak;
  /// <summary>zero</summary>
  public uint reserved;
}

/// <summary>The logits of both policies over A actions, and the actions taken.</summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_vtrace_logits {
  /// <summary>sizeof(rlcore_vtrace_logits)</summary>
  public uint struct_size;
  /// <summary>A, at least 1</summary>
  public uint num_actions;
  /// <summary>[T, N, A] mu, the behavior policy; finite</summary>
  public float* behavior_logits;
  /// <summary>[T, N, A] pi, the target policy; finite</summary>
  public float* target_logits;
  /// <summary>[T, N] each from 0 to A - 1</summary>
  public int* action;
}

/// <summary>Output arrays of rlcore_vtrace_from_logits; NULL skips an array.</summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_vtrace_out {
  /// <summary>sizeof(rlcore_vtrace_out)</summary>
  public uint struct_size;
  /// <summary>zero</summary>
  public uint reserved;
  /// <summary>[T, N] targets of the value function</summary>
  public float* vs;
  /// <summary>[T, N] weights of log pi(a) in the policy gradient</summary>
  public float* pg_advantage;
  /// <summary>[T, N] log pi(a) - log mu(a)</summary>
  public float* log_rho;
  /// <summary>[T, N] log mu(a)</summary>
  public float* behavior_log_prob;
  /// <summary>[T, N] log pi(a)</summary>
  public float* target_log_prob;
}

// ---- Multi-step value targets ----

/// <summary>
/// Q and the target policy of a rollout whose actions another policy chose. The arrays are not owned and only read.
/// </summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_off_policy {
  /// <summary>sizeof(rlcore_off_policy)</summary>
  public uint struct_size;
  /// <summary>0 to 1</summary>
  public float discount;
  /// <summary>0 to 1</summary>
  public float td_lambda;
  /// <summary>zero</summary>
  public uint reserved;
  /// <summary>[T, N] Q(obs[t], action[t])</summary>
  public float* q;
  /// <summary>[T, N] log-probability of action[t], target less behavior policy; row 0 is never read</summary>
  public float* log_rho;
}

// ---- Categorical policies ----

/// <summary>A batch of categorical distributions. B = num_rows, K = num_choices, L = the sum of n.</summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_logits {
  /// <summary>sizeof(rlcore_logits)</summary>
  public uint struct_size;
  /// <summary>B, at least 1</summary>
  public uint num_rows;
  /// <summary>K, at least 1: one is Discrete, more are MultiDiscrete</summary>
  public uint num_choices;
  /// <summary>zero</summary>
  public uint reserved;
  /// <summary>[K] number of options of each choice, at least 1</summary>
  public uint* n;
  /// <summary>[B, L] finite; those of the first choice come first</summary>
  public float* logits;
  /// <summary>[B, L] 0 forbids; each choice must allow an option; NULL: everything is allowed</summary>
  public byte* mask;
}

// ---- Gaussian policies ----

/// <summary>A batch of diagonal Gaussians with shared standard deviations. B = num_rows, A = action_len.</summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_gaussian {
  /// <summary>sizeof(rlcore_gaussian)</summary>
  public uint struct_size;
  /// <summary>B, at least 1</summary>
  public uint num_rows;
  /// <summary>A, at least 1</summary>
  public uint action_len;
  /// <summary>zero</summary>
  public uint reserved;
  /// <summary>[B, A]</summary>
  public float* mean;
  /// <summary>[A] logarithms of the standard deviations, from -40 to 40</summary>
  public float* log_std;
}

// ---- Losses of networks of your own ----

/// <summary>A minibatch of a policy and its values. B = num_rows.</summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_loss_batch {
  /// <summary>sizeof(rlcore_loss_batch)</summary>
  public uint struct_size;
  /// <summary>B, at least 1</summary>
  public uint num_rows;
  /// <summary>ratios are clipped to 1 +- clip, of at least 0; ignored by rlcore_actor_critic_loss</summary>
  public float clip;
  /// <summary>values are clipped to old_value +- value_clip; 0: they are not</summary>
  public float value_clip;
  /// <summary>weight of half the mean squared error of the values</summary>
  public float value_coef;
  /// <summary>zero</summary>
  public uint reserved;
  /// <summary>[B] log-probabilities of the actions now</summary>
  public float* log_prob;
  /// <summary>
  /// [B] log-probabilities of the actions when they were taken, or under the policy that ratios are to; may be NULL for
  /// rlcore_actor_critic_loss, which makes approx_kl of them and nothing else
  /// </summary>
  public float* old_log_prob;
  /// <summary>[B]</summary>
  public float* advantage;
  /// <summary>[B] values now</summary>
  public float* value;
  /// <summary>[B] values when the actions were taken; may be NULL if value_clip is 0</summary>
  public float* old_value;
  /// <summary>[B]</summary>
  public float* value_target;
}

/// <summary>Means over the rows of a minibatch.</summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_losses {
  /// <summary>minus log_prob * advantage, or PPO's surrogate as below</summary>
  public float policy_loss;
  /// <summary>half the squared error of the values, without value_coef</summary>
  public float value_loss;
  /// <summary>ratio - 1 - ln ratio, an estimate of the KL divergence of the older policy from the newer</summary>
  public float approx_kl;
  /// <summary>fraction of ratios outside 1 +- clip; 0 from rlcore_actor_critic_loss</summary>
  public float clip_fraction;
}

/// <summary>
/// Values of each action for each cell of a picture, and their targets. B = num_rows, C = num_cells, A = num_choices.
/// </summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_pixel_control {
  /// <summary>sizeof(rlcore_pixel_control)</summary>
  public uint struct_size;
  /// <summary>B, at least 1</summary>
  public uint num_rows;
  /// <summary>C, at least 1</summary>
  public uint num_cells;
  /// <summary>A, at least 1</summary>
  public uint num_choices;
  /// <summary>[B, C, A]</summary>
  public float* advantage;
  /// <summary>[B, C]; NULL: advantage is then q of every choice</summary>
  public float* value;
  /// <summary>[B, C]</summary>
  public float* target;
  /// <summary>[B] each from 0 to A - 1</summary>
  public int* action;
}

// ---- Losses of autoencoders ----

/// <summary>A loss of each element of a reconstruction.</summary>
public enum ReconstructionKind : uint {
  /// <summary>RLCORE_RECONSTRUCTION_SQUARED: (out - target)^2 / 2</summary>
  Squared = 0,
  /// <summary>
  /// RLCORE_RECONSTRUCTION_BINARY:
  /// binary cross-entropy of sigmoid(out) and a target from 0 to 1: out is a logit
  /// </summary>
  Binary = 1,
}

/// <summary>Pictures, or other rows, and their reconstructions by a network. B = num_rows.</summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_reconstruction {
  /// <summary>sizeof(rlcore_reconstruction)</summary>
  public uint struct_size;
  /// <summary>an rlcore_reconstruction_kind</summary>
  public uint kind;
  /// <summary>B, at least 1</summary>
  public uint num_rows;
  /// <summary>elements of a row, at least 1</summary>
  public uint row_len;
  /// <summary>RLCORE_F32, or RLCORE_U8: bytes, which count divided by 255</summary>
  public uint target_type;
  /// <summary>zero</summary>
  public uint reserved;
  /// <summary>[B, row_len] outputs of the network</summary>
  public float* @out;
  /// <summary>[B, row_len]</summary>
  public void* target;
}

/// <summary>
/// Codes of a variational autoencoder, drawn from a diagonal Gaussian for each row. B = num_rows, L = len.
/// Example:
///   rlcore_latent_sample(&amp;codes, z);                           // what the decoder reads
///   rlcore_latent_loss(&amp;codes, d_z, d_mean, d_log_std, &amp;kl);   // d_z: the d_input of the decoder
/// </summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_latent {
  /// <summary>sizeof(rlcore_latent)</summary>
  public uint struct_size;
  /// <summary>B, at least 1</summary>
  public uint num_rows;
  /// <summary>L, at least 1</summary>
  public uint len;
  /// <summary>weight of the KL divergence, at least 0; 1: the variational bound, else a beta-VAE</summary>
  public float kl_coef;
  /// <summary>[B, L]</summary>
  public float* mean;
  /// <summary>[B, L] logarithms of the standard deviations, from -40 to 40</summary>
  public float* log_std;
  /// <summary>[B, L] standard normal draws, as of rlcore_rng_normal</summary>
  public float* normal;
}

// ---- Initial weights and optimizers of networks of your own ----

/// <summary>
/// A matrix of weights to draw, such as the head of a policy, as layer_init(layer, std=0.01) of src.ppo draws it.
/// Example:
///   const rlcore_weights head = {.struct_size = sizeof head, .gain = 0.01F, .num_inputs = 64, .num_outputs = 2};
///   rlcore_weights_draw(&amp;head, &amp;rng, scratch, scratch_len, weights);
/// </summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_weights {
  /// <summary>sizeof(rlcore_weights)</summary>
  public uint struct_size;
  /// <summary>an rlcore_initializer</summary>
  public uint initializer;
  /// <summary>
  /// scale, as the initializer says: usually the square root of 2 before tanh and ReLU, 0.01 for the head of a policy and 1
  /// for that of values; unlike that of an rlcore_layer, 0 is 0
  /// </summary>
  public float gain;
  /// <summary>inputs of an output, at least 1; of a convolution height * width * channels of its window</summary>
  public uint num_inputs;
  /// <summary>outputs, at least 1</summary>
  public uint num_outputs;
  /// <summary>
  /// 0: the matrix is [num_outputs, num_inputs], as in PyTorch; 1: it is [num_inputs, num_outputs], as in
  /// TensorFlow
  /// </summary>
  public uint inputs_first;
}

/// <summary>Settings of an optimizer. One that the optimizer does not read must have its default.</summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_optimizer_config {
  /// <summary>bytes; set by rlcore_optimizer_config_init</summary>
  public uint struct_size;
  /// <summary>an rlcore_optimizer, as rlcore_optimizer_config_init was told</summary>
  public uint optimizer;
  /// <summary>1: steps go up the gradients (0)</summary>
  public uint maximize;
  /// <summary>gradients are scaled down to this norm; 0: off (0)</summary>
  public float max_grad_norm;
  /// <summary>Adam: decay of the first moment (0.9; from 0 to below 1)</summary>
  public float beta1;
  /// <summary>Adam: decay of the second moment (0.999; from 0 to below 1)</summary>
  public float beta2;
  /// <summary>added to the denominator (1e-5; Adam: at least 0; RMSProp: above 0, to 1)</summary>
  public float epsilon;
  /// <summary>RMSProp: decay of mean squares (0.99; from 0 to below 1)</summary>
  public float rms_decay;
  /// <summary>RMSProp: part of its last step that it takes again (0; from 0 to below 1, and 0 if centered)</summary>
  public float rms_momentum;
  /// <summary>zero</summary>
  public uint reserved;
}

/// <summary>The arrays of an optimizer, which the host keeps and saves. P = num_params.</summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_optimizer_state {
  /// <summary>sizeof(rlcore_optimizer_state)</summary>
  public uint struct_size;
  /// <summary>P, at least 1</summary>
  public uint num_params;
  /// <summary>[P] first moments, to change; of RMSProp its last steps, or means of gradients if centered</summary>
  public float* first;
  /// <summary>[P] second moments, to change</summary>
  public float* second;
  /// <summary>[1] steps taken, to change; of RMSProp 0</summary>
  public ulong* num_steps;
}

// ---- Means and variances ----

/// <summary>Moments that rlcore_normalize takes. The arrays are not owned and only read.</summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_normalizer {
  /// <summary>sizeof(rlcore_normalizer)</summary>
  public uint struct_size;
  /// <summary>at least 1</summary>
  public uint num_columns;
  /// <summary>[num_columns]</summary>
  public double* mean;
  /// <summary>[num_columns]</summary>
  public double* variance;
  /// <summary>added to variances, from 1e-30 to 1e30</summary>
  public double epsilon;
  /// <summary>above 0</summary>
  public float clip;
  /// <summary>zero</summary>
  public uint reserved;
}

// ---- Images ----

/// <summary>Shape of an image of bytes, [height, width, channels].</summary>
[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_image_size {
  /// <summary>rows, at least 1</summary>
  public uint height;
  /// <summary>columns, at least 1</summary>
  public uint width;
  /// <summary>values per pixel, at least 1</summary>
  public uint channels;
}

// ---- Arrays in structures ----

/// <summary>A text of up to 23 bytes of UTF-8 in a structure.</summary>
[StructLayout(LayoutKind.Sequential, Pack = 1)]
public struct Text24 {
  private ulong e0, e1, e2;
  /// <summary>The text; one that is too long is an ArgumentException.</summary>
  public static implicit operator Text24(string text) {
    Text24 made = default(Text24);
    byte[] bytes = Encoding.UTF8.GetBytes(text);
    if (bytes.Length > 23) throw new ArgumentException("at most 23 bytes: " + text);
    bytes.CopyTo(MemoryMarshal.AsBytes(MemoryMarshal.CreateSpan(ref made.e0, 3)));
    return made;
  }
  /// <summary>The text.</summary>
  public override string ToString() {
    ReadOnlySpan<byte> bytes = MemoryMarshal.AsBytes(MemoryMarshal.CreateSpan(ref e0, 3));
    int end = bytes.IndexOf((byte)0);
    return Encoding.UTF8.GetString((end < 0 ? bytes : bytes.Slice(0, end)).ToArray());
  }
}

/// <summary>A text of up to 47 bytes of UTF-8 in a structure.</summary>
[StructLayout(LayoutKind.Sequential, Pack = 1)]
public struct Text48 {
  private ulong e0, e1, e2, e3, e4, e5;
  /// <summary>The text; one that is too long is an ArgumentException.</summary>
  public static implicit operator Text48(string text) {
    Text48 made = default(Text48);
    byte[] bytes = Encoding.UTF8.GetBytes(text);
    if (bytes.Length > 47) throw new ArgumentException("at most 47 bytes: " + text);
    bytes.CopyTo(MemoryMarshal.AsBytes(MemoryMarshal.CreateSpan(ref made.e0, 6)));
    return made;
  }
  /// <summary>The text.</summary>
  public override string ToString() {
    ReadOnlySpan<byte> bytes = MemoryMarshal.AsBytes(MemoryMarshal.CreateSpan(ref e0, 6));
    int end = bytes.IndexOf((byte)0);
    return Encoding.UTF8.GetString((end < 0 ? bytes : bytes.Slice(0, end)).ToArray());
  }
}

/// <summary>2 numbers in a structure.</summary>
[StructLayout(LayoutKind.Sequential)]
public struct UInt32x2 {
  private uint e0, e1;
  /// <summary>How many there are.</summary>
  public int Length { get { return 2; } }
  /// <summary>Number i.</summary>
  public uint this[int i] {
    get { return MemoryMarshal.CreateSpan(ref e0, 2)[i]; }
    set {
      Span<uint> all = MemoryMarshal.CreateSpan(ref e0, 2);
      all[i] = value;
    }
  }
}

/// <summary>3 numbers in a structure.</summary>
[StructLayout(LayoutKind.Sequential)]
public struct UInt32x3 {
  private uint e0, e1, e2;
  /// <summary>How many there are.</summary>
  public int Length { get { return 3; } }
  /// <summary>Number i.</summary>
  public uint this[int i] {
    get { return MemoryMarshal.CreateSpan(ref e0, 3)[i]; }
    set {
      Span<uint> all = MemoryMarshal.CreateSpan(ref e0, 3);
      all[i] = value;
    }
  }
}

/// <summary>4 numbers in a structure.</summary>
[StructLayout(LayoutKind.Sequential)]
public struct UInt32x4 {
  private uint e0, e1, e2, e3;
  /// <summary>How many there are.</summary>
  public int Length { get { return 4; } }
  /// <summary>Number i.</summary>
  public uint this[int i] {
    get { return MemoryMarshal.CreateSpan(ref e0, 4)[i]; }
    set {
      Span<uint> all = MemoryMarshal.CreateSpan(ref e0, 4);
      all[i] = value;
    }
  }
}

/// <summary>2 numbers in a structure.</summary>
[StructLayout(LayoutKind.Sequential)]
public struct UInt64x2 {
  private ulong e0, e1;
  /// <summary>How many there are.</summary>
  public int Length { get { return 2; } }
  /// <summary>Number i.</summary>
  public ulong this[int i] {
    get { return MemoryMarshal.CreateSpan(ref e0, 2)[i]; }
    set {
      Span<ulong> all = MemoryMarshal.CreateSpan(ref e0, 2);
      all[i] = value;
    }
  }
}

/// <summary>2 numbers in a structure.</summary>
[StructLayout(LayoutKind.Sequential)]
public struct UInt8x2 {
  private byte e0, e1;
  /// <summary>How many there are.</summary>
  public int Length { get { return 2; } }
  /// <summary>Number i.</summary>
  public byte this[int i] {
    get { return MemoryMarshal.CreateSpan(ref e0, 2)[i]; }
    set {
      Span<byte> all = MemoryMarshal.CreateSpan(ref e0, 2);
      all[i] = value;
    }
  }
}

/// <summary>6 numbers in a structure.</summary>
[StructLayout(LayoutKind.Sequential)]
public struct UInt8x6 {
  private byte e0, e1, e2, e3, e4, e5;
  /// <summary>How many there are.</summary>
  public int Length { get { return 6; } }
  /// <summary>Number i.</summary>
  public byte this[int i] {
    get { return MemoryMarshal.CreateSpan(ref e0, 6)[i]; }
    set {
      Span<byte> all = MemoryMarshal.CreateSpan(ref e0, 6);
      all[i] = value;
    }
  }
}

/// <summary>The built-in environments by their names.</summary>
public static class EnvNames {
  /// <summary>The number of each name, e.g. "CartPole-v1".</summary>
  public static readonly Dictionary<string, EnvId> Ids = new Dictionary<string, EnvId> {
    { "CartPole-v1", EnvId.Cartpole },
    { "MountainCar-v0", EnvId.MountainCar },
    { "MountainCarContinuous-v0", EnvId.MountainCarContinuous },
    { "Acrobot-v1", EnvId.Acrobot },
    { "Pendulum-v1", EnvId.Pendulum },
    { "Breakout-MinAtar", EnvId.Breakout },
    { "CartPoleNoVel-v1", EnvId.CartpoleNoVel },
    { "PendulumNoVel-v1", EnvId.PendulumNoVel },
    { "RepeatPreviousEasy", EnvId.RepeatPrevious },
    { "Catch-bsuite", EnvId.Catch },
    { "Asterix-MinAtar", EnvId.Asterix },
    { "Freeway-MinAtar", EnvId.Freeway },
    { "SpaceInvaders-MinAtar", EnvId.SpaceInvaders },
    { "Maze-42x42x1", EnvId.Maze },
    { "Maze-84x84x3", EnvId.MazeRgb },
    { "BitFlip-10", EnvId.BitFlip },
    { "PointReach", EnvId.PointReach },
    { "Probe1", EnvId.Probe1 },
    { "Probe2", EnvId.Probe2 },
    { "Probe3", EnvId.Probe3 },
    { "Probe4", EnvId.Probe4 },
    { "Probe5", EnvId.Probe5 },
    { "Probe6", EnvId.Probe6 },
    { "Probe7", EnvId.Probe7 },
    { "Probe6OddEven", EnvId.Probe6OddEven },
    { "ProbeTruncation", EnvId.ProbeTruncation },
    { "ProbeMemory", EnvId.ProbeMemory },
  };
}

/// <summary>The calls of the library, as rlcore.h declares them.</summary>
public static unsafe class Native {
#if (UNITY_IOS || UNITY_TVOS || UNITY_VISIONOS || UNITY_WEBGL) && !UNITY_EDITOR
  /// <summary>The library is linked into the player.</summary>
  public const string Library = "__Internal";
#else
  /// <summary>librlcore.so, librlcore.dylib or rlcore.dll.</summary>
  public const string Library = "rlcore";
#endif

  // ---- Versions and results ----

  /// <summary>Major version of the library, as in its Cargo.toml.</summary>
  public const int RLCORE_VERSION_MAJOR = 0;
  /// <summary>Minor version of the library.</summary>
  public const int RLCORE_VERSION_MINOR = 1;
  /// <summary>Patch version of the library.</summary>
  public const int RLCORE_VERSION_PATCH = 0;
  /// <summary>Incremented when callers must be recompiled.</summary>
  public const int RLCORE_ABI_VERSION = 0;
  /// <summary>Incremented when a kind of saved block can no longer be attached.</summary>
  public const int RLCORE_IMAGE_VERSION = 15;
  /// <summary>Name of a status, e.g. "RLCORE_E_SIZE". Static text, never NULL.</summary>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern byte* rlcore_status_name(int status);

  /// <summary>Meaning of a status in one sentence. Static text, never NULL.</summary>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern byte* rlcore_status_text(int status);

  /// <summary>
  /// Describes the most recent failure in this process, e.g. "RLCORE_E_SIZE: block: expected at least 4096 bytes, given
  /// 100". Empty if no call has failed, or if the library was built without the feature `words`.
  /// text: [text_size] to write; always NUL-terminated, truncated if it does not fit (256 bytes always suffice).
  /// Diagnostic only: the failure may be another thread's, so act on statuses. After fork() the child starts with its
  /// parent's text and then keeps its own.
  /// Errors: E_SIZE if text_size is 0. Its own failures are not recorded.
  /// </summary>
  /// <param name="text">out [text_size]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_last_error(byte* text, UIntPtr text_size);

  /// <summary>
  /// Keeps a failure that a wrapper of this interface has found itself, for rlcore_last_error: its name, ": " and the text.
  /// status: a failure, an rlcore_status below 0.
  /// text:   [text_size] up to its first NUL, if it has one; cut where it does not fit.
  /// Errors: E_RANGE for a status that is no failure.
  /// </summary>
  /// <param name="text">in [text_size]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_last_error_write(int status, byte* text, UIntPtr text_size);

  /// <summary>Version of the linked library: major &lt;&lt; 16 | minor &lt;&lt; 8 | patch.</summary>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern uint rlcore_version();

  /// <summary>RLCORE_ABI_VERSION of the linked library. Compare it with the header's before any other call.</summary>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern uint rlcore_abi_version();

  /// <summary>RLCORE_IMAGE_VERSION of the linked library.</summary>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern uint rlcore_image_version();

  // ---- CPU levels ----

  /// <summary>
  /// Limits the whole process to `level`, an rlcore_cpu_level, and those below it: for tests and measurements. Affects speed
  /// only, never results. Errors: E_RANGE.
  /// </summary>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_cpu_set_limit(uint level);

  // ---- Blocks as bytes ----

  /// <summary>
  /// 64-bit FNV-1a hash, to identify or compare states. Not cryptographic.
  /// bytes: [size]; may be NULL if size is 0.
  /// out:   [1] the hash.
  /// </summary>
  /// <param name="bytes">in [size] optional</param>
  /// <param name="out">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_hash(void* bytes, UIntPtr size, ulong* @out);

  /// <summary>
  /// Seals a learner or a policy before it is saved: stores a checksum over all its bytes in the block. attach refuses a
  /// sealed block if any byte has changed. A seal detects accidental damage; it is not protection against attackers. The next
  /// call with a learner that is not const, even one that fails, removes its seal; an attached policy keeps its seal.
  /// Policies are exported sealed.
  ///
  /// Without a seal, attach of any block detects a damaged header or configuration, a truncated block, and values that no
  /// call leaves, such as a NaN parameter. It does not detect a number that changed to another valid number, and does not
  /// read columns of frames and steps.
  /// mem: 8-byte aligned, mem_size bytes, at least the size of the block.
  /// Errors: E_SIZE if bytes are missing; E_IMAGE for another kind of block, or damaged bytes.
  /// </summary>
  /// <param name="mem">inout [mem_size]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_block_seal(void* mem, UIntPtr mem_size);

  // ---- Random streams ----

  /// <summary>Initializes the stream of numpy.random.Generator(PCG64(seed)). rng: [1] to write.</summary>
  /// <param name="rng">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_rng_seed(rlcore_rng* rng, ulong seed);

  /// <summary>
  /// Initializes independent stream number `stream` of a seed: that of child `stream` of numpy's SeedSequence(seed).
  /// rng: [1] to write.
  /// </summary>
  /// <param name="rng">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_rng_stream(rlcore_rng* rng, ulong seed, ulong stream);

  /// <summary>
  /// Fills out[len] with uniform draws from [low, high), as numpy's uniform.
  /// Errors, here and below: E_IMAGE for a stream that was never seeded. E_VALUE if low, high or high - low is not
  /// finite.
  /// </summary>
  /// <param name="rng">inout</param>
  /// <param name="out">out [len]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_rng_uniform(rlcore_rng* rng, double low, double high, double* @out, UIntPtr len);

  /// <summary>
  /// Fills out[len] with draws between low and high whose logarithms are uniform, for hyperparameters:
  /// exp((1 - x) ln(low + 1e-12) + x ln(high + 1e-12)) with x uniform in [0, 1), or low if low equals high. Each takes one
  /// uniform draw from rng.
  /// Errors: E_VALUE if low or high is negative or not finite.
  /// </summary>
  /// <param name="rng">inout</param>
  /// <param name="out">out [len]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_rng_log_uniform(rlcore_rng* rng, double low, double high, double* @out, UIntPtr len);

  /// <summary>
  /// Fills out[len] with uniform draws from [low, high), as numpy's integers. E_RANGE if high &lt;= low.
  /// </summary>
  /// <param name="rng">inout</param>
  /// <param name="out">out [len]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_rng_integers(rlcore_rng* rng, long low, long high, long* @out, UIntPtr len);

  /// <summary>
  /// Fills out[len] with standard normal draws by the Box-Muller method, which differs from numpy's: elements 2i and 2i+1
  /// come from 64-bit draw i.
  /// </summary>
  /// <param name="rng">inout</param>
  /// <param name="out">out [len]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_rng_normal(rlcore_rng* rng, float* @out, UIntPtr len);

  /// <summary>
  /// Fills out[len] with a random permutation of 0 to len - 1, as numpy's permutation. E_RANGE if len exceeds 32 bits.
  /// </summary>
  /// <param name="rng">inout</param>
  /// <param name="out">out [len]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_rng_permutation(rlcore_rng* rng, uint* @out, UIntPtr len);

  // ---- Wrappers ----

  /// <summary>
  /// Fills in the defaults. Writes config_size bytes, so that callers with an older, smaller struct are safe.
  /// Errors: E_SIZE.
  /// </summary>
  /// <param name="config">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_atari_config_init(rlcore_atari_config* config, UIntPtr config_size);

  /// <summary>
  /// Writes the usual wrappers for an Atari game whose observations are RLCORE_U8 screens [height, width, 3].
  /// out: [capacity], of which *out_len are written, at most 11; rlcore_env_def.wrappers may point to it.
  /// Errors: E_CONFIG; E_SIZE if capacity is too small.
  /// </summary>
  /// <param name="config">in</param>
  /// <param name="out">out [capacity]</param>
  /// <param name="out_len">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_wrappers_atari(rlcore_atari_config* config, rlcore_wrapper* @out, uint capacity, uint* out_len);

  // ---- Environments ----

  /// <summary>
  /// Size in bytes of the memory for a compiled environment.
  /// Errors: E_CONFIG for anything that is wrong with the definition.
  /// </summary>
  /// <param name="definition">in</param>
  /// <param name="out_size">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_env_size(rlcore_env_def* definition, UIntPtr* out_size);

  /// <summary>
  /// Compiles a definition: checks it, puts its wrappers together and copies all that it points to. mem: aligned to 8 bytes.
  /// Errors: E_CONFIG; E_SIZE if mem_size is too small.
  /// </summary>
  /// <param name="mem">inout [mem_size]</param>
  /// <param name="definition">in</param>
  /// <param name="out">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_env_init(void* mem, UIntPtr mem_size, rlcore_env_def* definition, rlcore_env** @out);

  // ---- Built-in environments ----

  /// <summary>
  /// Compiles a built-in environment as it is. With wrappers or with functions of the host's, one is compiled by
  /// rlcore_env_init.
  /// mem:    as of rlcore_env_init; 1024 bytes are enough.
  /// env_id: an rlcore_env_id.
  /// Errors: E_SIZE if mem_size is too small; E_RANGE for another env_id.
  /// </summary>
  /// <param name="mem">inout [mem_size]</param>
  /// <param name="out">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_env_builtin(void* mem, UIntPtr mem_size, uint env_id, rlcore_env** @out);

  // ---- N environments of one kind ----

  /// <summary>Fills in the defaults.</summary>
  /// <param name="config">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_vecenv_config_init(rlcore_vecenv_config* config, UIntPtr config_size);

  /// <summary>Size of the block for this environment and configuration, in bytes.</summary>
  /// <param name="env">in</param>
  /// <param name="config">in</param>
  /// <param name="out_size">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_vecenv_size(rlcore_env* env, rlcore_vecenv_config* config, UIntPtr* out_size);

  /// <summary>Creates N environments in mem. Each must be reset before it is stepped.</summary>
  /// <param name="mem">inout [mem_size]</param>
  /// <param name="env">in</param>
  /// <param name="config">in</param>
  /// <param name="out">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_vecenv_init(void* mem, UIntPtr mem_size, rlcore_env* env, rlcore_vecenv_config* config, rlcore_vecenv** @out);

  /// <summary>
  /// Opens the bytes of a saved or copied block. Callbacks are not saved; env supplies them.
  /// Errors: E_SIZE if bytes are missing; E_IMAGE for another kind of block, version or byte order, or damaged bytes;
  /// E_CONFIG for another environment.
  /// </summary>
  /// <param name="mem">inout [mem_size]</param>
  /// <param name="env">in</param>
  /// <param name="out">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_vecenv_attach(void* mem, UIntPtr mem_size, rlcore_env* env, rlcore_vecenv** @out);

  /// <summary>
  /// Starts an episode in every environment, in a new level if there are levels.
  /// seed: environment i is seeded with *seed + i, modulo 2^64; NULL: the random streams continue.
  /// obs:  [N, obs.len] to write.
  /// Errors: E_CONFIG, before anything changes. E_CALLBACK, or E_VALUE for an observation that is not finite: earlier
  /// environments are reset, the failed one must be reset again, later ones are unchanged. rlcore_last_error() names it.
  /// </summary>
  /// <param name="v">inout</param>
  /// <param name="env">in</param>
  /// <param name="seed">in optional</param>
  /// <param name="obs">out [N, obs.len]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_vecenv_reset(rlcore_vecenv* v, rlcore_env* env, ulong* seed, void* obs);

  /// <summary>
  /// Starts an episode in environment `index` only.
  /// seed: it is seeded with *seed itself; NULL: its random stream continues.
  /// obs:  [N, obs.len], of which only that row is written.
  /// Errors: as rlcore_vecenv_reset; E_RANGE.
  /// </summary>
  /// <param name="v">inout</param>
  /// <param name="env">in</param>
  /// <param name="seed">in optional</param>
  /// <param name="obs">out [N, obs.len]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_vecenv_reset_one(rlcore_vecenv* v, rlcore_env* env, uint index, ulong* seed, void* obs);

  /// <summary>
  /// rlcore_vecenv_reset with options for the environment's reset_with, which is called for every environment in place of
  /// reset and restart, also if it was reset before and without a seed. Wrappers begin as after a reset with a seed; those
  /// that play actions at the start of an episode pass the options on again if it ends during them. Episodes that
  /// autoreset starts have no options.
  /// how: seed and options.
  /// obs: [N, obs.len] to write.
  /// Errors: as rlcore_vecenv_reset; E_CONFIG, before anything changes, for options if the environment has no reset_with, as
  /// those of the library have none.
  /// </summary>
  /// <param name="v">inout</param>
  /// <param name="env">in</param>
  /// <param name="how">in</param>
  /// <param name="obs">out [N, obs.len]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_vecenv_reset_with(rlcore_vecenv* v, rlcore_env* env, rlcore_reset* how, void* obs);

  /// <summary>
  /// rlcore_vecenv_reset_one with options, as rlcore_vecenv_reset_with.
  /// how: seed and options.
  /// obs: [N, obs.len], of which only that row is written.
  /// Errors: as rlcore_vecenv_reset_with; E_RANGE.
  /// </summary>
  /// <param name="v">inout</param>
  /// <param name="env">in</param>
  /// <param name="how">in</param>
  /// <param name="obs">out [N, obs.len]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_vecenv_reset_one_with(rlcore_vecenv* v, rlcore_env* env, uint index, rlcore_reset* how, void* obs);

  /// <summary>
  /// Steps every environment.
  /// rows: reads action; writes obs, reward, terminated and truncated, and where they are given valid, action_mask, and
  ///       in rows that ended final_obs and final_action_mask. final_obs may be NULL unless autoreset is "same step",
  ///       valid unless it is "next step". active is not read: all are stepped.
  /// With same-step autoreset, an environment that ends is reset in this call: final_obs receives the last observation, obs
  /// the first of the next episode.
  /// Errors: E_CONFIG; E_RANGE or E_VALUE for an action; E_NOT_READY for an environment that must be reset first; all before
  /// anything changes. E_CALLBACK, or E_VALUE for a reward or observation that is not finite: earlier environments are
  /// stepped, the failed one must be reset, later ones are unchanged. rlcore_last_error() names it.
  /// </summary>
  /// <param name="v">inout</param>
  /// <param name="env">in</param>
  /// <param name="rows">in</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_vecenv_step(rlcore_vecenv* v, rlcore_env* env, rlcore_rows* rows);

  /// <summary>
  /// Steps environments [begin, end) as rlcore_vecenv_step. The arrays are those of all N; only rows of the range are
  /// used.
  /// Threads: calls on disjoint ranges may run concurrently; results do not depend on the split. Ranges that begin at
  /// multiples of 64 share no cache line.
  /// Errors: as rlcore_vecenv_step; E_RANGE.
  /// </summary>
  /// <param name="v">inout</param>
  /// <param name="env">in</param>
  /// <param name="rows">in</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_vecenv_step_range(rlcore_vecenv* v, rlcore_env* env, uint begin, uint end, rlcore_rows* rows);

  /// <summary>
  /// As rlcore_vecenv_step, but environments that end restart in the given level. If autoreset restarts them in their next
  /// step, this level applies there, not the one passed to that step.
  /// level: an rlcore_level.
  /// Errors: as rlcore_vecenv_step; E_RANGE for another level.
  /// </summary>
  /// <param name="v">inout</param>
  /// <param name="env">in</param>
  /// <param name="rows">in</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_vecenv_step_env(rlcore_vecenv* v, rlcore_env* env, uint level, rlcore_rows* rows);

  /// <summary>
  /// Bytes of one environment as rlcore_vecenv_row_read writes it, for batches of any N.
  /// Errors: E_OVERFLOW.
  /// </summary>
  /// <param name="env">in</param>
  /// <param name="out_size">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_vecenv_row_size(rlcore_env* env, UIntPtr* out_size);

  /// <summary>
  /// Copies environment `index` with all that its next steps depend on: its state, those of its wrappers (frame stacks,
  /// limits, records), its random stream, its count of steps, and its observation. rlcore_vecenv_row_write makes it a row of
  /// any block of the same environment, with other N, autoreset and seeds, also in another process: what a search branches
  /// from, and where a curriculum starts.
  /// Not held are what callbacks keep behind user, and what other blocks hold of an environment, such as running statistics
  /// and returns of an rlcore_vec_normalize, sums of an rlcore_monitor, rings of an rlcore_lazy_frames, the memory of a
  /// learner. The bytes have no pointers, and machines of the other byte order refuse them.
  /// obs: [N, obs.len] of the last reset or step, of which only that row is read.
  /// row: [row_size] bytes to be written, 8-byte aligned, at least rlcore_vecenv_row_size().
  /// Threads: calls for different rows may run concurrently, also with steps of other rows; not with an rlcore_batch that
  /// has a step of that row.
  /// Errors: E_CONFIG; E_RANGE; E_NOT_READY before its reset; E_VALUE for an obs that is not finite; E_SIZE. Nothing is
  /// written then.
  /// </summary>
  /// <param name="v">in</param>
  /// <param name="env">in</param>
  /// <param name="obs">in [N, obs.len]</param>
  /// <param name="row">out [row_size]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_vecenv_row_read(rlcore_vecenv* v, rlcore_env* env, uint index, void* obs, void* row, UIntPtr row_size);

  /// <summary>
  /// Makes environment `index` the one of rlcore_vecenv_row_read: with the same actions it takes the same steps, bit for
  /// bit. The block keeps its autoreset and max_episode_steps. It need not have been reset before.
  /// row: [row_size] bytes of rlcore_vecenv_row_read, 8-byte aligned.
  /// obs: [N, obs.len], of which only that row is written: its observation.
  /// Threads: as rlcore_vecenv_row_read.
  /// Errors: E_CONFIG for a row of another environment, one with more steps than max_episode_steps allows here, one that has
  /// ended if autoreset is "same step", and with wrappers if max_episode_steps is 0 on one side only; E_RANGE; E_SIZE;
  /// E_IMAGE for another version or byte order, or damaged bytes; E_VALUE if its observation is not finite. Nothing is
  /// written then.
  /// </summary>
  /// <param name="v">inout</param>
  /// <param name="env">in</param>
  /// <param name="row">in [row_size]</param>
  /// <param name="obs">out [N, obs.len]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_vecenv_row_write(rlcore_vecenv* v, rlcore_env* env, uint index, void* row, UIntPtr row_size, void* obs);

  /// <summary>
  /// Renders environment `index`. rgb: [height, width, 3], rows from the top.
  /// Errors: E_CONFIG; E_RANGE; E_CALLBACK; E_NOT_READY before its reset.
  /// </summary>
  /// <param name="v">in</param>
  /// <param name="env">in</param>
  /// <param name="rgb">out [height, width, 3]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_vecenv_render(rlcore_vecenv* v, rlcore_env* env, uint index, uint width, uint height, byte* rgb);

  /// <summary>
  /// Renders every environment. rgb: [N, height, width, 3], rows from the top. rlcore_image_tile combines them.
  /// Errors: as rlcore_vecenv_render; E_CALLBACK: environments before that one are rendered.
  /// </summary>
  /// <param name="v">in</param>
  /// <param name="env">in</param>
  /// <param name="rgb">out [N, height, width, 3]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_vecenv_images(rlcore_vecenv* v, rlcore_env* env, uint width, uint height, byte* rgb);

  /// <summary>
  /// Number of lives left in each environment. lives: [N] to write.
  /// Errors: E_CONFIG; E_NOT_READY if an environment was never reset; E_CALLBACK: earlier rows are written.
  /// </summary>
  /// <param name="v">in</param>
  /// <param name="env">in</param>
  /// <param name="lives">out [N]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_vecenv_lives(rlcore_vecenv* v, rlcore_env* env, uint* lives);

  /// <summary>
  /// Which choices are allowed now: 1 if allowed, else 0. mask: [N, sum of action.n] to write.
  /// Errors: E_CONFIG for actions that are not RLCORE_I32, and as rlcore_vecenv_lives.
  /// </summary>
  /// <param name="v">in</param>
  /// <param name="env">in</param>
  /// <param name="mask">out [N, sum(action.n)]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_vecenv_action_mask(rlcore_vecenv* v, rlcore_env* env, byte* mask);

  /// <summary>Number of environments in a block, e.g. one that was loaded. out: [1] N.</summary>
  /// <param name="v">in</param>
  /// <param name="out">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_vecenv_num_envs(rlcore_vecenv* v, uint* @out);

  // ---- Observation fields ----

  /// <summary>
  /// Lists the fields of an environment's observations, wrappers included: one unnamed field if it declares none.
  /// out:     [capacity], of which *out_len are written; NULL with a capacity of 0 only counts them.
  /// Errors: E_CONFIG; E_SIZE if there are more than capacity.
  /// </summary>
  /// <param name="env">in</param>
  /// <param name="out">out [capacity] optional</param>
  /// <param name="out_len">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_env_fields(rlcore_env* env, rlcore_field* @out, uint capacity, uint* out_len);

  /// <summary>
  /// Splits observations: copies each field of num_rows rows to an array of its own.
  /// obs:   [num_rows, obs.len], as rlcore_vecenv_step writes it.
  /// parts: one array per field of rlcore_env_fields, [num_rows, dims...] of its kind; NULL skips one.
  /// Errors: E_CONFIG.
  /// </summary>
  /// <param name="env">in</param>
  /// <param name="obs">in [num_rows, obs.len]</param>
  /// <param name="parts">out [num_rows, dims...] optional</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_obs_split(rlcore_env* env, uint num_rows, void* obs, void** parts);

  /// <summary>
  /// Joins observations: the reverse of rlcore_obs_split. Bytes outside all fields, and of fields whose part is NULL, are
  /// left unchanged.
  /// Errors: as rlcore_obs_split.
  /// </summary>
  /// <param name="env">in</param>
  /// <param name="parts">in [num_rows, dims...] optional</param>
  /// <param name="obs">out [num_rows, obs.len]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_obs_join(rlcore_env* env, uint num_rows, void** parts, void* obs);

  /// <summary>
  /// Writes the record before the very first step, for learners that start from one (RLCORE_WRAP_RECORD): all zeros except
  /// real_done, which is 1. record: [obs.len] bytes to write.
  /// Errors: E_CONFIG unless a record is the outermost wrapper of observations.
  /// </summary>
  /// <param name="env">in</param>
  /// <param name="record">out [obs.len]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_record_initial(rlcore_env* env, byte* record);

  // ---- Layers of networks ----

  /// <summary>For source of an rlcore_layer: it reads the observations.</summary>
  public const int RLCORE_LAYER_INPUT = 1073741824;

  // ---- Networks known by name ----

  /// <summary>
  /// Writes the layers of a network that is known by name, for the layers of an rlcore_learner_config: its hidden layers and
  /// heads read the last of them.
  /// Example:
  ///   rlcore_layer layers[16];
  ///   rlcore_net_preset(RLCORE_NET_NATURE, layers, 16, &amp;config.num_layers);
  /// net:     an rlcore_net.
  /// out:     [capacity], of which *out_len are written; NULL with a capacity of 0 only counts them.
  /// Errors: E_CONFIG; E_SIZE if there are more than capacity.
  /// </summary>
  /// <param name="out">out [capacity] optional</param>
  /// <param name="out_len">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_net_preset(uint net, rlcore_layer* @out, uint capacity, uint* out_len);

  // ---- Configurations of learners ----

  /// <summary>
  /// Fills in the defaults of an algorithm.
  /// algorithm: an rlcore_algorithm.
  /// Errors: E_RANGE for another algorithm.
  /// </summary>
  /// <param name="config">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_learner_config_init(rlcore_learner_config* config, UIntPtr config_size, uint algorithm);

  // ---- Configurations known by name ----

  /// <summary>
  /// Fills in the numbers of another package; change them as those of rlcore_learner_config_init.
  /// Example:
  ///   rlcore_layer layers[16];
  ///   uint32_t net;
  ///   rlcore_learner_config_preset(&amp;config, sizeof config, RLCORE_PRESET_BTGYM_A3C, &amp;net);
  ///   rlcore_net_preset(net, layers, 16, &amp;config.num_layers);
  ///   config.layers = layers;
  /// preset:  an rlcore_preset.
  /// out_net: the rlcore_net whose layers it has; 0: none. NULL if that is known.
  /// Errors: E_SIZE for a structure that is too small; E_RANGE for another preset, or one whose algorithm the build lacks.
  /// </summary>
  /// <param name="config">out</param>
  /// <param name="out_net">out optional</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_learner_config_preset(rlcore_learner_config* config, UIntPtr config_size, uint preset, uint* out_net);

  // ---- Learners: act, observe, learn ----

  /// <summary>
  /// Bytes a block must have for this configuration and these spaces.
  /// Observations: networks read bytes divided by 255, floats as they are, a choice of n as n numbers, 1 for the choice
  /// and 0 for the others (one-hot). Of RLCORE_STRUCT they read the fields in config.obs_fields in that order, without
  /// infos; obs.n then has one entry for each element of theirs of kind RLCORE_I32. rlcore_learner_seen_len returns how
  /// many numbers they read.
  /// Actions: one of RLCORE_STRUCT has the fields in config.action_fields. Each element of kind RLCORE_I32 is a choice, with
  /// one entry in action.n; each of kind RLCORE_F32 is a number, with one entry in action.low and action.high unless they are
  /// NULL. Each element is drawn from its own distribution; the log-probability and the entropy of the action are the sums
  /// over its elements. Bytes that no field covers are never written. Bounds of continuous actions are finite and on both
  /// sides, or low and high are NULL.
  /// Errors: E_CONFIG for a structure without fields, for numbers in an action of RLCORE_STRUCT with DQN, PQN and stream Q,
  /// for choices in one with TD3, and for an action that is bounded on one side only.
  /// </summary>
  /// <param name="config">in</param>
  /// <param name="obs">in</param>
  /// <param name="action">in</param>
  /// <param name="out_size">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_learner_size(rlcore_learner_config* config, rlcore_space* obs, rlcore_space* action, UIntPtr* out_size);

  /// <summary>Creates a learner in mem and draws its first parameters.</summary>
  /// <param name="mem">inout [mem_size]</param>
  /// <param name="config">in</param>
  /// <param name="obs">in</param>
  /// <param name="action">in</param>
  /// <param name="out">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_learner_init(void* mem, UIntPtr mem_size, rlcore_learner_config* config, rlcore_space* obs, rlcore_space* action, rlcore_learner** @out);

  /// <summary>
  /// Opens the bytes of a learner that was copied or saved, in this process or another. Training continues with exactly
  /// the results that it would have had without the interruption. mem is only read. If the learner was sealed by
  /// rlcore_block_seal, it is refused if any byte has changed; if not, values that no call leaves are refused, but a
  /// parameter that changed to another finite number is not detected. A learner whose process was killed within a call that
  /// changes it is refused with E_IMAGE.
  /// num_envs:    N of the host's arrays, which the learner must have; 0: any is accepted.
  /// obs, action: the spaces of the host's arrays, compared as by rlcore_policy_attach. NULL: any are accepted, and
  ///              rlcore_learner_spaces tells them.
  /// Errors: E_IMAGE; E_SHAPE if the learner was made for another N or other spaces, with its number and the given one.
  /// </summary>
  /// <param name="mem">inout [mem_size]</param>
  /// <param name="obs">in optional</param>
  /// <param name="action">in optional</param>
  /// <param name="out">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_learner_attach(void* mem, UIntPtr mem_size, uint num_envs, rlcore_space* obs, rlcore_space* action, rlcore_learner** @out);

  /// <summary>
  /// Returns the call that is due: LEARN if an update is due, of a complete rollout or of batches of the store, or while one
  /// runs without overlap; else OBSERVE if an environment has acted and not been observed since; else ACT.
  /// out: [1] an rlcore_learner_due.
  /// </summary>
  /// <param name="p">in</param>
  /// <param name="out">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_learner_phase(rlcore_learner* p, uint* @out);

  /// <summary>
  /// Returns which environments have acted and not been observed since.
  /// acted: [N] flags to write.
  /// </summary>
  /// <param name="p">in</param>
  /// <param name="acted">out [N]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_learner_acted(rlcore_learner* p, byte* acted);

  /// <summary>
  /// Draws an action for each environment and begins a transition.
  /// rows: reads active, obs and action_mask; writes action. An environment whose active is 0 does not act now. obs:
  ///       bytes are divided by 255, choices are one-hot. action_mask: 0 forbids a choice; each element of an action
  ///       needs at least one that is allowed; required with use_action_mask, NULL without.
  /// Errors: E_CONFIG; E_NOT_READY if rlcore_learner_learn is due, or an environment has already acted; E_SHAPE for a
  /// mask that is missing or not expected; E_VALUE for a mask that allows nothing, and for an observation that is not
  /// finite, is so large that the policy overflows, has a choice that does not exist, or is not a stack as num_stacked
  /// requires.
  /// </summary>
  /// <param name="p">inout</param>
  /// <param name="rows">in</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_learner_act(rlcore_learner* p, rlcore_rows* rows);

  /// <summary>
  /// rlcore_learner_act for environments [begin, end) only. The arrays are those of all N; only rows of the range are
  /// used. Calls for consecutive ranges, from the first environment to the last, leave the same bytes as one call for
  /// all.
  /// Threads: one call at a time.
  /// rows: as rlcore_learner_act.
  /// Errors: as rlcore_learner_act; E_RANGE.
  /// </summary>
  /// <param name="p">inout</param>
  /// <param name="rows">in</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_learner_act_range(rlcore_learner* p, uint begin, uint end, rlcore_rows* rows);

  /// <summary>
  /// Actions of the host's own in place of those of rlcore_learner_act: of a person, a script or a recorded game.
  /// Off policy (DQN, TD3, SAC) each begins a transition of its environment, and rlcore_learner_observe completes it. Its
  /// steps count in num_steps; an episode with such an action is not the agent's, and counts in none of the statistics. The
  /// first demonstration_size of these transitions are kept for good.
  /// On policy the first demonstration_size observations and actions are kept for imitation_coef, later ones are left out.
  /// Nothing begins and nothing is counted: rlcore_learner_observe does not follow, and an environment that the learner acts
  /// in as well is at the beginning of an episode then, or is cut by rlcore_learner_cut.
  /// rows: reads active, obs, action_mask, and action: numbers between their bounds, without bounds from -1 to 1 off policy,
  ///       and choices that action_mask allows.
  /// Errors: as rlcore_learner_act; E_VALUE for another action; E_DISABLED on policy without demonstration_size.
  /// </summary>
  /// <param name="p">inout</param>
  /// <param name="rows">in</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_learner_demonstrate(rlcore_learner* p, rlcore_rows* rows);

  /// <summary>
  /// Records the results of the step and completes the transitions. After T * N transitions rlcore_learner_learn is due.
  /// Autoreset must be same-step: with next-step autoreset, rows that are only reset would count as transitions.
  /// rows: reads active, reward, terminated, truncated, final_obs and final_action_mask, and with use_duration duration. An
  ///       environment whose active is 0 was not stepped. final_obs and final_action_mask are read only where truncated and
  ///       not terminated; final_obs may be NULL if there is no such environment. final_action_mask: 0 forbids a choice;
  ///       those rows allow at least one choice of each element; NULL: all are allowed, as without use_action_mask. The
  ///       reward is that of the whole duration.
  /// Errors: E_CONFIG; E_NOT_READY if an environment has not acted; E_SHAPE for a mask without use_action_mask; E_VALUE
  /// for a reward, a duration or a final_obs that is not finite, a duration below 0, a mask that allows nothing, and off
  /// policy for a final_obs that is not a stack as num_stacked requires.
  /// </summary>
  /// <param name="p">inout</param>
  /// <param name="rows">in</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_learner_observe(rlcore_learner* p, rlcore_rows* rows);

  /// <summary>
  /// Removes agents that leave before the outcome of their last action is known, whether or not they have been observed
  /// since. Their last transition is dropped; the one before it becomes truncated, and bootstraps from the value of the
  /// observation that the last action was chosen for. Off policy, transitions whose n_step steps are not complete are dropped.
  /// Their episodes are not counted. The rows are free for other agents.
  /// Allowed in every phase. If rlcore_learner_learn is due and has not begun, the rollout may lack transitions afterwards,
  /// so that learning is not due any more: ask rlcore_learner_phase. An update that has begun goes on with all of its
  /// transitions, and with the bootstrap values of the observations that it was given.
  /// gone: [N] flags.
  /// </summary>
  /// <param name="p">inout</param>
  /// <param name="gone">in [N]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_learner_cut(rlcore_learner* p, byte* gone);

  /// <summary>
  /// Does a part of the update that is due, so that a frame need not wait for a whole update.
  /// rows:        reads obs and action_mask after the last step, required in the first call of an update of a rollout;
  ///              rows of environments that have acted since, or whose episode ended, are not read. NULL, or with obs
  ///              NULL: there is no observation, as off policy and in later calls. The value that follows is one of the
  ///              choices of action_mask; NULL: all are allowed, as without use_action_mask.
  /// max_slices:  the most chunks to do in this call, of which a minibatch has num_chunks; 0: all that are left.
  /// stats:       to write; call again while minibatches_left is not 0. With overlap the next update may be due by the end
  ///              of an update: then minibatches_left counts the next one, whose first call needs obs on policy.
  /// With overlap off policy, what an update learns does not depend on when its parts are computed: it draws from what was
  /// stored when it began, with the statistics of that time, and the policy from before it acts until the next update begins.
  /// Errors: E_CONFIG; E_NOT_READY; E_SHAPE for a mask without use_action_mask; E_VALUE for an observation that is not finite
  /// or a mask that allows nothing, before anything changes, or because numbers overflow. In that case the update ends and is
  /// counted in num_dropped, the parameters are those of the last minibatch whose numbers did not overflow, and
  /// rlcore_learner_act is due.
  /// </summary>
  /// <param name="p">inout</param>
  /// <param name="rows">in optional</param>
  /// <param name="stats">inout</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_learner_learn(rlcore_learner* p, rlcore_rows* rows, uint max_slices, rlcore_learner_stats* stats);

  /// <summary>
  /// Returns the statistics as a call that learns would write them now, in any phase. Of a learner that was saved amid an
  /// update, minibatches_left counts the rest of that update.
  /// stats: to write.
  /// Errors: E_CONFIG for struct_size.
  /// </summary>
  /// <param name="p">in</param>
  /// <param name="stats">inout</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_learner_stats_read(rlcore_learner* p, rlcore_learner_stats* stats);

  /// <summary>
  /// Computes the value of an observation of each environment. Nothing is recorded. Recurrent layers read their current
  /// state for each environment, zeros where an episode begins, and do not change it.
  /// rows:  reads obs and action_mask; NULL: all choices are allowed, as without use_action_mask. The value of a learner
  ///        of Q is that of the best of these choices, and that of discrete SAC a mean over them.
  /// value: [N] to write.
  /// Errors: E_CONFIG; E_SHAPE for a mask without use_action_mask; E_VALUE for an observation that is not finite, a mask
  /// that allows nothing, or values that overflow.
  /// </summary>
  /// <param name="p">inout</param>
  /// <param name="rows">in</param>
  /// <param name="value">out [N]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_learner_value(rlcore_learner* p, rlcore_rows* rows, float* value);

  /// <summary>
  /// Computes the log-probability of each environment's action and the entropy of its distribution. Nothing is recorded.
  /// Recurrent layers read their current state for each environment, zeros where an episode begins, and do not change it. With
  /// squash both are those of the action before tanh, as in updates.
  /// rows: reads obs, action_mask as in rlcore_learner_act, and action; continuous actions as the policy draws them,
  ///       before they are squashed or clipped.
  /// log_prob, entropy: [N] to write.
  /// Errors: E_CONFIG; E_SHAPE for a mask that is missing or not expected; E_VALUE for an observation or action that is
  /// not finite, a choice that does not exist or is not allowed, and numbers that overflow.
  /// </summary>
  /// <param name="p">inout</param>
  /// <param name="rows">in</param>
  /// <param name="log_prob">out [N]</param>
  /// <param name="entropy">out [N]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_learner_log_prob(rlcore_learner* p, rlcore_rows* rows, float* log_prob, float* entropy);

  /// <summary>
  /// Numbers that recurrent layers carry from one step of an environment to the next; 0 without such layers.
  /// </summary>
  /// <param name="p">in</param>
  /// <param name="out_len">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_learner_state_len(rlcore_learner* p, UIntPtr* out_len);

  /// <summary>
  /// How many numbers networks read of one observation: obs.len, unless observations are choices or structures.
  /// </summary>
  /// <param name="p">in</param>
  /// <param name="out_len">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_learner_seen_len(rlcore_learner* p, UIntPtr* out_len);

  /// <summary>
  /// Transitions in the arrays of rlcore_learner_batch_read and rlcore_learner_learn_batch: T * N. Off policy, those in the
  /// arrays of rlcore_learner_learn_transitions: batch_size.
  /// out_mask_len:  flags of action_mask for each of them; 0 without use_action_mask, when action_mask is NULL.
  /// out_begin_len: elements of begin, as many as transitions; 0 where begin is NULL.
  /// out_env_len:   elements of env, as many as transitions; 0 where env is NULL.
  /// </summary>
  /// <param name="p">in</param>
  /// <param name="out_len">out</param>
  /// <param name="out_mask_len">out</param>
  /// <param name="out_begin_len">out</param>
  /// <param name="out_env_len">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_learner_batch_len(rlcore_learner* p, UIntPtr* out_len, UIntPtr* out_mask_len, UIntPtr* out_begin_len, UIntPtr* out_env_len);

  /// <summary>
  /// Acts without recording and without the noise of noisy layers, in any phase. Training is not affected.
  /// rows:     reads obs and action_mask, writes action, as rlcore_learner_act; active is not read: all act.
  /// state:    [N, rlcore_learner_state_len()] of recurrent layers from call to call, apart from the episodes that are
  ///           recorded; read, then written. Numbers of layers that only the values read (policy_layer) stay as they are,
  ///           or become 0 with reset. NULL without such layers.
  /// reset:    [N] 1: an episode begins, and its row of state is read as zeros; NULL: none does.
  /// sampling: NULL means RLCORE_SAMPLING_BASIC.
  /// Errors: as rlcore_learner_act; E_CONFIG for sampling.
  /// </summary>
  /// <param name="p">inout</param>
  /// <param name="rows">in</param>
  /// <param name="state">inout [N, rlcore_learner_state_len()] optional</param>
  /// <param name="reset">in [N] optional</param>
  /// <param name="sampling">in optional</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_learner_predict(rlcore_learner* p, rlcore_rows* rows, float* state, byte* reset, rlcore_sampling* sampling);

  /// <summary>
  /// Stops (1) or resumes (0) updating the statistics that normalize observations and rewards.
  /// Errors: E_RANGE for another number.
  /// </summary>
  /// <param name="p">inout</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_learner_freeze(rlcore_learner* p, uint frozen);

  // ---- Learners on several threads, processes and machines ----

  /// <summary>
  /// Begins the update that is due, for hosts that share its chunks among threads or machines. Until minibatches_left is
  /// 0, compute the gradients of all chunks with rlcore_learner_learn_range, store them with rlcore_learner_grads_write,
  /// and take the step with rlcore_learner_learn_apply. The results are those of rlcore_learner_learn, bit for bit. Off
  /// policy a batch of the store takes the place of a minibatch, and minibatches_left counts gradient steps: one takes two
  /// rounds of these calls where TD3 and SAC learn the policy after the critics.
  /// rows: reads obs and action_mask after the last step, as in rlcore_learner_learn; not read off policy, where it may be
  ///       NULL. stats: to write.
  /// Errors: E_CONFIG; E_NOT_READY; E_SHAPE and E_VALUE as rlcore_learner_learn.
  /// </summary>
  /// <param name="p">inout</param>
  /// <param name="rows">in</param>
  /// <param name="stats">inout</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_learner_learn_begin(rlcore_learner* p, rlcore_rows* rows, rlcore_learner_stats* stats);

  /// <summary>Bytes of scratch that rlcore_learner_learn_range needs.</summary>
  /// <param name="p">in</param>
  /// <param name="out_size">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_learner_scratch_size(rlcore_learner* p, UIntPtr* out_size);

  /// <summary>
  /// Floats of the gradients of a chunk: one for each parameter, then 8 for its losses; off policy then one for each
  /// transition of the longest chunk, how far its value is from its target, by which priorities go.
  /// </summary>
  /// <param name="p">in</param>
  /// <param name="out_len">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_learner_grads_len(rlcore_learner* p, UIntPtr* out_len);

  /// <summary>
  /// Computes the gradients of chunks [begin, end) of the current minibatch or batch. Threads: the learner is only read, so
  /// several threads may compute different chunks at once, each with its own scratch.
  /// scratch: [scratch_size] bytes to be written, 8-byte aligned, at least rlcore_learner_scratch_size().
  /// grads:   [grads_len] to write: end - begin times rlcore_learner_grads_len().
  /// Errors: E_NOT_READY if no update runs; E_RANGE; E_SHAPE for another grads_len; E_SIZE of scratch; E_VALUE if numbers
  /// overflow. After an error scratch and grads may have been written.
  /// </summary>
  /// <param name="p">in</param>
  /// <param name="scratch">out [scratch_size]</param>
  /// <param name="grads">out [grads_len]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_learner_learn_range(rlcore_learner* p, uint begin, uint end, void* scratch, UIntPtr scratch_size, float* grads, UIntPtr grads_len);

  /// <summary>
  /// Adds the gradients of all chunks of the minibatch as a tree, takes the optimizer step and prepares the next minibatch.
  /// If no update runs, it takes a step along gradients that were computed elsewhere, as a server of asynchronous workers
  /// does, on policy. That counts no environment steps, by which schedules go: tell them by rlcore_learner_count_steps.
  /// stats: to write.
  /// Errors: E_NOT_READY if the gradients of a chunk are missing; E_VALUE if numbers overflow, as rlcore_learner_learn.
  /// </summary>
  /// <param name="p">inout</param>
  /// <param name="stats">inout</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_learner_learn_apply(rlcore_learner* p, rlcore_learner_stats* stats);

  /// <summary>
  /// Adds environment steps that others took to num_steps, so that learning_rate, clip, entropy_coef, exploration, importance
  /// and learning_starts go by all of them: on a server that takes steps along the gradients of workers, on workers beside
  /// others, and on a learner whose transitions come from rlcore_learner_learn_batch or rlcore_learner_learn_transitions.
  /// Steps that the learner observes itself are counted already. A step of gradients or transitions takes the rates of the
  /// steps counted so far, so count those behind it afterwards; an update of a rollout takes those of T * N steps fewer, so
  /// count the steps of a batch before rlcore_learner_learn_batch. Off policy this makes no update due.
  /// Errors: E_NOT_READY if rlcore_learner_learn is due or runs without overlap, off policy also if it runs with overlap;
  /// E_OVERFLOW if the sum does not fit 64 bits. Nothing changes then.
  /// </summary>
  /// <param name="p">inout</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_learner_count_steps(rlcore_learner* p, ulong num_steps);

  /// <summary>
  /// Discards the rest of the current update, or all of the update that is due; rlcore_learner_act is due.
  /// Errors: E_NOT_READY if there is no such update.
  /// </summary>
  /// <param name="p">inout</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_learner_learn_drop(rlcore_learner* p);

  /// <summary>
  /// Begins an update with a rollout that another learner has recorded and rlcore_learner_batch_read has copied out.
  /// Continue with rlcore_learner_learn, where rows may be NULL, or with rlcore_learner_learn_range. Auxiliary tasks do not
  /// keep its steps, since it has no rewards.
  /// batch: read, as rlcore_learner_batch_read writes it. The moments become this learner's own, also while they are frozen,
  ///        because the policy that it learns is one of observations that they normalize; those of the rollouts of several
  ///        learners are merged by rlcore_learner_moments_merge.
  /// stats: to write.
  /// Errors: E_CONFIG for noisy layers, unless with IMPALA; E_NOT_READY if this learner has recorded steps, or an
  /// update runs; E_SHAPE for a mask that is missing or not expected; E_VALUE for numbers that are not finite, observations
  /// that are no bytes divided by 255 where obs.kind says bytes, choices that are not allowed, a begin above 1 and an env of
  /// N or more; E_VALUE and E_RANGE for moments as rlcore_moments_update.
  /// </summary>
  /// <param name="p">inout</param>
  /// <param name="batch">in</param>
  /// <param name="stats">inout</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_learner_learn_batch(rlcore_learner* p, rlcore_learner_batch* batch, rlcore_learner_stats* stats);

  /// <summary>
  /// Takes one gradient step from transitions of the host's own, off policy (DQN, TD3, SAC): some that its rlcore_replay or
  /// rlcore_memory holds, that were recorded elsewhere, or that rlcore_relabel_goals has given other goals. It counts as an
  /// update and as no environment steps, and leaves the transitions that the learner keeps as they are. With buffer_size 0 it
  /// keeps none: act and observe, which explore and count steps, then never make an update due.
  /// stats:            to write.
  /// Errors: E_CONFIG; E_DISABLED for a learner on policy; E_NOT_READY if rlcore_learner_learn is due; E_SHAPE for a mask
  /// that is missing or not expected; E_VALUE for numbers, actions and masks other than those, before anything changes, or
  /// because numbers overflow. In that case the step is dropped and counted in num_dropped, and error is not written.
  /// </summary>
  /// <param name="p">inout</param>
  /// <param name="transitions">in</param>
  /// <param name="stats">inout</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_learner_learn_transitions(rlcore_learner* p, rlcore_learner_transitions* transitions, rlcore_learner_stats* stats);

  /// <summary>
  /// Copies out the T * N transitions of the current update, so that another learner can learn from them. A learner that
  /// only records calls rlcore_learner_learn_begin, this function, and rlcore_learner_learn_drop.
  /// batch: its arrays are written.
  /// Errors: E_CONFIG; E_NOT_READY if no update runs; E_SHAPE for a mask that is missing or not expected.
  /// </summary>
  /// <param name="p">in</param>
  /// <param name="batch">in</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_learner_batch_read(rlcore_learner* p, rlcore_learner_batch* batch);

  /// <summary>
  /// Number of parameters. TD3 and SAC with continuous actions have one for each element of an action that they neither read
  /// nor change: the logarithm of a deviation, log_std_init.
  /// </summary>
  /// <param name="p">in</param>
  /// <param name="out_len">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_learner_params_len(rlcore_learner* p, UIntPtr* out_len);

  /// <summary>
  /// Copies the parameters out. Their order is the same in all learners with the same networks.
  /// params: [params_len] to write.
  /// Errors: E_SHAPE if params_len is not rlcore_learner_params_len().
  /// </summary>
  /// <param name="p">in</param>
  /// <param name="params">out [params_len]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_learner_params_read(rlcore_learner* p, float* @params, UIntPtr params_len);

  /// <summary>
  /// Sets the parameters to those of another learner with the same networks, whatever its N, and with them the moments that
  /// normalized its training data: with other moments the parameters are another policy. With overlap, a current update ends
  /// before they act. Off policy the target networks become copies of them, as a move with target_rate 1 makes them, so that
  /// a learner that starts from the parameters of another one does not learn towards the values of those it had. The state of
  /// the optimizer stays.
  /// params:  [params_len] as rlcore_learner_params_read writes them.
  /// moments: [moments_len] of the same learner, as rlcore_learner_moments_read writes them; NULL if moments_len is 0, as
  ///          without normalize_obs and normalize_reward.
  /// Errors: E_SHAPE if params_len is not rlcore_learner_params_len(), or moments_len not rlcore_learner_moments_len();
  /// E_VALUE for a parameter beyond plus or minus 1e6, or the logarithm of a standard deviation outside its limits; as
  /// rlcore_moments_update for the moments; E_NOT_READY with overlap and moments while an update runs.
  /// </summary>
  /// <param name="p">inout</param>
  /// <param name="params">in [params_len]</param>
  /// <param name="moments">in [moments_len] optional</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_learner_params_write(rlcore_learner* p, float* @params, UIntPtr params_len, double* moments, UIntPtr moments_len);

  /// <summary>
  /// Number of doubles in the moments of a learner: 4, and 2 for each number of rlcore_learner_seen_len with normalize_obs; 0
  /// without normalize_obs and normalize_reward.
  /// </summary>
  /// <param name="p">in</param>
  /// <param name="out_len">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_learner_moments_len(rlcore_learner* p, UIntPtr* out_len);

  /// <summary>
  /// Copies out the moments that normalize observations and rewards. Observations of environments that have acted and not
  /// observed since are not counted yet.
  /// moments: [moments_len] to write. First count, mean and variance of the discounted sums of rewards; then the count of
  ///          observations and, with normalize_obs, the mean of each number that the networks read, and the variance of each.
  ///          Variances are those of the population; counts begin at 1e-4, with means 0 and variances 1. NULL if it is 0.
  /// Errors: E_SHAPE if moments_len is not rlcore_learner_moments_len().
  /// </summary>
  /// <param name="p">in</param>
  /// <param name="moments">out [moments_len] optional</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_learner_moments_read(rlcore_learner* p, double* moments, UIntPtr moments_len);

  /// <summary>
  /// Sets the moments, for example to those of several learners, merged by rlcore_learner_moments_merge. Also while they are
  /// frozen (rlcore_learner_freeze). Recorded steps stay normalized as they were.
  /// moments: [moments_len] as rlcore_learner_moments_read writes them; NULL if it is 0.
  /// Errors: E_SHAPE if moments_len is not rlcore_learner_moments_len(); E_VALUE and E_RANGE as rlcore_moments_update.
  /// </summary>
  /// <param name="p">inout</param>
  /// <param name="moments">in [moments_len] optional</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_learner_moments_write(rlcore_learner* p, double* moments, UIntPtr moments_len);

  /// <summary>
  /// Merges the moments of a learner into those of another by their counts, with Chan's formula in double: sums of rewards
  /// first, then observations, each number for itself, so that the result depends on the order of these calls only. Workers
  /// that begin a round with the moments of a server (base) and count observations of their own are merged one after another
  /// into a copy of base, each with that base, which counts base once.
  /// base:    [len] moments that with and moments both contain; NULL: they have counted nothing in common.
  /// with:    [len] the moments to merge.
  /// moments: [len] to change.
  /// Errors: E_SHAPE unless len is 4 plus a multiple of 2; E_VALUE and E_RANGE as rlcore_moments_update, for the result too;
  /// E_RANGE for a count below that of base, and for counts that are 0 together.
  /// </summary>
  /// <param name="base">in [len] optional</param>
  /// <param name="with">in [len]</param>
  /// <param name="moments">inout [len]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_learner_moments_merge(double* @base, double* with, UIntPtr len, double* moments);

  /// <summary>
  /// Copies the gradients of chunks [begin, end) out.
  /// grads: [grads_len] to write: end - begin times rlcore_learner_grads_len().
  /// Errors: E_RANGE; E_SHAPE for another grads_len; E_NOT_READY if the gradients of a chunk are missing.
  /// </summary>
  /// <param name="p">in</param>
  /// <param name="grads">out [grads_len]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_learner_grads_read(rlcore_learner* p, uint begin, uint end, float* grads, UIntPtr grads_len);

  /// <summary>
  /// Stores the gradients of chunks [begin, end), replacing earlier ones.
  /// grads: [grads_len]: end - begin times rlcore_learner_grads_len().
  /// Errors: E_RANGE; E_SHAPE for another grads_len; E_VALUE for a gradient that is not finite; E_NOT_READY off policy if no
  /// update runs.
  /// </summary>
  /// <param name="p">inout</param>
  /// <param name="grads">in [grads_len]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_learner_grads_write(rlcore_learner* p, uint begin, uint end, float* grads, UIntPtr grads_len);

  /// <summary>
  /// Adds to the gradients of those chunks of [begin, end) that have some, and stores those of the others. The last bits
  /// of the sums depend on the order of these calls.
  /// grads: [grads_len]: end - begin times rlcore_learner_grads_len().
  /// Errors: as rlcore_learner_grads_write; E_VALUE also for a sum that is not finite.
  /// </summary>
  /// <param name="p">inout</param>
  /// <param name="grads">in [grads_len]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_learner_grads_add(rlcore_learner* p, uint begin, uint end, float* grads, UIntPtr grads_len);

  // ---- Spaces of environments and learners ----

  /// <summary>
  /// Observation and action spaces of an environment, wrappers included: the arguments of rlcore_learner_init. n, low and
  /// high point into the environment.
  /// out_obs: its kind is RLCORE_STRUCT if a field has another kind than bytes.
  /// </summary>
  /// <param name="env">in</param>
  /// <param name="out_obs">out</param>
  /// <param name="out_action">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_env_spaces(rlcore_env* env, rlcore_space* out_obs, rlcore_space* out_action);

  /// <summary>
  /// Number of environments and spaces of a learner, e.g. of a loaded one, to allocate arrays by.
  /// out_num_envs: N.
  /// out_obs, out_action: n of discrete elements, and low and high of bounded actions, point into the learner. Bounds of
  ///               observations are NULL.
  /// </summary>
  /// <param name="p">in</param>
  /// <param name="out_num_envs">out</param>
  /// <param name="out_obs">out</param>
  /// <param name="out_action">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_learner_spaces(rlcore_learner* p, uint* out_num_envs, rlcore_space* out_obs, rlcore_space* out_action);

  // ---- Collecting: steps of environments until a learner learns ----

  /// <summary>
  /// Collects steps: rlcore_learner_act, rlcore_vecenv_step and rlcore_learner_observe, in turn, until max_steps steps of all
  /// environments are taken or rlcore_learner_learn is due. Blocks and arrays are left as by these calls made one by one.
  /// Autoreset must be same step.
  /// Example:
  ///   rlcore_vecenv_reset(envs, env, NULL, rows.obs);    // and rlcore_vecenv_action_mask, with use_action_mask
  ///   while (training) {
  ///     rlcore_collect(agent, envs, env, &amp;rows, 0, NULL);
  ///     rlcore_learner_learn(agent, &amp;rows, 0, &amp;stats);
  ///   }
  /// rows:          obs, and with use_action_mask action_mask, are those to act on first, and are written like all that
  ///                rlcore_vecenv_step writes; action is written. final_obs is required; action_mask and
  ///                final_action_mask are NULL without use_action_mask. active is not read: all act. Afterwards they
  ///                hold the last step: with max_steps of 1 the host sees every step, as rlcore_monitor_step needs it.
  /// max_steps:     0: no limit. If learn is due already, no step is taken.
  /// out_num_steps: steps taken; NULL: not wanted. Also written if a step fails after others; it is not counted.
  /// Threads: one call at a time; nobody else uses learner or environments, and callbacks must not either.
  /// Errors: E_CONFIG, also for another autoreset; E_SHAPE if learner and environments differ in N or in their spaces, or
  /// for masks; E_NOT_READY for an environment that must be reset first, or that has acted and was not observed; as
  /// rlcore_learner_act; all before anything changes. If environments fail with E_CALLBACK, or E_VALUE for a reward or
  /// observation that is not finite, all others are stepped and observed, and the failed ones are cut as by
  /// rlcore_learner_cut: their last transitions are dropped. valid, if given, is 0 for them, and rlcore_last_error() names
  /// the first. If rlcore_learner_observe fails, all are cut. Reset those that failed, and call again.
  /// </summary>
  /// <param name="p">inout</param>
  /// <param name="v">inout</param>
  /// <param name="env">in</param>
  /// <param name="rows">in</param>
  /// <param name="out_num_steps">out optional</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_collect(rlcore_learner* p, rlcore_vecenv* v, rlcore_env* env, rlcore_rows* rows, uint max_steps, uint* out_num_steps);

  // ---- Policies: trained networks to ship ----

  /// <summary>Bytes that rlcore_policy_export needs.</summary>
  /// <param name="p">in</param>
  /// <param name="out_size">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_policy_size(rlcore_learner* p, UIntPtr* out_size);

  /// <summary>
  /// Writes the current policy of a learner: network, bounds and the statistics that normalize observations.
  /// mem: 8-byte aligned, mem_size bytes, owned by the caller. Equal policies are equal bytes; the block is sealed.
  /// out: the same address as mem, with its type.
  /// Errors: E_SIZE if mem_size &lt; rlcore_policy_size().
  /// </summary>
  /// <param name="p">in</param>
  /// <param name="mem">inout [mem_size]</param>
  /// <param name="out">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_policy_export(rlcore_learner* p, void* mem, UIntPtr mem_size, rlcore_policy** @out);

  /// <summary>
  /// Opens the bytes of a policy that was copied or saved, in this process or another. mem is only read and may be
  /// constant data. The seal of rlcore_policy_export is checked: a policy is refused if any byte has changed, or if its export
  /// was interrupted.
  /// obs, action: the spaces of the host's arrays, which the policy must have been made for: kind and len are compared, n of
  ///              discrete elements, and low and high of actions of floats unless they are NULL; of RLCORE_STRUCT kind and
  ///              len only. NULL: any are accepted, and rlcore_policy_spaces tells which arrays rlcore_policy_act needs.
  /// Errors: E_IMAGE; E_SHAPE if the policy was made for other spaces, with its number and the given one.
  /// </summary>
  /// <param name="mem">in [mem_size]</param>
  /// <param name="obs">in optional</param>
  /// <param name="action">in optional</param>
  /// <param name="out">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_policy_attach(void* mem, UIntPtr mem_size, rlcore_space* obs, rlcore_space* action, rlcore_policy** @out);

  /// <summary>
  /// Spaces of a policy, e.g. of a loaded one: those of each row that rlcore_policy_act reads and writes.
  /// out_obs, out_action: as rlcore_learner_spaces; the arrays point into the policy.
  /// </summary>
  /// <param name="p">in</param>
  /// <param name="out_obs">out</param>
  /// <param name="out_action">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_policy_spaces(rlcore_policy* p, rlcore_space* out_obs, rlcore_space* out_action);

  /// <summary>Numbers that recurrent layers carry from one step of a row to the next; 0 without such layers.</summary>
  /// <param name="p">in</param>
  /// <param name="out_len">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_policy_state_len(rlcore_policy* p, UIntPtr* out_len);

  /// <summary>Floats of scratch that rlcore_policy_act needs for num_rows observations.</summary>
  /// <param name="p">in</param>
  /// <param name="out_len">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_policy_scratch_len(rlcore_policy* p, uint num_rows, UIntPtr* out_len);

  /// <summary>
  /// Chooses an action for each of num_rows observations.
  /// rows:     reads obs and action_mask, writes action, all of num_rows rows. obs: bytes are divided by 255, choices are
  ///           one-hot. action_mask: 0 forbids a choice; each element of an action needs at least one that is allowed;
  ///           NULL: everything is allowed. active is not read: all act.
  /// buffers:  reads reset; writes scratch; reads and writes state.
  /// sampling:    NULL means RLCORE_SAMPLING_BASIC.
  /// rng:         a random stream of the calling thread; may be NULL with RLCORE_SAMPLING_GREEDY.
  /// Errors: E_SIZE of scratch; E_CONFIG for sampling; E_SHAPE for a mask with continuous actions; E_VALUE for an
  /// observation or a state that is not finite or so large that the policy overflows, or a mask that allows nothing. After
  /// an error scratch may have been written, action, state and rng not.
  /// </summary>
  /// <param name="p">in</param>
  /// <param name="rows">in</param>
  /// <param name="buffers">in</param>
  /// <param name="sampling">in optional</param>
  /// <param name="rng">inout optional</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_policy_act(rlcore_policy* p, uint num_rows, rlcore_rows* rows, rlcore_policy_buffers* buffers, rlcore_sampling* sampling, rlcore_rng* rng);

  /// <summary>
  /// Chooses the same actions as rlcore_policy_act with RLCORE_SAMPLING_GREEDY: the most probable ones, or the means. A
  /// program that acts in no other way is a few kilobytes smaller, because no code for random draws is linked.
  /// Arrays and errors as rlcore_policy_act.
  /// </summary>
  /// <param name="p">in</param>
  /// <param name="rows">in</param>
  /// <param name="buffers">in optional</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_policy_act_greedy(rlcore_policy* p, uint num_rows, rlcore_rows* rows, rlcore_policy_buffers* buffers);

  // ---- Distributions: answers of networks ----

  /// <summary>
  /// Tells the answers of a learner's networks to num_rows observations of the host's own, any number from 1: probabilities of
  /// all choices or means and deviations, values, Q, log-probabilities, and best actions. Nothing is recorded, in any phase,
  /// and noisy layers have no noise, as in rlcore_learner_predict. Beyond N rows each is computed twice, so that a refusal
  /// writes nothing.
  /// rows:  reads obs, action_mask (NULL: all choices are allowed, as without use_action_mask), and with log_prob action,
  ///        continuous ones as the policy draws them, before they are squashed or clipped; all of num_rows rows. active is not
  ///        read.
  /// state: [num_rows, rlcore_learner_state_len()] of recurrent layers, the caller's own: read, then written with those after
  ///        this step, as the learner's own go on in rlcore_learner_act. NULL without such layers.
  /// reset: [num_rows] 1: an episode begins, and its row of state is read as zeros; NULL: none does.
  /// out:   reads its pointers, and writes the arrays that they point to.
  /// Errors: E_CONFIG; E_SHAPE for no rows, prob or q without choices, mean or std without continuous elements, and a mask
  /// without use_action_mask; E_DISABLED for answers that the learner does not have; E_VALUE for an observation, a state or an
  /// action that is not finite, a mask that allows nothing, a choice that does not exist or is not allowed, and numbers that
  /// overflow.
  /// </summary>
  /// <param name="p">inout</param>
  /// <param name="rows">in</param>
  /// <param name="state">inout [num_rows, rlcore_learner_state_len()] optional</param>
  /// <param name="reset">in [num_rows] optional</param>
  /// <param name="out">in</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_learner_distribution(rlcore_learner* p, uint num_rows, rlcore_rows* rows, float* state, byte* reset, rlcore_distribution* @out);

  /// <summary>
  /// Tells the answers of a policy to num_rows observations, as rlcore_learner_distribution: the distribution that
  /// rlcore_policy_act draws from. A policy has neither values nor Q.
  /// rows:    reads obs, action_mask, and with log_prob action, as there.
  /// buffers: reads reset; writes scratch, as long as for rlcore_policy_act; reads and writes state.
  /// out:     reads its pointers, and writes the arrays that they point to.
  /// Errors: as there; E_DISABLED for value and q; E_SIZE of scratch. After an error scratch may have been written, nothing
  /// else.
  /// </summary>
  /// <param name="p">in</param>
  /// <param name="rows">in</param>
  /// <param name="buffers">in</param>
  /// <param name="out">in</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_policy_distribution(rlcore_policy* p, uint num_rows, rlcore_rows* rows, rlcore_policy_buffers* buffers, rlcore_distribution* @out);

  // ---- Imitation: learning what the host shows ----

  /// <summary>
  /// Takes one optimizer step that makes the network that acts imitate num_rows rows, any number from 1: of a script, a
  /// person, a search, or another policy. The loss is a mean over the rows of weight times: for the choices of a policy, the
  /// cross-entropy less the entropy of prob, summed over the elements of an action; for numbers, minus the logarithm of the
  /// density, of actions before they are squashed or clipped, TD3 the squared distance of actions scaled to -1 to 1; for Q
  /// (DQN, PQN, stream Q; distributions count by their mean), max over a of (Q(a) + margin unless a is the choice) -
  /// Q(choice), the mean over the elements, and with prob the mean of that.
  /// Critics, values and statistics stay; observations are normalized as in rlcore_learner_act, so moments come first
  /// (rlcore_learner_moments_write). Noisy layers have no noise. The step is the optimizer's, with the moments, the limit of
  /// the norm and the learning rate that learning has now; of stream algorithms that of an error of 1, and traces begin
  /// anew. Before the first gradient step off policy, target networks become copies of the network; afterwards they follow
  /// as ever. Rows are read a chunk at a time, the gradients of chunks are added in order. Nothing is recorded or counted;
  /// in any phase.
  /// rows:     reads obs, action_mask (NULL: all choices are allowed) and action, as the environment takes it: choices that
  ///           the mask allows; numbers that squash, TD3 or SAC would reach, within their bounds, else any that are finite.
  ///           action may be NULL with prob, if it has no numbers. active is not read.
  /// how:      read; NULL: all zero.
  /// out_loss: the loss before the step; NULL: not wanted.
  /// Errors: E_NOT_READY while an update runs, with overlap too, or gradients wait for rlcore_learner_learn_apply; E_CONFIG
  /// for a margin or a fit_std that the learner does not read; E_SHAPE for no rows, num_steps that do not divide num_rows or
  /// are more than a chunk has, prob without choices, and a mask without use_action_mask; E_VALUE for an observation or a
  /// weight that is not finite, another action, probabilities whose sum is not 1, a mask that allows nothing, and numbers
  /// that overflow. The parameters stay then.
  /// </summary>
  /// <param name="p">inout</param>
  /// <param name="rows">in</param>
  /// <param name="how">in optional</param>
  /// <param name="out_loss">out optional</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_learner_imitate(rlcore_learner* p, uint num_rows, rlcore_rows* rows, rlcore_imitation* how, float* out_loss);

  // ---- Tensors: the numbers of learners and policies by name ----

  /// <summary>
  /// Copies out the configuration of a learner: the one that it was made with, or the last of rlcore_learner_configure.
  /// config: written; layers, obs_fields and action_fields are NULL with their counts 0. rlcore_learner_layers has the
  ///         layers of the networks, num_listed_layers of which a host lists; rlcore_learner_spaces has the spaces.
  /// out_num_listed_layers: the num_layers that it was made with; NULL: not wanted.
  /// Errors: E_SIZE for a structure that is too small.
  /// </summary>
  /// <param name="p">in</param>
  /// <param name="config">out</param>
  /// <param name="out_num_listed_layers">out optional</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_learner_config_read(rlcore_learner* p, rlcore_learner_config* config, UIntPtr config_size, uint* out_num_listed_layers);

  /// <summary>
  /// Lists the layers that run in a learner's networks, with every default filled in: those of its configuration, then
  /// hidden layers and heads, which have RLCORE_LAYER_HEAD among their flags; kind 2 are numbers that depend on no
  /// input, such as log_std.
  /// network: 0: that of the policy, or of Q; 1: that of each critic.
  /// out:     [capacity], of which *out_len are written; NULL with a capacity of 0 only counts them.
  /// Errors: E_RANGE for another network; E_SIZE if there are more than capacity.
  /// </summary>
  /// <param name="p">in</param>
  /// <param name="out">out [capacity] optional</param>
  /// <param name="out_len">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_learner_layers(rlcore_learner* p, uint network, rlcore_layer* @out, uint capacity, uint* out_len);

  /// <summary>
  /// Lists the tensors of a learner: all its parameters, once each. With their numbers this is all that a file of tensors
  /// needs.
  /// Example:
  ///   rlcore_tensor tensors[64];
  ///   uint32_t num_tensors;
  ///   rlcore_learner_tensors(agent, tensors, 64, &amp;num_tensors);
  ///   rlcore_learner_tensors_read(agent, RLCORE_TENSORS_PARAMS, values, params_len);
  /// out: [capacity], of which *out_len are written; NULL with a capacity of 0 only counts them.
  /// Errors: E_SIZE if there are more than capacity.
  /// </summary>
  /// <param name="p">in</param>
  /// <param name="out">out [capacity] optional</param>
  /// <param name="out_len">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_learner_tensors(rlcore_learner* p, rlcore_tensor* @out, uint capacity, uint* out_len);

  /// <summary>
  /// Copies the numbers of all tensors out, each from its offset on.
  /// of:     an rlcore_tensors.
  /// values: [values_len] to write.
  /// Errors: E_CONFIG for another of; E_SHAPE if values_len is not rlcore_learner_params_len(); E_DISABLED if the
  /// learner's algorithm has no such numbers.
  /// </summary>
  /// <param name="p">in</param>
  /// <param name="values">out [values_len]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_learner_tensors_read(rlcore_learner* p, uint of, float* values, UIntPtr values_len);

  /// <summary>
  /// Writes tensors into a learner, from whatever source: others stay as they are. Each is found by its name and must
  /// have the dimensions that it has in rlcore_learner_tensors; network and layer are not read. With parameters, target
  /// networks become copies of all of them, as with rlcore_learner_params_write; with overlap, a current update ends
  /// before they act. Moments that normalize observations stay: see rlcore_learner_moments_write.
  /// of:      an rlcore_tensors.
  /// tensors: [num_tensors] of which name, offset, rank and dims are read.
  /// values:  [values_len] numbers; those of a tensor from its offset on.
  /// Errors: E_CONFIG for another of and a name that the learner has not; E_SHAPE for other dimensions; E_RANGE for
  /// numbers beyond values_len; E_VALUE for a parameter beyond plus or minus 1e6, a log_std outside its limits, a moment
  /// that is not finite, and a second moment below 0; E_DISABLED as rlcore_learner_tensors_read. Messages give the index
  /// of the tensor. Nothing is written then.
  /// </summary>
  /// <param name="p">inout</param>
  /// <param name="tensors">in [num_tensors]</param>
  /// <param name="values">in [values_len]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_learner_tensors_write(rlcore_learner* p, uint of, rlcore_tensor* tensors, uint num_tensors, float* values, UIntPtr values_len);

  /// <summary>
  /// Freezes tensors of a learner, or lets them learn again, all whose names fit. No learning changes frozen tensors:
  /// neither learn, imitate, learn_batch and learn_transitions, nor gradients that others computed. Their gradients are 0,
  /// norms that max_grad_norm limits and rlcore_learner_stats tells are those of the others, and moments of the optimizer
  /// rest. So do traces of stream algorithms, until all traces end. Target networks follow as ever. The block keeps the
  /// flags, through images, rlcore_learner_configure and rlcore_learner_adopt, which take and give none; a configuration
  /// with another optimizer starts the moments of all tensors anew, and other limits of log_std move a frozen one into
  /// them. Tensors that are written, adopted or followed from another learner change, frozen or not. Not tensors are the
  /// temperature of SAC, which temperature_rate 0 leaves, and what normalizes observations: see rlcore_learner_freeze.
  /// Example:
  ///   rlcore_learner_set_trainable(agent, "*", 0, NULL); // the heads alone learn
  ///   rlcore_learner_set_trainable(agent, "*head*", 1, NULL);
  /// names:           NUL-terminated, a name of rlcore_learner_tensors; * stands for any characters, or none:
  ///                  layers.0.weight is one tensor, layers.0.* a layer, critics.* all critics, * everything.
  /// trainable:       0: they are frozen; 1: they learn.
  /// out_num_tensors: the number of tensors whose names fit, changed or not; NULL: not wanted.
  /// Errors: E_RANGE for another trainable and for names of more than 4095 characters; E_CONFIG if no name fits;
  /// E_NOT_READY while an update runs, and while gradients wait for rlcore_learner_learn_apply. Nothing is written then.
  /// </summary>
  /// <param name="p">inout</param>
  /// <param name="names">in</param>
  /// <param name="out_num_tensors">out optional</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_learner_set_trainable(rlcore_learner* p, byte* names, uint trainable, uint* out_num_tensors);

  /// <summary>
  /// Lists the layers that run in a policy, as rlcore_learner_layers does.
  /// out: [capacity], of which *out_len are written; NULL with a capacity of 0 only counts them.
  /// Errors: E_SIZE if there are more than capacity.
  /// </summary>
  /// <param name="p">in</param>
  /// <param name="out">out [capacity] optional</param>
  /// <param name="out_len">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_policy_layers(rlcore_policy* p, rlcore_layer* @out, uint capacity, uint* out_len);

  /// <summary>
  /// Lists the tensors of a policy. Their names are those that they have in its learner. Noise is left out, outputs that
  /// are quantiles are their means, and log_std of TD3 and SAC, which act without it, is log_std_min.
  /// out: [capacity], of which *out_len are written; NULL with a capacity of 0 only counts them.
  /// Errors: E_SIZE if there are more than capacity.
  /// </summary>
  /// <param name="p">in</param>
  /// <param name="out">out [capacity] optional</param>
  /// <param name="out_len">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_policy_tensors(rlcore_policy* p, rlcore_tensor* @out, uint capacity, uint* out_len);

  /// <summary>
  /// Copies the numbers of all tensors of a policy out, each from its offset on.
  /// values: [values_len] to write: as many as the tensors have together.
  /// Errors: E_SHAPE for another values_len.
  /// </summary>
  /// <param name="p">in</param>
  /// <param name="values">out [values_len]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_policy_tensors_read(rlcore_policy* p, float* values, UIntPtr values_len);

  /// <summary>
  /// Tells how a policy makes actions of what its network computes. Its spaces are told by rlcore_policy_spaces.
  /// info: written.
  /// Errors: E_CONFIG for struct_size.
  /// </summary>
  /// <param name="p">in</param>
  /// <param name="info">inout</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_policy_info_read(rlcore_policy* p, rlcore_policy_info* info);

  /// <summary>
  /// Copies out the moments that a policy normalizes observations with.
  /// mean, variance: [len] to write, of each number that the network reads: seen_len of rlcore_policy_info. A number x
  ///                 becomes (x - mean) / sqrt(variance + 1e-8), clipped to plus or minus obs_clip.
  /// Errors: E_SHAPE for another len, which is 0 without normalize_obs.
  /// </summary>
  /// <param name="p">in</param>
  /// <param name="mean">out [len]</param>
  /// <param name="variance">out [len]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_policy_moments_read(rlcore_policy* p, double* mean, double* variance, UIntPtr len);

  // ---- Learners that go on: another configuration, and what others have learned ----

  /// <summary>
  /// Gives a learner that goes on another configuration, between updates: learning rates and other numbers of the
  /// optimizer, discount, entropy, clips, limits, schedules, intervals, exploration, everything that changes neither the
  /// length of the block nor the layers. It goes on as if it had been made with these values: parameters, moments,
  /// statistics, steps and transitions stay, and schedules are where the steps that were counted put them. Another
  /// optimizer starts its moments anew, another temperature becomes the current one, and deviations move into new limits.
  /// Example:
  ///   rlcore_learner_config config;
  ///   rlcore_learner_config_read(agent, &amp;config, sizeof config, NULL);
  ///   config.learning_rate /= 10;
  ///   rlcore_learner_configure(agent, &amp;config);
  /// config: layers, obs_fields, action_fields and the numbers of fields are not read; num_layers is 0 or as the learner
  ///         was made with.
  /// Errors: E_NOT_READY while an update is due or runs; E_CONFIG as rlcore_learner_init, and for a field that has to stay
  /// as it is. Nothing is written then.
  /// </summary>
  /// <param name="p">inout</param>
  /// <param name="config">in</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_learner_configure(rlcore_learner* p, rlcore_learner_config* config);

  /// <summary>
  /// Takes over what another learner has learned: of other num_envs, num_steps, buffers, hyperparameters, algorithm, or
  /// layers that agree in part. Tensors go by the names that rlcore_learner_tensors lists. All else stays as it is, and so
  /// do episodes that go on.
  /// Example:
  ///   rlcore_learner_adopt(alone, agent, RLCORE_ADOPT_PARAMS | RLCORE_ADOPT_MOMENTS);
  /// other: only read, in any state; not p itself.
  /// parts: a sum of rlcore_adopt.
  /// Errors: E_NOT_READY while an update of p is due or runs; E_CONFIG for another sum, for a tensor of p that other does not
  /// have with its dimensions, with its index, unless RLCORE_ADOPT_MATCHING, and then if there is none that it has; for
  /// moments of another optimizer, statistics of another length, targets or a buffer that one of them does not have, and
  /// buffers of other spaces, masks, n_step, discount or use_duration, with num_stacked or with recurrent layers.
  /// E_OVERLAP. Nothing is written then.
  /// </summary>
  /// <param name="p">inout</param>
  /// <param name="other">in</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_learner_adopt(rlcore_learner* p, rlcore_learner* other, uint parts);

  /// <summary>
  /// Takes over the parameters of a policy, and the moments that normalize its observations: each tensor of the policy goes
  /// to the one of its name; values and critics, which a policy does not have, stay.
  /// parts:     a sum of RLCORE_ADOPT_PARAMS, RLCORE_ADOPT_MOMENTS and RLCORE_ADOPT_MATCHING.
  /// obs_count: observations that the moments count as, which a policy does not tell: the more, the slower others move
  ///            them. Above 0 with RLCORE_ADOPT_MOMENTS, else 0.
  /// Errors: as rlcore_learner_adopt; E_VALUE for obs_count and for a parameter beyond plus or minus 1e6.
  /// </summary>
  /// <param name="p">inout</param>
  /// <param name="other">in</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_learner_adopt_policy(rlcore_learner* p, rlcore_policy* other, uint parts, double obs_count);

  // ---- Networks of your own: forward and backward ----

  /// <summary>
  /// The lengths of the arrays of passes with so many rows.
  /// num_steps: 1 without recurrent layers and attention.
  /// out:       written.
  /// Errors, here and below: E_CONFIG for a list, a part or a structure that is not valid, whose message gives the
  /// layer, counted from 1; E_SHAPE for no rows, and num_steps that does not divide them; E_OVERFLOW.
  /// </summary>
  /// <param name="network">in</param>
  /// <param name="out">inout</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_network_lengths_read(rlcore_network* network, uint num_rows, uint num_steps, rlcore_network_lengths* @out);

  /// <summary>
  /// Draws the initial parameters in the order of the list, as learners do: by initializer and gain of each layer;
  /// biases are 0.
  /// scratch: [scratch_len] to write, at least scratch_len of rlcore_network_lengths for one row.
  /// params:  [params_len] to write.
  /// Errors: E_SHAPE for another params_len; E_SIZE of scratch.
  /// </summary>
  /// <param name="network">in</param>
  /// <param name="rng">inout</param>
  /// <param name="scratch">out [scratch_len]</param>
  /// <param name="params">out [params_len]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_network_init(rlcore_network* network, rlcore_rng* rng, float* scratch, UIntPtr scratch_len, float* @params, UIntPtr params_len);

  /// <summary>
  /// Computes the outputs of all rows. A row gives the same bits alone as among others, and with a tape as without.
  /// batch: reads params, input, state and starts; writes tape and scratch. Without a tape num_steps is 1, and state is
  ///        written too.
  /// out:   [out_len] to write: [M, length] of the first output, then of the next; out_len is M times output_len of
  ///        rlcore_network_lengths.
  /// Errors: E_SHAPE for a length; E_SIZE of scratch; E_VALUE for parameters, inputs and states that are not finite,
  /// and an input that its embedding has no symbol for. Nothing is written then. Sums that overflow give infinities or
  /// NaN.
  /// </summary>
  /// <param name="network">in</param>
  /// <param name="batch">in</param>
  /// <param name="out">out [out_len]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_network_forward(rlcore_network* network, rlcore_network_pass* batch, float* @out, UIntPtr out_len);

  /// <summary>
  /// Takes the gradient of the outputs back: adds that of the parameters to d_params, and writes that of the input.
  /// Sums run over rows in ascending order. Parts of the rows in passes of their own, each but the last of a multiple
  /// of 64 rows, add up to the same bits, except with recurrent layers and attention.
  /// batch:    as it was for rlcore_network_forward, with its tape; writes scratch.
  /// d_out:    [d_out_len] gradients of the outputs, as out there.
  /// d_params: [params_len] to change: sums, zeros before the first pass; NULL: not wanted.
  /// d_input:  [M, input_len] of rlcore_network_lengths, to write; NULL: not wanted. Bytes have none.
  /// Errors: as there; E_SHAPE for d_input of bytes; E_DISABLED without d_params if the network has recurrent layers or
  /// attention.
  /// </summary>
  /// <param name="network">in</param>
  /// <param name="batch">in</param>
  /// <param name="d_out">in [d_out_len]</param>
  /// <param name="d_params">inout [params_len] optional</param>
  /// <param name="d_input">out [M, input_len] optional</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_network_backward(rlcore_network* network, rlcore_network_pass* batch, float* d_out, UIntPtr d_out_len, float* d_params, float* d_input);

  /// <summary>
  /// Lists the tensors of a network: all its parameters, once each, named as those of a learner whose listed layers
  /// these are, so that rlcore_learner_tensors_write takes them.
  /// out: [capacity], of which *out_len are written; NULL with a capacity of 0 only counts them.
  /// Errors: E_SIZE if there are more than capacity.
  /// </summary>
  /// <param name="network">in</param>
  /// <param name="out">out [capacity] optional</param>
  /// <param name="out_len">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_network_tensors(rlcore_network* network, rlcore_tensor* @out, uint capacity, uint* out_len);

  /// <summary>
  /// Copies the numbers of all tensors out of the parameters, each from its offset on.
  /// params: [params_len], or gradients of them, or moments of their optimizer.
  /// values: [values_len] to write, as many as parameters.
  /// Errors: E_SHAPE for a length.
  /// </summary>
  /// <param name="network">in</param>
  /// <param name="params">in [params_len]</param>
  /// <param name="values">out [values_len]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_network_tensors_read(rlcore_network* network, float* @params, UIntPtr params_len, float* values, UIntPtr values_len);

  /// <summary>
  /// Writes tensors into the parameters, from whatever source; others stay as they are. Names and dimensions are
  /// compared as in rlcore_learner_tensors_write.
  /// tensors: [num_tensors] of which name, offset, rank and dims are read.
  /// values:  [values_len] numbers; those of a tensor from its offset on.
  /// params:  [params_len] to write.
  /// Errors: E_SHAPE for params_len and other dimensions; E_CONFIG for a name that the network has not; E_RANGE for
  /// numbers beyond values_len; E_VALUE for one that is not finite. Nothing is written then.
  /// </summary>
  /// <param name="network">in</param>
  /// <param name="tensors">in [num_tensors]</param>
  /// <param name="values">in [values_len]</param>
  /// <param name="params">out [params_len]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_network_tensors_write(rlcore_network* network, rlcore_tensor* tensors, uint num_tensors, float* values, UIntPtr values_len, float* @params, UIntPtr params_len);

  // ---- ONNX: policies for other runtimes ----

  /// <summary>
  /// Bytes of a policy as a file of ONNX, which other runtimes run: operator set 13, any number N of observations.
  /// Weights have the names of rlcore_policy_tensors. Besides the outputs of options it has, of actions that are
  /// choices, logits [N, choices] before action_mask and probabilities [N, choices], or q [N, choices], and
  /// discrete_actions i32 [N, elements], the most probable ones; of numbers mean and log_std [N, numbers] before
  /// squashing and bounds, and continuous_actions [N, numbers], the means within their bounds. Structures have both.
  /// Numbers agree with rlcore_policy_distribution to about 1e-5, as other runtimes sum in another order. Every layer
  /// can be written, and normalize_obs. An episode begins with a state of zeros, which the host sets, as there is no
  /// input for it.
  /// options: NULL: the names of RLCORE_ONNX_OWN, without action_mask.
  /// Errors: E_CONFIG for options, among them action_mask of actions without choices; E_OVERFLOW beyond 2 GB.
  /// </summary>
  /// <param name="p">in</param>
  /// <param name="options">in optional</param>
  /// <param name="out_size">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_policy_onnx_size(rlcore_policy* p, rlcore_onnx_options* options, UIntPtr* out_size);

  /// <summary>
  /// Writes a policy as a file of ONNX: see rlcore_policy_onnx_size. Equal policies are equal bytes.
  /// Example:
  ///   rlcore_policy_onnx_size(policy, NULL, &amp;size);
  ///   rlcore_policy_onnx_write(policy, NULL, bytes, size);
  /// bytes: [size] to write.
  /// Errors: as there; E_SHAPE if size is not that of rlcore_policy_onnx_size(). Nothing is written then.
  /// </summary>
  /// <param name="p">in</param>
  /// <param name="options">in optional</param>
  /// <param name="bytes">out [size]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_policy_onnx_write(rlcore_policy* p, rlcore_onnx_options* options, byte* bytes, UIntPtr size);

  // ---- C: policies without a library ----

  /// <summary>
  /// Bytes of a policy as one file of C, for machines where no library fits: C99, which is C++17 as well, with the
  /// weights as constants and functions that act. It includes stddef.h, stdint.h and string.h, calls memcpy and memset
  /// only, and has no state of its own. All its names begin with prefix, its macros with the same in capitals:
  /// &lt;prefix&gt;_act() acts greedily, as rlcore_policy_act_greedy() does for one observation;
  /// &lt;prefix&gt;_outputs() computes logits or means alone, for hosts that sample, and &lt;prefix&gt;_best() acts by them;
  /// &lt;prefix&gt;_scratch is the working memory of a call, &lt;prefix&gt;_state a recurrent state, begun by &lt;prefix&gt;_reset().
  /// Results are the library's bits where the compiler has a fused multiply-add, such as on Cortex-M4F or with -mfma, or
  /// with &lt;PREFIX&gt;_EXACT defined as 1; else products and sums are rounded each, which changes the last bits. Every layer
  /// can be written, normalize_obs, structures and masks.
  /// prefix: NUL-terminated, a letter, then letters, digits and underscores, at most 31; may be NULL: "policy".
  /// Errors: E_CONFIG for another prefix; E_RANGE for one of more than 4095 characters.
  /// </summary>
  /// <param name="p">in</param>
  /// <param name="prefix">in optional</param>
  /// <param name="out_size">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_policy_c_size(rlcore_policy* p, byte* prefix, UIntPtr* out_size);

  /// <summary>
  /// Writes a policy as one file of C: see rlcore_policy_c_size. Equal policies are equal bytes.
  /// Example:
  ///   rlcore_policy_c_size(policy, "cart", &amp;size);
  ///   rlcore_policy_c_write(policy, "cart", bytes, size);
  /// prefix: NUL-terminated, as there; may be NULL.
  /// bytes:  [size] to write, text without a zero at its end.
  /// Errors: as there; E_SHAPE if size is not that of rlcore_policy_c_size(). Nothing is written then.
  /// </summary>
  /// <param name="p">in</param>
  /// <param name="prefix">in optional</param>
  /// <param name="bytes">out [size]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_policy_c_write(rlcore_policy* p, byte* prefix, byte* bytes, UIntPtr size);

  // ---- Batches: asynchronous steps by the host's threads or processes ----

  /// <summary>Fills in the defaults.</summary>
  /// <param name="config">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_batch_config_init(rlcore_batch_config* config, UIntPtr config_size);

  /// <summary>Size in bytes of a batch for an rlcore_vecenv of this environment and configuration.</summary>
  /// <param name="env">in</param>
  /// <param name="vecenv_config">in</param>
  /// <param name="config">in</param>
  /// <param name="out_size">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_batch_size(rlcore_env* env, rlcore_vecenv_config* vecenv_config, rlcore_batch_config* config, UIntPtr* out_size);

  /// <summary>
  /// Creates an idle batch in mem, for any rlcore_vecenv of this environment and configuration.
  /// mem must remain valid until no worker is in a call.
  /// </summary>
  /// <param name="mem">inout [mem_size]</param>
  /// <param name="env">in</param>
  /// <param name="vecenv_config">in</param>
  /// <param name="config">in</param>
  /// <param name="out">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_batch_init(void* mem, UIntPtr mem_size, rlcore_env* env, rlcore_vecenv_config* vecenv_config, rlcore_batch_config* config, rlcore_batch** @out);

  /// <summary>
  /// Opens the bytes of a saved or copied batch. mem is only read. If the copy was made while workers were running, call
  /// rlcore_batch_abandon for each of them.
  /// </summary>
  /// <param name="mem">inout [mem_size]</param>
  /// <param name="out">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_batch_attach(void* mem, UIntPtr mem_size, rlcore_batch** @out);

  /// <summary>
  /// Submits a step of every row. rows: reads action, which is copied.
  /// Errors: E_CONFIG for a closed batch or another vecenv or environment; E_BUSY if a row was submitted and not collected;
  /// E_RANGE or E_VALUE for an action; E_NOT_READY for a row that must be reset first; all before anything changes.
  /// </summary>
  /// <param name="b">inout</param>
  /// <param name="v">inout</param>
  /// <param name="env">in</param>
  /// <param name="rows">in</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_batch_step_async(rlcore_batch* b, rlcore_vecenv* v, rlcore_env* env, rlcore_rows* rows);

  /// <summary>
  /// As rlcore_batch_step_async, but environments that end restart in the given level, as in rlcore_vecenv_step_env.
  /// level: an rlcore_level.
  /// Errors: as rlcore_batch_step_async; E_RANGE for another level.
  /// </summary>
  /// <param name="b">inout</param>
  /// <param name="v">inout</param>
  /// <param name="env">in</param>
  /// <param name="rows">in</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_batch_step_env_async(rlcore_batch* b, rlcore_vecenv* v, rlcore_env* env, uint level, rlcore_rows* rows);

  /// <summary>
  /// Does submitted work: steps pending groups until none is left or max_groups are done. Does not block. Any number of
  /// threads and processes may call it concurrently, also during a host call.
  /// worker:         the caller's number, below 2^30; must be unique if rlcore_batch_abandon is to be used.
  /// max_groups:     UINT32_MAX: no limit.
  /// out_num_groups: number of groups stepped.
  /// Errors: E_RANGE; E_CONFIG for a closed batch or another vecenv or environment. Failures of callbacks are reported to
  /// the host when it collects.
  /// </summary>
  /// <param name="b">inout</param>
  /// <param name="v">inout</param>
  /// <param name="env">in</param>
  /// <param name="out_num_groups">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_batch_run(rlcore_batch* b, rlcore_vecenv* v, rlcore_env* env, uint worker, uint max_groups, uint* out_num_groups);

  /// <summary>
  /// Collects everything submitted, once all of it is done. Does not block.
  /// rows: writes all that rlcore_vecenv_step writes; reads nothing.
  /// Errors: E_CONFIG for a closed batch; E_NOT_PENDING if no step is pending; E_NOT_READY while workers are not done; all
  /// before anything changes. E_CALLBACK (also for rows of an abandoned worker), or E_VALUE for a reward or observation
  /// that is not finite: everything is collected, but failed rows are not written and must be reset. rlcore_last_error()
  /// names the first, rlcore_batch_failed() returns all.
  /// </summary>
  /// <param name="b">inout</param>
  /// <param name="rows">in</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_batch_step_wait(rlcore_batch* b, rlcore_rows* rows);

  /// <summary>
  /// Collects rows of finished groups while others are still running: for environments whose steps vary in duration. The
  /// order depends on the workers' speed, the results of a row do not. No group is collected twice while another one is
  /// done and waiting.
  /// num_rows: number of rows, a multiple of in_series; exactly this many are collected, or none.
  /// index:    [num_rows] to write: their numbers, ascending.
  /// rows:     arrays of num_rows rows, written as by rlcore_vecenv_step; row k is that of environment index[k].
  /// Errors: as rlcore_batch_step_wait; E_RANGE for num_rows.
  /// </summary>
  /// <param name="b">inout</param>
  /// <param name="index">out [num_rows]</param>
  /// <param name="rows">in</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_batch_recv(rlcore_batch* b, uint num_rows, uint* index, rlcore_rows* rows);

  /// <summary>
  /// Submits a step of some rows; others may be running.
  /// num_rows: number of rows, a multiple of in_series.
  /// index:    [num_rows] whole groups, ascending, as rlcore_batch_recv returns them.
  /// rows:     reads action of num_rows rows, which is copied; row k is for environment index[k].
  /// Errors: as rlcore_batch_step_async; E_RANGE for index.
  /// </summary>
  /// <param name="b">inout</param>
  /// <param name="v">inout</param>
  /// <param name="env">in</param>
  /// <param name="index">in [num_rows]</param>
  /// <param name="rows">in</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_batch_send(rlcore_batch* b, rlcore_vecenv* v, rlcore_env* env, uint num_rows, uint* index, rlcore_rows* rows);

  /// <summary>
  /// Starts an episode in every environment, as rlcore_vecenv_reset. Discards submitted steps: pending groups are withdrawn,
  /// results of running ones are dropped.
  /// seed: environment i is seeded with *seed + i, modulo 2^64; NULL: the random streams continue.
  /// obs:  [N, obs.len] to write.
  /// Errors: E_CONFIG, before anything changes. E_NOT_READY while a worker is stepping a group: the steps are discarded
  /// nevertheless, and until this call succeeds nothing is pending and submitting returns E_BUSY. E_CALLBACK and E_VALUE as
  /// for rlcore_vecenv_reset.
  /// </summary>
  /// <param name="b">inout</param>
  /// <param name="v">inout</param>
  /// <param name="env">in</param>
  /// <param name="seed">in optional</param>
  /// <param name="obs">out [N, obs.len]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_batch_reset(rlcore_batch* b, rlcore_vecenv* v, rlcore_env* env, ulong* seed, void* obs);

  /// <summary>
  /// rlcore_batch_reset with options, as rlcore_vecenv_reset_with.
  /// how: seed and options.
  /// obs: [N, obs.len] to write.
  /// Errors: as rlcore_batch_reset; E_CONFIG, before anything changes, for options if the environment has no reset_with.
  /// </summary>
  /// <param name="b">inout</param>
  /// <param name="v">inout</param>
  /// <param name="env">in</param>
  /// <param name="how">in</param>
  /// <param name="obs">out [N, obs.len]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_batch_reset_with(rlcore_batch* b, rlcore_vecenv* v, rlcore_env* env, rlcore_reset* how, void* obs);

  /// <summary>
  /// Starts an episode in environment `index` only, as rlcore_vecenv_reset_one; other groups may be running.
  /// seed: it is seeded with *seed itself; NULL: its random stream continues.
  /// obs:  [N, obs.len], of which only that row is written.
  /// Errors: as rlcore_batch_reset; E_RANGE; E_BUSY if its group was submitted and not collected.
  /// </summary>
  /// <param name="b">inout</param>
  /// <param name="v">inout</param>
  /// <param name="env">in</param>
  /// <param name="seed">in optional</param>
  /// <param name="obs">out [N, obs.len]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_batch_reset_one(rlcore_batch* b, rlcore_vecenv* v, rlcore_env* env, uint index, ulong* seed, void* obs);

  /// <summary>
  /// rlcore_batch_reset_one with options, as rlcore_vecenv_reset_with.
  /// how: seed and options.
  /// obs: [N, obs.len], of which only that row is written.
  /// Errors: as rlcore_batch_reset_with; E_RANGE; E_BUSY if its group was submitted and not collected.
  /// </summary>
  /// <param name="b">inout</param>
  /// <param name="v">inout</param>
  /// <param name="env">in</param>
  /// <param name="how">in</param>
  /// <param name="obs">out [N, obs.len]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_batch_reset_one_with(rlcore_batch* b, rlcore_vecenv* v, rlcore_env* env, uint index, rlcore_reset* how, void* obs);

  /// <summary>
  /// Abandons a worker that died: the rows of its current group have failed and must be reset; all others are unaffected.
  /// The worker must no longer run, or it could still write to its rows.
  /// out_num_rows: number of rows that failed; 0 if it was not stepping a group.
  /// Errors: E_RANGE; E_CONFIG.
  /// </summary>
  /// <param name="b">inout</param>
  /// <param name="v">inout</param>
  /// <param name="env">in</param>
  /// <param name="out_num_rows">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_batch_abandon(rlcore_batch* b, rlcore_vecenv* v, rlcore_env* env, uint worker, uint* out_num_rows);

  /// <summary>
  /// Which rows failed in their last step and have not been reset by this batch since: 1 for those, else 0, also for rows
  /// that are pending or running. failed: [N] to write.
  /// Errors: E_CONFIG for a closed batch.
  /// </summary>
  /// <param name="b">in</param>
  /// <param name="failed">out [N]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_batch_failed(rlcore_batch* b, byte* failed);

  /// <summary>
  /// Counts the groups in each state. out: to write. Also works on a closed batch: num_running is 0 once its workers have
  /// left. Errors: E_CONFIG for struct_size.
  /// </summary>
  /// <param name="b">in</param>
  /// <param name="out">inout</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_batch_count(rlcore_batch* b, rlcore_batch_counts* @out);

  /// <summary>
  /// Closes the batch: withdraws pending steps. Every later call but this one and rlcore_batch_count returns E_CONFIG.
  /// Workers finish the groups that they are stepping; both blocks must remain valid until they have returned. The
  /// rlcore_vecenv remains usable.
  /// </summary>
  /// <param name="b">inout</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_batch_close(rlcore_batch* b);

  // ---- Episodes: returns, lengths, monitor.csv ----

  /// <summary>Maximum num_info: numbers of an episode besides its return, length and time.</summary>
  public const int RLCORE_MONITOR_MAX_INFO = 16;
  /// <summary>Maximum size of a row of monitor.csv, in bytes.</summary>
  public const int RLCORE_MONITOR_ROW_SIZE = 512;
  /// <summary>Fills in the defaults.</summary>
  /// <param name="config">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_monitor_config_init(rlcore_monitor_config* config, UIntPtr config_size);

  /// <summary>Size of the block for this configuration, in bytes.</summary>
  /// <param name="config">in</param>
  /// <param name="out_size">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_monitor_size(rlcore_monitor_config* config, UIntPtr* out_size);

  /// <summary>Creates a monitor in mem.</summary>
  /// <param name="mem">inout [mem_size]</param>
  /// <param name="config">in</param>
  /// <param name="out">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_monitor_init(void* mem, UIntPtr mem_size, rlcore_monitor_config* config, rlcore_monitor** @out);

  /// <summary>Opens a saved or copied monitor in mem.</summary>
  /// <param name="mem">inout [mem_size]</param>
  /// <param name="out">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_monitor_attach(void* mem, UIntPtr mem_size, rlcore_monitor** @out);

  /// <summary>
  /// Opens a monitor that another process writes: see Sharing.
  ///
  /// </summary>
  /// <param name="mem">in [mem_size]</param>
  /// <param name="out">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_monitor_attach_reader(void* mem, UIntPtr mem_size, rlcore_monitor** @out);

  /// <summary>
  /// Starts new episodes in all environments: current counts are dropped. Records and numbering are kept.
  /// </summary>
  /// <param name="m">inout</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_monitor_reset(rlcore_monitor* m);

  /// <summary>Starts a new episode in environment `index` only. Errors: E_RANGE.</summary>
  /// <param name="m">inout</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_monitor_reset_one(rlcore_monitor* m, uint index);

  /// <summary>
  /// Counts one step of all environments and records the episodes that it ended. Call it before rewards are normalized.
  /// rows:    reads reward, terminated, truncated, and valid unless it is NULL, as rlcore_vecenv_step writes them.
  /// seconds: current time on the caller's clock.
  /// info:    [N, num_info], read only in rows that ended; NULL if num_info is 0.
  /// Errors: E_CONFIG; E_VALUE for a reward, time or info that is not finite; E_RANGE after 2^63 episodes.
  /// </summary>
  /// <param name="m">inout</param>
  /// <param name="rows">in</param>
  /// <param name="info">in [N, num_info] optional</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_monitor_step(rlcore_monitor* m, rlcore_rows* rows, double seconds, double* info);

  /// <summary>As rlcore_monitor_step, but calls `clock` for the time, once, only if an episode ended.</summary>
  /// <param name="m">inout</param>
  /// <param name="rows">in</param>
  /// <param name="user">opaque</param>
  /// <param name="info">in [N, num_info] optional</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_monitor_step_clock(rlcore_monitor* m, rlcore_rows* rows, IntPtr clock, void* user, double* info);

  /// <summary>
  /// Copies records, oldest first. Each reader keeps its own `next`, initially 0, and loses nothing if it reads at least once
  /// every `capacity` episodes.
  /// next:      [1] number of the first record to read; becomes that of the first one not read.
  /// episodes:  [len] to write; info: [len, num_info] to write, may be NULL.
  /// out_count: [1] records written; out_lost: [1] records that were overwritten before they were read, may be NULL.
  /// Errors: E_RANGE if next is larger than the number of episodes ended.
  /// </summary>
  /// <param name="m">in</param>
  /// <param name="next">inout</param>
  /// <param name="episodes">out [len]</param>
  /// <param name="info">out [len, num_info] optional</param>
  /// <param name="out_count">out</param>
  /// <param name="out_lost">out optional</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_monitor_read(rlcore_monitor* m, ulong* next, rlcore_episode* episodes, double* info, uint len, uint* out_count, ulong* out_lost);

  /// <summary>
  /// Means over the last `keep` episodes, or as many as have ended.
  /// Errors: E_CONFIG; E_BUSY only for a reader, see Sharing.
  /// </summary>
  /// <param name="m">in</param>
  /// <param name="out">inout</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_monitor_means(rlcore_monitor* m, rlcore_monitor_stats* @out);

  /// <summary>
  /// Writes the first two lines of monitor.csv as Stable-Baselines3 reads it: `# {"t_start": ...} ` and the column names.
  /// t_start:  Unix time at the start, in seconds.
  /// env_id:   name of the environment, NUL-terminated; may be NULL.
  /// keywords: [num_keywords] a name for each info; printable ASCII, like env_id.
  /// text:     [text_size] to write, not NUL-terminated: for fwrite to a binary file. NULL with 0: only sets out_len.
  /// out_len:  [1] bytes written, or required.
  /// Errors: E_SIZE; E_RANGE for more keywords than 16, or more than 4095 characters; E_VALUE.
  /// </summary>
  /// <param name="env_id">in optional</param>
  /// <param name="keywords">in [num_keywords]</param>
  /// <param name="text">out [text_size] optional</param>
  /// <param name="out_len">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_monitor_format_header(double t_start, byte* env_id, byte** keywords, uint num_keywords, byte* text, UIntPtr text_size, UIntPtr* out_len);

  /// <summary>
  /// Writes the row of an episode: return, length, time, infos, CR LF. Numbers are formatted as Python prints a float: the
  /// shortest text that parses to the same double.
  /// info: [num_info] of this episode. text: [text_size], out_len: [1], as for the header; RLCORE_MONITOR_ROW_SIZE bytes
  /// always suffice.
  /// Errors: E_SIZE; E_RANGE for a num_info over 16; E_VALUE for a number that is not finite.
  /// </summary>
  /// <param name="episode">in</param>
  /// <param name="info">in [num_info]</param>
  /// <param name="text">out [text_size]</param>
  /// <param name="out_len">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_monitor_format_row(rlcore_episode* episode, double* info, uint num_info, byte* text, UIntPtr text_size, UIntPtr* out_len);

  /// <summary>
  /// Purpose of an episode: num_train episodes to learn from, then num_test to test on, and so on.
  /// index:    number of the episode, from 0.
  /// out_type: [1] an rlcore_episode_type.
  /// Errors: E_CONFIG if num_train and num_test are both 0.
  /// </summary>
  /// <param name="out_type">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_episode_type_of(ulong index, uint num_train, uint num_test, uint* out_type);

  // ---- Normalized observations and rewards of N environments ----

  /// <summary>Fills in the defaults.</summary>
  /// <param name="config">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_vec_normalize_config_init(rlcore_vec_normalize_config* config, UIntPtr config_size);

  /// <summary>Size of the block for this configuration, in bytes.</summary>
  /// <param name="config">in</param>
  /// <param name="out_size">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_vec_normalize_size(rlcore_vec_normalize_config* config, UIntPtr* out_size);

  /// <summary>Creates a normalizer in mem: means 0, variances 1, counts 1e-4.</summary>
  /// <param name="mem">inout [mem_size]</param>
  /// <param name="config">in</param>
  /// <param name="out">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_vec_normalize_init(void* mem, UIntPtr mem_size, rlcore_vec_normalize_config* config, rlcore_vec_normalize** @out);

  /// <summary>Opens a saved or copied normalizer in mem.</summary>
  /// <param name="mem">inout [mem_size]</param>
  /// <param name="out">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_vec_normalize_attach(void* mem, UIntPtr mem_size, rlcore_vec_normalize** @out);

  /// <summary>
  /// Processes the first observations of all environments: merges them into the statistics and writes them normalized.
  /// Discounted returns restart at 0.
  /// obs, out_obs: [N, obs_len]; may be the same array.
  /// Errors: E_VALUE for a number that is not finite.
  /// </summary>
  /// <param name="v">inout</param>
  /// <param name="obs">in [N, obs_len]</param>
  /// <param name="out_obs">out [N, obs_len]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_vec_normalize_reset(rlcore_vec_normalize* v, float* obs, float* out_obs);

  /// <summary>
  /// Processes the first observation of environment `index` only, as written by rlcore_vecenv_reset_one.
  /// obs, out_obs: [N, obs_len], of which only that row is used; may be the same array.
  /// Errors: as rlcore_vec_normalize_reset; E_RANGE.
  /// </summary>
  /// <param name="v">inout</param>
  /// <param name="obs">in [N, obs_len]</param>
  /// <param name="out_obs">out [N, obs_len]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_vec_normalize_reset_one(rlcore_vec_normalize* v, uint index, float* obs, float* out_obs);

  /// <summary>
  /// Normalizes the results of rlcore_vecenv_step, or of the caller's own batch; one call for the whole batch. In this order:
  /// merges obs and normalizes it with the new statistics; adds reward to the discounted returns, merges those and scales
  /// reward by their deviation; normalizes final_obs without merging it; resets the returns of ended episodes. A row that
  /// was only reset (valid 0) counts as an observation; its reward does not count.
  /// rows: reads obs, reward, terminated, truncated, and final_obs and valid unless they are NULL; obs and final_obs are
  ///       float; valid NULL: every row was stepped.
  /// out:  receives obs, reward and final_obs, each of which may be the same array as in rows. NULL: normalizes the
  ///       arrays of rows in place.
  /// Errors: E_CONFIG; E_VALUE for a number that is not finite; final_obs is checked only in rows that ended.
  /// </summary>
  /// <param name="v">inout</param>
  /// <param name="rows">in</param>
  /// <param name="out">in optional</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_vec_normalize_step(rlcore_vec_normalize* v, rlcore_rows* rows, rlcore_rows* @out);

  /// <summary>
  /// Normalizes any number of observations with the current statistics, without changing them.
  /// obs, out_obs: [num_rows, obs_len]; may be the same array.
  /// Errors: as rlcore_vec_normalize_reset.
  /// </summary>
  /// <param name="v">in</param>
  /// <param name="obs">in [num_rows, obs_len]</param>
  /// <param name="out_obs">out [num_rows, obs_len]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_vec_normalize_obs(rlcore_vec_normalize* v, uint num_rows, float* obs, float* out_obs);

  /// <summary>
  /// 1: reset and step only normalize and do not change the block, for evaluation. 0: the statistics are updated again, and
  /// the discounted returns continue where they were.
  /// Errors: E_RANGE for another number.
  /// </summary>
  /// <param name="v">inout</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_vec_normalize_freeze(rlcore_vec_normalize* v, uint frozen);

  /// <summary>
  /// Merges the statistics of another normalizer into this one, as if this one had seen its observations too. Both initial
  /// counts of 1e-4 are included. `other` is only read; its num_envs may differ.
  /// Errors: E_CONFIG for another obs_len; E_RANGE for counts beyond 2^64.
  /// </summary>
  /// <param name="v">inout</param>
  /// <param name="other">in</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_vec_normalize_merge(rlcore_vec_normalize* v, rlcore_vec_normalize* other);

  /// <summary>
  /// Copies the statistics. mean, variance: [obs_len] to write; may be NULL.
  /// Errors: E_CONFIG.
  /// </summary>
  /// <param name="v">in</param>
  /// <param name="mean">out [obs_len] optional</param>
  /// <param name="variance">out [obs_len] optional</param>
  /// <param name="out">inout</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_vec_normalize_statistics(rlcore_vec_normalize* v, double* mean, double* variance, rlcore_vec_normalize_stats* @out);

  // ---- Frame memories: each frame stored once, stacked on reading ----

  /// <summary>Fills in the defaults.</summary>
  /// <param name="config">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_lazy_frames_config_init(rlcore_lazy_frames_config* config, UIntPtr config_size);

  /// <summary>Size of the block for this configuration, in bytes.</summary>
  /// <param name="config">in</param>
  /// <param name="out_size">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_lazy_frames_size(rlcore_lazy_frames_config* config, UIntPtr* out_size);

  /// <summary>
  /// Bytes of the block per transition that it can hold, rounded up: one frame and its metadata. An episode of L transitions
  /// takes L + 1 frames. Errors: E_CONFIG.
  /// </summary>
  /// <param name="config">in</param>
  /// <param name="out_bytes">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_lazy_frames_bytes_per_transition(rlcore_lazy_frames_config* config, ulong* out_bytes);

  /// <summary>Creates empty rings in mem.</summary>
  /// <param name="mem">inout [mem_size]</param>
  /// <param name="config">in</param>
  /// <param name="out">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_lazy_frames_init(void* mem, UIntPtr mem_size, rlcore_lazy_frames_config* config, rlcore_lazy_frames** @out);

  /// <summary>Opens saved or copied rings in mem.</summary>
  /// <param name="mem">inout [mem_size]</param>
  /// <param name="out">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_lazy_frames_attach(void* mem, UIntPtr mem_size, rlcore_lazy_frames** @out);

  /// <summary>
  /// Opens rings that another process writes: see Sharing.
  ///
  /// </summary>
  /// <param name="mem">in [mem_size]</param>
  /// <param name="out">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_lazy_frames_attach_reader(void* mem, UIntPtr mem_size, rlcore_lazy_frames** @out);

  /// <summary>
  /// Appends a frame to the ring of environment `env`.
  /// frame:      [height, width, channels], copied.
  /// first:      1 if it starts an episode, else 0.
  /// out_number: its number; may be NULL.
  /// Errors: E_RANGE; E_NOT_READY if the ring is empty and first is 0.
  /// </summary>
  /// <param name="l">inout</param>
  /// <param name="frame">in [height, width, channels]</param>
  /// <param name="out_number">out optional</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_lazy_frames_push(rlcore_lazy_frames* l, uint env, byte* frame, uint first, ulong* out_number);

  /// <summary>
  /// Appends one step of environments [begin, end). The arrays are those of all N; only rows of the range are used.
  /// frame:       [N, height, width, channels] the frame to act on next.
  /// first:       [N] 1 where that frame starts an episode.
  /// final_frame: [N, height, width, channels] last frame of the episode that ended in this step, read where first is 1 and
  ///              pushed before frame; NULL: no episode ended, or its last frame was pushed already.
  /// number:      [N] to write, the numbers of the frames to act on next; may be NULL. The transition of this step has the
  ///              number written one step earlier, whether or not an episode ended.
  /// Threads: calls on disjoint ranges may run concurrently; results do not depend on the split.
  /// Errors: E_RANGE; E_NOT_READY if a ring is empty, unless first is 1 and final_frame is NULL.
  /// </summary>
  /// <param name="l">inout</param>
  /// <param name="frame">in [N, height, width, channels]</param>
  /// <param name="first">in [N]</param>
  /// <param name="final_frame">in [N, height, width, channels] optional</param>
  /// <param name="number">out [N] optional</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_lazy_frames_push_range(rlcore_lazy_frames* l, uint begin, uint end, byte* frame, byte* first, byte* final_frame, ulong* number);

  /// <summary>
  /// Numbers of the frames that environment `env` holds: [*out_begin, *out_end). Every frame from *out_begin + num_stack - 1
  /// on has a complete stack, and so do earlier ones whose episode starts within the range.
  /// Errors: E_RANGE.
  /// </summary>
  /// <param name="l">in</param>
  /// <param name="out_begin">out</param>
  /// <param name="out_end">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_lazy_frames_held(rlcore_lazy_frames* l, uint env, ulong* out_begin, ulong* out_end);

  /// <summary>
  /// Copies frames as they were pushed, starting at `number`.
  /// frames: [num_frames, height, width, channels] to write.
  /// first:  [num_frames] to write, 1 where a frame starts an episode.
  /// Errors: E_RANGE if one of them is not held.
  /// </summary>
  /// <param name="l">in</param>
  /// <param name="frames">out [num_frames, height, width, channels]</param>
  /// <param name="first">out [num_frames]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_lazy_frames_read(rlcore_lazy_frames* l, uint env, ulong number, uint num_frames, byte* frames, byte* first);

  /// <summary>
  /// Returns a pointer to a frame in the block, [height, width, channels]. Valid until num_frames newer frames are pushed.
  /// Errors: E_RANGE if it is not held.
  /// </summary>
  /// <param name="l">in</param>
  /// <param name="out_frame">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_lazy_frames_frame(rlcore_lazy_frames* l, uint env, ulong number, byte** out_frame);

  /// <summary>
  /// Numbers of the frames of stack `number`, oldest first. numbers: [num_stack] to write.
  /// Errors: E_RANGE if one of them is not held.
  /// </summary>
  /// <param name="l">in</param>
  /// <param name="numbers">out [num_stack]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_lazy_frames_indices(rlcore_lazy_frames* l, uint env, ulong number, ulong* numbers);

  /// <summary>Writes the stack whose newest frame is `number`. Errors: as rlcore_lazy_frames_gather.</summary>
  /// <param name="l">in</param>
  /// <param name="out">out [num_rows, num_stack * frame_len]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_lazy_frames_stack(rlcore_lazy_frames* l, uint env, ulong number, uint layout, uint kind, void* @out);

  /// <summary>
  /// Writes the stacks of num_rows frames.
  /// index:  [num_rows] the newest frame of each stack.
  /// layout: an rlcore_layout.
  /// kind:   RLCORE_U8: bytes as they were pushed; RLCORE_F32: byte / 255.
  /// out:    [num_rows, num_stack * frame_len] of that kind, to write.
  /// Errors: E_RANGE for layout, kind, an environment, or a frame that is not held or not pushed yet.
  /// </summary>
  /// <param name="l">in</param>
  /// <param name="index">in [num_rows]</param>
  /// <param name="out">out [num_rows, num_stack * frame_len]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_lazy_frames_gather(rlcore_lazy_frames* l, rlcore_frame_index* index, uint num_rows, uint layout, uint kind, void* @out);

  /// <summary>
  /// Writes the observations and next observations of num_rows transitions: index[i] is the newest frame of observation i;
  /// the frame after it is the newest of next observation i. Shared frames are read once.
  /// obs, next_obs: [num_rows, num_stack * frame_len] of that kind, to write.
  /// Errors: as rlcore_lazy_frames_gather; E_RANGE for a frame that is the last of its episode.
  /// </summary>
  /// <param name="l">in</param>
  /// <param name="index">in [num_rows]</param>
  /// <param name="obs">out [num_rows, num_stack * frame_len]</param>
  /// <param name="next_obs">out [num_rows, num_stack * frame_len]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_lazy_frames_gather_transitions(rlcore_lazy_frames* l, rlcore_frame_index* index, uint num_rows, uint layout, uint kind, void* obs, void* next_obs);

  /// <summary>
  /// Extracts the newest frame of a stack of bytes, to push where an environment stacks its frames itself.
  /// stack: [num_stack * frame_len] in `layout`, an rlcore_layout; num_stack is 1 to 16.
  /// frame: [frame_len] to write, channels last; frame_len must be a multiple of channels.
  /// Errors: E_RANGE; E_SHAPE.
  /// </summary>
  /// <param name="stack">in [num_stack * frame_len]</param>
  /// <param name="frame">out [frame_len]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_lazy_frames_newest(byte* stack, uint num_stack, uint channels, uint layout, byte* frame, UIntPtr frame_len);

  // ---- Replay memory: sequences of frames, balanced by reward ----

  /// <summary>Fills in the defaults.</summary>
  /// <param name="config">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_memory_config_init(rlcore_memory_config* config, UIntPtr config_size);

  /// <summary>Size of the block for this configuration, in bytes.</summary>
  /// <param name="config">in</param>
  /// <param name="out_size">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_memory_size(rlcore_memory_config* config, UIntPtr* out_size);

  /// <summary>Creates an empty memory in mem.</summary>
  /// <param name="mem">inout [mem_size]</param>
  /// <param name="config">in</param>
  /// <param name="out">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_memory_init(void* mem, UIntPtr mem_size, rlcore_memory_config* config, rlcore_memory** @out);

  /// <summary>
  /// Opens a saved or copied memory in mem, with its frames, pools and stored random stream. mem is only read; no other
  /// process may write to it meanwhile.
  /// </summary>
  /// <param name="mem">inout [mem_size]</param>
  /// <param name="out">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_memory_attach(void* mem, UIntPtr mem_size, rlcore_memory** @out);

  /// <summary>
  /// Opens a memory that another process writes: see Sharing. Drawn frames may be dropped before they are gathered.
  /// </summary>
  /// <param name="mem">in [mem_size]</param>
  /// <param name="out">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_memory_attach_reader(void* mem, UIntPtr mem_size, rlcore_memory** @out);

  /// <summary>
  /// Appends a frame. It continues the last frame if it has the same episode, the next step, and that frame did not end the
  /// episode. If it starts another episode before the last one has ended, the last frame is marked truncated.
  /// values:     [num_columns] pointers to [len] elements each, copied; for stacks, the newest frame.
  /// out_number: its number; may be NULL.
  /// out_cuts:   1 if the last frame was marked truncated, else 0; may be NULL.
  /// Errors: E_RANGE for a frame of an episode that has ended.
  /// </summary>
  /// <param name="m">inout</param>
  /// <param name="frame">in</param>
  /// <param name="values">in [num_columns]</param>
  /// <param name="out_number">out optional</param>
  /// <param name="out_cuts">out optional</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_memory_add(rlcore_memory* m, rlcore_frame* frame, void** values, ulong* out_number, uint* out_cuts);

  /// <summary>
  /// Appends num_frames frames, as rlcore_memory_add. Each must follow the one before it.
  /// frames:     [num_frames]
  /// values:     [num_columns] pointers to [num_frames, len] elements each.
  /// out_number: number of the first; may be NULL.
  /// out_cuts:   number of frames marked truncated; may be NULL.
  /// Errors: as rlcore_memory_add; E_RANGE if num_frames is 0.
  /// </summary>
  /// <param name="m">inout</param>
  /// <param name="frames">in [num_frames]</param>
  /// <param name="values">in [num_columns]</param>
  /// <param name="out_number">out optional</param>
  /// <param name="out_cuts">out optional</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_memory_add_rollout(rlcore_memory* m, rlcore_frame* frames, uint num_frames, void** values, ulong* out_number, uint* out_cuts);

  /// <summary>
  /// Numbers of the frames held: [*out_begin, *out_end). The memory is full when it holds history_size frames.
  /// </summary>
  /// <param name="m">in</param>
  /// <param name="out_begin">out</param>
  /// <param name="out_end">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_memory_held(rlcore_memory* m, ulong* out_begin, ulong* out_end);

  /// <summary>Number of frames in each pool.</summary>
  /// <param name="m">in</param>
  /// <param name="out_ordinary">out</param>
  /// <param name="out_priority">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_memory_pool_len(rlcore_memory* m, uint* out_ordinary, uint* out_priority);

  /// <summary>
  /// Frame number of entry i of a pool, oldest first. priority: 1 for priority frames, 0 for ordinary ones.
  /// Errors: E_RANGE.
  /// </summary>
  /// <param name="m">in</param>
  /// <param name="out_number">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_memory_pool_number(rlcore_memory* m, uint priority, uint i, ulong* out_number);

  /// <summary>
  /// Draws num_samples sequences. The first frame is uniform among those followed by at least size - 1 frames. A sequence
  /// stops at the end of its episode. size is limited to the number of frames held. In a full memory, frames whose stacks
  /// would need dropped frames are not drawn: at most num_stack - 1 of them.
  /// RLCORE_DRAW_ORIGINAL requires a full memory and a history_size of at least size + 2. It ignores stacks: it may draw
  /// sequences that rlcore_memory_gather then refuses with E_RANGE.
  /// draw:    NULL: the defaults.
  /// samples: [num_samples] to write.
  /// Threads: any number, each with its own rng. Random numbers: one index per draw.
  /// Errors: E_CONFIG; E_RANGE for a field of draw; E_NOT_READY if no frame is held, or with RLCORE_DRAW_ORIGINAL fewer than
  /// history_size. E_INEXACT with exact_size if a sequence is still shorter than size after the last attempt: all samples
  /// are written; compare len - burn_in with size.
  /// </summary>
  /// <param name="m">in</param>
  /// <param name="rng">inout</param>
  /// <param name="draw">in optional</param>
  /// <param name="samples">out [num_samples]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_memory_sample_uniform(rlcore_memory* m, rlcore_rng* rng, rlcore_draw* draw, rlcore_sample* samples, uint num_samples);

  /// <summary>
  /// Draws num_samples sequences. The last frame is a priority frame with probability 1 / skewness, otherwise an ordinary
  /// one, and uniform in its pool; if one pool is empty, the other is used. A sequence stays within its episode: near the
  /// beginning it is shorter, or with exact_size drawn again from the same pool.
  /// draw:    NULL: the defaults.
  /// samples: [num_samples] to write.
  /// Threads: any number, each with its own rng. Random numbers: a coin, then one index per attempt.
  /// Errors: as rlcore_memory_sample_uniform; E_DISABLED without use_priority; E_EMPTY if both pools are empty; E_RANGE for a
  /// size above max_sample_size, which RLCORE_DRAW_ORIGINAL limits instead. E_BUSY only for a reader, if the writer
  /// overwrites frames faster than they are drawn or was stopped in the only frame that can be drawn: some samples may be
  /// written.
  /// </summary>
  /// <param name="m">in</param>
  /// <param name="rng">inout</param>
  /// <param name="draw">in optional</param>
  /// <param name="samples">out [num_samples]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_memory_sample_priority(rlcore_memory* m, rlcore_rng* rng, rlcore_draw* draw, rlcore_sample* samples, uint num_samples);

  /// <summary>
  /// Copies one column of sequences. Shorter sequences are padded with zeros at the end.
  /// column:  index of the column in the configuration.
  /// layout:  an rlcore_layout, for stacks.
  /// kind:    the column's; or RLCORE_F32 for bytes, scaled to [0, 1].
  /// out:     [num_samples, len, row_len] to write; row_len is the number of elements of the column, or of a whole stack.
  /// Errors: E_CONFIG; E_RANGE for a column, layout, kind or sample, or a frame that is not held or was dropped since the
  /// draw.
  /// </summary>
  /// <param name="m">in</param>
  /// <param name="sequences">in</param>
  /// <param name="out">out [num_samples, len, row_len]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_memory_gather(rlcore_memory* m, rlcore_sequences* sequences, uint column, uint layout, uint kind, void* @out);

  /// <summary>
  /// Copies rewards and flags of sequences, padded with zeros at the end.
  /// reward, terminated, truncated: [num_samples, len] to write; may be NULL.
  /// valid: [num_samples, len] to write, 1 where there is a frame; may be NULL.
  /// Errors: as rlcore_memory_gather.
  /// </summary>
  /// <param name="m">in</param>
  /// <param name="sequences">in</param>
  /// <param name="reward">out [num_samples, len] optional</param>
  /// <param name="terminated">out [num_samples, len] optional</param>
  /// <param name="truncated">out [num_samples, len] optional</param>
  /// <param name="valid">out [num_samples, len] optional</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_memory_gather_frames(rlcore_memory* m, rlcore_sequences* sequences, float* reward, byte* terminated, byte* truncated, byte* valid);

  /// <summary>
  /// Stores a random stream in the block, so that it is saved with it. Initially the stream of seed 0 is stored.
  /// </summary>
  /// <param name="m">inout</param>
  /// <param name="rng">in</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_memory_store_rng(rlcore_memory* m, rlcore_rng* rng);

  /// <summary>
  /// Copies the stored random stream. rng: [1] to write. Errors: E_BUSY only for a reader, see Sharing.
  /// </summary>
  /// <param name="m">in</param>
  /// <param name="rng">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_memory_load_rng(rlcore_memory* m, rlcore_rng* rng);

  // ---- Replay memory: transitions, sampled by priority ----

  /// <summary>Fills in the defaults.</summary>
  /// <param name="config">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_replay_config_init(rlcore_replay_config* config, UIntPtr config_size);

  /// <summary>Size of the block for this configuration, in bytes.</summary>
  /// <param name="config">in</param>
  /// <param name="out_size">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_replay_size(rlcore_replay_config* config, UIntPtr* out_size);

  /// <summary>Creates an empty memory in mem.</summary>
  /// <param name="mem">inout [mem_size]</param>
  /// <param name="config">in</param>
  /// <param name="out">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_replay_init(void* mem, UIntPtr mem_size, rlcore_replay_config* config, rlcore_replay** @out);

  /// <summary>
  /// Opens a saved or copied replay memory in mem, with its transitions, priorities and stored random stream.
  /// </summary>
  /// <param name="mem">inout [mem_size]</param>
  /// <param name="out">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_replay_attach(void* mem, UIntPtr mem_size, rlcore_replay** @out);

  /// <summary>
  /// Opens a replay memory that another process writes: see Sharing. A draw uses the weights as they change.
  /// </summary>
  /// <param name="mem">in [mem_size]</param>
  /// <param name="out">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_replay_attach_reader(void* mem, UIntPtr mem_size, rlcore_replay** @out);

  /// <summary>
  /// Appends one step of one environment.
  /// values:       [num_columns] pointers to [len] elements each, copied: the observation before the action, and so on.
  /// final_values: [num_columns] pointers; for observation columns to [len] elements, the last observation of the episode;
  ///               the others are ignored. NULL: the episode continues.
  /// out_number:   number of the row; may be NULL.
  /// Errors: E_CONFIG; E_RANGE; E_VALUE; E_SHAPE if the episode ended and final_values is missing.
  /// </summary>
  /// <param name="r">inout</param>
  /// <param name="step">in</param>
  /// <param name="values">in [num_columns]</param>
  /// <param name="final_values">in [num_columns] optional</param>
  /// <param name="out_number">out optional</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_replay_add(rlcore_replay* r, rlcore_replay_step* step, void** values, void** final_values, ulong* out_number);

  /// <summary>
  /// Appends one step of every environment, as rlcore_replay_add with the arrays of all N.
  /// values:       [num_columns] pointers to [N, len] elements.
  /// reward, terminated, truncated: [N].
  /// final_values: [num_columns] pointers; for observation columns to [N, len] elements, read where an episode ended; NULL:
  ///               none did.
  /// Errors: as rlcore_replay_add, for any environment.
  /// </summary>
  /// <param name="r">inout</param>
  /// <param name="values">in [num_columns]</param>
  /// <param name="reward">in [N]</param>
  /// <param name="terminated">in [N]</param>
  /// <param name="truncated">in [N]</param>
  /// <param name="final_values">in [num_columns] optional</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_replay_add_all(rlcore_replay* r, void** values, float* reward, byte* terminated, byte* truncated, void** final_values);

  /// <summary>
  /// Ends the episodes of environments that the caller has reset before the outcome of their last step was known, so that no
  /// transition leads across the reset. The last step of each is dropped: its observation becomes the last one of the episode.
  /// The step before it is truncated, and transitions of num_steps steps end there. Does nothing where an episode has ended.
  /// gone: [N] flags.
  /// </summary>
  /// <param name="r">inout</param>
  /// <param name="gone">in [N]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_replay_cut(rlcore_replay* r, byte* gone);

  /// <summary>
  /// Returns the statistics. out: struct_size must be set.
  /// Errors: E_CONFIG.
  /// </summary>
  /// <param name="r">in</param>
  /// <param name="out">inout</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_replay_get_stats(rlcore_replay* r, rlcore_replay_stats* @out);

  /// <summary>
  /// Changes the exponent of weights assigned from now on; existing weights stay.
  /// Errors: E_RANGE if it is not from 0 to 1.
  /// </summary>
  /// <param name="r">inout</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_replay_set_alpha(rlcore_replay* r, float alpha);

  /// <summary>
  /// Linear schedule for alpha or beta: `initial` at progress 0, `end` at progress 1.
  /// out: [1] to write.
  /// Errors: E_RANGE for a progress outside [0, 1]; E_VALUE.
  /// </summary>
  /// <param name="out">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_replay_linear(float initial, float end, float progress, float* @out);

  /// <summary>
  /// Draws num_rows transitions in proportion to their weights.
  /// index:       [num_rows] to write, the first rows of the transitions.
  /// weight:      [num_rows] to write, importance weights (num_transitions * probability)^-beta, normalized.
  /// probability: [num_rows] to write, the probability of each; may be NULL.
  /// Threads: any number, each with its own rng.
  /// Errors: E_CONFIG; E_RANGE; E_VALUE; E_NOT_READY if there is no transition to draw; E_BUSY only for a reader, if the
  /// writer
  /// overwrites rows faster than they are drawn or was stopped in the only row that can be drawn: some rows may be
  ///                                                                                              written.
  /// </summary>
  /// <param name="r">in</param>
  /// <param name="rng">inout</param>
  /// <param name="draw">in</param>
  /// <param name="index">out [num_rows]</param>
  /// <param name="weight">out [num_rows]</param>
  /// <param name="probability">out [num_rows] optional</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_replay_sample(rlcore_replay* r, rlcore_rng* rng, rlcore_replay_draw* draw, uint num_rows, rlcore_frame_index* index, float* weight, float* probability);

  /// <summary>
  /// Sets the priorities of transitions, usually absolute temporal-difference errors. If an index occurs twice, the later one
  /// counts. Transitions that were dropped since they were drawn are skipped.
  /// index:         [num_rows] from rlcore_replay_sample.
  /// priority:      [num_rows] finite, at least 0.
  /// out_forgotten: number of transitions skipped; may be NULL.
  /// Errors: E_VALUE; E_RANGE for a negative priority or a row that never was a transition.
  /// </summary>
  /// <param name="r">inout</param>
  /// <param name="index">in [num_rows]</param>
  /// <param name="priority">in [num_rows]</param>
  /// <param name="out_forgotten">out optional</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_replay_update(rlcore_replay* r, rlcore_frame_index* index, float* priority, uint num_rows, ulong* out_forgotten);

  /// <summary>
  /// Writes rewards, discounts and flags of transitions; NULL skips an array.
  /// index:    [num_rows] from rlcore_replay_sample.
  /// reward:   [num_rows] sum of discount^i * reward over the steps of the transition.
  /// discount: [num_rows] discount^steps, the factor of the next observation's value; 0 where the last step terminated.
  /// terminated, truncated: [num_rows] 1 if the last step ended the episode this way.
  /// Errors: E_RANGE for a transition that was dropped.
  /// </summary>
  /// <param name="r">in</param>
  /// <param name="index">in [num_rows]</param>
  /// <param name="reward">out [num_rows]</param>
  /// <param name="discount">out [num_rows]</param>
  /// <param name="terminated">out [num_rows]</param>
  /// <param name="truncated">out [num_rows]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_replay_transitions(rlcore_replay* r, rlcore_frame_index* index, uint num_rows, float* reward, float* discount, byte* terminated, byte* truncated);

  /// <summary>
  /// Writes a column of the first rows of num_rows transitions.
  /// index:  [num_rows] from rlcore_replay_sample.
  /// column: index of the column.
  /// layout: an rlcore_layout, for stacks and channels.
  /// kind:   the column's; or RLCORE_F32 for bytes: byte / 255.
  /// out:    [num_rows, row_len] of that kind, to write; row_len is the column's len, or that of a whole stack.
  /// Errors: E_RANGE for column, layout, kind, or a transition that was dropped.
  /// </summary>
  /// <param name="r">in</param>
  /// <param name="index">in [num_rows]</param>
  /// <param name="out">out [num_rows, row_len]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_replay_gather(rlcore_replay* r, rlcore_frame_index* index, uint num_rows, uint column, uint layout, uint kind, void* @out);

  /// <summary>
  /// Writes an observation column of the rows that num_rows transitions lead to; otherwise as rlcore_replay_gather.
  /// Errors: as rlcore_replay_gather; E_RANGE for a column that is not an observation.
  /// </summary>
  /// <param name="r">in</param>
  /// <param name="index">in [num_rows]</param>
  /// <param name="out">out [num_rows, row_len]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_replay_gather_next(rlcore_replay* r, rlcore_frame_index* index, uint num_rows, uint column, uint layout, uint kind, void* @out);

  /// <summary>
  /// Stores a random stream in the block, so that it is saved with it. Initially the stream of seed 0 is stored.
  /// </summary>
  /// <param name="r">inout</param>
  /// <param name="rng">in</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_replay_store_rng(rlcore_replay* r, rlcore_rng* rng);

  /// <summary>
  /// Copies the stored random stream. rng: [1] to write. Errors: E_BUSY only for a reader, see Sharing.
  /// </summary>
  /// <param name="r">in</param>
  /// <param name="rng">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_replay_load_rng(rlcore_replay* r, rlcore_rng* rng);

  // ---- Hindsight goal relabeling ----

  /// <summary>
  /// For step[b] of an episode of num_steps[b] steps, draws the row of its new goal, counted from the episode's first and
  /// uniform among those that the strategy allows. strategy: an rlcore_relabel_strategy; step, num_steps: [len]; goal_step:
  /// [len] to write. Makes at most one draw from rng per step.
  /// Errors: E_IMAGE for a stream that was never seeded; E_RANGE for the strategy or a step &gt;= num_steps.
  /// </summary>
  /// <param name="step">in [len]</param>
  /// <param name="num_steps">in [len]</param>
  /// <param name="rng">inout</param>
  /// <param name="goal_step">out [len]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_relabel_draw(uint strategy, uint* step, uint* num_steps, UIntPtr len, rlcore_rng* rng, uint* goal_step);

  /// <summary>
  /// Copies the new goals and calls `judge` for the reward and termination of each step. goal: [B, G], reward: [B],
  /// terminated: [B], to write.
  /// Errors: E_CONFIG; E_SHAPE; E_RANGE for a row &gt;= R; E_VALUE for an achieved goal that is not finite: nothing is written.
  /// E_CALLBACK, or E_VALUE for a reward: earlier steps are written.
  /// </summary>
  /// <param name="steps">in</param>
  /// <param name="user">opaque</param>
  /// <param name="goal">out [B, G]</param>
  /// <param name="reward">out [B]</param>
  /// <param name="terminated">out [B]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_relabel_goals(rlcore_relabel* steps, IntPtr judge, void* user, float* goal, float* reward, byte* terminated);

  // ---- Advantages and returns ----

  /// <summary>
  /// Generalized advantage estimation. Both outputs [T, N]; they must not overlap an input or each other.
  ///   next[t]      = 0 where terminated, else final_value[t] where truncated, else value[t+1] (bootstrap_value at T-1)
  ///   delta[t]     = reward[t] + discount * next[t] - value[t]
  ///   advantage[t] = delta[t] + discount * gae_lambda * (0 if ended[t] or t = T-1, else advantage[t+1])
  ///   value_target = advantage + value
  /// Errors: E_CONFIG for struct_size or accumulate; E_SHAPE if T or N is 0; E_RANGE for a discount or gae_lambda outside
  /// [0, 1]; E_VALUE for one that is NaN or infinite, and for an input that is not finite, which is detected during
  /// computation: the outputs are then undefined. Large finite inputs may overflow to infinities or NaN, with RLCORE_OK.
  /// </summary>
  /// <param name="rollout">in</param>
  /// <param name="advantage">out [T, N]</param>
  /// <param name="value_target">out [T, N]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_gae(rlcore_rollout* rollout, float discount, float gae_lambda, float* advantage, float* value_target);

  /// <summary>
  /// As rlcore_gae for environments [begin, end). The arrays are those of the whole rollout; only these columns are read and
  /// written. Results do not depend on the split.
  /// Threads: calls on disjoint ranges may run concurrently. Ranges that begin at multiples of 16 share no cache line of
  /// cache-aligned arrays.
  /// Errors: as there; E_RANGE unless begin &lt;= end &lt;= num_envs.
  /// </summary>
  /// <param name="rollout">in</param>
  /// <param name="advantage">out [T, N]</param>
  /// <param name="value_target">out [T, N]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_gae_range(rlcore_rollout* rollout, float discount, float gae_lambda, uint begin, uint end, float* advantage, float* value_target);

  /// <summary>
  /// Discounted sums: out[t] = x[t] + discount * out[t+1], with 0 after the last step. x, out: [T, N]; may be the same array.
  /// Errors: E_SHAPE if T or N is 0; E_RANGE for a discount outside [0, 1]; E_VALUE for one that is NaN or infinite, and
  /// for an x that is not finite, which is detected during computation: out is then undefined, unless it is x. Sums may
  /// overflow to infinity, with RLCORE_OK.
  /// </summary>
  /// <param name="x">in [T, N]</param>
  /// <param name="out">out [T, N]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_discounted_sum(float* x, uint num_steps, uint num_envs, float discount, float* @out);

  // ---- Rows: copying, stacking and gathering ----

  /// <summary>
  /// Concatenates arrays, such as those of several trajectories.
  /// parts:    [num_parts] arrays, at most 64, with `width` elements per row of kind, an rlcore_element.
  /// num_rows: [num_parts] rows of each.
  /// out:      [num_out_rows, width] to write; num_out_rows must be the sum of num_rows.
  /// Errors: E_CONFIG for the kind; E_RANGE for num_parts; E_SHAPE for num_out_rows.
  /// </summary>
  /// <param name="parts">in [num_parts]</param>
  /// <param name="num_rows">in [num_parts]</param>
  /// <param name="out">out [num_out_rows, width]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_rows_stack(void** parts, uint* num_rows, uint num_parts, uint width, uint kind, void* @out, uint num_out_rows);

  /// <summary>
  /// Copies rows: row index[i] of x becomes row i of out. A negative index counts from the end; -1 is the last row.
  /// x: [num_rows, width] of kind, an rlcore_element; index: [num_index]; out: [num_index, width] to write.
  /// Errors: E_CONFIG for the kind; E_SHAPE if width is 0; E_RANGE for an index out of range.
  /// </summary>
  /// <param name="x">in [num_rows, width]</param>
  /// <param name="index">in [num_index]</param>
  /// <param name="out">out [num_index, width]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_rows_gather(void* x, uint num_rows, uint width, uint kind, long* index, uint num_index, void* @out);

  /// <summary>
  /// Marks the valid rows of padded arrays: the first time_steps[i] of part i.
  /// time_steps: [num_parts]; valid: [num_parts, size] to write, 1 or 0.
  /// Errors: E_RANGE for a part that is longer than size.
  /// </summary>
  /// <param name="time_steps">in [num_parts]</param>
  /// <param name="valid">out [num_parts, size]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_rows_valid(uint* time_steps, uint num_parts, uint size, byte* valid);

  /// <summary>
  /// Finds the rows whose numbers are not all finite, such as the simulations of a large scene that have to be reset before
  /// their observations go to a call that refuses them with E_VALUE.
  /// kind: an rlcore_element; numbers of RLCORE_I32 and RLCORE_U8 are always finite. RLCORE_STRUCT: pass its RLCORE_F32 parts.
  /// x: [num_rows, len] of that kind; ok: [num_rows] to write, 1 where all numbers are finite, else 0.
  /// out_num_bad: [1] rows of which ok is 0.
  /// Errors: E_CONFIG for another kind.
  /// </summary>
  /// <param name="x">in [num_rows, len]</param>
  /// <param name="ok">out [num_rows]</param>
  /// <param name="out_num_bad">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_finite_rows(uint kind, void* x, uint num_rows, uint len, byte* ok, uint* out_num_bad);

  /// <summary>
  /// Shifted copies of a series: out[i][j] = x[j - i] where j &gt;= i, else 0.
  /// x: [len, width]; out: [len, len, width] to write.
  /// </summary>
  /// <param name="x">in [len, width]</param>
  /// <param name="out">out [len, len, width]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_shift_rows(float* x, uint len, uint width, float* @out);

  // ---- Rollouts: T steps of N environments, in minibatches ----

  /// <summary>Fills in the defaults.</summary>
  /// <param name="config">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_rollout_buffer_config_init(rlcore_rollout_buffer_config* config, UIntPtr config_size);

  /// <summary>Size of the block for this configuration, in bytes.</summary>
  /// <param name="config">in</param>
  /// <param name="out_size">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_rollout_buffer_size(rlcore_rollout_buffer_config* config, UIntPtr* out_size);

  /// <summary>Creates an empty rollout in mem.</summary>
  /// <param name="mem">inout [mem_size]</param>
  /// <param name="config">in</param>
  /// <param name="out">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_rollout_buffer_init(void* mem, UIntPtr mem_size, rlcore_rollout_buffer_config* config, rlcore_rollout_buffer** @out);

  /// <summary>Opens a saved or copied rollout in mem. mem is only read; columns are not checked.</summary>
  /// <param name="mem">inout [mem_size]</param>
  /// <param name="out">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_rollout_buffer_attach(void* mem, UIntPtr mem_size, rlcore_rollout_buffer** @out);

  /// <summary>
  /// Opens a rollout that another process writes: see Sharing. Memory that calls return pointers to may change at any time;
  /// use rlcore_rollout_buffer_read to copy it.
  /// </summary>
  /// <param name="mem">in [mem_size]</param>
  /// <param name="out">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_rollout_buffer_attach_reader(void* mem, UIntPtr mem_size, rlcore_rollout_buffer** @out);

  /// <summary>
  /// Returns a pointer to row `step` of a column in the block, [N, len], to fill in place before the step is added with NULL
  /// for that column. `step` must be the number of steps held so far; for column 0, the observation, it may also be that
  /// plus 1, so that environments can write the next observation while the current one is still in use.
  /// Errors: E_RANGE.
  /// </summary>
  /// <param name="b">inout</param>
  /// <param name="out_row">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_rollout_buffer_row(rlcore_rollout_buffer* b, uint column, uint step, void** out_row);

  /// <summary>
  /// Appends a step, and logs length and return of every episode that it ended under the global_step before it. step-&gt;value
  /// and step-&gt;log_prob may be NULL. If any step of the rollout had none, then until the next reset
  /// rlcore_rollout_buffer_view and _extras return NULL for that array and _read and _gather refuse to copy it with
  /// E_NOT_READY; _finish requires all values.
  /// Errors: E_NULL, also for a missing final_value; E_CONFIG; E_NOT_READY if the rollout is full or finished; E_VALUE for a
  /// number that is not finite; E_RANGE after 2^63 steps or metrics.
  /// </summary>
  /// <param name="b">inout</param>
  /// <param name="step">in</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_rollout_buffer_add(rlcore_rollout_buffer* b, rlcore_rollout_step* step);

  /// <summary>
  /// Ends the episodes of environments that the caller has reset before the outcome of their last step was known. `truncated`
  /// of that step becomes 2 and its final_value V(obs) of its own: nothing is learned from it, as its advantage is 0 and its
  /// value target its value. The step before it bootstraps from that value. The episodes are not counted. If the rollout is
  /// finished, its advantages stay. Does nothing where an episode has ended.
  /// gone: [N] flags.
  /// </summary>
  /// <param name="b">inout</param>
  /// <param name="gone">in [N]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_rollout_buffer_cut(rlcore_rollout_buffer* b, byte* gone);

  /// <summary>
  /// Finishes the rollout: computes advantages and value targets of the steps held, as rlcore_gae.
  /// bootstrap_value: [N] V of the observation after the last step.
  /// next_obs:        [N, len] of column 0: that observation, which reset carries over; NULL: the data written through
  ///                  rlcore_rollout_buffer_row is kept.
  /// Errors: E_NOT_READY if no step is held, the rollout is finished, or a step had no value; E_RANGE for a discount or
  /// gae_lambda outside [0, 1]; E_VALUE.
  /// </summary>
  /// <param name="b">inout</param>
  /// <param name="bootstrap_value">in [N]</param>
  /// <param name="next_obs">in [N, len] optional</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_rollout_buffer_finish(rlcore_rollout_buffer* b, float* bootstrap_value, void* next_obs, float discount, float gae_lambda);

  /// <summary>
  /// Begins the next rollout where this one stopped: drops steps, advantages and episode means. The observation after the
  /// last step becomes row 0 of column 0; episodes, metrics and global_step continue.
  /// </summary>
  /// <param name="b">inout</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_rollout_buffer_reset(rlcore_rollout_buffer* b);

  /// <summary>
  /// Returns the arrays that rlcore_gae reads, for the steps held. Pointers into the block, valid until it changes.
  /// bootstrap_value is 0 until the first rollout is finished; value and final_value are NULL if a step had no value.
  /// out-&gt;struct_size must be set.
  /// Errors: E_CONFIG.
  /// </summary>
  /// <param name="b">in</param>
  /// <param name="out">inout</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_rollout_buffer_view(rlcore_rollout_buffer* b, rlcore_rollout* @out);

  /// <summary>Returns the other arrays. out-&gt;struct_size must be set. Errors: E_CONFIG.</summary>
  /// <param name="b">in</param>
  /// <param name="out">inout</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_rollout_buffer_extras(rlcore_rollout_buffer* b, rlcore_rollout_extras* @out);

  /// <summary>
  /// Returns a pointer to a column in the block: [T, N, len] for the steps held; for column 0 [T + 1, N, len], where the last
  /// row is the observation to act on next, once it is known. Valid until the block changes.
  /// Errors: E_RANGE.
  /// </summary>
  /// <param name="b">in</param>
  /// <param name="out_column">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_rollout_buffer_column(rlcore_rollout_buffer* b, uint column, void** out_column);

  /// <summary>
  /// Progress of the rollout and of the training. out-&gt;struct_size must be set.
  /// Errors: E_CONFIG.
  /// </summary>
  /// <param name="b">in</param>
  /// <param name="out">inout</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_rollout_buffer_progress(rlcore_rollout_buffer* b, rlcore_rollout_progress* @out);

  /// <summary>
  /// Copies steps, in order. Steps are numbered over all rollouts: step t of this one has number
  /// global_step / N - num_steps + t, see rlcore_rollout_progress. Each reader keeps its own `next`, initially 0.
  /// next:      [1] number of the first step to read; becomes that of the first one not read.
  /// out_count: [1] steps copied, to the front of each array: at most out-&gt;num_rows, and only of this rollout.
  /// out_lost:  [1] steps that were dropped before they were read, may be NULL.
  /// Errors: E_CONFIG; E_NOT_READY for an array that a step did not have; E_RANGE if next is larger than the number of steps
  /// added; E_BUSY only for a reader, see Sharing.
  /// </summary>
  /// <param name="b">in</param>
  /// <param name="next">inout</param>
  /// <param name="out">in</param>
  /// <param name="out_count">out</param>
  /// <param name="out_lost">out optional</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_rollout_buffer_read(rlcore_rollout_buffer* b, ulong* next, rlcore_rows_out* @out, uint* out_count, ulong* out_lost);

  /// <summary>
  /// Divides the rollout into windows of `recurrence` samples (1: single samples) and writes the first sample of each, in
  /// random order: numpy's permutation of the windows, from the block's own stream. Minibatch k has minibatch_size samples:
  /// the minibatch_size / recurrence entries from k * minibatch_size / recurrence on.
  /// index: [index_len] to write, index_len = T * N / recurrence.
  /// Errors: E_NOT_READY unless finished; E_SHAPE for index_len; E_RANGE unless minibatch_size divides T * N, and
  /// recurrence divides T and minibatch_size.
  /// </summary>
  /// <param name="b">inout</param>
  /// <param name="index">out [index_len]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_rollout_buffer_draw(rlcore_rollout_buffer* b, uint minibatch_size, uint recurrence, uint* index, uint index_len);

  /// <summary>
  /// Draws windows of at most `timesteps` samples, with the block's own stream. For each, draws a trajectory uniformly. If it
  /// is not longer than timesteps, the window is all of it. Otherwise, with probability end_chance, it is the last timesteps
  /// samples; else its end is uniform from timesteps to the trajectory's length. Trajectories begin with an episode or with
  /// the rollout.
  /// windows: [num_windows] to write.
  /// Errors: E_NOT_READY unless finished; E_RANGE for 0 timesteps, or an end_chance outside [0, 1].
  /// </summary>
  /// <param name="b">inout</param>
  /// <param name="windows">out [num_windows]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_rollout_buffer_draw_windows(rlcore_rollout_buffer* b, uint timesteps, double end_chance, rlcore_window* windows, uint num_windows);

  /// <summary>
  /// Draws one of the steps held, uniformly, with the block's own stream: for inspection.
  /// Errors: E_NOT_READY if there is none.
  /// </summary>
  /// <param name="b">inout</param>
  /// <param name="out_step">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_rollout_buffer_sample(rlcore_rollout_buffer* b, uint* out_step);

  /// <summary>
  /// Copies num_rows windows of window_len consecutive samples; with window_len 1, single samples.
  /// index: [num_rows] the first sample of each window, e.g. of a minibatch from rlcore_rollout_buffer_draw.
  /// Threads: any number may gather concurrently while the block does not change.
  /// Errors: E_CONFIG; E_SHAPE if timestep is not NULL; E_NOT_READY unless finished, or for a log_prob that a step did not
  /// have; E_RANGE for a sample out of range, or a window that leaves its environment.
  /// </summary>
  /// <param name="b">in</param>
  /// <param name="index">in [num_rows]</param>
  /// <param name="out">in</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_rollout_buffer_gather(rlcore_rollout_buffer* b, uint* index, uint num_rows, uint window_len, rlcore_minibatch* @out);

  /// <summary>
  /// Copies windows of trajectories, padded at the front to `timesteps` rows: RLCORE_I32 columns with pad_token, which should
  /// not be a valid action, others with zeros. Advantages are those of the whole rollout.
  /// windows: [num_windows], e.g. from rlcore_rollout_buffer_draw_windows with the same timesteps.
  /// Threads: any number may gather concurrently while the block does not change.
  /// Errors: E_CONFIG; E_NOT_READY as above; E_RANGE for a window that is not inside one trajectory, or whose len + pad is
  /// not timesteps.
  /// </summary>
  /// <param name="b">in</param>
  /// <param name="windows">in [num_windows]</param>
  /// <param name="out">in</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_rollout_buffer_gather_windows(rlcore_rollout_buffer* b, rlcore_window* windows, uint num_windows, uint timesteps, int pad_token, rlcore_minibatch* @out);

  /// <summary>
  /// Logs a number of the caller's, for all environments, under the current global_step. Of several values of one metric in
  /// one step, the last one counts.
  /// Errors: E_RANGE for a metric below RLCORE_METRIC_OWN, and after 2^63 rows; E_VALUE for a value that is not finite.
  /// </summary>
  /// <param name="b">inout</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_rollout_buffer_log(rlcore_rollout_buffer* b, uint metric, double value);

  /// <summary>
  /// Copies rows of metrics, oldest first. Each reader keeps its own `next`, initially 0, and loses nothing if it reads at
  /// least once every log_capacity rows.
  /// next:      [1] number of the first row to read; becomes that of the first one not read.
  /// rows:      [len] to write.
  /// out_count: [1] rows written; out_lost: [1] rows that were overwritten before they were read, may be NULL.
  /// Errors: E_RANGE if next is larger than the number of rows logged.
  /// </summary>
  /// <param name="b">in</param>
  /// <param name="next">inout</param>
  /// <param name="rows">out [len]</param>
  /// <param name="out_count">out</param>
  /// <param name="out_lost">out optional</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_rollout_buffer_read_log(rlcore_rollout_buffer* b, ulong* next, rlcore_metric_row* rows, uint len, uint* out_count, ulong* out_lost);

  /// <summary>
  /// Writes lines `global_step=`, `avg_episode_length=` and `avg_episode_return=`: zero-padded to six characters, means with
  /// two decimals. Writes nothing if no episode has ended since the last reset.
  /// text:    [text_size] to write, not NUL-terminated. NULL with 0: only sets out_len.
  /// out_len: [1] bytes written, or required.
  /// Errors: E_SIZE.
  /// </summary>
  /// <param name="b">in</param>
  /// <param name="text">out [text_size] optional</param>
  /// <param name="out_len">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_rollout_buffer_format_progress(rlcore_rollout_buffer* b, byte* text, UIntPtr text_size, UIntPtr* out_len);

  /// <summary>
  /// Writes `Sample i/T:` and a line for each array of a step: its name padded to ten characters, a colon, and the numbers of
  /// all environments.
  /// text, out_len: [text_size] and [1], as in rlcore_rollout_buffer_format_progress.
  /// Errors: E_SIZE; E_RANGE for a step that is not held.
  /// </summary>
  /// <param name="b">in</param>
  /// <param name="text">out [text_size]</param>
  /// <param name="out_len">out [text_size]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_rollout_buffer_format_step(rlcore_rollout_buffer* b, uint step, byte* text, UIntPtr text_size, UIntPtr* out_len);

  // ---- Trajectories: one episode or a part of it ----

  /// <summary>Fills in the defaults.</summary>
  /// <param name="config">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_trajectory_config_init(rlcore_trajectory_config* config, UIntPtr config_size);

  /// <summary>Size of the block for this configuration, in bytes.</summary>
  /// <param name="config">in</param>
  /// <param name="out_size">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_trajectory_size(rlcore_trajectory_config* config, UIntPtr* out_size);

  /// <summary>Creates an empty trajectory in mem.</summary>
  /// <param name="mem">inout [mem_size]</param>
  /// <param name="config">in</param>
  /// <param name="out">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_trajectory_init(void* mem, UIntPtr mem_size, rlcore_trajectory_config* config, rlcore_trajectory** @out);

  /// <summary>Opens a saved or copied trajectory in mem. mem is only read; columns are not checked.</summary>
  /// <param name="mem">inout [mem_size]</param>
  /// <param name="out">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_trajectory_attach(void* mem, UIntPtr mem_size, rlcore_trajectory** @out);

  /// <summary>
  /// Opens a trajectory that another process writes: see Sharing. Memory that calls return pointers to may change at any
  /// time; use rlcore_trajectory_read to copy it.
  /// </summary>
  /// <param name="mem">in [mem_size]</param>
  /// <param name="out">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_trajectory_attach_reader(void* mem, UIntPtr mem_size, rlcore_trajectory** @out);

  /// <summary>
  /// Appends frames. frames-&gt;value may be NULL: then, until no frame is held, calls that need values return E_NOT_READY and
  /// rlcore_trajectory_held returns NULL for them.
  /// Errors: E_CONFIG; E_NOT_READY without room for all of them, or after a frame that ended its episode; E_SHAPE if
  /// num_frames is 0; E_RANGE if a frame other than the last ends the episode, and after 2^63 frames; E_VALUE for a number
  /// that is not finite.
  /// </summary>
  /// <param name="t">inout</param>
  /// <param name="frames">in</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_trajectory_add(rlcore_trajectory* t, rlcore_trajectory_frames* frames);

  /// <summary>
  /// Removes the last frame. The remaining frames are renumbered as new ones.
  /// Errors: E_NOT_READY if there is none; E_RANGE after 2^63 frames.
  /// </summary>
  /// <param name="t">inout</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_trajectory_pop(rlcore_trajectory* t);

  /// <summary>Removes all frames.</summary>
  /// <param name="t">inout</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_trajectory_reset(rlcore_trajectory* t);

  /// <summary>
  /// Returns the frames held. out-&gt;struct_size must be set.
  /// Errors: E_CONFIG.
  /// </summary>
  /// <param name="t">in</param>
  /// <param name="out">inout</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_trajectory_held(rlcore_trajectory* t, rlcore_trajectory_view* @out);

  /// <summary>
  /// Returns a pointer to a column in the block, [num_frames, len]. Valid until the block changes.
  /// Errors: E_RANGE.
  /// </summary>
  /// <param name="t">in</param>
  /// <param name="out_column">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_trajectory_column(rlcore_trajectory* t, uint column, void** out_column);

  /// <summary>
  /// Copies frames, in order. Frames are numbered for the life of the block. pop and reset retire all current numbers; frames
  /// that remain after a pop get new ones. Each reader keeps its own `next`, initially 0; with 0 every time it copies all
  /// frames held.
  /// next:      [1] number of the first frame to read; becomes that of the first one not read.
  /// out_count: [1] frames copied, to the front of each array: at most out-&gt;num_rows.
  /// out_lost:  [1] frames that were dropped before they were read, may be NULL.
  /// Errors: E_CONFIG; E_SHAPE for a log_prob or a final_value; E_NOT_READY for a missing value; E_RANGE if next is larger
  /// than the numbers assigned so far; E_BUSY only for a reader, see Sharing.
  /// </summary>
  /// <param name="t">in</param>
  /// <param name="next">inout</param>
  /// <param name="out">in</param>
  /// <param name="out_count">out</param>
  /// <param name="out_lost">out optional</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_trajectory_read(rlcore_trajectory* t, ulong* next, rlcore_rows_out* @out, uint* out_count, ulong* out_lost);

  /// <summary>
  /// Writes the arrays that a learner reads. Padding is zeros, except element 0 of one-hot columns, which is 1.
  ///   returns[t]   = reward[t] + discount * returns[t+1]
  ///   delta[t]     = reward[t] + discount * value[t+1] - value[t]
  ///   advantage[t] = delta[t] + discount * gae_lambda * advantage[t+1]
  /// where returns and value after the last frame are bootstrap_value, or 0 if that frame terminated.
  /// To build a batch, process trajectories into consecutive parts of larger arrays.
  /// Threads: any number may process concurrently while the block does not change.
  /// Errors: E_CONFIG; E_NOT_READY if there are no frames or no values; E_RANGE for a discount or gae_lambda outside [0, 1],
  /// or num_rows; E_VALUE for a bootstrap_value that is used and not finite.
  /// </summary>
  /// <param name="t">in</param>
  /// <param name="out">in</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_trajectory_process(rlcore_trajectory* t, float discount, float gae_lambda, float bootstrap_value, rlcore_trajectory_rows* @out);

  /// <summary>
  /// For reward prediction: rlcore_trajectory_process of all frames but the last, with discount and gae_lambda 1, and the
  /// class of the last frame's reward. The last frame's value is the bootstrap_value. The trajectory is not changed.
  /// out_class: [1] an rlcore_reward_class.
  /// Errors: as there; E_NOT_READY with fewer than 2 frames; E_RANGE for a threshold that is negative or not finite.
  /// </summary>
  /// <param name="t">in</param>
  /// <param name="out">in</param>
  /// <param name="out_class">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_trajectory_process_rp(rlcore_trajectory* t, float reward_threshold, rlcore_trajectory_rows* @out, uint* out_class);

  /// <summary>
  /// Classifies a reward: an rlcore_reward_class. A reward equal to a threshold is RLCORE_REWARD_ZERO.
  /// Errors: E_VALUE for a reward that is not finite; E_RANGE for a threshold that is negative or not finite.
  /// </summary>
  /// <param name="out_class">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_reward_class_of(float reward, float threshold, uint* out_class);

  // ---- Rollouts as safetensors files ----

  /// <summary>Bytes before the first array of a file: one page.</summary>
  public const int RLCORE_ROLLOUT_FILE_HEADER_SIZE = 4096;
  /// <summary>Size of the file in bytes. Errors: E_CONFIG for a length or kind.</summary>
  /// <param name="file">in</param>
  /// <param name="out_size">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_rollout_file_size(rlcore_rollout_file* file, UIntPtr* out_size);

  /// <summary>
  /// Writes a whole file. out: [out_size] bytes to write, at least rlcore_rollout_file_size(), of any alignment. The arrays
  /// are only read. final_index, final_obs and final_value may be NULL if K is 0, state if M is 0, metadata if metadata_len is
  /// 0, and those that are absent.
  /// Errors: those of rlcore_rollout_file_size; E_SIZE; E_CONFIG for metadata that is not as it must be; E_RANGE for a
  /// final_index that is not ascending or is not a valid step that ended; E_NOT_READY if a truncated step has none.
  /// </summary>
  /// <param name="file">in</param>
  /// <param name="arrays">in</param>
  /// <param name="out">out [out_size] optional</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_rollout_file_write(rlcore_rollout_file* file, rlcore_rollout_arrays* arrays, byte* @out, UIntPtr out_size);

  /// <summary>
  /// Checks every byte of a file and returns its shapes. bytes: [size], of any alignment; may be longer than the file.
  /// Errors: E_CONFIG for struct_size; E_SIZE for a truncated file; E_IMAGE for another format or schema, or altered bytes.
  /// </summary>
  /// <param name="bytes">in [size]</param>
  /// <param name="out">inout</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_rollout_file_check(byte* bytes, UIntPtr size, rlcore_rollout_file* @out);

  /// <summary>
  /// Checks a file as rlcore_rollout_file_check and copies its arrays. NULL skips an array; the others must have the shapes
  /// that the check returned. Those that are absent stay as they are.
  /// Errors: those of rlcore_rollout_file_check.
  /// </summary>
  /// <param name="bytes">in [size]</param>
  /// <param name="arrays">in</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_rollout_file_read(byte* bytes, UIntPtr size, rlcore_rollout_arrays* arrays);

  // ---- Queues between actors and a learner ----

  /// <summary>Fills in the defaults.</summary>
  /// <param name="config">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_queue_config_init(rlcore_queue_config* config, UIntPtr config_size);

  /// <summary>Size of the block for this configuration, in bytes.</summary>
  /// <param name="config">in</param>
  /// <param name="out_size">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_queue_size(rlcore_queue_config* config, UIntPtr* out_size);

  /// <summary>Creates an empty queue in mem. mem must remain valid until no process is in a call.</summary>
  /// <param name="mem">inout [mem_size]</param>
  /// <param name="config">in</param>
  /// <param name="out">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_queue_init(void* mem, UIntPtr mem_size, rlcore_queue_config* config, rlcore_queue** @out);

  /// <summary>
  /// Opens a queue that another process created in this memory, or a copy made while no process was in a call.
  /// Errors: E_SIZE if bytes are missing; E_IMAGE for another kind of block, version or byte order, or a damaged header.
  /// </summary>
  /// <param name="mem">inout [mem_size]</param>
  /// <param name="out">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_queue_attach(void* mem, UIntPtr mem_size, rlcore_queue** @out);

  /// <summary>
  /// Appends an item. item: [size] bytes, copied; size is 1 to item_size.
  /// Errors: E_RANGE for size; E_BUSY if the queue is full.
  /// </summary>
  /// <param name="q">inout</param>
  /// <param name="item">in [size]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_queue_push(rlcore_queue* q, void* item, UIntPtr size);

  /// <summary>
  /// Removes the oldest item. item: [room] bytes to write, as many as the item has; out_size: its size.
  /// Errors: E_NOT_READY if the queue is empty; E_SIZE if the item is larger than room: it stays in the queue.
  /// </summary>
  /// <param name="q">inout</param>
  /// <param name="item">out [room]</param>
  /// <param name="out_size">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_queue_pop(rlcore_queue* q, void* item, UIntPtr room, UIntPtr* out_size);

  /// <summary>Number of items in the queue at one moment.</summary>
  /// <param name="q">in</param>
  /// <param name="out_len">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_queue_len(rlcore_queue* q, uint* out_len);

  // ---- Advantages of rollouts with one done flag ----

  /// <summary>
  /// As rlcore_gae, for a rollout in the older form. Use rlcore_gae if episodes are truncated. Both outputs [T, N]; they must
  /// not overlap an input or each other.
  ///   live[t]      = 1 - done[t+1] (next_done at T-1)
  ///   delta[t]     = reward[t] + discount * live[t] * value[t+1] (next_value at T-1) - value[t]
  ///   advantage[t] = delta[t] + discount * gae_lambda * live[t] * (0 if t = T-1, else advantage[t+1])
  ///   value_target = advantage + value
  /// Errors: as rlcore_gae.
  /// </summary>
  /// <param name="rollout">in</param>
  /// <param name="advantage">out [T, N]</param>
  /// <param name="value_target">out [T, N]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_gae_shifted(rlcore_shifted_rollout* rollout, float discount, float gae_lambda, float* advantage, float* value_target);

  // ---- Transposes ----

  /// <summary>
  /// Swaps the first two dimensions of an array, e.g. from [N, T, ...] to [T, N, ...]: out[c][r] = x[r][c].
  /// kind: an rlcore_element; len: elements that stay together; x: [rows, columns, len]; out: [columns, rows, len].
  /// Errors: E_CONFIG for another kind; E_SHAPE if a count is 0.
  /// </summary>
  /// <param name="x">in [rows, columns, len]</param>
  /// <param name="out">out [columns, rows, len]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_transpose(uint kind, uint rows, uint columns, uint len, void* x, void* @out);

  // ---- V-trace ----

  /// <summary>
  /// Fills in the defaults: limits 1, td_lambda 1, leak 0, all pointers NULL. Writes v_size bytes, so that callers with an
  /// older, smaller struct are safe. Errors: E_SIZE.
  /// </summary>
  /// <param name="v">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_vtrace_init(rlcore_vtrace* v, UIntPtr v_size);

  /// <summary>
  /// V-trace from log-ratios. vs, pg_advantage: [T, N] to write; NULL skips one. pg_advantage may be the array of log_rho.
  ///   rho[t]  = exp(log_rho[t]), at most e^88
  ///   next[t] = final_value[t] where truncated, else value[t+1] (bootstrap_value at T-1)
  ///   d[t]    = reward[t] + discounts[t] * next[t] - value[t]
  ///   k[t]    = 0 where truncated and at T-1, else discounts[t] * td_lambda * acc[t+1]
  ///   acc[t]  = min(rho[t], clip_rho) * d[t] + min(rho[t], clip_c) * k[t]
  ///   vs      = value + acc
  ///   pg_advantage[t] = min(rho[t], clip_pg_rho) * (d[t] + k[t])
  /// With lambda 1, d + k is reward[t] + discounts[t] * vs[t+1] - value[t]. With a leak, each min is min + leak * (rho - min).
  /// Errors: E_NULL, also if a step is truncated and final_value is NULL; E_CONFIG for struct_size, accumulate or reserved;
  /// E_SHAPE if T or N is 0; E_RANGE for a discount, td_lambda or leak outside [0, 1] or a limit that is not above 0;
  /// E_VALUE for a parameter that is NaN or infinite, and for an input that is read and not finite.
  /// </summary>
  /// <param name="v">in</param>
  /// <param name="vs">out [T, N] optional</param>
  /// <param name="pg_advantage">out [T, N] optional</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_vtrace_from_importance_weights(rlcore_vtrace* v, float* vs, float* pg_advantage);

  /// <summary>
  /// As rlcore_vtrace_from_importance_weights for environments [begin, end). The arrays are those of the whole batch; only
  /// these columns are read and written. Results do not depend on the split.
  /// Threads: calls on disjoint ranges may run concurrently. Ranges that begin at multiples of 16 share no cache line of
  /// cache-aligned arrays.
  /// Errors: as there; E_RANGE unless begin &lt;= end &lt;= num_envs.
  /// </summary>
  /// <param name="v">in</param>
  /// <param name="vs">out [T, N] optional</param>
  /// <param name="pg_advantage">out [T, N] optional</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_vtrace_from_importance_weights_range(rlcore_vtrace* v, uint begin, uint end, float* vs, float* pg_advantage);

  /// <summary>
  /// V-trace from the logits of both policies. Log-probabilities are log-softmax, at least -1.7e38; log_rho is their
  /// difference; everything else is as rlcore_vtrace_from_importance_weights.
  /// Errors: as there; E_SHAPE if A is 0; E_RANGE for an action out of range; E_VALUE for a logit that is not finite.
  /// </summary>
  /// <param name="v">in</param>
  /// <param name="logits">in</param>
  /// <param name="out">in</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_vtrace_from_logits(rlcore_vtrace* v, rlcore_vtrace_logits* logits, rlcore_vtrace_out* @out);

  /// <summary>
  /// As rlcore_vtrace_from_logits for environments [begin, end); threads and errors as
  /// rlcore_vtrace_from_importance_weights_range.
  /// </summary>
  /// <param name="v">in</param>
  /// <param name="logits">in</param>
  /// <param name="out">in</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_vtrace_from_logits_range(rlcore_vtrace* v, rlcore_vtrace_logits* logits, uint begin, uint end, rlcore_vtrace_out* @out);

  // ---- Multi-step value targets ----

  /// <summary>
  /// Lambda returns: the n-step returns weighted with (1 - td_lambda) * td_lambda^(n-1), the last with the remaining weight.
  ///   value_target[t] = reward[t] + discount * ((1 - td_lambda) * next[t] + td_lambda * value_target[t+1])
  /// where value_target[t+1] is next[t] if step t ended an episode or was the last, and next is as in rlcore_gae.
  /// value_target: [T, N] to write; must not overlap an input.
  /// Errors: as rlcore_gae.
  /// </summary>
  /// <param name="rollout">in</param>
  /// <param name="value_target">out [T, N]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_lambda_returns(rlcore_rollout* rollout, float discount, float td_lambda, float* value_target);

  /// <summary>
  /// As rlcore_lambda_returns for environments [begin, end); ranges and threads as rlcore_gae_range.
  /// </summary>
  /// <param name="rollout">in</param>
  /// <param name="value_target">out [T, N]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_lambda_returns_range(rlcore_rollout* rollout, float discount, float td_lambda, uint begin, uint end, float* value_target);

  /// <summary>
  /// TD(lambda): lambda returns and TD errors. Both outputs [T, N]; they must not overlap an input or each other.
  ///   value_target = as rlcore_lambda_returns
  ///   td_error     = value_target - value, which is the advantage of rlcore_gae up to rounding
  /// Errors: as rlcore_gae.
  /// </summary>
  /// <param name="rollout">in</param>
  /// <param name="td_error">out [T, N]</param>
  /// <param name="value_target">out [T, N]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_td_lambda(rlcore_rollout* rollout, float discount, float td_lambda, float* td_error, float* value_target);

  /// <summary>As rlcore_td_lambda for environments [begin, end); ranges and threads as rlcore_gae_range.</summary>
  /// <param name="rollout">in</param>
  /// <param name="td_error">out [T, N]</param>
  /// <param name="value_target">out [T, N]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_td_lambda_range(rlcore_rollout* rollout, float discount, float td_lambda, uint begin, uint end, float* td_error, float* value_target);

  /// <summary>
  /// n-step returns: discounted rewards of up to n steps, fewer if the episode or the rollout ends before, plus the
  /// discounted value of the state reached. n &gt;= T gives full returns; run time grows with n up to T.
  ///   value_target[t] = reward[t] + discount * (reward[t+1] + ... discount * (reward[t+k-1] + discount * next[t+k-1]))
  /// next is as in rlcore_gae. value_target: [T, N] to write; must not overlap an input.
  /// Errors: as rlcore_gae; E_RANGE if n is 0.
  /// </summary>
  /// <param name="rollout">in</param>
  /// <param name="value_target">out [T, N]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_n_step_returns(rlcore_rollout* rollout, float discount, uint n, float* value_target);

  /// <summary>
  /// As rlcore_n_step_returns for environments [begin, end); ranges and threads as rlcore_gae_range.
  /// </summary>
  /// <param name="rollout">in</param>
  /// <param name="value_target">out [T, N]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_n_step_returns_range(rlcore_rollout* rollout, float discount, uint n, uint begin, uint end, float* value_target);

  /// <summary>
  /// UPGO (upgoing policy update): returns that follow the trajectory while its actions are at least as good as expected, and
  /// their advantages. Both outputs [T, N]; they must not overlap an input or each other.
  ///   value_target[t] = reward[t] + discount * (value_target[t+1] if reward[t+1] + discount * next[t+1] &gt;= value[t+1],
  ///                                             else value[t+1])
  ///   advantage       = value_target - value
  /// where step t ended an episode or was the last: reward[t] + discount * next[t], with next as in rlcore_gae.
  /// Errors: as rlcore_gae.
  /// </summary>
  /// <param name="rollout">in</param>
  /// <param name="advantage">out [T, N]</param>
  /// <param name="value_target">out [T, N]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_upgo(rlcore_rollout* rollout, float discount, float* advantage, float* value_target);

  /// <summary>As rlcore_upgo for environments [begin, end); ranges and threads as rlcore_gae_range.</summary>
  /// <param name="rollout">in</param>
  /// <param name="advantage">out [T, N]</param>
  /// <param name="value_target">out [T, N]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_upgo_range(rlcore_rollout* rollout, float discount, uint begin, uint end, float* advantage, float* value_target);

  /// <summary>
  /// Retrace(lambda): off-policy targets for action values, and their errors.
  ///   q_target[t] = reward[t] + discount * (next[t] + c[t+1] * (q_target[t+1] - q[t+1]))
  ///   c           = td_lambda * min(1, exp(log_rho))
  ///   td_error    = q_target - q
  /// where step t ended an episode or was the last: reward[t] + discount * next[t], with next as in rlcore_gae.
  /// rollout: its values are expected action values under the target policy. Both outputs [T, N]; they must not overlap
  ///          an input or each other.
  /// Errors: as rlcore_gae.
  /// </summary>
  /// <param name="rollout">in</param>
  /// <param name="off_policy">in</param>
  /// <param name="td_error">out [T, N]</param>
  /// <param name="q_target">out [T, N]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_retrace(rlcore_rollout* rollout, rlcore_off_policy* off_policy, float* td_error, float* q_target);

  /// <summary>As rlcore_retrace for environments [begin, end); ranges and threads as rlcore_gae_range.</summary>
  /// <param name="rollout">in</param>
  /// <param name="off_policy">in</param>
  /// <param name="td_error">out [T, N]</param>
  /// <param name="q_target">out [T, N]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_retrace_range(rlcore_rollout* rollout, rlcore_off_policy* off_policy, uint begin, uint end, float* td_error, float* q_target);

  // ---- Categorical policies ----

  /// <summary>
  /// Log-probability of every option, -inf where forbidden. out: [B, L] to write.
  /// Errors, here and below: E_CONFIG; E_SHAPE if a count is 0; E_RANGE for an n; E_VALUE for a number that is not finite, or
  /// a choice without an allowed option.
  /// </summary>
  /// <param name="batch">in</param>
  /// <param name="out">out [B, L]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_categorical_log_softmax(rlcore_logits* batch, float* @out);

  /// <summary>
  /// Log-probability of each row's actions. action: [B, K]; log_prob: [B] to write.
  /// E_RANGE for an action that is out of range or forbidden.
  /// </summary>
  /// <param name="batch">in</param>
  /// <param name="action">in [B, K]</param>
  /// <param name="log_prob">out [B]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_categorical_log_prob(rlcore_logits* batch, int* action, float* log_prob);

  /// <summary>Entropy of each row in nats. entropy: [B] to write.</summary>
  /// <param name="batch">in</param>
  /// <param name="entropy">out [B]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_categorical_entropy(rlcore_logits* batch, float* entropy);

  /// <summary>
  /// Draws actions: the first option whose cumulative probability exceeds the uniform number.
  /// uniform: [B, K] from 0 to 1; may be NULL with RLCORE_SAMPLING_GREEDY. action: [B, K] to write.
  /// E_CONFIG or E_RANGE for sampling.
  /// </summary>
  /// <param name="batch">in</param>
  /// <param name="sampling">in</param>
  /// <param name="uniform">in [B, K] optional</param>
  /// <param name="action">out [B, K]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_categorical_sample(rlcore_logits* batch, rlcore_sampling* sampling, float* uniform, int* action);

  // ---- Gaussian policies ----

  /// <summary>
  /// Log-density of each row's action. action: [B, A], before squashing; log_prob: [B] to write.
  /// Errors, here and below: E_CONFIG; E_SHAPE if a count is 0; E_RANGE for a log_std; E_VALUE for a number that is not
  /// finite.
  /// </summary>
  /// <param name="batch">in</param>
  /// <param name="action">in [B, A]</param>
  /// <param name="log_prob">out [B]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_gaussian_log_prob(rlcore_gaussian* batch, float* action, float* log_prob);

  /// <summary>Entropy in nats, the same for all rows. log_std: [action_len]; out: [1] to write.</summary>
  /// <param name="log_std">in [action_len]</param>
  /// <param name="out">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_gaussian_entropy(float* log_std, uint action_len, float* @out);

  /// <summary>mean + exp(log_std) * normal. normal: [B, A] standard normal draws; action: [B, A] to write.</summary>
  /// <param name="batch">in</param>
  /// <param name="normal">in [B, A]</param>
  /// <param name="action">out [B, A]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_gaussian_sample(rlcore_gaussian* batch, float* normal, float* action);

  /// <summary>Elementwise tanh, to squash actions. action: [len]; squashed: [len] to write.</summary>
  /// <param name="action">in [len]</param>
  /// <param name="squashed">out [len]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_gaussian_squash(float* action, UIntPtr len, float* squashed);

  /// <summary>
  /// Converts log-densities to those of the squashed actions: subtracts the sum over the row of ln(1 - tanh(action)^2).
  /// action: [num_rows, action_len], before squashing; log_prob: [num_rows] to change.
  /// </summary>
  /// <param name="action">in [num_rows, action_len]</param>
  /// <param name="log_prob">inout [num_rows]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_gaussian_squash_log_prob(float* action, uint num_rows, uint action_len, float* log_prob);

  // ---- Losses of networks of your own ----

  /// <summary>
  /// Loss of an actor and a critic, and its gradient by log_prob and by value. d_log_prob, d_value: [B] to write;
  /// losses: [1] to write.
  ///   loss = -mean(log_prob * advantage) + value_coef * mean((value - value_target)^2) / 2
  /// An entropy bonus is the host's: its gradient by the entropy of each row is -entropy_coef / B.
  /// rlcore_categorical_gradient and rlcore_gaussian_gradient take both further, to the outputs of a network.
  /// Errors, here and below: E_CONFIG; E_SHAPE if a count is 0; E_RANGE for a number below 0; E_VALUE for one that is not
  /// finite. Outputs are untouched on error.
  /// </summary>
  /// <param name="batch">in</param>
  /// <param name="d_log_prob">out [B]</param>
  /// <param name="d_value">out [B]</param>
  /// <param name="losses">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_actor_critic_loss(rlcore_loss_batch* batch, float* d_log_prob, float* d_value, rlcore_losses* losses);

  /// <summary>
  /// As rlcore_actor_critic_loss, with PPO's clipped surrogate. ratio = exp(log_prob - old_log_prob).
  ///   loss = -mean(min(ratio * advantage, clip(ratio) * advantage)) + value_coef * mean(error^2) / 2
  /// With value_clip, the larger of the squared errors of the value and of the clipped value counts.
  /// </summary>
  /// <param name="batch">in</param>
  /// <param name="d_log_prob">out [B]</param>
  /// <param name="d_value">out [B]</param>
  /// <param name="losses">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_ppo_loss(rlcore_loss_batch* batch, float* d_log_prob, float* d_value, rlcore_losses* losses);

  /// <summary>
  /// Mean squared error of values, and its gradient. value, value_target: [len]; d_value: [len] to write; loss: [1] to write.
  /// E_SHAPE if len is 0; E_VALUE.
  /// </summary>
  /// <param name="value">in [len]</param>
  /// <param name="value_target">in [len]</param>
  /// <param name="d_value">out [len]</param>
  /// <param name="loss">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_value_loss(float* value, float* value_target, UIntPtr len, float* d_value, float* loss);

  /// <summary>
  /// Mean cross-entropy of the classes of rewards (rlcore_reward_class_of), and its gradient. logits: [num_rows, 3];
  /// reward_class: [num_rows] each from 0 to 2; d_logits: [num_rows, 3] to write; loss: [1] to write.
  /// E_SHAPE if num_rows is 0; E_RANGE for a class; E_VALUE.
  /// </summary>
  /// <param name="logits">in [num_rows, 3]</param>
  /// <param name="reward_class">in [num_rows]</param>
  /// <param name="d_logits">out [num_rows, 3]</param>
  /// <param name="loss">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_reward_class_loss(float* logits, int* reward_class, uint num_rows, float* d_logits, float* loss);

  /// <summary>
  /// Loss of pixel control, and its gradient: the squared error of the value q of a row's action for each cell, summed over
  /// cells and averaged over rows.
  ///   q[b][c] = value[b][c] + advantage[b][c][action[b]] - mean of advantage[b][c]
  /// d_advantage: [B, C, A] to write; d_value: [B, C] to write, or NULL if
  /// value is, which ignores it; loss: [1] to write. E_CONFIG; E_SHAPE if a count is 0; E_RANGE for an action; E_VALUE.
  /// </summary>
  /// <param name="batch">in</param>
  /// <param name="d_advantage">out [B, C, A]</param>
  /// <param name="d_value">out [B, C] optional</param>
  /// <param name="loss">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_pixel_control_loss(rlcore_pixel_control* batch, float* d_advantage, float* d_value, float* loss);

  /// <summary>
  /// Gradient by logits of a loss whose gradients by the log-probability and by the entropy of each row are given.
  /// action: [B, K]; d_log_prob, d_entropy: [B]; d_logits: [B, L] to write.
  /// E_RANGE for an action that is out of range or forbidden.
  /// </summary>
  /// <param name="batch">in</param>
  /// <param name="action">in [B, K]</param>
  /// <param name="d_log_prob">in [B]</param>
  /// <param name="d_entropy">in [B]</param>
  /// <param name="d_logits">out [B, L]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_categorical_gradient(rlcore_logits* batch, int* action, float* d_log_prob, float* d_entropy, float* d_logits);

  /// <summary>
  /// Gradient by means and logarithms of standard deviations of a loss whose gradients by the log-density and by the entropy
  /// of each row are given; also where actions are squashed. action: [B, A], before squashing; d_log_prob, d_entropy: [B];
  /// d_mean: [B, A] to write; d_log_std: [A] to write.
  /// </summary>
  /// <param name="batch">in</param>
  /// <param name="action">in [B, A]</param>
  /// <param name="d_log_prob">in [B]</param>
  /// <param name="d_entropy">in [B]</param>
  /// <param name="d_mean">out [B, A]</param>
  /// <param name="d_log_std">out [A]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_gaussian_gradient(rlcore_gaussian* batch, float* action, float* d_log_prob, float* d_entropy, float* d_mean, float* d_log_std);

  // ---- Losses of autoencoders ----

  /// <summary>
  /// Loss of a reconstruction, summed over a row and averaged over rows, and its gradient. A mean over the elements of
  /// a row is this divided by row_len.
  /// d_out: [B, row_len] to write.
  /// loss:  [1] to write.
  /// Errors: E_CONFIG; E_SHAPE if a count is 0; E_RANGE for a target outside [0, 1] with RLCORE_RECONSTRUCTION_BINARY;
  /// E_VALUE. Outputs are untouched on error.
  /// </summary>
  /// <param name="batch">in</param>
  /// <param name="d_out">out [B, row_len]</param>
  /// <param name="loss">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_reconstruction_loss(rlcore_reconstruction* batch, float* d_out, float* loss);

  /// <summary>
  /// Draws the codes: z = mean + exp(log_std) * normal.
  /// z: [B, L] to write.
  /// Errors, here and below: E_CONFIG; E_SHAPE if a count is 0; E_RANGE for a log_std, and for kl_coef below 0; E_VALUE
  /// for a number that is not finite. Outputs are untouched on error.
  /// </summary>
  /// <param name="batch">in</param>
  /// <param name="z">out [B, L]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_latent_sample(rlcore_latent* batch, float* z);

  /// <summary>
  /// Gradients of the loss of the codes plus kl_coef times their KL divergence from the standard normal distribution,
  /// which is summed over a row and averaged over rows.
  ///   kl        = mean over rows of sum((mean^2 + std^2 - 1) / 2 - log_std)
  ///   d_mean    = d_z + kl_coef / B * mean
  ///   d_log_std = d_z * std * normal + kl_coef / B * (std^2 - 1)
  /// d_z:               [B, L] gradient of the loss by the codes, as rlcore_network_backward of the decoder gives it.
  /// d_mean, d_log_std: [B, L] to write.
  /// kl:                [1] to write, without kl_coef.
  /// </summary>
  /// <param name="batch">in optional</param>
  /// <param name="d_z">in [B, L]</param>
  /// <param name="d_mean">out [B, L]</param>
  /// <param name="d_log_std">out [B, L]</param>
  /// <param name="kl">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_latent_loss(rlcore_latent* batch, float* d_z, float* d_mean, float* d_log_std, float* kl);

  // ---- Initial weights and optimizers of networks of your own ----

  /// <summary>
  /// Floats of scratch that rlcore_weights_draw needs: those of a matrix with orthogonal columns, else none.
  /// Errors, here and below: E_CONFIG; E_SHAPE without inputs or outputs; E_VALUE for a gain that is not finite.
  /// </summary>
  /// <param name="weights">in</param>
  /// <param name="out_len">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_weights_scratch_len(rlcore_weights* weights, UIntPtr* out_len);

  /// <summary>
  /// Draws the initial weights of a layer, as learners draw those of theirs. Biases start at 0.
  /// scratch: [scratch_len] to write, at least rlcore_weights_scratch_len(); NULL if that is 0.
  /// out:     [num_outputs, num_inputs] to write, or [num_inputs, num_outputs] with inputs_first.
  /// Errors: E_SIZE of scratch.
  /// </summary>
  /// <param name="weights">in</param>
  /// <param name="rng">inout</param>
  /// <param name="scratch">out [scratch_len] optional</param>
  /// <param name="out">out [num_outputs, num_inputs]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_weights_draw(rlcore_weights* weights, rlcore_rng* rng, float* scratch, UIntPtr scratch_len, float* @out);

  /// <summary>
  /// Fills in the defaults of an optimizer.
  /// optimizer: an rlcore_optimizer.
  /// Errors: E_RANGE for another optimizer.
  /// </summary>
  /// <param name="config">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_optimizer_config_init(rlcore_optimizer_config* config, UIntPtr config_size, uint optimizer);

  /// <summary>
  /// Starts an optimizer: no steps, first moments of 0, second moments of 0, of RMSProp as TensorFlow has it 1.
  /// state: its arrays are written.
  /// Errors: E_CONFIG; E_SHAPE if P is 0.
  /// </summary>
  /// <param name="config">in</param>
  /// <param name="state">in</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_optimizer_start(rlcore_optimizer_config* config, rlcore_optimizer_state* state);

  /// <summary>
  /// Takes a step: clips the norm of the gradients, then moves parameters and moments, bit for bit as a learner does. With
  /// 0.9, 0.999, epsilon 1e-5 and maximize this is the optimizer that make_optimizer of src.ppo makes.
  /// learning_rate: step size, as of rlcore_schedule_linear.
  /// state:         its arrays change.
  /// params, grads: [num_params] to change, and to read.
  /// out_norm:      [1] norm of the gradients before they are clipped; may be NULL.
  /// Errors: E_CONFIG; E_SHAPE if P is 0; E_VALUE for a learning rate, gradients or second moments that are not finite, and
  /// for a step after which a parameter would not be.
  /// </summary>
  /// <param name="config">in</param>
  /// <param name="state">in</param>
  /// <param name="params">inout [num_params]</param>
  /// <param name="grads">in [num_params]</param>
  /// <param name="out_norm">out optional</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_optimizer_step(rlcore_optimizer_config* config, float learning_rate, rlcore_optimizer_state* state, float* @params, float* grads, float* out_norm);

  /// <summary>
  /// Scales gradients by max_norm / (norm + 1e-6) if their Euclidean norm is larger, as PyTorch's clip_grad_norm_.
  /// grads:    [len] to change.
  /// max_norm: at least 0; 0: they stay as they are.
  /// out_norm: [1] norm before; may be NULL.
  /// Errors: E_CONFIG for max_norm; E_VALUE for gradients that are not finite.
  /// </summary>
  /// <param name="grads">inout [len]</param>
  /// <param name="out_norm">out optional</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_clip_grad_norm(float* grads, UIntPtr len, float max_norm, float* out_norm);

  /// <summary>
  /// A rate that changes on a straight line: initial before any update, end after num_updates of them.
  /// updates: done so far, at most num_updates.
  /// out:     [1] to write.
  /// Errors: E_RANGE for more updates; E_VALUE for an initial or an end that is not finite.
  /// </summary>
  /// <param name="out">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_schedule_linear(float initial, float end, ulong num_updates, ulong updates, float* @out);

  // ---- Means and variances ----

  /// <summary>
  /// Initializes moments: mean 0, variance 1. mean, variance: [num_columns] to write; count: [1] to write,
  /// initial_count, usually 1e-4, so that the first rows outweigh the initial values.
  /// Errors: E_SHAPE if num_columns is 0; E_VALUE, E_RANGE unless initial_count is 0 to 1.
  /// </summary>
  /// <param name="mean">out [num_columns]</param>
  /// <param name="variance">out [num_columns]</param>
  /// <param name="count">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_moments_reset(uint num_columns, double initial_count, double* mean, double* variance, double* count);

  /// <summary>
  /// Merges the columns of x into running moments by Chan's formula, in a fixed order.
  /// x: [num_rows, num_columns]; mean, variance: [num_columns] to change; count: [1] number of rows merged, to change.
  /// Errors, here and below: E_SHAPE if a count is 0; E_VALUE for a number that is not finite, or if the variance plus the
  /// square of the mean exceeds 1e120, which no float data does; E_RANGE for a variance below 0, or a count that is not
  /// from 0 to 2^64.
  /// </summary>
  /// <param name="x">in [num_rows, num_columns]</param>
  /// <param name="mean">inout [num_columns]</param>
  /// <param name="variance">inout [num_columns]</param>
  /// <param name="count">inout</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_moments_update(float* x, uint num_rows, uint num_columns, double* mean, double* variance, double* count);

  /// <summary>
  /// Merges other moments, e.g. of a batch or another worker, by the same formula, including their initial count.
  /// with_mean, with_var: [num_columns] moments of with_count rows; mean, variance: [num_columns] to change;
  /// count: [1] to change, as for rlcore_moments_update.
  /// Errors: as there; E_RANGE if both counts are 0.
  /// </summary>
  /// <param name="with_mean">in [num_columns]</param>
  /// <param name="with_var">in [num_columns]</param>
  /// <param name="mean">inout [num_columns]</param>
  /// <param name="variance">inout [num_columns]</param>
  /// <param name="count">inout</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_moments_merge(uint num_columns, double* with_mean, double* with_var, double with_count, double* mean, double* variance, double* count);

  /// <summary>
  /// Writes (x - mean) / sqrt(variance + epsilon), clipped to [-clip, clip].
  /// x, out: [num_rows, num_columns]; may be the same array.
  /// Errors: as above; E_CONFIG; E_RANGE for a clip that is not above 0, a variance below 0, or an epsilon that is not
  /// from 1e-30 to 1e30.
  /// </summary>
  /// <param name="normalizer">in</param>
  /// <param name="x">in [num_rows, num_columns]</param>
  /// <param name="out">out [num_rows, num_columns]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_normalize(rlcore_normalizer* normalizer, float* x, uint num_rows, float* @out);

  /// <summary>
  /// Scales x to mean 0 and standard deviation 1: (x - mean) / (std + epsilon), std with n - 1. x: [len] to change; unchanged
  /// if len &lt; 2. E_RANGE for epsilon.
  /// </summary>
  /// <param name="x">inout [len]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_standardize(float* x, UIntPtr len, double epsilon);

  /// <summary>
  /// Explained variance, 1 - var(target - value) / var(target): 1 for perfect values, 0 if no better than a constant or if
  /// the target is constant. value, target: [len]; out: [1] to write.
  /// </summary>
  /// <param name="value">in [len]</param>
  /// <param name="target">in [len]</param>
  /// <param name="out">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_explained_variance(float* value, float* target, UIntPtr len, double* @out);

  // ---- Images ----

  /// <summary>
  /// Converts to gray as OpenCV's RGB2GRAY: 0.299 R + 0.587 G + 0.114 B in 15-bit fixed point, rounded.
  /// rgb: [num_pixels, 3]; out: [num_pixels] to write.
  /// </summary>
  /// <param name="rgb">in [num_pixels, 3]</param>
  /// <param name="out">out [num_pixels]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_image_gray(byte* rgb, UIntPtr num_pixels, byte* @out);

  /// <summary>
  /// Floats of scratch that rlcore_image_area and rlcore_image_warp need for these sizes: 0 for Atari screens, 210 by 160 to
  /// 84 by 84 gray. Errors: E_CONFIG for a dimension of 0, more than 4 channels, an output larger than the source on either
  /// axis, or different channels, except 3 to 1.
  /// </summary>
  /// <param name="from_size">in</param>
  /// <param name="to_size">in</param>
  /// <param name="out_len">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_image_scratch_len(rlcore_image_size* from_size, rlcore_image_size* to_size, UIntPtr* out_len);

  /// <summary>
  /// Downscales an image by area means, bit-identical to OpenCV's INTER_AREA. Channels must be equal.
  /// src:     from_size's [height, width, channels].
  /// out:     to_size's [height, width, channels] to write.
  /// scratch: [scratch_len] at least rlcore_image_scratch_len(); may be NULL if that is 0.
  /// Errors: those of rlcore_image_scratch_len; E_SIZE for scratch_len.
  /// </summary>
  /// <param name="from_size">in</param>
  /// <param name="src">in [height, width, channels]</param>
  /// <param name="to_size">in</param>
  /// <param name="out">out [height, width, channels]</param>
  /// <param name="scratch">out [scratch_len] optional</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_image_area(rlcore_image_size* from_size, byte* src, rlcore_image_size* to_size, byte* @out, float* scratch, UIntPtr scratch_len);

  /// <summary>
  /// Atari preprocessing in one pass: the elementwise maximum of two images (b may be NULL: a only), then gray if from_size
  /// has 3 channels and to_size 1, then rlcore_image_area. The result equals that of the three separate steps.
  /// a, b: from_size's [height, width, channels]; may be the same array. The rest, and errors, as rlcore_image_area.
  /// </summary>
  /// <param name="from_size">in</param>
  /// <param name="a">in [height, width, channels]</param>
  /// <param name="b">in [height, width, channels]</param>
  /// <param name="to_size">in</param>
  /// <param name="out">out [height, width, channels]</param>
  /// <param name="scratch">out [scratch_len] optional</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_image_warp(rlcore_image_size* from_size, byte* a, byte* b, rlcore_image_size* to_size, byte* @out, float* scratch, UIntPtr scratch_len);

  /// <summary>
  /// Converts an Atari screen to 42 by 42 as A3C code does: rows 34 to 193, halved, resized with OpenCV's fixed-point
  /// bilinear filter, channels averaged, times the float nearest 1/255. rgb: [210, 160, 3]; out: [42, 42] to write.
  /// </summary>
  /// <param name="rgb">in [210, 160, 3]</param>
  /// <param name="out">out [42, 42]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_image_rescale42(byte* rgb, float* @out);

  /// <summary>
  /// Converts bytes to floats in [0, 1]: x / 255, rounded once. x: [len]; out: [len] to write. Errors: as above.
  /// </summary>
  /// <param name="x">in [len]</param>
  /// <param name="out">out [len]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_image_scale(byte* x, UIntPtr len, float* @out);

  /// <summary>
  /// Moves channels first. x: [height, width, channels]; out: [channels, height, width] to write.
  /// Errors: E_CONFIG for a dimension of 0.
  /// </summary>
  /// <param name="size">in</param>
  /// <param name="x">in [height, width, channels]</param>
  /// <param name="out">out [channels, height, width]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_image_channels_first(rlcore_image_size* size, byte* x, byte* @out);

  /// <summary>
  /// Rows and columns of a tiling of num_images images: the smallest square that holds them, without its empty columns.
  /// Errors: E_RANGE if num_images is 0.
  /// </summary>
  /// <param name="out_rows">out</param>
  /// <param name="out_columns">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_image_tile_shape(uint num_images, uint* out_rows, uint* out_columns);

  /// <summary>
  /// Tiles images into one, for display. images: [num_images, height, width, channels]; out: [rows * height,
  /// columns * width, channels] to write, with rows and columns from rlcore_image_tile_shape: image i is in row i / columns,
  /// column i % columns; empty tiles are zeros. Errors: as rlcore_image_channels_first; E_RANGE if num_images is 0.
  /// </summary>
  /// <param name="size">in</param>
  /// <param name="images">in [num_images, height, width, channels]</param>
  /// <param name="out">out [rows * height, columns * width, channels]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_image_tile(uint num_images, rlcore_image_size* size, byte* images, byte* @out);

  /// <summary>
  /// Size of the text that rlcore_image_text writes, in bytes.
  /// Errors: E_CONFIG unless channels is 1 or 3.
  /// </summary>
  /// <param name="size">in</param>
  /// <param name="out_size">out</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_image_text_size(rlcore_image_size* size, UIntPtr* out_size);

  /// <summary>
  /// Renders a gray or RGB image for a terminal: lines of Braille in UTF-8, one character for 2 columns of 4 rows, a dot where
  /// a pixel differs from the top left one.
  /// picture: [height, width, channels].
  /// out:     [rlcore_image_text_size()] to write, not NUL-terminated.
  /// Errors: as rlcore_image_text_size.
  /// </summary>
  /// <param name="size">in</param>
  /// <param name="picture">in [height, width, channels]</param>
  /// <param name="out">out [rlcore_image_text_size()]</param>
  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
  public static extern Status rlcore_image_text(rlcore_image_size* size, byte* picture, byte* @out);
}

}
