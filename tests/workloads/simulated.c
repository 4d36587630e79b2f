/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program whose calls are known exactly: longjmp() out of nested calls, deep recursion, handlers on both kinds of
 * stacks that return or jump, threads, coroutines, processes. It has no arguments, and prints nothing.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#include <valgrind/callgrind.h>

#define APART __attribute__((noinline, noclone))

enum { STACK_BYTES = 65536, JUMPS = 100, SIGNALS = 10, DEPTH = 100000, THREADS = 3, SWITCHES = 50 };

static volatile int sum;
static jmp_buf jump_target;
static sigjmp_buf signal_target;
static ucontext_t main_context, first_context, second_context;
static char first_stack[STACK_BYTES], second_stack[STACK_BYTES], signal_stack[STACK_BYTES];

APART static void work(int times)
{
	for (int i = 0; i < times; i++)
		sum++;
}

APART static void afterwards(void)
{
	work(1000);
}

APART static void inner(void)
{
	sum++;
	longjmp(jump_target, 1);
}

APART static void middle(void)
{
	inner();
	sum++;
}

APART static void outer(void)
{
	middle();
	sum++;
}

APART static void jumps(void)
{
	for (volatile int i = 0; i < JUMPS; i++) {
		if (!setjmp(jump_target))
			outer();
	}
	afterwards();
}

APART static int recurse(int depth)
{
	int result = depth == 0 ? 0 : recurse(depth - 1) + 1;

	sum++;
	return result;
}

static void handle(int number)
{
	(void)number;
	work(10);
}

static void handle_and_jump(int number)
{
	(void)number;
	work(10);
	siglongjmp(signal_target, 1);
}

/* A write where there is nothing, which the handler jumps out of. */
APART static void fault(void)
{
	if (!sigsetjmp(signal_target, 1))
		*(volatile int *)(uintptr_t)8 = 1;
}

APART static void signals(int flags)
{
	struct sigaction action = { .sa_handler = handle, .sa_flags = flags };

	sigaction(SIGUSR1, &action, NULL);
	action.sa_handler = handle_and_jump;
	sigaction(SIGSEGV, &action, NULL);
	for (volatile int i = 0; i < SIGNALS; i++) {
		raise(SIGUSR1);
		fault();
	}
	afterwards();
}

APART static void *thread(void *unused)
{
	work(1000);
	return unused;
}

static void first_coroutine(void)
{
	for (int i = 0; i < SWITCHES; i++) {
		work(10);
		swapcontext(&first_context, &second_context);
	}
}

static void second_coroutine(void)
{
	for (int i = 0; i < SWITCHES; i++) {
		work(10);
		swapcontext(&second_context, &first_context);
	}
}

APART static void coroutines(void)
{
	getcontext(&first_context);
	first_context.uc_stack = (stack_t){ .ss_sp = first_stack, .ss_size = STACK_BYTES };
	first_context.uc_link = &main_context;
	makecontext(&first_context, first_coroutine, 0);
	getcontext(&second_context);
	second_context.uc_stack = (stack_t){ .ss_sp = second_stack, .ss_size = STACK_BYTES };
	second_context.uc_link = &main_context;
	makecontext(&second_context, second_coroutine, 0);
	swapcontext(&main_context, &first_context);
	afterwards();
}

APART static void processes(void)
{
	if (fork() == 0) {
		work(12345);
		_exit(0);
	}
	wait(NULL);
	if (vfork() == 0) {
		execl("/nowhere/true", "true", (char *)NULL);
		execl("/bin/true", "true", (char *)NULL);
		_exit(1);
	}
	wait(NULL);
}

/* A file that can be executed, as far as its rights say, but is no program. */
APART static void no_program(void)
{
	char path[] = "/tmp/kelvin-simulated-XXXXXX";
	int descriptor = mkstemp(path);

	if (write(descriptor, "\177ELF", 4) == 4 && fchmod(descriptor, 0700) == 0) {
		close(descriptor);
		execl(path, path, (char *)NULL);
	}
	unlink(path);
	afterwards();
}

int main(void)
{
	stack_t stack = { .ss_sp = signal_stack, .ss_size = STACK_BYTES };
	pthread_t threads[THREADS];

	sigaltstack(&stack, NULL);
	jumps();
	signals(0);
	signals(SA_ONSTACK);
	recurse(DEPTH);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, thread, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	coroutines();
	processes();
	no_program();
	CALLGRIND_DUMP_STATS_AT("before");
	afterwards();
	CALLGRIND_DUMP_STATS_AT("one");
	recurse(DEPTH / 4);
	CALLGRIND_ZERO_STATS;
	CALLGRIND_STOP_INSTRUMENTATION;
	afterwards();
	CALLGRIND_START_INSTRUMENTATION;
	afterwards();
	return 0;
}
