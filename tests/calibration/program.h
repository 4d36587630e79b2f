/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/evidence/evidence.h"

/* A program's recordings under tests/data/calibration, as rows of the model of evidence. */

/* Times that a harness measured are rows of so many samples in the first execution: nothing is counted there. */
static const double calibration_clocked = 1e8;

enum calibration_condition { CALIBRATION_RESTART, CALIBRATION_LOAD, CALIBRATION_OTHER };

struct calibration_recording {
	char id[32];
	enum calibration_condition condition;
	double total, late_total; /* samples */
	double work;              /* requests, or 1 of a command */
	double rate;              /* requests in the second in which one came; 0: not known */
};

struct calibration_row {
	enum evidence_class class;
	bool is_self;
	double *samples, *late; /* [recording] */
};

struct calibration_program {
	char name[64];
	bool is_service, is_fit, is_waits;
	bool is_simulated, is_of_instructions; /* recordings are repeats, and samples counts of an event */
	bool is_suite; /* recordings are executions, and rows benchmarks, whose samples are times of an iteration */
	enum evidence_class totals;
	struct calibration_recording *recordings;
	size_t recording_count;
	struct calibration_row *rows;
	size_t row_count;
};

/* Reads a program from its text; false: it tells no work. */
bool calibration_read(const char *path, struct calibration_program *program);
void calibration_deinit(struct calibration_program *program);

/* Two sides of a program's recordings, as the comparison of their profiles has them. */
struct calibration_pair {
	const struct calibration_program *program;
	size_t of[EVIDENCE_SIDES][16], count[EVIDENCE_SIDES]; /* indices of recordings */
	/* A change that is made up: `times` as many samples of a row in head; 0: none is. */
	size_t changed;
	double times;
};

/* What the model says of a pair. */
struct calibration_result {
	/* [class] hypotheses, and those whose interval holds no change */
	size_t rows[EVIDENCE_CLASSES], covered[EVIDENCE_CLASSES];
	size_t flagged; /* proven to differ */
	bool is_found;  /* the row of the change that was made up is */
	bool total_is_covered, total_is_flagged;
	double total_effect, load; /* logarithms */
};

/* Weighs the rows and the total of a pair. */
void calibration_weigh(const struct calibration_pair *pair, struct calibration_result *result);

/* Standard deviations of rows with the load that are tried, from 0 on in steps of so much. */
enum { CALIBRATION_SCATTERS = 17 };
static const double calibration_scatter_step = .05;

/* Adds how many of a pair's rows have an interval that holds no change with each of them. Returns how many there are.
 */
size_t calibration_weigh_scatters(const struct calibration_pair *pair, size_t covered[static CALIBRATION_SCATTERS]);

/* Returns a row's part of a side. */
double calibration_part(const struct calibration_pair *pair, const struct calibration_row *row, int side);

/* Returns whether a row of a pair is a hypothesis: enough samples, and a large enough part of a side. */
bool calibration_is_hypothesis(const struct calibration_pair *pair, const struct calibration_row *row);
