/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Looks again at what is known, many at a time, since each read of another process's memory costs the same. */
#include "sampler/interpret/v8/v8.h"

enum { HEAD_WORDS = 2, CODE_WORDS = 9 };

void v8_check_functions(struct v8_heap *heap, struct v8_checked *functions, size_t count)
{
	enum { BYTES = HEAD_WORDS * sizeof(uint64_t) };
	uint64_t heads[V8_CHECKED_TOGETHER][HEAD_WORDS];
	struct iovec pieces[V8_CHECKED_TOGETHER] = { 0 };
	size_t read;

	for (size_t i = 0; i < count; i++)
		pieces[i] = interpreter_piece(functions[i].shared - 1, BYTES);
	read = v8_read_pieces(heap, pieces, count, heads) / BYTES;
	for (size_t i = 0; i < count; i++)
		functions[i].is_same = i < read && heads[i][1] == functions[i].data &&
				       v8_is_map_of(heap, heads[i][0], V8_TYPE_FUNCTION_INFO);
}

/* Returns whether both objects of code are as they were. */
static bool v8_check_is_same_code(
	struct v8_heap *heap, const struct v8_code *code, const uint64_t *header, const uint64_t *object)
{
	const struct v8_layout *layout = heap->layout;
	uint32_t size;

	memcpy(&size, (const uint8_t *)object + layout->at[V8_CODE_SIZE], sizeof(size));
	return v8_is_map_of(heap, header[0], layout->has_streams ? V8_TYPE_STREAM : V8_TYPE_CODE) &&
	       (!layout->has_streams || header[1] == code->described) && v8_is_map_of(heap, object[0], V8_TYPE_CODE) &&
	       v8_word(object, layout->at[V8_CODE_DATA]) == code->data && code->start + size == code->end;
}

void v8_check_code(struct v8_heap *heap, struct v8_checked_code *codes, size_t count)
{
	enum { WORDS = HEAD_WORDS + CODE_WORDS, TOGETHER = V8_CHECKED_TOGETHER / 2 };
	uint64_t words[TOGETHER][WORDS];
	struct iovec pieces[V8_CHECKED_TOGETHER] = { 0 };
	size_t read;

	for (size_t i = 0; i < count; i++) {
		pieces[2 * i] = interpreter_piece(codes[i].code->stream, HEAD_WORDS * sizeof(uint64_t));
		pieces[2 * i + 1] = interpreter_piece(codes[i].code->described - 1, CODE_WORDS * sizeof(uint64_t));
	}
	read = v8_read_pieces(heap, pieces, 2 * count, words) / sizeof(words[0]);
	for (size_t i = 0; i < count; i++)
		codes[i].is_same =
			i < read && v8_check_is_same_code(heap, codes[i].code, words[i], words[i] + HEAD_WORDS);
}
