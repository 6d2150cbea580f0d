//! Comments are plain technical English: they name the thing, then the reason. "What" as a pronoun is the mark of comments that
//! retell a clause instead; spelling is American. Lines that fail are named.

use std::fs;
use std::path::{Path, PathBuf};

/// The allowed occurrences of that word in 1,000 words of a folder's comments.
const LEVEL: f64 = 1.0;

/// Folders, and whether their subfolders count.
const FOLDERS: [(&str, bool); 12] = [
    ("src", false),
    ("src/block", true),
    ("src/data", true),
    ("src/env", true),
    ("src/kernels", true),
    ("src/learn", true),
    ("src/nn", true),
    ("ffi/src", true),
    ("ffi/tests", true),
    ("benches", true),
    ("examples-c", true),
    ("tests", true),
];

/// Folders of build output, and files that programs write.
const SKIPPED: [&str; 3] = ["target", "out", "learner_fields.h"];

/// Beginnings of words in British spelling.
const BRITISH: [&str; 14] = [
    "normalis",
    "optimis",
    "initialis",
    "standardis",
    "generalis",
    "parallelis",
    "serialis",
    "organis",
    "recognis",
    "prioritis",
    "vectoris",
    "behaviour",
    "colour",
    "neighbour",
];

#[test]
fn comments_are_in_plain_words() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut refused = Vec::new();
    for (folder, deep) in FOLDERS {
        let (mut words, mut found) = (0, Vec::new());
        for path in sources(&root.join(folder), deep) {
            let text = fs::read_to_string(&path).unwrap();
            let is_rust = path.extension().is_some_and(|e| e == "rs");
            let found_here: Vec<_> = if is_rust { comments(&text).collect() } else { c_comments(&text) };
            for (line, comment) in found_here {
                let said =
                    || comment.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty());
                let place = || format!("{}:{line}: {}", path.display(), comment.trim());
                words += said().count();
                found.extend(said().filter(|word| word.eq_ignore_ascii_case("what")).map(|_| place()));
                let british = |word: &str| BRITISH.iter().any(|own| word.to_lowercase().starts_with(own));
                if outside_of_code(comment).split(|c: char| !c.is_alphanumeric()).any(british) {
                    refused.push(format!("American spelling, please: {}", place()));
                }
            }
        }
        assert!(words > 1000, "{folder}: {words} words of comments");
        if found.len() as f64 > LEVEL * words as f64 / 1000.0 {
            refused.push(format!("{folder}: more than {LEVEL} \"what\" in 1,000 words of comments:"));
            refused.append(&mut found);
        }
    }
    assert!(refused.is_empty(), "\n{}", refused.join("\n"));
}

#[test]
fn comments_are_told_from_code() {
    let text = "/// What it is.\nlet what = \"// what\"; // not here\n    // and here\n//! `what`\n";
    let lines: Vec<_> = comments(text).collect();
    assert_eq!(lines, [(1, " What it is."), (3, " and here"), (4, " `what`")]);
    let text = "/* one\n   two */ int x; /* three */\nputs(\"/* no */\");\n// four\n";
    assert_eq!(c_comments(text), [(1, " one"), (2, "   two "), (2, " three "), (4, " four")]);
    assert_eq!(outside_of_code("a `colour` of its own"), "a  of its own");
}

/// Numbers and texts of comment lines.
fn comments(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = (1..).zip(text.lines());
    lines.filter_map(|(number, line)| {
        let comment = line.trim_start().strip_prefix("//")?;
        Some((number, comment.trim_start_matches(['/', '!'])))
    })
}

/// The same for C: `/* */` over one line or more, and `//`.
fn c_comments(text: &str) -> Vec<(usize, &str)> {
    let (mut found, mut within) = (Vec::new(), false);
    for (number, mut line) in (1..).zip(text.lines()) {
        loop {
            if within {
                let end = line.find("*/");
                found.push((number, &line[..end.unwrap_or(line.len())]));
                let Some(end) = end else { break };
                (within, line) = (false, &line[end + 2..]);
            }
            match line.find("/*") {
                Some(begin) if !line[..begin].contains('"') => (within, line) = (true, &line[begin + 2..]),
                _ => break,
            }
        }
        if let Some(comment) = line.trim_start().strip_prefix("//") {
            found.push((number, comment));
        }
    }
    found
}

/// A comment without its names of code.
fn outside_of_code(comment: &str) -> String {
    comment.split('`').step_by(2).collect()
}

/// All sources in Rust, C and C++ of a folder; with `deep`, of its subfolders, too.
fn sources(folder: &Path, deep: bool) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let skipped = |name: &std::ffi::OsStr| SKIPPED.iter().any(|own| name == *own);
        if entry.file_name().is_some_and(skipped) {
            continue;
        }
        if entry.is_dir() && deep {
            found.extend(sources(&entry, true));
        } else if entry.extension().is_some_and(|e| ["rs", "c", "h", "cpp", "hpp"].iter().any(|own| e == *own)) {
            found.push(entry);
        }
    }
    found
}
