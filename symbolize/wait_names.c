/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/wait_names.h"

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
	{ "pthread_cond_*wait*", PROFILE_WAIT_CONDITION },
	{ "pthread_barrier_wait", PROFILE_WAIT_CONDITION },
	{ "pthread_*join*", PROFILE_WAIT_CONDITION },
	/* After pthread_clockjoin. */
	{ "pthread_*lock*", PROFILE_WAIT_LOCK },
	{ "new_sem_*wait*", PROFILE_WAIT_CONDITION },
	{ "sem_*wait*", PROFILE_WAIT_CONDITION },
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
		if (glob_matches(wait_names[i].glob, known))
			return wait_names[i].wait_class;
	return PROFILE_WAIT_NONE;
}

/* ---- Locks and conditions ---- */

enum { LAYER_NONE, LAYER_C_LIBRARY, LAYER_RUN_TIME, LAYER_LIBRARY };

struct wait_means_name {
	const char *glob;
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
	{ "ObjectMonitor::enter*", LOCK(LAYER_RUN_TIME) },
	{ "ObjectMonitor::EnterI*", LOCK(LAYER_RUN_TIME) },
	{ "ObjectMonitor::wait*", CONDITION(LAYER_RUN_TIME) },
	{ "ObjectSynchronizer::enter*", LOCK(LAYER_RUN_TIME) },
	{ "ObjectSynchronizer::wait*", CONDITION(LAYER_RUN_TIME) },
	{ "LinuxWaitBarrier::wait*", CONDITION(LAYER_RUN_TIME) },
	{ "JavaThread::sleep*", { PROFILE_WAIT_TIMER, LAYER_LIBRARY } },
	/* The JDK (java.util.concurrent.locks) makes locks of LockSupport.park(). */
	{ "*java.util.concurrent.locks.AbstractQueued*Synchronizer.acquire*", LOCK(LAYER_RUN_TIME) },
	{ "*java.util.concurrent.locks.AbstractQueued*ConditionObject.await*", CONDITION(LAYER_LIBRARY) },
	{ "*java.util.concurrent.CountDownLatch.await*", CONDITION(LAYER_LIBRARY) },
	{ "*java.util.concurrent.Semaphore.acquire*", CONDITION(LAYER_LIBRARY) },
	{ "*java.util.concurrent.Semaphore.tryAcquire*", CONDITION(LAYER_LIBRARY) },
	{ "*java.util.concurrent.locks.LockSupport.park*", CONDITION(LAYER_C_LIBRARY) },
	{ "*java.lang.Object.wait*", CONDITION(LAYER_LIBRARY) },
	{ "*java.lang.Thread.join*", CONDITION(LAYER_LIBRARY) },
	/* CPython (Python/ceval_gil.h, thread_pthread.h) makes its locks of semaphores and condition variables. */
	{ "PyThread_acquire_lock*", LOCK(LAYER_RUN_TIME) },
	{ "py::Condition.wait*:*threading.py", CONDITION(LAYER_LIBRARY) },
	{ "py::Thread.join:*threading.py", CONDITION(LAYER_LIBRARY) },
	{ "_queue_SimpleQueue_get*", CONDITION(LAYER_LIBRARY) },
	/* Rust (library/std/src/sys, sync) has both of futexes. */
	{ "*std::sys::*::Mutex*::lock*", LOCK(LAYER_RUN_TIME) },
	{ "*std::sys::*::RwLock*::*", LOCK(LAYER_RUN_TIME) },
	{ "*std::sys::*Condvar*::wait*", CONDITION(LAYER_RUN_TIME) },
	{ "*std::sys::*Parker*::park*", CONDITION(LAYER_RUN_TIME) },
	{ "std::thread::*park*", CONDITION(LAYER_RUN_TIME) },
	{ "std::sync::mp?c::*", CONDITION(LAYER_LIBRARY) },
	{ "std::sync::barrier::*", CONDITION(LAYER_LIBRARY) },
	/* Crates that make locks and channels of parked threads. */
	{ "parking_lot::raw_*", LOCK(LAYER_RUN_TIME) },
	{ "parking_lot::condvar::*", CONDITION(LAYER_LIBRARY) },
	{ "crossbeam_channel::*", CONDITION(LAYER_LIBRARY) },
	{ "crossbeam_utils::sync::parker::*", CONDITION(LAYER_RUN_TIME) },
	{ "tokio::runtime::*park*", CONDITION(LAYER_LIBRARY) },
	{ "rayon_core::*", CONDITION(LAYER_LIBRARY) },
	/* C++: libstdc++ (atomic_wait.h, of semaphores, latches and barriers), Abseil, Folly. */
	{ "std::__detail::__*wait*", CONDITION(LAYER_RUN_TIME) },
	{ "std::__atomic_wait*", CONDITION(LAYER_RUN_TIME) },
	{ "absl::*Mutex::Lock*", LOCK(LAYER_RUN_TIME) },
	{ "absl::*Mutex::Await*", CONDITION(LAYER_LIBRARY) },
	{ "absl::*CondVar::*Wait*", CONDITION(LAYER_LIBRARY) },
	{ "folly::*Baton<*>::*wait*", CONDITION(LAYER_LIBRARY) },
	{ "folly::LifoSem*", CONDITION(LAYER_LIBRARY) },
	/* OpenMP's threads at a barrier, or without work (libgomp). */
	{ "gomp_*wait*", CONDITION(LAYER_RUN_TIME) },
	/* Threads of Go that are parked (runtime/lock_futex.go), but not those at a lock of the run time's own. */
	{ "runtime.notesleep", CONDITION(LAYER_RUN_TIME) },
	{ "runtime.notetsleep*", CONDITION(LAYER_RUN_TIME) },
	/* PostgreSQL (storage/lmgr) makes locks of semaphores. */
	{ "LWLockAcquire*", LOCK(LAYER_RUN_TIME) },
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
		if (glob_matches(means_names[i].glob, name))
			return means_names[i].means;
	return (struct wait_means){ PROFILE_WAIT_NONE, LAYER_NONE };
}
