/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/live/waiting.h"

#include "sampler/collect/sleeper.h"
#include "sampler/collect/wait_class.h"
#include "sampler/live/event_open.h"
#include "sampler/live/members.h"
#include "sampler/live/pace.h"
#include "sampler/live/proc_waits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

/* Rings hold samples of 16 kB of stack. */
enum {
	VISITED_AT_ONCE = 32,
	MOST_PAGES = 1024,
	LEAST_PAGES = 32,
	MOST_PAGES_TOGETHER = 8192,
	MOST_CALLS = 512,
	KNOWN_PEERS = 1024
};
/* Less is not worth a line. */
enum { REPORTED_NS = 50000000 };
static const uint64_t second_ns = 1000000000;

struct waiting_cpu {
	struct ring ring; /* of `first` */
	int first;        /* owned; -1: the CPU is offline */
	int output;       /* owned, or `first`: the event that samples go through */
	int switches;     /* owned; -1: not needed */
};

/* The party at the other end of what a thread polls, in the wait of that number. */
struct known_peer {
	uint32_t tid;
	uint64_t waits;
	enum ebpf_wait_peer peer;
};

struct waiting {
	struct instrument instrument;  /* with a ring for each CPU */
	struct ebpf_waiting *programs; /* owned */
	struct ebpf_visit *visit;      /* owned: of threads that are asleep; NULL: none goes on */
	struct members members;
	struct waiting_cpu *cpus; /* owned */
	uint32_t cpu_count, stack_bytes;
	struct perf_event_attr attr;
	struct record_layout layout;
	struct pace pace;
	uint64_t visited_ns;                /* when the last visit began, by the records' clock */
	struct ebpf_waiting_counts counted; /* when it was visited */
	struct sleeper sleeper;
	struct known_peer peers[KNOWN_PEERS]; /* threads share places */
	/* CLOCK_MONOTONIC when the first one was looked for, and how long all have taken. */
	int64_t peers_began_ns, peers_took_ns;
	uint64_t peers_passed; /* waits of which none was looked for, as it takes too long */
};

/* ---- Events and rings ---- */

static void fill_attr(struct waiting *waiting, const struct sampler_options *options)
{
	waiting->attr = (struct perf_event_attr){
		.size = sizeof(waiting->attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_BPF_OUTPUT,
		.sample_period = 1,
		.sample_type =
			PERF_SAMPLE_RAW | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_CALLCHAIN,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
	};
	if (options->call_graph != SAMPLER_CALL_GRAPH_DWARF)
		return;
	waiting->attr.sample_type |= RECORD_STACK_TYPE;
	waiting->attr.sample_regs_user = machine_host()->perf_registers;
	waiting->attr.sample_stack_user = options->stack_bytes;
	waiting->attr.exclude_callchain_user = 1;
}

static bool live_waiting_open_ring(struct waiting *waiting, uint32_t cpu, size_t pages, struct error *err)
{
	struct waiting_cpu *at = &waiting->cpus[cpu];

	waiting->attr.wakeup_watermark = (uint32_t)(pages * (size_t)sysconf(_SC_PAGESIZE) / 2);
	at->first = at->output = event_open(&waiting->attr, -1, (int)cpu, 0);
	/* A CPU that is present but offline has nothing to sample. */
	if (at->first < 0 && errno == ENODEV)
		return true;
	if (at->first < 0 && (errno == EACCES || errno == EPERM))
		return error_set(err, ERROR_PERMISSION,
			"that needs CAP_BPF and CAP_PERFMON: run kelvin with sudo, or give it the capabilities that 'kelvin doctor' names");
	if (at->first < 0)
		return error_set_errno(err, errno, "perf_event_open");
	return ring_init(&at->ring, at->first, pages, err);
}

static bool open_rings(struct waiting *waiting, struct error *err)
{
	size_t pages = MOST_PAGES;

	waiting->cpu_count = event_cpu_count();
	waiting->cpus = calloc(waiting->cpu_count, sizeof(*waiting->cpus));
	if (!waiting->cpus)
		return error_set_memory(err);
	for (uint32_t cpu = 0; cpu < waiting->cpu_count; cpu++)
		waiting->cpus[cpu] = (struct waiting_cpu){ .first = -1, .output = -1, .switches = -1 };
	while (pages > LEAST_PAGES && pages * waiting->cpu_count > MOST_PAGES_TOGETHER)
		pages /= 2;
	for (uint32_t cpu = 0; cpu < waiting->cpu_count; cpu++)
		if (!live_waiting_open_ring(waiting, cpu, pages, err))
			return false;
	waiting->layout = record_layout_of(&waiting->attr);
	return true;
}

/* Opens events of switches: while one is open, the kernel calls the function that the programs hook. */
static void open_switches(struct waiting *waiting)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.context_switch = 1,
	};

	for (uint32_t cpu = 0; cpu < waiting->cpu_count; cpu++)
		if (waiting->cpus[cpu].first >= 0)
			waiting->cpus[cpu].switches = event_open(&attr, -1, (int)cpu, 0);
}

