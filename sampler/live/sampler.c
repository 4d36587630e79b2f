/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/sampler.h"

#include "recording/process/proc.h"
#include "recording/process/reader.h"
#include "sampler/live/adapt.h"
#include "sampler/live/facts.h"
#include "sampler/live/target.h"
#include "sampler/live/task_layout.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

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
static void heed_rate_limit(struct sampler *sampler)
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

/* Whether each thread has events of its own. */
static bool counts_threads(const struct sampler *sampler)
{
	return !sampler->events.counts_cpus && !sampler->filter.is_active;
}

bool sampler_prepare_reading(struct sampler *sampler, struct error *err)
{
	struct event_set *events = &sampler->events;
	const struct sampler_target *target = &sampler->options.target;
	bool is_command = target->kind == SAMPLER_TARGET_COMMAND;

	if (sampler->collector)
		collector_set_counts_threads(sampler->collector, counts_threads(sampler));
	sampler->reading.sample_layout = record_layout_of(&events->sample_attr);
	sampler->reading.sideband_layout = record_layout_of(&events->sideband_attr);
	if (!order_init(&sampler->reading.order,
		    2 * (size_t)events->cpu_count + instruments_ring_count(&sampler->instruments), err))
		return false;
	/* The sideband comes first: at equal times a mapping precedes the sample in it. */
	for (uint32_t cpu = 0; cpu < events->cpu_count; cpu++)
		if (events->sideband_rings[cpu].pages)
			order_add(&sampler->reading.order, &events->sideband_rings[cpu],
				&sampler->reading.sideband_layout, ORDER_SIDEBAND);
	for (uint32_t cpu = 0; cpu < events->cpu_count; cpu++)
		if (events->sample_rings[cpu].pages)
			order_add(&sampler->reading.order, &events->sample_rings[cpu], &sampler->reading.sample_layout,
				ORDER_SAMPLES);
	return watch_init(&sampler->reading.watch, events, is_command ? &sampler->command.pid : target->pids,
		       is_command ? 1 : target->pid_count, err) &&
	       instruments_add_rings(&sampler->instruments, &sampler->reading.order, &sampler->reading.watch, err);
}

bool sampler_counts_time(const struct sampler *sampler)
{
	return sampler->events.is_time || profile_event_is_time(sampler->events.event_name);
}

/* Chains of 30 frames at 1 kHz fill 300 kB in a second; those of deep recursion fill as much as copies of stacks. */
static size_t chain_bytes_for(uint32_t cpu_count)
{
	size_t bytes = 1 << 22;

	while (bytes > 1 << 17 && bytes * cpu_count > 1 << 24)
		bytes /= 2;
	return bytes;
}

static bool check_event(const struct sampler *sampler, struct error *err)
{
	return sampler->options.off_cpu_ns == 0 || sampler_counts_time(sampler) ||
	       error_set(err, ERROR_USAGE,
		       "waits are sampled beside CPU time, and %s is none: leave out one of -e and --off-cpu",
		       sampler->events.event_name);
}

/*
 * The program that reads frames of CPython is attached to all sampling events when they are opened: threads inherit it
 * with them. Where it is not permitted, interpreters_tell() says so if it is missed.
 */
static void open_chains(struct sampler *sampler)
{
	struct ebpf_chains_options options = { .cpu_count = sampler->events.cpu_count };
	struct error ignored;

	if (sampler->options.native_only || sampler->options.call_graph != SAMPLER_CALL_GRAPH_DWARF)
		return;
	options.processes = filter_prepare(&sampler->filter);
	options.bytes_per_cpu = chain_bytes_for(options.cpu_count);
	if (options.processes && task_layout_read(&options.layout, &ignored) &&
		ebpf_chains_create(&options, &sampler->chains, &ignored))
		sampler->filter.chains = sampler->chains;
}

