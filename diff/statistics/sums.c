/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/statistics/sums.h"

#include "diff/match/interrupts.h"

#include "diff/statistics/basis.h"
#include "diff/statistics/units.h"

#include <math.h>
#include <string.h>

/* ---- Index from functions and nodes to rows ---- */

struct row_index {
	uint32_t *of_self, *of_total; /* [function] its row; the number of rows if there is none */
	uint32_t *of_node;            /* [node] likewise */
};

void row_index_cleanup(struct row_index **index)
{
	if (!*index)
		return;
	free((*index)->of_self);
	free((*index)->of_total);
	free((*index)->of_node);
	free(*index);
}

static uint32_t *no_rows(size_t count, size_t none)
{
	uint32_t *rows = memory_alloc((count + 1) * sizeof(*rows));

	for (size_t i = 0; rows && i < count; i++)
		rows[i] = (uint32_t)none;
	return rows;
}

void row_index_create(const struct diff *diff, const struct experiment *experiment, struct row_index **index)
{
	CLEANUP(row_index_cleanup) struct row_index *made = memory_zeroed(1, sizeof(*made));

	made->of_self = no_rows(diff->function_count, experiment->row_count);
	made->of_total = no_rows(diff->function_count, experiment->row_count);
	made->of_node = no_rows(diff->node_count, experiment->row_count);
	for (uint32_t row = 0; row < experiment->row_count; row++) {
		const struct row *r = &experiment->rows[row];

		switch (r->kind) {
		case ROW_SELF:
			made->of_self[r->id] = row;
			break;
		case ROW_TOTAL:
			made->of_total[r->id] = row;
			break;
		case ROW_WHOLE:
		case ROW_NODE:
			made->of_node[r->id] = row;
			break;
		}
	}
	*index = TAKE(made);
}

/* ---- Sums of one side ---- */

/*
 * The tree is walked once, backwards, with all units of a node side by side. When a node's turn comes, the nodes below
 * it have been summed up in the next deeper level.
 */
struct sums_summing {
	const struct diff_build *build;
	const struct profile *profile;
	enum diff_side side;
	const struct row_index *index;
	size_t row_count, unit_count;
	const uint32_t *of_thread; /* as in the division */
	double *values;            /* [row][unit]; the row after the last collects values without a row; owned */
	uint32_t *first_sample;    /* [node] its first sample; PROFILE_NONE: it has none */
	uint32_t *next_sample;     /* [sample] the next sample of the same node */
	uint32_t *event_ends;      /* [sample] end of its events in event_units; NULL unless units are blocks of time */
	uint8_t *event_units;      /* units of the events, grouped by sample */
	double *event_weights;     /* their weights; NULL if no event has a weight of its own */
	double *levels;            /* [depth][unit] sums over siblings at that depth */
	double quantum;
};

_Static_assert(UNITS_MAX_BLOCKS <= UINT8_MAX, "event_units");

static void summing_deinit(struct sums_summing *s)
{
	free(s->values);
	free(s->first_sample);
	free(s->next_sample);
	free(s->event_ends);
	free(s->event_units);
	free(s->event_weights);
	free(s->levels);
}

/* Returns a power of two such that sums of its multiples, up to `total`, are exact in the 53 bits of a double. */
static double statistics_sums_quantum_of(double total)
{
	int exponent;

	frexp(total, &exponent);
	return ldexp(1, exponent - 52);
}

static size_t deepest(const struct diff *diff)
{
	size_t depth = 0;

	for (size_t node = 0; node < diff->node_count; node++)
		if (diff->nodes[node].depth > depth)
			depth = diff->nodes[node].depth;
	return depth;
}

static void statistics_sums_list_samples(struct sums_summing *s)
{
	const struct diff *diff = s->build->diff;
	const uint32_t *nodes = diff->sample_nodes[s->side];

	s->first_sample = memory_zeroed(diff->node_count, sizeof(*s->first_sample));
	s->next_sample = memory_zeroed(s->profile->sample_count + 1, sizeof(*s->next_sample));
	memset(s->first_sample, 0xff, diff->node_count * sizeof(*s->first_sample));
	for (uint32_t i = 0; i < s->profile->sample_count; i++) {
		s->next_sample[i] = s->first_sample[nodes[i]];
		s->first_sample[nodes[i]] = i;
	}
}

