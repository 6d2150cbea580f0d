//! Module floors: every file in `src/` uses lower floors only, and each risky feature has exactly one file.
//!
//! The check reads tokens, not text: comments and literals do not count, unit tests do.

use std::fs;
use std::path::{Path, PathBuf};

/// Every module of the crate and its floor.
const FLOORS: [(&str, u32); 14] = [
    ("error", 0),
    ("num", 0),
    ("rng", 0),
    ("cpu", 0),
    ("decimal", 0),
    ("space", 0),
    ("block", 1),
    ("kernels", 2),
    ("env", 3),
    ("data", 3),
    ("nn", 4),
    ("learn", 5),
    ("collect", 6),
    ("owned", 7),
];

/// Modules that must not use each other, whatever their floors.
const STRANGERS: [(&str, &str); 1] = [("learn", "env")];

/// Names, and the only file of `src/` that may contain them; "" means none.
const DOORS: [(&str, &str); 9] = [
    ("unsafe", "cpu.rs"),
    ("unsafe_code", "cpu.rs"),
    ("cpufeatures", "cpu.rs"),
    ("target_arch", "cpu.rs"),
    ("target_feature", "cpu.rs"),
    ("libm", "num.rs"),
    ("rand_pcg", "rng.rs"),
    ("mul_add", ""),
    ("alloc", "owned.rs"),
];

/// The files of `src/learn/` that may ask for the algorithm of a configuration. All others ask for its needs, which are data.
const ALGORITHMS: [&str; 4] = ["algorithm/", "config.rs", "config_table.rs", "config_fields.rs"];

/// Names allowed in `ffi/src/ptr/` only: it alone makes slices from a caller's pointers.
const RAW: [&str; 5] =
    ["from_raw_parts", "from_raw_parts_mut", "slice_from_raw_parts", "slice_from_raw_parts_mut", "transmute"];

#[test]
fn every_file_stands_on_lower_floors() {
    let mut found = Vec::new();
    for (file, text) in sources("src") {
        found.extend(check_core(&file, &text));
    }
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

#[test]
fn every_module_has_a_floor() {
    let text = fs::read_to_string(root().join("src/lib.rs")).unwrap();
    let tokens = tokens(&text);
    let mut modules: Vec<&str> = tokens.windows(2).filter(|w| w[0] == "mod").map(|w| w[1].as_str()).collect();
    let mut floors: Vec<&str> = FLOORS.iter().map(|f| f.0).collect();
    modules.sort_unstable();
    floors.sort_unstable();
    assert_eq!(modules, floors, "src/lib.rs and the list of floors in this test");
}

#[test]
fn only_ptr_makes_slices_from_pointers() {
    let mut found = Vec::new();
    for (file, text) in sources("ffi/src") {
        found.extend(check_ffi(&file, &text));
    }
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

/// `.github/floors.svg` shows the current modules: RLCORE_BLESS=1 redraws it.
#[test]
fn the_picture_of_the_floors_is_that_of_the_code() {
    let (path, drawn) = (root().join(".github/floors.svg"), picture(&sources("src")));
    if std::env::var_os("RLCORE_BLESS").is_some() {
        fs::write(&path, &drawn).unwrap();
    }
    assert!(
        fs::read_to_string(&path).unwrap() == drawn,
        "other uses or floors: RLCORE_BLESS=1 cargo test --test sources"
    );
}

/// Modules as boxes on their floors, with a line to each module used; the lowest floor, which all use, gets no lines.
fn picture(sources: &[(String, String)]) -> String {
    const WIDTH: usize = 720;
    let row = |floor: u32| FLOORS.iter().filter(move |f| f.1 == floor).map(|f| f.0);
    let place = |module: &str| {
        let floor = floor_of(module).unwrap();
        let (count, index) = (row(floor).count(), row(floor).position(|m| m == module).unwrap());
        ((2 * index + 1) * WIDTH / (2 * count), 40 + 80 * (7 - floor as usize))
    };
    let module = |file: &str| file.trim_end_matches(".rs").split('/').next().unwrap().to_string();
    let mut lines = std::collections::BTreeSet::new();
    for (file, text) in sources.iter().filter(|(file, _)| file != "lib.rs") {
        let paths = crate_paths(&tokens(text)).into_iter().map(|path| module(&path));
        lines.extend(paths.filter(|to| floor_of(to).is_some_and(|floor| floor > 0)).map(|to| (module(file), to)));
    }
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} 640\" font-family=\"sans-serif\" font-size=\"15\">\n"
    );
    svg += "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n";
    for (from, to) in lines.iter().filter(|(from, to)| from != to) {
        let ((x1, y1), (x2, y2)) = (place(from), place(to));
        svg += &format!(
            "<path d=\"M{x1} {y1}C{x1} {} {x2} {} {x2} {y2}\" fill=\"none\" stroke=\"#9ab\" stroke-width=\"1.5\"/>\n",
            y1 + 40,
            y2 - 40
        );
    }
    for (name, floor) in FLOORS {
        let (x, y) = place(name);
        let shade = 248 - 6 * floor;
        svg += &format!(
            "<rect x=\"{}\" y=\"{}\" width=\"100\" height=\"44\" rx=\"6\" fill=\"rgb({shade},{},252)\" stroke=\"#456\"/>\n",
            x - 50,
            y - 22,
            shade + 4
        );
        svg += &format!("<text x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{name}</text>\n", y + 5);
    }
    svg + "</svg>\n"
}

