/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Chooses functions by name, by proof, and by size. */
#include "listing/choose.h"

#include <math.h>
#include <regex.h>
#include <string.h>

/* A function and what it is chosen by. */
struct candidate {
	uint32_t function;
	bool is_own; /* its own time is proven to differ */
	double size;
};

struct choice {
	const struct diff *diff;
	bool *chosen;
	size_t count;
	struct candidate *candidates; /* owned; room for all functions */
};

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

static bool is_named(const struct diff *diff, const regex_t *regex, const struct diff_function *f)
{
	const uint32_t names[] = { f->shown, f->name, f->key };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (regexec(regex, diff_string(diff, names[i]), 0, NULL, 0) == 0)
			return true;
	return f->moved_to != PROFILE_NONE && f->tier == DIFF_TIER_MOVED &&
	       regexec(regex, diff_string(diff, diff->functions[f->moved_to].shown), 0, NULL, 0) == 0;
}

static bool refuse_none(const struct diff *diff, const char *expression, struct error *err)
{
	enum { MOST_LISTED = 5 };
	char listed[400] = "";
	size_t used = 0, count = 0;

	for (size_t i = 0; i < diff->function_count && count < MOST_LISTED; i++) {
		if (!can_be_listed(diff, &diff->functions[i]))
			continue;
		used += (size_t)snprintf(listed + used, sizeof(listed) - used, "%s%.60s", count > 0 ? ", " : "",
			diff_string(diff, diff->functions[i].shown));
		count++;
	}
	return error_set(err, ERROR_NOT_FOUND, "no function that was sampled matches '%.120s'; there %s %s%s",
		expression, count == 1 ? "is" : "are", listed, count == MOST_LISTED ? ", …" : "");
}

static bool compile(const char *expression, regex_t *regex, struct error *err)
{
	int failed = regcomp(regex, expression, REG_EXTENDED | REG_ICASE | REG_NOSUB);
	char why[160];

	if (failed == 0)
		return true;
	regerror(failed, regex, why, sizeof(why));
	return error_set(err, ERROR_USAGE,
		"'%.120s' is not a regular expression: %s; as in grep -E, a backslash takes the meaning of a character away, as in 'operator\\+'",
		expression, why);
}

static bool choose_by_name(struct choice *choice, const char *expression, size_t *left_out, struct error *err)
{
	const struct diff *diff = choice->diff;
	regex_t regex;

	if (!compile(expression, &regex, err))
		return false;
	for (size_t i = 0; i < diff->function_count; i++) {
		if (!can_be_listed(diff, &diff->functions[i]) || !is_named(diff, &regex, &diff->functions[i]))
			continue;
		if (choice->count == LISTING_MOST_FUNCTIONS) {
			++*left_out;
			continue;
		}
		choice->chosen[i] = true;
		choice->count++;
	}
	regfree(&regex);
	return choice->count > 0 || refuse_none(diff, expression, err);
}

/* ---- By proof and by size ---- */

static int by_size(const void *left, const void *right)
{
	const struct candidate *a = left, *b = right;

	if (a->is_own != b->is_own)
		return a->is_own ? -1 : 1;
	return a->size != b->size ? ORDER(b->size, a->size) : ORDER(a->function, b->function);
}

static void choose_first(struct choice *choice, size_t count, size_t wanted)
{
	qsort(choice->candidates, count, sizeof(*choice->candidates), by_size);
	for (size_t i = 0; i < count && i < wanted && choice->count < LISTING_MOST_FUNCTIONS; i++) {
		bool *chosen = &choice->chosen[choice->candidates[i].function];

		choice->count += !*chosen;
		*chosen = true;
	}
}

static void choose_proven(struct choice *choice, size_t wanted)
{
	const struct diff *diff = choice->diff;
	size_t count = 0;

	for (uint32_t i = 0; i < diff->function_count; i++) {
		const struct diff_function *f = &diff->functions[i];
		bool is_own = diff_state_is_difference(f->self.state);

		if (can_be_listed(diff, f) && choose_is_proven(diff, f))
			choice->candidates[count++] =
				(struct candidate){ i, is_own, fabs(is_own ? f->self.delta : f->total.delta) };
	}
	choose_first(choice, count, wanted);
}

static void choose_largest(struct choice *choice, size_t wanted)
{
	const struct diff *diff = choice->diff;
	size_t count = 0;

	for (uint32_t i = 0; i < diff->function_count; i++)
		if (can_be_listed(diff, &diff->functions[i]))
			choice->candidates[count++] = (struct candidate){ i, false, total_of(&diff->functions[i]) };
	choose_first(choice, count, wanted);
}

bool choose_functions(const struct diff *diff, const struct listing_options *options, bool *chosen, size_t *left_out,
	struct error *err)
{
	CLEANUP(cleanup_free)
	struct candidate *candidates = malloc((diff->function_count + 1) * sizeof(*candidates));
	struct choice choice = { .diff = diff, .chosen = chosen, .candidates = candidates };

	if (!candidates)
		return error_set_memory(err);
	if (options->functions && !choose_by_name(&choice, options->functions, left_out, err))
		return false;
	if (options->proven > 0)
		choose_proven(&choice, options->proven);
	if (options->largest > 0)
		choose_largest(&choice, options->largest);
	return true;
}
