/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/pprof_format.h"

#include "pprof.pb-c.h"

#include <stdlib.h>
#include <string.h>

/* The unpacked message may be this much larger than its bytes before it is taken for an attack. */
enum { MAX_UNPACKED_RATIO = 64 };
static const size_t least_unpacked_bytes = (size_t)64 << 20;

/* What is being read, with the tables that lead from the file's ids to ours. */
struct reader {
	const Pprof__Profile *message;
	const Pprof__Extension *extension; /* NULL in other tools' files */
	struct profile *profile;
	uint32_t *strings;                                       /* [index in the file] our id */
	uint32_t *mappings;                                      /* [position in the file] our id */
	uint32_t *locations;                                     /* [position] our id */
	uint32_t *threads;                                       /* [position] our id */
	struct hash_map mapping_ids, function_ids, location_ids; /* file id -> position */
	bool has_count;                                          /* value 0 is samples/count in the file */
	int64_t period;
};

bool pprof_label_keys_init(struct string_table *strings, struct pprof_label_keys *keys, struct error *err)
{
	return string_table_add(strings, "comm", 4, &keys->comm, err) &&
	       string_table_add(strings, "thread_comm", 11, &keys->thread_comm, err) &&
	       string_table_add(strings, "pid", 3, &keys->pid, err) && string_table_add(strings, "tid", 3, &keys->tid, err);
}

/* Memory for the unpacked message; protobuf-c only tells that unpacking failed, so we keep why. */
struct unpacker {
	struct arena arena;
	bool no_memory, over_limit;
};

static void *unpack_alloc(void *data, size_t size)
{
	struct unpacker *unpacker = data;
	void *memory = arena_alloc(&unpacker->arena, size, 16);

	if (!memory && size > unpacker->arena.max_bytes - unpacker->arena.total_bytes)
		unpacker->over_limit = true;
	else if (!memory)
		unpacker->no_memory = true;
	return memory;
}

static void unpack_free(void *data, void *pointer)
{
	(void)data;
	(void)pointer;
}

static bool read_strings(struct reader *r, struct error *err)
{
	const Pprof__Profile *message = r->message;

	if (message->n_string_table == 0 || message->string_table[0].len != 0)
		return error_set(err, ERROR_FORMAT, "not a pprof profile: its string table does not start with an empty string");
	r->strings = calloc(message->n_string_table, sizeof(*r->strings));
	if (!r->strings)
		return error_set_memory(err);
	for (size_t i = 0; i < message->n_string_table; i++) {
		const ProtobufCBinaryData *string = &message->string_table[i];

		if (!string_table_add(r->profile->strings, (const char *)string->data, string->len, &r->strings[i], err))
			return false;
	}
	return true;
}

static bool string_of(const struct reader *r, int64_t index, uint32_t *id, const char *what, struct error *err)
{
	if (index < 0 || (uint64_t)index >= r->message->n_string_table)
		return error_set(err, ERROR_FORMAT, "%s is string %lld, which is not there", what, (long long)index);
	*id = r->strings[index];
	return true;
}

static const char *text_of(const struct reader *r, int64_t index)
{
	uint32_t id = 0;
	struct error ignored;

	return string_of(r, index, &id, "", &ignored) ? profile_string(r->profile, id) : "";
}

static bool is_count(const struct reader *r, const Pprof__ValueType *type)
{
	return strcmp(text_of(r, type->type), "samples") == 0 && strcmp(text_of(r, type->unit), "count") == 0;
}

static bool read_value_types(struct reader *r, struct error *err)
{
	const Pprof__Profile *message = r->message;

	if (message->n_sample_type == 0)
		return error_set(err, ERROR_FORMAT, "not a pprof profile: it names no sample type");
	r->has_count = is_count(r, message->sample_type[0]);
	for (size_t i = r->has_count; i < message->n_sample_type; i++) {
		const Pprof__ValueType *type = message->sample_type[i];
		uint32_t ignored;

		if (!string_of(r, type->type, &ignored, "a sample type", err) ||
			!string_of(r, type->unit, &ignored, "a sample unit", err) ||
			!profile_add_value_type(r->profile, text_of(r, type->type), text_of(r, type->unit), err))
			return false;
	}
	/* Without a time the last value stands for all, unless the file says which. */
	if (r->profile->default_value_type == 0)
		r->profile->default_value_type = r->profile->value_type_count - 1;
	for (uint32_t i = 0; message->default_sample_type > 0 && i < r->profile->value_type_count; i++)
		if (strcmp(profile_string(r->profile, r->profile->value_types[i].type), text_of(r, message->default_sample_type)) ==
			0)
			r->profile->default_value_type = i;
	if (message->period_type) {
		if (!string_of(r, message->period_type->type, &r->profile->period_type.type, "the period type", err) ||
			!string_of(r, message->period_type->unit, &r->profile->period_type.unit, "the period unit", err))
			return false;
	}
	r->profile->period = message->period > 0 ? message->period : 0;
	return true;
}

