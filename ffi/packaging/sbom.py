"""What a library was built from: an SPDX 2.3 document, and the licenses of the crates inside, from cargo's own data."""
import datetime, hashlib, json, re, subprocess, sys
from pathlib import Path

# The crates of Rust itself that every library has inside; their texts are not on every machine with a compiler.
RUST = (
    ("core", "MIT OR Apache-2.0", "Copyright (c) The Rust Project Contributors"),
    ("compiler_builtins", "MIT AND Apache-2.0 WITH LLVM-exception AND (MIT OR Apache-2.0)",
     "Copyright (c) The Rust Project Contributors; parts copyright (c) the LLVM project and its contributors"),
)
LLVM_EXCEPTION = """\
---- LLVM Exceptions to the Apache 2.0 License ----

As an exception, if, as a result of your compiling your source code, portions
of this Software are embedded into an Object form of such source code, you
may redistribute such embedded portions in such Object form without complying
with the conditions of Sections 4(a), 4(b) and 4(d) of the License.

In addition, if you combine or link compiled forms of this Software with
software that is licensed under the GPLv2 ("Combined Software") and if a
court of competent jurisdiction determines that the patent provision (Section
3), the indemnity provision (Section 9) or other Section of the License
conflicts with the conditions of the GPLv2, you may retroactively and
prospectively choose to deem waived or otherwise exclude such Section(s) of
the License, but only in their entirety and only with respect to the Combined
Software.
"""


def parts(root, target):
    """Crates of the library for a target, sorted by name: each with `built`, whether it only runs while the library is built."""
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", target,
               "--manifest-path", str(root / "ffi/Cargo.toml")]
    data = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    packages = {p["id"]: p for p in data["packages"]}
    nodes = {n["id"]: n for n in data["resolve"]["nodes"]}
    first = next(i for i, p in packages.items() if p["name"] == "rlcore-ffi")
    macro = lambda i: any("proc-macro" in t["kind"] for t in packages[i]["targets"])
    inside, tools, edges = {first}, set(), set()
    wanted = [(first, False)]
    while wanted:
        at, tool = wanted.pop()
        for dep in nodes[at]["deps"]:
            kinds = {k["kind"] for k in dep["dep_kinds"]}
            if kinds == {"dev"}:
                continue
            to = dep["pkg"]
            runs = tool or kinds == {"build"} or macro(to)
            edges.add((at, to, runs and not tool))
            if to not in (tools if runs else inside):
                (tools if runs else inside).add(to)
                wanted.append((to, runs))
    locked = re.findall(r'^name = "(.+)"\nversion = "(.+)"\nsource = .*\nchecksum = "(.+)"', (root / "Cargo.lock").read_text(), re.M)
    sums = {(name, version): checksum for name, version, checksum in locked}
    name = lambda i: (packages[i]["name"], packages[i]["version"])
    found = []
    for i in sorted(inside | tools, key=name):
        p = packages[i]
        # "/" was the way to write OR before SPDX.
        found.append({"name": p["name"], "version": p["version"], "license": p["license"].replace("/", " OR "), "tool": i not in inside,
                      "repository": p["repository"] or "", "folder": Path(p["manifest_path"]).parent, "checksum": sums.get(name(i)),
                      "uses": sorted((name(to), kind) for at, to, kind in edges if at == i)})
    return found


def notices(parts, compiler):
    """The licenses of all that is inside the library and is not rlcore's own."""
    text = ["This library has inside, beside rlcore itself:\n"]
    inside = [p for p in parts if p["checksum"] and not p["tool"]]
    version = compiler.split()[1]
    for name, license, _ in RUST:
        text.append(f"  {name} of Rust {version}: {license}\n")
    for p in inside:
        text.append(f"  {p['name']} {p['version']}: {p['license']}  {p['repository']}\n")
    rule = "\n" + "=" * 80 + "\n"
    for name, license, holder in RUST:
        text.append(f"{rule}{name}: {license}\n{holder}\nThe texts are LICENSE-MIT and LICENSE-APACHE beside this file.\n")
    text.append("\n" + LLVM_EXCEPTION)
    for p in inside:
        texts = sorted(f for f in p["folder"].iterdir() if re.match(r"(LICEN[SC]E|COPYRIGHT|NOTICE|COPYING)", f.name, re.I))
        if not texts:
            sys.exit(f"dist: {p['name']} {p['version']} comes without the text of its license")
        for file in texts:
            # Apache's is beside this file; it is the same for all.
            if not (file.name == "LICENSE-APACHE" and len(texts) > 1):
                text.append(f"{rule}{p['name']} {p['version']}, {file.name}\n\n{file.read_text(encoding='utf-8').rstrip()}\n")
    return "".join(text)


