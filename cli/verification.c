/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/verification.h"

#include "cli/cli.h"
#include "cli/options.h"

#include <inttypes.h>
#include <string.h>

enum { NAME_COLUMNS = 44, MAX_TEXT_BYTES = 1 << 16, MAX_EVERY = 1000000000 };

bool verification_parse(const char *text, uint32_t *every, struct error *err)
{
	uint64_t value = VERIFICATION_DEFAULT_EVERY;

	if (text && !options_parse_count("--verify", text, MAX_EVERY, &value, err))
		return false;
	if (value == 0)
		return error_set(err, ERROR_USAGE, "--verify=0: the least is 1, every one");
	*every = (uint32_t)value;
	return true;
}

/* ---- Differences as text ---- */

/* The function that contains the code at a place; NULL if the profile does not have it. */
static const char *function_at(const struct profile *profile, const struct recording_place *place)
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

static void append_place(const struct profile *profile, const struct recording_place *place, struct buffer *out)
{
	const char *name = place->mapping == PROFILE_NONE ? NULL : function_at(profile, place);

	if (name)
		profile_shorten_name(name, NAME_COLUMNS, out);
	else if (place->mapping != PROFILE_NONE)
		buffer_printf(out, "%.24s+0x%" PRIx64,
			profile_string(profile, profile->mappings[place->mapping].module), place->address);
	else
		buffer_printf(out, "0x%" PRIx64, place->address);
}

static void append_row(
	const struct profile *profile, const struct recording_difference *difference, size_t row, struct buffer *out)
{
	size_t begin = out->size;

	buffer_printf(out, "%6zu  ", difference->first + row);
	if (row < difference->counts[RECORDING_OURS])
		append_place(profile, &difference->frames[RECORDING_OURS][row], out);
	if (row < difference->counts[RECORDING_REFERENCE] && !out->failed) {
		size_t width = unicode_text_width(out->data + begin);

		buffer_printf(out, "%*s", width < NAME_COLUMNS + 10 ? (int)(NAME_COLUMNS + 10 - width) : 2, "");
		append_place(profile, &difference->frames[RECORDING_REFERENCE][row], out);
	}
	buffer_append_byte(out, '\n');
}

/* Appends "a stack of 12 frames here, of 3 by libunwind:" and the frames around the first difference, side by side. */
static void append_difference(
	const struct profile *profile, const struct recording_difference *difference, struct buffer *out)
{
	buffer_printf(out, "a stack of %zu frame%s here, of %zu by libunwind:\n", difference->depths[RECORDING_OURS],
		difference->depths[RECORDING_OURS] == 1 ? "" : "s", difference->depths[RECORDING_REFERENCE]);
	buffer_printf(out, " frame  %-*s  %s\n", NAME_COLUMNS, "here", "libunwind");
	for (size_t row = 0; row < difference->counts[RECORDING_OURS] || row < difference->counts[RECORDING_REFERENCE];
		row++)
		append_row(profile, difference, row, out);
}

static bool keep_text(struct profile *profile, const char *text, struct error *err)
{
	struct profile_verification *verification = &profile->verification;
	uint32_t id;

	if (verification->difference_count == PROFILE_MAX_DIFFERENCES)
		return true;
	if (!profile_intern(profile, text, &id, err))
		return false;
	verification->differences[verification->difference_count++] = id;
	return true;
}

static bool keep_stack_differences(
	struct profile *profile, const struct recording_verification *stacks, struct error *err)
{
	struct buffer text;
	bool ok = true;

	for (size_t i = 0; i < stacks->difference_count && ok; i++) {
		buffer_init(&text, MAX_TEXT_BYTES);
		append_difference(profile, &stacks->differences[i], &text);
		ok = buffer_ok(&text, err) && keep_text(profile, text.data, err);
		buffer_deinit(&text);
	}
	return ok;
}

/* ---- A recording ---- */

void verification_tell_unfinished(const struct symbolize_verification *names, struct buffer *notices)
{
	if (notices && names->unfinished > 0)
		buffer_printf(notices,
			"--verify: libdw did not get to %" PRIu64 " address%s: it crashed or took too long\n",
			names->unfinished, names->unfinished == 1 ? "" : "es");
}

bool verification_finish(
	struct recording *result, const struct symbolize_options *naming, struct buffer *notices, struct error *err)
{
	const struct recording_verification *stacks = &result->verification;
	CLEANUP(cleanup_free) struct symbolize_verification *names = NULL;
	struct profile *profile = result->profile;

	if (!profile->verification.is_there)
		return true;
	names = calloc(1, sizeof(*names));
	if (!names)
		return error_set_memory(err);
	if (!symbolize_verify_locations(profile, result->images, stacks->locations,
		    naming->no_names ? 0 : stacks->location_count, &naming->debug, names, err) ||
		!keep_stack_differences(profile, stacks, err))
		return false;
	profile->verification.names_equal = names->equal;
	profile->verification.names_other = names->other;
	for (size_t i = 0; i < names->difference_count; i++)
		if (!keep_text(profile, names->differences[i], err))
			return false;
	verification_tell_unfinished(names, notices);
	return true;
}

void verification_print(const struct profile *profile)
{
	const struct profile_verification *verification = &profile->verification;
	struct buffer text;

	if (!verification->is_there)
		return;
	buffer_init(&text, MAX_TEXT_BYTES);
	profile_verification_sentence(verification, &text);
	cli_say("%s\n", text.failed ? "" : text.data);
	buffer_deinit(&text);
	for (uint32_t i = 0; i < verification->difference_count; i++) {
		const char *difference = profile_string(profile, verification->differences[i]);
		size_t size = strlen(difference);

		cli_say("%s%s", difference, size > 0 && difference[size - 1] == '\n' ? "" : "\n");
	}
}
