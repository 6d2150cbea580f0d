//! `make install` and cargo-c install every header; `make static` links nothing, and `make help` documents it; every
//! file that names the version names the same one.

#![cfg(unix)]

mod common;

use common::{root, run};
use std::fs;
use std::process::Command;

/// Whether `text` matches `pattern`, in which `*` stands for any text.
fn fits(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((before, after)) => text
            .strip_prefix(before)
            .is_some_and(|rest| (0..=rest.len()).any(|at| rest.is_char_boundary(at) && fits(after, &rest[at..]))),
    }
}

#[test]
fn every_header_is_installed_by_make_and_by_cargo_c() {
    let read = |file: &str| fs::read_to_string(root().join(file)).unwrap();
    let (make, manifest) = (read("ffi/Makefile"), read("ffi/Cargo.toml"));
    let (install, uninstall) = make.split_once("\ninstall: ").unwrap().1.split_once("\nuninstall:").unwrap();
    let assets =
        manifest.split_once("[package.metadata.capi.install.include]").unwrap().1.split("\n\n").next().unwrap();
    let pattern = assets.split_once("from = \"").unwrap().1.split('"').next().unwrap();
    let mut headers = 0;
    for file in fs::read_dir(root().join("include")).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        headers += 1;
        let installed = install.split_whitespace().any(|word| word == format!("../include/{name}"));
        assert!(installed, "make install: {name}");
        assert!(uninstall.contains(&format!("$(INCLUDEDIR)/{name}\"")), "make uninstall: {name}");
        assert!(fits(pattern, &format!("../include/{name}")), "cargo-c: {pattern} is not {name}");
    }
    assert!(headers >= 3 && !fits("../include/rlcore.h*", "../include/rlcore_bindings.h"));
}

/// `make static` asks cargo for the archive alone: nothing is linked, so another machine's linker is not needed.
#[test]
fn make_static_links_nothing() {
    let makefile = root().join("ffi");
    let make = |goal: &[&str]| run(Command::new("make").arg("-n").arg("-C").arg(&makefile).args(goal));
    let asked = make(&["static", "TARGET=thumbv7em-none-eabihf", "CARGOFLAGS=-Zbuild-std=core"]);
    for part in [
        " rustc ",
        "--crate-type staticlib",
        "--target \"thumbv7em-none-eabihf\"",
        "-Zbuild-std=core",
        "--profile release",
    ] {
        assert!(asked.contains(part), "{part}: {asked}");
    }
    assert!(make(&["all"]).contains(" build "));
    let help = run(Command::new("make").arg("-s").arg("-C").arg(&makefile).arg("help"));
    for word in ["make static", "TARGET=", "CARGOFLAGS="] {
        assert!(help.contains(word), "{word}: {help}");
    }
}

#[test]
fn the_changelogs_end_at_this_version() {
    let version = env!("CARGO_PKG_VERSION");
    let read = |file: &str| fs::read_to_string(root().join(file)).unwrap();
    let changelog = read("CHANGELOG.md");
    let released = changelog.lines().filter_map(|line| line.strip_prefix("## [")).find(|line| *line != "Unreleased]");
    let day = released.and_then(|line| line.strip_prefix(&format!("{version}] - ")));
    assert!(day.is_some_and(|day| day.len() == 10), "the newest version in CHANGELOG.md is {released:?}");
    let debian = read("ffi/packaging/debian/changelog");
    assert!(
        debian.starts_with(&format!("rlcore ({version}-")),
        "ffi/packaging/debian/changelog: {:?}",
        debian.lines().next()
    );
    let core = read("Cargo.toml");
    assert!(core.contains(&format!("version = \"{version}\"")), "Cargo.toml");
}
