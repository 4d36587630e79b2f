/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How elapsed time is shared out: by hand, against a slow oracle, and with records that contradict each other. */
#include "sampler/collect/elapsed.h"
#include "tests/unit/support/unit_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SAMPLES = 4096 };

static int64_t sum_of(const int64_t *shares, size_t count)
{
	int64_t sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += shares[i];
	return sum;
}

static struct elapsed_quality share(
	struct elapsed_point *points, size_t count, size_t threads, int64_t end_ns, int64_t *shares, size_t samples)
{
	struct elapsed_quality quality;
	struct error err;

	memset(shares, 0, samples * sizeof(*shares));
	assert_true(elapsed_share(points, count, threads, end_ns, shares, samples, &quality, &err));
	assert_int_equal(sum_of(shares, samples), end_ns);
	return quality;
}

/* ---- By hand ---- */

static void one_thread_has_what_it_runs_and_waits(void **state)
{
	struct elapsed_point points[] = {
		{ 100, 0, ELAPSED_SAMPLE, 0, 0 },
		{ 400, 0, ELAPSED_OFF, 0, 0 },
		{ 900, 0, ELAPSED_WAIT, 1, 500 },
		{ 900, 0, ELAPSED_ON, 0, 0 },
		{ 1000, 0, ELAPSED_SAMPLE, 2, 0 },
	};
	int64_t shares[3];
	struct elapsed_quality quality = share(points, 5, 1, 1000, shares, 3);

	assert_int_equal(shares[0], 100);
	assert_int_equal(shares[1], 500);
	assert_int_equal(shares[2], 400);
	assert_int_equal(quality.contradictions, 0);
	assert_int_equal(quality.spread_ns, 0);
}

static void threads_that_run_together_share(void **state)
{
	struct elapsed_point points[] = {
		{ 500, 1, ELAPSED_ON, 0, 0 },
		{ 500, 0, ELAPSED_SAMPLE, 0, 0 },
		{ 900, 0, ELAPSED_SAMPLE, 1, 0 },
		{ 900, 1, ELAPSED_SAMPLE, 2, 0 },
		{ 900, 1, ELAPSED_OFF, 0, 0 },
		{ 1000, 0, ELAPSED_SAMPLE, 3, 0 },
	};
	int64_t shares[4];

	share(points, 6, 2, 1000, shares, 4);
	assert_int_equal(shares[0], 500);
	assert_int_equal(shares[1], 200);
	assert_int_equal(shares[2], 200);
	assert_int_equal(shares[3], 100);
}

/* The thread that runs next ends the wait that all waited for; the other's wait is in nobody's way. */
static void a_gap_is_of_the_wait_that_ends_first(void **state)
{
	struct elapsed_point points[] = {
		{ 100, 0, ELAPSED_SAMPLE, 0, 0 },
		{ 100, 0, ELAPSED_OFF, 0, 0 },
		{ 700, 1, ELAPSED_WAIT, 1, 700 },
		{ 700, 1, ELAPSED_ON, 0, 0 },
		{ 800, 0, ELAPSED_WAIT, 2, 700 },
		{ 800, 0, ELAPSED_ON, 0, 0 },
		{ 1000, 0, ELAPSED_SAMPLE, 3, 0 },
		{ 1000, 1, ELAPSED_SAMPLE, 4, 0 },
	};
	int64_t shares[5];

	share(points, 8, 2, 1000, shares, 5);
	assert_int_equal(shares[1], 600);
	assert_int_equal(shares[2], 0);
	assert_int_equal(shares[3], 100);
	assert_int_equal(shares[4], 200);
}

/* First for a lock, then for a CPU. */
static void kinds_of_one_wait_share_by_their_weights(void **state)
{
	struct elapsed_point points[] = {
		{ 0, 0, ELAPSED_OFF, 0, 0 },
		{ 300, 0, ELAPSED_WAIT, 0, 300 },
		{ 400, 0, ELAPSED_WAIT, 1, 100 },
		{ 400, 0, ELAPSED_ON, 0, 0 },
		{ 400, 0, ELAPSED_OFF, 0, 0 },
		{ 800, 0, ELAPSED_ON, 0, 0 },
		{ 800, 0, ELAPSED_WAIT, 2, 400 },
	};
	int64_t shares[3];

	share(points, 7, 1, 800, shares, 3);
	assert_int_equal(shares[0], 300);
	assert_int_equal(shares[1], 100);
	assert_int_equal(shares[2], 400);
}

