/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/live/state.h"

#include <unistd.h>

/* The reasons why a recording has no samples. */

/*
 * Reports a command without samples, with all processes it started: many short processes can use much CPU time without
 * one sample.
 */
static bool fail_empty_command(struct sampler *sampler, const char *what, double seconds, struct error *err)
{
	struct recording_refusals refusals;

	refused_describe(&sampler->refused, &refusals);
	if (refusals.count > 0 && geteuid() != 0)
		return error_set(err, ERROR_EMPTY,
			"no samples: %s used %.3f s of CPU time in %.1f s, and the kernel lets only root sample '%s', which is set-user-ID, "
			"unreadable or has capabilities of its file; run 'sudo kelvin record -- sudo -u USER COMMAND', or "
			"'sudo kelvin record -a' while it runs",
			what, (double)command_cpu_ns(&sampler->command) / 1e9, seconds, refusals.name);
	if (!sampler_counts_time(sampler))
		return error_set(err, ERROR_EMPTY, "no samples: %s had no %s in %.1f s", what,
			sampler->events.event_name, seconds);
	return error_set(err, ERROR_EMPTY,
		"no samples: %s ran for %.1f s and used %.3f s of CPU time; processes that live for less than a sampling period (%.1f ms) are "
		"not sampled; -F 10000 samples shorter ones",
		what, seconds, (double)command_cpu_ns(&sampler->command) / 1e9, 1e3 / sampler->options.frequency_hz);
}

/*
 * The kernel starts each thread's clock anew, and whoever creates threads gives his own, as far as it has come, to
 * those that end: with threads that are brief enough, nothing is ever sampled.
 */
static bool has_brief_threads(const struct sampler *sampler, int64_t used_ns)
{
	enum { MANY_BIRTHS = 100, MANY_PERIODS = 20 };
	int64_t period_ns = 1000000000 / sampler->options.frequency_hz;

	return !sampler->filter.is_active && collector_processes(sampler->collector)->births >= MANY_BIRTHS &&
	       used_ns / period_ns >= MANY_PERIODS;
}

static bool explain_emptiness(struct sampler *sampler, struct error *err)
{
	const struct sampler_target *target = &sampler->options.target;
	double seconds = (double)(sampler->clock.stop_ns - sampler->clock.start_ns) / 1e9;
	int64_t used_ns = target_cpu_ns(target) - sampler->before.target_cpu_ns;
	const struct profile *profile = collector_profile(sampler->collector);
	const char *what = profile_string(profile, profile->facts.command);

	if (collector_met_32bit(sampler->collector))
		return error_set(
			err, ERROR_UNSUPPORTED, "no samples: %s is a 32-bit process, which is not supported", what);
	if (target->kind == SAMPLER_TARGET_COMMAND)
		return fail_empty_command(sampler, what, seconds, err);
	if (sampler_target_is_gone(sampler))
		return error_set(
			err, ERROR_EMPTY, "no samples: %s exited %.1f s after the recording began", what, seconds);
	if (target->pid_count == 0)
		return error_set(err, ERROR_EMPTY, "no samples: %s used no CPU time in %.1f s", what, seconds);
	if (!sampler_counts_time(sampler))
		return error_set(err, ERROR_EMPTY, "no samples: %s had no %s in %.1f s", what,
			sampler->events.event_name, seconds);
	if (has_brief_threads(sampler, used_ns))
		return error_set(err, ERROR_EMPTY,
			"no samples: %s used %.3f s of CPU time in %.1f s in threads that live for less than a sampling period: sampling them "
			"needs events of whole CPUs, which are not permitted; run 'sudo sysctl kernel.perf_event_paranoid=0' or run kelvin "
			"with sudo",
			what, (double)used_ns / 1e9, seconds);
	if (target->pid_count == 1 && proc_is_stopped(target->pids[0]))
		return error_set(err, ERROR_EMPTY,
			"no samples: %s is stopped, by a signal or a debugger; let it go on ('kill -CONT %d') and record again",
			what, (int)target->pids[0]);
	return error_set(err, ERROR_EMPTY,
		"no samples: %s slept: it used %.3f s of CPU time in %.1f s; record it while it works, or longer with -d, or "
		"with --off-cpu, which shows what it waits for",
		what, (double)(used_ns > 0 ? used_ns : 0) / 1e9, seconds);
}

bool sampler_fail_empty(struct sampler *sampler, struct error *err)
{
	const struct error *missing = &sampler->instruments.session.missing;
	struct error why;

	(void)explain_emptiness(sampler, &why);
	*err = why;
	if (missing->code != ERROR_NONE)
		error_set(err, why.code, "%s; %s", why.message, missing->message);
	return false;
}
