/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "binary/machine/machine.h"
#include "tests/unit/support/unit_test.h"

#include <elf.h>
#include <sys/syscall.h>

/* Calls that are newer than the C library's header. */
enum { NR_futex_waitv = 449, NR_fchmodat2 = 452, NR_futex_wait = 455 };

/* What waits for something of its own, by the names of the C library, which has the numbers of the compiler's
 * processor. */
#ifdef __x86_64__
static const struct {
	int64_t number;
	enum machine_call call;
} known_calls[] = {
	{ SYS_futex, MACHINE_CALL_FUTEX },
	{ NR_futex_wait, MACHINE_CALL_FUTEX_WAIT },
	{ NR_futex_waitv, MACHINE_CALL_FUTEX_WAITV },
	{ SYS_semop, MACHINE_CALL_SEMAPHORE },
	{ SYS_semtimedop, MACHINE_CALL_SEMAPHORE },
	{ SYS_flock, MACHINE_CALL_FILE_LOCK },
	{ SYS_fcntl, MACHINE_CALL_FILE_CONTROL },
	{ SYS_poll, MACHINE_CALL_POLL },
	{ SYS_select, MACHINE_CALL_SELECT },
	{ SYS_io_getevents, MACHINE_CALL_EVENTS },
	{ SYS_epoll_wait_old, MACHINE_CALL_EVENTS },
	{ SYS_epoll_wait, MACHINE_CALL_EVENTS },
	{ SYS_pselect6, MACHINE_CALL_SELECT },
	{ SYS_ppoll, MACHINE_CALL_POLL },
	{ SYS_epoll_pwait, MACHINE_CALL_EVENTS },
	{ SYS_io_pgetevents, MACHINE_CALL_EVENTS },
	{ SYS_io_uring_enter, MACHINE_CALL_EVENTS },
	{ SYS_epoll_pwait2, MACHINE_CALL_EVENTS },
	{ SYS_accept, MACHINE_CALL_ACCEPT },
	{ SYS_accept4, MACHINE_CALL_ACCEPT },
	{ SYS_wait4, MACHINE_CALL_CHILD },
	{ SYS_waitid, MACHINE_CALL_CHILD },
	{ SYS_pause, MACHINE_CALL_SIGNAL },
	{ SYS_rt_sigtimedwait, MACHINE_CALL_SIGNAL },
	{ SYS_rt_sigsuspend, MACHINE_CALL_SIGNAL },
	{ SYS_nanosleep, MACHINE_CALL_SLEEP },
	{ SYS_clock_nanosleep, MACHINE_CALL_SLEEP },
	{ SYS_connect, MACHINE_CALL_SOCKET },
	{ SYS_sendto, MACHINE_CALL_SOCKET },
	{ SYS_recvfrom, MACHINE_CALL_RECEIVE },
	{ SYS_sendmsg, MACHINE_CALL_SOCKET },
	{ SYS_recvmsg, MACHINE_CALL_RECEIVE },
	{ SYS_shutdown, MACHINE_CALL_SOCKET },
	{ SYS_recvmmsg, MACHINE_CALL_RECEIVE },
	{ SYS_sendmmsg, MACHINE_CALL_SOCKET },
	{ SYS_read, MACHINE_CALL_READ },
	{ SYS_write, MACHINE_CALL_FILE },
	{ SYS_close, MACHINE_CALL_FILE },
	{ SYS_fstat, MACHINE_CALL_FILE },
	{ SYS_lseek, MACHINE_CALL_FILE },
	{ SYS_ioctl, MACHINE_CALL_FILE },
	{ SYS_pread64, MACHINE_CALL_FILE },
	{ SYS_pwrite64, MACHINE_CALL_FILE },
	{ SYS_readv, MACHINE_CALL_READ },
	{ SYS_writev, MACHINE_CALL_FILE },
	{ SYS_sendfile, MACHINE_CALL_FILE },
	{ SYS_ftruncate, MACHINE_CALL_FILE },
	{ SYS_getdents, MACHINE_CALL_FILE },
	{ SYS_fchdir, MACHINE_CALL_FILE },
	{ SYS_fchmod, MACHINE_CALL_FILE },
	{ SYS_fchown, MACHINE_CALL_FILE },
	{ SYS_fstatfs, MACHINE_CALL_FILE },
	{ SYS_readahead, MACHINE_CALL_FILE },
	{ SYS_fsetxattr, MACHINE_CALL_FILE },
	{ SYS_fgetxattr, MACHINE_CALL_FILE },
	{ SYS_flistxattr, MACHINE_CALL_FILE },
	{ SYS_fremovexattr, MACHINE_CALL_FILE },
	{ SYS_getdents64, MACHINE_CALL_FILE },
	{ SYS_fadvise64, MACHINE_CALL_FILE },
	{ SYS_splice, MACHINE_CALL_FILE },
	{ SYS_tee, MACHINE_CALL_FILE },
	{ SYS_vmsplice, MACHINE_CALL_FILE },
	{ SYS_fallocate, MACHINE_CALL_FILE },
	{ SYS_preadv, MACHINE_CALL_FILE },
	{ SYS_pwritev, MACHINE_CALL_FILE },
	{ SYS_copy_file_range, MACHINE_CALL_FILE },
	{ SYS_preadv2, MACHINE_CALL_FILE },
	{ SYS_pwritev2, MACHINE_CALL_FILE },
	{ SYS_open, MACHINE_CALL_PATH },
	{ SYS_stat, MACHINE_CALL_PATH },
	{ SYS_lstat, MACHINE_CALL_PATH },
	{ SYS_access, MACHINE_CALL_PATH },
	{ SYS_execve, MACHINE_CALL_PATH },
	{ SYS_truncate, MACHINE_CALL_PATH },
	{ SYS_chdir, MACHINE_CALL_PATH },
	{ SYS_rename, MACHINE_CALL_PATH },
	{ SYS_mkdir, MACHINE_CALL_PATH },
	{ SYS_rmdir, MACHINE_CALL_PATH },
	{ SYS_creat, MACHINE_CALL_PATH },
	{ SYS_link, MACHINE_CALL_PATH },
	{ SYS_unlink, MACHINE_CALL_PATH },
	{ SYS_symlink, MACHINE_CALL_PATH },
	{ SYS_readlink, MACHINE_CALL_PATH },
	{ SYS_chmod, MACHINE_CALL_PATH },
	{ SYS_chown, MACHINE_CALL_PATH },
	{ SYS_lchown, MACHINE_CALL_PATH },
	{ SYS_utime, MACHINE_CALL_PATH },
	{ SYS_mknod, MACHINE_CALL_PATH },
	{ SYS_statfs, MACHINE_CALL_PATH },
	{ SYS_mount, MACHINE_CALL_PATH },
	{ SYS_umount2, MACHINE_CALL_PATH },
	{ SYS_setxattr, MACHINE_CALL_PATH },
	{ SYS_lsetxattr, MACHINE_CALL_PATH },
	{ SYS_getxattr, MACHINE_CALL_PATH },
	{ SYS_lgetxattr, MACHINE_CALL_PATH },
	{ SYS_listxattr, MACHINE_CALL_PATH },
	{ SYS_llistxattr, MACHINE_CALL_PATH },
	{ SYS_removexattr, MACHINE_CALL_PATH },
	{ SYS_lremovexattr, MACHINE_CALL_PATH },
	{ SYS_utimes, MACHINE_CALL_PATH },
	{ SYS_openat, MACHINE_CALL_PATH },
	{ SYS_mkdirat, MACHINE_CALL_PATH },
	{ SYS_mknodat, MACHINE_CALL_PATH },
	{ SYS_fchownat, MACHINE_CALL_PATH },
	{ SYS_futimesat, MACHINE_CALL_PATH },
	{ SYS_newfstatat, MACHINE_CALL_PATH },
	{ SYS_unlinkat, MACHINE_CALL_PATH },
	{ SYS_renameat, MACHINE_CALL_PATH },
	{ SYS_linkat, MACHINE_CALL_PATH },
	{ SYS_symlinkat, MACHINE_CALL_PATH },
	{ SYS_readlinkat, MACHINE_CALL_PATH },
	{ SYS_fchmodat, MACHINE_CALL_PATH },
	{ SYS_faccessat, MACHINE_CALL_PATH },
	{ SYS_utimensat, MACHINE_CALL_PATH },
	{ SYS_renameat2, MACHINE_CALL_PATH },
	{ SYS_execveat, MACHINE_CALL_PATH },
	{ SYS_statx, MACHINE_CALL_PATH },
	{ SYS_openat2, MACHINE_CALL_PATH },
	{ SYS_faccessat2, MACHINE_CALL_PATH },
	{ NR_fchmodat2, MACHINE_CALL_PATH },
	{ SYS_msync, MACHINE_CALL_SYNC },
	{ SYS_fsync, MACHINE_CALL_SYNC },
	{ SYS_fdatasync, MACHINE_CALL_SYNC },
	{ SYS_sync, MACHINE_CALL_SYNC },
	{ SYS_sync_file_range, MACHINE_CALL_SYNC },
	{ SYS_syncfs, MACHINE_CALL_SYNC },
	{ SYS_mmap, MACHINE_CALL_MEMORY },
	{ SYS_mprotect, MACHINE_CALL_MEMORY },
	{ SYS_munmap, MACHINE_CALL_MEMORY },
	{ SYS_brk, MACHINE_CALL_MEMORY },
	{ SYS_mremap, MACHINE_CALL_MEMORY },
	{ SYS_madvise, MACHINE_CALL_MEMORY },
	{ SYS_mlock, MACHINE_CALL_MEMORY },
	{ SYS_munlock, MACHINE_CALL_MEMORY },
	{ SYS_mlockall, MACHINE_CALL_MEMORY },
	{ SYS_munlockall, MACHINE_CALL_MEMORY },
	{ SYS_mlock2, MACHINE_CALL_MEMORY },
	{ SYS_pkey_mprotect, MACHINE_CALL_MEMORY },
	{ SYS_restart_syscall, MACHINE_CALL_RESTART },
};

