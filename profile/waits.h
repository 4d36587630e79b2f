/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Waits: where threads wait, for what, and who lets them go on.
 *
 * A wait is a sample like any other: it has a stack, a thread and an event, whose weight is the time that it stands
 * for. Its stack ends in a frame of its own, the frame of its class ("[waiting: lock]"), so that waits never share a
 * sample with CPU time (docs/decisions/49-waiting.md). A recording of waits has these value types behind `samples`:
 *
 *	cpu      nanoseconds on a CPU
 *	off-cpu  nanoseconds of all waits but the idle ones
 *	idle     nanoseconds of the waits of class idle
 *	wall     cpu + off-cpu
 */

/*
 * A recording may have the elapsed time as well, nanoseconds that add up to the time that passed: each instant is
 * shared by the threads that ran, or belongs to the wait that ended next.
 */
#define PROFILE_ELAPSED "elapsed"

struct profile;

/* The class of a wait: what the thread waits for. */
enum profile_wait_class {
	PROFILE_WAIT_LOCK, /* a lock that another thread holds: a mutex, a lock of readers and writers, of a file */
	PROFILE_WAIT_CONDITION, /* what another thread does: a condition variable, a channel, a semaphore, a join */
	PROFILE_WAIT_IO,        /* a disk, a file, a pipe */
	PROFILE_WAIT_NETWORK,   /* a socket */
	PROFILE_WAIT_TIMER,     /* a moment: sleep */
	PROFILE_WAIT_IDLE,      /* work: an event loop, accept, a worker without a task */
	PROFILE_WAIT_RUN_QUEUE, /* a CPU: it was preempted, or has been let go on and does not run yet */
	PROFILE_WAIT_OTHER,     /* what no rule knows */
	PROFILE_WAIT_NONE,      /* it does not wait */
};
enum { PROFILE_WAIT_COUNT = PROFILE_WAIT_NONE }; /* classes */

/* The properties of a class, in one table: files, reports and the page have names, words and colours from here. */
struct profile_wait_info {
	const char *name;   /* in files, rules and JSON: "lock", "run-queue" */
	const char *words;  /* for readers: "run queue" */
	const char *frame;  /* the name of its frame: "[waiting: run queue]" */
	const char *reason; /* as in "waiting for a lock": "for a lock" */
	/*
	 * 0xRRGGBB, for light and dark pages: every vision tells the classes apart, and none has the colour of an
	 * origin.
	 */
	uint32_t colour;
	bool is_idle;            /* its time counts in idle alone; that of other classes in off-cpu and wall */
	bool is_ended_by_others; /* another thread or process ends it, which needs a CPU for that */
	bool may_be_idle;        /* a thread may wait for work so, which its life tells (profile_find_idle_lives()) */
};

/* Returns the properties of a class; PROFILE_WAIT_NONE has none of them, and no name. Static. */
const struct profile_wait_info *profile_wait_info(enum profile_wait_class wait_class);

/* Fills in the classes that have time, but no idle ones, the longest first. Returns their number. */
size_t profile_waits_by_time(const int64_t ns[PROFILE_WAIT_COUNT], enum profile_wait_class order[PROFILE_WAIT_COUNT]);

/* Returns the class whose frame the name is; PROFILE_WAIT_NONE: it is a function like any other. */
enum profile_wait_class profile_wait_class_of_name(const char *name);

/* Returns the class whose frame the function is. One in a binary is a function like any other, whatever its name. */
enum profile_wait_class profile_wait_class_of_function(const struct profile *profile, uint32_t function);

/* Returns the class whose frame the stack ends in; PROFILE_WAIT_NONE: it is no stack of a wait. */
enum profile_wait_class profile_wait_class_of_stack(const struct profile *profile, uint32_t stack);

/* Returns what sentences call a value type of a recording of waits: "waiting time"; NULL for any other type. Static. */
const char *profile_wait_value_words(const char *type);

/*
 * Returns what no recording of this program's waits can show, and what does: sentences, without a full stop at the end.
 * NULL: there is nothing of that kind. Static.
 */
const char *profile_waits_unseen(const struct profile *profile);

/* The value types by name; PROFILE_NONE for one that the profile lacks. */
struct profile_wait_values {
	uint32_t cpu, off_cpu, idle, wall;
};
struct profile_wait_values profile_wait_values(const struct profile *profile);

/* Returns whether the profile is of a recording of waits. */
bool profile_has_waits(const struct profile *profile);

/*
 * Adds the value types of waits behind those that are there, of which the last is the CPU time; `wall` becomes the
 * default. May be called before the first sample only.
 */
COMMON_MUST_CHECK
bool profile_add_wait_values(struct profile *profile, struct error *err);

/* Fills a sample's values with a wait's: `wait_ns` in off-cpu and wall, or in idle. The others become 0, the count 1.
 */
void profile_wait_fill(
	const struct profile *profile, enum profile_wait_class wait_class, int64_t wait_ns, int64_t *values);

/* Adds or finds the stack that ends in the frame of a class. */
COMMON_MUST_CHECK
bool profile_add_wait_stack(
	struct profile *profile, uint32_t stack, enum profile_wait_class wait_class, uint32_t *id, struct error *err);

/* ---- Locks and releases ---- */

/*
 * One lock of one process, as the futex that threads wait on. Its address never leaves the recorder: what names it is
 * the symbol that lies there, where there is one, else the order in which locks were met.
 */
struct profile_lock {
	uint32_t name;   /* string: "cache_mutex" or "Cache::instance+0x28"; "": no symbol */
	uint32_t module; /* string: of the symbol */
	int32_t pid;
};

/*
 * The place of the data that a lock is part of, while its recording is named: the lock itself has the name only. No
 * file has it.
 */
struct profile_lock_address {
	uint32_t mapping; /* of the image; PROFILE_NONE: the lock is in no image's data, as on the heap */
	uint64_t address; /* image address */
};

/*
 * One sampled wait that is known to be of a lock, or of which it is known who ended it. `weight_ns` is the time that it
 * stands for, as in its event.
 */
struct profile_release {
	uint32_t stack;    /* of the thread that waited, with the frame of its class */
	uint32_t lock;     /* index in profile.locks; PROFILE_NONE: none */
	uint32_t releaser; /* stack of the thread that let it go on; 0: not known, or a device or a timer did */
	int64_t weight_ns;
};

/* Adds a lock. Those with equal members stay apart: locks without a symbol have nothing else to tell them by. */
COMMON_MUST_CHECK
bool profile_add_lock(struct profile *profile, const struct profile_lock *lock, uint32_t *id, struct error *err);

/* Adds a release. Those with equal members are added up by profile_finish(). */
COMMON_MUST_CHECK
bool profile_add_release(struct profile *profile, const struct profile_release *release, struct error *err);

/* ---- Other classes ---- */

/* Returns whether a module is the C library, whose functions wait for what their callers want. */
bool profile_is_c_library(const char *module);

/*
 * Gives the waits in some stacks another class, after functions were named. `class_of` gets a stack without its last
 * frame, and the class that it has; what it returns, which must be a class, holds. Values of samples move between
 * off-cpu and idle accordingly. Releases keep to their waits. On failure the profile may only be destroyed.
 */
COMMON_MUST_CHECK
bool profile_classify_waits(struct profile *profile,
	enum profile_wait_class (*class_of)(void *context, uint32_t stack, enum profile_wait_class wait_class),
	void *context, struct error *err);
