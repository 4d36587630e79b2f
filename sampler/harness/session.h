/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/harness/harness.h"
#include "sampler/harness/protocol.h"

enum { SESSION_MOST_PIDS = 256 };

/*
 * A session: what harnesses say, in order of its arrival, and the windows that it makes. A window is the time between
 * Start and Stop. Harnesses name it afterwards: a URI belongs to the window that ended last. Rounds are pairs of
 * markers of one process, which may come at any time, also behind their window: a round belongs to the window in which
 * its times lie. Rounds in no window are the harness's own, such as criterion's warm-up.
 *
 * Messages do not say whose they are, but for some that have a pid, and all writers read the same answers: processes
 * that run benchmarks at the same time cannot be told apart. They are found by a pid that comes back behind another
 * one's, which those that run one after the other never do.
 *
 * Used by one thread at a time.
 */
struct session {
	struct session_window *windows; /* owned; by start */
	size_t window_count, window_capacity;
	struct harness_round *rounds; /* owned; in order of arrival */
	size_t round_count, round_capacity;
	struct buffer integrations; /* "NAME VERSION", each terminated by NUL */
	int64_t round_start_ns;     /* of the marker that waits for its end; -1: none */
	int32_t round_pid;
	int32_t pids[SESSION_MOST_PIDS]; /* that said something, each once, the last one at the end */
	size_t pid_count;
	int32_t parallel[2]; /* pids of which one came back behind the other; 0: none has */
	bool is_open;        /* the last window has not ended */
	bool is_connected;   /* a harness has said something */
	struct error failure;
	uint64_t refused_version; /* the last one that is not known here; 0: none */
	uint64_t unknown, unpaired, unclosed, unnamed, left_out;
};

void session_init(struct session *session);
void session_deinit(struct session *session);

/*
 * Takes a message that arrived at `now_ns` (CLOCK_MONOTONIC, never decreasing) and returns the answer to it: Ack, Err,
 * or ModeIs. Caps are not failures: what is above them is left out and counted; running out of memory is told by
 * session_finish().
 */
enum protocol_command session_take(struct session *session, const struct protocol_message *message, int64_t now_ns);

/* Counts a frame that was no command; the answer to it is Err. */
void session_take_unknown(struct session *session);

/*
 * Fills windows and integration of `result`; iterations are not known yet. A window that is open ends at `end_ns`. The
 * session may only be freed then. ERROR_EMPTY: processes ran benchmarks at the same time; the message says what helps.
 */
COMMON_MUST_CHECK
bool session_finish(struct session *session, int64_t end_ns, struct harness_result *result, struct buffer *notices,
	struct error *err);
