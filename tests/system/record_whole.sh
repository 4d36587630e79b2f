#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A stack is whole where it is proven to be: threads and coroutines of several kinds, to their first frame; and stacks of which nobody
# can know are open.
# STACKS | C, C++, Rust | glibc and musl, static and dynamic | functions, lines and inlined functions; coroutines up to their first function
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

can_sample
needs gcc

# whole PROGRAM...: percent of whole stacks.
whole() {
	run 0 kelvin record -F 991 -o whole.pb.gz -- "$@"
	sed -n 's/.* \([0-9]*\)[.0-9]* % whole stacks/\1/p' stderr
}

# Coroutines: of glibc, and of one's own, which begin at a return address of 0 and at one that nothing has called.
cat >coroutines.c <<'END_OF_C'
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

static volatile unsigned long sink;
static ucontext_t outside, inside;

__attribute__((noinline)) static void burn(int n)
{
	for (int i = 0; i < n; i++)
		sink += (unsigned long)i;
}

__attribute__((noinline)) static void body(void)
{
	burn(100000);
	sink++;
}

static void in_context(void)
{
	for (;;) {
		body();
		swapcontext(&inside, &outside);
	}
}

void switch_to(void **save, void *to);
__asm__(".text\n.globl switch_to\n.type switch_to, @function\nswitch_to:\n"
	"push %rbp\npush %rbx\npush %r12\npush %r13\npush %r14\npush %r15\nmov %rsp, (%rdi)\nmov %rsi, %rsp\n"
	"pop %r15\npop %r14\npop %r13\npop %r12\npop %rbx\npop %rbp\nret\n"
	".globl nowhere\nnop\nnowhere:\nud2\n");
extern char nowhere[];
static void *main_stack, *coroutine;

static void in_coroutine(void)
{
	for (;;) {
		body();
		switch_to(&coroutine, main_stack);
	}
}

static void prepare(void *first_return_address)
{
	void **stack = (void **)malloc(65536) + 8192 - 16;

	stack[7] = first_return_address;
	stack[6] = (void *)in_coroutine;
	coroutine = stack;
}

int main(int argc, char **argv)
{
	getcontext(&inside);
	inside.uc_stack.ss_sp = malloc(65536);
	inside.uc_stack.ss_size = 65536;
	makecontext(&inside, in_context, 0);
	prepare(strcmp(argv[argc - 1], "zero") == 0 ? NULL : strcmp(argv[argc - 1], "function") == 0 ? (char *)burn + 4 : nowhere);
	while (clock() < CLOCKS_PER_SEC / 2) {
		if (strcmp(argv[argc - 1], "context") == 0)
			swapcontext(&outside, &inside);
		else
			switch_to(&main_stack, coroutine);
	}
	return 0;
}
END_OF_C
gcc -O1 -g -fomit-frame-pointer coroutines.c -o coroutines
for kind in context zero trampoline; do
	at_least "$(whole ./coroutines "$kind")" 99 "whole stacks of a coroutine ($kind)"
	at_least "$(share whole.pb.gz 'in_co(ntext|routine);body;burn')" 95 "share of a coroutine ($kind)"
done

# One that lies in a function, where no call stands: it is no caller, and that the stack begins there is not proven.
at_most "$(whole ./coroutines function)" 5 "whole stacks of a coroutine (function)"
says stderr "end at in_coroutine; [0-9]+ return to code of .*/coroutines that has not called them"
at_least "$(share whole.pb.gz 'coroutines;in_coroutine;body;burn')" 90 "share of a coroutine (function)"

# Assembly that nothing describes, on another stack of its own: what stands on the first one above it may be called by a pointer.
cat >switched.c <<'END_OF_C'
#include <stdlib.h>
#include <time.h>

static volatile unsigned long sink;

__attribute__((noinline)) int leaf(int n)
{
	for (int i = 0; i < n; i++)
		sink += (unsigned long)i;
	return n;
}