/// The rules themselves: lines that are refused, and lines that are accepted.
#[test]
fn planted_violations_are_seen() {
    let refused = [
        ("kernels/gae.rs", "use crate::env::Env;"),
        ("kernels/gae.rs", "use crate::{error::Result, block::{Plan, Span}, nn::net};"),
        ("kernels/gae.rs", "fn f() -> crate::learn::Learner { todo!() }"),
        ("kernels/gae.rs", "use super::super::env;"),
        ("kernels/mod.rs", "use super::env::Env;"),
        ("kernels/gae.rs", "use crate::*;"),
        ("kernels/gae.rs", "use crate as all;"),
        ("error.rs", "use crate::block::Plan;"),
        ("learn/learner.rs", "#[cfg(test)] mod tests { use crate::env::CartPole; }"),
        ("env/vecenv.rs", "use crate::data::rollout;"),
        ("env/wrap.rs", "use crate::data::rollout;"),
        ("data/rollout.rs", "use crate::env::Env;"),
        ("nn/net.rs", "let y = libm::expf(x);"),
        ("env/cartpole.rs", "use rand_pcg::Pcg64;"),
        ("nn/dense.rs", "fn f() { unsafe { g() } }"),
        ("nn/dense.rs", "#![allow(unsafe_code)]"),
        ("nn/dense.rs", "#[cfg(target_arch = \"x86_64\")]"),
        ("nn/dense.rs", "let z = a.mul_add(b, c);"),
        ("wild/mod.rs", "use crate::error::Result;"),
        ("learn/learner/act.rs", "if config.algorithm() == Algorithm::Dqn {}"),
        ("learn/learner_spec.rs", "matches!(self.config.algorithm(), Algorithm::Td3 | Algorithm::Sac)"),
    ];
    for (file, line) in refused {
        assert!(!check_core(file, line).is_empty(), "{file}: {line}");
    }
    let accepted = [
        ("kernels/gae.rs", "use crate::{cpu::Kernel, error::{Error, Result}};\nuse super::moments;"),
        ("learn/learner.rs", "use crate::data::normalizer; // as crate::env would not be"),
        ("learn/learner.rs", "/* use crate::env::Env; /* nested */ unsafe */ pub(crate) fn f() {}"),
        ("env/cartpole.rs", "const S: &str = \"use crate::learn; \\\" unsafe\"; const C: char = '\"';"),
        ("nn/net.rs", "const S: &str = r#\"unsafe \" libm\"#; fn f<'a>(x: &'a [f32]) {}"),
        ("cpu.rs", "#![allow(unsafe_code)]\nmod detect { use super::Level; }"),
        ("learn/learner/act.rs", "if config.needs().q { algorithm::chunk(x)?; }"),
        ("learn/algorithm/mod.rs", "match x.config.algorithm() {}"),
    ];
    for (file, line) in accepted {
        assert_eq!(check_core(file, line), Vec::<String>::new(), "{file}: {line}");
    }
    assert!(!check_ffi("learner.rs", "core::slice::from_raw_parts(p, n)").is_empty());
    assert!(check_ffi("ptr/array.rs", "core::slice::from_raw_parts(p, n)").is_empty());
}

