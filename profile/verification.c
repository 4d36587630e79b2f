/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/model.h"

#include <inttypes.h>
#include <string.h>

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

bool profile_add_difference(struct profile *profile, const char *text, struct error *err)
{
	struct profile_verification *verification = &profile->verification;
	uint32_t id;

	if (verification->difference_count == PROFILE_ROOM_FOR_DIFFERENCES)
		return true;
	if (!profile_intern(profile, text, &id, err))
		return false;
	verification->differences[verification->difference_count++] = id;
	return true;
}

void profile_verification_add(struct profile_verification *into, const struct profile_verification *from)
{
	into->is_there |= from->is_there;
	for (size_t i = 0; i < PROFILE_COMPARISON_COUNT; i++)
		into->stacks[i] += from->stacks[i];
	into->names_equal += from->names_equal;
	into->names_other += from->names_other;
	into->names_unfinished += from->names_unfinished;
	for (uint32_t i = 0; i < from->difference_count && into->difference_count < PROFILE_ROOM_FOR_DIFFERENCES; i++)
		into->differences[into->difference_count++] = from->differences[i];
}

uint64_t profile_verification_stacks(const struct profile_verification *verification)
{
	uint64_t stacks = 0;

	for (size_t i = 0; i < PROFILE_COMPARISON_COUNT; i++)
		stacks += verification->stacks[i];
	return stacks;
}

static void profile_verification_append_count(uint64_t count, struct buffer *out)
{
	char digits[DIGITS_SIZE];

	digits_in_groups(count, digits);
	buffer_append_string(out, digits);
}

static void append_compared(uint64_t count, const char *what, const char *library, struct buffer *out)
{
	profile_verification_append_count(count, out);
	buffer_printf(out, " %s%s compared with %s", what, count == 1 ? "" : "s", library);
}

/* Appends ": 996 equal, 4 longer here". */
static void append_outcomes(const uint64_t *counts, const char *const *words, size_t count, struct buffer *out)
{
	const char *separator = ": ";

	for (size_t i = 0; i < count; i++) {
		if (counts[i] == 0)
			continue;
		buffer_append_string(out, separator);
		profile_verification_append_count(counts[i], out);
		buffer_printf(out, " %s", words[i]);
		separator = ", ";
	}
}

void profile_verification_names(const struct profile_verification *verification, struct buffer *out)
{
	static const char *const words[] = { "equal", "different" };
	const uint64_t counts[] = { verification->names_equal, verification->names_other };

	append_compared(counts[0] + counts[1], "name", "libdw", out);
	append_outcomes(counts, words, 2, out);
}

void profile_verification_sentence(const struct profile_verification *verification, struct buffer *out)
{
	static const char *const words[] = { "equal", "longer here", "shorter here", "different" };

	append_compared(profile_verification_stacks(verification), "stack", "libunwind", out);
	append_outcomes(verification->stacks, words, PROFILE_COMPARISON_COUNT, out);
	buffer_append_string(out, "; ");
	profile_verification_names(verification, out);
}

void profile_verification_unfinished(const struct profile_verification *verification, struct buffer *out)
{
	uint64_t count = verification->names_unfinished;

	if (count > 0)
		buffer_printf(out,
			"--verify: libdw did not get to %" PRIu64 " address%s: it crashed or took too long\n", count,
			count == 1 ? "" : "es");
}

void profile_verification_append(const struct profile *profile, struct buffer *text)
{
	const struct profile_verification *verification = &profile->verification;

	if (!verification->is_there)
		return;
	profile_verification_sentence(verification, text);
	buffer_append_byte(text, '\n');
	for (uint32_t i = 0; i < verification->difference_count; i++) {
		const char *difference = profile_string(profile, verification->differences[i]);
		size_t size = strlen(difference);

		buffer_append(text, difference, size);
		if (size == 0 || difference[size - 1] != '\n')
			buffer_append_byte(text, '\n');
	}
}
