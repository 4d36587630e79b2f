/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/ebpf/ebpf.h"

/*
 * Finds where the running kernel has what programs in it read of tasks, by its own description of its types
 * (/sys/kernel/btf/vmlinux). Fails where there is none, before Linux 4.19.
 */
COMMON_MUST_CHECK
bool task_layout_read(struct ebpf_task_layout *layout, struct error *err);