def identifier(*words):
    return "SPDXRef-" + "-".join(re.sub(r"[^A-Za-z0-9.]", "-", word) for word in words)


def package(name, version, license, location, checksum=None, purl=None, **more):
    made = {"name": name, "SPDXID": identifier("Package", name, version), "versionInfo": version, "downloadLocation": location,
            "filesAnalyzed": False, "licenseConcluded": license, "licenseDeclared": license, "copyrightText": "NOASSERTION", **more}
    if checksum:
        made["checksums"] = [{"algorithm": "SHA256", "checksumValue": checksum}]
    if purl:
        made["externalRefs"] = [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl}]
    return made


def document(tree, parts, compiler, version, target, when):
    """The SPDX document of a tree: its files, and the crates inside with their checksums."""
    files, codes = [], []
    for path in sorted(p for p in tree.rglob("*") if p.is_file() and not p.is_symlink()):
        data, name = path.read_bytes(), path.relative_to(tree).as_posix()
        codes.append(hashlib.sha1(data).hexdigest())
        kind = "BINARY" if name.startswith(("lib/librlcore", "lib/rlcore.lib", "bin/")) else "SOURCE" if name.startswith("include/") else "TEXT"
        files.append({"fileName": "./" + name, "SPDXID": identifier("File", name), "fileTypes": [kind],
                      "checksums": [{"algorithm": "SHA1", "checksumValue": codes[-1]},
                                    {"algorithm": "SHA256", "checksumValue": hashlib.sha256(data).hexdigest()}],
                      "licenseConcluded": "NOASSERTION", "licenseInfoInFiles": ["NOASSERTION"], "copyrightText": "NOASSERTION"})
    archive = package("rlcore-archive", version, "MIT OR Apache-2.0", "NOASSERTION", filesAnalyzed=True,
                      licenseInfoFromFiles=["NOASSERTION"], primaryPackagePurpose="LIBRARY",
                      packageVerificationCode={"packageVerificationCodeValue": hashlib.sha1("".join(sorted(codes)).encode()).hexdigest()},
                      comment=f"for {target}, compiled by {compiler}")
    packages, relations = [archive], [("SPDXRef-DOCUMENT", "DESCRIBES", archive["SPDXID"])]
    relations += [(archive["SPDXID"], "CONTAINS", file["SPDXID"]) for file in files]
    for p in parts:
        own = not p["checksum"]
        packages.append(package(
            p["name"], p["version"], p["license"],
            "git+https://github.com/rlcore/rlcore@v" + version if own else f"https://crates.io/api/v1/crates/{p['name']}/{p['version']}/download",
            p["checksum"], None if own else f"pkg:cargo/{p['name']}@{p['version']}"))
        here = packages[-1]["SPDXID"]
        if p["name"] == "rlcore-ffi":
            relations.append((archive["SPDXID"], "GENERATED_FROM", here))
        for (name, number), runs in p["uses"]:
            there = identifier("Package", name, number)
            relations.append((there, "BUILD_DEPENDENCY_OF", here) if runs else (here, "DEPENDS_ON", there))
    release = compiler.split()[1]
    for name, license, holder in RUST:
        made = package(name, release, license, f"https://static.rust-lang.org/dist/rustc-{release}-src.tar.xz", copyrightText=holder)
        packages.append(made)
        relations.append((identifier("Package", "rlcore-ffi", version), "DEPENDS_ON", made["SPDXID"]))
    made = {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"rlcore-{version}-{target}",
            "creationInfo": {"created": datetime.datetime.fromtimestamp(when, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
                             "creators": ["Organization: rlcore", f"Tool: rlcore-dist-{version}"]},
            "packages": packages, "files": files,
            "relationships": [{"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b} for a, kind, b in relations]}
    content = hashlib.sha256(json.dumps(made, sort_keys=True).encode()).hexdigest()
    made["documentNamespace"] = f"https://github.com/rlcore/rlcore/spdx/rlcore-{version}-{target}-{content}"
    return json.dumps(made, indent=1, sort_keys=True) + "\n"
