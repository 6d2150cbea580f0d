using System;
using System.Runtime.InteropServices;

namespace Rlcore {

/// <summary>
/// An object of the library in memory that this class owns, aligned to 64 bytes and outside of the garbage collector's heap.
/// The bytes are the object: Save copies them, the Load of each class makes an object of them again.
/// Threads: as the header says of each call; nobody may dispose an object that a call uses.
/// </summary>
public abstract unsafe class Block : IDisposable {
  private const int Alignment = 64;
  private IntPtr memory;

  private protected Block() { }

  /// <summary>Bytes of the object.</summary>
  public int Size { get; private set; }

  /// <summary>The handle for calls of Native, valid until the object is disposed: keep the object alive for as long.</summary>
  public IntPtr Handle { get { return (IntPtr)Mem; } }

  private protected void* Mem {
    get {
      if (memory == IntPtr.Zero) throw new ObjectDisposedException(GetType().Name);
      return (void*)((memory.ToInt64() + Alignment - 1) & -Alignment);
    }
  }

  private protected void Allocate(UIntPtr size) {
    ulong bytes = size.ToUInt64();
    if (bytes > int.MaxValue - Alignment) Call.Fail(Status.Size, "block: at most 2 GB, needed " + bytes + " bytes");
    memory = Marshal.AllocHGlobal((int)bytes + Alignment);
    Size = (int)bytes;
    GC.AddMemoryPressure(Size + Alignment);
    Bytes.Clear();
  }

  private protected void Allocate(ReadOnlySpan<byte> saved) {
    Allocate((UIntPtr)saved.Length);
    saved.CopyTo(Bytes);
  }

  private protected Span<byte> Bytes { get { return new Span<byte>(Mem, Size); } }

  /// <summary>Throws if the call failed. The objects that it took are alive until here.</summary>
  private protected void Done(Status status, object taken = null, Exception cause = null) {
    GC.KeepAlive(this);
    GC.KeepAlive(taken);
    Call.Check(status, cause);
  }

  /// <summary>A copy of the bytes.</summary>
  public virtual byte[] Save() {
    byte[] copy = Bytes.ToArray();
    GC.KeepAlive(this);
    return copy;
  }

  /// <summary>rlcore_hash of the bytes: objects of equal hashes go on alike.</summary>
  public ulong Hash() {
    ulong hash;
    Done(Native.rlcore_hash(Mem, (UIntPtr)Size, &hash));
    return hash;
  }

  /// <summary>Frees the memory.</summary>
  public void Dispose() {
    Free();
    GC.SuppressFinalize(this);
  }

  /// <summary>Frees the memory of an object that was not disposed.</summary>
  ~Block() { Free(); }

  internal virtual void Free() {
    if (memory == IntPtr.Zero) return;
    Marshal.FreeHGlobal(memory);
    memory = IntPtr.Zero;
    GC.RemoveMemoryPressure(Size + Alignment);
  }
}

}
