#!/bin/sh
# Instruments the core and its tests, nothing else: cargo calls it as RUSTC_WORKSPACE_WRAPPER. Branches need RUSTC_BOOTSTRAP.
[ "$CARGO_PKG_NAME" = rlcore ] || exec "$@"
RUSTC_BOOTSTRAP=1 exec "$@" -Cinstrument-coverage -Zcoverage-options=branch
