# kelvin_unit_test(error MODULES common)  builds test_error.c of the current folder with cmocka and registers it as common.error
# (folder.name). A test that cannot get what it needs exits with 77 and is reported as skipped; with KELVIN_NO_SKIP=1 in the
# environment that counts as a failure (CI).
# With FAILING_MALLOC among its options the test may make each allocation fail in turn (tests/unit/support/failing_malloc.h).
# DEPENDS are targets whose files the test reads, DEFINITIONS tell it where they are.
# With TIMING "reason" it measures time on a machine that others use, too: scripts/test tries it again when it fails. The reason says why
# nothing else than time can be asked for.
# kelvin_rare_test(symbolize.agreement symbolize binary): a test that takes long, and is about a part of the product; scripts/test leaves it
# out unless one of these paths has changed since the last commit that passed. `scripts/test --all` runs it.
# kelvin_fuzz_target(pprof MODULES profile)  builds fuzz_pprof.c: under libFuzzer with KELVIN_FUZZ, else with a driver that runs its
# corpus (corpus/pprof/) as an ordinary test. With MUTANTS_READ 60 the target has a mutator of its own (tests/fuzz/mutation.h), and a
# test holds that 60 % of its mutants get past the first checks (tests/fuzz/mutants.c).

# SOURCES that several tests share are compiled once: their objects do not see what a single test defines.

pkg_check_modules(cmocka REQUIRED IMPORTED_TARGET GLOBAL cmocka)

# cmocka hands a state to each test, and a function that a table names gets what its neighbours need: few read all of it.
# The sanitizers look for mistakes of the product, whose code is compiled as everywhere. A test's own takes half the time without
# optimisation and without the checks of undefined behaviour; its memory is checked.
function(kelvin_unit_test_options target)
  kelvin_compile_options(${target})
  target_compile_options(${target} PRIVATE -Wno-unused-parameter)
  if(KELVIN_SANITIZE AND NOT KELVIN_FUZZ)
    target_compile_options(${target} PRIVATE -O0 -fno-sanitize=undefined)
  endif()
endfunction()

# The objects of the sources, which include what the first test that names them links with, into the variable. What lies outside of tests/ is
# the product's.
function(kelvin_shared_objects variable sources)
  set(objects)
  foreach(source IN LISTS sources)
    get_filename_component(source ${source} ABSOLUTE)
    file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${source})
    string(MAKE_C_IDENTIFIER shared_${path} target)
    if(NOT TARGET ${target})
      add_library(${target} OBJECT ${source})
      if(path MATCHES "^tests/")
        kelvin_unit_test_options(${target})
      else()
        kelvin_compile_options(${target})
      endif()
      target_link_libraries(${target} PRIVATE ${ARGN})
    endif()
    list(APPEND objects $<TARGET_OBJECTS:${target}>)
  endforeach()
  set(${variable} ${objects} PARENT_SCOPE)
endfunction()

