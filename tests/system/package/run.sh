#!/bin/bash
# The crate as it would be published: its files are the sources and what a package needs beside them, and it builds from those
# alone. Cargo refuses a tree with changes that are not committed.
set -euo pipefail
cd "$(dirname "$0")/../../.."
LC_ALL=C diff <({ git ls-files src; printf '%s\n' .cargo_vcs_info.json Cargo.{lock,toml,toml.orig} LICENSE-{APACHE,MIT} README.md; } | sort) \
  <(cargo package -q -p rlcore --list 2> /dev/null | sort) || { echo 'tests/system/package: other files than should be'; exit 1; }
# Whether it builds is the question, not how fast it is then.
CARGO_PROFILE_DEV_OPT_LEVEL=0 CARGO_PROFILE_DEV_DEBUG=false cargo package -p rlcore 2>&1 | grep -v '^warning: ignoring '