/* Calls the function with the stack pointer that it is given, as Go calls C. */
int on_stack(int (*)(int), int, void *);
__asm__(".text\n.globl on_stack\n.type on_stack, @function\non_stack:\n"
	"mov %rdi, %rax\nmov %esi, %edi\nmov %rsp, %r12\nmov %rdx, %rsp\npush %r12\npush %r12\ncall *%rax\npop %r12\nmov %r12, %rsp\nret\n");

/* Its frame is passed over when the stack above it is scanned. */
__attribute__((noinline)) int hidden(void *top)
{
	return on_stack(leaf, 100000, top) + 1;
}

__attribute__((noinline)) int between(int (*call)(void *), void *top)
{
	return call(top) + 1;
}

int main(void)
{
	while (clock() < CLOCKS_PER_SEC / 2)
		sink += (unsigned long)between(hidden, (char *)malloc(16384) + 16384 - 1024);
	return 0;
}
END_OF_C
gcc -O1 -g -fomit-frame-pointer switched.c -o switched -ffixed-r12
at_most "$(whole ./switched)" 20 "whole stacks below a stack that was left"

needs musl-gcc
cat >threads.c <<'END_OF_C'
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static volatile unsigned long sink;

__attribute__((noinline)) static void burn(int n)
{
	for (int i = 0; i < n; i++)
		sink += (unsigned long)i;
}

static void handler(int signal_number)
{
	(void)signal_number;
	for (clock_t end = clock() + CLOCKS_PER_SEC / 1000; clock() < end;)
		burn(10000);
}

__attribute__((noinline)) static void *work(void *end)
{
	while (clock() < *(clock_t *)end)
		burn(10000);
	return NULL;
}

int main(void)
{
	clock_t half = CLOCKS_PER_SEC / 2, all = CLOCKS_PER_SEC;
	struct itimerval every = { { 0, 5000 }, { 0, 5000 } };
	pthread_t thread;

	signal(SIGPROF, handler);
	setitimer(ITIMER_PROF, &every, NULL);
	work(&half);
	pthread_create(&thread, NULL, work, &all);
	pthread_join(thread, NULL);
	return 0;
}
END_OF_C
for options in "" -static "-static -s"; do
	# shellcheck disable=SC2086
	musl-gcc -O1 $options threads.c -o threads
	at_least "$(whole ./threads)" 98 "whole stacks of threads of musl ($options)"
	at_least "$(share whole.pb.gz '(^|;)_start;')" 25 "share below _start of musl ($options)"
	at_least "$(share whole.pb.gz ';__restore_rt;')" 3 "share of signal handlers of musl ($options)"
	at_most "$(share whole.pb.gz 'setjmp;')" 0 "share that is named setjmp ($options)"
done
musl-gcc -O1 -static threads.c -o threads
run 0 kelvin record -F 991 -o whole.pb.gz -- ./threads
at_least "$(share whole.pb.gz '(^|;)__clone;start;work;burn')" 25 "share below __clone of musl"
at_least "$(share whole.pb.gz '(^|;)_start;libc_start_main_stage2;main;work;burn')" 20 "share below _start of musl"

# In the C library setjmp stands before what signal handlers return to, and has no size; nothing there has a name that is exported.
libc=$(realpath /lib/ld-musl-x86_64.so.1)
address=$(nm -D "$libc" | awk '$3 == "setjmp" { print $1 }')
trampoline=$(objdump -d --start-address=0x"$address" "$libc" | awk -F '[: \t]+' '/\$0xf,%rax/ { print $2; exit }')
run 0 kelvin symbolize --no-cache -p -e "$libc" "$trampoline" "$address"
[[ $(sed 's/.*: \([a-z_]*\) .*/\1/' stdout | tr '\n' ' ') == "__restore_rt setjmp " ]] || fail "other names: $(<stdout)"
