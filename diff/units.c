/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/units.h"

#include <math.h>
#include <string.h>

static const int64_t min_block_ns = 250000000;

/* Fewer samples of both sides together cannot prove anything. */
static const double min_row_samples = 10;

/* Nodes beyond the largest so many are not tested one by one. */
enum { MAX_NODE_ROWS = 20000, WORD_BITS = 64 };

/* ---- Which rows ---- */

static bool worth_a_row(const struct diff_build *build, const double raw[DIFF_SIDES])
{
	const struct diff *diff = build->diff;
	double samples = raw[0] / build->sample_weight[0] + raw[1] / build->sample_weight[1];
	double time = raw[0] + raw[1] * diff->scale.factor;

	return samples >= min_row_samples && time >= build->options.min_effect_points / 100 * build_points_of(diff);
}

struct sized_node {
	double size;
	uint32_t node;
};

static int by_falling_size(const void *a, const void *b)
{
	const struct sized_node *x = a, *y = b;

	if (x->size != y->size)
		return x->size > y->size ? -1 : 1;
	return (x->node > y->node) - (x->node < y->node);
}

static bool choose_nodes(const struct diff_build *build, struct sized_node **chosen, size_t *count, struct error *err)
{
	const struct diff *diff = build->diff;
	struct sized_node *nodes = NULL;
	size_t capacity = 0, used = 0;

	for (uint32_t node = 1; node < diff->node_count; node++) {
		double raw[DIFF_SIDES] = { diff->node_total[0][node], diff->node_total[1][node] };

		if (!worth_a_row(build, raw))
			continue;
		if (!ARRAY_RESERVE(&nodes, &capacity, used + 1, ARRAY_MAX_IDS, err)) {
			free(nodes);
			return false;
		}
		nodes[used++] = (struct sized_node){ raw[0] + raw[1] * diff->scale.factor, node };
	}
	if (used > 0)
		qsort(nodes, used, sizeof(*nodes), by_falling_size);
	*chosen = nodes;
	*count = used < MAX_NODE_ROWS ? used : MAX_NODE_ROWS;
	return true;
}

static bool choose_rows(const struct diff_build *build, struct experiment *experiment, struct error *err)
{
	const struct diff *diff = build->diff;
	CLEANUP(cleanup_free) struct sized_node *nodes = NULL;
	size_t node_count, capacity;
	struct row *rows;

	if (!choose_nodes(build, &nodes, &node_count, err))
		return false;
	capacity = 1 + 2 * diff->function_count + node_count;
	rows = malloc(capacity * sizeof(*rows));
	if (!rows)
		return error_set_memory(err);
	experiment->rows = rows;
	rows[experiment->row_count++] = (struct row){ .kind = ROW_WHOLE };
	for (uint32_t i = 0; i < diff->function_count; i++) {
		const struct diff_function *f = &diff->functions[i];
		bool changed = f->code == DIFF_CODE_CHANGED;

		if (worth_a_row(build, f->raw_self))
			rows[experiment->row_count++] = (struct row){ .kind = ROW_SELF, .id = i, .changed = changed };
		if (worth_a_row(build, f->raw_total))
			rows[experiment->row_count++] = (struct row){ .kind = ROW_TOTAL, .id = i, .changed = changed };
	}
	for (size_t i = 0; i < node_count; i++) {
		uint32_t node = nodes[i].node;
		bool changed = diff->functions[diff->nodes[node].function].code == DIFF_CODE_CHANGED;

		rows[experiment->row_count++] = (struct row){ .kind = ROW_NODE, .id = node, .changed = changed };
	}
	return true;
}

/* ---- Summing up ---- */

/*
 * A node that some row asks about. All others hand their samples to the nearest such ancestor, so that closing a unit visits the
 * few nodes that matter and not the whole tree.
 */
struct place {
	uint32_t parent;                        /* place; its own for place 0, the root */
	uint32_t self_row, total_row, node_row; /* PROFILE_NONE: none */
};

