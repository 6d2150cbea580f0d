#!/usr/bin/env python3
"""Archives of a release, one for each target and one of the sources, with checksums and recipes: `make -C ffi dist`.

    ffi/packaging/dist.py [--out DIR] [--target-dir DIR] [--features LIST] [--profile NAME] [target...]

Without a target all of TARGETS and `source`. The same commit gives the same bytes in every folder and at every time, with the
same compilers: files are sorted and dated by SOURCE_DATE_EPOCH, which is the commit's date unless it is set.

Needs cargo, and for the machine's own target a C linker. For other targets core is built from source, by a compiler whose
source is installed: CROSS_CARGO, CROSS_RUSTC and CROSS_FLAGS name it, by default Debian's rustc-web, cargo-web, rust-web-src.
With rustup and its targets: CROSS_CARGO=cargo CROSS_RUSTC=rustc CROSS_FLAGS= .
"""
import argparse, functools, gzip, hashlib, io, os, re, shutil, subprocess, sys, tarfile, zipfile
from pathlib import Path
import sbom

ROOT = Path(__file__).resolve().parents[2]
HERE = ROOT / "ffi/packaging"
ELF = "LINKER:--exclude-libs,librlcore.a,--gc-sections"

# Targets, and of each: kind of library files, bytes of a pointer, options of its build, the linker of its shared library.
TARGETS = {
    "x86_64-unknown-linux-gnu": ("elf", 8, {}, "gcc"),
    "aarch64-unknown-linux-gnu": ("elf", 8, {}, "aarch64-linux-gnu-gcc"),
    "x86_64-pc-windows-gnu": ("mingw", 8, {}, "x86_64-w64-mingw32-gcc"),
    "x86_64-pc-windows-msvc": ("msvc", 8, {}, None),
    "x86_64-apple-darwin": ("macho", 8, {}, None),
    "aarch64-apple-darwin": ("macho", 8, {}, None),
    "aarch64-linux-android": ("archive", 8, {}, None),
    "wasm32-unknown-unknown": ("wasm", 4, {}, None),
    # Firmware counts bytes and has no kernels for CPU levels; fused multiply-add is an instruction of these.
    "thumbv7em-none-eabihf": ("archive", 4, {"profile": "small", "features": "all,fma"}, None),
    "riscv32imafc-unknown-none-elf": ("archive", 4, {"profile": "small", "features": "all,fma"}, None),
}
SHARED = ("elf", "mingw")


def run(*command, env=None, cwd=ROOT):
    """The command's output; its failure ends this program."""
    done = subprocess.run([str(c) for c in command], cwd=cwd, env={**os.environ, **(env or {})}, stdout=subprocess.PIPE)
    if done.returncode:
        sys.exit(f"dist: failed: {' '.join(str(c) for c in command)}")
    return done.stdout.decode()


def numbers():
    """The version and the ABI number, of the header."""
    found = dict(re.findall(r"^#define RLCORE_(\w+) +(\d+)\b", (ROOT / "include/rlcore.h").read_text(), re.M))
    return ".".join(found[f"VERSION_{part}"] for part in ("MAJOR", "MINOR", "PATCH")), found["ABI_VERSION"]


VERSION, ABI = numbers()


@functools.cache
def epoch():
    """The date of everything: that of the commit."""
    said = os.environ.get("SOURCE_DATE_EPOCH") or run("git", "log", "-1", "--format=%ct")
    return int(said)


def fill(template, out, **places):
    """The template with its @PLACES@ filled in; a place without a value is a fault."""
    text = template.read_text()
    for name, value in {"VERSION": VERSION, "ABI": ABI, **places}.items():
        text = text.replace(f"@{name}@", str(value))
    left = re.search(r"@(?!OUTPUT|PRIVATE_DIR)[A-Z_0-9]+@", text)  # those are Meson's own
    if left:
        sys.exit(f"dist: {template}: no value for {left.group()}")
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(text)


