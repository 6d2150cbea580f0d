//! `include/rlcore_bindings.h`: the declarations of `include/rlcore.h` for programs that read C, not for compilers.

use super::comments::{Entry, entries, in_a_word, said};
use std::fmt::Write as _;

const INTRO: &str = "/* The declarations of rlcore.h for binding generators: plain C without preprocessor lines, for cffi's cdef as it is, or for
   pycparser once comments are removed. It needs size_t and the types of stdint.h. Do not include it.

   Each pointer parameter or field is preceded by a comment that describes what it points to, always in this form:

     direction [extent, extent, ...] optional

   direction: in, read; out, written; inout, both, as for objects and the memory they lie in; opaque: the caller's own, never
              dereferenced.
   [...]:     shape of a row-major array; without it a single element, or, for char, a NUL-terminated string. An extent is
              an integer, a parameter, a field, or a sum, difference, product or call of these; sum(x) adds up an array;
              x... stands for several extents. Short names are those of rlcore.h: N environments, T steps, and so on. For
              void * the shape counts elements of the kind that rlcore.h names; for mem, bytes.
   optional:  may be NULL.

   Generated together with rlcore.h, by the same command. */
";

/// Shapes that the comments of callbacks do not repeat.
const CALLBACKS: &str = "action: [action.len]. obs: [obs.len] to write. state: [state_size] to change. ";

/// The part of a comment about `name`, up to the next parameter: "name: [shape] ...", "a, name: ...".
fn item<'a>(text: &'a str, parameters: &[String], name: &str) -> Option<&'a str> {
    let begin = |name: &str, from: usize| {
        text[from..].match_indices(name).map(|(at, _)| from + at).find_map(|at| {
            let after = &text[at + name.len()..];
            let listed = after.split(':').next()?;
            let alone = !text[..at].ends_with(|c| in_a_word(c) || c == '.') && !after.starts_with(in_a_word);
            let list = listed.is_empty() || listed.starts_with(", ");
            let names = listed.split(", ").skip(1).all(|word| !word.is_empty() && word.chars().all(in_a_word));
            (alone && list && names && after.len() > listed.len()).then(|| (at, at + name.len() + listed.len() + 1))
        })
    };
    let (_, start) = begin(name, 0)?;
    let next = parameters.iter().filter_map(|p| begin(name_of(p), start).map(|(at, _)| at));
    let sections = ["Errors", "Threads:"].iter().filter_map(|word| text[start..].find(word).map(|at| start + at));
    let end = next.chain(sections).min().unwrap_or(text.len());
    Some(text[start..end].trim())
}

fn name_of(parameter: &str) -> &str {
    parameter.rsplit(['*', ' ']).next().unwrap()
}

/// The shape "[...]" at the start of a text, or anywhere in it, with "sum of x" as the single word "sum(x)".
fn shape(text: &str, anywhere: bool) -> Option<String> {
    let begin = text.find('[').filter(|&at| at == 0 || anywhere)?;
    let end = begin + text[begin..].find(']')?;
    let extents = text[begin + 1..end].split(", ").map(|extent| match extent.strip_prefix("sum of ") {
        Some(array) => format!("sum({array})"),
        None => extent.to_string(),
    });
    Some(extents.collect::<Vec<_>>().join(", "))
}

/// Whether a program can read the shape: words with operators between them, nothing else.
fn is_regular(shape: &str) -> bool {
    let word = |w: &str| w.chars().all(|c| in_a_word(c) || "().".contains(c)) && !w.is_empty();
    let extent = |e: &str| {
        e.split([' ']).enumerate().all(|(i, w)| if i % 2 == 0 { word(w) } else { ["*", "+", "-", "/"].contains(&w) })
    };
    shape.split(", ").all(extent)
}

/// Phrases for an array that is read and then written.
const CHANGES: [&str; 5] = ["to change", "becomes", "be changed", "then written", "updated"];

