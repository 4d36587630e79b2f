/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tool's entry from valgrind's core: options, threads, system calls, client requests, start and end. */
#include "sampler/simulate/tool_cache.h"
#include "sampler/simulate/tool_translate.h"

#include <callgrind.h>
#include <pub_tool_libcbase.h>
#include <pub_tool_libcfile.h>
#include <pub_tool_libcprint.h>
#include <pub_tool_libcproc.h>
#include <pub_tool_machine.h>
#include <pub_tool_mallocfree.h>
#include <pub_tool_options.h>
#include <pub_tool_stacktrace.h>
#include <pub_tool_threadstate.h>
#include <pub_tool_transtab.h>
#include <pub_tool_vki.h>
#include <pub_tool_vkiscnums.h>

static struct tool_thread **threads; /* by the core's number; NULL: it has not run yet */
static bool was_switched;            /* the program has said when it is to be measured */

/* --- threads --- */

static struct tool_thread *thread_new(void)
{
	struct tool_thread *thread = tool_permanent(sizeof(*thread));

	thread->tid = VG_(gettid)();
	thread->root = tool_root();
	thread->record = thread->resting = tool_resting(thread->root);
	thread->next = tool_threads;
	return tool_threads = thread;
}

static void thread_runs(ThreadId id, ULong blocks)
{
	(void)blocks;
	if (!threads[id])
		threads[id] = thread_new();
	tool_running = threads[id];
	/* The core calls this at the latest after 100,000 blocks. */
	if (tool_is_full())
		tool_write_counts();
}

static void thread_ends(ThreadId id)
{
	struct tool_thread *thread = threads[id];

	if (!thread)
		return;
	tool_settle(thread);
	tool_thread_name(thread);
	VG_(free)(thread->frames);
	VG_(free)(thread->signals);
	thread->frames = NULL;
	thread->signals = NULL;
	thread->depth = thread->capacity = thread->signal_count = thread->signal_capacity = 0;
	threads[id] = NULL;
}

static void threads_settle(void)
{
	for (unsigned id = 0; id < VG_N_THREADS; id++) {
		if (threads[id])
			tool_settle(threads[id]);
	}
}

/* The other threads are the parent's. */
static void process_forked(ThreadId id)
{
	for (unsigned i = 0; i < VG_N_THREADS; i++) {
		if (i != id)
			threads[i] = NULL;
	}
	tool_threads = threads[id];
	if (tool_threads) {
		tool_threads->next = NULL;
		tool_threads->tid = VG_(gettid)();
		tool_threads->caller = NULL;
	}
	tool_write_forked();
}

/* --- signals --- */

static void signal_begins(ThreadId id, Int number, Bool is_alternate)
{
	struct tool_thread *thread = threads[id];
	uint64_t start = 0, end = 0, address = VG_(get_IP)(id);

	if (!thread)
		return;
	if (number == VKI_SIGSEGV || number == VKI_SIGBUS || number == VKI_SIGFPE || number == VKI_SIGILL ||
		number == VKI_SIGTRAP)
		tool_settle_fault(thread, address);
	else
		tool_settle(thread);
	if (is_alternate) {
		start = VG_(thread_get_altstack_min)(id);
		end = start + VG_(thread_get_altstack_size)(id);
	}
	tool_signal_begins(thread, VG_(get_SP)(id), address, start, end);
}

static void signal_ends(ThreadId id, Int number)
{
	(void)number;
	if (threads[id]) {
		tool_settle(threads[id]);
		tool_signal_ends(threads[id]);
	}
}

/* --- system calls --- */

