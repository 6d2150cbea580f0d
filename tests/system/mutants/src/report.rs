//! The report: verdicts file by file, and survivors against the list of those that are explained.

use crate::judge::{Verdict, Verdicts};
use crate::list::Mutant;
use crate::{Result, write};
use std::collections::BTreeMap;
use std::path::Path;

/// End of a line whose mutant lives unless threads happen to meet.
const BY_CHANCE: &str = " (or caught by chance)";

/// How many survivors of each title have an explanation, and how many of those may be caught as well. Lines are titles of
/// mutants, or comments that begin with `#`.
pub fn explained(text: &str) -> BTreeMap<String, [usize; 2]> {
    let mut counts: BTreeMap<_, [usize; 2]> = BTreeMap::new();
    for line in text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#')) {
        let title = line.strip_suffix(BY_CHANCE);
        let [all, some] = counts.entry(title.unwrap_or(line).to_owned()).or_default();
        *all += 1;
        *some += usize::from(title.is_some());
    }
    counts
}

/// Survivors and explanations that do not agree.
pub struct Findings {
    /// Survivors with an explanation.
    pub explained: Vec<usize>,
    /// Survivors without.
    pub alive: Vec<usize>,
    /// Explanations of mutants that are caught now, or gone; how many too many.
    pub stale: Vec<(String, usize)>,
}

/// Compares survivors with explanations. Mutants that were not judged may have those that are left over, and so may files
/// that `speaks_of` leaves out. Of several survivors with one title the first ones are those that are explained.
pub fn compare(
    mutants: &[Mutant],
    verdicts: &Verdicts,
    mut counts: BTreeMap<String, [usize; 2]>,
    speaks_of: impl Fn(&str) -> bool,
) -> Findings {
    let mut found = Findings { explained: Vec::new(), alive: Vec::new(), stale: Vec::new() };
    for (&n, _) in verdicts.iter().filter(|(_, v)| matches!(v, Verdict::Alive | Verdict::Unreached)) {
        let Some(mutant) = mutants.get(n) else { continue };
        match counts.get_mut(&mutant.title()).filter(|[left, _]| *left > 0) {
            Some([left, _]) => {
                *left -= 1;
                found.explained.push(n);
            }
            None => found.alive.push(n),
        }
    }
    for (n, mutant) in mutants.iter().enumerate() {
        if let Some([left, by_chance]) = counts.get_mut(&mutant.title()) {
            let may_be_left = if verdicts.contains_key(&n) { std::mem::take(by_chance) } else { 1 };
            *left = left.saturating_sub(may_be_left);
        }
    }
    let stale = counts.into_iter().map(|(title, [left, _])| (title, left));
    found.stale.extend(stale.filter(|(title, left)| *left > 0 && speaks_of(title)));
    found
}

/// Prints a line for each file and each fault, and writes `verdicts.txt` and `alive.txt`; true if nothing is wrong.
pub fn report(mutants: &[Mutant], verdicts: &Verdicts, found: &Findings, out: &Path) -> Result<bool> {
    let name = |n: usize| mutants.get(n).map_or("", |m| &m.name);
    let mut rows: BTreeMap<&str, [usize; 5]> = BTreeMap::new();
    let (mut lines, mut survivors) = (String::new(), String::new());
    for (&n, &verdict) in verdicts {
        lines += &format!("{:10} {}\n", format!("{verdict:?}"), name(n));
        if verdict == Verdict::Unviable {
            continue;
        }
        let row = rows.entry(mutants.get(n).map_or("", |m| &m.file)).or_default();
        let column = match verdict {
            Verdict::TimedOut => 2,
            Verdict::Alive | Verdict::Unreached if found.explained.contains(&n) => 3,
            Verdict::Alive | Verdict::Unreached => 4,
            Verdict::Caught | Verdict::Unviable => 1,
        };
        for (i, count) in row.iter_mut().enumerate() {
            *count += usize::from(i == 0 || i == column);
        }
    }
    let mut all = [0; 5];
    println!("\n{:32}{:>8}{:>8}{:>11}{:>11}{:>7}", "file", "mutants", "caught", "timed out", "explained", "alive");
    let line = |file: &str, row: &[usize; 5]| {
        let [judged, caught, late, explained, alive] = row;
        println!("{file:32}{judged:8}{caught:8}{late:11}{explained:11}{alive:7}");
    };
    for (file, row) in &rows {
        line(file, row);
        all.iter_mut().zip(row).for_each(|(a, r)| *a += r);
    }
    line("all", &all);
    let missing = mutants.len() - verdicts.len();
    let unviable = verdicts.values().filter(|v| **v == Verdict::Unviable).count();
    println!("{unviable} more do not compile; {missing} are not of this run\n");

    for &n in &found.alive {
        let how = if verdicts.get(&n) == Some(&Verdict::Unreached) { "no test reaches it" } else { "no test notices" };
        survivors += &format!("alive, {how}: {}\n", name(n));
    }
    for (title, count) in &found.stale {
        let times = if *count > 1 { format!(" ({count} times)") } else { String::new() };
        survivors += &format!("explained, but caught or gone; remove the line: {title}{times}\n");
    }
    print!("{survivors}");
    for &n in &found.explained {
        survivors += &format!("explained: {}\n", name(n));
    }
    write(&out.join("verdicts.txt"), &lines)?;
    write(&out.join("alive.txt"), &survivors)?;
    Ok(found.alive.is_empty() && found.stale.is_empty())
}
