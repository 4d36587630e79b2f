/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/ebpf/ebpf.h"

/*
 * Makes the kernel add each process that a process of the set starts to the set, before that process runs. The recorder
 * sees records of forks only when it reads the rings, and the process's samples until then would be dropped. The offset
 * of a task's process id is read from the kernel's type information (/sys/kernel/btf/vmlinux). On a kernel without it,
 * the record of the tracepoint is used, which tracefs describes. False, with nothing changed, if neither is readable or
 * the kernel refuses the program.
 */
bool forks_follow(struct ebpf_process_set *set);

/*
 * Finds the record's fields by the text that tracefs has of the tracepoint (Documentation/trace/events.rst, "Event
 * formats"); false if one is missing or has another size.
 */
bool forks_parse_format(const char *format, struct ebpf_newtask_record *record);
