"""rlcore for Conan 2: built by cargo, which has to be installed, from the source archive, which has the crates it needs."""
import os

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.files import copy, get
from conan.tools.layout import basic_layout

required_conan_version = ">=2.0"


class Rlcore(ConanFile):
    name = "rlcore"
    version = "@VERSION@"
    description = "The reinforcement-learning core that an engine links and hosts itself"
    license = "MIT OR Apache-2.0"
    homepage = "https://github.com/rlcore/rlcore"
    url = "https://github.com/rlcore/rlcore"
    topics = ("reinforcement-learning", "game-engine", "embedded")
    package_type = "static-library"
    settings = "os", "arch", "compiler", "build_type"
    # Features of ffi/Cargo.toml with commas, and a profile of cargo.
    options = {"features": ["ANY"], "profile": ["release", "small"]}
    default_options = {"features": "default", "profile": "release"}

    def layout(self):
        basic_layout(self, src_folder="src")

    def package_id(self):
        # Neither a C++ compiler nor its runtime is used.
        del self.info.settings.compiler
        del self.info.settings.build_type

    @property
    def _target(self):
        system, arch = str(self.settings.os), {"x86_64": "x86_64", "armv8": "aarch64", "wasm": "wasm32"}.get(str(self.settings.arch))
        windows = "windows-msvc" if self.settings.get_safe("compiler") == "msvc" else "windows-gnu"
        ending = {"Linux": "unknown-linux-gnu", "Windows": f"pc-{windows}", "Macos": "apple-darwin", "iOS": "apple-ios",
                  "Android": "linux-android", "Emscripten": "unknown-emscripten"}.get(system)
        return f"{arch}-{ending}" if arch and ending else None

    def validate(self):
        if not self._target:
            raise ConanInvalidConfiguration(f"this recipe does not know rustc's name of {self.settings.os}, {self.settings.arch}")

    def source(self):
        get(self, **self.conan_data["sources"][self.version], strip_root=True)

    def build(self):
        # From the sources, where cargo finds the setting that says where the crates are.
        self.run(f'cargo rustc --locked --offline --manifest-path ffi/Cargo.toml --lib --crate-type staticlib --profile {self.options.profile} '
                 f'--no-default-features --features "{self.options.features}" --target {self._target} --target-dir "{self.build_folder}"',
                 cwd=self.source_folder)

    def package(self):
        built = os.path.join(self.build_folder, self._target, str(self.options.profile))
        for pattern in ("librlcore.a", "rlcore.lib"):
            copy(self, pattern, built, os.path.join(self.package_folder, "lib"))
        copy(self, "*", os.path.join(self.source_folder, "include"), os.path.join(self.package_folder, "include"))
        copy(self, "LICENSE-*", self.source_folder, os.path.join(self.package_folder, "licenses"))

    def package_info(self):
        self.cpp_info.libs = ["rlcore"]
        self.cpp_info.set_property("cmake_file_name", "rlcore")
        self.cpp_info.set_property("cmake_target_name", "rlcore::rlcore")
        self.cpp_info.set_property("cmake_target_aliases", ["rlcore::static"])
        self.cpp_info.set_property("pkg_config_name", "rlcore")
        if self.settings.os in ("Linux", "Android"):
            # What links the archive exports none of its names and keeps only what it calls.
            flags = ["-Wl,--exclude-libs,librlcore.a", "-Wl,--gc-sections"]
            self.cpp_info.sharedlinkflags = flags
            self.cpp_info.exelinkflags = flags
