/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/broker.h"

#include "common/common.h"
#include "tests/fuzz/scratch.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * What a child process may ask the broker for once its reader is taken over. Input: requests, each with flags, the use,
 * the image's number and the size of the path (a byte each), then the path. The first image is the owner's, the second
 * has no other files. Nothing is opened that lies elsewhere or is no ELF file. The process keeps the rights of who runs
 * it: what must not be opened is refused by the rule alone.
 */

enum { REQUESTS = 16, IMAGES = 2, OTHER_USER = 54321, EVERYBODY = 0711, HEADER_BYTES = 8, ANSWER_BYTES = 8192 };

enum flag {
	FLAG_BESIDE = 1,  /* the path follows that of the directory of the image */
	FLAG_SHORT = 2,   /* the request lacks its last bytes */
	FLAG_UNENDED = 4, /* no NUL is sent */
	FLAG_FAR = 8,     /* a number of an image that is far off */
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
	if (!ok) {
		perror("fuzz_broker");
		abort();
	}
}

/* An ELF file, as far as the broker looks, of the image's owner. */
static void give(const char *name, mode_t mode)
{
	const Elf64_Ehdr header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB } };
	char path[PATH_MAX];

	scratch_write(name, &header, sizeof(header));
	scratch_path(name, path);
	must(chmod(path, mode) == 0 && (geteuid() != 0 || chown(path, OTHER_USER, OTHER_USER) == 0));
}

/* What stands beside the image: files of its owner, one that only root may read, and places that lead elsewhere. */
static struct elf_image *make_files(void)
{
	struct elf_image *image;
	char path[PATH_MAX];
	struct error err;

	give("program", 0600);
	give("a.dwo", 0600);
	scratch_write("secret", "secret", 6);
	scratch_path(".", path);
	must(chmod(path, EVERYBODY) == 0);
	scratch_path("elsewhere", path);
	must(symlink("/etc", path) == 0);
	scratch_path("link", path);
	must(symlink("/etc/passwd", path) == 0);
	scratch_path("fifo", path);
	must(mkfifo(path, 0666) == 0);
	scratch_path("program", path);
	must(elf_image_open_path(path, &image, &err));
	return image;
}

static void send_request(int socket, struct byte_reader *r)
{
	unsigned int flags = byte_reader_u8(r);
	int32_t use = (int8_t)byte_reader_u8(r);
	uint32_t number = byte_reader_u8(r);
	size_t size = byte_reader_u8(r);
	char path[PATH_MAX], name[UINT8_MAX + 1] = "";
	struct buffer message;

	size = size < byte_reader_left(r) ? size : byte_reader_left(r);
	memcpy(name, byte_reader_bytes(r, size), size);
	if (flags & FLAG_BESIDE)
		scratch_path(name, path);
	else
		snprintf(path, sizeof(path), "%s", name);
	number *= flags & FLAG_FAR ? 0x1010101 : 1;
	buffer_init(&message, ANSWER_BYTES);
	buffer_append(&message, &use, sizeof(use));
	buffer_append(&message, &number, sizeof(number));
	buffer_append(&message, path, strlen(path) + !(flags & FLAG_UNENDED));
	must(!message.failed &&
		send(socket, message.data, flags & FLAG_SHORT ? HEADER_BYTES - 1 : message.size, 0) > 0);
	buffer_deinit(&message);
}

static void check(int fd)
{
	char place[PATH_MAX], link[64], found[PATH_MAX] = "", begins[SELFMAG];
	struct stat info;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	must(fstat(fd, &info) == 0 && S_ISREG(info.st_mode));
	must(readlink(link, found, sizeof(found) - 1) > 0);
	scratch_path("", place);
	if (strncmp(found, place, strlen(place)) != 0 || pread(fd, begins, SELFMAG, 0) != SELFMAG ||
		memcmp(begins, ELFMAG, SELFMAG) != 0)
		abort();
}

static void take_answers(int socket)
{
	char answer[ANSWER_BYTES];
	int fd;

	while (message_receive(socket, answer, sizeof(answer), MSG_DONTWAIT, &fd) > 0)
		if (fd >= 0) {
			check(fd);
			close(fd);
		}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct elf_image *images[IMAGES];
	static const char *nowhere = "/nonexistent";
	const struct symbolize_options options = { .debug = { .directories = &nowhere, .directory_count = 1 } };
	struct broker_shares *shares = calloc(1, sizeof(*shares) + IMAGES * sizeof(shares->bytes[0]));
	struct byte_reader r = byte_reader_over(data, size);
	struct broker broker;
	int sockets[2];

	if (!images[0])
		images[0] = make_files();
	must(shares && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) == 0);
	for (size_t i = 0; i < REQUESTS && byte_reader_left(&r) > 3; i++)
		send_request(sockets[0], &r);
	must(shutdown(sockets[0], SHUT_WR) == 0);
	/* A child that is not there: its limits are set. */
	atomic_store(&shares->child, -1);
	broker = (struct broker){ .images = images,
		.image_count = IMAGES,
		.owner = file_owner_of_image(images[0]),
		.options = &options,
		.shares = shares,
		.socket = sockets[1] };
	broker_open_root(&broker);
	broker_serve(&broker);
	broker_close_root(&broker);
	take_answers(sockets[0]);
	close(sockets[0]);
	close(sockets[1]);
	free(shares);
	return 0;
}
