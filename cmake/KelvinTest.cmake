# kelvin_unit_test(error MODULES common)  builds test_error.c of the current folder with cmocka and registers it as common.error
# (folder.name). A test that cannot get what it needs exits with 77 and is reported as skipped; with KELVIN_NO_SKIP=1 in the
# environment that counts as a failure (CI).
# With FAILING_MALLOC among its options the test may make each allocation fail in turn (tests/unit/support/failing_malloc.h).
# kelvin_fuzz_target(pprof MODULES profile)  builds fuzz_pprof.c: under libFuzzer with KELVIN_FUZZ, else with a driver that runs its
# corpus (corpus/pprof/) as an ordinary test.

# SOURCES that several tests of a folder share are compiled once: their objects do not see what a single test defines.

find_package(PkgConfig REQUIRED)
pkg_check_modules(cmocka REQUIRED IMPORTED_TARGET GLOBAL cmocka)

# The objects of the source, which include what the first test that names it links with, into the variable.
function(kelvin_shared_objects source variable)
  file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR}/tests ${CMAKE_CURRENT_SOURCE_DIR}/${source})
  string(MAKE_C_IDENTIFIER shared_${path} target)
  if(NOT TARGET ${target})
    add_library(${target} OBJECT ${source})
    kelvin_compile_options(${target})
    target_link_libraries(${target} PRIVATE ${ARGN})
  endif()
  set(${variable} $<TARGET_OBJECTS:${target}> PARENT_SCOPE)
endfunction()

function(kelvin_unit_test name)
  cmake_parse_arguments(arg "FAILING_MALLOC" "" "MODULES;LIBRARIES;SOURCES;LABELS" ${ARGN})
  get_filename_component(room ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  set(target test_${room}_${name})
  list(TRANSFORM arg_MODULES PREPEND kelvin_)
  set(objects)
  foreach(source IN LISTS arg_SOURCES)
    if(IS_ABSOLUTE ${source})
      list(APPEND objects ${source})
    else()
      kelvin_shared_objects(${source} shared ${arg_MODULES} PkgConfig::cmocka)
      list(APPEND objects ${shared})
    endif()
  endforeach()
  add_executable(${target} test_${name}.c ${objects})
  kelvin_compile_options(${target})
  if(KELVIN_FUZZ)
    target_link_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
  target_link_libraries(${target} PRIVATE ${arg_MODULES} PkgConfig::cmocka ${arg_LIBRARIES})
  if(arg_FAILING_MALLOC)
    target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests/unit/support/failing_malloc.c)
    foreach(function malloc calloc realloc aligned_alloc strdup strndup)
      target_link_options(${target} PRIVATE -Wl,--wrap=${function})
    endforeach()
  endif()
  add_test(NAME ${room}.${name} COMMAND ${target} WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
  set_tests_properties(${room}.${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 300 LABELS "unit;${room};${arg_LABELS}")
endfunction()

function(kelvin_fuzz_target name)
  cmake_parse_arguments(arg "" "" "MODULES;LIBRARIES;SOURCES" ${ARGN})
  set(target fuzz_${name})
  list(TRANSFORM arg_MODULES PREPEND kelvin_)
  if(KELVIN_FUZZ)
    add_executable(${target} fuzz_${name}.c ${arg_SOURCES})
    target_link_options(${target} PRIVATE -fsanitize=fuzzer)
  else()
    add_executable(${target} fuzz_${name}.c ${arg_SOURCES} ${PROJECT_SOURCE_DIR}/tests/fuzz/corpus_driver.c)
  endif()
  kelvin_compile_options(${target})
  target_link_libraries(${target} PRIVATE ${arg_MODULES} ${arg_LIBRARIES})
  add_test(NAME fuzz.${name} COMMAND ${target} $<$<BOOL:${KELVIN_FUZZ}>:-runs=0> ${CMAKE_CURRENT_SOURCE_DIR}/corpus/${name})
  set_tests_properties(fuzz.${name} PROPERTIES TIMEOUT 60 LABELS "fuzz")
endfunction()
