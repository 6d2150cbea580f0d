#!/bin/bash
# The archives of a release, and the recipes of package managers: built, compared with a second build in another folder, and
# tried by programs as their users link them.
#
#   tests/system/dist/run.sh             this machine's archive as it is released; the second build, and a Cortex-M4F, with few features
#   DIST=full tests/system/dist/run.sh   all targets as they are released, each twice, on their emulators
#
# vcpkg is not run: it comes from GitHub's releases alone. Its port's steps are, with stand-ins for its functions.
# Needs: cargo make gcc g++ libc6-dev binutils pkg-config cmake ninja-build meson python3-venv; rustc-web cargo-web rust-web-src
#        debhelper lintian; clang-22 lld-22 llvm-22 qemu-system-arm; for all targets those of tests/system/bits
set -euo pipefail
cd "$(dirname "$0")"
root=$(cd ../../.. && pwd)
install=$root/tests/system/install
work=$root/target/dist-test
out=$work/out few=$work/few
for tool in dh lintian; do
  command -v $tool > /dev/null || { echo "$tool is not there: apt-get install debhelper lintian"; exit 2; }
done
rm -rf "$work"
mkdir -p "$work"
full=${DIST:-}
SOURCE_DATE_EPOCH=$(git -C "$root" log -1 --format=%ct)
export SOURCE_DATE_EPOCH PYTHONDONTWRITEBYTECODE=1 CARGO_INCREMENTAL=0
unset PKG_CONFIG_PATH DIST

step() { printf '%4d s  %s\n' $SECONDS "$*"; }
fail() { echo "tests/system/dist: $*"; exit 1; }
quiet() { "$@" > "$work/log" 2>&1 || { cat "$work/log"; fail "failed: $*"; }; }

cat > "$work/expected.txt" <<'END'
cartpole: 183 episodes, 1d6579be766c8eb4
probe: a value of 1.000 after 5120 steps
END

# check <folder> <linked...>: the programs in it give the numbers, and have the library inside or not. libraries= where the shared is.
check() {
  local folder=$1 linked
  shift
  for linked; do
    { LD_LIBRARY_PATH=${libraries-} "$folder/c-$linked"; LD_LIBRARY_PATH=${libraries-} "$folder/cpp-$linked"; } \
      | diff "$work/expected.txt" - || fail "$folder: the $linked programs give other numbers"
    [ "$(readelf -d "$folder/c-$linked" | grep -c 'NEEDED.*\[librlcore.so.0\]' || true)" = "$([ "$linked" = shared ] && echo 1 || echo 0)" ] \
      || fail "$folder/c-$linked is not $linked"
  done
}


step 'this machine and the sources'
host=x86_64-unknown-linux-gnu
quiet make -s -C "$root/ffi" dist DIST="source $host" DISTDIR="$out"
(cd "$out" && sha256sum -c --quiet SHA256SUMS) || fail SHA256SUMS
mkdir "$work/unpacked"
tar xzf "$out/rlcore-0.1.0-$host.tar.gz" -C "$work/unpacked"
tree=$work/unpacked/rlcore-0.1.0-$host
printf './%s\n' CMakeLists.txt include/rlcore{.h,.hpp,_bindings.h} lib/cmake/rlcore/rlcore-config{-version,}.cmake lib/librlcore.a \
  lib/librlcore.so{,.0,.0.1.0} lib/pkgconfig/rlcore.pc meson.build \
  share/doc/rlcore/{CHANGELOG.md,LICENSE-APACHE,LICENSE-MIT,THIRD-PARTY.txt,VERSIONING.md,rlcore.spdx.json} > "$work/wanted.txt"
(cd "$tree" && find . -type f -o -type l | LC_ALL=C sort) | diff "$work/wanted.txt" - || fail 'the archive has other files than should be'
nm -D --defined-only "$tree/lib/librlcore.so" | sed 's/.* //' | LC_ALL=C sort | diff <(LC_ALL=C sort "$root/ffi/golden/symbols.txt") - \
  || fail 'other calls'

