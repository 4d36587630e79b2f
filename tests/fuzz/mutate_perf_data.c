/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/fuzz/mutate_perf_data.h"

#include "sampler/records/record.h"
#include "tests/fuzz/mutate_sample.h"

#include <string.h>

/*
 * tools/perf/Documentation/perf.data-file-format.txt of Linux: a header, events with their ids, records, and sections
 * of features. A stream has records only, of which some describe the events.
 */

enum {
	FILE_HEADER_BYTES = 104,
	STREAM_HEADER_BYTES = 16,
	SECTION_BYTES = 16,
	FEATURES = 256,
	MOST_EVENTS = 16,
	MOST_RECORDS = 1 << 13,
	MOST_GROWTH = 16,
	RECORD_ATTR = 64, /* PERF_RECORD_HEADER_ATTR: an event of a stream */
};

struct perf_file {
	bool is_stream;
	struct mutation_span events[MOST_EVENTS], ids[MOST_EVENTS]; /* events without the section of their ids */
	size_t event_count, event_bytes;
	struct mutation_span records[MOST_RECORDS];
	size_t record_count;
	struct mutation_span features[FEATURES];
	bool has_feature[FEATURES];
	struct perf_event_attr attr; /* of the first event */
};

/* ---- Taking apart ---- */

static struct mutation_span section_at(const struct byte_reader *file, uint64_t offset)
{
	struct byte_reader r = *file;
	uint64_t start, size;

	byte_reader_seek(&r, offset);
	start = byte_reader_u64(&r);
	size = byte_reader_u64(&r);
	r = *file;
	byte_reader_seek(&r, start);
	if (byte_reader_ok(&r) && size > byte_reader_left(&r))
		size = byte_reader_left(&r);
	return byte_reader_ok(&r) ? (struct mutation_span){ r.pos, size } : (struct mutation_span){ file->start, 0 };
}

static void take_attr(struct perf_file *file, const uint8_t *bytes, size_t size)
{
	memcpy(&file->attr, bytes, size < sizeof(file->attr) ? size : sizeof(file->attr));
}

static void take_events(struct perf_file *file, const struct byte_reader *whole, struct mutation_span events)
{
	size_t each = file->event_bytes;

	for (size_t at = 0; at + each <= events.size && file->event_count < MOST_EVENTS; at += each) {
		size_t offset = (size_t)(events.bytes + at - whole->start);

		file->events[file->event_count] = (struct mutation_span){ events.bytes + at, each - SECTION_BYTES };
		file->ids[file->event_count++] = section_at(whole, offset + each - SECTION_BYTES);
	}
	if (file->event_count > 0)
		take_attr(file, file->events[0].bytes, file->events[0].size);
}

static void take_records(struct perf_file *file, struct mutation_span data)
{
	struct byte_reader r = byte_reader_over(data.bytes, data.size);
	size_t size;

	while (file->record_count < MOST_RECORDS && record_size(r.pos, byte_reader_left(&r), &size)) {
		struct mutation_span record = { byte_reader_bytes(&r, size), size };
		struct byte_reader type = byte_reader_over(record.bytes, size);

		file->records[file->record_count++] = record;
		if (file->is_stream && byte_reader_u32(&type) == RECORD_ATTR)
			take_attr(file, record.bytes + RECORD_HEADER_BYTES, size - RECORD_HEADER_BYTES);
	}
}

static bool perf_file_read(struct perf_file *file, const uint8_t *bytes, size_t size)
{
	struct byte_reader whole = byte_reader_over(bytes, size), r = whole;
	struct mutation_span data;
	size_t entry;

	byte_reader_skip(&r, sizeof(uint64_t));
	file->is_stream = byte_reader_u64(&r) == STREAM_HEADER_BYTES;
	if (file->is_stream) {
		take_records(file, (struct mutation_span){ r.pos, byte_reader_left(&r) });
		return file->record_count > 0;
	}
	file->event_bytes = byte_reader_u64(&r);
	if (size < FILE_HEADER_BYTES || file->event_bytes <= SECTION_BYTES || file->event_bytes > UINT16_MAX)
		return false;
	take_events(file, &whole, section_at(&whole, 24));
	data = section_at(&whole, 40);
	take_records(file, data);
	entry = (size_t)(data.bytes - bytes) + data.size;
	for (size_t i = 0; i < FEATURES; i++)
		if (bytes[72 + i / 8] & 1 << i % 8) {
			file->has_feature[i] = true;
			file->features[i] = section_at(&whole, entry);
			entry += SECTION_BYTES;
		}
	return file->event_count > 0;
}

