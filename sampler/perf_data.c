/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/perf_data.h"

#include "sampler/result.h"

#include <stdlib.h>
#include <sys/stat.h>

/* Records that perf's tools add to those of the kernel (perf_user_event_type). */
enum {
	TYPE_FIRST = 64,
	TYPE_ATTR = 64,
	TYPE_TRACING_DATA = 66,
	TYPE_BUILD_ID = 67,
	TYPE_FINISHED_ROUND = 68,
	TYPE_AUXTRACE = 71,
	TYPE_EVENT_UPDATE = 78,
	TYPE_FEATURE = 80,
	TYPE_COMPRESSED = 81,
	TYPE_COMPRESSED2 = 83,
};

/* What the records that wait for their turn may hold; perf's rounds are far smaller. */
enum { MAX_WAITING_BYTES = 128 << 20 };

static uint32_t type_of(const uint8_t *bytes)
{
	struct byte_reader r = byte_reader_over(bytes, sizeof(uint32_t));

	return byte_reader_u32(&r);
}

/* ---- In order of time ---- */

static bool deliver_one(struct perf_data *data, const struct queued_record *record, struct error *err)
{
	return perf_data_take(data, record, err) || error_prefix(err, "record at offset %llu", (unsigned long long)record->offset);
}

static bool deliver(struct perf_data *data, uint64_t limit_ns, struct error *err)
{
	struct queued_record record;

	while (record_queue_take(&data->queue, limit_ns, &record))
		if (!deliver_one(data, &record, err))
			return false;
	return true;
}

/* A file without rounds, or with false times, is taken in the order it has rather than held in memory whole. */
static bool make_room(struct perf_data *data, struct error *err)
{
	struct queued_record record;

	if (data->pool.bytes_in_use < MAX_WAITING_BYTES)
		return true;
	while (data->pool.bytes_in_use > MAX_WAITING_BYTES / 2 && record_queue_take(&data->queue, UINT64_MAX, &record))
		if (!deliver_one(data, &record, err))
			return false;
	return true;
}

/* What was there when the round before ended is complete now: perf reads each ring once in a round. */
static bool end_round(struct perf_data *data, struct error *err)
{
	uint64_t limit_ns = data->complete_ns;

	data->complete_ns = data->newest_ns;
	return deliver(data, limit_ns, err);
}

/* Takes the block over. */
static bool enqueue(struct perf_data *data, struct queued_record *record, struct error *err)
{
	struct perf_data_events *events = &data->header.events;
	bool is_sample = type_of(record->bytes) == PERF_RECORD_SAMPLE;

	if (!data->is_collecting && !perf_data_begin(data, err)) {
		feed_release(record->feed, record->block);
		return false;
	}
	record->event = perf_data_events_find(events, record->bytes, record->size);
	if (record->event != PERF_DATA_NO_EVENT)
		events->items[record->event].samples += is_sample;
	if (record->event == PERF_DATA_NO_EVENT || (is_sample && record->event != data->event)) {
		feed_release(record->feed, record->block);
		return true;
	}
	record->time_ns = record_time(&events->items[record->event].layout, record->bytes, record->size);
	/* Made up by perf when it began: they describe what was there before. */
	if (record->time_ns == 0 || record->time_ns == UINT64_MAX)
		return deliver_one(data, record, err);
	if (record->time_ns > data->newest_ns)
		data->newest_ns = record->time_ns;
	if (!record_queue_add(&data->queue, record, err)) {
		feed_release(record->feed, record->block);
		return false;
	}
	return make_room(data, err);
}

/* ---- Records as they stand in the file ---- */

static bool take_records(struct perf_data *data, struct feed *feed, struct error *err);

static bool inflate(struct perf_data *data, const uint8_t *bytes, size_t size, struct error *err)
{
	ZSTD_inBuffer in = { bytes, size, 0 };
	ZSTD_outBuffer out;
	size_t room;

	if (!data->zstd)
		data->zstd = ZSTD_createDStream();
	if (!data->zstd)
		return error_set_memory(err);
	do {
		uint8_t *into;
		size_t code;

		if (!feed_room(&data->inflated, &into, &room, err))
			return false;
		out = (ZSTD_outBuffer){ into, room, 0 };
		code = ZSTD_decompressStream(data->zstd, &out, &in);
		if (ZSTD_isError(code))
			return error_set(err, ERROR_FORMAT, "compressed records: %s", ZSTD_getErrorName(code));
		feed_commit(&data->inflated, out.pos);
		if (!take_records(data, &data->inflated, err))
			return false;
	} while (in.pos < in.size || out.pos == room);
	return true;
}

