/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/model.h"

#include <string.h>

bool profile_event_is_time(const char *event)
{
	return strstr(event, "cycles") || strstr(event, "clock");
}

static bool metric_names_time(const char *type, const char *unit)
{
	return strstr(unit, "seconds") || profile_event_is_time(type) || strcmp(type, "cpu") == 0;
}

/* Returns whether samples were taken as time passed. Where the file names no event, they are assumed to be. */
static bool metric_samples_are_time(const struct profile *profile)
{
	const char *event = profile_string(profile, profile->facts.event),
		   *period = profile_string(profile, profile->period_type.type);

	if (event[0])
		return metric_names_time(event, "");
	return period[0] == '\0' || strcmp(period, "samples") == 0 ||
	       metric_names_time(period, profile_string(profile, profile->period_type.unit));
}

/*
 * Returns whether nothing was sampled. Such a file says that its period is 1 of a thing that it counts: Go's profiles
 * of things (goroutine, threadcreate, those of pprof.NewProfile()), and simulators (instructions). Contentions and
 * allocations are sampled, whatever the period says. A file that names a kernel event was sampled by it.
 */
static bool profile_metric_is_exact(const struct profile *profile)
{
	const char *period = profile_string(profile, profile->period_type.type);
	bool is_sampled = strstr(period, "contentions") || strstr(period, "sample") || strstr(period, "alloc");

	return profile->period == 1 && period[0] && !is_sampled && profile->facts.event == 0 &&
	       strcmp(profile_string(profile, profile->period_type.unit), "count") == 0;
}

/* Returns whether a processor counts such events, or a simulator in its place. */
static bool metric_is_of_processor(const char *type)
{
	return strcmp(type, "instructions") == 0 || strstr(type, "misses") || strstr(type, "cycles");
}

/*
 * Returns whether a heap profile's value tells what is in use: inuse_space and inuse_objects of Go, heap-live-size of
 * Datadog, space and objects of Node and jemalloc. Things that are counted one by one exist when they are counted.
 */
static bool metric_is_in_use(const struct profile *profile, const char *type, const char *unit)
{
	const char *period = profile_string(profile, profile->period_type.type);

	if (glob_matches_any(
		    GLOBS("inuse*", "in-use*", "*live*", "space", "objects", "goroutine", "goroutines", "threadcreate"),
		    type))
		return true;
	return strcmp(unit, "count") == 0 && strcmp(period, type) == 0 && profile_metric_is_exact(profile) &&
	       !metric_is_of_processor(type);
}

static enum profile_metric_kind profile_metric_kind_of(
	const struct profile *profile, const char *type, const char *unit)
{
	if (strcmp(type, "samples") == 0)
		return metric_samples_are_time(profile) ? PROFILE_METRIC_TIME : PROFILE_METRIC_EVENTS;
	if (metric_names_time(type, unit))
		return PROFILE_METRIC_TIME;
	if (metric_is_in_use(profile, type, unit))
		return PROFILE_METRIC_IN_USE;
	if (strstr(type, "alloc") || strcmp(unit, "bytes") == 0)
		return PROFILE_METRIC_ALLOCATED;
	return unit[0] == '\0' || profile_unit_parts(unit) > 1 ? PROFILE_METRIC_OTHER : PROFILE_METRIC_EVENTS;
}

/* Returns what sentences call a value type. */
static const char *profile_metric_words(const char *type, bool is_cpu, bool is_duration)
{
	const char *words = strcmp(type, PROFILE_ELAPSED) == 0 ? "elapsed time" : profile_wait_value_words(type);

	return words && (is_duration || is_cpu) ? words : type[0] ? type : "values";
}

struct profile_metric profile_metric(const struct profile *profile, uint32_t value_type)
{
	const struct profile_value_type *ids = &profile->value_types[value_type];
	const char *type = profile_string(profile, ids->type), *unit = profile_string(profile, ids->unit);
	bool is_cpu = strcmp(type, "cpu") == 0, is_duration = strcmp(unit, "nanoseconds") == 0;

	return (struct profile_metric){
		.type = ids->type,
		.unit = ids->unit,
		.words = profile_metric_words(type, is_cpu, is_duration),
		.kind = profile_metric_kind_of(profile, type, unit),
		.is_cpu_time = is_cpu && is_duration,
		.is_duration = is_duration,
		.is_counted = strcmp(unit, "count") == 0,
		.is_exact = profile_metric_is_exact(profile),
		.counts = profile->counts_of[value_type],
	};
}

bool profile_has_precise_addresses(const struct profile *profile, uint32_t value_type)
{
	enum { OWN_ADDRESS = 2 }; /* precise_ip; 1 is the address of the instruction behind it */
	const char *event = profile_string(profile, profile->facts.event), *modifiers = strrchr(event, ':');

	return profile->facts.precise_ip >= OWN_ADDRESS ||
	       (modifiers && (strstr(modifiers, "pp") || strchr(modifiers, 'P'))) ||
	       profile_metric(profile, value_type).is_exact;
}

