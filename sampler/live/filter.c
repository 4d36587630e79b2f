/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/live/filter.h"

#include "sampler/live/bpf.h"
#include "sampler/live/descent.h"

#include <string.h>
#include <sys/stat.h>

enum { MAX_FILTERED = 65536, INITIAL_PID_NAMESPACE = 0xeffffffc };

/* BPF knows processes by their ids in the initial namespace (linux/proc_ns.h: PROC_PID_INIT_INO); elsewhere ours are others. */
static bool is_initial_namespace(void)
{
	struct stat status;

	return stat("/proc/self/ns/pid", &status) == 0 && status.st_ino == INITIAL_PID_NAMESPACE;
}

static int create_map(void)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = BPF_MAP_TYPE_HASH;
	attr.key_size = sizeof(uint32_t);
	attr.value_size = sizeof(uint32_t);
	attr.max_entries = MAX_FILTERED;
	attr.map_flags = BPF_F_NO_PREALLOC;
	return bpf_call(BPF_MAP_CREATE, &attr);
}

/* return lookup(map, current->tgid) != NULL; an event's sample is dropped where its program returns 0 (linux/bpf.h). */
static int load_program(int map_fd)
{
	const struct bpf_insn program[] = {
		BPF_LOOK_UP_CURRENT_TGID(map_fd),
		{ .code = BPF_JMP | BPF_JEQ | BPF_K, .dst_reg = BPF_REG_0, .off = 1 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 1 },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return bpf_load(BPF_PROG_TYPE_PERF_EVENT, program, sizeof(program) / sizeof(program[0]));
}

void filter_init(struct filter *filter)
{
	*filter = (struct filter){ .bpf_map_fd = -1, .bpf_program_fd = -1, .descent_fd = -1 };
	hash_map_init(&filter->pids, sizeof(int32_t));
}

void filter_deinit(struct filter *filter)
{
	if (filter->descent_fd >= 0)
		close(filter->descent_fd);
	if (filter->bpf_program_fd >= 0)
		close(filter->bpf_program_fd);
	if (filter->bpf_map_fd >= 0)
		close(filter->bpf_map_fd);
	hash_map_deinit(&filter->pids);
}

void filter_activate(struct filter *filter)
{
	if (filter->is_active)
		return;
	filter->is_active = true;
	if (filter->bpf_map_fd >= 0 || !is_initial_namespace())
		return;
	filter->bpf_map_fd = create_map();
	if (filter->bpf_map_fd >= 0)
		filter->bpf_program_fd = load_program(filter->bpf_map_fd);
	if (filter->bpf_program_fd >= 0)
		filter->descent_fd = descent_follow(filter->bpf_map_fd);
}

/* A table that is full in the kernel loses that process's samples; so many processes want -a. */
static void tell_kernel(const struct filter *filter, int32_t pid, bool wanted)
{
	uint32_t value = 1;
	union bpf_attr attr;

	if (filter->bpf_program_fd < 0)
		return;
	memset(&attr, 0, sizeof(attr));
	attr.map_fd = (uint32_t)filter->bpf_map_fd;
	attr.key = (uint64_t)(uintptr_t)&pid;
	attr.value = wanted ? (uint64_t)(uintptr_t)&value : 0;
	(void)bpf_call(wanted ? BPF_MAP_UPDATE_ELEM : BPF_MAP_DELETE_ELEM, &attr);
}

static bool set(struct filter *filter, int32_t pid, bool wanted, struct error *err)
{
	uint32_t *value;
	bool added;

	if (!hash_map_add(&filter->pids, &pid, 0, &value, &added, err))
		return false;
	if (*value != (uint32_t)wanted)
		tell_kernel(filter, pid, wanted);
	*value = wanted;
	return true;
}

bool filter_add(struct filter *filter, int32_t pid, struct error *err)
{
	return set(filter, pid, true, err);
}

bool filter_has(const struct filter *filter, int32_t pid)
{
	return hash_map_get(&filter->pids, &pid) == 1;
}

bool filter_hears_at_once(const struct filter *filter)
{
	return filter->bpf_program_fd < 0 || filter->descent_fd >= 0;
}

bool filter_wants(const struct filter *filter, const struct record_layout *layout, const void *bytes, size_t size)
{
	int32_t pid;

	return !filter->is_active || !record_sample_pid(layout, bytes, size, &pid) || filter_has(filter, pid);
}

bool filter_take(struct filter *filter, const struct record *record, bool *wanted, struct error *err)
{
	*wanted = true;
	if (!filter->is_active)
		return true;
	if (record->kind == RECORD_FORK && record->pid != record->fork.parent_pid) {
		bool is_ours = filter_has(filter, record->fork.parent_pid);

		filter->was_late |= is_ours && !filter_hears_at_once(filter);

		/* A pid that was ours may be somebody else's by now. */
		if ((is_ours || filter_has(filter, record->pid)) && !set(filter, record->pid, is_ours, err))
			return false;
	}
	/* What the kernel says of its own rings is nobody's. */
	*wanted = record->kind == RECORD_LOST || record->kind == RECORD_THROTTLE || filter_has(filter, record->pid);
	return true;
}
