using System;

namespace Rlcore {

/// <summary>Draws from random streams, with numpy's numbers. A stream is plain data: copying it copies the stream.</summary>
public static unsafe class Rng {
  /// <summary>The stream of a seed.</summary>
  public static rlcore_rng Seeded(ulong seed) {
    rlcore_rng rng;
    Call.Check(Native.rlcore_rng_seed(&rng, seed));
    return rng;
  }

  /// <summary>A number from [low, high).</summary>
  public static double Uniform(ref rlcore_rng rng, double low, double high) {
    double drawn;
    fixed (rlcore_rng* stream = &rng) Call.Check(Native.rlcore_rng_uniform(stream, low, high, &drawn, (UIntPtr)1));
    return drawn;
  }

  /// <summary>An integer from [low, high).</summary>
  public static long Integer(ref rlcore_rng rng, long low, long high) {
    long drawn;
    fixed (rlcore_rng* stream = &rng) Call.Check(Native.rlcore_rng_integers(stream, low, high, &drawn, (UIntPtr)1));
    return drawn;
  }

  /// <summary>Standard normal numbers.</summary>
  public static void Normal(ref rlcore_rng rng, Span<float> numbers) {
    fixed (rlcore_rng* stream = &rng) fixed (float* first = &System.Runtime.InteropServices.MemoryMarshal.GetReference(numbers)) {
      Call.Check(Native.rlcore_rng_normal(stream, first, (UIntPtr)numbers.Length));
    }
  }
}

}
