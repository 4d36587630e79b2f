/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/records/record.h"

#include <string.h>

/*
 * Input: sample_type, read_format and register mask (8 bytes each), a byte of flags, then records.
 * Everything a record is said to hold is read, so that a sanitizer sees a lie.
 */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t sum_words(const struct record_words *words)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < words->count; i++)
		sum += record_word(words, i);
	return sum;
}

static uint64_t sum_bytes(const uint8_t *bytes, size_t size)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < size; i++)
		sum += bytes[i];
	return sum;
}

static uint64_t sum_values(const struct record_values *values)
{
	uint64_t sum = values->enabled_ns + values->running_ns;

	for (size_t i = 0; i < values->count; i++)
		sum += record_value(values, i) + record_value_id(values, i);
	return sum;
}

static uint64_t use(const struct record *record)
{
	switch (record->kind) {
	case RECORD_SAMPLE:
		return sum_values(&record->sample.values) + sum_words(&record->sample.callchain) +
		       sum_words(&record->sample.branches) + sum_words(&record->sample.user_registers) +
		       sum_bytes(record->sample.stack, record->sample.stack_room);
	case RECORD_MMAP:
		return strlen(record->mmap.path) + sum_bytes(record->mmap.build_id, record->mmap.build_id_size);
	case RECORD_COMM:
		return strlen(record->comm.name);
	case RECORD_FORK:
	case RECORD_EXIT:
		return (uint64_t)record->fork.parent_pid;
	case RECORD_LOST:
		return record->lost;
	case RECORD_CALLCHAIN:
		return record->callchain.cookie + sum_words(&record->callchain.words);
	case RECORD_THROTTLE:
	case RECORD_OTHER:
		break;
	}
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct byte_reader r = byte_reader_over(data, size);
	struct record_layout layout = {
		.sample_type = byte_reader_u64(&r),
		.read_format = byte_reader_u64(&r),
		.user_registers = byte_reader_u64(&r),
	};
	uint8_t flags = byte_reader_u8(&r);
	volatile uint64_t sum = 0;
	size_t record_bytes;

	layout.sample_id_all = flags & 1;
	layout.has_branch_index = flags & 2;
	while (byte_reader_ok(&r) && record_size(r.pos, byte_reader_left(&r), &record_bytes)) {
		const uint8_t *bytes = byte_reader_bytes(&r, record_bytes);
		struct record record;
		struct error err;

		sum += record_time(&layout, bytes, record_bytes);
		if (record_parse(&layout, bytes, record_bytes, &record, &err))
			sum += use(&record);
	}
	return 0;
}
