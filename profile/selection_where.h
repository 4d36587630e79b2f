/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"
#include "profile/selection.h"

/*
 * Keys by which samples are grouped (--by KEY) and chosen (--where KEY=VALUE): one table of keys, so that both mean the
 * same. A sample has one value of a key at most. Keys of code are about the frame that its self time counts to: that of
 * the function which an interpreter runs, and not that of a class of waits.
 */

/* Returns a key, without a value. Any word is one: what is none of the table's is a label. `text` must outlive it. */
struct profile_where profile_key_parse(const char *text);

/* Splits KEY=VALUE, whose '=' becomes '\0'; `text` must outlive the result. ERROR_USAGE shows an example. */
COMMON_MUST_CHECK
bool profile_where_parse(char *text, struct profile_where *where, struct error *err);

/*
 * Finds the value of each sample, as strings that are added to `names`: [sample] its id; 0: it has none. A function is
 * its name as people read it, a line FILE:LINE.
 */
COMMON_MUST_CHECK
bool profile_find_values(const struct profile *profile, const struct profile_where *key, struct string_table *names,
	uint32_t *of_sample, struct error *err);

/* Appends the keys of which samples have values, with commas between them, labels last. */
COMMON_MUST_CHECK
bool profile_append_keys(const struct profile *profile, struct buffer *out, struct error *err);

/* Returns whether the values of a key begin with the path of a file. */
static inline bool profile_key_has_path(const struct profile_where *key)
{
	return key->key == PROFILE_SELECT_FILE || key->key == PROFILE_SELECT_LINE;
}

/* Returns the bytes of the path that a value of such a key begins with. */
size_t profile_path_bytes(const struct profile_where *key, const char *value);

/*
 * Returns whether a value is the one that a condition asks for. Files and lines are also meant by the end of their
 * path, from a slash on: `parse.c:41` of `/srv/app/parse.c:41`; and by the path that the other side (NULL: there is
 * none) has for the file.
 */
bool profile_is_value(const struct profile_where *where, const char *value, const struct profile_other_side *other);

/*
 * Fails with ERROR_NOT_FOUND: no sample of the profiles (NULL is none) has the key, with the keys that are there; or
 * the value, with some that are. For conditions of which no sample holds all.
 */
bool profile_refuse_where(const struct profile *const *profiles, size_t profile_count,
	const struct profile_where *where, size_t count, struct error *err);

/* The same of a key alone, of which no sample has a value: for the option that has it. */
bool profile_refuse_key(const struct profile *const *profiles, size_t count, const struct profile_where *where,
	const char *option, struct error *err);

/* Leaves of `chosen` ([sample]) those of which all conditions of a selection hold. */
COMMON_MUST_CHECK
bool profile_where_samples(
	const struct profile *profile, const struct profile_selection *selection, bool *chosen, struct error *err);
