#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Programs that say in unusual places how they are to be unwound: .eh_frame without its header, .debug_frame alone, frames too many or
# too large to be copied.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
needs gcc
cat >deep.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile unsigned long sink;

__attribute__((noinline)) int leaf(int n)
{
	for (int i = 0; i < 3000; i++)
		sink += (unsigned long)(i + n);
	return n;
}

__attribute__((noinline)) int descend(int depth)
{
	volatile char room[64];

	room[0] = (char)depth;
	return depth > 1 ? descend(depth - 1) + room[0] : leaf(depth);
}

int main(int argc, char **argv)
{
	while (clock() < CLOCKS_PER_SEC / 2) {
		for (int i = 0; i < 100; i++)
			descend(argc > 1 ? atoi(argv[1]) : 10);
	}
	return 0;
}
END
build() {
	gcc -O1 -g -fno-optimize-sibling-calls -fomit-frame-pointer "$@" deep.c
}

# whole OPTIONS OF THE PROGRAM...: percent of whole stacks, and the share of those that main leads to.
whole() {
	run 0 kelvin record -F 2991 -o whole.pb.gz -- "$@"
	sed -n 's/.* \([0-9]*\)[.0-9]* % whole stacks/\1/p' stderr
}

build -static -Wl,--no-eh-frame-hdr -o static 2>/dev/null || skip "no static programs can be linked here"
at_least "$(whole ./static 20)" 99 "whole stacks of a static program without .eh_frame_hdr"
at_least "$(share whole.pb.gz ';main;descend;descend;.*;leaf')" 85 "share below main without .eh_frame_hdr"

build -fno-asynchronous-unwind-tables -fno-unwind-tables -o debug_frame
at_least "$(whole ./debug_frame 20)" 99 "whole stacks of a program with .debug_frame alone"
at_least "$(share whole.pb.gz ';main;descend;descend;.*;leaf')" 85 "share below main by .debug_frame"

# It is said what would make them whole: the thread's stack begins where its whole stacks do.
build -o deep
run 0 kelvin record -F 2991 --call-graph dwarf,8192 -o cut.pb.gz -- ./deep 300
says stderr '^[0-9]+ % of the stacks are larger than their copies of 8192 bytes: of those whose size is known --call-graph dwarf,32768 would hold (100|9[0-9]) %.*; -g fp reads'
run 0 kelvin record -F 2991 --call-graph dwarf,8192 -o cut.pb.gz -- ./deep 10
says_not stderr 'larger than their copies'
at_least "$(whole ./deep 1400)" 90 "whole stacks of 1,400 frames"

# Chains of frame pointers pass over the caller of what has none.
run 0 kelvin record -F 2991 -g fp -o chain.pb.gz -- ./deep 10
says stderr 'stacks from frame pointers, (100|[89][0-9]) % of which leave out callers'
"$KELVIN" report chain.pb.gz >text
grep -qE 'stacks from frame pointers, [0-9.]+ % without a caller' text || fail "the report says nothing of what is left out"

# Code made at run time, without frame pointers: what it does behind its call says where its caller is (CPython's trampolines).
cat >trampoline.c <<'END'
#include <string.h>
#include <sys/mman.h>
#include <time.h>

static volatile unsigned long sink;

__attribute__((noinline)) int leaf(int n)
{
	for (int i = 0; i < 30000; i++)
		sink += (unsigned long)(i + n);
	return n;
}

/* mov %rdi,%rax; (push %rbx;) sub $8,%rsp; mov %rsi,%rdi; call *%rax; add $8,%rsp; (pop %rbx;) ret */
static const unsigned char plain[] = { 0x48, 0x89, 0xf8, 0x48, 0x83, 0xec, 8, 0x48, 0x89, 0xf7, 0xff, 0xd0, 0x48, 0x83, 0xc4, 8, 0xc3 };
static const unsigned char saving[] = { 0x48, 0x89, 0xf8, 0x53, 0x48, 0x83, 0xec, 16, 0x48, 0x89, 0xf7, 0xff, 0xd0, 0x48, 0x83, 0xc4,
	16, 0x5b, 0xc3 };

typedef int trampoline(int (*)(int), int);

__attribute__((noinline)) int middle(trampoline *call, int n)
{
	return call(leaf, n) + 1;
}

