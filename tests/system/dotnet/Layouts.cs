using System;
using System.Collections.Generic;
using System.Reflection;
using System.Runtime.InteropServices;
using System.Text.RegularExpressions;
using Rlcore;

/// <summary>Rlcore.cs against layout.c of tests/system/abi/layout.py, whose numbers a C compiler has confirmed.</summary>
static class Layouts {
  /// <summary>Returns how many structures, fields and constants there are.</summary>
  public static string Check(string layout) {
    int column = IntPtr.Size == 8 ? 0 : 1, fields = 0, structures = 0;
    Assembly assembly = typeof(Native).Assembly;
    foreach (Match size in Regex.Matches(layout, @"^SIZE\((\w+), (\d+), (\d+), ", RegexOptions.Multiline)) {
      Type type = assembly.GetType("Rlcore." + size.Groups[1].Value, true);
      Is.Same(type.Name, Marshal.SizeOf(type), int.Parse(size.Groups[2 + column].Value));
      MatchCollection members = Regex.Matches(layout, @"^FIELD\(" + type.Name + @", (\w+), (\d+), (\d+), ", RegexOptions.Multiline);
      FieldInfo[] ours = type.GetFields(BindingFlags.Public | BindingFlags.Instance);
      Is.Same("fields of " + type.Name, ours.Length, members.Count);
      foreach (Match member in members) {
        string name = member.Groups[1].Value;
        Is.Same(type.Name + "." + name, (int)Marshal.OffsetOf(type, name), int.Parse(member.Groups[2 + column].Value));
        fields++;
      }
      structures++;
    }
    return structures + " structures, " + fields + " fields, " + Numbers(assembly, layout) + " constants";
  }

  // RLCORE_ALGORITHM_STREAM_AC is StreamAc of one enumeration, or a constant of Native with that name.
  static int Numbers(Assembly assembly, string layout) {
    var ours = new List<KeyValuePair<string, long>>();
    foreach (FieldInfo constant in typeof(Native).GetFields(BindingFlags.Public | BindingFlags.Static)) {
      if (constant.FieldType == typeof(int) && !constant.Name.Contains("VERSION")) ours.Add(new KeyValuePair<string, long>(Bare(constant.Name), (int)constant.GetValue(null)));
    }
    foreach (Type type in assembly.GetTypes()) {
      if (!type.IsEnum || type.Namespace != "Rlcore") continue;
      foreach (string name in Enum.GetNames(type)) ours.Add(new KeyValuePair<string, long>(Bare(name), Convert.ToInt64(Enum.Parse(type, name))));
    }
    MatchCollection numbers = Regex.Matches(layout, @"^NUMBER\((\w+), (-?\d+)\)", RegexOptions.Multiline);
    Is.Same("constants", ours.Count, numbers.Count);
    foreach (Match number in numbers) {
      string name = Bare(number.Groups[1].Value);
      int at = ours.FindIndex(own => name.EndsWith(own.Key) && own.Value == long.Parse(number.Groups[2].Value));
      Is.True(at >= 0, number.Value + " is no constant in C#");
      ours.RemoveAt(at);
    }
    return numbers.Count;
  }

  static string Bare(string name) { return name.Replace("_", "").ToUpperInvariant(); }
}

/// <summary>Conditions of the tests.</summary>
static class Is {
  public static void True(bool holds, string name) {
    if (!holds) throw new Exception(name);
  }
  public static void Same<T>(string name, T given, T expected) {
    if (!given.Equals(expected)) throw new Exception(name + ": expected " + expected + ", given " + given);
  }
  /// <summary>The call fails with this status and a sentence that ends so.</summary>
  public static RlcoreException Refused(Status status, string sentence, Action call) {
    try {
      call();
    } catch (RlcoreException e) {
      Same("status of " + e.Message, e.Status, status);
      True(e.Message.EndsWith(sentence), "expected ... " + sentence + ", given " + e.Message);
      return e;
    }
    throw new Exception("not refused: " + sentence);
  }
  public static void Throws<T>(Action call) where T : Exception {
    try {
      call();
    } catch (T) {
      return;
    }
    throw new Exception("no " + typeof(T).Name);
  }
}
