/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes a profile as OTLP: samples first, then the dictionary of what they refer to. Fields stand in the order of
 * their numbers, as every writer of protobuf has them: a message with a long field is packed in parts around it.
 */
#include "profile/foreign/foreign.h"
#include "profile/foreign/otlp/convert.h"

#include <stdlib.h>
#include <string.h>

/* The members of each group, in order: members[starts[group]] to members[starts[group + 1]]. */
struct otlp_write_groups {
	size_t *starts;    /* owned */
	uint32_t *members; /* owned */
};

struct otlp_writer {
	const struct profile *profile;
	struct string_table *strings;    /* owned: the dictionary's */
	struct string_table *attributes; /* owned: messages of the dictionary, each of them once */
	uint32_t *stacks;                /* owned: [stack] its index; 0: the dictionary does not have it yet */
	uint32_t stack_count;
	struct buffer stack_table;
	struct otlp_write_groups samples; /* by run */
	struct otlp_write_groups events;  /* by sample; none without a timeline */
	struct buffer thread_attributes;
	size_t *thread_starts; /* owned: [thread] where its attributes' indices start */
	struct buffer raw, text, attribute, part, values, times; /* scratch */
	Otlp__AnyValue value;                                    /* its text is `text` */
};

/* Appends to an array of numbers of 64 bits, which becomes a repeated member. */
static void append_number(struct buffer *out, uint64_t number)
{
	buffer_append(out, &number, sizeof(number));
}

/* Returns the part of such an array from byte `from` to `to`, for a repeated member. */
static void *take_numbers(const struct buffer *array, size_t from, size_t to, size_t *count)
{
	*count = (to - from) / sizeof(uint64_t);
	return array->data ? array->data + from : NULL;
}

/* ---- Strings and attributes ---- */

/* Leaves a text as the UTF-8 that protobuf demands: names may hold any bytes. */
static bool make_text(struct otlp_writer *w, const char *bytes, size_t size, struct error *err)
{
	w->raw.size = w->text.size = 0;
	buffer_append(&w->raw, bytes, size);
	if (!buffer_ok(&w->raw, err))
		return false;
	for (const char *at = w->raw.data; *at;)
		unicode_append(&w->text, unicode_next(&at));
	return buffer_ok(&w->text, err);
}

static bool write_add_string(struct otlp_writer *w, const char *bytes, size_t size, uint32_t *id, struct error *err)
{
	*id = 0;
	return size == 0 ||
	       (make_text(w, bytes, size, err) && string_table_add(w->strings, w->text.data, w->text.size, id, err));
}

static bool add_profile_string(struct otlp_writer *w, uint32_t string, uint32_t *id, struct error *err)
{
	const char *text = profile_string(w->profile, string);

	return write_add_string(w, text, strlen(text), id, err);
}

/* Adds the attribute of the value `w->value`. */
static bool add_attribute(struct otlp_writer *w, const char *key, size_t key_bytes, uint32_t *index, struct error *err)
{
	Otlp__Attribute attribute = OTLP__ATTRIBUTE__INIT;
	uint32_t name;

	/* The value is packed before the key takes the room of its text. */
	w->attribute.size = w->part.size = 0;
	proto_append(&w->part, proto_number_of(&otlp__attribute__descriptor, offsetof(Otlp__Attribute, value)),
		&w->value.base, NULL);
	if (!buffer_ok(&w->part, err) || !write_add_string(w, key, key_bytes, &name, err))
		return false;
	attribute.key_strindex = name;
	proto_pack(&w->attribute, &attribute.base);
	buffer_append(&w->attribute, w->part.data, w->part.size);
	return buffer_ok(&w->attribute, err) &&
	       string_table_add(w->attributes, w->attribute.data, w->attribute.size, index, err);
}

static bool make_text_value(struct otlp_writer *w, const char *text, size_t size, struct error *err)
{
	otlp__any_value__init(&w->value);
	if (!make_text(w, text, size, err))
		return false;
	w->value.string_value = (ProtobufCBinaryData){ w->text.size, (uint8_t *)w->text.data };
	return true;
}

/* Index 0: there is no text. */
static bool add_text_attribute(
	struct otlp_writer *w, enum otlp_meaning meaning, const char *text, uint32_t *index, struct error *err)
{
	const char *key = otlp_key_of(meaning);

	*index = 0;
	return !*text ||
	       (make_text_value(w, text, strlen(text), err) && add_attribute(w, key, strlen(key), index, err));
}

