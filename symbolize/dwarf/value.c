/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads values of attributes by their forms, and entries with those that are wanted. */
#include "symbolize/dwarf/read.h"
#include "symbolize/dwarf/unit.h"

#include <dwarf.h>

enum { FREE_ATTRIBUTES = 64 };

struct dwarf_format dwarf_unit_format(const struct dwarf_unit *unit)
{
	return (struct dwarf_format){ unit->address_size, unit->offset_size, unit->version };
}

struct byte_reader dwarf_unit_reader(const struct dwarf_unit *unit, uint64_t offset)
{
	struct byte_reader r = byte_reader_over(unit->file->sections[DWARF_SECTION_INFO].bytes, unit->end);

	byte_reader_seek(&r, offset);
	return r;
}

/* Values that nothing asks for (blocks) are skipped and keep the number 0. */
static void value_read_form(const struct dwarf_format *format, struct byte_reader *r,
	const struct dwarf_attribute *attribute, struct dwarf_value *value)
{
	struct dwarf_skip skip;

	value->form = attribute->form;
	if (value->form == DW_FORM_indirect) {
		uint64_t form = byte_reader_uleb128(r);

		value->form = form > UINT16_MAX || form == DW_FORM_indirect ? 0 : (uint16_t)form;
	}
	if (!dwarf_form_skip(value->form, format, &skip)) {
		r->failed = true;
		return;
	}
	switch (value->form) {
	case DW_FORM_implicit_const:
		value->number = (uint64_t)attribute->constant;
		return;
	case DW_FORM_flag_present:
		value->number = 1;
		return;
	case DW_FORM_sdata:
		value->number = (uint64_t)byte_reader_sleb128(r);
		return;
	case DW_FORM_string:
		value->string = byte_reader_string(r, NULL);
		return;
	default:
		break;
	}
	if (skip.kind == DWARF_SKIP_LEB128)
		value->number = dwarf_read_uleb128(r);
	else if (skip.kind == DWARF_SKIP_BYTES && skip.size <= 8)
		value->number = dwarf_read_fixed(r, skip.size);
	else
		dwarf_skip_run(&skip, format, r);
}

bool dwarf_value_read(const struct dwarf_unit *unit, struct byte_reader *r, const struct dwarf_attribute *attribute,
	struct dwarf_value *value)
{
	const struct dwarf_format format = dwarf_unit_format(unit);

	*value = (struct dwarf_value){ 0 };
	value_read_form(&format, r, attribute, value);
	return byte_reader_ok(r);
}

static struct dwarf_value *value_slot_of(struct dwarf_die *die, uint16_t name)
{
	switch (name) {
	case DW_AT_low_pc:
		return &die->low_pc;
	case DW_AT_high_pc:
		return &die->high_pc;
	case DW_AT_ranges:
		return &die->ranges;
	case DW_AT_sibling:
		return &die->sibling;
	case DW_AT_abstract_origin:
		return &die->abstract_origin;
	case DW_AT_specification:
		return &die->specification;
	case DW_AT_name:
		return &die->name;
	case DW_AT_linkage_name:
	case DW_AT_MIPS_linkage_name:
		return &die->linkage_name;
	case DW_AT_decl_file:
		return &die->decl_file;
	case DW_AT_decl_line:
		return &die->decl_line;
	case DW_AT_call_file:
		return &die->call_file;
	case DW_AT_call_line:
		return &die->call_line;
	default:
		return NULL;
	}
}

bool dwarf_die_read(
	const struct dwarf_unit *unit, struct byte_reader *r, const struct dwarf_abbrev *abbrev, struct dwarf_die *die)
{
	const struct dwarf_format format = dwarf_unit_format(unit);

	*die = (struct dwarf_die){ .abbrev = abbrev };
	/* Values may have no bytes, so an entry of one byte can have thousands. */
	if (abbrev->attribute_count > FREE_ATTRIBUTES &&
		!dwarf_file_spend(unit->file, DWARF_SECTION_INFO, abbrev->attribute_count))
		return false;
	for (uint32_t i = 0; i < abbrev->attribute_count; i++) {
		const struct dwarf_attribute *attribute = &unit->abbrevs->attributes[abbrev->first_attribute + i];
		struct dwarf_value value = { 0 }, *slot = value_slot_of(die, attribute->name);

		value_read_form(&format, r, attribute, &value);
		if (slot)
			*slot = value;
	}
	die->after = byte_reader_offset(r);
	return byte_reader_ok(r);
}

