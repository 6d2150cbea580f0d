using System;
using System.Runtime.InteropServices;
using System.Threading;
#if UNITY_5_3_OR_NEWER
using AOT;
#endif

namespace Rlcore {

#if !UNITY_5_3_OR_NEWER
/// <summary>IL2CPP makes native functions of methods with this attribute; elsewhere it says nothing.</summary>
[AttributeUsage(AttributeTargets.Method)]
internal sealed class MonoPInvokeCallbackAttribute : Attribute {
  internal MonoPInvokeCallbackAttribute(Type type) { }
}
#endif

/// <summary>
/// An environment of the host's own. Derive from EnvDefinition&lt;TState, TObs, TAction&gt;; Env.Create compiles it.
/// </summary>
public abstract unsafe class EnvDefinition {
  /// <summary>Its observations.</summary>
  public ArraySpace Obs { get; }
  /// <summary>Its actions: choices or numbers.</summary>
  public ArraySpace Action { get; }
  /// <summary>The host's number for this kind, 0 or at least 1000, which saved blocks are compared by.</summary>
  public virtual uint EnvId { get { return 0; } }
  /// <summary>Episodes are truncated after this many steps; 0: never.</summary>
  public virtual uint MaxEpisodeSteps { get { return 0; } }
  /// <summary>Whether ActionMask tells which choices are allowed.</summary>
  public virtual bool HasActionMask { get { return false; } }

  private protected EnvDefinition(ArraySpace obs, ArraySpace action) {
    Obs = obs;
    Action = action;
  }
  internal abstract int StateSize { get; }
  internal abstract void CheckElements();
  internal abstract void ResetAt(uint row, void* state, rlcore_rng* rng, void* obs);
  internal abstract void StepAt(uint row, void* state, rlcore_rng* rng, void* action, void* obs, rlcore_step* result);
  internal abstract void ActionMaskAt(uint row, void* state, byte* mask);

  // The last exception of a callback, until the call that it stopped takes it.
  private Exception failure;
  internal Exception TakeFailure() { return Interlocked.Exchange(ref failure, null); }

  // Kept as long as the program: the library has their addresses.
  private static readonly rlcore_env_reset_fn OnReset = Reset;
  private static readonly rlcore_env_step_fn OnStep = Step;
  private static readonly rlcore_env_action_mask_fn OnActionMask = ActionMask;
  private static readonly IntPtr ResetAddress = Marshal.GetFunctionPointerForDelegate(OnReset);
  private static readonly IntPtr StepAddress = Marshal.GetFunctionPointerForDelegate(OnStep);
  private static readonly IntPtr ActionMaskAddress = Marshal.GetFunctionPointerForDelegate(OnActionMask);

  /// <summary>The definition for rlcore_env_init. user: a GCHandle of this object.</summary>
  internal rlcore_env_def ForC(IntPtr user, rlcore_space obs, rlcore_space action) {
    CheckElements();
    rlcore_env_def c = default(rlcore_env_def);
    c.struct_size = (uint)sizeof(rlcore_env_def);
    c.env_id = EnvId;
    c.state_size = (uint)(StateSize + 7) / 8 * 8;
    c.max_episode_steps = MaxEpisodeSteps;
    c.obs = obs;
    c.action = action;
    c.user = (void*)user;
    c.reset = ResetAddress;
    c.step = StepAddress;
    c.action_mask = HasActionMask ? ActionMaskAddress : IntPtr.Zero;
    return c;
  }

  // No exception may leave a callback: it is kept, and the call fails with RLCORE_E_CALLBACK.
  private int Keep(Exception e) {
    Interlocked.Exchange(ref failure, e);
    return 1;
  }

  private static EnvDefinition Of(void* user) { return (EnvDefinition)GCHandle.FromIntPtr((IntPtr)user).Target; }

  [MonoPInvokeCallback(typeof(rlcore_env_reset_fn))]
  private static int Reset(void* user, uint row, void* state, rlcore_rng* rng, void* obs) {
    EnvDefinition own = Of(user);
    try {
      own.ResetAt(row, state, rng, obs);
      return 0;
    } catch (Exception e) {
      return own.Keep(e);
    }
  }

  [MonoPInvokeCallback(typeof(rlcore_env_step_fn))]
  private static int Step(void* user, uint row, void* state, rlcore_rng* rng, void* action, void* obs, rlcore_step* result) {
    EnvDefinition own = Of(user);
    try {
      own.StepAt(row, state, rng, action, obs, result);
      return 0;
    } catch (Exception e) {
      return own.Keep(e);
    }
  }

  [MonoPInvokeCallback(typeof(rlcore_env_action_mask_fn))]
  private static int ActionMask(void* user, uint row, void* state, byte* mask) {
    EnvDefinition own = Of(user);
    try {
      own.ActionMaskAt(row, state, mask);
      return 0;
    } catch (Exception e) {
      return own.Keep(e);
    }
  }
}

/// <summary>
/// An environment whose state is a structure TState without references, which lies in the block of a VecEnv: it is zero at
/// first, and saved with it. TObs and TAction: float, int or byte, as the spaces have them.
/// Methods may run on several threads at once, never for the same state. An exception fails the call that made the step; the
/// environment must then be reset.
/// </summary>
public abstract unsafe class EnvDefinition<TState, TObs, TAction> : EnvDefinition
    where TState : struct where TObs : struct where TAction : struct {
  private static readonly int StateBytes = MemoryMarshal.AsBytes<TState>(new TState[1]).Length;
  private readonly int obsLen, actionLen, maskLen;

  /// <summary>With these observations and actions.</summary>
  protected EnvDefinition(ArraySpace obs, ArraySpace action) : base(obs, action) {
    obsLen = obs.Len;
    actionLen = action.Len;
    maskLen = action.MaskLen;
  }

  /// <summary>Starts an episode: changes the state, draws from rng, writes obs. row: which of the N environments.</summary>
  protected abstract void Reset(int row, ref TState state, ref rlcore_rng rng, Span<TObs> obs);
  /// <summary>Takes one step. result is all zero before.</summary>
  protected abstract void Step(int row, ref TState state, ref rlcore_rng rng, ReadOnlySpan<TAction> action, Span<TObs> obs, ref rlcore_step result);
  /// <summary>Writes 1 for each choice that is allowed now, else 0, with HasActionMask.</summary>
  protected virtual void ActionMask(int row, ref TState state, Span<byte> mask) { mask.Fill(1); }

  internal sealed override int StateSize { get { return StateBytes; } }
  internal sealed override void CheckElements() {
    Call.Kind<TObs>("obs", Obs.Kind);
    Call.Kind<TAction>("action", Action.Kind);
  }

  internal sealed override void ResetAt(uint row, void* state, rlcore_rng* rng, void* obs) {
    Span<TState> own = new Span<TState>(state, 1);
    Reset((int)row, ref own[0], ref *rng, new Span<TObs>(obs, obsLen));
  }
  internal sealed override void StepAt(uint row, void* state, rlcore_rng* rng, void* action, void* obs, rlcore_step* result) {
    Span<TState> own = new Span<TState>(state, 1);
    Step((int)row, ref own[0], ref *rng, new ReadOnlySpan<TAction>(action, actionLen), new Span<TObs>(obs, obsLen), ref *result);
  }
  internal sealed override void ActionMaskAt(uint row, void* state, byte* mask) {
    Span<TState> own = new Span<TState>(state, 1);
    ActionMask((int)row, ref own[0], new Span<byte>(mask, maskLen));
  }
}

}
