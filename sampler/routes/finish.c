/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/routes/table_nodes.h"

#include <stdlib.h>

enum { RENAMES_MOST = 1000 };

bool routes_rename(struct routes *routes, const char *rename, struct error *err)
{
	const char *equals = strrchr(rename, '=');
	struct buffer name = BUFFER_INIT(ROUTES_NAME_BYTES);
	struct routes_rename_rule rule = { 0 };
	char *expression;
	bool ok;

	if (!equals || equals == rename || !equals[1])
		return error_set(err, ERROR_USAGE, "a route is renamed by REGEX=NAME");
	unicode_append_clean(&name, equals + 1);
	if (!buffer_ok(&name, err)) {
		buffer_deinit(&name);
		return false;
	}
	expression = memory_copy_text(rename, (size_t)(equals - rename));
	ok = expression_create(expression, false, &rule.expression, err);
	free(expression);
	rule.name = name.data;
	if (ok && ARRAY_APPEND(
			  &routes->renames, &routes->rename_capacity, &routes->rename_count, RENAMES_MOST, err, rule))
		return true;
	expression_destroy(rule.expression);
	buffer_deinit(&name);
	return false;
}

/* Appends "/segment/segment": the places from below the root to this one. */
static void append_route_path(const struct routes *routes, uint32_t place, struct buffer *name)
{
	uint32_t path[PLACE_MOST_SEGMENTS + 2];
	size_t count = 0;

	for (; place >= PLACE_ROOTS && count < sizeof(path) / sizeof(*path); place = routes->places[place].parent)
		path[count++] = place;
	/* The target `*` has no slash. */
	if (count == 1 && strcmp(string_table_get(routes->texts, routes->places[path[0]].text), "*") == 0) {
		buffer_append_byte(name, '*');
		return;
	}
	if (count == 0)
		buffer_append_byte(name, '/');
	while (count-- > 0) {
		buffer_append_byte(name, '/');
		buffer_append_string(name, string_table_get(routes->texts, routes->places[path[count]].text));
	}
}

static uint32_t root_of(const struct routes *routes, uint32_t place)
{
	while (place >= PLACE_ROOTS)
		place = routes->places[place].parent;
	return place;
}

static const char *renamed(const struct routes *routes, const struct buffer *name)
{
	for (size_t i = 0; i < routes->rename_count; i++)
		if (expression_matches(routes->renames[i].expression, name->data, name->size))
			return routes->renames[i].name;
	return name->data;
}

/* The text of a leaf's name. */
static uint32_t name_leaf(struct routes *routes, uint32_t leaf)
{
	struct buffer name = BUFFER_INIT(ROUTES_NAME_BYTES);
	uint32_t parent = routes->places[leaf].parent, root = root_of(routes, leaf), text;
	const char *final;

	buffer_append_string(&name, string_table_get(routes->texts, routes->places[leaf].text));
	if (root == PLACE_PATHS) {
		buffer_append_byte(&name, ' ');
		append_route_path(routes, parent, &name);
	} else if (root == PLACE_TABLES && parent != PLACE_TABLES) {
		buffer_append_byte(&name, ' ');
		buffer_append_string(&name, string_table_get(routes->texts, routes->places[parent].text));
	}
	final = renamed(routes, &name);
	text = string_table_enter(routes->texts, final, strlen(final));
	buffer_deinit(&name);
	return text;
}

static int finals_by_requests(const void *a, const void *b)
{
	const struct final_route *x = a, *y = b;
	int order = ORDER(y->requests, x->requests);

	return order ? order : strcmp(x->name, y->name);
}

/* Sums leaves of one name: renames have made one route of them. [text]: its route. */
static void add_final(struct routes *routes, struct hash_map *by_text, uint32_t text, const struct place *leaf)
{
	bool added;
	uint32_t at = *hash_map_enter(by_text, &text, (uint32_t)routes->final_count, &added);

	if (added)
		ARRAY_PUSH(&routes->finals, &routes->final_capacity, &routes->final_count,
			(struct final_route){
				.name = string_table_get(routes->texts, text), .protocol = leaf->protocol });
	routes->finals[at].requests += leaf->requests;
}

/* Sorts the routes, and makes of all beyond the bound the one that stands first. */
static void bound_finals(struct routes *routes)
{
	struct final_route other = { .name = "other", .requests = routes->places[ROUTES_OTHER].requests };
	size_t kept = ROUTES_MOST - 1;

	/* There is room for it, and so there are items to sort. */
	ARRAY_GROW(&routes->finals, &routes->final_capacity, routes->final_count + 1);
	qsort(routes->finals, routes->final_count, sizeof(*routes->finals), finals_by_requests);
	for (size_t i = kept; i < routes->final_count; i++)
		other.requests += routes->finals[i].requests;
	if (routes->final_count > kept)
		routes->final_count = kept;
	memmove(routes->finals + 1, routes->finals, routes->final_count * sizeof(*routes->finals));
	routes->finals[0] = other;
	routes->final_count++;
}

void routes_finish(struct routes *routes)
{
	uint32_t *names = memory_zeroed(ROUTES_MOST_PLACES, sizeof(*names));
	struct hash_map by_text;

	places_join_variable(routes);
	hash_map_init(&by_text, sizeof(uint32_t));
	for (uint32_t i = PLACE_ROOTS; i < routes->place_count; i++)
		if (routes->places[i].is_verb && !routes->places[i].merged_into && routes->places[i].requests > 0) {
			names[i] = name_leaf(routes, i);
			add_final(routes, &by_text, names[i], &routes->places[i]);
		}
	hash_map_deinit(&by_text);
	bound_finals(routes);

	hash_map_init(&by_text, sizeof(const char *));
	for (uint32_t i = 1; i < routes->final_count; i++) {
		bool added;

		hash_map_enter(&by_text, &routes->finals[i].name, i, &added);
	}
	routes->final_of = memory_zeroed(routes->place_count, sizeof(*routes->final_of));
	for (uint32_t i = PLACE_ROOTS; i < routes->place_count; i++) {
		const char *name = string_table_get(routes->texts, names[places_current(routes, i)]);
		uint32_t final = hash_map_get(&by_text, &name);

		routes->final_of[i] = final == HASH_MAP_NONE ? ROUTES_OTHER : final;
	}
	hash_map_deinit(&by_text);
	free(names);
}

uint32_t routes_final(const struct routes *routes, uint32_t provisional)
{
	return routes->final_of[provisional];
}

uint32_t routes_count(const struct routes *routes)
{
	return (uint32_t)routes->final_count;
}

const char *routes_name(const struct routes *routes, uint32_t final)
{
	return routes->finals[final].name;
}

uint64_t routes_requests(const struct routes *routes, uint32_t final)
{
	return routes->finals[final].requests;
}

enum routes_protocol routes_protocol_of(const struct routes *routes, uint32_t final)
{
	return routes->finals[final].protocol;
}
