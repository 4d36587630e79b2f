/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names the program that was profiled, for the rules of origin. */
#include "symbolize/origin.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Directories that belong to the system, so that what lies in them may be looked at: no file system there hangs. */
static const char *const directories[] = { "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/bin",
	"/sbin" };

enum { MOST_COMM_BYTES = 15 };

/*
 * Returns the name that the kernel gives the main program's process: the last part of the path by which it was started.
 */
static const char *started_as(const struct profile *profile)
{
	return profile->thread_count > 0 ? profile_string(profile, profile->threads[0].process_name) : "";
}

/* Returns whether a link `directory/name` leads to the file. */
static bool leads_to(const char *directory, const char *name, const char *file, char path[PATH_MAX])
{
	CLEANUP(cleanup_free) char *real = NULL;
	int length = snprintf(path, PATH_MAX, "%s/%s", directory, name);

	if (length < 0 || length >= PATH_MAX)
		return false;
	real = realpath(path, NULL);
	return real && strcmp(real, file) == 0;
}

bool symbolize_name_program(struct profile *profile, struct error *err)
{
	struct profile_mapping *program = profile->mappings;
	const char *name = started_as(profile), *file;
	char path[PATH_MAX];

	if (profile->mapping_count == 0 || program->kind != PROFILE_MAPPING_FILE || program->deleted || !name[0] ||
		strchr(name, '/') || strlen(name) >= MOST_COMM_BYTES ||
		strcmp(profile_string(profile, program->module), name) == 0 ||
		profile_is_runtime(profile_string(profile, program->module)))
		return true;
	file = profile_string(profile, program->path);
	for (size_t i = 0; i < sizeof(directories) / sizeof(directories[0]); i++) {
		if (strncmp(file, "/usr/", 5) == 0 && leads_to(directories[i], name, file, path))
			return profile_intern(profile, path, &profile->mappings[0].path, err) &&
			       profile_intern(profile, name, &profile->mappings[0].module, err);
	}
	return true;
}
