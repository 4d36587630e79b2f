/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fits the constants of evidence to the recordings of programs that are for fitting: `fit FILE...` writes
 * diff/evidence/fitted.h. `fit --check FILE...` tells what the model says of those held back.
 */
#include "common/common.h"
#include "diff/evidence/constants.h"
#include "diff/evidence/kinds.h"
#include "diff/evidence/normal.h"
#include "diff/evidence/spreads.h"
#include "diff/probability/probability.h"
#include "tests/calibration/program.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The likelihoods of each spread, of one row. */
struct likelihoods {
	double of[EVIDENCE_SPREADS], weight;
};

struct sample {
	struct likelihoods *rows;
	size_t count, capacity, programs;
};

/* [class] what its rows tell of it, and what others that are like it do. */
struct samples {
	struct sample of[EVIDENCE_CLASSES], like[EVIDENCE_CLASSES];
};

static void restarts_of(const struct calibration_program *program, struct calibration_pair *pair)
{
	*pair = (struct calibration_pair){ .program = program };
	for (size_t i = 0; i < program->recording_count && pair->count[0] < 16; i++)
		if (program->recordings[i].condition == CALIBRATION_RESTART) {
			pair->of[0][pair->count[0]++] = i;
			pair->of[1][0] = i;
			pair->count[1] = 1;
		}
}

/* Adds what the restarts of a program tell of a row. Rows of a program are alike: together they weigh as its root. */
static void add_likelihoods(const struct calibration_pair *pair, const double *samples, const double *factors,
	double weight, enum evidence_class class, struct sample *sample)
{
	double counts[16], work[16];
	struct likelihoods row = { .weight = weight };
	struct evidence_counts side = { counts, work, pair->count[0] };

	for (size_t i = 0; i < pair->count[0]; i++) {
		counts[i] = samples[pair->of[0][i]];
		work[i] = pair->program->recordings[pair->of[0][i]].work * exp(factors[i]);
	}
	spreads_of_side(&side, class, row.of);
	ARRAY_PUSH(&sample->rows, &sample->capacity, &sample->count, row);
}

static void find_profile_factors(const struct calibration_pair *pair, double factors[static 16])
{
	const struct calibration_program *program = pair->program;
	CLEANUP(cleanup_free) struct evidence_row *rows = memory_zeroed(program->row_count + 1, sizeof(*rows));
	CLEANUP(cleanup_free) double(*counts)[2][16] = memory_zeroed(program->row_count + 1, sizeof(*counts));
	double other[16];
	size_t count = 0;

	memset(factors, 0, 16 * sizeof(*factors));
	for (size_t i = 0; i < program->row_count; i++) {
		if (!program->rows[i].is_self || !calibration_is_hypothesis(pair, &program->rows[i]))
			continue;
		for (size_t k = 0; k < pair->count[0]; k++) {
			counts[count][0][k] = program->rows[i].samples[pair->of[0][k]];
			counts[count][1][k] = program->recordings[pair->of[0][k]].work;
		}
		rows[count].sides[0] = (struct evidence_counts){ counts[count][0], counts[count][1], pair->count[0] };
		rows[count].sides[1] = (struct evidence_counts){ counts[count][0], counts[count][1], 1 };
		count++;
	}
	evidence_profile_factors(rows, count, (double *[]){ factors, other });
}

/*
 * A program that was simulated repeatedly, each metric for itself: the likelihoods of spreads of its functions, and of
 * these with all they call.
 */
struct simulation {
	double (*of[2])[EVIDENCE_SPREADS]; /* owned: [is total][row] */
	size_t counts[2];                  /* [is total] */
};

struct simulations {
	struct simulation *of;
	size_t count, capacity, rows;
};

