/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a profile as pprof that Pyroscope takes: without labels of samples, which would split its series. */
#include "profile/store/pyroscope/pyroscope.h"

#include "profile/pprof_message.h"

#include <ctype.h>
#include <string.h>

/* Frames that no function of the profile is: in place of callers that are cut, and of a sample without a stack. */
enum own_frame { OWN_CUT, OWN_EMPTY, OWN_COUNT };
static const char *const own_names[OWN_COUNT] = { "[callers are cut: the stack is too deep for the store]",
	"[no stack]" };

/* Which number something of the profile has in the present piece. */
struct numbers {
	uint32_t *piece;  /* owned, [id of the profile]: the piece that has it; */
	uint32_t *number; /* owned, [id of the profile]: as this */
	uint32_t count;
};

enum pyroscope_split_table { STRINGS, MAPPINGS, FUNCTIONS, LOCATIONS, TABLE_COUNT };

struct pyroscope_split {
	const struct profile *profile;
	uint32_t piece;                    /* from 1 on */
	uint32_t own_locations[OWN_COUNT]; /* in the present piece; 0: none yet */
	uint32_t *first_sample;            /* owned, [stack]: the first of its samples plus 1 */
	uint32_t *next_sample;             /* owned, [sample]: the next one of its stack plus 1 */
	size_t stack;                      /* the next one to write */
	size_t cut_count;
	uint32_t value_types[PROFILE_MAX_VALUE_TYPES]; /* those that are written */
	size_t value_type_count, sample_count;
	int64_t totals[PROFILE_MAX_VALUE_TYPES];
	struct numbers numbers[TABLE_COUNT];
	struct buffer head, tables[TABLE_COUNT], samples, lines, text, whole;
};

/* ---- Protobuf ---- */

void pyroscope_put_number(struct buffer *message, uint32_t field, uint64_t value)
{
	if (value == 0)
		return;
	buffer_append_varint(message, (uint64_t)field << 3);
	buffer_append_varint(message, value);
}

void pyroscope_put_bytes(struct buffer *message, uint32_t field, const void *bytes, size_t size)
{
	proto_append_bytes(message, field, bytes, size);
}

void pyroscope_put_text(struct buffer *message, uint32_t field, const char *text)
{
	pyroscope_put_bytes(message, field, text, strlen(text));
}

/* ---- Tables of a piece ---- */

/* Takes the number of an entry in the piece; true: it is new, and has to be written. */
static bool pyroscope_split_take_number(
	struct pyroscope_split *split, enum pyroscope_split_table table, uint32_t id, uint32_t *number)
{
	struct numbers *numbers = &split->numbers[table];
	bool is_new = numbers->piece[id] != split->piece;

	if (is_new) {
		numbers->piece[id] = split->piece;
		numbers->number[id] = numbers->count++;
	}
	*number = numbers->number[id];
	return is_new;
}

/* A string that is none of the profile's. */
static uint32_t put_own_string(struct pyroscope_split *split, const char *text)
{
	pyroscope_put_text(&split->tables[STRINGS], PPROF_PROFILE(string_table), text);
	return split->numbers[STRINGS].count++;
}

/* Text as the store takes it: UTF-8, of a length that it does not cut. */
static uint32_t put_string(struct pyroscope_split *split, uint32_t id)
{
	const char *text = profile_string(split->profile, id);
	size_t end = strnlen(text, PYROSCOPE_MAX_STRING + 1);
	uint32_t number;

	if (!pyroscope_split_take_number(split, STRINGS, id, &number))
		return number;
	split->text.size = 0;
	if (end <= PYROSCOPE_MAX_STRING) {
		unicode_append_clean(&split->text, text);
	} else {
		CLEANUP(cleanup_free) char *cut = strndup(text, PYROSCOPE_MAX_STRING);

		if (!cut)
			split->text.failed = true;
		else
			unicode_append_clean(&split->text, cut);
	}
	pyroscope_put_bytes(&split->tables[STRINGS], PPROF_PROFILE(string_table), split->text.data, split->text.size);
	return number;
}

