/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "script_memory_fixture.h"

#include <string.h>

const struct php_image script_php = { .read = { .filename = 152 } };

static struct ruby_loop no_loop;
const struct ruby_image script_ruby = { .read = { .frame_bytes = 64, .text = RUBY_TEXT_LENGTH },
	.lines = 120,
	.line_count = 136,
	.line_table = 144,
	.line_bytes = 12,
	.has_tagged_first_line = true,
	.loop = &no_loop };

static void put(struct script_memory *memory, uint64_t address, const void *bytes, size_t size)
{
	memcpy(memory->bytes + (address - MEMORY_AT), bytes, size);
}

void script_put_word(struct script_memory *memory, uint64_t address, uint64_t word)
{
	put(memory, address, &word, sizeof(word));
}

void script_put_half(struct script_memory *memory, uint64_t address, uint32_t half)
{
	put(memory, address, &half, sizeof(half));
}

void script_put_php_text(struct script_memory *memory, uint64_t address, const char *text)
{
	script_put_word(memory, address + PHP_TEXT_LENGTH, strlen(text));
	put(memory, address + PHP_TEXT, text, strlen(text) + 1);
}

void script_put_ruby_text(struct script_memory *memory, uint64_t object, uint64_t address, const char *text)
{
	script_put_word(memory, object + RUBY_OBJECT_FLAGS, RUBY_STRING | RUBY_IS_APART);
	script_put_word(memory, object + RUBY_TEXT_LENGTH, strlen(text));
	script_put_word(memory, object + RUBY_TEXT_POINTER, address);
	put(memory, address, text, strlen(text) + 1);
}

static void put_php(struct script_memory *memory)
{
	script_put_word(memory, PHP_FUNCTION + PHP_FUNCTION_TYPE, 2);
	script_put_word(memory, PHP_FUNCTION + PHP_FUNCTION_NAME, PHP_FUNCTION_TEXT);
	script_put_word(memory, PHP_FUNCTION + PHP_FUNCTION_SCOPE, PHP_CLASS);
	script_put_word(memory, PHP_FUNCTION + script_php.read.filename, PHP_FILE_TEXT);
	script_put_half(memory, PHP_FUNCTION + script_php.read.filename + 8, 7);
	script_put_word(memory, PHP_CLASS + PHP_CLASS_NAME, PHP_CLASS_TEXT);
	script_put_php_text(memory, PHP_FUNCTION_TEXT, "serve");
	script_put_php_text(memory, PHP_CLASS_TEXT, "Server");
	script_put_php_text(memory, PHP_FILE_TEXT, "/srv/a.php");
}

static void put_ruby(struct script_memory *memory)
{
	enum { IMEMO_CODE = 0x701a, INSTRUCTIONS = 4 };

	script_put_word(memory, RUBY_CODE + RUBY_OBJECT_FLAGS, IMEMO_CODE);
	script_put_word(memory, RUBY_CODE + RUBY_CODE_BODY, RUBY_BODY);
	script_put_half(memory, RUBY_BODY + RUBY_BODY_SIZE, INSTRUCTIONS);
	script_put_word(memory, RUBY_BODY + RUBY_BODY_INSTRUCTIONS, RUBY_INSTRUCTIONS);
	script_put_word(memory, RUBY_BODY + RUBY_BODY_PATH, RUBY_PATHS);
	script_put_word(memory, RUBY_BODY + RUBY_BODY_LABEL, RUBY_LABEL);
	script_put_word(memory, RUBY_BODY + RUBY_BODY_FIRST_LINE, 9 << 1 | 1);
	script_put_word(memory, RUBY_BODY + script_ruby.lines, RUBY_LINES);
	script_put_half(memory, RUBY_BODY + script_ruby.line_count, 2);
	script_put_word(memory, RUBY_BODY + script_ruby.line_table, RUBY_COUNTS);
	/* One entry up to the positions 0 and 1, two up to 2 and 3. */
	script_put_word(memory, RUBY_COUNTS, 1 | 1 << 7 | 2 << 14 | 2 << 21);
	script_put_half(memory, RUBY_LINES, 10);
	script_put_half(memory, RUBY_LINES + script_ruby.line_bytes, 12);
	script_put_ruby_text(memory, RUBY_LABEL, RUBY_LABEL_TEXT, "block in serve");
	script_put_ruby_text(memory, RUBY_PATH, RUBY_PATH_TEXT, "/srv/a.rb");
	/* An array of two that is embedded. */
	script_put_word(memory, RUBY_PATHS + RUBY_OBJECT_FLAGS, RUBY_ARRAY_TYPE | RUBY_IS_APART);
	script_put_word(memory, RUBY_PATHS + RUBY_ARRAY, WILD);
	script_put_word(memory, RUBY_PATHS + RUBY_ARRAY + 8, RUBY_PATH);
}

void script_memory_init(struct script_memory *memory)
{
	memset(memory, 0, sizeof(*memory));
	put_php(memory);
	put_ruby(memory);
}

ssize_t script_memory_read(
	void *context, int32_t pid, const struct iovec *into, const struct iovec *from, size_t from_count)
{
	struct script_memory *memory = context;
	uint8_t *bytes = into->iov_base;
	size_t size = 0;

	(void)pid;
	memory->reads++;
	for (size_t i = 0; i < from_count; i++) {
		uint64_t at = (uint64_t)(uintptr_t)from[i].iov_base - MEMORY_AT;
		size_t left = at < MEMORY_BYTES ? (size_t)(MEMORY_BYTES - at) : 0;
		size_t part = left < from[i].iov_len ? left : from[i].iov_len;

		if (part > 0)
			memcpy(bytes + size, memory->bytes + at, part);
		size += part;
		if (part < from[i].iov_len)
			break;
	}
	return size > 0 ? (ssize_t)size : -1;
}
