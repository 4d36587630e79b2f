/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opens and lists the files below directories. */
#include "common/common.h"
#include "profile/foreign/foreign.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* More of a tree is not looked at: somebody may have named the root directory. */
enum { MOST_ENTRIES = 20000, MOST_DEPTH = 6, HEAD_BYTES = 4096 };

bool profile_roots_open(struct profile_roots *roots, char *const *paths, size_t count, struct error *err)
{
	char *const here[] = { (char *)(uintptr_t) "." };

	if (count > PROFILE_MOST_ROOTS)
		return error_set(
			err, ERROR_USAGE, "%zu directories: at most %d can be named", count, PROFILE_MOST_ROOTS);
	paths = count ? paths : here;
	count = count ? count : 1;
	if (!ARRAY_ZEROED(&roots->roots, count, err))
		return false;
	for (size_t i = 0; i < count; i++) {
		struct profile_root *root = &roots->roots[i];

		root->fd = open(paths[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (root->fd < 0)
			return error_set_errno(err, errno, "cannot open the directory %s", paths[i]);
		roots->count++;
		root->path = realpath(paths[i], NULL);
		if (!root->path)
			return error_set_errno(err, errno, "cannot open the directory %s", paths[i]);
	}
	return true;
}

void profile_roots_deinit(struct profile_roots *roots)
{
	for (size_t i = 0; i < roots->count; i++) {
		free(roots->roots[i].path);
		close(roots->roots[i].fd);
	}
	free(roots->roots);
	*roots = (struct profile_roots){ 0 };
}

/* ---- Opening ---- */

/* Returns the part of a name below a directory; NULL: it is elsewhere. */
static const char *part_below(const struct profile_root *root, const char *name)
{
	size_t size = strlen(root->path);

	if (name[0] != '/')
		return name;
	if (strcmp(root->path, "/") == 0)
		return name + 1;
	if (strncmp(name, root->path, size) != 0 || (name[size] != '/' && name[size] != '\0'))
		return NULL;
	return name[size] == '\0' ? "." : name + size + 1 + strspn(name + size + 1, "/");
}

/* Opens a name below the first directory that has it. */
static int open_in_roots(const struct profile_roots *roots, const char *name, int flags, int *why)
{
	*why = EXDEV;
	for (size_t i = 0; i < roots->count; i++) {
		const char *rest = part_below(&roots->roots[i], name);
		int fd = rest ? file_open_below(roots->roots[i].fd, rest,
					O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | flags, RESOLVE_BENEATH)
			      : -1;

		if (fd >= 0)
			return fd;
		if (rest && *why != ENOENT)
			*why = errno;
	}
	return -1;
}

static bool refuse_name(const char *name, int why, struct error *err)
{
	if (why == EXDEV)
		return error_set(err, ERROR_PERMISSION,
			"cannot read %.200s: it is not below the directories that this server was started with; the tool `profiles` lists what is",
			name);
	if (why == ENOENT)
		return error_set(err, ERROR_NOT_FOUND,
			"cannot read %.200s: there is no such file; the tool `profiles` lists what there is", name);
	return error_set_errno(err, why, "cannot read %.200s", name);
}

bool profile_roots_open_file(const struct profile_roots *roots, const char *name, int *fd, struct error *err)
{
	struct stat status;
	int why, opened = open_in_roots(roots, name, 0, &why);

	if (opened < 0)
		return refuse_name(name, why, err);
	if (fstat(opened, &status) != 0 || !S_ISREG(status.st_mode)) {
		close(opened);
		return error_set(err, ERROR_USAGE, "cannot read %.200s: it is no regular file", name);
	}
	(void)fcntl(opened, F_SETFL, 0);
	*fd = opened;
	return true;
}

bool profile_roots_find_directory(const struct profile_roots *roots, const char *name, char **path, struct error *err)
{
	CLEANUP(cleanup_close) int fd = -1;
	char link[64];
	int why;

	fd = open_in_roots(roots, name, O_DIRECTORY, &why);
	if (fd < 0)
		return refuse_name(name, why, err);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	*path = realpath(link, NULL);
	return *path || error_set_errno(err, errno, "cannot open the directory %.200s", name);
}

/* ---- Listing ---- */

struct roots_walk {
	const struct profile_roots *roots;
	const struct profile_root *root;
	struct found_profiles *found;
	size_t looked_at;
	char path[PATH_MAX]; /* below the root */
};

void found_profiles_deinit(struct found_profiles *profiles)
{
	for (size_t i = 0; i < profiles->count; i++)
		free(profiles->items[i].name);
	free(profiles->items);
	*profiles = (struct found_profiles){ 0 };
}

/*
 * Its content tells, as for `report`; but any file may be gzipped, and many a text has numbers at the ends of its
 * lines, so that names say what of these is a profile.
 */
static bool is_profile(const char *name, int fd)
{
	static const char *const names[] = { "*.pb.gz", "*.pprof", "*.prof", "*.folded", "*.folded.gz", "*.collapsed",
		"*.otlp.gz", "*.cpuprofile.gz", "*.speedscope.json.gz", "*.out.gz", NULL };
	char head[HEAD_BYTES + 1];
	ssize_t got = pread(fd, head, HEAD_BYTES, 0);
	enum foreign_kind kind = got > 0 ? foreign_kind(head, (size_t)got) : FOREIGN_UNKNOWN;

	/* Recordings of addresses are not read here: see source_file_refuse_others(). */
	if (kind == FOREIGN_UNKNOWN || kind == FOREIGN_PERF_DATA || kind == FOREIGN_PART)
		return false;
	return (kind != FOREIGN_PPROF && kind != FOREIGN_FOLDED && kind != FOREIGN_UTF16) ||
	       glob_matches_any(names, name);
}

static bool add_profile(struct roots_walk *walk, const struct stat *status, struct error *err)
{
	struct found_profiles *found = walk->found;
	struct found_profile made = { .bytes = status->st_size,
		.modified_ns = status->st_mtim.tv_sec * 1000000000 + status->st_mtim.tv_nsec };

	if (!ARRAY_RESERVE(&found->items, &found->capacity, found->count + 1, MOST_ENTRIES, err))
		return false;
	/* Of several directories each has names of its own. */
	if (walk->roots->count == 1)
		made.name = strdup(walk->path);
	else if (asprintf(&made.name, "%s/%s", walk->root->path, walk->path) < 0)
		made.name = NULL;
	if (!made.name)
		return error_set_memory(err);
	found->items[found->count++] = made;
	return true;
}

static bool walk_directory(struct roots_walk *walk, int fd, size_t end, size_t depth, struct error *err);

/* Links are not followed: what they lead to is listed where it lies, if it lies below. */
static bool walk_entry(
	struct roots_walk *walk, int directory, const struct dirent *entry, size_t end, size_t depth, struct error *err)
{
	int length = snprintf(walk->path + end, sizeof(walk->path) - end, "%s%s", end ? "/" : "", entry->d_name);
	CLEANUP(cleanup_close) int fd = -1;
	struct stat status;

	if (entry->d_name[0] == '.' || length < 0 || (size_t)length >= sizeof(walk->path) - end)
		return true;
	if (fstatat(directory, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
		(!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)))
		return true;
	fd = openat(directory, entry->d_name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 || fstat(fd, &status) != 0)
		return true;
	if (S_ISDIR(status.st_mode))
		return depth == 0 || walk_directory(walk, fd, end + (size_t)length, depth - 1, err);
	return !S_ISREG(status.st_mode) || !is_profile(entry->d_name, fd) || add_profile(walk, &status, err);
}

static void closedir_cleanup(DIR **directory)
{
	if (*directory)
		closedir(*directory);
}

static bool walk_directory(struct roots_walk *walk, int fd, size_t end, size_t depth, struct error *err)
{
	int again = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CLEANUP(closedir_cleanup) DIR *directory = again < 0 ? NULL : fdopendir(again);
	const struct dirent *entry;

	if (!directory && again >= 0)
		close(again);
	while (directory && (entry = readdir(directory))) {
		if (walk->looked_at++ == MOST_ENTRIES)
			walk->found->is_cut = true;
		if (walk->found->is_cut)
			return true;
		if (!walk_entry(walk, fd, entry, end, depth, err))
			return false;
		walk->path[end] = '\0';
	}
	return true;
}

static int compare_found(const void *left, const void *right)
{
	const struct found_profile *a = left, *b = right;

	return a->modified_ns != b->modified_ns ? ORDER(b->modified_ns, a->modified_ns) : strcmp(a->name, b->name);
}

bool profile_roots_find(const struct profile_roots *roots, struct found_profiles *found, struct error *err)
{
	struct roots_walk walk = { .roots = roots, .found = found };

	for (size_t i = 0; i < roots->count; i++) {
		walk.root = &roots->roots[i];
		if (!walk_directory(&walk, roots->roots[i].fd, 0, MOST_DEPTH, err))
			return false;
	}
	qsort(found->items, found->count, sizeof(*found->items), compare_found);
	return true;
}
