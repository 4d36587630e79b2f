#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A full disk: an error, and nothing under the final name.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
printf 'a;b 1\n' >folded
# A limit on the size of files is a full disk too, and neither a signal to us nor to the command.
(
	ulimit -f 1
	refuses 'cannot write a.html: File too large' kelvin report folded -o a.html
	run 125 kelvin record -F 9997 -o a.pb.gz -- sh -c "'$WORKLOADS/system_workload' --seconds 0.5; grep SigIgn /proc/self/status"
	says stderr 'cannot write a.pb.gz: File too large'
	[[ $(<stdout) == $(sh -c 'grep SigIgn /proc/self/status') ]] || fail "the command ignores other signals than its parent"
) || exit
# A recording whose increments do not fit is written as far as it came, if that fits.
(
	ulimit -f 16
	run 125 kelvin record -F 9997 -d 20 -o early.pb.gz -- "$WORKLOADS/system_workload" --seconds 4
	says stderr '^kelvin: the recording ended early: cannot write early.pb.gz.part: File too large; what was recorded until then is kept$'
) || exit
[[ -s early.pb.gz && ! -e early.pb.gz.part ]] || fail "not kept: $(ls)"
[[ ! -e a.html && ! -e a.pb.gz ]] || fail "left behind: $(ls)"
is_root || skip "root is needed to mount a small file system"
mkdir small
mount -t tmpfs -o size=8k,nr_inodes=10 none small 2>/dev/null || skip "a small file system cannot be mounted here"
head -c 100000 /dev/zero >small/ballast 2>/dev/null
start "$WORKLOADS/system_workload"
refuses 'cannot write small/a.pb.gz: No space left on device' kelvin record -p "$pid" -d 0.5 -q -o small/a.pb.gz
stop "$pid"
[[ $(ls small) == ballast ]] || fail "left behind: $(ls small)"
run 125 kelvin record -q -o small/a.pb.gz -- "$WORKLOADS/system_workload" --seconds 0.2
refuses 'cannot write small/a.html: No space left on device' kelvin report folded -o small/a.html
[[ $(ls small) == ballast ]] || fail "left behind: $(ls small)"
code=0
kelvin report folded >/dev/full 2>stderr || code=$?
[[ $code -eq 2 ]] || fail "exit code $code on a full standard output"
