/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/routes/routes.h"
#include "sampler/routes/table.h"

/* Requests that are read from the bytes of a connection, one message after the other. */

struct routes_reading {
	struct routes *routes;
	struct routes_connection *connection;
	struct byte_reader bytes;      /* what is left of those that are seen */
	size_t size;                   /* of the read, which may have brought more */
	uint64_t end;                  /* where the latest message ends that reading_skip() has moved behind */
	uint32_t *ids;                 /* borrowed: [ROUTES_MOST_AT_ONCE] */
	size_t count;                  /* requests so far */
	uint32_t prepared;             /* PostgreSQL: a statement that is not yet executed, or PLACE_NONE */
	enum routes_protocol protocol; /* whose message is read */
};

/*
 * Reads one message at the start of what is left: moves behind it, or to the end where it goes on behind the bytes, and
 * adds the requests that it holds. False: these are no bytes of the protocol; then nothing has changed but the
 * position.
 */
typedef bool routes_read_message(struct routes_reading *reading);

routes_read_message tls_read, http1_read, http2_read, websocket_read, redis_read, fastcgi_read, ajp_read, uwsgi_read,
	postgresql_read, mysql_read, amqp_read, mqtt_read, memcached_read, nats_read, smtp_read, dns_read, kafka_read;

/* What an answer of the protocol says; ROUTES_ANSWER_UNKNOWN where it is none, or says nothing. */
typedef enum routes_outcome routes_read_answer(struct routes_connection *connection, struct byte_reader bytes);

routes_read_answer http1_answer, http2_answer, redis_answer, fastcgi_answer, ajp_answer, postgresql_answer,
	mysql_answer, memcached_answer, nats_answer, smtp_answer, dns_answer;

/* Adds a request, of a leaf of the table of places. */
void reading_add(struct routes_reading *reading, uint32_t leaf);

/* Adds a request by a name that stands in this room's tables. */
void reading_add_name(struct routes_reading *reading, const char *name);

/* The same with the name of the protocol before it: "redis GET". */
void reading_add_word(struct routes_reading *reading, const char *word);

/* What is left, as text. */
static inline struct text_cursor reading_text(const struct routes_reading *reading)
{
	return text_over((const char *)reading->bytes.pos, byte_reader_left(&reading->bytes));
}

/* Moves to a place in what reading_text() gave. */
static inline void reading_move(struct routes_reading *reading, const char *to)
{
	reading->bytes.pos = (const uint8_t *)to;
}

/* Moves behind `size` bytes, or to the end of what is seen. Returns how many bytes of them the read has not brought. */
uint64_t reading_skip(struct routes_reading *reading, uint64_t size);

/* Moves behind the line. False: its end is not seen. */
bool reading_skip_line(struct routes_reading *reading);

/* Numbers of networks, the highest byte first; 0 where fewer bytes are left, which fails the reader. */
uint32_t read_be16(struct byte_reader *bytes);
uint32_t read_be24(struct byte_reader *bytes);
uint32_t read_be32(struct byte_reader *bytes);

/* A method of HTTP by its letters, as a text of this room; what is none of the known ones: "{method}". NULL: it is no
 * token. */
const char *http_method(struct text_cursor token);

/* Reads what a URL asks for: its path, without scheme, user info and host; PLACE_NONE: it is no target of a request. */
uint32_t http_target(struct routes *routes, struct text_cursor target, bool is_cut);

/* A class of HTTP by its three digits. */
enum routes_outcome http_status(struct text_cursor digits);
