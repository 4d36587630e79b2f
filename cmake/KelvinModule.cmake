# One folder of the house, one static library: kelvin_module(diff SOURCES a.c b.c MODULES profile common PACKAGES gsl LIBRARIES m)
#   MODULES   the folders it may include (architecture's layer table)
#   PACKAGES  pkg-config modules
#   LIBRARIES libraries without a pkg-config file
# The library is the target kelvin_diff. Headers are included from the root: #include "diff/diff.h".

set(KELVIN_WARNINGS
  -Wall -Wextra -Wshadow -Wvla -Wundef -Wpointer-arith -Wcast-align -Wwrite-strings -Wstrict-prototypes -Wmissing-prototypes
  -Wold-style-definition -Wformat=2 -Wimplicit-fallthrough -Wno-missing-field-initializers -Wno-format-truncation)

function(kelvin_compile_options target)
  target_compile_options(${target} PRIVATE ${KELVIN_WARNINGS} $<$<BOOL:${KELVIN_WERROR}>:-Werror>)
  target_compile_definitions(${target} PRIVATE _GNU_SOURCE _FILE_OFFSET_BITS=64)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  if(KELVIN_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=address,undefined -fno-sanitize-recover=undefined)
    target_link_options(${target} PRIVATE -fsanitize=address,undefined)
  endif()
  if(KELVIN_FUZZ)
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
endfunction()

function(kelvin_packages target)
  foreach(package IN LISTS ARGN)
    string(MAKE_C_IDENTIFIER ${package} id)
    if(NOT TARGET PkgConfig::${id})
      pkg_check_modules(${id} REQUIRED IMPORTED_TARGET GLOBAL ${package})
    endif()
    target_link_libraries(${target} PUBLIC PkgConfig::${id})
  endforeach()
endfunction()

function(kelvin_module name)
  cmake_parse_arguments(arg "" "" "SOURCES;MODULES;PACKAGES;LIBRARIES" ${ARGN})
  set(target kelvin_${name})
  add_library(${target} STATIC ${arg_SOURCES})
  kelvin_compile_options(${target})
  kelvin_packages(${target} ${arg_PACKAGES})
  list(TRANSFORM arg_MODULES PREPEND kelvin_)
  target_link_libraries(${target} PUBLIC ${arg_MODULES} ${arg_LIBRARIES})
endfunction()
