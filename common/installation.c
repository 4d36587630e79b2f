/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/installation.h"

#include "common/file.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char this_program[] = "/proc/self/exe";

static bool installation_is_there(const char *folder, const char *file)
{
	char path[PATH_MAX];

	return (size_t)snprintf(path, sizeof(path), "%s/%s", folder, file) < sizeof(path) && access(path, X_OK) == 0;
}

/* Finds the folder above the one of this program. */
static bool installation_find_above(char above[PATH_MAX])
{
	ssize_t size = readlink(this_program, above, PATH_MAX - sizeof("/../.."));

	if (size <= 0)
		return false;
	strcpy(above + size, "/../..");
	return file_normalize_path(above);
}

bool installation_find(const char *built, const char *installed, const char *file, char folder[PATH_MAX])
{
	char above[PATH_MAX];

	if (installation_find_above(above)) {
		if ((size_t)snprintf(folder, PATH_MAX, "%s/%s", above, built) < PATH_MAX &&
			installation_is_there(folder, file))
			return true;
		if ((size_t)snprintf(folder, PATH_MAX, "%s/" KELVIN_LIBEXEC "%s%s", above, installed[0] ? "/" : "",
			    installed) < PATH_MAX &&
			installation_is_there(folder, file))
			return true;
	}
	snprintf(folder, PATH_MAX, KELVIN_FULL_LIBEXEC "%s%s", installed[0] ? "/" : "", installed);
	return installation_is_there(folder, file);
}

uid_t installation_owner(void)
{
	struct stat info;

	return stat(this_program, &info) == 0 ? info.st_uid : (uid_t)-1;
}
