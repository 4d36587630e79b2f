/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/diff.h"

/* What the tests open pages of; the tests know what is in them. */
struct kind {
	const char *name;
	/* Owned by the caller. base may be left NULL: a single profile, unless `empty` says otherwise. */
	void (*make)(struct profile *profiles[DIFF_SIDES]);
	/* One side without a sample beside the profile of the other. */
	enum { KIND_BOTH, KIND_EMPTY_BASE, KIND_EMPTY_HEAD } empty;
	const char *title; /* NULL: from the command */
};

/* NULL when there is none of that name. */
const struct kind *kind_find(const char *name);

/* One a line. */
void kind_list(void);
