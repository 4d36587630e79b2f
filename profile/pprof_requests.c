/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads and writes the requests of pprof files: a message that says what counted them, and columns that only Kelvin's
 * files have. */
#include "profile/index.h"
#include "profile/pprof_reader.h"
#include "profile/pprof_writer.h"

#include <stdlib.h>

/* ---- Reading ---- */

static bool read_work(struct pprof_reader *r, struct error *err)
{
	struct byte_reader message = r->extension.columns[PPROF_COLUMN(work)];
	struct profile_requests *requests = &r->profile->requests;
	Pprof__Work in = PPROF__WORK__INIT;

	if (byte_reader_left(&message) == 0)
		return true;
	if (!pprof_read_numbers(message, &in.base, "what counted requests", err))
		return false;
	if (in.source >= PROFILE_WORK_SOURCE_COUNT)
		return error_set(err, ERROR_FORMAT, "what counted requests is not valid");
	requests->source = (enum profile_work_source)in.source;
	requests->one_in = in.one_in;
	return pprof_string_id(r, in.event, &requests->event, "what counted requests", err);
}

static bool pprof_requests_read_exchanges(struct pprof_reader *r, uint32_t *id, struct error *err)
{
	struct byte_reader *columns = r->extension.columns;
	uint64_t run = protobuf_varint(&columns[PPROF_COLUMN(exchanges_run)]),
		 kind = protobuf_varint(&columns[PPROF_COLUMN(exchanges_kind)]);
	int64_t name = (int64_t)protobuf_varint(&columns[PPROF_COLUMN(exchanges_process_name)]);
	struct profile_exchanges exchanges = {
		.run = (uint32_t)run,
		.pid = (int32_t)protobuf_varint(&columns[PPROF_COLUMN(exchanges_pid)]),
		.kind = (enum profile_exchange_kind)kind,
		.count = protobuf_varint(&columns[PPROF_COLUMN(exchanges_count)]),
		.connections = protobuf_varint(&columns[PPROF_COLUMN(exchanges_connections)]),
		.received_bytes = protobuf_varint(&columns[PPROF_COLUMN(exchanges_received)]),
		.sent_bytes = protobuf_varint(&columns[PPROF_COLUMN(exchanges_sent)]),
	};

	if (run >= r->profile->run_count || kind >= PROFILE_EXCHANGE_KIND_COUNT)
		return error_set(err, ERROR_FORMAT, "exchanges %zu are malformed", r->profile->requests.exchange_count);
	return pprof_string_id(r, name, &exchanges.process_name, "a process's name", err) &&
	       profile_add_exchanges(r->profile, &exchanges, id, err);
}

/* `ids`: [position in the file] exchanges of the profile. */
static bool read_exchange_readings(struct pprof_reader *r, const uint32_t *ids, size_t id_count, struct error *err)
{
	struct byte_reader *exchanges = &r->extension.columns[PPROF_COLUMN(reading_exchanges)],
			   *times = &r->extension.columns[PPROF_COLUMN(reading_time)],
			   *counts = &r->extension.columns[PPROF_COLUMN(reading_count)];
	int64_t time = 0;

	while (exchanges->pos < exchanges->end) {
		uint64_t position = protobuf_varint(exchanges), count = protobuf_varint(counts);
		int64_t delta = protobuf_zigzag(protobuf_varint(times));

		if (position >= id_count || delta > INT64_MAX - time || time + delta < 0)
			return error_set(err, ERROR_FORMAT, "reading %zu of requests is malformed",
				r->profile->requests.reading_count);
		time += delta;
		if (!profile_add_exchange_reading(
			    r->profile, &(struct profile_exchange_reading){ ids[position], time, count }, err))
			return false;
	}
	return true;
}

static bool read_latencies(struct pprof_reader *r, const uint32_t *ids, size_t id_count, struct error *err)
{
	struct byte_reader *exchanges = &r->extension.columns[PPROF_COLUMN(latency_exchanges)],
			   *buckets = &r->extension.columns[PPROF_COLUMN(latency_bucket)],
			   *counts = &r->extension.columns[PPROF_COLUMN(latency_count)];

	while (exchanges->pos < exchanges->end) {
		uint64_t position = protobuf_varint(exchanges), bucket = protobuf_varint(buckets),
			 count = protobuf_varint(counts);

		if (position >= id_count || bucket >= PROFILE_LATENCY_BUCKETS)
			return error_set(
				err, ERROR_FORMAT, "latency %zu is malformed", r->profile->requests.latency_count);
		if (!profile_add_latency(
			    r->profile, &(struct profile_latency){ ids[position], (uint16_t)bucket, count }, err))
			return false;
	}
	return true;
}

