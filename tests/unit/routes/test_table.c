/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/routes/taking.h"

static uint32_t ask(struct routes *routes, const char *method, const char *path)
{
	struct routes_connection connection = { 0 };
	uint32_t ids[ROUTES_MOST_AT_ONCE];
	char request[512];

	snprintf(request, sizeof(request), "%s %s HTTP/1.1\r\nHost: x\r\n\r\n", method, path);
	assert_int_equal(take_bytes(routes, &connection, request, strlen(request), strlen(request), ids), 1);
	routes_connection_deinit(&connection);
	return ids[0];
}

/* Asks for a word of that number, between two texts. */
static void ask_word(struct routes *routes, const char *before, unsigned int number, const char *after)
{
	char path[128], word[40];

	snprintf(path, sizeof(path), "%s%s%s", before, word_of(number, word), after);
	ask(routes, "GET", path);
}

static bool has_route(const struct routes *routes, const char *name, uint64_t requests)
{
	for (uint32_t i = 0; i < routes_count(routes); i++)
		if (strcmp(routes_name(routes, i), name) == 0)
			return routes_requests(routes, i) == requests;
	return false;
}

static void few_values_stay_apart(void **state)
{
	struct routes *routes = routes_create();

	for (unsigned int i = 0; i < 20; i++)
		ask_word(routes, "/articles/", i, "");
	routes_finish(routes);
	assert_int_equal(routes_count(routes), 21);
	assert_true(has_route(routes, "GET /articles/silver-otter", 1));
	routes_destroy(routes);
}

static void many_values_of_which_new_ones_come_are_joined(void **state)
{
	struct routes *routes = routes_create();

	for (unsigned int i = 0; i < 30; i++) {
		ask_word(routes, "/articles/", i, "");
		ask_word(routes, "/articles/", i, "/comments");
		ask_word(routes, "/articles/", i, "/comments");
	}
	ask(routes, "PUT", "/articles/silver-otter");
	ask(routes, "GET", "/articles");
	ask(routes, "GET", "/articles/17/comments");
	routes_finish(routes);
	/* Of 92 values all but one came again. */
	assert_true(has_route(routes, "GET /articles/silver-otter", 1));
	routes_destroy(routes);

	routes = routes_create();
	for (unsigned int i = 0; i < 30; i++)
		ask_word(routes, "/articles/", i, "");
	ask(routes, "PUT", "/articles/silver-otter");
	ask(routes, "GET", "/articles");
	ask(routes, "GET", "/articles/17/comments");
	routes_finish(routes);
	assert_true(has_route(routes, "GET /articles/{…}", 30));
	assert_true(has_route(routes, "PUT /articles/{…}", 1));
	assert_true(has_route(routes, "GET /articles", 1));
	assert_true(has_route(routes, "GET /articles/{…}/comments", 1));
	routes_destroy(routes);
}

static void a_vocabulary_is_not_joined(void **state)
{
	struct routes *routes = routes_create();

	for (unsigned int k = 0; k < 50; k++)
		for (unsigned int i = 0; i < 60; i++)
			ask_word(routes, "/api/", i, "");
	/* One that is rare is a part of it. */
	ask(routes, "GET", "/api/rare");
	routes_finish(routes);
	assert_true(has_route(routes, "GET /api/silver-otter", 50));
	assert_true(has_route(routes, "GET /api/rare", 1));
	routes_destroy(routes);
}

static void very_many_values_are_joined_however_often_they_come(void **state)
{
	struct routes *routes = routes_create();

	for (unsigned int k = 0; k < 50; k++)
		for (unsigned int i = 0; i < 120; i++)
			ask_word(routes, "/users/", i, "/orders");
	routes_finish(routes);
	assert_true(has_route(routes, "GET /users/{…}/orders", 50 * 120));
	assert_int_equal(routes_count(routes), 2);
	routes_destroy(routes);
}

static void all_ids_of_a_route_become_one(void **state)
{
	struct routes *routes = routes_create();
	uint32_t ids[300];
	char path[128], words[2][40];

	for (unsigned int i = 0; i < 300; i++) {
		snprintf(path, sizeof(path), "/users/%s/orders/%s", word_of(i, words[0]), word_of(i * 7, words[1]));
		ids[i] = ask(routes, "GET", path);
	}
	routes_finish(routes);
	for (unsigned int i = 0; i < 300; i++)
		assert_int_equal(routes_final(routes, ids[i]), 1);
	assert_string_equal(routes_name(routes, 1), "GET /users/{…}/orders/{…}");
	assert_int_equal(routes_requests(routes, 1), 300);
	assert_int_equal(routes_protocol_of(routes, 1), ROUTES_HTTP1);
	routes_destroy(routes);
}

