/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/broker.h"

#include "common/common.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK_BYTES = 512, REAL_PATH = -1 };

/* ---- Messages ---- */

struct broker_request {
	int32_t use; /* enum elf_file_use, or REAL_PATH */
	uint32_t number;
	char path[PATH_MAX]; /* NUL-terminated */
};

/* The answer; a descriptor comes with it, if `code` is 0 and a file was asked for. */
struct broker_answer {
	int32_t code;        /* errno */
	char path[PATH_MAX]; /* of REAL_PATH */
};

static bool send_answer(int socket, const struct broker_answer *answer, int fd)
{
	return message_send(socket, answer, offsetof(struct broker_answer, path) + strlen(answer->path) + 1, fd);
}

static bool broker_receive_answer(int socket, struct broker_answer *answer, int *fd)
{
	*answer = (struct broker_answer){ .code = EIO };
	return message_receive(socket, answer, sizeof(*answer) - 1, 0, fd) >=
	       (ssize_t)offsetof(struct broker_answer, path);
}

/* ---- Becoming the owner ---- */

bool broker_become(const struct broker *broker)
{
	CLEANUP(cleanup_free) int *kept = calloc(broker->image_count + 2, sizeof(*kept));
	const uint64_t socket = (uint32_t)broker->socket;
	const struct filter_rule rules[] = {
		FILTER_OPENS,
		FILTER_ALWAYS(openat2), /* its flags are in memory: Landlock is what refuses to write */
		FILTER_ALWAYS(prlimit64),
		FILTER_IF(sendmsg, 0, UINT32_MAX, socket),
		FILTER_IF(recvmsg, 0, UINT32_MAX, socket),
	};

	struct confinement confinement = { .descriptors = kept,
		.user = broker->owner.is_known ? CONFINED_ACCOUNT : CONFINED_NOBODY,
		.id = broker->owner.is_known ? broker->owner.user : 0,
		/* The limits of a child of another user are the broker's to set. */
		.capabilities = RIGHTS_CAPABILITY(CAP_SYS_RESOURCE) |
				(file_owner_is_root(&broker->owner) ? RIGHTS_CAPABILITY(CAP_DAC_READ_SEARCH) : 0),
		.files = CONFINED_READS_FILES,
		.more_calls = { FILTER_SET(rules) } };

	if (!kept)
		return false;
	kept[confinement.descriptor_count++] = broker->socket;
	kept[confinement.descriptor_count++] = broker->system_root;
	for (size_t i = 0; i < broker->image_count; i++)
		if (broker->images[i])
			kept[confinement.descriptor_count++] = elf_image_root(broker->images[i]);
	return !(confined_enter(&confinement) & (RIGHTS_LEFT_USER | RIGHTS_LEFT_CAPABILITIES));
}

/* ---- Paths ---- */

/* Returns what follows the directory in a path below it; NULL if it is not below it. */
static const char *broker_below(const char *path, const char *directory)
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
	char name[64], within[PATH_MAX] = "", found[PATH_MAX] = "";
	int fd = file_open_below(directory, path, flags | O_PATH | O_CLOEXEC, resolve);

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
		if (readlink(name, found, sizeof(found) - 1) > 0 && broker_below(found, within))
			return fd;
	}
	close(fd);
	errno = EXDEV;
	return -1;
}

static int broker_refuse(int fd)
{
	if (fd >= 0)
		close(fd);
	errno = EACCES;
	return -1;
}

/* Opens what a descriptor without rights to read leads to, if it is a regular file that begins as ELF files do. */
static int open_elf_again(int place)
{
	char name[64], begins[SELFMAG];
	struct stat info;
	int fd;

	if (place < 0 || fstat(place, &info) != 0)
		return -1;
	if (!S_ISREG(info.st_mode))
		return broker_refuse(-1);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", place);
	/* O_NONBLOCK: open() must not wait for the holder of a lease. */
	fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0 && (pread(fd, begins, SELFMAG, 0) != SELFMAG || memcmp(begins, ELFMAG, SELFMAG) != 0))
		return broker_refuse(fd);
	return fd;
}

/* ---- The rule ---- */

/* A file of the file system that the target sees, or of ours. */
struct broker_wanted {
	const struct broker *broker;
	const struct elf_image *image;
	enum elf_file_use use;
	int root;            /* borrowed */
	char path[PATH_MAX]; /* below the root */
};

static bool is_below_debug_directory(const struct broker_wanted *wanted)
{
	size_t count;
	const char *const *directories = elf_debug_directories(&wanted->broker->options->debug, &count);

	for (size_t i = 0; i < count; i++)
		if (broker_below(wanted->path, directories[i]))
			return true;
	return false;
}

