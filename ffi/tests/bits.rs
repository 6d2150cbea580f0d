//! The same bits at every CPU level: the C program of `tests/system/bits` prints a hash of each stage's values and blocks, and
//! all equal those of its committed table. `tests/system/bits/run.sh` runs the same program on other processors. `RLCORE_BLESS=1
//! cargo test` rewrites the table, after an intended change of the numbers that is in the changelog.
#![cfg(unix)]

mod common;

use common::{cc, library, root, run, scratch};
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::Command;

/// The sources of the program, without the hosts for bare metal and WebAssembly.
fn sources() -> Vec<PathBuf> {
    let files = fs::read_dir(root().join("tests/system/bits")).unwrap().map(|file| file.unwrap().path());
    let hosted = |file: &PathBuf| !file.ends_with("bare.c") && !file.ends_with("wasm.c");
    let mut sources: Vec<PathBuf> =
        files.filter(|file| file.extension().is_some_and(|e| e == "c")).filter(hosted).collect();
    sources.sort();
    sources
}

#[test]
fn every_cpu_level_gives_the_bits_of_the_table() {
    let dir = scratch("bits");
    let (program, images) = (dir.join("bits"), dir.join("images"));
    run(cc()
        .args(["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O2", "-ffp-contract=off", "-I"])
        .arg(root().join("include"))
        .args(sources())
        .arg(library().join("librlcore.a"))
        .arg("-o")
        .arg(&program));
    let all = |level| run(Command::new(&program).arg(level).arg(&images));
    let goes_on = || run(Command::new(&program).arg("go-on").stdin(File::open(&images).unwrap()));
    let table = root().join("tests/system/bits/expected.txt");
    if std::env::var_os("RLCORE_BLESS").is_some() {
        fs::write(&table, all("0")).unwrap();
    }
    let expected = fs::read_to_string(&table).unwrap();
    let saved: String = expected.split_inclusive('\n').filter(|line| line.contains("  saved ")).collect();
    assert!(expected.lines().count() > 50 && saved.lines().count() == 21, "the table has all stages and all blocks");
    for level in ["0", "1", "2"] {
        for (result, expected) in [(all(level), &expected), (goes_on(), &saved)] {
            for (ours, theirs) in result.lines().zip(expected.lines()) {
                assert_eq!(ours, theirs, "CPU level {level}: other bits than tests/system/bits/expected.txt");
            }
            assert_eq!(result.lines().count(), expected.lines().count());
        }
    }
}

#[test]
fn every_exported_function_is_in_a_stage() {
    let stages: String = sources().into_iter().map(|source| fs::read_to_string(source).unwrap()).collect();
    let symbols = fs::read_to_string(root().join("ffi/golden/symbols.txt")).unwrap();
    let missing: Vec<&str> = symbols.lines().filter(|symbol| !stages.contains(&format!("{symbol}("))).collect();
    assert!(missing.is_empty(), "no stage of tests/system/bits calls {missing:?}");
}
