/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "symbolize/symbolize.h"

/*
 * The lines of the source files that are to be kept, and with whose rights and where each file is read. Made from a
 * profile whose locations are named; nothing is opened.
 */

/*
 * The place from which a file is read, with whose rights and in which file system: what the processes that were sampled
 * in it have in common.
 */
struct source_place {
	uint64_t tree;    /* in_root_tree_of() the processes; 0: they have different ones, or it is not known */
	int64_t start_ns; /* before which they began, since 1970 */
	uint32_t user;
	bool is_user_known;
	bool has_stayed;    /* they have been this user's for all their life (struct profile_process) */
	bool is_root_built; /* all code that has such lines is of binaries that are root's */
};

/* Lines of a file that are in one function. */
struct source_range {
	uint64_t weight;      /* samples */
	uint32_t definition;  /* line where the function is defined; 0: not known */
	uint32_t first, last; /* lines with samples */
	bool is_window;       /* code of another function: only the lines around are kept */
};

struct source_wanted {
	uint32_t path;    /* string of the profile, as functions have it */
	char *name;       /* owned: its absolute path in the file system of the place */
	uint64_t weight;  /* of its most sampled range */
	int64_t built_ns; /* a file that has not changed since then is the one that was built; 0: not known */
	struct source_place place;
	struct source_range *ranges; /* in struct source_plan */
	size_t range_count;
};

struct source_plan {
	struct source_wanted *files; /* owned: most sampled first */
	struct source_range *ranges; /* owned: by file, of a file most sampled first */
	size_t file_count, range_count;
	size_t embedded_functions; /* whose text the profile has from debug information: their files are not read */
};

COMMON_MUST_CHECK
bool source_plan_make(struct source_plan *plan, struct profile *profile, const struct profile_symbols *symbols,
	const struct symbolize_options *options, struct error *err);
void source_plan_deinit(struct source_plan *plan);