static bool take_compressed(struct perf_data *data, const uint8_t *bytes, size_t size, struct error *err)
{
	struct byte_reader r = byte_reader_over(bytes, size);
	uint64_t packed;

	byte_reader_skip(&r, RECORD_HEADER_BYTES);
	/* The newer kind tells its size, since it is padded. */
	packed = type_of(bytes) == TYPE_COMPRESSED2 ? byte_reader_u64(&r) : byte_reader_left(&r);
	if (!byte_reader_ok(&r) || packed > byte_reader_left(&r))
		return error_set(err, ERROR_FORMAT, "compressed records are cut short");
	return inflate(data, r.pos, (size_t)packed, err);
}

/* Bytes that follow a record without being one. */
static bool skip_behind(struct perf_data *data, const uint8_t *bytes, size_t size, struct error *err)
{
	struct byte_reader r = byte_reader_over(bytes, size);
	uint64_t behind;

	byte_reader_skip(&r, RECORD_HEADER_BYTES);
	behind = type_of(bytes) == TYPE_AUXTRACE ? byte_reader_u64(&r) : ((uint64_t)byte_reader_u32(&r) + 7) / 8 * 8;
	if (!byte_reader_ok(&r) || behind > INT64_MAX)
		return error_set(err, ERROR_FORMAT, "the size of what follows it is wrong");
	data->skip += behind;
	return true;
}

static bool take_own(struct perf_data *data, const struct feed *feed, const uint8_t *bytes, size_t size, struct error *err)
{
	struct perf_data_header *header = &data->header;

	switch (type_of(bytes)) {
	case TYPE_ATTR:
		/* A file's are in its header. */
		return !header->is_pipe || data->is_collecting || perf_data_header_take_attr(header, bytes, size, err);
	case TYPE_BUILD_ID:
		return perf_data_header_take_build_id(header, bytes, size, err);
	case TYPE_FEATURE:
		return perf_data_header_take_feature(header, bytes, size, err);
	case TYPE_EVENT_UPDATE:
		perf_data_header_take_update(header, bytes, size);
		return true;
	case TYPE_FINISHED_ROUND:
		return end_round(data, err);
	case TYPE_COMPRESSED:
	case TYPE_COMPRESSED2:
		if (feed == &data->inflated)
			return error_set(err, ERROR_FORMAT, "compressed records within compressed ones");
		return take_compressed(data, bytes, size, err);
	case TYPE_AUXTRACE:
	case TYPE_TRACING_DATA:
		if (feed == &data->inflated)
			return error_set(err, ERROR_FORMAT, "trace data within compressed records");
		return skip_behind(data, bytes, size, err);
	default:
		return true;
	}
}

static bool take_one(struct perf_data *data, struct queued_record *record, struct error *err)
{
	bool ok;

	if (type_of(record->bytes) < TYPE_FIRST)
		return enqueue(data, record, err);
	ok = take_own(data, record->feed, record->bytes, record->size, err);
	feed_release(record->feed, record->block);
	return ok || error_prefix(err, "record at offset %llu", (unsigned long long)record->offset);
}

/* All that are whole. */
static bool take_records(struct perf_data *data, struct feed *feed, struct error *err)
{
	for (;;) {
		struct queued_record record = { .feed = feed };
		enum feed_state state;
		size_t size;

		if (feed == &data->raw) {
			data->skip -= feed_skip(feed, data->skip < SIZE_MAX ? (size_t)data->skip : SIZE_MAX);
			data->record_offset = data->skim.gap_bytes ? data->skim.gap_record : data->input.offset - feed_left(feed);
		}
		state = feed_next(feed, &record.bytes, &size, &record.block);
		if (state == FEED_PARTIAL)
			return true;
		if (state == FEED_BAD)
			return error_set(err, ERROR_FORMAT, "record at offset %llu is shorter than its own header",
				(unsigned long long)data->record_offset);
		record.size = (uint16_t)size;
		if (feed == &data->raw)
			record.left_out = (uint16_t)perf_data_skim_close(&data->skim, (uint8_t *)record.bytes, size);
		record.offset = data->record_offset;
		if (!take_one(data, &record, err))
			return false;
	}
}

/* ---- The whole file ---- */

static bool check_end(struct perf_data *data, uint64_t missing, struct error *err)
{
	if (data->header.is_unfinished) {
		if (data->notices)
			buffer_append_string(
				data->notices, "perf record was killed before it finished this file: read as far as it goes\n");
		return true;
	}
	if (feed_left(&data->raw) > 0 || data->skip > 0)
		return error_set(err, ERROR_FORMAT,
			"it ends at offset %llu within the record at offset %llu: it was cut short; copy or record it again",
			(unsigned long long)data->input.offset, (unsigned long long)data->record_offset);
	if (missing > 0 && !data->header.is_pipe)
		return error_set(err, ERROR_FORMAT,
			"it ends at offset %llu, %llu bytes before the end of its data: it was cut short; copy or record it again",
			(unsigned long long)data->input.offset, (unsigned long long)missing);
	if (feed_left(&data->inflated) > 0)
		return error_set(err, ERROR_FORMAT, "its compressed data end within a record");
	return true;
}