/* Where a sample's value goes, and how much of it one event is. */
struct placed_sample {
	uint32_t place;
	double value;
};

/* One side's sums, unit by unit. */
struct summing {
	const struct diff_build *build;
	struct experiment_side *side;
	const struct places *places;
	struct placed_sample *samples; /* [sample] */
	double *self, *below;          /* [place] of the unit at hand */
	uint64_t *touched;             /* a bit a place: those that are not 0 */
};

struct places {
	uint32_t *of_node;   /* [node] */
	struct place *items; /* a parent before its children */
	size_t count, capacity;
};

static void places_deinit(struct places *places)
{
	free(places->of_node);
	free(places->items);
}

static void summing_deinit(struct summing *s)
{
	free(s->samples);
	free(s->self);
	free(s->below);
	free(s->touched);
}

static uint32_t *none_array(size_t count)
{
	uint32_t *array = malloc((count + 1) * sizeof(*array));

	if (array)
		memset(array, 0xff, (count + 1) * sizeof(*array));
	return array;
}

static bool add_places(
	const struct diff *diff, const struct diff_build *build, const uint32_t *rows[3], struct places *places, struct error *err)
{
	for (uint32_t node = 0; node < diff->node_count; node++) {
		const struct diff_node *n = &diff->nodes[node];
		struct place place = { 0, PROFILE_NONE, PROFILE_NONE, PROFILE_NONE };

		if (node > 0) {
			place.parent = places->of_node[n->parent];
			place.self_row = rows[0][n->function];
			place.total_row = build->topmost[node] ? rows[1][n->function] : PROFILE_NONE;
			place.node_row = rows[2][node];
			if (place.self_row == PROFILE_NONE && place.total_row == PROFILE_NONE && place.node_row == PROFILE_NONE &&
				places->items[place.parent].self_row == PROFILE_NONE) {
				places->of_node[node] = place.parent;
				continue;
			}
		}
		if (!ARRAY_RESERVE(&places->items, &places->capacity, places->count + 1, ARRAY_MAX_IDS, err))
			return false;
		places->of_node[node] = (uint32_t)places->count;
		places->items[places->count++] = place;
	}
	return true;
}

static bool places_init(
	const struct diff_build *build, const struct experiment *experiment, struct places *places, struct error *err)
{
	const struct diff *diff = build->diff;
	CLEANUP(cleanup_free) uint32_t *self_rows = none_array(diff->function_count);
	CLEANUP(cleanup_free) uint32_t *total_rows = none_array(diff->function_count);
	CLEANUP(cleanup_free) uint32_t *node_rows = none_array(diff->node_count);

	places->of_node = malloc(diff->node_count * sizeof(*places->of_node));
	if (!self_rows || !total_rows || !node_rows || !places->of_node)
		return error_set_memory(err);
	for (uint32_t row = 1; row < experiment->row_count; row++) {
		const struct row *r = &experiment->rows[row];

		(r->kind == ROW_SELF ? self_rows : r->kind == ROW_TOTAL ? total_rows : node_rows)[r->id] = row;
	}
	return add_places(diff, build, (const uint32_t *[]){ self_rows, total_rows, node_rows }, places, err);
}

static bool summing_init(struct summing *s, enum diff_side side, struct error *err)
{
	const struct profile *profile = s->build->profiles[side];
	const uint32_t *nodes = s->build->diff->sample_nodes[side];

	s->samples = malloc((profile->sample_count + 1) * sizeof(*s->samples));
	s->self = calloc(s->places->count, sizeof(double));
	s->below = calloc(s->places->count, sizeof(double));
	s->touched = calloc(s->places->count / WORD_BITS + 1, sizeof(*s->touched));
	if (!s->samples || !s->self || !s->below || !s->touched)
		return error_set_memory(err);
	for (size_t i = 0; i < profile->sample_count; i++) {
		const int64_t *values = &profile->values[i * profile->value_type_count];

		s->samples[i] = (struct placed_sample){ s->places->of_node[nodes[i]], (double)values[s->build->metric[side]] };
		if (s->side->unit_count > 1 && s->build->diff->evidence.mode == DIFF_EVIDENCE_SINGLE && values[0] > 1)
			s->samples[i].value /= (double)values[0];
	}
	return true;
}

