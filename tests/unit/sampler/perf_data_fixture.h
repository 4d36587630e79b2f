/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "perf_data_bytes.h"

/* What the tests of perf.data share: bytes in, a profile or an error out. */

enum { MAX_BYTES = 1 << 24 };

struct fixture {
	struct buffer records, file, notices;
	const char *event; /* to be read; NULL: any */
	struct recording result;
	struct error err;
};

int fixture_setup(void **state);
int fixture_teardown(void **state);
bool read_bytes(struct fixture *fixture, const void *bytes, size_t size);
void expect_read(struct fixture *fixture);
void expect_failure(struct fixture *fixture, enum error_code code, const char *text);
void expect_notice(const struct fixture *fixture, const char *text);
struct perf_event_bytes example_event(void);
void make_example(struct fixture *fixture);

/*
 * As `perf record -e '{cpu-clock,page-faults,context-switches}:S,cpu-migrations'` leaves it: three samples of one
 * thread, and one of another that has inherited the group. Their page faults are 5, 9, 3 and 20.
 */
void make_group(struct fixture *fixture);

/*
 * As `perf record --call-graph fp,defer` leaves samples of two threads in the kernel: their user stacks come later, in
 * records that are found by the thread and a cookie. make_deferred() has two samples of one thread and one of another.
 */
enum { DEFERRED_THREAD = 7, DEFERRED_OTHER = 8 };
static const uint64_t DEFERRED_COOKIE = 0x100000001, DEFERRED_MARK = (uint64_t)-640;
struct perf_event_bytes deferring_event(void);
void begin_deferred(struct fixture *fixture);
void put_deferred_sample(struct fixture *fixture, uint32_t tid, uint64_t cookie, uint64_t time_ns);
void put_deferred_chain(struct fixture *fixture, uint32_t tid, uint64_t cookie, uint64_t leaf, uint64_t time_ns);
void make_deferred(struct fixture *fixture);
const char *event_comm(const struct profile *profile, size_t event);
uint64_t event_leaf(const struct profile *profile, size_t event);
size_t depth_of(const struct profile *profile, uint32_t stack);
