/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A script has a list of its functions: an array of weak references, whose second lowest bit is set. Many are read at
 * once: first the array, then the head of each function, then that of the code that some have in place of bytecode.
 */
#include "sampler/interpret/v8/v8.h"

enum { AT_ONCE = 64, HEAD_WORDS = 3, MOST_LISTED = 1 << 16 };

/* The heads of objects: those that can be read, in order, up to the first that cannot. */
static size_t read_heads(
	struct v8_heap *heap, const uint64_t *tagged, size_t count, uint64_t heads[AT_ONCE][HEAD_WORDS])
{
	enum { BYTES = HEAD_WORDS * sizeof(uint64_t) };
	struct iovec pieces[AT_ONCE];

	for (size_t i = 0; i < count; i++)
		pieces[i] = interpreter_piece(tagged[i] - 1, BYTES);
	return v8_read_pieces(heap, pieces, count, heads) / BYTES;
}

struct v8_listing {
	struct v8_heap *heap;
	struct v8_listed **functions;
	size_t *count, *capacity, most;
};

static bool list_add_listed(struct v8_listing *listing, uint64_t shared, uint64_t bytecode, struct error *err)
{
	if (*listing->count >= listing->most)
		return true;
	if (!ARRAY_RESERVE(listing->functions, listing->capacity, *listing->count + 1, listing->most, err))
		return false;
	(*listing->functions)[(*listing->count)++] = (struct v8_listed){ shared, bytecode };
	return true;
}

/* Adds the functions among the references; `shared` is changed. */
static bool list_some(struct v8_listing *listing, uint64_t *shared, size_t count, struct error *err)
{
	struct v8_heap *heap = listing->heap;
	uint64_t heads[AT_ONCE][HEAD_WORDS], data[AT_ONCE];
	size_t with_data = 0;

	count = read_heads(heap, shared, count, heads);
	for (size_t i = 0; i < count; i++) {
		uint64_t word = v8_word(heads[i], heap->layout->at[V8_SHARED_DATA]);

		if (!v8_is_map_of(heap, heads[i][0], V8_TYPE_FUNCTION_INFO) || !v8_is_pointer(word))
			continue;
		data[with_data] = word;
		shared[with_data++] = shared[i];
	}
	count = read_heads(heap, data, with_data, heads);
	for (size_t i = 0; i < count; i++) {
		uint64_t bytecode = 0;

		if (v8_is_map_of(heap, heads[i][0], V8_TYPE_BYTECODE))
			bytecode = data[i];
		else if (v8_is_map_of(heap, heads[i][0], V8_TYPE_CODE))
			bytecode = v8_word(heads[i], heap->layout->at[V8_CODE_DATA]);
		if (v8_is_pointer(bytecode) && !list_add_listed(listing, shared[i], bytecode, err))
			return false;
	}
	return true;
}

static bool is_weak(uint64_t word)
{
	return (word & 7) == 3 && v8_is_pointer(word & ~(uint64_t)2);
}

bool v8_list_functions(struct v8_heap *heap, uint64_t script, size_t most, struct v8_listed **functions, size_t *count,
	size_t *capacity, struct error *err)
{
	struct v8_listing listing = { heap, functions, count, capacity, most };
	uint64_t list, length, words[AT_ONCE];

	if (!v8_read(heap, script - 1 + (uint64_t)heap->layout->at[V8_SCRIPT_FUNCTIONS], &list, sizeof(list)) ||
		!v8_is_pointer(list) || !v8_read(heap, list - 1 + sizeof(length), &length, sizeof(length)) ||
		!v8_is_small(length) || v8_small(length) < 0 || v8_small(length) > MOST_LISTED)
		return true;
	for (size_t done = 0; done < (size_t)v8_small(length); done += AT_ONCE) {
		size_t left = (size_t)v8_small(length) - done, now = left < AT_ONCE ? left : AT_ONCE, kept = 0;

		if (!v8_read(heap, list - 1 + (2 + done) * sizeof(*words), words, now * sizeof(*words)))
			break;
		for (size_t i = 0; i < now; i++)
			if (is_weak(words[i]))
				words[kept++] = words[i] & ~(uint64_t)2;
		if (!list_some(&listing, words, kept, err))
			return false;
	}
	return true;
}
