// Checks Rlcore.cs against the layouts in C, then does what cartpole.c and probe.cpp do, and steps an environment that is
// written in C#: `Program.exe <layout.c>`.
using System;
using System.IO;
using System.Reflection;
using System.Runtime.InteropServices;
using System.Text.RegularExpressions;
using Rlcore;

static unsafe class Program {
  const int N = 8;

  static int Main(string[] arguments) {
    int fields = CheckLayouts(File.ReadAllText(arguments[0]));
    Console.Error.WriteLine("csharp: " + fields + " fields lie where C has them");
    CartPole();
    Probe();
    OwnEnvironment();
    return 0;
  }

  // What the runtime says of each structure, and `SIZE(name, 64-bit, ...)` and `FIELD(name, member, 64-bit, ...)`.
  static int CheckLayouts(string golden) {
    int count = 0, column = IntPtr.Size == 8 ? 0 : 1;
    foreach (Type type in typeof(Native).Assembly.GetTypes()) {
      if (!type.IsValueType || !type.Name.StartsWith("rlcore_")) continue;
      Match size = Regex.Match(golden, @"^SIZE\(" + type.Name + @", (\d+), (\d+), ", RegexOptions.Multiline);
      Same(type.Name, Marshal.SizeOf(type), int.Parse(size.Groups[1 + column].Value));
      MatchCollection members = Regex.Matches(golden, @"^FIELD\(" + type.Name + @", (\w+), (\d+), (\d+), ", RegexOptions.Multiline);
      FieldInfo[] ours = type.GetFields(BindingFlags.Public | BindingFlags.Instance);
      Same("fields of " + type.Name, ours.Length, members.Count);
      foreach (Match member in members) {
        string name = member.Groups[1].Value;
        Same(type.Name + "." + name, (int)Marshal.OffsetOf(type, name), int.Parse(member.Groups[2 + column].Value));
        count++;
      }
    }
    return count;
  }

  static void Same(string what, int ours, int golden) {
    if (ours != golden) throw new Exception(what + ": " + ours + " here, " + golden + " in C");
  }

  // N environments in a block, with the arrays of their steps.
  sealed class Envs {
    public readonly void* env; // knows where it lies: not for the garbage collector to move
    public readonly rlcore_space seen, taken;
    public readonly ulong[] block;
    public readonly float[] obs, finalObs, reward = new float[N];
    public readonly byte[] terminated = new byte[N], truncated = new byte[N];
    public readonly int[] action = new int[N];

    public Envs(rlcore_env_def definition) {
      UIntPtr size;
      void* compiled;
      Native.Check(Native.rlcore_env_size(&definition, &size));
      Native.Check(Native.rlcore_env_init((void*)Marshal.AllocHGlobal((int)size), size, &definition, &compiled));
      env = compiled;
      rlcore_space o, a;
      Native.Check(Native.rlcore_env_spaces(env, &o, &a));
      seen = o;
      taken = a;
      obs = new float[N * seen.len];
      finalObs = new float[N * seen.len];
      rlcore_vecenv_config config;
      Native.Check(Native.rlcore_vecenv_config_init(&config, (UIntPtr)sizeof(rlcore_vecenv_config)));
      config.num_envs = N;
      config.seed = 1;
      Native.Check(Native.rlcore_vecenv_size(env, &config, &size));
      block = new ulong[(int)size / 8];
      void* envs;
      fixed (ulong* mem = block) Native.Check(Native.rlcore_vecenv_init(mem, size, env, &config, &envs));
      fixed (ulong* mem = block) fixed (float* first = obs) Native.Check(Native.rlcore_vecenv_reset(mem, env, null, first));
    }

    // The block is the object: it may lie elsewhere in each call.
    public void Step() {
      fixed (ulong* mem = block) fixed (float* o = obs, f = finalObs, r = reward)
      fixed (byte* te = terminated, tr = truncated) fixed (int* a = action) {
        rlcore_rows rows = new rlcore_rows { struct_size = (uint)sizeof(rlcore_rows),
          obs = o, action = a, reward = r, terminated = te, truncated = tr, final_obs = f };
        Native.Check(Native.rlcore_vecenv_step(mem, env, &rows));
      }
    }

    public ulong Hash() {
      ulong hash;
      fixed (ulong* mem = block) Native.Check(Native.rlcore_hash(mem, (UIntPtr)(8 * block.Length), &hash));
      return hash;
    }
  }

