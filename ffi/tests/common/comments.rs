//! The comments of `include/rlcore.h`, by function.

/// A function of the header.
pub struct Entry {
    pub name: String,
    /// Its comment, with single spaces between words.
    pub comment: String,
    /// Its parameters in C.
    pub parameters: Vec<String>,
    /// The index of the entry that "here and below" or "as above" refers to.
    pub above: Option<usize>,
}

/// All functions of the header, in order.
pub fn entries(header: &str) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for section in header.split("/* ---- ").skip(1) {
        let (mut shared, first) = (None, entries.len());
        for (at, _) in section.match_indices("*/\n") {
            let (text, rest) = (&section[..at], &section[at + 3..]);
            let Some(declaration) = rest.split(';').next().filter(|d| d.ends_with(')') && !d.contains("/*")) else {
                continue;
            };
            let Some((head, tail)) = declaration.split_once('(').filter(|(h, _)| !h.starts_with("typedef")) else {
                continue;
            };
            let words = |s: &str| s.split_whitespace().collect::<Vec<_>>().join(" ");
            let comment = words(&text[text.rfind("/*").unwrap() + 2..]);
            let number = entries.len();
            let above =
                if comment.contains("as above") { number.checked_sub(1).filter(|&k| k >= first) } else { shared };
            shared = if comment.contains("here and below") { Some(number) } else { shared };
            entries.push(Entry {
                name: head.rsplit([' ', '*']).next().unwrap().to_string(),
                parameters: words(tail.trim_end_matches(')')).split(", ").map(String::from).collect(),
                comment,
                above,
            });
        }
    }
    entries
}

pub const fn in_a_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The comment of entry `k` and of the entries that it refers to: "as rlcore_x", "those of rlcore_x", "as there", or a first
/// word.
pub fn said(entries: &[Entry], k: usize, seen: &mut Vec<usize>) -> String {
    if seen.contains(&k) {
        return String::new();
    }
    seen.push(k);
    let Entry { comment, above, .. } = &entries[k];
    let all = comment.contains("as there");
    let mut text = comment.clone() + " ";
    for (at, _) in comment.match_indices("rlcore_") {
        let before = comment[..at].to_ascii_lowercase();
        if at == 0 || all || before.ends_with("as ") || before.ends_with("those of ") {
            let name = comment[at..].split(|c| !in_a_word(c)).next().unwrap();
            if let Some(other) = entries.iter().position(|e| e.name == name) {
                text += &said(entries, other, seen);
            }
        }
    }
    above.iter().for_each(|&k| text += &said(entries, k, seen));
    text
}

/// True if the text gives `name` a shape: "name[len]", "name: [len] ...", "a, name: [len]", "name: NUL-terminated", "*name", or
/// "Both outputs [len]".
pub fn has_shape(text: &str, name: &str, is_output: bool) -> bool {
    let places = text.match_indices(name).filter(|(at, _)| {
        !text[..*at].ends_with(|c| in_a_word(c) || c == '.') && !text[at + name.len()..].starts_with(in_a_word)
    });
    for (at, _) in places {
        let rest = &text[at + name.len()..];
        let item = rest.split(['.', ';']).next().unwrap();
        let listed = item.split(':').next().unwrap().chars().all(|c| in_a_word(c) || c == ',' || c == ' ');
        if rest.starts_with('[')
            || text[..at].ends_with('*')
            || (listed && item.contains(':') && rest[..rest.len().min(160)].contains('['))
            || (listed && item.contains(": NUL-terminated"))
        {
            return true;
        }
    }
    is_output && text.contains("oth outputs [")
}
