/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/profile.h"

#include "profile/gzip.h"
#include "profile/pprof_format.h"

#include "pprof.pb-c.h"

#include <stdlib.h>
#include <string.h>

/* Everything the message points to lies in one arena, freed when the bytes are made. `ok` is sticky. */
struct writer {
	const struct profile *profile;
	struct arena arena;
	Pprof__Profile message;
	uint32_t *mapping_order;       /* [written position] mapping id */
	uint32_t *mapping_positions;   /* [mapping id] written position */
	Pprof__Label ***thread_labels; /* [thread id] */
	bool ok;
};

enum { LABELS_PER_SAMPLE = 4 };

static void *take(struct writer *w, size_t count, size_t size)
{
	void *memory = arena_alloc_array(&w->arena, count ? count : 1, size, 16);

	if (!memory)
		w->ok = false;
	return memory;
}

/* Pointers to `count` messages of `size` bytes each; the caller runs their init. */
static void **take_messages(struct writer *w, size_t count, size_t size)
{
	void **pointers = take(w, count, sizeof(*pointers));
	char *messages = take(w, count, size);

	for (size_t i = 0; w->ok && i < count; i++)
		pointers[i] = messages + i * size;
	return pointers;
}

static void write_strings(struct writer *w)
{
	const struct string_table *strings = w->profile->strings;
	uint32_t count = string_table_count(strings);
	ProtobufCBinaryData *out = take(w, count, sizeof(*out));

	for (uint32_t i = 0; w->ok && i < count; i++)
		out[i] = (ProtobufCBinaryData){ string_table_size(strings, i), (uint8_t *)string_table_get(strings, i) };
	w->message.n_string_table = count;
	w->message.string_table = out;
}

static Pprof__ValueType *write_value_type(struct writer *w, struct profile_value_type type)
{
	Pprof__ValueType *out = take(w, 1, sizeof(*out));

	if (!w->ok)
		return NULL;
	pprof__value_type__init(out);
	out->type = type.type;
	out->unit = type.unit;
	return out;
}

static void write_value_types(struct writer *w)
{
	const struct profile *profile = w->profile;

	w->message.n_sample_type = profile->value_type_count;
	w->message.sample_type = take(w, profile->value_type_count, sizeof(*w->message.sample_type));
	for (uint32_t i = 0; w->ok && i < profile->value_type_count; i++)
		w->message.sample_type[i] = write_value_type(w, profile->value_types[i]);
	w->message.default_sample_type = profile->value_types[profile->default_value_type].type;
	w->message.period_type = write_value_type(w, profile->period_type);
	w->message.period = profile->period;
}

/* pprof takes mapping 0 for the main binary, so a file comes before the kernel. */
static void order_mappings(struct writer *w)
{
	const struct profile *profile = w->profile;
	uint32_t main_mapping = 0, position = 0;

	w->mapping_order = take(w, profile->mapping_count, sizeof(uint32_t));
	w->mapping_positions = take(w, profile->mapping_count, sizeof(uint32_t));
	if (!w->ok || profile->mapping_count == 0)
		return;
	while (main_mapping < profile->mapping_count && profile->mappings[main_mapping].kind != PROFILE_MAPPING_FILE)
		main_mapping++;
	if (main_mapping == profile->mapping_count)
		main_mapping = 0;
	w->mapping_order[position++] = main_mapping;
	for (uint32_t i = 0; i < profile->mapping_count; i++)
		if (i != main_mapping)
			w->mapping_order[position++] = i;
	for (uint32_t i = 0; i < position; i++)
		w->mapping_positions[w->mapping_order[i]] = i;
}

