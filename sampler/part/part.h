/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/profile.h"

/*
 * What has been recorded so far, on disk, so that a recorder that is killed loses no more than its last moments.
 *
 * FILE.part is "KELVINPART" and "\n", then chunks, each complete in itself: "KCHK", the payload's size (32 bits) and its hash
 * (hash_bytes(), 64 bits), the payload. A payload holds what the profile has gained since the chunk before: ids are handed out in
 * order and never change, so that the chunks one after the other are the profile. Numbers are LEB128, signed ones zigzag:
 *
 *	version, number of the chunk, duration_ns
 *	quality: samples, lost, throttled, lost_sideband, frame_pointer_frames, frames, count of stops, stops
 *	strings: count, { size, bytes }
 *	value types: count, { type, unit }; the default's number; period's type and unit, period
 *	facts: tool, command, event, cpu_model, kernel, governor, call_graph, cpu_count, frequency_hz, user_only, cgroup,
 *		container, cpu_limit_milli
 *	start_unix_ns, address of the kernel's symbol _text
 *	mappings: count, { kind, path, build_id, start, end, file_offset, deleted }
 *	locations: count, { mapping + 1, signed difference of the address to the location's before }
 *	stacks: count, { parent, location }
 *	threads: count, { pid, tid, process_name, name }
 *	samples: count, { stack, thread }
 *	sums of the samples that were met since: { sample + 1, values }, and 0
 *	events: count, { signed difference of time_ns to the event's before, sample }
 */

#define PART_MAGIC "KELVINPART\n"
#define PART_CHUNK_MAGIC "KCHK"
enum { PART_VERSION = 3, PART_CHUNK_HEADER_BYTES = 16, PART_MAX_CHUNK_BYTES = 1 << 28 };

struct part {
	int fd;                 /* owned; -1: none */
	char *path;             /* owned */
	struct buffer chunk;    /* being made */
	uint64_t written_bytes; /* up to the end of the last whole chunk */
	uint64_t chunks, kernel_text;
	size_t strings, mappings, locations, stacks, threads, samples, events; /* written so far */
	uint32_t *met; /* owned: [sample] the chunk that holds its sum last */
	size_t met_capacity;
	bool is_full; /* writing failed: nothing more is tried */
};

/* Of no file. */
void part_init(struct part *part);

/*
 * Creates the file. What a killed recorder left under the name is kept as PATH.old, which `notices` (may be NULL) tells; one that
 * is being written by another recorder is ERROR_USAGE.
 */
COMMON_MUST_CHECK
bool part_create(struct part *part, const char *path, struct buffer *notices, struct error *err);

/* Closes the file; removes it when it holds nothing. */
void part_deinit(struct part *part);

/*
 * Appends what is new. On failure (a full disk) the file is cut back to its last whole chunk, and stays as it is from then on.
 * Before profile_finish(), which sorts events.
 */
COMMON_MUST_CHECK
bool part_write(struct part *part, const struct profile *profile, int64_t duration_ns, struct error *err);
