/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/routes/routes.h"

/*
 * The tree of places: what requests ask for, segment by segment, with verbs as its leaves. A leaf is a provisional
 * route. Verbs stand below paths, so that a place has the values that all verbs have there.
 */

/* The roots of the tree, which are the ids of its first nodes. Node 0 is ROUTES_OTHER. */
enum {
	PLACE_PATHS = 1, /* HTTP: /segment/segment, and the method */
	PLACE_TABLES,    /* SQL: the table, and the statement's verb */
	PLACE_NAMES,     /* names as they stand, such as "redis GET" */
	PLACE_ROOTS,
};

enum {
	PLACE_MOST_SEGMENTS = 16, /* what is below has no place of its own */
	PLACE_TEXT_BYTES = 40,    /* of a segment or verb */
};

/* Where there is no place: what was read asks for none. */
static const uint32_t PLACE_NONE = UINT32_MAX;

/* What stands for segments that are no words, and for those that were joined or not seen. */
#define PLACE_ID "{id}"
#define PLACE_ANY "{…}"

/*
 * The place of a segment below `parent`, which the table may add; ROUTES_OTHER if it is full, or `parent` is that. The
 * text is one that a name may hold (sampler/routes/word.h), of at most PLACE_TEXT_BYTES.
 */
uint32_t places_enter(struct routes *routes, uint32_t parent, struct text_cursor text);

/* The place of a segment of a request, whatever it holds. */
uint32_t places_enter_segment(struct routes *routes, uint32_t parent, struct text_cursor segment);

/* The place of a path: what stands before `?` or `#`. is_cut: more of it may follow, so its last segment is not named.
 */
uint32_t places_enter_path(struct routes *routes, struct text_cursor path, bool is_cut);

/* The leaf below a place, or below PLACE_NAMES. The verb is a word of the room's own tables. */
uint32_t places_enter_verb(struct routes *routes, uint32_t place, const char *verb);

/* Counts a request of a leaf. */
void places_count(struct routes *routes, uint32_t leaf, enum routes_protocol protocol);
