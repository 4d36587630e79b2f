/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/live/tally.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_PROCESSES = 1 << 17, MOST_RETIRED = 1 << 16, MOST_READINGS_OF_ONE = 4096, MOST_READINGS = 1 << 18 };

struct live_tally_key {
	int32_t pid;
	uint32_t kind;
};

void tally_init(struct tally *tally)
{
	*tally = (struct tally){ 0 };
	hash_map_init(&tally->by_key, sizeof(struct live_tally_key));
	shares_init(&tally->retired, MOST_RETIRED);
	shares_init(&tally->readings, MOST_READINGS);
}

void tally_deinit(struct tally *tally)
{
	for (size_t i = 0; i < tally->count; i++)
		free(tally->processes[i].readings);
	free(tally->processes);
	hash_map_deinit(&tally->by_key);
	shares_deinit(&tally->retired);
	shares_deinit(&tally->readings);
	*tally = (struct tally){ 0 };
}

/* ---- Readings ---- */

/* Returns whether a reading may be added to the last one, which began when the one before it ended. */
static bool is_close(const struct tally_process *process, int64_t time_ns)
{
	size_t count = process->reading_count;

	return count > 0 && time_ns - (count > 1 ? process->readings[count - 2].time_ns : 0) <= process->spacing_ns;
}

static void append_reading(struct tally_process *process, struct tally_reading reading)
{
	struct tally_reading *last = &process->readings[process->reading_count - (process->reading_count > 0)];

	if (is_close(process, reading.time_ns)) {
		last->time_ns = reading.time_ns;
		last->count += reading.count;
		return;
	}
	process->readings[process->reading_count++] = reading;
}

/* Adds up neighbours, in place. Any two readings that follow each other then cover more than the spacing. */
static void widen_spacing(struct tally *tally, struct tally_process *process)
{
	int64_t least_ns = 4 * tally->read_ns / MOST_READINGS_OF_ONE, spacing_ns = process->spacing_ns;
	size_t count = process->reading_count;

	process->spacing_ns = spacing_ns < least_ns / 2    ? least_ns
			      : spacing_ns < INT64_MAX / 4 ? 2 * spacing_ns + 1
							   : spacing_ns;
	process->reading_count = 0;
	for (size_t from = 0; from < count; from++)
		append_reading(process, process->readings[from]);
	shares_give_back(&tally->readings, process->totals.account, count - process->reading_count);
}

/*
 * Widens the spacings of an account's processes, or of all: that which holds most may hold no more than one reading of
 * each.
 */
static void widen_spacings(struct tally *tally, uint64_t account, bool of_all)
{
	for (size_t i = 0; i < tally->count; i++)
		if (of_all || tally->processes[i].totals.account == account)
			widen_spacing(tally, &tally->processes[i]);
}

static void limit_readings(struct tally *tally, struct tally_process *process)
{
	while (process->reading_count >= MOST_READINGS_OF_ONE)
		widen_spacing(tally, process);
	while (!shares_fit(&tally->readings, 1)) {
		uint64_t held = tally->readings.held;

		widen_spacings(tally, shares_greatest(&tally->readings), false);
		if (tally->readings.held == held)
			widen_spacings(tally, SHARES_NOBODY, true);
	}
}

static bool add_reading(
	struct tally *tally, struct tally_process *process, int64_t time_ns, uint64_t count, struct error *err)
{
	size_t before = process->reading_count;

	if (!ARRAY_RESERVE(&process->readings, &process->reading_capacity, before + 1, MOST_READINGS_OF_ONE, err))
		return false;
	append_reading(process, (struct tally_reading){ time_ns, count });
	if (!shares_add(&tally->readings, process->totals.account, process->reading_count - before, err))
		return false;
	limit_readings(tally, process);
	return true;
}

/* ---- Totals ---- */

static bool tally_find_process(
	struct tally *tally, const struct tally_totals *totals, struct tally_process **process, struct error *err)
{
	struct live_tally_key key = { totals->pid, totals->kind };
	uint32_t *value;
	bool added;

