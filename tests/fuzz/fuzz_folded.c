/* SPDX-License-Identifier: GPL-3.0-or-later */
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

static int64_t sum(const struct profile *profile)
{
	int64_t all = 0;

	for (size_t i = 0; i < profile->sample_count; i++)
		all += profile->values[i * profile->value_type_count];
	return all;
}

/* A first frame that starts with `#` only in what is shown of it (behind a NUL) turns its line into a comment. */
static bool has_comment(const struct buffer *text)
{
	return text->size > 0 && (text->data[0] == '#' || memmem(text->data, text->size, "\n#", 2));
}

/* What is written of folded stacks holds as many samples. It may be refused: names that end in numbers may look like
 * second counts.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(profile_cleanup) struct profile *profile = NULL, *again = NULL;
	struct buffer text;
	struct error err;

	if (profile_bytes_kind(data, size) != PROFILE_BYTES_FOLDED || !profile_read(data, size, "fuzz", &profile, &err))
		return 0;
	buffer_init(&text, MAX_OUTPUT_BYTES);
	must(profile_write_folded(profile, PROFILE_NONE, &text, &err));
	if (profile_read(text.data, text.size, "again", &again, &err))
		must(sum(again) == sum(profile) || has_comment(&text));
	buffer_deinit(&text);
	return 0;
}
