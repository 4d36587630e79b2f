/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ranks commits by the proven changes of the functions whose lines they changed. */
#include "diff/commits/commits.h"

#include "diff/commits/amounts.h"
#include "diff/commits/blame.h"
#include "diff/commits/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_STRINGS_BYTES = 1 << 20 };

/* A commit that has less than this part of the largest score of a change is none of its causes. */
static const double least_score = 0.1;
/* One that has less than this of all that is proven is not listed. */
static const double least_share = 0.005;
/* A caller of the function that was changed is suspected as much less as that change is near to what took time. */
static const double part_of_inner = 0.7;

void commits_destroy(struct commits *commits)
{
	if (!commits)
		return;
	for (size_t i = 0; i < commits->suspect_count; i++)
		free(commits->suspects[i].functions);
	free(commits->suspects);
	free(commits->is_executed);
	string_table_destroy(commits->strings);
	free(commits);
}

/* The effect of a commit on a function. */
struct charge {
	size_t commit;
	uint32_t function;
	double share;
};

struct commits_ranking {
	const struct diff *diff;
	const struct repository_history *history;
	struct blame blame;
	struct charge *charges; /* owned */
	size_t charge_count, charge_capacity;
	double *amounts;     /* owned: [change] how much it is for itself */
	double *scores;      /* owned: [commit] of the change at hand */
	uint32_t *functions; /* owned: [commit] where it has that score */
	double sum;          /* of the proven changes in their direction */
	struct error *err;
};

static void commits_ranking_deinit(struct commits_ranking *r)
{
	blame_deinit(&r->blame);
	free(r->charges);
	free(r->amounts);
	free(r->scores);
	free(r->functions);
}

static bool commits_charge(struct commits_ranking *r, size_t commit, uint32_t function, double share)
{
	for (size_t i = 0; i < r->charge_count; i++) {
		if (r->charges[i].commit == commit && r->charges[i].function == function) {
			r->charges[i].share += share;
			return true;
		}
	}
	ARRAY_PUSH(&r->charges, &r->charge_capacity, &r->charge_count, (struct charge){ commit, function, share });
	return true;
}

/* ---- One change ---- */

/* Scores the commits that changed a function; `*factor` is how much its callers are still suspected. */
static bool score_function(struct commits_ranking *r, uint32_t function, double *factor)
{
	double best = 0;

	if (r->diff->functions[function].code == DIFF_CODE_SAME)
		return true;
	if (!blame_function(&r->blame, function, r->err))
		return false;
	for (size_t i = 0; i < r->blame.part_count; i++) {
		const struct blame_part *part = &r->blame.parts[i];

		best = fmax(best, part->nearness);
		if (part->nearness * *factor <= r->scores[part->commit])
			continue;
		r->scores[part->commit] = part->nearness * *factor;
		r->functions[part->commit] = function;
	}
	*factor *= 1 - part_of_inner * best;
	return true;
}

static bool has_score(const struct commits_ranking *r)
{
	for (size_t i = 0; i < r->history->commit_count; i++)
		if (r->scores[i] > 0)
			return true;
	return false;
}

/* Returns the nearest function above a node that a commit changed; PROFILE_NONE: there is none. */
static uint32_t changed_caller(const struct commits_ranking *r, uint32_t node)
{
	const struct diff *diff = r->diff;

	for (node = diff->nodes[node].parent; node; node = diff->nodes[node].parent) {
		uint32_t function = diff->nodes[node].function;

		if (diff->functions[function].code != DIFF_CODE_SAME && blame_is_changed(&r->blame, function))
			return function;
	}
	return PROFILE_NONE;
}

/*
 * Scores the commits that changed callers of a function, each by how much of the function's time is below it: where a
 * function is called more, less, or no longer, its callers were changed.
 */
static bool score_callers(struct commits_ranking *r, uint32_t function)
{
	const struct diff *diff = r->diff;
	const double *totals = diff->node_total[r->blame.is_increase ? DIFF_HEAD : DIFF_BASE];
	CLEANUP(cleanup_free) double *below = memory_zeroed(diff->function_count + 1, sizeof(*below));
	double sum = 0;

	if (!below)
		return error_set_memory(r->err);
	for (uint32_t i = 1; i < diff->node_count; i++) {
		uint32_t caller = diff->nodes[i].function == function ? changed_caller(r, i) : PROFILE_NONE;

		if (diff->nodes[i].function == function)
			sum += totals[i];
		if (caller != PROFILE_NONE)
			below[caller] += totals[i];
	}
	for (uint32_t i = 0; i < diff->function_count; i++) {
		if (!(below[i] > 0))
			continue;
		if (!blame_function(&r->blame, i, r->err))
			return false;
		for (size_t j = 0; j < r->blame.part_count; j++) {
			r->scores[r->blame.parts[j].commit] += below[i] / sum * r->blame.parts[j].nearness;
			r->functions[r->blame.parts[j].commit] = i;
		}
	}
	return true;
}

