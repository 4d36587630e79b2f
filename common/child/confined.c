/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/child/confined.h"

#include "common/child/child.h"
#include "common/child/filter.h"
#include "common/child/rights.h"
#include "common/cleanup.h"
#include "common/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- Start ---- */

pid_t confined_fork(void)
{
	static const int ignored[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE };
	sigset_t all, before;
	pid_t parent = getpid(), pid;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	pid = fork();
	if (pid == 0) {
		for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
			signal(ignored[i], SIG_IGN);
		child_end_with(parent);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return pid;
}

void confined_end(pid_t pid)
{
	static const long longest_ns = 500000000; /* pauses double up to it: 1 s in all */
	struct timespec pause = { .tv_nsec = 20000 };

	(void)kill(pid, SIGKILL);
	while (waitpid(pid, NULL, WNOHANG) == 0 && pause.tv_nsec < longest_ns) {
		(void)nanosleep(&pause, NULL);
		pause.tv_nsec *= 2;
	}
}

/* ---- Descriptors ---- */

static int compare_descriptors(const void *left, const void *right)
{
	const int *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

void confined_keep(const int *descriptors, size_t count)
{
	int *sorted = malloc((count + 1) * sizeof(*sorted));
	unsigned int next = 0;

	if (!sorted)
		_exit(1);
	for (size_t i = 0; i < count; i++)
		sorted[i] = descriptors[i];
	/* What a sanitizer finds in the process is to be read somewhere. */
	if (child_is_sanitized())
		sorted[count++] = STDERR_FILENO;
	qsort(sorted, count, sizeof(*sorted), compare_descriptors);
	for (size_t i = 0; i < count; i++) {
		if (sorted[i] < 0 || (unsigned int)sorted[i] < next)
			continue;
		if (sorted[i] > 0)
			child_close_between(next, (unsigned int)sorted[i] - 1);
		next = (unsigned int)sorted[i] + 1;
	}
	child_close_between(next, ~0U);
	free(sorted);
}

static int highest(const struct confinement *confinement)
{
	int highest = confinement->alive;

	for (size_t i = 0; i < confinement->descriptor_count; i++)
		highest = confinement->descriptors[i] > highest ? confinement->descriptors[i] : highest;
	for (size_t i = 0; i < confinement->socket_count; i++)
		highest = confinement->sockets[i] > highest ? confinement->sockets[i] : highest;
	return highest;
}

static void keep_only(const struct confinement *confinement)
{
	int *kept = calloc(confinement->descriptor_count + confinement->socket_count + 2, sizeof(*kept));
	size_t count = 0;

	if (!kept)
		_exit(1);
	for (size_t i = 0; i < confinement->descriptor_count; i++)
		kept[count++] = confinement->descriptors[i];
	for (size_t i = 0; i < confinement->socket_count; i++)
		kept[count++] = confinement->sockets[i];
	kept[count++] = confinement->alive;
	confined_keep(kept, count);
	free(kept);
}

/* ---- Namespaces ---- */

static bool write_text(const char *path, const char *text, size_t size)
{
	CLEANUP(cleanup_close) int fd = open(path, O_WRONLY | O_CLOEXEC);

	return fd >= 0 && write(fd, text, size) == (ssize_t)size;
}

static bool map_itself(const char *path, unsigned int id)
{
	char line[64];
	int size = snprintf(line, sizeof(line), "%u %u 1", id, id);

	return write_text(path, line, (size_t)size);
}

/*
 * The files that map users belong to root while a process is not dumpable. It is so for a moment, without capabilities:
 * who may look into it then is the user whose process it is.
 */
static bool enter_user_namespace(void)
{
	uid_t user = geteuid();
	gid_t group = getegid();
	bool ok;

	(void)!rights_keep(0);
	(void)prctl(PR_SET_DUMPABLE, 1);
	ok = unshare(CLONE_NEWUSER | CLONE_NEWPID) == 0 && map_itself("/proc/self/uid_map", user) &&
	     write_text("/proc/self/setgroups", "deny", 4) && map_itself("/proc/self/gid_map", group);
	(void)prctl(PR_SET_DUMPABLE, 0);
	return ok;
}

unsigned int confined_separate(void)
{
	if (geteuid() == 0)
		return unshare(CLONE_NEWPID) == 0 ? 0 : CONFINED_WITHOUT_PID_NAMESPACE;
	return enter_user_namespace() ? 0 : CONFINED_WITHOUT_PID_NAMESPACE | CONFINED_WITHOUT_USER;
}

/*
 * Leaves all file systems for an empty one, over a directory that every machine has. A root that is the kernel's first
 * file system cannot be exchanged (pivot_root(2)): there the way up is shut.
 */
static bool enter_empty_root(void)
{
	static const char root[] = "/proc";

	if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
		mount("none", root, "tmpfs", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, "size=4k,nr_inodes=2") !=
			0 ||
		chdir(root) != 0)
		return false;
	if (syscall(SYS_pivot_root, ".", ".") == 0)
		return umount2(".", MNT_DETACH) == 0;
	return chroot(".") == 0;
}

/* ---- Limits ---- */

static void set_limit(__rlimit_resource_t resource, rlim_t most)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit) != 0)
		return;
	limit.rlim_max = limit.rlim_max < most ? limit.rlim_max : most;
	limit.rlim_cur = limit.rlim_cur < most ? limit.rlim_cur : most;
	(void)setrlimit(resource, &limit);
}

