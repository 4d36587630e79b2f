/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/support/unit_test.h"
#include "waiting_fixture.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- CPU time beside waits ---- */

enum { FUNCTIONS = 24 };

struct mixed {
	unsigned long seed;
	size_t runs;  /* 0: one attached recording with a timeline */
	double times; /* CPU time of function 0, times this */
	bool with_waits;
};

static void add_cpu(struct synthetic *s, gsl_rng *rng, const struct mixed *mixed, double seconds)
{
	char frames[80];

	for (int i = 0; i < FUNCTIONS; i++) {
		double mean = 400.0 / (1 + i) * (i == 0 ? mixed->times : 1);
		unsigned int count = gsl_ran_poisson(rng, mean);

		snprintf(frames, sizeof(frames), "main#1;module_%d#%d;f_%d#%d", i % 3, 2 + i % 3, i, 10 + i);
		for (unsigned int k = 0; k < count; k++)
			synthetic_add(s, synthetic_stack(s, frames), 1,
				mixed->runs ? -1 : gsl_ran_flat(rng, 0, seconds * 1000));
	}
}

/* Waits of every class, below functions that run as well and in threads that never do. */
static void add_waits(struct synthetic *s, gsl_rng *rng, const struct mixed *mixed, double seconds)
{
	for (int i = 0; i < 300; i++) {
		enum profile_wait_class wait_class = (enum profile_wait_class)(i % PROFILE_WAIT_COUNT);
		uint32_t stack = waiting_stack(
			s, i % 2 ? "main#1;module_0#2;f_0#10;futex_wait!kernel" : "main#1;worker#99", wait_class);

		waiting_add(s, stack, wait_class, gsl_ran_pareto(rng, 1.2, 10),
			mixed->runs ? -1 : gsl_ran_flat(rng, 0, seconds * 1000));
	}
}

static struct profile *record(const struct mixed *mixed)
{
	struct synthetic s = mixed->with_waits ? waiting_create() : synthetic_create();
	gsl_rng *cpu = gsl_rng_alloc(gsl_rng_mt19937), *waits = gsl_rng_alloc(gsl_rng_mt19937);
	const double seconds = 8;

	gsl_rng_set(cpu, mixed->seed);
	gsl_rng_set(waits, mixed->seed + 1);
	for (size_t run = 0; run < (mixed->runs ? mixed->runs : 1); run++) {
		synthetic_run(&s, mixed->runs > 0, seconds * 1000);
		add_cpu(&s, cpu, mixed, seconds);
		if (mixed->with_waits)
			add_waits(&s, waits, mixed, seconds);
	}
	gsl_rng_free(cpu);
	gsl_rng_free(waits);
	return synthetic_finish(&s);
}

static void assert_same_number(double a, double b)
{
	assert_true(a == b || (isnan(a) && isnan(b)));
}

static void assert_same_estimate(const struct diff_estimate *a, const struct diff_estimate *b)
{
	assert_same_number(a->base, b->base);
	assert_same_number(a->head, b->head);
	assert_same_number(a->delta, b->delta);
	assert_same_number(a->ci_low, b->ci_low);
	assert_same_number(a->ci_high, b->ci_high);
	assert_same_number(a->q, b->q);
	assert_same_number(a->detectable, b->detectable);
	assert_int_equal(a->state, b->state);
}

static void assert_same_warnings(const struct diff *a, const struct diff *b)
{
	assert_int_equal(a->warning_count, b->warning_count);
	for (size_t i = 0; i < a->warning_count; i++)
		assert_string_equal(diff_string(a, a->warnings[i].text), diff_string(b, b->warnings[i].text));
}

