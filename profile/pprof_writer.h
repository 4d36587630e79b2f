/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/pprof_format.h"

#include "pprof.pb-c.h"

/*
 * Writing pprof, shared by its parts: pprof's own tables and samples (pprof_write.c), what only Kelvin reads
 * (pprof_write_extension.c). Everything the message points to lies in one arena, freed when the bytes are made. `ok` is sticky.
 */
struct pprof_writer {
	const struct profile *profile;
	struct arena arena;
	Pprof__Profile message;
	uint32_t *mapping_order;       /* [written position] mapping id */
	uint32_t *mapping_positions;   /* [mapping id] written position */
	uint32_t *sample_order;        /* [written position] sample id */
	uint32_t *sample_positions;    /* [sample id] written position */
	Pprof__Label ***thread_labels; /* [thread id] */
	struct buffer event_time_deltas, event_samples, facts;
	bool ok;
};

/* Room for `count` items of `size` bytes; NULL, and `ok` false, when there is none. */
void *pprof_take(struct pprof_writer *w, size_t count, size_t size);

/* Pointers to `count` messages of `size` bytes each; the caller runs their init. */
void **pprof_take_messages(struct pprof_writer *w, size_t count, size_t size);

/* After the tables: it follows their orders. */
void pprof_write_extension(struct pprof_writer *w);
