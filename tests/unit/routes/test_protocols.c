/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/routes/taking.h"

/* Requests that no client here makes, built by hand; data/recorded.txt has those that real clients have made. */

/* A string of a literal, with its zero bytes. */
#define BYTES(literal) literal, sizeof(literal) - 1

/* A connection, and the names of what is taken from it: read with assert_taken(), in order. */
struct conversation {
	struct routes *routes;
	struct routes_connection connection;
	uint32_t ids[64];
	size_t count;
};

static void conversation_begin(struct conversation *talk)
{
	*talk = (struct conversation){ .routes = routes_create() };
}

static size_t say(struct conversation *talk, const void *bytes, size_t count)
{
	uint32_t ids[ROUTES_MOST_AT_ONCE];
	size_t requests = take_bytes(talk->routes, &talk->connection, bytes, count, count, ids);

	assert_true(talk->count + requests <= 64);
	memcpy(talk->ids + talk->count, ids, requests * sizeof(*ids));
	talk->count += requests;
	return requests;
}

/* Ends a conversation whose requests must have these names, with "; " between them. */
static void conversation_end(struct conversation *talk, const char *expected)
{
	struct buffer names = BUFFER_INIT(1 << 20);

	routes_finish(talk->routes);
	buffer_append_string(&names, "");
	for (size_t i = 0; i < talk->count; i++)
		buffer_printf(&names, "%s%s", i > 0 ? "; " : "",
			routes_name(talk->routes, routes_final(talk->routes, talk->ids[i])));
	assert_string_equal(names.data ? names.data : "", expected);
	buffer_deinit(&names);
	routes_connection_deinit(&talk->connection);
	routes_destroy(talk->routes);
}

static void http_is_told_by_its_request_line(void **state)
{
	assert_routes("GET / HTTP/1.1\r\n\r\n", "GET /");
	assert_routes("GET /a HTTP/1.0\r\n\r\n", "GET /a");
	assert_routes("PROPFIND /dav/notes HTTP/1.1\r\n\r\n", "PROPFIND /dav/notes");
	assert_routes("FROBNICATE /a HTTP/1.1\r\n\r\n", "{method} /a");
	assert_routes("OPTIONS * HTTP/1.1\r\n\r\n", "OPTIONS *");
	assert_routes("CONNECT secret.example:443 HTTP/1.1\r\n\r\n", "CONNECT");
	assert_routes("GET https://u:secret@host.example:8080/a/b?c HTTP/1.1\r\n\r\n", "GET /a/b");
	assert_routes("GET http://host.example HTTP/1.1\r\n\r\n", "GET /");
	assert_routes("GET http://host.example?q=1 HTTP/1.1\r\n\r\n", "GET /");
	assert_routes("GET //a//b/ HTTP/1.1\r\n\r\n", "GET /a/b/");
	assert_routes("GET /a/../../etc/passwd HTTP/1.1\r\n\r\n", "GET /a/../../etc/passwd");
	assert_routes("GET /a#secret HTTP/1.1\r\n\r\n", "GET /a");
	assert_routes("GET /search?q=/secret/path HTTP/1.1\r\n\r\n", "GET /search");
	assert_routes("GET /a/b;jsessionid=secret HTTP/1.1\r\n\r\n", "GET /a/{id}");
	/* Other things that begin with a word. */
	assert_routes("GET /a\r\n", "other protocol");
	assert_routes("get /a HTTP/1.1\r\n\r\n", "memcached get");
	assert_routes("GET a HTTP/1.1\r\n\r\n", "other protocol");
	assert_routes("GET /a SIP/2.0\r\n\r\n", "other protocol");
	assert_routes("SSH-2.0-OpenSSH_9.2\r\n", "other protocol");
	assert_routes("\x80\x00\x01", "other protocol");
	assert_routes("", "");
}

