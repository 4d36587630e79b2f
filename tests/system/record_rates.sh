#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Nothing is lost while the machine has other work to do, nor at a rate at which a ring is full after a few milliseconds.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
needs gcc
lost_said() {
	sed -n 's/.* samples\{0,1\} in .*, \([0-9,]*\) lost.*/\1/p' stderr | tr -d ','
}

start "$WORKLOADS/system_workload" --threads 2 
target=$pid
gcc -E -include stdio.h -include pthread.h -x c /dev/null -o many.i || fail "nothing to compile"
start sh -c 'while :; do gcc -O2 -c many.i -o /dev/null; done'
start sh -c 'while :; do gcc -O2 -c many.i -o /dev/null; done'
run 0 kelvin record -p "$target" -d 3 -o a.pb.gz
at_least "$(samples_said)" 100 "samples beside compilers"
at_most "$(lost_said)" 0 "samples lost beside compilers"
for compiler in "${started[@]:1}"; do kill "$compiler"; done

most=$(</proc/sys/kernel/perf_event_max_sample_rate)
run 0 kelvin record -p "$target" -F $((most < 30000 ? most : 30000)) -d 1.5 -o b.pb.gz
at_least "$(samples_said)" 1000 "samples at 30 kHz"
at_most $((100 * $(lost_said) / $(samples_said))) 20 "percent lost at 30 kHz"

# The kernel lowers the rate that it allows by itself: that is no reason to sample nothing.
is_root || skip "root is needed to show another limit"
needs jq
unshare -m --propagation private true 2>/dev/null || skip "mount namespaces cannot be made here"
echo 500 >limit
run 0 unshare -m --propagation private sh -c \
	"mount --bind limit /proc/sys/kernel/perf_event_max_sample_rate && exec '$KELVIN' record -p $target -d 0.5 -o c.pb.gz"
says stderr '^250 samples per second instead of 997: '
kelvin report c.pb.gz --json | jq -e '.recording.frequency_hz == 250' >/dev/null || fail "not recorded at the rate that is allowed"
