/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/folded.h"

#include "symbolize/addresses.h"
#include "symbolize/name.h"
#include "symbolize/symbolize.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	MOST_ENTRIES = 1 << 20,
	MOST_SYMBOL_BYTES = 1 << 12,
	MOST_TOLD_APART = 64, /* names of one address that are demangled */
	MOST_SHOWN = 3,
	MOST_SHOWN_BYTES = 1 << 20,
};

/* A symbol at one of the starts. */
struct folded_entry {
	size_t start;     /* index */
	const char *name; /* borrowed from the image */
};

struct folded_search {
	const struct folded_names *folded;
	bool takes_plain; /* the linker folds */
	struct folded_entry *entries;
	size_t count, capacity;
};

static bool is_mangled_symbol(const char *name)
{
	return strncmp(name, "_Z", 2) == 0 || strncmp(name, "_R", 2) == 0;
}

/* Returns whether the symbol stands for a function of its own, and is no other name of one. */
static bool is_own_function(const struct folded_search *search, const struct symbol_hit *symbol)
{
	return is_mangled_symbol(symbol->name) ||
	       (search->takes_plain && symbol->name[0] != '_' && symbol->rank != SYMBOLS_RANK_WEAK);
}

static bool symbolize_folded_take_symbol(void *context, const struct symbol_hit *symbol, struct error *err)
{
	struct folded_search *search = context;
	const struct folded_names *folded = search->folded;
	size_t at = addresses_lower_bound(folded->starts, folded->count, symbol->start);

	if (at == folded->count || folded->starts[at] != symbol->start || search->count == MOST_ENTRIES ||
		strnlen(symbol->name, MOST_SYMBOL_BYTES) == MOST_SYMBOL_BYTES || !is_own_function(search, symbol))
		return true;
	return ARRAY_APPEND(&search->entries, &search->capacity, &search->count, MOST_ENTRIES, err,
		(struct folded_entry){ at, symbol->name });
}

static int symbolize_folded_compare_entries(const void *left, const void *right)
{
	const struct folded_entry *a = left, *b = right;

	return a->start != b->start ? ORDER(a->start, b->start) : strcmp(a->name, b->name);
}

static int compare_strings(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* Demangles a symbol without what a compiler has added to it (`.isra.0`), so that copies have one name. */
static const char *demangle_bare(const char *symbol, struct arena *arena, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer text = BUFFER_INIT(MOST_SHOWN_BYTES);
	char bare[MOST_SYMBOL_BYTES];
	const char *kept;
	size_t size;

	/* The file may have been overwritten since the symbol was taken, which was shorter then. */
	snprintf(bare, sizeof(bare), "%.*s", (int)sizeof(bare) - 1, symbol);
	size = profile_bare_size(bare);
	bare[size] = '\0';
	profile_demangle(bare, &text);
	kept = text.failed ? name_copy(arena, bare, size) : name_copy(arena, text.data, text.size);
	if (!kept)
		error_set_memory(err);
	return kept;
}

/* Joins rising, different names. `is_open`: there are more than these. */
static bool symbolize_folded_join_names(const char *const *names, size_t count, bool is_open, struct arena *arena,
	const char **joined, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer text = BUFFER_INIT((size_t)MOST_SHOWN * MOST_SHOWN_BYTES);
	size_t others = count > MOST_SHOWN ? count - MOST_SHOWN : 0;

	buffer_printf(&text, "%s [or ", names[0]);
	for (size_t i = 1; i < count && i < MOST_SHOWN; i++)
		buffer_printf(&text, "%s%s", i > 1 ? ", " : "", names[i]);
	if (is_open)
		buffer_append_string(&text, ", many others");
	else if (others > 0)
		buffer_printf(&text, ", %zu other%s", others, others > 1 ? "s" : "");
	buffer_append_byte(&text, ']');
	if (!buffer_ok(&text, err))
		return false;
	*joined = name_copy(arena, text.data, text.size);
	return *joined || error_set_memory(err);
}

/* Names one start by its entries. */
static bool name_start(
	const struct folded_entry *entries, size_t count, struct arena *arena, const char **name, struct error *err)
{
	const char *names[MOST_TOLD_APART];
	bool is_open = count > MOST_TOLD_APART;
	size_t told = is_open ? MOST_TOLD_APART : count, kept = 0;

	for (size_t i = 0; i < told; i++) {
		names[i] = demangle_bare(entries[i].name, arena, err);
		if (!names[i])
			return false;
	}
	qsort(names, told, sizeof(*names), compare_strings);
	for (size_t i = 0; i < told; i++)
		if (i == 0 || strcmp(names[i], names[kept - 1]) != 0)
			names[kept++] = names[i];
	return kept < 2 || symbolize_folded_join_names(names, kept, is_open, arena, name, err);
}

static bool name_all_starts(const struct folded_search *search, struct arena *arena, struct error *err)
{
	const struct folded_entry *entries = search->entries;

	for (size_t i = 0, end; i < search->count; i = end) {
		for (end = i + 1; end < search->count && entries[end].start == entries[i].start;)
			end++;
		if (end - i > 1 &&
			!name_start(entries + i, end - i, arena, &search->folded->names[entries[i].start], err))
			return false;
	}
	return true;
}

bool folded_names_find(const struct symbols *symbols, const struct symbol_hit *hits, size_t count, struct arena *arena,
	struct folded_names *folded, struct error *err)
{
	struct folded_search search = { .folded = folded, .takes_plain = symbols_are_folded(symbols) };
	bool ok;

	*folded = (struct folded_names){ .starts = calloc(count + 1, sizeof(*folded->starts)),
		.names = calloc(count + 1, sizeof(*folded->names)) };
	if (!folded->starts || !folded->names)
		return error_set_memory(err);
	for (size_t i = 0; i < count; i++)
		if (hits[i].is_shared && (folded->count == 0 || folded->starts[folded->count - 1] != hits[i].start))
			folded->starts[folded->count++] = hits[i].start;
	if (folded->count == 0)
		return true;
	ok = symbols_visit_functions(symbols, symbolize_folded_take_symbol, &search, err);
	if (ok && search.count > 1)
		qsort(search.entries, search.count, sizeof(*search.entries), symbolize_folded_compare_entries);
	ok = ok && name_all_starts(&search, arena, err);
	free(search.entries);
	return ok;
}

void folded_names_deinit(struct folded_names *folded)
{
	free(folded->starts);
	free(folded->names);
}

const char *folded_names_at(const struct folded_names *folded, uint64_t start)
{
	size_t at = addresses_lower_bound(folded->starts, folded->count, start);

	return at < folded->count && folded->starts[at] == start ? folded->names[at] : NULL;
}