static void add_exact_row(
	const struct calibration_pair *pair, const double *counts, bool is_total, struct simulation *simulation)
{
	double own[16], work[16], part = 0, *likelihoods = simulation->of[is_total][simulation->counts[is_total]];
	struct evidence_counts side = { own, work, pair->count[0], NULL };

	for (size_t i = 0; i < pair->count[0]; i++) {
		own[i] = counts[pair->of[0][i]];
		work[i] = 1;
		part = fmax(part, own[i] / pair->program->recordings[pair->of[0][i]].total);
	}
	if (part < evidence_kind_part)
		return;
	spreads_of_exact(&side, part, likelihoods);
	for (int k = 0; k < EVIDENCE_SPREADS; k++)
		likelihoods[k] = exp(likelihoods[k]);
	simulation->counts[is_total]++;
}

static void add_simulation(const struct calibration_program *program, struct simulations *to)
{
	struct simulation simulation = { .counts = { 0 } };
	struct calibration_pair pair;
	double totals[64];

	restarts_of(program, &pair);
	for (int is_total = 0; is_total <= 1; is_total++)
		simulation.of[is_total] = memory_zeroed(program->row_count + 2, sizeof(*simulation.of[0]));
	for (size_t i = 0; i < program->row_count; i++)
		add_exact_row(&pair, program->rows[i].samples, !program->rows[i].is_self, &simulation);
	for (size_t i = 0; i < program->recording_count && i < 64; i++)
		totals[i] = program->recordings[i].total;
	add_exact_row(&pair, totals, true, &simulation);
	to->rows += simulation.counts[0];
	ARRAY_PUSH(&to->of, &to->capacity, &to->count, simulation);
}

/* A row tells the class of the benchmarks that are like it before any benchmark does, at their spreads. Itself: there
 * are none. */
static enum evidence_class benchmarks_like(enum evidence_class class)
{
	switch (class) {
	case EVIDENCE_OTHER:
		return EVIDENCE_BENCHMARK;
	case EVIDENCE_COMPILED:
		return EVIDENCE_BENCHMARK_COMPILED;
	case EVIDENCE_TOTAL_COMMAND:
		return EVIDENCE_TOTAL_SUITE;
	case EVIDENCE_WAITING:
	case EVIDENCE_BENCHMARK:
	case EVIDENCE_BENCHMARK_COMPILED:
	case EVIDENCE_EXACT:
	case EVIDENCE_EXACT_TOTAL:
	case EVIDENCE_TOTAL:
	case EVIDENCE_TOTAL_COMPILED:
	case EVIDENCE_TOTAL_SUITE:
		break;
	}
	return class;
}

/* Adds what a row tells of its class, and of the benchmarks that are like it. */
static void add_row(const struct calibration_pair *pair, enum evidence_class class, const double *samples,
	const double *factors, double weight, struct samples *to)
{
	enum evidence_class like = benchmarks_like(class);

	add_likelihoods(pair, samples, factors, weight, class, &to->of[class]);
	if (like != class)
		add_likelihoods(pair, samples, factors, weight, like, &to->like[like]);
}

static void add_program(const struct calibration_program *program, struct samples *to)
{
	struct calibration_pair pair;
	double factors[16], none[16] = { 0 }, totals[64];
	size_t rows[EVIDENCE_CLASSES] = { 0 };

	restarts_of(program, &pair);
	if (pair.count[0] < 3)
		return;
	find_profile_factors(&pair, factors);
	for (size_t i = 0; i < program->row_count; i++)
		rows[program->rows[i].class] += calibration_is_hypothesis(&pair, &program->rows[i]);
	for (size_t i = 0; i < program->row_count; i++) {
		const struct calibration_row *row = &program->rows[i];

		if (calibration_is_hypothesis(&pair, row))
			add_row(&pair, row->class, row->samples, factors, 1 / sqrt((double)rows[row->class]), to);
	}
	for (int i = 0; i < EVIDENCE_CLASSES; i++)
		to->of[i].programs += rows[i] > 0;
	for (size_t i = 0; i < program->recording_count && i < 64; i++)
		totals[i] = program->recordings[i].total;
	if (program->is_waits)
		return;
	/* What executions of a suite have in common is all that is known of it as a whole. */
	for (size_t i = 0; i < pair.count[0] && program->is_suite; i++)
		totals[pair.of[0][i]] = calibration_clocked * exp(factors[i]);
	to->of[program->totals].programs++;
	add_row(&pair, program->totals, totals, none, 1, to);
}

