/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "harness/environment.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/utsname.h>

/*
 * Harnesses for node need flags that node takes only at its start. Started with the variable, they write the flags into
 * the file that it names, and end; a program without a harness runs as always, and that was it. The program is started
 * again with the flags then (CodSpeed's runner, introspected_nodejs/node.sh).
 */
static const char node_script[] =
	"#!/bin/sh\n"
	"here=${0%/*}\n"
	"set -f\n"
	"IFS=:\n"
	"for directory in $PATH; do\n"
	"\t[ \"$directory\" != \"$here\" ] && [ -x \"$directory/node\" ] && [ ! -d \"$directory/node\" ] && break\n"
	"done\n"
	"unset IFS\n"
	"node=$directory/node\n"
	"[ -z \"$__CODSPEED_NODE_CORE_INTROSPECTION_PATH__\" ] || exec \"$node\" \"$@\"\n"
	"file=$(mktemp \"$here/flags.XXXXXX\") || exec \"$node\" \"$@\"\n"
	"__CODSPEED_NODE_CORE_INTROSPECTION_PATH__=$file \"$node\" \"$@\"\n"
	"code=$?\n"
	"flags=$(tr -d '\\n\"' <\"$file\" | sed -n 's/.*flags *: *\\[\\([^]]*\\)\\].*/\\1/p' | tr , ' ')\n"
	"rm -f \"$file\"\n"
	"[ -n \"$flags\" ] || exit $code\n"
	"exec \"$node\" $flags \"$@\"\n";

static const char java_options[] =
	"-XX:+IgnoreUnrecognizedVMOptions -XX:+EnableDynamicAgentLoading -Djdk.attach.allowAttachSelf=true";

/* ---- Variables ---- */

static bool set_variable(struct environment *environment, const char *name, const char *value, struct error *err)
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

/* Sets "ADDED" and, where the variable has a value, the separator and that. */
static bool put_before(
	struct environment *environment, const char *name, const char *added, const char *separator, struct error *err)
{
	CLEANUP(cleanup_free) char *value = NULL;
	const char *before = getenv(name);
	bool has_value = before && before[0];

	if (asprintf(&value, "%s%s%s", added, has_value ? separator : "", has_value ? before : "") < 0) {
		value = NULL;
		return error_set_memory(err);
	}
	return set_variable(environment, name, value, err);
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

static bool write_script(const char *directory, struct error *err)
{
	CLEANUP(cleanup_close) int fd = -1;
	char path[PATH_MAX];

	if ((size_t)snprintf(path, sizeof(path), "%s/node", directory) >= sizeof(path))
		return error_set(err, ERROR_LIMIT, "TMPDIR is too long");
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRWXU);
	if (fd < 0 || !file_write_all(fd, node_script, sizeof(node_script) - 1))
		return error_set_errno(err, errno, "cannot write %.300s", path);
	return true;
}

/* Where there is no node, a program that looks for it must not find one. A PATH cannot name a directory with a colon.
 */
static bool add_node(struct environment *environment, const char *directory, struct error *err)
{
	char bin[PATH_MAX];

	if (!is_in_path("node") || strchr(directory, ':'))
		return true;
	if ((size_t)snprintf(bin, sizeof(bin), "%s/bin", directory) >= sizeof(bin))
		return error_set(err, ERROR_LIMIT, "TMPDIR is too long");
	if (mkdir(bin, S_IRWXU) != 0)
		return error_set_errno(err, errno, "cannot make %.300s", bin);
	return write_script(bin, err) && put_before(environment, "PATH", bin, ":", err);
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

static bool set_all(struct environment *environment, enum harness_mode mode, const char *directory, struct error *err)
{
	char folder[PATH_MAX];
	struct utsname machine;

	if (!environment_folder(directory, folder, err))
		return false;
	if (mkdir(folder, S_IRWXU) != 0)
		return error_set_errno(err, errno, "cannot make %.300s", folder);
	return set_variable(environment, "CODSPEED_ENV", "runner", err) &&
	       set_variable(environment, "CODSPEED_RUNNER_MODE", mode_name(mode), err) &&
	       set_variable(environment, "CODSPEED_PROFILE_FOLDER", folder, err) &&
	       (uname(&machine) != 0 || set_variable(environment, "ARCH", machine.machine, err)) &&
	       (getenv("PYTHONHASHSEED") || set_variable(environment, "PYTHONHASHSEED", "0", err)) &&
	       put_before(environment, "JAVA_TOOL_OPTIONS", java_options, " ", err) &&
	       add_node(environment, directory, err);
}

bool environment_set(struct environment *environment, enum harness_mode mode, const char *directory, struct error *err)
{
	*environment = (struct environment){ 0 };
	if (set_all(environment, mode, directory, err))
		return true;
	environment_restore(environment);
	return false;
}