/* Ids of the file may be any numbers but 0; each may stand once. */
static bool add_id(struct hash_map *ids, uint64_t id, size_t position, const char *what, struct error *err)
{
	uint32_t *value;
	bool added;

	if (id == 0)
		return error_set(err, ERROR_FORMAT, "%s %zu has the id 0", what, position);
	if (!hash_map_add(ids, &id, (uint32_t)position, &value, &added, err))
		return false;
	if (!added)
		return error_set(err, ERROR_FORMAT, "%s id %llu is there twice", what, (unsigned long long)id);
	return true;
}

static enum profile_mapping_kind kind_of(const struct reader *r, size_t position, const char *path)
{
	if (r->extension && position < r->extension->n_mapping_kind && r->extension->mapping_kind[position] <= PROFILE_MAPPING_ANON)
		return (enum profile_mapping_kind)r->extension->mapping_kind[position];
	if (strstr(path, "[kernel") || strcmp(path, "[guest.kernel.kallsyms]") == 0 || strstr(path, ".ko"))
		return PROFILE_MAPPING_KERNEL;
	if (strcmp(path, "[vdso]") == 0 || strcmp(path, "[vsyscall]") == 0)
		return PROFILE_MAPPING_VDSO;
	return path[0] == '\0' || strncmp(path, "//", 2) == 0 || path[0] == '[' ? PROFILE_MAPPING_ANON : PROFILE_MAPPING_FILE;
}

static bool read_mappings(struct reader *r, struct error *err)
{
	const Pprof__Profile *message = r->message;

	r->mappings = calloc(message->n_mapping + 1, sizeof(*r->mappings));
	if (!r->mappings)
		return error_set_memory(err);
	for (size_t i = 0; i < message->n_mapping; i++) {
		const Pprof__Mapping *in = message->mapping[i];
		struct profile_mapping mapping = {
			.start = in->memory_start, .end = in->memory_limit, .file_offset = in->file_offset
		};

		if (!add_id(&r->mapping_ids, in->id, i, "mapping", err) ||
			!string_of(r, in->filename, &mapping.path, "a mapping's file", err) ||
			!string_of(r, in->build_id, &mapping.build_id, "a mapping's build id", err))
			return false;
		mapping.kind = kind_of(r, i, profile_string(r->profile, mapping.path));
		mapping.deleted = r->extension && i < r->extension->n_mapping_deleted && r->extension->mapping_deleted[i];
		if (!profile_add_mapping(r->profile, &mapping, &r->mappings[i], err))
			return false;
	}
	return true;
}

static bool index_functions(struct reader *r, struct error *err)
{
	for (size_t i = 0; i < r->message->n_function; i++)
		if (!add_id(&r->function_ids, r->message->function[i]->id, i, "function", err))
			return false;
	return true;
}

static void take_columns(const struct reader *r, size_t position, struct profile_function *function)
{
	const Pprof__Extension *extension = r->extension;

	function->name_source = PROFILE_NAME_IMPORTED;
	if (!extension)
		return;
	if (position < extension->n_function_origin && extension->function_origin[position] < PROFILE_ORIGIN_COUNT)
		function->origin = (enum profile_origin)extension->function_origin[position];
	if (position < extension->n_function_origin_rule && extension->function_origin_rule[position] <= UINT16_MAX)
		function->origin_rule = (uint16_t)extension->function_origin_rule[position];
	if (position < extension->n_function_name_source && extension->function_name_source[position] < PROFILE_NAME_SOURCE_COUNT)
		function->name_source = (enum profile_name_source)extension->function_name_source[position];
	if (position < extension->n_function_fingerprint)
		function->fingerprint = extension->function_fingerprint[position];
}