/* Numbers of processes and threads are above 0, where they are known. */
static bool add_number_attribute(
	struct otlp_writer *w, enum otlp_meaning meaning, int32_t number, uint32_t *index, struct error *err)
{
	const char *key = otlp_key_of(meaning);

	*index = 0;
	otlp__any_value__init(&w->value);
	w->value.int_value = number;
	return number <= 0 || add_attribute(w, key, strlen(key), index, err);
}

static void append_thread_attribute(struct otlp_writer *w, uint32_t index)
{
	if (index)
		append_number(&w->thread_attributes, index);
}

/* Adds the labels of its samples, and the benchmark that they are of. */
static bool write_add_labels(struct otlp_writer *w, const struct profile_thread *thread, struct error *err)
{
	static const char benchmark_key[] = "benchmark";
	const char *set = profile_string(w->profile, thread->labels);
	const char *benchmark = profile_string(w->profile, w->profile->runs[thread->run].name);
	struct profile_sample_label label;
	uint32_t index;

	while (profile_next_sample_label(&set, &label)) {
		if (label.value_bytes == 0)
			continue;
		if (!make_text_value(w, label.value, label.value_bytes, err) ||
			!add_attribute(w, label.key, label.key_bytes, &index, err))
			return false;
		append_thread_attribute(w, index);
	}
	if (!*benchmark)
		return true;
	if (!make_text_value(w, benchmark, strlen(benchmark), err) ||
		!add_attribute(w, benchmark_key, strlen(benchmark_key), &index, err))
		return false;
	append_thread_attribute(w, index);
	return true;
}

/* What says which thread it is comes last, so that no label of such a name takes its place. */
static bool write_add_thread(struct otlp_writer *w, const struct profile_thread *thread, struct error *err)
{
	uint32_t pid, process, tid, name;

	if (!write_add_labels(w, thread, err) || !add_number_attribute(w, OTLP_MEANS_PID, thread->pid, &pid, err) ||
		!add_text_attribute(
			w, OTLP_MEANS_PROCESS, profile_string(w->profile, thread->process_name), &process, err) ||
		!add_number_attribute(w, OTLP_MEANS_TID, thread->tid, &tid, err) ||
		!add_text_attribute(w, OTLP_MEANS_THREAD, profile_string(w->profile, thread->name), &name, err))
		return false;
	append_thread_attribute(w, pid);
	append_thread_attribute(w, process);
	append_thread_attribute(w, tid);
	append_thread_attribute(w, name);
	return true;
}

static bool add_threads(struct otlp_writer *w, struct error *err)
{
	if (!ARRAY_ZEROED(&w->thread_starts, w->profile->thread_count + 1, err))
		return false;
	for (size_t i = 0; i < w->profile->thread_count; i++) {
		if (!write_add_thread(w, &w->profile->threads[i], err))
			return false;
		w->thread_starts[i + 1] = w->thread_attributes.size;
	}
	return buffer_ok(&w->thread_attributes, err);
}

/* ---- Samples ---- */

static uint32_t write_run_of_sample(const struct profile *profile, size_t sample)
{
	return profile->threads[profile->samples[sample].thread].run;
}

static uint32_t sample_of_event(const struct profile *profile, size_t event)
{
	return profile->events[event].sample;
}

static bool groups_init(struct otlp_write_groups *groups, size_t count, const struct profile *profile,
	size_t member_count, uint32_t (*group_of)(const struct profile *profile, size_t member), struct error *err)
{
	*groups = (struct otlp_write_groups){ calloc(count + 2, sizeof(*groups->starts)),
		calloc(member_count + 1, sizeof(*groups->members)) };
	if (!groups->starts || !groups->members)
		return error_set_memory(err);
	/* Counts go two places further on, so that filling in the members moves each start to its final value. */
	for (size_t i = 0; i < member_count; i++)
		groups->starts[group_of(profile, i) + 2]++;
	for (size_t i = 2; i < count + 2; i++)
		groups->starts[i] += groups->starts[i - 1];
	for (size_t i = 0; i < member_count; i++)
		groups->members[groups->starts[group_of(profile, i) + 1]++] = (uint32_t)i;
	return true;
}

static void write_groups_deinit(struct otlp_write_groups *groups)
{
	free(groups->starts);
	free(groups->members);
}

