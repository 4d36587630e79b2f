/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/live/event_choice.h"

#include "binary/binary.h"
#include "sampler/live/counter_sets.h"
#include "sampler/live/event_open.h"
#include "sampler/records/record.h"

#include <string.h>
#include <time.h>

struct known_event {
	const char *name;
	uint32_t type;
	uint64_t config;
	bool is_time;
};

static const struct known_event known_events[] = {
	{ "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false },
	{ "cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false },
	{ "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, false },
	{ "cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, false },
	{ "branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, false },
	{ "cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, true },
	{ "task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, true },
	{ "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, false },
	{ "context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, false },
	{ "cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, false },
};
enum { EVENT_CYCLES = 0, EVENT_CPU_CLOCK = 5, MAX_PRECISE_IP = 3 };

static void use_event(struct event_set *set, const struct known_event *event)
{
	set->sample_attr.type = event->type;
	set->sample_attr.config = event->config;
	set->sample_attr.precise_ip = 0;
	set->event_name = event->name;
	set->is_time = event->is_time;
}

/* Selects the highest precision that the machine supports; false if it does not count the event at all. */
static bool probe_hardware(struct event_set *set)
{
	struct perf_event_attr attr = set->sample_attr;

	attr.exclude_kernel = 1;
	attr.read_format = 0;
	for (int precise = MAX_PRECISE_IP; precise >= 0; precise--) {
		int fd;

		attr.precise_ip = (unsigned int)precise & 3;
		fd = event_open(&attr, 0, -1, 0);
		if (fd < 0)
			continue;
		close(fd);
		set->sample_attr.precise_ip = (unsigned int)precise & 3;
		return true;
	}
	return false;
}

static bool use_named(struct event_set *set, const char *name, struct error *err)
{
	if (!name) {
		use_event(set, &known_events[EVENT_CYCLES]);
		if (!probe_hardware(set))
			use_event(set, &known_events[EVENT_CPU_CLOCK]);
		return true;
	}
	for (size_t i = 0; i < sizeof(known_events) / sizeof(known_events[0]); i++) {
		if (strcmp(known_events[i].name, name) != 0)
			continue;
		use_event(set, &known_events[i]);
		if (set->sample_attr.type == PERF_TYPE_HARDWARE && !probe_hardware(set))
			return error_set(err, ERROR_UNSUPPORTED,
				"cannot sample %s: this machine does not count it; use -e cpu-clock", name);
		return true;
	}
	return error_set(err, ERROR_USAGE,
		"unknown event %s; try cycles, instructions, cpu-clock, page-faults or context-switches", name);
}

static void fill_sample_attr(
	struct perf_event_attr *attr, const struct sampler_options *options, struct event_extras extras)
{
	*attr = (struct perf_event_attr){
		.size = sizeof(*attr),
		.freq = 1,
		.sample_freq = options->frequency_hz,
		.sample_type = RECORD_SAMPLE_TYPE,
		.read_format = PERF_FORMAT_LOST,
		.disabled = 1,
		.inherit = 1,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.exclude_guest = 1,
		.enable_on_exec = options->target.kind == SAMPLER_TARGET_COMMAND && !options->start_disabled,
	};
	/* Values that are read with each sample would be wrong with these clocks. */
	if (extras.with_own_clocks)
		attr->sample_type |= PERF_SAMPLE_READ;
	if (options->call_graph == SAMPLER_CALL_GRAPH_DWARF) {
		attr->sample_type |= RECORD_STACK_TYPE;
		attr->sample_regs_user = machine_host()->perf_registers;
		attr->sample_stack_user = options->stack_bytes;
		attr->exclude_callchain_user = !extras.with_callchains;
	}
}

static void fill_sideband_attr(struct perf_event_attr *attr, bool with_switches)
{
	*attr = (struct perf_event_attr){
		.size = sizeof(*attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = RECORD_SIDEBAND_TYPE,
		.inherit = 1,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.context_switch = with_switches,
		.watermark = 1,
		.exclude_kernel = 1,
	};
}

static bool samples_cycles(const struct event_set *set)
{
	return set->sample_attr.type == PERF_TYPE_HARDWARE && set->sample_attr.config == PERF_COUNT_HW_CPU_CYCLES;
}

/* Checks whether this machine counts what the user has named, at the same time. */
static bool check_listed(const struct event_set *set, struct error *err)
{
	const struct counter_event sampling = { set->sample_attr.type, set->sample_attr.config };
	const struct counter_columns *columns = &set->group.columns;
	struct counter_group alone = { .count = 2 };
	size_t opened, ignored;
	const char *name;

	if (counter_group_counts(&set->group, &sampling, 0, &opened))
		return true;
	if (opened == set->group.count || opened == 0)
		return error_set(err, ERROR_UNSUPPORTED,
			"--counters: this machine does not count all of these at the same time; name fewer");
	name = columns->columns[columns->members[opened].column].type;
	alone.events[1] = set->group.events[opened];
	if (counter_group_counts(&alone, &sampling, 0, &ignored))
		return error_set(err, ERROR_UNSUPPORTED,
			"--counters: this machine does not count %s at the same time as those before; name fewer",
			name);
	return error_set(err, ERROR_UNSUPPORTED,
		"--counters: this machine does not count %s; page-faults, context-switches and what else the kernel knows is "
		"counted everywhere",
		name);
}

static bool event_choice_find_group(struct event_set *set, const char *counters, struct error *err)
{
	uint32_t precise = set->sample_attr.precise_ip;
	struct error why;

	if (counters[0])
		return counter_group_of_list(counters, &set->group, err) && check_listed(set, err);
	if (!counter_sets_choose(&precise, &set->group, &why))
		return error_set(err, ERROR_UNSUPPORTED,
			"--counters: %s; 'kelvin simulate' tells without them what holds a function up, and --counters=page-faults,... "
			"counts what the kernel knows",
			why.message);
	set->sample_attr.precise_ip = precise & 3;
	return samples_cycles(set) ||
	       error_set(err, ERROR_USAGE,
		       "--counters: the processor's counters are read with cycles, not with %s; leave out -e",
		       set->event_name);
}

/*
 * Returns whether threads inherit a group whose values are read with its samples: since Linux 6.13. The kernel then
 * writes each thread's own.
 */
static bool group_is_inherited(const struct event_set *set)
{
	struct perf_event_attr attr = set->sample_attr;
	int fd;

	attr.exclude_kernel = 1;
	attr.inherit = 1;
	attr.read_format &= ~(uint64_t)PERF_FORMAT_LOST;
	fd = event_open(&attr, 0, 0, 0);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static bool choose_group(struct event_set *set, const char *counters, struct error *err)
{
	if (set->group.count == 0 && !event_choice_find_group(set, counters, err))
		return false;
	set->group.takes_turns |= set->sample_attr.type != PERF_TYPE_SOFTWARE;
	set->sample_attr.sample_type |= PERF_SAMPLE_READ | PERF_SAMPLE_STREAM_ID;
	set->sample_attr.read_format |=
		PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	set->needs_cpus = set->inherits && !group_is_inherited(set);
	return true;
}

bool event_choose(
	struct event_set *set, const struct sampler_options *options, struct event_extras extras, struct error *err)
{
	if (options->call_graph == SAMPLER_CALL_GRAPH_DWARF && !machine_host())
		return error_set(err, ERROR_UNSUPPORTED,
			"stacks of this processor cannot be unwound by call frame information; use --call-graph fp");
	fill_sample_attr(&set->sample_attr, options, extras);
	fill_sideband_attr(&set->sideband_attr, extras.with_switches);
	return use_named(set, options->event, err) && (!options->counters || choose_group(set, options->counters, err));
}
