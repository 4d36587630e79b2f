/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes the extension field of pprof, which only Kelvin reads. */
#include "profile/pprof_writer.h"

static void write_mapping_columns(struct pprof_writer *w)
{
	const struct profile *profile = w->profile;

	for (size_t i = w->from->mappings; w->ok && i < profile->mapping_count; i++) {
		const struct profile_mapping *mapping = &profile->mappings[pprof_mapping_at(w, i)];

		pprof_append(w, PPROF_COLUMN(mapping_kind), mapping->kind);
		pprof_append(w, PPROF_COLUMN(mapping_deleted), mapping->deleted);
	}
}

static void write_counts_of(struct pprof_writer *w)
{
	/* PROFILE_NONE is written as 0, and each number as one more. */
	for (uint32_t i = 0; pprof_is_first(w) && i < w->profile->value_type_count; i++)
		pprof_append(w, PPROF_COLUMN(counts_of), w->profile->counts_of[i] + 1);
}

static void write_function_columns(struct pprof_writer *w)
{
	for (size_t i = w->from->functions; i < w->profile->function_count; i++) {
		const struct profile_function *function = &w->profile->functions[i];

		pprof_append(w, PPROF_COLUMN(function_origin), function->origin);
		pprof_append(w, PPROF_COLUMN(function_origin_rule), function->origin_rule);
		pprof_append(w, PPROF_COLUMN(function_name_source), function->name_source);
		buffer_append(&w->columns[PPROF_COLUMN(function_fingerprint)], &function->fingerprint,
			sizeof(function->fingerprint));
		pprof_append(w, PPROF_COLUMN(function_module), function->module);
	}
}

static void pprof_write_extension_write_runs(struct pprof_writer *w, Pprof__Extension *out)
{
	const struct profile *profile = w->profile;

	/* A recording that goes on has a single run; pprof's own fields hold its time and duration. */
	if (w->recording)
		return;
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
		out->run[i]->name = run->name;
		out->run[i]->instance = run->instance;
		out->run[i]->cpu_model = run->cpu_model;
		out->run[i]->layout = run->layout;
		out->run[i]->rounds = run->measured.rounds;
		out->run[i]->iterations = run->measured.iterations;
		out->run[i]->quartile_ns = run->measured.quartile_ns;
		out->run[i]->median_ns = run->measured.median_ns;
		out->run[i]->mean_ns = run->measured.mean_ns;
		out->run[i]->stdev_ns = run->measured.stdev_ns;
		out->run[i]->error_ns = run->measured.error_ns;
	}
}

static void write_threads(struct pprof_writer *w, Pprof__Extension *out)
{
	const struct profile *profile = w->profile;
	size_t from = w->from->threads;

	out->n_thread = profile->thread_count - from;
	out->thread = (Pprof__Thread **)pprof_take_messages(w, out->n_thread, sizeof(Pprof__Thread));
	for (size_t i = 0; w->ok && i < out->n_thread; i++) {
		const struct profile_thread *thread = &profile->threads[from + i];

		pprof__thread__init(out->thread[i]);
		out->thread[i]->run = thread->run;
		out->thread[i]->pid = thread->pid;
		out->thread[i]->tid = thread->tid;
		out->thread[i]->process_name = thread->process_name;
		out->thread[i]->name = thread->name;
		out->thread[i]->labels = thread->labels;
	}
	for (size_t i = w->from->samples; w->ok && i < profile->sample_count; i++)
		pprof_append(w, PPROF_COLUMN(sample_thread), profile->samples[pprof_sample_at(w, i)].thread);
}

/*
 * Writes the new stacks of an increment, and the stack of each new sample. Many samples may share a stack, which is
 * written once.
 */
static void write_stacks(struct pprof_writer *w)
{
	const struct profile *profile = w->profile;

	if (!w->recording)
		return;
	/* Every profile has the empty stack. */
	for (size_t i = w->from->stacks ? w->from->stacks : 1; i < profile->stack_count; i++) {
		pprof_append(w, PPROF_COLUMN(stack_parent), profile->stacks[i].parent);
		pprof_append(w, PPROF_COLUMN(stack_location), profile->stacks[i].location);
	}
	for (size_t i = w->from->samples; i < profile->sample_count; i++)
		pprof_append(w, PPROF_COLUMN(sample_stack), profile->samples[i].stack);
}

/*
 * The timeline of an increment goes on where the one before it ended. It belongs to one run, so events are not counted
 * by run.
 */
static void write_timeline(struct pprof_writer *w, Pprof__Extension *out)
{
	const struct profile *profile = w->profile;
	size_t from = w->from->events;
	uint32_t run = w->recording ? 0 : PROFILE_NONE;
	int64_t before = from > 0 ? profile->events[from - 1].time_ns / PPROF_TIME_UNIT_NS : 0;

	out->time_unit = PPROF_TIME_UNIT_NS;
	out->has_timeline = profile->has_timeline;
	if (!profile->has_timeline)
		return;
	out->n_run_events = w->recording ? 0 : profile->run_count;
	out->run_events = pprof_take(w, profile->run_count, sizeof(uint32_t));
	for (size_t i = from; w->ok && i < profile->event_count; i++) {
		const struct profile_event *event = &profile->events[i];
		uint32_t event_run = profile->threads[profile->samples[event->sample].thread].run;
		int64_t time = event->time_ns / PPROF_TIME_UNIT_NS;

		if (event_run != run)
			before = 0;
		run = event_run;
		out->run_events[run]++;
		pprof_append_zigzag(w, PPROF_COLUMN(event_time_delta), time - before);
		pprof_append(w, PPROF_COLUMN(event_sample),
			w->sample_positions ? w->sample_positions[event->sample] : event->sample);
		before = time;
	}
}

