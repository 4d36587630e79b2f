/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/model.h"

/* Definitions shared by the reader and the writer of pprof. */

enum {
	PPROF_EXTENSION_VERSION = 1,
	/*
	 * event times are kept to the microsecond: this is finer than the noise of a timer, and saves two bytes an
	 * event
	 */
	PPROF_TIME_UNIT_NS = 1000,
};

/* Interned keys of the labels that samples have. */
struct pprof_label_keys {
	uint32_t comm, thread_comm, pid, tid;
	uint32_t benchmark;                   /* 0: the profile has no phases */
	uint32_t wait;                        /* 0: no sample waits */
	uint32_t classes[PROFILE_WAIT_COUNT]; /* what a sample waits for: not a key, but the value */
};

COMMON_MUST_CHECK
bool pprof_label_keys_init(const struct profile *profile, struct pprof_label_keys *keys, struct error *err);

/* Reads the increments of a recording. increments.c has cut off the last one if it was not written whole. */
COMMON_MUST_CHECK
bool pprof_read_growing(
	const void *bytes, size_t size, uint64_t *kernel_text, struct profile **profile, struct error *err);