static void add_to_row(const struct summing *s, uint32_t row, size_t unit, double value)
{
	if (row != PROFILE_NONE)
		s->side->values[row * s->side->unit_count + unit] += value;
}

static void touch(struct summing *s, size_t place)
{
	s->touched[place / WORD_BITS] |= (uint64_t)1 << place % WORD_BITS;
}

static void add_sample(struct summing *s, size_t sample)
{
	const struct placed_sample *placed = &s->samples[sample];

	s->self[placed->place] += placed->value;
	touch(s, placed->place);
}

/* Closes a place whose sum is complete. */
static void close_place(struct summing *s, size_t i, size_t unit)
{
	const struct place *place = &s->places->items[i];
	double self = s->self[i], total = s->below[i] + self;

	s->self[i] = s->below[i] = 0;
	if (i == 0) {
		add_to_row(s, 0, unit, total);
		return;
	}
	if (self != 0)
		add_to_row(s, place->self_row, unit, self);
	add_to_row(s, place->total_row, unit, total);
	add_to_row(s, place->node_row, unit, total);
	s->below[place->parent] += total;
	touch(s, place->parent);
}

/* Closes a unit: from the leaves up, so that a place's sum is complete when its turn comes. Most places have nothing to close. */
static void close_unit(struct summing *s, size_t unit)
{
	for (size_t word = s->places->count / WORD_BITS + 1; word-- > 0;) {
		while (s->touched[word]) {
			size_t bit = WORD_BITS - 1 - (size_t)__builtin_clzll(s->touched[word]);

			s->touched[word] &= ~((uint64_t)1 << bit);
			close_place(s, word * WORD_BITS + bit, unit);
		}
	}
}

static bool sum_runs(struct summing *s, enum diff_side side, struct error *err)
{
	const struct profile *profile = s->build->profiles[side];
	size_t runs = s->side->unit_count;
	CLEANUP(cleanup_free) uint32_t *starts = calloc(runs + 2, sizeof(*starts));
	CLEANUP(cleanup_free) uint32_t *order = malloc((profile->sample_count + 1) * sizeof(*order));

	if (!starts || !order)
		return error_set_memory(err);
	for (size_t i = 0; i < profile->sample_count; i++)
		starts[profile->threads[profile->samples[i].thread].run + 1]++;
	for (size_t run = 0; run < runs; run++)
		starts[run + 1] += starts[run];
	for (uint32_t i = 0; i < profile->sample_count; i++)
		order[starts[profile->threads[profile->samples[i].thread].run]++] = i;
	for (size_t run = 0, i = 0; run < runs; run++) {
		for (; i < starts[run]; i++)
			add_sample(s, order[i]);
		close_unit(s, run);
	}
	return true;
}

static bool sum_whole(struct summing *s, enum diff_side side)
{
	for (size_t i = 0; i < s->build->profiles[side]->sample_count; i++)
		add_sample(s, i);
	close_unit(s, 0);
	return true;
}

/* ---- Blocks of time ---- */

static uint32_t run_of_event(const struct profile *profile, size_t event)
{
	if (profile->run_count == 1)
		return 0;
	return profile->threads[profile->samples[profile->events[event].sample].thread].run;
}

/* Length of each run: what was recorded, or until its last event where that is later or nothing was recorded. */
static int64_t *run_lengths(const struct profile *profile)
{
	int64_t *lengths = calloc(profile->run_count + 1, sizeof(*lengths));

	for (size_t run = 0; lengths && run < profile->run_count; run++)
		lengths[run] = profile->runs[run].duration_ns > 0 ? profile->runs[run].duration_ns : 0;
	/* Events are in order: a run's last one comes first. */
	for (size_t i = lengths ? profile->event_count : 0; i-- > 0;) {
		uint32_t run = run_of_event(profile, i);

		if (profile->events[i].time_ns >= lengths[run])
			lengths[run] = saturating_add(profile->events[i].time_ns, 1);
		if (profile->run_count == 1)
			break;
	}
	return lengths;
}