/* The module is that of the mapping that the function was seen in: other tools' functions do not say. */
static bool read_function(struct reader *r, size_t position, uint32_t module, uint32_t *id, struct error *err)
{
	const Pprof__Function *in = r->message->function[position];
	struct profile_function function = { .module = module };

	if (!string_of(r, in->name, &function.name, "a function's name", err) ||
		!string_of(r, in->system_name, &function.linkage_name, "a function's linkage name", err) ||
		!string_of(r, in->filename, &function.file, "a function's file", err))
		return false;
	if (function.name == 0)
		function.name = function.linkage_name;
	if (function.name == 0 && !profile_intern(r->profile, "[unnamed]", &function.name, err))
		return false;
	if (function.linkage_name == function.name)
		function.linkage_name = 0;
	function.start_line = in->start_line > 0 && in->start_line <= UINT32_MAX ? (uint32_t)in->start_line : 0;
	if (r->extension && position < r->extension->n_function_module &&
		!string_of(r, r->extension->function_module[position], &function.module, "a function's module", err))
		return false;
	take_columns(r, position, &function);
	return profile_add_function(r->profile, &function, id, err);
}

/* A location that nothing named: `libfoo.so+0x1234`. */
static bool name_by_address(struct reader *r, uint32_t mapping, uint64_t address, struct profile_line *line, struct error *err)
{
	uint32_t module = mapping == PROFILE_NONE ? 0 : r->profile->mappings[mapping].module;
	struct profile_function function = { .module = module };
	char name[512];

	snprintf(name, sizeof(name), "%.480s+0x%llx", profile_string(r->profile, module), (unsigned long long)address);
	*line = (struct profile_line){ 0 };
	return profile_intern(r->profile, name, &function.name, err) &&
	       profile_add_function(r->profile, &function, &line->function, err);
}

static bool read_lines(
	struct reader *r, const Pprof__Location *in, uint32_t mapping, struct profile_line *lines, size_t *count, struct error *err)
{
	uint32_t module = mapping == PROFILE_NONE ? 0 : r->profile->mappings[mapping].module;

	*count = in->n_line;
	for (size_t i = 0; i < in->n_line; i++) {
		uint64_t function_id = in->line[i]->function_id;
		uint32_t position = hash_map_get(&r->function_ids, &function_id);
		int64_t line = in->line[i]->line;

		if (position == HASH_MAP_NONE)
			return error_set(err, ERROR_FORMAT, "location %llu references function %llu, which is not there",
				(unsigned long long)in->id, (unsigned long long)function_id);
		if (!read_function(r, position, module, &lines[i].function, err))
			return false;
		lines[i].line = line > 0 && line <= UINT32_MAX ? (uint32_t)line : 0;
	}
	if (in->n_line > 0)
		return true;
	*count = 1;
	return name_by_address(r, mapping, in->address, &lines[0], err);
}

/* Locations with an address are told apart by it, others by their frames. */
static bool read_location(struct reader *r, size_t position, struct error *err)
{
	const Pprof__Location *in = r->message->location[position];
	CLEANUP(cleanup_free) struct profile_line *lines = calloc(in->n_line + 1, sizeof(*lines));
	uint32_t mapping = PROFILE_NONE, *id = &r->locations[position];
	size_t count;

	if (!lines)
		return error_set_memory(err);
	if (!add_id(&r->location_ids, in->id, position, "location", err))
		return false;
	if (in->mapping_id) {
		uint32_t found = hash_map_get(&r->mapping_ids, &in->mapping_id);

		if (found == HASH_MAP_NONE)
			return error_set(err, ERROR_FORMAT, "location %llu references mapping %llu, which is not there",
				(unsigned long long)in->id, (unsigned long long)in->mapping_id);
		mapping = r->mappings[found];
	}
	if (!read_lines(r, in, mapping, lines, &count, err))
		return false;
	if (in->address == 0)
		return profile_add_location_of_lines(r->profile, mapping, lines, count, id, err);
	if (!profile_add_location(r->profile, mapping, in->address, id, err))
		return false;
	return r->profile->locations[*id].line_count > 0 || profile_set_lines(r->profile, *id, lines, count, err);
}

static bool read_locations(struct reader *r, struct error *err)
{
	r->locations = calloc(r->message->n_location + 1, sizeof(*r->locations));
	if (!r->locations)
		return error_set_memory(err);
	for (size_t i = 0; i < r->message->n_location; i++)
		if (!read_location(r, i, err))
			return false;
	return true;
}

static bool read_runs(struct reader *r, struct error *err)
{
	struct profile_run run = {
		.exit_status = -1, .start_unix_ns = r->message->time_nanos, .duration_ns = r->message->duration_nanos
	};
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

static bool read_threads(struct reader *r, struct error *err)
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
		if (!string_of(r, in->process_name, &thread.process_name, "a process's name", err) ||
			!string_of(r, in->name, &thread.name, "a thread's name", err) ||
			!profile_add_thread(r->profile, &thread, &r->threads[i], err))
			return false;
	}
	return true;
}

