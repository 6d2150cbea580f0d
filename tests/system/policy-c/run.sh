#!/bin/bash
# Policies as files of C, compiled, with the actions and numbers of the library: `tests/system/policy-c/run.sh [observations]`.
set -euo pipefail
cd "$(dirname "$0")/../../.."
out=target/policy-c own=tests/system/policy-c
rm -rf "$out"
mkdir -p "$out/cases"
cargo build -q --release -p rlcore-ffi
cc -std=c11 -Wall -Wextra -Werror -O1 -Iinclude tests/system/policies/cases.c target/release/librlcore.a -o "$out/make-cases"
"$out/make-cases" "$out/cases" c

# Sources of some policies each: sources <name> <pattern of policies>.
sources() {
  mkdir -p "$out/$1"
  grep -E "$2" "$out/cases/cases.txt" > "$out/$1/cases.txt"
  awk -v to="$out/$1" '{
    split($0, row, /[(),]+/); prefix = row[2]; rest = $0; sub(/^CASE\([^,]*, /, "", rest); sub(/\)$/, "", rest)
    n = split(rest, parts, /, /); fields = ""
    for (i = 3; i <= n; i++) fields = fields (i > 3 ? ", " : "") parts[i]
    file = to "/group-" int((NR - 1) / 12) ".c"
    printf "#include \"%s.h\"\n#define PREFIX %s\n#define CAPITALS %s\n#define CASE_ROW %s, %s, {%s}\n#include \"adapter.h\"\n#undef PREFIX\n#undef CAPITALS\n#undef CASE_ROW\n", \
      prefix, prefix, toupper(prefix), parts[1], parts[2], fields == "" ? "{0, 0, 0}" : fields > file
  }' "$out/$1/cases.txt"
}

# try <folder of sources> <name> <exact|near> <observations> <compiler and flags...>: compiles them without a warning and compares.
try() {
  local from=$out/$1 name=$2 how=$3 count=$4
  shift 4
  echo "$name: $*"
  for file in "$from"/group-*.c; do
    echo "-Wall -Wextra -pedantic -Werror -I$own -I$out/cases -c $file -o ${file%.c}-$name.o"
  done | xargs -P 2 -L 1 "$@"
  cc -std=c11 -Wall -Wextra -Werror -O1 -Iinclude -I$own -I"$from" $own/check.c "$from"/group-*-"$name".o target/release/librlcore.a -lm -o "$from/check-$name"
  "$from/check-$name" "$out/cases" "$how" "$count"
}

observations=${1:-1000}
sources all .
sources some '^CASE\((graph|struct)_|^CASE\((ppo|dqn|sac)_[1256],|^CASE\(net_(0|1|12|13|14|15),'
# GNU C contracts products and sums by itself: the file forbids it.
try all gcc exact "$observations" gcc -O2 -mfma
try some iso exact 100 gcc -std=c99 -O2 -mfma -ffp-contract=off
try some plain near 100 gcc -std=c99 -O2
try some emulated exact 50 bash -c 'exec gcc -std=c99 -O2 $(sed -n "s/^CASE(\([^,]*\),.*/-D\U\1_EXACT=1/p" target/policy-c/some/cases.txt) "$@"' gcc
try some c++ exact 100 g++ -x c++ -std=c++17 -O2 -mfma
try some clang exact 100 clang-22 -std=c99 -O2 -mfma
try some clang++ exact 50 clang-22 -x c++ -std=c++17 -O3 -mfma

# A Cortex-M4F in QEMU: policies of f32 alone that fit its flash together.
left=150000
: > "$out/device.txt"
while IFS='(), ' read -r _ name symbols fields _; do
  header=$out/cases/$name.h
  weights=$(sed -n 's/^   \([0-9]*\) bytes of weights.*/\1/p' "$header")
  [ "$symbols$fields" = 00 ] && [ "$weights" -lt 20000 ] && [ "$weights" -le "$left" ] || continue
  ! grep -qE "_sqrt\(|_moments" "$header" || continue
  left=$((left - weights))
  echo "$name $(sed -n 's/^   Observations of [0-9]* \([a-z]*\).*/\1/p' "$header")" >> "$out/device.txt"
done < "$out/cases/cases.txt"
sources device "^CASE\(($(awk '{ printf "%s%s", (NR > 1 ? "|" : ""), $1 }' "$out/device.txt")),"
awk '{ printf "CASE(%s, %d)\n", $1, $2 == "bytes" }' "$out/device.txt" > "$out/device/cases.txt"
board=examples-c/firmware
device=(clang-22 --target=thumbv7em-none-eabihf -mcpu=cortex-m4 -mfloat-abi=hard -mfpu=fpv4-sp-d16 -ffreestanding -nostdlib -fuse-ld=lld
  -std=c11 -Wall -Wextra -Wpedantic -Werror -Oz -ffunction-sections -fdata-sections -Wl,--gc-sections -T "$board/board.ld")
"${device[@]}" -I"$own" -I"$board" -I"$out/device" -I"$out/cases" -isystem "$board" "$own/device.c" "$board/boot.c" "$board/memory.c" "$out"/device/group-*.c -o "$out/device.elf"
gcc -std=c11 -O2 -mfma -DHOST -I"$own" -I"$board" -I"$out/device" -I"$out/cases" "$own/device.c" "$out"/device/group-*.c -o "$out/host"
"$out/host" > "$out/host.txt"
timeout 120 qemu-system-arm -M mps2-an386 -nographic -monitor none -serial none -semihosting-config enable=on,target=native \
  -kernel "$out/device.elf" < /dev/null > "$out/device.log" 2>&1 || { cat "$out/device.log"; exit 1; }
grep -v "bytes of stack used" "$out/device.log" | diff "$out/host.txt" -
echo "Cortex-M4F: $(wc -l < "$out/host.txt") policies, the same bits; $(grep stack "$out/device.log")"
size "$out/device.elf"