static uint64_t cpu_ns(void)
{
	struct vki_timespec time;

	VG_(clock_gettime)(&time, 3 /* CLOCK_THREAD_CPUTIME_ID, which the core has no name for */);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* Most that fail do because there is no such program: a shell looks for it in one folder after the other. */
static bool exec_may_succeed(UInt number, const UWord *arguments)
{
	struct vg_stat stat;

	if (number == __NR_execveat)
		return true;
	return !sr_isError(VG_(stat)((const HChar *)arguments[0], &stat)) && VKI_S_ISREG(stat.mode) &&
	       (stat.mode & 0111) != 0;
}

/*
 * The core does these calls itself, and reads debug information of files that it maps: what they take is not the
 * program's.
 */
static bool call_is_timed(UInt number, const UWord *arguments)
{
	if (number == __NR_mmap)
		return (arguments[3] & VKI_MAP_ANONYMOUS) != 0;
	return number != __NR_mprotect;
}

static void call_begins(ThreadId id, UInt number, UWord *arguments, UInt count)
{
	struct tool_thread *thread = threads[id];

	(void)count;
	if (!thread)
		return;
	if (thread->record != thread->resting)
		thread->caller = thread->record;
	tool_settle(thread);
	if (thread->caller && tool_instruments) {
		tool_add(thread->caller, SIMULATE_SYSTEM_CALLS, thread->caller->block->instruction_count - 1u, 1);
		thread->call_began_ns = cpu_ns();
	}
	if ((number == __NR_execve || number == __NR_execveat) && exec_may_succeed(number, arguments)) {
		threads_settle();
		tool_write_end();
	}
}

static void call_ends(ThreadId id, UInt number, UWord *arguments, UInt count, SysRes result)
{
	struct tool_thread *thread = threads[id];

	(void)count;
	tool_file_opened(number, arguments, result);
	if (!thread)
		return;
	if ((number == __NR_execve || number == __NR_execveat) && sr_isError(result) &&
		exec_may_succeed(number, arguments))
		tool_write_continue();
	else if (thread->caller && tool_instruments && call_is_timed(number, arguments))
		tool_add(thread->caller, SIMULATE_SYSTEM_NS, thread->caller->block->instruction_count - 1u,
			cpu_ns() - thread->call_began_ns);
}

/* --- client requests --- */

static void discard_translations(void)
{
	VG_(discard_translations_safely)(0x1000, ~(SizeT)0xfff, "kelvin");
}

/* Adopts a stack: where measuring begins, the thread has been called from somewhere. */
static void stack_adopt(ThreadId id)
{
	enum { DEPTH = 500 };
	UWord addresses[DEPTH], sps[DEPTH];
	UInt count = VG_(get_StackTrace)(id, addresses, DEPTH, sps, NULL, 0);

	for (UInt i = count; i-- > 1;)
		tool_adopt_call(threads[id], addresses[i], sps[i] - sizeof(UWord));
}

static void measuring_starts(ThreadId id)
{
	threads_settle();
	if (tool_instruments) {
		/* Counts from before the first such request are dropped. */
		if (!was_switched)
			tool_write_zero();
		was_switched = true;
		return;
	}
	was_switched = true;
	for (unsigned i = 0; i < VG_N_THREADS; i++) {
		if (threads[i])
			tool_reset_thread(threads[i]);
	}
	stack_adopt(id);
	tool_cache_flush();
	tool_instruments = true;
	discard_translations();
}

static void measuring_stops(void)
{
	was_switched = true;
	if (!tool_instruments)
		return;
	threads_settle();
	for (unsigned i = 0; i < VG_N_THREADS; i++) {
		if (threads[i])
			tool_reset_thread(threads[i]);
	}
	tool_instruments = false;
	discard_translations();
}

static Bool request(ThreadId id, UWord *arguments, UWord *result)
{
	if (!VG_IS_TOOL_USERREQ('C', 'T', arguments[0]))
		return False;
	*result = 0;
	switch (arguments[0]) {
	case VG_USERREQ__DUMP_STATS:
	case VG_USERREQ__DUMP_STATS_AT:
		threads_settle();
		tool_write_dump(SIMULATE_TRIGGER_REQUEST,
			arguments[0] == VG_USERREQ__DUMP_STATS_AT ? (const char *)arguments[1] : NULL);
		break;
	case VG_USERREQ__ZERO_STATS:
		threads_settle();
		tool_write_zero();
		break;
	case VG_USERREQ__TOGGLE_COLLECT:
		threads_settle();
		tool_collects = !tool_collects;
		break;
	case VG_USERREQ__START_INSTRUMENTATION:
		measuring_starts(id);
		break;
	case VG_USERREQ__STOP_INSTRUMENTATION:
		measuring_stops();
		break;
	default:
		return False;
	}
	return True;
}

/* --- options --- */

static bool is_power_of_2(uint64_t number)
{
	return number > 0 && (number & (number - 1)) == 0;
}

/* BYTES,WAYS,LINE */
static void option_cache(const HChar *option, const HChar *text, struct simulate_cache *cache)
{
	HChar *end;
	Long bytes = VG_(strtoll10)(text, &end), ways = 0, line = 0;

	if (*end == ',')
		ways = VG_(strtoll10)(end + 1, &end);
	if (*end == ',')
		line = VG_(strtoll10)(end + 1, &end);
	if (*end || bytes < 64 || bytes > 1 << 30 || ways < 1 || ways > 1024 || line < 32 || line > 256 ||
		!is_power_of_2((uint64_t)line) || bytes % (line * ways) ||
		!is_power_of_2((uint64_t)(bytes / (line * ways))))
		VG_(fmsg_bad_option)
	(option, "BYTES,WAYS,LINE: LINE is 32 to 256, and BYTES / WAYS / LINE a power of 2\n");
	*cache = (struct simulate_cache){ (uint32_t)bytes, (uint32_t)ways, (uint32_t)line, 0 };
}

static Bool options_of_caches(const HChar *argument)
{
	const HChar *text;

	if VG_STR_CLO (argument, "--I1", text)
		option_cache(argument, text, &tool_options.first_instructions);
	else if VG_STR_CLO (argument, "--D1", text)
		option_cache(argument, text, &tool_options.first_data);
	else if VG_STR_CLO (argument, "--LL", text)
		option_cache(argument, text, &tool_options.last);
	else
		return False;
	return True;
}

static Bool option(const HChar *argument)
{
	Long nodes, megabytes;

	if VG_STR_CLO (argument, "--out-dir", tool_options.directory)
		return True;
	if VG_BINT_CLO (argument, "--max-nodes", nodes, 1, TOOL_NODES_MAX) {
		tool_options.max_nodes = (uint64_t)nodes;
		return True;
	}
	if VG_BINT_CLO (argument, "--max-counts", megabytes, 1, 1 << 14) {
		tool_options.max_counts = (uint64_t)megabytes << 20;
		return True;
	}
	return options_of_caches(argument) ||
	       VG_BOOL_CLO(argument, "--instr-atstart", tool_options.instruments_at_start) ||
	       VG_BOOL_CLO(argument, "--fold-recursion", tool_options.folds_recursion);
}

static void tool_main_usage(void)
{
	VG_(printf)
	("    --out-dir=DIR                    where the files PID.GENERATION are written; must exist\n"
	 "    --I1=BYTES,WAYS,LINE             first-level cache of instructions [32768,8,64]\n"
	 "    --D1=BYTES,WAYS,LINE             first-level cache of data [32768,8,64]\n"
	 "    --LL=BYTES,WAYS,LINE             last-level cache [8388608,16,64]\n"
	 "    --max-nodes=N                    contexts of calls; further calls count to their caller [33554432]\n"
	 "    --max-counts=MB                  memory of counts, which are written out when they fill it [16]\n"
	 "    --instr-atstart=no|yes           count from the start, else when the program asks for it [yes]\n"
	 "    --fold-recursion=no|yes          a call from a place that called one of its callers is of that one's context [no]\n");
}

static void debug_usage(void)
{
	VG_(printf)("    (none)\n");
}

/* --- the core's calls --- */

static void options_done(void)
{
	if (!tool_options.directory)
		VG_(fmsg_bad_option)("--out-dir", "is missing\n");
	/* The program may change its working directory. */
	if (tool_options.directory[0] != '/' && VG_(get_startup_wd)()) {
		uint64_t bytes = VG_(strlen)(VG_(get_startup_wd)()) + VG_(strlen)(tool_options.directory) + 2;
		HChar *path = tool_permanent(bytes);

		VG_(snprintf)(path, (Int)bytes, "%s/%s", VG_(get_startup_wd)(), tool_options.directory);
		tool_options.directory = path;
	}
	/* Blocks follow their code, and each conditional branch ends one. */
	VG_(clo_vex_control).guest_chase = False;
	VG_(clo_vex_control).iropt_unroll_thresh = 0;
	threads = tool_permanent(VG_N_THREADS * sizeof(struct tool_thread *));
	tool_instruments = tool_options.instruments_at_start;
	tool_tree_init();
	tool_cache_init();
}

static void tool_main_finish(Int status)
{
	(void)status;
	threads_settle();
	tool_write_end();
}

static void register_tool(void)
{
	VG_(details_name)("kelvin");
	VG_(details_version)(NULL);
	VG_(details_description)("exact counts for kelvin simulate");
	VG_(details_copyright_author)("GNU GPL'd, by the authors of Kelvin.");
	VG_(details_bug_reports_to)("the authors of Kelvin");
	VG_(details_avg_translation_sizeB)(300);
	VG_(basic_tool_funcs)(options_done, tool_translate, tool_main_finish);
	VG_(needs_command_line_options)(option, tool_main_usage, debug_usage);
	VG_(needs_client_requests)(request);
	VG_(needs_syscall_wrapper)(call_begins, call_ends);
	VG_(track_start_client_code)(thread_runs);
	VG_(track_pre_thread_ll_exit)(thread_ends);
	VG_(track_pre_deliver_signal)(signal_begins);
	VG_(track_post_deliver_signal)(signal_ends);
	VG_(atfork)(NULL, NULL, process_forked);
}

VG_DETERMINE_INTERFACE_VERSION(register_tool)
