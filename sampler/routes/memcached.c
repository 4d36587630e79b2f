/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/routes/reading.h"

/* memcached's doc/protocol.txt, and its binary protocol (deprecated, but spoken). */

enum { BINARY_REQUEST = 0x80, BINARY_ANSWER = 0x81, BINARY_HEADER_BYTES = 24, DATA_FIELD = 4 };

static const struct {
	const char *name;
	uint8_t has_data; /* the number of the word that tells how many bytes follow the line; 0: none do */
	bool needs_key;
} commands[] = {
	{ "get", 0, true },
	{ "gets", 0, true },
	{ "gat", 0, true },
	{ "gats", 0, true },
	{ "set", DATA_FIELD, true },
	{ "add", DATA_FIELD, true },
	{ "replace", DATA_FIELD, true },
	{ "append", DATA_FIELD, true },
	{ "prepend", DATA_FIELD, true },
	{ "cas", DATA_FIELD, true },
	{ "incr", 0, true },
	{ "decr", 0, true },
	{ "delete", 0, true },
	{ "touch", 0, true },
	{ "mg", 0, true },
	{ "ms", 2, true },
	{ "md", 0, true },
	{ "ma", 0, true },
	{ "me", 0, true },
	{ "mn", 0, false },
	{ "stats", 0, false },
	{ "version", 0, false },
	{ "flush_all", 0, false },
	{ "verbosity", 0, true },
};

static const char *const binary_commands[] = { "get", "set", "add", "replace", "delete", "increment", "decrement",
	"quit", "flush", "getq", "noop", "version", "getk", "getkq", "append", "prepend", "stat", "setq", "addq",
	"replaceq", "deleteq", "incrementq", "decrementq", "quitq", "flushq", "appendq", "prependq", "verbosity",
	"touch", "gat", "gatq", "sasl list", "sasl auth", "sasl step" };

/* Moves behind the line and, where data follow, behind them. */
static void skip_command(struct routes_reading *reading, struct text_cursor text, unsigned int data_field)
{
	struct text_cursor rest = text, line = text_take_word(&rest, "\r\n");
	uint64_t data_bytes = 0;

	for (unsigned int field = 1; field < data_field; field++) {
		text_skip_blanks(&line);
		text_take_word(&line, " ");
	}
	text_skip_blanks(&line);
	if (!reading_skip_line(reading) || !data_field || !text_take_number(&line, UINT32_MAX, &data_bytes))
		return;
	reading_skip(reading, data_bytes + 2);
}

static bool read_binary(struct routes_reading *reading)
{
	struct byte_reader header = reading->bytes;
	uint32_t key_bytes, extra_bytes, body_bytes;
	uint8_t command;

	byte_reader_skip(&header, 1);
	command = byte_reader_u8(&header);
	key_bytes = read_be16(&header);
	extra_bytes = byte_reader_u8(&header);
	byte_reader_skip(&header, 3);
	body_bytes = read_be32(&header);
	if (!byte_reader_ok(&header) || command >= sizeof(binary_commands) / sizeof(*binary_commands) ||
		extra_bytes > 20 || key_bytes + extra_bytes > body_bytes || key_bytes > 250)
		return false;
	reading_add_word(reading, binary_commands[command]);
	reading_skip(reading, (uint64_t)BINARY_HEADER_BYTES + body_bytes);
	return true;
}

bool memcached_read(struct routes_reading *reading)
{
	struct text_cursor text = reading_text(reading), word;

	if (*reading->bytes.pos == BINARY_REQUEST)
		return read_binary(reading);
	word = text_take_word(&text, " \r\n");
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		if (!text_is(word, commands[i].name))
			continue;
		if (!(text_is_at(text, ' ') || (!commands[i].needs_key && text_starts_with(text, "\r\n"))))
			return false;
		reading_add_word(reading, commands[i].name);
		skip_command(reading, text, commands[i].has_data);
		return true;
	}
	return false;
}

enum routes_outcome memcached_answer(struct routes_connection *connection, struct byte_reader bytes)
{
	struct text_cursor text = text_over((const char *)bytes.pos, byte_reader_left(&bytes));

	(void)connection;
	if (text_left(text) == 0)
		return ROUTES_ANSWER_UNKNOWN;
	if (bytes.pos[0] == BINARY_ANSWER)
		return text_left(text) < 8                ? ROUTES_ANSWER_UNKNOWN
		       : bytes.pos[6] || bytes.pos[7] > 5 ? ROUTES_ANSWER_ERROR
							  : ROUTES_ANSWER_OK; /* up to 5: not found, exists, … */
	if (text_starts_with(text, "ERROR") || text_starts_with(text, "CLIENT_ERROR") ||
		text_starts_with(text, "SERVER_ERROR"))
		return ROUTES_ANSWER_ERROR;
	return ROUTES_ANSWER_OK;
}
