/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hands the records of perf.data to the collector: begins and ends a profile, and takes each record. */
#include "sampler/perf_data/perf_data.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const uint64_t second_ns = 1000000000;

/* ---- Begin ---- */

static const struct perf_data_event *chosen(const struct perf_data *data)
{
	return &data->header.events.items[data->event];
}

/* Finds those of the file's registers that the unwinder needs; the ring requests no others. */
static bool place_registers(struct perf_data *data, uint64_t mask)
{
	const struct machine *machine = data->machine;
	size_t place = 0;

	for (unsigned int bit = 0; bit < 64; bit++) {
		if (!(machine->perf_registers >> bit & 1))
			continue;
		data->register_places[place++] = UINT8_MAX;
		if (mask >> bit & 1)
			data->register_places[place - 1] =
				(uint8_t)__builtin_popcountll(mask & (((uint64_t)1 << bit) - 1));
	}
	return (mask & machine->perf_least_registers) == machine->perf_least_registers;
}

/* Finds whether there are stacks to unwind. A file that does not name its processor is assumed to be of this one. */
static bool find_stacks(struct perf_data *data, struct error *err)
{
	const char *recorded = data->header.facts.architecture;
	const struct perf_event_attr *attr = &chosen(data)->attr;

	data->has_stack = (attr->sample_type & PERF_SAMPLE_REGS_USER) && (attr->sample_type & PERF_SAMPLE_STACK_USER);
	data->machine = recorded && recorded[0] ? machine_named(recorded) : machine_host();
	if (!data->has_stack)
		return true;
	if (!data->machine)
		return error_set(err, ERROR_UNSUPPORTED,
			"its stacks were recorded on %.32s, a processor whose stacks cannot be unwound; record with --call-graph fp",
			recorded && recorded[0] ? recorded : "an unknown machine");
	data->has_stack = place_registers(data, attr->sample_regs_user);
	return true;
}

static void describe_call_graph(const struct perf_data *data, char *text, size_t room)
{
	const struct perf_event_attr *attr = &chosen(data)->attr;

	if (data->has_stack)
		snprintf(text, room, "dwarf,%u", attr->sample_stack_user);
	else
		snprintf(text, room, "%s",
			data->is_lbr                                ? "lbr"
			: attr->sample_type & PERF_SAMPLE_CALLCHAIN ? "fp"
								    : "");
}

static bool perf_data_samples_fill_facts(struct perf_data *data, struct error *err)
{
	const struct perf_data_facts *from = &data->header.facts;
	const struct perf_data_event *event = chosen(data);
	struct profile *profile = collector_profile(data->collector);
	struct profile_facts *facts = &profile->facts;
	char tool[128], call_graph[32];

	snprintf(tool, sizeof(tool), "perf%s%.100s", from->perf_version ? " " : "",
		from->perf_version ? from->perf_version : "");
	describe_call_graph(data, call_graph, sizeof(call_graph));
	facts->cpu_count = from->cpu_count;
	facts->frequency_hz =
		event->attr.freq && event->attr.sample_freq <= UINT32_MAX ? (uint32_t)event->attr.sample_freq : 0;
	facts->user_only = event->attr.exclude_kernel;
	facts->precise_ip = event->attr.precise_ip;
	return profile_intern(profile, tool, &facts->tool, err) &&
	       profile_intern(profile, event->name, &facts->event, err) &&
	       profile_intern(profile, call_graph, &facts->call_graph, err) &&
	       profile_intern(profile, from->kernel ? from->kernel : "", &facts->kernel, err) &&
	       profile_intern(profile, from->cpu_model ? from->cpu_model : "", &facts->cpu_model, err) &&
	       profile_intern(profile, from->command ? from->command : "", &facts->command, err);
}

/* Reads the whole stack of a sample that was read in part, for the collector. */
static bool perf_data_samples_read_rest(void *context, size_t held, struct record *record, struct error *err)
{
	struct perf_data *data = context;
	const struct queued_record *queued = &data->held[held];
	struct record whole;
	const uint8_t *bytes;
	size_t size = (size_t)queued->size + queued->left_out;

	if (!perf_data_skim_read_whole(&data->skim, &queued->stream->input, queued->offset, size, &bytes, err) ||
		!record_parse(&data->header.events.items[queued->event].layout, bytes, size, &whole, err))
		return false;
	record->sample.stack = whole.sample.stack;
	record->sample.stack_bytes = whole.sample.stack_bytes;
	record->sample.is_short = false;
	return true;
}

static void note_used(void *context, uint64_t stack_bytes)
{
	struct perf_data *data = context;

	perf_data_skim_describe(&data->skim, stack_bytes);
}

