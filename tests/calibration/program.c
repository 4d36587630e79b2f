/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/calibration/program.h"

#include "common/common.h"
#include "diff/constants.h"
#include "diff/evidence/constants.h"
#include "diff/probability/probability.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { MOST_LINE = 1 << 20, MOST_FIELDS = 64 };

void calibration_deinit(struct calibration_program *program)
{
	for (size_t i = 0; i < program->row_count; i++) {
		free(program->rows[i].samples);
		free(program->rows[i].late);
	}
	free(program->rows);
	free(program->recordings);
}

/* ---- Reading ---- */

static size_t split(char *line, char *fields[static MOST_FIELDS])
{
	size_t count = 0;

	line[strcspn(line, "\n")] = '\0';
	for (char *at = line; at && count < MOST_FIELDS; count++) {
		fields[count] = at;
		at = strchr(at, '\t');
		if (at)
			*at++ = '\0';
	}
	return count;
}

static void read_program(char **fields, struct calibration_program *program)
{
	snprintf(program->name, sizeof(program->name), "%s", fields[1]);
	program->is_service = strcmp(fields[2], "service") == 0;
	program->is_fit = strcmp(fields[4], "fit") == 0;
	program->is_simulated = strcmp(fields[2], "simulation") == 0;
	program->is_of_instructions = strcmp(fields[5], "instructions") == 0;
	program->is_waits = !program->is_simulated && strcmp(fields[5], "cpu") != 0;
	program->is_suite = strcmp(fields[2], "suite") == 0;
	program->totals = program->is_suite                                                  ? EVIDENCE_TOTAL_SUITE
			  : program->is_simulated                                            ? EVIDENCE_EXACT_TOTAL
			  : program->is_waits                                                ? EVIDENCE_WAITING
			  : !program->is_service                                             ? EVIDENCE_TOTAL_COMMAND
			  : strcmp(fields[3], "node") == 0 || strcmp(fields[3], "java") == 0 ? EVIDENCE_TOTAL_COMPILED
											     : EVIDENCE_TOTAL;
}

static void read_recording(char **fields, size_t count, struct calibration_program *program, size_t *capacity)
{
	struct calibration_recording recording = { .condition = CALIBRATION_OTHER };
	double requests, driven;

	if (count < 15 || strcmp(fields[1], "id") == 0)
		return;
	/* Of one time: the machine was another one at others, which is no matter of starts. */
	if (program->recording_count > 0 && fields[1][0] != program->recordings[0].id[0])
		return;
	snprintf(recording.id, sizeof(recording.id), "%s", fields[1]);
	if (strcmp(fields[2], "restart") == 0 || strcmp(fields[2], "run") == 0)
		recording.condition = CALIBRATION_RESTART;
	else if (strncmp(fields[2], "load-", 5) == 0)
		recording.condition = CALIBRATION_LOAD;
	requests = strtod(fields[6], NULL);
	driven = strtod(fields[13], NULL);
	recording.total = strtod(fields[7], NULL);
	recording.late_total = strtod(fields[8], NULL);
	recording.rate = driven > 0 ? driven : strtod(fields[12], NULL);
	/* In every other second came twice as many, and none in between (tests/bench/calibration_lab/record.py). */
	if (strcmp(fields[2], "bursts") == 0) {
		recording.condition = CALIBRATION_LOAD;
		recording.rate *= 2;
	}
	/* UDP is not counted by Kelvin: the generator's count is the truth here. */
	recording.work = !program->is_service ? 1 : requests > 0 ? requests : driven * strtod(fields[3], NULL);
	ARRAY_PUSH(&program->recordings, capacity, &program->recording_count, recording);
}

static void read_repeat(char **fields, size_t count, struct calibration_program *program, size_t *capacity)
{
	struct calibration_recording repeat = { .condition = CALIBRATION_RESTART, .work = 1 };

	if (count < 4 || strcmp(fields[1], "id") == 0)
		return;
	snprintf(repeat.id, sizeof(repeat.id), "%s", fields[1]);
	repeat.total = strtod(fields[3], NULL);
	ARRAY_PUSH(&program->recordings, capacity, &program->recording_count, repeat);
}