fn check_core(file: &str, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let tokens = tokens(text);
    for (name, door) in DOORS {
        if file != door && tokens.iter().any(|t| t == name) {
            found.push(match door {
                "" => format!("src/{file}: `{name}` has no place in this crate"),
                _ => format!("src/{file}: only {door} may say `{name}`"),
            });
        }
    }
    let asks = tokens.windows(3).any(|w| w == [".", "algorithm", "("]);
    if let Some(part) = file.strip_prefix("learn/").filter(|part| !ALGORITHMS.iter().any(|own| part.starts_with(own)))
        && asks
    {
        found.push(format!("src/learn/{part}: asks which algorithm it is, not what that needs"));
    }
    if file == "lib.rs" {
        return found;
    }
    let stem = file.trim_end_matches(".rs");
    let here = stem.split('/').next().unwrap_or(stem);
    let Some(floor) = floor_of(here) else {
        found.push(format!("src/{file}: `{here}` has no floor"));
        return found;
    };
    for path in crate_paths(&tokens) {
        let there = path.split('/').next().unwrap_or(&path);
        let strangers = STRANGERS.iter().any(|&s| s == (here, there) || s == (there, here));
        match floor_of(there) {
            None => found.push(format!("src/{file}: write crate::<module>::…, not {path}")),
            Some(_) if here == there => {}
            Some(_) if strangers => found.push(format!("src/{file}: {here} and {there} never see each other")),
            Some(f) if f > floor || (f == floor && floor != 0) => {
                found.push(format!("src/{file}: floor {floor} uses {path} of floor {f}"));
            }
            Some(_) => {}
        }
    }
    found
}

fn check_ffi(file: &str, text: &str) -> Vec<String> {
    let tokens = tokens(text);
    let said = |name: &&str| !file.starts_with("ptr/") && tokens.iter().any(|t| t == name);
    RAW.iter().filter(|&name| said(name)).map(|name| format!("ffi/src/{file}: only ptr/ may say `{name}`")).collect()
}

fn floor_of(module: &str) -> Option<u32> {
    FLOORS.iter().find(|f| f.0 == module).map(|f| f.1)
}

/// The paths that start at the crate's root, as `module/item`. Paths that cannot be parsed are returned as written.
fn crate_paths(tokens: &[String]) -> Vec<String> {
    let is = |i: usize, t: &str| tokens.get(i).is_some_and(|x| x == t);
    let two = |i: usize| {
        let name = tokens.get(i).map_or("", String::as_str);
        let next = if is(i + 1, "::") { tokens.get(i + 2).map_or("", String::as_str) } else { "" };
        format!("{name}/{next}")
    };
    let mut paths = Vec::new();
    for (i, token) in tokens.iter().enumerate() {
        match token.as_str() {
            "crate" if is(i + 1, "as") || is(i + 1, ";") => paths.push("crate as".into()),
            "crate" if is(i + 1, "::") && is(i + 2, "{") => {
                let (mut depth, mut first) = (1, true);
                for j in i + 3.. {
                    match tokens.get(j).map(String::as_str) {
                        None => break,
                        Some("{") => depth += 1,
                        Some("}") => depth -= 1,
                        Some(",") => first = depth == 1,
                        Some(_) if first => {
                            paths.push(two(j));
                            first = false;
                        }
                        Some(_) => {}
                    }
                    if depth == 0 {
                        break;
                    }
                }
            }
            "crate" if is(i + 1, "::") => paths.push(two(i + 2)),
            "super" if is(i + 1, "::") && is(i + 2, "super") => paths.push("super::super".into()),
            // In a file at the root, or a mod.rs, `super` is the root.
            "super" if is(i + 1, "::") && tokens.get(i + 2).is_some_and(|t| floor_of(t).is_some()) => {
                paths.push(two(i + 2));
            }
            _ => {}
        }
    }
    paths
}