/* The kernel does not say whose the last switch of a thread was: it has ended. */
static void a_thread_that_has_ended_runs_no_more(void **state)
{
	struct elapsed_point points[] = {
		{ 0, 0, ELAPSED_ON, 0, 0 },
		{ 0, 1, ELAPSED_ON, 0, 0 },
		{ 100, 1, ELAPSED_SAMPLE, 1, 0 },
		{ 200, 1, ELAPSED_END, 0, 0 },
		{ 210, 1, ELAPSED_OFF, 0, 0 },
		{ 220, 1, ELAPSED_ON, 0, 0 },
		{ 230, 1, ELAPSED_SAMPLE, 2, 0 },
		{ 1000, 0, ELAPSED_SAMPLE, 0, 0 },
		/* Another thread gets its number. */
		{ 1000, 1, ELAPSED_BEGIN, 0, 0 },
		{ 1000, 1, ELAPSED_ON, 0, 0 },
		{ 1200, 1, ELAPSED_SAMPLE, 3, 0 },
		{ 1200, 0, ELAPSED_SAMPLE, 0, 0 },
	};
	int64_t shares[4];

	share(points, 12, 2, 1200, shares, 4);
	assert_int_equal(shares[0], 100 + 800 + 100);
	assert_int_equal(shares[1], 50);
	assert_int_equal(shares[2], 50);
	assert_int_equal(shares[3], 100);
}

/* ---- Against an oracle ---- */

/* Threads that run and stop at random; each stretch and each wait ends with a sample. */
struct schedule {
	struct elapsed_point points[MOST_SAMPLES];
	size_t count, threads, samples;
	int64_t end_ns;
};

static void add(struct schedule *s, int64_t time_ns, uint32_t thread, enum elapsed_kind kind)
{
	bool is_sample = kind == ELAPSED_SAMPLE || kind == ELAPSED_WAIT;

	assert_true(s->count < MOST_SAMPLES);
	s->points[s->count++] = (struct elapsed_point){ time_ns, thread, kind, is_sample ? (uint32_t)s->samples++ : 0,
		kind == ELAPSED_WAIT ? 1 : 0 };
}

static struct schedule random_schedule(unsigned int seed)
{
	struct schedule s = { .threads = 1 + seed % 4, .end_ns = 5000 };

	srandom(seed);
	for (uint32_t thread = 0; thread < s.threads; thread++) {
		bool runs = random() % 2;

		for (int64_t at = 1 + random() % 300; at < s.end_ns; at += 1 + random() % 300) {
			add(&s, at, thread, runs ? ELAPSED_SAMPLE : ELAPSED_WAIT);
			add(&s, at, thread, runs ? ELAPSED_OFF : ELAPSED_ON);
			runs = !runs;
		}
		add(&s, s.end_ns, thread, runs ? ELAPSED_SAMPLE : ELAPSED_WAIT);
	}
	return s;
}

/* Nanosecond by nanosecond: whose sample is the next one of a thread that runs, or of the wait that ends next. */
static void walk(const struct schedule *s, double *expected)
{
	for (int64_t now = 0; now < s->end_ns; now++) {
		const struct elapsed_point *next[8] = { NULL };
		int64_t first = INT64_MAX;
		size_t running = 0;

		for (size_t i = 0; i < s->count; i++) {
			const struct elapsed_point *p = &s->points[i];
			bool is_sample = p->kind == ELAPSED_SAMPLE || p->kind == ELAPSED_WAIT;

			if (is_sample && p->time_ns > now &&
				(!next[p->thread] || p->time_ns < next[p->thread]->time_ns))
				next[p->thread] = p;
		}
		for (size_t i = 0; i < s->threads; i++)
			running += next[i] && next[i]->kind == ELAPSED_SAMPLE;
		for (size_t i = 0; i < s->threads; i++)
			if (next[i] && running == 0 && next[i]->time_ns < first)
				first = next[i]->time_ns;
		for (size_t i = 0; i < s->threads; i++) {
			if (next[i] && running > 0 && next[i]->kind == ELAPSED_SAMPLE)
				expected[next[i]->sample] += 1 / (double)running;
			if (next[i] && running == 0 && next[i]->time_ns == first) {
				expected[next[i]->sample] += 1;
				break;
			}
		}
	}
}