/* Every figure of `plain` is in `waits` as well; what `waits` has beside it is 0. */
static void assert_same_figures(const struct diff *plain, const struct diff *waits)
{
	size_t with_time = 0;

	assert_same_estimate(&plain->total, &waits->total);
	for (size_t i = 0; i < plain->function_count; i++) {
		const struct diff_function *f = &plain->functions[i];
		const struct diff_function *g = synthetic_function(waits, diff_string(plain, f->name));

		assert_same_estimate(&f->self, &g->self);
		assert_same_estimate(&f->total, &g->total);
		assert_int_equal(f->tier, g->tier);
	}
	for (size_t i = 0; i < waits->function_count; i++)
		with_time += waits->functions[i].total.base > 0 || waits->functions[i].total.head > 0;
	assert_int_equal(with_time, plain->function_count);
	assert_int_equal(plain->scale.mode, waits->scale.mode);
	assert_same_number(plain->scale.factor, waits->scale.factor);
	assert_same_number(plain->scale.factor_low, waits->scale.factor_low);
	assert_same_number(plain->scale.other_factor, waits->scale.other_factor);
	assert_memory_equal(&plain->evidence, &waits->evidence, sizeof(plain->evidence));
	assert_same_number(plain->needs_times_samples, waits->needs_times_samples);
	assert_int_equal(plain->verdict, waits->verdict);
	assert_string_equal(diff_string(plain, plain->verdict_text), diff_string(waits, waits->verdict_text));
	assert_string_equal(diff_string(plain, plain->scale_text), diff_string(waits, waits->scale_text));
	assert_same_warnings(plain, waits);
}

static struct diff *compare_cpu(size_t runs, double times, bool with_waits)
{
	struct profile *base = record(&(struct mixed){ 1, runs, 1, with_waits });
	struct profile *head = record(&(struct mixed){ 2, runs, times, with_waits });

	return synthetic_compare(base, head, &(struct diff_options){ .metric = "cpu" });
}

static void cpu_time_is_compared_as_if_there_were_no_waits(void **state)
{
	static const size_t runs[] = { 0, 2, 5 };
	static const double times[] = { 1, 3 };

	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++)
		for (size_t k = 0; k < sizeof(times) / sizeof(times[0]); k++) {
			CLEANUP(diff_cleanup) struct diff *plain = compare_cpu(runs[i], times[k], false);
			CLEANUP(diff_cleanup) struct diff *waits = compare_cpu(runs[i], times[k], true);

			if (runs[i] >= 3)
				assert_int_equal(
					synthetic_function(plain, "f_0")->self.state == DIFF_STATE_MORE, times[k] > 1);
			assert_same_figures(plain, waits);
		}
}

/* ---- What threads wait for ---- */

/* Waiting milliseconds per second of recording, and CPU milliseconds. */
struct service {
	double cache, disk, idle, preempted, cpu;
	size_t runs; /* 0: one attached recording */
};

static const struct service usual = { 600, 300, 2000, 50, 200, 5 };

static const char cache[] = "main#1;serve#2;Cache::get#3;std::mutex::lock#4;pthread_mutex_lock!libc;futex_wait!kernel";
static const char preempted[] = "main#1;serve#2;asm_sysvec_apic_timer_interrupt!kernel;exit_to_user_mode_loop!kernel;"
				"schedule!kernel";

/* So much waiting of one second, in waits of 10 ms that differ a little from second to second. */
static void add_second(struct synthetic *s, gsl_rng *rng, const char *frames, enum profile_wait_class wait_class,
	double ms, double time_ms)
{
	uint32_t stack = waiting_stack(s, frames, wait_class);
	double left = ms * (1 + gsl_ran_gaussian(rng, 0.02));

	for (; left > 0; left -= 10)
		waiting_add(
			s, stack, wait_class, fmin(left, 10), time_ms < 0 ? -1 : time_ms + gsl_ran_flat(rng, 0, 1000));
	if (strcmp(frames, cache) == 0)
		waiting_release(s, stack, synthetic_stack(s, "main#1;sweep#8;Cache::evict#9;pthread_mutex_unlock!libc"),
			"cache_mutex", ms / 2);
}

static struct profile *serve(const struct service *service, unsigned long seed)
{
	enum { SECONDS = 8 };
	struct synthetic s = waiting_create();
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);

	gsl_rng_set(rng, seed);
	for (size_t run = 0; run < (service->runs ? service->runs : 1); run++) {
		synthetic_run(&s, service->runs > 0, SECONDS * 1000);
		for (int second = 0; second < SECONDS; second++) {
			double time_ms = service->runs ? -1 : second * 1000;

			add_second(&s, rng, cache, PROFILE_WAIT_LOCK, service->cache, time_ms);
			add_second(&s, rng, "main#1;serve#2;read_page#5;pread!libc", PROFILE_WAIT_IO, service->disk,
				time_ms);
			add_second(
				&s, rng, "main#1;serve#2;epoll_wait!libc", PROFILE_WAIT_IDLE, service->idle, time_ms);
			add_second(&s, rng, preempted, PROFILE_WAIT_RUN_QUEUE, service->preempted, time_ms);
			for (int k = 0; k < (int)service->cpu; k++)
				synthetic_add(&s,
					synthetic_stack(&s, k % 2 ? "main#1;serve#2;parse#6" : "main#1;serve#2;hash#7"),
					1, service->runs ? -1 : time_ms + k);
		}
	}
	gsl_rng_free(rng);
	return synthetic_finish(&s);
}

