/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/routes/taking.h"

#include <stdio.h>

/* Any bytes: drawn ones, and those of real clients with some changed. No name may have what a name must not have. */

enum { MOST_SEEDS = 400, MOST_BYTES = 256, ROUNDS = 200000, ROUNDS_OF_TABLE = 2000 };

struct seeds {
	struct seed {
		uint8_t bytes[MOST_BYTES];
		size_t count;
	} items[MOST_SEEDS];
	size_t count;
};

/* splitmix64 (Steele, Lea and Flood 2014). */
static uint64_t hostile_next(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

static void read_seeds(struct seeds *seeds)
{
	FILE *file = fopen("data/recorded.txt", "r");
	char line[2048];

	assert_non_null(file);
	seeds->count = 0;
	while (fgets(line, sizeof(line), file) && seeds->count < MOST_SEEDS) {
		struct seed *seed = &seeds->items[seeds->count];
		struct text_cursor text = text_over(line, strcspn(line, "\n"));

		if (line[0] != '>' && line[0] != '<')
			continue;
		text.at = memchr(line + 2, ' ', text_left(text) - 2);
		text.at++;
		seed->count = 0;
		while (seed->count < MOST_BYTES && text_take_hex_byte(&text, &seed->bytes[seed->count]))
			seed->count++;
		seeds->count += seed->count > 0;
	}
	fclose(file);
	assert_true(seeds->count > 100);
}

/* Puts bytes that break things into a text. */
static void break_bytes(struct seed *seed, uint64_t *state)
{
	static const uint8_t hostile[] = { 0, 1, 7, 8, 9, 10, 13, 27, '"', '\'', '<', '>', '&', '`', '|', '\\', '/',
		' ', '%', '@', '=', '{', '}', 0x7f, 0x80, 0x9b, 0xe2, 0xff };
	unsigned int changes = 1 + hostile_next(state) % 6;

	for (unsigned int i = 0; i < changes && seed->count > 0; i++) {
		size_t at = hostile_next(state) % seed->count;

		switch (hostile_next(state) % 4) {
		case 0:
			seed->bytes[at] = hostile[hostile_next(state) % sizeof(hostile)];
			break;
		case 1:
			seed->bytes[at] = (uint8_t)hostile_next(state);
			break;
		case 2:
			seed->count = at;
			break;
		case 3:
			memmove(seed->bytes + at / 2, seed->bytes + at, seed->count - at);
			seed->count -= at - at / 2;
			break;
		}
	}
}

static void assert_clean_names(struct routes *routes)
{
	routes_finish(routes);
	for (uint32_t i = 0; i < routes_count(routes); i++)
		if (!is_clean_name(routes_name(routes, i)))
			fail_msg("\"%s\" is no clean name", routes_name(routes, i));
}

static void changed_bytes_have_clean_names(void **state)
{
	struct seeds *seeds = malloc(sizeof(*seeds));
	uint64_t draw = 17;
	struct routes *routes = routes_create();
	struct routes_connection connection = { 0 };
	uint32_t ids[ROUTES_MOST_AT_ONCE];

	read_seeds(seeds);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		struct seed seed = seeds->items[hostile_next(&draw) % seeds->count];

		break_bytes(&seed, &draw);
		if (hostile_next(&draw) % 8 == 0)
			routes_connection_deinit(&connection);
		if (hostile_next(&draw) % 64 == 0)
			routes_connection_miss(&connection);
		assert_true(take_bytes(routes, &connection, seed.bytes, seed.count,
				    seed.count + hostile_next(&draw) % 3 * 100, ids) <= ROUTES_MOST_AT_ONCE);
		if (hostile_next(&draw) % 2)
			answer_bytes(&connection, seed.bytes, seed.count, seed.count);
		if (i % ROUNDS_OF_TABLE == ROUNDS_OF_TABLE - 1) {
			assert_clean_names(routes);
			routes_destroy(routes);
			routes = routes_create();
			routes_connection_deinit(&connection);
		}
	}
	routes_connection_deinit(&connection);
	routes_destroy(routes);
	free(seeds);
}

static void drawn_bytes_have_clean_names(void **state)
{
	uint64_t draw = 18;
	struct routes *routes = routes_create();
	uint32_t ids[ROUTES_MOST_AT_ONCE];

	for (unsigned int i = 0; i < ROUNDS; i++) {
		/* Of each protocol, whose bytes nobody has asked for. */
		struct routes_connection connection = { .protocol = hostile_next(&draw) % ROUTES_PROTOCOLS };
		uint8_t bytes[64];
		size_t count = hostile_next(&draw) % (sizeof(bytes) + 1);

		for (size_t k = 0; k < count; k++)
			bytes[k] = (uint8_t)(hostile_next(&draw) % (i % 2 ? 256 : 16));
		take_bytes(routes, &connection, bytes, count, count, ids);
		answer_bytes(&connection, bytes, count, count);
		routes_connection_deinit(&connection);
	}
	assert_clean_names(routes);
	routes_destroy(routes);
}

/* Drawn bytes are rarely taken for a protocol, so that no service of another one gets routes by chance. */
static void drawn_bytes_are_of_another_protocol(void **state)
{
	uint64_t draw = 19;
	unsigned int known = 0;

	for (unsigned int i = 0; i < ROUNDS; i++) {
		struct routes *routes = routes_create();
		struct routes_connection connection = { 0 };
		uint32_t ids[ROUTES_MOST_AT_ONCE];
		uint8_t bytes[64];

		for (size_t k = 0; k < sizeof(bytes); k++)
			bytes[k] = (uint8_t)hostile_next(&draw);
		take_bytes(routes, &connection, bytes, sizeof(bytes), sizeof(bytes), ids);
		known += connection.protocol != ROUTES_UNKNOWN;
		routes_connection_deinit(&connection);
		routes_destroy(routes);
	}
	print_message("%u of %d drawn texts are of a protocol\n", known, ROUNDS);
	assert_true(known < ROUNDS / 5000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(changed_bytes_have_clean_names),
		cmocka_unit_test(drawn_bytes_have_clean_names),
		cmocka_unit_test(drawn_bytes_are_of_another_protocol),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
