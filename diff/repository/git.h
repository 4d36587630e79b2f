/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/repository/child.h"
#include "diff/repository/repository.h"

/* Declarations that the files of this room share: an open repository, and how git is asked about it. */

enum { REPOSITORY_ENVIRONMENT = 24, REPOSITORY_SECONDS = 30, REPOSITORY_FORMAT_BYTES = 128 };

struct repository {
	char *name;    /* owned: the directory as the user named it, for messages */
	char *program; /* owned: absolute path of git */
	/* Owned: of the work tree, and of all work trees together. Absolute; they may hold any byte. */
	char *git_directory, *common_directory;
	struct temporary temporary;
	int directory; /* owned: the git directory that we have made, in `temporary`; -1: there is none */
	uid_t user;    /* git is this user's when it reads, if root runs us; as struct repository_child has it */
	bool is_shallow;
	char *objects; /* owned: a variable of the environment */
	const char *environment[REPOSITORY_ENVIRONMENT];
	const struct repository_bounds *bounds; /* borrowed; NULL: none */
};

/*
 * Finds git, and by it the repository. Here alone git reads the repository's configuration. `format`: how its objects
 * and its names are kept, a word in a line each.
 */
COMMON_MUST_CHECK
bool repository_find(struct repository *repository, char format[REPOSITORY_FORMAT_BYTES], struct error *err);

/* Runs git through the git directory of ours. `arguments` are those behind "git"; NULL ends them. */
COMMON_MUST_CHECK
bool repository_git(const struct repository *repository, const char *const *arguments, size_t max_bytes,
	unsigned int seconds, struct repository_answer *answer, struct error *err);

/*
 * Returns the output of an answer as text, without its last line's end; NULL: it is longer than `size`, or has a NUL.
 */
char *repository_answer_text(const struct repository_answer *answer, char *text, size_t size);