static struct diff *compare_by(
	const struct service *base, const struct service *head, const char *metric, enum diff_scale_mode scale)
{
	return synthetic_compare(
		serve(base, 1), serve(head, 2), &(struct diff_options){ .metric = metric, .scale = scale });
}

static struct diff *compare_services(const struct service *base, const struct service *head, const char *metric)
{
	return compare_by(base, head, metric, DIFF_SCALE_AUTO);
}

static void assert_verdict(const struct diff *diff, enum diff_verdict verdict, const char *begin, const char *end)
{
	const char *text = diff_string(diff, diff->verdict_text);
	size_t size = strlen(text), tail = strlen(end);

	print_message("%s\n", text);
	assert_int_equal(diff->verdict, verdict);
	assert_memory_equal(text, begin, strlen(begin));
	assert_true(size >= tail);
	assert_string_equal(text + size - tail, end);
}

static void a_verdict_of_waiting_time_says_for_what(void **state)
{
	struct service slow = usual;
	struct diff *diff;

	slow.cache = 2400;
	diff = compare_services(&usual, &slow, "off-cpu");
	assert_int_equal(diff->scale.mode, DIFF_SCALE_PER_RUN);
	assert_verdict(diff, DIFF_REGRESSED,
		"`Cache::get` waits longer for the lock `cache_mutex`, held by `Cache::evict`: +14 s per run, ",
		" times)");
	assert_non_null(strstr(diff_string(diff, diff->verdict_text), " % of the increase; the program waits 3.0"));
	diff_destroy(diff);
	diff = compare_services(&slow, &usual, "off-cpu");
	assert_verdict(diff, DIFF_IMPROVED,
		"`Cache::get` waits less for the lock `cache_mutex`, held by `Cache::evict`: -14 s per run, ", " %)");
	assert_non_null(strstr(diff_string(diff, diff->verdict_text), " % of the decrease; the program waits 66."));
	assert_non_null(strstr(diff_string(diff, diff->verdict_text), " % less per run (95 % interval "));
	diff_destroy(diff);
	diff = compare_services(&usual, &usual, "off-cpu");
	assert_verdict(diff, DIFF_UNCHANGED, "equal within ", " %)");
	diff_destroy(diff);
}

/* A class of waits has a limit under the name of its frame and under that of the verdict. */
static void a_class_of_waits_is_held_to_its_limit(void **state)
{
	static const struct {
		const char *rule;
		bool fails;
	} cases[] = {
		{ "function:[waiting: lock]>50%", true },
		{ "function:waiting for a lock>50%", true },
		{ "function:waiting for a lock>500%", false },
		{ "function:waiting for a timer>50%", false },
		{ "function:waiting for a locker>50%", false },
	};
	struct service slow = usual;
	struct profile *profiles[2];

	slow.cache = 2400;
	profiles[0] = serve(&usual, 1);
	profiles[1] = serve(&slow, 2);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct diff_gate gate;
		struct diff_options options = { .metric = "off-cpu", .gates = &gate, .gate_count = 1 };
		struct error err;
		CLEANUP(diff_cleanup) struct diff *diff = NULL;

		assert_true(diff_gate_parse(cases[i].rule, &gate, &err));
		diff = synthetic_diff(profiles[0], profiles[1], &options);
		assert_int_equal(diff->gate_failed, cases[i].fails);
	}
	profile_destroy(profiles[0]);
	profile_destroy(profiles[1]);
}