/*
 * Samples are to have a longer copy of the stack from now on: they go through other events, into the same rings. Where
 * that fails, those of before stay.
 */
static void deepen(struct waiting *waiting, uint32_t stack_bytes)
{
	waiting->stack_bytes = stack_bytes;
	if (!(waiting->attr.sample_type & PERF_SAMPLE_STACK_USER))
		return;
	waiting->attr.sample_stack_user = stack_bytes;
	for (uint32_t cpu = 0; cpu < waiting->cpu_count; cpu++) {
		struct waiting_cpu *at = &waiting->cpus[cpu];
		int event = at->first >= 0 ? event_open(&waiting->attr, -1, (int)cpu, 0) : -1;

		if (event < 0)
			continue;
		if (ioctl(event, PERF_EVENT_IOC_SET_OUTPUT, at->first) != 0 ||
			!ebpf_waiting_set_output(waiting->programs, cpu, event)) {
			close(event);
			continue;
		}
		if (at->output != at->first)
			close(at->output);
		at->output = event;
	}
}

/* ---- The programs ---- */

static struct ebpf_registers registers_of(const struct machine *machine)
{
	enum { WORD = sizeof(uint64_t) };

	return (struct ebpf_registers){ .bytes = machine->kernel_register_count * (uint32_t)WORD,
		.call = machine->kernel_call * (uint32_t)WORD,
		.arguments = { machine->kernel_arguments[0] * (uint32_t)WORD,
			machine->kernel_arguments[1] * (uint32_t)WORD } };
}

static bool live_waiting_create_programs(struct waiting *waiting, struct error *err)
{
	uint8_t descriptors_of_call[MOST_CALLS];
	CLEANUP(cleanup_free) int *outputs = calloc(waiting->cpu_count, sizeof(*outputs));
	const struct instrument_session *session = waiting->instrument.session;
	const struct sampler_target *target = &session->options->target;
	struct ebpf_waiting_options loading = {
		.processes = waiting->members.set,
		.frame_reader = session->frame_reader,
		.only_tid = target->kind == SAMPLER_TARGET_TID ? target->pids[0] : 0,
		.interval_ns = waiting->pace.interval_ns,
		.samples_per_second = PACE_BUDGET,
		.output = outputs,
		.cpu_count = waiting->cpu_count,
		.registers = registers_of(machine_host()),
		.descriptors_of_call = descriptors_of_call,
		.call_count = MOST_CALLS,
		.has_switches = session->options->elapsed,
	};

	if (!outputs)
		return error_set_memory(err);
	for (uint32_t cpu = 0; cpu < waiting->cpu_count; cpu++)
		outputs[cpu] = waiting->cpus[cpu].output;
	for (int64_t call = 0; call < MOST_CALLS; call++)
		descriptors_of_call[call] = (uint8_t)wait_descriptors_of(machine_host(), call);
	return ebpf_waiting_create(&loading, &waiting->programs, err);
}

/* Fits the walk to the hook: with the last hook the kernel's part of the stack is its way back to user code. */
static void fit_to_hook(struct waiting *waiting)
{
	if (ebpf_waiting_hook(waiting->programs) == EBPF_WAITING_FENTRY)
		open_switches(waiting);
	if (ebpf_waiting_hook(waiting->programs) != EBPF_WAITING_RSEQ_UPDATE)
		return;
	waiting->attr.exclude_callchain_kernel = 1;
	deepen(waiting, waiting->stack_bytes);
}

