/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names a set of addresses of one image: from the cache, by debug information, or by symbols. */
#include "symbolize/addresses.h"
#include "symbolize/cache.h"
#include "symbolize/debuginfod.h"
#include "symbolize/frames.h"
#include "symbolize/remote.h"
#include "symbolize/result.h"
#include "symbolize/symbolize.h"

#include <stdlib.h>
#include <string.h>

enum { MIN_CACHED_BYTES = 1 << 18, MIN_GROWTH_DIVISOR = 64 };

struct symbolize_result {
	struct arena arena;
	struct symbolize_frames *distinct; /* [distinct address] */
	uint32_t *which;                   /* [requested index] the index of its distinct address */
	size_t count;
	struct dwarf_result dwarf; /* owns strings */
	struct frame_cache *cache; /* owns strings too; NULL: none */
	const char *directory;     /* in which the main unit was compiled */
	struct frame_cache_key key;
	bool is_new; /* the frames are worth to be kept under the key */
	bool fetch_failed;
};

struct resolution {
	struct symbolize_result *result;
	struct symbols *symbols;
	struct go_table *go;                 /* NULL: no Go program */
	struct fingerprinter *fingerprinter; /* NULL: not wanted, or not possible */
	uint64_t *addresses;                 /* distinct, rising; later only those that are not cached */
	size_t distinct_count;
	struct symbolize_frames *found; /* [address] */
};

/*
 * Finds whether addresses are code of a function: those that a sized symbol or unwind information covers, or all if
 * there is neither.
 */
static void resolve_find_code(void *context, const uint64_t *addresses, size_t count, bool *is_code)
{
	const struct symbols *symbols = context;
	struct symbol_hit *hits = calloc(count + 1, sizeof(*hits));
	struct error ignored;
	bool has_bounds = hits && symbols_any(symbols) && symbols_match(symbols, addresses, count, hits, &ignored);
	uint64_t start, end;

	for (size_t i = 0; i < count; i++)
		is_code[i] = !has_bounds || (hits[i].name && hits[i].size > 0) ||
			     symbols_find_fde(symbols, addresses[i], &start, &end);
	free(hits);
}

static bool is_linkage(void *context, uint64_t address)
{
	return symbols_is_plt(context, address);
}

/* Sorts the addresses, and finds each one's index among the distinct ones. */
static bool find_distinct(struct resolution *r, const uint64_t *addresses, size_t count, struct error *err)
{
	CLEANUP(cleanup_free) struct address_at *asked = addresses_indexed(addresses, count);

	r->result->which = calloc(count + 1, sizeof(*r->result->which));
	r->addresses = calloc(count + 1, sizeof(*r->addresses));
	if (!asked || !r->result->which || !r->addresses)
		return error_set_memory(err);
	for (size_t i = 0; i < count; i++) {
		if (i == 0 || asked[i].address != asked[i - 1].address)
			r->addresses[r->distinct_count++] = asked[i].address;
		r->result->which[asked[i].index] = (uint32_t)r->distinct_count - 1;
	}
	return true;
}

/* The images of one request. */
struct resolve_subject {
	struct elf_image *image, *debug, *alt; /* alt NULL: none */
};

static const char *resolve_last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool name_all(struct resolution *r, const struct resolve_subject *subject,
	const struct symbolize_options *options, struct error *err)
{
	struct namer namer = {
		.arena = &r->result->arena,
		.symbols = r->symbols,
		.go = r->go,
		.fingerprinter = r->fingerprinter,
		.module = resolve_last_part(elf_image_path(subject->image)),
		.entry = elf_image_is_executable(subject->image) ? elf_image_entry(subject->image) : 0,
		.addresses = r->addresses,
		.answers = r->result->dwarf.answers,
		.count = r->distinct_count,
		.no_inlines = options->no_inlines,
		.only_unnamed = options->fingerprints == SYMBOLIZE_FINGERPRINT_UNNAMED,
	};
	bool ok = namer_init(&namer, err);

	for (size_t i = 0; ok && i < r->distinct_count; i++)
		ok = namer_name(&namer, i, &r->found[i], err);
	namer_deinit(&namer);
	return ok;
}

static bool symbolize_resolve_all(struct resolution *r, const struct resolve_subject *subject,
	const struct symbolize_options *options, struct error *err)
{
	struct dwarf_options dwarf = {
		.debug = subject->debug,
		.alt = subject->alt,
		.path = elf_image_path(subject->image),
		.opener = options->debug.opener,
		.threads = options->threads,
		.no_lines = options->names_only,
		.find_code = resolve_find_code,
		.is_linkage = is_linkage,
	};

	if (!symbols_create(subject->image, subject->debug, &r->symbols, err) ||
		!go_table_create(subject->image, &r->go, err))
		return false;
	dwarf.context = r->symbols;
	if (!dwarf_resolve(&dwarf, r->addresses, r->distinct_count, &r->result->dwarf, err))
		return false;
	if (options->fingerprints != SYMBOLIZE_FINGERPRINT_NONE)
		r->fingerprinter = fingerprinter_create(subject->image);
	r->result->directory = r->result->dwarf.directory;
	return name_all(r, subject, options, err);
}

