#!/bin/bash
# The release library against the real packages, driven from Python: `tests/system/parity/run.sh [script...]`.
# The packages go into a virtual environment under target/: those that requirements.txt names and no other.
set -euo pipefail
cd "$(dirname "$0")/../../.."
venv=target/parity
if ! cmp -s tests/system/parity/requirements.txt "$venv/installed.txt"; then
  python3 -m venv --clear "$venv"
  "$venv/bin/pip" install -q --disable-pip-version-check --no-deps -r tests/system/parity/requirements.txt
  cp tests/system/parity/requirements.txt "$venv/installed.txt"
fi
cargo build -q --release -p rlcore-ffi
[ $# -gt 0 ] || set -- classic games atari image monitor estimators pong_replay prioritized rollout_file recorded
for script in "$@"; do
  script=$(basename "$script" .py)
  echo "$script"
  PYTHONDONTWRITEBYTECODE=1 "$venv/bin/python" "tests/system/parity/$script.py" target/release/librlcore.so
done
