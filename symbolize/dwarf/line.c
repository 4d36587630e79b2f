/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/dwarf/line.h"

#include "symbolize/addresses.h"
#include "symbolize/dwarf/read.h"
#include "symbolize/dwarf/unit.h"

#include <ctype.h>
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

static const size_t max_files = (size_t)1 << 20;

/* A table that is larger than those of any compiler ends there. */
static bool is_full(const struct dwarf_line_header *header)
{
	return header->directory_count == max_files || header->file_count == max_files;
}

static bool add_directory(struct dwarf_line_header *header, const char *name, struct error *err)
{
	return ARRAY_APPEND(
		&header->directories, &header->directory_capacity, &header->directory_count, max_files, err, name);
}

static bool line_add_file(struct dwarf_line_header *header, const struct dwarf_line_file *file, struct error *err)
{
	return ARRAY_APPEND(&header->files, &header->file_capacity, &header->file_count, max_files, err, *file);
}

/* Reads the tables of versions 2 to 4: strings up to an empty one. */
static bool read_old_tables(struct dwarf_line_header *header, struct byte_reader *r, struct error *err)
{
	const char *name;

	while (!is_full(header) && (name = byte_reader_string(r, NULL)) && name[0])
		if (!add_directory(header, name, err))
			return false;
	while (!is_full(header) && (name = byte_reader_string(r, NULL)) && name[0]) {
		struct dwarf_line_file file = { .name = name, .directory = byte_reader_uleb128(r) };

		byte_reader_uleb128(r); /* time */
		byte_reader_uleb128(r); /* size */
		if (!line_add_file(header, &file, err))
			return false;
	}
	return true;
}

/* DW_LNCT_LLVM_source: what Clang calls the content type of embedded text. */
enum { MAX_ENTRY_FORMATS = 255, EMBEDDED_SOURCE = 0x2001 };

static void take_content(const struct dwarf_unit *unit, const struct dwarf_attribute *format,
	const struct dwarf_value *value, const uint8_t *bytes, struct dwarf_line_file *file)
{
	const char *string;

	switch (format->name) {
	case DW_LNCT_path:
		string = dwarf_value_string(unit, value);
		file->name = string ? string : file->name;
		break;
	case DW_LNCT_directory_index:
		file->directory = value->number;
		break;
	case DW_LNCT_MD5:
		file->md5 = format->form == DW_FORM_data16 ? bytes : NULL;
		break;
	case EMBEDDED_SOURCE:
		/* A file whose text was not there when it was compiled has an empty one. */
		string = dwarf_value_string(unit, value);
		file->source = string && string[0] ? string : NULL;
		break;
	default:
		break;
	}
}

/* Reads a table of version 5, which describes the values of its entries. */
static bool line_read_table(struct dwarf_line_header *header, const struct dwarf_unit *unit, struct byte_reader *r,
	bool directories, struct error *err)
{
	struct dwarf_attribute formats[MAX_ENTRY_FORMATS];
	struct dwarf_unit in_table = *unit; /* a table may be of 32 bits in a unit of 64 */
	uint8_t format_count = byte_reader_u8(r);
	uint64_t count;

	in_table.offset_size = header->offset_size;
	for (uint8_t i = 0; i < format_count; i++) {
		formats[i].name = (uint16_t)byte_reader_uleb128(r);
		formats[i].form = (uint16_t)byte_reader_uleb128(r);
		formats[i].constant = 0;
	}
	count = byte_reader_uleb128(r);
	for (uint64_t entry = 0; entry < count && byte_reader_ok(r) && !is_full(header); entry++) {
		struct dwarf_line_file file = { .name = "" };
		size_t before = byte_reader_offset(r);

		for (uint8_t i = 0; i < format_count; i++) {
			const uint8_t *bytes = r->start + byte_reader_offset(r);
			struct dwarf_value value;

			if (!dwarf_value_read(&in_table, r, &formats[i], &value))
				return true;
			take_content(&in_table, &formats[i], &value, bytes, &file);
		}
		/* Entries of 0 bytes could be as many as a number can express. */
		if (byte_reader_offset(r) == before) {
			r->failed = true;
			return true;
		}
		if (!(directories ? add_directory(header, file.name, err) : line_add_file(header, &file, err)))
			return false;
	}
	return true;
}

static bool line_read_tables(
	struct dwarf_line_header *header, const struct dwarf_unit *unit, struct byte_reader *r, struct error *err)
{
	if (header->version < 5)
		return read_old_tables(header, r, err);
	return line_read_table(header, unit, r, true, err) && line_read_table(header, unit, r, false, err);
}

