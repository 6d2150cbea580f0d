//! The C++ header compiles as C++17, with and without exceptions and RTTI, with every compiler there is, and does what it
//! says.

#![cfg(unix)]

mod common;

use common::{cxx, library, root, run, scratch};
use std::process::Command;

fn command(compiler: Option<&str>, modes: &[&str]) -> Command {
    let mut command = compiler.map_or_else(cxx, Command::new);
    command.args(["-std=c++17", "-O1", "-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-pedantic", "-Werror"]);
    command.args(modes).arg("-I").arg(root().join("include")).arg(root().join("ffi/tests/hpp.cpp"));
    command
}

#[test]
fn the_cpp_header_compiles_in_every_mode() {
    for modes in [&["-fno-exceptions", "-fno-rtti"][..], &[], &["-std=c++20"]] {
        run(command(None, modes).arg("-fsyntax-only"));
        if Command::new("clang++").arg("--version").output().is_ok() {
            run(command(Some("clang++"), modes).arg("-fsyntax-only"));
        }
    }
}

#[test]
fn the_cpp_header_does_what_it_says() {
    let program = scratch("cpp").join("hpp");
    let mut compile = command(None, &["-fno-exceptions", "-fno-rtti", "-pthread"]);
    run(compile.arg("-o").arg(&program).arg(library().join("librlcore.a")).arg("-lm"));
    println!("{}", run(&mut Command::new(program)));
}
