# Programs with known debug information, built with the tests; the flags are what is tested.
set(program_sources ${CMAKE_CURRENT_SOURCE_DIR}/programs)
set(built)
file(MAKE_DIRECTORY ${programs})

# symbolize_program(name compiler source flags...)
function(symbolize_program name compiler source)
  add_custom_command(OUTPUT ${programs}/${name}
    COMMAND ${compiler} ${ARGN} -o ${programs}/${name} ${program_sources}/${source}
    DEPENDS ${program_sources}/${source} WORKING_DIRECTORY ${programs} VERBATIM)
  set(built ${built} ${programs}/${name} PARENT_SCOPE)
endfunction()

find_program(gcc_cxx NAMES g++ REQUIRED)
find_program(clang_c NAMES clang)
find_program(clang_cxx NAMES clang++)
find_program(objcopy NAMES objcopy REQUIRED)
foreach(version 2 3 4 5)
  symbolize_program(c-gcc-${version} ${gcc_c} inlines.c -O2 -gdwarf-${version})
  symbolize_program(cxx-gcc-${version} ${gcc_cxx} templates.cc -O2 -gdwarf-${version})
endforeach()
# Without lists of ranges entries say less than they cover.
foreach(version 2 3)
  symbolize_program(c-gcc-strict-${version} ${gcc_c} inlines.c -O2 -gdwarf-${version} -gstrict-dwarf -fno-reorder-functions)
  symbolize_program(cxx-gcc-strict-${version} ${gcc_cxx} templates.cc -O2 -gdwarf-${version} -gstrict-dwarf)
endforeach()
symbolize_program(c-gcc-64 ${gcc_c} inlines.c -O2 -g -gdwarf64)
symbolize_program(cxx-gcc-lto ${gcc_cxx} templates.cc -O2 -g -flto)
symbolize_program(cxx-gcc-zlib ${gcc_cxx} templates.cc -O2 -g -gz=zlib -ffunction-sections -Wl,--gc-sections)
symbolize_program(cxx-gcc-types ${gcc_cxx} templates.cc -O2 -g -fdebug-types-section)
symbolize_program(cxx-gcc-O0 ${gcc_cxx} templates.cc -O0 -g)
symbolize_program(cxx-gcc-split-4 ${gcc_cxx} templates.cc -O2 -gdwarf-4 -gsplit-dwarf -dumpbase gcc-split-4)
symbolize_program(cxx-gcc-split-5 ${gcc_cxx} templates.cc -O2 -gdwarf-5 -gsplit-dwarf -dumpbase gcc-split-5)
symbolize_program(cxx-gcc-split-types ${gcc_cxx} templates.cc -O2 -gdwarf-5 -gsplit-dwarf -fdebug-types-section -dumpbase gcc-split-types)
# Labels that are not said to be functions; names that are not demangled; initializers without a name; code that may lie anywhere.
symbolize_program(labels ${gcc_c} labels.S -g)
symbolize_program(mangled ${gcc_c} mangled.c -O0 -g)
foreach(debug 0 1)
  symbolize_program(aliased-g${debug} ${gcc_c} folded.c -O1 -g${debug})
  symbolize_program(folded-g${debug} ${gcc_c} folded.c -O1 -g${debug} -DFOLDING)
endforeach()
# Code that is in other files than its function, by both compilers.
symbolize_program(elsewhere-gcc ${gcc_c} elsewhere.c -O1 -g)
# Without the search table of its unwind information, as GCC links static programs.
symbolize_program(unindexed ${gcc_c} inlines.c -O2 -g -Wl,--no-eh-frame-hdr)
add_custom_command(OUTPUT ${programs}/stripped-unindexed COMMAND ${objcopy} --strip-all unindexed stripped-unindexed
  DEPENDS ${programs}/unindexed WORKING_DIRECTORY ${programs} VERBATIM)
list(APPEND built ${programs}/stripped-unindexed)
if(clang_c AND clang_cxx)
  foreach(version 4 5)
    symbolize_program(c-clang-${version} ${clang_c} inlines.c -O2 -gdwarf-${version})
    symbolize_program(cxx-clang-${version} ${clang_cxx} templates.cc -O2 -gdwarf-${version})
  endforeach()
  symbolize_program(embedded ${clang_c} inlines.c -O1 -gdwarf-5 -gembed-source)
  symbolize_program(elsewhere-clang ${clang_c} elsewhere.c -O1 -g)
  symbolize_program(cxx-clang-lines ${clang_cxx} templates.cc -O2 -g1)
  symbolize_program(initializers ${clang_cxx} initializers.cc -O1 -g1)
  symbolize_program(large ${clang_c} inlines.c -O2 -g -fPIC -mcmodel=large -falign-functions=64)
  add_custom_command(OUTPUT ${programs}/stripped-large COMMAND ${objcopy} --strip-all large stripped-large
    DEPENDS ${programs}/large WORKING_DIRECTORY ${programs} VERBATIM)
  list(APPEND built ${programs}/stripped-large)
  symbolize_program(cxx-clang-types ${clang_cxx} templates.cc -O2 -gdwarf-5 -fdebug-types-section)
