/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/verdict/check.h"
#include "pairs_fixture.h"

#include "tests/unit/support/unit_test.h"
#include "waiting_fixture.h"

#include <ctype.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <string.h>

/*
 * What holds of every verdict, on small random pairs of profiles and on recordings of real programs: nothing that is
 * said contradicts anything else that is. KELVIN_SIMULATED_PAIRS sets the number of random pairs.
 */
enum { PAIRS = 10000, MAX_STACKS = 12, MAX_FRAMES_TEXT = 400, MAX_RUNS = 4, SECONDS = 8 };

/* ---- Random profiles ---- */

/* A program: stacks with how much time they take, of a handful of functions that call each other at random. */
struct program {
	size_t count;
	char frames[MAX_STACKS][MAX_FRAMES_TEXT];
	double size[MAX_STACKS];
	double run_rsd; /* by which a stack's time varies from run to run */
};

static const char *const frames[] = { "handle", "parse", "lex", "find_user", "resolve", "std::string::compare!libstd",
	"inflate!libz", "memcmp!kernel", "read!kernel", "prog+0x1234", "py::check:/srv/rules.py",
	"_PyEval!python3.11" };

static struct program make_program(gsl_rng *rng)
{
	struct program program = { .count = 1 + gsl_rng_uniform_int(rng, MAX_STACKS),
		.run_rsd = gsl_ran_flat(rng, 0, 0.4) };

	for (size_t i = 0; i < program.count; i++) {
		char *text = program.frames[i];
		size_t depth = 1 + gsl_rng_uniform_int(rng, 5);

		strcpy(text, "_start;main");
		for (size_t k = 0; k < depth; k++) {
			strcat(text, ";");
			strcat(text, frames[gsl_rng_uniform_int(rng, sizeof(frames) / sizeof(frames[0]))]);
		}
		program.size[i] = floor(exp(gsl_ran_flat(rng, 0, 9)));
	}
	return program;
}

/* What the deploy changed: some stacks take more, less or nothing, or all of them do. */
static void change_program(gsl_rng *rng, struct program *program)
{
	double all = gsl_rng_uniform_int(rng, 3) == 0 ? exp(gsl_ran_flat(rng, -2, 2)) : 1;

	for (size_t i = 0; i < program->count; i++) {
		double own = gsl_rng_uniform_int(rng, 4) == 0 ? exp(gsl_ran_flat(rng, -3, 3)) : 1;

		program->size[i] = gsl_rng_uniform_int(rng, 12) == 0 ? 0 : floor(program->size[i] * all * own);
	}
	if (gsl_rng_uniform_int(rng, 3) == 0)
		program->frames[0][0] = 'x'; /* a function that only this side has */
}

/* How a pair is recorded: runs of commands, or one process for a while, with or without waits. */
struct manner {
	size_t runs;
	bool whole_command, has_events, has_waits;
};

static void add_time(
	struct synthetic *s, gsl_rng *rng, const struct program *program, const struct manner *manner, size_t i)
{
	double rsd = fmax(program->run_rsd, 1e-3), noise = gsl_ran_gamma(rng, 1 / (rsd * rsd), rsd * rsd);
	int64_t count = (int64_t)(program->size[i] * noise);
	uint32_t stack = synthetic_stack(s, program->frames[i]);

	for (int second = 0; manner->has_events && second < SECONDS; second++)
		synthetic_add(s, stack, count % 50 / 5 + 1, second * 1000 + gsl_ran_flat(rng, 0, 900));
	if (!manner->has_events)
		synthetic_add(s, stack, count, -1);
}

static void add_wait(
	struct synthetic *s, gsl_rng *rng, const struct program *program, const struct manner *manner, size_t i)
{
	enum profile_wait_class wait_class = (enum profile_wait_class)gsl_rng_uniform_int(rng, PROFILE_WAIT_COUNT);
	uint32_t stack = waiting_stack(s, program->frames[i], wait_class);

	for (int second = 0; second < (manner->has_events ? SECONDS : 1); second++)
		waiting_add(s, stack, wait_class, program->size[i] * gsl_ran_flat(rng, 0.5, 1.5) / SECONDS,
			manner->has_events ? second * 1000 : -1);
}

