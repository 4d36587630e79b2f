/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/dwarf/unit.h"

#include <dwarf.h>

/* Attributes that only a root entry has. */
struct root {
	struct dwarf_value directory, lines, addr_base, str_offsets_base, rnglists_base, ranges_base, dwo_name, dwo_id,
		language;
};

static struct dwarf_value *root_slot(struct root *root, uint16_t name)
{
	switch (name) {
	case DW_AT_comp_dir:
		return &root->directory;
	case DW_AT_stmt_list:
		return &root->lines;
	case DW_AT_addr_base:
	case DW_AT_GNU_addr_base:
		return &root->addr_base;
	case DW_AT_str_offsets_base:
		return &root->str_offsets_base;
	case DW_AT_rnglists_base:
		return &root->rnglists_base;
	case DW_AT_GNU_ranges_base:
		return &root->ranges_base;
	case DW_AT_dwo_name:
	case DW_AT_GNU_dwo_name:
		return &root->dwo_name;
	case DW_AT_GNU_dwo_id:
		return &root->dwo_id;
	case DW_AT_language:
		return &root->language;
	default:
		return NULL;
	}
}

/* Reads the entry a second time, attribute by attribute, by the names that only a root has. */
static bool read_root_attributes(
	const struct dwarf_unit *unit, struct byte_reader r, const struct dwarf_abbrev *abbrev, struct root *root)
{
	for (uint32_t i = 0; i < abbrev->attribute_count; i++) {
		const struct dwarf_attribute *attribute = &unit->abbrevs->attributes[abbrev->first_attribute + i];
		struct dwarf_value *slot = root_slot(root, attribute->name);
		struct dwarf_value value;

		if (!dwarf_value_read(unit, &r, attribute, &value))
			return false;
		if (slot)
			*slot = value;
	}
	return true;
}

static const char *known_string(const struct dwarf_unit *unit, const struct dwarf_value *value)
{
	const char *string = dwarf_value_string(unit, value);

	return string ? string : "";
}

/*
 * Sets the bases of tables for a unit without base attributes: directly after the header of a split file's only table.
 */
static void set_default_bases(struct dwarf_unit *unit)
{
	uint64_t header = unit->offset_size == 8 ? 16 : 8;

	if (!unit->file->is_split)
		return;
	unit->str_offsets_base = unit->str_offsets_start;
	unit->rnglists_base = unit->rnglists_start;
	if (unit->version < 5)
		return;
	unit->str_offsets_base += header;
	unit->rnglists_base += header + 4;
}

static void take_root(struct dwarf_unit *unit, const struct dwarf_die *die, const struct root *root)
{
	set_default_bases(unit);
	/* Strings may be indexed, so their base is read first. */
	if (root->str_offsets_base.form)
		unit->str_offsets_base = root->str_offsets_base.number;
	if (root->addr_base.form)
		unit->addr_base = root->addr_base.number;
	if (root->rnglists_base.form)
		unit->rnglists_base = root->rnglists_base.number;
	unit->ranges_base = root->ranges_base.number;
	unit->language = (uint16_t)root->language.number;
	if (root->dwo_id.form)
		unit->dwo_id = root->dwo_id.number;
	unit->directory = known_string(unit, &root->directory);
	unit->name = known_string(unit, &die->name);
	unit->dwo_name = known_string(unit, &root->dwo_name);
	unit->low_value = die->low_pc;
	unit->high_value = die->high_pc;
	unit->ranges_value = die->ranges;
	unit->has_lines = root->lines.form != 0;
	unit->line_offset = root->lines.number;
	if (!dwarf_value_address(unit, &unit->low_value, &unit->low_pc))
		unit->low_pc = 0;
}

static bool read_root(struct dwarf_unit *unit)
{
	struct byte_reader r = dwarf_unit_reader(unit, unit->first_die), again;
	const struct dwarf_abbrev *abbrev = dwarf_abbrevs_find(unit->abbrevs, byte_reader_uleb128(&r));
	struct root root = { 0 };
	struct dwarf_die die;

	again = r;
	if (!abbrev || !dwarf_die_read(unit, &r, abbrev, &die) || !read_root_attributes(unit, again, abbrev, &root))
		return false;
	take_root(unit, &die, &root);
	return true;
}

bool dwarf_unit_read_root(struct dwarf_unit *unit, struct error *err)
{
	const struct dwarf_format format = dwarf_unit_format(unit);
	struct byte_reader r = dwarf_file_reader(unit->file, DWARF_SECTION_ABBREV), root;
	struct dwarf_abbrevs abbrevs;
	bool ok;

	if (!unit->is_readable)
		return error_set(err, ERROR_UNSUPPORTED, "unit of DWARF version %u", unit->version);
	if (dwarf_file_is_spent(unit->file))
		return error_set(err, ERROR_LIMIT, "too much was read");
	root = dwarf_unit_reader(unit, unit->first_die);
	byte_reader_seek(&r, unit->abbrev_offset);
	if (!dwarf_abbrevs_init(&abbrevs, r, &format, byte_reader_uleb128(&root), err))
		return false;
	unit->abbrevs = &abbrevs;
	ok = dwarf_file_spend(unit->file, DWARF_SECTION_INFO, abbrevs.bytes) && read_root(unit);
	unit->abbrevs = NULL;
	dwarf_abbrevs_deinit(&abbrevs);
	return ok || error_set(err, ERROR_FORMAT, "damaged root entry");
}

static bool unit_open_locked(struct dwarf_unit *unit, struct error *err)
{
	if (unit->is_open || !unit->is_readable)
		return true;
	if (!dwarf_shared_abbrevs(unit, &unit->abbrevs, err))
		return false;
	unit->is_readable = unit->abbrevs && read_root(unit);
	if (!unit->is_readable)
		return true;
	if (!dwarf_shared_lines(unit, &unit->lines, err))
		return false;
	unit->is_open = unit->lines != NULL;
	return true;
}

bool dwarf_unit_open(struct dwarf_unit *unit, bool *is_open, struct error *err)
{
	bool ok;

	pthread_mutex_lock(&unit->file->lock);
	ok = unit_open_locked(unit, err);
	*is_open = unit->is_open;
	pthread_mutex_unlock(&unit->file->lock);
	return ok;
}