static void write_mappings(struct writer *w)
{
	const struct profile *profile = w->profile;

	order_mappings(w);
	w->message.n_mapping = profile->mapping_count;
	w->message.mapping = (Pprof__Mapping **)take_messages(w, profile->mapping_count, sizeof(Pprof__Mapping));
	for (uint32_t i = 0; w->ok && i < profile->mapping_count; i++) {
		const struct profile_mapping *mapping = &profile->mappings[w->mapping_order[i]];
		Pprof__Mapping *out = w->message.mapping[i];

		pprof__mapping__init(out);
		out->id = i + 1;
		out->memory_start = mapping->start;
		out->memory_limit = mapping->end;
		out->file_offset = mapping->file_offset;
		out->filename = mapping->path;
		out->build_id = mapping->build_id;
		/* Names are complete already: pprof need not look for the binary. */
		out->has_functions = out->has_filenames = out->has_line_numbers = out->has_inline_frames = true;
	}
}

static void write_functions(struct writer *w)
{
	const struct profile *profile = w->profile;

	w->message.n_function = profile->function_count;
	w->message.function = (Pprof__Function **)take_messages(w, profile->function_count, sizeof(Pprof__Function));
	for (size_t i = 0; w->ok && i < profile->function_count; i++) {
		const struct profile_function *function = &profile->functions[i];
		Pprof__Function *out = w->message.function[i];

		pprof__function__init(out);
		out->id = i + 1;
		out->name = function->name;
		out->system_name = function->linkage_name ? function->linkage_name : function->name;
		out->filename = function->file;
		out->start_line = function->start_line;
	}
}

static void write_locations(struct writer *w)
{
	const struct profile *profile = w->profile;
	Pprof__Line **lines = (Pprof__Line **)take_messages(w, profile->line_count, sizeof(Pprof__Line));

	for (size_t i = 0; w->ok && i < profile->line_count; i++) {
		pprof__line__init(lines[i]);
		lines[i]->function_id = (uint64_t)profile->lines[i].function + 1;
		lines[i]->line = profile->lines[i].line;
	}
	w->message.n_location = profile->location_count;
	w->message.location = (Pprof__Location **)take_messages(w, profile->location_count, sizeof(Pprof__Location));
	for (size_t i = 0; w->ok && i < profile->location_count; i++) {
		const struct profile_location *location = &profile->locations[i];
		Pprof__Location *out = w->message.location[i];

		pprof__location__init(out);
		out->id = i + 1;
		out->mapping_id = location->mapping == PROFILE_NONE ? 0 : (uint64_t)w->mapping_positions[location->mapping] + 1;
		out->address = location->address;
		out->n_line = location->line_count;
		out->line = lines + location->first_line;
	}
}

static void set_label(Pprof__Label *label, uint32_t key, int64_t number, uint32_t string)
{
	pprof__label__init(label);
	label->key = key;
	label->num = number;
	label->str = string;
}

/* Labels are those of the thread: made once, shared by its samples. */
static void write_thread_labels(struct writer *w, const struct pprof_label_keys *keys)
{
	const struct profile *profile = w->profile;

	w->thread_labels = take(w, profile->thread_count, sizeof(*w->thread_labels));
	for (size_t i = 0; w->ok && i < profile->thread_count; i++) {
		const struct profile_thread *thread = &profile->threads[i];
		Pprof__Label **labels = (Pprof__Label **)take_messages(w, LABELS_PER_SAMPLE, sizeof(Pprof__Label));

		if (!w->ok)
			return;
		set_label(labels[0], keys->comm, 0, thread->process_name);
		set_label(labels[1], keys->thread_comm, 0, thread->name);
		set_label(labels[2], keys->pid, thread->pid, 0);
		set_label(labels[3], keys->tid, thread->tid, 0);
		w->thread_labels[i] = labels;
	}
}

static size_t stack_depth(const struct profile *profile, uint32_t stack)
{
	size_t depth = 0;

	for (; stack; stack = profile->stacks[stack].parent)
		depth++;
	return depth;
}

