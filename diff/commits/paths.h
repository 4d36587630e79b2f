/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/model.h"
#include "diff/repository/repository.h"

/* The files of a repository that functions of two profiles are in, under all names that they have in a range of
 * commits. */
struct commit_paths {
	const char **of_strings[DIFF_SIDES]; /* owned: [string of that side's profile] a path, or NULL */
	struct string_table *names;          /* owned: each path once; id 0 is none */
};

void commit_paths_init(struct commit_paths *paths);
void commit_paths_deinit(struct commit_paths *paths);

/* Matches the files of a profile's functions with those of its commit. The system's are in no repository. */
COMMON_MUST_CHECK
bool commit_paths_match(struct commit_paths *paths, enum diff_side side, const struct profile *profile,
	const struct repository_files *files, struct error *err);

/* Adds the other names of files that commits renamed; `*added`: there were new ones. */
COMMON_MUST_CHECK
bool commit_paths_add_renames(
	struct commit_paths *paths, const struct repository_history *renames, bool *added, struct error *err);

/* Lists all of them, as an array that belongs to the caller, of strings that do not. */
void commit_paths_list(const struct commit_paths *paths, const char ***list, size_t *count);
