#!/bin/bash
# What can go wrong around the library. A full disk: every example that writes a file says so, fails, and leaves the file
# that was there. A host that has set another mode of floating-point arithmetic: where results are promised to be the same
# they are, where not nothing breaks. (Killed processes are in examples-c: save.c and subproc.c; those that are stopped at any
# instruction in stopped.c, which ffi/tests/attack.rs runs; callbacks that fail or call
# back in ffi/tests/attack.c and attack_callbacks.c, callbacks that write too much in tests/system/sanitizers.)
set -euo pipefail
cd "$(dirname "$0")/../../.."
out=$PWD/target/faults bin=$PWD/examples-c/out/bin
rm -rf "$out"
mkdir -p "$out"
make -s -C examples-c out/bin/{train,resume,save,replay,atari}
library=target/release/librlcore.a

fails() {  # fails <words> <command>: it ends with an error, says these words and claims no success
  if "${@:2}" > "$out/text" 2>&1; then cat "$out/text"; echo "no error: ${*:2}"; exit 1; fi
  if ! grep -q "$1" "$out/text" || grep -q '^ok' "$out/text"; then cat "$out/text"; echo "not said: $1"; exit 1; fi
  echo "  $(grep -m 1 "$1" "$out/text")"
}

# ---- A full disk. /dev/full takes no byte; host_save writes to NAME.new first

full() { rm -rf "$out/full" && mkdir "$out/full" && ln -s /dev/full "$out/full/$1"; }
cd "$out"
full monitor.csv;   fails 'cannot write the monitor file' "$bin/train" --quick --out full
full policy.bin.new; echo old > full/policy.bin
fails 'cannot save full/policy.bin: No space left on device' "$bin/train" --quick --out full
[ "$(cat full/policy.bin)" = old ] && [ ! -e full/policy.bin.new ]
full curve.svg;     fails 'cannot write full/curve.svg' "$bin/train" --quick --out full
full half.bin.new;  fails 'cannot save full/half.bin: No space left' "$bin/resume" full/half.bin
full save.bin.new;  fails 'cannot save full/save.bin: No space left' "$bin/save" full/save.bin
full replay.bin.new; fails 'cannot save full/replay.bin: No space left' "$bin/replay" full/replay.bin
fails 'cannot write /dev/full: No space left' "$bin/atari" /dev/full
fails 'cannot save nowhere/half.bin: No such file' "$bin/resume" nowhere/half.bin
# Room for a part of the file only.
rm -rf full && mkdir full && echo old > full/half.bin
part() { (trap '' XFSZ && ulimit -f 8 && exec "$@"); }
fails 'cannot save full/half.bin: File too large' part "$bin/resume" full/half.bin
[ "$(cat full/half.bin)" = old ] && [ ! -e full/half.bin.new ]
cd - > /dev/null

# ---- Other arithmetic

[ "$(uname -m)" = x86_64 ] || exit 0
tests/system/fuzz/generate.sh "$out"
flags="-std=c11 -O1 -ffp-contract=off -w -Iinclude -I$out"
cc $flags tests/system/bits/{bits,kernels,envs,data,learn,overflow,blocks,host}.c "$library" -o "$out/bits"
cc $flags tests/system/faults/subnormal.c "$library" -lm -o "$out/subnormal"
for mode in 0x8040 0x2000 0x4000 0x6000; do
  cc $flags -DMODE=$mode -shared -fPIC tests/system/faults/float_mode.c -o "$out/$mode.so"
done
under() { LD_PRELOAD=$out/$1.so "${@:2}"; }

"$out/subnormal" kept
under 0x8040 "$out/subnormal" flushed
# The stages of overflow calculate with the smallest numbers too, whose products are subnormal.
usual() { grep -v '  overflow of ' "$@"; }
for level in 0 1 2; do
  under 0x8040 "$out/bits" "$level" | usual | diff <(usual tests/system/bits/expected.txt) - || { echo "flushing to zero changes bits"; exit 1; }
done
under 0x8040 "$bin/train" --quick --out "$out/full" | tail -1
for source in ffi/tests/attack*.c; do
  program=$out/$(basename "$source" .c)
  [[ $program != *_readers ]] || continue  # two processes that look at each other for long, and calculate nothing
  cc $flags "$source" "$library" -lm -pthread -o "$program"
  under 0x8040 "$program" > "$program.txt" || { tail -20 "$program.txt"; echo "$source: fails where subnormal numbers are flushed"; exit 1; }
done
echo "subnormal numbers flushed: the same bits at three CPU levels, the same training, every wrong call refused as ever"
for mode in 0x2000 0x4000 0x6000; do
  # Every stage succeeds, with other bits; but for those that want an overflow, where rounding towards zero has none.
  under $mode "$out/bits" 2 > "$out/bits.txt" || if usual "$out/bits.txt" | grep '^RLCORE_[A-Z_]*  '; then exit 1; fi
  if diff -q tests/system/bits/expected.txt "$out/bits.txt" > /dev/null; then echo "mode $mode was not set"; exit 1; fi
done
echo "rounding down, up or to zero: other bits, no failure"
