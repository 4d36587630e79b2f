/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/pprof_reader.h"

#include <stdlib.h>

static bool read_runs(struct pprof_reader *r, struct error *err)
{
	struct profile_run run = { .exit_status = -1, .start_unix_ns = r->time_nanos, .duration_ns = r->duration_nanos };
	uint32_t id;

	if (!r->extension || r->extension->n_run == 0)
		return profile_add_run(r->profile, &run, &id, err);
	for (size_t i = 0; i < r->extension->n_run; i++) {
		const Pprof__Run *in = r->extension->run[i];

		run = (struct profile_run){ in->start_unix_ns, in->duration_ns, in->whole_command, in->exit_status, in->wall_ns,
			in->cpu_ns, in->peak_memory_bytes };
		if (!profile_add_run(r->profile, &run, &id, err))
			return false;
	}
	return true;
}

static bool read_threads(struct pprof_reader *r, struct error *err)
{
	const Pprof__Extension *extension = r->extension;

	if (!extension)
		return true;
	r->threads = calloc(extension->n_thread + 1, sizeof(*r->threads));
	if (!r->threads)
		return error_set_memory(err);
	for (size_t i = 0; i < extension->n_thread; i++) {
		const Pprof__Thread *in = extension->thread[i];
		struct profile_thread thread = { .run = in->run, .pid = in->pid, .tid = in->tid };

		if (in->run >= r->profile->run_count)
			return error_set(err, ERROR_FORMAT, "thread %zu references run %u, which is not there", i, in->run);
		if (!pprof_string_id(r, in->process_name, &thread.process_name, "a process's name", err) ||
			!pprof_string_id(r, in->name, &thread.name, "a thread's name", err) ||
			!profile_add_thread(r->profile, &thread, &r->threads[i], err))
			return false;
	}
	return true;
}

static bool read_label(const struct pprof_reader *r, struct byte_reader message, struct profile_thread *thread, struct error *err)
{
	enum { KEY = 1, STRING, NUMBER, FIELDS };
	uint64_t numbers[FIELDS] = { 0 };
	struct pprof_field field;
	uint32_t string;

	while (pprof_next_field(&message, &field))
		if (field.id < FIELDS)
			numbers[field.id] = field.number;
	if (!byte_reader_ok(&message))
		return error_set(err, ERROR_FORMAT, "a label is malformed");
	if (!pprof_string_id(r, (int64_t)numbers[KEY], &string, "a label's key", err) ||
		!pprof_string_id(r, (int64_t)numbers[STRING], &string, "a label", err))
		return false;
	switch ((enum pprof_label)r->labels[numbers[KEY]]) {
	case PPROF_LABEL_PID:
		thread->pid = (int32_t)numbers[NUMBER];
		break;
	case PPROF_LABEL_TID:
		thread->tid = (int32_t)numbers[NUMBER];
		break;
	case PPROF_LABEL_PROCESS:
		thread->process_name = string;
		break;
	case PPROF_LABEL_THREAD:
		thread->name = string;
		break;
	case PPROF_LABEL_OTHER:
		break;
	}
	return true;
}

static bool has_thread_column(const struct pprof_reader *r)
{
	return r->extension && r->extension->n_sample_thread == r->sections[PPROF_SAMPLE].count;
}

static bool thread_of_sample(
	struct pprof_reader *r, size_t position, const struct profile_thread *labelled, uint32_t *thread, struct error *err)
{
	const Pprof__Extension *extension = r->extension;

	if (!has_thread_column(r))
		return profile_add_thread(r->profile, labelled, thread, err);
	if (extension->sample_thread[position] >= extension->n_thread)
		return error_set(err, ERROR_FORMAT, "sample %zu references thread %u, which is not there", position,
			extension->sample_thread[position]);
	*thread = r->threads[extension->sample_thread[position]];
	return true;
}

/* A sample as the file has it; its locations are in the reader's path. */
struct sample {
	size_t position, depth, value_count;
	int64_t values[PROFILE_MAX_VALUE_TYPES];
	struct profile_thread thread; /* by its labels */
};

static bool take_locations(
	struct pprof_reader *r, struct byte_reader *message, struct pprof_field *field, struct sample *sample, struct error *err)
{
	uint64_t id;

