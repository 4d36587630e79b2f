/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Unpacks a commit and its parent, and has them measured. */
#include "cli/confirm.h"

#include "cli/child.h"
#include "cli/cli.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static const size_t max_archive_bytes = (size_t)4 << 30;

/* A side of the measurement. */
struct confirm_tree {
	const char *name; /* of its directory */
	char commit[REPOSITORY_ID_BYTES];
	char *command; /* owned */
};

static bool confirm_wait_for(pid_t pid, const char *what, int *status, struct error *err)
{
	if (pid < 0)
		return error_set_errno(err, errno, "cannot start %s", what);
	*status = child_exit_code(child_wait_for(pid));
	return true;
}

/* tar reads what git wrote in a process of its own, which writes below its directory only. */
static bool confirm_unpack(int archive, const char *directory, struct error *err)
{
	int status = 0;
	pid_t pid = child_fork(0);

	if (pid == 0) {
		if (dup2(archive, STDIN_FILENO) >= 0)
			execlp("tar", "tar", "-x", "-f", "-", "--no-same-owner", "--no-same-permissions", "-C",
				directory, (char *)NULL);
		fprintf(stderr, "cannot execute tar: %m\n");
		_exit(CLI_EXIT_NOT_FOUND);
	}
	return confirm_wait_for(pid, "tar", &status, err) &&
	       (status == 0 || error_set(err, ERROR_SYSTEM, "tar ended with exit code %d", status));
}

static bool make_tree(const struct commit_range *range, const struct temporary *temporary, const char *command,
	struct confirm_tree *tree, struct error *err)
{
	CLEANUP(cleanup_free) char *directory = NULL;
	CLEANUP(buffer_deinit) struct buffer line = BUFFER_INIT(CLI_MESSAGE_BYTES);
	CLEANUP(cleanup_close) int archive = -1;

	if (asprintf(&directory, "%s/%s", temporary->path, tree->name) < 0)
		return error_set_memory(err);
	if (mkdir(directory, 0700) != 0)
		return error_set_errno(err, errno, "cannot make %s", directory);
	if (!repository_archive(range->repository, tree->commit, max_archive_bytes, &archive, err) ||
		!confirm_unpack(archive, directory, err))
		return false;
	buffer_append_string(&line, "cd ");
	shell_append_word(&line, directory);
	buffer_printf(&line, " && export KELVIN_COMMIT=%s && { %s\n}", tree->commit, command);
	if (!buffer_ok(&line, err))
		return false;
	tree->command = strdup(line.data);
	return tree->command || error_set_memory(err);
}

static bool confirm_measure(
	const struct confirm_tree *parent, const struct confirm_tree *commit, bool out, struct error *err)
{
	int status = 0;
	pid_t pid;

	fflush(NULL);
	pid = child_fork(0);
	if (pid == 0) {
		if (!out)
			(void)!dup2(STDERR_FILENO, STDOUT_FILENO);
		execl("/proc/self/exe", "kelvin", "bench", "--warmup", "1", "--base", parent->command, "--head",
			commit->command, (char *)NULL);
		_exit(CLI_EXIT_NOT_EXECUTABLE);
	}
	return confirm_wait_for(pid, "kelvin bench", &status, err) &&
	       (status != CLI_EXIT_ERROR || error_set(err, ERROR_EMPTY, "the measurement failed"));
}

bool confirm_suspect(const struct commit_range *range, const char *command, bool out, struct error *err)
{
	struct confirm_tree parent = { .name = "parent" }, commit = { .name = "commit" };
	struct temporary temporary = { 0 };
	char before[REPOSITORY_ID_BYTES + 4];
	bool done;

	if (!range->suspect[0]) {
		cli_say("kelvin: --confirm: no commit is suspected, so none is measured\n");
		return true;
	}
	memcpy(commit.commit, range->suspect, sizeof(commit.commit));
	snprintf(before, sizeof(before), "%s^1", range->suspect);
	cli_say("kelvin: --confirm measures commit %.12s (head) against its parent (base)\n", range->suspect);
	done = repository_resolve(range->repository, before, parent.commit, err) &&
	       temporary_create(&temporary, TEMPORARY_LARGE, NULL, err) &&
	       make_tree(range, &temporary, command, &parent, err) &&
	       make_tree(range, &temporary, command, &commit, err) && confirm_measure(&parent, &commit, out, err);
	temporary_remove(&temporary, NULL);
	free(parent.command);
	free(commit.command);
	return done || error_prefix(err, "--confirm");
}
