/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "history/history.h"
#include "profile/profile.h"

/*
 * Stores of profiles: Pyroscope, ClickHouse with Kelvin's own tables, and ClickHouse with the tables that Coroot fills
 * (docs/decisions/91-courier.md).
 *
 * A *courier* is a child process that speaks to one store and does nothing else: it has the network and the secrets,
 * and no right to anything (common/rights.h). What it sends was prepared by a process that has neither, from profiles
 * that are foreign; what it hands over, pprof and summaries as files in memory, is foreign to whoever reads it. A
 * server is hostile: no redirect is followed, answers have a limit of size and of time, and secrets are sent to the
 * host that the user named alone.
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

/* What the user names as URL. */
struct store_address {
	enum store_kind kind;
	char *url;                                      /* owned: "https://host:8123", without what follows */
	char *path;                                     /* owned: of the API, "/prefix"; or the database */
	char *text;                                     /* owned: the whole address, for messages */
	int64_t from_unix_ns, until_unix_ns;            /* 0: not given */
	struct store_filter filters[STORE_MAX_FILTERS]; /* of the query: KEY=VALUE; `query` of Pyroscope is one */
	size_t filter_count;
};

/* Whether the text is meant as an address of a store, right or wrong. */
bool store_is_address(const char *text);

/*
 * Parses an address. `from` and `until` are Unix seconds, RFC 3339, or `now-2h`. ERROR_USAGE names what is wrong; user
 * and password are refused in it. `now_unix_ns`: what `now` is.
 */
COMMON_MUST_CHECK
bool store_address_parse(const char *text, int64_t now_unix_ns, struct store_address *address, struct error *err);
void store_address_deinit(struct store_address *address);

/*
 * Moves KELVIN_STORE_TOKEN, or KELVIN_STORE_USER and KELVIN_STORE_PASSWORD, out of the environment: neither
 * /proc/PID/environ nor a child that is executed has them any more. Called once, before any other thread or child.
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

/* What is sent of one profile: prepared where the profile was read, as files in memory. */
enum { STORE_PARCEL_PARTS = 4 };
struct store_parcel {
	uint64_t id[2]; /* of the profile: what was sent with this id counts once, however often it is sent */
	int parts[STORE_PARCEL_PARTS]; /* owned descriptors; -1: none. What each is, the kind of store knows */
	size_t part_count;
	struct buffer notices; /* what the store will not have of it, a line each */
};
void store_parcel_deinit(struct store_parcel *parcel);

/* Prepares a profile, by a pure computation. `labels` are added to those of the profile. */
COMMON_MUST_CHECK
bool store_prepare(enum store_kind kind, const struct profile *profile, const struct store_filter *labels,
	size_t label_count, const uint64_t id[2], struct store_parcel *parcel, struct error *err);

enum store_sent { STORE_SENT, STORE_WAS_THERE };

/*
 * Sends a parcel, trying again, for `patience_s` seconds at most, when the server is busy, fails, closes or stalls; a
 * refusal is an error at once, with the server's words. Nothing is stored twice.
 */
COMMON_MUST_CHECK
bool store_send(struct store *store, const struct store_parcel *parcel, double patience_s, enum store_sent *sent,
	struct error *err);

/* ---- Fetching ---- */

/* A profile of a store: of one instance in one part of the time, or as it was recorded. */
struct store_profile {
	char *name; /* owned: "pod=api-7d4f, 12:00 to 12:10" */
	int fd;     /* owned: pprof */
};
struct store_profiles {
	struct store_profile *items; /* owned */
	size_t count;
	struct buffer notices;
};
void store_profiles_deinit(struct store_profiles *profiles);

/* Fetches what the address asks for, as replicates of one side. ERROR_EMPTY: there is nothing. */
COMMON_MUST_CHECK
bool store_fetch(
	struct store *store, const struct store_address *query, struct store_profiles *profiles, struct error *err);

/*
 * Fetches summaries of all profiles that the address asks for, as summary_write() has them, each behind its size as 8
 * bytes of this machine's order, in one file in memory. `fd` is the caller's. ERROR_UNSUPPORTED: the store has no sums.
 */
COMMON_MUST_CHECK
bool store_fetch_summaries(struct store *store, const struct store_address *query, int *fd, struct error *err);

/* Fetches the profiles of these ids, as for store_fetch(). */
COMMON_MUST_CHECK
bool store_fetch_ids(struct store *store, const struct store_address *query, const uint64_t (*ids)[2], size_t count,
	struct store_profiles *profiles, struct error *err);
