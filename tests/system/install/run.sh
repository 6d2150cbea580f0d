#!/bin/bash
# Installs rlcore as a packager would and builds and runs a program of each kind against what was installed: pkg-config and
# make, CMake from the package and from the sources, Meson, plain compilers, Python; C and C++, shared and static; two plugins in
# one process, and two copies under names of their own in one program. C#: tests/system/dotnet.
# Needs: cargo make gcc g++ libc6-dev binutils pkg-config cmake ninja-build meson python3
set -euo pipefail
cd "$(dirname "$0")"
root=$(cd ../../.. && pwd)
work=$root/target/install
prefix="$work/a prefix"  # paths may have spaces
rm -rf "$work"
mkdir -p "$work"
make="make -s -C $root/ffi"

step() { printf '%4d s  %s\n' $SECONDS "$*"; }
fail() { echo "tests/system/install: $*"; exit 1; }

# What the programs have to print, whatever built them.
cat > "$work/expected.txt" <<'END'
cartpole: 183 episodes, 1d6579be766c8eb4
probe: a value of 1.000 after 5120 steps
END

# check <directory>: the four programs in it run, give the numbers, and have the library inside or not.
check() {
  local linked needed program
  for linked in shared static; do
    { LD_LIBRARY_PATH=${2-} "$1/c-$linked"; LD_LIBRARY_PATH=${2-} "$1/cpp-$linked"; } | diff "$work/expected.txt" - \
      || fail "$1: the $linked programs give other numbers"
    for program in "$1/c-$linked" "$1/cpp-$linked"; do
      needed=$(readelf -d "$program" | grep -c 'NEEDED.*\[librlcore.so.0\]' || true)
      [ "$needed" = "$([ $linked = shared ] && echo 1 || echo 0)" ] || fail "$program is not $linked"
    done
  done
}

# plugins <directory>: the two in it show no name of the library, and each calls the one that it has inside.
plugins() {
  for plugin in one two; do
    ! nm -D --defined-only "$1/plugin-$plugin.so" | grep ' rlcore_' || fail "$1/plugin-$plugin.so exports names of the library"
    [ "$(stat -c %s "$1/plugin-$plugin.so")" -lt 100000 ] || fail "$1/plugin-$plugin.so has more of the library than it calls"
  done
  "$1/plugins" "$1/plugin-one.so" "$1/plugin-two.so" > "$work/log" || { cat "$work/log"; fail "$1: plugins that clash"; }
}

step 'install into a prefix'
$make install PREFIX="$prefix"
(cd "$prefix" && find . -type f -o -type l | LC_ALL=C sort) > "$work/files.txt"
diff - "$work/files.txt" <<'END' || fail 'other files were installed than should be'
./include/rlcore.h
./include/rlcore.hpp
./include/rlcore_bindings.h
./lib/cmake/rlcore/rlcore-config-version.cmake
./lib/cmake/rlcore/rlcore-config.cmake
./lib/librlcore.a
./lib/librlcore.so
./lib/librlcore.so.0
./lib/librlcore.so.0.1.0
./lib/pkgconfig/rlcore.pc
./share/doc/rlcore/LICENSE-APACHE
./share/doc/rlcore/LICENSE-MIT
END
[ "$(readlink "$prefix/lib/librlcore.so")" = librlcore.so.0 ] && [ "$(readlink "$prefix/lib/librlcore.so.0")" = librlcore.so.0.1.0 ] \
  || fail 'the links lead elsewhere'
readelf -d "$prefix/lib/librlcore.so" | grep -q 'soname: \[librlcore.so.0\]' || fail 'another soname than librlcore.so.0'

step 'install with DESTDIR, multiarch; move it; uninstall'
multi='PREFIX=/opt/rl LIBDIR=/opt/rl/lib/x86_64-linux-gnu'
$make install CARGO=: $multi DESTDIR="$work/a stage"
! grep -rqI 'a stage' "$work/a stage" || fail 'DESTDIR has got into a file'
grep -q '^libdir=${prefix}/lib/x86_64-linux-gnu$' "$work/a stage/opt/rl/lib/x86_64-linux-gnu/pkgconfig/rlcore.pc" || fail 'rlcore.pc: libdir'
mv "$work/a stage/opt/rl" "$work/moved"
cmake -S cmake-find -B "$work/cmake-moved" -DCMAKE_PREFIX_PATH="$work/moved" -DCMAKE_LIBRARY_ARCHITECTURE=x86_64-linux-gnu > "$work/log" \
  || { cat "$work/log"; fail 'CMake does not find a tree that was moved'; }
