/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/profile.h"

/*
 * The cache that `kelvin history` keeps of the profiles of a directory: their summaries, and what the diffs of pairs
 * found (docs/decisions/93-history-cache.md). One file for a directory, below the user's own cache directory. Whoever
 * opens and writes it has rights and reads none of it; whoever reads it has none.
 */

enum { HISTORY_CACHE_NAME_BYTES = 32 };

/*
 * Finds the path of the cache. `key` is all that a summary depends on beside the file. False: there is no cache
 * directory.
 */
bool history_cache_path(const struct buffer *key, char *directory, size_t size, char name[HISTORY_CACHE_NAME_BYTES]);

/* The content of the cache, read in a process without rights. All zero: nothing. */
struct history_cache {
	struct buffer bytes;             /* owned: of the file */
	struct summary_archive *archive; /* owned; NULL: there is none that can be used */
	struct hash_map by_key;          /* of findings: the pair's key -> its entry */
	struct history_cache_finding {
		uint64_t key;
		struct buffer bytes; /* owned */
		bool is_used;
	} * findings;
	size_t finding_count, finding_capacity;
	bool has_new_findings;
};

/* Reads what `fd` has for a set. What is damaged, or of another version, is as if it were not there. */
COMMON_MUST_CHECK
bool history_cache_read(int fd, struct summary_set *set, struct history_cache *cache, struct error *err);
void history_cache_deinit(struct history_cache *cache);

/* Returns what a diff of a pair found; NULL: it is not known. Borrowed until the next one is kept. */
const struct buffer *history_cache_finding(struct history_cache *cache, uint64_t key);
/* Takes the bytes over. */
COMMON_MUST_CHECK
bool history_cache_keep(struct history_cache *cache, uint64_t key, struct buffer *bytes, struct error *err);

/* Writes the file: summaries of the set with their tags, and the findings that were asked for. */
COMMON_MUST_CHECK
bool history_cache_write(const struct history_cache *cache, const struct summary_set *set, const size_t *summaries,
	size_t count, const uint8_t (*tags)[SUMMARY_TAG_BYTES], struct buffer *out, struct error *err);