endif()
# Of several units, the first of them small; compressed, so that only the start is inflated where it is enough. "relative": no
# path of the machine is in it, as in distributions' packages.
string(REPEAT "#line 7\n\t__asm__(\"nop\");\n#line 700000\n\t__asm__(\"nop\");\n" 10000 many_lines)
file(GENERATE OUTPUT ${programs}/lines.c CONTENT "void many_lines(void)\n{\n${many_lines}}\n")
foreach(kind plain lto relative)
  set(flags -O2 -g)
  if(kind STREQUAL lto)
    list(APPEND flags -flto=auto -ffat-lto-objects)
  elseif(kind STREQUAL relative)
    list(APPEND flags -fdebug-prefix-map=${programs}=.)
  endif()
  add_custom_command(OUTPUT ${programs}/several-${kind} ${programs}/several-${kind}-zlib
    COMMAND ${gcc_c} ${flags} -Dmain=first_main -c ${program_sources}/inlines.c -o several-${kind}-first.o
    COMMAND ${gcc_cxx} ${flags} -c ${program_sources}/templates.cc -o several-${kind}-second.o
    COMMAND ${gcc_c} ${flags} -c lines.c -o several-${kind}-third.o
    COMMAND ${gcc_cxx} ${flags} -rdynamic several-${kind}-first.o several-${kind}-second.o several-${kind}-third.o -o several-${kind}
    COMMAND ${objcopy} --compress-debug-sections=zlib several-${kind} several-${kind}-zlib
    DEPENDS ${program_sources}/inlines.c ${program_sources}/templates.cc ${programs}/lines.c WORKING_DIRECTORY ${programs} VERBATIM)
  list(APPEND built ${programs}/several-${kind} ${programs}/several-${kind}-zlib)
endforeach()
# Functions whose names are longer than any is kept, told by DWARF and by the symbol table alone.
string(REPEAT "a_name_" 20000 long_name)
file(GENERATE OUTPUT ${programs}/long.c CONTENT "int ${long_name}1(int a) { return a * 3; }\nint ${long_name}2(int a) { return a * 5; }\nint main(int count, char **words) { (void)words; return ${long_name}1(count) + ${long_name}2(count); }\n")
function(symbolize_long_names name)
  add_custom_command(OUTPUT ${programs}/${name} COMMAND ${gcc_c} -O0 ${ARGN} -o ${name} long.c
    DEPENDS ${programs}/long.c WORKING_DIRECTORY ${programs} VERBATIM)
  set(built ${built} ${programs}/${name} PARENT_SCOPE)
endfunction()
symbolize_long_names(long-dwarf -g)
symbolize_long_names(long-symbols)
# For code fingerprints: the same code at other addresses, and with one function changed.
symbolize_program(code-base ${gcc_c} code.c -O2 -g)
symbolize_program(code-moved ${gcc_c} code.c -O2 -g -DMOVED -falign-functions=64)
symbolize_program(code-far ${gcc_c} code.c -O2 -g -Wl,--section-start=.rodata=0x1234000)
symbolize_program(code-changed ${gcc_c} code.c -O2 -g -DCHANGED)
symbolize_program(code-fixed ${gcc_c} code.c -O2 -g -no-pie)
symbolize_program(code-fixed-moved ${gcc_c} code.c -O2 -g -no-pie -DMOVED)

add_custom_command(OUTPUT ${programs}/stripped ${programs}/linked ${programs}/linked.debug ${programs}/wrong ${programs}/wrong.debug
  COMMAND ${objcopy} --strip-all ${programs}/c-gcc-5 stripped
  COMMAND ${objcopy} --only-keep-debug ${programs}/c-gcc-5 linked.debug
  COMMAND ${objcopy} --strip-all --add-gnu-debuglink=linked.debug ${programs}/c-gcc-5 linked
  COMMAND ${objcopy} --only-keep-debug ${programs}/c-gcc-5 wrong.debug
  COMMAND ${objcopy} --strip-all --remove-section=.note.gnu.build-id --add-gnu-debuglink=wrong.debug ${programs}/c-gcc-5 wrong
  COMMAND ${objcopy} --only-keep-debug ${programs}/c-gcc-4 wrong.debug
  DEPENDS ${programs}/c-gcc-5 ${programs}/c-gcc-4 WORKING_DIRECTORY ${programs} VERBATIM)
list(APPEND built ${programs}/stripped ${programs}/linked ${programs}/linked.debug ${programs}/wrong ${programs}/wrong.debug)
# Another build may take the programs from here once all are there.
add_custom_command(OUTPUT ${programs}/complete COMMAND ${CMAKE_COMMAND} -E touch ${programs}/complete DEPENDS ${built} VERBATIM)
add_custom_target(symbolize_programs ALL DEPENDS ${programs}/complete)
