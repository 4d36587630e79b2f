/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/perf_data/perf_data.h"

#include <stdlib.h>
#include <string.h>

/*
 * States as sched:sched_switch has them (TASK_REPORT of linux/sched.h), and what they become in struct ebpf_wait, whose
 * states are those of the kernel itself.
 */
enum {
	REPORTED_SLEEPS = 0x0f, /* the kernel's own bits: S, D, stopped, traced */
	REPORTED_ENDS = 0x30,   /* the thread has ended, and will never run again */
	REPORTED_PARKED = 0x40,
	REPORTED_IDLE = 0x80, /* of the kernel's threads: waits for work */
	STATE_RUNNABLE = 0,
	STATE_SLEEPS = 0x1,
	STATE_IDLE = 0x402,
};

enum perf_data_waits perf_data_waits_of(const struct perf_data_event *event)
{
	const struct perf_event_attr *attr = &event->attr;

	if (attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_BPF_OUTPUT &&
		strcmp(event->name, "off-cpu-time") == 0)
		return PERF_DATA_OFF_CPU;
	if ((attr->type == PERF_TYPE_TRACEPOINT && strcmp(event->name, "sched:sched_switch") == 0) ||
		(attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_CONTEXT_SWITCHES))
		return PERF_DATA_SWITCHES;
	return PERF_DATA_NO_WAITS;
}

bool perf_data_waits_are_wanted(const char *metric)
{
	return metric && (strcmp(metric, "off-cpu") == 0 || strcmp(metric, "idle") == 0);
}

/* Adds a sample as a wait that ended at the record's time. */
static bool perf_data_waits_count_wait(
	struct perf_data *data, struct record *record, uint32_t state, uint64_t weight_ns, struct error *err)
{
	struct ebpf_wait wait = { .kind = EBPF_WAIT_END,
		.tid = (uint32_t)record->tid,
		.process = (uint32_t)record->pid,
		.state = state,
		.blocked_ns = weight_ns,
		.blocked_weight_ns = weight_ns,
		.system_call = EBPF_WAIT_NO_CALL };

	record->sample.period = weight_ns;
	record->sample.raw = (const uint8_t *)&wait;
	record->sample.raw_bytes = sizeof(wait);
	/* What is held borrows the wait. */
	return weight_ns == 0 || (perf_data_take_sample(data, record, err) && collector_flush(data->collector, err));
}

/* ---- perf record --off-cpu ---- */

/*
 * Reads what perf 6.16 and later write: thread and process, nanoseconds, a chain of addresses, and more. Those that
 * stand at the end have the process first, the others the thread.
 */
static bool read_raw_wait(struct perf_data *data, struct record *record, struct error *err)
{
	struct record_sample *sample = &record->sample;
	const struct hash_map *processes = &collector_processes(data->collector)->by_pid;
	struct byte_reader r = byte_reader_over(sample->raw, sample->raw_bytes);
	int32_t first = (int32_t)byte_reader_u32(&r), second = (int32_t)byte_reader_u32(&r);
	bool is_thread_first =
		hash_map_get(processes, &second) != HASH_MAP_NONE && hash_map_get(processes, &first) == HASH_MAP_NONE;
	uint64_t count;

	record->pid = is_thread_first ? second : first;
	record->tid = is_thread_first ? first : second;
	sample->period = byte_reader_u64(&r);
	count = byte_reader_u64(&r);
	if (!byte_reader_ok(&r) || count > byte_reader_left(&r) / sizeof(uint64_t))
		return error_set(err, ERROR_FORMAT, "a sample of off-cpu-time is cut short");
	sample->callchain = (struct record_words){ r.pos, (size_t)count };
	return true;
}

static bool take_off_cpu(struct perf_data *data, struct record *record, struct error *err)
{
	if (perf_data_time_is_fake(record->time_ns))
		record->time_ns = data->last_ns;
	if (record->sample.raw_bytes > 0 && !read_raw_wait(data, record, err))
		return false;
	return perf_data_waits_count_wait(data, record, STATE_SLEEPS, record->sample.period, err);
}

