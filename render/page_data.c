/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "render/page_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Values are usually multiples of the sampling period. Divided by it, they take one byte each. */
static uint64_t common_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static uint64_t whole(double value)
{
	return value > 0 ? (uint64_t)llround(value) : 0;
}

/* Returns the greatest common divisor of a column's nonzero values; at least 1. */
static uint64_t page_data_quantum_of(const double *values, size_t count)
{
	uint64_t quantum = 0;

	for (size_t i = 0; i < count && quantum != 1; i++)
		if (values[i] > 0)
			quantum = common_divisor(whole(values[i]), quantum);
	return quantum ? quantum : 1;
}

void page_data_append_fixed(struct buffer *out, const uint64_t *values, size_t count)
{
	uint64_t most = 0;
	size_t width, size;
	uint8_t *to;

	for (size_t i = 0; i < count; i++)
		most = values[i] > most ? values[i] : most;
	width = most <= UINT8_MAX ? 1 : most <= UINT16_MAX ? 2 : most <= UINT32_MAX ? 4 : 8;
	size = count * width;
	buffer_append_byte(out, (uint8_t)width);
	to = buffer_reserve(out, size);
	for (size_t i = 0; to && i < count; i++) {
		uint64_t bits = values[i];

		if (width == 8)
			memcpy(&bits, &(double){ (double)values[i] }, sizeof(bits));
		for (size_t byte = 0; byte < width; byte++)
			*to++ = (uint8_t)(bits >> 8 * byte);
	}
	if (to)
		buffer_commit(out, size);
}

static size_t first_side(const struct diff *diff)
{
	return diff->sides == 1 ? DIFF_HEAD : DIFF_BASE;
}

/* Appends the intervals that are known, in order of nodes: the gap to the node before, then both ends. */
static void append_intervals(struct buffer *out, const struct diff *diff)
{
	size_t count = 0, before = 0;

	for (size_t i = 0; i < diff->node_count; i++)
		count += isfinite(diff->nodes[i].ci_low) && isfinite(diff->nodes[i].ci_high) && diff->sides == 2;
	buffer_append_varint(out, count);
	for (size_t i = 0; count && i < diff->node_count; i++) {
		const struct diff_node *node = &diff->nodes[i];

		if (!isfinite(node->ci_low) || !isfinite(node->ci_high))
			continue;
		buffer_append_varint(out, i - before);
		buffer_append_zigzag(out, llroundf(node->ci_low));
		buffer_append_zigzag(out, llroundf(node->ci_high));
		before = i;
	}
}

static void append_fixed_values(struct buffer *out, const double *values, uint64_t *scratch, size_t count)
{
	uint64_t quantum = page_data_quantum_of(values, count);

	buffer_append_varint(out, quantum);
	for (size_t i = 0; i < count; i++)
		scratch[i] = whole(values[i]) / quantum;
	page_data_append_fixed(out, scratch, count);
}

/* The root is the only node without a function; the viewer knows that. */
bool page_data_tree(const struct render_input *input, struct buffer *out, struct error *err)
{
	const struct diff *diff = input->diff;
	CLEANUP(cleanup_free) uint64_t *scratch = memory_zeroed(diff->node_count + 1, sizeof(*scratch));

	buffer_append_varint(out, diff->node_count);
	for (size_t i = 0; i < diff->node_count; i++)
		scratch[i] = diff->nodes[i].depth;
	page_data_append_fixed(out, scratch, diff->node_count);
	for (size_t i = 0; i < diff->node_count; i++)
		scratch[i] = diff->nodes[i].function == PROFILE_NONE ? 0 : diff->nodes[i].function;
	page_data_append_fixed(out, scratch, diff->node_count);
	for (size_t i = 0; i < diff->node_count; i++)
		buffer_append_byte(out, diff->nodes[i].state);
	for (size_t i = 0; i < diff->node_count; i++)
		buffer_append_byte(out, diff->nodes[i].flags);
	for (size_t side = first_side(diff); side < DIFF_SIDES; side++)
		append_fixed_values(out, diff->node_self[side], scratch, diff->node_count);
	append_intervals(out, diff);
	return buffer_ok(out, err);
}

static uint32_t find_value_type(const struct profile *profile, const char *type, const char *unit)
{
	for (uint32_t i = 0; i < profile->value_type_count; i++)
		if (strcmp(profile_string(profile, profile->value_types[i].type), type) == 0 &&
			strcmp(profile_string(profile, profile->value_types[i].unit), unit) == 0)
			return i;
	return PROFILE_NONE;
}

size_t page_data_metrics(const struct render_input *input, struct page_metric metrics[PROFILE_MAX_VALUE_TYPES])
{
	const struct diff *diff = input->diff;
	const struct profile *head = input->profiles[DIFF_HEAD];
	size_t count = 0;

	for (uint32_t i = 0; i < head->value_type_count; i++) {
		const char *type = profile_string(head, head->value_types[i].type);
		const char *unit = profile_string(head, head->value_types[i].unit);
		const struct profile *base = diff->sides == 2 ? input->profiles[DIFF_BASE] : head;
		uint32_t other = find_value_type(base, type, unit);

		if (other == PROFILE_NONE)
			continue;
		metrics[count++] = (struct page_metric){ .type = type,
			.unit = unit,
			.index = { other, i },
			.is_tested = strcmp(type, diff_string(diff, diff->metric)) == 0 };
	}
	return count;
}

