#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Holds every #include of the product against the layer table of ARCHITECTURE.md, and every file against 700 lines.
#   check_layers.sh ROOT
# Another room is entered through its one public header, or where the table names a room of its rooms, through any header there; all
# other headers of a room are its own.
# bpf(2) and libbpf are met in ebpf/ alone, and no program of the kernel is written as an array of instructions.
set -euo pipefail
root=${1:?usage: check_layers.sh ROOT}
cd "$root"

declare -A may_include=(
  [common]=""
  [machine]="common"
  [elf]="common"
  [frame]="elf machine common"
  [ebpf]="common"
  [profile]="common"
  [harness]="profile common"
  [simulate]=""
  [recording]="frame elf ebpf machine profile common"
  [foreign]="recording recording/collect recording/process recording/records elf machine profile common"
  [sampler]="recording recording/collect recording/interpret recording/process recording/records simulate elf ebpf machine profile common"
  [symbolize]="frame elf ebpf machine profile common"
  [diff]="profile common"
  [render]="diff profile common"
  [cli]="render diff symbolize harness sampler foreign recording profile elf machine common"
)

# What the rooms of a room may include of each other, beside the headers that lie in the room itself.
declare -A may_include_within=(
  [recording/records]=""
  [recording/unwind]=""
  [recording/unwind/fallback]="unwind"
  [recording/process]="records unwind"
  [recording/verify]="process unwind"
  [recording/interpret]="interpret/python process records unwind"
  [recording/interpret/*]="interpret process records unwind" # one room a kind of interpreter
  [recording/collect]="interpret verify process records unwind unwind/fallback"
  [foreign/callgrind]=""
  [foreign/perf_data]=""
  [sampler/part]=""
  [sampler/simulated]=""
  [sampler/live]="part"
  [diff/match]=""
  [diff/statistics]="match"
  [diff/verdict]="statistics match"
  [diff/suite]="verdict statistics match"
)
failures=0

fail() {
  echo "$*"
  failures=$((failures + 1))
}

check_within() {
  local file=$1 line=$2 header=$3
  local here=${file%/*} there=${header%/*} room=${file%%/*}
  local row=$here

  [[ -n ${may_include_within[$row]+known} ]] || row="${here%/*}/*"
  [[ $here != "$room" && $there != "$room" && $here != "$there" && -n ${may_include_within[$row]+known} ]] || return 0
  [[ " ${may_include_within[$row]} " == *" ${there#*/} "* ]] ||
    fail "$file:$line: $here may not include $there (it may: ${may_include_within[$row]:-nothing})"
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
  elif [[ $header != "$other/$other.h" && $header != simulate/format.h && $header != */suite.h ]]; then
    fail "$file:$line: \"$header\" is private to $other; include \"$other/$other.h\""
  fi
}

# What is wrong wherever it stands, as "FILE:LINE:TEXT" lines of grep: whole rooms are read at once, since a process a file takes
# longer than all the rest.
fail_each() {
  local why=$1 file line

  while IFS=: read -r file line _; do
    fail "$file:$line: $why"
  done
}

mapfile -t files < <(find "${!may_include[@]}" -name '*.[ch]' | sort)
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

echo "${#files[@]} files checked, $failures against the layers"
[[ $failures -eq 0 ]]