static void a_path_that_is_cut_loses_its_last_segment(void **state)
{
	static const char request[] = "GET /users/alice/password-reset/token HTTP/1.1\r\n";
	static const struct {
		size_t from;
		const char *name;
	} names[] = { { 4, "GET /{…}" }, { 11, "GET /users/{…}" }, { 17, "GET /users/alice/{…}" },
		{ 32, "GET /users/alice/password-reset/{…}" }, { 38, "GET /users/alice/password-reset/token" } };

	for (size_t size = 4; size < strlen(request); size++) {
		const char *expected = "";

		for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
			expected = size >= names[i].from ? names[i].name : expected;
		assert_names_of(request, size, expected);
	}
	assert_routes("GET /a?token=sec", "GET /a");
	assert_routes("POST http://user:secr", "POST /{…}");
	assert_routes("POST http://host/orders/1", "POST /orders/{…}");
}

static void pipelined_requests_count_one_by_one(void **state)
{
	assert_routes("GET /a HTTP/1.1\r\n\r\nGET /b HTTP/1.1\r\n\r\nGET /c/", "GET /a; GET /b; GET /c/{…}");
	assert_routes("POST /a HTTP/1.1\r\nContent-Length: 5\r\n\r\nGET /POST /b HTTP/1.1\r\n\r\n", "POST /a; POST /b");
	assert_routes("POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", "POST /a");
	assert_routes("*1\r\n$4\r\nPING\r\n*2\r\n$3\r\nGET\r\n$6\r\nsecret\r\n*3\r\n$3\r\nS", "redis PING; redis GET");
	assert_routes("PING\r\nPING\r\n", "redis PING; redis PING");
	assert_routes("get a\r\nset b 0 0 5\r\nget c\r\nget d\r\n", "memcached get; memcached set; memcached get");
	assert_names_of(BYTES("Q\0\0\0\x0d"
			      "select 1\0"
			      "Q\0\0\0\x0a"
			      "begin\0"),
		"select; begin");
}

static void at_most_so_many_requests_are_taken_at_once(void **state)
{
	char text[6 * 100 + 1];
	uint32_t ids[ROUTES_MOST_AT_ONCE];
	struct routes *routes = routes_create();
	struct routes_connection connection = { 0 };

	for (size_t i = 0; i < 100; i++)
		memcpy(text + i * 6, "PING\r\n", 7);
	assert_int_equal(take_bytes(routes, &connection, text, 600, 600, ids), ROUTES_MOST_AT_ONCE);
	routes_connection_deinit(&connection);
	routes_destroy(routes);
}

static void a_body_is_no_request(void **state)
{
	struct conversation talk;

	conversation_begin(&talk);
	assert_int_equal(say(&talk, BYTES("POST /upload HTTP/1.1\r\nExpect: 100-continue\r\n\r\n")), 1);
	assert_int_equal(answer_bytes(&talk.connection, BYTES("HTTP/1.1 100 Continue\r\n\r\n"), 25), ROUTES_ANSWER_1XX);
	assert_int_equal(say(&talk, BYTES("{\"a body\": \"with a secret\"}")), 0);
	assert_int_equal(answer_bytes(&talk.connection, BYTES("HTTP/1.1 503 No\r\n\r\n"), 19), ROUTES_ANSWER_5XX);
	assert_int_equal(say(&talk, BYTES("GET /next HTTP/1.1\r\n\r\n")), 1);
	conversation_end(&talk, "POST /upload; GET /next");
}

static void messages_of_websocket_are_requests_of_its_route(void **state)
{
	struct conversation talk;

	conversation_begin(&talk);
	say(&talk, BYTES("GET /chat?token=secret HTTP/1.1\r\nUpgrade: websocket\r\n\r\n"));
	answer_bytes(&talk.connection, BYTES("HTTP/1.1 101 Switching Protocols\r\n"), 34);
	assert_int_equal(say(&talk, BYTES("\x81\x85\1\2\3\4hello")), 1);
	assert_int_equal(say(&talk, BYTES("\x82\xfe\1\0\1\2\3\4...")), 1);
	assert_int_equal(say(&talk, BYTES("\x89\x80\1\2\3\4")), 0); /* ping */
	conversation_end(&talk, "GET /chat; GET /chat; GET /chat");
}

