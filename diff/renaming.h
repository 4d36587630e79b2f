/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

struct diff;
struct diff_function;

/* What has another name in head with all functions in it. */
enum diff_renamed {
	DIFF_RENAMED_CLASS, /* or a namespace, or a package */
	DIFF_RENAMED_FILE,  /* of a script */
	DIFF_RENAMED_MODULE,
};
struct diff_renaming {
	enum diff_renamed kind;
	uint32_t scope[2]; /* [side] strings: its name, or the path of the file */
	uint32_t shown[2]; /* [side] strings: `Old.*`, `New.*` */
	uint32_t example;  /* function of head: one of them; PROFILE_NONE: none is noted */
	size_t functions;  /* that are known to be in both */
};

/* Returns whether a renamed function is in a class that was renamed with all functions in it. */
bool diff_is_of_renaming(const struct diff *diff, const struct diff_function *function);
