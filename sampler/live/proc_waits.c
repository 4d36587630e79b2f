/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/live/proc_waits.h"

#include "sampler/collect/sleeper.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A round may take one part in so many of the time of a CPU. */
enum { SHARE_OF_CPU = 50, MAX_LINE_BYTES = 256, CALL_ARGUMENTS = 6, MAX_TRIES = 3 };
static const uint64_t least_mean_ns = 20000000, most_mean_ns = 60000000000;

/* TASK_* of linux/sched.h, as struct ebpf_wait has them. */
enum { STATE_RUNNABLE = 0, STATE_SLEEPS = 1, STATE_DISK = 2, STATE_STOPPED = 4, STATE_IDLE = 0x402 };

struct proc_waits {
	struct instrument instrument;
	struct error why_no_program;
	uint64_t mean_ns;          /* between two rounds; grows with what a round takes */
	uint64_t last_ns, next_ns; /* by the records' clock */
	uint64_t samples;
	int32_t only_tid; /* 0: all threads */
	struct sleeper sleeper;
};

/* ---- One thread ---- */

static uint32_t proc_waits_read_state(int32_t pid, int32_t tid)
{
	switch (proc_thread_state(pid, tid)) {
	case 'S':
		return STATE_SLEEPS;
	case 'D':
		return STATE_DISK;
	case 'T':
	case 't':
		return STATE_STOPPED;
	case 'I':
		return STATE_IDLE;
	default:
		return STATE_RUNNABLE;
	}
}

/* Parses a line such as "202 0x1 0x2 0x3 0x4 0x5 0x6 SP PC", "-1 SP PC" outside of system calls, or "running". */
static bool parse_call(const char *line, struct sleeper *sleeper)
{
	uint64_t words[CALL_ARGUMENTS + 2] = { 0 };
	char *end;
	long long call = strtoll(line, &end, 10);
	size_t count = 0;

	if (end == line)
		return false;
	while (count < sizeof(words) / sizeof(words[0]) && *end == ' ')
		words[count++] = strtoull(end, &end, 0);
	if (count < 2)
		return false;
	sleeper->wait.system_call = call;
	sleeper->wait.arguments[0] = count > 2 ? words[0] : 0;
	sleeper->wait.arguments[1] = count > 2 ? words[1] : 0;
	sleeper_set_register(sleeper, machine_host()->stack_pointer, words[count - 2]);
	sleeper_set_register(sleeper, machine_host()->program_counter, words[count - 1]);
	return true;
}

/*
 * Finds where a thread sleeps, and copies its stack; false: it runs. One that goes on meanwhile was asleep all the
 * same, so it is read again, and in the end charged without its stack: else short waits would count for less.
 */
static bool find_sleeper(struct sleeper *sleeper, struct collector *collector)
{
	int32_t pid = (int32_t)sleeper->wait.process, tid = (int32_t)sleeper->wait.tid;
	char line[MAX_LINE_BYTES], again[MAX_LINE_BYTES];
	bool is_found = false;

	for (int i = 0; i < MAX_TRIES; i++) {
		uint32_t state = proc_waits_read_state(pid, tid);

		if (state == STATE_RUNNABLE || !proc_read_text(pid, tid, "syscall", line, sizeof(line)) ||
			!parse_call(line, sleeper))
			break;
		sleeper->wait.state = state;
		is_found = true;
		if (sleeper_read(sleeper, collector) && proc_read_text(pid, tid, "syscall", again, sizeof(again)) &&
			strcmp(line, again) == 0)
			return true;
	}
	sleeper->stack_bytes = 0;
	sleeper->frames.count = 0;
	return is_found;
}

static bool sample_thread(struct proc_waits *waits, int32_t pid, int32_t tid, uint64_t clock_ns, struct error *err)
{
	struct collector *collector = waits->instrument.session->collector;
	struct sleeper *sleeper = &waits->sleeper;

	sleeper->wait = (struct ebpf_wait){ .kind = EBPF_WAIT_OPEN,
		.process = (uint32_t)pid,
		.tid = (uint32_t)tid,
		.blocked_weight_ns = clock_ns - waits->last_ns };
	if (!find_sleeper(sleeper, collector))
		return true;
	waits->samples++;
	return sleeper_take(sleeper, collector, clock_ns, err);
}

/* ---- All threads ---- */

static bool sample_process(struct proc_waits *waits, int32_t pid, uint64_t clock_ns, struct error *err)
{
	CLEANUP(cleanup_free) int32_t *tids = NULL;
	struct error ignored;
	size_t count = 0;

	/* It may have ended. */
	if (!proc_read_tasks(pid, &tids, &count, &ignored))
		return true;
	for (size_t i = 0; i < count; i++)
		if ((waits->only_tid == 0 || tids[i] == waits->only_tid) &&
			!sample_thread(waits, pid, tids[i], clock_ns, err))
			return false;
	return true;
}

/*
 * Plans the next look at random, so that programs with a rhythm of their own are not met at the same point of it again
 * and again.
 */
