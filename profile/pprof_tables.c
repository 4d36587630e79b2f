/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the tables of pprof that samples refer to: mappings, functions and locations. */
#include "profile/pprof_reader.h"

#include "profile/index.h"

#include <stdlib.h>
#include <string.h>

bool pprof_check(bool ok, const char *what, size_t position, struct error *err)
{
	return ok || error_set(err, ERROR_FORMAT, "%s %zu is malformed", what, position);
}

static enum profile_mapping_kind tables_kind_of(struct pprof_reader *r, const char *path)
{
	uint64_t written = pprof_column_next(&r->extension, PPROF_COLUMN(mapping_kind), UINT64_MAX);

	if (written <= PROFILE_MAPPING_ANON)
		return (enum profile_mapping_kind)written;
	if (strstr(path, "[kernel") || strcmp(path, "[guest.kernel.kallsyms]") == 0 || strstr(path, ".ko"))
		return PROFILE_MAPPING_KERNEL;
	if (strcmp(path, "[vdso]") == 0 || strcmp(path, "[vsyscall]") == 0)
		return PROFILE_MAPPING_VDSO;
	return path[0] == '\0' || strncmp(path, "//", 2) == 0 || path[0] == '[' ? PROFILE_MAPPING_ANON
										: PROFILE_MAPPING_FILE;
}

/* Each mapping stands once in Kelvin's own files: an equal one is of another file (profile_add_other_mapping()). */
static bool pprof_tables_add_mapping(
	struct pprof_reader *r, const struct profile_mapping *mapping, bool is_own, uint32_t *id, struct error *err)
{
	size_t known = r->profile->mapping_count;

	return profile_add_mapping(r->profile, mapping, id, err) &&
	       (*id == known || !is_own || profile_add_other_mapping(r->profile, mapping, id, err));
}

static bool read_mapping(struct pprof_reader *r, struct byte_reader message, size_t position, struct error *err)
{
	bool is_own = byte_reader_left(&r->extension.columns[PPROF_COLUMN(mapping_kind)]) > 0;
	Pprof__Mapping in = PPROF__MAPPING__INIT;
	struct profile_mapping mapping = { 0 };

	if (!pprof_check(proto_set_members(&in.base, message), "mapping", position, err) ||
		!id_table_add(&r->mapping_ids, in.id, position, "mapping", err) ||
		!pprof_string_id(r, in.filename, &mapping.path, "a mapping's file", err) ||
		!pprof_string_id(r, in.build_id, &mapping.build_id, "a mapping's build id", err))
		return false;
	mapping.start = in.memory_start;
	mapping.end = in.memory_limit;
	mapping.file_offset = in.file_offset;
	mapping.kind = tables_kind_of(r, profile_string(r->profile, mapping.path));
	mapping.deleted = pprof_column_next(&r->extension, PPROF_COLUMN(mapping_deleted), 0) != 0;
	return pprof_tables_add_mapping(r, &mapping, is_own, &r->mappings[position], err);
}

static bool read_mappings(struct pprof_reader *r, struct error *err)
{
	struct proto_walk walk = pprof_walk_table(r, PPROF_TABLE(mapping));
	struct byte_reader message;
	size_t count = r->sections[PPROF_TABLE(mapping)].count;

	if (!ARRAY_ZEROED(&r->mappings, count + 1, err) || !id_table_init(&r->mapping_ids, count, err))
		return false;
	for (size_t i = 0; proto_next_entry(&walk, &message); i++)
		if (!read_mapping(r, message, i, err))
			return false;
	return true;
}

