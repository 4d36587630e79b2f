/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/*
 * The control group of a process, and the CPU limit that it sets (Documentation/admin-guide/cgroup-v2.rst, cpu.max; v1:
 * scheduler/sched-bwc.rst). Fields that cannot be read are empty, or 0.
 */
enum { LIMITS_PATH_BYTES = 1024, LIMITS_CONTAINER_BYTES = 65 };

struct limits {
	char cgroup[LIMITS_PATH_BYTES];         /* "/system.slice/cron.service" */
	char container[LIMITS_CONTAINER_BYTES]; /* the container's id, if the group's name has one: docker, podman,
						   containerd, CRI-O */
	uint32_t milli_cpus; /* thousandths of a CPU, the least of the group's and its ancestors'; 0: no limit */
};

/* `proc_cgroup`: "/proc/812/cgroup"; `mount`: "/sys/fs/cgroup". */
void limits_read(const char *proc_cgroup, const char *mount, struct limits *limits);

/* Reads the limits of a group whose path is known. */
void limits_of_cgroup(const char *cgroup, const char *mount, struct limits *limits);
