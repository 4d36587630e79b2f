/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parses a record, and hands a sample to the collector. */
#include "sampler/perf_data/perf_data.h"

static const uint64_t second_ns = 1000000000;

bool perf_data_time_is_fake(uint64_t time_ns)
{
	/* OFF_CPU_TIMESTAMP of perf, and what it counts up from there. */
	return time_ns >= (uint64_t)UINT32_MAX << 32;
}

static bool perf_data_parse_take_time(struct perf_data *data, uint64_t time_ns, struct error *err)
{
	if (time_ns == 0 || time_ns == UINT64_MAX ||
		(data->waits == PERF_DATA_OFF_CPU && perf_data_time_is_fake(time_ns)))
		return true;
	if (data->first_ns == 0) {
		data->first_ns = time_ns;
		collector_set_start(data->collector, time_ns);
	}
	if (time_ns > data->last_ns)
		data->last_ns = time_ns;
	if (data->last_ns - data->first_ns > INT64_MAX)
		return error_set(err, ERROR_FORMAT, "its time lies centuries after the first one");
	return true;
}

/* The period of all samples if they do not contain it: `perf record -c`. */
static uint64_t fixed_period(const struct perf_data_event *event)
{
	const struct perf_event_attr *attr = &event->attr;

	if (!attr->freq)
		return attr->sample_period;
	return perf_data_event_is_clock(event) && attr->sample_freq > 0 ? second_ns / attr->sample_freq : 1;
}

bool perf_data_parse(
	struct perf_data *data, const struct queued_record *queued, struct record *record, struct error *err)
{
	const struct perf_data_event *chosen = &data->header.events.items[data->event];
	struct record_sample *sample = &record->sample;

	if (!record_parse(&data->header.events.items[queued->event].layout, queued->bytes, queued->size, record, err))
		return false;
	if (record->kind == RECORD_SAMPLE && !(chosen->attr.sample_type & PERF_SAMPLE_PERIOD))
		sample->period = fixed_period(chosen);
	if (queued->left_out > 0) {
		sample->is_short = sample->stack_bytes == sample->stack_room;
		sample->stack_room += queued->left_out;
	}
	return perf_data_parse_take_time(data, record->time_ns, err);
}

/* ---- Samples ---- */

enum { MAX_CHAIN = RECORD_MAX_BYTES / 8 + 4 };

static void sort_registers(
	const struct perf_data *data, struct record_sample *sample, uint64_t words[MACHINE_MAX_REGISTERS])
{
	size_t count = data->machine->perf_register_count;

	for (size_t i = 0; i < count; i++) {
		size_t place = data->register_places[i];

		words[i] = place < sample->user_registers.count ? record_word(&sample->user_registers, place) : 0;
	}
	sample->user_registers = (struct record_words){ (const uint8_t *)words, count };
}

/*
 * The last branches are calls that have not returned: each was made by the caller of the one before (perf's
 * lbr_callchain_add_lbr_ip()). The kernel's part stays in front.
 */
static size_t chain_of_branches(const struct record_sample *sample, uint64_t *chain)
{
	size_t count = 0;

	for (size_t i = 0; i < sample->callchain.count; i++) {
		uint64_t word = record_word(&sample->callchain, i);

		if (word == PERF_CONTEXT_USER || word == RECORD_CONTEXT_DEFERRED)
			break;
		chain[count++] = word;
	}
	chain[count++] = PERF_CONTEXT_USER;
	if (!sample->is_kernel)
		chain[count++] = sample->ip;
	else if (sample->branches.count > 1)
		chain[count++] = record_word(&sample->branches, 1);
	/* A branch is from, to, flags. The address after a call is stored, as a return address would be. */
	for (size_t i = 0; i + 2 < sample->branches.count && count < MAX_CHAIN; i += 3)
		chain[count++] = record_word(&sample->branches, i) + 1;
	return count;
}

bool perf_data_take_sample(struct perf_data *data, struct record *record, struct error *err)
{
	struct record_sample *sample = &record->sample;
	uint64_t chain[MAX_CHAIN], cookie;
	size_t count = 0;

	if (!checked_add(data->total_period, sample->period, &data->total_period) || data->total_period > INT64_MAX)
		return error_set(err, ERROR_FORMAT, "a sample stands for %llu events, more than can be added up",
			(unsigned long long)sample->period);
	if (data->has_stack) {
		if (sample->user_registers.count > 0)
			sort_registers(data, sample, data->registers[data->held_count]);
		return collector_take(data->collector, record, false, err);
	}
	if (data->is_lbr && sample->branches.count > 0) {
		count = chain_of_branches(sample, chain);
	} else if (sample->callchain.count == 0) {
		chain[count++] = sample->is_kernel ? PERF_CONTEXT_KERNEL : PERF_CONTEXT_USER;
		chain[count++] = sample->ip;
	} else if (record_is_deferred(&sample->callchain, &cookie)) {
		return perf_data_deferred_take_sample(data, record, cookie, err);
	}
	if (count > 0)
		sample->callchain = (struct record_words){ (const uint8_t *)chain, count };
	return collector_take(data->collector, record, false, err) && collector_flush(data->collector, err);
}
