using System;
using System.Runtime.InteropServices;

namespace Rlcore {

/// <summary>The values that an observation or an action can take: rlcore_space with arrays of its own.</summary>
public sealed unsafe class ArraySpace {
  /// <summary>Kind of the elements.</summary>
  public Element Kind { get; }
  /// <summary>Elements of one observation or action.</summary>
  public int Len { get; }
  private readonly float[] low, high;
  private readonly uint[] n;

  /// <summary>Arrays as in rlcore_space; null where it has NULL.</summary>
  public ArraySpace(Element kind, int len, float[] low = null, float[] high = null, uint[] n = null) {
    if (low != null) Call.Len("low of a space", low.Length, len);
    if (high != null) Call.Len("high of a space", high.Length, len);
    if (n != null && kind != Element.Struct) Call.Len("n of a space", n.Length, len);
    Kind = kind;
    Len = len;
    this.low = (float[])low?.Clone();
    this.high = (float[])high?.Clone();
    this.n = (uint[])n?.Clone();
  }

  /// <summary>Numbers without bounds.</summary>
  public static ArraySpace Floats(int len) { return new ArraySpace(Element.F32, len); }
  /// <summary>Numbers between the same bounds.</summary>
  public static ArraySpace Floats(int len, float low, float high) {
    float[] lows = new float[len], highs = new float[len];
    Array.Fill(lows, low);
    Array.Fill(highs, high);
    return new ArraySpace(Element.F32, len, lows, highs);
  }
  /// <summary>Choices, as many as each element has.</summary>
  public static ArraySpace Choices(params uint[] n) { return new ArraySpace(Element.I32, n.Length, null, null, n); }
  /// <summary>Bytes of pictures.</summary>
  public static ArraySpace Bytes(int len) { return new ArraySpace(Element.U8, len); }

  /// <summary>Bytes of an element.</summary>
  public int ElementSize { get { return Kind == Element.F32 || Kind == Element.I32 ? 4 : 1; } }

  /// <summary>Flags of a mask: the choices of all elements.</summary>
  public int MaskLen {
    get {
      int sum = 0;
      if (n != null) foreach (uint choices in n) sum += (int)choices;
      return sum;
    }
  }

  /// <summary>Of the same kind and length.</summary>
  internal bool Fits(ArraySpace other) { return Kind == other.Kind && Len == other.Len; }

  internal static ArraySpace Of(rlcore_space c, int numChoices) {
    int len = (int)c.len;
    return new ArraySpace((Element)c.kind, len, Copy(c.low, len), Copy(c.high, len),
      c.n == null || numChoices == 0 ? null : new ReadOnlySpan<uint>(c.n, numChoices).ToArray());
  }

  private static float[] Copy(float* from, int len) { return from == null ? null : new ReadOnlySpan<float>(from, len).ToArray(); }

  /// <summary>The space as calls take it, while its arrays stay where they are.</summary>
  internal sealed class Pin : IDisposable {
    internal rlcore_space Value;
    private readonly GCHandle low, high, n;

    internal Pin(ArraySpace space) {
      low = GCHandle.Alloc(space.low, GCHandleType.Pinned);
      high = GCHandle.Alloc(space.high, GCHandleType.Pinned);
      n = GCHandle.Alloc(space.n, GCHandleType.Pinned);
      Value.kind = (uint)space.Kind;
      Value.len = Call.Count("len", space.Len);
      Value.low = (float*)First(low);
      Value.high = (float*)First(high);
      Value.n = (uint*)First(n);
    }

    private static void* First(GCHandle array) { return array.Target == null ? null : (void*)array.AddrOfPinnedObject(); }

    public void Dispose() {
      low.Free();
      high.Free();
      n.Free();
    }
  }
}

}