/* ---- Threads that are asleep ---- */

/*
 * Returns whether there is time to look for another peer. Before Linux 6.1 that passes over all threads of the machine,
 * and takes a twentieth of a CPU's time at most.
 */
static bool may_look_for_peer(struct waiting *waiting, int64_t now_ns)
{
	enum { TIME_SHARE = 20, TIME_AT_ONCE_NS = 20000000 };

	if (waiting->peers_began_ns == 0)
		waiting->peers_began_ns = now_ns;
	if (waiting->peers_took_ns <= TIME_AT_ONCE_NS + (now_ns - waiting->peers_began_ns) / TIME_SHARE)
		return true;
	waiting->peers_passed++;
	return false;
}

/* A thread that polls all the time is asleep at the same place, visit after visit. */
static void find_peer(struct waiting *waiting, struct ebpf_sleeper *found)
{
	struct collector *collector = waiting->instrument.session->collector;
	struct known_peer *known = &waiting->peers[found->wait.tid % KNOWN_PEERS];
	struct ebpf_polled polled[EBPF_MOST_POLLED];
	int64_t began_ns;
	size_t count;

	if (known->tid != found->wait.tid || known->waits != found->waits) {
		count = sleeper_read_polled(&found->wait, collector, polled);
		began_ns = clock_read_ns(CLOCK_MONOTONIC);
		if (count == 0 || !may_look_for_peer(waiting, began_ns))
			return;
		*known = (struct known_peer){ found->wait.tid, found->waits,
			ebpf_waiting_find_peer(waiting->programs, found->wait.tid, polled, count) };
		waiting->peers_took_ns += clock_read_ns(CLOCK_MONOTONIC) - began_ns;
	}
	found->wait.peer = known->peer;
}

/* Makes a sample of a thread that is asleep, unless it has gone on meanwhile. */
static bool take_sleeper(struct waiting *waiting, struct ebpf_sleeper *found, struct error *err)
{
	struct collector *collector = waiting->instrument.session->collector;
	const struct machine *machine = machine_host();
	struct sleeper *sleeper = &waiting->sleeper;

	for (size_t i = 0; i < machine->perf_register_count; i++)
		sleeper->registers[i] = found->registers[machine->kernel_order[i]];
	find_peer(waiting, found);
	sleeper->wait = found->wait;
	sleeper->stack_room = waiting->stack_bytes;
	(void)sleeper_read(sleeper, collector);
	if (!ebpf_waiting_charge(waiting->programs, found))
		return true;
	sleeper->wait = found->wait;
	return sleeper_take(sleeper, collector, waiting->visited_ns, err);
}

/*
 * Goes on with the visit, for so many of the threads: the first time that a process is met, its maps and images are
 * read, and the rings of the others fill meanwhile.
 */
static bool go_on_visiting(struct waiting *waiting, size_t most, struct error *err)
{
	struct ebpf_sleeper *sleeper;

	for (size_t i = 0; waiting->visit && i < most; i++) {
		if (!ebpf_visit_next(waiting->visit, &sleeper, err))
			return false;
		if (sleeper && !take_sleeper(waiting, sleeper, err))
			return false;
		if (!sleeper) {
			ebpf_visit_end(waiting->visit);
			waiting->visit = NULL;
		}
	}
	return true;
}

/* Visits all threads, and ends a visit that goes on before. */
static bool visit_all(struct waiting *waiting, uint64_t clock_ns, struct error *err)
{
	if (!go_on_visiting(waiting, SIZE_MAX, err))
		return false;
	waiting->visited_ns = clock_ns;
	return ebpf_visit_begin(waiting->programs, &waiting->visit, err) && go_on_visiting(waiting, SIZE_MAX, err);
}

/* ---- Switches ---- */

static bool read_switches(struct waiting *waiting, struct error *err)
{
	enum { TOGETHER = 1024 };
	struct collector *collector = waiting->instrument.session->collector;
	struct ebpf_switch switches[TOGETHER];
	size_t count;

	while ((count = ebpf_waiting_take_switches(waiting->programs, switches, TOGETHER)) > 0)
		for (size_t i = 0; i < count; i++)
			if (!collector_add_switch(
				    collector, switches[i].time_ns, switches[i].tid, switches[i].is_on, err))
				return false;
	return true;
}