/* Other tools tell the thread in labels, under names of their own. */
static bool thread_of_labels(struct reader *r, const Pprof__Sample *sample, uint32_t *id, struct error *err)
{
	struct profile_thread thread = { 0 };

	for (size_t i = 0; i < sample->n_label; i++) {
		const Pprof__Label *label = sample->label[i];
		const char *key = text_of(r, label->key);
		uint32_t string = 0;

		if (!string_of(r, label->str, &string, "a label", err))
			return false;
		if (strcmp(key, "pid") == 0 || strcmp(key, "process_id") == 0)
			thread.pid = (int32_t)label->num;
		else if (strcmp(key, "tid") == 0 || strcmp(key, "thread_id") == 0 || strcmp(key, "thread id") == 0)
			thread.tid = (int32_t)label->num;
		else if (strcmp(key, "comm") == 0 || strcmp(key, "process") == 0)
			thread.process_name = string;
		else if (strcmp(key, "thread_comm") == 0 || strcmp(key, "thread") == 0 || strcmp(key, "thread_name") == 0)
			thread.name = string;
	}
	return profile_add_thread(r->profile, &thread, id, err);
}

static bool thread_of_sample(struct reader *r, size_t position, uint32_t *thread, struct error *err)
{
	const Pprof__Extension *extension = r->extension;

	if (!extension || extension->n_sample_thread != r->message->n_sample)
		return thread_of_labels(r, r->message->sample[position], thread, err);
	if (extension->sample_thread[position] >= extension->n_thread)
		return error_set(err, ERROR_FORMAT, "sample %zu references thread %u, which is not there", position,
			extension->sample_thread[position]);
	*thread = r->threads[extension->sample_thread[position]];
	return true;
}

static bool stack_of_sample(struct reader *r, size_t position, uint32_t *stack, struct error *err)
{
	const Pprof__Sample *sample = r->message->sample[position];

	*stack = 0;
	for (size_t i = sample->n_location_id; i-- > 0;) {
		uint32_t location = hash_map_get(&r->location_ids, &sample->location_id[i]);

		if (location == HASH_MAP_NONE)
			return error_set(err, ERROR_FORMAT, "sample %zu references location %llu, which is not there", position,
				(unsigned long long)sample->location_id[i]);
		if (!profile_add_stack(r->profile, *stack, r->locations[location], stack, err))
			return false;
	}
	return true;
}

/* A file without counts has been sampled all the same: its period tells how often, else each line stands for one sample. */
static int64_t count_of(const struct reader *r, const Pprof__Sample *sample)
{
	int64_t last = sample->value[sample->n_value - 1];

	return r->period > 0 && last > 0 ? (last + r->period / 2) / r->period : 1;
}

static bool read_sample(struct reader *r, size_t position, struct error *err)
{
	const Pprof__Sample *sample = r->message->sample[position];
	int64_t values[PROFILE_MAX_VALUE_TYPES] = { 0 };
	size_t shift = !r->has_count;
	uint32_t stack, thread;

	if (sample->n_value != r->message->n_sample_type)
		return error_set(err, ERROR_FORMAT, "sample %zu has %zu values for %zu sample types", position, sample->n_value,
			r->message->n_sample_type);
	for (size_t i = 0; i < sample->n_value; i++) {
		values[i + shift] = sample->value[i];
		if (sample->value[i] < 0)
			return error_set(err, ERROR_FORMAT,
				"sample %zu has the negative value %lld: this is a difference of two profiles; give the two themselves",
				position, (long long)sample->value[i]);
	}
	if (shift)
		values[0] = count_of(r, sample);
	return stack_of_sample(r, position, &stack, err) && thread_of_sample(r, position, &thread, err) &&
	       profile_add_sample(r->profile, stack, thread, values, -1, err);
}

