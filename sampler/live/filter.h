/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/ebpf/ebpf.h"
#include "sampler/records/record.h"

/*
 * The processes of a target whose events count everything that runs on a CPU: the named processes, and those they fork.
 * If the kernel accepts a BPF program, samples of other processes are not written; otherwise they are dropped unread.
 */
struct filter {
	struct hash_map pids; /* pid -> 1: belongs to the target, 0: no longer does */
	bool is_active;       /* false: everything belongs to the target */
	struct ebpf_process_set
		*in_kernel; /* owned; the same pids in the kernel. NULL: the kernel accepts no program */
	bool reads_frames;  /* the set's program is that of all samples, filtered or not: another one may follow it */
	bool follows_forks; /* the kernel itself adds forked processes to its set */
	bool was_late;      /* samples of a new process were dropped before the kernel's set had it */
	int32_t awaited;    /* a command whose program has not begun: what it executes until then is ours. 0: none */
};

void filter_init(struct filter *filter);
void filter_deinit(struct filter *filter);

/* Makes the kernel's set, for other programs that share it. NULL: it is not permitted. */
const struct ebpf_process_set *filter_prepare(struct filter *filter);

/* Activates the filter: only added processes belong to the target. */
void filter_activate(struct filter *filter);

/* Lets all samples pass through the program in the kernel while the filter is active. */
void filter_pass_all(struct filter *filter);

/* Nothing is filtered any more. */
void filter_deactivate(struct filter *filter);

/*
 * Returns the program for each sampling event, borrowed. -1: the kernel accepts none, or nothing needs one.
 */
int filter_program(const struct filter *filter);

COMMON_MUST_CHECK
bool filter_add(struct filter *filter, int32_t pid, struct error *err);

bool filter_has(const struct filter *filter, int32_t pid);

/*
 * A command that is about to execute its program, and whose events count already: samples of it are not wanted until a
 * record of the sideband tells that it has.
 */
void filter_await_program(struct filter *filter, int32_t pid);

/* Returns whether a forked process belongs to the target from its first moment on. */
bool filter_adds_forks_at_once(const struct filter *filter);

/* Returns whether a sample should be parsed at all; only its pid is read. True for other records. */
bool filter_wants(const struct filter *filter, const struct record_layout *layout, const void *bytes, size_t size);

/*
 * Learns from a sideband record which processes the target has forked. `*wanted`: the record is of a process of the
 * target.
 */
COMMON_MUST_CHECK
bool filter_take(struct filter *filter, const struct record *record, bool *wanted, struct error *err);
