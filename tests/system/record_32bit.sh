#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A 32-bit process is refused in so many words; one that a command starts is counted, and said.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
needs gcc
printf '.globl _start\n_start: mov $50000000, %%ecx\nloop: dec %%ecx\njnz loop\ncmpl $1, (%%esp)\nje _start\nmov $1, %%eax\nxor %%ebx, %%ebx\nint $0x80\n' >spin.S
gcc -m32 -nostdlib -static -o spin spin.S 2>/dev/null || skip "no 32-bit programs can be built here"
./spin once || skip "no 32-bit programs can be run here"
start ./spin
refuses "cannot sample pid $pid: it is a 32-bit process, which is not supported" kelvin record -p "$pid" -d 1 -o a.pb.gz
refuses "cannot sample pid $pid: it is a 32-bit process, which is not supported" kelvin record -t "$pid" -d 1 -o a.pb.gz
[[ ! -e a.pb.gz ]] || fail "a file was left"
run 0 kelvin record -o b.pb.gz -- ./spin once
says stderr '32-bit processes are not supported'
