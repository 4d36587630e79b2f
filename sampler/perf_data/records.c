/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the records of perf.data, and delivers them in order of time. */
#include "sampler/perf_data/perf_data.h"

#include <string.h>

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
	TYPE_MAX = 255, /* no perf has a type above 86 */
};

/* Limit for the records that wait to be ordered; perf's rounds are far smaller. */
enum { MAX_WAITING_BYTES = 128 << 20 };

/* ---- In order of time ---- */

static bool deliver_one(struct perf_data *data, const struct queued_record *record, struct error *err)
{
	const char *name = record->stream->name;

	return perf_data_take(data, record, err) || error_prefix(err, "%s%srecord at offset %llu", name,
							    name[0] ? ": " : "", (unsigned long long)record->offset);
}

bool perf_data_deliver(struct perf_data *data, uint64_t limit_ns, struct error *err)
{
	struct queued_record record;

	while (record_queue_take(&data->queue, limit_ns, &record))
		if (!deliver_one(data, &record, err))
			return false;
	return true;
}

/*
 * Limits the waiting records: a file without rounds, or with wrong times, is read in its own order rather than kept in
 * memory.
 */
static bool records_make_room(struct perf_data *data, struct error *err)
{
	struct queued_record record;

	if (data->pool.bytes_in_use < MAX_WAITING_BYTES)
		return true;
	while (data->pool.bytes_in_use > MAX_WAITING_BYTES / 2 && record_queue_take(&data->queue, UINT64_MAX, &record))
		if (!deliver_one(data, &record, err))
			return false;
	return true;
}

/*
 * Ends a round: all records up to the end of the previous round are known, since perf reads each ring once in a round.
 */
static bool records_end_round(struct perf_data *data, struct error *err)
{
	uint64_t limit_ns = data->complete_ns;

	/* The files of a directory have no rounds. */
	if (data->stream_count > 1)
		return true;

	data->complete_ns = data->newest_ns;
	return perf_data_deliver(data, limit_ns, err);
}