static void add_row(
	struct calibration_program *program, size_t *capacity, enum evidence_class class, bool is_self, char **cells)
{
	struct calibration_row row = { .class = class, .is_self = is_self };

	row.samples = memory_zeroed(program->recording_count + 1, sizeof(double));
	row.late = memory_zeroed(program->recording_count + 1, sizeof(double));
	for (size_t i = 0; i < program->recording_count; i++) {
		double values[4] = { 0 };

		(void)sscanf(cells[i], "%lf,%lf,%lf,%lf", &values[0], &values[1], &values[2], &values[3]);
		row.samples[i] = values[is_self ? 0 : 1];
		row.late[i] = values[is_self ? 2 : 3];
	}
	ARRAY_PUSH(&program->rows, capacity, &program->row_count, row);
}

static void read_row(char **fields, size_t count, struct calibration_program *program, size_t *capacity)
{
	enum { FIRST_CELL = 6 };
	enum evidence_class class;

	if (count < FIRST_CELL + program->recording_count || strcmp(fields[1], "id") == 0)
		return;
	if (program->is_simulated)
		class = EVIDENCE_EXACT;
	else if (strcmp(fields[2], "other") == 0)
		class = program->is_waits ? EVIDENCE_WAITING : EVIDENCE_OTHER;
	else if (strcmp(fields[2], "compiled") == 0)
		class = program->is_waits ? EVIDENCE_WAITING : EVIDENCE_COMPILED;
	else if (strcmp(fields[2], "wait") == 0)
		class = EVIDENCE_WAITING;
	else
		return;
	add_row(program, capacity, class, true, fields + FIRST_CELL);
	add_row(program, capacity, class == EVIDENCE_EXACT ? EVIDENCE_EXACT_TOTAL : class, false, fields + FIRST_CELL);
}

static void read_execution(char **fields, struct calibration_program *program, size_t *capacity)
{
	struct calibration_recording execution = { .condition = CALIBRATION_RESTART, .total = 1, .work = 1 };

	if (strcmp(fields[1], "id") == 0)
		return;
	snprintf(execution.id, sizeof(execution.id), "%s", fields[1]);
	ARRAY_PUSH(&program->recordings, capacity, &program->recording_count, execution);
}

/* A benchmark that an execution lacks is none. */
static void read_benchmark(char **fields, size_t count, struct calibration_program *program, size_t *capacity)
{
	enum { FIRST_CELL = 2 };
	struct calibration_row row = { .class = EVIDENCE_BENCHMARK, .is_self = true };
	double *times;

	if (count < FIRST_CELL + program->recording_count || strcmp(fields[1], "name") == 0)
		return;
	times = memory_zeroed(program->recording_count + 1, sizeof(*times));
	for (size_t i = 0; i < program->recording_count; i++)
		if (sscanf(fields[FIRST_CELL + i], "%*f,%*f,%lf", &times[i]) != 1) {
			free(times);
			return;
		}
	/* in order, so that the first one is divided by last */
	for (size_t i = program->recording_count; i-- > 0;)
		times[i] *= calibration_clocked / times[0];
	row.samples = times;
	ARRAY_PUSH(&program->rows, capacity, &program->row_count, row);
}

