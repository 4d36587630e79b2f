/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/interpret/names.h"

#include <string.h>

/*
 * The key that tells one frame from another: a line as it is, and hashes of several, which are never chosen by anybody.
 */
struct frame_key {
	uint64_t first, second;
};

enum {
	MOST_BYTES = 1 << 28,
	MOST_BYTES_OF_PROCESS = 1 << 25,
	FUNCTION_BYTES = sizeof(struct profile_function) + 32, /* with its place in the hash maps */
};

void interpreter_names_init(struct interpreter_names *names, struct process_table *table)
{
	*names = (struct interpreter_names){ .table = table, .place = PROFILE_NONE, .seed = hash_seed() };
	hash_map_init(&names->frames, sizeof(struct frame_key));
	shares_init(&names->bytes, MOST_BYTES);
}

void interpreter_names_deinit(struct interpreter_names *names)
{
	hash_map_deinit(&names->frames);
	shares_deinit(&names->bytes);
}

bool interpreter_names_function(
	struct interpreter_names *names, const struct interpreter_function *function, uint32_t *id, struct error *err)
{
	struct profile *profile = names->table->profile;
	struct profile_function made = { .start_line = function->start_line, .name_source = PROFILE_NAME_JIT };

	return profile_intern(profile, function->name, &made.name, err) &&
	       profile_intern(profile, function->file, &made.file, err) &&
	       profile_intern(profile, PROFILE_JIT_MODULE, &made.module, err) &&
	       profile_add_function(profile, &made, id, err);
}

/* The string of the profile; what the profile would grow by is added to `*bytes`. */
static uint32_t find_string(const struct profile *profile, const char *string, size_t *bytes)
{
	size_t size = strlen(string);
	uint32_t id = string_table_find(profile->strings, string, size);

	*bytes += id == UINT32_MAX ? size : 0;
	return id;
}

/* Returns what the profile grows by if it is given a function; 0: it has it already. */
static size_t bytes_of_function(const struct profile *profile, const struct interpreter_function *function)
{
	size_t bytes = FUNCTION_BYTES;
	const struct profile_function made = {
		.name = find_string(profile, function->name, &bytes),
		.file = find_string(profile, function->file, &bytes),
		.module = find_string(profile, PROFILE_JIT_MODULE, &bytes),
		.start_line = function->start_line,
	};

	return bytes == FUNCTION_BYTES && profile_find_function(profile, &made) != PROFILE_NONE ? 0 : bytes;
}

bool interpreter_names_give(struct interpreter_names *names, struct interpreter_giver *giver,
	const struct interpreter_function *function, uint32_t *id, struct error *err)
{
	size_t bytes = bytes_of_function(names->table->profile, function);

	*id = PROFILE_NONE;
	if (bytes > MOST_BYTES_OF_PROCESS - giver->bytes ||
		!shares_take(&names->bytes, process_table_account(names->table, giver->pid), bytes)) {
		names->refused++;
		return true;
	}
	giver->bytes += bytes;
	return interpreter_names_function(names, function, id, err);
}

static struct frame_key interpret_names_key_of(
	const struct interpreter_names *names, const struct profile_line *lines, size_t count)
{
	if (count == 1)
		return (struct frame_key){ lines->function, lines->line };
	return (struct frame_key){ hash_bytes_seeded(lines, count * sizeof(*lines), names->seed) | 1ULL << 63,
		hash_bytes_seeded(lines, count * sizeof(*lines), ~names->seed) };
}

static bool interpret_names_add_location(struct interpreter_names *names, uint64_t address,
	const struct profile_line *lines, size_t count, struct error *err)
{
	struct profile *profile = names->table->profile;
	uint32_t mapping = names->table->places[names->place].mapping, location;

	return profile_add_location(profile, mapping, address, &location, err) &&
	       profile_set_lines(profile, location, lines, count, err);
}

bool interpreter_names_frame(struct interpreter_names *names, const struct profile_line *lines, size_t count,
	struct unwind_frame *frame, struct error *err)
{
	struct frame_key key = interpret_names_key_of(names, lines, count);
	uint32_t *number;
	bool added;

	if ((names->place == PROFILE_NONE && !process_table_add_names(names->table, &names->place, err)) ||
		!hash_map_add(&names->frames, &key, (uint32_t)names->frames.count, &number, &added, err) ||
		(added && !interpret_names_add_location(names, *number, lines, count, err)))
		return false;
	frame->pc = *number;
	frame->image = names->place;
	frame->is_exact = true;
	return true;
}