int main(void)
{
	unsigned char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(code, plain, sizeof(plain));
	memcpy(code + 64, saving, sizeof(saving));
	while (clock() < CLOCKS_PER_SEC / 2) {
		for (int i = 0; i < 100; i++)
			sink += (unsigned long)middle((trampoline *)code, 1) + (unsigned long)middle((trampoline *)(code + 64), 2);
	}
	return 0;
}
END
gcc -O1 -g -fomit-frame-pointer trampoline.c -o trampoline
at_least "$(whole ./trampoline)" 99 "whole stacks through code made at run time"
at_least "$(share whole.pb.gz ';main;middle;[^;]*;leaf')" 95 "share of stacks through code made at run time"

# A frame that is larger than any copy of a stack: its callers are read from the process.
cat >large.c <<'END'
#include <time.h>

static volatile unsigned long sink;

__attribute__((noinline)) int leaf(int n)
{
	for (int i = 0; i < 30000; i++)
		sink += (unsigned long)(i + n);
	return n;
}

__attribute__((noinline)) int work(int n)
{
	return leaf(n) + 1;
}

__attribute__((noinline)) int large(clock_t end)
{
	volatile char room[ROOM];

	for (room[0] = 0; clock() < end;) {
		for (int i = 0; i < 100; i++)
			room[0] += (char)work(1);
	}
	return room[0];
}

__attribute__((noinline)) int caller(clock_t end)
{
	return large(end) + 1;
}

int main(void)
{
	return caller(CLOCKS_PER_SEC / 2) & 0;
}
END
gcc -O1 -g -fomit-frame-pointer -DROOM=600000 large.c -o large
at_least "$(whole ./large)" 95 "whole stacks below a frame of 600 kB"
at_least "$(share whole.pb.gz ';main;caller;large;work;leaf')" 95 "share of stacks below a frame of 600 kB"

# The kernel stops copying at a page that was never touched.
gcc -O1 -g -fomit-frame-pointer -DROOM=28000 large.c -o untouched
at_least "$(whole ./untouched)" 95 "whole stacks below a frame of untouched pages"
at_least "$(share whole.pb.gz ';main;caller;large;work;leaf')" 95 "share of stacks below a frame of untouched pages"

# Programs with no unwind information at all, as Alpine's are in their C library: told by what their code does until it returns.
cat >silent.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static volatile unsigned long sink;

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

__attribute__((noinline)) void sort_names(void)
{
	enum { NAMES = 500 };
	char *names[NAMES];

	for (int i = 0; i < NAMES; i++) {
		names[i] = malloc(16 + (size_t)i % 64);
		snprintf(names[i], 16, "%x", (unsigned int)rand());
	}
	qsort(names, NAMES, sizeof(*names), compare);
	for (int i = 0; i < NAMES; i++)
		free(names[i]);
}

__attribute__((noinline)) void print_numbers(void)
{
	char text[128];

	for (int i = 0; i < 500; i++) {
		snprintf(text, sizeof(text), "%d %s %f", i, "number", i * 1.5);
		sink += strlen(text);
	}
}

__attribute__((noinline)) void work(clock_t end)
{
	while (clock() < end) {
		sort_names();
		print_numbers();
	}
}

int main(void)
{
	work(CLOCKS_PER_SEC / 2);
	return 0;
}
END
silent=(-O2 -fomit-frame-pointer -fno-asynchronous-unwind-tables -fno-unwind-tables)
gcc "${silent[@]}" silent.c -o silent
at_least "$(whole ./silent)" 99 "whole stacks of a program without unwind information"
at_least "$(share whole.pb.gz ';main;work;(sort_names|print_numbers)')" 97 "share of stacks of a program without unwind information"
needs musl-gcc
musl-gcc "${silent[@]}" silent.c -o silent_musl
at_least "$(whole ./silent_musl)" 97 "whole stacks of a program of musl"
at_least "$(share whole.pb.gz ';main;work;(sort_names|print_numbers)')" 95 "share of stacks of a program of musl"
musl-gcc "${silent[@]}" -static silent.c -o silent_static
at_least "$(whole ./silent_static)" 97 "whole stacks of a static program of musl"
at_least "$(share whole.pb.gz ';main;work;(sort_names|print_numbers)')" 95 "share of stacks of a static program of musl"
