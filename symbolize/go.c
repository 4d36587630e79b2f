/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/go.h"

#include "symbolize/name.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAGIC_1_18 = 0xfffffff0,
	MAGIC_1_20 = 0xfffffff1,
	MODULE_TEXT = 22, /* word of runtime.moduledata */
	/* Indexes of a function's tables. */
	PCDATA_INLINE_TREE = 2,
	FUNCDATA_INLINE_TREE = 3,
	MAX_DEPTH = 64,
};

/* The structures that Go 1.20 changed: runtime.moduledata, _func and inlinedCall. */
struct format {
	uint32_t magic;
	uint8_t module_gofunc; /* word of runtime.moduledata */
	uint8_t function_bytes, inlined_call_bytes;
	uint8_t inlined_name, inlined_parent; /* offsets in an inlined call */
	bool has_start_lines;                 /* the last word of an inlined call, and one of a function */
};

static const struct format formats[] = {
	{ MAGIC_1_18, 38, 40, 20, 12, 16, false },
	{ MAGIC_1_20, 40, 44, 16, 4, 8, true },
};

struct go_table {
	struct elf_image *image;
	struct elf_section table;
	const struct format *format;
	uint64_t function_count, text;
	uint64_t names, units, files, values, functions; /* offsets in the table */
	uint64_t gofunc;                                 /* image address of runtime.gofunc; 0: not known */
	uint8_t minimum_length, word;
};

/* One function's record. */
struct function {
	uint64_t at; /* offset in the table */
	uint64_t entry;
	int64_t name, start_line;
	uint32_t file_values, line_values, unit, pcdata_count;
	uint8_t funcdata_count;
};

static struct byte_reader reader_at(const struct go_table *t, uint64_t base, uint64_t offset)
{
	struct byte_reader r = byte_reader_over(t->table.bytes, t->table.size);
	uint64_t at;

	if (checked_add(base, offset, &at))
		byte_reader_seek(&r, at);
	else
		r.failed = true;
	return r;
}

static const char *string_at(const struct go_table *t, uint64_t base, int64_t offset)
{
	struct byte_reader r = reader_at(t, base, (uint64_t)offset);
	size_t size;
	const char *string = offset < 0 ? NULL : byte_reader_string(&r, &size);

	return string && size <= NAME_MAX_BYTES ? string : "";
}

/* ---- Tables of values by address ---- */

/*
 * Reads deltas of values and addresses up to the row that contains `address` (runtime.pcvalue). False if there is none.
 * The table ends with a delta of 0 that is not the first.
 */
static bool symbolize_go_find_value(
	const struct go_table *t, uint32_t offset, uint64_t entry, uint64_t address, int64_t *value)
{
	struct byte_reader r = reader_at(t, t->values, offset);
	uint64_t at = entry;

	*value = -1;
	if (offset == 0)
		return false;
	for (bool first = true; byte_reader_ok(&r); first = false) {
		uint64_t delta = byte_reader_uleb128(&r);

		if (delta == 0 && !first)
			return false;
		if (__builtin_add_overflow(*value, (int64_t)(delta >> 1) ^ -(int64_t)(delta & 1), value))
			return false;
		at += byte_reader_uleb128(&r) * t->minimum_length;
		if (byte_reader_ok(&r) && address < at)
			return true;
	}
	return false;
}

static void symbolize_go_find_position(
	const struct go_table *t, const struct function *function, uint64_t address, struct symbolize_frame *frame)
{
	int64_t file, line;

	frame->file = "";
	if (symbolize_go_find_value(t, function->file_values, function->entry, address, &file) && file >= 0) {
		struct byte_reader r = reader_at(t, t->units, ((uint64_t)function->unit + (uint64_t)file) * 4);
		uint32_t offset = byte_reader_u32(&r);

		if (byte_reader_ok(&r) && offset != UINT32_MAX)
			frame->file = string_at(t, t->files, offset);
	}
	if (symbolize_go_find_value(t, function->line_values, function->entry, address, &line) && line > 0 &&
		line <= UINT32_MAX)
		frame->line = (uint32_t)line;
	/* A position inside a function is in the file that defines the function. */
	frame->decl_file = frame->file;
}

/* ---- Functions ---- */

