/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "recording/interpret/v8/v8.h"

#include <sys/uio.h>

/* What is known is looked at again many at a time, since each read of another process's memory costs the same. */
enum { HEAD_WORDS = 2, CODE_WORDS = 9 };

static size_t read_pieces(struct v8_heap *heap, void *into, size_t bytes, const struct iovec *from, size_t count)
{
	struct iovec to = { into, bytes };
	ssize_t size;

	if (count == 0 || !v8_pay(heap, bytes))
		return 0;
	size = heap->host->functions->read_memory(heap->host->context, heap->pid, &to, from, count);
	return size < 0 ? 0 : (size_t)size;
}

static struct iovec piece_of(uint64_t address, size_t bytes)
{
	return (struct iovec){ (void *)(uintptr_t)address, bytes }; // NOLINT(performance-no-int-to-ptr)
}

void v8_check_functions(struct v8_heap *heap, struct v8_checked *functions, size_t count)
{
	enum { BYTES = HEAD_WORDS * sizeof(uint64_t) };
	uint64_t heads[V8_CHECKED_TOGETHER][HEAD_WORDS];
	struct iovec from[V8_CHECKED_TOGETHER] = { 0 };
	size_t read;

	for (size_t i = 0; i < count; i++)
		from[i] = piece_of(functions[i].shared - 1, BYTES);
	read = read_pieces(heap, heads, sizeof(heads), from, count) / BYTES;
	for (size_t i = 0; i < count; i++)
		functions[i].is_same = i < read && heads[i][1] == functions[i].data &&
				       v8_is_map_of(heap, heads[i][0], V8_TYPE_FUNCTION_INFO);
}

/* Whether both objects of code are as they were. */
static bool is_same_code(
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
	struct iovec from[V8_CHECKED_TOGETHER] = { 0 };
	size_t read;

	for (size_t i = 0; i < count; i++) {
		from[2 * i] = piece_of(codes[i].code->stream, HEAD_WORDS * sizeof(uint64_t));
		from[2 * i + 1] = piece_of(codes[i].code->described - 1, CODE_WORDS * sizeof(uint64_t));
	}
	read = read_pieces(heap, words, sizeof(words), from, 2 * count) / sizeof(words[0]);
	for (size_t i = 0; i < count; i++)
		codes[i].is_same = i < read && is_same_code(heap, codes[i].code, words[i], words[i] + HEAD_WORDS);
}
