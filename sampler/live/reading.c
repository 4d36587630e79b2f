/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/live/state.h"

/* Reads the records of a recording, from the rings of its events to the collector. */

bool sampler_prepare_reading(struct sampler *sampler, struct error *err)
{
	struct sampler_reading *reading = &sampler->reading;
	struct event_set *events = &sampler->events;
	const struct sampler_target *target = &sampler->options.target;
	bool is_command = target->kind == SAMPLER_TARGET_COMMAND;

	/* Each thread has events of its own, or each CPU has. */
	collector_set_counts_threads(sampler->collector, !events->counts_cpus && !sampler->filter.is_active);
	reading->sample_layout = record_layout_of(&events->sample_attr);
	reading->sideband_layout = record_layout_of(&events->sideband_attr);
	/* The sideband comes first: at equal times a mapping precedes the sample in it. */
	for (uint32_t cpu = 0; cpu < events->cpu_count; cpu++)
		if (events->sideband_rings[cpu].pages && !order_add(&reading->order, &events->sideband_rings[cpu],
								 &reading->sideband_layout, ORDER_SIDEBAND, err))
			return false;
	for (uint32_t cpu = 0; cpu < events->cpu_count; cpu++)
		if (events->sample_rings[cpu].pages && !order_add(&reading->order, &events->sample_rings[cpu],
							       &reading->sample_layout, ORDER_SAMPLES, err))
			return false;
	return watch_init(&reading->watch, events, is_command ? &sampler->command.pid : target->pids,
		       is_command ? 1 : target->pid_count, err) &&
	       instruments_add_rings(&sampler->instruments, &reading->order, &reading->watch, err);
}

/* Passes over a sample that is not the target's: only what its CPU has counted until then is taken. */
static bool reading_pass_over(struct sampler *sampler, const struct order_source *source, struct error *err)
{
	struct error ignored;
	struct record record;

	return !record_parse(source->layout, source->bytes, source->size, &record, &ignored) ||
	       collector_leave_out(sampler->collector, &record, err);
}

static bool take_record(struct sampler *sampler, const struct order_source *source, struct error *err)
{
	struct error ignored;
	struct record record;
	bool wanted;

	if (!filter_wants(&sampler->filter, source->layout, source->bytes, source->size))
		return !sampler->options.counters || reading_pass_over(sampler, source, err);
	if (!record_parse(source->layout, source->bytes, source->size, &record, &ignored)) {
		collector_profile(sampler->collector)->quality.lost++;
		return true;
	}
	if (!filter_take(&sampler->filter, &record, &wanted, err))
		return false;
	if (record.kind == RECORD_LOST && source->content == ORDER_DEFERRABLE)
		return true;
	return !wanted || collector_take(sampler->collector, &record, source->content == ORDER_SIDEBAND, err);
}

bool sampler_drain(struct sampler *sampler, uint64_t limit_ns, struct error *err)
{
	struct order *order = &sampler->reading.order;
	struct order_source *source;

	order_refresh(order);
	collector_processes(sampler->collector)->losses += order_is_full(order, ORDER_SIDEBAND);
	while (order_next(order, limit_ns, &source)) {
		if (!take_record(sampler, source, err))
			return false;
		order_advance(order, source);
		if (collector_held_count(sampler->collector) == 0)
			order_release(order);
	}
	if (!collector_flush(sampler->collector, err))
		return false;
	order_release(order);
	if (sampler->frame_reader)
		ebpf_frame_reader_release(sampler->frame_reader);
	return true;
}

void sampler_release(struct sampler *sampler)
{
	remaps_deinit(&sampler->remaps);
	watch_deinit(&sampler->reading.watch);
	order_deinit(&sampler->reading.order);
	instruments_close(&sampler->instruments);
	event_set_deinit(&sampler->events);
	collector_destroy(TAKE(sampler->collector));
	ebpf_frame_reader_destroy(TAKE(sampler->frame_reader));
	process_reader_destroy(sampler->reader);
	sampler->reader = NULL;
}