static void a_connection_may_turn_to_tls_or_http2(void **state)
{
	struct conversation talk;

	conversation_begin(&talk);
	assert_int_equal(say(&talk, BYTES("\0\0\0\10\4\xd2\x16\x2f")), 0); /* PostgreSQL's SSLRequest */
	assert_int_equal(talk.connection.protocol, ROUTES_POSTGRESQL);
	assert_int_equal(say(&talk, BYTES("\x16\3\1\0\x80\1\0\0\x7c\3\3")), 0);
	assert_int_equal(talk.connection.protocol, ROUTES_TLS);
	assert_int_equal(say(&talk, BYTES("\x14\3\3\0\1\1\x17\3\3\0\x35......")), 0); /* the end of the handshake */
	assert_int_equal(say(&talk, BYTES("\x17\3\3\0\x35......")), 1);
	conversation_end(&talk, "TLS (not readable)");

	conversation_begin(&talk);
	say(&talk, BYTES("GET /a HTTP/1.1\r\nUpgrade: h2c\r\n\r\n"));
	answer_bytes(&talk.connection, BYTES("HTTP/1.1 101 Switching Protocols\r\n"), 34);
	say(&talk, BYTES("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0"));
	assert_int_equal(talk.connection.protocol, ROUTES_HTTP2);
	conversation_end(&talk, "GET /a");
}

/* Frames of HEADERS: RFC 7541, appendix C.3 and C.4, whose requests are GET of / and of /index.html. */
#define PREFACE "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0"

static void http2_reads_what_the_standard_shows(void **state)
{
	struct conversation talk;

	conversation_begin(&talk);
	say(&talk, BYTES(PREFACE "\0\0\x14\1\5\0\0\0\1"
				 "\x82\x86\x84\x41\x0fwww.example.com"));
	say(&talk, BYTES("\0\0\x0e\1\5\0\0\0\3"
			 "\x82\x86\x84\xbe\x58\x08no-cache"));
	say(&talk, BYTES("\0\0\x1d\1\5\0\0\0\5"
			 "\x82\x87\x85\xbf\x40\x0a"
			 "custom-key\x0c"
			 "custom-value"));
	conversation_end(&talk, "GET /; GET /; GET /index.html");

	conversation_begin(&talk);
	say(&talk, BYTES(PREFACE "\0\0\x11\1\5\0\0\0\1"
				 "\x82\x86\x84\x41\x8c\xf1\xe3\xc2\xe5\xf2\x3a\x6b\xa0\xab\x90\xf4\xff"));
	say(&talk, BYTES("\0\0\x0c\1\5\0\0\0\3"
			 "\x82\x86\x84\xbe\x58\x86\xa8\xeb\x10\x64\x9c\xbf"));
	conversation_end(&talk, "GET /; GET /");
}

static void streams_count_one_by_one_and_trailers_do_not(void **state)
{
	struct conversation talk;

	conversation_begin(&talk);
	assert_int_equal(say(&talk, BYTES(PREFACE "\0\0\7\1\4\0\0\0\1"
						  "\x83\x86\x44\3/p1"
						  "\0\0\7\1\4\0\0\0\3"
						  "\x83\x86\x44\3/p2"
						  "\0\0\2\0\0\0\0\0\1"
						  "xy"
						  "\0\0\3\1\4\0\0\0\5"
						  "\x83\x86\xbe")),
		3);
	assert_int_equal(say(&talk, BYTES("\0\0\5\1\5\0\0\0\1"
					  "\x40\1x\1y")),
		0);
	/* The trailers have added an entry: the path is one further away. */
	assert_int_equal(say(&talk, BYTES("\0\0\3\1\4\0\0\0\7"
					  "\x83\x86\xbf")),
		1);
	assert_int_equal(say(&talk, BYTES("\0\0\7\1\4\0\0\0\x09"
					  "\x83\x86\x04\3/p3")),
		1);
	conversation_end(&talk, "POST /p1; POST /p2; POST /p2; POST /p2; POST /p3");
}

