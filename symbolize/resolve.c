/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/cache.h"
#include "symbolize/debuginfod.h"
#include "symbolize/dwarf.h"
#include "symbolize/fingerprint.h"
#include "symbolize/go.h"
#include "symbolize/result.h"
#include "symbolize/symbolize.h"
#include "symbolize/symbols.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_NAME_BYTES = 1 << 20, MIN_CACHED_BYTES = 4 << 20, MIN_GROWTH_DIVISOR = 64 };

struct symbolize_result {
	struct arena arena;
	struct symbolize_frames *distinct; /* [distinct address] */
	uint32_t *which;                   /* [index asked for] its distinct address */
	size_t count;
	struct dwarf_result dwarf; /* holds strings of its own */
	struct frame_cache *cache; /* likewise; NULL: none */
	const char *directory;     /* where the main unit was compiled */
};

struct resolution {
	struct symbolize_result *result;
	struct symbols *symbols;
	struct go_table *go;                 /* NULL: no Go program */
	struct fingerprinter *fingerprinter; /* NULL: not wanted, or not possible */
	const char *module;
	uint64_t *addresses; /* distinct, rising; later those of them that the cache does not know */
	size_t distinct_count;
	struct symbolize_frames *found; /* [address] */
	size_t at;                      /* the one in work */
	uint64_t *wanted;               /* rising: where a symbol is asked for */
	struct symbol_hit *hits;        /* [wanted] */
	size_t wanted_count;
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

static int compare_addresses(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

/* The symbol at an address that match_symbols() asked for. */
static const struct symbol_hit *symbol_at(const struct resolution *r, uint64_t address)
{
	const uint64_t *found =
		r->wanted_count ? bsearch(&address, r->wanted, r->wanted_count, sizeof(address), compare_addresses) : NULL;

	return found && r->hits[found - r->wanted].name ? &r->hits[found - r->wanted] : NULL;
}

/* What a sized symbol or unwind information bounds is a function's; without either everything may be. */
static void find_code(void *context, const uint64_t *addresses, size_t count, bool *is_code)
{
	const struct resolution *r = context;
	struct symbol_hit *hits = calloc(count + 1, sizeof(*hits));
	bool has_bounds = hits && symbols_any(r->symbols);
	uint64_t start, end;

	if (has_bounds)
		symbols_match(r->symbols, addresses, count, hits);
	for (size_t i = 0; i < count; i++)
		is_code[i] = !has_bounds || (hits[i].name && hits[i].size > 0) ||
			     symbols_find_fde(r->symbols, addresses[i], &start, &end);
	free(hits);
}

/* A function without a linkage name has it perhaps in the symbol table; so has code that DWARF does not cover. */
static bool wants_symbol(const struct dwarf_answer *answer)
{
	return answer->count == 0 || (answer->extent_count > 0 && !answer->frames[answer->count - 1].linkage_name[0]);
}

/* One pass over the symbol tables for all addresses. */
static bool match_symbols(struct resolution *r, struct error *err)
{
	size_t kept = 0;

	r->wanted = calloc(r->distinct_count + 1, sizeof(*r->wanted));
	r->hits = calloc(r->distinct_count + 1, sizeof(*r->hits));
	if (!r->wanted || !r->hits)
		return error_set_memory(err);
	for (size_t i = 0; i < r->distinct_count; i++) {
		const struct dwarf_answer *answer = &r->result->dwarf.answers[i];

		if (wants_symbol(answer))
			r->wanted[r->wanted_count++] = answer->count == 0 ? r->addresses[i] : answer->extents[0].low;
	}
	if (r->wanted_count > 1)
		qsort(r->wanted, r->wanted_count, sizeof(*r->wanted), compare_addresses);
	for (size_t i = 0; i < r->wanted_count; i++)
		if (i == 0 || r->wanted[i] != r->wanted[i - 1])
			r->wanted[kept++] = r->wanted[i];
	r->wanted_count = kept;
	symbols_match(r->symbols, r->wanted, r->wanted_count, r->hits);
	return true;
}

/* A function without a linkage name, as GCC leaves those of anonymous namespaces, has it in the symbol table. */
static bool name_by_symbol(
	struct resolution *r, const struct dwarf_answer *answer, struct symbolize_frame *outermost, struct error *err)
{
	const struct symbol_hit *hit = wants_symbol(answer) ? symbol_at(r, answer->extents[0].low) : NULL;
	const char *symbol = hit ? hit->name : NULL;

	if (!symbol || (strncmp(symbol, "_Z", 2) != 0 && strncmp(symbol, "_R", 2) != 0) || strstr(symbol, ".cold"))
		return true;
	outermost->linkage_name = keep(r, symbol, strlen(symbol), err);
	return outermost->linkage_name && demangle(r, outermost->linkage_name, &outermost->name, err);
}

/* The linker of Go leaves out the lines of code that no source stands for; its own table has them, also once that is stripped. */
static bool add_go_position(struct resolution *r, struct symbolize_frame *innermost, struct error *err)
{
	struct symbolize_frames found;

	if (!r->go || innermost->file[0])
		return true;
	if (!go_table_find(r->go, r->addresses[r->at], &r->result->arena, &found, err))
		return false;
	if (found.count > 0 && strcmp(found.frames[0].name, innermost->name) == 0) {
		innermost->file = found.frames[0].file;
		innermost->line = found.frames[0].line;
	}
	return true;
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
	if (!add_go_position(r, &frames[0], err))
		return false;
	*out = (struct symbolize_frames){ frames, count };
	return true;
}

/* `module+0x1234`, by the start of the function where that is known. */
static bool frame_of_bounds(struct resolution *r, uint64_t address, struct symbolize_frames *out, struct error *err)
{
	struct symbolize_frame frame = { .linkage_name = "", .file = "", .decl_file = "", .source = PROFILE_NAME_FDE };
	struct dwarf_extent extent = { .low = address };
	char name[512];

	if (!symbols_find_fde(r->symbols, address, &extent.low, &extent.high))
		frame.source = PROFILE_NAME_NONE;
	else if (r->fingerprinter)
		frame.fingerprint = fingerprint_code(r->fingerprinter, &extent, 1);
	snprintf(name, sizeof(name), "%.480s+0x%llx", r->module, (unsigned long long)extent.low);
	frame.name = keep(r, name, strlen(name), err);
	return frame.name && one_frame(r, &frame, out, err);
}

static bool frame_of_symbol(
	struct resolution *r, const char *symbol, enum profile_name_source source, struct symbolize_frames *out, struct error *err)
{
	const struct dwarf_answer *answer = &r->result->dwarf.answers[r->at];
	struct symbolize_frame frame = { .file = answer->file, .line = answer->line, .decl_file = "", .source = source };
	const struct symbol_hit *hit = symbol_at(r, r->addresses[r->at]);
	struct dwarf_extent extent;
	struct buffer text;

	if (hit && !frame.file[0] && source == PROFILE_NAME_SYMTAB)
		frame.file = keep(r, hit->file, strlen(hit->file), err);
	if (!frame.file)
		return false;
	if (r->fingerprinter && source == PROFILE_NAME_SYMTAB && hit && checked_add(hit->start, hit->size, &extent.high)) {
		extent.low = hit->start;
		frame.fingerprint = hit->size ? fingerprint_code(r->fingerprinter, &extent, 1) : 0;
	}
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

static bool frames_of_go(struct resolution *r, uint64_t address, struct symbolize_frames *out, struct error *err)
{
	if (!go_table_find(r->go, address, &r->result->arena, out, err))
		return false;
	if (r->no_inlines && out->count > 1) {
		struct symbolize_frame outermost = out->frames[out->count - 1];

		outermost.file = out->frames[0].file;
		outermost.line = out->frames[0].line;
		return one_frame(r, &outermost, out, err);
	}
	return true;
}

static bool resolve_one(struct resolution *r, size_t index, struct error *err)
{
	struct symbolize_frames *out = &r->found[index];
	const struct dwarf_answer *answer = &r->result->dwarf.answers[index];
	uint64_t address = r->addresses[index];
	const struct symbol_hit *hit;
	const char *name;

	r->at = index;
	if (answer->count > 0)
		return frames_of_dwarf(r, answer, out, err);
	if (r->go && !frames_of_go(r, address, out, err))
		return false;
	if (out->count > 0)
		return true;
	if (!symbols_find_plt(r->symbols, address, &name, err))
		return false;
	if (name)
		return frame_of_symbol(r, name, PROFILE_NAME_PLT, out, err);
	hit = symbol_at(r, address);
	if (hit)
		return frame_of_symbol(r, hit->name, PROFILE_NAME_SYMTAB, out, err);
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

/* The images that one question is about. */
struct subject {
	struct elf_image *image, *debug, *alt; /* alt NULL: none */
};

static bool resolve_all(
	struct resolution *r, const struct subject *subject, const struct symbolize_options *options, struct error *err)
{
	struct elf_image *image = subject->image;
	const struct dwarf_options dwarf = {
		.debug = subject->debug,
		.alt = subject->alt,
		.threads = options->threads,
		.find_code = find_code,
		.context = r,
	};

	if (!symbols_create(image, subject->debug, &r->symbols, err) || !go_table_create(image, &r->go, err) ||
		!dwarf_resolve(&dwarf, r->addresses, r->distinct_count, &r->result->dwarf, err) || !match_symbols(r, err))
		return false;
	if (!options->no_fingerprints)
		r->fingerprinter = fingerprinter_create(image);
	for (size_t i = 0; i < r->distinct_count; i++)
		if (!resolve_one(r, i, err))
			return false;
	r->result->directory = r->result->dwarf.directory;
	return true;
}

/* Small files are read faster than a cache; and a few new addresses are not worth writing a large one again. */
static bool is_worth_storing(const struct resolution *r, const struct subject *subject, size_t distinct_count)
{
	size_t size;

	elf_image_bytes(subject->debug, &size);
	return size >= MIN_CACHED_BYTES && r->distinct_count * MIN_GROWTH_DIVISOR >= distinct_count && !r->result->dwarf.is_split;
}

/* Takes what the cache knows; leaves the rest in `addresses`, with their places among the distinct ones. */
static bool take_cached(struct resolution *r, uint32_t *places, struct error *err)
{
	struct symbolize_result *result = r->result;
	size_t left = 0;

	for (size_t i = 0; i < r->distinct_count; i++) {
		if (result->cache && !frame_cache_find(result->cache, r->addresses[i], &result->arena, &result->distinct[i], err))
			return false;
		if (result->distinct[i].count > 0)
			continue;
		places[left] = (uint32_t)i;
		r->addresses[left++] = r->addresses[i];
	}
	r->distinct_count = left;
	return true;
}

/* What the cache does not know is resolved and told to it. */
static bool resolve_distinct(
	struct resolution *r, const struct subject *subject, const struct symbolize_options *options, struct error *err)
{
	const struct frame_cache_key key = { options->cache_directory, subject->image, subject->debug, subject->alt,
		!options->no_fingerprints };
	bool is_cached = options->cache_directory && !options->no_inlines;
	size_t distinct_count = r->distinct_count;
	CLEANUP(cleanup_free) uint32_t *places = calloc(distinct_count + 1, sizeof(*places));
	struct symbolize_result *result = r->result;

	result->distinct = calloc(distinct_count + 1, sizeof(*result->distinct));
	r->found = calloc(distinct_count + 1, sizeof(*r->found));
	if (!places || !result->distinct || !r->found)
		return error_set_memory(err);
	if ((is_cached && !frame_cache_open(&key, &result->cache, err)) || !take_cached(r, places, err))
		return false;
	if (r->distinct_count == 0) {
		result->directory = result->cache ? frame_cache_source_directory(result->cache) : "";
		return true;
	}
	if (!resolve_all(r, subject, options, err))
		return false;
	for (size_t i = 0; i < r->distinct_count; i++)
		result->distinct[places[i]] = r->found[i];
	if (is_cached && is_worth_storing(r, subject, distinct_count))
		frame_cache_store(&key, &(struct frame_cache_entries){
						result->cache, r->addresses, r->found, r->distinct_count, result->directory });
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
	struct elf_image *fetched = NULL;
	enum elf_debug_source source;
	struct subject subject = { .image = image };
	bool ok;

	if (!r.result)
		return error_set_memory(err);
	arena_init(&r.result->arena, 0);
	hash_map_init(&r.demangled, 2 * sizeof(uint64_t));
	r.module = last_part(elf_image_path(image));
	r.result->count = count;
	r.result->directory = "";
	subject.debug = elf_image_debug(image, &options->debug, &source, NULL);
	if (options->debuginfod && (source == ELF_DEBUG_NONE || source == ELF_DEBUG_REFUSED))
		fetched = debuginfod_fetch(image);
	if (fetched)
		subject.debug = fetched;
	subject.alt = elf_image_debug_alt(subject.debug, &options->debug);
	ok = find_distinct(&r, addresses, count, err) && resolve_distinct(&r, &subject, options, err);
	hash_map_deinit(&r.demangled);
	symbols_destroy(r.symbols);
	go_table_destroy(r.go);
	fingerprinter_destroy(r.fingerprinter);
	elf_image_unref(fetched);
	free(r.names);
	free(r.wanted);
	free(r.hits);
	free(r.found);
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
	return result->directory;
}

void symbolize_result_destroy(struct symbolize_result *result)
{
	if (!result)
		return;
	arena_deinit(&result->arena);
	dwarf_result_deinit(&result->dwarf);
	frame_cache_close(result->cache);
	free(result->distinct);
	free(result->which);
	free(result);
}