static uint32_t put_mapping(struct pyroscope_split *split, uint32_t id)
{
	const struct profile_mapping *mapping = &split->profile->mappings[id];
	Pprof__Mapping entry = PPROF__MAPPING__INIT;
	uint32_t number;

	if (!pyroscope_split_take_number(split, MAPPINGS, id, &number))
		return number;
	entry.id = number;
	entry.memory_start = mapping->start;
	entry.memory_limit = mapping->end;
	entry.file_offset = mapping->file_offset;
	entry.filename = put_string(split, mapping->path);
	entry.build_id = put_string(split, mapping->build_id);
	/* All names are there: nobody has to look for the binary. */
	entry.has_functions = entry.has_filenames = entry.has_line_numbers = entry.has_inline_frames = true;
	proto_append(&split->tables[MAPPINGS], PPROF_PROFILE(mapping), &entry.base, NULL);
	return number;
}

static uint32_t pyroscope_split_put_function(struct pyroscope_split *split, uint32_t id)
{
	const struct profile_function *function = &split->profile->functions[id];
	Pprof__Function entry = PPROF__FUNCTION__INIT;
	uint32_t number;

	if (!pyroscope_split_take_number(split, FUNCTIONS, id, &number))
		return number;
	entry.id = number;
	entry.name = put_string(split, function->name);
	entry.system_name = function->linkage_name ? put_string(split, function->linkage_name) : entry.name;
	entry.filename = put_string(split, function->file);
	entry.start_line = function->start_line;
	proto_append(&split->tables[FUNCTIONS], PPROF_PROFILE(function), &entry.base, NULL);
	return number;
}

static void pyroscope_split_append_line(struct pyroscope_split *split, uint32_t function, uint32_t line)
{
	Pprof__Line entry = PPROF__LINE__INIT;

	entry.function_id = function;
	entry.line = line;
	proto_append(&split->lines, proto_number_of(&pprof__location__descriptor, offsetof(Pprof__Location, line)),
		&entry.base, NULL);
}

/* A location with a function that has a name and nothing else. */
static uint32_t put_own_location(struct pyroscope_split *split, enum own_frame frame)
{
	Pprof__Function function = PPROF__FUNCTION__INIT;
	Pprof__Location location = PPROF__LOCATION__INIT;

	if (split->own_locations[frame])
		return split->own_locations[frame];
	function.name = put_own_string(split, own_names[frame]);
	function.id = split->numbers[FUNCTIONS].count++;
	location.id = split->own_locations[frame] = split->numbers[LOCATIONS].count++;
	proto_append(&split->tables[FUNCTIONS], PPROF_PROFILE(function), &function.base, NULL);
	split->lines.size = 0;
	pyroscope_split_append_line(split, (uint32_t)function.id, 0);
	proto_append(&split->tables[LOCATIONS], PPROF_PROFILE(location), &location.base, &split->lines);
	return split->own_locations[frame];
}

static uint32_t put_location(struct pyroscope_split *split, uint32_t id)
{
	const struct profile *profile = split->profile;
	const struct profile_location *location = &profile->locations[id];
	Pprof__Location entry = PPROF__LOCATION__INIT;
	uint32_t number;

	if (!pyroscope_split_take_number(split, LOCATIONS, id, &number))
		return number;
	entry.id = number;
	entry.mapping_id = location->mapping != PROFILE_NONE ? put_mapping(split, location->mapping) : 0;
	entry.address = location->address;
	split->lines.size = 0;
	for (uint32_t i = 0; i < location->line_count; i++) {
		const struct profile_line *line = &profile->lines[location->first_line + i];

		pyroscope_split_append_line(split, pyroscope_split_put_function(split, line->function), line->line);
	}
	proto_append(&split->tables[LOCATIONS], PPROF_PROFILE(location), &entry.base, &split->lines);
	return number;
}

/* ---- A piece ---- */

