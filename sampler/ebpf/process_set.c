/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/ebpf/process_set.h"

#include "sampler/ebpf/loading.h"

#include <errno.h>

#include "descent.skel.h"
#include "process_set.skel.h"

struct ebpf_process_set {
	struct process_set_bpf *object;
	struct descent_bpf *descent; /* NULL: forks are not followed */
};

bool ebpf_process_set_create(struct ebpf_process_set **set, struct error *err)
{
	struct ebpf_process_set *made = calloc(1, sizeof(*made));
	struct loading loading;
	int result;

	if (!made)
		return error_set_memory(err);
	loading_init(&loading);
	made->object = process_set_bpf__open_opts(&loading.options);
	result = made->object ? loading_load(made->object->skeleton) : -errno;
	loading_finish(&loading);
	if (result != 0) {
		ebpf_process_set_destroy(made);
		return loading_fail(err, &loading, result, "load the program that keeps the samples of some processes");
	}
	*set = made;
	return true;
}

void ebpf_process_set_destroy(struct ebpf_process_set *set)
{
	if (!set)
		return;
	descent_bpf__destroy(set->descent);
	process_set_bpf__destroy(set->object);
	free(set);
}

int ebpf_process_set_program(const struct ebpf_process_set *set)
{
	return bpf_program__fd(set->object->progs.keep_sample);
}

void ebpf_process_set_filter(struct ebpf_process_set *set, bool filters)
{
	__atomic_store_n(&set->object->bss->is_filtering, filters, __ATOMIC_RELAXED);
}

int ebpf_process_set_run_next(const struct ebpf_process_set *set, int program)
{
	const uint32_t place = 0;

	return bpf_map__update_elem(set->object->maps.next, &place, sizeof(place), &program, sizeof(program), BPF_ANY);
}

int ebpf_process_set_map(const struct ebpf_process_set *set)
{
	return bpf_map__fd(set->object->maps.processes);
}

void ebpf_process_set_add(struct ebpf_process_set *set, int32_t pid)
{
	const uint32_t value = 1;

	(void)bpf_map__update_elem(set->object->maps.processes, &pid, sizeof(pid), &value, sizeof(value), BPF_ANY);
}

void ebpf_process_set_remove(struct ebpf_process_set *set, int32_t pid)
{
	(void)bpf_map__delete_elem(set->object->maps.processes, &pid, sizeof(pid), 0);
}

/* The programs that follow forks, with the set's map in place of their own. NULL, with errno set, when that fails. */
static struct descent_bpf *open_descent(const struct ebpf_process_set *set, struct loading *loading)
{
	struct descent_bpf *descent;
	int result;

	loading_init(loading);
	descent = descent_bpf__open_opts(&loading->options);
	if (!descent)
		return NULL;
	result = bpf_map__reuse_fd(descent->maps.processes, bpf_map__fd(set->object->maps.processes));
	if (result == 0)
		return descent;
	descent_bpf__destroy(descent);
	errno = -result;
	return NULL;
}

/* Loads and attaches the one program that is switched on. The set owns the object then; on failure it is destroyed. */
static bool start_descent(
	struct ebpf_process_set *set, struct descent_bpf *descent, struct loading *loading, struct error *err)
{
	int result = loading_load(descent->skeleton);

	loading_finish(loading);
	if (result == 0)
		result = descent_bpf__attach(descent);
	if (result != 0) {
		descent_bpf__destroy(descent);
		return loading_fail(err, loading, result, "load the program that follows forks");
	}
	descent_bpf__destroy(set->descent);
	set->descent = descent;
	return true;
}

bool ebpf_process_set_follow_tasks(struct ebpf_process_set *set, uint16_t tgid_offset, struct error *err)
{
	struct loading loading;
	struct descent_bpf *descent = open_descent(set, &loading);

	if (!descent)
		return loading_fail(err, &loading, -errno, "open the program that follows forks");
	descent->rodata->tgid_offset = tgid_offset;
	bpf_program__set_autoload(descent->progs.follow_record, false);
	return start_descent(set, descent, &loading, err);
}

bool ebpf_process_set_follow_records(
	struct ebpf_process_set *set, const struct ebpf_newtask_record *record, struct error *err)
{
	struct loading loading;
	struct descent_bpf *descent = open_descent(set, &loading);

	if (!descent)
		return loading_fail(err, &loading, -errno, "open the program that follows forks");
	descent->rodata->pid_offset = record->pid_offset;
	descent->rodata->clone_flags_offset = record->clone_flags_offset;
	bpf_program__set_autoload(descent->progs.follow_task, false);
	return start_descent(set, descent, &loading, err);
}
