// rlcore for C#: the structures and calls that stepping environments and training with PPO need, spelled as in rlcore.h; the
// fields of structures are written together with that header. Works as it stands in Unity (allow unsafe code; put librlcore.so
// under Assets/Plugins), Mono and .NET. Program.cs compares every structure with the layouts in C, by
// tests/system/abi/layout.py.
using System;
using System.Runtime.InteropServices;

namespace Rlcore {

// Values of rlcore_status, rlcore_env_id and rlcore_learner_due.
public enum Status { Ok = 0 }
public enum EnvId : uint { CartPole = 1, MountainCar = 2, MountainCarContinuous = 3, Acrobot = 4, Pendulum = 5, Probe1 = 101 }
public enum Due : uint { Act = 0, Observe = 1, Learn = 2 }
public enum Element : uint { F32 = 0, I32 = 1, U8 = 2 }

[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_rng {
  public fixed ulong state[2];
  public fixed ulong stream[2];
  public uint half;
  public uint has_half;
}

[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_space {
  public uint kind;
  public uint len;
  public float* low;
  public float* high;
  public uint* n;
}

[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_step {
  public float reward;
  public byte terminated;
  public byte truncated;
  public fixed byte reserved[2];
}

// Callbacks of an environment of one's own. Keep the delegates alive as long as the table is used; in Unity's IL2CPP they have
// to be static methods with [AOT.MonoPInvokeCallback].
[UnmanagedFunctionPointer(CallingConvention.Cdecl)]
public unsafe delegate int rlcore_env_reset_fn(void* user, uint row, void* state, rlcore_rng* rng, void* obs);
[UnmanagedFunctionPointer(CallingConvention.Cdecl)]
public unsafe delegate int rlcore_env_step_fn(void* user, uint row, void* state, rlcore_rng* rng, void* action, void* obs, rlcore_step* result);

[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_env_def {
  public uint struct_size;
  public uint env_id;
  public uint state_size;
  public uint max_episode_steps;
  public rlcore_space obs;
  public rlcore_space action;
  public void* user;
  public IntPtr reset;
  public IntPtr step;
  public IntPtr render;
  public IntPtr lives;
  public IntPtr action_mask;
  public IntPtr restart;
  public IntPtr fields;
  public uint num_fields;
  public uint num_wrappers;
  public IntPtr wrappers;
  public IntPtr reset_with;
}

[StructLayout(LayoutKind.Sequential)]
public struct rlcore_vecenv_config {
  public uint struct_size;
  public uint num_envs;
  public ulong seed;
  public uint autoreset;
  public uint max_episode_steps;
}

[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_rows {
  public uint struct_size;
  public uint reserved;
  public byte* active;
  public void* obs;
  public byte* action_mask;
  public void* action;
  public float* reward;
  public byte* terminated;
  public byte* truncated;
  public byte* valid;
  public void* final_obs;
  public byte* final_action_mask;
  public float* duration;
}

[StructLayout(LayoutKind.Sequential)]
public struct rlcore_sampling {
  public uint method;
  public uint k;
  public float temperature;
  public uint reserved;
}

[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_learner_config {
  public uint struct_size;
  public uint reserved;
  public ulong seed;
  public ulong total_steps;
  public uint algorithm;
  public uint num_envs;
  public float discount;
  public uint use_duration;
  public float reward_min;
  public float reward_max;
  public float learning_rate;
  public float learning_rate_end;
  public uint use_action_mask;
  public uint num_chunks;
  public uint overlap;
  public uint num_hidden;
  public fixed uint hidden_len[4];
  public uint activation;
  public uint hidden_norm;
  public uint num_layers;
  public fixed uint obs_dims[3];
  public uint num_stacked;
  public uint num_shared;
  public uint policy_layer;
  public uint noisy;
  public uint squash;
  public float log_std_init;
  public float log_std_min;
  public float log_std_max;
  public uint normalize_obs;
  public float obs_clip;
  public uint normalize_reward;
  public float reward_clip;
  public uint exploration_steps;
  public float exploration_start;
  public float exploration_end;
  public uint optimizer;
  public float max_grad_norm;
  public float adam_beta1;
  public float adam_beta2;
  public float adam_epsilon;
  public float rms_decay;
  public float rms_momentum;
  public uint sum_losses;
  public uint num_steps;
  public uint num_minibatches;
  public uint num_epochs;
  public uint sequence_len;
  public uint burn_in;
  public float gae_lambda;
  public uint accumulate;
  public uint normalize_advantage;
  public float value_coef;
  public float value_clip;
  public float entropy_coef;
  public float entropy_share_end;
  public float target_kl;
  public float clip;
  public float clip_end;
  public uint prime_interval;
  public float clip_rho;
  public float clip_c;
  public float clip_pg_rho;
  public float leak;
  public float pixel_control_coef;
  public float reward_class_coef;
  public float value_replay_coef;
  public float policy_replay_coef;
  public float pixel_control_discount;
  public uint pixel_cell;
  public uint pixel_mean;
  public uint reward_sequence_len;
  public float reward_threshold;
  public uint history_len;
  public uint history_starts;
  public uint num_replayed;
  public float kappa_policy;
  public float kappa_value;
  public uint demonstration_size;
  public float demonstration_share;
  public float imitation_coef;
  public float imitation_coef_end;
  public float imitation_margin;
  public uint imitation_fit_std;
  public uint buffer_size;
  public uint batch_size;
  public uint learning_starts;
  public uint train_interval;
  public uint gradient_steps;
  public uint target_interval;
  public float target_rate;
  public uint n_step;
  public uint huber;
  public float priority_exponent;
  public float priority_max_share;
  public float importance_exponent;
  public uint importance_steps;
  public uint num_quantiles;
  public uint double_q;
  public uint dueling;
  public uint num_atoms;
  public float value_min;
  public float value_max;
  public uint num_critics;
  public float critic_rate;
  public uint policy_interval;
  public float exploration_noise;
  public float target_noise;
  public float target_noise_clip;
  public float temperature;
  public float temperature_rate;
  public float target_entropy;
  public uint dropped_quantiles;
  public IntPtr layers;
  public IntPtr obs_fields;
  public IntPtr action_fields;
  public uint num_obs_fields;
  public uint num_action_fields;
}

[StructLayout(LayoutKind.Sequential)]
public struct rlcore_learner_stats {
  public uint struct_size;
  public uint minibatches_left;
  public ulong num_steps;
  public ulong num_updates;
  public ulong num_episodes;
  public float learning_rate;
  public float policy_loss;
  public float value_loss;
  public float entropy;
  public float approx_kl;
  public float clip_fraction;
  public float explained_variance;
  public float grad_norm;
  public float value_mean;
  public float return_mean;
  public float length_mean;
  public float return_last;
  public ulong num_dropped;
  public float pixel_control_loss;
  public float reward_class_loss;
  public float value_replay_loss;
  public float policy_replay_loss;
  public float return_std;
  public float return_min;
  public float return_max;
  public float temperature;
  public float exploration_rate;
  public float log_std_mean;
  public ulong num_stored;
}

public static unsafe class Native {
  const string Lib = "rlcore";
  const CallingConvention C = CallingConvention.Cdecl;

  [DllImport(Lib, CallingConvention = C)] public static extern uint rlcore_abi_version();
  [DllImport(Lib, CallingConvention = C)] public static extern int rlcore_last_error(byte* text, UIntPtr text_size);
  [DllImport(Lib, CallingConvention = C)] public static extern int rlcore_hash(void* bytes, UIntPtr size, ulong* hash);

  [DllImport(Lib, CallingConvention = C)] public static extern int rlcore_env_builtin(void* mem, UIntPtr mem_size, uint env_id, void** env);
  [DllImport(Lib, CallingConvention = C)] public static extern int rlcore_env_size(rlcore_env_def* definition, UIntPtr* size);
  [DllImport(Lib, CallingConvention = C)] public static extern int rlcore_env_init(void* mem, UIntPtr mem_size, rlcore_env_def* definition, void** env);
  [DllImport(Lib, CallingConvention = C)] public static extern int rlcore_env_spaces(void* env, rlcore_space* obs, rlcore_space* action);
  [DllImport(Lib, CallingConvention = C)] public static extern int rlcore_vecenv_config_init(rlcore_vecenv_config* config, UIntPtr size);
  [DllImport(Lib, CallingConvention = C)] public static extern int rlcore_vecenv_size(void* env, rlcore_vecenv_config* config, UIntPtr* size);
  [DllImport(Lib, CallingConvention = C)] public static extern int rlcore_vecenv_init(void* mem, UIntPtr mem_size, void* env, rlcore_vecenv_config* config, void** envs);
  [DllImport(Lib, CallingConvention = C)] public static extern int rlcore_vecenv_attach(void* mem, UIntPtr mem_size, void* env, void** envs);
  [DllImport(Lib, CallingConvention = C)] public static extern int rlcore_vecenv_reset(void* envs, void* env, ulong* seed, void* obs);
  [DllImport(Lib, CallingConvention = C)] public static extern int rlcore_vecenv_step(void* envs, void* env, rlcore_rows* rows);

  [DllImport(Lib, CallingConvention = C)] public static extern int rlcore_learner_config_init(rlcore_learner_config* config, UIntPtr size, uint algorithm);
  [DllImport(Lib, CallingConvention = C)] public static extern int rlcore_learner_size(rlcore_learner_config* config, rlcore_space* obs, rlcore_space* action, UIntPtr* size);
  [DllImport(Lib, CallingConvention = C)] public static extern int rlcore_learner_init(void* mem, UIntPtr mem_size, rlcore_learner_config* config, rlcore_space* obs, rlcore_space* action, void** agent);
  [DllImport(Lib, CallingConvention = C)] public static extern int rlcore_learner_phase(void* agent, uint* due);
  [DllImport(Lib, CallingConvention = C)] public static extern int rlcore_learner_act(void* agent, rlcore_rows* rows);
  [DllImport(Lib, CallingConvention = C)] public static extern int rlcore_learner_observe(void* agent, rlcore_rows* rows);
  [DllImport(Lib, CallingConvention = C)] public static extern int rlcore_learner_learn(void* agent, rlcore_rows* rows, uint max_slices, rlcore_learner_stats* stats);
  [DllImport(Lib, CallingConvention = C)] public static extern int rlcore_learner_predict(void* agent, rlcore_rows* rows, float* state, byte* reset, rlcore_sampling* sampling);

  // A failure as an exception, in the library's own words.
  public static void Check(int status) {
    if (status == (int)Status.Ok) return;
    byte* why = stackalloc byte[256];
    rlcore_last_error(why, (UIntPtr)256);
    throw new InvalidOperationException(Marshal.PtrToStringAnsi((IntPtr)why));
  }
}

}  // namespace Rlcore
