/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/wait_names.h"

#include <string.h>

struct wait_name {
	const char *const *globs;
	enum profile_wait_class wait_class;
};

/* Names without their prefixes. The first that matches decides. */
static const struct wait_name wait_names[] = {
	/* The kernel: what schedule() is called for. */
	{ GLOBS("futex_*", "do_futex", "mutex_lock*", "rt_mutex_*", "rwsem_down_*", "down_*", "do_semtimedop",
		  "fcntl_setlk*"),
		PROFILE_WAIT_LOCK },
	{ GLOBS("do_nanosleep", "timerfd_read*"), PROFILE_WAIT_TIMER },
	{ GLOBS("ep_poll", "do_epoll_*", "do_poll*", "do_sys_poll*", "do_select*", "do_sigtimedwait*", "do_wait*",
		  "io_cqring_wait*", "eventfd_read*", "signalfd_*", "inotify_read*", "n_tty_read", "inet_csk_accept",
		  "*_accept"),
		PROFILE_WAIT_IDLE },
	{ GLOBS("sk_wait_*", "sk_stream_wait_*", "skb_wait_*", "unix_stream_*", "unix_wait_*", "inet_wait_*"),
		PROFILE_WAIT_NETWORK },
	{ GLOBS("pipe_read", "pipe_write", "anon_pipe_*", "io_schedule*", "folio_wait_*", "wait_on_page_*",
		  "wait_on_buffer", "jbd2_*"),
		PROFILE_WAIT_IO },
	/* Threads of the kernel without work. */
	{ GLOBS("smpboot_thread_fn", "kthread_worker_fn", "kcompactd", "kswapd", "worker_thread"), PROFILE_WAIT_IDLE },
	/* The C library. */
	{ GLOBS("lll_lock_wait*"), PROFILE_WAIT_LOCK },
	{ GLOBS("pthread_cond_*wait*", "pthread_barrier_wait", "pthread_*join*"), PROFILE_WAIT_CONDITION },
	/* This stands behind pthread_clockjoin, which it would match as well. */
	{ GLOBS("pthread_*lock*"), PROFILE_WAIT_LOCK },
	{ GLOBS("new_sem_*wait*", "sem_*wait*"), PROFILE_WAIT_CONDITION },
	{ GLOBS("semop", "flock"), PROFILE_WAIT_LOCK },
	{ GLOBS("*nanosleep*"), PROFILE_WAIT_TIMER },
	{ GLOBS("epoll_*wait*", "poll", "ppoll", "select", "select64", "pselect*", "accept", "accept4", "wait4",
		  "waitpid", "waitid", "pause", "sigwait*", "sigtimedwait", "sigsuspend"),
		PROFILE_WAIT_IDLE },
	{ GLOBS("connect", "recv", "recvfrom", "recv*msg", "send", "sendto", "send*msg"), PROFILE_WAIT_NETWORK },
	{ GLOBS("read", "readv", "pread*", "write", "writev", "pwrite*", "fsync", "fdatasync", "open64"),
		PROFILE_WAIT_IO },
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
		if (glob_matches_any(wait_names[i].globs, known))
			return wait_names[i].wait_class;
	return PROFILE_WAIT_NONE;
}

/* ---- Locks and conditions ---- */

enum { LAYER_NONE, LAYER_C_LIBRARY, LAYER_RUN_TIME, LAYER_LIBRARY };

struct wait_means_name {
	const char *const *globs;
	struct wait_means means;
};

#define LOCK(layer)                                                                                                    \
	{                                                                                                              \
		PROFILE_WAIT_LOCK, layer                                                                               \
	}
#define CONDITION(layer)                                                                                               \
	{                                                                                                              \
		PROFILE_WAIT_CONDITION, layer                                                                          \
	}

