/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/routes/routes.h"

#include <stdlib.h>
#include <string.h>

/*
 * What a client sends on a connection, and what it is answered: messages, each behind its size and a byte that says
 * what it is.
 */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { IS_ANSWER = 1, IS_CUT = 2, IS_MISSED = 4, IS_NEW = 8 };

static void check_name(const char *name)
{
	static const char any[] = "{…}";

	if (strlen(name) > ROUTES_NAME_BYTES)
		abort();
	while (*name) {
		if (strncmp(name, any, strlen(any)) == 0)
			name += strlen(any);
		else if (*name < ' ' || *name > '~' || strchr("\"'<>&`\\|;$%@=", *name++))
			abort();
	}
}

static void take(
	struct routes *routes, struct routes_connection *connection, uint8_t kind, const uint8_t *bytes, size_t count)
{
	/* In a block of its own, so that a read past it is seen. */
	uint8_t *exact = malloc(count ? count : 1);
	struct routes_bytes read = { exact, count, kind & IS_CUT ? count + 100 : count };
	uint32_t ids[ROUTES_MOST_AT_ONCE];

	memcpy(exact, bytes, count);
	if (kind & IS_NEW)
		routes_connection_deinit(connection);
	if (kind & IS_MISSED)
		routes_connection_miss(connection);
	if (kind & IS_ANSWER)
		routes_answer(connection, read);
	else if (routes_take(routes, connection, read, ids) > ROUTES_MOST_AT_ONCE)
		abort();
	free(exact);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct routes *routes = routes_create();
	struct routes_connection connection = { 0 };

	while (size >= 2) {
		size_t count = data[0] < size - 2 ? data[0] : size - 2;

		take(routes, &connection, data[1], data + 2, count);
		data += 2 + count;
		size -= 2 + count;
	}
	routes_finish(routes);
	for (uint32_t i = 0; i < routes_count(routes); i++)
		check_name(routes_name(routes, i));
	routes_connection_deinit(&connection);
	routes_destroy(routes);
	return 0;
}
