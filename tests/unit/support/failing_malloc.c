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

enum { DONE = 40, FAILED = 41, FAILED_OTHERWISE = 42, ENDED = 2 };

static void look_at_child(pid_t pid, int errors, size_t count, int *code)
{
	char said[1024] = "";
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(read(errors, said, sizeof(said) - 1) >= 0);
	close(errors);
	*code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	if (*code != DONE && *code != FAILED && *code != ENDED)
		fail_msg("without allocation %zu the child ended with status %d: %s", count, status, said);
	if (*code == ENDED && strncmp(said, "kelvin: out of memory: ", 23) != 0)
		fail_msg("without allocation %zu the child said: %s", count, said);
}

bool failing_malloc_in_child(void)
{
	int errors[2], code = ENDED;

	for (size_t count = 0; code != DONE; count += 1 + count / 64) {
		pid_t pid;

		assert_true(count < 100000);
		assert_int_equal(pipe(errors), 0);
		pid = fork();
		assert_true(pid >= 0);
		if (pid == 0) {
			dup2(errors[1], STDERR_FILENO);
			left_until_failure = count;
			return true;
		}
		close(errors[1]);
		look_at_child(pid, errors[0], count, &code);
	}
	return false;
}

void failing_malloc_end(bool ok, const struct error *err)
{
	_exit(ok ? DONE : err->code == ERROR_MEMORY ? FAILED : FAILED_OTHERWISE);
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
