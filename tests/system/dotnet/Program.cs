// Rlcore.cs and the classes beside it: `Program.exe <layout.c>` prints the lines of same.c, and on the error stream its
// other checks.
using System;
using System.IO;
using System.Text;
using System.Threading.Tasks;
using Rlcore;

static class Program {
  const int N = 8, Updates = 12;

  static int Main(string[] arguments) {
    Say("layouts", Layouts.Check(File.ReadAllText(arguments[0])));
    using (Env env = Env.CreateBuiltin("CartPole-v1")) Train("cartpole", env, Config());
    using (Env env = Env.Create(new Mass())) Train("mass", env, Config());
    Saved();
    Threads();
    Recurrent();
    Pendulum();
    Masks();
    Refusals();
    Exceptions();
    Texts();
    return 0;
  }

  static void Say(string name, string text) { Console.Error.WriteLine("dotnet: " + name + ": " + text); }

  static rlcore_learner_config Config() {
    rlcore_learner_config config = Learner.Config(Algorithm.Ppo);
    config.num_envs = N;
    config.learning_rate = 3e-3f;
    config.hidden_len[1] = 32;
    return config;
  }

  static void Train(string name, Env env, rlcore_learner_config config) {
    using (VecEnv envs = new VecEnv(env, N, 7))
    using (Rows rows = envs.CreateRows())
    using (Learner agent = new Learner(config, env)) {
      envs.Reset(rows);
      while (agent.Stats.num_updates < Updates) {
        agent.Collect(envs, rows);
        agent.Learn(rows);
      }
      Console.WriteLine("{0}: {1} steps, learner {2:x16}, environments {3:x16}", name, agent.Stats.num_steps, agent.Hash(), envs.Hash());
    }
  }

  // The same steps one by one, from a save in the middle and, as in minimal.c, to a return of 475.
  static void Saved() {
    rlcore_learner_config config = Learner.Config(Algorithm.Ppo);
    config.num_envs = N;
    config.learning_rate = 3e-3f;
    using (Env env = Env.CreateBuiltin(EnvId.Cartpole)) {
      byte[] learner = null, world = null, obs = null;
      ulong learned = 0, lived = 0, steps = 0;
      for (int run = 0; run < 2; run++) {
        using (Rows rows = new Rows(N, env.Obs, env.Action))
        using (VecEnv envs = run == 0 ? new VecEnv(env, N) : VecEnv.Load(world, env))
        using (Learner agent = run == 0 ? new Learner(config, env) : Learner.Load(learner, N, env.Obs, env.Action)) {
          if (run == 0) envs.Reset(rows);
          else System.Runtime.InteropServices.MemoryMarshal.Cast<byte, float>(obs).CopyTo(rows.Obs<float>());
          while (agent.Stats.return_mean < 475) {
            agent.Act(rows);
            envs.Step(rows);
            agent.Observe(rows);
            if (agent.Due == LearnerDue.Learn) agent.Learn(rows);
            if (learner == null && agent.Stats.num_updates == 20) {
              learner = agent.Save();
              world = envs.Save();
              obs = System.Runtime.InteropServices.MemoryMarshal.AsBytes(rows.Obs<float>()).ToArray();
            }
          }
          if (run == 0) {
            learned = agent.Hash();
            lived = envs.Hash();
            steps = agent.Stats.num_steps;
            Is.Same("steps to 475, as minimal.expected has them", "a return of 475 over 100 episodes after " + steps + " steps",
              File.ReadAllText("examples-c/expected/minimal.expected").Trim());
          } else {
            Is.Same("the hash of a learner that was loaded", agent.Hash(), learned);
            Is.Same("the hash of environments that were loaded", envs.Hash(), lived);
            Is.True(Convert.ToBase64String(agent.Save()) == Convert.ToBase64String(agent.Save()), "two saves are equal");
            Shipped(agent, rows);
          }
        }
      }
      learner[learner.Length / 2] ^= 1;
      Is.Refused(Status.Image, "", () => Learner.Load(learner, N, env.Obs, env.Action));
      learner[learner.Length / 2] ^= 1;
      Is.Refused(Status.Size, "", () => Learner.Load(learner.AsSpan(0, 1000), N, env.Obs, env.Action));
      Is.Refused(Status.Shape, "", () => Learner.Load(learner, N + 1, env.Obs, env.Action));
      Say("saved", steps + " steps, with a save and without");
    }
  }