static void random_schedules_are_shared_as_by_hand(void **state)
{
	for (unsigned int seed = 1; seed <= 40; seed++) {
		struct schedule s = random_schedule(seed);
		double expected[MOST_SAMPLES] = { 0 };
		int64_t shares[MOST_SAMPLES];
		struct elapsed_quality quality;

		walk(&s, expected);
		quality = share(s.points, s.count, s.threads, s.end_ns, shares, s.samples);
		assert_int_equal(quality.contradictions, 0);
		for (size_t i = 0; i < s.samples; i++)
			assert_true(fabs((double)shares[i] - expected[i]) < 2);
	}
}

/* ---- Records that were lost, or lie ---- */

static void whatever_is_told_the_sum_is_the_time(void **state)
{
	static const enum elapsed_kind kinds[] = { ELAPSED_ON, ELAPSED_OFF, ELAPSED_SAMPLE, ELAPSED_WAIT, ELAPSED_BEGIN,
		ELAPSED_END };

	for (unsigned int seed = 1; seed <= 200; seed++) {
		struct schedule s = { .threads = 1 + seed % 7, .end_ns = seed % 5 ? 100000 : 1 };
		int64_t shares[MOST_SAMPLES];

		srandom(seed);
		add(&s, 5, 0, ELAPSED_SAMPLE);
		for (int i = 0; i < 300; i++)
			add(&s, random() % 120000 - 10000, (uint32_t)(random() % (long)s.threads), kinds[random() % 6]);
		share(s.points, s.count, s.threads, s.end_ns, shares, s.samples);
		for (size_t i = 0; i < s.samples; i++)
			assert_true(shares[i] >= 0);
	}
}

static void lost_switches_are_counted(void **state)
{
	struct elapsed_point points[] = {
		{ 100, 0, ELAPSED_SAMPLE, 0, 0 },
		{ 200, 0, ELAPSED_OFF, 0, 0 },
		{ 300, 0, ELAPSED_OFF, 0, 0 },
		{ 500, 0, ELAPSED_SAMPLE, 1, 0 },
		{ 900, 0, ELAPSED_ON, 0, 0 },
	};
	int64_t shares[2];

	assert_int_equal(share(points, 5, 1, 1000, shares, 2).contradictions, 3);
}

static void time_of_threads_without_samples_is_spread(void **state)
{
	struct elapsed_point points[] = {
		{ 500, 0, ELAPSED_SAMPLE, 0, 0 },
		{ 500, 0, ELAPSED_OFF, 0, 0 },
		{ 500, 1, ELAPSED_ON, 0, 0 },
		{ 900, 1, ELAPSED_OFF, 0, 0 },
	};
	int64_t shares[1];

	assert_int_equal(share(points, 4, 2, 900, shares, 1).spread_ns, 400);
	assert_int_equal(shares[0], 900);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_thread_has_what_it_runs_and_waits),
		cmocka_unit_test(threads_that_run_together_share),
		cmocka_unit_test(a_gap_is_of_the_wait_that_ends_first),
		cmocka_unit_test(kinds_of_one_wait_share_by_their_weights),
		cmocka_unit_test(a_thread_that_has_ended_runs_no_more),
		cmocka_unit_test(random_schedules_are_shared_as_by_hand),
		cmocka_unit_test(whatever_is_told_the_sum_is_the_time),
		cmocka_unit_test(lost_switches_are_counted),
		cmocka_unit_test(time_of_threads_without_samples_is_spread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
