/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/index.h"

#include <stdlib.h>

static const char *const source_names[PROFILE_WORK_SOURCE_COUNT] = { "unknown", "sockets", "event", "stated" };

const char *profile_work_source_name(enum profile_work_source source)
{
	return source_names[source];
}

/* ---- Adding ---- */

static struct profile_exchanges_key profile_requests_key_of(const struct profile_exchanges *exchanges)
{
	return (struct profile_exchanges_key){ exchanges->run, exchanges->pid, (uint32_t)exchanges->kind };
}

bool profile_add_exchanges(
	struct profile *profile, const struct profile_exchanges *exchanges, uint32_t *id, struct error *err)
{
	struct profile_exchanges_key key = profile_requests_key_of(exchanges);
	struct profile_requests *requests = &profile->requests;
	struct profile_index *index = profile->index;
	struct profile_exchanges *known;
	uint32_t *value;
	bool added;

	if (exchanges->run >= profile->run_count)
		return error_set(err, ERROR_FORMAT, "requests of run %u, which is not there", exchanges->run);
	if (!ARRAY_RESERVE(&requests->exchanges, &index->exchanges_capacity, requests->exchange_count + 1,
		    ARRAY_MAX_IDS, err) ||
		!hash_map_add(&index->exchanges, &key, (uint32_t)requests->exchange_count, &value, &added, err))
		return false;
	*id = *value;
	known = &requests->exchanges[*id];
	if (added) {
		*known = *exchanges;
		requests->exchange_count++;
		return true;
	}
	/* A process has its last name: a worker is named after its fork or its execve(). */
	if (exchanges->process_name)
		known->process_name = exchanges->process_name;
	known->count = saturating_add_unsigned(known->count, exchanges->count);
	known->connections = saturating_add_unsigned(known->connections, exchanges->connections);
	known->received_bytes = saturating_add_unsigned(known->received_bytes, exchanges->received_bytes);
	known->sent_bytes = saturating_add_unsigned(known->sent_bytes, exchanges->sent_bytes);
	return true;
}

bool profile_append_exchange_reading(
	struct profile *profile, const struct profile_exchange_reading *reading, struct error *err)
{
	struct profile_requests *requests = &profile->requests;

	if (reading->exchanges >= requests->exchange_count || reading->time_ns < 0)
		return error_set(err, ERROR_FORMAT, "reading %zu of requests is of exchanges %u at %lld ns",
			requests->reading_count, reading->exchanges, (long long)reading->time_ns);
	return ARRAY_APPEND(&requests->readings, &profile->index->reading_capacity, &requests->reading_count,
		ARRAY_MAX_IDS, err, *reading);
}

bool profile_add_exchange_reading(
	struct profile *profile, const struct profile_exchange_reading *reading, struct error *err)
{
	struct profile_exchanges *exchanges;

	if (!profile_append_exchange_reading(profile, reading, err))
		return false;
	exchanges = &profile->requests.exchanges[reading->exchanges];
	exchanges->count = saturating_add_unsigned(exchanges->count, reading->count);
	return true;
}

bool profile_add_latency(struct profile *profile, const struct profile_latency *latency, struct error *err)
{
	struct profile_requests *requests = &profile->requests;

	if (latency->exchanges >= requests->exchange_count || latency->bucket >= PROFILE_LATENCY_BUCKETS)
		return error_set(err, ERROR_FORMAT, "latency %zu is of exchanges %u in bucket %u",
			requests->latency_count, latency->exchanges, latency->bucket);
	if (latency->count == 0)
		return true;
	return ARRAY_APPEND(&requests->latencies, &profile->index->latency_capacity, &requests->latency_count,
		ARRAY_MAX_IDS, err, *latency);
}

/* ---- Order ---- */

static int compare_exchanges(const struct profile_exchanges *a, const struct profile_exchanges *b)
{
	int order = ORDER(a->run, b->run);

	if (order == 0)
		order = ORDER(a->pid, b->pid);
	return order ? order : ORDER(a->kind, b->kind);
}