static uint32_t symbolize_go_entry_of(const struct go_table *t, uint64_t index)
{
	struct byte_reader r = reader_at(t, t->functions, index * 8);

	return byte_reader_u32(&r);
}

static bool symbolize_go_read_function(const struct go_table *t, uint64_t index, struct function *function)
{
	struct byte_reader r = reader_at(t, t->functions, index * 8 + 4);

	function->at = t->functions + byte_reader_u32(&r);
	if (!byte_reader_ok(&r))
		return false;
	r = reader_at(t, function->at, 0);
	function->entry = t->text + byte_reader_u32(&r);
	function->name = (int32_t)byte_reader_u32(&r);
	byte_reader_skip(&r, 12); /* args, deferreturn, pcsp */
	function->file_values = byte_reader_u32(&r);
	function->line_values = byte_reader_u32(&r);
	function->pcdata_count = byte_reader_u32(&r);
	function->unit = byte_reader_u32(&r);
	if (t->format->has_start_lines)
		function->start_line = (int32_t)byte_reader_u32(&r);
	byte_reader_skip(&r, 3); /* id, flag, padding */
	function->funcdata_count = byte_reader_u8(&r);
	return byte_reader_ok(&r);
}

static bool go_find_function(const struct go_table *t, uint64_t address, struct function *function)
{
	uint64_t low, into = address - t->text;

	if (address < t->text || into >= symbolize_go_entry_of(t, t->function_count))
		return false;
	low = BISECT(t->function_count, i, symbolize_go_entry_of(t, i) <= into);
	return low > 0 && symbolize_go_read_function(t, low - 1, function);
}

/* ---- Inlined calls ---- */

struct inlined_call {
	int64_t name, start_line;
	uint64_t parent; /* address of the call in the function around */
};

static void read_inlined(
	const struct format *format, const uint8_t *bytes, const struct function *function, struct inlined_call *call)
{
	struct byte_reader r = byte_reader_over(bytes, format->inlined_call_bytes);

	byte_reader_seek(&r, format->inlined_name);
	call->name = (int32_t)byte_reader_u32(&r);
	byte_reader_seek(&r, format->inlined_parent);
	call->parent = function->entry + byte_reader_u32(&r);
	call->start_line = format->has_start_lines ? (int32_t)byte_reader_u32(&r) : 0;
}

static bool find_inlined(
	const struct go_table *t, const struct function *function, uint64_t address, struct inlined_call *call)
{
	const struct format *format = t->format;
	struct byte_reader r;
	const uint8_t *bytes;
	uint32_t offset, values;
	int64_t index;
	size_t size;

	if (!t->gofunc || function->pcdata_count <= PCDATA_INLINE_TREE ||
		function->funcdata_count <= FUNCDATA_INLINE_TREE)
		return false;
	r = reader_at(t, function->at, format->function_bytes + PCDATA_INLINE_TREE * 4);
	values = byte_reader_u32(&r);
	r = reader_at(t, function->at,
		format->function_bytes + ((uint64_t)function->pcdata_count + FUNCDATA_INLINE_TREE) * 4);
	offset = byte_reader_u32(&r);
	if (!byte_reader_ok(&r) || offset == UINT32_MAX ||
		!symbolize_go_find_value(t, values, function->entry, address, &index) || index < 0)
		return false;
	bytes = elf_image_bytes_at(t->image, t->gofunc + offset, &size);
	if (!bytes || (uint64_t)index >= size / format->inlined_call_bytes)
		return false;
	read_inlined(format, bytes + (uint64_t)index * format->inlined_call_bytes, function, call);
	return true;
}

bool go_table_find(const struct go_table *t, uint64_t address, struct arena *arena, struct symbolize_frames *frames,
	struct error *err)
{
	struct symbolize_frame found[MAX_DEPTH + 1], *kept;
	struct inlined_call call;
	struct function function = { 0 };
	size_t count = 0;

