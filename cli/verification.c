/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/verification.h"

#include "cli/options.h"

enum { MAX_EVERY = 1000000000 };

bool verification_take(void *every, const char *text, struct error *err)
{
	uint64_t value = VERIFICATION_DEFAULT_EVERY;

	if (text && !options_parse_count("--verify", text, MAX_EVERY, &value, err))
		return false;
	if (value == 0)
		return error_set(err, ERROR_USAGE, "--verify=0: the least is 1, every one");
	*(uint32_t *)every = (uint32_t)value;
	return true;
}

bool verification_finish(
	struct recording *result, const struct symbolize_options *naming, struct buffer *notices, struct error *err)
{
	struct profile *profile = result->profile;
	size_t count;
	const uint32_t *compared = recording_compared(result, &count);

	if (!profile->verification.is_there)
		return true;
	if (!recording_show_differences(result, err) ||
		!symbolize_verify_locations(
			profile, result->symbols.images, compared, naming->no_names ? 0 : count, &naming->debug, err))
		return false;
	profile_verification_unfinished(&profile->verification, notices);
	return true;
}
