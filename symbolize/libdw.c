/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/libdw.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_NESTING = 256 };

struct libdw {
	struct elf_image *image; /* borrowed */
	const struct elf_debug_options *options;
	Dwfl *dwfl;
	Dwfl_Module *module;
	Dwarf_Addr bias; /* libdwfl's address = image address + bias */
};

/* Returns the debug file that Kelvin used: names from another file would not be comparable. Servers are not used. */
static int find_debug_file(Dwfl_Module *module, void **user, const char *module_name, Dwarf_Addr base,
	const char *file_name, const char *link, GElf_Word crc, char **found_name)
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

	return dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), &line) == 0 && line <= UINT32_MAX
		       ? (uint32_t)line
		       : 0;
}

/* If the unit is split, its entries are in the other file. */
static Dwarf_Die *whole_unit(Dwarf_Die *unit, Dwarf_Die *split)
{
	uint8_t type;

	if (dwarf_cu_info(unit->cu, NULL, &type, NULL, split, NULL, NULL, NULL) == 0 && type == DW_UT_skeleton &&
		dwarf_tag(split) != DW_TAG_invalid)
		return split;
	return unit;
}

/* The functions that contain an address, the outermost first. */
struct scope_search {
	Dwarf_Addr address;
	Dwarf_Die scopes[LIBDW_MAX_FRAMES];
	int count;
};

static bool may_hold_functions(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_class_type || tag == DW_TAG_structure_type ||
	       tag == DW_TAG_union_type || tag == DW_TAG_module;
}

static void add_scope(struct scope_search *search, const Dwarf_Die *die, int tag)
{
	/* A function inside another one is a function of its own. */
	if (tag == DW_TAG_subprogram)
		search->count = 0;
	if (tag != DW_TAG_lexical_block && search->count < LIBDW_MAX_FRAMES)
		search->scopes[search->count++] = *die;
}

/*
 * Finds the innermost scope, descending only into scopes that contain the address. dwarf_getscopes_die(), which also
 * finds the scopes around an entry, reads the whole unit each time: 3 ms for each address of a C++ program.
 */
static bool find_scopes_below(struct scope_search *search, Dwarf_Die *parent, bool in_types, unsigned int nesting)
{
	Dwarf_Die die;

	if (nesting > MAX_NESTING || dwarf_child(parent, &die) != 0)
		return false;
	do {
		int tag = dwarf_tag(&die);

		if (in_types && may_hold_functions(tag)) {
			if (find_scopes_below(search, &die, true, nesting + 1))
				return true;
		} else if ((tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine ||
				   tag == DW_TAG_lexical_block) &&
			   dwarf_haspc(&die, search->address) > 0) {
			add_scope(search, &die, tag);
			(void)find_scopes_below(search, &die, true, nesting + 1);
			return true;
		}
	} while (dwarf_siblingof(&die, &die) == 0);
	return false;
}

/*
 * Uses libdw's own search, which also searches below functions that do not cover the address: GCC nests lambdas in this
 * way.
 */
static void find_nested_scopes(struct scope_search *search, Dwarf_Die *unit)
{
	Dwarf_Die *around = NULL, *nested = NULL, innermost;
	int count = dwarf_getscopes(unit, search->address, &around);

	if (count <= 0)
		return;
	innermost = around[0];
	free(around);
	count = dwarf_getscopes_die(&innermost, &nested);
	for (int i = count - 1; i >= 0; i--)
		if (dwarf_tag(&nested[i]) == DW_TAG_subprogram || dwarf_tag(&nested[i]) == DW_TAG_inlined_subroutine)
			add_scope(search, &nested[i], dwarf_tag(&nested[i]));
	free(nested);
}

/* Writes the frames of the scopes, innermost first; each caller has the line of the call. */
static void take_scopes(struct scope_search *search, struct libdw_frames *out)
{
	uint32_t line = 0;

	for (int i = search->count - 1; i >= 0; i--) {
		Dwarf_Die *scope = &search->scopes[i];
		const char *linkage = string_attribute(scope, DW_AT_linkage_name);

		if (!linkage)
			linkage = string_attribute(scope, DW_AT_MIPS_linkage_name);
		out->frames[out->count++] = (struct libdw_frame){ string_attribute(scope, DW_AT_name), linkage, line };
		line = call_line(scope);
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
	Dwarf_Die *unit = dwfl_module_addrdie(libdw->module, address, &bias), split;
	struct scope_search search;

	if (!unit)
		return;
	search.address = address - bias;
	search.count = 0;
	unit = whole_unit(unit, &split);
	/*
	 * Classes and namespaces are large, and compilers place nearly all code outside them, so they are searched
	 * last.
	 */
	if (!find_scopes_below(&search, unit, false, 0) && !find_scopes_below(&search, unit, true, 0))
		find_nested_scopes(&search, unit);
	take_scopes(&search, out);
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
	/* Without a size, the symbol may be unrelated to the address. */
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