static bool write_add_stack(struct otlp_writer *w, uint32_t stack, uint32_t *index, struct error *err)
{
	const struct profile_stack *stacks = w->profile->stacks;
	uint32_t *known = &w->stacks[stack];

	if (stack != 0 && *known == 0) {
		Otlp__Stack out = OTLP__STACK__INIT;

		w->part.size = 0;
		for (; stack; stack = stacks[stack].parent)
			append_number(&w->part, (uint64_t)stacks[stack].location + 1);
		if (!buffer_ok(&w->part, err))
			return false;
		out.location_indices = take_numbers(&w->part, 0, w->part.size, &out.n_location_indices);
		proto_append(&w->stack_table, OTLP_DICTIONARY(stack_table), &out.base, NULL);
		*known = ++w->stack_count;
	}
	*index = *known;
	return buffer_ok(&w->stack_table, err);
}

/* Returns whether each event of this value has its time, in a run that has one itself. */
static bool has_times(const struct otlp_writer *w, uint32_t type, const struct profile_run *run)
{
	return w->profile->has_timeline && w->profile->counts_of[type] == 0 && run->start_unix_ns > 0;
}

/* Shares a sample's value out among its events, by their weights; whole numbers, whose sum is the value. */
static void append_event_values(struct otlp_writer *w, uint32_t sample, int64_t value)
{
	const size_t from = w->events.starts[sample], to = w->events.starts[sample + 1];
	__int128 weight = 0, before = 0, all = 0;

	for (size_t i = from; i < to; i++)
		all += profile_event_weight(w->profile, w->events.members[i]);
	for (size_t i = from; i < to; i++) {
		__int128 share;

		weight += profile_event_weight(w->profile, w->events.members[i]);
		share = value * weight / all;
		append_number(&w->values, (uint64_t)(share - before));
		before = share;
	}
}

static void append_event_times(struct otlp_writer *w, uint32_t sample, const struct profile_run *run)
{
	for (size_t i = w->events.starts[sample]; i < w->events.starts[sample + 1]; i++)
		append_number(&w->times,
			(uint64_t)saturating_add(run->start_unix_ns, w->profile->events[w->events.members[i]].time_ns));
}

static bool write_append_sample(struct otlp_writer *w, uint32_t id, uint32_t type, const struct profile_run *run,
	struct buffer *out, struct error *err)
{
	const struct profile *profile = w->profile;
	const struct profile_sample *sample = &profile->samples[id];
	const int64_t *values = &profile->values[(size_t)id * profile->value_type_count];
	const size_t attributes = w->thread_starts[sample->thread];
	const bool is_timed = has_times(w, type, run) && w->events.starts[id] < w->events.starts[id + 1];
	Otlp__Sample made = OTLP__SAMPLE__INIT;
	uint32_t stack;

	if (values[type] == 0)
		return true;
	if (!write_add_stack(w, sample->stack, &stack, err))
		return false;
	w->values.size = w->times.size = 0;
	if (!is_timed)
		append_number(&w->values, (uint64_t)values[type]);
	/* Waits are events of the count 1, however long they are. */
	for (size_t i = w->events.starts[id]; is_timed && type == 0 && i < w->events.starts[id + 1]; i++)
		append_number(&w->values, 1);
	if (is_timed && type != 0)
		append_event_values(w, id, values[type]);
	if (is_timed)
		append_event_times(w, id, run);
	if (!buffer_ok(&w->values, err) || !buffer_ok(&w->times, err))
		return false;
	made.stack_index = stack;
	made.attribute_indices = take_numbers(
		&w->thread_attributes, attributes, w->thread_starts[sample->thread + 1], &made.n_attribute_indices);
	made.values = take_numbers(&w->values, 0, w->values.size, &made.n_values);
	made.timestamps_unix_nano = take_numbers(&w->times, 0, w->times.size, &made.n_timestamps_unix_nano);
	proto_append(out, OTLP_PROFILE(samples), &made.base, NULL);
	return buffer_ok(out, err);
}

/* ---- Profiles ---- */

static bool make_type(struct otlp_writer *w, struct profile_value_type type, Otlp__ValueType *out, struct error *err)
{
	uint32_t name, unit;

	if (!add_profile_string(w, type.type, &name, err) || !add_profile_string(w, type.unit, &unit, err))
		return false;
	otlp__value_type__init(out);
	out->type_strindex = name;
	out->unit_strindex = unit;
	return true;
}

