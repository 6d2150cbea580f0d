//! Building a woven tree: mutants that do not compile are found from the errors of rustc, and left out of the next attempt.

use crate::list::Mutant;
use crate::weave::{Woven, weave};
use crate::{Result, read, word, write};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::PathBuf;
use std::process::Command;

/// A tree to build, and where.
pub struct Tree {
    /// The folder of its `Cargo.toml`.
    pub root: PathBuf,
    pub target: PathBuf,
    /// As a number, for cargo's `opt-level`.
    pub opt_level: &'static str,
    /// Options for lints: warnings in a mutant do not matter, but a constant whose evaluation never
    /// ends is stopped by a lint alone.
    pub lints: &'static str,
}

/// A program of tests.
pub struct Program {
    pub name: String,
    pub path: PathBuf,
}

/// Mutants that are in no build.
#[derive(Default)]
pub struct Left {
    /// They do not compile.
    pub unviable: BTreeSet<usize>,
    /// They cannot be chosen at run time.
    pub fixed: BTreeSet<usize>,
}

/// Texts of all files that have mutants, as they are in the tree before anything is woven.
pub fn sources(tree: &Tree, mutants: &[Mutant]) -> Result<BTreeMap<String, String>> {
    let files: BTreeSet<&String> = mutants.iter().map(|m| &m.file).collect();
    files.into_iter().map(|f| Ok((f.clone(), read(&tree.root.join(f))?))).collect()
}

/// Weaves the mutants of `wanted` into the tree and checks it until no mutant is left that does not compile.
pub fn weave_tree(tree: &Tree, mutants: &[Mutant], wanted: &BTreeSet<usize>) -> Result<Left> {
    let sources = sources(tree, mutants)?;
    let root = tree.root.join("src/lib.rs");
    let root_text = read(&root)?;
    let mut left = Left::default();
    loop {
        let mut marks = BTreeMap::new();
        let mut extended = root_text.clone();
        for (file, text) in &sources {
            let here: Vec<_> = (mutants.iter().enumerate())
                .filter(|(n, m)| m.file == *file && wanted.contains(n) && !left.unviable.contains(n))
                .collect();
            let woven: Woven = weave(text, &here).map_err(|e| format!("{file}: {e}"))?;
            left.unviable.extend(&woven.broken);
            left.fixed.extend(&woven.fixed);
            if tree.root.join(file) == root {
                extended.clone_from(&woven.text);
            } else {
                write(&tree.root.join(file), &woven.text)?;
            }
            marks.insert(file.clone(), woven.marks);
        }
        extended += &format!("\nconst COUNT: usize = {};\n", mutants.len());
        extended += include_str!("../mutant.rs");
        write(&root, &extended)?;
        let unviable = check(tree, &marks)?;
        println!("woven: {} of {} mutants do not compile", left.unviable.len() + unviable.len(), wanted.len());
        if unviable.is_empty() {
            return Ok(left);
        }
        left.unviable.extend(unviable);
    }
}

type Marks = BTreeMap<String, Vec<(usize, Range<usize>)>>;

/// Mutants in which rustc finds errors; none if there are no errors.
fn check(tree: &Tree, marks: &Marks) -> Result<BTreeSet<usize>> {
    let (good, messages) = cargo(tree, &["check", "--lib", "--message-format=json"])?;
    let (mut unviable, mut elsewhere) = (BTreeSet::new(), Vec::new());
    for message in &messages {
        let Some(diagnostic) = message.pointer("/message").filter(|m| m["level"] == "error") else { continue };
        let mut own = BTreeSet::new();
        for span in list(diagnostic, "/spans").iter().filter(|s| s["is_primary"] == true) {
            blame(span, marks, &mut own);
        }
        if own.is_empty() && !list(diagnostic, "/spans").is_empty() {
            elsewhere.push(word(diagnostic, "/rendered").unwrap_or("an error without words").to_owned());
        }
        unviable.extend(own);
    }
    match good || !unviable.is_empty() {
        true => Ok(unviable),
        false if elsewhere.is_empty() => Err("the woven tree does not build".into()),
        false => Err(format!("errors that are no mutant's own:\n{}", elsewhere.concat()).into()),
    }
}

/// The mutants that a place in the text lies in, or the place where the macro was called that made it.
fn blame(span: &Value, marks: &Marks, own: &mut BTreeSet<usize>) {
    let at = |path| span.pointer(path).and_then(Value::as_u64).map(|n| n as usize);
    if let (Ok(file), Some(start), Some(end)) = (word(span, "/file_name"), at("/byte_start"), at("/byte_end")) {
        let here = marks.get(file).map_or(&[][..], Vec::as_slice);
        own.extend(here.iter().filter(|(_, m)| m.start <= start && end <= m.end).map(|(n, _)| n));
    }
    if let Some(call) = span.pointer("/expansion/span") {
        blame(call, marks, own);
    }
}

/// Builds programs of tests, if no names are given all, those of the library's own files included; `None` if they do not
/// compile.
pub fn programs(tree: &Tree, names: &[String]) -> Result<Option<Vec<Program>>> {
    let mut arguments = vec!["test", "--no-run", "--message-format=json"];
    names.iter().for_each(|n| arguments.extend(["--test", n.as_str()]));
    if names.is_empty() {
        arguments.extend(["--lib", "--tests"]);
    }
    let (good, messages) = cargo(tree, &arguments)?;
    if !good {
        return Ok(None);
    }
    let tests = messages.iter().filter(|m| m.pointer("/profile/test") == Some(&Value::Bool(true)));
    let program = |m: &Value| {
        let path = word(m, "/executable").ok()?.into();
        Some(Program { name: word(m, "/target/name").ok()?.to_owned(), path })
    };
    Ok(Some(tests.filter_map(program).collect()))
}

/// Runs cargo in the tree: whether it succeeded, and the lines of its output.
fn cargo(tree: &Tree, arguments: &[&str]) -> Result<(bool, Vec<Value>)> {
    let out = Command::new("cargo")
        .args(arguments)
        .current_dir(&tree.root)
        .env("CARGO_TARGET_DIR", &tree.target)
        .env("CARGO_INCREMENTAL", "1")
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .env("CARGO_PROFILE_DEV_OPT_LEVEL", tree.opt_level)
        .env("RUSTFLAGS", tree.lints)
        .output()
        .map_err(|e| format!("cargo: {e}"))?;
    let lines = out.stdout.split(|b| *b == b'\n');
    let messages: Vec<Value> = lines.filter_map(|line| serde_json::from_slice(line).ok()).collect();
    let good = out.status.success();
    if !good && !messages.iter().any(|m| m.pointer("/message/level").is_some_and(|l| l == "error")) {
        return Err(format!("cargo: {}", String::from_utf8_lossy(&out.stderr)).into());
    }
    Ok((good, messages))
}

fn list<'v>(from: &'v Value, path: &str) -> &'v [Value] {
    from.pointer(path).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