	while (pprof_next_number(message, field, &id)) {
		uint32_t position = id_table_get(&r->location_ids, id);

		if (position == HASH_MAP_NONE)
			return error_set(err, ERROR_FORMAT, "sample %zu references location %llu, which is not there",
				sample->position, (unsigned long long)id);
		if (!ARRAY_RESERVE(&r->path, &r->path_capacity, sample->depth + 1, ARRAY_MAX_IDS, err))
			return false;
		r->path[sample->depth++] = r->locations[position];
	}
	return true;
}

static void take_values(struct byte_reader *message, struct pprof_field *field, struct sample *sample)
{
	uint64_t value;

	for (; pprof_next_number(message, field, &value); sample->value_count++)
		if (sample->value_count < PROFILE_MAX_VALUE_TYPES)
			sample->values[sample->value_count] = (int64_t)value;
}

static bool take_fields(struct pprof_reader *r, struct byte_reader message, struct sample *sample, struct error *err)
{
	bool skip_labels = has_thread_column(r);
	struct pprof_field field;

	while (pprof_next_field(&message, &field)) {
		if (field.id == 1 && !take_locations(r, &message, &field, sample, err))
			return false;
		if (field.id == 2)
			take_values(&message, &field, sample);
		if (field.id == 3 && field.has_bytes && !skip_labels && !read_label(r, field.bytes, &sample->thread, err))
			return false;
	}
	return pprof_check(&message, "sample", sample->position, err);
}

/* A file without counts has been sampled all the same: its period tells how often, else each line stands for one sample. */
static int64_t count_of(const struct pprof_reader *r, const struct sample *sample)
{
	int64_t period = r->profile->period, value, count;

	if (period <= 0 || r->period_value == PROFILE_NONE)
		return 1;
	value = sample->values[r->period_value];
	count = value / period + (value % period > (period - 1) / 2);
	return value > 0 && count == 0 ? 1 : count;
}

static bool order_values(const struct pprof_reader *r, const struct sample *sample, int64_t *values, struct error *err)
{
	if (sample->value_count != r->type_count)
		return error_set(err, ERROR_FORMAT, "sample %zu has %zu values for %zu sample types", sample->position,
			sample->value_count, r->type_count);
	for (size_t i = 0; i < r->type_count; i++) {
		values[r->types[i]] = sample->values[i];
		if (sample->values[i] < 0)
			return error_set(err, ERROR_FORMAT,
				"sample %zu has the negative value %lld: this is a difference of two profiles; give the two themselves",
				sample->position, (long long)sample->values[i]);
	}
	if (!r->has_count)
		values[0] = count_of(r, sample);
	return true;
}

static bool read_sample(struct pprof_reader *r, struct byte_reader message, size_t position, struct error *err)
{
	struct sample sample = { .position = position };
	int64_t values[PROFILE_MAX_VALUE_TYPES];
	uint32_t stack = 0, thread = 0;

	if (!take_fields(r, message, &sample, err) || !order_values(r, &sample, values, err))
		return false;
	while (sample.depth > 0)
		if (!profile_add_stack(r->profile, stack, r->path[--sample.depth], &stack, err))
			return false;
	return thread_of_sample(r, position, &sample.thread, &thread, err) &&
	       profile_add_sample(r->profile, stack, thread, values, -1, err);
}

static bool read_run_events(struct pprof_reader *r, size_t run, uint32_t count, struct error *err)
{
	const Pprof__Extension *in = r->extension;
	struct profile *profile = r->profile;
	int64_t time = 0;

	if (count > in->n_event_sample - profile->event_count)
		return error_set(err, ERROR_FORMAT, "the timeline of run %zu is longer than its columns", run);
	for (uint32_t i = 0; i < count; i++) {
		size_t event = profile->event_count;
		uint32_t sample = in->event_sample[event];

		if (sample >= profile->sample_count || in->event_time_delta[event] < 0 ||
			__builtin_add_overflow(time, in->event_time_delta[event], &time) || time > INT64_MAX / in->time_unit ||
			profile->threads[profile->samples[sample].thread].run != run)
			return error_set(err, ERROR_FORMAT, "event %zu of the timeline is out of range", event);
		profile->events[profile->event_count++] = (struct profile_event){ time * in->time_unit, sample };
	}
	return true;
}