/* Reads the columns of Kelvin's extension that belong to functions. */
static void take_columns(struct pprof_reader *r, struct pprof_function *function)
{
	struct pprof_extension *columns = &r->extension;
	uint64_t origin = pprof_column_next(columns, PPROF_COLUMN(function_origin), PROFILE_ORIGIN_UNKNOWN);
	uint64_t rule = pprof_column_next(columns, PPROF_COLUMN(function_origin_rule), 0);
	uint64_t source = pprof_column_next(columns, PPROF_COLUMN(function_name_source), PROFILE_NAME_IMPORTED);
	uint64_t module = pprof_column_next(columns, PPROF_COLUMN(function_module), UINT64_MAX);
	struct byte_reader *fingerprints = &columns->columns[PPROF_COLUMN(function_fingerprint)];

	function->origin = origin < PROFILE_ORIGIN_COUNT ? (enum profile_origin)origin : PROFILE_ORIGIN_UNKNOWN;
	function->origin_rule = rule <= UINT16_MAX ? (uint16_t)rule : 0;
	function->name_source =
		source < PROFILE_NAME_SOURCE_COUNT ? (enum profile_name_source)source : PROFILE_NAME_IMPORTED;
	function->module = module <= UINT32_MAX ? (int64_t)module : -1;
	function->fingerprint = fingerprints->pos < fingerprints->end ? byte_reader_u64(fingerprints) : 0;
}

/*
 * Lists the functions as the file has them. They are added later, since their module is that of the location that uses
 * them.
 */
static bool pprof_tables_list_functions(struct pprof_reader *r, struct error *err)
{
	struct proto_walk walk = pprof_walk_table(r, PPROF_TABLE(function));
	struct byte_reader message;
	size_t count = r->sections[PPROF_TABLE(function)].count;

	if (!ARRAY_ZEROED(&r->functions, count + 1, err) || !id_table_init(&r->function_ids, count, err))
		return false;
	for (size_t i = 0; proto_next_entry(&walk, &message); i++) {
		Pprof__Function in = PPROF__FUNCTION__INIT;

		if (!pprof_check(proto_set_members(&in.base, message), "function", i, err) ||
			!id_table_add(&r->function_ids, in.id, i, "function", err))
			return false;
		r->functions[i] = (struct pprof_function){
			.name = in.name, .system_name = in.system_name, .file = in.filename, .start_line = in.start_line
		};
		take_columns(r, &r->functions[i]);
	}
	return true;
}

/* Adds a function for a location in `module`: the functions of other tools do not say their module. */
static bool tables_add_function(
	struct pprof_reader *r, size_t position, uint32_t module, uint32_t *id, struct error *err)
{
	struct pprof_function *in = &r->functions[position];
	struct profile_function function = { .module = module,
		.fingerprint = in->fingerprint,
		.origin = in->origin,
		.origin_rule = in->origin_rule,
		.name_source = in->name_source };

	if (in->added && in->added_module == module) {
		*id = in->id;
		return true;
	}
	if (!pprof_string_id(r, in->name, &function.name, "a function's name", err) ||
		!pprof_string_id(r, in->system_name, &function.linkage_name, "a function's linkage name", err) ||
		!pprof_string_id(r, in->file, &function.file, "a function's file", err))
		return false;
	if (function.name == 0)
		function.name = function.linkage_name;
	if (function.name == 0 && !profile_intern(r->profile, "[unnamed]", &function.name, err))
		return false;
	if (function.linkage_name == function.name)
		function.linkage_name = 0;
	function.start_line = in->start_line > 0 && in->start_line <= UINT32_MAX ? (uint32_t)in->start_line : 0;
	if (in->module >= 0 && !pprof_string_id(r, in->module, &function.module, "a function's module", err))
		return false;
	if (!profile_add_function(r->profile, &function, id, err))
		return false;
	in->added = true;
	in->added_module = module;
	in->id = *id;
	return true;
}

/* Names a location without a function by its address: `libfoo.so+0x1234`, `0x401234` where no module is known. */
static bool name_by_address(
	struct pprof_reader *r, uint32_t module, uint64_t address, struct profile_line *line, struct error *err)
{
	struct profile_function function = { .module = module };
	char name[512];

	snprintf(name, sizeof(name), "%.480s%s0x%llx", profile_string(r->profile, module), module ? "+" : "",
		(unsigned long long)address);
	*line = (struct profile_line){ 0 };
	return profile_intern(r->profile, name, &function.name, err) &&
	       profile_add_function(r->profile, &function, &line->function, err);
}

