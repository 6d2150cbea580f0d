//! Texts made from the core's table of learner configurations: the structure in the header, and so in C#, and the limits for
//! fuzzers.

use super::root;
use super::tables::{documented, spliced};
use rlcore::learn::config_fields::FIELDS;
use rlcore::learn::{Algorithm, Config};
use std::fmt::Write as _;
use std::fs;

/// A row of the table.
struct Row {
    name: &'static str,
    of: &'static str,
    sentence: String,
    values: &'static str,
    /// The default of each algorithm, as `{:?}` prints it.
    defaults: Vec<String>,
}

struct Group {
    name: &'static str,
    readers: Vec<bool>,
    rows: Vec<Row>,
}

fn algorithms() -> impl Iterator<Item = Algorithm> {
    (0..).map_while(Algorithm::from_number)
}

/// Whether each algorithm reads a field.
fn readers(name: &str) -> Vec<bool> {
    let field = FIELDS.iter().find(|field| field.name() == name).unwrap();
    algorithms().map(|algorithm| field.is_read_by(algorithm)).collect()
}

macro_rules! table {
    ($($group:literal $of:ident {$(
        $(#[doc = $sentence:literal])+
        $name:ident: $type:tt [$($values:tt)+] = $default:expr $(, $($own:ident)|+ => $value:expr)*;
        $readers:ident $(, $with:literal => $holds:expr)*;
    )*})*) => {
        fn table() -> Vec<Group> {
            vec![$({
                let rows = vec![$(Row {
                    name: stringify!($name),
                    of: stringify!($type),
                    sentence: concat!($($sentence),+).trim().to_string(),
                    values: stringify!($($values)+),
                    defaults: algorithms().map(|algorithm| format!("{:?}", Config::of(algorithm).$name)).collect(),
                }),*];
                // A group's readers are those of a field in it that has the same set of readers.
                let all = [$((stringify!($readers), stringify!($name))),*];
                let own = all.iter().find(|(readers, _)| *readers == stringify!($of)).expect(stringify!($of));
                Group { name: $group, readers: readers(own.1), rows }
            }),*]
        }
    };
}

rlcore::learner_config_table!(table);

/// The name of an algorithm in a sentence.
fn spoken(algorithm: Algorithm) -> String {
    match algorithm {
        Algorithm::StreamAc => "stream AC".into(),
        Algorithm::StreamQ => "stream Q".into(),
        other => format!("{other:?}").to_uppercase(),
    }
}

/// The names of the marked algorithms, with `last` before the last one: "A, B and C", or "A, B, C".
fn names(of: impl Iterator<Item = bool>, last: &str) -> String {
    let all: Vec<String> = algorithms().zip(of).filter(|(_, is)| *is).map(|(algorithm, _)| spoken(algorithm)).collect();
    let text = all.join(", ").replace("stream AC, stream Q", "stream algorithms");
    match text.rsplit_once(", ") {
        Some((before, behind)) => format!("{before}{last}{behind}"),
        None => text,
    }
}

/// A default in human-readable form.
fn number(row: &Row, shown: &str) -> String {
    if let Some(name) = row.values.strip_suffix(" of") {
        return enumerator(name, shown);
    }
    if row.of.starts_with('[') {
        let mut all: Vec<&str> = shown.trim_matches(['[', ']']).split(", ").collect();
        while all.len() > 1 && all.ends_with(&["0"]) {
            all.pop();
        }
        return all.join(", ");
    }
    let x: f64 = shown.parse().unwrap();
    match shown.strip_suffix(".0").unwrap_or(shown) {
        _ if x != 0.0 && x.abs() < 2e-3 => format!("{:e}", shown.parse::<f32>().unwrap()),
        whole if x >= 10_000.0 => {
            let (high, low) = whole.split_at(whole.len() - 3);
            format!("{high},{low}")
        }
        plain => plain.to_string(),
    }
}

/// The name in the interface of this number of an enumeration, without the enumeration's name.
fn enumerator(name: &str, number: &str) -> String {
    let prefix = format!("{}_", name.to_uppercase());
    for entry in fs::read_dir(root().join("ffi/src")).unwrap() {
        let path = entry.unwrap().path();
        let text = if path.is_file() { fs::read_to_string(path).unwrap() } else { continue };
        let Some((_, rest)) = text.split_once(&format!("pub enum {name} {{")) else { continue };
        let end = format!(" = {number},");
        let line = rest.lines().take_while(|line| *line != "}").find(|line| line.ends_with(&end)).unwrap();
        return line.trim().strip_prefix(&prefix).unwrap().strip_suffix(&end).unwrap().to_string();
    }
    panic!("no {name}");
}

/// The sentence of a row, with its readers if they are fewer than the group's, its defaults and its values.
fn sentence(group: &Group, row: &Row) -> String {
    let read = readers(row.name);
    let more = group.readers.iter().zip(&read).any(|(group, own)| *group && !own);
    let mut text = if more { format!("{}: ", names(read.iter().copied(), " and ")) } else { String::new() };
    if let Some(name) = row.values.strip_suffix(" of") {
        let article = if name == "rlcore_algorithm" { "" } else { ", " };
        text += &format!("an {name}{article}");
        text += if article.is_empty() { ", " } else { "" };
    }
    text += &row.sentence;
    if row.name == "algorithm" {
        return text;
    }
    // The default of most readers first, then the others.
    let mut kinds: Vec<(&String, Vec<bool>)> = Vec::new();
    for (i, default) in row.defaults.iter().enumerate().filter(|(i, _)| read[*i]) {
        let k = kinds.iter().position(|(own, _)| *own == default).unwrap_or_else(|| {
            kinds.push((default, vec![false; read.len()]));
            kinds.len() - 1
        });
        kinds[k].1[i] = true;
    }
    let first = (0..kinds.len()).rev().max_by_key(|k| kinds[*k].1.iter().filter(|is| **is).count()).unwrap();
    let mut told = vec![number(row, kinds.remove(first).0)];
    told.extend(kinds.iter().map(|(own, of)| format!("{} {}", names(of.iter().copied(), ", "), number(row, own))));
    match row.values {
        "any" | "flag" | "finite" => {}
        "below 1" => told.push("from 0 to below 1".into()),
        "above 0 to 1" | "above 0 to 10" => told.push(row.values.replace(" to", ", to")),
        values if values.ends_with(" of") => {}
        values => told.push(values.replace("- ", "-")),
    }
    format!("{text} ({})", told.join("; "))
}

/// Text of a comment in Markdown: names are code.
fn marked(text: &str) -> String {
    let word = |word: &str| {
        let name = word.trim_matches(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        match name.contains('_') && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            true => word.replacen(name, &format!("`{name}`"), 1),
            false => word.replace('|', "\\|").replace('*', "\\*"),
        }
    };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// The settings that an algorithm reads, in Markdown: a table for each group, with the first sentence about each.
pub fn settings(algorithm: Algorithm) -> String {
    let mut text = String::new();
    for group in table() {
        let rows = group.rows.iter().filter(|row| row.name != "algorithm" && readers(row.name)[algorithm as usize]);
        let mut lines = String::new();
        for row in rows {
            let values = match row.values {
                "any" | "finite" => "".into(),
                "flag" => "0 or 1".into(),
                "below 1" => "from 0 to below 1".into(),
                values => match values.strip_suffix(" of") {
                    Some(name) => format!("`{name}`"),
                    None => values.replace("- ", "-"),
                },
            };
            let own = number(row, &row.defaults[algorithm as usize]);
            let said = row.sentence.split(". ").next().unwrap().trim_end_matches('.');
            writeln!(lines, "| `{}` | {own} | {values} | {} |", row.name, marked(said)).unwrap();
        }
        if !lines.is_empty() {
            let gap = if text.is_empty() { "" } else { "\n" };
            write!(
                text,
                "{gap}**{}**\n\n| setting | default | values | |\n|---|---|---|---|\n{lines}",
                capital(group.name)
            )
            .unwrap();
        }
    }
    text
}

/// The text with a capital.
fn capital(text: &str) -> String {
    let (first, rest) = text.split_at(1);
    first.to_uppercase() + rest
}

/// Marks the first comment of a group.
pub const GROUP: &str = "-- ";

/// The longest comment behind its field, in columns.
const BEHIND: usize = 76;

/// `ffi/src/learner_config.rs` with its macro replaced by the structure that the macro makes, for cbindgen.
pub fn expanded(source: &str) -> String {
    let mut rows = String::new();
    for group in table() {
        for (i, row) in group.rows.iter().enumerate() {
            if i == 0 {
                writeln!(rows, "/// {GROUP}{} --", group.name).unwrap();
            }
            rows += &documented(&sentence(&group, row), BEHIND);
            writeln!(rows, "pub {}: {},", row.name, row.of).unwrap();
        }
    }
    let source = spliced(source, "learner_config_table", "$($($(#[doc = $sentence])+ pub $name: $type,)*)*", &rows);
    let rows: String = ALGORITHMS
        .iter()
        .map(|(sentence, id, number)| documented(sentence.trim(), BEHIND_ALGORITHM) + &format!("{id} = {number},\n"))
        .collect();
    spliced(&source, "algorithm_table", "$($(#[doc = $sentence])+ $id = $number,)+", &rows)
}

macro_rules! algorithms {
    ($(
        $(#[doc = $sentence:literal])+
        $id:ident = $number:literal, $(#[cfg(feature = $feature:literal)])? $name:ident: $file:ident::$algorithm:ident;
    )+) => {
        /// The sentence, name and number of each algorithm.
        const ALGORITHMS: &[(&str, &str, u32)] = &[$((concat!($($sentence),+), stringify!($id), $number)),+];
    };
}

rlcore::algorithm_table!(algorithms);

/// The longest comment behind its algorithm, in columns.
const BEHIND_ALGORITHM: usize = 90;

/// The valid values of each field, as macros for programs in C: `WHOLE(field, least, greatest)` and `REAL(field, least,
/// greatest)`, and `FREE_WHOLE(field)` and `FREE_REAL(field)` for fields whose values depend on other fields.
pub fn limits() -> String {
    let mut text = String::from(
        "/* Fields of rlcore_learner_config and the values that each may have on its own. Whoever includes it defines WHOLE and REAL\n   \
         (name, least, greatest), and FREE_WHOLE and FREE_REAL (name) of those that other fields decide about.\n\n   \
         Generated together with rlcore.h, by the same command. */\n",
    );
    for row in table().iter().flat_map(|group| &group.rows) {
        let is_real = row.of == "f32";
        let words: Vec<&str> = row.values.split(' ').collect();
        let (kind, tiny) = if is_real { ("REAL", "FLT_MIN") } else { ("WHOLE", "1") };
        let greatest = if is_real { "FLT_MAX" } else { "UINT32_MAX" };
        let joined = row.values.replace("- ", "-");
        let limits = match &words[..] {
            ["flag"] => Some(("0".to_string(), "1".to_string())),
            ["at", "least", low] => Some((low.to_string(), greatest.into())),
            ["above", "0"] => Some((tiny.into(), greatest.into())),
            ["above", "0", "to", high] => Some((tiny.into(), high.to_string())),
            ["below", "1"] => Some(("0".into(), "0.9999999".into())),
            ["finite"] => Some(("-FLT_MAX".into(), "FLT_MAX".into())),
            _ => joined.split_once(" to ").map(|(low, high)| (low.to_string(), high.to_string())),
        };
        match limits {
            _ if row.of.starts_with('[') || row.of == "u64" => {}
            Some((low, high)) => writeln!(text, "{kind}({}, {low}, {high})", row.name).unwrap(),
            None => writeln!(text, "FREE_{kind}({})", row.name).unwrap(),
        }
    }
    text
}
