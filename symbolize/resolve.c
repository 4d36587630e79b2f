/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/dwarf.h"
#include "symbolize/fingerprint.h"
#include "symbolize/result.h"
#include "symbolize/symbolize.h"
#include "symbolize/symbols.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_NAME_BYTES = 1 << 20 };

struct symbolize_result {
	struct arena arena;
	struct symbolize_frames *distinct; /* [distinct address] */
	uint32_t *which;                   /* [index asked for] its distinct address */
	size_t count;
	struct dwarf_result dwarf; /* holds strings of its own */
};

struct resolution {
	struct symbolize_result *result;
	struct symbols *symbols;
	struct fingerprinter *fingerprinter; /* NULL: not wanted, or not possible */
	const char *module;
	uint64_t *addresses; /* distinct, rising */
	size_t at;           /* the one in work */
	size_t distinct_count;
	struct hash_map demangled; /* hash and size of a linkage name -> index of `names` */
	const char **names;
	size_t name_count, name_capacity;
	bool no_inlines;
};

static const char *keep(struct resolution *r, const char *string, size_t size, struct error *err)
{
	const char *kept = arena_copy_string(&r->result->arena, string, size);

	if (!kept)
		error_set_memory(err);
	return kept;
}

/* Names repeat a lot: each is demangled once. */
static bool demangle(struct resolution *r, const char *linkage_name, const char **name, struct error *err)
{
	uint64_t key[2] = { hash_bytes(linkage_name, strlen(linkage_name)), strlen(linkage_name) };
	uint32_t *value;
	struct buffer text;
	bool added;

	if (!hash_map_add(&r->demangled, key, (uint32_t)r->name_count, &value, &added, err))
		return false;
	if (!added) {
		*name = r->names[*value];
		return true;
	}
	if (!ARRAY_RESERVE(&r->names, &r->name_capacity, r->name_count + 1, ARRAY_MAX_IDS, err))
		return false;
	buffer_init(&text, MAX_NAME_BYTES);
	symbolize_demangle(linkage_name, &text);
	*name = text.failed ? linkage_name : keep(r, text.data, text.size, err);
	buffer_deinit(&text);
	r->names[r->name_count++] = *name;
	return *name != NULL;
}

static bool one_frame(struct resolution *r, const struct symbolize_frame *frame, struct symbolize_frames *out, struct error *err)
{
	struct symbolize_frame *kept = ARENA_NEW(&r->result->arena, struct symbolize_frame);

	if (!kept)
		return error_set_memory(err);
	*kept = *frame;
	*out = (struct symbolize_frames){ kept, 1 };
	return true;
}

/* A frame that DWARF tells of, named by its linkage name, else by what its parents make of it. */
static bool frame_of_dwarf(struct resolution *r, const struct dwarf_frame *in, struct symbolize_frame *out, struct error *err)
{
	*out = (struct symbolize_frame){
		.name = in->name,
		.linkage_name = in->linkage_name,
		.file = in->file,
		.decl_file = in->decl_file,
		.line = in->line,
		.decl_line = in->decl_line,
		.source = PROFILE_NAME_DWARF,
	};
	if (in->linkage_name[0] == '\0')
		return true;
	if (!demangle(r, in->linkage_name, &out->name, err))
		return false;
	/* One that is not mangled is a detail of linking: glibc's abort() is __GI_abort, Fortran's solve() is solve_. */
	if (in->name[0] && strcmp(out->name, in->linkage_name) == 0)
		out->name = in->name;
	return true;
}

/* A function without a linkage name, as GCC leaves those of anonymous namespaces, has it in the symbol table. */
static bool name_by_symbol(
	struct resolution *r, const struct dwarf_answer *answer, struct symbolize_frame *outermost, struct error *err)
{
	const char *symbol;