uint32_t profile_first_metric(const struct profile *profile)
{
	return profile->counts_of[0] == PROFILE_NONE ? 1 : 0;
}

int64_t profile_sum(const struct profile *profile, uint32_t value_type)
{
	int64_t sum = 0;

	for (size_t i = 0; value_type != PROFILE_NONE && i < profile->sample_count; i++)
		sum = saturating_add(sum, profile->values[i * profile->value_type_count + value_type]);
	return sum;
}

int64_t profile_sampled_cpu_ns(const struct profile *profile)
{
	uint32_t column = profile_has_waits(profile) ? profile_wait_values(profile).cpu : profile->default_value_type;

	return profile_metric(profile, column).is_cpu_time ? profile_sum(profile, column) : 0;
}

int64_t profile_commands_cpu_ns(const struct profile *profile)
{
	int64_t used_ns = 0;

	for (size_t i = 0; i < profile->run_count; i++) {
		if (!profile->runs[i].whole_command)
			return 0;
		used_ns = saturating_add(used_ns, profile->runs[i].cpu_ns);
	}
	return used_ns;
}

uint32_t profile_find_metric(const struct profile *profile, const char *type, const char *unit)
{
	for (uint32_t i = profile_first_metric(profile); i < profile->value_type_count; i++) {
		const struct profile_value_type *ids = &profile->value_types[i];

		if (strcmp(profile_string(profile, ids->type), type) == 0 &&
			(!unit || strcmp(profile_string(profile, ids->unit), unit) == 0))
			return i;
	}
	return PROFILE_NONE;
}

/* Writes what a user calls a metric. */
static void metric_append_name(const struct profile *profile, uint32_t index, struct buffer *out)
{
	const struct profile_value_type *ids = &profile->value_types[index];
	uint32_t type = index == 0 && profile->count_name ? profile->count_name : ids->type;
	bool is_alone = true;

	for (uint32_t i = profile_first_metric(profile); i < profile->value_type_count; i++)
		is_alone = is_alone && (i == index || profile->value_types[i].type != ids->type);
	buffer_append_string(out, profile_string(profile, type));
	if (!is_alone)
		buffer_printf(out, "/%s", profile_string(profile, ids->unit));
}

static bool metric_has_name(const struct profile *profile, uint32_t index, const char *name)
{
	const struct profile_value_type *ids = &profile->value_types[index];
	const char *type = profile_string(profile, ids->type);
	size_t size = strlen(type);

	if (index == 0 && profile->count_name && strcmp(profile_string(profile, profile->count_name), name) == 0)
		return true;
	return strncmp(name, type, size) == 0 &&
	       (!name[size] || (name[size] == '/' && strcmp(name + size + 1, profile_string(profile, ids->unit)) == 0));
}

uint32_t profile_named_metric(const struct profile *profile, const char *name)
{
	for (uint32_t i = profile_first_metric(profile); i < profile->value_type_count; i++)
		if (metric_has_name(profile, i, name))
			return i;
	return PROFILE_NONE;
}

bool profile_has_values(const struct profile *profile, uint32_t value_type)
{
	for (size_t i = 0; i < profile->sample_count; i++)
		if (profile->values[i * profile->value_type_count + value_type] > 0)
			return true;
	return false;
}

void profile_list_metrics(const struct profile *profile, bool valued, struct buffer *out)
{
	const char *between = "";

	for (uint32_t i = profile_first_metric(profile); i < profile->value_type_count; i++) {
		if (valued && !profile_has_values(profile, i))
			continue;
		buffer_append_string(out, between);
		metric_append_name(profile, i, out);
		between = ", ";
	}
}

int64_t profile_unit_parts(const char *unit)
{
	return strcmp(unit, "1/1000000") == 0 ? 1000000 : strcmp(unit, "1/1000000000") == 0 ? 1000000000 : 1;
}

struct profile_unit profile_unit(const char *unit)
{
	static const struct {
		const char *unit;
		struct profile_unit kept;
	} units[] = {
		{ "ns", { "nanoseconds", 1 } },
		{ "nanosecond", { "nanoseconds", 1 } },
		{ "us", { "nanoseconds", 1000 } },
		{ "µs", { "nanoseconds", 1000 } },
		{ "microsecond", { "nanoseconds", 1000 } },
		{ "microseconds", { "nanoseconds", 1000 } },
		{ "ms", { "nanoseconds", 1000000 } },
		{ "millisecond", { "nanoseconds", 1000000 } },
		{ "milliseconds", { "nanoseconds", 1000000 } },
		{ "s", { "nanoseconds", 1000000000 } },
		{ "second", { "nanoseconds", 1000000000 } },
		{ "seconds", { "nanoseconds", 1000000000 } },
		{ "By", { "bytes", 1 } },
		{ "byte", { "bytes", 1 } },
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(units[i].unit, unit) == 0)
			return units[i].kept;
	return (struct profile_unit){ unit, 1 };
}
