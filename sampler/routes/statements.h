/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/routes/routes.h"

/* Statements that a client has prepared, by a hash of their name or by their number: the latest ones. */
enum { STATEMENTS_MOST = 64 };

struct statements {
	struct statement {
		uint64_t key;   /* of the connection */
		uint32_t route; /* provisional id; 0: a free place */
	} items[STATEMENTS_MOST];
	uint32_t next;     /* where the next one goes */
	uint32_t bound;    /* the route whose execution goes on; 0: none */
	uint32_t prepared; /* MySQL: the route that waits for its number; 0: none */
};

/* Returns the connection's statements, which are made when the first one is there. */
struct statements *statements_of(struct routes_connection *connection);

/* Remembers the route of a statement, in the place of an older one of that key. */
void statements_set(struct statements *statements, uint64_t key, uint32_t route);

/* The route, or 0: it is not known. */
uint32_t statements_get(const struct statements *statements, uint64_t key);