static bool tables_read_line(struct pprof_reader *r, struct byte_reader message, const Pprof__Location *of,
	uint32_t module, struct profile_line *line, struct error *err)
{
	Pprof__Line in = PPROF__LINE__INIT;
	uint32_t position;

	if (!pprof_check(proto_set_members(&in.base, message), "a line of location", of->id, err))
		return false;
	position = id_table_get(&r->function_ids, in.function_id);
	if (position == HASH_MAP_NONE)
		return error_set(err, ERROR_FORMAT, "location %llu references function %llu, which is not there",
			(unsigned long long)of->id, (unsigned long long)in.function_id);
	line->line = in.line >= 0 && in.line <= UINT32_MAX ? (uint32_t)in.line : 0;
	return pprof_read_line_file(r, line, err) && tables_add_function(r, position, module, &line->function, err);
}

/* A location of a mapping that is not there is of no module, as in files without mappings. */
static void find_mapping(struct pprof_reader *r, const Pprof__Location *location, uint32_t *mapping)
{
	uint32_t position;

	*mapping = PROFILE_NONE;
	if (location->mapping_id == 0)
		return;
	position = id_table_get(&r->mapping_ids, location->mapping_id);
	if (position == HASH_MAP_NONE)
		r->lost_mappings++;
	else
		*mapping = r->mappings[position];
}

static bool read_location(struct pprof_reader *r, struct byte_reader message, size_t position, struct error *err)
{
	CLEANUP(cleanup_free) struct profile_line *lines = NULL;
	struct proto_walk walk = proto_walk(message, &pprof__location__descriptor, offsetof(Pprof__Location, line));
	Pprof__Location location = PPROF__LOCATION__INIT;
	struct byte_reader inner;
	uint32_t mapping, module;
	size_t count = 0;

	if (!pprof_check(proto_set_members(&location.base, message), "location", position, err) ||
		!id_table_add(&r->location_ids, location.id, position, "location", err))
		return false;
	find_mapping(r, &location, &mapping);
	if (!ARRAY_ZEROED(&lines, location.n_line + 1, err))
		return false;
	module = mapping == PROFILE_NONE ? 0 : r->profile->mappings[mapping].module;
	while (proto_next_entry(&walk, &inner))
		if (!tables_read_line(r, inner, &location, module, &lines[count++], err))
			return false;
	if (count == 0 && r->is_growing)
		return profile_add_location(r->profile, mapping, location.address, &r->locations[position], err);
	if (count == 0 && !name_by_address(r, module, location.address, &lines[count++], err))
		return false;
	return profile_add_named_location(r->profile,
		&(struct profile_location){
			.mapping = mapping, .address = location.address, .line_count = (uint32_t)count },
		lines, &r->locations[position], err);
}

static bool read_locations(struct pprof_reader *r, struct error *err)
{
	struct proto_walk walk = pprof_walk_table(r, PPROF_TABLE(location));
	struct byte_reader message;
	size_t count = r->sections[PPROF_TABLE(location)].count;

	if (!ARRAY_ZEROED(&r->locations, count + 1, err) || !id_table_init(&r->location_ids, count, err))
		return false;
	for (size_t i = 0; proto_next_entry(&walk, &message); i++)
		if (!read_location(r, message, i, err))
			return false;
	return true;
}

static bool note_tables(struct pprof_reader *r, struct error *err)
{
	const char *dropped = pprof_text_of(r, r->numbers.drop_frames);

	if (r->lost_mappings > 0 &&
		!profile_add_doubt(r->profile, err,
			"%zu of its locations are in mappings that the file does not have: their module is not known",
			r->lost_mappings))
		return false;
	return !dropped[0] ||
	       profile_add_remark(r->profile, err,
		       "the file asks to leave out frames of functions that match '%.200s' (drop_frames), which are shown: --hide leaves them out",
		       dropped);
}

bool pprof_read_tables(struct pprof_reader *r, struct error *err)
{
	return pprof_read_value_types(r, err) && read_mappings(r, err) && pprof_tables_list_functions(r, err) &&
	       read_locations(r, err) && pprof_line_files_end(r, err) && note_tables(r, err);
}