static struct profile *record(gsl_rng *rng, const struct program *program, const struct manner *manner)
{
	struct synthetic s = manner->has_waits ? waiting_create() : synthetic_create();

	for (size_t run = 0; run < manner->runs; run++) {
		synthetic_run(&s, manner->whole_command, manner->has_events ? SECONDS * 1000 : 0);
		synthetic_add(&s, synthetic_stack(&s, "_start;main"), 1, manner->has_events ? 1 : -1);
		for (size_t i = 0; i < program->count; i++) {
			add_time(&s, rng, program, manner, i);
			if (manner->has_waits && i % 2)
				add_wait(&s, rng, program, manner, i);
		}
	}
	return synthetic_finish(&s);
}

static struct manner choose_recording(gsl_rng *rng)
{
	static const struct manner recordings[] = { { .runs = MAX_RUNS, .whole_command = true },
		{ .runs = 3, .whole_command = true }, { .runs = 1, .whole_command = true }, { .runs = 1 },
		{ .runs = 3 }, { .runs = 1, .has_events = true }, { .runs = 1, .has_events = true, .has_waits = true },
		{ .runs = 3, .whole_command = true, .has_waits = true } };

	return recordings[gsl_rng_uniform_int(rng, sizeof(recordings) / sizeof(recordings[0]))];
}

static struct diff_options choose_options(gsl_rng *rng, const struct manner *manner)
{
	static const enum diff_scale_mode modes[] = { DIFF_SCALE_AUTO, DIFF_SCALE_AUTO, DIFF_SCALE_PER_RUN,
		DIFF_SCALE_ROBUST, DIFF_SCALE_SHARE, DIFF_SCALE_WORK, DIFF_SCALE_RATE };
	struct diff_options options = { .scale = modes[gsl_rng_uniform_int(rng, 7)], .work = { 100, 100 } };

	if (options.scale == DIFF_SCALE_RATE && !manner->has_events)
		options.scale = DIFF_SCALE_AUTO;
	options.work[DIFF_HEAD] = gsl_ran_flat(rng, 50, 200);
	return options;
}

/* ---- What holds ---- */

/* Whether a word stands in the part of the text that is about the change which decides. */
static bool leads_with(const char *text, const char *word)
{
	const char *end = strchr(text, ';'), *found = strstr(text, word);

	return found && (!end || found < end) && !isalpha((unsigned char)found[strlen(word)]);
}

static void assert_words_agree(const struct diff *diff, const char *text)
{
	if (diff->verdict == DIFF_REGRESSED && !diff->gate_failed &&
		(leads_with(text, "% less") || leads_with(text, "is gone") || leads_with(text, "of the decrease")))
		fail_msg("regressed: %s", text);
	if (diff->verdict == DIFF_IMPROVED &&
		(leads_with(text, "% more") || leads_with(text, "times as") || leads_with(text, "is new") ||
			leads_with(text, "of the increase")))
		fail_msg("improved: %s", text);
	if (diff->verdict == DIFF_UNCHANGED && strstr(text, "95 % interval") && !strstr(text, "equal within"))
		fail_msg("unchanged: %s", text);
	for (size_t i = 0; strstr(text, "no change is proven") && i < diff->function_count; i++)
		if (diff_state_is_difference(diff->functions[i].self.state) ||
			diff_state_is_difference(diff->functions[i].total.state))
			fail_msg("%s is proven: %s", diff_string(diff, diff->functions[i].name), text);
}

/* A total that is not proven although its interval does not hold 0 is never left without a reason. Tells of such ones.
 */
static bool assert_says_why(const struct diff *diff, const char *text)
{
	static const char *const reasons[] = { "can explain it", "just short of proof", "below --min-effect",
		"no comparison", "for a fixed time", "the load was not counted",
		"though it may explain the total's change", "how much of the total's change is load is unknown" };
	const struct diff_estimate *e = &diff->total;

	if (diff_state_is_difference(e->state) || isnan(e->ci_low) || (e->ci_low <= 0 && e->ci_high >= 0) ||
		diff->is_exact || diff->scale.mode == DIFF_SCALE_SHARE)
		return false;
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (strstr(text, reasons[i]))
			return true;
	fail_msg("%s, interval %g to %g of %g: %s", diff_state_name(e->state), e->ci_low, e->ci_high, e->base, text);
	return false;
}

