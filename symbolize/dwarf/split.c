/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/dwarf/split.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

static struct elf_image *open_dwo(
	const struct dwarf_unit *skeleton, const struct elf_opener *opener, const char *debug_path)
{
	const char *name = strrchr(skeleton->dwo_name, '/'), *slash = strrchr(debug_path, '/');
	struct elf_image *image;
	char path[PATH_MAX];
	struct error ignored;

	if (skeleton->dwo_name[0] == '/')
		snprintf(path, sizeof(path), "%s", skeleton->dwo_name);
	else
		snprintf(path, sizeof(path), "%s/%s", skeleton->directory, skeleton->dwo_name);
	if (elf_image_open_for(opener, ELF_FILE_SPLIT, path, &image, &ignored))
		return image;
	name = name ? name + 1 : skeleton->dwo_name;
	snprintf(path, sizeof(path), "%.*s/%s", slash ? (int)(slash - debug_path) : 1, slash ? debug_path : ".", name);
	return elf_image_open_for(opener, ELF_FILE_SPLIT, path, &image, &ignored) ? image : NULL;
}

/* Finds the unit with the skeleton's id. False if memory runs out. */
static bool dwarf_split_find_unit(struct dwarf_split *split, const struct dwarf_unit *skeleton, struct error *err)
{
	for (size_t i = 0; i < split->file.unit_count; i++) {
		struct dwarf_unit *unit = &split->file.units[i];
		bool is_open;

		unit->skeleton = skeleton;
		if (!dwarf_unit_open(unit, &is_open, err))
			return false;
		if (is_open && !split->unit && unit->dwo_id == skeleton->dwo_id)
			split->unit = unit;
	}
	return true;
}

/* Takes the unit from the package. split->unit stays NULL if the package does not have it. */
static bool take_packaged(struct dwarf_split *split, const struct dwarf_unit *skeleton,
	const struct dwarf_package *package, struct error *err)
{
	struct dwarf_unit *unit = dwarf_package_find(package, skeleton);
	bool is_open;

	if (!unit)
		return true;
	if (!dwarf_unit_open(unit, &is_open, err))
		return false;
	split->unit = is_open ? unit : NULL;
	return true;
}

bool dwarf_split_init(struct dwarf_split *split, const struct dwarf_unit *skeleton, const struct dwarf_package *package,
	const char *debug_path, struct error *err)
{
	*split = (struct dwarf_split){ 0 };
	if (!skeleton->dwo_name[0])
		return true;
	if (!take_packaged(split, skeleton, package, err))
		return false;
	if (split->unit)
		return true;
	split->image = open_dwo(skeleton, package->opener, debug_path);
	if (!split->image)
		return true;
	if (!dwarf_file_init(&split->file, split->image, DWARF_FILE_SPLIT, UINT64_MAX, err)) {
		elf_image_unref(split->image);
		split->image = NULL;
		return false;
	}
	if (!dwarf_split_find_unit(split, skeleton, err)) {
		dwarf_split_deinit(split);
		return false;
	}
	return true;
}

void dwarf_split_deinit(struct dwarf_split *split)
{
	if (!split->image)
		return;
	dwarf_file_deinit(&split->file);
	elf_image_unref(split->image);
	*split = (struct dwarf_split){ 0 };
}