  static void Shipped(Learner agent, Rows rows) {
    byte[] saved;
    float[] obs = rows.Obs<float>().ToArray();
    int[] greedy = new int[N], again = new int[N];
    using (Policy policy = agent.ExportPolicy()) {
      saved = policy.Save();
      policy.ActGreedy<float, int>(obs, greedy);
      string own = Encoding.ASCII.GetString(policy.ToOnnx()), named = Encoding.ASCII.GetString(policy.ToOnnx(OnnxNames.MlAgents));
      Is.True(named.Contains("version_number") && !own.Contains("version_number"), "the names of ML-Agents");
    }
    using (Policy policy = Policy.Load(saved, agent.Obs, agent.Action)) {
      policy.ActGreedy<float, int>(obs, again);
      for (int i = 0; i < N; i++) Is.Same("greedy action " + i, again[i], greedy[i]);
      rlcore_rng rng = Rng.Seeded(1);
      int[] counts = new int[2];
      for (int k = 0; k < 50; k++) {
        policy.Act<float, int>(ref rng, obs, again);
        foreach (int action in again) counts[action]++;
      }
      Is.True(counts[0] > 50 && counts[1] > 50, "actions are drawn: " + counts[0] + " and " + counts[1]);
      policy.Act<float, int>(ref rng, obs, again, sampling: new rlcore_sampling { method = (uint)SamplingMethod.Greedy });
      for (int i = 0; i < N; i++) Is.Same("greedy sample " + i, again[i], greedy[i]);
      Is.Refused(Status.Shape, "obs: expected 28 elements, given 29", () => policy.ActGreedy<float, int>(new float[29], new int[7]));
      Is.Refused(Status.Shape, "action: expected 8 elements, given 7", () => policy.ActGreedy<float, int>(obs, new int[7]));
      Is.Refused(Status.Shape, "mask: expected 16 elements, given 8", () => policy.ActGreedy<float, int>(obs, again, new byte[8]));
      Is.Refused(Status.Shape, "state: expected 0 elements, given 8", () => policy.ActGreedy<float, int>(obs, again, default(ReadOnlySpan<byte>), new float[8]));
      Is.Refused(Status.Config, "obs: elements are F32, given Byte", () => policy.ActGreedy<byte, int>(new byte[4], new int[1]));
    }
    Is.Refused(Status.Shape, "", () => Policy.Load(saved, ArraySpace.Floats(5), agent.Action));
  }

  // Chunks of an update on several threads give the bits of one.
  static void Threads() {
    rlcore_learner_config config = Config();
    config.num_chunks = 4;
    ulong[] hashes = new ulong[2];
    using (Env env = Env.Create(new Mass())) {
      for (int run = 0; run < 2; run++) {
        using (VecEnv envs = new VecEnv(env, N))
        using (Rows rows = envs.CreateRows())
        using (Learner agent = new Learner(config, env)) {
          envs.Reset(rows);
          for (int update = 0; update < 2; update++) {
            while (agent.Due != LearnerDue.Learn) {
              agent.Act(rows);
              if (run == 0) envs.Step(rows);
              else Parallel.For(0, 2, half => envs.StepRange(half * N / 2, (half + 1) * N / 2, rows));
              agent.Observe(rows);
            }
            if (run == 0) {
              agent.Learn(rows);
              continue;
            }
            agent.LearnBegin(rows);
            int scratch = agent.ScratchLen, grads = agent.GradsLen;
            while (agent.Stats.minibatches_left > 0) {
              float[][] all = new float[4][];
              Parallel.For(0, 4, chunk => {
                all[chunk] = new float[grads];
                agent.LearnRange(chunk, chunk + 1, new ulong[scratch], all[chunk]);
              });
              for (int chunk = 0; chunk < 4; chunk++) agent.GradsWrite(chunk, chunk + 1, all[chunk]);
              agent.LearnApply();
            }
          }
          hashes[run] = agent.Hash();
        }
      }
    }
    Is.Same("a learner that threads shared", hashes[1], hashes[0]);
    Say("threads", "the same bits");
  }

