/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the values of samples by which they are grouped and chosen. */
#include "profile/selection_where.h"

#include "profile/model.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const key_names[] = {
	[PROFILE_SELECT_FUNCTION] = "function",
	[PROFILE_SELECT_MODULE] = "module",
	[PROFILE_SELECT_FILE] = "file",
	[PROFILE_SELECT_LINE] = "line",
	[PROFILE_SELECT_THREAD] = "thread",
	[PROFILE_SELECT_PROCESS] = "process",
	[PROFILE_SELECT_BENCHMARK] = "benchmark",
};

const char *profile_selection_key_name(const struct profile_where *where)
{
	return where->key == PROFILE_SELECT_LABEL ? where->label : key_names[where->key];
}

struct profile_where profile_key_parse(const char *text)
{
	for (int i = 0; i < PROFILE_SELECT_LABEL; i++)
		if (strcmp(text, key_names[i]) == 0)
			return (struct profile_where){ .key = (enum profile_selection_key)i };
	return (struct profile_where){ .key = PROFILE_SELECT_LABEL, .label = text };
}

bool profile_where_parse(char *text, struct profile_where *where, struct error *err)
{
	char *equals = strchr(text, '=');
	struct profile_where key;

	if (!equals || equals == text)
		return error_set(err, ERROR_USAGE,
			"--where '%.100s': give a key and its value, as in --where thread=worker", text);
	*equals = '\0';
	key = profile_key_parse(text);
	*where = (struct profile_where){ .key = key.key, .label = key.label, .value = equals + 1 };
	return true;
}

/* ---- The frame that a sample's self time counts to ---- */

struct finder {
	const struct profile *profile;
	const struct profile_where *key;
	struct string_table *names; /* borrowed */
	/* [function, line or thread, as the key goes] its value; PROFILE_NONE: it has not been looked for; owned */
	uint32_t *found;
	/* [function] enum profile_language of it, and that which it interprets; owned; NULL unless code matters */
	uint8_t *languages, *interpreted;
};

static void finder_deinit(struct finder *f)
{
	free(f->found);
	free(f->languages);
	free(f->interpreted);
}

static bool is_of_code(const struct profile_where *key)
{
	return key->key <= PROFILE_SELECT_LINE;
}

static bool finder_init(struct finder *f, struct error *err)
{
	const struct profile *profile = f->profile;
	size_t count = profile_key_has_path(f->key) ? profile->line_count
		       : is_of_code(f->key)         ? profile->function_count
						    : profile->thread_count;

	if (!ARRAY_ZEROED(&f->found, count + 1, err))
		return false;
	memset(f->found, 0xff, count * sizeof(*f->found));
	if (!is_of_code(f->key))
		return true;
	if (!ARRAY_ZEROED(&f->languages, profile->function_count + 1, err) ||
		!ARRAY_ZEROED(&f->interpreted, profile->function_count + 1, err))
		return false;
	for (size_t i = 0; i < profile->function_count; i++) {
		const struct profile_function *function = &profile->functions[i];
		const char *name = profile_string(profile, function->name),
			   *module = profile_string(profile, function->module);

		f->languages[i] = (uint8_t)profile_language_of(name, module);
		if (function->origin == PROFILE_ORIGIN_SYSTEM)
			f->interpreted[i] = (uint8_t)profile_language_interpreted_by(name, module);
	}
	return true;
}

/* A frame of a stack; `line` is its index among the profile's lines. */
struct selection_where_frame {
	uint32_t stack, depth, line;
};

/* Steps over locations without a name. False: the stack has no frame left. */
static bool frame_settle(const struct finder *f, struct selection_where_frame *frame)
{
	for (; frame->stack != 0; frame->stack = f->profile->stacks[frame->stack].parent, frame->depth = 0) {
		const struct profile_location *location =
			&f->profile->locations[f->profile->stacks[frame->stack].location];

		frame->line = location->first_line + frame->depth;
		if (frame->depth < location->line_count)
			return true;
	}
	return false;
}

static bool selection_where_frame_up(const struct finder *f, struct selection_where_frame *frame)
{
	frame->depth++;
	return frame_settle(f, frame);
}

static uint32_t selection_where_function_of(const struct finder *f, const struct selection_where_frame *frame)
{
	return f->profile->lines[frame->line].function;
}

/* A frame of an interpreter counts to the function that this runs, as in a diff (diff/match/union_tree.c). */
static void to_owner(const struct finder *f, struct selection_where_frame *frame)
{
	uint8_t language = f->interpreted[selection_where_function_of(f, frame)];
	struct selection_where_frame above = *frame;

	while (language != PROFILE_LANGUAGE_NATIVE && selection_where_frame_up(f, &above)) {
		if (f->languages[selection_where_function_of(f, &above)] == language) {
			*frame = above;
			return;
		}
		if (f->interpreted[selection_where_function_of(f, &above)] != language)
			return;
	}
}

