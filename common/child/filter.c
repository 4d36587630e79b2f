/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/child/filter.h"

#include "common/child/child.h"
#include "common/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static const int fatal[] = { SCMP_SYS(execve), SCMP_SYS(execveat), SCMP_SYS(fork), SCMP_SYS(vfork), SCMP_SYS(clone),
	SCMP_SYS(kill), SCMP_SYS(tkill), SCMP_SYS(rt_sigqueueinfo), SCMP_SYS(pidfd_send_signal), SCMP_SYS(pidfd_getfd),
	SCMP_SYS(ptrace), SCMP_SYS(process_vm_readv), SCMP_SYS(process_vm_writev), SCMP_SYS(process_madvise),
	SCMP_SYS(kcmp), SCMP_SYS(socket), SCMP_SYS(socketpair), SCMP_SYS(connect), SCMP_SYS(bind), SCMP_SYS(listen),
	SCMP_SYS(accept), SCMP_SYS(accept4), SCMP_SYS(open_by_handle_at), SCMP_SYS(openat2), SCMP_SYS(creat),
	SCMP_SYS(truncate), SCMP_SYS(ftruncate), SCMP_SYS(fallocate), SCMP_SYS(pwrite64), SCMP_SYS(pwritev),
	SCMP_SYS(pwritev2), SCMP_SYS(sendfile), SCMP_SYS(copy_file_range), SCMP_SYS(splice), SCMP_SYS(unlink),
	SCMP_SYS(unlinkat), SCMP_SYS(rename), SCMP_SYS(renameat), SCMP_SYS(renameat2), SCMP_SYS(link), SCMP_SYS(linkat),
	SCMP_SYS(symlink), SCMP_SYS(symlinkat), SCMP_SYS(mkdir), SCMP_SYS(mkdirat), SCMP_SYS(rmdir), SCMP_SYS(mknod),
	SCMP_SYS(mknodat), SCMP_SYS(chmod), SCMP_SYS(fchmod), SCMP_SYS(fchmodat), SCMP_SYS(chown), SCMP_SYS(lchown),
	SCMP_SYS(fchown), SCMP_SYS(fchownat), SCMP_SYS(setxattr), SCMP_SYS(lsetxattr), SCMP_SYS(fsetxattr),
	SCMP_SYS(utimensat), SCMP_SYS(chroot), SCMP_SYS(pivot_root), SCMP_SYS(mount), SCMP_SYS(umount2),
	SCMP_SYS(move_mount), SCMP_SYS(open_tree), SCMP_SYS(mount_setattr), SCMP_SYS(unshare), SCMP_SYS(setns),
	SCMP_SYS(setuid), SCMP_SYS(setgid), SCMP_SYS(setreuid), SCMP_SYS(setregid), SCMP_SYS(setresuid),
	SCMP_SYS(setresgid), SCMP_SYS(setfsuid), SCMP_SYS(setfsgid), SCMP_SYS(setgroups), SCMP_SYS(capset),
	SCMP_SYS(prctl), SCMP_SYS(bpf), SCMP_SYS(perf_event_open), SCMP_SYS(userfaultfd), SCMP_SYS(io_uring_setup),
	SCMP_SYS(memfd_create), SCMP_SYS(init_module), SCMP_SYS(finit_module), SCMP_SYS(kexec_load), SCMP_SYS(reboot),
	SCMP_SYS(add_key), SCMP_SYS(keyctl), SCMP_SYS(quotactl), SCMP_SYS(swapon) };

static bool common_filter_is_allowed(int call, const struct filter_rule *rules, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (rules[i].call == call)
			return true;
	return false;
}

static bool add_rule(scmp_filter_ctx filter, const struct filter_rule *rule)
{
	struct scmp_arg_cmp conditions[FILTER_MOST_CONDITIONS];

	for (size_t i = 0; i < rule->condition_count; i++)
		conditions[i] = (struct scmp_arg_cmp){ rule->conditions[i].argument, SCMP_CMP_MASKED_EQ,
			rule->conditions[i].mask, rule->conditions[i].value };
	return seccomp_rule_add_array(
		       filter, SCMP_ACT_ALLOW, rule->call, (unsigned int)rule->condition_count, conditions) == 0;
}

/* A thread is one thing, a process another. */
static bool allows_processes(const struct filter_rule *rules, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (rules[i].call == SYS_clone &&
			(rules[i].condition_count == 0 || !(rules[i].conditions[0].value & CLONE_THREAD)))
			return true;
	return false;
}

static bool kill_at_processes(scmp_filter_ctx filter)
{
	return seccomp_rule_add(filter, SCMP_ACT_KILL_PROCESS, SCMP_SYS(clone), 1,
		       SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0)) == 0;
}

