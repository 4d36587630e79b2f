#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Code that lies in memory in place of its file: PHP and node copy theirs into huge pages. What is a copy has the file's names and
# unwind information; what only lies at the same place has not. Code that is mapped from a file without a name is code made at run time.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
needs gcc
cat >move.c <<'END'
#include <string.h>
#include <sys/mman.h>

/* push %rbp; mov %rsp,%rbp; mov $100000,%ecx; 1: dec %ecx; jnz 1b; pop %rbp; ret */
static const unsigned char spin[] = { 0x55, 0x48, 0x89, 0xe5, 0xb9, 0xa0, 0x86, 1, 0, 0xff, 0xc9, 0x75, 0xfc, 0x5d, 0xc3 };

/* In a library of its own, for the code that it replaces cannot do it. `other`: a function that becomes another one. */
void move(char *start, size_t size, void *other)
{
	char *copy = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(copy, start, size);
	mmap(start, size, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	memcpy(start, copy, size);
	if (other)
		memcpy(other, spin, sizeof(spin));
	mprotect(start, size, PROT_READ | PROT_EXEC);
}
END
cat >moved.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void move(char *start, size_t size, void *other);
static volatile unsigned long sink;

__attribute__((noinline)) void work(void)
{
	for (int i = 0; i < 100000; i++)
		sink += (unsigned long)i;
}

__attribute__((noinline)) void middle(void)
{
	work();
	sink++;
}

/* For how many milliseconds of CPU time it runs, and whether a function becomes another one. */
int main(int argc, char **argv)
{
	unsigned long from, to, start = 0, end = 0, here = (unsigned long)(void *)main;
	FILE *maps = fopen("/proc/self/maps", "r");
	clock_t until = CLOCKS_PER_SEC / 1000 * atoi(argv[1]);
	char line[512];

	while (fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx", &from, &to) == 2 && from <= here && here < to) {
			start = from;
			end = to;
		}
	move((char *)start, end - start, argc > 2 ? work : NULL);
	while (clock() < until)
		middle();
	return 0;
}
END
{ gcc -O1 -g -shared -fPIC move.c -o libmove.so && gcc -O1 -g moved.c -o moved ./libmove.so; } || fail "moved.c does not compile"

run 0 kelvin record -o command.pb.gz -- ./moved 500
at_least "$(share command.pb.gz '^moved;_start;.*;main;middle;work')" 90 "share of copied code"
start ./moved 100000
record_enough 100 -p "$pid" -o attached.pb.gz
at_least "$(share attached.pb.gz '^moved;_start;.*;main;middle;work')" 90 "share of code that was copied before"
says_not stderr 'without names|no names|unnamed'
stop "$pid"
start ./moved 100000 other
record_enough 100 -p "$pid" -o other.pb.gz
at_least "$(share other.pb.gz ';main;middle;')" 90 "share of what a copied function calls"
at_most "$(share other.pb.gz ';work(;| )')" 0 "share of a function that has become another"
stop "$pid"

# Written through one mapping, run through another.
cat >twice.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static const unsigned char spin[] = { 0x55, 0x48, 0x89, 0xe5, 0xb9, 0xa0, 0x86, 1, 0, 0xff, 0xc9, 0x75, 0xfc, 0x5d, 0xc3 };

int main(void)
{
	char name[] = "twiceXXXXXX", path[64];
	int fd = mkstemp(name);
	void *code;
	FILE *map;

	if (unlink(name) != 0 || write(fd, spin, sizeof(spin)) < 0 || ftruncate(fd, 4096) != 0)
		return 1;
	code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	map = fopen(path, "w");
	fprintf(map, "%lx %zx made_by_map\n", (unsigned long)code, sizeof(spin));
	fclose(map);
	while (clock() < CLOCKS_PER_SEC / 2)
		((void (*)(void))code)();
	return 0;
}
END
gcc -O1 -g twice.c -o twice || fail "twice.c does not compile"
run 0 kelvin record -o twice.pb.gz -- ./twice
grep -ls made_by_map /tmp/perf-*.map | xargs -r rm -f
at_least "$(share twice.pb.gz ';main;made_by_map')" 90 "share of code in a file that was deleted"
says_not stderr 'without names|no names|unnamed'

# Code that is moved by mremap(2), of which the kernel does not tell: to a free place, and over code that ran before.
cat >remapped.c <<'SOURCE'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static void run_for(void (*function)(void), int ms)
{
	clock_t end = clock() + CLOCKS_PER_SEC / 1000 * ms;

	while (clock() < end)
		function();
}

static char *page_of(void *function)
{
	return (char *)((uintptr_t)function & ~4095ul);
}

int main(int argc, char **argv)
{
	void *first = dlsym(dlopen("./libfirst.so", RTLD_NOW), "run_first");
	void *second = dlsym(dlopen("./libsecond.so", RTLD_NOW), "run_second");
	char *from = page_of(second), *to = page_of(first);

	run_for((void (*)(void))first, 200);
	if (argc > 1 && strcmp(argv[1], "free") == 0)
		to = (char *)0x30000000;
	if (mremap(from, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, to) != to)
		return 1;
	run_for((void (*)(void))(to + ((char *)second - from)), 1000);
	/* Their destructors are not where they were. */
	_exit(0);
}
SOURCE
for name in first second; do
	printf 'void run_%s(void) { for (volatile int i = 0; i < 100000; i++); }\n' "$name" >"$name.c"
	gcc -O1 -g -shared -fPIC "$name.c" -o "lib$name.so" || fail "$name.c does not compile"
done
gcc -O1 -g remapped.c -o remapped || fail "remapped.c does not compile"
run 0 kelvin record -o free.pb.gz -- ./remapped free
at_least "$(share free.pb.gz 'run_second')" 75 "share of code that was moved to a free place"
says_not stderr 'no mapping|moved other code'
run 0 kelvin record -o over.pb.gz -- ./remapped over
at_least "$(share over.pb.gz 'run_second')" 40 "share of code that was moved over other code"
says stderr '^up to [0-9.]+ % of the samples have the names of code that was there before: a program moved other code to its place'
