/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/kallsyms.h"

#include <stdlib.h>
#include <string.h>

enum { ADDRESS_DIGITS = 16, MAX_NAME_BYTES = 1 << 12 };
static const size_t max_text_bytes = (size_t)1 << 30;

/* The nearest function that does not lie behind an address. */
struct candidate {
	uint64_t start;   /* 0: none */
	const char *name; /* up to the end of its line, the module with it */
};

struct search {
	uint64_t *addresses;     /* rising */
	struct candidate *found; /* [address] */
	size_t count;
	size_t at; /* where the last line stood: most follow their neighbours */
	bool nonzero;
};

/* Digits only: a sign or `0x` is no address of the kernel's. */
static uint64_t take_hex(const char **text, const char *end)
{
	uint64_t value = 0;
	const char *pos = *text;

	for (; pos < end && pos - *text <= ADDRESS_DIGITS; pos++) {
		unsigned int digit = (unsigned char)*pos;

		if (digit - '0' < 10)
			digit -= '0';
		else if ((digit | 0x20) - 'a' < 6)
			digit = (digit | 0x20) - 'a' + 10;
		else
			break;
		value = value << 4 | digit;
	}
	*text = pos;
	return value;
}

/* The first address that is not before `start`; `count` when all are. */
static size_t find_place(struct search *search, uint64_t start)
{
	size_t low = 0, high = search->count;

	if ((search->at == high || start <= search->addresses[search->at]) &&
		(search->at == 0 || start > search->addresses[search->at - 1]))
		return search->at;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (search->addresses[middle] < start)
			low = middle + 1;
		else
			high = middle;
	}
	search->at = low;
	return low;
}

/* `ffffffff81000000 T name\t[module]`; data symbols are passed over. */
static void take_line(struct search *search, const char *line, const char *end)
{
	const char *pos = line;
	uint64_t start = take_hex(&pos, end);
	size_t place;

	if (pos == line || end - pos < 4 || pos[0] != ' ' || pos[2] != ' ')
		return;
	search->nonzero |= start != 0;
	if (start == 0 || !memchr("tTwWi", pos[1], 5))
		return;
	place = find_place(search, start);
	if (place < search->count && start > search->found[place].start)
		search->found[place] = (struct candidate){ start, pos + 3 };
}

static int compare_addresses(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

static bool add_found(const struct candidate *found, const char *end, struct symbol_map *map, struct error *err)
{
	const char *stop = memchr(found->name, '\n', (size_t)(end - found->name)), *tab;
	size_t size = (size_t)((stop ? stop : end) - found->name);
	struct symbol_map_symbol symbol = { .start = found->start, .module = "" };
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

static bool search_text(struct search *search, const char *text, size_t size, struct symbol_map *map, struct error *err)
{
	const char *end = text + size;

	for (const char *line = text; line < end;) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));

		stop = stop ? stop : end;
		take_line(search, line, stop);
		line = stop + 1;
	}
	for (size_t i = 0; i < search->count; i++)
		if (search->found[i].start != 0 && !add_found(&search->found[i], end, map, err))
			return false;
	return true;
}

static bool read_text(const char *path, struct buffer *text, struct error *err)
{
	struct error why;

	if (file_read(path, text, &why) || why.code == ERROR_NOT_FOUND || why.code == ERROR_PERMISSION)
		return true;
	*err = why;
	return false;
}

bool kallsyms_read(
	const char *path, const uint64_t *addresses, size_t count, struct symbol_map **map, bool *restricted, struct error *err)
{
	CLEANUP(cleanup_free) uint64_t *sorted = calloc(count + 1, sizeof(*sorted));
	CLEANUP(cleanup_free) struct candidate *found = calloc(count + 1, sizeof(*found));
	struct search search = { .addresses = sorted, .found = found, .count = count };
	struct symbol_map *made = NULL;
	struct buffer text;
	bool ok;

	if (!sorted || !found)
		return error_set_memory(err);
	if (count)
		memcpy(sorted, addresses, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), compare_addresses);
	buffer_init(&text, max_text_bytes);
	ok = read_text(path, &text, err) && symbol_map_create(&made, err) &&
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
