/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Asks git for the commits of a range, and answers whoever may not ask it. */
#include "diff/commits/commits.h"

#include <string.h>

enum {
	MAX_LIST_BYTES = 256 << 20,
	MAX_LOG_BYTES = 512 << 20,
	MAX_TEXT_BYTES = 64 << 20,
	MAX_QUESTION_BYTES = 64 << 20,
	MAX_NAMES = 20000,
	MAX_ROUNDS = 8, /* of renames: a file had as many names before */
};

/* ---- The range ---- */

static bool commit_range_split(const char *text, char **from, char **to, struct error *err)
{
	const char *dots = strstr(text, "..");

	if (!dots || dots == text || dots[2] == '.' || strstr(dots + 2, ".."))
		return error_set(err, ERROR_USAGE,
			"--commits '%.100s': write A..B, the commits of base and of head, as in --commits v1.2..HEAD",
			text);
	*from = memory_copy_text(text, (size_t)(dots - text));
	*to = memory_copy_string(dots[2] ? dots + 2 : "HEAD");
	return true;
}

/* Tells what the commits of the range do not cover. */
static bool tell_oddities(const struct commit_range *range, const char *directory, struct error *err)
{
	bool is_ancestor = true, is_reversed = false;

	if (!repository_is_ancestor(range->repository, range->from, range->to, &is_ancestor, err) ||
		!repository_is_ancestor(range->repository, range->to, range->from, &is_reversed, err))
		return false;
	if (strcmp(range->from, range->to) == 0)
		range->say("kelvin: --commits %s: both are the same commit\n", range->text);
	else if (is_reversed)
		range->say(
			"kelvin: --commits %s: the range has no commits, as its second commit is older than the first; "
			"write it the other way round\n",
			range->text);
	else if (!is_ancestor && repository_is_shallow(range->repository))
		range->say(
			"kelvin: --commits %s: the repository is a shallow clone, which lacks commits of the range; to "
			"get them: git -C '%s' fetch --unshallow\n",
			range->text, directory);
	else if (!is_ancestor)
		range->say(
			"kelvin: --commits %s: the first commit is no ancestor of the second: what it has beyond their "
			"common ancestor is not looked at\n",
			range->text);
	return true;
}

bool commit_range_check(const struct commit_range *range, struct error *err)
{
	CLEANUP(cleanup_free) char *from = NULL;
	CLEANUP(cleanup_free) char *to = NULL;

	if (!range->text)
		return !range->confirm || error_set(err, ERROR_USAGE, "--confirm is for --commits A..B");
	return commit_range_split(range->text, &from, &to, err);
}

bool commit_range_open(
	struct commit_range *range, const struct repository *repository, const char *directory, struct error *err)
{
	CLEANUP(cleanup_free) char *from = NULL;
	CLEANUP(cleanup_free) char *to = NULL;

	range->repository = repository;
	return commit_range_split(range->text, &from, &to, err) &&
	       ((repository_resolve(repository, from, range->from, err) &&
			repository_resolve(repository, to, range->to, err) && tell_oddities(range, directory, err)) ||
		       error_prefix(err, "--commits %s", range->text));
}

/* ---- Questions ---- */

/* A question is this number in 8 bytes, and names, each with a NUL behind it. */
/* The questions about files at the commit of base, and of head; of the range; and what was found: the first suspect. */
enum commit_range_question { BASE_FILES = 0x636f6d01, HEAD_FILES, BASE_TEXT, HEAD_TEXT, LOG, RENAMES, IDS, SUSPECT };

struct question_header {
	uint64_t kind;
};

bool commit_range_is_asked(const void *bytes, size_t size)
{
	struct question_header header;

	if (size < sizeof(header))
		return false;
	memcpy(&header, bytes, sizeof(header));
	return header.kind >= BASE_FILES && header.kind <= SUSPECT;
}

/* Pointers to the names within the question, or NULL: it is malformed. */
static const char **split_names(const char *names, size_t size, size_t *count)
{
	const char **list = NULL;
	size_t capacity = 0;
	struct error ignored;

	*count = 0;
	if (size > 0 && names[size - 1] != '\0')
		return NULL;
	if (!ARRAY_RESERVE(&list, &capacity, 1, MAX_NAMES, &ignored))
		return NULL;
	for (const char *at = names; at < names + size; at += strlen(at) + 1) {
		if (!ARRAY_RESERVE(&list, &capacity, *count + 1, MAX_NAMES, &ignored)) {
			free(list);
			return NULL;
		}
		list[(*count)++] = at;
	}
	return list;
}

/* Returns whether each is an id of a commit, and no option of git. */
static bool are_ids(const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t size = strspn(names[i], "0123456789abcdef");

		if (names[i][size] || (size != 40 && size != 64))
			return false;
	}
	return true;
}

static bool run_git(const struct commit_range *range, uint64_t kind, const char *const *names, size_t count, int *fd,
	struct error *err)
{
	const char *commit = kind == BASE_FILES || kind == BASE_TEXT ? range->from : range->to;

