/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/routes/reading.h"
#include "sampler/routes/sql.h"
#include "sampler/routes/statements.h"

/*
 * PostgreSQL's messages (its documentation, "Frontend/Backend Protocol"). A request is a query, or the execution of a
 * prepared statement. One that is prepared and then executed is one request; one that is prepared alone is one as well.
 * A statement that the client closes and prepares anew under its name has a new route; one that SQL deallocates keeps
 * its old one until then.
 */
enum {
	STARTUP = 196608,
	STARTUP_MINOR_MOST = 2, /* 3.2 is PostgreSQL 18's */
	CANCEL = 80877102,
	SSL_REQUEST,
	GSS_REQUEST,
	MESSAGE_MOST_BYTES = 1 << 30,
	STATEMENT_NAME_MOST = 64,
};

/* A text that ends with a zero byte, or where what is seen ends. */
static struct text_cursor postgresql_take_string(struct text_cursor *text, bool *is_cut)
{
	const char *end = memchr(text->at, '\0', text_left(*text));
	struct text_cursor string = { text->at, end ? end : text->end };

	*is_cut = !end;
	text->at = end ? end + 1 : text->end;
	return string;
}

static uint64_t name_key(struct text_cursor name)
{
	return hash_bytes(name.at, text_left(name));
}

/* The handshake, which is no request. */
static bool read_startup(struct routes_reading *reading)
{
	struct byte_reader header = reading->bytes;
	uint32_t size = read_be32(&header), code = read_be32(&header);

	if (!byte_reader_ok(&header) || size < 8 || size > 10000)
		return false;
	if ((code < STARTUP || code > STARTUP + STARTUP_MINOR_MOST) && (code < CANCEL || code > GSS_REQUEST))
		return false;
	reading_skip(reading, size);
	return true;
}

/* Adds the execution of a prepared statement that is still to be counted. */
static void add_prepared(struct routes_reading *reading)
{
	if (reading->prepared != PLACE_NONE)
		reading_add(reading, reading->prepared);
	reading->prepared = PLACE_NONE;
}

static bool read_parse(struct routes_reading *reading, struct text_cursor body)
{
	bool is_cut;
	struct text_cursor name = postgresql_take_string(&body, &is_cut), sql;
	uint32_t leaf;

	if (is_cut)
		return false;
	sql = postgresql_take_string(&body, &is_cut);
	leaf = sql_enter(reading->routes, sql, is_cut, SQL_POSTGRESQL);
	if (leaf == PLACE_NONE)
		return false;
	add_prepared(reading);
	statements_set(statements_of(reading->connection), name_key(name), leaf);
	reading->prepared = leaf;
	return true;
}

static bool read_bind(struct routes_reading *reading, struct text_cursor body)
{
	bool is_cut;
	struct text_cursor portal = postgresql_take_string(&body, &is_cut), name = portal;
	struct statements *statements = statements_of(reading->connection);
	uint32_t leaf;

	if (!is_cut)
		name = postgresql_take_string(&body, &is_cut);
	leaf = is_cut ? 0 : statements_get(statements, name_key(name));
	if (!leaf)
		leaf = places_enter_verb(reading->routes, PLACE_NAMES, "PostgreSQL (statement not seen)");
	if (reading->prepared != leaf)
		add_prepared(reading);
	reading->prepared = PLACE_NONE;
	reading_add(reading, leaf);
	statements->bound = leaf;
	return true;
}

static bool read_execute(struct routes_reading *reading)
{
	const struct statements *statements = statements_of(reading->connection);

	/* Behind its Bind it is no request of its own; alone it gets more rows. */
	if (reading->count == 0 && reading->prepared == PLACE_NONE && statements->bound)
		reading_add(reading, statements->bound);
	return true;
}

static bool postgresql_read_query(struct routes_reading *reading, struct text_cursor body)
{
	bool is_cut;
	struct text_cursor sql = postgresql_take_string(&body, &is_cut);
	uint32_t leaf = sql_enter(reading->routes, sql, is_cut, SQL_POSTGRESQL);

	if (leaf == PLACE_NONE)
		return false;
	reading_add(reading, leaf);
	return true;
}

/* The messages that are requests, by their type; those that are none are true as they are. */
static bool postgresql_read_body(struct routes_reading *reading, uint8_t type, struct text_cursor body)
{
	switch (type) {
	case 'Q':
		return postgresql_read_query(reading, body);
	case 'P':
		return read_parse(reading, body);
	case 'B':
		return read_bind(reading, body);
	case 'E':
		return read_execute(reading);
	case 'F':
		reading_add_word(reading, "function call");
		return true;
	}
	/* Close, data and ends of COPY, Describe, Flush, password, Sync, Terminate. */
	return type && strchr("CdcfDHpSX", type);
}

bool postgresql_read(struct routes_reading *reading)
{
	struct byte_reader header = reading->bytes;
	uint8_t type = byte_reader_u8(&header);
	uint32_t size = read_be32(&header);
	struct text_cursor body;
	size_t seen;

	if (type == 0)
		return read_startup(reading);
	if (!byte_reader_ok(&header) || size < 4 || size > MESSAGE_MOST_BYTES)
		return false;
	/* A connection whose beginning was not seen is known by a query alone. */
	if (reading->connection->protocol == ROUTES_UNKNOWN && type != 'Q' && type != 'P' && type != 'B')
		return false;
	seen = byte_reader_left(&header);
	body = text_over((const char *)header.pos, size - 4 < seen ? size - 4 : seen);
	if (reading->connection->protocol == ROUTES_UNKNOWN && (uint64_t)size + 1 > reading->size)
		return false;
	if (!postgresql_read_body(reading, type, body))
		return false;
	reading_skip(reading, (uint64_t)size + 1);
	return true;
}

enum routes_outcome postgresql_answer(struct routes_connection *connection, struct byte_reader bytes)
{
	uint8_t type = byte_reader_u8(&bytes);
	uint32_t size = read_be32(&bytes);

	(void)connection;
	if (!byte_reader_ok(&bytes) || size < 4)
		return ROUTES_ANSWER_UNKNOWN;
	/* What was parsed and bound comes before what failed. */
	while ((type == '1' || type == '2' || type == '3') && byte_reader_left(&bytes) > 0) {
		byte_reader_skip(&bytes, size - 4);
		type = byte_reader_u8(&bytes);
		size = read_be32(&bytes);
		if (!byte_reader_ok(&bytes) || size < 4)
			return ROUTES_ANSWER_UNKNOWN;
	}
	return type == 'E' ? ROUTES_ANSWER_ERROR : ROUTES_ANSWER_OK;
}
