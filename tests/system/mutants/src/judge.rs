//! Judging: each mutant is run against the tests that reach it, quickest first, until one notices.

use crate::build::Program;
use crate::{Result, read, write};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{IsTerminal, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The verdict on a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// A test failed.
    Caught,
    /// A test took ten times its time, which counts as caught.
    TimedOut,
    /// No test that reaches it noticed.
    Alive,
    /// No test reaches it.
    Unreached,
    /// It is no program.
    Unviable,
}

/// Verdicts by the numbers of mutants.
pub type Verdicts = BTreeMap<usize, Verdict>;

/// Programs that read the text of the sources, which weaving changes.
pub const READ_SOURCES: [&str; 1] = ["sources"];

/// A process may take ten times as long as it does without a mutant, and some time to start on a busy machine.
pub fn limit(time: Duration) -> Duration {
    10 * time + Duration::from_secs(5)
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Good,
    Bad,
    Late,
}

/// Runs a program of tests in `root` for no longer than `limit`, then ends it and all that it started. It gets 4 GB of
/// addresses, since a mutant may ask for anything, and ends by itself if it outlives this process.
pub fn run(
    root: &Path,
    program: &Path,
    arguments: &[&str],
    variables: &[(&str, &str)],
    limit: Duration,
) -> Result<End> {
    let seconds = (8 * limit.as_secs() + 60).to_string();
    let mut child = Command::new("sh")
        .args(["-c", "ulimit -c 0; ulimit -v 4000000; ulimit -t \"$0\"; exec \"$@\"", &seconds])
        .arg(program)
        .args(arguments)
        .current_dir(root)
        // The same draws every time, and none that are remembered from a mutant for the next one.
        .env("PROPTEST_RNG_SEED", "1")
        .env("PROPTEST_DISABLE_FAILURE_PERSISTENCE", "1")
        .env("PROPTEST_MAX_SHRINK_ITERS", "0")
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()?;
    let begin = Instant::now();
    let mut pause = Duration::from_micros(200);
    loop {
        let status = child.try_wait()?;
        if status.is_some_and(|s| s.success()) {
            return Ok(End::Good);
        }
        if status.is_some() || begin.elapsed() > limit {
            let group = child.id().to_string();
            Command::new("sh").args(["-c", "kill -KILL -$0 2> /dev/null", &group]).status()?;
            child.wait()?;
            return Ok(if status.is_some() { End::Bad } else { End::Late });
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(5));
    }
}

/// One test, its time, and the mutants that it reaches.
struct Test {
    program: PathBuf,
    name: String,
    time: Duration,
    reaches: BTreeSet<usize>,
}

/// Judges `mutants` by their numbers; `none` is a number that no mutant has.
pub fn judge(root: &Path, programs: &[Program], mutants: &[usize], none: usize, work: &Path) -> Result<Verdicts> {
    let mut names = Vec::new();
    for program in programs.iter().filter(|p| !READ_SOURCES.contains(&p.name.as_str())) {
        let out = Command::new(&program.path).args(["--list", "--format", "terse"]).current_dir(root).output()?;
        let text = String::from_utf8_lossy(&out.stdout);
        names.extend(text.lines().filter_map(|l| Some((program, l.strip_suffix(": test")?.to_owned()))));
    }
    if work.exists() {
        std::fs::remove_dir_all(work)?;
    }
    std::fs::create_dir_all(work)?;
    let none = none.to_string();
    let progress = Progress::new("tests run alone", names.len());
    let tests = parallel(&names, |at, (program, name)| {
        let test = measure(root, program, name, &none, &work.join(at.to_string()));
        progress.step(None);
        test
    });
    let mut tests = tests.into_iter().collect::<Result<Vec<Test>>>()?;
    tests.sort_by_key(|t| t.time);
    let progress = Progress::new("mutants", mutants.len());
    let verdicts = parallel(mutants, |_, &n| {
        let verdict = verdict(root, &tests, n);
        progress.step(verdict.as_ref().ok().copied());
        Ok((n, verdict?))
    });
    verdicts.into_iter().collect()
}