static int64_t sum_lengths(const struct profile *profile, const int64_t *lengths)
{
	int64_t sum = 0;

	for (size_t run = 0; run < profile->run_count; run++)
		sum = saturating_add(sum, lengths[run]);
	return sum;
}

size_t units_blocks(const struct profile *profile)
{
	CLEANUP(cleanup_free) int64_t *lengths = NULL;
	int64_t blocks;

	if (!profile->has_timeline || profile->event_count == 0)
		return 0;
	lengths = run_lengths(profile);
	if (!lengths)
		return 0;
	blocks = sum_lengths(profile, lengths) / min_block_ns;
	return blocks < UNITS_MIN_BLOCKS ? 0 : blocks > UNITS_MAX_BLOCKS ? UNITS_MAX_BLOCKS : (size_t)blocks;
}

static bool sum_blocks(struct summing *s, enum diff_side side, struct error *err)
{
	const struct profile *profile = s->build->profiles[side];
	CLEANUP(cleanup_free) int64_t *lengths = run_lengths(profile);
	size_t open = 0, last = s->side->unit_count - 1;
	double block_ns, offset = 0;
	uint32_t run = 0;

	if (!lengths)
		return error_set_memory(err);
	block_ns = (double)sum_lengths(profile, lengths) / (double)s->side->unit_count;
	for (size_t i = 0; i < profile->event_count; i++) {
		for (; run < run_of_event(profile, i); run++)
			offset += (double)lengths[run];
		while (open < last && offset + (double)profile->events[i].time_ns >= (double)(open + 1) * block_ns)
			close_unit(s, open++);
		add_sample(s, profile->events[i].sample);
	}
	for (; open < s->side->unit_count; open++)
		close_unit(s, open);
	return true;
}

static size_t unit_count(const struct profile *profile, enum diff_evidence_mode mode)
{
	switch (mode) {
	case DIFF_EVIDENCE_RUNS:
		return profile->run_count;
	case DIFF_EVIDENCE_SINGLE:
		return units_blocks(profile);
	case DIFF_EVIDENCE_NONE:
	case DIFF_EVIDENCE_COUNTS:
		return 1;
	}
	return 1;
}

static bool sum_side(const struct summing *to, enum diff_evidence_mode mode, enum diff_side side, struct experiment *experiment,
	struct error *err)
{
	CLEANUP(summing_deinit) struct summing s = *to;
	const struct diff_build *build = s.build;

	s.side = &experiment->sides[side];
	s.side->sample_weight = build->sample_weight[side];
	s.side->unit_count = unit_count(build->profiles[side], mode);
	s.side->values = calloc(experiment->row_count * (s.side->unit_count + 1), sizeof(double));
	if (!s.side->values)
		return error_set_memory(err);
	if (!summing_init(&s, side, err))
		return false;
	switch (mode) {
	case DIFF_EVIDENCE_RUNS:
		return sum_runs(&s, side, err);
	case DIFF_EVIDENCE_SINGLE:
		return sum_blocks(&s, side, err);
	case DIFF_EVIDENCE_NONE:
	case DIFF_EVIDENCE_COUNTS:
		return sum_whole(&s, side);
	}
	return true;
}

bool units_create(const struct diff_build *build, enum diff_evidence_mode mode, struct experiment *experiment, struct error *err)
{
	CLEANUP(places_deinit) struct places places = { 0 };
	struct summing summing = { .build = build, .places = &places };

	experiment->factor = build->diff->scale.factor;
	return choose_rows(build, experiment, err) && places_init(build, experiment, &places, err) &&
	       sum_side(&summing, mode, DIFF_BASE, experiment, err) && sum_side(&summing, mode, DIFF_HEAD, experiment, err) &&
	       experiment_finish(experiment, err);
}
