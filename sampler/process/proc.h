/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/process/process.h"

/* What is read from /proc, and how a mapping becomes an image. */

/* What a file of one number holds, as those below /proc/sys; -1 when it cannot be read. */
int proc_read_number(const char *path);

/* By how much CLOCK_MONOTONIC runs ahead of the kernel's own, which it writes into records: not 0 in a time namespace.
 */
int64_t proc_clock_offset_ns(void);

/* Whether /proc shows processes under the ids that they have for us; not where it was mounted in another pid namespace.
 */
bool proc_is_of_our_namespace(void);

/* comm of a thread, "" when it is gone. */
void proc_read_comm(int32_t pid, int32_t tid, char name[PROC_COMM_BYTES]);

/* Calls `take` for every line of /proc/PID/maps. A process that is gone has none: not an error. */
COMMON_MUST_CHECK
bool proc_read_maps(int32_t pid, bool (*take)(void *context, const struct elf_maps_entry *entry, struct error *err),
	void *context, struct error *err);

/* Whether its maps are there and not for us: it is another user's, while everybody may sample CPUs. */
bool proc_maps_are_denied(int32_t pid);

/* CPU time a process has used so far, all threads, in nanoseconds; -1 when it is gone. */
int64_t proc_cpu_ns(int32_t pid);
/* The same of one thread. */
int64_t proc_thread_cpu_ns(int32_t tid);

/* When a process began, in seconds since 1970 as the clock goes now; 0 when it is gone. */
int64_t proc_start_unix_s(int32_t pid);

/* False when it has ended, also while nobody has waited for it yet. Its first thread may have ended before others. */
bool proc_is_alive(int32_t pid);

/* Whether a signal or a debugger holds it. */
bool proc_is_stopped(int32_t tid);

/* Thread ids of a process into a heap array that the caller frees; ERROR_NOT_FOUND when it is gone. */
COMMON_MUST_CHECK
bool proc_read_tasks(int32_t pid, int32_t **tids, size_t *count, struct error *err);

/* Adds the ids of the processes that a thread has started and that still run; none where the kernel does not tell. */
COMMON_MUST_CHECK
bool proc_read_children(int32_t pid, int32_t tid, struct buffer *pids, struct error *err);

/* Whether the program it runs is a 32-bit one; false where that cannot be told. */
bool proc_is_32bit(int32_t pid);

/* The process that started another, or took it over; 0 when this is gone, or was started by the kernel. */
int32_t proc_parent_of(int32_t pid);

struct proc_parent {
	int32_t pid, parent;
};

/* Every process that there is, with its parent, into a heap array that the caller frees. */
COMMON_MUST_CHECK
bool proc_read_parents(struct proc_parent **processes, size_t *count, struct error *err);

/* The process that a thread belongs to; -1 when it is gone. */
int32_t proc_leader_of(int32_t tid);

/* A file without a name: a program or library (runc, loaders of plugins), or code made at run time that is mapped twice
 * (.NET). */
bool image_is_nameless(const struct elf_mapping *mapped);

/* Keys of process_table.by_file. */
void image_keys_init(struct hash_map *map);

/* The image behind a mapping, opened when it is new, and what makes image addresses of runtime ones. */
COMMON_MUST_CHECK
bool image_of_mapping(struct process_table *table, const struct elf_mapping *mapped, uint32_t *image, uint64_t *bias,
	struct error *err);

/* The vdso as we have it ourselves: that of every 64-bit process under this kernel. */
COMMON_MUST_CHECK
bool image_open_vdso(struct elf_image **image, struct error *err);

/* Of the running kernel; size 0 where it does not tell. */
void image_kernel_build_id(struct elf_build_id *id);
