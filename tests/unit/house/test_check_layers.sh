#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The layer check itself: what it must refuse and what it must let pass, on a small tree made here.
set -euo pipefail
check=$(dirname "$0")/check_layers.sh
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree"/{common,machine,elf,frame,ebpf,profile,recording/{records,unwind},foreign,sampler/{live,part},symbolize,diff/{match,statistics},render,cli}
touch "$tree/common/common.h" "$tree/profile/profile.h" "$tree/profile/index.h" "$tree/sampler/sampler.h" \
  "$tree/sampler/live/ring.h" "$tree/recording/records/record.h" "$tree/recording/unwind/walk.h" "$tree/diff/match/align.h" "$tree/diff/statistics/load.h" "$tree/diff/build.h"

expect() {
  local want=$1 file=$2 include=$3 got=0
  printf '#include "%s"\n' "$include" >"$tree/$file"
  "$check" "$tree" >"$tree/out" || got=1
  rm "$tree/$file"
  if [[ $got -ne $want ]]; then
    echo "$file including \"$include\": expected $want, got $got"
    cat "$tree/out"
    exit 1
  fi
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

# expect_text WANT FILE TEXT: whatever is not an include of our own.
expect_text() {
  local want=$1 file=$2 text=$3 got=0
  printf '%s\n' "$text" >"$tree/$file"
  "$check" "$tree" >"$tree/out" || got=1
  rm "$tree/$file"
  [[ $got -eq $want ]] || { echo "$file with '$text': expected $want, got $got"; exit 1; }
}

expect_text 0 ebpf/x.c '#include <bpf/libbpf.h>'
expect_text 0 ebpf/x.c '#include "x.skel.h"'
expect_text 1 sampler/x.c '#include <bpf/libbpf.h>'
expect_text 1 sampler/x.c '#include <linux/bpf.h>'
expect_text 1 sampler/x.c '#include "x.skel.h"'
expect_text 1 symbolize/x.c 'syscall(SYS_bpf, 0)'
expect_text 1 ebpf/x.c 'static const struct bpf_insn program[] = { 0 };'
echo "24 cases hold"
