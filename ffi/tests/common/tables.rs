//! Sources of the interface whose declarations a macro makes from a table of the core, expanded for cbindgen, which expands no
//! macros.

/// The text in lines of at most `width` columns.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().unwrap();
        if line.len() + 1 + word.len() > width {
            lines.push(word.to_string());
        } else {
            *line += if line.is_empty() { "" } else { " " };
            *line += word;
        }
    }
    lines
}

/// Marks a comment that is too long to stand behind its row.
pub const ABOVE: &str = "\u{2}";

/// A Rust doc comment with this sentence, to stand behind its row if it has at most `behind` columns.
pub fn documented(sentence: &str, behind: usize) -> String {
    let above = if sentence.len() <= behind { "" } else { ABOVE };
    wrapped(&(above.to_string() + sentence), 114).iter().map(|line| format!("/// {line}\n")).collect()
}

/// The source with the macro and its call replaced by the macro's body, in which `rows` replace the repeated line.
pub fn spliced(source: &str, table: &str, repeated: &str, rows: &str) -> String {
    let (rest, after) = source.split_once(&format!("rlcore::{table}!(")).unwrap();
    let (_, after) = after.split_once(");\n").unwrap();
    let (before, body) = rest.rsplit_once("macro_rules! ").unwrap();
    let (_, body) = body.split_once(") => {\n").unwrap();
    let (body, _) = body.rsplit_once("    };\n}\n").unwrap();
    assert!(body.contains(repeated), "{table}: {repeated}");
    format!("{before}{}\n{after}", body.replacen(repeated, rows, 1))
}
