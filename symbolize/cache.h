/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "symbolize/symbolize.h"

/*
 * Resolved frames on disk, one file for each pair of binary and debug file: the two recordings of a diff share most of
 * their libraries. A file is written as a whole and renamed into place, so that several processes may read and write at
 * once; of two writers the later one wins. A damaged file, or one of another version, is ignored. The size of the
 * directory is bounded: the oldest files are removed first. A file is identified by its inode and times, not by its
 * build id, since a recorded process may map a binary with any build id.
 */

/* The cached frames of one image. */
struct frame_cache;

/* Everything that the frames depend on. */
struct frame_cache_key {
	const char *directory;                       /* created when frames are stored */
	const struct elf_image *image, *debug, *alt; /* alt NULL: none */
	bool has_lines;
	enum symbolize_fingerprints fingerprints;
};

/* `*cache` is NULL if nothing is cached for the image, or it is not a file. Fails if memory runs out. */
COMMON_MUST_CHECK
bool frame_cache_open(const struct frame_cache_key *key, struct frame_cache **cache, struct error *err);
void frame_cache_close(struct frame_cache *cache);

/* The frames of an address: strings borrowed from the cache, the array in the arena. Count 0: not cached. */
COMMON_MUST_CHECK
bool frame_cache_find(const struct frame_cache *cache, uint64_t address, struct arena *arena,
	struct symbolize_frames *frames, struct error *err);

/* The directory in which the main unit was compiled, borrowed; "" not known. */
const char *frame_cache_source_directory(const struct frame_cache *cache);

/* The entries to store, in addition to those of `old` (may be NULL). Addresses rise and none is in `old`. */
struct frame_cache_entries {
	const struct frame_cache *old;
	const uint64_t *addresses;
	const struct symbolize_frames *frames; /* [address] */
	size_t count;
	const char *source_directory;
};

/* Stores the entries; errors are ignored, since the cache is optional. */
void frame_cache_store(const struct frame_cache_key *key, const struct frame_cache_entries *entries);
