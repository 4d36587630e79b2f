/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * A server of HTTP for tests, which means harm as the test wants: a child process that answers its connections one
 * after the other by a list, and keeps what it was sent.
 */

enum small_behaviour {
	SMALL_ANSWER,       /* sends `bytes` and closes */
	SMALL_CLOSE,        /* closes behind the request, without a word */
	SMALL_STALL,        /* sends `bytes`, then nothing, and stays */
	SMALL_DRIP,         /* sends `bytes` for ever, one byte every 100 ms */
	SMALL_ENDLESS,      /* sends `bytes`, then data without an end */
	SMALL_ENDLESS_HEAD, /* sends headers without an end */
};

struct small_step {
	enum small_behaviour behaviour;
	const char *bytes; /* NULL: "HTTP/1.1 200 OK", with the body "{}" */
	size_t size;       /* 0: up to its NUL */
};

enum { SMALL_MOST_BYTES = 1 << 20 };

struct small_server {
	pid_t pid;
	unsigned int port;
	char origin[64]; /* "http://127.0.0.1:PORT" */
	struct small_record {
		size_t connections, size;
		char bytes[SMALL_MOST_BYTES]; /* of all requests, one behind the other */
	} * record;                           /* shared with the server */
};

/* The last step is repeated. `steps` is borrowed until the end. */
void small_server_start(struct small_server *server, const struct small_step *steps, size_t count);
void small_server_end(struct small_server *server);

/* Whether the server was sent this text. */
bool small_server_saw(const struct small_server *server, const char *text);