bool calibration_read(const char *path, struct calibration_program *program)
{
	CLEANUP(cleanup_free) char *line = memory_alloc(MOST_LINE);
	size_t recordings = 0, rows = 0;
	gzFile file = gzopen(path, "rb");
	char *fields[MOST_FIELDS];

	*program = (struct calibration_program){ 0 };
	while (file && gzgets(file, line, MOST_LINE)) {
		size_t count = split(line, fields);

		if (strcmp(fields[0], "program") == 0 && count >= 6) {
			read_program(fields, program);
		} else if (strcmp(fields[0], "recording") == 0 && program->is_suite) {
			read_execution(fields, program, &recordings);
		} else if (strcmp(fields[0], "recording") == 0 && program->is_simulated) {
			read_repeat(fields, count, program, &recordings);
		} else if (strcmp(fields[0], "recording") == 0) {
			read_recording(fields, count, program, &recordings);
		} else if (strcmp(fields[0], "benchmark") == 0) {
			read_benchmark(fields, count, program, &rows);
		} else if (strcmp(fields[0], "row") == 0) {
			read_row(fields, count, program, &rows);
		}
	}
	if (file)
		gzclose(file);
	for (size_t i = 0; i < program->recording_count; i++)
		if (!(program->recordings[i].work > 0) || !(program->recordings[i].total > 0))
			program->recording_count = 0;
	return program->recording_count > 0;
}

/* ---- Weighing ---- */

/* The arrays of one row of the model. */
struct counts {
	double samples[EVIDENCE_SIDES][16], work[EVIDENCE_SIDES][16], late[EVIDENCE_SIDES], late_work[EVIDENCE_SIDES];
};

/* `times`: as many samples as head was recorded with. */
static void fill_row(const struct calibration_pair *pair, const double *samples, const double *late,
	enum evidence_class class, double times, struct counts *counts, struct evidence_row *row)
{
	bool is_single = pair->count[0] == 1 && pair->count[1] == 1 && late;

	*row = (struct evidence_row){ .class = class };
	for (int side = 0; side < EVIDENCE_SIDES; side++) {
		for (size_t i = 0; i < pair->count[side]; i++) {
			size_t of = pair->of[side][i];

			counts->samples[side][i] = samples[of] * (side ? times : 1);
			counts->work[side][i] = pair->program->recordings[of].work;
			counts->late[side] = late ? late[of] * (side ? times : 1) : 0;
		}
		row->sides[side] =
			(struct evidence_counts){ counts->samples[side], counts->work[side], pair->count[side] };
		counts->late_work[side] = counts->work[side][0] / 2;
		row->late[side] = (struct evidence_counts){ &counts->late[side], &counts->late_work[side], is_single };
	}
}

static double side_total(const struct calibration_pair *pair, int side)
{
	double sum = 0;

	for (size_t i = 0; i < pair->count[side]; i++)
		sum += pair->program->recordings[pair->of[side][i]].total;
	return sum;
}

static double side_samples(const struct calibration_pair *pair, const struct calibration_row *row, int side)
{
	double sum = 0;

	for (size_t i = 0; i < pair->count[side]; i++)
		sum += row->samples[pair->of[side][i]];
	return sum;
}

double calibration_part(const struct calibration_pair *pair, const struct calibration_row *row, int side)
{
	return side_samples(pair, row, side) / side_total(pair, side);
}

bool calibration_is_hypothesis(const struct calibration_pair *pair, const struct calibration_row *row)
{
	double part = fmax(calibration_part(pair, row, 0), calibration_part(pair, row, 1));

	if (pair->program->is_simulated)
		return part > 0;
	return evidence_is_hypothesis(side_samples(pair, row, 0) + side_samples(pair, row, 1), part);
}

static double side_rate(const struct calibration_pair *pair, int side)
{
	double sum = 0;

	for (size_t i = 0; i < pair->count[side]; i++)
		sum += pair->program->recordings[pair->of[side][i]].rate;
	return sum / (double)pair->count[side];
}

/* Returns whether a difference of counts, relative to a part of the total, is below the least effect that matters. */
static bool is_untold(const struct calibration_pair *pair, double difference, double part)
{
	return pair->program->is_simulated && fabs(difference) * part < metric_default_min_exact_points / 100;
}

/* `priors`: of its spreads; NULL: those of its class. */
static void weigh_total(const struct calibration_pair *pair, const struct evidence_load *load, const double *priors,
	struct calibration_result *result)
{
	const struct calibration_program *program = pair->program;
	double samples[16], late[16], low, high;
	struct evidence_factor factor = evidence_factor_of_load(load);
	struct counts counts;
	struct evidence_row row;
	struct evidence evidence;