/*
 * Returns whether a file beside a binary is the word of its owner: where others may put files beside a binary, as in
 * /tmp, theirs must not speak for it.
 */
static bool is_word_of_owner(const struct broker_wanted *wanted, int fd)
{
	struct file_owner owner = file_owner_of(fd);

	return file_owner_is_same(&owner, &wanted->broker->owner) || file_owner_is_root(&owner);
}

/* Opens the file if it is below the directory of the binary. -1 with EACCES if it is not. */
static int broker_open_beside(const struct broker_wanted *wanted, const char *directory)
{
	const char *rest = broker_below(wanted->path, directory);
	CLEANUP(cleanup_close) int place = -1;
	int fd;

	if (!rest || *rest == '\0')
		return broker_refuse(-1);
	place = open_in(wanted->root, directory, O_DIRECTORY, RESOLVE_IN_ROOT);
	fd = place < 0 ? -1 : open_in(place, rest, 0, RESOLVE_BENEATH);
	return fd < 0 || is_word_of_owner(wanted, fd) ? fd : broker_refuse(fd);
}

/* Finds the directory of the binary, as its path has it or without links. */
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

static bool is_split_file(const char *path)
{
	const char *suffix = strrchr(path, '.');

	return suffix && (strcmp(suffix, ".dwo") == 0 || strcmp(suffix, ".dwp") == 0);
}

static int open_built(const struct broker_wanted *wanted)
{
	int fd = is_split_file(wanted->path) ? open_in(wanted->root, wanted->path, 0, RESOLVE_IN_ROOT)
					     : broker_refuse(-1);
	struct file_owner owner;

	if (fd < 0)
		return fd;
	owner = file_owner_of(fd);
	return file_owner_is_same(&owner, &wanted->broker->owner) ? fd : broker_refuse(fd);
}

static int open_where_allowed(const struct broker_wanted *wanted)
{
	char directory[PATH_MAX];
	int fd = -1;

	if (is_below_debug_directory(wanted)) {
		fd = open_in(wanted->root, wanted->path, 0, RESOLVE_IN_ROOT);
		/* The target's own file system is the target's word; ours is that of who runs it. */
		return fd < 0 || wanted->root == wanted->broker->system_root || is_word_of_owner(wanted, fd)
			       ? fd
			       : broker_refuse(fd);
	}
	(void)broker_refuse(-1);
	if (wanted->use == ELF_FILE_BUILD_ID)
		return -1;
	for (unsigned int is_real = 0; fd < 0 && errno == EACCES && is_real < 2; is_real++)
		if (binary_directory(wanted->image, is_real, directory))
			fd = broker_open_beside(wanted, directory);
	if (fd < 0 && errno == EACCES && wanted->use == ELF_FILE_SPLIT)
		fd = open_built(wanted);
	return fd;
}

/* Two mount namespaces that show the same directory as their root have mounted it apart. */
static bool is_same_mount(int left, int right)
{
	struct statx a, b;

	return left >= 0 && right >= 0 && statx(left, "", AT_EMPTY_PATH, STATX_INO | STATX_MNT_ID, &a) == 0 &&
	       statx(right, "", AT_EMPTY_PATH, STATX_INO | STATX_MNT_ID, &b) == 0 &&
	       (a.stx_mask & b.stx_mask & STATX_MNT_ID) && a.stx_mnt_id == b.stx_mnt_id && a.stx_ino == b.stx_ino;
}

int broker_open(const struct broker *broker, uint32_t number, enum elf_file_use use, const char *path)
{
	struct broker_wanted wanted = { .broker = broker, .image = broker->images[number], .use = use };
	char root[ELF_ROOT_PATH_BYTES] = "";
	CLEANUP(cleanup_close) int place = -1;
	bool has_prefix;

	if (!wanted.image)
		return broker_refuse(-1);
	elf_image_root_path(wanted.image, root);
	has_prefix = root[0] && strncmp(path, root, strlen(root)) == 0 && path[strlen(root)] == '/';
	/* Split files are named as the compiler had them, without a prefix; all others are looked for in our tree too.
	 */
	wanted.root =
		has_prefix || (root[0] && use == ELF_FILE_SPLIT) ? elf_image_root(wanted.image) : broker->system_root;
	if (is_same_mount(broker->system_root, wanted.root))
		wanted.root = broker->system_root;
	if (wanted.root < 0)
		return broker_refuse(-1);
	path += has_prefix ? strlen(root) : 0;
	if (snprintf(wanted.path, sizeof(wanted.path), "%s", path) >= (int)sizeof(wanted.path) ||
		!file_normalize_path(wanted.path))
		return broker_refuse(-1);
	place = open_where_allowed(&wanted);
	return open_elf_again(place);
}