/* The command was forked before: it keeps its user's limit, and its events may be opened by who has no privileges. */
static void hide_memory(struct sampler *sampler)
{
	if (rights_undumpable() != 0)
		buffer_append_string(&sampler->notices,
			"a crash of the recorder may leave a core file with copies of stacks: the kernel did not take its core limit\n");
}

static bool open_all(struct sampler *sampler, struct error *err)
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
	open_chains(sampler);
	if (!target_open(&options->target, sampler->command.pid, sampler_preference(sampler), &sampler->events,
		    &sampler->filter, err))
		return false;
	sampler->instruments.session = (struct instrument_session){
		.options = options,
		.clock = &sampler->clock,
		.child = sampler->command.pid,
		.chains = sampler->chains,
		.reader = sampler->reader,
		.notices = &sampler->notices,
	};
	if (!instruments_open(&sampler->instruments, err) || !sampler_prepare_reading(sampler, err))
		return false;
	counting = (struct counters_options){
		.columns = sampler->events.group.columns,
		.are_of_threads = counts_threads(sampler),
		.takes_turns = sampler->events.group.takes_turns,
		.parts_unit = sampler->events.group.parts_unit,
	};
	collecting = (struct collector_options){
		.counters = options->counters ? &counting : NULL,
		.host = process_host_live(sampler->reader),
		.names_interpreters = !options->native_only,
		.chains = sampler->chains,
		.machine = machine_host(),
		.event = sampler->events.event_name,
		.is_time = sampler->events.is_time,
		.counts_time = sampler_counts_time(sampler),
		.has_waits = instruments_sample_waits(&sampler->instruments),
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
	sampler->instruments.session.collector = sampler->collector;
	return facts_fill(collector_profile(sampler->collector), options, sampler->events.event_name, err) &&
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
	heed_rate_limit(made);
	made->pids = calloc(options->target.pid_count + 1, sizeof(*made->pids));
	if (!made->pids) {
		error_set_memory(err);
		goto fail;
	}
	if (options->target.pid_count)
		memcpy(made->pids, options->target.pids, options->target.pid_count * sizeof(*made->pids));
	made->options.target.pids = made->pids;
	if (!process_reader_create(&made->reader, err) ||
		!target_check(&made->options.target, made->pids, made->reader, &made->notices, err) ||
		!open_all(made, err) ||
		(options->part_path && !part_create(&made->part, options->part_path, &made->notices, err)))
		goto fail;
	*sampler = made;
	return true;
fail:
	sampler_destroy(made);
	return false;
}

void sampler_destroy(struct sampler *sampler)
{
	if (!sampler)
		return;
	priority_restore(&sampler->priority);
	watch_deinit(&sampler->reading.watch);
	order_deinit(&sampler->reading.order);
	instruments_close(&sampler->instruments);
	event_set_deinit(&sampler->events);
	filter_deinit(&sampler->filter);
	part_deinit(&sampler->part);
	collector_destroy(sampler->collector);
	ebpf_chains_destroy(sampler->chains);
	process_reader_destroy(sampler->reader);
	command_deinit(&sampler->command);
	buffer_deinit(&sampler->notices);
	free(sampler->pids);
	free(sampler);
}

static void read_surroundings(const struct sampler *sampler, struct surroundings *surroundings)
{
	const struct profile *profile = collector_profile(sampler->collector);

	surroundings_read("/proc", "/sys/fs/cgroup", profile_string(profile, profile->facts.cgroup), surroundings);
}

bool sampler_start(struct sampler *sampler, struct error *err)
{
	const struct sampler_options *options = &sampler->options;

	sampler->before.target_cpu_ns = target_cpu_ns(&options->target);
	read_surroundings(sampler, &sampler->before.surroundings);
	sampler->clock.start_ns = sampler->clock.off_since_ns = run_clock_now(&sampler->clock);
	collector_set_start(sampler->collector, sampler->clock.start_ns);
	sampler->clock.is_on = !options->start_disabled;
	if (sampler->clock.is_on && !instruments_enable(&sampler->instruments, true, sampler->clock.start_ns, err))
		return false;
	if (options->target.kind == SAMPLER_TARGET_COMMAND &&
		!command_start(&sampler->command, options->target.command[0], err))
		return false;
	/* The kernel enables the events of a command's threads at its exec. */
	if (options->start_disabled || (options->target.kind == SAMPLER_TARGET_COMMAND && !sampler->filter.is_active))
		return true;
	return event_set_enable(&sampler->events, true, err);
}

