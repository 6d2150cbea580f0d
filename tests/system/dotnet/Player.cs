// Runs examples-c/unity as Unity would: Start, FixedUpdate for so many frames, OnDestroy.
using System;
using System.IO;
using System.Reflection;

static class Player {
  static void Call(object component, string name) {
    component.GetType().GetMethod(name, BindingFlags.Instance | BindingFlags.NonPublic).Invoke(component, null);
  }

  static int Main() {
    File.Delete("carts.learner");
    float before = 0;
    for (int session = 0; session < 2; session++) {
      Carts carts = new Carts();
      Call(carts, "Start");
      Call(carts, "FixedUpdate");
      Is(session == 0 || Math.Abs(carts.MeanReturn - before) < 10, before + " before, " + carts.MeanReturn + " when it goes on");
      for (int frame = 0; frame < 20000; frame++) Call(carts, "FixedUpdate");
      before = carts.MeanReturn;
      carts.Ship(".");
      Call(carts, "OnDestroy");
    }
    Is(before > 180, "a return of " + before + " of 200");
    Is(new FileInfo("carts.policy").Length > 0 && new FileInfo("carts.onnx").Length > 0, "files to ship");
    Console.Error.WriteLine("dotnet: unity: a return of " + before + " of 200 after two sessions");
    return 0;
  }

  static void Is(bool holds, string name) {
    if (!holds) throw new Exception(name);
  }
}