/* The hard limit stays: confined_limit_memory() sets the other. */
static void limit_memory(uint64_t more)
{
	uint64_t has = proc_own_memory().data;
	struct rlimit limit;

	if (child_is_sanitized() || has == 0 || getrlimit(RLIMIT_DATA, &limit) != 0 || limit.rlim_cur <= has + more)
		return;
	limit.rlim_cur = has + more;
	(void)setrlimit(RLIMIT_DATA, &limit);
}

void confined_limit_memory(pid_t pid, uint64_t bytes)
{
	struct rlimit limit;

	if (child_is_sanitized() || prlimit(pid, RLIMIT_DATA, NULL, &limit) != 0)
		return;
	limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
	(void)prlimit(pid, RLIMIT_DATA, &limit, NULL);
}

unsigned int confined_slowdown(void)
{
	enum { SANITIZED = 16 };

	return child_is_sanitized() ? SANITIZED : 1;
}

int64_t confined_cpu_ns(pid_t pid)
{
	struct timespec used;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) != 0)
		return -1;
	return (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
}

/* ---- All of it ---- */

/*
 * Does again what child_end_with() did, whose setting the change of user has cleared. The number of a parent outside of
 * the process namespace is always 0.
 */
static void end_with_parent(int alive)
{
	struct pollfd other = { .fd = alive };

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (poll(&other, 1, 0) > 0)
		_exit(1);
}

static unsigned int change_identity(const struct confinement *confinement)
{
	unsigned int lacks = 0, left;

	/* A sanitizer reads what /proc says of the process. */
	if (child_is_sanitized() || !enter_empty_root())
		lacks |= CONFINED_WITHOUT_MOUNT_NAMESPACE;
	left = rights_become(confinement->user);
	left |= rights_keep(0);
	return lacks | (left & (RIGHTS_LEFT_USER | RIGHTS_LEFT_CAPABILITIES) ? CONFINED_WITHOUT_USER : 0);
}

static struct filter_rule on_descriptor(int call, int descriptor)
{
	return (struct filter_rule){ call, 1, { { 0, UINT32_MAX, (uint32_t)descriptor } } };
}

/* It writes to its output and talks over its sockets. */
static bool filter_calls(const struct confinement *confinement)
{
	CLEANUP(cleanup_free)
	struct filter_rule *rules = calloc(2 * confinement->socket_count + 1, sizeof(*rules));
	size_t count = 0;

	if (!rules)
		return false;
	if (confinement->output >= 0)
		rules[count++] = on_descriptor(SYS_write, confinement->output);
	for (size_t i = 0; i < confinement->socket_count; i++) {
		rules[count++] = on_descriptor(SYS_sendmsg, confinement->sockets[i]);
		rules[count++] = on_descriptor(SYS_recvmsg, confinement->sockets[i]);
	}
	return filter_enter_working(rules, count);
}

unsigned int confined_enter(const struct confinement *confinement)
{
	unsigned int lacks;

	limit_memory(confinement->data_bytes);
	keep_only(confinement);
	lacks = change_identity(confinement);
	set_limit(RLIMIT_FSIZE, 0);
	(void)!rights_undumpable();
	end_with_parent(confinement->alive);
	if (child_is_sanitized() || (rights_no_files() & RIGHTS_LEFT_FILES))
		lacks |= CONFINED_WITHOUT_LANDLOCK;
	/* Landlock's rules are a descriptor while they are made. */
	set_limit(RLIMIT_NOFILE, (rlim_t)(highest(confinement) + 1) + confinement->more_descriptors);
	if (!filter_calls(confinement))
		lacks |= CONFINED_WITHOUT_FILTER;
	return lacks;
}

/* ---- What it lacks ---- */

void confined_describe(unsigned int lacks, char *text, size_t size)
{
	static const struct {
		unsigned int bit;
		const char *name;
	} parts[] = {
		{ CONFINED_WITHOUT_FILTER, "a system call filter (seccomp)" },
		{ CONFINED_WITHOUT_USER, "a user of its own" },
		{ CONFINED_WITHOUT_PID_NAMESPACE, "a process namespace" },
		{ CONFINED_WITHOUT_MOUNT_NAMESPACE, "a mount namespace" },
		{ CONFINED_WITHOUT_LANDLOCK, "rules for files (Landlock)" },
	};
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if ((lacks & parts[i].bit) && used < size)
			used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "", parts[i].name);
}

/* The status with which a child ends: what its confinement lacks. */
static unsigned int confined_wait_for(pid_t pid)
{
	pid_t ended;
	int status = 0;

	do
		ended = pid < 0 ? -1 : waitpid(pid, &status, 0);
	while (ended < 0 && pid > 0 && errno == EINTR);
	return ended > 0 && WIFEXITED(status) ? (unsigned int)WEXITSTATUS(status) & CONFINED_WITHOUT_ANY
					      : CONFINED_WITHOUT_ANY;
}

static _Noreturn void probe(void)
{
	/* libseccomp makes its filter in memory, and crashes where there is none. */
	enum { FILTER_BYTES = 1 << 22 };
	const struct confinement none = {
		.output = -1, .alive = -1, .user = rights_user(RIGHTS_READER, getpid()), .data_bytes = FILTER_BYTES
	};
	unsigned int lacks = confined_separate();
	pid_t pid = confined_fork();

	if (pid == 0)
		_exit((int)confined_enter(&none));
	_exit((int)(lacks | confined_wait_for(pid)));
}

unsigned int confined_probe(void)
{
	pid_t pid = confined_fork();

	if (pid == 0)
		probe();
	return confined_wait_for(pid);
}
