#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Code made at run time is named by what its process writes of it: a perf map, or a jitdump that it maps.
# STACKS | any that compile while they run | perf map, jitdump | names that the process writes
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
needs gcc
cat >jit.c <<'END'
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* push %rbp; mov %rsp,%rbp; mov $100000,%ecx; 1: dec %ecx; jnz 1b; pop %rbp; ret */
static const unsigned char spin[] = { 0x55, 0x48, 0x89, 0xe5, 0xb9, 0xa0, 0x86, 1, 0, 0xff, 0xc9, 0x75, 0xfc, 0x5d, 0xc3 };

static void write_map(const unsigned char *code, const char *name, const char *mode)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	file = fopen(path, mode);
	fprintf(file, "%lx %zx %s\n", (unsigned long)code, sizeof(spin), name);
	fclose(file);
}

/* linux, tools/perf/Documentation/jitdump-specification.txt */
static int open_dump(const char *prefix)
{
	struct { uint32_t magic, version, size, machine, pad, pid; uint64_t time, flags; } header = { 0x4a695444, 1, 40, 62, 0, (uint32_t)getpid(), 0, 0 };
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "jit-%s%d.dump", prefix, (int)getpid());
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (write(fd, &header, sizeof(header)) < 0)
		_exit(1);
	mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	return fd;
}

static void write_dump(int fd, const unsigned char *code, const char *name)
{
	struct { uint32_t id, size; uint64_t time; uint32_t pid, tid; uint64_t address, code, bytes, index; } load = { 0,
		sizeof(load) + strlen(name) + 1 + sizeof(spin), 0, (uint32_t)getpid(), (uint32_t)getpid(), (uint64_t)code, (uint64_t)code, sizeof(spin), 1 };
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	load.time = now.tv_sec * 1000000000ull + now.tv_nsec;
	if (write(fd, &load, sizeof(load)) < 0 || write(fd, name, strlen(name) + 1) < 0 || write(fd, spin, sizeof(spin)) < 0)
		_exit(1);
}

/* Other code takes the place of the first, and runs for twice as long. A map may be written late, as V8 does. */
static void give_place(int fd, int is_late, const unsigned char *code, clock_t each)
{
	for (int i = 0; i < 2; i++) {
		clock_t end = clock() + (i + 1) * each;

		if (is_late)
			i = 1, end += each;
		else if (fd < 0)
			write_map(code, i ? "later_function" : "early_function", i ? "a" : "w");
		else
			write_dump(fd, code, i ? "later_function" : "early_function");
		while (clock() < end)
			((void (*)(void))(uintptr_t)code)();
	}
	for (int i = 0; is_late && i < 2; i++)
		write_map(code, i ? "later_function" : "early_function", i ? "a" : "w");
}

/* How the code is named, and for how many milliseconds of CPU time it runs. */
int main(int argc, char **argv)
{
	unsigned char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	clock_t end = CLOCKS_PER_SEC / 1000 * (argc > 2 ? atoi(argv[2]) : 60000);

	memcpy(code, spin, sizeof(spin));
	if (argc > 1 && strncmp(argv[1], "reuse_", 6) == 0) {
		give_place(strcmp(argv[1], "reuse_dump") == 0 ? open_dump("9-") : -1, strcmp(argv[1], "reuse_late") == 0, code, end / 3);
		return 0;
	}
	if (argc > 1 && strcmp(argv[1], "dump") == 0)
		write_dump(open_dump(""), code, "made_by_dump");
	else if (argc > 1 && strcmp(argv[1], "map") == 0)
		write_map(code, "made_by_map", "w");
	while (clock() < end)
		((void (*)(void))(uintptr_t)code)();
	return 0;
}
END
gcc -O1 -g jit.c -o jit || fail "jit.c does not compile"

names_its_code() {
	case $1 in
	map) [[ -s /tmp/perf-$pid.map ]] ;;
	dump) grep -q "jit-$pid.dump" "/proc/$pid/maps" ;;
	esac
}

for kind in map dump; do
	run 0 kelvin record -o "$kind.pb.gz" -- ./jit "$kind" 500
	says_not stderr "made at run time"
	at_least "$(share "$kind.pb.gz" ";main;made_by_${kind}[ ;]")" 90 "share of the code that a $kind names"
	start ./jit "$kind"
	wait_until "./jit has named its code" names_its_code "$kind"
	record_enough 100 -p "$pid" -o "$kind.pb.gz"
	at_least "$(share "$kind.pb.gz" ";main;made_by_${kind}[ ;]")" 90 "share of the code that a $kind names, attached"
	kill "$pid"
	grep -ls made_by_map /tmp/perf-*.map | xargs -r rm -f || true
done

# Where code takes the place of other code, the time of a sample tells which of them ran: the first third is that of the one. The name of
# the dump has a thread's number too, as JavaScriptCore gives it.
for kind in map dump; do
	run 0 kelvin record -o "reuse_$kind.pb.gz" -- ./jit "reuse_$kind" 900
	grep -ls early_function /tmp/perf-*.map | xargs -r rm -f || true
	[[ $kind = map ]] || says_not stderr "one after another"
	at_least "$(share "reuse_$kind.pb.gz" ";main;.*early_function[ ;]")" 28 "share of the code that a $kind says was replaced"
	at_least "$(share "reuse_$kind.pb.gz" ";main;.*later_function[ ;]")" 60 "share of the code that took its place by a $kind"
done

# Lines that are written when the code has run for long have no time, which is said.
run 0 kelvin record -o late.pb.gz -- ./jit reuse_late 300
grep -ls early_function /tmp/perf-*.map | xargs -r rm -f || true
says stderr '^([89][0-9]|100) % of the time is in code made at run time where different functions stood one after another, and nothing says when'
at_least "$(share late.pb.gz ";main;.*later_function[ ;]")" 90 "share of the code that stands there last"

# A map that was there before the process names other code than its own.
cat >earlier <<'END'
#!/bin/sh
printf '0 ffffffffffff of_an_earlier_process\n' >/tmp/perf-$$.map
touch -d yesterday /tmp/perf-$$.map
echo $$ >earlier.pid
exec ./jit none 500
END
chmod +x earlier
run 0 kelvin record -o earlier.pb.gz -- ./earlier
rm -f "/tmp/perf-$(<earlier.pid).map"
says stderr '^/tmp/perf-[0-9]*\.map names nothing: it is older than the process of that pid'
run 0 kelvin report earlier.pb.gz --folded -
says_not stdout of_an_earlier_process

# A map that the program before it wrote under the same pid, a moment ago, does so too.
cat >before <<'END'
#!/bin/sh
printf '0 ffffffffffff of_the_program_before\n' >/tmp/perf-$$.map
sleep 0.1
echo $$ >before.pid
exec ./jit none 500
END
chmod +x before
run 0 kelvin record -o before.pb.gz -- ./before
rm -f "/tmp/perf-$(<before.pid).map"
says stderr '^/tmp/perf-[0-9]*\.map names nothing: it is older than the process of that pid'
says stderr '^([5-9][0-9]|100) % of the samples pass through code that this file would name'
run 0 kelvin report before.pb.gz --folded -
says_not stdout of_the_program_before

run 0 kelvin record -o none.pb.gz -- ./jit none 500
says stderr '^([5-9][0-9]|100) % of the time passes through functions made at run time that have no names: '