/* Scores the commits by the functions of a chain of calls, the innermost first; else by who calls it. */
static bool score_chain(struct commits_ranking *r, const struct diff_change *change)
{
	double factor = 1;

	memset(r->scores, 0, (r->history->commit_count + 1) * sizeof(*r->scores));
	for (size_t i = change->count; i > 0; i--)
		if (!score_function(r, r->diff->change_functions[change->first + i - 1], &factor))
			return false;
	return has_score(r) || score_callers(r, change->function);
}

/* Commits share a change by the squares of their scores: what is half as near is hardly the cause. */
static bool share_change(struct commits_ranking *r, double amount)
{
	double best = 0, sum = 0;

	for (size_t i = 0; i < r->history->commit_count; i++)
		best = fmax(best, r->scores[i]);
	for (size_t i = 0; i < r->history->commit_count; i++)
		if (r->scores[i] > best * least_score)
			sum += r->scores[i] * r->scores[i];
	for (size_t i = 0; sum > 0 && i < r->history->commit_count; i++)
		if (r->scores[i] > best * least_score &&
			!commits_charge(r, i, r->functions[i], amount * r->scores[i] * r->scores[i] / sum))
			return false;
	return true;
}

static bool charge_all(struct commits_ranking *r)
{
	for (size_t i = 0; i < r->diff->change_count; i++) {
		double amount = r->amounts[i];

		if (r->diff->changes[i].is_of_others || !amounts_matter(r->diff, amount))
			continue;
		r->sum += fabs(amount);
		r->blame.is_increase = amount > 0;
		if (!score_chain(r, &r->diff->changes[i]) || !share_change(r, fabs(amount)))
			return false;
	}
	return true;
}

/* ---- All of them ---- */

static int by_commit_and_share(const void *left, const void *right)
{
	const struct charge *a = left, *b = right;

	return a->commit != b->commit ? ORDER(a->commit, b->commit) : ORDER(b->share, a->share);
}

/* Orders by falling share; of equal shares the newer commit comes first. */
static int by_share(const void *left, const void *right)
{
	const struct commits_suspect *a = left, *b = right;

	return a->share != b->share ? ORDER(b->share, a->share) : ORDER(a->commit, b->commit);
}

static void add_suspect(struct commits *commits, const struct charge *charges, size_t count, double sum)
{
	struct commits_suspect *suspect = &commits->suspects[commits->suspect_count];

	*suspect = (struct commits_suspect){ .commit = charges[0].commit,
		.functions = memory_alloc(count * sizeof(*suspect->functions)) };
	for (size_t i = 0; i < count; i++) {
		suspect->functions[suspect->function_count++] = charges[i].function;
		suspect->share += charges[i].share / sum;
	}
	commits->suspect_count += suspect->share >= least_share;
	if (suspect->share < least_share)
		free(suspect->functions);
}

static bool make_suspects(struct commits_ranking *r, struct commits *commits)
{
	commits->suspects = memory_zeroed(r->charge_count + 1, sizeof(*commits->suspects));
	if (r->charge_count > 0)
		qsort(r->charges, r->charge_count, sizeof(*r->charges), by_commit_and_share);
	for (size_t i = 0, next; i < r->charge_count; i = next) {
		for (next = i + 1; next < r->charge_count && r->charges[next].commit == r->charges[i].commit;)
			next++;
		add_suspect(commits, &r->charges[i], next - i, r->sum);
	}
	if (commits->suspect_count > 0)
		qsort(commits->suspects, commits->suspect_count, sizeof(*commits->suspects), by_share);
	return true;
}

static bool commits_rank_all(struct commits_ranking *r, const struct profile *const profiles[DIFF_SIDES],
	const struct commits_sources *sources, struct commits *commits)
{
	size_t count = r->history->commit_count;

	r->scores = memory_zeroed(count + 1, sizeof(*r->scores));
	r->functions = memory_zeroed(count + 1, sizeof(*r->functions));
	r->amounts = memory_zeroed(r->diff->change_count + 1, sizeof(*r->amounts));
	if (!blame_init(&r->blame, r->diff, profiles, r->history, sources, r->err))
		return false;
	amounts_of_changes(r->diff, r->blame.partners, r->amounts);
	if (!charge_all(r) || !make_suspects(r, commits))
		return false;
	commits->is_executed = memory_zeroed(count + 1, sizeof(*commits->is_executed));
	for (size_t i = 0; i < count; i++) {
		commits->is_executed[i] = blame_is_executed(&r->blame, i);
		commits->not_executed_count += !commits->is_executed[i];
	}
	return commits_add_words(commits, r->diff, profiles, r->err);
}

bool commits_rank(const struct diff *diff, const struct profile *const profiles[DIFF_SIDES],
	const struct repository_history *history, const struct commits_sources *sources, struct commits **commits,
	struct error *err)
{
	CLEANUP(commits_cleanup) struct commits *made = memory_zeroed(1, sizeof(*made));
	CLEANUP(commits_ranking_deinit) struct commits_ranking r = { .diff = diff, .history = history, .err = err };

	made->history = history;
	made->diff = diff;
	made->strings = string_table_begin(MAX_STRINGS_BYTES);
	if (!commits_rank_all(&r, profiles, sources, made))
		return false;
	*commits = TAKE(made);
	return true;
}
