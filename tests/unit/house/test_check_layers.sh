#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The layer check itself: what it must refuse and what it must let pass, on a small tree made here.
set -euo pipefail
check=$(dirname "$0")/check_layers.sh
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
# The tables and the lists of modules are Kelvin's own.
(cd "$(dirname "$0")/../../.." && find ./*/ -path ./build -prune -o \( -name CMakeLists.txt -o -name README.md \) -print0 |
  xargs -0 cp --parents -t "$tree" ARCHITECTURE.md CMakeLists.txt)
mkdir -p "$tree"/{sampler/{records,unwind,live,part,interpret/perl},diff/{match,statistics,strange}}
touch "$tree/common/common.h" "$tree/profile/profile.h" "$tree/profile/index.h" "$tree/sampler/sampler.h" "$tree/binary/elf/"{elf,open}.h \
  "$tree/sampler/live/ring.h" "$tree/sampler/records/record.h" "$tree/sampler/unwind/walk.h" "$tree/diff/match/align.h" "$tree/diff/statistics/load.h" "$tree/diff/build.h"

# expect_text WANT FILE TEXT: whether the tree passes with a file of the text.
expect_text() {
  local want=$1 file=$2 text=$3 got=0
  printf '%s\n' "$text" >"$tree/$file"
  "$check" "$tree" >"$tree/out" || got=1
  rm "$tree/$file"
  [[ $got -eq $want ]] || { echo "$file with '$text': expected $want, got $got"; cat "$tree/out"; exit 1; }
}

# expect WANT FILE HEADER: with a file that includes the header.
expect() {
  expect_text "$1" "$2" "#include \"$3\""
}

expect 0 diff/x.c profile/profile.h
expect 0 profile/x.c profile/index.h
expect 0 cli/x.c sampler/sampler.h
expect 1 diff/x.c sampler/sampler.h
expect 1 common/x.c profile/profile.h
expect 1 diff/x.c profile/index.h
expect 1 profile/x.c index.h
expect 1 profile/x.c profile/missing.h
expect 0 sampler/live/x.c sampler/records/record.h
expect 1 sampler/live/x.c sampler/unwind/walk.h
expect 1 sampler/part/x.c sampler/live/ring.h
expect 1 sampler/records/x.c sampler/live/ring.h
expect 1 sampler/records/x.c sampler/unwind/walk.h
expect 0 sampler/x.c sampler/live/ring.h
expect 0 sampler/interpret/perl/x.c sampler/unwind/walk.h
expect 1 sampler/interpret/perl/x.c sampler/live/ring.h
expect 0 diff/match/x.c diff/build.h
expect 0 diff/statistics/x.c diff/match/align.h
expect 1 diff/match/x.c diff/statistics/load.h
expect 1 diff/strange/x.c diff/match/align.h
expect 0 binary/frame/x.c binary/elf/elf.h
expect 1 binary/frame/x.c binary/elf/open.h
expect 1 sampler/x.c binary/elf/elf.h

expect_text 0 sampler/ebpf/x.c '#include <bpf/libbpf.h>'
expect_text 0 sampler/ebpf/x.c '#include "x.skel.h"'
expect_text 1 sampler/x.c '#include <bpf/libbpf.h>'
expect_text 1 sampler/x.c '#include <linux/bpf.h>'
expect_text 1 sampler/x.c '#include "x.skel.h"'
expect_text 1 symbolize/x.c 'syscall(SYS_bpf, 0)'
expect_text 1 sampler/ebpf/x.c 'static const struct bpf_insn program[] = { 0 };'

# expect_edit FILE SCRIPT: what sed's script makes of a file of ours is refused.
expect_edit() {
  cp "$tree/$1" "$tree/before"
  sed -i "$2" "$tree/$1"
  ! cmp -s "$tree/$1" "$tree/before" || { echo "$1: '$2' changes nothing"; exit 1; }
  ! "$check" "$tree" >"$tree/out" || { echo "$1 after '$2' passes"; exit 1; }
  mv "$tree/before" "$tree/$1"
}

expect_edit diff/CMakeLists.txt 's/MODULES evidence probability profile common/MODULES evidence probability profile sampler common/'
expect_edit cli/CMakeLists.txt 's/MODULES render /MODULES /'
expect_edit CMakeLists.txt 's/^set(KELVIN_WINGS common /set(KELVIN_WINGS /'
# shellcheck disable=SC2016
expect_edit ARCHITECTURE.md '/^| `profile\/`/s/ common |$/ nothing |/'
# shellcheck disable=SC2016
expect_edit ARCHITECTURE.md '/^| `cli\/`/s/render, diff/diff/'
echo "35 cases hold"
