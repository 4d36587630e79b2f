/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/evidence/row.h"
#include "tests/unit/support/unit_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PROFILES = 4 };

/* What another implementation of the model, in Python with SciPy's distributions, says of the same counts. */
struct reference {
	enum evidence_class class;
	size_t profiles[EVIDENCE_SIDES];
	double base[MOST_PROFILES], head[MOST_PROFILES], base_work[MOST_PROFILES], head_work[MOST_PROFILES];
	double variance; /* of the common factor */
	double p, gain, low, high;
	double weights[EVIDENCE_SPREADS];
};

static const struct reference references[] = {
	{ EVIDENCE_OTHER, { 1, 1 }, { 85 }, { 1 }, { 1 }, { 1 }, 0, 0.0013208728, 2.99338, -6.975, -2.765,
		{ 0, 0.53159, 0.18054, 0.12036, 0.07021, 0.01003, 0.08024, 0.00401, 0.00301 } },
	{ EVIDENCE_OTHER, { 1, 1 }, { 0 }, { 200 }, { 1 }, { 1 }, 0, 0.00031781107, 1.29481, 4.260, 11.490,
		{ 0, 0.53159, 0.18054, 0.12036, 0.07021, 0.01003, 0.08024, 0.00401, 0.00301 } },
	{ EVIDENCE_OTHER, { 1, 1 }, { 10 }, { 14 }, { 1 }, { 1 }, 0.01, 0.48028641, -0.955049, -0.700, 1.405,
		{ 0, 0.53159, 0.18054, 0.12036, 0.07021, 0.01003, 0.08024, 0.00401, 0.00301 } },
	{ EVIDENCE_COMPILED, { 1, 1 }, { 40 }, { 3 }, { 1000 }, { 1200 }, 0.02, 0.018093171, 2.26955, -4.465, -1.100,
		{ 0, 0.39000, 0.15000, 0.09000, 0.16000, 0.07000, 0.10000, 0.02000, 0.02000 } },
	{ EVIDENCE_WAITING, { 1, 1 }, { 300 }, { 900 }, { 10 }, { 10 }, 0, 0.070584946, 1.23334, -0.215, 2.270,
		{ 0, 0.26812, 0.27805, 0.07944, 0.01986, 0.17875, 0.16882, 0.00397, 0.00298 } },
	{ EVIDENCE_OTHER, { 1, 1 }, { 1000 }, { 1300 }, { 5 }, { 5 }, 0.001, 0.11431816, 0.357358, -0.420, 0.915,
		{ 0, 0.53159, 0.18054, 0.12036, 0.07021, 0.01003, 0.08024, 0.00401, 0.00301 } },
	{ EVIDENCE_OTHER, { 4, 4 }, { 100, 110, 95, 104 }, { 130, 128, 122, 141 }, { 1, 1, 1, 1 }, { 1, 1, 1, 1 },
		0.0004, 0.0015357321, 2.2507, 0.100, 0.390,
		{ 0, 0.78058, 0.17951, 0.03818, 0.00173, 0.00001, 0.00000, 0.00000, 0.00000 } },
	{ EVIDENCE_OTHER, { 3, 3 }, { 1000, 500, 2000 }, { 1000, 900, 1100 }, { 10, 10, 10 }, { 10, 9, 11 }, 0,
		0.76155756, -1.09626, -1.400, 1.100,
		{ 0, 0.00000, 0.00000, 0.00000, 0.01019, 0.35323, 0.63657, 0.00001, 0.00000 } },
	{ EVIDENCE_COMPILED, { 3, 3 }, { 60, 0, 58 }, { 0, 61, 2 }, { 1, 1, 1 }, { 1, 1, 1 }, 0, 0.70593476, -0.266239,
		-3.690, 2.640, { 0, 0.00000, 0.00000, 0.00000, 0.00000, 0.00000, 0.06412, 0.93588, 0.00000 } },
	{ EVIDENCE_OTHER, { 2, 2 }, { 7, 9 }, { 25, 30 }, { 100, 120 }, { 110, 100 }, 0, 0.0013311715, 4.83939, 0.730,
		1.910, { 0, 0.59565, 0.20073, 0.12898, 0.06203, 0.00456, 0.00805, 0.00000, 0.00000 } },
	{ EVIDENCE_WAITING, { 2, 2 }, { 20000, 21000 }, { 20500, 200 }, { 1, 1 }, { 1, 1 }, 0.01, 0.43241999, -0.45837,
		-2.330, 1.020, { 0, 0.00000, 0.00000, 0.00000, 0.00000, 0.00000, 0.99302, 0.00698, 0.00000 } },
};

