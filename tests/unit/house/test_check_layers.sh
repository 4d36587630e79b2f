#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The layer check itself: what it must refuse and what it must let pass, on a small tree made here.
set -euo pipefail
check=$(dirname "$0")/check_layers.sh
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
# The tables and the lists of modules are Kelvin's own.
(cd "$(dirname "$0")/../../.." && cp --parents ARCHITECTURE.md CMakeLists.txt ./*/CMakeLists.txt "$tree")
mkdir -p "$tree"/{recording/{records,unwind},sampler/{live,part},diff/{match,statistics}}
touch "$tree/common/common.h" "$tree/profile/profile.h" "$tree/profile/index.h" "$tree/sampler/sampler.h" \
  "$tree/sampler/live/ring.h" "$tree/recording/records/record.h" "$tree/recording/unwind/walk.h" "$tree/diff/match/align.h" "$tree/diff/statistics/load.h" "$tree/diff/build.h"

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
expect 0 sampler/live/x.c recording/records/record.h
expect 1 sampler/live/x.c recording/unwind/walk.h
expect 1 sampler/part/x.c sampler/live/ring.h
expect 1 recording/records/x.c sampler/live/ring.h
expect 1 recording/records/x.c recording/unwind/walk.h
expect 0 sampler/x.c sampler/live/ring.h
expect 0 diff/match/x.c diff/build.h
expect 0 diff/statistics/x.c diff/match/align.h
expect 1 diff/match/x.c diff/statistics/load.h

expect_text 0 ebpf/x.c '#include <bpf/libbpf.h>'
expect_text 0 ebpf/x.c '#include "x.skel.h"'
expect_text 1 sampler/x.c '#include <bpf/libbpf.h>'
expect_text 1 sampler/x.c '#include <linux/bpf.h>'
expect_text 1 sampler/x.c '#include "x.skel.h"'
expect_text 1 symbolize/x.c 'syscall(SYS_bpf, 0)'
expect_text 1 ebpf/x.c 'static const struct bpf_insn program[] = { 0 };'

# expect_edit FILE SCRIPT: what sed's script makes of a file of ours is refused.
expect_edit() {
  cp "$tree/$1" "$tree/before"
  sed -i "$2" "$tree/$1"
  ! cmp -s "$tree/$1" "$tree/before" || { echo "$1: '$2' changes nothing"; exit 1; }
  ! "$check" "$tree" >"$tree/out" || { echo "$1 after '$2' passes"; exit 1; }
  mv "$tree/before" "$tree/$1"
}

expect_edit diff/CMakeLists.txt 's/MODULES probability profile common/MODULES probability profile machine common/'
expect_edit cli/CMakeLists.txt 's/MODULES render /MODULES /'
expect_edit CMakeLists.txt 's/^set(KELVIN_ROOMS common /set(KELVIN_ROOMS /'
# shellcheck disable=SC2016
expect_edit ARCHITECTURE.md '/^| `frame\/`/s/elf, machine/machine/'
echo "28 cases hold"
