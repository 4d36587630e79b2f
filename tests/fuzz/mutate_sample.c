/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/fuzz/mutate_sample.h"

#include "sampler/records/record.h"

#include <string.h>

/* perf_event_open(2), PERF_RECORD_SAMPLE: parts in this order, each there if its bit is set. */

enum { WORD = sizeof(uint64_t), MOST_MORE_WORDS = 64 };

/* Offsets of the parts whose size stands in front of them, from the record's start; 0: it has none. */
struct sample_parts {
	size_t chain, registers, stack;
	size_t chain_words, register_words, stack_bytes;
};

static size_t bits_set(uint64_t mask)
{
	return (size_t)__builtin_popcountll(mask);
}

static void skip_read(struct byte_reader *r, uint64_t format)
{
	size_t times = bits_set(format & (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)),
	       each = 1 + bits_set(format & (PERF_FORMAT_ID | PERF_FORMAT_LOST)), count = 1;

	if (format & PERF_FORMAT_GROUP)
		count = byte_reader_u64(r);
	if (count > byte_reader_left(r))
		count = byte_reader_left(r);
	byte_reader_skip(r, (times + count * each) * WORD);
}

/* Skips `count` items of `each` bytes, but never so many that the product overflows. */
static void skip_items(struct byte_reader *r, uint64_t count, size_t each)
{
	byte_reader_skip(r, count > byte_reader_left(r) ? SIZE_MAX : count * each);
}

static void skip_branches(struct byte_reader *r, const struct perf_event_attr *attr)
{
	uint64_t count = byte_reader_u64(r);

	if (attr->branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX)
		byte_reader_skip(r, WORD);
	skip_items(r, count, 3 * WORD);
}

static bool sample_find(
	const struct perf_event_attr *attr, const struct mutation_span *record, struct sample_parts *parts)
{
	static const uint64_t words = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
				      PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |
				      PERF_SAMPLE_PERIOD;
	struct byte_reader r = byte_reader_over(record->bytes, record->size);
	uint64_t type = attr->sample_type;

	*parts = (struct sample_parts){ 0 };
	byte_reader_skip(&r, RECORD_HEADER_BYTES + bits_set(type & words) * WORD);
	if (type & PERF_SAMPLE_READ)
		skip_read(&r, attr->read_format);
	if (type & PERF_SAMPLE_CALLCHAIN) {
		parts->chain = byte_reader_offset(&r);
		parts->chain_words = byte_reader_u64(&r);
		skip_items(&r, parts->chain_words, WORD);
	}
	if (type & PERF_SAMPLE_RAW)
		byte_reader_skip(&r, byte_reader_u32(&r));
	if (type & PERF_SAMPLE_BRANCH_STACK)
		skip_branches(&r, attr);
	if (type & PERF_SAMPLE_REGS_USER && byte_reader_u64(&r) != 0) {
		parts->registers = byte_reader_offset(&r);
		parts->register_words = bits_set(attr->sample_regs_user);
		byte_reader_skip(&r, parts->register_words * WORD);
	}
	if (type & PERF_SAMPLE_STACK_USER) {
		parts->stack = byte_reader_offset(&r);
		parts->stack_bytes = byte_reader_u64(&r);
		byte_reader_skip(&r, parts->stack_bytes);
	}
	return byte_reader_ok(&r);
}

/* Replaces `old` bytes at `at` by `size` others. */
static void put_spliced(
	const struct mutation_span *record, size_t at, size_t old, struct mutation_span bytes, struct buffer *out)
{
	size_t start = out->size, size;

	buffer_append(out, record->bytes, at);
	buffer_append(out, bytes.bytes, bytes.size);
	buffer_append(out, record->bytes + at + old, record->size - at - old);
	size = out->size - start;
	if (!out->failed && size <= RECORD_MAX_BYTES)
		memcpy(out->data + start + 6, &(uint16_t){ (uint16_t)size }, sizeof(uint16_t));
}

/* More words, which repeat those that are there, or fewer. `words`: as the record has them, may be unaligned. */
static void resize(struct mutation *m, const uint8_t *words, size_t count, struct buffer *out)
{
	size_t kept = mutation_below(m, count + 1),
	       more = mutation_below(m, 2) ? mutation_below(m, MOST_MORE_WORDS) : 0;

	buffer_append(out, words, kept * WORD);
	for (size_t i = 0; i < more && count > 0; i++)
		buffer_append(out, words + mutation_below(m, count) * WORD, WORD);
	buffer_append(out, words + kept * WORD, (count - kept) * (mutation_below(m, 2) ? WORD : 0));
}

static void mutate_chain(
	struct mutation *m, const struct sample_parts *parts, const struct mutation_span *record, struct buffer *out)
{
	struct buffer chain;
	uint64_t count = 0;

