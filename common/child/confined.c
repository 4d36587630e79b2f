/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/child/confined.h"

#include "common/cleanup.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- Namespaces ---- */

/*
 * The files that map users belong to root while a process is not dumpable. It is so for a moment, without capabilities:
 * who may look into it then is the user whose process it is.
 */
static bool confined_enter_user_namespace(void)
{
	bool ok;

	(void)!rights_keep(0);
	(void)prctl(PR_SET_DUMPABLE, 1);
	ok = child_enter_user_namespace(CLONE_NEWPID);
	(void)prctl(PR_SET_DUMPABLE, 0);
	return ok;
}

unsigned int confined_separate(void)
{
	if (geteuid() == 0)
		return unshare(CLONE_NEWPID) == 0 ? 0 : RIGHTS_LEFT_PROCESSES;
	return confined_enter_user_namespace() ? 0 : RIGHTS_LEFT_PROCESSES | RIGHTS_LEFT_USER;
}

/*
 * Leaves all file systems for an empty one, over a directory that every machine has. A root that is the kernel's first
 * file system cannot be exchanged (pivot_root(2)): there the way up is shut. A sanitizer reads what /proc says of the
 * process.
 */
static bool enter_empty_root(void)
{
	static const char root[] = "/proc";

	if (child_is_sanitized() || unshare(CLONE_NEWNS) != 0 ||
		mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
		mount("none", root, "tmpfs", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, "size=4k,nr_inodes=2") !=
			0 ||
		chdir(root) != 0)
		return false;
	if (syscall(SYS_pivot_root, ".", ".") == 0)
		return umount2(".", MNT_DETACH) == 0;
	return chroot(".") == 0;
}

/* ---- Its parts ---- */

static unsigned int confined_become(const struct confinement *confinement)
{
	switch (confinement->user) {
	case CONFINED_SAME_USER:
		break;
	case CONFINED_NOBODY:
		return rights_become(confinement->id ? confinement->id : rights_user(getpid()));
	case CONFINED_ACCOUNT:
		return rights_become_account(confinement->id);
	}
	return 0;
}

/*
 * The bounding set can be emptied only while the process has root's capabilities; what is to stay must be kept over the
 * change of user, which those locked bits would not allow.
 */
static unsigned int confined_change_identity(const struct confinement *confinement)
{
	bool changes = geteuid() == 0 && confinement->user != CONFINED_SAME_USER;
	uint64_t kept = confinement->capabilities;
	unsigned int left = 0;

	if (changes && kept == 0)
		left |= rights_keep(RIGHTS_CAPABILITY(CAP_SETUID) | RIGHTS_CAPABILITY(CAP_SETGID));
	else if (changes && kept != UINT64_MAX && prctl(PR_SET_KEEPCAPS, 1) != 0)
		left |= RIGHTS_LEFT_USER;
	if (changes)
		left |= confined_become(confinement);
	return left | (kept == UINT64_MAX ? 0 : rights_keep(kept));
}

static unsigned int confined_leave_files(const struct confinement *confinement)
{
	switch (confinement->files) {
	case CONFINED_NO_FILES:
		return rights_no_files();
	case CONFINED_READS_FILES:
		return rights_read_only();
	case CONFINED_READS_BELOW:
		return rights_read_below(confinement->places);
	case CONFINED_ANY_FILES:
		break;
	}
	return 0;
}

static bool confined_refuse_calls(const struct confinement *confinement)
{
	/* A crash ends the process by a signal that it sends to itself. */
	const struct filter_rule crash = FILTER_IF(tgkill, 0, UINT32_MAX, (uint64_t)getpid());
	const struct filter_set work[] = { filter_of_work, { &crash, 1 }, confinement->more_calls[0],
		confinement->more_calls[1] };

	switch (confinement->calls) {
	case CONFINED_WORKS:
		return filter_enter(work, sizeof(work) / sizeof(work[0]));
	case CONFINED_ONLY:
		return filter_enter(confinement->more_calls, CONFINED_MOST_CALLS);
	case CONFINED_ALONE:
		return filter_enter_alone();
	case CONFINED_ANY_CALLS:
		break;
	}
	return true;
}

/*
 * Does again what child_end_with() did, whose setting the change of user has cleared. The number of a parent outside of
 * the process namespace is always 0.
 */
