using System;

namespace Rlcore {

/// <summary>N environments of one kind, stepped together: rlcore_vecenv. Save has their states and random streams.</summary>
public sealed unsafe class VecEnv : Block {
  /// <summary>N.</summary>
  public int Count { get; private set; }
  /// <summary>The environment of each.</summary>
  public Env Env { get; }

  private VecEnv(Env env) { Env = env; }

  /// <summary>N environments with the defaults of rlcore_vecenv_config_init; environment i is seeded with seed + i.</summary>
  public VecEnv(Env env, int count, ulong seed = 0, Autoreset autoreset = Autoreset.SameStep) : this(env) {
    rlcore_vecenv_config config;
    UIntPtr size;
    Done(Native.rlcore_vecenv_config_init(&config, (UIntPtr)sizeof(rlcore_vecenv_config)));
    config.num_envs = Call.Count(nameof(count), count);
    config.seed = seed;
    config.autoreset = (uint)autoreset;
    Done(Native.rlcore_vecenv_size(env.C, &config, &size));
    Allocate(size);
    rlcore_vecenv* made;
    Done(Native.rlcore_vecenv_init(Mem, size, env.C, &config, &made), env);
    Count = count;
  }

  /// <summary>From saved bytes: the episodes go on. env: the environment that they were saved with, made anew.</summary>
  public static VecEnv Load(ReadOnlySpan<byte> saved, Env env) {
    VecEnv made = new VecEnv(env);
    made.Allocate(saved);
    rlcore_vecenv* c;
    uint count;
    made.Done(Native.rlcore_vecenv_attach(made.Mem, (UIntPtr)saved.Length, env.C, &c), env);
    made.Done(Native.rlcore_vecenv_num_envs(c, &count));
    made.Count = (int)count;
    return made;
  }

  /// <summary>Arrays for these environments.</summary>
  public Rows CreateRows(bool masks = false, bool durations = false) { return new Rows(Count, Env.Obs, Env.Action, masks, durations); }

  /// <summary>Starts an episode in every environment: writes Obs, and ActionMask if rows have masks.</summary>
  public void Reset(Rows rows) { Reset(rows, null); }
  /// <summary>The same, with environment i seeded with seed + i.</summary>
  public void Reset(Rows rows, ulong seed) { Reset(rows, &seed); }

  private void Reset(Rows rows, ulong* seed) {
    rlcore_rows c = For(rows);
    Stepped(Native.rlcore_vecenv_reset(C, Env.C, seed, c.obs), rows);
    Masks(rows, c);
  }

  /// <summary>Starts an episode in one environment.</summary>
  public void ResetOne(int index, Rows rows) {
    rlcore_rows c = For(rows);
    Stepped(Native.rlcore_vecenv_reset_one(C, Env.C, Call.Count(nameof(index), index), null, c.obs), rows);
    Masks(rows, c);
  }

  private void Masks(Rows rows, rlcore_rows c) {
    if (c.action_mask != null) Stepped(Native.rlcore_vecenv_action_mask(C, Env.C, c.action_mask), rows);
  }

  /// <summary>Takes the actions: reads Action and Active, writes all others.</summary>
  public void Step(Rows rows) {
    rlcore_rows c = For(rows);
    Stepped(Native.rlcore_vecenv_step(C, Env.C, &c), rows);
  }

  /// <summary>Environments [begin, end) only: disjoint ranges may run on several threads.</summary>
  public void StepRange(int begin, int end, Rows rows) {
    rlcore_rows c = For(rows);
    Stepped(Native.rlcore_vecenv_step_range(C, Env.C, Call.Count(nameof(begin), begin), Call.Count(nameof(end), end), &c), rows);
  }

  /// <summary>Draws one environment. rgb: [height, width, 3], rows from the top.</summary>
  public void Render(int index, int width, int height, Span<byte> rgb) {
    Call.Len("rgb", rgb.Length, 3L * Call.Count(nameof(width), width) * Call.Count(nameof(height), height));
    fixed (byte* first = &System.Runtime.InteropServices.MemoryMarshal.GetReference(rgb)) {
      Stepped(Native.rlcore_vecenv_render(C, Env.C, Call.Count(nameof(index), index), (uint)width, (uint)height, first), null);
    }
  }

  internal rlcore_vecenv* C { get { return (rlcore_vecenv*)Mem; } }
  private rlcore_rows For(Rows rows) { return rows.For(Count, Env.Obs, Env.Action); }
  private void Stepped(Status status, Rows rows) { Done(status, rows, Env.Cause(status)); }
}

}
