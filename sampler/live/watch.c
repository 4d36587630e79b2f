/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/live/watch.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/syscall.h>

/*
 * A wake-up costs as much as the work on 15 samples. So rings that a clock fills are read all together when the first
 * may be full, and do not wake the recorder one by one; unless that time is short, since it would then wake often while
 * nothing runs.
 */
enum { LEAST_READ_MS = 40 };

/* The data of an epoll event: the index of a process, or this value. */
static const uint32_t about_others = UINT32_MAX;

static bool add_about(struct sampler_watch *watch, int fd, uint32_t about)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u32 = about };

	return epoll_ctl(watch->epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

static bool add_rings(struct sampler_watch *watch, const struct event_set *events)
{
	for (uint32_t cpu = 0; cpu < events->cpu_count; cpu++) {
		const struct ring *sample = &events->sample_rings[cpu], *sideband = &events->sideband_rings[cpu];

		if ((sideband->pages && !add_about(watch, sideband->fd, about_others)) ||
			(watch->longest_ms == 0 && sample->pages && !add_about(watch, sample->fd, about_others)))
			return false;
	}
	return true;
}

/* An old kernel has no pidfds: the end of a process is then found by polling. */
static bool watch_add_processes(struct sampler_watch *watch, const pid_t *pids, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct watched_process *process = &watch->processes[watch->process_count++];

		*process =
			(struct watched_process){ .pid = pids[i], .pidfd = (int)syscall(SYS_pidfd_open, pids[i], 0) };
		if (process->pidfd >= 0 && !add_about(watch, process->pidfd, (uint32_t)i))
			return false;
	}
	return true;
}

bool watch_init(struct sampler_watch *watch, const struct event_set *events, const pid_t *pids, size_t pid_count,
	struct error *err)
{
	int filling_ms = event_set_filling_ms(events);

	*watch = (struct sampler_watch){ .processes = calloc(pid_count + 1, sizeof(*watch->processes)) };
	if (!watch->processes)
		return error_set_memory(err);
	watch->epoll = epoll_create1(EPOLL_CLOEXEC);
	watch->wake_fd = -1;
	watch->longest_ms = filling_ms >= LEAST_READ_MS ? filling_ms : 0;
	if (watch->epoll >= 0 && add_rings(watch, events) && watch_add_processes(watch, pids, pid_count))
		return true;
	error_set_errno(err, errno, "cannot wait for samples");
	watch_deinit(watch);
	return false;
}

void watch_deinit(struct sampler_watch *watch)
{
	if (!watch->processes)
		return;
	for (size_t i = 0; i < watch->process_count; i++)
		if (watch->processes[i].pidfd >= 0)
			close(watch->processes[i].pidfd);
	free(watch->processes);
	if (watch->epoll >= 0)
		close(watch->epoll);
	*watch = (struct sampler_watch){ 0 };
}

bool watch_add(struct sampler_watch *watch, int fd, struct error *err)
{
	return add_about(watch, fd, about_others) || error_set_errno(err, errno, "cannot wait for samples");
}

/* Adds the owner's descriptor. One that epoll refuses, such as a regular file, is checked after each time-out. */
static void use_wake_fd(struct sampler_watch *watch, int wake_fd)
{
	if (watch->wake_fd == wake_fd)
		return;
	if (watch->wake_fd >= 0)
		epoll_ctl(watch->epoll, EPOLL_CTL_DEL, watch->wake_fd, NULL);
	if (wake_fd >= 0)
		add_about(watch, wake_fd, about_others);
	watch->wake_fd = wake_fd;
}

bool watch_wait(struct sampler_watch *watch, int timeout_ms, int wake_fd, struct error *err)
{
	struct epoll_event events[16];
	int count;

	if (watch->longest_ms && (timeout_ms < 0 || timeout_ms > watch->longest_ms))
		timeout_ms = watch->longest_ms;
	use_wake_fd(watch, wake_fd);
	count = epoll_wait(watch->epoll, events, sizeof(events) / sizeof(events[0]), timeout_ms);
	if (count < 0 && errno != EINTR)
		return error_set_errno(err, errno, "cannot wait for samples");
	for (int i = 0; i < count; i++)
		if (events[i].data.u32 != about_others)
			watch->processes[events[i].data.u32].has_ended = true;
	return true;
}

static bool live_watch_has_ended(struct watched_process *watched)
{
	if (watched->pidfd >= 0) {
		if (!watched->has_ended)
			return false;
		/* An ended process stays readable, so its descriptor is closed. */
		close(watched->pidfd);
		watched->pidfd = -1;
	}
	return !proc_is_alive(watched->pid);
}

bool watch_has_ended(struct sampler_watch *watch, size_t index)
{
	return index < watch->process_count && live_watch_has_ended(&watch->processes[index]);
}

bool watch_all_ended(struct sampler_watch *watch, const struct process_table *table)
{
	for (size_t i = 0; i < watch->process_count; i++)
		if (!live_watch_has_ended(&watch->processes[i]))
			return false;
	/* Children belong to the target too. */
	for (size_t i = 0; i < table->count; i++)
		if (table->processes[i].is_alive && proc_is_alive(table->processes[i].pid))
			return false;
	return watch->process_count > 0;
}
