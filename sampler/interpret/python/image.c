/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads what the file of an interpreter tells: its version, and offsets. */
#include "sampler/interpret/python/python.h"

#include "sampler/interpret/python/symbols.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	VERSION_3_11 = 0x030b,
	VERSION_3_12 = 0x030c,
	VERSION_3_13 = 0x030d,
	VERSION_3_14 = 0x030e,
	VERSION_3_15 = 0x030f, /* PY_VERSION_HEX >> 16 */
	MOST_OFFSET = 1 << 20,
	MOST_OFFSETS = 103, /* words of _Py_DebugOffsets that are read */
};

/* enum _frameowner: frames from here on are no function's, but mark where C code has called the loop. */
enum { OWNED_BY_CSTACK = 3, OWNED_BY_INTERPRETER = 3 };

/*
 * The versions that do not tell their offsets. Made by offsetof() and sizeof() in a program over Include/internal of
 * each (Py_BUILD_CORE), on an LP64 machine.
 */
static const struct python_image offsets_3_11 = {
	.read = { .first_interpreter = 40,
		.next_interpreter = 0,
		.first_thread = 16,
		.next_thread = 8,
		.native_thread_id = 160,
		.frame = 56,
		.frame_in_cframe = 8,
		.has_cframe = 1,
		.outer_in_cframe = 16,
		.code = 32,
		.previous = 48,
		.instruction = 56,
		.instructions = 184 },
	.type = 8,
	.qualname = 128,
	.filename = 112,
	.first_line = 72,
	.line_table = 136,
	.argument_count = 56,
	.flags = 48,
	.unicode_state = 32,
	.unicode_length = 16,
	.unicode_ascii = 48,
	.unicode_compact = 72,
	.bytes_size = 16,
	.bytes_data = 32,
	.unicode_kind_bit = 2,
};

static const struct python_image offsets_3_12 = {
	.read = { .first_interpreter = 40,
		.next_interpreter = 0,
		.first_thread = 72,
		.next_thread = 8,
		.native_thread_id = 144,
		.frame = 56,
		.frame_in_cframe = 0,
		.has_cframe = 1,
		.code = 0,
		.previous = 8,
		.instruction = 56,
		.mark = 70,
		.shim_mark = OWNED_BY_CSTACK,
		.instructions = 192 },
	.type = 8,
	.qualname = 128,
	.filename = 112,
	.first_line = 68,
	.line_table = 136,
	.argument_count = 52,
	.flags = 48,
	.unicode_state = 32,
	.unicode_length = 16,
	.unicode_ascii = 40,
	.unicode_compact = 56,
	.bytes_size = 16,
	.bytes_data = 32,
	.unicode_kind_bit = 2,
};

/* ---- The offsets that later versions tell ---- */

/*
 * The beginnings of the structures of _Py_DebugOffsets (Include/internal/pycore_debug_offsets.h), in words of 8 bytes.
 * Each begins with a size, and the members that are read have the same places in them in all versions, but one.
 */
struct debug_layout {
	uint32_t version; /* the first one */
	size_t runtime, interpreter, thread, frame, code, object, bytes, unicode;
	size_t native_thread_id; /* of `thread` */
	/* Offset of generators and coroutines, since they are told; and how one that awaits another one is. */
	size_t generator;
	uint32_t awaiting_state, awaited_below;
};

static const struct debug_layout layouts[] = {
	{ VERSION_3_13, 3, 6, 19, 28, 34, 44, 64, 67, 6, 0, 0, 0 },
	{ VERSION_3_14, 3, 6, 22, 31, 39, 50, 74, 77, 6, 83, 0xff, 8 },
	{ VERSION_3_15, 3, 6, 22, 39, 47, 58, 86, 89, 9, 99, 2, 16 },
};

/* The words of a file, of which those that are offsets are checked as they are taken. */
struct debug_offsets {
	uint64_t words[MOST_OFFSETS];
	bool is_damaged;
};