/* The words of types are parts of what Pyroscope calls a type of profiles: `off-cpu` would be refused. */
static uint32_t put_type_word(struct pyroscope_split *split, uint32_t id)
{
	char word[128];
	size_t used = 0;

	for (const char *c = profile_string(split->profile, id); *c && used + 1 < sizeof(word); c++)
		word[used++] = (char)(isalnum((unsigned char)*c) ? *c : '_');
	word[used] = '\0';
	return put_own_string(split, word);
}

static void put_value_type(struct pyroscope_split *split, uint32_t field, struct profile_value_type type)
{
	Pprof__ValueType entry = PPROF__VALUE_TYPE__INIT;

	entry.type = put_type_word(split, type.type);
	entry.unit = put_type_word(split, type.unit);
	proto_append(&split->head, field, &entry.base, NULL);
}

static void begin_piece(struct pyroscope_split *split)
{
	const struct profile *profile = split->profile;
	uint64_t duration_ns = 0;

	split->piece++;
	memset(split->own_locations, 0, sizeof(split->own_locations));
	split->sample_count = 0;
	split->head.size = split->samples.size = 0;
	memset(split->totals, 0, sizeof(split->totals));
	for (size_t i = 0; i < TABLE_COUNT; i++) {
		split->tables[i].size = 0;
		split->numbers[i].count = i == STRINGS ? 0 : 1;
	}
	(void)put_string(split, 0);
	for (size_t i = 0; i < split->value_type_count; i++)
		put_value_type(split, PPROF_PROFILE(sample_type), profile->value_types[split->value_types[i]]);
	put_value_type(split, PPROF_PROFILE(period_type),
		profile->period_type.type ? profile->period_type : profile->value_types[profile->default_value_type]);
	pyroscope_put_number(
		&split->head, PPROF_PROFILE(period), (uint64_t)(profile->period > 0 ? profile->period : 1));
	for (size_t i = 0; i < profile->run_count; i++)
		duration_ns += profile->runs[i].duration_ns > 0 ? (uint64_t)profile->runs[i].duration_ns : 0;
	pyroscope_put_number(&split->head, PPROF_PROFILE(duration_nanos), duration_ns);
}

static size_t piece_bytes(const struct pyroscope_split *split)
{
	size_t bytes = split->head.size + split->samples.size;

	for (size_t i = 0; i < TABLE_COUNT; i++)
		bytes += split->tables[i].size;
	return bytes;
}

/* The state of a piece before a sample was added. */
struct mark {
	size_t sizes[TABLE_COUNT], samples;
};

static struct mark mark_piece(const struct pyroscope_split *split)
{
	struct mark mark = { .samples = split->samples.size };

	for (size_t i = 0; i < TABLE_COUNT; i++)
		mark.sizes[i] = split->tables[i].size;
	return mark;
}

static void return_to(struct pyroscope_split *split, const struct mark *mark)
{
	split->samples.size = mark->samples;
	for (size_t i = 0; i < TABLE_COUNT; i++)
		split->tables[i].size = mark->sizes[i];
}

/* Makes the sum over the samples of a stack; false: all of them are 0. */
static bool pyroscope_split_sum_values(const struct pyroscope_split *split, size_t stack, int64_t *values)
{
	const struct profile *profile = split->profile;
	bool has_any = false;

	memset(values, 0, PROFILE_MAX_VALUE_TYPES * sizeof(*values));
	for (uint32_t next = split->first_sample[stack]; next; next = split->next_sample[next - 1])
		for (size_t i = 0; i < split->value_type_count; i++)
			values[i] +=
				profile->values[(size_t)(next - 1) * profile->value_type_count + split->value_types[i]];
	for (size_t i = 0; i < split->value_type_count; i++)
		has_any |= values[i] > 0;
	return has_any;
}

static void append_id(struct buffer *ids, uint64_t id)
{
	buffer_append(ids, &id, sizeof(id));
}

