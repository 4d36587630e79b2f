/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/dwarf/abbrev.h"

#include "symbolize/dwarf/read.h"

#include <dwarf.h>
#include <stdlib.h>

/* Compilers write some hundred abbreviations for a unit, and some thousand where units are optimised together. */
enum { MAX_ABBREVS = 1 << 16, MAX_ATTRIBUTES = 1 << 20 };

static enum dwarf_role role_of(uint64_t tag)
{
	switch (tag) {
	case DW_TAG_subprogram:
		return DWARF_ROLE_FUNCTION;
	case DW_TAG_inlined_subroutine:
		return DWARF_ROLE_INLINED;
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_with_stmt:
	case DW_TAG_entry_point:
		return DWARF_ROLE_BLOCK;
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_common_block:
		return DWARF_ROLE_SCOPE;
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_interface_type:
		return DWARF_ROLE_TYPE;
	default:
		return DWARF_ROLE_OTHER;
	}
}

/* The size of a form that has one size in all units; -1 for other forms. */
static int constant_size_of(uint16_t form)
{
	switch (form) {
	case DW_FORM_flag_present:
	case DW_FORM_implicit_const:
		return 0;
	case DW_FORM_data1:
	case DW_FORM_ref1:
	case DW_FORM_flag:
	case DW_FORM_strx1:
	case DW_FORM_addrx1:
		return 1;
	case DW_FORM_data2:
	case DW_FORM_ref2:
	case DW_FORM_strx2:
	case DW_FORM_addrx2:
		return 2;
	case DW_FORM_strx3:
	case DW_FORM_addrx3:
		return 3;
	case DW_FORM_data4:
	case DW_FORM_ref4:
	case DW_FORM_ref_sup4:
	case DW_FORM_strx4:
	case DW_FORM_addrx4:
		return 4;
	case DW_FORM_data8:
	case DW_FORM_ref8:
	case DW_FORM_ref_sig8:
	case DW_FORM_ref_sup8:
		return 8;
	case DW_FORM_data16:
		return 16;
	default:
		return -1;
	}
}

/* The size of a form that depends on the unit; -1 for other forms. */
static int unit_size_of(uint16_t form, const struct dwarf_format *format)
{
	switch (form) {
	case DW_FORM_addr:
		return format->address_size;
	case DW_FORM_ref_addr:
		return format->version <= 2 ? format->address_size : format->offset_size;
	case DW_FORM_strp:
	case DW_FORM_line_strp:
	case DW_FORM_strp_sup:
	case DW_FORM_sec_offset:
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_GNU_strp_alt:
		return format->offset_size;
	default:
		return -1;
	}
}

static bool is_leb128(uint16_t form)
{
	switch (form) {
	case DW_FORM_sdata:
	case DW_FORM_udata:
	case DW_FORM_ref_udata:
	case DW_FORM_strx:
	case DW_FORM_addrx:
	case DW_FORM_loclistx:
	case DW_FORM_rnglistx:
	case DW_FORM_GNU_addr_index:
	case DW_FORM_GNU_str_index:
		return true;
	default:
		return false;
	}
}

bool dwarf_form_skip(uint16_t form, const struct dwarf_format *format, struct dwarf_skip *skip)
{
	int size = constant_size_of(form);

	if (size < 0)
		size = unit_size_of(form, format);
	*skip = (struct dwarf_skip){ .kind = DWARF_SKIP_BYTES, .size = size > 0 ? (uint32_t)size : 0 };
	if (size >= 0)
		return true;
	skip->kind = DWARF_SKIP_LEB128;
	if (is_leb128(form))
		return true;
	switch (form) {
	case DW_FORM_string:
		skip->kind = DWARF_SKIP_STRING;
		return true;
	case DW_FORM_block:
	case DW_FORM_exprloc:
		skip->kind = DWARF_SKIP_BLOCK;
		return true;
	case DW_FORM_block1:
	case DW_FORM_block2:
	case DW_FORM_block4:
		skip->kind = DWARF_SKIP_BLOCK;
		skip->size = form == DW_FORM_block1 ? 1 : form == DW_FORM_block2 ? 2 : 4;
		return true;
	case DW_FORM_indirect:
		skip->kind = DWARF_SKIP_INDIRECT;
		return true;
	default:
		return false;
	}
}