static bool selection_where_find_frame(const struct finder *f, uint32_t stack, struct selection_where_frame *frame)
{
	*frame = (struct selection_where_frame){ .stack = stack };
	if (!frame_settle(f, frame))
		return false;
	if (f->key->key != PROFILE_SELECT_FUNCTION &&
		profile_wait_class_of_function(f->profile, selection_where_function_of(f, frame)) !=
			PROFILE_WAIT_NONE &&
		!selection_where_frame_up(f, frame))
		return false;
	to_owner(f, frame);
	return true;
}

/* ---- Values ---- */

static bool selection_where_add_name(struct finder *f, const char *bytes, size_t size, uint32_t *id, struct error *err)
{
	return string_table_add(f->names, bytes, size, id, err);
}

static bool selection_where_name_function(struct finder *f, uint32_t function, uint32_t *id, struct error *err)
{
	const struct profile_function *known = &f->profile->functions[function];
	CLEANUP(buffer_deinit) struct buffer shown = BUFFER_INIT(SIZE_MAX / 2);

	profile_shown_name(profile_string(f->profile, known->name), profile_string(f->profile, known->module), &shown);
	return buffer_ok(&shown, err) && selection_where_add_name(f, shown.data ? shown.data : "", shown.size, id, err);
}

/* The file of a line, which a script's function may tell by its name only. */
static bool name_line(struct finder *f, const struct profile_line *line, uint32_t *id, struct error *err)
{
	const struct profile_function *function = &f->profile->functions[line->function];
	const char *file = profile_string(f->profile, line->file ? line->file : function->file);
	struct profile_script_name parts = { .file = file, .file_bytes = strlen(file) };
	CLEANUP(buffer_deinit) struct buffer text = BUFFER_INIT(SIZE_MAX / 2);

	if (!file[0])
		profile_script_name(profile_string(f->profile, function->name), &parts);
	*id = 0;
	if (parts.file_bytes == 0 || (f->key->key == PROFILE_SELECT_LINE && line->line == 0))
		return true;
	buffer_append(&text, parts.file, parts.file_bytes);
	if (f->key->key == PROFILE_SELECT_LINE)
		buffer_printf(&text, ":%" PRIu32, line->line);
	return buffer_ok(&text, err) && selection_where_add_name(f, text.data, text.size, id, err);
}

static bool name_string(struct finder *f, uint32_t string, uint32_t *id, struct error *err)
{
	const char *text = profile_string(f->profile, string);

	return selection_where_add_name(f, text, strlen(text), id, err);
}

static bool selection_where_name_label(
	struct finder *f, const struct profile_thread *thread, const char *key, uint32_t *id, struct error *err)
{
	struct profile_sample_label label;

	*id = 0;
	return !profile_thread_label(f->profile, thread, key, &label) ||
	       selection_where_add_name(f, label.value, label.value_bytes, id, err);
}

static bool name_thread(struct finder *f, const struct profile_thread *thread, uint32_t *id, struct error *err)
{
	uint32_t benchmark = f->profile->runs[thread->run].name;

	switch (f->key->key) {
	case PROFILE_SELECT_THREAD:
		return name_string(f, thread->name, id, err);
	case PROFILE_SELECT_PROCESS:
		return name_string(f, thread->process_name, id, err);
	case PROFILE_SELECT_BENCHMARK:
		/* In files of other tools a benchmark is a label like any other. */
		return benchmark ? name_string(f, benchmark, id, err)
				 : selection_where_name_label(f, thread, key_names[PROFILE_SELECT_BENCHMARK], id, err);
	case PROFILE_SELECT_LABEL:
		return selection_where_name_label(f, thread, f->key->label, id, err);
	case PROFILE_SELECT_FUNCTION:
	case PROFILE_SELECT_MODULE:
	case PROFILE_SELECT_FILE:
	case PROFILE_SELECT_LINE:
		break;
	}
	*id = 0;
	return true;
}

/* Finds the value of a thread, of a function, or of a line once. */
static bool selection_where_find_value(
	struct finder *f, const struct profile_sample *sample, uint32_t *value, struct error *err)
{
	const struct profile *profile = f->profile;
	struct selection_where_frame frame;
	uint32_t *found;