/* ---- While it runs ---- */

static bool waiting_add_rings(
	struct instrument *instrument, struct order *order, struct sampler_watch *watch, struct error *err)
{
	struct waiting *waiting = (struct waiting *)instrument;

	for (uint32_t cpu = 0; cpu < waiting->cpu_count; cpu++) {
		struct waiting_cpu *at = &waiting->cpus[cpu];

		if (!at->ring.pages)
			continue;
		/* What finds no room in a ring is not lost: it is charged later. */
		if (!order_add(order, &at->ring, &waiting->layout, ORDER_DEFERRABLE, err) ||
			!watch_add(watch, at->first, err))
			return false;
	}
	return true;
}

/* Waits that last at the end are charged up to then. */
static bool waiting_enable(struct instrument *instrument, bool enabled, uint64_t clock_ns, struct error *err)
{
	struct waiting *waiting = (struct waiting *)instrument;

	if (!enabled) {
		if (!visit_all(waiting, clock_ns, err))
			return false;
		ebpf_waiting_enable(waiting->programs, 0);
		return true;
	}
	waiting->visited_ns = clock_ns;
	if (!ebpf_waiting_meet(waiting->programs, err))
		return false;
	ebpf_waiting_enable(waiting->programs, clock_ns);
	return true;
}

static void keep_budget(struct waiting *waiting, uint64_t elapsed_ns)
{
	struct ebpf_waiting_counts counts = ebpf_waiting_counts(waiting->programs);
	const struct pace_counts since = { .elapsed_ns = elapsed_ns,
		.samples = counts.samples - waiting->counted.samples,
		.deferred = counts.deferred - waiting->counted.deferred,
		.threads = counts.threads };

	if (pace_fit(&waiting->pace, &since))
		ebpf_waiting_set_interval(waiting->programs, waiting->pace.interval_ns);
	waiting->counted = counts;
}

/*
 * Once a second it charges threads that are asleep, some of them at each call, keeps to the budget, and follows the
 * options.
 */
static bool waiting_poll(struct instrument *instrument, uint64_t clock_ns, struct error *err)
{
	struct waiting *waiting = (struct waiting *)instrument;
	const struct sampler_options *options = instrument->session->options;

	if (options->elapsed && !read_switches(waiting, err))
		return false;
	if (waiting->visit)
		return go_on_visiting(waiting, VISITED_AT_ONCE, err);
	if (clock_ns - waiting->visited_ns < second_ns)
		return true;
	keep_budget(waiting, clock_ns - waiting->visited_ns);
	waiting->visited_ns = clock_ns;
	if (options->stack_bytes != waiting->stack_bytes)
		deepen(waiting, options->stack_bytes);
	return members_update(&waiting->members, &options->target, err) &&
	       ebpf_visit_begin(waiting->programs, &waiting->visit, err) &&
	       go_on_visiting(waiting, VISITED_AT_ONCE, err);
}

static int waiting_due_ms(const struct instrument *instrument, uint64_t clock_ns)
{
	enum { LONGEST_MS = 1000, LONGEST_WITH_SWITCHES_MS = 100 };
	const struct waiting *waiting = (const struct waiting *)instrument;

	(void)clock_ns;
	if (waiting->visit)
		return 0;
	return instrument->session->options->elapsed ? LONGEST_WITH_SWITCHES_MS : LONGEST_MS;
}

/* ---- The end ---- */

