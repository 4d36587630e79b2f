/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "ebpf/ebpf.h"
#include "sampler/records/record.h"

/*
 * Which processes belong to a target whose events count everything that runs on a CPU: the processes named, and what
 * they fork. Where the kernel takes a BPF program, samples of others are not even written; otherwise they are thrown
 * away unread.
 */
struct filter {
	struct hash_map pids;               /* pid -> 1: of the target, 0: once was */
	bool is_active;                     /* false: everything belongs to the target */
	struct ebpf_process_set *in_kernel; /* owned; the same pids for the kernel. NULL: it takes no program */
	bool follows_forks;                 /* the kernel itself adds forked processes to its set */
	bool was_late;                      /* it had let samples of a new process go by before it was told of it */
};

void filter_init(struct filter *filter);
void filter_deinit(struct filter *filter);

/* From now on only the processes added are taken. */
void filter_activate(struct filter *filter);

/* A program that drops the samples of other processes, for each sampling event: borrowed. -1 where the kernel takes
 * none. */
int filter_program(const struct filter *filter);

COMMON_MUST_CHECK
bool filter_add(struct filter *filter, int32_t pid, struct error *err);

bool filter_has(const struct filter *filter, int32_t pid);

/* Whether what is forked belongs to the target from its first moment on. */
bool filter_hears_at_once(const struct filter *filter);

/* Whether a sample should be parsed at all; only its pid is read. True for other records. */
bool filter_wants(const struct filter *filter, const struct record_layout *layout, const void *bytes, size_t size);

/* Learns from a record of the sideband what the target has forked; `*wanted`: it is about one of the target's
 * processes. */
COMMON_MUST_CHECK
bool filter_take(struct filter *filter, const struct record *record, bool *wanted, struct error *err);