bool dwarf_die_at(const struct dwarf_unit *unit, uint64_t offset, struct dwarf_die *die)
{
	struct byte_reader r = dwarf_unit_reader(unit, offset);
	const struct dwarf_abbrev *abbrev = dwarf_abbrevs_find(unit->abbrevs, byte_reader_uleb128(&r));

	if (!abbrev || !dwarf_die_read(unit, &r, abbrev, die))
		return false;
	die->offset = offset;
	return true;
}

void dwarf_die_skip(const struct dwarf_unit *unit, struct byte_reader *r, const struct dwarf_abbrev *abbrev)
{
	const struct dwarf_format format = dwarf_unit_format(unit);

	for (uint32_t i = 0; i < abbrev->step_count; i++)
		dwarf_skip_run(&unit->abbrevs->steps[abbrev->first_step + i], &format, r);
}

void dwarf_die_scan(const struct dwarf_unit *unit, struct byte_reader *r, const struct dwarf_abbrev *abbrev,
	struct dwarf_scan *scan)
{
	const struct dwarf_skip *step = &unit->abbrevs->steps[abbrev->first_step], *end = step + abbrev->step_count;

	for (size_t i = 0; i < DWARF_SLOT_COUNT; i++)
		scan->forms[i] = 0;
	for (; step < end; step++) {
		if (step->slot) {
			scan->forms[step->slot] = step->form;
			scan->numbers[step->slot] = step->kind == DWARF_SKIP_BYTES ? dwarf_read_fixed(r, step->size)
										   : dwarf_read_uleb128(r);
		} else if (step->kind == DWARF_SKIP_BYTES) {
			dwarf_read_skip(r, step->size);
		} else if (step->kind == DWARF_SKIP_LEB128) {
			dwarf_read_skip_leb128(r);
		} else {
			const struct dwarf_format format = dwarf_unit_format(unit);

			dwarf_skip_run(step, &format, r);
		}
	}
}

uint64_t dwarf_scan_sibling(const struct dwarf_unit *unit, const struct byte_reader *r, const struct dwarf_scan *scan)
{
	uint64_t sibling;

	/* One that does not lead forwards would be walked for ever. */
	if (!scan->forms[DWARF_SLOT_SIBLING] || !byte_reader_ok(r) ||
		!checked_add(unit->offset, scan->numbers[DWARF_SLOT_SIBLING], &sibling))
		return 0;
	return sibling > byte_reader_offset(r) && sibling <= unit->end ? sibling : 0;
}

uint64_t dwarf_die_sibling(const struct dwarf_unit *unit, struct byte_reader *r, const struct dwarf_abbrev *abbrev)
{
	struct dwarf_scan scan;

	dwarf_die_scan(unit, r, abbrev, &scan);
	return dwarf_scan_sibling(unit, r, &scan);
}

void dwarf_die_skip_tree(const struct dwarf_unit *unit, struct byte_reader *r, const struct dwarf_abbrev *abbrev)
{
	uint64_t depth = 0;

	do {
		if (abbrev) {
			uint64_t sibling = dwarf_die_sibling(unit, r, abbrev);

			if (abbrev->has_children && sibling)
				byte_reader_seek(r, sibling);
			else if (abbrev->has_children)
				depth++;
		} else {
			depth--;
		}
		if (depth > 0) {
			uint64_t code = dwarf_read_uleb128(r);

			abbrev = dwarf_abbrevs_find(unit->abbrevs, code);
			if (code != 0 && !abbrev)
				r->failed = true;
		}
	} while (depth > 0 && byte_reader_ok(r));
}

