//! Runs `attack.c`, which calls every exported function wrongly, against the release library.

mod common;

use common::{cc, library, root, run, scratch};
use std::fs;
use std::process::Command;

#[test]
fn every_wrong_call_gets_its_status() {
    let program = scratch("attack").join("attack");
    let flags = ["-std=c11", "-O1", "-g", "-Wall", "-Wextra", "-pedantic", "-Werror", "-pthread"];
    run(cc()
        .args(flags)
        .arg("-I")
        .arg(root().join("include"))
        .arg(root().join("ffi/tests/attack.c"))
        .arg("-o")
        .arg(&program)
        .arg(library().join("librlcore.a"))
        .arg("-lm"));
    println!("{}", run(&mut Command::new(program)));
}

#[test]
fn every_exported_function_is_attacked() {
    let attack = fs::read_to_string(root().join("ffi/tests/attack.c")).unwrap();
    let symbols = fs::read_to_string(root().join("ffi/golden/symbols.txt")).unwrap();
    assert!(symbols.lines().count() > 10, "ffi/golden/symbols.txt lists the exported functions");
    let missing: Vec<&str> = symbols.lines().filter(|symbol| !attack.contains(&format!("{symbol}("))).collect();
    assert!(missing.is_empty(), "attack.c never calls {missing:?}");
}
