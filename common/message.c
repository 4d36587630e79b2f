/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/message.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

/* Room for one descriptor beside a message. */
union message_control {
	char bytes[CMSG_SPACE(sizeof(int))];
	struct cmsghdr header;
};

bool message_send(int socket, const void *bytes, size_t size, int fd)
{
	union message_control control = { 0 };
	struct iovec from = { (void *)(uintptr_t)bytes, size };
	struct msghdr message = { .msg_iov = &from, .msg_iovlen = 1 };

	if (fd >= 0) {
		message.msg_control = control.bytes;
		message.msg_controllen = sizeof(control.bytes);
		control.header = (struct cmsghdr){
			.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS
		};
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	}
	return sendmsg(socket, &message, MSG_NOSIGNAL) == (ssize_t)size;
}

ssize_t message_receive(int socket, void *bytes, size_t size, int flags, int *fd)
{
	union message_control control = { 0 };
	struct iovec into = { bytes, size };
	struct msghdr message = {
		.msg_iov = &into, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof(control.bytes)
	};
	const struct cmsghdr *header;
	ssize_t got;

	*fd = -1;
	do
		got = recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	header = got < 0 ? NULL : CMSG_FIRSTHDR(&message);
	if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
		header->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(fd, CMSG_DATA(header), sizeof(*fd));
	return got;
}
