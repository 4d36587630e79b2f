/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/libdw.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct libdw {
	struct elf_image *image; /* borrowed */
	const struct elf_debug_options *options;
	Dwfl *dwfl;
	Dwfl_Module *module;
	Dwarf_Addr bias; /* libdwfl's address = image address + bias */
};

/* The file that Kelvin took its own names from: another choice of the file is no other opinion on it. Nor are servers asked. */
static int find_debug_file(Dwfl_Module *module, void **user, const char *module_name, Dwarf_Addr base, const char *file_name,
	const char *link, GElf_Word crc, char **found_name)
{
	const struct libdw *libdw = *user;
	enum elf_debug_source source;
	struct elf_image *debug;
	int fd;

	(void)module;
	(void)module_name;
	(void)base;
	(void)file_name;
	(void)link;
	(void)crc;
	debug = elf_image_debug(libdw->image, libdw->options, &source, NULL);
	if (debug == libdw->image || elf_image_descriptor(debug) < 0)
		return -1;
	fd = fcntl(elf_image_descriptor(debug), F_DUPFD_CLOEXEC, 0);
	if (fd >= 0)
		*found_name = strdup(elf_image_path(debug));
	return fd;
}

static bool report_module(struct libdw *libdw)
{
	const char *path = elf_image_path(libdw->image);
	int fd = fcntl(elf_image_descriptor(libdw->image), F_DUPFD_CLOEXEC, 0);
	void **user;

	if (fd < 0)
		return false;
	dwfl_report_begin(libdw->dwfl);
	libdw->module = dwfl_report_elf(libdw->dwfl, path, path, fd, 0, true);
	if (!libdw->module) {
		close(fd);
		return false;
	}
	dwfl_module_info(libdw->module, &user, NULL, NULL, NULL, NULL, NULL, NULL);
	*user = libdw;
	dwfl_report_end(libdw->dwfl, NULL, NULL);
	return dwfl_module_getelf(libdw->module, &libdw->bias) != NULL;
}

struct libdw *libdw_open(struct elf_image *image, const struct elf_debug_options *options)
{
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = find_debug_file,
		.section_address = dwfl_offline_section_address,
	};
	struct libdw *made = calloc(1, sizeof(*made));

	if (!made)
		return NULL;
	*made = (struct libdw){ .image = image, .options = options, .dwfl = dwfl_begin(&callbacks) };
	if (made->dwfl && report_module(made))
		return made;
	libdw_close(made);
	return NULL;
}

void libdw_close(struct libdw *libdw)
{
	if (!libdw)
		return;
	if (libdw->dwfl)
		dwfl_end(libdw->dwfl);
	free(libdw);
}

/* ---- Names ---- */

static const char *string_attribute(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;

	return dwarf_formstring(dwarf_attr_integrate(die, name, &attribute));
}

static uint32_t call_line(Dwarf_Die *inlined)
{
	Dwarf_Attribute attribute;
	Dwarf_Word line;

	return dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), &line) == 0 && line <= UINT32_MAX ? (uint32_t)line
														     : 0;
}

/* Where the unit is split, its parts lie in the other file. */
static Dwarf_Die *whole_unit(Dwarf_Die *unit, Dwarf_Die *split)
{
	uint8_t type;

	if (dwarf_cu_info(unit->cu, NULL, &type, NULL, split, NULL, NULL, NULL) == 0 && type == DW_UT_skeleton &&
		dwarf_tag(split) != DW_TAG_invalid)
		return split;
	return unit;
}

/* The innermost scope at the address, with those around it as the file nests them. */
static int find_scopes(Dwarf_Die *unit, Dwarf_Addr address, Dwarf_Die **scopes)
{
	Dwarf_Die *around = NULL, innermost;
	int count = dwarf_getscopes(unit, address, &around);

	if (count <= 0)
		return count;
	innermost = around[0];
	free(around);
	return dwarf_getscopes_die(&innermost, scopes);
}

/* Frames of the scopes; each caller stands at the line of the call. */
static void take_scopes(Dwarf_Die *scopes, int count, struct libdw_frames *out)
{
	uint32_t line = 0;

	for (int i = 0; i < count && out->count < LIBDW_MAX_FRAMES; i++) {
		int tag = dwarf_tag(&scopes[i]);
		const char *linkage;

		if (tag != DW_TAG_subprogram && tag != DW_TAG_inlined_subroutine)
			continue;
		linkage = string_attribute(&scopes[i], DW_AT_linkage_name);
		if (!linkage)
			linkage = string_attribute(&scopes[i], DW_AT_MIPS_linkage_name);
		out->frames[out->count++] =
			(struct libdw_frame){ string_attribute(&scopes[i], DW_AT_name), linkage, line };
		if (tag == DW_TAG_subprogram)
			return;
		line = call_line(&scopes[i]);
	}
}

static uint32_t source_line(struct libdw *libdw, Dwarf_Addr address)
{
	Dwfl_Line *found = dwfl_module_getsrc(libdw->module, address);
	int line = 0;

	if (found)
		dwfl_lineinfo(found, NULL, &line, NULL, NULL, NULL);
	return line > 0 ? (uint32_t)line : 0;
}

static void take_debug_information(struct libdw *libdw, Dwarf_Addr address, struct libdw_frames *out)
{
	Dwarf_Addr bias;
	Dwarf_Die *unit = dwfl_module_addrdie(libdw->module, address, &bias), split, *scopes = NULL;
	int count;

	if (!unit)
		return;
	count = find_scopes(whole_unit(unit, &split), address - bias, &scopes);
	if (count > 0) {
		take_scopes(scopes, count, out);
		free(scopes);
	}
	if (out->count > 0)
		out->frames[0].line = source_line(libdw, address);
}

void libdw_frames(struct libdw *libdw, uint64_t address, struct libdw_frames *out)
{
	Dwarf_Addr at = address + libdw->bias;
	const char *name;
	GElf_Off offset;
	GElf_Sym symbol;

	*out = (struct libdw_frames){ 0 };
	take_debug_information(libdw, at, out);
	name = dwfl_module_addrinfo(libdw->module, at, &offset, &symbol, NULL, NULL, NULL);
	/* Without a size it may be any address behind the symbol. */
	if (!name || offset >= symbol.st_size)
		return;
	out->symbol_address = at - offset;
	if (out->count > 0)
		return;
	out->is_symbol = true;
	out->frames[out->count++] = (struct libdw_frame){ .linkage_name = name };
}

bool libdw_has_alias(struct libdw *libdw, const struct libdw_frames *frames, const char *name)
{
	int count = dwfl_module_getsymtab(libdw->module);

	for (int i = 0; i < count && frames->symbol_address != 0; i++) {
		GElf_Addr address;
		GElf_Sym symbol;
		const char *found = dwfl_module_getsym_info(libdw->module, i, &symbol, &address, NULL, NULL, NULL);

		if (found && address == frames->symbol_address && strcmp(found, name) == 0)
			return true;
	}
	return false;
}
