/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/statistics/units.h"

#include "diff/evidence/evidence.h"
#include "diff/match/interrupts.h"
#include "diff/statistics/basis.h"
#include "diff/statistics/layouts.h"
#include "diff/statistics/row_shares.h"
#include "diff/statistics/sums.h"
#include "diff/statistics/tiers.h"
#include "diff/statistics/weights.h"
#include "diff/statistics/work.h"

#include <math.h>
#include <stdlib.h>

static const int64_t min_block_ns = 250000000;

/* Only this number of nodes, the largest ones, is tested one by one; exact counts are compared without a test. */
enum { MAX_NODE_ROWS = 20000 };

/* ---- Choosing the rows ---- */

static bool worth_a_row(const struct diff_build *build, const double raw[DIFF_SIDES])
{
	const struct diff *diff = build->diff;
	double samples =
		build_samples(build, DIFF_BASE, raw[DIFF_BASE]) + build_samples(build, DIFF_HEAD, raw[DIFF_HEAD]);
	double time = raw[0] + raw[1] * diff->scale.factor;

	return evidence_is_hypothesis(samples, 1) && time >= build_least_effect(build);
}

struct sized_node {
	double size;
	uint32_t node;
};

static int units_by_falling_size(const void *a, const void *b)
{
	const struct sized_node *x = a, *y = b;

	return x->size != y->size ? ORDER(y->size, x->size) : ORDER(x->node, y->node);
}

static void choose_nodes(const struct diff_build *build, struct sized_node **chosen, size_t *count)
{
	const struct diff *diff = build->diff;
	struct sized_node *nodes = NULL;
	size_t capacity = 0, used = 0;

	for (uint32_t node = 1; node < diff->node_count; node++) {
		double raw[DIFF_SIDES] = { diff->node_total[0][node], diff->node_total[1][node] };

		if ((diff->nodes[node].flags & DIFF_NODE_INTERRUPT) || !worth_a_row(build, raw))
			continue;
		ARRAY_GROW(&nodes, &capacity, used + 1);
		nodes[used++] = (struct sized_node){ raw[0] + raw[1] * diff->scale.factor, node };
	}
	if (used > 0)
		qsort(nodes, used, sizeof(*nodes), units_by_falling_size);
	*chosen = nodes;
	*count = used < MAX_NODE_ROWS || diff->is_exact ? used : MAX_NODE_ROWS;
}

static void choose_rows(const struct diff_build *build, struct experiment *experiment)
{
	const struct diff *diff = build->diff;
	CLEANUP(cleanup_free) struct sized_node *nodes = NULL;
	size_t node_count = 0, capacity;
	struct row *rows;

	/* A group is one node, and has no time but that of all of it. */
	if (!build->mixes)
		choose_nodes(build, &nodes, &node_count);
	capacity = 1 + 2 * diff->function_count + node_count;
	rows = memory_zeroed(capacity, sizeof(*rows));
	experiment->rows = rows;
	rows[experiment->row_count++] = (struct row){ .kind = ROW_WHOLE };
	for (uint32_t i = 0; i < diff->function_count; i++) {
		const struct diff_function *f = &diff->functions[i];
		bool changed = f->code == DIFF_CODE_CHANGED;

		/* Of what is the machine's, only waiting for a CPU is tested: for its own sake. */
		if (f->interrupt && diff_wait_class(diff, f) != PROFILE_WAIT_RUN_QUEUE)
			continue;
		if (!f->interrupt && !build->mixes && worth_a_row(build, f->raw_self))
			rows[experiment->row_count++] = (struct row){ .kind = ROW_SELF, .id = i, .changed = changed };
		if (worth_a_row(build, f->raw_total))
			rows[experiment->row_count++] = (struct row){ .kind = ROW_TOTAL, .id = i, .changed = changed };
	}
	for (size_t i = 0; i < node_count; i++) {
		uint32_t node = nodes[i].node;
		bool changed = diff->functions[diff->nodes[node].function].code == DIFF_CODE_CHANGED;

		rows[experiment->row_count++] = (struct row){ .kind = ROW_NODE, .id = node, .changed = changed };
	}
}

/* Returns what the group consists of that a function is; NULL: it is none, but the frame of a class of waits. */
static const struct mix *mix_of(const struct diff_build *build, uint32_t function)
{
	const struct diff *diff = build->diff;
	const char *name = diff_string(diff, diff->functions[function].name);
	uint32_t id = strcmp(name, build->mixes->no_value) == 0
			      ? 0
			      : string_table_find(build->mixes->names, name, strlen(name));

	if (strcmp(diff_string(diff, diff->functions[function].module), PROFILE_GROUP_MODULE) != 0 || id == UINT32_MAX)
		return NULL;
	return &build->mixes->items[id];
}

static void mix_rows(const struct diff_build *build, struct experiment *experiment)
{
	for (size_t i = 1; build->mixes && i < experiment->row_count; i++) {
		struct row *row = &experiment->rows[i];

		row->mix = mix_of(build, row->kind == ROW_NODE ? build->diff->nodes[row->id].function : row->id);
		if (!row->mix)
			continue;
		row->changed = row->mix->changed > 0.5;
		row->by_tier = row->mix->compiled > 0.5;
	}
}

