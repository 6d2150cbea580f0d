using System;
using System.Text;

namespace Rlcore {

/// <summary>A call that failed. Message is the library's own sentence, with the expected and the given value.</summary>
public sealed class RlcoreException : Exception {
  /// <summary>The status of the call.</summary>
  public Status Status { get; }

  /// <summary>A failure; cause is an exception of a callback, or null.</summary>
  public RlcoreException(Status status, string sentence, Exception cause = null) : base(sentence, cause) { Status = status; }
}

/// <summary>Statuses as exceptions, and checks before a call.</summary>
internal static unsafe class Call {
  static Call() {
    uint abi = Native.rlcore_abi_version();
    if (abi != Native.RLCORE_ABI_VERSION) {
      throw new RlcoreException(Status.Config, "RLCORE_E_CONFIG: Rlcore.cs was made for interface " + Native.RLCORE_ABI_VERSION
        + " of the library, this one has " + abi);
    }
  }

  internal static void Check(Status status, Exception cause = null) {
    if (status == Status.Ok) return;
    byte[] text = new byte[256];
    fixed (byte* first = text) Native.rlcore_last_error(first, (UIntPtr)text.Length);
    string sentence = Encoding.UTF8.GetString(text, 0, Array.IndexOf(text, (byte)0));
    throw new RlcoreException(status, sentence.Length > 0 ? sentence : status.ToString(), cause);
  }

  /// <summary>An array has as many elements as it needs.</summary>
  internal static void Len(string array, long given, long needed) {
    if (given != needed) Fail(Status.Shape, array + ": expected " + needed + " elements, given " + given);
  }

  /// <summary>Elements of an array are of this type; those of a structure are bytes.</summary>
  internal static void Kind<T>(string array, Element kind) {
    bool right = kind == Element.F32 ? typeof(T) == typeof(float) : kind == Element.I32 ? typeof(T) == typeof(int) : typeof(T) == typeof(byte);
    if (!right) Fail(Status.Config, array + ": elements are " + kind + ", given " + typeof(T).Name);
  }

  internal static void Fail(Status status, string sentence) {
    throw new RlcoreException(status, "RLCORE_E_" + status.ToString().ToUpperInvariant() + ": " + sentence);
  }

  internal static uint Count(string name, int number) {
    if (number < 0) throw new ArgumentOutOfRangeException(name);
    return (uint)number;
  }
}

}