	*value = 0;
	if (!is_of_code(f->key)) {
		found = &f->found[sample->thread];
		if (*found == PROFILE_NONE && !name_thread(f, &profile->threads[sample->thread], found, err))
			return false;
	} else if (!selection_where_find_frame(f, sample->stack, &frame)) {
		return true;
	} else if (profile_key_has_path(f->key)) {
		found = &f->found[frame.line];
		if (*found == PROFILE_NONE && !name_line(f, &profile->lines[frame.line], found, err))
			return false;
	} else {
		uint32_t function = selection_where_function_of(f, &frame);

		found = &f->found[function];
		if (*found == PROFILE_NONE &&
			!(f->key->key == PROFILE_SELECT_FUNCTION
					? selection_where_name_function(f, function, found, err)
					: name_string(f, profile->functions[function].module, found, err)))
			return false;
	}
	*value = *found;
	return true;
}

bool profile_find_values(const struct profile *profile, const struct profile_where *key, struct string_table *names,
	uint32_t *of_sample, struct error *err)
{
	CLEANUP(finder_deinit) struct finder f = { .profile = profile, .key = key, .names = names };

	if (!finder_init(&f, err))
		return false;
	for (size_t i = 0; i < profile->sample_count; i++)
		if (!selection_where_find_value(&f, &profile->samples[i], &of_sample[i], err))
			return false;
	return true;
}

/* ---- Keys that are there ---- */

static bool has_values(const struct profile *profile, const struct profile_where *key, bool *has, struct error *err)
{
	CLEANUP(cleanup_free) uint32_t *values = calloc(profile->sample_count + 1, sizeof(*values));
	struct string_table *names = NULL;
	bool ok;

	if (!values)
		return error_set_memory(err);
	ok = string_table_create(SIZE_MAX / 2, &names, err) && profile_find_values(profile, key, names, values, err);
	*has = false;
	for (size_t i = 0; ok && i < profile->sample_count && !*has; i++)
		*has = values[i] != 0;
	string_table_destroy(names);
	return ok;
}

static void selection_where_append_key(struct buffer *out, const char *key, size_t bytes)
{
	buffer_append_string(out, out->size > 0 ? ", " : "");
	buffer_append(out, key, bytes);
}

/* Sets of labels repeat their keys: each key is appended once. */
static bool append_label_keys(const struct profile *profile, struct buffer *out, struct error *err)
{
	struct string_table *seen = NULL;
	bool ok = string_table_create(SIZE_MAX / 2, &seen, err);

	for (size_t i = 0; ok && i < profile->thread_count; i++) {
		const char *set = profile_string(profile, profile->threads[i].labels);
		struct profile_sample_label label;

		while (ok && profile_next_sample_label(&set, &label)) {
			uint32_t known = string_table_count(seen), id;

			ok = string_table_add(seen, label.key, label.key_bytes, &id, err);
			if (ok && id == known)
				selection_where_append_key(out, label.key, label.key_bytes);
		}
	}
	string_table_destroy(seen);
	return ok;
}

bool profile_append_keys(const struct profile *profile, struct buffer *out, struct error *err)
{
	for (int i = 0; i < PROFILE_SELECT_LABEL; i++) {
		const struct profile_where key = { .key = (enum profile_selection_key)i };
		bool has = false;

		if (!has_values(profile, &key, &has, err))
			return false;
		if (has)
			selection_where_append_key(out, key_names[i], strlen(key_names[i]));
	}
	return append_label_keys(profile, out, err);
}

/* ---- What somebody asked for ---- */

size_t profile_path_bytes(const struct profile_where *key, const char *value)
{
	const char *colon = key->key == PROFILE_SELECT_LINE ? strrchr(value, ':') : NULL;

	return colon ? (size_t)(colon - value) : strlen(value);
}

/* Returns whether a path with what follows it (the line) is what was asked for, or ends so from a slash on. */
static bool is_path(const char *path, const char *rest, const char *asked)
{
	size_t bytes = strlen(path), rest_bytes = strlen(rest), asked_bytes = strlen(asked);

	if (asked_bytes <= rest_bytes || strcmp(asked + asked_bytes - rest_bytes, rest) != 0)
		return false;
	asked_bytes -= rest_bytes;
	return bytes >= asked_bytes && memcmp(path + bytes - asked_bytes, asked, asked_bytes) == 0 &&
	       (bytes == asked_bytes || path[bytes - asked_bytes - 1] == '/');
}

bool profile_is_value(const struct profile_where *where, const char *value, const struct profile_other_side *other)
{
	const char *path;
	size_t bytes;

	if (strcmp(value, where->value) == 0)
		return true;
	if (!profile_key_has_path(where))
		return false;
	if (is_path(value, "", where->value))
		return true;
	bytes = profile_path_bytes(where, value);
	path = other ? other->other_path(other->context, value, bytes) : NULL;
	return path && is_path(path, value + bytes, where->value);
}

