/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/profile.h"

/*
 * The benchmark harness protocol, as the runner that harnesses look for (CodSpeed's protocol, versions 1 and 2:
 * pytest-codspeed, the criterion, divan, google-benchmark, vitest and go harnesses of CodSpeed). A harness finds two
 * FIFOs, says when a benchmark begins and ends, when each of its rounds does, and what the benchmark is called; it
 * leaves the numbers of iterations in files. Nothing of it is trusted: the other side is the recorded program.
 *
 * Programs that know nothing of the protocol, as `go test -bench` and the plain binaries of google-benchmark and
 * criterion, name their benchmarks in their output, which goes through here, too.
 *
 *	harness_create()     makes the FIFOs and the directory for results, and starts the thread that answers
 *	harness_prepare()    sets the environment and the streams of the command; the caller starts it then
 *	harness_finish()     stops, removes what was made, and hands over what was received
 *
 * All times are CLOCK_MONOTONIC in nanoseconds, as those of the sampler.
 */
struct harness;

enum harness_mode {
	HARNESS_WALLTIME,   /* benchmarks run as always and are sampled */
	HARNESS_SIMULATION, /* benchmarks run once, in a simulator, and name their phases by its client requests */
};

struct harness_options {
	enum harness_mode mode;
	/*
	 * The destinations of the command's output, [0] standard output and [1] standard error: borrowed descriptors.
	 */
	int outputs[2];
};

/*
 * The command gets FIFOs of its own where it may have a namespace of mounts (harness_enter()); then any number of
 * suites run at once. Else there is one runner for all that see the same /tmp: ERROR_UNSUPPORTED (another one is
 * running: its pid is in the message), ERROR_PERMISSION (files with these names belong to another user; the message
 * says which and what to do). FIFOs that a killed runner left behind are replaced.
 */
COMMON_MUST_CHECK
bool harness_create(const struct harness_options *options, struct harness **harness, struct error *err);

/*
 * Removes the FIFOs and the directory, if harness_finish() has not. Must also be called when a signal ends the
 * recording.
 */
void harness_destroy(struct harness *harness);

/*
 * Sets environment variables of this process, which the command inherits. Descriptors that the command is to have as
 * standard output and error are written to `outputs`; they stay the harness's.
 */
COMMON_MUST_CHECK
bool harness_prepare(struct harness *harness, int outputs[2], struct error *err);

/*
 * Enters, in the child that becomes the command, before its exec; `harness` is a struct harness. False with errno set.
 */
COMMON_MUST_CHECK
bool harness_enter(void *harness);

struct harness_round {
	int64_t start_ns, end_ns;
	uint64_t iterations; /* 0: not known */
};

/* The time in which one benchmark was measured. */
struct harness_window {
	char *uri; /* owned; NULL: the harness ended before it said the name */
	int32_t pid;
	int64_t start_ns, end_ns;
	struct harness_round *rounds; /* owned; in order; none: the harness sends no rounds, and the window is one */
	size_t round_count;
	size_t warmup_rounds; /* of these: slower than all later ones on average, found by MSER (White 1997) */
	struct profile_measured measured; /* of the rounds after the warm-up */
};

struct harness_result {
	struct harness_window *windows; /* owned; by start, they do not overlap */
	size_t window_count;
	char *integration; /* owned: name and version of the harness, "pytest-codspeed 5.0.4"; NULL: none has been met
			    */
	char *toolchain;   /* owned: what it says of compilers and interpreters, "Python 3.11.2"; NULL: nothing */
	double ack_us[2];  /* how long answers took: median and largest, in microseconds; 0: there were none */
	uint64_t acks;
	bool is_protocol; /* windows come from the protocol; false: from the output */
};

void harness_result_deinit(struct harness_result *result);

/* Sets the facts of a profile about the harness and its toolchain. */
COMMON_MUST_CHECK
bool harness_result_set_facts(const struct harness_result *result, struct profile *profile, struct error *err);

/*
 * Cuts a profile whose locations are named into one run for the execution and one for each measurement of a benchmark
 * (profile/phases.h), which has the rounds after the warm-up; stacks of the latter begin at the measured function.
 * `start_ns`: when the times of its events begin. Without benchmarks it stays as it is.
 */
COMMON_MUST_CHECK
bool harness_result_cut(
	const struct harness_result *suite, int64_t start_ns, struct profile **profile, struct error *err);

/*
 * Finishes; to be called when the command has ended. Lines for the user are appended to `notices`: an unknown command,
 * a window that never closed, results that cannot be read. In a simulation `result` has no windows, since the simulator
 * receives them, and it is never empty. ERROR_EMPTY: no benchmark was met; the message says what was tried and how
 * harnesses are switched on.
 */
COMMON_MUST_CHECK
bool harness_finish(struct harness *harness, struct harness_result *result, struct buffer *notices, struct error *err);

/* ---- Some of a suite's benchmarks ---- */

/*
 * Tells harnesses which benchmarks to run, in variables that each reads: PYTEST_ADDOPTS has pytest leave out those that
 * are not wanted; BENCHMARK_FILTER is google-benchmark's regular expression of the wanted ones, unless the user has
 * one; KELVIN_BENCHMARKS is the same for commands that know such an option ("go test -bench ${KELVIN_BENCHMARKS:-.}").
 * More benchmarks may run than are wanted: those whose names contain a wanted one's, and all of a harness that is none
 * of these.
 */
enum { HARNESS_FILTER_BYTES = 1 << 15 };

struct harness_filter {
	char names[HARNESS_FILTER_BYTES];      /* a regular expression without anchors */
	char deselected[HARNESS_FILTER_BYTES]; /* options of pytest */
};

/* Makes a filter by URIs. False: there is no such filter, since names are too many or not printable. */
bool harness_filter_make(const char *const *wanted, size_t wanted_count, const char *const *others, size_t other_count,
	struct harness_filter *filter);

/* Sets the variables in this process, whose children inherit them, until harness_filter_unset(). */
struct harness_filtering;

COMMON_MUST_CHECK
bool harness_filter_set(const struct harness_filter *filter, struct harness_filtering **filtering, struct error *err);
void harness_filter_unset(struct harness_filtering *filtering); /* NULL: none is set */

/* Frames of harnesses below which the measured function runs have this in their names. */
#define HARNESS_ROOT_FRAME "__codspeed_root_frame__"