static void the_most_frequent_routes_stay_and_others_are_other(void **state)
{
	struct routes *routes = routes_create();
	uint32_t last = 0;
	char path[128], words[2][40];

	/* Twelve places of 20 values each, so that none is joined. */
	for (unsigned int place = 0; place < 12; place++)
		for (unsigned int i = 0; i < 20; i++)
			for (unsigned int k = 0; k <= place; k++) {
				snprintf(path, sizeof(path), "/%s/%s", word_of(place * 20, words[0]),
					word_of(i, words[1]));
				last = ask(routes, "GET", path);
			}
	routes_finish(routes);
	assert_int_equal(routes_count(routes), ROUTES_MOST);
	assert_string_equal(routes_name(routes, ROUTES_OTHER), "other");
	/* 240 routes, of which 199 stay: 20 with one request, 20 with two, and one with three are other. */
	assert_int_equal(routes_requests(routes, ROUTES_OTHER), 20 + 40 + 3);
	assert_true(routes_final(routes, last) != ROUTES_OTHER);
	for (uint32_t i = 2; i < routes_count(routes); i++)
		assert_true(routes_requests(routes, i - 1) >= routes_requests(routes, i));
	routes_destroy(routes);
}

static void ten_thousand_paths_are_one_route(void **state)
{
	struct routes *routes = routes_create();
	char path[128];

	for (unsigned int i = 0; i < 10000; i++) {
		/* Letters alone, so that each is a word. */
		snprintf(path, sizeof(path), "/p/%c%cr%c%cs", 'a' + i % 26, 'a' + i / 26 % 26, 'a' + i / 676 % 26, 'e');
		ask(routes, "GET", path);
	}
	routes_finish(routes);
	assert_int_equal(routes_count(routes), 2);
	assert_true(has_route(routes, "GET /p/{…}", 10000));
	routes_destroy(routes);
}

static void a_full_table_counts_on(void **state)
{
	struct routes *routes = routes_create();
	uint64_t requests = 0;
	char path[256], word[4][40];

	/* Paths of many short words, which differ at their first segments least: the tree grows until it is full. */
	for (unsigned int i = 0; i < 60000; i++) {
		snprintf(path, sizeof(path), "/%s/%s/%s/%s/x/y/z", word_of(i % 19, word[0]),
			word_of(i / 19 % 19, word[1]), word_of(i / 361 % 19, word[2]), word_of(i / 6859 % 19, word[3]));
		ask(routes, "GET", path);
	}
	routes_finish(routes);
	for (uint32_t i = 0; i < routes_count(routes); i++)
		requests += routes_requests(routes, i);
	assert_int_equal(requests, 60000);
	assert_true(routes_count(routes) <= ROUTES_MOST);
	routes_destroy(routes);
}

static void routes_are_renamed(void **state)
{
	struct routes *routes = routes_create();
	struct error err;

	assert_true(routes_rename(routes, "^GET /static/=static files", &err));
	assert_true(routes_rename(routes, " /(a|b)$=a or b", &err));
	assert_true(routes_rename(routes, "x=y=z", &err));
	ask(routes, "GET", "/static/app.js");
	ask(routes, "GET", "/static/logo.png");
	ask(routes, "GET", "/a");
	ask(routes, "POST", "/b");
	ask(routes, "GET", "/c");
	routes_finish(routes);
	assert_int_equal(routes_count(routes), 4);
	assert_true(has_route(routes, "static files", 2));
	assert_true(has_route(routes, "a or b", 2));
	assert_true(has_route(routes, "GET /c", 1));
	routes_destroy(routes);
}

static void what_is_no_rename_is_refused(void **state)
{
	static const char *const wrong[] = { "", "=", "x", "x=", "=x", "(=x", "a{2000}{2000}=x", "\\1=x" };
	struct routes *routes = routes_create();
	struct error err = { 0 };

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		assert_false(routes_rename(routes, wrong[i], &err));
		assert_int_equal(err.code, ERROR_USAGE);
	}
	routes_destroy(routes);
}

static void an_empty_table_has_the_route_of_the_rest(void **state)
{
	struct routes *routes = routes_create();

	routes_finish(routes);
	assert_int_equal(routes_count(routes), 1);
	assert_int_equal(routes_requests(routes, ROUTES_OTHER), 0);
	assert_int_equal(routes_final(routes, ROUTES_OTHER), ROUTES_OTHER);
	routes_destroy(routes);
	routes_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_values_stay_apart),
		cmocka_unit_test(many_values_of_which_new_ones_come_are_joined),
		cmocka_unit_test(a_vocabulary_is_not_joined),
		cmocka_unit_test(very_many_values_are_joined_however_often_they_come),
		cmocka_unit_test(all_ids_of_a_route_become_one),
		cmocka_unit_test(the_most_frequent_routes_stay_and_others_are_other),
		cmocka_unit_test(ten_thousand_paths_are_one_route),
		cmocka_unit_test(a_full_table_counts_on),
		cmocka_unit_test(routes_are_renamed),
		cmocka_unit_test(what_is_no_rename_is_refused),
		cmocka_unit_test(an_empty_table_has_the_route_of_the_rest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