def copy(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def build(target, options):
    """Builds the library for a target: the folder of the files, and the compiler's version."""
    kind, _, own, linker = TARGETS[target]
    host = re.search(r"^host: (.*)$", run("rustc", "-vV"), re.M).group(1)
    features, profile = options.features or own.get("features", "default"), options.profile or own.get("profile", "release")
    flags = ["--locked", "--manifest-path", ROOT / "ffi/Cargo.toml", "--profile", profile, "--no-default-features",
             "--features", features, "--lib"]
    folder, env = options.target_dir, {}
    if target == host:
        cargo, rustc = [os.environ.get("CARGO", "cargo")], "rustc"
    else:
        cargo = [os.environ.get("CROSS_CARGO", "/usr/bin/cargo")]
        rustc = os.environ.get("CROSS_RUSTC", "/usr/bin/rustc")
        env = {"RUSTC": rustc, "RUSTC_BOOTSTRAP": "1"}
        folder = folder / "dist/cross"
        flags += os.environ.get("CROSS_FLAGS", "-Zbuild-std=core").split() + ["--target", target]
        if linker:
            env[f"CARGO_TARGET_{target.upper().replace('-', '_')}_LINKER"] = linker
        if kind == "mingw":
            # No date in the library: it would be that of the build.
            flags += ["--config", f"target.{target}.rustflags=['-Clink-arg=-Wl,--no-insert-timestamp']"]
    flags += ["--target-dir", folder]
    if kind in SHARED:
        run(*cargo, "build", *flags, env=env)
    else:
        run(*cargo, "rustc", *flags, "--crate-type", "staticlib", env=env)
    return folder / (target if target != host else "") / ("debug" if profile == "dev" else profile), run(rustc, "-V").strip()


def libraries(kind, built, tree):
    """Puts the libraries into the tree: the values of the CMake package's places."""
    lib = tree / "lib"
    lib.mkdir(parents=True)
    archive = "rlcore.lib" if kind == "msvc" else "librlcore.a"
    copy(built / archive, lib / archive)
    places = {"STATIC": archive, "SHARED": "", "IMPLIB": "", "SONAME": "", "STATIC_LINK": ELF if kind in ("elf", "archive") else ""}
    if kind == "elf":
        places |= {"SHARED": f"librlcore.so.{VERSION}", "SONAME": f"librlcore.so.{ABI}"}
        copy(built / "librlcore.so", lib / f"librlcore.so.{VERSION}")
        (lib / f"librlcore.so.{VERSION}").chmod(0o755)
        (lib / f"librlcore.so.{ABI}").symlink_to(f"librlcore.so.{VERSION}")
        (lib / "librlcore.so").symlink_to(f"librlcore.so.{ABI}")
    if kind == "mingw":
        places |= {"SHARED": "../bin/rlcore.dll", "IMPLIB": "librlcore.dll.a"}
        copy(built / "rlcore.dll", tree / "bin/rlcore.dll")
        copy(built / "librlcore.dll.a", lib / "librlcore.dll.a")
    return places


def documents(doc):
    for name in ("LICENSE-APACHE", "LICENSE-MIT", "CHANGELOG.md", "ffi/VERSIONING.md"):
        copy(ROOT / name, doc / Path(name).name)


def prebuilt(target, options, work):
    """The tree of a target's archive."""
    kind, pointer, _, _ = TARGETS[target]
    built, compiler = build(target, options)
    tree = work / f"rlcore-{VERSION}-{target}"
    places = libraries(kind, built, tree)
    for header in (ROOT / "include").iterdir():
        copy(header, tree / "include" / header.name)
    cmake = tree / "lib/cmake/rlcore"
    fill(ROOT / "ffi/cmake/rlcore-config.cmake.in", cmake / "rlcore-config.cmake",
         CMAKEDIR="/lib/cmake/rlcore", LIBDIR="/lib", INCLUDEDIR="/include", **places)
    fill(ROOT / "ffi/cmake/rlcore-config-version.cmake.in", cmake / "rlcore-config-version.cmake", POINTER_SIZE=pointer)
    pc = tree / "lib/pkgconfig/rlcore.pc"
    fill(ROOT / "ffi/rlcore.pc.in", pc, PREFIX="${pcfiledir}/../..", LIBDIR="${prefix}/lib", INCLUDEDIR="${prefix}/include")
    if not places["STATIC_LINK"]:
        pc.write_text("".join(line for line in pc.open() if not re.match(r"Libs.private:|# What has the archive", line)))
    fill(HERE / "prebuilt/CMakeLists.txt", tree / "CMakeLists.txt")
    fill(HERE / "prebuilt/meson.build", tree / "meson.build", HAS_SHARED="true" if places["SHARED"] else "false")
    doc = tree / "share/doc/rlcore"
    documents(doc)
    parts = sbom.parts(ROOT, target)
    (doc / "THIRD-PARTY.txt").write_text(sbom.notices(parts, compiler))
    (doc / "rlcore.spdx.json").write_text(sbom.document(tree, parts, compiler, VERSION, target, epoch()))
    return tree


def source(work):
    """The tree of the source archive: what builds the library, with the crates it needs, and no tests."""
    tree = work / f"rlcore-{VERSION}"
    kept = re.compile(r"(src|include|ffi/(src|cmake|packaging)|ffi/golden/symbols)\b|(README|CHANGELOG|ffi/VERSIONING)\.md$|LICENSE-|Cargo\.lock$"
                      r"|ffi/(Cargo\.toml|CMakeLists\.txt|Makefile|build\.rs|rlcore\.pc\.in|small\.ld)$")
    for name in run("git", "ls-files").splitlines():
        if kept.match(name):
            copy(ROOT / name, tree / name)
    # Only the crate and its C interface: tests, and crates that only they need, are in the repository.
    for name in ("Cargo.toml", "ffi/Cargo.toml"):
        text = (ROOT / name).read_text()
        text = re.sub(r"^members = .*$", 'members = ["ffi"]', re.sub(r"^default-members = .*\n", "", text, flags=re.M), flags=re.M)
        (tree / name).write_text(re.sub(r"^\[dev-dependencies\]\n(?:.+\n)*\n?", "", text, flags=re.M))
    offline = {"CARGO_NET_OFFLINE": "true", "CARGO_TARGET_DIR": str(work / "none")}
    run("cargo", "fetch", "--locked", "--manifest-path", ROOT / "Cargo.toml")
    run("cargo", "metadata", "--format-version", "1", cwd=tree, env=offline)  # drops from Cargo.lock what is not needed now
    run("cargo", "vendor", "-q", "--locked", "--versioned-dirs", "vendor", cwd=tree, env=offline)
    (tree / ".cargo").mkdir()
    (tree / ".cargo/config.toml").write_text('[source.crates-io]\nreplace-with = "vendored-sources"\n\n'
                                             '[source.vendored-sources]\ndirectory = "vendor"\n')
    fill(HERE / "source/CMakeLists.txt", tree / "CMakeLists.txt")
    fill(HERE / "source/meson.build", tree / "meson.build")
    copy(HERE / "source/meson_options.txt", tree / "meson_options.txt")
    return tree


def files(tree):
    """All files and links of a tree, sorted, and whether each can be executed."""
    for path in sorted(tree.rglob("*"), key=lambda p: p.relative_to(tree.parent).as_posix()):
        if path.is_symlink() or path.is_file():
            yield path, path.suffix in (".sh", ".py", ".dll") or ".so" in path.name or path.name == "rules"


def pack_tar(tree, out, when):
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for path, runs in files(tree):
            info = tarfile.TarInfo(path.relative_to(tree.parent).as_posix())
            info.mtime, info.mode = when, 0o755 if runs else 0o644
            if path.is_symlink():
                info.type, info.linkname = tarfile.SYMTYPE, os.readlink(path)
                tar.addfile(info)
            else:
                info.size = path.stat().st_size
                with path.open("rb") as file:
                    tar.addfile(info, file)
    with out.open("wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
        packed.write(data.getvalue())


def pack_zip(tree, out, when):
    import time
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        for path, runs in files(tree):
            info = zipfile.ZipInfo(path.relative_to(tree.parent).as_posix(), time.gmtime(max(when, 315532800))[:6])
            info.external_attr, info.compress_type, info.create_system = (0o100755 if runs else 0o100644) << 16, zipfile.ZIP_DEFLATED, 3
            packed.writestr(info, path.read_bytes())


def recipes(archive, out):
    """The recipes of package managers, with the checksums of the source archive."""
    data = archive.read_bytes()
    places = {"SHA256": hashlib.sha256(data).hexdigest(), "SHA512": hashlib.sha512(data).hexdigest(),
              "URL": f"https://github.com/rlcore/rlcore/releases/download/v{VERSION}/{archive.name}"}
    for name, target in (("meson/rlcore.wrap", "meson/rlcore.wrap"), ("vcpkg/vcpkg.json", "vcpkg/rlcore/vcpkg.json"),
                         ("vcpkg/portfile.cmake", "vcpkg/rlcore/portfile.cmake"), ("vcpkg/usage", "vcpkg/rlcore/usage"),
                         ("conan/conanfile.py", "conan/conanfile.py"), ("conan/conandata.yml", "conan/conandata.yml")):
        fill(HERE / name, out / target, **places)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, default=ROOT / "target/dist")
    parser.add_argument("--target-dir", type=Path, default=ROOT / "target")
    parser.add_argument("--features", help="in place of each target's own")
    parser.add_argument("--profile", help="in place of each target's own")
    parser.add_argument("targets", nargs="*", metavar="target")
    options = parser.parse_args()
    targets = options.targets or ["source", *TARGETS]
    unknown = set(targets) - {"source", *TARGETS}
    if unknown:
        parser.error(f"no such target: {', '.join(sorted(unknown))}; there are source, {', '.join(TARGETS)}")
    out, when = options.out.resolve(), epoch()
    options.target_dir = options.target_dir.resolve()
    shutil.rmtree(out / "work", ignore_errors=True)
    for target in targets:
        print(f"dist: {target}", flush=True)
        tree = source(out / "work") if target == "source" else prebuilt(target, options, out / "work")
        archive = out / (tree.name + (".zip" if "windows" in target else ".tar.gz"))
        (pack_zip if "windows" in target else pack_tar)(tree, archive, when)
        if target == "source":
            recipes(archive, out / "recipes")
    shutil.rmtree(out / "work")
    archives = sorted(p for p in out.glob(f"rlcore-{VERSION}*") if p.name.endswith((".tar.gz", ".zip")))
    sums = "".join(f"{hashlib.sha256(p.read_bytes()).hexdigest()}  {p.name}\n" for p in archives)
    (out / "SHA256SUMS").write_text(sums)
    print(sums, end="")


if __name__ == "__main__":
    main()