static void a_verdict_of_wall_clock_time_says_which_part_waits(void **state)
{
	struct service slow = usual, busy = usual, both = usual;
	struct diff *diff;

	slow.cache = 850;
	diff = compare_services(&usual, &slow, NULL);
	assert_verdict(diff, DIFF_REGRESSED,
		"`Cache::get` waits longer for the lock `cache_mutex`, held by `Cache::evict`: +", " %)");
	assert_non_null(strstr(diff_string(diff, diff->verdict_text),
		" s more waiting time, CPU time unchanged; the program takes 2"));
	assert_non_null(strstr(diff_string(diff, diff->verdict_text), "more wall-clock time per run (95 % interval "));
	diff_destroy(diff);
	busy.cpu = 900;
	diff = compare_services(&usual, &busy, "wall");
	assert_verdict(diff, DIFF_REGRESSED, "`hash` takes ", " %)");
	assert_non_null(strstr(diff_string(diff, diff->verdict_text),
		", 50 % of the increase, and `parse` 50 %; 5.6 s more CPU time, waiting time unchanged; the program takes 6"));
	assert_int_equal(diff->named_wait, PROFILE_NONE);
	diff_destroy(diff);
	both.cache = 1100;
	both.disk = 550;
	diff = compare_services(&usual, &both, "wall");
	assert_verdict(diff, DIFF_REGRESSED,
		"`Cache::get` waits longer for the lock `cache_mutex`, held by `Cache::evict`: +", " %)");
	assert_non_null(strstr(diff_string(diff, diff->verdict_text),
		"; `read_page` waits longer for input or output: +2.0 s per run, 34 %; "));
	assert_non_null(strstr(diff_string(diff, diff->verdict_text), ", CPU time unchanged; the program takes "));
	diff_destroy(diff);
}

/* A lock that a minor part of the waiting is for: the total does not decide. */
static void a_wait_is_named_where_the_total_does_not_tell(void **state)
{
	struct service base = usual, head = usual;
	CLEANUP(diff_cleanup) struct diff *diff = NULL;

	base.disk = head.disk = 6000;
	base.runs = head.runs = 0;
	base.cache = 200;
	head.cache = 6000;
	diff = compare_services(&base, &head, "off-cpu");
	assert_int_equal(diff->scale.mode, DIFF_SCALE_RATE);
	assert_verdict(diff, DIFF_REGRESSED,
		"`Cache::get` waits for the lock `cache_mutex`, held by `Cache::evict`: 29.", " times)");
	assert_non_null(strstr(diff_string(diff, diff->verdict_text), " in base; no load explains this"));
}

/* The function holds the lock asleep, too, so that it is not proven itself: the way to its lock is. */
static void a_wait_is_named_through_the_function_that_waits(void **state)
{
	struct profile *profiles[DIFF_SIDES];
	CLEANUP(diff_cleanup) struct diff *diff = NULL;

	for (int side = 0; side < DIFF_SIDES; side++) {
		gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
		struct synthetic s = waiting_create();

		gsl_rng_set(rng, 1);
		synthetic_run(&s, false, 10000);
		for (int second = 0; second < 10; second++) {
			add_second(&s, rng, cache, PROFILE_WAIT_LOCK, side ? 8000 : 200, second * 1000);
			add_second(&s, rng, "main#1;serve#2;Cache::get#3;usleep!libc", PROFILE_WAIT_TIMER,
				side ? 5000 : 4000, second * 1000);
			add_second(&s, rng, "main#1;join#12;pthread_join!libc", PROFILE_WAIT_LOCK, 3000, second * 1000);
		}
		gsl_rng_free(rng);
		profiles[side] = synthetic_finish(&s);
	}
	diff = synthetic_diff(profiles[0], profiles[1], &(struct diff_options){ .metric = "off-cpu" });
	assert_int_equal(synthetic_function(diff, "Cache::get")->total.state, DIFF_STATE_UNPROVEN);
	assert_verdict(diff, DIFF_REGRESSED,
		"`Cache::get` waits for the lock `cache_mutex`, held by `Cache::evict`: 39.", " times)");
	profile_destroy(profiles[0]);
	profile_destroy(profiles[1]);
}

static void idle_time_is_compared_only_if_asked_for(void **state)
{
	struct service idle = usual;
	struct diff *diff;

	idle.idle = 9000;
	diff = compare_services(&usual, &idle, "wall");
	assert_int_equal(diff->verdict, DIFF_UNCHANGED);
	assert_true(diff->waits[PROFILE_WAIT_IDLE].total.delta > 0);
	assert_int_equal(diff->waits[PROFILE_WAIT_IDLE].total.state, DIFF_STATE_SAME);
	diff_destroy(diff);
	diff = compare_services(&usual, &idle, "idle");
	assert_verdict(diff, DIFF_REGRESSED, "`serve` waits longer for work: +", " times)");
	assert_non_null(strstr(diff_string(diff, diff->verdict_text), "; the program is idle 4."));
	diff_destroy(diff);
}

