/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/fuzz/mutate_section.h"

#include <dwarf.h>
#include <elf.h>
#include <string.h>

enum { LENGTH = sizeof(uint32_t), MOST_GROWTH = 16, VARINT_BYTES = 10 };

/* ---- Sequences of lengths and bytes: units of DWARF, entries of .eh_frame ---- */

/* More or fewer bytes somewhere, or another number; the first bytes, a header, are changed as rarely as any other. */
static void change_body(struct mutation *m, struct byte_reader body, struct buffer *out)
{
	size_t size = byte_reader_left(&body), at = mutation_below(m, size + 1), start = out->size, count;

	switch (mutation_below(m, 4)) {
	case 0:
		count = mutation_below(m, size - at + 1 < MOST_GROWTH ? size - at + 1 : MOST_GROWTH);
		buffer_append(out, body.pos, at);
		buffer_append(out, body.pos + at + count, size - at - count);
		return;
	case 1:
		count = mutation_below(m, at + 1 < MOST_GROWTH ? at + 1 : MOST_GROWTH);
		buffer_append(out, body.pos, at);
		buffer_append(out, body.pos + at - count, size - at + count);
		return;
	default:
		buffer_append(out, body.pos, size);
		if (!out->failed && at < size)
			mutation_in_place(m, (uint8_t *)out->data + start + at, size - at);
	}
}

static size_t count_units(struct byte_reader r)
{
	size_t count = 0;

	for (; byte_reader_left(&r) >= LENGTH && byte_reader_ok(&r); count++)
		byte_reader_skip(&r, byte_reader_u32(&r));
	return count;
}

static void put_unit(struct buffer *out, const void *body, size_t size)
{
	uint32_t length = (uint32_t)size;

	buffer_append(out, &length, sizeof(length));
	buffer_append(out, body, size);
}

static void mutate_units(struct mutation *m, const struct mutation_span *section, struct buffer *out)
{
	struct byte_reader r = byte_reader_over(section->bytes, section->size);
	size_t chosen = mutation_below(m, count_units(r)), change = mutation_below(m, 16);

	for (size_t i = 0; byte_reader_left(&r) >= LENGTH; i++) {
		size_t size = byte_reader_u32(&r);
		struct byte_reader body;
		struct buffer changed;

		size = size < byte_reader_left(&r) ? size : byte_reader_left(&r);
		body = byte_reader_split(&r, size);
		buffer_init(&changed, section->size + MOST_GROWTH);
		if (i == chosen && size > 0 && change > 0)
			change_body(m, body, &changed);
		else
			buffer_append(&changed, body.start, size);
		put_unit(out, changed.data, changed.size);
		if (i == chosen && change == 0)
			put_unit(out, changed.data, changed.size);
		buffer_deinit(&changed);
	}
}

/* ---- .debug_abbrev ---- */

static void put_varint(struct buffer *out, uint64_t value)
{
	if (buffer_reserve(out, VARINT_BYTES))
		buffer_append_varint(out, value);
}

static const uint8_t forms[] = { DW_FORM_addr, DW_FORM_block1, DW_FORM_data1, DW_FORM_data2, DW_FORM_data4,
	DW_FORM_data8, DW_FORM_string, DW_FORM_strp, DW_FORM_udata, DW_FORM_sdata, DW_FORM_ref4, DW_FORM_ref_addr,
	DW_FORM_indirect, DW_FORM_sec_offset, DW_FORM_exprloc, DW_FORM_flag_present, DW_FORM_strx, DW_FORM_addrx,
	DW_FORM_line_strp, DW_FORM_implicit_const, DW_FORM_rnglistx, DW_FORM_strx1, DW_FORM_addrx1 };
static const uint8_t names[] = { DW_AT_sibling, DW_AT_name, DW_AT_low_pc, DW_AT_high_pc, DW_AT_ranges, DW_AT_call_file,
	DW_AT_call_line, DW_AT_abstract_origin, DW_AT_specification, DW_AT_decl_file, DW_AT_entry_pc,
	DW_AT_linkage_name, DW_AT_str_offsets_base, DW_AT_addr_base, DW_AT_rnglists_base };

/* The attributes of a declaration, numbered from `at` on, one of which may become another. Returns the next number. */
static size_t put_attributes(struct mutation *m, struct byte_reader *r, size_t chosen, size_t at, struct buffer *out)
{
	uint64_t name, form;

	do {
		name = byte_reader_uleb128(r);
		form = byte_reader_uleb128(r);
		if (at++ == chosen && name != 0) {
			if (mutation_below(m, 2))
				form = forms[mutation_below(m, sizeof(forms))];
			else
				name = names[mutation_below(m, sizeof(names))];
		}
		put_varint(out, name);
		put_varint(out, form);
		if (form == DW_FORM_implicit_const)
			put_varint(out, byte_reader_uleb128(r));
	} while (byte_reader_ok(r) && (name != 0 || form != 0));
	return at;
}

