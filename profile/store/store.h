/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/model.h"
#include "profile/summary/summary.h"

/*
 * Stores of profiles: Pyroscope, ClickHouse with Kelvin's own tables, and ClickHouse with the tables that Coroot fills
 * (docs/decisions/91-courier.md).
 *
 * A *courier* is a child process that speaks to one store and does nothing else: it has the network and the secrets,
 * and no right to anything (common/child/rights.h). What it sends was prepared by a process that has neither, from
 * profiles that are foreign; what it hands over, pprof and summaries as files in memory, is foreign to whoever reads
 * it. A server is hostile: no redirect is followed, answers have a limit of size and of time, and secrets are sent to
 * the host that the user named alone.
 *
 * libcurl is loaded when a store is opened, and not before.
 */

enum store_kind {
	STORE_PYROSCOPE,  /* pyroscope+http://HOST[:PORT][/PATH] */
	STORE_CLICKHOUSE, /* clickhouse+http://HOST[:PORT]/DATABASE */
	STORE_COROOT,     /* clickhouse+coroot+http://HOST[:PORT]/DATABASE: only read */
};

enum { STORE_MAX_FILTERS = 32 };

struct store_filter {
	char *key, *value; /* owned */
};

/* A store's address: the URL that the user names. All zero: none. */
struct store_address {
	enum store_kind kind;
	char *url;                                      /* owned: "https://host:8123", without what follows */
	char *path;                                     /* owned: of the API, "/prefix" or ""; or the database's name */
	char *text;                                     /* owned: the whole address, for messages */
	int64_t from_unix_ns, until_unix_ns;            /* 0: not given */
	struct store_filter filters[STORE_MAX_FILTERS]; /* of the query: KEY=VALUE; `query` of Pyroscope is one */
	size_t filter_count;
};

/* Returns whether the text is meant as an address of a store, right or wrong. */
bool store_is_address(const char *text);

/*
 * Parses an address. `from` and `until` are Unix seconds, RFC 3339, or `now-2h`. ERROR_USAGE names what is wrong; user
 * and password are refused in it. `now_unix_ns`: what `now` is.
 */
COMMON_MUST_CHECK
bool store_address_parse(const char *text, int64_t now_unix_ns, struct store_address *address, struct error *err);
void store_address_deinit(struct store_address *address);

/* Returns the value of the query's condition of that key, borrowed; NULL: there is none. */
const char *store_address_filter(const struct store_address *address, const char *key);

/*
 * Moves KELVIN_STORE_TOKEN, or KELVIN_STORE_USER and KELVIN_STORE_PASSWORD, out of the environment: neither
 * /proc/PID/environ nor a child that is executed has them any more, also after an error. Called once, before any other
 * thread or child. ERROR_USAGE: a value cannot be sent, or both a token and a user are set.
 */
struct store_secrets {
	char *token, *user, *password; /* owned, in memory of which no core file is written; NULL: not given */
};
COMMON_MUST_CHECK
bool store_take_secrets(struct store_secrets *secrets, struct error *err);
void store_secrets_deinit(struct store_secrets *secrets);

/* ---- The courier ---- */

struct store;

/* Starts the courier. `secrets` may be wiped afterwards. ERROR_UNSUPPORTED: there is no libcurl. */
COMMON_MUST_CHECK
bool store_open(const struct store_address *address, const struct store_secrets *secrets, struct store **store,
	struct error *err);
void store_close(struct store *store);

static inline void store_cleanup(struct store **store)
{
	store_close(*store);
}

/* ---- Sending ---- */

/*
 * The parcel of one profile (the payload of its upload): files in memory, made before the profile is read, so that a
 * process without rights can fill them and its parent, which has them as well, can send them.
 */
enum { STORE_PARCEL_PARTS = 8 };

/* Adds the summary of a profile to a set, for stores that keep summaries: history_summarize() of diff/. */
typedef bool store_summarize(struct summary_set *set, const struct profile *profile,
	const struct summary_options *options, struct error *err);

struct store_parcel {
	uint64_t id[2]; /* of the profile: what was sent with this id counts once, however often it is sent */
	int parts[STORE_PARCEL_PARTS]; /* owned descriptors; what each is, the kind of store knows. Empty: none */
	struct buffer notices;         /* what the store will not have of the profile, a line each */
	store_summarize *summarize;
};

/* Makes empty parts. To be deinitialized also after an error. */
COMMON_MUST_CHECK
bool store_parcel_init(struct store_parcel *parcel, store_summarize *summarize, struct error *err);
void store_parcel_deinit(struct store_parcel *parcel);

