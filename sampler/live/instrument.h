/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/collect/collect.h"
#include "sampler/live/order.h"
#include "sampler/live/run_clock.h"
#include "sampler/live/watch.h"
#include "sampler/process/reader.h"
#include "sampler/sampling.h"

#include <limits.h>

/*
 * Instruments measure a target beside the samples of its event: waits, requests, the contexts that processes publish.
 * An instrument keeps its state to itself, and the sampler runs over all of them. One more has a table of functions,
 * which stands in the list of instrument.c.
 */

/* The means that instruments share. It outlives them, and all that it points to is borrowed. */
struct instrument_session {
	const struct sampler_options *options; /* the size of stack copies may grow while it runs */
	const struct run_clock *clock;
	int32_t child;                          /* the process of a command; 0: none */
	struct ebpf_frame_reader *frame_reader; /* samples come with the frames of interpreters; NULL: they do not */
	struct process_reader *reader;
	struct collector *collector; /* NULL while instruments are opened */
	struct buffer *notices;
	bool samples_waits;  /* an instrument does: the profile has the values of waits */
	bool tells_switches; /* an instrument does: the events need not record them */
	/*
	 * The reason why something is not measured that was asked for, which belongs to the message of a recording
	 * without samples; while an instrument is opened in place of another one, why that one is not. ERROR_NONE: all
	 * is.
	 */
	struct error missing;
};

struct instrument;

enum { INSTRUMENT_NEVER_DUE = INT_MAX };

/* Each has open(), due_ms() and poll(); other functions may be NULL. Times are by the clock of the records. */
struct instrument_functions {
	size_t state_bytes;   /* of its state, which begins with struct instrument */
	bool works_while_off; /* it is polled while sampling is off, too */
	/* Opened where this one cannot be, and where neither can the recording goes on, which notices say in these
	 * words. NULL: there is none, and the recording fails. */
	const struct instrument_functions *instead;
	const char *absence;
	/* Returns whether it has something to do; NULL: always. */
	bool (*is_wanted)(const struct sampler_options *options);
	/* Prepares a state that is zero but for its first member; nothing counts yet. */
	bool (*open)(struct instrument *instrument, struct error *err);
	/* Adds rings to those that are read and waited for; again whenever the events are opened anew. */
	bool (*add_rings)(
		struct instrument *instrument, struct order *order, struct sampler_watch *watch, struct error *err);
	/* Sampling goes on or off. */
	bool (*enable)(struct instrument *instrument, bool enabled, uint64_t clock_ns, struct error *err);
	/* Returns how long poll() may be put off, in ms. */
	int (*due_ms)(const struct instrument *instrument, uint64_t clock_ns);
	/* Called again and again, once the rings are read. */
	bool (*poll)(struct instrument *instrument, uint64_t clock_ns, struct error *err);
	/* Sampling has ended: fills the profile's facts, and appends notices. */
	bool (*describe)(struct instrument *instrument, struct error *err);
	/* Adds what it has counted to the run of a profile that has samples, and appends notices. */
	bool (*finish)(struct instrument *instrument, struct error *err);
	/* Releases what the state owns, also when it was opened in part. */
	void (*close)(struct instrument *instrument);
};

/* The first member of an instrument's state. */
struct instrument {
	const struct instrument_functions *functions;
	struct instrument_session *session;
};

/* ---- All instruments of a recording, in the order of the list ---- */

enum { INSTRUMENTS_MOST = 8 };

struct instruments {
	struct instrument_session session;
	struct instrument *open[INSTRUMENTS_MOST]; /* owned */
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
	struct instruments *instruments, struct order *order, struct sampler_watch *watch, struct error *err);
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
