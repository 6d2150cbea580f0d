//! The guides are correct: the C of each page is one program that compiles without a warning, runs and prints the output on the
//! page; every name and every link of a page exists. The pages of algorithms list the settings that their algorithm reads.
//!
//! The blocks marked `c` are a page's program, in order. A block marked `c,fragment` is the body of a function after the program,
//! compiled and never called. A `text` block is output if the line before it ends in "prints:". A block marked `csharp` stands in
//! a file that tests/system/dotnet compiles and runs.

#![cfg(unix)]

mod common;

use common::{cc, is_kept, learner_config, library, root, run, scratch};
use rlcore::learn::Algorithm;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

const FLAGS: [&str; 8] =
    ["-std=c11", "-O2", "-ffp-contract=off", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-pthread"];

/// Programs in C# that pages show parts of.
const CSHARP: [&str; 2] = ["examples-c/unity/Carts.cs", "tests/system/dotnet/Mass.cs"];

/// The code and the output of one page.
#[derive(Default)]
struct Page {
    /// The program, with `#line` so that compiler messages name lines of the page.
    program: String,
    /// Functions that are only compiled.
    fragments: String,
    /// The expected output of the program.
    prints: String,
}

fn read(path: &PathBuf) -> Page {
    let text = fs::read_to_string(path).unwrap();
    let name = path.file_name().unwrap().to_str().unwrap();
    let (mut page, mut said, mut fragments) = (Page::default(), "", 0);
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let Some(kind) = line.strip_prefix("```") else {
            said = if line.trim().is_empty() { said } else { line };
            continue;
        };
        let mut block = String::new();
        let closed = lines.by_ref().take_while(|(_, l)| *l != "```").fold(0, |n, (_, l)| {
            block += l;
            block.push('\n');
            n + 1
        });
        assert!(text.lines().nth(number + 1 + closed) == Some("```"), "{name}:{}: a block without an end", number + 1);
        let from = format!("#line {} \"{name}\"\n", number + 2);
        match kind {
            "c" => page.program += &(from + &block),
            "c,fragment" => {
                fragments += 1;
                let function = format!("fragment_{fragments}(void)");
                write!(page.fragments, "void {function};\nvoid {function} {{\n{from}{block}}}\n").unwrap();
            }
            "csharp" => {
                let compiled =
                    CSHARP.iter().any(|file| fs::read_to_string(root().join(file)).unwrap().contains(&block));
                assert!(compiled, "{name}:{}: no such lines in {CSHARP:?}", number + 1);
            }
            "text" if said.ends_with("prints:") => page.prints += &block,
            "text" | "math" | "sh" | "rust" | "python" | "cpp" => {}
            _ => panic!("{name}:{}: a block of kind {kind:?}, which nothing checks", number + 1),
        }
    }
    page
}

/// The text of a page outside of its blocks.
fn prose(path: &PathBuf) -> String {
    let text = fs::read_to_string(path).unwrap();
    text.split("\n```").step_by(2).collect()
}

/// The folders of pages; each has an index, README.md.
const FOLDERS: [&str; 2] = ["examples-c/guides", "examples-c/guides/algorithms"];

fn pages_in(folder: &str) -> Vec<(String, PathBuf)> {
    let mut pages: Vec<_> = fs::read_dir(root().join(folder))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "md"))
        .map(|path| (path.file_stem().unwrap().to_str().unwrap().to_string(), path))
        .collect();
    pages.sort();
    pages
}

fn pages() -> Vec<(String, PathBuf)> {
    FOLDERS.into_iter().flat_map(pages_in).collect()
}

#[test]
fn every_guide_compiles_runs_and_prints_what_it_says() {
    let (dir, library) = (scratch("guides"), library().join("librlcore.a"));
    let mut programs = 0;
    for (name, path) in pages() {
        let page = read(&path);
        if page.program.is_empty() {
            assert!(page.fragments.is_empty() && page.prints.is_empty(), "{name}.md: fragments without a program");
            continue;
        }
        programs += 1;
        let (source, program) = (dir.join(format!("{name}.c")), dir.join(&name));
        fs::write(&source, format!("{}\n{}", page.program, page.fragments)).unwrap();
        let mut compile = cc();
        compile.args(FLAGS).arg("-I").arg(root().join("include")).arg(&source).arg(&library).arg("-o").arg(&program);
        run(compile.arg("-lm"));
        let printed = run(Command::new(&program).current_dir(&dir));
        assert!(printed == page.prints, "{name}.md says that it prints\n{}\nand it prints\n{printed}", page.prints);
    }
    assert!(programs >= 16, "{programs} guides have a program");
}

