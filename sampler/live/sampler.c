/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/live/adapt.h"
#include "sampler/live/state.h"
#include "sampler/process/jit_growth.h"

#include <stdlib.h>

/* A recording while it runs. */

bool sampler_start(struct sampler *sampler, struct error *err)
{
	const struct sampler_options *options = &sampler->options;
	bool is_command = options->target.kind == SAMPLER_TARGET_COMMAND;

	sampler->before.target_cpu_ns = target_cpu_ns(&options->target);
	surroundings_read_live(collector_profile(sampler->collector), &sampler->before.surroundings);
	sampler->clock.start_ns = sampler->clock.off_since_ns = run_clock_now(&sampler->clock);
	collector_set_start(sampler->collector, sampler->clock.start_ns);
	sampler->clock.is_on = !options->start_disabled;
	if (sampler->clock.is_on && !instruments_enable(&sampler->instruments, true, sampler->clock.start_ns, err))
		return false;
	/*
	 * The kernel enables the events of a command's threads at its exec. Those of CPUs count before it begins: a
	 * recorder that is held up could miss all of a command that lives for 20 ms.
	 */
	if (is_command && sampler->filter.is_active)
		filter_await_program(&sampler->filter, sampler->command.pid);
	if (sampler->clock.is_on && (!is_command || sampler->filter.is_active) &&
		!event_set_enable(&sampler->events, true, err))
		return false;
	return !is_command || command_start(&sampler->command, options->target.command[0], err);
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
	sampler->clock.was_paused |= collector_profile(sampler->collector)->quality.samples > 0;
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

const char *sampler_event(const struct sampler *sampler)
{
	return sampler->events.event_name;
}

void sampler_note_ends(struct sampler *sampler, uint64_t clock_ns)
{
	const struct sampler_target *target = &sampler->options.target;

	for (size_t i = 0; target->kind == SAMPLER_TARGET_PIDS && i < target->pid_count; i++)
		if (sampler->ended_ns[i] == 0 && watch_has_ended(&sampler->reading.watch, i))
			sampler->ended_ns[i] = (int64_t)(clock_ns - sampler->clock.start_ns);
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

/* Limits the recorder's priority: beside programs that make work for it, it is one program among others. */
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
	timeout_ms = remaps_timeout(&sampler->remaps, timeout_ms);
	if (!watch_wait(&sampler->reading.watch, timeout_ms, wake_fd, err))
		return false;
	/* Every CPU has written records of this age, so no older record can arrive later and break the order. */
	clock = run_clock_now(&sampler->clock);
	if (!sampler_drain(sampler, clock - ORDER_HORIZON_NS, err) ||
		(order_is_crowded(&sampler->reading.order) &&
			!sampler_drain(sampler, clock - ORDER_CROWDED_HORIZON_NS, err)) ||
		!remaps_compare(&sampler->remaps, clock - ORDER_HORIZON_NS, err) ||
		!jit_growth_look(collector_processes(sampler->collector), err) || !sampler_adapt(sampler, clock, err) ||
		!instruments_poll(&sampler->instruments, clock, err))
		return false;
	remaps_read(&sampler->remaps, false);
	limit_priority(sampler);
	sampler_note_ends(sampler, clock);
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

void sampler_destroy(struct sampler *sampler)
{
	if (!sampler)
		return;
	priority_restore(&sampler->priority);
	sampler_release(sampler);
	filter_deinit(&sampler->filter);
	part_deinit(&sampler->part);
	command_deinit(&sampler->command);
	buffer_deinit(&sampler->notices);
	free(sampler->pids);
	free(sampler->ended_ns);
	free(sampler);
}