static size_t bytes_to_read(const struct perf_data *data, size_t room, uint64_t left)
{
	size_t wanted = data->skim.next_bytes;

	if (wanted == 0 || wanted > room)
		wanted = room;
	return left < wanted ? (size_t)left : wanted;
}

/* Of a file that ends where bytes were to be left out. */
static void note_end(struct perf_data *data)
{
	struct stat status;

	if (data->skim.gap_bytes > 0 && fstat(data->input.fd, &status) == 0 && (uint64_t)status.st_size < data->input.offset)
		data->input.offset = (uint64_t)status.st_size;
}

static bool read_data(struct perf_data *data, struct error *err)
{
	uint64_t left = data->header.data_size;

	data->input.offset = data->header.data_offset;
	for (;;) {
		uint8_t *into;
		size_t room, got;

		perf_data_skim_step(&data->skim, &data->header.events, &data->raw, &data->input, &left);
		if (!feed_room(&data->raw, &into, &room, err) ||
			!perf_data_input_read(&data->input, into, bytes_to_read(data, room, left), &got, err))
			return false;
		if (got == 0)
			break;
		left -= got;
		feed_commit(&data->raw, got);
		if (!take_records(data, &data->raw, err))
			return false;
	}
	note_end(data);
	return check_end(data, left, err) && deliver(data, UINT64_MAX, err);
}

static bool check_kind(const struct perf_data *data, struct error *err)
{
	if (data->header.has_threads_directory)
		return error_set(err, ERROR_UNSUPPORTED,
			"it was recorded with --threads, in several files; record without it, or join them with 'perf inject'");
	return data->header.is_pipe || perf_data_events_check(&data->header.events, err);
}

static void init(struct perf_data *data, const struct sampler_recorded *from, struct buffer *notices)
{
	*data = (struct perf_data){
		.input = { .fd = from->fd, .name = from->name, .head = from->head, .head_bytes = from->head_bytes },
		.event = PERF_DATA_NO_EVENT,
		.notices = notices,
	};
	data->input.is_seekable = lseek(from->fd, 0, SEEK_CUR) >= 0;
	perf_data_header_init(&data->header);
	data->header.files.cache_directory = from->cache_directory;
	data->header.files.hooks.context = &data->header.files;
	feed_init(&data->raw, &data->pool);
	feed_init(&data->inflated, &data->pool);
	perf_data_skim_init(&data->skim, data->input.is_seekable);
}

static void deinit(struct perf_data *data)
{
	record_queue_deinit(&data->queue);
	perf_data_release_held(data);
	perf_data_skim_deinit(&data->skim);
	feed_deinit(&data->raw);
	feed_deinit(&data->inflated);
	feed_pool_deinit(&data->pool);
	ZSTD_freeDStream(data->zstd);
	if (data->is_collecting)
		collector_deinit(&data->collector);
	perf_data_header_deinit(&data->header);
	free(data->kernel.kallsyms);
}

/* `event`: PERF_DATA_NO_EVENT chooses. `*next` is another one that has samples where this has none. */
static bool read_once(const struct sampler_recorded *from, uint32_t event, struct sampler_result *result, struct buffer *notices,
	uint32_t *next, struct error *err)
{
	struct perf_data data;
	bool ok;

	init(&data, from, notices);
	data.event = event;
	*next = PERF_DATA_NO_EVENT;
	ok = perf_data_header_read(&data.header, &data.input, err) && check_kind(&data, err) && read_data(&data, err);
	if (ok && event == PERF_DATA_NO_EVENT && data.input.is_seekable && data.is_collecting)
		*next = perf_data_other_event(&data);
	ok = ok && *next == PERF_DATA_NO_EVENT && perf_data_finish(&data, result, err);
	deinit(&data);
	return ok;
}

bool sampler_read_perf_data(
	const struct sampler_recorded *recorded, struct sampler_result *result, struct buffer *notices, struct error *err)
{
	uint32_t next;

	if (read_once(recorded, PERF_DATA_NO_EVENT, result, notices, &next, err))
		return true;
	if (next != PERF_DATA_NO_EVENT && read_once(recorded, next, result, notices, &next, err))
		return true;
	return error_prefix(err, "cannot read %s", recorded->name);
}
