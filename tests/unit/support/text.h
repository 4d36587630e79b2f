/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "tests/unit/support/unit_test.h"

#include <stdarg.h>
#include <stdio.h>

/* A text that tests make of lines, such as folded stacks. It is large: on the heap. */
struct text {
	char bytes[1 << 17];
	size_t size;
};

__attribute__((format(printf, 2, 3))) static inline void add_line(struct text *text, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	text->size += (size_t)vsnprintf(text->bytes + text->size, sizeof(text->bytes) - text->size, format, args);
	va_end(args);
	assert_true(text->size < sizeof(text->bytes));
}
