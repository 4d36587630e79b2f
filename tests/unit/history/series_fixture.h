/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/history/history.h"

/*
 * Histories of an invented service, whose truth is known: profiles with counts of samples (Poisson), functions that
 * differ from process to process, a load that varies, and changes at chosen profiles.
 */

enum { FIXTURE_MAX_EFFECTS = 4 };

/* From profile `from` on, and before `to`, the function takes `factor` times as long. */
struct fixture_effect {
	uint32_t function;
	size_t from, to; /* to 0: until the end */
	double factor;
	double slope; /* in place of a step: by so much of its cost more with each profile */
	bool keeps_code;
};

struct fixture {
	uint64_t seed;
	size_t profiles, functions;
	double samples;     /* of a profile, on average */
	double rsd;         /* of a function from profile to profile */
	double load_spread; /* the load is between 1 and this times the least; 0: it is constant */
	double correlation; /* of the noise of all functions with that of the profile before */
	bool draws_spreads; /* in place of `rsd`, functions vary by spreads that are drawn from those of real ones */
	bool has_main;      /* one more function, the last, calls all others */
	size_t of_start;    /* so many profiles are of one start of the program; 0: each has its own, and none tells */
	bool counts_requests, knows_version;
	size_t deploy_every; /* a version lasts for so many profiles; 0: the versions change with the effects alone */
	int64_t interval_ns; /* between two profiles; 0: an hour */
	struct fixture_effect effects[FIXTURE_MAX_EFFECTS];
	size_t effect_count;
};

/* Returns the part of the time that a function has, before anything changes. */
double fixture_share(const struct fixture *fixture, size_t function);

/* A set of the fixture's profiles; functions are called f0, f1, ... and have these ids. */
struct summary_set *fixture_set(const struct fixture *fixture);

/*
 * Draws a set of profiles of a program whose rows were recorded (tests/calibration/program.h): each is one of its
 * starts, drawn with its counting noise anew. The fixture has profiles, seed, counts_requests, knows_version and at
 * most one effect, on a row of self time. Functions are the pairs of rows, of self time and total.
 */
struct calibration_program;
struct summary_set *fixture_recorded_set(const struct fixture *fixture, const struct calibration_program *program);

/* Its history by the default options. */
struct history *fixture_history(const struct summary_set *set);
