/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"
#include "sampler/ebpf/process_set.h"

enum { EBPF_REQUESTS_MOST_EVENTS = 64 };

/*
 * Programs that count the exchanges of the target's processes on stream sockets: TCP, Unix sockets, and whatever else
 * has them. profile/requests.h says what an exchange is. They hook the tracepoints at which bytes were sent and
 * received, whichever system call did it. Bytes that are only peeked at do not count, nor do those that splice() takes
 * out of a socket, which has no tracepoint.
 *
 * Which end asks and which one answers is a property of the socket: one that came out of accept() answers. Where that
 * cannot be told, as for a pair of sockets, whoever sends first asks.
 *
 * No event is written: counts and latencies are added up in the kernel.
 *
 * Needs Linux 6.3 with its type information, CAP_BPF and CAP_PERFMON, and that the process is in the initial pid
 * namespace.
 */
struct ebpf_requests;

struct ebpf_requests_options {
	const struct ebpf_process_set *processes; /* borrowed; NULL: all processes */
	int32_t only_tid;                         /* 0: all threads */
	uint32_t most_processes;                  /* that have counts of their own; 0: 8,192 */
	uint32_t most_retired;                    /* latencies of processes that have ended; 0: 1,048,576 */
	/*
	 * Perf events that are counted in place of exchanges, each time as one that was answered: tracepoints, or else
	 * uprobes. Owned from ebpf_requests_create() on, also where it fails.
	 */
	const int *events;
	size_t event_count;
	bool are_tracepoints;
	bool is_before_6_3; /* as where the kernel has no such tracepoints: for tests */
};

/* Loads and attaches the programs. Nothing is counted before ebpf_requests_enable(). Owned by the caller. */
COMMON_MUST_CHECK
bool ebpf_requests_create(
	const struct ebpf_requests_options *options, struct ebpf_requests **requests, struct error *err);
void ebpf_requests_destroy(struct ebpf_requests *requests);

/*
 * Exchanges count that begin from now on; `since_ns`, the time, tells this stretch from others. 0: they no longer do,
 * and those that have begun and are not answered never will.
 */
void ebpf_requests_enable(struct ebpf_requests *requests, uint64_t since_ns);

/*
 * Measures, from now on, one exchange in so many, a power of two, chosen at random. It counts as all of these, so that
 * all figures stay right on average whenever this changes.
 */
void ebpf_requests_set_one_in(struct ebpf_requests *requests, uint32_t one_in);

enum ebpf_exchange_kind {
	EBPF_EXCHANGE_ANSWERED,
	EBPF_EXCHANGE_CALLED_OUT,
	/* asked and answered by processes of the target, but for pairs of sockets; only where the target is a set */
	EBPF_EXCHANGE_WITHIN,
};
enum { EBPF_EXCHANGE_KIND_COUNT = 3 };

/* The exchanges of a process since the beginning. */
struct ebpf_exchanges {
	int32_t process; /* 0: of all those whose account has no room for them in the table */
	enum ebpf_exchange_kind kind;
	char name[16]; /* comm of the group leader when it answered or called for the first time */
	uint64_t count, connections, received_bytes, sent_bytes;
};

/* All that there are; borrowed until the next call. */
COMMON_MUST_CHECK
bool ebpf_requests_read(
	struct ebpf_requests *requests, const struct ebpf_exchanges **exchanges, size_t *count, struct error *err);

struct ebpf_exchange_latency {
	int32_t process;
	enum ebpf_exchange_kind kind;
	uint16_t bucket; /* as profile_latency_bucket_start() numbers them */
	uint64_t count;
};

/* Likewise, all latencies since the beginning: to be called once, at the end. */
COMMON_MUST_CHECK
bool ebpf_requests_read_latencies(struct ebpf_requests *requests, const struct ebpf_exchange_latency **latencies,
	size_t *count, struct error *err);

/*
 * The table of processes belongs to all accounts, of which each may have as many processes there as are free; so do
 * the latencies. Whether more than a quarter of either is used: one account alone may use half, and it is time to
 * retire processes that have ended.
 */
bool ebpf_requests_are_crowded(const struct ebpf_requests *requests);

/* Finds a number of the account that pays for a process with counts of its own; false: it has none. */
bool ebpf_requests_payer(const struct ebpf_requests *requests, int32_t process, uint32_t *payer);

/*
 * Gives back what processes that have ended have in the table: their exchanges are gone, and were read since they
 * ended; their latencies are kept here, together with those of others where their account has too many.
 */
COMMON_MUST_CHECK
bool ebpf_requests_retire(struct ebpf_requests *requests, const int32_t *processes, size_t count, struct error *err);
