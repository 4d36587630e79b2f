/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/error.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Interned strings: equal strings have equal ids. Ids count up from 0 in the order of addition; id 0 is the empty
 * string. A string may hold any bytes, NUL included; a NUL follows its last byte. Strings never move. Not thread-safe.
 * `max_bytes` caps the sum of all strings: ERROR_LIMIT. No memory ends the process, or is ERROR_MEMORY
 * (common/memory.h).
 */
struct string_table; /* opaque */

COMMON_MUST_CHECK
bool string_table_create(size_t max_bytes, struct string_table **table, struct error *err);
struct string_table *string_table_begin(size_t max_bytes); /* no memory ends the process */
void string_table_destroy(struct string_table *table);

COMMON_MUST_CHECK
bool string_table_add(struct string_table *table, const char *bytes, size_t size, uint32_t *id, struct error *err);

/*
 * Does the same and returns the id, for a table whose cap is beyond all memory: no memory ends the process, as does
 * more than the cap.
 */
uint32_t string_table_enter(struct string_table *table, const char *bytes, size_t size);

/* Adds formatted text, of which the first 1,023 bytes are kept. */
COMMON_MUST_CHECK
__attribute__((format(printf, 3, 0))) bool string_table_add_text(
	struct string_table *table, uint32_t *id, const char *format, va_list args, struct error *err);

/* The same as string_table_enter() does. */
__attribute__((format(printf, 2, 0))) uint32_t string_table_enter_text(
	struct string_table *table, const char *format, va_list args);

/* The id of a string, or UINT32_MAX if the table does not have it. */
uint32_t string_table_find(const struct string_table *table, const char *bytes, size_t size);

/* Borrowed until the table is destroyed. `id` must be one of the table. */
const char *string_table_get(const struct string_table *table, uint32_t id);
size_t string_table_size(const struct string_table *table, uint32_t id);

uint32_t string_table_count(const struct string_table *table);
