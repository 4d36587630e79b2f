/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/collect/counters.h"

#include "sampler/unwind/unwind.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* 200 bytes each. A thread has one on each CPU that it was sampled on. */
enum { MAX_INSTANCES = 1 << 18 };

/*
 * Below this, groups of threads are not scaled: a thread's time to count goes on while it runs on another CPU, and what
 * it did there since its last sample is not known.
 */
static const double least_scale = 1.05;

/* The counts of a group at its last sample. */
struct counters_instance {
	uint64_t totals[COUNTERS_MAX_MEMBERS];
	uint64_t running_ns;
	double rest[COUNTERS_MAX_COLUMNS]; /* of the columns: what was not charged yet, less than 1 */
};

/* The time of a thread, on all CPUs, or of a CPU. */
struct counters_clock {
	uint64_t last_enabled_ns;
	double enabled_ns, running_ns;
};

struct counters_key {
	uint64_t id, tid; /* tid 0: the id is the instance's alone */
};

struct counters {
	struct counters_options options;
	uint32_t first; /* value type */
	struct hash_map by_key, clock_of;
	struct counters_instance *instances;
	struct counters_clock *clocks;
	size_t instance_count, instance_capacity, clock_count, clock_capacity;
	bool ids_are_shared; /* threads have inherited the group, and its ids */
	uint64_t left_out;   /* samples for whose instances there was no room */
	double charged[COUNTERS_MAX_COLUMNS];
	int64_t gained[UNWIND_TOGETHER][COUNTERS_MAX_COLUMNS];
};

/* Names what is counted, for the profile's facts. */
static bool name_counters(struct profile *profile, const struct counter_columns *columns, struct error *err)
{
	struct buffer text;
	bool ok;

	buffer_init(&text, (size_t)COUNTERS_MAX_COLUMNS * (COUNTERS_TYPE_BYTES + 2));
	for (size_t i = 0; i < columns->column_count; i++)
		if (columns->columns[i].type[0])
			buffer_printf(&text, "%s%s", text.size ? ", " : "", columns->columns[i].type);
	ok = profile_intern(profile, text.data ? text.data : "", &profile->facts.counters, err);
	buffer_deinit(&text);
	return ok;
}

static bool counters_add_value_type(struct profile *profile, const char *type, const char *unit, struct error *err)
{
	if (!profile_add_value_type(profile, type, unit, err))
		return false;
	profile->counts_of[profile->value_type_count - 1] = PROFILE_NONE;
	return true;
}

static bool counters_add_value_types(const struct counters_options *options, struct profile *profile, struct error *err)
{
	static const char *const parts[] = { COUNTER_COST_CACHE, COUNTER_COST_MEMORY, COUNTER_COST_SYSTEM };

	for (size_t i = 0; i < options->columns.column_count; i++) {
		const struct counter_column *column = &options->columns.columns[i];

		if (column->type[0] && !counters_add_value_type(profile, column->type, column->unit, err))
			return false;
	}
	for (size_t i = 0; options->parts_unit && i < sizeof(parts) / sizeof(parts[0]); i++)
		if (!counters_add_value_type(profile, parts[i], options->parts_unit, err))
			return false;
	return true;
}

bool counters_create(
	struct profile *profile, const struct counters_options *options, struct counters **counters, struct error *err)
{
	struct counters *made = calloc(1, sizeof(*made));
	uint32_t metric = profile->default_value_type;

	if (!made)
		return error_set_memory(err);
	made->options = *options;
	made->first = profile->value_type_count;
	hash_map_init(&made->by_key, sizeof(struct counters_key));
	hash_map_init(&made->clock_of, sizeof(uint64_t));
	if (!counters_add_value_types(options, profile, err) || !name_counters(profile, &options->columns, err)) {
		counters_destroy(made);
		return false;
	}
	profile->default_value_type = metric;
	*counters = made;
	return true;
}

void counters_destroy(struct counters *counters)
{
	if (!counters)
		return;
	hash_map_deinit(&counters->by_key);
	hash_map_deinit(&counters->clock_of);
	free(counters->instances);
	free(counters->clocks);
	free(counters);
}

/* Finds an instance, or adds one that has counted nothing. NULL: there is no more room. */
static bool counters_find(struct counters *counters, const struct counters_key *key,
	struct counters_instance **instance, struct error *err)
{
	uint32_t *place;
	bool added;

	*instance = NULL;
	if (counters->instance_count == MAX_INSTANCES && hash_map_get(&counters->by_key, key) == HASH_MAP_NONE)
		return true;
	if (!ARRAY_RESERVE(&counters->instances, &counters->instance_capacity, counters->instance_count + 1,
		    MAX_INSTANCES + 1, err) ||
		!hash_map_add(&counters->by_key, key, (uint32_t)counters->instance_count, &place, &added, err))
		return false;
	if (added)
		counters->instances[counters->instance_count++] = (struct counters_instance){ 0 };
	*instance = &counters->instances[*place];
	return true;
}

