/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/live/adapt.h"

#include "sampler/live/target.h"

#include <stdlib.h>

/*
 * In the first second, when the depth of stacks is not known yet, samples are read more often. So they are after a
 * program was begun: if it is an interpreter, its frames are read from when its mappings are known on, and the names of
 * its functions can be read while it runs.
 */
enum { EARLY_NS = 1000000000, EARLY_POLL_MS = 20 };

/* The period in which processes that have no samples are looked at, the last time of which is lost with their end. */
enum { REFUSED_POLL_MS = 50 };

/* They may have started many others: reading what all use takes one part in so many of a CPU's time. */
enum { REFUSED_READING_SHARE = 50 };

/*
 * The conditions under which more of the stack is copied: so many of the last samples were cut. The higher the share,
 * the fewer samples suffice.
 */
struct deepening {
	uint64_t samples, above_per_mille;
	uint32_t factor;
};

enum { LAST_SAMPLES = 1024 };
static const struct deepening deepenings[] = { { 8, 300, 4 }, { 128, 30, 2 }, { 320, 10, 2 }, { LAST_SAMPLES, 3, 2 } };

enum { BIRTHS_INTERVAL_NS = 200000000, MANY_BIRTHS = 40, MANY_FORKS = 10 };

void sampler_adapt_init(struct sampler *sampler)
{
	const struct sampler_options *options = &sampler->options;

	sampler->adaptation = (struct adaptation){
		.may_deepen = options->stack_bytes == 0 && options->call_graph == SAMPLER_CALL_GRAPH_DWARF,
		.extras.with_callchains = options->stack_bytes != 0,
		/*
		 * Counters of threads are theirs alone, and those of CPUs are not; where a sample reads values, clocks
		 * are never exchanged.
		 */
		.may_widen = !options->counters && (options->target.kind == SAMPLER_TARGET_PIDS ||
							   options->target.kind == SAMPLER_TARGET_COMMAND),
	};
	sampler->adaptation.may_follow = sampler->adaptation.may_part_clocks = sampler->adaptation.may_widen;
}

int sampler_adapt_timeout(const struct sampler *sampler, uint64_t clock_ns, int timeout_ms)
{
	const struct adaptation *seen = &sampler->adaptation;
	bool is_early = (seen->may_deepen && clock_ns - sampler->clock.start_ns < EARLY_NS) ||
			(sampler->frame_reader && seen->programs > 0 && clock_ns - seen->program_at_ns < EARLY_NS);

	if (is_early && timeout_ms > EARLY_POLL_MS)
		return EARLY_POLL_MS;
	return seen->has_refused && timeout_ms > REFUSED_POLL_MS ? REFUSED_POLL_MS : timeout_ms;
}

/*
 * Finds the processes of the target that still run. A named process may have ended while its children go on, which are
 * then no longer found by their parent.
 */
static bool find_living(const struct sampler *sampler, struct sampler_target *target, pid_t **pids, struct error *err)
{
	const struct process_table *table = collector_processes(sampler->collector);

	*target = sampler->options.target;
	if (target->kind != SAMPLER_TARGET_PIDS && target->kind != SAMPLER_TARGET_COMMAND)
		return true;
	*pids = calloc(table->count + 1, sizeof(**pids));
	if (!*pids)
		return error_set_memory(err);
	*target = (struct sampler_target){ .kind = SAMPLER_TARGET_PIDS, .pids = *pids };
	for (size_t i = 0; i < table->count; i++)
		if (table->processes[i].is_alive && proc_is_alive(table->processes[i].pid))
			(*pids)[target->pid_count++] = table->processes[i].pid;
	return true;
}

/*
 * Opens one event per CPU. `*opened` is also false if that is not permitted, or if `at_once` is set and the filter
 * learns of new processes too late.
 */
static bool open_wide(struct sampler *sampler, const struct sampler_target *target, bool at_once,
	struct event_set *events, struct error *err)
{
	bool opened, was_active = sampler->filter.is_active;
	bool ok = target_open_wide(target, events, &sampler->filter, &opened, err) && opened &&
		  (!at_once || filter_adds_forks_at_once(&sampler->filter));

	/* Events of threads need no filter. */
	if (!ok && !was_active)
		filter_deactivate(&sampler->filter);
	return ok;
}