bool pprof_read_requests(struct pprof_reader *r, struct error *err)
{
	size_t count = protobuf_count_varints(&r->extension.columns[PPROF_COLUMN(exchanges_run)]);
	CLEANUP(cleanup_free) uint32_t *ids = calloc(count + 1, sizeof(*ids));

	if (!ids)
		return error_set_memory(err);
	if (!pprof_columns_agree(r, PPROF_COLUMN(exchanges_run), PPROF_COLUMN(exchanges_sent), "exchanges", err) ||
		!pprof_columns_agree(
			r, PPROF_COLUMN(reading_exchanges), PPROF_COLUMN(reading_count), "readings", err) ||
		!pprof_columns_agree(
			r, PPROF_COLUMN(latency_exchanges), PPROF_COLUMN(latency_count), "latencies", err) ||
		!read_work(r, err))
		return false;
	for (size_t i = 0; i < count; i++)
		if (!pprof_requests_read_exchanges(r, &ids[i], err))
			return false;
	return read_exchange_readings(r, ids, count, err) && read_latencies(r, ids, count, err) &&
	       profile_sort_requests(r->profile, err);
}

/* ---- Writing ---- */

static void write_work(struct pprof_writer *w, Pprof__Extension *out)
{
	const struct profile_requests *requests = &w->profile->requests;

	if (requests->source == PROFILE_WORK_UNKNOWN)
		return;
	out->work = pprof_take(w, 1, sizeof(*out->work));
	if (!w->ok)
		return;
	pprof__work__init(out->work);
	out->work->source = requests->source;
	out->work->event = requests->event;
	out->work->one_in = requests->one_in;
}

/* Writes the new exchanges without the counts of their readings, which the reader adds to them. */
static void write_exchanges(struct pprof_writer *w)
{
	const struct profile_requests *requests = &w->profile->requests;
	bool is_any = requests->exchange_count > w->from->exchanges;
	uint64_t *unread = pprof_take(w, is_any ? requests->exchange_count : 0, sizeof(*unread));

	if (!is_any)
		return;
	for (size_t i = 0; w->ok && i < requests->exchange_count; i++)
		unread[i] = requests->exchanges[i].count;
	for (size_t i = 0; w->ok && i < requests->reading_count; i++) {
		const struct profile_exchange_reading *reading = &requests->readings[i];
		uint64_t *rest = &unread[reading->exchanges];

		*rest -= reading->count < *rest ? reading->count : *rest;
	}
	for (size_t i = w->from->exchanges; w->ok && i < requests->exchange_count; i++) {
		const struct profile_exchanges *exchanges = &requests->exchanges[i];

		pprof_append(w, PPROF_COLUMN(exchanges_run), exchanges->run);
		pprof_append(w, PPROF_COLUMN(exchanges_pid), (uint32_t)exchanges->pid);
		pprof_append(w, PPROF_COLUMN(exchanges_kind), exchanges->kind);
		pprof_append(w, PPROF_COLUMN(exchanges_process_name), exchanges->process_name);
		pprof_append(w, PPROF_COLUMN(exchanges_count), unread[i]);
		pprof_append(w, PPROF_COLUMN(exchanges_connections), exchanges->connections);
		pprof_append(w, PPROF_COLUMN(exchanges_received), exchanges->received_bytes);
		pprof_append(w, PPROF_COLUMN(exchanges_sent), exchanges->sent_bytes);
	}
}

static void write_readings(struct pprof_writer *w)
{
	const struct profile_requests *requests = &w->profile->requests;
	size_t from = w->from->readings;
	int64_t before = from > 0 ? requests->readings[from - 1].time_ns : 0;

	for (size_t i = from; w->ok && i < requests->reading_count; i++) {
		const struct profile_exchange_reading *reading = &requests->readings[i];

		pprof_append(w, PPROF_COLUMN(reading_exchanges), reading->exchanges);
		pprof_append_zigzag(w, PPROF_COLUMN(reading_time), reading->time_ns - before);
		pprof_append(w, PPROF_COLUMN(reading_count), reading->count);
		before = reading->time_ns;
	}
}

static void write_latencies(struct pprof_writer *w)
{
	const struct profile_requests *requests = &w->profile->requests;

	for (size_t i = w->from->latencies; w->ok && i < requests->latency_count; i++) {
		pprof_append(w, PPROF_COLUMN(latency_exchanges), requests->latencies[i].exchanges);
		pprof_append(w, PPROF_COLUMN(latency_bucket), requests->latencies[i].bucket);
		pprof_append(w, PPROF_COLUMN(latency_count), requests->latencies[i].count);
	}
}

void pprof_write_requests(struct pprof_writer *w, Pprof__Extension *out)
{
	write_work(w, out);
	write_exchanges(w);
	write_readings(w);
	write_latencies(w);
}
