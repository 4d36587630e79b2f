/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/collect/switch_log.h"

#include "sampler/collect/elapsed.h"

#include <stdlib.h>

/* The switches of five minutes, of a program that switches 50,000 times a second. */
enum { MOST_SWITCHES = 1 << 24 };

/* Less than this part of the switches is not worth a line. */
static const double notable_part = 0.01;

struct thread_switch {
	int64_t time_ns;
	int32_t tid;
	enum elapsed_kind kind;
};

struct switch_log {
	struct thread_switch *items; /* owned */
	size_t count, capacity;
	uint64_t left_out;
	struct hash_map threads; /* tid -> number */
};

bool switch_log_create(struct switch_log **switches, struct error *err)
{
	struct switch_log *made = calloc(1, sizeof(*made));

	if (!made)
		return error_set_memory(err);
	hash_map_init(&made->threads, sizeof(int32_t));
	*switches = made;
	return true;
}

void switch_log_destroy(struct switch_log *switches)
{
	if (!switches)
		return;
	hash_map_deinit(&switches->threads);
	free(switches->items);
	free(switches);
}

static bool is_switch(const struct record *record)
{
	return record->type == PERF_RECORD_SWITCH || record->type == PERF_RECORD_SWITCH_CPU_WIDE;
}

bool switch_log_has(const struct record *record)
{
	return is_switch(record) || record->kind == RECORD_FORK || record->kind == RECORD_EXIT;
}

static enum elapsed_kind switch_log_kind_of(const struct record *record)
{
	if (is_switch(record))
		return record->misc & PERF_RECORD_MISC_SWITCH_OUT ? ELAPSED_OFF : ELAPSED_ON;
	return record->kind == RECORD_FORK ? ELAPSED_BEGIN : ELAPSED_END;
}

static bool keep_switch(struct switch_log *switches, const struct thread_switch *item, struct error *err)
{
	if (switches->count == MOST_SWITCHES) {
		switches->left_out++;
		return true;
	}
	if (!ARRAY_RESERVE(&switches->items, &switches->capacity, switches->count + 1, MOST_SWITCHES, err))
		return false;
	switches->items[switches->count++] = *item;
	return true;
}

bool switch_log_take(struct switch_log *switches, const struct record *record, int64_t time_ns, struct error *err)
{
	const struct thread_switch item = { time_ns, record->tid, switch_log_kind_of(record) };

	/* A thread that has ended has no number when it leaves its CPU for good. */
	return record->tid <= 0 || keep_switch(switches, &item, err);
}

bool switch_log_add(struct switch_log *switches, int64_t time_ns, int32_t tid, bool is_on, struct error *err)
{
	const struct thread_switch item = { time_ns, tid, is_on ? ELAPSED_ON : ELAPSED_OFF };

	return keep_switch(switches, &item, err);
}

void switch_log_miss(struct switch_log *switches, uint64_t count)
{
	switches->left_out += count;
}

static bool switch_log_number_of(struct switch_log *switches, int32_t tid, uint32_t *number, struct error *err)
{
	uint32_t *value;
	bool added;

	if (!hash_map_add(&switches->threads, &tid, (uint32_t)switches->threads.count, &value, &added, err))
		return false;
	*number = *value;
	return true;
}

/*
 * Events of the profile are samples of threads that run, or of waits, which their weights tell. A thread that has given
 * its number back, on its way out of the kernel, has none of the time, as its switches are not told either.
 */
static bool switch_log_add_events(struct switch_log *switches, const struct profile *profile,
	struct elapsed_point *points, size_t *count, struct error *err)
{
	for (size_t i = 0; i < profile->event_count; i++) {
		const struct profile_event *event = &profile->events[i];
		const struct profile_sample *sample = &profile->samples[event->sample];
		bool is_wait = profile_wait_class_of_stack(profile, sample->stack) != PROFILE_WAIT_NONE;

		/* A wait's event begins with what it stands for, which ends where the wait does. */
		int64_t weight = is_wait ? profile_event_weight(profile, i) : 0;
		int32_t tid = profile->threads[sample->thread].tid;
		struct elapsed_point *point = &points[*count];

		if (tid <= 0)
			continue;
		*point = (struct elapsed_point){ .time_ns = saturating_add(event->time_ns, weight),
			.kind = is_wait ? ELAPSED_WAIT : ELAPSED_SAMPLE,
			.sample = event->sample,
			.weight = (double)weight };
		if (!switch_log_number_of(switches, tid, &point->thread, err))
			return false;
		(*count)++;
	}
	return true;
}

static bool add_switches(struct switch_log *switches, struct elapsed_point *points, size_t *count, struct error *err)
{
	for (size_t i = 0; i < switches->count; i++) {
		const struct thread_switch *item = &switches->items[i];
		struct elapsed_point *point = &points[*count];

		*point = (struct elapsed_point){ .time_ns = item->time_ns, .kind = item->kind };
		if (!switch_log_number_of(switches, item->tid, &point->thread, err))
			return false;
		(*count)++;
	}
	return true;
}

static void switch_log_describe(const struct switch_log *switches, const struct elapsed_quality *quality,
	int64_t end_ns, struct buffer *notices)
{
	double lost = (double)(quality->contradictions + switches->left_out);

	if (lost > notable_part * (double)switches->count && lost > 1)
		buffer_printf(notices,
			"%.0f of %zu switches of threads were lost: who ran when is known by samples alone there, so that elapsed times are less exact\n",
			lost, switches->count);
	if ((double)quality->spread_ns > notable_part * (double)end_ns)
		buffer_printf(notices,
			"%.1f %% of the elapsed time is of threads without a sample, and is shared out among the others: sample at a higher -F\n",
			(double)quality->spread_ns * 100 / (double)end_ns);
}

bool switch_log_share(
	struct switch_log *switches, struct profile *profile, int64_t end_ns, struct buffer *notices, struct error *err)
{
	size_t most = profile->event_count + switches->count, count = 0, width = profile->value_type_count;
	uint32_t elapsed = profile_find_metric(profile, PROFILE_ELAPSED, "nanoseconds");
	CLEANUP(cleanup_free) struct elapsed_point *points = malloc((most + 1) * sizeof(*points));
	CLEANUP(cleanup_free) int64_t *shares = calloc(profile->sample_count + 1, sizeof(*shares));
	struct elapsed_quality quality;

	if (!points || !shares)
		return error_set_memory(err);
	if (elapsed == PROFILE_NONE || profile->sample_count == 0)
		return true;
	if (!switch_log_add_events(switches, profile, points, &count, err) ||
		!add_switches(switches, points, &count, err) ||
		!elapsed_share(
			points, count, switches->threads.count, end_ns, shares, profile->sample_count, &quality, err))
		return false;
	for (size_t i = 0; i < profile->sample_count; i++)
		profile->values[i * width + elapsed] = shares[i];
	switch_log_describe(switches, &quality, end_ns, notices);
	return true;
}