  // A network known by name with a state, whose rows are reset.
  static void Recurrent() {
    using (Env env = Env.CreateBuiltin("CartPoleNoVel-v1")) {
      rlcore_learner_config config = Config();
      config.num_hidden = 0;
      config.sequence_len = 16;
      rlcore_layer[] layers = { new rlcore_layer { kind = (uint)LayerKind.Gru, units = 16 } };
      layers[0].source[0] = Native.RLCORE_LAYER_INPUT;
      using (VecEnv envs = new VecEnv(env, N))
      using (Rows rows = envs.CreateRows())
      using (Learner agent = new Learner(config, env, layers)) {
        envs.Reset(rows);
        agent.Collect(envs, rows);
        agent.Learn(rows);
        using (Policy policy = agent.ExportPolicy()) {
          Is.Same("numbers that a GRU carries", policy.StateLen, 16);
          float[] state = new float[16];
          policy.ActGreedy<float, int>(new float[] { 0.1f, 0 }, new int[1], default(ReadOnlySpan<byte>), state);
          Is.True(Array.Exists(state, x => x != 0), "the state is written");
        }
      }
      Is.Same("layers of the Nature network", Learner.Layers(Net.Nature)[0].units, 32u);
      rlcore_layer[] preset;
      Is.Same("the algorithm of a preset", Learner.Config(Preset.CleanrlDqn, out preset).algorithm, (uint)Algorithm.Dqn);
      Say("recurrent", "a GRU, a network and a configuration known by name");
    }
  }

  // Numbers as actions, off policy, through wrappers.
  static void Pendulum() {
    rlcore_wrapper scale = new rlcore_wrapper { kind = (uint)Wrap.ScaleReward, factor = 0.1f };
    rlcore_wrapper limit = new rlcore_wrapper { kind = (uint)Wrap.TimeLimit, steps = 50 };
    using (Env env = Env.CreateBuiltin("Pendulum-v1", scale, limit)) {
      rlcore_learner_config config = Learner.Config(Algorithm.Sac);
      config.num_envs = 2;
      config.learning_starts = 40;
      config.buffer_size = 1000;
      config.batch_size = 16;
      using (VecEnv envs = new VecEnv(env, 2))
      using (Rows rows = envs.CreateRows())
      using (Learner agent = new Learner(config, env)) {
        envs.Reset(rows);
        int ends = 0;
        for (int t = 0; t < 110; t++) {
          rows.Action<float>().Fill(1);
          if (t % 2 == 0) agent.Demonstrate(rows);
          else agent.Act(rows);
          envs.Step(rows);
          ends += rows.Truncated[0];
          agent.Observe(rows);
          while (agent.Due == LearnerDue.Learn) agent.Learn(rows);
        }
        Is.Same("time limits", ends, 2);
        Is.True(agent.Stats.num_updates > 10, "updates");
      }
      rlcore_field field = env.Fields()[0];
      Is.Same("the name of the only field", field.name.ToString(), "");
      field.name = "angle";
      Is.Same("a name", field.name.ToString(), "angle");
      Is.Throws<ArgumentException>(() => { rlcore_field too = default(rlcore_field); too.name = new string('x', 24); });
    }
    Say("pendulum", "SAC through two wrappers, with demonstrations");
  }

  static void Masks() {
    rlcore_learner_config config = Config();
    config.use_action_mask = 1;
    using (Env env = Env.Create(new Masked()))
    using (VecEnv envs = new VecEnv(env, N))
    using (Rows rows = envs.CreateRows(masks: true))
    using (Learner agent = new Learner(config, env)) {
      envs.Reset(rows);
      Is.Same("a mask", rows.ActionMask[0] + 2 * rows.ActionMask[2], 2);
      agent.Collect(envs, rows);  // a forbidden choice would throw
      agent.Learn(rows);
      rows.Action<int>().Clear();
      RlcoreException e = Is.Refused(Status.Callback, "", () => envs.Step(rows));
      Is.True(e.InnerException is ArgumentException, "the exception of the callback");
      using (Rows bare = envs.CreateRows()) {
        Is.Refused(Status.Shape, "", () => {
          for (int k = 0; k < 1000; k++) agent.Act(bare);
        });
      }
    }
    Say("masks", "no forbidden choice");
  }