/*
 * Stops the recording's clock while sampling is off, so that rates and blocks of time only count time when it was on.
 */
static bool leave_out_pause(struct sampler *sampler, struct error *err)
{
	uint64_t pause_ns = run_clock_now(&sampler->clock) - sampler->clock.off_since_ns;

	if (!sampler_drain(sampler, sampler->clock.off_since_ns, err))
		return false;
	sampler->clock.off_ns += pause_ns;
	collector_set_start(sampler->collector, sampler->clock.start_ns + sampler->clock.off_ns);
	return true;
}

bool sampler_set_enabled(struct sampler *sampler, bool enabled, struct error *err)
{
	if (sampler->clock.is_on == enabled)
		return true;
	if ((enabled && !leave_out_pause(sampler, err)) || !event_set_enable(&sampler->events, enabled, err) ||
		!instruments_enable(&sampler->instruments, enabled, run_clock_now(&sampler->clock), err))
		return false;
	sampler->clock.is_on = enabled;
	sampler->clock.off_since_ns = run_clock_now(&sampler->clock);
	return true;
}

/* Of a sample that is not the target's, only what its CPU has counted until then is taken. */
static bool pass_over(struct sampler *sampler, const struct order_source *source, struct error *err)
{
	struct error ignored;
	struct record record;

	return !record_parse(source->layout, source->bytes, source->size, &record, &ignored) ||
	       collector_leave_out(sampler->collector, &record, err);
}

static bool take_record(struct sampler *sampler, const struct order_source *source, struct error *err)
{
	struct error ignored;
	struct record record;
	bool wanted;

	if (!filter_wants(&sampler->filter, source->layout, source->bytes, source->size))
		return !sampler->options.counters || pass_over(sampler, source, err);
	if (!record_parse(source->layout, source->bytes, source->size, &record, &ignored)) {
		collector_profile(sampler->collector)->quality.lost++;
		return true;
	}
	if (!filter_take(&sampler->filter, &record, &wanted, err))
		return false;
	if (record.kind == RECORD_LOST && source->content == ORDER_DEFERRABLE)
		return true;
	return !wanted || collector_take(sampler->collector, &record, source->content == ORDER_SIDEBAND, err);
}

const char *sampler_event(const struct sampler *sampler)
{
	return sampler->events.event_name;
}

bool sampler_drain(struct sampler *sampler, uint64_t limit_ns, struct error *err)
{
	struct order_source *source;

	order_refresh(&sampler->reading.order);
	collector_processes(sampler->collector)->losses += order_is_full(&sampler->reading.order, ORDER_SIDEBAND);
	while (order_next(&sampler->reading.order, limit_ns, &source)) {
		if (!take_record(sampler, source, err))
			return false;
		order_advance(&sampler->reading.order, source);
		if (collector_held_count(sampler->collector) == 0)
			order_release(&sampler->reading.order);
	}
	if (!collector_flush(sampler->collector, err))
		return false;
	order_release(&sampler->reading.order);
	if (sampler->chains)
		ebpf_chains_release(sampler->chains);
	return true;
}

bool sampler_target_is_gone(struct sampler *sampler)
{
	if (sampler->options.target.kind == SAMPLER_TARGET_COMMAND)
		return command_has_ended(&sampler->command);
	return watch_all_ended(&sampler->reading.watch, collector_processes(sampler->collector));
}

void sampler_end_early(struct sampler *sampler, const struct error *why)
{
	if (sampler->ended_early.code == ERROR_NONE)
		sampler->ended_early = *why;
}

