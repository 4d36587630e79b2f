/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/*
 * The budget of the processes of one user: what they may cost the recorder. The model: a user pays for the work that
 * his processes make, and for the memory that it takes; who has nothing left loses mappings, whose code then lies
 * nowhere, and nobody else loses anything. Half of what a user has is for his processes that need little: one that has
 * made more work than OWNER_LITTLE_WORK leaves that half to the others. Work is counted in units of about a
 * microsecond, at fixed prices, so that the same records always cost the same. A user earns units all the time and
 * saves up to OWNER_MOST_WORK: starting large programs, and building with all processors, needs a hundredth of that.
 */

enum {
	OWNER_WORK_PER_S = 100000, /* a tenth of a CPU */
	OWNER_MOST_WORK = 500000,
	OWNER_LITTLE_WORK = 20000, /* of a process: some hundred files, or some thousand mappings */
	OWNER_MOST_MAPPINGS = 1 << 20,
	OWNER_MOST_IMAGES = 16384,
	OWNER_MOST_PLACES = 1 << 21, /* 32 MB */
	OWNER_MOST_TABLE_BYTES = 32 << 20,
	OWNER_MOST_READS = 1 << 16, /* of memory of interpreted programs, at once; then so many in a second: */
	OWNER_READS_PER_S = 1 << 13,
	OWNER_MOST_KEPT_OF_NOBODY = 1 << 22, /* mappings of all processes for which nobody pays: 100 MB */
};

/* Prices, in units of work. */
enum {
	OWNER_WORK_MAPPING = 1,
	OWNER_WORK_PROCESS = 2,
	OWNER_WORK_OPENING = 60,
	OWNER_WORK_READING = 60,
	OWNER_MOVED_PER_UNIT = 8192, /* bytes that are copied or moved in memory */
	OWNER_TEXT_PER_UNIT = 64,    /* bytes of /proc/PID/maps, which the kernel prints */
};

struct owner {
	uint64_t account;
	uint32_t work_left;
	uint64_t work_as_of_ns;
	uint32_t reads_left;
	uint64_t reads_as_of_ns;
	size_t mappings, images; /* that are kept */
	size_t places;           /* of code that was met in stacks: these are kept as long as the recording lasts */
	uint64_t table_bytes;    /* of the images, beside their files */
	uint64_t left_out;       /* mappings that were not kept */
	uint64_t records;        /* of mappings, names, starts and ends of his processes */
};

struct owners {
	struct owner *owners; /* owned */
	size_t count, capacity;
	struct hash_map by_account;
	uint64_t now_ns;   /* time of the latest record */
	size_t kept;       /* mappings that memory is kept for: a process and those that it forks have them together */
	uint64_t left_out; /* mappings for which nobody pays, that were not kept */
};

/*
 * The owner of processes for which nobody pays, as those of a recording of another time: what all of them keep is
 * bounded.
 */
#define OWNER_NOBODY UINT32_MAX

void owners_init(struct owners *owners);
void owners_deinit(struct owners *owners);

/* The index of a user, by his account (sampler/process/account.h); OWNER_NOBODY where memory runs out. */
uint32_t owners_find(struct owners *owners, uint64_t account);

/* The user of an index, borrowed until the next owners_find(); NULL of OWNER_NOBODY, which all functions below take. */
struct owner *owners_at(struct owners *owners, uint32_t index);

/*
 * Returns whether the user may have another mapping, or the copies of a process's, with so much work; the work is then
 * paid, and added to `spent`: what the process has cost so far.
 */
COMMON_MUST_CHECK
bool owner_pay_mapping(struct owners *owners, struct owner *owner, uint64_t work, uint64_t *spent);

/* Returns whether another image may be opened for the user; the work for it is then paid. */
COMMON_MUST_CHECK
bool owner_pay_opening(const struct owners *owners, struct owner *owner, uint64_t *spent);

/* Returns whether the maps of a process may be read again; the work for that is then paid, but for the text. */
COMMON_MUST_CHECK
bool owner_pay_reading(const struct owners *owners, struct owner *owner, uint64_t *spent);

/* Pays for the text of maps that were read, whose size is known afterwards, as far as the user has enough left. */
void owner_pay_text(struct owner *owner, size_t bytes, uint64_t *spent);

/*
 * Returns whether memory of one of his interpreted programs may be read, which takes about 20 us; so many reads then
 * count.
 */
COMMON_MUST_CHECK
bool owner_pay_reads(struct owner *owner, uint64_t clock_ns, uint32_t count);

/* Counts an image that was opened for the user, and the memory that it takes beside its file. */
void owner_count_image(struct owner *owner, uint64_t table_bytes);

/* Counts a place of code that was met in a stack of the user's; false: he has too many. */
COMMON_MUST_CHECK
bool owner_count_place(struct owner *owner);

/* The mappings of one of his processes, before and after a change. */
void owner_count_mappings(struct owner *owner, size_t before, size_t after);

/* Appends lines about users whose mappings were left out, and, if records were lost, about the one who wrote most. */
void owners_describe(const struct owners *owners, bool has_lost, struct buffer *notices);