/* What is known of a class before its rows, and what it is worth, in rows of different programs. */
struct before {
	double priors[EVIDENCE_SPREADS], worth;
};

/*
 * Three programs that wait tell little of others: 26 pairs of others' services in wall-clock time, 687 rows, were
 * fitted to by expectation maximisation before.
 */
static const struct before earlier_waits = { { 0, .27, .28, .08, .02, .18, .17, .004, .003 }, 26 };

/* Expectation maximisation. */
static void fit_priors(const struct sample *sample, const struct before *before, bool is_smooth,
	double priors[static EVIDENCE_SPREADS])
{
	enum { STEPS = 400 };

	for (int k = 0; k < EVIDENCE_SPREADS; k++)
		priors[k] = before->priors[k];
	for (int step = 0; step < STEPS; step++) {
		double sums[EVIDENCE_SPREADS] = { 0 }, weights = 0;

		for (size_t i = 0; i < sample->count; i++) {
			double all = 0;

			for (int k = 0; k < EVIDENCE_SPREADS; k++)
				all += priors[k] * exp(sample->rows[i].of[k]);
			for (int k = 0; k < EVIDENCE_SPREADS; k++)
				sums[k] += sample->rows[i].weight * priors[k] * exp(sample->rows[i].of[k]) / all;
			weights += sample->rows[i].weight;
		}
		for (int k = 0; k < EVIDENCE_SPREADS; k++)
			priors[k] = (sums[k] + before->worth * before->priors[k]) / (weights + before->worth);
		if (is_smooth)
			spreads_smooth(priors);
	}
}

/*
 * One suite tells little of others, and was recorded beside other work: what rows of programs that are like benchmarks
 * do between starts is worth as much as that suite.
 */
static struct before before_benchmarks(const struct sample *like, const struct sample *suites)
{
	struct before equal = { .worth = 1 }, before = { .worth = 0 };

	for (int k = 0; k < EVIDENCE_SPREADS; k++)
		equal.priors[k] = 1.0 / EVIDENCE_SPREADS;
	fit_priors(like, &equal, true, before.priors);
	for (size_t i = 0; i < suites->count; i++)
		before.worth += suites->rows[i].weight;
	before.worth = fmax(before.worth, 1);
	return before;
}

/* ---- Load ---- */

struct steps {
	struct weighted_value slopes[256];
	size_t count;
	size_t rows, covered[CALIBRATION_SCATTERS];
};

static void add_steps(const struct calibration_program *program, struct steps *steps)
{
	struct calibration_pair restarts;

	restarts_of(program, &restarts);
	if (!program->is_service || program->is_waits || restarts.count[0] < 3)
		return;
	for (size_t i = 0; i < program->recording_count && steps->count < 256; i++) {
		struct calibration_pair pair = restarts;
		struct calibration_result result;

		if (program->recordings[i].condition != CALIBRATION_LOAD)
			continue;
		pair.of[1][0] = i;
		calibration_weigh(&pair, &result);
		if (fabs(result.load) <= 0.3)
			continue;
		steps->slopes[steps->count++] =
			(struct weighted_value){ -result.total_effect / result.load, fabs(result.load) };
		steps->rows += calibration_weigh_scatters(&pair, steps->covered);
	}
}

/* ---- Simulations ---- */

/* The mixture over kinds of programs: [is total][kind] the priors of spreads. */
struct kinds {
	double parts[EVIDENCE_KINDS], priors[2][EVIDENCE_KINDS][EVIDENCE_SPREADS];
};

/* Adds what the rows of a program tell of a kind, as far as the program is of it. */
static void add_to_kind(
	const double (*likelihoods)[EVIDENCE_SPREADS], size_t count, const double *priors, double weight, double *sums)
{
	for (size_t i = 0; i < count; i++) {
		double all = 0;

		for (int k = 0; k < EVIDENCE_SPREADS; k++)
			all += priors[k] * likelihoods[i][k];
		for (int k = 0; k < EVIDENCE_SPREADS; k++)
			sums[k] += weight * evidence_temper(count) * priors[k] * likelihoods[i][k] / all;
	}
}