static void a_path_that_was_not_seen_is_not_guessed(void **state)
{
	struct conversation talk;

	/* From the middle of a connection. */
	conversation_begin(&talk);
	assert_int_equal(say(&talk, BYTES("\0\0\3\1\4\0\0\0\x65"
					  "\x83\x86\xbe")),
		1);
	assert_int_equal(say(&talk, BYTES("\0\0\7\1\4\0\0\0\x67"
					  "\x83\x86\x44\3/p1")),
		1);
	assert_int_equal(say(&talk, BYTES("\0\0\3\1\4\0\0\0\x69"
					  "\x83\x86\xbe")),
		1);
	/* The client empties its table, which is known from there on. */
	assert_int_equal(say(&talk, BYTES("\0\0\x09\1\4\0\0\0\x6b"
					  "\x20\x3f\xe1\x1f\x83\x86\x44\2/p")),
		1);
	assert_int_equal(say(&talk, BYTES("\0\0\3\1\4\0\0\0\x6d"
					  "\x83\x86\xbe")),
		1);
	routes_connection_miss(&talk.connection);
	assert_int_equal(say(&talk, BYTES("\0\0\3\1\4\0\0\0\x6f"
					  "\x83\x86\xbe")),
		1);
	conversation_end(&talk, "HTTP/2 (path not seen); POST /p1; HTTP/2 (path not seen); POST /{…}; "
				"HTTP/2 (path not seen); HTTP/2 (path not seen)");
}

static void bytes_behind_those_that_are_seen_make_a_table_unknown(void **state)
{
	struct routes *routes = routes_create();
	struct routes_connection connection = { 0 };
	static const char first[] = PREFACE "\0\0\7\1\4\0\0\0\1"
					    "\x83\x86\x44\3/p1";
	static const char data[] = "\0\0\xff\0\0\0\0\0\1"
				   "...";
	static const char second[] = "\0\0\3\1\4\0\0\0\3"
				     "\x83\x86\xbe";
	uint32_t ids[ROUTES_MOST_AT_ONCE], again[ROUTES_MOST_AT_ONCE];

	take_bytes(routes, &connection, BYTES(first), sizeof(first) - 1, ids);
	/* What is missing is all of one frame of data, of which the next read brings the end. */
	assert_int_equal(take_bytes(routes, &connection, BYTES(data), 200, ids), 0);
	assert_int_equal(connection.rest, 255 + 9 - 200);
	assert_int_equal(take_bytes(routes, &connection, "...", 3, 255 + 9 - 200, ids), 0);
	assert_int_equal(take_bytes(routes, &connection, BYTES(second), sizeof(second) - 1, again), 1);
	assert_true(connection.headers != NULL);
	/* More came behind it than was seen. */
	take_bytes(routes, &connection,
		BYTES("\0\0\3\1\4\0\0\0\5"
		      "\x83\x86\xbe"),
		500, ids);
	assert_int_equal(ids[0], again[0]);
	take_bytes(routes, &connection,
		BYTES("\0\0\3\1\4\0\0\0\7"
		      "\x83\x86\xbe"),
		12, ids);
	assert_true(ids[0] != again[0]);
	routes_connection_deinit(&connection);

	/* The rest of a body is all that was seen of a read. */
	take_bytes(routes, &connection, BYTES(first), sizeof(first) - 1, again);
	take_bytes(routes, &connection, BYTES(data), 200, ids);
	assert_int_equal(take_bytes(routes, &connection, "...", 3, 300, ids), 0);
	take_bytes(routes, &connection, BYTES(second), sizeof(second) - 1, ids);
	assert_true(ids[0] != again[0]);
	routes_connection_deinit(&connection);
	routes_destroy(routes);
}

