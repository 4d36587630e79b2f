/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lines of frames, and the functions that were inlined at them, by tables that are read once. */
#include "sampler/interpret/v8/known.h"

enum { MOST_TABLES = 1 << 17, MOST_POSITIONS = 1 << 21 };

static const uint64_t again_ns = 1000000000;

void v8_known_forget_positions(struct v8_known *known, uint64_t of)
{
	uint32_t id = hash_map_get(&known->by_positions, &of);

	if (id != HASH_MAP_NONE)
		known->positions[id].table = 0;
}

void v8_known_deinit_positions(struct v8_known *known)
{
	for (size_t i = 0; i < known->position_table_count; i++)
		v8_positions_deinit(&known->positions[i].is);
	free(known->positions);
	hash_map_deinit(&known->by_positions);
}

/* Finds what is known of an object's table; `*found` NULL: there are too many. */
static bool v8_lines_find_table(
	struct v8_known *known, uint64_t of, struct v8_known_positions **found, struct error *err)
{
	uint32_t id = hash_map_get(&known->by_positions, &of), *value;
	bool added;

	*found = NULL;
	if (id != HASH_MAP_NONE) {
		*found = &known->positions[id];
		return true;
	}
	if (known->position_table_count >= MOST_TABLES)
		return true;
	if (!ARRAY_RESERVE(
		    &known->positions, &known->position_capacity, known->position_table_count + 1, MOST_TABLES, err) ||
		!hash_map_add(&known->by_positions, &of, (uint32_t)known->position_table_count, &value, &added, err))
		return false;
	*found = &known->positions[known->position_table_count++];
	**found = (struct v8_known_positions){ .of = of };
	return true;
}

/* Takes positions in place of the table's earlier ones, as far as there is room for them in this process. */
static void keep_positions(struct v8_known *known, struct v8_known_positions *table, struct v8_positions *positions)
{
	known->position_count -= table->is.count;
	v8_positions_deinit(&table->is);
	if (positions->count <= MOST_POSITIONS - known->position_count) {
		known->position_count += positions->count;
		table->is = *positions;
	} else {
		v8_positions_deinit(positions);
	}
}

/* Keeps what was read as the table that a word leads to, unless reading ended for the process has been read enough. */
static void v8_lines_settle(
	struct v8_known *known, struct v8_known_positions *table, uint64_t word, struct v8_positions *read)
{
	table->table = known->heap.reads_left > 0 ? word : 0;
	keep_positions(known, table, read);
}

static bool positions_of_bytecode(
	struct v8_known *known, uint64_t bytecode, const struct v8_positions **positions, struct error *err)
{
	struct v8_known_positions *table;
	struct v8_positions read;
	uint64_t word;

	*positions = NULL;
	if (!v8_lines_find_table(known, bytecode, &table, err))
		return false;
	if (!table)
		return true;
	*positions = &table->is;
	if (table->table && known->now_ns - table->checked_ns < again_ns)
		return true;
	/* V8 may have made it since. */
	if (!v8_read(&known->heap, bytecode - 1 + (uint64_t)known->heap.layout->at[V8_BYTECODE_POSITIONS], &word,
		    sizeof(word)))
		return true;
	table->checked_ns = known->now_ns;
	if (word == table->table)
		return true;
	if (!v8_read_positions(&known->heap, word, &read, err))
		return false;
	v8_lines_settle(known, table, word, &read);
	return true;
}

static bool v8_lines_read_code(
	struct v8_known *known, const struct v8_code *code, struct v8_positions *positions, struct error *err)
{
	const struct v8_positions *of_bytecode;

	*positions = (struct v8_positions){ 0 };
	if (code->tier == V8_BASELINE)
		return positions_of_bytecode(known, code->bytecode, &of_bytecode, err) &&
		       (!of_bytecode || v8_read_baseline_positions(&known->heap, code->positions, code->bytecode,
						of_bytecode, positions, err));
	if (v8_read_positions(&known->heap, code->positions, positions, err) &&
		v8_read_inlined(&known->heap, code->data, positions, err))
		return true;
	v8_positions_deinit(positions);
	return false;
}

static bool positions_of_code(struct v8_known *known, const struct v8_code *code, uint32_t *id, struct error *err)
{
	struct v8_known_positions *table;
	struct v8_positions read;

	*id = PROFILE_NONE;
	if (!v8_lines_find_table(known, code->described, &table, err))
		return false;
	if (!table)
		return true;
	*id = (uint32_t)(table - known->positions);
	/* Of baseline code, positions are found as soon as its bytecode has them. */
	if (table->table == code->positions &&
		(table->is.count > 0 || code->tier != V8_BASELINE || known->now_ns - table->checked_ns < again_ns))
		return true;
	if (!v8_lines_read_code(known, code, &read, err))
		return false;
	table = &known->positions[*id];
	table->checked_ns = known->now_ns;
	v8_lines_settle(known, table, code->positions, &read);
	return true;
}

static bool v8_lines_line_of(
	struct v8_known *known, uint32_t function, int32_t position, uint32_t *line, struct error *err)
{
	return v8_find_line(&known->heap, &known->scripts, known->functions[function].script, position, line, err);
}

bool v8_known_bytecode_line(
	struct v8_known *known, uint64_t bytecode, int64_t offset, struct v8_place *place, struct error *err)
{
	const struct v8_positions *positions;
	const struct v8_position *at;

	place->line = 0;
	if (!positions_of_bytecode(known, bytecode, &positions, err))
		return false;
	at = positions && offset >= 0 ? v8_position_at(positions, offset) : NULL;
	return !at || v8_lines_line_of(known, place->function, at->script, &place->line, err);
}

/* Adds the frames of calls that were inlined, up to that of the code itself. False: that cannot be. */
static bool add_places(struct v8_known *known, uint32_t id, const struct v8_position *at,
	struct v8_place places[V8_MOST_PLACES], size_t *count, bool *is_sound, struct error *err)
{
	const struct v8_positions *positions = &known->positions[id].is;
	uint32_t outermost = places[0].function;
	int32_t script = at->script, inlined = at->inlined;

	*is_sound = false;
	for (*count = 0; *count < V8_MOST_PLACES; (*count)++) {
		struct v8_place *place = &places[*count];

		place->function = outermost;
		if (inlined >= 0 &&
			((size_t)inlined >= positions->inlined_count || positions->inlined[inlined].shared == 0))
			return true;
		if (inlined >= 0 &&
			!v8_known_by_shared(known, positions->inlined[inlined].shared, &place->function, err))
			return false;
		if (place->function == PROFILE_NONE)
			return true;
		if (!v8_lines_line_of(known, place->function, script, &place->line, err))
			return false;
		if (inlined < 0) {
			(*count)++;
			*is_sound = true;
			return true;
		}
		script = positions->inlined[inlined].script;
		inlined = positions->inlined[inlined].inlined;
	}
	return true;
}

bool v8_known_places(struct v8_known *known, const struct v8_code *code, uint64_t address,
	struct v8_place places[V8_MOST_PLACES], size_t *count, struct error *err)
{
	uint32_t function = places[0].function, id;
	const struct v8_position *at;
	bool is_sound = false;

	if (!positions_of_code(known, code, &id, err))
		return false;
	at = id == PROFILE_NONE ? NULL : v8_position_at(&known->positions[id].is, (int64_t)(address - code->start));
	if (at && !add_places(known, id, at, places, count, &is_sound, err))
		return false;
	if (is_sound)
		return true;
	places[0] = (struct v8_place){ function, 0 };
	*count = 1;
	return true;
}
