#!/usr/bin/env python3
"""Builds the archive for Meson: cargo.py <cargo> <sources> <output> <folder for cargo> <profile> <features>."""
import filecmp, shutil, subprocess, sys
from pathlib import Path

cargo, sources, output, folder, profile, features = sys.argv[1:]
out, folder = Path(output).resolve(), Path(folder).resolve()
# From the sources, where cargo finds the setting that says where their crates are.
subprocess.run([cargo, "rustc", "--locked", "--manifest-path", "ffi/Cargo.toml", "--lib", "--crate-type", "staticlib", "--profile", profile,
                "--no-default-features", "--features", features, "--target-dir", str(folder)], cwd=sources, check=True)
made = folder / ("debug" if profile == "dev" else profile) / "librlcore.a"
if not (out.exists() and filecmp.cmp(made, out, shallow=False)):
    shutil.copyfile(made, out)
