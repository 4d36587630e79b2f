/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "symbolize/broker.h"
#include "symbolize/naming_child.h"

/*
 * One owner's binaries at work: a confined child process that names functions of some tasks, all of one owner, the
 * broker that opens files for it, and the supervisor of both. The cell knows no other tasks than these: what the child
 * sends can be about nothing else, whatever runs there. docs/decisions/71-one-child-for-each-owner.md
 */

enum naming_state {
	NAMING_WAITING,
	NAMING_RUNNING,
	NAMING_SUSPECT, /* it was in progress when a child failed, with others */
	NAMING_ENDED,   /* named, or known not to be */
};

enum naming_failure {
	NAMING_UNHARMED,
	NAMING_CRASHED,
	NAMING_CPU,
	NAMING_MEMORY,
	NAMING_STALLED,
	NAMING_OWNER,      /* files of the same owner failed for too long */
	NAMING_UNCONFINED, /* the child lacks confinement, which is required */
};

struct naming_progress {
	enum naming_state state;
	uint32_t owner;     /* among job.owners */
	bool is_kept;       /* the image is the owner's own: its frames may be cached */
	uint64_t own_bytes; /* of the image and the maps, on disk */
	int64_t used_ns;    /* CPU time in the present child, its share while that works on several */
	int64_t wasted_ns;  /* CPU time in children that failed */
};

struct naming_owner {
	struct file_owner who;
	int64_t wasted_ns; /* by tasks that failed */
	bool is_at_work;   /* it has a cell */
};

/* All tasks of naming_run(). */
struct naming_job {
	struct naming_task *tasks;
	struct naming_progress *progress; /* [task] */
	size_t count;
	struct naming_owner *owners; /* root first */
	size_t owner_count;
	const struct symbolize_options *options;
	struct buffer *notices; /* may be NULL */
	unsigned int lacks;     /* what the confinement of any child lacked: CONFINED_WITHOUT_* */
	bool is_stopped;
};

enum { NAMING_MOST_RUNNING = 64 }; /* tasks in progress of a cell: more than a pool has threads */

struct naming_cell {
	struct naming_job *job; /* borrowed; NULL: the cell is not at work */
	uint32_t owner;
	uint32_t *chosen; /* owned: the tasks, whose index here is their number in what the child sends */
	size_t count;

	struct broker_shares *shares; /* NULL: none could be made */
	size_t shares_bytes;
	pid_t supervisor; /* parent of the child and of the broker */
	int input, cache; /* a pipe with answers, a socket with requests for files of the cache */
	size_t cache_requests;
	bool is_confined; /* the child has said how it is confined, as its first message */

	uint32_t running[NAMING_MOST_RUNNING]; /* tasks in progress, by index */
	size_t running_count;
	struct naming_answer answer;
	size_t answer_size; /* bytes of it that are here */
	uint8_t *table;     /* owned; the tables of the answer, when that is complete */
	size_t table_size;
	int64_t cpu_ns;           /* the child's CPU time when last asked */
	int64_t checked_ns;       /* when the limits were */
	unsigned int still_ticks; /* since its CPU time last changed, or an answer came */
	size_t ended_count;       /* tasks that have had an answer */
	bool is_over;             /* all have, or the child has closed its end */
	enum naming_failure failure;
};

enum { NAMING_TICK_MS = 10 }; /* how often a cell's limits are checked, at least */

/* The limits of one task, in proportion to the bytes that its files have on disk. */
int64_t naming_cpu_limit_ns(const struct naming_cell *cell, size_t index);
uint64_t naming_memory_limit_bytes(const struct naming_cell *cell, size_t index);
unsigned int naming_stall_seconds(void);

/*
 * Makes a cell for tasks of an owner, without processes yet. It takes over `chosen`, also on failure. ERROR_MEMORY.
 */
COMMON_MUST_CHECK
bool naming_cell_init(struct naming_cell *cell, struct naming_job *job, uint32_t owner, uint32_t *chosen, size_t count,
	struct error *err);

/* Starts the processes of a cell. ERROR_SYSTEM. */
COMMON_MUST_CHECK
bool naming_cell_start(struct naming_cell *cell, struct error *err);

/* Takes what the child has sent, and checks its limits. It has ended, or is to be ended, if is_over or failure say so.
 */
void naming_cell_follow(struct naming_cell *cell);

/* Ends the processes. What the cell knows of its tasks stays until naming_cell_deinit(). */
void naming_cell_end(struct naming_cell *cell);
void naming_cell_deinit(struct naming_cell *cell);
