//! The mutants of a tree: cargo-mutants lists them; here the list is only read.

use crate::{Result, word};
use serde_json::Value;
use std::ops::Range;
use std::path::Path;
use std::process::Command;

/// Kind of the change that a mutant makes, which decides how it can be woven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Genre {
    /// The whole body of a function is one value.
    Body,
    /// One operator between two operands is another one, assignments included.
    Binary,
    /// `!` or `-` is gone.
    Unary,
    /// An arm of a `match` is gone.
    Arm,
    /// The guard of an arm is `true` or `false`.
    Guard,
    /// A field of a structure comes from its base expression.
    Field,
}

/// A place in a file: line and column, both from 1 and counted in characters, as cargo-mutants says them.
pub type Place = (usize, usize);

/// One change of one file.
pub struct Mutant {
    pub file: String,
    /// `file:line:column: change`.
    pub name: String,
    pub genre: Genre,
    /// The replaced text.
    pub span: Range<Place>,
    pub replacement: String,
}

impl Mutant {
    /// The name without line and column, which stays the same when something above it changes.
    pub fn title(&self) -> String {
        let (line, column) = self.span.start;
        self.name.replacen(&format!("{}:{line}:{column}: ", self.file), &format!("{}: ", self.file), 1)
    }
}

/// Runs cargo-mutants (its program is named by `CARGO_MUTANTS`) for the files below `scope`, folders of the tree.
pub fn list(tree: &Path, scope: &[String]) -> Result<Vec<Mutant>> {
    let tool = std::env::var("CARGO_MUTANTS").unwrap_or_else(|_| "cargo-mutants".into());
    let mut command = Command::new(&tool);
    command.args(["mutants", "--list", "--json", "--dir"]).arg(tree);
    for folder in scope {
        command.args(["--file", &format!("{folder}/**/*.rs")]);
    }
    let out = command.stderr(std::process::Stdio::inherit()).output().map_err(|e| format!("{tool}: {e}"))?;
    if !out.status.success() {
        return Err(format!("{tool} could not list the mutants").into());
    }
    let Value::Array(all) = serde_json::from_slice(&out.stdout)? else { return Err("no list of mutants".into()) };
    all.iter().map(read).collect()
}

fn read(from: &Value) -> Result<Mutant> {
    let name = word(from, "/name")?.to_owned();
    let genre = match word(from, "/genre")? {
        "FnValue" => Genre::Body,
        "BinaryOperator" => Genre::Binary,
        "UnaryOperator" => Genre::Unary,
        "MatchArm" => Genre::Arm,
        "MatchArmGuard" => Genre::Guard,
        "StructField" => Genre::Field,
        other => return Err(format!("{name}: nothing here weaves a {other}").into()),
    };
    let number = |path: &str| -> Result<usize> {
        Ok(from.pointer(path).and_then(Value::as_u64).ok_or_else(|| format!("{name}: no {path}"))? as usize)
    };
    let start = (number("/span/start/line")?, number("/span/start/column")?);
    let end = (number("/span/end/line")?, number("/span/end/column")?);
    Ok(Mutant {
        file: word(from, "/file")?.to_owned(),
        name,
        genre,
        span: start..end,
        replacement: word(from, "/replacement")?.to_owned(),
    })
}
