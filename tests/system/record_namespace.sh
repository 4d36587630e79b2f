#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A process in namespaces of its own, as in a container: its files are found through it, under names that mean others to us, and
# when nothing of them can be seen from here.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
is_root || skip "root is needed to make namespaces"
needs unshare
# grandchild_executes PROGRAM: what a child of the last started process has started.
grandchild_executes() {
	local child grandchild

	child=$(<"/proc/$pid/task/$pid/children")
	grandchild=$(<"/proc/${child% }/task/${child% }/children")
	executes "${grandchild% }" "$1"
}

mkdir -p inside/app
cp "$WORKLOADS/system_workload" server
# Here, the name stands for something else.
printf '#!/bin/sh\n' >inside/app/server
unshare -m true 2>/dev/null || skip "mount namespaces cannot be made here"
start unshare -m --propagation private sh -c "mount -t tmpfs none '$work/inside/app' && cp '$work/server' '$work/inside/app/server' && exec '$work/inside/app/server'"
wait_until "the server runs" executes "$pid" server
[[ $(head -c 2 inside/app/server) == '#!' ]] || fail "the mount is seen outside"
record_enough 300 -p "$pid" -o a.pb.gz
at_least "$(share a.pb.gz '^server;_start;.*main;serve;parse_input')" 60 "share of parse_input in another mount namespace"
says_not stderr 'stays unnamed'
stop "$pid"

start unshare -m -p -f --kill-child --propagation private sh -c "mount -t tmpfs none '$work/inside/app' && cp '$work/server' '$work/inside/app/server' && '$work/inside/app/server'; true"
wait_until "a server runs below its shell" grandchild_executes server
record_enough 300 -p "$pid" -o b.pb.gz
at_least "$(share b.pb.gz '^server;_start;.*main;serve;parse_input')" 60 "share of parse_input in another process namespace"
stop "$pid"

# Debug files of a directory tree that a process of the command takes as its root, and that is mounted no more when functions are named.
needs gcc objcopy strip chroot
cat >contained.c <<'END'
#include <time.h>
volatile unsigned long sum;
__attribute__((noinline)) void add_all(void) { for (unsigned long i = 0; i < 1000000; i++) sum += i; }
int main(void) { while (clock() < CLOCKS_PER_SEC / 2) add_all(); return 0; }
END
gcc -O1 -g -static -Wl,--build-id=0x0123456789abcdef contained.c -o contained
mkdir -p tree kept/usr/lib/debug/.build-id/01
objcopy --only-keep-debug contained kept/usr/lib/debug/.build-id/01/23456789abcdef.debug
strip -o kept/contained contained
run 0 kelvin record -o contained.pb.gz -- unshare -m --propagation private sh -c \
	"mount -t tmpfs none '$work/tree' && cp -r kept/* tree && exec chroot '$work/tree' /contained"
[[ ! -e tree/contained ]] || fail "the root is still mounted"
at_least "$(share contained.pb.gz ';main;add_all')" 60 "share of a function with debug files in a root of its own"

# Not for its exit code: sanitizers need /proc too, and end with their own.
unshare -m --propagation private sh -c "umount -l /proc; exec '$KELVIN' record -p 1 -o c.pb.gz" 2>stderr && fail "recorded without /proc"
says stderr "^kelvin: cannot record: /proc is not there; 'mount -t proc proc /proc' makes it"

# /proc of another pid namespace shows other processes under the pids of this one.
run 2 unshare -p -f --propagation private "$KELVIN" record -p 1 -d 1 -o d.pb.gz
says stderr "^kelvin: cannot record: /proc shows the processes of another pid namespace .*'mount -t proc proc /proc'"

# Processes outside have no pid at all inside: what one maps is not taken for the code of another.
cp server outside
start sh -c "while :; do '$work/outside' --cpu 0.2; done"
run 0 unshare -p -f --mount-proc --propagation private "$KELVIN" record -a -d 1 -o e.pb.gz
says stderr '^processes outside of this pid namespace are sampled as one, without names'
at_most "$(share e.pb.gz 'parse_input|hash_output')" 0 "share of names of processes that cannot be told apart"
stop "$pid"

# A perf map is named by the pid that a process has in its container; what has this name outside is another process's.
needs gcc
cat >jit.c <<'END'
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

/* push %rbp; mov %rsp,%rbp; mov $100000,%ecx; 1: dec %ecx; jnz 1b; pop %rbp; ret */
static const unsigned char spin[] = { 0x55, 0x48, 0x89, 0xe5, 0xb9, 0xa0, 0x86, 1, 0, 0xff, 0xc9, 0x75, 0xfc, 0x5d, 0xc3 };

int main(int argc, char **argv)
{
	void *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	FILE *decoy = fopen(argv[argc - 1], "w");

	memcpy(code, spin, sizeof(spin));
	fprintf(decoy, "%lx %zx made_elsewhere\n", (unsigned long)code, sizeof(spin));
	fclose(decoy);
	while (clock() < CLOCKS_PER_SEC / 2)
		((void (*)(void))code)();
	return 0;
}
END
gcc -O1 -g jit.c -o jit
[[ ! -e /tmp/perf-1.map ]] || skip "/tmp/perf-1.map is there"
mkdir own
cp jit own
run 0 kelvin record -o f.pb.gz -- unshare -m -p -f --propagation private sh -c \
	"mount --bind /tmp /mnt && mount --bind '$work/own' /tmp && exec /tmp/jit /mnt/perf-1.map"
grep -q made_elsewhere /tmp/perf-1.map || fail "the decoy is not there"
rm /tmp/perf-1.map
at_least "$(share f.pb.gz '^jit;.*main;')" 80 "share of the code made at run time"
at_most "$(share f.pb.gz 'made_elsewhere')" 0 "share of names out of another process's perf map"

# In a time namespace clocks run ahead of what the kernel writes into records, or behind.
unshare -T --monotonic 1000 true 2>/dev/null || skip "time namespaces cannot be made here"
for offset in 100000 -60; do
	run 0 unshare -T --monotonic $offset "$KELVIN" record -o g.pb.gz -- "$work/server" --parse 3 --cpu 0.5
	says stderr ', 0 lost, (100\.0|9[0-9]\.[0-9]) % whole stacks$'
	at_least "$(share g.pb.gz ';main;serve;parse_input')" 50 "share of parse_input in a time namespace"
done
