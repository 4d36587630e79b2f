/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/pprof_writer.h"

static void write_mapping_columns(struct pprof_writer *w, Pprof__Extension *out)
{
	const struct profile *profile = w->profile;
	size_t count = profile->mapping_count;

	out->n_mapping_kind = out->n_mapping_deleted = count;
	out->mapping_kind = pprof_take(w, count, sizeof(*out->mapping_kind));
	out->mapping_deleted = pprof_take(w, count, sizeof(*out->mapping_deleted));
	for (size_t i = 0; w->ok && i < count; i++) {
		out->mapping_kind[i] = profile->mappings[w->mapping_order[i]].kind;
		out->mapping_deleted[i] = profile->mappings[w->mapping_order[i]].deleted;
	}
}

static void write_counts_of(struct pprof_writer *w, Pprof__Extension *out)
{
	size_t count = w->profile->value_type_count;

	out->n_counts_of = count;
	out->counts_of = pprof_take(w, count, sizeof(*out->counts_of));
	/* PROFILE_NONE becomes 0. */
	for (size_t i = 0; w->ok && i < count; i++)
		out->counts_of[i] = w->profile->counts_of[i] + 1;
}

static void write_function_columns(struct pprof_writer *w, Pprof__Extension *out)
{
	const struct profile *profile = w->profile;
	size_t count = profile->function_count;

	out->n_function_origin = out->n_function_origin_rule = out->n_function_name_source = out->n_function_fingerprint =
		out->n_function_module = count;
	out->function_origin = pprof_take(w, count, sizeof(uint32_t));
	out->function_origin_rule = pprof_take(w, count, sizeof(uint32_t));
	out->function_name_source = pprof_take(w, count, sizeof(uint32_t));
	out->function_fingerprint = pprof_take(w, count, sizeof(uint64_t));
	out->function_module = pprof_take(w, count, sizeof(uint32_t));
	for (size_t i = 0; w->ok && i < count; i++) {
		const struct profile_function *function = &profile->functions[i];

		out->function_origin[i] = function->origin;
		out->function_origin_rule[i] = function->origin_rule;
		out->function_name_source[i] = function->name_source;
		out->function_fingerprint[i] = function->fingerprint;
		out->function_module[i] = function->module;
	}
}

static void write_runs(struct pprof_writer *w, Pprof__Extension *out)
{
	const struct profile *profile = w->profile;

	out->n_run = profile->run_count;
	out->run = (Pprof__Run **)pprof_take_messages(w, out->n_run, sizeof(Pprof__Run));
	for (size_t i = 0; w->ok && i < profile->run_count; i++) {
		const struct profile_run *run = &profile->runs[i];

		pprof__run__init(out->run[i]);
		out->run[i]->start_unix_ns = run->start_unix_ns;
		out->run[i]->duration_ns = run->duration_ns;
		out->run[i]->whole_command = run->whole_command;
		out->run[i]->exit_status = run->exit_status;
		out->run[i]->wall_ns = run->wall_ns;
		out->run[i]->cpu_ns = run->cpu_ns;
		out->run[i]->peak_memory_bytes = run->peak_memory_bytes;
	}
}

static void write_threads(struct pprof_writer *w, Pprof__Extension *out)
{
	const struct profile *profile = w->profile;

	out->n_thread = profile->thread_count;
	out->thread = (Pprof__Thread **)pprof_take_messages(w, out->n_thread, sizeof(Pprof__Thread));
	for (size_t i = 0; w->ok && i < profile->thread_count; i++) {
		const struct profile_thread *thread = &profile->threads[i];

		pprof__thread__init(out->thread[i]);
		out->thread[i]->run = thread->run;
		out->thread[i]->pid = thread->pid;
		out->thread[i]->tid = thread->tid;
		out->thread[i]->process_name = thread->process_name;
		out->thread[i]->name = thread->name;
	}
	out->n_sample_thread = profile->sample_count;
	out->sample_thread = pprof_take(w, profile->sample_count, sizeof(uint32_t));
	for (size_t i = 0; w->ok && i < profile->sample_count; i++)
		out->sample_thread[i] = profile->samples[w->sample_order[i]].thread;
}

static ProtobufCBinaryData packed(struct pprof_writer *w, struct buffer *column)
{
	struct error ignored;

	w->ok = w->ok && buffer_ok(column, &ignored);
	return (ProtobufCBinaryData){ column->size, (uint8_t *)column->data };
}

static void write_timeline(struct pprof_writer *w, Pprof__Extension *out)
{
	const struct profile *profile = w->profile;
	uint32_t run = PROFILE_NONE;
	int64_t before = 0;

	out->time_unit = PPROF_TIME_UNIT_NS;
	out->has_timeline = profile->has_timeline;
	if (!profile->has_timeline)
		return;
	out->n_run_events = profile->run_count;
	out->run_events = pprof_take(w, profile->run_count, sizeof(uint32_t));
	for (size_t i = 0; w->ok && i < profile->event_count; i++) {
		const struct profile_event *event = &profile->events[i];
		uint32_t event_run = profile->threads[profile->samples[event->sample].thread].run;
		int64_t time = event->time_ns / PPROF_TIME_UNIT_NS;

		if (event_run != run)
			before = 0;
		run = event_run;
		out->run_events[run]++;
		buffer_append_zigzag(&w->event_time_deltas, time - before);
		buffer_append_varint(&w->event_samples, w->sample_positions[event->sample]);
		before = time;
	}
	out->event_time_delta = packed(w, &w->event_time_deltas);
	out->event_sample = packed(w, &w->event_samples);
}

static void write_quality(struct pprof_writer *w, Pprof__Extension *out)
{
	const struct profile_quality *quality = &w->profile->quality;

	out->quality = pprof_take(w, 1, sizeof(*out->quality));
	if (!w->ok)
		return;
	pprof__quality__init(out->quality);
	out->quality->samples = quality->samples;
	out->quality->lost = quality->lost;
	out->quality->throttled = quality->throttled;
	out->quality->lost_sideband = quality->lost_sideband;
	out->quality->n_stops = PROFILE_STOP_COUNT;
	out->quality->stops = (uint64_t *)quality->stops;
	out->quality->frame_pointer_frames = quality->frame_pointer_frames;
	out->quality->frames = quality->frames;
}

static void write_facts(struct pprof_writer *w, Pprof__Extension *out)
{
	size_t count;
	const struct profile_fact *facts = profile_facts(&count);

	for (size_t i = 0; i < count; i++) {
		uint32_t value = profile_fact_get(&w->profile->facts, &facts[i]);

		if (value == 0)
			continue;
		/* The tag of a varint, and the varint. */
		buffer_append_varint(&w->facts, (uint64_t)facts[i].field << 3);
		buffer_append_varint(&w->facts, value);
	}
	out->facts = packed(w, &w->facts);
}

void pprof_write_extension(struct pprof_writer *w)
{
	Pprof__Extension *out = pprof_take(w, 1, sizeof(*out));

	if (!w->ok)
		return;
	pprof__extension__init(out);
	out->version = PPROF_EXTENSION_VERSION;
	out->default_value_type = w->profile->default_value_type;
	write_counts_of(w, out);
	write_mapping_columns(w, out);
	write_function_columns(w, out);
	write_runs(w, out);
	write_threads(w, out);
	write_timeline(w, out);
	write_quality(w, out);
	write_facts(w, out);
	w->message.kelvin = out;
}
