/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <linux/types.h>

/*
 * Definitions that the programs of requests.bpf.c and the code that loads them agree on. Only these two include it, and
 * tests, which number latencies by it.
 */

enum { REQUESTS_MOST_PROCESSES = 8192, REQUESTS_MOST_LATENCIES = 131072, REQUESTS_MOST_ENDS = 16384 };

/* The value of PROFILE_LATENCY_BUCKETS of profile/requests.h. */
enum { REQUESTS_BUCKETS = 976, REQUESTS_BUCKET_BITS = 4 };

enum requests_kind {
	REQUESTS_ANSWERED,
	REQUESTS_CALLED_OUT,
	REQUESTS_WITHIN, /* both ends belong to processes of the target */
	REQUESTS_KINDS,
	REQUESTS_IGNORED = REQUESTS_KINDS, /* a socket whose exchanges do not count */
};

/* Process 0 has what the maps had no room for. */
struct requests_key {
	__u32 process; /* id in the initial pid namespace */
	__u32 kind;
};

struct requests_counts {
	__u64 count, connections, received_bytes, sent_bytes;
	char name[16]; /* comm of the group leader; empty on the CPUs that have not made the entry */
};

struct requests_latency_key {
	__u32 process;
	__u16 kind, bucket;
};

/* The number of bits before the highest one that is set. */
static inline __u32 requests_bits_below_highest(__u64 value)
{
	__u32 bits = 0;

	if (value >> 32) {
		value >>= 32;
		bits += 32;
	}
	if (value >> 16) {
		value >>= 16;
		bits += 16;
	}
	if (value >> 8) {
		value >>= 8;
		bits += 8;
	}
	if (value >> 4) {
		value >>= 4;
		bits += 4;
	}
	if (value >> 2) {
		value >>= 2;
		bits += 2;
	}
	return bits + (value >> 1);
}

/*
 * The bucket of a latency: those below 2^REQUESTS_BUCKET_BITS have one each; so many are in each power of two above
 * (profile_latency_bucket_start()).
 */
static inline __u32 requests_bucket(__u64 ns)
{
	__u32 exponent;

	if (ns < 1 << REQUESTS_BUCKET_BITS)
		return ns;
	exponent = requests_bits_below_highest(ns) - REQUESTS_BUCKET_BITS;
	return ((exponent + 1) << REQUESTS_BUCKET_BITS) + ((ns >> exponent) & ((1 << REQUESTS_BUCKET_BITS) - 1));
}
