/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/live/state.h"

#include "sampler/interpret/interpret.h"
#include "sampler/live/adapt.h"
#include "sampler/live/facts.h"
#include "sampler/live/task_layout.h"

#include <stdlib.h>
#include <string.h>

/* Opens a recording: the options, the events, and all that reads what they count. */

enum { MAX_NOTICE_BYTES = 1 << 16, MAX_PIDS = 4096 };

static bool check_options(struct sampler_options *options, struct error *err)
{
	if (options->frequency_hz == 0)
		options->frequency_hz = SAMPLER_DEFAULT_FREQUENCY_HZ;
	if (options->stack_bytes == 0)
		options->stack_bytes = SAMPLER_DEFAULT_STACK_BYTES;
	if (options->stack_bytes > RECORDING_MAX_STACK_BYTES || options->stack_bytes % 8 != 0)
		return error_set(err, ERROR_USAGE, "cannot copy %u bytes of stack: a multiple of 8, at most %d",
			options->stack_bytes, RECORDING_MAX_STACK_BYTES);
	if (options->target.pid_count > MAX_PIDS)
		return error_set(err, ERROR_LIMIT, "more than %d pids", MAX_PIDS);
	return true;
}

/*
 * Lowers the rate. The kernel lowers its own limit when samples take long, and pauses events near it; a lower rate is
 * better than pauses.
 */
static void apply_rate_limit(struct sampler *sampler)
{
	int most_hz = proc_read_number("/proc/sys/kernel/perf_event_max_sample_rate");
	uint32_t wanted_hz = sampler->options.frequency_hz;

	if (most_hz <= 0 || wanted_hz <= (uint32_t)most_hz)
		return;
	sampler->options.frequency_hz = most_hz > 1 ? (uint32_t)most_hz / 2 : 1;
	buffer_printf(&sampler->notices,
		"%u samples per second instead of %u: kernel.perf_event_max_sample_rate is %d; run "
		"'sudo sysctl kernel.perf_event_max_sample_rate=100000' for more\n",
		(unsigned int)sampler->options.frequency_hz, (unsigned int)wanted_hz, most_hz);
}

/* Reads the processes that run already; those of a command or of the whole system are added when they run. */
static bool read_processes(struct sampler *sampler, struct error *err)
{
	const struct sampler_target *target = &sampler->options.target;

	for (size_t i = 0; i < target->pid_count; i++) {
		int32_t pid = target->kind == SAMPLER_TARGET_TID ? proc_leader_of(target->pids[i]) : target->pids[i];
		struct process *process;

		if (pid > 0 && !process_table_get(collector_processes(sampler->collector), pid, &process, err))
			return false;
	}
	return true;
}

bool sampler_counts_time(const struct sampler *sampler)
{
	return sampler->events.is_time || profile_event_is_time(sampler->events.event_name);
}

/* Stacks of 30 frames at 1 kHz fill 300 kB in a second; those of deep recursion fill as much as copies of stacks. */
static size_t frame_bytes_for(uint32_t cpu_count)
{
	size_t bytes = 1 << 22;

	while (bytes > 1 << 17 && bytes * cpu_count > 1 << 24)
		bytes /= 2;
	return bytes;
}

/*
 * Loads the program that reads frames before a command starts which may soon have some: it would miss the first ones.
 */
static void expect_interpreter(const struct sampler *sampler)
{
	const struct sampler_target *target = &sampler->options.target;
	CLEANUP(elf_image_cleanup) struct elf_image *program = NULL;
	char path[PATH_MAX];
	struct error ignored;

	if (!sampler->frame_reader || target->kind != SAMPLER_TARGET_COMMAND)
		return;
	if (file_find_program(target->command[0], path) && !elf_image_open_path(path, &program, &ignored))
		program = NULL;
	if (interpreters_may_be_in(program))
		ebpf_frame_reader_load(sampler->frame_reader);
}

static bool check_event(const struct sampler *sampler, struct error *err)
{
	if (sampler->options.elapsed && sampler->options.target.kind == SAMPLER_TARGET_SYSTEM)
		return error_set(err, ERROR_USAGE,
			"--elapsed says who held up a command or processes, and -a has all of them: name them with -p");
	return sampler->options.off_cpu_ns == 0 || sampler_counts_time(sampler) ||
	       error_set(err, ERROR_USAGE,
		       "waits are sampled beside CPU time, and %s is none: leave out one of -e and --off-cpu",
		       sampler->events.event_name);
}

/*
 * A program is attached to all sampling events when they are opened, as threads inherit it with them; the one that
 * reads frames of interpreters follows it once there is an interpreter. Where it is not permitted,
 * interpreters_describe() says so if it is missed.
 */
static void open_frame_reader(struct sampler *sampler)
{
	struct ebpf_frame_reader_options options = { .cpu_count = sampler->events.cpu_count };
	struct error ignored;

	if (sampler->options.native_only || sampler->options.call_graph != SAMPLER_CALL_GRAPH_DWARF)
		return;
	options.processes = filter_prepare(&sampler->filter);
	options.bytes_per_cpu = frame_bytes_for(options.cpu_count);
	sampler->filter.reads_frames = options.processes && task_layout_read(&options.layout, &ignored) &&
				       ebpf_frame_reader_create(&options, &sampler->frame_reader, &ignored);
}

/* The command was forked before: it keeps its user's limit, and its events may be opened by who has no privileges. */
static void hide_memory(struct sampler *sampler)
{
	if (rights_undumpable() != 0)
		buffer_append_string(&sampler->notices,
			"a crash of the recorder may leave a core file with copies of stacks: the kernel did not take its core limit\n");
}