/* Appends one run's values of one type. */
static bool write_append_profile(
	struct otlp_writer *w, uint32_t run_id, uint32_t type, struct buffer *out, struct error *err)
{
	const struct profile *profile = w->profile;
	const struct profile_run *run = &profile->runs[run_id];
	Otlp__ValueType sample_type, period_type;
	Otlp__Profile start = OTLP__PROFILE__INIT, rest = OTLP__PROFILE__INIT;

	if (!make_type(w, profile->value_types[type], &sample_type, err))
		return false;
	start.sample_type = &sample_type;
	proto_pack(out, &start.base);
	for (size_t i = w->samples.starts[run_id]; i < w->samples.starts[run_id + 1]; i++)
		if (!write_append_sample(w, w->samples.members[i], type, run, out, err))
			return false;
	rest.time_unix_nano = run->start_unix_ns > 0 ? (uint64_t)run->start_unix_ns : 0;
	rest.duration_nano = run->duration_ns > 0 ? (uint64_t)run->duration_ns : 0;
	if (profile->period > 0) {
		if (!make_type(w, profile->period_type, &period_type, err))
			return false;
		rest.period_type = &period_type;
		rest.period = profile->period;
	}
	proto_pack(out, &rest.base);
	return buffer_ok(out, err);
}

/* What is shown first comes first. Where it is not known how many samples were taken, value type 0 is no measure. */
static bool append_profiles(struct otlp_writer *w, struct buffer *out, struct error *err)
{
	const uint32_t first = w->profile->default_value_type;
	CLEANUP(buffer_deinit) struct buffer profile = BUFFER_INIT(out->max_bytes);

	for (uint32_t run = 0; run < w->profile->run_count; run++)
		for (uint32_t i = 0; i < w->profile->value_type_count; i++) {
			const uint32_t type = i == 0 ? first : i <= first ? i - 1 : i;

			if (type < profile_first_metric(w->profile))
				continue;
			profile.size = 0;
			if (!write_append_profile(w, run, type, &profile, err))
				return false;
			proto_append_bytes(out, OTLP_SCOPE(profiles), profile.data, profile.size);
		}
	return buffer_ok(out, err);
}

/* Appends the resource: the attributes of the whole profile. */
static bool append_resource(struct otlp_writer *w, struct buffer *out, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer resource = BUFFER_INIT(out->max_bytes);

	for (size_t i = 0; i < OTLP_LABELS; i++) {
		const char *value = profile_label(w->profile, otlp_label_keys[i]);
		const char *key = otlp_key_of((enum otlp_meaning)(OTLP_MEANS_SERVICE + i));
		Otlp__Pair pair = OTLP__PAIR__INIT;

		if (!value)
			continue;
		if (!make_text_value(w, value, strlen(value), err))
			return false;
		pair.key = (ProtobufCBinaryData){ strlen(key), (uint8_t *)(uintptr_t)key };
		pair.value = &w->value;
		proto_append(&resource,
			proto_number_of(&otlp__resource__descriptor, offsetof(Otlp__Resource, attributes)), &pair.base,
			NULL);
	}
	/* It begins the file, by which it is recognized. */
	proto_append_bytes(out, OTLP_RESOURCE(resource), resource.data, resource.size);
	return buffer_ok(&resource, err) && buffer_ok(out, err);
}

static bool append_resource_profiles(struct otlp_writer *w, struct buffer *out, struct error *err)
{
	static const char tool[] = "kelvin";
	CLEANUP(buffer_deinit) struct buffer scope = BUFFER_INIT(out->max_bytes);
	CLEANUP(buffer_deinit) struct buffer resource = BUFFER_INIT(out->max_bytes);
	Otlp__Scope writer = OTLP__SCOPE__INIT;

	writer.name = (ProtobufCBinaryData){ strlen(tool), (uint8_t *)(uintptr_t)tool };
	proto_append(&scope, OTLP_SCOPE(scope), &writer.base, NULL);
	if (!append_profiles(w, &scope, err) || !append_resource(w, &resource, err))
		return false;
	proto_append_bytes(&resource, OTLP_RESOURCE(scope_profiles), scope.data, scope.size);
	proto_append_bytes(out, OTLP_DATA(resource_profiles), resource.data, resource.size);
	return buffer_ok(&resource, err) && buffer_ok(out, err);
}

/* ---- The dictionary: what an index of 0 refers to stands for nothing, so that ids begin with 1 ---- */