step 'a second build in another folder'
again=(source x86_64-unknown-linux-gnu thumbv7em-none-eabihf) build=(--features games --profile small)
[ "$full" != full ] || again=() build=()
quiet "$root/ffi/packaging/dist.py" --out "$few" --target-dir "$work/first" "${build[@]}" "${again[@]}"
# Its path has another length, and a space.
other="$work/an other/folder of a checkout"
mkdir -p "$other"
(cd "$root" && git ls-files -z | xargs -0 cp --parents -t "$other" --)
(cd "$other" && git init -q && git add -A)
quiet "$other/ffi/packaging/dist.py" --out "$other/out" --target-dir "$work/second" "${build[@]}" "${again[@]}"
diff -r "$few" "$other/out" || fail 'another folder gives other bytes'
cmp "$few/rlcore-0.1.0.tar.gz" "$out/rlcore-0.1.0.tar.gz"
printf '        %d archives are the same bytes\n' "$(wc -l < "$few/SHA256SUMS")"
rm -rf "$other" "$work/second"
python3 - "$few" "$work/unpacked" <<'END'
import pathlib, shutil, sys
few, unpacked = map(pathlib.Path, sys.argv[1:])
for archive in few.glob("rlcore-*.*[zp]"):
    into = unpacked / "few" / archive.name.removeprefix("rlcore-0.1.0").removesuffix(".tar.gz").removesuffix(".zip").strip("-")
    shutil.unpack_archive(archive, into)
END

step 'the contents of archives'
python3 -m venv "$work/venv"
quiet "$work/venv/bin/pip" install -q --disable-pip-version-check --no-deps -r requirements.txt
for folder in "$work"/unpacked/rlcore-* "$work"/unpacked/few/*/rlcore-*; do
  name=$(basename "$folder")
  ! grep -rlaF -e "$root" -e "${HOME:-/root}/" "$folder" || fail "$name: paths of this machine"
  [ "$name" != rlcore-0.1.0 ] || continue
  quiet "$work/venv/bin/pyspdxtools" -i "$folder/share/doc/rlcore/rlcore.spdx.json"
  python3 contents.py "$folder" || fail "$name: the document of its contents is wrong"
  # Imports of the archive: none but functions of memory, as the target's compilers call them. Where core was compiled elsewhere,
  # objects of compiler_builtins that no program takes name one of Rust's unwinding.
  archive=$folder/lib/librlcore.a
  [ -e "$archive" ] || archive=$folder/lib/rlcore.lib
  for kind in undefined defined; do
    llvm-nm-22 --$kind-only --format=just-symbols "$archive" 2> /dev/null | sed '/:$/d; /^$/d' | LC_ALL=C sort -u > "$work/$kind.txt"
  done
  LC_ALL=C comm -23 "$work/undefined.txt" "$work/defined.txt" > "$work/imports.txt"
  ! grep -vxE '_?(mem(cpy|move|set|cmp)|bcmp|bzero|memset_pattern16)|rust_eh_personality' "$work/imports.txt" || fail "$name: the archive imports more than functions of memory"
  printf '        %-42s %4d KB; imports: %s\n' "$name" "$(($(stat -c %s "$archive") / 1024))" "$(tr '\n' ' ' < "$work/imports.txt")"
done

step 'pkg-config, CMake, Meson from the archive'
mkdir "$work/pkgconfig"
PKG_CONFIG_PATH=$tree/lib/pkgconfig make -s -C "$work/pkgconfig" -f "$install/pkgconfig/Makefile" VPATH="$install"
libraries=$tree/lib check "$work/pkgconfig" shared static
quiet cmake -S "$install/cmake-find" -B "$work/find" -DCMAKE_PREFIX_PATH="$tree"
quiet cmake --build "$work/find"
check "$work/find" shared static
fetch() {  # fetch <name> <archive> [option...]
  local name=$1 archive=$2
  shift 2
  quiet cmake -G Ninja -S fetch -B "$work/$name" -DARCHIVE="file://$archive" -DHASH="$(sha256sum "$archive" | cut -d ' ' -f 1)" "$@"
  quiet cmake --build "$work/$name"
  check "$work/$name" shared static
}
fetch fetch-archive "$out/rlcore-0.1.0-$host.tar.gz"
subproject() {  # subproject <name> <archive> <folder in it> <whether it has a shared library> [option...]
  local name=$1 archive=$2 folder=$3 shared=$4 source=$work/$1-source
  shift 4
  mkdir -p "$source/subprojects/packagecache"
  cp meson/* "$install"/{cartpole.c,probe.cpp} "$source"
  cp "$archive" "$source/subprojects/packagecache"
  # The wrap of the release names the sources; for the archive of a target its name and checksum take their place.
  sed "s/^\(directory = \).*/\1$folder/; s/^\(source_filename = \).*/\1$(basename "$archive")/
    s/^\(source_hash = \).*/\1$(sha256sum "$archive" | cut -d ' ' -f 1)/" "$out/recipes/meson/rlcore.wrap" > "$source/subprojects/rlcore.wrap"
  [ "$folder" != rlcore-0.1.0 ] || cmp "$source/subprojects/rlcore.wrap" "$out/recipes/meson/rlcore.wrap" || fail 'the wrap names another archive'
  quiet meson setup "$work/$name" "$source" -Dhas_shared="$shared" "$@"
  quiet ninja -C "$work/$name"
  if [ "$shared" = true ]; then check "$work/$name" shared static; else check "$work/$name" static; fi
}
subproject meson-archive "$out/rlcore-0.1.0-$host.tar.gz" "rlcore-0.1.0-$host" true