static void each_call_has_the_number_of_the_kernel(void **state)
{
	const struct machine *machine = machine_of(EM_X86_64);
	size_t known = 0;

	for (size_t i = 0; i < sizeof(known_calls) / sizeof(known_calls[0]); i++)
		assert_int_equal(machine_call_of(machine, known_calls[i].number), known_calls[i].call);
	for (int64_t number = 0; number < (int64_t)machine->system_call_count; number++)
		known += machine_call_of(machine, number) != MACHINE_CALL_OTHER;
	assert_int_equal(known, sizeof(known_calls) / sizeof(known_calls[0]));
}
#endif

static void numbers_that_no_call_has_are_of_no_kind(void **state)
{
	const struct machine *machine = machine_of(EM_X86_64);
	static const int64_t numbers[] = { INT64_MIN, -2, -1, 456, 1 << 30, INT64_MAX };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		assert_int_equal(machine_call_of(machine, numbers[i]), MACHINE_CALL_OTHER);
	for (size_t i = 0; i < machine->system_call_count; i++)
		assert_in_range(machine->system_calls[i], 0, MACHINE_CALL_COUNT - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#ifdef __x86_64__
		cmocka_unit_test(each_call_has_the_number_of_the_kernel),
#endif
		cmocka_unit_test(numbers_that_no_call_has_are_of_no_kind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
