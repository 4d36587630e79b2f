/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes the tables and samples of pprof. */
#include "profile/pprof_writer.h"

#include "common/common.h"

#include <stdlib.h>
#include <string.h>

/* The most labels that a sample has by its thread: those below, and the benchmark in which it was taken. */
enum { MOST_THREAD_LABELS = 5 };
static const size_t max_file_bytes = (size_t)2 << 30;

void *pprof_take(struct pprof_writer *w, size_t count, size_t size)
{
	void *memory = arena_alloc_array(&w->arena, count ? count : 1, size, 16);

	if (!memory)
		w->ok = false;
	return memory;
}

void **pprof_take_messages(struct pprof_writer *w, size_t count, size_t size)
{
	void **pointers = pprof_take(w, count, sizeof(*pointers));
	char *messages = pprof_take(w, count, size);

	for (size_t i = 0; w->ok && i < count; i++)
		pointers[i] = messages + i * size;
	return pointers;
}

static void write_strings(struct pprof_writer *w)
{
	const struct string_table *strings = w->profile->strings;
	uint32_t from = (uint32_t)w->from->strings, count = string_table_count(strings) - from;
	ProtobufCBinaryData *out = pprof_take(w, count, sizeof(*out));

	for (uint32_t i = 0; w->ok && i < count; i++)
		out[i] = (ProtobufCBinaryData){ string_table_size(strings, from + i),
			(uint8_t *)string_table_get(strings, from + i) };
	w->message.n_string_table = count;
	w->message.string_table = out;
}

static Pprof__ValueType *write_value_type(struct pprof_writer *w, struct profile_value_type type)
{
	Pprof__ValueType *out = pprof_take(w, 1, sizeof(*out));

	if (!w->ok)
		return NULL;
	pprof__value_type__init(out);
	out->type = type.type;
	out->unit = type.unit;
	return out;
}

static void write_value_types(struct pprof_writer *w)
{
	const struct profile *profile = w->profile;

	w->message.n_sample_type = pprof_is_first(w) ? profile->value_type_count : 0;
	w->message.sample_type = pprof_take(w, profile->value_type_count, sizeof(*w->message.sample_type));
	for (uint32_t i = 0; w->ok && i < w->message.n_sample_type; i++)
		w->message.sample_type[i] = write_value_type(w, profile->value_types[i]);
	w->message.default_sample_type = profile->value_types[profile->default_value_type].type;
	w->message.period_type = write_value_type(w, profile->period_type);
	w->message.period = profile->period;
}

