#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A worker that was forked runs code that its parent made and named: the parent's perf map names it, where the worker's own does not. The
# map of a parent that executed another program than the worker does, or that an earlier process left, names nothing.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
needs gcc
cat >prefork.c <<'END'
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

/* push %rbp; mov %rsp,%rbp; mov $100000,%ecx; 1: dec %ecx; jnz 1b; pop %rbp; ret */
static const unsigned char spin[] = { 0x55, 0x48, 0x89, 0xe5, 0xb9, 0xa0, 0x86, 1, 0, 0xff, 0xc9, 0x75, 0xfc, 0x5d, 0xc3 };

static void write_map(unsigned long start, unsigned long size, const char *name, int is_old)
{
	struct utimbuf long_ago = { 1000000000, 1000000000 };
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	file = fopen(path, "w");
	fprintf(file, "%lx %lx %s\n", start, size, name);
	fclose(file);
	if (is_old)
		utime(path, &long_ago);
}

static void run(unsigned char *first, unsigned char *second)
{
	time_t end = time(NULL) + 100;

	while (time(NULL) < end) {
		((void (*)(void))(uintptr_t)first)();
		((void (*)(void))(uintptr_t)second)();
	}
}

/* parent: forks a worker; old: likewise, the map is an earlier process's; execute: the worker executes the program anew. */
int main(int argc, char **argv)
{
	unsigned char *code = mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const char *how = argc > 1 ? argv[1] : "";

	memcpy(code, spin, sizeof(spin));
	memcpy(code + 4096, spin, sizeof(spin));
	if (strcmp(how, "worker") == 0)
		run(code, code + 4096);
	write_map(0, 0x7fffffffffff, "made_by_parent", strcmp(how, "old") == 0);
	if (fork() != 0) {
		sleep(100);
		return 0;
	}
	FILE *file = fopen("worker.pid", "w");
	fprintf(file, "%d\n", (int)getpid());
	fclose(file);
	if (strcmp(how, "execute") == 0)
		execl(argv[0], argv[0], "worker", NULL);
	write_map((unsigned long)code + 4096, sizeof(spin), "made_by_worker", 0);
	run(code, code + 4096);
	return 0;
}
END
gcc -O1 -g prefork.c -o prefork || fail "prefork.c does not compile"

# worker_runs HOW: the worker has written its map, or has executed the program anew.
worker_runs() {
	case $1 in
	execute) grep -qz '^worker$' "/proc/$pid/cmdline" ;;
	*) [[ -s /tmp/perf-$pid.map ]] ;;
	esac
}

# prefork HOW: starts a parent and records its worker.
prefork() {
	local parent

	rm -f worker.pid
	start ./prefork "$1"
	parent=$pid
	for ((tries = 0; tries < 200; tries++)); do
		[[ ! -s worker.pid ]] || break
		sleep 0.02
	done
	pid=$(<worker.pid)
	started+=("$pid")
	wait_until "the worker runs its code" worker_runs "$1"
	record_enough 100 -p "$pid" -o "$1.pb.gz"
	kill -KILL "$parent" "$pid"
	rm -f "/tmp/perf-$parent.map" "/tmp/perf-$pid.map"
}

prefork parent
at_least "$(share parent.pb.gz ';made_by_parent ')" 30 "share of the code that the parent made and named"
at_least "$(share parent.pb.gz ';made_by_worker ')" 30 "share of the code that the worker named"
prefork old
says stderr '^/tmp/perf-[0-9]*\.map names nothing: it is older than the process of that pid'
at_most "$(share old.pb.gz 'made_by_parent')" 0 "share of names out of an earlier process's map"
at_least "$(share old.pb.gz ';made_by_worker ')" 30 "share of the code that the worker named"
prefork execute
at_most "$(share execute.pb.gz 'made_by_parent')" 0 "share of names out of the map of another program"