/* Has the parcel begin anew, for another profile. */
COMMON_MUST_CHECK
bool store_parcel_clear(struct store_parcel *parcel, struct error *err);

/*
 * Fills the parcel with a profile, by a pure computation: it needs no right but to write to the parts, with write(2).
 * `labels` are added to those of the profile. `parcel->id` says which profile it is.
 */
COMMON_MUST_CHECK
bool store_prepare(enum store_kind kind, const struct profile *profile, const struct store_filter *labels,
	size_t label_count, struct store_parcel *parcel, struct error *err);

enum store_sent { STORE_SENT, STORE_WAS_THERE };

/*
 * Sends a parcel, trying again when the server is busy, fails, closes or stalls, for `patience_s` seconds at most since
 * it last did what it was asked for: parcels that follow a failure share them. A refusal is an error at once, with the
 * server's words; ERROR_SYSTEM: it is not reached, which will be so for the next parcel as well. Nothing is stored
 * twice. Lines of foreign text are appended to `notices`.
 */
COMMON_MUST_CHECK
bool store_send(struct store *store, const struct store_parcel *parcel, double patience_s, enum store_sent *sent,
	struct buffer *notices, struct error *err);

/* ---- Fetching ---- */

/* A profile of a store: of one instance in one part of the time, or as it was recorded. */
struct store_profile {
	char *name; /* owned: "pod=api-7d4f, 12:00 to 12:10" */
	int fd;     /* owned: pprof, at its start; sealed, so that nobody changes it any more */
};
struct store_profiles {
	struct store_profile *items; /* owned */
	size_t count, capacity;
	struct buffer notices; /* lines */
};
void store_profiles_deinit(struct store_profiles *profiles);

/*
 * Fetches what the address asks for, as replicates of one side. ERROR_EMPTY: there is nothing. What is fetched are
 * foreign bytes, and so is the text of names and notices. The query is of the store that was opened.
 */
COMMON_MUST_CHECK
bool store_fetch(
	struct store *store, const struct store_address *query, struct store_profiles *profiles, struct error *err);

/*
 * Fetches summaries of all profiles that the address asks for, as summary_write() has them, each behind its size as 8
 * bytes of this machine's order, in one file in memory. `*fd` is the caller's, and cannot be changed any more. Lines
 * of foreign text are appended to `notices`. ERROR_UNSUPPORTED: the store has no sums.
 */
COMMON_MUST_CHECK
bool store_fetch_summaries(
	struct store *store, const struct store_address *query, int *fd, struct buffer *notices, struct error *err);

/* Fetches the profiles of these ids, as for store_fetch(). */
COMMON_MUST_CHECK
bool store_fetch_ids(struct store *store, const struct store_address *query, const uint64_t (*ids)[2], size_t count,
	struct store_profiles *profiles, struct error *err);

/* ---- Histories ---- */

/*
 * The profiles of a history in a store that has sums of them: summaries are fetched before the process without rights
 * begins, and profiles of a change when that process asks its parent for them.
 */
struct store_history {
	struct store_address address;
	struct store *store; /* owned; used by the process with rights alone */
	int summaries;       /* owned: a file in memory, as store_fetch_summaries() has it; -1: none */
	/* The resources of the process without rights. */
	const struct summary_set *set;
	/* Asks the process with rights, which answers by store_history_answer(). */
	int (*ask)(void *context, const void *bytes, size_t size, struct error *err);
	void *context;
};

/*
 * Asks the store of that address. One that has no sums sends profiles instead, which are added to `fetched`; its
 * notices are those of the store in any case. It is to be deinitialized also after an error.
 */
COMMON_MUST_CHECK
bool store_history_open(const char *name, const struct store_secrets *secrets, struct store_history *store,
	struct store_profiles *fetched, struct error *err);
void store_history_deinit(struct store_history *store);

/* Answers store_history_profiles(): a descriptor, which is the caller's; -1: there is none, and `err` may say why. */
int store_history_answer(struct store_history *store, const void *bytes, size_t size, struct error *err);

/* Adds the summaries to the set, which is borrowed from then on. */
COMMON_MUST_CHECK
bool store_history_read(struct store_history *store, struct summary_set *set, struct error *err);

/* Writes the profiles of some summaries, each behind its size as 8 bytes. */
COMMON_MUST_CHECK
bool store_history_profiles(const struct store_history *store, const size_t *summaries, size_t count,
	struct buffer *bytes, struct error *err);
