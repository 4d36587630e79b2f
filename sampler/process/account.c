/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/process/account.h"

#include "sampler/process/process.h"

#include <fcntl.h>
#include <linux/nsfs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

enum { ROOT = 0 };

/* The container's inode is above the user. Those of namespaces have 32 bits. */
static uint64_t account_make(uint32_t user, uint64_t container)
{
	return container << 32 | user;
}

static bool real_user_of(int32_t pid, uint32_t *user)
{
	struct proc_status users;

	/* The owner of /proc/PID is root where a process may not be looked into, whoever's it is. */
	if (!proc_read_status(pid, pid, "Uid", &users))
		return false;
	*user = (uint32_t)users.first;
	return true;
}

/* Namespaces are compared by inode and device (namespaces(7)). */
static bool account_is_ours(int fd)
{
	struct stat ours, theirs;

	return stat("/proc/self/ns/user", &ours) == 0 && fstat(fd, &theirs) == 0 && ours.st_ino == theirs.st_ino &&
	       ours.st_dev == theirs.st_dev;
}

/*
 * Goes from a user namespace up to the one whose parent is ours, and gives `*fd` that one. False if it is none below
 * ours: the kernel then refuses to name a parent (ioctl_ns(2)).
 */
static bool climb(int *fd)
{
	enum { MOST_LEVELS = 64 };

	for (int i = 0; i < MOST_LEVELS; i++) {
		int parent = ioctl(*fd, NS_GET_PARENT);

		if (parent < 0)
			return false;
		if (account_is_ours(parent)) {
			close(parent);
			return true;
		}
		close(*fd);
		*fd = parent;
	}
	return false;
}

static bool owner_of_namespaces(int32_t pid, uint64_t *account)
{
	CLEANUP(cleanup_close) int fd = -1;
	struct stat info;
	char path[64];
	uid_t owner;

	snprintf(path, sizeof(path), "/proc/%d/ns/user", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || account_is_ours(fd) || !climb(&fd) || ioctl(fd, NS_GET_OWNER_UID, &owner) != 0 ||
		fstat(fd, &info) != 0)
		return false;
	*account = account_make(owner, owner == ROOT ? info.st_ino : 0);
	return true;
}

bool account_has_our_users(int32_t pid)
{
	struct stat ours, theirs;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/ns/user", pid);
	return pid <= 0 || (stat("/proc/self/ns/user", &ours) == 0 && stat(path, &theirs) == 0 &&
				   ours.st_ino == theirs.st_ino && ours.st_dev == theirs.st_dev);
}

bool account_of(int32_t pid, uint64_t *account)
{
	struct stat container;
	uint32_t user;
	char path[64];

	if (owner_of_namespaces(pid, account))
		return true;
	if (!real_user_of(pid, &user))
		return false;
	snprintf(path, sizeof(path), "/proc/%d/ns/pid", pid);
	*account = account_make(user, user == ROOT && stat(path, &container) == 0 ? container.st_ino : 0);
	return true;
}

void account_identify(int32_t pid, struct profile_process *process)
{
	process->is_user_known = real_user_of(pid, &process->user);
	process->tree = in_root_tree_of(pid);
}