	for (size_t i = 0; i < program->recording_count; i++) {
		samples[i] = program->recordings[i].total;
		late[i] = program->recordings[i].late_total;
	}
	fill_row(pair, samples, program->is_simulated ? NULL : late, load->totals, 1, &counts, &row);
	row.part = 1;
	row.priors = priors;
	evidence_weigh_row(&row, &factor, &evidence);
	evidence_interval(&evidence, &low, &high);
	result->total_effect = evidence.effect + factor.mean;
	result->total_is_covered = low <= 0 && high >= 0;
	result->total_is_flagged =
		evidence.p < evidence_total_rate && !is_untold(pair, evidence.samples[1] / evidence.samples[0] - 1, 1);
}

/* A row of a pair that is a hypothesis. */
struct hypothesis {
	size_t of; /* calibration_program.rows */
	struct counts counts;
	struct evidence_row row;
	struct evidence_member member;
};

static size_t find_hypotheses(const struct calibration_pair *pair, struct hypothesis *found)
{
	size_t count = 0;

	for (size_t i = 0; i < pair->program->row_count; i++) {
		const struct calibration_row *row = &pair->program->rows[i];
		double times = pair->times > 0 && i == pair->changed ? pair->times : 1;

		if (!calibration_is_hypothesis(pair, row))
			continue;
		found[count].of = i;
		fill_row(pair, row->samples, pair->program->is_simulated ? NULL : row->late, row->class, times,
			&found[count].counts, &found[count].row);
		found[count].row.part = fmax(calibration_part(pair, row, 0), calibration_part(pair, row, 1));
		count++;
	}
	return count;
}

/* Finds what all rows have in common, and gives each profile's work its factor. */
static void find_factors(const struct calibration_pair *pair, const struct evidence_load *load,
	struct hypothesis *found, size_t count, struct evidence_factor *factor)
{
	CLEANUP(cleanup_free) struct evidence_row *selves = memory_zeroed(count + 1, sizeof(*selves));
	double factors[EVIDENCE_SIDES][16] = { 0 };
	size_t self_count = 0;

	for (size_t i = 0; i < count; i++)
		if (pair->program->rows[found[i].of].is_self)
			selves[self_count++] = found[i].row;
	if (pair->program->is_simulated) {
		*factor = (struct evidence_factor){ 0 };
		return;
	}
	evidence_profile_factors(selves, self_count, (double *[]){ factors[0], factors[1] });
	for (size_t i = 0; i < count; i++)
		for (int side = 0; side < EVIDENCE_SIDES; side++)
			for (size_t k = 0; k < pair->count[side]; k++)
				found[i].counts.work[side][k] *= exp(factors[side][k]);
	(void)evidence_common_factor(selves, self_count, load, factor);
}

static void weigh_hypothesis(const struct calibration_pair *pair, const struct evidence_factor *factor,
	struct hypothesis *of, struct calibration_result *result)
{
	struct evidence evidence;
	double low, high;

	evidence_weigh_row(&of->row, factor, &evidence);
	evidence_interval(&evidence, &low, &high);
	of->member = (struct evidence_member){ .p = evidence.p,
		.part = evidence.samples[0] / side_total(pair, 0) + evidence.samples[1] / side_total(pair, 1) };
	memcpy(of->member.samples, evidence.samples, sizeof(of->member.samples));
	result->rows[of->row.class]++;
	result->covered[of->row.class] += low <= 0 && high >= 0;
}

static bool is_untold_member(const struct calibration_pair *pair, const struct evidence_member *member)
{
	return is_untold(
		pair, member->samples[1] - member->samples[0], 1 / fmax(side_total(pair, 0), side_total(pair, 1)));
}

