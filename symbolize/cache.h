/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "symbolize/symbolize.h"

/*
 * Resolved frames on disk, one file for each pair of binary and debug file: the two recordings of a diff share most of
 * their libraries. A file is written whole and renamed into place, so that several processes may read and write at
 * once; of two writers the later wins. What is damaged, or of another version, is no cache. The directory is bounded:
 * the oldest files go first. A file is known by its inode and its times, not by its build id: a recorded process may
 * map one that bears any.
 */

/* Of one image. */
struct frame_cache;

/* What answers depend on. */
struct frame_cache_key {
	const char *directory;                       /* made when something is stored */
	const struct elf_image *image, *debug, *alt; /* alt NULL: none */
	bool has_lines;
	enum symbolize_fingerprints fingerprints;
};

/* `*cache` is NULL when nothing is known of the image yet, or it is no file. Fails for want of memory. */
COMMON_MUST_CHECK
bool frame_cache_open(const struct frame_cache_key *key, struct frame_cache **cache, struct error *err);
void frame_cache_close(struct frame_cache *cache);

/* The frames of an address: strings borrowed from the cache, the array in the arena. Count 0: not known. */
COMMON_MUST_CHECK
bool frame_cache_find(const struct frame_cache *cache, uint64_t address, struct arena *arena,
	struct symbolize_frames *frames, struct error *err);

/* Where the main unit was compiled, borrowed; "" not known. */
const char *frame_cache_source_directory(const struct frame_cache *cache);

/* What is to be stored beside what `old` (may be NULL) holds. Addresses rise and none is in `old`. */
struct frame_cache_entries {
	const struct frame_cache *old;
	const uint64_t *addresses;
	const struct symbolize_frames *frames; /* [address] */
	size_t count;
	const char *source_directory;
};

/* Does what it can: a cache that cannot be written is none. */
void frame_cache_store(const struct frame_cache_key *key, const struct frame_cache_entries *entries);
