/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "perf_data_bytes.h"

#include <string.h>

/* Attributes up to the user registers and stack, the same under any headers. */
enum { MAX_BYTES = 1 << 24, FILE_HEADER_BYTES = 104, ATTR_BYTES = PERF_ATTR_SIZE_VER3, ENTRY_BYTES = ATTR_BYTES + 16 };

struct perf_event_attr perf_bytes_attr(void)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.size = ATTR_BYTES,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN,
		.freq = 1,
		.sample_freq = 1000,
		.sample_id_all = 1,
	};
}

void put_u32(struct buffer *out, uint32_t value)
{
	buffer_append(out, &value, sizeof(value));
}

void put_u64(struct buffer *out, uint64_t value)
{
	buffer_append(out, &value, sizeof(value));
}

static void put_words(struct buffer *out, const uint64_t *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		put_u64(out, words[i]);
}

static void put_padded(struct buffer *out, const char *text)
{
	buffer_append(out, text, strlen(text) + 1);
	while (out->size % sizeof(uint64_t) != 0)
		buffer_append_byte(out, 0);
}

void put_record(struct buffer *out, const struct perf_event_attr *attr, uint32_t type, uint16_t misc,
	const struct buffer *body, uint64_t time_ns, uint64_t id)
{
	CLEANUP(buffer_deinit) struct buffer trailer = { 0 };
	uint16_t size;

	buffer_init(&trailer, MAX_BYTES);
	if (attr && attr->sample_id_all && type < PERF_TYPE_ATTR && type != PERF_RECORD_SAMPLE) {
		if (attr->sample_type & PERF_SAMPLE_TID)
			put_u64(&trailer, 0);
		if (attr->sample_type & PERF_SAMPLE_TIME)
			put_u64(&trailer, time_ns);
		if (attr->sample_type & PERF_SAMPLE_ID)
			put_u64(&trailer, id);
		if (attr->sample_type & PERF_SAMPLE_IDENTIFIER)
			put_u64(&trailer, id);
	}
	size = (uint16_t)(8 + (body ? body->size : 0) + trailer.size);
	put_u32(out, type);
	buffer_append(out, &misc, sizeof(misc));
	buffer_append(out, &size, sizeof(size));
	if (body)
		buffer_append(out, body->data ? body->data : "", body->size);
	buffer_append(out, trailer.data ? trailer.data : "", trailer.size);
}

void put_comm(struct buffer *out, const struct perf_event_attr *attr, uint32_t pid, const char *name, uint64_t time_ns)
{
	CLEANUP(buffer_deinit) struct buffer body = { 0 };

	buffer_init(&body, MAX_BYTES);
	put_u32(&body, pid);
	put_u32(&body, pid);
	put_padded(&body, name);
	put_record(out, attr, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, &body, time_ns, 1);
}

void put_mmap(struct buffer *out, const struct perf_event_attr *attr, uint32_t pid, uint64_t start, uint64_t size,
	const char *path, uint64_t time_ns)
{
	CLEANUP(buffer_deinit) struct buffer body = { 0 };

	buffer_init(&body, MAX_BYTES);
	put_u32(&body, pid);
	put_u32(&body, pid);
	put_u64(&body, start);
	put_u64(&body, size);
	put_u64(&body, 0);
	put_padded(&body, path);
	put_record(out, attr, PERF_RECORD_MMAP, PERF_RECORD_MISC_USER, &body, time_ns, 1);
}

/* The kernel's order of fields (perf_output_sample()). */
void put_sample(struct buffer *out, const struct perf_event_attr *attr, const struct perf_sample_bytes *sample)
{
	uint64_t type = attr->sample_type;
	CLEANUP(buffer_deinit) struct buffer body = { 0 };

	buffer_init(&body, MAX_BYTES);
	if (type & PERF_SAMPLE_IDENTIFIER)
		put_u64(&body, sample->id);
	put_u64(&body, sample->ip);
	put_u32(&body, sample->pid);
	put_u32(&body, sample->pid);
	if (type & PERF_SAMPLE_TIME)
		put_u64(&body, sample->time_ns);
	if (type & PERF_SAMPLE_ID)
		put_u64(&body, sample->id);
	if (type & PERF_SAMPLE_PERIOD)
		put_u64(&body, sample->period ? sample->period : 1000000);
	if (type & PERF_SAMPLE_READ)
		put_words(&body, sample->read, sample->read_words);
	if (type & PERF_SAMPLE_CALLCHAIN) {
		put_u64(&body, sample->chain_count);
		put_words(&body, sample->chain, sample->chain_count);
	}
	if (type & PERF_SAMPLE_RAW) {
		put_u32(&body, sample->raw_bytes);
		buffer_append(&body, sample->raw, sample->raw_bytes);
	}
	if (type & PERF_SAMPLE_BRANCH_STACK) {
		put_u64(&body, sample->branch_count);
		put_words(&body, sample->branches, 3 * sample->branch_count);
	}
	if (type & PERF_SAMPLE_REGS_USER) {
		put_u64(&body, PERF_SAMPLE_REGS_ABI_64);
		put_words(&body, sample->registers, (size_t)__builtin_popcountll(attr->sample_regs_user));
	}
	if (type & PERF_SAMPLE_STACK_USER) {
		put_u64(&body, sample->dump_bytes);
		for (size_t i = 0; i < sample->dump_bytes / sizeof(uint64_t) && !sample->dump; i++)
			put_u64(&body, 0);
		if (sample->dump)
			buffer_append(&body, sample->dump, sample->dump_bytes);
		put_u64(&body, sample->copied_bytes ? sample->copied_bytes : sample->dump_bytes);
	}
	put_record(out, attr, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, &body, 0, 0);
}

