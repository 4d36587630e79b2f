/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/broker.h"

#include "common/common.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NOBODY = 65534, BLOCK_BYTES = 512, REAL_PATH = -1 };

/* ---- Messages ---- */

struct request {
	int32_t use; /* enum elf_file_use, or REAL_PATH */
	uint32_t number;
	char path[PATH_MAX]; /* NUL-terminated */
};

/* With a descriptor beside it, if `code` is 0 and a file was asked for. */
struct answer {
	int32_t code;        /* errno */
	char path[PATH_MAX]; /* of REAL_PATH */
};

static bool send_answer(int socket, const struct answer *answer, int fd)
{
	return message_send(socket, answer, offsetof(struct answer, path) + strlen(answer->path) + 1, fd);
}

static bool receive_answer(int socket, struct answer *answer, int *fd)
{
	*answer = (struct answer){ .code = EIO };
	return message_receive(socket, answer, sizeof(*answer) - 1, 0, fd) >= (ssize_t)offsetof(struct answer, path);
}

/* ---- Who asks ---- */

struct owner {
	uid_t user;
	gid_t group;
};

static struct owner owner_of(const struct elf_image *image)
{
	struct owner nobody = { NOBODY, NOBODY };
	struct stat info;

	if (!image || elf_image_descriptor(image) < 0 || fstat(elf_image_descriptor(image), &info) != 0)
		return nobody;
	if (info.st_uid == 0 && (info.st_mode & (S_IWGRP | S_IWOTH)))
		return nobody;
	return (struct owner){ info.st_uid, info.st_uid == 0 ? 0 : info.st_gid };
}

/* From here on the process opens files as the owner, until the same is called for root again. */
static void act_as(struct owner owner)
{
	(void)setfsgid(owner.group);
	(void)setfsuid(owner.user);
}

/* ---- Paths ---- */

/* What follows the directory in a path below it; NULL if it is not below it. */
static const char *below(const char *path, const char *directory)
{
	size_t size = strlen(directory);

	while (size > 0 && directory[size - 1] == '/')
		size--;
	return strncmp(path, directory, size) == 0 && path[size] == '/' ? path + size + 1 : NULL;
}

/*
 * Opens without reading; links may not lead out of the directory. Before Linux 5.6, and in containers that know no
 * newer calls, the place of the opened file is compared instead.
 */
static int open_in(int directory, const char *path, int flags, uint64_t resolve)
{
	struct open_how how = { .flags = (uint64_t)(flags | O_PATH | O_CLOEXEC),
		.resolve = resolve | RESOLVE_NO_MAGICLINKS };
	int fd = (int)syscall(SYS_openat2, directory, path, &how, sizeof(how));
	char name[64], within[PATH_MAX] = "", found[PATH_MAX] = "";

	if (fd >= 0 || (errno != ENOSYS && errno != EPERM))
		return fd;
	while (path[0] == '/')
		path++;
	fd = openat(directory, path, flags | O_PATH | O_CLOEXEC);
	if (fd < 0)
		return -1;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", directory);
	if (readlink(name, within, sizeof(within) - 1) > 0) {
		snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
		if (readlink(name, found, sizeof(found) - 1) > 0 && below(found, within))
			return fd;
	}
	close(fd);
	errno = EXDEV;
	return -1;
}

