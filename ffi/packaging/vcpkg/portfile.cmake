# The archive, built by cargo, which has to be installed: vcpkg has no Rust. The crates it needs are in the source archive.
vcpkg_check_linkage(ONLY_STATIC_LIBRARY)
find_program(CARGO cargo HINTS "$ENV{CARGO_HOME}/bin" "$ENV{HOME}/.cargo/bin" REQUIRED)

vcpkg_download_distfile(archive
  URLS "@URL@"
  FILENAME "rlcore-@VERSION@.tar.gz"
  SHA512 @SHA512@)
vcpkg_extract_source_archive(source ARCHIVE "${archive}")

# rustc's name of the machine; for another than this one rustup has to have its core library.
if(VCPKG_TARGET_ARCHITECTURE STREQUAL "x64")
  set(machine x86_64)
elseif(VCPKG_TARGET_ARCHITECTURE STREQUAL "arm64")
  set(machine aarch64)
else()
  set(machine wasm32)
endif()
set(name librlcore.a)
if(VCPKG_TARGET_IS_EMSCRIPTEN)
  set(target wasm32-unknown-emscripten)
elseif(VCPKG_TARGET_IS_MINGW)
  set(target ${machine}-pc-windows-gnu)
elseif(VCPKG_TARGET_IS_WINDOWS)
  set(target ${machine}-pc-windows-msvc)
  set(name rlcore.lib)
elseif(VCPKG_TARGET_IS_OSX)
  set(target ${machine}-apple-darwin)
elseif(VCPKG_TARGET_IS_ANDROID)
  set(target ${machine}-linux-android)
else()
  set(target ${machine}-unknown-linux-gnu)
endif()

# From the sources, where cargo finds the setting that says where the crates are. One archive serves both configurations: it uses
# nothing of a C runtime.
vcpkg_execute_required_process(
  COMMAND "${CARGO}" rustc --locked --offline --manifest-path ffi/Cargo.toml --lib --crate-type staticlib --release --target ${target}
    --target-dir "${CURRENT_BUILDTREES_DIR}/cargo"
  WORKING_DIRECTORY "${source}"
  LOGNAME build-${TARGET_TRIPLET})
set(VCPKG_POLICY_MISMATCHED_NUMBER_OF_BINARIES enabled)
file(INSTALL "${CURRENT_BUILDTREES_DIR}/cargo/${target}/release/${name}" DESTINATION "${CURRENT_PACKAGES_DIR}/lib")
file(GLOB headers "${source}/include/*")
file(INSTALL ${headers} DESTINATION "${CURRENT_PACKAGES_DIR}/include")

# The places of the templates.
set(VERSION @VERSION@)
set(PREFIX "\${pcfiledir}/../..")
set(CMAKEDIR /share/rlcore)
set(LIBDIR /lib)
set(INCLUDEDIR /include)
set(SHARED "")
set(IMPLIB "")
set(SONAME "")
set(STATIC ${name})
set(STATIC_LINK "")
set(private "Libs.private:[^\n]*\n")
if(VCPKG_TARGET_IS_LINUX OR VCPKG_TARGET_IS_ANDROID)
  set(STATIC_LINK LINKER:--exclude-libs,librlcore.a,--gc-sections)
  set(private "")
endif()
set(POINTER_SIZE 8)
if(VCPKG_TARGET_IS_EMSCRIPTEN)
  set(POINTER_SIZE 4)
endif()
foreach(file IN ITEMS rlcore-config rlcore-config-version)
  configure_file("${source}/ffi/cmake/${file}.cmake.in" "${CURRENT_PACKAGES_DIR}/share/rlcore/${file}.cmake" @ONLY)
endforeach()
set(LIBDIR "\${prefix}/lib")
set(INCLUDEDIR "\${prefix}/include")
configure_file("${source}/ffi/rlcore.pc.in" "${CURRENT_PACKAGES_DIR}/lib/pkgconfig/rlcore.pc" @ONLY)
if(private)
  file(READ "${CURRENT_PACKAGES_DIR}/lib/pkgconfig/rlcore.pc" text)
  string(REGEX REPLACE "${private}" "" text "${text}")
  file(WRITE "${CURRENT_PACKAGES_DIR}/lib/pkgconfig/rlcore.pc" "${text}")
endif()

file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${source}/LICENSE-MIT" "${source}/LICENSE-APACHE")