static void services_are_compared_per_second(void **state)
{
	static const char *const metrics[] = { "off-cpu", "wall", "idle" };
	struct service attached = usual;

	attached.runs = 0;
	for (size_t i = 0; i < 3; i++) {
		CLEANUP(diff_cleanup) struct diff *diff = compare_services(&attached, &attached, metrics[i]);

		assert_int_equal(diff->scale.mode, DIFF_SCALE_RATE);
		assert_true(diff->scale.factor == 1);
		assert_true(diff->scale.other_factor == 0);
	}
}

static bool warns_of(const struct diff *diff, const char *text)
{
	for (size_t i = 0; i < diff->warning_count; i++)
		if (strstr(diff_string(diff, diff->warnings[i].text), text))
			return true;
	return false;
}

static void busier_cpus_are_told_of(void **state)
{
	static const char busier[] =
		"threads that could run waited for a CPU for 50 % of the time in head and 20 % in base";
	struct service busy = usual;
	struct diff *diff;

	busy.preempted = 200;
	diff = compare_services(&usual, &busy, "wall");
	assert_true(warns_of(diff, busier));
	diff_destroy(diff);
	diff = compare_services(&usual, &busy, "cpu");
	assert_false(warns_of(diff, "waited for a CPU"));
	diff_destroy(diff);
	diff = compare_services(&usual, &usual, "wall");
	assert_false(warns_of(diff, "waited for a CPU"));
	diff_destroy(diff);
}

/* ---- The model ---- */

static size_t function_id(const struct diff *diff, const char *name)
{
	return (size_t)(synthetic_function(diff, name) - diff->functions);
}

static void waits_are_told_by_class_and_place(void **state)
{
	struct service slow = usual;
	CLEANUP(diff_cleanup) struct diff *diff = NULL;
	const struct diff_wait_site *place;
	double lock, all = 0;

	slow.cache = 2400;
	diff = compare_services(&usual, &slow, "off-cpu");
	lock = diff->waits[PROFILE_WAIT_LOCK].raw[DIFF_HEAD];
	assert_true(diff->has_waits);
	assert_true(fabs(lock / (2.4e9 * 8 * 5) - 1) < 0.02);
	assert_true(lock == synthetic_function(diff, "[waiting: lock]")->raw_total[DIFF_HEAD]);
	assert_int_equal(diff->waits[PROFILE_WAIT_LOCK].total.state, DIFF_STATE_MORE);
	assert_int_equal(diff->waits[PROFILE_WAIT_IO].total.state, DIFF_STATE_SAME);
	for (int i = 0; i < PROFILE_WAIT_COUNT; i++)
		all += i == PROFILE_WAIT_IDLE || i == PROFILE_WAIT_RUN_QUEUE ? 0 : diff->waits[i].raw[DIFF_HEAD];
	assert_true(fabs(all / diff->raw_total[DIFF_HEAD] - 1) < 1e-9);
	place = &diff->wait_sites[0];
	assert_int_equal(diff->named_wait, 0);
	assert_int_equal(place->wait_class, PROFILE_WAIT_LOCK);
	assert_int_equal(place->function, function_id(diff, "Cache::get"));
	assert_string_equal(diff_string(diff, place->lock), "cache_mutex");
	assert_int_equal(diff_released_by(diff, place), function_id(diff, "Cache::evict"));
	assert_int_equal(place->release_count, 1);
	assert_true(diff->wait_releases[place->first_release].raw[DIFF_HEAD] == 1.2e9 * 8 * 5);
	assert_int_equal(diff->wait_sites[diff->wait_site_count - 1].wait_class, PROFILE_WAIT_IDLE);
}

static void frames_of_waits_come_last(void **state)
{
	CLEANUP(diff_cleanup) struct diff *diff = compare_services(&usual, &usual, "wall");
	bool met = false;

	for (size_t i = 0; i < diff->function_count; i++) {
		bool is_wait = diff_wait_class(diff, &diff->functions[i]) != PROFILE_WAIT_NONE;

		assert_true(is_wait || !met);
		met = met || is_wait;
	}
	assert_true(met);
}

/* ---- The machine's ---- */

