//! The same bits at every CPU level: the C program of `tests/bare` prints one hash a stage, and all are those of its
//! committed table. `tests/bare/m4f.sh` runs the same program on another processor. `RLCORE_BLESS=1 cargo test` rewrites
//! the table, after a change of the numbers that is meant and stands in the changelog.
#![cfg(unix)]

mod common;

use common::{cc, library, root, run, scratch};
use std::process::Command;
use std::{env, fs};

#[test]
fn every_cpu_level_gives_the_bits_of_the_table() {
    let bare = root().join("tests/bare");
    let program = scratch("bits").join("bits");
    run(cc()
        .args(["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O2", "-ffp-contract=off", "-I"])
        .args([root().join("include"), bare.join("bits.c"), bare.join("host.c"), library().join("librlcore.a")])
        .arg("-o")
        .arg(&program));
    let results = ["0", "1", "2"].map(|level| run(Command::new(&program).arg(level)));
    let table = bare.join("expected.txt");
    if env::var_os("RLCORE_BLESS").is_some() {
        fs::write(&table, &results[0]).unwrap();
    }
    let expected = fs::read_to_string(&table).unwrap();
    for (level, result) in results.iter().enumerate() {
        for (ours, theirs) in result.lines().zip(expected.lines()) {
            assert_eq!(ours, theirs, "CPU level {level}: other bits than tests/bare/expected.txt");
        }
        assert_eq!(result.lines().count(), expected.lines().count());
    }
}