static void write_event_weights(struct pprof_writer *w)
{
	const struct profile *profile = w->profile;
	size_t end = w->from->weighted;

	for (size_t i = end; profile->has_timeline && i < profile->weighted_count; i++) {
		if (profile->event_weights[i] == 0)
			continue;
		pprof_append(w, PPROF_COLUMN(weighted_event), i - end);
		pprof_append(w, PPROF_COLUMN(event_weight), (uint64_t)profile->event_weights[i]);
		end = i + 1;
	}
}

/*
 * Writes the new sums of those samples of earlier increments that had an event since. New samples bring their own
 * values.
 */
static void write_sums(struct pprof_writer *w)
{
	const struct profile *profile = w->profile;
	uint32_t number = (uint32_t)w->from->messages + 1;

	for (size_t i = w->from->events; w->recording && i < profile->event_count; i++) {
		uint32_t sample = profile->events[i].sample;

		if (sample >= w->from->samples || w->from->met[sample] == number)
			continue;
		w->from->met[sample] = number;
		pprof_append(w, PPROF_COLUMN(sum_sample), sample);
		for (uint32_t v = 0; v < profile->value_type_count; v++)
			pprof_append(w, PPROF_COLUMN(sum_value),
				(uint64_t)profile->values[sample * profile->value_type_count + v]);
	}
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

static void pprof_write_extension_write_facts(struct pprof_writer *w)
{
	size_t count;
	const struct profile_fact *facts = profile_facts(&count);

	for (size_t i = 0; i < count; i++) {
		uint32_t value = profile_fact_get(&w->profile->facts, &facts[i]);

		if (value == 0)
			continue;
		/* The tag of a varint field, then its value. */
		pprof_append(w, PPROF_COLUMN(facts), (uint64_t)facts[i].field << 3);
		pprof_append(w, PPROF_COLUMN(facts), value);
	}
}

static void pprof_write_extension_write_labels(struct pprof_writer *w)
{
	for (size_t i = 0; i < w->profile->label_count; i++) {
		pprof_append(w, PPROF_COLUMN(labels), w->profile->labels[i].key);
		pprof_append(w, PPROF_COLUMN(labels), w->profile->labels[i].value);
	}
}

static void write_verification(struct pprof_writer *w, Pprof__Extension *out)
{
	const struct profile_verification *verification = &w->profile->verification;

	if (!verification->is_there)
		return;
	out->verification = pprof_take(w, 1, sizeof(*out->verification));
	if (!w->ok)
		return;
	pprof__verification__init(out->verification);
	out->verification->n_stacks = PROFILE_COMPARISON_COUNT;
	out->verification->stacks = (uint64_t *)verification->stacks;
	out->verification->names_equal = verification->names_equal;
	out->verification->names_other = verification->names_other;
	out->verification->n_difference = verification->difference_count;
	out->verification->difference = (uint32_t *)verification->differences;
}

/* The message borrows the bytes of its columns. */
static void add_columns(struct pprof_writer *w, Pprof__Extension *out)
{
	const ProtobufCMessageDescriptor *message = &pprof__extension__descriptor;
	struct error ignored;

	for (unsigned i = 0; i < message->n_fields; i++) {
		struct buffer *column = &w->columns[message->fields[i].offset / sizeof(size_t)];
		ProtobufCBinaryData *member = (void *)((char *)out + message->fields[i].offset);

		if (message->fields[i].type != PROTOBUF_C_TYPE_BYTES)
			continue;
		w->ok = w->ok && buffer_ok(column, &ignored);
		*member = (ProtobufCBinaryData){ column->size, (uint8_t *)column->data };
	}
}

void pprof_write_extension(struct pprof_writer *w)
{
	Pprof__Extension *out = pprof_take(w, 1, sizeof(*out));

	if (!w->ok)
		return;
	pprof__extension__init(out);
	out->version = PPROF_EXTENSION_VERSION;
	out->default_value_type = w->profile->default_value_type;
	out->kernel_text = w->recording ? w->recording->kernel_text : 0;
	write_counts_of(w);
	write_mapping_columns(w);
	write_function_columns(w);
	pprof_write_extension_write_runs(w, out);
	write_threads(w, out);
	write_stacks(w);
	write_timeline(w, out);
	write_event_weights(w);
	write_sums(w);
	write_quality(w, out);
	pprof_write_extension_write_facts(w);
	pprof_write_extension_write_labels(w);
	write_verification(w, out);
	pprof_write_waits(w);
	pprof_write_requests(w, out);
	pprof_write_sources(w);
	pprof_write_code(w);
	add_columns(w, out);
	w->message.kelvin = out;
}
