/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/profile.h"

#include <inttypes.h>

const char *profile_comparison_name(enum profile_comparison comparison)
{
	switch (comparison) {
	case PROFILE_COMPARISON_EQUAL:
		return "equal";
	case PROFILE_COMPARISON_LONGER:
		return "longer";
	case PROFILE_COMPARISON_SHORTER:
		return "shorter";
	case PROFILE_COMPARISON_OTHER:
		return "other";
	}
	return "";
}

void profile_verification_add(struct profile_verification *into, const struct profile_verification *from)
{
	into->is_there |= from->is_there;
	for (size_t i = 0; i < PROFILE_COMPARISON_COUNT; i++)
		into->stacks[i] += from->stacks[i];
	into->names_equal += from->names_equal;
	into->names_other += from->names_other;
	for (uint32_t i = 0; i < from->difference_count && into->difference_count < PROFILE_MAX_DIFFERENCES; i++)
		into->differences[into->difference_count++] = from->differences[i];
}

uint64_t profile_verification_stacks(const struct profile_verification *verification)
{
	uint64_t stacks = 0;

	for (size_t i = 0; i < PROFILE_COMPARISON_COUNT; i++)
		stacks += verification->stacks[i];
	return stacks;
}

/* "1,203" */
static void append_count(uint64_t count, struct buffer *out)
{
	if (count >= 1000) {
		append_count(count / 1000, out);
		buffer_printf(out, ",%03" PRIu64, count % 1000);
	} else {
		buffer_printf(out, "%" PRIu64, count);
	}
}

static void append_compared(uint64_t count, const char *what, const char *library, struct buffer *out)
{
	append_count(count, out);
	buffer_printf(out, " %s%s compared with %s", what, count == 1 ? "" : "s", library);
}

/* ": 996 equal, 4 longer here" */
static void append_outcomes(const uint64_t *counts, const char *const *words, size_t count, struct buffer *out)
{
	const char *separator = ": ";

	for (size_t i = 0; i < count; i++) {
		if (counts[i] == 0)
			continue;
		buffer_append_string(out, separator);
		append_count(counts[i], out);
		buffer_printf(out, " %s", words[i]);
		separator = ", ";
	}
}

void profile_verification_names(uint64_t equal, uint64_t other, struct buffer *out)
{
	static const char *const words[] = { "equal", "different" };
	const uint64_t counts[] = { equal, other };

	append_compared(equal + other, "name", "libdw", out);
	append_outcomes(counts, words, 2, out);
}

void profile_verification_sentence(const struct profile_verification *verification, struct buffer *out)
{
	static const char *const words[] = { "equal", "longer here", "shorter here", "different" };

	append_compared(profile_verification_stacks(verification), "stack", "libunwind", out);
	append_outcomes(verification->stacks, words, PROFILE_COMPARISON_COUNT, out);
	buffer_append_string(out, "; ");
	profile_verification_names(verification->names_equal, verification->names_other, out);
}
