/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ranks commits by the proven changes of the functions whose lines they changed. */
#include "commits/commits.h"

#include "commits/blame.h"
#include "commits/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_STRINGS_BYTES = 1 << 20 };

/* A commit that has less than this part of the largest score of a change is none of its causes. */
static const double least_score = 0.02;
/* How much less a commit is suspected for each function between the one that it changed and the innermost changed one.
 */
static const double score_of_caller = 0.6;

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

/* What a commit has done to a function. */
struct charge {
	size_t commit;
	uint32_t function;
	double share;
};

struct ranking {
	const struct diff *diff;
	const struct repository_history *history;
	struct blame blame;
	struct charge *charges; /* owned */
	size_t charge_count, charge_capacity;
	double *scores;      /* owned: [commit] of the change at hand */
	uint32_t *functions; /* owned: [commit] where it has that score */
	double sum;          /* of the proven changes in their direction */
	struct error *err;
};

static void ranking_deinit(struct ranking *r)
{
	blame_deinit(&r->blame);
	free(r->charges);
	free(r->scores);
	free(r->functions);
}

static bool charge(struct ranking *r, size_t commit, uint32_t function, double share)
{
	for (size_t i = 0; i < r->charge_count; i++) {
		if (r->charges[i].commit == commit && r->charges[i].function == function) {
			r->charges[i].share += share;
			return true;
		}
	}
	if (!ARRAY_RESERVE(&r->charges, &r->charge_capacity, r->charge_count + 1, ARRAY_MAX_IDS, r->err))
		return false;
	r->charges[r->charge_count++] = (struct charge){ commit, function, share };
	return true;
}

/* ---- One change ---- */

/* Scores the commits by the functions of a chain of calls, the innermost first. */
static bool score_chain(struct ranking *r, const struct diff_change *change)
{
	double factor = 1;

	memset(r->scores, 0, (r->history->commit_count + 1) * sizeof(*r->scores));
	for (size_t i = change->count; i > 0; i--) {
		uint32_t function = r->diff->change_functions[change->first + i - 1];
		bool is_touched = false;

		if (r->diff->functions[function].code == DIFF_CODE_SAME)
			continue;
		if (!blame_function(&r->blame, function, r->err))
			return false;
		for (size_t j = 0; j < r->blame.part_count; j++) {
			const struct blame_part *part = &r->blame.parts[j];

			is_touched = true;
			if (part->nearness * factor <= r->scores[part->commit])
				continue;
			r->scores[part->commit] = part->nearness * factor;
			r->functions[part->commit] = function;
		}
		factor *= is_touched ? score_of_caller : 1;
	}
	return true;
}

/* Commits share a change by the squares of their scores: what is half as near is hardly the cause. */
static bool share_change(struct ranking *r, double amount)
{
	double best = 0, sum = 0;

	for (size_t i = 0; i < r->history->commit_count; i++)
		best = fmax(best, r->scores[i]);
	for (size_t i = 0; i < r->history->commit_count; i++)
		if (r->scores[i] > best * least_score)
			sum += r->scores[i] * r->scores[i];
	for (size_t i = 0; sum > 0 && i < r->history->commit_count; i++)
		if (r->scores[i] > best * least_score &&
			!charge(r, i, r->functions[i], amount * r->scores[i] * r->scores[i] / sum))
			return false;
	return true;
}

static bool charge_all(struct ranking *r)
{
	const struct diff *diff = r->diff;

	for (size_t i = 0; i < diff->change_count; i++) {
		const struct diff_change *change = &diff->changes[i];
		double delta = diff_change_estimate(diff, change)->delta;

		if (change->is_of_others || (delta > 0) != r->blame.is_increase)
			continue;
		r->sum += fabs(delta);
		if (!score_chain(r, change) || !share_change(r, fabs(delta)))
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

/* Of equal shares the newer commit comes first. */
static int by_share(const void *left, const void *right)
{
	const struct commits_suspect *a = left, *b = right;

	return a->share != b->share ? ORDER(b->share, a->share) : ORDER(a->commit, b->commit);
}

static bool add_suspect(
	struct commits *commits, const struct charge *charges, size_t count, double sum, struct error *err)
{
	struct commits_suspect *suspect = &commits->suspects[commits->suspect_count];

	*suspect = (struct commits_suspect){ .commit = charges[0].commit,
		.functions = malloc(count * sizeof(*suspect->functions)) };
	if (!suspect->functions)
		return error_set_memory(err);
	for (size_t i = 0; i < count; i++) {
		suspect->functions[suspect->function_count++] = charges[i].function;
		suspect->share += charges[i].share / sum;
	}
	commits->suspect_count++;
	return true;
}

static bool make_suspects(struct ranking *r, struct commits *commits)
{
	commits->suspects = calloc(r->charge_count + 1, sizeof(*commits->suspects));
	if (!commits->suspects)
		return error_set_memory(r->err);
	if (r->charge_count > 0)
		qsort(r->charges, r->charge_count, sizeof(*r->charges), by_commit_and_share);
	for (size_t i = 0, next; i < r->charge_count; i = next) {
		for (next = i + 1; next < r->charge_count && r->charges[next].commit == r->charges[i].commit;)
			next++;
		if (!add_suspect(commits, &r->charges[i], next - i, r->sum, r->err))
			return false;
	}
	if (commits->suspect_count > 0)
		qsort(commits->suspects, commits->suspect_count, sizeof(*commits->suspects), by_share);
	return true;
}

/* The direction of what is proven in all. */
static bool proves_increase(const struct diff *diff)
{
	double sum = 0;

	for (size_t i = 0; i < diff->change_count; i++)
		if (!diff->changes[i].is_of_others)
			sum += diff_change_estimate(diff, &diff->changes[i])->delta;
	return sum > 0;
}

static bool rank(struct ranking *r, const struct profile *const profiles[DIFF_SIDES],
	const struct commits_sources *sources, struct commits *commits)
{
	size_t count = r->history->commit_count;

	r->blame.is_increase = proves_increase(r->diff);
	r->scores = calloc(count + 1, sizeof(*r->scores));
	r->functions = calloc(count + 1, sizeof(*r->functions));
	if (!r->scores || !r->functions)
		return error_set_memory(r->err);
	if (!blame_init(&r->blame, r->diff, profiles, r->history, sources, r->err) || !charge_all(r) ||
		!make_suspects(r, commits))
		return false;
	commits->is_executed = TAKE(r->blame.trace.is_executed);
	for (size_t i = 0; i < count; i++)
		commits->not_executed_count += !commits->is_executed[i];
	return commits_add_words(commits, r->diff, profiles, r->blame.is_increase, r->err);
}

bool commits_rank(const struct diff *diff, const struct profile *const profiles[DIFF_SIDES],
	const struct repository_history *history, const struct commits_sources *sources, struct commits **commits,
	struct error *err)
{
	CLEANUP(commits_cleanup) struct commits *made = calloc(1, sizeof(*made));
	CLEANUP(ranking_deinit) struct ranking r = { .diff = diff, .history = history, .err = err };

	if (!made)
		return error_set_memory(err);
	made->history = history;
	if (!string_table_create(MAX_STRINGS_BYTES, &made->strings, err) || !rank(&r, profiles, sources, made))
		return false;
	*commits = TAKE(made);
	return true;
}