/*
 * Makes sums probabilities. What is known of a kind before is what all programs together do, which is worth a row, and
 * before these that a row has each spread.
 */
static void level_kinds(double sums[EVIDENCE_KINDS][EVIDENCE_SPREADS], double priors[EVIDENCE_KINDS][EVIDENCE_SPREADS])
{
	double all[EVIDENCE_SPREADS], sum;

	for (int k = 0; k < EVIDENCE_SPREADS; k++) {
		all[k] = 1;
		for (int kind = 0; kind < EVIDENCE_KINDS; kind++)
			all[k] += sums[kind][k];
	}
	sum = evidence_add(all, EVIDENCE_SPREADS);
	for (int kind = 0; kind < EVIDENCE_KINDS; kind++) {
		double rows = evidence_add(sums[kind], EVIDENCE_SPREADS);

		for (int k = 0; k < EVIDENCE_SPREADS; k++)
			priors[kind][k] = (sums[kind][k] + all[k] / sum) / (rows + 1);
	}
}

/* weights: [program][kind] how probable it is that a program is of a kind. */
static void step_kinds(const struct simulations *simulations, double (*weights)[EVIDENCE_KINDS], struct kinds *kinds)
{
	struct kinds sums = { 0 };

	for (size_t i = 0; i < simulations->count; i++) {
		const struct simulation *of = &simulations->of[i];

		for (int kind = 0; kind < EVIDENCE_KINDS; kind++) {
			sums.parts[kind] += weights[i][kind];
			for (int is_total = 0; is_total <= 1; is_total++)
				add_to_kind(of->of[is_total], of->counts[is_total], kinds->priors[is_total][kind],
					weights[i][kind], sums.priors[is_total][kind]);
		}
	}
	for (int kind = 0; kind < EVIDENCE_KINDS; kind++)
		kinds->parts[kind] = (sums.parts[kind] + 1.0 / EVIDENCE_KINDS) / ((double)simulations->count + 1);
	for (int is_total = 0; is_total <= 1; is_total++)
		level_kinds(sums.priors[is_total], kinds->priors[is_total]);
}

/* Returns where on the grid the spreads of a program are in the mean, where all are as probable before. */
static double simulation_place(const struct simulation *of)
{
	double sum = 0;

	for (size_t i = 0; i < of->counts[0]; i++) {
		double all = evidence_add(of->of[0][i], EVIDENCE_SPREADS);

		for (int k = 0; k < EVIDENCE_SPREADS; k++)
			sum += k * of->of[0][i][k] / all;
	}
	return sum / fmax((double)of->counts[0], 1);
}

/* Expectation maximisation. At first, kinds are equal parts of the programs in order of their spreads. */
static void fit_kinds(const struct simulations *simulations, struct kinds *kinds)
{
	enum { STEPS = 300 };
	CLEANUP(cleanup_free)
	double(*weights)[EVIDENCE_KINDS] = memory_zeroed(simulations->count + 1, sizeof(*weights));

	for (size_t i = 0; i < simulations->count; i++) {
		size_t before = 0;

		for (size_t j = 0; j < simulations->count; j++) {
			double own = simulation_place(&simulations->of[i]),
			       other = simulation_place(&simulations->of[j]);

			before += other < own || (other == own && j < i);
		}
		weights[i][before * EVIDENCE_KINDS / simulations->count] = 1;
	}
	for (int k = 0; k < 2 * EVIDENCE_KINDS * EVIDENCE_SPREADS; k++)
		(&kinds->priors[0][0][0])[k] = 1.0 / EVIDENCE_SPREADS;
	for (int step = 0; step < STEPS; step++) {
		step_kinds(simulations, weights, kinds);
		for (size_t i = 0; i < simulations->count; i++)
			kinds_weigh(simulations->of[i].of[0], simulations->of[i].counts[0], kinds->parts,
				kinds->priors[0], weights[i]);
	}
}

