/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/fuzz/mutation.h"
#include "tests/fuzz/target.h"

#include <string.h>

/*
 * Stands in for the engine's mutator where that is not linked, with the changes that libFuzzer makes most
 * (FuzzerMutate.cpp): a bit, a byte, a number, bytes that are inserted, left out, or copied from elsewhere.
 */

static struct mutation engine;

static size_t blind_insert(uint8_t *data, size_t size, size_t max_size)
{
	size_t at = mutation_below(&engine, size + 1), count = 1 + mutation_below(&engine, 16);

	count = count < max_size - size ? count : max_size - size;
	memmove(data + at + count, data + at, size - at);
	for (size_t i = 0; i < count; i++)
		data[at + i] = (uint8_t)mutation_random(&engine);
	return size + count;
}

static size_t blind_erase(uint8_t *data, size_t size)
{
	size_t at = mutation_below(&engine, size), count = 1 + mutation_below(&engine, 16);

	count = count < size - at ? count : size - at;
	memmove(data + at, data + at + count, size - at - count);
	return size - count;
}

static void blind_copy(uint8_t *data, size_t size)
{
	size_t from = mutation_below(&engine, size), to = mutation_below(&engine, size),
	       count = 1 + mutation_below(&engine, size - (from > to ? from : to));

	memmove(data + to, data + from, count);
}

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size)
{
	if (size == 0)
		return max_size ? blind_insert(data, size, max_size) : 0;
	switch (mutation_below(&engine, 6)) {
	case 0:
		return size < max_size ? blind_insert(data, size, max_size) : size;
	case 1:
		return size > 1 ? blind_erase(data, size) : size;
	case 2:
		blind_copy(data, size);
		return size;
	case 3:
		data[mutation_below(&engine, size)] ^= (uint8_t)(1 << mutation_below(&engine, 8));
		return size;
	case 4:
		data[mutation_below(&engine, size)] = (uint8_t)mutation_random(&engine);
		return size;
	default:
		mutation_in_place(&engine, data, size);
		return size;
	}
}
