/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A file system of one file that stops answering, as a network mount does whose server is gone (linux, fuse.h). The
 * file's code is there; whoever opens the file anew, or reads other parts of it, waits for ever.
 */
#include "hostile.h"
#include "hostile_elf.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_NODE = 2, FILE_BYTES = 1 << 20, REQUEST_BYTES = 1 << 17, FIRST_PAGES = 0x2000 };

struct server {
	int fd;
	int opens; /* of the file, so far */
	uint8_t bytes[FILE_BYTES];
};

static void answer(
	const struct server *server, const struct fuse_in_header *in, int error, const void *data, size_t size)
{
	uint8_t message[REQUEST_BYTES + sizeof(struct fuse_out_header)];
	struct fuse_out_header out = { (uint32_t)(sizeof(out) + size), -error, in->unique };

	memcpy(message, &out, sizeof(out));
	if (size)
		memcpy(message + sizeof(out), data, size);
	if (write(server->fd, message, out.len) < 0)
		perror("fuse");
}

static struct fuse_attr attributes_of(uint64_t node)
{
	return (struct fuse_attr){ .ino = node,
		.size = node == FILE_NODE ? FILE_BYTES : 0,
		.mode = node == FILE_NODE ? S_IFREG | 0755 : S_IFDIR | 0755,
		.nlink = 1,
		.blksize = 4096 };
}

static void answer_read(const struct server *server, const struct fuse_in_header *in, const struct fuse_read_in *read)
{
	uint32_t size = read->size < REQUEST_BYTES ? read->size : REQUEST_BYTES;

	/* The kernel reads ahead: what it asks for beyond the first pages is left unanswered with them. */
	if (read->offset + size <= FIRST_PAGES)
		answer(server, in, 0, server->bytes + read->offset, size);
}

/* The second one who opens the file waits. */
static void answer_open(struct server *server, const struct fuse_in_header *in)
{
	const struct fuse_open_out out = { .fh = 1, .open_flags = FOPEN_KEEP_CACHE };

	if (in->opcode == FUSE_OPENDIR || server->opens++ == 0)
		answer(server, in, 0, &out, sizeof(out));
}

static void answer_request(struct server *server, const struct fuse_in_header *in)
{
	const void *body = in + 1;
	const struct fuse_init_in *init = body;
	struct fuse_init_out init_out = {
		.major = FUSE_KERNEL_VERSION, .minor = 31, .max_readahead = 0, .max_write = 4096
	};
	const struct fuse_entry_out entry = {
		.nodeid = FILE_NODE, .entry_valid = 3600, .attr_valid = 3600, .attr = attributes_of(FILE_NODE)
	};
	const struct fuse_attr_out attr = { .attr_valid = 3600, .attr = attributes_of(in->nodeid) };

	switch (in->opcode) {
	case FUSE_INIT:
		init_out.minor = init->minor < init_out.minor ? init->minor : init_out.minor;
		answer(server, in, 0, &init_out, sizeof(init_out));
		break;
	case FUSE_LOOKUP:
		answer(server, in, 0, &entry, sizeof(entry));
		break;
	case FUSE_GETATTR:
		answer(server, in, 0, &attr, sizeof(attr));
		break;
	case FUSE_OPENDIR:
	case FUSE_OPEN:
		answer_open(server, in);
		break;
	case FUSE_READ:
		answer_read(server, in, body);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
		break;
	default:
		answer(server, in, ENOSYS, NULL, 0);
		break;
	}
}

/* In a process of its own, which holds the descriptor alone and ends with its parent: then no request waits any longer.
 */
static void start_server(struct server *server)
{
	static uint8_t request[REQUEST_BYTES + 4096] __attribute__((aligned(8)));
	pid_t child = fork();

	if (child < 0)
		hostile_fail("fork");
	if (child > 0) {
		close(server->fd);
		return;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (read(server->fd, request, sizeof(request)) >= (ssize_t)sizeof(struct fuse_in_header))
		answer_request(server, (const struct fuse_in_header *)request);
	_exit(0);
}

static void mount_file(struct server *server, const char *directory)
{
	char options[128];

	server->fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (server->fd < 0)
		hostile_lacks("/dev/fuse");
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", server->fd);
	if (mount("hostile", directory, "fuse", MS_NOSUID | MS_NODEV, options) != 0)
		hostile_lacks("FUSE, or the right to mount");
}

static void fill(struct server *server)
{
	const Elf64_Ehdr header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
					    EV_CURRENT },
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_shoff = FILE_BYTES / 2,
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 4 };

	memcpy(server->bytes, &header, sizeof(header));
	memcpy(server->bytes + HOSTILE_CODE_OFFSET, hostile_code, hostile_code_bytes);
}

void hostile_silent_file(const char *directory)
{
	static struct server server;
	char path[4096];
	uint8_t *code;
	int fd;

	fill(&server);
	mount_file(&server, directory);
	start_server(&server);
	snprintf(path, sizeof(path), "%s/file", directory);
	hostile_become_nobody();
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		hostile_fail(path);
	code = mmap(NULL, FIRST_PAGES, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	if (code == MAP_FAILED)
		hostile_fail("mmap");
	hostile_ready();
	hostile_run(code + HOSTILE_CODE_OFFSET);
}
