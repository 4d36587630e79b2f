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

/* The greatest common divisor of a column's nonzero values; at least 1. */
static uint64_t quantum_of(const double *values, size_t count)
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

static void append_value_column(struct buffer *out, const double *values, size_t count)
{
	uint64_t quantum = quantum_of(values, count);

	buffer_append_varint(out, quantum);
	for (size_t i = 0; i < count; i++)
		buffer_append_varint(out, whole(values[i]) / quantum);
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
	uint64_t quantum = quantum_of(values, count);

	buffer_append_varint(out, quantum);
	for (size_t i = 0; i < count; i++)
		scratch[i] = whole(values[i]) / quantum;
	page_data_append_fixed(out, scratch, count);
}

/* The root is the only node without a function; the viewer knows that. */
bool page_data_tree(const struct render_input *input, struct buffer *out, struct error *err)
{
	const struct diff *diff = input->diff;
	CLEANUP(cleanup_free) uint64_t *scratch = calloc(diff->node_count + 1, sizeof(*scratch));

	if (!scratch)
		return error_set_memory(err);
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

/* Whether a metric is the number of samples, which has a column already. */
static bool is_the_count(const struct page_metric *metric)
{
	return metric->index[DIFF_BASE] == 0 && metric->index[DIFF_HEAD] == 0;
}

static bool append_samples(struct buffer *out, const struct render_input *input, size_t side, struct error *err)
{
	const struct profile *profile = input->profiles[side];
	const uint32_t *nodes = input->diff->sample_nodes[side];
	size_t width = profile->value_type_count;
	CLEANUP(cleanup_free) double *values = calloc(profile->sample_count + 1, sizeof(*values));
	struct page_metric metrics[PROFILE_MAX_VALUE_TYPES];
	size_t metric_count = page_data_metrics(input, metrics);
	int64_t before = 0;

	if (!values)
		return error_set_memory(err);
	buffer_append_varint(out, profile->sample_count);
	for (size_t i = 0; i < profile->sample_count; i++) {
		buffer_append_zigzag(out, (int64_t)nodes[i] - before);
		before = nodes[i];
	}
	for (size_t i = 0; i < profile->sample_count; i++)
		buffer_append_varint(out, profile->samples[i].thread);
	for (size_t i = 0; i < profile->sample_count; i++)
		buffer_append_varint(out, (uint64_t)profile->values[i * width]);
	for (size_t m = 0; m < metric_count; m++) {
		if (is_the_count(&metrics[m]))
			continue;
		for (size_t i = 0; i < profile->sample_count; i++)
			values[i] = (double)profile->values[i * width + metrics[m].index[side]];
		append_value_column(out, values, profile->sample_count);
	}
	return true;
}

bool page_data_samples(const struct render_input *input, struct buffer *out, struct error *err)
{
	for (size_t side = first_side(input->diff); side < DIFF_SIDES; side++)
		if (!append_samples(out, input, side, err))
			return false;
	return buffer_ok(out, err);
}

/* The number of events with a weight of their own and, for each, its distance from the one before, and the weight. */
static void append_event_weights(struct buffer *out, const struct profile *profile)
{
	size_t limit = profile->has_timeline ? profile->weighted_count : 0, count = 0, end = 0;

	for (size_t i = 0; i < limit; i++)
		count += profile->event_weights[i] > 0;
	buffer_append_varint(out, count);
	for (size_t i = 0; i < limit; i++) {
		if (profile->event_weights[i] == 0)
			continue;
		buffer_append_varint(out, i - end);
		buffer_append_varint(out, (uint64_t)profile->event_weights[i]);
		end = i + 1;
	}
}

bool page_data_timeline(const struct render_input *input, struct buffer *out, struct error *err)
{
	for (size_t side = first_side(input->diff); side < DIFF_SIDES; side++) {
		const struct profile *profile = input->profiles[side];
		size_t count = profile->has_timeline ? profile->event_count : 0;
		int64_t before = 0;

		buffer_append_varint(out, count);
		for (size_t i = 0; i < count; i++) {
			int64_t time_us = profile->events[i].time_ns / 1000;

			buffer_append_zigzag(out, time_us - before);
			before = time_us;
		}
		for (size_t i = 0; i < count; i++)
			buffer_append_varint(out, profile->events[i].sample);
		append_event_weights(out, profile);
	}
	return buffer_ok(out, err);
}
