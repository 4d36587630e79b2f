/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/collect/collector.h"

#include "sampler/collect/result.h"

#include <stdlib.h>
#include <time.h>

static const int64_t second_ns = 1000000000;

static bool describe_values(struct collector *collector, const struct collector_options *options, struct error *err)
{
	struct profile *profile = collector->profile;

	if (!options->counts_time && !profile_add_value_type(profile, options->event, "count", err))
		return false;
	if (options->counts_time && !profile_add_value_type(profile, "cpu", "nanoseconds", err))
		return false;
	profile->default_value_type = profile->value_type_count - 1;
	profile->period_type = profile->value_types[profile->default_value_type];
	profile->period = options->counts_time ? collector->nominal_ns : 0;
	if (options->has_waits) {
		if (!profile_add_wait_values(profile, err) ||
			!wait_counter_create(profile, options->machine, &collector->waits, err))
			return false;
		collector->wall = profile_wait_values(profile).wall;
	}
	if (options->has_elapsed && (!profile_add_value_type(profile, PROFILE_ELAPSED, "nanoseconds", err) ||
					    !switch_log_create(&collector->switches, err)))
		return false;
	return !options->counters || counters_create(profile, options->counters, &collector->counters, err);
}

static bool are_frame_pointers_kept(void *context, int32_t pid, const struct elf_image *elf)
{
	return interpreters_keep_frame_pointers(context, pid, elf);
}

static bool create_verifier(struct collector *collector, const struct collector_options *options, struct error *err)
{
	const struct verifier_options verifying = { .every = options->verify_every,
		.may_wait = options->verifier_may_wait,
		.frame_pointers = {
			collector->interpreters ? are_frame_pointers_kept : NULL, collector->interpreters } };

	return verifier_create(&verifying, &collector->verifier, err);
}

static bool collector_init(struct collector *collector, const struct collector_options *options, struct error *err)
{
	struct profile_run run = { .exit_status = -1, .start_unix_ns = clock_read_ns(CLOCK_REALTIME) };

	*collector = (struct collector){
		.start_ns = options->start_ns,
		.has_stack = options->has_stack,
		.is_time = options->is_time,
		.nominal_ns = second_ns / options->frequency_hz,
		.rest = options->rest,
		.frame_reader = options->frame_reader,
		.wall = PROFILE_NONE,
	};
	if (!profile_create(&collector->profile, err))
		return false;
	process_table_init(&collector->processes, collector->profile, options->host, options->notices);
	collector->processes.machine = options->machine;
	return stitch_memory_create(&collector->stitches, err) &&
	       stack_builder_create(&collector->processes, &collector->builder, err) &&
	       describe_values(collector, options, err) &&
	       profile_add_run(collector->profile, &run, &collector->run, err) &&
	       unwinder_create(&collector->unwinder, err) &&
	       (!options->names_interpreters || interpreters_create(&collector->processes, options->frame_reader,
							&collector->interpreters, err)) &&
	       (options->verify_every == 0 || create_verifier(collector, options, err));
}

bool collector_create(const struct collector_options *options, struct collector **collector, struct error *err)
{
	struct collector *made = calloc(1, sizeof(*made));

	if (!made)
		return error_set_memory(err);
	if (!collector_init(made, options, err)) {
		collector_destroy(made);
		return false;
	}
	*collector = made;
	return true;
}

void collector_destroy(struct collector *collector)
{
	if (!collector)
		return;
	interpreters_destroy(collector->interpreters);
	process_table_deinit(&collector->processes);
	unwinder_destroy(collector->unwinder);
	stitch_memory_destroy(collector->stitches);
	verifier_destroy(collector->verifier);
	stack_builder_destroy(collector->builder);
	wait_counter_destroy(collector->waits);
	live_stack_deinit(&collector->live_stack);
	switch_log_destroy(collector->switches);
	counters_destroy(collector->counters);
	profile_destroy(collector->profile);
	free(collector);
}

struct profile *collector_profile(const struct collector *collector)
{
	return collector->profile;
}

uint32_t collector_run(const struct collector *collector)
{
	return collector->run;
}

struct process_table *collector_processes(struct collector *collector)
{
	return &collector->processes;
}