static void resolution_deinit(struct resolution *r)
{
	symbols_destroy(r->symbols);
	go_table_destroy(r->go);
	fingerprinter_destroy(r->fingerprinter);
	free(r->found);
	free(r->addresses);
}

/* Small files are read faster than a cache, and a few new addresses do not justify writing a large cache again. */
static bool is_worth_storing(const struct resolution *r, const struct resolve_subject *subject, size_t distinct_count)
{
	size_t size;

	elf_image_bytes(subject->debug, &size);
	return size >= MIN_CACHED_BYTES && r->distinct_count * MIN_GROWTH_DIVISOR >= distinct_count &&
	       !r->result->dwarf.is_split && !r->result->dwarf.is_refused;
}

/* Takes cached frames; leaves the other addresses in `addresses`, with their indexes among the distinct ones. */
static bool take_cached(struct resolution *r, uint32_t *places, struct error *err)
{
	struct symbolize_result *result = r->result;
	size_t left = 0;

	for (size_t i = 0; i < r->distinct_count; i++) {
		if (result->cache && !named_frames_find(frame_cache_table(result->cache), r->addresses[i],
					     &result->arena, &result->distinct[i], err))
			return false;
		if (result->distinct[i].count > 0)
			continue;
		places[left] = (uint32_t)i;
		r->addresses[left++] = r->addresses[i];
	}
	r->distinct_count = left;
	return true;
}

/* Resolves the addresses that are not cached, and stores them in the cache. */
static bool resolve_distinct(struct resolution *r, const struct resolve_subject *subject,
	const struct symbolize_options *options, struct error *err)
{
	const struct frame_cache_key key = frame_cache_key_of(options, subject->image, subject->debug, subject->alt);
	bool is_cached = options->cache_directory && !options->no_inlines;
	size_t distinct_count = r->distinct_count;
	CLEANUP(cleanup_free) uint32_t *places = calloc(distinct_count + 1, sizeof(*places));
	struct symbolize_result *result = r->result;
	struct named_frames_entries entries;

	result->distinct = calloc(distinct_count + 1, sizeof(*result->distinct));
	r->found = calloc(distinct_count + 1, sizeof(*r->found));
	if (!places || !result->distinct || !r->found)
		return error_set_memory(err);
	if ((is_cached && !frame_cache_open(&key, &result->cache, err)) || !take_cached(r, places, err))
		return false;
	if (r->distinct_count == 0) {
		result->directory =
			result->cache ? named_frames_source_directory(frame_cache_table(result->cache)) : "";
		return true;
	}
	if (!symbolize_resolve_all(r, subject, options, err))
		return false;
	for (size_t i = 0; i < r->distinct_count; i++)
		result->distinct[places[i]] = r->found[i];
	result->key = key;
	result->is_new = is_cached && is_worth_storing(r, subject, distinct_count);
	/* A process that may not open files may not write them. */
	entries = (struct named_frames_entries){ .addresses = r->addresses,
		.frames = r->found,
		.count = r->distinct_count,
		.source_directory = result->directory,
		.sources = result->dwarf.sources,
		.source_count = result->dwarf.source_count };
	if (result->is_new && options->remote) {
		remote_keep(options->remote, &key, &entries);
	} else if (result->is_new && !options->debug.opener) {
		entries.old = result->cache ? frame_cache_table(result->cache) : NULL;
		frame_cache_store(&key, &entries);
	}
	return true;
}

bool symbolize_addresses(struct elf_image *image, const uint64_t *addresses, size_t count,
	const struct symbolize_options *options, struct symbolize_result **result, struct error *err)
{
	struct resolution r = { .result = calloc(1, sizeof(**result)) };
	struct elf_image *fetched = NULL;
	enum elf_debug_source source;
	struct resolve_subject subject = { .image = image };
	bool ok;

	if (!r.result)
		return error_set_memory(err);
	arena_init(&r.result->arena, 0);
	r.result->count = count;
	r.result->directory = "";
	subject.debug = elf_image_debug(image, &options->debug, &source, NULL);
	if (options->debuginfod && (source == ELF_DEBUG_NONE || source == ELF_DEBUG_REFUSED)) {
		fetched = debuginfod_fetch(image, options->debug.opener, options->debuginfod);
		r.result->fetch_failed = !fetched;
	}
	if (fetched)
		subject.debug = fetched;
	subject.alt = elf_image_debug_alt(subject.debug, &options->debug);
	ok = find_distinct(&r, addresses, count, err) && resolve_distinct(&r, &subject, options, err);
	resolution_deinit(&r);
	elf_image_unref(fetched);
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

bool symbolize_result_refused(const struct symbolize_result *result)
{
	return result->dwarf.is_refused;
}

bool symbolize_result_fetch_failed(const struct symbolize_result *result)
{
	return result->fetch_failed;
}

const char *symbolize_result_directory(const struct symbolize_result *result)
{
	return result->directory;
}

void symbolize_result_sources(const struct symbolize_result *result, struct named_frames_entries *entries)
{
	entries->sources = result->dwarf.sources;
	entries->source_count = result->dwarf.source_count;
	entries->more_sources = result->cache ? frame_cache_table(result->cache) : NULL;
}

const struct frame_cache_key *symbolize_result_new_key(const struct symbolize_result *result)
{
	return result->is_new ? &result->key : NULL;
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