/* Reads all remaining records of the open events, and replaces the events. */
static bool take_over(struct sampler *sampler, struct event_set *events, struct error *err)
{
	if (!sampler_drain(sampler, UINT64_MAX, err)) {
		event_set_deinit(events);
		return false;
	}
	sampler->reading.broken_before += sampler->reading.order.broken;
	sampler->reading.lost_before += event_set_lost(&sampler->events);
	watch_deinit(&sampler->reading.watch);
	order_deinit(&sampler->reading.order);
	event_set_take_rings(events, &sampler->events);
	event_set_deinit(&sampler->events);
	sampler->events = *events;
	return (!sampler->clock.is_on || event_set_enable(&sampler->events, true, err)) &&
	       sampler_prepare_reading(sampler, err);
}

/*
 * The reach of the events, which are opened for: CPUs, the same unless new processes would be known too late, threads
 * and nothing else, or either of them, as the target wants it.
 */
enum reach { REACH_AS_FITS, REACH_CPUS, REACH_CPUS_AT_ONCE, REACH_THREADS };

/* Opens the events anew. `*reopened` is false if that is not possible; the old events then stay open. */
static bool reopen(struct sampler *sampler, uint32_t stack_bytes, enum reach reach, bool *reopened, struct error *err)
{
	CLEANUP(cleanup_free) pid_t *pids = NULL;
	struct sampler_options options = sampler->options;
	struct event_set events;
	struct error why;
	bool opened;

	*reopened = false;
	options.stack_bytes = stack_bytes;
	if (!find_living(sampler, &options.target, &pids, err))
		return false;
	if (pids && options.target.pid_count == 0)
		return true;
	if (reach == REACH_THREADS &&
		(target_is_large(&options.target) || sampler_preference(sampler) == TARGET_PREFERS_CPUS))
		return true;
	if (!event_set_init_beside(&events, &sampler->events, &options, sampler->adaptation.extras, &why))
		return true;
	opened =
		reach == REACH_CPUS || reach == REACH_CPUS_AT_ONCE
			? open_wide(sampler, &options.target, reach == REACH_CPUS_AT_ONCE, &events, &why)
			: target_open(&options.target, 0, sampler_preference(sampler), &events, &sampler->filter, &why);
	if (!opened || !event_set_enable(&sampler->events, false, &why)) {
		event_set_deinit(&events);
		return true;
	}
	sampler->options.stack_bytes = stack_bytes;
	*reopened = true;
	return take_over(sampler, &events, err);
}

/* The factor by which the stack copy should grow; 1: it is large enough. */
static uint32_t factor_for(uint64_t samples, uint64_t cuts)
{
	for (size_t i = 0; i < sizeof(deepenings) / sizeof(deepenings[0]); i++)
		if (samples >= deepenings[i].samples && cuts * 1000 > samples * deepenings[i].above_per_mille)
			return deepenings[i].factor;
	return 1;
}

static bool deepen_if_cut(struct sampler *sampler, struct error *err)
{
	struct adaptation *seen = &sampler->adaptation;
	const struct collector_cuts cuts = collector_cuts(sampler->collector);
	uint64_t samples = collector_profile(sampler->collector)->quality.samples, added = samples - seen->samples;
	uint64_t by_room = cuts.by_room - seen->cuts.by_room, by_rules = cuts.by_rules - seen->cuts.by_rules;
	uint32_t factor = factor_for(added, by_room), bytes = sampler->options.stack_bytes;
	bool wants_callchains = !seen->extras.with_callchains && factor_for(added, by_room + by_rules) > 1;
	bool reopened;

	if (!seen->may_deepen || (factor == 1 && !wants_callchains && added < LAST_SAMPLES))
		return true;
	seen->samples = samples;
	seen->cuts = cuts;
	if (factor == 1 && !wants_callchains)
		return true;
	seen->extras.with_callchains = true;
	bytes = bytes < RECORDING_MAX_STACK_BYTES / factor ? factor * bytes : RECORDING_MAX_STACK_BYTES;
	if (!reopen(sampler, bytes, sampler->filter.is_active ? REACH_CPUS : REACH_AS_FITS, &reopened, err))
		return false;
	seen->may_deepen = reopened && bytes < RECORDING_MAX_STACK_BYTES;
	return true;
}