bool dwarf_line_header_init(struct dwarf_line_header *header, const struct dwarf_unit *unit, struct error *err)
{
	struct byte_reader all = dwarf_file_reader(unit->file, DWARF_SECTION_LINE), r;
	uint64_t length, header_length;
	size_t start;

	*header = (struct dwarf_line_header){ .address_size = unit->address_size };
	byte_reader_seek(&all, unit->line_offset);
	length = dwarf_read_length(&all, &header->offset_size);
	if (!byte_reader_ok(&all) || length > byte_reader_left(&all)) {
		/* Only the first line programs may be present. */
		if (unit->file->is_part && unit->file->sections[DWARF_SECTION_LINE].size > 0)
			atomic_store(&unit->file->is_short, true);
		return true;
	}
	header->end = byte_reader_offset(&all) + length;
	r = byte_reader_over(all.start, header->end);
	byte_reader_seek(&r, byte_reader_offset(&all));
	header->version = byte_reader_u16(&r);
	if (header->version < 2 || header->version > 5)
		return true;
	if (header->version >= 5) {
		header->address_size = byte_reader_u8(&r);
		byte_reader_u8(&r); /* segment selectors */
	}
	header_length = byte_reader_uint(&r, header->offset_size);
	if (header_length <= byte_reader_left(&r))
		header->program = byte_reader_offset(&r) + header_length;
	header->minimum_length = byte_reader_u8(&r);
	if (header->version >= 4)
		byte_reader_u8(&r); /* operations an instruction: of VLIW machines */
	byte_reader_u8(&r);         /* default_is_stmt */
	header->line_base = (int8_t)byte_reader_u8(&r);
	header->line_range = byte_reader_u8(&r);
	header->opcode_base = byte_reader_u8(&r);
	header->opcode_lengths = byte_reader_bytes(&r, header->opcode_base ? (size_t)header->opcode_base - 1 : 0);
	if (!byte_reader_ok(&r) || header->line_range == 0 || header->opcode_base == 0)
		header->program = 0;
	start = byte_reader_offset(&r);
	if (!line_read_tables(header, unit, &r, err))
		return false;
	header->header_bytes = byte_reader_offset(&r) - start;
	return true;
}

void dwarf_line_header_deinit(struct dwarf_line_header *header)
{
	free(header->directories);
	free(header->files);
	*header = (struct dwarf_line_header){ 0 };
}

/* A Windows path such as `C:\src` counts too: compilers for Linux run on Windows. */
static bool is_absolute(const char *path)
{
	bool has_drive = isalpha((unsigned char)path[0]) && path[1] == ':' && (path[2] == '\\' || path[2] == '/');

	return path[0] == '/' || has_drive;
}

static void line_append_part(struct buffer *path, const char *part)
{
	if (part[0] == '\0')
		return;
	if (path->size > 0 && path->data[path->size - 1] != '/')
		buffer_append_byte(path, '/');
	buffer_append_string(path, part);
}

/* Version 5 counts files from 0, and its directory 0 is the unit's; in older versions both count from 1. */
static uint64_t first_number(const struct dwarf_line_header *header)
{
	return header->version >= 5 ? 0 : 1;
}

const struct dwarf_line_file *dwarf_line_file(const struct dwarf_line_header *header, uint64_t index)
{
	uint64_t first = first_number(header);

	return index < first || index - first >= header->file_count ? NULL : &header->files[index - first];
}

bool dwarf_line_path(
	const struct dwarf_line_header *header, const char *unit_directory, uint64_t index, struct buffer *path)
{
	const struct dwarf_line_file *file = dwarf_line_file(header, index);
	uint64_t first = first_number(header);
	const char *directory = "";

	if (!file)
		return false;
	if (file->directory >= first && file->directory - first < header->directory_count)
		directory = header->directories[file->directory - first];
	if (!is_absolute(file->name)) {
		/* Directory 0 of version 5 is the unit's own, even if it is relative. */
		if (!is_absolute(directory) && (header->version < 5 || strcmp(directory, unit_directory) != 0))
			line_append_part(path, unit_directory);
		line_append_part(path, directory);
	}
	line_append_part(path, file->name);
	return path->size > 0;
}

/* ---- The program ---- */

enum { FREE_ADDRESSES = 64 };

/* The registers of the state machine (DWARF 5, 6.2.2), and what is looked for with them. */
struct line_state {
	struct dwarf_file *of;
	const struct dwarf_line_header *header;
	struct byte_reader r;
	uint64_t address, file;
	int64_t line;
	/* The previous row, while a sequence is open. */
	uint64_t row_address, row_file;
	int64_t row_line;
	bool has_row;
	bool is_dead; /* the linker dropped the sequence's code */

	const uint64_t *addresses;
	size_t count, next;    /* the first address not below row_address */
	uint64_t next_address; /* addresses[next]; UINT64_MAX: none is left */
	struct dwarf_line *lines;
	/* The effect of each special opcode (DWARF 5, 6.2.5.1), computed once for a table. */
	uint8_t special_operations[256];
	int16_t special_lines[256];
};

static void start_sequence(struct line_state *s)
{
	s->address = 0;
	s->file = 1;
	s->line = 1;
	s->has_row = false;
	s->is_dead = true; /* until an address is set */
}

static void set_next(struct line_state *s, size_t next)
{
	s->next = next;
	s->next_address = next < s->count ? s->addresses[next] : UINT64_MAX;
}

