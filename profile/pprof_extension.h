/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/pprof_message.h"

/*
 * The fields that a pprof file of Kelvin has beside pprof's own. Files of other tools have no extension: all is empty
 * then.
 */
struct pprof_extension {
	bool is_there;
	Pprof__Extension numbers; /* the members that are numbers; of runs and threads, how many there are */
	/* [PPROF_COLUMN()] packed numbers, which are read along with the table that they belong to, or a message */
	struct byte_reader columns[PPROF_COLUMNS];
	struct buffer joined[PPROF_COLUMNS]; /* owned: [PPROF_COLUMN()] a column that consists of several pieces */
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

/* Sets the members of a small message. */
COMMON_MUST_CHECK
bool pprof_read_numbers(struct byte_reader bytes, ProtobufCMessage *message, const char *what, struct error *err);

/*
 * Returns the next number of a column, or `absent` after its end: columns may be missing or shorter than their table.
 */
static inline uint64_t pprof_column_next(struct pprof_extension *extension, size_t column_at, uint64_t absent)
{
	struct byte_reader *column = &extension->columns[column_at];

	return column->pos < column->end ? protobuf_varint(column) : absent;
}
