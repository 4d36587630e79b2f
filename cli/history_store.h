/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "cli/worker.h"
#include "diff/diff.h"
#include "profile/profile.h"

/*
 * The profiles of a history in a store that has sums of them: summaries are fetched before the process without rights
 * begins, and profiles of a change when that process asks its parent for them.
 */
struct history_store {
	struct store_address address;
	struct store *store; /* owned; used by the process with rights alone */
	int summaries;       /* owned: a file in memory, as store_fetch_summaries() has it; -1: none */
	/* The resources of the process without rights. */
	const struct summary_set *set;
	const struct worker *worker;
};

/*
 * Asks the store of that address. One that has no sums sends profiles instead, which are added to `fetched`; it is to
 * be deinitialized also after an error.
 */
COMMON_MUST_CHECK
bool history_store_open(const char *name, const struct store_secrets *secrets, struct history_store *store,
	struct store_profiles *fetched, struct error *err);
void history_store_deinit(struct history_store *store);

/* Answers history_store_profiles(): worker->answer, whose context is a struct history_store. */
int history_store_answer(void *context, const void *bytes, size_t size, struct error *err);

/* Adds the summaries to the set, which is borrowed from then on. */
COMMON_MUST_CHECK
bool history_store_read(struct history_store *store, struct summary_set *set, struct error *err);

/* Writes the profiles of some summaries, each behind its size as 8 bytes. */
COMMON_MUST_CHECK
bool history_store_profiles(const struct history_store *store, const size_t *summaries, size_t count,
	struct buffer *bytes, struct error *err);
