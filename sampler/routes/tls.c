/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/routes/reading.h"

/*
 * TLS records (RFC 8446, 5.1). A handshake is no request. In TLS 1.3 its end looks like data: the first such record
 * behind a ClientHello. In TLS 1.2 a record of the handshake comes before.
 */
enum { CHANGE_CIPHER = 20, ALERT, HANDSHAKE, DATA, RECORD_MOST_BYTES = (1 << 14) + 2048 };

bool tls_read(struct routes_reading *reading)
{
	struct routes_connection *connection = reading->connection;
	uint8_t type = byte_reader_u8(&reading->bytes), major = byte_reader_u8(&reading->bytes);
	uint8_t minor = byte_reader_u8(&reading->bytes);
	uint32_t size = read_be16(&reading->bytes);
	bool is_client_hello;

	if (!byte_reader_ok(&reading->bytes) || type < CHANGE_CIPHER || type > DATA || major != 3 || minor > 4 ||
		size == 0 || size > RECORD_MOST_BYTES)
		return false;
	is_client_hello = type == HANDSHAKE && byte_reader_left(&reading->bytes) > 0 && *reading->bytes.pos == 1;
	if (type == DATA && connection->tls == ROUTES_TLS_HELLO)
		connection->tls = ROUTES_TLS_DATA;
	else if (type == DATA && reading->count == 0)
		reading_add_name(reading, "TLS (not readable)");
	else if (type == HANDSHAKE)
		connection->tls = is_client_hello ? ROUTES_TLS_HELLO : ROUTES_TLS_DATA;
	reading_skip(reading, size);
	return true;
}
