/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/routes/statements.h"

struct statements *statements_of(struct routes_connection *connection)
{
	if (!connection->statements)
		connection->statements = memory_zeroed(1, sizeof(*connection->statements));
	return connection->statements;
}

void statements_set(struct statements *statements, uint64_t key, uint32_t route)
{
	for (size_t i = 0; i < STATEMENTS_MOST; i++)
		if (statements->items[i].route && statements->items[i].key == key) {
			statements->items[i].route = route;
			return;
		}
	statements->items[statements->next] = (struct statement){ key, route };
	statements->next = (statements->next + 1) % STATEMENTS_MOST;
}

uint32_t statements_get(const struct statements *statements, uint64_t key)
{
	for (size_t i = 0; i < STATEMENTS_MOST; i++)
		if (statements->items[i].route && statements->items[i].key == key)
			return statements->items[i].route;
	return 0;
}
