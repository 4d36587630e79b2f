/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulation_fixture.h"
#include "tests/unit/support/drawn_spread.h"
#include "tests/unit/support/unit_test.h"
#include "waiting_fixture.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <string.h>

/*
 * Services that wait, recorded twice: seeded, so that a figure changes only when the rule does. Every wait is drawn,
 * and the recorder's estimator chooses those that are seen: threads add up their waits, and the wait at which the sum
 * reaches the interval is written with the whole intervals in it (docs/decisions/49-waiting.md).
 */

enum { MAX_PLACES = 16, INTERVAL_MS = 10, PAIRS = 20 };

/* Somewhere in a service where threads wait. */
struct place {
	const char *frames;
	enum profile_wait_class wait_class;
	double per_second, mean_ms; /* of all threads together */
	/* Shape of the waits' lengths: 0: exponential; else a Pareto distribution of this exponent, which has heavy
	 * tails. */
	double tail;
	/*
	 * A lock: it is taken `per_second` times, and held for mean_ms on average. Who waits for how long follows.
	 */
	bool is_lock;
	/* Relative standard deviation of how often threads wait, between starts and between quarters of a second. */
	double process_rsd, burst_rsd;
};

struct service {
	const char *name;
	size_t threads;
	struct place places[MAX_PLACES];
};

/* How a recording differs from the service: the lengths of one place, or the times for which its lock is held. */
struct variant {
	size_t place;
	double times;     /* multiplied by this */
	double single_ms; /* one more wait, of place 0; 0: none */
};

static const struct service pool = { "thread pool", 16,
	{ { "main#1;worker#2;Queue::pop#3;pthread_cond_wait!libc", PROFILE_WAIT_LOCK, 3000, 2, 0, false, 0.15, 0.3 },
		{ "main#1;worker#2;Cache::get#4;pthread_mutex_lock!libc", PROFILE_WAIT_LOCK, 1500, 0.1, 0, true, 0.1,
			0 },
		{ "main#1;worker#2;Log::write#5;pthread_mutex_lock!libc", PROFILE_WAIT_LOCK, 400, 1, 0, false, 0.2,
			0.5 },
		{ "main#1;worker#2;fetch#6;recv!libc", PROFILE_WAIT_NETWORK, 800, 4, 0, false, 0.15, 0.3 },
		{ "main#1;worker#2", PROFILE_WAIT_RUN_QUEUE, 2000, 0.4, 0, false, 0.2, 0.5 } } };

static const struct service loop = { "event loop", 2,
	{ { "main#1;serve#2;epoll_wait!libc", PROFILE_WAIT_IDLE, 900, 1.6, 0, false, 0.1, 0.2 },
		{ "main#1;serve#2;flush#3;fsync!libc", PROFILE_WAIT_IO, 20, 6, 2.5, false, 0.2, 0.3 },
		{ "main#1;serve#2;resolve#4;recv!libc", PROFILE_WAIT_NETWORK, 15, 12, 2.5, false, 0.2, 0.3 },
		{ "main#1;tick#5;nanosleep!libc", PROFILE_WAIT_TIMER, 10, 60, 0, false, 0.02, 0.05 } } };

static const struct service database = { "database", 24,
	{ { "main#1;client#2;commit#3;fdatasync!libc", PROFILE_WAIT_IO, 1.5, 180, 1.8, false, 0.2, 0.5 },
		{ "main#1;client#2;BufferPool::pin#4;pthread_mutex_lock!libc", PROFILE_WAIT_LOCK, 500, 0.4, 0, true,
			0.1, 0 },
		{ "main#1;client#2;LockTable::wait#5;pthread_cond_wait!libc", PROFILE_WAIT_LOCK, 30, 40, 1.6, false,
			0.25, 1 },
		{ "main#1;client#2;read_page#6;pread!libc", PROFILE_WAIT_IO, 700, 1.2, 2.2, false, 0.2, 0.5 },
		{ "main#1;checkpoint#7;write_page#8;pwrite!libc", PROFILE_WAIT_IO, 60, 5, 2.2, false, 0.25, 2 },
		{ "main#1;client#2;send_rows#9;send!libc", PROFILE_WAIT_NETWORK, 300, 1, 2.2, false, 0.2, 0.5 } } };

static double noise(gsl_rng *rng, double rsd)
{
	return rsd > 0 ? gsl_ran_gamma(rng, 1 / (rsd * rsd), rsd * rsd) : 1;
}

/* Lengths in milliseconds; none takes longer than a second. */
static double draw_length(gsl_rng *rng, const struct place *place)
{
	double a = place->tail;

	return a > 0 ? fmin(gsl_ran_pareto(rng, a, place->mean_ms * (a - 1) / a), 1000)
		     : gsl_ran_exponential(rng, place->mean_ms);
}

struct recording {
	struct synthetic profile;
	gsl_rng *rng;
	double sums[64]; /* [thread] waiting time that has not been charged yet */
	size_t threads;
};

