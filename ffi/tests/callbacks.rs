//! What the language around the library does to it: exceptions and longjmps that end within a callback, processes forked
//! while threads fail.

#![cfg(unix)]

mod common;

use common::{cc, cxx, library, root, run, scratch};
use std::process::Command;

/// Compiles a program of this directory with these flags against the release library and runs it.
fn run_program(mut compiler: Command, name: &str, flags: &[&str]) {
    let program = scratch("callbacks").join(name);
    compiler.args(["-O1", "-g", "-Wall", "-Wextra", "-pedantic", "-Werror", "-pthread"]).args(flags);
    compiler.arg("-I").arg(root().join("include")).arg(root().join("ffi/tests").join(name));
    run(compiler.arg("-o").arg(&program).arg(library().join("librlcore.a")).arg("-lm"));
    println!("{}", run(&mut Command::new(program)));
}

#[test]
fn what_a_callback_throws_and_catches_fails_its_row_alone() {
    run_program(cxx(), "callbacks.cpp", &["-std=c++17"]);
}

#[test]
fn a_child_forked_while_threads_fail_has_words_of_its_own() {
    run_program(cc(), "fork.c", &["-std=c11"]);
}
