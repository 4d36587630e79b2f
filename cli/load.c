/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/load.h"

#include <string.h>

static const size_t max_file_bytes = (size_t)2 << 30;

static bool load_file(const char *name, struct profile **profile, struct error *err)
{
	const char *said = strcmp(name, "-") == 0 ? "standard input" : name;
	struct buffer bytes;
	bool ok;

	buffer_init(&bytes, max_file_bytes);
	ok = file_read(name, &bytes, err) && profile_read(bytes.data, bytes.size, said, profile, err);
	buffer_deinit(&bytes);
	return ok;
}

static bool load_into(const char *name, struct profile **profile, struct error *err)
{
	CLEANUP(profile_cleanup) struct profile *next = NULL;

	if (!*profile)
		return load_file(name, profile, err);
	if (!load_file(name, &next, err))
		return false;
	if (!profile_merge(*profile, next, err))
		return error_prefix(err, "cannot join %s to the profiles before it", name);
	return true;
}

static bool load_each(char *names, struct profile **profile, struct error *err)
{
	char *rest = NULL;

	for (char *name = strtok_r(names, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
		if (!load_into(name, profile, err))
			return false;
	return *profile || error_set(err, ERROR_USAGE, "cannot read a profile: its name is empty");
}

/* Kelvin's own profiles carry origins that were decided with the binaries at hand: better than what can be told from names. */
static bool is_own(const struct profile *profile)
{
	return strncmp(profile_string(profile, profile->facts.tool), "kelvin ", 7) == 0;
}

bool load_profiles(const char *names, const struct symbolize_options *options, struct profile **profile, struct error *err)
{
	CLEANUP(profile_cleanup) struct profile *loaded = NULL;
	CLEANUP(cleanup_free) char *copy = strdup(names);

	if (!copy)
		return error_set_memory(err);
	if (strchr(names, ',') && access(names, F_OK) == 0) {
		if (!load_file(names, &loaded, err))
			return false;
	} else if (!load_each(copy, &loaded, err)) {
		return false;
	}
	if ((!is_own(loaded) || options->origin_rules || options->project_root_count) && !symbolize_origins(loaded, options, err))
		return error_prefix(err, "cannot tell the origins of %s", names);
	*profile = TAKE(loaded);
	return true;
}
