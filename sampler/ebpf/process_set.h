/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/*
 * A set of processes that the kernel itself looks up: at each sample of an event, to drop those of other processes, and
 * at each fork, to add the children of the processes in the set. Processes are known by their ids in the initial pid
 * namespace. Needs Linux 4.9 for samples and Linux 4.17 (of a task) or 4.7 (of a record) for forks.
 */
struct ebpf_process_set;

/* Creates an empty set, which holds 65,536 processes at most. Owned by the caller. */
COMMON_MUST_CHECK
bool ebpf_process_set_create(struct ebpf_process_set **set, struct error *err);
void ebpf_process_set_destroy(struct ebpf_process_set *set);

/*
 * A program for PERF_EVENT_IOC_SET_BPF of each sampling event. The descriptor is borrowed; an event keeps the program,
 * and with it the set, beyond ebpf_process_set_destroy().
 */
int ebpf_process_set_program(const struct ebpf_process_set *set);

/* Sets whether samples of processes that are not in the set are dropped; at first they are not. */
void ebpf_process_set_filter(struct ebpf_process_set *set, bool filters);

/*
 * Has another program, borrowed, run for each sample that is kept, from now on. So a program that takes long to load is
 * loaded only once it is needed, though threads inherit that of their event when they begin. Returns 0 or -errno.
 */
COMMON_MUST_CHECK
int ebpf_process_set_run_next(const struct ebpf_process_set *set, int program);

/* The map of the kernel that holds the set, for other programs: borrowed. */
int ebpf_process_set_map(const struct ebpf_process_set *set);

/* A process that no longer fits into the set is not added: its samples are dropped. */
void ebpf_process_set_add(struct ebpf_process_set *set, int32_t pid);
void ebpf_process_set_remove(struct ebpf_process_set *set, int32_t pid);

/*
 * Has the kernel add, from here on, each process that a process of the set starts, before that one runs.
 *
 * tgid_offset  bytes from the start of the kernel's struct task_struct to its member tgid
 */
COMMON_MUST_CHECK
bool ebpf_process_set_follow_tasks(struct ebpf_process_set *set, uint16_t tgid_offset, struct error *err);

/*
 * The offsets of the fields of tracepoint task:task_newtask, in bytes from the start of its record (tracefs: its file
 * `format`).
 */
struct ebpf_newtask_record {
	uint16_t pid_offset, clone_flags_offset;
};

/* Does the same by the record that the tracepoint makes for user space: tracefs has to be mounted. */
COMMON_MUST_CHECK
bool ebpf_process_set_follow_records(
	struct ebpf_process_set *set, const struct ebpf_newtask_record *record, struct error *err);
