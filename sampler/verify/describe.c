/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stacks that libunwind unwound differently, as text. */
#include "sampler/verify/verify.h"

#include <inttypes.h>
#include <stdlib.h>

enum { NAME_COLUMNS = 44, MAX_TEXT_BYTES = 1 << 16 };

/* The function that contains the code at a place; NULL if the profile does not have it. */
static const char *verify_describe_function_at(const struct profile *profile, const struct verify_place *place)
{
	for (size_t i = 0; i < profile->location_count; i++) {
		const struct profile_location *location = &profile->locations[i];

		if (location->mapping == place->mapping && location->address == place->address &&
			location->line_count > 0)
			return profile_string(profile,
				profile->functions[profile->lines[location->first_line + location->line_count - 1]
							   .function]
					.name);
	}
	return NULL;
}

static void verify_describe_append_place(
	const struct profile *profile, const struct verify_place *place, struct buffer *out)
{
	const char *name = place->mapping == PROFILE_NONE ? NULL : verify_describe_function_at(profile, place);

	if (name)
		profile_shorten_name(name, NAME_COLUMNS, out);
	else if (place->mapping != PROFILE_NONE)
		buffer_printf(out, "%.24s+0x%" PRIx64,
			profile_string(profile, profile->mappings[place->mapping].module), place->address);
	else
		buffer_printf(out, "0x%" PRIx64, place->address);
}

static void append_row(
	const struct profile *profile, const struct verify_difference *difference, size_t row, struct buffer *out)
{
	size_t begin = out->size;

	buffer_printf(out, "%6zu  ", difference->first + row);
	if (row < difference->counts[VERIFY_OURS])
		verify_describe_append_place(profile, &difference->frames[VERIFY_OURS][row], out);
	if (row < difference->counts[VERIFY_REFERENCE] && !out->failed) {
		size_t width = unicode_text_width(out->data + begin);

		buffer_printf(out, "%*s", width < NAME_COLUMNS + 10 ? (int)(NAME_COLUMNS + 10 - width) : 2, "");
		verify_describe_append_place(profile, &difference->frames[VERIFY_REFERENCE][row], out);
	}
	buffer_append_byte(out, '\n');
}

/* Appends "a stack of 12 frames here, of 3 by libunwind:", or by what else, and the frames around the first difference,
 * side by side. */
static void append_difference(
	const struct profile *profile, const struct verify_difference *difference, struct buffer *out)
{
	buffer_printf(out, "a stack of %zu frame%s here, of %zu by %s:\n", difference->depths[VERIFY_OURS],
		difference->depths[VERIFY_OURS] == 1 ? "" : "s", difference->depths[VERIFY_REFERENCE],
		difference->has_frame_pointers ? "libunwind and frame pointers" : "libunwind");
	buffer_printf(out, " frame  %-*s  %s\n", NAME_COLUMNS, "here", "there");
	for (size_t row = 0; row < difference->counts[VERIFY_OURS] || row < difference->counts[VERIFY_REFERENCE]; row++)
		append_row(profile, difference, row, out);
}

const uint32_t *recording_compared(const struct recording *recording, size_t *count)
{
	*count = recording->compared ? recording->compared->location_count : 0;
	return recording->compared ? recording->compared->locations : NULL;
}

bool recording_show_differences(const struct recording *recording, struct error *err)
{
	const struct compared_stacks *compared = recording->compared;
	struct buffer text;
	bool ok = true;

	for (size_t i = 0; compared && i < compared->difference_count && ok; i++) {
		buffer_init(&text, MAX_TEXT_BYTES);
		append_difference(recording->profile, &compared->differences[i], &text);
		ok = buffer_ok(&text, err) && profile_add_difference(recording->profile, text.data, err);
		buffer_deinit(&text);
	}
	return ok;
}

void compared_stacks_destroy(struct compared_stacks *compared)
{
	if (compared)
		free(compared->locations);
	free(compared);
}
