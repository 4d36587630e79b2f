/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/*
 * From the first bytes of a request to its route: protocol, verb and path, with variable parts replaced (docs/routes.md
 * says what is kept of each protocol, and what never is). Pure: no system calls, and nothing is printed.
 *
 * What a route's name may hold is a promise. Bytes reach it in two ways: as a word of this room's own tables (methods,
 * commands, verbs of SQL), or through word_is_kept() (sampler/routes/word.h), which accepts letters that are likely to
 * be a word. No query string, header, body, user info, literal of SQL or key is read for a name. A name is printable
 * ASCII, but for the mark {…}, and at most ROUTES_NAME_BYTES long.
 *
 * Provisional ids are given while requests are taken. routes_finish() then finds which parts of paths are variable, for
 * that is known only when many are seen, and gives each provisional id its final one.
 *
 * Costs: time in proportion to the bytes, whatever they are; memory within ROUTES_MOST_PLACES, and within a bound of
 * some 5 KB for each connection that compresses its headers or prepares its statements. No memory ends the process
 * (common/memory.h). Not thread-safe.
 */

enum {
	ROUTES_MOST = 200, /* final routes, ROUTES_OTHER among them */
	ROUTES_NAME_BYTES = 600,
	ROUTES_MOST_PLACES =
		65536, /* nodes of the tree of paths, 80 bytes each; requests that need more are ROUTES_OTHER */
	ROUTES_MOST_AT_ONCE = 32, /* requests of one read; what follows is not looked at */
};

/* Ids, provisional and final, that have a meaning of their own. */
enum {
	ROUTES_OTHER = 0, /* a request of a protocol that is not known; a final route that is beyond ROUTES_MOST */
};

enum routes_protocol {
	ROUTES_UNKNOWN, /* of a connection: none has been recognised yet */
	ROUTES_TLS,
	ROUTES_HTTP1,
	ROUTES_HTTP2,
	ROUTES_WEBSOCKET,
	ROUTES_REDIS,
	ROUTES_FASTCGI,
	ROUTES_AJP,
	ROUTES_UWSGI,
	ROUTES_POSTGRESQL,
	ROUTES_MYSQL,
	ROUTES_AMQP,
	ROUTES_MQTT,
	ROUTES_MEMCACHED,
	ROUTES_NATS,
	ROUTES_SMTP,
	ROUTES_DNS,
	ROUTES_KAFKA,
	ROUTES_PROTOCOLS,
};

/* The protocol's name, as "HTTP/2". */
const char *routes_protocol_name(enum routes_protocol protocol);

/* What is known of a connection. {0} is one of which nothing is known; what it owns is freed by _deinit(). */
struct routes_connection {
	enum routes_protocol protocol;
	uint32_t last;   /* provisional id of the latest request */
	uint32_t stream; /* HTTP/2: the highest that has begun; DNS: 1 where a message stands behind its size */
	uint64_t rest;   /* bytes of a frame or message that are yet to come */
	/* TLS: what the client's next record of data is */
	enum routes_tls_state { ROUTES_TLS_DATA, ROUTES_TLS_HELLO } tls;
	struct hpack *headers;         /* owned; HTTP/2 */
	struct statements *statements; /* owned; PostgreSQL, MySQL */
};

void routes_connection_deinit(struct routes_connection *connection);

/*
 * Says that bytes from the client were not shown: where a message begins, which headers were compressed and which
 * statements were prepared is no longer known.
 */
void routes_connection_miss(struct routes_connection *connection);

/* What one read has brought, as far as it was seen. */
struct routes_bytes {
	const void *bytes; /* borrowed for the call */
	size_t count;      /* how many of them */
	size_t size;       /* how many the read brought, at least `count` */
};

struct routes; /* opaque */

struct routes *routes_create(void);
void routes_destroy(struct routes *routes); /* NULL is allowed */

/*
 * Takes what a client sent. Returns how many requests begin in these bytes, as far as they are seen, and puts the
 * provisional id of each into `ids`; 0 is no request (a handshake of TLS, what goes on with the body of a request, an
 * acknowledgement).
 */
size_t routes_take(struct routes *routes, struct routes_connection *connection, struct routes_bytes read,
	uint32_t ids[static ROUTES_MOST_AT_ONCE]);

/* How a request was answered. */
enum routes_outcome {
	ROUTES_ANSWER_UNKNOWN, /* the protocol does not say, or not in these bytes */
	ROUTES_ANSWER_OK,
	ROUTES_ANSWER_ERROR, /* where the protocol has no classes */
	ROUTES_ANSWER_1XX,   /* HTTP: the class of its status; 1xx is no final answer */
	ROUTES_ANSWER_2XX,
	ROUTES_ANSWER_3XX,
	ROUTES_ANSWER_4XX,
	ROUTES_ANSWER_5XX,
};

/*
 * Reads the first bytes of an answer to what was taken last. A connection learns from it, too: which number MySQL gave
 * a prepared statement, or that HTTP became WebSocket.
 */
enum routes_outcome routes_answer(struct routes_connection *connection, struct routes_bytes answer);

/*
 * Adds a rename, `REGEX=NAME`: each route whose name the expression matches somewhere is called NAME; the first rename
 * that matches decides. ERROR_USAGE: what is wrong with it. Comes before routes_finish().
 */
COMMON_MUST_CHECK
bool routes_rename(struct routes *routes, const char *rename, struct error *err);

/*
 * Joins variable segments, renames, and keeps the ROUTES_MOST routes with most requests. Nothing is taken any more
 * after it.
 *
 * A place of a path is where a segment follows the same segments before it. Its values are joined to {…}, all together,
 * if it has more than 20 values and new ones still come: more than one request in 50 has a value that no other request
 * has had (Good 1953: the share of values seen once estimates the chance that the next one is new). Then it is no
 * vocabulary of the program. A place with more than 100 values is joined in any case, at once.
 */
void routes_finish(struct routes *routes);

/* After routes_finish(). */
uint32_t routes_final(const struct routes *routes, uint32_t provisional);
uint32_t routes_count(const struct routes *routes); /* final ids are below it, in the order of requests, most first */
const char *routes_name(const struct routes *routes, uint32_t final); /* borrowed until routes_destroy() */
uint64_t routes_requests(const struct routes *routes, uint32_t final);
enum routes_protocol routes_protocol_of(const struct routes *routes, uint32_t final); /* of the first request */