	buffer_init(&chain, RECORD_MAX_BYTES);
	buffer_append(&chain, &count, WORD);
	resize(m, record->bytes + parts->chain + WORD, parts->chain_words, &chain);
	if (!chain.failed) {
		count = chain.size / WORD - 1;
		memcpy(chain.data, &count, WORD);
		put_spliced(record, parts->chain, (1 + parts->chain_words) * WORD,
			(struct mutation_span){ (const uint8_t *)chain.data, chain.size }, out);
	}
	buffer_deinit(&chain);
}

/* Registers become near others, or point into the stack. */
static void mutate_registers(
	struct mutation *m, const struct sample_parts *parts, const struct mutation_span *record, struct buffer *out)
{
	const uint8_t *registers = record->bytes + parts->registers;
	size_t into = mutation_below(m, parts->register_words), from = mutation_below(m, parts->register_words);
	uint64_t value;

	memcpy(&value, registers + from * WORD, WORD);
	value = mutation_below(m, 2) ? mutation_number(m, value) : value + mutation_below(m, parts->stack_bytes + 1);
	put_spliced(record, parts->registers + into * WORD, WORD,
		(struct mutation_span){ (const uint8_t *)&value, WORD }, out);
}

/* Words of the stack become values of registers, which point to code or into the stack, or near their own. */
static void mutate_stack_words(
	struct mutation *m, const struct sample_parts *parts, const uint8_t *registers, struct buffer *stack)
{
	size_t words = stack->size / WORD;
	uint64_t value;

	for (size_t i = 0; words > 0 && i <= mutation_below(m, 4); i++) {
		char *word = stack->data + mutation_below(m, words) * WORD;

		memcpy(&value, word, WORD);
		if (parts->register_words > 0 && mutation_below(m, 2))
			memcpy(&value, registers + mutation_below(m, parts->register_words) * WORD, WORD);
		value += mutation_below(m, 2) ? mutation_below(m, words) * WORD : 0;
		memcpy(word, &value, WORD);
	}
}

static void mutate_stack(
	struct mutation *m, const struct sample_parts *parts, const struct mutation_span *record, struct buffer *out)
{
	struct buffer stack;
	const uint8_t *copy = record->bytes + parts->stack + WORD;
	uint64_t size;

	buffer_init(&stack, RECORD_MAX_BYTES);
	if (mutation_below(m, 2))
		resize(m, copy, parts->stack_bytes / WORD, &stack);
	else
		buffer_append(&stack, copy, parts->stack_bytes / WORD * WORD);
	mutate_stack_words(m, parts, record->bytes + parts->registers, &stack);
	if (!stack.failed) {
		struct buffer part;

		/* What was copied of the room for it is said behind it, unless that is empty. */
		buffer_init(&part, RECORD_MAX_BYTES);
		size = stack.size;
		buffer_append(&part, &size, WORD);
		buffer_append(&part, stack.data, stack.size);
		if (size > 0)
			size = mutation_below(m, 4) ? size : mutation_below(m, size + 1);
		if (stack.size > 0)
			buffer_append(&part, &size, WORD);
		put_spliced(record, parts->stack, WORD + parts->stack_bytes + (parts->stack_bytes ? WORD : 0),
			(struct mutation_span){ (const uint8_t *)part.data, part.size }, out);
		buffer_deinit(&part);
	}
	buffer_deinit(&stack);
}

static void mutate_words(struct mutation *m, const struct mutation_span *record, struct buffer *out)
{
	size_t start = out->size;

	buffer_append(out, record->bytes, record->size);
	if (!out->failed && record->size > RECORD_HEADER_BYTES)
		mutation_in_place(
			m, (uint8_t *)out->data + start + RECORD_HEADER_BYTES, record->size - RECORD_HEADER_BYTES);
}

void mutate_sample(
	struct mutation *m, const struct perf_event_attr *attr, const struct mutation_span *record, struct buffer *out)
{
	struct sample_parts parts;
	size_t what = mutation_below(m, 4);
	bool has_end = sample_find(attr, record, &parts);

	/* The size of what was copied follows the copy. */
	if (has_end && parts.stack_bytes > 0)
		has_end = parts.stack + 2 * WORD + parts.stack_bytes <= record->size;
	if (has_end && what == 0 && parts.chain > 0)
		mutate_chain(m, &parts, record, out);
	else if (has_end && what == 1 && parts.registers > 0 && parts.register_words > 0)
		mutate_registers(m, &parts, record, out);
	else if (has_end && what > 1 && parts.stack > 0)
		mutate_stack(m, &parts, record, out);
	else
		mutate_words(m, record, out);
}
