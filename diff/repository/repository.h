/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/*
 * Reads a git repository through git(1), as a child process. A repository is hostile: its configuration, hooks,
 * attributes and text conversions name programs, and none of them runs (docs/decisions/85-git-runs-nothing.md).
 *
 * git reads objects and names through a git directory of ours, whose configuration says how they are kept and nothing
 * else, with links into the repository: refs, packed-refs, shallow; the objects by GIT_OBJECT_DIRECTORY. Its
 * environment is ours as well. Only where the repository is, and whether the user trusts it, is asked in the repository
 * itself, of a command that starts nothing: git refuses one of another owner unless safe.directory of the user names
 * it. In each case the child can make no process and no socket. Nothing is fetched: an object that is not there is an
 * error that says so.
 *
 * Where root runs us, git reads as the owner of the directory: links and alternates lead where the owner could go.
 *
 * What starts git needs the rights to start programs; what reads its output does not, and takes it for foreign bytes.
 * Not thread-safe. Directories and revisions are the user's; commits and paths may be anybody's.
 */

struct repository;

/*
 * Directories out of which nothing of a repository is read: neither by links and alternates, nor as the git directory
 * that a work tree, a submodule or an empty .git leads to. The kernel holds it (Landlock).
 */
struct repository_bounds {
	const int *directories; /* borrowed, while the repository is open */
	size_t count;
};

/*
 * Opens a repository; `directory` is in the work tree, or is the repository. `bounds`: NULL: none. ERROR_NOT_FOUND: it
 * is not there, or in no repository; ERROR_PERMISSION: git does not trust its owner, with the command that allows it,
 * or it is out of the bounds; ERROR_UNSUPPORTED: there is no git.
 */
COMMON_MUST_CHECK
bool repository_open(const char *directory, const struct repository_bounds *bounds, struct repository **repository,
	struct error *err);
void repository_close(struct repository *repository);

static inline void repository_cleanup(struct repository **repository)
{
	repository_close(*repository);
}

enum { REPOSITORY_ID_BYTES = 65 }; /* of a commit in hexadecimal, SHA-1 or SHA-256, with its end */

/* Finds the commit that a revision means. ERROR_NOT_FOUND names it; of a shallow clone it says what fetches more. */
COMMON_MUST_CHECK
bool repository_resolve(
	const struct repository *repository, const char *revision, char id[REPOSITORY_ID_BYTES], struct error *err);

/*
 * Each runs git to its end, and sets *fd to a file in memory with its output, at its start, which belongs to the
 * caller. ERROR_LIMIT: it is more than `max_bytes`.
 */

/* Paths of all files of a commit, by its whole id, each with a NUL behind it. */
COMMON_MUST_CHECK
bool repository_list_files(
	const struct repository *repository, const char *commit, size_t max_bytes, int *fd, struct error *err);

/*
 * Reads the bytes of a file at a commit, whose path is taken literally. ERROR_NOT_FOUND: it has no such file (a link is
 * none), or the repository lacks it, as a partial clone does.
 */
COMMON_MUST_CHECK
bool repository_read_file(const struct repository *repository, const char *commit, const char *path, size_t max_bytes,
	int *fd, struct error *err);

/*
 * Fetches, for repository_parse_log(), the commits that `to` has and `from` has not, along first parents, all of them,
 * with what they changed in the files. A file that was renamed is the same one only if `paths` has both of its names:
 * where a file was made, repository_renames() tells whether it had another name before.
 */
COMMON_MUST_CHECK
bool repository_log(const struct repository *repository, const char *from, const char *to, const char *const *paths,
	size_t path_count, size_t max_bytes, int *fd, struct error *err);

/* Fetches the ids of all commits that `to` has and `from` has not, also of merged branches, each in a line. */
COMMON_MUST_CHECK
bool repository_ids(const struct repository *repository, const char *from, const char *to, size_t max_bytes, int *fd,
	struct error *err);

