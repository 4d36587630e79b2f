/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes the part of profiles that somebody asks about. */
#include "diff/question.h"

#include <stdlib.h>
#include <string.h>

/* The texts are kept, since a key and its value are taken apart in place. */
bool question_add_where(struct question *question, const char *text, struct error *err)
{
	size_t *count = &question->selection.where_count;

	if (*count == QUESTION_MOST_WHERE)
		return error_set(err, ERROR_USAGE, "--where: the most is %d of them", QUESTION_MOST_WHERE);
	if (strlen(text) >= QUESTION_WHERE_BYTES)
		return error_set(err, ERROR_USAGE, "--where '%.60s': it is longer than %d bytes", text,
			QUESTION_WHERE_BYTES - 1);
	memcpy(question->where_texts[*count], text, strlen(text) + 1);
	if (!profile_where_parse(question->where_texts[*count], &question->where[*count], err))
		return false;
	question->selection.where = question->where;
	++*count;
	return true;
}

bool question_is_asked(const struct question *question)
{
	return !profile_selection_is_empty(&question->selection) || question->callers || question->callees ||
	       question->by;
}

bool question_is_of_benchmarks(const struct question *question, const struct profile *profile)
{
	return question->by && strcmp(question->by, "benchmark") == 0 && !question->callers && !question->callees &&
	       profile_selection_is_empty(&question->selection) && profile_has_phases(profile);
}

bool question_check(const struct question *question, struct error *err)
{
	return question->selection.focus || (!question->callers && !question->callees) ||
	       error_set(err, ERROR_USAGE, "%s: of which function? Name it with --focus REGEX",
		       question->callers ? "--callers" : "--callees");
}

/* ---- Functions of both sides ---- */

/* Keys of the functions of either side that an expression means. */
struct meant_keys {
	const char **keys; /* owned; borrowed texts, sorted */
	size_t count, capacity;
};

/* The functions that both sides mean by the question. */
struct meant {
	struct meant_keys focus, hide;
	const struct diff_file_pairs *files; /* borrowed; as in struct answer */
};

static void meant_deinit(struct meant *meant)
{
	free(meant->focus.keys);
	free(meant->hide.keys);
}