/// Whether a call reads the parameter, of type `own`, that it writes: an object, a stream, a structure whose struct_size it
/// checks, or an array whose comment says so.
fn is_read(header: &str, own: &str, name: &str, words: &str, parameters: &[String]) -> bool {
    let body = header.split(&format!("typedef struct {own} {{")).nth(1);
    let sized = || {
        let fields = body.and_then(|body| body.split("\n}").next()).unwrap_or("");
        let told =
            parameters.iter().any(|p| name_of(p).strip_suffix("_size") == Some(name) || name_of(p) == "def_size");
        fields.contains(" struct_size;") && !told
    };
    let written = words.contains("to write") || name.starts_with("out_");
    name == "mem"
        || CHANGES.iter().any(|w| words.split(". ").next().unwrap().contains(w))
        || own.starts_with("rlcore_") && (body.is_none() || sized() || own == "rlcore_rng" && !written)
}

/// The annotation of a pointer: direction, shape, and whether it may be NULL. `Err` if a shape is needed and missing.
fn annotation(header: &str, declared: &str, text: &str, parameters: &[String]) -> Result<String, String> {
    let name = name_of(declared);
    let item = item(text, parameters, name);
    let words = item.unwrap_or("");
    let inner =
        declared[..declared.rfind('*').unwrap()].trim_end_matches([' ', '*']).trim_end_matches("*const").trim_end();
    let own = inner.trim_start_matches("const ").trim_end_matches(" const");
    let direction = if name == "user" {
        return Ok("opaque".into());
    } else if declared.contains("**") {
        "out"
    } else if declared.starts_with("const ") {
        "in"
    } else if is_read(header, own, name, words, parameters) {
        "inout"
    } else {
        "out"
    };
    let inline = || {
        let (_, rest) = text
            .match_indices(name)
            .map(|(at, _)| text.split_at(at))
            .find(|(before, rest)| !before.ends_with(in_a_word) && rest[name.len()..].starts_with('['))?;
        shape(&rest[name.len()..], false).filter(|s| s.len() > 1)
    };
    let outputs = || text.find("oth outputs [").filter(|_| direction == "out" && !own.starts_with("rlcore_"));
    let extents = if name == "mem" {
        Some("mem_size".to_string())
    } else {
        shape(words, false)
            .or_else(|| outputs().and_then(|at| shape(&text[at..], true)))
            .or_else(inline)
            .or_else(|| shape(words, !own.starts_with("rlcore_") && !words.starts_with("NULL")))
    };
    let single = own.starts_with("rlcore_") || name.starts_with("out") || own == "char" || name == "seed";
    match &extents {
        Some(extents) if !is_regular(extents) => {
            return Err(format!("{declared}: [{extents}] is no shape for a program"));
        }
        None if !single => return Err(format!("{declared}: no shape")),
        _ => {}
    }
    let extents = extents.filter(|e| e != "1").map_or(String::new(), |e| format!(" [{e}]"));
    // Comments on rows speak of their arrays, too: there a sentence about the rows begins with NULL.
    let optional = words.match_indices("NULL").map(|(at, _)| words[..at].trim_end()).any(|before| match own {
        "rlcore_rows" => before.is_empty() || before.ends_with('.') || before.ends_with(" rows may be"),
        _ => !before.ends_with(" is") && !before.ends_with(" are"),
    });
    Ok(format!("{direction}{extents}{}", if optional { " optional" } else { "" }))
}

/// The text without its comments, and without the spaces before them.
fn bare(code: &str) -> String {
    let mut rest = code;
    let mut out = String::new();
    while let Some((before, after)) = rest.split_once("/*") {
        out += before.trim_end_matches(' ');
        rest = after.split_once("*/").unwrap().1;
    }
    out + rest
}

/// The fields of a structure, pointers with their annotations.
fn fields(header: &str, name: &str, body: &str, missing: &mut Vec<String>) -> String {
    let (mut out, mut above) = (String::new(), String::new());
    let mut lines = body.lines().peekable();
    while let Some(line) = lines.next() {
        if line.trim_start().starts_with("/*") {
            above = line.to_string();
            while !above.ends_with("*/") {
                above = above + " " + lines.next().unwrap().trim();
            }
            continue;
        }
        let (field, behind) = line.split_once("/*").unwrap_or((line, &above));
        let field = field.trim();
        let words = behind.trim_start_matches([' ', '/', '*']).trim_end_matches([' ', '/', '*']);
        if field.contains('*') {
            let declared = field.trim_end_matches(';');
            let text = format!("{}: {words}", name_of(declared));
            match annotation(header, declared, &text, &[]) {
                Ok(said) => writeln!(out, "  /* {said} */ {field}").unwrap(),
                Err(why) => missing.push(format!("{name}: {why}")),
            }
        } else if !field.is_empty() {
            writeln!(out, "  {field}").unwrap();
        }
        above.clear();
    }
    out
}