static void gateways_have_the_routes_of_http(void **state)
{
	/* As nginx sends with its fastcgi_params, and with REQUEST_URI alone. */
	assert_names_of(BYTES("\1\1\0\1\0\10\0\0\0\1\0\0\0\0\0\0"
			      "\1\4\0\1\0\x5b\3\0"
			      "\x0c\x03QUERY_STRINGq=1"
			      "\x0e\4REQUEST_METHODPOST"
			      "\x0b\x12SCRIPT_NAME/shop/index.php/42"
			      "\x0b\x0aREQUEST_URI/shop/cart\0\0\0"
			      "\1\4\0\1\0\0\0\0"),
		"POST /shop/cart");
	assert_names_of(BYTES("\1\1\0\1\0\10\0\0\0\1\0\0\0\0\0\0"
			      "\1\4\0\1\0\x55\0\0"
			      "\x0b\x80\0\0\x12REQUEST_URI/users/bob@ex"),
		"{method} /users/{…}");
	assert_names_of(BYTES("\1\1\0\1\0\10\0\0\0\1\0\0\0\0\0\0"
			      "\1\4\0\1\1\x55\0\0"
			      "\x0c\x7fQUERY_STRINGsecret=1"),
		"FastCGI (path not seen)");
	assert_names_of(BYTES("\0\x2e\0\0"
			      "\x0e\0REQUEST_METHOD\3\0GET"
			      "\x0b\0REQUEST_URI\x0a\0/a/b?c=secret"),
		"GET /a/b");
	assert_names_of(BYTES("\0\x80\1\0"
			      "\x0c\0QUERY_STRING\x80\0secret"),
		"uwsgi (path not seen)");
	assert_names_of(BYTES("\x12\x34\0\x40\2\2\0\x08HTTP/1.1\0\0\x0a/shop/42/x\0\0\x09"
			      "127.0.0.1"),
		"GET /shop/{id}/x");
	assert_names_of(BYTES("\x12\x34\0\x40\2\4\0\x08HTTP/1.1\0\0\x0a/sho"), "POST /{…}");
}

static void other_protocols_have_the_names_of_their_commands(void **state)
{
	assert_names_of(BYTES("\x80\0\0\5\0\0\0\0\0\0\0\5\0\0\0\0\0\0\0\0\0\0\0\0Hello"
			      "\x80\x0a\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"),
		"memcached get; memcached noop");
	assert_names_of(BYTES("\0\0\0\x1a\0\0\0\x09\0\0\0\1\0\x08producer\0\0\0\1\0\0\x75\x30"), "Kafka Produce");
	assert_names_of(BYTES("\x10\x0c\0\4MQTT\4\2\0\x3c\0\0"), "MQTT CONNECT");
	assert_routes("CONNECT {\"verbose\":false}\r\nPUB orders.secret 5\r\nhello\r\nPING\r\n", "NATS PUB; NATS PING");
	assert_routes("EHLO client.example\r\n", "SMTP EHLO");
	assert_routes("MAIL FROM:<bob@example.com>\r\n", "SMTP MAIL");
	assert_names_of(BYTES("\xab\xcd\1\0\0\1\0\0\0\0\0\0\6secret\7example\3com\0\0\x1c\0\1"), "DNS AAAA");
	assert_names_of(BYTES("\x16\3\1\2\0\1\0\1\xfc\3\3"), "");
	assert_names_of(BYTES("\x11\0\0\0\3select 1 from `a`"), "other protocol"); /* its size is another one */
	assert_names_of(BYTES("\x12\0\0\0\3select 1 from `a`"), "select a");
	assert_names_of(BYTES("\x0e\0\0\0\3\0\1delete from t"), "other protocol");
	assert_names_of(BYTES("\x10\0\0\0\3\0\1delete from t"), "delete t");
	assert_routes("*2\r\n$11\r\nbad\x1b[2Jword\r\n$1\r\nx\r\n", "other protocol");
	assert_routes("*1\r\n$16\r\nxkcdqwrtplmnbvzs\r\n", "redis {command}");
	assert_routes("*3\r\n$4\r\nEVAL\r\n$500\r\nreturn redis.call('get', 'sec", "redis EVAL");
	assert_routes("*3\r\n$8\r\nEVAL_RO\r\n$1\r\nx\r\n", "other protocol");
}