/* Ends the previous row: it covers addresses up to this one. */
static void close_row(struct line_state *s)
{
	size_t next = s->next, first = next;

	for (; next < s->count && s->addresses[next] < s->address; next++)
		if (!s->lines[next].found)
			s->lines[next] = (struct dwarf_line){ s->row_file,
				s->row_line > 0 && s->row_line <= UINT32_MAX ? (uint32_t)s->row_line : 0, true };
	set_next(s, next);
	/* Rows can go back and forth over all addresses. */
	if (next - first > FREE_ADDRESSES && !dwarf_file_spend(s->of, DWARF_SECTION_LINE, next - first))
		s->r.failed = true;
}

static inline void line_emit_row(struct line_state *s, bool is_end)
{
	if (s->is_dead)
		return;
	if (!s->has_row || s->address < s->row_address)
		set_next(s, addresses_lower_bound(s->addresses, s->count, s->address));
	else if (s->next_address < s->address)
		close_row(s);
	s->row_file = s->file;
	s->row_line = s->line;
	s->row_address = s->address;
	s->has_row = !is_end;
}

static void set_address(struct line_state *s, uint64_t size)
{
	uint64_t address = byte_reader_uint(&s->r, size);
	uint64_t all_ones = size == 4 ? UINT32_MAX : UINT64_MAX;

	s->address = address;
	s->is_dead = address == 0 || address == all_ones || address == all_ones - 1;
}

static void run_extended(struct line_state *s)
{
	uint64_t size = dwarf_read_uleb128(&s->r);
	size_t start = byte_reader_offset(&s->r);
	uint8_t opcode;

	if (!byte_reader_ok(&s->r) || size == 0 || size > byte_reader_left(&s->r)) {
		s->r.failed = true;
		return;
	}
	opcode = byte_reader_u8(&s->r);
	if (opcode == DW_LNE_end_sequence) {
		line_emit_row(s, true);
		start_sequence(s);
	} else if (opcode == DW_LNE_set_address && (size == 5 || size == 9)) {
		set_address(s, size - 1);
	}
	byte_reader_seek(&s->r, start + size);
}

static inline void line_advance(struct line_state *s, uint64_t operations)
{
	s->address += operations * s->header->minimum_length;
}

static void fill_special(struct line_state *s)
{
	for (unsigned int opcode = s->header->opcode_base; opcode < 256; opcode++) {
		unsigned int adjusted = opcode - s->header->opcode_base;

		s->special_operations[opcode] = (uint8_t)(adjusted / s->header->line_range);
		s->special_lines[opcode] = (int16_t)(s->header->line_base + (int)(adjusted % s->header->line_range));
	}
}

static inline void run_special(struct line_state *s, uint8_t opcode)
{
	line_advance(s, s->special_operations[opcode]);
	if (__builtin_add_overflow(s->line, s->special_lines[opcode], &s->line))
		s->line = 0;
	line_emit_row(s, false);
}

static void line_add_line(struct line_state *s, int64_t delta)
{
	if (__builtin_add_overflow(s->line, delta, &s->line))
		s->line = 0;
}

static void run_standard(struct line_state *s, uint8_t opcode)
{
	switch (opcode) {
	case DW_LNS_copy:
		line_emit_row(s, false);
		break;
	case DW_LNS_advance_pc:
		line_advance(s, dwarf_read_uleb128(&s->r));
		break;
	case DW_LNS_advance_line:
		line_add_line(s, dwarf_read_sleb128(&s->r));
		break;
	case DW_LNS_set_file:
		s->file = dwarf_read_uleb128(&s->r);
		break;
	case DW_LNS_const_add_pc:
		line_advance(s, (uint8_t)(255 - s->header->opcode_base) / s->header->line_range);
		break;
	case DW_LNS_fixed_advance_pc:
		s->address += byte_reader_u16(&s->r);
		break;
	default:
		for (uint8_t i = 0; i < s->header->opcode_lengths[opcode - 1]; i++)
			dwarf_read_skip_leb128(&s->r);
		break;
	}
}

void dwarf_line_match(const struct dwarf_line_header *header, const struct dwarf_unit *unit, const uint64_t *addresses,
	size_t count, struct dwarf_line *lines)
{
	struct line_state s = {
		.of = unit->file, .header = header, .addresses = addresses, .count = count, .lines = lines
	};

	/* Many units may name the same program. */
	if (header->program == 0 || !dwarf_file_spend(unit->file, DWARF_SECTION_LINE, header->end - header->program))
		return;
	s.r = byte_reader_over(unit->file->sections[DWARF_SECTION_LINE].bytes, header->end);
	byte_reader_seek(&s.r, header->program);
	fill_special(&s);
	start_sequence(&s);
	while (byte_reader_left(&s.r) > 0 && byte_reader_ok(&s.r)) {
		uint8_t opcode = dwarf_read_u8(&s.r);

		if (opcode >= header->opcode_base)
			run_special(&s, opcode);
		else if (opcode == 0)
			run_extended(&s);
		else
			run_standard(&s, opcode);
	}
}
