//! Runs the attack programs, which call every exported function wrongly, against the release library.

mod common;

use common::comments::{entries, in_a_word, said};
use common::{cc, library, root, run, scratch};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

fn programs() -> Vec<PathBuf> {
    let files = fs::read_dir(root().join("ffi/tests")).unwrap().map(|file| file.unwrap().path());
    let mut programs: Vec<PathBuf> = files.filter(|file| file.extension().is_some_and(|e| e == "c")).collect();
    programs.retain(|file| file.file_stem().is_some_and(|stem| stem.to_string_lossy().starts_with("attack")));
    programs.sort();
    programs
}

/// Each call gets the status that the program wants; and each status that a call was refused with is in the call's comment
/// in the header, where the host's programmer looks for it.
#[test]
fn every_wrong_call_gets_its_status_and_the_header_knows_it() {
    let entries = entries(&fs::read_to_string(root().join("include/rlcore.h")).unwrap());
    let comments: Vec<String> = (0..entries.len()).map(|k| said(&entries, k, &mut Vec::new())).collect();
    let (mut refusals, mut unsaid) = (0, Vec::new());
    for source in programs() {
        let program = scratch("attack").join(source.file_stem().unwrap());
        let flags = ["-std=c11", "-O1", "-g", "-Wall", "-Wextra", "-pedantic", "-Werror", "-pthread"];
        let include = root().join("include");
        run(cc()
            .args(flags)
            .arg("-I")
            .arg(include)
            .arg(&source)
            .arg("-o")
            .arg(&program)
            .arg(library().join("librlcore.a"))
            .arg("-lm"));
        let printed = run(&mut Command::new(program));
        for line in printed.lines() {
            let Some((call, status)) = line.strip_prefix("refused: ").and_then(|l| l.rsplit_once(' ')) else {
                continue;
            };
            let Some(k) = entries.iter().position(|e| e.name == call) else { continue };
            refusals += 1;
            if !comments[k].split(|c| !in_a_word(c)).any(|word| status.strip_prefix("RLCORE_") == Some(word)) {
                unsaid.push(line.to_string());
            }
        }
        println!("{}: {}", source.display(), printed.lines().last().unwrap_or_default());
    }
    assert!(refusals > 1000, "{refusals} ways to be refused");
    assert!(unsaid.is_empty(), "include/rlcore.h does not say so: {unsaid:#?}");
}

#[test]
fn every_exported_function_is_attacked() {
    let attacks: String = programs().into_iter().map(|source| fs::read_to_string(source).unwrap()).collect();
    let symbols = fs::read_to_string(root().join("ffi/golden/symbols.txt")).unwrap();
    assert!(symbols.lines().count() > 10, "ffi/golden/symbols.txt lists the exported functions");
    let missing: Vec<&str> = symbols.lines().filter(|symbol| !attacks.contains(&format!("{symbol}("))).collect();
    assert!(missing.is_empty(), "no attack program calls {missing:?}");
}
