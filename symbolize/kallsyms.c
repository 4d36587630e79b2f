/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/kallsyms.h"

#include "symbolize/addresses.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_NAME_BYTES = 1 << 12 };
static const size_t max_text_bytes = (size_t)1 << 30;

/* The nearest function that does not begin after an address. */
struct kallsyms_candidate {
	uint64_t start;   /* 0: none */
	const char *name; /* extends to the end of its line, and includes the module */
};

struct kallsyms_search {
	uint64_t *addresses;              /* rising */
	struct kallsyms_candidate *found; /* [address] */
	size_t count;
	size_t at; /* the last line's position: most lines follow their neighbours */
	bool nonzero;
};

/* The first address that is not below `start`; `count` if all are. */
static size_t kallsyms_find_position(struct kallsyms_search *search, uint64_t start)
{
	if ((search->at == search->count || start <= search->addresses[search->at]) &&
		(search->at == 0 || start > search->addresses[search->at - 1]))
		return search->at;
	search->at = addresses_lower_bound(search->addresses, search->count, start);
	return search->at;
}

/* Parses `ffffffff81000000 T name\t[module]`; data symbols are skipped. */
static void kallsyms_take_line(struct kallsyms_search *search, const char *line, const char *end)
{
	struct text_cursor text = { line, end };
	uint64_t start;
	size_t position;

	if (!text_take_hex(&text, &start) || text_left(text) < 4 || text.at[0] != ' ' || text.at[2] != ' ')
		return;
	search->nonzero |= start != 0;
	if (start == 0 || !memchr("tTwWi", text.at[1], 5))
		return;
	position = kallsyms_find_position(search, start);
	if (position < search->count && start > search->found[position].start)
		search->found[position] = (struct kallsyms_candidate){ start, text.at + 3 };
}

static bool add_found(
	const struct kallsyms_candidate *found, const char *end, struct symbol_map *map, struct error *err)
{
	const char *stop = memchr(found->name, '\n', (size_t)(end - found->name)), *tab;
	size_t size = (size_t)((stop ? stop : end) - found->name);
	struct symbol_map_symbol symbol = { .start = found->start, .module = "", .file = "" };
	char name[MAX_NAME_BYTES];

	size = size < sizeof(name) ? size : sizeof(name) - 1;
	memcpy(name, found->name, size);
	name[size] = '\0';
	symbol.name = name;
	tab = memchr(name, '\t', size);
	if (tab) {
		name[tab - name] = '\0';
		symbol.module = tab + 1;
	}
	return symbol_map_add(map, &symbol, err);
}

static bool search_text(
	struct kallsyms_search *search, const char *text, size_t size, struct symbol_map *map, struct error *err)
{
	const char *end = text + size;

	for (const char *line = text; line < end;) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));

		stop = stop ? stop : end;
		kallsyms_take_line(search, line, stop);
		line = stop + 1;
	}
	for (size_t i = 0; i < search->count; i++)
		if (search->found[i].start != 0 && !add_found(&search->found[i], end, map, err))
			return false;
	return true;
}

bool kallsyms_read(const struct file_opened *file, const uint64_t *addresses, size_t count, struct symbol_map **map,
	bool *restricted, struct error *err)
{
	CLEANUP(cleanup_free) uint64_t *sorted = addresses_sorted(addresses, count);
	CLEANUP(cleanup_free) struct kallsyms_candidate *found = calloc(count + 1, sizeof(*found));
	struct kallsyms_search search = { .addresses = sorted, .found = found, .count = count };
	struct symbol_map *made = NULL;
	struct buffer text = BUFFER_INIT(max_text_bytes);
	bool ok;

	if (!sorted || !found)
		return error_set_memory(err);
	ok = file_read_opened(file, &text, err) && symbol_map_create(&made, err) &&
	     search_text(&search, text.data ? text.data : "", text.size, made, err);
	buffer_deinit(&text);
	if (!ok) {
		symbol_map_destroy(made);
		return false;
	}
	*restricted = !search.nonzero;
	*map = made;
	return true;
}