	if (outermost->linkage_name[0] || answer->extent_count == 0)
		return true;
	symbol = symbols_find(r->symbols, answer->extents[0].low);
	if (!symbol || (strncmp(symbol, "_Z", 2) != 0 && strncmp(symbol, "_R", 2) != 0) || strstr(symbol, ".cold"))
		return true;
	outermost->linkage_name = keep(r, symbol, strlen(symbol), err);
	return outermost->linkage_name && demangle(r, outermost->linkage_name, &outermost->name, err);
}

static bool frames_of_dwarf(
	struct resolution *r, const struct dwarf_answer *answer, struct symbolize_frames *out, struct error *err)
{
	size_t first = r->no_inlines ? answer->count - 1 : 0, count = answer->count - first;
	struct symbolize_frame *frames = ARENA_ARRAY(&r->result->arena, struct symbolize_frame, count);

	if (!frames)
		return error_set_memory(err);
	for (size_t i = 0; i < count; i++)
		if (!frame_of_dwarf(r, &answer->frames[first + i], &frames[i], err))
			return false;
	if (!name_by_symbol(r, answer, &frames[count - 1], err))
		return false;
	if (r->fingerprinter)
		frames[count - 1].fingerprint = fingerprint_code(r->fingerprinter, answer->extents, answer->extent_count);
	/* Without inlined frames the function stands at the line that was executing. */
	if (first > 0) {
		frames[0].file = answer->frames[0].file;
		frames[0].line = answer->frames[0].line;
	}
	*out = (struct symbolize_frames){ frames, count };
	return true;
}

/* `module+0x1234`, by the start of the function where that is known. */
static bool frame_of_bounds(struct resolution *r, uint64_t address, struct symbolize_frames *out, struct error *err)
{
	struct symbolize_frame frame = { .linkage_name = "", .file = "", .decl_file = "", .source = PROFILE_NAME_FDE };
	uint64_t start = address;
	char name[512];

	if (!symbols_find_fde(r->symbols, address, &start))
		frame.source = PROFILE_NAME_NONE;
	snprintf(name, sizeof(name), "%.480s+0x%llx", r->module, (unsigned long long)start);
	frame.name = keep(r, name, strlen(name), err);
	return frame.name && one_frame(r, &frame, out, err);
}

static bool frame_of_symbol(
	struct resolution *r, const char *symbol, enum profile_name_source source, struct symbolize_frames *out, struct error *err)
{
	const struct dwarf_answer *answer = &r->result->dwarf.answers[r->at];
	struct symbolize_frame frame = { .file = answer->file, .line = answer->line, .decl_file = "", .source = source };
	struct dwarf_extent extent;
	struct buffer text;

	if (r->fingerprinter && source == PROFILE_NAME_SYMTAB &&
		symbols_find_bounds(r->symbols, r->addresses[r->at], &extent.low, &extent.high))
		frame.fingerprint = fingerprint_code(r->fingerprinter, &extent, 1);
	frame.linkage_name = keep(r, symbol, strlen(symbol), err);
	if (!frame.linkage_name || !demangle(r, frame.linkage_name, &frame.name, err))
		return false;
	if (source == PROFILE_NAME_PLT) {
		buffer_init(&text, MAX_NAME_BYTES);
		buffer_printf(&text, "%s@plt", frame.name);
		frame.name = text.failed ? NULL : keep(r, text.data, text.size, err);
		buffer_deinit(&text);
		if (!frame.name)
			return error_set_memory(err);
		frame.linkage_name = "";
	}
	return one_frame(r, &frame, out, err);
}

static bool resolve_one(struct resolution *r, size_t index, struct error *err)
{
	struct symbolize_frames *out = &r->result->distinct[index];
	const struct dwarf_answer *answer = &r->result->dwarf.answers[index];
	uint64_t address = r->addresses[index];
	const char *name;

	r->at = index;
	if (answer->count > 0)
		return frames_of_dwarf(r, answer, out, err);
	name = symbols_find_plt(r->symbols, address);
	if (name)
		return frame_of_symbol(r, name, PROFILE_NAME_PLT, out, err);
	name = symbols_find(r->symbols, address);
	if (name)
		return frame_of_symbol(r, name, PROFILE_NAME_SYMTAB, out, err);
	return frame_of_bounds(r, address, out, err);
}