/// The page of each algorithm.
const ALGORITHMS: [(Algorithm, &str); 10] = [
    (Algorithm::Ppo, "ppo"),
    (Algorithm::A2c, "a2c"),
    (Algorithm::Impala, "impala"),
    (Algorithm::Unreal, "unreal"),
    (Algorithm::Dqn, "dqn"),
    (Algorithm::Td3, "td3"),
    (Algorithm::Sac, "sac"),
    (Algorithm::Pqn, "pqn"),
    (Algorithm::StreamAc, "stream-ac"),
    (Algorithm::StreamQ, "stream-q"),
];

#[test]
fn the_page_of_each_algorithm_lists_the_settings_that_it_reads() {
    let numbers = (0..).map_while(Algorithm::from_number);
    assert!(numbers.eq(ALGORITHMS.map(|(algorithm, _)| algorithm)), "an algorithm has no page");
    for (algorithm, page) in ALGORITHMS {
        let file = format!("{}/{page}.md", FOLDERS[1]);
        let text = fs::read_to_string(root().join(&file)).unwrap();
        let (before, rest) = text.split_once("<!-- settings -->\n").unwrap();
        let (_, after) = rest.split_once("<!-- end of settings -->").unwrap();
        let settings = learner_config::settings(algorithm);
        is_kept(&file, &format!("{before}<!-- settings -->\n\n{settings}\n<!-- end of settings -->{after}"));
    }
}

#[test]
fn every_name_in_the_guides_is_in_the_headers() {
    let headers = ["include/rlcore.h", "include/rlcore.hpp"].map(|h| fs::read_to_string(root().join(h)).unwrap());
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let known: Vec<&str> = headers.iter().flat_map(|h| h.split(|c| !word(c))).collect();
    for (page, path) in pages() {
        let text = fs::read_to_string(path).unwrap();
        let mut names = 0;
        for (at, _) in text.match_indices("rlcore_").chain(text.match_indices("RLCORE_")) {
            if text[..at].ends_with(word) {
                continue;
            }
            let name = text[at..].split(|c| !word(c)).next().unwrap();
            let family = text[at + name.len()..].starts_with('*');
            let found = known.iter().any(|k| if family { k.starts_with(name) } else { *k == name });
            assert!(found, "{page}.md: there is no {name}{}", if family { "*" } else { "" });
            names += 1;
        }
        assert!(names > 0, "{page}.md names nothing of the library");
    }
}

/// The front page and the pages that it links to.
const FRONT: [&str; 6] = [
    "README.md",
    "examples-c/README.md",
    "benches/README.md",
    "tests/README.md",
    ".github/CONTRIBUTING.md",
    ".github/SECURITY.md",
];

#[test]
fn every_link_of_the_guides_and_of_the_front_page_leads_somewhere() {
    let front = FRONT.map(|path| (path.to_string(), root().join(path)));
    let pages_of_guides = pages().into_iter().map(|(page, path)| (page + ".md", path));
    for (page, path) in pages_of_guides.chain(front) {
        let prose = prose(&path);
        for (at, _) in prose.match_indices("](") {
            let link = prose[at + 2..].split(')').next().unwrap();
            let file = link.split('#').next().unwrap();
            if file.is_empty() || link.starts_with("https://") {
                continue;
            }
            assert!(path.parent().unwrap().join(file).exists(), "{page}: a link to {file}, which is not there");
        }
    }
    for folder in FOLDERS {
        let index = fs::read_to_string(root().join(folder).join("README.md")).unwrap();
        for (page, _) in pages_in(folder) {
            let named = page == "README" || index.contains(&format!("]({page}.md)"));
            assert!(named, "{folder}/README.md does not name {page}.md");
        }
    }
}