/* pprof takes mapping 0 for the main binary, so files come before the kernel. */
static void order_mappings(struct pprof_writer *w)
{
	const struct profile *profile = w->profile;
	uint32_t main_mapping = 0, position = 0;

	w->mapping_order = pprof_take(w, profile->mapping_count, sizeof(uint32_t));
	w->mapping_positions = pprof_take(w, profile->mapping_count, sizeof(uint32_t));
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

static void pprof_write_mappings(struct pprof_writer *w)
{
	const struct profile *profile = w->profile;

	size_t from = w->from->mappings, count = profile->mapping_count - from;

	if (!w->recording)
		order_mappings(w);
	w->message.n_mapping = count;
	w->message.mapping = (Pprof__Mapping **)pprof_take_messages(w, count, sizeof(Pprof__Mapping));
	for (size_t i = 0; w->ok && i < count; i++) {
		const struct profile_mapping *mapping = &profile->mappings[pprof_mapping_at(w, from + i)];
		Pprof__Mapping *out = w->message.mapping[i];

		pprof__mapping__init(out);
		out->id = from + i + 1;
		out->memory_start = mapping->start;
		out->memory_limit = mapping->end;
		out->file_offset = mapping->file_offset;
		out->filename = mapping->path;
		out->build_id = mapping->build_id;
		/* All names are resolved, so pprof need not look for the binary. */
		out->has_functions = out->has_filenames = out->has_line_numbers = out->has_inline_frames =
			!w->recording;
	}
}

static void pprof_write_functions(struct pprof_writer *w)
{
	const struct profile *profile = w->profile;

	size_t from = w->from->functions, count = profile->function_count - from;

	w->message.n_function = count;
	w->message.function = (Pprof__Function **)pprof_take_messages(w, count, sizeof(Pprof__Function));
	for (size_t i = 0; w->ok && i < count; i++) {
		const struct profile_function *function = &profile->functions[from + i];
		Pprof__Function *out = w->message.function[i];

		pprof__function__init(out);
		out->id = from + i + 1;
		out->name = function->name;
		out->system_name = function->linkage_name ? function->linkage_name : function->name;
		out->filename = function->file;
		out->start_line = function->start_line;
	}
}

/* Writes the lines of the locations that are new. */
static Pprof__Line **pprof_write_lines(struct pprof_writer *w)
{
	const struct profile *profile = w->profile;
	size_t from = w->from->lines, count = profile->line_count - from;
	Pprof__Line **lines = (Pprof__Line **)pprof_take_messages(w, count, sizeof(Pprof__Line));

	for (size_t i = 0; w->ok && i < count; i++) {
		pprof__line__init(lines[i]);
		lines[i]->function_id = (uint64_t)profile->lines[from + i].function + 1;
		lines[i]->line = profile->lines[from + i].line;
	}
	return lines;
}

static uint64_t id_of_mapping(const struct pprof_writer *w, uint32_t mapping)
{
	if (mapping == PROFILE_NONE)
		return 0;
	return (uint64_t)(w->mapping_positions ? w->mapping_positions[mapping] : mapping) + 1;
}

static void pprof_write_locations(struct pprof_writer *w)
{
	const struct profile *profile = w->profile;
	size_t from = w->from->locations, count = profile->location_count - from;
	Pprof__Line **lines = pprof_write_lines(w);

	w->message.n_location = count;
	w->message.location = (Pprof__Location **)pprof_take_messages(w, count, sizeof(Pprof__Location));
	for (size_t i = 0; w->ok && i < count; i++) {
		const struct profile_location *location = &profile->locations[from + i];
		Pprof__Location *out = w->message.location[i];

		pprof__location__init(out);
		out->id = from + i + 1;
		out->mapping_id = id_of_mapping(w, location->mapping);
		out->address = location->address;
		out->n_line = location->line_count;
		if (location->line_count > 0)
			out->line = lines + (location->first_line - w->from->lines);
	}
}

static void set_label(Pprof__Label *label, uint32_t key, int64_t number, uint32_t string)
{
	pprof__label__init(label);
	label->key = key;
	label->num = number;
	label->str = string;
}

static size_t count_own_labels(const char *set)
{
	struct profile_sample_label label;
	size_t count = 0;

	while (profile_next_sample_label(&set, &label))
		count++;
	return count;
}

/* The thread's labels of its own, whose keys and values are strings of the profile: they were read or made so. */
static void write_own_labels(struct pprof_writer *w, const char *set, struct pprof_labels *out)
{
	const struct string_table *strings = w->profile->strings;
	struct profile_sample_label label;

	while (profile_next_sample_label(&set, &label)) {
		uint32_t key = string_table_find(strings, label.key, label.key_bytes),
			 value = string_table_find(strings, label.value, label.value_bytes);

		if (key != UINT32_MAX && value != UINT32_MAX)
			set_label(out->labels[out->count++], key, 0, value);
	}
}

/* Makes the labels of each thread once; its samples share them. A phase has threads of its own. */
static void write_thread_labels(struct pprof_writer *w, const struct pprof_label_keys *keys)
{
	const struct profile *profile = w->profile;

	w->thread_labels = pprof_take(w, profile->thread_count, sizeof(*w->thread_labels));
	for (size_t i = 0; w->ok && i < profile->thread_count; i++) {
		const struct profile_thread *thread = &profile->threads[i];
		uint32_t benchmark = profile->runs[thread->run].name;
		const char *own = profile_string(profile, thread->labels);
		struct pprof_labels *out = &w->thread_labels[i];

		out->labels = (Pprof__Label **)pprof_take_messages(
			w, MOST_THREAD_LABELS + count_own_labels(own), sizeof(Pprof__Label));
		if (!w->ok)
			return;
		set_label(out->labels[out->count++], keys->comm, 0, thread->process_name);
		set_label(out->labels[out->count++], keys->thread_comm, 0, thread->name);
		set_label(out->labels[out->count++], keys->pid, thread->pid, 0);
		set_label(out->labels[out->count++], keys->tid, thread->tid, 0);
		if (benchmark)
			set_label(out->labels[out->count++], keys->benchmark, 0, benchmark);
		write_own_labels(w, own, out);
	}
}

/* Makes the label of each class once. */
static void write_wait_labels(struct pprof_writer *w, const struct pprof_label_keys *keys)
{
	Pprof__Label **labels = (Pprof__Label **)pprof_take_messages(w, PROFILE_WAIT_COUNT, sizeof(Pprof__Label));

	for (size_t i = 0; w->ok && keys->wait && i < PROFILE_WAIT_COUNT; i++) {
		set_label(labels[i], keys->wait, 0, keys->classes[i]);
		w->wait_labels[i] = labels[i];
	}
}

static size_t stack_depth(const struct profile *profile, uint32_t stack)
{
	size_t depth = 0;

	for (; stack; stack = profile->stacks[stack].parent)
		depth++;
	return depth;
}

/*
 * Sorts the numbers below `count` by their keys, which are below `key_count`. Numbers with equal keys keep their order
 * in `before` (NULL: the order of numbers).
 */
static uint32_t *sort_by_key(
	struct pprof_writer *w, const uint32_t *keys, size_t count, size_t key_count, const uint32_t *before)
{
	uint32_t *starts = pprof_take(w, key_count + 1, sizeof(*starts)), *order = pprof_take(w, count, sizeof(*order));

	if (!w->ok)
		return NULL;
	for (size_t i = 0; i < count; i++)
		starts[keys[i] + 1]++;
	for (size_t i = 0; i < key_count; i++)
		starts[i + 1] += starts[i];
	for (uint32_t i = 0; i < count; i++) {
		uint32_t number = before ? before[i] : i;

		order[starts[keys[number]]++] = number;
	}
	return order;
}

/* Sorts all stacks but stack 0, which comes first. */
static uint32_t *sort_by_location(struct pprof_writer *w)
{
	const struct profile *profile = w->profile;
	uint32_t *keys = pprof_take(w, profile->stack_count, sizeof(*keys));

	for (size_t i = 1; w->ok && i < profile->stack_count; i++)
		keys[i] = profile->stacks[i].location + 1;
	return w->ok ? sort_by_key(w, keys, profile->stack_count, profile->location_count + 1, NULL) : NULL;
}

/*
 * Returns an array: [stack] its rank in preorder: a caller comes before what it calls; stacks of one caller are in
 * order of their locations.
 */
static uint32_t *rank_stacks(struct pprof_writer *w)
{
	const struct profile *profile = w->profile;
	size_t count = profile->stack_count;
	uint32_t *sizes = pprof_take(w, count, sizeof(*sizes)), *taken = pprof_take(w, count, sizeof(*taken));
	uint32_t *ranks = pprof_take(w, count, sizeof(*ranks)), *order = sort_by_location(w);

	if (!w->ok)
		return NULL;
	for (size_t i = count; i-- > 0;) {
		sizes[i]++;
		if (i > 0)
			sizes[profile->stacks[i].parent] += sizes[i];
	}
	/* Places are relative to the parent first, then absolute: a parent has a smaller id. */
	for (size_t i = 1; i < count; i++) {
		uint32_t *rank = &taken[profile->stacks[order[i]].parent];

		ranks[order[i]] = 1 + *rank;
		*rank += sizes[order[i]];
	}
	for (size_t i = 1; i < count; i++)
		ranks[i] += ranks[profile->stacks[i].parent];
	return ranks;
}

/*
 * Samples are written in order of their stacks. Each then shares most of its frames with the one before it, which
 * compresses better, and the reader knows without searching which stacks are new.
 */
static void order_samples(struct pprof_writer *w)
{
	const struct profile *profile = w->profile;
	size_t count = profile->sample_count;
	uint32_t *ranks = rank_stacks(w), *keys = pprof_take(w, count, sizeof(*keys)), *by_thread;

	for (size_t i = 0; w->ok && i < count; i++)
		keys[i] = profile->samples[i].thread;
	by_thread = w->ok ? sort_by_key(w, keys, count, profile->thread_count, NULL) : NULL;
	for (size_t i = 0; w->ok && i < count; i++)
		keys[i] = ranks[profile->samples[i].stack];
	w->sample_order = w->ok ? sort_by_key(w, keys, count, profile->stack_count, by_thread) : NULL;
	w->sample_positions = pprof_take(w, count, sizeof(uint32_t));
	for (uint32_t i = 0; w->ok && i < count; i++)
		w->sample_positions[w->sample_order[i]] = i;
}

/* Writes the labels of the sample's thread, and one more where it waits: what for. */
static void pprof_write_labels(struct pprof_writer *w, uint32_t id, Pprof__Sample *out)
{
	const struct profile_sample *sample = &w->profile->samples[id];
	const struct pprof_labels *of_thread = &w->thread_labels[sample->thread];
	enum profile_wait_class wait_class =
		w->wait_labels[0] ? profile_wait_class_of_stack(w->profile, sample->stack) : PROFILE_WAIT_NONE;

	out->n_label = of_thread->count;
	out->label = of_thread->labels;
	if (wait_class == PROFILE_WAIT_NONE)
		return;
	out->label = pprof_take(w, of_thread->count + 1, sizeof(*out->label));
	if (!w->ok)
		return;
	memcpy(out->label, of_thread->labels, of_thread->count * sizeof(*out->label));
	out->label[out->n_label++] = w->wait_labels[wait_class];
}

static void write_sample(struct pprof_writer *w, uint32_t id, Pprof__Sample *out)
{
	const struct profile *profile = w->profile;
	uint32_t stack = profile->samples[id].stack;

	pprof__sample__init(out);
	out->n_value = profile->value_type_count;
	out->value = &profile->values[(size_t)id * profile->value_type_count];
	/* In an increment, columns alone hold the thread and the stack. */
	if (w->recording)
		return;
	pprof_write_labels(w, id, out);
	out->n_location_id = stack_depth(profile, stack);
	out->location_id = pprof_take(w, out->n_location_id, sizeof(uint64_t));
	for (size_t k = 0; w->ok && stack; stack = profile->stacks[stack].parent)
		out->location_id[k++] = (uint64_t)profile->stacks[stack].location + 1;
}

/* Makes the tables that samples share, and their order. */
static void prepare_samples(struct pprof_writer *w, const struct pprof_label_keys *keys)
{
	if (w->recording)
		return;
	write_thread_labels(w, keys);
	write_wait_labels(w, keys);
	order_samples(w);
}

static void write_times(struct pprof_writer *w)
{
	const struct profile *profile = w->profile;

	if (profile->run_count > 0)
		w->message.time_nanos = profile->runs[0].start_unix_ns;
	if (w->recording)
		w->message.duration_nanos = w->recording->duration_ns;
	for (size_t i = 0; !w->recording && i < profile->run_count; i++)
		w->message.duration_nanos = saturating_add(w->message.duration_nanos, profile->runs[i].duration_ns);
}

/*
 * Writes each label of the profile as a comment, which other tools show. The comments are added to the profile's
 * strings, which changes no id.
 */
static void write_comments(struct pprof_writer *w)
{
	const struct profile *profile = w->profile;
	CLEANUP(buffer_deinit)
	struct buffer text = BUFFER_INIT(PROFILE_LABEL_KEY_BYTES + PROFILE_LABEL_VALUE_BYTES + 2);
	struct error ignored;

	if (w->recording)
		return;
	w->message.comment = pprof_take(w, profile->label_count, sizeof(*w->message.comment));
	for (size_t i = 0; w->ok && i < profile->label_count; i++) {
		uint32_t comment;

		text.size = 0;
		buffer_printf(&text, "%s=%s", profile_string(profile, profile->labels[i].key),
			profile_string(profile, profile->labels[i].value));
		w->ok = buffer_ok(&text, &ignored) &&
			string_table_add(profile->strings, text.data, text.size, &comment, &ignored);
		if (w->ok)
			w->message.comment[w->message.n_comment++] = comment;
	}
}

static void write_tables(struct pprof_writer *w, const struct pprof_label_keys *keys)
{
	pprof__profile__init(&w->message);
	write_comments(w);
	write_strings(w);
	write_value_types(w);
	pprof_write_mappings(w);
	pprof_write_functions(w);
	pprof_write_locations(w);
	prepare_samples(w, keys);
	pprof_write_extension(w);
	write_times(w);
}

static bool pack(const Pprof__Profile *message, struct buffer *out, struct error *err)
{
	proto_pack(out, &message->base);
	return buffer_ok(out, err);
}

static bool pack_some_samples(struct pprof_writer *w, size_t first, size_t count, struct buffer *out, struct error *err)
{
	const struct arena whole = w->arena;
	Pprof__Profile part;
	bool packed;

	arena_init(&w->arena, 0);
	pprof__profile__init(&part);
	part.n_sample = count;
	part.sample = (Pprof__Sample **)pprof_take_messages(w, count, sizeof(Pprof__Sample));
	for (size_t i = 0; w->ok && i < count; i++)
		write_sample(w, pprof_sample_at(w, first + i), part.sample[i]);
	packed = w->ok ? pack(&part, out, err) : error_set_memory(err);
	arena_deinit(&w->arena);
	w->arena = whole;
	return packed;
}

/*
 * Messages that stand one behind the other are one. Samples take far more memory than their bytes: they are packed some
 * at a time, and stand where their field does.
 */
static bool pack_parts(struct pprof_writer *w, struct buffer *out, struct error *err)
{
	enum { TOGETHER = 4096 };
	size_t count = w->profile->sample_count;
	Pprof__Profile types;

	pprof__profile__init(&types);
	types.n_sample_type = w->message.n_sample_type;
	types.sample_type = w->message.sample_type;
	w->message.n_sample_type = 0;
	if (!pack(&types, out, err))
		return false;
	for (size_t at = w->from->samples; at < count; at += TOGETHER)
		if (!pack_some_samples(w, at, count - at < TOGETHER ? count - at : TOGETHER, out, err))
			return false;
	return pack(&w->message, out, err);
}

bool pprof_write_message(struct pprof_writer *w, struct buffer *out, struct error *err)
{
	struct pprof_label_keys keys = { 0 };
	bool written;

	/* The keys of labels are added to the profile's strings, which changes no id. */
	if (!w->recording && !pprof_label_keys_init(w->profile, &keys, err))
		return false;
	arena_init(&w->arena, 0);
	for (size_t i = 0; i < PPROF_COLUMNS; i++)
		buffer_init(&w->columns[i], SIZE_MAX);
	w->ok = true;
	write_tables(w, &keys);
	written = w->ok ? pack_parts(w, out, err) : error_set_memory(err);
	for (size_t i = 0; i < PPROF_COLUMNS; i++)
		buffer_deinit(&w->columns[i]);
	arena_deinit(&w->arena);
	return written;
}

bool profile_write_pprof(const struct profile *profile, struct buffer *out, struct error *err)
{
	struct profile_written nothing = { 0 };
	struct pprof_writer w = { .profile = profile, .from = &nothing };
	CLEANUP(buffer_deinit) struct buffer bytes = BUFFER_INIT(SIZE_MAX);

	for (size_t i = 0; i < profile->location_count; i++)
		if (profile->locations[i].line_count == 0)
			return error_set(err, ERROR_USAGE, "location %zu has no name: symbolize before writing", i);
	return pprof_write_message(&w, &bytes, err) && gzip_compress(bytes.data, bytes.size, out, err);
}

bool profile_write_file(
	const struct profile *profile, const char *path, mode_t mode, uint64_t *bytes, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer out = BUFFER_INIT(max_file_bytes);

	if (!profile_write_pprof(profile, &out, err) || !buffer_ok(&out, err) ||
		!file_write(path, out.data, out.size, mode, err))
		return false;
	*bytes = out.size;
	return true;
}