static bool find_clock(struct counters *counters, uint64_t key, struct counters_clock **clock, struct error *err)
{
	uint32_t *place;
	bool added;

	*clock = NULL;
	if (counters->clock_count == MAX_INSTANCES && hash_map_get(&counters->clock_of, &key) == HASH_MAP_NONE)
		return true;
	if (!ARRAY_RESERVE(
		    &counters->clocks, &counters->clock_capacity, counters->clock_count + 1, MAX_INSTANCES + 1, err) ||
		!hash_map_add(&counters->clock_of, &key, (uint32_t)counters->clock_count, &place, &added, err))
		return false;
	if (added)
		counters->clocks[counters->clock_count++] = (struct counters_clock){ 0 };
	*clock = &counters->clocks[*place];
	return true;
}

/* Reads the group's totals by member. */
static void read_totals(
	const struct counters *counters, const struct record_values *values, uint64_t totals[COUNTERS_MAX_MEMBERS])
{
	const struct counters_options *options = &counters->options;

	memset(totals, 0, COUNTERS_MAX_MEMBERS * sizeof(*totals));
	for (uint32_t i = 0; i < values->count; i++) {
		uint32_t member =
			options->member_of ? options->member_of(options->context, record_value_id(values, i)) : i;

		if (member < options->columns.member_count)
			totals[member] = record_value(values, i);
	}
}

/* The counters of a group only rise: where they have fallen, they are another thread's. */
static bool has_fallen(const struct counters_instance *instance, const uint64_t *totals, uint64_t running_ns)
{
	for (size_t i = 0; i < COUNTERS_MAX_MEMBERS; i++)
		if (totals[i] < instance->totals[i])
			return true;
	return running_ns < instance->running_ns;
}

/*
 * The factor for a group that had to share its counters. Over all CPUs, a thread's instances together run for at most
 * the time that each of them was to count. That time is the same for all of them, but for when they were switched on.
 */
static double advance_clock(struct counters_clock *clock, const struct record_values *values, uint64_t ran_ns)
{
	uint64_t last_ns = clock->last_enabled_ns;
	bool begins_anew = values->enabled_ns < last_ns / 2;

	if (begins_anew)
		last_ns = 0;
	if (values->enabled_ns > last_ns)
		clock->enabled_ns += (double)(values->enabled_ns - last_ns);
	if (begins_anew || values->enabled_ns > last_ns)
		clock->last_enabled_ns = values->enabled_ns;
	clock->running_ns += (double)ran_ns;
	return clock->running_ns > 0 ? clock->enabled_ns / clock->running_ns : 1;
}

static double counters_scale_of(const struct counters *counters, double scale)
{
	double least = counters->options.are_of_threads ? least_scale : 1;

	return counters->options.takes_turns && scale > least ? scale : 1;
}

/* Whole counts are charged; what is left of them is charged with the next sample. */
static void counters_charge(struct counters *counters, struct counters_instance *instance, const uint64_t *totals,
	double scale, int64_t gained[COUNTERS_MAX_COLUMNS])
{
	const struct counter_columns *columns = &counters->options.columns;
	/* No recording counts so much: a hostile file says so. */
	static const double most = (double)((int64_t)1 << 62);

	for (size_t i = 0; i < columns->member_count; i++) {
		const struct counter_member *member = &columns->members[i];

		if (member->column != COUNTERS_NO_COLUMN)
			instance->rest[member->column] +=
				(double)(totals[i] - instance->totals[i]) * member->factor * scale;
	}
	for (size_t i = 0; i < columns->column_count; i++) {
		double whole = fmin(floor(instance->rest[i]), most - counters->charged[i]);

		counters->charged[i] += whole;
		gained[i] = (int64_t)whole;
		instance->rest[i] = fmin(instance->rest[i] - whole, 1);
	}
}

static void keep_totals(struct counters_instance *instance, const uint64_t *totals, uint64_t running_ns)
{
	memcpy(instance->totals, totals, sizeof(instance->totals));
	instance->running_ns = running_ns;
}

/*
 * Finds the instance of a sample. Its own event's id (STREAM_ID) names it. In files without that, threads that have
 * inherited a group write the ids of the one it was inherited from; the totals of each are then known by its thread.
 */