static int question_compare_keys(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static bool has_key(const struct meant_keys *keys, const char *key)
{
	return keys->count > 0 && bsearch(&key, keys->keys, keys->count, sizeof(*keys->keys), question_compare_keys);
}

static bool is_focused(void *context, const char *key)
{
	return has_key(&((const struct meant *)context)->focus, key);
}

static bool is_hidden(void *context, const char *key)
{
	return has_key(&((const struct meant *)context)->hide, key);
}

static const char *other_path(void *context, const char *path, size_t bytes)
{
	const struct meant *meant = context;

	return meant->files ? diff_file_partner(meant->files, path, bytes) : NULL;
}

static struct profile_other_side other_side(struct meant *meant)
{
	return (struct profile_other_side){ is_focused, is_hidden, other_path, meant };
}

static void question_add_key(struct meant_keys *keys, const char *key)
{
	ARRAY_PUSH(&keys->keys, &keys->capacity, &keys->count, key);
}

static void add_keys_of(struct meant_keys *keys, struct profile_pattern *pattern, const struct profile *profile)
{
	CLEANUP(cleanup_free) bool *found = memory_zeroed(profile->function_count + 1, sizeof(*found));

	(void)profile_pattern_find(pattern, profile, found);
	for (size_t i = 0; i < profile->function_count; i++)
		if (found[i])
			question_add_key(keys, profile_string(profile, profile->functions[i].key));
}

/* A function that has another key on the other side is one, so all its keys are meant. */
static void add_other_keys(struct meant_keys *keys, const struct diff *whole)
{
	CLEANUP(cleanup_free)
	const char **added = memory_zeroed(2 * (whole->function_count + whole->member_count) + 1, sizeof(*added));
	/* [function] whether it is meant by the key of one of its members */
	CLEANUP(cleanup_free) bool *meant = memory_zeroed(whole->function_count + 1, sizeof(*meant));
	size_t count = 0;

	qsort(keys->keys, keys->count, sizeof(*keys->keys), question_compare_keys);
	for (size_t i = 0; i < whole->member_count; i++)
		meant[whole->members[i].function] |= has_key(keys, diff_string(whole, whole->members[i].key));
	for (size_t i = 0; i < whole->function_count; i++) {
		const struct diff_function *f = &whole->functions[i];
		bool is_meant = has_key(keys, diff_string(whole, f->key));

		if (meant[i] && !is_meant)
			added[count++] = diff_string(whole, f->key);
		if (diff_tier_is_rename(f->tier) && f->moved_to < whole->function_count && is_meant)
			added[count++] = diff_string(whole, whole->functions[f->moved_to].key);
		meant[i] |= is_meant;
	}
	for (size_t i = 0; i < whole->member_count; i++)
		if (meant[whole->members[i].function])
			added[count++] = diff_string(whole, whole->members[i].key);
	for (size_t i = 0; i < count; i++)
		question_add_key(keys, added[i]);
	qsort(keys->keys, keys->count, sizeof(*keys->keys), question_compare_keys);
}

static bool find_meant(struct meant_keys *keys, const char *option, const char *text,
	const struct profile *const profiles[DIFF_SIDES], const struct diff *whole, struct error *err)
{
	struct profile_pattern pattern;
	bool done;

	if (!text)
		return true;
	done = profile_pattern_init(&pattern, option, text, err);
	for (int side = 0; done && side < DIFF_SIDES; side++)
		if (profiles[side])
			add_keys_of(keys, &pattern, profiles[side]);
	done = done && (keys->count > 0 || profile_pattern_refuse(&pattern, option, profiles, DIFF_SIDES, err));
	profile_pattern_deinit(&pattern);
	if (done)
		add_other_keys(keys, whole);
	return done;
}

/* ---- The part ---- */

static bool join_if_parts(struct profile **profile, struct error *err)
{
	struct profile *joined = NULL;

	if (!profile_join_phases(*profile, &joined, err))
		return false;
	if (joined) {
		profile_destroy(*profile);
		*profile = joined;
	}
	return true;
}

static bool make_parts(const struct question *question, const struct profile *const profiles[DIFF_SIDES],
	struct meant *meant, struct answer *answer, struct error *err)
{
	const struct profile_other_side other = other_side(meant);
	struct profile_selection selection = question->selection;

	selection.other_side = profiles[DIFF_BASE] ? &other : NULL;
	for (int side = 0; side < DIFF_SIDES; side++)
		if (profiles[side] && (!profile_select(profiles[side], &selection, &answer->profiles[side], err) ||
					      !join_if_parts(&answer->profiles[side], err)))
			return false;
	return true;
}

static bool question_compare(const struct profile *const profiles[DIFF_SIDES], const struct diff_options *options,
	struct diff **diff, struct error *err)
{
	return profiles[DIFF_BASE] ? diff_create(profiles[DIFF_BASE], profiles[DIFF_HEAD], options, diff, err)
				   : diff_create_single(profiles[DIFF_HEAD], options, diff, err);
}

/* The whole is compared as executions, also where it has benchmarks. */
static bool compare_whole(const struct profile *const profiles[DIFF_SIDES], const struct diff_options *options,
	struct answer *answer, struct error *err)
{
	struct profile **joined = answer->joined;

	return (!profiles[DIFF_BASE] || profile_join_phases(profiles[DIFF_BASE], &joined[DIFF_BASE], err)) &&
	       profile_join_phases(profiles[DIFF_HEAD], &joined[DIFF_HEAD], err) &&
	       question_compare((const struct profile *[]){ joined[DIFF_BASE] ? joined[DIFF_BASE] : profiles[DIFF_BASE],
					joined[DIFF_HEAD] ? joined[DIFF_HEAD] : profiles[DIFF_HEAD] },
		       options, &answer->whole, err);
}

/* Returns whether files or lines are asked about. */
static bool is_of_files(const struct question *question)
{
	const struct profile_where by = profile_key_parse(question->by ? question->by : "function");
	bool is = profile_key_has_path(&by);

	for (size_t i = 0; i < question->selection.where_count; i++)
		is |= profile_key_has_path(&question->selection.where[i]);
	return is;
}

static void find_files(
	const struct question *question, const struct profile *const profiles[DIFF_SIDES], struct answer *answer)
{
	const struct profile *all[DIFF_SIDES];

	if (!profiles[DIFF_BASE] || !is_of_files(question))
		return;
	for (int side = 0; side < DIFF_SIDES; side++)
		all[side] = answer->joined[side] ? answer->joined[side] : profiles[side];
	diff_file_pairs_create(answer->whole, all, &answer->files);
}

/* Which functions of the diff --focus means, whose callers and callees are asked for. */
static bool question_find_neighbours(const struct meant *meant, struct answer *answer,
	const struct profile *const profiles[DIFF_SIDES], struct error *err)
{
	const struct diff *diff = answer->part;

	answer->meant = memory_zeroed(diff->function_count + 1, sizeof(*answer->meant));
	for (size_t i = 0; i < diff->function_count; i++)
		answer->meant[i] = has_key(&meant->focus, diff_string(diff, diff->functions[i].key));
	return diff_neighbours_create(diff, profiles, answer->meant, &answer->neighbours, err);
}

/* Returns the estimate of the one group that a condition means; NULL: it means several, or none. */
static const struct diff_estimate *question_find_group(
	const struct diff_groups *groups, const struct profile_where *where, struct meant *meant)
{
	const struct profile_other_side other = other_side(meant);
	const struct diff_estimate *found = NULL;

	for (size_t i = 0; i < groups->count; i++) {
		if (!profile_is_value(where, diff_group_value(groups, &groups->items[i]), &other))
			continue;
		if (found)
			return NULL;
		found = &groups->items[i].time;
	}
	return found;
}

/* What one condition alone chooses is a group, and has the verdict that it has among all groups of its key. */
static bool take_group(const struct question *question, struct meant *meant, const struct answer *answer,
	const struct profile *const profiles[DIFF_SIDES], struct diff_groups **groups, struct diff_options *options,
	struct error *err)
{
	struct profile_selection rest = question->selection;

	rest.where_count = 0;
	if (!profiles[DIFF_BASE] || question->selection.where_count != 1 || !profile_selection_is_empty(&rest) ||
		answer->joined[DIFF_BASE] || answer->joined[DIFF_HEAD])
		return true;
	if (!diff_groups_create(answer->whole, profiles, question->selection.where, answer->files, groups, err))
		return false;
	options->total = question_find_group(*groups, question->selection.where, meant);
	return true;
}

static bool has_no_sample(const struct profile *const parts[DIFF_SIDES])
{
	return parts[DIFF_HEAD]->sample_count == 0 && (!parts[DIFF_BASE] || parts[DIFF_BASE]->sample_count == 0);
}

static bool answer_part(const struct question *question, const struct profile *const profiles[DIFF_SIDES],
	const struct diff_options *options, struct answer *answer, struct error *err)
{
	CLEANUP(meant_deinit) struct meant meant = { .files = answer->files };
	CLEANUP(diff_groups_cleanup) struct diff_groups *groups = NULL;
	struct diff_options of_part = *options;
	const struct profile *parts[DIFF_SIDES];

	of_part.like = answer->whole;
	if (!find_meant(&meant.focus, "--focus", question->selection.focus, profiles, answer->whole, err) ||
		!find_meant(&meant.hide, "--hide", question->selection.hide, profiles, answer->whole, err) ||
		!make_parts(question, profiles, &meant, answer, err))
		return false;
	parts[DIFF_BASE] = answer->profiles[DIFF_BASE];
	parts[DIFF_HEAD] = answer->profiles[DIFF_HEAD];
	if (question->selection.where_count > 0 && has_no_sample(parts))
		return profile_refuse_where(
			profiles, DIFF_SIDES, question->selection.where, question->selection.where_count, err);
	if (!take_group(question, &meant, answer, profiles, &groups, &of_part, err))
		return false;
	return question_compare(parts, &of_part, &answer->part, err) &&
	       ((!question->callers && !question->callees) || question_find_neighbours(&meant, answer, parts, err));
}

/* Chooses the profiles that are shown where all samples are. */
static void choose_all(const struct profile *const profiles[DIFF_SIDES], struct answer *answer)
{
	for (int side = 0; side < DIFF_SIDES; side++)
		answer->all[side] = answer->joined[side] ? answer->joined[side] : profiles[side];
}

static bool answer_groups(const struct question *question, struct answer *answer, struct error *err)
{
	const struct profile_where key = profile_key_parse(question->by);
	const struct profile *parts[DIFF_SIDES];

	for (int side = 0; side < DIFF_SIDES; side++)
		parts[side] = answer->part ? answer->profiles[side] : answer->all[side];
	return diff_groups_create(
		answer->part ? answer->part : answer->whole, parts, &key, answer->files, &answer->groups, err);
}

bool question_answer(const struct question *question, const struct profile *const profiles[DIFF_SIDES],
	const struct diff_options *options, struct answer *answer, struct error *err)
{
	*answer = (struct answer){ 0 };
	if (!compare_whole(profiles, options, answer, err))
		return false;
	find_files(question, profiles, answer);
	if (profile_selection_is_empty(&question->selection))
		choose_all(profiles, answer);
	else if (!answer_part(question, profiles, options, answer, err))
		return false;
	return !question->by || answer_groups(question, answer, err);
}

void answer_deinit(struct answer *answer)
{
	diff_neighbours_destroy(answer->neighbours);
	free(answer->meant);
	diff_groups_destroy(answer->groups);
	diff_file_pairs_destroy(answer->files);
	diff_destroy(answer->part);
	diff_destroy(answer->whole);
	for (int side = 0; side < DIFF_SIDES; side++) {
		profile_destroy(answer->profiles[side]);
		profile_destroy(answer->joined[side]);
	}
	*answer = (struct answer){ 0 };
}