/* Fills the priors of a program of which the kind is not known. */
static void mix_kinds(const struct kinds *kinds, bool is_total, double priors[static EVIDENCE_SPREADS])
{
	for (int k = 0; k < EVIDENCE_SPREADS; k++) {
		priors[k] = 0;
		for (int kind = 0; kind < EVIDENCE_KINDS; kind++)
			priors[k] += kinds->parts[kind] * kinds->priors[is_total][kind][k];
	}
}

/*
 * Returns the variance of a weighted median, from the scatter of the values around it: their median absolute deviation,
 * converted as for a normal distribution (Rousseeuw and Croux 1993), and the efficiency of the median, 2/pi of the
 * mean's. Overwrites the values.
 */
static double median_variance(struct weighted_value *values, size_t count, double median)
{
	/*
	 * The standard deviation of a normal distribution over its median absolute deviation, and the variance of a
	 * median over that of a mean.
	 */
	static const double deviation = 1.4826, median_cost = M_PI / 2;
	double sum = 0, squares = 0, scatter;

	for (size_t i = 0; i < count; i++) {
		values[i].value = fabs(values[i].value - median);
		sum += values[i].weight;
		squares += values[i].weight * values[i].weight;
	}
	if (!(sum > 0))
		return 0;
	scatter = deviation * weighted_median(values, count);
	return median_cost * scatter * scatter * squares / (sum * sum);
}

/* ---- Output ---- */

static const char *const class_names[EVIDENCE_CLASSES] = { "EVIDENCE_OTHER", "EVIDENCE_COMPILED", "EVIDENCE_WAITING",
	"EVIDENCE_BENCHMARK", "EVIDENCE_BENCHMARK_COMPILED", "EVIDENCE_EXACT", "EVIDENCE_EXACT_TOTAL", "EVIDENCE_TOTAL",
	"EVIDENCE_TOTAL_COMPILED", "EVIDENCE_TOTAL_COMMAND", "EVIDENCE_TOTAL_SUITE" };

/*
 * Returns the least one with which 95 % of the rows are covered. Maximum likelihood has half of it: most rows follow
 * their program's load closely, and a few not at all.
 */
static double least_scatter(const struct steps *steps)
{
	int least = 0;

	while (least < CALIBRATION_SCATTERS - 1 && (double)steps->covered[least] < .95 * (double)steps->rows)
		least++;
	return least * calibration_scatter_step;
}

static void write_fitted(const struct samples *samples, struct steps *steps, const struct kinds *kinds)
{
	double median = weighted_median(steps->slopes, steps->count),
	       variance = median_variance(steps->slopes, steps->count, median);
	struct before equal = { .worth = 1 }, other = { .worth = 1 }, total;

	printf("/* SPDX-License-Identifier: GPL-3.0-or-later */\n"
	       "/* Made by scripts/calibrate of the recordings under tests/data/calibration that are for fitting. */\n"
	       "#pragma once\n\n"
	       "#include \"diff/evidence/evidence.h\"\n\n"
	       "/* How probable each of evidence_spreads_of(class) is, by expectation maximisation over restarts of unchanged programs. */\n"
	       "static const double evidence_spread_priors[EVIDENCE_CLASSES][EVIDENCE_SPREADS] = {\n");
	/*
	 * Counting hides whether a function varies by half a percent or by two: only totals are asked for the least
	 * spread.
	 */
	for (int k = 1; k < EVIDENCE_OTHER_SPREADS; k++)
		equal.priors[k] = 1.0 / (EVIDENCE_OTHER_SPREADS - 1);
	fit_priors(&samples->of[EVIDENCE_OTHER], &equal, false, other.priors);
	total = other;
	for (int k = 0; k < EVIDENCE_SPREADS; k++)
		total.priors[k] = .9 * other.priors[k] + (k == 0 ? .1 : 0);
	for (int i = 0; i < EVIDENCE_CLASSES; i++) {
		const struct sample *sample = &samples->of[i];
		double priors[EVIDENCE_SPREADS];
		struct before like = before_benchmarks(&samples->like[i], sample);

		/* Of what few programs tell, the most probable before is what functions do. */
		fit_priors(sample,
			samples->like[i].count > 0 ? &like
			: i == EVIDENCE_OTHER      ? &equal
			: i == EVIDENCE_WAITING    ? &earlier_waits
			: i >= EVIDENCE_TOTAL      ? &total
						   : &other,
			samples->like[i].count > 0, priors);
		if (evidence_is_exact((enum evidence_class)i))
			mix_kinds(kinds, i == EVIDENCE_EXACT_TOTAL, priors);
		printf("\t/* %zu rows of %zu programs", sample->count, sample->programs);
		if (samples->like[i].count > 0)
			printf(", and %zu that are like them", samples->like[i].count);
		printf(" */\n\t[%s] = {", class_names[i]);
		for (int k = 0; k < evidence_spread_count((enum evidence_class)i); k++)
			printf("%s %.4f", k ? "," : "", priors[k]);
		printf(" },\n");
	}
	printf("};\n\n"
	       "/*\n"
	       " * The logarithm of the cost of a request falls by `mean` for each unit by which that of the load rises; `sd`: how far\n"
	       " * programs differ in that. %zu recordings at other loads than the restarts of their programs.\n"
	       " */\n"
	       "static const struct {\n\tdouble mean, sd;\n} evidence_load_cost = { %.3f, %.3f };\n\n"
	       "/*\n"
	       " * The standard deviation, for each unit of the load's logarithm, of the rows of a program around that: the least with\n"
	       " * which intervals cover 95 %% of %zu rows.\n"
	       " */\n"
	       "static const double evidence_load_scatter = %.2f;\n",
		steps->count, median, sqrt(variance * (double)steps->count / (M_PI / 2)), steps->rows,
		least_scatter(steps));
}

