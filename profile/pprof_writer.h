/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/pprof_format.h"
#include "profile/pprof_message.h"

struct pprof_labels {
	Pprof__Label **labels;
	size_t count;
};

/*
 * Writing pprof, shared by its parts: pprof's own tables and samples (pprof_write.c), and what only Kelvin reads
 * (pprof_write_extension.c). One arena holds everything that the message points to; it is freed when the bytes are
 * made. Samples have one of their own, some at a time. `ok` is sticky.
 *
 * A message holds the entries of each table from `from` on: all entries for a profile in one piece, the new ones for an
 * increment (increments.c).
 */
struct pprof_writer {
	const struct profile *profile;
	struct profile_written *from;              /* all 0 for a profile in one piece */
	const struct profile_recording *recording; /* for an increment; NULL: the profile is written in one piece */
	struct arena arena;
	Pprof__Profile message;
	/* The five orders are NULL in an increment, which keeps the order of ids. */
	uint32_t *mapping_order;            /* [written position] mapping id */
	uint32_t *mapping_positions;        /* [mapping id] written position */
	uint32_t *sample_order;             /* [written position] sample id */
	uint32_t *sample_positions;         /* [sample id] written position */
	uint32_t *stack_positions;          /* [stack id] index in the table of stacks; 0: not in it */
	struct pprof_labels *thread_labels; /* [thread id] */
	/* [class] of samples that wait; NULL: the profile has none */
	Pprof__Label *wait_labels[PROFILE_WAIT_COUNT];
	struct buffer columns[PPROF_COLUMNS]; /* [PPROF_COLUMN()] packed numbers */
	bool ok;
};

/* Room for `count` items of `size` bytes; NULL, and `ok` false, when there is none. */
void *pprof_take(struct pprof_writer *w, size_t count, size_t size);

/* Pointers to `count` messages of `size` bytes each; the caller runs their init. */
void **pprof_take_messages(struct pprof_writer *w, size_t count, size_t size);

/* Append a number to a column, which stands at PPROF_COLUMN(). */
static inline void pprof_append(struct pprof_writer *w, size_t column, uint64_t number)
{
	buffer_append_varint(&w->columns[column], number);
}

static inline void pprof_append_zigzag(struct pprof_writer *w, size_t column, int64_t number)
{
	buffer_append_zigzag(&w->columns[column], number);
}

static inline uint32_t pprof_mapping_at(const struct pprof_writer *w, size_t position)
{
	return w->mapping_order ? w->mapping_order[position] : (uint32_t)position;
}

static inline uint32_t pprof_sample_at(const struct pprof_writer *w, size_t position)
{
	return w->sample_order ? w->sample_order[position] : (uint32_t)position;
}

/* Returns whether this message is the first of its file. Fields that a file holds only once are written in it. */
static inline bool pprof_is_first(const struct pprof_writer *w)
{
	return w->from->messages == 0;
}

/*
 * Makes the profile's message and appends it to `out`. The caller sets the profile, `from` and, for an increment,
 * `recording` in `w`; all else is 0.
 */
COMMON_MUST_CHECK
bool pprof_write_message(struct pprof_writer *w, struct buffer *out, struct error *err);

/* Called after the tables are made, whose orders it uses. */
void pprof_write_extension(struct pprof_writer *w);

/* Writes locks and releases, and the stacks of these where no samples refer to stacks (pprof_waits.c). */
void pprof_write_waits(struct pprof_writer *w);

/* Writes source files, their texts, and the files of lines (pprof_sources.c). */
void pprof_write_sources(struct pprof_writer *w);
/* Writes the code of functions (pprof_code.c). */
void pprof_write_code(struct pprof_writer *w);

/* Writes requests (pprof_requests.c). */
void pprof_write_requests(struct pprof_writer *w, Pprof__Extension *out);
