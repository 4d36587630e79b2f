/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds git, and by it the repository that a directory is in, as its user is allowed to. */
#include "diff/repository/git.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/*
 * Options against what a configuration could have git start or write while it looks for a repository. None of the
 * commands here does any of it; the list is a second line.
 */
static const char *const guards[] = { "git", "--no-pager", "--no-optional-locks", "--no-replace-objects", "-c",
	"core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.pager=cat", "-c",
	"core.alternateRefsCommand=true", "-c", "core.sshCommand=false", "-c", "core.gitProxy=", "-c",
	"credential.helper=", "-c", "protocol.allow=never" };
enum { GUARDS = sizeof(guards) / sizeof(guards[0]), MOST_ARGUMENTS = 4, TEXT_BYTES = 2 * PATH_MAX };

/* ---- git itself ---- */

/* A directory of PATH in which others can put a program is none for us. */
static char *program_in(const char *directory, size_t size)
{
	CLEANUP(cleanup_free) char *path = memory_copy_text(directory, size);
	CLEANUP(cleanup_close) int fd = -1;
	struct error ignored;
	char *program = NULL;
	struct stat info;

	fd = path ? own_directory_open(path, (uid_t)-1, &ignored) : -1;
	if (fd < 0 || fstatat(fd, "git", &info, 0) != 0 || !S_ISREG(info.st_mode) ||
		faccessat(fd, "git", X_OK, AT_EACCESS) != 0)
		return NULL;
	return asprintf(&program, "%s/git", path) < 0 ? NULL : program;
}

static bool repository_find_program(struct repository *repository, struct error *err)
{
	const char *at = getenv("PATH");

	if (!at)
		at = "/usr/local/bin:/usr/bin:/bin";
	while (!repository->program && *at) {
		size_t size = strcspn(at, ":");

		repository->program = program_in(at, size);
		at += size + (at[size] == ':');
	}
	return repository->program
		       ? true
		       : error_set(err, ERROR_UNSUPPORTED,
				 "git is needed to read the repository of %.200s, and is in no directory of "
				 "PATH that is only yours or root's; on Debian: sudo apt install git",
				 repository->name);
}

/* ---- The repository ---- */

/*
 * The user's own environment decides who is trusted (safe.directory): HOME, and GIT_CONFIG_* of the user's. Other
 * variables of git name directories and programs, or have it write traces.
 */
static bool find_is_kept(const char *variable)
{
	static const char *const kept[] = { "HOME=", "XDG_CONFIG_HOME=", "SUDO_UID=", "GIT_CONFIG_GLOBAL=",
		"GIT_CONFIG_SYSTEM=", "GIT_CONFIG_NOSYSTEM=", "GIT_CONFIG_COUNT=", "GIT_CONFIG_KEY_",
		"GIT_CONFIG_VALUE_", "GIT_CEILING_DIRECTORIES=", "GIT_DISCOVERY_ACROSS_FILESYSTEM=" };

	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		if (strncmp(variable, kept[i], strlen(kept[i])) == 0)
			return true;
	return false;
}

static const char **user_environment(void)
{
	static const char *const ours[] = { "PATH=/usr/bin:/bin", "LC_ALL=C", "GIT_TRACE2=0", "GIT_TRACE2_EVENT=0",
		"GIT_TRACE2_PERF=0", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1",
		"GIT_ALLOW_PROTOCOL=" };
	enum { OURS = sizeof(ours) / sizeof(ours[0]) };
	size_t count = 0, used = OURS;
	const char **all;

	while (environ[count])
		count++;
	all = memory_zeroed(count + OURS + 1, sizeof(*all));
	memcpy(all, ours, sizeof(ours));
	for (size_t i = 0; i < count; i++)
		if (find_is_kept(environ[i]))
			all[used++] = environ[i];
	return all;
}

/* Tells why git does not open it, with the next step. */
static bool find_refuse(const struct repository *repository, const char *complaint, struct error *err)
{
	const char *allow = strstr(complaint, "\tgit config --global --add safe.directory");
	char line[256];

	repository_complaint_line(complaint, line, sizeof(line));
	if (strstr(line, "not a git repository"))
		return error_set(err, ERROR_NOT_FOUND,
			"%.200s is in no git repository; name a directory that is in one by --repo DIR",
			repository->name);
	/* What git repeats of a file may be of one outside. */
	if (repository->bounds)
		return error_set(err, ERROR_PERMISSION,
			"git %s the repository of %.200s; 'git -C DIR rev-parse' there says why",
			allow ? "does not trust the owner of" : "cannot open", repository->name);
	if (!allow)
		return error_set(
			err, ERROR_SYSTEM, "git cannot open the repository of %.200s: %s", repository->name, line);
	repository_complaint_line(allow + 1, line, sizeof(line));
	return error_set(err, ERROR_PERMISSION,
		"the repository of %.150s belongs to another user, and git opens it only when you trust it: %s",
		repository->name, line);
}