/* Queues a record of the kernel. Takes its block over. */
static bool enqueue(struct perf_data *data, struct queued_record *record, struct error *err)
{
	struct perf_data_events *events = &data->header.events;
	bool is_sample = record->bytes[0] == PERF_RECORD_SAMPLE;

	if (!data->collector && !perf_data_begin(data, err)) {
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
	/* perf writes these records when it begins: they describe what existed before. */
	if (record->time_ns == 0 || record->time_ns == UINT64_MAX)
		return deliver_one(data, record, err);
	if (record->time_ns > data->newest_ns)
		data->newest_ns = record->time_ns;
	if (record->time_ns > record->stream->newest_ns)
		record->stream->newest_ns = record->time_ns;
	if (!record_queue_add(&data->queue, record, err)) {
		feed_release(record->feed, record->block);
		return false;
	}
	return records_make_room(data, err);
}

/* ---- In the order of the file ---- */

static uint32_t records_type_of(const uint8_t *bytes)
{
	struct byte_reader r = byte_reader_over(bytes, sizeof(uint32_t));

	return byte_reader_u32(&r);
}

static bool inflate(
	struct perf_data *data, struct perf_data_stream *stream, const uint8_t *bytes, size_t size, struct error *err)
{
	ZSTD_inBuffer in = { bytes, size, 0 };
	ZSTD_outBuffer out;
	size_t room;

	if (!stream->zstd)
		stream->zstd = ZSTD_createDStream();
	if (!stream->zstd)
		return error_set_memory(err);
	do {
		uint8_t *into;
		size_t code;

		if (!feed_room(&stream->inflated, &into, &room, err))
			return false;
		out = (ZSTD_outBuffer){ into, room, 0 };
		code = ZSTD_decompressStream(stream->zstd, &out, &in);
		if (ZSTD_isError(code))
			return error_set(err, ERROR_FORMAT, "compressed records: %s", ZSTD_getErrorName(code));
		feed_commit(&stream->inflated, out.pos);
		if (!perf_data_take_records(data, stream, &stream->inflated, err))
			return false;
	} while (in.pos < in.size || out.pos == room);
	return true;
}

static bool take_compressed(
	struct perf_data *data, struct perf_data_stream *stream, const uint8_t *bytes, size_t size, struct error *err)
{
	struct byte_reader r = byte_reader_over(bytes, size);
	uint64_t packed;

	byte_reader_skip(&r, RECORD_HEADER_BYTES);
	/* The newer kind contains its size, since it is padded. */
	packed = records_type_of(bytes) == TYPE_COMPRESSED2 ? byte_reader_u64(&r) : byte_reader_left(&r);
	if (!byte_reader_ok(&r) || packed > byte_reader_left(&r))
		return error_set(err, ERROR_FORMAT, "compressed records are cut short");
	return inflate(data, stream, r.pos, (size_t)packed, err);
}

/* Skips bytes that follow a record and belong to it. */
static bool skip_behind(struct perf_data_stream *stream, const uint8_t *bytes, size_t size, struct error *err)
{
	struct byte_reader r = byte_reader_over(bytes, size);
	uint64_t behind;

	byte_reader_skip(&r, RECORD_HEADER_BYTES);
	behind = records_type_of(bytes) == TYPE_AUXTRACE ? byte_reader_u64(&r)
							 : ((uint64_t)byte_reader_u32(&r) + 7) / 8 * 8;
	if (!byte_reader_ok(&r) || behind > INT64_MAX)
		return error_set(err, ERROR_FORMAT, "the size of what follows it is wrong");
	stream->skip += behind;
	return true;
}

static bool take_own(
	struct perf_data *data, struct perf_data_stream *stream, const struct queued_record *record, struct error *err)
{
	struct perf_data_header *header = &data->header;
	const uint8_t *bytes = record->bytes;
	size_t size = record->size;

	switch (records_type_of(bytes)) {
	case TYPE_ATTR:
		/* A file has its attrs in its header. */
		return !header->is_pipe || data->collector || perf_data_header_take_attr(header, bytes, size, err);
	case TYPE_BUILD_ID:
		return perf_data_header_take_build_id(header, bytes, size, err);
	case TYPE_FEATURE:
		return perf_data_header_take_feature(header, bytes, size, err);
	case TYPE_EVENT_UPDATE:
		perf_data_header_take_update(header, bytes, size);
		return true;
	case TYPE_FINISHED_ROUND:
		return records_end_round(data, err);
	case TYPE_COMPRESSED:
	case TYPE_COMPRESSED2:
		if (record->feed == &stream->inflated)
			return error_set(err, ERROR_FORMAT, "compressed records within compressed ones");
		return take_compressed(data, stream, bytes, size, err);
	case TYPE_AUXTRACE:
	case TYPE_TRACING_DATA:
		if (record->feed == &stream->inflated)
			return error_set(err, ERROR_FORMAT, "trace data within compressed records");
		return skip_behind(stream, bytes, size, err);
	default:
		return true;
	}
}

static bool take_one(
	struct perf_data *data, struct perf_data_stream *stream, struct queued_record *record, struct error *err)
{
	bool ok;

	if (records_type_of(record->bytes) < TYPE_FIRST)
		return enqueue(data, record, err);
	ok = take_own(data, stream, record, err);
	feed_release(record->feed, record->block);
	return ok || error_prefix(err, "record at offset %llu", (unsigned long long)record->offset);
}

/* Returns whether another file follows, as `cat` of two recordings makes it. */
static bool is_another_file(const struct feed *feed)
{
	static const char magic[] = "PERFILE2";

	return feed_left(feed) >= strlen(magic) && memcmp(feed->block->bytes + feed->read, magic, strlen(magic)) == 0;
}

void perf_data_end_early(struct perf_data *data, struct perf_data_stream *stream)
{
	stream->is_at_end = true;
	if (data->notices)
		buffer_printf(data->notices,
			"from offset %llu on, the stream has no whole record of perf: what is there is left out\n",
			(unsigned long long)stream->record_offset);
}

/*
 * Returns whether the bytes stand behind the stream: what stands behind a stream may be of another program that writes
 * to the same file. Its bytes seldom pass as the type and size of a record, and those of a text never do.
 */
static bool is_behind_stream(const struct perf_data *data, const struct perf_data_stream *stream,
	const struct feed *feed, enum feed_state state, const uint8_t *bytes)
{
	return data->header.is_pipe && feed == &stream->raw &&
	       (state == FEED_BAD || (state == FEED_RECORD && records_type_of(bytes) > TYPE_MAX));
}

/* Takes all whole records. */
bool perf_data_take_records(
	struct perf_data *data, struct perf_data_stream *stream, struct feed *feed, struct error *err)
{
	for (;;) {
		struct queued_record record = { .feed = feed, .stream = stream };
		enum feed_state state;
		size_t size;

		if (feed == &stream->raw) {
			stream->skip -= feed_skip(feed, stream->skip < SIZE_MAX ? (size_t)stream->skip : SIZE_MAX);
			stream->record_offset =
				stream->gap.bytes ? stream->gap.record : stream->input.offset - feed_left(feed);
		}
		if (is_another_file(feed))
			return error_set(err, ERROR_UNSUPPORTED,
				"another recording begins at offset %llu: make a file of each, and name them with a comma between",
				(unsigned long long)stream->record_offset);
		state = feed_next(feed, &record.bytes, &size, &record.block);
		if (state == FEED_PARTIAL)
			return true;
		if (is_behind_stream(data, stream, feed, state, record.bytes)) {
			if (state == FEED_RECORD)
				feed_release(feed, record.block);
			perf_data_end_early(data, stream);
			return true;
		}
		if (state == FEED_BAD)
			return error_set(err, ERROR_FORMAT, "record at offset %llu is shorter than its own header",
				(unsigned long long)stream->record_offset);
		record.size = (uint16_t)size;
		if (feed == &stream->raw)
			record.left_out = (uint16_t)perf_data_skim_close(&stream->gap, (uint8_t *)record.bytes, size);
		record.offset = stream->record_offset;
		if (!take_one(data, stream, &record, err))
			return false;
	}
}
