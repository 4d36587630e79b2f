/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opens a repository: makes the git directory of ours through which git reads its objects and names. */
#include "diff/repository/git.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* ---- The git directory ---- */

enum { MOST_HEAD_BYTES = 1024 };

static bool write_new(int directory, const char *name, const char *text, struct error *err)
{
	CLEANUP(cleanup_close) int fd = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	if (fd < 0 || fchmod(fd, 0644) != 0 || !file_write_all(fd, text, strlen(text)))
		return error_set_errno(err, errno, "cannot write %s for git", name);
	return true;
}

/* A name of our directory that leads into the repository, whether it has that or not. */
static bool repository_open_link_to(
	int directory, const char *name, const char *in, const char *entry, struct error *err)
{
	CLEANUP(cleanup_free) char *target = NULL;

	if (asprintf(&target, "%s/%s", in, entry) < 0)
		return error_set_memory(err);
	return symlinkat(target, directory, name) == 0 ? true
						       : error_set_errno(err, errno, "cannot make %s for git", name);
}

/* Reads HEAD, or where it leads if it is a link as git once made them. Its bytes are foreign. */
static ssize_t repository_open_read_head(const char *git_directory, char *head, size_t size)
{
	CLEANUP(cleanup_close) int at = open(git_directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
	CLEANUP(cleanup_close)
	int fd = at >= 0 ? openat(at, "HEAD", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) : -1;
	static const char prefix[] = "ref: ";
	struct stat info;
	ssize_t got;

	if (fd >= 0)
		return fstat(fd, &info) == 0 && S_ISREG(info.st_mode) ? read(fd, head, size) : -1;
	memcpy(head, prefix, sizeof(prefix) - 1);
	got = at >= 0 ? readlinkat(at, "HEAD", head + sizeof(prefix) - 1, size - sizeof(prefix) + 1) : -1;
	return got < 0 ? got : got + (ssize_t)sizeof(prefix) - 1;
}

static bool is_head(const char *head)
{
	static const char branch[] = "ref: refs/";
	size_t digits = strspn(head, "0123456789abcdef");

	if (strncmp(head, branch, sizeof(branch) - 1) != 0)
		return digits >= 40 && head[digits] == '\0';
	for (; *head; head++)
		if ((unsigned char)*head < ' ')
			return false;
	return true;
}

/* It is copied, as git takes no link out of its directory for HEAD; what is none becomes a branch without commits. */
static bool copy_head(const struct repository *repository, int directory, struct error *err)
{
	char head[MOST_HEAD_BYTES + 2];
	ssize_t size = repository_open_read_head(repository->git_directory, head, MOST_HEAD_BYTES);

	head[size > 0 ? size : 0] = '\0';
	head[strcspn(head, "\n")] = '\0';
	if (!is_head(head))
		strcpy(head, "ref: refs/heads/none");
	strcat(head, "\n");
	return write_new(directory, "HEAD", head, err);
}

/*
 * Writes how the repository has its objects and names, as git tells it; a git before 2.45 knows of one kind of names
 * only.
 */
static bool write_config(const struct repository *repository, int directory, const char *format, struct error *err)
{
	bool is_sha256 = strncmp(format, "sha256", 6) == 0, is_table = strstr(format, "\nreftable") != NULL;
	char text[256];

	snprintf(text, sizeof(text), "[core]\n\trepositoryformatversion = %d\n\tbare = true\n%s%s%s",
		is_sha256 || is_table, is_sha256 || is_table ? "[extensions]\n" : "",
		is_sha256 ? "\tobjectFormat = sha256\n" : "", is_table ? "\trefStorage = reftable\n" : "");
	return write_new(directory, "config", text, err) &&
	       (!is_table ||
		       repository_open_link_to(directory, "reftable", repository->common_directory, "reftable", err));
}

static bool repository_open_fill(
	const struct repository *repository, int directory, const char *format, struct error *err)
{
	/* The files that each work tree has for itself: what it fetched last, merges and so on. */
	static const char *const own[] = { "FETCH_HEAD", "ORIG_HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD" };
	const char *all = repository->common_directory, *tree = repository->git_directory;

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (!repository_open_link_to(directory, own[i], tree, own[i], err))
			return false;
	if (mkdirat(directory, "logs", 0755) != 0 || fchmodat(directory, "logs", 0755, 0) != 0)
		return error_set_errno(err, errno, "cannot make a directory for git");
	return copy_head(repository, directory, err) && write_config(repository, directory, format, err) &&
	       repository_open_link_to(directory, "refs", all, "refs", err) &&
	       repository_open_link_to(directory, "packed-refs", all, "packed-refs", err) &&
	       repository_open_link_to(directory, "shallow", all, "shallow", err) &&
	       repository_open_link_to(directory, "logs/refs", all, "logs/refs", err) &&
	       repository_open_link_to(directory, "logs/HEAD", tree, "logs/HEAD", err);
}

static bool make_directory(struct repository *repository, const char *format, struct error *err)
{
	int parent;

	if (!temporary_create(&repository->temporary, TEMPORARY_SMALL, NULL, err))
		return false;
	parent = repository->temporary.directory;
	if (mkdirat(parent, "git", 0755) != 0)
		return error_set_errno(err, errno, "cannot make a directory for git");
	repository->directory = openat(parent, "git", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	/* Whatever the umask: the owner of the repository reads it. */
	if (repository->directory < 0 || fchmod(repository->directory, 0755) != 0)
		return error_set_errno(err, errno, "cannot make a directory for git");
	return repository_open_fill(repository, repository->directory, format, err);
}

/* ---- Questions ---- */

/*
 * Lists the descriptors of the bounds and of our git directory: what git reads within bounds beside itself and its
 * libraries.
 */
static int *list_readable(const struct repository *repository)
{
	size_t count = repository->bounds->count;
	int *readable = memory_alloc((count + 1) * sizeof(*readable));

	if (count > 0)
		memcpy(readable, repository->bounds->directories, count * sizeof(*readable));
	readable[count] = repository->directory;
	return readable;
}

bool repository_git(const struct repository *repository, const char *const *arguments, size_t max_bytes,
	unsigned int seconds, struct repository_answer *answer, struct error *err)
{
	struct repository_child child = { .program = repository->program,
		.environment = repository->environment,
		.directory = repository->directory,
		.user = repository->user,
		.max_bytes = max_bytes,
		.seconds = seconds };
	const char *const installed[] = { repository->program, "/bin", "/etc/ld.so.cache", "/gnu/store", "/lib",
		"/lib64", "/nix/store", "/usr/bin", "/usr/lib", "/usr/lib64", "/usr/local/lib" };
	struct rights_places places = {
		.paths = installed, .path_count = sizeof(installed) / sizeof(installed[0]), .runs = true
	};
	CLEANUP(cleanup_free) int *readable = NULL;
	CLEANUP(cleanup_free) const char **all = NULL;
	size_t count = 0;

	*answer = (struct repository_answer){ .fd = -1 };
	while (arguments[count])
		count++;
	all = memory_zeroed(count + 2, sizeof(*all));
	all[0] = "git";
	memcpy(all + 1, arguments, count * sizeof(*all));
	child.arguments = all;
	if (repository->bounds) {
		readable = list_readable(repository);
		places.directories = readable;
		places.directory_count = repository->bounds->count + 1;
		child.places = &places;
	}
	return repository_child_run(&child, answer, err) ||
	       error_prefix(err, "the repository of %.200s", repository->name);
}

char *repository_answer_text(const struct repository_answer *answer, char *text, size_t size)
{
	ssize_t got = pread(answer->fd, text, size, 0);

	if (got < 0 || (size_t)got >= size)
		return NULL;
	if (got > 0 && text[got - 1] == '\n')
		got--;
	text[got] = '\0';
	return strlen(text) == (size_t)got ? text : NULL;
}

/* ---- The repository ---- */

/* Nothing of the user's or the repository's is in it but the place of the objects. */
static void make_environment(struct repository *repository)
{
	static const char *const fixed[] = { "PATH=/usr/bin:/bin", "HOME=/nonexistent", "LC_ALL=C", "GIT_DIR=.",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_ATTR_NOSYSTEM=1", "GIT_NO_REPLACE_OBJECTS=1", "GIT_NO_LAZY_FETCH=1", "GIT_OPTIONAL_LOCKS=0",
		"GIT_TERMINAL_PROMPT=0", "GIT_LITERAL_PATHSPECS=1", "GIT_ALLOW_PROTOCOL=", "GIT_PAGER=cat",
		"GIT_TRACE2=0", "GIT_TRACE2_EVENT=0", "GIT_TRACE2_PERF=0" };
	enum { FIXED = sizeof(fixed) / sizeof(fixed[0]) };

	_Static_assert(FIXED + 2 <= REPOSITORY_ENVIRONMENT, "the environment has room");
	repository->objects = memory_print("GIT_OBJECT_DIRECTORY=%s/objects", repository->common_directory);
	memcpy(repository->environment, fixed, sizeof(fixed));
	repository->environment[FIXED] = repository->objects;
}

/* The owner may be shut out of where root keeps the repository. */
static bool check_owner(const struct repository *repository, struct error *err)
{
	CLEANUP(repository_answer_deinit) struct repository_answer answer = { .fd = -1 };
	char line[128];

	if (repository->user == 0 || geteuid() != 0)
		return true;
	if (!repository_git(repository, (const char *[]){ "rev-parse", "--git-dir", NULL }, PATH_MAX,
		    REPOSITORY_SECONDS, &answer, err))
		return false;
	if (answer.code == 0)
		return true;
	repository_complaint_line(answer.complaint, line, sizeof(line));
	return error_set(err, ERROR_PERMISSION,
		"git reads the repository of %.150s as user %u, whose it is, and that user cannot (%s); let them into "
		"all directories above it, or make it root's own",
		repository->name, (unsigned int)repository->user, line);
}

static bool repository_open_all(struct repository *repository, struct error *err)
{
	char format[REPOSITORY_FORMAT_BYTES];

	if (!repository_find(repository, format, err))
		return false;
	make_environment(repository);
	return make_directory(repository, format, err) && check_owner(repository, err);
}

bool repository_open(const char *directory, const struct repository_bounds *bounds, struct repository **repository,
	struct error *err)
{
	CLEANUP(repository_cleanup) struct repository *made = memory_zeroed(1, sizeof(*made));

	made->directory = -1;
	made->bounds = bounds;
	made->name = memory_copy_string(directory);
	if (!repository_open_all(made, err))
		return false;
	*repository = TAKE(made);
	return true;
}

void repository_close(struct repository *repository)
{
	if (!repository)
		return;
	cleanup_close(&repository->directory);
	temporary_remove(&repository->temporary, NULL);
	free(repository->name);
	free(repository->program);
	free(repository->git_directory);
	free(repository->common_directory);
	free(repository->objects);
	free(repository);
}
