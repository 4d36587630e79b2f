/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The amount of work that a program did while it was recorded: the requests that it answered, so that costs can be
 * compared per request, and those that it sent to others.
 *
 * An exchange is a request and its answer on one stream socket. It begins with the first bytes after nothing, or after
 * bytes in the other direction; its answer begins with the first bytes in the other direction. A process *answers* an
 * exchange that it receives first, and *calls out* with one that it sends first. Protocols that send several requests
 * before an answer (pipelining, HTTP/2, gRPC) count one exchange for each burst.
 *
 * Instead of exchanges, other work can be counted: a tracepoint, uprobe or USDT probe that fires once for each unit of
 * work (`record --work`), or a number that the user states (`record --requests`).
 */

struct profile;

/* The source of the number of requests. */
enum profile_work_source {
	PROFILE_WORK_UNKNOWN, /* nothing does */
	PROFILE_WORK_SOCKETS, /* exchanges on sockets */
	PROFILE_WORK_EVENT,   /* an event that the user named */
	PROFILE_WORK_STATED,  /* the user stated the number */
};
enum { PROFILE_WORK_SOURCE_COUNT = 4 };

/* Returns "unknown", "sockets", "event", "stated". Static. */
const char *profile_work_source_name(enum profile_work_source source);

/* Which side of an exchange a process is on. Work that is no exchange counts as answered. */
enum profile_exchange_kind { PROFILE_EXCHANGE_ANSWERED, PROFILE_EXCHANGE_CALLED_OUT };
enum { PROFILE_EXCHANGE_KIND_COUNT = 2 };

/* The exchanges of one process in one run. */
struct profile_exchanges {
	uint32_t run;
	int32_t pid; /* 0: of no single process, as a number that the user stated */
	enum profile_exchange_kind kind;
	uint32_t process_name; /* string: comm of the group leader */
	uint64_t count;        /* exchanges whose answer began while the program was recorded */
	uint64_t connections;  /* on which they were */
	uint64_t received_bytes, sent_bytes;
};

/* The number of exchanges since the reading before it of the same process, or since the start of its run. */
struct profile_exchange_reading {
	uint32_t exchanges; /* index in profile_requests.exchanges */
	int64_t time_ns;    /* since the start of its run */
	uint64_t count;
};

/* The number of exchanges that took a time, from the first byte of the request to the first byte of the answer. */
struct profile_latency {
	uint32_t exchanges; /* index in profile_requests.exchanges */
	uint16_t
		bucket; /* of the latency, as the program in the kernel numbers them (sampler/ebpf/requests_shared.h) */
	uint64_t count;
};

/* Buckets of latencies: 16 in each power of two, so that one is at most 1/16 wider than its lower end. */
enum { PROFILE_LATENCY_BUCKETS = 976 };

struct profile_requests {
	enum profile_work_source source;
	uint32_t event; /* string: what PROFILE_WORK_EVENT counts: "uprobe:./server:handle_job" */
	/* one exchange in up to so many was measured, and counts for all of them in the figures here; 1: each was */
	uint32_t one_in;
	/*
	 * Owned by the profile: exchanges by (run, pid, kind), readings by (exchanges, time), latencies likewise by
	 * bucket. They are in this order behind profile_finish(), which may give exchanges other ids.
	 */
	struct profile_exchanges *exchanges;
	struct profile_exchange_reading *readings;
	struct profile_latency *latencies;
	size_t exchange_count, reading_count, latency_count;
};

/* Returns the lower end of a bucket, and that of the next one, in nanoseconds. */
uint64_t profile_latency_bucket_start(uint16_t bucket);
uint64_t profile_latency_bucket_end(uint16_t bucket);

/*
 * Adds or finds the exchanges of (run, pid, kind). The counts of `exchanges` are added to those that are there; its run
 * must exist.
 */
COMMON_MUST_CHECK
bool profile_add_exchanges(
	struct profile *profile, const struct profile_exchanges *exchanges, uint32_t *id, struct error *err);

/*
 * Adds a reading; its count becomes part of its exchanges' count. A reading of 0 tells that there were none since the
 * one before it. profile_finish() puts readings in order, and adds up those of the same time.
 */
COMMON_MUST_CHECK
bool profile_add_exchange_reading(
	struct profile *profile, const struct profile_exchange_reading *reading, struct error *err);

/* Adds to the number of exchanges in a bucket. Numbers of the same bucket are added up by profile_finish(). */
COMMON_MUST_CHECK
bool profile_add_latency(struct profile *profile, const struct profile_latency *latency, struct error *err);

/* Returns the number of exchanges of a kind in all runs and processes; 0: none, or not counted. */
uint64_t profile_requests_total(const struct profile *profile, enum profile_exchange_kind kind);

/*
 * Returns the number of exchanges of a kind in one run within [from_ns, until_ns) since its start: between two readings
 * they are taken to be evenly spread, and those that no reading tells of over the duration of the run. The profile must
 * be finished.
 */
double profile_requests_between(const struct profile *profile, uint32_t run, enum profile_exchange_kind kind,
	int64_t from_ns, int64_t until_ns);

/* The number of exchanges of a kind in a bucket, in all runs and processes, is written to counts[bucket]. */
void profile_latency_counts(const struct profile *profile, enum profile_exchange_kind kind,
	uint64_t counts[static PROFILE_LATENCY_BUCKETS]);

/*
 * Returns the latency in nanoseconds that a part of the exchanges (0.5, 0.9, 0.99) does not exceed, to the precision of
 * the buckets, in which they are taken to be evenly spread; NAN without latencies.
 */
double profile_latency_quantile(const uint64_t counts[static PROFILE_LATENCY_BUCKETS], double part);

/* Returns the mean, with each latency in the middle of its bucket; NAN: there are none. */
double profile_latency_mean(const uint64_t counts[static PROFILE_LATENCY_BUCKETS]);
