/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/error.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

/*
 * Takes rights away from the calling thread, for good: it and all that it forks or executes later. Call these functions
 * while the process has one thread. Descriptors that are open stay as they are, and may do what they could.
 *
 * Each function does as much as the kernel allows, and returns what it could not take: a set of these bits, 0 where all
 * that it promises holds.
 */
enum {
	RIGHTS_LEFT_CAPABILITIES = 1, /* a capability beside the kept ones stayed */
	RIGHTS_LEFT_EXEC = 2,         /* executing a program may give capabilities, or the rights of its owner */
	RIGHTS_LEFT_FILES = 4,        /* no Landlock (before Linux 5.13, or it is off): no access is refused */
	RIGHTS_LEFT_TRUNCATE = 8,     /* files may be cut by truncate() (before Linux 6.2) */
	RIGHTS_LEFT_TCP = 16,         /* TCP may be used (before Linux 6.7) */
	RIGHTS_LEFT_DEVICES = 32,     /* devices that are opened for reading take ioctl() (before Linux 6.10) */
	RIGHTS_LEFT_OTHERS = 64, /* other processes get signals, and connections to abstract sockets (before 6.12) */
	RIGHTS_LEFT_DUMP = 128,  /* a crash may write the process's memory */
	RIGHTS_LEFT_CALLS = 256, /* system calls are not refused (common/child/filter.h): no seccomp, or a sanitizer */
	RIGHTS_LEFT_USER = 512,  /* the process is still root's: no other user can be had in this user namespace */
	RIGHTS_LEFT_PROCESSES = 1024, /* other processes have numbers (common/child/confined.h) */
	RIGHTS_LEFT_MOUNTS = 2048,    /* there is a file system, likewise */
};

/* The bit of a capability (CAP_SYS_PTRACE and the others of linux/capability.h) in a mask of them. */
#define RIGHTS_CAPABILITY(capability) (UINT64_C(1) << (capability))

/*
 * Drops all capabilities but those of the mask, which it does not give either, from the permitted, effective,
 * inheritable and ambient sets and, while CAP_SETPCAP is held, from the bounding set; has user 0 count as any other
 * user when it executes a program (SECBIT_NOROOT), locked; and sets no_new_privs. A later change of the user id clears
 * capabilities as usual: the fixup by setuid(2) stays, and setfsuid(2) takes CAP_DAC_* away while it lasts. A user
 * namespace that the process makes gives it all capabilities in there: a filter of system calls has to refuse that.
 * RIGHTS_LEFT_CAPABILITIES, RIGHTS_LEFT_EXEC.
 */
COMMON_MUST_CHECK
unsigned int rights_keep(uint64_t capabilities);

/*
 * A user id that no account and no other process has: `number` is the id of a process that lives as long as the one
 * that becomes this user, and gives it to no other.
 */
uid_t rights_user(pid_t number);

/*
 * Makes the process that user where root runs it, with a group of the same number and no other groups. A container that
 * has no such user has a smaller one. Capabilities that PR_SET_KEEPCAPS keeps stay. RIGHTS_LEFT_USER.
 */
COMMON_MUST_CHECK
unsigned int rights_become(uid_t user);

/*
 * Makes root's process an account's, with the groups that the system's databases give that account; one that they do
 * not know has none but nobody's. Root keeps no groups. Capabilities that PR_SET_KEEPCAPS keeps stay.
 * RIGHTS_LEFT_USER: the process may be anybody's then, and must not go on.
 */
COMMON_MUST_CHECK
unsigned int rights_become_account(uid_t user);

/*
 * Files can only be read, wherever they are: none is opened for writing, created, removed, renamed, cut or executed,
 * no file system is mounted, no device that is opened takes an ioctl(), TCP ports are neither bound nor connected to,
 * and processes outside get no signal and no connection to their abstract sockets. Modes, owners, times and extended
 * attributes can be changed as before (Landlock knows no right for them), and sockets that have a path be connected to.
 *
 * Whoever has entered a Landlock domain may no longer look into processes outside of it: process_vm_readv(2),
 * /proc/PID/maps, map_files, root and fd of others fail, whatever the capabilities are (ptrace_may_access() in the
 * kernel). A process which reads others cannot use this.
 *
 * Sets no_new_privs. RIGHTS_LEFT_FILES, TRUNCATE, TCP, DEVICES, OTHERS.
 */
COMMON_MUST_CHECK
unsigned int rights_read_only(void);

/*
 * Confines as rights_read_only() does, and no file is opened for reading, and no directory is listed. What stays:
 * looking at a file's metadata (stat(2), readlink(2), O_PATH).
 */
COMMON_MUST_CHECK
unsigned int rights_no_files(void);

/* The places where files are read and directories listed. */
struct rights_places {
	const char *const *paths; /* of directories and files; those that do not exist are left out */
	size_t path_count;
	bool runs;              /* programs in `paths` are executed, and /dev/null is written to */
	const int *directories; /* descriptors, for which O_PATH is enough */
	size_t directory_count;
};

/*
 * Confines as rights_read_only() does, but files are read in these places alone, and TCP stays allowed. Links lead to
 * no other place: the kernel asks where a file lies, not by which name it was opened.
 */
COMMON_MUST_CHECK
unsigned int rights_read_below(const struct rights_places *places);

/*
 * Has no crash write the memory of the process (prctl(2): PR_SET_DUMPABLE 0, RLIMIT_CORE 0 with the hard limit as it
 * was), and other processes of the same user look into it no more. /proc/self then belongs to root: a process without
 * privileges still reads it, but for what needs the owner (writing uid_map, setgroups, gid_map, coredump_filter): write
 * these before, or from a process that is dumpable. So is perf_event_open(2) of it. A child of fork(2) inherits both,
 * execve(2) makes dumpable again, and a change of the user id sets what the sysctl fs.suid_dumpable says: this is to be
 * called behind it.
 * RIGHTS_LEFT_DUMP.
 */
COMMON_MUST_CHECK
unsigned int rights_undumpable(void);
