/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "symbolize/dwarf.h"
#include "symbolize/placement.h"
#include "symbolize/symbolize.h"

/*
 * Resolved frames of one image as bytes: the form in which they are kept on disk (symbolize/cache.h) and in which a
 * confined child process hands them over (symbolize/naming.h). The bytes are foreign: reading them checks every number.
 * Numbers have the machine's byte order. A table of code made at run time has an address several times, if different
 * code stood there, in order of time.
 */
struct named_frames {
	uint32_t address_count, frame_count, string_bytes, source_directory, source_count;
	const uint64_t *addresses;          /* rising, or equal where `times` is not NULL */
	const struct placement_time *times; /* [address] when its code came to stand there; NULL: always */
	const uint32_t *first;              /* [address]: its first frame; and the end */
	const struct frame_record *records;
	const struct source_record *sources;
	const char *strings;
};

/* Reads the bytes, which are borrowed, aligned to 8, and must not change. False if they are no table. */
COMMON_MUST_CHECK
bool named_frames_init(struct named_frames *table, const void *bytes, size_t size);

/*
 * Finds the frames of an address: strings borrowed from the bytes, the array in the arena. Count 0: the table has none.
 */
COMMON_MUST_CHECK
bool named_frames_find(const struct named_frames *table, uint64_t address, struct arena *arena,
	struct symbolize_frames *frames, struct error *err);

/* Counts the entries of an address, and finds the first of them. */
size_t named_frames_entries_of(const struct named_frames *table, uint64_t address, size_t *first);

/* Reads the frames of one of them, as above, and its time. */
COMMON_MUST_CHECK
bool named_frames_entry(const struct named_frames *table, size_t entry, struct arena *arena,
	struct symbolize_frames *frames, struct placement_time *time, struct error *err);

/* The directory in which the main unit was compiled, borrowed; "" not known. */
const char *named_frames_source_directory(const struct named_frames *table);

/* Reads what is known of a source file (struct dwarf_source), up to table->source_count; false: that one is damaged. */
COMMON_MUST_CHECK
bool named_frames_source(const struct named_frames *table, size_t index, struct dwarf_source *source);

struct named_frames_entries {
	const struct named_frames *old;        /* its entries are written too; NULL: none */
	const uint64_t *addresses;             /* rising, or equal where `times` is not NULL; none is in `old` */
	const struct placement_time *times;    /* [address]; NULL: none; `old` has none either */
	const struct symbolize_frames *frames; /* [address]; those without frames are left out */
	size_t count;
	const char *source_directory;
	const struct dwarf_source *sources;
	size_t source_count;
	const struct named_frames *more_sources; /* those of this table are written too; NULL: none, or of `old` */
};

/*
 * Appends a table to `out`, which has a cap and a size that is a multiple of 8. Fails if memory runs out, ERROR_LIMIT
 * if the table is larger than the cap. Of texts of source files only those are written for which half of that suffices.
 */
COMMON_MUST_CHECK
bool named_frames_write(const struct named_frames_entries *entries, struct buffer *out, struct error *err);
