/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads what a repository has at a revision: the commit, its list of files, the bytes of a file. */
#include "diff/repository/git.h"

#include <errno.h>
#include <string.h>

enum { MOST_REVISION_BYTES = 1024, MOST_ENTRY_BYTES = 2 * PATH_MAX };

/* ---- Revisions ---- */

static bool is_id(const char *text)
{
	size_t size = strspn(text, "0123456789abcdef");

	return text[size] == '\0' && (size == 40 || size == 64);
}

static bool refuse_revision(const struct repository *repository, const char *revision, struct error *err)
{
	if (repository->bounds)
		return error_set(err, ERROR_NOT_FOUND,
			"the repository of %.150s has no commit '%.80s' below the directories that may be read: neither what a "
			"clone lacks is there, nor what alternates and links lead to elsewhere",
			repository->name, revision);
	if (repository->is_shallow)
		return error_set(err, ERROR_NOT_FOUND,
			"the repository of %.150s has no commit '%.80s', as it is a shallow clone; fetch the rest: "
			"git -C '%.150s' fetch --unshallow --tags",
			repository->name, revision, repository->name);
	return error_set(err, ERROR_NOT_FOUND,
		"the repository of %.150s has no commit '%.80s'; see git -C '%.150s' log --all --oneline, or fetch it: "
		"git -C '%.150s' fetch --tags",
		repository->name, revision, repository->name, repository->name);
}

bool repository_resolve(
	const struct repository *repository, const char *revision, char id[REPOSITORY_ID_BYTES], struct error *err)
{
	CLEANUP(repository_answer_deinit) struct repository_answer answer = { .fd = -1 };
	CLEANUP(cleanup_free) char *commit = NULL;
	char text[MOST_REVISION_BYTES];

	/* No name of a revision begins so, but an option of git. */
	if (revision[0] == '-' || revision[0] == '\0' || strlen(revision) > MOST_REVISION_BYTES)
		return refuse_revision(repository, revision, err);
	if (asprintf(&commit, "%s^{commit}", revision) < 0) {
		commit = NULL;
		return error_set_memory(err);
	}
	if (!repository_git(repository, (const char *[]){ "rev-parse", "--verify", "--quiet", commit, NULL },
		    sizeof(text), REPOSITORY_SECONDS, &answer, err))
		return false;
	if (answer.code != 0 || !repository_answer_text(&answer, text, sizeof(text)) || !is_id(text))
		return refuse_revision(repository, revision, err);
	memcpy(id, text, strlen(text) + 1);
	return true;
}

/* ---- Files ---- */

/* Refuses an object that is not there, with the command by which the user's own git gets it. */
static bool refuse_missing(
	const struct repository *repository, const char *commit, const char *complaint, struct error *err)
{
	char line[128];

	if (repository->bounds)
		return error_set(err, ERROR_NOT_FOUND,
			"the repository of %.150s lacks a part of commit %.12s below the directories that may be read, as a "
			"partial clone does, or one with alternates elsewhere",
			repository->name, commit);
	repository_complaint_line(complaint, line, sizeof(line));
	return error_set(err, ERROR_NOT_FOUND,
		"the repository of %.100s lacks a part of commit %.12s (%s), as a partial clone does; to get it: "
		"git -C '%.100s' archive %.12s >/dev/null",
		repository->name, commit, line, repository->name, commit);
}

static int repository_read_take_output(struct repository_answer *answer)
{
	int fd = answer->fd;

	answer->fd = -1;
	return fd;
}

bool repository_list_files(
	const struct repository *repository, const char *commit, size_t max_bytes, int *fd, struct error *err)
{
	CLEANUP(repository_answer_deinit) struct repository_answer answer = { .fd = -1 };

	if (!is_id(commit))
		return refuse_revision(repository, commit, err);
	if (!repository_git(repository,
		    (const char *[]){ "ls-tree", "-r", "-z", "--name-only", "--full-tree", commit, NULL }, max_bytes,
		    REPOSITORY_SECONDS, &answer, err))
		return error_prefix(err, "the files of commit %.12s", commit);
	if (answer.code != 0)
		return refuse_missing(repository, commit, answer.complaint, err);
	*fd = repository_read_take_output(&answer);
	return true;
}

/* Returns whether it is the path of a file in a tree: none that git would take for one of another directory. */
static bool is_tree_path(const char *path)
{
	if (strlen(path) >= PATH_MAX)
		return false;
	for (const char *name = path;; name++) {
		size_t size = strcspn(name, "/");

		if (size == 0 || (size == 1 && name[0] == '.') || (size == 2 && name[0] == '.' && name[1] == '.'))
			return false;
		name += size;
		if (!*name)
			return true;
	}
}

static bool refuse_path(const char *commit, const char *path, struct error *err)
{
	return error_set(err, ERROR_NOT_FOUND, "commit %.12s has no file '%.300s'", commit, path);
}

/* Finds the id of a file's bytes, out of "100644 blob ID\tPATH". Links and submodules are no files. */
static bool find_blob(const struct repository *repository, const char *commit, const char *path,
	char id[REPOSITORY_ID_BYTES], struct error *err)
{
	CLEANUP(repository_answer_deinit) struct repository_answer answer = { .fd = -1 };
	char entry[MOST_ENTRY_BYTES], *tab;
	ssize_t got;

	if (!repository_git(repository, (const char *[]){ "ls-tree", "-z", "--full-tree", commit, "--", path, NULL },
		    sizeof(entry), REPOSITORY_SECONDS, &answer, err))
		return false;
	if (answer.code != 0)
		return refuse_missing(repository, commit, answer.complaint, err);
	got = pread(answer.fd, entry, sizeof(entry) - 1, 0);
	entry[got > 0 ? got : 0] = '\0';
	tab = strchr(entry, '\t');
	if (strncmp(entry, "100", 3) != 0 || !tab || strcmp(tab + 1, path) != 0)
		return refuse_path(commit, path, err);
	*tab = '\0';
	if (strncmp(entry + 6, " blob ", 6) != 0 || !is_id(entry + 12))
		return refuse_path(commit, path, err);
	memcpy(id, entry + 12, strlen(entry + 12) + 1);
	return true;
}

bool repository_read_file(const struct repository *repository, const char *commit, const char *path, size_t max_bytes,
	int *fd, struct error *err)
{
	CLEANUP(repository_answer_deinit) struct repository_answer answer = { .fd = -1 };
	char id[REPOSITORY_ID_BYTES];

	if (!is_id(commit) || !is_tree_path(path))
		return refuse_path(commit, path, err);
	if (!find_blob(repository, commit, path, id, err))
		return false;
	if (!repository_git(repository, (const char *[]){ "cat-file", "blob", id, NULL }, max_bytes, REPOSITORY_SECONDS,
		    &answer, err))
		return error_prefix(err, "the file '%.200s' of commit %.12s", path, commit);
	if (answer.code != 0)
		return refuse_missing(repository, commit, answer.complaint, err);
	*fd = repository_read_take_output(&answer);
	return true;
}
