//! Mutants that cannot be chosen at run time, constants above all: one build for each, of the folder's own program first and of
//! all if that lets it live.

use crate::build::{self, Program, Tree};
use crate::judge::{End, Progress, READ_SOURCES, Verdict, Verdicts, limit, run};
use crate::list::Mutant;
use crate::weave::replace;
use crate::{Result, write};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

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
    let progress = Progress::new("mutants", numbers.len());
    let mut verdicts = Verdicts::new();
    for &n in numbers {
        let Some((mutant, text)) = mutants.get(n).and_then(|m| Some((m, sources.get(&m.file)?))) else { continue };
        let path = tree.root.join(&mutant.file);
        write(&path, &replace(text, mutant))?;
        let near = nearest(&mutant.file, &times);
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

/// The program of the folder that a file is in, if there is one of that name.
fn nearest(file: &str, times: &BTreeMap<String, Duration>) -> Vec<String> {
    let floor = file.split('/').nth(1).filter(|floor| times.contains_key(*floor));
    floor.map(str::to_owned).into_iter().collect()
}
