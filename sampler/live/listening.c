/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/live/listening.h"

#include "common/common.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The most that is read of the tables, which are long on a busy server; its listeners stand first. */
enum { MAX_LINES = 4096, MAX_LISTENERS = 1024, MAX_DESCRIPTORS = 65536 };

struct listeners {
	unsigned long long inodes[MAX_LISTENERS];
	size_t count;
};

/* net/tcp_states.h: TCP_LISTEN; linux/net.h: SO_ACCEPTCON, SOCK_STREAM. */
enum { STATE_LISTEN = 0x0a, FLAG_ACCEPTS = 0x10000, TYPE_STREAM = 1 };

/* "sl local_address rem_address st tx_queue:rx_queue tr:tm->when retrnsmt uid timeout inode" */
static bool parse_tcp(const char *line, unsigned long long *inode)
{
	unsigned int state;

	return sscanf(line, " %*[0-9]: %*[0-9A-F:] %*[0-9A-F:] %x %*[0-9A-F:] %*[0-9A-F:] %*x %*u %*u %llu", &state,
		       inode) == 2 &&
	       state == STATE_LISTEN;
}

/* "Num RefCount Protocol Flags Type St Inode Path" */
static bool listening_parse_unix(const char *line, unsigned long long *inode)
{
	unsigned int flags, type;

	return sscanf(line, "%*[0-9a-f]: %*x %*x %x %x %*x %llu", &flags, &type, inode) == 3 &&
	       (flags & FLAG_ACCEPTS) && type == TYPE_STREAM;
}

static void listening_read_table(int32_t pid, const char *name,
	bool (*parse)(const char *line, unsigned long long *inode), struct listeners *listeners)
{
	CLEANUP(cleanup_fclose) FILE *file = NULL;
	char path[64], line[512];

	snprintf(path, sizeof(path), "/proc/%d/net/%s", (int)pid, name);
	file = fopen(path, "re");
	for (int i = 0; file && i < MAX_LINES && listeners->count < MAX_LISTENERS && fgets(line, sizeof(line), file);
		i++)
		listeners->count += parse(line, &listeners->inodes[listeners->count]);
}

static bool is_listener(const struct listeners *listeners, const char *link)
{
	unsigned long long inode;

	if (sscanf(link, "socket:[%llu]", &inode) != 1)
		return false;
	for (size_t i = 0; i < listeners->count; i++)
		if (listeners->inodes[i] == inode)
			return true;
	return false;
}

static bool has_descriptor(int32_t pid, const struct listeners *listeners)
{
	char path[64], link[64];
	struct dirent *entry;
	bool found = false;
	DIR *directory;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	directory = opendir(path);
	for (int i = 0; directory && !found && i < MAX_DESCRIPTORS && (entry = readdir(directory)); i++) {
		ssize_t size = readlinkat(dirfd(directory), entry->d_name, link, sizeof(link) - 1);

		link[size > 0 ? size : 0] = '\0';
		found = is_listener(listeners, link);
	}
	if (directory)
		closedir(directory);
	return found;
}

bool listening_has_socket(int32_t pid)
{
	CLEANUP(cleanup_free) struct listeners *listeners = calloc(1, sizeof(*listeners));

	if (!listeners)
		return false;
	listening_read_table(pid, "tcp", parse_tcp, listeners);
	listening_read_table(pid, "tcp6", parse_tcp, listeners);
	listening_read_table(pid, "unix", listening_parse_unix, listeners);
	return listeners->count > 0 && has_descriptor(pid, listeners);
}