/* ---- Units ---- */

size_t units_blocks(const struct profile *profile)
{
	CLEANUP(cleanup_free) int64_t *lengths = NULL;
	int64_t blocks;

	if (!profile->has_timeline || profile->event_count == 0)
		return 0;
	lengths = sums_run_lengths(profile);
	if (!lengths)
		return 0;
	blocks = sums_length(profile, lengths) / min_block_ns;
	return blocks < UNITS_MIN_BLOCKS ? 0 : blocks > UNITS_MAX_BLOCKS ? UNITS_MAX_BLOCKS : (size_t)blocks;
}

static size_t unit_count(const struct diff_build *build, enum diff_side side)
{
	const struct profile *profile = build->profiles[side];
	enum diff_evidence_mode mode = build->diff->evidence.mode;

	if (build->diff->whole)
		return basis_of(build->diff)->unit_count[side];
	switch (mode) {
	case DIFF_EVIDENCE_RUNS:
		return layouts_are_units(build) ? layouts_count(profile) : profile->run_count;
	case DIFF_EVIDENCE_EXACT:
		/* Parts of an execution are no repeats of each other. */
		return profile->run_count > 0 && !profile_has_phases(profile) ? profile->run_count : 1;
	case DIFF_EVIDENCE_SINGLE:
		return units_blocks(profile);
	case DIFF_EVIDENCE_NONE:
	case DIFF_EVIDENCE_COUNTS:
		return 1;
	}
	return 1;
}

/* How long threads wait depends on how they meet, which differs between starts by more than what they compute. */
static void units_weigh_waits(const struct diff_build *build, struct experiment *experiment)
{
	const struct diff *diff = build->diff;
	CLEANUP(row_shares_deinit) struct row_shares shares = { 0 };
	CLEANUP(cleanup_free) bool *waits = NULL;

	if (diff->waiting == DIFF_WAITING_NONE)
		return;
	waits = memory_zeroed(diff->node_count + 1, sizeof(*waits));
	for (uint32_t node = 0; node < diff->node_count; node++)
		waits[node] = build_is_wait(diff, node);
	row_shares_sum(build, waits, &shares);
	for (size_t i = 0; i < experiment->row_count; i++) {
		struct row *row = &experiment->rows[i];

		row->waits = row->mix ? row->mix->waits : row_share(diff, &shares, row);
	}
}

/* Runs are the runs of threads; with layouts, a unit is one of these. */
static void divide_by_runs(const struct profile *profile, const struct layouts_division *layouts, uint32_t **of_thread)
{
	*of_thread = memory_alloc((profile->thread_count + 1) * sizeof(**of_thread));
	for (size_t i = 0; i < profile->thread_count; i++) {
		uint32_t run = profile->threads[i].run;

		(*of_thread)[i] = layouts->count > 0 ? layouts->of_run[run] : run;
	}
}

static void fill_side(const struct diff_build *build, const struct row_index *index, enum diff_side side,
	struct experiment *experiment)
{
	const struct profile *profile = build->profiles[side];
	enum diff_evidence_mode mode = build->diff->evidence.mode;
	struct experiment_side *s = &experiment->sides[side];
	CLEANUP(cleanup_free) uint32_t *of_thread = NULL;
	CLEANUP(layouts_division_deinit) struct layouts_division layouts = { 0 };
	struct sums_division division = { .units = unit_count(build, side), .by_time = mode == DIFF_EVIDENCE_SINGLE };

	if (experiment->units_are_layouts)
		layouts_divide(profile, &layouts);
	if (division.units > 1 && !division.by_time)
		divide_by_runs(profile, &layouts, &of_thread);
	division.of_thread = of_thread;
	/* A count of a simulator is one. */
	s->sample_weight = build->diff->is_exact ? 1 : build->sample_weight[side];
	s->unit_count = division.units;
	sums_fill(build, index, side, &division, experiment->row_count, &s->values);
	layouts_level(&layouts, experiment->row_count, s->values);
}

void units_create(const struct diff_build *build, struct experiment *experiment)
{
	CLEANUP(row_index_cleanup) struct row_index *index = NULL;

	experiment->factor = build->diff->scale.factor;
	experiment->units_are_layouts = build->diff->evidence.mode == DIFF_EVIDENCE_RUNS && layouts_are_units(build);
	choose_rows(build, experiment);
	mix_rows(build, experiment);
	tiers_mark(build, experiment);
	units_weigh_waits(build, experiment);
	row_index_create(build->diff, experiment, &index);
	for (int side = 0; side < DIFF_SIDES; side++)
		fill_side(build, index, (enum diff_side)side, experiment);
	work_fill(build, experiment);
	basis_apply(build, experiment);
	experiment_finish(experiment);
	layouts_describe(build, experiment);
	basis_keep_units(build, experiment);
	weights_fill(build, experiment);
}