/* ---- Changes ---- */

/* Puts a changed copy of a span in place of it; `scratch` keeps the copy. */
static uint8_t *copy_span(struct mutation_span *span, struct arena *scratch)
{
	uint8_t *copy = (uint8_t *)arena_copy_string(scratch, (const char *)span->bytes, span->size);

	if (copy)
		span->bytes = copy;
	return copy;
}

static void change_event(struct mutation *m, struct perf_file *file, struct arena *scratch)
{
	size_t chosen = mutation_below(m, file->event_count);
	struct mutation_span *span = mutation_below(m, 4) ? &file->events[chosen] : &file->ids[chosen];
	uint8_t *copy = copy_span(span, scratch);

	if (copy)
		mutation_in_place(m, copy, span->size);
}

static void change_feature(struct mutation *m, struct perf_file *file, struct arena *scratch)
{
	size_t chosen = 0, seen = 0;
	struct buffer changed;

	for (size_t i = 0; i < FEATURES; i++)
		if (file->has_feature[i] && mutation_below(m, ++seen) == 0)
			chosen = i;
	if (mutation_below(m, 2) && copy_span(&file->features[chosen], scratch)) {
		mutation_in_place(m, (uint8_t *)file->features[chosen].bytes, file->features[chosen].size);
		return;
	}
	buffer_init(&changed, UINT16_MAX);
	mutation_append_blind(&file->features[chosen], MOST_GROWTH, &changed);
	file->features[chosen] = (struct mutation_span){ (const uint8_t *)changed.data, changed.size };
	copy_span(&file->features[chosen], scratch);
	buffer_deinit(&changed);
}

/* A record of another type, or with other numbers: its size stays. */
static void change_record(struct mutation *m, struct perf_file *file, struct arena *scratch)
{
	enum { NUMBERS_AT_ONCE = 3, KERNEL_TYPES = 22 };
	struct mutation_span *span = &file->records[mutation_below(m, file->record_count)];
	struct buffer changed;
	uint32_t type;
	uint8_t *copy = copy_span(span, scratch);

	if (!copy)
		return;
	memcpy(&type, copy, sizeof(type));
	if (mutation_below(m, 16) == 0) {
		type = (uint32_t)(mutation_below(m, 2) ? mutation_below(m, KERNEL_TYPES)
						       : RECORD_ATTR + mutation_below(m, 20));
		memcpy(copy, &type, sizeof(type));
	} else if (type == PERF_RECORD_SAMPLE && mutation_below(m, 2)) {
		buffer_init(&changed, RECORD_MAX_BYTES);
		mutate_sample(m, &file->attr, span, &changed);
		*span = (struct mutation_span){ (const uint8_t *)changed.data, changed.size };
		copy_span(span, scratch);
		buffer_deinit(&changed);
	} else {
		if (mutation_below(m, 4) == 0)
			mutation_in_place(m, copy + sizeof(type), sizeof(uint16_t)); /* misc */
		for (size_t i = 0; i <= mutation_below(m, NUMBERS_AT_ONCE); i++)
			mutation_in_place(m, copy + RECORD_HEADER_BYTES, span->size - RECORD_HEADER_BYTES);
	}
}

