/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/filter.h"

#include "common/cleanup.h"
#include "common/confined.h"

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
	SCMP_SYS(ptrace), SCMP_SYS(process_vm_readv), SCMP_SYS(process_vm_writev), SCMP_SYS(process_madvise), SCMP_SYS(kcmp), SCMP_SYS(socket),
	SCMP_SYS(socketpair), SCMP_SYS(connect), SCMP_SYS(bind), SCMP_SYS(listen), SCMP_SYS(accept), SCMP_SYS(accept4),
	SCMP_SYS(open_by_handle_at), SCMP_SYS(openat2), SCMP_SYS(creat), SCMP_SYS(truncate), SCMP_SYS(ftruncate),
	SCMP_SYS(fallocate), SCMP_SYS(pwrite64), SCMP_SYS(pwritev), SCMP_SYS(pwritev2), SCMP_SYS(sendfile),
	SCMP_SYS(copy_file_range), SCMP_SYS(splice), SCMP_SYS(unlink), SCMP_SYS(unlinkat), SCMP_SYS(rename),
	SCMP_SYS(renameat), SCMP_SYS(renameat2), SCMP_SYS(link), SCMP_SYS(linkat), SCMP_SYS(symlink),
	SCMP_SYS(symlinkat), SCMP_SYS(mkdir), SCMP_SYS(mkdirat), SCMP_SYS(rmdir), SCMP_SYS(mknod), SCMP_SYS(mknodat),
	SCMP_SYS(chmod), SCMP_SYS(fchmod), SCMP_SYS(fchmodat), SCMP_SYS(chown), SCMP_SYS(lchown), SCMP_SYS(fchown),
	SCMP_SYS(fchownat), SCMP_SYS(setxattr), SCMP_SYS(lsetxattr), SCMP_SYS(fsetxattr), SCMP_SYS(utimensat),
	SCMP_SYS(chroot), SCMP_SYS(pivot_root), SCMP_SYS(mount), SCMP_SYS(umount2), SCMP_SYS(move_mount),
	SCMP_SYS(open_tree), SCMP_SYS(mount_setattr), SCMP_SYS(unshare), SCMP_SYS(setns), SCMP_SYS(setuid),
	SCMP_SYS(setgid), SCMP_SYS(setreuid), SCMP_SYS(setregid), SCMP_SYS(setresuid), SCMP_SYS(setresgid),
	SCMP_SYS(setfsuid), SCMP_SYS(setfsgid), SCMP_SYS(setgroups), SCMP_SYS(capset), SCMP_SYS(prctl), SCMP_SYS(bpf),
	SCMP_SYS(perf_event_open), SCMP_SYS(userfaultfd), SCMP_SYS(io_uring_setup), SCMP_SYS(memfd_create),
	SCMP_SYS(init_module), SCMP_SYS(finit_module), SCMP_SYS(kexec_load), SCMP_SYS(reboot), SCMP_SYS(add_key),
	SCMP_SYS(keyctl), SCMP_SYS(quotactl), SCMP_SYS(swapon) };

static bool is_allowed(int call, const struct filter_rule *rules, size_t count)
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

static bool fill(scmp_filter_ctx filter, const struct filter_rule *rules, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!add_rule(filter, &rules[i]))
			return false;
	for (size_t i = 0; i < sizeof(fatal) / sizeof(fatal[0]); i++)
		if (!is_allowed(fatal[i], rules, count) &&
			seccomp_rule_add(filter, SCMP_ACT_KILL_PROCESS, fatal[i], 0) != 0)
			return false;
	/* Its flags are in memory, where no filter can see them; a C library takes clone() where there is none. */
	return seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0) == 0;
}

bool filter_enter(const struct filter_rule *rules, size_t count)
{
	scmp_filter_ctx filter = confined_is_sanitized() ? NULL : seccomp_init(SCMP_ACT_ERRNO(EPERM));
	bool ok = filter && fill(filter, rules, count) && seccomp_load(filter) == 0;

	if (filter)
		seccomp_release(filter);
	return ok;
}

