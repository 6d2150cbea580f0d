#!/bin/sh
# Instruments the core and its tests, nothing else: cargo calls it as RUSTC_WORKSPACE_WRAPPER. Branches need RUSTC_BOOTSTRAP.
# rustc makes every counter atomic, so LLVM's -do-counter-promotion has nothing to promote.
[ "$CARGO_PKG_NAME" = rlcore ] || exec "$@"
RUSTC_BOOTSTRAP=1 exec "$@" -Cinstrument-coverage -Zcoverage-options=branch