static const struct wait_means_name means_names[] = {
	/* HotSpot (src/hotspot/share/runtime/objectMonitor.cpp) makes monitors of condition variables. */
	{ GLOBS("ObjectMonitor::enter*", "ObjectMonitor::EnterI*"), LOCK(LAYER_RUN_TIME) },
	{ GLOBS("ObjectMonitor::wait*"), CONDITION(LAYER_RUN_TIME) },
	{ GLOBS("ObjectSynchronizer::enter*"), LOCK(LAYER_RUN_TIME) },
	{ GLOBS("ObjectSynchronizer::wait*", "LinuxWaitBarrier::wait*"), CONDITION(LAYER_RUN_TIME) },
	{ GLOBS("JavaThread::sleep*"), { PROFILE_WAIT_TIMER, LAYER_LIBRARY } },
	/* The JDK (java.util.concurrent.locks) makes locks of LockSupport.park(). */
	{ GLOBS("*java.util.concurrent.locks.AbstractQueued*Synchronizer.acquire*"), LOCK(LAYER_RUN_TIME) },
	{ GLOBS("*java.util.concurrent.locks.AbstractQueued*ConditionObject.await*",
		  "*java.util.concurrent.CountDownLatch.await*", "*java.util.concurrent.Semaphore.acquire*",
		  "*java.util.concurrent.Semaphore.tryAcquire*"),
		CONDITION(LAYER_LIBRARY) },
	{ GLOBS("*java.util.concurrent.locks.LockSupport.park*"), CONDITION(LAYER_C_LIBRARY) },
	{ GLOBS("*java.lang.Object.wait*", "*java.lang.Thread.join*"), CONDITION(LAYER_LIBRARY) },
	/* CPython (Python/ceval_gil.h, thread_pthread.h) makes its locks of semaphores and condition variables. */
	{ GLOBS("PyThread_acquire_lock*"), LOCK(LAYER_RUN_TIME) },
	{ GLOBS("py::Condition.wait*:*threading.py", "py::Thread.join:*threading.py", "_queue_SimpleQueue_get*"),
		CONDITION(LAYER_LIBRARY) },
	/* Rust (library/std/src/sys, sync) has both of futexes. */
	{ GLOBS("*std::sys::*::Mutex*::lock*", "*std::sys::*::RwLock*::*"), LOCK(LAYER_RUN_TIME) },
	{ GLOBS("*std::sys::*Condvar*::wait*", "*std::sys::*Parker*::park*", "std::thread::*park*"),
		CONDITION(LAYER_RUN_TIME) },
	{ GLOBS("std::sync::mp?c::*", "std::sync::barrier::*"), CONDITION(LAYER_LIBRARY) },
	/* Crates that make locks and channels of parked threads. */
	{ GLOBS("parking_lot::raw_*"), LOCK(LAYER_RUN_TIME) },
	{ GLOBS("parking_lot::condvar::*", "crossbeam_channel::*"), CONDITION(LAYER_LIBRARY) },
	{ GLOBS("crossbeam_utils::sync::parker::*"), CONDITION(LAYER_RUN_TIME) },
	{ GLOBS("tokio::runtime::*park*", "rayon_core::*"), CONDITION(LAYER_LIBRARY) },
	/* C++: libstdc++ (atomic_wait.h, of semaphores, latches and barriers), Abseil, Folly. */
	{ GLOBS("std::__detail::__*wait*", "std::__atomic_wait*"), CONDITION(LAYER_RUN_TIME) },
	{ GLOBS("absl::*Mutex::Lock*"), LOCK(LAYER_RUN_TIME) },
	{ GLOBS("absl::*Mutex::Await*", "absl::*CondVar::*Wait*", "folly::*Baton<*>::*wait*", "folly::LifoSem*"),
		CONDITION(LAYER_LIBRARY) },
	/* OpenMP's threads at a barrier, or without work (libgomp). */
	{ GLOBS("gomp_*wait*"), CONDITION(LAYER_RUN_TIME) },
	/* Threads of Go that are parked (runtime/lock_futex.go), but not those at a lock of the run time's own. */
	{ GLOBS("runtime.notesleep", "runtime.notetsleep*"), CONDITION(LAYER_RUN_TIME) },
	/* PostgreSQL (storage/lmgr) makes locks of semaphores. */
	{ GLOBS("LWLockAcquire*"), LOCK(LAYER_RUN_TIME) },
};

struct wait_means wait_means_of_function(const char *name, bool is_of_system)
{
	/* The C library's own wrapper of a futex is below all that it makes of one. */
	bool says_nothing = strncmp(without_prefixes(name), "futex_", strlen("futex_")) == 0;
	enum profile_wait_class of_library =
		is_of_system && !says_nothing ? wait_class_of_function(name) : PROFILE_WAIT_NONE;

	if (of_library == PROFILE_WAIT_LOCK || of_library == PROFILE_WAIT_CONDITION)
		return (struct wait_means){ of_library, LAYER_C_LIBRARY };
	for (size_t i = 0; !is_of_system && i < sizeof(means_names) / sizeof(means_names[0]); i++)
		if (glob_matches_any(means_names[i].globs, name))
			return means_names[i].means;
	return (struct wait_means){ PROFILE_WAIT_NONE, LAYER_NONE };
}
