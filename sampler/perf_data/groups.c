/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/perf_data/groups.h"

#include <string.h>

/* Returns whether the event is only counted: it neither samples nor reports mappings. */
static bool is_counted(const struct perf_data_event *event)
{
	return event->attr.sample_period == 0 && !perf_data_event_is_dummy(event);
}

/*
 * perf writes the events of a group one behind the other. The first of them leads; the sampling one may be the second,
 * behind Intel's slots, which only lead.
 */
static uint32_t first_of_group(const struct perf_data_events *events, uint32_t event)
{
	return event > 0 && is_counted(&events->items[event - 1]) && strstr(events->items[event - 1].name, "slots")
		       ? event - 1
		       : event;
}

static bool group_has_column(const struct counter_columns *columns, const char *type)
{
	for (size_t i = 0; i < columns->column_count; i++)
		if (strcmp(columns->columns[i].type, type) == 0)
			return true;
	return false;
}

/*
 * Returns whether a member is kept: what the sampling event measures is in the profile already, but for cycles, which
 * are there as time.
 */
static bool perf_data_groups_is_kept(
	const struct perf_data_events *events, uint32_t event, const struct counter_columns *columns)
{
	const struct perf_data_event *item = &events->items[event];

	if (columns->column_count == COUNTERS_MAX_COLUMNS || group_has_column(columns, item->name))
		return false;
	return is_counted(item) || (item->attr.freq && strstr(item->name, "cycles"));
}

static void perf_data_groups_add_member(
	const struct perf_data_events *events, uint32_t event, struct counter_columns *columns)
{
	const struct perf_data_event *item = &events->items[event];
	struct counter_member member = { COUNTERS_NO_COLUMN, 1 };

	if (perf_data_groups_is_kept(events, event, columns)) {
		struct counter_column *column = &columns->columns[columns->column_count];

		member.column = (uint8_t)columns->column_count++;
		snprintf(column->type, sizeof(column->type), "%s", item->name);
		column->input = COUNTER_COST_NO_INPUT;
		column->unit = perf_data_event_is_clock(item) ? "nanoseconds" : "count";
	}
	columns->members[columns->member_count++] = member;
}

static uint32_t member_of(const void *context, uint64_t id)
{
	const struct perf_data_group *group = context;
	uint32_t event = hash_map_get(&group->events->by_id, &id);

	return event == HASH_MAP_NONE ? event : event - group->first;
}

/*
 * Returns whether perf was told to record whole CPUs. A command that is named behind may have such a word of its own,
 * but then its events are switched on when it starts.
 */
static bool is_of_cpus(const struct perf_data_header *header, uint32_t event)
{
	static const char *const words[] = { " -a", " --all-cpus", " -C", " --cpu" };
	const char *command = header->facts.command;

	if (header->events.items[event].attr.enable_on_exec || !command)
		return false;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strstr(command, words[i]))
			return true;
	return false;
}

/*
 * Samples whose stack is told later come in the order of each thread's, not of a CPU's, so what a CPU has counted from
 * one to the next cannot be told.
 */
static bool is_ordered(const struct perf_event_attr *attr, bool is_of_threads)
{
	return is_of_threads || !perf_data_event_defers(attr);
}

bool perf_data_group_find(const struct perf_data_header *header, uint32_t event, struct perf_data_group *group)
{
	const struct perf_data_events *events = &header->events;
	const struct perf_event_attr *attr = &events->items[event].attr;
	struct counters_options *counters = &group->counters;
	bool is_of_threads = !is_of_cpus(header, event);

	if (!(attr->sample_type & PERF_SAMPLE_READ) || !(attr->read_format & PERF_FORMAT_GROUP) ||
		!(attr->read_format & PERF_FORMAT_ID) || !is_ordered(attr, is_of_threads))
		return false;
	group->events = events;
	group->first = first_of_group(events, event);
	*counters =
		(struct counters_options){ .member_of = member_of, .context = group, .are_of_threads = is_of_threads };
	for (uint32_t i = group->first; i < events->count && counters->columns.member_count < COUNTERS_MAX_MEMBERS;
		i++) {
		if (i > event && !is_counted(&events->items[i]))
			break;
		perf_data_groups_add_member(events, i, &counters->columns);
		counters->takes_turns |= events->items[i].attr.type != PERF_TYPE_SOFTWARE;
	}
	return counters->columns.column_count > 0;
}
