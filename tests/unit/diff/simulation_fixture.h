/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "synthetic_fixture.h"

#include <gsl/gsl_rng.h>

/*
 * Recordings of a program that never was: functions with log-normal shares, called from a handful of modules; every run
 * has a machine speed that each function follows by a slope of its own; counts are negative binomial; time is cut into
 * bursts.
 */
enum { SIMULATION_MAX_FUNCTIONS = 256 };

struct simulation {
	gsl_rng *rng; /* owned */
	size_t function_count;
	double shares[SIMULATION_MAX_FUNCTIONS]; /* of the time; sum 1 */
	double slopes[SIMULATION_MAX_FUNCTIONS];
	/* The spreads between starts, of functions and of the speed of commands, are drawn from the model's priors. */
	bool is_drawn;
	double spreads[SIMULATION_MAX_FUNCTIONS]; /* filled with the first recording */
	double run_rsd;                           /* of one function between runs, beyond speed and counting */
	double speed_rsd;                         /* of the machine's speed between runs */
	double process_rsd;                       /* of one function between processes */
	double burst_rsd;                         /* of one function between quarters of a second */
	double layout_rsd; /* of one function between layouts of the code; 0: all builds are one file */
	size_t layouts;    /* that the runs of a side are of, in turn, and tell; 0: one, and they do not tell */
	double load;       /* of attached processes; 0: 1 */
	bool counts;       /* attached processes count the requests that they answer */
};

/* What differs in a recording from the simulation's own program. */
struct simulated_change {
	size_t function;
	double times;    /* its time, times this; 1: nothing changed */
	bool other_code; /* its fingerprint differs */
};

/* function 0 has the share `first_share`, the others what is left. */
struct simulation simulation_create(unsigned long seed, size_t function_count, double first_share);
void simulation_deinit(struct simulation *simulation);

/* `runs` whole commands without timeline, `samples` in all. */
struct profile *simulation_runs(
	struct simulation *simulation, size_t runs, double samples, const struct simulated_change *change);

/* One attached process of `seconds` with a timeline. Its load is `load`, give or take 10 %, and comes in bursts. */
struct profile *simulation_attached(
	struct simulation *simulation, double seconds, double samples, const struct simulated_change *change);

/* Functions flagged more, less, new or gone, by self or total time; nodes and the whole likewise. */
struct flagged {
	size_t functions, nodes;
	bool whole;
};
struct flagged simulation_flagged(const struct diff *diff);

/* Pairs to simulate: `few`, or what KELVIN_SIMULATED_PAIRS asks for (scripts/bench). */
size_t simulation_pairs(size_t few);
