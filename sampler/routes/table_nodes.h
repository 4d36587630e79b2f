/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/profile.h"
#include "sampler/routes/table.h"

/* What the tree of places consists of, for those that build it (table.c), join it (join.c) and name it (finish.c). */

struct place {
	uint32_t parent, text; /* text: of `texts` */
	uint32_t first, next;  /* child and sibling; 0: none */
	uint32_t values;       /* children that are segments */
	uint32_t joined;       /* the child that has taken the place of all segments; 0: they are apart */
	uint32_t merged_into;  /* 0: it stands for itself */
	uint64_t requests;     /* of a leaf; after places_join() of all places, with those below */
	uint8_t is_verb;
	uint8_t protocol; /* of the first request */
};

struct final_route {
	const char *name; /* of `texts` */
	uint64_t requests;
	enum routes_protocol protocol;
};

struct routes_rename_rule {
	struct expression *expression;
	char *name;
};

struct routes {
	struct string_table *texts;
	struct place *places; /* owned; PLACE_ROOTS first */
	size_t place_count, place_capacity;
	struct hash_map children; /* struct place_child to a place */
	struct routes_rename_rule *renames;
	size_t rename_count, rename_capacity;
	struct final_route *finals; /* owned, after routes_finish() */
	size_t final_count, final_capacity;
	uint32_t *final_of; /* owned: [place] */
};

struct place_child {
	uint32_t parent, text_and_kind;
};

/* The place that one stands for, now that places were joined. */
uint32_t places_current(const struct routes *routes, uint32_t place);

/* A child that is there, or 0. */
uint32_t places_find(const struct routes *routes, uint32_t parent, uint32_t text, bool is_verb);

/* Makes `place` a child of `parent`, which has none of its text. */
void places_link(struct routes *routes, uint32_t parent, uint32_t place);

/* Adds a place without a parent; 0: the table is full. is_mark: it takes the place of others. */
uint32_t places_add(struct routes *routes, uint32_t text, bool is_verb, bool is_mark);

/* join.c: makes one segment of all those that stand at `place`. */
void places_join(struct routes *routes, uint32_t place);

/* Sums the requests of each place, and joins those whose values are no vocabulary. */
void places_join_variable(struct routes *routes);
