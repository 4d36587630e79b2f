/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/routes/taking.h"

#include <stdio.h>

/*
 * data/public_apis.txt: paths of public APIs, with their parameters in braces; `# NAME` begins an API, which is one
 * service here. Each path is asked for with as many values of its parameters as a service sees, and must come back as
 * one route: its fixed words as they are, its parameters as {id} or {…}. Where it is known to come back otherwise, the
 * route stands behind it.
 */
static const char file_name[] = "data/public_apis.txt";

enum { MOST_PATHS = 400, MOST_PATH = 200, REQUESTS_OF_PATH = 300 };

struct api {
	char name[MOST_PATH];
	char paths[MOST_PATHS][MOST_PATH];
	size_t count;
};

/* Parameters whose values are names that people choose; all others are numbers or keys that machines make. */
static const char *const named[] = { "owner", "repo", "org", "username", "namespace", "name", "team_slug", "app_slug",
	"enterprise", "branch", "license" };

static bool is_named(struct text_cursor parameter)
{
	for (size_t i = 0; i < sizeof(named) / sizeof(*named); i++)
		if (text_is(parameter, named[i]))
			return true;
	return false;
}

/* A value that a parameter may have: the same number gives the same one. */
static void append_value(struct buffer *path, struct text_cursor parameter, uint64_t number)
{
	char word[40];
	uint64_t hash = hash_mix(number + 1, 0x9e3779b97f4a7c15);

	if (is_named(parameter))
		buffer_append_string(path, word_of((unsigned int)number, word));
	else if (text_is(parameter, "sha"))
		buffer_printf(path, "%016llx%016llx%08llx", (unsigned long long)hash, (unsigned long long)~hash,
			(unsigned long long)hash >> 32);
	else if (text_is(parameter, "uuid") || text_is(parameter, "uid"))
		buffer_printf(path, "%08llx-%04llx-4%03llx-8%03llx-%012llx", (unsigned long long)hash >> 32,
			(unsigned long long)hash >> 16 & 0xffff, (unsigned long long)hash & 0xfff,
			(unsigned long long)hash >> 4 & 0xfff, (unsigned long long)hash >> 16);
	else if (text_is(parameter, "key"))
		buffer_printf(path, "PROJ-%u", (unsigned int)number + 1);
	else if (number % 2)
		buffer_printf(path, "cus_%llx%c", (unsigned long long)hash >> 8, "KZQ"[number % 3]);
	else
		buffer_printf(path, "%llu", (unsigned long long)hash % 100000);
}

static void append_path(struct buffer *path, const char *pattern, uint64_t number)
{
	while (*pattern) {
		size_t fixed = strcspn(pattern, "{"), parameter;

		buffer_append(path, pattern, fixed);
		pattern += fixed;
		if (!*pattern)
			break;
		parameter = strcspn(pattern, "}");
		/* Each parameter of a path varies on its own. */
		append_value(path, text_over(pattern + 1, parameter - 1), number * 7 % 400 + parameter);
		number = number * 31 + 7;
		pattern += parameter + 1;
	}
}

/* Whether a route is the path: the same words, and marks where it has parameters. */
static bool is_route_of(const char *route, const char *pattern)
{
	static const char *const marks[] = { "{id}", "{…}" };

	if (strchr(pattern, ' '))
		return strcmp(route, strchr(pattern, ' ') + 1) == 0;

	while (*pattern && *route) {
		if (*pattern != '{') {
			if (*pattern++ != *route++)
				return false;
			continue;
		}
		pattern += strcspn(pattern, "}") + 1;
		if (strncmp(route, marks[0], strlen(marks[0])) == 0)
			route += strlen(marks[0]);
		else if (strncmp(route, marks[1], strlen(marks[1])) == 0)
			route += strlen(marks[1]);
		else
			return false;
	}
	return !*pattern && !*route;
}

static bool read_api(FILE *file, struct api *api)
{
	char line[MOST_PATH];
	long at = ftell(file);

	*api = (struct api){ 0 };
	while (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		if (line[0] == '#') {
			if (api->name[0])
				break;
			memcpy(api->name, line + 2, sizeof(line) - 2);
		} else {
			assert_true(api->count < MOST_PATHS);
			memcpy(api->paths[api->count++], line, sizeof(line));
		}
		at = ftell(file);
	}
	fseek(file, at, SEEK_SET);
	return api->name[0];
}

static uint32_t ask(struct routes *routes, const char *pattern, uint64_t number)
{
	struct routes_connection connection = { 0 };
	struct buffer request = BUFFER_INIT(4096);
	char *path = strndup(pattern, strcspn(pattern, " "));
	uint32_t ids[ROUTES_MOST_AT_ONCE];

	buffer_append_string(&request, "GET ");
	append_path(&request, path, number);
	free(path);
	buffer_append_string(&request, "?page=2 HTTP/1.1\r\nHost: x\r\n\r\n");
	assert_int_equal(take_bytes(routes, &connection, request.data, request.size, request.size, ids), 1);
	routes_connection_deinit(&connection);
	buffer_deinit(&request);
	return ids[0];
}

/* Asks for paths, no more than there may be routes, and returns how many have come back otherwise. */
static size_t count_wrong(const struct api *api, size_t first, size_t count)
{
	struct routes *routes = routes_create();
	uint32_t(*ids)[REQUESTS_OF_PATH] = calloc(count, sizeof(*ids));
	size_t wrong = 0;

	for (size_t k = 0; k < REQUESTS_OF_PATH; k++)
		for (size_t i = 0; i < count; i++)
			ids[i][k] = ask(routes, api->paths[first + i], k);
	routes_finish(routes);
	for (size_t i = 0; i < count; i++) {
		const char *name = routes_name(routes, routes_final(routes, ids[i][0]));

		for (size_t k = 1; k < REQUESTS_OF_PATH; k++)
			assert_string_equal(routes_name(routes, routes_final(routes, ids[i][k])), name);
		if (!is_route_of(name + strlen("GET "), api->paths[first + i])) {
			print_message("%s: %s became %s\n", api->name, api->paths[first + i], name);
			wrong++;
		}
	}
	free(ids);
	routes_destroy(routes);
	return wrong;
}

static void paths_keep_their_words_and_lose_their_parameters(void **state)
{
	struct api *api = malloc(sizeof(*api));
	FILE *file = fopen(file_name, "r");
	size_t wrong = 0, count = 0;

	assert_non_null(file);
	while (read_api(file, api)) {
		for (size_t first = 0; first < api->count; first += ROUTES_MOST - 1)
			wrong += count_wrong(api, first,
				api->count - first < ROUTES_MOST - 1 ? api->count - first : ROUTES_MOST - 1);
		count += api->count;
	}
	fclose(file);
	free(api);
	print_message("%zu of %zu paths are wrong\n", wrong, count);
	assert_true(count > 1000);
	assert_int_equal(wrong, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_keep_their_words_and_lose_their_parameters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
