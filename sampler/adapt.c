/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/adapt.h"

#include "sampler/target.h"

/* At the beginning, when it is not known whether stacks are deep, samples are looked at more often. */
enum { EARLY_NS = 1000000000, EARLY_POLL_MS = 20 };

/* When so many of the last samples were cut, more of the stack is copied: the more they are, the sooner. */
struct deepening {
	uint64_t samples, above_per_mille;
	uint32_t factor;
};

enum { LAST_SAMPLES = 1024 };
static const struct deepening deepenings[] = { { 8, 300, 4 }, { 128, 30, 2 }, { LAST_SAMPLES, 3, 2 } };

enum { BIRTHS_INTERVAL_NS = 200000000, MANY_BIRTHS = 40 };

void sampler_adapt_init(struct sampler *sampler)
{
	const struct sampler_options *options = &sampler->options;

	sampler->adaptation = (struct adaptation){
		.may_deepen = options->stack_bytes == 0 && options->call_graph == SAMPLER_CALL_GRAPH_DWARF,
		.with_chains = options->stack_bytes != 0,
		.may_widen = options->target.kind == SAMPLER_TARGET_PIDS || options->target.kind == SAMPLER_TARGET_COMMAND,
	};
}

int sampler_adapt_timeout(const struct sampler *sampler, uint64_t clock_ns, int timeout_ms)
{
	bool is_early = sampler->adaptation.may_deepen && clock_ns - sampler->start_ns < EARLY_NS;

	return is_early && timeout_ms > EARLY_POLL_MS ? EARLY_POLL_MS : timeout_ms;
}

/* A command that runs is a process like any other. */
static struct sampler_target running_target(const struct sampler *sampler)
{
	struct sampler_target target = sampler->options.target;

	if (target.kind == SAMPLER_TARGET_COMMAND)
		target = (struct sampler_target){ .kind = SAMPLER_TARGET_PIDS, .pids = &sampler->command.pid, .pid_count = 1 };
	return target;
}

/* Also where it is not permitted, false. Those that the sideband told of may have lost the parents that lead to them. */
static bool open_wide(struct sampler *sampler, const struct sampler_target *target, struct event_set *events, struct error *err)
{
	const struct process_table *table = &sampler->collector.processes;
	bool opened, was_active = sampler->filter.is_active;
	bool ok = target_open_wide(target, events, &sampler->filter, &opened, err) && opened;

	for (size_t i = 0; ok && !was_active && i < table->count; i++)
		if (table->processes[i].is_alive)
			ok = filter_add(&sampler->filter, table->processes[i].pid, err);
	/* Events of threads are not filtered. */
	if (!ok)
		sampler->filter.is_active = was_active;
	return ok;
}

static void take_over(struct sampler *sampler, const struct event_set *events)
{
	sampler->broken_rings += sampler->order.broken;
	sampler->lost_before += event_set_lost(&sampler->events);
	watch_deinit(&sampler->watch);
	order_deinit(&sampler->order);
	event_set_deinit(&sampler->events);
	sampler->events = *events;
}

/* `*reopened` false: it cannot be done, and what was open stays. */
static bool reopen(struct sampler *sampler, uint32_t stack_bytes, bool wide, bool *reopened, struct error *err)
{
	struct sampler_options options = sampler->options;
	struct sampler_target target = running_target(sampler);
	struct event_set events;
	struct error why;
	bool opened;

	*reopened = false;
	options.stack_bytes = stack_bytes;
	options.target = target;
	if (!event_set_init(&events, &options, sampler->adaptation.with_chains, &sampler->notices, &why))
		return true;
	opened = wide ? open_wide(sampler, &target, &events, &why) : target_open(&target, 0, &events, &sampler->filter, &why);
	if (!opened || !event_set_enable(&sampler->events, false, &why)) {
		event_set_deinit(&events);
		return true;
	}
	if ((sampler->enabled && !event_set_enable(&events, true, err)) || !sampler_drain(sampler, UINT64_MAX, err)) {
		event_set_deinit(&events);
		return false;
	}
	take_over(sampler, &events);
	sampler->options.stack_bytes = stack_bytes;
	*reopened = true;
	return sampler_prepare_reading(sampler, err);
}

/* By how much a dump should be larger; 1: it is large enough. */
static uint32_t factor_for(uint64_t samples, uint64_t cuts)
{
	for (size_t i = 0; i < sizeof(deepenings) / sizeof(deepenings[0]); i++)
		if (samples >= deepenings[i].samples && cuts * 1000 > samples * deepenings[i].above_per_mille)
			return deepenings[i].factor;
	return 1;
}

static bool deepen_if_cut(struct sampler *sampler, struct error *err)
{
	const struct collector *collector = &sampler->collector;
	uint64_t samples = collector->profile->quality.samples, cuts = collector->full_dumps_cut, lost_ways = collector->lost_ways;
	struct adaptation *seen = &sampler->adaptation;
	uint32_t factor = factor_for(samples - seen->samples, cuts - seen->cuts), bytes = sampler->options.stack_bytes;
	bool wants_chains =
		!seen->with_chains && factor_for(samples - seen->samples, cuts + lost_ways - seen->cuts - seen->lost_ways) > 1;
	bool reopened;

	if (!seen->may_deepen || (factor == 1 && !wants_chains && samples - seen->samples < LAST_SAMPLES))
		return true;
	seen->samples = samples;
	seen->cuts = cuts;
	seen->lost_ways = lost_ways;
	if (factor == 1 && !wants_chains)
		return true;
	seen->with_chains = true;
	bytes = bytes < SAMPLER_MAX_STACK_BYTES / factor ? factor * bytes : SAMPLER_MAX_STACK_BYTES;
	if (!reopen(sampler, bytes, sampler->filter.is_active, &reopened, err))
		return false;
	seen->may_deepen = reopened && bytes < SAMPLER_MAX_STACK_BYTES;
	return true;
}

static bool widen_if_born(struct sampler *sampler, uint64_t clock_ns, struct error *err)
{
	struct adaptation *seen = &sampler->adaptation;
	uint64_t births = sampler->collector.processes.births, born = births - seen->births;
	bool reopened;

	if (!seen->may_widen || sampler->filter.is_active || clock_ns - seen->births_at_ns < BIRTHS_INTERVAL_NS)
		return true;
	seen->births = births;
	seen->births_at_ns = clock_ns;
	if (born < MANY_BIRTHS)
		return true;
	seen->may_widen = false;
	if (!reopen(sampler, sampler->options.stack_bytes, true, &reopened, err))
		return false;
	if (!reopened)
		buffer_append_string(&sampler->notices,
			"threads that live for less than a sampling period are hardly sampled: that takes events of whole CPUs, which are not "
			"permitted; run 'sudo sysctl kernel.perf_event_paranoid=0' or run kelvin as root\n");
	return true;
}

bool sampler_adapt(struct sampler *sampler, uint64_t clock_ns, struct error *err)
{
	return deepen_if_cut(sampler, err) && widen_if_born(sampler, clock_ns, err);
}
