//! The C++ header compiles as C++17, with and without exceptions, RTTI and threads, with every compiler installed, and passes its
//! tests, also under the compiler's sanitizers.

#![cfg(unix)]

mod common;

use common::{cxx, library, root, run, scratch};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The sources of the test program, one file for each theme.
fn sources() -> Vec<PathBuf> {
    let files = fs::read_dir(root().join("ffi/tests/hpp")).unwrap().map(|file| file.unwrap().path());
    let mut sources: Vec<PathBuf> = files.filter(|file| file.extension().is_some_and(|e| e == "cpp")).collect();
    sources.sort();
    sources
}

/// The default C++ compiler, as an empty name, and clang++ if it is installed.
fn compilers() -> Vec<&'static str> {
    let there = |name: &&str| Command::new(name).arg("--version").output().is_ok_and(|o| o.status.success());
    ["", "clang++"].into_iter().filter(|name| name.is_empty() || there(name)).collect()
}

fn command(compiler: &str, modes: &[&str]) -> Command {
    let mut command = if compiler.is_empty() { cxx() } else { Command::new(compiler) };
    command.args(["-std=c++17", "-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-pedantic", "-Werror", "-pthread"]);
    command.args(modes).arg("-I").arg(root().join("include"));
    command
}

/// Compiles the test, links it to the release library and runs it.
fn does_what_it_says(compiler: &str, name: &str, modes: &[&str]) {
    let program = scratch("cpp").join(name);
    let mut compile = command(compiler, modes);
    run(compile.args(sources()).arg("-o").arg(&program).arg(library().join("librlcore.a")).arg("-lm"));
    // Sanitizers then return NULL for a block larger than any machine's memory, as the C library does.
    println!("{}", run(Command::new(program).env("ASAN_OPTIONS", "allocator_may_return_null=1")));
}

/// Whether programs of this compiler with these flags link and run.
fn has(compiler: &str, flags: &[&str]) -> bool {
    let (source, program) = (scratch("cpp").join("nothing.cpp"), scratch("cpp").join("nothing"));
    fs::write(&source, "int main() { return 0; }\n").unwrap();
    let compiled = command(compiler, flags).arg(source).arg("-o").arg(&program).stderr(Stdio::null()).status();
    compiled.is_ok_and(|s| s.success()) && Command::new(program).status().is_ok_and(|s| s.success())
}

#[test]
fn the_cpp_header_compiles_in_every_mode() {
    for compiler in compilers() {
        for modes in [&["-fno-exceptions", "-fno-rtti"][..], &[], &["-std=c++20"]] {
            run(command(compiler, modes).arg("-fsyntax-only").args(sources()));
        }
    }
}

/// Each failure that the header detects itself sets an error text: no line returns a status without one.
#[test]
fn the_cpp_header_describes_each_failure_that_it_finds() {
    let header = fs::read_to_string(root().join("include/rlcore.hpp")).unwrap();
    let told = ["fail(", ".as(RLCORE_E", "that(", "same(", "= status(RLCORE_E_NOT_READY)"];
    let failures: Vec<&str> = header.lines().filter(|line| line.contains("RLCORE_E_")).collect();
    assert!(failures.len() > 20, "{failures:#?}");
    let silent: Vec<&&str> = failures.iter().filter(|line| !told.iter().any(|call| line.contains(call))).collect();
    assert!(silent.is_empty(), "include/rlcore.hpp: {silent:#?}");
}

/// Without the pool the header includes no thread headers, and a program that trains still compiles.
#[test]
fn the_cpp_header_needs_no_threads_without_the_pool() {
    let probe = root().join("tests/system/install/probe.cpp");
    for compiler in compilers() {
        let read = run(command(compiler, &["-DRLCORE_NO_WORKERS", "-M"]).arg(&probe));
        let headers = read.split_whitespace().filter_map(|path| Path::new(path).file_name()?.to_str());
        let threads: Vec<_> = headers.filter(|h| ["mutex", "thread", "condition_variable"].contains(h)).collect();
        assert!(threads.is_empty() && read.contains("rlcore.hpp"), "{compiler}: {threads:?}");
        run(command(compiler, &["-DRLCORE_NO_WORKERS", "-fsyntax-only"]).arg(&probe));
    }
}

#[test]
fn the_cpp_header_does_what_it_says() {
    does_what_it_says("", "bare", &["-O1", "-fno-exceptions", "-fno-rtti"]);
}

/// Each class with each kind of environment, with exceptions, under sanitizers if the compiler has them. tests/system/sanitizers
/// instruments the library too, and tests threads.
#[test]
fn the_cpp_header_stays_within_its_arrays() {
    for compiler in compilers() {
        let flags = ["-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
        let flags = if has(compiler, &flags) { &flags[..] } else { &[] };
        does_what_it_says(compiler, "sanitized", flags);
    }
}