static void write_spreads(const double *priors, int count, int digits)
{
	printf("{");
	for (int k = 0; k < count; k++)
		printf("%s %.*f", k ? "," : "", digits, priors[k]);
	printf(" },\n");
}

static void write_kinds(const struct simulations *simulations, const struct kinds *kinds)
{
	printf("\n/*\n"
	       " * The kinds of programs that are simulated, by how far they repeat themselves: the part of programs, and how probable\n"
	       " * spreads are of a kind's functions, and of these with all they call. %zu programs and metrics, %zu functions.\n"
	       " */\n"
	       "static const struct {\n\tdouble parts[EVIDENCE_KINDS];\n"
	       "\tdouble self[EVIDENCE_KINDS][EVIDENCE_SPREADS], total[EVIDENCE_KINDS][EVIDENCE_SPREADS];\n"
	       "} evidence_kinds = { ",
		simulations->count, simulations->rows);
	write_spreads(kinds->parts, EVIDENCE_KINDS, 4);
	for (int is_total = 0; is_total <= 1; is_total++) {
		printf("{\n");
		for (int kind = 0; kind < EVIDENCE_KINDS; kind++)
			write_spreads(kinds->priors[is_total][kind], EVIDENCE_SPREADS, 5);
		printf("},\n");
	}
	printf("};\n");
}

struct tally {
	size_t pairs, rows[EVIDENCE_CLASSES], covered[EVIDENCE_CLASSES], flagged, total_covered, total_flagged;
	size_t made_up, found; /* changes of one function by 1 % */
};

static void check_pair(const struct calibration_pair *pair, struct tally *tally)
{
	const struct calibration_program *program = pair->program;
	struct calibration_result result;

	calibration_weigh(pair, &result);
	tally->pairs++;
	for (int k = 0; k < EVIDENCE_CLASSES; k++) {
		tally->rows[k] += result.rows[k];
		tally->covered[k] += result.covered[k];
	}
	tally->flagged += result.flagged > 0;
	tally->total_covered += result.total_is_covered;
	tally->total_flagged += result.total_is_flagged;
	if (result.flagged > 0 || result.total_is_flagged)
		printf("%s: %s against %s: %zu rows flagged, total %s (%+.2f)\n", program->name,
			program->recordings[pair->of[0][0]].id, program->recordings[pair->of[1][0]].id, result.flagged,
			result.total_is_flagged ? "flagged" : "not", result.total_effect);
}

