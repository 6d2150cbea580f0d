# Runs the port's steps without vcpkg, whose functions are replaced by the least that they are documented to do:
#   cmake -DPORT_DIR= -DARCHIVE= -DWORK= -P run.cmake
# It proves that the sources build with the port's commands, and that the files come where vcpkg wants them. vcpkg's own checks of
# a package are not run.
set(PORT rlcore)
set(TARGET_TRIPLET x64-linux)
set(VCPKG_TARGET_ARCHITECTURE x64)
set(VCPKG_TARGET_IS_LINUX TRUE)
set(CURRENT_PACKAGES_DIR "${WORK}/packages/rlcore_x64-linux")
set(CURRENT_BUILDTREES_DIR "${WORK}/buildtrees/rlcore")

function(vcpkg_check_linkage)
  if(NOT ARGN STREQUAL "ONLY_STATIC_LIBRARY")
    message(FATAL_ERROR "vcpkg_check_linkage(${ARGN})")
  endif()
endfunction()

function(vcpkg_download_distfile out)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "FILENAME;SHA512" "URLS")
  file(SHA512 "${ARCHIVE}" hash)
  get_filename_component(name "${ARCHIVE}" NAME)
  if(NOT hash STREQUAL arg_SHA512 OR NOT name STREQUAL arg_FILENAME OR NOT arg_URLS MATCHES "^https://.*/${name}$")
    message(FATAL_ERROR "the port names another archive: ${arg_FILENAME}, ${arg_URLS}, ${arg_SHA512}")
  endif()
  set(${out} "${ARCHIVE}" PARENT_SCOPE)
endfunction()

function(vcpkg_extract_source_archive out)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "ARCHIVE" "")
  file(ARCHIVE_EXTRACT INPUT "${arg_ARCHIVE}" DESTINATION "${CURRENT_BUILDTREES_DIR}/src")
  file(GLOB root "${CURRENT_BUILDTREES_DIR}/src/*")  # the one folder of the archive
  set(${out} "${root}" PARENT_SCOPE)
endfunction()

function(vcpkg_execute_required_process)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "WORKING_DIRECTORY;LOGNAME" "COMMAND")
  execute_process(COMMAND ${arg_COMMAND} WORKING_DIRECTORY "${arg_WORKING_DIRECTORY}" COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(vcpkg_install_copyright)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "FILE_LIST")
  foreach(file IN LISTS arg_FILE_LIST)
    file(READ "${file}" text)
    file(APPEND "${CURRENT_PACKAGES_DIR}/share/${PORT}/copyright" "${text}")
  endforeach()
endfunction()

include("${PORT_DIR}/portfile.cmake")
