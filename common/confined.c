/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/confined.h"

#include "common/child.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define CONFINED_IS_SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) || __has_feature(thread_sanitizer)
#define CONFINED_IS_SANITIZED true
#endif
#endif
#ifndef CONFINED_IS_SANITIZED
#define CONFINED_IS_SANITIZED false
#endif

/* The user and group "nobody", which own no file (the kernel's overflow ids). */
enum { NOBODY = 65534 };

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
	if (CONFINED_IS_SANITIZED)
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
	int highest = 0;

	for (size_t i = 0; i < confinement->descriptor_count; i++)
		highest = confinement->descriptors[i] > highest ? confinement->descriptors[i] : highest;
	return highest;
}

/* ---- User, privileges, limits ---- */

static bool drop_user(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };
	bool was_root = geteuid() == 0;
	bool ok = !was_root || (setgroups(0, NULL) == 0 && setresgid(NOBODY, NOBODY, NOBODY) == 0 &&
				       setresuid(NOBODY, NOBODY, NOBODY) == 0);

	(void)syscall(SYS_capset, &header, none);
	return ok;
}

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
	uint64_t has = child_memory().data;
	struct rlimit limit;

	if (CONFINED_IS_SANITIZED || has == 0 || getrlimit(RLIMIT_DATA, &limit) != 0 || limit.rlim_cur <= has + more)
		return;
	limit.rlim_cur = has + more;
	(void)setrlimit(RLIMIT_DATA, &limit);
}

void confined_limit_memory(pid_t pid, uint64_t bytes)
{
	struct rlimit limit;

	if (CONFINED_IS_SANITIZED || prlimit(pid, RLIMIT_DATA, NULL, &limit) != 0)
		return;
	limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
	(void)prlimit(pid, RLIMIT_DATA, &limit, NULL);
}

unsigned int confined_slowdown(void)
{
	enum { SANITIZED = 16 };

	return CONFINED_IS_SANITIZED ? SANITIZED : 1;
}

int64_t confined_cpu_ns(pid_t pid)
{
	struct timespec used;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) != 0)
		return -1;
	return (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
}

/* ---- System calls ---- */

/* What memory, threads, time and reading need. Everything else fails with EPERM. */
static const int allowed[] = { SCMP_SYS(read), SCMP_SYS(pread64), SCMP_SYS(lseek), SCMP_SYS(close), SCMP_SYS(fstat),
	SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise), SCMP_SYS(brk), SCMP_SYS(futex), SCMP_SYS(sched_yield),
	SCMP_SYS(sched_getaffinity), SCMP_SYS(set_robust_list), SCMP_SYS(rseq), SCMP_SYS(gettid), SCMP_SYS(getpid),
	SCMP_SYS(exit), SCMP_SYS(exit_group), SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigreturn),
	SCMP_SYS(sigaltstack), SCMP_SYS(restart_syscall), SCMP_SYS(clock_gettime), SCMP_SYS(clock_nanosleep),
	SCMP_SYS(nanosleep), SCMP_SYS(gettimeofday), SCMP_SYS(getrandom) };

static bool allow_if(scmp_filter_ctx filter, int call, struct scmp_arg_cmp condition)
{
	return seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 1, condition) == 0;
}

static bool allow_on(scmp_filter_ctx filter, int call, int descriptor)
{
	return descriptor < 0 || allow_if(filter, call, SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)descriptor));
}

static bool add_rules(scmp_filter_ctx filter, const struct confinement *confinement)
{
	bool ok = true;

	for (size_t i = 0; ok && i < sizeof(allowed) / sizeof(allowed[0]); i++)
		ok = seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed[i], 0) == 0;
	/* fstat() of the C library; without a path it names no other file, and with one no more than nobody may see. */
	ok = ok && allow_if(filter, SCMP_SYS(newfstatat), SCMP_A3(SCMP_CMP_EQ, AT_EMPTY_PATH));
	ok = ok && allow_if(filter, SCMP_SYS(mmap), SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
	ok = ok && allow_if(filter, SCMP_SYS(mprotect), SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
	/* Threads, no processes. The flags of clone3() are in memory, where no filter can see them. */
	ok = ok && allow_if(filter, SCMP_SYS(clone), SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD));
	ok = ok && seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0) == 0;
	/* A crash ends the process by a signal that it sends to itself. */
	ok = ok && allow_if(filter, SCMP_SYS(tgkill), SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid()));
	return ok && allow_on(filter, SCMP_SYS(write), confinement->output) &&
	       allow_on(filter, SCMP_SYS(sendmsg), confinement->socket) &&
	       allow_on(filter, SCMP_SYS(recvmsg), confinement->socket);
}

static bool load_filter(const struct confinement *confinement)
{
	scmp_filter_ctx filter = CONFINED_IS_SANITIZED ? NULL : seccomp_init(SCMP_ACT_ERRNO(EPERM));
	bool ok = filter && add_rules(filter, confinement) && seccomp_load(filter) == 0;

	if (filter)
		seccomp_release(filter);
	return ok;
}

/* ---- All of it ---- */

unsigned int confined_enter(const struct confinement *confinement)
{
	pid_t parent = getppid();
	unsigned int lacks = 0;

	limit_memory(confinement->data_bytes);
	confined_keep(confinement->descriptors, confinement->descriptor_count);
	if (!drop_user())
		lacks |= CONFINED_AS_ROOT;
	set_limit(RLIMIT_CORE, 0);
	set_limit(RLIMIT_FSIZE, 0);
	set_limit(RLIMIT_NOFILE, (rlim_t)highest(confinement) + 1 + confinement->more_descriptors);
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	(void)prctl(PR_SET_DUMPABLE, 0);
	/* The change of user has cleared what confined_fork() set. */
	child_end_with(parent);
	if (!load_filter(confinement))
		lacks |= CONFINED_WITHOUT_FILTER;
	return lacks;
}

unsigned int confined_probe(void)
{
	const struct confinement none = { .output = -1, .socket = -1 };
	pid_t pid = confined_fork(), ended;
	int status = 0;

	if (pid == 0)
		_exit((int)confined_enter(&none));
	do
		ended = pid < 0 ? -1 : waitpid(pid, &status, 0);
	while (ended < 0 && pid > 0 && errno == EINTR);
	if (ended < 0 || !WIFEXITED(status))
		return CONFINED_WITHOUT_FILTER | CONFINED_AS_ROOT;
	return (unsigned int)WEXITSTATUS(status);
}