/* A wait in any of the threads: written if it is due. */
static void add_wait(struct recording *r, uint32_t stack, const struct place *place, double ms, double time_ms)
{
	double *sum = &r->sums[gsl_rng_uniform_int(r->rng, r->threads)], due;

	*sum += ms;
	due = floor(*sum / INTERVAL_MS) * INTERVAL_MS;
	if (!(due > 0))
		return;
	*sum -= due;
	waiting_add(&r->profile, stack, place->wait_class, due, time_ms);
}

static void add_cpu(struct recording *r, double seconds)
{
	static const char *const stacks[] = { "main#1;worker#2;parse#20", "main#1;worker#2;render#21",
		"main#1;serve#2;hash#22" };

	for (size_t i = 0; i < 3; i++) {
		unsigned int count = gsl_ran_poisson(r->rng, 100 * seconds * noise(r->rng, 0.1));
		uint32_t stack = synthetic_stack(&r->profile, stacks[i]);

		for (unsigned int k = 0; k < count; k++)
			synthetic_add(&r->profile, stack, 1, gsl_ran_flat(r->rng, 0, seconds * 1000));
	}
}

/*
 * Who takes a lock waits until those before him have had it (Lindley 1952): the time in the queue grows with the square
 * of the time for which the lock is held, and beyond that the closer it is to being held always.
 */
static void add_lock(struct recording *r, const struct place *place, double seconds, double times)
{
	uint32_t stack = waiting_stack(&r->profile, place->frames, place->wait_class);
	double per_ms = place->per_second / 1000 * noise(r->rng, place->process_rsd), queue_ms = 0, now_ms = 0;

	while (now_ms < seconds * 1000) {
		double until_next = gsl_ran_exponential(r->rng, 1 / per_ms);

		if (queue_ms > 0)
			add_wait(r, stack, place, queue_ms, now_ms);
		queue_ms = fmax(0, queue_ms + gsl_ran_exponential(r->rng, place->mean_ms * times) - until_next);
		now_ms += until_next;
	}
}

/* A start has no more than so many times the waits: the simulation would take too long. */
static const double most_process = 10;

static void add_place(struct recording *r, const struct place *place, double seconds, double times)
{
	uint32_t stack = waiting_stack(&r->profile, place->frames, place->wait_class);
	double process = fmin(exp(gsl_ran_gaussian(r->rng, place->process_rsd)), most_process);

	for (size_t block = 0; block < (size_t)(seconds * 4); block++) {
		double mean = place->per_second / 4 * process * noise(r->rng, place->burst_rsd);
		unsigned int count = gsl_ran_poisson(r->rng, mean);

		for (unsigned int i = 0; i < count; i++)
			add_wait(r, stack, place, draw_length(r->rng, place) * times,
				(double)block * 250 + gsl_ran_flat(r->rng, 0, 250));
	}
}

/* runs 0: one attached recording; else so many whole commands. */
static struct profile *record(
	const struct service *service, gsl_rng *rng, double seconds, size_t runs, const struct variant *variant)
{
	struct recording r = { .profile = waiting_create(), .rng = rng, .threads = service->threads };

	for (size_t run = 0; run < (runs ? runs : 1); run++) {
		synthetic_run(&r.profile, runs > 0, seconds * 1000);
		for (size_t i = 0; i < r.threads; i++)
			r.sums[i] = gsl_ran_flat(rng, 0, INTERVAL_MS);
		add_cpu(&r, seconds);
		for (size_t i = 0; i < MAX_PLACES && service->places[i].frames; i++) {
			double times = variant->place == i ? variant->times : 1;

			if (service->places[i].is_lock)
				add_lock(&r, &service->places[i], seconds, times);
			else
				add_place(&r, &service->places[i], seconds, times);
		}
		if (variant->single_ms > 0 && run == 0)
			waiting_add(&r.profile,
				waiting_stack(&r.profile, service->places[0].frames, service->places[0].wait_class),
				service->places[0].wait_class, variant->single_ms, seconds * 500);
	}
	return synthetic_finish(&r.profile);
}

/* ---- Pairs ---- */

struct setup {
	const struct service *service;
	const char *metric;
	double seconds;
	size_t runs;
	struct variant head;
	const char *named; /* function that must be found */
	bool is_drawn;     /* by how much starts differ is drawn from what programs do, else the service says it */
	enum diff_scale_mode scale;
};

struct tally {
	size_t pairs, flagged, whole, functions, found, named; /* named: by the verdict */
};

static bool is_named(const struct diff *diff, const char *function)
{
	const char *text = diff_string(diff, diff->verdict_text);

	return diff->named_wait != PROFILE_NONE &&
	       diff->wait_sites[diff->named_wait].function ==
		       (uint32_t)(synthetic_function(diff, function) - diff->functions) &&
	       strstr(text, function) != NULL;
}