	switch (kind) {
	case BASE_FILES:
	case HEAD_FILES:
		return repository_list_files(range->repository, commit, MAX_LIST_BYTES, fd, err);
	case LOG:
		return repository_log(range->repository, range->from, range->to, names, count, MAX_LOG_BYTES, fd, err);
	case IDS:
		return repository_ids(range->repository, range->from, range->to, MAX_LIST_BYTES, fd, err);
	case RENAMES:
		return are_ids(names, count) &&
		       repository_renames(range->repository, names, count, MAX_LIST_BYTES, fd, err);
	case BASE_TEXT:
	case HEAD_TEXT:
		return count == 1 && repository_read_file(range->repository, commit, names[0], MAX_TEXT_BYTES, fd, err);
	default:
		return false;
	}
}

/*
 * Returns whether a commit is one of the range. Who read the profiles names the suspect, whose code --confirm runs: it
 * must be none that the user has not named.
 */
static bool is_in_range(const struct commit_range *range, const char *commit, struct error *err)
{
	bool is_of_head = false, is_of_base = false;

	return repository_is_ancestor(range->repository, commit, range->to, &is_of_head, err) &&
	       repository_is_ancestor(range->repository, commit, range->from, &is_of_base, err) && is_of_head &&
	       !is_of_base;
}

int commit_range_answer(struct commit_range *range, const void *bytes, size_t size)
{
	CLEANUP(cleanup_free) const char **names = NULL;
	struct question_header header;
	struct error err = { 0 };
	size_t count;
	int fd = -1;

	if (!range->repository || !commit_range_is_asked(bytes, size))
		return -1;
	memcpy(&header, bytes, sizeof(header));
	names = split_names((const char *)bytes + sizeof(header), size - sizeof(header), &count);
	if (names && header.kind == SUSPECT) {
		if (count == 1 && are_ids(names, count) && is_in_range(range, names[0], &err))
			memcpy(range->suspect, names[0], strlen(names[0]) + 1);
	} else if (names && run_git(range, header.kind, names, count, &fd, &err)) {
		return fd;
	}
	if (err.code != ERROR_NONE)
		range->say("kelvin: --commits %s: %s\n", range->text, err.message);
	/* git cannot go on in it, and would only take as long again. */
	if (err.code == ERROR_SYSTEM)
		range->repository = NULL;
	return -1;
}

/* ---- Asking ---- */

struct asker {
	struct commit_range *range;
	struct buffer text; /* the file that was asked for last */
};

static bool commit_range_ask(const struct asker *asker, uint64_t kind, const char *const *names, size_t count,
	size_t max_bytes, struct buffer *answer, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer question = BUFFER_INIT(MAX_QUESTION_BYTES);
	CLEANUP(file_opened_deinit) struct file_opened file = { .fd = -1 };
	const struct question_header header = { kind };

	buffer_append(&question, &header, sizeof(header));
	for (size_t i = 0; i < count; i++)
		buffer_append(&question, names[i], strlen(names[i]) + 1);
	if (!buffer_ok(&question, err))
		return false;
	file.name = memory_copy_string("what git wrote");
	file.fd = asker->range->ask ? asker->range->ask(asker->range->context, question.data, question.size, err)
				    : commit_range_answer(asker->range, question.data, question.size);
	/* The one that runs git has told it. */
	if (file.fd < 0)
		return error_set(err, ERROR_EMPTY, "git did not answer");
	buffer_deinit(answer);
	buffer_init(answer, max_bytes);
	return file_read_opened(&file, answer, err);
}

static bool ask_log(const struct asker *asker, const struct commit_paths *paths, struct repository_history **history,
	struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer log = { 0 };
	CLEANUP(repository_history_cleanup) struct repository_history *made = NULL;
	CLEANUP(cleanup_free) const char **list = NULL;
	size_t count;

	commit_paths_list(paths, &list, &count);
	if (!commit_range_ask(asker, LOG, list, count, MAX_LOG_BYTES, &log, err) ||
		!repository_parse_log(log.data, log.size, &made, err))
		return false;
	repository_history_destroy(*history);
	*history = TAKE(made);
	return true;
}

/* Returns the commits that made or removed a file of these names, which may have another name elsewhere. */
static size_t list_makers(const struct repository_history *history, const char **ids)
{
	size_t count = 0;

	for (size_t i = 0; i < history->commit_count && count < MAX_NAMES; i++) {
		const struct repository_commit *commit = &history->commits[i];
		bool makes = false;

		for (size_t j = 0; j < commit->file_count; j++)
			makes |= history->files[commit->first_file + j].old_path == 0 ||
				 history->files[commit->first_file + j].new_path == 0;
		if (makes)
			ids[count++] = commit->id;
	}
	return count;
}

static bool add_other_names(const struct asker *asker, const struct repository_history *history,
	struct commit_paths *paths, bool *added, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer answer = { 0 };
	CLEANUP(repository_history_cleanup) struct repository_history *renames = NULL;
	CLEANUP(cleanup_free) const char **ids = memory_zeroed(history->commit_count + 1, sizeof(*ids));
	size_t count;

	*added = false;
	count = list_makers(history, ids);
	return count == 0 || (commit_range_ask(asker, RENAMES, ids, count, MAX_LIST_BYTES, &answer, err) &&
				     repository_parse_log(answer.data, answer.size, &renames, err) &&
				     commit_paths_add_renames(paths, renames, added, err));
}

