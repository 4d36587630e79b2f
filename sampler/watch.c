/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/watch.h"

#include "sampler/proc.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>

bool watch_init(struct watch *watch, const struct event_set *events, const pid_t *pids, size_t pid_count, struct error *err)
{
	size_t ring_count = 2 * (size_t)events->cpu_count;
	struct pollfd *fds = calloc(1 + ring_count + pid_count, sizeof(*fds));

	if (!fds)
		return error_set_memory(err);
	*watch = (struct watch){ .fds = fds, .pids = pids, .ring_count = ring_count, .pid_count = pid_count };
	for (size_t i = 0; i < ring_count; i++) {
		const struct ring *ring = i % 2 ? &events->sample_rings[i / 2] : &events->sideband_rings[i / 2];

		fds[1 + i] = (struct pollfd){ .fd = ring->pages ? ring->fd : -1, .events = POLLIN };
	}
	/* An old kernel without pidfds: the end is then found by looking. */
	for (size_t i = 0; i < pid_count; i++)
		fds[1 + ring_count + i] = (struct pollfd){ .fd = (int)syscall(SYS_pidfd_open, pids[i], 0), .events = POLLIN };
	return true;
}

void watch_deinit(struct watch *watch)
{
	for (size_t i = 0; watch->fds && i < watch->pid_count; i++) {
		int fd = watch->fds[1 + watch->ring_count + i].fd;

		if (fd >= 0)
			close(fd);
	}
	free(watch->fds);
	*watch = (struct watch){ 0 };
}

bool watch_wait(struct watch *watch, int timeout_ms, int wake_fd, struct error *err)
{
	watch->fds[0] = (struct pollfd){ .fd = wake_fd, .events = POLLIN };
	if (poll(watch->fds, 1 + watch->ring_count + watch->pid_count, timeout_ms) < 0 && errno != EINTR)
		return error_set_errno(err, errno, "cannot wait for samples");
	return true;
}

static bool has_ended(struct pollfd *watched, pid_t pid)
{
	if (watched->fd >= 0) {
		if (!(watched->revents & (POLLIN | POLLHUP)))
			return false;
		/* It stays ready: not to be waited for again. */
		close(watched->fd);
		watched->fd = -1;
	}
	return !proc_is_alive(pid);
}

bool watch_all_ended(struct watch *watch, const struct process_table *table)
{
	for (size_t i = 0; i < watch->pid_count; i++)
		if (!has_ended(&watch->fds[1 + watch->ring_count + i], watch->pids[i]))
			return false;
	/* Children are part of the target. */
	for (size_t i = 0; i < table->count; i++)
		if (table->processes[i].is_alive && proc_is_alive(table->processes[i].pid))
			return false;
	return watch->pid_count > 0;
}
