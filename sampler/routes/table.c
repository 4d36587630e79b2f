/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/routes/table.h"

#include "sampler/routes/table_nodes.h"
#include "sampler/routes/word.h"

#include <stdlib.h>

enum {
	MOST_VALUES = 100,
	MOST_SEGMENT_PLACES = ROUTES_MOST_PLACES / 16 * 15,
	TEXTS_MOST_BYTES = 16 << 20,
};

struct routes *routes_create(void)
{
	struct routes *routes = memory_zeroed(1, sizeof(*routes));

	routes->texts = string_table_begin(TEXTS_MOST_BYTES);
	hash_map_init(&routes->children, sizeof(struct place_child));
	ARRAY_GROW(&routes->places, &routes->place_capacity, PLACE_ROOTS);
	memset(routes->places, 0, PLACE_ROOTS * sizeof(*routes->places));
	routes->place_count = PLACE_ROOTS;
	return routes;
}

void routes_destroy(struct routes *routes)
{
	if (!routes)
		return;
	for (size_t i = 0; i < routes->rename_count; i++) {
		expression_destroy(routes->renames[i].expression);
		free(routes->renames[i].name);
	}
	free(routes->renames);
	free(routes->finals);
	free(routes->final_of);
	free(routes->places);
	hash_map_deinit(&routes->children);
	string_table_destroy(routes->texts);
	free(routes);
}

uint32_t places_current(const struct routes *routes, uint32_t place)
{
	while (routes->places[place].merged_into)
		place = routes->places[place].merged_into;
	return place;
}

static struct place_child child_key(uint32_t parent, uint32_t text, bool is_verb)
{
	return (struct place_child){ parent, text << 1 | is_verb };
}

uint32_t places_find(const struct routes *routes, uint32_t parent, uint32_t text, bool is_verb)
{
	struct place_child key = child_key(parent, text, is_verb);
	uint32_t found = hash_map_get(&routes->children, &key);

	return found == HASH_MAP_NONE ? 0 : found;
}

void places_link(struct routes *routes, uint32_t parent, uint32_t place)
{
	struct place *linked = &routes->places[place];
	struct place_child key = child_key(parent, linked->text, linked->is_verb);
	bool added;

	*hash_map_enter(&routes->children, &key, place, &added) = place;
	linked->parent = parent;
	linked->next = routes->places[parent].first;
	routes->places[parent].first = place;
	routes->places[parent].values += !linked->is_verb;
}

uint32_t places_add(struct routes *routes, uint32_t text, bool is_verb, bool is_mark)
{
	/* What joins places has room left when nothing else has. */
	if (routes->place_count >= (is_mark ? ROUTES_MOST_PLACES : MOST_SEGMENT_PLACES))
		return 0;
	ARRAY_PUSH(&routes->places, &routes->place_capacity, &routes->place_count,
		(struct place){ .text = text, .is_verb = is_verb });
	return (uint32_t)routes->place_count - 1;
}

static uint32_t enter_child(struct routes *routes, uint32_t parent, struct text_cursor text, bool is_verb)
{
	uint32_t text_id, child;

	if (parent == ROUTES_OTHER)
		return ROUTES_OTHER;
	parent = places_current(routes, parent);
	if (!is_verb && routes->places[parent].joined)
		return routes->places[parent].joined;
	text_id = string_table_enter(routes->texts, text.at, text_left(text));
	child = places_find(routes, parent, text_id, is_verb);
	if (child)
		return child;
	child = places_add(routes, text_id, is_verb, false);
	if (!child)
		return ROUTES_OTHER;
	places_link(routes, parent, child);
	if (routes->places[parent].values > MOST_VALUES)
		places_join(routes, parent);
	return places_current(routes, child);
}

uint32_t places_enter(struct routes *routes, uint32_t parent, struct text_cursor text)
{
	return enter_child(routes, parent, text, false);
}

uint32_t places_enter_segment(struct routes *routes, uint32_t parent, struct text_cursor segment)
{
	struct text_cursor kept = word_kept(segment);

	/* An empty segment is what a path has behind its last slash. */
	if (text_left(segment) > 0 && text_left(kept) == 0)
		kept = text_over(PLACE_ID, strlen(PLACE_ID));
	return places_enter(routes, parent, kept);
}

/*
 * What names an address rather than a segment: user info, a host, what stands behind `;`. A segment that has such bytes
 * is data as a whole (word.h), so only the ends of the path matter here.
 */
uint32_t places_enter_path(struct routes *routes, struct text_cursor path, bool is_cut)
{
	const struct text_cursor any = text_over(PLACE_ANY, strlen(PLACE_ANY));
	uint32_t place = PLACE_PATHS;
	unsigned int count = 0;

	text_take_byte(&path, '/');
	for (;;) {
		struct text_cursor segment = text_take_word(&path, "/?#");
		bool is_last = !text_is_at(path, '/');

		if (is_last && is_cut && text_left(path) == 0)
			return places_enter(routes, place, any);
		if (text_left(segment) > 0 && ++count > PLACE_MOST_SEGMENTS)
			return places_enter(routes, place, any);
		if (text_left(segment) > 0 || (is_last && count > 0))
			place = places_enter_segment(routes, place, segment);
		if (is_last)
			return place;
		path.at++;
	}
}

uint32_t places_enter_verb(struct routes *routes, uint32_t place, const char *verb)
{
	return enter_child(routes, place, text_over(verb, strlen(verb)), true);
}

void places_count(struct routes *routes, uint32_t leaf, enum routes_protocol protocol)
{
	struct place *place = &routes->places[places_current(routes, leaf)];

	if (place->requests++ == 0)
		place->protocol = (uint8_t)protocol;
}
