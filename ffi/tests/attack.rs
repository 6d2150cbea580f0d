//! Runs the attack programs, which call every exported function wrongly, against the release library.

mod common;
#[path = "../../tests/system/fuzz/generate.rs"]
mod generate;

use common::comments::{entries, in_a_word, said};
use common::{cc, is_kept, library, root, run, scratch};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

/// The hand-written programs, attack_matrix.c, which runs a table of single wrong arguments, and words.c, which damages blocks.
fn programs() -> Vec<PathBuf> {
    let files = fs::read_dir(root().join("ffi/tests")).unwrap().map(|file| file.unwrap().path());
    let mut programs: Vec<PathBuf> = files.filter(|file| file.extension().is_some_and(|e| e == "c")).collect();
    programs.retain(|file| file.file_stem().is_some_and(|stem| stem.to_string_lossy().starts_with("attack")));
    programs.push(root().join("tests/system/fuzz/words.c"));
    programs.sort();
    programs
}

/// The folder of calls_generated.h, which tests/system/fuzz/calls.h includes: it is made of include/rlcore_bindings.h.
fn generated() -> &'static Path {
    static MADE: LazyLock<PathBuf> = LazyLock::new(|| {
        let folder = scratch("attack");
        let [bindings, rules] = described();
        let calls = generate::calls(&root(), &bindings, &rules).unwrap_or_else(|why| panic!("{why}"));
        fs::write(folder.join("calls_generated.h"), calls).unwrap();
        folder
    });
    &MADE
}

/// The bindings, and the rules of their arguments.
fn described() -> [String; 2] {
    ["include/rlcore_bindings.h", "tests/system/fuzz/calls.rules"]
        .map(|file| fs::read_to_string(root().join(file)).unwrap())
}

/// Compiles a program and links it to the release library.
fn compile(source: &Path) -> PathBuf {
    let program = scratch("attack").join(source.file_stem().unwrap());
    let flags = ["-std=c11", "-O1", "-g", "-Wall", "-Wextra", "-pedantic", "-Werror", "-pthread"];
    let mut cc = cc();
    if source.starts_with(root().join("tests/system/fuzz")) {
        cc.args(["-Wno-unused-function", "-Wno-unused-variable"]);
    }
    cc.args(flags).arg("-I").arg(root().join("include")).arg("-I").arg(generated()).arg(source).arg("-o").arg(&program);
    run(cc.arg(library().join("librlcore.a")).arg("-lm"));
    program
}

/// The statuses that the header's opening allows for any call, and for each call of a lifecycle.
const COMMON: [(&str, &[&str]); 6] = [
    ("", &["E_NULL", "E_ALIGN", "E_OVERFLOW", "E_OVERLAP", "E_IMAGE"]),
    ("_config_init", &["E_SIZE"]),
    ("_size", &["E_CONFIG"]),
    ("_init", &["E_CONFIG", "E_SIZE"]),
    ("_attach", &["E_SIZE"]),
    ("_attach_reader", &["E_SIZE"]),
];

/// Each call returns the status that the program expects, and the header documents each status of a refused call, in the call's
/// comment or in the header's opening. golden/refusals.txt keeps the statuses of each call, with a hash of its answers to all
/// cases of matrix.c; golden/words.txt keeps the error texts, with each number as #: those that are of one call in full, the
/// names that a sentence of all calls is said of as their number and a hash.
#[test]
fn every_wrong_call_gets_its_status_and_the_header_knows_it() {
    let entries = entries(&fs::read_to_string(root().join("include/rlcore.h")).unwrap());
    let comments: Vec<String> = (0..entries.len()).map(|k| said(&entries, k, &mut Vec::new())).collect();
    let (mut refusals, mut words, mut unsaid) =
        (BTreeMap::<String, BTreeSet<String>>::new(), BTreeSet::new(), Vec::new());
    for source in programs() {
        let program = compile(&source);
        let printed = run(&mut Command::new(program));
        for line in printed.lines() {
            words.extend(line.strip_prefix("said: ").map(|words| words.to_string() + "\n"));
            if let Some((call, hash)) = line.strip_prefix("answers: ").and_then(|l| l.split_once(' ')) {
                refusals.entry(call.to_string()).or_default().insert(format!(" all answers {hash}"));
            }
            let Some((call, status)) = line.strip_prefix("refused: ").and_then(|l| l.rsplit_once(' ')) else {
                continue;
            };
            let Some(k) = entries.iter().position(|e| e.name == call) else { continue };
            let status = status.strip_prefix("RLCORE_").unwrap();
            refusals.entry(call.to_string()).or_default().insert(format!(" {status}"));
            let common = COMMON.iter().any(|(end, list)| call.ends_with(end) && list.contains(&status));
            if !common && !comments[k].split(|c| !in_a_word(c)).any(|word| word == status) {
                unsaid.push(line.to_string());
            }
        }
        println!("{}: {}", source.display(), printed.lines().last().unwrap_or_default());
    }
    assert!(unsaid.is_empty(), "include/rlcore.h does not say so: {unsaid:#?}");
    let lines =
        refusals.iter().map(|(call, statuses)| format!("{call}:{}\n", statuses.iter().cloned().collect::<String>()));
    is_kept("ffi/golden/refusals.txt", &lines.collect::<String>());
    is_kept("ffi/golden/words.txt", &summary(&words));
}