static bool waiting_describe(struct instrument *instrument, struct error *err)
{
	const struct waiting *waiting = (const struct waiting *)instrument;
	const struct instrument_session *session = instrument->session;
	struct ebpf_waiting_counts counts = ebpf_waiting_counts(waiting->programs);

	if (session->options->elapsed && !read_switches((struct waiting *)instrument, err))
		return false;
	collector_miss_switches(session->collector, counts.switches_lost);
	collector_profile(session->collector)->facts.wait_interval_us = (uint32_t)(waiting->pace.longest_ns / 1000);
	if (waiting->pace.longest_ns > session->options->off_cpu_ns)
		buffer_printf(session->notices,
			"a sample of a wait stands for %s%.0f ms instead of %.0f ms, because there are so many threads and waits\n",
			waiting->pace.interval_ns < waiting->pace.longest_ns ? "up to " : "",
			(double)waiting->pace.longest_ns / 1e6, (double)session->options->off_cpu_ns / 1e6);
	if (waiting->peers_passed > 0)
		buffer_printf(session->notices,
			"%llu samples of threads asleep in poll() or select() count as idle, because to find whom they wait for takes too long; Linux 6.1 "
			"and later is faster\n",
			(unsigned long long)waiting->peers_passed);
	if (counts.lost_ns >= REPORTED_NS)
		buffer_printf(session->notices,
			"%.1f s of waiting are missing, because threads ended before there was room for their samples: --off-cpu with more "
			"milliseconds, or fewer processes with -p, needs less\n",
			(double)counts.lost_ns / 1e9);
	if (counts.threads_unknown > 0)
		buffer_append_string(session->notices,
			"the waits of some threads were not counted: there is room for 65,536, of which one user alone has half; name fewer processes with -p\n");
	return true;
}

static void waiting_close(struct instrument *instrument)
{
	struct waiting *waiting = (struct waiting *)instrument;

	ebpf_visit_end(waiting->visit);
	ebpf_waiting_destroy(waiting->programs);
	members_deinit(&waiting->members);
	for (uint32_t cpu = 0; waiting->cpus && cpu < waiting->cpu_count; cpu++) {
		struct waiting_cpu *at = &waiting->cpus[cpu];

		ring_deinit(&at->ring);
		if (at->output != at->first)
			close(at->output);
		if (at->first >= 0)
			close(at->first);
		if (at->switches >= 0)
			close(at->switches);
	}
	free(waiting->cpus);
	sleeper_deinit(&waiting->sleeper);
}

/* ---- Opening ---- */

static bool waiting_is_wanted(const struct sampler_options *options)
{
	return options->off_cpu_ns > 0;
}

static bool waiting_open(struct instrument *instrument, struct error *err)
{
	struct waiting *waiting = (struct waiting *)instrument;
	const struct sampler_options *options = instrument->session->options;

	if (!machine_host())
		return error_set(err, ERROR_UNSUPPORTED, "the registers of this processor are not known");
	waiting->stack_bytes = options->stack_bytes;
	fill_attr(waiting, options);
	if (!sleeper_init(&waiting->sleeper, RECORDING_MAX_STACK_BYTES, err) || !open_rings(waiting, err) ||
		!members_init(&waiting->members, &options->target, instrument->session->child, err))
		return false;
	waiting->pace = pace_init(options->off_cpu_ns, waiting->members.threads);
	if (!live_waiting_create_programs(waiting, err))
		return false;
	fit_to_hook(waiting);
	instrument->session->samples_waits = true;
	instrument->session->tells_switches = options->elapsed;
	return true;
}

const struct instrument_functions waiting_functions = {
	.state_bytes = sizeof(struct waiting),
	.instead = &proc_waits_functions,
	.absence = "waits are not sampled",
	.is_wanted = waiting_is_wanted,
	.open = waiting_open,
	.add_rings = waiting_add_rings,
	.enable = waiting_enable,
	.due_ms = waiting_due_ms,
	.poll = waiting_poll,
	.describe = waiting_describe,
	.close = waiting_close,
};

const char *waiting_probe(struct error *err)
{
	static const char *const names[] = {
		[EBPF_WAITING_FENTRY] = "fentry",
		[EBPF_WAITING_KPROBE] = "kprobe",
		[EBPF_WAITING_RSEQ_UPDATE] = "rseq",
	};
	const pid_t own = getpid();
	const struct sampler_options options = {
		.target = { .kind = SAMPLER_TARGET_PIDS, .pids = &own, .pid_count = 1 },
		.stack_bytes = SAMPLER_DEFAULT_STACK_BYTES,
		.off_cpu_ns = second_ns,
	};
	struct instrument_session session = { .options = &options };
	struct waiting waiting = { .instrument = { .functions = &waiting_functions, .session = &session } };
	const char *name = NULL;

	if (waiting_open(&waiting.instrument, err))
		name = names[ebpf_waiting_hook(waiting.programs)];
	waiting_close(&waiting.instrument);
	return name;
}