static void write_samples(struct writer *w, const struct pprof_label_keys *keys)
{
	const struct profile *profile = w->profile;

	write_thread_labels(w, keys);
	w->message.n_sample = profile->sample_count;
	w->message.sample = (Pprof__Sample **)take_messages(w, profile->sample_count, sizeof(Pprof__Sample));
	for (size_t i = 0; w->ok && i < profile->sample_count; i++) {
		Pprof__Sample *out = w->message.sample[i];
		uint32_t stack = profile->samples[i].stack;

		pprof__sample__init(out);
		out->n_value = profile->value_type_count;
		out->value = &profile->values[i * profile->value_type_count];
		out->n_label = LABELS_PER_SAMPLE;
		out->label = w->thread_labels[profile->samples[i].thread];
		out->n_location_id = stack_depth(profile, stack);
		out->location_id = take(w, out->n_location_id, sizeof(uint64_t));
		for (size_t k = 0; w->ok && stack; stack = profile->stacks[stack].parent)
			out->location_id[k++] = (uint64_t)profile->stacks[stack].location + 1;
	}
}

static void write_mapping_columns(struct writer *w, Pprof__Extension *out)
{
	const struct profile *profile = w->profile;
	size_t count = profile->mapping_count;

	out->n_mapping_kind = out->n_mapping_deleted = count;
	out->mapping_kind = take(w, count, sizeof(*out->mapping_kind));
	out->mapping_deleted = take(w, count, sizeof(*out->mapping_deleted));
	for (size_t i = 0; w->ok && i < count; i++) {
		out->mapping_kind[i] = profile->mappings[w->mapping_order[i]].kind;
		out->mapping_deleted[i] = profile->mappings[w->mapping_order[i]].deleted;
	}
}

static void write_function_columns(struct writer *w, Pprof__Extension *out)
{
	const struct profile *profile = w->profile;
	size_t count = profile->function_count;

	out->n_function_origin = out->n_function_origin_rule = out->n_function_name_source = out->n_function_fingerprint =
		out->n_function_module = count;
	out->function_origin = take(w, count, sizeof(uint32_t));
	out->function_origin_rule = take(w, count, sizeof(uint32_t));
	out->function_name_source = take(w, count, sizeof(uint32_t));
	out->function_fingerprint = take(w, count, sizeof(uint64_t));
	out->function_module = take(w, count, sizeof(uint32_t));
	for (size_t i = 0; w->ok && i < count; i++) {
		const struct profile_function *function = &profile->functions[i];

		out->function_origin[i] = function->origin;
		out->function_origin_rule[i] = function->origin_rule;
		out->function_name_source[i] = function->name_source;
		out->function_fingerprint[i] = function->fingerprint;
		out->function_module[i] = function->module;
	}
}