static void plan_next(struct proc_waits *waits, uint64_t clock_ns, uint64_t took_ns)
{
	uint64_t mean_ns = took_ns * SHARE_OF_CPU;

	if (mean_ns > waits->mean_ns)
		waits->mean_ns = mean_ns < most_mean_ns ? mean_ns : most_mean_ns;
	waits->next_ns = clock_ns + waits->mean_ns / 2 + hash_mix(clock_ns, 0x9e3779b97f4a7c15) % waits->mean_ns;
}

static bool sample_threads(struct proc_waits *waits, uint64_t clock_ns, struct error *err)
{
	const struct process_table *table = collector_processes(waits->instrument.session->collector);
	int64_t before_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);

	if (clock_ns <= waits->last_ns)
		return true;
	/* The table grows when a process is met that it does not know yet, which takes its turn in the next round. */
	for (size_t i = 0, count = table->count; i < count; i++)
		if (table->processes[i].is_alive && !sample_process(waits, table->processes[i].pid, clock_ns, err))
			return false;
	waits->last_ns = clock_ns;
	plan_next(waits, clock_ns, (uint64_t)(clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - before_ns));
	return true;
}

/* ---- The instrument ---- */

static bool proc_waits_poll(struct instrument *instrument, uint64_t clock_ns, struct error *err)
{
	struct proc_waits *waits = (struct proc_waits *)instrument;

	return clock_ns < waits->next_ns || sample_threads(waits, clock_ns, err);
}

static bool proc_waits_enable(struct instrument *instrument, bool enabled, uint64_t clock_ns, struct error *err)
{
	struct proc_waits *waits = (struct proc_waits *)instrument;

	if (!enabled)
		return sample_threads(waits, clock_ns, err);
	waits->last_ns = clock_ns;
	waits->next_ns = clock_ns + waits->mean_ns;
	return true;
}

static int proc_waits_due_ms(const struct instrument *instrument, uint64_t clock_ns)
{
	const struct proc_waits *waits = (const struct proc_waits *)instrument;
	uint64_t left_ns = waits->next_ns > clock_ns ? waits->next_ns - clock_ns : 0;

	return (int)(left_ns / 1000000) + 1;
}

static bool proc_waits_describe(struct instrument *instrument, struct error *err)
{
	static const double small_share = 0.01;
	const struct proc_waits *waits = (const struct proc_waits *)instrument;
	struct buffer *notices = instrument->session->notices;

	(void)err;
	collector_profile(instrument->session->collector)->facts.wait_interval_us = (uint32_t)(waits->mean_ns / 1000);
	buffer_printf(notices,
		"waits are sampled by looking at each thread every %.0f ms or so: the kernel's part of stacks, time in the run queue and who let "
		"threads go on are missing",
		(double)waits->mean_ns / 1e6);
	if (waits->samples > 0)
		buffer_printf(notices, ", and short waits that make up 1 %% of the time are uncertain by %.0f %%",
			100 / sqrt((double)waits->samples * small_share));
	buffer_printf(notices, "; the kernel cannot do it here: %s\n", waits->why_no_program.message);
	return true;
}

static void proc_waits_close(struct instrument *instrument)
{
	sleeper_deinit(&((struct proc_waits *)instrument)->sleeper);
}

/* Some process of the target; 0: none is known yet. */
static int32_t first_process(const struct instrument_session *session)
{
	const struct sampler_target *target = &session->options->target;

	if (target->kind == SAMPLER_TARGET_COMMAND)
		return session->child;
	if (target->pid_count == 0)
		return 0;
	return target->kind == SAMPLER_TARGET_TID ? proc_leader_of(target->pids[0]) : target->pids[0];
}

static bool check_permission(int32_t pid, int32_t only_tid, struct error *err)
{
	char line[MAX_LINE_BYTES];

	if (!machine_host() || pid <= 0)
		return error_set(err, ERROR_UNSUPPORTED,
			"without the kernel's help only the threads of a command, and of processes that are named, are looked at");
	errno = 0;
	return proc_read_text(pid, only_tid ? only_tid : pid, "syscall", line, sizeof(line)) ||
	       error_set(err, ERROR_PERMISSION, "/proc/%d/syscall cannot be read: %s", (int)pid,
		       errno ? strerror(errno) : "it is empty");
}

static bool proc_waits_open(struct instrument *instrument, struct error *err)
{
	struct proc_waits *waits = (struct proc_waits *)instrument;
	struct instrument_session *session = instrument->session;
	const struct sampler_options *options = session->options;

	waits->why_no_program = session->missing;
	waits->mean_ns = options->off_cpu_ns > least_mean_ns ? options->off_cpu_ns : least_mean_ns;
	waits->only_tid = options->target.kind == SAMPLER_TARGET_TID ? options->target.pids[0] : 0;
	if (!check_permission(first_process(session), waits->only_tid, err) ||
		!sleeper_init(&waits->sleeper, options->stack_bytes, err))
		return false;
	waits->sleeper.has_two_registers = true;
	session->samples_waits = true;
	return true;
}

const struct instrument_functions proc_waits_functions = {
	.state_bytes = sizeof(struct proc_waits),
	.open = proc_waits_open,
	.enable = proc_waits_enable,
	.due_ms = proc_waits_due_ms,
	.poll = proc_waits_poll,
	.describe = proc_waits_describe,
	.close = proc_waits_close,
};
