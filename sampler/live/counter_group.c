/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/live/counter_group.h"

#include "sampler/live/event_open.h"

#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

/* Counters beside the CPU time and what waits have (PROFILE_MAX_VALUE_TYPES). */
enum { MAX_LISTED = 8 };

/* Events of the processor's caches: which cache, what is done, and how it ends. */
#define CACHE_EVENT(cache, operation, result)                                                                          \
	(PERF_COUNT_HW_CACHE_##cache | PERF_COUNT_HW_CACHE_OP_##operation << 8 |                                       \
		PERF_COUNT_HW_CACHE_RESULT_##result << 16)

static const struct {
	const char *name;
	struct counter_event event;
} named_events[] = {
	{ "cycles", { PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES } },
	{ "instructions", { PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS } },
	{ "cache-references", { PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES } },
	{ "cache-misses", { PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES } },
	{ "branches", { PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS } },
	{ "branch-misses", { PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES } },
	{ "bus-cycles", { PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES } },
	{ "stalled-cycles-frontend", { PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND } },
	{ "stalled-cycles-backend", { PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND } },
	{ "ref-cycles", { PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES } },
	{ "L1-dcache-loads", { PERF_TYPE_HW_CACHE, CACHE_EVENT(L1D, READ, ACCESS) } },
	{ "L1-dcache-load-misses", { PERF_TYPE_HW_CACHE, CACHE_EVENT(L1D, READ, MISS) } },
	{ "L1-icache-load-misses", { PERF_TYPE_HW_CACHE, CACHE_EVENT(L1I, READ, MISS) } },
	{ "LLC-loads", { PERF_TYPE_HW_CACHE, CACHE_EVENT(LL, READ, ACCESS) } },
	{ "LLC-load-misses", { PERF_TYPE_HW_CACHE, CACHE_EVENT(LL, READ, MISS) } },
	{ "dTLB-load-misses", { PERF_TYPE_HW_CACHE, CACHE_EVENT(DTLB, READ, MISS) } },
	{ "iTLB-load-misses", { PERF_TYPE_HW_CACHE, CACHE_EVENT(ITLB, READ, MISS) } },
	{ "cpu-clock", { PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK } },
	{ "task-clock", { PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK } },
	{ "page-faults", { PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS } },
	{ "minor-faults", { PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN } },
	{ "major-faults", { PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ } },
	{ "context-switches", { PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES } },
	{ "cpu-migrations", { PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS } },
	{ "alignment-faults", { PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS } },
	{ "emulation-faults", { PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS } },
};

static bool read_raw_code(const char *name, struct counter_event *event)
{
	char *end;

	if (name[0] != 'r' || name[1] == '\0' || strspn(name + 1, "0123456789abcdefABCDEF") != strlen(name + 1) ||
		strlen(name + 1) > 16)
		return false;
	*event = (struct counter_event){ PERF_TYPE_RAW, strtoull(name + 1, &end, 16) };
	return true;
}

static bool counter_event_named(const char *name, struct counter_event *event)
{
	for (size_t i = 0; i < sizeof(named_events) / sizeof(named_events[0]); i++) {
		if (strcmp(named_events[i].name, name) != 0)
			continue;
		*event = named_events[i].event;
		return true;
	}
	return read_raw_code(name, event);
}

/* The place of an equal column, which is added if there is none; COUNTERS_MAX_COLUMNS: there is no more room. */
static size_t group_column(struct counter_columns *columns, const struct counter_column *wanted)
{
	for (size_t i = 0; i < columns->column_count; i++) {
		const struct counter_column *column = &columns->columns[i];

		if (strcmp(column->type, wanted->type) == 0 && column->input == wanted->input)
			return i;
	}
	if (columns->column_count == COUNTERS_MAX_COLUMNS)
		return COUNTERS_MAX_COLUMNS;
	columns->columns[columns->column_count] = *wanted;
	return columns->column_count++;
}

bool counter_group_add(struct counter_group *group, const struct counter_event *event,
	const struct counter_column *column, uint32_t factor, struct error *err)
{
	size_t place = column ? group_column(&group->columns, column) : COUNTERS_NO_COLUMN;

	if (group->count == COUNTERS_MAX_MEMBERS || place == COUNTERS_MAX_COLUMNS || factor > UINT8_MAX)
		return error_set(err, ERROR_LIMIT, "more than %d counters", COUNTERS_MAX_MEMBERS - 1);
	group->columns.members[group->count] = (struct counter_member){ (uint8_t)place, (uint8_t)factor };
	group->columns.member_count = group->count + 1;
	group->events[group->count++] = *event;
	if (event->type != PERF_TYPE_SOFTWARE)
		group->takes_turns = true;
	return true;
}

static const char *counter_group_unit_of(const struct counter_event *event)
{
	bool is_clock = event->type == PERF_TYPE_SOFTWARE &&
			(event->config == PERF_COUNT_SW_CPU_CLOCK || event->config == PERF_COUNT_SW_TASK_CLOCK);

	return is_clock ? "nanoseconds" : "count";
}

static bool counter_group_add_listed(struct counter_group *group, const char *name, struct error *err)
{
	struct counter_column column = { .input = COUNTER_COST_NO_INPUT };
	struct counter_event event;

	if (!counter_event_named(name, &event))
		return error_set(err, ERROR_USAGE,
			"--counters: unknown event '%.60s'; try page-faults, context-switches, instructions or cache-misses",
			name);
	for (size_t i = 0; i < group->columns.column_count; i++)
		if (strcmp(group->columns.columns[i].type, name) == 0)
			return error_set(err, ERROR_USAGE, "--counters: %.60s is named twice", name);
	if (group->columns.column_count == MAX_LISTED)
		return error_set(err, ERROR_USAGE, "--counters: more than %d events", MAX_LISTED);
	snprintf(column.type, sizeof(column.type), "%s", name);
	column.unit = counter_group_unit_of(&event);
	return counter_group_add(group, &event, &column, 1, err);
}

bool counter_group_of_list(const char *list, struct counter_group *group, struct error *err)
{
	static const struct counter_event sampling = { PERF_TYPE_SOFTWARE, 0 };
	struct counter_group made = { 0 };

	if (!counter_group_add(&made, &sampling, NULL, 0, err))
		return false;
	for (const char *name = list; *name;) {
		size_t size = strcspn(name, ",");
		char text[COUNTERS_TYPE_BYTES];

		if (size == 0 || size >= sizeof(text))
			return error_set(err, ERROR_USAGE,
				"--counters=%.60s: name events by perf's names, separated by commas", list);
		memcpy(text, name, size);
		text[size] = '\0';
		if (!counter_group_add_listed(&made, text, err))
			return false;
		name += size + (name[size] == ',');
	}
	*group = made;
	return true;
}

/* ---- Whether it counts here ---- */

/* The words that are read of the leader: how many, the times enabled and running, and a value for each. */
enum { TRIAL_RUNNING = 2, TRIAL_WORDS = 3 + COUNTERS_MAX_MEMBERS };

static bool has_run(int leader)
{
	static const int64_t longest_ns = 100000000;
	uint64_t words[TRIAL_WORDS];
	int64_t begin_ns = clock_read_ns(CLOCK_MONOTONIC);

	do {
		if (read(leader, words, sizeof(words)) <= 0)
			return false;
		if (words[TRIAL_RUNNING] > 0)
			return true;
	} while (clock_read_ns(CLOCK_MONOTONIC) - begin_ns < longest_ns);
	return false;
}

/* Makes the sampling event of a trial: it never samples anything, since it would take centuries. */
static void make_sampling(struct perf_event_attr *attr, uint32_t precise)
{
	attr->sample_period = (uint64_t)1 << 46;
	attr->sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_READ;
	attr->precise_ip = precise & 3;
}

bool counter_group_counts(
	const struct counter_group *group, const struct counter_event *sampling, uint32_t precise, size_t *opened)
{
	int descriptors[COUNTERS_MAX_MEMBERS];
	size_t count = 0;
	bool ok = true;

	for (; ok && count < group->count; count += ok) {
		const struct counter_event *event = count == group->sampling ? sampling : &group->events[count];
		struct perf_event_attr attr = {
			.size = sizeof(attr),
			.type = event->type,
			.config = event->config,
			.disabled = count == 0,
			.exclude_kernel = 1,
			.exclude_guest = 1,
			.read_format =
				PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		};

		if (count == group->sampling)
			make_sampling(&attr, precise);
		descriptors[count] = event_open_in_group(&attr, 0, -1, count ? descriptors[0] : -1, 0);
		ok = descriptors[count] >= 0;
	}
	*opened = count;
	ok = ok && ioctl(descriptors[0], PERF_EVENT_IOC_ENABLE, 0) == 0 && has_run(descriptors[0]);
	while (count > 0)
		close(descriptors[--count]);
	return ok;
}