	if (!ARRAY_RESERVE(&tally->processes, &tally->capacity, tally->count + 1, MOST_PROCESSES, err) ||
		!hash_map_add(&tally->by_key, &key, (uint32_t)tally->count, &value, &added, err))
		return false;
	if (added)
		tally->processes[tally->count++] = (struct tally_process){ .before.account = totals->account };
	*process = &tally->processes[*value];
	return true;
}

/* Returns when the last reading of a process ended; the recording's start where there is none. */
static int64_t last_time_ns(const struct tally_process *process)
{
	return process->reading_count > 0 ? process->readings[process->reading_count - 1].time_ns : 0;
}

static struct tally_totals tally_add_totals(const struct tally_totals *before, const struct tally_totals *totals)
{
	struct tally_totals sum = *totals;

	sum.account = before->account;
	sum.count += before->count;
	sum.connections += before->connections;
	sum.received_bytes += before->received_bytes;
	sum.sent_bytes += before->sent_bytes;
	return sum;
}

bool tally_take(struct tally *tally, const struct tally_totals *totals, int64_t time_ns, struct error *err)
{
	struct tally_process *process;
	uint64_t more;

	if (!tally_find_process(tally, totals, &process, err))
		return false;
	process->is_retired = false;
	process->totals = tally_add_totals(&process->before, totals);
	if (process->totals.count <= process->read_count)
		return true;
	more = process->totals.count - process->read_count;
	/* A time without changes has left no reading: up to the last such time there were no requests. */
	if (tally->read_ns > last_time_ns(process) && !add_reading(tally, process, tally->read_ns, 0, err))
		return false;
	process->read_count += more;
	tally->change_count++;
	return add_reading(tally, process, time_ns, more, err);
}

bool tally_retire(struct tally *tally, int32_t pid, uint64_t payer)
{
	enum { MOST_KINDS = 4 };
	struct tally_process *found[MOST_KINDS];
	size_t count = 0;

	for (uint32_t kind = 0; kind < MOST_KINDS; kind++) {
		struct live_tally_key key = { pid, kind };
		uint32_t index = hash_map_get(&tally->by_key, &key);

		if (index != HASH_MAP_NONE && !tally->processes[index].is_retired)
			found[count++] = &tally->processes[index];
	}
	if (!shares_take(&tally->retired, payer, count))
		return false;
	for (size_t i = 0; i < count; i++) {
		found[i]->before = found[i]->totals;
		found[i]->is_retired = true;
	}
	return true;
}

void tally_end_reading(struct tally *tally, int64_t time_ns)
{
	tally->read_ns = time_ns;
}

uint64_t tally_total(const struct tally *tally, uint32_t kind)
{
	uint64_t total = 0;

	for (size_t i = 0; i < tally->count; i++)
		if (tally->processes[i].totals.kind == kind)
			total += tally->processes[i].read_count;
	return total;
}

const struct tally_process *tally_find(const struct tally *tally, int32_t pid, uint32_t kind)
{
	struct live_tally_key key = { pid, kind };
	uint32_t found = hash_map_get(&tally->by_key, &key);

	return found == HASH_MAP_NONE ? NULL : &tally->processes[found];
}

bool tally_add_to_profile(const struct tally_process *process, enum profile_exchange_kind kind, struct profile *profile,
	uint32_t run, uint32_t *id, struct error *err)
{
	const struct tally_totals *totals = &process->totals;
	struct profile_exchanges exchanges = {
		.run = run,
		.pid = totals->pid,
		.kind = kind,
		.connections = totals->connections,
		.received_bytes = totals->received_bytes,
		.sent_bytes = totals->sent_bytes,
	};

	if (!profile_intern(profile, totals->name, &exchanges.process_name, err) ||
		!profile_add_exchanges(profile, &exchanges, id, err))
		return false;
	for (size_t i = 0; i < process->reading_count; i++) {
		const struct profile_exchange_reading reading = { *id, process->readings[i].time_ns,
			process->readings[i].count };

		if (!profile_add_exchange_reading(profile, &reading, err))
			return false;
	}
	return true;
}