static int compare_exchanges_at(const void *left, const void *right, void *all)
{
	const struct profile_exchanges *exchanges = all;

	return compare_exchanges(&exchanges[*(const uint32_t *)left], &exchanges[*(const uint32_t *)right]);
}

static int compare_readings(const void *left, const void *right)
{
	const struct profile_exchange_reading *a = left, *b = right;
	int order = ORDER(a->exchanges, b->exchanges);

	return order ? order : ORDER(a->time_ns, b->time_ns);
}

static int compare_latencies(const void *left, const void *right)
{
	const struct profile_latency *a = left, *b = right;
	int order = ORDER(a->exchanges, b->exchanges);

	return order ? order : ORDER(a->bucket, b->bucket);
}

static bool exchanges_in_order(const struct profile_requests *requests)
{
	for (size_t i = 1; i < requests->exchange_count; i++)
		if (compare_exchanges(&requests->exchanges[i - 1], &requests->exchanges[i]) >= 0)
			return false;
	return true;
}

/* Gives the exchanges their order, and all that refers to them their new ids. */
static bool sort_exchanges(struct profile *profile, struct error *err)
{
	struct profile_requests *requests = &profile->requests;
	struct hash_map *map = &profile->index->exchanges;
	size_t count = requests->exchange_count;
	CLEANUP(cleanup_free) uint32_t *order = malloc((count + 1) * sizeof(*order));
	CLEANUP(cleanup_free) uint32_t *new_ids = malloc((count + 1) * sizeof(*new_ids));
	CLEANUP(cleanup_free) struct profile_exchanges *before = malloc((count + 1) * sizeof(*before));

	if (!order || !new_ids || !before)
		return error_set_memory(err);
	memcpy(before, requests->exchanges, count * sizeof(*before));
	for (uint32_t i = 0; i < count; i++)
		order[i] = i;
	qsort_r(order, count, sizeof(*order), compare_exchanges_at, before);
	hash_map_deinit(map);
	hash_map_init(map, sizeof(struct profile_exchanges_key));
	for (uint32_t i = 0; i < count; i++) {
		struct profile_exchanges_key key = profile_requests_key_of(&before[order[i]]);
		uint32_t *value;
		bool added;

		requests->exchanges[i] = before[order[i]];
		new_ids[order[i]] = i;
		if (!hash_map_add(map, &key, i, &value, &added, err))
			return false;
	}
	for (size_t i = 0; i < requests->reading_count; i++)
		requests->readings[i].exchanges = new_ids[requests->readings[i].exchanges];
	for (size_t i = 0; i < requests->latency_count; i++)
		requests->latencies[i].exchanges = new_ids[requests->latencies[i].exchanges];
	return true;
}

static void sort_readings(struct profile_requests *requests)
{
	struct profile_exchange_reading *readings = requests->readings;
	size_t kept = 0;

	if (requests->reading_count == 0)
		return;
	qsort(readings, requests->reading_count, sizeof(*readings), compare_readings);
	for (size_t i = 1; i < requests->reading_count; i++) {
		if (compare_readings(&readings[kept], &readings[i]) == 0)
			readings[kept].count = saturating_add_unsigned(readings[kept].count, readings[i].count);
		else
			readings[++kept] = readings[i];
	}
	requests->reading_count = kept + 1;
}

static void sum_latencies(struct profile_requests *requests)
{
	struct profile_latency *latencies = requests->latencies;
	size_t kept = 0;

	if (requests->latency_count == 0)
		return;
	qsort(latencies, requests->latency_count, sizeof(*latencies), compare_latencies);
	for (size_t i = 1; i < requests->latency_count; i++) {
		if (compare_latencies(&latencies[kept], &latencies[i]) == 0)
			latencies[kept].count = saturating_add_unsigned(latencies[kept].count, latencies[i].count);
		else
			latencies[++kept] = latencies[i];
	}
	requests->latency_count = kept + 1;
}

