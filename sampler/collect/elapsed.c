/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/collect/elapsed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A thread waits for something, then for a CPU: more kinds in one stretch share as the last ones of them. */
enum { NO_SAMPLE = UINT32_MAX, MOST_WAITS = 4 };

struct elapsed_thread {
	bool is_met, runs, has_ended;
	double mark;                /* virtual time up to which it has been shared out */
	double pending;             /* of its running time, for its next sample */
	double gap;                 /* of time at which nothing ran, for its next wait */
	uint32_t last;              /* its last sample of any kind */
	uint32_t waits[MOST_WAITS]; /* samples of waits since it stopped */
	double weights[MOST_WAITS];
	size_t wait_count;
};

struct elapsed {
	struct elapsed_thread *threads; /* owned */
	double *shares;                 /* owned: [sample] */
	double now;                     /* virtual */
	double gap;                     /* time at which nothing has run, up to now */
	size_t running;
	struct elapsed_thread *waiter; /* that was last sampled in a wait; NULL: none was */
	int64_t waiter_ns;
	int64_t time_ns;
	struct elapsed_quality *quality;
};

static void elapsed_deinit(struct elapsed *e)
{
	free(e->threads);
	free(e->shares);
}

static int collect_elapsed_by_time(const void *left, const void *right)
{
	const struct elapsed_point *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return ORDER(a->time_ns, b->time_ns);
	/* A thread that goes on has waited up to then, and a sample at the end of a stretch is of it. */
	static const int ranks[] = {
		[ELAPSED_BEGIN] = 0,
		[ELAPSED_WAIT] = 1,
		[ELAPSED_ON] = 2,
		[ELAPSED_SAMPLE] = 3,
		[ELAPSED_OFF] = 4,
		[ELAPSED_END] = 5,
	};

	if (a->kind != b->kind)
		return ORDER(ranks[a->kind], ranks[b->kind]);
	return a->thread != b->thread ? ORDER(a->thread, b->thread) : ORDER(a->sample, b->sample);
}

static void pass(struct elapsed *e, int64_t time_ns)
{
	double passed = (double)(time_ns - e->time_ns);

	if (e->running > 0)
		e->now += passed / (double)e->running;
	else
		e->gap += passed;
	e->time_ns = time_ns;
}

/* Gives time at which nothing ran to the waits that the thread has been sampled in since it stopped. */
static bool give_gap(struct elapsed *e, const struct elapsed_thread *thread, double gap)
{
	size_t count = thread->wait_count < MOST_WAITS ? thread->wait_count : MOST_WAITS;
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += thread->weights[i];
	for (size_t i = 0; i < count && sum > 0; i++)
		e->shares[thread->waits[i]] += gap * thread->weights[i] / sum;
	return sum > 0;
}

static void collect_elapsed_go_on(struct elapsed *e, struct elapsed_thread *thread)
{
	if (thread->runs || thread->has_ended)
		return;
	/* The wait that ended may have been sampled just before, or its like will be. */
	if (e->running == 0 && e->gap > 0) {
		if (!give_gap(e, thread, e->gap))
			thread->gap += e->gap;
		e->gap = 0;
	}
	thread->runs = true;
	thread->mark = e->now;
	e->running++;
}

static void stop(struct elapsed *e, struct elapsed_thread *thread)
{
	thread->runs = false;
	thread->wait_count = 0;
	thread->pending += e->now - thread->mark;
	e->running--;
}