/* Our own files: each sample stands once, so positions are ids. */
static bool read_timeline(struct reader *r, struct error *err)
{
	const Pprof__Extension *in = r->extension;
	struct profile *profile = r->profile;
	size_t event = 0;

	profile->has_timeline = false;
	if (!in || !in->has_timeline || in->time_unit <= 0 || in->time_unit > 1000000000)
		return true;
	if (in->n_event_time_delta != in->n_event_sample || profile->sample_count != r->message->n_sample)
		return error_set(err, ERROR_FORMAT, "the timeline's columns do not agree");
	profile->events = calloc(in->n_event_sample + 1, sizeof(*profile->events));
	if (!profile->events)
		return error_set_memory(err);
	for (size_t run = 0; run < in->n_run_events; run++) {
		int64_t time = 0;

		if (in->run_events[run] > in->n_event_sample - event)
			return error_set(err, ERROR_FORMAT, "the timeline of run %zu is longer than its columns", run);
		for (uint32_t i = 0; i < in->run_events[run]; i++, event++) {
			uint32_t sample = in->event_sample[event];

			if (sample >= profile->sample_count || __builtin_add_overflow(time, in->event_time_delta[event], &time) ||
				time < 0 || time > INT64_MAX / in->time_unit ||
				profile->threads[profile->samples[sample].thread].run != run)
				return error_set(err, ERROR_FORMAT, "event %zu of the timeline is out of range", event);
			profile->events[event] = (struct profile_event){ time * in->time_unit, sample };
		}
	}
	profile->event_count = event;
	profile->has_timeline = true;
	return true;
}

static bool read_samples(struct reader *r, struct error *err)
{
	r->period = r->profile->period;
	for (size_t i = 0; i < r->message->n_sample; i++)
		if (!read_sample(r, i, err))
			return false;
	return read_timeline(r, err);
}

static void read_quality(struct reader *r)
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

static bool read_facts(struct reader *r, struct error *err)
{
	const Pprof__Facts *in = r->extension ? r->extension->facts : NULL;
	struct profile_facts *out = &r->profile->facts;

	if (!in)
		return true;
	out->cpu_count = in->cpu_count;
	out->frequency_hz = in->frequency_hz;
	out->user_only = in->user_only;
	return string_of(r, in->tool, &out->tool, "the tool", err) &&
	       string_of(r, in->command, &out->command, "the command", err) &&
	       string_of(r, in->event, &out->event, "the event", err) &&
	       string_of(r, in->cpu_model, &out->cpu_model, "the CPU model", err) &&
	       string_of(r, in->kernel, &out->kernel, "the kernel", err) &&
	       string_of(r, in->governor, &out->governor, "the governor", err) &&
	       string_of(r, in->call_graph, &out->call_graph, "the call graph", err);
}

static bool convert(struct reader *r, struct error *err)
{
	bool ok = profile_create(&r->profile, err) && read_strings(r, err) && read_value_types(r, err) && read_mappings(r, err) &&
		  index_functions(r, err) && read_locations(r, err) && read_runs(r, err) && read_threads(r, err) &&
		  read_samples(r, err) && read_facts(r, err);

	if (ok)
		read_quality(r);
	if (ok && r->extension && r->extension->default_value_type < r->profile->value_type_count)
		r->profile->default_value_type = r->extension->default_value_type;
	return ok && profile_validate(r->profile, err);
}

static bool refuse_unpacked(const struct unpacker *unpacker, struct error *err)
{
	if (unpacker->over_limit)
		return error_set(err, ERROR_LIMIT, "it unpacks to more than %d times its size", MAX_UNPACKED_RATIO);
	if (unpacker->no_memory)
		return error_set_memory(err);
	return error_set(err, ERROR_FORMAT, "not a pprof profile, or cut off");
}

bool pprof_read(const void *bytes, size_t size, const char *name, struct profile **profile, struct error *err)
{
	struct reader r = { 0 };
	struct unpacker unpacker = { 0 };
	ProtobufCAllocator allocator = { unpack_alloc, unpack_free, &unpacker };
	bool ok;

	arena_init(&unpacker.arena,
		size > least_unpacked_bytes / MAX_UNPACKED_RATIO ? size * MAX_UNPACKED_RATIO : least_unpacked_bytes);
	hash_map_init(&r.mapping_ids, sizeof(uint64_t));
	hash_map_init(&r.function_ids, sizeof(uint64_t));
	hash_map_init(&r.location_ids, sizeof(uint64_t));
	r.message = pprof__profile__unpack(&allocator, size, bytes);
	if (r.message) {
		r.extension = r.message->kelvin;
		ok = convert(&r, err);
	} else {
		ok = refuse_unpacked(&unpacker, err);
	}
	hash_map_deinit(&r.mapping_ids);
	hash_map_deinit(&r.function_ids);
	hash_map_deinit(&r.location_ids);
	free(r.strings);
	free(r.mappings);
	free(r.locations);
	free(r.threads);
	arena_deinit(&unpacker.arena);
	if (!ok) {
		profile_destroy(r.profile);
		return error_prefix(err, "cannot read %s", name);
	}
	*profile = r.profile;
	return true;
}
