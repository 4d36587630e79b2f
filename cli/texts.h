/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "cli/options.h"
#include "cli/worker.h"
#include "diff/diff.h"
#include "symbolize/symbolize.h"

/*
 * Texts of functions that profiles do not have: from a repository at a revision, from servers of debug information,
 * from a directory that the user names. What opens them has the rights of who started the command; what wants them has
 * read hostile profiles, and asks over the worker's channel (cli/worker.h), in which every byte is foreign. It gets
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

struct texts {
	const char *directory;            /* borrowed: --repo; NULL: the one that the current directory is in */
	const char *revision[DIFF_SIDES]; /* borrowed: --base-rev, --head-rev; NULL: what the profile's label says */
	bool asks_servers;                /* --debuginfod */
	struct texts_map *maps;           /* owned */
	size_t map_count, map_capacity;
	struct repository *repository; /* owned; NULL: not opened */
	bool is_tried, is_told;        /* the repository was looked for; a failure was told, the rest would be alike */
	bool is_broken;                /* git cannot go on in the repository: it is not asked again */
	struct symbolize_servers servers;
	char commit[DIFF_SIDES][REPOSITORY_ID_BYTES]; /* "": not known yet */
	size_t question_count;
};

/* The options of a struct texts: all options; those of commands that show one profile, which is the side DIFF_HEAD. */
extern const struct options_row texts_rows[], texts_single_rows[];

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
 * Reads a repository from now on only as far as it lies below these directories (struct repository_bounds), which are
 * borrowed for good. For a process that answers one question of somebody else (cli/mcp.h).
 */
void texts_stay_below(const int *directories, size_t count);

/* Answers a question as struct worker has it; `texts` is a struct texts. */
int texts_answer(void *texts, const void *bytes, size_t size);

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
	int (*ask)(void *context, const void *bytes, size_t size);
	void *context;
	struct repository_files *files[DIFF_SIDES]; /* owned; NULL: not asked for yet, or there are none */
	bool has_asked[DIFF_SIDES];
	char revision[DIFF_SIDES][TEXTS_REVISION_BYTES];
	struct listing_opener opener; /* whose context is the asker */
};

/*
 * Prepares the opener of a listing of these profiles (NULL: the side is not there): asks for the revision of each side.
 * `worker`: of which this process is one; NULL, or without a socket: it opens by itself. The asker must not move.
 */
void texts_asker_init(struct texts_asker *asker, struct texts *texts, const struct worker *worker,
	const struct profile *const profiles[DIFF_SIDES]);
void texts_asker_deinit(struct texts_asker *asker);
