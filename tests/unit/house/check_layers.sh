#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Holds every #include of the product, and what its libraries are linked with, against the tables of rooms in ARCHITECTURE.md; and every
# file against 700 lines.
#   check_layers.sh ROOT
# Another room is entered through its one public header, or where the table names a room of its rooms, through any header there; all
# other headers of a room are its own.
# bpf(2) and libbpf are met in ebpf/ alone, and no program of the kernel is written as an array of instructions.
set -euo pipefail
root=${1:?usage: check_layers.sh ROOT}
cd "$root"

# Which folder may include which: rooms in the order of the first table, and the rooms of a room, whose neighbours go without its name.
declare -A may_include=()
rooms=() within=
while IFS='|' read -r _ folder _ may _; do
  if [[ $folder == " in "* ]]; then
    within=${folder#*\`} within=${within%\`*}
  elif [[ ${folder// /} =~ ^\`([a-z_/*]+)/\`$ && $may == *[a-z]* && $may != " all " ]]; then
    folder=$within${BASH_REMATCH[1]} last='' words=''
    [[ -n $within ]] || rooms+=("$folder")
    for word in ${may//[\`,]/}; do
      case $word in
        nothing | with | its | and) ;;
        */) words+=" $last/${word%/}" ;; # "profile with its `parts/`"
        *) last=$word words+=" $word" ;;
      esac
    done
    may_include[$folder]=${words# }
  fi
done < <(grep '^|' ARCHITECTURE.md)
failures=0

fail() {
  echo "$*"
  failures=$((failures + 1))
}

check_within() {
  local file=$1 line=$2 header=$3
  local here=${file%/*} there=${header%/*} room=${file%%/*}
  local row=$here

  [[ -n ${may_include[$row]+known} ]] || row="${here%/*}/*"
  [[ $here != "$room" && $there != "$room" && $here != "$there" && -n ${may_include[$row]+known} ]] || return 0
  [[ " ${may_include[$row]} " == *" ${there#*/} "* ]] ||
    fail "$file:$line: $here may not include $there (it may: ${may_include[$row]:-nothing})"
}

check_include() {
  local file=$1 line=$2 header=$3
  local room=${file%%/*} other=${header%%/*}

  if [[ $header != */* ]]; then
    [[ $header == *.pb-c.h || $header == *.skel.h ]] && return # generated beside the room's own sources
    fail "$file:$line: \"$header\" is not written from the root, as \"$room/$header\""
  elif [[ $other == "$room" ]]; then
    [[ -e $header ]] || [[ $header == */*.pb-c.h ]] || fail "$file:$line: \"$header\" does not exist"
    check_within "$file" "$line" "$header"
  elif [[ $header == */*/* && " ${may_include[$room]} " == *" ${header%/*} "* ]]; then
    [[ -e $header ]] || fail "$file:$line: \"$header\" does not exist"
  elif [[ " ${may_include[$room]} " != *" $other "* ]]; then
    fail "$file:$line: $room may not include $other (it may: ${may_include[$room]:-nothing})"
  elif [[ $header != "$other/$other.h" && $header != simulate/format.h && $header != */suite.h && $header != diff/lines.h && $header != diff/groups.h && $header != diff/neighbours.h && $header != diff/file_pairs.h && $header != diff/function_units.h && $header != render/history.h ]]; then
    fail "$file:$line: \"$header\" is private to $other; include \"$other/$other.h\""
  fi
}

# A room's MODULES are what it may include, but for rooms without a library, of which others have headers alone.
check_modules() {
  local room text word
  local -A linked=()

  for room in "${rooms[@]}"; do
    text=$(<"$room/CMakeLists.txt")
    [[ ${text//$'\n'/ } =~ kelvin_(module|link)\(([^\)]*) ]] || continue
    linked[$room]=''
    [[ ! ${BASH_REMATCH[2]} =~ \ MODULES(\ [a-z_\ ]*) ]] || linked[$room]="${BASH_REMATCH[1]} "
  done
  for room in "${!linked[@]}"; do
    for word in "${!linked[@]}"; do
      [[ " ${may_include[$room]} " != *" $word "* || ${linked[$room]} == *" $word "* ]] || fail "$room/CMakeLists.txt: MODULES lack $word"
      [[ " ${may_include[$room]} " == *" $word "* || ${linked[$room]} != *" $word "* ]] ||
        fail "$room/CMakeLists.txt: MODULES have $word (it may: ${may_include[$room]:-nothing})"
    done
  done
}

# What is wrong wherever it stands, as "FILE:LINE:TEXT" lines of grep: whole rooms are read at once, since a process a file takes
# longer than all the rest.
fail_each() {
  local why=$1 file line

  while IFS=: read -r file line _; do
    fail "$file:$line: $why"
  done
}

mapfile -t files < <(find "${rooms[@]}" -name '*.[ch]' | sort)
[[ ${#files[@]} -gt 0 ]] || { echo "no source file found below $root"; exit 1; }
while read -r lines file; do
  [[ $file == total || $lines -le 700 ]] || fail "$file: $lines lines; split it (700 at most)"
done < <(wc -l "${files[@]}")
while IFS=: read -r file line text; do
  header=${text#*\"}
  check_include "$file" "$line" "${header%%\"*}"
done < <(grep -nHE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' "${files[@]}" || true)
fail_each "programs of the kernel are written in C (ebpf/*.bpf.c)" \
  < <(grep -nHE 'struct bpf_insn|BPF_RAW_INSN' "${files[@]}" || true)
fail_each "bpf(2) is called, and libbpf included, in ebpf/ alone" \
  < <(grep -nHE '<(bpf/.*|linux/bpf)\.h>|\.skel\.h"|(SYS|__NR)_bpf\>' "${files[@]}" | grep -v '^ebpf/' || true)

[[ $(sed -n 's/^set(KELVIN_ROOMS \(.*\))$/\1/p' CMakeLists.txt) == "${rooms[*]}" ]] ||
  fail "CMakeLists.txt: KELVIN_ROOMS are not those of ARCHITECTURE.md, in their order: ${rooms[*]}"
check_modules

echo "${#files[@]} files checked, $failures against the layers"
[[ $failures -eq 0 ]]
