/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/wait_rules.h"

const char wait_rules_shipped[] =
	/* Go, runtime/proc.go: a thread without a goroutine (there is one for each CPU most of the time); one that
	   looks for what the scheduler missed; one that makes threads when it is asked to. runtime/sigqueue.go:
	   signals. */
	"idle function runtime.stopm\n"
	"idle function runtime.sysmon\n"
	"idle function runtime.templateThread\n"
	"idle function os/signal.signal_recv\n"

	/* PostgreSQL, storage/lmgr: a lock of the database, which is waited for in an event loop; a spin lock, between
	   attempts; other processes of a query. replication/syncrep.c: another server. */
	"lock function ProcSleep\n"
	"lock function ProcWaitForSignal\n"
	"lock function perform_spin_delay\n"
	"condition function ConditionVariable*Sleep\n"
	"condition function shm_mq_*\n"
	"condition function WaitForParallelWorkers*\n"
	"network function SyncRepWaitForLSN\n"

	/* redis, src/bio.c: threads for slow calls, which are made below it. */
	"keep function f*sync\n"
	"idle function bioProcessBackgroundJobs\n"

	/* nginx, src/os/unix/ngx_thread_cond.c: only the threads of its pool call it, for a task. */
	"idle function ngx_thread_cond_wait\n"

	/* memcached, assoc.c, slabs.c, crawler.c, items.c, logger.c: what is moved, looked through and written now and
	   then. */
	"idle function assoc_maintenance_thread\n"
	"idle function slab_rebalance_thread\n"
	"idle function item_crawler_thread\n"
	"idle function lru_maintainer_thread\n"
	"idle function logger_thread\n"

	/* CPython, Python/ceval_gil.h: the lock of the interpreter. concurrent/futures/thread.py: workers of a pool,
	   such as gunicorn's gthread and asyncio's executor. gunicorn, arbiter.py: the parent of workers. */
	"lock function take_gil\n"
	"keep function py::_WorkItem.run:*concurrent/futures/thread.py\n"
	"idle function py::_worker:*concurrent/futures/thread.py\n"
	"idle function py::Arbiter.wait_for_signals:*gunicorn/arbiter.py\n"

	/* Clients and servers of HTTP in standard libraries, where the recording could not see which end a socket is:
	   CPython's http/client.py reads answers alone, http/server.py requests, and calls what handles them do_GET
	   and the like. net/protocol.rb of Ruby has the socket of a client. sun.net.www.http of the JDK. */
	"network function py::HTTPResponse.*:*http/client.py\n"
	"keep function py::*.do_*\n"
	"idle function py::BaseHTTPRequestHandler.handle_one_request:*http/server.py\n"
	"network function rb::rbuf_fill:*net/protocol.rb\n"
	"network function *sun.net.www.http.HttpClient.parseHTTP*\n"

	/* Ruby. puma, thread_pool.rb: workers that take a client, and two threads that look after them at intervals;
	   what an application does is below process_client of server.rb. sidekiq, processor.rb: the next job. */
	"keep function rb::process_client:*puma/server.rb\n"
	"idle function rb::block in spawn_thread:*puma/thread_pool.rb\n"
	"idle function rb::block in start!:*puma/thread_pool.rb\n"
	"keep function rb::process:*sidekiq/processor.rb\n"
	"idle function rb::get_one:*sidekiq/processor.rb\n"

	/* The JDK, java.util.concurrent: workers of pools, by the functions in which they take tasks. java.lang.ref:
	   references that the garbage collector has found. */
	"idle function *java.util.concurrent.ThreadPoolExecutor.getTask*\n"
	"idle function *java.util.concurrent.ForkJoinPool.awaitWork*\n"
	"idle function *java.util.concurrent.ScheduledThreadPoolExecutor$DelayedWorkQueue.take*\n"
	"idle function *java.lang.ref.Reference.waitForReferencePendingList*\n"
	"idle function *java.lang.ref.ReferenceQueue.remove*\n"

	/* Pools of Java that are not the JDK's: JBoss Threads (XNIO, Undertow, WildFly), Jetty, Netty, Akka's own. */
	"idle function *org.jboss.threads.EnhancedQueueExecutor$PoolThreadNode.park*\n"
	"idle function *org.eclipse.jetty.util.thread.QueuedThreadPool.idleJobPoll*\n"
	"idle function *org.eclipse.jetty.util.thread.QueuedThreadPool$Runner.idleJobPoll*\n"
	"idle function *io.netty.util.concurrent.SingleThreadEventExecutor.takeTask*\n"
	"idle function *io.netty.util.HashedWheelTimer$Worker.waitForNextTick*\n"

	/* HotSpot, src/hotspot/share: operations of the VM, methods to compile, what is done at intervals; tasks,
	   buffers and cycles of garbage collectors. */
	"idle function VMThread::wait_for_vm_op*\n"
	"idle function VMThread::wait_for_operation*\n"
	"idle function CompileQueue::get*\n"
	"idle function WatcherThread::sleep*\n"
	"idle function ServiceThread::service_thread_entry*\n"
	"idle function MonitorDeflationThread::monitor_deflation_thread_entry*\n"
	"idle function AttachListener::dequeue*\n"
	"idle function os::signal_wait*\n"
	"idle function NotificationThread::notification_thread_entry*\n"
	"idle function NMethodSweeper::sweeper_loop*\n"
	"keep function GangWorker::run_task*\n"
	"idle function GangWorker::loop*\n"
	"idle function G1ConcurrentRefineThread::run_service*\n"
	"idle function SemaphoreGangTaskDispatcher::worker_wait_for_task*\n"
	"idle function G1ServiceThread::wait_for_task*\n"
	"idle function G1*ConcurrentRefineThread::wait_for_completed_buffers*\n"
	"idle function G1ConcurrentMarkThread::wait_for_next_cycle*\n"

	/* tokio, runtime/scheduler/multi_thread/park.rs, runtime/blocking/pool.rs. rayon-core, sleep/mod.rs. */
	"idle function *tokio::runtime::scheduler::*park::*::park*\n"
	"keep function tokio::runtime::blocking::pool::Task::run\n"
	"idle function tokio::runtime::blocking::pool::Inner::run\n"
	"idle function rayon_core::sleep::Sleep::sleep\n"

	/* node, src/node_platform.cc: tasks of V8. */
	"idle function node::TaskQueue<*>::BlockingPop*\n"

	/* MySQL, sql/conn_handler: the next connection. storage/innobase/lock: a lock of a row. sql/mdl.cc: one of a
	   table. */
	"idle function Per_thread_connection_handler::block_until_new_connection\n"
	"lock function lock_wait_suspend_thread\n"
	"lock function MDL_wait::timed_wait\n";
