/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/harness/environment.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/utsname.h>

static const char java_options[] =
	"-XX:+IgnoreUnrecognizedVMOptions -XX:+EnableDynamicAgentLoading -Djdk.attach.allowAttachSelf=true";

/* ---- Variables ---- */

bool environment_set_variable(struct environment *environment, const char *name, const char *value, struct error *err)
{
	const char *before = getenv(name);
	char *copy = before ? strdup(before) : NULL;

	if ((before && !copy) || setenv(name, value, 1) != 0) {
		free(copy);
		return error_set_memory(err);
	}
	environment->saved[environment->saved_count].name = name;
	environment->saved[environment->saved_count++].before = copy;
	return true;
}

void environment_restore(struct environment *environment)
{
	while (environment->saved_count > 0) {
		char *before = environment->saved[--environment->saved_count].before;
		const char *name = environment->saved[environment->saved_count].name;

		if (before)
			setenv(name, before, 1);
		else
			unsetenv(name);
		free(before);
	}
}

bool environment_put_before(
	struct environment *environment, const char *name, const char *added, const char *separator, struct error *err)
{
	CLEANUP(cleanup_free) char *value = NULL;
	const char *before = getenv(name);
	bool has_value = before && before[0];

	if (asprintf(&value, "%s%s%s", added, has_value ? separator : "", has_value ? before : "") < 0) {
		value = NULL;
		return error_set_memory(err);
	}
	return environment_set_variable(environment, name, value, err);
}

/* ---- node ---- */

static bool is_in_path(const char *program)
{
	CLEANUP(cleanup_free) char *path = strdup(getenv("PATH") ? getenv("PATH") : "");
	char *rest = NULL;

	for (char *directory = path ? strtok_r(path, ":", &rest) : NULL; directory;
		directory = strtok_r(NULL, ":", &rest)) {
		char file[PATH_MAX];

		if ((size_t)snprintf(file, sizeof(file), "%s/%s", directory, program) < sizeof(file) &&
			access(file, X_OK) == 0)
			return true;
	}
	return false;
}

/*
 * Returns whether nobody puts another program there, now or when the suite is over: what outlives it keeps the PATH.
 * Who owns this program decides what runs in any case.
 */
static bool is_safe(const char *folder)
{
	uid_t owner = installation_owner();
	struct error ignored;
	CLEANUP(cleanup_close) int fd = own_directory_open(folder, owner, &ignored);
	struct stat info;

	return fd >= 0 && fstatat(fd, "node", &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(info.st_mode) &&
	       (info.st_uid == 0 || info.st_uid == geteuid() || info.st_uid == owner) && !(info.st_mode & S_IWOTH);
}

/*
 * Adds a directory with a node to PATH: where there is none, a program that looks for it must not find one. A PATH
 * cannot name a directory with a colon.
 */
static bool harness_environment_add_node(struct environment *environment, struct error *err)
{
	char folder[PATH_MAX];

	if (!is_in_path("node") || !installation_find("sampler/harness/node", "node", "node", folder) ||
		strchr(folder, ':') || !is_safe(folder))
		return true;
	return environment_put_before(environment, "PATH", folder, ":", err);
}

/* ---- All of it ---- */

bool environment_folder(const char *directory, char *path, struct error *err)
{
	return (size_t)snprintf(path, PATH_MAX, "%s/profile", directory) < PATH_MAX ||
	       error_set(err, ERROR_LIMIT, "TMPDIR is too long");
}

/* "instrumentation" is what older harnesses call a simulation; all know it. */
static const char *mode_name(enum harness_mode mode)
{
	return mode == HARNESS_SIMULATION ? "instrumentation" : "walltime";
}

static bool harness_environment_set_all(
	struct environment *environment, enum harness_mode mode, const char *directory, struct error *err)
{
	char folder[PATH_MAX];
	struct utsname machine;

	if (!environment_folder(directory, folder, err))
		return false;
	if (mkdir(folder, S_IRWXU) != 0)
		return error_set_errno(err, errno, "cannot make %.300s", folder);
	return environment_set_variable(environment, "CODSPEED_ENV", "runner", err) &&
	       environment_set_variable(environment, "CODSPEED_RUNNER_MODE", mode_name(mode), err) &&
	       environment_set_variable(environment, "CODSPEED_PROFILE_FOLDER", folder, err) &&
	       (uname(&machine) != 0 || environment_set_variable(environment, "ARCH", machine.machine, err)) &&
	       (getenv("PYTHONHASHSEED") || environment_set_variable(environment, "PYTHONHASHSEED", "0", err)) &&
	       environment_put_before(environment, "JAVA_TOOL_OPTIONS", java_options, " ", err) &&
	       harness_environment_add_node(environment, err);
}

bool environment_set(struct environment *environment, enum harness_mode mode, const char *directory, struct error *err)
{
	*environment = (struct environment){ 0 };
	if (harness_environment_set_all(environment, mode, directory, err))
		return true;
	environment_restore(environment);
	return false;
}
