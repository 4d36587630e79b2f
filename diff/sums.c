/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/sums.h"

#include <math.h>
#include <string.h>

/* AHEAD events are asked for before they are needed; GROUP units at a time go from columns to rows: as many as share a line of the
 * cache there. */
enum { WORD_BITS = 64, GROUP = 8, AHEAD = 16 };

/* ---- Places ---- */

/*
 * A node whose total some row asks about. All others hand their samples to the nearest such ancestor, so that closing a unit visits
 * the few nodes that matter and not the whole tree.
 */
struct place {
	uint32_t parent;              /* place; its own for place 0, the root */
	uint32_t total_row, node_row; /* row_count: none */
};

struct places {
	uint32_t *of_node;   /* [node] */
	uint32_t *self_rows; /* [function] row_count: none */
	struct place *items; /* a parent before its children */
	size_t count, capacity;
	uint32_t none; /* the row that stands for none */
};

void places_destroy(struct places *places)
{
	if (!places)
		return;
	free(places->of_node);
	free(places->self_rows);
	free(places->items);
	free(places);
}

static uint32_t *filled_array(size_t count, uint32_t with)
{
	uint32_t *array = malloc((count + 1) * sizeof(*array));

	for (size_t i = 0; array && i <= count; i++)
		array[i] = with;
	return array;
}

static bool add_places(const struct diff_build *build, const uint32_t *total_rows, const uint32_t *node_rows, struct places *places,
	struct error *err)
{
	const struct diff *diff = build->diff;

	for (uint32_t node = 0; node < diff->node_count; node++) {
		const struct diff_node *n = &diff->nodes[node];
		struct place place = { 0, places->none, places->none };

		if (node > 0) {
			place.parent = places->of_node[n->parent];
			place.total_row = build->topmost[node] ? total_rows[n->function] : places->none;
			place.node_row = node_rows[node];
			if (place.total_row == places->none && place.node_row == places->none) {
				places->of_node[node] = place.parent;
				continue;
			}
		} else {
			place.total_row = 0;
		}
		if (!ARRAY_RESERVE(&places->items, &places->capacity, places->count + 1, ARRAY_MAX_IDS, err))
			return false;
		places->of_node[node] = (uint32_t)places->count;
		places->items[places->count++] = place;
	}
	return true;
}

bool places_create(const struct diff_build *build, const struct experiment *experiment, struct places **places, struct error *err)
{
	const struct diff *diff = build->diff;
	CLEANUP(places_cleanup) struct places *made = calloc(1, sizeof(*made));
	uint32_t none = (uint32_t)experiment->row_count;
	CLEANUP(cleanup_free) uint32_t *total_rows = filled_array(diff->function_count, none);
	CLEANUP(cleanup_free) uint32_t *node_rows = filled_array(diff->node_count, none);

	if (!made || !total_rows || !node_rows)
		return error_set_memory(err);
	made->none = none;
	made->self_rows = filled_array(diff->function_count, none);
	made->of_node = malloc(diff->node_count * sizeof(*made->of_node));
	if (!made->self_rows || !made->of_node)
		return error_set_memory(err);
	for (uint32_t row = 1; row < experiment->row_count; row++) {
		const struct row *r = &experiment->rows[row];

		(r->kind == ROW_SELF ? made->self_rows : r->kind == ROW_TOTAL ? total_rows : node_rows)[r->id] = row;
	}
	if (!add_places(build, total_rows, node_rows, made, err))
		return false;
	*places = TAKE(made);
	return true;
}

/* ---- One side ---- */

/* Where a sample's value goes, and how much of it one event is. */
struct placed_sample {
	uint32_t place, self_row;
	double value;
};

struct summing {
	const struct profile *profile;
	const struct places *places;
	struct experiment_side *side;
	size_t row_count;
	struct placed_sample *samples; /* [sample] */
	double *below;                 /* [place] of the unit at hand */
	uint64_t *touched;             /* a bit a place: those that are not 0 */
	double *group;                 /* [unit % GROUP][row, and one for none] */
	double *rows;                  /* those of the unit at hand */
	size_t unit;                   /* at hand */
};

static void summing_deinit(struct summing *s)
{
	free(s->samples);
	free(s->below);
	free(s->touched);
	free(s->group);
}

/* What all values are multiples of, so that their sum, at most `total`, fits the 53 bits of a double. */
static double quantum_of(double total)
{
	int exponent;

	frexp(total, &exponent);
	return ldexp(1, exponent - 52);
}

static bool place_samples(struct summing *s, const struct diff_build *build, enum diff_side side, struct error *err)
{
	const struct profile *profile = s->profile;
	const uint32_t *nodes = build->diff->sample_nodes[side];
	bool by_event = build->diff->evidence.mode == DIFF_EVIDENCE_SINGLE;
	double quantum = quantum_of(build->diff->raw_total[side]);

	s->samples = malloc((profile->sample_count + 1) * sizeof(*s->samples));
	if (!s->samples)
		return error_set_memory(err);
	for (size_t i = 0; i < profile->sample_count; i++) {
		const int64_t *values = &profile->values[i * profile->value_type_count];
		uint32_t function = build->diff->nodes[nodes[i]].function;
		double value = (double)values[build->metric[side]];

		if (by_event && values[0] > 1)
			value = rint(value / (double)values[0] / quantum) * quantum;
		s->samples[i] = (struct placed_sample){ s->places->of_node[nodes[i]],
			nodes[i] ? s->places->self_rows[function] : s->places->none, value };
	}
	return true;
}