struct asked {
	uint64_t address;
	uint32_t index;
};

static int compare_asked(const void *left, const void *right)
{
	const struct asked *a = left, *b = right;

	return a->address < b->address ? -1 : a->address > b->address;
}

/* Sorts, and finds each address's place among the distinct ones. */
static bool find_distinct(struct resolution *r, const uint64_t *addresses, size_t count, struct error *err)
{
	CLEANUP(cleanup_free) struct asked *asked = calloc(count + 1, sizeof(*asked));

	r->result->which = calloc(count + 1, sizeof(*r->result->which));
	r->addresses = calloc(count + 1, sizeof(*r->addresses));
	if (!asked || !r->result->which || !r->addresses)
		return error_set_memory(err);
	for (size_t i = 0; i < count; i++)
		asked[i] = (struct asked){ addresses[i], (uint32_t)i };
	qsort(asked, count, sizeof(*asked), compare_asked);
	for (size_t i = 0; i < count; i++) {
		if (i == 0 || asked[i].address != asked[i - 1].address)
			r->addresses[r->distinct_count++] = asked[i].address;
		r->result->which[asked[i].index] = (uint32_t)r->distinct_count - 1;
	}
	return true;
}

static bool resolve_all(struct resolution *r, struct elf_image *image, const struct symbolize_options *options, struct error *err)
{
	enum elf_debug_source source;
	struct elf_image *debug = elf_image_debug(image, &options->debug, &source, NULL);
	const struct dwarf_options dwarf = { debug, elf_image_debug_alt(debug, &options->debug), options->threads };

	r->result->distinct = calloc(r->distinct_count + 1, sizeof(*r->result->distinct));
	if (!r->result->distinct)
		return error_set_memory(err);
	if (!symbols_create(image, debug, &r->symbols, err) ||
		!dwarf_resolve(&dwarf, r->addresses, r->distinct_count, &r->result->dwarf, err))
		return false;
	if (!options->no_fingerprints)
		r->fingerprinter = fingerprinter_create(image);
	for (size_t i = 0; i < r->distinct_count; i++)
		if (!resolve_one(r, i, err))
			return false;
	return true;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool symbolize_addresses(struct elf_image *image, const uint64_t *addresses, size_t count, const struct symbolize_options *options,
	struct symbolize_result **result, struct error *err)
{
	struct resolution r = { .result = calloc(1, sizeof(**result)), .no_inlines = options->no_inlines };
	bool ok;

	if (!r.result)
		return error_set_memory(err);
	arena_init(&r.result->arena, 0);
	hash_map_init(&r.demangled, 2 * sizeof(uint64_t));
	r.module = last_part(elf_image_path(image));
	r.result->count = count;
	ok = find_distinct(&r, addresses, count, err) && resolve_all(&r, image, options, err);
	hash_map_deinit(&r.demangled);
	symbols_destroy(r.symbols);
	fingerprinter_destroy(r.fingerprinter);
	free(r.names);
	free(r.addresses);
	if (!ok) {
		symbolize_result_destroy(r.result);
		return error_prefix(err, "%s", elf_image_path(image));
	}
	*result = r.result;
	return true;
}

struct symbolize_frames symbolize_result_frames(const struct symbolize_result *result, size_t index)
{
	return result->distinct[result->which[index]];
}

const char *symbolize_result_directory(const struct symbolize_result *result)
{
	return result->dwarf.directory;
}

void symbolize_result_destroy(struct symbolize_result *result)
{
	if (!result)
		return;
	arena_deinit(&result->arena);
	dwarf_result_deinit(&result->dwarf);
	free(result->distinct);
	free(result->which);
	free(result);
}
