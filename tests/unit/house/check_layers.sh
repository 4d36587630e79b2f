#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Holds every #include of the product, and what its libraries are linked with, against the table of wings in ARCHITECTURE.md and the tables
# of rooms in each wing's README.md; and every file against 700 lines.
#   check_layers.sh ROOT
# A wing is entered through its one public header. Within a wing, a room with a library of its own is entered through its header, and any
# other through all of its headers by those rooms whose row names it. What lies in a wing's own folder is for all of its rooms.
# bpf(2) and libbpf are met in sampler/ebpf/ alone, and no program of the kernel is written as an array of instructions. Processes are
# made, and filters of system calls entered, in common/child/ alone.
set -euo pipefail
root=${1:?usage: check_layers.sh ROOT}
cd "$root"

# Which folder may include which: wings by the first table, rooms by those of their wings, whose rows have names without the wing's.
declare -A may_include=()
wings=()

# read_rows WITHIN: the rows of a table with three columns on standard input.
read_rows() {
  local within=$1 folder may

  while IFS='|' read -r _ folder _ may _; do
    [[ ${folder// /} =~ ^\`([a-z0-9_/*]+)/\`$ && $may == *[a-z]* && $may != " all " ]] || continue
    folder=$within${BASH_REMATCH[1]}
    [[ -n $within ]] || wings+=("$folder")
    may=${may//[\`,]/}
    may=${may# }
    may_include[$folder]=${may/nothing/}
  done
}

read_rows '' < <(grep '^|' ARCHITECTURE.md)
for wing in "${wings[@]}"; do
  [[ ! -e $wing/README.md ]] || read_rows "$wing/" < <(sed -n '/^| in `'"$wing"'\/`/,/^$/p' "$wing/README.md")
done
failures=0

fail() {
  echo "$*"
  failures=$((failures + 1))
}

# Of two folders of one wing.
check_within() {
  local file=$1 line=$2 header=$3
  local here=${file%/*} there=${header%/*} wing=${file%%/*}
  local row=$here

  [[ $here != "$there" ]] || return 0
  if [[ -e $there/CMakeLists.txt && $there != "$wing" && $here != "$there"/* && $header != "$there/${there##*/}.h" ]]; then
    fail "$file:$line: \"$header\" is private to $there; include \"$there/${there##*/}.h\""
    return
  fi
  [[ $here != "$wing" && $there != "$wing" ]] || return 0
  [[ -n ${may_include[$row]+known} ]] || row="${here%/*}/*"
  [[ -n ${may_include[$row]+known} ]] || { fail "$file: $here has no row in $wing/README.md"; return; }
  [[ " ${may_include[$row]} " == *" ${there#*/} "* ]] ||
    fail "$file:$line: $here may not include $there (it may: ${may_include[$row]:-nothing})"
}

check_include() {
  local file=$1 line=$2 header=$3
  local wing=${file%%/*} other=${header%%/*}

  if [[ $header != */* ]]; then
    [[ $header == *.pb-c.h || $header == *.skel.h ]] && return # generated beside the room's own sources
    fail "$file:$line: \"$header\" is not written from the root, as \"$wing/$header\""
  elif [[ $other == "$wing" ]]; then
    [[ -e $header ]] || [[ $header == */*.pb-c.h ]] || fail "$file:$line: \"$header\" does not exist"
    check_within "$file" "$line" "$header"
  elif [[ " ${may_include[$wing]} " != *" $other "* ]]; then
    fail "$file:$line: $wing may not include $other (it may: ${may_include[$wing]:-nothing})"
  elif [[ $header != "$other/$other.h" ]]; then
    fail "$file:$line: \"$header\" is private to $other; include \"$other/$other.h\""
  fi
}

# A library is linked with libraries of the wings and rooms that its folder may include, and with all of the former that have no rooms.
check_modules() {
  local list folder wing text module
  local -A folder_of=() modules_of=()

  while read -r list; do
    folder=${list%/CMakeLists.txt}
    text=$(<"$list")
    [[ ${text//$'\n'/ } =~ kelvin_(module|link)\(([a-z_0-9]+)([^\)]*) ]] || continue
    module=${BASH_REMATCH[2]} text=${BASH_REMATCH[3]}
    [[ $module != kelvin ]] || module=cli
    folder_of[$module]=$folder
    modules_of[$module]=''
    [[ ! $text =~ \ MODULES(\ [a-z_\ ]*) ]] || modules_of[$module]=${BASH_REMATCH[1]}
  done < <(find "${wings[@]}" -name CMakeLists.txt | sort)
  for module in "${!modules_of[@]}"; do
    folder=${folder_of[$module]} wing=${folder%%/*}
    for other in ${modules_of[$module]}; do
      [[ -n ${folder_of[$other]+known} ]] || { fail "$folder/CMakeLists.txt: MODULES have $other, which is no library"; continue; }
      text=${folder_of[$other]}
      [[ ${text%%/*} == "$wing" || " ${may_include[$wing]} " == *" ${text%%/*} "* ]] ||
        fail "$folder/CMakeLists.txt: MODULES have $other (it may: ${may_include[$wing]:-nothing})"
    done
    for other in ${may_include[$wing]}; do
      [[ $folder != "$wing" || -z ${folder_of[$other]+known} || " ${modules_of[$module]} " == *" $other "* ]] ||
        fail "$folder/CMakeLists.txt: MODULES lack $other"
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

mapfile -t files < <(find "${wings[@]}" -name '*.[ch]' | sort)
[[ ${#files[@]} -gt 0 ]] || { echo "no source file found below $root"; exit 1; }
while read -r lines file; do
  [[ $file == total || $lines -le 700 ]] || fail "$file: $lines lines; split it (700 at most)"
done < <(wc -l "${files[@]}")
while IFS=: read -r file line text; do
  header=${text#*\"}
  check_include "$file" "$line" "${header%%\"*}"
done < <(grep -nHE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' "${files[@]}" || true)
fail_each "programs of the kernel are written in C (sampler/ebpf/*.bpf.c)" \
  < <(grep -nHE 'struct bpf_insn|BPF_RAW_INSN' "${files[@]}" || true)
fail_each "bpf(2) is called, and libbpf included, in sampler/ebpf/ alone" \
  < <(grep -nHE '<(bpf/.*|linux/bpf)\.h>|\.skel\.h"|(SYS|__NR)_bpf\>' "${files[@]}" | grep -v '^sampler/ebpf/' || true)
fail_each "processes are made, and filters entered, in common/child/ alone (child_fork(), confined_enter())" \
  < <(grep -nHE '[=:(] *v?fork\(\)|posix_spawn|(SYS|__NR)_clone3?\>.*\(|<seccomp\.h>|filter_enter' "${files[@]}" | grep -v '^common/child/' || true)

[[ $(sed -n 's/^set(KELVIN_WINGS \(.*\))$/\1/p' CMakeLists.txt) == "${wings[*]}" ]] ||
  fail "CMakeLists.txt: KELVIN_WINGS are not those of ARCHITECTURE.md, in their order: ${wings[*]}"
for wing in "${wings[@]}"; do
  [[ ! -e $wing/README.md || $(wc -l <"$wing/README.md") -le 40 ]] || fail "$wing/README.md: more than 40 lines"
done
check_modules

echo "${#files[@]} files checked, $failures against the layers"
[[ $failures -eq 0 ]]