static void close_to(double value, double expected, double relative, double absolute)
{
	if (!(fabs(value - expected) <= fmax(absolute, relative * fabs(expected))))
		fail_msg("%.9g where %.9g is expected", value, expected);
}

static struct evidence_row row_of(const struct reference *r)
{
	return (struct evidence_row){ .class = r->class,
		.sides = { { r->base, r->base_work, r->profiles[0] }, { r->head, r->head_work, r->profiles[1] } } };
}

/* Those that the other implementation was given. */
static const double given_priors[][EVIDENCE_SPREADS] = {
	[EVIDENCE_OTHER] = { 0, .53, .18, .12, .07, .01, .08, .004, .003 },
	[EVIDENCE_COMPILED] = { 0, .39, .15, .09, .16, .07, .10, .02, .02 },
	[EVIDENCE_WAITING] = { 0, .27, .28, .08, .02, .18, .17, .004, .003 },
};

/* The tolerances are those of the normal distribution, which stands for large counts here and not there. */
static void rows_agree_with_another_implementation(void **state)
{
	for (size_t i = 0; i < sizeof(references) / sizeof(references[0]); i++) {
		const struct reference *r = &references[i];
		struct evidence_row row = row_of(r);
		struct evidence_factor factor = { .variance = r->variance };
		struct evidence evidence;
		double low, high;

		row_weigh(&row, given_priors[r->class], &factor, &evidence);
		evidence_interval(&evidence, &low, &high);
		for (int k = 0; k < EVIDENCE_SPREADS; k++)
			close_to(evidence.weights[k], r->weights[k], 0, 1e-4);
		close_to(evidence.p, r->p, .03, 1e-9);
		close_to(evidence_gain(&evidence), r->gain, .02, .02);
		close_to(low, r->low, 0, .03);
		close_to(high, r->high, 0, .03);
	}
}

static void benjamini_and_hochberg_as_published(void **state)
{
	/* Their paper's 15 p-values: four are found at 0.05. */
	static const double p[] = { 0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240,
		0.4262, 0.5719, 0.6528, 0.7590, 1 };
	enum { COUNT = sizeof(p) / sizeof(p[0]) };
	struct evidence_member members[COUNT + 1];
	size_t found = 0;

	for (size_t i = 0; i < COUNT; i++)
		members[i] = (struct evidence_member){ .p = p[i], .samples = { 100, (double)i }, .part = 0.1 };
	/* Another row of the same samples is no further test. */
	members[COUNT] = members[0];
	evidence_family(members, COUNT + 1);
	for (size_t i = 0; i < COUNT; i++)
		found += members[i].q < 0.05;
	assert_int_equal(found, 4);
	close_to(members[0].q, 0.0015, 0, 1e-9);
	close_to(members[3].q, 0.035625, 0, 1e-9);
	close_to(members[COUNT].q, 0.0015, 0, 1e-9);
	/* A larger part of the time has more of the error rate, but proves nothing by that alone. */
	members[4].part = 1.5;
	evidence_family(members, COUNT + 1);
	assert_true(members[4].q < 0.05 && members[4].q >= p[4] && members[3].q > 0.05);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_agree_with_another_implementation),
		cmocka_unit_test(benjamini_and_hochberg_as_published),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