/// The words and symbols of a Rust text, without comments, literals and lifetimes.
fn tokens(text: &str) -> Vec<String> {
    let c: Vec<char> = text.chars().collect();
    let at = |i: usize| c.get(i).copied().unwrap_or('\0');
    let word = |x: char| x.is_alphanumeric() || x == '_';
    let mut out: Vec<String> = Vec::new();
    let mut i = 0;
    while i < c.len() {
        if at(i) == '/' && at(i + 1) == '/' {
            while i < c.len() && at(i) != '\n' {
                i += 1;
            }
        } else if at(i) == '/' && at(i + 1) == '*' {
            let mut depth = 0;
            loop {
                if at(i) == '/' && at(i + 1) == '*' {
                    (depth, i) = (depth + 1, i + 2);
                } else if at(i) == '*' && at(i + 1) == '/' {
                    (depth, i) = (depth - 1, i + 2);
                } else {
                    i += 1;
                }
                if depth == 0 || i >= c.len() {
                    break;
                }
            }
        } else if at(i) == '"' {
            i += 1;
            while i < c.len() && at(i) != '"' {
                i += if at(i) == '\\' { 2 } else { 1 };
            }
            i += 1;
        } else if at(i) == '\'' {
            if at(i + 1) == '\\' {
                i += 3;
                while i < c.len() && at(i) != '\'' {
                    i += 1;
                }
                i += 1;
            } else if at(i + 2) == '\'' {
                i += 3;
            } else {
                i += 1; // a lifetime: its name follows as a word
            }
        } else if word(at(i)) {
            let start = i;
            while word(at(i)) {
                i += 1;
            }
            let w: String = c[start..i].iter().collect();
            let hashes = (i..).take_while(|&j| at(j) == '#').count();
            if matches!(w.as_str(), "r" | "br" | "cr") && at(i + hashes) == '"' {
                i += hashes + 1;
                while i < c.len() && !(at(i) == '"' && (1..=hashes).all(|k| at(i + k) == '#')) {
                    i += 1;
                }
                i += hashes + 1;
            } else {
                out.push(w);
            }
        } else if at(i) == ':' && at(i + 1) == ':' {
            out.push("::".into());
            i += 2;
        } else {
            if !at(i).is_whitespace() {
                out.push(at(i).into());
            }
            i += 1;
        }
    }
    out
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// All Rust files under a folder of the project: path within that folder, and text.
fn sources(folder: &str) -> Vec<(String, String)> {
    fn walk(base: &Path, folder: &Path, out: &mut Vec<(String, String)>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(base, &path, out);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let name = path.strip_prefix(base).unwrap().to_str().unwrap().replace('\\', "/");
                out.push((name, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    let base = root().join(folder);
    let mut out = Vec::new();
    walk(&base, &base, &mut out);
    assert!(!out.is_empty(), "no source in {}", base.display());
    out.sort();
    out
}

/// The examples of the crate's front page are programs to copy: no line is hidden, and they use no other crate.
#[test]
fn the_front_page_has_whole_programs() {
    let text = fs::read_to_string(root().join("src/lib.rs")).unwrap();
    let page: Vec<&str> = text.lines().map_while(|line| line.strip_prefix("//!")).collect();
    let mut programs = 0;
    for program in page.split(|line| line.trim() == "```").skip(1).step_by(2) {
        programs += 1;
        assert!(program.iter().any(|line| line.starts_with(" fn main()")), "no main: {program:#?}");
        for line in program {
            assert!(line.trim() != "#" && !line.trim().starts_with("# "), "a hidden line: {line}");
            let uses = line.trim().strip_prefix("use ");
            assert!(uses.is_none_or(|path| path.starts_with("rlcore::")), "another crate: {line}");
            assert!(!line.contains("bytemuck::") || line.contains("rlcore::bytemuck"), "another crate: {line}");
        }
    }
    assert_eq!(programs, 3);
}