/* Writes a stack, its leaf first, with `most` frames at the most. Returns whether it was cut. */
static bool put_stack(struct pyroscope_split *split, uint32_t stack, size_t most, struct buffer *ids)
{
	const struct profile *profile = split->profile;
	size_t depth = 0;
	bool is_cut, is_empty = stack == 0;

	for (uint32_t node = stack; node && depth <= most; node = profile->stacks[node].parent)
		depth++;
	is_cut = depth > most;
	if (is_cut)
		depth = most - 1;
	for (; depth > 0; depth--, stack = profile->stacks[stack].parent)
		append_id(ids, put_location(split, profile->stacks[stack].location));
	if (is_cut)
		append_id(ids, put_own_location(split, OWN_CUT));
	if (is_empty)
		append_id(ids, put_own_location(split, OWN_EMPTY));
	return is_cut;
}

static bool put_sample(struct pyroscope_split *split, uint32_t stack, const int64_t *values, size_t most)
{
	CLEANUP(buffer_deinit) struct buffer ids = BUFFER_INIT(PYROSCOPE_MAX_BYTES);
	Pprof__Sample entry = PPROF__SAMPLE__INIT;
	bool is_cut = put_stack(split, stack, most, &ids);

	split->samples.failed |= ids.failed;
	entry.n_location_id = ids.size / sizeof(*entry.location_id);
	entry.location_id = (uint64_t *)(void *)ids.data;
	entry.n_value = split->value_type_count;
	entry.value = (int64_t *)(uintptr_t)values;
	proto_append(&split->samples, PPROF_PROFILE(sample), &entry.base, NULL);
	return is_cut;
}

/* Adds a stack with its values; false: the piece has no room for it. */
static bool pyroscope_split_add_stack(struct pyroscope_split *split, uint32_t stack, const int64_t *values)
{
	size_t most = PYROSCOPE_MAX_DEPTH;
	struct mark mark = mark_piece(split);
	bool is_cut;

	if (split->sample_count == PYROSCOPE_MAX_SAMPLES)
		return false;
	is_cut = put_sample(split, stack, values, most);
	/* A stack whose names take more than a whole piece has its callers cut, and again, until it fits. */
	while (piece_bytes(split) > PYROSCOPE_MAX_BYTES) {
		return_to(split, &mark);
		if (split->sample_count > 0 || most <= 2)
			return false;
		most /= 2;
		begin_piece(split);
		mark = mark_piece(split);
		is_cut = put_sample(split, stack, values, most);
	}
	split->cut_count += is_cut;
	split->sample_count++;
	for (size_t i = 0; i < split->value_type_count; i++)
		split->totals[i] += values[i];
	return true;
}

static void join_piece(struct pyroscope_split *split)
{
	struct buffer *whole = &split->whole;

	whole->size = 0;
	buffer_append(whole, split->head.data, split->head.size);
	buffer_append(whole, split->samples.data, split->samples.size);
	for (size_t i = 0; i < TABLE_COUNT; i++)
		buffer_append(whole, split->tables[i].data, split->tables[i].size);
}

static void describe_piece(const struct pyroscope_split *split, struct pyroscope_piece *piece)
{
	const struct profile *profile = split->profile;
	size_t chosen = 0;

	for (size_t i = 0; i < split->value_type_count; i++)
		if (split->value_types[i] == profile->default_value_type)
			chosen = i;
	for (size_t i = 0; split->totals[chosen] == 0 && i < split->value_type_count; i++)
		if (split->totals[i] > 0)
			chosen = i;
	*piece = (struct pyroscope_piece){ .bytes = split->whole.data,
		.size = split->whole.size,
		.value_type = split->value_types[chosen],
		.total = split->totals[chosen] };
}

bool pyroscope_split_next(
	struct pyroscope_split *split, struct pyroscope_piece *piece, bool *is_there, struct error *err)
{
	const struct buffer *buffers[] = { &split->head, &split->samples, &split->lines, &split->text, &split->whole,
		&split->tables[0], &split->tables[1], &split->tables[2], &split->tables[3] };
	size_t skipped = 0;

