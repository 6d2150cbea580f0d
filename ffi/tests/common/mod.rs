//! Shared by the tests of the C interface: the project's root, the release library and a directory for outputs.
#![allow(dead_code)]

pub mod bindings;
pub mod comments;
pub mod csharp;
pub mod env_table;
pub mod layer_table;
pub mod learner_config;
pub mod preset_table;
pub mod tables;

use std::path::{Path, PathBuf};
use std::process::Command;

/// The project's root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

/// A directory of this name under `target/`, writable by tests.
pub fn scratch(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&dir).unwrap();
    dir
}

/// Runs a command that has to succeed and returns its output.
pub fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}\n{}\n{text}", output.status);
    text
}

/// Builds the release library as users get it and returns the directory of librlcore.so and librlcore.a: `cargo test`
/// builds neither. Cargo's own lock keeps tests from building at once.
pub fn library() -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    run(building(env!("CARGO"))
        .args(["build", "--quiet", "--release", "--package", "rlcore-ffi", "--target-dir"])
        .arg(target)
        .current_dir(root()));
    target.join("release")
}

/// A command that builds libraries as users get them, even if the tests themselves are instrumented.
pub fn building(program: &str) -> Command {
    let mut command = Command::new(program);
    command.env_remove("RUSTC_WORKSPACE_WRAPPER");
    command
}

/// The C compiler.
pub fn cc() -> Command {
    Command::new(std::env::var_os("CC").unwrap_or("cc".into()))
}

/// The C++ compiler.
pub fn cxx() -> Command {
    Command::new(std::env::var_os("CXX").unwrap_or("c++".into()))
}

/// Asserts that the project's file holds this text, or writes it if RLCORE_BLESS is set.
pub fn is_kept(file: &str, made: &str) {
    let path = root().join(file);
    if std::env::var_os("RLCORE_BLESS").is_some() {
        std::fs::write(&path, made).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    for (number, (kept, made)) in kept.lines().zip(made.lines()).enumerate() {
        assert_eq!(kept, made, "{file}:{}: RLCORE_BLESS=1 rewrites it", number + 1);
    }
    assert!(kept == made, "{file}: RLCORE_BLESS=1 rewrites it");
}
