//! The structures of a C# program: their fields, as `rlcore_bindings.h` declares them.

use std::fmt::Write as _;

/// The program with the fields of each `struct rlcore_x` filled in.
pub fn with_fields(program: &str, bindings: &str) -> String {
    let mut out = String::new();
    let mut rest = program;
    while let Some(at) = rest.find("struct rlcore_") {
        let line = at + rest[at..].find(" {\n").unwrap();
        let name = &rest[at + "struct ".len()..line];
        let end = line + rest[line..].find("\n}").unwrap();
        let body = bindings.split(&format!("typedef struct {name} {{\n")).nth(1).unwrap_or_else(|| panic!("no {name}"));
        out += &rest[..line + 3];
        for declared in body[..body.find("\n}").unwrap()].lines() {
            writeln!(out, "  {}", field(program, declared)).unwrap();
        }
        out.pop();
        rest = &rest[end..];
    }
    out + rest
}

fn field(program: &str, declared: &str) -> String {
    let code = declared.rsplit("*/").next().unwrap().trim().trim_end_matches(';').replace("const ", "");
    let (of, name) = code.split_once(' ').unwrap();
    let own = match of {
        "uint8_t" | "char" => "byte",
        "int32_t" => "int",
        "uint32_t" => "uint",
        "uint64_t" => "ulong",
        "size_t" => "UIntPtr",
        // From `Marshal.GetFunctionPointerForDelegate`.
        callback if callback.ends_with("_fn") => "IntPtr",
        other => other,
    };
    match (name.strip_prefix('*'), name.contains('[')) {
        (Some(name), _) if of.starts_with("rlcore_") && !program.contains(&format!("struct {of} ")) => {
            format!("public IntPtr {name};")
        }
        (Some(name), _) => format!("public {own}* {name};"),
        (None, true) => format!("public fixed {own} {name};"),
        (None, false) => format!("public {own} {name};"),
    }
}