grep -q "^rlcore_DIR:PATH=$work/moved/" "$work/cmake-moved/CMakeCache.txt" || fail 'CMake took another package'
cmake --build "$work/cmake-moved" > "$work/log" || { cat "$work/log"; fail 'CMake does not link against a tree that was moved'; }
check "$work/cmake-moved"
mkdir -p "$work/a stage/opt" && mv "$work/moved" "$work/a stage/opt/rl"
$make uninstall $multi DESTDIR="$work/a stage"
[ -z "$(find "$work/a stage" -type f -o -type l)" ] || fail 'uninstall leaves something behind'

# Versions: the package says yes to its own series and no to others.
for asked in 0.1:0 0.1.0:0 0:0 0.0:1 0.2:1 0.1.1:1 1.0:1 0.1...0.3:0 0.2...0.3:1; do
  printf 'cmake_minimum_required(VERSION 3.20)\nproject(v C)\nfind_package(rlcore %s REQUIRED CONFIG)\n' "${asked%:*}" > "$work/CMakeLists.txt"
  status=0
  cmake -S "$work" -B "$work/version" -DCMAKE_C_COMPILER_WORKS=1 -DCMAKE_PREFIX_PATH="$prefix" > "$work/log" 2>&1 || status=1
  rm -f "$work/version/CMakeCache.txt"
  [ "$status" = "${asked#*:}" ] || { cat "$work/log"; fail "find_package(rlcore ${asked%:*}): $status"; }
done

step 'pkg-config and make'
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
[ "$(pkg-config --modversion rlcore)" = 0.1.0 ] || fail 'rlcore.pc has another version'
mkdir "$work/pkgconfig"
make -s -C "$work/pkgconfig" -f "$PWD/pkgconfig/Makefile" VPATH="$PWD"
check "$work/pkgconfig" "$prefix/lib"

step 'plain compilers'
mkdir "$work/plain"
flags=(-O1 -Wall -Wextra -pedantic -Werror -I "$prefix/include")
cc -std=c11 "${flags[@]}" cartpole.c -L "$prefix/lib" -lrlcore -o "$work/plain/c-shared"
cc -std=c11 "${flags[@]}" cartpole.c "$prefix/lib/librlcore.a" -o "$work/plain/c-static"
c++ -std=c++17 "${flags[@]}" probe.cpp -L "$prefix/lib" -lrlcore -o "$work/plain/cpp-shared"
c++ -std=c++17 "${flags[@]}" -fno-exceptions -fno-rtti probe.cpp "$prefix/lib/librlcore.a" -o "$work/plain/cpp-static"
check "$work/plain" "$prefix/lib"
cc -std=c11 "${flags[@]}" plugins.c -o "$work/plain/plugins" -ldl
for plugin in one two; do
  cc -std=c11 "${flags[@]}" -shared -fPIC plugin.c "$prefix/lib/librlcore.a" -o "$work/plain/plugin-$plugin.so"
done
! "$work/plain/plugins" "$work/plain/plugin-one.so" "$work/plain/plugin-two.so" > /dev/null || fail 'plugins that clash are not noticed'
for plugin in one two; do
  cc -std=c11 "${flags[@]}" -shared -fPIC plugin.c "$prefix/lib/librlcore.a" -Wl,--exclude-libs,librlcore.a,--gc-sections \
    -o "$work/plain/plugin-$plugin.so"
done
plugins "$work/plain"

step 'CMake, find_package'
cmake -S cmake-find -B "$work/cmake-find" -DCMAKE_PREFIX_PATH="$prefix" > "$work/log" || { cat "$work/log"; fail 'cmake-find'; }
cmake --build "$work/cmake-find" > "$work/log" || { cat "$work/log"; fail 'cmake-find'; }
check "$work/cmake-find"
plugins "$work/cmake-find"

step 'CMake, add_subdirectory, what is built already'
cmake -G Ninja -S cmake-subdirectory -B "$work/cmake-sub" -DCMAKE_BUILD_TYPE=Release -DRLCORE_TARGET_DIR="$root/target" > "$work/log"
cmake --build "$work/cmake-sub" > "$work/log" 2>&1 || { cat "$work/log"; fail 'cmake-subdirectory'; }
check "$work/cmake-sub"
plugins "$work/cmake-sub"
stamp=$(stat -c %y "$work/cmake-sub/c-static")
cmake --build "$work/cmake-sub" > "$work/log" 2>&1
[ "$stamp" = "$(stat -c %y "$work/cmake-sub/c-static")" ] || fail 'a second build links again though nothing has changed'