	*frames = (struct symbolize_frames){ 0 };
	if (!go_find_function(t, address, &function))
		return true;
	for (bool is_inlined = true; is_inlined && count <= MAX_DEPTH; count++) {
		struct symbolize_frame *frame = &found[count];
		int64_t line;

		is_inlined = count < MAX_DEPTH && find_inlined(t, &function, address, &call);
		*frame = (struct symbolize_frame){ .linkage_name = "", .source = PROFILE_NAME_GO };
		frame->name = string_at(t, t->names, is_inlined ? call.name : function.name);
		line = is_inlined ? call.start_line : function.start_line;
		frame->decl_line = line > 0 && line <= UINT32_MAX ? (uint32_t)line : 0;
		symbolize_go_find_position(t, &function, address, frame);
		if (is_inlined)
			address = call.parent;
	}
	kept = ARENA_ARRAY(arena, struct symbolize_frame, count);
	if (!kept)
		return error_set_memory(err);
	memcpy(kept, found, count * sizeof(*kept));
	*frames = (struct symbolize_frames){ kept, count };
	return true;
}

/* ---- Finding the table ---- */

static uint64_t go_word_at(const struct go_table *t, const struct elf_section *section, uint64_t offset)
{
	struct byte_reader r = byte_reader_over(section->bytes, section->size);

	byte_reader_seek(&r, offset);
	return byte_reader_uint(&r, t->word);
}

static bool symbolize_go_is_code(const struct go_table *t, uint64_t address)
{
	size_t count;
	const struct elf_segment *segments = elf_image_segments(t->image, &count);

	for (size_t i = 0; i < count; i++)
		if ((segments[i].flags & PF_X) && address >= segments[i].address &&
			address - segments[i].address < segments[i].memory_size)
			return true;
	return false;
}

/* Finds runtime.moduledata, which begins with a pointer to the table; a stripped file has no other reference to it. */
static bool symbolize_go_find_module(struct go_table *t)
{
	static const char *const names[] = { ".go.module", ".noptrdata", ".data", ".data.rel.ro" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct elf_section section;

		if (!elf_image_section(t->image, names[i], &section))
			continue;
		for (uint64_t at = 0; section.size >= t->word && at <= section.size - t->word; at += t->word) {
			uint64_t text;

			if (go_word_at(t, &section, at) != t->table.address)
				continue;
			text = go_word_at(t, &section, at + (uint64_t)MODULE_TEXT * t->word);
			if (!symbolize_go_is_code(t, text))
				continue;
			t->text = text;
			t->gofunc = go_word_at(t, &section, at + (uint64_t)t->format->module_gofunc * t->word);
			return true;
		}
	}
	return t->text != 0 && symbolize_go_is_code(t, t->text);
}

/* Reads the header. Until Go 1.25 it contains the start of code; later only the module does. */
static bool go_read_header(struct go_table *t)
{
	struct byte_reader r = byte_reader_over(t->table.bytes, t->table.size);
	uint32_t magic = byte_reader_u32(&r);

	byte_reader_u16(&r);
	t->minimum_length = byte_reader_u8(&r);
	t->word = byte_reader_u8(&r);
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (formats[i].magic == magic)
			t->format = &formats[i];
	if (!byte_reader_ok(&r) || !t->format || (t->word != 4 && t->word != 8))
		return false;
	t->function_count = byte_reader_uint(&r, t->word);
	byte_reader_uint(&r, t->word); /* files */
	t->text = byte_reader_uint(&r, t->word);
	t->names = byte_reader_uint(&r, t->word);
	t->units = byte_reader_uint(&r, t->word);
	t->files = byte_reader_uint(&r, t->word);
	t->values = byte_reader_uint(&r, t->word);
	t->functions = byte_reader_uint(&r, t->word);
	return byte_reader_ok(&r) && t->functions <= t->table.size &&
	       t->function_count < (t->table.size - t->functions) / 8 && symbolize_go_find_module(t);
}

bool go_table_create(struct elf_image *image, struct go_table **table, struct error *err)
{
	struct go_table made = { .image = image };

	*table = NULL;
	if (!elf_image_section(image, ".gopclntab", &made.table) &&
		!elf_image_section(image, ".data.rel.ro.gopclntab", &made.table))
		return true;
	if (!go_read_header(&made))
		return true;
	*table = malloc(sizeof(made));
	if (!*table)
		return error_set_memory(err);
	**table = made;
	return true;
}

void go_table_destroy(struct go_table *table)
{
	free(table);
}