void collector_set_start(struct collector *collector, uint64_t start_ns)
{
	collector->start_ns = start_ns;
}

void collector_set_counts_threads(struct collector *collector, bool counts_threads)
{
	if (collector->counters)
		counters_set_threads(collector->counters, counts_threads);
}

struct collector_cuts collector_cuts(const struct collector *collector)
{
	return collector->cuts;
}

bool collector_met_32bit(const struct collector *collector)
{
	return collector->met_32bit;
}

static bool is_in_doubt(const struct profile *profile, uint32_t stack, const struct remaps_doubt *doubt)
{
	for (uint32_t at = stack; at != 0; at = profile->stacks[at].parent) {
		const struct profile_location *location = &profile->locations[profile->stacks[at].location];

		for (size_t i = 0; i < doubt->count; i++)
			if (location->mapping == doubt->ranges[i].mapping &&
				location->address - doubt->ranges[i].start <
					doubt->ranges[i].end - doubt->ranges[i].start)
				return true;
	}
	return doubt->is_all;
}

void collector_doubt(void *context, const struct remaps_doubt *doubt)
{
	struct collector *collector = context;
	const struct profile *profile = collector->profile;
	int64_t since_ns = doubt->since_ns > collector->start_ns ? (int64_t)(doubt->since_ns - collector->start_ns) : 0;

	for (size_t i = profile->event_count; i-- > 0 && profile->events[i].time_ns >= since_ns;) {
		const struct profile_sample *sample = &profile->samples[profile->events[i].sample];

		if (i < profile->weighted_count && profile->event_weights[i] != 0)
			continue;
		collector->moved += profile->threads[sample->thread].pid == doubt->pid &&
				    is_in_doubt(profile, sample->stack, doubt);
	}
}

static void describe_moved(const struct collector *collector)
{
	const struct profile_quality *quality = &collector->profile->quality;
	uint64_t moved = collector->moved < quality->samples ? collector->moved : quality->samples;

	if (moved > 0)
		buffer_printf(collector->processes.notices,
			"up to %.1f %% of the samples have the names of code that was there before: a program moved other code to its place, "
			"of which the kernel does not tell (mremap), and the recorder saw it later; a recording that begins after that (-p) "
			"is right from its first sample\n",
			(double)moved * 100 / (double)quality->samples);
}

void collector_describe_limits(const struct collector *collector)
{
	const struct profile_quality *quality = &collector->profile->quality;
	const struct process_table *processes = &collector->processes;
	struct buffer *notices = processes->notices;

	if (collector->met_32bit)
		buffer_append_string(
			notices, "stacks of 32-bit processes are not supported: their user frames are missing\n");
	if (processes->met_denied && quality->stops[PROFILE_STOP_NO_MAPPING] > 0)
		buffer_append_string(notices,
			"code of other users' processes stays unnamed, because their memory maps may not be read; run kelvin with sudo\n");
	owners_describe(&processes->owners, quality->lost_sideband > 0, notices);
	stack_depths_describe(&collector->depths, quality->samples, notices);
	describe_moved(collector);
	if (collector->interpreters)
		interpreters_describe(collector->interpreters, notices);
	if (processes->met_outside)
		buffer_append_string(notices,
			"processes outside of this pid namespace are sampled as one, without names: run kelvin outside (a container with "
			"'--pid=host') to tell them apart\n");
}

bool collector_finish(struct collector *collector, struct recording *result, struct error *err)
{
	struct buffer *notices = collector->processes.notices;

	open_ends_finish(&collector->open_ends, &collector->profile->quality);
	if ((collector->switches && !switch_log_share(collector->switches, collector->profile,
					    collector->profile->runs[collector->run].duration_ns, notices, err)) ||
		!profile_finish(collector->profile, err) || !result_take_images(result, &collector->processes, err) ||
		!result_take_processes(result, &collector->processes, err) ||
		(collector->verifier &&
			!verifier_finish(collector->verifier, collector->profile, &result->compared, notices, err))) {
		recording_deinit(result);
		return false;
	}
	if (collector->counters)
		counters_describe(collector->counters, collector->profile, notices);
	if (collector->waits)
		result->symbols.lock_addresses = wait_counter_take_addresses(collector->waits);
	result->profile = TAKE(collector->profile);
	return true;
}