static void confined_end_with(pid_t parent, int alive)
{
	struct pollfd other = { .fd = alive };

	child_end_with(parent);
	if (alive > 0 && poll(&other, 1, 0) > 0)
		_exit(1);
}

/* Landlock's rules are a descriptor while they are made: so the limit comes after them. */
static void confined_limit_descriptors(const struct confinement *confinement)
{
	int highest = 0;

	for (size_t i = 0; i < confinement->descriptor_count; i++)
		highest = confinement->descriptors[i] > highest ? confinement->descriptors[i] : highest;
	if (confinement->more_descriptors > 0)
		child_limit(&(struct child_limit){ RLIMIT_NOFILE, (uint64_t)highest + 1 + confinement->more_descriptors,
				    false },
			1);
}

/* ---- All of it ---- */

unsigned int confined_enter(const struct confinement *confinement)
{
	pid_t parent = getppid();
	unsigned int left = 0;

	child_limit(confinement->limits, confinement->limit_count);
	if (confinement->leaves_file_systems && !enter_empty_root())
		left |= RIGHTS_LEFT_MOUNTS;
	left |= confined_change_identity(confinement);
	left |= rights_undumpable();
	confined_end_with(parent, confinement->alive);
	left |= confined_leave_files(confinement);
	/* The places that are read may be descriptors, which only Landlock needs. */
	if (!confinement->keeps_open)
		child_keep(confinement->descriptors, confinement->descriptor_count);
	confined_limit_descriptors(confinement);
	return left | (confined_refuse_calls(confinement) ? 0 : RIGHTS_LEFT_CALLS);
}

/* ---- What it lacks ---- */

static const struct confined_part {
	unsigned int lack, left;
	const char *name;
} confined_parts[] = {
	{ CONFINED_WITHOUT_FILTER, RIGHTS_LEFT_CALLS, "a system call filter (seccomp)" },
	{ CONFINED_WITHOUT_USER, RIGHTS_LEFT_USER | RIGHTS_LEFT_CAPABILITIES, "a user of its own" },
	{ CONFINED_WITHOUT_PID_NAMESPACE, RIGHTS_LEFT_PROCESSES, "a process namespace" },
	{ CONFINED_WITHOUT_MOUNT_NAMESPACE, RIGHTS_LEFT_MOUNTS, "a mount namespace" },
	{ CONFINED_WITHOUT_LANDLOCK, RIGHTS_LEFT_FILES, "rules for files (Landlock)" },
};
enum { CONFINED_PARTS = sizeof(confined_parts) / sizeof(confined_parts[0]) };

unsigned int confined_lacks(unsigned int left)
{
	unsigned int lacks = 0;

	for (size_t i = 0; i < CONFINED_PARTS; i++)
		lacks |= left & confined_parts[i].left ? confined_parts[i].lack : 0;
	return lacks;
}

void confined_describe(unsigned int lacks, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < CONFINED_PARTS; i++)
		if ((lacks & confined_parts[i].lack) && used < size)
			used += (size_t)snprintf(
				text + used, size - used, "%s%s", used > 0 ? ", " : "", confined_parts[i].name);
}

/* The status with which a child ends: what its confinement lacks. */
static unsigned int confined_wait_for(pid_t pid)
{
	int status = pid < 0 ? -1 : child_reap(pid);

	return status >= 0 && WIFEXITED(status) ? (unsigned int)WEXITSTATUS(status) & CONFINED_WITHOUT_ANY
						: CONFINED_WITHOUT_ANY;
}

static _Noreturn void probe(void)
{
	/* libseccomp makes its filter in memory, and crashes where there is none. */
	static const struct child_limit memory = { RLIMIT_DATA, 1 << 22, true };
	const struct confinement none = { .user = CONFINED_NOBODY,
		.id = rights_user(getpid()),
		.leaves_file_systems = true,
		.limits = &memory,
		.limit_count = 1 };
	unsigned int lacks = confined_lacks(confined_separate());
	pid_t pid = child_fork(CHILD_IS_QUIET);

	if (pid == 0)
		_exit((int)confined_lacks(confined_enter(&none)));
	_exit((int)(lacks | confined_wait_for(pid)));
}

unsigned int confined_probe(void)
{
	pid_t pid = child_fork(CHILD_IS_QUIET);

	if (pid == 0)
		probe();
	return confined_wait_for(pid);
}