/* ---- What works on bytes ---- */

/* The flags with which the C libraries start a thread: glibc's, and musl's with CLONE_DETACHED, which is ignored. */
enum {
	OF_A_THREAD = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS |
		      CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID,
	OF_A_DETACHED_THREAD = OF_A_THREAD | CLONE_DETACHED,
};

static const struct filter_rule of_work[] = {
	{ SYS_read, 0, { { 0 } } },
	{ SYS_pread64, 0, { { 0 } } },
	{ SYS_lseek, 0, { { 0 } } },
	{ SYS_close, 0, { { 0 } } },
	{ SYS_fstat, 0, { { 0 } } },
	{ SYS_munmap, 0, { { 0 } } },
	{ SYS_brk, 0, { { 0 } } },
	{ SYS_mmap, 1, { { 2, PROT_EXEC, 0 } } },
	{ SYS_mprotect, 1, { { 2, PROT_EXEC, 0 } } },
	{ SYS_mremap, 1, { { 3, UINT32_MAX, MREMAP_MAYMOVE } } },
	{ SYS_madvise, 1, { { 2, UINT32_MAX, MADV_DONTNEED } } },
	{ SYS_madvise, 1, { { 2, UINT32_MAX, MADV_FREE } } },
	{ SYS_madvise, 1, { { 2, UINT32_MAX, MADV_DONTDUMP } } },
	{ SYS_madvise, 1, { { 2, UINT32_MAX, MADV_POPULATE_WRITE } } },
	{ SYS_clone, 1, { { 0, UINT32_MAX, OF_A_THREAD } } },
	{ SYS_clone, 1, { { 0, UINT32_MAX, OF_A_DETACHED_THREAD } } },
	{ SYS_futex, 0, { { 0 } } },
	{ SYS_sched_yield, 0, { { 0 } } },
	{ SYS_sched_getaffinity, 0, { { 0 } } },
	{ SYS_set_robust_list, 0, { { 0 } } },
	{ SYS_rseq, 0, { { 0 } } },
	{ SYS_gettid, 0, { { 0 } } },
	{ SYS_getpid, 0, { { 0 } } },
	{ SYS_exit, 0, { { 0 } } },
	{ SYS_exit_group, 0, { { 0 } } },
	{ SYS_rt_sigprocmask, 0, { { 0 } } },
	{ SYS_rt_sigaction, 0, { { 0 } } },
	{ SYS_rt_sigreturn, 0, { { 0 } } },
	{ SYS_sigaltstack, 0, { { 0 } } },
	{ SYS_restart_syscall, 0, { { 0 } } },
	{ SYS_clock_gettime, 0, { { 0 } } },
	{ SYS_clock_nanosleep, 0, { { 0 } } },
	{ SYS_nanosleep, 0, { { 0 } } },
	{ SYS_gettimeofday, 0, { { 0 } } },
	{ SYS_getrandom, 0, { { 0 } } },
	/* fstat() of the C library: without a path it names no other file. */
	{ SYS_newfstatat, 1, { { 3, UINT32_MAX, AT_EMPTY_PATH } } },
};

bool filter_enter_working(const struct filter_rule *rules, size_t count)
{
	enum { OF_WORK = sizeof(of_work) / sizeof(of_work[0]) };
	CLEANUP(cleanup_free) struct filter_rule *all = calloc(OF_WORK + count + 1, sizeof(*all));

	if (!all)
		return false;
	memcpy(all, of_work, sizeof(of_work));
	/* A crash ends the process by a signal that it sends to itself. */
	all[OF_WORK] = (struct filter_rule){ SYS_tgkill, 1, { { 0, UINT32_MAX, (uint64_t)getpid() } } };
	if (count > 0)
		memcpy(all + OF_WORK + 1, rules, count * sizeof(*rules));
	return filter_enter(all, OF_WORK + 1 + count);
}
