/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Frames of V8 are on the C stack, each with a frame pointer. What is below that names it, and V8's heap, which is read
 * some time after the sample, must confirm it:
 *
 * interpreted  The pc is in the interpreter's entry, in the file or in a copy. The frame has its bytecode, and the
 *              JSFunction whose SharedFunctionInfo leads to that bytecode.
 * baseline     The pc is in a Code object, which has the function's bytecode.
 * optimized    The pc is in a Code object, whose deoptimization data has the SharedFunctionInfo.
 *
 * A JSFunction may have moved by the time that the sample is looked at; it is needed only when its bytecode is met for
 * the first time (sampler/interpret/v8/known.h).
 */
#include "sampler/interpret/kind.h"
#include "sampler/interpret/v8/known.h"
#include "sampler/unwind/walk.h"

#include <stdlib.h>

static const char *const marks[] = { "JS:~", "JS:^", "JS:+", "JS:*", "RegExp:" };

/* ---- Frames ---- */

/* A frame of the stack that is named. */
struct v8_naming {
	struct interpreter_names *names;
	struct v8_known *known;
	const struct unwind_stack_dump *dump;
	struct unwind_frame *frame;
	uint64_t frame_pointer;              /* 0: not known */
	const struct unwind_registers *leaf; /* those of the frame; NULL: it is a caller */
};

enum { MOST_BYTECODE = 1 << 24 };

static bool v8_name_function(
	const struct v8_naming *naming, struct v8_known_function *function, enum v8_tier tier, struct error *err)
{
	CLEANUP(cleanup_free) char *name = NULL;
	struct interpreter_function made = { .file = function->path, .start_line = function->line };

	if (asprintf(&name, "%s%s", marks[tier], function->name) < 0) {
		name = NULL;
		return error_set_memory(err);
	}
	made.name = name;
	return interpreter_names_give(naming->names, &naming->known->giver, &made, &function->ids[tier], err);
}

/* Gives the frame the names and lines of functions, the innermost first. It stays as it is for want of a name. */
static bool v8_set_frame(const struct v8_naming *naming, const struct v8_place *places, size_t count, enum v8_tier tier,
	struct error *err)
{
	struct profile_line lines[V8_MOST_PLACES] = { 0 };

	for (size_t i = 0; i < count; i++) {
		struct v8_known_function *named = &naming->known->functions[places[i].function];

		if (named->ids[tier] == PROFILE_NONE && !v8_name_function(naming, named, tier, err))
			return false;
		if (named->ids[tier] == PROFILE_NONE)
			return true;
		lines[i].function = named->ids[tier];
		lines[i].line = places[i].line;
	}
	return interpreter_names_frame(naming->names, lines, count, naming->frame, err);
}

/* Reads a word below the frame pointer; false: it was not copied. */
static bool v8_read_slot(const struct v8_naming *naming, enum v8_number offset, uint64_t *word)
{
	int64_t at = naming->known->heap.layout->at[offset];

	return naming->frame_pointer != 0 && walk_read(naming->dump, naming->frame_pointer + (uint64_t)at, word);
}

/* The frame's JSFunction, which it has if it has a context; 0: none. */
static uint64_t read_js_function(const struct v8_naming *naming)
{
	uint64_t context, function;

	return v8_read_slot(naming, V8_FRAME_CONTEXT, &context) && v8_is_pointer(context) &&
			       v8_read_slot(naming, V8_FRAME_FUNCTION, &function) && v8_is_pointer(function)
		       ? function
		       : 0;
}

/* Recalls what the frame had when its words were copied. */
static bool recall_interpreted(const struct v8_naming *naming, uint32_t *function)
{
	const struct v8_frame_place place = { naming->frame_pointer, naming->frame->pc };
	uint64_t ignored;

	if (naming->frame_pointer == 0 || v8_read_slot(naming, V8_FRAME_FUNCTION, &ignored))
		return false;
	*function = hash_map_get(&naming->known->by_place, &place);
	return *function != HASH_MAP_NONE;
}

static bool keep_interpreted(const struct v8_naming *naming, uint32_t function, struct error *err)
{
	const struct v8_frame_place place = { naming->frame_pointer, naming->frame->pc };
	uint32_t *value;
	bool added;

	if (!hash_map_add(&naming->known->by_place, &place, function, &value, &added, err))
		return false;
	*value = function;
	return true;
}

/*
 * Returns where a frame is in its bytecode. In the slot is where it was when it called; of the leaf the interpreter's
 * own registers tell it, unless their code has used them for something else: then it has called.
 */
static int64_t bytecode_offset(const struct v8_naming *naming, uint64_t bytecode, uint64_t slot)
{
	const int32_t *at = naming->known->heap.layout->at;
	int64_t header = at[V8_BYTECODE_DATA] - 1;

	if (naming->leaf && naming->leaf->values[at[V8_REGISTER_BYTECODE]] == bytecode &&
		naming->leaf->values[at[V8_REGISTER_OFFSET]] < MOST_BYTECODE)
		return (int64_t)naming->leaf->values[at[V8_REGISTER_OFFSET]] - header;
	return (int64_t)v8_small(slot) - header;
}

