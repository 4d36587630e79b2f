/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/model.h"

#include <math.h>

const char *profile_bottleneck_name(enum profile_bottleneck bottleneck)
{
	switch (bottleneck) {
	case PROFILE_BOTTLENECK_NONE:
		return "";
	case PROFILE_BOTTLENECK_INSTRUCTION:
		return "instruction";
	case PROFILE_BOTTLENECK_CACHE:
		return "cache";
	case PROFILE_BOTTLENECK_MEMORY:
		return "memory";
	case PROFILE_BOTTLENECK_SYSTEM:
		return "system";
	case PROFILE_BOTTLENECK_MIXED:
		return "mixed";
	}
	return "";
}

const char *profile_bottleneck_cause(enum profile_bottleneck bottleneck)
{
	switch (bottleneck) {
	case PROFILE_BOTTLENECK_INSTRUCTION:
		return "instructions";
	case PROFILE_BOTTLENECK_CACHE:
		return "cache misses";
	case PROFILE_BOTTLENECK_MEMORY:
		return "memory accesses";
	case PROFILE_BOTTLENECK_SYSTEM:
		return "system time";
	case PROFILE_BOTTLENECK_NONE:
	case PROFILE_BOTTLENECK_MIXED:
		return "";
	}
	return "";
}

/* ---- Columns ---- */

/* The contribution of one unit of a value type to the components. */
struct bottleneck_source {
	const char *type, *unit;
	struct {
		enum profile_bottleneck component;
		double cycles;
	} adds[3];
};

/*
 * One kind of profile that tells of bottlenecks: it is there if all of its sources are. The components of all sources
 * together are all of the self cost.
 */
struct bottleneck_kind {
	struct bottleneck_source sources[4]; /* the first is the cost that the components explain */
	size_t source_count;
	bool is_exact;        /* nothing was sampled */
	double least_samples; /* with fewer, a function has no class */
};

/* A component of what a real processor's counters tell, which is contained in all. */
#define COUNTERS_COMPONENT(type, unit, component)                                                                      \
	{                                                                                                              \
		type, unit,                                                                                            \
		{                                                                                                      \
			{ PROFILE_BOTTLENECK_INSTRUCTION, -1 },                                                        \
			{                                                                                              \
				component, 1                                                                           \
			}                                                                                              \
		}                                                                                                      \
	}

/* Counters of a real processor: its recorder divided slots, or cycles, into components (profile/counter_cost.h). */
#define COUNTERS_KIND(all, unit)                                                                                       \
	{                                                                                                              \
		.sources = { { all, unit, { { PROFILE_BOTTLENECK_INSTRUCTION, 1 } } },                                 \
			COUNTERS_COMPONENT(COUNTER_COST_CACHE, unit, PROFILE_BOTTLENECK_CACHE),                        \
			COUNTERS_COMPONENT(COUNTER_COST_MEMORY, unit, PROFILE_BOTTLENECK_MEMORY),                      \
			COUNTERS_COMPONENT(COUNTER_COST_SYSTEM, unit, PROFILE_BOTTLENECK_SYSTEM) },                    \
		.source_count = 4, .least_samples = COUNTER_COST_LEAST_SAMPLES                                         \
	}

/*
 * A simulation: its cycles contain those of both kinds of misses, which are taken out of the instructions' component. A
 * miss of the last cache is one of a first cache too, so that it is taken back there.
 */
static const struct bottleneck_kind bottleneck_kinds[] = {
	{ .sources = { { COST_MODEL_CYCLES, "count", { { PROFILE_BOTTLENECK_INSTRUCTION, 1 } } },
		  { COST_MODEL_FIRST_MISSES, "count",
			  { { PROFILE_BOTTLENECK_INSTRUCTION, -COST_MODEL_FIRST_MISS_CYCLES },
				  { PROFILE_BOTTLENECK_CACHE, COST_MODEL_FIRST_MISS_CYCLES } } },
		  { COST_MODEL_LAST_MISSES, "count",
			  { { PROFILE_BOTTLENECK_INSTRUCTION,
				    COST_MODEL_FIRST_MISS_CYCLES - COST_MODEL_LAST_MISS_CYCLES },
				  { PROFILE_BOTTLENECK_CACHE, -COST_MODEL_FIRST_MISS_CYCLES },
				  { PROFILE_BOTTLENECK_MEMORY, COST_MODEL_LAST_MISS_CYCLES } } },
		  { COST_MODEL_SYSTEM, "nanoseconds", { { PROFILE_BOTTLENECK_SYSTEM, COST_MODEL_SYSTEM_GHZ } } } },
		.source_count = 4,
		.is_exact = true },
	COUNTERS_KIND(COUNTER_COST_SLOTS, "slots"),
	COUNTERS_KIND(COUNTER_COST_CYCLES, "count"),
};