# Whether recipes build is the question, not how fast the library is then.
export CARGO_PROFILE_RELEASE_OPT_LEVEL=1
step 'CMake from the sources'
fetch fetch-source "$out/rlcore-0.1.0.tar.gz" -DRLCORE_FEATURES=games
step 'Meson from the sources'
subproject meson-sources "$out/rlcore-0.1.0.tar.gz" rlcore-0.1.0 false -Drlcore:rlcore_features=games

step Conan
export CONAN_HOME=$work/conan-home
conan=$work/venv/bin/conan
cp -r "$out/recipes/conan" "$work/conan-recipe"
sed -i "s|https://.*/|file://$out/|" "$work/conan-recipe/conandata.yml"
quiet "$conan" profile detect
quiet "$conan" create "$work/conan-recipe" -o 'rlcore/*:features=games'
quiet "$conan" install conan -of "$work/conan" -c tools.cmake.cmaketoolchain:user_presets= -o 'rlcore/*:features=games'
quiet cmake -S conan -B "$work/conan/program" -DCMAKE_TOOLCHAIN_FILE="$(find "$work/conan" -name conan_toolchain.cmake)" -DCMAKE_BUILD_TYPE=Release
quiet cmake --build "$work/conan/program"
"$work/conan/program/c-static" | diff <(head -1 "$work/expected.txt") - || fail 'Conan: other numbers'

step 'the steps of vcpkg'
quiet cmake -DPORT_DIR="$out/recipes/vcpkg/rlcore" -DARCHIVE="$out/rlcore-0.1.0.tar.gz" -DWORK="$work/vcpkg" -P vcpkg/run.cmake
port=$work/vcpkg/packages/rlcore_x64-linux
printf './%s\n' include/rlcore{.h,.hpp,_bindings.h} lib/librlcore.a lib/pkgconfig/rlcore.pc \
  share/rlcore/{copyright,rlcore-config-version.cmake,rlcore-config.cmake,usage} > "$work/wanted.txt"
(cd "$port" && find . -type f | LC_ALL=C sort) | diff "$work/wanted.txt" - || fail 'vcpkg: other files'
python3 -c 'import json, sys; port = json.load(open(sys.argv[1])); assert port["name"] == "rlcore" and port["version"] == "0.1.0", port
assert set(port) <= {"name", "version", "description", "homepage", "license", "supports"}, port' "$out/recipes/vcpkg/rlcore/vcpkg.json"
quiet cmake -S conan -B "$work/vcpkg/program" -DCMAKE_PREFIX_PATH="$port"
quiet cmake --build "$work/vcpkg/program"
"$work/vcpkg/program/c-static" | diff <(head -1 "$work/expected.txt") - || fail 'vcpkg: other numbers'
[ "$full" != full ] || unset CARGO_PROFILE_RELEASE_OPT_LEVEL