  static rlcore_env_def Builtin(EnvId id) {
    return new rlcore_env_def { struct_size = (uint)sizeof(rlcore_env_def), env_id = (uint)id };
  }

  static void CartPole() {
    Envs envs = new Envs(Builtin(EnvId.CartPole));
    int episodes = 0;
    for (int t = 0; t < 1000; t++) {
      for (int i = 0; i < N; i++) envs.action[i] = envs.obs[4 * i + 2] > 0 ? 1 : 0;
      envs.Step();
      for (int i = 0; i < N; i++) episodes += envs.terminated[i] | envs.truncated[i];
    }
    Console.WriteLine("cartpole: " + episodes + " episodes, " + envs.Hash().ToString("x16"));
  }

  static void Probe() {
    Envs envs = new Envs(Builtin(EnvId.Probe1));
    rlcore_learner_config config;
    Native.Check(Native.rlcore_learner_config_init(&config, (UIntPtr)sizeof(rlcore_learner_config), 0));
    config.num_envs = N;
    config.num_steps = 32;
    config.learning_rate = 3e-3f;
    rlcore_space obs = envs.seen, action = envs.taken;
    UIntPtr size;
    Native.Check(Native.rlcore_learner_size(&config, &obs, &action, &size));
    ulong[] learner = new ulong[(int)size / 8];
    rlcore_learner_stats stats = new rlcore_learner_stats { struct_size = (uint)sizeof(rlcore_learner_stats) };
    fixed (ulong* agent = learner) fixed (float* o = envs.obs, f = envs.finalObs, r = envs.reward)
    fixed (byte* te = envs.terminated, tr = envs.truncated) fixed (int* a = envs.action) {
      void* made;
      rlcore_rows rows = new rlcore_rows { struct_size = (uint)sizeof(rlcore_rows),
        obs = o, action = a, reward = r, terminated = te, truncated = tr, final_obs = f };
      Native.Check(Native.rlcore_learner_init(agent, size, &config, &obs, &action, &made));
      while (stats.num_updates < 20) {
        uint due;
        Native.Check(Native.rlcore_learner_act(agent, &rows));
        envs.Step();
        Native.Check(Native.rlcore_learner_observe(agent, &rows));
        Native.Check(Native.rlcore_learner_phase(agent, &due));
        if (due == (uint)Due.Learn) Native.Check(Native.rlcore_learner_learn(agent, &rows, 0, &stats));
      }
    }
    Console.WriteLine("probe: a value of " + stats.value_mean.ToString("F3") + " after " + stats.num_steps + " steps");
    if (Math.Abs(stats.value_mean - 1) > 0.05) throw new Exception("the value of probe 1 is 1");
  }

  // Counts its steps, and ends after as many as the environment was told through `user`.
  static int Reset(void* user, uint row, void* state, rlcore_rng* rng, void* obs) {
    *(int*)state = 0;
    *(float*)obs = 0;
    return 0;
  }

  static int Step(void* user, uint row, void* state, rlcore_rng* rng, void* action, void* obs, rlcore_step* result) {
    int count = ++*(int*)state;
    *(float*)obs = count;
    result->reward = *(int*)action;
    result->terminated = (byte)(count == *(int*)user ? 1 : 0);
    return 0;
  }

  static void OwnEnvironment() {
    rlcore_env_reset_fn reset = Reset;
    rlcore_env_step_fn step = Step;
    int length = 5;
    uint choices = 2;
    Envs envs = new Envs(new rlcore_env_def {
      struct_size = (uint)sizeof(rlcore_env_def), env_id = 1000, state_size = 8, user = &length,
      obs = new rlcore_space { kind = (uint)Element.F32, len = 1 },
      action = new rlcore_space { kind = (uint)Element.I32, len = 1, n = &choices },
      reset = Marshal.GetFunctionPointerForDelegate(reset), step = Marshal.GetFunctionPointerForDelegate(step) });
    int episodes = 0;
    for (int t = 0; t < 12; t++) {
      envs.Step();
      for (int i = 0; i < N; i++) episodes += envs.terminated[i];
    }
    GC.KeepAlive(reset);
    GC.KeepAlive(step);
    if (episodes != 2 * N || envs.obs[0] != 2) throw new Exception("an environment in C#: " + episodes + " episodes");
  }
}
