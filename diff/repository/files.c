/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which file of a repository a path means that a compiler wrote. */
#include "diff/repository/repository.h"

#include <string.h>

enum { MOST_PATH_BYTES = 4096, MOST_FILES = 1 << 24 };

struct repository_files_entry {
	uint64_t name_hash; /* of its last name */
	uint32_t at;        /* in the bytes */
};

struct repository_files {
	char *bytes;                            /* owned: each path with its NUL */
	struct repository_files_entry *entries; /* owned; by hash, then by place */
	size_t count, capacity;
};

/* ---- The index ---- */

static const char *last_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static uint64_t hash_name(const char *path)
{
	const char *name = last_name(path);

	return hash_bytes(name, strlen(name));
}

static int by_hash(const void *left, const void *right)
{
	const struct repository_files_entry *a = left, *b = right;

	if (a->name_hash != b->name_hash)
		return a->name_hash < b->name_hash ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

static bool index_paths(struct repository_files *files, size_t size, struct error *err)
{
	for (size_t at = 0; at < size; at += strlen(files->bytes + at) + 1) {
		if (!ARRAY_APPEND(&files->entries, &files->capacity, &files->count, MOST_FILES, err,
			    (struct repository_files_entry){ hash_name(files->bytes + at), (uint32_t)at }))
			return false;
	}
	if (files->count > 0)
		qsort(files->entries, files->count, sizeof(*files->entries), by_hash);
	return true;
}

bool repository_files_create(const void *bytes, size_t size, struct repository_files **files, struct error *err)
{
	CLEANUP(repository_files_cleanup) struct repository_files *made = NULL;

	if (size > 0 && ((const char *)bytes)[size - 1] != '\0')
		return error_set(err, ERROR_FORMAT, "git's list of files ends within a path");
	if (size > UINT32_MAX)
		return error_set(err, ERROR_LIMIT, "git's list of files is too long");
	made = memory_zeroed(1, sizeof(*made));
	made->bytes = memory_alloc(size + 1);
	memcpy(made->bytes, bytes, size);
	if (!index_paths(made, size, err))
		return false;
	*files = TAKE(made);
	return true;
}

void repository_files_destroy(struct repository_files *files)
{
	if (!files)
		return;
	free(files->bytes);
	free(files->entries);
	free(files);
}

/* ---- The search ---- */

/* Writes the path without "." and with ".." resolved, as far as there is something before it. False: it is too long. */
static bool simplify(const char *path, char simple[MOST_PATH_BYTES])
{
	size_t used = 0;

	if (strlen(path) + 2 > MOST_PATH_BYTES)
		return false;
	for (const char *name = path; *name;) {
		size_t size = strcspn(name, "/");

		if (size == 2 && name[0] == '.' && name[1] == '.') {
			while (used > 0 && simple[--used] != '/')
				;
		} else if (size > 0 && !(size == 1 && name[0] == '.')) {
			if (used > 0 || path[0] == '/')
				simple[used++] = '/';
			memcpy(simple + used, name, size);
			used += size;
		}
		name += size + (name[size] == '/');
	}
	simple[used] = '\0';
	return used > 0;
}

/* The agreement of two paths from their ends, by whole names. */
struct agreement {
	size_t names;
	bool has_entry; /* all of the repository's path */
	bool has_path;  /* all of the other one, which is relative */
};

static struct agreement agree(const char *entry, const char *path)
{
	struct agreement result = { 0 };
	size_t i = strlen(entry), j = strlen(path);

	while (i > 0 && j > 0 && entry[i - 1] == path[j - 1]) {
		result.names += path[j - 1] == '/';
		i--;
		j--;
	}
	/* The name that was begun is whole if both end here, or one ends and the other has a '/'. */
	result.has_entry = i == 0 && (j == 0 || path[j - 1] == '/');
	result.has_path = j == 0 && (i == 0 || entry[i - 1] == '/');
	result.names += result.has_entry || result.has_path;
	return result;
}

bool repository_is_of_system(const char *path)
{
	static const char *const places[] = { "/usr/include/", "/usr/lib/", "/usr/lib64/", "/usr/local/include/",
		"/usr/local/lib/", "/usr/share/", "/lib/", "/lib64/" };

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (strncmp(path, places[i], strlen(places[i])) == 0)
			return true;
	return false;
}

/* Returns how well an entry fits; 0: not at all. Entries of which `path` has all come first. */
static size_t repository_files_weigh(const char *entry, const char *path, bool is_system)
{
	struct agreement agreement = agree(entry, path);

	if (agreement.names == 0 || (agreement.names == 1 && is_system))
		return 0;
	if (agreement.has_entry)
		return MOST_PATH_BYTES + agreement.names;
	return agreement.names >= 2 || agreement.has_path ? agreement.names : 0;
}

static size_t find_first(const struct repository_files *files, uint64_t hash)
{
	return BISECT(files->count, i, files->entries[i].name_hash < hash);
}

const char *repository_files_match(const struct repository_files *files, const char *path)
{
	char simple[MOST_PATH_BYTES];
	const char *best = NULL;
	size_t most = 0, equals = 0;
	uint64_t hash;
	bool is_system;

	if (!simplify(path, simple))
		return NULL;
	hash = hash_name(simple);
	is_system = repository_is_of_system(simple);
	for (size_t i = find_first(files, hash); i < files->count && files->entries[i].name_hash == hash; i++) {
		const char *entry = files->bytes + files->entries[i].at;
		size_t weight = repository_files_weigh(entry, simple, is_system);

		equals = weight > most ? 1 : equals + (weight == most);
		if (weight > most) {
			most = weight;
			best = entry;
		}
	}
	return equals == 1 ? best : NULL;
}
