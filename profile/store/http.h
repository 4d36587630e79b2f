/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/store/store.h"

/*
 * HTTP/1.1 to one server (RFC 9110), through libcurl: TLS with verification of the certificate, proxies as libcurl's
 * environment variables name them. The server is hostile: no redirect is followed, no protocol but the one that the
 * user named is spoken, headers and body of an answer have limits of size, and a request has limits of time.
 *
 * The client adds the secrets to each request, by `Authorization`: `Bearer` with the token, or `Basic` with user and
 * password. Nobody else has them. No error has a secret, an address' query, or a control character of the server.
 *
 * Only the courier uses it (courier.h).
 */

struct http;

/*
 * Makes a client; `origin`: "https://host:8123", borrowed while the client lives, as are the secrets. Opens no
 * connection. Files of certificates that CURL_CA_BUNDLE, or else SSL_CERT_FILE, names are read now, with the rights
 * that the process has. ERROR_UNSUPPORTED: there is no libcurl.
 */
COMMON_MUST_CHECK
bool http_create(const char *origin, const struct store_secrets *secrets, struct http **http, struct error *err);
void http_destroy(struct http *http); /* NULL is allowed */

/* Returns the origin, for messages, and the secrets; borrowed. */
const char *http_origin(const struct http *http);
const struct store_secrets *http_secrets(const struct http *http);

enum { HTTP_MAX_HEADERS = 16, HTTP_MAX_WORDS = 256 };

/* A request; what is 0 has the default. */
struct http_request {
	const char *method;                    /* "GET" or "POST" */
	const char *path;                      /* behind the origin, percent-encoded: "/api?x=1" */
	const char *headers[HTTP_MAX_HEADERS]; /* "Content-Type: application/proto"; NULL ends them */
	const void *body;                      /* of `body_bytes`; NULL: none, or that of `body_fd` */
	int body_fd;                           /* with `has_body_fd`: a file, read from its start by pread(2) */
	bool has_body_fd;
	uint64_t body_bytes;
	uint64_t max_answer_bytes; /* default: HTTP_DEFAULT_ANSWER_BYTES; as it is when it is decoded */
	/*
	 * It is sent over a new connection: where one that was left open closes without an answer, libcurl sends the
	 * request again by itself, whether the server has carried it out or not.
	 */
	bool is_once;
	bool to_file;         /* the answer's body becomes a file in memory */
	unsigned int stall_s; /* so long may nothing, or next to nothing, move; default: HTTP_STALL_S */
	unsigned int total_s; /* default: 300 */
};
enum { HTTP_DEFAULT_ANSWER_BYTES = 4 << 20, HTTP_STALL_S = 30 };

/* The outcome of a request. */
enum http_outcome {
	HTTP_ANSWERED,    /* there is an answer, whatever its status */
	HTTP_NOT_SENT,    /* the server was not reached: it has not seen the request */
	HTTP_INTERRUPTED, /* the connection was closed, or stalled: the server may have done what was asked for */
	HTTP_IMPOSSIBLE,  /* another try is of no use: no valid certificate, an answer that is too large */
};

/* All zero, with `fd` -1: nothing. */
struct http_answer {
	int status;
	double retry_after_s; /* 0: not given. Only seconds are understood, no date */
	bool is_html;
	char content_type[64];          /* as the server says it, cleaned */
	bool is_retryable;              /* 429 or 5xx, but not 501 and 505 */
	char location[HTTP_MAX_WORDS];  /* of a redirect, cleaned */
	char exception[HTTP_MAX_WORDS]; /* the header X-ClickHouse-Exception-Code */
	struct buffer body;             /* unless the request has `to_file` */
	int fd;                         /* owned; with `to_file`, at its start; else -1 */
};
void http_answer_deinit(struct http_answer *answer);

/* Returns how long requests have failed since one succeeded, for http_send(). */
double *http_failing_s(struct http *http);

/* Sends a request once. False unless HTTP_ANSWERED: then `err` says why. */
COMMON_MUST_CHECK
bool http_once(struct http *http, const struct http_request *request, struct http_answer *answer,
	enum http_outcome *outcome, struct error *err);

/* The rules by which a request is sent again. */
struct http_patience {
	/*
	 * The time for which the server may fail, over all requests since one succeeded: what the ones before have used
	 * up of it, this one has no more, and is sent once. 0: it is sent once.
	 */
	double seconds;
	/*
	 * Asked before a request is sent again that the server may have carried out: whether it has. NULL: the
	 * request may be carried out twice without harm.
	 */
	bool (*is_done)(void *context, bool *is_done, struct error *err);
	void *context;
	/* Returns whether an answer says that trying again is of no use, whatever its status. NULL: none does. */
	bool (*is_final)(const struct http_answer *answer);
};

/*
 * Sends a request, and sends it again while the server is busy (429, or 5xx), closes, stalls or is not there, with
 * pauses that double, of random length up to that, or as long as the server says. False: patience has ended, or trying
 * again is of no use. An answer with any other status is an answer. `*was_done`: is_done() has said so; there is no
 * answer then.
 */
COMMON_MUST_CHECK
bool http_send(struct http *http, const struct http_request *request, const struct http_patience *patience,
	struct http_answer *answer, bool *was_done, struct error *err);

/*
 * The error of an answer whose status is not 2xx, or which is a page for people where data was asked for. `what` was
 * tried: "cannot push kelvin.pb.gz". Returns true if the answer is none.
 */
COMMON_MUST_CHECK
bool http_check(const struct http *http, const struct http_answer *answer, const char *what, struct error *err);

/* Appends text percent-encoded, for a part of a path or of a query. */
void http_encode(struct buffer *path, const char *text);

/*
 * Appends a text of the server for an error or a notice: cleaned, on one line, of less than HTTP_MAX_WORDS characters,
 * and with "***" where a server says what it was told in secret.
 */
void http_append_words(const struct http *http, struct buffer *out, const char *bytes, size_t size);
