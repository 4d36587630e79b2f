/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

struct profile;

/* A recording that is written while it goes on, by what its profile has gained since the last time. */

/*
 * The parts of a growing profile that have been written: the number of entries of each table, and of increments. All 0:
 * nothing yet.
 */
struct profile_written {
	uint64_t messages;
	size_t strings, mappings, functions, lines, locations, stacks, threads, samples, events, locks, releases,
		exchanges, readings, latencies;
	size_t weighted; /* `weighted_count` of the last increment, one behind its last event with a weight */
	uint32_t *met;   /* owned: [sample] number of the last increment that holds its sums */
	size_t met_capacity;
};

void profile_written_deinit(struct profile_written *written);

/* The facts of a recording, beside its profile, while it goes on. */
struct profile_recording {
	int64_t duration_ns;
	uint64_t kernel_text; /* address of the kernel's symbol _text; 0: not known */
};

/* The start of a file of increments: the first field of its first message. */
#define PROFILE_INCREMENTS_MAGIC "\xea\xb8\x04\x0aKELVINPART"

/*
 * Appends to `out` what a profile of one run has gained since `written`, and updates `written`. Increments are messages
 * of pprof without compression, made by the writer of whole profiles. Protobuf messages that follow each other are one
 * message, so the increments of a recording, one behind the other, are its profile. Locations may be without names. The
 * last field of each increment is a hash over it, by which a partly written one is recognised. On failure `out` and
 * `written` may only be freed.
 */
COMMON_MUST_CHECK
bool profile_write_increment(const struct profile *profile, const struct profile_recording *recording,
	struct profile_written *written, struct buffer *out, struct error *err);

/*
 * Reads a file of increments; locations may stay without names. Only whole increments are read: *whole_bytes is their
 * total size, which is less than `size` if the last one was cut. ERROR_EMPTY if there are no samples, ERROR_UNSUPPORTED
 * if an older version wrote the file.
 */
COMMON_MUST_CHECK
bool profile_read_increments(const void *bytes, size_t size, struct profile_recording *recording, size_t *whole_bytes,
	struct profile **profile, struct error *err);
