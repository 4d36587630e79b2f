/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/streams.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

void streams_restore(struct streams *streams)
{
	for (int fd = 0; fd < STREAM_COUNT; fd++) {
		if (streams->saved[fd] < 0)
			continue;
		dup2(streams->saved[fd], fd);
		close(streams->saved[fd]);
		streams->saved[fd] = -1;
	}
}

bool streams_redirect(struct streams *streams, const int to[STREAM_COUNT], struct error *err)
{
	*streams = (struct streams){ { -1, -1, -1 } };
	fflush(stdout);
	for (int fd = 0; fd < STREAM_COUNT; fd++) {
		if (to[fd] < 0)
			continue;
		/* Ours may have been closed from outside: then there is nothing to put back. */
		streams->saved[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 3);
		if (dup2(to[fd], fd) < 0) {
			int failure = errno;

			streams_restore(streams);
			return error_set_errno(err, failure, "cannot redirect a command's output");
		}
	}
	return true;
}

const int *streams_apart_from(const char *output)
{
	static const int streams[STREAM_COUNT] = { -1, STDERR_FILENO, -1 };

	return strcmp(output, "-") == 0 ? streams : NULL;
}
