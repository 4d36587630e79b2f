/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/symbolize.h"
#include "tests/unit/support/unit_test.h"

#include <string.h>

enum { WAIT_NS = 10000000 };

static bool by_name; /* functions tell what is not known */

static struct profile *new_recording(void)
{
	struct profile *profile = NULL;
	uint32_t run, thread;
	struct error err;

	assert_true(profile_create(&profile, &err));
	assert_true(profile_add_value_type(profile, "cpu", "nanoseconds", &err));
	assert_true(profile_add_wait_values(profile, &err));
	assert_true(profile_add_run(profile, &(struct profile_run){ 0 }, &run, &err));
	assert_true(profile_add_thread(profile, &(struct profile_thread){ .run = run }, &thread, &err));
	return profile;
}

/* A function of the module, in the file that is named after it. */
static uint32_t add_function(struct profile *profile, const char *name, uint32_t mapping)
{
	struct profile_function function = { .module = profile->mappings[mapping].module };
	char file[600];
	uint32_t id;
	struct error err;

	snprintf(file, sizeof(file), "/src/%s.c", name);
	assert_true(profile_intern(profile, name, &function.name, &err));
	assert_true(profile_intern(profile, file, &function.file, &err));
	assert_true(profile_add_function(profile, &function, &id, &err));
	return id;
}

/* The stack of functions, from the root on; two of them with a plus between are inlined into one place. */
static uint32_t add_stack(struct profile *profile, const char *functions, uint32_t mapping)
{
	char copy[512], *rest = NULL;
	uint32_t stack = 0;
	struct error err;

	snprintf(copy, sizeof(copy), "%s", functions);
	for (char *name = strtok_r(copy, ";", &rest); name; name = strtok_r(NULL, ";", &rest)) {
		char *inlined = strchr(name, '+');
		struct profile_line lines[2];
		size_t count = 0;
		uint32_t location;

		if (inlined) {
			*inlined++ = '\0';
			lines[count++] = (struct profile_line){ add_function(profile, inlined, mapping), 1 };
		}
		lines[count++] = (struct profile_line){ add_function(profile, name, mapping), 1 };
		assert_true(profile_add_location_of_lines(profile, mapping, lines, count, &location, &err));
		assert_true(profile_add_stack(profile, stack, location, &stack, &err));
	}
	return stack;
}

/* What a wait in the stack is under the rules. */
static enum profile_wait_class class_under(
	const char *text, const char *functions, const char *path, enum profile_wait_class wait_class)
{
	CLEANUP(profile_cleanup) struct profile *profile = new_recording();
	struct profile_mapping mapping = { .kind = PROFILE_MAPPING_FILE };
	const struct profile_symbols symbols = { .waits_by_name = by_name };
	struct symbolize_options options = { 0 };
	struct symbolize_rules *rules = NULL;
	int64_t values[PROFILE_MAX_VALUE_TYPES];
	uint32_t id, stack;
	struct error err;

	assert_true(profile_intern(profile, path, &mapping.path, &err));
	assert_true(profile_add_mapping(profile, &mapping, &id, &err));
	assert_true(profile_add_wait_stack(profile, add_stack(profile, functions, id), wait_class, &stack, &err));
	profile_wait_fill(profile, wait_class, WAIT_NS, values);
	assert_true(profile_add_sample(profile, stack, 0, values, 0, &err));
	assert_true(profile_weigh_event(profile, WAIT_NS, &err));
	assert_true(profile_finish(profile, &err));
	if (!symbolize_rules_parse(SYMBOLIZE_RULES_OF_WAITS, text, strlen(text), "rules", &rules, &err))
		fail_msg("%s", err.message);
	options.wait_rules = rules;
	assert_true(symbolize_waits(profile, &symbols, &options, &err));
	assert_true(profile_validate(profile, &err));
	symbolize_rules_destroy(rules);
	return profile_wait_class_of_stack(profile, profile->samples[0].stack);
}

