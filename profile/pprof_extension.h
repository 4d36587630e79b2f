/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/pprof_wire.h"

/* Field numbers of pprof.proto's Extension, which holds what a pprof file of Kelvin has beside pprof's own fields. */
enum {
	PPROF_VERSION = 1,
	PPROF_MAPPING_KIND = 2,
	PPROF_MAPPING_DELETED = 3,
	PPROF_FUNCTION_ORIGIN = 4,
	PPROF_FUNCTION_ORIGIN_RULE = 5,
	PPROF_FUNCTION_NAME_SOURCE = 6,
	PPROF_FUNCTION_FINGERPRINT = 7,
	PPROF_FUNCTION_MODULE = 8,
	PPROF_RUN = 9,
	PPROF_THREAD = 10,
	PPROF_SAMPLE_THREAD = 11,
	PPROF_QUALITY = 12,
	PPROF_FACTS = 13,
	PPROF_HAS_TIMELINE = 14,
	PPROF_RUN_EVENTS = 15,
	PPROF_EVENT_TIME_DELTA = 16,
	PPROF_EVENT_SAMPLE = 17,
	PPROF_TIME_UNIT = 18,
	PPROF_DEFAULT_VALUE_TYPE = 19,
	PPROF_COUNTS_OF = 20,
	PPROF_KERNEL_TEXT = 21,
	PPROF_SUM_SAMPLE = 22,
	PPROF_SUM_VALUE = 23,
	PPROF_STACK_PARENT = 24,
	PPROF_STACK_LOCATION = 25,
	PPROF_SAMPLE_STACK = 26,
	PPROF_VERIFICATION = 27,
	PPROF_WEIGHTED_EVENT = 28,
	PPROF_EVENT_WEIGHT = 29,
	PPROF_LOCK_NAME = 30,
	PPROF_LOCK_MODULE = 31,
	PPROF_LOCK_PID = 32,
	PPROF_RELEASE_STACK = 33,
	PPROF_RELEASE_LOCK = 34,
	PPROF_RELEASE_RELEASER = 35,
	PPROF_RELEASE_WEIGHT = 36,
	PPROF_LABELS = 37,
	PPROF_WORK = 38,
	PPROF_EXCHANGES_RUN = 39,
	PPROF_EXCHANGES_PID = 40,
	PPROF_EXCHANGES_KIND = 41,
	PPROF_EXCHANGES_PROCESS_NAME = 42,
	PPROF_EXCHANGES_COUNT = 43,
	PPROF_EXCHANGES_CONNECTIONS = 44,
	PPROF_EXCHANGES_RECEIVED = 45,
	PPROF_EXCHANGES_SENT = 46,
	PPROF_READING_EXCHANGES = 47,
	PPROF_READING_TIME = 48,
	PPROF_READING_COUNT = 49,
	PPROF_LATENCY_EXCHANGES = 50,
	PPROF_LATENCY_BUCKET = 51,
	PPROF_LATENCY_COUNT = 52,
	PPROF_EXTENSION_FIELDS = 53,
};

/* The positions of all fields of the extension. Files of other tools have no extension: all is empty then. */
struct pprof_extension {
	bool is_there;
	struct byte_reader
		/* [field] packed numbers, which are read along with the table that they belong to */
		columns[PPROF_EXTENSION_FIELDS];
	uint64_t numbers[PPROF_EXTENSION_FIELDS];     /* [field] */
	struct buffer joined[PPROF_EXTENSION_FIELDS]; /* owned: [field] a column that consists of several pieces */
	size_t run_count, thread_count;
};

/* Makes the extension of a file that has none. */
void pprof_extension_init(struct pprof_extension *extension);
void pprof_extension_deinit(struct pprof_extension *extension);

/*
 * Takes the bytes of one field, which are borrowed. When a field occurs again, a column is continued; any other field
 * is replaced.
 */
COMMON_MUST_CHECK
bool pprof_extension_add(struct pprof_extension *extension, struct byte_reader message, struct error *err);

/* ERROR_FORMAT if a column is malformed. Called when all columns have been read. */
COMMON_MUST_CHECK
bool pprof_extension_ok(const struct pprof_extension *extension, struct error *err);

/* Reads the numbers of a small message, by field; fields that are missing are 0. */
COMMON_MUST_CHECK
bool pprof_read_numbers(
	struct byte_reader message, uint64_t *numbers, size_t count, const char *what, struct error *err);

/* The next number of a column, or `absent` after its end: columns may be missing or shorter than their table. */
static inline uint64_t pprof_column_next(struct pprof_extension *extension, uint32_t field, uint64_t absent)
{
	struct byte_reader *column = &extension->columns[field];

	return column->pos < column->end ? pprof_varint(column) : absent;
}

static inline int64_t pprof_zigzag(uint64_t number)
{
	return (int64_t)(number >> 1) ^ -(int64_t)(number & 1);
}
