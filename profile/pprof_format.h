/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/profile.h"

/* What reader and writer of pprof agree on. */

enum {
	PPROF_EXTENSION_VERSION = 1,
	PPROF_TIME_UNIT_NS = 1000, /* event times are kept to the microsecond: below the noise of a timer, and two bytes
				      less an event */
};

/* Strings that name the labels of a sample. */
struct pprof_label_keys {
	uint32_t comm, thread_comm, pid, tid;
};

COMMON_MUST_CHECK
bool pprof_label_keys_init(struct string_table *strings, struct pprof_label_keys *keys, struct error *err);

/* Bare pprof, inflated already. `name` is for messages. */
COMMON_MUST_CHECK
bool pprof_read(const void *bytes, size_t size, const char *name, struct profile **profile, struct error *err);

/* The increments of a recording, as increments.c tells them apart from what was not written whole. */
COMMON_MUST_CHECK
bool pprof_read_growing(
	const void *bytes, size_t size, uint64_t *kernel_text, struct profile **profile, struct error *err);

/* Folded stacks. */
COMMON_MUST_CHECK
bool folded_read(const char *text, size_t size, const char *name, struct profile **profile, struct error *err);