static bool apply_one(const struct profile *profile, const struct profile_where *where,
	const struct profile_other_side *other, bool *chosen, struct error *err)
{
	CLEANUP(cleanup_free) uint32_t *values = calloc(profile->sample_count + 1, sizeof(*values));
	CLEANUP(cleanup_free) bool *is_asked = NULL;
	struct string_table *names = NULL;
	bool ok;

	if (!values)
		return error_set_memory(err);
	ok = string_table_create(SIZE_MAX / 2, &names, err) && profile_find_values(profile, where, names, values, err);
	is_asked = ok ? calloc(string_table_count(names) + 1, sizeof(*is_asked)) : NULL;
	if (ok && !is_asked)
		ok = error_set_memory(err);
	for (uint32_t i = 0; ok && i < string_table_count(names); i++)
		is_asked[i] = profile_is_value(where, string_table_get(names, i), other);
	for (size_t i = 0; ok && i < profile->sample_count; i++)
		chosen[i] = chosen[i] && is_asked[values[i]];
	string_table_destroy(names);
	return ok;
}

bool profile_where_samples(
	const struct profile *profile, const struct profile_selection *selection, bool *chosen, struct error *err)
{
	for (size_t i = 0; i < selection->where_count; i++)
		if (!apply_one(profile, &selection->where[i], selection->other_side, chosen, err))
			return false;
	return true;
}

/* Finds which values of a key samples have. */
static bool selection_where_list_values(const struct profile *const *profiles, size_t count,
	const struct profile_where *where, struct string_table *names, struct error *err)
{
	for (size_t i = 0; i < count; i++) {
		CLEANUP(cleanup_free) uint32_t *values = NULL;

		if (!profiles[i])
			continue;
		if (!ARRAY_ZEROED(&values, profiles[i]->sample_count + 1, err) ||
			!profile_find_values(profiles[i], where, names, values, err))
			return false;
	}
	return true;
}

static bool has_value(const struct profile_where *where, const struct string_table *names)
{
	for (uint32_t i = 1; i < string_table_count(names); i++)
		if (profile_is_value(where, string_table_get(names, i), NULL))
			return true;
	return false;
}

bool profile_refuse_key(const struct profile *const *profiles, size_t count, const struct profile_where *where,
	const char *option, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer keys = BUFFER_INIT(SIZE_MAX / 2);

	for (size_t i = count; i-- > 0 && keys.size == 0;)
		if (profiles[i] && !profile_append_keys(profiles[i], &keys, err))
			return false;
	buffer_append_byte(&keys, '\0');
	return buffer_ok(&keys, err) &&
	       error_set(err, ERROR_NOT_FOUND, "%s %.100s: no sample has it; there are: %.300s", option,
		       profile_selection_key_name(where), keys.data);
}

static bool refuse_value(const struct profile_where *where, const struct string_table *names, struct error *err)
{
	enum { SHOWN = 8 };
	CLEANUP(buffer_deinit) struct buffer some = BUFFER_INIT(SIZE_MAX / 2);
	uint32_t count = string_table_count(names);

	for (uint32_t i = 1; i < count && i <= SHOWN; i++)
		buffer_printf(&some, "%s%.60s", i > 1 ? ", " : "", string_table_get(names, i));
	if (count > SHOWN + 1)
		buffer_printf(&some, " and %u more", count - 1 - SHOWN);
	buffer_append_byte(&some, '\0');
	return buffer_ok(&some, err) &&
	       error_set(err, ERROR_NOT_FOUND, "--where %.60s=%.100s: no sample has this value; there are: %s",
		       profile_selection_key_name(where), where->value, some.data);
}

bool profile_refuse_where(const struct profile *const *profiles, size_t profile_count,
	const struct profile_where *where, size_t count, struct error *err)
{
	for (size_t i = 0; i < count; i++) {
		struct string_table *names = NULL;
		bool ok = string_table_create(SIZE_MAX / 2, &names, err) &&
			  selection_where_list_values(profiles, profile_count, &where[i], names, err);

		if (ok && string_table_count(names) <= 1)
			ok = profile_refuse_key(profiles, profile_count, &where[i], "--where", err);
		else if (ok && !has_value(&where[i], names))
			ok = refuse_value(&where[i], names, err);
		string_table_destroy(names);
		if (!ok)
			return false;
	}
	return error_set(err, ERROR_NOT_FOUND, "--where: no sample has all of these values");
}
