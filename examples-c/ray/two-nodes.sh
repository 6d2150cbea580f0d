#!/bin/sh
# Runs a command with two nodes of Ray on this machine: two-nodes.sh RAY COMMAND... The command's --address is 127.0.0.2:6399.
# Ray's own ports listen on all interfaces unless the address is 127.0.0.1, which several nodes cannot have; the token keeps
# others out.
set -eu
ray=$1
shift
folder=$(mktemp -d /tmp/rlcore-ray.XXXXXX)
nodes=
stop() {
  for node in $nodes; do kill "$node" 2> /dev/null && wait "$node" || :; done
  rm -rf "$folder"
}
trap stop EXIT
trap 'exit 1' INT TERM

RAY_AUTH_TOKEN=$(od -An -tx1 -N32 /dev/urandom | tr -d ' \n')
export RAY_AUTH_TOKEN RAY_AUTH_MODE=token RAY_USAGE_STATS_ENABLED=0

node() {
  "$ray" start --block --node-ip-address=127.0.0.2 --num-cpus=1 --object-store-memory=100000000 "$@" > "$folder/node.log" 2>&1 &
  nodes="$! $nodes"
  for _ in $(seq 120); do
    grep -q 'Ray runtime started' "$folder/node.log" && return
    kill -0 $! 2> /dev/null || break
    sleep 0.5
  done
  cat "$folder/node.log"
  echo 'FAILED: a node did not start'
  exit 1
}

node --head --port=6399 --include-dashboard=false --temp-dir="$folder"
node --address=127.0.0.2:6399
"$@"