/// Sentences about any argument, any field of a learner's configuration, and, of the configuration that a block keeps, any that
/// a call about the configuration says.
const SHARED: [&str; 5] = [
    ": the pointer is NULL",
    ": misaligned by # bytes; a multiple of # is required",
    ": the array overlaps another array of the call",
    ": expected an array that fits the address space, elements, given #",
    ", which is read only ",
];

/// The texts of calls of their own, then for each shared sentence how many texts have it, and their hash.
fn summary(texts: &BTreeSet<String>) -> String {
    let of_config = |text: &str| texts.contains(&text.replacen("RLCORE_E_IMAGE", "RLCORE_E_CONFIG", 1));
    let (mut own, mut shared) = (String::new(), BTreeMap::<&str, (u32, u64)>::new());
    for text in texts {
        let again = text.starts_with("RLCORE_E_IMAGE") && of_config(text);
        let sentence =
            if again { Some(&"E_IMAGE where it is E_CONFIG too") } else { SHARED.iter().find(|s| text.contains(**s)) };
        let Some(sentence) = sentence else {
            own += text;
            continue;
        };
        let (count, hash) = shared.entry(sentence).or_insert((0, 0xcbf2_9ce4_8422_2325));
        *count += 1;
        // FNV-1a.
        *hash = text.bytes().fold(*hash, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    }
    let lines = shared.iter().map(|(sentence, (count, hash))| format!("{count} texts, {hash:016x}: {sentence}\n"));
    own + &lines.collect::<String>()
}

/// The table that tests/system/fuzz/matrix.c and attack_matrix.c run has every exported function: each single wrong argument gets
/// the status that the header promises.
#[test]
fn every_exported_function_is_attacked() {
    let program = compile(&root().join("tests/system/fuzz/matrix.c"));
    let mut names: Vec<String> = run(Command::new(&program).arg("names")).lines().map(str::to_owned).collect();
    names.sort();
    let symbols = fs::read_to_string(root().join("ffi/golden/symbols.txt")).unwrap();
    assert_eq!(
        names,
        symbols.lines().collect::<Vec<_>>(),
        "tests/system/fuzz/calls.h and generate.rs make a call of every exported function"
    );
}

/// A function with an argument that no rule describes, or with a result other than a status, is refused by its name, and so are
/// a word of no meaning and a rule that no function uses.
#[test]
fn a_function_without_rules_and_a_rule_without_functions_are_refused() {
    let [bindings, rules] = described();
    let refused = |bindings: &str, rules: &str| generate::calls(&root(), bindings, rules).unwrap_err();
    let function = bindings.clone() + "rlcore_status rlcore_plant(\n  uint32_t num_leaves,\n  uint32_t seed);\n";
    let why = refused(&function, &rules);
    assert!(why.starts_with("rlcore_plant: the range of num_leaves: "), "{why}");
    let array = bindings.clone() + "rlcore_status rlcore_plant(\n  /* in [num_leaves] */ const float *leaf);\n";
    let why = refused(&array, &rules);
    assert!(why.starts_with("rlcore_plant: the extent num_leaves: "), "{why}");
    let number = bindings.clone() + "uint32_t rlcore_plant(\n  uint32_t seed);\n";
    let why = refused(&number, &rules);
    assert!(why.starts_with("rlcore_plant: it returns no status: "), "{why}");
    for words in ["1 4 RANGE green", "1 4 RANGE color=green"] {
        let why = refused(&function, &format!("{rules}\nplant.num_leaves: {words}\n"));
        let said = words.split('=').next().unwrap();
        assert!(why.starts_with(&format!("rlcore_plant: the words {said} of num_leaves: ")), "{why}");
    }
    let rule = rules + "\nplant.num_leaves: 1 4 RANGE\n";
    let why = refused(&bindings, &rule);
    assert!(why.ends_with(": these are of no function: plant.num_leaves: 1 4 RANGE"), "{why}");
    assert!(generate::calls(&root(), &function, &rule).unwrap().contains("OP(plant) {\n  U32(num_leaves, 1, 4,"));
}

/// A child forked while threads fail keeps its own error text.
#[cfg(unix)]
#[test]
fn a_child_forked_while_threads_fail_has_words_of_its_own() {
    println!("{}", run(&mut Command::new(compile(&root().join("ffi/tests/fork.c")))));
}

/// Every call that writes to a store runs one instruction at a time: attach refuses the interrupted store, or the store is in the
/// state after one of the calls. Readers run one instruction at a time too, with writes between their instructions.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn a_writer_may_be_stopped_at_any_instruction() {
    let program = compile(&root().join("tests/system/faults/stopped.c"));
    println!("{}", run(&mut Command::new(program)));
}