/* ---- The process ---- */

void broker_open_root(struct broker *broker)
{
	broker->system_root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

void broker_close_root(const struct broker *broker)
{
	if (broker->system_root >= 0)
		close(broker->system_root);
}

uint64_t broker_disk_bytes(int fd)
{
	struct stat info;

	return fd >= 0 && fstat(fd, &info) == 0 ? (uint64_t)info.st_blocks * BLOCK_BYTES : 0;
}

/* More to work on takes more memory. */
static void count_opened(const struct broker *broker, uint32_t number, int fd)
{
	struct broker_shares *shares = broker->shares;
	uint64_t bytes = broker_disk_bytes(fd);
	pid_t child = atomic_load(&shares->child);

	atomic_fetch_add(&shares->bytes[number], bytes);
	bytes += atomic_fetch_add(&shares->all_bytes, bytes);
	if (child > 0)
		child_raise_memory(child, shares->data_bytes + shares->memory_factor * bytes);
}

static void broker_answer_request(
	const struct broker *broker, const struct broker_request *request, struct broker_answer *answer, int *fd)
{
	const struct elf_image *image = broker->images[request->number];

	*answer = (struct broker_answer){ 0 };
	*fd = -1;
	if (request->use == REAL_PATH) {
		if (!image || !realpath(elf_image_path(image), answer->path))
			answer->code = ENOENT;
		return;
	}
	*fd = broker_open(broker, request->number, (enum elf_file_use)request->use, request->path);
	answer->code = *fd < 0 ? errno : 0;
	if (*fd >= 0)
		count_opened(broker, request->number, *fd);
}

static bool broker_is_valid(const struct broker *broker, const struct broker_request *request)
{
	return request->number < broker->image_count && request->use >= REAL_PATH && request->use <= ELF_FILE_SPLIT;
}

void broker_serve(const struct broker *broker)
{
	uint32_t *opened = calloc(broker->image_count + 1, sizeof(*opened));
	struct broker_request request;
	struct broker_answer answer;
	ssize_t got;

	for (;;) {
		int fd;

		request = (struct broker_request){ 0 };
		got = message_receive(broker->socket, &request, sizeof(request) - 1, 0, &fd);
		cleanup_close(&fd);
		fd = -1;
		if (!opened || got < (ssize_t)offsetof(struct broker_request, path) ||
			!broker_is_valid(broker, &request))
			break;
		answer = (struct broker_answer){ .code = EMFILE };
		if (opened[request.number] < BROKER_MAX_OPENED)
			broker_answer_request(broker, &request, &answer, &fd);
		opened[request.number] += fd >= 0;
		if (!send_answer(broker->socket, &answer, fd))
			break;
		if (fd >= 0)
			close(fd);
	}
	free(opened);
}

/* ---- The child's side ---- */

static bool broker_ask(
	const struct broker_opener *opener, int32_t use, const char *path, struct broker_answer *answer, int *fd)
{
	struct broker_request request = { .use = use, .number = opener->number };
	size_t size = strlen(path);
	bool ok;

	if (size >= sizeof(request.path))
		return false;
	memcpy(request.path, path, size);
	pthread_mutex_lock(&opener->client->lock);
	ok = message_send(opener->client->socket, &request, offsetof(struct broker_request, path) + size + 1, -1) &&
	     broker_receive_answer(opener->client->socket, answer, fd);
	pthread_mutex_unlock(&opener->client->lock);
	return ok;
}

static int open_through(void *context, enum elf_file_use use, const char *path, struct error *err)
{
	struct broker_answer answer = { .code = ENAMETOOLONG };
	int fd = -1;

	if (broker_ask(context, (int32_t)use, path, &answer, &fd) && fd >= 0)
		return fd;
	error_set_errno(err, answer.code ? answer.code : EIO, "cannot open %s", path);
	return -1;
}

static bool real_path_through(void *context, char *path)
{
	struct broker_answer answer;
	int fd = -1;

	if (!broker_ask(context, REAL_PATH, "", &answer, &fd) || answer.code != 0 || answer.path[0] == '\0')
		return false;
	memcpy(path, answer.path, sizeof(answer.path));
	return true;
}

struct elf_opener broker_opener_of(struct broker_opener *opener)
{
	return (struct elf_opener){ open_through, real_path_through, opener };
}
