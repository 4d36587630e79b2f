/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "failing_malloc.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

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
