/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/buffer.h"

#include <stdio.h>

/*
 * What the kernel tells of processes and threads in /proc (proc(5)). Any of them may end at any time: that one is gone
 * is a value. Names may hold anything, also line ends and parentheses.
 */

enum { PROC_COMM_BYTES = 64 };

/* Returns the number in a file, such as those below /proc/sys; -1 if it cannot be read. */
int proc_read_number(const char *path);

/* Returns the number behind `word` in the line of a file that begins with `begin`; 0: there is none. */
uint64_t proc_read_value(const char *path, const char *begin, const char *word);

/*
 * Appends the ids in a file that has nothing else, as int32_t; none if it cannot be read. Processes of other namespaces
 * are 0 there, and left out.
 */
COMMON_MUST_CHECK
bool proc_read_ids(const char *path, struct buffer *ids, struct error *err);

/* Returns CLOCK_MONOTONIC of this process, in ns, minus the kernel's own, which records have: not 0 in a time
 * namespace. */
int64_t proc_clock_offset_ns(void);

/*
 * Returns whether our ids are those of the initial pid namespace, by which the kernel knows processes; `if_unknown`
 * where that is not told.
 */
bool proc_is_initial_namespace(bool if_unknown);

/* Returns whether /proc shows processes under the ids of our pid namespace; false if it was mounted in another one. */
bool proc_is_of_our_namespace(void);

/*
 * How much memory this process has, and a child that it forks now begins with, as limits count it (proc_pid_statm(5)).
 * In bytes; 0: not known.
 */
struct proc_memory {
	uint64_t mapped; /* RLIMIT_AS */
	uint64_t data;   /* RLIMIT_DATA */
};
struct proc_memory proc_own_memory(void);

/* ---- A process, or a thread ---- */

/*
 * Reads the start of a thread's file, and a NUL behind it. False if there is none: the thread is gone, or the kernel
 * refuses (errno is set), or the file is empty (errno is not). `text` then is "".
 */
bool proc_read_text(int32_t pid, int32_t tid, const char *name, char *text, size_t size);

/* The fields of /proc/PID/stat that somebody needs. */
struct proc_stat {
	char state; /* R: runs or waits for a CPU, S: sleeps, D: waits for a disk, T, t: is stopped, Z, X: has ended */
	int32_t parent, threads;
	int64_t cpu_ns;                              /* CPU time so far */
	int64_t children_cpu_ns;                     /* of children that have ended and were waited for */
	int64_t began_boot_ns;                       /* CLOCK_BOOTTIME; in ticks of 10 ms or so, rounded down */
	uint64_t environment_start, environment_end; /* addresses; 0 without the right to look */
};

/* Parses the text of a stat file; false if it is not whole. */
bool proc_parse_stat(const char *text, size_t size, struct proc_stat *stat);

/* Reads the stat of a process, whose times are those of all its threads; false if it is gone. */
bool proc_read_stat(int32_t pid, struct proc_stat *stat);

/* Returns the CPU time that a process has used so far, all threads, in nanoseconds; -1 if it is gone. */
int64_t proc_cpu_ns(int32_t pid);
/* Likewise, with its children that have ended and were waited for. */
int64_t proc_cpu_with_children_ns(int32_t pid);
/* Returns the CPU time that one thread has used so far, in nanoseconds; -1 if it is gone. */
int64_t proc_thread_cpu_ns(int32_t tid);

/* Returns the state of one thread, as proc_stat.state; '\0' if it is gone. */
char proc_thread_state(int32_t pid, int32_t tid);

/* Returns when a process began, in seconds since 1970 by the clock's present setting; 0 if it is gone. */
int64_t proc_start_unix_s(int32_t pid);

/* Returns whether a process has not ended: its first thread may end before others. */
bool proc_stat_is_alive(const struct proc_stat *stat);
/* Likewise of a process that may be gone. False also for one that has ended but was not waited for. */
bool proc_is_alive(int32_t pid);

/* Returns whether a signal or a debugger has stopped the thread. */
bool proc_is_stopped(int32_t tid);

/* Reads comm, the name of a thread; "" if the thread is gone. */
void proc_read_comm(int32_t pid, int32_t tid, char name[PROC_COMM_BYTES]);

/*
 * Opens /proc/PID/maps of a process, whose first thread may have ended; -1 with errno set. Reading it may wait for a
 * thread of the process without end.
 */
int proc_open_maps(int32_t pid);

/* The first and the last number of a field of a thread's status, such as Uid, which has several (proc(5)). */
struct proc_status {
	uint64_t first, last;
};

/* Reads a field of a status; false if the thread is gone, or its status has no such field. */
bool proc_read_status(int32_t pid, int32_t tid, const char *field, struct proc_status *status);

/* Returns the id that a thread has in its own pid namespace, which its program knows it by; `tid` where that is not
 * told. */
int32_t proc_inner_tid(int32_t pid, int32_t tid);

/* Returns the process that a thread belongs to; -1 when it is gone. */
int32_t proc_leader_of(int32_t tid);

/* Returns the parent of a process; 0 if the process is gone, or was started by the kernel. */
int32_t proc_parent_of(int32_t pid);

/* Returns whether the process runs a 32-bit program; false if that is not known. */
bool proc_is_32bit(int32_t pid);

/*
 * Reads the next line of a file such as /proc/PID/cgroup ("4:cpu,cpuacct:/path") into `line`, where the list of
 * controllers ("": version 2) and the path then stand. False at the end, or if `file` is NULL.
 */
bool proc_next_cgroup(FILE *file, char *line, size_t size, const char **controllers, const char **path);

/* ---- Several ---- */

/* Reads the ids of all processes into a heap array that the caller frees. */
COMMON_MUST_CHECK
bool proc_read_processes(int32_t **pids, size_t *count, struct error *err);

/*
 * Reads the ids of a process's threads into a heap array that the caller frees; ERROR_NOT_FOUND if the process is gone.
 */
COMMON_MUST_CHECK
bool proc_read_tasks(int32_t pid, int32_t **tids, size_t *count, struct error *err);

/* Adds the ids of the running processes that a thread has started; none if the kernel does not list them. */
COMMON_MUST_CHECK
bool proc_read_children(int32_t pid, int32_t tid, struct buffer *pids, struct error *err);

struct proc_parent {
	int32_t pid, parent;
};

/* Reads every process, with its parent, into a heap array that the caller frees. */
COMMON_MUST_CHECK
bool proc_read_parents(struct proc_parent **processes, size_t *count, struct error *err);
