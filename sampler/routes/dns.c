/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/routes/reading.h"

/* RFC 1035: a datagram, or on a stream a message behind its size. What is asked for is told by its type, never by name.
 */
enum {
	HEADER_BYTES = 12,
	LABEL_MOST_BYTES = 63,
	FLAGS_ANSWER = 0x8000,
	FLAGS_OF_NO_QUERY =
		0xfa4f, /* answer, opcode, authoritative, truncated, Z and code; recursion, AD and CD may be set */
	CLASS_ANY = 255,
};

static const struct {
	uint16_t type;
	const char *name;
} dns_types[] = { { 1, "A" }, { 2, "NS" }, { 5, "CNAME" }, { 6, "SOA" }, { 12, "PTR" }, { 15, "MX" }, { 16, "TXT" },
	{ 28, "AAAA" }, { 33, "SRV" }, { 35, "NAPTR" }, { 43, "DS" }, { 46, "RRSIG" }, { 48, "DNSKEY" }, { 52, "TLSA" },
	{ 64, "SVCB" }, { 65, "HTTPS" }, { 251, "IXFR" }, { 252, "AXFR" }, { 255, "ANY" }, { 257, "CAA" } };

/* Moves behind a name. False: there is none; a name that goes on behind the bytes leaves nothing. */
static bool skip_name(struct byte_reader *message)
{
	for (;;) {
		uint8_t size;

		if (byte_reader_left(message) == 0)
			return true;
		size = byte_reader_u8(message);
		if (size == 0)
			return true;
		if (size > LABEL_MOST_BYTES)
			return false;
		byte_reader_skip(message, size < byte_reader_left(message) ? size : byte_reader_left(message));
	}
}

static bool dns_read_query(struct routes_reading *reading, struct byte_reader message)
{
	uint32_t flags, questions, answers, authorities, additions, type, class;

	byte_reader_skip(&message, 2);
	flags = read_be16(&message);
	questions = read_be16(&message);
	answers = read_be16(&message);
	authorities = read_be16(&message);
	additions = read_be16(&message);
	if (!byte_reader_ok(&message) || flags & FLAGS_OF_NO_QUERY || questions != 1 || answers > 0 ||
		authorities > 0 || additions > 2 || !skip_name(&message))
		return false;
	if (byte_reader_left(&message) < 4) {
		/* A name that is longer than what is seen. */
		reading_add_word(reading, "(type not seen)");
		return true;
	}
	type = read_be16(&message);
	class = read_be16(&message);
	if (class == 0 || (class > 4 && class != CLASS_ANY))
		return false;
	for (size_t i = 0; i < sizeof(dns_types) / sizeof(*dns_types); i++)
		if (dns_types[i].type == type) {
			reading_add_word(reading, dns_types[i].name);
			return true;
		}
	reading_add_word(reading, "(other type)");
	return true;
}

bool dns_read(struct routes_reading *reading)
{
	struct byte_reader message = reading->bytes;
	uint32_t size;

	reading->connection->stream = 0;
	if (dns_read_query(reading, message)) {
		reading_skip(reading, reading->size);
		return true;
	}
	size = read_be16(&message);
	if (!byte_reader_ok(&message) || size < HEADER_BYTES || !dns_read_query(reading, message))
		return false;
	reading->connection->stream = 1;
	reading_skip(reading, (uint64_t)size + 2);
	return true;
}

enum routes_outcome dns_answer(struct routes_connection *connection, struct byte_reader bytes)
{
	uint32_t flags;

	byte_reader_skip(&bytes, connection->stream ? 4 : 2);
	flags = read_be16(&bytes);
	if (!byte_reader_ok(&bytes) || !(flags & FLAGS_ANSWER))
		return ROUTES_ANSWER_UNKNOWN;
	return (flags & 0xf) == 0 || (flags & 0xf) == 3 ? ROUTES_ANSWER_OK : ROUTES_ANSWER_ERROR; /* 3: no such name */
}