static bool columns_fill(
	const struct profile *profile, const struct bottleneck_kind *kind, struct profile_cost_columns *columns)
{
	for (size_t i = 0; i < kind->source_count; i++) {
		const struct bottleneck_source *source = &kind->sources[i];
		uint32_t value_type = profile_find_metric(profile, source->type, source->unit);

		if (value_type == PROFILE_NONE)
			return false;
		if (i == 0)
			columns->metric = value_type;
		for (size_t k = 0; k < sizeof(source->adds) / sizeof(source->adds[0]); k++)
			if (source->adds[k].component != PROFILE_BOTTLENECK_NONE)
				columns->terms[columns->term_count++] = (struct profile_cost_term){ value_type,
					source->adds[k].component, source->adds[k].cycles };
	}
	columns->is_there = true;
	columns->samples = kind->is_exact ? PROFILE_NONE : 0;
	columns->least_samples = kind->least_samples;
	return true;
}

struct profile_cost_columns profile_cost_columns(const struct profile *profile)
{
	for (size_t i = 0; i < sizeof(bottleneck_kinds) / sizeof(bottleneck_kinds[0]); i++) {
		struct profile_cost_columns columns = { .samples = PROFILE_NONE };

		if (columns_fill(profile, &bottleneck_kinds[i], &columns))
			return columns;
	}
	return (struct profile_cost_columns){ .samples = PROFILE_NONE };
}

/* ---- Components ---- */

void profile_cost_add(const struct profile_cost_columns *columns, const int64_t *values, struct profile_cost *cost)
{
	for (size_t i = 0; i < columns->term_count; i++)
		cost->of[columns->terms[i].component] +=
			columns->terms[i].cycles * (double)values[columns->terms[i].value_type];
	if (columns->samples != PROFILE_NONE)
		cost->samples += (double)values[columns->samples];
}

void profile_cost_add_scaled(struct profile_cost *cost, const struct profile_cost *from, double factor)
{
	for (int i = 0; i < PROFILE_BOTTLENECK_COUNT; i++)
		cost->of[i] += factor * from->of[i];
	cost->samples += from->samples;
}

static double least_zero(double value)
{
	return value > 0 ? value : 0;
}

double profile_cost_sum(const struct profile_cost *cost)
{
	double sum = 0;

	for (int i = PROFILE_BOTTLENECK_INSTRUCTION; i <= PROFILE_BOTTLENECK_SYSTEM; i++)
		sum += least_zero(cost->of[i]);
	return sum;
}

/* ---- Classes ---- */

enum profile_bottleneck profile_bottleneck_of(const struct profile_cost *cost, double least_samples)
{
	enum profile_bottleneck largest = PROFILE_BOTTLENECK_NONE;
	double most = 0, second = 0;

	if (cost->samples < least_samples)
		return PROFILE_BOTTLENECK_NONE;
	for (int i = PROFILE_BOTTLENECK_INSTRUCTION; i <= PROFILE_BOTTLENECK_SYSTEM; i++) {
		double component = least_zero(cost->of[i]);

		if (component > most) {
			second = most;
			most = component;
			largest = (enum profile_bottleneck)i;
		} else if (component > second) {
			second = component;
		}
	}
	if (largest == PROFILE_BOTTLENECK_NONE)
		return PROFILE_BOTTLENECK_NONE;
	return most >= PROFILE_BOTTLENECK_LEAST_SHARE * profile_cost_sum(cost) &&
			       most >= PROFILE_BOTTLENECK_LEAST_LEAD * second
		       ? largest
		       : PROFILE_BOTTLENECK_MIXED;
}

/*
 * Returns whether a side has some samples, but too few to tell of it. A side without any is known: it has no such cost.
 */
static bool has_too_few(const struct profile_cost *cost, double least_samples)
{
	return profile_cost_sum(cost) > 0 && cost->samples < least_samples;
}

enum profile_bottleneck profile_bottleneck_of_change(
	const struct profile_cost *base, const struct profile_cost *head, double least_samples)
{
	double way = profile_cost_sum(head) - profile_cost_sum(base);
	struct profile_cost change = { 0 };

	if (has_too_few(base, least_samples) || has_too_few(head, least_samples) || !(fabs(way) > 0))
		return PROFILE_BOTTLENECK_NONE;
	for (int i = PROFILE_BOTTLENECK_INSTRUCTION; i <= PROFILE_BOTTLENECK_SYSTEM; i++) {
		double grown = least_zero(head->of[i]) - least_zero(base->of[i]);

		change.of[i] = way > 0 ? grown : -grown;
	}
	return profile_bottleneck_of(&change, 0);
}