static void collect_elapsed_take(struct elapsed *e, const struct elapsed_point *point)
{
	struct elapsed_thread *thread = &e->threads[point->thread];

	switch (point->kind) {
	case ELAPSED_BEGIN:
		thread->has_ended = false;
		break;
	case ELAPSED_END:
		if (thread->runs)
			stop(e, thread);
		thread->has_ended = true;
		break;
	case ELAPSED_ON:
		e->quality->contradictions += thread->runs;
		collect_elapsed_go_on(e, thread);
		break;
	case ELAPSED_OFF:
		e->quality->contradictions += !thread->runs && !thread->has_ended;
		if (thread->runs)
			stop(e, thread);
		break;
	case ELAPSED_SAMPLE:
		e->quality->contradictions += !thread->runs && !thread->has_ended;
		collect_elapsed_go_on(e, thread);
		e->shares[point->sample] += thread->pending + (thread->runs ? e->now - thread->mark : 0);
		thread->pending = 0;
		thread->mark = e->now;
		thread->last = point->sample;
		break;
	case ELAPSED_WAIT:
		e->shares[point->sample] += thread->gap;
		thread->gap = 0;
		thread->last = point->sample;
		thread->waits[thread->wait_count % MOST_WAITS] = point->sample;
		thread->weights[thread->wait_count++ % MOST_WAITS] = point->weight;
		if (!e->waiter || point->time_ns > e->waiter_ns) {
			e->waiter = thread;
			e->waiter_ns = point->time_ns;
		}
		break;
	}
}

/* A thread that is first met while it runs has run from the begin on. */
static void start_running(struct elapsed *e, const struct elapsed_point *points, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct elapsed_thread *thread = &e->threads[points[i].thread];

		if (thread->is_met || points[i].kind == ELAPSED_WAIT)
			continue;
		thread->is_met = true;
		if (points[i].kind != ELAPSED_ON && points[i].kind != ELAPSED_BEGIN) {
			thread->runs = true;
			e->running++;
		}
	}
}

/* Takes what threads have not given to a sample yet. Returns what no thread has a sample for. */
static double end_threads(struct elapsed *e, size_t threads)
{
	double rest = e->gap;

	/* A wait that lasts beyond the end is the next one to end. */
	if (e->waiter && give_gap(e, e->waiter, e->gap))
		rest = 0;
	for (size_t i = 0; i < threads; i++) {
		struct elapsed_thread *thread = &e->threads[i];
		double left;

		if (thread->runs)
			thread->pending += e->now - thread->mark;
		left = thread->pending + thread->gap;
		if (thread->last == NO_SAMPLE)
			rest += left;
		else
			e->shares[thread->last] += left;
	}
	return rest;
}

/* Whole nanoseconds whose sum is `end_ns`: each cumulative sum is rounded. */
static void round_shares(const struct elapsed *e, size_t samples, int64_t end_ns, int64_t *shares)
{
	double sum = 0, up_to = 0;
	int64_t given = 0;

	for (size_t i = 0; i < samples; i++)
		sum += e->shares[i];
	for (size_t i = 0; i < samples; i++) {
		int64_t to;

		up_to += sum > 0 ? e->shares[i] / sum : 1 / (double)samples;
		to = i + 1 == samples ? end_ns : llround(fmin(up_to, 1) * (double)end_ns);
		to = to < given ? given : to;
		shares[i] += to - given;
		given = to;
	}
}

static bool elapsed_init(struct elapsed *e, size_t threads, size_t samples, struct error *err)
{
	e->threads = calloc(threads + 1, sizeof(*e->threads));
	e->shares = calloc(samples + 1, sizeof(*e->shares));
	if (!e->threads || !e->shares)
		return error_set_memory(err);
	for (size_t i = 0; i < threads; i++)
		e->threads[i].last = NO_SAMPLE;
	return true;
}

bool elapsed_share(struct elapsed_point *points, size_t count, size_t threads, int64_t end_ns, int64_t *shares,
	size_t samples, struct elapsed_quality *quality, struct error *err)
{
	CLEANUP(elapsed_deinit) struct elapsed e = { .quality = quality };

	*quality = (struct elapsed_quality){ 0 };
	if (!elapsed_init(&e, threads, samples, err))
		return false;
	if (count > 0)
		qsort(points, count, sizeof(*points), collect_elapsed_by_time);
	start_running(&e, points, count);
	for (size_t i = 0; i < count; i++) {
		int64_t time_ns = points[i].time_ns;

		pass(&e, time_ns < 0 ? 0 : time_ns > end_ns ? end_ns : time_ns);
		collect_elapsed_take(&e, &points[i]);
	}
	pass(&e, end_ns);
	quality->spread_ns = llround(end_threads(&e, threads));
	round_shares(&e, samples, end_ns, shares);
	return true;
}