static bool append_mappings(struct otlp_writer *w, struct buffer *out, struct error *err)
{
	proto_append_bytes(out, OTLP_DICTIONARY(mapping_table), NULL, 0);
	for (size_t i = 0; i < w->profile->mapping_count; i++) {
		const struct profile_mapping *mapping = &w->profile->mappings[i];
		Otlp__Mapping made = OTLP__MAPPING__INIT;
		uint32_t path, build_id;
		uint64_t attribute;

		if (!add_profile_string(w, mapping->path, &path, err) ||
			!add_text_attribute(
				w, OTLP_MEANS_BUILD_ID, profile_string(w->profile, mapping->build_id), &build_id, err))
			return false;
		attribute = build_id;
		made.memory_start = mapping->start;
		made.memory_limit = mapping->end;
		made.file_offset = mapping->file_offset;
		made.filename_strindex = path;
		made.n_attribute_indices = build_id != 0;
		made.attribute_indices = &attribute;
		proto_append(out, OTLP_DICTIONARY(mapping_table), &made.base, NULL);
	}
	return buffer_ok(out, err);
}

/* Returns what a frame is of, by the function that contains its code; "": it is not known. */
static const char *frame_type(const struct profile *profile, const struct profile_location *location)
{
	static const char *const types[PROFILE_LANGUAGE_COUNT] = {
		[PROFILE_LANGUAGE_NATIVE] = "native",
		[PROFILE_LANGUAGE_PYTHON] = "cpython",
		[PROFILE_LANGUAGE_JAVASCRIPT] = "v8js",
		[PROFILE_LANGUAGE_JAVA] = "jvm",
		[PROFILE_LANGUAGE_KERNEL] = OTLP_FRAME_KERNEL,
		[PROFILE_LANGUAGE_RUBY] = "ruby",
		[PROFILE_LANGUAGE_GO] = "go",
		[PROFILE_LANGUAGE_PHP] = "php",
		[PROFILE_LANGUAGE_PERL] = "perl",
		[PROFILE_LANGUAGE_DOTNET] = "dotnet",
		[PROFILE_LANGUAGE_ERLANG] = "beam",
	};
	const bool has_mapping = location->mapping != PROFILE_NONE;
	enum profile_language language = PROFILE_LANGUAGE_NATIVE;

	if (has_mapping && profile->mappings[location->mapping].kind == PROFILE_MAPPING_KERNEL)
		return OTLP_FRAME_KERNEL;
	if (location->line_count > 0) {
		const struct profile_line *outer = &profile->lines[location->first_line + location->line_count - 1];
		const struct profile_function *function = &profile->functions[outer->function];

		language = profile_language_of(
			profile_string(profile, function->name), profile_string(profile, function->module));
	}
	/* Folded stacks and others do not tell what is machine code. */
	if (language == PROFILE_LANGUAGE_NATIVE && !has_mapping)
		return "";
	return types[language] ? types[language] : "";
}

static bool append_locations(struct otlp_writer *w, struct buffer *out, struct error *err)
{
	const struct profile *profile = w->profile;

	proto_append_bytes(out, OTLP_DICTIONARY(location_table), NULL, 0);
	for (size_t i = 0; i < profile->location_count; i++) {
		const struct profile_location *location = &profile->locations[i];
		Otlp__Location made = OTLP__LOCATION__INIT, rest = OTLP__LOCATION__INIT;
		uint64_t attribute;
		uint32_t type;

		if (!add_text_attribute(w, OTLP_MEANS_KERNEL, frame_type(profile, location), &type, err))
			return false;
		w->part.size = 0;
		for (uint32_t k = 0; k < location->line_count; k++) {
			const struct profile_line *line = &profile->lines[location->first_line + k];
			Otlp__Line of_code = OTLP__LINE__INIT;

			of_code.function_index = (uint64_t)line->function + 1;
			of_code.line = line->line;
			proto_append(&w->part,
				proto_number_of(&otlp__location__descriptor, offsetof(Otlp__Location, lines)),
				&of_code.base, NULL);
		}
		attribute = type;
		made.mapping_index = location->mapping == PROFILE_NONE ? 0 : (uint64_t)location->mapping + 1;
		made.address = location->address;
		rest.n_attribute_indices = type != 0;
		rest.attribute_indices = &attribute;
		proto_pack(&w->part, &rest.base);
		proto_append(out, OTLP_DICTIONARY(location_table), &made.base, &w->part);
	}
	return buffer_ok(&w->part, err) && buffer_ok(out, err);
}

