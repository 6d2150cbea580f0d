using System;
using System.Runtime.InteropServices;

namespace Rlcore {

/// <summary>
/// A learner: act, observe, learn, with the same calls for every algorithm. Save has all that training needs to go on with the
/// same results. Calls that are not here take Handle: Native.rlcore_learner_x((rlcore_learner*)agent.Handle, ...).
/// </summary>
public sealed unsafe class Learner : Block {
  /// <summary>N, environments or agents that share it.</summary>
  public int Count { get; private set; }
  /// <summary>Its observations.</summary>
  public ArraySpace Obs { get; private set; }
  /// <summary>Its actions.</summary>
  public ArraySpace Action { get; private set; }
  private rlcore_learner_stats stats;

  private Learner() { stats.struct_size = (uint)sizeof(rlcore_learner_stats); }

  /// <summary>The defaults of an algorithm; then change the fields that the header tells of rlcore_learner_config.</summary>
  public static rlcore_learner_config Config(Algorithm algorithm) {
    rlcore_learner_config config;
    Call.Check(Native.rlcore_learner_config_init(&config, (UIntPtr)sizeof(rlcore_learner_config), (uint)algorithm));
    return config;
  }

  /// <summary>A configuration known by name, and the layers of its network, which a Learner takes with it.</summary>
  public static rlcore_learner_config Config(Preset preset, out rlcore_layer[] layers) {
    rlcore_learner_config config;
    uint net;
    Call.Check(Native.rlcore_learner_config_preset(&config, (UIntPtr)sizeof(rlcore_learner_config), (uint)preset, &net));
    layers = net == 0 ? null : Layers((Net)net);
    return config;
  }

  /// <summary>The layers of a network known by name.</summary>
  public static rlcore_layer[] Layers(Net net) {
    uint len;
    Call.Check(Native.rlcore_net_preset((uint)net, null, 0, &len));
    rlcore_layer[] layers = new rlcore_layer[len];
    fixed (rlcore_layer* first = layers) Call.Check(Native.rlcore_net_preset((uint)net, first, len, &len));
    return layers;
  }

  /// <summary>
  /// A learner for an environment, with its fields if they are several. layers: those of its network; null: config.hidden_len.
  /// </summary>
  public Learner(rlcore_learner_config config, Env env, rlcore_layer[] layers = null)
    : this(config, env.Obs, env.Action, layers, Parts(env)) { }

  /// <summary>A learner for a host with a loop of its own. fields: parts of the observation, or null.</summary>
  public Learner(rlcore_learner_config config, ArraySpace obs, ArraySpace action, rlcore_layer[] layers = null, rlcore_field[] fields = null) : this() {
    using (ArraySpace.Pin o = new ArraySpace.Pin(obs), a = new ArraySpace.Pin(action))
    fixed (rlcore_layer* layer = layers)
    fixed (rlcore_field* field = fields) {
      rlcore_space seen = o.Value, taken = a.Value;
      if (layers != null) {
        config.layers = layer;
        config.num_layers = (uint)layers.Length;
      }
      if (fields != null) {
        config.obs_fields = field;
        config.num_obs_fields = (uint)fields.Length;
      }
      UIntPtr size;
      Call.Check(Native.rlcore_learner_size(&config, &seen, &taken, &size));
      Allocate(size);
      rlcore_learner* made;
      Done(Native.rlcore_learner_init(Mem, size, &config, &seen, &taken, &made));
    }
    Count = (int)config.num_envs;
    Obs = obs;
    Action = action;
  }

  // The fields of a structure, and those that are infos or have channels in front; null for observations of one part.
  private static rlcore_field[] Parts(Env env) {
    rlcore_field[] fields = env.Fields();
    bool apart = env.Obs.Kind == Element.Struct;
    foreach (rlcore_field field in fields) apart |= field.flags != 0;
    return apart ? fields : null;
  }

  /// <summary>
  /// From saved bytes. count, obs, action: refused unless it was saved by a learner of as many rows with these spaces.
  /// </summary>
  public static Learner Load(ReadOnlySpan<byte> saved, int count, ArraySpace obs, ArraySpace action) {
    Learner made = new Learner();
    made.Allocate(saved);
    using (ArraySpace.Pin o = new ArraySpace.Pin(obs), a = new ArraySpace.Pin(action)) {
      rlcore_learner* c;
      rlcore_space seen = o.Value, taken = a.Value;
      made.Done(Native.rlcore_learner_attach(made.Mem, (UIntPtr)saved.Length, Call.Count(nameof(count), count), &seen, &taken, &c));
    }
    made.Count = count;
    made.Obs = obs;
    made.Action = action;
    made.ReadStats();
    return made;
  }

  /// <summary>A sealed copy of the bytes: Load refuses it if one has changed.</summary>
  public override byte[] Save() {
    Done(Native.rlcore_block_seal(Mem, (UIntPtr)Size));
    return base.Save();
  }

  /// <summary>The call that is due.</summary>
  public LearnerDue Due {
    get {
      uint due;
      Done(Native.rlcore_learner_phase(C, &due));
      return (LearnerDue)due;
    }
  }

  /// <summary>Statistics of the last update.</summary>
  public rlcore_learner_stats Stats { get { return stats; } }

  /// <summary>Draws an action for each row: reads Obs, ActionMask and Active, writes Action.</summary>
  public void Act(Rows rows) {
    rlcore_rows c = For(rows);
    Done(Native.rlcore_learner_act(C, &c), rows);
  }