static bool adapt_widen(struct sampler *sampler, enum reach reach, struct error *err)
{
	bool reopened, lacks_tracefs;

	if (!reopen(sampler, sampler->options.stack_bytes, reach, &reopened, err))
		return false;
	/* Without tracefs, events of CPUs are still right for many threads. */
	lacks_tracefs = reach == REACH_CPUS_AT_ONCE && !filter_adds_forks_at_once(&sampler->filter);
	sampler->adaptation.may_follow = false;
	sampler->adaptation.may_widen = lacks_tracefs;
	if (!reopened)
		buffer_printf(&sampler->notices,
			"threads and processes that live for less than a sampling period are hardly sampled: that needs %s\n",
			lacks_tracefs
				? "the kernel's tracepoints; run 'sudo mount -t tracefs tracefs /sys/kernel/tracing' to make them readable"
				: "events of whole CPUs, which are not permitted; run 'sudo sysctl kernel.perf_event_paranoid=0' or run "
				  "kelvin with sudo");
	return true;
}

static bool part_clocks(struct sampler *sampler, struct error *err)
{
	bool reopened;

	sampler->adaptation.may_part_clocks = false;
	sampler->adaptation.extras.with_own_clocks = true;
	if (!reopen(sampler, sampler->options.stack_bytes, REACH_THREADS, &reopened, err))
		return false;
	sampler->adaptation.extras.with_own_clocks = reopened;
	return true;
}

static bool follow_births(struct sampler *sampler, uint64_t clock_ns, struct error *err)
{
	const struct process_table *table = collector_processes(sampler->collector);
	struct adaptation *seen = &sampler->adaptation;
	uint64_t born = table->births - seen->births, forked = table->forks - seen->forks;

	if (sampler->filter.is_active || clock_ns - seen->births_at_ns < BIRTHS_INTERVAL_NS)
		return true;
	seen->births = table->births;
	seen->forks = table->forks;
	seen->births_at_ns = clock_ns;
	if (seen->may_widen && born >= MANY_BIRTHS && !adapt_widen(sampler, REACH_CPUS, err))
		return false;
	if (seen->may_follow && !sampler->filter.is_active && forked >= MANY_FORKS &&
		!adapt_widen(sampler, REACH_CPUS_AT_ONCE, err))
		return false;
	if (seen->may_part_clocks && !sampler->filter.is_active && born + forked >= MANY_FORKS)
		return part_clocks(sampler, err);
	return true;
}

static void note_programs(struct sampler *sampler, uint64_t clock_ns)
{
	struct adaptation *seen = &sampler->adaptation;
	uint64_t programs = collector_processes(sampler->collector)->programs;

	if (programs == seen->programs)
		return;
	seen->programs = programs;
	seen->program_at_ns = clock_ns;
}

static void read_refused(struct sampler *sampler, uint64_t clock_ns)
{
	struct adaptation *seen = &sampler->adaptation;
	int64_t began_ns = clock_read_ns(CLOCK_MONOTONIC);

	if (clock_ns < seen->refused_not_before)
		return;
	seen->has_refused = refused_read(&sampler->refused);
	seen->refused_not_before =
		clock_ns + REFUSED_READING_SHARE * (uint64_t)(clock_read_ns(CLOCK_MONOTONIC) - began_ns);
}

/*
 * The kernel takes the events of a thread away that executes a program which not everyone may watch. Whoever may watch
 * it opens events anew, of CPUs where that is possible: they stay.
 */
static bool follow_refused(struct sampler *sampler, uint64_t clock_ns, struct error *err)
{
	struct process_table *table = collector_processes(sampler->collector);
	enum reach reach = sampler->options.counters ? REACH_AS_FITS : REACH_CPUS_AT_ONCE;
	struct refused *refused = &sampler->refused;
	bool reopened = false;

	if (sampler->filter.is_active || sampler->events.counts_cpus) {
		refused_pass(refused, table, clock_ns);
		return true;
	}
	read_refused(sampler, clock_ns);
	if (!refused_take(refused, table, clock_ns))
		return true;
	sampler->adaptation.has_refused = true;
	if (refused->cannot_resume)
		return true;
	if (!reopen(sampler, sampler->options.stack_bytes, reach, &reopened, err) ||
		(!reopened && reach != REACH_AS_FITS &&
			!reopen(sampler, sampler->options.stack_bytes, REACH_AS_FITS, &reopened, err)))
		return false;
	refused->cannot_resume = !reopened;
	if (reopened)
		refused_resume(refused, table);
	return true;
}

bool sampler_adapt(struct sampler *sampler, uint64_t clock_ns, struct error *err)
{
	note_programs(sampler, clock_ns);
	return deepen_if_cut(sampler, err) && follow_births(sampler, clock_ns, err) &&
	       follow_refused(sampler, clock_ns, err);
}