/// Calls that change a learner, a policy or a normalizer run one instruction at a time, and learners of all algorithms are killed
/// at random: a block that attach then accepts is as before the call or as after it. interrupted.c makes every such call.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn what_an_interrupted_call_leaves_is_refused() {
    let source = root().join("tests/system/faults/interrupted.c");
    println!("{}", run(&mut Command::new(compile(&source))));
    let (header, source) = (root().join("include/rlcore.h"), fs::read_to_string(source).unwrap());
    let header = fs::read_to_string(header).unwrap();
    for object in ["learner", "vec_normalize"] {
        let changes = |call: &&str| call.split_once(&format!("(rlcore_{object} *")).is_some();
        for call in header.lines().filter(changes) {
            let name = call.trim_start_matches("rlcore_status ").split('(').next().unwrap();
            assert!(source.contains(&format!("{name}(")), "tests/system/faults/interrupted.c does not call {name}");
        }
    }
}

/// The parameters of each function in `include/rlcore_bindings.h`: name, direction (none for numbers), and whether the parameter
/// is an array of pointers.
fn declared() -> BTreeMap<String, Vec<(String, Option<String>, bool)>> {
    let text = fs::read_to_string(root().join("include/rlcore_bindings.h")).unwrap();
    let mut functions = BTreeMap::new();
    for piece in text.split("(\n  ").skip(1).zip(text.split("(\n  ")).filter(|(_, head)| !head.ends_with(')')) {
        let (tail, head) = piece;
        let name = head.rsplit(|c| !in_a_word(c)).next().unwrap().to_string();
        let parameters = tail.split(");").next().unwrap().split(",\n").map(|parameter| {
            let (said, code) = parameter.trim().strip_prefix("/* ").and_then(|p| p.split_once(" */ ")).unzip();
            let code = code.unwrap_or(parameter.trim());
            let direction = said.map(|said| said.split(' ').next().unwrap().to_string());
            (code.rsplit(|c| !in_a_word(c)).next().unwrap().to_string(), direction, code.contains("*const *"))
        });
        functions.insert(name, parameters.collect());
    }
    functions
}

/// The arguments in the source text of a call, each by its last word.
fn arguments(call: &str) -> Vec<&str> {
    let (mut depth, mut from, mut found) = (0, 0, Vec::new());
    for (at, c) in call.char_indices() {
        depth += i32::from("([{".contains(c)) - i32::from(")]}".contains(c));
        if c == ',' && depth == 1 || depth == 0 && c == ')' {
            found.push(&call[from..at]);
        }
        if c == ',' && depth == 1 || c == '(' && depth == 1 && from == 0 {
            from = at + 1;
        }
    }
    found.iter().map(|one| one.trim_end_matches(|c| !in_a_word(c)).rsplit(|c| !in_a_word(c)).next().unwrap()).collect()
}

/// The directions in the bindings are true: changing an argument that a call reads changes results, a call changes the arguments
/// that it writes, and nothing else. tests/system/fuzz/directions.c tries every function.
#[test]
fn the_bindings_say_what_calls_read_and_write() {
    let printed = run(&mut Command::new(compile(&root().join("tests/system/fuzz/directions.c"))));
    // By function and parameter: whether the argument is an object, is read, is written.
    let mut seen = BTreeMap::<(String, usize), (bool, bool, bool)>::new();
    let (mut name, mut called) = (String::new(), Vec::new());
    for line in printed.lines() {
        if let Some((function, _)) = line.split_once('(') {
            (name, called) = (function.to_string(), arguments(line));
            continue;
        }
        let [argument, read, written] = line.split(' ').collect::<Vec<_>>()[..] else { continue };
        if let Some(i) = called.iter().position(|one| *one == argument) {
            let to = seen.entry((name.clone(), i)).or_default();
            *to = (to.0 | (read == "object"), to.1 | (read == "1"), to.2 | (written == "1"));
        }
    }
    let (mut wrong, mut count) = (Vec::new(), 0);
    for (function, parameters) in declared() {
        for (i, (parameter, direction, of_pointers)) in parameters.iter().enumerate() {
            let Some(direction) = direction.as_deref().filter(|direction| *direction != "opaque") else { continue };
            count += 1;
            let right = match (direction, seen.get(&(function.clone(), i))) {
                (_, None) => false,
                // A handle is the address of its memory; a const object does not change.
                ("in", Some((true, _, written))) => !written,
                (_, Some((true, ..))) => direction == "inout",
                // `init` only writes `mem`; calls on the new object read it.
                ("inout", Some((_, read, written))) if parameter == "mem" => !read && *written,
                // The direction is that of the arrays that the pointers point to.
                ("out", Some((_, read, written))) if *of_pointers => *read && !written,
                ("in", Some((_, read, written))) => *read && !written,
                ("out", Some((_, read, written))) => !read && *written,
                (_, Some((_, read, written))) => *read && *written,
            };
            if !right {
                wrong.push(format!("{function}: {parameter} is {direction}; {:?}", seen.get(&(function.clone(), i))));
            }
        }
    }
    assert!(count > 700 && wrong.is_empty(), "{count} pointers: {wrong:#?}");
}
