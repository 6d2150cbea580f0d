using System;
using System.Runtime.InteropServices;

namespace Rlcore {

/// <summary>
/// A policy that acts and does not learn, to ship in a game. It keeps scratch for its calls: give each thread one of its own.
/// </summary>
public sealed unsafe class Policy : Block {
  /// <summary>Its observations.</summary>
  public ArraySpace Obs { get; private set; }
  /// <summary>Its actions.</summary>
  public ArraySpace Action { get; private set; }
  /// <summary>Numbers that recurrent layers carry from one step of a row to the next; 0 without such layers.</summary>
  public int StateLen { get; private set; }
  private float[] scratch = new float[0];

  private Policy() { }

  internal Policy(Learner learner) {
    UIntPtr size;
    Done(Native.rlcore_policy_size(learner.C, &size), learner);
    Allocate(size);
    rlcore_policy* made;
    Done(Native.rlcore_policy_export(learner.C, Mem, size, &made), learner);
    Obs = learner.Obs;
    Action = learner.Action;
    ReadStateLen();
  }

  /// <summary>From saved bytes, for a host whose arrays have these spaces: RLCORE_E_SHAPE if it was made for others.</summary>
  public static Policy Load(ReadOnlySpan<byte> saved, ArraySpace obs, ArraySpace action) {
    Policy made = new Policy();
    made.Allocate(saved);
    using (ArraySpace.Pin o = new ArraySpace.Pin(obs), a = new ArraySpace.Pin(action)) {
      rlcore_policy* c;
      rlcore_space seen = o.Value, taken = a.Value;
      made.Done(Native.rlcore_policy_attach(made.Mem, (UIntPtr)saved.Length, &seen, &taken, &c));
    }
    made.Obs = obs;
    made.Action = action;
    made.ReadStateLen();
    return made;
  }

  /// <summary>
  /// The most probable actions, or the means. obs: [rows, obs.len]; action: [rows, action.len] to write; mask: [rows, flags of a
  /// mask] 0 forbids a choice, empty: all are allowed; state: [rows, StateLen], read, then written; reset: [rows] 1 where an
  /// episode begins, empty: nowhere.
  /// </summary>
  public void ActGreedy<TObs, TAction>(ReadOnlySpan<TObs> obs, Span<TAction> action, ReadOnlySpan<byte> mask = default(ReadOnlySpan<byte>),
      Span<float> state = default(Span<float>), ReadOnlySpan<byte> reset = default(ReadOnlySpan<byte>))
      where TObs : struct where TAction : struct {
    Act(obs, action, mask, state, reset, null, null);
  }

  /// <summary>Draws actions from rng, a stream of the calling thread; arrays as of ActGreedy. sampling: how.</summary>
  public void Act<TObs, TAction>(ref rlcore_rng rng, ReadOnlySpan<TObs> obs, Span<TAction> action,
      ReadOnlySpan<byte> mask = default(ReadOnlySpan<byte>), Span<float> state = default(Span<float>),
      ReadOnlySpan<byte> reset = default(ReadOnlySpan<byte>), rlcore_sampling sampling = default(rlcore_sampling))
      where TObs : struct where TAction : struct {
    fixed (rlcore_rng* stream = &rng) Act(obs, action, mask, state, reset, &sampling, stream);
  }

  private void Act<TObs, TAction>(ReadOnlySpan<TObs> obs, Span<TAction> action, ReadOnlySpan<byte> mask, Span<float> state,
      ReadOnlySpan<byte> reset, rlcore_sampling* sampling, rlcore_rng* rng) where TObs : struct where TAction : struct {
    Call.Kind<TObs>("obs", Obs.Kind);
    Call.Kind<TAction>("action", Action.Kind);
    int count = obs.Length / Obs.Len;
    Call.Len("obs", obs.Length, (long)count * Obs.Len);
    Call.Len("action", action.Length, (long)count * Action.Len);
    if (mask.Length > 0) Call.Len("mask", mask.Length, (long)count * Action.MaskLen);
    if (reset.Length > 0) Call.Len("reset", reset.Length, count);
    Call.Len("state", state.Length, (long)count * StateLen);
    UIntPtr needed;
    Done(Native.rlcore_policy_scratch_len(C, (uint)count, &needed));
    if (scratch.Length < (int)needed) scratch = new float[(int)needed];
    fixed (byte* o = &MemoryMarshal.GetReference(MemoryMarshal.AsBytes(obs)), a = &MemoryMarshal.GetReference(MemoryMarshal.AsBytes(action)))
    fixed (byte* m = &MemoryMarshal.GetReference(mask), r = &MemoryMarshal.GetReference(reset))
    fixed (float* s = &MemoryMarshal.GetReference(state), work = scratch) {
      rlcore_rows rows = default(rlcore_rows);
      rows.struct_size = (uint)sizeof(rlcore_rows);
      rows.obs = o;
      rows.action = a;
      rows.action_mask = m;
      rlcore_policy_buffers buffers = default(rlcore_policy_buffers);
      buffers.struct_size = (uint)sizeof(rlcore_policy_buffers);
      buffers.scratch = work;
      buffers.scratch_len = (UIntPtr)scratch.Length;
      buffers.state = s;
      buffers.reset = r;
      if (rng == null) Done(Native.rlcore_policy_act_greedy(C, (uint)count, &rows, &buffers));
      else Done(Native.rlcore_policy_act(C, (uint)count, &rows, &buffers, sampling, rng));
    }
  }

  /// <summary>The policy as a file of ONNX, e.g. with the names that ML-Agents reads. mask: with an input for masks.</summary>
  public byte[] ToOnnx(OnnxNames names = OnnxNames.Own, bool mask = false) {
    rlcore_onnx_options options = default(rlcore_onnx_options);
    options.struct_size = (uint)sizeof(rlcore_onnx_options);
    options.names = (uint)names;
    options.action_mask = mask ? 1u : 0u;
    UIntPtr size;
    Done(Native.rlcore_policy_onnx_size(C, &options, &size));
    byte[] bytes = new byte[(int)size];
    fixed (byte* first = bytes) Done(Native.rlcore_policy_onnx_write(C, &options, first, size));
    return bytes;
  }

  internal rlcore_policy* C { get { return (rlcore_policy*)Mem; } }
  private void ReadStateLen() {
    UIntPtr len;
    Done(Native.rlcore_policy_state_len(C, &len));
    StateLen = (int)len;
  }
}

}
