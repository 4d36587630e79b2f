/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/source_answer.h"

#include <stdlib.h>
#include <string.h>

/* What the child that reads source files writes, as its parent takes it. Input: the answers, for a plan of a few files.
 */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FILES = 4, RANGES = 3 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct source_range ranges[FILES * RANGES] = { { 0 } };
	struct source_wanted files[FILES];
	const struct source_plan plan = { files, ranges, FILES, FILES * RANGES };
	const bool is_asked[FILES] = { true, true, true, false };
	struct source_read read;
	volatile size_t sum = 0;
	struct error err;

	for (size_t i = 0; i < FILES; i++)
		files[i] = (struct source_wanted){
			.name = (char *)"/source.c", .ranges = ranges + i * RANGES, .range_count = RANGES
		};
	if (!source_read_init(&read, &plan, &err))
		abort();
	if (!source_read_take(&read, &plan, is_asked, byte_reader_over(data, size), &err) && err.code != ERROR_MEMORY)
		abort();
	for (size_t i = 0; i < read.taken_count; i++) {
		const struct source_taken *taken = &read.taken[i];

		if (taken->file >= FILES || !is_asked[taken->file] || !read.is_answered[taken->file] ||
			taken->first_line == 0 || memchr(taken->text, '\0', taken->bytes))
			abort();
		for (uint32_t k = 0; k < taken->bytes; k++)
			sum += (unsigned char)taken->text[k];
	}
	source_read_deinit(&read);
	return 0;
}
