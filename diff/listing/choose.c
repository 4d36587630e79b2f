/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Chooses functions by name, by proof, and by size. */
#include "diff/listing/choose.h"

#include <math.h>
#include <string.h>

/* A function and what it is chosen by. */
struct choose_candidate {
	uint32_t function;
	bool is_own; /* its own time is proven to differ */
	double size;
};

void choice_deinit(struct listing_choice *choice)
{
	free(choice->chosen);
	free(choice->named);
}

bool choose_is_proven(const struct diff *diff, const struct diff_function *function)
{
	return diff->sides == DIFF_SIDES &&
	       (diff_state_is_difference(function->self.state) || diff_state_is_difference(function->total.state));
}

/* Waits have no lines; the earlier name of a function is an entry without time. */
static bool can_be_listed(const struct diff *diff, const struct diff_function *f)
{
	return diff_wait_class(diff, f) == PROFILE_WAIT_NONE &&
	       (f->raw_total[DIFF_BASE] > 0 || f->raw_total[DIFF_HEAD] > 0);
}

static double total_of(const struct diff_function *f)
{
	return fmax(f->total.base, f->total.head);
}

/* ---- By name ---- */

static bool choose_is_named(const struct diff *diff, struct profile_pattern *pattern, const struct diff_function *f)
{
	return profile_pattern_matches(pattern, diff_string(diff, f->name), diff_string(diff, f->module),
		diff_string(diff, f->file), diff_string(diff, f->key));
}

/* Marks the functions that a name means which one of their parts has on a side: under another key, in a group. */
static void mark_by_members(const struct diff *diff, struct profile_pattern *pattern, bool *meant)
{
	for (size_t i = 0; i < diff->member_count; i++) {
		const struct diff_member *member = &diff->members[i];
		const struct diff_function *f = &diff->functions[member->function];

		meant[member->function] |= profile_pattern_matches(pattern, diff_string(diff, member->name),
			diff_string(diff, f->module), diff_string(diff, f->file), diff_string(diff, member->key));
	}
}

/* The earlier name of a function means it, too. */
static bool is_meant(const struct diff *diff, struct profile_pattern *pattern, const struct diff_function *f)
{
	return choose_is_named(diff, pattern, f) ||
	       (diff_tier_is_rename(f->tier) && f->moved_to != PROFILE_NONE &&
		       choose_is_named(diff, pattern, &diff->functions[f->moved_to]));
}

static bool refuse_none(const struct diff *diff, const struct profile_pattern *pattern, struct error *err)
{
	struct profile_similar similar = profile_similar(pattern);
	CLEANUP(buffer_deinit) struct buffer text = BUFFER_INIT(ERROR_MESSAGE_SIZE);

	for (size_t i = 0; i < diff->function_count; i++)
		profile_similar_offer(&similar, diff_string(diff, diff->functions[i].shown));
	profile_similar_append(&similar, &text);
	buffer_append(&text, "", 0);
	return error_set(err, ERROR_NOT_FOUND, "--list '%.120s': no function that was sampled is called so%s",
		pattern->text, text.failed ? "" : text.data);
}

static bool listing_choose_named(
	const struct diff *diff, struct profile_pattern *pattern, struct listing_choice *choice, struct error *err)
{
	CLEANUP(cleanup_free) bool *meant = memory_zeroed(diff->function_count + 1, sizeof(*meant));

	mark_by_members(diff, pattern, meant);
	for (size_t i = 0; i < diff->function_count; i++) {
		if (!can_be_listed(diff, &diff->functions[i]) ||
			(!meant[i] && !is_meant(diff, pattern, &diff->functions[i])))
			continue;
		if (choice->count == LISTING_MOST_FUNCTIONS) {
			choice->left_out++;
			continue;
		}
		choice->chosen[i] = choice->named[i] = true;
		choice->count++;
	}
	return choice->count > 0 || refuse_none(diff, pattern, err);
}

static bool choose_by_name(
	const struct diff *diff, const char *expression, struct listing_choice *choice, struct error *err)
{
	struct profile_pattern pattern;
	bool done;

	done = profile_pattern_init(&pattern, "--list", expression, err) &&
	       listing_choose_named(diff, &pattern, choice, err);
	profile_pattern_deinit(&pattern);
	return done;
}

/* ---- By proof and by size ---- */

static int choose_by_size(const void *left, const void *right)
{
	const struct choose_candidate *a = left, *b = right;

	if (a->is_own != b->is_own)
		return a->is_own ? -1 : 1;
	return a->size != b->size ? ORDER(b->size, a->size) : ORDER(a->function, b->function);
}

static void choose_first(
	struct choose_candidate *candidates, size_t count, size_t wanted, struct listing_choice *choice)
{
	qsort(candidates, count, sizeof(*candidates), choose_by_size);
	for (size_t i = 0; i < count && i < wanted && choice->count < LISTING_MOST_FUNCTIONS; i++) {
		bool *chosen = &choice->chosen[candidates[i].function];

		choice->count += !*chosen;
		*chosen = true;
	}
}

static void choose_proven(
	const struct diff *diff, struct choose_candidate *candidates, size_t wanted, struct listing_choice *choice)
{
	size_t count = 0;

	for (uint32_t i = 0; i < diff->function_count; i++) {
		const struct diff_function *f = &diff->functions[i];
		bool is_own = diff_state_is_difference(f->self.state), is_cause = i == diff->cause.function;

		if (can_be_listed(diff, f) && choose_is_proven(diff, f))
			candidates[count++] = (struct choose_candidate){ i, is_own || is_cause,
				is_cause ? INFINITY : fabs(is_own ? f->self.delta : f->total.delta) };
	}
	choose_first(candidates, count, wanted, choice);
}

static void choose_largest(
	const struct diff *diff, struct choose_candidate *candidates, size_t wanted, struct listing_choice *choice)
{
	size_t count = 0;

	for (uint32_t i = 0; i < diff->function_count; i++)
		if (can_be_listed(diff, &diff->functions[i]))
			candidates[count++] = (struct choose_candidate){ i, false, total_of(&diff->functions[i]) };
	choose_first(candidates, count, wanted, choice);
}

bool choose_functions(const struct diff *diff, const struct listing_options *options, struct listing_choice *choice,
	struct error *err)
{
	CLEANUP(cleanup_free)
	struct choose_candidate *candidates = memory_alloc((diff->function_count + 1) * sizeof(*candidates));

	*choice = (struct listing_choice){
		.chosen = memory_zeroed(diff->function_count + 1, sizeof(*choice->chosen)),
		.named = memory_zeroed(diff->function_count + 1, sizeof(*choice->named)),
	};
	if (options->functions && !choose_by_name(diff, options->functions, choice, err))
		return false;
	if (options->proven > 0)
		choose_proven(diff, candidates, options->proven, choice);
	if (options->largest > 0)
		choose_largest(diff, candidates, options->largest, choice);
	return true;
}
