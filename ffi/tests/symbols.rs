//! The symbols of the release library: exports, imports, no needed library, and no reachable panic.
//!
//! Builds the libraries as users do and inspects them with binutils. `RLCORE_BLESS=1 cargo test` rewrites `golden/symbols.txt`.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod common;

use common::{building, cc, is_kept, library, root, run, scratch};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output};

/// The only symbols that the library may import. Compilers of every language generate calls of these four.
const IMPORTS: [&str; 4] = ["memcmp", "memcpy", "memmove", "memset"];

#[test]
fn exports_are_those_of_the_golden_list() {
    let so = library().join("librlcore.so");
    let exports = names(&run(Command::new("nm").args(["-D", "--defined-only"]).arg(&so)));
    for name in &exports {
        assert!(name.starts_with("rlcore_"), "{name} is exported; nothing but rlcore_* may be");
    }
    let list: String = exports.iter().flat_map(|name| [name.as_str(), "\n"]).collect();
    is_kept("ffi/golden/symbols.txt", &list);
}

#[test]
fn imports_are_four_memory_functions_at_most() {
    let so = library().join("librlcore.so");
    for name in names(&run(Command::new("nm").args(["-D", "--undefined-only"]).arg(&so))) {
        assert!(IMPORTS.contains(&name.as_str()), "{name} is imported; {IMPORTS:?} are all that may be");
    }
    let dynamic = run(Command::new("readelf").args(["-d", "-W"]).arg(&so));
    assert!(dynamic.contains("Library soname: [librlcore.so.0]"), "{dynamic}");
    assert!(!dynamic.contains("(NEEDED)"), "the library leans on another one:\n{dynamic}");
}

/// The proof for the release library itself: a call that may panic keeps the function of `core::panicking` that it calls.
#[test]
fn nothing_of_the_panic_machinery_is_left() {
    let panicking = panicking(&library().join("librlcore.so"));
    assert!(panicking.is_empty(), "{panicking:#?}");
}

/// A stack frame of 32 KiB or more is made in a loop that overwrites r11, even where LLVM 22 keeps an argument in r11.
#[test]
fn no_frame_is_so_large_that_it_takes_a_loop() {
    let code = run(Command::new("objdump").args(["-d", "--no-show-raw-insn"]).arg(library().join("librlcore.so")));
    assert!(code.contains("sub    $0x1000,%rsp"), "no frame has a page, so this test sees nothing");
    let lines: Vec<&str> = code.lines().collect();
    let is_loop = |pair: &&[&str]| pair[0].ends_with("mov    %rsp,%r11") && pair[1].ends_with(",%r11");
    let loops: Vec<&[&str]> = lines.windows(2).filter(is_loop).collect();
    assert!(loops.is_empty(), "{loops:#?}");
}

/// With `prove-no-panic` the panic handler calls an undefined function. The link succeeds only if the optimizer removed every
/// call of the handler, as it does for the release library of other processors (tests/system/bits). A planted index has to make
/// both proofs fail.
#[test]
fn no_panic_is_reachable() {
    let small = ["--profile", "small", "--no-default-features", "--features"];
    let (handler, plant) = (["prove-no-panic"], ["--cfg", "rlcore_plant_panic"]);
    let proof = prove(&[&small[..], &["calls", "--features"], &handler].concat(), &[]);
    assert!(proof.status.success(), "a panic is reachable, or the link broke:\n{}", text(&proof.stderr));
    let planted = prove(&[&small[..], &handler].concat(), &plant);
    let why = text(&planted.stderr);
    assert!(!planted.status.success(), "a planted panic was not noticed");
    assert!(
        why.contains("undefined") && why.contains("rlcore_a_panic_is_reachable"),
        "failed for another reason:\n{why}"
    );
    let planted = prove(&small[..3], &plant);
    assert!(planted.status.success(), "{}", text(&planted.stderr));
    let names = panicking(&root().join("target/prove/small/librlcore.so"));
    assert!(names.iter().any(|name| name.contains("core::panicking")), "a planted panic was not noticed: {names:#?}");
}

/// The archive links into a program without a C library, and that program runs.
#[test]
fn archive_needs_no_libc() {
    let program = scratch("no-libc").join("freestanding");
    let linked = cc()
        .args(["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-ffreestanding", "-nostdlib", "-static", "-no-pie"])
        .args(["-fno-pie", "-fno-stack-protector", "-fno-tree-loop-distribute-patterns", "-Wl,--gc-sections", "-I"])
        .arg(root().join("include"))
        .arg(root().join("ffi/tests/freestanding.c"))
        .arg(library().join("librlcore.a"))
        .arg("-o")
        .arg(&program)
        .output()
        .expect("a C compiler, cc or $CC");
    assert!(linked.status.success(), "{}", text(&linked.stderr));
    println!("{}", run(Command::new("size").arg(&program)));
    let status = Command::new(&program).status().unwrap();
    assert_eq!(status.code(), Some(0), "the exit code is the number of the line that failed");
}

/// The symbols of a library that belong to the panic machinery.
fn panicking(library: &Path) -> Vec<String> {
    let all = run(Command::new("nm").arg("-C").arg(library));
    assert!(all.contains("rlcore_version"), "the symbol table is gone, so this test sees nothing");
    all.lines().filter(|line| line.contains("panic")).map(String::from).collect()
}

/// Links the library for the proof, in a target directory of its own.
fn prove(build: &[&str], rustc: &[&str]) -> Output {
    let mut command = building(env!("CARGO"));
    command.args(["rustc", "-q"]).args(build).args(["-p", "rlcore-ffi", "--lib", "--crate-type", "cdylib"]);
    command.args(["--target-dir", "target/prove", "--"]).args(rustc);
    command.current_dir(root()).output().unwrap()
}

/// The last column of nm's output.
fn names(nm: &str) -> BTreeSet<String> {
    nm.lines().filter_map(|line| line.split_whitespace().last()).map(String::from).collect()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