/* The timer's interrupt took the CPU away; the time until it was given back is told, but as the machine's. */
static void being_preempted_is_waiting(void **state)
{
	CLEANUP(diff_cleanup) struct diff *diff = compare_services(&usual, &usual, "off-cpu");
	double origins = 0;

	assert_true(diff->interrupts.raw[DIFF_HEAD] == 0);
	assert_true(diff->waits[PROFILE_WAIT_RUN_QUEUE].total.head > 0);
	assert_true(diff->waits[PROFILE_WAIT_RUN_QUEUE].total.head == synthetic_function(diff, "schedule")->total.head);
	assert_true(diff->run_queue.raw[DIFF_HEAD] == diff->waits[PROFILE_WAIT_RUN_QUEUE].raw[DIFF_HEAD]);
	assert_true(diff->run_queue.head == diff->waits[PROFILE_WAIT_RUN_QUEUE].total.head);
	/* The ledger adds up without it. */
	for (int i = 0; i < PROFILE_ORIGIN_COUNT; i++)
		origins += diff->origins[i].head;
	assert_true(origins == diff->total.head);
	assert_true(fabs(diff->node_total[DIFF_HEAD][0] - diff->total.head) < 1);
}

/* Other programs want the CPUs in head: no metric of an unchanged program grows by that. */
static void other_programs_are_no_change_of_this_one(void **state)
{
	static const char *const metrics[] = { "wall", "off-cpu" };
	static const size_t runs[] = { 0, 2, 5 };

	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++)
		for (size_t k = 0; k < sizeof(metrics) / sizeof(metrics[0]); k++) {
			struct service quiet = usual, noisy = usual;
			const struct diff_estimate *waited;
			CLEANUP(diff_cleanup) struct diff *diff = NULL;

			quiet.runs = noisy.runs = runs[i];
			noisy.preempted = 3000;
			diff = compare_services(&quiet, &noisy, metrics[k]);
			waited = &diff->waits[PROFILE_WAIT_RUN_QUEUE].total;
			assert_true(diff->verdict != DIFF_REGRESSED && diff->verdict != DIFF_IMPROVED);
			assert_false(diff_state_is_difference(diff->total.state));
			assert_true(fabs(diff->total.delta) < 0.05 * diff->total.base);
			assert_true(waited->delta > 20 * waited->base);
			/* Its own difference is proven where runs can prove it, and in no list of functions. */
			assert_true(runs[i] < 5 || waited->state == DIFF_STATE_MORE);
			assert_true(runs[i] < 5 || waited->ci_low > 0);
			for (size_t f = 0; f < diff->function_count; f++)
				assert_true(!diff->functions[f].interrupt ||
					    diff->functions[f].total.state == DIFF_STATE_SAME);
		}
}

/* In the report of one recording it is where the time went. */
static void one_recording_has_it_in_its_total(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = serve(&usual, 1);
	CLEANUP(diff_cleanup) struct diff *diff = NULL;
	double all = 0;
	struct error err;

	assert_true(diff_create_single(profile, &(struct diff_options){ .metric = "off-cpu" }, &diff, &err));
	for (int i = 0; i < PROFILE_WAIT_COUNT; i++)
		all += i == PROFILE_WAIT_IDLE ? 0 : diff->waits[i].raw[DIFF_HEAD];
	assert_true(fabs(all / diff->raw_total[DIFF_HEAD] - 1) < 1e-9);
	assert_true(diff->run_queue.raw[DIFF_HEAD] == 0);
}

/* Both frames stand in the same place, with similar names and as much time. */
static void a_class_is_no_rename_of_another_one(void **state)
{
	struct profile *profiles[DIFF_SIDES];
	CLEANUP(diff_cleanup) struct diff *diff = NULL;

	for (int side = 0; side < DIFF_SIDES; side++) {
		enum profile_wait_class wait_class = side ? PROFILE_WAIT_IO : PROFILE_WAIT_OTHER;
		struct synthetic s = waiting_create();

		synthetic_run(&s, false, 10000);
		for (int i = 0; i < 1000; i++)
			waiting_add(&s, waiting_stack(&s, "main#1;work#2", wait_class), wait_class, 10, i * 10);
		profiles[side] = synthetic_finish(&s);
	}
	diff = synthetic_diff(profiles[0], profiles[1], &(struct diff_options){ .metric = "off-cpu" });
	assert_int_equal(synthetic_function(diff, "[waiting: io]")->self.state, DIFF_STATE_NEW);
	assert_int_equal(synthetic_function(diff, "[waiting: other]")->self.state, DIFF_STATE_GONE);
	profile_destroy(profiles[0]);
	profile_destroy(profiles[1]);
}

