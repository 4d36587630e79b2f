# kelvin_bpf_programs(room a b)  compiles a.bpf.c and b.bpf.c of the current folder for the kernel, and makes a skeleton
# of each, which the room's sources include as "a.skel.h": the program's bytes, and its maps and variables by name
# (bpftool-gen(8)). clang is needed for it, whatever compiles the rest. No path of the building machine gets into a
# program: its source lines are named relative to the source tree.

find_program(KELVIN_CLANG NAMES clang REQUIRED)
find_program(KELVIN_BPFTOOL NAMES bpftool PATHS /usr/sbin /usr/local/sbin /sbin REQUIRED)
mark_as_advanced(KELVIN_CLANG KELVIN_BPFTOOL)

function(kelvin_bpf_programs room)
  set(target kelvin_${room})
  # The last flag is for <asm/types.h>, which Debian keeps in a folder per processor.
  set(flags -O2 -g -target bpf -mcpu=v2 -Wall -Wextra -Wno-unused-parameter $<$<BOOL:${KELVIN_WERROR}>:-Werror>
    -I${PROJECT_SOURCE_DIR} -ffile-prefix-map=${PROJECT_SOURCE_DIR}=. -fdebug-compilation-dir=.)
  if(CMAKE_LIBRARY_ARCHITECTURE)
    list(APPEND flags -idirafter /usr/include/${CMAKE_LIBRARY_ARCHITECTURE})
  endif()
  foreach(name IN LISTS ARGN)
    set(source ${CMAKE_CURRENT_SOURCE_DIR}/${name}.bpf.c)
    set(made ${CMAKE_CURRENT_BINARY_DIR}/${name})
    # Linking, even of one object, leaves out its debug information but for the types of its own maps and variables.
    add_custom_command(OUTPUT ${made}.skel.h
      COMMAND ${KELVIN_CLANG} ${flags} -MMD -MT ${made}.skel.h -MF ${made}.d -c ${source} -o ${made}.unlinked.o
      COMMAND ${KELVIN_BPFTOOL} gen object ${made}.bpf.o ${made}.unlinked.o
      COMMAND ${CMAKE_COMMAND} -E echo "/* NOLINTBEGIN: clang-tidy follows our calls into it */" > ${made}.skel.new
      COMMAND ${KELVIN_BPFTOOL} gen skeleton ${made}.bpf.o name ${name}_bpf >> ${made}.skel.new
      COMMAND ${CMAKE_COMMAND} -E echo "/* NOLINTEND */" >> ${made}.skel.new
      COMMAND ${CMAKE_COMMAND} -E rename ${made}.skel.new ${made}.skel.h
      DEPENDS ${source} DEPFILE ${made}.d COMMENT "Compiling ${room}/${name}.bpf.c for the kernel" VERBATIM)
    target_sources(${target} PRIVATE ${made}.skel.h)
  endforeach()
  target_include_directories(${target} SYSTEM PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
endfunction()
