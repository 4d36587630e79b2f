/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/interpret/v8/known.h"

#include "sampler/interpret/kind.h"
#include "sampler/unwind/walk.h"

#include <stdlib.h>

enum {
	MOST_ITEMS = 1 << 18, /* of each kind; with more, all that is known of the process is forgotten */
	READS_A_SECOND = 20000,
	REGEXP_WORDS = 96,  /* of the stack, from the frame of a regular expression upwards, which hold its object */
	LISTING_SHARE = 50, /* one part in so many of the time is given to asking scripts for their functions */
};

static const uint64_t check_ns = 1000000000;
static const uint64_t least_wait_ns = 50000000, most_wait_ns = 10000000000;

/* ---- Creation ---- */

static void init_known(struct v8_known *known)
{
	v8_scripts_init(&known->scripts);
	hash_map_init(&known->by_shared, sizeof(uint64_t));
	hash_map_init(&known->by_bytecode, sizeof(uint64_t));
	hash_map_init(&known->by_place, sizeof(struct v8_frame_place));
	hash_map_init(&known->listed.by_bytecode, sizeof(uint64_t));
	hash_map_init(&known->by_positions, sizeof(uint64_t));
}

static void deinit_known(struct v8_known *known)
{
	for (size_t i = 0; i < known->function_count; i++) {
		free(known->functions[i].name);
		free(known->functions[i].path);
	}
	free(known->functions);
	free(known->bytecodes);
	free(known->codes);
	free(known->listed.items);
	v8_scripts_deinit(&known->scripts);
	v8_known_deinit_positions(known);
	hash_map_deinit(&known->by_shared);
	hash_map_deinit(&known->by_bytecode);
	hash_map_deinit(&known->by_place);
	hash_map_deinit(&known->listed.by_bytecode);
}

bool v8_known_create(int32_t pid, struct v8_known **known, struct error *err)
{
	struct v8_known *made = calloc(1, sizeof(*made));

	if (!made)
		return error_set_memory(err);
	made->heap.pid = made->giver.pid = pid;
	init_known(made);
	*known = made;
	return true;
}

void v8_known_destroy(struct v8_known *known)
{
	if (!known)
		return;
	deinit_known(known);
	free(known);
}

static void forget_known(struct v8_known *known)
{
	const struct v8_heap heap = {
		.table = known->heap.table, .pid = known->heap.pid, .reads_left = known->heap.reads_left
	};
	const struct v8_known kept = { .giver = known->giver, .second_ns = known->second_ns, .heap = heap };

	deinit_known(known);
	*known = kept;
	init_known(known);
}

static bool is_fresh(const struct v8_known *known, uint64_t checked_ns)
{
	return known->now_ns - checked_ns < check_ns;
}

/*
 * Returns whether the process cannot be asked. What is known of one that has ended, or whose memory does not arrive in
 * time, is as good as it was.
 */
static bool is_mute(struct v8_known *known)
{
	if (known->unreadable_ns != known->now_ns && !v8_is_readable(&known->heap))
		known->unreadable_ns = known->now_ns;
	return known->unreadable_ns == known->now_ns;
}

/* ---- Functions ---- */

static bool set_function(struct v8_known *known, struct v8_known_function *function, uint64_t shared, struct error *err)
{
	bool is_same = function->name && strcmp(function->name, known->read.name) == 0;
	char *name, *path;

	function->checked_ns = known->now_ns;
	function->script = known->read.script;
	if (is_same)
		return true;
	name = strdup(known->read.name);
	path = strdup(known->read.path);
	if (!name || !path) {
		free(name);
		free(path);
		return error_set_memory(err);
	}
	free(function->name);
	free(function->path);
	*function = (struct v8_known_function){ shared, known->now_ns, known->read.script, name, path, known->read.line,
		{ PROFILE_NONE, PROFILE_NONE, PROFILE_NONE, PROFILE_NONE, PROFILE_NONE } };
	return true;
}

/* Adds what was read last as the function of a SharedFunctionInfo, or in place of another that had its address. */
static bool known_add_function(struct v8_known *known, uint64_t shared, uint32_t *id, struct error *err)
{
	uint32_t *value;
	bool added;

	if (!ARRAY_RESERVE(&known->functions, &known->function_capacity, known->function_count + 1,
		    MOST_ITEMS + UNWIND_MAX_FRAMES, err) ||
		!hash_map_add(&known->by_shared, &shared, (uint32_t)known->function_count, &value, &added, err))
		return false;
	if (added)
		known->functions[known->function_count++] = (struct v8_known_function){ 0 };
	*id = *value;
	return set_function(known, &known->functions[*id], shared, err);
}

