/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "cli/captured.h"
#include "profile/profile.h"
#include "sampler/sampler.h"

/*
 * Sends the profiles of a watch to a store, one by one, by `kelvin push` in a child beside the one that records. What
 * was sent stands in the file `.sent` of the directory, a name a line behind the address; all other profiles are still
 * to be sent, also those of a watch before. A profile whose mark was lost is sent again, and the store, which knows it
 * by its id, has it once.
 *
 * After two failures in a row nothing is sent before watch_push_wake(). A profile that failed waits until all others
 * were tried, so that one which no store will have does not hold them up.
 */
struct watch_push {
	const char *address;          /* borrowed; NULL: nothing is sent */
	struct store_secrets secrets; /* which only the children have that send (captured.forgets) */
	struct watch_files sent;      /* sorted */
	struct watch_files failed;    /* in this life of the watch */
	struct captured child;
	struct watch_file file; /* that the child sends */
	unsigned int failures;  /* in a row */
	bool rests;
};

/* Moves the secrets out of the environment in any case. */
COMMON_MUST_CHECK
bool watch_push_begin(struct watch_push *push, const struct watch_place *place, const char *address, struct error *err);
void watch_push_deinit(struct watch_push *push);

/* Tells that there is a new profile. */
void watch_push_wake(struct watch_push *push);

/*
 * Takes the end of a child, and starts the next one. False: one has failed, and `why` tells it; it is the caller's to
 * deinitialize in any case.
 */
bool watch_push_go_on(
	struct watch_push *push, const struct watch_place *place, const sigset_t *mask, struct buffer *why);
