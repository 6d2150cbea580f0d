using System;
using Rlcore;

struct MassState {
  public double At, Speed;
}

/// <summary>A mass on a line that is to stay at 0, as in same.c.</summary>
sealed class Mass : EnvDefinition<MassState, float, int> {
  /// <summary>The step that throws, counted down; below 0: none.</summary>
  public int ThrowsIn = -1;

  public Mass() : base(ArraySpace.Floats(2), ArraySpace.Choices(3)) { }
  public override uint EnvId { get { return 1000; } }
  public override uint MaxEpisodeSteps { get { return 100; } }

  protected override void Reset(int row, ref MassState state, ref rlcore_rng rng, Span<float> obs) {
    state.At = Rng.Uniform(ref rng, -0.5, 0.5);
    state.Speed = 0;
    Show(ref state, obs);
  }

  protected override void Step(int row, ref MassState state, ref rlcore_rng rng, ReadOnlySpan<int> action, Span<float> obs, ref rlcore_step result) {
    if (ThrowsIn >= 0 && ThrowsIn-- == 0) throw new InvalidOperationException("the mass of row " + row + " is lost");
    state.Speed = state.Speed + (action[0] - 1) * 0.1;
    state.At = state.At + state.Speed * 0.1;
    Show(ref state, obs);
    result.reward = (float)(1 - state.At * state.At);
    result.terminated = (byte)(state.At > 1 || state.At < -1 ? 1 : 0);
  }

  private static void Show(ref MassState state, Span<float> obs) {
    obs[0] = (float)state.At;
    obs[1] = (float)state.Speed;
  }
}

/// <summary>Counts to 3; in even rows only choice 1 is allowed.</summary>
sealed class Masked : EnvDefinition<int, byte, int> {
  public Masked() : base(ArraySpace.Bytes(1), ArraySpace.Choices(2)) { }
  public override bool HasActionMask { get { return true; } }

  protected override void Reset(int row, ref int state, ref rlcore_rng rng, Span<byte> obs) {
    state = 0;
    obs[0] = 0;
  }

  protected override void Step(int row, ref int state, ref rlcore_rng rng, ReadOnlySpan<int> action, Span<byte> obs, ref rlcore_step result) {
    if (row % 2 == 0 && action[0] != 1) throw new ArgumentException("a choice that is forbidden");
    obs[0] = (byte)++state;
    result.terminated = (byte)(state == 3 ? 1 : 0);
  }

  protected override void ActionMask(int row, ref int state, Span<byte> mask) {
    mask[0] = (byte)(row % 2);
    mask[1] = 1;
  }
}
