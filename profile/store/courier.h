/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/store/http.h"
#include "profile/store/store.h"

/*
 * The courier (a network proxy): the child process that speaks to one store (docs/decisions/91-courier.md), and what
 * each kind of store does in it.
 *
 * How a kind of store is added: its folder (profile/store/KIND/) defines a `const struct store_functions`, which stands
 * in the table of kinds.c. `prepare` runs in a process without rights that has read the profile; all others run in the
 * courier, which has the network, the secrets (inside `courier->http` alone), memory, and files of the system for
 * reading. They speak to the server by http_send() and judge answers by http_check(). What they hand over are files in
 * memory from courier_file(), and notices; the process that gets them reads them as foreign bytes. An entry that is
 * NULL is ERROR_UNSUPPORTED to the caller.
 */

struct courier {
	struct http *http;
	const struct store_address *address; /* borrowed: whom it speaks to; queries are of the same host and path */
	double patience_s;                   /* for the present call: to be handed to http_send() */
	struct buffer *notices; /* borrowed: lines for the user about the present call; foreign text is cleaned */
};

struct store_functions {
	/* Writes the parts of the parcel, and its notices. */
	bool (*prepare)(const struct profile *profile, const struct store_filter *labels, size_t label_count,
		struct store_parcel *parcel, struct error *err);
	/* Sends the parts; each is at its end, to be read by pread(2). */
	bool (*send)(
		struct courier *courier, const struct store_parcel *parcel, enum store_sent *sent, struct error *err);
	/* Adds profiles by courier_add(). */
	bool (*fetch)(struct courier *courier, const struct store_address *query, struct store_profiles *profiles,
		struct error *err);
	bool (*fetch_summaries)(struct courier *courier, const struct store_address *query, int fd, struct error *err);
	bool (*fetch_ids)(struct courier *courier, const struct store_address *query, const uint64_t (*ids)[2],
		size_t count, struct store_profiles *profiles, struct error *err);
};

/* Returns the functions of a kind. */
const struct store_functions *store_functions_of(enum store_kind kind);

extern const struct store_functions store_pyroscope, store_clickhouse, store_coroot;

/* Makes an empty file in memory, which the caller owns. */
COMMON_MUST_CHECK
bool courier_file(int *fd, struct error *err);

enum { COURIER_MAX_PROFILES = 100000, COURIER_MAX_NAME = 256, COURIER_MAX_NOTICES = 1 << 16 };

/* Adds a profile; its name is cut at COURIER_MAX_NAME bytes. Takes over `*fd`, which is -1 then, also after an error.
 */
COMMON_MUST_CHECK
bool courier_add(struct store_profiles *profiles, const char *name, int *fd, struct error *err);

/* ---- The protocol between the courier and its parent, over a socket that keeps the bounds of messages ---- */

enum courier_call { COURIER_SEND, COURIER_FETCH, COURIER_FETCH_SUMMARIES, COURIER_FETCH_IDS };

/*
 * A request to the courier. With COURIER_SEND follow as many messages of one byte as a parcel has parts, each with a
 * descriptor; with the others comes the query's text as a file, and with COURIER_FETCH_IDS a message of one byte with a
 * file of the ids.
 */
struct courier_question {
	enum courier_call call;
	double patience_s;
	uint64_t id[2];
	int64_t from_unix_ns, until_unix_ns; /* of the query: its text may have times relative to now */
	uint64_t count;                      /* of ids */
};

/*
 * The kind of an answer of the courier: any number of items with descriptors, and an end, with the notices as a file.
 */
enum courier_answer_kind { COURIER_ITEM, COURIER_END };
struct courier_answer {
	enum courier_answer_kind kind;
	bool ok;
	enum store_sent sent;
	struct error err;            /* unless `ok` */
	char name[COURIER_MAX_NAME]; /* of an item */
};

/* Has the calling process, of child_fork(CHILD_IS_QUIET), serve its parent until that closes its end. */
_Noreturn void courier_run(int socket, const struct store_address *address, const struct store_secrets *secrets);
