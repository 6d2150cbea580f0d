//! Runs the attack programs, which call every exported function wrongly, against the release library.

mod common;

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

#[test]
fn every_wrong_call_gets_its_status() {
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
        println!("{}: {}", source.display(), run(&mut Command::new(program)));
    }
}

#[test]
fn every_exported_function_is_attacked() {
    let attacks: String = programs().into_iter().map(|source| fs::read_to_string(source).unwrap()).collect();
    let symbols = fs::read_to_string(root().join("ffi/golden/symbols.txt")).unwrap();
    assert!(symbols.lines().count() > 10, "ffi/golden/symbols.txt lists the exported functions");
    let missing: Vec<&str> = symbols.lines().filter(|symbol| !attacks.contains(&format!("{symbol}("))).collect();
    assert!(missing.is_empty(), "no attack program calls {missing:?}");
}
