//! Tests that catch some of the mutants that they reach.

use planted::*;
use std::process::Command;

#[test]
fn green() {
    assert!(std::env::var_os("PLANTED_RED").is_none());
}

#[test]
fn values() {
    assert_eq!(mixed(20, 3, 2), 14);
    assert_eq!(mixed(0, 1, 1), -1);
    ignored(1);
    assert_eq!([limited(0), limited(1), limited(3)], [10, 11, 12]);
    assert_eq!(token(3), token(3));
    assert!(narrow(2, 1) && !narrow(1, 1) && !narrow(0, 1));
    assert_eq!(negated(4), -4);
}

#[test]
fn choices() {
    assert_eq!([0, 7, 10, 11].map(graded), ['f', 'b', 'b', 'a']);
    assert_eq!([Some(101), Some(100), Some(4), None].map(sided), [100, 100, 4, 7]);
    let settings = settings(9);
    assert_eq!((settings.width, settings.height), (9, 2));
    assert_eq!([Some(2), Some(1), None].map(chained), [true, false, false]);
    assert!(unnamed(2).eq([0, 1]));
}

#[test]
fn constants() {
    assert_eq!((SIZE, STEPS), (9, 9));
}

/// A process that this test starts has to end with it, however it ends: run.sh checks the numbers of the processes.
#[test]
fn endings() {
    let mut child = Command::new("sleep").arg("1000").spawn().unwrap();
    let left = concat!(env!("CARGO_TARGET_TMPDIR"), "/started");
    let mut started = std::fs::read_to_string(left).unwrap_or_default();
    started += &format!("{}\n", child.id());
    std::fs::write(left, started).unwrap();
    assert_eq!(count(3), 3);
    child.kill().unwrap();
    child.wait().unwrap();
}