/* Entry `index` of a table of `size`-byte numbers at `base`. */
static bool indexed(struct byte_reader r, uint64_t base, uint64_t index, uint8_t size, uint64_t *number)
{
	uint64_t offset;

	if (!checked_mul(index, size, &offset) || !checked_add(base, offset, &offset))
		return false;
	byte_reader_seek(&r, offset);
	*number = byte_reader_uint(&r, size);
	return byte_reader_ok(&r);
}

/* The addresses of a split unit stand in the file of its skeleton. */
bool dwarf_unit_indexed_address(const struct dwarf_unit *unit, uint64_t index, uint64_t *address)
{
	const struct dwarf_unit *holder = unit->skeleton ? unit->skeleton : unit;

	return indexed(dwarf_file_reader(holder->file, DWARF_SECTION_ADDR), holder->addr_base, index,
		unit->address_size, address);
}

bool dwarf_value_address(const struct dwarf_unit *unit, const struct dwarf_value *value, uint64_t *address)
{
	switch (value->form) {
	case DW_FORM_addr:
		*address = value->number;
		return true;
	case DW_FORM_addrx:
	case DW_FORM_addrx1:
	case DW_FORM_addrx2:
	case DW_FORM_addrx3:
	case DW_FORM_addrx4:
	case DW_FORM_GNU_addr_index:
		return dwarf_unit_indexed_address(unit, value->number, address);
	default:
		return false;
	}
}

const char *dwarf_value_string(const struct dwarf_unit *unit, const struct dwarf_value *value)
{
	uint64_t offset;

	switch (value->form) {
	case DW_FORM_string:
		return value->string;
	case DW_FORM_strp:
		return dwarf_file_string(unit->file, DWARF_SECTION_STR, value->number);
	case DW_FORM_line_strp:
		return dwarf_file_string(unit->file, DWARF_SECTION_LINE_STR, value->number);
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_strp_alt:
		return unit->file->alt ? dwarf_file_string(unit->file->alt, DWARF_SECTION_STR, value->number) : NULL;
	case DW_FORM_strx:
	case DW_FORM_strx1:
	case DW_FORM_strx2:
	case DW_FORM_strx3:
	case DW_FORM_strx4:
	case DW_FORM_GNU_str_index:
		if (!indexed(dwarf_file_reader(unit->file, DWARF_SECTION_STR_OFFSETS), unit->str_offsets_base,
			    value->number, unit->offset_size, &offset))
			return NULL;
		return dwarf_file_string(unit->file, DWARF_SECTION_STR, offset);
	default:
		return NULL;
	}
}

uint32_t dwarf_value_small(const struct dwarf_value *value)
{
	switch (value->form) {
	case DW_FORM_data1:
	case DW_FORM_data2:
	case DW_FORM_data4:
	case DW_FORM_data8:
	case DW_FORM_udata:
	case DW_FORM_sdata:
	case DW_FORM_implicit_const:
		return value->number <= UINT32_MAX ? (uint32_t)value->number : 0;
	default:
		return 0;
	}
}

bool dwarf_value_reference(
	struct dwarf_unit *unit, const struct dwarf_value *value, struct dwarf_unit **target, uint64_t *offset)
{
	switch (value->form) {
	case DW_FORM_ref1:
	case DW_FORM_ref2:
	case DW_FORM_ref4:
	case DW_FORM_ref8:
	case DW_FORM_ref_udata:
		*target = unit;
		return checked_add(unit->offset, value->number, offset) && *offset >= unit->first_die &&
		       *offset < unit->end;
	case DW_FORM_ref_addr:
		*target = dwarf_file_unit_at(unit->file, value->number);
		break;
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_ref_sup4:
	case DW_FORM_ref_sup8:
		*target = unit->file->alt ? dwarf_file_unit_at(unit->file->alt, value->number) : NULL;
		break;
	default:
		return false;
	}
	*offset = value->number;
	return *target != NULL;
}