/* The member `index` of the structure that begins at `start`: `bytes` of it lie within the structure. */
static uint32_t take_offset(struct debug_offsets *offsets, size_t start, size_t index, uint32_t bytes)
{
	uint64_t size = offsets->words[start], offset = offsets->words[start + index];

	if (size > MOST_OFFSET || !checked_range(offset, bytes, size)) {
		offsets->is_damaged = true;
		return 0;
	}
	return (uint32_t)offset;
}

static void take_frame_offsets(
	struct debug_offsets *offsets, const struct debug_layout *layout, struct ebpf_python *read)
{
	*read = (struct ebpf_python){
		.first_interpreter = take_offset(offsets, layout->runtime, 2, 8),
		.next_interpreter = take_offset(offsets, layout->interpreter, 2, 8),
		.first_thread = take_offset(offsets, layout->interpreter, 3, 8),
		.next_thread = take_offset(offsets, layout->thread, 2, 8),
		.frame = take_offset(offsets, layout->thread, 4, 8),
		.native_thread_id = take_offset(offsets, layout->thread, layout->native_thread_id, 8),
		.previous = take_offset(offsets, layout->frame, 1, 8),
		.code = take_offset(offsets, layout->frame, 2, 8),
		.instruction = take_offset(offsets, layout->frame, 3, 8),
		.mark = take_offset(offsets, layout->frame, 5, 1),
		.shim_mark = layout->version == VERSION_3_13 ? OWNED_BY_CSTACK : OWNED_BY_INTERPRETER,
		.instructions = take_offset(offsets, layout->code, 9, 1),
	};
}

static void take_coroutine_offsets(
	struct debug_offsets *offsets, const struct debug_layout *layout, struct ebpf_python *read)
{
	read->coroutine_frame = take_offset(offsets, layout->generator, 2, 8);
	read->coroutine_state = take_offset(offsets, layout->generator, 3, 1);
	read->stack_pointer = take_offset(offsets, layout->frame, 6, 8);
	read->awaiting_state = layout->awaiting_state;
	read->awaited_below = layout->awaited_below;
}

/*
 * `co_flags` stands before `co_argcount`, and the data of a string that is not ASCII behind two words more than that of
 * one that is: neither is told. Without the GIL `interned` is a byte of its own from 3.14 on.
 */
static void take_object_offsets(
	struct debug_offsets *offsets, const struct debug_layout *layout, struct python_image *python)
{
	python->type = take_offset(offsets, layout->object, 1, 8);
	python->filename = take_offset(offsets, layout->code, 1, 8);
	python->qualname = take_offset(offsets, layout->code, 3, 8);
	python->line_table = take_offset(offsets, layout->code, 4, 8);
	python->first_line = take_offset(offsets, layout->code, 5, 4);
	python->argument_count = take_offset(offsets, layout->code, 6, 4);
	python->flags = python->argument_count - 4;
	python->bytes_size = take_offset(offsets, layout->bytes, 1, 8);
	python->bytes_data = take_offset(offsets, layout->bytes, 2, 1);
	python->unicode_state = take_offset(offsets, layout->unicode, 1, 4);
	python->unicode_length = take_offset(offsets, layout->unicode, 2, 8);
	python->unicode_ascii = (uint32_t)offsets->words[layout->unicode + 3];
	python->unicode_compact = python->unicode_ascii + 2 * (uint32_t)sizeof(uint64_t);
	python->unicode_kind_bit = layout->version > VERSION_3_13 && python->is_free_threaded ? 8 : 2;
	if (python->argument_count < 4 || offsets->words[layout->unicode + 3] > MOST_OFFSET)
		offsets->is_damaged = true;
}