bool v8_known_by_shared(struct v8_known *known, uint64_t shared, uint32_t *id, struct error *err)
{
	uint32_t old = hash_map_get(&known->by_shared, &shared);
	bool found;

	*id = old;
	if (old != HASH_MAP_NONE && is_fresh(known, known->functions[old].checked_ns))
		return true;
	if (!v8_read_function(&known->heap, &known->scripts, shared, &known->read, &found, err))
		return false;
	if (found)
		return known_add_function(known, shared, id, err);
	if (old != HASH_MAP_NONE && !is_mute(known))
		*id = PROFILE_NONE;
	return true;
}

/* ---- The functions that scripts list ---- */

static bool known_list_functions(struct v8_known *known, struct error *err)
{
	struct v8_known_list *listed = &known->listed;

	listed->count = 0;
	hash_map_deinit(&listed->by_bytecode);
	hash_map_init(&listed->by_bytecode, sizeof(uint64_t));
	for (size_t i = 0; i < known->scripts.count; i++)
		if (!v8_list_functions(&known->heap, known->scripts.items[i].tagged, MOST_ITEMS, &listed->items,
			    &listed->count, &listed->capacity, err))
			return false;
	for (size_t i = 0; i < listed->count; i++) {
		uint32_t *value;
		bool added;

		if (!hash_map_add(&listed->by_bytecode, &listed->items[i].bytecode, (uint32_t)i, &value, &added, err))
			return false;
	}
	return true;
}

static uint64_t find_listed(const struct v8_known *known, uint64_t bytecode)
{
	uint32_t id = hash_map_get(&known->listed.by_bytecode, &bytecode);

	return id == HASH_MAP_NONE ? 0 : known->listed.items[id].shared;
}

/*
 * Finds a function by its bytecode in the scripts that are known, for one whose JSFunction was moved before it could be
 * read. They are asked as often as a small share of the time allows, and less often while that is of no use.
 */
static bool list_shared(struct v8_known *known, uint64_t bytecode, uint64_t *shared, struct error *err)
{
	struct v8_known_list *listed = &known->listed;
	uint64_t start, taken;

	*shared = find_listed(known, bytecode);
	if (*shared || known->now_ns < listed->next_ns || known->scripts.count == 0)
		return true;
	start = (uint64_t)clock_read_ns(CLOCK_MONOTONIC);
	if (!known_list_functions(known, err))
		return false;
	taken = ((uint64_t)clock_read_ns(CLOCK_MONOTONIC) - start) * LISTING_SHARE;
	*shared = find_listed(known, bytecode);
	if (*shared || listed->wait_ns == 0)
		listed->wait_ns = least_wait_ns;
	else if (listed->wait_ns < most_wait_ns)
		listed->wait_ns *= 2;
	listed->next_ns = known->now_ns + (taken > listed->wait_ns ? taken : listed->wait_ns);
	return true;
}

/* ---- Bytecode ---- */

static bool add_bytecode(struct v8_known *known, uint64_t tagged, uint64_t data, uint32_t function, struct error *err)
{
	uint32_t *value;
	bool added;

	if (!ARRAY_RESERVE(&known->bytecodes, &known->bytecode_capacity, known->bytecode_count + 1,
		    MOST_ITEMS + UNWIND_MAX_FRAMES, err) ||
		!hash_map_add(&known->by_bytecode, &tagged, (uint32_t)known->bytecode_count, &value, &added, err))
		return false;
	known->bytecode_count += added;
	v8_known_forget_positions(known, tagged);
	known->bytecodes[*value] = (struct v8_known_bytecode){ tagged, known->now_ns, data, function, true };
	return true;
}

/*
 * Finds the SharedFunctionInfo that has a bytecode, other than that which had it: that of the JSFunction, else that
 * which a script lists; 0: neither has it.
 */
static bool find_shared(struct v8_known *known, uint64_t bytecode, uint64_t js_function, uint64_t *shared,
	uint64_t *data, struct error *err)
{
	*shared = js_function ? v8_shared_of(&known->heap, js_function) : 0;
	if (*shared && v8_bytecode_of(&known->heap, *shared, data) == bytecode)
		return true;
	if (!list_shared(known, bytecode, shared, err))
		return false;
	if (*shared && v8_bytecode_of(&known->heap, *shared, data) != bytecode)
		*shared = 0;
	return true;
}