static bool summing_init(struct summing *s, struct error *err)
{
	size_t width = s->row_count + 1;

	s->below = calloc(s->places->count, sizeof(*s->below));
	s->touched = calloc(s->places->count / WORD_BITS + 1, sizeof(*s->touched));
	s->group = calloc(width, GROUP * sizeof(*s->group));
	s->rows = s->group;
	s->side->values = reallocarray(NULL, width, s->side->unit_count * sizeof(double));
	return (s->below && s->touched && s->group && s->side->values) || error_set_memory(err);
}

static void touch(uint64_t *touched, size_t place)
{
	touched[place / WORD_BITS] |= (uint64_t)1 << place % WORD_BITS;
}

static inline void add_sample(struct summing *s, size_t sample)
{
	const struct placed_sample *placed = &s->samples[sample];

	s->rows[placed->self_row] += placed->value;
	s->below[placed->place] += placed->value;
	touch(s->touched, placed->place);
}

/* Sums up the places from the leaves on, so that each is complete when its turn comes. Most have nothing to sum. */
static void close_places(struct summing *s)
{
	const struct place *places = s->places->items;

	for (size_t word = s->places->count / WORD_BITS + 1; word-- > 0;) {
		while (s->touched[word]) {
			size_t bit = WORD_BITS - 1 - (size_t)__builtin_clzll(s->touched[word]), i = word * WORD_BITS + bit;
			double total = s->below[i];

			s->touched[word] &= ~((uint64_t)1 << bit);
			s->below[i] = 0;
			s->rows[places[i].total_row] += total;
			s->rows[places[i].node_row] += total;
			if (i == 0)
				continue;
			s->below[places[i].parent] += total;
			touch(s->touched, places[i].parent);
		}
	}
}

/* Columns to rows: each line of the cache is then written once. */
static void flush_group(struct summing *s, size_t units)
{
	size_t width = s->row_count + 1, first = s->unit / GROUP * GROUP;

	for (size_t row = 0; row < s->row_count; row++) {
		double *values = &s->side->values[row * s->side->unit_count + first];

		for (size_t i = 0; i < units; i++)
			values[i] = s->group[i * width + row];
	}
	memset(s->group, 0, units * width * sizeof(*s->group));
}

static void close_unit(struct summing *s)
{
	size_t place = s->unit % GROUP;

	close_places(s);
	if (place == GROUP - 1 || s->unit + 1 == s->side->unit_count)
		flush_group(s, place + 1);
	s->unit++;
	s->rows = s->group + s->unit % GROUP * (s->row_count + 1);
}

/* ---- The units ---- */

static bool sum_runs(struct summing *s, struct error *err)
{
	const struct profile *profile = s->profile;
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
		close_unit(s);
	}
	return true;
}

static bool sum_whole(struct summing *s)
{
	for (size_t i = 0; i < s->profile->sample_count; i++)
		add_sample(s, i);
	close_unit(s);
	return true;
}

static uint32_t run_of_event(const struct profile *profile, size_t event)
{
	if (profile->run_count == 1)
		return 0;
	return profile->threads[profile->samples[profile->events[event].sample].thread].run;
}

int64_t *sums_run_lengths(const struct profile *profile)
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

int64_t sums_length(const struct profile *profile, const int64_t *lengths)
{
	int64_t sum = 0;

	for (size_t run = 0; run < profile->run_count; run++)
		sum = saturating_add(sum, lengths[run]);
	return sum;
}

static bool sum_blocks(struct summing *s, struct error *err)
{
	const struct profile *profile = s->profile;
	CLEANUP(cleanup_free) int64_t *lengths = sums_run_lengths(profile);
	size_t last = s->side->unit_count - 1;
	double block_ns, offset = 0;
	uint32_t run = 0;

	if (!lengths)
		return error_set_memory(err);
	block_ns = (double)sums_length(profile, lengths) / (double)s->side->unit_count;
	for (size_t i = 0; i < profile->event_count; i++) {
		for (; run < run_of_event(profile, i); run++)
			offset += (double)lengths[run];
		while (s->unit < last && offset + (double)profile->events[i].time_ns >= (double)(s->unit + 1) * block_ns)
			close_unit(s);
		if (i + AHEAD < profile->event_count)
			__builtin_prefetch(&s->samples[profile->events[i + AHEAD].sample]);
		add_sample(s, profile->events[i].sample);
	}
	while (s->unit <= last)
		close_unit(s);
	return true;
}

bool sums_fill(const struct diff_build *build, const struct places *places, enum diff_side side, size_t unit_count,
	struct experiment *experiment, struct error *err)
{
	CLEANUP(summing_deinit)
	struct summing s = { .profile = build->profiles[side],
		.places = places,
		.side = &experiment->sides[side],
		.row_count = experiment->row_count };

	s.side->sample_weight = build->sample_weight[side];
	s.side->unit_count = unit_count;
	if (!place_samples(&s, build, side, err) || !summing_init(&s, err))
		return false;
	switch (build->diff->evidence.mode) {
	case DIFF_EVIDENCE_RUNS:
		return sum_runs(&s, err);
	case DIFF_EVIDENCE_SINGLE:
		return sum_blocks(&s, err);
	case DIFF_EVIDENCE_NONE:
	case DIFF_EVIDENCE_COUNTS:
		break;
	}
	return sum_whole(&s);
}
