using System.IO;
using Rlcore;
using UnityEngine;

/// <summary>Carts of a scene that learn to stand still at 0, and go on learning where they were when the game was left.</summary>
public sealed class Carts : MonoBehaviour {
  public int count = 8;

  Learner agent;
  Rows rows;
  float[] at, speed;
  int[] steps;
  string Saved { get { return Path.Combine(Application.persistentDataPath, "carts.learner"); } }

  void Start() {
    ArraySpace seen = ArraySpace.Floats(2), done = ArraySpace.Choices(3);
    rlcore_learner_config config = Learner.Config(Algorithm.Ppo);
    config.num_envs = (uint)count;
    config.num_steps = 64;
    config.num_chunks = 8;
    if (File.Exists(Saved)) {
      agent = Learner.Load(File.ReadAllBytes(Saved), count, seen, done);
      byte[] gone = new byte[count];
      System.Array.Fill(gone, (byte)1);
      agent.Cut(gone);  // the carts of the last session are not there any more
    } else {
      agent = new Learner(config, seen, done);
    }
    rows = new Rows(count, seen, done);
    at = new float[count];
    speed = new float[count];
    steps = new int[count];
    for (int i = 0; i < count; i++) Begin(i);
  }

  void Begin(int i) {
    at[i] = Random.Range(-0.5f, 0.5f);
    speed[i] = 0;
    steps[i] = 0;
    See(i);
  }

  void See(int i) {
    System.Span<float> obs = rows.Obs<float>().Slice(2 * i, 2);
    obs[0] = at[i];
    obs[1] = speed[i];
  }

  void FixedUpdate() {
    if (agent.Due == LearnerDue.Learn) {  // a slice in each frame: the game does not stall
      agent.Learn(rows, maxSlices: 4);
      return;
    }
    agent.Act(rows);
    System.Span<float> obs = rows.Obs<float>(), last = rows.FinalObs<float>(), reward = rows.Reward;
    System.Span<byte> terminated = rows.Terminated, truncated = rows.Truncated;
    for (int i = 0; i < count; i++) {
      speed[i] += (rows.Action<int>()[i] - 1) * Time.fixedDeltaTime;
      at[i] += speed[i] * Time.fixedDeltaTime;
      See(i);
      reward[i] = 1 - at[i] * at[i];
      terminated[i] = (byte)(at[i] > 1 || at[i] < -1 ? 1 : 0);
      truncated[i] = (byte)(++steps[i] == 200 ? 1 : 0);
      if (terminated[i] + truncated[i] == 0) continue;
      obs.Slice(2 * i, 2).CopyTo(last.Slice(2 * i, 2));
      Begin(i);
    }
    agent.Observe(rows);
  }

  /// <summary>The network for players that do not learn, and for Unity's own runtime of networks.</summary>
  public void Ship(string folder) {
    using (Policy policy = agent.ExportPolicy()) {
      File.WriteAllBytes(Path.Combine(folder, "carts.policy"), policy.Save());
      File.WriteAllBytes(Path.Combine(folder, "carts.onnx"), policy.ToOnnx(OnnxNames.MlAgents));
    }
  }

  void OnDestroy() {
    File.WriteAllBytes(Saved, agent.Save());
    agent.Dispose();
    rows.Dispose();
  }

  public float MeanReturn { get { return agent.Stats.return_mean; } }
}