/* Whoever cuts the timeline into blocks relies on it: no sample is lost there, none stands twice. */
static bool check_event_counts(const struct profile *profile, struct error *err)
{
	CLEANUP(cleanup_free) int64_t *counts = calloc(profile->sample_count + 1, sizeof(*counts));

	if (!counts)
		return error_set_memory(err);
	for (size_t i = 0; i < profile->event_count; i++)
		counts[profile->events[i].sample]++;
	for (size_t i = 0; i < profile->sample_count; i++) {
		int64_t count = profile->values[i * profile->value_type_count];

		if (counts[i] != count)
			return error_set(err, ERROR_FORMAT, "the timeline has %lld events of sample %zu, which counts %lld",
				(long long)counts[i], i, (long long)count);
	}
	return true;
}

/* Our own files: each sample stands once, so positions are ids. */
static bool read_timeline(struct pprof_reader *r, struct error *err)
{
	const Pprof__Extension *in = r->extension;
	struct profile *profile = r->profile;

	profile->has_timeline = false;
	if (!in || !in->has_timeline || in->time_unit <= 0 || in->time_unit > 1000000000)
		return true;
	if (in->n_event_time_delta != in->n_event_sample || profile->sample_count != r->sections[PPROF_SAMPLE].count)
		return error_set(err, ERROR_FORMAT, "the timeline's columns do not agree");
	profile->events = calloc(in->n_event_sample + 1, sizeof(*profile->events));
	if (!profile->events)
		return error_set_memory(err);
	for (size_t run = 0; run < in->n_run_events; run++)
		if (!read_run_events(r, run, in->run_events[run], err))
			return false;
	profile->has_timeline = true;
	return check_event_counts(profile, err);
}

static void read_quality(struct pprof_reader *r)
{
	const Pprof__Quality *in = r->extension ? r->extension->quality : NULL;
	struct profile_quality *out = &r->profile->quality;

	if (!in) {
		for (size_t i = 0; i < r->profile->sample_count; i++)
			out->samples += (uint64_t)r->profile->values[i * r->profile->value_type_count];
		return;
	}
	out->samples = in->samples;
	out->lost = in->lost;
	out->throttled = in->throttled;
	out->lost_sideband = in->lost_sideband;
	for (size_t i = 0; i < in->n_stops && i < PROFILE_STOP_COUNT; i++)
		out->stops[i] = in->stops[i];
	out->frame_pointer_frames = in->frame_pointer_frames;
	out->frames = in->frames;
}

static bool read_facts(struct pprof_reader *r, struct error *err)
{
	const Pprof__Facts *in = r->extension ? r->extension->facts : NULL;
	struct profile_facts *out = &r->profile->facts;

	if (!in)
		return true;
	out->cpu_count = in->cpu_count;
	out->frequency_hz = in->frequency_hz;
	out->user_only = in->user_only;
	return pprof_string_id(r, in->tool, &out->tool, "the tool", err) &&
	       pprof_string_id(r, in->command, &out->command, "the command", err) &&
	       pprof_string_id(r, in->event, &out->event, "the event", err) &&
	       pprof_string_id(r, in->cpu_model, &out->cpu_model, "the CPU model", err) &&
	       pprof_string_id(r, in->kernel, &out->kernel, "the kernel", err) &&
	       pprof_string_id(r, in->governor, &out->governor, "the governor", err) &&
	       pprof_string_id(r, in->call_graph, &out->call_graph, "the call graph", err);
}

bool pprof_read_samples(struct pprof_reader *r, struct error *err)
{
	struct byte_reader walk = pprof_walk(r, PPROF_SAMPLE), message;

	if (!read_runs(r, err) || !read_threads(r, err))
		return false;
	for (size_t i = 0; pprof_next_entry(&walk, PPROF_SAMPLE, &message); i++)
		if (!read_sample(r, message, i, err))
			return false;
	if (!read_timeline(r, err) || !read_facts(r, err))
		return false;
	read_quality(r);
	return true;
}
