/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"
#include "profile/origin.h"

struct profile;

/*
 * A part of a profile that somebody asks about: the filters of the page (docs/report.md), for text, JSON and Markdown.
 * Samples that are not selected are left out; runs, threads, facts and requests stay, so that what is left can be
 * compared at the scale of the whole.
 */
enum profile_selection_key {
	PROFILE_SELECT_FUNCTION,
	PROFILE_SELECT_MODULE,
	PROFILE_SELECT_FILE,
	PROFILE_SELECT_LINE, /* FILE:LINE, by the end of the path */
	PROFILE_SELECT_THREAD,
	PROFILE_SELECT_PROCESS,
	PROFILE_SELECT_BENCHMARK,
	PROFILE_SELECT_LABEL, /* a string label of pprof's samples */
};

struct profile_where {
	enum profile_selection_key key;
	const char *label; /* PROFILE_SELECT_LABEL: its key */
	const char *value; /* exact; of files and lines also the end of the path */
};

/*
 * Callbacks that tell what the other side of a comparison means as well: one side may call a function (by its key) or a
 * file as somebody says, and the other one otherwise. So may a side have no function that is meant, and no sample.
 */
struct profile_other_side {
	bool (*is_focused)(void *context, const char *key);
	bool (*is_hidden)(void *context, const char *key);
	/* the path of the same file on the other side; NULL: it has no other one */
	const char *(*other_path)(void *context, const char *path, size_t bytes);
	void *context;
};

struct profile_selection {
	const char *focus; /* stacks with such a function (profile/function_pattern.h); NULL: all */
	/* frames of such functions are left out; their time is that of their callers; NULL: none */
	const char *hide;
	/* likewise frames of other origins, but nothing of unknown origin; PROFILE_ORIGIN_UNKNOWN: none are */
	enum profile_origin only;
	const struct profile_where *where; /* all of them hold */
	size_t where_count;
	const struct profile_other_side *other_side; /* NULL: there is none */
};

/* Returns "function", "module", …; of PROFILE_SELECT_LABEL the label. */
const char *profile_selection_key_name(const struct profile_where *where);

/* Returns whether anything is left out. */
bool profile_selection_is_empty(const struct profile_selection *selection);

/*
 * ERROR_USAGE names the expression that is malformed; ERROR_NOT_FOUND: no function is called so, with some that are
 * similar; ERROR_EMPTY: nothing is selected. Frames of waits (profile/waits.h) always stay, and so do
 * those of interrupts (profile/interrupts.h), which are nobody's code.
 */
COMMON_MUST_CHECK
bool profile_select(const struct profile *profile, const struct profile_selection *selection, struct profile **selected,
	struct error *err);