static void skip_indirect(const struct dwarf_format *format, struct byte_reader *r)
{
	uint64_t form = byte_reader_uleb128(r);
	struct dwarf_skip skip;

	/* An indirect form of an indirect form could nest forever. */
	if (form > UINT16_MAX || !dwarf_form_skip((uint16_t)form, format, &skip) || skip.kind == DWARF_SKIP_INDIRECT) {
		r->failed = true;
		return;
	}
	dwarf_skip_run(&skip, format, r);
}

void dwarf_skip_run(const struct dwarf_skip *skip, const struct dwarf_format *format, struct byte_reader *r)
{
	switch (skip->kind) {
	case DWARF_SKIP_BYTES:
		dwarf_read_skip(r, skip->size);
		break;
	case DWARF_SKIP_LEB128:
		dwarf_read_skip_leb128(r);
		break;
	case DWARF_SKIP_STRING:
		byte_reader_string(r, NULL);
		break;
	case DWARF_SKIP_BLOCK:
		dwarf_read_skip(r, skip->size ? dwarf_read_fixed(r, skip->size) : dwarf_read_uleb128(r));
		break;
	case DWARF_SKIP_INDIRECT:
		skip_indirect(format, r);
		break;
	}
}

static enum dwarf_slot abbrev_slot_of(const struct dwarf_attribute *attribute)
{
	switch (attribute->name) {
	case DW_AT_low_pc:
		return DWARF_SLOT_LOW;
	case DW_AT_high_pc:
		return DWARF_SLOT_HIGH;
	case DW_AT_ranges:
		return DWARF_SLOT_RANGES;
	case DW_AT_sibling:
		return DWARF_SLOT_SIBLING;
	default:
		return DWARF_SLOT_NONE;
	}
}

/* Returns whether a step can fetch a value of the form, because the number there is the value. */
static bool can_fetch(const struct dwarf_attribute *attribute, const struct dwarf_skip *step)
{
	switch (attribute->form) {
	case DW_FORM_ref1:
	case DW_FORM_ref2:
	case DW_FORM_ref4:
	case DW_FORM_ref8:
	case DW_FORM_ref_udata:
		return true;
	case DW_FORM_sdata:
		return false;
	default:
		return attribute->name != DW_AT_sibling &&
		       (step->kind == DWARF_SKIP_LEB128 ||
			       (step->kind == DWARF_SKIP_BYTES && step->size > 0 && step->size <= 8));
	}
}

/* Each slot is filled once, by the first attribute of the name. */
static void choose_slot(const struct dwarf_abbrevs *abbrevs, struct dwarf_abbrev *abbrev,
	const struct dwarf_attribute *attribute, struct dwarf_skip *step)
{
	enum dwarf_slot slot = abbrev_slot_of(attribute);

	step->form = attribute->form;
	if (slot == DWARF_SLOT_NONE)
		return;
	for (uint32_t i = 0; i < abbrev->step_count; i++)
		if (abbrevs->steps[abbrev->first_step + i].slot == slot)
			return;
	if (can_fetch(attribute, step))
		step->slot = slot;
	else
		abbrev->is_odd |= slot != DWARF_SLOT_SIBLING;
}

/* Joins neighbouring steps of fixed size into one; a fetched value keeps its own step. */
static bool abbrev_add_step(
	struct dwarf_abbrevs *abbrevs, struct dwarf_abbrev *abbrev, const struct dwarf_skip *step, struct error *err)
{
	struct dwarf_skip *last = abbrev->step_count ? &abbrevs->steps[abbrevs->step_count - 1] : NULL;

	if (step->kind == DWARF_SKIP_BYTES && step->size == 0)
		return true;
	if (last && !last->slot && !step->slot && last->kind == DWARF_SKIP_BYTES && step->kind == DWARF_SKIP_BYTES) {
		last->size += step->size;
		return true;
	}
	if (!ARRAY_APPEND(&abbrevs->steps, &abbrevs->step_capacity, &abbrevs->step_count, MAX_ATTRIBUTES, err, *step))
		return false;
	abbrev->step_count++;
	return true;
}