/*
 * Returns whether the event measures time. Cycles at a frequency do; at a fixed number of cycles each, samples only
 * count cycles.
 */
static bool counts_time(const struct perf_data_event *event)
{
	return perf_data_event_is_clock(event) || (event->attr.freq && profile_event_is_time(event->name));
}

static struct collector_options collecting(struct perf_data *data)
{
	const struct perf_data_event *event = chosen(data);
	bool is_clock = perf_data_event_is_clock(event), has_waits = data->waits != PERF_DATA_NO_WAITS;
	uint64_t hz = event->attr.sample_freq;

	if (has_waits)
		hz = second_ns;
	else if (!event->attr.freq)
		hz = is_clock && event->attr.sample_period <= second_ns ? second_ns / event->attr.sample_period : 1;
	return (struct collector_options){
		.event = event->name,
		.is_time = is_clock,
		.counts_time = has_waits || counts_time(event),
		.has_waits = has_waits,
		.frequency_hz = hz > 0 && hz <= second_ns ? (uint32_t)hz : 1,
		.notices = data->notices,
		.host = recorded_files_host(&data->header.files),
		.verifier_may_wait = true, /* no records are lost meanwhile */
		.rest = { perf_data_samples_read_rest, note_used, data },
		.verify_every = data->verify_every,
	};
}

/* Names the idle task, which no record names. */
static bool name_idle(struct perf_data *data, struct error *err)
{
	struct record record = { .kind = RECORD_COMM, .comm = { .name = "swapper" } };

	return collector_take(data->collector, &record, true, err);
}

/* The profile's name for the values of an event. */
static const char *perf_data_samples_metric_of(const struct perf_data_event *event)
{
	if (perf_data_waits_of(event) != PERF_DATA_NO_WAITS)
		return "off-cpu";
	return counts_time(event) ? "cpu" : event->name;
}

/* Finds the event that tells of waits: the one that has the times as perf added them up is exact. */
static uint32_t perf_data_samples_find_waits(const struct perf_data_events *events)
{
	uint32_t found = PERF_DATA_NO_EVENT;

	for (uint32_t i = 0; i < events->count; i++) {
		enum perf_data_waits waits = perf_data_waits_of(&events->items[i]);

		if (waits == PERF_DATA_OFF_CPU)
			return i;
		if (waits == PERF_DATA_SWITCHES && found == PERF_DATA_NO_EVENT)
			found = i;
	}
	return found;
}

static uint32_t find_wanted(const struct perf_data *data)
{
	const struct perf_data_events *events = &data->header.events;
	uint32_t waits =
		perf_data_waits_are_wanted(data->wanted) ? perf_data_samples_find_waits(events) : PERF_DATA_NO_EVENT;

	if (waits != PERF_DATA_NO_EVENT)
		return waits;
	for (uint32_t i = 0; data->wanted && i < events->count; i++)
		if (events->items[i].attr.sample_period != 0 &&
			(strcmp(data->wanted, perf_data_samples_metric_of(&events->items[i])) == 0 ||
				strcmp(data->wanted, events->items[i].name) == 0))
			return i;
	return perf_data_events_first(events);
}

/* Switches are counted like other events, unless their times are asked for. */
static enum perf_data_waits choose_waits(const struct perf_data *data)
{
	enum perf_data_waits waits = perf_data_waits_of(chosen(data));

	return waits == PERF_DATA_SWITCHES && !perf_data_waits_are_wanted(data->wanted) ? PERF_DATA_NO_WAITS : waits;
}

bool perf_data_begin(struct perf_data *data, struct error *err)
{
	enum { BRANCH_CALL_STACK = 1 << 11 };
	struct perf_data_events *events = &data->header.events;
	struct collector_options options;
	struct profile *profile;
	uint64_t type;

	if (!perf_data_events_check(events, err))
		return false;
	if (data->event == PERF_DATA_NO_EVENT)
		data->event = find_wanted(data);
	if (data->event >= events->count)
		return error_set(err, ERROR_EMPTY,
			"none of its events takes samples; record it again with -e cpu-clock and without -n");
	type = chosen(data)->attr.sample_type;
	data->waits = choose_waits(data);
	options = collecting(data);
	if (!find_stacks(data, err))
		return false;
	options.has_stack = data->has_stack;
	options.machine = data->machine;
	if (data->waits == PERF_DATA_NO_WAITS && perf_data_group_find(&data->header, data->event, &data->group))
		options.counters = &data->group.counters;
	data->is_lbr = (type & PERF_SAMPLE_BRANCH_STACK) && (chosen(data)->attr.branch_sample_type & BRANCH_CALL_STACK);
	if (!collector_create(&options, &data->collector, err))
		return false;
	profile = collector_profile(data->collector);
	profile->runs[collector_run(data->collector)].start_unix_ns = 0;
	if (data->waits != PERF_DATA_NO_WAITS)
		profile->default_value_type = profile_wait_values(profile).off_cpu;
	return perf_data_samples_fill_facts(data, err) && name_idle(data, err);
}

