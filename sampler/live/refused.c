/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/live/refused.h"

#include <string.h>

enum { MOST_DESCENDANTS = 256 };

/* Returns what a process has used, and those that it has started; -1 if it is gone. */
static int64_t read_used_with_descendants(int32_t pid)
{
	int64_t all_ns = proc_cpu_with_children_ns(pid);
	CLEANUP(buffer_deinit) struct buffer pids = { 0 };
	struct error ignored;

	buffer_init(&pids, MOST_DESCENDANTS * sizeof(pid));
	if (all_ns < 0 || !proc_read_children(pid, pid, &pids, &ignored))
		return all_ns;
	for (size_t at = 0; at + sizeof(pid) <= pids.size; at += sizeof(pid)) {
		int32_t child;
		int64_t used_ns;

		memcpy(&child, pids.data + at, sizeof(child));
		used_ns = proc_cpu_with_children_ns(child);
		if (used_ns > 0)
			all_ns = saturating_add(all_ns, used_ns);
		if (!proc_read_children(child, child, &pids, &ignored))
			break;
	}
	return all_ns;
}

/* A place for a process: its own, a new one, or that of another which is over and has used less than all others. */
static struct refused_process *find_refused_place(struct refused *refused, int32_t pid)
{
	struct refused_process *least = NULL;

	for (size_t i = 0; i < refused->count; i++) {
		struct refused_process *process = &refused->processes[i];

		if (process->pid == pid && !process->is_over)
			return process;
		if (process->is_over && (!least || process->used_ns < least->used_ns))
			least = process;
	}
	return refused->count < REFUSED_MOST ? &refused->processes[refused->count++] : least;
}

/*
 * The program began a moment ago. Until then the process had samples; since then it may have run all the time.
 */
static bool add_refused(struct refused *refused, const struct process *process, uint64_t clock_ns)
{
	int64_t now_ns = proc_is_alive(process->pid) ? read_used_with_descendants(process->pid) : -1;
	int64_t since_ns = clock_ns > process->refused_ns ? (int64_t)(clock_ns - process->refused_ns) : 0;
	struct refused_process *place = find_refused_place(refused, process->pid);

	if (!place)
		return now_ns >= 0;
	*place = (struct refused_process){ .pid = process->pid, .is_over = now_ns < 0 };
	memcpy(place->name, process->name, sizeof(place->name));
	if (now_ns >= 0) {
		place->before_ns = now_ns > since_ns ? now_ns - since_ns : 0;
		place->used_ns = now_ns - place->before_ns;
	}
	return now_ns >= 0;
}

bool refused_take(struct refused *refused, const struct process_table *table, uint64_t clock_ns)
{
	bool is_any_alive = false, is_new = table->refusals != refused->seen;
	uint64_t until_ns = refused->until_ns;

	refused->unsampled += table->refusals - refused->seen;
	refused->seen = table->refusals;
	for (size_t i = 0; is_new && i < table->count; i++) {
		const struct process *process = &table->processes[i];

		if (process->refused_ns <= refused->until_ns)
			continue;
		until_ns = process->refused_ns > until_ns ? process->refused_ns : until_ns;
		is_any_alive |= add_refused(refused, process, clock_ns);
	}
	refused->until_ns = until_ns;
	return is_any_alive;
}

void refused_pass(struct refused *refused, const struct process_table *table, uint64_t clock_ns)
{
	refused->seen = table->refusals;
	refused->until_ns = clock_ns;
}

bool refused_read(struct refused *refused)
{
	bool is_any = false;

	for (size_t i = 0; i < refused->count; i++) {
		struct refused_process *process = &refused->processes[i];
		int64_t now_ns = process->is_over ? -1 : read_used_with_descendants(process->pid);

		process->is_over = now_ns < 0;
		/* A child that has ended is missing until its parent has waited for it. */
		if (now_ns - process->before_ns > process->used_ns)
			process->used_ns = now_ns - process->before_ns;
		is_any |= !process->is_over;
	}
	return is_any;
}

void refused_resume(struct refused *refused, struct process_table *table)
{
	(void)refused_read(refused);
	refused->are_resumed = true;
	for (size_t i = 0; i < refused->count; i++) {
		uint32_t id = hash_map_get(&table->by_pid, &refused->processes[i].pid);

		if (!refused->processes[i].is_over && id != HASH_MAP_NONE)
			table->processes[id].maps_are_read = false;
		refused->processes[i].is_over = true;
	}
}

void refused_describe(struct refused *refused, struct recording_refusals *refusals)
{
	const struct refused_process *most = NULL;

	(void)refused_read(refused);
	*refusals = (struct recording_refusals){ .count = refused->unsampled, .are_resumed = refused->are_resumed };
	for (size_t i = 0; i < refused->count; i++) {
		const struct refused_process *process = &refused->processes[i];
		bool is_new = true;

		for (size_t k = 0; k < i; k++)
			is_new = is_new && strcmp(refused->processes[k].name, process->name) != 0;
		refusals->programs += is_new;
		refusals->cpu_ns = saturating_add(refusals->cpu_ns, process->used_ns);
		if (!most || process->used_ns > most->used_ns)
			most = process;
	}
	if (most)
		memcpy(refusals->name, most->name, sizeof(refusals->name));
}

void refused_note(const struct recording_refusals *refusals, struct profile *profile)
{
	static const int64_t least_ns = 20000000, ns_per_ms = 1000000;
	const struct profile_quality *quality = &profile->quality;
	int64_t sampled_ns = profile_sampled_cpu_ns(profile), rest_ns = profile_commands_cpu_ns(profile) - sampled_ns;
	bool is_rest_known = !profile->facts.user_only && quality->lost == 0 && quality->lost_sideband == 0;
	int64_t missing_ns = is_rest_known && rest_ns > refusals->cpu_ns ? rest_ns : refusals->cpu_ns;

	if (refusals->count == 0 || sampled_ns == 0 || missing_ns < least_ns ||
		missing_ns < saturating_add(missing_ns, sampled_ns) / 100)
		return;
	missing_ns /= ns_per_ms;
	profile->facts.unsampled_ms = missing_ns > UINT32_MAX ? UINT32_MAX : (uint32_t)missing_ns;
}
