/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/model.h"

/* Keys of the maps that deduplicate. The structs have no padding, since they are compared byte by byte. */
struct profile_mapping_key {
	uint64_t start, file_offset;
	uint32_t identity; /* build id, else path */
	uint32_t kind;
};

struct profile_function_key_ids {
	uint32_t name, linkage_name, file, start_line, module;
};

struct profile_location_key {
	uint64_t address;
	uint32_t mapping, zero;
};

struct profile_thread_key {
	uint32_t run;
	int32_t pid, tid;
	uint32_t process_name, name, labels;
};

/*
 * The first child stack and the first sample of a stack, which are found without a hash; later ones are found by their
 * hash. PROFILE_NONE: there is none yet.
 */
struct profile_firsts {
	uint32_t child, sample;
};

struct profile_exchanges_key {
	uint32_t run;
	int32_t pid;
	uint32_t kind;
};

/* The look-up tables that the adding functions need in addition to the profile itself. */
struct profile_index {
	struct hash_map mappings, functions, locations, frames, threads, stacks, samples, exchanges, source_files;
	struct profile_firsts *firsts; /* [indexed stack] owned */
	/* the maps hold what has ids below these */
	size_t indexed_functions, indexed_locations, indexed_stacks, indexed_samples;
	size_t mapping_capacity, function_capacity, location_capacity, line_capacity, run_capacity, thread_capacity,
		stack_capacity, first_capacity, sample_capacity, value_capacity, event_capacity, weight_capacity,
		lock_capacity, release_capacity, exchanges_capacity, reading_capacity, latency_capacity,
		source_file_capacity, source_text_capacity, code_capacity;
	size_t source_bytes;   /* of all texts */
	size_t code_bytes;     /* of all code */
	size_t max_stacks;     /* more are an error */
	struct buffer scratch; /* for keys and module names */
};

/*
 * Finds or adds the location of (mapping, address) with these lines. It is found by its address or, where the address
 * is 0, by its frames. One address with two names is one location only in a binary with a build id; anywhere else (code
 * made at run time, a kernel after a reboot) it is two, and the second is found by its frames.
 */
COMMON_MUST_CHECK
bool profile_add_named_location(struct profile *profile, const struct profile_location *location,
	const struct profile_line *lines, uint32_t *id, struct error *err);
/* Gives an event a weight; 0: it has none. */
COMMON_MUST_CHECK
bool profile_set_event_weight(struct profile *profile, size_t event, int64_t weight, struct error *err);
/* Appends an event of a sample, whose values already hold it. */
COMMON_MUST_CHECK
bool profile_append_event(struct profile *profile, int64_t time_ns, uint32_t sample, int64_t weight, struct error *err);
/* Takes all samples out of the profile, without their events, which the caller must give samples again. */
void profile_forget_samples(struct profile *profile);
/*
 * Takes all stacks out of the profile, owned by the caller, who must add stacks again, the empty one first, and give
 * samples and releases their new ones before any sample is added.
 */
struct profile_stack *profile_take_stacks(struct profile *profile, size_t *count);
/* Sorts releases, and adds up those with equal members. */
void profile_sum_releases(struct profile *profile);
/* Adds a reading whose count is part of its exchanges' count already. */
COMMON_MUST_CHECK
bool profile_append_exchange_reading(
	struct profile *profile, const struct profile_exchange_reading *reading, struct error *err);
/*
 * Sorts exchanges, which gives them other ids, their readings and latencies, and adds up those with equal members. On
 * failure the profile may only be destroyed.
 */
COMMON_MUST_CHECK
bool profile_sort_requests(struct profile *profile, struct error *err);
/* Takes all requests out of the profile: it is not known how much work was done. */
void profile_forget_requests(struct profile *profile);
/* Does what profile_validate() does for requests. */
COMMON_MUST_CHECK
bool profile_validate_requests(const struct profile *profile, struct error *err);
/*
 * Adds a text as the one `at`, which is its place in the order; nothing is compared. Its string is at most
 * PROFILE_MAX_SOURCE_TEXT_BYTES long.
 */
COMMON_MUST_CHECK
bool profile_append_source_text(
	struct profile *profile, size_t at, uint32_t file, uint32_t first_line, uint32_t string, struct error *err);
/* Does what profile_validate() does for source files and their texts. */
COMMON_MUST_CHECK
bool profile_validate_sources(const struct profile *profile, struct error *err);
/* Does what profile_validate() does for code. */
COMMON_MUST_CHECK
bool profile_validate_codes(const struct profile *profile, struct error *err);
/* Reserves room for this many stacks and samples. */
COMMON_MUST_CHECK
bool profile_reserve_samples(struct profile *profile, size_t count, struct error *err);
/*
 * Appends a stack (the first one becomes stack 0), or a sample without a time, that the caller knows to be new. No map
 * is searched. The maps take such entries up when a stack or sample is added that may already exist.
 */
COMMON_MUST_CHECK
bool profile_append_stack(struct profile *profile, uint32_t parent, uint32_t location, struct error *err);
COMMON_MUST_CHECK
bool profile_append_sample(
	struct profile *profile, uint32_t stack, uint32_t thread, const int64_t *values, struct error *err);
