/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

/* perf_event_open(2), close-on-exec, counted together with an event that leads a group; -1: it leads one itself. */
static inline int event_open_in_group(struct perf_event_attr *attr, int pid, int cpu, int leader, unsigned long flags)
{
	return (int)syscall(SYS_perf_event_open, attr, pid, cpu, leader, flags | PERF_FLAG_FD_CLOEXEC);
}

/* The same without a group: a descriptor, or -1 and errno. */
static inline int event_open(struct perf_event_attr *attr, int pid, int cpu, unsigned long flags)
{
	return event_open_in_group(attr, pid, cpu, -1, flags);
}
