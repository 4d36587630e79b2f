/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/routes/taking.h"

#include <stdio.h>

/*
 * data/recorded.txt: what real clients sent to servers, recorded at the other end of the connection.
 *
 *	connection NAME
 *	> SIZE HEX   what one read of the server brought: its size, and its first 256 bytes
 *	= ROUTES     of these, by the first 64 bytes; `* ROUTES`: by all that were recorded, where that is something
 *else < SIZE HEX   the first bytes of what the server sent then = OUTCOME
 *
 * UPDATE_GOLDEN=1 writes the lines with `=` and `*` anew; the difference is read before it is committed.
 */
static const char file_name[] = "data/recorded.txt";

enum { MOST_LINE = 2048, MOST_BYTES = 256, FEW_BYTES = 64, MOST_READS = 64 };

struct recorded_read {
	char direction;
	size_t size, count;
	uint8_t bytes[MOST_BYTES];
};

struct recorded {
	char name[MOST_LINE];
	struct recorded_read reads[MOST_READS];
	size_t count;
};

static void parse_read(const char *line, struct recorded_read *read)
{
	struct text_cursor text = text_over(line + 2, strcspn(line + 2, "\n"));
	uint64_t size = 0;

	*read = (struct recorded_read){ .direction = line[0] };
	assert_true(text_take_number(&text, SIZE_MAX, &size) && text_take_byte(&text, ' '));
	read->size = (size_t)size;
	while (read->count < MOST_BYTES && text_take_hex_byte(&text, &read->bytes[read->count]))
		read->count++;
	assert_int_equal(text_left(text), 0);
}

/* Reads the next connection; false: there is none. */
static bool read_recorded(FILE *file, struct recorded *recorded)
{
	char line[MOST_LINE];
	long at = ftell(file);

	*recorded = (struct recorded){ 0 };
	while (fgets(line, sizeof(line), file)) {
		if (strncmp(line, "connection ", strlen("connection ")) == 0) {
			if (recorded->name[0])
				break;
			memcpy(recorded->name, line, sizeof(line));
		} else if (line[0] == '>' || line[0] == '<') {
			assert_true(recorded->count < MOST_READS);
			parse_read(line, &recorded->reads[recorded->count++]);
		}
		at = ftell(file);
	}
	fseek(file, at, SEEK_SET);
	return recorded->name[0];
}

static const char *const outcomes[] = { "unknown", "ok", "error", "1xx", "2xx", "3xx", "4xx", "5xx" };

/* What a connection's reads are found to be, of which so many bytes are seen: an allocated text for each. */
static void take_all(const struct recorded *recorded, size_t seen, char *found[static MOST_READS])
{
	struct routes *routes = routes_create();
	struct routes_connection connection = { 0 };
	uint32_t ids[MOST_READS][ROUTES_MOST_AT_ONCE];
	size_t counts[MOST_READS] = { 0 };

	for (size_t i = 0; i < recorded->count; i++) {
		const struct recorded_read *read = &recorded->reads[i];
		size_t count = read->count < seen ? read->count : seen;

		if (read->direction == '>')
			counts[i] = take_bytes(routes, &connection, read->bytes, count, read->size, ids[i]);
		else
			found[i] = strdup(outcomes[answer_bytes(&connection, read->bytes, count, read->size)]);
	}
	routes_finish(routes);
	for (size_t i = 0; i < recorded->count; i++) {
		struct buffer names = BUFFER_INIT(1 << 20);

		if (recorded->reads[i].direction == '<')
			continue;
		buffer_append_string(&names, counts[i] == 0 ? "(no request)" : "");
		for (size_t k = 0; k < counts[i]; k++)
			buffer_printf(&names, "%s%s", k > 0 ? "; " : "",
				routes_name(routes, routes_final(routes, ids[i][k])));
		found[i] = names.data;
		assert_true(is_clean_name(counts[i] ? routes_name(routes, routes_final(routes, ids[i][0])) : ""));
	}
	routes_connection_deinit(&connection);
	routes_destroy(routes);
}

static void write_recorded(const struct recorded *recorded, struct buffer *out)
{
	char *few[MOST_READS] = { 0 }, *all[MOST_READS] = { 0 };

	take_all(recorded, FEW_BYTES, few);
	take_all(recorded, MOST_BYTES, all);
	buffer_append_string(out, recorded->name);
	for (size_t i = 0; i < recorded->count; i++) {
		buffer_printf(out, "%c %zu ", recorded->reads[i].direction, recorded->reads[i].size);
		for (size_t k = 0; k < recorded->reads[i].count; k++)
			buffer_printf(out, "%02x", recorded->reads[i].bytes[k]);
		buffer_printf(out, "\n= %s\n", few[i]);
		if (strcmp(few[i], all[i]) != 0)
			buffer_printf(out, "* %s\n", all[i]);
		free(few[i]);
		free(all[i]);
	}
}

static void what_clients_send_has_the_routes_that_they_meant(void **state)
{
	struct buffer written = BUFFER_INIT(1 << 24), expected = BUFFER_INIT(1 << 24);
	struct recorded *recorded = malloc(sizeof(*recorded));
	FILE *file = fopen(file_name, "r");
	char line[MOST_LINE];

	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		buffer_append_string(&expected, line);
	rewind(file);
	while (read_recorded(file, recorded))
		write_recorded(recorded, &written);
	fclose(file);
	if (getenv("UPDATE_GOLDEN")) {
		file = fopen(file_name, "w");
		assert_int_equal(fwrite(written.data, 1, written.size, file), written.size);
		fclose(file);
	} else {
		assert_string_equal(written.data, expected.data);
	}
	free(recorded);
	buffer_deinit(&written);
	buffer_deinit(&expected);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_clients_send_has_the_routes_that_they_meant),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
