/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/routes/hpack.h"
#include "sampler/routes/reading.h"
#include "sampler/routes/statements.h"

#include <stdlib.h>

/*
 * The protocols, in the order in which they are looked for. What takes many bytes to be met by chance stands first, and
 * is_strong says that a connection may turn to it in its middle.
 */
static const struct {
	const char *name;
	routes_read_message *read;
	routes_read_answer *answer; /* NULL: it does not say whether something failed */
	bool is_strong;
} protocols[ROUTES_PROTOCOLS] = {
	[ROUTES_UNKNOWN] = { "other protocol", NULL, NULL, false },
	[ROUTES_TLS] = { "TLS", tls_read, NULL, true },
	[ROUTES_HTTP1] = { "HTTP/1", http1_read, http1_answer, true },
	[ROUTES_HTTP2] = { "HTTP/2", http2_read, http2_answer, true },
	[ROUTES_WEBSOCKET] = { "WebSocket", websocket_read, NULL, false },
	[ROUTES_REDIS] = { "redis", redis_read, redis_answer, false },
	[ROUTES_FASTCGI] = { "FastCGI", fastcgi_read, fastcgi_answer, false },
	[ROUTES_AJP] = { "AJP", ajp_read, ajp_answer, false },
	[ROUTES_UWSGI] = { "uwsgi", uwsgi_read, http1_answer, false },
	[ROUTES_POSTGRESQL] = { "PostgreSQL", postgresql_read, postgresql_answer, false },
	[ROUTES_MYSQL] = { "MySQL", mysql_read, mysql_answer, false },
	[ROUTES_AMQP] = { "AMQP", amqp_read, NULL, false },
	[ROUTES_MQTT] = { "MQTT", mqtt_read, NULL, false },
	[ROUTES_MEMCACHED] = { "memcached", memcached_read, memcached_answer, false },
	[ROUTES_NATS] = { "NATS", nats_read, nats_answer, false },
	[ROUTES_SMTP] = { "SMTP", smtp_read, smtp_answer, false },
	[ROUTES_DNS] = { "DNS", dns_read, dns_answer, false },
	[ROUTES_KAFKA] = { "Kafka", kafka_read, NULL, false },
};

const char *routes_protocol_name(enum routes_protocol protocol)
{
	return protocols[protocol].name;
}

void routes_connection_deinit(struct routes_connection *connection)
{
	free(connection->headers);
	free(connection->statements);
	*connection = (struct routes_connection){ 0 };
}

void routes_connection_miss(struct routes_connection *connection)
{
	connection->rest = 0;
	connection->tls = ROUTES_TLS_DATA;
	if (connection->headers)
		connection->headers->is_known = false;
	if (connection->statements)
		*connection->statements = (struct statements){ 0 };
}

void reading_add(struct routes_reading *reading, uint32_t leaf)
{
	if (reading->count >= ROUTES_MOST_AT_ONCE)
		return;
	places_count(reading->routes, leaf, reading->protocol);
	reading->connection->last = leaf;
	reading->ids[reading->count++] = leaf;
}

void reading_add_name(struct routes_reading *reading, const char *name)
{
	reading_add(reading, places_enter_verb(reading->routes, PLACE_NAMES, name));
}

void reading_add_word(struct routes_reading *reading, const char *word)
{
	char name[PLACE_TEXT_BYTES * 2];

	snprintf(name, sizeof(name), "%s %s", routes_protocol_name(reading->protocol), word);
	reading_add_name(reading, name);
}

uint64_t reading_skip(struct routes_reading *reading, uint64_t size)
{
	size_t seen = byte_reader_left(&reading->bytes);
	uint64_t brought = reading->size - byte_reader_offset(&reading->bytes);

	reading->end = byte_reader_offset(&reading->bytes) + size;
	byte_reader_skip(&reading->bytes, size < seen ? (size_t)size : seen);
	return size > brought ? size - brought : 0;
}

bool reading_skip_line(struct routes_reading *reading)
{
	size_t left = byte_reader_left(&reading->bytes);
	const uint8_t *end = memchr(reading->bytes.pos, '\n', left);

	byte_reader_skip(&reading->bytes, end ? (size_t)(end - reading->bytes.pos) + 1 : left);
	return end;
}

uint32_t read_be16(struct byte_reader *bytes)
{
	return __builtin_bswap16(byte_reader_u16(bytes));
}

uint32_t read_be24(struct byte_reader *bytes)
{
	uint32_t high = byte_reader_u8(bytes);

	return high << 16 | read_be16(bytes);
}

uint32_t read_be32(struct byte_reader *bytes)
{
	return __builtin_bswap32(byte_reader_u32(bytes));
}

/* Reads a message of one protocol; where it is none, everything is as it was. */
static bool read_as(struct routes_reading *reading, enum routes_protocol protocol)
{
	const struct byte_reader before = reading->bytes;

	reading->protocol = protocol;
	if (protocols[protocol].read(reading) && reading->bytes.pos > before.pos) {
		reading->bytes.failed = false;
		return true;
	}
	reading->bytes = before;
	return false;
}

/* Reads the first message of the bytes, in whose protocol the others are then read. False: it is of none. */
static bool read_first(struct routes_reading *reading)
{
	enum routes_protocol known = reading->connection->protocol;

	if (known != ROUTES_UNKNOWN && read_as(reading, known))
		return true;
	for (unsigned int protocol = ROUTES_UNKNOWN + 1; protocol < ROUTES_PROTOCOLS; protocol++) {
		if (protocol == known || protocol == ROUTES_WEBSOCKET ||
			(known != ROUTES_UNKNOWN && !protocols[protocol].is_strong))
			continue;
		if (read_as(reading, protocol)) {
			reading->connection->protocol = protocol;
			return true;
		}
	}
	return false;
}

static void read_messages(struct routes_reading *reading)
{
	struct routes_connection *connection = reading->connection;

	if (read_first(reading)) {
		while (byte_reader_left(&reading->bytes) > 0 && reading->count < ROUTES_MOST_AT_ONCE &&
			read_as(reading, connection->protocol))
			;
	} else if (connection->protocol == ROUTES_UNKNOWN) {
		reading->protocol = ROUTES_UNKNOWN;
		reading_add_name(reading, routes_protocol_name(ROUTES_UNKNOWN));
	}
}

size_t routes_take(struct routes *routes, struct routes_connection *connection, struct routes_bytes read,
	uint32_t ids[static ROUTES_MOST_AT_ONCE])
{
	struct routes_reading reading = {
		.routes = routes,
		.connection = connection,
		.bytes = byte_reader_over(read.bytes, read.count),
		.size = read.size > read.count ? read.size : read.count,
		.ids = ids,
		.prepared = PLACE_NONE,
	};

	if (connection->rest >= reading.size) {
		connection->rest -= reading.size;
		return 0;
	}
	reading_skip(&reading, connection->rest);
	connection->rest = 0;
	if (byte_reader_left(&reading.bytes) > 0)
		read_messages(&reading);
	/* What is not seen, or is no frame, may hide headers. */
	if (connection->headers && (byte_reader_left(&reading.bytes) > 0 || reading.end < reading.size))
		connection->headers->is_known = false;
	if (reading.prepared != PLACE_NONE)
		reading_add(&reading, reading.prepared);
	return reading.count;
}

enum routes_outcome routes_answer(struct routes_connection *connection, struct routes_bytes answer)
{
	routes_read_answer *read = protocols[connection->protocol].answer;

	return read ? read(connection, byte_reader_over(answer.bytes, answer.count)) : ROUTES_ANSWER_UNKNOWN;
}