/* Repeats a record, leaves one out, or exchanges two. */
static void change_order(struct mutation *m, struct perf_file *file)
{
	size_t one = mutation_below(m, file->record_count), other = mutation_below(m, file->record_count);
	struct mutation_span span = file->records[one];

	switch (mutation_below(m, 3)) {
	case 0:
		if (file->record_count == MOST_RECORDS)
			return;
		memmove(file->records + other + 1, file->records + other,
			(file->record_count++ - other) * sizeof(file->records[0]));
		file->records[other] = span;
		return;
	case 1:
		memmove(file->records + one, file->records + one + 1,
			(--file->record_count - one) * sizeof(file->records[0]));
		return;
	default:
		file->records[one] = file->records[other];
		file->records[other] = span;
		return;
	}
}

static void change_something(struct mutation *m, struct perf_file *file, struct arena *scratch)
{
	enum { EVENTS, FEATURE, ORDER, ALL = 8 /* the rest: records */ };
	size_t what = mutation_below(m, ALL);

	if (what == FEATURE && !file->is_stream)
		change_feature(m, file, scratch);
	else if (what == EVENTS && !file->is_stream)
		change_event(m, file, scratch);
	else if (file->record_count > 0 && what <= ORDER)
		change_order(m, file);
	else if (file->record_count > 0)
		change_record(m, file, scratch);
}

/* ---- Putting together ---- */

static void put_number(struct buffer *out, uint64_t number)
{
	buffer_append(out, &number, sizeof(number));
}

static size_t sum_sizes(const struct mutation_span *spans, size_t count)
{
	size_t sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += spans[i].size;
	return sum;
}

static void put_spans(struct buffer *out, const struct mutation_span *spans, size_t count)
{
	for (size_t i = 0; i < count; i++)
		buffer_append(out, spans[i].bytes, spans[i].size);
}

static void put_events(const struct perf_file *file, struct buffer *out)
{
	uint64_t ids = FILE_HEADER_BYTES + file->event_count * file->event_bytes;

	for (size_t i = 0; i < file->event_count; i++) {
		put_spans(out, &file->events[i], 1);
		put_number(out, ids);
		put_number(out, file->ids[i].size);
		ids += file->ids[i].size;
	}
	put_spans(out, file->ids, file->event_count);
}

static void put_features(const struct perf_file *file, struct buffer *out)
{
	uint64_t offset = out->size;

	for (size_t i = 0; i < FEATURES; i++)
		offset += file->has_feature[i] ? SECTION_BYTES : 0;
	for (size_t i = 0; i < FEATURES; i++)
		if (file->has_feature[i]) {
			put_number(out, offset);
			put_number(out, file->features[i].size);
			offset += file->features[i].size;
		}
	put_spans(out, file->features, FEATURES);
}

static void put_file(const struct perf_file *file, struct buffer *out)
{
	uint64_t events = file->event_count * file->event_bytes;
	uint8_t bits[FEATURES / 8] = { 0 };

	for (size_t i = 0; i < FEATURES; i++)
		bits[i / 8] |= (uint8_t)(file->has_feature[i] << i % 8);
	buffer_append_string(out, "PERFILE2");
	put_number(out, file->is_stream ? STREAM_HEADER_BYTES : FILE_HEADER_BYTES);
	if (file->is_stream) {
		put_spans(out, file->records, file->record_count);
		return;
	}
	put_number(out, file->event_bytes);
	put_number(out, FILE_HEADER_BYTES);
	put_number(out, events);
	put_number(out, FILE_HEADER_BYTES + events + sum_sizes(file->ids, file->event_count));
	put_number(out, sum_sizes(file->records, file->record_count));
	put_number(out, 0); /* event types, of an old version */
	put_number(out, 0);
	buffer_append(out, bits, sizeof(bits));
	put_events(file, out);
	put_spans(out, file->records, file->record_count);
	put_features(file, out);
}

void mutate_perf_data(struct mutation *m, const uint8_t *bytes, size_t size, struct buffer *out)
{
	struct perf_file *file = calloc(1, sizeof(*file));
	struct arena scratch;

	arena_init(&scratch, 0);
	if (file && size > STREAM_HEADER_BYTES && perf_file_read(file, bytes, size)) {
		change_something(m, file, &scratch);
		put_file(file, out);
	}
	arena_deinit(&scratch);
	free(file);
}
