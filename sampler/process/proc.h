/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/process/process.h"

/* Reads /proc, and turns a mapping into an image. */

/* The number in a file, such as those below /proc/sys; -1 if it cannot be read. */
int proc_read_number(const char *path);

/* CLOCK_MONOTONIC of this process minus the kernel's own, which records have: not 0 in a time namespace. */
int64_t proc_clock_offset_ns(void);

/* Returns whether /proc shows processes under the ids of our pid namespace; false if it was mounted in another one. */
bool proc_is_of_our_namespace(void);

/* comm of a thread, "" if the thread is gone. */
void proc_read_comm(int32_t pid, int32_t tid, char name[PROC_COMM_BYTES]);

/*
 * Opens /proc/PID/maps of a process, whose first thread may have ended; -1 with errno set. Reading it may wait for a
 * thread of the process without end.
 */
int proc_open_maps(int32_t pid);

/*
 * Calls `take` for every line of a text of /proc/PID/maps, which is changed. A line that is malformed is passed over:
 * it costs the process one mapping. Fails if `take` does.
 */
COMMON_MUST_CHECK
bool proc_parse_maps(char *text, int32_t pid,
	bool (*take)(void *context, const struct elf_maps_entry *entry, struct error *err), void *context,
	struct error *err);

/* CPU time that a process has used so far, all threads, in nanoseconds; -1 if it is gone. */
int64_t proc_cpu_ns(int32_t pid);
/* Likewise, with its children that have ended and were waited for. */
int64_t proc_cpu_with_children_ns(int32_t pid);
/* CPU time that one thread has used so far, in nanoseconds; -1 if it is gone. */
int64_t proc_thread_cpu_ns(int32_t tid);

/* Returns when a process began, in seconds since 1970 by the clock's present setting; 0 if it is gone. */
int64_t proc_start_unix_s(int32_t pid);

/*
 * Returns whether a process runs. False also for one that has ended but was not waited for. Its first thread may end
 * before others.
 */
bool proc_is_alive(int32_t pid);

/* Returns whether a signal or a debugger has stopped the thread. */
bool proc_is_stopped(int32_t tid);

/*
 * Reads the ids of a process's threads into a heap array that the caller frees; ERROR_NOT_FOUND if the process is gone.
 */
COMMON_MUST_CHECK
bool proc_read_tasks(int32_t pid, int32_t **tids, size_t *count, struct error *err);

/* The first and the last number of a field of a thread's status, such as Uid, which has several (proc(5)). */
struct proc_status {
	unsigned long first, last;
};

/* False if the thread is gone, or its status has no such field. */
bool proc_read_status(int32_t pid, int32_t tid, const char *field, struct proc_status *status);

/* The id that a thread has in its own pid namespace, which its program knows it by; `tid` where that is not told. */
int32_t proc_inner_tid(int32_t pid, int32_t tid);

/* Adds the ids of the running processes that a thread has started; none if the kernel does not list them. */
COMMON_MUST_CHECK
bool proc_read_children(int32_t pid, int32_t tid, struct buffer *pids, struct error *err);

/* Returns whether the process runs a 32-bit program; false if that is not known. */
bool proc_is_32bit(int32_t pid);

/* The parent of a process; 0 if the process is gone, or was started by the kernel. */
int32_t proc_parent_of(int32_t pid);

struct proc_parent {
	int32_t pid, parent;
};

/* Reads every process, with its parent, into a heap array that the caller frees. */
COMMON_MUST_CHECK
bool proc_read_parents(struct proc_parent **processes, size_t *count, struct error *err);

/* The process that a thread belongs to; -1 when it is gone. */
int32_t proc_leader_of(int32_t tid);

/*
 * Returns whether the mapping is of a file without a name: a program or library (runc, loaders of plugins), or code
 * made at run time that is mapped twice (.NET).
 */
bool image_is_nameless(const struct elf_mapping *mapped);

/* Prepares the hash map of process_table.by_file. */
void image_keys_init(struct hash_map *map);

/* Adds an image without a file, as process_table_add_names() needs it. */
COMMON_MUST_CHECK
bool image_add_names(struct process_table *table, uint32_t *image, struct error *err);

/*
 * Finds or opens the image of a mapping, and computes the bias from runtime to image addresses. The owner of the
 * process pays for what is opened (sampler/process/owner.h); the image is PROFILE_NONE where he cannot.
 */
COMMON_MUST_CHECK
bool image_of_mapping(struct process_table *table, struct process *process, const struct elf_mapping *mapped,
	struct process_place *place, struct error *err);

/*
 * Whether what was found at a mapping, by image_of_mapping(), may be what is believed to lie there: an image is one of
 * several places where its segments have bytes of one page.
 */
bool image_may_be(const struct process_table *table, const struct process_place *found,
	const struct process_place *believed, const struct elf_mapping *mapped);

/*
 * The program that a process executes gives way to another one: what its code is named by ends here. Times are by the
 * records' clock.
 */
void image_end_program(struct process_table *table, const struct process *process, uint64_t clock_ns);

/* Opens our own vdso, which is the same in every 64-bit process under this kernel. */
COMMON_MUST_CHECK
bool image_open_vdso(struct elf_image **image, struct error *err);

/* Reads the build id of the running kernel; size 0 if it is not known. */
void image_kernel_build_id(struct elf_build_id *id);
