/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "recording/collect/collect.h"
#include "recording/process/reader.h"
#include "sampler/live/order.h"
#include "sampler/live/run_clock.h"
#include "sampler/live/watch.h"
#include "sampler/sampler.h"

#include <limits.h>

/*
 * What measures a target beside the samples of its event: waits, requests, the contexts that processes publish. An
 * instrument keeps its state to itself, and the sampler runs over all of them. One more has a function that opens it,
 * in the list of instrument.c.
 */

/* What instruments share. It outlives them, and all that it points to is borrowed. */
struct instrument_session {
	const struct sampler_options *options; /* the size of stack copies may grow while it runs */
	const struct run_clock *clock;
	int32_t child;                    /* the process of a command; 0: none */
	const struct ebpf_chains *chains; /* samples follow the chains of CPython's frames; NULL: they do not */
	struct process_reader *reader;
	struct collector *collector; /* NULL while instruments are opened */
	struct buffer *notices;
	bool samples_waits; /* an instrument does: the profile has the values of waits */
	/* Why something is not measured that was asked for: it belongs to the message of a recording without samples.
	 * ERROR_NONE: all is measured. */
	struct error missing;
};

struct instrument;

enum { INSTRUMENT_NEVER_DUE = INT_MAX };

/* Functions that an instrument has no use for are NULL. Times are by the clock of the records. */
struct instrument_functions {
	bool works_while_off; /* it is polled while sampling is off, too */
	/* Adds rings to those that are read and waited for; again whenever the events are opened anew. */
	bool (*add_rings)(struct instrument *instrument, struct order *order, struct watch *watch, struct error *err);
	/* Sampling goes on or off. */
	bool (*enable)(struct instrument *instrument, bool enabled, uint64_t clock_ns, struct error *err);
	/* How long poll() may be put off, in ms. */
	int (*due_ms)(const struct instrument *instrument, uint64_t clock_ns);
	/* Called again and again, once the rings are read. */
	bool (*poll)(struct instrument *instrument, uint64_t clock_ns, struct error *err);
	/* Sampling has ended: fills the profile's facts, and appends notices. */
	bool (*describe)(struct instrument *instrument, struct error *err);
	/* Adds what it has counted to the run of a profile that has samples, and appends notices. */
	bool (*finish)(struct instrument *instrument, struct error *err);
	void (*close)(struct instrument *instrument);
};

/* The first member of an instrument's state. */
struct instrument {
	const struct instrument_functions *functions;
	struct instrument_session *session;
};

/*
 * Prepares an instrument for the target; nothing counts yet. `*instrument` is NULL if it has nothing to do here, or
 * if it is not permitted and the recording goes on without it; the session then says why.
 */
typedef bool instrument_open(struct instrument_session *session, struct instrument **instrument, struct error *err);

/* ---- All instruments of a recording, in the order of the list ---- */

enum { INSTRUMENT_COUNT = 3 };

struct instruments {
	struct instrument_session session;
	struct instrument *open[INSTRUMENT_COUNT]; /* owned */
	size_t count;
};

/* Opens all; the caller has filled the session. */
COMMON_MUST_CHECK
bool instruments_open(struct instruments *instruments, struct error *err);
void instruments_close(struct instruments *instruments);

/* Each calls the function of that name of all instruments, until one fails; instruments_describe() calls all the same.
 */
COMMON_MUST_CHECK
bool instruments_add_rings(
	struct instruments *instruments, struct order *order, struct watch *watch, struct error *err);
COMMON_MUST_CHECK
bool instruments_enable(struct instruments *instruments, bool enabled, uint64_t clock_ns, struct error *err);
COMMON_MUST_CHECK
bool instruments_poll(struct instruments *instruments, uint64_t clock_ns, struct error *err);
COMMON_MUST_CHECK
bool instruments_describe(struct instruments *instruments, struct error *err);
COMMON_MUST_CHECK
bool instruments_finish(struct instruments *instruments, struct error *err);

/* The time to wait for records at most, so that no instrument is polled late. */
int instruments_timeout(const struct instruments *instruments, uint64_t clock_ns, int timeout_ms);
