/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/routes/routes.h"
#include "tests/unit/support/unit_test.h"

#include <stdlib.h>
#include <string.h>

/* Takes bytes from a block of their own, so that a read past them is seen. */
static inline size_t take_bytes(struct routes *routes, struct routes_connection *connection, const void *bytes,
	size_t count, size_t size, uint32_t ids[static ROUTES_MOST_AT_ONCE])
{
	void *exact = malloc(count ? count : 1);
	size_t requests;

	memcpy(exact, bytes, count);
	requests = routes_take(routes, connection, (struct routes_bytes){ exact, count, size }, ids);
	free(exact);
	return requests;
}

/* A word for each number below 400. */
static inline const char *word_of(unsigned int number, char word[static 40])
{
	static const char *const first[] = { "silver", "happy", "north", "green", "rapid", "tiny", "lunar", "amber",
		"bold", "calm", "eager", "fancy", "gentle", "honest", "jolly", "kind", "lively", "merry", "nice",
		"proud" };
	static const char *const second[] = { "otter", "falcon", "river", "garden", "engine", "planet", "harbor",
		"meadow", "castle", "window", "market", "forest", "bridge", "candle", "rocket", "island", "button",
		"ladder", "mirror", "pepper" };

	snprintf(word, 40, "%s-%s", first[number % 20], second[number / 20 % 20]);
	return word;
}

static inline enum routes_outcome answer_bytes(
	struct routes_connection *connection, const void *bytes, size_t count, size_t size)
{
	void *exact = malloc(count ? count : 1);
	enum routes_outcome outcome;

	memcpy(exact, bytes, count);
	outcome = routes_answer(connection, (struct routes_bytes){ exact, count, size });
	free(exact);
	return outcome;
}

/*
 * The names of the requests that a text has when it is the first one of a connection, with "; " between them; owned by
 * the caller.
 */
static inline char *names_of(const void *bytes, size_t count)
{
	struct routes *routes = routes_create();
	struct routes_connection connection = { 0 };
	struct buffer names = BUFFER_INIT(1 << 20);
	uint32_t ids[ROUTES_MOST_AT_ONCE];
	size_t requests = take_bytes(routes, &connection, bytes, count, count, ids);

	routes_finish(routes);
	buffer_append_string(&names, "");
	for (size_t i = 0; i < requests; i++)
		buffer_printf(&names, "%s%s", i > 0 ? "; " : "", routes_name(routes, routes_final(routes, ids[i])));
	routes_connection_deinit(&connection);
	routes_destroy(routes);
	return names.data ? names.data : strdup("");
}

static inline void assert_names_of(const void *bytes, size_t count, const char *expected)
{
	char *names = names_of(bytes, count);

	assert_string_equal(names, expected);
	free(names);
}

/* The same of a string. */
static inline void assert_routes(const char *text, const char *expected)
{
	assert_names_of(text, strlen(text), expected);
}

/* What a name may consist of. */
static inline bool is_clean_name(const char *name)
{
	const char *any = "{…}";

	if (strlen(name) > ROUTES_NAME_BYTES)
		return false;
	while (*name) {
		if (strncmp(name, any, strlen(any)) == 0)
			name += strlen(any);
		else if (*name >= ' ' && *name <= '~' && !strchr("\"'<>&`\\|;$%@=", *name))
			name++;
		else
			return false;
	}
	return true;
}