static void write_runs(struct writer *w, Pprof__Extension *out)
{
	const struct profile *profile = w->profile;

	out->n_run = profile->run_count;
	out->run = (Pprof__Run **)take_messages(w, out->n_run, sizeof(Pprof__Run));
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

static void write_threads(struct writer *w, Pprof__Extension *out)
{
	const struct profile *profile = w->profile;

	out->n_thread = profile->thread_count;
	out->thread = (Pprof__Thread **)take_messages(w, out->n_thread, sizeof(Pprof__Thread));
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
	out->sample_thread = take(w, profile->sample_count, sizeof(uint32_t));
	for (size_t i = 0; w->ok && i < profile->sample_count; i++)
		out->sample_thread[i] = profile->samples[i].thread;
}

static void write_timeline(struct writer *w, Pprof__Extension *out)
{
	const struct profile *profile = w->profile;
	uint32_t run = PROFILE_NONE;
	int64_t before = 0;

	out->time_unit = PPROF_TIME_UNIT_NS;
	out->has_timeline = profile->has_timeline;
	if (!profile->has_timeline)
		return;
	out->n_run_events = profile->run_count;
	out->run_events = take(w, profile->run_count, sizeof(uint32_t));
	out->n_event_time_delta = out->n_event_sample = profile->event_count;
	out->event_time_delta = take(w, profile->event_count, sizeof(int64_t));
	out->event_sample = take(w, profile->event_count, sizeof(uint32_t));
	for (size_t i = 0; w->ok && i < profile->event_count; i++) {
		const struct profile_event *event = &profile->events[i];
		uint32_t event_run = profile->threads[profile->samples[event->sample].thread].run;
		int64_t time = event->time_ns / PPROF_TIME_UNIT_NS;

		if (event_run != run)
			before = 0;
		run = event_run;
		out->run_events[run]++;
		out->event_time_delta[i] = time - before;
		out->event_sample[i] = event->sample;
		before = time;
	}
}

static void write_quality(struct writer *w, Pprof__Extension *out)
{
	const struct profile_quality *quality = &w->profile->quality;

	out->quality = take(w, 1, sizeof(*out->quality));
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

static void write_facts(struct writer *w, Pprof__Extension *out)
{
	const struct profile_facts *facts = &w->profile->facts;

	out->facts = take(w, 1, sizeof(*out->facts));
	if (!w->ok)
		return;
	pprof__facts__init(out->facts);
	out->facts->tool = facts->tool;
	out->facts->command = facts->command;
	out->facts->event = facts->event;
	out->facts->cpu_model = facts->cpu_model;
	out->facts->kernel = facts->kernel;
	out->facts->governor = facts->governor;
	out->facts->call_graph = facts->call_graph;
	out->facts->cpu_count = facts->cpu_count;
	out->facts->frequency_hz = facts->frequency_hz;
	out->facts->user_only = facts->user_only;
}

static void write_extension(struct writer *w)
{
	Pprof__Extension *out = take(w, 1, sizeof(*out));

	if (!w->ok)
		return;
	pprof__extension__init(out);
	out->version = PPROF_EXTENSION_VERSION;
	out->default_value_type = w->profile->default_value_type;
	write_mapping_columns(w, out);
	write_function_columns(w, out);
	write_runs(w, out);
	write_threads(w, out);
	write_timeline(w, out);
	write_quality(w, out);
	write_facts(w, out);
	w->message.kelvin = out;
}

static void write_times(struct writer *w)
{
	const struct profile *profile = w->profile;

	if (profile->run_count > 0)
		w->message.time_nanos = profile->runs[0].start_unix_ns;
	for (size_t i = 0; i < profile->run_count; i++)
		w->message.duration_nanos = saturating_add(w->message.duration_nanos, profile->runs[i].duration_ns);
}

static bool pack(const Pprof__Profile *message, struct buffer *out, struct error *err)
{
	size_t size = pprof__profile__get_packed_size(message);
	CLEANUP(cleanup_free) uint8_t *bytes = malloc(size ? size : 1);

	if (!bytes)
		return error_set_memory(err);
	pprof__profile__pack(message, bytes);
	return gzip_compress(bytes, size, out, err);
}

bool profile_write_pprof(const struct profile *profile, struct buffer *out, struct error *err)
{
	struct writer w = { .profile = profile, .ok = true };
	struct pprof_label_keys keys;
	bool written;

	for (size_t i = 0; i < profile->location_count; i++)
		if (profile->locations[i].line_count == 0)
			return error_set(err, ERROR_USAGE, "location %zu has no name: symbolize before writing", i);
	/* The label keys are strings of the table; adding them changes no id. */
	if (!pprof_label_keys_init(profile->strings, &keys, err))
		return false;
	arena_init(&w.arena, 0);
	pprof__profile__init(&w.message);
	write_strings(&w);
	write_value_types(&w);
	write_mappings(&w);
	write_functions(&w);
	write_locations(&w);
	write_samples(&w, &keys);
	write_extension(&w);
	write_times(&w);
	written = w.ok ? pack(&w.message, out, err) : error_set_memory(err);
	arena_deinit(&w.arena);
	return written;
}
