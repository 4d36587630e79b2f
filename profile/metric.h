/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/* Metrics: what the values of a profile measure. */

struct profile;

/* The quantity that a value type measures. */
enum profile_metric_kind {
	/* CPU, wall or waiting time, cycles, and counts of samples that are taken by any of these */
	PROFILE_METRIC_TIME,
	/* how often something happened: page faults, cache misses, contentions, samples of those */
	PROFILE_METRIC_EVENTS,
	PROFILE_METRIC_ALLOCATED, /* objects or bytes, added up while the program ran: more work allocates more */
	/* what existed at one moment, as bytes, objects or goroutines: it does not grow with the load */
	PROFILE_METRIC_IN_USE,
	PROFILE_METRIC_OTHER, /* a number that its file does not name: a folded weight */
};

/*
 * A value type as it is known before its numbers are compared or shown. Its type, unit, period type and event decide
 * it, and they are examined here alone.
 */
struct profile_metric {
	uint32_t type, unit; /* strings of the profile */
	const char *words;   /* as used in sentences: "CPU time", else the type. Static, or borrowed from the profile */
	enum profile_metric_kind kind;
	bool is_cpu_time; /* nanoseconds on a CPU */
	bool is_duration; /* nanoseconds of any kind */
	/* counted things, such as page faults, with which sentences use "many" and "fewer", not "much" and "less" */
	bool is_counted;
	bool is_exact; /* nothing was sampled: values have no noise of sampling, and there are no samples to speak of */
	/*
	 * value type that counts the samples of its values; PROFILE_NONE: their number is not known, so that no noise
	 * of counting can be computed, and only differences between runs show chance
	 */
	uint32_t counts;
};
struct profile_metric profile_metric(const struct profile *profile, uint32_t value_type);

/*
 * Returns whether a sample of a value is at the instruction that it is of. Events that interrupt a program are told
 * when it has gone on: by some instructions, which may be of the next line ("skid"). Processors that note the address
 * themselves (Intel's PEBS, AMD's IBS), and simulators, know it.
 */
bool profile_has_precise_addresses(const struct profile *profile, uint32_t value_type);

/* Returns the first value type that is a metric: value 0 is none if the number of samples is not known. */
uint32_t profile_first_metric(const struct profile *profile);

/* Returns the metric of that type and unit (NULL: any); PROFILE_NONE: the profile has none. */
uint32_t profile_find_metric(const struct profile *profile, const char *type, const char *unit);

/* Returns the sum of a value type over all samples, at most INT64_MAX; 0 of PROFILE_NONE. */
int64_t profile_sum(const struct profile *profile, uint32_t value_type);

/* Returns the CPU time that the samples stand for; 0 if they do not measure CPU time. */
int64_t profile_sampled_cpu_ns(const struct profile *profile);

/* Returns the CPU time that whole commands have used, by the kernel's accounts; 0: not all runs are such. */
int64_t profile_commands_cpu_ns(const struct profile *profile);

/*
 * Returns the metric of a name that a user gives: its type, as the file calls it or as Kelvin does (`sample`,
 * `samples`), or TYPE/UNIT where several metrics have the type. PROFILE_NONE: the profile has none.
 */
uint32_t profile_named_metric(const struct profile *profile, const char *name);

/*
 * Appends the names of the metrics, as a user gives them: "cpu, alloc_space". `valued`: only of those that have a value
 * in a sample.
 */
void profile_list_metrics(const struct profile *profile, bool valued, struct buffer *out);

/* Returns whether a sample has a value of this type. */
bool profile_has_values(const struct profile *profile, uint32_t value_type);

/*
 * The unit in which profiles keep values that a file has in `unit`, and how many of it one of those is: times of any
 * unit are kept in nanoseconds, so that they can be compared. A unit that is not known is kept as it is.
 */
struct profile_unit {
	const char *name; /* static, or the one that was given */
	int64_t scale;
};
struct profile_unit profile_unit(const char *unit);

/*
 * Returns how many parts of one a unit is: 1000000 for "1/1000000", the unit of numbers with decimals; 1 for all
 * others.
 */
int64_t profile_unit_parts(const char *unit);

/*
 * Returns whether the samples of an event are a measure of time, as those of clocks, and of cycles at a sampling
 * frequency. `event` is perf's name.
 */
bool profile_event_is_time(const char *event);
