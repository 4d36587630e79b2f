/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/interpret/php/php.h"
#include "sampler/interpret/ruby/ruby.h"

/*
 * Memory of a process that has a function of PHP and code of Ruby, which tests damage. What lies outside of it cannot
 * be read.
 */
enum { MEMORY_AT = 0x10000, MEMORY_BYTES = 0x10000, WILD = 0x1234567890 };

enum {
	PHP_FUNCTION = MEMORY_AT + 0x100,
	PHP_CLASS = MEMORY_AT + 0x200,
	PHP_FUNCTION_TEXT = MEMORY_AT + 0x1000, /* each has 4 kB */
	PHP_CLASS_TEXT = MEMORY_AT + 0x2000,
	PHP_FILE_TEXT = MEMORY_AT + 0x3000,
	RUBY_CODE = MEMORY_AT + 0x300,
	RUBY_BODY = MEMORY_AT + 0x400,
	RUBY_LABEL = MEMORY_AT + 0x500,
	RUBY_PATHS = MEMORY_AT + 0x580,
	RUBY_PATH = MEMORY_AT + 0x600,
	RUBY_LABEL_TEXT = MEMORY_AT + 0x4000,
	RUBY_PATH_TEXT = MEMORY_AT + 0x5000,
	RUBY_INSTRUCTIONS = MEMORY_AT + 0x6000,
	RUBY_COUNTS = MEMORY_AT + 0x7000,
	RUBY_LINES = MEMORY_AT + 0x8000,
};

struct script_memory {
	uint8_t bytes[MEMORY_BYTES];
	uint64_t reads;
};

extern const struct php_image script_php;   /* 8.2 */
extern const struct ruby_image script_ruby; /* 3.1 */

/* php::Server::serve:/srv/a.php, and rb::block in serve:/srv/a.rb with the lines 10 and, from position 2 on, 12. */
void script_memory_init(struct script_memory *memory);

void script_put_word(struct script_memory *memory, uint64_t address, uint64_t word);
void script_put_half(struct script_memory *memory, uint64_t address, uint32_t half);
/* The text, a NUL, and what tells its length. */
void script_put_php_text(struct script_memory *memory, uint64_t address, const char *text);
void script_put_ruby_text(struct script_memory *memory, uint64_t object, uint64_t address, const char *text);

/* As `read_memory` of struct process_host_functions; the context is a struct script_memory. */
ssize_t script_memory_read(
	void *context, int32_t pid, const struct iovec *into, const struct iovec *from, size_t from_count);