static void prepared_statements_keep_their_routes(void **state)
{
	struct conversation talk;

	conversation_begin(&talk);
	say(&talk, BYTES("\0\0\0\x10\0\3\0\0user\0bob\0\0"));
	say(&talk, BYTES("P\0\0\0\x1cs1\0select 1 from a_b\0\0\0S\0\0\0\4"));
	say(&talk, BYTES("B\0\0\0\x0e\0s1\0\0\0\0\0\0\0E\0\0\0\x09\0\0\0\0\0S\0\0\0\4"));
	say(&talk, BYTES("B\0\0\0\x0e\0s2\0\0\0\0\0\0\0E\0\0\0\x09\0\0\0\0\0S\0\0\0\4"));
	routes_connection_miss(&talk.connection);
	say(&talk, BYTES("B\0\0\0\x0e\0s1\0\0\0\0\0\0\0E\0\0\0\x09\0\0\0\0\0S\0\0\0\4"));
	conversation_end(
		&talk, "select a_b; select a_b; PostgreSQL (statement not seen); PostgreSQL (statement not seen)");

	conversation_begin(&talk);
	talk.connection.protocol = ROUTES_MYSQL;
	say(&talk, BYTES("\x12\0\0\0\x16select 1 from `a`"));
	answer_bytes(&talk.connection, BYTES("\x0c\0\0\1\0\7\0\0\0\1\0\0\0\0\0\0"), 16);
	say(&talk, BYTES("\x0a\0\0\0\x17\7\0\0\0\0\1\0\0\0"));
	say(&talk, BYTES("\x0a\0\0\0\x17\x08\0\0\0\0\1\0\0\0"));
	say(&talk, BYTES("\5\0\0\0\x19\7\0\0\0"));
	conversation_end(&talk, "select a; select a; MySQL (statement not seen)");
}

static enum routes_outcome outcome(enum routes_protocol protocol, const void *bytes, size_t count)
{
	struct routes_connection connection = { .protocol = protocol };
	enum routes_outcome found = answer_bytes(&connection, bytes, count, count);

	routes_connection_deinit(&connection);
	return found;
}