/* Returns whether what is known of a bytecode still holds. */
static bool is_still(struct v8_known *known, struct v8_known_bytecode *old)
{
	old->is_used = true;
	if (is_fresh(known, old->checked_ns) || known->unreadable_ns == known->now_ns)
		return true;
	if (v8_bytecode_of(&known->heap, known->functions[old->function].shared, &old->data) != old->tagged)
		return is_mute(known);
	old->checked_ns = known->now_ns;
	return true;
}

bool v8_known_by_bytecode(
	struct v8_known *known, uint64_t bytecode, uint64_t js_function, uint32_t *function, struct error *err)
{
	uint32_t id = hash_map_get(&known->by_bytecode, &bytecode);
	uint64_t shared, data;

	if (id != HASH_MAP_NONE && is_still(known, &known->bytecodes[id])) {
		*function = known->bytecodes[id].function;
		return true;
	}
	*function = PROFILE_NONE;
	if (!bytecode)
		return true;
	if (!find_shared(known, bytecode, js_function, &shared, &data, err))
		return false;
	return !shared || (v8_known_by_shared(known, shared, function, err) &&
				  (*function == PROFILE_NONE || add_bytecode(known, bytecode, data, *function, err)));
}

/* ---- Code ---- */

static bool known_is_same_code(const struct v8_code *a, const struct v8_code *b)
{
	return a->end == b->end && a->tier == b->tier && a->shared == b->shared && a->bytecode == b->bytecode;
}

/* Adds code in place of all that it overlaps. */
static bool known_add_code(
	struct v8_known *known, const struct v8_code *found, struct v8_known_code **code, struct error *err)
{
	size_t first, last;

	if (!ARRAY_RESERVE(
		    &known->codes, &known->code_capacity, known->code_count + 1, MOST_ITEMS + UNWIND_MAX_FRAMES, err))
		return false;
	last = ARRAY_COUNT_UP_TO(known->codes, known->code_count, start, found->end - 1);
	first = last;
	while (first > 0 && known->codes[first - 1].is.end > found->start)
		first--;
	memmove(&known->codes[first + 1], &known->codes[last], (known->code_count - last) * sizeof(*known->codes));
	known->code_count += 1 + first - last;
	*code = &known->codes[first];
	v8_known_forget_positions(known, found->described);
	**code = (struct v8_known_code){ found->start, *found, known->now_ns, PROFILE_NONE, true };
	return true;
}

/* Finds the code at an address. What is not V8's is a range of its own, so that it is not searched for again soon. */
static bool known_find_code(struct v8_known *known, uint64_t address, struct v8_known_code **code, struct error *err)
{
	size_t before = ARRAY_COUNT_UP_TO(known->codes, known->code_count, start, address);
	struct v8_code found;

	if (before > 0 && known->codes[before - 1].is.end > address) {
		*code = &known->codes[before - 1];
		(*code)->is_used = true;
		if (is_fresh(known, (*code)->checked_ns) || known->unreadable_ns == known->now_ns)
			return true;
		if ((*code)->is.stream && v8_read_code(&known->heap, (*code)->is.stream, &found) &&
			known_is_same_code(&(*code)->is, &found)) {
			(*code)->checked_ns = known->now_ns;
			return true;
		}
		if (is_mute(known))
			return true;
	}
	if (!v8_find_code(&known->heap, address, &found))
		found = (struct v8_code){ .start = address, .end = address + 1, .tier = V8_NO_FUNCTION };
	return known_add_code(known, &found, code, err);
}

/* ---- Looking again ---- */

static void check_bytecodes(struct v8_known *known)
{
	struct v8_checked checked[V8_CHECKED_TOGETHER];
	struct v8_known_bytecode *of[V8_CHECKED_TOGETHER];
	size_t count = 0;

	for (size_t i = 0; i <= known->bytecode_count; i++) {
		if (count == V8_CHECKED_TOGETHER || i == known->bytecode_count) {
			v8_check_functions(&known->heap, checked, count);
			for (; count > 0; count--)
				if (checked[count - 1].is_same)
					of[count - 1]->checked_ns = known->now_ns;
		}
		if (i == known->bytecode_count || !known->bytecodes[i].is_used)
			continue;
		of[count] = &known->bytecodes[i];
		of[count]->is_used = false;
		checked[count] = (struct v8_checked){ .shared = known->functions[of[count]->function].shared,
			.data = of[count]->data };
		count++;
	}
}

