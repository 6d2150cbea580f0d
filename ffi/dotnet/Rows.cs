using System;
using System.Runtime.InteropServices;

namespace Rlcore {

/// <summary>
/// The arrays of N rows that go round the loop, rlcore_rows: a row for each environment or agent. They stay at one place until
/// they are disposed; spans of them stay valid after that, too.
/// </summary>
public sealed unsafe class Rows : IDisposable {
  /// <summary>N.</summary>
  public int Count { get; }
  /// <summary>The space of a row of Obs.</summary>
  public ArraySpace ObsSpace { get; }
  /// <summary>The space of a row of Action.</summary>
  public ArraySpace ActionSpace { get; }
  private readonly byte[] obs, finalObs, action, terminated, truncated, valid, active, mask, finalMask;
  private readonly float[] reward, duration;
  private GCHandle[] pins;

  /// <summary>Arrays for N rows. masks: with those of use_action_mask; durations: with that of use_duration.</summary>
  public Rows(int count, ArraySpace obsSpace, ArraySpace actionSpace, bool masks = false, bool durations = false) {
    Count = (int)Call.Count(nameof(count), count);
    ObsSpace = obsSpace;
    ActionSpace = actionSpace;
    obs = new byte[checked(count * obsSpace.Len * obsSpace.ElementSize)];
    finalObs = new byte[obs.Length];
    action = new byte[checked(count * actionSpace.Len * actionSpace.ElementSize)];
    terminated = new byte[count];
    truncated = new byte[count];
    valid = new byte[count];
    active = new byte[count];
    reward = new float[count];
    Array.Fill(active, (byte)1);
    if (masks) {
      mask = new byte[checked(count * actionSpace.MaskLen)];
      finalMask = new byte[mask.Length];
      Array.Fill(mask, (byte)1);
      Array.Fill(finalMask, (byte)1);
    }
    if (durations) {
      duration = new float[count];
      Array.Fill(duration, 1f);
    }
    Array[] all = { obs, finalObs, action, terminated, truncated, valid, active, reward, mask, finalMask, duration };
    pins = Array.ConvertAll(all, array => GCHandle.Alloc(array, GCHandleType.Pinned));
  }

  /// <summary>[N, obs.len] the observations to act on next. T: float, int or byte, as the space has it.</summary>
  public Span<T> Obs<T>() where T : struct { return Of<T>("obs", obs, ObsSpace); }
  /// <summary>[N, obs.len] the last observations of episodes, in rows that ended.</summary>
  public Span<T> FinalObs<T>() where T : struct { return Of<T>("final_obs", finalObs, ObsSpace); }
  /// <summary>[N, action.len].</summary>
  public Span<T> Action<T>() where T : struct { return Of<T>("action", action, ActionSpace); }
  /// <summary>[N] of the action.</summary>
  public Span<float> Reward { get { return reward; } }
  /// <summary>[N] 1 where the task reached a terminal state.</summary>
  public Span<byte> Terminated { get { return terminated; } }
  /// <summary>[N] 1 where the environment or the time limit cut the episode.</summary>
  public Span<byte> Truncated { get { return truncated; } }
  /// <summary>[N] 0 where the row was only reset, else 1.</summary>
  public Span<byte> Valid { get { return valid; } }
  /// <summary>[N] 0: the row is absent; at first all are there. Read only if some are 0.</summary>
  public Span<byte> Active { get { return active; } }
  /// <summary>[N, flags of a mask] 1 for each choice allowed in obs; empty without masks.</summary>
  public Span<byte> ActionMask { get { return mask; } }
  /// <summary>[N, flags of a mask] choices allowed in final_obs; empty without masks.</summary>
  public Span<byte> FinalActionMask { get { return finalMask; } }
  /// <summary>[N] how long the action lasted; empty without durations.</summary>
  public Span<float> Duration { get { return duration; } }

  private static Span<T> Of<T>(string name, byte[] array, ArraySpace space) where T : struct {
    Call.Kind<T>(name, space.Kind);
    return MemoryMarshal.Cast<byte, T>(array);
  }

  /// <summary>The arrays for N environments or agents with these spaces.</summary>
  internal rlcore_rows For(int count, ArraySpace obsSpace, ArraySpace actionSpace) {
    if (pins == null) throw new ObjectDisposedException(nameof(Rows));
    Call.Len("rows", Count, count);
    if (!ObsSpace.Fits(obsSpace)) Call.Len("obs of a row", ObsSpace.Len * ObsSpace.ElementSize, obsSpace.Len * obsSpace.ElementSize);
    if (!ActionSpace.Fits(actionSpace)) {
      Call.Len("action of a row", ActionSpace.Len * ActionSpace.ElementSize, actionSpace.Len * actionSpace.ElementSize);
    }
    if (ObsSpace.Kind != obsSpace.Kind || ActionSpace.Kind != actionSpace.Kind) {
      Call.Fail(Status.Config, "rows: elements are of another kind than those of the environments");
    }
    rlcore_rows c = default(rlcore_rows);
    c.struct_size = (uint)sizeof(rlcore_rows);
    c.obs = First(0);
    c.final_obs = First(1);
    c.action = First(2);
    c.terminated = (byte*)First(3);
    c.truncated = (byte*)First(4);
    c.valid = (byte*)First(5);
    c.active = Array.IndexOf(active, (byte)0) < 0 ? null : (byte*)First(6);
    c.reward = (float*)First(7);
    c.action_mask = (byte*)First(8);
    c.final_action_mask = (byte*)First(9);
    c.duration = (float*)First(10);
    return c;
  }

  private void* First(int array) { return pins[array].Target == null ? null : (void*)pins[array].AddrOfPinnedObject(); }

  /// <summary>Lets go of the arrays.</summary>
  public void Dispose() {
    Free();
    GC.SuppressFinalize(this);
  }

  /// <summary>Lets go of arrays that were not disposed.</summary>
  ~Rows() { Free(); }

  private void Free() {
    if (pins != null) foreach (GCHandle pin in pins) pin.Free();
    pins = null;
  }
}

}
