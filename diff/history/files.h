/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/history/cache.h"
#include "diff/model.h"
#include "profile/profile.h"

#include <sys/stat.h>

/*
 * The profiles of a history as files. A process with rights opens them (history_files_open()) and reads none of their
 * bytes; all that follows is done by one without.
 */

enum history_file_state {
	HISTORY_FILE_NEW,
	HISTORY_FILE_READ,
	HISTORY_FILE_OTHER,     /* no profile */
	HISTORY_FILE_ADDRESSES, /* perf.data, which needs names first */
	HISTORY_FILE_PART,      /* a recording that is not finished */
	HISTORY_FILE_REFUSED,   /* it cannot be read: `why` */
};

struct history_file {
	char *path;       /* owned: what opens it again */
	const char *name; /* borrowed from it: how it is called in the output */
	int fd;           /* owned */
	struct stat stat; /* when it was opened */
	uint8_t tag[SUMMARY_TAG_BYTES];
	enum history_file_state state;
	struct error why;
	struct buffer summary; /* owned: bytes until they are in the set */
	bool is_done, is_from_cache;
};

struct history_files {
	struct history_file *items; /* owned; of a directory by name */
	size_t count, capacity;
	size_t left_out;       /* of directories: directories, links, devices, hidden files */
	struct stat directory; /* of the first file */
	bool is_whole;         /* all files of one directory, and no other */
	/* Filled by history_files_read(): [summary of the set] its file. Owned. */
	size_t *of_summary;
	bool has_new;                /* a summary was not in the cache */
	struct store_history *store; /* borrowed: summaries are its, and there are no files; NULL: there is none */
	const char *address;         /* borrowed: of the store that has or had the profiles; NULL: they are files */
};

struct history_reading {
	const char *metric;
	const char *const *labels; /* KEY=VALUE that profiles must have */
	size_t label_count;
	/* Names what a profile has without origins, read from a file of that name (symbolize/). */
	bool (*name)(void *context, const char *path, struct profile *profile, struct error *err);
	/* Decides which threads idle by their life, in profiles that are looked at together; it may replace them. */
	bool (*find_idle)(void *context, struct profile **profiles, size_t count, struct error *err);
	void *context;
	/* Tells the user a line, with its newline. */
	void (*say)(const char *format, ...) __attribute__((format(printf, 1, 2)));
};

/* Profiles that a store has sent, whose descriptors are taken over. */
COMMON_MUST_CHECK
bool history_files_take(struct history_files *files, struct store_profiles *fetched, struct error *err);

/*
 * Lists the files that the user named: files, or directories of which the files are meant, but not those of directories
 * below.
 */
COMMON_MUST_CHECK
bool history_files_open(char *const *names, size_t count, const struct history_reading *reading,
	struct history_files *files, struct error *err);
void history_files_deinit(struct history_files *files);

/*
 * Adds the summaries of all files to the set, in the order of the files, from the cache where it has them. What cannot
 * be read is told and left out.
 */
COMMON_MUST_CHECK
bool history_files_read(struct history_files *files, const struct history_reading *reading, struct summary_set *set,
	struct history_cache *cache, struct error *err);

/* Reads some of them again, by their summaries, as runs of one profile. */
COMMON_MUST_CHECK
bool history_files_profile(const struct history_files *files, const struct history_reading *reading,
	const size_t *summaries, size_t count, struct profile **profile, struct error *err);

/*
 * Appends all that a summary depends on beside the profile, as history_cache_path() has it: other programs, other
 * metrics and directories have other files.
 */
void history_files_append_key(const struct history_files *files, const char *metric, struct buffer *key);

/*
 * Makes the cache's file, if it is to be written again: a smaller choice of profiles uses what is kept of others, and
 * leaves it. False: there is nothing to be written.
 */
bool history_files_make_cache(const struct history_files *files, const struct history_reading *reading,
	const struct history_cache *cache, const struct summary_set *set, struct buffer *out);