static void summing_init(struct sums_summing *s)
{
	s->values = memory_zeroed(s->row_count + 1, s->unit_count * sizeof(double));
	s->levels = memory_zeroed(deepest(s->build->diff) + 2, s->unit_count * sizeof(double));
	s->quantum = statistics_sums_quantum_of(s->build->diff->raw_total[s->side]);
	statistics_sums_list_samples(s);
}

/* ---- The units ---- */

static uint32_t statistics_sums_run_of_sample(const struct profile *profile, uint32_t sample)
{
	return profile->threads[profile->samples[sample].thread].run;
}

static uint32_t statistics_sums_run_of_event(const struct profile *profile, size_t event)
{
	return profile->run_count == 1 ? 0 : statistics_sums_run_of_sample(profile, profile->events[event].sample);
}

int64_t *sums_run_lengths(const struct profile *profile)
{
	int64_t *lengths = memory_zeroed(profile->run_count + 1, sizeof(*lengths));

	for (size_t run = 0; lengths && run < profile->run_count; run++)
		lengths[run] = profile->runs[run].duration_ns > 0 ? profile->runs[run].duration_ns : 0;
	/* Events are sorted by time: going backwards, the first one met of a run is its last. */
	for (size_t i = lengths ? profile->event_count : 0; i-- > 0;) {
		uint32_t run = statistics_sums_run_of_event(profile, i);

		if (profile->events[i].time_ns >= lengths[run])
			lengths[run] = saturating_add(profile->events[i].time_ns, 1);
		if (profile->run_count == 1)
			break;
	}
	return lengths;
}

int64_t *sums_lengths_of_runs(const struct diff_build *build, enum diff_side side)
{
	const int64_t *known = build->diff->whole ? basis_of(build->diff)->run_ends[side] : NULL;
	size_t count = build->profiles[side]->run_count;
	int64_t *lengths;

	if (!known)
		return sums_run_lengths(build->profiles[side]);
	lengths = memory_alloc((count + 1) * sizeof(*lengths));
	if (lengths)
		memcpy(lengths, known, count * sizeof(*lengths));
	return lengths;
}

int64_t sums_length(const struct profile *profile, const int64_t *lengths)
{
	int64_t sum = 0;

	for (size_t run = 0; run < profile->run_count; run++)
		sum = saturating_add(sum, lengths[run]);
	return sum;
}

/* The events of a sample are stored together; their number is the sample's count. */
static void reserve_events(struct sums_summing *s)
{
	const struct profile *profile = s->profile;
	uint32_t start = 0;

	s->event_ends = memory_alloc((profile->sample_count + 1) * sizeof(*s->event_ends));
	s->event_units = memory_alloc(profile->event_count + 1);
	if (profile->weighted_count)
		s->event_weights = memory_zeroed(profile->event_count + 1, sizeof(*s->event_weights));
	for (size_t i = 0; i < profile->sample_count; i++) {
		s->event_ends[i] = start;
		start += (uint32_t)profile->values[i * profile->value_type_count];
	}
}

static void assign_blocks(struct sums_summing *s)
{
	const struct profile *profile = s->profile;
	CLEANUP(cleanup_free) int64_t *lengths = sums_lengths_of_runs(s->build, s->side);
	size_t last = s->unit_count - 1;
	double block_ns, offset = 0;
	uint32_t run = 0;
	uint8_t unit = 0;

	reserve_events(s);
	block_ns = (double)sums_length(profile, lengths) / (double)s->unit_count;
	for (size_t i = 0; i < profile->event_count; i++) {
		const struct profile_event *event = &profile->events[i];

		for (; run < statistics_sums_run_of_event(profile, i); run++)
			offset += (double)lengths[run];
		while (unit < last && offset + (double)event->time_ns >= (double)(unit + 1) * block_ns)
			unit++;
		if (s->event_weights)
			s->event_weights[s->event_ends[event->sample]] = (double)profile_event_weight(profile, i);
		s->event_units[s->event_ends[event->sample]++] = unit;
	}
}

/* ---- The walk ---- */

static double *row_values(struct sums_summing *s, uint32_t row)
{
	return s->values + row * s->unit_count;
}

/*
 * Adds the sums below a node to its function's total and to the level above, and clears them for the node before it.
 * Not inlined, since the compiler would lose the `restrict` and not vectorise the loop.
 */