  /// <summary>Rows [begin, end) only.</summary>
  public void ActRange(int begin, int end, Rows rows) {
    rlcore_rows c = For(rows);
    Done(Native.rlcore_learner_act_range(C, Call.Count(nameof(begin), begin), Call.Count(nameof(end), end), &c), rows);
  }

  /// <summary>Begins transitions with the host's own actions in place of Act, off policy: reads Obs, Action and ActionMask.</summary>
  public void Demonstrate(Rows rows) {
    rlcore_rows c = For(rows);
    Done(Native.rlcore_learner_demonstrate(C, &c), rows);
  }

  /// <summary>The results of the step: reads Reward, Terminated, Truncated, FinalObs, FinalActionMask, Duration and Active.</summary>
  public void Observe(Rows rows) {
    rlcore_rows c = For(rows);
    Done(Native.rlcore_learner_observe(C, &c), rows);
  }

  /// <summary>Removes agents that disappear without an outcome. gone: [N] flags.</summary>
  public void Cut(ReadOnlySpan<byte> gone) {
    Call.Len("gone", gone.Length, Count);
    fixed (byte* first = &MemoryMarshal.GetReference(gone)) Done(Native.rlcore_learner_cut(C, first));
  }

  /// <summary>
  /// The update that is due, or at most maxSlices chunks of it: Stats.minibatches_left tells how many are left. Reads Obs and
  /// ActionMask after the last step.
  /// </summary>
  public void Learn(Rows rows, int maxSlices = 0) {
    rlcore_rows c = For(rows);
    fixed (rlcore_learner_stats* s = &stats) {
      Done(Native.rlcore_learner_learn(C, &c, Call.Count(nameof(maxSlices), maxSlices), s), rows);
    }
  }

  /// <summary>Act, Step and Observe in turn until Learn is due, or maxSteps steps of all; 0: no limit. Returns the steps.</summary>
  public int Collect(VecEnv envs, Rows rows, int maxSteps = 0) {
    rlcore_rows c = For(rows);
    uint taken = 0;
    Status status = Native.rlcore_collect(C, envs.C, envs.Env.C, &c, Call.Count(nameof(maxSteps), maxSteps), &taken);
    GC.KeepAlive(envs);
    Done(status, rows, envs.Env.Cause(status));
    return (int)taken;
  }

  /// <summary>
  /// The update that is due, whose chunks the host shares among its threads: until Stats.minibatches_left is 0, LearnRange for
  /// all chunks, GradsWrite and LearnApply. The results are those of Learn.
  /// </summary>
  public void LearnBegin(Rows rows) {
    rlcore_rows c = For(rows);
    fixed (rlcore_learner_stats* s = &stats) Done(Native.rlcore_learner_learn_begin(C, &c, s), rows);
  }

  /// <summary>
  /// Gradients of chunks [begin, end); several threads may compute different ones. scratch: [ScratchLen] of the thread's own;
  /// grads: [end - begin, GradsLen] to write.
  /// </summary>
  public void LearnRange(int begin, int end, Span<ulong> scratch, Span<float> grads) {
    fixed (ulong* s = &MemoryMarshal.GetReference(scratch))
    fixed (float* g = &MemoryMarshal.GetReference(grads)) {
      Done(Native.rlcore_learner_learn_range(C, Call.Count(nameof(begin), begin), Call.Count(nameof(end), end), s,
        (UIntPtr)(8L * scratch.Length), g, (UIntPtr)grads.Length));
    }
  }

  /// <summary>Stores gradients of chunks [begin, end).</summary>
  public void GradsWrite(int begin, int end, ReadOnlySpan<float> grads) {
    fixed (float* g = &MemoryMarshal.GetReference(grads)) {
      Done(Native.rlcore_learner_grads_write(C, Call.Count(nameof(begin), begin), Call.Count(nameof(end), end), g, (UIntPtr)grads.Length));
    }
  }

  /// <summary>Takes the step of the gradients that were stored.</summary>
  public void LearnApply() {
    fixed (rlcore_learner_stats* s = &stats) Done(Native.rlcore_learner_learn_apply(C, s));
  }

  /// <summary>Numbers of LearnRange's scratch, at least.</summary>
  public int ScratchLen {
    get {
      UIntPtr size;
      Done(Native.rlcore_learner_scratch_size(C, &size));
      return (int)((size.ToUInt64() + 7) / 8);
    }
  }

  /// <summary>Numbers of the gradients of a chunk.</summary>
  public int GradsLen {
    get {
      UIntPtr len;
      Done(Native.rlcore_learner_grads_len(C, &len));
      return (int)len;
    }
  }

  /// <summary>Stops or resumes updating the statistics that normalize observations and rewards.</summary>
  public void Freeze(bool frozen = true) { Done(Native.rlcore_learner_freeze(C, frozen ? 1u : 0u)); }

  /// <summary>Other settings while training goes on, those that rlcore_learner_configure allows.</summary>
  public void Configure(rlcore_learner_config config) { Done(Native.rlcore_learner_configure(C, &config)); }

  /// <summary>The network that acts, to ship.</summary>
  public Policy ExportPolicy() { return new Policy(this); }

  internal rlcore_learner* C { get { return (rlcore_learner*)Mem; } }
  private rlcore_rows For(Rows rows) { return rows.For(Count, Obs, Action); }
  private void ReadStats() {
    fixed (rlcore_learner_stats* s = &stats) Done(Native.rlcore_learner_stats_read(C, s));
  }
}

}
