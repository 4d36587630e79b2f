# kelvin_harden(target)  compiles and links a target so that an error of memory ends the process, where it might have served an
# attacker (docs/decisions/43-hardening.md). Every flag that the compiler lacks is left out.
#   stack protector        a buffer on the stack that is overrun is noticed before the function returns
#   stack clash            a large frame touches each of its pages, and so cannot leap over the guard page
#   control-flow tags      the processor refuses jumps to what is no function's start, and returns to another place (CET)
#   fortified functions    memcpy(), snprintf() and others check sizes that the compiler knows; needs optimisation, and the
#                          sanitizers have checks of their own
#   position independence  the program lies at another address in every run
#   read-only relocations  no table of functions is writable once the program runs

include(CheckCCompilerFlag)

set(KELVIN_HARDENING -fPIE)
foreach(flag -fstack-protector-strong -fstack-clash-protection -fcf-protection=full)
  string(MAKE_C_IDENTIFIER "KELVIN_HAS${flag}" known)
  check_c_compiler_flag(${flag} ${known})
  if(${known})
    list(APPEND KELVIN_HARDENING ${flag})
  endif()
endforeach()

string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
if("${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_${build_type}}" MATCHES "-O[1-9s]" AND NOT KELVIN_SANITIZE)
  list(APPEND KELVIN_HARDENING -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
endif()

function(kelvin_harden target)
  target_compile_options(${target} PRIVATE ${KELVIN_HARDENING})
  target_link_options(${target} PRIVATE -pie -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
endfunction()
