// A stand-in for the few of Unity's classes that the binding and the example name, so that both compile and run without an engine.
using System;

namespace AOT {

[AttributeUsage(AttributeTargets.Method)]
public sealed class MonoPInvokeCallbackAttribute : Attribute {
  public MonoPInvokeCallbackAttribute(Type type) { }
}

}

namespace UnityEngine {

public class MonoBehaviour { }

public enum Space { World, Self }

public static class Application {
  public static string persistentDataPath { get { return "."; } }
}

public static class Time {
  public static float fixedDeltaTime { get { return 0.02f; } }
}

public static class Random {
  private static readonly System.Random Numbers = new System.Random(1);
  public static float Range(float low, float high) { return low + (high - low) * (float)Numbers.NextDouble(); }
}

}
