"""Checks an archive's SPDX document against its files, and against the licenses beside it: contents.py <folder of an archive>."""
import hashlib, json, pathlib, re, sys

tree = pathlib.Path(sys.argv[1])
doc = tree / "share/doc/rlcore"
told = json.loads((doc / "rlcore.spdx.json").read_text())
have = {p.relative_to(tree).as_posix(): p.read_bytes() for p in tree.rglob("*") if p.is_file() and not p.is_symlink()}
del have["share/doc/rlcore/rlcore.spdx.json"]
said = {f["fileName"][2:]: {c["algorithm"]: c["checksumValue"] for c in f["checksums"]} for f in told["files"]}
assert said == {name: {"SHA1": hashlib.sha1(data).hexdigest(), "SHA256": hashlib.sha256(data).hexdigest()} for name, data in have.items()}, "files"

packages = {p["SPDXID"]: p for p in told["packages"]}
edges = [(r["spdxElementId"], r["relationshipType"], r["relatedSpdxElement"]) for r in told["relationships"]]
reached, wanted = set(), ["SPDXRef-DOCUMENT"]
while wanted:
    at = wanted.pop()
    new = [b for a, kind, b in edges if a == at and kind in ("DESCRIBES", "GENERATED_FROM", "DEPENDS_ON") and b not in reached]
    reached |= set(new)
    wanted += new
names = {packages[i]["name"] for i in reached}
assert {"rlcore-archive", "rlcore", "rlcore-ffi", "bytemuck", "libm", "rand_core", "rand_pcg", "core", "compiler_builtins"} <= names, names
assert "syn" not in names and "proptest" not in names, names
x86 = "x86_64" in told["name"]
assert ("cpufeatures" in names) == x86, names
tools = {packages[a]["name"] for a, kind, b in edges if kind == "BUILD_DEPENDENCY_OF"}
assert tools == {"bytemuck_derive"}, tools
third = (doc / "THIRD-PARTY.txt").read_text()
for i in reached:
    package = packages[i]
    crate = package.get("externalRefs")
    assert package["name"].startswith("rlcore") or crate or package["name"] in ("core", "compiler_builtins"), package["name"]
    if crate:
        assert re.fullmatch(r"[0-9a-f]{64}", package["checksums"][0]["checksumValue"]), package
        assert f"{package['name']} {package['versionInfo']}: " in third and f"{package['name']} {package['versionInfo']}, LICENSE" in third, package["name"]