/* Opens what a descriptor without rights to read leads to, if it is a regular file. */
static int open_regular_again(int place)
{
	struct stat info;
	char name[64];

	if (place < 0 || fstat(place, &info) != 0)
		return -1;
	if (!S_ISREG(info.st_mode)) {
		errno = EACCES;
		return -1;
	}
	snprintf(name, sizeof(name), "/proc/self/fd/%d", place);
	/* O_NONBLOCK: open() must not wait for the holder of a lease. */
	return open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

/* ---- The rule ---- */

/* A file of the file system that the target sees, or of ours. */
struct wanted {
	const struct broker *broker;
	const struct elf_image *image;
	enum elf_file_use use;
	struct owner owner;
	int root;            /* borrowed */
	char path[PATH_MAX]; /* below the root */
};

static bool is_below_debug_directory(const struct wanted *wanted)
{
	size_t count;
	const char *const *directories = elf_debug_directories(&wanted->broker->options->debug, &count);

	for (size_t i = 0; i < count; i++)
		if (below(wanted->path, directories[i]))
			return true;
	return false;
}

/* Opens the file if it is below the directory of the binary. -1 with EACCES if it is not. */
static int open_beside(const struct wanted *wanted, const char *directory)
{
	const char *rest = below(wanted->path, directory);
	CLEANUP(cleanup_close) int fd = -1;

	errno = EACCES;
	if (!rest || *rest == '\0')
		return -1;
	fd = open_in(wanted->root, directory, O_DIRECTORY, RESOLVE_IN_ROOT);
	return fd < 0 ? -1 : open_in(fd, rest, 0, RESOLVE_BENEATH);
}

/* The directory of the binary, as its path has it or without links. */
static bool binary_directory(const struct elf_image *image, bool is_real, char directory[PATH_MAX])
{
	const char *path = image ? elf_image_path(image) : "";
	char *slash;

	if (is_real ? !realpath(path, directory) : snprintf(directory, PATH_MAX, "%s", path) >= PATH_MAX)
		return false;
	slash = strrchr(directory, '/');
	if (!slash || slash == directory)
		return false;
	*slash = '\0';
	return true;
}

static int open_built(const struct wanted *wanted)
{
	int fd = open_in(wanted->root, wanted->path, 0, RESOLVE_IN_ROOT);
	struct stat info;

	if (fd < 0 || (fstat(fd, &info) == 0 && info.st_uid == wanted->owner.user))
		return fd;
	close(fd);
	errno = EACCES;
	return -1;
}

static int open_where_allowed(const struct wanted *wanted)
{
	char directory[PATH_MAX];
	int fd = -1;

	if (is_below_debug_directory(wanted))
		return open_in(wanted->root, wanted->path, 0, RESOLVE_IN_ROOT);
	errno = EACCES;
	if (wanted->use == ELF_FILE_BUILD_ID)
		return -1;
	for (unsigned int is_real = 0; fd < 0 && errno == EACCES && is_real < 2; is_real++)
		if (binary_directory(wanted->image, is_real, directory))
			fd = open_beside(wanted, directory);
	if (fd < 0 && errno == EACCES && wanted->use == ELF_FILE_SPLIT)
		fd = open_built(wanted);
	return fd;
}

static int open_by_rule(struct wanted *wanted, const char *path)
{
	const char *root = wanted->broker->options->debug.root;
	bool has_prefix = root && strncmp(path, root, strlen(root)) == 0 && path[strlen(root)] == '/';
	/* What a binary names without a prefix is in the file system of its process. A build id is looked for in ours
	 * too. */
	bool is_in_root = has_prefix || (root && wanted->use != ELF_FILE_BUILD_ID);
	CLEANUP(cleanup_close) int base = open(is_in_root ? root : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	CLEANUP(cleanup_close) int place = -1;
	int fd, code;

	wanted->root = base;
	if (base < 0)
		return -1;
	path += has_prefix ? strlen(root) : 0;
	if (snprintf(wanted->path, sizeof(wanted->path), "%s", path) >= (int)sizeof(wanted->path) ||
		!file_normalize_path(wanted->path)) {
		errno = EACCES;
		return -1;
	}
	if (wanted->owner.user != 0)
		act_as(wanted->owner);
	place = open_where_allowed(wanted);
	fd = open_regular_again(place);
	code = errno;
	if (wanted->owner.user != 0)
		act_as((struct owner){ 0, 0 });
	errno = code;
	return fd;
}

/* A file of the cache is read if it is ours, in the directory itself. */
static int open_frames(const char *directory, const char *path)
{
	const char *name = directory ? below(path, directory) : NULL;
	struct stat info;
	int fd;

	errno = EACCES;
	if (!name || strspn(name, "0123456789abcdef") != strlen(name))
		return -1;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 || (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid()))
		return fd;
	close(fd);
	errno = EACCES;
	return -1;
}

int broker_open(const struct broker *broker, const struct elf_image *image, enum elf_file_use use, const char *path)
{
	struct wanted wanted = { .broker = broker, .image = image, .use = use, .owner = owner_of(image) };
	struct error why;
	int fd;

	if (use == ELF_FILE_FRAMES)
		return open_frames(broker->options->cache_directory, path);
	if (geteuid() == 0)
		return open_by_rule(&wanted, path);
	fd = elf_open_regular(path, &why);
	if (fd < 0)
		errno = why.system_errno ? why.system_errno : EACCES;
	return fd;
}

/* ---- The process ---- */

void broker_limit_memory(struct broker_shares *shares, pid_t child)
{
	confined_limit_memory(child, shares->data_bytes + shares->memory_factor * atomic_load(&shares->all_bytes));
}

uint64_t broker_disk_bytes(int fd)
{
	struct stat info;

	return fd >= 0 && fstat(fd, &info) == 0 ? (uint64_t)info.st_blocks * BLOCK_BYTES : 0;
}

/* More to work on takes more memory. */
static void count_opened(const struct broker *broker, uint32_t number, int fd)
{
	uint64_t bytes = broker_disk_bytes(fd);

	atomic_fetch_add(&broker->shares->bytes[number], bytes);
	atomic_fetch_add(&broker->shares->all_bytes, bytes);
	broker_limit_memory(broker->shares, broker->child);
}

static void answer_request(const struct broker *broker, const struct request *request, struct answer *answer, int *fd)
{
	const struct elf_image *image = broker->images[request->number];

	*answer = (struct answer){ 0 };
	*fd = -1;
	if (request->use == REAL_PATH) {
		if (!image || !realpath(elf_image_path(image), answer->path))
			answer->code = ENOENT;
		return;
	}
	*fd = broker_open(broker, image, (enum elf_file_use)request->use, request->path);
	answer->code = *fd < 0 ? errno : 0;
	if (*fd >= 0)
		count_opened(broker, request->number, *fd);
}

static bool is_valid(const struct broker *broker, const struct request *request)
{
	return request->number < broker->image_count && request->use >= REAL_PATH && request->use <= ELF_FILE_FRAMES;
}

void broker_serve(const struct broker *broker)
{
	uint32_t *opened = calloc(broker->image_count + 1, sizeof(*opened));
	struct request request;
	struct answer answer;
	ssize_t got;

	for (;;) {
		int fd = -1;

		request = (struct request){ 0 };
		got = recv(broker->socket, &request, sizeof(request) - 1, 0);
		if (got < 0 && errno == EINTR)
			continue;
		if (!opened || got < (ssize_t)offsetof(struct request, path) || !is_valid(broker, &request))
			break;
		answer = (struct answer){ .code = EMFILE };
		if (opened[request.number] < BROKER_MAX_OPENED)
			answer_request(broker, &request, &answer, &fd);
		opened[request.number] += fd >= 0;
		if (!send_answer(broker->socket, &answer, fd))
			break;
		if (fd >= 0)
			close(fd);
	}
	free(opened);
}

/* ---- The child's side ---- */

static bool ask(const struct broker_opener *opener, int32_t use, const char *path, struct answer *answer, int *fd)
{
	struct request request = { .use = use, .number = opener->number };
	size_t size = strlen(path);
	bool ok;

	if (size >= sizeof(request.path))
		return false;
	memcpy(request.path, path, size);
	pthread_mutex_lock(&opener->client->lock);
	ok = message_send(opener->client->socket, &request, offsetof(struct request, path) + size + 1, -1) &&
	     receive_answer(opener->client->socket, answer, fd);
	pthread_mutex_unlock(&opener->client->lock);
	return ok;
}

static int open_through(void *context, enum elf_file_use use, const char *path, struct error *err)
{
	struct answer answer = { .code = ENAMETOOLONG };
	int fd = -1;

	if (ask(context, (int32_t)use, path, &answer, &fd) && fd >= 0)
		return fd;
	error_set_errno(err, answer.code ? answer.code : EIO, "cannot open %s", path);
	return -1;
}

static bool real_path_through(void *context, char *path)
{
	struct answer answer;
	int fd = -1;

	if (!ask(context, REAL_PATH, "", &answer, &fd) || answer.code != 0 || answer.path[0] == '\0')
		return false;
	memcpy(path, answer.path, sizeof(answer.path));
	return true;
}

struct elf_opener broker_opener_of(struct broker_opener *opener)
{
	return (struct elf_opener){ open_through, real_path_through, opener };
}