	begin_piece(split);
	for (; split->stack < split->profile->stack_count; split->stack++) {
		int64_t values[PROFILE_MAX_VALUE_TYPES];

		if (!split->first_sample[split->stack] || !pyroscope_split_sum_values(split, split->stack, values))
			continue;
		if (!pyroscope_split_add_stack(split, (uint32_t)split->stack, values)) {
			if (split->sample_count > 0)
				break;
			skipped++;
		}
	}
	if (skipped > 0)
		return error_set(
			err, ERROR_LIMIT, "a single function's name takes more than the store takes of a profile");
	*is_there = split->sample_count > 0;
	join_piece(split);
	for (size_t i = 0; i < sizeof(buffers) / sizeof(buffers[0]); i++)
		if (!buffer_ok(buffers[i], err))
			return false;
	describe_piece(split, piece);
	return true;
}

size_t pyroscope_split_cut_stacks(const struct pyroscope_split *split)
{
	return split->cut_count;
}

/* ---- All of it ---- */

static bool numbers_init(struct numbers *numbers, size_t count)
{
	numbers->piece = calloc(count + 1, sizeof(*numbers->piece));
	numbers->number = malloc((count + 1) * sizeof(*numbers->number));
	return numbers->piece && numbers->number;
}

static bool pyroscope_split_list_samples(struct pyroscope_split *split)
{
	const struct profile *profile = split->profile;

	split->first_sample = calloc(profile->stack_count + 1, sizeof(*split->first_sample));
	split->next_sample = calloc(profile->sample_count + 1, sizeof(*split->next_sample));
	if (!split->first_sample || !split->next_sample)
		return false;
	for (uint32_t i = 0; i < profile->sample_count; i++) {
		uint32_t *first = &split->first_sample[profile->samples[i].stack];

		split->next_sample[i] = *first;
		*first = i + 1;
	}
	return true;
}

static void pyroscope_split_list_value_types(struct pyroscope_split *split)
{
	const struct profile *profile = split->profile;

	/* Value 0 is no number of samples where that is not known. */
	for (uint32_t i = profile_first_metric(profile); i < profile->value_type_count; i++)
		if (profile_has_values(profile, i))
			split->value_types[split->value_type_count++] = i;
}

bool pyroscope_split_create(const struct profile *profile, struct pyroscope_split **split, struct error *err)
{
	struct pyroscope_split *made = calloc(1, sizeof(*made));
	if (!made)
		return error_set_memory(err);
	struct buffer *const buffers[] = { &made->head, &made->samples, &made->lines, &made->text, &made->whole,
		&made->tables[0], &made->tables[1], &made->tables[2], &made->tables[3] };
	const size_t counts[TABLE_COUNT] = { string_table_count(profile->strings), profile->mapping_count,
		profile->function_count, profile->location_count };
	bool ok = true;

	made->profile = profile;
	for (size_t i = 0; i < sizeof(buffers) / sizeof(buffers[0]); i++)
		buffer_init(buffers[i], (size_t)1 << 30);
	for (size_t i = 0; i < TABLE_COUNT; i++)
		ok = ok && numbers_init(&made->numbers[i], counts[i]);
	ok = ok && pyroscope_split_list_samples(made);
	if (!ok) {
		pyroscope_split_destroy(made);
		return error_set_memory(err);
	}
	pyroscope_split_list_value_types(made);
	*split = made;
	return true;
}

void pyroscope_split_destroy(struct pyroscope_split *split)
{
	if (!split)
		return;
	for (size_t i = 0; i < TABLE_COUNT; i++) {
		free(split->numbers[i].piece);
		free(split->numbers[i].number);
		buffer_deinit(&split->tables[i]);
	}
	buffer_deinit(&split->head);
	buffer_deinit(&split->samples);
	buffer_deinit(&split->lines);
	buffer_deinit(&split->text);
	buffer_deinit(&split->whole);
	free(split->first_sample);
	free(split->next_sample);
	free(split);
}