step Debian
quiet "$root/ffi/packaging/deb.sh" "$out/rlcore-0.1.0.tar.gz" "$work/debian"
lintian --allow-root --fail-on error,warning --tag-display-limit 0 "$work"/debian/*.changes || fail 'lintian refuses the packages'
for package in "$work"/debian/librlcore*_amd64.deb; do
  case $package in *-dbgsym_*) ;; *) dpkg -x "$package" "$work/debian/root" ;; esac
done
multi=$work/debian/root/usr/lib/x86_64-linux-gnu
mkdir "$work/debian/programs"
PKG_CONFIG_SYSROOT_DIR=$work/debian/root PKG_CONFIG_LIBDIR=$multi/pkgconfig make -s -C "$work/debian/programs" \
  -f "$install/pkgconfig/Makefile" VPATH="$install"
libraries=$multi check "$work/debian/programs" shared static

step 'other targets'
if [ "$full" = full ]; then
  # aarch64 and Windows by a program that is linked shared; all by the stages of tests/system/bits, with these libraries.
  mkdir "$work/archives"
  mv "$work"/unpacked/few/*/rlcore-* "$work/archives"
  arm=$work/archives/rlcore-0.1.0-aarch64-unknown-linux-gnu windows=$work/archives/rlcore-0.1.0-x86_64-pc-windows-gnu
  aarch64-linux-gnu-gcc -std=c11 -O1 "$install/cartpole.c" -I "$arm/include" -L "$arm/lib" -lrlcore -o "$work/arm"
  qemu-aarch64 -L /usr/aarch64-linux-gnu -E LD_LIBRARY_PATH="$arm/lib" "$work/arm" | diff <(head -1 "$work/expected.txt") - || fail aarch64
  x86_64-w64-mingw32-gcc -std=c11 -O1 "$install/cartpole.c" -I "$windows/include" -L "$windows/lib" -lrlcore -o "$windows/bin/shared.exe"
  export WINEPREFIX=$work/wine WINEDEBUG=-all WINEDLLOVERRIDES='mscoree,mshtml='
  /usr/lib/wine/wine64 "$windows/bin/shared.exe" | tr -d '\r' | diff <(head -1 "$work/expected.txt") - || fail Windows
  /usr/lib/wine/wineserver64 -k || true
  ARCHIVES=$work/archives ../bits/run.sh aarch64 windows cortex-m4f rv32 wasm32
else
  flags=(-std=c11 -Wall -Wextra -Wpedantic -Werror -O2 -I ../bits)
  few_of() { echo "$work/unpacked/few/$1/rlcore-0.1.0-$1"; }
  cc "${flags[@]}" tiny.c ../bits/host.c -I "$(few_of $host)/include" "$(few_of $host)/lib/librlcore.a" -o "$work/tiny"
  arm=$(few_of thumbv7em-none-eabihf)
  clang-22 --target=thumbv7em-none-eabihf -mcpu=cortex-m4 -mfloat-abi=hard -mfpu=fpv4-sp-d16 "${flags[@]}" -ffreestanding -nostdlib -fuse-ld=lld \
    -Wl,--gc-sections -T ../bits/m4f.ld tiny.c ../bits/bare.c -I "$arm/include" "$arm/lib/librlcore.a" -o "$work/tiny-m4f"
  mkdir "$work/m4f"
  "$work/tiny" > "$work/tiny.txt" || { cat "$work/tiny.txt"; fail 'the least program'; }
  (cd "$work/m4f" && timeout 60 qemu-system-arm -M mps2-an386 -kernel "$work/tiny-m4f" -nographic -monitor none -serial none \
    -semihosting-config enable=on,target=native 2>&1 < /dev/null) | diff "$work/tiny.txt" - || fail 'thumbv7em: the least program'
fi
step 'archives are the same bytes from every folder, and every recipe builds'