static bool common_filter_fill(scmp_filter_ctx filter, const struct filter_rule *rules, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!add_rule(filter, &rules[i]))
			return false;
	for (size_t i = 0; i < sizeof(fatal) / sizeof(fatal[0]); i++)
		if (!common_filter_is_allowed(fatal[i], rules, count) &&
			seccomp_rule_add(filter, SCMP_ACT_KILL_PROCESS, fatal[i], 0) != 0)
			return false;
	if (common_filter_is_allowed(SCMP_SYS(clone), rules, count) && !allows_processes(rules, count) &&
		!kill_at_processes(filter))
		return false;
	/* The flags of clone3() are in memory, where no filter sees them: a C library then calls clone(). */
	return common_filter_is_allowed(SCMP_SYS(clone3), rules, count) ||
	       seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0) == 0;
}

static bool filter_load(const struct filter_rule *rules, size_t count)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	bool ok = filter && common_filter_fill(filter, rules, count) && seccomp_load(filter) == 0;

	if (filter)
		seccomp_release(filter);
	return ok;
}

bool filter_enter(const struct filter_set *sets, size_t count)
{
	CLEANUP(cleanup_free) struct filter_rule *rules = NULL;
	size_t all = 0, at = 0;

	for (size_t i = 0; i < count; i++)
		all += sets[i].count;
	rules = child_is_sanitized() ? NULL : calloc(all + 1, sizeof(*rules));
	for (size_t i = 0; rules && i < count; at += sets[i++].count)
		if (sets[i].count > 0)
			memcpy(rules + at, sets[i].rules, sets[i].count * sizeof(*rules));
	return rules && filter_load(rules, all);
}

/* ---- What works on bytes ---- */

/* The flags with which the C libraries start a thread: glibc's, and musl's with CLONE_DETACHED, which is ignored. */
enum {
	OF_A_THREAD = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS |
		      CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID,
	OF_A_DETACHED_THREAD = OF_A_THREAD | CLONE_DETACHED,
};

static const struct filter_rule of_work[] = {
	FILTER_ALWAYS(read),
	FILTER_ALWAYS(readv),
	FILTER_ALWAYS(pread64),
	FILTER_ALWAYS(lseek),
	FILTER_ALWAYS(close),
	FILTER_ALWAYS(fstat),
	FILTER_ALWAYS(munmap),
	FILTER_ALWAYS(brk),
	FILTER_IF(mmap, 2, PROT_EXEC, 0),
	FILTER_IF(mprotect, 2, PROT_EXEC, 0),
	FILTER_IF(mremap, 3, UINT32_MAX, MREMAP_MAYMOVE),
	FILTER_IF(madvise, 2, UINT32_MAX, MADV_DONTNEED),
	FILTER_IF(madvise, 2, UINT32_MAX, MADV_FREE),
	FILTER_IF(madvise, 2, UINT32_MAX, MADV_DONTDUMP),
	FILTER_IF(madvise, 2, UINT32_MAX, MADV_POPULATE_WRITE),
	FILTER_IF(clone, 0, UINT32_MAX, OF_A_THREAD),
	FILTER_IF(clone, 0, UINT32_MAX, OF_A_DETACHED_THREAD),
	FILTER_ALWAYS(futex),
	FILTER_ALWAYS(sched_yield),
	FILTER_ALWAYS(sched_getaffinity),
	FILTER_ALWAYS(set_robust_list),
	FILTER_ALWAYS(rseq),
	FILTER_ALWAYS(gettid),
	FILTER_ALWAYS(getpid),
	FILTER_ALWAYS(exit),
	FILTER_ALWAYS(exit_group),
	FILTER_ALWAYS(rt_sigprocmask),
	FILTER_ALWAYS(rt_sigaction),
	FILTER_ALWAYS(rt_sigreturn),
	FILTER_ALWAYS(sigaltstack),
	FILTER_ALWAYS(restart_syscall),
	FILTER_ALWAYS(clock_gettime),
	FILTER_ALWAYS(clock_nanosleep),
	FILTER_ALWAYS(nanosleep),
	FILTER_ALWAYS(gettimeofday),
	FILTER_ALWAYS(getrandom),
	/* fstat() of the C library: without a path it names no other file. */
	FILTER_IF(newfstatat, 3, UINT32_MAX, AT_EMPTY_PATH),
};

const struct filter_set filter_of_work = FILTER_SET(of_work);

/* ---- What executes a program that is to start no other ---- */

static bool refuse_company(scmp_filter_ctx filter)
{
	static const int refused[] = { SCMP_SYS(fork), SCMP_SYS(vfork), SCMP_SYS(socket), SCMP_SYS(socketpair),
		SCMP_SYS(io_uring_setup) };

	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		if (seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), refused[i], 0) != 0)
			return false;
	return seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
		       SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0)) == 0 &&
	       seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0) == 0;
}

bool filter_enter_alone(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
	bool ok = filter && refuse_company(filter) && seccomp_load(filter) == 0;

	if (filter)
		seccomp_release(filter);
	return ok;
}
