/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/*
 * In which control group a process runs, and how much CPU that allows it (Documentation/admin-guide/cgroup-v2.rst,
 * cpu.max; v1: scheduler/sched-bwc.rst). What cannot be read is left empty, or 0.
 */
enum { LIMITS_PATH_BYTES = 1024, LIMITS_CONTAINER_BYTES = 65 };

struct limits {
	char cgroup[LIMITS_PATH_BYTES];         /* "/system.slice/cron.service" */
	char container[LIMITS_CONTAINER_BYTES]; /* its id, where the group's name holds one: docker, podman, containerd,
						   CRI-O */
	uint32_t milli_cpus; /* thousandths of a CPU, the least of the group's and its ancestors'; 0: no limit */
};

/* `proc_cgroup`: "/proc/812/cgroup"; `mount`: "/sys/fs/cgroup". */
void limits_read(const char *proc_cgroup, const char *mount, struct limits *limits);

/* Of a group whose path is known. */
void limits_of_cgroup(const char *cgroup, const char *mount, struct limits *limits);
