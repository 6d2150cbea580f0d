#!/bin/bash
# The Debian packages of a source archive: deb.sh <rlcore-0.1.0.tar.gz> <an empty folder for them>. PROFILE is one of cargo's.
# Needs debhelper, and rustc and cargo 1.89 or newer as Debian packages (rustc-web and cargo-web in Debian 12).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
archive=$(realpath "$1")
version=$(basename "$archive" .tar.gz)
version=${version#rlcore-}
mkdir -p "$2"
cd "$2"
cp "$archive" "rlcore_$version.orig.tar.gz"
tar xzf "$archive"
cd "rlcore-$version"
cp -r "$here/debian" debian
# Every call: a program that was linked against this version needs this version, or a later one.
{ echo 'librlcore.so.0 librlcore0 #MINVER#'; sed "s/.*/ &@Base $version/" ffi/golden/symbols.txt; } > debian/librlcore0.symbols
dpkg-buildpackage -us -uc