__attribute__((noinline)) static void pass_up(
	double *restrict below, double *restrict total, double *restrict above, size_t unit_count)
{
	for (size_t unit = 0; unit < unit_count; unit++) {
		double value = below[unit];

		below[unit] = 0;
		total[unit] += value;
		above[unit] += value;
	}
}

static double statistics_sums_rounded(const struct sums_summing *s, double value)
{
	return rint(value / s->quantum) * s->quantum;
}

/* Adds a sample's value to the units of its events, to each the same part. */
static void statistics_sums_add_events(
	const struct sums_summing *s, uint32_t sample, double value, double *self, double *total)
{
	uint32_t start = sample > 0 ? s->event_ends[sample - 1] : 0, count = s->event_ends[sample] - start;
	double part = count > 1 ? statistics_sums_rounded(s, value / count) : value;

	for (uint32_t i = start; i < s->event_ends[sample]; i++) {
		self[s->event_units[i]] += part;
		total[s->event_units[i]] += part;
	}
}

/*
 * Adds as statistics_sums_add_events() does, but each unit has as much of the value as its events have of the weights.
 */
static void add_weighted_events(
	const struct sums_summing *s, uint32_t sample, double value, double *self, double *total)
{
	uint32_t start = sample > 0 ? s->event_ends[sample - 1] : 0;
	double sum = 0;

	for (uint32_t i = start; i < s->event_ends[sample]; i++)
		sum += s->event_weights[i];
	for (uint32_t i = start; i < s->event_ends[sample]; i++) {
		double part = statistics_sums_rounded(s, value * s->event_weights[i] / sum);

		self[s->event_units[i]] += part;
		total[s->event_units[i]] += part;
	}
}

/* Adds the values of a node's own samples. */
static void statistics_sums_add_samples(const struct sums_summing *s, uint32_t node, double *self, double *total)
{
	const struct profile *profile = s->profile;

	for (uint32_t i = s->first_sample[node]; i != PROFILE_NONE; i = s->next_sample[i]) {
		double value = build_value(s->build, s->side, i);
		uint32_t unit = s->of_thread ? s->of_thread[profile->samples[i].thread] : 0;

		if (!(value > 0) || unit == s->unit_count)
			continue;
		if (s->event_weights) {
			add_weighted_events(s, i, value, self, total);
		} else if (s->event_ends) {
			statistics_sums_add_events(s, i, value, self, total);
		} else {
			self[unit] += value;
			total[unit] += value;
		}
	}
}

static void close_node(struct sums_summing *s, uint32_t node)
{
	const struct diff_node *n = &s->build->diff->nodes[node];
	double *above = s->levels + n->depth * s->unit_count, *below = above + s->unit_count;
	uint32_t none = (uint32_t)s->row_count, self = node ? s->index->of_self[build_owner(s->build, node)] : none;
	uint32_t total = s->build->topmost[node] ? s->index->of_total[n->function] : none,
		 own = s->index->of_node[node];

	statistics_sums_add_samples(s, node, row_values(s, self), below);
	if (own != none)
		memcpy(row_values(s, own), below, s->unit_count * sizeof(*below));
	pass_up(below, row_values(s, total), above, s->unit_count);
}

/* Waiting for a CPU has a row of its own, and is in none above it. */
static void close_apart(struct sums_summing *s, uint32_t node)
{
	uint32_t row = s->index->of_total[s->build->diff->nodes[node].function];
	double *none = row_values(s, (uint32_t)s->row_count);

	statistics_sums_add_samples(s, node, none, row_values(s, row));
}

void sums_fill(const struct diff_build *build, const struct row_index *index, enum diff_side side,
	const struct sums_division *division, size_t row_count, double **values)
{
	CLEANUP(summing_deinit)
	struct sums_summing s = { .build = build,
		.profile = build->profiles[side],
		.side = side,
		.index = index,
		.row_count = row_count,
		.unit_count = division->units,
		.of_thread = division->of_thread };
	const double *total = build->diff->node_total[side];

	summing_init(&s);
	if (division->by_time)
		assign_blocks(&s);
	for (uint32_t node = (uint32_t)build->diff->node_count; node-- > 0;)
		if (total[node] > 0 && interrupts_is_run_queue(build->diff, node))
			close_apart(&s, node);
		else if (total[node] > 0 && !(build->diff->nodes[node].flags & DIFF_NODE_INTERRUPT))
			close_node(&s, node);
	*values = TAKE(s.values);
}