  static void Refusals() {
    using (Env env = Env.CreateBuiltin("CartPole-v1"))
    using (VecEnv envs = new VecEnv(env, N))
    using (Rows other = new Rows(N - 1, env.Obs, env.Action))
    using (Rows bytes = new Rows(N, ArraySpace.Bytes(4), env.Action))
    using (Rows rows = envs.CreateRows())
    using (Learner agent = new Learner(Config(), env)) {
      Is.Refused(Status.Shape, "rows: expected 8 elements, given 7", () => envs.Step(other));
      Is.Refused(Status.Shape, "rows: expected 8 elements, given 7", () => agent.Act(other));
      Is.Refused(Status.Shape, "obs of a row: expected 16 elements, given 4", () => agent.Act(bytes));
      Is.Refused(Status.Config, "obs: elements are F32, given Int32", () => rows.Obs<int>());
      Is.Refused(Status.Shape, "gone: expected 8 elements, given 3", () => agent.Cut(new byte[3]));
      Is.Refused(Status.Shape, "rgb: expected 192 elements, given 191", () => envs.Render(0, 8, 8, new byte[191]));
      Is.Refused(Status.NotReady, "", () => agent.Observe(rows));
      Is.Refused(Status.Range, "env: no environment is named CartPole-v9; there are " + string.Join(", ", EnvNames.Ids.Keys),
        () => Env.CreateBuiltin("CartPole-v9"));
      Is.Refused(Status.Config, "", () => new VecEnv(env, 0));
      Is.Throws<ArgumentOutOfRangeException>(() => new VecEnv(env, -1));
      Is.Throws<ArgumentOutOfRangeException>(() => agent.Learn(rows, -1));
      Is.Throws<IndexOutOfRangeException>(() => { rlcore_learner_config c = Config(); c.hidden_len[4] = 1; });
      Is.Throws<NotSupportedException>(() => env.Save());
      envs.Reset(rows, 3);
      agent.Act(rows);
      Is.Refused(Status.NotReady, "", () => agent.Act(rows));
      byte[] picture = new byte[192];
      envs.Render(0, 8, 8, picture);
      Is.True(Array.Exists(picture, x => x != 0), "a picture");
      agent.Dispose();
      agent.Dispose();
      Is.Throws<ObjectDisposedException>(() => agent.Act(rows));
      rows.Dispose();
      Is.Throws<ObjectDisposedException>(() => envs.Step(rows));
      Is.Same("a span of rows that were disposed", rows.Reward.Length, N);
    }
    Say("refusals", "wrong lengths, kinds, orders and objects");
  }

  // An exception of an environment fails its call and is the cause; the environment goes on after a reset.
  static void Exceptions() {
    Mass mass = new Mass();
    using (Env env = Env.Create(mass))
    using (VecEnv envs = new VecEnv(env, N))
    using (Rows rows = envs.CreateRows()) {
      envs.Reset(rows);
      mass.ThrowsIn = 5;
      RlcoreException e = Is.Refused(Status.Callback, "", () => envs.Step(rows));
      Is.Same("the cause", e.InnerException.Message, "the mass of row 5 is lost");
      GC.Collect();
      GC.WaitForPendingFinalizers();
      envs.ResetOne(5, rows);
      envs.Step(rows);
    }
    Is.Refused(Status.Config, "action: elements are I32, given Single", () => Env.Create(new Wrong()));
    Say("exceptions", "of an environment's own, as causes");
  }

  sealed class Wrong : EnvDefinition<int, float, float> {
    public Wrong() : base(ArraySpace.Floats(1), ArraySpace.Choices(2)) { }
    protected override void Reset(int row, ref int state, ref rlcore_rng rng, Span<float> obs) { }
    protected override void Step(int row, ref int state, ref rlcore_rng rng, ReadOnlySpan<float> action, Span<float> obs, ref rlcore_step result) { }
  }

  // The sentence is the library's own.
  static void Texts() {
    rlcore_learner_config config = Config();
    config.discount = 2;
    RlcoreException e = Is.Refused(Status.Config, "", () => new Learner(config, ArraySpace.Floats(4), ArraySpace.Choices(2)));
    Is.True(e.Message.StartsWith("RLCORE_E_CONFIG: learner config: ") && e.Message.Contains("discount"), e.Message);
    Say("text", e.Message);
  }
}