step 'CMake, add_subdirectory, MinSizeRel with one feature, from nothing'
cmake -G 'Ninja Multi-Config' -S cmake-subdirectory -B "$work/cmake-small" -DCMAKE_CONFIGURATION_TYPES='Debug;MinSizeRel' \
  -DRLCORE_FEATURES=games > "$work/log"
cmake --build "$work/cmake-small" --config MinSizeRel > "$work/log" 2>&1 || { cat "$work/log"; fail 'cmake-subdirectory, MinSizeRel'; }
[ -e "$work/cmake-small/rlcore/cargo/small/librlcore.a" ] || fail 'MinSizeRel is not built with the small profile'
[ "$(stat -c %s "$work/cmake-small/rlcore/cargo/small/librlcore.so")" -lt $(($(stat -Lc %s "$prefix/lib/librlcore.so") / 3)) ] \
  || fail 'RLCORE_FEATURES changes nothing'
check "$work/cmake-small/MinSizeRel"

step Meson
cp -r meson "$work/meson-source"
cp cartpole.c plugin.c plugins.c probe.cpp "$work/meson-source"
meson setup "$work/meson" "$work/meson-source" > "$work/log" 2>&1 || { cat "$work/log"; fail meson; }
ninja -C "$work/meson" > "$work/log" 2>&1 || { cat "$work/log"; fail meson; }
check "$work/meson" "$prefix/lib"
plugins "$work/meson"

step 'two copies under names of their own, in one program'
mkdir "$work/prefixed"
main='int one_c(void); int two_c(void); int one_cpp(void); int two_cpp(void);
int main(void) { return one_c() || one_cpp() || two_c() || two_cpp(); }'
for copy in one two; do
  $make prefixed SYMBOLS=${copy}_ OUT="$work/prefixed/$copy" CARGO=:
  [ -z "$(nm -D --undefined-only "$work/prefixed/$copy/lib/lib${copy}_rlcore.so" | grep -vE ' (memcmp|memcpy|memmove|memset)$')" ] || fail 'a copy with a prefix imports more'
  nm -D --defined-only "$work/prefixed/$copy/lib/lib${copy}_rlcore.so" | sed "s/.* ${copy}_//" | LC_ALL=C sort | diff <(LC_ALL=C sort ../../../ffi/golden/symbols.txt) - \
    || fail 'a copy with a prefix has other calls'
  flags=(-O1 -Wall -Wextra -pedantic -Werror -I "$work/prefixed/$copy/include" -c)
  cc -std=c11 "${flags[@]}" -Dmain=${copy}_c cartpole.c -o "$work/prefixed/$copy-c.o"
  sed "s/rlcore::/${copy}_rlcore::/g; s/^int main/extern \"C\" int ${copy}_cpp(); int ${copy}_cpp/" probe.cpp > "$work/prefixed/$copy.cpp"
  c++ -std=c++17 "${flags[@]}" "$work/prefixed/$copy.cpp" -o "$work/prefixed/$copy-cpp.o"
done
objects=("$work"/prefixed/{one,two}-{c,cpp}.o)
echo "$main" | cc -x c - -x none "${objects[@]}" "$work"/prefixed/{one/lib/libone_rlcore.a,two/lib/libtwo_rlcore.a} -lstdc++ -o "$work/prefixed/static"
echo "$main" | cc -x c - -x none "${objects[@]}" -L"$work/prefixed/one/lib" -lone_rlcore -L"$work/prefixed/two/lib" -ltwo_rlcore -lstdc++ -o "$work/prefixed/shared"
for program in static shared; do
  LD_LIBRARY_PATH="$work/prefixed/one/lib:$work/prefixed/two/lib" "$work/prefixed/$program" | diff <(cat "$work/expected.txt" "$work/expected.txt") - \
    || fail "two copies, $program: other numbers"
done
[ "$(readelf -d "$work/prefixed/shared" | grep -cE 'NEEDED.*\[lib(one|two)_rlcore.so.0\]')" = 2 ] || fail 'two copies: one library'

python3 ../abi/layout.py ../../../include/rlcore.h > "$work/layout.c"
step Python
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=../../../examples-c/shared python3 python/cartpole.py "$prefix/lib/librlcore.so" \
  "$prefix/include/rlcore_bindings.h" "$work/layout.c" | diff <(head -1 "$work/expected.txt") - \
  || fail 'python: other numbers'

step 'every program runs, with the same numbers'
