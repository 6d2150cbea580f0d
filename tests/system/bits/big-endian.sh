#!/bin/bash
# The core's own tests on a big-endian 64-bit processor, POWER, under qemu-user: those of all that lays words out in bytes,
# which is blocks, stores, files, text and random streams. What environments, kernels and learners compute there run.sh
# compares, on another big-endian processor, so that their tests need not be compiled. The standard library is built from
# source by Debian's compiler, the only one here whose source is here too. Left out are the comparison
# of CPU levels, since this processor has one, and tests that count for minutes under emulation.
# Needs: rustc-web cargo-web rust-web-src qemu-user gcc-powerpc64-linux-gnu libc6-dev-ppc64-cross
set -euo pipefail
cd "$(dirname "$0")/../../.."

tree=target/cross/big-endian
rm -rf "$tree"
mkdir -p "$tree/tests"
sed -e 's/^members = .*/members = []/' -e '/^default-members = /d' Cargo.toml > "$tree/Cargo.toml"
cp Cargo.lock "$tree/"
ln -s "$PWD/src" "$PWD/README.md" "$tree/"
for item in tests/*; do
  case $item in
    tests/system | tests/sources) ;;  # about the sources, not about the processor
    *) cp -r "$item" "$tree/tests/" ;;  # cargo finds no programs behind links
  esac
done

# (s390x would do as well but for its floating-point unit: see run.sh.)
target=powerpc64-unknown-linux-gnu
export PROPTEST_CASES=8  # emulated: a tenth of the speed
export CARGO_INCREMENTAL=0
export RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1
export CARGO_TARGET_POWERPC64_UNKNOWN_LINUX_GNU_LINKER=powerpc64-linux-gnu-gcc
export CARGO_TARGET_POWERPC64_UNKNOWN_LINUX_GNU_RUNNER="qemu-ppc64 -L /usr/powerpc64-linux-gnu"
# Unwinding, because tests unwind and one core cannot be built both ways; no debug information, because it takes longest.
/usr/bin/cargo test --manifest-path "$tree/Cargo.toml" --target "$target" -Zbuild-std=std,panic_unwind \
  --config 'profile.dev.panic="unwind"' --config profile.dev.debug=false --target-dir target/cross \
  --lib --test block --test data -- --skip every_cpu_level --skip draws_are_even \
  --skip draws_a_million_items --skip a_million_updates --skip digits_are_the_shortest
