/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/process/reader.h"

/*
 * Code that changes its place without a record: the kernel tells of mmap(), mprotect() and shmat(), but neither of what
 * mremap() moves (mm/mremap.c), nor whom else a mapping is of that processes share (CLONE_VM). The maps of processes
 * that have samples are read again and held against what records told until then, each time after an eighth of the time
 * for which the process is known, 2 s at most. This takes a five hundredth of a CPU at most, for which the processes'
 * users pay (sampler/process/owner.h).
 */

/* Maps that are kept until they are compared; ranges of a process that are told one by one. */
enum { REMAPS_MOST_TEXTS = 32, REMAPS_MOST_RANGES = 64 };

/* Image addresses of a mapping of the profile, that samples were believed to be in. */
struct remaps_range {
	uint32_t mapping;
	uint64_t start, end;
};

/* The places of a process that may have been believed falsely since `since_ns`, by the records' clock. */
struct remaps_doubt {
	int32_t pid;
	uint64_t since_ns;
	struct remaps_range ranges[REMAPS_MOST_RANGES];
	size_t count;
	bool is_all; /* there are more ranges: nothing that was believed is certain */
};

/* Text of the maps of a process that is compared when all records until then are known. */
struct remaps_text {
	int32_t pid;
	uint64_t from_ns, to_ns; /* by the records' clock: when it was read */
	struct buffer text;
};

struct remaps {
	struct process_table *table;   /* borrowed */
	struct process_reader *reader; /* borrowed */
	/* Told of what was mended; borrowed. */
	void (*doubt)(void *context, const struct remaps_doubt *doubt);
	void *context;
	struct remaps_text texts[REMAPS_MOST_TEXTS]; /* owned */
	size_t count;
	size_t next;             /* the process that is looked at next */
	int64_t clock_offset_ns; /* CLOCK_MONOTONIC minus the records' clock */
	uint64_t due_ns;         /* by the records' clock: when the next process's turn comes; UINT64_MAX: not known */
	uint64_t not_before_ns;  /* likewise: nothing is read before, for its share of a CPU */
};

void remaps_deinit(struct remaps *remaps);

/* Reads the maps of processes whose turn it is, or, when a recording ends, of all others that have samples, too: as
 * many as there is room for. */
void remaps_read(struct remaps *remaps, bool is_end);

/* How long remaps_read() or remaps_compare() may be put off, in ms: `timeout_ms` at most. */
int remaps_timeout(const struct remaps *remaps, int timeout_ms);

/* Mends what was believed, where all records up to a time are known. */
COMMON_MUST_CHECK
bool remaps_compare(struct remaps *remaps, uint64_t known_until_ns, struct error *err);
