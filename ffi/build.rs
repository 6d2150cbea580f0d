//! How the shared library is linked: its soname, and nothing in it but rlcore.

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        println!("cargo:rustc-cdylib-link-arg=-nostartfiles");
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,librlcore.so.0");
        if env::var_os("CARGO_FEATURE_PROVE_NO_PANIC").is_some() {
            // Every name has to be found: memcpy and the like in libc, a reachable panic's nowhere.
            println!("cargo:rustc-cdylib-link-arg=-Wl,-z,defs");
            println!("cargo:rustc-cdylib-link-arg=-lc");
        }
    }
}
