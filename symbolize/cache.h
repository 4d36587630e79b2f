/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "symbolize/named_frames.h"

/*
 * Resolved frames on disk, one file for each pair of binary and debug file: the two recordings of a diff share most of
 * their libraries. A file is written as a whole and renamed into place, so that several processes may read and write at
 * once; of two writers the later one wins. A damaged file, or one of another version, is ignored. The size of the
 * directory is bounded: the oldest files are removed first. A file is identified by its inode and times, not by its
 * build id, since a recorded process may map a binary with any build id.
 */

/* The cached frames of one image. */
struct frame_cache;

enum { FRAME_CACHE_FILES = 3 };

/* Everything that the frames depend on. */
struct frame_cache_key {
	const char *directory; /* created when frames are stored */
	const char *module;    /* name of the image's file, which functions without a name are named by */
	struct elf_file_identity files[FRAME_CACHE_FILES]; /* of the image, its debug file, its dwz file; 0: none */
	uint64_t program;                                  /* frame_cache_program() */
	bool has_lines;
	enum symbolize_fingerprints fingerprints;
	const struct frame_cache_opener *opener; /* NULL: the process opens the file itself */
};

/* The key of an image; `debug` and `alt` may be NULL. Borrows the options' strings and the image's path. */
struct frame_cache_key frame_cache_key_of(const struct symbolize_options *options, const struct elf_image *image,
	const struct elf_image *debug, const struct elf_image *alt);

/* A hash of the program that resolves frames, since another version may resolve them differently. */
uint64_t frame_cache_program(void);

/* `*cache` is NULL if nothing is cached for the image, or it is not a file. Fails if memory runs out. */
COMMON_MUST_CHECK
bool frame_cache_open(const struct frame_cache_key *key, struct frame_cache **cache, struct error *err);
void frame_cache_close(struct frame_cache *cache);

/*
 * Opens the file of that name in the directory, if it is the user's own and keeps frames of this image: the opener's
 * side. -1 if not.
 */
int frame_cache_open_file(const char *directory, uint64_t name, const struct elf_image *image);

/* Returns what is cached, as a table; borrowed. */
const struct named_frames *frame_cache_table(const struct frame_cache *cache);

/* Stores the entries of a table that are not cached yet, in the same way. */
void frame_cache_add(const struct frame_cache_key *key, const struct named_frames *table);

/* Stores the entries, and those of the old table; errors are ignored, since the cache is optional. */
void frame_cache_store(const struct frame_cache_key *key, const struct named_frames_entries *entries);