static bool live_open_all(struct sampler *sampler, struct error *err)
{
	const struct sampler_options *options = &sampler->options;
	struct counters_options counting;
	struct collector_options collecting;

	if (options->target.kind == SAMPLER_TARGET_COMMAND && !command_fork(&sampler->command, &options->target, err))
		return false;
	hide_memory(sampler);
	priority_raise(&sampler->priority, !options->without_real_time);
	if (!event_set_init(&sampler->events, options, sampler->adaptation.extras, &sampler->notices, err) ||
		!check_event(sampler, err))
		return false;
	open_frame_reader(sampler);
	expect_interpreter(sampler);
	sampler->instruments.session = (struct instrument_session){
		.options = options,
		.clock = &sampler->clock,
		.child = sampler->command.pid,
		.frame_reader = sampler->frame_reader,
		.reader = sampler->reader,
		.notices = &sampler->notices,
	};
	if (!instruments_open(&sampler->instruments, err))
		return false;
	sampler->adaptation.extras.with_switches = options->elapsed && !sampler->instruments.session.tells_switches;
	sampler->events.sideband_attr.context_switch = sampler->adaptation.extras.with_switches;
	if (!target_open(&options->target, sampler->command.pid, sampler_preference(sampler), &sampler->events,
		    &sampler->filter, err))
		return false;
	counting = (struct counters_options){
		.columns = sampler->events.group.columns,
		.takes_turns = sampler->events.group.takes_turns,
		.parts_unit = sampler->events.group.parts_unit,
	};
	collecting = (struct collector_options){
		.counters = options->counters ? &counting : NULL,
		.host = process_host_live(sampler->reader),
		.names_interpreters = !options->native_only,
		.frame_reader = sampler->frame_reader,
		.machine = machine_host(),
		.event = sampler->events.event_name,
		.is_time = sampler->events.is_time,
		.counts_time = sampler_counts_time(sampler),
		.has_waits = sampler->instruments.session.samples_waits,
		.has_elapsed = options->elapsed && sampler->instruments.session.samples_waits,
		.has_stack = options->call_graph == SAMPLER_CALL_GRAPH_DWARF,
		.frequency_hz = options->frequency_hz,
		.start_ns = run_clock_now(&sampler->clock),
		.notices = &sampler->notices,
		.verify_every = options->verify_every,
	};
	if (sampler->events.user_only)
		buffer_append_string(&sampler->notices,
			"kernel code is not sampled, which needs perf_event_paranoid 1 or lower: run 'sudo sysctl "
			"kernel.perf_event_paranoid=1', or run kelvin with sudo\n");
	if (!collector_create(&collecting, &sampler->collector, err))
		return false;
	collector_profile(sampler->collector)->facts.user_only = sampler->events.user_only;
	collector_profile(sampler->collector)->facts.precise_ip = sampler->events.sample_attr.precise_ip;
	sampler->instruments.session.collector = sampler->collector;
	sampler->remaps = (struct remaps){
		.table = collector_processes(sampler->collector),
		.reader = sampler->reader,
		.doubt = collector_doubt,
		.context = sampler->collector,
		.clock_offset_ns = sampler->clock.offset_ns,
	};
	return sampler_prepare_reading(sampler, err) &&
	       facts_fill(collector_profile(sampler->collector), options, sampler->events.event_name, err) &&
	       read_processes(sampler, err) &&
	       instruments_poll(&sampler->instruments, run_clock_now(&sampler->clock), err);
}

/*
 * Checks /proc. Without it (in a bare chroot) every process would seem to have ended; one of another namespace would
 * show other processes under our ids.
 */
static bool check_proc(struct error *err)
{
	if (access("/proc/self/maps", F_OK) != 0)
		return error_set(err, ERROR_UNSUPPORTED,
			"cannot record: /proc is not there; 'mount -t proc proc /proc' makes it");
	return proc_is_of_our_namespace() ||
	       error_set(err, ERROR_UNSUPPORTED,
		       "cannot record: /proc shows the processes of another pid namespace under other ids; 'mount -t proc proc /proc' in "
		       "this one, or enter its mount namespace too");
}

bool sampler_create(const struct sampler_options *options, struct sampler **sampler, struct error *err)
{
	struct sampler *made = calloc(1, sizeof(*made));

	if (!made)
		return error_set_memory(err);
	made->options = *options;
	sampler_adapt_init(made);
	made->clock.offset_ns = proc_clock_offset_ns();
	made->before.own_cpu_ns = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
	buffer_init(&made->notices, MAX_NOTICE_BYTES);
	filter_init(&made->filter);
	part_init(&made->part);
	if (!check_options(&made->options, err) || !check_proc(err))
		goto fail;
	apply_rate_limit(made);
	made->pids = calloc(options->target.pid_count + 1, sizeof(*made->pids));
	made->ended_ns = calloc(options->target.pid_count + 1, sizeof(*made->ended_ns));
	if (!made->pids || !made->ended_ns) {
		error_set_memory(err);
		goto fail;
	}
	if (options->target.pid_count)
		memcpy(made->pids, options->target.pids, options->target.pid_count * sizeof(*made->pids));
	made->options.target.pids = made->pids;
	if (!process_reader_create(&made->reader, err) ||
		!target_check(&made->options.target, made->pids, made->reader, &made->notices, err) ||
		!live_open_all(made, err) ||
		(options->part_path && !part_create(&made->part, options->part_path, &made->notices, err)))
		goto fail;
	*sampler = made;
	return true;
fail:
	sampler_destroy(made);
	return false;
}
