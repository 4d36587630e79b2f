/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/memory.h"

#include "common/checked.h"

#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct memory_end memory_printed_end = { .exit_code = 2 };

/* They are the process's, as its memory is: an allocation has no context that could tell. Set before threads start. */
static const struct memory_end *memory_own_end = &memory_printed_end;
static bool memory_is_checked;

void memory_set_end(const struct memory_end *end)
{
	memory_own_end = end ? end : &memory_printed_end;
}

void memory_set_checked(bool is_checked)
{
	memory_is_checked = is_checked;
}

static void memory_print_need(const struct memory_need *need, const char *advice)
{
	char text[1024];
	int size = snprintf(text, sizeof(text),
		"kelvin: out of memory: %llu more bytes were needed, beside %llu in use; %s\n",
		(unsigned long long)need->bytes, (unsigned long long)need->in_use,
		advice ? advice : "end other programs, or allow this one more (ulimit -v, the container's limit)");

	if (size > 0)
		(void)!write(STDERR_FILENO, text, (size_t)size < sizeof(text) ? (size_t)size : sizeof(text) - 1);
}

void memory_end(uint64_t bytes)
{
	const struct memory_end *end = memory_own_end;
	struct mallinfo2 heap = mallinfo2();
	struct memory_need need = { bytes ? bytes : 1, heap.uordblks + heap.hblkhd };

	if (end->need)
		*end->need = need;
	else if (!end->is_silent)
		memory_print_need(&need, end->advice);
	_exit(end->exit_code);
}

void memory_fail(uint64_t bytes)
{
	if (!memory_is_checked)
		memory_end(bytes);
}

void *memory_alloc(size_t bytes)
{
	void *memory = malloc(bytes ? bytes : 1);

	if (!memory)
		memory_end(bytes);
	return memory;
}

/* Returns the bytes of the items; as many as there never are if the product overflows. */
static size_t memory_product(size_t count, size_t item_bytes)
{
	uint64_t bytes;

	return checked_mul(count, item_bytes, &bytes) ? bytes : SIZE_MAX;
}

void *memory_zeroed(size_t count, size_t item_bytes)
{
	size_t bytes = memory_product(count, item_bytes);
	void *memory = bytes <= PTRDIFF_MAX ? calloc(bytes ? bytes : 1, 1) : NULL;

	if (!memory)
		memory_end(bytes);
	return memory;
}

void *memory_resize(void *memory, size_t count, size_t item_bytes)
{
	size_t bytes = memory_product(count, item_bytes);
	void *resized = bytes <= PTRDIFF_MAX ? realloc(memory, bytes ? bytes : 1) : NULL;

	if (!resized)
		memory_end(bytes);
	return resized;
}

char *memory_copy_text(const char *text, size_t size)
{
	size_t bytes = strnlen(text, size);
	char *copy = memory_alloc(bytes + 1);

	memcpy(copy, text, bytes);
	copy[bytes] = '\0';
	return copy;
}

char *memory_copy_string(const char *string)
{
	return memory_copy_text(string, SIZE_MAX - 1);
}

char *memory_print(const char *format, ...)
{
	va_list args, again;
	char *text;
	int size;

	va_start(args, format);
	va_copy(again, args);
	size = vsnprintf(NULL, 0, format, args);
	va_end(args);
	text = memory_alloc((size_t)(size < 0 ? 0 : size) + 1);
	text[0] = '\0';
	vsnprintf(text, (size_t)(size < 0 ? 0 : size) + 1, format, again);
	va_end(again);
	return text;
}