bool profile_sort_requests(struct profile *profile, struct error *err)
{
	if (!exchanges_in_order(&profile->requests) && !sort_exchanges(profile, err))
		return false;
	sort_readings(&profile->requests);
	sum_latencies(&profile->requests);
	return true;
}

void profile_forget_requests(struct profile *profile)
{
	struct profile_requests *requests = &profile->requests;
	struct hash_map *map = &profile->index->exchanges;

	requests->source = PROFILE_WORK_UNKNOWN;
	requests->event = 0;
	requests->one_in = 1;
	requests->exchange_count = requests->reading_count = requests->latency_count = 0;
	hash_map_deinit(map);
	hash_map_init(map, sizeof(struct profile_exchanges_key));
}

/* ---- Checks ---- */

/* Comparisons calculate with doubles, which hold all whole numbers up to here. */
static const uint64_t most_exchanges = (uint64_t)1 << 53;
enum { MOST_SOCKETS_FOR_ONE = 1 << 20 };

static bool validate_exchanges(const struct profile *profile, struct error *err)
{
	const struct profile_requests *requests = &profile->requests;
	uint64_t count = 0, connections = 0, bytes = 0;

	for (size_t i = 0; i < requests->exchange_count; i++) {
		const struct profile_exchanges *exchanges = &requests->exchanges[i];

		if (exchanges->run >= profile->run_count ||
			exchanges->process_name >= string_table_count(profile->strings) || exchanges->pid < 0 ||
			(unsigned int)exchanges->kind >= PROFILE_EXCHANGE_KIND_COUNT)
			return error_set(err, ERROR_FORMAT, "exchanges %zu reference what is not there", i);
		count = saturating_add_unsigned(count, exchanges->count);
		connections = saturating_add_unsigned(connections, exchanges->connections);
		bytes = saturating_add_unsigned(
			bytes, saturating_add_unsigned(exchanges->received_bytes, exchanges->sent_bytes));
		if (count > most_exchanges || connections > most_exchanges || bytes > INT64_MAX)
			return error_set(err, ERROR_FORMAT, "there is an impossible number of requests");
	}
	return exchanges_in_order(requests) || error_set(err, ERROR_FORMAT, "requests are not in order");
}

static bool validate_readings(const struct profile_requests *requests, struct error *err)
{
	uint64_t count = 0;

	for (size_t i = 0; i < requests->reading_count; i++) {
		const struct profile_exchange_reading *reading = &requests->readings[i];

		if (reading->exchanges >= requests->exchange_count || reading->time_ns < 0)
			return error_set(err, ERROR_FORMAT, "reading %zu of requests references what is not there", i);
		if (i > 0 && compare_readings(&reading[-1], reading) >= 0)
			return error_set(err, ERROR_FORMAT, "reading %zu of requests is not in order", i);
		if (i == 0 || reading[-1].exchanges != reading->exchanges)
			count = 0;
		count = saturating_add_unsigned(count, reading->count);
		if (count > requests->exchanges[reading->exchanges].count)
			return error_set(err, ERROR_FORMAT, "reading %zu tells of more requests than there were", i);
	}
	return true;
}

static bool validate_latencies(const struct profile_requests *requests, struct error *err)
{
	uint64_t count = 0;

	for (size_t i = 0; i < requests->latency_count; i++) {
		const struct profile_latency *latency = &requests->latencies[i];

		if (latency->exchanges >= requests->exchange_count || latency->bucket >= PROFILE_LATENCY_BUCKETS)
			return error_set(err, ERROR_FORMAT, "latency %zu references what is not there", i);
		if (i > 0 && compare_latencies(&latency[-1], latency) >= 0)
			return error_set(err, ERROR_FORMAT, "latency %zu is not in order", i);
		count = saturating_add_unsigned(count, latency->count);
		if (count > most_exchanges)
			return error_set(err, ERROR_FORMAT, "there is an impossible number of latencies");
	}
	return true;
}