static void answers_tell_errors(void **state)
{
	assert_int_equal(outcome(ROUTES_HTTP1, BYTES("HTTP/1.1 200 OK")), ROUTES_ANSWER_2XX);
	assert_int_equal(outcome(ROUTES_HTTP1, BYTES("HTTP/1.0 301 Moved")), ROUTES_ANSWER_3XX);
	assert_int_equal(outcome(ROUTES_HTTP1, BYTES("HTTP/1.1 ")), ROUTES_ANSWER_UNKNOWN);
	assert_int_equal(outcome(ROUTES_HTTP1, BYTES("HTTP/1.1 900")), ROUTES_ANSWER_UNKNOWN);
	assert_int_equal(outcome(ROUTES_HTTP2, BYTES("\0\0\1\1\5\0\0\0\1\x8e")), ROUTES_ANSWER_5XX);
	assert_int_equal(outcome(ROUTES_HTTP2, BYTES("\0\0\0\4\1\0\0\0\0\0\0\5\1\5\0\0\0\1\x48\3"
						     "503")),
		ROUTES_ANSWER_5XX);
	assert_int_equal(outcome(ROUTES_HTTP2, BYTES("\0\0\4\1\5\0\0\0\1\x48\x82\x68\0")), ROUTES_ANSWER_4XX);
	assert_int_equal(outcome(ROUTES_HTTP2, BYTES("\0\0\1\1\5\0\0\0\1\xbe")), ROUTES_ANSWER_UNKNOWN);
	assert_int_equal(outcome(ROUTES_REDIS, BYTES("-ERR no")), ROUTES_ANSWER_ERROR);
	assert_int_equal(outcome(ROUTES_REDIS, BYTES("$-1\r\n")), ROUTES_ANSWER_OK);
	assert_int_equal(outcome(ROUTES_POSTGRESQL, BYTES("E\0\0\0\x10SERROR")), ROUTES_ANSWER_ERROR);
	assert_int_equal(outcome(ROUTES_POSTGRESQL, BYTES("1\0\0\0\4"
							  "2\0\0\0\4"
							  "E\0\0\0\x10SERROR")),
		ROUTES_ANSWER_ERROR);
	assert_int_equal(outcome(ROUTES_POSTGRESQL, BYTES("T\0\0\0\x10")), ROUTES_ANSWER_OK);
	assert_int_equal(outcome(ROUTES_MYSQL, BYTES("\7\0\0\1\xff\x48\4#")), ROUTES_ANSWER_ERROR);
	assert_int_equal(outcome(ROUTES_MYSQL, BYTES("\1\0\0\1\5")), ROUTES_ANSWER_OK);
	assert_int_equal(outcome(ROUTES_MEMCACHED, BYTES("SERVER_ERROR out of memory")), ROUTES_ANSWER_ERROR);
	assert_int_equal(outcome(ROUTES_MEMCACHED, BYTES("\x81\0\0\0\0\0\0\x81")), ROUTES_ANSWER_ERROR);
	assert_int_equal(outcome(ROUTES_MEMCACHED, BYTES("END\r\n")), ROUTES_ANSWER_OK);
	assert_int_equal(outcome(ROUTES_SMTP, BYTES("550 no")), ROUTES_ANSWER_ERROR);
	assert_int_equal(outcome(ROUTES_NATS, BYTES("-ERR 'x'")), ROUTES_ANSWER_ERROR);
	assert_int_equal(outcome(ROUTES_DNS, BYTES("\1\2\x81\x82")), ROUTES_ANSWER_ERROR);
	assert_int_equal(outcome(ROUTES_DNS, BYTES("\1\2\x81\x83")), ROUTES_ANSWER_OK);
	assert_int_equal(outcome(ROUTES_FASTCGI, BYTES("\1\6\0\1\0\x10\0\0Status: 404 Not ")), ROUTES_ANSWER_4XX);
	assert_int_equal(outcome(ROUTES_FASTCGI, BYTES("\1\6\0\1\0\x10\0\0Content-Type: te")), ROUTES_ANSWER_2XX);
	assert_int_equal(outcome(ROUTES_AJP, BYTES("AB\0\x10\4\1\xf4")), ROUTES_ANSWER_5XX);
	assert_int_equal(outcome(ROUTES_KAFKA, BYTES("\0\0\0\1")), ROUTES_ANSWER_UNKNOWN);
	assert_int_equal(outcome(ROUTES_UNKNOWN, BYTES("x")), ROUTES_ANSWER_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(http_is_told_by_its_request_line),
		cmocka_unit_test(a_path_that_is_cut_loses_its_last_segment),
		cmocka_unit_test(pipelined_requests_count_one_by_one),
		cmocka_unit_test(at_most_so_many_requests_are_taken_at_once),
		cmocka_unit_test(a_body_is_no_request),
		cmocka_unit_test(messages_of_websocket_are_requests_of_its_route),
		cmocka_unit_test(a_connection_may_turn_to_tls_or_http2),
		cmocka_unit_test(http2_reads_what_the_standard_shows),
		cmocka_unit_test(streams_count_one_by_one_and_trailers_do_not),
		cmocka_unit_test(a_path_that_was_not_seen_is_not_guessed),
		cmocka_unit_test(bytes_behind_those_that_are_seen_make_a_table_unknown),
		cmocka_unit_test(gateways_have_the_routes_of_http),
		cmocka_unit_test(other_protocols_have_the_names_of_their_commands),
		cmocka_unit_test(prepared_statements_keep_their_routes),
		cmocka_unit_test(answers_tell_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