static void check_codes(struct v8_known *known)
{
	struct v8_checked_code checked[V8_CHECKED_TOGETHER / 2];
	struct v8_known_code *of[V8_CHECKED_TOGETHER / 2];
	size_t count = 0;

	for (size_t i = 0; i <= known->code_count; i++) {
		if (count == V8_CHECKED_TOGETHER / 2 || i == known->code_count) {
			v8_check_code(&known->heap, checked, count);
			for (; count > 0; count--)
				if (checked[count - 1].is_same)
					of[count - 1]->checked_ns = known->now_ns;
		}
		if (i == known->code_count || !known->codes[i].is_used || !known->codes[i].is.stream)
			continue;
		of[count] = &known->codes[i];
		of[count]->is_used = false;
		checked[count] = (struct v8_checked_code){ .code = &known->codes[i].is };
		count++;
	}
}

/* Checks together what was used, before it is too old: what has changed is then read anew when it is met. */
static void known_check_used(struct v8_known *known)
{
	if (known->now_ns - known->checked_ns < check_ns / 2)
		return;
	known->checked_ns = known->now_ns;
	known->scripts.epoch = known->now_ns;
	check_bytecodes(known);
	check_codes(known);
}

/* ---- Whose code it is ---- */

/* Finds a regular expression; `shared` of its function is its code. */
static bool find_regexp(struct v8_known *known, const struct v8_code *code, const struct v8_frame *frame,
	uint32_t *function, struct error *err)
{
	uint64_t words[REGEXP_WORDS];
	struct buffer name;
	size_t count = 0;
	bool is_kept = true;

	while (count < REGEXP_WORDS &&
		walk_read(frame->dump, frame->stack_pointer + count * sizeof(*words), &words[count]))
		count++;
	buffer_init(&name, sizeof(known->read.name) - 1);
	if (v8_append_regexp(&known->heap, code, words, count, &name)) {
		is_kept = buffer_ok(&name, err);
		if (is_kept) {
			memcpy(known->read.name, name.data ? name.data : "", name.size + 1);
			known->read.path = "";
			known->read.line = 0;
			known->read.script = 0;
			is_kept = known_add_function(known, code->described, function, err);
		}
	}
	buffer_deinit(&name);
	return is_kept;
}

static bool known_find_owner(struct v8_known *known, const struct v8_code *code, const struct v8_frame *frame,
	uint32_t *function, struct error *err)
{
	if (code->tier == V8_REGEXP)
		return find_regexp(known, code, frame, function, err);
	if (code->shared)
		return v8_known_by_shared(known, code->shared, function, err);
	return v8_known_by_bytecode(known, code->bytecode, frame->js_function, function, err);
}

bool v8_known_by_code(struct v8_known *known, const struct v8_frame *frame, struct v8_code *code, uint32_t *function,
	struct error *err)
{
	struct v8_known_code *found;

	if (!known_find_code(known, frame->address, &found, err))
		return false;
	*code = found->is;
	*function = found->function;
	if (code->tier == V8_NO_FUNCTION || *function != PROFILE_NONE)
		return true;
	if (!known_find_owner(known, code, frame, function, err))
		return false;
	found->function = *function;
	return true;
}

void v8_known_begin(
	struct v8_known *known, const struct v8_layout *layout, const struct process_host *host, uint64_t now_ns)
{
	if (known->heap.layout != layout || known->function_count >= MOST_ITEMS ||
		known->bytecode_count >= MOST_ITEMS || known->code_count >= MOST_ITEMS)
		forget_known(known);
	if (known->by_place.count >= MOST_ITEMS) {
		hash_map_deinit(&known->by_place);
		hash_map_init(&known->by_place, sizeof(struct v8_frame_place));
	}
	known->heap.layout = layout;
	known->heap.host = host;
	known->now_ns = now_ns;
	if (known->second_ns == 0 || now_ns - known->second_ns >= check_ns) {
		known->second_ns = now_ns;
		known->heap.reads_left = READS_A_SECOND;
	}
	known_check_used(known);
}