/* Another lock, in another function: all waits for locks end in one frame, which does not make them one. */
static void waits_in_another_place_have_not_moved(void **state)
{
	struct profile *profiles[DIFF_SIDES];
	CLEANUP(diff_cleanup) struct diff *diff = NULL;

	for (int side = 0; side < DIFF_SIDES; side++) {
		struct synthetic s = waiting_create();

		for (int run = 0; run < 5; run++) {
			synthetic_run(&s, true, 10000);
			for (int i = 0; i < 400 + run; i++) {
				bool first = i % 10 == 0 ? !side : side;
				const char *frames = first ? "main#1;get#2;pthread_mutex_lock!libc"
							   : "main#1;put#3;pthread_mutex_lock!libc";

				waiting_add(
					&s, waiting_stack(&s, frames, PROFILE_WAIT_LOCK), PROFILE_WAIT_LOCK, 10, -1);
			}
		}
		profiles[side] = synthetic_finish(&s);
	}
	diff = synthetic_diff(profiles[0], profiles[1], &(struct diff_options){ .metric = "off-cpu" });
	assert_int_equal(synthetic_function(diff, "get")->total.state, DIFF_STATE_MORE);
	assert_int_equal(synthetic_function(diff, "put")->total.state, DIFF_STATE_LESS);
	assert_int_equal(diff->verdict, DIFF_MIXED);
	profile_destroy(profiles[0]);
	profile_destroy(profiles[1]);
}

/* Asked to compare at equal load, of which waits tell nothing. */
static void waits_do_not_tell_the_load(void **state)
{
	struct service attached = usual;
	struct profile *base, *head;
	CLEANUP(diff_cleanup) struct diff *diff = NULL;

	attached.runs = 0;
	base = serve(&attached, 1);
	head = serve(&attached, 2);
	diff = synthetic_compare(base, head, &(struct diff_options){ .metric = "off-cpu", .scale = DIFF_SCALE_ROBUST });
	assert_true(diff->scale.load_is_unknown);
	assert_int_equal(diff->verdict, DIFF_INCONCLUSIVE);
}

static void one_profile_tells_its_waits(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = serve(&usual, 1);
	CLEANUP(diff_cleanup) struct diff *diff = NULL;
	struct error err;

	assert_true(diff_create_single(profile, NULL, &diff, &err));
	assert_string_equal(diff_string(diff, diff->metric_words), "wall-clock time");
	assert_int_equal(diff->waiting, DIFF_WAITING_PART);
	assert_int_equal(diff->wait_sites[0].function, function_id(diff, "Cache::get"));
	assert_int_equal(diff_released_by(diff, &diff->wait_sites[0]), function_id(diff, "Cache::evict"));
	assert_true(diff->waits[PROFILE_WAIT_IO].raw[DIFF_HEAD] > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cpu_time_is_compared_as_if_there_were_no_waits),
		cmocka_unit_test(a_verdict_of_waiting_time_says_for_what),
		cmocka_unit_test(a_verdict_of_wall_clock_time_says_which_part_waits),
		cmocka_unit_test(a_class_of_waits_is_held_to_its_limit),
		cmocka_unit_test(a_wait_is_named_where_the_total_does_not_tell),
		cmocka_unit_test(a_wait_is_named_through_the_function_that_waits),
		cmocka_unit_test(idle_time_is_compared_only_if_asked_for),
		cmocka_unit_test(services_are_compared_per_second),
		cmocka_unit_test(busier_cpus_are_told_of),
		cmocka_unit_test(waits_are_told_by_class_and_place),
		cmocka_unit_test(frames_of_waits_come_last),
		cmocka_unit_test(being_preempted_is_waiting),
		cmocka_unit_test(other_programs_are_no_change_of_this_one),
		cmocka_unit_test(one_recording_has_it_in_its_total),
		cmocka_unit_test(a_class_is_no_rename_of_another_one),
		cmocka_unit_test(waits_in_another_place_have_not_moved),
		cmocka_unit_test(waits_do_not_tell_the_load),
		cmocka_unit_test(one_profile_tells_its_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
