/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Asks git about the commits of a range. */
#include "diff/repository/git.h"

#include <string.h>

enum { MOST_PATHS = 20000, LOG_SECONDS = 120 };

/* The format that history.c reads. */
#define FORMAT "--format=%x00%H%x00%P%x00%s%x00"

/* Options that set once more what a configuration, an attribute or a terminal could change. */
static const char *const as_it_is[] = { "--first-parent", "-m", "--no-ext-diff", "--no-textconv", "--no-show-signature",
	"--no-color", "--no-notes", "--no-mailmap", "--no-relative", "--raw", "-z", "-M", FORMAT };
enum { AS_IT_IS = sizeof(as_it_is) / sizeof(as_it_is[0]) };

/* A question to "git log". */
struct log_question {
	const char *const *options; /* NULL ends them */
	const char *const *revisions, *const *paths;
	size_t revision_count, path_count;
};

static size_t log_append(const char **arguments, size_t count, const char *const *more, size_t more_count)
{
	for (size_t i = 0; i < more_count; i++)
		arguments[count + i] = more[i];
	return count + more_count;
}

static bool run_log(const struct repository *repository, const struct log_question *question, size_t max_bytes, int *fd,
	struct error *err)
{
	CLEANUP(repository_answer_deinit) struct repository_answer answer = { .fd = -1 };
	CLEANUP(cleanup_free)
	const char **arguments =
		memory_zeroed(AS_IT_IS + question->revision_count + question->path_count + 16, sizeof(char *));
	char complaint[128];
	size_t count = 0;

	arguments[count++] = "log";
	count = log_append(arguments, count, as_it_is, AS_IT_IS);
	for (const char *const *option = question->options; *option; option++)
		arguments[count++] = *option;
	count = log_append(arguments, count, question->revisions, question->revision_count);
	arguments[count++] = "--";
	log_append(arguments, count, question->paths, question->path_count);
	if (!repository_git(repository, arguments, max_bytes, LOG_SECONDS, &answer, err))
		return error_prefix(err, "the commits of the range");
	repository_complaint_line(answer.complaint, complaint, sizeof(complaint));
	if (answer.code != 0)
		return error_set(err, ERROR_NOT_FOUND, "the repository of %.150s does not tell its commits: %s",
			repository->name, complaint);
	*fd = answer.fd;
	answer.fd = -1;
	return true;
}

bool repository_log(const struct repository *repository, const char *from, const char *to, const char *const *paths,
	size_t path_count, size_t max_bytes, int *fd, struct error *err)
{
	/* Without --sparse the commits that touched none of the files are not told. */
	static const char *const options[] = { "-p", "-U0", "--sparse", NULL };
	/* A path that is not there: without any the log would be of all files. */
	static const char *const none[] = { ".git/none" };
	char range[2 * REPOSITORY_ID_BYTES + 2];

	if (path_count > MOST_PATHS)
		return error_set(err, ERROR_LIMIT, "the functions are in more than %d files", MOST_PATHS);
	snprintf(range, sizeof(range), "%s..%s", from, to);
	return run_log(repository,
		&(struct log_question){ options, (const char *[]){ range }, path_count > 0 ? paths : none, 1,
			path_count > 0 ? path_count : 1 },
		max_bytes, fd, err);
}

bool repository_renames(const struct repository *repository, const char *const *commits, size_t commit_count,
	size_t max_bytes, int *fd, struct error *err)
{
	static const char *const options[] = { "--no-walk=unsorted", "--diff-filter=R", NULL };

	if (commit_count > MOST_PATHS)
		return error_set(err, ERROR_LIMIT, "more than %d commits made a file", MOST_PATHS);
	return run_log(
		repository, &(struct log_question){ options, commits, NULL, commit_count, 0 }, max_bytes, fd, err);
}

bool repository_ids(const struct repository *repository, const char *from, const char *to, size_t max_bytes, int *fd,
	struct error *err)
{
	CLEANUP(repository_answer_deinit) struct repository_answer answer = { .fd = -1 };
	char range[2 * REPOSITORY_ID_BYTES + 2];

	snprintf(range, sizeof(range), "%s..%s", from, to);
	if (!repository_git(repository, (const char *[]){ "rev-list", range, "--", NULL }, max_bytes, LOG_SECONDS,
		    &answer, err))
		return error_prefix(err, "the commits of the range");
	if (answer.code != 0)
		return error_set(
			err, ERROR_NOT_FOUND, "the repository of %.150s does not tell its commits", repository->name);
	*fd = answer.fd;
	answer.fd = -1;
	return true;
}

bool repository_is_ancestor(
	const struct repository *repository, const char *ancestor, const char *of, bool *is_ancestor, struct error *err)
{
	CLEANUP(repository_answer_deinit) struct repository_answer answer = { .fd = -1 };

	if (!repository_git(repository, (const char *[]){ "merge-base", "--is-ancestor", ancestor, of, NULL },
		    REPOSITORY_FORMAT_BYTES, LOG_SECONDS, &answer, err))
		return false;
	*is_ancestor = answer.code == 0;
	return true;
}

bool repository_is_shallow(const struct repository *repository)
{
	return repository->is_shallow;
}

bool repository_archive(
	const struct repository *repository, const char *commit, size_t max_bytes, int *fd, struct error *err)
{
	CLEANUP(repository_answer_deinit) struct repository_answer answer = { .fd = -1 };
	char complaint[128];

	if (!repository_git(repository, (const char *[]){ "archive", "--format=tar", commit, NULL }, max_bytes,
		    LOG_SECONDS, &answer, err))
		return error_prefix(err, "the files of commit %.12s", commit);
	repository_complaint_line(answer.complaint, complaint, sizeof(complaint));
	if (answer.code != 0)
		return error_set(
			err, ERROR_NOT_FOUND, "the files of commit %.12s are not all there: %s", commit, complaint);
	*fd = answer.fd;
	answer.fd = -1;
	return true;
}
