/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/listing/listing.h"
#include "diff/listing/text.h"

/*
 * The texts of one side's files, each found once. Lines that the profile has kept come first; then whole files, by the
 * places in the order of enum listing_place. A file that has the MD5 which the profile knows is the one; if none has,
 * the first that is there is taken, and may differ.
 */
struct listing_source {
	struct text text;
	enum listing_place place; /* LISTING_NOWHERE: there is none */
	enum profile_source_proof proof;
};

struct sources_entry {
	struct listing_source kept, file;
	bool has_asked; /* for the file */
};

struct listing_sources {
	const struct profile *profile; /* borrowed, as `opener` and `strings` */
	enum diff_side side;
	const struct listing_opener *opener; /* NULL: there are kept lines only */
	struct string_table *strings;        /* of the listing */
	struct sources_entry **entries;      /* owned */
	size_t entry_count, entry_capacity;
	struct hash_map by_path; /* string of the listing to entry */
	size_t bytes;            /* of all files that were read */
};

/* The state of a file, beside its path. */
struct sources_file {
	uint32_t path;        /* string of the listing */
	uint32_t line;        /* that the text must have */
	const char *build_id; /* of the binary that has code of it; "" */
	bool is_script;       /* nothing was built: the program was started with the text */
};

void sources_init(struct listing_sources *sources, const struct profile *profile, enum diff_side side,
	const struct listing_opener *opener, struct string_table *strings);
void sources_deinit(struct listing_sources *sources);

/* Finds a text that has the line; `*source` NULL: there is none. It is borrowed. */
COMMON_MUST_CHECK
bool sources_find(struct listing_sources *sources, const struct sources_file *file,
	const struct listing_source **source, struct error *err);