/* Reads attributes. A form of unknown size fails the reader. */
static bool abbrev_read_attributes(struct dwarf_abbrevs *abbrevs, struct byte_reader *r,
	const struct dwarf_format *format, struct dwarf_abbrev *abbrev, struct error *err)
{
	for (;;) {
		uint64_t name = dwarf_read_uleb128(r), form = dwarf_read_uleb128(r);
		struct dwarf_attribute attribute = { .name = (uint16_t)name, .form = (uint16_t)form };
		struct dwarf_skip step;

		if (form == DW_FORM_implicit_const)
			attribute.constant = byte_reader_sleb128(r);
		if (!byte_reader_ok(r) || (name == 0 && form == 0))
			return true;
		if (abbrevs->attribute_count == MAX_ATTRIBUTES || name > UINT16_MAX || form > UINT16_MAX ||
			!dwarf_form_skip(attribute.form, format, &step)) {
			r->failed = true;
			return true;
		}
		abbrev->has_code |= name == DW_AT_low_pc || name == DW_AT_ranges;
		choose_slot(abbrevs, abbrev, &attribute, &step);
		if (!ARRAY_APPEND(&abbrevs->attributes, &abbrevs->attribute_capacity, &abbrevs->attribute_count,
			    MAX_ATTRIBUTES, err, attribute))
			return false;
		abbrev->attribute_count++;
		if (!abbrev_add_step(abbrevs, abbrev, &step, err))
			return false;
	}
}

static int compare_codes(const void *left, const void *right)
{
	const struct dwarf_abbrev *a = left, *b = right;

	return ORDER(a->code, b->code);
}

bool dwarf_abbrevs_init(struct dwarf_abbrevs *abbrevs, struct byte_reader r, const struct dwarf_format *format,
	uint64_t until, struct error *err)
{
	size_t start = byte_reader_offset(&r);
	bool is_sorted = true;

	*abbrevs = (struct dwarf_abbrevs){ 0 };
	while (abbrevs->count < MAX_ABBREVS) {
		struct dwarf_abbrev abbrev = { .code = dwarf_read_uleb128(&r) };
		uint64_t tag = dwarf_read_uleb128(&r);

		abbrev.tag = (uint16_t)tag;
		abbrev.role = role_of(tag);
		abbrev.has_children = byte_reader_u8(&r) != 0;
		abbrev.first_attribute = (uint32_t)abbrevs->attribute_count;
		abbrev.first_step = (uint32_t)abbrevs->step_count;
		if (!byte_reader_ok(&r) || abbrev.code == 0)
			break;
		if (!abbrev_read_attributes(abbrevs, &r, format, &abbrev, err) ||
			!ARRAY_RESERVE(&abbrevs->items, &abbrevs->capacity, abbrevs->count + 1, MAX_ABBREVS, err)) {
			dwarf_abbrevs_deinit(abbrevs);
			return false;
		}
		if (!byte_reader_ok(&r))
			break;
		is_sorted &= abbrevs->count == 0 || abbrevs->items[abbrevs->count - 1].code < abbrev.code;
		abbrevs->items[abbrevs->count++] = abbrev;
		if (abbrev.code == until)
			break;
	}
	abbrevs->bytes = byte_reader_offset(&r) - start;
	if (!is_sorted)
		qsort(abbrevs->items, abbrevs->count, sizeof(*abbrevs->items), compare_codes);
	return true;
}

void dwarf_abbrevs_deinit(struct dwarf_abbrevs *abbrevs)
{
	free(abbrevs->items);
	free(abbrevs->attributes);
	free(abbrevs->steps);
	*abbrevs = (struct dwarf_abbrevs){ 0 };
}

const struct dwarf_abbrev *dwarf_abbrevs_search(const struct dwarf_abbrevs *abbrevs, uint64_t code)
{
	const struct dwarf_abbrev key = { .code = code };

	return abbrevs->count ? bsearch(&key, abbrevs->items, abbrevs->count, sizeof(key), compare_codes) : NULL;
}