/* ---- Other records ---- */

static bool take_kernel_mapping(struct perf_data *data, const struct record_mmap *mmap, struct error *err)
{
	static const char kernel[] = "[kernel.kallsyms]";
	struct recorded_files *files = &data->header.files;

	if (strncmp(mmap->path, kernel, sizeof(kernel) - 1) != 0 || data->kernel_is_known)
		return true;
	if (mmap->build_id)
		memcpy(files->kernel.bytes, mmap->build_id, files->kernel.size = mmap->build_id_size);
	data->kernel_is_known = true;
	/* The offset is the address of the symbol that is named after the bracket. */
	if (!recorded_kernel_find(files, data->header.facts.kernel, mmap->file_offset, mmap->path + sizeof(kernel) - 1,
		    &data->kernel, err))
		return false;
	collector_processes(data->collector)->kernel_bias = data->kernel.moved;
	return true;
}

static bool perf_data_samples_take_mapping(struct perf_data *data, struct record *record, struct error *err)
{
	struct record_mmap *mmap = &record->mmap;
	uint32_t mode = record->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	struct elf_build_id id = { .size = mmap->build_id_size };
	size_t size = elf_mapped_path_size(mmap->path);
	char path[PATH_MAX];

	if (mode == PERF_RECORD_MISC_KERNEL || record->pid < 0)
		return take_kernel_mapping(data, mmap, err);
	if (mode == PERF_RECORD_MISC_GUEST_KERNEL || mode == PERF_RECORD_MISC_GUEST_USER || !mmap->executable)
		return true;
	if (mmap->build_id) {
		memcpy(id.bytes, mmap->build_id, id.size);
		if (!recorded_files_add(&data->header.files, mmap->path, &id, err))
			return false;
		/* The build id takes the place of the inode, which the record lacks. */
		mmap->inode = hash_bytes(id.bytes, id.size) | 1;
	}
	if (mmap->path[size] != '\0' && size < sizeof(path)) {
		memcpy(path, mmap->path, size);
		path[size] = '\0';
		mmap->path = path;
	}
	return collector_take(data->collector, record, true, err);
}

static void take_loss(struct perf_data *data, const struct record *record, uint32_t event)
{
	enum { MISC_DROPPED_BY_FILTER = 1 << 15 };

	if (record->type == PERF_RECORD_LOST) {
		data->lost_records += record->lost;
		return;
	}
	if (record->misc & MISC_DROPPED_BY_FILTER)
		return;
	*(event == data->event ? &data->lost_samples : &data->lost_of_others) += record->lost;
	if (perf_data_event_is_dummy(&data->header.events.items[event]))
		collector_profile(data->collector)->quality.lost_sideband += record->lost;
}

static uint64_t count_lost(const struct perf_data *data)
{
	uint64_t by_ring = data->lost_records > data->lost_of_others ? data->lost_records - data->lost_of_others : 0;

	return by_ring > data->lost_samples ? by_ring : data->lost_samples;
}

static bool samples_take(
	struct perf_data *data, const struct queued_record *queued, struct record *record, struct error *err)
{
	bool is_switch = record->type == PERF_RECORD_SWITCH || record->type == PERF_RECORD_SWITCH_CPU_WIDE;

	switch (record->kind) {
	case RECORD_SAMPLE:
		return data->waits == PERF_DATA_NO_WAITS ? perf_data_take_sample(data, record, err)
							 : perf_data_waits_take_sample(data, queued, record, err);
	case RECORD_MMAP:
		return perf_data_samples_take_mapping(data, record, err);
	case RECORD_LOST:
		take_loss(data, record, queued->event);
		return true;
	case RECORD_CALLCHAIN:
		return perf_data_deferred_take_chain(data, record, err);
	case RECORD_OTHER:
		if (is_switch)
			return perf_data_waits_take_switch(data, record, err);
		break;
	case RECORD_COMM:
	case RECORD_FORK:
	case RECORD_EXIT:
	case RECORD_THROTTLE:
		break;
	}
	return collector_take(data->collector, record, true, err);
}

void perf_data_release_held(struct perf_data *data)
{
	for (size_t i = 0; i < data->held_count; i++)
		feed_release(data->held[i].feed, data->held[i].block);
	data->held_count = 0;
}