/* Returns whether a metric is the number of samples, which has a column already. */
static bool is_the_count(const struct page_metric *metric)
{
	return metric->index[DIFF_BASE] == 0 && metric->index[DIFF_HEAD] == 0;
}

static void page_data_append_samples(struct buffer *out, const struct render_input *input, size_t side)
{
	const struct profile *profile = input->profiles[side];
	const uint32_t *nodes = input->diff->sample_nodes[side];
	size_t width = profile->value_type_count, count = profile->sample_count;
	CLEANUP(cleanup_free) double *values = memory_zeroed(count + 1, sizeof(*values));
	CLEANUP(cleanup_free) uint64_t *scratch = memory_zeroed(count + 1, sizeof(*scratch));
	struct page_metric metrics[PROFILE_MAX_VALUE_TYPES];
	size_t metric_count = page_data_metrics(input, metrics);
	int64_t before = 0;

	buffer_append_varint(out, count);
	for (size_t i = 0; i < count; i++) {
		buffer_append_zigzag(out, (int64_t)nodes[i] - before);
		before = nodes[i];
	}
	for (size_t i = 0; i < count; i++)
		scratch[i] = profile->samples[i].thread;
	page_data_append_fixed(out, scratch, count);
	for (size_t i = 0; i < count; i++)
		scratch[i] = (uint64_t)profile->values[i * width];
	page_data_append_fixed(out, scratch, count);
	for (size_t m = 0; m < metric_count; m++) {
		if (is_the_count(&metrics[m]))
			continue;
		for (size_t i = 0; i < count; i++)
			values[i] = (double)profile->values[i * width + metrics[m].index[side]];
		append_fixed_values(out, values, scratch, count);
	}
}

bool page_data_samples(const struct render_input *input, struct buffer *out, struct error *err)
{
	for (size_t side = first_side(input->diff); side < DIFF_SIDES; side++)
		page_data_append_samples(out, input, side);
	return buffer_ok(out, err);
}

/* The events of a profile, those of each thread together: a viewer need not sort them. */
struct thread_events {
	size_t *starts; /* [thread] where its events begin in `order`; owned */
	size_t *order;  /* numbers of events, those of a thread in order of time; owned */
	size_t count;
};

static void thread_events_deinit(struct thread_events *events)
{
	free(events->starts);
	free(events->order);
}

static void thread_events_init(struct thread_events *events, const struct profile *profile)
{
	size_t count = profile->has_timeline ? profile->event_count : 0, threads = profile->thread_count;
	size_t *starts = memory_zeroed(threads + 2, sizeof(*starts)), *order = memory_zeroed(count + 1, sizeof(*order));

	*events = (struct thread_events){ .starts = starts, .order = order, .count = count };
	/* While they are placed, the events of a thread begin one entry further on. */
	for (size_t i = 0; i < count; i++)
		starts[profile->samples[profile->events[i].sample].thread + 2]++;
	for (size_t thread = 2; thread < threads + 2; thread++)
		starts[thread] += starts[thread - 1];
	for (size_t i = 0; i < count; i++)
		order[starts[profile->samples[profile->events[i].sample].thread + 1]++] = i;
}

/*
 * Appends the number of events with a weight of their own and, for each, its distance from the one before, and the
 * weight.
 */
static void append_event_weights(struct buffer *out, const struct profile *profile, const struct thread_events *events)
{
	size_t limit = profile->weighted_count, count = 0, end = 0;

	for (size_t i = 0; limit && i < events->count; i++)
		count += events->order[i] < limit && profile->event_weights[events->order[i]] > 0;
	buffer_append_varint(out, count);
	for (size_t i = 0; count && i < events->count; i++) {
		size_t event = events->order[i];

		if (event >= limit || profile->event_weights[event] == 0)
			continue;
		buffer_append_varint(out, i - end);
		buffer_append_varint(out, (uint64_t)profile->event_weights[event]);
		end = i + 1;
	}
}

static void append_events(struct buffer *out, const struct profile *profile, const struct thread_events *events)
{
	size_t threads = events->count ? profile->thread_count : 0;
	CLEANUP(cleanup_free) uint64_t *samples = memory_zeroed(events->count + 1, sizeof(*samples));
	int64_t before = 0;

	buffer_append_varint(out, events->count);
	buffer_append_varint(out, threads);
	for (size_t thread = 0; thread < threads; thread++)
		buffer_append_varint(out, events->starts[thread + 1] - events->starts[thread]);
	for (size_t i = 0; i < events->count; i++) {
		int64_t time_us = profile->events[events->order[i]].time_ns / 1000;

		buffer_append_zigzag(out, time_us - before);
		before = time_us;
	}
	for (size_t i = 0; i < events->count; i++)
		samples[i] = profile->events[events->order[i]].sample;
	page_data_append_fixed(out, samples, events->count);
	append_event_weights(out, profile, events);
}

bool page_data_timeline(const struct render_input *input, struct buffer *out, struct error *err)
{
	for (size_t side = first_side(input->diff); side < DIFF_SIDES; side++) {
		struct thread_events events;

		thread_events_init(&events, input->profiles[side]);
		append_events(out, input->profiles[side], &events);
		thread_events_deinit(&events);
	}
	return buffer_ok(out, err);
}