/* Asks git for one text about the repository. */
static bool find_ask(const struct repository *repository, int directory, const char *const *what, size_t count,
	char *text, size_t size, struct error *err)
{
	CLEANUP(repository_answer_deinit) struct repository_answer answer = { .fd = -1 };
	CLEANUP(cleanup_free) const char **environment = user_environment();
	const char *arguments[GUARDS + MOST_ARGUMENTS + 2];
	struct repository_child child = { .program = repository->program,
		.arguments = arguments,
		.environment = environment,
		.directory = directory,
		.max_bytes = size,
		.seconds = REPOSITORY_SECONDS };

	memcpy(arguments, guards, sizeof(guards));
	arguments[GUARDS] = "rev-parse";
	memcpy(arguments + GUARDS + 1, what, count * sizeof(*what));
	arguments[GUARDS + 1 + count] = NULL;
	if (!repository_child_run(&child, &answer, err))
		return error_prefix(err, "the repository of %.200s", repository->name);
	if (answer.code != 0)
		return find_refuse(repository, answer.complaint, err);
	return repository_answer_text(&answer, text, size)
		       ? true
		       : error_set(err, ERROR_SYSTEM, "the repository of %.200s: git says where it is in %s",
				 repository->name, "more bytes than a path has");
}

static bool find_ask_path(
	const struct repository *repository, int directory, const char *what, char **path, struct error *err)
{
	char text[TEXT_BYTES];

	if (!find_ask(repository, directory, (const char *[]){ "--path-format=absolute", what }, 2, text, sizeof(text),
		    err))
		return false;
	/* A git that does not know the option repeats it. */
	if (text[0] != '/')
		return error_set(err, ERROR_UNSUPPORTED,
			"the repository of %.200s needs git 2.31 or newer ('git --version')", repository->name);
	*path = memory_copy_string(text);
	return true;
}

/*
 * Root reads as whom the repository belongs to: links and alternates in it lead where that user could go. The work
 * tree's owner comes first, who can have the repository exchanged meanwhile.
 */
static bool find_choose_user(struct repository *repository, int directory, struct error *err)
{
	CLEANUP(cleanup_close) int common = open(repository->common_directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat tree, all;

	if (common < 0 || fstat(common, &all) != 0 || fstat(directory, &tree) != 0)
		return error_set_errno(err, errno, "the repository of %.200s", repository->name);
	repository->user = tree.st_uid ? tree.st_uid : all.st_uid;
	repository->is_shallow = faccessat(common, "shallow", F_OK, AT_EACCESS) == 0;
	return true;
}

static bool find_is_same(const struct stat *one, const struct stat *other)
{
	return one->st_dev == other->st_dev && one->st_ino == other->st_ino;
}

static bool is_bound(const struct repository_bounds *bounds, const struct stat *directory)
{
	struct stat info;

	for (size_t i = 0; i < bounds->count; i++)
		if (fstat(bounds->directories[i], &info) == 0 && find_is_same(&info, directory))
			return true;
	return false;
}

static bool lies_within(const struct repository_bounds *bounds, const char *path)
{
	CLEANUP(cleanup_close) int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat last = { 0 }, info;

	while (fd >= 0 && fstat(fd, &info) == 0 && !find_is_same(&info, &last)) {
		int above;

		if (is_bound(bounds, &info))
			return true;
		last = info;
		above = openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		cleanup_close(&fd);
		fd = above;
	}
	return false;
}

/* It is only told early, and why: what git reads later is refused by the kernel. */
static bool check_bounds(const struct repository *repository, struct error *err)
{
	const struct repository_bounds *bounds = repository->bounds;

	if (!bounds ||
		(lies_within(bounds, repository->git_directory) && lies_within(bounds, repository->common_directory)))
		return true;
	return error_set(err, ERROR_PERMISSION,
		"cannot read the repository of %.200s: its git directory lies outside of the directories that may be read",
		repository->name);
}

bool repository_find(struct repository *repository, char format[REPOSITORY_FORMAT_BYTES], struct error *err)
{
	CLEANUP(cleanup_close) int directory = open(repository->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (directory < 0)
		return error_set_errno(err, errno, "cannot open the repository of %.200s", repository->name);
	return repository_find_program(repository, err) &&
	       find_ask_path(repository, directory, "--git-dir", &repository->git_directory, err) &&
	       find_ask_path(repository, directory, "--git-common-dir", &repository->common_directory, err) &&
	       check_bounds(repository, err) &&
	       find_ask(repository, directory, (const char *[]){ "--show-object-format", "--show-ref-format" }, 2,
		       format, REPOSITORY_FORMAT_BYTES, err) &&
	       find_choose_user(repository, directory, err);
}