/// Runs one test without a mutant to find the mutants that it reaches, and if there are any, once more for its time.
/// It has to be green.
fn measure(root: &Path, program: &Program, name: &str, none: &str, seen: &Path) -> Result<Test> {
    let timed = |variable: (&str, &str)| -> Result<Duration> {
        let begin = Instant::now();
        match run(root, &program.path, &["--exact", name], &[variable], Duration::from_secs(600))? {
            End::Good => Ok(begin.elapsed()),
            end => Err(format!("{}: {name} fails without a mutant ({end:?})", program.name).into()),
        }
    };
    write(seen, "")?;
    let mut time = timed(("MUTANT_SEEN", &seen.to_string_lossy()))?;
    let reaches: BTreeSet<_> = read(seen)?.lines().map(str::parse).collect::<std::result::Result<_, _>>()?;
    if !reaches.is_empty() {
        time = timed(("MUTANT", none))?;
    }
    Ok(Test { program: program.path.clone(), name: name.to_owned(), time, reaches })
}

fn verdict(root: &Path, tests: &[Test], n: usize) -> Result<Verdict> {
    let number = n.to_string();
    let mut verdict = Verdict::Unreached;
    for test in tests.iter().filter(|t| t.reaches.contains(&n)) {
        match run(root, &test.program, &["--exact", &test.name], &[("MUTANT", &number)], limit(test.time))? {
            End::Good => verdict = Verdict::Alive,
            End::Bad => return Ok(Verdict::Caught),
            End::Late => return Ok(Verdict::TimedOut),
        }
    }
    Ok(verdict)
}

/// `f` of all items and their places, as many at once as there are cores; results in the order of the items.
fn parallel<T: Sync, R: Send>(items: &[T], f: impl Fn(usize, &T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(at) else { return };
                    let result = f(at, item);
                    results.lock().unwrap_or_else(|e| e.into_inner()).insert(at, result);
                }
            });
        }
    });
    results.into_inner().unwrap_or_else(|e| e.into_inner()).into_values().collect()
}

/// One line that says how far it is: in place on a terminal, else again every half minute.
pub struct Progress {
    what: &'static str,
    all: usize,
    begin: Instant,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    done: usize,
    caught: usize,
    alive: usize,
    said: Duration,
}

impl Progress {
    pub fn new(what: &'static str, all: usize) -> Self {
        Progress { what, all, begin: Instant::now(), state: Mutex::default() }
    }

    pub fn step(&self, verdict: Option<Verdict>) {
        let mut state = self.state.lock().unwrap_or_else(|e| e.into_inner());
        state.done += 1;
        match verdict {
            Some(Verdict::Caught | Verdict::TimedOut) => state.caught += 1,
            Some(Verdict::Alive | Verdict::Unreached) => state.alive += 1,
            Some(Verdict::Unviable) | None => {}
        }
        let (spent, terminal) = (self.begin.elapsed(), std::io::stdout().is_terminal());
        let wait = if terminal { Duration::from_millis(200) } else { Duration::from_secs(30) };
        let last = state.done == self.all;
        if spent < state.said + wait && !last {
            return;
        }
        state.said = spent;
        let left = spent.as_secs_f64() * (self.all - state.done) as f64 / state.done as f64;
        let mut line = format!("{} of {} {}", state.done, self.all, self.what);
        if state.caught + state.alive > 0 {
            line += &format!(", {} caught, {} alive", state.caught, state.alive);
        }
        line += &if last { format!(", {} s", spent.as_secs()) } else { format!(", {left:.0} s left") };
        match terminal {
            true => print!("\r{line}\x1b[K{}", if last { "\n" } else { "" }),
            false => println!("{line}"),
        }
        // A line that cannot be shown is no reason to stop.
        let _ = std::io::stdout().flush();
    }
}