/* Fetches likewise the files that these commits renamed, without hunks. */
COMMON_MUST_CHECK
bool repository_renames(const struct repository *repository, const char *const *commits, size_t commit_count,
	size_t max_bytes, int *fd, struct error *err);

/* Finds out whether a commit has all of another one's history. In a shallow clone it may not be known: false. */
COMMON_MUST_CHECK
bool repository_is_ancestor(const struct repository *repository, const char *ancestor, const char *of,
	bool *is_ancestor, struct error *err);
bool repository_is_shallow(const struct repository *repository);

/* Fetches all files of a commit as tar(5) has them, without what attributes ask for. */
COMMON_MUST_CHECK
bool repository_archive(
	const struct repository *repository, const char *commit, size_t max_bytes, int *fd, struct error *err);

/* ---- The output of repository_list_files(), in any process ---- */

/* The paths of a commit, to be searched by those that compilers write. Immutable. */
struct repository_files;

/* Copies the bytes. ERROR_FORMAT: a path has no end. */
COMMON_MUST_CHECK
bool repository_files_create(const void *bytes, size_t size, struct repository_files **files, struct error *err);
void repository_files_destroy(struct repository_files *files);

static inline void repository_files_cleanup(struct repository_files **files)
{
	repository_files_destroy(*files);
}

/*
 * Returns the path of the file that a program was built from, wherever that was built; borrowed; NULL: none, or several
 * may be meant. It is the longest of the repository's paths by which `path` ends. Where there is none, a copy of a part
 * of the repository was built, or `path` is a relative one: the repository's path that has the longest end in common
 * with it, of two names at least or all of `path`, if that is only one. A file of the system with a name that a file at
 * the top of the repository has is not taken for it (/usr/include/config.h).
 */
const char *repository_files_match(const struct repository_files *files, const char *path);

/* Returns whether a path lies where systems keep files of others, so that its last name alone says nothing. */
bool repository_is_of_system(const char *path);

/* ---- The output of repository_log() and repository_renames(), in any process ---- */

/* Lines of a file that a commit replaced; a count of 0: lines were only added behind, or taken away from, that place.
 */
struct repository_hunk {
	uint32_t file; /* index in `files` */
	uint32_t old_line, old_count, new_line, new_count;
	size_t old_text, new_text; /* texts[old_text]: of the old lines, one after the other; of the new ones */
	bool is_laid_out;          /* both have the same code: other blanks, line ends or comments */
};

struct repository_file {
	uint32_t old_path, new_path; /* strings; 0: the file was made, or removed; they differ where it was renamed */
};

struct repository_commit {
	char id[REPOSITORY_ID_BYTES];
	uint32_t subject;                 /* string */
	bool is_merge;                    /* its hunks are against the first parent */
	char merged[REPOSITORY_ID_BYTES]; /* then the second parent */
	bool is_update;                   /* it merged what base has already; set by who knows (repository_ids()) */
	size_t first_hunk, hunk_count;    /* by file, in the order of lines */
	size_t first_file, file_count;
};

struct repository_history {
	struct string_table *strings;      /* owned */
	struct repository_commit *commits; /* owned, as those below; the newest first */
	struct repository_hunk *hunks;
	struct repository_file *files;
	/*
	 * A hash of each line's code, without blanks and comments, so that code is recognised where it was moved, taken
	 * back, or laid out anew. 0: the line says too little, as a bracket alone. Odd: it says so much that an equal
	 * one elsewhere is the same code.
	 */
	uint32_t *texts;
	size_t commit_count, hunk_count, file_count, text_count;
};

COMMON_MUST_CHECK
bool repository_parse_log(const void *bytes, size_t size, struct repository_history **history, struct error *err);
void repository_history_destroy(struct repository_history *history);

static inline void repository_history_cleanup(struct repository_history **history)
{
	repository_history_destroy(*history);
}
