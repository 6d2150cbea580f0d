//! `ffi/dotnet/Rlcore.cs`: the declarations of `rlcore_bindings.h` in C#, with the comments of `rlcore.h`.

use super::comments::in_a_word;
use rlcore::env::{BUILTINS, Env as _};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

const INTRO: &str = r#"// rlcore in C#: every call, structure, enumeration and callback of rlcore.h, for Unity (Mono and IL2CPP), Mono and .NET.
//
// Calls, structures and their fields are spelled as in C, so that the header's documentation, which stands here too, and
// every guide hold word for word. Enumerations have names of C#: RLCORE_ALGORITHM_STREAM_AC is Algorithm.StreamAc.
//   pointers   as in C. A parameter's text tells direction, [shape] and "optional" where it may be null: rlcore_bindings.h
//   arrays     of a structure are small structures with an index, char arrays convert to and from string
//   callbacks  are IntPtr, of Marshal.GetFunctionPointerForDelegate: keep the delegate alive as long as it may be called.
//              For IL2CPP it must be of a static method with [MonoPInvokeCallback(typeof(...))]
//   size_t     is UIntPtr
// Learner.cs, VecEnv.cs, Policy.cs and Env.cs beside this file make objects of it, which need no unsafe code.
//
// Generated together with rlcore.h, by the same command.
using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using System.Text;

// Of an array only the first element is named.
#pragma warning disable 0169

namespace Rlcore {
"#;

const LIBRARY: &str = r#"
/// <summary>The calls of the library, as rlcore.h declares them.</summary>
public static unsafe class Native {
#if (UNITY_IOS || UNITY_TVOS || UNITY_VISIONOS || UNITY_WEBGL) && !UNITY_EDITOR
  /// <summary>The library is linked into the player.</summary>
  public const string Library = "__Internal";
#else
  /// <summary>librlcore.so, librlcore.dylib or rlcore.dll.</summary>
  public const string Library = "rlcore";
#endif
"#;

/// The comments of the header: of declarations with the scope "", of fields and constants with that of their type.
struct Docs(BTreeMap<(String, String), Vec<String>>);

impl Docs {
    fn of(header: &str) -> Docs {
        let body = header.split_once("extern \"C\" {").unwrap().1;
        let (mut docs, mut pending, mut scope) = (BTreeMap::new(), Vec::new(), String::new());
        let mut lines = body.lines();
        while let Some(line) = lines.next() {
            let code = line.trim();
            if let Some(first) = code.strip_prefix("/*") {
                let mut text = vec![first.trim_start().to_string()];
                while !text.last().unwrap().ends_with("*/") {
                    text.push(lines.next().unwrap().trim_end().to_string());
                }
                *text.last_mut().unwrap() = text.last().unwrap().trim_end_matches("*/").trim_end().to_string();
                let indent = line.len() - line.trim_start().len() + 3;
                text[1..].iter_mut().for_each(|line| *line = line.get(indent..).unwrap_or("").to_string());
                pending = if text[0].starts_with("-- ") { Vec::new() } else { text };
                continue;
            }
            let (code, behind) = code.split_once("/*").unwrap_or((code, ""));
            let behind = behind.trim().trim_end_matches("*/").trim();
            let mut documented = |scope: &str, name: &str| {
                let text = if behind.is_empty() { std::mem::take(&mut pending) } else { vec![behind.to_string()] };
                if !text.is_empty() {
                    docs.insert((scope.to_string(), name.to_string()), text);
                }
            };
            let word = |text: &str| text.split(|c| !in_a_word(c)).next().unwrap().to_string();
            if let Some(name) = code.strip_prefix("typedef int32_t ").filter(|name| !name.starts_with('(')) {
                scope = word(name);
                documented("", &scope);
            } else if let Some(name) = ["typedef struct ", "typedef enum "].iter().find_map(|t| code.strip_prefix(t)) {
                documented("", &word(name));
                if code.contains('{') {
                    scope = word(name);
                }
            } else if let Some(name) = code.strip_prefix("#define ") {
                documented("", &word(name));
            } else if code.starts_with('}') {
                scope.clear();
            } else if !scope.is_empty() && code.contains([';', '=']) {
                let end = code.find([';', '=', '[']).unwrap();
                documented(&scope, code[..end].trim_end().rsplit([' ', '*']).next().unwrap());
            } else if let Some(at) = code.find("rlcore_").filter(|_| scope.is_empty() && !line.starts_with(' ')) {
                // A function or, behind "(*", the type of a callback; the name of a type stands before some.
                let at = code.find("(*rlcore_").map_or(at, |at| at + 2);
                let end = code[at..].find(['(', ')']).map(|end| at + end);
                if let Some(end) = end {
                    documented("", code[at..end].rsplit([' ', '*']).next().unwrap());
                }
            }
        }
        Docs(docs)
    }

