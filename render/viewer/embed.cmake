# Turns the bundled script and style into a C file, with the hashes that the page's Content-Security-Policy names.
#   cmake -DSCRIPT=viewer.js -DSTYLE=viewer.css -DOUTPUT=viewer_assets.c -P embed.cmake

set(BASE64 "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")

# The 64 hex digits of a SHA-256 to base64, as CSP wants it.
function(hex_to_base64 hex out)
  set(text "")
  foreach(group RANGE 0 60 6)
    string(SUBSTRING "${hex}0000" ${group} 6 digits)
    math(EXPR number "0x${digits}")
    foreach(shift 18 12 6 0)
      math(EXPR index "(${number} >> ${shift}) & 63")
      string(SUBSTRING ${BASE64} ${index} 1 letter)
      string(APPEND text ${letter})
    endforeach()
  endforeach()
  string(SUBSTRING ${text} 0 43 text)
  set(${out} "${text}=" PARENT_SCOPE)
endfunction()

function(embed name file out)
  file(READ ${file} bytes HEX)
  file(SHA256 ${file} hash)
  hex_to_base64(${hash} base64)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," array "${bytes}")
  string(REGEX REPLACE "(....................................................................................................)" "\\1\n" array "${array}")
  string(LENGTH "${bytes}" digits)
  math(EXPR size "${digits} / 2")
  set(${out} "const unsigned char viewer_${name}[] = {\n${array}\n};\nconst size_t viewer_${name}_size = ${size};\nconst char viewer_${name}_hash[] = \"sha256-${base64}\";\n" PARENT_SCOPE)
endfunction()

embed(script ${SCRIPT} script)
embed(style ${STYLE} style)
file(WRITE ${OUTPUT} "/* Generated from render/viewer/ by embed.cmake. */\n#include \"render/viewer_assets.h\"\n\n${script}${style}")
