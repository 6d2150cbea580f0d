//! Linker options of the shared library: its soname, and no startup files.

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        println!("cargo:rustc-cdylib-link-arg=-nostartfiles");
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,librlcore.so.0");
        if env::var("OPT_LEVEL").is_ok_and(|level| level == "s" || level == "z") {
            // Smallest size: no unwinding tables, which the library never uses, at the price of poorer backtraces.
            println!("cargo:rerun-if-changed=small.ld");
            println!("cargo:rustc-cdylib-link-arg=-Wl,--no-eh-frame-hdr");
            println!("cargo:rustc-cdylib-link-arg=-T{}/small.ld", env::var("CARGO_MANIFEST_DIR").unwrap_or_default());
        }
        if env::var_os("CARGO_FEATURE_PROVE_NO_PANIC").is_some() {
            // Every symbol must resolve: memcpy and the like do, in libc; the one that a reachable panic calls does not.
            println!("cargo:rustc-cdylib-link-arg=-Wl,-z,defs");
            println!("cargo:rustc-cdylib-link-arg=-lc");
        }
    }
}
