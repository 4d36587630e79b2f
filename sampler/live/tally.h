/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/profile.h"

/*
 * The requests of each process over time, from totals that are read again and again (profile/requests.h). A recording
 * of any length keeps a bounded number of readings: neighbours are added up, equally over its whole length, of a
 * process that has too many, and of all processes of the account that holds most where all have too many.
 */

enum { TALLY_NAME_BYTES = 16 };

/* Totals since the beginning. */
struct tally_totals {
	int32_t pid;
	uint32_t kind; /* the owner's own number of it */
	char name[TALLY_NAME_BYTES];
	uint64_t account; /* that pays for its readings: who does when the process is taken first */
	uint64_t count, connections, received_bytes, sent_bytes;
};

struct tally_reading {
	int64_t time_ns;
	uint64_t count; /* since the reading before */
};

struct tally_process {
	struct tally_totals totals;
	struct tally_totals before;     /* of earlier processes with its pid, which have ended (tally_retire()) */
	bool is_retired;                /* it has ended itself */
	uint64_t read_count;            /* in the readings */
	int64_t spacing_ns;             /* readings that follow each other sooner are added up */
	struct tally_reading *readings; /* owned */
	size_t reading_count, reading_capacity;
};

struct tally {
	struct tally_process *processes; /* owned */
	size_t count, capacity;
	struct hash_map by_key;
	struct shares retired;  /* processes that have ended, by who pays for them */
	struct shares readings; /* of all processes, by account */
	uint64_t change_count;  /* readings that had requests so far */
	int64_t read_ns;        /* the time of the last reading */
};

void tally_init(struct tally *tally);
void tally_deinit(struct tally *tally);

/*
 * Takes totals that were read at `time_ns` since the start of the run; times never decrease. Totals that fall are taken
 * for what they were, until they have made up for it.
 */
COMMON_MUST_CHECK
bool tally_take(struct tally *tally, const struct tally_totals *totals, int64_t time_ns, struct error *err);

/*
 * A process has ended, and its totals are read from 0 again if another one gets its pid. False: whoever pays for it has
 * too many such processes here already.
 */
COMMON_MUST_CHECK
bool tally_retire(struct tally *tally, int32_t pid, uint64_t payer);

/* All totals of this time were taken: those that were not had no requests since the time before. */
void tally_end_reading(struct tally *tally, int64_t time_ns);

/* The number of requests of a kind so far. */
uint64_t tally_total(const struct tally *tally, uint32_t kind);

/* The process that has a kind; NULL: none. */
const struct tally_process *tally_find(const struct tally *tally, int32_t pid, uint32_t kind);

/* Adds a process with its readings to a run of the profile. `*id`: its exchanges. */
COMMON_MUST_CHECK
bool tally_add_to_profile(const struct tally_process *process, enum profile_exchange_kind kind, struct profile *profile,
	uint32_t run, uint32_t *id, struct error *err);