static void the_function_nearest_to_the_leaf_decides(void **state)
{
	static const char pool[] = "idle function *Pool::worker*\n";
	static const char pool_without_jobs[] = "keep function Job::run*\nidle function *Pool::worker*\n";
	static const char both[] = "idle function work\nnetwork function wait\n";
	static const struct {
		const char *rules, *functions, *path;
		enum profile_wait_class before, after;
	} cases[] = {
		{ pool, "main;Pool::worker(int);cond_wait", "/srv/app", PROFILE_WAIT_LOCK, PROFILE_WAIT_IDLE },
		{ pool, "main;cond_wait", "/srv/app", PROFILE_WAIT_LOCK, PROFILE_WAIT_LOCK },
		{ pool, "Pool::worker;Job::run;cond_wait", "/srv/app", PROFILE_WAIT_LOCK, PROFILE_WAIT_IDLE },
		{ pool_without_jobs, "Pool::worker;Job::run;read", "/srv/app", PROFILE_WAIT_IO, PROFILE_WAIT_IO },
		{ pool_without_jobs, "Pool::worker;cond_wait", "/srv/app", PROFILE_WAIT_LOCK, PROFILE_WAIT_IDLE },
		/* The order of rules decides for one function only. */
		{ both, "work;wait", "/srv/app", PROFILE_WAIT_LOCK, PROFILE_WAIT_NETWORK },
		{ both, "wait;work", "/srv/app", PROFILE_WAIT_LOCK, PROFILE_WAIT_IDLE },
		{ "timer function w*\nidle function wait\n", "main;wait", "/srv/app", PROFILE_WAIT_LOCK,
			PROFILE_WAIT_TIMER },
		/* Inlined functions are nearer to the leaf than what they are inlined into. */
		{ both, "main;work+wait", "/srv/app", PROFILE_WAIT_LOCK, PROFILE_WAIT_NETWORK },
		{ "lock module libpq*\n", "main;poll", "/usr/lib/libpq.so.5.15", PROFILE_WAIT_IDLE, PROFILE_WAIT_LOCK },
		{ "io path /src/po*\n", "main;poll", "/srv/app", PROFILE_WAIT_IDLE, PROFILE_WAIT_IO },
		{ "io path /srv/*\n", "main;poll", "/srv/app", PROFILE_WAIT_IDLE, PROFILE_WAIT_IO },
		{ "idle function *\n", "main", "/srv/app", PROFILE_WAIT_RUN_QUEUE, PROFILE_WAIT_RUN_QUEUE },
		/* The frame of the class is no function. */
		{ "idle function [[]waiting*\n", "main", "/srv/app", PROFILE_WAIT_LOCK, PROFILE_WAIT_LOCK },
		{ "", "main;cond_wait", "/srv/app", PROFILE_WAIT_LOCK, PROFILE_WAIT_LOCK },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (class_under(cases[i].rules, cases[i].functions, cases[i].path, cases[i].before) != cases[i].after)
			fail_msg("case %zu: '%s' is not %s", i, cases[i].functions,
				profile_wait_info(cases[i].after)->name);
}

static void threads_of_go_without_a_goroutine_are_idle(void **state)
{
	static const char *const idle[] = { "runtime.mcall;runtime.schedule;runtime.stopm;runtime.mPark;runtime.futex",
		"runtime.mstart;runtime.sysmon;runtime.usleep",
		"runtime.mstart1;runtime.templateThread;runtime.notesleep;runtime.futex",
		/* stopm() is inlined as the compiler likes. */
		"runtime.schedule;runtime.findRunnable+runtime.stopm;runtime.notesleep",
		"os/signal.loop;os/signal.signal_recv;runtime.futex" };
	static const char *const busy[] = { "main.main;sync.(*Mutex).Lock;runtime.futex", "main.stopm;runtime.futex" };

	for (size_t i = 0; i < sizeof(idle) / sizeof(idle[0]); i++)
		assert_int_equal(class_under("", idle[i], "/srv/app", PROFILE_WAIT_LOCK), PROFILE_WAIT_IDLE);
	for (size_t i = 0; i < sizeof(busy) / sizeof(busy[0]); i++)
		assert_int_equal(class_under("", busy[i], "/srv/app", PROFILE_WAIT_LOCK), PROFILE_WAIT_LOCK);
	/* The user's rules come before ours. */
	assert_int_equal(class_under("keep function runtime.stopm\n", idle[0], "/srv/app", PROFILE_WAIT_LOCK),
		PROFILE_WAIT_LOCK);
}

/* Names tell what a thread waits for only where nothing else does, and only those of the system. */
static void functions_tell_what_is_not_known(void **state)
{
	static const char libc[] = "/lib64/libc.so.6";
	static const struct {
		const char *functions, *path;
		enum profile_wait_class before, after;
	} cases[] = {
		{ "main;epoll_wait", libc, PROFILE_WAIT_OTHER, PROFILE_WAIT_IDLE },
		{ "main;__libc_accept", libc, PROFILE_WAIT_OTHER, PROFILE_WAIT_IDLE },
		{ "main;__GI___poll", "/lib64/libc-2.31.so", PROFILE_WAIT_OTHER, PROFILE_WAIT_IDLE },
		{ "pthread_cond_timedwait;__futex_abstimed_wait_common64", libc, PROFILE_WAIT_OTHER,
			PROFILE_WAIT_CONDITION },
		{ "___pthread_mutex_lock;__lll_lock_wait", libc, PROFILE_WAIT_OTHER, PROFILE_WAIT_LOCK },
		{ "usleep;__clock_nanosleep", libc, PROFILE_WAIT_OTHER, PROFILE_WAIT_TIMER },
		{ "main;__libc_recv", libc, PROFILE_WAIT_OTHER, PROFILE_WAIT_NETWORK },
		{ "ksys_read;vfs_read;anon_pipe_read;schedule;__schedule", libc, PROFILE_WAIT_OTHER, PROFILE_WAIT_IO },
		{ "do_futex;__futex_wait;futex_do_wait;schedule;__schedule", libc, PROFILE_WAIT_OTHER,
			PROFILE_WAIT_LOCK },
		{ "main;qsort", libc, PROFILE_WAIT_OTHER, PROFILE_WAIT_OTHER },
		{ "main;poll", "/srv/app", PROFILE_WAIT_OTHER, PROFILE_WAIT_OTHER },
		{ "main;epoll_wait", libc, PROFILE_WAIT_IO, PROFILE_WAIT_IO },
		{ "main;epoll_wait", libc, PROFILE_WAIT_RUN_QUEUE, PROFILE_WAIT_RUN_QUEUE },
	};

	by_name = true;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (class_under("", cases[i].functions, cases[i].path, cases[i].before) != cases[i].after)
			fail_msg("case %zu: '%s' is not %s", i, cases[i].functions,
				profile_wait_info(cases[i].after)->name);
	/* The user's rules come first, and without the wish names tell nothing. */
	assert_int_equal(class_under("lock function main\n", "main;poll", libc, PROFILE_WAIT_OTHER), PROFILE_WAIT_LOCK);
	by_name = false;
	assert_int_equal(class_under("", "main;poll", libc, PROFILE_WAIT_OTHER), PROFILE_WAIT_OTHER);
}

/* ---- Locks and conditions ---- */

/* What a futex is, of which the kernel says no more than that it is one, in stacks of one module. */
static void functions_tell_locks_from_conditions(void **state)
{
	static const char libc[] = "/lib64/libc.so.6", program[] = "/srv/app";
	static const struct {
		const char *functions, *path;
		enum profile_wait_class after;
	} cases[] = {
		{ "main;___pthread_cond_wait;__pthread_cond_wait_common;__futex_abstimed_wait_common64", libc,
			PROFILE_WAIT_CONDITION },
		{ "main;pthread_cond_clockwait", libc, PROFILE_WAIT_CONDITION },
		{ "main;__new_sem_wait_slow64;__futex_abstimed_wait_common", libc, PROFILE_WAIT_CONDITION },
		{ "main;sem_clockwait", libc, PROFILE_WAIT_CONDITION },
		/* It ends in "lock", but joins. */
		{ "main;__pthread_clockjoin_ex;__futex_abstimed_wait_common", libc, PROFILE_WAIT_CONDITION },
		{ "main;pthread_join", libc, PROFILE_WAIT_CONDITION },
		{ "main;pthread_barrier_wait", libc, PROFILE_WAIT_CONDITION },
		{ "main;___pthread_mutex_lock;__lll_lock_wait", libc, PROFILE_WAIT_LOCK },
		{ "main;___pthread_rwlock_wrlock;__futex_abstimed_wait64", libc, PROFILE_WAIT_LOCK },
		/* A condition variable takes its mutex again. */
		{ "main;___pthread_cond_wait;__GI___pthread_mutex_cond_lock;__lll_lock_wait", libc, PROFILE_WAIT_LOCK },
		/* What nobody knows is what the kernel says. */
		{ "main;__futex_abstimed_wait_common64", libc, PROFILE_WAIT_LOCK },
		{ "main;my_futex", program, PROFILE_WAIT_LOCK },
		/* A program may have functions of these names. */
		{ "main;pthread_cond_wait", program, PROFILE_WAIT_LOCK },
		{ "main;std::sys::sync::mutex::futex::Mutex::lock_contended", program, PROFILE_WAIT_LOCK },
		{ "main;std::sys::sync::condvar::futex::Condvar::wait_optional_timeout", program,
			PROFILE_WAIT_CONDITION },
		{ "main;<std::sys::sync::condvar::futex::Condvar>::wait_optional_timeout;syscall", program,
			PROFILE_WAIT_CONDITION },
		{ "main;<std::sys::sync::mutex::futex::Mutex>::lock_contended;syscall", program, PROFILE_WAIT_LOCK },
		{ "main;std::thread::park", program, PROFILE_WAIT_CONDITION },
		{ "main;crossbeam_channel::flavors::array::Channel<T>::recv;std::thread::park", program,
			PROFILE_WAIT_CONDITION },
		{ "main;runtime.notetsleep_internal;runtime.futexsleep", program, PROFILE_WAIT_CONDITION },
		{ "main;runtime.lock2;runtime.futexsleep", program, PROFILE_WAIT_LOCK },
		{ "main;absl::lts_2024::Mutex::LockSlow", program, PROFILE_WAIT_LOCK },
		{ "main;absl::CondVar::WaitCommon;absl::synchronization_internal::FutexWaiter::Wait", program,
			PROFILE_WAIT_CONDITION },
		/* A lock that is made of a condition variable is a lock, and a queue that is made of such a lock none.
		 */
		{ "Shop.buy();ObjectSynchronizer::enter(Handle);os::PlatformEvent::park()", program,
			PROFILE_WAIT_LOCK },
		{ "void Shop.buy();void java.util.concurrent.locks.ReentrantLock.lock();"
		  "void java.util.concurrent.locks.AbstractQueuedSynchronizer.acquire(int);"
		  "void java.util.concurrent.locks.LockSupport.park(java.lang.Object)",
			program, PROFILE_WAIT_LOCK },
		{ "void Shop.buy();void java.util.concurrent.CountDownLatch.await();"
		  "boolean java.util.concurrent.locks.AbstractQueuedSynchronizer.acquire(int);"
		  "void java.util.concurrent.locks.LockSupport.park(java.lang.Object)",
			program, PROFILE_WAIT_CONDITION },
		{ "void Shop.buy();void java.lang.Thread.sleep(long);JavaThread::sleep(long);os::PlatformEvent::park()",
			program, PROFILE_WAIT_TIMER },
		{ "py::get:/srv/w.py;PyThread_acquire_lock_timed", program, PROFILE_WAIT_LOCK },
		{ "py::get:/srv/w.py;py::Condition.wait:/usr/lib/python3.11/threading.py;PyThread_acquire_lock_timed",
			program, PROFILE_WAIT_CONDITION },
		{ "exec_simple_query;LWLockAcquire;PGSemaphoreLock", program, PROFILE_WAIT_LOCK },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		enum profile_wait_class found = class_under("", cases[i].functions, cases[i].path, PROFILE_WAIT_LOCK);

		if (found != cases[i].after)
			fail_msg("case %zu: '%s' is %s", i, cases[i].functions, profile_wait_info(found)->name);
	}
	/* A system call that is no futex is none of this. */
	assert_int_equal(class_under("", "main;pthread_cond_wait", libc, PROFILE_WAIT_IO), PROFILE_WAIT_IO);
	assert_int_equal(
		class_under("", "main;pthread_cond_wait", libc, PROFILE_WAIT_RUN_QUEUE), PROFILE_WAIT_RUN_QUEUE);
	/* A rule may make it anything. */
	assert_int_equal(class_under("lock function main\n", "main;pthread_cond_wait", libc, PROFILE_WAIT_LOCK),
		PROFILE_WAIT_LOCK);
}

/* ---- Shipped rules ---- */

#define POOL "void java.lang.Thread.run();void java.util.concurrent.ThreadPoolExecutor$Worker.run()"
#define AWAIT                                                                                                          \
	"boolean java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject.await();"                       \
	"void java.util.concurrent.locks.LockSupport.park()"
#define PARK "void java.util.concurrent.locks.LockSupport.parkNanos(java.lang.Object, long)"
#define XNIO "void java.lang.Thread.run();void org.jboss.threads.EnhancedQueueExecutor$ThreadBody.run()"
#define PUMA "/gems/puma-5.6.5/lib/puma/"
#define HTTP "/usr/lib/python3.11/http/"
#define FUTURES "/usr/lib/python3.11/concurrent/futures/thread.py"

/* Of each program: what waits for work alone, and what must stay visible beside it. */
static void services_wait_for_work_where_rules_say(void **state)
{
	static const struct {
		const char *functions;
		enum profile_wait_class before, after;
	} cases[] = {
		/* PostgreSQL: a client's next query, and another one's row, in the same event loop. */
		{ "PostgresMain;secure_read;WaitEventSetWait;epoll_wait", PROFILE_WAIT_IDLE, PROFILE_WAIT_IDLE },
		{ "PostgresMain;XactLockTableWait;ProcSleep;WaitLatch;WaitEventSetWait;epoll_wait", PROFILE_WAIT_IDLE,
			PROFILE_WAIT_LOCK },
		{ "ExecGather;shm_mq_receive;WaitLatch;WaitEventSetWait;epoll_wait", PROFILE_WAIT_IDLE,
			PROFILE_WAIT_CONDITION },
		{ "start_thread;bioProcessBackgroundJobs;pthread_cond_wait", PROFILE_WAIT_LOCK, PROFILE_WAIT_IDLE },
		{ "start_thread;bioProcessBackgroundJobs;fdatasync", PROFILE_WAIT_IO, PROFILE_WAIT_IO },
		{ "ngx_thread_pool_cycle;ngx_thread_cond_wait;pthread_cond_wait", PROFILE_WAIT_LOCK,
			PROFILE_WAIT_IDLE },
		{ "ngx_thread_pool_cycle;ngx_thread_read_handler;pread64", PROFILE_WAIT_IO, PROFILE_WAIT_IO },
		{ "py::_worker:" FUTURES ";_queue_SimpleQueue_get;PyThread_acquire_lock_timed", PROFILE_WAIT_LOCK,
			PROFILE_WAIT_IDLE },
		{ "py::_worker:" FUTURES ";py::_WorkItem.run:" FUTURES ";py::get:/srv/w.py;recv", PROFILE_WAIT_NETWORK,
			PROFILE_WAIT_NETWORK },
		{ "py::_worker:/srv/mine.py;PyThread_acquire_lock_timed", PROFILE_WAIT_LOCK, PROFILE_WAIT_LOCK },
		{ "py::_worker:" FUTURES ";PyEval_RestoreThread;take_gil;pthread_cond_timedwait", PROFILE_WAIT_LOCK,
			PROFILE_WAIT_LOCK },
		{ POOL ";java.lang.Runnable java.util.concurrent.ThreadPoolExecutor.getTask();" AWAIT,
			PROFILE_WAIT_LOCK, PROFILE_WAIT_IDLE },
		/* getTask() is inlined. */
		{ POOL ";" AWAIT, PROFILE_WAIT_LOCK, PROFILE_WAIT_IDLE },
		/* A pool of XNIO's, and what its tasks wait for. */
		{ XNIO ";void org.jboss.threads.EnhancedQueueExecutor$PoolThreadNode.park(long);" PARK,
			PROFILE_WAIT_CONDITION, PROFILE_WAIT_IDLE },
		{ XNIO ";void org.jboss.threads.EnhancedQueueExecutor$Task.run();void com.shop.Order.run();" PARK,
			PROFILE_WAIT_CONDITION, PROFILE_WAIT_CONDITION },
		{ "rb::block in spawn_thread:" PUMA "thread_pool.rb;pthread_cond_wait", PROFILE_WAIT_CONDITION,
			PROFILE_WAIT_IDLE },
		{ "rb::block in spawn_thread:" PUMA "thread_pool.rb;rb::process_client:" PUMA
		  "server.rb;rb::rbuf_fill:/usr/lib/ruby/3.1.0/net/protocol.rb;ppoll",
			PROFILE_WAIT_IDLE, PROFILE_WAIT_NETWORK },
		/* A gateway of which a recording did not see the sockets: the next request, and the answer of a call
		   out. */
		{ "py::BaseHTTPRequestHandler.handle_one_request:" HTTP
		  "server.py;py::SocketIO.readinto:/socket.py;recv",
			PROFILE_WAIT_NETWORK, PROFILE_WAIT_IDLE },
		{ "py::BaseHTTPRequestHandler.handle_one_request:" HTTP "server.py;py::H.do_GET:gw.py;"
		  "py::HTTPResponse._read_status:" HTTP "client.py;py::SocketIO.readinto:/socket.py;poll",
			PROFILE_WAIT_IDLE, PROFILE_WAIT_NETWORK },
		{ "py::BaseHTTPRequestHandler.handle_one_request:" HTTP "server.py;py::H.do_GET:gw.py;nanosleep",
			PROFILE_WAIT_TIMER, PROFILE_WAIT_TIMER },
		{ POOL ";void com.shop.Order.run();" AWAIT, PROFILE_WAIT_LOCK, PROFILE_WAIT_CONDITION },
		{ POOL ";ObjectSynchronizer::enter(Handle)", PROFILE_WAIT_LOCK, PROFILE_WAIT_LOCK },
		{ "void com.shop.Main.main(java.lang.String[]);"
		  "boolean java.util.concurrent.ThreadPoolExecutor.awaitTermination(long);" AWAIT,
			PROFILE_WAIT_LOCK, PROFILE_WAIT_CONDITION },
		{ "CompileBroker::compiler_thread_loop();CompileQueue::get();Monitor::wait(long)", PROFILE_WAIT_LOCK,
			PROFILE_WAIT_IDLE },
		{ "tokio::runtime::scheduler::multi_thread::worker::Context::park_timeout;"
		  "tokio::runtime::scheduler::multi_thread::park::Parker::park;futex_wait",
			PROFILE_WAIT_LOCK, PROFILE_WAIT_IDLE },
		/* Parker::park() is inlined, and a worker is a task of the threads that may block. */
		{ "tokio::runtime::blocking::pool::Inner::run;tokio::runtime::blocking::pool::Task::run;"
		  "tokio::runtime::scheduler::multi_thread::park::Inner::park_condvar;"
		  "<std::sys::sync::condvar::futex::Condvar>::wait_optional_timeout;syscall",
			PROFILE_WAIT_LOCK, PROFILE_WAIT_IDLE },
		{ "tokio::runtime::blocking::pool::Inner::run;app::lookup;std::sys::net::recv", PROFILE_WAIT_NETWORK,
			PROFILE_WAIT_IDLE },
		{ "tokio::runtime::blocking::pool::Inner::run;tokio::runtime::blocking::pool::Task::run;app::lookup",
			PROFILE_WAIT_NETWORK, PROFILE_WAIT_NETWORK },
		{ "tokio::runtime::park::CachedParkThread::park;futex_wait", PROFILE_WAIT_LOCK,
			PROFILE_WAIT_CONDITION },
		{ "handle_connection;Per_thread_connection_handler::block_until_new_connection", PROFILE_WAIT_LOCK,
			PROFILE_WAIT_IDLE },
		{ "row_upd;lock_wait_suspend_thread;os_event::wait", PROFILE_WAIT_LOCK, PROFILE_WAIT_LOCK },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		enum profile_wait_class found = class_under("", cases[i].functions, "/srv/app", cases[i].before);

		if (found != cases[i].after)
			fail_msg("case %zu: '%s' is %s", i, cases[i].functions, profile_wait_info(found)->name);
	}
	/* The user's rule keeps what the pool would be. */
	assert_int_equal(class_under("keep function *Thread.run*\n", POOL ";" AWAIT, "/srv/app", PROFILE_WAIT_LOCK),
		PROFILE_WAIT_CONDITION);
}

/* ---- Lives ---- */

/* A thread that waits in `functions` for all of a second, beside one that works; what its waits are under the rules. */
static enum profile_wait_class class_by_life(const char *text, const char *functions)
{
	CLEANUP(profile_cleanup) struct profile *profile = new_recording();
	struct profile_mapping mapping = { .kind = PROFILE_MAPPING_FILE };
	struct symbolize_options options = { 0 };
	struct symbolize_rules *rules = NULL;
	int64_t values[PROFILE_MAX_VALUE_TYPES];
	uint32_t id, stack, other;
	struct error err;

	profile->runs[0].duration_ns = WAIT_NS;
	assert_true(profile_add_thread(profile, &(struct profile_thread){ .tid = 1 }, &other, &err));
	assert_true(profile_intern(profile, "/srv/app", &mapping.path, &err));
	assert_true(profile_add_mapping(profile, &mapping, &id, &err));
	assert_true(profile_add_wait_stack(
		profile, add_stack(profile, functions, id), PROFILE_WAIT_CONDITION, &stack, &err));
	profile_wait_fill(profile, PROFILE_WAIT_CONDITION, WAIT_NS, values);
	assert_true(profile_add_sample(profile, stack, other, values, 0, &err));
	assert_true(profile_weigh_event(profile, WAIT_NS, &err));
	assert_true(profile_finish(profile, &err));
	assert_true(symbolize_rules_parse(SYMBOLIZE_RULES_OF_WAITS, text, strlen(text), "rules", &rules, &err));
	options.wait_rules = rules;
	assert_true(symbolize_waits(profile, &(struct profile_symbols){ 0 }, &options, &err));
	assert_true(symbolize_idle_lives(&profile, 1, &options, &err));
	assert_true(profile_validate(profile, &err));
	symbolize_rules_destroy(rules);
	return profile_wait_class_of_stack(profile, profile->samples[0].stack);
}

/* Who has written a rule about a place knows more than a life tells. */
static void lives_come_after_rules(void **state)
{
	static const char keep[] = "keep function Job::*\n";

	assert_int_equal(class_by_life("", "worker;Job::run;wait"), PROFILE_WAIT_IDLE);
	assert_int_equal(class_by_life(keep, "worker;take;wait"), PROFILE_WAIT_IDLE);
	assert_int_equal(class_by_life(keep, "worker;Job::run;wait"), PROFILE_WAIT_CONDITION);
	assert_int_equal(class_by_life("timer function wait\n", "worker;wait"), PROFILE_WAIT_TIMER);
	assert_int_equal(class_by_life("lock function wait\n", "worker;wait"), PROFILE_WAIT_LOCK);
}

static void wrong_rules_name_their_line(void **state)
{
	static const char *const wrong[] = { "# of pools\nwaiting function a", "idle function a\nrun-queue function b",
		"idle function a\nidle file b", "idle function a\nidle path", "idle function a\n run-queue" };

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct symbolize_rules *rules;
		struct error err;

		assert_false(symbolize_rules_parse(
			SYMBOLIZE_RULES_OF_WAITS, wrong[i], strlen(wrong[i]), "rules", &rules, &err));
		assert_int_equal(err.code, ERROR_FORMAT);
		assert_non_null(strstr(err.message, "rules line 2"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_function_nearest_to_the_leaf_decides),
		cmocka_unit_test(threads_of_go_without_a_goroutine_are_idle),
		cmocka_unit_test(functions_tell_what_is_not_known),
		cmocka_unit_test(functions_tell_locks_from_conditions),
		cmocka_unit_test(services_wait_for_work_where_rules_say),
		cmocka_unit_test(lives_come_after_rules),
		cmocka_unit_test(wrong_rules_name_their_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
