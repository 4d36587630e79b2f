/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/load.h"

#include "cli/cli.h"
#include "cli/source_file.h"

#include <string.h>
#include <unistd.h>

enum { MAX_NOTICE_BYTES = 1 << 16 };

static bool load_source(
	struct source *source, const struct symbolize_options *naming, struct profile **profile, struct error *err)
{
	CLEANUP(sampler_result_deinit) struct sampler_result result = { 0 };
	CLEANUP(buffer_deinit) struct buffer notices = { 0 };
	bool ok;

	buffer_init(&notices, MAX_NOTICE_BYTES);
	ok = source_read(source, &result, &notices, err) && source_name(source, naming, &result, &notices, err);
	if (ok)
		*profile = TAKE(result.profile);
	cli_print_notices(&notices);
	return ok;
}

/* One name: here is decided what kind of source it means. */
static bool load_one(const char *name, const struct load_options *options, struct profile **profile, struct error *err)
{
	const struct source_file_options file = { .event = options->metric, .verify_every = options->verify_every };
	CLEANUP(source_cleanup) struct source *source = NULL;

	return source_file_open(name, &file, &source, err) && load_source(source, &options->naming, profile, err);
}

static bool load_into(const char *name, const struct load_options *options, struct profile **profile, struct error *err)
{
	CLEANUP(profile_cleanup) struct profile *next = NULL;

	if (!*profile)
		return load_one(name, options, profile, err);
	if (!load_one(name, options, &next, err))
		return false;
	if (!profile_merge(*profile, next, err))
		return error_prefix(err, "cannot add %s to the profiles before it", name);
	return true;
}

static bool load_each(char *names, const struct load_options *options, struct profile **profile, struct error *err)
{
	char *rest = NULL;

	for (char *name = strtok_r(names, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
		if (!load_into(name, options, profile, err))
			return false;
	return *profile || error_set(err, ERROR_USAGE, "cannot read a profile: its name is empty");
}

bool load_profiles(const char *names, const struct load_options *options, struct profile **profile, struct error *err)
{
	CLEANUP(profile_cleanup) struct profile *loaded = NULL;
	CLEANUP(cleanup_free) char *copy = strdup(names);

	if (!copy)
		return error_set_memory(err);
	if (strchr(names, ',') && access(names, F_OK) == 0) {
		if (!load_one(names, options, &loaded, err))
			return false;
	} else if (!load_each(copy, options, &loaded, err)) {
		return false;
	}
	*profile = TAKE(loaded);
	return true;
}

bool load_part(const char *name, const struct symbolize_options *naming, struct profile **profile, struct error *err)
{
	CLEANUP(source_cleanup) struct source *source = NULL;

	return source_file_open(name, &(struct source_file_options){ .is_recovery = true }, &source, err) &&
	       load_source(source, naming, profile, err);
}
