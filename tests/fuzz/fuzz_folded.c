/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/foreign/foreign.h"
#include "profile/profile.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_OUTPUT_BYTES = 1 << 28 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
	if (!ok)
		abort();
}

/* Numbers of lines may have nine decimals: their sums are exact in billionths. */
__extension__ typedef __int128 billionths;
enum { BILLION = 1000000000 };

static billionths sum(const struct profile *profile, uint32_t value_type)
{
	const char *unit = profile_string(profile, profile->value_types[value_type].unit);
	billionths all = 0;

	for (size_t i = 0; i < profile->sample_count; i++)
		all += profile->values[i * profile->value_type_count + value_type];
	return all * (BILLION / profile_unit_parts(unit));
}

/* The value that is written: the number of samples, or amounts where that number is not known. */
static uint32_t written_type(const struct profile *profile)
{
	return profile->counts_of[0] == PROFILE_NONE ? profile->default_value_type : 0;
}

/* The value that holds the numbers of the lines as they stood there. */
static uint32_t number_type(const struct profile *profile)
{
	return profile->value_type_count - 1;
}

static billionths number_of(const char *text, const char *end)
{
	char *point;
	billionths number = strtoll(text, &point, 10), part = BILLION;

	number *= BILLION;
	for (const char *digit = point + 1; digit < end; digit++)
		number += (*digit - '0') * (part /= 10);
	return number;
}

/* The sum of the numbers at the ends of the lines. */
static billionths sum_lines(const struct buffer *text)
{
	const char *line = text->data, *end = text->size ? line + text->size : line;
	billionths all = 0;

	while (line < end) {
		const char *stop = memchr(line, '\n', (size_t)(end - line)), *space;

		must(stop != NULL);
		space = memrchr(line, ' ', (size_t)(stop - line));
		must(space != NULL);
		all += number_of(space + 1, stop);
		line = stop + 1;
	}
	return all;
}

/* A first frame that starts with `#` only in what is shown of it (behind a NUL) turns its line into a comment. */
static bool has_comment(const struct buffer *text)
{
	return text->size > 0 && (text->data[0] == '#' || memmem(text->data, text->size, "\n#", 2));
}

/*
 * The lines that are written have the sum of what was read, and are read with it again. What these numbers are is
 * guessed from all of them (profile/weights.h), and lines of the same names have become one: whether they are counts,
 * and how many lines there are, may differ. Reading may be refused: names that end in numbers may look like second
 * counts.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(profile_cleanup) struct profile *profile = NULL, *again = NULL;
	struct buffer text;
	struct error err;

	if (foreign_kind(data, size) != FOREIGN_FOLDED || !foreign_read(data, size, "fuzz", &profile, &err))
		return 0;
	buffer_init(&text, MAX_OUTPUT_BYTES);
	must(profile_write_folded(profile, PROFILE_NONE, &text, &err));
	must(sum_lines(&text) == sum(profile, written_type(profile)));
	if (foreign_read(text.data, text.size, "again", &again, &err))
		must(sum(again, number_type(again)) == sum_lines(&text) || has_comment(&text));
	buffer_deinit(&text);
	return 0;
}