static const char *commit_range_read_text(void *context, enum diff_side side, const char *path, size_t *size)
{
	struct asker *asker = context;
	struct error ignored;

	if (!commit_range_ask(
		    asker, side == DIFF_BASE ? BASE_TEXT : HEAD_TEXT, &path, 1, MAX_TEXT_BYTES, &asker->text, &ignored))
		return NULL;
	*size = asker->text.size;
	return asker->text.data;
}

static bool match_side(const struct asker *asker, enum diff_side side, const struct profile *profile,
	struct commit_paths *paths, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer list = { 0 };
	CLEANUP(repository_files_cleanup) struct repository_files *files = NULL;

	return commit_range_ask(
		       asker, side == DIFF_BASE ? BASE_FILES : HEAD_FILES, NULL, 0, MAX_LIST_BYTES, &list, err) &&
	       repository_files_create(list.data, list.size, &files, err) &&
	       commit_paths_match(paths, side, profile, files, err);
}

static bool has_merges(const struct repository_history *history)
{
	for (size_t i = 0; i < history->commit_count; i++)
		if (history->commits[i].is_merge)
			return true;
	return false;
}

/* Marks merges of what base has, as a branch has them that was brought up to date: they make no difference to base. */
static bool mark_updates(const struct asker *asker, struct repository_history *history, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer list = { 0 };
	struct string_table *ids = NULL;
	bool done;

	if (!has_merges(history))
		return true;
	done = commit_range_ask(asker, IDS, NULL, 0, MAX_LIST_BYTES, &list, err) &&
	       string_table_create(MAX_LIST_BYTES, &ids, err);
	for (const char *at = list.data, *end = at + list.size, *line; done && at && at < end; at = line + 1) {
		line = memchr(at, '\n', (size_t)(end - at));
		if (!line)
			break;
		done = string_table_add(ids, at, (size_t)(line - at), &(uint32_t){ 0 }, err);
	}
	for (size_t i = 0; done && i < history->commit_count; i++) {
		struct repository_commit *commit = &history->commits[i];

		commit->is_update = commit->is_merge &&
				    string_table_find(ids, commit->merged, strlen(commit->merged)) == UINT32_MAX;
	}
	string_table_destroy(ids);
	return done;
}

/* Reads the history until no file has a name that is not among those that the log is of. */
static bool read_history(
	const struct asker *asker, struct commit_paths *paths, struct repository_history **history, struct error *err)
{
	bool more = true;

	for (unsigned int i = 0; more && i < MAX_ROUNDS; i++)
		if (!ask_log(asker, paths, history, err) || !add_other_names(asker, *history, paths, &more, err))
			return false;
	return true;
}

/* Whoever can run a command is told which commit that would measure. */
static void tell_suspect(const struct asker *asker, const struct commit_findings *findings)
{
	const struct commits *commits = findings->commits;
	CLEANUP(buffer_deinit) struct buffer ignored = { 0 };
	struct error none;

	if (asker->range->confirm && commits->suspect_count > 0)
		(void)!commit_range_ask(asker, SUSPECT,
			(const char *[]){ findings->history->commits[commits->suspects[0].commit].id }, 1, 1, &ignored,
			&none);
}

static bool commit_range_find(struct asker *asker, const struct diff *diff,
	const struct profile *const profiles[DIFF_SIDES], struct commit_findings *findings, struct error *err)
{
	CLEANUP(commit_paths_deinit) struct commit_paths paths = { 0 };
	struct commits_sources sources = { .text = commit_range_read_text, .context = asker };

	commit_paths_init(&paths);
	if (!match_side(asker, DIFF_BASE, profiles[DIFF_BASE], &paths, err) ||
		!match_side(asker, DIFF_HEAD, profiles[DIFF_HEAD], &paths, err) ||
		!read_history(asker, &paths, &findings->history, err) || !mark_updates(asker, findings->history, err))
		return false;
	sources.paths[DIFF_BASE] = paths.of_strings[DIFF_BASE];
	sources.paths[DIFF_HEAD] = paths.of_strings[DIFF_HEAD];
	if (!commits_rank(diff, profiles, findings->history, &sources, &findings->commits, err))
		return false;
	tell_suspect(asker, findings);
	return true;
}

void commit_range_rank(struct commit_range *range, const struct diff *diff,
	const struct profile *const profiles[DIFF_SIDES], struct commit_findings *findings)
{
	struct asker asker = { .range = range };
	struct error err;

	if (!range->text)
		return;
	if (!commit_range_find(&asker, diff, profiles, findings, &err))
		range->say("kelvin: --commits %s: no commit is named: %s\n", range->text, err.message);
	buffer_deinit(&asker.text);
}

void commit_findings_deinit(struct commit_findings *findings)
{
	commits_destroy(findings->commits);
	repository_history_destroy(findings->history);
}
