using System;
using System.Runtime.InteropServices;

namespace Rlcore {

/// <summary>
/// A compiled environment, rlcore_env, for any number of VecEnv and threads. It holds callbacks of this process: it is made anew
/// in each, not saved.
/// </summary>
public sealed unsafe class Env : Block {
  /// <summary>Observations of a row, wrappers included.</summary>
  public ArraySpace Obs { get; }
  /// <summary>Actions of a row.</summary>
  public ArraySpace Action { get; }
  private readonly EnvDefinition definition;
  private GCHandle user;

  private Env(EnvDefinition definition, uint id, rlcore_wrapper[] wrappers) {
    this.definition = definition;
    if (definition != null) user = GCHandle.Alloc(definition);
    UIntPtr size;
    using (ArraySpace.Pin obs = definition == null ? null : new ArraySpace.Pin(definition.Obs))
    using (ArraySpace.Pin action = definition == null ? null : new ArraySpace.Pin(definition.Action))
    fixed (rlcore_wrapper* list = wrappers) {
      rlcore_env_def c = default(rlcore_env_def);
      c.struct_size = (uint)sizeof(rlcore_env_def);
      c.env_id = id;
      if (definition != null) c = definition.ForC(GCHandle.ToIntPtr(user), obs.Value, action.Value);
      c.wrappers = list;
      c.num_wrappers = (uint)(wrappers == null ? 0 : wrappers.Length);
      Call.Check(Native.rlcore_env_size(&c, &size));
      Allocate(size);
      rlcore_env* made;
      Done(Native.rlcore_env_init(Mem, size, &c, &made));
    }
    rlcore_space o, a;
    Done(Native.rlcore_env_spaces(C, &o, &a));
    int choices = 0;
    foreach (rlcore_field field in Fields()) {
      if ((Element)field.kind != Element.I32) continue;
      int count = 1;
      for (int i = 0; i < field.rank; i++) count *= (int)field.dims[i];
      choices += count;
    }
    Obs = ArraySpace.Of(o, (Element)o.kind == Element.I32 ? (int)o.len : choices);
    Action = ArraySpace.Of(a, (int)a.len);
  }

  /// <summary>An environment of the library, e.g. "CartPole-v1": EnvNames.Ids lists them.</summary>
  public static Env CreateBuiltin(string name, params rlcore_wrapper[] wrappers) {
    EnvId id;
    if (!EnvNames.Ids.TryGetValue(name, out id)) {
      Call.Fail(Status.Range, "env: no environment is named " + name + "; there are " + string.Join(", ", EnvNames.Ids.Keys));
    }
    return CreateBuiltin(id, wrappers);
  }

  /// <summary>An environment of the library. wrappers: innermost first.</summary>
  public static Env CreateBuiltin(EnvId id, params rlcore_wrapper[] wrappers) { return new Env(null, (uint)id, wrappers); }

  /// <summary>An environment of the host's own. wrappers: innermost first.</summary>
  public static Env Create(EnvDefinition definition, params rlcore_wrapper[] wrappers) {
    if (definition == null) throw new ArgumentNullException(nameof(definition));
    return new Env(definition, 0, wrappers);
  }

  /// <summary>The fields of its observations; a single one without a name if they have no parts.</summary>
  public rlcore_field[] Fields() {
    rlcore_field[] fields = new rlcore_field[8];
    uint len;
    fixed (rlcore_field* first = fields) Done(Native.rlcore_env_fields(C, first, (uint)fields.Length, &len));
    Array.Resize(ref fields, (int)len);
    return fields;
  }

  /// <summary>An environment is not saved.</summary>
  public override byte[] Save() { throw new NotSupportedException("an environment has pointers of this process: save the VecEnv"); }

  internal rlcore_env* C { get { return (rlcore_env*)Mem; } }

  // The exception behind a status, if a callback threw one.
  internal Exception Cause(Status status) {
    return status == Status.Callback && definition != null ? definition.TakeFailure() : null;
  }

  internal override void Free() {
    base.Free();
    if (user.IsAllocated) user.Free();
  }
}

}
