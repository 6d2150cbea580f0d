//! Mutants that cannot be chosen at run time, constants above all: one build for each, of the nearest programs first and of
//! all if those let it live.

use crate::build::{self, Program, Tree};
use crate::judge::{End, Progress, READ_SOURCES, Verdict, Verdicts, limit, run};
use crate::list::Mutant;
use crate::weave::replace;
use crate::{Result, read, write};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

/// How many programs are near.
const NEAR: usize = 2;

/// Judges `mutants` one after another; `explained` says which of them may live without a second look.
pub fn judge(
    tree: &Tree,
    mutants: &[Mutant],
    numbers: &[usize],
    explained: impl Fn(&Mutant) -> bool,
) -> Result<Verdicts> {
    let sources = build::sources(tree, mutants)?;
    // A run that was stopped has left the build of a mutant, which would look newer than these.
    for (file, text) in &sources {
        write(&tree.root.join(file), text)?;
    }
    let times = measure(tree)?;
    let words =
        times.keys().map(|name| Ok((name.clone(), words_of(tree, name)?))).collect::<Result<BTreeMap<_, _>>>()?;
    let progress = Progress::new("mutants", numbers.len());
    let mut verdicts = Verdicts::new();
    for &n in numbers {
        let Some((mutant, text)) = mutants.get(n).and_then(|m| Some((m, sources.get(&m.file)?))) else { continue };
        let path = tree.root.join(&mutant.file);
        write(&path, &replace(text, mutant))?;
        let near = nearest(&mutant.file, &words);
        let mut verdict = one(tree, &times, &near, &[])?;
        if verdict == Verdict::Alive && !explained(mutant) {
            verdict = one(tree, &times, &[], &near)?;
            if verdict == Verdict::Alive {
                println!("alive: {}", mutant.name);
            }
        }
        write(&path, text)?;
        verdicts.insert(n, verdict);
        progress.step(Some(verdict));
    }
    Ok(verdicts)
}

/// Times of all programs without a mutant.
fn measure(tree: &Tree) -> Result<BTreeMap<String, Duration>> {
    let programs = build::programs(tree, &[])?.ok_or("the tests do not compile")?;
    let mut times = BTreeMap::new();
    for program in judged(&programs) {
        let begin = Instant::now();
        if run(&tree.root, &program.path, &[], &[], Duration::from_secs(1800))? != End::Good {
            return Err(format!("{} fails without a mutant", program.name).into());
        }
        times.insert(program.name.clone(), begin.elapsed());
    }
    Ok(times)
}

fn judged(programs: &[Program]) -> impl Iterator<Item = &Program> {
    programs.iter().filter(|p| !READ_SOURCES.contains(&p.name.as_str()))
}

/// The verdict of the programs of these names, of all if there are none; but not of `others`.
fn one(tree: &Tree, times: &BTreeMap<String, Duration>, names: &[String], others: &[String]) -> Result<Verdict> {
    let Some(programs) = build::programs(tree, names)? else { return Ok(Verdict::Unviable) };
    for program in judged(&programs).filter(|p| !others.contains(&p.name)) {
        let time = times.get(&program.name).copied().unwrap_or_default();
        match run(&tree.root, &program.path, &[], &[], limit(time))? {
            End::Good => {}
            End::Bad => return Ok(Verdict::Caught),
            End::Late => return Ok(Verdict::TimedOut),
        }
    }
    Ok(Verdict::Alive)
}

/// How often a program's text says each name.
fn words_of(tree: &Tree, program: &str) -> Result<BTreeMap<String, usize>> {
    let path = tree.root.join(format!("tests/{program}.rs"));
    let mut counts = BTreeMap::new();
    // Tests inside of the library speak of everything.
    let text = if path.exists() { read(&path)? } else { String::new() };
    for word in text.split(|c: char| !c.is_alphanumeric() && c != '_') {
        *counts.entry(word.to_owned()).or_default() += 1;
    }
    Ok(counts)
}

/// The program that has the name of a file's module, or of the folder that it is in; else those that speak of it most often.
fn nearest(file: &str, words: &BTreeMap<String, BTreeMap<String, usize>>) -> Vec<String> {
    let names = Path::new(file).with_extension("");
    let names: Vec<&str> = names.iter().filter_map(|n| n.to_str()).collect();
    let floor = names.get(1).copied().unwrap_or_default();
    if let Some(own) = names.iter().rev().map(|n| format!("{floor}_{n}")).find(|own| words.contains_key(own)) {
        return vec![own];
    }
    for name in names.iter().rev() {
        let count = |program: &String| words.get(program).and_then(|w| w.get(*name)).copied().unwrap_or(0);
        let mut near: Vec<&String> = words.keys().filter(|p| count(p) > 0).collect();
        near.sort_by_key(|p| std::cmp::Reverse(count(p)));
        if !near.is_empty() {
            return near.into_iter().take(NEAR).cloned().collect();
        }
    }
    Vec::new()
}
