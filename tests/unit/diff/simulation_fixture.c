/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulation_fixture.h"
#include "tests/unit/support/drawn_spread.h"
#include "tests/unit/support/profile.h"
#include "tests/unit/support/unit_test.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>

enum { MODULES = 7 };

struct simulation simulation_create(unsigned long seed, size_t function_count, double first_share)
{
	struct simulation s = {
		.rng = gsl_rng_alloc(gsl_rng_mt19937),
		.function_count = function_count,
		.run_rsd = 0.05,
		.speed_rsd = 0.2,
		.process_rsd = 0.15,
		.burst_rsd = 0.5,
	};
	double sum = 0;

	assert_non_null(s.rng);
	assert_true(function_count <= SIMULATION_MAX_FUNCTIONS);
	gsl_rng_set(s.rng, seed);
	for (size_t i = 0; i < function_count; i++) {
		s.shares[i] = exp(gsl_ran_gaussian(s.rng, 1.5));
		s.slopes[i] = gsl_ran_flat(s.rng, 0.3, 1.2);
		sum += i ? s.shares[i] : 0;
	}
	for (size_t i = 0; i < function_count; i++)
		s.shares[i] = i ? s.shares[i] / sum * (1 - first_share) : first_share;
	return s;
}

void simulation_deinit(struct simulation *simulation)
{
	gsl_rng_free(simulation->rng);
}

/* Mean 1, relative standard deviation rsd. */
static double noise(struct simulation *s, double rsd)
{
	return rsd > 0 ? gsl_ran_gamma(s->rng, 1 / (rsd * rsd), rsd * rsd) : 1;
}

static void add_stacks(
	const struct simulation *s, struct synthetic *to, const struct simulated_change *change, uint32_t *stacks)
{
	char frames[160];

	for (size_t i = 0; i < s->function_count; i++) {
		size_t fingerprint = 1000 + i + (change && change->other_code && change->function == i ? 1000000 : 0);

		snprintf(frames, sizeof(frames), "_start#1;main#2;module_%zu#%zu;function_%zu#%zu", i % MODULES,
			10 + i % MODULES, i, fingerprint);
		stacks[i] = synthetic_stack(to, frames);
	}
}

static double times(const struct simulated_change *change, size_t function)
{
	return change && change->function == function ? change->times : 1;
}

/* [layout * functions + function] what where the linker put it makes of its time. */
static double *make_layouts(struct simulation *s, size_t layouts)
{
	double *factors = malloc((layouts * s->function_count + 1) * sizeof(*factors));

	assert_non_null(factors);
	for (size_t i = 0; i < layouts * s->function_count; i++)
		factors[i] = exp(gsl_ran_gaussian(s->rng, s->layout_rsd));
	return factors;
}

/* Each side is a file of its own, whose runs tell their layout where there are several. */
static void mark_layouts(struct simulation *s, struct profile *profile)
{
	char build_id[32];

	if (!(s->layout_rsd > 0))
		return;
	snprintf(build_id, sizeof(build_id), "%016lx", gsl_rng_get(s->rng));
	for (size_t i = 0; i < profile->mapping_count; i++)
		profile->mappings[i].build_id = profile_id(profile, build_id);
	for (size_t run = 0; s->layouts > 0 && run < profile->run_count; run++)
		profile->runs[run].layout = (uint32_t)(run % s->layouts + 1);
}

static void draw_spreads(struct simulation *s)
{
	/* Both sides are of one program. */
	if (!s->is_drawn || s->spreads[0] > 0)
		return;
	s->speed_rsd = drawn_spread(s->rng, EVIDENCE_TOTAL_COMMAND);
	s->run_rsd = s->process_rsd = 0;
	for (size_t i = 0; i < s->function_count; i++)
		s->spreads[i] = drawn_spread(s->rng, EVIDENCE_OTHER);
}

/* What a start decides of a function's time. */
static double start_factor(struct simulation *s, size_t function)
{
	return s->is_drawn ? exp(gsl_ran_gaussian(s->rng, s->spreads[function])) : 1;
}

struct profile *simulation_runs(
	struct simulation *s, size_t runs, double samples, const struct simulated_change *change)
{
	struct synthetic to = synthetic_create();
	uint32_t stacks[SIMULATION_MAX_FUNCTIONS];
	size_t layouts = s->layouts > 0 ? s->layouts : 1;
	double *factors = make_layouts(s, layouts);
	struct profile *profile;

