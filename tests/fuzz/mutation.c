/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/fuzz/mutation.h"

#include "tests/fuzz/target.h"

#include <string.h>

enum { ENGINES_SHARE = 8 };

/* SplitMix64 (Steele, Lea, Flood 2014). */
uint64_t mutation_random(struct mutation *m)
{
	uint64_t z = m->state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

size_t mutation_below(struct mutation *m, size_t limit)
{
	return limit ? (size_t)(mutation_random(m) % limit) : 0;
}

uint64_t mutation_number(struct mutation *m, uint64_t old)
{
	enum { SMALL = 16, WORD_BITS = 64 };
	uint64_t power = (uint64_t)1 << mutation_below(m, WORD_BITS);

	switch (mutation_below(m, 8)) {
	case 0:
		return old - 1;
	case 1:
		return old ^ (uint64_t)1 << mutation_below(m, 8);
	case 2:
		return power - mutation_below(m, 2);
	case 3:
		return mutation_random(m) % power;
	case 4:
		return old + mutation_below(m, SMALL);
	case 5:
		return old + 1;
	default:
		return mutation_below(m, SMALL);
	}
}

void mutation_in_place(struct mutation *m, uint8_t *bytes, size_t size)
{
	size_t width = (size_t)1 << mutation_below(m, 4), at;
	uint64_t number = 0;

	while (width > size)
		width /= 2;
	if (width == 0)
		return;
	at = mutation_below(m, size / width) * width;
	memcpy(&number, bytes + at, width);
	number = mutation_number(m, number);
	memcpy(bytes + at, &number, width);
}

void mutation_append_blind(const struct mutation_span *span, size_t room, struct buffer *out)
{
	uint8_t *into = buffer_reserve(out, span->size + room);

	if (!into)
		return;
	if (span->size)
		memcpy(into, span->bytes, span->size);
	buffer_commit(out, LLVMFuzzerMutate(into, span->size, span->size + room));
}

size_t mutation_run(uint8_t *data, size_t size, size_t max_size, unsigned int seed, mutation_format *mutate)
{
	struct mutation m = { seed };
	struct buffer out;

	buffer_init(&out, max_size);
	if (mutation_below(&m, ENGINES_SHARE) > 0)
		mutate(&m, data, size, &out);
	if (out.failed || out.size == 0) {
		size = LLVMFuzzerMutate(data, size, max_size);
	} else {
		size = out.size;
		memcpy(data, out.data, size);
	}
	buffer_deinit(&out);
	return size;
}

void mutation_pair(struct mutation *m, mutation_format *mutate, const struct mutation_span *pair, struct buffer *out)
{
	struct byte_reader r = byte_reader_over(pair->bytes, pair->size);
	size_t first = byte_reader_u16(&r), left = byte_reader_left(&r);
	struct mutation_span spans[2], *chosen;
	struct buffer changed;

	first = first < left ? first : left;
	spans[0] = (struct mutation_span){ byte_reader_bytes(&r, first), first };
	spans[1] = (struct mutation_span){ r.pos, byte_reader_left(&r) };
	if (!byte_reader_ok(&r))
		return;
	chosen = &spans[first == 0 || mutation_below(m, 2)];
	buffer_init(&changed, UINT16_MAX);
	mutate(m, chosen->bytes, chosen->size, &changed);
	*chosen = (struct mutation_span){ (const uint8_t *)changed.data, changed.size };
	if (changed.size > 0 && !changed.failed) {
		buffer_append(out, &(uint16_t){ (uint16_t)spans[0].size }, sizeof(uint16_t));
		buffer_append(out, spans[0].bytes, spans[0].size);
		buffer_append(out, spans[1].bytes, spans[1].size);
	}
	buffer_deinit(&changed);
}