static bool assert_consistent(const struct diff *diff)
{
	const char *text = diff_string(diff, diff->verdict_text), *broken = verdict_check(diff);

	if (broken)
		fail_msg("%s: %s: %s", broken, diff_verdict_name(diff->verdict), text);
	assert_true(strlen(text) > 0);
	assert_words_agree(diff, text);
	return assert_says_why(diff, text);
}

static size_t pairs_to_try(void)
{
	const char *asked = getenv("KELVIN_SIMULATED_PAIRS");

	return asked ? strtoul(asked, NULL, 10) * 50 : PAIRS;
}

struct tally {
	size_t verdicts[DIFF_VERDICT_COUNT], causes, doubts;
};

/* Compares one random pair, and counts what is said of it. */
static void try_pair(gsl_rng *rng, struct tally *tally)
{
	struct manner recording = choose_recording(rng);
	struct diff_options options = choose_options(rng, &recording);
	struct program program = make_program(rng);
	CLEANUP(profile_cleanup) struct profile *base = record(rng, &program, &recording), *head = NULL;
	CLEANUP(diff_cleanup) struct diff *diff = NULL;
	struct error err;

	if (gsl_rng_uniform_int(rng, 5) != 0)
		change_program(rng, &program);
	head = record(rng, &program, &recording);
	if (diff_create(base, head, &options, &diff, &err)) {
		tally->doubts += assert_consistent(diff);
		tally->verdicts[diff->verdict]++;
		tally->causes += diff->cause.function != PROFILE_NONE;
	} else {
		assert_int_equal(err.code, ERROR_EMPTY);
	}
}

static void random_pairs_are_told_without_contradiction(void **state)
{
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
	struct tally tally = { 0 };

	for (size_t i = 0; i < pairs_to_try(); i++) {
		gsl_rng_set(rng, 1000 + i);
		try_pair(rng, &tally);
	}
	for (int i = 0; i < DIFF_VERDICT_COUNT; i++)
		print_message("%s %zu, ", diff_verdict_name((enum diff_verdict)i), tally.verdicts[i]);
	print_message("causes %zu, doubts %zu\n", tally.causes, tally.doubts);
	/* All that can be said was said. */
	for (int i = 0; i < DIFF_VERDICT_COUNT; i++)
		assert_true(i == DIFF_PLACEMENT || tally.verdicts[i] > 0);
	assert_true(tally.causes > 0 && tally.doubts > 0);
	gsl_rng_free(rng);
}

/* ---- Recordings of real programs ---- */

static void recordings_are_told_without_contradiction(void **state)
{
	static const char *const names[] = { "quiet_1", "quiet_2", "noisy_1", "noisy_2", "gunicorn_base",
		"gunicorn_head", "nginx_base", "nginx_head", "redis_base", "redis_head", "postgres_base",
		"postgres_head", "python_base", "python_twice" };
	static const enum diff_scale_mode modes[] = { DIFF_SCALE_AUTO, DIFF_SCALE_ROBUST, DIFF_SCALE_RATE,
		DIFF_SCALE_SHARE };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i += 2) {
		struct profile *sides[] = { read_pair(names[i]), read_pair(names[i + 1]) };

		for (size_t k = 0; k < 2 * sizeof(modes) / sizeof(modes[0]); k++) {
			struct diff_options options = { .scale = modes[k / 2] };
			struct diff *diff = synthetic_diff(sides[k % 2], sides[!(k % 2)], &options);

			assert_consistent(diff);
			diff_destroy(diff);
		}
		profile_destroy(sides[0]);
		profile_destroy(sides[1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_pairs_are_told_without_contradiction),
		cmocka_unit_test(recordings_are_told_without_contradiction),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