bool profile_validate_requests(const struct profile *profile, struct error *err)
{
	const struct profile_requests *requests = &profile->requests;

	if ((unsigned int)requests->source >= PROFILE_WORK_SOURCE_COUNT ||
		requests->event >= string_table_count(profile->strings) || requests->one_in == 0 ||
		requests->one_in > MOST_SOCKETS_FOR_ONE)
		return error_set(err, ERROR_FORMAT, "what counted requests is not valid");
	if (requests->source == PROFILE_WORK_UNKNOWN && requests->exchange_count > 0)
		return error_set(err, ERROR_FORMAT, "there are requests, but nothing counted them");
	return validate_exchanges(profile, err) && validate_readings(requests, err) &&
	       validate_latencies(requests, err);
}

/* ---- Sums ---- */

uint64_t profile_requests_total(const struct profile *profile, enum profile_exchange_kind kind)
{
	const struct profile_requests *requests = &profile->requests;
	uint64_t total = 0;

	for (size_t i = 0; i < requests->exchange_count; i++)
		if (requests->exchanges[i].kind == kind)
			total = saturating_add_unsigned(total, requests->exchanges[i].count);
	return total;
}

/*
 * Returns the part of a count, evenly spread over [start, end), that lies in [from, until). Without a length it is at
 * its end.
 */
static double spread_between(uint64_t count, int64_t start, int64_t end, int64_t from_ns, int64_t until_ns)
{
	int64_t first = from_ns > start ? from_ns : start, last = until_ns < end ? until_ns : end;

	if (start >= end)
		return end >= from_ns && end < until_ns ? (double)count : 0;
	return last > first ? (double)count * ((double)(last - first) / (double)(end - start)) : 0;
}

/* Returns the first reading of these exchanges whose time is greater. */
static size_t find_reading(const struct profile_requests *requests, uint32_t exchanges, int64_t after_ns)
{
	return BISECT(requests->reading_count, i,
		requests->readings[i].exchanges < exchanges ||
			(requests->readings[i].exchanges == exchanges && requests->readings[i].time_ns <= after_ns));
}

/* Returns how many exchanges there were within the time, of those that readings tell of. */
static double read_between(
	const struct profile_requests *requests, uint32_t exchanges, int64_t from_ns, int64_t until_ns)
{
	/* A reading at the start itself covers no time: it counts where it stands. */
	size_t at = find_reading(requests, exchanges, from_ns - 1);
	double sum = 0;

	for (; at < requests->reading_count && requests->readings[at].exchanges == exchanges; at++) {
		const struct profile_exchange_reading *reading = &requests->readings[at];
		int64_t start = at > 0 && reading[-1].exchanges == exchanges ? reading[-1].time_ns : 0;

		if (start >= until_ns)
			break;
		sum += spread_between(reading->count, start, reading->time_ns, from_ns, until_ns);
	}
	return sum;
}

/* Returns how many exchanges no reading tells of: they are taken to be spread over the whole run. */
static uint64_t unread_count(const struct profile_requests *requests, uint32_t exchanges)
{
	uint64_t rest = requests->exchanges[exchanges].count;
	size_t at = find_reading(requests, exchanges, -1);

	for (; at < requests->reading_count && requests->readings[at].exchanges == exchanges; at++)
		rest -= requests->readings[at].count < rest ? requests->readings[at].count : rest;
	return rest;
}

double profile_requests_between(
	const struct profile *profile, uint32_t run, enum profile_exchange_kind kind, int64_t from_ns, int64_t until_ns)
{
	const struct profile_requests *requests = &profile->requests;
	double sum = 0;

	if (from_ns < 0)
		from_ns = 0;
	if (run >= profile->run_count || until_ns <= from_ns)
		return 0;
	for (uint32_t i = 0; i < requests->exchange_count; i++)
		if (requests->exchanges[i].run == run && requests->exchanges[i].kind == kind)
			sum += read_between(requests, i, from_ns, until_ns) + spread_between(unread_count(requests, i),
										      0, profile->runs[run].duration_ns,
										      from_ns, until_ns);
	return sum;
}