static bool find_instance(struct counters *counters, const struct record *record,
	const uint64_t totals[COUNTERS_MAX_MEMBERS], struct counters_instance **instance, struct error *err)
{
	const struct record_values *values = &record->sample.values;
	uint64_t id = record->stream_id ? record->stream_id : record_value_id(values, 0);
	const struct counters_key alone = { id, 0 }, of_thread = { id, (uint32_t)record->tid };
	struct counters_instance *shared;

	if (record->stream_id || record->tid == 0)
		return counters_find(counters, &alone, instance, err);
	if (!counters_find(counters, &alone, &shared, err))
		return false;
	if (shared && has_fallen(shared, totals, values->running_ns))
		counters->ids_are_shared = true;
	if (shared && counters->ids_are_shared)
		keep_totals(shared, totals, values->running_ns);
	if (!counters_find(counters, &of_thread, instance, err))
		return false;
	/* The array may have moved. */
	if (*instance && !counters->ids_are_shared) {
		keep_totals(*instance, totals, values->running_ns);
		return counters_find(counters, &alone, instance, err);
	}
	return true;
}

static uint64_t clock_key(const struct counters *counters, const struct record *record)
{
	if (counters->options.are_of_threads || counters->ids_are_shared)
		return (uint32_t)record->tid;
	return record->stream_id ? record->stream_id : record_value_id(&record->sample.values, 0);
}

bool counters_take(struct counters *counters, const struct record *record, uint32_t held, struct error *err)
{
	const struct record_values *values = &record->sample.values;
	int64_t ignored[COUNTERS_MAX_COLUMNS];
	int64_t *gained = held == COUNTERS_LEFT_OUT ? ignored : counters->gained[held];
	uint64_t totals[COUNTERS_MAX_MEMBERS], ran_ns;
	struct counters_instance *instance;
	struct counters_clock *clock;
	double scale;

	memset(gained, 0, sizeof(ignored));
	if (values->count == 0)
		return true;
	read_totals(counters, values, totals);
	if (!find_instance(counters, record, totals, &instance, err) ||
		!find_clock(counters, clock_key(counters, record), &clock, err))
		return false;
	if (!instance || !clock) {
		counters->left_out++;
		return true;
	}
	if (has_fallen(instance, totals, values->running_ns))
		*instance = (struct counters_instance){ 0 };
	ran_ns = values->running_ns - instance->running_ns;
	scale = counters_scale_of(counters, advance_clock(clock, values, ran_ns));
	/* Times that are not recorded are 0. */
	if (ran_ns > 0 || values->enabled_ns == 0)
		counters_charge(counters, instance, totals, scale, gained);
	keep_totals(instance, totals, values->running_ns);
	return true;
}

/* Divides what was counted into the parts that hold the program up. */
static void fill_parts(const struct counters *counters, uint32_t held, bool is_kernel, int64_t parts[3])
{
	const struct counter_columns *columns = &counters->options.columns;
	struct counter_cost cost = { 0 };
	struct counter_cost_components found;

	for (size_t i = 0; i < columns->column_count; i++) {
		enum counter_cost_input input = columns->columns[i].input;

		if (input == COUNTER_COST_NO_INPUT)
			continue;
		cost.has[input] = true;
		cost.values[input] = (double)counters->gained[held][i];
	}
	found = counter_cost_components(&cost);
	parts[0] = is_kernel ? 0 : (int64_t)found.cache;
	parts[1] = is_kernel ? 0 : (int64_t)found.memory;
	parts[2] = is_kernel ? (int64_t)cost.values[COUNTER_COST_ALL] : 0;
}

void counters_fill(
	const struct counters *counters, uint32_t held, bool is_kernel, int64_t values[PROFILE_MAX_VALUE_TYPES])
{
	const struct counter_columns *columns = &counters->options.columns;
	int64_t *value = &values[counters->first];

	for (size_t i = 0; i < columns->column_count; i++)
		if (columns->columns[i].type[0])
			*value++ = counters->gained[held][i];
	if (counters->options.parts_unit)
		fill_parts(counters, held, is_kernel, value);
}

void counters_set_threads(struct counters *counters, bool are_of_threads)
{
	counters->options.are_of_threads = are_of_threads;
}

double counters_ran_percent(const struct counters *counters)
{
	double enabled = 0, running = 0;

	if (!counters->options.takes_turns)
		return 100;
	for (size_t i = 0; i < counters->clock_count; i++) {
		enabled += counters->clocks[i].enabled_ns;
		running += counters->clocks[i].running_ns;
	}
	return running > 0 && enabled > running * least_scale ? 100 * running / enabled : 100;
}

void counters_describe(const struct counters *counters, struct profile *profile, struct buffer *notices)
{
	double ran = counters_ran_percent(counters);

	if (ran < 100)
		profile->facts.counters_ran_percent = (uint32_t)fmax(ran, 1);
	if (!notices)
		return;
	if (ran < 100)
		buffer_printf(notices,
			"the counters ran %.0f %% of the time, because the processor has too few for all that was counted; their values are "
			"scaled\n",
			ran);
	if (counters->left_out > 0)
		buffer_printf(notices, "the counters of %llu samples are left out: more than %d threads were sampled\n",
			(unsigned long long)counters->left_out, MAX_INSTANCES);
}
