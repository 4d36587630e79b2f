/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Judges rows: those of functions that are proven to differ become groups of samples, compared as the whole was. */
#include "diff/listing/choose.h"
#include "diff/listing/lister.h"

#include "profile/profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Fewer samples of a row on both sides prove nothing that somebody could see. */
static const double least_samples = 10;

enum { NAME_BYTES = 12 };
static const char rest_name[] = "rest";

struct judging {
	struct lister *lister;
	struct listing_row **rows; /* owned; [group] */
	uint32_t *groups;          /* owned; [row over all functions] its group; PROFILE_NONE: it has none */
	char (*names)[NAME_BYTES]; /* owned; [group] its number */
	const char **name_list;    /* owned; to these */
	size_t group_count;
	struct profile *regrouped[DIFF_SIDES]; /* owned */
	struct diff *diff;                     /* owned: of these */
};

static void judging_deinit(struct judging *judging)
{
	diff_destroy(judging->diff);
	for (int side = 0; side < DIFF_SIDES; side++)
		profile_destroy(judging->regrouped[side]);
	free(judging->rows);
	free(judging->groups);
	free(judging->names);
	free(judging->name_list);
}

/* ---- Groups ---- */

static void add_groups(struct judging *judging, const struct listing_function *listed, size_t first_row)
{
	for (size_t i = 0; i < listed->row_count; i++) {
		struct listing_row *row = &listed->rows[i];
		size_t group = judging->group_count;

		if (!(row->total.base > 0) && !(row->total.head > 0))
			continue;
		snprintf(judging->names[group], NAME_BYTES, "%zu", group);
		judging->name_list[group] = judging->names[group];
		judging->rows[group] = row;
		judging->groups[first_row + i] = (uint32_t)group;
		judging->group_count++;
	}
}

static void listing_evidence_make_groups(struct judging *judging)
{
	const struct lister *lister = judging->lister;
	size_t first_row = 0;

	judging->rows = memory_zeroed(lister->row_count + 1, sizeof(*judging->rows));
	judging->groups = memory_zeroed(lister->row_count + 1, sizeof(*judging->groups));
	judging->names = memory_zeroed(lister->row_count + 1, sizeof(*judging->names));
	judging->name_list = memory_zeroed(lister->row_count + 1, sizeof(*judging->name_list));
	memset(judging->groups, 0xff, (lister->row_count + 1) * sizeof(*judging->groups));
	for (size_t i = 0; i < lister->listing->function_count; i++) {
		const struct listing_function *listed = &lister->listing->functions[i];

		if (choose_is_proven(lister->diff, &lister->diff->functions[listed->function]))
			add_groups(judging, listed, first_row);
		first_row += listed->row_count;
	}
}

/* ---- Samples ---- */

/* The groups of all samples of a side. */
struct listing_evidence_grouping {
	uint32_t *first, *groups; /* owned */
	bool *left_out;           /* owned */
	uint32_t *met;            /* owned; [group] the last sample that it was met on, counted from 1 */
	size_t count, capacity;
};

static void listing_evidence_grouping_deinit(struct listing_evidence_grouping *grouping)
{
	free(grouping->first);
	free(grouping->groups);
	free(grouping->left_out);
	free(grouping->met);
}

/* Appends the groups of a sample, the outermost first: a chain leads outwards. */
static void listing_evidence_add_sample(
	const struct judging *judging, enum diff_side side, uint32_t sample, struct listing_evidence_grouping *grouping)
{
	const struct lister_places *places = &judging->lister->places[side];
	const struct diff_lines *lines = places->lines;
	size_t start = grouping->count;

	for (uint32_t chain = lines->stack_chains[judging->lister->profiles[side]->samples[sample].stack]; chain != 0;
		chain = lines->chains[chain].parent) {
		uint32_t row = places->rows[lines->chains[chain].place];
		uint32_t group = row == PROFILE_NONE ? PROFILE_NONE : judging->groups[row];

		if (group == PROFILE_NONE || grouping->met[group] == sample + 1)
			continue;
		ARRAY_PUSH(&grouping->groups, &grouping->capacity, &grouping->count, group);
		grouping->met[group] = sample + 1;
	}
	for (size_t i = start, j = grouping->count; i + 1 < j; i++, j--) {
		uint32_t other = grouping->groups[j - 1];

		grouping->groups[j - 1] = grouping->groups[i];
		grouping->groups[i] = other;
	}
}

static bool regroup(struct judging *judging, enum diff_side side, struct error *err)
{
	const struct diff *diff = judging->lister->diff;
	const struct profile *profile = judging->lister->profiles[side];
	CLEANUP(listing_evidence_grouping_deinit)
	struct listing_evidence_grouping grouping = {
		.first = memory_alloc((profile->sample_count + 1) * sizeof(*grouping.first)),
		.left_out = memory_alloc((profile->sample_count + 1) * sizeof(*grouping.left_out)),
		.met = memory_zeroed(judging->group_count + 1, sizeof(*grouping.met)),
	};
	struct profile_regrouping regrouping = {
		.names = judging->name_list, .group_count = judging->group_count, .rest = rest_name
	};

	ARRAY_GROW(&grouping.groups, &grouping.capacity, 1);
	for (uint32_t i = 0; i < profile->sample_count; i++) {
		grouping.first[i] = (uint32_t)grouping.count;
		/* Interrupts are no time of the program's own. */
		grouping.left_out[i] = diff->nodes[diff->sample_nodes[side][i]].flags & DIFF_NODE_INTERRUPT;
		if (!grouping.left_out[i])
			listing_evidence_add_sample(judging, side, i, &grouping);
	}
	grouping.first[profile->sample_count] = (uint32_t)grouping.count;
	regrouping.first = grouping.first;
	regrouping.groups = grouping.groups;
	regrouping.left_out = grouping.left_out;
	return profile_regroup(profile, &regrouping, &judging->regrouped[side], err);
}

/* ---- The verdict on rows ---- */

static bool has_few_samples(const struct diff *diff, const struct listing_row *row)
{
	return !diff->is_exact && !(row->time[DIFF_BASE].samples >= least_samples) &&
	       !(row->time[DIFF_HEAD].samples >= least_samples);
}

static void judge_rows(const struct judging *judging)
{
	const struct diff *diff = judging->diff;

	for (size_t i = 0; i < diff->function_count; i++) {
		const struct diff_function *f = &diff->functions[i];
		const char *name = diff_string(diff, f->name);
		struct listing_row *row;

		if (strcmp(name, rest_name) == 0 || strcmp(diff_string(diff, f->module), PROFILE_GROUP_MODULE) != 0)
			continue;
		row = judging->rows[strtoul(name, NULL, 10)];
		row->total = f->total;
		if (diff_state_is_difference(row->total.state) && has_few_samples(diff, row))
			row->total.state = DIFF_STATE_UNPROVEN;
	}
}

bool lister_judge_rows(struct lister *lister, struct error *err)
{
	CLEANUP(judging_deinit) struct judging judging = { .lister = lister };
	const struct diff_options options = { .like = lister->diff, .q = lister->diff->evidence.q };

	if (lister->diff->sides != DIFF_SIDES)
		return true;
	listing_evidence_make_groups(&judging);
	if (judging.group_count == 0)
		return true;
	for (int side = 0; side < DIFF_SIDES; side++)
		if (!regroup(&judging, (enum diff_side)side, err))
			return false;
	if (!diff_create(judging.regrouped[DIFF_BASE], judging.regrouped[DIFF_HEAD], &options, &judging.diff, err)) {
		error_prefix(err, "lines of functions");
		return false;
	}
	judge_rows(&judging);
	return true;
}