/* Finds what is known of the spreads of a simulated program, and makes it that of its rows. */
static void learn_kind(struct hypothesis *found, size_t count, struct evidence_exact_priors *priors)
{
	CLEANUP(cleanup_free) struct evidence_row *selves = memory_zeroed(count + 1, sizeof(*selves));
	size_t used = 0;

	for (size_t i = 0; i < count; i++)
		if (found[i].row.class == EVIDENCE_EXACT)
			selves[used++] = found[i].row;
	evidence_learn_kind(selves, used, priors);
	for (size_t i = 0; i < count; i++)
		found[i].row.priors = found[i].row.class == EVIDENCE_EXACT ? priors->self : priors->total;
}

/* Self times are a family, and totals are. */
static void find_proven(const struct calibration_pair *pair, const struct hypothesis *found, size_t count,
	struct calibration_result *result)
{
	CLEANUP(cleanup_free) struct evidence_member *members = memory_zeroed(count + 1, sizeof(*members));

	for (int is_self = 0; is_self <= 1; is_self++) {
		size_t used = 0;

		for (size_t i = 0; i < count; i++)
			if (pair->program->rows[found[i].of].is_self == is_self)
				members[used++] = found[i].member;
		evidence_family(members, used);
		used = 0;
		for (size_t i = 0; i < count; i++) {
			const struct evidence_member *member = &members[used];

			if (pair->program->rows[found[i].of].is_self != is_self)
				continue;
			used++;
			if (member->q >= step_up_default_q || is_untold_member(pair, member))
				continue;
			result->flagged++;
			result->is_found |= pair->times > 0 && found[i].of == pair->changed;
		}
	}
}

static struct evidence_load load_of(const struct calibration_pair *pair)
{
	struct evidence_load load = { .totals = pair->program->totals };

	if (pair->program->is_service && side_rate(pair, 0) > 0 && side_rate(pair, 1) > 0)
		load.change = log(side_rate(pair, 1) / side_rate(pair, 0));
	return load;
}

size_t calibration_weigh_scatters(const struct calibration_pair *pair, size_t covered[static CALIBRATION_SCATTERS])
{
	CLEANUP(cleanup_free)
	struct hypothesis *found = memory_zeroed(pair->program->row_count + 1, sizeof(*found));
	struct evidence_load load = load_of(pair);
	size_t count = find_hypotheses(pair, found);
	struct evidence_factor factor;

	find_factors(pair, &load, found, count, &factor);
	factor.load = 0;
	for (size_t i = 0; i < count; i++) {
		struct evidence evidence;

		evidence_weigh_row(&found[i].row, &factor, &evidence);
		for (int s = 0; s < CALIBRATION_SCATTERS; s++) {
			double scatter = s * calibration_scatter_step * load.change, low, high;
			struct evidence wider = evidence;

			for (int k = 0; k < EVIDENCE_SPREADS; k++)
				wider.variance[k] += scatter * scatter;
			evidence_interval(&wider, &low, &high);
			covered[s] += low <= 0 && high >= 0;
		}
	}
	return count;
}

void calibration_weigh(const struct calibration_pair *pair, struct calibration_result *result)
{
	const struct calibration_program *program = pair->program;
	CLEANUP(cleanup_free) struct hypothesis *found = memory_zeroed(program->row_count + 1, sizeof(*found));
	struct evidence_load load = load_of(pair);
	size_t count = find_hypotheses(pair, found);
	struct evidence_factor factor;
	struct evidence_exact_priors priors;

	*result = (struct calibration_result){ 0 };
	result->load = load.change;
	find_factors(pair, &load, found, count, &factor);
	if (program->is_simulated)
		learn_kind(found, count, &priors);
	for (size_t i = 0; i < count; i++)
		weigh_hypothesis(pair, &factor, &found[i], result);
	find_proven(pair, found, count, result);
	/* What executions of a suite have in common is no row of it. */
	result->total_is_covered = program->is_suite;
	if (!program->is_suite)
		weigh_total(pair, &load, program->is_simulated ? priors.total : NULL, result);
}