/// A function or a function type, with a line for each parameter.
fn function(header: &str, head: &str, parameters: &[String], text: &str, missing: &mut Vec<String>) -> String {
    let lines: Vec<String> = parameters
        .iter()
        .map(|p| match p.contains('*').then(|| annotation(header, p, text, parameters)) {
            Some(Ok(said)) => format!("  /* {said} */ {p}"),
            Some(Err(why)) => {
                missing.push(format!("{head}: {why}"));
                format!("  {p}")
            }
            None => format!("  {p}"),
        })
        .collect();
    match lines.len() {
        1 if !lines[0].contains('*') => format!("{head}({});\n", lines[0].trim()),
        _ => format!("{head}(\n{});\n", lines.join(",\n")),
    }
}

/// The declarations of a header, with the comments that [`entries`] reads, and the pointers that have no readable shape.
pub fn bindings(header: &str) -> (String, Vec<String>) {
    let entries: Vec<Entry> = entries(header);
    let (mut out, mut missing) = (String::from(INTRO), Vec::new());
    let body = header.split_once("/* ---- ").unwrap().1;
    let body = body.rsplit_once("\n#ifdef __cplusplus").unwrap().0;
    for section in body.split("/* ---- ") {
        let (title, mut rest) = section.split_once(" ---- */\n").unwrap();
        writeln!(out, "\n/* ---- {title} ---- */\n").unwrap();
        let mut comment = "";
        while !rest.trim_start().is_empty() {
            rest = rest.trim_start();
            if let Some(words) = rest.strip_prefix("/*") {
                (comment, rest) = words.split_once("*/").unwrap();
                continue;
            }
            let line_end = rest.find('\n').unwrap_or(rest.len());
            if rest.starts_with('#') {
                if let Some(constant) = rest[..line_end].strip_prefix("#define ") {
                    let constant = bare(constant);
                    writeln!(out, "enum {{ {} }};", constant.trim().replacen(' ', " = ", 1)).unwrap();
                }
                rest = &rest[line_end..];
                continue;
            }
            let braced =
                rest[..line_end].ends_with('{') || rest[..line_end].contains("{ ") || rest.starts_with("enum {");
            let end = if braced { rest.find("\n}").unwrap() + 1 } else { 0 };
            let end = end + rest[end..].find(';').unwrap() + 1;
            let (code, after) = rest.split_at(end);
            rest = after;
            let words = |s: &str| s.split_whitespace().collect::<Vec<_>>().join(" ");
            let parameters = |tail: &str| -> Vec<String> {
                words(tail.trim_end_matches(");")).split(", ").map(String::from).collect()
            };
            if let Some(name) =
                code.strip_prefix("typedef struct ").filter(|_| braced).map(|s| s.split(' ').next().unwrap())
            {
                let (open, close) = (code.find("{\n").unwrap() + 2, code.rfind('}').unwrap());
                let fields = fields(header, name, &code[open..close], &mut missing);
                write!(out, "typedef struct {name} {{\n{fields}{}\n", &code[close..]).unwrap();
            } else if let Some((head, tail)) = code.split_once(")(").filter(|_| code.starts_with("typedef ")) {
                let text = CALLBACKS.to_string() + &words(comment);
                out += &function(header, &(words(head) + ")"), &parameters(tail), &text, &mut missing);
            } else if let Some((head, tail)) = code.split_once('(').filter(|_| !braced) {
                let name = name_of(head);
                let k = entries.iter().position(|e| e.name == name).unwrap_or_else(|| panic!("{name} has no comment"));
                let text = said(&entries, k, &mut Vec::new());
                out += &function(header, &words(head), &parameters(tail), &text, &mut missing);
            } else {
                let code = bare(code);
                let lines: Vec<&str> = code.lines().map(str::trim_end).filter(|l| !l.is_empty()).collect();
                writeln!(out, "{}", lines.join("\n")).unwrap();
            }
        }
    }
    (out, missing)
}