	draw_spreads(s);
	add_stacks(s, &to, change, stacks);
	for (size_t run = 0; run < runs; run++) {
		double speed = s->is_drawn ? exp(gsl_ran_gaussian(s->rng, s->speed_rsd)) : noise(s, s->speed_rsd),
		       expected = 0;
		unsigned int counts[SIMULATION_MAX_FUNCTIONS];
		double means[SIMULATION_MAX_FUNCTIONS];

		synthetic_run(&to, true, 0);
		for (size_t i = 0; i < s->function_count; i++) {
			means[i] = samples / (double)runs * s->shares[i] * times(change, i) *
				   factors[run % layouts * s->function_count + i];
			expected += means[i];
			means[i] *= pow(speed, s->slopes[i]) * start_factor(s, i);
			counts[i] = s->is_drawn ? 0 : gsl_ran_poisson(s->rng, means[i] * noise(s, s->run_rsd));
		}
		/* How many samples a run has in all is no matter of chance. */
		if (s->is_drawn)
			gsl_ran_multinomial(
				s->rng, s->function_count, (unsigned int)lround(expected * speed), means, counts);
		for (size_t i = 0; i < s->function_count; i++)
			synthetic_add(&to, stacks[i], counts[i], -1);
	}
	free(factors);
	profile = synthetic_finish(&to);
	mark_layouts(s, profile);
	return profile;
}

enum { REQUESTS_PER_BLOCK = 250 };

static void add_requests(struct simulation *s, struct synthetic *to, uint32_t exchanges, size_t block, double load)
{
	struct profile_exchange_reading reading = { .exchanges = exchanges,
		.time_ns = (int64_t)(block + 1) * 250000000,
		.count = gsl_ran_poisson(s->rng, load * REQUESTS_PER_BLOCK) };
	struct error err;

	if (!profile_add_exchange_reading(to->profile, &reading, &err))
		fail_msg("%s", err.message);
}

static uint32_t start_counting(struct synthetic *to)
{
	struct profile_exchanges exchanges = { .pid = 1 };
	struct error err;
	uint32_t id;

	to->profile->requests.source = PROFILE_WORK_SOCKETS;
	if (!profile_add_exchanges(to->profile, &exchanges, &id, &err))
		fail_msg("%s", err.message);
	return id;
}

struct profile *simulation_attached(
	struct simulation *s, double seconds, double samples, const struct simulated_change *change)
{
	struct synthetic to = synthetic_create();
	uint32_t stacks[SIMULATION_MAX_FUNCTIONS];
	double process[SIMULATION_MAX_FUNCTIONS], load = noise(s, 0.1) * (s->load > 0 ? s->load : 1);
	size_t blocks = (size_t)(seconds * 4);
	uint32_t exchanges;

	draw_spreads(s);
	add_stacks(s, &to, change, stacks);
	synthetic_run(&to, false, seconds * 1000);
	exchanges = s->counts ? start_counting(&to) : 0;
	for (size_t i = 0; i < s->function_count; i++)
		process[i] = load * noise(s, s->process_rsd) * start_factor(s, i);
	for (size_t block = 0; block < blocks; block++) {
		double burst = noise(s, 0.3);

		if (s->counts)
			add_requests(s, &to, exchanges, block, load * burst);
		for (size_t i = 0; i < s->function_count; i++) {
			double mean = samples / (double)blocks * s->shares[i] * times(change, i) * process[i] * burst;
			unsigned int count = gsl_ran_poisson(s->rng, mean * noise(s, s->burst_rsd));

			synthetic_add(&to, stacks[i], count, (double)block * 250 + gsl_ran_flat(s->rng, 0, 250));
		}
	}
	return synthetic_finish(&to);
}

static bool is_flag(enum diff_state state)
{
	return state == DIFF_STATE_MORE || state == DIFF_STATE_LESS || state == DIFF_STATE_NEW ||
	       state == DIFF_STATE_GONE;
}

struct flagged simulation_flagged(const struct diff *diff)
{
	struct flagged flagged = { .whole = is_flag(diff->total.state) };

	for (size_t i = 0; i < diff->function_count; i++)
		flagged.functions += is_flag(diff->functions[i].self.state) || is_flag(diff->functions[i].total.state);
	for (size_t i = 0; i < diff->node_count; i++)
		flagged.nodes += is_flag((enum diff_state)diff->nodes[i].state);
	return flagged;
}

size_t simulation_pairs(size_t few)
{
	const char *asked = getenv("KELVIN_SIMULATED_PAIRS");
	long pairs = asked ? strtol(asked, NULL, 10) : 0;

	return pairs > 0 ? (size_t)pairs : few;
}
