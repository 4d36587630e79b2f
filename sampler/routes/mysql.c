/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/routes/reading.h"
#include "sampler/routes/sql.h"
#include "sampler/routes/statements.h"

/* MySQL's packets (its source documentation, "Client/Server Protocol"). */
enum {
	HEADER_BYTES = 4,
	COM_QUERY = 0x03,
	COM_STMT_PREPARE = 0x16,
	COM_STMT_EXECUTE = 0x17,
	COM_STMT_CLOSE = 0x19,
	PROTOCOL_41 = 0x200,
	HANDSHAKE_BYTES = 32,
	RESERVED_AT = 9, /* in the client's part of the handshake: zero bytes, up to its end */
	MOST_UNKNOWN_PACKET = 1 << 20,
	ANSWER_OK = 0,
	ANSWER_ERROR = 0xff,
};

/* [command]; NULL: no client sends it, or nothing answers it. */
static const char *const mysql_commands[] = { NULL, "quit", "init db", "query", "field list", "create db", "drop db",
	"refresh", "shutdown", "statistics", "process info", NULL, "process kill", "debug", "ping", NULL, NULL,
	"change user", "binlog dump", "table dump", NULL, "register slave", "prepare", "execute", NULL, NULL,
	"reset statement", "set option", "fetch", NULL, "binlog dump gtid", "reset connection" };

/* The answer to the server's greeting: its number is 1. */
static bool is_handshake(struct byte_reader packet, uint32_t size)
{
	uint32_t capabilities;

	if (size < HANDSHAKE_BYTES || byte_reader_left(&packet) < HANDSHAKE_BYTES)
		return false;
	for (unsigned int i = RESERVED_AT; i < RESERVED_AT + 19; i++)
		if (packet.pos[i] != 0)
			return false;
	capabilities = byte_reader_u32(&packet);
	return capabilities & PROTOCOL_41;
}

/* The statement, behind the number of attributes that MySQL 8 may put before it. */
static uint32_t enter_statement(struct routes_reading *reading, struct byte_reader body, bool is_cut)
{
	struct text_cursor sql = text_over((const char *)body.pos, byte_reader_left(&body));

	if (text_left(sql) >= 2 && sql.at[0] == 0 && sql.at[1] == 1)
		sql.at += 2;
	return sql_enter(reading->routes, sql, is_cut, SQL_MYSQL);
}

static bool mysql_read_command(struct routes_reading *reading, uint8_t command, struct byte_reader body, bool is_cut)
{
	struct statements *statements;
	uint32_t leaf, number;

	switch (command) {
	case COM_QUERY:
	case COM_STMT_PREPARE:
		leaf = enter_statement(reading, body, is_cut);
		if (leaf == PLACE_NONE)
			return false;
		if (command == COM_STMT_PREPARE)
			statements_of(reading->connection)->prepared = leaf;
		reading_add(reading, leaf);
		return true;
	case COM_STMT_EXECUTE:
		statements = statements_of(reading->connection);
		number = byte_reader_u32(&body);
		leaf = byte_reader_ok(&body) ? statements_get(statements, number) : 0;
		reading_add(reading,
			leaf ? leaf : places_enter_verb(reading->routes, PLACE_NAMES, "MySQL (statement not seen)"));
		return true;
	}
	if (command < sizeof(mysql_commands) / sizeof(*mysql_commands) && mysql_commands[command]) {
		reading_add_word(reading, mysql_commands[command]);
		return true;
	}
	return command == COM_STMT_CLOSE || command == 0x18; /* long data of a statement */
}

bool mysql_read(struct routes_reading *reading)
{
	struct byte_reader packet = reading->bytes, body;
	uint32_t size = byte_reader_u16(&packet);
	bool is_known = reading->connection->protocol == ROUTES_MYSQL;
	uint8_t number, command;
	size_t seen;

	size |= (uint32_t)byte_reader_u8(&packet) << 16;
	number = byte_reader_u8(&packet);
	if (!byte_reader_ok(&packet) || size == 0)
		return false;
	seen = byte_reader_left(&packet);
	if (number > 0) {
		/* Passwords and the like, or the rest of a large packet. */
		if (!is_known && (number > 2 || !is_handshake(packet, size)))
			return false;
		reading_skip(reading, (uint64_t)size + HEADER_BYTES);
		return true;
	}
	if (!is_known && (size > MOST_UNKNOWN_PACKET || size + HEADER_BYTES != reading->size))
		return false;
	body = byte_reader_over(packet.pos, size < seen ? size : seen);
	command = byte_reader_u8(&body);
	if (!byte_reader_ok(&body) || (!is_known && command != COM_QUERY && command != COM_STMT_PREPARE))
		return false;
	if (!mysql_read_command(reading, command, body, size > seen))
		return false;
	reading_skip(reading, (uint64_t)size + HEADER_BYTES);
	return true;
}

enum routes_outcome mysql_answer(struct routes_connection *connection, struct byte_reader bytes)
{
	struct statements *statements = connection->statements;
	uint32_t number;
	uint8_t first;

	byte_reader_skip(&bytes, HEADER_BYTES);
	first = byte_reader_u8(&bytes);
	number = byte_reader_u32(&bytes);
	if (statements && statements->prepared) {
		/* "OK" of a statement that was prepared has its number. */
		if (first == ANSWER_OK && byte_reader_ok(&bytes))
			statements_set(statements, number, statements->prepared);
		statements->prepared = 0;
	}
	if (byte_reader_offset(&bytes) <= HEADER_BYTES)
		return ROUTES_ANSWER_UNKNOWN;
	return first == ANSWER_ERROR ? ROUTES_ANSWER_ERROR : ROUTES_ANSWER_OK;
}
