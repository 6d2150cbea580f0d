//! The guides are correct: the C of each page is one program that compiles without a warning, runs and prints the output on the
//! page, and so is its C++; every name and every link of a page exists. The pages of algorithms list the settings that their
//! algorithm reads, and have C alone.
//!
//! The blocks marked `c` are a page's program, in order. A block marked `c,fragment` is the body of a function after the program,
//! compiled and never called. Below each of them stands the same in C++, marked `cpp` or `cpp,fragment`, folded; `C_ALONE` lists
//! those without. A `text` block is output if the line before it ends in "prints:". A block marked `csharp` stands in a file that
//! tests/system/dotnet compiles and runs, and the calls of one marked `cmake` in a project of tests/system/dist.

#![cfg(unix)]

mod common;

use common::{cc, cxx, is_kept, learner_config, library, root, run, scratch};
use rlcore::learn::Algorithm;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

const WARNINGS: [&str; 6] = ["-ffp-contract=off", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-pthread"];

/// Programs in C# that pages show parts of.
const CSHARP: [&str; 2] = ["examples-c/unity/Carts.cs", "tests/system/dotnet/Mass.cs"];

/// The project whose calls a block of CMake has.
const CMAKE: &str = "tests/system/dist/fetch/CMakeLists.txt";

/// Blocks of C that have no C++ beside them: the page, words of the block, and the reason.
const C_ALONE: &[(&str, &str, &str)] = &[];

/// The lines around a block of C++, which fold it.
const FOLD: [&str; 2] = ["<details><summary>C++</summary>", "</details>"];

/// One language of a page.
#[derive(Default)]
struct Code {
    /// The program, with `#line` so that compiler messages name lines of the page.
    program: String,
    /// Functions that are only compiled.
    fragments: String,
    num_fragments: u32,
}

impl Code {
    fn take(&mut self, block: &str, from: &str, is_fragment: bool) {
        if !is_fragment {
            self.program += &(from.to_string() + block);
            return;
        }
        self.num_fragments += 1;
        let function = format!("fragment_{}(void)", self.num_fragments);
        write!(self.fragments, "void {function};\nvoid {function} {{\n{from}{block}}}\n").unwrap();
    }
}

/// The code and the output of one page.
#[derive(Default)]
struct Page {
    c: Code,
    cpp: Code,
    /// The expected output of both programs.
    prints: String,
    /// Blocks of C without C++ below them: the number of the line, and the block.
    alone: Vec<(usize, String)>,
}

/// Reads the text of a page. Panics at a block that nothing checks, and at C++ that is not below C of its kind.
fn read(name: &str, text: &str) -> Page {
    let (mut page, mut said) = (Page::default(), "");
    let mut above: Option<(usize, String, bool)> = None;
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let Some(kind) = line.strip_prefix("```") else {
            let folds = line.trim().is_empty() || FOLD.contains(&line);
            said = if folds { said } else { line };
            if !folds {
                page.alone.extend(above.take().map(|(number, block, _)| (number, block)));
            }
            continue;
        };
        let mut block = String::new();
        let closed = lines.by_ref().take_while(|(_, l)| *l != "```").fold(0, |n, (_, l)| {
            block += l;
            block.push('\n');
            n + 1
        });
        let at = format!("{name}:{}", number + 1);
        assert!(text.lines().nth(number + 1 + closed) == Some("```"), "{at}: a block without an end");
        let from = format!("#line {} \"{name}\"\n", number + 2);
        let is_fragment = kind.ends_with(",fragment");
        match kind {
            "cpp" | "cpp,fragment" => {
                let beside = above.take().is_some_and(|(_, _, fragment)| fragment == is_fragment);
                assert!(beside, "{at}: C++ without C of its kind above it");
                let fold = [text.lines().nth(number.wrapping_sub(2)), text.lines().nth(number + closed + 3)];
                assert!(fold == FOLD.map(Some), "{at}: C++ that is not folded, by {FOLD:?} and empty lines");
                page.cpp.take(&block, &from, is_fragment);
                continue;
            }
            _ => page.alone.extend(above.take().map(|(number, block, _)| (number, block))),
        }
        match kind {
            "c" | "c,fragment" => {
                page.c.take(&block, &from, is_fragment);
                above = Some((number + 1, block, is_fragment));
            }
            "csharp" => {
                let compiled =
                    CSHARP.iter().any(|file| fs::read_to_string(root().join(file)).unwrap().contains(&block));
                assert!(compiled, "{at}: no such lines in {CSHARP:?}");
            }
            "cmake" => {
                let tried = fs::read_to_string(root().join(CMAKE)).unwrap();
                for call in block.lines().filter_map(|line| line.split_once('(').map(|(call, _)| call)) {
                    assert!(tried.contains(&format!("{call}(")), "{at}: no {call} in {CMAKE}");
                }
            }
            "text" if said.ends_with("prints:") => page.prints += &block,
            "text" | "math" | "sh" | "rust" | "python" => {}
            _ => panic!("{at}: a block of kind {kind:?}, which nothing checks"),
        }
    }
    page.alone.extend(above.map(|(number, block, _)| (number, block)));
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

/// The pages that have programs.
fn programs() -> Vec<(String, Page)> {
    let read = |(name, path): (String, PathBuf)| {
        let page = read(&format!("{name}.md"), &fs::read_to_string(path).unwrap());
        (name, page)
    };
    let (programs, others): (Vec<_>, Vec<_>) =
        pages().into_iter().map(read).partition(|(_, p)| !p.c.program.is_empty());
    for (name, page) in others {
        assert!(page.c.fragments.is_empty() && page.prints.is_empty(), "{name}.md: fragments without a program");
    }
    assert!(programs.len() >= 18, "{} guides have a program", programs.len());
    programs
}

/// Compiles one language of a page, runs it and compares its output with that on the page.
fn prints(mut compile: Command, flags: &[&str], file: &str, code: &Code, page: &str) {
    let (dir, library) = (scratch("guides"), library().join("librlcore.a"));
    let (source, program) = (dir.join(file), dir.join(file.replace('.', "_")));
    fs::write(&source, format!("{}\n{}", code.program, code.fragments)).unwrap();
    compile.args(flags).args(WARNINGS).arg("-I").arg(root().join("include"));
    run(compile.arg(&source).arg(&library).arg("-o").arg(&program).arg("-lm"));
    let printed = run(Command::new(&program).current_dir(&dir));
    assert!(printed == page, "the guide of {file} says that it prints\n{page}\nand it prints\n{printed}");
}

#[test]
fn every_guide_compiles_runs_and_prints_what_it_says() {
    for (name, page) in programs() {
        prints(cc(), &["-std=c11", "-O2"], &format!("{name}.c"), &page.c, &page.prints);
    }
}

/// The C++ of a guide has the output of its C.
#[test]
fn every_guide_prints_the_same_in_cpp() {
    for (name, page) in programs() {
        if page.cpp.program.is_empty() {
            continue;
        }
        prints(cxx(), &["-std=c++17", "-O0"], &format!("{name}.cpp"), &page.cpp, &page.prints);
    }
}

#[test]
fn every_c_of_the_guides_has_cpp_beside_it_or_a_reason() {
    let mut unused: Vec<_> = C_ALONE.iter().collect();
    for (name, page) in programs() {
        if ALGORITHMS.iter().any(|(_, algorithm)| *algorithm == name) {
            continue;
        }
        for (line, block) in page.alone {
            let row = C_ALONE.iter().find(|(page, words, _)| *page == name && block.contains(words));
            assert!(row.is_some(), "{name}.md:{line}: no C++ below it, and no reason in C_ALONE");
            unused.retain(|other| Some(*other) != row);
        }
    }
    assert!(unused.is_empty(), "no such C without C++: {unused:?}");
}

/// C without C++ below it is found wherever it stands; C++ elsewhere is refused.
#[test]
fn missing_cpp_is_seen() {
    let c = "```c\nint a;\n```\n";
    let cpp = |kind: &str| format!("\n{}\n\n```{kind}\nint a;\n```\n\n{}\n", FOLD[0], FOLD[1]);
    let alone = |text: &str| read("page", text).alone.iter().map(|(line, _)| *line).collect::<Vec<_>>();
    assert!(alone(&format!("{c}{}{c}{}", cpp("cpp"), cpp("cpp"))).is_empty());
    assert_eq!(alone(&format!("{c}{c}{}{c}", cpp("cpp"))), [1, 15]);
    assert_eq!(alone(&format!("{c}\nWords.\n{c}{}", cpp("cpp"))), [1]);
    for text in [cpp("cpp"), format!("{c}Words.\n{}", cpp("cpp")), format!("{c}{}", cpp("cpp,fragment"))] {
        assert!(std::panic::catch_unwind(|| read("page", &text)).is_err(), "{text}");
    }
    let unfolded = format!("{c}\n```cpp\nint a;\n```\n");
    assert!(std::panic::catch_unwind(|| read("page", &unfolded)).is_err());
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
