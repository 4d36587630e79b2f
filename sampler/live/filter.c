/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/live/filter.h"

#include "sampler/live/forks.h"

void filter_init(struct filter *filter)
{
	*filter = (struct filter){ 0 };
	hash_map_init(&filter->pids, sizeof(int32_t));
}

void filter_deinit(struct filter *filter)
{
	ebpf_process_set_destroy(filter->in_kernel);
	hash_map_deinit(&filter->pids);
}

const struct ebpf_process_set *filter_prepare(struct filter *filter)
{
	struct error ignored;

	if (!filter->in_kernel && proc_is_initial_namespace(false) &&
		!ebpf_process_set_create(&filter->in_kernel, &ignored))
		filter->in_kernel = NULL;
	return filter->in_kernel;
}

/* If the kernel refuses the program, filter_wants() drops the samples of other processes when they are read. */
void filter_activate(struct filter *filter)
{
	if (filter->is_active)
		return;
	filter->is_active = true;
	if (filter_prepare(filter) && !filter->follows_forks)
		filter->follows_forks = forks_follow(filter->in_kernel);
	if (filter->in_kernel)
		ebpf_process_set_filter(filter->in_kernel, true);
}

void filter_pass_all(struct filter *filter)
{
	if (filter->in_kernel)
		ebpf_process_set_filter(filter->in_kernel, false);
}

void filter_deactivate(struct filter *filter)
{
	filter->is_active = false;
	filter_pass_all(filter);
}

int filter_program(const struct filter *filter)
{
	return filter->in_kernel && (filter->is_active || filter->reads_frames)
		       ? ebpf_process_set_program(filter->in_kernel)
		       : -1;
}

/*
 * Updates the kernel's set. If it is full, that process's samples are lost; for so many processes, -a is the better
 * target.
 */
static void update_kernel_set(const struct filter *filter, int32_t pid, bool wanted)
{
	if (!filter->in_kernel)
		return;
	if (wanted)
		ebpf_process_set_add(filter->in_kernel, pid);
	else
		ebpf_process_set_remove(filter->in_kernel, pid);
}

static bool live_filter_set(struct filter *filter, int32_t pid, bool wanted, struct error *err)
{
	uint32_t *value;
	bool added;

	if (!hash_map_add(&filter->pids, &pid, 0, &value, &added, err))
		return false;
	if (*value != (uint32_t)wanted)
		update_kernel_set(filter, pid, wanted);
	*value = wanted;
	return true;
}

bool filter_add(struct filter *filter, int32_t pid, struct error *err)
{
	return live_filter_set(filter, pid, true, err);
}

bool filter_has(const struct filter *filter, int32_t pid)
{
	return hash_map_get(&filter->pids, &pid) == 1;
}

void filter_await_program(struct filter *filter, int32_t pid)
{
	filter->awaited = pid;
}

bool filter_adds_forks_at_once(const struct filter *filter)
{
	return !filter->in_kernel || filter->follows_forks;
}

bool filter_wants(const struct filter *filter, const struct record_layout *layout, const void *bytes, size_t size)
{
	int32_t pid;

	return !filter->is_active || !record_sample_pid(layout, bytes, size, &pid) ||
	       (filter_has(filter, pid) && pid != filter->awaited);
}

bool filter_take(struct filter *filter, const struct record *record, bool *wanted, struct error *err)
{
	*wanted = true;
	if (record->pid == filter->awaited &&
		(record->kind == RECORD_MMAP || (record->kind == RECORD_COMM && record->comm.is_exec)))
		filter->awaited = 0;
	if (!filter->is_active)
		return true;
	if (record->kind == RECORD_FORK && record->pid != record->fork.parent_pid) {
		bool is_ours = filter_has(filter, record->fork.parent_pid);

		filter->was_late |= is_ours && !filter_adds_forks_at_once(filter);

		/* A pid of the target may be reused by another process. */
		if ((is_ours || filter_has(filter, record->pid)) && !live_filter_set(filter, record->pid, is_ours, err))
			return false;
	}
	/* Records of the kernel about its own rings belong to no process. */
	*wanted = record->kind == RECORD_LOST || record->kind == RECORD_THROTTLE || filter_has(filter, record->pid);
	return true;
}