/* Beside programs that make work for the recorder, it is one program among others. */
static void limit_priority(struct sampler *sampler)
{
	if (priority_is_spent(
		    &sampler->priority, clock_read_ns(CLOCK_MONOTONIC), clock_read_ns(CLOCK_PROCESS_CPUTIME_ID)))
		buffer_append_string(&sampler->notices,
			"the recorder gave its high priority back, because it took more than half of a CPU for seconds: on a busy machine "
			"samples may be lost; a lower -F, or fewer processes with -p, needs less\n");
}

bool sampler_poll(
	struct sampler *sampler, int timeout_ms, int wake_fd, struct sampler_progress *progress, struct error *err)
{
	const struct profile *profile = collector_profile(sampler->collector);
	const struct profile_quality *quality = &profile->quality;
	struct error why;
	uint64_t clock;

	timeout_ms = sampler_adapt_timeout(sampler, run_clock_now(&sampler->clock), timeout_ms);
	timeout_ms = instruments_timeout(&sampler->instruments, run_clock_now(&sampler->clock), timeout_ms);
	if (!watch_wait(&sampler->reading.watch, timeout_ms, wake_fd, err))
		return false;
	/* Every CPU has written records of this age, so no older record can arrive later and break the order. */
	clock = run_clock_now(&sampler->clock);
	if (!sampler_drain(sampler, clock - ORDER_HORIZON_NS, err) ||
		(order_is_crowded(&sampler->reading.order) &&
			!sampler_drain(sampler, clock - ORDER_CROWDED_HORIZON_NS, err)) ||
		!sampler_adapt(sampler, clock, err) || !instruments_poll(&sampler->instruments, clock, err))
		return false;
	limit_priority(sampler);
	/* If that fails, the recording ends while its data can be kept. */
	if (!part_write_in_time(&sampler->part, profile, clock, run_clock_elapsed_ns(&sampler->clock, clock), &why))
		sampler_end_early(sampler, &why);
	*progress = (struct sampler_progress){
		.state = sampler_target_is_gone(sampler) ? SAMPLER_TARGET_GONE
			 : sampler->part.is_full         ? SAMPLER_DISK_FULL
							 : SAMPLER_RUNNING,
		.samples = quality->samples,
		.lost = quality->lost,
		.throttled = quality->throttled,
		.elapsed_ns = (int64_t)(clock - sampler->clock.start_ns),
		.processes = (uint32_t)collector_processes(sampler->collector)->count,
		.threads = (uint32_t)collector_processes(sampler->collector)->thread_count,
	};
	return true;
}

static void close_run(struct sampler *sampler)
{
	struct profile_run *run = &collector_profile(sampler->collector)->runs[collector_run(sampler->collector)];
	struct surroundings after;

	read_surroundings(sampler, &after);
	surroundings_describe(&sampler->before.surroundings, &after, &collector_profile(sampler->collector)->facts);
	run->duration_ns = run_clock_elapsed_ns(&sampler->clock, sampler->clock.stop_ns);
	if (!sampler->command.reaped)
		return;
	run->whole_command = sampler->clock.is_on && sampler->clock.off_ns == 0;
	run->exit_status = WIFEXITED(sampler->command.status) ? WEXITSTATUS(sampler->command.status)
							      : 128 + WTERMSIG(sampler->command.status);
	run->wall_ns = (int64_t)(sampler->clock.stop_ns - sampler->clock.start_ns);
	run->cpu_ns = command_cpu_ns(&sampler->command);
	run->peak_memory_bytes = sampler->command.usage.ru_maxrss * 1024;
}

static void count_losses(struct sampler *sampler)
{
	uint64_t lost = sampler->reading.lost_before + event_set_lost(&sampler->events);
	struct profile_quality *quality = &collector_profile(sampler->collector)->quality;

	/* The ring's own records report losses only when it has room again. */
	if (lost > quality->lost)
		quality->lost = lost;
	quality->lost += sampler->reading.broken_before + sampler->reading.order.broken;
}

/*
 * Releases rings, caches and tables of the recording before names are resolved and the file is written, to save memory.
 */
