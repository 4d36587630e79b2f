/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/kernel.h"

#include "symbolize/addresses.h"

#include <stdlib.h>
#include <string.h>

/* Parses `name+0x1d/0x40 [module]`; outside of functions the kernel prints the bare address. */
static bool kernel_parse(char *text, uint64_t address, struct symbol_map_symbol *symbol)
{
	char *plus = strrchr(text, '+'), *module = strstr(text, " ["), *end;
	uint64_t offset, size;

	if (!plus || plus == text)
		return false;
	offset = strtoull(plus + 1, &end, 16);
	if (*end != '/')
		return false;
	size = strtoull(end + 1, NULL, 16);
	if (size <= offset || offset > address)
		return false;
	*plus = '\0';
	*symbol = (struct symbol_map_symbol){
		.start = address - offset, .size = size, .name = text, .module = "", .file = ""
	};
	if (module && module > plus)
		symbol->module = module + 1;
	return true;
}

/* Looks the addresses up in rising order: one inside the previous function needs no lookup. */
static bool ask_sorted(const struct symbolize_kernel *kernel, void *names, const uint64_t *addresses, size_t count,
	struct symbol_map *map, bool *answered, struct error *err)
{
	struct symbol_map_symbol symbol = { 0 };

	*answered = true;
	for (size_t i = 0; i < count; i++) {
		char *text;

		if (i > 0 && addresses[i] - symbol.start < symbol.size)
			continue;
		text = kernel->print(names, addresses[i]);
		if (!text) {
			*answered = false;
			return true;
		}
		if (kernel_parse(text, addresses[i], &symbol) && !symbol_map_add(map, &symbol, err))
			return false;
	}
	return true;
}

bool kernel_ask(const struct symbolize_kernel *kernel, const uint64_t *addresses, size_t count, struct symbol_map **map,
	struct error *err)
{
	CLEANUP(cleanup_free) uint64_t *sorted = addresses_sorted(addresses, count);
	struct symbol_map *made = NULL;
	bool answered = false, ok;
	void *names;

	*map = NULL;
	if (!sorted)
		return error_set_memory(err);
	if (!kernel->begin(&names))
		return true;
	ok = symbol_map_create(&made, err) && ask_sorted(kernel, names, sorted, count, made, &answered, err);
	kernel->end(names);
	if (!ok || !answered) {
		symbol_map_destroy(made);
		return ok;
	}
	*map = made;
	return true;
}
