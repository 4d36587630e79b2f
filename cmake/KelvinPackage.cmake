# The Debian package: cpack -G DEB in a build folder whose prefix is /usr. scripts/package does all of it; docs/decisions/65-packages.md says
# what the package holds and why.

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME kelvin)
set(CPACK_PACKAGE_VENDOR "The authors of Kelvin")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "sampling profiler that compares before and after a change")
set(CPACK_PACKAGE_DESCRIPTION
"Kelvin samples a process before and after a deploy, or runs two commands in
turn, and shows which functions take more or less time, coloured only where
a change is proven. It unwinds stacks in memory, needs neither recompilation
nor frame pointers, names functions of C, C++, Rust, Go, Python, JavaScript
and Java, and writes one self-contained page, text, JSON or Markdown.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
# Files are installed for /usr, below another directory: some rules of the installation ask for the prefix.
set(CPACK_SET_DESTDIR ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "The authors of Kelvin <kelvin@packages.invalid>" CACHE STRING "Maintainer of the Debian package")
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
# What is loaded when it is asked for: --verify opens libunwind, a store is spoken to by libcurl, and --debuginfod has a client of servers.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libunwind8, libcurl4t64 | libcurl4")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libdebuginfod1t64 | libdebuginfod1, git")
if(NOT KELVIN_ZYDIS_ARCHIVE)
  # No section of the program names it: it is loaded when the first instruction is decoded.
  find_library(KELVIN_ZYDIS_SHARED Zydis)
  mark_as_advanced(KELVIN_ZYDIS_SHARED)
  if(KELVIN_ZYDIS_SHARED)
    file(REAL_PATH ${KELVIN_ZYDIS_SHARED} zydis_file)
    string(REGEX REPLACE ".*/libZydis\\.so\\.([0-9]+\\.[0-9]+).*" "libzydis\\1" CPACK_DEBIAN_PACKAGE_DEPENDS ${zydis_file})
  endif()
endif()
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/KelvinPackageFiles.cmake)
set(CPACK_KELVIN_FILES ${PROJECT_SOURCE_DIR}/scripts/package-files)
include(CPack)