/* With the trailer that put_record() makes, but of the thread. */
void put_switch(struct buffer *out, uint32_t tid, uint16_t misc, uint64_t time_ns)
{
	CLEANUP(buffer_deinit) struct buffer trailer = { 0 };

	buffer_init(&trailer, MAX_BYTES);
	put_u32(&trailer, tid);
	put_u32(&trailer, tid);
	put_u64(&trailer, time_ns);
	put_u64(&trailer, 1);
	put_record(out, NULL, PERF_RECORD_SWITCH, misc, &trailer, time_ns, 1);
}

void put_round(struct buffer *out)
{
	put_record(out, NULL, PERF_TYPE_FINISHED_ROUND, 0, NULL, 0, 0);
}

void put_text(struct buffer *out, const char *text)
{
	put_u32(out, (uint32_t)strlen(text) + 1);
	buffer_append(out, text, strlen(text) + 1);
}

void put_file(struct buffer *out, const struct perf_event_bytes *events, size_t event_count,
	const struct buffer *records, const struct perf_feature_bytes *features, size_t feature_count)
{
	uint64_t ids_at = FILE_HEADER_BYTES, attrs_at = ids_at + event_count * sizeof(uint64_t);
	uint64_t data_at = attrs_at + event_count * ENTRY_BYTES;
	uint64_t body_at = data_at + records->size + feature_count * 2 * sizeof(uint64_t);
	uint8_t bits[32] = { 0 };

	for (size_t i = 0; i < feature_count; i++)
		bits[features[i].number / 8] |= (uint8_t)(1 << features[i].number % 8);
	buffer_append(out, "PERFILE2", 8);
	put_u64(out, FILE_HEADER_BYTES);
	put_u64(out, ENTRY_BYTES);
	put_u64(out, attrs_at);
	put_u64(out, event_count * ENTRY_BYTES);
	put_u64(out, data_at);
	put_u64(out, records->size);
	put_u64(out, 0);
	put_u64(out, 0);
	buffer_append(out, bits, sizeof(bits));
	for (size_t i = 0; i < event_count; i++)
		put_u64(out, events[i].id);
	for (size_t i = 0; i < event_count; i++) {
		buffer_append(out, &events[i].attr, ATTR_BYTES);
		put_u64(out, ids_at + i * sizeof(uint64_t));
		put_u64(out, sizeof(uint64_t));
	}
	buffer_append(out, records->data ? records->data : "", records->size);
	for (size_t i = 0; i < feature_count; i++) {
		put_u64(out, body_at);
		put_u64(out, features[i].body->size);
		body_at += features[i].body->size;
	}
	for (size_t i = 0; i < feature_count; i++)
		buffer_append(out, features[i].body->data ? features[i].body->data : "", features[i].body->size);
}

void put_pipe(
	struct buffer *out, const struct perf_event_bytes *events, size_t event_count, const struct buffer *records)
{
	buffer_append(out, "PERFILE2", 8);
	put_u64(out, 16);
	for (size_t i = 0; i < event_count; i++) {
		CLEANUP(buffer_deinit) struct buffer body = { 0 };

		buffer_init(&body, MAX_BYTES);
		buffer_append(&body, &events[i].attr, ATTR_BYTES);
		put_u64(&body, events[i].id);
		put_record(out, NULL, PERF_TYPE_ATTR, 0, &body, 0, 0);
	}
	buffer_append(out, records->data ? records->data : "", records->size);
}

void put_example_records(struct buffer *out, const struct perf_event_attr *attr)
{
	static const uint64_t early[] = { PERF_CONTEXT_USER, 0x401010, 0x401100 };
	static const uint64_t late[] = { PERF_CONTEXT_USER, 0x401020, 0x401100 };

	put_comm(out, attr, 7, "before", 0);
	put_mmap(out, attr, 7, 0x401000, 0x1000, "/no/such/program", 0);
	put_sample(out, attr, &(struct perf_sample_bytes){ 7, 3000, 0x401020, 1, late, 3 });
	put_round(out);
	/* Another CPU's ring, which is read later, holds what came before. */
	put_sample(out, attr, &(struct perf_sample_bytes){ 7, 1000, 0x401010, 1, early, 3 });
	put_comm(out, attr, 7, "after", 2000);
	put_mmap(out, attr, 7, 0x401000, 0x1000, "/no/such/program", 2000);
	put_round(out);
	put_round(out);
	put_sample(out, attr, &(struct perf_sample_bytes){ 7, 4000, 0x401020, 1, late, 3 });
}
