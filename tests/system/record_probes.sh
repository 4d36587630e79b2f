#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Functions that another tool has put return probes on, as bpftrace and perf probe do: the kernel has replaced their return addresses,
# and a breakpoint stands in their code, also in that of whoever maps the file.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
needs gcc
tracing=/sys/kernel/tracing
[[ -e $tracing/uprobe_events ]] || mount -t tracefs tracefs "$tracing" 2>/dev/null
[[ -w $tracing/uprobe_events ]] || skip "no probes can be made in $tracing/uprobe_events"

cat >probed.c <<'END'
#include <time.h>

static volatile unsigned long sink;

__attribute__((noinline)) void leaf(void)
{
	for (int i = 0; i < 200000; i++)
		sink += (unsigned long)i;
}

/* Begins with a call: that is what the breakpoint replaces. */
__attribute__((noinline)) void middle(void)
{
	leaf();
	sink++;
}

/* Recursive: each call has a return address of its own that is replaced. */
__attribute__((noinline)) void outer(int depth)
{
	volatile int room[20];

	room[depth] = depth;
	if (depth > 0)
		outer(depth - 1);
	else
		middle();
	sink += (unsigned long)room[depth];
}

int main(void)
{
	while (clock() < CLOCKS_PER_SEC)
		outer(3);
	return 0;
}
END
gcc -O2 -fno-optimize-sibling-calls probed.c -o probed
group=kelvin_$$
remove_probes() {
	[[ ! -e $tracing/events/$group ]] || echo 0 >"$tracing/events/$group/enable"
	for name in middle outer again; do
		echo "-:$group/$name" >>"$tracing/uprobe_events"
	done
} 2>/dev/null
trap 'code=$?; remove_probes; (exit $code); finish' EXIT
offset() {
	printf '0x%x' "0x$(nm probed | awk -v name="$1" '$3 == name { print $1 }')"
}
{
	echo "r:$group/middle $work/probed:$(offset middle)"
	echo "r:$group/outer $work/probed:$(offset outer)"
	# Two tools at one function.
	echo "r:$group/again $work/probed:$(offset outer)"
} >>"$tracing/uprobe_events" || skip "no probe can be made"
echo 1 >"$tracing/events/$group/enable" || skip "no probe can be enabled"

run 0 kelvin record -F 991 -o probed.pb.gz -- ./probed
whole=$(sed -n 's/.* \([0-9]*\)[.0-9]* % whole stacks/\1/p' stderr)
# Samples of the first moments come before the recorder has met the probes.
at_least "$whole" 90 "whole stacks of functions with return probes"
at_least "$(share probed.pb.gz ';main;outer;outer;outer;outer;middle;leaf')" 85 "share of functions with return probes"

# Without a program in the kernel nobody tells who called the function: the stack is cut there, and says so.
run 0 kelvin record --native -F 991 -o native.pb.gz -- ./probed
says stderr "^cut stacks: .*[0-9]+ return probe"
says stderr "another tool's return probe .* stands on the last function"
! is_root || says stderr "which it tells once the recorder has met the probe, "
at_least "$(share native.pb.gz '^probed;middle;leaf')" 85 "share of stacks that end at a return probe"
