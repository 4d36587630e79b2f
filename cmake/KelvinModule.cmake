# A wing or one of its rooms, one static library: kelvin_module(diff SOURCES a.c b.c MODULES profile common PACKAGES gsl LIBRARIES m)
#   MODULES   the libraries of the folders that it may include (house.layers)
#   PACKAGES  pkg-config modules
#   LIBRARIES libraries without a pkg-config file
# The library is the target kelvin_diff. Headers are included from the root: #include "diff/diff.h".

include(CheckIPOSupported)
include(KelvinHardening)
include(CheckLinkerFlag)
check_linker_flag(C -fuse-ld=lld KELVIN_HAS_LLD)
check_ipo_supported(RESULT KELVIN_HAS_IPO OUTPUT ignored LANGUAGES C)

set(KELVIN_WARNINGS
  -Wall -Wextra -Wshadow -Wvla -Wundef -Wpointer-arith -Wcast-align -Wwrite-strings -Wstrict-prototypes -Wmissing-prototypes
  -Wold-style-definition -Wformat=2 -Wimplicit-fallthrough -Wno-missing-field-initializers -Wno-format-truncation)

function(kelvin_compile_options target)
  target_compile_options(${target} PRIVATE ${KELVIN_WARNINGS} $<$<BOOL:${KELVIN_WERROR}>:-Werror>)
  kelvin_harden(${target})
  target_compile_definitions(${target} PRIVATE _GNU_SOURCE _FILE_OFFSET_BITS=64)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  # Rooms call each other for every sample and every node: inlined across them, a diff takes a tenth less and a sample a twentieth.
  set_target_properties(${target} PROPERTIES
    INTERPROCEDURAL_OPTIMIZATION_RELEASE ${KELVIN_HAS_IPO} INTERPROCEDURAL_OPTIMIZATION_RELWITHDEBINFO ${KELVIN_HAS_IPO})
  if(KELVIN_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=address,undefined -fno-sanitize-recover=undefined)
    # Hundreds of tests are linked against sanitized libraries: the usual linker takes twice as long.
    target_link_options(${target} PRIVATE -fsanitize=address,undefined $<$<BOOL:${KELVIN_HAS_LLD}>:-fuse-ld=lld>)
  endif()
  if(KELVIN_FUZZ)
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
endfunction()

# The linker writes PROGRAM.map beside the program: what it took from which archive. scripts/package-sbom reads it.
function(kelvin_link_map target)
  target_link_options(${target} PRIVATE "LINKER:-Map=$<TARGET_FILE:${target}>.map")
endfunction()

# The libraries of a package as archives, into the variable; nothing where one of its own has none, or where a library that an archive
# needs besides, as pkg-config knows, is not installed at all. The latter may be shared. The C library stays shared.
function(kelvin_archives id variable)
  set(archives)
  foreach(library IN LISTS ${id}_STATIC_LIBRARIES)
    if(library MATCHES "^(c|m|dl|rt|pthread)$")
      list(APPEND archives ${library})
      continue()
    endif()
    find_library(KELVIN_ARCHIVE_${library} lib${library}.a HINTS ${${id}_STATIC_LIBRARY_DIRS})
    find_library(KELVIN_SHARED_${library} ${library} HINTS ${${id}_STATIC_LIBRARY_DIRS})
    mark_as_advanced(KELVIN_ARCHIVE_${library} KELVIN_SHARED_${library})
    if(KELVIN_ARCHIVE_${library})
      list(APPEND archives ${KELVIN_ARCHIVE_${library}})
    elseif(KELVIN_SHARED_${library} AND NOT library IN_LIST ${id}_LIBRARIES)
      list(APPEND archives ${KELVIN_SHARED_${library}})
    else()
      set(archives)
      break()
    endif()
  endforeach()
  set(${variable} ${archives} PARENT_SCOPE)
endfunction()

# An executable with the property KELVIN_ARCHIVES links archives where there are any: without a dozen libraries to find and to
# relocate it starts in half the time.
function(kelvin_packages target)
  foreach(package IN LISTS ARGN)
    string(MAKE_C_IDENTIFIER ${package} id)
    if(NOT TARGET PkgConfig::${id})
      pkg_check_modules(${id} REQUIRED IMPORTED_TARGET GLOBAL ${package})
    endif()
    kelvin_archives(${id} archives)
    if(archives)
      target_link_libraries(${target} PUBLIC
        "$<IF:$<BOOL:$<TARGET_PROPERTY:KELVIN_ARCHIVES>>,${archives},PkgConfig::${id}>")
      target_include_directories(${target} SYSTEM PUBLIC ${${id}_INCLUDE_DIRS})
    else()
      target_link_libraries(${target} PUBLIC PkgConfig::${id})
    endif()
  endforeach()
endfunction()

# kelvin_link(TARGET [MODULES …] [PACKAGES …] [LIBRARIES …]): links what a module or the program names.
function(kelvin_link target)
  cmake_parse_arguments(arg "" "" "MODULES;PACKAGES;LIBRARIES" ${ARGN})
  kelvin_packages(${target} ${arg_PACKAGES})
  list(TRANSFORM arg_MODULES PREPEND kelvin_)
  target_link_libraries(${target} PUBLIC ${arg_MODULES} ${arg_LIBRARIES})
endfunction()

function(kelvin_module name)
  cmake_parse_arguments(arg "" "" "SOURCES;MODULES;PACKAGES;LIBRARIES" ${ARGN})
  set(target kelvin_${name})
  add_library(${target} STATIC ${arg_SOURCES})
  kelvin_compile_options(${target})
  kelvin_link(${target} MODULES ${arg_MODULES} PACKAGES ${arg_PACKAGES} LIBRARIES ${arg_LIBRARIES})
endfunction()