static void compare_once(const struct setup *setup, unsigned long seed, struct tally *tally)
{
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
	struct diff_options options = { .metric = setup->metric, .scale = setup->scale };
	struct profile *base, *head;
	struct service service = *setup->service;
	struct flagged flagged;
	struct diff *diff;

	gsl_rng_set(rng, seed);
	for (size_t i = 0; i < MAX_PLACES && setup->is_drawn; i++)
		service.places[i].process_rsd = service.places[i].is_lock ? 0.02 : drawn_spread(rng, EVIDENCE_WAITING);
	base = record(&service, rng, setup->seconds, setup->runs, &(struct variant){ .times = 1 });
	head = record(&service, rng, setup->seconds, setup->runs, &setup->head);
	diff = synthetic_compare(base, head, &options);
	flagged = simulation_flagged(diff);
	tally->pairs++;
	tally->flagged += flagged.functions > 0 || flagged.nodes > 0 || flagged.whole;
	tally->whole += flagged.whole;
	tally->functions += flagged.functions > 0;
	if (setup->named) {
		tally->found += diff_state_is_difference(synthetic_function(diff, setup->named)->total.state);
		tally->named += is_named(diff, setup->named);
	}
	diff_destroy(diff);
	gsl_rng_free(rng);
}

static struct tally simulate(const struct setup *setup, size_t few)
{
	size_t pairs = simulation_pairs(few);
	struct tally tally = { 0 };

	for (unsigned long seed = 1; seed <= pairs; seed++)
		compare_once(setup, seed * 104729, &tally);
	print_message("%s, %s, %.0f s, %zu runs: flagged %zu (whole %zu, functions %zu), found %zu, named %zu of %zu\n",
		setup->service->name, setup->metric, setup->seconds, setup->runs, tally.flagged, tally.whole,
		tally.functions, tally.found, tally.named, pairs);
	return tally;
}

/* 5 % of unchanged pairs may have a function flagged, and 3 % the total; so many are likely (99 %) at that rate. */
static void assert_few_flagged(struct tally tally)
{
	double n = (double)tally.pairs;

	assert_true((double)tally.flagged <= 0.08 * n + 2.33 * sqrt(0.08 * 0.92 * n));
}

static void add_tally(struct tally *all, struct tally one)
{
	all->pairs += one.pairs;
	all->flagged += one.flagged;
}

static const struct service *const services[] = { &pool, &loop, &database };
enum { SERVICES = sizeof(services) / sizeof(services[0]) };

static void equal_services_flag_little(void **state)
{
	static const char *const metrics[] = { "off-cpu", "wall" };

	for (size_t runs = 0; runs <= 5; runs += 5) {
		struct tally all = { 0 };

		for (size_t i = 0; i < 2 * SERVICES; i++) {
			struct setup setup = { .service = services[i / 2],
				.metric = metrics[i % 2],
				.seconds = runs ? 3 : 10,
				.runs = runs,
				.head.times = 1,
				.is_drawn = true };

			add_tally(&all, simulate(&setup, PAIRS));
		}
		assert_few_flagged(all);
	}
}

static void one_long_wait_proves_nothing(void **state)
{
	for (size_t i = 0; i < SERVICES; i++) {
		struct setup setup = { .service = services[i],
			.metric = "off-cpu",
			.seconds = 10,
			.head = { .times = 1, .single_ms = 1000 } };

		assert_few_flagged(simulate(&setup, PAIRS));
	}
}

/* In one recording a start explains it: only runs tell. */
static void a_lock_held_three_times_as_long_is_found(void **state)
{
	static const struct {
		const struct service *service;
		const char *metric, *named;
	} cases[] = { { &pool, "off-cpu", "Cache::get" }, { &pool, "wall", "Cache::get" },
		{ &database, "off-cpu", "BufferPool::pin" } };

	for (size_t i = 0; i < 3; i++) {
		struct setup setup = { .service = cases[i].service,
			.metric = cases[i].metric,
			.seconds = 3,
			.runs = 5,
			.head = { 1, 3, 0 },
			.named = cases[i].named };
		struct tally tally = simulate(&setup, PAIRS);

		assert_true((double)tally.found >= 0.95 * (double)tally.pairs);
	}
}

/* As many waits, each longer: three times as long is within what starts differ by in one recording. */
static void waits_three_times_as_long_are_found(void **state)
{
	struct setup setup = { .service = &pool,
		.metric = "off-cpu",
		.seconds = 10,
		.head = { 3, 3, 0 },
		.named = "fetch",
		.scale = DIFF_SCALE_RATE };
	struct tally tally = simulate(&setup, PAIRS);

	assert_int_equal(tally.found, 0);
	setup.runs = 5;
	setup.seconds = 3;
	setup.scale = DIFF_SCALE_AUTO;
	tally = simulate(&setup, PAIRS);
	assert_true((double)tally.found >= 0.95 * (double)tally.pairs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_services_flag_little),
		cmocka_unit_test(one_long_wait_proves_nothing),
		cmocka_unit_test(a_lock_held_three_times_as_long_is_found),
		cmocka_unit_test(waits_three_times_as_long_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
