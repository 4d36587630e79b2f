/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/routes/reading.h"

/* RFC 9110 and 9112, RFC 6455 for WebSocket. */

enum { METHOD_MOST_BYTES = 20 };

static const char *const methods[] = { "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH",
	"QUERY", "PROPFIND", "PROPPATCH", "MKCOL", "COPY", "MOVE", "LOCK", "UNLOCK", "SEARCH", "REPORT", "MKCALENDAR",
	"ACL", "PURGE", "BAN", "LINK", "UNLINK", "SUBSCRIBE", "UNSUBSCRIBE", "NOTIFY", "MERGE", "CHECKOUT", "VIEW",
	"OPTIONS", "DESCRIBE", "SETUP", "PLAY", "TEARDOWN" };

const char *http_method(struct text_cursor token)
{
	size_t size = text_left(token);

	for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++)
		if (text_is(token, methods[i]))
			return methods[i];
	if (size < 2 || size > METHOD_MOST_BYTES)
		return NULL;
	for (const char *at = token.at; at < token.end; at++)
		if ((*at < 'A' || *at > 'Z') && *at != '-')
			return NULL;
	return "{method}";
}

/* Moves behind "scheme://user@host". */
static bool skip_authority(struct text_cursor *target)
{
	static const char *const schemes[] = { "http://", "https://", "ws://", "wss://", "rtsp://" };

	for (size_t i = 0; i < sizeof(schemes) / sizeof(*schemes); i++)
		if (text_take_literal(target, schemes[i])) {
			text_take_word(target, "/?#");
			return true;
		}
	return false;
}

uint32_t http_target(struct routes *routes, struct text_cursor target, bool is_cut)
{
	if (text_left(target) == 0 && is_cut)
		return places_enter_path(routes, target, is_cut);
	if (text_is(target, "*"))
		return places_enter(routes, PLACE_PATHS, target);
	if (!text_is_at(target, '/') && !skip_authority(&target))
		return PLACE_NONE;
	return places_enter_path(routes, target, is_cut);
}

/* Returns whether the rest of a request line is that of HTTP/1, as far as it is seen. */
static bool is_http_version(struct text_cursor line)
{
	static const char version[] = " HTTP/1.";
	size_t size = text_left(line) < strlen(version) ? text_left(line) : strlen(version);

	return memcmp(line.at, version, size) == 0;
}

/* The value of a header, if the line is that one. Names are of any case. */
static bool is_http_header(struct text_cursor line, const char *name, struct text_cursor *value)
{
	if (text_left(line) <= strlen(name) || strncasecmp(line.at, name, strlen(name)) != 0)
		return false;
	line.at += strlen(name);
	text_skip_blanks(&line);
	*value = line;
	return true;
}

/* Moves behind the headers and the body, as far as they tell its length: there the next request begins. */
static void http1_skip_message(struct routes_reading *reading)
{
	uint64_t body_bytes = 0;

	for (;;) {
		struct text_cursor rest = reading_text(reading), line = text_take_word(&rest, "\r\n"), value;

		if (is_http_header(line, "content-length:", &value) &&
			!text_take_number(&value, UINT32_MAX, &body_bytes))
			body_bytes = UINT32_MAX;
		if (is_http_header(line, "transfer-encoding:", &value))
			body_bytes = UINT32_MAX;
		if (!reading_skip_line(reading))
			return;
		if (text_left(line) == 0)
			break;
	}
	reading_skip(reading, body_bytes);
}

/* Reads the request line; its leaf, or PLACE_NONE. */
static uint32_t read_request_line(struct routes_reading *reading)
{
	struct text_cursor rest = reading_text(reading), token, target;
	const char *method;
	uint32_t place;

	token = text_take_word(&rest, " ");
	if (!(method = http_method(token)) || !text_take_byte(&rest, ' '))
		return PLACE_NONE;
	target = text_take_word(&rest, " \r\n");
	if (!is_http_version(rest))
		return PLACE_NONE;
	reading_move(reading, rest.at);
	if (strcmp(method, "CONNECT") == 0)
		return places_enter_verb(reading->routes, PLACE_NAMES, "CONNECT");
	place = http_target(reading->routes, target, text_left(rest) == 0);
	return place == PLACE_NONE ? place : places_enter_verb(reading->routes, place, method);
}

bool http1_read(struct routes_reading *reading)
{
	uint32_t leaf = read_request_line(reading);

	if (leaf == PLACE_NONE)
		return false;
	reading_add(reading, leaf);
	http1_skip_message(reading);
	return true;
}

enum routes_outcome http_status(struct text_cursor digits)
{
	if (text_left(digits) < 1 || digits.at[0] < '1' || digits.at[0] > '5')
		return ROUTES_ANSWER_UNKNOWN;
	return ROUTES_ANSWER_1XX + (enum routes_outcome)(digits.at[0] - '1');
}

enum routes_outcome http1_answer(struct routes_connection *connection, struct byte_reader bytes)
{
	struct text_cursor text = text_over((const char *)bytes.pos, byte_reader_left(&bytes));

	if (!text_take_literal(&text, "HTTP/1."))
		return ROUTES_ANSWER_UNKNOWN;
	text_take_word(&text, " ");
	text_skip_blanks(&text);
	/* What a client then sends are messages, unless it speaks HTTP/2 next. */
	if (text_starts_with(text, "101"))
		connection->protocol = ROUTES_WEBSOCKET;
	return http_status(text);
}

/* A client masks its frames. Its messages are requests of the route that was upgraded. */
bool websocket_read(struct routes_reading *reading)
{
	enum { OPCODE = 0x0f, RESERVED = 0x70, MASKED = 0x80, TEXT = 1, BINARY = 2, CLOSE = 8, PONG = 10 };
	uint8_t first = byte_reader_u8(&reading->bytes), second = byte_reader_u8(&reading->bytes);
	uint64_t size = second & ~MASKED, opcode = first & OPCODE;

	if (!byte_reader_ok(&reading->bytes) || !(second & MASKED) || (first & RESERVED & 0x30) ||
		(opcode > BINARY && opcode < CLOSE) || opcode > PONG)
		return false;
	if (size == 126)
		size = read_be16(&reading->bytes);
	else if (size == 127)
		size = (uint64_t)read_be32(&reading->bytes) << 32 | read_be32(&reading->bytes);
	if (opcode == TEXT || opcode == BINARY)
		reading_add(reading, reading->connection->last);
	if (byte_reader_ok(&reading->bytes))
		reading_skip(reading, sizeof(uint32_t) + (size < UINT32_MAX ? size : UINT32_MAX));
	return true;
}
