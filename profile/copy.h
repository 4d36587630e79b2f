/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/model.h"

/*
 * Copies the tables of one profile into another, where equal entries become one. Merging takes over all of them;
 * profiles of phases (phases.c) and of selections (selection.c) take those that their stacks need. Copied in this
 * order: profile_copy_init(), profile_copy_locations(), profile_copy_stacks(); threads, locks and circumstances at any
 * time.
 */
struct profile_copy {
	struct profile *into;       /* borrowed */
	const struct profile *from; /* borrowed */
	bool fresh;                 /* `into` was empty, so it takes over what is of the whole profile */
	/* [id in `from`] id in `into`; owned. Ids of what was not copied are 0 */
	uint32_t *strings, *mappings, *functions, *locations, *stacks;
	uint32_t values[PROFILE_MAX_VALUE_TYPES]; /* [value type of `from`] value type of `into` */
	uint32_t first_lock;                      /* id in `into` of the first lock of `from` */
};

/*
 * Copies strings, mappings and the source, and matches value types by type and unit (ERROR_FORMAT if they do not
 * match); an empty profile takes over those of `from`. profile_copy_deinit() must be called in any case.
 */
COMMON_MUST_CHECK
bool profile_copy_init(struct profile_copy *copy, struct profile *into, const struct profile *from, struct error *err);
void profile_copy_deinit(struct profile_copy *copy);

/* Copies locations and their functions. `chosen` ([location]; NULL: all) says which. */
COMMON_MUST_CHECK
bool profile_copy_locations(struct profile_copy *copy, const bool *chosen, struct error *err);

/* Does the same for one function and one location, whose functions have been copied. */
COMMON_MUST_CHECK
bool profile_copy_function(struct profile_copy *copy, size_t id, struct error *err);
COMMON_MUST_CHECK
bool profile_copy_location(struct profile_copy *copy, size_t id, struct error *err);

/* Returns a line of `from` as `into` has it. Its function has been copied. */
struct profile_line profile_copied_line(const struct profile_copy *copy, const struct profile_line *line);

/* Copies stacks whose locations have been copied. `chosen` ([stack]; NULL: all) has the parent of each that it has. */
COMMON_MUST_CHECK
bool profile_copy_stacks(struct profile_copy *copy, const bool *chosen, struct error *err);

/* Returns a run of `from` as `into` has it. */
struct profile_run profile_copied_run(const struct profile_copy *copy, size_t id);

/* Finds the thread of `into` that is thread `id` of `from`, in a run of `into`. */
COMMON_MUST_CHECK
bool profile_copy_thread(struct profile_copy *copy, uint32_t id, uint32_t run, uint32_t *thread, struct error *err);

/* Copies all locks. */
COMMON_MUST_CHECK
bool profile_copy_locks(struct profile_copy *copy, struct error *err);

/*
 * Copies all requests, into runs from `first_run` on. Those of a profile that something else counted are not added: it
 * is then not known how much work was done.
 */
COMMON_MUST_CHECK
bool profile_copy_requests(struct profile_copy *copy, uint32_t first_run, struct error *err);

/* Adds quality, verification and notes, and keeps the facts and labels that both have. */
void profile_copy_circumstances(struct profile_copy *copy);
