/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "failing_malloc.h"

#include "common/memory.h"
#include "tests/unit/support/unit_test.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Linked with --wrap: the code under test calls these, and __real_*() is libc's. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *pointer, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
char *__real_strdup(const char *string);
char *__real_strndup(const char *string, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *pointer, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
char *__wrap_strdup(const char *string);
char *__wrap_strndup(const char *string, size_t size);

static size_t left_until_failure = SIZE_MAX;

void failing_malloc_after(size_t count)
{
	left_until_failure = count;
	memory_set_checked(count != SIZE_MAX);
}

enum { DONE = 40, FAILED = 41, FAILED_OTHERWISE = 42 };

static _Noreturn void run_child(bool (*work)(void *context, struct error *err), void *context, size_t count, int errors)
{
	struct error err = { 0 };
	bool ok;

	dup2(errors, STDERR_FILENO);
	left_until_failure = count;
	ok = work(context, &err);
	_exit(ok ? DONE : err.code == ERROR_MEMORY ? FAILED : FAILED_OTHERWISE);
}

/* Runs the work in a child, and returns whether it needed no more memory. */
static bool child_succeeds(bool (*work)(void *context, struct error *err), void *context, size_t count)
{
	char said[1024] = "";
	int errors[2], status;
	pid_t pid;

	assert_int_equal(pipe(errors), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		run_child(work, context, count, errors[1]);
	close(errors[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(read(errors[0], said, sizeof(said) - 1) >= 0);
	close(errors[0]);
	if (!WIFEXITED(status) ||
		(WEXITSTATUS(status) != 2 && WEXITSTATUS(status) != DONE && WEXITSTATUS(status) != FAILED))
		fail_msg("without its allocation %zu the work ended with status %d: %s", count, status, said);
	if (WEXITSTATUS(status) == 2 && strncmp(said, "kelvin: out of memory: ", 23) != 0)
		fail_msg("without its allocation %zu the work said: %s", count, said);
	return WEXITSTATUS(status) == DONE;
}

size_t failing_malloc_ends(bool (*work)(void *context, struct error *err), void *context)
{
	size_t count = 0;

	while (!child_succeeds(work, context, count))
		assert_true(++count < 10000);
	return count;
}

static bool fails(void)
{
	if (left_until_failure == SIZE_MAX)
		return false;
	if (left_until_failure == 0)
		return true;
	left_until_failure--;
	return false;
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *pointer, size_t size)
{
	return fails() ? NULL : __real_realloc(pointer, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
	return fails() ? NULL : __real_aligned_alloc(alignment, size);
}

char *__wrap_strdup(const char *string)
{
	return fails() ? NULL : __real_strdup(string);
}

char *__wrap_strndup(const char *string, size_t size)
{
	return fails() ? NULL : __real_strndup(string, size);
}