    fn get(&self, scope: &str, name: &str) -> &[String] {
        self.0.get(&(scope.to_string(), name.to_string())).map_or(&[], Vec::as_slice)
    }
}

/// A comment as a summary for compilers, or nothing if there is none.
fn summary(out: &mut String, indent: &str, text: &[String]) {
    match text {
        [] => {}
        [line] if indent.len() + line.len() <= 96 => {
            writeln!(out, "{indent}/// <summary>{}</summary>", escaped(line)).unwrap();
        }
        lines => {
            writeln!(out, "{indent}/// <summary>").unwrap();
            for line in lines {
                writeln!(out, "{}", format!("{indent}/// {}", escaped(line)).trim_end()).unwrap();
            }
            writeln!(out, "{indent}/// </summary>").unwrap();
        }
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// STREAM_AC or stream_ac as StreamAc.
fn pascal(name: &str) -> String {
    let word = |w: &str| w.chars().take(1).map(|c| c.to_ascii_uppercase()).collect::<String>() + &w[1..].to_lowercase();
    name.split('_').filter(|w| !w.is_empty()).map(word).collect()
}

/// The type of C# for one of C without pointers.
fn plain(c: &str) -> &str {
    match c {
        "uint8_t" | "char" => "byte",
        "int32_t" => "int",
        "uint32_t" => "uint",
        "int64_t" => "long",
        "uint64_t" => "ulong",
        "size_t" => "UIntPtr",
        "rlcore_status" => "Status",
        callback if callback.ends_with("_fn") => "IntPtr",
        other => other,
    }
}

/// `const void *const *parts` as its type, `void**`, its name, and the length if it is an array.
fn declared(c: &str) -> (String, String, Option<usize>) {
    let c = c.replace("const ", "").replace("const*", "*").trim().trim_end_matches([';', ',']).to_string();
    let at = c.rfind([' ', '*']).unwrap() + 1;
    let (of, name) = c.split_at(at);
    let stars = of.matches('*').count();
    let base = plain(of.trim_end_matches([' ', '*']).trim_end_matches("*const").trim());
    let (name, len) = match name.split_once('[') {
        Some((name, len)) => (name, Some(len.trim_end_matches(']').parse().unwrap())),
        None => (name, None),
    };
    (format!("{base}{}", "*".repeat(stars)), name.to_string(), len)
}

/// Types of arrays in structures, and how the structures that stand for them begin.
const WORDS: [(&str, &str); 3] = [("byte", "UInt8"), ("uint", "UInt32"), ("ulong", "UInt64")];

/// The type of an array in a structure.
fn array(of: &str, declared: &str, len: usize) -> String {
    match of {
        "byte" if declared.contains("char ") => format!("Text{len}"),
        _ => format!("{}x{len}", WORDS.iter().find(|(own, _)| own == &of).unwrap().1),
    }
}

/// The structure that stands for such an array.
fn array_struct(name: &str) -> String {
    let Some(len) = name.strip_prefix("Text") else {
        let (word, len) = name.split_once('x').unwrap();
        let of = WORDS.iter().find(|(_, own)| *own == word).unwrap().0;
        let rest: Vec<String> = (0..len.parse().unwrap()).map(|i: usize| format!("e{i}")).collect();
        return format!(
            r#"
/// <summary>{len} numbers in a structure.</summary>
[StructLayout(LayoutKind.Sequential)]
public struct {name} {{
  private {of} {};
  /// <summary>How many there are.</summary>
  public int Length {{ get {{ return {len}; }} }}
  /// <summary>Number i.</summary>
  public {of} this[int i] {{
    get {{ return MemoryMarshal.CreateSpan(ref e0, {len})[i]; }}
    set {{
      Span<{of}> all = MemoryMarshal.CreateSpan(ref e0, {len});
      all[i] = value;
    }}
  }}
}}
"#,
            rest.join(", ")
        );
    };
    let words = len.parse::<usize>().unwrap() / 8;
    let rest: Vec<String> = (0..words).map(|i| format!("e{i}")).collect();
    format!(
        r#"
/// <summary>A text of up to {last} bytes of UTF-8 in a structure.</summary>
[StructLayout(LayoutKind.Sequential, Pack = 1)]
public struct {name} {{
  private ulong {fields};
  /// <summary>The text; one that is too long is an ArgumentException.</summary>
  public static implicit operator {name}(string text) {{
    {name} made = default({name});
    byte[] bytes = Encoding.UTF8.GetBytes(text);
    if (bytes.Length > {last}) throw new ArgumentException("at most {last} bytes: " + text);
    bytes.CopyTo(MemoryMarshal.AsBytes(MemoryMarshal.CreateSpan(ref made.e0, {words})));
    return made;
  }}
  /// <summary>The text.</summary>
  public override string ToString() {{
    ReadOnlySpan<byte> bytes = MemoryMarshal.AsBytes(MemoryMarshal.CreateSpan(ref e0, {words}));
    int end = bytes.IndexOf((byte)0);
    return Encoding.UTF8.GetString((end < 0 ? bytes : bytes.Slice(0, end)).ToArray());
  }}
}}
"#,
        last = words * 8 - 1,
        fields = rest.join(", "),
    )
}

/// An enumeration with the constants of this text, one a line.
fn enumeration(out: &mut String, docs: &Docs, name: &str, body: &str) {
    let rows: Vec<(&str, &str)> =
        body.lines().filter_map(|l| l.trim().trim_end_matches(',').split_once(" = ")).collect();
    let first = rows[0].0;
    let shared = |at: usize| rows.iter().all(|(name, _)| name.starts_with(&first[..at]));
    let prefix = first.match_indices('_').map(|(at, _)| at + 1).take_while(|&at| shared(at)).last().unwrap();
    summary(out, "", docs.get("", name));
    let of = if name == "rlcore_status" { "int" } else { "uint" };
    writeln!(out, "public enum {} : {of} {{", pascal(name.strip_prefix("rlcore_").unwrap())).unwrap();
    for (constant, value) in rows {
        let mut text = docs.get(name, constant).to_vec();
        match &mut text[..] {
            [line] if constant.len() + line.len() < 94 => *line = format!("{constant}: {line}"),
            [] => text.push(constant.to_string()),
            _ => text.insert(0, format!("{constant}:")),
        }
        summary(out, "  ", &text);
        let own = constant[prefix..].trim_start_matches("E_");
        assert!(own.starts_with(|c: char| c.is_ascii_alphabetic()), "{constant}: no name in C#");
        writeln!(out, "  {} = {value},", pascal(own)).unwrap();
    }
    out.push_str("}\n\n");
}

fn structure(out: &mut String, docs: &Docs, name: &str, body: &str, arrays: &mut BTreeSet<String>) {
    summary(out, "", docs.get("", name));
    writeln!(out, "[StructLayout(LayoutKind.Sequential)]\npublic unsafe struct {name} {{").unwrap();
    for line in body.lines() {
        let code = line.rsplit("*/").next().unwrap();
        let (of, field, len) = declared(code);
        summary(out, "  ", docs.get(name, &field));
        let of = match len {
            Some(len) => array(&of, code, len),
            None => of,
        };
        if len.is_some() {
            arrays.insert(of.clone());
        }
        writeln!(out, "  public {of} {};", own_name(&field)).unwrap();
    }
    out.push_str("}\n\n");
}

/// Names that are keywords of C# get the sign that makes them names.
fn own_name(name: &str) -> String {
    format!("{}{name}", if ["base", "out", "params"].contains(&name) { "@" } else { "" })
}

/// The parameters of a function: their documentation and their list.
fn parameters(out: &mut String, indent: &str, tail: &str) -> String {
    let mut list = Vec::new();
    for parameter in
        tail.split(",\n").flat_map(|line| if line.contains("/*") { vec![line] } else { line.split(", ").collect() })
    {
        let (told, code) = match parameter.split_once("*/") {
            Some((told, code)) => (told.trim().trim_start_matches("/*").trim(), code),
            None => ("", parameter),
        };
        if code.trim() == "void" {
            continue;
        }
        let (of, name, _) = declared(code);
        if !told.is_empty() {
            writeln!(out, "{indent}/// <param name=\"{name}\">{}</param>", escaped(told)).unwrap();
        }
        list.push(format!("{of} {}", own_name(&name)));
    }
    list.join(", ")
}

/// The file, from the header and its bindings.
pub fn file(header: &str, bindings: &str) -> String {
    let docs = Docs::of(header);
    let (mut types, mut calls, mut arrays) = (String::new(), String::from(LIBRARY), BTreeSet::new());
    for section in bindings.split("/* ---- ").skip(1) {
        let (title, body) = section.split_once(" ---- */\n").unwrap();
        let (types_before, calls_before) = (types.len(), calls.len());
        let mut rest = body.trim_start();
        while !rest.is_empty() {
            let braced = rest.lines().next().unwrap().ends_with('{');
            let end = if braced { rest.find("\n}").unwrap() + 2 } else { 0 };
            let end = end + rest[end..].find(";\n").unwrap() + 1;
            let code = &rest[..end];
            rest = rest[end..].trim_start();
            let inner = || code.split_once("{\n").unwrap().1.rsplit_once("\n}").unwrap().0;
            if let Some(constant) = code.strip_prefix("enum { ") {
                let (name, value) = constant.trim_end_matches(" };").split_once(" = ").unwrap();
                summary(&mut calls, "  ", docs.get("", name));
                writeln!(calls, "  public const int {name} = {value};").unwrap();
            } else if code.starts_with("enum {\n") {
                enumeration(&mut types, &docs, "rlcore_status", inner());
            } else if let Some(code) = code.strip_prefix("typedef enum ") {
                enumeration(&mut types, &docs, code.split(' ').next().unwrap(), inner());
            } else if let Some(code) = code.strip_prefix("typedef struct ") {
                let name = code.split(' ').next().unwrap();
                if braced {
                    structure(&mut types, &docs, name, inner(), &mut arrays);
                } else {
                    summary(&mut types, "", docs.get("", name));
                    writeln!(types, "public struct {name} {{ }}\n").unwrap();
                }
            } else if let Some((head, tail)) = code.split_once(")(").filter(|_| code.starts_with("typedef ")) {
                let (of, name) = head.trim_start_matches("typedef ").split_once(" (*").unwrap();
                summary(&mut types, "", docs.get("", name));
                let mut told = String::new();
                let list = parameters(&mut told, "", tail.trim_end_matches(");"));
                writeln!(types, "{told}[UnmanagedFunctionPointer(CallingConvention.Cdecl)]").unwrap();
                writeln!(types, "public unsafe delegate {} {name}({list});\n", plain(of)).unwrap();
            } else if !code.starts_with("typedef ") {
                let (head, tail) = code.split_once('(').unwrap();
                let (of, name, _) = declared(head);
                summary(&mut calls, "  ", docs.get("", &name));
                let mut told = String::new();
                let list = parameters(&mut told, "  ", tail.trim_end_matches(");"));
                calls += &told;
                calls.push_str(
                    "  [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]\n",
                );
                writeln!(calls, "  public static extern {of} {name}({list});\n").unwrap();
            }
        }
        for (text, before, indent) in [(&mut types, types_before, ""), (&mut calls, calls_before, "  ")] {
            if text.len() > before {
                text.insert_str(before, &format!("\n{indent}// ---- {title} ----\n\n"));
            }
        }
    }
    let mut out = String::from(INTRO) + &types;
    out.push_str("// ---- Arrays in structures ----\n");
    arrays.iter().for_each(|name| out += &array_struct(name));
    out.push_str(
        "\n/// <summary>The built-in environments by their names.</summary>\npublic static class EnvNames {\n",
    );
    out.push_str("  /// <summary>The number of each name, e.g. \"CartPole-v1\".</summary>\n");
    out.push_str("  public static readonly Dictionary<string, EnvId> Ids = new Dictionary<string, EnvId> {\n");
    let names = header.lines().filter_map(|line| line.trim().strip_prefix("RLCORE_ENV_")?.split_once(" = "));
    let names: BTreeMap<u32, String> =
        names.filter_map(|(name, value)| Some((value.split(',').next()?.parse().ok()?, pascal(name)))).collect();
    for (name, env) in BUILTINS {
        writeln!(out, "    {{ \"{name}\", EnvId.{} }},", names[&env.spec().env_id]).unwrap();
    }
    out.push_str("  };\n}\n");
    calls.truncate(calls.trim_end().len());
    out += &calls;
    // No blank line at the end of a list.
    let out = out + "\n}\n\n}\n";
    let mut text = String::new();
    for line in out.replace("\n\n\n", "\n\n").lines() {
        writeln!(text, "{}", line.trim_end()).unwrap();
    }
    text
}
