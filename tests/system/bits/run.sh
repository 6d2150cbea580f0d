#!/bin/bash
# The same bits everywhere: one C program whose stages hash what the library computes, built for and run on every target,
# each hash compared with expected.txt; and a block of every kind, carried from one processor to the others.
#
#   [ARCHIVES=folder] tests/system/bits/run.sh [x86-64 | i686 | aarch64 | windows | cortex-m4f | rv32 | wasm32 | s390x]...     all of them if none is named
#
# With ARCHIVES the libraries of all but this machine are those of the release's archives, unpacked there.
#
# Little-endian targets have to write the very same blocks, byte for byte, and to go on from x86-64's as it does itself.
# s390x is big-endian: its values are the same, its blocks are not, so that table's lines that say `blocks
# (little-endian)` are not its own; blocks of the other byte order have to be refused by name, in both directions. Its
# library does floating-point arithmetic in software: QEMU 7.2's MDEBR multiplies the wrong halves of its operands.
# (The core's Rust tests run with the floating-point unit of another big-endian processor: big-endian.sh.)
#
# Needs: gcc nodejs; rustc-web cargo-web rust-web-src clang-22 lld-22; gcc-i686-linux-gnu libc6-dev-i386-cross;
#        qemu-system-arm qemu-system-misc; qemu-user gcc-s390x-linux-gnu libc6-dev-s390x-cross
#        gcc-aarch64-linux-gnu libc6-dev-arm64-cross; gcc-mingw-w64-x86-64-win32 wine64
set -euo pipefail
cd "$(dirname "$0")"
root=$(cd ../../.. && pwd)
out=$root/target/bits
all=(x86-64 i686 aarch64 windows cortex-m4f rv32 wasm32 s390x)
[ $# -gt 0 ] || set -- "${all[@]}"
for target; do
  [[ " ${all[*]} " == *" $target "* ]] || { echo "no such target: $target (there are: ${all[*]})"; exit 2; }
done
rm -rf "$out"
mkdir -p "$out"

declare -A triple=(
  [i686]=i686-unknown-linux-gnu [aarch64]=aarch64-unknown-linux-gnu [windows]=x86_64-pc-windows-gnu
  [cortex-m4f]=thumbv7em-none-eabihf [rv32]=riscv32imafc-unknown-none-elf [wasm32]=wasm32-unknown-unknown
  [s390x]=s390x-unknown-none-softfloat
)

# ---- The libraries: rustup's compiler for this machine; for the others core is built from source, by Debian's compiler,
# the only one here whose source is here too.
begin=$SECONDS
cargo build -q --manifest-path "$root/ffi/Cargo.toml" --release --lib --target-dir "$root/target"
cargo build -q --manifest-path "$root/ffi/Cargo.toml" --lib --target-dir "$root/target"
targets=()
for target; do [ "$target" = x86-64 ] || targets+=(--target "${triple[$target]}"); done
if [ ${#targets[@]} -gt 0 ] && [ -z "${ARCHIVES:-}" ]; then
  RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=wasm-ld-22 \
    CARGO_TARGET_I686_UNKNOWN_LINUX_GNU_LINKER=i686-linux-gnu-gcc \
    CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc \
    CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER=x86_64-w64-mingw32-gcc \
    /usr/bin/cargo build --manifest-path "$root/ffi/Cargo.toml" --release --lib --features fma,prove-no-panic -Zbuild-std=core "${targets[@]}" \
    --target-dir "$root/target/cross" > "$out/cargo.log" 2>&1 || { cat "$out/cargo.log"; exit 1; }
fi
echo "libraries: $((SECONDS - begin)) s"

# ---- The programs
stages=(bits.c kernels.c envs.c data.c learn.c overflow.c blocks.c)
flags=(-std=c11 -Wall -Wextra -Wpedantic -Werror -O2 -ffp-contract=off -I "$root/include")
bare=(-ffreestanding -nostdlib -fuse-ld=lld -Wl,--gc-sections)
library() {
  if [ -n "${ARCHIVES:-}" ]; then echo "$ARCHIVES"/*-"${triple[$1]}/lib/librlcore.a"; else echo "$root/target/cross/${triple[$1]}/release/librlcore.a"; fi
}

compile() {  # compile <target> [debug]
  case $1 in
    x86-64) "${CC:-cc}" "${flags[@]}" "${stages[@]}" host.c "$root/target/${2:-release}/librlcore.a" -o "$out/x86-64-${2:-release}" ;;
    i686)
      i686-linux-gnu-gcc "${flags[@]}" -msse2 -mfpmath=sse -static "${stages[@]}" host.c "$(library i686)" -o "$out/i686" ;;
    aarch64)
      aarch64-linux-gnu-gcc "${flags[@]}" -static "${stages[@]}" host.c "$(library aarch64)" -o "$out/aarch64" ;;
    windows)
      x86_64-w64-mingw32-gcc "${flags[@]}" -static "${stages[@]}" host.c "$(library windows)" -o "$out/windows.exe" ;;
    cortex-m4f)
      clang-22 --target=thumbv7em-none-eabihf -mcpu=cortex-m4 -mfloat-abi=hard -mfpu=fpv4-sp-d16 "${flags[@]}" "${bare[@]}" \
        -T m4f.ld "${stages[@]}" bare.c "$(library cortex-m4f)" -o "$out/cortex-m4f" ;;
    rv32)
      clang-22 --target=riscv32-unknown-elf -march=rv32imafc -mabi=ilp32f -mcmodel=medany "${flags[@]}" "${bare[@]}" \
        -T rv32.ld "${stages[@]}" bare.c "$(library rv32)" -o "$out/rv32" ;;
    wasm32)
      clang-22 --target=wasm32-unknown-unknown "${flags[@]}" -ffreestanding -nostdlib -Wl,--no-entry -Wl,-z,stack-size=1048576 \
        "${stages[@]}" wasm.c "$(library wasm32)" -o "$out/wasm32" ;;
    s390x)
      mkdir -p "$out/s390x.o"
      (cd "$out/s390x.o" && clang-22 --target=s390x-linux-gnu -msoft-float "${flags[@]}" -isystem /usr/s390x-linux-gnu/include \
        -c "${stages[@]/#/$root/tests/system/bits/}" "$root/tests/system/bits/host.c")
      s390x-linux-gnu-gcc -static "$out"/s390x.o/*.o "$(library s390x)" -o "$out/s390x" ;;
  esac
}

# Paths of this machine are the same to a Windows program that starts below one of them.
windows() {  # windows <arguments of the program...>
  WINEPREFIX=$out/wine WINEDEBUG=-all WINEDLLOVERRIDES='mscoree,mshtml=' /usr/lib/wine/wine64 "$out/windows.exe" "$@" 2>> "$out/wine.log"
}

# Runs bare metal in a directory of its own, where it reads and writes its files.
bare_run() {  # bare_run <directory> <qemu command...>
  local dir=$1
  shift
  (cd "$dir" && timeout 300 "$@" -nographic -monitor none -serial none -semihosting-config enable=on,target=native 2>&1 < /dev/null)
}

machine() {  # machine <target> <directory>
  case $1 in
    cortex-m4f) bare_run "$2" qemu-system-arm -M mps2-an386 -kernel "$out/cortex-m4f" ;;
    rv32) bare_run "$2" qemu-system-riscv32 -M virt -bios none -kernel "$out/rv32" ;;
  esac
}

run() {  # run <target> <file for its blocks> [level]: all stages
  case $1 in
    x86-64*) "$out/$1" "$3" "$2" ;;
    i686) "${on_i686[@]}" "$out/i686" 0 "$2" ;;
    aarch64) qemu-aarch64 "$out/aarch64" 0 "$2" ;;
    windows) windows 2 "$2" ;;
    cortex-m4f | rv32)
      local dir=$out/$1.out
      mkdir -p "$dir"
      machine "$1" "$dir" || return
      cp "$dir/out.images" "$2" ;;
    wasm32) node wasm.cjs "$out/wasm32" out "$2" ;;
    s390x) qemu-s390x "$out/s390x" 0 "$2" ;;
  esac
}

go_on() {  # go_on <target> <file>: from the blocks of a file; fails if one is refused
  case $1 in
    x86-64*) "$out/$1" go-on < "$2" ;;
    i686) "${on_i686[@]}" "$out/i686" go-on < "$2" ;;
    aarch64) qemu-aarch64 "$out/aarch64" go-on < "$2" ;;
    windows) windows go-on < "$2" ;;
    cortex-m4f | rv32)
      local dir=$out/$1.in
      mkdir -p "$dir"
      cp "$2" "$dir/in.images"
      machine "$1" "$dir" ;;
    wasm32) node wasm.cjs "$out/wasm32" in "$2" ;;
    s390x) qemu-s390x "$out/s390x" go-on < "$2" ;;
  esac
}

# ---- What is compared
grep -v '(little-endian)$' expected.txt > "$out/values.txt"
grep '  saved ' expected.txt > "$out/saved.txt"
sed 's/^[0-9a-f]*  saved /refused, of the other byte order  /' "$out/saved.txt" > "$out/refused.txt"

same() {  # same <who> <expected> <got>: names the first stage that differs
  cmp -s "$2" "$3" && return
  paste -d '\n' "$2" "$3" | awk -v who="$1" '
    NR % 2 { wanted = $0; next }
    wanted != $0 { print who ": wanted `" wanted "`, got `" $0 "`"; exit }'
  exit 1
}

bytes() {  # bytes <who> <file>: the blocks of x86-64
  cmp "$out/x86-64.images" "$2" || { echo "$1: other blocks than on x86-64"; exit 1; }
}

rows=()
row() { rows+=("$(printf '%-11s %-8s %-44s %6s  %-40s %4s s' "$@")"); echo "${rows[-1]}"; }

native() {  # every CPU level, the library as it is shipped and the one that checks itself
  local library level text note
  for library in release debug; do
    compile x86-64 $library
    for level in 0 1 2; do
      text=$out/x86-64-$library-$level
      note=$(sed -n "$((level + 1))p" <<< $'baseline\nAVX2\nAVX-512')
      [ $level -ne 1 ] || grep -q ' avx2 ' /proc/cpuinfo || note="baseline: here is no AVX2"
      [ $level -ne 2 ] || grep -q ' avx512vl ' /proc/cpuinfo || note="no AVX-512 here: the level below"
      begin=$SECONDS
      run x86-64-$library "$text.images" $level > "$text.txt" || { cat "$text.txt"; echo "x86-64, $library, level $level: failed"; exit 1; }
      same "x86-64, $library, level $level" expected.txt "$text.txt"
      [ -e "$out/x86-64.images" ] || cp "$text.images" "$out/x86-64.images"
      bytes "x86-64, $library, level $level" "$text.images"
      row x86-64 $library "this machine, level $level ($note)" "$(wc -l < "$text.txt")" 'blocks: the same bytes' $((SECONDS - begin))
    done
  done
}

other() {  # other <target> <runs on> <table> <what became of x86-64's blocks> <what go_on prints of them> <its status>
  local target=$1 text=$out/$1.txt status=0
  begin=$SECONDS
  run "$target" "$out/$target.images" > "$text" < /dev/null || { cat "$text"; echo "$target: failed"; exit 1; }
  same "$target" "$3" "$text"
  go_on "$target" "$out/x86-64.images" > "$out/$target-goes-on.txt" || status=$?
  same "$target, with the blocks of x86-64" "$5" "$out/$target-goes-on.txt"
  [ $status -eq "$6" ] || { echo "$target, with the blocks of x86-64: exit status $status"; exit 1; }
  [ "$6" -eq 1 ] || bytes "$target" "$out/$target.images"
  row "$target" release "$2" "$(wc -l < "$text")" "$4" $((SECONDS - begin))
}

little() { other "$1" "$2" expected.txt 'blocks: the same bytes, go on from x86-64' "$out/saved.txt" 0; }

native
on_i686=()
for target; do
  [ "$target" = x86-64 ] || compile "$target"
  case $target in
    i686)
      "$out/i686" > /dev/null 2>&1 || on_i686=(qemu-i386)  # a kernel may run no 32-bit programs
      little i686 "${on_i686[*]:-this machine, in 32 bits}" ;;
    aarch64) little aarch64 'qemu-aarch64' ;;
    windows)
      little windows "$(/usr/lib/wine/wine64 --version | cut -d ' ' -f 1), Windows x86-64"
      WINEPREFIX=$out/wine /usr/lib/wine/wineserver64 -k || true ;;  # it would stay for a while
    cortex-m4f) little cortex-m4f 'QEMU mps2-an386, bare metal' ;;
    rv32) little rv32 'QEMU virt, RV32IMAFC, bare metal' ;;
    wasm32) little wasm32 "Node $(node --version), no imports" ;;
    s390x)
      other s390x 'qemu-s390x, big-endian, soft-float' "$out/values.txt" "blocks: x86-64's are refused by name" "$out/refused.txt" 1
      status=0
      go_on x86-64-release "$out/s390x.images" > "$out/foreign.txt" || status=$?
      same "x86-64, with the blocks of s390x" "$out/refused.txt" "$out/foreign.txt"
      [ $status -eq 1 ] || { echo "x86-64 went on with blocks of s390x"; exit 1; } ;;
  esac
done

printf '\n%s\n' "target      library  runs on                                       lines"
printf '%s\n' "${rows[@]}"
printf '%d lines of expected.txt (%d values, %d of blocks) hold on %d targets, after %d s\n' "$(wc -l < expected.txt)" \
  "$(wc -l < "$out/values.txt")" "$(grep -c '(little-endian)$' expected.txt)" ${#rows[@]} "$SECONDS"
