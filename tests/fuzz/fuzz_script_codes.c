/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/common.h"
#include "sampler/interpret/php/php.h"
#include "sampler/interpret/ruby/ruby.h"

#include <stdlib.h>
#include <string.h>

/*
 * The memory of a process from MEMORY_AT on. It begins with the address of a function of PHP, that of code of Ruby, and
 * that of a frame of PHP; then comes which of its bytes were copied as pieces of the code.
 */
enum {
	MEMORY_AT = 0x1000,
	PHP_AT = 0,
	RUBY_AT = 8,
	PIECES_AT = 24,
	PIECE_BYTES = 4,
	HEADER_BYTES = 40,
	MOST_WORDS = 64
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct fuzzed_memory {
	const uint8_t *bytes;
	size_t size;
};

static ssize_t read_fuzzed(
	void *context, int32_t pid, const struct iovec *into, const struct iovec *from, size_t from_count)
{
	const struct fuzzed_memory *memory = context;
	uint8_t *bytes = into->iov_base;
	size_t read = 0;

	(void)pid;
	for (size_t i = 0; i < from_count; i++) {
		uint64_t at = (uint64_t)(uintptr_t)from[i].iov_base - MEMORY_AT;
		size_t left = at < memory->size ? memory->size - (size_t)at : 0;
		size_t part = left < from[i].iov_len ? left : from[i].iov_len;

		if (part > 0)
			memcpy(bytes + read, memory->bytes + at, part);
		read += part;
		if (part < from[i].iov_len)
			break;
	}
	return (ssize_t)read;
}

static const struct process_host_functions functions = { .read_memory = read_fuzzed };

/* What is handed on is UTF-8 that no terminal obeys. */
static void check_text(const char *text)
{
	for (uint32_t code; (code = unicode_next(&text)) != 0;)
		if (code < ' ' || (code >= 0x7f && code < 0xa0))
			abort();
}

static void check_lines(const struct interpreter_code *code)
{
	for (size_t i = 1; i < code->line_count; i++)
		if (code->lines[i].position < code->lines[i - 1].position)
			abort();
}

static void read_code(const struct interpreter_code_reader *reads, void *reader, const void *image, uint64_t address,
	const struct ebpf_code *copy)
{
	struct interpreter_marks marks;
	struct interpreter_code code;
	struct error err;
	bool is_gone;

	reads->use(reader, copy);
	if (reads->read_marks(reader, image, 1, &address, 1, &marks) != 1)
		return;
	if (!reads->read(reader, image, 1, address, &marks, &code, &is_gone, &err))
		abort();
	if (is_gone)
		return;
	check_text(code.name);
	check_text(code.file);
	check_lines(&code);
}

/* Pieces of the memory: where each begins, and how long it is, in two bytes each. */
static struct ebpf_code make_copy(const struct fuzzed_memory *memory)
{
	struct ebpf_code copy = { .pid = 1 };
	uint16_t at[2];

	for (size_t i = 0; i < EBPF_CODE_PIECES; i++) {
		memcpy(at, memory->bytes + PIECES_AT + i * PIECE_BYTES, sizeof(at));
		at[0] = (uint16_t)(at[0] % memory->size);
		at[1] = (uint16_t)(1 + at[1] % (memory->size - at[0]));
		copy.pieces[i] = (struct ebpf_piece){ MEMORY_AT + at[0], memory->bytes + at[0], at[1] };
	}
	return copy;
}

static void read_php(const struct process_host *host, uint64_t address, const struct ebpf_code *copy)
{
	const struct php_image image = { .read = { MEMORY_AT + 16, 152 } };
	struct php_code_reader *reader;
	uint64_t words[MOST_WORDS];
	struct ebpf_frames frames;
	struct error err;

	if (!php_code_reader_create(host, &reader, &err))
		abort();
	read_code(&php_code_reads, reader, &image, address, NULL);
	read_code(&php_code_reads, reader, &image, address, copy);
	php_code_reads.destroy(reader);
	if (php_read_frames(host, &image.read, 1, words, MOST_WORDS, &frames) && frames.count > MOST_WORDS)
		abort();
}

static void read_ruby(const struct process_host *host, uint64_t address, const struct ebpf_code *copy)
{
	static const struct ruby_image images[] = {
		{ .read.text = 16,
			.lines = 120,
			.line_count = 136,
			.line_table = 144,
			.line_bytes = 12,
			.has_tagged_first_line = true },
		{ .read.text = 24, .lines = 112, .line_count = 128, .line_table = 136, .line_bytes = 12 },
	};
	struct ruby_code_reader *reader;
	struct error err;

	if (!ruby_code_reader_create(host, &reader, &err))
		abort();
	for (size_t i = 0; i < sizeof(images) / sizeof(*images); i++) {
		read_code(&ruby_code_reads, reader, &images[i], address, NULL);
		read_code(&ruby_code_reads, reader, &images[i], address, copy);
	}
	ruby_code_reads.destroy(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzzed_memory memory = { data, size };
	const struct process_host host = { &functions, &memory };
	struct ebpf_code copy;
	uint64_t php, ruby;

	if (size < HEADER_BYTES || size > UINT16_MAX)
		return 0;
	memcpy(&php, data + PHP_AT, sizeof(php));
	memcpy(&ruby, data + RUBY_AT, sizeof(ruby));
	copy = make_copy(&memory);
	read_php(&host, php, &copy);
	read_ruby(&host, ruby, &copy);
	return 0;
}