static size_t walk_declarations(struct mutation *m, struct byte_reader r, size_t chosen, struct buffer *out)
{
	size_t at = 0;

	while (byte_reader_left(&r) > 0 && byte_reader_ok(&r)) {
		uint64_t code = byte_reader_uleb128(&r);

		put_varint(out, code);
		if (code == 0)
			continue;
		put_varint(out, byte_reader_uleb128(&r));
		buffer_append_byte(out, byte_reader_u8(&r) ^ (uint8_t)(mutation_below(m, 256) == 0));
		at = put_attributes(m, &r, chosen, at, out);
	}
	return at;
}

static void mutate_abbreviations(struct mutation *m, const struct mutation_span *section, struct buffer *out)
{
	struct byte_reader r = byte_reader_over(section->bytes, section->size);
	size_t start = out->size, count = walk_declarations(m, r, SIZE_MAX, out);

	out->size = start;
	walk_declarations(m, r, mutation_below(m, count), out);
}

/* ---- Others ---- */

static void mutate_numbers(struct mutation *m, const struct mutation_span *section, struct buffer *out)
{
	size_t start = out->size;

	buffer_append(out, section->bytes, section->size);
	if (!out->failed && section->size > 0)
		mutation_in_place(m, (uint8_t *)out->data + start, section->size);
}

/* Strings are cut, joined and changed, but the last one ends. */
static void mutate_strings(struct mutation *m, const struct mutation_span *section, struct buffer *out)
{
	size_t start = out->size;

	buffer_append(out, section->bytes, section->size);
	if (!out->failed && section->size > 2)
		out->data[start + 1 + mutation_below(m, section->size - 2)] =
			mutation_below(m, 4) ? (char)mutation_random(m) : '\0';
}

/* A note's type, or what it describes, or how long that is. */
static void mutate_notes(struct mutation *m, const struct mutation_span *section, struct buffer *out)
{
	size_t start = out->size;
	Elf64_Nhdr note;

	buffer_append(out, section->bytes, section->size);
	if (out->failed || section->size <= sizeof(note))
		return;
	memcpy(&note, section->bytes, sizeof(note));
	if (mutation_below(m, 2))
		mutation_in_place(m, (uint8_t *)out->data + start + sizeof(note), section->size - sizeof(note));
	else if (mutation_below(m, 2))
		note.n_type = (Elf64_Word)mutation_number(m, note.n_type);
	else
		note.n_descsz = (Elf64_Word)mutation_below(m, (size_t)note.n_descsz + 1);
	memcpy(out->data + start, &note, sizeof(note));
}

typedef void mutate_contents(struct mutation *m, const struct mutation_span *section, struct buffer *out);

static mutate_contents *contents_of(const char *name)
{
	static const struct {
		const char *name; /* its start */
		mutate_contents *mutate;
	} known[] = {
		{ ".debug_abbrev", mutate_abbreviations },
		{ ".debug_line_str", mutate_strings },
		{ ".debug_str_offsets", mutate_units },
		{ ".debug_str", mutate_strings },
		{ ".debug_ranges", mutate_numbers },
		{ ".debug_loc", mutate_numbers },
		{ ".debug_", mutate_units },
		{ ".eh_frame_hdr", mutate_numbers },
		{ ".eh_frame", mutate_units },
		{ ".strtab", mutate_strings },
		{ ".dynstr", mutate_strings },
		{ ".note", mutate_notes },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strncmp(name, known[i].name, strlen(known[i].name)) == 0)
			return known[i].mutate;
	return mutate_numbers;
}

void mutate_section(struct mutation *m, const char *name, const struct mutation_span *section, struct buffer *out)
{
	if (mutation_below(m, 16) == 0)
		mutation_append_blind(section, MOST_GROWTH, out);
	else
		contents_of(name)(m, section, out);
}

/* ---- Sections without a file ---- */

static size_t choose_section(struct mutation *m, const struct mutation_span *spans, size_t count)
{
	size_t chosen = 0, seen = 0;

	for (size_t i = 0; i < count; i++)
		if (spans[i].size > 0 && mutation_below(m, ++seen) == 0)
			chosen = i;
	return chosen;
}

void mutate_elf_around(struct mutation *m, const struct elf_around_section *sections, size_t count,
	const struct mutation_span *input, struct buffer *out)
{
	struct byte_reader r = byte_reader_over(input->bytes, input->size),
			   sizes = byte_reader_split(&r, count * sizeof(uint16_t));
	struct mutation_span spans[ELF_AROUND_MOST];
	struct buffer changed;
	size_t chosen;

	if (!byte_reader_ok(&r))
		return;
	for (size_t i = 0; i < count; i++) {
		spans[i].size = byte_reader_u16(&sizes);
		if (spans[i].size > byte_reader_left(&r))
			spans[i].size = byte_reader_left(&r);
		spans[i].bytes = byte_reader_bytes(&r, spans[i].size);
	}
	chosen = choose_section(m, spans, count);
	buffer_init(&changed, UINT16_MAX);
	mutate_section(m, sections[chosen].name, &spans[chosen], &changed);
	spans[chosen] = (struct mutation_span){ (const uint8_t *)changed.data, changed.size };
	for (size_t i = 0; i < count; i++)
		buffer_append(out, &(uint16_t){ (uint16_t)spans[i].size }, sizeof(uint16_t));
	for (size_t i = 0; i < count; i++)
		buffer_append(out, spans[i].bytes, spans[i].size);
	buffer_deinit(&changed);
}
