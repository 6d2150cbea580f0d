// rlcore for C#: the structures and calls that stepping environments and training with PPO need, spelled as in rlcore.h.
// Works as it stands in Unity (allow unsafe code; put librlcore.so under Assets/Plugins), Mono and .NET. Program.cs compares
// every structure with the golden layouts of tests/system/abi/layout.c.
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
  public uint half, has_half;
}

[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_space {
  public uint kind, len;
  public float* low;
  public float* high;
  public uint* n;
}

[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_step {
  public float reward;
  public byte terminated, truncated;
  public fixed byte reserved[2];
}

// Callbacks of an environment of one's own. Keep the delegates alive as long as the table is used; in Unity's IL2CPP they have
// to be static methods with [AOT.MonoPInvokeCallback].
[UnmanagedFunctionPointer(CallingConvention.Cdecl)]
public unsafe delegate int rlcore_env_reset_fn(void* user, void* state, rlcore_rng* rng, void* obs);
[UnmanagedFunctionPointer(CallingConvention.Cdecl)]
public unsafe delegate int rlcore_env_step_fn(void* user, void* state, rlcore_rng* rng, void* action, void* obs, rlcore_step* result);

[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_env_def {
  public uint struct_size, env_id, state_size, max_episode_steps;
  public rlcore_space obs, action;
  public void* user;
  public IntPtr reset, step, render, lives, action_mask, restart;  // Marshal.GetFunctionPointerForDelegate
  public void* fields;
  public uint num_fields, num_wrappers;
  public void* wrappers;
}

[StructLayout(LayoutKind.Sequential)]
public struct rlcore_vecenv_config {
  public uint struct_size, num_envs;
  public ulong seed;
  public uint autoreset, max_episode_steps;
}

[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_vecenv_out {
  public uint struct_size, reserved;
  public void* obs;
  public float* reward;
  public byte* terminated;
  public byte* truncated;
  public void* final_obs;
  public byte* valid;
}

[StructLayout(LayoutKind.Sequential)]
public struct rlcore_sampling {
  public uint method, k;
  public float temperature;
  public uint reserved;
}

[StructLayout(LayoutKind.Sequential)]
public unsafe struct rlcore_learner_config {
  public uint struct_size, num_envs, num_steps, num_minibatches, num_epochs, num_hidden;
  public fixed uint hidden_len[4];
  public uint activation, normalize_advantage, normalize_obs, normalize_reward, squash, use_action_mask;
  public ulong seed, total_steps;
  public float learning_rate, learning_rate_end, clip, clip_end, discount, gae_lambda, value_coef, entropy_coef, value_clip;
  public float max_grad_norm, target_kl, adam_beta1, adam_beta2, adam_epsilon, log_std_init, obs_clip, reward_clip;
  public uint accumulate;
  public float log_std_min, log_std_max;
  public uint num_chunks, algorithm, overlap, num_shared, num_layers;
  public fixed uint obs_dims[3];
  public uint sequence_len;
  public IntPtr layers;
  public uint buffer_size, batch_size, learning_starts, train_interval, gradient_steps, target_interval;
  public float target_rate;
  public uint exploration_steps;
  public float exploration_start, exploration_end;
  public uint double_q, dueling, huber, policy_interval, optimizer;
  public float rms_decay, rms_momentum;
  public uint sum_losses;
  public float clip_rho, clip_c, clip_pg_rho, leak;
  public uint hidden_norm, num_stacked;
  public IntPtr obs_fields, action_fields;
  public uint num_obs_fields, num_action_fields, num_critics;
  public float critic_rate, exploration_noise, target_noise, target_noise_clip, temperature, temperature_rate, target_entropy;
  public uint noisy, burn_in, n_step;
  public float priority_exponent, importance_exponent;
  public uint importance_steps, prime_interval, num_quantiles, dropped_quantiles, num_atoms;
  public float value_min, value_max, kappa_policy, kappa_value, pixel_control_coef, reward_class_coef, value_replay_coef,
    pixel_control_discount;
  public uint history_len, num_replayed, pixel_cell, pixel_mean, reward_sequence_len;
  public float reward_threshold, policy_replay_coef;
  public uint history_starts;
  public float entropy_share_end;
  public uint policy_layer;
}

[StructLayout(LayoutKind.Sequential)]
public struct rlcore_learner_stats {
  public uint struct_size, minibatches_left;
  public ulong num_steps, num_updates, num_episodes;
  public float learning_rate, policy_loss, value_loss, entropy, approx_kl, clip_fraction, explained_variance, grad_norm;
  public float value_mean, return_mean, length_mean, return_last;
  public ulong num_dropped;
  public float pixel_control_loss, reward_class_loss, value_replay_loss, policy_replay_loss;
  public float return_std, return_min, return_max, temperature, exploration_rate, log_std_mean;
  public ulong num_stored;
}

public static unsafe class Native {
  const string Lib = "rlcore";
  const CallingConvention C = CallingConvention.Cdecl;

  [DllImport(Lib, CallingConvention = C)] public static extern uint rlcore_abi_version();
  [DllImport(Lib, CallingConvention = C)] public static extern int rlcore_last_error(byte* text, UIntPtr text_size);
  [DllImport(Lib, CallingConvention = C)] public static extern int rlcore_hash(void* bytes, UIntPtr size, ulong* hash);

  [DllImport(Lib, CallingConvention = C)] public static extern int rlcore_env_builtin(uint env_id, rlcore_env_def* env, UIntPtr size);
  [DllImport(Lib, CallingConvention = C)] public static extern int rlcore_vecenv_config_init(rlcore_vecenv_config* config, UIntPtr size);
  [DllImport(Lib, CallingConvention = C)] public static extern int rlcore_vecenv_size(rlcore_env_def* env, rlcore_vecenv_config* config, UIntPtr* size);
  [DllImport(Lib, CallingConvention = C)] public static extern int rlcore_vecenv_init(void* mem, UIntPtr mem_size, rlcore_env_def* env, rlcore_vecenv_config* config, void** envs);
  [DllImport(Lib, CallingConvention = C)] public static extern int rlcore_vecenv_attach(void* mem, UIntPtr mem_size, rlcore_env_def* env, void** envs);
  [DllImport(Lib, CallingConvention = C)] public static extern int rlcore_vecenv_reset(void* envs, rlcore_env_def* env, ulong* seed, void* obs);
  [DllImport(Lib, CallingConvention = C)] public static extern int rlcore_vecenv_step(void* envs, rlcore_env_def* env, void* action, rlcore_vecenv_out* result);

  [DllImport(Lib, CallingConvention = C)] public static extern int rlcore_learner_config_init(rlcore_learner_config* config, UIntPtr size, uint algorithm);
  [DllImport(Lib, CallingConvention = C)] public static extern int rlcore_learner_size(rlcore_learner_config* config, rlcore_space* obs, rlcore_space* action, UIntPtr* size);
  [DllImport(Lib, CallingConvention = C)] public static extern int rlcore_learner_init(void* mem, UIntPtr mem_size, rlcore_learner_config* config, rlcore_space* obs, rlcore_space* action, void** agent);
  [DllImport(Lib, CallingConvention = C)] public static extern int rlcore_learner_phase(void* agent, uint* due);
  [DllImport(Lib, CallingConvention = C)] public static extern int rlcore_learner_act(void* agent, byte* active, void* obs, byte* action_mask, void* action);
  [DllImport(Lib, CallingConvention = C)] public static extern int rlcore_learner_observe(void* agent, byte* active, float* reward, byte* terminated, byte* truncated, void* final_obs, byte* final_action_mask);
  [DllImport(Lib, CallingConvention = C)] public static extern int rlcore_learner_learn(void* agent, void* obs, byte* action_mask, uint max_slices, rlcore_learner_stats* stats);
  [DllImport(Lib, CallingConvention = C)] public static extern int rlcore_learner_predict(void* agent, void* obs, byte* action_mask, float* state, byte* reset, rlcore_sampling* sampling, void* action);

  // A failure as an exception, in the library's own words.
  public static void Check(int status) {
    if (status == (int)Status.Ok) return;
    byte* why = stackalloc byte[256];
    rlcore_last_error(why, (UIntPtr)256);
    throw new InvalidOperationException(Marshal.PtrToStringAnsi((IntPtr)why));
  }
}

}  // namespace Rlcore
