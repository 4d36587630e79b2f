/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/harness/harness.h"

/*
 * The variables that harnesses look for in their environment. Variables are set in this process, whose children inherit
 * them, and put back afterwards.
 */

enum { ENVIRONMENT_VARIABLES = 8 };

struct environment {
	struct {
		const char *name;
		char *before; /* owned; NULL: it was not set */
	} saved[ENVIRONMENT_VARIABLES];
	size_t saved_count;
};

/*
 * `directory`: for files of this recording. Harnesses leave theirs in directory/profile, which is made.
 * First in PATH comes a folder of the installation with a `node` that asks a harness for the flags of node that it
 * needs (node.sh), if nobody else can write there.
 */
COMMON_MUST_CHECK
bool environment_set(struct environment *environment, enum harness_mode mode, const char *directory, struct error *err);
void environment_restore(struct environment *environment);

COMMON_MUST_CHECK
bool environment_set_variable(struct environment *environment, const char *name, const char *value, struct error *err);

/* Sets "ADDED" and, where the variable has a value, the separator and that. */
COMMON_MUST_CHECK
bool environment_put_before(
	struct environment *environment, const char *name, const char *added, const char *separator, struct error *err);

/* directory/profile, in `path` of PATH_MAX bytes. */
COMMON_MUST_CHECK
bool environment_folder(const char *directory, char *path, struct error *err);
