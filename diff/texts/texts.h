/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/listing/listing.h"
#include "diff/repository/repository.h"

/*
 * Texts of functions that profiles do not have: from a repository at a revision, from servers of debug information,
 * from a directory that the user names. What opens them has the rights of who started the command; what wants them has
 * read hostile profiles, and asks over a channel (cli/worker.h), in which every byte is foreign. It gets
 * files of the repository, sources of a build id if the user has asked for servers, and regular files below the
 * directories of --source-map, of TEXTS_MOST_BYTES at most: no other file of the disk, whatever a profile names as its
 * path.
 */

enum { TEXTS_MOST_BYTES = 8 << 20, TEXTS_MOST_LIST_BYTES = 64 << 20, TEXTS_MOST_QUESTIONS = 1 << 14 };

/* ---- What opens ---- */

/* Files whose path begins with `from` are those below a directory. `from` NULL: whatever was before its own paths. */
struct texts_map {
	char *from; /* owned; without the '/' at its end */
	int to;     /* owned: O_PATH */
};

/* Servers of debug information, which whoever joins this with symbolize/ knows. */
struct texts_servers {
	/* Prepares for questions; ERROR_*: nothing can be asked. */
	bool (*prepare)(struct error *err);
	/*
	 * Fetches a source of a build id, of so many bytes at most: a descriptor, which the caller owns; -1: there is
	 * none. It takes what it costs from the bytes and nanoseconds that are left.
	 */
	int (*fetch)(const char *build_id, const char *path, uint64_t most_bytes, uint64_t *bytes, int64_t *ns);
	uint64_t bytes; /* that are left */
	int64_t ns;
};

struct texts {
	const char *directory;            /* borrowed: --repo; NULL: the one that the current directory is in */
	const char *revision[DIFF_SIDES]; /* borrowed: --base-rev, --head-rev; NULL: what the profile's label says */
	bool asks_servers;                /* --debuginfod */
	struct texts_map *maps;           /* owned */
	size_t map_count, map_capacity;
	struct repository *repository; /* owned; NULL: not opened */
	bool is_tried, is_told;        /* the repository was looked for; a failure was told, the rest would be alike */
	bool is_broken;                /* git cannot go on in the repository: it is not asked again */
	struct texts_servers servers;
	const struct repository_bounds *bounds; /* borrowed, of the repository; NULL: none */
	/* Tells the user a line, with its newline. */
	void (*say)(const char *format, ...) __attribute__((format(printf, 1, 2)));
	char commit[DIFF_SIDES][REPOSITORY_ID_BYTES]; /* "": not known yet */
	size_t question_count;
};

/* Adds OLD=NEW, or NEW alone (--source-map). A '=' within a path goes to OLD. */
COMMON_MUST_CHECK
bool texts_add_map(struct texts *texts, const char *text, struct error *err);

/*
 * Opens what the user has named, so that it is refused before long work: the repository, its revisions, a server.
 * The rest is opened when it is asked for.
 */
COMMON_MUST_CHECK
bool texts_prepare(struct texts *texts, struct error *err);
void texts_deinit(struct texts *texts);

/*
 * Finds the repository, borrowed, for whoever needs it whether there are texts or not. ERROR_*: as repository_open().
 */
COMMON_MUST_CHECK
bool texts_repository(struct texts *texts, const struct repository **repository, struct error *err);

/*
 * Answers a question, whose bytes are aligned to 8 and foreign: a descriptor, which is the caller's; -1: there is none.
 */
int texts_answer(struct texts *texts, const void *bytes, size_t size);

/* ---- What asks ---- */

enum texts_kind { TEXTS_COMMIT, TEXTS_LIST, TEXTS_FILE, TEXTS_SERVER, TEXTS_MAPPED };
enum { TEXTS_PATH_BYTES = 4096, TEXTS_BUILD_ID_BYTES = 136, TEXTS_REVISION_BYTES = 256 };

/* A question: of the side's commit (`path`: the profile's label), its list of files, a file of it, a source, a file. */
struct texts_question {
	uint32_t kind, side;
	char build_id[TEXTS_BUILD_ID_BYTES];
	char path[TEXTS_PATH_BYTES];
};

struct texts_asker {
	struct texts *texts; /* borrowed */
	/* Asks whoever opens: the answer of texts_answer(). NULL: that is this process. */
	int (*ask)(void *context, const void *bytes, size_t size, struct error *err);
	void *context;
	struct repository_files *files[DIFF_SIDES]; /* owned; NULL: not asked for yet, or there are none */
	bool has_asked[DIFF_SIDES];
	char revision[DIFF_SIDES][TEXTS_REVISION_BYTES];
	struct listing_opener opener; /* whose context is the asker */
};

/*
 * Prepares the opener of a listing of these profiles (NULL: the side is not there): asks for the revision of each side.
 * `ask` and `context` as in the asker, which must not move.
 */
void texts_asker_init(struct texts_asker *asker, struct texts *texts,
	int (*ask)(void *context, const void *bytes, size_t size, struct error *err), void *context,
	const struct profile *const profiles[DIFF_SIDES]);
void texts_asker_deinit(struct texts_asker *asker);