static bool v8_name_interpreted(const struct v8_naming *naming, struct error *err)
{
	uint64_t js_function = read_js_function(naming), bytecode, offset;
	struct v8_place place = { 0 };

	if (recall_interpreted(naming, &place.function))
		return v8_set_frame(naming, &place, 1, V8_INTERPRETED, err);
	if (!js_function || !v8_read_slot(naming, V8_FRAME_BYTECODE, &bytecode) || !v8_is_pointer(bytecode) ||
		!v8_read_slot(naming, V8_FRAME_OFFSET, &offset) || !v8_is_small(offset))
		return true;
	if (!v8_known_by_bytecode(naming->known, bytecode, js_function, &place.function, err))
		return false;
	return place.function == PROFILE_NONE ||
	       (keep_interpreted(naming, place.function, err) &&
		       v8_known_bytecode_line(
			       naming->known, bytecode, bytecode_offset(naming, bytecode, offset), &place, err) &&
		       v8_set_frame(naming, &place, 1, V8_INTERPRETED, err));
}

static bool name_compiled(const struct v8_naming *naming, bool *is_named, struct error *err)
{
	const struct v8_frame frame = { unwind_frame_address(naming->frame), read_js_function(naming),
		naming->frame->stack_pointer, naming->dump };
	struct v8_place places[V8_MOST_PLACES] = { 0 };
	struct v8_code code;
	size_t count = 1;

	if (!v8_known_by_code(naming->known, &frame, &code, &places[0].function, err))
		return false;
	*is_named = places[0].function != PROFILE_NONE;
	if (!*is_named)
		return true;
	return (code.tier == V8_REGEXP || v8_known_places(naming->known, &code, frame.address, places, &count, err)) &&
	       v8_set_frame(naming, places, count, code.tier, err);
}

/* ---- Stacks ---- */

/* Returns whether a frame may be V8's: its code is the file's, or made while the program runs. */
static bool v8_is_candidate(const struct v8_naming *naming, const struct process_table *table, bool *is_made)
{
	const struct process_image *image = &table->images[table->places[naming->frame->image].image];

	*is_made = !image->elf && !image->is_file && !image->is_vdso;
	return *is_made || image->elf == naming->known->heap.layout->elf;
}

static bool v8_name_frame(const struct v8_naming *naming, bool is_made, struct error *err)
{
	bool is_named = false;

	if (is_made && !name_compiled(naming, &is_named, err))
		return false;
	return is_named || v8_name_interpreted(naming, err);
}

/* A frame ends where its caller's begins: with the frame pointer of the caller, and the return address. */
static uint64_t v8_frame_pointer_of(const struct unwind_result *result, size_t i)
{
	uint64_t end = i + 1 < result->count ? result->frames[i + 1].stack_pointer : result->caller_stack_pointer;

	return end > 2 * sizeof(uint64_t) ? end - 2 * sizeof(uint64_t) : 0;
}

static bool v8_name(
	void *state, struct interpreter_process *process, const struct interpret_sample *sample, struct error *err)
{
	struct unwind_result *result = &sample->job->result;
	struct v8_naming naming = { .names = state, .dump = &sample->job->dump };
	const struct process_table *table = naming.names->table;

	if (!process->state) {
		if (!v8_known_create(process->pid, &naming.known, err))
			return false;
		process->state = naming.known;
	}
	naming.known = process->state;
	naming.known->heap.table = naming.names->table;
	v8_known_begin(
		naming.known, process->files[0].image, &table->host, (uint64_t)clock_read_ns(CLOCK_MONOTONIC_COARSE));
	for (size_t i = 0; i < result->count; i++) {
		bool is_made;

		naming.frame = &result->frames[i];
		naming.frame_pointer = v8_frame_pointer_of(result, i);
		naming.leaf = i == 0 ? &sample->job->registers : NULL;
		if (v8_is_candidate(&naming, table, &is_made) && !v8_name_frame(&naming, is_made, err))
			return false;
	}
	return true;
}

/* ---- The kind ---- */

/*
 * Returns whether V8 keeps frame pointers in what its compilers make, and in what they made of its own functions when
 * its file was built.
 */
static bool v8_keeps_frame_pointers(const struct interpreter_process *process, const struct elf_image *elf)
{
	const struct v8_layout *layout = process->files[0].image;

	return !elf || elf == layout->elf;
}

static void v8_destroy_process(void *state, struct interpreter_process *process)
{
	(void)state;
	v8_known_destroy(process->state);
	process->state = NULL;
}

const struct interpreter_kind v8_interpreter = {
	.files = { { v8_layout_read, free } },
	.destroy_process = v8_destroy_process,
	.keeps_frame_pointers = v8_keeps_frame_pointers,
	.name = v8_name,
};
