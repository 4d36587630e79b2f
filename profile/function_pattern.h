/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

struct expression;
struct profile;

/*
 * Which functions somebody means by a text, as in the search of the page (render/viewer/model/pattern.js):
 *
 *	parse|scan         names that this POSIX extended regular expression matches somewhere, as shown or in full;
 *	                   without a capital letter, in either case
 *	module:libz        the functions of such modules; file:http.c: those of such files
 *	module:libz.so.1   the same: modules have no version (profile/identity.h)
 *	id:0f3a9c21b7de    the function of this id, which reports in JSON and text name
 */
enum profile_pattern_part { PROFILE_PATTERN_NAME, PROFILE_PATTERN_MODULE, PROFILE_PATTERN_FILE, PROFILE_PATTERN_ID };

struct profile_pattern {
	const char *text; /* borrowed: as it was given */
	enum profile_pattern_part part;
	struct expression *expression; /* owned; NULL: an id */
	uint64_t id;
	struct buffer shown; /* the name that was tried last */
};

/* ERROR_USAGE names `option` and what is wrong with the expression. */
COMMON_MUST_CHECK
bool profile_pattern_init(struct profile_pattern *pattern, const char *option, const char *text, struct error *err);
void profile_pattern_deinit(struct profile_pattern *pattern);

/*
 * Returns whether a function is meant, by its full name, its module ("": none), its file ("": that of its name, or not
 * known) and its key.
 */
bool profile_pattern_matches(
	struct profile_pattern *pattern, const char *name, const char *module, const char *file, const char *key);

/* Fills [function] with which functions of a profile are meant, and returns their number. */
size_t profile_pattern_find(struct profile_pattern *pattern, const struct profile *profile, bool *found);

/*
 * The id of a function: of its key, so that it is the same in every report, build and run. Two functions of a report
 * have one with a probability below 0.0001.
 */
enum { PROFILE_FUNCTION_ID_DIGITS = 12 };
void profile_function_id(const char *key, char id[static PROFILE_FUNCTION_ID_DIGITS + 1]);

/*
 * Collects the names that are most like what a pattern asks for, of those that are offered, for messages about one that
 * matches nothing.
 */
enum { PROFILE_SIMILAR_NAMES = 3 };
struct profile_similar {
	const char *word; /* the longest word of the pattern; points into its text */
	size_t word_size;
	struct {
		const char *name; /* borrowed */
		size_t score;
	} best[PROFILE_SIMILAR_NAMES];
};

struct profile_similar profile_similar(const struct profile_pattern *pattern);
void profile_similar_offer(struct profile_similar *similar, const char *name);

/* Fails with ERROR_NOT_FOUND: no function of these profiles is meant, with some that have similar names. */
COMMON_MUST_CHECK
bool profile_pattern_refuse(const struct profile_pattern *pattern, const char *option,
	const struct profile *const *profiles, size_t count, struct error *err);

/* Appends "; similar names: 'a', 'b'"; nothing if there is none. */
void profile_similar_append(const struct profile_similar *similar, struct buffer *out);