/* False: the offsets are not those of an interpreter. */
static bool read_debug_offsets(struct debug_offsets *offsets, struct python_image *python)
{
	const struct debug_layout *layout = &layouts[(python->version >> 16) - VERSION_3_13];

	python->is_free_threaded = offsets->words[2] != 0;
	take_frame_offsets(offsets, layout, &python->read);
	take_object_offsets(offsets, layout, python);
	if (layout->generator)
		take_coroutine_offsets(offsets, layout, &python->read);
	if (layout->version > VERSION_3_13 && python->is_free_threaded) {
		python->read.copy_index = take_offset(offsets, layout->frame, 7, 4);
		python->read.copies = take_offset(offsets, layout->code, 10, 8);
	}
	return !offsets->is_damaged;
}

/* ---- Versions ---- */

static bool has_debug_offsets(struct elf_image *elf, uint64_t runtime, struct debug_offsets *offsets)
{
	size_t size;
	const uint8_t *bytes = elf_image_bytes_at(elf, runtime, &size);

	if (!bytes || size < sizeof(offsets->words) || memcmp(bytes, "xdebugpy", 8) != 0)
		return false;
	memcpy(offsets->words, bytes, sizeof(offsets->words));
	return true;
}

/* PY_VERSION_HEX, which files have since 3.11; 0: it is not told. */
static uint32_t read_version(struct elf_image *elf, const struct python_symbols *symbols)
{
	uint32_t version = 0;
	size_t size;
	const uint8_t *bytes = symbols->version ? elf_image_bytes_at(elf, symbols->version, &size) : NULL;

	if (bytes && size >= sizeof(version))
		memcpy(&version, bytes, sizeof(version));
	return version;
}

/* Finds the offsets of a version. False, with `why`: they are not known. */
static bool read_offsets(
	struct elf_image *elf, const struct python_symbols *symbols, struct python_image *python, struct error *why)
{
	struct debug_offsets offsets = { 0 };
	bool are_told = has_debug_offsets(elf, symbols->runtime, &offsets);
	uint32_t version = are_told ? (uint32_t)offsets.words[1] : read_version(elf, symbols);

	if (version >> 16 == VERSION_3_11 && !are_told)
		*python = offsets_3_11;
	else if (version >> 16 == VERSION_3_12 && !are_told)
		*python = offsets_3_12;
	python->version = version;
	python->runtime = symbols->runtime;
	python->text_type = version >> 16 >= VERSION_3_14 ? symbols->text_type : 0;
	switch (version >> 16) {
	case VERSION_3_11:
	case VERSION_3_12:
		return !are_told || error_set(why, ERROR_FORMAT, "the offsets that it tells are damaged");
	case VERSION_3_13:
	case VERSION_3_14:
	case VERSION_3_15:
		return (are_told && read_debug_offsets(&offsets, python)) ||
		       error_set(why, ERROR_FORMAT, "the offsets that it tells are damaged");
	default:
		break;
	}
	if (version >> 16 < VERSION_3_11)
		return error_set(why, ERROR_UNSUPPORTED,
			"it is older than CPython 3.11; use 3.11 to 3.15, or 3.12 or later with -X perf");
	return error_set(why, ERROR_UNSUPPORTED, "CPython %" PRIu32 ".%" PRIu32 " is not known, 3.11 to 3.15 are",
		version >> 24, version >> 16 & 0xff);
}

/* ---- Images ---- */

bool python_image_read(struct elf_image *elf, struct python_image **python, struct error *why, struct error *err)
{
	struct python_symbols symbols;
	struct python_image made = { 0 };

	*python = NULL;
	if (!python_symbols_read(elf, &symbols) || !read_offsets(elf, &symbols, &made, why))
		return true;
	made.read.qualname = made.qualname;
	made.read.filename = made.filename;
	made.read.line_table = made.line_table;
	made.read.type = made.type;
	*python = malloc(sizeof(made));
	if (!*python)
		return error_set_memory(err);
	**python = made;
	return true;
}

void python_image_destroy(struct python_image *python)
{
	free(python);
}
