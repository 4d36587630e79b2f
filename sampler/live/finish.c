/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/live/state.h"
#include "sampler/process/jit_growth.h"

#include <sys/wait.h>

/* Ends a recording: the last records, what the user should know of it, and the result. */

static void close_run(struct sampler *sampler)
{
	struct profile *profile = collector_profile(sampler->collector);
	struct profile_run *run = &profile->runs[collector_run(sampler->collector)];
	struct surroundings after;

	surroundings_read_live(profile, &after);
	surroundings_describe(&sampler->before.surroundings, &after, &profile->facts);
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
	if (!has_failed)
		remaps_read(&sampler->remaps, true);
	if (!has_failed &&
		(!sampler_drain(sampler, UINT64_MAX, &why) || !remaps_compare(&sampler->remaps, UINT64_MAX, &why)))
		sampler_end_early(sampler, &why);
	if (!instruments_describe(&sampler->instruments, &why))
		sampler_end_early(sampler, &why);
}

/* "nginx (pid 123) ended 2.7 s after the recording began": its samples are of that time alone. */
static void describe_ends(struct sampler *sampler)
{
	enum { MOST_NAMED = 8 };
	const struct process_table *table = collector_processes(sampler->collector);
	const struct sampler_target *target = &sampler->options.target;
	size_t ended = 0;

	for (size_t i = 0; i < target->pid_count; i++) {
		uint32_t id = hash_map_get(&table->by_pid, &target->pids[i]);

		if (sampler->ended_ns[i] == 0 || ended++ >= MOST_NAMED)
			continue;
		buffer_printf(&sampler->notices, "%s (pid %d) ended %.1f s after the recording began\n",
			id == HASH_MAP_NONE ? "a process" : table->processes[id].name, (int)target->pids[i],
			(double)sampler->ended_ns[i] / 1e9);
	}
	if (ended > MOST_NAMED)
		buffer_printf(&sampler->notices, "%zu more processes of the target ended while it was recorded\n",
			ended - MOST_NAMED);
}

/* Appends what the user should know of the whole recording. */
static void describe_limits(struct sampler *sampler)
{
	sampler_note_ends(sampler, sampler->clock.stop_ns);
	describe_ends(sampler);
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

/* The command has been waited for, so that only we know whose it was at its end. */
static void note_user_of_command(const struct command *command, struct profile_symbols *symbols)
{
	for (size_t i = 0; command->has_user && i < symbols->process_count; i++) {
		struct profile_process *process = &symbols->processes[i];

		if (process->pid != command->pid)
			continue;
		process->has_stayed = process->is_user_known && process->user == command->user;
		symbols->command_tree = process->tree;
	}
}

static bool fail_without_samples(struct sampler *sampler, struct recording *result, struct error *err)
{
	if (sampler->command.reaped)
		result->child_status = sampler->command.status;
	if (sampler->ended_early.code == ERROR_NONE)
		return sampler_fail_empty(sampler, err);
	*err = sampler->ended_early;
	return false;
}

bool sampler_finish(struct sampler *sampler, struct recording *result, struct buffer *notices, struct error *err)
{
	struct recording made = { .child_status = -1 };

	stop_sampling(sampler);
	priority_hurry(&sampler->priority);
	count_losses(sampler);
	describe_limits(sampler);
	hand_notices_over(sampler, notices);
	if (!sampler->filter.is_active && !sampler->events.counts_cpus)
		(void)refused_take(&sampler->refused, collector_processes(sampler->collector), sampler->clock.stop_ns);
	if (collector_profile(sampler->collector)->quality.samples == 0)
		return fail_without_samples(sampler, result, err);
	close_run(sampler);
	if (!instruments_finish(&sampler->instruments, err) ||
		!jit_growth_look(collector_processes(sampler->collector), err))
		return false;
	if (!collector_finish(sampler->collector, &made, err))
		return false;
	hand_notices_over(sampler, notices);
	note_user_of_command(&sampler->command, &made.symbols);
	if (sampler->command.reaped)
		made.child_status = sampler->command.status;
	made.ended_early = sampler->ended_early;
	refused_describe(&sampler->refused, &made.refusals);
	refused_note(&made.refusals, made.profile);
	if (sampler->clock.off_ns == 0)
		made.start_ns = (int64_t)sampler->clock.start_ns + sampler->clock.offset_ns;
	if (!sampler->clock.was_paused)
		made.symbols.clock_ns =
			(int64_t)(sampler->clock.start_ns + sampler->clock.off_ns) + sampler->clock.offset_ns;
	made.cpu_ns = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID) - sampler->before.own_cpu_ns;
	sampler_release(sampler);
	*result = made;
	return true;
}