static bool write_append_functions(struct otlp_writer *w, struct buffer *out, struct error *err)
{
	proto_append_bytes(out, OTLP_DICTIONARY(function_table), NULL, 0);
	for (size_t i = 0; i < w->profile->function_count; i++) {
		const struct profile_function *function = &w->profile->functions[i];
		Otlp__Function made = OTLP__FUNCTION__INIT;
		uint32_t name, system_name, file;

		if (!add_profile_string(w, function->name, &name, err) ||
			!add_profile_string(w, function->linkage_name ? function->linkage_name : function->name,
				&system_name, err) ||
			!add_profile_string(w, function->file, &file, err))
			return false;
		made.name_strindex = name;
		made.system_name_strindex = system_name;
		made.filename_strindex = file;
		made.start_line = function->start_line;
		proto_append(out, OTLP_DICTIONARY(function_table), &made.base, NULL);
	}
	return buffer_ok(out, err);
}

/* The first entry of such a table is empty. */
static void append_table(const struct string_table *table, uint32_t field, struct buffer *out)
{
	for (uint32_t i = 0; i < string_table_count(table); i++)
		proto_append_bytes(out, field, string_table_get(table, i), string_table_size(table, i));
}

static bool append_dictionary(struct otlp_writer *w, struct buffer *out, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer dictionary = BUFFER_INIT(out->max_bytes);

	if (!append_mappings(w, &dictionary, err) || !append_locations(w, &dictionary, err) ||
		!write_append_functions(w, &dictionary, err))
		return false;
	proto_append_bytes(&dictionary, OTLP_DICTIONARY(link_table), NULL, 0);
	append_table(w->strings, OTLP_DICTIONARY(string_table), &dictionary);
	append_table(w->attributes, OTLP_DICTIONARY(attribute_table), &dictionary);
	proto_append_bytes(&dictionary, OTLP_DICTIONARY(stack_table), NULL, 0);
	if (w->stack_table.size)
		buffer_append(&dictionary, w->stack_table.data, w->stack_table.size);
	proto_append_bytes(out, OTLP_DATA(dictionary), dictionary.data, dictionary.size);
	return buffer_ok(&dictionary, err) && buffer_ok(out, err);
}

/* ---- All of it ---- */

static bool otlp_writer_init(struct otlp_writer *w, const struct profile *profile, size_t max_bytes, struct error *err)
{
	struct buffer *const buffers[] = { &w->stack_table, &w->thread_attributes, &w->raw, &w->text, &w->attribute,
		&w->part, &w->values, &w->times };
	const size_t event_count = profile->has_timeline ? profile->event_count : 0;

	*w = (struct otlp_writer){ .profile = profile };
	for (size_t i = 0; i < sizeof(buffers) / sizeof(buffers[0]); i++)
		buffer_init(buffers[i], max_bytes);
	return ARRAY_ZEROED(&w->stacks, profile->stack_count + 1, err) &&
	       string_table_create(max_bytes, &w->strings, err) &&
	       string_table_create(max_bytes, &w->attributes, err) &&
	       groups_init(&w->samples, profile->run_count, profile, profile->sample_count, write_run_of_sample, err) &&
	       groups_init(&w->events, profile->sample_count, profile, event_count, sample_of_event, err) &&
	       add_threads(w, err);
}

static void otlp_writer_deinit(struct otlp_writer *w)
{
	string_table_destroy(w->strings);
	string_table_destroy(w->attributes);
	free(w->stacks);
	free(w->thread_starts);
	write_groups_deinit(&w->samples);
	write_groups_deinit(&w->events);
	buffer_deinit(&w->stack_table);
	buffer_deinit(&w->thread_attributes);
	buffer_deinit(&w->raw);
	buffer_deinit(&w->text);
	buffer_deinit(&w->attribute);
	buffer_deinit(&w->part);
	buffer_deinit(&w->values);
	buffer_deinit(&w->times);
}

bool foreign_write_otlp(const struct profile *profile, struct buffer *out, struct error *err)
{
	CLEANUP(otlp_writer_deinit) struct otlp_writer w = { 0 };

	return otlp_writer_init(&w, profile, out->max_bytes, err) && append_resource_profiles(&w, out, err) &&
	       append_dictionary(&w, out, err);
}