bool perf_data_take(struct perf_data *data, const struct queued_record *queued, struct error *err)
{
	struct record record;
	bool ok;

	data->held[data->held_count] = *queued;
	ok = perf_data_parse(data, queued, &record, err) && samples_take(data, queued, &record, err);
	if (ok && collector_held_count(data->collector) > data->held_count) {
		data->held_count++;
		return true;
	}
	feed_release(queued->feed, queued->block);
	if (collector_held_count(data->collector) == 0)
		perf_data_release_held(data);
	return ok;
}

/* ---- End ---- */

uint32_t perf_data_other_event(const struct perf_data *data)
{
	const struct perf_data_events *events = &data->header.events;
	uint32_t most = data->event;

	if (events->items[data->event].samples > 0)
		return PERF_DATA_NO_EVENT;
	for (uint32_t i = 0; i < events->count; i++)
		if (events->items[i].samples > events->items[most].samples)
			most = i;
	return most == data->event ? PERF_DATA_NO_EVENT : most;
}

static void name_other_events(const struct perf_data *data)
{
	const struct perf_data_events *events = &data->header.events;
	const struct perf_data_event *read = chosen(data);

	for (uint32_t i = 0; i < events->count; i++) {
		const struct perf_data_event *event = &events->items[i];
		bool has_same_metric =
			     strcmp(perf_data_samples_metric_of(event), perf_data_samples_metric_of(read)) == 0,
		     is_one = event->samples == 1;

		if (i == data->event || event->samples == 0)
			continue;
		/* Names have no modifiers here: `cycles:u` and `cycles:k` have one name. */
		buffer_printf(data->notices, "%llu %s of %s%s %s left out: only %s is read",
			(unsigned long long)event->samples, is_one ? "sample" : "samples",
			strcmp(event->name, read->name) == 0 ? "another " : "", event->name, is_one ? "is" : "are",
			read->name);
		if (!has_same_metric)
			buffer_printf(data->notices, "; '--metric %s' reads %s", perf_data_samples_metric_of(event),
				is_one ? "it" : "them");
		buffer_append_byte(data->notices, '\n');
	}
}

/* Hands the kernel's symbols over; "" if no symbols must be used for the recorded kernel. */
static bool hand_over_kernel(struct perf_data *data, struct recording *result, struct error *err)
{
	bool has_kernel = collector_processes(data->collector)->kernel_image != PROFILE_NONE;
	const char *cache = data->header.files.recording->cache_directory;

	if (!has_kernel)
		return true;
	if (!data->kernel_is_known &&
		!recorded_kernel_find(&data->header.files, data->header.facts.kernel, 0, "_text", &data->kernel, err))
		return false;
	if (!data->kernel.kallsyms && data->notices)
		buffer_printf(data->notices,
			"kernel functions stay unnamed: the symbols of the recorded kernel%s%.80s are neither in /proc/kallsyms nor in %s\n",
			data->header.facts.kernel ? " " : "",
			data->header.facts.kernel ? data->header.facts.kernel : "",
			cache ? cache : "perf's build-id cache");
	result->symbols.kernel_is_running = data->kernel.is_running;
	result->symbols.kallsyms = data->kernel.kallsyms ? TAKE(data->kernel.kallsyms) : strdup("");
	return result->symbols.kallsyms ? true : error_set_memory(err);
}

bool perf_data_finish(struct perf_data *data, struct recording *result, struct error *err)
{
	struct recording made = { .child_status = -1 };
	struct profile *profile = data->collector ? collector_profile(data->collector) : NULL;

	if (profile && (!collector_flush(data->collector, err) || !perf_data_waits_finish(data, err) ||
			       !perf_data_deferred_finish(data, err)))
		return false;
	perf_data_release_held(data);
	if (!profile || profile->quality.samples == 0)
		return error_set(err, ERROR_EMPTY, "it holds no samples%s%s; record it again while the program is busy",
			profile ? " of " : "", profile ? chosen(data)->name : "");
	if (collector_met_32bit(data->collector) && profile->sample_count == 0)
		return error_set(err, ERROR_UNSUPPORTED, "it is of a 32-bit process, which is not supported");
	profile->quality.lost += count_lost(data);
	profile->runs[collector_run(data->collector)].duration_ns = (int64_t)(data->last_ns - data->first_ns);
	if (data->notices)
		name_other_events(data);
	if (!collector_finish(data->collector, &made, err))
		return false;
	if (!hand_over_kernel(data, &made, err)) {
		recording_deinit(&made);
		return false;
	}
	if (chosen(data)->attr.use_clockid && chosen(data)->attr.clockid == CLOCK_MONOTONIC)
		made.symbols.clock_ns = (int64_t)data->first_ns;
	made.symbols.waits_by_name = data->waits != PERF_DATA_NO_WAITS;
	*result = made;
	return true;
}