static void release_reading(struct sampler *sampler)
{
	watch_deinit(&sampler->reading.watch);
	order_deinit(&sampler->reading.order);
	instruments_close(&sampler->instruments);
	event_set_deinit(&sampler->events);
	collector_destroy(TAKE(sampler->collector));
	ebpf_chains_destroy(TAKE(sampler->chains));
	process_reader_destroy(sampler->reader);
	sampler->reader = NULL;
}

/* Hands over the notices since the last call. */
static void hand_notices_over(struct sampler *sampler, struct buffer *notices)
{
	if (notices && sampler->notices.size)
		buffer_append(notices, sampler->notices.data, sampler->notices.size);
	sampler->notices.size = 0;
}

/*
 * Reads what is left in the rings. Where reading has failed before, the state of the record that failed is not known,
 * and nothing more is read; a disk that is full does not concern the rings.
 */
static void stop_sampling(struct sampler *sampler)
{
	bool has_failed = sampler->ended_early.code != ERROR_NONE && !sampler->part.is_full;
	struct error why;

	if (!event_set_enable(&sampler->events, false, &why))
		sampler_end_early(sampler, &why);
	sampler->clock.stop_ns = run_clock_now(&sampler->clock);
	if (!has_failed && sampler->clock.is_on &&
		!instruments_enable(&sampler->instruments, false, sampler->clock.stop_ns, &why))
		sampler_end_early(sampler, &why);
	if (!has_failed && !sampler_drain(sampler, UINT64_MAX, &why))
		sampler_end_early(sampler, &why);
	if (!instruments_describe(&sampler->instruments, &why))
		sampler_end_early(sampler, &why);
}

/* What the user should know of the whole recording. */
static void tell_limits(struct sampler *sampler)
{
	collector_describe_limits(sampler->collector);
	if (sampler->filter.was_late)
		buffer_append_string(&sampler->notices,
			"up to 0.4 s are missing of each process that the target started; 'sudo mount -t tracefs tracefs /sys/kernel/tracing' "
			"prevents that\n");
	if (sampler->options.counters && sampler->filter.is_active)
		buffer_append_string(&sampler->notices,
			"counters are read of whole CPUs: what another program counts before a switch to the target is charged to the target's "
			"next sample\n");
	process_reader_describe(sampler->reader, &sampler->notices);
}

static bool fail_without_samples(struct sampler *sampler, struct recording *result, struct error *err)
{
	const struct error *missing = &sampler->instruments.session.missing;

	if (sampler->command.reaped)
		result->child_status = sampler->command.status;
	if (sampler->ended_early.code == ERROR_NONE) {
		struct error why;

		(void)sampler_fail_empty(sampler, &why);
		*err = why;
		if (missing->code != ERROR_NONE)
			error_set(err, why.code, "%s; %s", why.message, missing->message);
		return false;
	}
	*err = sampler->ended_early;
	return false;
}

bool sampler_finish(struct sampler *sampler, struct recording *result, struct buffer *notices, struct error *err)
{
	struct recording made = { .child_status = -1 };

	stop_sampling(sampler);
	priority_hurry(&sampler->priority);
	count_losses(sampler);
	tell_limits(sampler);
	hand_notices_over(sampler, notices);
	if (collector_profile(sampler->collector)->quality.samples == 0)
		return fail_without_samples(sampler, result, err);
	close_run(sampler);
	if (!instruments_finish(&sampler->instruments, err))
		return false;
	if (!collector_finish(sampler->collector, &made, err))
		return false;
	hand_notices_over(sampler, notices);
	if (sampler->command.reaped)
		made.child_status = sampler->command.status;
	made.ended_early = sampler->ended_early;
	if (sampler->clock.off_ns == 0)
		made.start_ns = (int64_t)sampler->clock.start_ns + sampler->clock.offset_ns;
	made.cpu_ns = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID) - sampler->before.own_cpu_ns;
	release_reading(sampler);
	*result = made;
	return true;
}
