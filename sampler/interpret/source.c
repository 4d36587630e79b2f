/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/interpret/source.h"

static const struct ebpf_piece *interpret_source_find_piece(const struct ebpf_code *copy, uint64_t address)
{
	for (size_t i = 0; i < EBPF_CODE_PIECES; i++)
		if (address >= copy->pieces[i].address && address - copy->pieces[i].address < copy->pieces[i].size)
			return &copy->pieces[i];
	return NULL;
}

static size_t interpret_source_read_process(
	const struct interpreter_source *source, uint64_t address, void *into, size_t size)
{
	const struct iovec piece = interpreter_piece(address, size);

	return interpreter_read(source->host, source->pid, &piece, 1, into);
}

size_t interpreter_source_read(const struct interpreter_source *source, uint64_t address, void *into, size_t size)
{
	const struct ebpf_piece *piece = source->copy ? interpret_source_find_piece(source->copy, address) : NULL;
	const uint8_t *bytes;
	size_t copied;

	if (!piece)
		return source->copy ? 0 : interpret_source_read_process(source, address, into, size);
	bytes = piece->bytes + (address - piece->address);
	copied = piece->size - (size_t)(address - piece->address);
	if (size > copied && interpret_source_read_process(source, address, into, size) == size &&
		memcmp(into, bytes, copied) == 0)
		return size;
	memcpy(into, bytes, size < copied ? size : copied);
	return size < copied ? size : copied;
}

size_t interpreter_source_read_together(
	const struct interpreter_source *source, const uint64_t *addresses, size_t count, void *into, size_t size)
{
	struct iovec pieces[INTERPRETER_MOST_TOGETHER];
	size_t read = 0;

	if (source->copy) {
		while (read < count &&
			interpreter_source_read(source, addresses[read], (uint8_t *)into + read * size, size) == size)
			read++;
		return read;
	}
	for (size_t i = 0; i < count; i++)
		pieces[i] = interpreter_piece(addresses[i], size);
	return interpreter_read(source->host, source->pid, pieces, count, into) / size;
}

void interpreter_append_text(struct buffer *out, const char *bytes, size_t size)
{
	enum { MOST_SEQUENCE = 4 };
	size_t at = 0;

	while (at < size && bytes[at] != '\0') {
		/* A sequence of its own, so that one that is cut ends at a NUL. */
		char sequence[MOST_SEQUENCE + 1] = { 0 };
		const char *next = sequence;
		uint32_t code;

		memcpy(sequence, bytes + at, size - at < MOST_SEQUENCE ? size - at : MOST_SEQUENCE);
		code = unicode_next(&next);
		at += (size_t)(next - sequence);
		unicode_append(out, code < ' ' || (code >= 0x7f && code < 0xa0) ? 0xfffd : code);
	}
}