/* ---- Switches ---- */

static uint64_t raw_number(const struct record_sample *sample, size_t offset, size_t size)
{
	uint64_t number = 0;

	if (checked_range(offset, size, sample->raw_bytes))
		memcpy(&number, sample->raw + offset, size);
	return number;
}

static bool end_wait(struct perf_data *data, int32_t tid, uint64_t end_ns, struct error *err)
{
	struct switch_wait *found = switches_find(&data->switches, tid), wait;
	struct record record;
	uint64_t weight_ns;
	bool ok;

	if (!found)
		return true;
	wait = switches_take(&data->switches, found);
	data->held[0] = wait.record;
	ok = perf_data_parse(data, &wait.record, &record, err);
	if (ok && end_ns > wait.begin_ns) {
		if (__builtin_mul_overflow(end_ns - wait.begin_ns, record.sample.period, &weight_ns))
			weight_ns = UINT64_MAX;
		record.time_ns = end_ns;
		ok = perf_data_waits_count_wait(data, &record, wait.state, weight_ns, err);
	}
	free((void *)wait.record.bytes);
	return ok;
}

static uint32_t perf_data_waits_state_of(uint64_t reported)
{
	if (reported & REPORTED_IDLE)
		return STATE_IDLE;
	return reported & REPORTED_PARKED ? STATE_SLEEPS : (uint32_t)(reported & REPORTED_SLEEPS);
}

static bool take_switch_sample(
	struct perf_data *data, const struct queued_record *queued, const struct record *record, struct error *err)
{
	const struct record_sample *sample = &record->sample;
	const struct tracepoint_switch *fields = &data->header.switch_fields;
	bool is_tracepoint = sample->raw_bytes > 0;
	uint64_t reported = raw_number(sample, fields->previous_state, sizeof(uint64_t));
	int32_t next = (int32_t)raw_number(sample, fields->next_tid, sizeof(uint32_t));

	if (is_tracepoint && !end_wait(data, next, record->time_ns, err))
		return false;
	/* A CPU without work is the thread 0, which does not wait. */
	if (record->tid == 0 || reported & REPORTED_ENDS)
		return true;
	return switches_begin(&data->switches, record->tid, record->time_ns,
		is_tracepoint ? perf_data_waits_state_of(reported) : STATE_SLEEPS, queued, err);
}

bool perf_data_waits_take_switch(struct perf_data *data, const struct record *record, struct error *err)
{
	struct switch_wait *wait;

	if (!(record->misc & PERF_RECORD_MISC_SWITCH_OUT))
		return end_wait(data, record->tid, record->time_ns, err);
	wait = switches_find(&data->switches, record->tid);
	if (wait && record->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT)
		wait->state = STATE_RUNNABLE;
	return true;
}

bool perf_data_waits_take_sample(
	struct perf_data *data, const struct queued_record *queued, struct record *record, struct error *err)
{
	return data->waits == PERF_DATA_OFF_CPU ? take_off_cpu(data, record, err)
						: take_switch_sample(data, queued, record, err);
}

bool perf_data_waits_finish(struct perf_data *data, struct error *err)
{
	struct switches *switches = &data->switches;
	bool has_ends = switches->ended > switches->unended;

	collector_profile(data->collector)->quality.lost += switches->dropped;
	if (switches->unended > 0 && data->notices)
		buffer_printf(data->notices,
			"%llu waits are left out, because the file does not tell when they ended: record with --switch-events, or with -a\n",
			(unsigned long long)switches->unended);
	/* Where most ends are missing, what seems to last may have ended long ago. */
	for (size_t i = 0; i < switches->count && has_ends; i++)
		if (switches->items[i].record.bytes && !end_wait(data, switches->items[i].tid, data->last_ns, err))
			return false;
	return true;
}
