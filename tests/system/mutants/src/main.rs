//! Mutation testing in one build: all mutants that cargo-mutants lists are woven into one copy of the tree, where an
//! environment variable says which of them lives. `run.sh` beside this says how it is used.

mod alone;
mod build;
mod judge;
mod list;
mod report;
mod weave;

use build::Tree;
use judge::{Verdict, Verdicts};
use list::Mutant;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

const USAGE: &str = "mutants <tree> <work> <explained> <woven|const> <folder,folder...> [file...]";

fn main() -> ExitCode {
    match all() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("mutants: {error}");
            ExitCode::from(2)
        }
    }
}

fn all() -> Result<bool> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [root, work, explained, how, scope, files @ ..] = arguments.as_slice() else { return Err(USAGE.into()) };
    let (root, work) = (PathBuf::from(root), Path::new(work));
    let scope: Vec<String> = scope.split(',').map(str::to_owned).collect();
    let mutants = list::list(&root, &scope)?;
    if let Some(file) = files.iter().find(|f| !mutants.iter().any(|m| m.file == **f)) {
        return Err(format!("{file} has no mutants; those below {} do", scope.join(", ")).into());
    }
    let wanted = |m: &Mutant| files.is_empty() || files.contains(&m.file);
    let wanted: BTreeSet<usize> = (0..).zip(&mutants).filter(|(_, m)| wanted(m)).map(|(n, _)| n).collect();
    let counts = report::explained(&read(Path::new(explained))?);
    let verdicts = match how.as_str() {
        "woven" => {
            let lints = "--cap-lints=warn -Awarnings";
            woven(Tree { root, target: work.join("build"), opt_level: "1", lints }, &mutants, &wanted, work)?
        }
        "const" => {
            let lints = "-Awarnings -Aarithmetic_overflow -Aunconditional_panic";
            fixed(Tree { root, target: work.join("const"), opt_level: "1", lints }, &mutants, &wanted, &counts)?
        }
        _ => return Err(USAGE.into()),
    };
    let speaks_of = |title: &str| files.is_empty() || files.iter().any(|f| title.starts_with(&format!("{f}: ")));
    let found = report::compare(&mutants, &verdicts, counts, speaks_of);
    report::report(&mutants, &verdicts, &found, work)
}

/// Mutants that one build can hold.
fn woven(tree: Tree, mutants: &[Mutant], wanted: &BTreeSet<usize>, work: &Path) -> Result<Verdicts> {
    let left = build::weave_tree(&tree, mutants, wanted)?;
    let programs = build::programs(&tree, &[])?.ok_or("the tests of the woven tree do not compile")?;
    let numbers: Vec<usize> =
        wanted.iter().filter(|n| !left.unviable.contains(n) && !left.fixed.contains(n)).copied().collect();
    let mut verdicts = judge::judge(&tree.root, &programs, &numbers, mutants.len(), &work.join("seen"))?;
    verdicts.extend(left.unviable.iter().map(|n| (*n, Verdict::Unviable)));
    Ok(verdicts)
}

/// All others.
fn fixed(
    tree: Tree,
    mutants: &[Mutant],
    wanted: &BTreeSet<usize>,
    counts: &BTreeMap<String, [usize; 2]>,
) -> Result<Verdicts> {
    let mut numbers = Vec::new();
    for (file, text) in build::sources(&tree, mutants)? {
        let here: Vec<_> = mutants.iter().enumerate().filter(|(n, m)| m.file == file && wanted.contains(n)).collect();
        numbers.extend(weave::weave(&text, &here)?.fixed);
    }
    alone::judge(&tree, mutants, &numbers, |m| counts.contains_key(&m.title()))
}

fn read(path: &Path) -> Result<String> {
    Ok(std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?)
}

fn write(path: &Path, text: &str) -> Result<()> {
    Ok(std::fs::write(path, text).map_err(|e| format!("{}: {e}", path.display()))?)
}

/// A string in the output of a tool.
fn word<'v>(from: &'v serde_json::Value, path: &str) -> Result<&'v str> {
    Ok(from.pointer(path).and_then(serde_json::Value::as_str).ok_or_else(|| format!("no {path} in {from}"))?)
}