function(kelvin_unit_test name)
  cmake_parse_arguments(arg "FAILING_MALLOC" "TIMING" "MODULES;LIBRARIES;SOURCES;LABELS;DEPENDS;DEFINITIONS" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "test_${name}.c: unknown ${arg_UNPARSED_ARGUMENTS}")
  endif()
  get_filename_component(room ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  set(target test_${room}_${name})
  list(TRANSFORM arg_MODULES PREPEND kelvin_)
  list(APPEND arg_SOURCES ${PROJECT_SOURCE_DIR}/tests/unit/support/leftovers.c)
  if(arg_FAILING_MALLOC)
    list(APPEND arg_SOURCES ${PROJECT_SOURCE_DIR}/tests/unit/support/failing_malloc.c)
  endif()
  kelvin_shared_objects(objects "${arg_SOURCES}" ${arg_MODULES} PkgConfig::cmocka)
  add_executable(${target} test_${name}.c ${objects})
  kelvin_unit_test_options(${target})
  if(KELVIN_FUZZ)
    target_link_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
  target_link_libraries(${target} PRIVATE ${arg_MODULES} PkgConfig::cmocka ${arg_LIBRARIES})
  target_compile_definitions(${target} PRIVATE ${arg_DEFINITIONS})
  if(arg_DEPENDS)
    add_dependencies(${target} ${arg_DEPENDS})
  endif()
  if(arg_FAILING_MALLOC)
    foreach(function malloc calloc realloc aligned_alloc strdup strndup)
      target_link_options(${target} PRIVATE -Wl,--wrap=${function})
    endforeach()
  endif()
  if(arg_TIMING)
    list(APPEND arg_LABELS timing)
  endif()
  if(NOT once IN_LIST arg_LABELS)
    list(APPEND arg_LABELS twice)
    set_property(TARGET ${target} PROPERTY KELVIN_TWICE ON)
  endif()
  add_test(NAME ${room}.${name} COMMAND ${target} WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
  set_tests_properties(${room}.${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 300 LABELS "unit;${room};${arg_LABELS}")
endfunction()

function(kelvin_rare_test name)
  get_property(labels TEST ${name} PROPERTY LABELS)
  list(TRANSFORM ARGN PREPEND "if:")
  set_property(TEST ${name} PROPERTY LABELS ${labels} rare ${ARGN})
endfunction()

# kelvin_collect_tests(target folder): makes the target depend on the programs and files of the folder's tests, and of those below it, but
# not on tests that asan runs as well (the label `twice`).
function(kelvin_collect_tests target folder)
  get_property(found DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(test IN LISTS found)
    get_target_property(twice ${test} KELVIN_TWICE)
    get_target_property(type ${test} TYPE)
    get_target_property(apart ${test} EXCLUDE_FROM_ALL)
    if(NOT twice AND NOT type MATCHES "OBJECT|STATIC" AND NOT (type STREQUAL UTILITY AND apart))
      add_dependencies(${target} ${test})
    endif()
  endforeach()
  get_property(folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(below IN LISTS folders)
    kelvin_collect_tests(${target} ${below})
  endforeach()
endfunction()

# Objects alone do not tell what a program is linked by.
function(kelvin_link_fuzz target)
  kelvin_compile_options(${target})
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE C KELVIN_TWICE ON)
  target_link_libraries(${target} PRIVATE ${ARGN})
endfunction()

function(kelvin_fuzz_target name)
  cmake_parse_arguments(arg "" "MUTANTS_READ" "MODULES;LIBRARIES;SOURCES" ${ARGN})
  set(target fuzz_${name})
  set(corpus ${CMAKE_CURRENT_SOURCE_DIR}/corpus/${name})
  list(TRANSFORM arg_MODULES PREPEND kelvin_)
  if(arg_MUTANTS_READ)
    list(APPEND arg_SOURCES mutation.c)
    if(NOT KELVIN_FUZZ)
      list(APPEND arg_SOURCES blind.c)
    endif()
  endif()
  list(PREPEND arg_SOURCES fuzz_${name}.c)
  kelvin_shared_objects(objects "${arg_SOURCES}" ${arg_MODULES} ${arg_LIBRARIES})
  if(KELVIN_FUZZ)
    set(driver)
  else()
    kelvin_shared_objects(driver corpus_driver.c ${arg_MODULES})
  endif()
  add_executable(${target} ${objects} ${driver})
  kelvin_link_fuzz(${target} ${arg_MODULES} ${arg_LIBRARIES})
  if(KELVIN_FUZZ)
    target_link_options(${target} PRIVATE -fsanitize=fuzzer)
  endif()
  add_test(NAME fuzz.${name} COMMAND ${target} $<$<BOOL:${KELVIN_FUZZ}>:-runs=0> ${corpus})
  set_tests_properties(fuzz.${name} PROPERTIES TIMEOUT 60 LABELS "fuzz;twice")
  if(arg_MUTANTS_READ AND NOT KELVIN_FUZZ)
    kelvin_shared_objects(driver mutants.c ${arg_MODULES})
    add_executable(mutants_${name} ${objects} ${driver})
    kelvin_link_fuzz(mutants_${name} ${arg_MODULES} ${arg_LIBRARIES})
    add_test(NAME fuzz.${name}_mutants COMMAND mutants_${name} ${arg_MUTANTS_READ} 200 ${corpus})
    set_tests_properties(fuzz.${name}_mutants PROPERTIES TIMEOUT 60 LABELS "fuzz;twice")
  endif()
endfunction()
