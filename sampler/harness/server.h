/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/harness/fifo.h"
#include "sampler/harness/session.h"

/*
 * A thread that answers harnesses, and waits in poll(2) for nothing else: each round of a benchmark waits for two of
 * its answers. It never waits for a harness to read one.
 */
struct server;

COMMON_MUST_CHECK
bool server_start(const struct fifo_pair *fifos, enum protocol_mode mode, struct server **server, struct error *err);

/* Ends the thread, when it has answered all that was said. May be called more than once. */
void server_stop(struct server *server);
void server_destroy(struct server *server);

/* Returns what was said; only after server_stop(). */
struct session *server_session(struct server *server);

/*
 * Tells how long answers took, from the moment in which a command could be read: median and largest, in microseconds; 0
 * where there were none. Returns the number of answers. Only after server_stop().
 */
uint64_t server_latency(struct server *server, double ack_us[2]);
