#!/bin/bash
# The Python package as a user gets it: the wheel is built, its platform tag checked by auditwheel, and installed into a new virtual
# environment under target/, where tests/ run against it. `ffi/python/run-tests.sh [arguments of pytest]`.
# The packages are those that tests/requirements.txt names and no other.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=$PWD/ffi/python out=$PWD/target/python
mkdir -p "$out"
if ! cmp -s "$here/tests/requirements.txt" "$out/installed.txt"; then
  python3 -m venv --clear "$out/venv"
  "$out/venv/bin/pip" install -q --disable-pip-version-check --no-deps -r "$here/tests/requirements.txt"
  cp "$here/tests/requirements.txt" "$out/installed.txt"
fi
export PATH=$out/venv/bin:$PATH PYTHONDONTWRITEBYTECODE=1
rm -rf "$out/wheel" "$out/repaired" "$out/work"
mkdir "$out/work"
pip wheel -q --disable-pip-version-check --no-deps --no-build-isolation -w "$out/wheel" "$here"
if [ "$(uname -s)" = Linux ]; then
  auditwheel show "$out"/wheel/*.whl > "$out/audit.txt" 2>&1
  grep -o 'manylinux_[0-9a-z_]*' "$out/audit.txt" | sort -u
  auditwheel repair -w "$out/repaired" "$out"/wheel/*.whl > "$out/repair.txt" 2>&1
else
  cp -r "$out/wheel" "$out/repaired"
fi
ls "$out/repaired"
ls "$out/repaired" | grep -q '^rlcore-.*-py3-none-'
pip install -q --disable-pip-version-check --no-deps --force-reinstall "$out"/repaired/*.whl
# Away from the sources, which would be imported in its place.
cd "$out/work"
pytest -q -p no:cacheprovider --import-mode=importlib "$here/tests" "$@"
[ $# -eq 0 ] || exit 0
mypy --config-file "$here/pyproject.toml" --cache-dir "$out/mypy"
cc -std=c11 -O2 -Wall -Wextra -Werror -I"$here/../../include" "$here/tests/same_as_c.c" "$here/../../target/release/librlcore.a" -o "$out/same_as_c"
python "$here/tests/same_as_c.py" "$out/same_as_c"
mkdir events
make -s -C "$here/../../examples-c" out/bin/train
(cd "$here/../../examples-c" && out/bin/train --quick --out "$out/work" --events "$out/work/events" --film "$out/work/film.gif" > /dev/null)
python "$here/tests/events_of_c.py" events
cc -std=c11 -O1 -Wall -Wextra -Werror -I"$here/../../examples-c/shared" "$here/tests/gif_of_c.c" "$here/../../examples-c/shared/gif.c" -o "$out/gif_of_c"
"$out/gif_of_c" colors.gif
python "$here/tests/gif_of_c.py" colors.gif film.gif
