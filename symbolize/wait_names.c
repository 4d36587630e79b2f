/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/wait_names.h"

#include <fnmatch.h>
#include <string.h>

struct wait_name {
	const char *glob;
	enum profile_wait_class wait_class;
};

/* Names without their prefixes. The first that matches decides. */
static const struct wait_name wait_names[] = {
	/* The kernel: what schedule() is called for. */
	{ "futex_*", PROFILE_WAIT_LOCK },
	{ "do_futex", PROFILE_WAIT_LOCK },
	{ "mutex_lock*", PROFILE_WAIT_LOCK },
	{ "rt_mutex_*", PROFILE_WAIT_LOCK },
	{ "rwsem_down_*", PROFILE_WAIT_LOCK },
	{ "down_*", PROFILE_WAIT_LOCK },
	{ "do_semtimedop", PROFILE_WAIT_LOCK },
	{ "fcntl_setlk*", PROFILE_WAIT_LOCK },
	{ "do_nanosleep", PROFILE_WAIT_TIMER },
	{ "timerfd_read*", PROFILE_WAIT_TIMER },
	{ "ep_poll", PROFILE_WAIT_IDLE },
	{ "do_epoll_*", PROFILE_WAIT_IDLE },
	{ "do_poll*", PROFILE_WAIT_IDLE },
	{ "do_sys_poll*", PROFILE_WAIT_IDLE },
	{ "do_select*", PROFILE_WAIT_IDLE },
	{ "do_sigtimedwait*", PROFILE_WAIT_IDLE },
	{ "do_wait*", PROFILE_WAIT_IDLE },
	{ "io_cqring_wait*", PROFILE_WAIT_IDLE },
	{ "eventfd_read*", PROFILE_WAIT_IDLE },
	{ "signalfd_*", PROFILE_WAIT_IDLE },
	{ "inotify_read*", PROFILE_WAIT_IDLE },
	{ "n_tty_read", PROFILE_WAIT_IDLE },
	{ "inet_csk_accept", PROFILE_WAIT_IDLE },
	{ "*_accept", PROFILE_WAIT_IDLE },
	{ "sk_wait_*", PROFILE_WAIT_NETWORK },
	{ "sk_stream_wait_*", PROFILE_WAIT_NETWORK },
	{ "skb_wait_*", PROFILE_WAIT_NETWORK },
	{ "unix_stream_*", PROFILE_WAIT_NETWORK },
	{ "unix_wait_*", PROFILE_WAIT_NETWORK },
	{ "inet_wait_*", PROFILE_WAIT_NETWORK },
	{ "pipe_read", PROFILE_WAIT_IO },
	{ "pipe_write", PROFILE_WAIT_IO },
	{ "anon_pipe_*", PROFILE_WAIT_IO },
	{ "io_schedule*", PROFILE_WAIT_IO },
	{ "folio_wait_*", PROFILE_WAIT_IO },
	{ "wait_on_page_*", PROFILE_WAIT_IO },
	{ "wait_on_buffer", PROFILE_WAIT_IO },
	{ "jbd2_*", PROFILE_WAIT_IO },
	/* Threads of the kernel without work. */
	{ "smpboot_thread_fn", PROFILE_WAIT_IDLE },
	{ "kthread_worker_fn", PROFILE_WAIT_IDLE },
	{ "kcompactd", PROFILE_WAIT_IDLE },
	{ "kswapd", PROFILE_WAIT_IDLE },
	{ "worker_thread", PROFILE_WAIT_IDLE },
	/* The C library. */
	{ "lll_lock_wait*", PROFILE_WAIT_LOCK },
	{ "pthread_*lock*", PROFILE_WAIT_LOCK },
	{ "pthread_cond_*wait*", PROFILE_WAIT_LOCK },
	{ "pthread_barrier_wait", PROFILE_WAIT_LOCK },
	{ "pthread_*join*", PROFILE_WAIT_LOCK },
	{ "new_sem_wait*", PROFILE_WAIT_LOCK },
	{ "sem_*wait", PROFILE_WAIT_LOCK },
	{ "semop", PROFILE_WAIT_LOCK },
	{ "flock", PROFILE_WAIT_LOCK },
	{ "*nanosleep*", PROFILE_WAIT_TIMER },
	{ "epoll_*wait*", PROFILE_WAIT_IDLE },
	{ "poll", PROFILE_WAIT_IDLE },
	{ "ppoll", PROFILE_WAIT_IDLE },
	{ "select", PROFILE_WAIT_IDLE },
	{ "select64", PROFILE_WAIT_IDLE },
	{ "pselect*", PROFILE_WAIT_IDLE },
	{ "accept", PROFILE_WAIT_IDLE },
	{ "accept4", PROFILE_WAIT_IDLE },
	{ "wait4", PROFILE_WAIT_IDLE },
	{ "waitpid", PROFILE_WAIT_IDLE },
	{ "waitid", PROFILE_WAIT_IDLE },
	{ "pause", PROFILE_WAIT_IDLE },
	{ "sigwait*", PROFILE_WAIT_IDLE },
	{ "sigtimedwait", PROFILE_WAIT_IDLE },
	{ "sigsuspend", PROFILE_WAIT_IDLE },
	{ "connect", PROFILE_WAIT_NETWORK },
	{ "recv", PROFILE_WAIT_NETWORK },
	{ "recvfrom", PROFILE_WAIT_NETWORK },
	{ "recv*msg", PROFILE_WAIT_NETWORK },
	{ "send", PROFILE_WAIT_NETWORK },
	{ "sendto", PROFILE_WAIT_NETWORK },
	{ "send*msg", PROFILE_WAIT_NETWORK },
	{ "read", PROFILE_WAIT_IO },
	{ "readv", PROFILE_WAIT_IO },
	{ "pread*", PROFILE_WAIT_IO },
	{ "write", PROFILE_WAIT_IO },
	{ "writev", PROFILE_WAIT_IO },
	{ "pwrite*", PROFILE_WAIT_IO },
	{ "fsync", PROFILE_WAIT_IO },
	{ "fdatasync", PROFILE_WAIT_IO },
	{ "open64", PROFILE_WAIT_IO },
};

static const char *without_prefixes(const char *name)
{
	static const char *const prefixes[] = { "_", "GI_", "libc_", "x64_sys_", "arm64_sys_", "se_sys_", "ksys_" };
	bool again = true;

	while (again) {
		again = false;
		for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
			size_t size = strlen(prefixes[i]);

			if (strncmp(name, prefixes[i], size) != 0)
				continue;
			name += size;
			again = true;
		}
	}
	return name;
}

enum profile_wait_class wait_class_of_function(const char *name)
{
	const char *known = without_prefixes(name);

	for (size_t i = 0; i < sizeof(wait_names) / sizeof(wait_names[0]); i++)
		if (fnmatch(wait_names[i].glob, known, 0) == 0)
			return wait_names[i].wait_class;
	return PROFILE_WAIT_NONE;
}
