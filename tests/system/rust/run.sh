#!/bin/bash
# Programs in Rust with a heap: the feature `alloc` of the core, its examples, and worlds of a physics engine as environments. Needs
# cargo alone; the crates that it uses are in Cargo.lock.
set -euo pipefail
cd "$(dirname "$0")"
export CARGO_TARGET_DIR=../../../target/rust
cargo clippy -q --locked --all-targets -- -D warnings
cargo test -q --locked
cargo test -q --locked --manifest-path ../../../Cargo.toml -p rlcore --no-default-features --features alloc,words --doc owned
