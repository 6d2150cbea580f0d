#!/bin/sh
# Instruments this workspace and nothing that it depends on: cargo calls it as RUSTC_WORKSPACE_WRAPPER.
exec "$@" -Cinstrument-coverage -Zcoverage-options=branch