/* Makes up that a function which has 4 to 10 % of a simulated program executes 1 % more in the next repeat. */
static void check_changes(const struct calibration_pair *repeats, struct tally *tally)
{
	static const double least = .04, most = .1;
	struct calibration_pair pair = *repeats;

	pair.times = 1.01;
	for (pair.changed = 0; pair.changed < pair.program->row_count; pair.changed++) {
		const struct calibration_row *row = &pair.program->rows[pair.changed];
		double part = calibration_part(&pair, row, 0);
		struct calibration_result result;

		if (!row->is_self || part < least || part > most)
			continue;
		calibration_weigh(&pair, &result);
		tally->made_up++;
		tally->found += result.is_found;
	}
}

/* Weighs each restart of a program that is held back against the one before, and other loads against the last. */
static void check_program(const struct calibration_program *program, struct tally tallies[static 3])
{
	struct calibration_pair restarts, pair = { .program = program, .count = { 1, 1 } };

	restarts_of(program, &restarts);
	if (restarts.count[0] == 0)
		return;
	for (size_t i = 0; i + 1 < restarts.count[0]; i++) {
		pair.of[0][0] = restarts.of[0][i];
		pair.of[1][0] = restarts.of[0][i + 1];
		check_pair(&pair, &tallies[program->is_simulated ? 2 : 0]);
		if (program->is_simulated && program->is_of_instructions)
			check_changes(&pair, &tallies[2]);
	}
	pair.of[0][0] = restarts.of[0][restarts.count[0] - 1];
	for (pair.of[1][0] = 0; pair.of[1][0] < program->recording_count; pair.of[1][0]++)
		if (program->recordings[pair.of[1][0]].condition == CALIBRATION_LOAD)
			check_pair(&pair, &tallies[1]);
}

static void write_tally(const char *of, const struct tally *tally)
{
	printf("%s:\n", of);
	for (int k = 0; k < EVIDENCE_CLASSES; k++)
		if (tally->rows[k] > 0)
			printf("%s: %zu of %zu rows covered, %.1f %%\n", class_names[k], tally->covered[k],
				tally->rows[k], 100.0 * (double)tally->covered[k] / (double)tally->rows[k]);
	printf("totals: %zu of %zu covered; flagged: %zu pairs by rows, %zu by totals\n", tally->total_covered,
		tally->pairs, tally->flagged, tally->total_flagged);
	if (tally->made_up > 0)
		printf("1 %% more instructions of a function of 4 to 10 %%: %zu of %zu found\n", tally->found,
			tally->made_up);
}

int main(int argc, char **argv)
{
	struct samples samples = { 0 };
	bool is_check = argc > 1 && strcmp(argv[1], "--check") == 0;
	struct steps steps = { .count = 0 };
	struct tally tallies[3] = { 0 };
	struct simulations simulations = { 0 };
	struct kinds kinds;

	for (int i = is_check ? 2 : 1; i < argc; i++) {
		struct calibration_program program;
		bool ok = calibration_read(argv[i], &program);

		if (ok && is_check && !program.is_fit)
			check_program(&program, tallies);
		if (ok && !is_check && program.is_fit && !program.is_simulated) {
			add_program(&program, &samples);
			add_steps(&program, &steps);
		}
		if (ok && !is_check && program.is_fit && program.is_simulated)
			add_simulation(&program, &simulations);
		calibration_deinit(&program);
	}
	if (is_check) {
		write_tally("restarts", &tallies[0]);
		write_tally("other loads", &tallies[1]);
		write_tally("repeats of simulations", &tallies[2]);
	} else {
		fit_kinds(&simulations, &kinds);
		write_fitted(&samples, &steps, &kinds);
		write_kinds(&simulations, &kinds);
	}
	for (size_t i = 0; i < simulations.count; i++) {
		free(simulations.of[i].of[0]);
		free(simulations.of[i].of[1]);
	}
	free(simulations.of);
	for (int i = 0; i < EVIDENCE_CLASSES; i++) {
		free(samples.of[i].rows);
		free(samples.like[i].rows);
	}
	return 0;
}
