/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opens texts of functions: of a repository, of servers, below directories that the user named. */
#include "diff/texts/texts.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_SERVER_S = 120, MOST_SERVER_MB = 256, MOST_MAPS = 100, MOST_NAMES = 64, SHORT_ID = 9, LEAST_LABEL = 7 };

bool texts_add_map(struct texts *texts, const char *text, struct error *err)
{
	const char *equals = strrchr(text, '='), *to = equals ? equals + 1 : text;
	size_t size = equals ? (size_t)(equals - text) : 0;
	struct texts_map map = { .to = -1 };

	if (!ARRAY_RESERVE(&texts->maps, &texts->map_capacity, texts->map_count + 1, MOST_MAPS, err))
		return false;
	map.to = open(to, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (map.to < 0)
		return error_set_errno(err, errno, "--source-map '%.200s': the directory '%.200s'", text, to);
	while (size > 1 && text[size - 1] == '/')
		size--;
	map.from = equals ? memory_copy_text(text, size) : NULL;
	if (equals && !map.from) {
		close(map.to);
		return error_set_memory(err);
	}
	texts->maps[texts->map_count++] = map;
	return true;
}

bool texts_repository(struct texts *texts, const struct repository **repository, struct error *err)
{
	const char *directory = texts->directory ? texts->directory : ".";

	if (!texts->repository && !repository_open(directory, texts->bounds, &texts->repository, err))
		return false;
	*repository = texts->repository;
	return true;
}

bool texts_prepare(struct texts *texts, struct error *err)
{
	bool is_named = texts->directory || texts->revision[DIFF_BASE] || texts->revision[DIFF_HEAD];
	const struct repository *repository = NULL;

	if (texts->asks_servers && !texts->servers.prepare(err))
		return false;
	texts->servers.bytes = (uint64_t)MOST_SERVER_MB << 20;
	texts->servers.ns = INT64_C(1000000000) * MOST_SERVER_S;
	if (is_named && !texts_repository(texts, &repository, err))
		return false;
	for (int side = 0; side < DIFF_SIDES; side++)
		if (texts->revision[side] &&
			!repository_resolve(repository, texts->revision[side], texts->commit[side], err))
			return false;
	return true;
}

void texts_deinit(struct texts *texts)
{
	for (size_t i = 0; i < texts->map_count; i++) {
		free(texts->maps[i].from);
		close(texts->maps[i].to);
	}
	free(texts->maps);
	repository_close(texts->repository);
	*texts = (struct texts){ 0 };
}

/* ---- A repository ---- */

/* One failure is told: the others have the same reason. */
static int tell(struct texts *texts, const struct error *err)
{
	if (!texts->is_told)
		texts->say("kelvin: sources are not read: %s\n", err->message);
	texts->is_told = true;
	texts->is_broken = texts->is_broken || err->code == ERROR_SYSTEM;
	return -1;
}

/* A repository that nobody named may be missing, and so may git; not one that git refuses or cannot read. */
static bool has_repository(struct texts *texts)
{
	const struct repository *repository;
	struct error err = { .code = ERROR_NONE };

	if (!texts->repository && !texts->is_tried && !texts_repository(texts, &repository, &err) &&
		err.code != ERROR_NOT_FOUND && err.code != ERROR_UNSUPPORTED)
		(void)tell(texts, &err);
	texts->is_tried = true;
	return texts->repository && !texts->is_broken;
}

/* Finds the label's commit: its id, or the beginning of it, and no other name of a revision, which may be anything. */
static bool texts_find_label(struct texts *texts, enum diff_side side, const char *label)
{
	size_t size = strspn(label, "0123456789abcdef");
	char id[REPOSITORY_ID_BYTES];
	struct error err;

	if (label[size] || size < LEAST_LABEL || !has_repository(texts))
		return false;
	if (!repository_resolve(texts->repository, label, id, &err)) {
		if (texts->directory || err.code == ERROR_SYSTEM)
			(void)tell(texts, &err);
		return false;
	}
	if (strncmp(id, label, size) != 0)
		return false;
	memcpy(texts->commit[side], id, sizeof(id));
	return true;
}

/* The revision as people call it: "v1.4 (9f3c2e1)". */
static int answer_commit(struct texts *texts, enum diff_side side, const char *label)
{
	const char *revision = texts->revision[side], *id = texts->commit[side];
	char words[TEXTS_REVISION_BYTES];
	struct error ignored;
	int fd;

	if (!id[0] && !texts_find_label(texts, side, label))
		return -1;
	if (!revision || strncmp(id, revision, strlen(revision)) == 0)
		snprintf(words, sizeof(words), "%.*s", SHORT_ID, id);
	else
		snprintf(words, sizeof(words), "%.200s (%.*s)", revision, SHORT_ID, id);
	fd = file_in_memory("revision", &ignored);
	if (fd >= 0 && file_write_all(fd, words, strlen(words)) && lseek(fd, 0, SEEK_SET) == 0)
		return fd;
	cleanup_close(&fd);
	return -1;
}

static int texts_answer_list(struct texts *texts, enum diff_side side)
{
	struct error err;
	int fd = -1;

	return repository_list_files(texts->repository, texts->commit[side], TEXTS_MOST_LIST_BYTES, &fd, &err)
		       ? fd
		       : tell(texts, &err);
}

static int texts_answer_file(struct texts *texts, enum diff_side side, const char *path)
{
	struct error err;
	int fd = -1;

	return repository_read_file(texts->repository, texts->commit[side], path, TEXTS_MOST_BYTES, &fd, &err)
		       ? fd
		       : tell(texts, &err);
}

/* ---- Servers ---- */

/* A profile may name thousands of sources, and servers may take their time for each. */
static int answer_source(struct texts *texts, const struct texts_question *question)
{
	struct texts_servers *servers = &texts->servers;
	int fd;

	if (!texts->asks_servers || servers->ns == 0 || servers->bytes == 0)
		return -1;
	fd = servers->fetch(question->build_id, question->path, TEXTS_MOST_BYTES, &servers->bytes, &servers->ns);
	if (servers->ns == 0)
		texts->say(
			"kelvin: no more sources are fetched, as the servers in DEBUGINFOD_URLS have taken %d s for them\n",
			MOST_SERVER_S);
	else if (servers->bytes == 0)
		texts->say(
			"kelvin: no more sources are fetched, as the servers in DEBUGINFOD_URLS have sent %d MB for them\n",
			MOST_SERVER_MB);
	return fd;
}

/* ---- Directories that the user named ---- */

/* Opens a regular file below a directory; no link, ".." or mount of /proc leads out of it. */
static int texts_open_below(int directory, const char *path)
{
	int fd = file_open_below(directory, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, RESOLVE_BENEATH);
	struct stat info;

	if (fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size <= TEXTS_MOST_BYTES)
		return fd;
	cleanup_close(&fd);
	return -1;
}

/* Returns the rest of a path behind OLD; NULL: it does not begin so. */
static const char *behind(const char *path, const char *from)
{
	size_t size = strlen(from);

	if (strncmp(path, from, size) != 0 || (path[size] != '/' && (size == 0 || from[size - 1] != '/')))
		return NULL;
	path += size;
	return path + strspn(path, "/");
}

/* Returns the longest end of the path that is a file there, as of a repository (repository_files_match()). */
static int open_any_end(int directory, const char *path)
{
	const char *rest = path;
	int fd = -1;

	for (int i = 0; fd < 0 && i < MOST_NAMES; i++) {
		const char *slash;

		rest += strspn(rest, "/");
		slash = strchr(rest, '/');
		if (!rest[0] || (!slash && repository_is_of_system(path)))
			break;
		fd = texts_open_below(directory, rest);
		if (!slash)
			break;
		rest = slash;
	}
	return fd;
}

static int answer_mapped(const struct texts *texts, const char *path)
{
	int fd = -1;

	for (size_t i = 0; fd < 0 && i < texts->map_count; i++) {
		const struct texts_map *map = &texts->maps[i];
		const char *rest = map->from ? behind(path, map->from) : NULL;

		if (rest && rest[0])
			fd = texts_open_below(map->to, rest);
		else if (!map->from)
			fd = open_any_end(map->to, path);
	}
	return fd;
}

/* ---- Answers ---- */

static bool texts_is_valid(const struct texts_question *question, size_t size)
{
	return size == sizeof(*question) && question->side < DIFF_SIDES &&
	       memchr(question->build_id, '\0', sizeof(question->build_id)) &&
	       memchr(question->path, '\0', sizeof(question->path));
}

int texts_answer(struct texts *texts, const void *bytes, size_t size)
{
	const struct texts_question *question = bytes;
	bool has_commit;

	if (!texts_is_valid(question, size) || ++texts->question_count > TEXTS_MOST_QUESTIONS)
		return -1;
	has_commit = texts->repository && !texts->is_broken && texts->commit[question->side][0];
	switch (question->kind) {
	case TEXTS_COMMIT:
		return answer_commit(texts, question->side, question->path);
	case TEXTS_LIST:
		return has_commit ? texts_answer_list(texts, question->side) : -1;
	case TEXTS_FILE:
		return has_commit ? texts_answer_file(texts, question->side, question->path) : -1;
	case TEXTS_SERVER:
		return answer_source(texts, question);
	case TEXTS_MAPPED:
		return answer_mapped(texts, question->path);
	default:
		return -1;
	}
}
